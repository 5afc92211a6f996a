/* Native classes by name, and their objects. */
#include "call/native_class.h"

#include <assert.h>

#include "base/heap.h"
#include "call/built_in.h"
#include "call/operator_library.h"
#include "schema/type_parse.h"
#include "type/class_type.h" /* what an object's is called */

#define NATIVE_PREFIX "__torch__.torch.classes."

typedef struct LibraryClass {
  const NativeClass *native;
  struct LibraryClass *next;
} LibraryClass;
static _Atomic(LibraryClass *) library_classes;

static const NativeClass *find(Str name) {
  for (const NativeClass *const *native = built_in()->native_classes; native && *native; native++)
    if (str_is(name, (*native)->name)) return *native;
  for (const LibraryClass *c = library_classes; c; c = c->next)
    if (str_is(name, c->native->name)) return c->native;
  return NULL;
}

Status native_class_register(const NativeClass *native) {
  HEAP_SCOPE(NULL);
  LibraryClass *added = mem_calloc(1, sizeof *added);
  if (!added) return status_out_of_memory();
  added->native = native;
  added->next = library_classes;
  while (!atomic_compare_exchange_weak(&library_classes, &added->next, added)) {
  }
  return OK;
}

const NativeClass *native_class_find(Str qualified_name) {
  if (!str_starts_with(qualified_name, NATIVE_PREFIX)) return NULL;
  Str name = str_slice(qualified_name, strlen(NATIVE_PREFIX), qualified_name.length);
  const NativeClass *native = find(name);
  ptrdiff_t dot = str_find_char(name, '.');
  if (!native && dot > 0 && operator_library_open_for(str_slice(name, 0, (size_t)dot))) native = find(name);
  return native;
}

const Type *native_class_type(const NativeClass *native) {
  StrBuf name = {0};
  strbuf_puts(&name, NATIVE_PREFIX);
  strbuf_puts(&name, native->name);
  const Type *type = TYPE(ERROR);
  if (!name.failed) status_free(type_native_class(strbuf_view(&name), &type));
  strbuf_dispose(&name);
  return type;
}

static void release_value(NativeValue *value) {
  if (ref_release(&value->base.refs)) value->base.free(&value->base);
}

/* Those that it replaced are not freed one within the other, for there may be many. */
static void free_with_replaced(Capsule *capsule) {
  NativeValue *value = (NativeValue *)capsule;
  while (value) {
    NativeValue *replaced = value->replaced;
    value->dispose(&value->base);
    value = replaced && ref_release(&replaced->base.refs) ? replaced : NULL;
  }
}

Status native_object_set(IValue object, NativeValue *value) {
  IValue held = {.tag = TAG_CAPSULE, .capsule = &value->base};
  const NativeClass *native = value->native;
  if (object.tag != TAG_OBJECT || object.object->slot_count != 1 ||
      native_class_find(object.object->class_type->type.name) != native) {
    release_value(value);
    return status_new(ERROR_RUNTIME, "expected an object of the class %s", native->name);
  }
  assert(!value->replaced); /* one that another object holds was new there */
  if (!value->dispose) value->dispose = value->base.free;
  value->base.free = free_with_replaced;
  IValue old;
  if (object_exchange(object.object, 0, held, &old) && old.tag == TAG_CAPSULE)
    value->replaced = (NativeValue *)old.capsule;
  else
    ivalue_release(old);
  return OK;
}

Status native_object_new(NativeValue *value, IValue *out) {
  const Type *type = native_class_type(value->native);
  Object *object = NULL;
  Status status = type->kind == TYPE_CLASS ? object_new(type->class_type, &object) : status_out_of_memory();
  if (status) {
    release_value(value);
    return status;
  }
  *out = ivalue_object(object);
  status = native_object_set(*out, value);
  if (status) ivalue_release(*out);
  return status;
}

Status native_object_get(IValue object, const NativeClass *native, NativeValue **out) {
  if (object.tag == TAG_OBJECT && object.object->slot_count == 1) {
    IValue held = object_get(object.object, 0);
    NativeValue *value = held.tag == TAG_CAPSULE ? (NativeValue *)held.capsule : NULL;
    ivalue_release(held); /* the object keeps it */
    if (value && value->native == native && native_class_find(object.object->class_type->type.name) == native) {
      *out = value;
      return OK;
    }
  }
  return status_new(ERROR_RUNTIME, "expected an object of the class %s that was given its state", native->name);
}
