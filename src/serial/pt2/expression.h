/* Expression: a size as a formula of symbols, as sympy writes it: "s0 + 1", "Mul(Integer(2), Symbol('s0'))". Read by a
 * bounded parser of its own; nothing is evaluated while it is read. */
#pragma once

#include "serial/pt2/builder.h"

typedef enum ExpressionKind {
  EXPRESSION_INT,
  EXPRESSION_SYMBOL,
  EXPRESSION_SUM,
  EXPRESSION_PRODUCT,
  EXPRESSION_FLOOR_DIVISION,
  EXPRESSION_REMAINDER,
  EXPRESSION_LARGEST,
  EXPRESSION_SMALLEST,
  EXPRESSION_OTHER /* what sizes of inputs are not checked against */
} ExpressionKind;
typedef struct Expression {
  ExpressionKind kind;
  int64_t number;
  Str symbol;
  uint32_t count, size; /* size: of the whole tree, where a part of two stands twice */
  const struct Expression *const *parts;
} Expression;

/* Throws ERROR_DATA where the text is malformed. */
const Expression *expression_read(Pt2Builder *b, Str text);
/* A condition on sizes of arguments, as Python writes it: "L['x'].size()[0] <= L['y'][1].size()[0]". Sizes are symbols:
 * "x.size(0)", "y[1].size(0)". false: it is of another form. */
typedef struct Guard {
  const char *op; /* of numbers: "aten::le" */
  const Expression *left, *right;
} Guard;
bool guard_read(Pt2Builder *b, Str text, Guard *out);
/* Whether it is factor * symbol + rest. */
bool expression_is_linear(const Expression *e, Str *out_symbol, int64_t *out_factor, int64_t *out_rest);
/* Its value, from those of symbols; NULL: one is not known, or there is no operator for a part of it. */
Value *expression_emit(Pt2Builder *b, const Expression *e, const Map *symbols);
