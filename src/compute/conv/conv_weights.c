/* A list for each store, and the loop that packs. */
#include "compute/conv/conv_weights.h"

#include <assert.h>

#include "base/cache.h"
#include "base/fork.h"
#include "base/hostile.h"
#include "base/lasting.h"
#include "base/parallel.h"
#include "compute/conv/conv_backward.h"
#include "compute/conv/flat_winograd.h"
#include "compute/conv/weight_reader.h"
#include "report/reason.h"
#include "tensor/storage_share.h"

struct PackedWeight {
  StorageFollower follower;      /* first member: of the content */
  PackedWeight *next, *previous; /* of the store */
  PackedWeights *store;
  Heap *heap; /* the store's, which the store may not outlive */
  WeightLayout layout;
  int64_t offset;
  uint32_t version;  /* of the content; with it and the offset the weight's identity */
  uint64_t checksum; /* of the weight; 0 where the version tells */
  int users;
  uint64_t last_use;
  float *data;
};

/* `packing` is held while a weight is put in order, so that one thread does it; it is taken before the lock of
 * storages, which guards everything else. */
enum { MAX_WEIGHTS = CACHE_ENTRIES(1024), SIGHTS = 1024 };
struct PackedWeights {
  pthread_mutex_t packing;
  Heap *heap;
  PackedWeight *first;
  size_t bytes;         /* of all */
  _Atomic size_t count; /* asked without the lock, too */
  uint64_t clock;
  uint64_t sights[SIGHTS]; /* what weights were seen as, by chance overwritten: hashes, nothing that is followed */
};
static PackedWeights of_process = {.packing = PTHREAD_MUTEX_INITIALIZER};

/* ---- packing ---- */

enum { TILE = 16 };

typedef struct Packing {
  const Tensor *from;
  float *to;
  int64_t channels, each; /* of one group; elements of one channel */
  const int64_t *group_offsets, *channel_offsets, *element_offsets;
} Packing;

static int64_t layout_offset(const WeightLayout *l, int dim, int64_t index) {
  int64_t offset = 0, inside = 1;
  for (int b = l->block_count - 1; b >= 0; b--) {
    if (l->block_dims[b] == dim) {
      offset += index % l->blocks[b] * inside;
      index /= l->blocks[b];
    }
    inside *= l->blocks[b];
  }
  return offset + index * l->strides[dim];
}

/* The offsets of all elements of one channel, in row-major order; `line` has room for the largest size. */
static void element_offsets(const WeightLayout *l, int64_t *line, int64_t *offsets) {
  int64_t count = 1;
  offsets[0] = 0;
  for (int dim = l->channels + 1; dim < l->ndim; dim++) {
    int64_t size = l->sizes[dim];
    for (int64_t i = 0; i < size; i++) line[i] = layout_offset(l, dim, i);
    for (int64_t k = count - 1; k >= 0; k--) {
      int64_t base = offsets[k];
      for (int64_t i = 0; i < size; i++) offsets[k * size + i] = base + line[i];
    }
    count *= size;
  }
}

/* Tiles of up to 16 channels, over a square at a time: every cache line of the weight is read once. */
static void pack_tiles(void *argument, int64_t begin, int64_t end) {
  const Packing *p = argument;
  int64_t tiles = (p->channels + TILE - 1) / TILE;
  WeightReader reader;
  weight_reader_begin(&reader, p->from, TILE * p->each);
  for (int64_t t = begin; t < end; t++) {
    int64_t first = t % tiles * TILE, channel = t / tiles * p->channels + first;
    int n = (int)(p->channels - first < TILE ? p->channels - first : TILE);
    const int64_t *offsets = p->channel_offsets + first;
    const float *from = weight_reader_at(&reader, channel * p->each, n * p->each);
    float *to = p->to + p->group_offsets[t / tiles], square[TILE][TILE];
    bool is_dense = n == TILE && offsets[TILE - 1] - offsets[0] == TILE - 1;
    for (int64_t e = 0; e < p->each; e += TILE) {
      int m = (int)(p->each - e < TILE ? p->each - e : TILE);
      for (int c = 0; c < n; c++)
        for (int i = 0; i < m; i++) square[i][c] = from[c * p->each + e + i];
      for (int i = 0; i < m; i++) {
        float *line = to + p->element_offsets[e + i];
        if (is_dense)
          memcpy(line + offsets[0], square[i], sizeof square[i]);
        else
          for (int c = 0; c < n; c++) line[offsets[c]] = square[i][c];
      }
    }
  }
  weight_reader_end(&reader);
}

