/* A list of jobs under one lock. The caller works on its own job and waits only for helpers that have joined it, so a
 * job ends even when no helper ever comes. Who waits looks for some microseconds, then yields its processor for some
 * more, before it sleeps: waking a thread takes longer than many an operator. That goes for the lock, too, which both
 * sides want at the same moments, and nobody signals to threads that are awake. */
#include "base/parallel_pool.h"

#include <assert.h>
#include <pthread.h>
#include <sched.h>

#include "base/clock.h"
#include "base/fork.h"
#include "base/stack.h"
#include "base/thread.h"

enum {
  MAX_WORKERS = 255,
  LOOKS = 500,      /* some 5 to 20 microseconds; then others may have the processor */
  YIELDS = 400,     /* some 100 to 200 more, where nobody else wants it */
  YIELD_LOOKS = 10, /* between two of those */
  LONG_YIELD_NS = 50000,
  CROWDED_WAITS = 500, /* that don't yield, after a yield that another program took */
  GRAINS_PER_LOOK = 16
};

typedef struct Job {
  ParallelPieces *pieces;
  int wanted;          /* helpers still welcome; guarded */
  bool owner_sleeps;   /* until none is working; guarded */
  _Atomic int working; /* helpers inside; changed under the lock */
  struct Job *link;
} Job;

static struct {
  pthread_mutex_t lock;
  pthread_cond_t work, done;
  Job *jobs;
  int workers, idle, asleep; /* of the idle some look, the others sleep */
  _Atomic int posted;        /* jobs so far; changed under the lock */
} pool = {.lock = PTHREAD_MUTEX_INITIALIZER, .work = PTHREAD_COND_INITIALIZER, .done = PTHREAD_COND_INITIALIZER};

static _Thread_local bool inside;
static _Atomic int claimed;

/* The child has only the thread that forked: whatever the pool was doing is not going on there. */
static void forget_after_fork(void) {
  pthread_mutex_init(&pool.lock, NULL);
  pthread_cond_init(&pool.work, NULL);
  pthread_cond_init(&pool.done, NULL);
  pool.jobs = NULL;
  pool.workers = pool.idle = pool.asleep = 0;
  atomic_store(&claimed, 0);
}

__attribute__((constructor)) static void watch_forks(void) {
  static const ForkHandler handler = {.in_child = forget_after_fork};
  fork_watch(FORK_PARALLEL, &handler);
}

int parallel_claim(int wanted) {
  assert(wanted > 0);
  int capacity = parallel_default_threads();
  if (capacity < wanted) capacity = wanted;
  int others = atomic_fetch_add(&claimed, wanted), granted = capacity - others;
  if (granted >= wanted) return wanted;
  if (granted < 1) granted = 1;
  atomic_fetch_sub(&claimed, wanted - granted);
  return granted;
}

void parallel_give_back(int granted) {
  atomic_fetch_sub(&claimed, granted);
}

/* Where there is a limit, a few grains at a time, and no further once it is over. */
static void run_within_limit(ParallelBody *body, void *argument, int64_t begin, int64_t end, int64_t grain) {
  int64_t step = grain < INT64_MAX / GRAINS_PER_LOOK ? grain * GRAINS_PER_LOOK : INT64_MAX;
  if (end - begin <= step || !work_limit()) {
    body(argument, begin, end);
    return;
  }
  for (; end - begin > step && !work_is_over(); begin += step) body(argument, begin, begin + step);
  if (!work_is_over()) body(argument, begin, end);
}

void parallel_pieces_work(ParallelPieces *p) {
  inside = true;
  if (p->owner_holds_lock) lock_enter_for_holder();
  WorkLimit *before = work_limit_enter(p->limit);
  Heap *heap_before = heap_enter(p->heap);
  int piece;
  while ((piece = atomic_fetch_add_explicit(&p->next, 1, memory_order_relaxed)) < p->count)
    run_within_limit(p->body, p->argument, parallel_piece_begin(p->n, p->count, piece),
                     parallel_piece_begin(p->n, p->count, piece + 1), p->grain);
  heap_enter(heap_before);
  work_limit_enter(before);
  if (p->owner_holds_lock) lock_leave();
  inside = false;
}

static inline void pause_briefly(void) {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  __asm__ volatile("isb" ::: "memory");
#endif
}

static bool look_some(int looks, _Atomic int *value, int to) {
  for (int i = 0; i < looks; i++) {
    if (atomic_load_explicit(value, memory_order_relaxed) != to) return true;
    pause_briefly();
  }
  return false;
}

/* Where another program wants the processors, who yields is away for as long as the system lets that run, while one
 * that sleeps is woken in its place. */
