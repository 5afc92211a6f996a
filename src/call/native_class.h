/* Native classes: `__torch__.torch.classes.a.B`, whose objects hold a value of C. A class is one row: its name, and
 * for each method the operator that does it, self first. Objects are ordinary Objects of one slot that programs can't
 * name; pickling goes through the methods __getstate__ and __setstate__, as for classes of programs. */
#pragma once

#include "ivalue/ivalue.h"

typedef struct NativeMethod {
  const char *name; /* "__getstate__" */
  const char *op;   /* "classes::LinearPackedParamsBase_getstate" */
} NativeMethod;
typedef struct NativeClass {
  const char *name; /* "quantized.LinearPackedParamsBase" */
  const NativeMethod *methods;
  size_t method_count;
} NativeClass;
/* Adds a class of a library, for the rest of the process; kept by reference. Its type has its methods already. */
Status native_class_register(const NativeClass *native) MUST_CHECK;

/* What an object holds; immutable once it is set, so that objects on several threads may share it. */
typedef struct NativeValue {
  Capsule base; /* base.free disposes the whole */
  const NativeClass *native;
  void (*dispose)(Capsule *capsule); /* base.free as its maker set it; NULL: no object was given it yet */
  struct NativeValue *replaced; /* what another thread may still borrow from the same object, held as long as this */
} NativeValue;

/* Also where a library has to be opened for it (call/operator_library.h). NULL: there is none. */
const NativeClass *native_class_find(Str qualified_name);
/* Its type, of the process; "__torch__.torch.classes." NAME. TYPE_ERROR where there was no memory to make it. */
const Type *native_class_type(const NativeClass *native);
/* A new object that holds `value`; takes value over, also on failure. */
Status native_object_new(NativeValue *value, IValue *out) MUST_CHECK;
/* For __setstate__: takes value over, also on failure. An object that threads may share holds what it had as well. */
Status native_object_set(IValue object, NativeValue *value) MUST_CHECK;
/* The value of an object of the class, borrowed as long as the object; an error for others and for objects without. */
Status native_object_get(IValue object, const NativeClass *native, NativeValue **out) MUST_CHECK;
