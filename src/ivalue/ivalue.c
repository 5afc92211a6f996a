/* IValue: release, strings, numbers and dynamic types. Release is iterative and takes no memory: dead containers form a
 * list through a field that they no longer need. */
#include "ivalue/ivalue.h"

#include <assert.h>
#include <math.h>

#include "ivalue/future.h"
#include "ivalue/lock.h"
#include "ivalue/scalar.h"
#include "ivalue/snapshot.h"
#include "tensor/random.h"
#include "type/pair_map.h"

static TypeStore *store_of(const Type *type) {
  return type ? type->store : NULL;
}

/* ---- release ---- */

static void free_leaf(IValue v) {
  switch (v.tag) {
    case TAG_TENSOR:
    case TAG_GENERATOR:
    case TAG_STORAGE: /* their own release counts down itself */
      ref_init(v.counted);
      if (v.tag == TAG_TENSOR)
        tensor_release(v.tensor);
      else if (v.tag == TAG_GENERATOR)
        generator_release(v.generator);
      else
        storage_release(v.storage);
      return;
    case TAG_ENUM: {
      TypeStore *store = v.enum_value->borrows_type ? NULL : store_of(v.enum_value->type);
      mem_free(v.enum_value);
      type_store_release(store);
      return;
    }
    case TAG_FUTURE:
      future_free(v.future);
      return;
    case TAG_CAPSULE:
      v.capsule->free(v.capsule);
      return;
    case TAG_FUNCTION:
      return; /* its unit holds the last reference */
    default:
      mem_free(v.counted);
      return;
  }
}

/* Dead containers: the count of each holds its tag, its link place the next one. */
typedef struct DeadList {
  RefCount *first;
} DeadList;

static void *link_place(uint32_t tag, RefCount *container) {
  switch (tag) {
    case TAG_LIST:
      return &((List *)container)->capacity;
    case TAG_DICT:
      return &((Dict *)container)->slots;
    case TAG_TUPLE:
      return &((Tuple *)container)->values[0];
    default:
      return &((Object *)container)->slots[0];
  }
}

static void push_dead(DeadList *dead, IValue v) {
  assert(v.tag == TAG_LIST || v.tag == TAG_DICT || v.tag == TAG_TUPLE || v.tag == TAG_OBJECT);
  memcpy(link_place(v.tag, v.counted), &dead->first, sizeof dead->first);
  atomic_store_explicit(&v.counted->count, (int32_t)v.tag, memory_order_relaxed);
  dead->first = v.counted;
}

/* v has no reference left. */
static void bury(DeadList *dead, IValue v) {
  for (;;) {
    IValue child = IVALUE_NONE;
    switch (v.tag) {
      case TAG_LIST:
        push_dead(dead, v);
        return;
      case TAG_DICT:
        mem_free(v.dict->slots);
        push_dead(dead, v);
        return;
      case TAG_TUPLE: /* the first value makes place for the link */
        if (v.tuple->length) {
          child = v.tuple->values[0];
          push_dead(dead, v);
          break;
        }
        type_store_release(store_of(v.tuple->type));
        mem_free(v.tuple);
        return;
      case TAG_OBJECT:
        if (v.object->slot_count) {
          child = v.object->slots[0];
          push_dead(dead, v);
          break;
        }
        if (!v.object->borrows_type) type_store_release(v.object->class_type->type.store);
        mem_free(v.object);
        return;
      default:
        free_leaf(v);
        return;
    }
    if (!ivalue_is_counted(child) || !ref_release(child.counted)) return;
    v = child;
  }
}

static void drop(DeadList *dead, IValue v) {
  if (ivalue_is_counted(v) && ref_release(v.counted)) bury(dead, v);
}

static void drop_snapshots(DeadList *dead, Snapshot *snapshot) {
  for (Snapshot *next; snapshot; snapshot = next) {
    next = snapshot->next;
    if (!ref_release(&snapshot->refs)) continue;
    for (uint32_t i = 0; i < snapshot->count; i++) drop(dead, snapshot->values[i]);
    mem_free(snapshot);
  }
}

