/* Arithmetic, comparison and conversion of numbers. One kernel serves all overloads of an operator: the tags of the
 * arguments say which they are, and int, float, complex is the order of promotion. What the interpreter has
 * instructions for, ivalue/scalar.h computes for both. */
#include <assert.h>
#include <float.h>
#include <math.h>

#include "call/results.h"
#include "call/row.h"
#include "ivalue/scalar.h"

typedef enum Joint { JOINT_INT, JOINT_FLOAT, JOINT_COMPLEX } Joint;

static Joint joint_of(IValue a) {
  return a.tag == TAG_COMPLEX ? JOINT_COMPLEX : a.tag == TAG_FLOAT ? JOINT_FLOAT : JOINT_INT;
}

static Joint joint(const Call *c) {
  assert(c->input_count == 2);
  Joint a = joint_of(c->inputs[0]), b = joint_of(c->inputs[1]);
  return a > b ? a : b;
}

/* Bodies see x and y in the joint type. */
#define BINARY(name, on_ints, on_floats, on_complexes)                                       \
  static Status name(Call *c) {                                                              \
    switch (joint(c)) {                                                                      \
      case JOINT_INT: {                                                                      \
        int64_t x = ivalue_to_int(c->inputs[0]), y = ivalue_to_int(c->inputs[1]);            \
        on_ints;                                                                             \
      }                                                                                      \
      case JOINT_FLOAT: {                                                                    \
        double x = ivalue_to_double(c->inputs[0]), y = ivalue_to_double(c->inputs[1]);       \
        on_floats;                                                                           \
      }                                                                                      \
      default: {                                                                             \
        complex128 x = ivalue_to_complex(c->inputs[0]), y = ivalue_to_complex(c->inputs[1]); \
        (void)x, (void)y;                                                                    \
        on_complexes;                                                                        \
      }                                                                                      \
    }                                                                                        \
  }
#define NO_COMPLEX \
  return status_exception("TypeError", STR_FMT ": not defined for complex numbers", STR_ARG(c->op->name))

/* Of rows of scalars: give_ADD_INT(c, x, y) and so on. */
#define RESULT_INT(c, value) result_int(c, 0, value)
#define RESULT_FLOAT(c, value) result_double(c, 0, value)
#define RESULT_BOOL(c, value) result_bool(c, 0, value)
#define GIVE(X, name, symbol, operand, result, raises, value)                             \
  static inline Status give_##name(Call *c, SCALAR_C_##operand x, SCALAR_C_##operand y) { \
    if (SCALAR_RAISES_##raises(y)) return SCALAR_ERROR_##raises;                          \
    return RESULT_##result(c, value);                                                     \
  }
#define GIVE_COMPARISON(X, name, symbol, other, operand, value) GIVE(X, name, symbol, operand, BOOL, NOTHING, value)
#define GIVE_OF_ONE(X, name, symbol, operand, result, value)        \
  static inline Status give_##name(Call *c, SCALAR_C_##operand x) { \
    return RESULT_##result(c, value);                               \
  }
SCALAR_ARITHMETIC(GIVE, )
SCALAR_INT_COMPARISONS(GIVE_COMPARISON, )
SCALAR_FLOAT_COMPARISONS(GIVE_COMPARISON, )
SCALAR_UNARY(GIVE_OF_ONE, )

static int64_t int_power(int64_t base, int64_t exponent) {
  if (exponent < 0) return ivalue_to_int(ivalue_float(pow((double)base, (double)exponent)));
  int64_t result = 1;
  for (; exponent; exponent >>= 1, base = int_multiply(base, base))
    if (exponent & 1) result = int_multiply(result, base);
  return result;
}

/* As (a + bi)(c + di) is multiplied out, without the recovery of infinities that C's operator adds. */
static complex128 complex_product(complex128 x, complex128 y) {
  double a = __real__ x, b = __imag__ x, c = __real__ y, d = __imag__ y;
  complex128 result;
  __real__ result = a * c - b * d;
  __imag__ result = a * d + b * c;
  return result;
}

