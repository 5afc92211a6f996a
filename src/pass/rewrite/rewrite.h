/* What rewrites share: nodes made in passing, sizes of blocks. The limits of passes that make
 * graphs larger stand here together. */
#pragma once

#include <assert.h>

#include "ir/graph.h"

enum {
  INLINE_MAX_NODES = 1 << 18, /* what inlining may make of a graph; beyond it calls stay calls */
  INLINE_MAX_DEPTH = 200,     /* of calls within calls */
  UNROLL_FACTOR = 8,
  UNROLL_MAX_BODY = 32,       /* a loop with more nodes in its body stays */
  UNROLL_MAX_REPEATS = 64,    /* a loop with fewer known iterations is replaced by them */
  UNROLL_MAX_NODES = 1 << 16, /* what unrolling may add to a graph; beyond it loops stay loops */
  PEEL_MAX_BODY = 1 << 10     /* a loop with more nodes in its body is not peeled */
};

bool value_is_none(const Value *value);             /* its type says so */
const TensorInfo *value_tensor(const Value *value); /* what is known of a tensor; NULL: nothing, or no tensor */

/* Of a convolution how many dimensions it is over, or CONV_ANY_DIMS (OpRow.conv_dims); 0: it is none. */
int node_conv_dims(const Node *node);

/* A node of one output in front of the insertion point. */
Value *insert_call(Graph *graph, Symbol kind, const Type *type, uint32_t input_count, Value *const *inputs);
/* The same in front of `node`, with its range. */
Value *insert_call_before(Node *node, Symbol kind, const Type *type, uint32_t input_count, Value *const *inputs);
/* A constant in front of `node`. */
Value *insert_constant_before(Node *node, IValue value, const Type *type_or_null);
/* All uses of the node's one output get `with`; the node goes. */
void replace_node(Node *node, Value *with);
/* Nodes of the block and of those within, but no more than `limit`. */
uint32_t block_size(const Block *block, uint32_t limit);
/* Whether it holds for a node of the block, at any depth. */
bool block_any(const Block *block, bool (*holds)(const Node *node));
bool graph_has_kind(const Graph *graph, Symbol kind); /* a node of the kind, at any depth */
/* Somewhere. Then no tensor may stand for another one of the same values: one may record, and the other not. */
bool graph_changes_grad_mode(const Graph *graph);
/* Every user only looks at the value: no write to it, no second name for it, no way out of the graph. */
bool value_is_only_read(const Value *value);
/* The same, but it may leave the graph at its end. For what is made in the graph: nobody writes to it while it runs. */
bool value_is_never_written(const Value *made);
