/* Nested tensors: sequences of several lengths in one tensor, as encoders pass them between their layers. Held as the
 * padded tensor with the sizes of its parts beside it; marked opaque, so that only the operators of this file see the
 * padding. */
#include <assert.h>

#include "call/row.h"

typedef struct NestedSizes {
  TensorExtension base;
  Tensor *sizes; /* int64 (parts, dimensions of a part) */
} NestedSizes;

static void free_sizes(TensorExtension *extension) {
  NestedSizes *nested = (NestedSizes *)extension;
  tensor_release(nested->sizes);
  mem_free(nested);
}

static bool is_nested(const Tensor *t) {
  return t->flags & TENSOR_OPAQUE && t->extension && t->extension->kind == EXTENSION_NESTED;
}
static const Tensor *sizes_of(const Tensor *t) {
  assert(is_nested(t));
  return ((const NestedSizes *)t->extension)->sizes;
}

static Status expect_nested(const Call *call, const Tensor *t) {
  if (is_nested(t)) return OK;
  return status_new(ERROR_RUNTIME, STR_FMT ": the tensor is not nested",
                    STR_ARG(str_slice(call->op->name, 6, call->op->name.length)));
}

/* A nested tensor of a copy of `padded`; takes over sizes. */
static Status give_nested(Call *call, const Tensor *padded, Tensor *sizes) {
  Tensor *nested = NULL;
  Status status = tensor_empty((DType)padded->dtype, padded->ndim, padded->sizes, &nested);
  if (!status) status = tensor_copy(nested, padded, call->exec->work.threads);
  NestedSizes *extension = status ? NULL : mem_calloc(1, sizeof *extension);
  if (!extension) {
    tensor_release(nested);
    tensor_release(sizes);
    return status ? status : status_out_of_memory();
  }
  ref_init(&extension->base.refs);
  extension->base.kind = EXTENSION_NESTED;
  extension->base.free = free_sizes;
  extension->sizes = sizes;
  nested->extension = &extension->base;
  nested->flags |= TENSOR_OPAQUE;
  call_set_tensor(call, 0, nested);
  return OK;
}

/* The lengths of rows of true at the left of a (parts, longest) mask; false: a row has true after false. */
static bool left_lengths(const Tensor *mask, int64_t *lengths) {
  assert(mask->ndim == 2);
  for (int64_t i = 0; i < mask->sizes[0]; i++) {
    const uint8_t *row = (const uint8_t *)tensor_data(mask) + i * mask->sizes[1];
    int64_t n = 0;
    while (n < mask->sizes[1] && row[n]) n++;
    lengths[i] = n;
    for (int64_t j = n; j < mask->sizes[1]; j++)
      if (row[j]) return false;
  }
  return true;
}

static Status read_mask(const Call *call, Tensor **out_mask, Tensor **out_lengths, bool *out_left) {
  const Tensor *t = call_tensor(call, 0), *mask = call_tensor(call, 1);
  if (mask->dtype != DTYPE_BOOL)
    return status_new(ERROR_RUNTIME, "Expected mask to be of ScalarType Bool, but got %s instead.",
                      dtype_scalar_name((DType)mask->dtype));
  if (mask->ndim != 2) return status_new(ERROR_RUNTIME, "Padding mask should be 2D");
  if (t->ndim != 3) return status_new(ERROR_RUNTIME, "Input should be a 3D tensor, N * L * D");
  if (t->sizes[0] != mask->sizes[0] || t->sizes[1] != mask->sizes[1])
    return status_new(ERROR_RUNTIME, "Mask size should match input size");
  TRY(tensor_contiguous(mask, out_mask));
  Status status = tensor_empty(DTYPE_INT64, 1, mask->sizes, out_lengths);
  if (status)
    tensor_release(*out_mask);
  else
    *out_left = left_lengths(*out_mask, tensor_data(*out_lengths));
  return status;
}

