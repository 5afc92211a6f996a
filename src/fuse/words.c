/* Which nodes groups are made of. */
#include "fuse/words.h"

#include "tile/formula.h"

const FuseWords *fuse_words(void) {
  static FuseWords words;
  static _Atomic int ready; /* 0: not there, 1: being written, 2: there */
  int state = atomic_load_explicit(&ready, memory_order_acquire);
  if (state == 2) return &words;
  FuseWords made = {
      .size = symbol_intern(STR("aten::size")),
      .cat = symbol_intern(STR("aten::cat")),
      .list_construct = SYM_prim_ListConstruct,
      .list_unpack = SYM_prim_ListUnpack,
      .broadcast_tensors = symbol_intern(STR("aten::broadcast_tensors")),
      .broadcasting_chunk = symbol_intern(STR("prim::BroadcastingChunk")),
      .fused_concat = symbol_intern(STR("prim::FusedConcat")),
      .chunk_sizes = symbol_intern(STR("prim::ChunkSizes")),
      .broadcast_sizes = symbol_intern(STR("prim::BroadcastSizes")),
  };
  int expected = 0;
  if (atomic_compare_exchange_strong(&ready, &expected, 1)) {
    words = made;
    atomic_store_explicit(&ready, 2, memory_order_release);
  }
  while (atomic_load_explicit(&ready, memory_order_acquire) != 2) continue;
  return &words;
}

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
