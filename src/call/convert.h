/* What a value from outside becomes where a parameter asks for a number, a bool or a device: the one set of rules of
 * both doors, calls of functions (api/arguments.h) and of operators (call/match.h). They are PyTorch's for values of
 * Python. (Programs are matched by types, before there are values: ir/match.h.) */
#pragma once

#include "ivalue/ivalue.h"

/* How much is done to a value. Overloads are tried with one kind after the other, functions with all. */
typedef enum Conversion {
  CONVERT_NOTHING, /* it is of the type */
  CONVERT_NUMBERS, /* bool to int, both to float, all to complex; text to device */
  CONVERT_ANYTHING /* tensors of one element to numbers, numbers, None and tensors of one element to bool */
} Conversion;

/* A tensor of one element counts whatever its rank, dtype and history; one without elements to read, as meta tensors
 * are, does not. A complex number with an imaginary part is no real one, a float beyond int64 no int.
 * `type` may be any; *out is owned where *out_fits. An error only when memory is short. */
Status value_convert_number(IValue value, const Type *type, Conversion allowed, IValue *out, bool *out_fits) MUST_CHECK;
