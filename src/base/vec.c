/* Growth of the arrays: by half as much again, at least four items. */
#include "base/vec.h"

#include <assert.h>

static bool grown_capacity(size_t capacity, size_t count, size_t item_bytes, size_t *out_capacity, size_t *out_bytes) {
  size_t wanted;
  if (!size_add(capacity, capacity / 2, &wanted)) return false;
  if (wanted < count) wanted = count;
  if (wanted < 4) wanted = 4;
  *out_capacity = wanted;
  return size_mul(wanted, item_bytes, out_bytes);
}

bool vec_grow_(void **data, size_t *capacity, size_t count, size_t item_bytes) {
  if (count <= *capacity) return true;
  size_t wanted, bytes;
  if (!grown_capacity(*capacity, count, item_bytes, &wanted, &bytes)) return false;
  void *grown = mem_realloc(*data, bytes);
  if (!grown) return false;
  *data = grown;
  *capacity = wanted;
  return true;
}

void vec_arena_grow_(Arena *arena, void **data, size_t *capacity, size_t length, size_t count, size_t item_bytes) {
  assert(length <= *capacity);
  if (count <= *capacity) return;
  size_t wanted, bytes;
  if (!grown_capacity(*capacity, count, item_bytes, &wanted, &bytes))
    catch_throw(arena->catch_point, status_out_of_memory());
  void *grown = arena_alloc_uncleared(arena, bytes);
  if (length) memcpy(grown, *data, length * item_bytes);
  *data = grown;
  *capacity = wanted;
}

typedef struct Growth {
  Arena *arena;
  void **data;
  size_t *capacity, length, count, item_bytes;
} Growth;
static void grow(void *argument) {
  const Growth *g = argument;
  vec_arena_grow_(g->arena, g->data, g->capacity, g->length, g->count, g->item_bytes);
}
Status vec_arena_try_grow_(Arena *arena, void **data, size_t *capacity, size_t length, size_t count,
                           size_t item_bytes) {
  if (count <= *capacity) return OK;
  return arena_protect(arena, grow, &(Growth){arena, data, capacity, length, count, item_bytes});
}
