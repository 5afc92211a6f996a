/* The reductions of torch_scatter over numbers of one of the types that sums are computed in. */
#pragma once

#include "kit/kit.h"

typedef enum Reduction { REDUCE_SUM, REDUCE_MUL, REDUCE_MEAN, REDUCE_MIN, REDUCE_MAX } Reduction;

static inline bool reduction_has_position(Reduction reduction) {
  return reduction == REDUCE_MIN || reduction == REDUCE_MAX;
}

/* What a reduction over numbers of `dtype` starts with: the largest finite number for the smallest, and so on. `to` is
 * of dtype_compute(dtype). */
void reduction_start(Reduction reduction, uint32_t dtype, int64_t count, void *to);
/* Numbers that are still what the reduction starts with become 0: nothing came to them. */
void reduction_finish(Reduction reduction, uint32_t dtype, int64_t count, void *numbers);
/* Takes `count` numbers into as many results; where one is taken by REDUCE_MIN or REDUCE_MAX its position is noted. */
void reduction_add(Reduction reduction, uint32_t compute, int64_t count, void *results, const void *numbers,
                   int64_t *positions, int64_t position);
/* Divides `count` numbers, integers towards zero. */
void reduction_divide(uint32_t compute, int64_t count, void *numbers, int64_t by);
