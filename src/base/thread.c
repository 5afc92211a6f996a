/* What the process had when the library was loaded, or was told to use since, and threads that get it. */
#include "base/thread.h"

#include <assert.h>
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/fork.h"
#include "base/heap.h"
#include "base/memory.h"

enum { MASK_WORDS = 128, WORD_BITS = 8 * sizeof(unsigned long), MAX_PROCESSORS = MASK_WORDS * WORD_BITS };
typedef struct Home {
  unsigned long processors[MASK_WORDS];
  bool has_processors, is_chosen;
  int policy, priority; /* of SCHED_OTHER, BATCH and IDLE: nice */
} Home;
static Home first_home; /* the process's */

typedef struct Thread {
  struct Thread *previous, *next;
  pid_t id;
  int nice;
} Thread;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static Home home;       /* guarded, as the list */
static Thread *threads; /* wick's own */
static _Thread_local Thread *own;
static _Atomic unsigned version; /* of `home`; 0: as the process began */

/* The calls of the kernel: musl's functions of these names always fail, for POSIX means a process by them. */
static int get_policy(pid_t id) {
  return (int)syscall(SYS_sched_getscheduler, id);
}
static int set_policy(pid_t id, int policy, const struct sched_param *parameter) {
  return (int)syscall(SYS_sched_setscheduler, id, policy, parameter);
}

static bool add_processors(pid_t id, Home *to) {
  unsigned long mask[MASK_WORDS] = {0};
  if (sched_getaffinity(id, sizeof mask, (cpu_set_t *)mask)) return false;
  for (int i = 0; i < MASK_WORDS; i++) to->processors[i] |= mask[i];
  return true;
}

/* A thread that opens the library at run time may be pinned already: the main thread's processors count, too. */
__attribute__((constructor)) static void look_around(void) {
  bool of_this = add_processors(0, &first_home), of_process = add_processors(getpid(), &first_home);
  int policy = get_policy(getpid());
  first_home.has_processors = of_this || of_process;
  first_home.policy = policy == SCHED_BATCH || policy == SCHED_IDLE ? policy : SCHED_OTHER;
  first_home.priority = getpriority(PRIO_PROCESS, (id_t)getpid());
  home = first_home;
}

/* ---- applying ---- */

static bool is_realtime(int policy) {
  return policy == SCHED_FIFO || policy == SCHED_RR;
}

/* Everything that the system permits; the errno of the first that it does not, and what it was. The nice value goes
 * last: it holds within the policies that have one. */
static int apply(const Home *h, pid_t id, int least_nice, const char **out_what) {
  int failed = 0, nice = !is_realtime(h->policy) && least_nice > h->priority ? least_nice : h->priority;
  if (h->has_processors && sched_setaffinity(id, sizeof h->processors, (const cpu_set_t *)h->processors)) {
    failed = errno;
    *out_what = "the processors";
  }
  struct sched_param parameter = {.sched_priority = is_realtime(h->policy) ? h->priority : 0};
  if ((get_policy(id) != h->policy || is_realtime(h->policy)) && set_policy(id, h->policy, &parameter) && !failed) {
    failed = errno;
    *out_what = "the policy";
  }
  if (!is_realtime(h->policy) && setpriority(PRIO_PROCESS, (id_t)id, nice) && !failed) {
    failed = errno;
    *out_what = "the nice value";
  }
  return failed;
}

/* Refused where the cpuset has changed, or upwards: then the thread stays as it was started. */
static void apply_what_goes(const Home *h, pid_t id, int least_nice) {
  const char *what;
  (void)apply(h, id, least_nice, &what);
}

/* ---- the list ---- */

static void before_fork(void) {
  pthread_mutex_lock(&lock);
}
static void after_fork(void) {
  pthread_mutex_unlock(&lock);
}
static void in_child(void) {
  threads = own;
  if (own) {
    own->previous = own->next = NULL;
    own->id = (pid_t)syscall(SYS_gettid);
  }
  pthread_mutex_unlock(&lock);
}
__attribute__((constructor)) static void watch_forks(void) {
  static const ForkHandler handler = {before_fork, after_fork, in_child};
  fork_watch(FORK_THREADS, &handler);
}

