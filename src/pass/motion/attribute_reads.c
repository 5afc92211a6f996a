/* One walk for the writes, one for the chains. */
#include "pass/motion/attribute_reads.h"

#include "pass/motion/attribute_writes.h"

static bool may_change(const AttributeWrites *writes, const Node *node) {
  const ClassType *class_type;
  uint32_t slot;
  const ClassAttribute *attribute = attribute_of_node(node, &class_type, &slot);
  return !attribute || attribute_is_written(writes, attribute);
}

static void find_in(AttributeReads *reads, const AttributeWrites *writes, const Block *block) {
  for (const Node *node = block->param->next; node != block->ret; node = node->next) {
    for (uint32_t i = 0; i < node->block_count; i++) find_in(reads, writes, node->blocks[i]);
    if (node->kind != SYM_prim_GetAttr && node->kind != SYM_prim_Guard) continue;
    Value *object = node_input(node, 0), *input = attribute_read_input(reads, object);
    if (!input && node->kind == SYM_prim_GetAttr && object->node == node->graph->block->param) input = object;
    if (input && (node->kind == SYM_prim_Guard || !may_change(writes, node)))
      reads->inputs[node_output(node, 0)->unique] = input;
  }
}

void attribute_reads_find(AttributeReads *reads, const Graph *graph, Arena *scratch) {
  AttributeWrites writes;
  reads->count = graph->next_unique;
  reads->inputs = ARENA_ARRAY(scratch, Value *, reads->count + 1);
  attribute_writes_init(&writes, scratch);
  attribute_writes_collect(&writes, graph);
  if (!writes.unknown) find_in(reads, &writes, graph->block);
}
