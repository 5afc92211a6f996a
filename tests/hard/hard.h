/* What goes wrong on purpose: allocations that fail at a place, how many places, what may come of it. */
#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>

#include "../../src/cli/cli.h"
#include "base/base.h"
#include "executor/executor.h"

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/lsan_interface.h>
#endif

enum { MAX_WRONG = 20, MANY = 1 << 30 /* more than any program allocates or rewrites */ };

static inline int64_t setting(const char *name, int64_t fallback) {
  const char *text = getenv(name);
  int64_t value;
  return text && str_to_int64(str_from(text), 10, &value) ? value : fallback;
}

/* How many of `count` WICK_HARD_PROGRAMS asks for. */
static inline int64_t wanted_programs(size_t count) {
  int64_t wanted = setting("WICK_HARD_PROGRAMS", 20);
  return wanted > (int64_t)count ? (int64_t)count : wanted;
}

/* One process of WICK_HARD_SHARES takes number WICK_HARD_SHARE (from 0) and every so many after it. */
static inline int64_t share_first(void) {
  return setting("WICK_HARD_SHARE", 0);
}
static inline int64_t share_step(void) {
  return setting("WICK_HARD_SHARES", 1);
}

/* How much that is wrong: after a leak no more, for the next ones would tell of the same. */
static inline int64_t leaks(const char *name) {
#if defined(__SANITIZE_ADDRESS__)
  if (__lsan_do_recoverable_leak_check()) {
    print_error("%s leaks\n", name);
    return MAX_WRONG;
  }
#else
  (void)name;
#endif
  return 0;
}

/* Allocations fail only within the library: around `call`, and what it left to be done. */
__attribute__((unused)) static int64_t countdown; /* to the allocation that fails, while none is under way; 0: none */
#define WITH_FAILURES(call)      \
  do {                           \
    mem_fail_after(countdown);   \
    call;                        \
    executor_drain();            \
    countdown = mem_fail_left(); \
    mem_fail_after(0);           \
  } while (0)

static inline bool tells_of_memory(const wick_error *error) {
  return wick_error_status(error) == WICK_OUT_OF_MEMORY || strstr(wick_error_message(error), "memory");
}

static const ExecutorOptions simple = {.mode = EXECUTOR_SIMPLE},
                             profiling = {.mode = EXECUTOR_PROFILING, .compile_now = true},
                             specializing = {.mode = EXECUTOR_SPECIALIZING, .compile_now = true};

static inline uint64_t bailouts(void) {
  wick_stats stats = {.size = sizeof stats};
  wick_stats_get(&stats);
  return stats.bailouts;
}
