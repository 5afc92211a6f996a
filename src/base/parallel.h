/* parallel_for: the only parallelism inside kernels. It has a small pool of threads, or shares OpenMP's once
 * oneDNN works with those. Bodies must not throw, block or call parallel_for with more than one thread (nested calls
 * run serially). */
#pragma once

#include <stdbool.h>
#include <stdint.h>

typedef void ParallelBody(void *argument, int64_t begin, int64_t end);
/* Threads from outside in place of the pool's: run calls body(argument, begin, end) for parts of [0, n), on any
 * threads, several at once, and returns when all have returned. How a loop is cut is decided here, so results are the
 * same on any threads; what run leaves out, the caller does. */
typedef struct ParallelHook {
  void (*run)(void *user, int64_t n, int64_t grain, ParallelBody *body, void *argument);
  void *user;
} ParallelHook;
/* From now on loops of this thread run so (NULL: on wick's threads); gives the one before. Borrowed until then. */
const ParallelHook *parallel_enter_hook(const ParallelHook *hook);
/* Of this thread; NULL: none. Libraries with threads of their own ask, too. */
const ParallelHook *parallel_hook(void);
/* Splits [0, n) into pieces of at least `grain` and runs them on up to `threads` threads; returns when all are done.
 * Serial when n <= grain or threads <= 1. Within a WorkLimit a piece is run some grains at a time, from its begin on,
 * and what is left when the limit is over is not run: a grain should be some microseconds of work. */
void parallel_for(int threads, int64_t n, int64_t grain, ParallelBody *body, void *argument);
/* Respects affinity and cgroup quota, as they are when first asked: a call pays nothing for it. */
int parallel_default_threads(void);
/* To be called when a library that works with OpenMP's threads was opened: from then on parallel_for shares them. */
void parallel_adopt_openmp(void);
void *parallel_open_library(const char *name); /* dlopen, of one that may start threads */
/* How many threads OpenMP's libraries use for what this thread asks of them; gives what was, to be set again. */
int parallel_limit_openmp(int threads);
/* The threads that OpenMP would start for these calls as copies of this one run where wick's own do, unless the program
 * brought OpenMP or its environment binds OpenMP's threads. Before a library works with so many. */
void parallel_settle_openmp(int threads);
/* True in a forked child whose parent had adopted OpenMP: libraries that rely on its threads would wait for ever. */
bool parallel_forked(void);