static _Atomic int crowded;

static bool yield_is_short(void) {
  uint64_t before = clock_now_ns();
  sched_yield();
  if (clock_now_ns() - before < LONG_YIELD_NS) return true;
  atomic_store_explicit(&crowded, CROWDED_WAITS, memory_order_relaxed);
  return false;
}

/* Returns when the value is another, or after a while. */
static void look_while_equal(_Atomic int *value, int to) {
  bool is_over = look_some(LOOKS, value, to);
  int left = atomic_load_explicit(&crowded, memory_order_relaxed);
  if (left > 0) atomic_store_explicit(&crowded, left - 1, memory_order_relaxed);
  for (int i = left > 0 ? YIELDS : 0; i < YIELDS && !is_over && yield_is_short(); i++)
    is_over = look_some(YIELD_LOOKS, value, to);
}

/* It is held for well under a microsecond, unless its holder lost the processor. */
static void lock_pool(void) {
  for (int i = 0; i < LOOKS; i++) {
    if (pthread_mutex_trylock(&pool.lock) == 0) return;
    pause_briefly();
  }
  pthread_mutex_lock(&pool.lock);
}

static void *worker_main(void *unused) {
  (void)unused;
  lock_pool();
  for (;;) {
    Job *job = pool.jobs;
    while (job && !job->wanted) job = job->link;
    if (!job) {
      int posted = pool.posted;
      pool.idle++;
      pthread_mutex_unlock(&pool.lock);
      look_while_equal(&pool.posted, posted);
      lock_pool();
      if (pool.posted == posted) {
        pool.asleep++;
        pthread_cond_wait(&pool.work, &pool.lock);
        pool.asleep--;
      }
      pool.idle--;
      continue;
    }
    job->wanted--;
    job->working++;
    pthread_mutex_unlock(&pool.lock);
    parallel_pieces_work(job->pieces);
    lock_pool();
    if (--job->working == 0 && job->owner_sleeps) pthread_cond_broadcast(&pool.done);
  }
  return NULL;
}

/* Without a new thread the job is done by fewer. */
static void start_workers(int wanted) {
  for (int missing = wanted - pool.idle; missing > 0 && pool.workers < MAX_WORKERS; missing--) {
    if (!thread_start(worker_main, NULL, STACK_OF_THREADS, NULL)) break;
    pool.workers++;
  }
}

void parallel_pool_run(int threads, ParallelPieces *pieces) {
  assert(threads >= 1 && threads <= MAX_WORKERS + 1 && pieces->count > 0);
  Job job = {.pieces = pieces, .wanted = threads - 1};
  lock_pool();
  job.link = pool.jobs;
  pool.jobs = &job;
  pool.posted++;
  start_workers(job.wanted);
  int sleepers = pool.asleep < job.wanted ? pool.asleep : job.wanted;
  pthread_mutex_unlock(&pool.lock);
  for (int i = 0; i < sleepers; i++) pthread_cond_signal(&pool.work);
  parallel_pieces_work(pieces);
  lock_pool();
  job.wanted = 0;
  if (job.working) {
    int working = job.working;
    pthread_mutex_unlock(&pool.lock);
    look_while_equal(&job.working, working);
    lock_pool();
  }
  job.owner_sleeps = true;
  while (job.working) pthread_cond_wait(&pool.done, &pool.lock);
  Job **link = &pool.jobs;
  while (*link != &job) link = &(*link)->link;
  *link = job.link;
  pthread_mutex_unlock(&pool.lock);
}

int parallel_pieces(int threads, int64_t n, int64_t grain) {
  if (grain < 1) grain = 1;
  if (n <= grain || threads <= 1) return 1;
  int64_t most = n / grain;
  if (most > MAX_WORKERS + 1) most = MAX_WORKERS + 1;
  return most < threads ? (int)most : threads;
}

void parallel_for(int threads, int64_t n, int64_t grain, ParallelBody *body, void *argument) {
  if (n <= 0) return;
  if (grain < 1) grain = 1;
  int count = inside ? 1 : parallel_pieces(threads, n, grain);
  if (count <= 1) {
    run_within_limit(body, argument, 0, n, grain);
    return;
  }
  ParallelPieces pieces = {.body = body,
                           .argument = argument,
                           .n = n,
                           .grain = grain,
                           .count = count,
                           .limit = work_limit(),
                           .heap = heap_current(),
                           .owner_holds_lock = lock_is_held()};
  int granted = parallel_claim(count);
  if (!parallel_openmp_run(granted, &pieces)) parallel_pool_run(granted, &pieces);
  parallel_give_back(granted);
}
