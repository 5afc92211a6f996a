/* A normalization by stored statistics and the relu that alone uses it become one node (op/nn/norm_relu.c). Those of
 * convolutions are gone: it comes after fuse_convolution. Anything the operator finds out of the ordinary at run time,
 * gradients included, it declines, so nothing need be known of the tensors here. */
#include "ir/graph_log.h"
#include "pass/pass.h"
#include "pass/rewrite/chain.h"

#define FILE_NAME "fuse_norm_relu"

static void replace_pair(Graph *graph, AliasDb *db, Node *const *pair) {
  static const uint8_t taken[] = {0, 1, 2, 3, 4, 7}; /* input, weight, bias, mean, variance, eps */
  Node *norm = pair[0];
  Value *inputs[sizeof taken];
  for (size_t i = 0; i < sizeof taken; i++) inputs[i] = node_input(norm, taken[i]);
  graph_set_insert_point(graph, pair[1]);
  graph->range = norm->range;
  Node *fused = graph_create(graph, SYM_wick_batch_norm_relu, sizeof taken, inputs, 1);
  fused->inlined = norm->inlined;
  chain_replace(graph, db, pair, 2, fused);
}

static bool fuse(Graph *graph, AliasDb *db, Node *node) {
  Node *pair[2] = {node, is_stored_norm(node) ? chain_next(node) : NULL};
  if (!pair[1] || pair[1]->kind != SYM_aten_relu || !is_first_input(pair[1], node)) return true;
  chain_gather(db, pair, 2);
  if (chain_together(pair, 2) < 2) {
    node_refused(FILE_NAME, node, REASON_NOT_MOVED_ALIASING);
    return true;
  }
  if (!jit_opt_limit(FILE_NAME)) return false;
  NODE_LOG_UPDATE(FILE_NAME, "with the relu that follows:", node);
  replace_pair(graph, db, pair);
  return true;
}

void fuse_norm_relu(Graph *graph) {
  if (graph_has_kind(graph, SYM_aten_batch_norm)) chain_each(graph, fuse);
  GRAPH_LOG_DUMP(FILE_NAME, "After FuseNormRelu: ", graph);
}

PASS(fuse_norm_relu, RESULTS, fuse_norm_relu(graph), "makes stored normalization and relu one node");
