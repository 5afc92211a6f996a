/* A linear layer, a sum and an activation, each used by the next alone, become one node (op/nn/linear_pointwise.c).
 * Anything the operator finds out of the ordinary at run time, gradients included, it declines, so nothing need be
 * known of the tensors here. */
#include <assert.h>

#include "ir/graph_log.h"
#include "op/nn/linear_pointwise.h"
#include "pass/pass.h"
#include "pass/rewrite/chain.h"

#define FILE_NAME "fuse_linear"

enum { MAX_NODES = 5, FIXED_INPUTS = 6, MAX_INPUTS = 10 };

typedef struct Chain {
  Node *nodes[MAX_NODES];     /* in order; dropouts that do nothing among them */
  int count, add, activation; /* where in `nodes`; 0: absent */
  Value *term;
  bool term_first;
  Str name; /* of the activation */
} Chain;

static bool is_linear(const Node *node) {
  return node->kind == SYM_aten_linear && node->input_count == 3;
}

/* Of one tensor, and constants. */
static bool is_activation(const Node *node, Str *name) {
  const Operator *op = node_operator(node);
  if (!op || node->input_count > MAX_INPUTS - FIXED_INPUTS || node->output_count != 1 || op->overload_name.length)
    return false;
  *name = str_after_last(op->name, ':');
  if (!linear_activation(*name)) return false;
  for (uint32_t i = 1; i < node->input_count; i++) {
    IValue ignored;
    if (!value_is_constant(node_input(node, i), &ignored)) return false;
  }
  return true;
}

/* What uses the last of the chain alone, dropouts that do nothing skipped. */
static Node *step(Chain *c, Node *node) {
  assert(c->count + 2 <= MAX_NODES);
  c->nodes[c->count++] = node;
  Node *next = chain_next(node);
  if (!next || !is_first_input(next, node) || !is_idle_dropout(next)) return next;
  c->nodes[c->count++] = next;
  return chain_next(next);
}

static bool find_chain(Node *node, Chain *c) {
  *c = (Chain){0};
  if (!is_linear(node)) return false;
  Node *next = step(c, node);
  if (next && is_sum_of(next, c->nodes[c->count - 1], &c->term, &c->term_first)) {
    c->add = c->count;
    next = step(c, next);
  }
  if (next && is_first_input(next, c->nodes[c->count - 1]) && is_activation(next, &c->name)) {
    c->activation = c->count;
    c->nodes[c->count++] = next;
  }
  return c->add || c->activation;
}

/* Leaves of the chain what can be one node. */
static bool gather_chain(AliasDb *db, Chain *c) {
  chain_gather(db, c->nodes, c->count);
  c->count = chain_together(c->nodes, c->count);
  if (c->activation >= c->count) c->activation = 0;
  if (c->add >= c->count) c->add = 0;
  if (c->add || c->activation) return true;
  node_refused(FILE_NAME, c->nodes[0], REASON_NOT_MOVED_ALIASING);
  return false;
}

static void replace_chain(Graph *graph, AliasDb *db, const Chain *c) {
  Node *linear = c->nodes[0], *activation = c->activation ? c->nodes[c->activation] : NULL;
  graph_set_insert_point(graph, c->nodes[c->count - 1]);
  graph->range = linear->range;
  Value *none = graph_insert_constant(graph, IVALUE_NONE, NULL);
  uint32_t count = FIXED_INPUTS;
  Value *inputs[MAX_INPUTS] = {node_input(linear, 0),
                               node_input(linear, 1),
                               node_input(linear, 2),
                               c->add ? c->term : none,
                               graph_insert_constant(graph, ivalue_bool(c->add && c->term_first), NULL),
                               activation ? insert_text(graph, c->name) : none};
  for (uint32_t i = 1; activation && i < activation->input_count; i++) inputs[count++] = node_input(activation, i);
  Node *fused = graph_create(graph, SYM_wick_linear_pointwise, count, inputs, 1);
  fused->inlined = linear->inlined;
  chain_replace(graph, db, c->nodes, c->count, fused);
}

static bool fuse(Graph *graph, AliasDb *db, Node *node) {
  Chain c;
  if (!find_chain(node, &c) || !gather_chain(db, &c)) return true;
  if (!jit_opt_limit(FILE_NAME)) return false;
  NODE_LOG_UPDATE(FILE_NAME, "with what follows:", c.nodes[0]);
  replace_chain(graph, db, &c);
  return true;
}

void fuse_linear(Graph *graph) {
  if (graph_has_kind(graph, SYM_aten_linear)) chain_each(graph, fuse);
  GRAPH_LOG_DUMP(FILE_NAME, "After FuseLinear: ", graph);
}

PASS(fuse_linear, RESULTS, fuse_linear(graph), "makes a linear layer, a sum and an activation one node");
