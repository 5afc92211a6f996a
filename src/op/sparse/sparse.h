/* What kernels of sparse tensors share. */
#pragma once

#include "call/call.h"

/* Calls an operator that gives one tensor. */
Status sparse_op(Exec *exec, OpRef *ref, uint32_t count, const IValue *inputs, Tensor **out) MUST_CHECK;
/* The call's result, where there is one; takes it over. */
static inline Status sparse_give(Call *c, Status status, Tensor *out) {
  if (!status) call_set_tensor(c, 0, out);
  return status;
}
/* "aten::indices: the tensor is not sparse" and the like. */
Status expect_coo(const Call *call, const Tensor *t) MUST_CHECK;
/* Row-major over the sparse dimensions, each index once: itself, retained, when it is so. A COO tensor. */
Status sparse_coalesce(Exec *exec, const Tensor *t, Tensor **out) MUST_CHECK;
/* Of any sparse tensor. */
Status sparse_to_dense(Exec *exec, const Tensor *t, Tensor **out) MUST_CHECK;
/* The rows of `to` at int64 places, each with the row of `rows` added: a new tensor. */
Status sparse_add_rows(Exec *exec, Tensor *to, Tensor *places, Tensor *rows, Tensor **out) MUST_CHECK;
/* Zeros of `rows` times the dense dimensions of t. */
Status sparse_dense_rows(const Tensor *t, DType dtype, int64_t rows, Tensor **out) MUST_CHECK;
