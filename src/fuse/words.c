#include "fuse/words.h"

#include "tile/formula.h"

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

Reason fuse_why_not_pointwise(const Node *node) {
  const Operator *op = tensor_operator(node);
  return op ? why_not_operator(node, op) : REASON_COUNT;
}
