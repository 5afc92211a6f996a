/* What a node of a plan does where the kernel of its operator declines: the Subgraph of the nodes that it was made
 * from, compiled when it is first wanted. Of operators whose row has the body, where the call stands. */
#pragma once

#include "interp/interp.h"

typedef struct NodeBody {
  CallBody body; /* first member */
  Graph *graph;  /* NULL: the row's body */
  _Atomic(Code *) code;
} NodeBody;

/* NULL: the node's operator does not decline. */
NodeBody *node_body_new(const Node *node, const Operator *op, Arena *arena);
/* Its Code; the rest is the arena's. */
void node_body_free(void *body);
