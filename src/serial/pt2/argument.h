/* What nodes are given (`{"as_tensor": {"name": "x"}}`) and what they give. A kind of argument is one row. */
#pragma once

#include "serial/pt2/builder.h"

/* The argument as a call takes it. `type` (may be NULL: not known) is that of the parameter. */
NamedValue pt2_argument(Pt2Builder *b, const Json *argument, const Type *type);
/* The same, as a value of the graph. */
Value *pt2_argument_value(Pt2Builder *b, const Json *argument, const Type *type);
/* Gives what a node computed the names that its outputs, from `first` on, have for it. */
void pt2_define_outputs(Pt2Builder *b, const Json *first, uint32_t count, Value *const *values);
/* The type of the value that the argument names, where nothing has it yet: of an input. */
const Type *pt2_argument_type(const Pt2Builder *b, const Json *argument);
/* What an argument names, that is given from outside or taken out; empty: nothing. */
Str pt2_argument_name(const Json *argument);
