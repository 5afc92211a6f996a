/* Operations of kernel IR as vector code, with the bits of the tile interpreter's loops (tile/loops_body.h): the same
 * operations in the same order. What is not here, functions above all, the interpreter's loops compute in between. */
#include <assert.h>
#include <string.h>

#include "native/functions.h"
#include "native/vector_code.h"
#include "tensor/dtype.h"

enum { NONE = VECTOR_NO_VALUE };

typedef struct Operands {
  VectorCode *code;
  const KernelIns *ins;
  VectorKind kind;
  VectorValue a, b, c;
} Operands;

static VectorValue one(const Operands *o, VectorOp op, VectorValue a) {
  return vector_add(o->code, op, o->kind, a, NONE, NONE, 0);
}
static VectorValue two(const Operands *o, VectorOp op, VectorValue a, VectorValue b) {
  return vector_add(o->code, op, o->kind, a, b, NONE, 0);
}
static VectorValue three(const Operands *o, VectorOp op, VectorValue a, VectorValue b, VectorValue c) {
  return vector_add(o->code, op, o->kind, a, b, c, 0);
}
static VectorValue number(const Operands *o, double value) {
  return vector_constant(o->code, o->kind, value);
}
static VectorValue compare(const Operands *o, VectorComparison how, VectorValue a, VectorValue b) {
  return vector_add(o->code, VECTOR_COMPARE, o->kind, a, b, NONE, how);
}
static VectorValue round_as(const Operands *o, VectorRounding how) {
  if (o->kind == VECTOR_I64) return o->a;
  return vector_add(o->code, VECTOR_ROUND, o->kind, o->a, NONE, NONE, how);
}
static bool is_float(VectorKind kind) {
  return kind == VECTOR_F32 || kind == VECTOR_F64;
}
/* Bits of a float's sign, or all others. */
static VectorValue sign_bits(const Operands *o, bool is_sign) {
  int64_t sign = o->kind == VECTOR_F32 ? 0x80000000ll : INT64_MIN;
  int64_t all = o->kind == VECTOR_F32 ? 0xffffffffll : -1;
  return vector_bits(o->code, o->kind, is_sign ? sign : all & ~sign);
}
static VectorValue magnitude(const Operands *o) {
  return two(o, VECTOR_AND, o->a, sign_bits(o, false));
}
/* Ones where a comparison with zero holds, zeros elsewhere. */
static VectorValue one_where(const Operands *o, VectorComparison how) {
  VectorValue holds = compare(o, how, o->a, number(o, 0));
  return two(o, VECTOR_WHERE, number(o, 1), holds);
}
static VectorValue expand_HARDSWISH(const Operands *o) {
  VectorValue shifted = two(o, VECTOR_ADD, o->a, number(o, 3));
  VectorValue within = two(o, VECTOR_MIN, two(o, VECTOR_MAX, shifted, number(o, 0)), number(o, 6));
  return two(o, VECTOR_DIV, two(o, VECTOR_MUL, o->a, within), number(o, 6));
}
/* NaN wins, in a before b. */
static VectorValue expand_extreme(const Operands *o, VectorOp op) {
  VectorValue value = two(o, op, o->a, o->b);
  if (o->kind == VECTOR_I64) return value;
  return three(o, VECTOR_CHOOSE, o->a, value, compare(o, VECTOR_UNORDERED, o->a, o->a));
}
/* a where b is NaN. */
static VectorValue expand_other_extreme(const Operands *o, VectorOp op) {
  VectorValue value = two(o, op, o->a, o->b);
  if (o->kind == VECTOR_I64) return value;
  return three(o, VECTOR_CHOOSE, o->a, value, compare(o, VECTOR_UNORDERED, o->b, o->b));
}
static VectorValue expand_COPYSIGN(const Operands *o) {
  return two(o, VECTOR_OR, magnitude(o), two(o, VECTOR_AND, o->b, sign_bits(o, true)));
}
static VectorValue expand_ISINF(const Operands *o) {
  VectorValue infinity = vector_bits(o->code, o->kind, o->kind == VECTOR_F32 ? 0x7f800000ll : 0x7ff0000000000000ll);
  return compare(o, VECTOR_EQ, magnitude(o), infinity);
}
/* c ? a : b of masks. */
static VectorValue choose_mask(const Operands *o) {
  return two(o, VECTOR_OR, two(o, VECTOR_AND, o->c, o->a), two(o, VECTOR_AND_NOT, o->c, o->b));
}

