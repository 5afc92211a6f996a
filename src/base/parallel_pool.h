/* wick's own pool: threads that are started on first need, sleep when idle, and are started anew after a fork.
 * parallel_for runs on it, unless OpenMP's threads are there to be shared. */
#pragma once

#include "base/heap.h"
#include "base/parallel.h"
#include "base/work_limit.h"

/* [0, n) cut into pieces; whichever thread is free takes the next. */
typedef struct ParallelPieces {
  ParallelBody *body;
  void *argument;
  int64_t n, grain;
  int count;
  WorkLimit *limit; /* the caller's */
  Heap *heap;       /* the same */
  bool owner_holds_lock;
  int processor; /* the caller's, when it began */
  _Atomic int next;
} ParallelPieces;
void parallel_pieces_work(ParallelPieces *pieces, int64_t most); /* on so many, or until none is left */

/* Runs the pieces on this thread and up to threads - 1 others. */
void parallel_pool_run(int threads, ParallelPieces *pieces);
/* The same by OpenMP; false, with nothing done, when it isn't adopted or not to be used. */
bool parallel_openmp_run(int threads, ParallelPieces *pieces);
/* How many pieces parallel_for makes; 1: run serially. */
int parallel_pieces(int threads, int64_t n, int64_t grain);
/* Callers of parallel_for share the processors: grants 1 to `wanted` threads, to be given back. Only who runs a
 * piece depends on it, never the pieces. */
int parallel_claim(int wanted);
void parallel_give_back(int granted);
static inline int64_t parallel_piece_begin(int64_t n, int pieces, int piece) {
  return n / pieces * piece + (n % pieces < piece ? n % pieces : piece);
}
