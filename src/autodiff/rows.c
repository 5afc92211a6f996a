/* Rows of the operators that ask the engine: backward, grad, retain_grad, a tensor's .grad; and detach_. */
#include "autodiff/engine.h"
#include "autodiff/node.h"
#include "call/row.h"

static Status read_options(const Call *c, uint32_t first, BackwardOptions *out) {
  *out = (BackwardOptions){.create_graph = call_bool(c, first + 1)};
  out->retain_graph = call_is_none(c, first) ? out->create_graph : call_bool(c, first);
  return OK;
}

/* The tensors of a list, borrowed; elements that are None are NULL. The list may be None. */
static Status list_tensors(IValue v, size_t *out_count, Tensor ***out) {
  *out_count = v.tag == TAG_LIST ? v.list->length : 0;
  *out = NULL;
  if (v.tag != TAG_LIST) return OK;
  *out = mem_calloc(*out_count + 1, sizeof **out);
  if (!*out) return status_out_of_memory();
  for (size_t i = 0; i < *out_count; i++)
    if (v.list->values[i].tag == TAG_TENSOR) (*out)[i] = v.list->values[i].tensor;
  return OK;
}

static Status check_counts(size_t outputs, IValue grads, size_t grad_count) {
  if (grads.tag == TAG_NONE || outputs == grad_count) return OK;
  return status_new(ERROR_RUNTIME, "got %zu tensors and %zu gradients", outputs, grad_count);
}

static Status kernel_backward(Call *c) {
  BackwardOptions options;
  TRY(read_options(c, 2, &options));
  return autograd_backward(c->exec, 1, (Tensor *[]){call_tensor(c, 0)}, (Tensor *[]){call_tensor_or_null(c, 1)},
                           options);
}

static Status kernel_backward_list(Call *c) {
  BackwardOptions options;
  size_t count, grad_count;
  Tensor **tensors = NULL, **grads = NULL;
  TRY(read_options(c, 2, &options));
  Status status = list_tensors(c->inputs[0], &count, &tensors);
  if (!status) status = list_tensors(c->inputs[1], &grad_count, &grads);
  if (!status) status = check_counts(count, c->inputs[1], grad_count);
  if (!status) status = autograd_backward(c->exec, count, tensors, grads, options);
  mem_free(tensors);
  mem_free(grads);
  return status;
}

static Status give_gradients(Call *c, size_t count, Tensor **gradients) {
  List *list;
  TRY(list_new(operator_schema(c->op)->returns[0].type->elements[0], count, &list));
  for (size_t i = 0; i < count; i++) {
    list->values[i] = gradients[i] ? ivalue_tensor(gradients[i]) : IVALUE_NONE;
    gradients[i] = NULL;
  }
  list->length = count;
  call_set(c, 0, ivalue_list(list));
  return OK;
}

static Status kernel_grad(Call *c) {
  BackwardOptions options;
  size_t count, input_count, grad_count;
  Tensor **outputs = NULL, **inputs = NULL, **grads = NULL, **results = NULL;
  TRY(read_options(c, 3, &options));
  options.allow_unused = call_bool(c, 5);
  Status status = list_tensors(c->inputs[0], &count, &outputs);
  if (!status) status = list_tensors(c->inputs[1], &input_count, &inputs);
  if (!status) status = list_tensors(c->inputs[2], &grad_count, &grads);
  if (!status) status = check_counts(count, c->inputs[2], grad_count);
  if (!status && !(results = mem_calloc(input_count + 1, sizeof *results))) status = status_out_of_memory();
  if (!status) status = autograd_grad(c->exec, count, outputs, grads, input_count, inputs, options, results);
  if (!status) status = give_gradients(c, input_count, results);
  for (size_t i = 0; results && i < input_count; i++) tensor_release(results[i]);
  mem_free(results);
  mem_free(outputs);
  mem_free(inputs);
  mem_free(grads);
  return status;
}

static Status kernel_retain_grad(Call *c) {
  Tensor *self = call_tensor(c, 0);
  if (!(self->flags & TENSOR_RECORDS))
    return status_new(ERROR_RUNTIME, "can't retain_grad on Tensor that has requires_grad=False");
  AutogradMeta *meta = self->autograd;
  if (self->flags & TENSOR_REQUIRES_GRAD || !meta || meta->retains_grad) return OK;
  meta->retains_grad = true;
  meta->history.node->outputs[meta->history.output].retains = self;
  return OK;
}

static Status kernel_retains_grad(Call *c) {
  const AutogradMeta *meta = call_tensor(c, 0)->autograd;
  call_set(c, 0, ivalue_bool(meta && meta->retains_grad));
  return OK;
}

static Status kernel_tensor_grad(Call *c) {
  const AutogradMeta *meta = call_tensor(c, 0)->autograd;
  call_set_tensor(c, 0, meta && meta->grad ? tensor_retain(meta->grad) : tensor_undefined());
  return OK;
}

static Status kernel_detach_(Call *c) {
  Tensor *self = call_tensor(c, 0);
  autograd_detach(self);
  call_set_tensor(c, 0, tensor_retain(self));
  return OK;
}

enum { ENGINE = OP_ACCEPT_ANY | OP_NOT_DIFFERENTIABLE };

static const OpRow rows[] = {
    {.schema =
         "aten::backward(Tensor self, Tensor? gradient=None, bool? retain_graph=None, bool create_graph=False) -> ()",
     .kernel = kernel_backward,
     .flags = ENGINE | OP_SIDE_EFFECTS},
    {.schema = "aten::backward.TensorList(Tensor[] tensors, Tensor?[]? grad_tensors=None, bool? retain_graph=None, "
               "bool create_graph=False) -> ()",
     .kernel = kernel_backward_list,
     .flags = ENGINE | OP_SIDE_EFFECTS},
    {.schema = "aten::grad(Tensor[] outputs, Tensor[] inputs, Tensor?[]? grad_outputs=None, bool? retain_graph=None, "
               "bool create_graph=False, "
               "bool allow_unused=False) -> Tensor?[]",
     .kernel = kernel_grad,
     .flags = ENGINE | OP_SIDE_EFFECTS},
    {.schema = "aten::retain_grad(Tensor(a!) self) -> ()",
     .kernel = kernel_retain_grad,
     .flags = ENGINE | OP_SIDE_EFFECTS | OP_WRITES_NO_DATA},
    {.schema = "aten::retains_grad(Tensor self) -> bool", .kernel = kernel_retains_grad, .flags = ENGINE},
    {.schema = "prim::grad(Tensor a) -> Tensor(*)", .kernel = kernel_tensor_grad, .flags = ENGINE},
    {.schema = "aten::detach_(Tensor(a!) self) -> Tensor(a!)",
     .kernel = kernel_detach_,
     .flags = ENGINE | OP_WRITES_NO_DATA},
};
OP_TABLE(op_table_autograd, rows);
