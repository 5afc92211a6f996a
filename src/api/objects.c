/* Objects and enum values made of their parts, for callers that have objects of their own: classes are those that a
 * program defines. */
#include "api/arguments.h"
#include "api/find.h"

static Status no_class(const char *name, const char *what) {
  return status_new(ERROR_NOT_FOUND, "the program has no %s '%s'", what, name);
}

/* Nothing is set when an attribute has no value, or is named that the class does not have. */
static Status set_all(Object *object, const char *const *names, const wick_value *const *values, size_t count) {
  const ClassType *type = object->class_type;
  for (size_t i = 0; i < count; i++)
    if (class_type_find_attribute(type, str_from(names[i])) < 0)
      return status_exception("AttributeError", "'" STR_FMT "' has no attribute '%s'", STR_ARG(type->type.name),
                              names[i]);
  for (size_t slot = 0; slot < type->attributes.length; slot++) {
    const ClassAttribute *attribute = &type->attributes.data[slot];
    const wick_value *value = NULL;
    for (size_t i = 0; i < count && !value; i++)
      if (str_is(attribute->name, names[i])) value = values[i];
    if (!value)
      return status_exception("AttributeError", "the attribute '" STR_FMT "' of '" STR_FMT "' is not given",
                              STR_ARG(attribute->name), STR_ARG(type->type.name));
    StrBuf what = {.max_length = 300};
    strbuf_printf(&what, "attribute '" STR_FMT "'", STR_ARG(attribute->name));
    Status status =
        argument_convert(value->value, attribute->type, what.data ? what.data : "the value", &object->slots[slot]);
    strbuf_dispose(&what);
    TRY(status);
  }
  return OK;
}

typedef struct Uses {
  CompilationUnit *unit;
  const wick_value *const *values;
  size_t count;
} Uses;
/* Objects of other programs' classes may stand where an interface is asked for. */
static void use_units(void *argument) {
  const Uses *uses = argument;
  for (size_t i = 0; i < uses->count; i++) {
    const wick_value *value = uses->values[i];
    if (value->unit && value->value.tag == TAG_OBJECT) unit_use(uses->unit, value->unit);
  }
}

static Status make_object(const wick_module *program, const char *class_name, const char *const *names,
                          const wick_value *const *values, size_t count, wick_value **out) {
  HEAP_SCOPE(runtime_of(program->runtime)->heap);
  const Type *type = module_find_type(program, class_name);
  Object *object;
  if (!type || type->kind != TYPE_CLASS) return no_class(class_name, "class");
  TRY(arena_protect(&program->unit->store.arena, use_units, &(Uses){program->unit, values, count}));
  TRY(object_new(type->class_type, &object));
  Status status = set_all(object, names, values, count);
  if (!status) return value_box_of(ivalue_object(object), program->unit, out);
  ivalue_release(ivalue_object(object));
  return status;
}

wick_status wick_object_new(const wick_module *program, const char *class_name, const char *const *names,
                            const wick_value *const *values, size_t count, wick_value **out, wick_error **error) {
  API_OUT(out);
  API_NEED(program);
  API_NEED(class_name);
  API_NEED_ITEMS(names, count);
  API_NEED_ITEMS(values, count);
  return api_status(make_object(program, class_name, names, values, count, out), error);
}

static Status module_of(wick_runtime *runtime, const wick_value *object, wick_module **out) {
  HEAP_SCOPE(runtime_of(runtime)->heap);
  Module *module;
  if (object->value.tag != TAG_OBJECT || !object->value.object->class_type->is_module)
    return status_new(ERROR_INVALID_ARGUMENT, "the value is no module");
  /* An argument of a kernel comes without its unit: the one that owns the class's types. */
  CompilationUnit *unit = (CompilationUnit *)object->value.object->class_type->type.store;
  TRY(module_new(unit, object->value.object, &module));
  return module_handle_new(runtime, module, unit, out);
}

wick_status wick_module_of_object(const wick_value *object, wick_runtime *runtime, wick_module **out,
                                  wick_error **error) {
  API_OUT(out);
  API_NEED(object);
  return api_status(module_of(runtime, object, out), error);
}

static Status make_enum_value(const wick_module *program, const char *class_name, const char *member,
                              wick_value **out) {
  HEAP_SCOPE(runtime_of(program->runtime)->heap);
  const Type *type = module_find_type(program, class_name);
  if (!type || type->kind != TYPE_ENUM) return no_class(class_name, "enum");
  for (uint32_t i = 0; i < type->enum_type->count; i++) {
    if (!str_is(type->enum_type->names[i], member)) continue;
    EnumValue *value;
    TRY(enum_value_new(type, i, &value));
    return value_box_of((IValue){.tag = TAG_ENUM, .enum_value = value}, program->unit, out);
  }
  return status_new(ERROR_NOT_FOUND, "the enum '%s' has no member '%s'", class_name, member);
}

wick_status wick_enum_value(const wick_module *program, const char *class_name, const char *member, wick_value **out,
                            wick_error **error) {
  API_OUT(out);
  API_NEED(program);
  API_NEED(class_name);
  API_NEED(member);
  return api_status(make_enum_value(program, class_name, member, out), error);
}
