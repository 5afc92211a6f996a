/* Open addressing with linear probing; Map keeps its entries in a separate array in order of insertion. */
#include "base/map.h"

#include <assert.h>

enum { FIRST_SLOTS = 8, MAX_SLOTS = 1 << 30 };

static void *map_memory(Arena *arena, size_t count, size_t bytes) {
  return arena ? arena_alloc_array(arena, count, bytes) : mem_calloc(count, bytes);
}

static void map_discard(Arena *arena, void *p) {
  if (!arena) mem_free(p);
}

static bool map_refuse(Arena *arena) {
  if (arena) catch_throw(arena->catch_point, status_out_of_memory());
  return false;
}

/* ---- text keys ---- */

void map_init(Map *map, Arena *arena_or_null) {
  *map = (Map){.arena = arena_or_null};
}

void map_dispose(Map *map) {
  map_discard(map->arena, map->entries);
  map_discard(map->arena, map->slots);
  *map = (Map){.arena = map->arena};
}

static MapEntry *map_find(const Map *map, Str key, uint64_t hash) {
  if (!map->slot_count) return NULL;
  uint32_t mask = map->slot_count - 1;
  for (uint32_t i = (uint32_t)hash & mask; map->slots[i]; i = (i + 1) & mask) {
    MapEntry *entry = &map->entries[map->slots[i] - 1];
    if (entry->key.data && entry->hash == hash && str_equal(entry->key, key)) return entry;
  }
  return NULL;
}

/* Drops removed entries and rebuilds the slots for twice the live ones. */
static bool map_rebuild(Map *map) {
  uint32_t slot_count = FIRST_SLOTS;
  while (slot_count / 2 <= map->live) {
    if (slot_count >= MAX_SLOTS) return map_refuse(map->arena);
    slot_count *= 2;
  }
  uint32_t capacity = slot_count / 4 * 3;
  uint32_t *slots = map_memory(map->arena, slot_count, sizeof *slots);
  MapEntry *entries = slots ? map_memory(map->arena, capacity, sizeof *entries) : NULL;
  if (!entries) {
    map_discard(map->arena, slots);
    return map_refuse(map->arena);
  }
  uint32_t length = 0;
  for (uint32_t i = 0; i < map->length; i++) {
    if (!map->entries[i].key.data) continue;
    entries[length] = map->entries[i];
    uint32_t slot = (uint32_t)entries[length].hash & (slot_count - 1);
    while (slots[slot]) slot = (slot + 1) & (slot_count - 1);
    slots[slot] = ++length;
  }
  map_discard(map->arena, map->entries);
  map_discard(map->arena, map->slots);
  map->entries = entries;
  map->slots = slots;
  map->length = length;
  map->capacity = capacity;
  map->slot_count = slot_count;
  return true;
}

void *map_get(const Map *map, Str key) {
  MapEntry *entry = map->live ? map_find(map, key, str_hash(key)) : NULL;
  return entry ? entry->value : NULL;
}

bool map_has(const Map *map, Str key) {
  return map->live && map_find(map, key, str_hash(key));
}

bool map_put(Map *map, Str key, void *value) {
  assert(map->live <= map->length && map->length <= map->capacity);
  if (!key.data) key.data = "";
  uint64_t hash = str_hash(key);
  MapEntry *entry = map_find(map, key, hash);
  if (entry) {
    entry->value = value;
    return true;
  }
  if (map->length == map->capacity && !map_rebuild(map)) return false;
  uint32_t mask = map->slot_count - 1, slot = (uint32_t)hash & mask;
  while (map->slots[slot]) slot = (slot + 1) & mask;
  map->entries[map->length] = (MapEntry){key, value, hash};
  map->slots[slot] = ++map->length;
  map->live++;
  return true;
}

bool map_remove(Map *map, Str key) {
  MapEntry *entry = map->live ? map_find(map, key, str_hash(key)) : NULL;
  if (!entry) return false;
  entry->key = (Str){NULL, 0};
  entry->value = NULL;
  map->live--;
  return true;
}

MapEntry *map_next(const Map *map, MapEntry *after) {
  assert(!after || (after >= map->entries && after < map->entries + map->length));
  uint32_t i = after ? (uint32_t)(after - map->entries) + 1 : 0;
  while (i < map->length && !map->entries[i].key.data) i++;
  return i < map->length ? &map->entries[i] : NULL;
}

/* ---- pointer keys ---- */

void ptrmap_init(PtrMap *map, Arena *arena_or_null) {
  *map = (PtrMap){.arena = arena_or_null};
}

void ptrmap_dispose(PtrMap *map) {
  map_discard(map->arena, map->slots);
  *map = (PtrMap){.arena = map->arena};
}

static uint32_t ptr_hash(const void *key) {
  uint64_t x = (uint64_t)(uintptr_t)key * UINT64_C(0x9e3779b97f4a7c15);
  return (uint32_t)(x >> 32) ^ (uint32_t)(x >> 15);
}

/* The slot of the key, or the empty one where it belongs. */
static struct PtrMapSlot *ptrmap_slot(const PtrMap *map, const void *key) {
  assert(map->length < map->slot_count); /* so that the walk meets an empty one */
  uint32_t mask = map->slot_count - 1, i = ptr_hash(key) & mask;
  while (map->slots[i].key && map->slots[i].key != key) i = (i + 1) & mask;
  return &map->slots[i];
}

void *ptrmap_get(const PtrMap *map, const void *key) {
  return map->length && key ? ptrmap_slot(map, key)->value : NULL;
}

bool ptrmap_has(const PtrMap *map, const void *key) {
  return map->length && key && ptrmap_slot(map, key)->key;
}

static bool ptrmap_grow(PtrMap *map) {
  if (map->slot_count >= MAX_SLOTS) return map_refuse(map->arena);
  PtrMap grown = {.arena = map->arena, .slot_count = map->slot_count ? map->slot_count * 2 : FIRST_SLOTS};
  grown.slots = map_memory(map->arena, grown.slot_count, sizeof *grown.slots);
  if (!grown.slots) return false;
  for (uint32_t i = 0; i < map->slot_count; i++)
    if (map->slots[i].key) *ptrmap_slot(&grown, map->slots[i].key) = map->slots[i];
  grown.length = map->length;
  map_discard(map->arena, map->slots);
  *map = grown;
  return true;
}

bool ptrmap_put(PtrMap *map, const void *key, void *value) {
  if (!key) return false;
  if (map->slot_count) {
    struct PtrMapSlot *slot = ptrmap_slot(map, key);
    if (slot->key) {
      slot->value = value;
      return true;
    }
  }
  if (map->length >= map->slot_count / 4 * 3 && !ptrmap_grow(map)) return false;
  *ptrmap_slot(map, key) = (struct PtrMapSlot){key, value};
  map->length++;
  return true;
}
