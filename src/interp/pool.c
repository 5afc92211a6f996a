/* The pool of threads that runs forked tasks, started with the first fork. One lock guards the queue, groups, the ends
 * of suspended root tasks and who waits for whom (wait.c). An outermost call that has to block runs queued tasks of its
 * group meanwhile. A run entered from C can't: what it took up might wait for what stands below it on the stack; where
 * it blocks one of the pool's threads, another one is there instead. So the pool never waits for itself. */
#include <assert.h>

#include "base/fork.h"
#include "base/parallel.h"
#include "base/stack.h"
#include "base/thread.h"
#include "interp/task.h"

/* On one processor too a call without end must not hold all others. */
enum { LEAST_THREADS = 2, USUAL_THREADS = 8, MAX_THREADS = 128 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t work = PTHREAD_COND_INITIALIZER;    /* for the pool's threads */
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER; /* for those who wait: a task ended or was queued */
static Task *first, *last;
static int thread_count, starting; /* of the pool; of all that are begun here, those that are not yet running */
static int busy, blocked;          /* of the pool's: on a task; of these the ones that wait within it */
static int overdue, waiting;       /* queued tasks; threads at `changed` */
static _Thread_local bool is_of_pool;

void pool_enter(void) {
  pthread_mutex_lock(&lock);
}
void pool_leave(void) {
  pthread_mutex_unlock(&lock);
}

static void run_one(Task *task) {
  if (task_run(task) == RUN_DONE) pool_finish(task);
}

/* ---- threads ---- */

/* So many threads of the pool may work at once: one more where something should have ended. */
static int allowed(void) {
  int usual = parallel_default_threads();
  if (usual < LEAST_THREADS) usual = LEAST_THREADS;
  return (usual > USUAL_THREADS ? USUAL_THREADS : usual) + blocked + (overdue > 0);
}

bool pool_start_thread(void *(*serve)(void *)) {
  if (!thread_start(serve, NULL, STACK_OF_THREADS, NULL)) return false;
  starting++;
  return true;
}
void pool_has_begun(void) {
  pthread_mutex_lock(&lock);
  starting--;
  pthread_cond_broadcast(&changed);
  pthread_mutex_unlock(&lock);
}

static Task *pop(const RunGroup *group);
static void *serve(void *argument) {
  (void)argument;
  is_of_pool = true;
  pool_has_begun();
  pthread_mutex_lock(&lock);
  for (;;) {
    Task *task = busy < allowed() ? pop(NULL) : NULL;
    if (!task) {
      pthread_cond_wait(&work, &lock);
      continue;
    }
    busy++;
    pthread_mutex_unlock(&lock);
    run_one(task);
    pthread_mutex_lock(&lock);
    busy--;
  }
  return NULL;
}

static void start_threads(void) {
  while (thread_count < allowed() && thread_count < MAX_THREADS && pool_start_thread(serve)) thread_count++;
}

/* ---- forks ---- */

/* Waits out threads that are still starting: an allocator's lock may be in their hands. */
static void before_fork(void) {
  pthread_mutex_lock(&lock);
  while (starting) pthread_cond_wait(&changed, &lock);
}
static void after_fork_in_parent(void) {
  pthread_mutex_unlock(&lock);
}
/* The child has none of the threads, and nobody there waits for what they were to run. The conditions still count
 * sleepers that are gone. */
static void after_fork_in_child(void) {
  first = last = NULL;
  thread_count = busy = blocked = overdue = waiting = 0;
  pthread_cond_init(&work, NULL);
  pthread_cond_init(&changed, NULL);
  wait_after_fork();
  pthread_mutex_unlock(&lock);
}
__attribute__((constructor)) static void watch_forks(void) {
  static const ForkHandler handler = {before_fork, after_fork_in_parent, after_fork_in_child};
  fork_watch(FORK_TASKS, &handler);
}

/* ---- the queue ---- */

/* Takes the task after `before` (NULL: the first) out of the queue. */
static Task *unlink_after(Task *before) {
  assert(before ? before->next != NULL : first != NULL);
  Task *task = before ? before->next : first;
  *(before ? &before->next : &first) = task->next;
  if (last == task) last = before;
  task->next = NULL;
  return task;
}

/* The first queued task, of the group if one is given. */
static Task *pop(const RunGroup *group) {
  Task *before = NULL, *task = first;
  while (task && group && task->group != group) task = (before = task)->next;
  if (!task) return NULL;
  if (task->is_overdue) overdue--;
  task->is_overdue = false;
  return unlink_after(before);
}

static void link_task(Task *task, bool at_front) {
  task->next = at_front ? first : NULL;
  if (at_front || !last)
    first = task;
  else
    last->next = task;
  if (!task->next) last = task;
}

void pool_queue(Task *task, bool at_front) {
  link_task(task, at_front);
  if (at_front) {
    task->is_overdue = true;
    overdue++;
  }
  start_threads();
  pthread_cond_signal(&work);
  if (waiting) pthread_cond_broadcast(&changed);
}

void pool_hurry(bool (*is_over)(const RunGroup *group)) {
  Task *before = NULL, *hurried = NULL;
  for (Task *task = first, *next; task; task = next) {
    next = task->next;
    if (task->is_overdue || !is_over(task->group)) {
      before = task;
      continue;
    }
    unlink_after(before);
    task->next = hurried;
    hurried = task;
  }
  for (Task *next; hurried; hurried = next) {
    next = hurried->next;
    pool_queue(hurried, true);
  }
}

/* ---- tasks ---- */

void group_init(RunGroup *group, const Exec *exec) {
  *group = (RunGroup){.active = 1, .stop = exec->work.stop, .deadline_ns = exec->work.deadline_ns};
}

Status pool_submit(Task *task) {
  RunGroup *group = task->group;
  pthread_mutex_lock(&lock);
  start_threads();
  bool started = thread_count > 0 && wait_watch(group);
  if (started) {
    if (!group->is_used) group->is_used = true;
    group->running++;
    group->active++;
    future_set_producer(task->future, task);
    pool_queue(task, false);
  }
  pthread_mutex_unlock(&lock);
  return started ? OK : status_new(ERROR_RUNTIME, "no thread could be started for a forked task");
}

/* The results of a task with a Future, where all it has to wait for has ended. */
static void deliver(Task *task) {
  assert(task->future);
  Future *future = task->future;
  CompilationUnit *unit = task->unit;
  Runtime *runtime = unit ? task->runtime : NULL;
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
  if (runtime) runtime_let_go(runtime);
}

void pool_finish(Task *task) {
  assert(!task->top && !task->is_done);
  RunGroup *group = task->group;
  pthread_mutex_lock(&lock);
  if (!task->future) { /* a root task, whose thread goes on */
    if (task->outer) task->outer->inner = NULL;
    task->is_done = true;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&lock);
    return;
  }
  future_set_producer(task->future, NULL);
  bool is_call = group == &task->own_group;
  if (is_call && group->running > 1) { /* an asynchronous call has ended when all it forked has */
    group->ended_call = task;
    group->active--;
    wait_break_ring(group);
    pthread_mutex_unlock(&lock);
    return;
  }
  if (is_call) wait_unwatch(group);
  pthread_mutex_unlock(&lock);
  deliver(task);
  if (is_call) return;
  pthread_mutex_lock(&lock);
  group->running--;
  group->active--;
  Task *call = group->running == 1 ? group->ended_call : NULL;
  if (call)
    wait_unwatch(group);
  else
    wait_break_ring(group);
  pthread_cond_broadcast(&changed);
  pthread_mutex_unlock(&lock);
  if (call) deliver(call);
}

