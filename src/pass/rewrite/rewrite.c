/* What rewrites share. */
#include "pass/rewrite/rewrite.h"

#include <assert.h>

#include "call/row.h"
#include "schema/schema.h"

bool value_is_none(const Value *value) {
  return value->type->kind == TYPE_NONE;
}

const TensorInfo *value_tensor(const Value *value) {
  return value->type->kind == TYPE_TENSOR ? value->type->tensor : NULL;
}

int node_conv_dims(const Node *node) {
  const Operator *op = node_operator(node);
  return op ? op->row->conv_dims : 0;
}

Value *insert_call(Graph *graph, Symbol kind, const Type *type, uint32_t input_count, Value *const *inputs) {
  Node *node = graph_insert_node(graph, graph_create(graph, kind, input_count, inputs, 1));
  node_output(node, 0)->type = type;
  return node_output(node, 0);
}

Value *insert_call_before(Node *node, Symbol kind, const Type *type, uint32_t input_count, Value *const *inputs) {
  Node *call = graph_create(node->graph, kind, input_count, inputs, 1);
  node_copy_metadata(call, node);
  call->inlined = node->inlined;
  node_output(call, 0)->type = type;
  node_insert_before(call, node);
  return node_output(call, 0);
}

Value *insert_constant_before(Node *node, IValue value, const Type *type) {
  assert(constant_is_possible(value));
  Node *constant = graph_create(node->graph, SYM_prim_Constant, 0, NULL, 1);
  node_copy_metadata(constant, node);
  constant_set(constant, value, type);
  node_insert_before(constant, node);
  return node_output(constant, 0);
}

void replace_node(Node *node, Value *with) {
  assert(node->output_count == 1);
  value_replace_all_uses_with(node_output(node, 0), with);
  node_destroy(node);
}

uint32_t block_size(const Block *block, uint32_t limit) {
  uint32_t size = 0;
  BLOCK_EACH(node, block) {
    if (++size >= limit) return limit;
    for (uint32_t i = 0; i < node->block_count; i++) {
      size += block_size(node->blocks[i], limit - size);
      if (size >= limit) return limit;
    }
  }
  return size;
}

static bool only_reads(const Use *use) {
  if (use->user->kind == SYM_prim_ListUnpack) return true;
  const FunctionSchema *schema = node_schema(use->user);
  if (!schema || use->offset >= schema->argument_count) return false;
  const AliasInfo *alias = schema->arguments[use->offset].alias;
  const Operator *op = node_operator(use->user);
  if (!alias) return !op || operator_reads_metadata(op, use->offset) || !operator_may_return_argument(op);
  if (alias->is_write || alias->after || alias->before & ALIAS_WILDCARD) return false;
  for (uint32_t i = 0; i < schema->return_count; i++)
    if (schema->returns[i].alias &&
        (schema->returns[i].alias->before | schema->returns[i].alias->contained) & alias->before)
      return false;
  return true;
}

bool block_any(const Block *block, bool (*holds)(const Node *node)) {
  BLOCK_EACH(node, block) {
    if (holds(node)) return true;
    for (uint32_t i = 0; i < node->block_count; i++)
      if (block_any(node->blocks[i], holds)) return true;
  }
  return false;
}

static bool block_has_kind(const Block *block, Symbol kind) {
  BLOCK_EACH(node, block) {
    if (node->kind == kind) return true;
    for (uint32_t i = 0; i < node->block_count; i++)
      if (block_has_kind(node->blocks[i], kind)) return true;
  }
  return false;
}
bool graph_has_kind(const Graph *graph, Symbol kind) {
  return block_has_kind(graph->block, kind);
}

bool graph_changes_grad_mode(const Graph *graph) {
  return block_any(graph->block, node_may_change_grad_mode);
}

bool value_is_only_read(const Value *value) {
  for (size_t i = 0; i < value->uses.length; i++)
    if (!only_reads(&value->uses.data[i])) return false;
  return true;
}

bool value_is_never_written(const Value *made) {
  const Node *end = made->node->graph->block->ret;
  for (size_t i = 0; i < made->uses.length; i++)
    if (made->uses.data[i].user != end && !only_reads(&made->uses.data[i])) return false;
  return true;
}
