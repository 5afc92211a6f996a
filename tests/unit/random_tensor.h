/* Tensors of numbers that look random and are the same in every run. */
#pragma once

#include "checks.h"
#include "random_numbers.h"

/* float32, row-major. */
static inline Tensor *random_tensor(int ndim, const int64_t *sizes) {
  Tensor *t;
  check(tensor_empty(DTYPE_FLOAT32, ndim, sizes, &t));
  float *p = tensor_data(t);
  for (int64_t i = 0; i < t->numel; i++) p[i] = (float)pick(-1000, 1000) * 0.0037f;
  return t;
}
