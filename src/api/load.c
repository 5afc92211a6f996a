/* Loading archives and values. */
#include "api/handles.h"
#include "base/work.h"
#include "serial/archive/archive.h"
#include "serial/formats/safetensors.h"
#include "serial/serial.h"

/* What loading needs; the time runs from now on. */
typedef struct Loading {
  LoadOptions options;
  WorkLimit limit;
} Loading;

static Status loading_init(const wick_load_options *options, Loading *out) {
  wick_load_options o;
  TRY(api_copy_options("wick_load_options", options, sizeof o, &o));
  if (o.torch_version >= TORCH_COUNT)
    return status_new(ERROR_INVALID_ARGUMENT, "wick_load_options: torch_version %u", o.torch_version);
  if (o.mode > WICK_LOAD_MAP) return status_new(ERROR_INVALID_ARGUMENT, "wick_load_options: mode %u", o.mode);
  out->options = (LoadOptions){.map = o.mode == WICK_LOAD_MAP,
                               .max_bytes = o.max_bytes,
                               .device_map = o.device_map,
                               .allow_ops = o.allow_ops,
                               .torch_version = (uint8_t)o.torch_version,
                               .share_weights = o.share_weights != 0};
  api_limit_init(&out->limit, o.deadline_ns, o.max_steps);
  return OK;
}

/* Takes over `source`. */
static Status load_source(wick_runtime *runtime, ByteSource *source, Loading *loading, wick_module **out) {
  Exec exec;
  Module *module = NULL;
  WorkLimit *outer = work_limit_enter(&loading->limit);
  api_exec_init(&exec, runtime);
  HEAP_SCOPE(exec.runtime->heap);
  Status status = api_limit_leave(&loading->limit, outer, module_import(source, &exec, &loading->options, &module));
  if (!status)
    status = module_handle_new(runtime, module, module->unit, out);
  else if (module)
    module_release(module);
  byte_source_release(source);
  return status;
}

wick_status wick_load(wick_runtime *runtime, const char *path, const wick_load_options *options, wick_module **out,
                      wick_error **error) {
  Loading o;
  ByteSource *source;
  API_OUT(out);
  API_NEED(path);
  API_TRY(loading_init(options, &o));
  Status status = byte_source_open(path, o.options.map, &source);
  if (!status) status = load_source(runtime, source, &o, out);
  return api_status(status_context(status, "%s", path), error);
}

wick_status wick_load_memory(wick_runtime *runtime, const void *data, size_t length, const wick_load_options *options,
                             wick_module **out, wick_error **error) {
  Loading o;
  ByteSource *source;
  API_OUT(out);
  API_NEED_BYTES(data, length);
  API_TRY(loading_init(options, &o));
  API_TRY(byte_source_from_memory(data, length, &source));
  return api_status(load_source(runtime, source, &o, out), error);
}

wick_status wick_load_callbacks(wick_runtime *runtime, wick_read_callback *read, void *user, uint64_t size,
                                const wick_load_options *options, wick_module **out, wick_error **error) {
  Loading o;
  ByteSource *source;
  API_OUT(out);
  API_NEED(read);
  API_TRY(loading_init(options, &o));
  API_TRY(byte_source_from_callbacks(read, NULL, user, size, &source));
  return api_status(load_source(runtime, source, &o, out), error);
}

/* A zip whose records stand in no folder is NumPy's. */
static Status is_npz(ByteSource *source, bool *out) {
  Archive *archive;
  TRY(archive_open(source, false, 0, &archive));
  *out = archive->records.length && str_find_char(archive->records.data[0].name, '/') < 0;
  archive_free(archive);
  return OK;
}
static Status load_value(ByteSource *source, const LoadOptions *options, IValue *out) {
  char start[6];
  bool is_numpy = false, is_zip, is_safetensors = false;
  TRY(archive_is_zip(source, &is_zip));
  if (is_zip) {
    TRY(is_npz(source, &is_numpy));
  } else if (source->size >= sizeof start) {
    TRY(byte_source_read(source, 0, start, sizeof start));
    is_numpy = !memcmp(start, "\x93NUMPY", sizeof start);
    if (!is_numpy) TRY(safetensors_is(source, &is_safetensors));
    if (is_safetensors) return safetensors_read(source, out);
  }
  return is_numpy ? npy_load(source, out) : value_import(source, options, out);
}
/* Takes over `source`. */
static Status load_boxed(ByteSource *source, Loading *loading, wick_value **out) {
  IValue value = IVALUE_NONE;
  WorkLimit *outer = work_limit_enter(&loading->limit);
  Status status = load_value(source, &loading->options, &value);
  status = api_limit_leave(&loading->limit, outer, status);
  byte_source_release(source);
  return status ? status : value_box(value, out);
}
wick_status wick_load_value(wick_runtime *runtime, const char *path, const wick_load_options *options, wick_value **out,
                            wick_error **error) {
  Loading o;
  ByteSource *source;
  HEAP_SCOPE(runtime_of(runtime)->heap);
  API_OUT(out);
  API_NEED(path);
  API_TRY(loading_init(options, &o));
  Status status = byte_source_open(path, o.options.map, &source);
  if (!status) status = load_boxed(source, &o, out);
  return api_status(status_context(status, "%s", path), error);
}
wick_status wick_load_value_memory(wick_runtime *runtime, const void *data, size_t length,
                                   const wick_load_options *options, wick_value **out, wick_error **error) {
  Loading o;
  ByteSource *source;
  HEAP_SCOPE(runtime_of(runtime)->heap);
  API_OUT(out);
  API_NEED_BYTES(data, length);
  API_TRY(loading_init(options, &o));
  API_TRY(byte_source_from_memory(data, length, &source));
  return api_status(load_boxed(source, &o, out), error);
}
