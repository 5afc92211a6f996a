/* What a module has: methods, attributes, state. */
#include "api/handles.h"

#include <assert.h>

#include "api/find.h"

/* ---- the handle ---- */

static Status add_name(wick_module *handle, Str name) {
  char *copy = mem_alloc(name.length + 1);
  if (!copy) return status_out_of_memory();
  memcpy(copy, name.data, name.length);
  copy[name.length] = 0;
  if (vec_push(&handle->names, copy)) return OK;
  mem_free(copy);
  return status_out_of_memory();
}

Status module_handle_list(wick_module *handle) {
  for (size_t i = 0; i < handle->names.length; i++) mem_free(handle->names.data[i]);
  handle->names.length = 0;
  if (handle->module) {
    const ClassType *type = handle->module->object->class_type;
    for (size_t i = 0; i < type->methods.length; i++)
      TRY(add_name(handle, str_after_last(type->methods.data[i]->name, '.')));
    return OK;
  }
  for (size_t i = 0; i < handle->unit->functions.length; i++) {
    const Function *function = handle->unit->functions.data[i];
    if (!function->class_type) TRY(add_name(handle, function->name));
  }
  return OK;
}

Status module_handle_new(wick_runtime *runtime, Module *module, CompilationUnit *unit, wick_module **out) {
  assert(module || unit);
  wick_module *handle = mem_calloc(1, sizeof *handle);
  if (!handle) {
    module_release(module);
    return status_out_of_memory();
  }
  ref_init(&handle->refs);
  handle->module = module;
  if (module) ivalue_mark_shared(ivalue_object(module->object)); /* calls may come from any thread */
  handle->unit = unit_retain(unit);
  handle->runtime = runtime_retain(runtime);
  runtime_add_module(runtime);
  Status status = module_handle_list(handle);
  if (module && !status) {
    Str name = module->object->class_type->type.name;
    handle->class_name = mem_alloc(name.length + 1);
    if (handle->class_name) {
      memcpy(handle->class_name, name.data, name.length);
      handle->class_name[name.length] = 0;
    } else {
      status = status_out_of_memory();
    }
  }
  if (status) {
    wick_module_release(handle);
    return status;
  }
  *out = handle;
  return OK;
}

wick_module *wick_module_retain(wick_module *module) {
  if (module) ref_retain(&module->refs);
  return module;
}
void wick_module_release(wick_module *module) {
  if (!module || !ref_release(&module->refs)) return;
  for (size_t i = 0; i < module->names.length; i++) mem_free(module->names.data[i]);
  vec_dispose(&module->names);
  mem_free(module->class_name);
  module_release(module->module);
  unit_release(module->unit);
  runtime_drop_module(module->runtime);
  wick_runtime_release(module->runtime);
  mem_free(module);
}

/* ---- asking ---- */

