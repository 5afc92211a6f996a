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
/* Whether a node may stand in a group: a functional operator with a `.lower` formula and one fresh tensor as result,
 * over tensors and numbers. */
bool fuse_is_pointwise(const Node *node);
/* Why not; REASON_COUNT: it may, or it is nothing that gives a tensor. */
Reason fuse_why_not_pointwise(const Node *node);
