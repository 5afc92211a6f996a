/* parallel_for: the only parallelism inside kernels. Compiled with OpenMP it shares oneDNN's pool; otherwise it uses a
 * small pool of our own. Bodies must not throw, block or call parallel_for with more than one thread (nested calls
 * run serially). */
#pragma once

#include "base/memory.h"

typedef void ParallelBody(void *argument, int64_t begin, int64_t end);
/* Splits [0, n) into pieces of at least `grain` and runs them on up to `threads` threads; returns when all are done.
 * Serial when n <= grain or threads <= 1. */
void parallel_for(int threads, int64_t n, int64_t grain, ParallelBody *body, void *argument);
/* Respects affinity and cgroup quota, as they are when first asked: a call pays nothing for it. */
int parallel_default_threads(void);
/* True in a forked child whose parent had started OpenMP threads: libraries that rely on them would wait for ever. */
bool parallel_forked(void);
