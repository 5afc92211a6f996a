/* PairMap: from a pair of pointers to a pointer, on the heap. The memo of walks over two shared structures at once. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

typedef struct PairMap {
  struct PairSlot {
    const void *a, *b;
    void *value;
    bool used;
  } * slots;
  size_t length, slot_count;
} PairMap;
void pair_map_dispose(PairMap *map);
/* The place of the value; NULL: absent. Valid until the next put. */
void **pair_map_find(const PairMap *map, const void *a, const void *b);
bool pair_map_put(PairMap *map, const void *a, const void *b, void *value); /* false: out of memory */
