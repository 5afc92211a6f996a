/* One memory for several storages, until one of them is written; and what is made of a storage's content, which goes
 * with it.
 *
 * A storage whose memory was shared has a base: a storage that no tensor shows, and that holds the memory. Reading
 * costs nothing more, for `data` is the base's. Who is about to write or to give the address away asks for a memory of
 * its own first (storage_own, storage_show), and gets a copy while others have the same base. So what is made of the
 * content (packed weights) is the base's, and serves all that share it; the base's version moves when its only storage
 * is written.
 *
 * One lock of the process guards bases and followers. It is held for a few instructions, never while memory is
 * allocated, freed or copied. */
#pragma once

#include "tensor/tensor.h"

typedef struct StorageFollower {
  struct StorageFollower *next;
  Storage *of; /* borrowed; NULL: it is gone */
  /* The storage goes. `leave` is called with the lock held, when `of` is NULL already; where it says so, `free` is
   * called later, without. */
  bool (*leave)(struct StorageFollower *follower);
  void (*free)(struct StorageFollower *follower);
} StorageFollower;

void storage_lock(void);
void storage_unlock(void);
/* With the lock held: */
void storage_follow(Storage *storage, StorageFollower *follower);
void storage_unfollow(StorageFollower *follower); /* of a storage that is there */
/* The storage goes; what follows it leaves. */
void storage_abandon(Storage *storage);
/* What holds the content, and has its version: the base, or the storage itself. For as long as the lock is held or
 * nobody writes. */
static inline Storage *storage_content(const Storage *storage) {
  Storage *base = atomic_load_explicit(&storage->base, memory_order_acquire);
  return base ? base : (Storage *)(uintptr_t)storage;
}

/* Whether its memory may be a base's: it is the host's, not small, and nobody outside has the address. */
bool storage_may_share(const Storage *storage);
/* A storage of the same content, which shares its memory. *out is NULL (and OK) where that can't be shared. Not
 * while it is being written. */
Status storage_share(Storage *storage, Storage **out) MUST_CHECK;
/* A storage that shares the memory of a base, whose reference is taken over also on failure. */
Status storage_of_base(Storage *base, Storage **out) MUST_CHECK;
/* The storage's base, made if there is none, borrowed. NULL: no memory, or it can't be shared. */
Storage *storage_base(Storage *storage);
/* The storage goes or is to get another memory: whether its present one was a base's, which it has let go of. */
bool storage_leave_base(Storage *storage);
/* Lets go of a reference to a base. Its memory goes with the last storage that shows it (tensor/storage_drop.h). */
void storage_release_base(Storage *base);
/* How memory of lasting_alloc goes; its context is the heap. */
void storage_free_lasting(void *heap, void *data, size_t bytes);

/* For who writes: from now on its memory is shown by it alone. */
Status storage_own_slowly(Storage *storage) MUST_CHECK;
static inline Status storage_own(Storage *storage) {
  return __builtin_expect(storage && atomic_load_explicit(&storage->base, memory_order_relaxed) != NULL, 0)
             ? storage_own_slowly(storage)
             : OK;
}
/* The same for who gives its address away, while others may be reading it: `is_shown` from now on. */
Status storage_show(Storage *storage) MUST_CHECK;
/* Whether it is written where it is: its only reference is the caller's, and it shares its memory with nobody. */
static inline bool storage_is_free_to_write(const Storage *storage) {
  return ref_is_unique(&storage->refs) && !(storage->flags & STORAGE_READ_ONLY) &&
         !atomic_load_explicit(&storage->base, memory_order_relaxed);
}
