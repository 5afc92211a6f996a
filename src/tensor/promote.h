/* Type promotion of operands by PyTorch's categories: dimensioned tensors, zero-dimensional tensors, wrapped numbers.
 */
#pragma once

#include "tensor/tensor.h"

typedef struct Promotion {
  DType dimensioned, zero_dim, wrapped; /* DTYPE_NONE: none seen */
  DType apart[2];                       /* the first two of a category that have no dtype in common */
} Promotion;
#define PROMOTION_EMPTY ((Promotion){DTYPE_NONE, DTYPE_NONE, DTYPE_NONE, {DTYPE_NONE, DTYPE_NONE}})
void promotion_add(Promotion *p, const Tensor *t);
void promotion_add_scalar(Promotion *p, DType scalar_dtype); /* INT64, FLOAT64, COMPLEX128 or BOOL for Python numbers */
/* Wrapped float: the default dtype. Where limited dtypes may be among them, they may have none in common: an error. */
DType promotion_result(const Promotion *p);
Status promotion_finish(const Promotion *p, DType *out) MUST_CHECK;
Status promotion_is_refused(DType a, DType b) MUST_CHECK;
