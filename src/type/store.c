/* TypeStore: hash-consing of types. A table has a lock of its own, so that types may be made at run time by any thread;
 * nothing is thrown while it is held. */
#include "type/store.h"

#include <assert.h>
#include <pthread.h>

#include "base/fork.h"
#include "base/heap.h"

typedef struct TypeTable {
  pthread_mutex_t lock;
  const Type **slots;
  uint32_t length, slot_count;
} TypeTable;

static TypeTable process_table = {.lock = PTHREAD_MUTEX_INITIALIZER};
static TypeStore process_store = {.table = &process_table, .is_process = true};
static pthread_once_t process_once = PTHREAD_ONCE_INIT;

static void process_init(void) {
  HEAP_SCOPE(NULL);
  arena_init(&process_store.arena, NULL);
}

TypeStore *type_store_process(void) {
  pthread_once(&process_once, process_init);
  return &process_store;
}

Status type_store_init(TypeStore *store, void (*destroy)(TypeStore *store)) {
  *store = (TypeStore){.destroy = destroy};
  ref_init(&store->refs);
  store->table = mem_calloc(1, sizeof *store->table);
  if (!store->table) return status_out_of_memory();
  arena_init(&store->arena, NULL);
  pthread_mutex_init(&store->table->lock, NULL);
  return OK;
}

void type_store_dispose(TypeStore *store) {
  assert(!store->is_process);
  if (store->table) {
    pthread_mutex_destroy(&store->table->lock);
    mem_free(store->table->slots);
    mem_free(store->table);
    store->table = NULL;
  }
  arena_dispose(&store->arena);
}

void type_store_retain(TypeStore *store) {
  if (store && !store->is_process) ref_retain(&store->refs);
}

void type_store_release(TypeStore *store) {
  if (store && !store->is_process && ref_release(&store->refs) && store->destroy) store->destroy(store);
}

Status type_store_change(TypeStore *store, void (*body)(void *argument), void *argument) {
  lock_take(&store->table->lock);
  Status status = arena_protect(&store->arena, body, argument);
  lock_drop(&store->table->lock);
  return status;
}

static uint32_t hash_bytes(uint32_t hash, const void *data, size_t bytes) {
  const unsigned char *p = data;
  for (size_t i = 0; i < bytes; i++) hash = (hash ^ p[i]) * 16777619u;
  return hash;
}

static uint32_t hash_tensor_info(uint32_t hash, const TensorInfo *info) {
  int facts[] = {info->dtype,     info->device_type, info->device_index,  info->ndim,
                 info->has_sizes, info->has_strides, info->requires_grad, info->undefined};
  hash = hash_bytes(hash, facts, sizeof facts);
  size_t ndim = info->ndim > 0 ? (size_t)info->ndim : 0;
  if (info->has_sizes) hash = hash_bytes(hash, info->sizes, ndim * sizeof *info->sizes);
  if (info->has_strides) hash = hash_bytes(hash, info->strides, ndim * sizeof *info->strides);
  return hash;
}

static void complete_key(Type *key) {
  uint32_t hash = TYPE_HASH_OF_KIND(key->kind);
  uint32_t depth = 0;
  uint64_t parts = key->count;
  key->has_var = key->kind == TYPE_VAR;
  key->has_refinement = key->kind == TYPE_TENSOR && key->tensor;
  key->may_be_mutable = key->kind == TYPE_TENSOR || key->kind == TYPE_LIST || key->kind == TYPE_DICT ||
                        key->kind == TYPE_FUTURE || key->kind == TYPE_RREF || key->kind == TYPE_AWAIT ||
                        key->kind == TYPE_VAR;
  for (uint32_t i = 0; i < key->count; i++) {
    const Type *element = key->elements[i];
    hash = TYPE_HASH_JOIN(hash, element->hash);
    if (element->depth >= depth) depth = element->depth + 1u;
    parts += element->parts;
    key->has_var |= element->has_var;
    key->has_refinement |= element->has_refinement;
    key->may_be_mutable |= element->may_be_mutable;
  }
  if (key->name.length) hash = hash_bytes(hash, key->name.data, key->name.length);
  if (key->kind == TYPE_TENSOR && key->tensor) hash = hash_tensor_info(hash, key->tensor);
  if (key->kind == TYPE_FUNCTION) hash = hash_bytes(hash, &key->function, sizeof key->function);
  key->hash = hash;
  key->depth = (uint16_t)depth;
  key->parts = parts < UINT32_MAX ? (uint32_t)parts : UINT32_MAX;
}

