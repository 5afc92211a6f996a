/* Names of element types, the promotion lattice, and half precision in integer arithmetic. */
#include "tensor/dtype.h"

#include <assert.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

static const struct {
  const char *name, *scalar_name;
} dtypes[DTYPE_COUNT] = {
    [DTYPE_UINT8] = {"uint8", "Byte"},
    [DTYPE_INT8] = {"int8", "Char"},
    [DTYPE_INT16] = {"int16", "Short"},
    [DTYPE_INT32] = {"int32", "Int"},
    [DTYPE_INT64] = {"int64", "Long"},
    [DTYPE_FLOAT16] = {"float16", "Half"},
    [DTYPE_FLOAT32] = {"float32", "Float"},
    [DTYPE_FLOAT64] = {"float64", "Double"},
    [DTYPE_COMPLEX32] = {"complex32", "ComplexHalf"},
    [DTYPE_COMPLEX64] = {"complex64", "ComplexFloat"},
    [DTYPE_COMPLEX128] = {"complex128", "ComplexDouble"},
    [DTYPE_BOOL] = {"bool", "Bool"},
    [DTYPE_QINT8] = {"qint8", "QInt8"},
    [DTYPE_QUINT8] = {"quint8", "QUInt8"},
    [DTYPE_QINT32] = {"qint32", "QInt32"},
    [DTYPE_BFLOAT16] = {"bfloat16", "BFloat16"},
    [DTYPE_QUINT4X2] = {"quint4x2", "QUInt4x2"},
    [DTYPE_QUINT2X4] = {"quint2x4", "QUInt2x4"},
    [DTYPE_FLOAT8_E5M2] = {"float8_e5m2", "Float8_e5m2"},
    [DTYPE_FLOAT8_E4M3FN] = {"float8_e4m3fn", "Float8_e4m3fn"},
    [DTYPE_FLOAT8_E5M2FNUZ] = {"float8_e5m2fnuz", "Float8_e5m2fnuz"},
    [DTYPE_FLOAT8_E4M3FNUZ] = {"float8_e4m3fnuz", "Float8_e4m3fnuz"},
    [DTYPE_UINT16] = {"uint16", "UInt16"},
    [DTYPE_UINT32] = {"uint32", "UInt32"},
    [DTYPE_UINT64] = {"uint64", "UInt64"},
    [DTYPE_FLOAT8_E8M0FNU] = {"float8_e8m0fnu", "Float8_e8m0fnu"},
};
const uint8_t dtype_sizes[256] = {
#define X(name, number, type, size, text, storage) [DTYPE_##name] = (size),
    DTYPES(X)
#undef X
};
#define X(name, number, type, size, text, storage) _Static_assert(sizeof(type) == (size), "ORDER dtype");
DTYPES(X)
#undef X

const char *dtype_name(DType dtype) {
  return dtype_is_valid(dtype) ? dtypes[dtype].name : "undefined";
}

const char *dtype_scalar_name(DType dtype) {
  return dtype_is_valid(dtype) ? dtypes[dtype].scalar_name : "Undefined";
}

DType dtype_to_real(DType d) {
  switch (d) {
    case DTYPE_COMPLEX32:
      return DTYPE_FLOAT16;
    case DTYPE_COMPLEX64:
      return DTYPE_FLOAT32;
    case DTYPE_COMPLEX128:
      return DTYPE_FLOAT64;
    default:
      return d;
  }
}

DType dtype_to_complex(DType d) {
  switch (d) {
    case DTYPE_FLOAT16:
      return DTYPE_COMPLEX32;
    case DTYPE_FLOAT64:
      return DTYPE_COMPLEX128;
    default:
      return dtype_is_complex(d) ? d : DTYPE_COMPLEX64;
  }
}

