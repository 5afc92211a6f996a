/* The frequent float32 loops with 512-bit vectors; the others gain too little to be compiled once more. */
#define FUSED 1
#include "tile/loops_float32_body.h"

/* clang-format off */
#define ROW(OP, name) [KERNEL_##OP] = {[TILE_F32] = f32_##name}
const TileLoopTable tile_loops_avx512 = {
  ROW(NEG, neg), ROW(ABS, abs), ROW(SIGN, sign), ROW(SQUARE, square), ROW(RECIPROCAL, reciprocal), ROW(SQRT, sqrt),
  ROW(RSQRT, rsqrt), ROW(FLOOR, floor), ROW(CEIL, ceil), ROW(ROUND, round), ROW(TRUNC, trunc),
  ROW(ISNAN, isnan), ROW(ISINF, isinf), ROW(SIGNBIT, signbit),
  ROW(ADD, add), ROW(SUB, sub), ROW(MUL, mul), ROW(DIV, div), ROW(COPYSIGN, copysign), ROW(MIN, min), ROW(MAX, max),
  ROW(FMIN, fmin), ROW(FMAX, fmax),
  ROW(EQ, eq), ROW(NE, ne), ROW(LT, lt), ROW(LE, le), ROW(GT, gt), ROW(GE, ge), ROW(SELECT, select),
  ROW(EXP, exp_loop), ROW(EXPM1, expm1_loop), ROW(LOG, log_loop), ROW(TANH, tanh_loop), ROW(SIGMOID, sigmoid_loop),
  ROW(ERF, erf_loop), ROW(GELU, gelu_loop), ROW(HARDSWISH, hardswish),
  ROW(LEAKY_RELU, leaky_relu)
};
/* clang-format on */
