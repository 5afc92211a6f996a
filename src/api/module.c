/* What a module has: methods, attributes, state. */
#include "api/handles.h"
#include "api/find.h"

size_t wick_module_method_count(const wick_module *module) {
  return module->names.length;
}
const char *wick_module_method_name(const wick_module *module, size_t index) {
  return index < module->names.length ? module->names.data[index] : NULL;
}
const char *wick_module_class_name(const wick_module *module) {
  return module->class_name ? module->class_name : "";
}
wick_value *wick_module_object(const wick_module *module) {
  return value_box_or_null(module->module ? ivalue_retain(ivalue_object(module->module->object)) : IVALUE_NONE,
                           module->unit);
}

Status module_find(const wick_module *module, const char *name, Function **out) {
  *out = module->module ? module_find_method(module->module, str_from(name))
                        : unit_find_function(module->unit, str_from(name));
  if (*out) return OK;
  StrBuf names = {.max_length = 1000};
  for (size_t i = 0; i < module->names.length; i++) strbuf_printf(&names, "%s%s", i ? ", " : "", module->names.data[i]);
  Status status = status_new(ERROR_NOT_FOUND, "there is no %s '%s' (there %s " STR_FMT ")",
                             module->module ? "method" : "function", name, module->names.length == 1 ? "is" : "are",
                             STR_ARG(names.length ? strbuf_view(&names) : STR("none")));
  strbuf_dispose(&names);
  return status;
}

wick_status wick_module_schema(const wick_module *module, const char *method, char **out_text, wick_error **error) {
  Function *function;
  StrBuf text = {.max_length = 1 << 20};
  *out_text = NULL;
  API_TRY(module_find(module, method, &function));
  if (!function->schema) return api_status(status_new(ERROR_INTERNAL, "'%s' was not compiled", method), error);
  schema_print(function->schema, &text);
  return api_status(strbuf_take(&text, out_text), error);
}

typedef struct Visit {
  wick_attribute_visit *visit;
  void *user;
  CompilationUnit *unit;
  Status status;
} Visit;

static bool visit_slot(void *argument, Str name, AttributeKind kind, const Type *type, IValue *slot) {
  Visit *v = argument;
  StrBuf path = {0}, annotation = {.max_length = 1 << 16};
  wick_value *value = value_box_or_null(ivalue_retain(*slot), v->unit);
  strbuf_str(&path, name);
  type_print_annotation(type, &annotation);
  bool more = false;
  if (!value || path.failed || annotation.failed || !path.data || !annotation.data) {
    v->status = status_out_of_memory();
  } else {
    more = v->visit(v->user, path.data, (uint32_t)kind, annotation.data, value) == 0;
  }
  strbuf_dispose(&path);
  strbuf_dispose(&annotation);
  wick_value_release(value);
  return more;
}
wick_status wick_module_each(const wick_module *module, wick_attribute_visit *visit, void *user, wick_error **error) {
  Visit v = {visit, user, module->unit, OK};
  if (!module->module) return api_status(OK, error);
  Status status = module_each(module->module, true, visit_slot, &v);
  return api_status(status ? status : v.status, error);
}

wick_status wick_module_state_dict(const wick_module *module, wick_value **out, wick_error **error) {
  Dict *dict;
  *out = NULL;
  if (!module->module) return api_status(status_new(ERROR_INVALID_ARGUMENT, "a compiled text has no state"), error);
  API_TRY(module_state_dict(module->module, &dict));
  return api_status(value_box(ivalue_dict(dict), out), error);
}

wick_status wick_module_load_state(wick_module *module, const wick_value *state, wick_error **error) {
  if (!module->module) return api_status(status_new(ERROR_INVALID_ARGUMENT, "a compiled text has no state"), error);
  if (!state || state->value.tag != TAG_DICT)
    return api_status(status_new(ERROR_INVALID_ARGUMENT, "a state is a dict of tensors by name"), error);
  return api_status(module_load_state(module->module, state->value.dict), error);
}

wick_status wick_module_train(wick_module *module, int training, wick_error **error) {
  return api_status(module->module ? module_train(module->module, training != 0) : OK, error);
}
wick_status wick_module_to(wick_module *module, uint32_t floating_dtype, wick_error **error) {
  if (floating_dtype >= DTYPE_COUNT)
    return api_status(status_new(ERROR_INVALID_ARGUMENT, "%u is no dtype", floating_dtype), error);
  return api_status(module->module ? module_to(module->module, (DType)floating_dtype, DEVICE_CPU_0) : OK, error);
}

const char *wick_module_extra_file(const wick_module *module, const char *name, size_t *out_length) {
  const String *text = module->module ? map_get(&module->module->extra_files, str_from(name)) : NULL;
  if (out_length) *out_length = text ? text->length : 0;
  return text ? text->data : NULL;
}
