/* What operations compute, as C: one row for each, one column for each type. The functions that they call are C of
 * any dialect; names of <math.h> are the dialect's to have. */
#include <string.h>

#include "render/render.h"

/* clang-format off */
typedef struct Row {
  const char *name;
  const char *of[4]; /* bool, int64, float32, float64 */
} Row;
#define FLOATS(name, function) {name, {NULL, NULL, function "f($a)", function "($a)"}}
#define FLOATS2(name, function) {name, {NULL, NULL, function "f($a, $b)", function "($a, $b)"}}
#define COMPARES(name, sign) {name, {"$a " sign " $b", "$a " sign " $b", "$a " sign " $b", "$a " sign " $b"}}
#define SAME(name, text) {name, {NULL, text, text, text}}
static const Row rows[] = {
  {"neg", {NULL, "(i64)(0 - (u64)$a)", "-$a", "-$a"}},
  {"abs", {NULL, "($a < 0 ? (i64)(0 - (u64)$a) : $a)", "fabsf($a)", "fabs($a)"}},
  {"sign", {NULL, "($a > 0) - ($a < 0)", "(f32)(($a > 0) - ($a < 0))", "(f64)(($a > 0) - ($a < 0))"}},
  {"square", {NULL, "(i64)((u64)$a * (u64)$a)", "$a * $a", "$a * $a"}},
  {"reciprocal", {NULL, NULL, "1.0f / $a", "1.0 / $a"}},
  FLOATS("exp", "exp"), FLOATS("expm1", "expm1"), FLOATS("exp2", "exp2"), FLOATS("log", "log"),
  FLOATS("log1p", "log1p"), FLOATS("log2", "log2"), FLOATS("log10", "log10"), FLOATS("sqrt", "sqrt"),
  {"rsqrt", {NULL, NULL, "1.0f / sqrtf($a)", "1.0 / sqrt($a)"}},
  FLOATS("sin", "sin"), FLOATS("cos", "cos"), FLOATS("tan", "tan"), FLOATS("asin", "asin"), FLOATS("acos", "acos"),
  FLOATS("atan", "atan"), FLOATS("sinh", "sinh"), FLOATS("cosh", "cosh"), FLOATS("tanh", "tanh"),
  FLOATS("asinh", "asinh"), FLOATS("acosh", "acosh"), FLOATS("atanh", "atanh"),
  {"sigmoid", {NULL, NULL, "sigmoid_f32($a)", "sigmoid_f64($a)"}},
  FLOATS("erf", "erf"), FLOATS("erfc", "erfc"),
  {"gelu", {NULL, NULL, "0.5f * $a * (1.0f + erff($a * 0.70710678f))", "0.5 * $a * (1.0 + erf($a * 0.7071067811865476))"}},
  {"hardswish", {NULL, NULL, "$a * within_6_f32($a + 3.0f) / 6.0f", "$a * within_6_f64($a + 3.0) / 6.0"}},
  {"floor", {NULL, "$a", "floorf($a)", "floor($a)"}}, {"ceil", {NULL, "$a", "ceilf($a)", "ceil($a)"}},
  {"round", {NULL, "$a", "rintf($a)", "rint($a)"}}, {"trunc", {NULL, "$a", "truncf($a)", "trunc($a)"}},
  {"not", {"!$a", "~$a", NULL, NULL}},
  {"isnan", {NULL, "0", "$a != $a", "$a != $a"}},
  {"isinf", {NULL, "0", "fabsf($a) == f32_of_bits(0x7f800000u)", "fabs($a) == f64_of_bits(0x7ff0000000000000ull)"}},
  {"signbit", {NULL, "$a < 0", "bits_of_f32($a) >> 31", "bits_of_f64($a) >> 63"}},
  {"angle", {NULL, NULL, "($a < 0 ? 3.14159265f : $a != $a ? $a : 0.0f)", "($a < 0 ? 3.141592653589793 : $a != $a ? $a : 0.0)"}},
  SAME("real", "$a"), SAME("conj", "$a"), {"imag", {NULL, NULL, "$a - $a", "$a - $a"}},
  {"add", {NULL, "(i64)((u64)$a + (u64)$b)", "$a + $b", "$a + $b"}},
  {"sub", {NULL, "(i64)((u64)$a - (u64)$b)", "$a - $b", "$a - $b"}},
  {"mul", {NULL, "(i64)((u64)$a * (u64)$b)", "$a * $b", "$a * $b"}},
  {"div", {NULL, NULL, "$a / $b", "$a / $b"}},
  {"floordiv", {NULL, "floordiv_i64($a, $b)", "floordiv_f32($a, $b)", "floordiv_f64($a, $b)"}},
  {"truncdiv", {NULL, "truncdiv_i64($a, $b)", "truncf($a / $b)", "trunc($a / $b)"}},
  {"mod", {NULL, "mod_i64($a, $b)", "mod_f32($a, $b)", "mod_f64($a, $b)"}},
  {"fmod", {NULL, "fmod_i64($a, $b)", "fmodf($a, $b)", "fmod($a, $b)"}},
  {"pow", {NULL, "pow_i64($a, $b)", "powf($a, $b)", "pow($a, $b)"}},
  FLOATS2("atan2", "atan2"), FLOATS2("hypot", "hypot"), FLOATS2("copysign", "copysign"),
  FLOATS2("nextafter", "nextafter"),
  {"leaky_relu", {NULL, NULL, "($a > 0 ? $a : $a * $b)", "($a > 0 ? $a : $a * $b)"}},
  SAME("min", "($a < $b || $a != $a ? $a : $b)"), SAME("max", "($a > $b || $a != $a ? $a : $b)"),
  SAME("fmin", "($a < $b || $b != $b ? $a : $b)"), SAME("fmax", "($a > $b || $b != $b ? $a : $b)"),
  {"and", {"$a & $b", "$a & $b", NULL, NULL}}, {"or", {"$a | $b", "$a | $b", NULL, NULL}},
  {"xor", {"$a ^ $b", "$a ^ $b", NULL, NULL}},
  {"shl", {NULL, "shl_i64($a, $b)", NULL, NULL}}, {"shr", {NULL, "shr_i64($a, $b)", NULL, NULL}},
  COMPARES("eq", "=="), COMPARES("ne", "!="), COMPARES("lt", "<"), COMPARES("le", "<="), COMPARES("gt", ">"),
  COMPARES("ge", ">="),
  {"select", {"($c ? $a : $b)", "($c ? $a : $b)", "($c ? $a : $b)", "($c ? $a : $b)"}},
};

