/* Products with a transposed weight, and what is added to them, become aten::linear, for who looks for layers in a
 * graph, as PyTorch's FuseLinear. Weights are taken for matrices and what is added for a bias. */
#include "ir/graph_log.h"
#include "pass/pass.h"
#include "pass/rewrite/rewrite_rule.h"

#define FILE_NAME "fuse_linear"

static bool has_no_bias(const RewriteMatch *m) {
  return bound(m, 'n')->type->kind == TYPE_NONE;
}

static const RewriteRule rules[] = {
    {"linear_of_addmm", "aten::addmm(%b, %x, aten::t(%w), 1, 1)", GIVES("aten::linear(%x, %w, %b)")},
    {"linear_of_matmul", "aten::matmul(%x, aten::t(%w))", GIVES("aten::linear(%x, %w, None)")},
    {"linear_with_bias", "aten::add|aten::add_(aten::linear(%x, %w, %n), %b:Tensor, 1)",
     GIVES("aten::linear(%x, %w, %b)"), WHEN(has_no_bias)},
};
const RewriteTable rewrite_linears = {REWRITE_LINEARS, FILE_NAME, rules, sizeof rules / sizeof *rules};

void fuse_linear(Graph *graph) {
  if (rewrite_graph(&rewrite_linears, graph, true, NULL)) dead_code_elimination(graph);
  GRAPH_LOG_DUMP(FILE_NAME, "After FuseLinear: ", graph);
}

PASS(fuse_linear, NOTHING, fuse_linear(graph), "makes products with transposed weights linear layers");
