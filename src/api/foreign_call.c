/* What kernels from outside ask of the call that they serve. */
#include "api/handles.h"
#include "base/parallel.h"
#include "call/match.h"
#include "wick/library.h"

size_t wick_call_argument_count(const wick_call *call) {
  return call ? call->call->input_count : 0;
}

wick_value *wick_call_argument(wick_call *call, size_t index) {
  return call && index < call->call->input_count ? value_box_or_null(ivalue_retain(call->call->inputs[index]), NULL)
                                                 : NULL;
}

wick_value *wick_call_result(wick_call *call, size_t index) {
  bool is_there = call && index < call->call->output_count && call->call->outputs[index].tag == TAG_TENSOR;
  return is_there ? value_box_or_null(ivalue_retain(call->call->outputs[index]), NULL) : NULL;
}

void wick_call_set_result(wick_call *call, size_t index, const wick_value *value) {
  if (call && index < call->call->output_count)
    call_set(call->call, (uint32_t)index, value ? ivalue_retain(value->value) : IVALUE_NONE);
}

wick_status wick_call_tensor(const wick_call *call, size_t index, wick_tensor_view *out, wick_error **error) {
  API_NEED(out);
  API_TRY(api_check_size("wick_tensor_view", out->size));
  API_NEED(call);
  const Call *c = call->call;
  if (index >= c->input_count)
    return api_status(status_new(ERROR_INVALID_ARGUMENT, "the operator has no argument %zu", index), error);
  const FunctionSchema *schema = operator_schema(c->op);
  Str name = index < schema->argument_count ? schema->arguments[index].name : STR("argument");
  if (c->inputs[index].tag != TAG_TENSOR || !tensor_is_defined(c->inputs[index].tensor))
    return api_status(status_new(ERROR_INVALID_ARGUMENT, STR_FMT " should be a tensor", STR_ARG(name)), error);
  wick_value borrowed = {.value = c->inputs[index]};
  return wick_tensor_view_of(&borrowed, out, error);
}

wick_status wick_call_operator(wick_call *call, const char *name, const char *overload,
                               const wick_value *const *arguments, size_t count, wick_value **out, wick_error **error) {
  enum { MAX_ARGUMENTS = 64 };
  IValue values[MAX_ARGUMENTS], result;
  API_OUT(out);
  API_NEED(name);
  if (count) API_NEED(arguments);
  API_NEED(call);
  if (count > MAX_ARGUMENTS) return api_status(status_new(ERROR_INVALID_ARGUMENT, "%zu arguments", count), error);
  for (size_t i = 0; i < count; i++) values[i] = arguments[i] ? arguments[i]->value : IVALUE_NONE;
  CallValues given = {.count = (uint32_t)count, .values = values};
  API_TRY(operator_call_values(call->call->exec, str_from(name), overload, &given, &result));
  return api_status(value_box(result, out), error);
}

int wick_call_grad_is_enabled(const wick_call *call) {
  return call && call->call->exec->grad_enabled;
}

wick_status wick_call_poll(const wick_call *call, wick_error **error) {
  API_NEED(call);
  return api_status(work_poll(&call->call->exec->work), error);
}

void wick_call_parallel(const wick_call *call, int64_t n, int64_t grain,
                        void (*body)(void *arg, int64_t begin, int64_t end), void *arg) {
  if (call && body && n > 0) parallel_for(call->call->exec->work.threads, n, grain, body, arg);
}
