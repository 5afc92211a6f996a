/* pointwise: how rows with a `.lower` formula run. operator_call asks the row's shape function (shape_pointwise when it
 * has none), allocates the outputs, and calls pointwise_run in place of a kernel.
 *
 * The computation's type: the promotion of the tensors (those that are only conditions aside) and of the numbers that
 * the row names in `.promote` (default: "self other"); float32 when that is integral and the result is floating. */
#pragma once

#include "call/call.h"
#include "call/operator.h"
#include "tile/run.h"

Status pointwise_run(Call *call) MUST_CHECK;
/* What that runs: the kernel for the call's dtypes, one argument for each parameter, the outputs. */
typedef struct PointwiseRun {
  const TileKernel *kernel;
  TileArgument arguments[KERNEL_MAX_ARGUMENTS];
  Tensor *outputs[KERNEL_MAX_OUTPUTS];
} PointwiseRun;
Status pointwise_prepare(Call *call, PointwiseRun *out) MUST_CHECK;
/* shape_pointwise with the strides of the first input: what PyTorch makes empty_like(self) for. */
Status shape_pointwise_kept(Call *call, TensorSpec *specs) MUST_CHECK;
/* The operator's formula, parsed on first use; for the fuser. NULL in *out when the row has none. */
Status operator_program(const Operator *op, struct KernelProgram **out) MUST_CHECK;
/* Promotion of the call's inputs by the rule above. */
Status pointwise_promote(const Call *call, DType *out) MUST_CHECK;

/* ---- parts of pointwise_run, for who lowers several operators into one kernel ---- */
void pointwise_set_argument(TileArgument *to, IValue from);
/* The dtype that the inputs promote to and the type the formula computes in, when the shape function said `result`. */
Status pointwise_types(const Call *call, DType result, DType *out_promoted, TileType *out_compute) MUST_CHECK;
/* Promoting numbers beside narrow integers are such integers themselves: -1 beside uint8 is 255. */
bool pointwise_wraps_numbers(DType promoted);
void pointwise_wrap_number(TileArgument *number, DType dtype);