static void enter_list(Thread *thread) {
  const char *what;
  pthread_mutex_lock(&lock);
  own = thread;
  thread->next = threads;
  if (threads) threads->previous = thread;
  threads = thread;
  (void)apply(&home, thread->id, thread->nice, &what);
  pthread_mutex_unlock(&lock);
}
static void leave_list(Thread *thread) {
  assert(own == thread);
  pthread_mutex_lock(&lock);
  *(thread->previous ? &thread->previous->next : &threads) = thread->next;
  if (thread->next) thread->next->previous = thread->previous;
  own = NULL;
  pthread_mutex_unlock(&lock);
}

/* struct sched_attr, whose header does not go together with that of the functions. */
typedef struct SchedAttributes {
  uint32_t size, policy;
  uint64_t flags;
  int32_t nice;
  uint32_t priority;
  uint64_t runtime, deadline, period; /* in ns */
} SchedAttributes;

/* From Linux 6.12 on: who wakes up waits for no more of this thread's slice. */
static void shorten_slice(pid_t id) {
  enum { SHORT_NS = 100000 };
  SchedAttributes attributes;
  if (syscall(SYS_sched_getattr, id, &attributes, sizeof attributes, 0)) return;
  attributes.runtime = SHORT_NS;
  if (!is_realtime((int)attributes.policy)) (void)syscall(SYS_sched_setattr, id, &attributes, 0);
}

void thread_be_nice(int nice) {
  assert(own);
  pthread_mutex_lock(&lock);
  own->nice = nice;
  apply_what_goes(&home, own->id, nice);
  shorten_slice(own->id);
  pthread_mutex_unlock(&lock);
}

/* The processors but one; false: there is no other. */
static bool leave_out(const Home *all, int processor, Home *out) {
  unsigned long left = 0;
  *out = *all;
  if (processor >= 0 && processor < MAX_PROCESSORS)
    out->processors[processor / WORD_BITS] &= ~(1ul << processor % WORD_BITS);
  for (int i = 0; i < MASK_WORDS; i++) left |= out->processors[i];
  return all->has_processors && left;
}

/* The system moves who may not stay, at once. */
void thread_leave_processor(int processor) {
  assert(own);
  Home all = {0}, others;
  pthread_mutex_lock(&lock); /* thread_set_options says where it may be */
  all.has_processors = add_processors(own->id, &all);
  if (leave_out(&all, processor, &others) &&
      !sched_setaffinity(own->id, sizeof others.processors, (cpu_set_t *)others.processors))
    (void)sched_setaffinity(own->id, sizeof all.processors, (cpu_set_t *)all.processors);
  pthread_mutex_unlock(&lock);
}

/* ---- starting ---- */

typedef struct Start {
  void *(*body)(void *argument);
  void *argument;
} Start;

static void *begin(void *argument) {
  Start start = *(Start *)argument;
  mem_free(argument);
  Thread thread = {.id = (pid_t)syscall(SYS_gettid), .nice = PRIO_MIN};
  enter_list(&thread);
  void *result = start.body(start.argument);
  leave_list(&thread);
  return result;
}

/* Without the starter's real-time policy from its first moment on, if the system permits, and on another of the
 * process's processors than his: where the starter is busy, it might not run for long otherwise. The thread is there:
 * it wants the lock before anything else (enter_list). */
static bool create(Start *start, size_t stack_bytes, bool with_policy, pthread_t *out) {
  pthread_attr_t attributes;
  pthread_t thread;
  if (pthread_attr_init(&attributes)) return false;
  bool fine = !stack_bytes || !pthread_attr_setstacksize(&attributes, stack_bytes);
  if (with_policy)
    fine &= !pthread_attr_setinheritsched(&attributes, PTHREAD_EXPLICIT_SCHED) &&
            !pthread_attr_setschedpolicy(&attributes, first_home.policy) &&
            !pthread_attr_setschedparam(&attributes, &(struct sched_param){0});
  if (!out) fine &= !pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
  if (!out) out = &thread;
  pthread_mutex_lock(&lock);
  fine = fine && !pthread_create(out, &attributes, begin, start);
  Home others;
  if (fine && leave_out(&home, sched_getcpu(), &others))
    (void)pthread_setaffinity_np(*out, sizeof others.processors, (const cpu_set_t *)others.processors);
  if (fine && home.has_processors)
    (void)pthread_setaffinity_np(*out, sizeof home.processors, (const cpu_set_t *)home.processors);
  pthread_mutex_unlock(&lock);
  pthread_attr_destroy(&attributes);
  return fine;
}

