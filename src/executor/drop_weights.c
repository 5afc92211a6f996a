/* When nobody can be reading a weight: its tensor is held by one attribute and by one Snapshot, no more, and no call
 * runs with that Snapshot or comes to, for it is taken from its object meanwhile. Who reads the attribute then has a
 * reference before the look at it, so that the weight stays, or finds the tensor marked. */
#include "executor/drop_weights.h"

#include "compute/conv/conv_weights.h"
#include "interp/state.h"
#include "ivalue/lock.h"

enum { MOST_TRIES = 16 /* of weights that somebody holds */, HOLDERS = 2 };

typedef struct Weight {
  const Object *object;
  uint32_t slot;
  Tensor *tensor;
} Weight;

static bool is_held_here_alone(const Weight *w) {
  IValue value = w->object->slots[w->slot];
  return value.tag == TAG_TENSOR && value.tensor == w->tensor && ref_count_is(&w->tensor->refs, HOLDERS) &&
         ref_is_unique(&w->tensor->storage->refs);
}

static bool mark_unused(void *argument) {
  const Weight *w = argument;
  container_lock(w->object);
  bool is_unused = is_held_here_alone(w);
  if (is_unused) w->tensor->flags |= TENSOR_DROPPED; /* no metadata that a guard sees */
  container_unlock(w->object);
  return is_unused;
}

/* Of one that was restored and stays. */
static void unmark(const Weight *w) {
  container_lock(w->object);
  if (is_held_here_alone(w) && storage_data(w->tensor->storage)) w->tensor->flags &= ~(uint32_t)TENSOR_DROPPED;
  container_unlock(w->object);
}

/* Whether there is nothing more to be tried. */
static bool drop(Weight *w) {
  Storage *storage = w->tensor->storage;
  ContentSource source;
  if (!storage || w->tensor->flags & TENSOR_UNUSUAL) return true;
  if (w->tensor->flags & TENSOR_DROPPED && !storage_data(storage)) return true;
  bool could = storage_may_drop(storage) && packed_weights_source(storage, &source);
  if (could && storage_drop(storage, source, mark_unused, w)) return true;
  if (w->tensor->flags & TENSOR_DROPPED) unmark(w);
  return !could;
}

static bool drop_all(const Code *code, const Snapshot *snapshot, IValue self) {
  bool is_done = true;
  for (uint32_t i = 0; i < snapshot->count; i++) {
    if (snapshot->values[i].tag != TAG_TENSOR || !tensor_is_defined(snapshot->values[i].tensor)) continue;
    Weight weight = {.tensor = snapshot->values[i].tensor};
    weight.object = code_state_place(code, i, self, snapshot->values, &weight.slot);
    is_done &= drop(&weight);
  }
  return is_done;
}

void drop_weights(const Code *code, Snapshot *snapshot, IValue self) {
  uint32_t stamp = storage_drop_stamp();
  if (atomic_load_explicit(&snapshot->dropped_at, memory_order_relaxed) == stamp) return;
  if (self.tag != TAG_OBJECT || !object_take_snapshot(self.object, snapshot)) return;
  bool is_done = drop_all(code, snapshot, self);
  if (is_done || ++snapshot->tries >= MOST_TRIES) {
    atomic_store_explicit(&snapshot->dropped_at, stamp, memory_order_relaxed);
    snapshot->tries = 0;
  }
  object_keep_snapshot(self.object, snapshot);
}
