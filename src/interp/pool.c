/* The pool of threads that runs forked tasks, started with the first fork. One lock guards the queue, the counts of
 * groups and the ends of suspended root tasks. Whoever has to block for tasks of his own runs queued ones of his group
 * meanwhile, so that a small pool never waits for itself. */
#include "base/stack.h"
#include "interp/task.h"

enum { MAX_THREADS = 8 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t work = PTHREAD_COND_INITIALIZER;    /* for the pool's threads */
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER; /* for those who wait: a task ended or was queued */
static Task *first, *last;
static int thread_count, begun, waiting;

static void run_one(Task *task) {
  if (task_run(task) == RUN_DONE) pool_finish(task);
}

static void push(Task *task) {
  task->next = NULL;
  if (last)
    last->next = task;
  else
    first = task;
  last = task;
}

/* The first queued task, of the group if one is given; the lock is held. */
static Task *pop(const RunGroup *group) {
  Task *before = NULL;
  for (Task *task = first; task; before = task, task = task->next) {
    if (group && task->group != group) continue;
    if (before)
      before->next = task->next;
    else
      first = task->next;
    if (last == task) last = before;
    task->next = NULL;
    return task;
  }
  return NULL;
}

static void *serve(void *argument) {
  (void)argument;
  pthread_mutex_lock(&lock);
  begun++;
  pthread_cond_broadcast(&changed);
  for (;;) {
    Task *task = pop(NULL);
    if (!task) {
      pthread_cond_wait(&work, &lock);
      continue;
    }
    pthread_mutex_unlock(&lock);
    run_one(task);
    pthread_mutex_lock(&lock);
  }
  return NULL;
}

/* ---- forks ---- */

/* Waits out threads that are still starting: an allocator's lock may be in their hands. */
static void before_fork(void) {
  pthread_mutex_lock(&lock);
  while (begun < thread_count) pthread_cond_wait(&changed, &lock);
}
static void after_fork_in_parent(void) {
  pthread_mutex_unlock(&lock);
}
/* The child has none of the threads, and nobody there waits for what they were to run. The conditions still count
 * sleepers that are gone. */
static void after_fork_in_child(void) {
  first = last = NULL;
  thread_count = begun = waiting = 0;
  pthread_cond_init(&work, NULL);
  pthread_cond_init(&changed, NULL);
  pthread_mutex_unlock(&lock);
}
static void watch_forks(void) {
  pthread_atfork(before_fork, after_fork_in_parent, after_fork_in_child);
}
void pool_watch_forks(void) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, watch_forks);
}

/* ---- tasks ---- */

static void start_threads(void) {
  int wanted = parallel_default_threads();
  if (wanted > MAX_THREADS) wanted = MAX_THREADS;
  while (thread_count < wanted) {
    pthread_t thread;
    if (pthread_create(&thread, NULL, serve, NULL)) return;
    pthread_detach(thread);
    thread_count++;
  }
}

Status pool_submit(Task *task) {
  pool_watch_forks();
  pthread_mutex_lock(&lock);
  start_threads();
  bool started = thread_count > 0;
  if (started) {
    if (task->future && !task->is_done) {
      task->is_done = true; /* counted once: resuming it later submits it again */
      task->group->running++;
    }
    push(task);
    pthread_cond_signal(&work);
    if (waiting) pthread_cond_broadcast(&changed);
  }
  pthread_mutex_unlock(&lock);
  return started ? OK : status_new(ERROR_RUNTIME, "no thread could be started for a forked task");
}

void pool_finish(Task *task) {
  if (!task->future) {
    pthread_mutex_lock(&lock);
    task->is_done = true;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&lock);
    return;
  }
  Future *future = task->future;
  RunGroup *group = task->group;
  CompilationUnit *unit = task->unit;
  bool is_own = group == &task->own_group;
  if (is_own) pool_wait_group_but(group, 1); /* an asynchronous call has ended when all it forked has */
  AsyncRun *run = (AsyncRun *)task->run;
  if (run) run->ended(run, task->exec, !task->status);
  if (task->status) {
    future_fail(future, task->status);
  } else {
    ivalue_mark_shared(task->result);
    future_complete(future, task->result);
  }
  task_release(task);
  ivalue_release(ivalue_future(future));
  unit_release(unit);
  if (is_own) return;
  pthread_mutex_lock(&lock);
  group->running--;
  pthread_cond_broadcast(&changed);
  pthread_mutex_unlock(&lock);
}

/* Sleeps until something changed, or runs a task of the group; the lock is held before and after. */
static void help(RunGroup *group) {
  Task *task = STACK_IS_LOW() ? NULL : pop(group);
  if (!task) {
    waiting++;
    pthread_cond_wait(&changed, &lock);
    waiting--;
    return;
  }
  pthread_mutex_unlock(&lock);
  run_one(task);
  pthread_mutex_lock(&lock);
}

void pool_wait_done(Task *root) {
  pthread_mutex_lock(&lock);
  while (!root->is_done) help(root->group);
  pthread_mutex_unlock(&lock);
}

void pool_wait_group_but(RunGroup *group, int count) {
  pthread_mutex_lock(&lock);
  while (group->running > count) help(group);
  pthread_mutex_unlock(&lock);
}