static const Type *table_find(const TypeTable *table, const Type *key) {
  assert(table->length < table->slot_count || !table->length);
  if (!table->length) return NULL;
  uint32_t mask = table->slot_count - 1;
  for (uint32_t i = key->hash & mask; table->slots[i]; i = (i + 1) & mask) {
    const Type *candidate = table->slots[i];
    if (candidate->hash == key->hash && candidate->kind == key->kind && type_equal_parts(candidate, key))
      return candidate;
  }
  return NULL;
}

static bool table_insert(TypeTable *table, const Type *type) {
  assert(table->length <= table->slot_count);
  if ((table->length + 1) * 3 > table->slot_count * 2) {
    uint32_t count = table->slot_count ? table->slot_count * 2 : 64;
    const Type **slots = mem_calloc(count, sizeof *slots);
    if (!slots) return false;
    for (uint32_t i = 0; i < table->slot_count; i++) {
      if (!table->slots[i]) continue;
      uint32_t j = table->slots[i]->hash & (count - 1);
      while (slots[j]) j = (j + 1) & (count - 1);
      slots[j] = table->slots[i];
    }
    mem_free(table->slots);
    table->slots = slots;
    table->slot_count = count;
  }
  uint32_t i = type->hash & (table->slot_count - 1);
  while (table->slots[i]) i = (i + 1) & (table->slot_count - 1);
  table->slots[i] = type;
  table->length++;
  return true;
}

static Str copy_str(Arena *arena, Str s) {
  return s.length ? (Str){arena_strndup(arena, s.data, s.length), s.length} : STR("");
}

typedef struct Insertion {
  TypeStore *store;
  const Type *key, *made;
} Insertion;

static void insert_copy(void *argument) {
  Insertion *insertion = argument;
  const Type *key = insertion->key;
  Arena *arena = &insertion->store->arena;
  Type *type = ARENA_NEW(arena, Type);
  assert(lock_is_held() && key->depth <= TYPE_MAX_DEPTH);
  *type = *key;
  type->store = insertion->store;
  type->name = copy_str(arena, key->name);
  if (key->count) {
    const Type **elements = ARENA_ARRAY(arena, const Type *, key->count);
    memcpy(elements, key->elements, key->count * sizeof *elements);
    type->elements = elements;
  }
  if (key->kind == TYPE_TUPLE && key->field_names) {
    Str *names = ARENA_ARRAY(arena, Str, key->count ? key->count : 1);
    for (uint32_t i = 0; i < key->count; i++) names[i] = copy_str(arena, key->field_names[i]);
    type->field_names = names;
  }
  if (key->kind == TYPE_TENSOR && key->tensor) {
    TensorInfo *info = ARENA_NEW(arena, TensorInfo);
    *info = *key->tensor;
    type->tensor = info;
  }
  if (table_insert(insertion->store->table, type)) insertion->made = type;
}

/* The process's store has nobody to throw to: its types become TYPE_ERROR, which every check accepts or reports. */
static const Type *intern_failed(TypeStore *store, Status status) {
  if (!store->is_process && store->arena.catch_point) catch_throw(store->arena.catch_point, status);
  status_free(status);
  return TYPE(ERROR);
}

const Type *type_intern(TypeStore *store, Type *key) {
  complete_key(key);
  const Type *found = type_find_static(key);
  if (found) return found;
  if (store->is_process)
    for (uint32_t i = 0; i < key->count; i++)
      if (key->elements[i]->store && !key->elements[i]->store->is_process) store = key->elements[i]->store;
  if (key->depth > TYPE_MAX_DEPTH)
    return intern_failed(store, status_new(ERROR_INVALID_ARGUMENT, "types are nested too deeply"));

  if (!store->is_process) {
    lock_take(&process_table.lock);
    found = table_find(&process_table, key);
    lock_drop(&process_table.lock);
    if (found) return found;
  }
  HEAP_SCOPE(store->is_process ? NULL : heap_current());
  Insertion insertion = {.store = store, .key = key};
  Status status = OK;
  lock_take(&store->table->lock);
  found = table_find(store->table, key);
  if (!found) status = arena_protect(&store->arena, insert_copy, &insertion);
  lock_drop(&store->table->lock);
  if (found) return found;
  if (status == OK && !insertion.made) status = status_out_of_memory();
  return status == OK ? insertion.made : intern_failed(store, status);
}
