/* What backward graphs consist of besides formulas: gradients that may be undefined, summed to sizes, of a dtype. */
#include "call/row.h"

static Status same(Call *call) {
  call_set(call, 0, ivalue_retain(call->inputs[0]));
  return OK;
}

/* None: the size is right. */
static Status grad_sum_to_size(Call *call) {
  static OpRef sum_to_size = OP_REF("aten::sum_to_size", "");
  const Tensor *grad = call_tensor_or_null(call, 0);
  if (!grad || call_is_none(call, 1)) return same(call);
  size_t count;
  const int64_t *sizes = call_ints(call, 1, &count);
  if (count == grad->ndim && (!count || memcmp(sizes, grad->sizes, count * sizeof *sizes) == 0)) return same(call);
  return op_call(call->exec, &sum_to_size, 2, call->inputs, 1, call->outputs);
}

static Status grad_or_zeros(Call *call) {
  DType dtype = (DType)call_int(call, 2);
  size_t count;
  const int64_t *sizes = call_ints(call, 1, &count);
  if (call_tensor_or_null(call, 0) || !(dtype_is_floating(dtype) || dtype_is_complex(dtype))) return same(call);
  Tensor *zeros;
  if (count > TENSOR_MAX_DIMS) return status_new(ERROR_RUNTIME, "a tensor of %zu dimensions", count);
  TRY(tensor_empty(dtype, (int)count, sizes, &zeros));
  tensor_fill_zero(zeros);
  call_set_tensor(call, 0, zeros);
  return OK;
}

static Status grad_to_dtype(Call *call) {
  static OpRef real = OP_REF("aten::real", ""), to = OP_REF("aten::to", "dtype");
  const Tensor *grad = call_tensor_or_null(call, 0);
  DType dtype = (DType)call_int(call, 1);
  if (!grad || grad->dtype == dtype) return same(call);
  IValue part = ivalue_retain(call->inputs[0]);
  Status status = OK;
  if (dtype_is_complex((DType)grad->dtype) && !dtype_is_complex(dtype)) {
    ivalue_release(part);
    part = IVALUE_NONE;
    status = op_call(call->exec, &real, 1, call->inputs, 1, &part);
  }
  if (!status) status = op_call(call->exec, &to, 2, (IValue[]){part, ivalue_int(dtype)}, 1, call->outputs);
  ivalue_release(part);
  return status;
}

static Status grad_or_undefined(Call *call) {
  if (!call_is_none(call, 0)) return same(call);
  call_set_tensor(call, 0, tensor_undefined());
  return OK;
}

/* Of aten::chunk, whose results have these gradients, undefined where there is none: they are put together. */
static Status chunk_backward(Call *call) {
  static OpRef cat = OP_REF("aten::cat", "");
  const List *grads = call_list(call, 0);
  int64_t chunks = call_int(call, 1), dim = call_int(call, 2);
  size_t ndim;
  const int64_t *sizes = call_ints(call, 3, &ndim);
  if (dim < 0) dim += (int64_t)ndim;
  if (dim < 0 || dim >= (int64_t)ndim || chunks < 1 || ndim > TENSOR_MAX_DIMS)
    return status_new(ERROR_RUNTIME, "_chunk_backward: there is no dimension %lld", (long long)dim);
  if (sizes[dim] < 0) return status_new(ERROR_RUNTIME, "_chunk_backward: a size of %lld", (long long)sizes[dim]);
  const Tensor *some = NULL;
  for (size_t i = 0; i < grads->length && !some; i++)
    if (tensor_is_defined(list_tensor(grads, i))) some = list_tensor(grads, i);
  if (!some) {
    call_set_tensor(call, 0, tensor_undefined());
    return OK;
  }
  int64_t step = sizes[dim] / chunks + (sizes[dim] % chunks > 0), part[TENSOR_MAX_DIMS];
  List *whole;
  memcpy(part, sizes, ndim * sizeof *part);
  TRY(list_new(TYPE(TENSOR), grads->length, &whole));
  Status status = OK;
  for (size_t i = 0; !status && i < grads->length; i++) {
    Tensor *t = grads->values[i].tensor;
    int64_t left = sizes[dim] - (int64_t)i * step;
    part[dim] = left < 0 ? 0 : left < step ? left : step;
    if (tensor_is_defined(t)) {
      t = tensor_retain(t);
    } else {
      status = tensor_empty((DType)some->dtype, (int)ndim, part, &t);
      if (!status) tensor_fill_zero(t);
    }
    if (!status) whole->values[whole->length++] = ivalue_tensor(t);
  }
  if (!status) status = op_call(call->exec, &cat, 2, (IValue[]){ivalue_list(whole), ivalue_int(dim)}, 1, call->outputs);
  ivalue_release(ivalue_list(whole));
  return status;
}

enum { GRADIENT = OP_COMPOSITE | OP_ACCEPT_ANY };

static const OpRow rows[] = {
    {.schema = "aten::_grad_sum_to_size(Tensor(a) self, int[]? size) -> Tensor(a)",
     .kernel = grad_sum_to_size,
     .flags = GRADIENT},
    {.schema = "aten::_grad_or_zeros(Tensor(a) self, int[] size, int dtype) -> Tensor(a)",
     .kernel = grad_or_zeros,
     .flags = GRADIENT | OP_OF_PLANS},
    {.schema = "aten::_grad_to_dtype(Tensor(a) self, int dtype) -> Tensor(a)",
     .kernel = grad_to_dtype,
     .flags = GRADIENT | OP_OF_PLANS},
    {.schema = "aten::_grad_or_undefined(Tensor(a)? self) -> Tensor(a)",
     .kernel = grad_or_undefined,
     .flags = GRADIENT | OP_OF_PLANS},
    {.schema = "aten::_chunk_backward(Tensor[] grads, int chunks, int dim, int[] size) -> Tensor",
     .kernel = chunk_backward,
     .flags = GRADIENT | OP_OF_PLANS},
};
OP_TABLE(op_table_gradient_support, rows);
