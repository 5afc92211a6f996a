/* List: growing arrays of values, ints, floats or bools. Every entry point locks when the list is shared; values that
 * fall out are released after the lock. */
#include "ivalue/lock.h"

#include <assert.h>

static size_t item_bytes(const List *l) {
  static const uint8_t bytes[] = {[LIST_VALUES] = sizeof(IValue), [LIST_INTS] = 8, [LIST_FLOATS] = 8, [LIST_BOOLS] = 1};
  return bytes[l->kind];
}

static ListKind kind_for(const Type *element) {
  switch (element->kind) {
    case TYPE_INT:
      return LIST_INTS;
    case TYPE_FLOAT:
      return LIST_FLOATS;
    case TYPE_BOOL:
      return LIST_BOOLS;
    default:
      return LIST_VALUES;
  }
}

/* Room for `capacity` items; under the lock. */
static Status grow_to(List *l, size_t capacity) {
  assert(l->length <= l->capacity);
  if (capacity <= l->capacity) return OK;
  size_t doubled = l->capacity * 2 < 8 ? 8 : l->capacity * 2;
  size_t wanted = capacity > doubled ? capacity : doubled, bytes;
  if (l->capacity == 0) wanted = capacity < 4 ? 4 : capacity;
  if (!size_mul(wanted, item_bytes(l), &bytes)) return status_out_of_memory();
  void *items = mem_realloc(l->items, bytes);
  if (!items) return status_out_of_memory();
  l->items = items;
  l->capacity = wanted;
  return OK;
}

Status list_new(const Type *element, size_t capacity, List **out) {
  List *l = mem_calloc(1, sizeof *l);
  if (!l) return status_out_of_memory();
  ref_init(&l->refs);
  l->element = element;
  l->kind = (uint8_t)kind_for(element);
  Status status = capacity ? grow_to(l, capacity) : OK;
  if (status != OK) {
    mem_free(l);
    return status;
  }
  type_store_retain(element->store);
  *out = l;
  return OK;
}
void list_borrow_type(List *list) {
  if (list->borrows_type) return;
  list->borrows_type = true;
  type_store_release(list->element->store);
}

static Status list_from_items(TypeKind element, const void *items, size_t count, List **out) {
  TRY(list_new(type_simple(element), count, out));
  if (count) memcpy((*out)->items, items, count * item_bytes(*out));
  (*out)->length = count;
  return OK;
}

Status list_from_ints(const int64_t *values, size_t count, List **out) {
  return list_from_items(TYPE_INT, values, count, out);
}
Status list_from_doubles(const double *values, size_t count, List **out) {
  return list_from_items(TYPE_FLOAT, values, count, out);
}

/* ---- under the lock: no checks ---- */

static IValue peek(const List *l, size_t index) {
  assert(index < l->capacity);
  switch (l->kind) {
    case LIST_INTS:
      return ivalue_int(l->ints[index]);
    case LIST_FLOATS:
      return ivalue_float(l->floats[index]);
    case LIST_BOOLS:
      return ivalue_bool(l->bools[index]);
    default:
      return l->values[index];
  }
}

/* Unboxed kinds take the number and leave nothing to release. */
static void put(List *l, size_t index, IValue value) {
  assert(index < l->capacity);
  switch (l->kind) {
    case LIST_INTS:
      l->ints[index] = ivalue_to_int(value);
      return;
    case LIST_FLOATS:
      l->floats[index] = ivalue_to_double(value);
      return;
    case LIST_BOOLS:
      l->bools[index] = value.tag == TAG_BOOL ? value.b : ivalue_to_double(value) != 0;
      return;
    default:
      l->values[index] = value;
      return;
  }
}

static void move_items(List *l, size_t to, size_t from, size_t count) {
  assert(to + count <= l->capacity && from + count <= l->capacity);
  size_t bytes = item_bytes(l);
  if (count) memmove((char *)l->items + to * bytes, (char *)l->items + from * bytes, count * bytes);
}

/* ---- entry points ---- */

IValue list_get(const List *l, size_t index) {
  bool entered = LIST_ENTER(l);
  IValue value = index < l->length ? ivalue_retain(peek(l, index)) : ivalue_int(0); /* another thread may have cut it */
  CONTAINER_LEAVE(entered, l);
  return value;
}

