/* A normalization by stored statistics and the relu that alone uses it become one node (op/nn/norm_relu.c). Those of
 * convolutions are gone: it comes after fuse_convolution. Anything the operator finds out of the ordinary at run time,
 * gradients included, it does by its parts, so nothing need be known of the tensors here. */
#include "ir/graph_log.h"
#include "pass/pass.h"
#include "pass/rewrite/rewrite_rule.h"

#define FILE_NAME "fuse_norm_relu"

/* clang-format off */
static const RewriteRule rules[] = {
  {"relu_of_norm", "aten::relu(aten::batch_norm(%x, %w, %b, %m, %v, False, %f, %e, %c))",
                                              GIVES("wick::batch_norm_relu(%x, %w, %b, %m, %v, %e)"), ALONE},
};
/* clang-format on */
const RewriteTable rewrite_norm_relu = {REWRITE_NORM_RELU, FILE_NAME, rules, sizeof rules / sizeof *rules};

void fuse_norm_relu(Graph *graph) {
  rewrite_graph(&rewrite_norm_relu, graph, true, NULL);
  GRAPH_LOG_DUMP(FILE_NAME, "After FuseNormRelu: ", graph);
}

PASS(fuse_norm_relu, RESULTS, fuse_norm_relu(graph), "makes stored normalization and relu one node");
