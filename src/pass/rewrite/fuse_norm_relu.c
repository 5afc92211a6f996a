/* A normalization by stored statistics and the relu that alone uses it become one node (op/nn/norm_relu.c). Those of
 * convolutions are gone: it comes after fuse_convolution. Anything the operator finds out of the ordinary at run time,
 * gradients included, it does by its parts, so nothing need be known of the tensors here. */
#include "ir/graph_log.h"
#include "pass/pass.h"
#include "pass/rewrite/rewrite.h"
#include "pass/rewrite/subgraph_rewrite.h"

#define FILE_NAME "fuse_norm_relu"

void fuse_norm_relu(Graph *graph) {
  static const RewritePattern rule = {
      .pattern =
          "graph(%x, %weight, %bias, %mean, %var, %momentum, %eps, %cudnn):\n"
          "  %training : bool = prim::Constant[value=0]()\n"
          "  %n : Tensor = aten::batch_norm(%x, %weight, %bias, %mean, %var, %training, %momentum, %eps, "
          "%cudnn)\n"
          "  %r : Tensor = aten::relu(%n)\n"
          "  return (%r)",
      .replacement =
          "graph(%x, %weight, %bias, %mean, %var, %momentum, %eps, %cudnn):\n"
          "  %r : Tensor = wick::batch_norm_relu(%x, %weight, %bias, %mean, %var, %eps)\n"
          "  return (%r)"};
  if (graph_has_kind(graph, SYM_aten_batch_norm)) rewrite_subgraphs(graph, 1, &rule);
  GRAPH_LOG_DUMP(FILE_NAME, "After FuseNormRelu: ", graph);
}

PASS(fuse_norm_relu, RESULTS, fuse_norm_relu(graph), "makes stored normalization and relu one node");
