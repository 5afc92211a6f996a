/* Loading archives and values, compiling texts. */
#include "api/handles.h"
#include "frontend/frontend.h"
#include "serial/archive.h"
#include "serial/safetensors.h"
#include "serial/serial.h"

static Status add_name(wick_module *handle, Str name) {
  char *copy = mem_alloc(name.length + 1);
  if (!copy) return status_out_of_memory();
  memcpy(copy, name.data, name.length);
  copy[name.length] = 0;
  if (vec_push(&handle->names, copy)) return OK;
  mem_free(copy);
  return status_out_of_memory();
}

static Str base_name(Str qualified) {
  ptrdiff_t dot = str_rfind_char(qualified, '.');
  return str_slice(qualified, (size_t)(dot + 1), qualified.length);
}

/* Takes over `module` (may be NULL); retains the rest. */
static Status handle_new(wick_runtime *runtime, Module *module, CompilationUnit *unit, wick_module **out) {
  wick_module *handle = mem_calloc(1, sizeof *handle);
  if (!handle) {
    module_release(module);
    return status_out_of_memory();
  }
  ref_init(&handle->refs);
  handle->module = module;
  handle->unit = unit_retain(unit);
  handle->runtime = runtime_retain(runtime);
  Status status = OK;
  if (module) {
    const ClassType *type = module->object->class_type;
    for (size_t i = 0; i < type->methods.length && !status; i++)
      status = add_name(handle, base_name(type->methods.data[i]->name));
    handle->class_name = mem_alloc(type->type.name.length + 1);
    if (!handle->class_name) {
      status_free(status);
      status = status_out_of_memory();
    } else {
      memcpy(handle->class_name, type->type.name.data, type->type.name.length);
      handle->class_name[type->type.name.length] = 0;
    }
  } else {
    for (size_t i = 0; i < unit->functions.length && !status; i++) {
      const Function *function = unit->functions.data[i];
      if (!function->class_type) status = add_name(handle, function->name);
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
  wick_runtime_release(module->runtime);
  mem_free(module);
}

static Status load_options(const wick_load_options *options, LoadOptions *out) {
  wick_load_options o;
  TRY(api_copy_options("wick_load_options", options, sizeof o, &o));
  if (o.mode > WICK_LOAD_MAP) return status_new(ERROR_INVALID_ARGUMENT, "wick_load_options: mode %u", o.mode);
  *out = (LoadOptions){
      .map = o.mode == WICK_LOAD_MAP, .max_bytes = o.max_bytes, .device_map = o.device_map, .allow_ops = o.allow_ops};
  return OK;
}

/* Takes over `source`. */
static Status load_source(wick_runtime *runtime, ByteSource *source, const LoadOptions *options, wick_module **out) {
  Exec exec;
  Module *module;
  api_exec_init(&exec, runtime);
  Status status = module_import(source, &exec, options, &module);
  if (!status) status = handle_new(runtime, module, module->unit, out);
  byte_source_release(source);
  return status;
}

wick_status wick_load(wick_runtime *runtime, const char *path, const wick_load_options *options, wick_module **out,
                      wick_error **error) {
  LoadOptions o;
  ByteSource *source;
  *out = NULL;
  API_TRY(load_options(options, &o));
  API_TRY(byte_source_open(path, o.map, &source));
  return api_status(load_source(runtime, source, &o, out), error);
}

wick_status wick_load_memory(wick_runtime *runtime, const void *data, size_t length, const wick_load_options *options,
                             wick_module **out, wick_error **error) {
  LoadOptions o;
  ByteSource *source;
  *out = NULL;
  API_TRY(load_options(options, &o));
  API_TRY(byte_source_from_memory(data, length, &source));
  return api_status(load_source(runtime, source, &o, out), error);
}

wick_status wick_load_callbacks(wick_runtime *runtime, wick_read_callback *read, void *user, uint64_t size,
                                const wick_load_options *options, wick_module **out, wick_error **error) {
  LoadOptions o;
  ByteSource *source;
  *out = NULL;
  API_TRY(load_options(options, &o));
  API_TRY(byte_source_from_callbacks(read, NULL, user, size, &source));
  return api_status(load_source(runtime, source, &o, out), error);
}

static Status compile_text(wick_runtime *runtime, Str text, const char *file_name, wick_module **out) {
  Exec exec;
  CompilationUnit *unit;
  Source *source;
  if (text.length > UINT32_MAX / 2) return status_new(ERROR_INVALID_ARGUMENT, "the text is too long");
  api_exec_init(&exec, runtime);
  TRY(unit_new(&unit));
  Status status = source_new(text, file_name, 1, &source);
  if (!status) {
    status = frontend_compile_program(unit, &exec, source, NULL);
    source_release(source);
  }
  if (!status) status = handle_new(runtime, NULL, unit, out);
  unit_release(unit);
  return status;
}
wick_status wick_compile(wick_runtime *runtime, const char *text, size_t length, const char *file_name,
                         wick_module **out, wick_error **error) {
  *out = NULL;
  return api_status(compile_text(runtime, (Str){text, length}, file_name, out), error);
}

/* A zip whose records stand in no folder is NumPy's. */
static Status is_npz(ByteSource *source, bool *out) {
  Archive *archive;
  TRY(archive_open(source, false, 0, &archive));
  *out = archive->records.length && str_find_char(archive->records.data[0].name, '/') < 0;
  archive_free(archive);
  return OK;
}
static Status load_value(wick_runtime *runtime, ByteSource *source, const LoadOptions *options, IValue *out) {
  Exec exec;
  char start[6];
  bool is_numpy = false;
  api_exec_init(&exec, runtime);
  if (archive_is_zip(source)) {
    TRY(is_npz(source, &is_numpy));
  } else if (source->size >= sizeof start) {
    TRY(byte_source_read(source, 0, start, sizeof start));
    is_numpy = !memcmp(start, "\x93NUMPY", sizeof start);
    if (!is_numpy && safetensors_is(source)) return safetensors_read(source, out);
  }
  return is_numpy ? npy_load(source, out) : value_import(source, &exec, options, out);
}
/* Takes over `source`. */
static Status load_boxed(wick_runtime *runtime, ByteSource *source, const LoadOptions *options, wick_value **out) {
  IValue value;
  Status status = load_value(runtime, source, options, &value);
  byte_source_release(source);
  return status ? status : value_box(value, out);
}
wick_status wick_load_value(wick_runtime *runtime, const char *path, const wick_load_options *options, wick_value **out,
                            wick_error **error) {
  LoadOptions o;
  ByteSource *source;
  *out = NULL;
  API_TRY(load_options(options, &o));
  API_TRY(byte_source_open(path, o.map, &source));
  return api_status(load_boxed(runtime, source, &o, out), error);
}
wick_status wick_load_value_memory(wick_runtime *runtime, const void *data, size_t length,
                                   const wick_load_options *options, wick_value **out, wick_error **error) {
  LoadOptions o;
  ByteSource *source;
  *out = NULL;
  API_TRY(load_options(options, &o));
  API_TRY(byte_source_from_memory(data, length, &source));
  return api_status(load_boxed(runtime, source, &o, out), error);
}
