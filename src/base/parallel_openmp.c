/* OpenMP's threads, shared once a library that works with them (oneDNN) was opened: two pools would compete for the
 * processors. wick itself doesn't link OpenMP, so programs that need no such library never load it, and its runtime is
 * found in the process by name. OpenMP's threads do not survive a fork: the child goes on with wick's own pool. */
#include "base/parallel_pool.h"

#ifdef WICK_HAVE_OPENMP
#include <dlfcn.h>
#include <pthread.h>

typedef void Parallel(void (*body)(void *), void *argument, unsigned threads, unsigned flags);
static struct {
  _Atomic(Parallel *) run;
  int (*max_threads)(void);
  void (*set_threads)(int);
} openmp;
static _Atomic bool forked;

static void note_fork(void) {
  parallel_forget_claims();
  atomic_store(&forked, true);
}

static void adopt(void) {
  static const char *const names[] = {"libgomp.so.1", "libomp.so.5", "libiomp5.so"};
  void *library = NULL;
  for (size_t i = 0; i < sizeof names / sizeof *names && !library; i++)
    library = dlopen(names[i], RTLD_NOW | RTLD_NOLOAD);
  if (!library) return;
  Parallel *run = (Parallel *)dlsym(library, "GOMP_parallel");
  openmp.max_threads = (int (*)(void))dlsym(library, "omp_get_max_threads");
  openmp.set_threads = (void (*)(int))dlsym(library, "omp_set_num_threads");
  if (!run || !openmp.max_threads || !openmp.set_threads || pthread_atfork(NULL, NULL, note_fork)) return;
  atomic_store_explicit(&openmp.run, run, memory_order_release);
}

void parallel_adopt_openmp(void) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, adopt);
}

bool parallel_forked(void) {
  return atomic_load_explicit(&forked, memory_order_relaxed);
}

int parallel_limit_openmp(int threads) {
  if (!atomic_load_explicit(&openmp.run, memory_order_acquire)) return 0;
  int before = openmp.max_threads();
  if (threads > 0 && before != threads) openmp.set_threads(threads);
  return before;
}

static void work(void *argument) {
  parallel_pieces_work(argument);
}

bool parallel_openmp_run(int threads, ParallelPieces *pieces) {
  Parallel *run = atomic_load_explicit(&openmp.run, memory_order_acquire);
  if (!run || parallel_forked()) return false;
  run(work, pieces, (unsigned)threads, 0);
  return true;
}
#else
void parallel_adopt_openmp(void) {}
bool parallel_forked(void) {
  return false;
}
int parallel_limit_openmp(int threads) {
  (void)threads;
  return 0;
}
bool parallel_openmp_run(int threads, ParallelPieces *pieces) {
  (void)threads, (void)pieces;
  return false;
}
#endif
