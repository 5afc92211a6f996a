/* dequantize, operator, quantize becomes the quantized operator: a table of patterns for the rewriter. The quantized
 * kernels are operators like others; what is not registered says so by name when it runs. */
#include "ir/graph_log.h"
#include "pass/pass.h"
#include "pass/rewrite/subgraph_rewrite.h"

#define FILE_NAME "quant_fusion"

#define QUANTIZE "  %q : Tensor = aten::quantize_per_tensor(%r, %scale, %zero, %dtype)\n  return (%q)"

/* Convolution and linear unpack their weight and bias from a packed object. */
#define CONV_INPUTS "%a, %packed, %scale, %zero, %dtype, %stride, %padding, %dilation, %groups"
#define CONV(name, middle, fused)                                                  \
  {                                                                                \
    "graph(" CONV_INPUTS                                                           \
    "):\n"                                                                         \
    "  %x : Tensor = aten::dequantize(%a)\n"                                       \
    "  %wq : Tensor, %b : Tensor? = quantized::" name                              \
    "_unpack(%packed)\n"                                                           \
    "  %w : Tensor = aten::dequantize(%wq)\n"                                      \
    "  %" middle " : Tensor = aten::" name                                         \
    "(%x, %w, %b, %stride, %padding, %dilation, %groups)\n" RELU_##fused QUANTIZE, \
        "graph(" CONV_INPUTS "):\n  %q : Tensor = quantized::" name NAME_##fused   \
        "(%a, %packed, %scale, %zero)\n"                                           \
        "  return (%q)"                                                            \
  }
#define RELU_PLAIN ""
#define RELU_RELU "  %r : Tensor = aten::relu(%y)\n"
#define RELU_RELU_ "  %r : Tensor = aten::relu_(%y)\n"
#define NAME_PLAIN ""
#define NAME_RELU "_relu"
#define NAME_RELU_ "_relu"
#define CONVS(name) CONV(name, "r", PLAIN), CONV(name, "y", RELU), CONV(name, "y", RELU_)

#define LINEAR_INPUTS "%a, %packed, %scale, %zero, %dtype"
#define LINEAR(middle, fused)                                                       \
  {                                                                                 \
    "graph(" LINEAR_INPUTS                                                          \
    "):\n"                                                                          \
    "  %x : Tensor = aten::dequantize(%a)\n"                                        \
    "  %wq : Tensor, %b : Tensor? = quantized::linear_unpack(%packed)\n"            \
    "  %w : Tensor = aten::dequantize(%wq)\n"                                       \
    "  %" middle " : Tensor = aten::linear(%x, %w, %b)\n" RELU_##fused QUANTIZE,    \
        "graph(" LINEAR_INPUTS "):\n  %q : Tensor = quantized::linear" NAME_##fused \
        "(%a, %packed, %scale, %zero)\n"                                            \
        "  return (%q)"                                                             \
  }

#define PAIR_INPUTS "%a, %b, %scale, %zero, %dtype"
#define ADD(middle, fused)                                                           \
  {                                                                                  \
    "graph(" PAIR_INPUTS                                                             \
    ", %one):\n"                                                                     \
    "  %x : Tensor = aten::dequantize(%a)\n"                                         \
    "  %z : Tensor = aten::dequantize(%b)\n"                                         \
    "  %" middle " : Tensor = aten::add(%x, %z, %one)\n" RELU_##fused QUANTIZE,      \
        "graph(" PAIR_INPUTS ", %one):\n  %q : Tensor = quantized::add" NAME_##fused \
        "(%a, %b, %scale, %zero)\n"                                                  \
        "  return (%q)",                                                             \
        alpha_is_one, NULL                                                           \
  }
#define MUL(middle, fused)                                                     \
  {                                                                            \
    "graph(" PAIR_INPUTS                                                       \
    "):\n"                                                                     \
    "  %x : Tensor = aten::dequantize(%a)\n"                                   \
    "  %z : Tensor = aten::dequantize(%b)\n"                                   \
    "  %" middle " : Tensor = aten::mul(%x, %z)\n" RELU_##fused QUANTIZE,      \
        "graph(" PAIR_INPUTS "):\n  %q : Tensor = quantized::mul" NAME_##fused \
        "(%a, %b, %scale, %zero)\n"                                            \
        "  return (%q)"                                                        \
  }

static bool alpha_is_one(const SubgraphMatch *match, void *argument) {
  (void)argument;
  IValue alpha;
  const Value *one = match_value(match, "one");
  return one && value_is_constant(one, &alpha) && alpha.tag == TAG_INT && alpha.i == 1;
}

static const RewritePattern patterns[] = {
    CONVS("conv1d"), CONVS("conv2d"), CONVS("conv3d"), LINEAR("r", PLAIN), LINEAR("y", RELU), LINEAR("y", RELU_),
    ADD("r", PLAIN), ADD("y", RELU),  ADD("y", RELU_), MUL("r", PLAIN),    MUL("y", RELU),    MUL("y", RELU_),
};

static bool quantizes(const Block *block, Symbol quantize) {
  BLOCK_EACH(node, block) {
    if (node->kind == quantize) return true;
    for (uint32_t i = 0; i < node->block_count; i++)
      if (quantizes(node->blocks[i], quantize)) return true;
  }
  return false;
}

void quant_fusion(Graph *graph) {
  Symbol quantize = symbol_find(STR("aten::quantize_per_tensor"));
  if (!quantize || !quantizes(graph->block, quantize)) return;
  if (rewrite_subgraphs(graph, sizeof patterns / sizeof *patterns, patterns)) dead_code_elimination(graph);
  GRAPH_LOG_DUMP(FILE_NAME, "After QuantFusion: ", graph);
}

PASS(quant_fusion, RESULTS, quant_fusion(graph), "makes operators between dequantize and quantize quantized ones");
