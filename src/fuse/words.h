/* The node kinds that only this folder makes. */
#pragma once

#include "ir/graph.h"

typedef struct FuseWords {
  Symbol size, cat, list_construct, list_unpack, broadcast_tensors;
  Symbol broadcasting_chunk; /* (x, y, ...): broadcasts its inputs, then cuts each in `chunks`; within the pass only */
  Symbol fused_concat;       /* [dim](parts...) -> Tensor: cat inside a group; the last node of its value */
  Symbol chunk_sizes;        /* [dim, chunks](int[]) -> int[], int[]: sizes of all chunks but the last, and of it */
  Symbol broadcast_sizes;    /* (int[]...) -> int[] */
} FuseWords;
/* Interned on first use; thread-safe. */
const FuseWords *fuse_words(void);

static inline bool value_is_tensor(const Value *value) {
  return value->type->kind == TYPE_TENSOR;
}
/* Whether a node may stand in a group: a functional operator with a `.lower` formula and one fresh tensor as result,
 * over tensors and numbers. */
bool fuse_is_pointwise(const Node *node);
