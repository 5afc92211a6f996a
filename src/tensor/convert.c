/* dtype_convert: each dtype loads into one of three compute types (int64, double, complex128) and stores from each of
 * them, so sixteen dtypes need sixteen loaders and storers instead of 256 loops. Frequent contiguous pairs have loops
 * of their own. */
#include "tensor/tensor.h"

#include <assert.h>

#include "base/processor.h"
#include "tensor/float8.h"
#include "tensor/half.h"

enum { BLOCK = 256 };
typedef enum Kind { KIND_INT, KIND_UNSIGNED, KIND_REAL, KIND_COMPLEX } Kind; /* unsigned: uint64, in the ints' bits */
typedef union Values {
  int64_t ints[BLOCK];
  double reals[BLOCK];
  complex128 complexes[BLOCK];
} Values;

/* Out of range and NaN give what x86's conversions give, which is what PyTorch shows: the least integer of the width
 * that the conversion passes through. */
static inline int64_t int64_from_real(double x) {
  return x >= -0x1p63 && x < 0x1p63 ? (int64_t)x : INT64_MIN;
}
static inline int32_t int32_from_real(double x) {
  return x > -0x1p31 - 1 && x < 0x1p31 ? (int32_t)x : INT32_MIN;
}

static inline uint64_t uint64_from_real(double x) { /* in two steps from 2^63 on */
  return x >= 0x1p63 ? (uint64_t)int64_from_real(x - 0x1p63) ^ (uint64_t)INT64_MIN : (uint64_t)int64_from_real(x);
}

static inline complex128 complex_make(double re, double im) {
  return __builtin_complex(re, im);
}
static inline complex128 load_complex32(uint32_t bits) {
  return complex_make(half_to_float((uint16_t)bits), half_to_float((uint16_t)(bits >> 16)));
}
static inline uint32_t store_complex32(double re, double im) {
  return half_from_float((float)re) | (uint32_t)half_from_float((float)im) << 16;
}
#define RE(z) __builtin_creal(z)
#define IM(z) __builtin_cimag(z)

#define FLOAT8_ELEMENT(X, name, text)                                                          \
  X(name, uint8_t, REAL, reals, float8_to_float(&text, x), float8_from_float(&text, (float)x), \
    float8_from_float(&text, (float)x), float8_from_float(&text, (float)RE(z)))

/*  dtype, C type, kind, field; load from x; store from int64 x; from double x; from complex z */
#define ELEMENTS(X)                                                                                                    \
  X(UINT8, uint8_t, INT, ints, x, (uint8_t)x, (uint8_t)int64_from_real(x), (uint8_t)int64_from_real(RE(z)))            \
  X(INT8, int8_t, INT, ints, x, (int8_t)x, (int8_t)int32_from_real(x), (int8_t)int32_from_real(RE(z)))                 \
  X(INT16, int16_t, INT, ints, x, (int16_t)x, (int16_t)int32_from_real(x), (int16_t)int32_from_real(RE(z)))            \
  X(INT32, int32_t, INT, ints, x, (int32_t)x, int32_from_real(x), int32_from_real(RE(z)))                              \
  X(INT64, int64_t, INT, ints, x, x, int64_from_real(x), int64_from_real(RE(z)))                                       \
  X(FLOAT16, uint16_t, REAL, reals, half_to_float(x), half_from_float((float)x), half_from_float((float)x),            \
    half_from_float((float)RE(z)))                                                                                     \
  X(FLOAT32, float, REAL, reals, x, (float)x, (float)x, (float)RE(z))                                                  \
  X(FLOAT64, double, REAL, reals, x, (double)x, x, RE(z))                                                              \
  X(COMPLEX32, uint32_t, COMPLEX, complexes, load_complex32(x), store_complex32((float)x, 0), store_complex32(x, 0),   \
    store_complex32(RE(z), IM(z)))                                                                                     \
  X(COMPLEX64, complex64, COMPLEX, complexes, complex_make(RE((complex128)x), IM((complex128)x)),                      \
    __builtin_complex((float)x, 0.f), __builtin_complex((float)x, 0.f), __builtin_complex((float)RE(z), (float)IM(z))) \
  X(COMPLEX128, complex128, COMPLEX, complexes, x, complex_make((double)x, 0), complex_make(x, 0), z)                  \
  X(BOOL, uint8_t, INT, ints, x != 0, x != 0, x != 0, RE(z) != 0)                                                      \
  X(BFLOAT16, uint16_t, REAL, reals, bfloat16_to_float(x), bfloat16_from_float((float)x),                              \
    bfloat16_from_float((float)x), bfloat16_from_float((float)RE(z)))                                                  \
  X(UINT16, uint16_t, INT, ints, x, (uint16_t)x, (uint16_t)int32_from_real(x), (uint16_t)int32_from_real(RE(z)))       \
  X(UINT32, uint32_t, INT, ints, x, (uint32_t)x, (uint32_t)int64_from_real(x), (uint32_t)int64_from_real(RE(z)))       \
  X(UINT64, uint64_t, UNSIGNED, ints, (int64_t)x, (uint64_t)x, uint64_from_real(x), uint64_from_real(RE(z)))           \
  FLOAT8_ELEMENT(X, FLOAT8_E5M2, float8_e5m2)                                                                          \
  FLOAT8_ELEMENT(X, FLOAT8_E4M3FN, float8_e4m3fn)                                                                      \
  FLOAT8_ELEMENT(X, FLOAT8_E5M2FNUZ, float8_e5m2fnuz)                                                                  \
  FLOAT8_ELEMENT(X, FLOAT8_E4M3FNUZ, float8_e4m3fnuz)                                                                  \
  FLOAT8_ELEMENT(X, FLOAT8_E8M0FNU, float8_e8m0fnu)

