/* FuseSignature: what a back end may compile a kernel for beyond the kernel itself: how near its results have to be,
 * and how the operands of a run lie in memory and repeat. Sizes are not in it, but for those that are 1 where the
 * outputs' are not. */
#pragma once

#include "base/work.h"
#include "tile/run.h"

/* ORDER fuse form */
typedef enum FuseLayout {
  FUSE_LAYOUT_UNUSED,     /* an argument that the kernel does not read */
  FUSE_LAYOUT_NUMBER,     /* one number for all elements; `type` is its TileArgumentKind */
  FUSE_LAYOUT_ELEMENT,    /* a tensor without dimensions */
  FUSE_LAYOUT_CONTIGUOUS, /* row-major without gaps */
  FUSE_LAYOUT_DENSE,      /* the sizes and strides of the first output, which is dense but not row-major */
  FUSE_LAYOUT_STRIDED
} FuseLayout;
typedef struct FuseOperandSignature {
  uint8_t layout;  /* FuseLayout */
  uint8_t type;    /* DType of a tensor */
  uint8_t repeats; /* bit d: one element for all of the outputs' dimension d */
} FuseOperandSignature;

enum { FUSE_MAX_OPERANDS = KERNEL_MAX_ARGUMENTS + KERNEL_MAX_OUTPUTS };
typedef struct FuseSignature {
  uint8_t precision; /* Precision */
  uint8_t rank;      /* of the outputs, which have one size; at most 5 */
  uint8_t argument_count, output_count;
  FuseOperandSignature operands[FUSE_MAX_OPERANDS]; /* the arguments, then the outputs; others are not set */
} FuseSignature;

/* What the operands of a run of the kernel have, as tile_run takes them; outputs have at most 5 dimensions. */
void fuse_signature(Precision precision, const KernelIr *kernel, const TileArgument *arguments, int argument_count,
                    Tensor *const *outputs, FuseSignature *out);
bool fuse_signature_equal(const FuseSignature *a, const FuseSignature *b);
