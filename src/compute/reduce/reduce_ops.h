/* The accumulators of the reduction engine. */
#pragma once

#include "compute/reduce/reduce.h"

/* clang-format off */
#define REDUCE_OPS(X)                                                                                               \
  X(sum_f64)                                                                                                        \
  X(sum_i64)                                                                                                        \
  X(sum_c128)                                                                                                       \
  X(nansum_f64) X(prod_f64) X(prod_i64) X(prod_c128) X(mean_f64) X(mean_c128) X(any_f64) X(any_i64) X(any_c128)     \
      X(all_f64) X(all_i64) X(all_c128) X(count_f64) X(count_i64) X(count_c128) X(max_f64) X(max_i64) X(min_f64)    \
          X(min_i64) X(var_f64) X(var_c128) X(logsumexp_f64) X(logsumexp_c128) X(xor_f64) X(xor_i64) X(norm0) X(norm1) X(norm2) X(norm_inf) X(norm_neg_inf) \
              X(norm_p)
/* clang-format on */
#define X(name) extern const ReduceOp reduce_##name;
REDUCE_OPS(X)
#undef X
