/* Locks of containers that several threads reach: a fixed set of mutexes, chosen by address. Nothing that may take
 * another lock, free a value or wait runs under one. */
#pragma once

#include "ivalue/ivalue.h"

void container_lock(const void *container);
void container_unlock(const void *container);
static inline bool list_is_shared(const List *l) {
  return atomic_load_explicit(&l->shared, memory_order_relaxed);
}
static inline bool dict_is_shared(const Dict *d) {
  return atomic_load_explicit(&d->shared, memory_order_relaxed);
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
