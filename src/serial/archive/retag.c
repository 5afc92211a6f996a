/* ivalue_restore_type: an explicit worklist over (place of a value, type), so that neither deep values nor deep types
 * recurse; the steps are bounded because tuples that share parts would be walked once for each path. A place is a held
 * container and an index, because a list met again under another type exchanges its items. */
#include <assert.h>

#include "base/vec.h"
#include "serial/pickle/pickle.h"

enum { MAX_STEPS = 1 << 24 };

typedef struct Step {
  IValue owner; /* held; None: the root */
  size_t index;
  const Type *type;
} Step;
typedef VEC(Step) WorkList;

static bool push_work(WorkList *list, IValue owner, size_t index, const Type *type) {
  if (!vec_push(list, ((Step){owner, index, type}))) return false;
  ivalue_retain(owner);
  return true;
}
/* NULL: the container changed meanwhile. */
static IValue *place_of(const Step *step, IValue *root) {
  IValue owner = step->owner;
  switch (owner.tag) {
    case TAG_NONE:
      return root;
    case TAG_TUPLE:
      return &owner.tuple->values[step->index];
    case TAG_DICT: {
      DictEntry *entry = &owner.dict->entries[step->index / 2];
      return step->index % 2 ? &entry->value : &entry->key;
    }
    default:
      return owner.list->kind == LIST_VALUES && step->index < owner.list->length ? &owner.list->values[step->index]
                                                                                 : NULL;
  }
}

static Status misfit(IValue v, const Type *type, const char *what) {
  StrBuf expected = {.max_length = 300}, got = {.max_length = 300};
  type_print_annotation(type, &expected);
  if (v.tag == TAG_CAPSULE || v.tag == TAG_STORAGE)
    strbuf_puts(&got, "no value");
  else
    ivalue_print_type(v, &got);
  Status status = status_new(ERROR_DATA, "%s is of type " STR_FMT ", not " STR_FMT, what, STR_ARG(strbuf_view(&got)),
                             STR_ARG(strbuf_view(&expected)));
  strbuf_dispose(&expected);
  strbuf_dispose(&got);
  return status;
}

/* Changes the element type of a list of values in place, unboxing numbers. */
static Status retype_list(List *list, const Type *element, WorkList *work, const char *what) {
  if (type_equal(list->element, element)) return OK;
  List *other;
  TRY(list_new(element, list->length, &other));
  Status status = OK;
  for (size_t i = 0; i < list->length && !status; i++) {
    IValue item = list_get(list, i);
    bool fits = other->kind == LIST_VALUES || (other->kind == LIST_INTS && item.tag == TAG_INT) ||
                (other->kind == LIST_BOOLS && item.tag == TAG_BOOL) ||
                (other->kind == LIST_FLOATS && (item.tag == TAG_FLOAT || item.tag == TAG_INT));
    if (!fits) {
      status = misfit(item, element, what);
      ivalue_release(item);
    } else {
      status =
          list_append(other, other->kind == LIST_FLOATS && item.tag == TAG_INT ? ivalue_float((double)item.i) : item);
    }
  }
  if (!status) { /* exchange contents: whoever else holds the list sees its new type */
    RefCount refs = list->refs;
    List old = *list;
    *list = *other;
    *other = old;
    atomic_store_explicit(&list->refs.count, atomic_load_explicit(&refs.count, memory_order_relaxed),
                          memory_order_relaxed);
    ref_init(&other->refs);
    if (list->kind == LIST_VALUES)
      for (size_t i = 0; i < list->length && !status; i++)
        if (!push_work(work, ivalue_list(list), i, element)) status = status_out_of_memory();
  }
  ivalue_release(ivalue_list(other));
  return status;
}

