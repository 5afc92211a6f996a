/* What is made, found, counted and given back under one lock; runs look and enter without it. `word` is a state and the
 * number of runs that are in; a run counts itself in first and looks at the state then, so that whoever finds nobody in
 * a ready one and takes it out with the same exchange has it alone. */
#include "fuse/compiled.h"

#include <assert.h>
#include <time.h>

#include "base/fork.h"
#include "base/queue.h"

typedef enum State {
  STATE_NEW,     /* its back end is being asked */
  STATE_WAITING, /* for its job, or the job runs */
  STATE_READY,
  STATE_OUT,     /* there was no room or no memory, or it was given back */
  STATE_REFUSED, /* the back end doesn't take it, or failed */
  STATE_DEAD     /* the back end is gone */
} State;
enum { STATE_SHIFT = 24, ONE_RUN = 1 };
static const uint32_t RUNS = (1u << STATE_SHIFT) - 1;

struct FuseCompiled {
  Job job;
  RefCount refs;               /* its kernel's list, its job */
  FuseCompiled *next;          /* of the kernel */
  FuseCompiled *older, *newer; /* of the process; guarded, as what follows where nothing else is said */
  _Atomic uint32_t word;       /* state and runs; the state changes under the lock */
  _Atomic uint32_t went_with;  /* `departures` when it went out */
  _Atomic bool was_used;       /* since room was last wanted; set without the lock */
  bool is_compiling;
  BackendNumber number;
  const FuseBackend *backend; /* good until the state is STATE_DEAD and no run is in */
  KernelIr *kernel;           /* held */
  FuseSignature signature;
  void *data;
  size_t bytes;
  Status failure; /* of the last compilation; NULL where there was none */
};

static struct {
  pthread_mutex_t lock;
  FuseCompiled *oldest, *newest;
  FuseHeld held, most;         /* most: 0 where it is FUSE_MAX_HELD */
  _Atomic uint32_t departures; /* how often something went for other reasons than to make room */
} store = {.lock = PTHREAD_MUTEX_INITIALIZER};

static State state_of(const FuseCompiled *c) {
  return (State)(atomic_load_explicit(&c->word, memory_order_acquire) >> STATE_SHIFT);
}

/* Lock held, as in all that change states. Runs may be in, or look in. */
static void set_state(FuseCompiled *c, State state) {
  assert(lock_is_held() && state <= STATE_DEAD);
  atomic_fetch_add(&c->word, ((uint32_t)state - (uint32_t)state_of(c)) << STATE_SHIFT);
}

static void drop_data(FuseCompiled *c) {
  assert(lock_is_held());
  if (!c->data) return;
  store.held.count--;
  store.held.bytes -= c->bytes;
  c->backend->free(c->data);
  c->data = NULL;
}

static void go_out(FuseCompiled *c) {
  set_state(c, STATE_OUT);
  atomic_store(&c->went_with, atomic_load(&store.departures));
}

/* Takes out what is ready and holds something, unless a run is in. */
static void put_out(FuseCompiled *c) {
  uint32_t idle = (uint32_t)STATE_READY << STATE_SHIFT;
  if (!c->data || !atomic_compare_exchange_strong(&c->word, &idle, (uint32_t)STATE_OUT << STATE_SHIFT)) return;
  atomic_store(&c->went_with, atomic_load(&store.departures));
  drop_data(c);
}

/* ---- the bound ---- */

static bool has_room(size_t bytes) {
  FuseHeld bound = store.most.count ? store.most : FUSE_MAX_HELD;
  return store.held.count < bound.count && bytes <= bound.bytes && store.held.bytes <= bound.bytes - bytes;
}

static bool make_room(size_t bytes) {
  for (FuseCompiled *c = store.oldest; c && !has_room(bytes); c = c->newer)
    if (!atomic_load(&c->was_used)) put_out(c);
  if (has_room(bytes)) return true;
  for (FuseCompiled *c = store.oldest; c; c = c->newer) atomic_store(&c->was_used, false);
  return false;
}

FuseHeld fuse_held(void) {
  lock_take(&store.lock);
  FuseHeld now = store.held;
  lock_drop(&store.lock);
  return now;
}

