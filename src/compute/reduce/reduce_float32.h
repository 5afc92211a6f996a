/* The accumulators that read neighbouring float32 values as they are, whole rows of them at once. Their states are
 * those of the accumulators they stand for (reduce_ops.c): sums in double, in an order that depends on the shape alone.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

typedef enum ReduceFloat32 {
  REDUCE_FLOAT32_NONE,
  REDUCE_FLOAT32_SUM,       /* state: the sum */
  REDUCE_FLOAT32_SQUARES,   /* the sum of squares */
  REDUCE_FLOAT32_MAX,       /* the value, its position */
  REDUCE_FLOAT32_MIN,       /* the same */
  REDUCE_FLOAT32_LOGSUMEXP, /* the largest value, the sum of exponentials less it */
  REDUCE_FLOAT32_COUNT
} ReduceFloat32;

/* `rows` rows of n neighbours each (n at most REDUCE_BLOCK), `stride` elements from one to the next. `at` is the
 * position of the first value among the reduced ones. positions: whether those of extremes are wanted. */
typedef void ReduceRows(void *const *state, int64_t rows, int64_t stride, int64_t n, const float *x, int64_t at,
                        bool positions);
typedef struct ReduceRowsForms {
  ReduceRows *along; /* each row into a result of its own */
  ReduceRows *down;  /* all rows into n results */
} ReduceRowsForms;
typedef ReduceRowsForms ReduceRowsTable[REDUCE_FLOAT32_COUNT];
extern const ReduceRowsTable reduce_rows_portable, reduce_rows_avx2, reduce_rows_neon;
/* For this processor; NULL: it converts. */
const ReduceRowsForms *reduce_rows(ReduceFloat32 kind);