static complex128 complex_power(complex128 x, complex128 y) {
  if (x == 0) return y == 0 ? 1 : 0;
  double modulus = hypot(__real__ x, __imag__ x), argument = atan2(__imag__ x, __real__ x), c = __real__ y,
         d = __imag__ y;
  double scale = pow(modulus, c) * exp(-d * argument), angle = c * argument + d * log(modulus);
  complex128 result;
  __real__ result = scale * cos(angle);
  __imag__ result = scale * sin(angle);
  return result;
}

static Status real_power(Call *c, double x, double y) {
  if (x == 0 && y < 0) return status_exception("ZeroDivisionError", "0.0 cannot be raised to a negative power");
  return result_double(c, 0, pow(x, y));
}

BINARY(add, return give_ADD_INT(c, x, y), return give_ADD_FLOAT(c, x, y), return result_complex(c, 0, x + y))
BINARY(subtract, return give_SUB_INT(c, x, y), return give_SUB_FLOAT(c, x, y), return result_complex(c, 0, x - y))
BINARY(multiply, return give_MUL_INT(c, x, y), return give_MUL_FLOAT(c, x, y),
       return result_complex(c, 0, complex_product(x, y)))
BINARY(divide, return give_DIV_INT(c, x, y), return give_DIV_FLOAT(c, x, y), return result_complex(c, 0, x / y))
BINARY(floor_divide, return give_FLOORDIV_INT(c, x, y), return result_double(c, 0, floor(x / y)), NO_COMPLEX)
BINARY(truncate_divide, if (y == 0) return SCALAR_ERROR_ZERO_DIVISION;
       return result_int(c, 0, y == -1 ? int_negate(x) : x / y), return result_double(c, 0, trunc(x / y)), NO_COMPLEX)
BINARY(remainder_of, return give_MOD_INT(c, x, y), return result_double(c, 0, fmod(y + fmod(x, y), y)), NO_COMPLEX)
BINARY(power, return real_power(c, (double)x, (double)y), return real_power(c, x, y),
       return result_complex(c, 0, complex_power(x, y)))
BINARY(power_of_ints, if (x == 0 && y < 0) return real_power(c, 0, -1);
       return result_int(c, 0, int_power(x, y)), return real_power(c, x, y), NO_COMPLEX)
BINARY(equal, return give_EQ_INT(c, x, y), return give_EQ_FLOAT(c, x, y), return result_bool(c, 0, x == y))
BINARY(not_equal, return give_NE_INT(c, x, y), return give_NE_FLOAT(c, x, y), return result_bool(c, 0, x != y))
BINARY(less, return give_LT_INT(c, x, y), return give_LT_FLOAT(c, x, y), NO_COMPLEX)
BINARY(less_equal, return give_LE_INT(c, x, y), return give_LE_FLOAT(c, x, y), NO_COMPLEX)
BINARY(greater, return give_LT_INT(c, y, x), return give_LT_FLOAT(c, y, x), NO_COMPLEX)
BINARY(greater_equal, return give_LE_INT(c, y, x), return give_LE_FLOAT(c, y, x), NO_COMPLEX)
BINARY(maximum, return give_MAX_INT(c, x, y), return result_double(c, 0, x > y ? x : y), NO_COMPLEX)
BINARY(minimum, return give_MIN_INT(c, x, y), return result_double(c, 0, x < y ? x : y), NO_COMPLEX)

static Status divmod_int(Call *c) {
  int64_t x = call_int(c, 0), y = call_int(c, 1);
  if (y == 0) return status_exception("ZeroDivisionError", "integer division or modulo by zero");
  TRY(result_int(c, 0, int_floor_divide(x, y)));
  return result_int(c, 1, int_remainder(x, y));
}

