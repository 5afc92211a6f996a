/* A list under one lock, and the loop that packs. */
#include "compute/conv/conv_weights.h"

#include <pthread.h>

#include "base/cache.h"
#include "base/hostile.h"
#include "base/parallel.h"
#include "compute/conv/flat_winograd.h"
#include "report/reason.h"

struct PackedWeight {
  PackedWeight *next;
  WeightLayout layout;
  Storage *storage; /* retained; with offset and version the weight's identity */
  int64_t offset;
  uint32_t version;
  int users;
  uint64_t last_use;
  float *data;
};

static struct {
  pthread_mutex_t lock;
  PackedWeight *first;
  size_t bytes, count;
  uint64_t clock;
} store = {.lock = PTHREAD_MUTEX_INITIALIZER};
enum { MAX_WEIGHTS = CACHE_ENTRIES(1024) };
static const size_t MAX_BYTES = (size_t)512 << 20;

/* ---- packing ---- */

enum { TILE = 16 };

typedef struct Packing {
  const float *from;
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
  for (int64_t t = begin; t < end; t++) {
    int64_t first = t % tiles * TILE, channel = t / tiles * p->channels + first;
    int n = (int)(p->channels - first < TILE ? p->channels - first : TILE);
    const int64_t *offsets = p->channel_offsets + first;
    const float *from = p->from + channel * p->each;
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
}

static bool is_padded(const WeightLayout *l) {
  uint64_t count = 1;
  for (int d = 0; d < l->ndim; d++) count *= (uint64_t)l->sizes[d];
  return count * sizeof(float) != l->bytes;
}

/* false: no memory. */
static bool pack(int threads, const float *from, const WeightLayout *l, float *to) {
  if (l->transform == WEIGHT_WINOGRAD) {
    flat_winograd_pack(threads, l, from, to);
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

static void drop(PackedWeight **at) {
  PackedWeight *p = *at;
  *at = p->next;
  store.bytes -= p->layout.bytes;
  store.count--;
  cache_free(p->data, p->layout.bytes);
  storage_release(p->storage);
  mem_free(p);
}

/* What is idle, if `all` or nobody else holds the storage, and, beyond the bounds, the oldest. */
static void drop_idle(bool all) {
  for (PackedWeight **at = &store.first; *at;)
    if ((*at)->users == 0 && (all || ref_is_unique(&(*at)->storage->refs)))
      drop(at);
    else
      at = &(*at)->next;
  while (store.count > MAX_WEIGHTS || store.bytes > MAX_BYTES) {
    PackedWeight **oldest = NULL;
    for (PackedWeight **at = &store.first; *at; at = &(*at)->next)
      if ((*at)->users == 0 && (!oldest || (*at)->last_use < (*oldest)->last_use)) oldest = at;
    if (!oldest) return;
    drop(oldest);
  }
}

static bool is_of(const PackedWeight *p, const Tensor *weight, const WeightLayout *layout) {
  return p->storage == weight->storage && p->offset == weight->offset &&
         memcmp(&p->layout, layout, sizeof *layout) == 0;
}
/* Whether it holds what the weight holds now. Of foreign memory nobody can say. */
static bool is_current(const PackedWeight *p, const Tensor *weight, uint32_t version) {
  return p->version == version && !(weight->storage->flags & STORAGE_FOREIGN);
}

/* An old one that nobody uses: its memory is the new one's. */
static PackedWeight *find_replaceable(const Tensor *weight, const WeightLayout *layout, uint32_t version) {
  for (PackedWeight *p = store.first; p; p = p->next)
    if (is_of(p, weight, layout) && !p->users && !is_current(p, weight, version)) return p;
  return NULL;
}

static PackedWeight *weight_new(const Tensor *weight, const WeightLayout *layout) {
  PackedWeight *p = mem_calloc(1, sizeof *p);
  float *data = p ? cache_alloc(layout->bytes) : NULL;
  if (!data) {
    mem_free(p);
    return NULL;
  }
  p->layout = *layout;
  p->storage = storage_retain(weight->storage);
  p->offset = weight->offset;
  p->data = data;
  p->users = 1; /* not to be dropped right away */
  p->next = store.first;
  store.first = p;
  store.bytes += layout->bytes;
  store.count++;
  drop_idle(false);
  p->users = 0;
  return p;
}

static void forget(PackedWeight *p) {
  PackedWeight **at = &store.first;
  while (*at != p) at = &(*at)->next;
  drop(at);
}

static PackedWeight *pack_now(int threads, const Tensor *weight, const WeightLayout *layout, uint32_t version) {
  PackedWeight *p = find_replaceable(weight, layout, version);
  if (!p) p = weight_new(weight, layout);
  if (!p) return NULL;
  p->version = version;
  if (pack(threads, tensor_data(weight), layout, p->data)) return p;
  forget(p);
  return NULL;
}

PackedWeight *packed_weight_take(int threads, const Tensor *weight, const WeightLayout *layout) {
  MemBudget *budget = mem_budget_enter(NULL); /* what is kept is nobody's */
  pthread_mutex_lock(&store.lock);
  uint32_t version = atomic_load(&weight->storage->version);
  PackedWeight *p = store.first;
  while (p && !(is_of(p, weight, layout) && is_current(p, weight, version))) p = p->next;
  if (!p) p = pack_now(threads, weight, layout, version);
  if (p) {
    p->users++;
    p->last_use = ++store.clock;
  }
  pthread_mutex_unlock(&store.lock);
  mem_budget_enter(budget);
  return p;
}

const float *packed_weight_data(const PackedWeight *packed) {
  return packed->data;
}

void packed_weight_give_back(PackedWeight *packed) {
  pthread_mutex_lock(&store.lock);
  packed->users--;
  pthread_mutex_unlock(&store.lock);
}

void packed_weights_trim(void) {
  pthread_mutex_lock(&store.lock);
  drop_idle(true);
  pthread_mutex_unlock(&store.lock);
}
