/* From values as Python has them to values as a schema wants them. */
#pragma once

#include "ivalue/ivalue.h"
#include "schema/schema.h"

/* Copies containers, giving them the declared types; tensors and objects stay the same. Numbers become others, bools or
 * devices by the rules of call/convert.h. `what` names the value in errors. */
Status argument_convert(IValue value, const Type *type, const char *what, IValue *out) MUST_CHECK;
/* Arguments in the order of the schema, with defaults; out has argument_count slots, all owned by the caller on
 * success. The last named_count of the count are named. `self` (may be None) goes first. Errors give the schema. */
Status arguments_match(const FunctionSchema *schema, IValue self, uint32_t count, const IValue *values,
                       uint32_t named_count, const char *const *names, IValue *out) MUST_CHECK;
