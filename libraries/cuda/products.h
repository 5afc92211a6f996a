/* Products of matrices by cuBLAS, which is opened when the first is asked for. */
#ifndef CUDA_PRODUCTS_H
#define CUDA_PRODUCTS_H

#include <stdint.h>

#include "wick/status.h"

typedef struct Matrices { /* [batch, rows, columns] */
  int64_t batch, rows, columns;
  int64_t batch_stride, row_stride, column_stride;
  void *data;
} Matrices;
enum Precision { PRECISE, TF32 }; /* of float32: as it is, or its factors rounded to TF32 */
/* c = alpha a b + beta c on a card; c is row-major, the others are row- or column-major. */
wick_status multiply(int32_t index, uint32_t dtype, enum Precision precision, const Matrices *a, const Matrices *b,
                     const Matrices *c, double alpha, double beta, wick_error **error);

#endif
