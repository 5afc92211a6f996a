/* The mutexes behind shared lists, dicts and objects. */
#include "ivalue/lock.h"

#include <pthread.h>

enum { LOCK_COUNT = 64 };
static pthread_mutex_t locks[LOCK_COUNT] = {[0 ... LOCK_COUNT - 1] = PTHREAD_MUTEX_INITIALIZER};

static pthread_mutex_t *lock_of(const void *container) {
  return &locks[((uintptr_t)container * 0x9E3779B97F4A7C15u) >> 58];
}

void container_lock(const void *container) {
  pthread_mutex_lock(lock_of(container));
}
void container_unlock(const void *container) {
  pthread_mutex_unlock(lock_of(container));
}