#define X(name, type, kind, field, load, from_int, from_real, from_complex)                        \
  static void load_##name(Values *out, const char *from, int64_t stride, int64_t n) {              \
    for (int64_t i = 0; i < n; i++, from += stride) {                                              \
      type x = *(const type *)from;                                                                \
      out->field[i] = load;                                                                        \
    }                                                                                              \
  }                                                                                                \
  static void store_##name(char *to, int64_t stride, const Values *values, Kind from, int64_t n) { \
    if (from == KIND_INT)                                                                          \
      for (int64_t i = 0; i < n; i++, to += stride) {                                              \
        int64_t x = values->ints[i];                                                               \
        *(type *)to = from_int;                                                                    \
      }                                                                                            \
    else if (from == KIND_UNSIGNED)                                                                \
      for (int64_t i = 0; i < n; i++, to += stride) {                                              \
        uint64_t x = (uint64_t)values->ints[i];                                                    \
        *(type *)to = from_int;                                                                    \
      }                                                                                            \
    else if (from == KIND_REAL)                                                                    \
      for (int64_t i = 0; i < n; i++, to += stride) {                                              \
        double x = values->reals[i];                                                               \
        *(type *)to = from_real;                                                                   \
      }                                                                                            \
    else                                                                                           \
      for (int64_t i = 0; i < n; i++, to += stride) {                                              \
        complex128 z = values->complexes[i];                                                       \
        *(type *)to = from_complex;                                                                \
      }                                                                                            \
  }
ELEMENTS(X)
#undef X

static const struct {
  Kind kind;
  void (*load)(Values *out, const char *from, int64_t stride, int64_t n);
  void (*store)(char *to, int64_t stride, const Values *values, Kind from, int64_t n);
} elements[DTYPE_COUNT] = {
#define X(name, type, kind, field, ...) [DTYPE_##name] = {KIND_##kind, load_##name, store_##name},
    ELEMENTS(X)
#undef X
        [DTYPE_QINT8] = {KIND_INT, load_INT8, store_INT8},
    [DTYPE_QUINT8] = {KIND_INT, load_UINT8, store_UINT8},
    [DTYPE_QINT32] = {KIND_INT, load_INT32, store_INT32},
    [DTYPE_QUINT4X2] = {KIND_INT, load_UINT8, store_UINT8},
    [DTYPE_QUINT2X4] = {KIND_INT, load_UINT8, store_UINT8},
};

/*  to, its C type, from, its C type, x converted */
#define FAST_PAIRS(X)                                                    \
  X(FLOAT32, float, FLOAT64, double, (float)x)                           \
  X(FLOAT64, double, FLOAT32, float, x)                                  \
  X(FLOAT32, float, BFLOAT16, uint16_t, bfloat16_to_float(x))            \
  X(BFLOAT16, uint16_t, FLOAT32, float, bfloat16_from_float(x))          \
  X(FLOAT32, float, INT64, int64_t, (float)x)                            \
  X(INT64, int64_t, FLOAT32, float, int64_from_real((double)x))          \
  X(FLOAT64, double, INT64, int64_t, (double)x)                          \
  X(FLOAT32, float, INT32, int32_t, (float)x)                            \
  X(FLOAT32, float, UINT8, uint8_t, x)                                   \
  X(UINT8, uint8_t, FLOAT32, float, (uint8_t)int64_from_real((double)x)) \
  X(FLOAT32, float, BOOL, uint8_t, x != 0)                               \
  X(BOOL, uint8_t, FLOAT32, float, x != 0)                               \
  X(INT64, int64_t, BOOL, uint8_t, x != 0)                               \
  X(BOOL, uint8_t, INT64, int64_t, x != 0)                               \
  X(INT64, int64_t, INT32, int32_t, x)                                   \
  X(INT32, int32_t, INT64, int64_t, (int32_t)x)                          \
  X(BOOL, uint8_t, UINT8, uint8_t, x != 0)                               \
  X(UINT8, uint8_t, BOOL, uint8_t, x != 0)

