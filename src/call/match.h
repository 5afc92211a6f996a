/* Matching of values with schemas: the eager door. (Programs are matched by types, in ir/match.h.) */
#pragma once

#include "call/operator.h"

typedef struct KeywordValue {
  Str name;
  IValue value;
} KeywordValue;

typedef struct MatchedCall {
  const Operator *op;
  uint32_t input_count;
  IValue inputs[64]; /* in the order of the schema, defaults and conversions made; owned */
} MatchedCall;

/* Chooses the first overload of `qualified_name` ("aten::add") that takes the arguments: first as they are, then with
 * each further kind of conversion (call/convert.h), the last of which also makes tensors of numbers. Always: tuples for
 * lists, one number for int[n], trailing numbers for a last int[] ("view(2, 3)"). With an overload name ("Tensor";
 * NULL: any) only that one is tried. Errors list every overload with the reason it was refused, or similar names.
 * Arguments borrowed. */
Status operator_match_values(Str qualified_name, const char *overload_or_null, uint32_t argument_count,
                             const IValue *arguments, uint32_t named_count, const KeywordValue *named,
                             MatchedCall *out) MUST_CHECK;
void matched_call_dispose(MatchedCall *matched);
/* Matches, calls, and gives the results: one value; a tuple of several; None for none. */
Status operator_call_values(Exec *exec, Str qualified_name, const char *overload_or_null, uint32_t argument_count,
                            const IValue *arguments, uint32_t named_count, const KeywordValue *named,
                            IValue *out) MUST_CHECK;
