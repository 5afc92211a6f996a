/* Which operators groups are made of. */
#include "fuse/words.h"

#include <assert.h>

#include "call/row.h"
#include "schema/schema.h"
#include "tile/formula.h"
#include "tile/line.h"

static bool may_be_operand(const Value *value) {
  switch (value->type->kind) {
    case TYPE_TENSOR:
    case TYPE_INT:
    case TYPE_FLOAT:
    case TYPE_COMPLEX:
    case TYPE_NUMBER:
    case TYPE_BOOL:
      return true;
    default:
      return value->node->kind == SYM_prim_Constant; /* None, texts */
  }
}

bool fuse_is_write(const Node *node) {
  const Operator *op = node_operator(node);
  return op && op->variant == VARIANT_INPLACE;
}

static bool is_used_here_only(const Value *value, const Node *node) {
  for (size_t i = 0; i < value->uses.length; i++)
    if (value->uses.data[i].user != node) return false;
  return true;
}

/* Only asked of nodes with one tensor as output and an operator. */
static Reason why_not_operator(const Node *node, const Operator *op) {
  const FunctionSchema *schema = operator_schema(op);
  if (op->variant == VARIANT_INPLACE && node->input_count && value_is_tensor(node_input(node, 0))) {
    if (!is_used_here_only(node_input(node, 0), node)) return REASON_NOT_FUSED_WRITES;
  } else if (op->variant != VARIANT_FUNCTIONAL || schema->is_mutable) {
    return REASON_NOT_FUSED_WRITES;
  }
  if (!op->row->lower) return REASON_NOT_FUSED_OPERATOR;
  if (op->flags & (OP_SIDE_EFFECTS | OP_NONDETERMINISTIC)) return REASON_NOT_FUSED_RANDOM;
  if (schema->return_count != 1 || (schema->returns[0].alias && !schema->is_mutable)) return REASON_NOT_FUSED_OPERATOR;
  if (node->input_count != schema->argument_count || node->input_count > FORMULA_MAX_PARAMETERS)
    return REASON_NOT_FUSED_OPERAND;
  bool tensor = false;
  for (uint32_t i = 0; i < node->input_count; i++) {
    if (!may_be_operand(node_input(node, i))) return REASON_NOT_FUSED_OPERAND;
    tensor |= value_is_tensor(node_input(node, i));
  }
  return tensor ? REASON_COUNT : REASON_NOT_FUSED_OPERAND;
}

static const Operator *tensor_operator(const Node *node) {
  if (node->output_count != 1 || node->block_count || !value_is_tensor(node_output(node, 0))) return NULL;
  return node_operator(node);
}

bool fuse_is_pointwise(const Node *node) {
  const Operator *op = tensor_operator(node);
  return op && why_not_operator(node, op) == REASON_COUNT;
}

/* ---- lines ---- */

/* Which dimensions, each named once. */
static bool read_dims(IValue v, FuseLine *out) {
  const int64_t *dims = v.tag == TAG_INT ? &v.i : NULL;
  size_t count = 1;
  if (v.tag == TAG_LIST && v.list->kind == LIST_INTS) dims = v.list->ints, count = v.list->length;
  if (!dims || !count || count > FUSE_MAX_DIMS) return false;
  out->dim_count = (uint8_t)count;
  for (size_t i = 0; i < count; i++) {
    if (dims[i] < -FUSE_MAX_DIMS || dims[i] >= FUSE_MAX_DIMS) return false;
    uint8_t *bits = dims[i] < 0 ? &out->from_back : &out->from_front;
    uint8_t bit = (uint8_t)(1u << (dims[i] < 0 ? -1 - dims[i] : dims[i]));
    if (*bits & bit) return false;
    *bits |= bit;
  }
  return true;
}

/* As many of the last dimensions as the list has sizes. */
static bool read_last_dims(IValue sizes, FuseLine *out) {
  if (sizes.tag != TAG_LIST || !sizes.list->length || sizes.list->length > FUSE_MAX_DIMS) return false;
  out->dim_count = (uint8_t)sizes.list->length;
  out->from_back = (uint8_t)((1u << out->dim_count) - 1);
  return true;
}

static bool read_line(const Node *node, const Operator *op, FuseLine *out) {
  const FunctionSchema *schema = operator_schema(op);
  bool is_norm = op->row->line == LINE_NORMALIZE, has_dim = false;
  *out = (FuseLine){.function = op->row->line};
  if (!out->function || op->variant != VARIANT_FUNCTIONAL || schema->return_count != 1) return false;
  if (node->input_count != schema->argument_count || node->input_count > FORMULA_MAX_PARAMETERS) return false;
  for (uint32_t i = 0; i < node->input_count; i++) {
    Str name = schema->arguments[i].name;
    IValue constant;
    if (value_is_tensor(node_input(node, i)) && (i == 0 || is_norm)) continue;
    if (i == 0 || !value_is_constant(node_input(node, i), &constant)) return false;
    if (str_is(name, "dim")) has_dim = read_dims(constant, out);
    if (str_is(name, "normalized_shape")) has_dim = read_last_dims(constant, out);
    if (str_is(name, "keepdim")) out->drops = constant.tag == TAG_BOOL && !constant.b;
  }
  return has_dim;
}

bool fuse_is_line(const Node *node) {
  const Operator *op = tensor_operator(node);
  FuseLine line;
  return op && read_line(node, op, &line);
}

FuseLine fuse_line_of(const Node *node) {
  FuseLine line;
  bool is_line = read_line(node, node_operator(node), &line);
  assert(is_line);
  (void)is_line;
  return line;
}

Reason fuse_why_not_operator(const Node *node) {
  const Operator *op = tensor_operator(node);
  if (!op || fuse_is_line(node)) return REASON_COUNT;
  return op->row->line ? REASON_NOT_FUSED_DIMENSIONS : why_not_operator(node, op);
}