/* From the operation's type to its result's: by result, then by operand. */
static const char *const casts[4][4] = {
  {"$a", "$a != 0", "$a != 0", "$a != 0"},
  {"(i64)$a", "$a", "i64_of_f32($a)", "i64_of_f64($a)"},
  {"(f32)$a", "(f32)$a", "$a", "(f32)$a"},
  {"(f64)$a", "(f64)$a", "(f64)$a", "$a"},
};

/* What a dtype can hold of a value of the type: dtypes by number. */
typedef struct Rounding {
  uint32_t dtype;
  const char *of[4];
} Rounding;
static const Rounding roundings[] = {
  {WICK_UINT8, {NULL, "(i64)(u8)$a", NULL, NULL}}, {WICK_INT8, {NULL, "(i64)(s8)$a", NULL, NULL}},
  {WICK_INT16, {NULL, "(i64)(s16)$a", NULL, NULL}}, {WICK_INT32, {NULL, "(i64)(s32)$a", NULL, NULL}},
  {WICK_INT64, {NULL, "$a", NULL, NULL}},
  {WICK_FLOAT16, {NULL, NULL, "f32_of_f16(f16_of_f32($a))", NULL}},
  {WICK_BFLOAT16, {NULL, NULL, "f32_of_bf16(bf16_of_f32($a))", NULL}},
  {WICK_FLOAT32, {NULL, NULL, "$a", "(f64)(f32)$a"}}, {WICK_FLOAT64, {NULL, NULL, NULL, "$a"}},
  {WICK_BOOL8, {"$a", NULL, NULL, NULL}},
};

