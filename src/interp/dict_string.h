/* The short way into dicts with text keys: no call, no reference counted. Only for dicts that are not shared and keys
 * whose hash is known; everything else goes through ivalue.h. */
#pragma once

#include "ivalue/lock.h"

static inline bool same_text(const String *a, const String *b) {
  size_t n = a->length;
  if (a == b) return true;
  if (n != b->length) return false;
  if (n >= 4 && n <= 8) { /* two words that overlap */
    uint32_t x[2], y[2];
    memcpy(&x[0], a->data, 4);
    memcpy(&x[1], a->data + n - 4, 4);
    memcpy(&y[0], b->data, 4);
    memcpy(&y[1], b->data + n - 4, 4);
    return x[0] == y[0] && x[1] == y[1];
  }
  if (n < 4) {
    for (size_t i = 0; i < n; i++)
      if (a->data[i] != b->data[i]) return false;
    return true;
  }
  return memcmp(a->data, b->data, n) == 0;
}

/* Whether the short way is open. */
static inline bool dict_is_simple(const Dict *d, IValue key) {
  return key.tag == TAG_STRING && !dict_is_shared(d) && d->live &&
         atomic_load_explicit(&key.string->hash, memory_order_relaxed);
}

static inline DictEntry *dict_find_string(const Dict *d, const String *key) {
  uint64_t hash = atomic_load_explicit(&key->hash, memory_order_relaxed);
  uint32_t mask = d->slot_count - 1;
  for (uint32_t i = (uint32_t)hash & mask; d->slots[i]; i = (i + 1) & mask) {
    DictEntry *entry = &d->entries[d->slots[i] - 1];
    if (entry->hash == hash && entry->live && entry->key.tag == TAG_STRING && same_text(entry->key.string, key))
      return entry;
  }
  return NULL;
}
