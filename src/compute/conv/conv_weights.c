/* A list for each store. */
#include "compute/conv/conv_weights.h"

#include <assert.h>

#include "base/cache.h"
#include "base/fork.h"
#include "base/hostile.h"
#include "base/lasting.h"
#include "compute/conv/weight_order.h"
#include "compute/conv/winograd_rest.h"
#include "tensor/storage_drop.h"
#include "tensor/storage_share.h"

struct PackedWeight {
  StorageFollower follower;      /* first member: of the content */
  PackedWeight *next, *previous; /* of the store */
  PackedWeights *store;          /* NULL: it went before, and this one is all that is left of the weight */
  Heap *heap;                    /* the store's, which lives as long as this */
  WeightLayout layout;
  Precision precision; /* of the calls that it is for */
  int64_t offset;
  uint32_t version;  /* of the content; with it and the offset the weight's identity */
  uint64_t checksum; /* of the weight; 0 where the version tells */
  int users;
  int wholes;     /* among the users: those that stand for the weight (packed_weights_source) */
  bool was_asked; /* whether there is a rest */
  uint64_t last_use;
  float *data;
  WinogradRest *rest; /* with which `data` are as good as the weight; NULL: there is none */
};

/* `packing` is held while a weight is put in order, so that one thread does it; it is taken before the lock of
 * storages, which guards everything else. */
enum { MAX_WEIGHTS = CACHE_ENTRIES(1024), SIGHTS = 1024 };
struct PackedWeights {
  pthread_mutex_t packing;
  Heap *heap;
  PackedWeight *first;
  size_t bytes;         /* that all take beside weights */
  _Atomic size_t count; /* asked without the lock, too */
  uint64_t clock;
  uint64_t sights[SIGHTS]; /* what weights were seen as, by chance overwritten: hashes, nothing that is followed */
};
static PackedWeights of_process = {.packing = PTHREAD_MUTEX_INITIALIZER};

static int64_t elements_of(const WeightLayout *l) {
  int64_t count = 1;
  for (int d = 0; d < l->ndim; d++) count *= l->sizes[d];
  return count;
}

/* What it takes beside the weight; of one that stands for that, what it is larger. */
static size_t bytes_beside(const PackedWeight *p) {
  size_t bytes = p->layout.bytes + winograd_rest_bytes(p->rest);
  size_t weight = p->wholes ? (size_t)elements_of(&p->layout) * sizeof(float) : 0;
  return bytes > weight ? bytes - weight : 0;
}

/* ---- the store: under the lock of storages ---- */

static void add(PackedWeights *store, PackedWeight *p) {
  p->previous = NULL;
  p->next = store->first;
  if (p->next) p->next->previous = p;
  store->first = p;
  store->bytes += bytes_beside(p);
  atomic_fetch_add_explicit(&store->count, 1, memory_order_relaxed);
}

static void take_out(PackedWeight *p) {
  PackedWeights *store = p->store;
  if (!store) return;
  *(p->previous ? &p->previous->next : &store->first) = p->next;
  if (p->next) p->next->previous = p->previous;
  store->bytes -= bytes_beside(p);
  atomic_fetch_sub_explicit(&store->count, 1, memory_order_relaxed);
}

static bool on_leave(StorageFollower *follower) {
  PackedWeight *p = (PackedWeight *)follower;
  take_out(p);
  return !p->users; /* else who uses it last frees it */
}

/* To a list of those that are to be freed without the lock. */
static void drop(PackedWeight *p, PackedWeight **list) {
  assert(!p->users);
  storage_unfollow(&p->follower);
  take_out(p);
  p->next = *list;
  *list = p;
}

static bool is_over(const PackedWeights *store) {
  return atomic_load_explicit(&store->count, memory_order_relaxed) > MAX_WEIGHTS || cache_is_over(store->heap);
}

/* Without the lock. No budget paid for it. */
static size_t weight_free(PackedWeight *p) {
  size_t bytes = bytes_beside(p);
  MemBudget *budget = mem_budget_enter(NULL);
  assert(!p->wholes);
  cache_count(p->heap, -(int64_t)bytes);
  lasting_free(p->heap, p->data, p->layout.bytes);
  mem_free(p->rest);
  mem_free(p);
  mem_budget_enter(budget);
  return bytes;
}
static void on_free(StorageFollower *follower) {
  weight_free((PackedWeight *)follower);
}

