/* Modules made from parts, and copies of modules. */
#include "api/handles.h"
#include "serial/python/python_print.h"

enum { MOST_ATTRIBUTES = 100000 };

typedef struct Build {
  const char *name;
  const wick_attribute *attributes;
  size_t count;
  CompilationUnit *unit;
  ClassType *class_type;
  bool has_training;
} Build;

static Status check_attribute(const wick_attribute *a, size_t i) {
  TRY(api_check_size("wick_attribute", a->size));
  if (!a->name || !python_is_identifier(str_from(a->name)))
    return status_new(ERROR_INVALID_ARGUMENT, "attribute %zu: '%s' is no identifier", i, a->name ? a->name : "");
  if (!a->value) return status_new(ERROR_INVALID_ARGUMENT, "attribute '%s' has no value", a->name);
  if (a->kind > WICK_BUFFER)
    return status_new(ERROR_INVALID_ARGUMENT, "attribute '%s' is of the unknown kind %u", a->name, a->kind);
  if (a->kind != WICK_ATTRIBUTE && a->value->value.tag != TAG_TENSOR)
    return status_new(ERROR_INVALID_ARGUMENT, "attribute '%s': a parameter or buffer is a tensor", a->name);
  return OK;
}

/* Throws. */
static void make_class(Build *b) {
  Arena *arena = &b->unit->store.arena;
  Str name = str_from(arena_printf(arena, "__torch__.%s", b->name));
  b->class_type = class_type_new(&b->unit->store, name, true);
  unit_add_type(b->unit, &b->class_type->type);
  for (size_t i = 0; i < b->count; i++) {
    const wick_attribute *a = &b->attributes[i];
    if (class_type_find_attribute(b->class_type, str_from(a->name)) >= 0)
      catch_throw(arena->catch_point, status_new(ERROR_INVALID_ARGUMENT, "two attributes are called '%s'", a->name));
    if (a->value->unit) unit_use(b->unit, a->value->unit);
    Str copy = {arena_strndup(arena, a->name, strlen(a->name)), strlen(a->name)};
    class_type_add_attribute(b->class_type, copy, ivalue_type(a->value->value, &b->unit->store),
                             (AttributeKind)a->kind);
    b->has_training = b->has_training || str_is(copy, "training");
  }
  if (!b->has_training) class_type_add_attribute(b->class_type, STR("training"), TYPE(BOOL), ATTRIBUTE_PLAIN);
}

static Status make_module(Build *b, wick_runtime *runtime, wick_module **out) {
  Catch c;
  Object *object;
  Module *module;
  b->unit->store.arena.catch_point = &c;
  if (!catch_enter(&c)) {
    b->unit->store.arena.catch_point = NULL;
    return c.status;
  }
  make_class(b);
  b->unit->store.arena.catch_point = NULL;
  TRY(object_new(b->class_type, &object));
  for (size_t i = 0; i < b->count; i++) object->slots[i] = ivalue_retain(b->attributes[i].value->value);
  if (!b->has_training) object->slots[b->count] = ivalue_bool(true);
  Status status = module_new(b->unit, object, &module);
  ivalue_release(ivalue_object(object));
  return status ? status : module_handle_new(runtime, module, b->unit, out);
}

wick_status wick_module_new(wick_runtime *runtime, const char *class_name, const wick_attribute *attributes,
                            size_t count, wick_module **out, wick_error **error) {
  HEAP_SCOPE(runtime_of(runtime)->heap);
  API_OUT(out);
  API_NEED(class_name);
  if (count) API_NEED(attributes);
  if (count > MOST_ATTRIBUTES) return api_status(status_new(ERROR_INVALID_ARGUMENT, "%zu attributes", count), error);
  if (!python_is_identifier(str_from(class_name)))
    return api_status(status_new(ERROR_INVALID_ARGUMENT, "'%s' is no name for a class", class_name), error);
  for (size_t i = 0; i < count; i++) API_TRY(check_attribute(&attributes[i], i));
  Build b = {.name = class_name, .attributes = attributes, .count = count};
  API_TRY(unit_new(&b.unit));
  Status status = make_module(&b, runtime, out);
  unit_release(b.unit);
  return api_status(status, error);
}

static Status clone_module(wick_runtime *runtime, const wick_module *module, bool shares_tensors, wick_module **out) {
  HEAP_SCOPE(runtime_of(runtime ? runtime : module->runtime)->heap);
  IValue copy, object;
  Module *made;
  if (!module->module) return status_new(ERROR_INVALID_ARGUMENT, "a compiled text has nothing to copy");
  object = ivalue_object(module->module->object);
  TRY(shares_tensors ? ivalue_copy_containers(object, &copy) : ivalue_deep_copy(object, &copy));
  Status status = module_new(module->unit, copy.object, &made);
  ivalue_release(copy);
  const Map *files = &module->module->extra_files;
  for (MapEntry *e = map_next(files, NULL); e && !status; e = map_next(files, e))
    status = module_add_extra_file(made, e->key, string_view(e->value));
  if (!status) return module_handle_new(runtime ? runtime : module->runtime, made, module->unit, out);
  module_release(made);
  return status;
}

wick_status wick_module_clone(const wick_module *module, wick_runtime *runtime, int share_tensors, wick_module **out,
                              wick_error **error) {
  API_OUT(out);
  API_NEED(module);
  return api_status(clone_module(runtime, module, share_tensors != 0, out), error);
}
