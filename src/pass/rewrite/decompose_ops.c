/* Operators as smaller ones that later passes can work with: addmm with factors 1 to a sum of products as mm and add,
 * so that batch_mm finds the whole sum. Where it adds a bias it stays: one product that starts from the bias is faster
 * than a product and a sum, fused with what follows or not. decompose_norms does the same for normalization with known
 * weights: the affine part becomes pointwise. */
#include <assert.h>

#include "ir/graph_log.h"
#include "pass/pass.h"
#include "pass/rewrite/rewrite.h"
#include "pass/rewrite/rewrite_rule.h"

#define FILE_NAME "decompose_ops"

/* addmm with integral operands adds integers: mm and add do the same. */
#define PRODUCT_AND_SUM "aten::add(%s, aten::mm(%x, %y), 1)"
/* clang-format off */
static const RewriteRule products[] = {
  {"addmm_of_product", "aten::addmm(%s=aten::mm(...), %x, %y, 1., 1.)",                    GIVES(PRODUCT_AND_SUM)},
  {"addmm_of_sum",     "aten::addmm(%s=aten::add(%a, aten::mm(...), ...), %x, %y, 1., 1.)", GIVES(PRODUCT_AND_SUM)},
};
/* clang-format on */
const RewriteTable rewrite_products = {REWRITE_PRODUCTS, FILE_NAME, products, sizeof products / sizeof *products};

/* ---- normalization ---- */

static Value *one_before(Node *node) {
  return insert_constant_before(node, ivalue_int(1), NULL);
}

/* Whether a Tensor? is there: 1, 0, or -1 when nobody knows. */
static int is_there(const Value *value) {
  return value_is_none(value) ? 0 : value->type->kind == TYPE_TENSOR ? 1 : -1;
}

/* normalized * weight + bias, each where it is there. */
static Value *affine(Node *node, Value *normalized, Value *weight, Value *bias) {
  const Type *type = node_output(node, 0)->type;
  if (is_there(weight)) normalized = insert_call_before(node, SYM_aten_mul, type, 2, (Value *[]){normalized, weight});
  if (is_there(bias))
    normalized = insert_call_before(node, SYM_aten_add, type, 3, (Value *[]){normalized, bias, one_before(node)});
  return normalized;
}

/* A vector over channels, to stand against a tensor of this rank. */
static Value *over_channels(Node *node, Value *vector, int rank) {
  assert(rank > 0 && rank <= TENSOR_MAX_DIMS);
  Value *shape[TENSOR_MAX_DIMS];
  for (int i = 0; i < rank; i++) shape[i] = insert_constant_before(node, ivalue_int(i == 1 ? -1 : 1), NULL);
  Value *sizes = insert_call_before(node, SYM_prim_ListConstruct, type_list_of(TYPE_INT), (uint32_t)rank, shape);
  return insert_call_before(node, symbol_intern(STR("aten::reshape")), TYPE(TENSOR), 2, (Value *[]){vector, sizes});
}

/* Whether pointwise operators with the vectors that are there do what normalization does: everything of one dtype, the
 * vectors of as many elements as x has in that dimension, x without strides of its own. */
static bool fits(const Value *x, int dim, uint32_t count, Value *const *vectors) {
  const TensorInfo *info = value_tensor(x);
  if (!info || info->ndim <= dim || dim < 0 || !info->has_sizes || !info->has_strides || info->sizes[dim] < 0 ||
      (info->dtype != DTYPE_FLOAT32 && info->dtype != DTYPE_FLOAT64))
    return false;
  int64_t step = 1;
  for (int i = info->ndim - 1; i >= 0; step *= info->sizes[i--])
    if (info->sizes[i] < 0 || info->strides[i] != step) return false;
  for (uint32_t i = 0; i < count; i++) {
    const TensorInfo *vector = value_tensor(vectors[i]);
    if (is_there(vectors[i]) == 0) continue;
    if (!vector || vector->dtype != info->dtype || vector->ndim != 1 || !vector->has_sizes ||
        vector->sizes[0] != info->sizes[dim])
      return false;
  }
  return true;
}

