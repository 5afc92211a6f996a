/* Jobs lie in slots that workers join and leave by one atomic word each: between two loops of a call no lock is taken.
 * The caller works on its own job and waits only for helpers that have joined it, so a job ends even when no helper
 * ever comes. Who waits looks for some microseconds, then yields its processor for some more, before it sleeps: waking
 * a thread takes longer than many an operator. No more workers look than processors have room for, and nobody signals
 * to sleepers while as many as are wanted look. */
#include "base/parallel_pool.h"

#include <assert.h>
#include <pthread.h>
#include <sched.h>

#include "base/clock.h"
#include "base/fork.h"
#include "base/queue.h"
#include "base/stack.h"
#include "base/thread.h"

enum {
  MAX_WORKERS = 255,
  SLOTS = 64,         /* jobs at once; callers beyond do theirs alone */
  LOOKS = 500,        /* some 5 to 20 microseconds; then others may have the processor */
  LONG_LOOKS = 1500,  /* three times as long */
  PIECE_LOOKS = 3000, /* some 75 */
  YIELDS = 400,       /* some 100 to 200 more, where nobody else wants it */
  YIELD_LOOKS = 10,   /* between two of those */
  LONG_YIELD_NS = 50000,
  MOVE_NS = 1000000, /* between two moves to another processor */
  LEAST_CROWDED = 8, /* waits that don't yield, after a yield that another program took; twice as many after the next */
  MOST_CROWDED = 1024,
  GRAINS_PER_LOOK = 16,
  APART = 128 /* bytes between what different threads write */
};

/* The state of a slot: helpers still welcome, helpers inside, whether the owner sleeps until none is. */
enum { ONE_WANTED = 1, WANTED = 0x3ff, ONE_WORKING = 0x400, WORKING = 0xffc00, OWNER_SLEEPS = 0x100000 };
static_assert((int)MAX_WORKERS < WANTED && (int)MAX_WORKERS < WORKING / ONE_WORKING, "counts fit a slot's state");

typedef struct Slot {
  _Alignas(APART) _Atomic int state;
  _Atomic bool is_taken;
  ParallelPieces *pieces; /* of who has joined */
} Slot;

static struct {
  pthread_mutex_t lock; /* of sleeping, and of starting workers */
  pthread_cond_t work, done;
  _Atomic int workers;
  _Atomic int asleep;                  /* workers; changed under the lock */
  _Atomic int slots;                   /* that were ever in use: the first ones */
  _Alignas(APART) _Atomic int posted;  /* jobs so far */
  _Alignas(APART) _Atomic int looking; /* workers that wait awake */
  _Atomic int busy;                    /* workers in a job */
  Slot slot[SLOTS];
} pool = {.lock = PTHREAD_MUTEX_INITIALIZER, .work = PTHREAD_COND_INITIALIZER, .done = PTHREAD_COND_INITIALIZER};

static _Thread_local bool inside;
static _Thread_local const ParallelHook *current_hook;
static _Atomic int claimed;