static void free_container(DeadList *dead, uint32_t tag, RefCount *container) {
  TypeStore *stores[2] = {NULL, NULL};
  switch (tag) {
    case TAG_LIST: {
      List *l = (List *)container;
      stores[0] = l->borrows_type ? NULL : store_of(l->element);
      for (size_t i = 0; l->kind == LIST_VALUES && i < l->length; i++) drop(dead, l->values[i]);
      mem_free(l->items);
      break;
    }
    case TAG_DICT: {
      Dict *d = (Dict *)container;
      stores[0] = store_of(d->key_type);
      stores[1] = store_of(d->value_type);
      for (uint32_t i = 0; i < d->used; i++) {
        if (!d->entries[i].live) continue;
        drop(dead, d->entries[i].key);
        drop(dead, d->entries[i].value);
      }
      mem_free(d->entries);
      break;
    }
    case TAG_TUPLE: {
      Tuple *t = (Tuple *)container;
      stores[0] = store_of(t->type);
      for (uint32_t i = 1; i < t->length; i++) drop(dead, t->values[i]);
      break;
    }
    default: {
      Object *o = (Object *)container;
      stores[0] = o->borrows_type ? NULL : o->class_type->type.store;
      for (uint32_t i = 1; i < o->slot_count; i++) drop(dead, o->slots[i]);
      drop_snapshots(dead, o->snapshots);
      break;
    }
  }
  mem_free(container);
  type_store_release(stores[0]);
  type_store_release(stores[1]);
}

void ivalue_free_counted(IValue v) {
  assert(ivalue_is_counted(v));
  DeadList dead = {NULL};
  bury(&dead, v);
  while (dead.first) {
    RefCount *container = dead.first;
    uint32_t tag = (uint32_t)atomic_load_explicit(&container->count, memory_order_relaxed);
    memcpy(&dead.first, link_place(tag, container), sizeof dead.first);
    free_container(&dead, tag, container);
  }
}

/* ---- making ---- */

Status ivalue_from_complex(complex128 value, IValue *out) {
  ComplexBox *box = mem_alloc(sizeof *box);
  if (!box) return status_out_of_memory();
  ref_init(&box->refs);
  box->value = value;
  *out = (IValue){.tag = TAG_COMPLEX, .complex = box};
  return OK;
}

Status string_new_uninitialized(size_t length, String **out) {
  size_t bytes;
  if (!size_add(sizeof(String) + 1, length, &bytes)) return status_out_of_memory();
  String *s = mem_alloc(bytes);
  if (!s) return status_out_of_memory();
  ref_init(&s->refs);
  atomic_init(&s->hash, 0);
  s->length = length;
  s->data[length] = 0;
  *out = s;
  return OK;
}

Status string_new(Str text, String **out) {
  TRY(string_new_uninitialized(text.length, out));
  if (text.length) memcpy((*out)->data, text.data, text.length);
  return OK;
}

Status ivalue_from_str(Str text, IValue *out) {
  String *s;
  TRY(string_new(text, &s));
  *out = ivalue_string(s);
  return OK;
}

Status tuple_new(uint32_t length, const Type *named_or_null, Tuple **out) {
  size_t bytes;
  if (!size_mul(length, sizeof(IValue), &bytes) || !size_add(bytes, sizeof(Tuple), &bytes))
    return status_out_of_memory();
  Tuple *t = mem_calloc(1, bytes);
  if (!t) return status_out_of_memory();
  ref_init(&t->refs);
  t->length = length;
  t->type = named_or_null;
  type_store_retain(store_of(named_or_null));
  *out = t;
  return OK;
}

Status object_new(ClassType *class_type, Object **out) {
  size_t count = class_type->attributes.length;
  Object *o = mem_calloc(1, sizeof *o + count * sizeof(IValue));
  if (!o) return status_out_of_memory();
  ref_init(&o->refs);
  o->slot_count = (uint32_t)count;
  o->class_type = class_type;
  type_store_retain(class_type->type.store);
  *out = o;
  return OK;
}

void object_borrow_type(Object *object) {
  if (object->borrows_type) return;
  object->borrows_type = true;
  type_store_release(object->class_type->type.store);
}

IValue object_get(const Object *o, uint32_t slot) {
  assert(slot < o->slot_count);
  bool entered = object_is_shared(o);
  if (entered) container_lock(o);
  IValue value = ivalue_retain(o->slots[slot]);
  CONTAINER_LEAVE(entered, o);
  return value;
}

bool object_exchange(Object *o, uint32_t slot, IValue value, IValue *out_old) {
  assert(slot < o->slot_count);
  bool entered = object_is_shared(o);
  if (entered) {
    ivalue_mark_shared(value);
    container_lock(o);
  }
  *out_old = o->slots[slot];
  o->slots[slot] = value;
  if (entered) attribute_written(&o->class_type->attributes.data[slot]);
  CONTAINER_LEAVE(entered, o);
  return entered;
}
void object_set(Object *o, uint32_t slot, IValue value) {
  IValue old;
  object_exchange(o, slot, value, &old);
  ivalue_release(old);
}

