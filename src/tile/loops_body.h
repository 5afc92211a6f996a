/* The loops that compilers vectorize, for all real types: included by loops_portable.c and by a file for each
 * instruction set with TILE_LOOPS (the table's name), FORM (what this instruction set's form of a function is called)
 * and FUSED defined. */
#include "tensor/half.h"
#include "tile/loops_float32_body.h"

/* clang-format off */
FLOAT_LOOPS(f64, double, )
ORDER_LOOPS(f64, double)
/* Integers wrap around: computed unsigned. */
#define WRAP(expression) (int64_t)(expression)
#define U(v) (uint64_t)(v)
ORDER_LOOPS(i64, int64_t)
BINARY(i64_add, int64_t, int64_t, WRAP(U(x) + U(y)))
BINARY(i64_sub, int64_t, int64_t, WRAP(U(x) - U(y)))
BINARY(i64_mul, int64_t, int64_t, WRAP(U(x) * U(y)))
UNARY(i64_neg, int64_t, int64_t, WRAP(0 - U(x)))
UNARY(i64_abs, int64_t, int64_t, x < 0 ? WRAP(0 - U(x)) : x)
UNARY(i64_sign, int64_t, int64_t, (x > 0) - (x < 0))
UNARY(i64_square, int64_t, int64_t, WRAP(U(x) * U(x)))
UNARY(i64_same, int64_t, int64_t, x)
UNARY(i64_not, int64_t, int64_t, ~x)
UNARY(i64_false, int64_t, uint8_t, x != x)
UNARY(i64_signbit, int64_t, uint8_t, x < 0)
BINARY(i64_min, int64_t, int64_t, x < y ? x : y)
BINARY(i64_max, int64_t, int64_t, x > y ? x : y)
BINARY(i64_and, int64_t, int64_t, x &y)
BINARY(i64_or, int64_t, int64_t, x | y)
BINARY(i64_xor, int64_t, int64_t, x ^ y)
UNARY(bool_not, uint8_t, uint8_t, !x)
BINARY(bool_and, uint8_t, uint8_t, x &y)
BINARY(bool_or, uint8_t, uint8_t, x | y)
BINARY(bool_xor, uint8_t, uint8_t, x ^ y)
SELECT_LOOP(bool_select, uint8_t)

UNARY(f64_exp_loop, double, double, f64_exp(x))

/* Chunks are copied first: the result may overwrite the operand, and the rare elements outside the fast range are
 * redone from it. They are filled up to whole vectors, so that there is no code for what is left over. `x` and `y` in
 * the expressions are an element's operands. */
enum { CHUNK = 128, LANES = 8 };
#define RARELY_SLOW(name, operands, fast, is_plain, slow)                                      \
  static void name(int64_t n, void *to_block, const void *a_block, const void *b_block, const void *c_block) { \
    const void *const blocks[] = {a_block, b_block};                                           \
    (void)c_block;                                                                             \
    for (int64_t begin = 0; begin < n; begin += CHUNK) {                                       \
      int64_t count = n - begin < CHUNK ? n - begin : CHUNK;                                   \
      float chunks[operands][CHUNK], result[CHUNK], *to = (float *)to_block + begin;           \
      int32_t rare[LANES] = {0}, any = 0;                                                      \
      for (int k = 0; k < operands; k++) {                                                     \
        memcpy(chunks[k], (const float *)blocks[k] + begin, (size_t)count * sizeof(float));    \
        for (int64_t i = count; i % LANES; i++) chunks[k][i] = 1.0f;                           \
      }                                                                                        \
      for (int64_t v = 0; v < count; v += LANES)                                               \
        for (int i = 0; i < LANES; i++) {                                                      \
          float x = chunks[0][v + i], y = chunks[operands - 1][v + i];                         \
          (void)y;                                                                             \
          result[v + i] = fast;                                                                \
          rare[i] |= !(is_plain);                                                              \
        }                                                                                      \
      memcpy(to, result, (size_t)count * sizeof *to);                                          \
      for (int i = 0; i < LANES; i++) any |= rare[i];                                          \
      for (int64_t i = 0; any && i < count; i++) {                                             \
        float x = chunks[0][i], y = chunks[operands - 1][i];                                   \
        (void)y;                                                                               \
        if (!(is_plain)) to[i] = slow;                                                         \
      }                                                                                        \
    }                                                                                          \
  }
