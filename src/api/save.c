/* Saving modules and functions. */
#include "api/find.h"
#include "api/handles.h"
#include "serial/serial.h"

static Status save(wick_runtime *runtime, const wick_module *module, const char *path, const char *entry) {
  Exec exec;
  Function *function;
  api_exec_init(&exec, runtime);
  HEAP_SCOPE(exec.runtime->heap);
  if (module->module) {
    if (entry) return status_new(ERROR_INVALID_ARGUMENT, "only a compiled text has an entry: '%s'", entry);
    return module_export(module->module, &exec, path);
  }
  if (!entry) entry = wick_module_method_name(module, 0);
  if (!entry) return status_new(ERROR_INVALID_ARGUMENT, "there is no function to save");
  TRY(module_find(module, entry, &function));
  return function_export(function, &exec, path);
}

wick_status wick_save_value(wick_runtime *runtime, const wick_value *value, const char *path, wick_error **error) {
  Exec exec;
  API_NEED(value);
  API_NEED(path);
  api_exec_init(&exec, runtime);
  HEAP_SCOPE(exec.runtime->heap);
  return api_status(value_export(value->value, &exec, path), error);
}

wick_status wick_module_save(const wick_module *module, wick_runtime *runtime, const char *path, const char *entry,
                             wick_error **error) {
  API_NEED(module);
  API_NEED(path);
  return api_status(save(runtime, module, path, entry), error);
}
