/* Deep copy: a walk over everything reachable, with a work list instead of recursion. */
#include <assert.h>

#include "base/map.h"
#include "base/vec.h"
#include "ivalue/lock.h"
#include "tensor/storage_share.h"

typedef struct Pending {
  IValue from, to; /* from held by the copier; to borrowed from its container or the root */
} Pending;
typedef struct Entry {
  Dict *to; /* borrowed, as above */
  IValue key, value;
} Entry;
typedef struct Copier {
  bool shares_tensors;
  PtrMap copies;                /* container or tensor -> its copy, which the root reaches */
  PtrMap storages;              /* of tensors -> their copies: what shares memory still does */
  VEC(Storage *) held_storages; /* both */
  VEC(Pending) pending;
  VEC(Entry) entries; /* of dicts: put in at last, for a key that is a shell has not its hash yet */
  VEC(IValue) held;   /* the keys of `copies`: other threads may let go of them meanwhile */
} Copier;

/* The memory is shared until one of the two is written, where it can be. */
static Status copy_memory(Storage *storage, Storage **out) {
  TRY(storage_share(storage, out));
  if (*out) return OK;
  TRY(storage_restore(storage));
  TRY(storage_new(storage->bytes, out));
  if (!storage_fetch(storage, 0, (*out)->data, storage->bytes) && storage->bytes)
    memcpy((*out)->data, storage_data(storage), storage->bytes);
  return OK;
}

static Status copy_storage(Copier *c, Storage *storage, Storage **out) {
  Storage *known = ptrmap_get(&c->storages, storage);
  if (known) return *out = known, OK;
  if (!vec_reserve(&c->held_storages, c->held_storages.length + 2)) return status_out_of_memory();
  TRY(copy_memory(storage, out));
  (void)vec_push(&c->held_storages, *out);
  (void)vec_push(&c->held_storages, storage_retain(storage));
  return ptrmap_put(&c->storages, storage, *out) ? OK : status_out_of_memory();
}

static Status copy_tensor(Copier *c, const Tensor *t, Tensor **out) {
  enum { KEPT = TENSOR_REQUIRES_GRAD | TENSOR_CONJ | TENSOR_NEG | TENSOR_LIMITED };
  if (!t->storage || (!storage_data(t->storage) && !(t->flags & TENSOR_DROPPED)) || t->extension ||
      t->flags & TENSOR_UNUSUAL & ~(uint32_t)KEPT) {
    TRY(tensor_clone(t, out));
  } else {
    Storage *storage;
    TRY(copy_storage(c, t->storage, &storage));
    TRY(tensor_from_storage(storage, (DType)t->dtype, t->ndim, t->sizes, t->strides, t->offset, out));
    (*out)->flags |= t->flags & (TENSOR_CONJ | TENSOR_NEG);
  }
  (*out)->flags |= t->flags & TENSOR_REQUIRES_GRAD;
  return OK;
}

/* A shell for containers, filled later; everything else is whole at once. */
static Status make_shell(Copier *c, IValue v, IValue *out) {
  switch (v.tag) {
    case TAG_TENSOR: {
      Tensor *t;
      if (c->shares_tensors || !tensor_is_defined(v.tensor)) {
        *out = ivalue_retain(v);
        return OK;
      }
      TRY(copy_tensor(c, v.tensor, &t));
      *out = ivalue_tensor(t);
      return OK;
    }
    case TAG_LIST: {
      List *l;
      TRY(list_new(v.list->element, list_length(v.list), &l));
      *out = ivalue_list(l);
      return OK;
    }
    case TAG_DICT: {
      Dict *d;
      TRY(dict_new(v.dict->key_type, v.dict->value_type, &d));
      *out = ivalue_dict(d);
      return OK;
    }
    case TAG_TUPLE: {
      Tuple *t;
      TRY(tuple_new(v.tuple->length, v.tuple->type, &t));
      *out = ivalue_tuple(t);
      return OK;
    }
    case TAG_OBJECT: {
      Object *o;
      TRY(object_new(v.object->class_type, &o));
      *out = ivalue_object(o);
      return OK;
    }
    default:
      *out = ivalue_retain(v);
      return OK;
  }
}

static bool is_container(IValue v) {
  return v.tag == TAG_LIST || v.tag == TAG_DICT || v.tag == TAG_TUPLE || v.tag == TAG_OBJECT;
}

