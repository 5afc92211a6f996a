/* From values as Python has them to values as a schema wants them: what call/match.h and call/convert.h say, with
 * containers copied, so that a program's are its own. */
#pragma once

#include "call/match.h"

/* `what` names the value in errors. */
Status argument_convert(IValue value, const Type *type, const char *what, IValue *out) MUST_CHECK;
/* Arguments in the order of the schema, with defaults; out has argument_count slots, all owned by the caller on
 * success. Errors give the schema. */
Status arguments_match(const FunctionSchema *schema, const CallValues *call, IValue *out) MUST_CHECK;
