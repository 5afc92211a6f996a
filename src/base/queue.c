/* One thread, one list, one lock. */
#include "base/queue.h"

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

#include "base/clock.h"
#include "base/fork.h"
#include "base/thread.h"

enum { STACK_BYTES = 16 << 20, NICE = 10 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t work, idle; /* for the thread; for who waits for it */
static Job *first, *last;
static const Job *current; /* the job that runs, or ran last: it may have been freed */
static bool has_thread, has_begun, is_paused;
static _Atomic bool is_running; /* written under the lock */
static _Atomic bool cancelled;
static _Atomic int holders; /* threads that want the job under way to pause */
static pthread_t thread;
static _Thread_local bool is_queue_thread;

static Job *take_first(void) {
  Job *job = first;
  first = job->next;
  if (!first) last = NULL;
  job->next = NULL;
  job->is_queued = false;
  return job;
}

static void *serve(void *argument) {
  (void)argument;
  is_queue_thread = true;
  thread_be_nice(NICE);
  pthread_mutex_lock(&lock);
  has_begun = true;
  pthread_cond_broadcast(&idle);
  while (!atomic_load(&cancelled)) {
    if (!first || atomic_load(&holders)) {
      pthread_cond_broadcast(&idle);
      pthread_cond_wait(&work, &lock);
      continue;
    }
    Job *job = take_first();
    if (!job->hold(job)) continue;
    is_running = true;
    current = job;
    pthread_mutex_unlock(&lock);
    job->run(job);
    job->let_go(job); /* may free the job and its unit */
    pthread_mutex_lock(&lock);
    is_running = false;
    pthread_cond_broadcast(&idle);
  }
  pthread_mutex_unlock(&lock);
  return NULL;
}

static void init_conditions(void) {
  clock_condition_init(&work);
  clock_condition_init(&idle);
}

/* ---- forks ---- */

static void pause_before_fork(void) {
  queue_hold();
}
static void go_on_after_fork(void) {
  queue_let_go();
}

/* Waits out a thread that is still starting: an allocator's lock may be in its hands. */
static void before_fork(void) {
  if (is_queue_thread) return;
  pthread_mutex_lock(&lock);
  while (has_thread && !has_begun) pthread_cond_wait(&idle, &lock);
}
static void after_fork_in_parent(void) {
  if (!is_queue_thread) pthread_mutex_unlock(&lock);
}

/* The job that was under way never ends here: what it works on stays as it is. */
static void after_fork_in_child(void) {
  atomic_store(&holders, 0);
  has_thread = has_begun = is_paused = false;
  atomic_store(&is_running, false);
  init_conditions();
  if (!is_queue_thread) pthread_mutex_unlock(&lock);
}

static const ForkHandler pauses = {pause_before_fork, go_on_after_fork, NULL};
static const ForkHandler forks = {before_fork, after_fork_in_parent, after_fork_in_child};

bool queue_is_running(void) {
  return atomic_load_explicit(&is_running, memory_order_relaxed);
}

bool queue_pause(void) {
  if (!is_queue_thread) return true;
  assert(!lock_is_held()); /* a fork would wait for it */
  if (atomic_load_explicit(&holders, memory_order_relaxed)) {
    pthread_mutex_lock(&lock);
    is_paused = true;
    pthread_cond_broadcast(&idle);
    while (atomic_load(&holders)) pthread_cond_wait(&work, &lock);
    is_paused = false;
    pthread_mutex_unlock(&lock);
  }
  return !atomic_load_explicit(&cancelled, memory_order_relaxed);
}

void queue_hold(void) {
  if (is_queue_thread) return;
  pthread_mutex_lock(&lock);
  atomic_fetch_add(&holders, 1);
  while (is_running && !is_paused) pthread_cond_wait(&idle, &lock);
  pthread_mutex_unlock(&lock);
}

void queue_let_go(void) {
  if (is_queue_thread) return;
  pthread_mutex_lock(&lock);
  if (atomic_load(&holders)) atomic_fetch_sub(&holders, 1); /* not in a child that was forked meanwhile */
  if (has_thread) pthread_cond_broadcast(&work);
  pthread_mutex_unlock(&lock);
}

/* ---- the list ---- */

static bool start_thread(void) {
  if (has_thread) return true;
  return has_thread = thread_start(serve, NULL, STACK_BYTES, &thread);
}

__attribute__((constructor)) static void watch_forks(void) {
  init_conditions();
  fork_watch(FORK_PAUSES, &pauses);
  fork_watch(FORK_PLANS, &forks);
}

void queue_begin(void) {
  pthread_mutex_lock(&lock);
  if (!atomic_load(&cancelled)) start_thread();
  pthread_mutex_unlock(&lock);
}

bool queue_add(Job *job) {
  pthread_mutex_lock(&lock);
  bool started = !atomic_load(&cancelled) && start_thread();
  if (started && !job->is_queued) {
    job->is_queued = true;
    job->next = NULL;
    if (last)
      last->next = job;
    else
      first = job;
    last = job;
    pthread_cond_signal(&work);
  }
  pthread_mutex_unlock(&lock);
  return started;
}

void queue_remove(Job *job) {
  pthread_mutex_lock(&lock);
  Job *before = NULL;
  for (Job *j = first; j; before = j, j = j->next) {
    if (j != job) continue;
    if (before)
      before->next = j->next;
    else
      first = j->next;
    if (last == j) last = before;
    job->is_queued = false;
    break;
  }
  pthread_mutex_unlock(&lock);
}

void queue_wait(const Job *job, uint64_t ns) {
  struct timespec until = clock_after(ns);
  pthread_mutex_lock(&lock);
  bool others_first = job->is_queued && (is_running || first != job);
  while (!others_first && has_thread && (job->is_queued || (is_running && current == job)))
    if (pthread_cond_timedwait(&idle, &lock, &until)) break;
  pthread_mutex_unlock(&lock);
}

void queue_drain(void) {
  pthread_mutex_lock(&lock);
  while (has_thread && (first || is_running)) pthread_cond_wait(&idle, &lock);
  pthread_mutex_unlock(&lock);
}

/* The process ends or the library is unloaded. */
__attribute__((destructor)) static void stop(void) {
  pthread_mutex_lock(&lock);
  bool join = has_thread && !is_queue_thread;
  atomic_store(&cancelled, true);
  pthread_cond_broadcast(&work);
  pthread_mutex_unlock(&lock);
  if (join) pthread_join(thread, NULL);
}
