/* pointwise: how rows with a `.lower` formula run. operator_call asks the row's shape function (shape_pointwise when it
 * has none), allocates the outputs, and calls pointwise_run in place of a kernel.
 *
 * The computation's type: the promotion of the tensors (those that are only conditions aside) and of the numbers that
 * the row names in
 * `.promote` (default: "self other"); float32 when that is integral and the result is floating. */
#pragma once

#include "op/op.h"

Status pointwise_run(Call *call) MUST_CHECK;
/* The operator's formula, parsed on first use; for the fuser. NULL in *out when the row has none. */
Status operator_program(const Operator *op, struct KernelProgram **out) MUST_CHECK;
/* Promotion of the call's inputs by the rule above. */
Status pointwise_promote(const Call *call, DType *out) MUST_CHECK;