bool thread_start(void *(*body)(void *argument), void *argument, size_t stack_bytes, pthread_t *out) {
  HEAP_SCOPE(NULL);
  Start *start = mem_alloc(sizeof *start);
  if (!start) return false;
  *start = (Start){body, argument};
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  bool started = create(start, stack_bytes, true, out) || create(start, stack_bytes, false, out);
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  if (!started) mem_free(start);
  return started;
}

/* ---- options ---- */

typedef struct Trial {
  const Home *wanted;
  unsigned long got[MASK_WORDS];
  int failed;
  const char *what;
} Trial;

static void *try_out(void *argument) {
  Trial *trial = argument;
  trial->failed = apply(trial->wanted, (pid_t)syscall(SYS_gettid), PRIO_MIN, &trial->what);
  if (sched_getaffinity(0, sizeof trial->got, (cpu_set_t *)trial->got) < 0 && !trial->failed) trial->failed = errno;
  return NULL;
}

static Status refusal(const Trial *trial) {
  int number = trial->failed;
  const char *name = number == EPERM ? "EPERM, " : number == EACCES ? "EACCES, " : number == EINVAL ? "EINVAL, " : "";
  return status_new(ERROR_UNSUPPORTED, "the system refuses threads %s: %s%s", trial->what, name, strerror(number));
}

/* The system leaves processors that the process may not use out without a word, if it may use one of them. */
static Status check(const Home *wanted) {
  Trial trial = {.wanted = wanted, .what = "their options"};
  pthread_t thread;
  if (!thread_start(try_out, &trial, 0, &thread))
    return status_new(ERROR_RUNTIME, "no thread could be started to try the options of threads");
  pthread_join(thread, NULL);
  for (uint32_t i = 0; wanted->is_chosen && i < MAX_PROCESSORS; i++)
    if ((wanted->processors[i / WORD_BITS] & ~trial.got[i / WORD_BITS]) >> i % WORD_BITS & 1)
      return status_new(ERROR_INVALID_ARGUMENT, "there is no processor %u that this process may use", i);
  return trial.failed ? refusal(&trial) : OK;
}

static Status read_options(const ThreadOptions *options, Home *out) {
  *out = first_home;
  int policy = options->policy, priority = options->priority;
  if (policy >= 0) {
    int least = is_realtime(policy) ? sched_get_priority_min(policy) : -20,
        most = is_realtime(policy) ? sched_get_priority_max(policy) : 19;
    if (priority < least || priority > most)
      return status_new(ERROR_INVALID_ARGUMENT, "priority %d of threads is not between %d and %d", priority, least,
                        most);
    out->policy = policy;
    out->priority = priority;
  } else if (priority) {
    return status_new(ERROR_INVALID_ARGUMENT, "priority %d of threads needs a policy", priority);
  }
  if (!options->processors) return OK;
  memset(out->processors, 0, sizeof out->processors);
  out->has_processors = out->is_chosen = true;
  for (uint32_t i = 0; i < options->processor_count; i++) {
    uint32_t number = options->processors[i];
    if (number >= MAX_PROCESSORS)
      return status_new(ERROR_INVALID_ARGUMENT, "there is no processor %u that this process may use", number);
    out->processors[number / WORD_BITS] |= 1ul << number % WORD_BITS;
  }
  return OK;
}

Status thread_set_options(const ThreadOptions *options) {
  Home wanted;
  TRY(read_options(options, &wanted));
  TRY(check(&wanted));
  pthread_mutex_lock(&lock);
  home = wanted;
  for (Thread *t = threads; t; t = t->next) apply_what_goes(&home, t->id, t->nice);
  atomic_fetch_add(&version, 1);
  pthread_mutex_unlock(&lock);
  return OK;
}

/* ---- threads of others ---- */

void thread_settle(void) {
  static _Thread_local unsigned settled; /* one more than the version */
  unsigned now = atomic_load_explicit(&version, memory_order_acquire) + 1;
  if (settled == now || own) return;
  settled = now;
  pthread_mutex_lock(&lock);
  apply_what_goes(&home, (pid_t)syscall(SYS_gettid), PRIO_MIN);
  pthread_mutex_unlock(&lock);
}

bool thread_needs_settling(void) {
  if (own) return false;
  if (atomic_load_explicit(&version, memory_order_relaxed)) return true;
  unsigned long mask[MASK_WORDS] = {0};
  return sched_getscheduler(0) != first_home.policy || sched_getaffinity(0, sizeof mask, (cpu_set_t *)mask) < 0 ||
         (first_home.has_processors && memcmp(mask, first_home.processors, sizeof mask) != 0);
}
