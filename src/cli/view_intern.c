/* Things numbered in the order in which they first came, found again by a hash of their bytes. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "cli/view.h"

typedef struct InternedItem {
  char *bytes;
  size_t length;
  uint64_t hash;
} InternedItem;

static uint64_t hash_of(const unsigned char *bytes, size_t length) {
  uint64_t hash = 0xCBF29CE484222325u; /* FNV-1a */
  for (size_t i = 0; i < length; i++) hash = (hash ^ bytes[i]) * 0x100000001B3u;
  return hash ^ hash >> 32;
}

static bool grow_slots(Interner *interner) {
  size_t count = interner->slot_count ? 2 * interner->slot_count : 256;
  uint32_t *slots = calloc(count, sizeof *slots);
  if (!slots) return false;
  for (size_t i = 0; i < interner->count; i++) {
    size_t at = interner->items[i].hash % count;
    while (slots[at]) at = (at + 1) % count;
    slots[at] = (uint32_t)i + 1;
  }
  free(interner->slots);
  interner->slots = slots;
  interner->slot_count = count;
  return true;
}
static bool grow_items(Interner *interner) {
  size_t capacity = interner->capacity ? 2 * interner->capacity : 128;
  InternedItem *items = capacity < UINT32_MAX ? realloc(interner->items, capacity * sizeof *items) : NULL;
  if (!items) return false;
  interner->items = items;
  interner->capacity = capacity;
  return true;
}

uint32_t intern(Interner *interner, const void *bytes, size_t length) {
  if (interner->failed) return 0;
  if (2 * interner->count >= interner->slot_count && !grow_slots(interner)) return interner->failed = true, 0;
  uint64_t hash = hash_of(bytes, length);
  size_t at = hash % interner->slot_count;
  for (; interner->slots[at]; at = (at + 1) % interner->slot_count) {
    const InternedItem *item = &interner->items[interner->slots[at] - 1];
    if (item->hash == hash && item->length == length && !memcmp(item->bytes, bytes, length))
      return interner->slots[at] - 1;
  }
  InternedItem item = {malloc(length + 1), length, hash};
  if (!item.bytes || (interner->count == interner->capacity && !grow_items(interner))) {
    free(item.bytes);
    return interner->failed = true, 0;
  }
  memcpy(item.bytes, bytes, length);
  item.bytes[length] = 0;
  interner->items[interner->count++] = item;
  interner->slots[at] = (uint32_t)interner->count;
  return (uint32_t)interner->count - 1;
}

const void *interned(const Interner *interner, size_t number, size_t *out_length) {
  assert(number < interner->count);
  *out_length = interner->items[number].length;
  return interner->items[number].bytes;
}

void interner_dispose(Interner *interner) {
  for (size_t i = 0; i < interner->count; i++) free(interner->items[i].bytes);
  free(interner->items);
  free(interner->slots);
  *interner = (Interner){0};
}
