#include "pass/rewrite/chain.h"

#include "ir/subgraph.h"

Node *chain_next(const Node *node) {
  assert(node->output_count == 1);
  const Value *out = node_output(node, 0);
  if (out->uses.length != 1) return NULL;
  Node *user = out->uses.data[0].user;
  return user->owning_block == node->owning_block ? user : NULL;
}

void chain_gather(AliasDb *db, Node *const *nodes, int count) {
  for (int i = count - 2; i >= 0; i--) alias_move_before(db, nodes[i], nodes[i + 1]);
}

int chain_together(Node *const *nodes, int count) {
  int together = 1;
  while (together < count && nodes[together - 1]->next == nodes[together]) together++;
  return together;
}

static Value *map_lookup(Value *value, void *argument) {
  return ptrmap_get(argument, value);
}

/* A copy of the node in the region's Subgraph; an input of both for what it takes of others, but for constants that are
 * no tensors. */
static Node *keep(Node *region, Node *node, PtrMap *inside) {
  Graph *subgraph = node_subgraph(region);
  for (uint32_t i = 0; i < node->input_count; i++) {
    Value *input = node_input(node, i), *inner;
    IValue constant;
    if (ptrmap_has(inside, input)) continue;
    if (value_is_constant(input, &constant) && input->type->kind != TYPE_TENSOR) {
      inner = graph_insert_constant(subgraph, constant, input->type);
    } else {
      node_add_input(region, input);
      inner = graph_add_input(subgraph, STR(""), input->type);
    }
    ptrmap_put(inside, input, inner);
  }
  Node *copy = node_copy(node, subgraph, map_lookup, inside);
  graph_insert_node(subgraph, copy);
  ptrmap_put(inside, node_output(node, 0), node_output(copy, 0));
  return copy;
}

static bool is_used_by(const Value *value, Node *const *nodes, int count) {
  for (size_t i = 0; i < value->uses.length; i++)
    for (int n = 0; n < count; n++)
      if (value->uses.data[i].user == nodes[n]) return true;
  return false;
}

void chains_replace(AliasDb *db, Node *const *nodes, int count, Node *region) {
  Graph *outer = region->graph;
  PtrMap inside;
  node_set_graph(region, SYM_attr_Subgraph, graph_new(outer->arena, outer->store));
  ptrmap_init(&inside, outer->arena);
  for (int n = 0; n < count; n++) {
    Node *copy = keep(region, nodes[n], &inside);
    Value *from = node_output(nodes[n], 0);
    if (is_used_by(from, nodes + n + 1, count - n - 1)) continue;
    Value *to = node_add_output(region, from->type);
    graph_register_output(node_subgraph(region), node_output(copy, 0));
    alias_replace_value(db, from, to);
    value_replace_all_uses_with(from, to);
  }
  while (count--) node_destroy(nodes[count]);
}
