/* The eager door to operators. */
#include "api/handles.h"
#include "call/match.h"
#include "trace/trace.h"

enum { MAX_ARGUMENTS = 1000 };

static Status call_operator(wick_runtime *runtime, const char *name, const char *overload,
                            const wick_value *const *arguments, size_t count, const char *const *names,
                            size_t named_count, const wick_run_options *options, IValue *out) {
  Exec exec;
  WorkBudget budget;
  wick_cancel *cancel;
  wick_profile *profile;
  if (count > MAX_ARGUMENTS || named_count > count)
    return status_new(ERROR_INVALID_ARGUMENT, "%zu arguments, %zu of them named", count, named_count);
  api_exec_init(&exec, runtime);
  exec.recorder = trace_recorder();
  if (options) TRY(api_apply_run_options(&exec, options, &budget, &cancel, &profile));
  IValue *values = mem_calloc(count + 1, sizeof *values);
  KeywordValue *named = mem_calloc(named_count + 1, sizeof *named);
  Status status = values && named ? OK : status_out_of_memory();
  if (!status) {
    size_t positional = count - named_count;
    for (size_t i = 0; i < count; i++) values[i] = arguments[i] ? arguments[i]->value : IVALUE_NONE;
    for (size_t i = 0; i < named_count; i++) named[i] = (KeywordValue){str_from(names[i]), values[positional + i]};
    WorkLimit limit = {exec.work.stop, exec.work.deadline_ns}, *outer = work_limit_enter(&limit);
    ExecBefore before = exec_enter(&exec);
    status = work_check(&exec.work);
    CallValues call = {(uint32_t)positional, (uint32_t)named_count, values, named, NULL};
    if (!status) status = operator_call_values(&exec, str_from(name), overload, &call, out);
    exec_leave(before);
    work_limit_enter(outer);
    if (!status && (status = work_check(&exec.work))) ivalue_release(*out);
    status = exec_memory_error(&exec, status);
  }
  mem_free(values);
  mem_free(named);
  return status;
}

wick_status wick_op_call(wick_runtime *runtime, const char *name, const char *overload,
                         const wick_value *const *arguments, size_t count, const char *const *names, size_t named_count,
                         wick_value **out, wick_error **error) {
  return wick_op_call_with(runtime, name, overload, arguments, count, names, named_count, NULL, out, error);
}

wick_status wick_op_call_with(wick_runtime *runtime, const char *name, const char *overload,
                              const wick_value *const *arguments, size_t count, const char *const *names,
                              size_t named_count, const wick_run_options *options, wick_value **out,
                              wick_error **error) {
  IValue result = IVALUE_NONE;
  if (out) *out = NULL;
  API_NEED(name);
  if (count) API_NEED(arguments);
  API_NEED_ITEMS(names, named_count);
  Status status = call_operator(runtime, name, overload, arguments, count, names, named_count, options, &result);
  if (!status) status = value_give(result, NULL, out);
  return api_status(status, error);
}

int wick_op_exists(const char *name) {
  const Operator *op = name ? operator_find(str_from(name)) : NULL;
  return op && !operator_is_of_plans(op);
}
