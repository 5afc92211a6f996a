/* Freezing modules. */
#include "module/freeze.h"

#include "api/handles.h"

enum { MAX_PRESERVED = 1000 };

static Status freeze(wick_runtime *runtime, const wick_module *module, const char *const *preserved, size_t count,
                     wick_module **out) {
  Exec exec;
  Module *frozen;
  Str names[MAX_PRESERVED];
  if (!module->module) return status_new(ERROR_INVALID_ARGUMENT, "a compiled text has nothing to freeze");
  if (count > MAX_PRESERVED) return status_new(ERROR_INVALID_ARGUMENT, "%zu names to preserve", count);
  for (size_t i = 0; i < count; i++) names[i] = str_from(preserved[i]);
  api_exec_init(&exec, runtime);
  HEAP_SCOPE(exec.runtime->heap);
  exec.device_map = &module->unit->device_map;
  TRY(module_freeze(module->module, (uint32_t)count, names, &exec, &frozen));
  return module_handle_new(runtime ? runtime : module->runtime, frozen, frozen->unit, out);
}

wick_status wick_module_freeze(wick_runtime *runtime, const wick_module *module, const char *const *preserved,
                               size_t preserved_count, wick_module **out, wick_error **error) {
  API_OUT(out);
  API_NEED(module);
  API_NEED_ITEMS(preserved, preserved_count);
  return api_status(freeze(runtime, module, preserved, preserved_count, out), error);
}
