/* Line functions (line.h). */
#include "tile/line.h"

#include <math.h>

#include "tensor/tensor.h"
#include "tile/line_normal.h"
#include "tile/line_sum.h"
#include "tile/softmax_line.h"

enum {
  BECOMES_NUMBER,
  BECOMES_LINE,
  TYPES_REAL = 1 << TILE_F32 | 1 << TILE_F64,
  TYPES_ORDERED = TYPES_REAL | 1 << TILE_I64,
  TYPES_FLOATING = TYPES_REAL | 1 << TILE_C128,
  TYPES_NUMBER = TYPES_FLOATING | 1 << TILE_I64
};
static const struct {
  const char *name;
  uint8_t becomes, types;
} functions[LINE_FUNCTION_COUNT] = {
#define X(name, text, becomes, types) [LINE_##name] = {text, BECOMES_##becomes, TYPES_##types},
    LINE_FUNCTIONS(X)
#undef X
};

const char *line_name(LineFunction function) {
  return functions[function].name;
}
bool line_is_defined(LineFunction function, TileType type) {
  return functions[function].types >> type & 1;
}
bool line_gives_number(LineFunction function) {
  return functions[function].becomes == BECOMES_NUMBER;
}
TileType line_result_type(LineFunction function, TileType type) {
  return (function == LINE_SUM || function == LINE_MEAN) && type == TILE_F32 ? TILE_F64 : type;
}

/* ---- sums ---- */

/* As the reduction engine takes its runs: block by block. */
static double total_f32(int64_t n, const float *x) {
  double total = 0;
  for (int64_t i = 0; i < n; i += LINE_SUM_BLOCK)
    total += line_sum_f32(n - i < LINE_SUM_BLOCK ? n - i : LINE_SUM_BLOCK, x + i);
  return total;
}
static double total_f64(int64_t n, const double *x) {
  double total = 0;
  for (int64_t i = 0; i < n; i += LINE_SUM_BLOCK)
    total += line_sum_f64(n - i < LINE_SUM_BLOCK ? n - i : LINE_SUM_BLOCK, x + i);
  return total;
}

static void sum(TileType type, bool is_mean, int64_t n, void *to, const void *x) {
  if (type == TILE_I64) {
    uint64_t total = 0;
    for (int64_t i = 0; i < n; i++) total += (uint64_t)((const int64_t *)x)[i];
    *(int64_t *)to = (int64_t)total;
  } else if (type == TILE_C128) {
    complex128 total = 0;
    for (int64_t i = 0; i < n; i++) total += ((const complex128 *)x)[i];
    if (is_mean) total = total / (double)n;
    *(complex128 *)to = total;
  } else {
    double total = type == TILE_F32 ? total_f32(n, x) : total_f64(n, x);
    if (is_mean) total = total / (double)n;
    *(double *)to = total;
  }
}

/* ---- extremes ---- */

#define EXTREME(NAME, T, BETTER)                         \
  static void NAME(int64_t n, void *to, const void *x) { \
    const T *from = x;                                   \
    T a = from[0];                                       \
    for (int64_t i = 1; i < n; i++) {                    \
      T b = from[i];                                     \
      if (BETTER) a = b;                                 \
    }                                                    \
    *(T *)to = a;                                        \
  }
EXTREME(max_f32, float, b > a || (b != b && a == a))
EXTREME(min_f32, float, b < a || (b != b && a == a))
EXTREME(max_f64, double, b > a || (b != b && a == a))
EXTREME(min_f64, double, b < a || (b != b && a == a))
EXTREME(max_i64, int64_t, b > a)
EXTREME(min_i64, int64_t, b < a)

static void extreme(TileType type, bool is_max, int64_t n, void *to, const void *x) {
  if (type == TILE_F32)
    (is_max ? max_f32 : min_f32)(n, to, x);
  else if (type == TILE_F64)
    (is_max ? max_f64 : min_f64)(n, to, x);
  else
    (is_max ? max_i64 : min_i64)(n, to, x);
}

/* ---- normalizing ---- */

static double total_of_parts(const double *parts) {
  double total = 0;
  for (int k = 0; k < LINE_PARTS / 4; k++)
    total += (parts[k] + parts[k + LINE_PARTS / 4]) + (parts[k + LINE_PARTS / 2] + parts[k + LINE_PARTS / 4 * 3]);
  return total;
}
void line_statistics(DType dtype, const char *x, int64_t n, double eps, double *out_mean, double *out_invstd) {
  enum { BLOCK = 256 };
  double first = 0;
  LineMoments moments;
  if (n && dtype == DTYPE_FLOAT32) {
    first = (double)*(const float *)x;
    line_normal()->take_moments(n, (const float *)x, first, &moments);
  } else {
    int64_t item = (int64_t)dtype_size(dtype);
    double block[BLOCK];
    memset(&moments, 0, sizeof moments);
    if (n) dtype_convert(DTYPE_FLOAT64, &first, 1, dtype, x, 1, 1);
    for (int64_t i = 0; i < n; i += BLOCK) {
      int64_t count = n - i < BLOCK ? n - i : BLOCK;
      dtype_convert(DTYPE_FLOAT64, block, 1, dtype, x + i * item, 1, count);
      line_add_moments_f64(count, block, first, &moments);
    }
  }
  double total = total_of_parts(moments.sums), square = total_of_parts(moments.squares);
  double variance = n ? (square - total * total / (double)n) / (double)n : 0;
  *out_mean = n ? first + total / (double)n : 0;
  *out_invstd = 1 / sqrt((variance > 0 || variance != variance ? variance : 0) + eps);
}

void line_normalize(int64_t n, float *to, const float *x, double mean, double invstd) {
  float center =
      (float)mean; /* far from zero x * scale would lose what x differs by; the shift makes up for rounding */
  line_normal()->normalize(n, to, x, center, (float)invstd, (float)(((double)center - mean) * invstd));
}

void line_normalize_f64(int64_t n, double *to, const double *x, double mean, double invstd) {
  for (int64_t i = 0; i < n; i++) to[i] = (x[i] - mean) * invstd;
}

static void normalize(TileType type, int64_t n, void *to, const void *x, double eps) {
  double mean, invstd;
  line_statistics(tile_type_dtype(type), x, n, eps, &mean, &invstd);
  if (type == TILE_F32)
    line_normalize(n, to, x, mean, invstd);
  else
    line_normalize_f64(n, to, x, mean, invstd);
}

void line_run(LineFunction function, TileType type, int64_t n, void *to, const void *x, double eps) {
  bool is_log = function == LINE_LOG_SOFTMAX;
  switch (function) {
    case LINE_SUM:
    case LINE_MEAN:
      sum(type, function == LINE_MEAN, n, to, x);
      break;
    case LINE_MAX:
    case LINE_MIN:
      extreme(type, function == LINE_MAX, n, to, x);
      break;
    case LINE_SOFTMAX:
    case LINE_LOG_SOFTMAX:
      if (type == TILE_F32)
        softmax_line()(n, x, to, is_log);
      else
        softmax_line_f64(n, x, to, is_log, false);
      break;
    default:
      normalize(type, n, to, x, eps);
      break;
  }
}
