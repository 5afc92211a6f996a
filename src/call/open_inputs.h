/* Values at the inputs that a schema leaves open (schema/open_types.h): kernels read them as what the row says, in any
 * build, so they are compared before. */
#pragma once

#include "call/call_plan.h"

/* Whether they are of the open types, and as many as these allow; the reason goes to `why` (may be NULL). */
bool schema_fits_open(const FunctionSchema *schema, uint32_t count, const IValue *values, StrBuf *why);
/* That, of a call whose schema has open types; and no undefined tensor where the row takes none. */
Status call_check_open(const Call *call, const CallPlan *plan) MUST_CHECK;
/* Test hook: whether a kernel may give the value to an operator for that argument as it is. */
bool argument_takes_value(const Argument *argument, IValue value);
