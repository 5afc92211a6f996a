/* What is known of a dropped content follows its base. */
#include "tensor/storage_drop.h"

#include "base/fork.h"
#include "base/lasting.h"
#include "report/reason.h"
#include "tensor/device_class.h"
#include "tensor/storage_share.h"

enum { LEAST_BYTES = 64 << 10 /* less is no memory of its own (base/lasting.c) */, MOST_RESTORED = 2 };

typedef struct Dropped {
  StorageFollower follower; /* first member */
  ContentSource source;     /* no function: all storages show the content */
  Heap *heap;               /* of the memory */
  int32_t storages;         /* of the base that show nothing */
  int32_t restored;         /* how often the memory was made again */
} Dropped;

static _Atomic uint32_t stamp = 1;
/* Held while a content is made again, so that one thread does it; taken before the lock of storages. */
static pthread_mutex_t restoring = PTHREAD_MUTEX_INITIALIZER;

uint32_t storage_drop_stamp(void) {
  return atomic_load_explicit(&stamp, memory_order_relaxed);
}
void storage_drop_found(void) {
  atomic_fetch_add_explicit(&stamp, 1, memory_order_relaxed);
}

/* ---- the follower ---- */

static bool on_leave(StorageFollower *follower) {
  (void)follower;
  return true;
}
static void source_free(ContentSource source) {
  if (source.free) source.free(source.context);
}
static void on_free(StorageFollower *follower) {
  source_free(((Dropped *)follower)->source);
  mem_free(follower);
}

static Dropped *dropped_of(const Storage *base) {
  for (StorageFollower *f = atomic_load_explicit(&base->followers, memory_order_relaxed); f; f = f->next)
    if (f->leave == on_leave) return (Dropped *)f;
  return NULL;
}

void dropped_count(Storage *base, int32_t storages) {
  assert(lock_is_held());
  Dropped *d = dropped_of(base);
  assert(d && d->storages + storages >= 0);
  d->storages += storages;
}

LeftMemory dropped_take_memory(Storage *base, int32_t going) {
  assert(lock_is_held());
  const Dropped *d = base->data ? dropped_of(base) : NULL;
  if (!d || !d->storages || !ref_count_is(&base->refs, d->storages + going)) return (LeftMemory){0};
  LeftMemory left = {base->data, base->bytes, base->free_data, base->context};
  base->data = NULL;
  base->free_data = NULL;
  return left;
}

/* ---- dropping ---- */

/* The lock is held. */
static bool may_drop(const Storage *s) {
  const Storage *content = storage_content(s);
  const Dropped *d = dropped_of(content);
  bool is_own = content->free_data == storage_free_lasting || content->free_data == device_class(DEVICE_CPU)->free;
  return is_own && storage_data(s) && !content->fetch && !atomic_load(&s->is_shown) &&
         !atomic_load(&content->is_shown) && (!d || d->restored < MOST_RESTORED);
}

bool storage_may_drop(const Storage *s) {
  if (s->bytes < LEAST_BYTES || s->device.type != DEVICE_CPU) return false;
  storage_lock();
  bool may = may_drop(s);
  storage_unlock();
  return may;
}

/* The lock is held. */
static Dropped *follow(Storage *base, Dropped *fresh) {
  fresh->follower.leave = on_leave;
  fresh->follower.free = on_free;
  fresh->heap = base->context;
  storage_follow(base, &fresh->follower);
  return fresh;
}

bool storage_drop(Storage *s, ContentSource source, bool (*is_unused)(void *argument), void *argument) {
  Dropped *fresh = storage_base(s) ? mem_calloc(1, sizeof *fresh) : NULL;
  if (!fresh) return source_free(source), false;
  LeftMemory left = {0};
  ContentSource old = source;
  storage_lock();
  Storage *base = atomic_load(&s->base);
  Dropped *d = base ? dropped_of(base) : NULL;
  bool drops = base && may_drop(s) && atomic_load(&base->version) == source.version && is_unused(argument);
  if (drops) {
    if (!d) d = follow(base, fresh), fresh = NULL;
    if (!d->source.make) d->source = source, old = (ContentSource){0};
    d->storages++;
    __atomic_store_n(&s->data, NULL, __ATOMIC_RELAXED);
    left = dropped_take_memory(base, 0);
  }
  storage_unlock();
  if (drops) STATISTIC_ADD(dropped_weights);
  mem_free(fresh);
  source_free(old);
  left_memory_free(left);
  return drops;
}

/* ---- restoring ---- */

/* Makes the base's memory again, which nobody else does meanwhile. */
static Status make_memory(Storage *base, const Dropped *d) {
  MemBudget *budget = mem_budget_enter(NULL); /* what is kept is nobody's */
  void *data = lasting_alloc(d->heap, base->bytes);
  bool made = data && d->source.make(d->source.context, data);
  storage_lock();
  bool is_missing = made && !base->data; /* a storage of equal content may have brought its own */
  if (is_missing) {
    base->free_data = storage_free_lasting;
    base->context = d->heap;
    __atomic_store_n(&base->data, data, __ATOMIC_RELAXED);
  }
  storage_unlock();
  if (data && !is_missing) lasting_free(d->heap, data, base->bytes);
  mem_budget_enter(budget);
  return made ? OK : status_out_of_memory();
}

/* Its base stays: `s` has it until somebody writes, and who writes restores first. */
static Status restore(Storage *s) {
  storage_lock();
  Storage *base = atomic_load(&s->base);
  bool is_dropped = base && !s->data;
  Dropped *d = is_dropped ? dropped_of(base) : NULL;
  bool has_memory = is_dropped && base->data;
  storage_unlock();
  if (!is_dropped) return OK;
  if (!has_memory) TRY(make_memory(base, d));
  ContentSource old = {0};
  storage_lock();
  __atomic_store_n(&s->data, base->data, __ATOMIC_RELEASE);
  if (!has_memory) d->restored++, STATISTIC_ADD(restored_weights);
  if (!--d->storages) {
    old = d->source;
    d->source = (ContentSource){0};
  }
  storage_unlock();
  source_free(old);
  storage_drop_found();
  return OK;
}

Status storage_restore(Storage *s) {
  if (__atomic_load_n(&s->data, __ATOMIC_ACQUIRE)) return OK;
  lock_take(&restoring);
  Status status = restore(s);
  lock_drop(&restoring);
  return status;
}

/* ---- storages of equal content ---- */

static bool makes(const Dropped *d, const Storage *base, const void *content) {
  void *made = lasting_alloc(d->heap, base->bytes);
  bool is_same = made && d->source.make(d->source.context, made) && !memcmp(made, content, base->bytes);
  if (made) lasting_free(d->heap, made, base->bytes);
  return is_same;
}

static void take_over(Storage *base, Storage *own) {
  storage_lock();
  if (!base->data) {
    base->free_data = own->free_data;
    base->context = own->context;
    __atomic_store_n(&base->data, own->data, __ATOMIC_RELAXED);
    own->data = NULL;
    own->free_data = NULL;
  }
  storage_unlock();
}

bool dropped_is_alike(Storage *base, Storage *own) {
  storage_lock();
  const void *data = base->data; /* stays, for the caller counts as one that shows it */
  storage_unlock();
  if (data) return !memcmp(data, own->data, own->bytes);
  if (own->free_data != storage_free_lasting) return false;
  lock_take(&restoring);
  bool is_alike = makes(dropped_of(base), base, own->data);
  if (is_alike) take_over(base, own);
  lock_drop(&restoring);
  return is_alike;
}
