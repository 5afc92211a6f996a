/* The locks behind shared lists, dicts and objects, and the one of marking. */
#include "ivalue/lock.h"

#include <pthread.h>
#include <time.h>

#include "base/fork.h"

ContainerLock container_locks[CONTAINER_LOCKS];
static pthread_mutex_t marking = PTHREAD_MUTEX_INITIALIZER;

/* A lock is held for some nanoseconds, or as long as a list takes to copy; whoever has it may have lost the processor.
 * Sleeping, not yielding: a thread of a higher real-time priority must let the holder go on. */
void container_lock_slowly(ContainerLock *lock) {
  enum { TRIES = 100, FIRST_NS = 1000, LONGEST_NS = 200000 };
  for (int i = 0; i < TRIES; i++)
    if (!atomic_load_explicit(&lock->is_held, memory_order_relaxed) && container_try_lock(lock)) return;
  for (long ns = FIRST_NS; !container_try_lock(lock); ns = ns * 2 < LONGEST_NS ? ns * 2 : LONGEST_NS)
    nanosleep(&(struct timespec){.tv_nsec = ns}, NULL);
}

/* A fork must not catch one of them in another thread's hands: the child could never take it. */
static void take_all(void) {
  pthread_mutex_lock(&marking);
  for (int i = 0; i < CONTAINER_LOCKS; i++) container_lock_slowly(&container_locks[i]);
}
static void drop_all(void) {
  for (int i = 0; i < CONTAINER_LOCKS; i++) container_drop(&container_locks[i]);
  pthread_mutex_unlock(&marking);
}
__attribute__((constructor)) static void watch_forks(void) {
  static const ForkHandler handler = {take_all, drop_all, drop_all};
  fork_watch(FORK_CONTAINERS, &handler);
}

void marking_lock(void) {
  pthread_mutex_lock(&marking);
}
void marking_unlock(void) {
  pthread_mutex_unlock(&marking);
}