/* The copy of one value, owned by the caller. */
static Status copy_value(Copier *c, IValue v, IValue *out) {
  bool remembered = is_container(v) || v.tag == TAG_TENSOR;
  void *known = remembered ? ptrmap_get(&c->copies, v.counted) : NULL;
  if (known) {
    *out = v;
    out->counted = known;
    ivalue_retain(*out);
    return OK;
  }
  TRY(make_shell(c, v, out));
  Pending one = {v, *out};
  if (remembered && !vec_push(&c->held, v)) goto out_of_memory;
  if (remembered) ivalue_retain(v);
  if (remembered && !ptrmap_put(&c->copies, v.counted, out->counted)) goto out_of_memory;
  if (is_container(v) && !vec_push(&c->pending, one)) goto out_of_memory;
  return OK;
out_of_memory:
  ivalue_release(*out);
  *out = IVALUE_NONE;
  return status_out_of_memory();
}

static Status copy_items(Copier *c, const List *from, List *to) {
  for (size_t i = 0; i < from->length; i++) {
    IValue item = list_get(from, i), copy = item;
    if (from->kind == LIST_VALUES) {
      Status status = copy_value(c, item, &copy);
      ivalue_release(item);
      TRY(status);
    }
    TRY(list_append(to, copy));
  }
  return OK;
}
static Status fill_list(Copier *c, const List *from, List *to) {
  List *items;
  TRY(list_hold(from, &items));
  Status status = copy_items(c, items, to);
  ivalue_release(ivalue_list(items));
  return status;
}

static Status copy_entries(Copier *c, const Dict *from, Dict *to) {
  for (DictEntry *e = dict_next(from, NULL); e; e = dict_next(from, e)) {
    IValue key, value;
    TRY(copy_value(c, e->key, &key));
    Status status = copy_value(c, e->value, &value);
    if (status != OK) {
      ivalue_release(key);
      return status;
    }
    Entry entry = {to, key, value};
    if (!vec_push(&c->entries, entry)) {
      ivalue_release(key), ivalue_release(value);
      return status_out_of_memory();
    }
  }
  return OK;
}
static Status fill_dict(Copier *c, const Dict *from, Dict *to) {
  Dict *entries;
  TRY(dict_hold(from, &entries));
  Status status = copy_entries(c, entries, to);
  ivalue_release(ivalue_dict(entries));
  return status;
}

static Status fill_object(Copier *c, const Object *from, Object *to) {
  for (uint32_t i = 0; i < from->slot_count && i < to->slot_count; i++) {
    IValue value = object_get(from, i);
    Status status = copy_value(c, value, &to->slots[i]);
    ivalue_release(value);
    TRY(status);
  }
  return OK;
}

static Status fill(Copier *c, IValue from, IValue to) {
  assert(from.tag == to.tag);
  switch (from.tag) {
    case TAG_LIST:
      return fill_list(c, from.list, to.list);
    case TAG_DICT:
      return fill_dict(c, from.dict, to.dict);
    case TAG_TUPLE:
      for (uint32_t i = 0; i < from.tuple->length; i++) TRY(copy_value(c, from.tuple->values[i], &to.tuple->values[i]));
      return OK;
    default:
      return fill_object(c, from.object, to.object);
  }
}

/* Takes over all entries. */
static Status put_entries(Copier *c, Status status) {
  for (size_t i = 0; i < c->entries.length; i++) {
    Entry one = c->entries.data[i];
    if (!status) {
      status = dict_set(one.to, one.key, one.value);
    } else {
      ivalue_release(one.key), ivalue_release(one.value);
    }
  }
  vec_dispose(&c->entries);
  return status;
}

static Status copy_everything(IValue v, bool shares_tensors, IValue *out) {
  Copier c = {.shares_tensors = shares_tensors};
  ptrmap_init(&c.copies, NULL);
  ptrmap_init(&c.storages, NULL);
  IValue root = IVALUE_NONE;
  Status status = copy_value(&c, v, &root);
  while (status == OK && c.pending.length) {
    Pending one = vec_pop(&c.pending);
    status = fill(&c, one.from, one.to);
  }
  status = put_entries(&c, status);
  for (size_t i = 0; i < c.held.length; i++) ivalue_release(c.held.data[i]);
  vec_dispose(&c.held);
  vec_dispose(&c.pending);
  ptrmap_dispose(&c.copies);
  for (size_t i = 0; i < c.held_storages.length; i++) storage_release(c.held_storages.data[i]);
  vec_dispose(&c.held_storages);
  ptrmap_dispose(&c.storages);
  if (status == OK)
    *out = root;
  else
    ivalue_release(root);
  return status;
}

Status ivalue_deep_copy(IValue v, IValue *out) {
  return copy_everything(v, false, out);
}
Status ivalue_copy_containers(IValue v, IValue *out) {
  return copy_everything(v, true, out);
}
