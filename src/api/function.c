/* Handles of functions, and results in the caller's memory. */
#include "api/function.h"

#include <assert.h>

#include "api/find.h"
#include "ivalue/lock.h"

wick_status wick_function_of(wick_module *module, const char *method, wick_function **out, wick_error **error) {
  Function *function;
  API_OUT(out);
  API_NEED(module);
  API_NEED(method);
  API_TRY(module_find(module, method, &function));
  wick_function *handle = mem_calloc(1, sizeof *handle);
  char *name = mem_strdup(method);
  if (!handle || !name) {
    mem_free(handle);
    mem_free(name);
    return api_status(status_out_of_memory(), error);
  }
  ref_init(&handle->refs);
  handle->module = wick_module_retain(module);
  handle->function = function;
  handle->name = name;
  *out = handle;
  return api_status(OK, error);
}
wick_function *wick_function_retain(wick_function *function) {
  if (function) ref_retain(&function->refs);
  return function;
}
void wick_function_release(wick_function *function) {
  if (!function || !ref_release(&function->refs)) return;
  wick_module_release(function->module);
  mem_free(function->name);
  mem_free(function);
}
const char *wick_function_name(const wick_function *function) {
  return function ? function->name : "";
}
wick_status wick_function_schema(const wick_function *function, char **out_text, wick_error **error) {
  API_OUT(out_text);
  API_NEED(function);
  return wick_module_schema(function->module, function->name, out_text, error);
}

/* ---- results in the caller's memory ---- */

static Status tensor_assign(Tensor *to, const Tensor *from) {
  TRY(tensor_copy(to, from, 1));
  tensor_bump_version(to);
  return OK;
}

static size_t result_count(IValue result) {
  if (result.tag == TAG_TUPLE) return result.tuple->length;
  return result.tag == TAG_LIST ? list_length(result.list) : 1;
}
/* Retained. */
static IValue result_at(IValue result, size_t i) {
  assert(i < result_count(result));
  return result.tag == TAG_TUPLE  ? ivalue_retain(result.tuple->values[i])
         : result.tag == TAG_LIST ? list_get(result.list, i)
                                  : ivalue_retain(result);
}

/* Whether the result can be written to output i. */
static Status check_output(IValue from, const wick_value *output, size_t i) {
  if (output->value.tag != TAG_TENSOR || !tensor_is_defined(output->value.tensor))
    return status_new(ERROR_INVALID_ARGUMENT, "output %zu is no tensor to write to", i);
  if (from.tag != TAG_TENSOR || !tensor_is_defined(from.tensor))
    return status_new(ERROR_INVALID_ARGUMENT, "result %zu is no tensor", i);
  const Tensor *t = from.tensor, *to = output->value.tensor;
  if (tensor_records(to)) return status_new(ERROR_INVALID_ARGUMENT, "output %zu requires grad", i);
  if (!tensor_same_sizes(to, t))
    return status_new(ERROR_INVALID_ARGUMENT, "output %zu is of size %s, its result of size %s", i,
                      SIZES_TEXT(to->ndim, to->sizes), SIZES_TEXT(t->ndim, t->sizes));
  if ((to->flags | t->flags) & NO_PLAIN_MEMORY & ~(uint32_t)TENSOR_NOT_CPU)
    return status_new(ERROR_UNSUPPORTED, "output %zu or its result has no plain memory", i);
  return tensor_check_writable(to);
}

Status outputs_fill(IValue result, wick_value *const *outputs, size_t output_count) {
  if (result_count(result) != output_count)
    return status_new(ERROR_INVALID_ARGUMENT, "%zu outputs for %zu results", output_count, result_count(result));
  Status status = OK;
  for (int writing = 0; writing < 2 && !status; writing++)
    for (size_t i = 0; i < output_count && !status; i++) {
      IValue from = result_at(result, i);
      status = writing ? tensor_assign(outputs[i]->value.tensor, from.tensor) : check_output(from, outputs[i], i);
      ivalue_release(from);
    }
  return status;
}
