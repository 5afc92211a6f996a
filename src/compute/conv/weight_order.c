/* Tiles of the weight, one after the other, from one order into the other. */
#include "compute/conv/weight_order.h"

#include <assert.h>

#include "base/parallel.h"
#include "compute/conv/conv_backward.h"
#include "compute/conv/flat_winograd.h"
#include "compute/conv/weight_reader.h"
#include "report/reason.h"

enum { TILE = 16 };

typedef struct Packing {
  const Tensor *from;
  const float *packed; /* the other way */
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

static void unpack_tiles(void *argument, int64_t begin, int64_t end) {
  const Packing *p = argument;
  int64_t tiles = (p->channels + TILE - 1) / TILE;
  for (int64_t t = begin; t < end; t++) {
    int64_t first = t % tiles * TILE, channel = t / tiles * p->channels + first;
    int n = (int)(p->channels - first < TILE ? p->channels - first : TILE);
    const int64_t *offsets = p->channel_offsets + first;
    const float *from = p->packed + p->group_offsets[t / tiles];
    float *to = p->to + channel * p->each, square[TILE][TILE];
    for (int64_t e = 0; e < p->each; e += TILE) {
      int m = (int)(p->each - e < TILE ? p->each - e : TILE);
      for (int i = 0; i < m; i++) {
        const float *line = from + p->element_offsets[e + i];
        for (int c = 0; c < n; c++) square[c][i] = line[offsets[c]];
      }
      for (int c = 0; c < n; c++) memcpy(to + c * p->each + e, square[c], (size_t)m * sizeof *to);
    }
  }
}

static bool is_padded(const WeightLayout *l) {
  uint64_t count = 1;
  for (int d = 0; d < l->ndim; d++) count *= (uint64_t)l->sizes[d];
  return count * sizeof(float) != l->bytes;
}

/* Runs `move` over all tiles. false: no memory. */
static bool move_all(int threads, const WeightLayout *l, Packing packing,
                     void (*move)(void *argument, int64_t begin, int64_t end)) {
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
  packing.channels = channels;
  packing.each = each;
  packing.group_offsets = offsets;
  packing.channel_offsets = offsets + groups;
  packing.element_offsets = elements;
  int64_t grain = 65536 / (TILE * each) + 1;
  parallel_for(threads, groups * ((channels + TILE - 1) / TILE), grain, move, &packing);
  mem_free(offsets);
  return true;
}

bool weight_put_in_order(int threads, const Tensor *from, const WeightLayout *l, float *to) {
  STATISTIC_ADD(packed_weights);
  if (l->transform != WEIGHT_AS_IT_IS) {
    (l->transform == WEIGHT_SPREAD ? conv_spread_pack : flat_winograd_pack)(threads, l, from, to);
    return true;
  }
  if (is_padded(l)) memset(to, 0, l->bytes);
  return move_all(threads, l, (Packing){.from = from, .to = to}, pack_tiles);
}

bool weight_put_back(int threads, const float *from, const WeightLayout *l, float *to) {
  assert(l->transform == WEIGHT_AS_IT_IS);
  return move_all(threads, l, (Packing){.packed = from, .to = to}, unpack_tiles);
}
