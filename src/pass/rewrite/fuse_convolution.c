/* A convolution, a normalisation by stored statistics and a clamp, each used by the next alone, become one node
 * (op/nn/conv_norm.c). Anything the operator finds out of the ordinary at run time, gradients included, it does by its
 * parts, so nothing need be known of the tensors here. */
#include <math.h>

#include "ir/alias_db.h"
#include "ir/graph_log.h"
#include "pass/pass.h"

typedef struct Chain {
  Node *conv, *norm, *clamp; /* norm, clamp: NULL when absent, not both */
  double low, high;
} Chain;

/* The node that alone uses the only output of `node`, as its first input, in the same block. */
static Node *only_user(const Node *node) {
  const Value *out = node_output(node, 0);
  if (out->uses.length != 1 || out->uses.data[0].offset != 0) return NULL;
  Node *user = out->uses.data[0].user;
  return user->owning_block == node->owning_block ? user : NULL;
}

static bool is_convolution(const Node *node) {
  switch (node->kind) {
    case SYM_aten_conv1d:
    case SYM_aten_conv2d:
    case SYM_aten_conv3d: {
      const FunctionSchema *schema = node_schema(node);
      return schema && node->input_count == 7 && node_named_input(node, "padding")->type->kind == TYPE_LIST;
    }
    default:
      return false;
  }
}

static bool is_stored_norm(const Node *node) {
  IValue training;
  return node && node->kind == SYM_aten_batch_norm && node->input_count == 9 &&
         value_is_constant(node_input(node, 5), &training) && training.tag == TAG_BOOL && !training.b &&
         node_input(node, 3)->type->kind != TYPE_NONE && node_input(node, 4)->type->kind != TYPE_NONE;
}

static bool constant_number(const Value *value, double *out) {
  IValue number;
  if (!value_is_constant(value, &number) || (number.tag != TAG_INT && number.tag != TAG_FLOAT)) return false;
  *out = ivalue_to_double(number);
  return true;
}

static bool is_clamp(const Node *node, double *low, double *high) {
  if (!node) return false;
  switch (node->kind) {
    case SYM_aten_relu:
    case SYM_aten_relu_:
      *low = 0;
      *high = INFINITY;
      return true;
    case SYM_aten_relu6:
    case SYM_aten_relu6_:
      *low = 0;
      *high = 6;
      return true;
    case SYM_aten_hardtanh:
    case SYM_aten_hardtanh_:
      return node->input_count == 3 && constant_number(node_input(node, 1), low) &&
             constant_number(node_input(node, 2), high) && *low <= *high;
    default:
      return false;
  }
}

static bool find_chain(Node *node, Chain *c) {
  *c = (Chain){.conv = node};
  if (!is_convolution(node)) return false;
  Node *next = only_user(node);
  if (is_stored_norm(next)) {
    c->norm = next;
    next = only_user(next);
  }
  if (is_clamp(next, &c->low, &c->high)) c->clamp = next;
  return c->norm || c->clamp;
}

static void replace_chain(Graph *graph, AliasDb *db, const Chain *c) {
  Node *last = c->clamp ? c->clamp : c->norm;
  graph_set_insert_point(graph, last);
  graph->range = c->conv->range;
  Value *inputs[14];
  for (uint32_t i = 0; i < 7; i++) inputs[i] = node_input(c->conv, i);
  Value *none = graph_insert_constant(graph, IVALUE_NONE, NULL);
  for (uint32_t i = 0; i < 4; i++) inputs[7 + i] = c->norm ? node_input(c->norm, i + 1) : none;
  inputs[11] = c->norm ? node_input(c->norm, 7) : graph_insert_constant(graph, ivalue_float(0), NULL);
  inputs[12] = c->clamp ? graph_insert_constant(graph, ivalue_float(c->low), NULL) : none;
  inputs[13] = c->clamp ? graph_insert_constant(graph, ivalue_float(c->high), NULL) : none;
  Node *fused = graph_create(graph, SYM_wick_convolution_norm, 14, inputs, 1);
  fused->inlined = c->conv->inlined;
  node_output(fused, 0)->type = node_output(last, 0)->type;
  graph_insert_node(graph, fused);
  alias_replace_value(db, node_output(last, 0), node_output(fused, 0));
  value_replace_all_uses_with(node_output(last, 0), node_output(fused, 0));
  if (c->clamp) node_destroy(c->clamp);
  if (c->norm) node_destroy(c->norm);
  node_destroy(c->conv);
}

static void fuse_block(Graph *graph, AliasDb *db, Block *block) {
  BLOCK_EACH_REVERSE(node, block) {
    for (uint32_t i = 0; i < node->block_count; i++) fuse_block(graph, db, node->blocks[i]);
    Chain c;
    if (!find_chain(node, &c)) continue;
    /* The later ones first, so that each lies right before the next. */
    if (c.norm && c.clamp && !alias_move_before(db, c.norm, c.clamp)) {
      node_refused("fuse_convolution", c.clamp, REASON_NOT_MOVED_ALIASING);
      c.clamp = NULL;
    }
    if (!alias_move_before(db, c.conv, c.norm ? c.norm : c.clamp)) {
      node_refused("fuse_convolution", c.conv, REASON_NOT_MOVED_ALIASING);
      continue;
    }
    if (!jit_opt_limit("fuse_convolution")) return;
    NODE_LOG_UPDATE("fuse_convolution", "with what follows:", c.conv);
    replace_chain(graph, db, &c);
  }
}

static void fuse(Arena *scratch, void *argument) {
  Graph *graph = argument;
  fuse_block(graph, alias_db_new(graph, scratch), graph->block);
}

void fuse_convolution(Graph *graph) {
  graph_with_scratch(graph, fuse, graph);
  GRAPH_LOG_DUMP("fuse_convolution", "After FuseConvolution: ", graph);
}
