#include "torch_scatter/reduce.h"

#include <float.h>

static double largest(uint32_t dtype) {
  switch (dtype) {
    case WICK_FLOAT16:
      return 65504;
    case WICK_BFLOAT16:
      return 3.3895313892515355e38;
    case WICK_FLOAT32:
      return FLT_MAX;
    default:
      return DBL_MAX;
  }
}

static int64_t largest_int(uint32_t dtype) {
  switch (dtype) {
    case WICK_UINT8:
      return UINT8_MAX;
    case WICK_INT8:
      return INT8_MAX;
    case WICK_INT16:
      return INT16_MAX;
    case WICK_INT32:
      return INT32_MAX;
    case WICK_BOOL8:
      return 1;
    default:
      return INT64_MAX;
  }
}

static int64_t smallest_int(uint32_t dtype) {
  return dtype == WICK_UINT8 || dtype == WICK_BOOL8 ? 0 : -largest_int(dtype) - 1;
}

static double start(Reduction reduction, uint32_t dtype) {
  return reduction == REDUCE_MUL   ? 1
         : reduction == REDUCE_MIN ? largest(dtype)
         : reduction == REDUCE_MAX ? -largest(dtype)
                                   : 0;
}

static int64_t start_int(Reduction reduction, uint32_t dtype) {
  return reduction == REDUCE_MUL   ? 1
         : reduction == REDUCE_MIN ? largest_int(dtype)
         : reduction == REDUCE_MAX ? smallest_int(dtype)
                                   : 0;
}

/* Integers wrap around: they are added and multiplied as unsigned ones. */
#define DEFINE(NUMBER, ARITHMETIC)                                                                                   \
  static void start_##NUMBER(NUMBER *to, int64_t count, NUMBER value) {                                              \
    for (int64_t i = 0; i < count; i++) to[i] = value;                                                               \
  }                                                                                                                  \
  static void finish_##NUMBER(NUMBER *numbers, int64_t count, NUMBER value) {                                        \
    for (int64_t i = 0; i < count; i++)                                                                              \
      if (numbers[i] == value) numbers[i] = 0;                                                                       \
  }                                                                                                                  \
  static void add_##NUMBER(Reduction reduction, int64_t count, NUMBER *to, const NUMBER *from, int64_t *positions,   \
                           int64_t position) {                                                                       \
    switch (reduction) {                                                                                             \
      case REDUCE_SUM:                                                                                               \
      case REDUCE_MEAN:                                                                                              \
        for (int64_t i = 0; i < count; i++) to[i] = (NUMBER)((ARITHMETIC)to[i] + (ARITHMETIC)from[i]);               \
        break;                                                                                                       \
      case REDUCE_MUL:                                                                                               \
        for (int64_t i = 0; i < count; i++) to[i] = (NUMBER)((ARITHMETIC)to[i] * (ARITHMETIC)from[i]);               \
        break;                                                                                                       \
      default:                                                                                                       \
        for (int64_t i = 0; i < count; i++)                                                                          \
          if (reduction == REDUCE_MIN ? from[i] < to[i] : from[i] > to[i]) to[i] = from[i], positions[i] = position; \
    }                                                                                                                \
  }
DEFINE(float, float)
DEFINE(double, double)
DEFINE(int64_t, uint64_t)

void reduction_start(Reduction reduction, uint32_t dtype, int64_t count, void *to) {
  switch (dtype_compute(dtype)) {
    case WICK_FLOAT32:
      start_float(to, count, (float)start(reduction, dtype));
      break;
    case WICK_FLOAT64:
      start_double(to, count, start(reduction, dtype));
      break;
    default:
      start_int64_t(to, count, start_int(reduction, dtype));
  }
}

void reduction_finish(Reduction reduction, uint32_t dtype, int64_t count, void *numbers) {
  if (!reduction_has_position(reduction)) return;
  switch (dtype_compute(dtype)) {
    case WICK_FLOAT32:
      finish_float(numbers, count, (float)start(reduction, dtype));
      break;
    case WICK_FLOAT64:
      finish_double(numbers, count, start(reduction, dtype));
      break;
    default:
      finish_int64_t(numbers, count, start_int(reduction, dtype));
  }
}

void reduction_add(Reduction reduction, uint32_t compute, int64_t count, void *results, const void *numbers,
                   int64_t *positions, int64_t position) {
  switch (compute) {
    case WICK_FLOAT32:
      add_float(reduction, count, results, numbers, positions, position);
      break;
    case WICK_FLOAT64:
      add_double(reduction, count, results, numbers, positions, position);
      break;
    default:
      add_int64_t(reduction, count, results, numbers, positions, position);
  }
}

void reduction_divide(uint32_t compute, int64_t count, void *numbers, int64_t by) {
  for (int64_t i = 0; i < count; i++)
    if (compute == WICK_FLOAT32)
      ((float *)numbers)[i] /= (float)by;
    else if (compute == WICK_FLOAT64)
      ((double *)numbers)[i] /= (double)by;
    else
      ((int64_t *)numbers)[i] /= by;
}