static size_t free_list(PackedWeight *list) {
  size_t bytes = 0;
  while (list) {
    PackedWeight *next = list->next;
    bytes += weight_free(list);
    list = next;
  }
  return bytes;
}

static PackedWeight *oldest_idle(const PackedWeights *store) {
  PackedWeight *oldest = NULL;
  for (PackedWeight *p = store->first; p; p = p->next)
    if (!p->users && (!oldest || p->last_use < oldest->last_use)) oldest = p;
  return oldest;
}

/* The least recently used that are idle, as many as the bounds want. */
static void drop_beyond(PackedWeights *store) {
  while (is_over(store)) {
    PackedWeight *list = NULL;
    storage_lock();
    PackedWeight *oldest = oldest_idle(store);
    if (oldest) drop(oldest, &list);
    storage_unlock();
    if (!list) return;
    free_list(list);
  }
}

static size_t drop_idle(PackedWeights *store) {
  PackedWeight *list = NULL, *next;
  storage_lock();
  for (PackedWeight *p = store->first; p; p = next) {
    next = p->next;
    if (!p->users) drop(p, &list);
  }
  storage_unlock();
  return free_list(list);
}

static uint64_t hash_of(const Storage *content, int64_t offset) {
  uint64_t h = ((uint64_t)(uintptr_t)content >> 4) * 0x9e3779b97f4a7c15u;
  return (h ^ (uint64_t)offset) * 0xff51afd7ed558ccdu;
}

/* Of every bit: each step is one to one in the word that it takes. Not 0. */
static uint64_t checksum_of(const Tensor *weight) {
  enum { LANES = 4 };
  uint64_t lanes[LANES] = {1, 2, 3, 4}, sum = 0;
  const float *x = tensor_data(weight);
  int64_t i = 0;
  for (; i + 2 * LANES <= weight->numel; i += 2 * LANES) {
    uint64_t words[LANES];
    memcpy(words, x + i, sizeof words);
    for (int l = 0; l < LANES; l++) {
      lanes[l] = (lanes[l] ^ words[l]) * 0x9e3779b97f4a7c15u;
      lanes[l] ^= lanes[l] >> 29;
    }
  }
  for (; i < weight->numel; i++) {
    uint32_t word;
    memcpy(&word, x + i, sizeof word);
    lanes[0] = (lanes[0] ^ word) * 0x9e3779b97f4a7c15u;
    lanes[0] ^= lanes[0] >> 29;
  }
  for (int l = 0; l < LANES; l++) sum = (sum ^ lanes[l]) * 0xff51afd7ed558ccdu;
  return sum | 1;
}

/* What the weight is at the moment. */
typedef struct Moment {
  uint32_t version;
  uint64_t checksum;
} Moment;
static Moment moment_of(const Tensor *weight) {
  Moment now = {0};
  if (atomic_load(&weight->storage->is_shown)) now.checksum = checksum_of(weight);
  return now;
}

/* What a call looks for. */
typedef struct Wanted {
  PackedWeights *store;
  const Work *work;
  const Tensor *weight;
  const WeightLayout *layout;
} Wanted;

static bool is_of(const PackedWeight *p, const Wanted *w) {
  return p->store == w->store && p->precision == w->work->precision && p->offset == w->weight->offset &&
         memcmp(&p->layout, w->layout, sizeof *w->layout) == 0;
}
static bool is_current(const PackedWeight *p, const Moment *now) {
  return p->version == now->version && p->checksum == now->checksum;
}

/* The one of the content as it is now; else, `old`, one that nobody uses: its memory is the new one's. */
static PackedWeight *find(const Wanted *w, const Moment *now, bool old) {
  Storage *content = storage_content(w->weight->storage);
  for (StorageFollower *f = atomic_load(&content->followers); f; f = f->next) {
    PackedWeight *p = (PackedWeight *)f;
    if (f->leave != on_leave || !is_of(p, w)) continue;
    if (old ? !p->users && !is_current(p, now) : is_current(p, now)) return p;
  }
  return NULL;
}