bool list_find(const List *l, size_t index, IValue *out) {
  bool entered = LIST_ENTER(l);
  bool found = index < l->length;
  if (found) *out = ivalue_retain(peek(l, index));
  CONTAINER_LEAVE(entered, l);
  return found;
}

void list_set(List *l, size_t index, IValue value) {
  bool entered = LIST_ENTER(l);
  if (entered && ivalue_is_counted(value)) {
    container_unlock(l);
    ivalue_mark_shared(value);
    container_lock(l);
  }
  IValue old = value;
  if (index < l->length) {
    old = l->kind == LIST_VALUES ? l->values[index] : value;
    put(l, index, value);
  }
  CONTAINER_LEAVE(entered, l);
  ivalue_release(old);
}

Status list_append(List *l, IValue value) {
  return list_insert(l, SIZE_MAX, value);
}

Status list_insert(List *l, size_t index, IValue value) {
  bool shared = list_is_shared(l);
  if (shared) {
    ivalue_mark_shared(value);
    container_lock(l);
  }
  Status status = grow_to(l, l->length + 1);
  if (status == OK) {
    if (index > l->length) index = l->length;
    move_items(l, index + 1, index, l->length - index);
    put(l, index, value);
    l->length++;
  }
  CONTAINER_LEAVE(shared, l);
  if (status != OK || l->kind != LIST_VALUES) ivalue_release(value);
  return status;
}

IValue list_remove(List *l, size_t index) {
  bool entered = LIST_ENTER(l);
  IValue value = ivalue_int(0);
  if (index < l->length) {
    value = peek(l, index);
    move_items(l, index, index + 1, l->length - index - 1);
    l->length--;
  }
  CONTAINER_LEAVE(entered, l);
  return value;
}

void list_truncate(List *l, size_t length) {
  for (;;) { /* one at a time: released outside the lock */
    bool entered = LIST_ENTER(l);
    IValue last = IVALUE_NONE;
    bool more = l->length > length;
    if (more && l->kind == LIST_VALUES)
      last = l->values[--l->length];
    else if (more)
      l->length = length;
    CONTAINER_LEAVE(entered, l);
    if (!more) return;
    ivalue_release(last);
  }
}

Status list_reserve(List *l, size_t capacity) {
  bool entered = LIST_ENTER(l);
  Status status = grow_to(l, capacity);
  CONTAINER_LEAVE(entered, l);
  return status;
}

Status list_slice(const List *l, size_t start, size_t step, size_t count, List **out) {
  assert(step > 0);
  List *copy;
  TRY(list_new(l->element, count, &copy));
  bool entered = LIST_ENTER(l);
  if (start > l->length)
    count = 0;
  else if (count && count > (l->length - start + step - 1) / step)
    count = (l->length - start + step - 1) / step;
  for (size_t i = 0; i < count; i++) {
    size_t from = start + i * step;
    if (l->kind == LIST_VALUES)
      copy->values[i] = ivalue_retain(l->values[from]);
    else
      put(copy, i, peek(l, from));
  }
  copy->length = count;
  CONTAINER_LEAVE(entered, l);
  *out = copy;
  return OK;
}

Status list_copy(const List *l, List **out) {
  return list_slice(l, 0, 1, list_length(l), out);
}

Status list_hold(const List *l, List **out) {
  if (list_may_change(l)) return list_copy(l, out);
  *out = (List *)(uintptr_t)l;
  ref_retain(&(*out)->refs);
  return OK;
}

void list_swap_items(List *l, List *with) {
  assert(l->kind == with->kind && !list_is_shared(with));
  bool entered = LIST_ENTER(l);
  void *items = l->items;
  size_t length = l->length, capacity = l->capacity;
  l->items = with->items, l->length = with->length, l->capacity = with->capacity;
  with->items = items, with->length = length, with->capacity = capacity;
  CONTAINER_LEAVE(entered, l);
}

Status list_index(const List *l, int64_t index, size_t *out) {
  int64_t length = (int64_t)list_length(l);
  int64_t position = index < 0 ? index + length : index;
  if (position < 0 || position >= length) return status_exception("IndexError", "list index out of range");
  *out = (size_t)position;
  return OK;
}
