/* Locks of containers that several threads reach: a fixed set, chosen by address. Every call that reads an attribute
 * takes one, so that they cost one atomic operation. Nothing that may take another lock, free a value or wait runs
 * under one. */
#pragma once

#include "ivalue/ivalue.h"

enum { CONTAINER_LOCKS = 64 };
typedef struct ContainerLock {
  _Alignas(64) _Atomic uint8_t is_held; /* a cache line each */
} ContainerLock;
extern ContainerLock container_locks[CONTAINER_LOCKS];

static inline ContainerLock *container_lock_of(const void *container) {
  return &container_locks[((uintptr_t)container * 0x9E3779B97F4A7C15u) >> 58];
}
static inline bool container_try_lock(ContainerLock *lock) {
  return !atomic_exchange_explicit(&lock->is_held, 1, memory_order_acquire);
}
static inline void container_drop(ContainerLock *lock) {
  atomic_store_explicit(&lock->is_held, 0, memory_order_release);
}
void container_lock_slowly(ContainerLock *lock);

static inline void container_lock(const void *container) {
  ContainerLock *lock = container_lock_of(container);
  if (!__builtin_expect(container_try_lock(lock), 1)) container_lock_slowly(lock);
}
static inline void container_unlock(const void *container) {
  container_drop(container_lock_of(container));
}
/* Held while something is marked as shared; container locks are not taken meanwhile. */
void marking_lock(void);
void marking_unlock(void);
static inline bool list_is_shared(const List *l) {
  return atomic_load_explicit(&l->shared, memory_order_relaxed);
}
static inline bool dict_is_shared(const Dict *d) {
  return atomic_load_explicit(&d->shared, memory_order_relaxed);
}
static inline bool object_is_shared(const Object *o) {
  return atomic_load_explicit(&o->shared, memory_order_relaxed);
}
/* Whether another thread may write it at any time. */
static inline bool list_may_change(const List *l) {
  return atomic_load_explicit(&l->shared, memory_order_relaxed) == SHARING_SHARED;
}
static inline bool dict_may_change(const Dict *d) {
  return atomic_load_explicit(&d->shared, memory_order_relaxed) == SHARING_SHARED;
}
#define LIST_ENTER(l) (list_is_shared(l) ? (container_lock(l), true) : false)
#define DICT_ENTER(d) (dict_is_shared(d) ? (container_lock(d), true) : false)
#define CONTAINER_LEAVE(entered, c) ((entered) ? container_unlock(c) : (void)0)
static inline size_t list_length(const List *l) {
  bool entered = LIST_ENTER(l);
  size_t length = l->length;
  CONTAINER_LEAVE(entered, l);
  return length;
}
