/* What stands behind the handles of wick/graph.h: blocks, nodes and values are the IR's own structs, a graph is boxed
 * with what it lives in. */
#pragma once

#include "interp/interp.h"
#include "report/symbol.h"
#include "wick/graph.h"

struct wick_graph {
  Graph *graph;
  bool is_owned;          /* else a pass was given it, */
  bool is_part;           /* or it lies in a graph: the box alone is of its own */
  const char *pass;       /* the name of the pass that was given it, for the limits of rewrites */
  Arena arena;            /* of an owned one, as what follows */
  CompilationUnit *types; /* has no functions: values that runs of the graph made may keep its types */
  CompilationUnit *unit;  /* whose types it mentions; may be NULL */
  _Atomic(Code *) code;   /* made by the first run */
};

/* An owned one without a graph yet: what makes it throws to box->arena and the arena of graph_box_types(box). */
Status graph_box_new(CompilationUnit *unit_or_null, wick_graph **out) MUST_CHECK;
static inline TypeStore *graph_box_types(wick_graph *box) {
  return &box->types->store;
}
/* Runs what fills it. */
Status graph_box_fill(wick_graph *box, void (*body)(void *argument), void *argument) MUST_CHECK;
/* Gives it away, or releases it with an error. */
Status graph_box_give(Status status, wick_graph *box, wick_graph **out) MUST_CHECK;

static inline Block *block_of(const wick_block *block) {
  return (Block *)(uintptr_t)block;
}
static inline Node *node_of(const wick_node *node) {
  return (Node *)(uintptr_t)node;
}
static inline Value *value_of(const wick_ir_value *value) {
  return (Value *)(uintptr_t)value;
}
/* Nodes at the ends of a block are not shown. */
static inline wick_node *node_shown(const Node *node) {
  bool is_end = !node || node->kind == SYM_prim_Param || node->kind == SYM_prim_Return;
  return is_end ? NULL : (wick_node *)(uintptr_t)node;
}
/* Of the same graph; which: for the message. */
Status ir_check_inputs(const Graph *graph, wick_ir_value *const *inputs, size_t count) MUST_CHECK;
/* Where something goes: in front of `before`, or at the end of the block. */
Status ir_place(wick_block *block, wick_node *before, Node **out) MUST_CHECK;
/* The ends of a block are not to be moved and not to be destroyed. */
Status ir_check_no_end(const Node *node) MUST_CHECK;
/* A type as texts of graphs have it; throws. */
const Type *ir_parse_type(Graph *graph, const char *text);
/* Runs what throws to the graph's arena or its store's. */
Status ir_protect(Graph *graph, void (*body)(void *argument), void *argument) MUST_CHECK;
