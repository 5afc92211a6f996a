/* The bounds of a thread's stack are asked for once. */
#include "base/stack.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/auxv.h>
#include <sys/resource.h>

static _Thread_local uintptr_t lowest, highest;

/* The first thread's stack grows up to its limit, but musl tells only of what is mapped of it by now. The kernel put
 * AT_RANDOM's bytes just above what musl takes for the stack's end. */
static uintptr_t lowest_by_limit(void) {
#if !defined(__GLIBC__)
  enum { NEAR = 64 << 10, UNLIMITED = 8 << 20, GUARD = 64 << 10 };
  struct rlimit limit;
  bool is_first = getauxval(AT_RANDOM) - highest + NEAR < 2 * NEAR;
  if (is_first && !getrlimit(RLIMIT_STACK, &limit)) {
    uintptr_t bytes = limit.rlim_cur == RLIM_INFINITY ? UNLIMITED : limit.rlim_cur;
    if (highest - lowest < bytes - GUARD) return highest - bytes + GUARD;
  }
#endif
  return lowest;
}

static void find_bounds(void) {
  pthread_attr_t attributes;
  void *address = NULL;
  size_t bytes = 0, guard = 0;
  highest = 1;
  if (pthread_getattr_np(pthread_self(), &attributes)) return;
  pthread_attr_getstack(&attributes, &address, &bytes);
  pthread_attr_getguardsize(&attributes, &guard);
  pthread_attr_destroy(&attributes);
  lowest = (uintptr_t)address + guard;
  highest = (uintptr_t)address + bytes;
  lowest = lowest_by_limit();
}

size_t stack_left(void) {
  if (!highest) find_bounds();
  uintptr_t here = (uintptr_t)__builtin_frame_address(0);
  return here > lowest && here <= highest ? here - lowest : STACK_UNKNOWN;
}
