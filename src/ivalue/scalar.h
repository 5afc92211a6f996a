/* What operators of scalars do, one row each: the interpreter makes an instruction of a row, its compiler chooses the
 * instruction by the row, and the operators' kernels, with which constants are folded, compute what the row says. So a
 * program gives the same however it is run.
 *
 * A row has a name, the operator's symbol, the types of its operands and of its result, what it raises, and the
 * result as an expression of the operands x and y. Tables are given the macro that takes a row and an argument that
 * they hand on to it. */
#pragma once

#include <assert.h>

#include "ivalue/ivalue.h"

/* Ints wrap. */
static inline int64_t int_add(int64_t x, int64_t y) {
  return (int64_t)((uint64_t)x + (uint64_t)y);
}
static inline int64_t int_subtract(int64_t x, int64_t y) {
  return (int64_t)((uint64_t)x - (uint64_t)y);
}
static inline int64_t int_multiply(int64_t x, int64_t y) {
  return (int64_t)((uint64_t)x * (uint64_t)y);
}
static inline int64_t int_negate(int64_t x) {
  return (int64_t)(0 - (uint64_t)x);
}

/* Python's: rounded down, and the remainder has the divisor's sign; y is not 0. Processors divide half as wide numbers
 * several times as fast. */
static inline int64_t int_floor_divide(int64_t x, int64_t y) {
  assert(y != 0);
  if (((uint64_t)x | (uint64_t)y) >> 32 == 0) return (int64_t)((uint32_t)x / (uint32_t)y);
  if (y == -1) return int_negate(x);
  int64_t quotient = x / y;
  return quotient - (x % y != 0 && (x < 0) != (y < 0));
}
static inline int64_t int_remainder(int64_t x, int64_t y) {
  assert(y != 0);
  if (((uint64_t)x | (uint64_t)y) >> 32 == 0) return (int64_t)((uint32_t)x % (uint32_t)y);
  if (y == -1) return 0;
  int64_t remainder = x % y;
  return remainder != 0 && (remainder < 0) != (y < 0) ? remainder + y : remainder;
}

/* Cut off; what has no int is the least one, as PyTorch has it from the processor. */
static inline int64_t int_from_double(double x) {
  return x >= -0x1p63 && x < 0x1p63 ? (int64_t)x : INT64_MIN;
}

/* clang-format off */
#define SCALAR_ARITHMETIC(ROW, X) \
  ROW(X, ADD_INT,      aten_add,       INT,   INT,   NOTHING,       int_add(x, y)) \
  ROW(X, SUB_INT,      aten_sub,       INT,   INT,   NOTHING,       int_subtract(x, y)) \
  ROW(X, MUL_INT,      aten_mul,       INT,   INT,   NOTHING,       int_multiply(x, y)) \
  ROW(X, FLOORDIV_INT, aten_floordiv,  INT,   INT,   ZERO_DIVISION, int_floor_divide(x, y)) \
  ROW(X, MOD_INT,      aten_remainder, INT,   INT,   ZERO_DIVISION, int_remainder(x, y)) \
  ROW(X, DIV_INT,      aten_div,       INT,   FLOAT, NOTHING,       (double)x / (double)y) \
  ROW(X, AND_INT,      aten___and__,   INT,   INT,   NOTHING,       x & y) \
  ROW(X, OR_INT,       aten___or__,    INT,   INT,   NOTHING,       x | y) \
  ROW(X, XOR_INT,      aten___xor__,   INT,   INT,   NOTHING,       x ^ y) \
  ROW(X, MIN_INT,      prim_min,       INT,   INT,   NOTHING,       x < y ? x : y) \
  ROW(X, MAX_INT,      prim_max,       INT,   INT,   NOTHING,       x > y ? x : y) \
  ROW(X, ADD_FLOAT,    aten_add,       FLOAT, FLOAT, NOTHING,       x + y) \
  ROW(X, SUB_FLOAT,    aten_sub,       FLOAT, FLOAT, NOTHING,       x - y) \
  ROW(X, MUL_FLOAT,    aten_mul,       FLOAT, FLOAT, NOTHING,       x * y) \
  ROW(X, DIV_FLOAT,    aten_div,       FLOAT, FLOAT, NOTHING,       x / y)

/* The second operator is the row's with its operands the other way round. */
#define SCALAR_INT_COMPARISONS(ROW, X) \
  ROW(X, LT_INT, aten_lt, aten_gt, INT, x < y) \
  ROW(X, LE_INT, aten_le, aten_ge, INT, x <= y) \
  ROW(X, EQ_INT, aten_eq, aten_eq, INT, x == y) \
  ROW(X, NE_INT, aten_ne, aten_ne, INT, x != y)
#define SCALAR_FLOAT_COMPARISONS(ROW, X) \
  ROW(X, LT_FLOAT, aten_lt, aten_gt, FLOAT, x < y) \
  ROW(X, LE_FLOAT, aten_le, aten_ge, FLOAT, x <= y) \
  ROW(X, EQ_FLOAT, aten_eq, aten_eq, FLOAT, x == y) \
  ROW(X, NE_FLOAT, aten_ne, aten_ne, FLOAT, x != y)

/* Of one operand; none raises. */
#define SCALAR_UNARY(ROW, X) \
  ROW(X, NEG_INT,       aten_neg,     INT,   INT,   int_negate(x)) \
  ROW(X, NEG_FLOAT,     aten_neg,     FLOAT, FLOAT, -x) \
  ROW(X, NOT,           aten___not__, BOOL,  BOOL,  !x) \
  ROW(X, BOOL_TO_INT,   aten_Int,     BOOL,  INT,   x) \
  ROW(X, FLOAT_TO_INT,  aten_Int,     FLOAT, INT,   int_from_double(x)) \
  ROW(X, INT_TO_FLOAT,  aten_Float,   INT,   FLOAT, (double)x) \
  ROW(X, BOOL_TO_FLOAT, aten_Float,   BOOL,  FLOAT, (double)x) \
  ROW(X, INT_TO_BOOL,   aten_Bool,    INT,   BOOL,  x != 0) \
  ROW(X, FLOAT_TO_BOOL, aten_Bool,    FLOAT, BOOL,  x != 0)
/* clang-format on */

/* Of the types in rows: what C has, and how an IValue holds it. */
#define SCALAR_C_INT int64_t
#define SCALAR_C_FLOAT double
#define SCALAR_C_BOOL bool
#define SCALAR_OF_INT(v) ((v).i)
#define SCALAR_OF_FLOAT(v) ((v).f)
#define SCALAR_OF_BOOL(v) ((v).b)
#define SCALAR_MAKE_INT(value) ivalue_int(value)
#define SCALAR_MAKE_FLOAT(value) ivalue_float(value)
#define SCALAR_MAKE_BOOL(value) ivalue_bool(value)

/* Of what rows raise: whether operands call for it, and the error. */
#define SCALAR_RAISES_NOTHING(y) false
#define SCALAR_RAISES_ZERO_DIVISION(y) ((y) == 0)
#define SCALAR_ERROR_NOTHING OK
#define SCALAR_ERROR_ZERO_DIVISION status_exception("ZeroDivisionError", "division by 0")
