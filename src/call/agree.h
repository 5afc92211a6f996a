/* What a kernel relies on between two of its arguments. Rows that anybody may call, those of gradients too, ask before
 * they read: memory is laid out by one argument and walked by the other. */
#pragma once

#include <assert.h>

#include "tensor/tensor.h"

/* "expected scalar type Float but found Double", unless `t` has that dtype. */
Status require_dtype(const Tensor *t, DType dtype) MUST_CHECK;
/* "Expected grad_output to have sizes [1, 2], but got [3]". */
Status require_sizes(const Tensor *t, const char *name, int ndim, const int64_t *sizes) MUST_CHECK;
/* Both, as the spec says: grad_output against the result whose gradient it is. */
Status require_like(const Tensor *t, const char *name, const TensorSpec *spec) MUST_CHECK;

/* The data of a tensor that is walked by the item size of another: a kernel whose check was forgotten says so in debug
 * builds, before it leaves the memory. */
static inline char *tensor_items(const Tensor *t, int64_t item) {
  assert(!t->numel || (int64_t)dtype_size((DType)t->dtype) == item);
  (void)item;
  return tensor_data(t);
}
