/* A table of bases by their hash, weak: an entry follows its base and goes with it. */
#include "tensor/storage_alike.h"

#include "base/heap.h"
#include "base/memory.h"
#include "tensor/storage_drop.h"
#include "tensor/storage_share.h"

typedef struct Known {
  StorageFollower follower; /* first member */
  struct Known *next, **at; /* of its chain */
  Heap *heap;               /* compared, not followed */
  uint64_t hash;
  uint32_t version; /* of the base, when it had this hash */
} Known;

enum { CHAINS = 1024 };
static Known *chains[CHAINS]; /* guarded by storage_lock */

/* Of every bit; equal hashes are no proof. */
static uint64_t hash_of(const void *data, size_t bytes) {
  enum { LANES = 4, WORD = sizeof(uint64_t) };
  const char *at = data;
  uint64_t lanes[LANES] = {1, 2, 3, 4}, hash = bytes;
  size_t i = 0;
  for (; i + LANES * WORD <= bytes; i += LANES * WORD) {
    uint64_t words[LANES];
    memcpy(words, at + i, sizeof words);
    for (int l = 0; l < LANES; l++) {
      lanes[l] = (lanes[l] ^ words[l]) * 0x9e3779b97f4a7c15u;
      lanes[l] ^= lanes[l] >> 29;
    }
  }
  for (; i < bytes; i++) lanes[0] = (lanes[0] ^ (unsigned char)at[i]) * 0x9e3779b97f4a7c15u;
  for (int l = 0; l < LANES; l++) hash = (hash ^ lanes[l]) * 0xff51afd7ed558ccdu;
  return hash;
}

static void take_out(Known *known) {
  *known->at = known->next;
  if (known->next) known->next->at = known->at;
}
static bool on_leave(StorageFollower *follower) {
  take_out((Known *)follower);
  return true;
}
static void on_free(StorageFollower *follower) {
  mem_free(follower);
}

/* With the lock held. */
static void put_in(Known *known, Storage *base) {
  Known **first = &chains[known->hash >> 32 & (CHAINS - 1)];
  known->version = atomic_load(&base->version);
  known->next = *first;
  known->at = first;
  if (known->next) known->next->at = &known->next;
  *first = known;
  storage_follow(base, &known->follower);
}

/* Retained, so that who has it alone no longer writes it: its content stays what it is. */
static Storage *find(Heap *heap, uint64_t hash, size_t bytes) {
  Storage *found = NULL;
  storage_lock();
  for (Known *k = chains[hash >> 32 & (CHAINS - 1)]; k && !found; k = k->next) {
    Storage *base = k->follower.of;
    if (k->hash != hash || k->heap != heap || base->bytes != bytes || k->version != atomic_load(&base->version) ||
        atomic_load(&base->is_shown) || !ref_retain_live(&base->refs))
      continue;
    found = base;
  }
  storage_unlock();
  return found;
}

static Status remember(Storage *storage, uint64_t hash) {
  Storage *base = storage_base(storage);
  Known *known = base ? mem_calloc(1, sizeof *known) : NULL;
  if (!known) return base ? status_out_of_memory() : OK;
  known->follower.leave = on_leave;
  known->follower.free = on_free;
  known->heap = heap_current();
  known->hash = hash;
  storage_lock();
  put_in(known, base);
  storage_unlock();
  return OK;
}

Status storage_join_alike(Storage **storage) {
  Storage *own = *storage, *alike;
  if (own->device.type != DEVICE_CPU || !storage_may_share(own)) return OK;
  uint64_t hash = hash_of(own->data, own->bytes);
  Storage *base = find(heap_current(), hash, own->bytes);
  if (!base) return remember(own, hash);
  if (!dropped_is_alike(base, own)) {
    storage_release_base(base);
    return OK;
  }
  TRY(storage_of_base(base, &alike));
  storage_release(own);
  *storage = alike;
  return OK;
}