static PackedWeight *use(PackedWeight *p) {
  if (!p) return NULL;
  p->users++;
  if (p->store) p->last_use = ++p->store->clock;
  return p;
}

/* Whether it was seen as it is now; from here on it was. */
static bool is_seen_again(PackedWeights *store, const Tensor *weight, const Moment *now) {
  uint64_t sight = (hash_of(storage_content(weight->storage), weight->offset) + now->version) ^ now->checksum;
  uint64_t *at = &store->sights[sight >> 32 & (SIGHTS - 1)];
  bool is_seen = *at == sight;
  *at = sight;
  return is_seen;
}

/* ---- taking ---- */

typedef enum Packs { PACKS_SEEN_AGAIN, PACKS_IF_THERE_IS_ROOM, PACKS_ALWAYS } Packs;

static PackedWeight *weight_new(const Wanted *w) {
  PackedWeights *store = w->store;
  PackedWeight *p = mem_calloc(1, sizeof *p);
  float *data = p ? lasting_alloc(store->heap, w->layout->bytes) : NULL;
  if (!data) {
    mem_free(p);
    return NULL;
  }
  p->follower.leave = on_leave;
  p->follower.free = on_free;
  p->layout = *w->layout;
  p->precision = w->work->precision;
  p->store = store;
  p->heap = store->heap;
  p->offset = w->weight->offset;
  p->data = data;
  cache_count(store->heap, (int64_t)w->layout->bytes);
  return p;
}

/* For others to find, unless the content changed meanwhile: then it is the caller's alone. */
static void publish(PackedWeights *store, const Tensor *weight, PackedWeight *p) {
  storage_lock();
  p->users = 1;
  p->last_use = ++store->clock;
  Storage *content = storage_content(weight->storage);
  if (atomic_load(&content->version) == p->version) {
    storage_follow(content, &p->follower);
    add(store, p);
  }
  storage_unlock();
  drop_beyond(store);
  storage_drop_found();
}

/* A weight that was dropped is made again for this alone. */
static bool put_in_order(int threads, const Tensor *weight, const WeightLayout *layout, float *to) {
  if (storage_data(weight->storage)) return weight_put_in_order(threads, weight, layout, to);
  Storage again = {.device = DEVICE_CPU_0, .bytes = weight->storage->bytes};
  Tensor copy = *weight;
  ContentSource source;
  copy.storage = &again;
  if (!packed_weights_source(weight->storage, &source)) return false;
  again.data = cache_alloc(again.bytes);
  bool done = again.data && source.make(source.context, again.data) && weight_put_in_order(threads, &copy, layout, to);
  cache_free(again.data, again.bytes);
  source.free(source.context);
  return done;
}

/* Of one that nobody uses to make the weight again. The rest is taken over; NULL: none from now on. */
static void set_rest(PackedWeight *p, WinogradRest *rest) {
  storage_lock();
  WinogradRest *old = p->rest;
  size_t before = bytes_beside(p);
  p->rest = rest;
  int64_t more = (int64_t)(bytes_beside(p) - before);
  if (p->store && p->follower.of) p->store->bytes += (size_t)more;
  storage_unlock();
  if (more) cache_count(p->heap, more);
  mem_free(old);
}

static PackedWeight *pack_now(const Wanted *w, Moment now) {
  PackedWeights *store = w->store;
  const Tensor *weight = w->weight;
  lock_take(&store->packing);
  storage_lock();
  now.version = atomic_load(&storage_content(weight->storage)->version);
  PackedWeight *found = use(find(w, &now, false)), *old = NULL;
  PackedWeight *p = found ? NULL : find(w, &now, true);
  if (p) drop(p, &old); /* to be packed anew */
  storage_unlock();
  if (!found) {
    if (!p) p = weight_new(w);
    if (p) {
      set_rest(p, NULL);
      p->was_asked = false;
      p->version = now.version;
      p->checksum = now.checksum;
    }
    if (p && put_in_order(w->work->threads, weight, w->layout, p->data)) {
      publish(store, weight, p);
      found = p;
    } else if (p) {
      weight_free(p);
    }
  }
  lock_drop(&store->packing);
  return found;
}