static Status divmod_float(Call *c) {
  double x = ivalue_to_double(c->inputs[0]), y = ivalue_to_double(c->inputs[1]);
  if (y == 0) return status_exception("ZeroDivisionError", "float divmod()");
  double remainder = fmod(x, y);
  if (remainder != 0 && (x < 0) != (y < 0)) remainder += y;
  TRY(result_double(c, 0, (x - remainder) / y));
  return result_double(c, 1, remainder);
}

static Status negate(Call *c) {
  IValue v = c->inputs[0];
  if (v.tag == TAG_COMPLEX) return result_complex(c, 0, -ivalue_complex(v));
  return v.tag == TAG_FLOAT ? give_NEG_FLOAT(c, v.f) : give_NEG_INT(c, ivalue_to_int(v));
}

static Status absolute(Call *c) {
  IValue v = c->inputs[0];
  if (v.tag == TAG_COMPLEX) return result_double(c, 0, hypot(__real__ ivalue_complex(v), __imag__ ivalue_complex(v)));
  if (v.tag == TAG_FLOAT) return result_double(c, 0, fabs(v.f));
  int64_t i = ivalue_to_int(v);
  return result_int(c, 0, i < 0 ? int_negate(i) : i);
}

/* ---- bits and bools ---- */

static Status bit_and(Call *c) {
  return give_AND_INT(c, call_int(c, 0), call_int(c, 1));
}
static Status bit_or(Call *c) {
  return give_OR_INT(c, call_int(c, 0), call_int(c, 1));
}
static Status bit_xor(Call *c) {
  return give_XOR_INT(c, call_int(c, 0), call_int(c, 1));
}
static Status bool_and(Call *c) {
  return result_bool(c, 0, call_bool(c, 0) && call_bool(c, 1));
}
static Status bool_or(Call *c) {
  return result_bool(c, 0, call_bool(c, 0) || call_bool(c, 1));
}
static Status bool_xor(Call *c) {
  return result_bool(c, 0, call_bool(c, 0) != call_bool(c, 1));
}
static Status bool_not(Call *c) {
  return give_NOT(c, call_bool(c, 0));
}

/* The count is taken modulo 64, as PyTorch has it from the processor. */
static Status shift_left(Call *c) {
  return result_int(c, 0, (int64_t)((uint64_t)call_int(c, 0) << (call_int(c, 1) & 63)));
}

static Status shift_right(Call *c) {
  return result_int(c, 0, call_int(c, 0) >> (call_int(c, 1) & 63));
}

/* ---- conversions ---- */

static Status to_bool(Call *c) {
  IValue v = c->inputs[0];
  assert(v.tag == TAG_FLOAT || v.tag == TAG_INT);
  return v.tag == TAG_FLOAT ? give_FLOAT_TO_BOOL(c, v.f) : give_INT_TO_BOOL(c, v.i);
}

static Status real_part(const Call *c, IValue v) {
  if (v.tag == TAG_COMPLEX && __imag__ ivalue_complex(v) != 0)
    return status_exception("RuntimeError",
                            STR_FMT ": value cannot be converted without overflow: it has an imaginary part",
                            STR_ARG(c->op->name));
  return OK;
}

static Status to_int(Call *c) {
  IValue v = c->inputs[0];
  if (v.tag == TAG_FLOAT) return give_FLOAT_TO_INT(c, v.f);
  if (v.tag == TAG_BOOL) return give_BOOL_TO_INT(c, v.b);
  TRY(real_part(c, v));
  return result_int(c, 0, ivalue_to_int(v));
}

static Status to_float(Call *c) {
  IValue v = c->inputs[0];
  if (v.tag == TAG_INT) return give_INT_TO_FLOAT(c, v.i);
  if (v.tag == TAG_BOOL) return give_BOOL_TO_FLOAT(c, v.b);
  TRY(real_part(c, v));
  return result_double(c, 0, ivalue_to_double(v));
}

/* Space and a plus sign may stand in front; after a number PyTorch takes nothing. */
static Str without_front(Str s) {
  while (s.length && s.data[0] && strchr(" \t\n\v\f\r", s.data[0])) s = str_slice(s, 1, s.length);
  return s.length > 1 && s.data[0] == '+' && s.data[1] != '-' ? str_slice(s, 1, s.length) : s;
}

