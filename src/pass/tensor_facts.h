/* What passes that reason about tensors' types ask of nodes. */
#pragma once

#include "pass/pass.h"

/* May change sizes or strides of a tensor that is there already: operators that say so (OP_RESHAPES), `out=` forms, and
 * whatever may run anything. */
bool node_may_reshape(const Node *node);
/* 1, 0 or -1: whether the node's results require grad, by its inputs' types alone; only floating and complex ones do.
 */
int node_results_require_grad(const Node *node);
/* A list that is never written after it was made and never leaves the graph's sight. */
bool list_is_plain(const Value *list);
/* Type of a Tensor value with another requires_grad. */
const Type *type_with_requires_grad(TypeStore *store, const Type *tensor, int requires_grad);