/* Of a transform that comes again: what it lacks to stand for the weight, if that may be dropped. */
static void find_rest(PackedWeights *store, int threads, const Tensor *weight, PackedWeight *p) {
  if (!storage_may_drop(weight->storage)) return;
  HEAP_SCOPE(store->heap);
  MemBudget *budget = mem_budget_enter(NULL);
  WinogradRest *rest = winograd_rest_new(threads, &p->layout, p->data, tensor_data(weight));
  mem_budget_enter(budget);
  set_rest(p, rest);
  storage_drop_found();
}

static PackedWeight *take(const Wanted *w, Packs packs) {
  PackedWeights *store = w->store;
  const Tensor *weight = w->weight;
  Moment now = moment_of(weight);
  storage_lock();
  now.version = atomic_load(&storage_content(weight->storage)->version);
  PackedWeight *p = use(find(w, &now, false));
  bool wants = !p && (packs != PACKS_SEEN_AGAIN || is_seen_again(store, weight, &now));
  bool asks = p && is_winograd(w->layout) && !p->was_asked && !w->work->first_epoch;
  if (asks) p->was_asked = true;
  storage_unlock();
  if (asks) find_rest(store, w->work->threads, weight, p);
  if (!wants || (packs != PACKS_ALWAYS && !cache_has_room(store->heap, w->layout->bytes))) return p;
  HEAP_SCOPE(store->heap);
  MemBudget *budget = mem_budget_enter(NULL); /* what is kept is nobody's */
  p = pack_now(w, now);
  mem_budget_enter(budget);
  return p;
}

static Wanted wanted(const Work *work, const Tensor *weight, const WeightLayout *layout) {
  return (Wanted){work->packed_weights ? work->packed_weights : &of_process, work, weight, layout};
}

PackedWeight *packed_weight_take(const Work *work, const Tensor *weight, const WeightLayout *layout) {
  Wanted w = wanted(work, weight, layout);
  return take(&w, PACKS_ALWAYS);
}

/* A function's first call packs what was there before it: state and arguments come again, and the calls after it are
 * to cost no more than all others. */
static bool will_come_again(const Work *work, const Tensor *weight) {
  return work->first_epoch && (int32_t)(weight->storage->born - work->first_epoch) < 0;
}

PackedWeight *packed_weight_take_settled(const Work *work, const Tensor *weight, const WeightLayout *layout) {
  Packs packs = will_come_again(work, weight) ? PACKS_IF_THERE_IS_ROOM : PACKS_SEEN_AGAIN;
  Wanted w = wanted(work, weight, layout);
  return take(&w, packs);
}

const float *packed_weight_data(const PackedWeight *packed) {
  return packed->data;
}

void packed_weight_give_back(PackedWeight *packed) {
  PackedWeights *store = packed->store;
  storage_lock();
  assert(packed->users > 0);
  bool is_idle = --packed->users == 0, is_lost = is_idle && !packed->follower.of;
  storage_unlock();
  if (!is_idle) return;
  if (is_lost)
    weight_free(packed);
  else if (store && is_over(store))
    drop_beyond(store);
}

/* ---- what they were made of ---- */

/* Packed weights that together have every element of a storage, in the order of their offsets, in use by the whole. */
typedef struct Whole {
  size_t count;
  PackedWeight *parts[];
} Whole;

/* One user more, or less, that it stands for the weight to: by how much it takes more beside that, which the caller
 * counts. The lock is held. */
static int64_t count_wholes(PackedWeight *p, int by) {
  size_t before = bytes_beside(p);
  p->wholes += by;
  int64_t more = (int64_t)(bytes_beside(p) - before);
  if (p->store && p->follower.of) p->store->bytes += (size_t)more;
  return more;
}