static Status retype_dict(Dict *dict, const Type *type, WorkList *work) {
  if (type_equal(dict->key_type, type->elements[0]) && type_equal(dict->value_type, type->elements[1])) return OK;
  type_store_retain(type->elements[0]->store);
  type_store_retain(type->elements[1]->store);
  type_store_release(dict->key_type->store);
  type_store_release(dict->value_type->store);
  dict->key_type = type->elements[0];
  dict->value_type = type->elements[1];
  for (DictEntry *e = dict_next(dict, NULL); e; e = dict_next(dict, e)) {
    size_t index = 2 * (size_t)(e - dict->entries);
    if (!push_work(work, ivalue_dict(dict), index, dict->key_type) ||
        !push_work(work, ivalue_dict(dict), index + 1, dict->value_type))
      return status_out_of_memory();
  }
  return OK;
}

/* A tuple is immutable for others: one that is held elsewhere, or that must bear a name, is replaced by a copy. */
static Status retype_tuple(IValue *slot, const Type *type, WorkList *work, const char *what) {
  assert(slot->tag == TAG_TUPLE);
  Tuple *tuple = slot->tuple;
  if (tuple->length != type->count) return misfit(*slot, type, what);
  bool named = type->name.length != 0;
  if (!ref_is_unique(&tuple->refs) || (named && (!tuple->type || !type_equal(tuple->type, type)))) {
    Tuple *copy;
    TRY(tuple_new(tuple->length, named ? type : NULL, &copy));
    for (uint32_t i = 0; i < tuple->length; i++) copy->values[i] = ivalue_retain(tuple->values[i]);
    ivalue_release(*slot);
    *slot = ivalue_tuple(copy);
    tuple = copy;
  }
  for (uint32_t i = 0; i < tuple->length; i++)
    if (!push_work(work, ivalue_tuple(tuple), i, type->elements[i])) return status_out_of_memory();
  return OK;
}

/* The member of an Optional or Union that the value is to be read as; the type itself when it is neither. */
static const Type *chosen_member(IValue v, const Type *type) {
  if (type->kind == TYPE_OPTIONAL) return ivalue_is_none(v) ? type : type->elements[0];
  if (type->kind == TYPE_UNION)
    for (uint32_t i = 0; i < type->count; i++) {
      const Type *member = type->elements[i];
      if ((member->kind == TYPE_LIST && v.tag == TAG_LIST) || (member->kind == TYPE_DICT && v.tag == TAG_DICT) ||
          (member->kind == TYPE_TUPLE && v.tag == TAG_TUPLE && v.tuple->length == member->count))
        return member;
    }
  return type;
}

static Status restore_one(IValue *slot, const Type *type, WorkList *work, const char *what) {
  type = chosen_member(*slot, type);
  if (type->kind == TYPE_LIST && slot->tag == TAG_LIST) return retype_list(slot->list, type->elements[0], work, what);
  if (type->kind == TYPE_DICT && slot->tag == TAG_DICT) return retype_dict(slot->dict, type, work);
  if (type->kind == TYPE_TUPLE && slot->tag == TAG_TUPLE) return retype_tuple(slot, type, work, what);
  if (type->kind == TYPE_FLOAT && slot->tag == TAG_INT) {
    *slot = ivalue_float((double)slot->i);
    return OK;
  }
  if (type->kind == TYPE_TENSOR && slot->tag == TAG_NONE) {
    *slot = ivalue_tensor(tensor_undefined());
    return OK;
  }
  if (slot->tag == TAG_CAPSULE || slot->tag == TAG_STORAGE || !ivalue_is_instance(*slot, type))
    return misfit(*slot, type, what);
  return OK;
}

Status ivalue_restore_type(IValue *value, const Type *type, const char *what) {
  WorkList work = {0};
  Status status = push_work(&work, IVALUE_NONE, 0, type) ? OK : status_out_of_memory();
  for (size_t steps = 0; work.length; steps++) {
    Step next = vec_pop(&work);
    if (!status && steps > MAX_STEPS) status = status_new(ERROR_DATA, "%s is too large to be typed", what);
    IValue *place = status ? NULL : place_of(&next, value);
    if (place) status = restore_one(place, next.type, &work, what);
    ivalue_release(next.owner);
  }
  vec_dispose(&work);
  return status;
}