#define X(to_name, to_type, from_name, from_type, converted)                                        \
  static void to_name##_from_##from_name(void *restrict to, const void *restrict from, int64_t n) { \
    for (int64_t i = 0; i < n; i++) {                                                               \
      from_type x = ((const from_type *)from)[i];                                                   \
      ((to_type *)to)[i] = converted;                                                               \
    }                                                                                               \
  }
FAST_PAIRS(X)
#undef X
static void FLOAT32_from_FLOAT16(void *restrict to, const void *restrict from, int64_t n) {
  (*PROCESSOR_FORM(floats_from_halves))(n, to, from);
}
static void FLOAT16_from_FLOAT32(void *restrict to, const void *restrict from, int64_t n) {
  (*PROCESSOR_FORM(halves_from_floats))(n, to, from);
}

static const struct {
  uint8_t to, from;
  void (*run)(void *restrict to, const void *restrict from, int64_t n);
} fast_pairs[] = {
#define X(to_name, to_type, from_name, from_type, converted) \
  {DTYPE_##to_name, DTYPE_##from_name, to_name##_from_##from_name},
    FAST_PAIRS(X)
#undef X
        {DTYPE_FLOAT32, DTYPE_FLOAT16, FLOAT32_from_FLOAT16},
    {DTYPE_FLOAT16, DTYPE_FLOAT32, FLOAT16_from_FLOAT32},
};

static void copy_same(size_t item, char *to, int64_t to_stride, const char *from, int64_t from_stride, int64_t n) {
  if (to_stride == (int64_t)item && from_stride == (int64_t)item) {
    memmove(to, from, (size_t)n * item);
    return;
  }
  bool fills = to_stride == (int64_t)item && from_stride == 0; /* a loop over words that lie side by side */
#define MOVE(type)                                                                                      \
  if (fills)                                                                                            \
    for (type value = *(const type *)from, *end = (type *)to + n; (type *)to < end; to += sizeof value) \
      *(type *)to = value;                                                                              \
  else                                                                                                  \
    for (int64_t i = 0; i < n; i++, to += to_stride, from += from_stride) *(type *)to = *(const type *)from
  switch (item) {
    case 1:
      MOVE(uint8_t);
      break;
    case 2:
      MOVE(uint16_t);
      break;
    case 4:
      MOVE(uint32_t);
      break;
    case 8:
      MOVE(uint64_t);
      break;
    default:
      MOVE(complex128);
      break;
  }
#undef MOVE
}

void dtype_convert(DType to, void *to_data, int64_t to_stride, DType from, const void *from_data, int64_t from_stride,
                   int64_t n) {
  assert(to < DTYPE_COUNT && from < DTYPE_COUNT);
  int64_t to_item = (int64_t)dtype_size(to), from_item = (int64_t)dtype_size(from);
  if (to == from) {
    copy_same((size_t)to_item, to_data, to_stride * to_item, from_data, from_stride * from_item, n);
    return;
  }
  if (to_stride == 1 && from_stride == 1 && to_data != from_data) {
    for (size_t i = 0; i < sizeof fast_pairs / sizeof *fast_pairs; i++) {
      if (fast_pairs[i].to == to && fast_pairs[i].from == from) {
        fast_pairs[i].run(to_data, from_data, n);
        return;
      }
    }
  }
  Values values;
  const char *read = from_data;
  char *write = to_data;
  for (int64_t i = 0; i < n; i += BLOCK) {
    int64_t count = n - i < BLOCK ? n - i : BLOCK;
    elements[from].load(&values, read, from_stride * from_item, count);
    elements[to].store(write, to_stride * to_item, &values, elements[from].kind, count);
    read += count * from_stride * from_item;
    write += count * to_stride * to_item;
  }
}
