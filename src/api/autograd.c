/* wick_backward, wick_grad and the gradients of tensors. */
#include "api/handles.h"
#include "autodiff/engine.h"
#include "autodiff/node.h"

static Status check_tensor(const wick_value *value, const char *what, Tensor **out) {
  if (!value) return status_new(ERROR_INVALID_ARGUMENT, "%s is NULL", what);
  if (value->value.tag != TAG_TENSOR || !tensor_is_defined(value->value.tensor))
    return status_new(ERROR_INVALID_ARGUMENT, "%s: a tensor is expected", what);
  *out = value->value.tensor;
  return OK;
}

wick_status wick_tensor_set_requires_grad(wick_value *tensor, int wanted, wick_error **error) {
  static OpRef requires_grad_ = OP_REF("aten::requires_grad_", "");
  Tensor *t;
  Exec exec;
  IValue result;
  API_TRY(check_tensor(tensor, "wick_tensor_set_requires_grad: tensor", &t));
  api_exec_init(&exec, NULL);
  API_TRY(op_call(&exec, &requires_grad_, 2, (IValue[]){tensor->value, ivalue_bool(wanted != 0)}, 1, &result));
  ivalue_release(result);
  return api_status(OK, error);
}

wick_status wick_tensor_grad(const wick_value *tensor, wick_value **out, wick_error **error) {
  Tensor *t;
  API_OUT(out);
  API_TRY(check_tensor(tensor, "wick_tensor_grad: tensor", &t));
  if (!t->autograd || !t->autograd->grad) return api_status(OK, error);
  return api_status(value_box(ivalue_tensor(tensor_retain(t->autograd->grad)), out), error);
}

wick_status wick_tensor_clear_grad(wick_value *tensor, wick_error **error) {
  Tensor *t;
  API_TRY(check_tensor(tensor, "wick_tensor_clear_grad: tensor", &t));
  if (t->autograd) {
    tensor_release(t->autograd->grad);
    t->autograd->grad = NULL;
  }
  return api_status(OK, error);
}

wick_status wick_tensor_set_grad(wick_value *tensor, const wick_value *grad, wick_error **error) {
  Tensor *t, *g = NULL;
  AutogradMeta *meta;
  API_TRY(check_tensor(tensor, "wick_tensor_set_grad: tensor", &t));
  if (grad) API_TRY(check_tensor(grad, "wick_tensor_set_grad: grad", &g));
  if (g && (!tensor_same_sizes(t, g) || t->dtype != g->dtype))
    return api_status(
        status_new(ERROR_RUNTIME, "assigned grad of dtype %s and size %s to a tensor of dtype %s and size %s",
                   dtype_name((DType)g->dtype), SIZES_TEXT(g->ndim, g->sizes), dtype_name((DType)t->dtype),
                   SIZES_TEXT(t->ndim, t->sizes)),
        error);
  API_TRY(autograd_meta(t, &meta));
  Tensor *old = meta->grad;
  meta->grad = g ? tensor_retain(g) : NULL;
  tensor_release(old);
  autograd_settle(t);
  return api_status(OK, error);
}

wick_status wick_tensor_history(const wick_value *tensor, char **out_text, wick_error **error) {
  Tensor *t;
  StrBuf text = {0};
  API_OUT(out_text);
  API_TRY(check_tensor(tensor, "wick_tensor_history: tensor", &t));
  API_TRY(autograd_refresh(t));
  if (t->autograd && t->autograd->history.node) gradnode_print_name(t->autograd->history.node, &text);
  return api_status(strbuf_take(&text, out_text), error);
}

/* ---- hooks ---- */

typedef struct Hook {
  wick_grad_hook *hook;
  void (*drop)(void *user);
  void *user;
} Hook;

static Status call_hook(void *user, Tensor *grad, Tensor **out_replacement) {
  Hook *hook = user;
  wick_value *given = NULL, *replacement = NULL;
  wick_error *error = NULL;
  TRY(value_box(ivalue_tensor(tensor_retain(grad)), &given));
  wick_status failed = hook->hook(hook->user, given, &replacement, &error);
  wick_value_release(given);
  if (failed) {
    wick_value_release(replacement);
    return error ? (Status)error : status_new(ERROR_RUNTIME, "a hook failed with %d", (int)failed);
  }
  wick_error_free(error);
  if (!replacement) return OK;
  Status status = OK;
  if (replacement->value.tag == TAG_TENSOR && tensor_is_defined(replacement->value.tensor))
    *out_replacement = tensor_retain(replacement->value.tensor);
  else
    status = status_new(ERROR_INVALID_ARGUMENT, "a hook gives a tensor, or nothing");
  wick_value_release(replacement);
  return status;
}

static void drop_hook(void *user) {
  Hook *hook = user;
  if (hook->drop) hook->drop(hook->user);
  mem_free(hook);
}

