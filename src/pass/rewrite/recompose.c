/* Layers that a program has in the form of their parts, as torch.export's decompositions leave them, become the
 * operators that programs call: what plans know are those. What `addmm` and `mm` multiply is taken for matrices: linear
 * layers take more dimensions without an error. An operator that gives statistics besides is one of these
 * only where nobody reads the statistics. */
#include "ir/graph_log.h"
#include "pass/pass.h"
#include "pass/rewrite/rewrite.h"
#include "pass/rewrite/rewrite_rule.h"

#define FILE_NAME "recompose"

enum { MAX_DIMS = 3 };

/* Of the node at the pattern's end nothing but the first output is used. */
static bool is_only_result(const RewriteMatch *m) {
  for (uint32_t i = 1; i < m->node->output_count; i++)
    if (value_has_uses(node_output(m->node, i))) return false;
  return true;
}

/* How many ints the list has that the value is, -1 where that is not known; the first `most` of them. */
static int64_t read_ints(const Value *list, uint32_t most, int64_t *out) {
  IValue value;
  if (value_is_constant(list, &value)) {
    if (value.tag != TAG_LIST || value.list->kind != LIST_INTS) return -1;
    for (size_t i = 0; i < value.list->length && i < most; i++) out[i] = value.list->ints[i];
    return (int64_t)value.list->length;
  }
  const Node *node = list->node;
  if (node->kind != SYM_prim_ListConstruct || !value_is_only_read(list)) return -1;
  for (uint32_t i = 0; i < node->input_count; i++) {
    if (i >= most) continue;
    if (!value_is_constant(node_input(node, i), &value) || value.tag != TAG_INT) return -1;
    out[i] = value.i;
  }
  return node->input_count;
}
static bool is_transposition(const RewriteMatch *m) {
  int64_t dims[2];
  return read_ints(bound(m, 'd'), 2, dims) == 2 && (dims[0] == 1 || dims[0] == -1) && (dims[1] == 0 || dims[1] == -2);
}
/* The convolution over as many dimensions as the stride has. */
static Value *named_convolution(const RewriteMatch *m) {
  static const char *const kinds[2][MAX_DIMS] = {
      {"aten::conv1d", "aten::conv2d", "aten::conv3d"},
      {"aten::conv_transpose1d", "aten::conv_transpose2d", "aten::conv_transpose3d"}};
  int64_t strides[MAX_DIMS];
  IValue transposed;
  int64_t dims = read_ints(bound(m, 's'), MAX_DIMS, strides);
  if (dims < 1 || dims > MAX_DIMS || !value_is_constant(bound(m, 't'), &transposed) || transposed.tag != TAG_BOOL)
    return NULL;
  Symbol kind = symbol_intern(str_from(kinds[transposed.b][dims - 1]));
  if (kind == SYMBOL_NONE) return NULL;
  Value *plain[] = {bound(m, 'x'), bound(m, 'w'), bound(m, 'b'), bound(m, 's'),
                    bound(m, 'p'), bound(m, 'd'), bound(m, 'g')};
  Value *upward[] = {bound(m, 'x'), bound(m, 'w'), bound(m, 'b'), bound(m, 's'),
                     bound(m, 'p'), bound(m, 'o'), bound(m, 'g'), bound(m, 'd')};
  return transposed.b ? insert_call_before(m->node, kind, TYPE(TENSOR), 8, upward)
                      : insert_call_before(m->node, kind, TYPE(TENSOR), 7, plain);
}

/* clang-format off */
static const RewriteRule rules[] = {
  {"convolution", "aten::convolution(%x, %w, %b, %s, %p, %d, %t, %o, %g)",   MAKES(named_convolution)},
  {"stored_norm", "aten::_native_batch_norm_legit_no_training[0](%x, %w, %b, %m, %v, %f, %e)",
                  GIVES("aten::batch_norm(%x, %w, %b, %m, %v, False, %f, %e, True)"),  WHEN(is_only_result)},
  {"layer_norm",  "aten::native_layer_norm[0](%x, %s, %w, %b, %e)",
                  GIVES("aten::layer_norm(%x, %s, %w, %b, %e, True)"),       WHEN(is_only_result)},
  {"max_pool",    "aten::max_pool2d_with_indices[0](%x, %k, %s, %p, %d, %c)",
                  GIVES("aten::max_pool2d(%x, %k, %s, %p, %d, %c)"),         WHEN(is_only_result)},
  {"softmax",     "aten::_softmax(%x, %d, False)",                           GIVES("aten::softmax(%x, %d, None)")},
  {"log_softmax", "aten::_log_softmax(%x, %d, False)",                       GIVES("aten::log_softmax(%x, %d, None)")},
  {"linear",      "aten::addmm(%b, %x, aten::permute(%w, %d), 1, 1)",        GIVES("aten::linear(%x, %w, %b)"),
                                                                             WHEN(is_transposition)},
  {"linear_of_t", "aten::addmm(%b, %x, aten::t(%w), 1, 1)",                  GIVES("aten::linear(%x, %w, %b)")},
  {"linear_without_bias", "aten::mm(%x, aten::permute(%w, %d))",             GIVES("aten::linear(%x, %w, None)"),
                                                                             WHEN(is_transposition)},
};
/* clang-format on */
const RewriteTable rewrite_layers = {REWRITE_LAYERS, FILE_NAME, rules, sizeof rules / sizeof *rules};

void recompose(Graph *graph) {
  if (rewrite_graph(&rewrite_layers, graph, true, NULL)) dead_code_elimination(graph);
  GRAPH_LOG_DUMP(FILE_NAME, "After recompose: ", graph);
}

PASS(recompose, GRADIENTS, recompose(graph), "makes the parts of layers the layers' operators");
