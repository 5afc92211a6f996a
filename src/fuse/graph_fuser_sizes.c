/* The graph fuser and sizes: of outputs of which only the size is used, the size is computed from those of the group's
 * inputs. */
#include "fuse/graph_fuser.h"

bool fuser_is_size_of(const Node *node) {
  return node->kind == SYM_aten_size && node->input_count == 1;
}

Value *fuser_broadcast_sizes_of(GraphFuser *f, uint32_t count, Value *const *sizes) {
  if (count == 1) return sizes[0];
  Node *node = graph_insert_node(f->graph, graph_create(f->graph, SYM_prim_BroadcastSizes, count, sizes, 1));
  node_output(node, 0)->type = type_list_of(TYPE_INT);
  alias_add_node(f->alias, node);
  return node_output(node, 0);
}

Value *fuser_insert_size(GraphFuser *f, Value *value) {
  Node *node = graph_insert_node(f->graph, graph_create(f->graph, SYM_aten_size, 1, &value, 1));
  node_output(node, 0)->type = type_list_of(TYPE_INT);
  alias_add_node(f->alias, node);
  return node_output(node, 0);
}

void fuser_replace_size_uses(GraphFuser *f, Value *value, Value *size) {
  while (value->uses.length) {
    Node *user = value->uses.data[0].user;
    alias_replace_value(f->alias, node_output(user, 0), size);
    value_replace_all_uses_with(node_output(user, 0), size);
    node_destroy(user);
  }
}

static bool used_only_in_size(const Value *value) {
  for (size_t i = 0; i < value->uses.length; i++)
    if (!fuser_is_size_of(value->uses.data[i].user)) return false;
  return true;
}

/* Maps the Subgraph's values to the sizes they have, computed after the group. */
static void build_sizes(GraphFuser *f, Node *group, PtrMap *sizes) {
  Graph *graph = f->graph, *subgraph = subgraph_of(group);
  graph_set_insert_point(graph, group->next);
  ptrmap_init(sizes, f->scratch);
  for (uint32_t i = 0; i < group->input_count; i++)
    if (value_is_tensor(node_input(group, i)))
      ptrmap_put(sizes, graph_input(subgraph, i), fuser_insert_size(f, node_input(group, i)));
  for (uint32_t i = 0; i < group->output_count; i++)
    if (!used_only_in_size(node_output(group, i)))
      ptrmap_put(sizes, graph_output(subgraph, i), fuser_insert_size(f, node_output(group, i)));
  BLOCK_EACH(node, subgraph->block) {
    if (node->kind == SYM_prim_FusedConcat || node->kind == SYM_prim_Constant) continue;
    if (node->kind == SYM_prim_ConstantChunk) {
      Value *whole = ptrmap_get(sizes, node_input(node, 0));
      Node *cut = graph_insert_node(graph, graph_create(graph, SYM_prim_ChunkSizes, 1, &whole, 2));
      node_set_int(cut, SYM_attr_dim, node_int(node, SYM_attr_dim));
      node_set_int(cut, SYM_attr_chunks, node_int(node, SYM_attr_chunks));
      for (uint32_t i = 0; i < 2; i++) node_output(cut, i)->type = type_list_of(TYPE_INT);
      alias_add_node(f->alias, cut);
      for (uint32_t i = 0; i < node->output_count; i++)
        if (!ptrmap_get(sizes, node_output(node, i)))
          ptrmap_put(sizes, node_output(node, i), node_output(cut, i == node->output_count - 1));
      continue;
    }
    Value **operands = ARENA_ARRAY(f->scratch, Value *, node->input_count);
    uint32_t count = 0;
    bool known = !fuse_is_write(node) && !fuse_is_line(node); /* they have to fail where sizes don't fit */
    for (uint32_t i = 0; i < node->input_count; i++) {
      if (!value_is_tensor(node_input(node, i))) continue;
      operands[count] = ptrmap_get(sizes, node_input(node, i));
      known &= operands[count++] != NULL;
    }
    if (known && !ptrmap_get(sizes, node_output(node, 0)))
      ptrmap_put(sizes, node_output(node, 0), fuser_broadcast_sizes_of(f, count, operands));
  }
}

void fuser_remove_outputs_used_in_size(GraphFuser *f, Node *group) {
  bool any = false;
  for (uint32_t i = 0; i < group->output_count; i++) any |= used_only_in_size(node_output(group, i));
  if (!any) return;
  PtrMap sizes;
  Graph *subgraph = subgraph_of(group);
  build_sizes(f, group, &sizes);
  for (uint32_t i = group->output_count; i-- > 0;) {
    Value *output = node_output(group, i), *size = ptrmap_get(&sizes, graph_output(subgraph, i));
    if (!size || !used_only_in_size(output) || group->output_count == 1) continue;
    fuser_replace_size_uses(f, output, size);
    node_erase_output(group, i);
    block_erase_output(subgraph->block, i);
  }
}

/* prim::BroadcastSizes of equal sizes, of one, or of another that nobody else uses. */
void fuser_simplify_sizes(Block *block) {
  for (Node *node = block->param->next, *next; node != block->ret; node = next) {
    next = node->next;
    for (uint32_t i = 0; i < node->block_count; i++) fuser_simplify_sizes(node->blocks[i]);
    if (node->kind != SYM_prim_BroadcastSizes) continue;
    for (uint32_t i = 0; i < node->input_count; i++)
      for (uint32_t k = node->input_count; k-- > i + 1;)
        if (node_input(node, k) == node_input(node, i)) node_remove_input(node, k);
    Value *output = node_output(node, 0);
    if (node->input_count == 1) {
      value_replace_all_uses_with(output, node_input(node, 0));
      node_destroy(node);
    } else if (output->uses.length == 1 && output->uses.data[0].user->kind == SYM_prim_BroadcastSizes) {
      Node *user = output->uses.data[0].user;
      node_remove_input(user, output->uses.data[0].offset);
      for (uint32_t i = 0; i < node->input_count; i++) node_add_input(user, node_input(node, i));
      node_destroy(node);
    }
  }
}