static bool has_plain_vectors(const RewriteMatch *m) {
  Value *weight = bound(m, 'w'), *bias = bound(m, 'b'), *mean = bound(m, 'm'), *var = bound(m, 'v');
  const TensorInfo *info = value_tensor(bound(m, 'x'));
  return info && info->ndim >= 2 && is_there(weight) >= 0 && is_there(bias) >= 0 && is_there(mean) == 1 &&
         is_there(var) == 1 && fits(bound(m, 'x'), 1, 4, (Value *[]){weight, bias, mean, var});
}

/* (x - mean) * rsqrt(var + eps), in evaluation only: training writes the running statistics. */
static Value *pointwise_batch_norm(const RewriteMatch *m) {
  Node *node = m->node;
  Value *x = bound(m, 'x'), *weight = bound(m, 'w'), *bias = bound(m, 'b');
  const Type *type = replaced(m)->type;
  int rank = value_tensor(x)->ndim;
  Value *mean = over_channels(node, bound(m, 'm'), rank), *var = over_channels(node, bound(m, 'v'), rank);
  if (is_there(weight)) weight = over_channels(node, weight, rank);
  if (is_there(bias)) bias = over_channels(node, bias, rank);
  Value *shifted =
            insert_call_before(node, SYM_aten_add, TYPE(TENSOR), 3, (Value *[]){var, bound(m, 'e'), one_before(node)}),
        *factor = insert_call_before(node, symbol_intern(STR("aten::rsqrt")), TYPE(TENSOR), 1, &shifted),
        *centred = insert_call_before(node, SYM_aten_sub, type, 3, (Value *[]){x, mean, one_before(node)}),
        *normalized = insert_call_before(node, SYM_aten_mul, type, 2, (Value *[]){centred, factor});
  return affine(node, normalized, weight, bias);
}

static bool has_plain_affine(const RewriteMatch *m) {
  Value *weight = bound(m, 'w'), *bias = bound(m, 'b');
  const TensorInfo *info = value_tensor(bound(m, 'x'));
  return is_there(weight) >= 0 && is_there(bias) >= 0 && is_there(weight) + is_there(bias) > 0 && info &&
         fits(bound(m, 'x'), info->ndim - 1, 2, (Value *[]){weight, bias});
}

static Value *layer_norm_and_affine(const RewriteMatch *m) {
  Value *none = insert_constant_before(m->node, IVALUE_NONE, NULL),
        *inputs[] = {bound(m, 'x'), bound(m, 's'), none, none, bound(m, 'e'), bound(m, 'c')};
  Value *plain = insert_call_before(m->node, SYM_aten_layer_norm, replaced(m)->type, 6, inputs);
  return affine(m->node, plain, bound(m, 'w'), bound(m, 'b'));
}

/* clang-format off */
static const RewriteRule norms[] = {
  {"batch_norm_by_parts", "aten::batch_norm(%x, %w, %b, %m, %v, False, %f, %e, %c)",
                                                    MAKES(pointwise_batch_norm),  SHAPES, WHEN(has_plain_vectors)},
  {"layer_norm_by_parts", "aten::layer_norm(%x, %s, %w, %b, %e, %c)",
                                                    MAKES(layer_norm_and_affine), SHAPES, WHEN(has_plain_affine)},
};
/* clang-format on */
const RewriteTable rewrite_norms = {REWRITE_NORMS, FILE_NAME, norms, sizeof norms / sizeof *norms};

void decompose_ops(Graph *graph) {
  if (rewrite_graph(&rewrite_products, graph, true, NULL)) dead_code_elimination(graph);
  GRAPH_LOG_DUMP(FILE_NAME, "After DecomposeOps: ", graph);
}

void decompose_norms(Graph *graph) {
  if (rewrite_graph(&rewrite_norms, graph, true, NULL)) dead_code_elimination(graph);
}

PASS(decompose_norms, GRADIENTS, decompose_norms(graph), "writes normalization as pointwise operators");
PASS(decompose_ops, GRADIENTS, decompose_ops(graph), "writes addmm as product and sum");