Status ivalue_hold(IValue v, IValue *out) {
  *out = v;
  if (v.tag == TAG_LIST) return list_hold(v.list, &out->list);
  if (v.tag == TAG_DICT) return dict_hold(v.dict, &out->dict);
  ivalue_retain(v);
  return OK;
}

Status enum_value_new(const Type *type, uint32_t index, EnumValue **out) {
  if (type->kind != TYPE_ENUM || index >= type->enum_type->count)
    return status_new(ERROR_INVALID_ARGUMENT, "an enum value needs an enum type and the index of a member");
  EnumValue *e = mem_alloc(sizeof *e);
  if (!e) return status_out_of_memory();
  ref_init(&e->refs);
  e->type = type;
  e->index = index;
  e->borrows_type = false;
  type_store_retain(type->store);
  *out = e;
  return OK;
}
void enum_value_borrow_type(EnumValue *value) {
  if (value->borrows_type) return;
  value->borrows_type = true;
  type_store_release(value->type->store);
}

/* ---- numbers ---- */

bool ivalue_is_number(IValue v) {
  return v.tag == TAG_INT || v.tag == TAG_FLOAT || v.tag == TAG_BOOL || v.tag == TAG_COMPLEX;
}

double ivalue_to_double(IValue v) {
  switch (v.tag) {
    case TAG_INT:
      return (double)v.i;
    case TAG_FLOAT:
      return v.f;
    case TAG_BOOL:
      return v.b;
    case TAG_COMPLEX:
      return __real__ v.complex->value;
    default:
      return 0;
  }
}

/* Out of range and NaN give the smallest integer, as x86's conversion does. */
int64_t ivalue_to_int(IValue v) {
  switch (v.tag) {
    case TAG_INT:
      return v.i;
    case TAG_BOOL:
      return v.b;
    case TAG_FLOAT:
    case TAG_COMPLEX:
      return int_from_double(ivalue_to_double(v));
    default:
      return 0;
  }
}

complex128 ivalue_to_complex(IValue v) {
  return v.tag == TAG_COMPLEX ? v.complex->value : (complex128)ivalue_to_double(v);
}

/* ---- dynamic types ---- */

typedef struct TypeWalk {
  TypeStore *store;
  PtrMap known; /* Tuple -> Type */
} TypeWalk;

static const Type *type_of(TypeWalk *walk, IValue v, int depth);

static const Type *type_of_tuple(TypeWalk *walk, Tuple *t, int depth) {
  if (t->type) return t->type;
  const Type *known = ptrmap_get(&walk->known, t);
  if (known) return known;
  if (depth >= TYPE_MAX_DEPTH / 2) return TYPE(ANY);
  const Type *small[8];
  const Type **elements = t->length <= 8 ? small : mem_calloc(t->length, sizeof *elements);
  if (!elements) return TYPE(ANY_TUPLE);
  for (uint32_t i = 0; i < t->length; i++) elements[i] = type_of(walk, t->values[i], depth + 1);
  const Type *result = type_tuple(walk->store, t->length, elements);
  if (elements != small) mem_free(elements);
  if (depth) ptrmap_put(&walk->known, t, (void *)(uintptr_t)result);
  return result;
}

static const Type *type_of(TypeWalk *walk, IValue v, int depth) {
  switch ((Tag)v.tag) {
    case TAG_NONE:
      return TYPE(NONE);
    case TAG_INT:
      return TYPE(INT);
    case TAG_FLOAT:
      return TYPE(FLOAT);
    case TAG_BOOL:
      return TYPE(BOOL);
    case TAG_DEVICE:
      return TYPE(DEVICE);
    case TAG_TENSOR:
      return TYPE(TENSOR);
    case TAG_COMPLEX:
      return TYPE(COMPLEX);
    case TAG_STRING:
      return TYPE(STRING);
    case TAG_LIST:
      return type_list(walk->store, v.list->element);
    case TAG_DICT:
      return type_dict(walk->store, v.dict->key_type, v.dict->value_type);
    case TAG_TUPLE:
      return type_of_tuple(walk, v.tuple, depth);
    case TAG_OBJECT:
      return &v.object->class_type->type;
    case TAG_ENUM:
      return v.enum_value->type;
    case TAG_FUNCTION:
      return type_function(walk->store, v.function);
    case TAG_FUTURE:
      return type_future(walk->store, future_element_type(v.future));
    case TAG_GENERATOR:
      return TYPE(GENERATOR);
    case TAG_STORAGE:
      return TYPE(STORAGE);
    case TAG_CAPSULE:
      return TYPE(CAPSULE);
  }
  return TYPE(ANY);
}

