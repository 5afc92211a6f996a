/* Bases are made when a memory is first shared. Who takes a memory of its own copies it without the lock, and looks
 * again whether it is still shared. */
#include "tensor/storage_share.h"

#include <pthread.h>

#include "base/fork.h"
#include "base/lasting.h"
#include "tensor/storage_drop.h"

enum { LEAST_SHARED = 16 << 10 }; /* bytes: less is copied */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

void storage_lock(void) {
  lock_take(&lock);
}
void storage_unlock(void) {
  lock_drop(&lock);
}

/* ---- followers ---- */

void storage_follow(Storage *storage, StorageFollower *follower) {
  assert(lock_is_held());
  follower->of = storage;
  follower->next = atomic_load_explicit(&storage->followers, memory_order_relaxed);
  atomic_store_explicit(&storage->followers, follower, memory_order_release);
}

void storage_unfollow(StorageFollower *follower) {
  assert(lock_is_held() && follower->of);
  Storage *of = follower->of;
  StorageFollower *first = atomic_load_explicit(&of->followers, memory_order_relaxed);
  follower->of = NULL;
  if (first == follower) {
    atomic_store_explicit(&of->followers, follower->next, memory_order_release);
    return;
  }
  while (first->next != follower) first = first->next;
  first->next = follower->next;
}

/* With the lock held; the list is to be freed without. */
static StorageFollower *leave(Storage *storage) {
  StorageFollower *list = atomic_exchange_explicit(&storage->followers, NULL, memory_order_relaxed);
  StorageFollower *left = NULL;
  for (StorageFollower *f = list, *next; f; f = next) {
    next = f->next;
    f->of = NULL;
    if (!f->leave(f)) continue;
    f->next = left;
    left = f;
  }
  return left;
}
static void free_followers(StorageFollower *list) {
  while (list) {
    StorageFollower *next = list->next;
    list->free(list);
    list = next;
  }
}

void storage_abandon(Storage *storage) {
  storage_lock();
  StorageFollower *list = leave(storage);
  storage_unlock();
  free_followers(list);
}

/* ---- bases ---- */

bool storage_may_share(const Storage *s) {
  return s->device.type == DEVICE_CPU && s->data && s->free_data && s->bytes >= LEAST_SHARED &&
         !atomic_load(&s->is_shown);
}

/* The memory and what follows it move to `base`. The lock is held. */
static void move_to(Storage *base, Storage *s) {
  base->device = s->device;
  base->flags = s->flags;
  base->born = s->born;
  base->bytes = s->bytes;
  base->data = s->data;
  base->free_data = s->free_data;
  base->context = s->context;
  base->fetch = s->fetch;
  atomic_store(&base->version, atomic_load(&s->version));
  StorageFollower *list = atomic_exchange(&s->followers, NULL);
  for (StorageFollower *f = list; f; f = f->next) f->of = base;
  atomic_store(&base->followers, list);
  atomic_store_explicit(&s->base, base, memory_order_release);
}

/* Retained. NULL: no memory, or it can't be shared. */
static Storage *retain_base(Storage *s) {
  Storage *fresh = mem_calloc(1, sizeof *fresh);
  if (!fresh) return NULL;
  ref_init(&fresh->refs);
  storage_lock();
  Storage *base = atomic_load(&s->base);
  if (!base && storage_may_share(s)) {
    move_to(fresh, s);
    base = fresh;
    fresh = NULL;
  }
  if (base && atomic_load(&s->is_shown)) {
    if (ref_is_unique(&base->refs)) atomic_store(&base->is_shown, true);
    base = NULL;
  }
  storage_retain(base);
  storage_unlock();
  mem_free(fresh);
  return base;
}

Storage *storage_base(Storage *s) {
  Storage *base = retain_base(s);
  storage_release_base(base); /* the storage has one, too */
  return base;
}

Status storage_of_base(Storage *base, Storage **out) {
  Status status = storage_from_data(NULL, base->bytes, NULL, NULL, out);
  if (status) {
    storage_release_base(base);
    return status;
  }
  (*out)->flags = base->flags;
  storage_lock();
  (*out)->data = base->data;
  if (!base->data) dropped_count(base, 1);
  atomic_store(&(*out)->base, base);
  storage_unlock();
  return OK;
}

