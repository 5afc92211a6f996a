/* element.h: one function for each reduction and dtype, from one table. */
#include "compute/element/element.h"

#include <assert.h>
#include <math.h>

#define ADD(a, b) ((a) + (b))
#define MULTIPLY(a, b) ((a) * (b))
#define MAX(a, b) ((a) > (b) || (a) != (a) ? (a) : (b))
#define MIN(a, b) ((a) < (b) || (a) != (a) ? (a) : (b))

/* LOAD and STORE translate the stored form (halves) to the arithmetic one; COUNT to the one that is added and
 * multiplied: unsigned, for integers wrap. */
#define COMBINE(NAME, STORED, LOAD, STORE, OP)                      \
  static void combine_##OP##_##NAME(void *into, const void *from) { \
    STORED a, b;                                                    \
    memcpy(&a, into, sizeof a);                                     \
    memcpy(&b, from, sizeof b);                                     \
    a = STORE(OP(LOAD(a), LOAD(b)));                                \
    memcpy(into, &a, sizeof a);                                     \
  }
#define SAME(x) (x)
#define TRUTH(x) ((uint8_t)((x) != 0))
/* clang-format off */
#define ALL_ORDERED(X)                                                        \
  X(UINT8, uint8_t, SAME, SAME, (uint8_t))                                    \
  X(INT8, int8_t, SAME, SAME, (int8_t))                                       \
  X(INT16, int16_t, SAME, SAME, (int16_t))                                    \
  X(INT32, int32_t, SAME, (uint32_t), (int32_t))                              \
  X(INT64, int64_t, SAME, (uint64_t), (int64_t))                              \
  X(FLOAT32, float, SAME, SAME, SAME)                                         \
  X(FLOAT64, double, SAME, SAME, SAME)                                        \
  X(BOOL, uint8_t, SAME, SAME, TRUTH)                                         \
  X(FLOAT16, uint16_t, half_to_float, half_to_float, half_from_float)         \
  X(BFLOAT16, uint16_t, bfloat16_to_float, bfloat16_to_float, bfloat16_from_float)
/* clang-format on */
#define ALL_COMPLEX(X) X(COMPLEX64, complex64) X(COMPLEX128, complex128)

#define EVERY_ORDERED(NAME, STORED, LOAD, COUNT, STORE) \
  COMBINE(NAME, STORED, COUNT, STORE, ADD)              \
  COMBINE(NAME, STORED, COUNT, STORE, MULTIPLY)         \
  COMBINE(NAME, STORED, LOAD, STORE, MAX)               \
  COMBINE(NAME, STORED, LOAD, STORE, MIN)
#define EVERY_COMPLEX(NAME, STORED)      \
  COMBINE(NAME, STORED, SAME, SAME, ADD) \
  COMBINE(NAME, STORED, SAME, SAME, MULTIPLY)
ALL_ORDERED(EVERY_ORDERED)
ALL_COMPLEX(EVERY_COMPLEX)

ElementCombine *element_combine(ElementReduction reduction, DType dtype) {
  assert(dtype < DTYPE_COUNT);
#define ORDERED_ROW(NAME, ...) \
  [DTYPE_##NAME] = {combine_ADD_##NAME, combine_MULTIPLY_##NAME, combine_MAX_##NAME, combine_MIN_##NAME},
#define COMPLEX_ROW(NAME, ...) [DTYPE_##NAME] = {combine_ADD_##NAME, combine_MULTIPLY_##NAME, NULL, NULL},
  static ElementCombine *const table[DTYPE_COUNT][4] = {ALL_ORDERED(ORDERED_ROW) ALL_COMPLEX(COMPLEX_ROW)};
  return table[dtype][reduction];
}

static Status element_new(DType dtype, DType given, const void *number, Tensor **out) {
  TRY(tensor_empty(dtype, 0, NULL, out));
  dtype_convert(dtype, tensor_data(*out), 1, given, number, 1, 1);
  return OK;
}

Status element_identity(ElementReduction reduction, DType dtype, Tensor **out) {
  bool is_max = reduction == ELEMENT_MAX, is_product = reduction == ELEMENT_MULTIPLY;
  bool is_extreme = is_max || reduction == ELEMENT_MIN;
  if (is_extreme && dtype_is_floating(dtype))
    return element_new(dtype, DTYPE_FLOAT64, &(double){is_max ? -INFINITY : INFINITY}, out);
  int64_t number = is_product;
  if (is_extreme) {
    bool is_signed = dtype != DTYPE_BOOL && dtype != DTYPE_UINT8;
    int64_t least = is_signed ? INT64_MIN >> (64 - (int)dtype_size(dtype) * 8) : 0;
    int64_t most = is_signed ? ~least : dtype == DTYPE_BOOL ? 1 : 255;
    number = is_max ? least : most;
  }
  return element_new(dtype, DTYPE_INT64, &number, out);
}

Status element_truth(const Tensor *t, bool *out) {
  if (t->numel != 1)
    return status_new(ERROR_RUNTIME, "Boolean value of Tensor with %s ambiguous",
                      t->numel ? "more than one value is" : "no values is");
  if (!t->storage) return status_new(ERROR_RUNTIME, "a tensor on the meta device has no element to read");
  TRY(tensor_check_host(t));
  *out = tensor_item_bool(t);
  return OK;
}
