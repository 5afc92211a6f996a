/* Formula: the gradient text of an operator row, e.g. "self: grad * other; other: grad * self". */
#pragma once

#include "call/exec.h"
#include "call/operator.h"
#include "ir/unit.h"

enum { FORMULA_MAX_STATEMENTS = 16 };

/* Targets and an expression that gives their gradients, several as a tuple. */
typedef struct FormulaStatement {
  Str expression;
  uint64_t targets; /* arguments */
  uint32_t target_count;
  uint8_t order[8];                  /* the arguments in the order of the text */
  uint64_t reads;                    /* arguments whose values it reads */
  uint64_t measures;                 /* arguments of which it reads at most sizes and dtype */
  bool grad, grads, result, results; /* which of these names it uses */
} FormulaStatement;

typedef struct Formula {
  const Operator *op; /* the functional form */
  const FunctionSchema *schema;
  uint32_t count;
  FormulaStatement statements[FORMULA_MAX_STATEMENTS];
  struct FormulaProgram *programs; /* compiled so far, a list that only grows */
} Formula;

/* The names that some of the statements use together. */
typedef struct FormulaNames {
  uint64_t reads, arguments; /* arguments read; read or measured */
  bool grad, grads, result, results;
} FormulaNames;

/* *out is NULL where the row has no gradient text. Formulas and programs live as long as the process; thread-safe. */
Status formula_of(const Operator *functional, Formula **out) MUST_CHECK;
/* The same for graphs, whose gradient may be another text. */
Status formula_of_graphs(const Operator *functional, Formula **out) MUST_CHECK;
FormulaNames formula_names(const Formula *formula, uint32_t statements);
/* A function that gives the values of the chosen statements (several as a tuple); its parameters are the used arguments
 * in the schema's order, then grad, grads, result, results as far as used. */
Status formula_program(Exec *exec, Formula *formula, uint32_t statements, Function **out) MUST_CHECK;
