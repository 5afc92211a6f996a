/* PairMap by open addressing with linear probing, at most two thirds full. */
#include "type/pair_map.h"

#include <assert.h>

#include "base/memory.h"

static size_t pair_hash(const void *a, const void *b) {
  uint64_t h =
      (uint64_t)(uintptr_t)a * 0x9E3779B97F4A7C15u ^ ((uint64_t)(uintptr_t)b + 0x7F4A7C15u) * 0xC2B2AE3D27D4EB4Fu;
  return (size_t)(h ^ h >> 29);
}

static struct PairSlot *pair_slot(const PairMap *map, const void *a, const void *b) {
  assert(map->length < map->slot_count); /* so that the walk meets an unused one */
  size_t mask = map->slot_count - 1;
  for (size_t i = pair_hash(a, b) & mask;; i = (i + 1) & mask) {
    struct PairSlot *slot = &map->slots[i];
    if (!slot->used || (slot->a == a && slot->b == b)) return slot;
  }
}

void pair_map_dispose(PairMap *map) {
  mem_free(map->slots);
  *map = (PairMap){0};
}

void **pair_map_find(const PairMap *map, const void *a, const void *b) {
  if (!map->length) return NULL;
  struct PairSlot *slot = pair_slot(map, a, b);
  return slot->used ? &slot->value : NULL;
}

bool pair_map_put(PairMap *map, const void *a, const void *b, void *value) {
  if ((map->length + 1) * 3 > map->slot_count * 2) {
    PairMap wider = {.slot_count = map->slot_count ? map->slot_count * 2 : 32};
    wider.slots = mem_calloc(wider.slot_count, sizeof *wider.slots);
    if (!wider.slots) return false;
    for (size_t i = 0; i < map->slot_count; i++)
      if (map->slots[i].used) *pair_slot(&wider, map->slots[i].a, map->slots[i].b) = map->slots[i];
    wider.length = map->length;
    mem_free(map->slots);
    *map = wider;
  }
  struct PairSlot *slot = pair_slot(map, a, b);
  if (!slot->used) map->length++;
  *slot = (struct PairSlot){a, b, value, true};
  return true;
}