DType dtype_promote(DType a, DType b) {
  if (a == b || b == DTYPE_NONE) return a;
  if (a == DTYPE_NONE) return b;
  if (a == DTYPE_NO_PROMOTION || b == DTYPE_NO_PROMOTION) return DTYPE_NO_PROMOTION;
  if (dtype_is_float8(a) || dtype_is_float8(b)) return DTYPE_NO_PROMOTION;
  if (dtype_is_wide_unsigned(a)) return dtype_is_floating(b) ? b : DTYPE_NO_PROMOTION;
  if (dtype_is_wide_unsigned(b)) return dtype_is_floating(a) ? a : DTYPE_NO_PROMOTION;
  if (dtype_is_quantized(a) || dtype_is_quantized(b)) return a;
  if (a == DTYPE_BOOL) return b;
  if (b == DTYPE_BOOL) return a;
  if (dtype_is_complex(a) || dtype_is_complex(b)) {
    if (dtype_is_integral(a)) return b;
    if (dtype_is_integral(b)) return a;
    return dtype_to_complex(dtype_promote(dtype_to_real(a), dtype_to_real(b)));
  }
  if (dtype_is_floating(a) || dtype_is_floating(b)) {
    if (!dtype_is_floating(a)) return b;
    if (!dtype_is_floating(b)) return a;
    if (dtype_size(a) == dtype_size(b)) return DTYPE_FLOAT32; /* half with bfloat16 */
    return dtype_size(a) > dtype_size(b) ? a : b;
  }
  if (dtype_size(a) == dtype_size(b)) return DTYPE_INT16; /* uint8 with int8 */
  return dtype_size(a) > dtype_size(b) ? a : b;
}

bool dtype_can_cast(DType from, DType to) {
  if (dtype_is_complex(from) && !dtype_is_complex(to)) return false;
  if (dtype_is_floating(from) && (dtype_is_integral(to) || to == DTYPE_BOOL)) return false;
  if (from != DTYPE_BOOL && to == DTYPE_BOOL) return false;
  return true;
}

float half_to_float(uint16_t bits) {
  uint32_t sign = (uint32_t)(bits & 0x8000u) << 16, rest = bits & 0x7fffu, wide;
  if (rest >= 0x7c00u) {
    wide = sign | 0x7f800000u | ((rest & 0x3ffu) << 13);
  } else if (rest >= 0x400u) {
    wide = sign | ((rest << 13) + ((127u - 15u) << 23));
  } else {
    float f = (float)rest * 0x1p-24f; /* subnormal: a count of the smallest unit */
    memcpy(&wide, &f, sizeof wide);
    wide |= sign;
  }
  float result;
  memcpy(&result, &wide, sizeof result);
  return result;
}

uint16_t half_from_float(float f) {
  uint32_t wide;
  memcpy(&wide, &f, sizeof wide);
  uint16_t sign = (uint16_t)((wide >> 16) & 0x8000u);
  wide &= 0x7fffffffu;
  if (wide > 0x7f800000u) return (uint16_t)(sign | 0x7e00u);
  if (wide >= 0x47800000u)
    return (uint16_t)(sign | 0x7c00u); /* from 65536 on; below, rounding itself carries into infinity */
  if (wide < 0x38800000u) {            /* below 2^-14: let a float addition round to the unit 2^-24 */
    float magic = 0.5f, magnitude;
    uint32_t sum, base;
    memcpy(&magnitude, &wide, sizeof magnitude);
    memcpy(&base, &magic, sizeof base);
    magnitude += magic;
    memcpy(&sum, &magnitude, sizeof sum);
    return (uint16_t)(sign | (sum - base));
  }
  wide += 0xfffu + ((wide >> 13) & 1u);
  return (uint16_t)(sign | ((wide - ((127u - 15u) << 23)) >> 13));
}

/* ---- the default ---- */
static _Atomic uint8_t default_dtype = DTYPE_FLOAT32;

DType dtype_default(void) {
  return (DType)atomic_load_explicit(&default_dtype, memory_order_relaxed);
}
DType dtype_default_complex(void) {
  return dtype_to_complex(dtype_default());
}
void dtype_set_default(DType dtype) {
  assert(dtype_is_floating(dtype));
  atomic_store_explicit(&default_dtype, (uint8_t)dtype, memory_order_relaxed);
}