static Status int_from_str(Call *c) {
  int64_t value;
  if (!str_to_int64(without_front(call_str(c, 0)), 10, &value))
    return status_exception("ValueError", "invalid literal for int() with base 10: '" STR_FMT "'",
                            STR_ARG(call_str(c, 0)));
  return result_int(c, 0, value);
}

/* [-]0x digits [. digits] [p [sign] digits], the one form besides decimal that PyTorch reads. Digits beyond 60 bits do
 * not count. */
static bool read_hexadecimal(Str s, double *out) {
  bool negative = s.length && s.data[0] == '-';
  size_t i = negative;
  if (s.length < i + 3 || s.data[i] != '0' || (s.data[i + 1] | 0x20) != 'x') return false;
  int64_t mantissa = 0, exponent = 0, written = 0;
  bool any = false, fraction = false;
  for (i += 2; i < s.length && (s.data[i] | 0x20) != 'p'; i++) {
    char c = s.data[i], lower = (char)(c | 0x20);
    if (c == '.' && !fraction) {
      fraction = true;
      continue;
    }
    int digit = c >= '0' && c <= '9' ? c - '0' : lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
    if (digit < 0) return false;
    any = true;
    bool kept = mantissa >> 56 == 0;
    if (kept) mantissa = mantissa * 16 + digit;
    exponent += (kept ? 0 : 4) - (fraction ? 4 : 0);
  }
  if (!any) return false;
  if (i < s.length) {
    Str power = str_slice(s, i + 1, s.length);
    if (!str_to_int64(power, 10, &written) || written < -100000 || written > 100000) return false;
  }
  exponent += written;
  if (exponent < -200000 || exponent > 200000) return false;
  *out = ldexp(negative ? -(double)mantissa : (double)mantissa, (int)exponent);
  return true;
}

/* A number that float64 has no value for, or less than the usual precision. */
static bool is_out_of_range(Str text, double value) {
  bool zero = true, letters = false;
  for (size_t i = 0; i < text.length && (text.data[i] | 0x20) != 'e' && (text.data[i] | 0x20) != 'p'; i++) {
    zero &= !(text.data[i] >= '1' && text.data[i] <= '9');
    letters |= (text.data[i] | 0x20) == 'n'; /* inf, nan */
  }
  return !letters && (isinf(value) || (!zero && fabs(value) < DBL_MIN));
}

static Status float_from_str(Call *c) {
  double value;
  Str text = without_front(call_str(c, 0));
  if (!(str_to_double(text, &value) || read_hexadecimal(text, &value)) || is_out_of_range(text, value))
    return status_exception("ValueError", "could not convert string to float: '" STR_FMT "'", STR_ARG(call_str(c, 0)));
  return result_double(c, 0, value);
}

static Status to_complex(Call *c) {
  return result_complex(c, 0, ivalue_to_complex(c->inputs[0]));
}

static Status complex_of(Call *c) {
  complex128 value;
  __real__ value = ivalue_to_double(c->inputs[0]);
  __imag__ value = ivalue_to_double(c->inputs[1]);
  return result_complex(c, 0, value);
}

/* ---- ranges ---- */

static Status range_length(Call *c) {
  int64_t low = call_int(c, 0), high = call_int(c, 1), step = call_int(c, 2);
  if (step == 0) return status_exception("ValueError", "range() arg 3 must not be zero");
  uint64_t length = 0; /* unsigned differences can't overflow */
  if (step > 0 && low < high)
    length = 1 + ((uint64_t)high - 1 - (uint64_t)low) / (uint64_t)step;
  else if (step < 0 && low > high)
    length = 1 + ((uint64_t)low - 1 - (uint64_t)high) / (0 - (uint64_t)step);
  return result_int(c, 0, (int64_t)(length > INT64_MAX ? INT64_MAX : length));
}