static VectorValue expand_CAST(const Operands *o) {
  TileType from = (TileType)o->ins->immediate, to = (TileType)o->ins->type;
  Operands source = *o;
  source.kind = vector_kind_of(from);
  if (from == to) return o->a;
  if (to == TILE_BOOL && from == TILE_I64) return one(&source, VECTOR_IS_NOT_ZERO, o->a);
  if (to == TILE_BOOL) return compare(&source, VECTOR_NE, o->a, number(&source, 0));
  if (from == TILE_BOOL) {
    Operands result = *o;
    result.kind = vector_kind_of(to);
    return two(&result, VECTOR_WHERE, number(&result, 1), o->a);
  }
  static const VectorOp ops[TILE_TYPE_COUNT][TILE_TYPE_COUNT] = {
      [TILE_I64] = {[TILE_F32] = VECTOR_I64_TO_F32, [TILE_F64] = VECTOR_I64_TO_F64},
      [TILE_F32] = {[TILE_I64] = VECTOR_F32_TO_I64, [TILE_F64] = VECTOR_F32_TO_F64},
      [TILE_F64] = {[TILE_I64] = VECTOR_F64_TO_I64, [TILE_F32] = VECTOR_F64_TO_F32}};
  return one(&source, ops[from][to], o->a);
}

/* As tile/loops_body.h's to_bfloat16, and back. */
static VectorValue round_to_bfloat16(const Operands *o) {
  VectorCode *code = o->code;
  VectorValue lowest = vector_add(code, VECTOR_SHIFT_RIGHT, VECTOR_F32, o->a, NONE, NONE, 16);
  lowest = two(o, VECTOR_AND, lowest, vector_bits(code, VECTOR_F32, 1));
  VectorValue sum = two(o, VECTOR_ADD_BITS, o->a, vector_bits(code, VECTOR_F32, 0x7fff));
  sum = two(o, VECTOR_ADD_BITS, sum, lowest);
  sum = two(o, VECTOR_AND, sum, vector_bits(code, VECTOR_F32, 0xffff0000ll));
  return three(o, VECTOR_CHOOSE, vector_bits(code, VECTOR_F32, 0x7fc00000ll), sum,
               compare(o, VECTOR_UNORDERED, o->a, o->a));
}

static VectorValue expand_ROUND_TO(const Operands *o) {
  DType dtype = (DType)o->ins->immediate;
  if (dtype == DTYPE_BFLOAT16) return round_to_bfloat16(o);
  if (dtype == DTYPE_FLOAT16) return one(o, VECTOR_ROUND_TO_HALF, o->a);
  Operands narrow = *o;
  narrow.kind = VECTOR_F64;
  assert(o->kind == VECTOR_F64 && dtype == DTYPE_FLOAT32);
  VectorValue rounded = one(&narrow, VECTOR_F64_TO_F32, o->a);
  narrow.kind = VECTOR_F32;
  return one(&narrow, VECTOR_F32_TO_F64, rounded);
}

/* clang-format off */
#define EXPAND(OP, expression) \
  static VectorValue expand_##OP(const Operands *o) { \
    return expression; \
  }
EXPAND(NEG, is_float(o->kind) ? two(o, VECTOR_XOR, o->a, sign_bits(o, true)) : two(o, VECTOR_SUB, number(o, 0), o->a))
EXPAND(ABS, is_float(o->kind) ? magnitude(o) : one(o, VECTOR_ABS, o->a))
EXPAND(SIGN, two(o, VECTOR_SUB, one_where(o, VECTOR_GT), one_where(o, VECTOR_LT)))
EXPAND(SQUARE, two(o, VECTOR_MUL, o->a, o->a))
EXPAND(RECIPROCAL, two(o, VECTOR_DIV, number(o, 1), o->a))
EXPAND(SQRT, one(o, VECTOR_SQRT, o->a))
EXPAND(RSQRT, two(o, VECTOR_DIV, number(o, 1), one(o, VECTOR_SQRT, o->a)))
EXPAND(FLOOR, round_as(o, VECTOR_DOWN))
EXPAND(CEIL, round_as(o, VECTOR_UP))
EXPAND(ROUND, round_as(o, VECTOR_NEAREST))
EXPAND(TRUNC, round_as(o, VECTOR_TOWARDS_ZERO))
EXPAND(NOT, o->kind == VECTOR_MASK ? one(o, VECTOR_NOT, o->a)
                                   : two(o, VECTOR_XOR, o->a, vector_bits(o->code, VECTOR_I64, -1)))