void fuse_set_max_held(FuseHeld bound) {
  lock_take(&store.lock);
  store.most = bound;
  lock_drop(&store.lock);
}

size_t fuse_trim(void) {
  lock_take(&store.lock);
  size_t bytes = store.held.bytes;
  atomic_fetch_add(&store.departures, 1);
  uint32_t before = atomic_load(&store.departures) - 1; /* what goes here comes back */
  for (FuseCompiled *c = store.oldest; c; c = c->newer) {
    put_out(c);
    if (state_of(c) == STATE_OUT) atomic_store(&c->went_with, before);
  }
  bytes -= store.held.bytes;
  lock_drop(&store.lock);
  return bytes;
}

/* ---- lives ---- */

static void release(FuseCompiled *c) {
  if (!ref_release(&c->refs)) return;
  lock_take(&store.lock);
  *(c->older ? &c->older->newer : &store.oldest) = c->newer;
  *(c->newer ? &c->newer->older : &store.newest) = c->older;
  if (c->data) atomic_fetch_add(&store.departures, 1);
  drop_data(c);
  lock_drop(&store.lock);
  kernel_release(c->kernel);
  status_free(c->failure);
  mem_free(c);
}

void fuse_compiled_list_dispose(FuseCompiledList *list) {
  for (FuseCompiled *c = atomic_load(&list->first), *next; c; c = next) {
    next = c->next;
    queue_remove(&c->job);
    release(c);
  }
}

static void sleep_a_little(void) {
  nanosleep(&(struct timespec){.tv_nsec = 200000}, NULL);
}

/* Lock held. False: a run or a compilation is still in it. */
static bool kill_compiled(FuseCompiled *c) {
  assert(lock_is_held());
  State state = state_of(c);
  if (state == STATE_NEW || c->is_compiling) return false;
  if (state != STATE_DEAD) set_state(c, STATE_DEAD);
  if (atomic_load(&c->word) & RUNS) return false;
  drop_data(c);
  return true;
}

void fuse_compiled_forget(BackendNumber number) {
  for (bool is_done = false; !is_done;) {
    is_done = true;
    lock_take(&store.lock);
    for (FuseCompiled *c = store.oldest; c; c = c->newer)
      if (c->number == number) is_done &= kill_compiled(c);
    atomic_fetch_add(&store.departures, 1);
    lock_drop(&store.lock);
    if (!is_done) sleep_a_little();
  }
}

/* In a forked child the runs and the compilation of other threads never end. */
static void begin_child(void) {
  for (FuseCompiled *c = store.oldest; c; c = c->newer) {
    uint32_t state = atomic_load(&c->word) & ~RUNS;
    bool is_lost = c->is_compiling || state >> STATE_SHIFT == STATE_NEW;
    atomic_store(&c->word, is_lost ? (uint32_t)STATE_DEAD << STATE_SHIFT : state);
    c->is_compiling = false;
  }
}
__attribute__((constructor)) static void watch_forks(void) {
  static const ForkHandler handler = {NULL, NULL, begin_child};
  fork_watch(FORK_KERNELS, &handler);
}

/* ---- compiling: on the queue's thread ---- */

static bool hold_compiled(Job *job) {
  ref_retain(&((FuseCompiled *)job)->refs); /* its list takes the job from the queue before it lets go */
  return true;
}
static void let_compiled_go(Job *job) {
  release((FuseCompiled *)job);
}

static bool is_for_now(Status status) {
  return status->code == ERROR_CANCELLED || status->code == ERROR_OUT_OF_MEMORY;
}

/* Lock held. What was made is the record's, or freed. */
static Reason take_over(FuseCompiled *c, void *data, Status status) {
  assert(lock_is_held());
  if (status) {
    if (is_for_now(status))
      go_out(c);
    else
      set_state(c, STATE_REFUSED);
    return REASON_NOT_COMPILED_FAILED;
  }
  size_t bytes = c->backend->bytes(data);
  if (!make_room(bytes)) {
    c->backend->free(data);
    go_out(c);
    return REASON_NOT_COMPILED_LIMIT;
  }
  store.held.count++;
  store.held.bytes += c->bytes = bytes;
  c->data = data;
  atomic_store(&c->was_used, true);
  set_state(c, STATE_READY);
  return REASON_COUNT;
}

