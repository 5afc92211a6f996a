/* What passes that reason about tensors' types ask of nodes. */
#pragma once

#include "ir/graph.h"

/* What may change of tensors that are there already, besides their elements; dtype and device never do. */
enum TensorChanges {
  CHANGES_SIZES = 1,         /* and strides: operators that say so (OP_RESHAPES), `out=` forms */
  CHANGES_REQUIRES_GRAD = 2, /* in-place forms with other tensors, and what is no in-place form of a pure operator */
  CHANGES_ANYTHING = CHANGES_SIZES | CHANGES_REQUIRES_GRAD /* whatever may run anything */
};
/* What the node may change, of whatever alias analysis says that it writes to. Blocks count by themselves. */
unsigned node_changes(const Node *node);
/* Some node changes such things, or grad mode. Then a tensor can't stand for a view of all of it. */
bool graph_changes_tensors(const Graph *graph);
/* 1, 0 or -1: whether the node's results require grad, by its inputs' types alone; only floating and complex ones do.
 */
int node_results_require_grad(const Node *node);
/* A list that is never written after it was made and never leaves the graph's sight. */
bool list_is_plain(const Value *list);
/* Type of a Tensor value with another requires_grad. */
const Type *type_with_requires_grad(TypeStore *store, const Type *tensor, int requires_grad);
