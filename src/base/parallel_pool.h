/* wick's own pool: threads that are started on first need, sleep when idle, and are started anew after a fork.
 * parallel_for is this where OpenMP is not built in, and in a forked child, where OpenMP's threads are gone. */
#pragma once

#include "base/parallel.h"

/* Runs the pieces 0 .. pieces-1 of [0, n) on this thread and up to threads - 1 others. */
void parallel_pool_run(int threads, int pieces, int64_t n, ParallelBody *body, void *argument);
/* True on a thread that is running a piece. */
bool parallel_pool_inside(void);
/* How many pieces parallel_for makes; 1: run serially. */
int parallel_pieces(int threads, int64_t n, int64_t grain);
/* Callers of parallel_for share the processors: grants 1 to `wanted` threads, to be given back. Only who runs a
 * piece depends on it, never the pieces. */
int parallel_claim(int wanted);
void parallel_give_back(int granted);
void parallel_forget_claims(void); /* in a forked child */
static inline int64_t parallel_piece_begin(int64_t n, int pieces, int piece) {
  return n / pieces * piece + (n % pieces < piece ? n % pieces : piece);
}