static bool whole_make(void *context, void *to) {
  const Whole *whole = context;
  for (size_t i = 0; i < whole->count; i++) {
    const PackedWeight *p = whole->parts[i];
    float *at = (float *)to + p->offset;
    if (p->rest)
      winograd_rest_put_back(p->rest, &p->layout, p->data, at);
    else if (!weight_put_back(1, p->data, &p->layout, at))
      return false;
  }
  return true;
}

static void whole_free(void *context) {
  Whole *whole = context;
  for (size_t i = 0; i < whole->count; i++) {
    PackedWeight *p = whole->parts[i];
    storage_lock();
    int64_t bytes = count_wholes(p, -1);
    storage_unlock();
    cache_count(p->heap, bytes);
    packed_weight_give_back(p);
  }
  mem_free(whole);
}

/* The one from `offset` on. The lock is held. */
static PackedWeight *part_at(const Storage *content, int64_t offset) {
  for (StorageFollower *f = atomic_load(&content->followers); f; f = f->next) {
    PackedWeight *p = (PackedWeight *)f;
    if (f->leave == on_leave && p->offset == offset && p->precision == PRECISION_EXACT &&
        (p->layout.transform == WEIGHT_AS_IT_IS || p->rest) && !p->checksum &&
        p->version == atomic_load(&content->version) && p->heap == content->context)
      return p;
  }
  return NULL;
}

/* Counts the parts, and puts them into `whole` where that is not NULL. 0: some are missing. The lock is held. */
static size_t find_parts(const Storage *content, Whole *whole) {
  int64_t offset = 0, count = (int64_t)(content->bytes / sizeof(float));
  size_t parts = 0;
  while (offset < count) {
    PackedWeight *p = part_at(content, offset);
    if (!p) return 0;
    if (whole && parts == whole->count) return 0;
    if (whole) whole->parts[parts] = p;
    parts++;
    offset += elements_of(&p->layout);
  }
  return offset * (int64_t)sizeof(float) == (int64_t)content->bytes ? parts : 0;
}

bool packed_weights_source(Storage *storage, ContentSource *out) {
  *out = (ContentSource){0};
  storage_lock();
  size_t count = find_parts(storage_content(storage), NULL);
  storage_unlock();
  Whole *whole = count ? mem_alloc(sizeof *whole + count * sizeof *whole->parts) : NULL;
  if (!whole) return false;
  whole->count = count;
  storage_lock();
  const Storage *content = storage_content(storage);
  bool is_whole = find_parts(content, whole) == count;
  int64_t bytes = 0;
  for (size_t i = 0; is_whole && i < count; i++) bytes += count_wholes(use(whole->parts[i]), 1);
  Heap *heap = content->context;
  *out = (ContentSource){whole_make, whole_free, whole, atomic_load(&content->version)};
  storage_unlock();
  if (bytes) cache_count(heap, bytes);
  if (!is_whole) mem_free(whole);
  return is_whole;
}

static size_t yield(void *store) {
  return drop_idle(store);
}

PackedWeights *packed_weights_new(Heap *heap) {
  PackedWeights *store = mem_calloc(1, sizeof *store);
  if (!store) return NULL;
  pthread_mutex_init(&store->packing, NULL);
  store->heap = heap;
  heap->kept = store;
  heap->yield = yield;
  return store;
}

size_t packed_weights_trim(PackedWeights *store) {
  return drop_idle(store ? store : &of_process);
}

size_t packed_weights_bytes(PackedWeights *store) {
  store = store ? store : &of_process;
  storage_lock();
  size_t bytes = store->bytes;
  storage_unlock();
  return bytes;
}

size_t packed_weights_bytes_of(const Storage *storage) {
  size_t bytes = 0;
  storage_lock();
  for (StorageFollower *f = atomic_load(&storage_content(storage)->followers); f; f = f->next)
    if (f->leave == on_leave) bytes += bytes_beside((PackedWeight *)f);
  storage_unlock();
  return bytes;
}

void packed_weights_free(PackedWeights *store) {
  if (!store) return;
  packed_weights_trim(store);
  storage_lock();
  for (PackedWeight *p; (p = store->first);) {
    take_out(p);
    p->store = NULL;
  }
  storage_unlock();
  store->heap->yield = NULL;
  pthread_mutex_destroy(&store->packing);
  mem_free(store);
}