/* The child has only the thread that forked: whatever the pool was doing is not going on there. */
static void forget_after_fork(void) {
  pthread_mutex_init(&pool.lock, NULL);
  pthread_cond_init(&pool.work, NULL);
  pthread_cond_init(&pool.done, NULL);
  pool.workers = pool.asleep = pool.looking = pool.busy = 0;
  for (int i = 0; i < SLOTS; i++) {
    pool.slot[i].state = 0;
    pool.slot[i].is_taken = false;
  }
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

void parallel_pieces_work(ParallelPieces *p, int64_t most) {
  inside = true;
  if (p->owner_holds_lock) lock_enter_for_holder();
  WorkLimit *before = work_limit_enter(p->limit);
  Heap *heap_before = heap_enter(p->heap);
  int piece;
  while (most-- > 0 && (piece = atomic_fetch_add_explicit(&p->next, 1, memory_order_relaxed)) < p->count)
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
static _Atomic int crowded, crowded_next = LEAST_CROWDED; /* waits that don't yield: left; after the next long yield */

static bool yield_is_short(void) {
  uint64_t before = clock_now_ns();
  sched_yield();
  if (clock_now_ns() - before < LONG_YIELD_NS) return true;
  int waits = atomic_load_explicit(&crowded_next, memory_order_relaxed);
  atomic_store_explicit(&crowded, waits, memory_order_relaxed);
  atomic_store_explicit(&crowded_next, waits < MOST_CROWDED ? waits * 2 : waits, memory_order_relaxed);
  return false;
}

static bool yield_some(_Atomic int *value, int to) {
  for (int i = 0; i < YIELDS; i++) {
    if (!yield_is_short()) return atomic_load_explicit(value, memory_order_relaxed) != to;
    if (look_some(YIELD_LOOKS, value, to)) break;
  }
  int waits = atomic_load_explicit(&crowded_next, memory_order_relaxed);
  if (waits > LEAST_CROWDED) atomic_store_explicit(&crowded_next, waits / 2, memory_order_relaxed);
  return atomic_load_explicit(value, memory_order_relaxed) != to;
}

/* Whether the value became another, within a while. While a plan is being compiled, on a thread of low priority, nobody
 * yields: that thread would have the processor for a whole slice of time, many loops long. */
static bool look_while_equal(_Atomic int *value, int to) {
  if (look_some(LOOKS, value, to)) return true;
  if (queue_is_running()) return look_some(LONG_LOOKS, value, to);
  int left = atomic_load_explicit(&crowded, memory_order_relaxed);
  if (left <= 0) return yield_some(value, to);
  atomic_store_explicit(&crowded, left - 1, memory_order_relaxed);
  return false;
}

/* ---- workers ---- */

static bool slot_join(Slot *slot) {
  int state = atomic_load_explicit(&slot->state, memory_order_relaxed);
  while (state & WANTED)
    if (atomic_compare_exchange_weak(&slot->state, &state, state - ONE_WANTED + ONE_WORKING)) return true;
  return false;
}

/* The slot may be another job's right after. */
static void slot_leave(Slot *slot) {
  if (atomic_fetch_sub(&slot->state, ONE_WORKING) != (OWNER_SLEEPS | ONE_WORKING)) return;
  pthread_mutex_lock(&pool.lock);
  pthread_cond_broadcast(&pool.done);
  pthread_mutex_unlock(&pool.lock);
}

static Slot *find_job(void) {
  int slots = atomic_load(&pool.slots);
  for (int i = 0; i < slots; i++)
    if (slot_join(&pool.slot[i])) return &pool.slot[i];
  return NULL;
}

static void wait_for_job(int posted) {
  bool is_posted = false;
  if (atomic_fetch_add(&pool.looking, 1) < parallel_default_threads() - 1)
    is_posted = look_while_equal(&pool.posted, posted);
  atomic_fetch_sub(&pool.looking, 1);
  if (is_posted) return;
  pthread_mutex_lock(&pool.lock);
  atomic_fetch_add(&pool.asleep, 1); /* before the look at `posted`: who posts looks at the two the other way round */
  if (atomic_load(&pool.posted) == posted) pthread_cond_wait(&pool.work, &pool.lock);
  atomic_fetch_sub(&pool.asleep, 1);
  pthread_mutex_unlock(&pool.lock);
}

/* A worker that awakes on the processor of the caller takes it from him, and the system may leave both there for a
 * tenth of a second while another one has little to do. */
static void keep_away(int processor, uint64_t *last_ns) {
  if (sched_getcpu() != processor) return;
  uint64_t now = clock_now_ns();
  if (now - *last_ns < MOVE_NS) return;
  *last_ns = now;
  thread_leave_processor(processor);
}

static void *worker_main(void *unused) {
  (void)unused;
  uint64_t moved_ns = 0;
  for (;;) {
    int posted = atomic_load(&pool.posted);
    Slot *slot = find_job();
    if (!slot) {
      wait_for_job(posted);
      continue;
    }
    atomic_fetch_add(&pool.busy, 1);
    keep_away(slot->pieces->processor, &moved_ns);
    parallel_pieces_work(slot->pieces, slot->pieces->count);
    atomic_fetch_sub(&pool.busy, 1); /* before the owner goes on and counts who is free */
    slot_leave(slot);
  }
  return NULL;
}

/* Without a new thread the job is done by fewer. */
static void start_workers(int wanted) {
  if (pool.workers - pool.busy >= wanted) return;
  pthread_mutex_lock(&pool.lock);
  for (int missing = wanted - (pool.workers - pool.busy); missing > 0 && pool.workers < MAX_WORKERS; missing--) {
    if (!thread_start(worker_main, NULL, STACK_OF_THREADS, NULL)) break;
    atomic_fetch_add(&pool.workers, 1);
  }
  pthread_mutex_unlock(&pool.lock);
}

/* ---- owners ---- */

static Slot *slot_take(void) {
  for (int i = 0; i < SLOTS; i++) {
    Slot *slot = &pool.slot[i];
    if (atomic_load_explicit(&slot->is_taken, memory_order_relaxed) || atomic_exchange(&slot->is_taken, true)) continue;
    int slots = atomic_load(&pool.slots);
    while (slots <= i && !atomic_compare_exchange_weak(&pool.slots, &slots, i + 1)) continue;
    return slot;
  }
  return NULL;
}

static void wake_workers(int wanted) {
  int asleep = atomic_load(&pool.asleep);
  if (!asleep) return;
  int missing = wanted - atomic_load(&pool.looking);
  if (missing > asleep) missing = asleep;
  if (missing <= 0) return;
  pthread_mutex_lock(&pool.lock); /* who is counted asleep is so once the lock is free */
  pthread_mutex_unlock(&pool.lock);
  for (int i = 0; i < missing; i++) pthread_cond_signal(&pool.work);
}

/* The last pieces are under way. Where other programs want the processors, who sleeps meanwhile is woken as late as
 * their slices of time are long. */
static bool look_for_end(_Atomic int *state, int now) {
  bool is_crowded = atomic_load_explicit(&crowded, memory_order_relaxed) > 0;
  return (is_crowded && look_some(PIECE_LOOKS, state, now)) || look_while_equal(state, now);
}

/* Nobody joins any more; returns when all who have joined have left. */
static void slot_finish(Slot *slot) {
  int state = atomic_fetch_and(&slot->state, ~WANTED) & ~WANTED;
  while (state && look_for_end(&slot->state, state)) state = atomic_load(&slot->state);
  if (state && atomic_fetch_or(&slot->state, OWNER_SLEEPS)) {
    pthread_mutex_lock(&pool.lock);
    while (atomic_load(&slot->state) & WORKING) pthread_cond_wait(&pool.done, &pool.lock);
    pthread_mutex_unlock(&pool.lock);
  }
  atomic_store(&slot->state, 0);
  atomic_store(&slot->is_taken, false);
}

void parallel_pool_run(int threads, ParallelPieces *pieces) {
  assert(threads >= 1 && threads <= MAX_WORKERS + 1 && pieces->count > 0);
  int wanted = threads - 1;
  Slot *slot = wanted ? slot_take() : NULL;
  if (slot) {
    start_workers(wanted);
    slot->pieces = pieces;
    atomic_store(&slot->state, wanted * ONE_WANTED);
    atomic_fetch_add(&pool.posted, 1);
    wake_workers(wanted);
  }
  parallel_pieces_work(pieces, pieces->count);
  if (slot) slot_finish(slot);
}

const ParallelHook *parallel_enter_hook(const ParallelHook *hook) {
  const ParallelHook *before = current_hook;
  current_hook = hook;
  return before;
}
const ParallelHook *parallel_hook(void) {
  return current_hook;
}

static void work_on_part(void *argument, int64_t begin, int64_t end) {
  ParallelPieces *pieces = argument;
  parallel_pieces_work(pieces, end - begin);
}

static void run_in_hook(const ParallelHook *hook, ParallelPieces *pieces) {
  hook->run(hook->user, pieces->count, 1, work_on_part, pieces);
  parallel_pieces_work(pieces, pieces->count);
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
                           .owner_holds_lock = lock_is_held(),
                           .processor = sched_getcpu()};
  if (current_hook) {
    run_in_hook(current_hook, &pieces);
    return;
  }
  int granted = parallel_claim(count);
  if (!parallel_openmp_run(granted, &pieces)) parallel_pool_run(granted, &pieces);
  parallel_give_back(granted);
}