static Status kernel_from_mask(Call *call) {
  const Tensor *t = call_tensor(call, 0);
  Tensor *mask, *lengths, *sizes = NULL;
  bool left;
  TRY(read_mask(call, &mask, &lengths, &left));
  Status status = OK;
  int64_t *n = tensor_data(lengths), longest = 0;
  if (!left && call_bool(call, 2)) status = status_new(ERROR_RUNTIME, "Mask must be left-aligned without gaps");
  if (!status && !left) /* what is true counts, wherever it stands */
    for (int64_t i = 0; i < mask->sizes[0]; i++) {
      n[i] = 0;
      for (int64_t j = 0; j < mask->sizes[1]; j++) n[i] += ((const uint8_t *)tensor_data(mask))[i * mask->sizes[1] + j];
    }
  if (!status) status = tensor_empty(DTYPE_INT64, 2, (const int64_t[]){t->sizes[0], 2}, &sizes);
  for (int64_t i = 0; !status && i < t->sizes[0]; i++) {
    ((int64_t *)tensor_data(sizes))[2 * i] = n[i];
    ((int64_t *)tensor_data(sizes))[2 * i + 1] = t->sizes[2];
    if (n[i] > longest) longest = n[i];
  }
  Tensor *padded = NULL;
  if (!status) status = tensor_narrow(t, 1, 0, longest, &padded);
  if (!status) {
    status = give_nested(call, padded, sizes);
    sizes = NULL;
  }
  tensor_release(padded);
  tensor_release(sizes);
  tensor_release(lengths);
  tensor_release(mask);
  return status;
}

static Status kernel_is_left_aligned(Call *call) {
  Tensor *mask, *lengths;
  bool left;
  TRY(read_mask(call, &mask, &lengths, &left));
  tensor_release(mask);
  tensor_release(lengths);
  call_set(call, 0, ivalue_bool(left));
  return OK;
}

static Status kernel_size(Call *call) {
  TRY(expect_nested(call, call_tensor(call, 0)));
  Tensor *sizes;
  TRY(tensor_clone(sizes_of(call_tensor(call, 0)), &sizes));
  call_set_tensor(call, 0, sizes);
  return OK;
}

static Status kernel_from_padded(Call *call) {
  const Tensor *padded = call_tensor(call, 0), *example = call_tensor(call, 1);
  if (call_bool(call, 2))
    return status_new(ERROR_UNSUPPORTED, "_nested_from_padded: the fused transposition is not supported");
  if (padded->ndim < 2 || example->dtype != DTYPE_INT64 || example->ndim != 2 ||
      example->sizes[0] != padded->sizes[0] || example->sizes[1] != padded->ndim - 1)
    return status_new(ERROR_RUNTIME, "_nested_from_padded: expected the sizes of %lld parts of %d dimensions",
                      padded->ndim ? (long long)padded->sizes[0] : 0LL, padded->ndim - 1);
  Tensor *sizes;
  TRY(tensor_clone(example, &sizes));
  const int64_t *n = tensor_data(sizes);
  for (int64_t i = 0; i < sizes->numel; i++)
    if (n[i] < 0 || n[i] > padded->sizes[1 + i % sizes->sizes[1]]) {
      tensor_release(sizes);
      return status_new(ERROR_RUNTIME, "_nested_from_padded: a part is larger than the padded tensor");
    }
  return give_nested(call, padded, sizes);
}

