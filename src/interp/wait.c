/* Tasks that wait for a Future. Each waits for one task, the one that is to complete it, which may wait in turn: where
 * that leads back, nobody could ever go on, and one of them fails instead. A thread watches over the groups that have a
 * deadline or may be cancelled: what of theirs is suspended or queued then ends too. */
#include <assert.h>
#include <semaphore.h>
#include <stddef.h>

#include "base/clock.h"
#include "interp/task.h"

static sem_t alarm_bell; /* posted when the nearest deadline or a cancel flag may be another; safe in signal handlers */
static _Atomic bool is_watching;
static RunGroup *watched;
static uint64_t nearest_ns; /* the thread sleeps until then */

static void wake(Task *task, bool is_overdue) {
  RunGroup *group = task->group;
  *(task->previous_suspended ? &task->previous_suspended->next_suspended : &group->suspended) = task->next_suspended;
  if (task->next_suspended) task->next_suspended->previous_suspended = task->previous_suspended;
  task->next_suspended = task->previous_suspended = NULL;
  task->awaited = NULL;
  group->active++;
  pool_queue(task, is_overdue);
}

static void resume(FutureWaiter *waiter, Future *future) {
  (void)future;
  pool_enter();
  wake((Task *)((char *)waiter - offsetof(Task, waiter)), false);
  pool_leave();
}

/* Unless its future is done and it goes on anyway. Takes over why. */
static void interrupt(Task *task, Status why, bool is_overdue) {
  assert(task->awaited);
  if (!future_forget(task->awaited, &task->waiter)) {
    status_free(why);
    return;
  }
  task->interrupted = why;
  wake(task, is_overdue);
}

/* ---- rings ---- */

/* Whom it waits for, if anybody. */
static Task *next_in_chain(const Task *task) {
  return task->awaited ? future_producer(task->awaited) : task->inner;
}

/* The number of tasks in the ring that the task is in, looking `hops` far; 0: it is in none. */
static size_t ring_length(const Task *task, size_t hops) {
  const Task *t = next_in_chain(task);
  for (size_t i = 1; t && i <= hops; i++, t = next_in_chain(t))
    if (t == task) return i;
  return 0;
}

/* A task of the ring that the chain ends in (Brent's algorithm), or NULL. */
static Task *ring_behind(Task *start) {
  Task *turtle = start, *hare = next_in_chain(start);
  for (size_t steps = 0, limit = 1; hare && hare != turtle; hare = next_in_chain(hare)) {
    if (++steps < limit) continue;
    turtle = hare;
    limit *= 2;
    steps = 0;
  }
  return hare;
}

static void fail_in_ring(Task *task) {
  size_t length = ring_length(task, SIZE_MAX);
  if (length < 2)
    interrupt(task, status_new(ERROR_RUNTIME, "a task waits for itself"), false);
  else
    interrupt(
        task,
        status_new(ERROR_RUNTIME, "a task waits for itself, by way of %zu other%s", length - 1, length == 2 ? "" : "s"),
        false);
}

void wait_break_ring(RunGroup *group) {
  if (group->active || !group->suspended) return;
  Task *task = ring_behind(group->suspended);
  while (task && !task->awaited) task = next_in_chain(task);
  if (task) fail_in_ring(task);
}

/* ---- deadlines ---- */

static bool is_over(const RunGroup *group) {
  return (group->stop && atomic_load(group->stop)) || (group->deadline_ns && clock_now_ns() >= group->deadline_ns);
}

static void end_suspended(RunGroup *group) {
  for (Task *task = group->suspended, *next; task; task = next) {
    next = task->next_suspended;
    interrupt(task, work_poll(&task->exec->work), true);
  }
}

/* Until the bell rings, or about then. */
static void wait_for_bell(uint64_t until_ns) {
#ifdef __GLIBC__
  struct timespec time = clock_at(until_ns);
  sem_clockwait(&alarm_bell, CLOCK_MONOTONIC, &time);
#else
  /* By the clock that can be set: in slices, so that it may be. */
  enum { SLICE_NS = 100000000, SECOND_NS = 1000000000 };
  uint64_t now = clock_now_ns(), left = until_ns > now ? until_ns - now : 0;
  struct timespec time;
  clock_gettime(CLOCK_REALTIME, &time);
  time.tv_nsec += (long)(left < SLICE_NS ? left : SLICE_NS);
  if (time.tv_nsec >= SECOND_NS) time.tv_sec++, time.tv_nsec -= SECOND_NS;
  sem_timedwait(&alarm_bell, &time);
#endif
}

static void *watch(void *argument) {
  (void)argument;
  pool_has_begun();
  for (;;) {
    bool any = false;
    pool_enter();
    nearest_ns = UINT64_MAX;
    for (RunGroup *group = watched; group; group = group->next) {
      if (is_over(group)) {
        end_suspended(group);
        any = true;
      } else if (group->deadline_ns && group->deadline_ns < nearest_ns) {
        nearest_ns = group->deadline_ns;
      }
    }
    if (any) pool_hurry(is_over);
    uint64_t until = nearest_ns;
    pool_leave();
    if (until == UINT64_MAX)
      sem_wait(&alarm_bell);
    else
      wait_for_bell(until);
  }
  return NULL;
}

bool wait_watch(RunGroup *group) {
  if (!group->deadline_ns && !group->stop) return true;
  if (!is_watching) {
    sem_init(&alarm_bell, 0, 0);
    nearest_ns = 0; /* it looks when it begins */
    is_watching = pool_start_thread(watch);
    if (!is_watching) return false;
  }
  if (!group->is_watched) {
    group->is_watched = true;
    group->previous = NULL;
    group->next = watched;
    if (watched) watched->previous = group;
    watched = group;
  }
  if ((group->deadline_ns && group->deadline_ns < nearest_ns) || is_over(group)) {
    sem_post(&alarm_bell);
  }
  return true;
}

void wait_unwatch(RunGroup *group) {
  if (!group->is_watched) return;
  *(group->previous ? &group->previous->next : &watched) = group->next;
  if (group->next) group->next->previous = group->previous;
  group->is_watched = false;
}

void wait_after_fork(void) {
  is_watching = false;
}

void interp_cancelled(void) {
  if (is_watching) sem_post(&alarm_bell);
}

/* ---- suspending ---- */

Status wait_suspend(Task *task, Future *future, bool *out_suspended) {
  enum { NEAR = 32 }; /* longer rings are found when nothing else of the group goes on */
  RunGroup *group = task->group;
  *out_suspended = false;
  pool_enter();
  if (!group->is_used) group->is_used = true;
  task->waiter.run = resume;
  Status status =
      wait_watch(group) ? OK : status_new(ERROR_RUNTIME, "no thread could be started to end a wait in time");
  if (!status && is_over(group)) status = work_poll(&task->exec->work);
  if (!status && future_await(future, &task->waiter)) {
    *out_suspended = true;
    task->awaited = future;
    if (task->outer) task->outer->inner = task;
    task->next_suspended = group->suspended;
    if (group->suspended) group->suspended->previous_suspended = task;
    group->suspended = task;
    group->active--;
    if (ring_length(task, NEAR))
      fail_in_ring(task);
    else
      wait_break_ring(group);
  }
  pool_leave();
  return status;
}