static bool is_padded(const WeightLayout *l) {
  uint64_t count = 1;
  for (int d = 0; d < l->ndim; d++) count *= (uint64_t)l->sizes[d];
  return count * sizeof(float) != l->bytes;
}

/* false: no memory. */
static bool pack(int threads, const Tensor *from, const WeightLayout *l, float *to) {
  if (l->transform != WEIGHT_AS_IT_IS) {
    (l->transform == WEIGHT_SPREAD ? conv_spread_pack : flat_winograd_pack)(threads, l, from, to);
    STATISTIC_ADD(packed_weights);
    return true;
  }
  int64_t groups = l->channels ? l->sizes[0] : 1, channels = l->sizes[l->channels], each = 1, longest = 1;
  for (int d = l->channels + 1; d < l->ndim; d++) {
    each *= l->sizes[d];
    if (l->sizes[d] > longest) longest = l->sizes[d];
  }
  int64_t *offsets = mem_alloc((size_t)(groups + channels + each + longest) * sizeof *offsets);
  if (!offsets) return false;
  int64_t *elements = offsets + groups + channels;
  for (int64_t g = 0; g < groups; g++) offsets[g] = l->channels ? layout_offset(l, 0, g) : 0;
  for (int64_t c = 0; c < channels; c++) offsets[groups + c] = layout_offset(l, l->channels, c);
  element_offsets(l, elements + each, elements);
  if (is_padded(l)) memset(to, 0, l->bytes);
  Packing packing = {from, to, channels, each, offsets, offsets + groups, elements};
  int64_t grain = 65536 / (TILE * each) + 1;
  parallel_for(threads, groups * ((channels + TILE - 1) / TILE), grain, pack_tiles, &packing);
  mem_free(offsets);
  STATISTIC_ADD(packed_weights);
  return true;
}

/* ---- the store: under the lock of storages ---- */

static void add(PackedWeights *store, PackedWeight *p) {
  p->previous = NULL;
  p->next = store->first;
  if (p->next) p->next->previous = p;
  store->first = p;
  store->bytes += p->layout.bytes;
  atomic_fetch_add_explicit(&store->count, 1, memory_order_relaxed);
}

