/* The calls that are measured: one after the other, or at a rate; and what they take of memory. */
#include "cli/bench.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>

#include "cli/energy.h"

static void sleep_until(uint64_t ns) {
  struct timespec at = {.tv_sec = (time_t)(ns / 1000000000u), .tv_nsec = (long)(ns % 1000000000u)};
  while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, NULL) == EINTR) continue;
}
static bool call(const BenchCalls *calls, const wick_run_options *options, const char *path) {
  wick_value *result;
  wick_error *error;
  if (wick_run(calls->module, calls->method, (const wick_value *const *)calls->inputs->values, calls->inputs->count,
               calls->inputs->names, calls->inputs->named_count, options, &result, &error)) {
    complain_error(path, error);
    return false;
  }
  error = NULL;
  bool fine = calls->is_elsewhere ? !value_wait_for_devices(result, &error) : true;
  if (!fine) complain_error(path, error);
  wick_value_release(result);
  return fine;
}

bool bench_calls(const BenchCalls *calls, Measured *m) {
  wick_run_options options = {
      .size = sizeof options, .threads = (uint32_t)m->threads, .grad = calls->grad ? WICK_GRAD_ON : WICK_GRAD_DEFAULT};
  Energy energy = {0};
  uint64_t period = m->rate > 0 ? (uint64_t)(1e9 / m->rate) : 0, due = 0;
  for (size_t i = 0; i < m->count; i++) {
    bool counts = i >= m->warmup;
    if (i == m->warmup) energy_begin(&energy);
    options.profile = counts ? calls->profile : NULL;
    if (period && counts) {
      due = due ? due + period : clock_ns();
      sleep_until(due);
    }
    uint64_t start = clock_ns();
    if (!call(calls, &options, m->path)) return false;
    uint64_t end = clock_ns();
    m->times[i] = (double)(end - start) / 1e6;
    if (period && counts) {
      if (end > due + period) m->late++;
      if ((double)(start - due) / 1e6 > m->latest) m->latest = (double)(start - due) / 1e6;
    }
    if (!period) progress_show("call", i + 1, m->count); /* a terminal would be late itself */
  }
  progress_clear();
  m->joules = energy_joules(&energy);
  return true;
}

/* ---- memory ---- */

typedef struct Counts {
  _Atomic uint64_t blocks, bytes;
} Counts;
static void *counted_alloc(void *user, size_t bytes, size_t align) {
  Counts *counts = user;
  void *p = NULL;
  atomic_fetch_add_explicit(&counts->blocks, 1, memory_order_relaxed);
  atomic_fetch_add_explicit(&counts->bytes, bytes, memory_order_relaxed);
  return posix_memalign(&p, align < sizeof(void *) ? sizeof(void *) : align, bytes ? bytes : 1) ? NULL : p;
}
static void counted_free(void *user, void *p, size_t bytes) {
  (void)user, (void)bytes;
  free(p);
}

bool bench_memory(const BenchCalls *calls, const ModelOptions *model, Measured *m) {
  enum { SETTLING = 40, COUNTED = 10 };
  static Counts counts; /* what the runtime's memory came from outlives it */
  wick_runtime_options hooks = {.size = sizeof hooks, .alloc = counted_alloc, .free = counted_free, .user = &counts};
  wick_run_options options = {
      .size = sizeof options, .threads = (uint32_t)m->threads, .grad = calls->grad ? WICK_GRAD_ON : WICK_GRAD_DEFAULT};
  ModelOptions counted = *model;
  BenchCalls there = *calls;
  wick_error *error = NULL;
  wick_module *module = NULL;
  counted.runtime = NULL;
  if (!wick_runtime_new(&hooks, &counted.runtime, &error)) module = model_open(m->path, &counted, &error);
  if (error) complain_error(m->path, error);
  bool fine = module != NULL;
  there.module = module;
  uint64_t blocks = 0, bytes = 0;
  for (int i = 0; fine && i < SETTLING + COUNTED; i++) {
    if (i == SETTLING) {
      wick_wait_for_plans();
      fine = call(&there, &options, m->path);
      blocks = atomic_load(&counts.blocks);
      bytes = atomic_load(&counts.bytes);
    }
    fine = fine && call(&there, &options, m->path);
  }
  m->allocations = (double)(atomic_load(&counts.blocks) - blocks) / COUNTED;
  m->allocated = (double)(atomic_load(&counts.bytes) - bytes) / COUNTED;
  wick_module_release(module);
  wick_runtime_release(counted.runtime);
  return fine;
}