RARELY_SLOW(f32_sin_loop, 1, f32_sin(x), fabsf(x) <= TRIG_LIMIT, sinf(x))
RARELY_SLOW(f32_cos_loop, 1, f32_cos(x), fabsf(x) <= TRIG_LIMIT, cosf(x))
RARELY_SLOW(f32_tan_loop, 1, f32_tan(x), fabsf(x) <= TRIG_LIMIT, tanf(x))
RARELY_SLOW(f32_pow_loop, 2, f32_pow(x, y), pow_is_plain(x, y), powf(x, y))
RARELY_SLOW(f32_atan2_loop, 2, f32_atan2(x, y), atan2_is_plain(x, y), (float)atan2((double)x, (double)y))
RARELY_SLOW(f32_fmod_loop, 2, f32_fmod(x, y), fmod_is_plain(x, y), fmodf(x, y))
RARELY_SLOW(f32_mod_loop, 2, f32_mod(x, y), fmod_is_plain(x, y), tile_mod_f32(x, y))
/* Long functions, for the size of it. */
#define NEVER_SLOW(name, fast) RARELY_SLOW(name, 1, fast, 1, x)
NEVER_SLOW(f32_exp2_loop, f32_exp2(x))
NEVER_SLOW(f32_log2_loop, f32_log2(x))
NEVER_SLOW(f32_log10_loop, f32_log10(x))
NEVER_SLOW(f32_log1p_loop, f32_log1p(x))
NEVER_SLOW(f32_atan_loop, f32_atan(x))

/* Of pairs of reals: by the squares, unless one is so large or small that these lose it. */
static inline int64_t squares_are_plain(double larger) {
  return (larger < 0x1p500) & ((larger > 0x1p-480) | (larger == 0.0));
}
static void c128_abs(int64_t n, void *to_block, const void *a_block, const void *b_block, const void *c_block) {
  double *to = to_block;
  const double *a = a_block;
  int64_t rare = 0;
  (void)b_block, (void)c_block;
  INDEPENDENT for (int64_t i = 0; i < n; i++) {
    double x = fabs(a[2 * i]), y = fabs(a[2 * i + 1]);
    to[i] = __builtin_sqrt(x * x + y * y);
    rare |= !squares_are_plain(x > y ? x : y);
    rare |= y != y;
  }
  if (!rare) return;
  for (int64_t i = 0; i < n; i++) to[i] = hypot(a[2 * i], a[2 * i + 1]);
}

UNARY(bool_to_i64, uint8_t, int64_t, x)
UNARY(bool_to_f32, uint8_t, float, x)
UNARY(bool_to_f64, uint8_t, double, x)
UNARY(i64_to_bool, int64_t, uint8_t, x != 0)
UNARY(i64_to_f32, int64_t, float, x)
UNARY(i64_to_f64, int64_t, double, x)
UNARY(f32_to_f64, float, double, x)
UNARY(f32_to_bool, float, uint8_t, x != 0)
UNARY(f64_to_f32, double, float, x)
UNARY(f64_to_bool, double, uint8_t, x != 0)
/* Out of range converts as x86's instruction does, on every processor. */
UNARY(f32_to_i64, float, int64_t, x >= -0x1p63f && x < 0x1p63f ? (int64_t)x : INT64_MIN)
UNARY(f64_to_i64, double, int64_t, x >= -0x1p63 && x < 0x1p63 ? (int64_t)x : INT64_MIN)

