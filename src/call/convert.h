/* What a value from outside becomes where a type is asked for: the one set of rules for arguments of functions and of
 * operators (call/match.h) and for what is written into lists, dicts and attributes (api/arguments.h). They are
 * PyTorch's for values of Python. (Programs are matched by types, before there are values: ir/match.h.) */
#pragma once

#include "ivalue/ivalue.h"

/* How much is done to a value. Overloads are tried with one kind after the other, functions with all. */
typedef enum Conversion {
  CONVERT_NOTHING, /* it is of the type */
  CONVERT_NUMBERS, /* bool to int, both to float, all to complex; text to device */
  CONVERT_ANYTHING /* tensors of one element to numbers, numbers, None and tensors of one element to bool */
} Conversion;

typedef struct ConvertRules {
  Conversion allowed;
  bool makes_tensors; /* of numbers, where anything is allowed */
  bool copies;        /* lists, dicts and tuples are new; otherwise those that are of the type already stay */
  bool is_written;    /* only the value itself will do */
  bool one_each;      /* no last list takes all remaining arguments: functions */
} ConvertRules;

/* Lists and tuples stand for each other where their elements do. A tensor of one element counts as a number whatever
 * its rank, dtype and history; one without elements to read, as meta tensors are, does not. A complex number with an
 * imaginary part is no real one, a float beyond int64 no int. Type variables take anything of their container.
 * *out is owned where *out_fits. An error only when memory is short, the value is too large or the stack used up. */
Status ivalue_convert(IValue value, const Type *type, const ConvertRules *rules, IValue *out,
                      bool *out_fits) MUST_CHECK;

/* The type as messages about a value from outside name it; elements of tuples are not looked at. */
void ivalue_print_found(IValue value, StrBuf *out);
