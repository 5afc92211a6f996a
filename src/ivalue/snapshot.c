/* The Snapshots of an object: a few, chained, guarded by its lock. */
#include "ivalue/snapshot.h"

#include <assert.h>

#include "base/hostile.h"
#include "ivalue/lock.h"

enum { MOST_SNAPSHOTS = CACHE_ENTRIES(4) };

Snapshot *snapshot_new(uint32_t count) {
  Snapshot *snapshot = mem_calloc(1, sizeof *snapshot + count * sizeof *snapshot->values);
  if (!snapshot) return NULL;
  ref_init(&snapshot->refs);
  snapshot->count = count;
  return snapshot;
}

void snapshot_free(Snapshot *snapshot) {
  for (uint32_t i = 0; i < snapshot->count; i++) ivalue_release(snapshot->values[i]);
  mem_free(snapshot);
}

Snapshot *object_snapshot(Object *object, uint64_t reader, uint64_t stamp) {
  container_lock(object);
  Snapshot *snapshot = object->snapshots;
  while (snapshot && snapshot->reader != reader) snapshot = snapshot->next;
  if (snapshot && snapshot->stamp != stamp) snapshot = NULL;
  if (snapshot) ref_retain(&snapshot->refs);
  container_unlock(object);
  return snapshot;
}

/* Takes the one that gives way out of the chain: the reader's, else the last of a full one. */
static Snapshot *unchain(Object *object, uint64_t reader) {
  int n = 0;
  for (Snapshot **at = &object->snapshots; *at; at = &(*at)->next) {
    Snapshot *snapshot = *at;
    if (snapshot->reader != reader && ++n < MOST_SNAPSHOTS) continue;
    *at = snapshot->next;
    return snapshot;
  }
  return NULL;
}

void object_keep_snapshot(Object *object, Snapshot *snapshot) {
  assert(object_is_shared(object));
  ref_retain(&snapshot->refs);
  container_lock(object);
  Snapshot *before = unchain(object, snapshot->reader);
  snapshot->next = object->snapshots;
  object->snapshots = snapshot;
  container_unlock(object);
  snapshot_release(before);
}

bool object_take_snapshot(Object *object, Snapshot *snapshot) {
  bool is_taken = false;
  container_lock(object);
  Snapshot **at = &object->snapshots;
  while (*at && *at != snapshot) at = &(*at)->next;
  if (*at && ref_count_is(&snapshot->refs, 2)) {
    *at = snapshot->next;
    is_taken = !ref_release(&snapshot->refs);
  }
  container_unlock(object);
  return is_taken;
}

void object_drop_snapshots(Object *object) {
  bool entered = object_is_shared(object);
  if (entered) container_lock(object);
  Snapshot *snapshot = object->snapshots;
  object->snapshots = NULL;
  CONTAINER_LEAVE(entered, object);
  for (Snapshot *next; snapshot; snapshot = next) {
    next = snapshot->next;
    snapshot_release(snapshot);
  }
}
