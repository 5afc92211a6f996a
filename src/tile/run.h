/* The tile interpreter: runs a TileKernel block by block, over operands of any strides and dtypes that broadcast to the
 * outputs. */
#pragma once

#include "tensor/tensor.h"
#include "tile/tile_kernel.h"

typedef enum TileArgumentKind {
  TILE_ARG_NONE,
  TILE_ARG_TENSOR,
  TILE_ARG_INT,
  TILE_ARG_FLOAT,
  TILE_ARG_COMPLEX,
  TILE_ARG_BOOL,
  TILE_ARG_TEXT
} TileArgumentKind;
/* Borrows. */
typedef struct TileArgument {
  TileArgumentKind kind;
  union {
    const Tensor *tensor;
    int64_t i;
    double f;
    complex128 c;
    bool b;
    Str text;
  };
} TileArgument;

/* One argument for each of the kernel's, in order; unused ones are not looked at. Outputs are allocated, of equal
 * sizes, and may be exactly (same elements, same order) one of the arguments; any other overlap is the caller's to
 * avoid. Allocates nothing for kernels of usual size; up to `threads` threads.
 *
 * A kernel with line functions computes over the sizes that its arguments broadcast to, with at least one element;
 * outputs have these sizes, or 1 in the place of the last or no last dimension where the value is one number for each
 * line, and share no memory with arguments. */
Status tile_run(const TileKernel *kernel, int threads, const TileArgument *arguments,
                Tensor *const *outputs) MUST_CHECK;
