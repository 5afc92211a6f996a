/* Snapshot: what attributes reached from an object held at a stamp, and what was found of the tensors among them. One
 * stamp of the process (base/stamp.h) stands for all state that somebody relies on: it moves when an attribute is
 * written that a Snapshot read since it was written last, and when the metadata of a tensor changes that a guard saw.
 * So one comparison tells whether a Snapshot still holds, and what nobody relies on can be written as often as one
 * likes.
 *
 * Who makes one
 *   1. takes the stamp,
 *   2. marks the attributes (attribute_rely_on),
 *   3. reads them under the locks of their objects, all of them shared,
 *   4. keeps the Snapshot with the stamp of 1 (object_keep_snapshot).
 * ORDER snapshot: a writer takes the object's lock after the reader did, and then finds the mark, or before, and then
 * the reader finds the value; and he moves the stamp after the reader took it. In both cases no Snapshot of the present
 * stamp holds an older value.
 *
 * Guards on the tensors are asked later, by any call that runs with the Snapshot, whose stamp it found to be the
 * present one: it marks a tensor, looks at it, and tells the Snapshot what holds (`held`). Nobody may change a tensor's
 * metadata while a call uses it, so what a lock is for attributes, the order of calls and changes is here: a change
 * before the call is what the guard sees, one after it finds the mark and moves the stamp before any later call takes
 * it. The bits say nothing under another stamp, and what they speak of is the same for all calls under theirs, so they
 * need no order of their own.
 *
 * An object owns the Snapshots of what is read from it: they go with it, and what they hold is alive as long as one is
 * held, whatever is written meanwhile. What was replaced below the object stays until the next call replaces the
 * Snapshot. */
#pragma once

#include "base/stamp.h"
#include "ivalue/ivalue.h"
#include "type/class_type.h"

typedef struct Snapshot {
  RefCount refs;
  uint32_t count;
  uint64_t stamp;
  uint64_t reader;             /* for whom it was made; one Snapshot of an object for each reader */
  uint64_t code;               /* whose reads `values` are; a number that no other Code has */
  void *variant;               /* of the reader, chosen by what was read; NULL: none */
  _Atomic uint64_t held;       /* by number: runs of guards on `values` in that Code which held */
  _Atomic uint32_t dropped_at; /* storage_drop_stamp() when its weights were dropped (executor/drop_weights.c) */
  uint32_t tries;              /* since, while some were in use: by who took the Snapshot from its object */
  struct Snapshot *next;       /* of the same object */
  IValue values[];
} Snapshot;

static inline void attribute_rely_on(ClassAttribute *attribute) {
  state_rely_on(&attribute->is_relied_on);
}
/* After a write, within the object's lock. */
static inline void attribute_written(ClassAttribute *attribute) {
  state_changed(&attribute->is_relied_on);
}

Snapshot *snapshot_new(uint32_t count); /* its values None; NULL: no memory */
void snapshot_free(Snapshot *snapshot); /* for who released the last reference */
static inline void snapshot_release(Snapshot *snapshot) {
  if (snapshot && ref_release(&snapshot->refs)) snapshot_free(snapshot);
}
/* Of the reader and the stamp, retained; NULL: there is none. */
Snapshot *object_snapshot(Object *object, uint64_t reader, uint64_t stamp);
/* In the place of the reader's last one. */
void object_keep_snapshot(Object *object, Snapshot *snapshot);
void object_drop_snapshots(Object *object);
/* Takes the Snapshot from the object, if but the caller holds it: no call is running with it, and none comes to. */
bool object_take_snapshot(Object *object, Snapshot *snapshot);
