/* Map: a seeded hash map from text to a pointer, in order of insertion. Keys are borrowed: they must outlive the map.
 * PtrMap: the same from pointer (or integer) to pointer. With an arena they throw on lack of memory; with
 * arena NULL they live on the heap and putting answers false. */
#pragma once

#include "base/str.h"

typedef struct MapEntry {
  Str key;
  void *value;
  uint64_t hash; /* a removed entry has key.data NULL */
} MapEntry;
typedef struct Map {
  Arena *arena;
  MapEntry *entries;
  uint32_t *slots; /* entry + 1; 0 is empty */
  uint32_t length, capacity, slot_count, live;
} Map;
void map_init(Map *map, Arena *arena_or_null);
void map_dispose(Map *map);
void *map_get(const Map *map, Str key); /* NULL: absent */
bool map_has(const Map *map, Str key);
bool map_put(Map *map, Str key, void *value); /* replaces; false: out of memory */
bool map_remove(Map *map, Str key);           /* false: was not there */
static inline uint32_t map_count(const Map *map) {
  return map->live;
}
/* for (MapEntry *e = map_next(m, NULL); e; e = map_next(m, e)) */
MapEntry *map_next(const Map *map, MapEntry *after);

typedef struct PtrMap {
  Arena *arena;
  struct PtrMapSlot {
    const void *key;
    void *value;
  } * slots; /* key NULL: empty */
  uint32_t length, slot_count;
} PtrMap;
void ptrmap_init(PtrMap *map, Arena *arena_or_null);
void ptrmap_dispose(PtrMap *map);
void *ptrmap_get(const PtrMap *map, const void *key); /* NULL: absent */
bool ptrmap_has(const PtrMap *map, const void *key);
bool ptrmap_put(PtrMap *map, const void *key, void *value);