/* ---- waiting ---- */

static void sleep_until_changed(void) {
  waiting++;
  pthread_cond_wait(&changed, &lock);
  waiting--;
}

/* Sleeps until something changed. One of the pool's threads lets another one work meanwhile; where none can be started,
 * it takes up what is queued. */
static void block(void) {
  if (!is_of_pool) {
    sleep_until_changed();
    return;
  }
  blocked++;
  start_threads();
  if (first) pthread_cond_signal(&work);
  Task *task = thread_count > blocked || STACK_IS_LOW() ? NULL : pop(NULL);
  if (!task) {
    sleep_until_changed();
  } else {
    pthread_mutex_unlock(&lock);
    run_one(task);
    pthread_mutex_lock(&lock);
  }
  blocked--;
}

/* Sleeps until something changed, or runs a task of the group. */
static void help(RunGroup *group) {
  Task *task = STACK_IS_LOW() ? NULL : pop(group);
  if (!task) {
    block();
    return;
  }
  pthread_mutex_unlock(&lock);
  run_one(task);
  pthread_mutex_lock(&lock);
}

void pool_wait_done(Task *root) {
  pthread_mutex_lock(&lock);
  while (!root->is_done) {
    if (root->outer)
      block();
    else
      help(root->group);
  }
  pthread_mutex_unlock(&lock);
}

void pool_wait_group(RunGroup *group) {
  pthread_mutex_lock(&lock);
  group->active--;
  wait_break_ring(group);
  while (group->running > 0) help(group);
  wait_unwatch(group);
  pthread_mutex_unlock(&lock);
}