static void run_job(Job *job) {
  FuseCompiled *c = (FuseCompiled *)job;
  lock_take(&store.lock);
  bool is_wanted = state_of(c) == STATE_WAITING && !c->is_compiling; /* or another thread is at it */
  c->is_compiling |= is_wanted;
  lock_drop(&store.lock);
  if (!is_wanted) return;
  void *data = NULL;
  Status status = c->backend->compile(c->backend, c->kernel, &c->signature, &data);
  assert(status || data);
  lock_take(&store.lock);
  c->is_compiling = false;
  Reason reason = take_over(c, data, status);
  Status before = c->failure;
  c->failure = status;
  lock_drop(&store.lock);
  status_free(before);
  if (reason != REASON_COUNT) reason_add(reason, (SourceRange){0}); /* its place in the source may be gone */
}

/* STATE_WAITING, just set. */
static void add_job(FuseCompiled *c) {
  if (queue_add(&c->job)) return;
  lock_take(&store.lock);
  if (state_of(c) == STATE_WAITING) go_out(c);
  lock_drop(&store.lock);
}

/* ---- asking: on the threads that call, until the answer is there ---- */

static FuseCompiled *find(FuseCompiledList *list, BackendNumber number, const FuseSignature *signature) {
  for (FuseCompiled *c = atomic_load_explicit(&list->first, memory_order_acquire); c; c = c->next)
    if (c->number == number && fuse_signature_equal(&c->signature, signature) && state_of(c) != STATE_DEAD) return c;
  return NULL;
}

/* Lock held. NULL: no memory. */
static FuseCompiled *add(FuseCompiledList *list, KernelIr *kernel, BackendNumber number, const FuseBackend *backend,
                         const FuseSignature *signature) {
  assert(lock_is_held());
  FuseCompiled *c = mem_calloc(1, sizeof *c);
  if (!c) return NULL;
  c->job = (Job){.run = run_job, .hold = hold_compiled, .let_go = let_compiled_go};
  ref_init(&c->refs);
  c->word = (uint32_t)STATE_NEW << STATE_SHIFT;
  c->number = number;
  c->backend = backend;
  c->kernel = kernel_retain(kernel);
  memcpy(&c->signature, signature, sizeof *signature);
  c->older = store.newest;
  *(store.newest ? &store.newest->newer : &store.oldest) = c;
  store.newest = c;
  c->next = atomic_load(&list->first);
  atomic_store_explicit(&list->first, c, memory_order_release);
  atomic_fetch_add(&list->count, 1);
  return c;
}

static bool is_full(FuseCompiledList *list, SourceRange range) {
  uint32_t most = list->most ? list->most : FUSE_MAX_SIGNATURES;
  if (atomic_load_explicit(&list->count, memory_order_relaxed) < most) return false;
  if (!atomic_load(&list->was_full) && !atomic_exchange(&list->was_full, true))
    reason_add(REASON_NOT_COMPILED_CACHE_FULL, range);
  return true;
}

/* A new one, whose back end has been asked; NULL: there can't be one. */
static FuseCompiled *ask(FuseCompiledList *list, KernelIr *kernel, BackendNumber number, const FuseSignature *signature,
                         SourceRange range) {
  if (is_full(list, range)) return NULL;
  MemBudget *budget = mem_budget_enter(NULL); /* what is kept is nobody's */
  lock_take(&store.lock);
  const FuseBackend *backend = fuse_backend_of(number);
  FuseCompiled *c = find(list, number, signature);
  bool is_mine = !c && backend && (c = add(list, kernel, number, backend, signature)) != NULL;
  lock_drop(&store.lock);
  if (is_mine) { /* as long as it is new, the back end stays */
    Reason reason = backend->supports ? backend->supports(backend, kernel, signature) : REASON_COUNT;
    bool has_job = reason == REASON_COUNT && backend->compile;
    lock_take(&store.lock);
    set_state(c, reason != REASON_COUNT ? STATE_REFUSED : has_job ? STATE_WAITING : STATE_READY);
    lock_drop(&store.lock);
    if (has_job) add_job(c);
    if (reason != REASON_COUNT) reason_add(reason, range);
  }
  mem_budget_enter(budget);
  return c;
}

