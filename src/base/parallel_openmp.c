/* parallel_for by OpenMP, so that it shares its threads with the libraries that use OpenMP too. OpenMP's threads do not
 * survive a fork: the child goes on with wick's own pool. */
#include "base/parallel_pool.h"

#ifdef WICK_HAVE_OPENMP
#include <omp.h>
#include <pthread.h>

static _Atomic bool forked, used;

static void note_fork(void) {
  parallel_forget_claims();
  if (atomic_load(&used)) atomic_store(&forked, true);
}

static void watch_forks(void) { pthread_atfork(NULL, NULL, note_fork); }

bool parallel_forked(void) { return atomic_load_explicit(&forked, memory_order_relaxed); }

void parallel_for(int threads, int64_t n, int64_t grain, ParallelBody *body, void *argument) {
  if (n <= 0) return;
  int pieces = parallel_pieces(threads, n, grain);
  if (pieces <= 1 || omp_in_parallel() || parallel_pool_inside()) {
    body(argument, 0, n);
    return;
  }
  if (parallel_forked()) {
    int granted = parallel_claim(pieces);
    parallel_pool_run(granted, pieces, n, body, argument);
    parallel_give_back(granted);
    return;
  }
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, watch_forks);
  atomic_store_explicit(&used, true, memory_order_relaxed);
  int granted = parallel_claim(pieces);
#pragma omp parallel for num_threads(granted) schedule(static, 1)
  for (int piece = 0; piece < pieces; piece++)
    body(argument, parallel_piece_begin(n, pieces, piece), parallel_piece_begin(n, pieces, piece + 1));
  parallel_give_back(granted);
}
#endif
