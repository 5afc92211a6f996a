/* Classes from outside, whose objects hold a value of C. */
#include "api/handles.h"
#include "call/native_class.h"
#include "call/operator.h"
#include "wick/library.h"

#define CLASSES "__torch__.torch.classes."

typedef struct ForeignValue {
  NativeValue base;
  void *data;
  void (*drop)(void *data);
} ForeignValue;

static void value_free(Capsule *capsule) {
  ForeignValue *value = (ForeignValue *)capsule;
  if (value->drop) value->drop(value->data);
  mem_free(value);
}

static const NativeClass *find_class(const char *name) {
  StrBuf qualified = {0};
  strbuf_puts(&qualified, CLASSES);
  strbuf_puts(&qualified, name);
  const NativeClass *native = qualified.failed ? NULL : native_class_find(strbuf_view(&qualified));
  strbuf_dispose(&qualified);
  return native;
}

/* Takes data over, also on failure. */
static Status make_value(const char *name, void *data, void (*drop)(void *data), NativeValue **out) {
  const NativeClass *native = find_class(name);
  ForeignValue *value = native ? mem_calloc(1, sizeof *value) : NULL;
  if (!value) {
    if (drop) drop(data);
    return native ? status_out_of_memory() : status_new(ERROR_NOT_FOUND, "there is no native class %s", name);
  }
  ref_init(&value->base.base.refs);
  value->base.base.free = value_free;
  value->base.native = native;
  value->data = data;
  value->drop = drop;
  *out = &value->base;
  return OK;
}

wick_status wick_native_set(wick_value *object, const char *name, void *data, void (*drop)(void *data),
                            wick_error **error) {
  if (!object || !name) {
    if (drop) drop(data);
    API_NEED(object);
    API_NEED(name);
  }
  NativeValue *value;
  API_TRY(make_value(name, data, drop, &value));
  return api_status(native_object_set(object->value, value), error);
}

wick_status wick_native_new(const char *name, void *data, void (*drop)(void *data), wick_value **out,
                            wick_error **error) {
  if (!name || !out) {
    if (drop) drop(data);
    API_OUT(out);
    API_NEED(name);
  }
  NativeValue *value;
  IValue object;
  *out = NULL;
  API_TRY(make_value(name, data, drop, &value));
  API_TRY(native_object_new(value, &object));
  return api_status(value_box(object, out), error);
}

wick_status wick_native_data(const wick_value *object, const char *name, void **out_data, wick_error **error) {
  API_OUT(out_data);
  API_NEED(object);
  API_NEED(name);
  NativeValue *value;
  const NativeClass *native = find_class(name);
  if (!native) return api_status(status_new(ERROR_NOT_FOUND, "there is no native class %s", name), error);
  API_TRY(native_object_get(object->value, native, &value));
  if (value->dispose != value_free)
    return api_status(status_new(ERROR_INVALID_ARGUMENT, "%s is a class of wick's own", name), error);
  *out_data = ((ForeignValue *)value)->data;
  return api_status(OK, error);
}

/* ---- registration ---- */

static bool is_class_name(Str name) {
  ptrdiff_t dot = str_find_char(name, '.');
  for (size_t i = 0; i < name.length; i++) {
    char c = name.data[i];
    bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || (c >= '0' && c <= '9');
    if (!letter && (ptrdiff_t)i != dot) return false;
  }
  return dot > 0 && (size_t)dot + 1 < name.length;
}

/* A method's first parameter is the object. */
static Status check_method(const NativeClass *native, const wick_class_method *method) {
  if (!method->name || !method->operator_name)
    return status_new(ERROR_INVALID_ARGUMENT, "%s: a method without a name or an operator", native->name);
  TRY(operators_prepare());
  const Operator *op = operator_find(str_from(method->operator_name));
  if (!op) return status_new(ERROR_NOT_FOUND, "%s: there is no operator %s", native->name, method->operator_name);
  const FunctionSchema *schema = operator_schema(op);
  TRY(operator_schema_status(schema));
  const Type *type = native_class_type(native);
  if (type->kind != TYPE_CLASS) return status_out_of_memory();
  if (op->next || schema->argument_count == 0 || schema->arguments[0].type != type)
    return status_new(ERROR_INVALID_ARGUMENT, "%s: %s is no operator whose first parameter is the object", native->name,
                      method->operator_name);
  return OK;
}

static char *keep(Arena *arena, const char *text) {
  return arena_strndup(arena, text, strlen(text));
}

typedef struct NewClass {
  Arena arena; /* lives as long as the process */
  const wick_class *given;
  NativeClass native;
} NewClass;

static void copy_class(void *argument) {
  NewClass *new = argument;
  size_t count = new->given->method_count;
  NativeMethod *methods = ARENA_ARRAY(&new->arena, NativeMethod, count + 1);
  new->native.name = keep(&new->arena, new->given->name);
  new->native.methods = methods;
  new->native.method_count = count;
  for (size_t i = 0; i < count; i++) {
    const wick_class_method *method = &new->given->methods[i];
    Status status = check_method(&new->native, method);
    if (status) catch_throw(new->arena.catch_point, status);
    methods[i] = (NativeMethod){keep(&new->arena, method->name), keep(&new->arena, method->operator_name)};
  }
}

static Status add_class(const wick_class *given) {
  if (!is_class_name(str_from(given->name)))
    return status_new(ERROR_INVALID_ARGUMENT, "'%s' is no name of a class like mine.Table", given->name);
  if (find_class(given->name)) return status_new(ERROR_INVALID_ARGUMENT, "there is a class %s already", given->name);
  NewClass *new = mem_calloc(1, sizeof *new);
  if (!new) return status_out_of_memory();
  new->given = given;
  arena_init(&new->arena, NULL);
  Status status = arena_protect(&new->arena, copy_class, new);
  if (status) {
    arena_dispose(&new->arena);
    mem_free(new);
    return status;
  }
  TRY(native_methods_add(&new->native)); /* from here on graphs may refer to it */
  return native_class_register(&new->native);
}

wick_status wick_class_register(const wick_class *of, wick_error **error) {
  API_NEED(of);
  wick_class given = {0};
  API_TRY(api_copy_options("wick_class", of, sizeof given, &given));
  API_NEED(given.name);
  if (given.method_count) API_NEED(given.methods);
  return api_status(add_class(&given), error);
}
