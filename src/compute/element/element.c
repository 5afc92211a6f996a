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

Status element_tensor(IValue number, DType dtype, Tensor **out) {
  TRY(tensor_empty(dtype, 0, NULL, out));
  if (number.tag == TAG_COMPLEX) {
    complex128 c = ivalue_to_complex(number);
    dtype_convert(dtype, tensor_data(*out), 1, DTYPE_COMPLEX128, &c, 1, 1);
  } else if (number.tag == TAG_FLOAT) {
    dtype_convert(dtype, tensor_data(*out), 1, DTYPE_FLOAT64, &number.f, 1, 1);
  } else {
    int64_t i = ivalue_to_int(number);
    dtype_convert(dtype, tensor_data(*out), 1, DTYPE_INT64, &i, 1, 1);
  }
  return OK;
}

Status element_identity(ElementReduction reduction, DType dtype, Tensor **out) {
  if (reduction == ELEMENT_ADD || reduction == ELEMENT_MULTIPLY)
    return element_tensor(ivalue_int(reduction == ELEMENT_MULTIPLY), dtype, out);
  bool is_max = reduction == ELEMENT_MAX;
  if (dtype_is_floating(dtype)) return element_tensor(ivalue_float(is_max ? -INFINITY : INFINITY), dtype, out);
  if (dtype == DTYPE_BOOL) return element_tensor(ivalue_int(!is_max), dtype, out);
  if (dtype == DTYPE_UINT8) return element_tensor(ivalue_int(is_max ? 0 : 255), dtype, out);
  int bits = (int)dtype_size(dtype) * 8;
  int64_t least = INT64_MIN >> (64 - bits), most = ~least;
  return element_tensor(ivalue_int(is_max ? least : most), dtype, out);
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
