/* What a node of a plan does where the kernel of its operator declines: the Subgraph of the nodes that it was made
 * from, compiled when it is first wanted. Of operators whose row has the body, where the call stands. */
#pragma once

#include "call/call_body.h"
#include "call/operator.h"
#include "interp/interp.h"

typedef struct NodeBody {
  CallBody body;      /* first member */
  const Graph *graph; /* NULL: the row's body */
  Graph *own;         /* the same, where it is to be disposed of; else NULL */
  _Atomic(Code *) code;
} NodeBody;

/* NULL: the node's operator does not decline. outlived: the node's graph, which is sealed, outlives what is made. */
NodeBody *node_body_new(const Node *node, const Operator *op, Arena *arena, bool outlived);
/* Its Code; the rest is the arena's. */
void node_body_free(void *body);
