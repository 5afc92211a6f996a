/* wick_record: histories of what wick did not compute. */
#include "api/handles.h"
#include "autodiff/foreign_gradient.h"

typedef struct Recorded {
  wick_backward_callback *backward;
  void (*drop)(void *user);
  void *user;
} Recorded;

static void drop_recorded(void *user) {
  Recorded *recorded = user;
  if (recorded->drop) recorded->drop(recorded->user);
  mem_free(recorded);
}

static void release_all(wick_value **values, size_t count) {
  for (size_t i = 0; i < count; i++) wick_value_release(values[i]);
  mem_free(values);
}

/* What the callback gave, as tensors: owned. */
static Status take_gradients(wick_value *const *given, uint32_t count, Tensor **out) {
  for (uint32_t i = 0; i < count; i++) {
    if (!given[i] || given[i]->value.tag == TAG_NONE) continue;
    if (given[i]->value.tag != TAG_TENSOR)
      return status_new(ERROR_INVALID_ARGUMENT, "a backward gives tensors: gradient %u is none", i);
    if (tensor_is_defined(given[i]->value.tensor)) out[i] = tensor_retain(given[i]->value.tensor);
  }
  return OK;
}

static Status run_backward(void *user, bool create_graph, uint32_t grad_count, Tensor *const *grads,
                           uint32_t input_count, Tensor **out) {
  Recorded *recorded = user;
  wick_value **shown = mem_calloc(grad_count + 1u, sizeof *shown),
             **given = mem_calloc(input_count + 1u, sizeof *given);
  wick_error *error = NULL;
  Status status = shown && given ? OK : status_out_of_memory();
  for (uint32_t i = 0; !status && i < grad_count; i++)
    if (grads[i]) status = value_box(ivalue_tensor(tensor_retain(grads[i])), &shown[i]);
  if (!status) {
    wick_status failed = recorded->backward(recorded->user, create_graph, (const wick_value *const *)shown, grad_count,
                                            given, input_count, &error);
    if (failed) status = foreign_status(failed, error, "a backward");
  }
  if (!status) status = take_gradients(given, input_count, out);
  if (shown) release_all(shown, grad_count);
  if (given) release_all(given, input_count);
  return status;
}

static Status unbox(const wick_value *const *values, size_t count, const char *what, Tensor ***out) {
  Tensor **tensors = mem_calloc(count + 1, sizeof *tensors);
  if (!tensors) return status_out_of_memory();
  Status status = count > UINT16_MAX ? status_new(ERROR_INVALID_ARGUMENT, "%zu %s", count, what) : OK;
  for (size_t i = 0; !status && i < count; i++) {
    if (values[i]->value.tag != TAG_TENSOR || !tensor_is_defined(values[i]->value.tensor))
      status = status_new(ERROR_INVALID_ARGUMENT, "%s: a tensor is expected", what);
    else
      tensors[i] = values[i]->value.tensor;
  }
  if (status)
    mem_free(tensors);
  else
    *out = tensors;
  return status;
}

static Status check_outputs(Tensor *const *outputs, size_t count) {
  for (size_t i = 0; i < count; i++)
    if (outputs[i]->flags & TENSOR_REQUIRES_GRAD)
      return status_new(ERROR_INVALID_ARGUMENT, "output %zu is a leaf that requires grad", i);
  return OK;
}

wick_status wick_record(const char *name, wick_backward_callback *backward, void (*drop)(void *), void *user,
                        const wick_value *const *inputs, size_t input_count, const wick_value *const *outputs,
                        size_t output_count, uint64_t not_differentiable, wick_error **error) {
  Tensor **from = NULL, **to = NULL;
  Recorded *recorded = mem_calloc(1, sizeof *recorded);
  Status status = recorded ? OK : status_out_of_memory();
  if (!status && !name) status = api_null(__func__, "name");
  if (!status && !backward) status = api_null(__func__, "backward");
  for (size_t i = 0; !status && i < input_count; i++)
    if (!inputs || !inputs[i]) status = api_null_item(__func__, "inputs", i);
  for (size_t i = 0; !status && i < output_count; i++)
    if (!outputs || !outputs[i]) status = api_null_item(__func__, "outputs", i);
  if (!status) status = unbox(inputs, input_count, "wick_record: inputs", &from);
  if (!status) status = unbox(outputs, output_count, "wick_record: outputs", &to);
  if (!status) status = check_outputs(to, output_count);
  if (status) {
    mem_free(recorded);
    if (drop) drop(user);
  } else {
    *recorded = (Recorded){backward, drop, user};
    status = autograd_record_foreign(name, run_backward, drop_recorded, recorded, (uint32_t)input_count, from,
                                     (uint32_t)output_count, to, not_differentiable);
  }
  mem_free(from);
  mem_free(to);
  return api_status(status, error);
}
