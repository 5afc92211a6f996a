#include "pass/rewrite/chain.h"

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

void keep_as_subgraph(Node *region, Node *const *nodes, int count, int results) {
  Graph *outer = nodes[0]->graph, *subgraph = graph_new(outer->arena, outer->store);
  PtrMap inside;
  node_set_graph(region, SYM_attr_Subgraph, subgraph);
  ptrmap_init(&inside, outer->arena);
  for (int n = 0; n < count; n++) {
    for (uint32_t i = 0; i < nodes[n]->input_count; i++) {
      Value *input = node_input(nodes[n], i), *inner;
      IValue constant;
      if (ptrmap_has(&inside, input)) continue;
      if (value_is_constant(input, &constant) && input->type->kind != TYPE_TENSOR) {
        inner = graph_insert_constant(subgraph, constant, input->type);
      } else {
        node_add_input(region, input);
        inner = graph_add_input(subgraph, STR(""), input->type);
      }
      ptrmap_put(&inside, input, inner);
    }
    Node *copy = node_copy(nodes[n], subgraph, map_lookup, &inside);
    graph_insert_node(subgraph, copy);
    for (uint32_t i = 0; i < copy->output_count; i++)
      ptrmap_put(&inside, node_output(nodes[n], i), node_output(copy, i));
    if (n >= count - results) graph_register_output(subgraph, node_output(copy, 0));
  }
}

void chain_replace(Graph *graph, AliasDb *db, Node *const *nodes, int count, Node *fused) {
  Value *from = node_output(nodes[count - 1], 0), *to = node_output(fused, 0);
  keep_as_subgraph(fused, nodes, count, 1);
  to->type = from->type;
  graph_insert_node(graph, fused);
  alias_replace_value(db, from, to);
  value_replace_all_uses_with(from, to);
  while (count--) node_destroy(nodes[count]);
}
