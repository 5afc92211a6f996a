/* A table under one lock, and the loop that packs. */
#include "compute/conv/conv_weights.h"

#include <assert.h>

#include "base/cache.h"
#include "base/fork.h"
#include "base/hostile.h"
#include "base/parallel.h"
#include "compute/conv/conv_backward.h"
#include "compute/conv/flat_winograd.h"
#include "compute/conv/weight_reader.h"
#include "report/reason.h"

struct PackedWeight {
  PackedWeight *next;
  PackedWeights *store;
  WeightLayout layout;
  Storage *storage; /* retained; with offset and version the weight's identity */
  int64_t offset;
  uint32_t version;
  uint64_t checksum; /* of the weight; 0 where the version tells */
  int users;
  uint64_t last_use;
  float *data;
};

enum { MAX_WEIGHTS = CACHE_ENTRIES(1024), CHAINS = 256, SIGHTS = 1024 };
struct PackedWeights {
  pthread_mutex_t lock;
  Heap *heap;
  PackedWeight *chains[CHAINS]; /* by storage and offset */
  size_t bytes, count;
  uint64_t clock;
  uint64_t sights[SIGHTS]; /* what weights were seen as, by chance overwritten: hashes, nothing that is followed */
};
static PackedWeights of_process = {.lock = PTHREAD_MUTEX_INITIALIZER};
static const size_t MAX_BYTES = (size_t)512 << 20;

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

/* ---- the store: under the lock ---- */

static void drop(PackedWeights *store, PackedWeight **at) {
  assert(!(*at)->users);
  PackedWeight *p = *at;
  *at = p->next;
  store->bytes -= p->layout.bytes;
  store->count--;
  cache_free_in(store->heap, p->data, p->layout.bytes);
  storage_release(p->storage);
  mem_free(p);
}

/* What is idle, if `all` or nobody else holds the storage, and, beyond the bounds, the oldest. */
static void drop_idle(PackedWeights *store, bool all) {
  for (int chain = 0; chain < CHAINS; chain++)
    for (PackedWeight **at = &store->chains[chain]; *at;)
      if ((*at)->users == 0 && (all || ref_is_unique(&(*at)->storage->refs)))
        drop(store, at);
      else
        at = &(*at)->next;
  while (store->count > MAX_WEIGHTS || store->bytes > MAX_BYTES) {
    PackedWeight **oldest = NULL;
    for (int chain = 0; chain < CHAINS; chain++)
      for (PackedWeight **at = &store->chains[chain]; *at; at = &(*at)->next)
        if ((*at)->users == 0 && (!oldest || (*at)->last_use < (*oldest)->last_use)) oldest = at;
    if (!oldest) return;
    drop(store, oldest);
  }
}

static uint64_t hash_of(const Tensor *weight) {
  uint64_t h = ((uint64_t)(uintptr_t)weight->storage >> 4) * 0x9e3779b97f4a7c15u;
  return (h ^ (uint64_t)weight->offset) * 0xff51afd7ed558ccdu;
}
static PackedWeight **chain_of(PackedWeights *store, const Tensor *weight) {
  return &store->chains[hash_of(weight) >> 32 & (CHAINS - 1)];
}

