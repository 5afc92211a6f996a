/* The operators of a card: tables of kernels by family. */
#ifndef CUDA_OPERATORS_H
#define CUDA_OPERATORS_H

#include "cuda/work.h"
#include "wick/backend.h"

typedef struct OperatorKernel {
  const char *name; /* "aten::sum.dim_IntList"; NULL ends a table */
  void (*run)(Work *w, int variant);
  int variant;
  bool fills; /* wick makes the results, by the row's shape function */
} OperatorKernel;

extern const OperatorKernel convolution_kernels[], fetching_kernels[], indexing_kernels[], joining_kernels[],
    formula_kernels[], pooling_kernels[], product_kernels[], reduction_kernels[];
wick_status operators_register(wick_error **error);

#endif
