/* Expression: a size as a formula of symbols, as sympy writes it: "s0 + 1", "Mul(Integer(2), Symbol('s0'))"; or a
 * condition on sizes. Read by a bounded parser of its own; nothing is evaluated while it is read. */
#pragma once

#include "serial/pt2/builder.h"

typedef enum ExpressionKind {
  EXPRESSION_INT,
  EXPRESSION_FLOAT,
  EXPRESSION_SYMBOL,
  EXPRESSION_SUM,
  EXPRESSION_PRODUCT,
  EXPRESSION_FLOOR_DIVISION,
  EXPRESSION_DIVISION,
  EXPRESSION_REMAINDER,
  EXPRESSION_POWER,
  EXPRESSION_LARGEST,
  EXPRESSION_SMALLEST,
  EXPRESSION_FLOOR,
  EXPRESSION_CEILING,
  EXPRESSION_TRUNCATED,
  EXPRESSION_AS_FLOAT,
  EXPRESSION_ROOT,
  EXPRESSION_MAGNITUDE,
  EXPRESSION_BITS_OR,
  EXPRESSION_BITS_XOR,
  EXPRESSION_BITS_AND,
  EXPRESSION_SHIFTED_LEFT,
  EXPRESSION_SHIFTED_RIGHT,
  EXPRESSION_EQUAL,
  EXPRESSION_UNEQUAL,
  EXPRESSION_LESS,
  EXPRESSION_AT_MOST,
  EXPRESSION_GREATER,
  EXPRESSION_AT_LEAST,
  EXPRESSION_AND,
  EXPRESSION_OR,
  EXPRESSION_NOT,
  EXPRESSION_OTHER /* what nothing is checked against */
} ExpressionKind;
typedef struct Expression {
  ExpressionKind kind;
  int64_t number;
  double real;
  Str symbol;
  uint32_t count, size; /* size: of the whole tree, where a part of two stands twice */
  const struct Expression *const *parts;
} Expression;

/* Throws ERROR_DATA where the text is malformed. */
const Expression *expression_read(Pt2Builder *b, Str text);
/* A condition on sizes of arguments, and on arguments that are numbers, as Python writes it: "L['x'].size()[0] <=
 * L['y'][1].size()[0] or L['n'] == 3". What is asked are symbols: "x.size(0)", "y[1].size(0)", "n". NULL: it is of
 * another form. */
const Expression *guard_read(Pt2Builder *b, Str text);
/* Whether it is factor * symbol + rest. */
bool expression_is_linear(const Expression *e, Str *out_symbol, int64_t *out_factor, int64_t *out_rest);
/* Whether a part of it is of a form that wick has no operator for. */
bool expression_has_other(const Expression *e);
/* Its value, from those of symbols: a number, or a bool where it is a condition. NULL: one is not known, or there is no
 * operator for a part of it. */
Value *expression_emit(Pt2Builder *b, const Expression *e, const Map *symbols);