const Type *ivalue_type(IValue v, TypeStore *store) {
  TypeWalk walk = {.store = store};
  ptrmap_init(&walk.known, NULL);
  const Type *type = type_of(&walk, v, 0);
  ptrmap_dispose(&walk.known);
  return type;
}

static bool is_instance(PairMap *known, IValue v, const Type *type);

static bool tuple_is_instance(PairMap *known, const Tuple *t, const Type *type) {
  if (t->length != type->count) return false;
  if (type->field_names && (!t->type || !type_is_subtype(t->type, type, NULL))) return false;
  void **decided = type->depth > 2 ? pair_map_find(known, t, type) : NULL;
  if (decided) return *decided != NULL;
  bool result = true;
  for (uint32_t i = 0; i < t->length && result; i++) result = is_instance(known, t->values[i], type->elements[i]);
  if (type->depth > 2) pair_map_put(known, t, type, result ? known : NULL);
  return result;
}

static bool is_instance(PairMap *known, IValue v, const Type *type) {
  switch ((TypeKind)type->kind) {
    case TYPE_ANY:
    case TYPE_VAR:
      return true;
    case TYPE_TENSOR:
      return v.tag == TAG_TENSOR;
    case TYPE_INT:
      return v.tag == TAG_INT;
    case TYPE_FLOAT:
      return v.tag == TAG_FLOAT;
    case TYPE_COMPLEX:
      return v.tag == TAG_COMPLEX;
    case TYPE_BOOL:
      return v.tag == TAG_BOOL;
    case TYPE_STRING:
      return v.tag == TAG_STRING;
    case TYPE_NONE:
      return v.tag == TAG_NONE;
    case TYPE_NUMBER:
      return v.tag == TAG_INT || v.tag == TAG_FLOAT || v.tag == TAG_COMPLEX;
    case TYPE_DEVICE:
      return v.tag == TAG_DEVICE;
    case TYPE_GENERATOR:
      return v.tag == TAG_GENERATOR;
    case TYPE_STORAGE:
      return v.tag == TAG_STORAGE;
    case TYPE_STREAM:
    case TYPE_QSCHEME:
      return v.tag == TAG_INT;
    case TYPE_CAPSULE:
      return v.tag == TAG_CAPSULE;
    case TYPE_LIST:
      return v.tag == TAG_LIST && type_equal(v.list->element, type->elements[0]);
    case TYPE_DICT:
      return v.tag == TAG_DICT && type_equal(v.dict->key_type, type->elements[0]) &&
             type_equal(v.dict->value_type, type->elements[1]);
    case TYPE_TUPLE:
      return v.tag == TAG_TUPLE && tuple_is_instance(known, v.tuple, type);
    case TYPE_OPTIONAL:
      return v.tag == TAG_NONE || is_instance(known, v, type->elements[0]);
    case TYPE_UNION:
      for (uint32_t i = 0; i < type->count; i++)
        if (is_instance(known, v, type->elements[i])) return true;
      return false;
    case TYPE_FUTURE:
    case TYPE_RREF:
    case TYPE_AWAIT:
      return v.tag == TAG_FUTURE && type_is_subtype(future_element_type(v.future), type->elements[0], NULL);
    case TYPE_CLASS:
      return v.tag == TAG_OBJECT && &v.object->class_type->type == type;
    case TYPE_INTERFACE:
      return v.tag == TAG_OBJECT && type_is_subtype(&v.object->class_type->type, type, NULL);
    case TYPE_ENUM:
      return v.tag == TAG_ENUM && v.enum_value->type == type;
    case TYPE_FUNCTION:
      return v.tag == TAG_FUNCTION;
    case TYPE_ANY_LIST:
      return v.tag == TAG_LIST;
    case TYPE_ANY_TUPLE:
      return v.tag == TAG_TUPLE;
    case TYPE_ANY_CLASS:
      return v.tag == TAG_OBJECT;
    case TYPE_ANY_ENUM:
      return v.tag == TAG_ENUM;
    case TYPE_ERROR:
      return false;
  }
  return false;
}

bool ivalue_is_instance(IValue v, const Type *type) {
  PairMap known = {0};
  bool result = is_instance(&known, v, type);
  pair_map_dispose(&known);
  return result;
}
