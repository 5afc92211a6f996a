/* Matching of values with schemas: calls of functions (api/arguments.h) and of operators from outside. (Programs are
 * matched by types, in ir/match.h; what both have in common is schema/bind.h.) */
#pragma once

#include "call/convert.h"
#include "call/exec.h"
#include "call/operator.h"
#include "schema/schema.h"

typedef struct KeywordValue {
  Str name;
  IValue value;
} KeywordValue;

/* A call's arguments, borrowed. */
typedef struct CallValues {
  uint32_t count, keyword_count;
  const IValue *values;
  const KeywordValue *keywords;
  const IValue *self; /* comes before the values; may be NULL */
  bool shares;        /* lists and dicts of the types that are asked for go in themselves, whatever the rules copy */
} CallValues;

/* Arguments in the order of the schema, converted, with defaults; owned where they fit, else nothing is. Always: one
 * number for int[n], trailing values for a last list ("view(2, 3)"). `out` has room for `capacity` values, at least
 * argument_count. The reason goes to `why` (may be NULL). An error only for what ivalue_convert has as such; it names
 * the argument. */
Status schema_match_values(const FunctionSchema *schema, const CallValues *call, const ConvertRules *rules,
                           uint32_t capacity, IValue *out, uint32_t *out_count, bool *out_fits, StrBuf *why) MUST_CHECK;

typedef struct MatchedCall {
  const Operator *op;
  uint32_t input_count;
  IValue inputs[64]; /* as schema_match_values gives them */
} MatchedCall;

/* Chooses the first overload of `qualified_name` ("aten::add") that takes the arguments: first as they are, then with
 * each further kind of conversion (call/convert.h), the last of which also makes tensors of numbers. With an overload
 * name ("Tensor"; NULL: any) only that one is tried. Errors list every overload with the reason it was refused, or
 * similar names. */
Status operator_match_values(Str qualified_name, const char *overload_or_null, const CallValues *call,
                             MatchedCall *out) MUST_CHECK;
void matched_call_dispose(MatchedCall *matched);
/* What the call gives for each parameter of a schema that it fits, unconverted; None for defaults. Owned:
 * argument_count of them. */
Status schema_given_values(const FunctionSchema *schema, const CallValues *call, IValue *out) MUST_CHECK;
/* Matches, calls, and gives the results: one value; a tuple of several; None for none. */
Status operator_call_values(Exec *exec, Str qualified_name, const char *overload_or_null, const CallValues *values,
                            IValue *out) MUST_CHECK;
