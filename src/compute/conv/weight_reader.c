/* A window over the file; a read that fails ends it. */
#include "compute/conv/weight_reader.h"

#include <assert.h>

#include "base/cache.h"

enum { LEAST_ELEMENTS = 1 << 14 /* that are read at once, and of a weight that is read so */ };

void weight_reader_begin(WeightReader *r, const Tensor *weight, int64_t most) {
  *r = (WeightReader){.weight = weight, .room_size = most > LEAST_ELEMENTS ? most : LEAST_ELEMENTS};
  if (storage_has_source(weight->storage) && weight->numel >= LEAST_ELEMENTS)
    r->room = cache_alloc((size_t)r->room_size * sizeof *r->room);
}

void weight_reader_end(WeightReader *r) {
  cache_free(r->room, (size_t)r->room_size * sizeof *r->room);
  r->room = NULL;
}

static bool fetch(WeightReader *r, int64_t first) {
  int64_t left = r->weight->numel - first;
  r->first = first;
  r->count = left < r->room_size ? left : r->room_size;
  return storage_fetch(r->weight->storage, (size_t)(r->weight->offset + first) * sizeof *r->room, r->room,
                       (size_t)r->count * sizeof *r->room);
}

const float *weight_reader_at(WeightReader *r, int64_t first, int64_t count) {
  assert(first >= 0 && count >= 0 && first + count <= r->weight->numel);
  if (r->room) {
    assert(count <= r->room_size);
    bool is_there = first >= r->first && first + count <= r->first + r->count;
    if (is_there || fetch(r, first)) return r->room + (first - r->first);
    weight_reader_end(r);
  }
  return (const float *)tensor_data(r->weight) + first;
}
