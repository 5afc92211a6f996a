/* Operators as smaller ones that later passes can work with: addmm with factors 1 to a sum of products as mm and add,
 * so that batch_mm finds the whole sum. Where it adds a bias it stays: one product that starts from the bias is faster
 * than a product and a sum, fused with what follows or not. decompose_norms does the same for normalization with known
 * weights: the affine part becomes pointwise. */
#include "ir/graph_log.h"

#include <assert.h>

#include "pass/pass.h"
#include "pass/rewrite/rewrite.h"

#define FILE_NAME "decompose_ops"

static bool is_one(const Value *value) {
  double number;
  return constant_double(value, &number) && number == 1;
}

static Value *one_before(Node *node) {
  return insert_constant_before(node, ivalue_int(1), NULL);
}

static bool is_sum_of_products(const Value *value) {
  const Node *node = value->node;
  return node->kind == SYM_aten_mm ||
         (node->kind == SYM_aten_add && node->input_count > 1 && node_input(node, 1)->node->kind == SYM_aten_mm);
}

/* addmm with integral operands adds integers: mm and add do the same. */
static bool decompose_addmm(Node *node) {
  if (node->input_count != 5 || !is_one(node_input(node, 3)) || !is_one(node_input(node, 4)) ||
      !is_sum_of_products(node_input(node, 0)) || !jit_opt_limit(FILE_NAME))
    return false;
  NODE_LOG_UPDATE(FILE_NAME, "becomes product and sum:", node);
  const Type *type = node_output(node, 0)->type;
  Value *product =
      insert_call_before(node, SYM_aten_mm, type, 2, (Value *[]){node_input(node, 1), node_input(node, 2)});
  Value *inputs[] = {node_input(node, 0), product, one_before(node)};
  replace_node(node, insert_call_before(node, SYM_aten_add, type, 3, inputs));
  return true;
}

/* ---- normalization ---- */

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

/* (x - mean) * rsqrt(var + eps), in evaluation only: training writes the running statistics. */
static bool decompose_batch_norm(Node *node) {
  if (node->input_count != 9 || !constant_is_bool(node_input(node, 5), false)) return false;
  Value *x = node_input(node, 0), *weight = node_input(node, 1), *bias = node_input(node, 2),
        *mean = node_input(node, 3), *var = node_input(node, 4), *eps = node_input(node, 7);
  const TensorInfo *info = value_tensor(x);
  const Type *type = node_output(node, 0)->type;
  if (!info || info->ndim < 2 || is_there(weight) < 0 || is_there(bias) < 0 || is_there(mean) != 1 ||
      is_there(var) != 1 || !fits(x, 1, 4, (Value *[]){weight, bias, mean, var}) || !jit_opt_limit(FILE_NAME))
    return false;
  mean = over_channels(node, mean, info->ndim);
  var = over_channels(node, var, info->ndim);
  if (is_there(weight)) weight = over_channels(node, weight, info->ndim);
  if (is_there(bias)) bias = over_channels(node, bias, info->ndim);
  Value *shifted = insert_call_before(node, SYM_aten_add, TYPE(TENSOR), 3, (Value *[]){var, eps, one_before(node)}),
        *factor = insert_call_before(node, symbol_intern(STR("aten::rsqrt")), TYPE(TENSOR), 1, &shifted),
        *centred = insert_call_before(node, SYM_aten_sub, type, 3, (Value *[]){x, mean, one_before(node)}),
        *normalized = insert_call_before(node, SYM_aten_mul, type, 2, (Value *[]){centred, factor});
  replace_node(node, affine(node, normalized, weight, bias));
  return true;
}

static bool decompose_layer_norm(Node *node) {
  if (node->input_count != 6) return false;
  Value *weight = node_input(node, 2), *bias = node_input(node, 3);
  const TensorInfo *info = value_tensor(node_input(node, 0));
  if (is_there(weight) < 0 || is_there(bias) < 0 || is_there(weight) + is_there(bias) == 0 || !info ||
      !fits(node_input(node, 0), info->ndim - 1, 2, (Value *[]){weight, bias}) || !jit_opt_limit(FILE_NAME))
    return false;
  Value *none = insert_constant_before(node, IVALUE_NONE, NULL),
        *inputs[] = {node_input(node, 0), node_input(node, 1), none, none, node_input(node, 4), node_input(node, 5)};
  Value *plain = insert_call_before(node, SYM_aten_layer_norm, node_output(node, 0)->type, 6, inputs);
  replace_node(node, affine(node, plain, weight, bias));
  return true;
}

static bool decompose_in(const Block *block, bool norms) {
  bool changed = false;
  BLOCK_EACH(node, block) {
    for (uint32_t i = 0; i < node->block_count; i++) changed |= decompose_in(node->blocks[i], norms);
    if (!norms && node->kind == SYM_aten_addmm) changed |= decompose_addmm(node);
    if (norms && node->kind == SYM_aten_batch_norm) changed |= decompose_batch_norm(node);
    if (norms && node->kind == SYM_aten_layer_norm) changed |= decompose_layer_norm(node);
  }
  return changed;
}

void decompose_ops(Graph *graph) {
  if (decompose_in(graph->block, false)) dead_code_elimination(graph);
  GRAPH_LOG_DUMP(FILE_NAME, "After DecomposeOps: ", graph);
}

void decompose_norms(Graph *graph) {
  if (decompose_in(graph->block, true)) dead_code_elimination(graph);
}

PASS(decompose_norms, GRADIENTS, decompose_norms(graph), "writes normalization as pointwise operators");
PASS(decompose_ops, GRADIENTS, decompose_ops(graph), "writes addmm as product and sum");
