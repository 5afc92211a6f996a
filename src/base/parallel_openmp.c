/* OpenMP's threads, shared once a library that works with them (oneDNN) was opened: two pools would compete for the
 * processors. wick itself doesn't link OpenMP, so programs that need no such library never load it, and its runtime is
 * found in the process by name. OpenMP's threads do not survive a fork: the child goes on with wick's own pool. */
#include "base/parallel_pool.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/fork.h"
#include "base/memory.h"
#include "base/thread.h"

/* Libraries may start threads when they are opened, as copies of who opens them. */
static void *open_library(void *name) {
  return dlopen(name, RTLD_NOW | RTLD_LOCAL);
}
static void *open_on_thread(const char *name) {
  pthread_t thread;
  void *library;
  if (!thread_start(open_library, (void *)(uintptr_t)name, 0, &thread)) return open_library((void *)(uintptr_t)name);
  pthread_join(thread, &library);
  return library;
}

#ifdef WICK_HAVE_OPENMP

typedef void Parallel(void (*body)(void *), void *argument, unsigned threads, unsigned flags);
static struct {
  _Atomic(Parallel *) run;
  int (*max_threads)(void);
  void (*set_threads)(int);
  bool are_settled; /* its threads: wick was the first to open it, and nobody binds them */
} openmp;
static _Atomic bool forked;

/* ---- opening it so that its threads sleep ---- */

/* Threads of OpenMP that spin while they wait for the next loop cost much more than they save when others want their
 * processors, too. libgomp reads the environment when it is loaded, so it finds these two there, unless the program
 * has set either or has loaded libgomp itself. The environment is not changed, which other threads may be reading: for
 * a moment it is another array, with the same texts in it, that lives as long as the process. */
static char *const waiting[] = {"GOMP_SPINCOUNT=1000", "OMP_WAIT_POLICY=passive"};
enum { WAITING_COUNT = sizeof waiting / sizeof *waiting };

/* Somebody may be reading them for ever, so they stay; there are as many as libraries that were opened. */
typedef struct Environment {
  struct Environment *before;
  char *texts[];
} Environment;
static Environment *volatile kept;
static bool has_looked, was_loaded; /* libgomp, by the program; guarded by the lock of opening */

static char **environment_for_openmp(void) {
  HEAP_SCOPE(NULL);
  void *loaded = dlopen("libgomp.so.1", RTLD_NOW | RTLD_NOLOAD);
  if (loaded) dlclose(loaded);
  if (!has_looked) was_loaded = loaded != NULL;
  has_looked = true;
  if (loaded || !environ || getenv("GOMP_SPINCOUNT") || getenv("OMP_WAIT_POLICY")) return NULL;
  size_t count = 0;
  while (environ[count]) count++;
  Environment *copy = mem_alloc(sizeof *copy + (count + WAITING_COUNT + 1) * sizeof *copy->texts);
  if (!copy) return NULL;
  memcpy(copy->texts, environ, count * sizeof *copy->texts);
  memcpy(copy->texts + count, waiting, sizeof waiting);
  copy->texts[count + WAITING_COUNT] = NULL;
  copy->before = kept;
  kept = copy;
  return copy->texts;
}

void *parallel_open_library(const char *name) {
  static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
  lock_take(&lock);
  char **before = environ, **with_waiting = environment_for_openmp();
  if (with_waiting) environ = with_waiting;
  void *library = open_on_thread(name);
  if (with_waiting && environ == with_waiting) environ = before;
  lock_drop(&lock);
  return library;
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
  if (!run || !openmp.max_threads || !openmp.set_threads) return;
  openmp.are_settled = !was_loaded && !getenv("OMP_PROC_BIND") && !getenv("OMP_PLACES") && !getenv("GOMP_CPU_AFFINITY");
  atomic_store_explicit(&openmp.run, run, memory_order_release);
}

void parallel_adopt_openmp(void) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, adopt);
}

/* OpenMP that the child opens has its own threads there. */
static void note_fork(void) {
  if (atomic_load(&openmp.run)) atomic_store(&forked, true);
}
__attribute__((constructor)) static void watch_forks(void) {
  static const ForkHandler handler = {.in_child = note_fork};
  fork_watch(FORK_OPENMP, &handler);
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

typedef struct Team {
  ParallelPieces *pieces; /* NULL: none, but settling */
  pthread_t caller;
} Team;

static void work(void *argument) {
  Team *team = argument;
  if (openmp.are_settled && !pthread_equal(team->caller, pthread_self())) thread_settle();
  if (team->pieces) parallel_pieces_work(team->pieces, team->pieces->count);
}

void parallel_settle_openmp(int threads) {
  Parallel *run = atomic_load_explicit(&openmp.run, memory_order_acquire);
  if (threads < 2 || !run || parallel_forked() || !openmp.are_settled || !thread_needs_settling()) return;
  Team team = {.caller = pthread_self()};
  run(work, &team, (unsigned)threads, 0);
}

bool parallel_openmp_run(int threads, ParallelPieces *pieces) {
  Parallel *run = atomic_load_explicit(&openmp.run, memory_order_acquire);
  if (!run || parallel_forked()) return false;
  Team team = {pieces, pthread_self()};
  run(work, &team, (unsigned)threads, 0);
  return true;
}
#else
void *parallel_open_library(const char *name) {
  return open_on_thread(name);
}
void parallel_adopt_openmp(void) {}
void parallel_settle_openmp(int threads) {
  (void)threads;
}
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