static Status derive_index(Call *c) {
  return result_int(c, 0, int_add(call_int(c, 1), int_multiply(call_int(c, 0), call_int(c, 2))));
}

#define SAFE(text, function) \
  { .schema = text, .kernel = function, .flags = OP_NEVER_RAISES }
#define INT_FLOAT(name, result_of_ints, function)                         \
  ROW("aten::" name ".int(int a, int b) -> " result_of_ints, function),   \
      ROW("aten::" name ".float(float a, float b) -> float", function),   \
      ROW("aten::" name ".int_float(int a, float b) -> float", function), \
      ROW("aten::" name ".float_int(float a, int b) -> float", function)
#define SAFE_INT_FLOAT(name, function)                                     \
  SAFE("aten::" name ".int(int a, int b) -> int", function),               \
      SAFE("aten::" name ".float(float a, float b) -> float", function),   \
      SAFE("aten::" name ".int_float(int a, float b) -> float", function), \
      SAFE("aten::" name ".float_int(float a, int b) -> float", function)
#define COMPLEX(name, function)                                                     \
  ROW("aten::" name ".complex(complex a, complex b) -> complex", function),         \
      ROW("aten::" name ".complex_int(complex a, int b) -> complex", function),     \
      ROW("aten::" name ".complex_float(complex a, float b) -> complex", function), \
      ROW("aten::" name ".int_complex(int a, complex b) -> complex", function),     \
      ROW("aten::" name ".float_complex(float a, complex b) -> complex", function)
#define SCALAR(name, result, function) ROW("aten::" name "(Scalar a, Scalar b) -> " result, function)
#define ORDER(name, function)                                             \
  SAFE("aten::" name ".int(int a, int b) -> bool", function),             \
      SAFE("aten::" name ".float(float a, float b) -> bool", function),   \
      SAFE("aten::" name ".int_float(int a, float b) -> bool", function), \
      SAFE("aten::" name ".float_int(float a, int b) -> bool", function), SCALAR(name, "bool", function)
#define EQUALITY(name, function)                                                  \
  SAFE("aten::" name ".bool(bool a, bool b) -> bool", function),                  \
      SAFE("aten::" name ".complex(complex a, complex b) -> bool", function),     \
      SAFE("aten::" name ".complex_float(complex a, float b) -> bool", function), \
      SAFE("aten::" name ".float_complex(float a, complex b) -> bool", function), ORDER(name, function)
#define EXTREME(name, function)                                           \
  ROW("prim::" name ".int(int a, int b) -> int", function),               \
      ROW("prim::" name ".float(float a, float b) -> float", function),   \
      ROW("prim::" name ".int_float(int a, float b) -> float", function), \
      ROW("prim::" name ".float_int(float a, int b) -> float", function), \
      ROW("prim::" name "(Scalar a, Scalar b) -> Scalar", function)

