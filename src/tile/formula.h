/* Formula: the text in an operator's row that says what it computes for one element, over its parameters' names.
 *
 *   1 / (1 + exp(-self))
 *   self + other if alpha == 1 else self + alpha * other
 *   t = tanh(log1p(exp(self))); self * t
 *   frexp_mantissa(self), frexp_exponent(self)
 *
 * Numbers, names, calls, Python's operators with its precedence (or, and, not, comparisons, | ^ & << >>, + - * / // %,
 * unary
 * - + ~, **) and `a if c else b`; assignments end in `;`; several results are separated by commas. `pi`, `e`, `inf`,
 * `nan` are numbers, `largest` the greatest finite one; `integral`, `floating`, `complex`, `boolean` say what the
 * computation's type is and `float32` ... `bool` name casts.
 *
 * What only concerns the call and not the element is settled when the formula is lowered, so that nothing of it is left
 * in the kernel: `name is None`, `name == "text"`, a bool parameter's value, `number == literal` (and !=). Both sides
 * of any other conditional are computed.
 *
 * Tensor parameters, and the numbers a row names in `.promote`, decide the computation's type together; a tensor that
 * is only ever a condition (`a if mask else b`) does not, and is loaded as bool. */
#pragma once

#include "tile/run.h"

typedef enum FormulaKind { FORMULA_TENSOR, FORMULA_NUMBER, FORMULA_BOOL, FORMULA_TEXT, FORMULA_OTHER } FormulaKind;
typedef struct FormulaParameter {
  Str name;
  FormulaKind kind;
  bool promotes; /* a number that takes part in type promotion; tensors do unless they are only conditions */
} FormulaParameter;

enum { FORMULA_MAX_PARAMETERS = 16 };
typedef struct Formula Formula;
/* The text and the names are copied. Errors name the place. */
Status formula_parse(Str text, int count, const FormulaParameter *parameters, Formula **out) MUST_CHECK;
void formula_free(Formula *formula);
int formula_result_count(const Formula *formula);
int formula_parameter_count(const Formula *formula);
int formula_choice_count(const Formula *formula);
Str formula_parameter_name(const Formula *formula, int parameter);
/* Bit i: parameter i takes part in type promotion. */
uint64_t formula_promoting(const Formula *formula);
/* What of the call the formula asks for, as bits: equal bits lower to the same kernel. */
uint32_t formula_choices(const Formula *formula, const TileArgument *arguments);
/* The types that arguments are loaded as: `compute` for most, bool for conditions. */
void formula_argument_types(const Formula *formula, TileType compute, TileType *out_types);
/* Appends the formula's instructions; arguments[i] is a register or KERNEL_NO_VALUE where parameter i has no value.
 * `compute` is the type the formula computes in. Results go to out_results; where it has no meaning in that type the
 * builder fails with ERROR_UNSUPPORTED. */
void formula_lower(const Formula *formula, TileType compute, uint32_t choices, KernelBuilder *builder,
                   const KernelValue *arguments, KernelValue *out_results);

/* ---- a formula with the kernels made of it so far: what an operator carries ---- */
typedef struct KernelProgram KernelProgram;
Status kernel_program_new(Str text, int count, const FormulaParameter *parameters, KernelProgram **out) MUST_CHECK;
void kernel_program_free(KernelProgram *program);
const Formula *kernel_program_formula(const KernelProgram *program);
/* The kernel for these arguments, lowered on first use; thread-safe, without locks. Borrowed: lives as long as the
 * program. */
Status kernel_program_kernel(KernelProgram *program, TileType compute, const TileArgument *arguments,
                             const TileKernel **out) MUST_CHECK;
