/* Freezing modules. */
#include "module/freeze.h"

#include "api/handles.h"

enum { MAX_PRESERVED = 1000 };

static Status freeze(wick_runtime *runtime, const wick_module *module, const wick_freeze_options *options,
                     wick_module **out) {
  Exec exec;
  Module *frozen;
  Str names[MAX_PRESERVED];
  size_t count = options->preserved_count;
  if (!module->module) return status_new(ERROR_INVALID_ARGUMENT, "a compiled text has nothing to freeze");
  if (count > MAX_PRESERVED) return status_new(ERROR_INVALID_ARGUMENT, "%zu names to preserve", count);
  for (size_t i = 0; i < count; i++) names[i] = str_from(options->preserved[i]);
  FreezeOptions own = {.preserved_count = (uint32_t)count,
                       .preserved = names,
                       .exact = options->exact != 0,
                       .in_training = options->in_training != 0};
  api_exec_init(&exec, runtime);
  HEAP_SCOPE(exec.runtime->heap);
  unit_enter(module->unit, &exec);
  TRY(module_freeze(module->module, &own, &exec, &frozen));
  return module_handle_new(runtime ? runtime : module->runtime, frozen, frozen->unit, out);
}

wick_status wick_module_freeze_with(const wick_module *module, wick_runtime *runtime,
                                    const wick_freeze_options *options, wick_module **out, wick_error **error) {
  API_OUT(out);
  API_NEED(module);
  API_NEED(options);
  API_TRY(api_check_size("wick_freeze_options", options->size));
  wick_freeze_options own = {0};
  memcpy(&own, options, options->size < sizeof own ? options->size : sizeof own);
  API_NEED_ITEMS(own.preserved, own.preserved_count);
  return api_status(freeze(runtime, module, &own, out), error);
}

wick_status wick_module_freeze(const wick_module *module, wick_runtime *runtime, const char *const *preserved,
                               size_t preserved_count, wick_module **out, wick_error **error) {
  wick_freeze_options options = {.size = sizeof options, .preserved = preserved, .preserved_count = preserved_count};
  return wick_module_freeze_with(module, runtime, &options, out, error);
}