/* What is out and may find room by now is asked for again. */
static void ask_again(FuseCompiled *c) {
  lock_take(&store.lock);
  bool is_out = state_of(c) == STATE_OUT;
  if (is_out) set_state(c, STATE_WAITING);
  lock_drop(&store.lock);
  if (is_out) add_job(c);
}

static bool enter(FuseCompiled *c) {
  if (state_of(c) != STATE_READY) return false;
  uint32_t before = atomic_fetch_add_explicit(&c->word, ONE_RUN, memory_order_acquire);
  if (before >> STATE_SHIFT != STATE_READY) {
    fuse_compiled_leave(c);
    return false;
  }
  if (!atomic_load_explicit(&c->was_used, memory_order_relaxed))
    atomic_store_explicit(&c->was_used, true, memory_order_relaxed);
  return true;
}

FuseCompiled *fuse_compiled_enter(FuseCompiledList *list, KernelIr *kernel, uint32_t chain,
                                  const FuseSignature *signature, SourceRange range) {
  bool is_coming = false; /* from one back end; slower ones are not asked then */
  for (BackendNumber number = BACKEND_LIMIT; number-- > BACKEND_NATIVE;) {
    if (!(chain >> number & 1)) continue;
    FuseCompiled *c = find(list, number, signature);
    if (!c && !is_coming) c = ask(list, kernel, number, signature, range);
    if (!c) continue;
    if (enter(c)) return c;
    State state = state_of(c);
    if (state == STATE_OUT && !is_coming && atomic_load(&c->went_with) != atomic_load(&store.departures)) {
      ask_again(c);
      is_coming = true;
    }
    is_coming |= state == STATE_NEW || state == STATE_WAITING;
  }
  return NULL;
}

/* The record of the fastest back end that was asked. */
static FuseCompiled *find_first(FuseCompiledList *list, uint32_t chain, const FuseSignature *signature) {
  for (BackendNumber number = BACKEND_LIMIT; number-- > BACKEND_NATIVE;) {
    FuseCompiled *c = chain >> number & 1 ? find(list, number, signature) : NULL;
    if (c) return c;
  }
  return NULL;
}

/* Why there is nothing to run by; OK while that may change by waiting. */
static Status say_why_not(FuseCompiled *c) {
  if (!c) return status_new(ERROR_UNSUPPORTED, "it ran with too many layouts of its arguments");
  State state = state_of(c);
  if (state == STATE_NEW || state == STATE_WAITING || state == STATE_READY) return OK;
  Status failure = NULL;
  Reason reason = state == STATE_OUT ? REASON_NOT_COMPILED_LIMIT : REASON_NOT_COMPILED_OPERATION;
  lock_take(&store.lock);
  if (c->failure) failure = status_new(c->failure->code, "%s", c->failure->message);
  lock_drop(&store.lock);
  return failure ? failure : status_new(ERROR_UNSUPPORTED, "%s", reason_text(reason));
}

Status fuse_compiled_enter_now(FuseCompiledList *list, KernelIr *kernel, uint32_t chain, const FuseSignature *signature,
                               FuseCompiled **out) {
  while (!(*out = fuse_compiled_enter(list, kernel, chain, signature, (SourceRange){0}))) {
    FuseCompiled *c = find_first(list, chain, signature);
    TRY(say_why_not(c));
    if (state_of(c) != STATE_WAITING) continue;
    queue_remove(&c->job); /* unless the queue's thread is at it */
    run_job(&c->job);
    if (state_of(c) == STATE_WAITING) sleep_a_little();
  }
  return OK;
}

Status fuse_compiled_run(FuseCompiled *c, int threads, const TileArgument *arguments, Tensor *const *outputs) {
  assert(state_of(c) == STATE_READY);
  return c->backend->run(c->kernel, c->data, threads, arguments, outputs);
}

void fuse_compiled_leave(FuseCompiled *c) {
  atomic_fetch_sub_explicit(&c->word, ONE_RUN, memory_order_release);
}