static const OpRow rows[] = {
    SAFE_INT_FLOAT("add", add),
    COMPLEX("add", add),
    SCALAR("add", "Scalar", add),
    SAFE_INT_FLOAT("sub", subtract),
    COMPLEX("sub", subtract),
    SCALAR("sub", "Scalar", subtract),
    SAFE_INT_FLOAT("mul", multiply),
    COMPLEX("mul", multiply),
    SCALAR("mul", "Scalar", multiply),
    ROW("aten::div.int(int a, int b) -> float", divide),
    ROW("aten::div.float(float a, float b) -> float", divide),
    ROW("aten::div.complex(complex a, complex b) -> complex", divide),
    SCALAR("div", "float", divide),
    INT_FLOAT("floordiv", "int", floor_divide),
    SCALAR("floordiv", "Scalar", floor_divide),
    ROW("aten::__round_to_zero_floordiv.int(int a, int b) -> int", truncate_divide),
    INT_FLOAT("remainder", "int", remainder_of),
    SCALAR("remainder", "Scalar", remainder_of),
    INT_FLOAT("pow", "float", power),
    ROW("aten::pow.complex(complex a, complex b) -> complex", power),
    ROW("aten::pow.complex_float(complex a, float b) -> complex", power),
    ROW("aten::pow.float_complex(float a, complex b) -> complex", power),
    ROW("aten::pow.Scalar_Scalar(Scalar a, Scalar b) -> float", power),
    ROW("aten::pow.int_to_int(int a, int b) -> int", power_of_ints),
    ROW("aten::divmod.int(int x, int y) -> (int, int)", divmod_int),
    ROW("aten::divmod.float(float x, float y) -> (float, float)", divmod_float),
    ROW("aten::divmod.int_float(int x, float y) -> (float, float)", divmod_float),
    ROW("aten::divmod.float_int(float x, int y) -> (float, float)", divmod_float),
    EQUALITY("eq", equal),
    EQUALITY("ne", not_equal),
    ORDER("lt", less),
    ORDER("le", less_equal),
    ORDER("gt", greater),
    ORDER("ge", greater_equal),
    EXTREME("max", maximum),
    EXTREME("min", minimum),
    SAFE("aten::neg.int(int a) -> int", negate),
    SAFE("aten::neg.float(float a) -> float", negate),
    ROW("aten::neg.complex(complex a) -> complex", negate),
    ROW("aten::neg.Scalar(Scalar a) -> Scalar", negate),
    ROW("prim::abs.int(int a) -> int", absolute),
    ROW("prim::abs.float(float a) -> float", absolute),
    ROW("prim::abs.complex(complex a) -> float", absolute),
    ROW("prim::abs.Scalar(Scalar a) -> Scalar", absolute),
    SAFE("aten::__and__.int(int a, int b) -> int", bit_and),
    SAFE("aten::__and__.bool(bool a, bool b) -> bool", bool_and),
    SAFE("aten::__or__.int(int a, int b) -> int", bit_or),
    SAFE("aten::__or__.bool(bool a, bool b) -> bool", bool_or),
    SAFE("aten::__xor__.int(int a, int b) -> int", bit_xor),
    SAFE("aten::__xor__.bool(bool a, bool b) -> bool", bool_xor),
    SAFE("aten::__not__(bool self) -> bool", bool_not),
    ROW("aten::__lshift__.int(int a, int b) -> int", shift_left),
    ROW("aten::__rshift__.int(int a, int b) -> int", shift_right),
    ROW("aten::Bool.int(int a) -> bool", to_bool),
    ROW("aten::Bool.float(float a) -> bool", to_bool),
    ROW("aten::Int.float(float a) -> int", to_int),
    ROW("aten::Int.bool(bool a) -> int", to_int),
    ROW("aten::Int.Scalar(Scalar a) -> int", to_int),
    ROW("aten::Int.str(str a) -> int", int_from_str),
    ROW("aten::Float.int(int a) -> float", to_float),
    ROW("aten::Float.bool(bool a) -> float", to_float),
    ROW("aten::Float.Scalar(Scalar a) -> float", to_float),
    ROW("aten::Float.str(str a) -> float", float_from_str),
    ROW("aten::Complex.Scalar(Scalar a) -> complex", to_complex),
#define FROM_PARTS(real, imaginary) \
  ROW("aten::Complex." real "_" imaginary "(" real " x, " imaginary " y) -> complex", complex_of)
    FROM_PARTS("int", "bool"),
    FROM_PARTS("bool", "int"),
    FROM_PARTS("float", "bool"),
    FROM_PARTS("bool", "float"),
    FROM_PARTS("float", "int"),
    FROM_PARTS("int", "float"),
    FROM_PARTS("int", "int"),
    FROM_PARTS("bool", "bool"),
    FROM_PARTS("float", "float"),
    ROW("aten::__range_length(int lo, int hi, int step) -> int", range_length),
    ROW("aten::__derive_index(int index, int start, int step) -> int", derive_index),
};
OP_TABLE(op_table_number, rows);
