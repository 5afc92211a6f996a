/* Dict: entries in order of insertion, found through an open-addressed table of entry numbers. A removed entry stays,
 * dead, until the next rebuild. */
#include "ivalue/lock.h"

#include <assert.h>

enum { MIN_SLOTS = 8, MAX_SLOTS = 1u << 31 };

Status dict_new(const Type *key, const Type *value, Dict **out) {
  Dict *d = mem_calloc(1, sizeof *d);
  if (!d) return status_out_of_memory();
  ref_init(&d->refs);
  d->key_type = key;
  d->value_type = value;
  type_store_retain(key->store);
  type_store_retain(value->store);
  *out = d;
  return OK;
}

/* A NaN equals nothing, so nobody looks for it; with one hash for all they would stand in one row. */
static Status hash_key(IValue key, uint64_t *out) {
  static _Atomic uint64_t count;
  if (key.tag != TAG_FLOAT || key.f == key.f) return ivalue_hash(key, out);
  *out = (atomic_fetch_add_explicit(&count, 1, memory_order_relaxed) + 1) * 0x9e3779b97f4a7c15u;
  *out ^= *out >> 32;
  return OK;
}

static inline Status same_key(IValue a, IValue b, bool *out) {
  if (a.tag == TAG_STRING && b.tag == TAG_STRING)
    *out = a.string == b.string || str_equal(ivalue_str(a), ivalue_str(b));
  else if (a.tag == TAG_INT && b.tag == TAG_INT)
    *out = a.i == b.i;
  else
    return ivalue_equal(a, b, out, NULL);
  return OK;
}

/* The entry of a key, or NULL; under the lock. */
static Status find(const Dict *d, IValue key, uint64_t hash, DictEntry **out) {
  *out = NULL;
  if (!d->live) return OK;
  uint32_t mask = d->slot_count - 1;
  assert(d->live <= d->used && d->used <= d->capacity && d->used < d->slot_count);
  for (uint32_t i = (uint32_t)hash & mask; d->slots[i]; i = (i + 1) & mask) {
    DictEntry *entry = &d->entries[d->slots[i] - 1];
    bool same;
    if (!entry->live || entry->hash != hash) continue;
    TRY(same_key(entry->key, key, &same));
    if (!same) continue;
    *out = entry;
    break;
  }
  return OK;
}

static void link_entry(uint32_t *slots, uint32_t slot_count, uint64_t hash, uint32_t number) {
  assert(number > 0 && number < slot_count);
  uint32_t i = (uint32_t)hash & (slot_count - 1);
  while (slots[i]) i = (i + 1) & (slot_count - 1);
  slots[i] = number;
}

/* Makes room for one more entry: drops dead ones, doubles when the living fill more than half. */
static Status rebuild(Dict *d) {
  uint32_t slot_count = d->slot_count ? d->slot_count : MIN_SLOTS;
  while (d->live + 1 > slot_count / 3) {
    if (slot_count >= MAX_SLOTS) return status_out_of_memory();
    slot_count *= 2;
  }
  uint32_t capacity = slot_count / 3 * 2;
  uint32_t *slots = mem_calloc(slot_count, sizeof *slots);
  DictEntry *entries = mem_calloc(capacity, sizeof *entries);
  if (!slots || !entries) {
    mem_free(slots);
    mem_free(entries);
    return status_out_of_memory();
  }
  uint32_t used = 0;
  for (uint32_t i = 0; i < d->used; i++) {
    if (!d->entries[i].live) continue;
    entries[used++] = d->entries[i];
    link_entry(slots, slot_count, d->entries[i].hash, used);
  }
  mem_free(d->slots);
  mem_free(d->entries);
  d->slots = slots;
  d->entries = entries;
  d->slot_count = slot_count;
  d->capacity = capacity;
  d->used = used;
  d->first = 0;
  return OK;
}

Status dict_get(const Dict *d, IValue key, IValue *out, bool *out_found) {
  uint64_t hash;
  *out_found = false;
  TRY(hash_key(key, &hash));
  bool entered = DICT_ENTER(d);
  DictEntry *entry;
  Status status = find(d, key, hash, &entry);
  if (entry && out) *out = ivalue_retain(entry->value);
  CONTAINER_LEAVE(entered, d);
  *out_found = entry != NULL;
  return status;
}

