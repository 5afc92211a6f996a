/* The stamp: one number of the process that stands for all state that somebody relies on. Who relies on something
 * marks it before he reads it, and keeps what he read with the stamp of before; who changes it takes the mark away
 * afterwards, and where there was one, the stamp moves. So one comparison tells whether everything is as it was read,
 * and what nobody relies on can be changed as often as one likes. ivalue/snapshot.h has the argument.
 *
 * A mark has memory of its own: what is written beside it may be written without a lock. */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

extern _Atomic uint64_t state_stamp;

static inline uint64_t state_stamp_now(void) {
  return atomic_load_explicit(&state_stamp, memory_order_acquire);
}
static inline void state_rely_on(_Atomic bool *mark) {
  if (!atomic_load_explicit(mark, memory_order_relaxed)) atomic_store_explicit(mark, true, memory_order_release);
}
void state_stamp_move(_Atomic bool *mark); /* unless another thread took the mark away */
static inline void state_changed(_Atomic bool *mark) {
  if (__builtin_expect(atomic_load_explicit(mark, memory_order_relaxed), 0)) state_stamp_move(mark);
}