/* Copies part i into its place of `out`. */
static Status copy_part(const Call *call, const Tensor *plain, const Tensor *sizes, int64_t i, const Tensor *out) {
  assert(i >= 0 && i < sizes->sizes[0]);
  Tensor *from, *to;
  Status status = OK;
  TRY(tensor_select(plain, 0, i, &from));
  if ((status = tensor_select(out, 0, i, &to))) {
    tensor_release(from);
    return status;
  }
  for (int64_t d = 0; d < from->ndim && !status; d++) {
    int64_t length = ((const int64_t *)tensor_data(sizes))[i * sizes->sizes[1] + d];
    Tensor *less = NULL, *target = NULL;
    status = tensor_narrow(from, d, 0, length, &less);
    if (!status) status = tensor_narrow(to, d, 0, length, &target);
    if (status) {
      tensor_release(less);
      break;
    }
    tensor_release(from);
    tensor_release(to);
    from = less;
    to = target;
  }
  if (!status) status = tensor_copy(to, from, call->exec->work.threads);
  tensor_release(from);
  tensor_release(to);
  return status;
}

static Status kernel_to_padded(Call *call) {
  static OpRef full = OP_REF("aten::full_like", "");
  const Tensor *self = call_tensor(call, 0);
  TRY(expect_nested(call, self));
  const Tensor *sizes = sizes_of(self);
  int64_t wanted[TENSOR_MAX_DIMS];
  memcpy(wanted, self->sizes, (size_t)self->ndim * sizeof *wanted);
  if (!call_is_none(call, 2)) {
    size_t count;
    const int64_t *given = call_ints(call, 2, &count);
    if (count != (size_t)self->ndim)
      return status_new(ERROR_RUNTIME,
                        "Length of output_size does not match NestedTensor dims. Broadcasting is not supported.");
    for (int d = 0; d < self->ndim; d++) {
      if (given[d] < self->sizes[d] || (d == 0 && given[d] != self->sizes[d]))
        return status_new(ERROR_RUNTIME,
                          "Value in output_size is less than NestedTensor padded size. Truncation is not supported.");
      wanted[d] = given[d];
    }
  }
  Tensor *plain, *empty = NULL;
  TRY(tensor_from_storage(self->storage, (DType)self->dtype, self->ndim, self->sizes, self->strides, self->offset,
                          &plain));
  IValue out = IVALUE_NONE;
  Status status = tensor_empty((DType)self->dtype, self->ndim, wanted, &empty);
  if (!status) status = op_call(call->exec, &full, 2, (IValue[]){ivalue_tensor(empty), call_value(call, 1)}, 1, &out);
  for (int64_t i = 0; i < sizes->sizes[0] && !status; i++) status = copy_part(call, plain, sizes, i, out.tensor);
  tensor_release(plain);
  tensor_release(empty);
  if (status)
    ivalue_release(out);
  else
    call_set(call, 0, out);
  return status;
}

static Status kernel_is_nested(Call *call) {
  call_set(call, 0, ivalue_bool(is_nested(call_tensor(call, 0))));
  return OK;
}

#define NESTED(text, kernel_function) \
  { .schema = text, .kernel = kernel_function, .flags = OP_ACCEPT_OPAQUE | OP_NOT_DIFFERENTIABLE }
static const OpRow rows[] = {
    {.schema = "prim::is_nested(Tensor a) -> bool",
     .kernel = kernel_is_nested,
     .flags = OP_ACCEPT_ANY | OP_NOT_DIFFERENTIABLE},
    NESTED("aten::_nested_tensor_from_mask(Tensor t, Tensor mask, bool mask_check=True) -> Tensor", kernel_from_mask),
    NESTED("aten::_nested_tensor_from_mask_left_aligned(Tensor t, Tensor mask) -> bool", kernel_is_left_aligned),
    NESTED("aten::_nested_tensor_size(Tensor self) -> Tensor", kernel_size),
    NESTED("aten::_nested_from_padded(Tensor padded, Tensor cpu_nested_shape_example, bool fuse_transform_0213=False) "
           "-> Tensor",
           kernel_from_padded),
    NESTED("aten::to_padded_tensor(Tensor self, float padding, int[]? output_size=None) -> Tensor", kernel_to_padded),
    NESTED("aten::nested_to_padded_tensor(Tensor self, float padding, int[]? output_size=None) -> Tensor",
           kernel_to_padded),
};
OP_TABLE(op_table_nested, rows);
