/* Liveness: where each value of a graph is used last. A use in a branch that is the last on its path dies there, and
 * the other branch drops the value at its start; what a loop's body uses from outside lives until the loop has ended.
 */
#pragma once

#include "ir/graph.h"

typedef struct ValueList {
  Value **data;
  size_t length, capacity;
} ValueList;

typedef struct NodeLife {
  uint8_t *dies;        /* per input: its value has its last use here; also on Return sentinels */
  ValueList drop_after; /* loops: values from outside that the body used last */
} NodeLife;
typedef struct Liveness {
  PtrMap nodes;        /* Node -> NodeLife, of nodes with inputs or drops */
  PtrMap block_starts; /* Block -> ValueList: values to drop on entry */
  PtrMap unlisted;     /* prim::BailOut -> ValueList: what lives after it and is no input of it */
  uint8_t *dead;       /* by Value.unique: never used after its definition */
} Liveness;

/* Everything in scratch; throws there. */
void liveness_compute(const Graph *graph, Arena *scratch, Liveness *out);
bool liveness_dies(const Liveness *l, const Node *node, uint32_t input);
