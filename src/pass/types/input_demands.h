/* What a graph wants of the tensors it is given: backward, from the operators that use them. It describes a graph to
 * people who have to call it; nothing here is a promise, and no other pass relies on it. */
#pragma once

#include "ir/graph.h"

enum { DEMAND_OPEN = -1, DEMAND_MIXED = -2 }; /* nothing wants anything of it; uses want different things */
/* Each is wanted, or one of the above. */
typedef struct Demand {
  int dtype, ndim;
  int64_t last;  /* size of the last dimension, of whatever rank */
  int64_t below; /* elements are indices, from 0 on and below this */
  int64_t sizes[TENSOR_MAX_DIMS];
} Demand;

/* out[graph_input_count]. Calls have been inlined, and values whose tensors are known (weights) have types that say
 * so: they are what demands come from. Where an operator takes tensors with and without a batch, the batch is wanted.
 * Throws to the arena's catch point. */
void input_demands_find(const Graph *graph, Arena *scratch, Demand *out);
