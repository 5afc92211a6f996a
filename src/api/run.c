/* wick_run and wick_run_async: options to an Exec, arguments to the schema's types, then the interpreter. */
#include <time.h>

#include "api/arguments.h"
#include "api/find.h"
#include "api/future.h"
#include "base/clock.h"
#include "fuse/backend.h"
#include "interp/op_profile.h"

static int64_t limit_of(uint64_t wanted) {
  return wanted && wanted < INT64_MAX ? (int64_t)wanted : INT64_MAX;
}

Status api_apply_run_options(Exec *exec, const wick_run_options *options, CallBudget *budget, wick_cancel **out_cancel,
                             wick_profile **out_profile) {
  wick_run_options o;
  TRY(api_copy_options("wick_run_options", options, sizeof o, &o));
  if (o.executor > WICK_EXECUTOR_PROFILING)
    return status_new(ERROR_INVALID_ARGUMENT, "wick_run_options: executor %u", o.executor);
  if (o.grad > WICK_GRAD_OFF) return status_new(ERROR_INVALID_ARGUMENT, "wick_run_options: grad %u", o.grad);
  if (o.threads) exec->threads = o.threads > 1024 ? 1024 : (int)o.threads;
  exec->grad_enabled = o.grad == WICK_GRAD_ON;
  exec->deterministic = o.deterministic != 0;
  if (o.deadline_ns) {
    uint64_t now = clock_now_ns();
    exec_set_deadline(exec, o.deadline_ns > UINT64_MAX - now ? UINT64_MAX : now + o.deadline_ns);
  }
  *budget = (CallBudget){limit_of(o.max_steps), o.max_bytes != 0, {.left = limit_of(o.max_bytes)}};
  if (o.max_steps || o.max_bytes) exec->budget = budget;
  exec->executor_mode = o.executor;
  if (!fuse_exists((Fuser)o.fuser, DEVICE_CPU))
    return status_new(ERROR_INVALID_ARGUMENT, "wick_run_options: fuser %u", o.fuser);
  if (o.fuser) exec->fusers[DEVICE_CPU] = (uint8_t)o.fuser;
  if (o.cancel) exec_set_stop(exec, &o.cancel->fired);
  *out_cancel = o.cancel;
  *out_profile = o.profile;
  exec->profile = o.profile ? o.profile->profile : NULL;
  return OK;
}

/* What run_checked is to do with the arguments when they fit. */
typedef Status Runner(Exec *exec, Function *function, const IValue *arguments, uint32_t count, void *result);

static Status run_checked(Exec *exec, const wick_module *module, Function *function, const wick_value *const *arguments,
                          size_t count, const char *const *names, size_t named_count, Runner *runner, void *result) {
  const FunctionSchema *schema = function->schema;
  if (!schema) return status_new(ERROR_INTERNAL, "the function was not compiled");
  if (count > 100000 || named_count > count)
    return status_new(ERROR_INVALID_ARGUMENT, "%zu arguments, %zu of them named", count, named_count);
  uint32_t slots = schema->argument_count;
  IValue *values = mem_calloc(count + slots + 1, sizeof *values);
  if (!values) return status_out_of_memory();
  for (size_t i = 0; i < count; i++) values[i] = arguments[i] ? arguments[i]->value : IVALUE_NONE;
  IValue self = module->module ? ivalue_object(module->module->object) : IVALUE_NONE;
  Status status = arguments_match(schema, self, (uint32_t)count, values, (uint32_t)named_count, names, values + count);
  if (!status) {
    status = runner(exec, function, values + count, slots, result);
    for (uint32_t i = 0; i < slots; i++) ivalue_release(values[count + i]);
  }
  mem_free(values);
  return status;
}

static Status run_now(Exec *exec, Function *function, const IValue *arguments, uint32_t count, void *result) {
  return executor_call(exec, function, arguments, count, result);
}
static Status run_async(Exec *exec, Function *function, const IValue *arguments, uint32_t count, void *result) {
  return executor_start(exec, function, arguments, count, result);
}

wick_status wick_run(const wick_module *module, const char *method, const wick_value *const *arguments, size_t count,
                     const char *const *names, size_t named_count, const wick_run_options *options, wick_value **out,
                     wick_error **error) {
  Exec exec;
  CallBudget budget;
  wick_cancel *cancel;
  wick_profile *profile;
  Function *function;
  IValue result;
  if (out) *out = NULL;
  API_NEED(module);
  API_NEED(method);
  if (count) API_NEED(arguments);
  API_NEED_ITEMS(names, named_count);
  api_exec_init(&exec, module->runtime);
  API_TRY(api_apply_run_options(&exec, options, &budget, &cancel, &profile));
  API_TRY(module_find(module, method, &function));
  uint64_t start = profile ? clock_now_ns() : 0;
  WorkLimit limit = {exec.stop, exec.deadline_ns},
            *outer = work_limit_enter(&limit); /* compiling takes its time, too */
  Status status = run_checked(&exec, module, function, arguments, count, names, named_count, run_now, &result);
  work_limit_enter(outer);
  if (profile) op_profile_add_call(profile->profile, clock_now_ns() - start);
  API_TRY(status);
  return api_status(value_give(result, module->unit, out), error);
}

wick_status wick_run_async(const wick_module *module, const char *method, const wick_value *const *arguments,
                           size_t count, const char *const *names, size_t named_count, const wick_run_options *options,
                           wick_future **out, wick_error **error) {
  Exec exec;
  CallBudget budget;
  wick_cancel *cancel;
  wick_profile *profile;
  Function *function;
  Future *future;
  API_OUT(out);
  API_NEED(module);
  API_NEED(method);
  if (count) API_NEED(arguments);
  API_NEED_ITEMS(names, named_count);
  api_exec_init(&exec, module->runtime);
  API_TRY(api_apply_run_options(&exec, options, &budget, &cancel, &profile));
  API_TRY(module_find(module, method, &function));
  wick_future *handle;
  API_TRY(future_handle_new(module, cancel, profile, &handle));
  WorkLimit limit = {exec.stop, exec.deadline_ns}, *outer = work_limit_enter(&limit);
  Status status = run_checked(&exec, module, function, arguments, count, names, named_count, run_async, &future);
  work_limit_enter(outer);
  if (status) {
    wick_future_release(handle);
    return api_status(status, error);
  }
  *out = handle;
  return api_status(future_handle_start(handle, future), error);
}