void storage_release_base(Storage *base) {
  if (!base) return;
  storage_lock();
  LeftMemory left = dropped_take_memory(base, 1);
  storage_unlock();
  left_memory_free(left);
  storage_release(base);
}

bool storage_leave_base(Storage *s) {
  storage_lock();
  Storage *base = atomic_exchange(&s->base, NULL);
  if (base && !s->data) dropped_count(base, -1);
  storage_unlock();
  storage_release_base(base);
  return base;
}

Status storage_share(Storage *s, Storage **out) {
  *out = NULL;
  Storage *base = retain_base(s);
  return base ? storage_of_base(base, out) : OK;
}

/* ---- a memory of its own ---- */

void storage_free_lasting(void *heap, void *data, size_t bytes) {
  lasting_free(heap, data, bytes);
}

/* What `s` is to hold instead of `base`. */
typedef struct Own {
  Storage *base; /* that others may still read by this storage's address; NULL: nobody does */
  Heap *heap;
  void *data;
} Own;
static void free_shown(void *context, void *data, size_t bytes) {
  Own *own = context;
  lasting_free(own->heap, data, bytes);
  storage_release_base(own->base);
  mem_free(own);
}

/* No other storage has its base. The version moves before the content does: who looks for the content as it was finds
 * none. */
static bool is_alone(Storage *s, bool shows) {
  storage_lock();
  Storage *base = atomic_load(&s->base);
  bool alone = !base || ref_is_unique(&base->refs);
  if (base && alone) atomic_fetch_add(&base->version, 1);
  if (base && alone && shows) atomic_store(&base->is_shown, true);
  storage_unlock();
  return alone;
}

static bool replace(Storage *s, Storage *base, const Own *own, Own *kept) {
  storage_lock();
  bool replaces = atomic_load(&s->base) == base;
  if (replaces) {
    __atomic_store_n(&s->data, own->data, __ATOMIC_RELAXED); /* by tensor_data, by who reads meanwhile */
    s->fetch = NULL;
    s->free_data = kept ? free_shown : storage_free_lasting;
    s->context = kept ? (void *)kept : own->heap;
    atomic_store_explicit(&s->base, NULL, memory_order_release);
  }
  storage_unlock();
  return replaces;
}

/* Of a shared one; *out_done false: it was not shared any more. */
static Status copy_out(Storage *s, bool shows, bool *out_done) {
  storage_lock();
  Storage *base = storage_retain(atomic_load(&s->base));
  storage_unlock();
  *out_done = false;
  if (!base) return OK;
  Own own = {.heap = heap_current(), .data = lasting_alloc(heap_current(), base->bytes)};
  Own *kept = shows && own.data ? mem_alloc(sizeof *kept) : NULL;
  Status status = own.data && (kept || !shows) ? OK : status_out_of_memory();
  if (!status) {
    memcpy(own.data, base->data, base->bytes);
    own.base = base;
    if (kept) *kept = own;
    *out_done = replace(s, base, &own, kept);
  }
  if (!*out_done) {
    if (own.data) lasting_free(own.heap, own.data, base->bytes);
    mem_free(kept);
  }
  /* One reference is this function's; that of the storage goes, too, unless readers may be there still. */
  if (*out_done && !kept) storage_release_base(base);
  storage_release_base(base);
  return status;
}

static Status make_own(Storage *s, bool shows) {
  while (!is_alone(s, shows)) {
    bool done;
    TRY(copy_out(s, shows, &done));
    if (done) break;
  }
  return OK;
}

Status storage_own_slowly(Storage *s) {
  TRY(storage_restore(s));
  return make_own(s, false);
}
/* Without the lock where nothing is shared: retain_base looks whether it was shown meanwhile. */
Status storage_show(Storage *s) {
  atomic_store(&s->is_shown, true);
  if (!atomic_load(&s->base)) return OK;
  TRY(storage_restore(s));
  return make_own(s, true);
}
