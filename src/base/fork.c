/* Handlers by step, and a gate: counts of threads that hold locks, spread so that those who come and go do not meet in
 * one cache line. */
#include "base/fork.h"

#include <assert.h>
#include <stdatomic.h>
#include <time.h>

/* ---- steps ---- */

static pthread_mutex_t forking = PTHREAD_MUTEX_INITIALIZER; /* one fork at a time; held from before it until after */
static const ForkHandler *handlers[FORK_STEPS];             /* guarded */

static void before(void) {
  pthread_mutex_lock(&forking);
  for (int i = 0; i < FORK_STEPS; i++)
    if (handlers[i] && handlers[i]->before) handlers[i]->before();
}
static void in_parent(void) {
  for (int i = FORK_STEPS; i-- > 0;)
    if (handlers[i] && handlers[i]->in_parent) handlers[i]->in_parent();
  pthread_mutex_unlock(&forking);
}
static void in_child(void) {
  for (int i = FORK_STEPS; i-- > 0;)
    if (handlers[i] && handlers[i]->in_child) handlers[i]->in_child();
  pthread_mutex_unlock(&forking);
}
__attribute__((constructor)) static void watch_forks(void) {
  pthread_atfork(before, in_parent, in_child);
}

void fork_watch(ForkStep step, const ForkHandler *handler) {
  assert(step < FORK_STEPS);
  pthread_mutex_lock(&forking);
  handlers[step] = handler;
  pthread_mutex_unlock(&forking);
}

/* ---- locks ---- */

enum { SHARDS = 64 };
static struct { _Alignas(64) _Atomic int inside; /* threads that hold locks */ } shards[SHARDS];
static _Atomic bool is_closed;
static _Atomic unsigned next_shard;
static _Thread_local unsigned depth, shard; /* shard 0: not chosen yet; one more than its index */

/* Others may be waiting for what a holder who forks has: nothing of wick's does that, and nobody waits then. */
static void close_gate(void) {
  if (depth) return;
  atomic_store(&is_closed, true);
  for (;;) {
    int inside = 0;
    for (int i = 0; i < SHARDS; i++) inside += atomic_load(&shards[i].inside);
    if (!inside) return;
    nanosleep(&(struct timespec){.tv_nsec = 20000}, NULL);
  }
}
static void open_gate(void) {
  atomic_store(&is_closed, false);
}
/* Threads that were turning back at the gate may have left their counts in the child. */
static void open_gate_in_child(void) {
  for (int i = 0; i < SHARDS; i++) atomic_store(&shards[i].inside, 0);
  if (depth) atomic_store(&shards[shard - 1].inside, 1);
  open_gate();
}

__attribute__((constructor)) static void watch_gate(void) {
  static const ForkHandler handler = {close_gate, open_gate, open_gate_in_child};
  fork_watch(FORK_LOCKS, &handler);
}

static void wait_for_fork(void) {
  pthread_mutex_lock(&forking);
  pthread_mutex_unlock(&forking);
}

static void choose_shard(void) {
  if (!shard) shard = atomic_fetch_add_explicit(&next_shard, 1, memory_order_relaxed) % SHARDS + 1;
}

void lock_enter(void) {
  if (depth++) return;
  choose_shard();
  for (;;) {
    atomic_fetch_add(&shards[shard - 1].inside, 1);
    if (!atomic_load(&is_closed)) return;
    atomic_fetch_sub(&shards[shard - 1].inside, 1);
    wait_for_fork();
  }
}

void lock_enter_for_holder(void) {
  if (depth++) return;
  choose_shard();
  atomic_fetch_add(&shards[shard - 1].inside, 1);
}

void lock_leave(void) {
  assert(depth > 0);
  if (--depth == 0) atomic_fetch_sub_explicit(&shards[shard - 1].inside, 1, memory_order_release);
}

bool lock_is_held(void) {
  return depth > 0;
}

void lock_take(pthread_mutex_t *lock) {
  lock_enter();
  pthread_mutex_lock(lock);
}
bool lock_try(pthread_mutex_t *lock) {
  lock_enter();
  if (!pthread_mutex_trylock(lock)) return true;
  lock_leave();
  return false;
}
void lock_drop(pthread_mutex_t *lock) {
  pthread_mutex_unlock(lock);
  lock_leave();
}