#define NARROW(name, T) UNARY(name##_to_i64, T, int64_t, x) UNARY(name##_to_f32, T, float, x) \
  UNARY(i64_to_##name, int64_t, T, x)
NARROW(uint8, uint8_t)
NARROW(int8, int8_t)
NARROW(int16, int16_t)
NARROW(int32, int32_t)
static void load_half(int64_t n, void *to_block, const void *a_block, const void *b_block, const void *c_block) {
  (void)b_block, (void)c_block;
  FORM(floats_from_halves)(n, to_block, a_block);
}
static void store_half(int64_t n, void *to_block, const void *a_block, const void *b_block, const void *c_block) {
  (void)b_block, (void)c_block;
  FORM(halves_from_floats)(n, to_block, a_block);
}
UNARY(load_bfloat16, uint16_t, float, as_float((int32_t)((uint32_t)x << 16)))
static inline uint16_t to_bfloat16(float x) {
  uint32_t bits = (uint32_t)as_int(x);
  uint32_t rounded = (bits + 0x7fffu + (bits >> 16 & 1)) >> 16;
  return (uint16_t)(x != x ? 0x7fc0u : rounded);
}
UNARY(store_bfloat16, float, uint16_t, to_bfloat16(x))
/* As pairs of reals: n pairs. */
static void load_complex64(int64_t n, void *to_block, const void *a_block, const void *b_block, const void *c_block) {
  f32_to_f64(2 * n, to_block, a_block, b_block, c_block);
}
static void store_complex64(int64_t n, void *to_block, const void *a_block, const void *b_block, const void *c_block) {
  f64_to_f32(2 * n, to_block, a_block, b_block, c_block);
}

#define ROW(OP, ...) [KERNEL_##OP] = {__VA_ARGS__}
#define FLOATS(OP, name) ROW(OP, [TILE_F32] = f32_##name, [TILE_F64] = f64_##name)
#define REALS(OP, name) ROW(OP, [TILE_I64] = i64_##name, [TILE_F32] = f32_##name, [TILE_F64] = f64_##name)
#define BITS(OP, name) ROW(OP, [TILE_BOOL] = bool_##name, [TILE_I64] = i64_##name)
#define F32(OP, name) ROW(OP, [TILE_F32] = f32_##name##_loop)

const TileLoops TILE_LOOPS = {
  .loops = {
    REALS(NEG, neg),
    ROW(ABS, [TILE_I64] = i64_abs, [TILE_F32] = f32_abs, [TILE_F64] = f64_abs, [TILE_C128] = c128_abs),
    REALS(SIGN, sign), REALS(SQUARE, square), FLOATS(RECIPROCAL, reciprocal),
    FLOATS(SQRT, sqrt), FLOATS(RSQRT, rsqrt),
    ROW(FLOOR, [TILE_I64] = i64_same, [TILE_F32] = f32_floor, [TILE_F64] = f64_floor),
    ROW(CEIL, [TILE_I64] = i64_same, [TILE_F32] = f32_ceil, [TILE_F64] = f64_ceil),
    ROW(ROUND, [TILE_I64] = i64_same, [TILE_F32] = f32_round, [TILE_F64] = f64_round),
    ROW(TRUNC, [TILE_I64] = i64_same, [TILE_F32] = f32_trunc, [TILE_F64] = f64_trunc),
    ROW(ISNAN, [TILE_I64] = i64_false, [TILE_F32] = f32_isnan, [TILE_F64] = f64_isnan),
    ROW(ISINF, [TILE_I64] = i64_false, [TILE_F32] = f32_isinf, [TILE_F64] = f64_isinf),
    REALS(SIGNBIT, signbit), REALS(ADD, add), REALS(SUB, sub), REALS(MUL, mul), FLOATS(DIV, div),
    FLOATS(COPYSIGN, copysign), REALS(MIN, min), REALS(MAX, max),
    FLOATS(HARDSWISH, hardswish), FLOATS(LEAKY_RELU, leaky_relu),
    ROW(FMIN, [TILE_I64] = i64_min, [TILE_F32] = f32_fmin, [TILE_F64] = f64_fmin),
    ROW(FMAX, [TILE_I64] = i64_max, [TILE_F32] = f32_fmax, [TILE_F64] = f64_fmax),
    REALS(EQ, eq), REALS(NE, ne), REALS(LT, lt), REALS(LE, le), REALS(GT, gt), REALS(GE, ge),
    BITS(NOT, not), BITS(AND, and), BITS(OR, or), BITS(XOR, xor),
    ROW(SELECT, [TILE_BOOL] = bool_select, [TILE_I64] = i64_select, [TILE_F32] = f32_select, [TILE_F64] = f64_select),
    ROW(EXP, [TILE_F32] = f32_exp_loop, [TILE_F64] = f64_exp_loop),
    F32(EXP2, exp2), F32(EXPM1, expm1), F32(LOG, log), F32(LOG2, log2), F32(LOG10, log10),
    F32(LOG1P, log1p),
    F32(TANH, tanh), F32(SIGMOID, sigmoid), F32(ERF, erf), F32(GELU, gelu), F32(SIN, sin), F32(COS, cos), F32(POW, pow),
    F32(TAN, tan), F32(ATAN, atan), F32(ATAN2, atan2), F32(FMOD, fmod), F32(MOD, mod)
  },
  .casts = {
    [TILE_BOOL] = {[TILE_I64] = bool_to_i64, [TILE_F32] = bool_to_f32, [TILE_F64] = bool_to_f64},
    [TILE_I64] = {[TILE_BOOL] = i64_to_bool, [TILE_F32] = i64_to_f32, [TILE_F64] = i64_to_f64},
    [TILE_F32] = {[TILE_BOOL] = f32_to_bool, [TILE_I64] = f32_to_i64, [TILE_F64] = f32_to_f64},
    [TILE_F64] = {[TILE_BOOL] = f64_to_bool, [TILE_I64] = f64_to_i64, [TILE_F32] = f64_to_f32}
  },
  .loads = {
    [DTYPE_UINT8] = {[TILE_I64] = uint8_to_i64, [TILE_F32] = uint8_to_f32},
    [DTYPE_INT8] = {[TILE_I64] = int8_to_i64, [TILE_F32] = int8_to_f32},
    [DTYPE_INT16] = {[TILE_I64] = int16_to_i64, [TILE_F32] = int16_to_f32},
    [DTYPE_INT32] = {[TILE_I64] = int32_to_i64, [TILE_F32] = int32_to_f32},
    [DTYPE_FLOAT16] = {[TILE_F32] = load_half}, [DTYPE_BFLOAT16] = {[TILE_F32] = load_bfloat16},
    [DTYPE_COMPLEX64] = {[TILE_C128] = load_complex64}
  },
  .stores = {
    [DTYPE_UINT8] = {[TILE_I64] = i64_to_uint8}, [DTYPE_INT8] = {[TILE_I64] = i64_to_int8},
    [DTYPE_INT16] = {[TILE_I64] = i64_to_int16},
    [DTYPE_INT32] = {[TILE_I64] = i64_to_int32}, [DTYPE_FLOAT16] = {[TILE_F32] = store_half},
    [DTYPE_BFLOAT16] = {[TILE_F32] = store_bfloat16},
    [DTYPE_COMPLEX64] = {[TILE_C128] = store_complex64}
  }
};
