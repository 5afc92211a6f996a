/* DType: element types, numbered as PyTorch's ScalarType (archives and `int` dtypes in programs use these numbers).
 * ORDER dtype: tables elsewhere are indexed by it. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* name in C, number, C type, bytes, PyTorch's name, pickle storage class. PyTorch 2.x added those from FLOAT8_E5M2 on;
 * the numbers between are dtypes that wick does not have. */
#define DTYPES(X)                                                                 \
  X(UINT8, 0, uint8_t, 1, "uint8", "ByteStorage")                                 \
  X(INT8, 1, int8_t, 1, "int8", "CharStorage")                                    \
  X(INT16, 2, int16_t, 2, "int16", "ShortStorage")                                \
  X(INT32, 3, int32_t, 4, "int32", "IntStorage")                                  \
  X(INT64, 4, int64_t, 8, "int64", "LongStorage")                                 \
  X(FLOAT16, 5, uint16_t, 2, "float16", "HalfStorage")                            \
  X(FLOAT32, 6, float, 4, "float32", "FloatStorage")                              \
  X(FLOAT64, 7, double, 8, "float64", "DoubleStorage")                            \
  X(COMPLEX32, 8, uint32_t, 4, "complex32", "ComplexHalfStorage")                 \
  X(COMPLEX64, 9, complex64, 8, "complex64", "ComplexFloatStorage")               \
  X(COMPLEX128, 10, complex128, 16, "complex128", "ComplexDoubleStorage")         \
  X(BOOL, 11, uint8_t, 1, "bool", "BoolStorage")                                  \
  X(QINT8, 12, int8_t, 1, "qint8", "QInt8Storage")                                \
  X(QUINT8, 13, uint8_t, 1, "quint8", "QUInt8Storage")                            \
  X(QINT32, 14, int32_t, 4, "qint32", "QInt32Storage")                            \
  X(BFLOAT16, 15, uint16_t, 2, "bfloat16", "BFloat16Storage")                     \
  X(QUINT4X2, 16, uint8_t, 1, "quint4x2", "QUInt4x2Storage")                      \
  X(QUINT2X4, 17, uint8_t, 1, "quint2x4", "QUInt2x4Storage")                      \
  X(FLOAT8_E5M2, 23, uint8_t, 1, "float8_e5m2", "Float8_e5m2Storage")             \
  X(FLOAT8_E4M3FN, 24, uint8_t, 1, "float8_e4m3fn", "Float8_e4m3fnStorage")       \
  X(FLOAT8_E5M2FNUZ, 25, uint8_t, 1, "float8_e5m2fnuz", "Float8_e5m2fnuzStorage") \
  X(FLOAT8_E4M3FNUZ, 26, uint8_t, 1, "float8_e4m3fnuz", "Float8_e4m3fnuzStorage") \
  X(UINT16, 27, uint16_t, 2, "uint16", "UInt16Storage")                           \
  X(UINT32, 28, uint32_t, 4, "uint32", "UInt32Storage")                           \
  X(UINT64, 29, uint64_t, 8, "uint64", "UInt64Storage")                           \
  X(FLOAT8_E8M0FNU, 44, uint8_t, 1, "float8_e8m0fnu", "Float8_e8m0fnuStorage")

typedef float _Complex complex64;
typedef double _Complex complex128;

typedef enum DType {
#define X(name, number, type, bytes, text, storage) DTYPE_##name = number,
  DTYPES(X)
#undef X
      DTYPE_COUNT,
  DTYPE_NO_PROMOTION = 254,
  DTYPE_NONE = 255 /* not given */
} DType;

extern const uint8_t dtype_sizes[256]; /* in bytes; 0: no dtype */
static inline size_t dtype_size(DType dtype) {
  return dtype_sizes[(uint8_t)dtype];
}
/* Whether a number from outside is that of a dtype. */
static inline bool dtype_is_valid(int64_t number) {
  return number >= 0 && number < DTYPE_COUNT && dtype_sizes[number];
}
const char *dtype_name(DType dtype);        /* "float32" */
const char *dtype_scalar_name(DType dtype); /* PyTorch's C++ name: "Float", "Long"; graphs print it */
static inline bool dtype_is_complex(DType d) {
  return d == DTYPE_COMPLEX32 || d == DTYPE_COMPLEX64 || d == DTYPE_COMPLEX128;
}
static inline bool dtype_is_float8(DType d) {
  return (d >= DTYPE_FLOAT8_E5M2 && d <= DTYPE_FLOAT8_E4M3FNUZ) || d == DTYPE_FLOAT8_E8M0FNU;
}
/* uint16, uint32, uint64: what PyTorch's "unsigned types" are; uint8 is older and has all operators. */
static inline bool dtype_is_wide_unsigned(DType d) {
  return d >= DTYPE_UINT16 && d <= DTYPE_UINT64;
}
/* Of which few operators know: they are for storing. OpRow's flags say which operators. */
static inline bool dtype_is_limited(DType d) {
  return dtype_is_float8(d) || dtype_is_wide_unsigned(d);
}
static inline bool dtype_is_floating(DType d) {
  return d == DTYPE_FLOAT16 || d == DTYPE_FLOAT32 || d == DTYPE_FLOAT64 || d == DTYPE_BFLOAT16 || dtype_is_float8(d);
}
static inline bool dtype_is_integral(DType d) { /* without bool */
  return d <= DTYPE_INT64 || dtype_is_wide_unsigned(d);
}
static inline bool dtype_is_quantized(DType d) {
  return (d >= DTYPE_QINT8 && d <= DTYPE_QINT32) || d == DTYPE_QUINT4X2 || d == DTYPE_QUINT2X4;
}
/* The dtype both fit in by PyTorch's promotion lattice (without the scalar and dimension rules). DTYPE_NO_PROMOTION:
 * the lattice has none. */
DType dtype_promote(DType a, DType b);
/* Whether a result of dtype `from` may be written into `to` in place (torch.can_cast). */
bool dtype_can_cast(DType from, DType to);
DType dtype_to_real(DType complex_dtype); /* complex64 -> float32 */
DType dtype_to_complex(DType real_dtype);

static inline float bfloat16_to_float(uint16_t bits) {
  uint32_t wide = (uint32_t)bits << 16;
  float f;
  memcpy(&f, &wide, sizeof f);
  return f;
}
static inline uint16_t bfloat16_from_float(float f) { /* nearest even */
  uint32_t bits;
  memcpy(&bits, &f, sizeof bits);
  if ((bits & 0x7fffffffu) > 0x7f800000u) return 0x7fc0;
  return (uint16_t)((bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16);
}
static inline float bfloat16_round(float f) {
  return bfloat16_to_float(bfloat16_from_float(f));
}
float half_to_float(uint16_t bits);
uint16_t half_from_float(float f);

/* What floats without a dtype become: float32 unless somebody said otherwise, for the whole process, as Python has it.
 * Plans hold what it was when they were made. */
DType dtype_default(void);
DType dtype_default_complex(void); /* of the same precision */
void dtype_set_default(DType dtype);
