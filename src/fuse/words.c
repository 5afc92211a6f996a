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

bool fuse_is_pointwise(const Node *node) {
  if (node->output_count != 1 || node->block_count || !value_is_tensor(node_output(node, 0))) return false;
  const Operator *op = node_operator(node);
  if (!op || !op->row->lower || op->variant != VARIANT_FUNCTIONAL) return false;
  if (op->flags & (OP_SIDE_EFFECTS | OP_NONDETERMINISTIC)) return false;
  const FunctionSchema *schema = operator_schema(op);
  if (schema->is_mutable || schema->return_count != 1 || schema->returns[0].alias) return false;
  if (node->input_count != schema->argument_count || node->input_count > FORMULA_MAX_PARAMETERS) return false;
  bool tensor = false;
  for (uint32_t i = 0; i < node->input_count; i++) {
    if (!may_be_operand(node_input(node, i))) return false;
    tensor |= value_is_tensor(node_input(node, i));
  }
  return tensor;
}
