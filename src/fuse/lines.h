/* Groups with line functions: whether what a run looks like is what their kernels compute. One kernel then computes
 * everything over the sizes that are reduced. */
#pragma once

#include "fuse/lower.h"

enum { FUSE_MAX_LINE = 1 << 15 };

/* call's values are the metadata of everything. FUSE_LINES or FUSE_SHAPE: it is not. */
FuseRefusal fuse_lines_check(const FuseCall *call);
/* Whether the value is a reduction's result without the dimensions of a line. */
bool fuse_line_is_dropped(const FuseGroup *group, uint16_t value);
/* Dtype of a line function's result, which a run's shape function has let pass. */
DType fuse_line_dtype(const Call *call, const FuseStep *step);
/* The operation of a step, over operands in registers (KERNEL_NO_VALUE: None) that are what their dtypes hold. Where
 * the bits would not be the operator's, the builder fails with ERROR_UNSUPPORTED. */
KernelValue fuse_lower_line(const Call *call, const FuseStep *step, DType result, const KernelValue *operands,
                            KernelBuilder *builder);