static void take_out(PackedWeight *p) {
  PackedWeights *store = p->store;
  *(p->previous ? &p->previous->next : &store->first) = p->next;
  if (p->next) p->next->previous = p->previous;
  store->bytes -= p->layout.bytes;
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
  size_t bytes = p->layout.bytes;
  MemBudget *budget = mem_budget_enter(NULL);
  cache_count(p->heap, -(int64_t)bytes);
  lasting_free(p->heap, p->data, bytes);
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

static bool is_of(const PackedWeight *p, const PackedWeights *store, const Tensor *weight, const WeightLayout *layout) {
  return p->store == store && p->offset == weight->offset && memcmp(&p->layout, layout, sizeof *layout) == 0;
}
static bool is_current(const PackedWeight *p, const Moment *now) {
  return p->version == now->version && p->checksum == now->checksum;
}

/* The one of the content as it is now; else, `old`, one that nobody uses: its memory is the new one's. */
static PackedWeight *find(const PackedWeights *store, const Tensor *weight, const WeightLayout *layout,
                          const Moment *now, bool old) {
  Storage *content = storage_content(weight->storage);
  for (StorageFollower *f = atomic_load(&content->followers); f; f = f->next) {
    PackedWeight *p = (PackedWeight *)f;
    if (f->leave != on_leave || !is_of(p, store, weight, layout)) continue;
    if (old ? !p->users && !is_current(p, now) : is_current(p, now)) return p;
  }
  return NULL;
}

static PackedWeight *use(PackedWeight *p) {
  if (!p) return NULL;
  p->users++;
  p->last_use = ++p->store->clock;
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

static PackedWeight *weight_new(PackedWeights *store, const Tensor *weight, const WeightLayout *layout) {
  PackedWeight *p = mem_calloc(1, sizeof *p);
  float *data = p ? lasting_alloc(store->heap, layout->bytes) : NULL;
  if (!data) {
    mem_free(p);
    return NULL;
  }
  p->follower.leave = on_leave;
  p->follower.free = on_free;
  p->layout = *layout;
  p->store = store;
  p->heap = store->heap;
  p->offset = weight->offset;
  p->data = data;
  cache_count(store->heap, (int64_t)layout->bytes);
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
}

static PackedWeight *pack_now(PackedWeights *store, int threads, const Tensor *weight, const WeightLayout *layout,
                              Moment now) {
  lock_take(&store->packing);
  storage_lock();
  now.version = atomic_load(&storage_content(weight->storage)->version);
  PackedWeight *found = use(find(store, weight, layout, &now, false)), *old = NULL;
  PackedWeight *p = found ? NULL : find(store, weight, layout, &now, true);
  if (p) drop(p, &old); /* to be packed anew */
  storage_unlock();
  if (!found) {
    if (!p) p = weight_new(store, weight, layout);
    if (p) {
      p->version = now.version;
      p->checksum = now.checksum;
    }
    if (p && pack(threads, weight, layout, p->data)) {
      publish(store, weight, p);
      found = p;
    } else if (p) {
      weight_free(p);
    }
  }
  lock_drop(&store->packing);
  return found;
}

static PackedWeight *take(PackedWeights *store, int threads, const Tensor *weight, const WeightLayout *layout,
                          Packs packs) {
  Moment now = moment_of(weight);
  storage_lock();
  now.version = atomic_load(&storage_content(weight->storage)->version);
  PackedWeight *p = use(find(store, weight, layout, &now, false));
  bool wants = !p && (packs != PACKS_SEEN_AGAIN || is_seen_again(store, weight, &now));
  storage_unlock();
  if (!wants || (packs != PACKS_ALWAYS && !cache_has_room(store->heap, layout->bytes))) return p;
  HEAP_SCOPE(store->heap);
  MemBudget *budget = mem_budget_enter(NULL); /* what is kept is nobody's */
  p = pack_now(store, threads, weight, layout, now);
  mem_budget_enter(budget);
  return p;
}

static PackedWeights *store_of(const Work *work) {
  return work->packed_weights ? work->packed_weights : &of_process;
}

PackedWeight *packed_weight_take(const Work *work, const Tensor *weight, const WeightLayout *layout) {
  return take(store_of(work), work->threads, weight, layout, PACKS_ALWAYS);
}

/* A function's first call packs what was there before it: state and arguments come again, and the calls after it are
 * to cost no more than all others. */
static bool will_come_again(const Work *work, const Tensor *weight) {
  return work->first_epoch && (int32_t)(weight->storage->born - work->first_epoch) < 0;
}

PackedWeight *packed_weight_take_settled(const Work *work, const Tensor *weight, const WeightLayout *layout) {
  Packs packs = will_come_again(work, weight) ? PACKS_IF_THERE_IS_ROOM : PACKS_SEEN_AGAIN;
  return take(store_of(work), work->threads, weight, layout, packs);
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
  else if (is_over(store))
    drop_beyond(store);
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
    if (f->leave == on_leave) bytes += ((PackedWeight *)f)->layout.bytes;
  storage_unlock();
  return bytes;
}

void packed_weights_free(PackedWeights *store) {
  if (!store) return;
  packed_weights_trim(store);
  store->heap->yield = NULL;
  pthread_mutex_destroy(&store->packing);
  mem_free(store);
}
