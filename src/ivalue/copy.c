/* Deep copy and marking as shared: walks over everything reachable, with a work list instead of recursion. */
#include "ivalue/lock.h"

typedef struct Work {
  IValue from, to; /* from borrowed; to borrowed from its container or the root */
} Work;
typedef struct Copier {
  PtrMap copies; /* container or tensor -> its copy, which the root reaches */
  VEC(Work) pending;
} Copier;

/* A shell for containers, filled later; everything else is whole at once. */
static Status make_shell(IValue v, IValue *out) {
  switch (v.tag) {
    case TAG_TENSOR: {
      Tensor *t;
      if (!tensor_is_defined(v.tensor)) {
        *out = ivalue_retain(v);
        return OK;
      }
      TRY(tensor_clone(v.tensor, &t));
      t->flags |= v.tensor->flags & TENSOR_REQUIRES_GRAD;
      *out = ivalue_tensor(t);
      return OK;
    }
    case TAG_LIST: {
      List *l;
      TRY(list_new(v.list->element, v.list->length, &l));
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
  TRY(make_shell(v, out));
  Work work = {v, *out};
  if (remembered && !ptrmap_put(&c->copies, v.counted, out->counted)) goto out_of_memory;
  if (is_container(v) && !vec_push(&c->pending, work)) goto out_of_memory;
  return OK;
out_of_memory:
  ivalue_release(*out);
  *out = IVALUE_NONE;
  return status_out_of_memory();
}

static Status fill_list(Copier *c, const List *from, List *to) {
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

static Status fill_dict(Copier *c, const Dict *from, Dict *to) {
  for (DictEntry *e = dict_next(from, NULL); e; e = dict_next(from, e)) {
    IValue key, value;
    TRY(copy_value(c, e->key, &key));
    Status status = copy_value(c, e->value, &value);
    if (status != OK) {
      ivalue_release(key);
      return status;
    }
    TRY(dict_set(to, key, value));
  }
  return OK;
}

static Status fill(Copier *c, IValue from, IValue to) {
  switch (from.tag) {
    case TAG_LIST:
      return fill_list(c, from.list, to.list);
    case TAG_DICT:
      return fill_dict(c, from.dict, to.dict);
    case TAG_TUPLE:
      for (uint32_t i = 0; i < from.tuple->length; i++) TRY(copy_value(c, from.tuple->values[i], &to.tuple->values[i]));
      return OK;
    default:
      for (uint32_t i = 0; i < from.object->slot_count && i < to.object->slot_count; i++)
        TRY(copy_value(c, from.object->slots[i], &to.object->slots[i]));
      return OK;
  }
}

Status ivalue_deep_copy(IValue v, IValue *out) {
  Copier c = {0};
  ptrmap_init(&c.copies, NULL);
  IValue root = IVALUE_NONE;
  Status status = copy_value(&c, v, &root);
  while (status == OK && c.pending.length) {
    Work work = vec_pop(&c.pending);
    status = fill(&c, work.from, work.to);
  }
  vec_dispose(&c.pending);
  ptrmap_dispose(&c.copies);
  if (status == OK)
    *out = root;
  else
    ivalue_release(root);
  return status;
}

/* ---- sharing ---- */

typedef VEC(IValue) Values;

/* Out of memory leaves the rest unmarked only after the walk's stack failed to grow by a few bytes; the values then
 * stay private. */
static void visit(Values *pending, PtrMap *tuples, IValue v) {
  switch (v.tag) {
    case TAG_LIST:
      if (atomic_exchange_explicit(&v.list->shared, 1, memory_order_relaxed) || v.list->kind != LIST_VALUES) return;
      break;
    case TAG_DICT:
      if (atomic_exchange_explicit(&v.dict->shared, 1, memory_order_relaxed)) return;
      break;
    case TAG_OBJECT:
      if (atomic_exchange_explicit(&v.object->shared, 1, memory_order_relaxed)) return;
      break;
    case TAG_TUPLE:
      if (ptrmap_has(tuples, v.tuple) || !ptrmap_put(tuples, v.tuple, v.tuple)) return;
      break;
    default:
      return;
  }
  if (!vec_push(pending, v)) return;
}

void ivalue_mark_shared(IValue v) {
  if (!is_container(v)) return;
  Values pending = {0};
  PtrMap tuples;
  ptrmap_init(&tuples, NULL);
  visit(&pending, &tuples, v);
  while (pending.length) {
    IValue next = vec_pop(&pending);
    switch (next.tag) {
      case TAG_LIST:
        for (size_t i = 0; i < next.list->length; i++) visit(&pending, &tuples, next.list->values[i]);
        break;
      case TAG_DICT:
        for (DictEntry *e = dict_next(next.dict, NULL); e; e = dict_next(next.dict, e)) {
          visit(&pending, &tuples, e->key);
          visit(&pending, &tuples, e->value);
        }
        break;
      case TAG_TUPLE:
        for (uint32_t i = 0; i < next.tuple->length; i++) visit(&pending, &tuples, next.tuple->values[i]);
        break;
      default:
        for (uint32_t i = 0; i < next.object->slot_count; i++) visit(&pending, &tuples, next.object->slots[i]);
        break;
    }
  }
  vec_dispose(&pending);
  ptrmap_dispose(&tuples);
}
