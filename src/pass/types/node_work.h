/* How much a node has to compute and to move, as far as the types of its tensors tell: `.flops` of its operator's row,
 * and the bytes of what it reads and writes. Nothing runs for that. */
#pragma once

#include "ir/graph.h"

typedef struct NodeWork {
  double flops, bytes;
  int dtype, device_type; /* of its first result or tensor of which they are known; -1: of none */
  bool is_known;          /* flops and bytes are all there is; else a size or an argument is not known */
  bool has_flops; /* of it, or of an operator of its Subgraph, a row says flops, whether they are known or not */
} NodeWork;

/* A node with a Subgraph (a region, a group) has the flops of that and the bytes of its own inputs and outputs: what
 * lies between stays in cache. Operators whose rows say no flops, pointwise ones above all, count by their bytes; what
 * makes a view, or is no operator (a tuple taken apart), moves nothing. */
NodeWork node_work(const Node *node);
/* Nanoseconds that it takes one thread at a rate that a processor of today reaches with ease, whichever is more of
 * computing and moving: to weigh works against each other and against the cost of a call, not to tell time by. */
double node_work_ns(const NodeWork *work);