static bool is_of(const PackedWeight *p, const Tensor *weight, const WeightLayout *layout) {
  return p->storage == weight->storage && p->offset == weight->offset &&
         memcmp(&p->layout, layout, sizeof *layout) == 0;
}
/* What the weight is at the moment. */
typedef struct Moment {
  uint32_t version;
  uint64_t checksum;
} Moment;
static bool is_current(const PackedWeight *p, const Moment *now) {
  return p->version == now->version && p->checksum == now->checksum;
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

static Moment moment_of(const Tensor *weight) {
  Moment now = {.version = atomic_load(&weight->storage->version)};
  if (atomic_load(&weight->storage->is_shown)) now.checksum = checksum_of(weight);
  return now;
}

/* An old one that nobody uses: its memory is the new one's. */
static PackedWeight *find_replaceable(PackedWeights *store, const Tensor *weight, const WeightLayout *layout,
                                      const Moment *now) {
  for (PackedWeight *p = *chain_of(store, weight); p; p = p->next)
    if (is_of(p, weight, layout) && !p->users && !is_current(p, now)) return p;
  return NULL;
}

static PackedWeight *weight_new(PackedWeights *store, const Tensor *weight, const WeightLayout *layout) {
  PackedWeight *p = mem_calloc(1, sizeof *p);
  float *data = p ? cache_alloc_lasting_in(store->heap, layout->bytes) : NULL;
  if (!data) {
    mem_free(p);
    return NULL;
  }
  p->layout = *layout;
  p->store = store;
  p->storage = storage_retain(weight->storage);
  p->offset = weight->offset;
  p->data = data;
  p->users = 1; /* not to be dropped right away */
  p->next = *chain_of(store, weight);
  *chain_of(store, weight) = p;
  store->bytes += layout->bytes;
  store->count++;
  drop_idle(store, false);
  p->users = 0;
  return p;
}

static void forget(PackedWeights *store, const Tensor *weight, PackedWeight *p) {
  PackedWeight **at = chain_of(store, weight);
  while (*at != p) at = &(*at)->next;
  drop(store, at);
}

static PackedWeight *pack_now(PackedWeights *store, int threads, const Tensor *weight, const WeightLayout *layout,
                              const Moment *now) {
  PackedWeight *p = find_replaceable(store, weight, layout, now);
  if (!p) p = weight_new(store, weight, layout);
  if (!p) return NULL;
  p->version = now->version;
  p->checksum = now->checksum;
  if (pack(threads, weight, layout, p->data)) return p;
  forget(store, weight, p);
  return NULL;
}

static PackedWeight *find_current(PackedWeights *store, const Tensor *weight, const WeightLayout *layout,
                                  const Moment *now) {
  PackedWeight *p = *chain_of(store, weight);
  while (p && !(is_of(p, weight, layout) && is_current(p, now))) p = p->next;
  return p;
}

/* Whether it was seen as it is now; from here on it was. */
static bool is_seen_again(PackedWeights *store, const Tensor *weight, const Moment *now) {
  uint64_t sight = (hash_of(weight) + now->version) ^ now->checksum, *at = &store->sights[sight >> 32 & (SIGHTS - 1)];
  bool is_seen = *at == sight;
  *at = sight;
  return is_seen;
}

typedef enum Packs { PACKS_SEEN_AGAIN, PACKS_IF_THERE_IS_ROOM, PACKS_ALWAYS } Packs;

static PackedWeight *take(PackedWeights *store, int threads, const Tensor *weight, const WeightLayout *layout,
                          Packs packs) {
  HEAP_SCOPE(store->heap);
  MemBudget *budget = mem_budget_enter(NULL); /* what is kept is nobody's */
  lock_take(&store->lock);
  Moment now = moment_of(weight);
  PackedWeight *p = find_current(store, weight, layout, &now);
  bool wants = !p && (packs != PACKS_SEEN_AGAIN || is_seen_again(store, weight, &now));
  if (wants && (packs == PACKS_ALWAYS || store->bytes + layout->bytes <= MAX_BYTES))
    p = pack_now(store, threads, weight, layout, &now);
  if (p) {
    p->users++;
    p->last_use = ++store->clock;
  }
  lock_drop(&store->lock);
  mem_budget_enter(budget);
  return p;
}

static PackedWeights *store_of(const Exec *exec) {
  PackedWeights *own = exec->runtime->packed_weights;
  return own ? own : &of_process;
}

PackedWeight *packed_weight_take(const Exec *exec, const Tensor *weight, const WeightLayout *layout) {
  return take(store_of(exec), exec->threads, weight, layout, PACKS_ALWAYS);
}

/* A function's first call packs what was there before it: state and arguments come again, and the calls after it are
 * to cost no more than all others. */
static bool will_come_again(const Exec *exec, const Tensor *weight) {
  return exec->first_epoch && (int32_t)(weight->storage->born - exec->first_epoch) < 0;
}

PackedWeight *packed_weight_take_settled(const Exec *exec, const Tensor *weight, const WeightLayout *layout) {
  Packs packs = will_come_again(exec, weight) ? PACKS_IF_THERE_IS_ROOM : PACKS_SEEN_AGAIN;
  return take(store_of(exec), exec->threads, weight, layout, packs);
}

const float *packed_weight_data(const PackedWeight *packed) {
  return packed->data;
}

void packed_weight_give_back(PackedWeight *packed) {
  PackedWeights *store = packed->store;
  lock_take(&store->lock);
  assert(packed->users > 0);
  packed->users--;
  lock_drop(&store->lock);
}

PackedWeights *packed_weights_new(Heap *heap) {
  PackedWeights *store = mem_calloc(1, sizeof *store);
  if (!store) return NULL;
  pthread_mutex_init(&store->lock, NULL);
  store->heap = heap;
  return store;
}

void packed_weights_trim(PackedWeights *store) {
  if (!store) store = &of_process;
  lock_take(&store->lock);
  drop_idle(store, true);
  lock_drop(&store->lock);
}

void packed_weights_free(PackedWeights *store) {
  if (!store) return;
  packed_weights_trim(store);
  pthread_mutex_destroy(&store->lock);
  mem_free(store);
}
