/* Calls against a schema, as every door has them: programs, matched by types (ir/match.h), and values from outside
 * (call/match.h). Which of a call's arguments a parameter gets, what is missing, too many or unknown, which parameters
 * take more than values of their type, and how refusals read. Whether an argument fits is the door's to say.
 *
 *   ArgumentBinder b = {schema, count, keyword_count, ...};
 *   for each parameter i: if (!binder_next(&b, i, &bound, why)) it is refused;
 *                         if (bound.kind == BOUND_POSITION && argument_takes_remaining(schema, i) && it is no list)
 *                           bound.index and all after it are its elements: binder_take_remaining(&b)
 *   if (!binder_finish(&b, why)) it is refused;                                                                  */
#pragma once

#include "schema/schema.h"

typedef struct ArgumentBinder {
  const FunctionSchema *schema;
  uint32_t positional_count, keyword_count;
  const Str *keywords;   /* the first name; the others follow at distances of keyword_stride bytes */
  size_t keyword_stride; /* of the struct that holds the name */
  bool has_self;         /* there is a value for the parameter named self, besides the positional ones */
  /* what binder_next keeps; 0 at first */
  uint32_t used_positional, used_keywords;
  uint32_t positional_end; /* no parameter from here on got a positional argument */
} ArgumentBinder;

typedef struct Bound {
  enum { BOUND_SELF, BOUND_POSITION, BOUND_KEYWORD, BOUND_DEFAULT } kind;
  uint32_t index; /* of the positional argument or the keyword */
} Bound;

/* For each parameter in turn. false: it gets nothing. Reasons go to `why` (may be NULL), one line each. */
bool binder_next(ArgumentBinder *binder, uint32_t parameter, Bound *out, StrBuf *why);
/* All positional arguments from the one just bound on belong to that parameter. */
void binder_take_remaining(ArgumentBinder *binder);
/* After the last: false where an argument is left over. Positional ones that a vararg schema takes are not:
 * used_positional says where they begin. */
bool binder_finish(const ArgumentBinder *binder, StrBuf *why);

/* The last positional parameter, an unsized list, may take all remaining positional arguments: zeros(2, 3). */
bool argument_takes_remaining(const FunctionSchema *schema, uint32_t parameter);
/* `int[2]` and `float[2]` (and those that may be None) take one number of just that kind, which is then repeated
 * broadcast_n times. */
bool argument_repeats(const Argument *argument, TypeKind number);
/* Begins and ends "Expected a value of type 'int' for argument 'x' but instead found type 'str'."; between them, what
 * was found. */
void argument_begin_mismatch(const Argument *argument, StrBuf *why);
void argument_end_mismatch(StrBuf *why);