Status dict_set(Dict *d, IValue key, IValue value) {
  uint64_t hash;
  Status status = hash_key(key, &hash);
  IValue old_key = key, old_value = value;
  if (status == OK) {
    bool shared = dict_is_shared(d);
    if (shared) {
      ivalue_mark_shared(key);
      ivalue_mark_shared(value);
      container_lock(d);
    }
    DictEntry *entry;
    status = find(d, key, hash, &entry);
    if (entry) { /* the first key stays, as in Python */
      old_value = entry->value;
      entry->value = value;
    } else if (status == OK) {
      if (d->used == d->capacity) status = rebuild(d);
      if (status == OK) {
        d->entries[d->used++] = (DictEntry){key, value, hash, true};
        d->live++;
        link_entry(d->slots, d->slot_count, hash, d->used);
        old_key = old_value = IVALUE_NONE;
      }
    }
    CONTAINER_LEAVE(shared, d);
  }
  ivalue_release(old_key);
  ivalue_release(old_value);
  return status;
}

static void kill_entry(Dict *d, DictEntry *entry, IValue *out_key, IValue *out_value) {
  assert(entry->live && d->live > 0);
  *out_key = entry->key;
  *out_value = entry->value;
  entry->key = entry->value = IVALUE_NONE;
  entry->live = false;
  d->live--;
}

Status dict_remove(Dict *d, IValue key, IValue *out_value_or_null, bool *out_found) {
  uint64_t hash;
  *out_found = false;
  TRY(hash_key(key, &hash));
  IValue old_key = IVALUE_NONE, old_value = IVALUE_NONE;
  bool entered = DICT_ENTER(d);
  DictEntry *entry;
  Status status = find(d, key, hash, &entry);
  if (entry) kill_entry(d, entry, &old_key, &old_value);
  CONTAINER_LEAVE(entered, d);
  ivalue_release(old_key);
  if (entry && out_value_or_null)
    *out_value_or_null = old_value;
  else
    ivalue_release(old_value);
  *out_found = entry != NULL;
  return status;
}

bool dict_pop_first(Dict *d, IValue *out_key, IValue *out_value) {
  bool entered = DICT_ENTER(d);
  DictEntry *first = dict_next(d, NULL);
  if (first) {
    d->first = (uint32_t)(first - d->entries) + 1; /* so that emptying a dict takes linear time */
    kill_entry(d, first, out_key, out_value);
  }
  CONTAINER_LEAVE(entered, d);
  return first != NULL;
}

void dict_clear(Dict *d) {
  bool entered = DICT_ENTER(d);
  DictEntry *entries = d->entries;
  uint32_t *slots = d->slots;
  uint32_t used = d->used;
  d->entries = NULL;
  d->slots = NULL;
  d->used = d->first = d->live = d->capacity = d->slot_count = 0;
  CONTAINER_LEAVE(entered, d);
  for (uint32_t i = 0; i < used; i++) {
    ivalue_release(entries[i].key);
    ivalue_release(entries[i].value);
  }
  mem_free(entries);
  mem_free(slots);
}

DictEntry *dict_next(const Dict *d, DictEntry *after) {
  assert(!after || (after >= d->entries && after < d->entries + d->used));
  uint32_t i = after ? (uint32_t)(after - d->entries) + 1 : d->first;
  while (i < d->used && !d->entries[i].live) i++;
  return i < d->used ? &d->entries[i] : NULL;
}

/* Under the lock. */
static DictEntry *entry_at(const Dict *d, size_t index) {
  if (index >= d->live) return NULL;
  if (d->live == d->used) return &d->entries[index];
  DictEntry *e = dict_next(d, NULL);
  while (e && index--) e = dict_next(d, e);
  return e;
}

bool dict_entry(const Dict *d, size_t index, IValue *out_key, IValue *out_value) {
  bool entered = DICT_ENTER(d);
  const DictEntry *e = entry_at(d, index);
  if (e) {
    *out_key = ivalue_retain(e->key);
    *out_value = ivalue_retain(e->value);
  }
  CONTAINER_LEAVE(entered, d);
  return e != NULL;
}

size_t dict_length(const Dict *d) {
  bool entered = DICT_ENTER(d);
  size_t length = d->live;
  CONTAINER_LEAVE(entered, d);
  return length;
}

Status dict_copy(const Dict *d, Dict **out) {
  Dict *copy;
  TRY(dict_new(d->key_type, d->value_type, &copy));
  Status status = OK;
  bool entered = DICT_ENTER(d);
  for (DictEntry *e = dict_next(d, NULL); e && status == OK; e = dict_next(d, e))
    status = dict_set(copy, ivalue_retain(e->key), ivalue_retain(e->value));
  CONTAINER_LEAVE(entered, d);
  if (status == OK)
    *out = copy;
  else
    ivalue_release(ivalue_dict(copy));
  return status;
}

Status dict_hold(const Dict *d, Dict **out) {
  if (dict_may_change(d)) return dict_copy(d, out);
  *out = (Dict *)(uintptr_t)d;
  ref_retain(&(*out)->refs);
  return OK;
}
