/* Blocks: their inputs are the outputs of a Param sentinel, their outputs the inputs of a Return sentinel. The two
 * close a ring with the nodes between them. */
#include "ir/ir_internal.h"

Block *block_new(Graph *graph, Node *owning_node) {
  Block *block = ARENA_NEW(graph->arena, Block);
  block->graph = graph;
  block->owning_node = owning_node;
  block->param = node_new(graph, SYM_prim_Param);
  block->ret = node_new(graph, SYM_prim_Return);
  block->param->owning_block = block->ret->owning_block = block;
  block->param->range = block->ret->range = (SourceRange){0};
  block->param->next = block->param->prev = block->ret;
  block->ret->next = block->ret->prev = block->param;
  block->param->position = INT64_MIN;
  block->ret->position = INT64_MAX;
  return block;
}

Value *block_add_input(Block *block, Str name, const Type *type) {
  return block_insert_input(block, block_input_count(block), name, type);
}

Value *block_insert_input(Block *block, uint32_t at, Str name, const Type *type) {
  Value *value = node_insert_output(block->param, at, type);
  if (name.length) value_set_name(value, name);
  return value;
}

void block_erase_input(Block *block, uint32_t i) {
  node_erase_output(block->param, i);
}

uint32_t block_register_output(Block *block, Value *value) {
  return node_add_input(block->ret, value);
}

void block_insert_output(Block *block, uint32_t at, Value *value) {
  node_insert_input(block->ret, at, value);
}

void block_replace_output(Block *block, uint32_t i, Value *value) {
  node_replace_input(block->ret, i, value);
}

void block_erase_output(Block *block, uint32_t i) {
  node_remove_input(block->ret, i);
}