wick_status wick_tensor_add_hook(wick_value *tensor, wick_grad_hook *hook, void (*drop)(void *user), void *user,
                                 wick_error **error) {
  Tensor *t;
  Hook *made = mem_calloc(1, sizeof *made);
  Status status = made ? check_tensor(tensor, "wick_tensor_add_hook: tensor", &t) : status_out_of_memory();
  if (!status && !hook) status = api_null(__func__, "hook");
  if (status) {
    mem_free(made);
    if (drop) drop(user);
    return api_status(status, error);
  }
  *made = (Hook){hook, drop, user};
  return api_status(autograd_add_hook(t, (GradHook){call_hook, drop_hook, made}), error);
}

wick_status wick_tensor_clear_hooks(wick_value *tensor, wick_error **error) {
  Tensor *t;
  API_TRY(check_tensor(tensor, "wick_tensor_clear_hooks: tensor", &t));
  autograd_clear_hooks(t);
  return api_status(OK, error);
}

/* The tensors of an array of handles, borrowed; freed by the caller. A NULL handle is NULL where that is allowed. */
static Status take_tensors(const wick_value *const *values, size_t count, const char *what, bool may_lack,
                           Tensor ***out) {
  Tensor **tensors = mem_calloc(count + 1, sizeof *tensors);
  if (!tensors) return status_out_of_memory();
  Status status = OK;
  for (size_t i = 0; values && !status && i < count; i++)
    if (values[i] || !may_lack) status = check_tensor(values[i], what, &tensors[i]);
  if (status)
    mem_free(tensors);
  else
    *out = tensors;
  return status;
}

static Status take_options(uint32_t flags, BackwardOptions *out) {
  if (flags & ~(uint32_t)(WICK_RETAIN_GRAPH | WICK_CREATE_GRAPH | WICK_ALLOW_UNUSED))
    return status_new(ERROR_INVALID_ARGUMENT, "unknown flags %u", flags);
  *out = (BackwardOptions){
      .retain_graph = flags & (WICK_RETAIN_GRAPH | WICK_CREATE_GRAPH),
      .create_graph = flags & WICK_CREATE_GRAPH,
      .allow_unused = flags & WICK_ALLOW_UNUSED,
  };
  return OK;
}

wick_status wick_backward(wick_runtime *runtime, const wick_value *const *outputs, const wick_value *const *grads,
                          size_t count, uint32_t flags, wick_error **error) {
  Exec exec;
  BackwardOptions options;
  Tensor **tensors = NULL, **gradients = NULL;
  API_NEED_ITEMS(outputs, count);
  API_TRY(take_options(flags, &options));
  api_exec_init(&exec, runtime);
  ExecBefore before = exec_enter(&exec);
  Status status = take_tensors(outputs, count, "wick_backward: output", false, &tensors);
  if (!status) status = take_tensors(grads, count, "wick_backward: gradient", true, &gradients);
  if (!status) status = autograd_backward(&exec, count, tensors, gradients, options);
  mem_free(tensors);
  mem_free(gradients);
  exec_leave(before);
  return api_status(status, error);
}

wick_status wick_grad(wick_runtime *runtime, const wick_value *const *outputs, const wick_value *const *grads,
                      size_t count, const wick_value *const *inputs, size_t input_count, uint32_t flags,
                      wick_value **out, wick_error **error) {
  Exec exec;
  BackwardOptions options;
  Tensor **tensors = NULL, **gradients = NULL, **wanted = NULL, **results = NULL;
  API_NEED_BYTES(out, input_count);
  for (size_t i = 0; i < input_count; i++) out[i] = NULL;
  API_NEED_ITEMS(outputs, count);
  API_NEED_ITEMS(inputs, input_count);
  API_TRY(take_options(flags, &options));
  api_exec_init(&exec, runtime);
  ExecBefore before = exec_enter(&exec);
  Status status = take_tensors(outputs, count, "wick_grad: output", false, &tensors);
  if (!status) status = take_tensors(grads, count, "wick_grad: gradient", true, &gradients);
  if (!status) status = take_tensors(inputs, input_count, "wick_grad: input", false, &wanted);
  if (!status && !(results = mem_calloc(input_count + 1, sizeof *results))) status = status_out_of_memory();
  if (!status) status = autograd_grad(&exec, count, tensors, gradients, input_count, wanted, options, results);
  for (size_t i = 0; !status && i < input_count; i++) {
    if (!results[i]) continue;
    status = value_box(ivalue_tensor(results[i]), &out[i]);
    results[i] = NULL;
  }
  for (size_t i = 0; i < input_count; i++) {
    if (results) tensor_release(results[i]);
    if (!status) continue;
    wick_value_release(out[i]);
    out[i] = NULL;
  }
  mem_free(tensors);
  mem_free(gradients);
  mem_free(wanted);
  mem_free(results);
  exec_leave(before);
  return api_status(status, error);
}
