/* fuse: groups of pointwise operators, and of some along the last dimension, that run as one.
 *
 *   fuse/fuse.h         the pass, the switches (this file)
 *   fuse/words.h        which nodes groups are made of
 *   fuse/graph_fuser.h  what the files of the pass share
 *   fuse/group.h        FuseGroup: a Subgraph made ready to run, for any inputs
 *   fuse/lower.h        a group with the dtypes of one call -> kernels
 *   fuse/kept_shapes.h  what the results of the last run looked like, for the next one
 *   fuse/lines.h        groups with reductions, softmax or layer norm along the last dimension
 *   fuse/signature.h    how the operands of a kernel's run lie in memory
 *   fuse/backend.h      what compiles and runs kernels; the tile interpreter is always there
 *   fuse/compiled.h     what back ends have compiled, when and for how long it is kept
 *   fuse/device_formula.h  operators by themselves, on devices */
#pragma once

#include "ir/graph.h"
#include "pass/pass.h"

typedef struct FuseOptions {
  uint32_t argument_limit; /* inputs and outputs of a group together; 0: the default */
  bool without_callables;  /* only the graph changes: for text that nobody runs */
} FuseOptions;

/* Adjacent pointwise operators (rows with `.lower` and one result), those along the last dimension (rows with `.line`),
 * and the ConstantChunks before and cats after them, become prim::FusionGroup nodes with attr Subgraph and a Callable.
 * Needs no types and no guards: a group looks at its inputs when it runs, and does what its Subgraph does for any.
 * options may be NULL. */
void graph_fuser(Graph *graph, const FuseOptions *options);
extern const Pass pass_graph_fuser;
/* Gives every prim::FusionGroup without one its Callable: for graphs that were read from text. */
void fuse_make_callables(Graph *graph);