EXPAND(ISNAN, compare(o, VECTOR_UNORDERED, o->a, o->a))
EXPAND(SIGNBIT, one(o, VECTOR_SIGN_BIT, o->a))
EXPAND(ADD, two(o, VECTOR_ADD, o->a, o->b))
EXPAND(SUB, two(o, VECTOR_SUB, o->a, o->b))
EXPAND(MUL, two(o, VECTOR_MUL, o->a, o->b))
EXPAND(DIV, two(o, VECTOR_DIV, o->a, o->b))
EXPAND(LEAKY_RELU,
       three(o, VECTOR_CHOOSE, o->a, two(o, VECTOR_MUL, o->a, o->b), compare(o, VECTOR_GT, o->a, number(o, 0))))
EXPAND(MIN, expand_extreme(o, VECTOR_MIN))
EXPAND(MAX, expand_extreme(o, VECTOR_MAX))
EXPAND(FMIN, expand_other_extreme(o, VECTOR_MIN))
EXPAND(FMAX, expand_other_extreme(o, VECTOR_MAX))
EXPAND(AND, two(o, VECTOR_AND, o->a, o->b))
EXPAND(OR, two(o, VECTOR_OR, o->a, o->b))
EXPAND(XOR, two(o, VECTOR_XOR, o->a, o->b))
EXPAND(EQ, compare(o, VECTOR_EQ, o->a, o->b))
EXPAND(NE, compare(o, VECTOR_NE, o->a, o->b))
EXPAND(LT, compare(o, VECTOR_LT, o->a, o->b))
EXPAND(LE, compare(o, VECTOR_LE, o->a, o->b))
EXPAND(GT, compare(o, VECTOR_GT, o->a, o->b))
EXPAND(GE, compare(o, VECTOR_GE, o->a, o->b))
EXPAND(SELECT, o->kind == VECTOR_MASK ? choose_mask(o) : three(o, VECTOR_CHOOSE, o->a, o->b, o->c))

#define FUNCTION(OP, name) EXPAND(OP, name(&(VectorMath){o->code, o->kind}, o->a))
FUNCTION(EXP, vector_exp)
FUNCTION(TANH, vector_tanh)
FUNCTION(SIGMOID, vector_sigmoid)
FUNCTION(ERF, vector_erf)
FUNCTION(GELU, vector_gelu)

typedef VectorValue Expand(const Operands *o);
static Expand *const expanders[KERNEL_OP_COUNT] = {
#define ROW(OP) [KERNEL_##OP] = expand_##OP
  ROW(NEG), ROW(ABS), ROW(SIGN), ROW(SQUARE), ROW(RECIPROCAL), ROW(SQRT), ROW(RSQRT), ROW(FLOOR), ROW(CEIL), ROW(ROUND),
  ROW(TRUNC), ROW(NOT), ROW(ISNAN), ROW(ISINF), ROW(SIGNBIT), ROW(ADD), ROW(SUB), ROW(MUL), ROW(DIV), ROW(COPYSIGN),
  ROW(HARDSWISH), ROW(LEAKY_RELU), ROW(MIN), ROW(MAX), ROW(FMIN), ROW(FMAX), ROW(AND), ROW(OR), ROW(XOR), ROW(EQ),
  ROW(NE), ROW(LT), ROW(LE), ROW(GT), ROW(GE), ROW(SELECT), ROW(CAST), ROW(ROUND_TO), ROW(EXP),
  ROW(TANH), ROW(SIGMOID), ROW(ERF), ROW(GELU)
#undef ROW
};
/* clang-format on */

bool vector_has(const KernelIns *ins) {
  TileType type = (TileType)ins->type;
  DType dtype = (DType)ins->immediate;
  if (type == TILE_C128 || !expanders[ins->op]) return false;
  if (ins->op == KERNEL_CAST) return ins->immediate != TILE_C128;
  if (ins->op == KERNEL_TANH || ins->op == KERNEL_SIGMOID || ins->op == KERNEL_ERF || ins->op == KERNEL_GELU)
    return type == TILE_F32;
  if (ins->op == KERNEL_ISNAN || ins->op == KERNEL_ISINF) return type != TILE_I64;
  if (ins->op != KERNEL_ROUND_TO) return true;
  return type == TILE_F32 ? dtype == DTYPE_FLOAT16 || dtype == DTYPE_BFLOAT16
                          : type == TILE_F64 && dtype == DTYPE_FLOAT32;
}

VectorValue vector_expand(VectorCode *code, const KernelIns *ins) {
  const KernelValue from[3] = {ins->a, ins->b, ins->c};
  VectorValue to[3];
  for (int i = 0; i < 3; i++) to[i] = from[i] == KERNEL_NO_VALUE ? NONE : code->of_values[from[i]];
  assert(vector_has(ins) && to[0] != NONE);
  Operands operands = {code, ins, vector_kind_of((TileType)ins->type), to[0], to[1], to[2]};
  return expanders[ins->op](&operands);
}