size_t wick_module_method_count(const wick_module *module) {
  return module ? module->names.length : 0;
}
const char *wick_module_method_name(const wick_module *module, size_t index) {
  return module && index < module->names.length ? module->names.data[index] : NULL;
}
const char *wick_module_class_name(const wick_module *module) {
  return module && module->class_name ? module->class_name : "";
}
const void *wick_module_class_identity(const wick_module *module) {
  return module && module->module ? module->module->object->class_type : NULL;
}
wick_value *wick_module_object(const wick_module *module) {
  if (!module) return NULL;
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

const Type *module_find_type(const wick_module *module, const char *name) {
  const Type *type = unit_find_type(module->unit, str_from(name));
  if (type) return type;
  StrBuf whole = {0};
  strbuf_printf(&whole, "__torch__.%s", name);
  if (!whole.failed) type = unit_find_type(module->unit, strbuf_view(&whole));
  strbuf_dispose(&whole);
  return type;
}

wick_status wick_module_schema(const wick_module *module, const char *method, char **out_text, wick_error **error) {
  Function *function;
  StrBuf text = {.max_length = 1 << 20};
  API_OUT(out_text);
  API_NEED(module);
  API_NEED(method);
  API_TRY(module_find(module, method, &function));
  if (!function->schema) return api_status(status_internal("'%s' was not compiled", method), error);
  schema_print(function->schema, &text);
  return api_status(strbuf_take(&text, out_text), error);
}

wick_status wick_module_replaced_devices(const wick_module *module, char **out_text, wick_error **error) {
  StrBuf text = {0};
  API_OUT(out_text);
  API_NEED(module);
  uint32_t replaced = atomic_load(&module->unit->device_map.replaced);
  for (int type = 0; type < 32; type++)
    if (replaced >> type & 1) strbuf_printf(&text, "%s%s", text.length ? ", " : "", device_type_name(type));
  return api_status(strbuf_take(&text, out_text), error);
}

uint32_t wick_module_torch_version(const wick_module *module) {
  return module ? module->unit->torch_version : WICK_TORCH_DEFAULT;
}

/* The class of the module, or of its submodule of the dotted name; NULL: there is none. */
static const ClassType *class_of_part(const wick_module *module, const char *submodule) {
  if (!module || !module->module) return NULL;
  IValue part = ivalue_retain(ivalue_object(module->module->object));
  Str rest = str_from(submodule ? submodule : "");
  while (rest.length && part.tag == TAG_OBJECT) {
    ptrdiff_t dot = str_find_char(rest, '.');
    Str name = dot < 0 ? rest : str_slice(rest, 0, (size_t)dot);
    ptrdiff_t slot = class_type_find_attribute(part.object->class_type, name);
    IValue inner = slot < 0 ? IVALUE_NONE : object_get(part.object, (uint32_t)slot);
    ivalue_release(part);
    part = inner;
    rest = dot < 0 ? STR("") : str_slice(rest, (size_t)dot + 1, rest.length);
  }
  const ClassType *type = part.tag == TAG_OBJECT ? part.object->class_type : NULL; /* of the unit */
  ivalue_release(part);
  return type;
}
size_t wick_module_hook_count(const wick_module *module, const char *submodule, uint32_t kind) {
  const ClassType *type = kind < HOOK_KIND_COUNT ? class_of_part(module, submodule) : NULL;
  return type ? type->hooks[kind].length : 0;
}
wick_status wick_module_hook_schema(const wick_module *module, const char *submodule, uint32_t kind, size_t index,
                                    char **out_text, wick_error **error) {
  StrBuf text = {.max_length = 1 << 20};
  API_OUT(out_text);
  API_NEED(module);
  if (index >= wick_module_hook_count(module, submodule, kind))
    return api_status(status_new(ERROR_NOT_FOUND, "there is no hook %zu of kind %u", index, kind), error);
  schema_print(class_of_part(module, submodule)->hooks[kind].data[index]->schema, &text);
  return api_status(strbuf_take(&text, out_text), error);
}

typedef struct Visit {
  wick_attribute_visit *visit;
  void *user;
  CompilationUnit *unit;
  Status status;
} Visit;

static bool visit_slot(void *argument, const ModuleSlot *slot) {
  Visit *v = argument;
  StrBuf path = {0}, annotation = {.max_length = 1 << 16};
  wick_value *value = value_box_or_null(ivalue_retain(slot->value), v->unit);
  strbuf_str(&path, slot->name);
  type_print_annotation(slot->type, &annotation);
  bool more = false;
  if (!value || path.failed || annotation.failed || !path.data || !annotation.data) {
    v->status = status_out_of_memory();
  } else {
    more = v->visit(v->user, path.data, (uint32_t)slot->kind, annotation.data, value) == 0;
  }
  strbuf_dispose(&path);
  strbuf_dispose(&annotation);
  wick_value_release(value);
  return more;
}
wick_status wick_module_each(const wick_module *module, wick_attribute_visit *visit, void *user, wick_error **error) {
  API_NEED(module);
  API_NEED(visit);
  Visit v = {visit, user, module->unit, OK};
  if (!module->module) return api_status(OK, error);
  Status status = module_each(module->module, true, visit_slot, &v);
  return api_status(status ? status : v.status, error);
}

wick_status wick_module_state_dict(const wick_module *module, wick_value **out, wick_error **error) {
  Dict *dict;
  API_OUT(out);
  API_NEED(module);
  if (!module->module) return api_status(status_new(ERROR_INVALID_ARGUMENT, "a compiled text has no state"), error);
  API_TRY(module_state_dict(module->module, &dict));
  return api_status(value_box(ivalue_dict(dict), out), error);
}

wick_status wick_module_load_state(wick_module *module, const wick_value *state, wick_error **error) {
  API_NEED(module);
  API_NEED(state);
  if (!module->module) return api_status(status_new(ERROR_INVALID_ARGUMENT, "a compiled text has no state"), error);
  if (state->value.tag != TAG_DICT)
    return api_status(status_new(ERROR_INVALID_ARGUMENT, "a state is a dict of tensors by name"), error);
  Dict *held;
  API_TRY(dict_hold(state->value.dict, &held));
  Status status = module_load_state(module->module, held);
  ivalue_release(ivalue_dict(held));
  return api_status(status, error);
}

wick_status wick_module_train(wick_module *module, int training, wick_error **error) {
  API_NEED(module);
  return api_status(module->module ? module_train(module->module, training != 0) : OK, error);
}
wick_status wick_module_to(wick_module *module, uint32_t floating_dtype, wick_error **error) {
  API_NEED(module);
  if (!dtype_is_valid(floating_dtype))
    return api_status(status_new(ERROR_INVALID_ARGUMENT, "%u is no dtype", floating_dtype), error);
  return api_status(module->module ? module_to(module->module, (DType)floating_dtype) : OK, error);
}
wick_status wick_module_to_device(wick_module *module, const char *device, wick_error **error) {
  Device where;
  API_NEED(module);
  API_NEED(device);
  API_TRY(device_parse(str_from(device), &where));
  return api_status(module->module ? module_to_device(module->module, where) : OK, error);
}

const char *wick_module_extra_file(const wick_module *module, const char *name, size_t *out_length) {
  const String *text = module && name && module->module ? map_get(&module->module->extra_files, str_from(name)) : NULL;
  if (out_length) *out_length = text ? text->length : 0;
  return text ? text->data : NULL;
}

wick_status wick_module_set_extra_file(wick_module *module, const char *name, const void *data, size_t length,
                                       wick_error **error) {
  API_NEED(module);
  API_NEED(name);
  API_NEED_BYTES(data, length);
  if (!module->module)
    return api_status(status_new(ERROR_INVALID_ARGUMENT, "a compiled text has no extra files"), error);
  HEAP_SCOPE(runtime_of(module->runtime)->heap);
  return api_status(module_set_extra_file(module->module, str_from(name), (Str){data, length}), error);
}