static const Row specials[] = {
  {"lgamma", {NULL, NULL, "(f32)lgamma((f64)$a)", "lgamma($a)"}},
  {"gcd", {NULL, "gcd_i64($a, $b)", NULL, NULL}}, {"lcm", {NULL, "lcm_i64($a, $b)", NULL, NULL}},
};
/* clang-format on */

static const char *find(const Row *table, size_t count, const char *name, uint32_t type) {
  for (size_t i = 0; i < count && type < 4; i++)
    if (!strcmp(table[i].name, name)) return table[i].of[type];
  return NULL;
}

static const char *find_rounding(uint32_t dtype, uint32_t type) {
  for (size_t i = 0; i < sizeof roundings / sizeof *roundings && type < 4; i++)
    if (roundings[i].dtype == dtype) return roundings[i].of[type];
  return NULL;
}

const char *render_operation(const wick_kernel_operation *op) {
  if (!strcmp(op->name, "cast")) return op->type < 4 && op->result_type < 4 ? casts[op->result_type][op->type] : NULL;
  if (!strcmp(op->name, "round_to")) return find_rounding(op->dtype, op->type);
  if (!strcmp(op->name, "special")) return find(specials, sizeof specials / sizeof *specials, op->function, op->type);
  return op->function ? NULL : find(rows, sizeof rows / sizeof *rows, op->name, op->type);
}

/* FUNCTION stands before each. Integers wrap around; a division by zero is 0. Halves by their bits: times 2^112 makes
 * the exponent of a half that of a float, subnormal or not. */
