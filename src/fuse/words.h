/* Which nodes groups are made of, and the kinds that only this folder makes:
 * - prim::BroadcastingChunk[dim, chunks](x, y, ...): broadcasts its inputs, then cuts each; within the pass only
 * - prim::FusedConcat[dim](parts...) -> Tensor: cat inside a group; the last node of its value
 * - prim::ChunkSizes[dim, chunks](int[]) -> int[], int[]: sizes of all chunks but the last, and of it
 * - prim::BroadcastSizes(int[]...) -> int[] */
#pragma once

#include "ir/graph.h"
#include "report/reason.h"

static inline bool value_is_tensor(const Value *value) {
  return value->type->kind == TYPE_TENSOR;
}
/* Whether a node may stand in a group: an operator with a `.lower` formula and one tensor as result, over tensors and
 * numbers. It is functional, or the in-place form of such a one where nobody else uses self: what a group computes then
 * is what self would hold, with self's dtype, sizes and strides. That nobody sees self's memory either the graph fuser
 * asks. */
bool fuse_is_pointwise(const Node *node);
enum { FUSE_MAX_DIMS = 5 }; /* of a tensor that a group takes */
/* An operator that is a line function (OpRow.line) with one tensor as result, along constant dimensions, all other
 * arguments but weight and bias being constants too. Whether those are the last dimensions a run sees. */
bool fuse_is_line(const Node *node);
typedef struct FuseLine {
  uint8_t function; /* LineFunction */
  uint8_t dim_count;
  uint8_t from_front, from_back; /* bits: dimension 0, 1, ...; dimension -1, -2, ... */
  bool drops;                    /* the result is without them: no operator of the group may take it */
} FuseLine;
FuseLine fuse_line_of(const Node *node); /* of one that fuse_is_line */
/* The in-place form of an operator. */
bool fuse_is_write(const Node *node);
/* Why it is neither; REASON_COUNT: it is, or it is nothing that gives a tensor. */
Reason fuse_why_not_operator(const Node *node);
