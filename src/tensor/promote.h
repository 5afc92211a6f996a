/* Type promotion of operands by PyTorch's categories: dimensioned tensors, zero-dimensional tensors, wrapped numbers.
 */
#pragma once

#include "tensor/tensor.h"

typedef struct Promotion {
  DType dimensioned, zero_dim, wrapped; /* DTYPE_NONE: none seen */
} Promotion;
#define PROMOTION_EMPTY ((Promotion){DTYPE_NONE, DTYPE_NONE, DTYPE_NONE})
void promotion_add(Promotion *p, const Tensor *t);
void promotion_add_scalar(Promotion *p, DType scalar_dtype); /* INT64, FLOAT64, COMPLEX128 or BOOL for Python numbers */
DType promotion_result(const Promotion *p);                  /* wrapped float: the default dtype */