const char *const render_functions =
    "FUNCTION i64 i64_of_f32(f32 x) {\n"
    "  return x >= -9223372036854775808.0f && x < 9223372036854775808.0f ? (i64)x : (i64)(1ull << 63);\n"
    "}\n"
    "FUNCTION i64 i64_of_f64(f64 x) {\n"
    "  return x >= -9223372036854775808.0 && x < 9223372036854775808.0 ? (i64)x : (i64)(1ull << 63);\n"
    "}\n"
    "FUNCTION f32 f32_of_f16(u16 h) {\n"
    "  u32 rest = h & 0x7fffu, bits = bits_of_f32(f32_of_bits(rest << 13) * f32_of_bits(0x77800000u));\n"
    "  return f32_of_bits((rest >= 0x7c00u ? bits | 0x7f800000u : bits) | (u32)(h & 0x8000u) << 16);\n"
    "}\n"
    "FUNCTION u16 f16_of_f32(f32 x) {\n"
    "  u32 bits = bits_of_f32(x), sign = bits >> 16 & 0x8000u, rest = bits & 0x7fffffffu;\n"
    "  if (rest > 0x7f800000u) return (u16)(sign | 0x7e00u);\n"
    "  if (rest >= 0x477ff000u) return (u16)(sign | 0x7c00u);\n"
    "  if (rest < 0x38800000u) { /* subnormal: the unit is 2^-24 */\n"
    "    f32 shifted = f32_of_bits(rest) + 0.5f;\n"
    "    return (u16)(sign | (bits_of_f32(shifted) - 0x3f000000u));\n"
    "  }\n"
    "  return (u16)(sign | (rest + 0xfffu + (rest >> 13 & 1u) - 0x38000000u) >> 13);\n"
    "}\n"
    "FUNCTION f32 f32_of_bf16(u16 h) { return f32_of_bits((u32)h << 16); }\n"
    "FUNCTION u16 bf16_of_f32(f32 x) {\n"
    "  u32 bits = bits_of_f32(x);\n"
    "  return x != x ? (u16)0x7fc0u : (u16)((bits + 0x7fffu + (bits >> 16 & 1u)) >> 16);\n"
    "}\n"
    "FUNCTION f32 sigmoid_f32(f32 x) { return 1.0f / (1.0f + expf(-x)); }\n"
    "FUNCTION f64 sigmoid_f64(f64 x) { return 1.0 / (1.0 + exp(-x)); }\n"
    "FUNCTION f32 within_6_f32(f32 x) { return x > 0 ? x < 6.0f ? x : 6.0f : 0.0f; }\n"
    "FUNCTION f64 within_6_f64(f64 x) { return x > 0 ? x < 6.0 ? x : 6.0 : 0.0; }\n"
    "FUNCTION f32 mod_f32(f32 x, f32 y) {\n"
    "  f32 r = fmodf(x, y);\n"
    "  return r != 0 && (r < 0) != (y < 0) ? r + y : r;\n"
    "}\n"
    "FUNCTION f64 mod_f64(f64 x, f64 y) {\n"
    "  f64 r = fmod(x, y);\n"
    "  return r != 0 && (r < 0) != (y < 0) ? r + y : r;\n"
    "}\n"
    "FUNCTION f32 floordiv_f32(f32 x, f32 y) {\n"
    "  if (y == 0) return x / y;\n"
    "  f32 r = fmodf(x, y), q = (x - r) / y;\n"
    "  if (r != 0 && (y < 0) != (r < 0)) q -= 1.0f;\n"
    "  if (q == 0) return copysignf(0.0f, x / y);\n"
    "  f32 whole = floorf(q);\n"
    "  return q - whole > 0.5f ? whole + 1.0f : whole;\n"
    "}\n"
    "FUNCTION f64 floordiv_f64(f64 x, f64 y) {\n"
    "  if (y == 0) return x / y;\n"
    "  f64 r = fmod(x, y), q = (x - r) / y;\n"
    "  if (r != 0 && (y < 0) != (r < 0)) q -= 1.0;\n"
    "  if (q == 0) return copysign(0.0, x / y);\n"
    "  f64 whole = floor(q);\n"
    "  return q - whole > 0.5 ? whole + 1.0 : whole;\n"
    "}\n"
    "FUNCTION i64 truncdiv_i64(i64 x, i64 y) { return y == 0 ? 0 : y == -1 ? (i64)(0 - (u64)x) : x / y; }\n"
    "FUNCTION i64 fmod_i64(i64 x, i64 y) { return y == 0 || y == -1 ? 0 : x % y; }\n"
    "FUNCTION i64 mod_i64(i64 x, i64 y) {\n"
    "  i64 r = fmod_i64(x, y);\n"
    "  return r != 0 && (r < 0) != (y < 0) ? r + y : r;\n"
    "}\n"
    "FUNCTION i64 floordiv_i64(i64 x, i64 y) {\n"
    "  i64 r = fmod_i64(x, y), q = truncdiv_i64(x, y);\n"
    "  return r != 0 && (r < 0) != (y < 0) ? q - 1 : q;\n"
    "}\n"
    "FUNCTION i64 pow_i64(i64 x, i64 y) {\n"
    "  u64 result = 1, factor = (u64)x;\n"
    "  if (y < 0) return x == 1 ? 1 : x == -1 ? (y % 2 ? -1 : 1) : 0;\n"
    "  for (; y; y >>= 1, factor *= factor)\n"
    "    if (y & 1) result *= factor;\n"
    "  return (i64)result;\n"
    "}\n"
    "FUNCTION i64 shl_i64(i64 x, i64 y) { return y < 0 || y > 63 ? 0 : (i64)((u64)x << y); }\n"
    "FUNCTION i64 shr_i64(i64 x, i64 y) { return y < 0 || y > 63 ? (x < 0 ? -1 : 0) : x >> y; }\n"
    "FUNCTION i64 gcd_i64(i64 x, i64 y) {\n"
    "  u64 a = x < 0 ? 0 - (u64)x : (u64)x, b = y < 0 ? 0 - (u64)y : (u64)y;\n"
    "  while (b) {\n"
    "    u64 r = a % b;\n"
    "    a = b;\n"
    "    b = r;\n"
    "  }\n"
    "  return (i64)a;\n"
    "}\n"
    "FUNCTION i64 lcm_i64(i64 x, i64 y) {\n"
    "  i64 g = gcd_i64(x, y), l = g ? (i64)((u64)(x / g) * (u64)y) : 0;\n"
    "  return l < 0 ? (i64)(0 - (u64)l) : l;\n"
    "}\n";
