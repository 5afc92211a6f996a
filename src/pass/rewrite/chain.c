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

/* Zero of the value's type: what stands for it does not matter. */
static Value *insert_any(Graph *into, const Value *like) {
  switch (like->type->kind) {
    case TYPE_FLOAT:
      return graph_insert_constant(into, ivalue_float(0), NULL);
    case TYPE_INT:
      return graph_insert_constant(into, ivalue_int(0), NULL);
    case TYPE_BOOL:
      return graph_insert_constant(into, ivalue_bool(false), NULL);
    default:
      return graph_insert_constant(into, IVALUE_NONE, NULL);
  }
}

void region_add_input(Node *region, Value *value) {
  if (value_is_constant(value, NULL) && value->type->kind != TYPE_TENSOR) return;
  for (uint32_t i = 0; i < region->input_count; i++)
    if (node_input(region, i) == value) return;
  node_add_input(region, value);
}

void keep_as_subgraph(Node *fused, Node *const *nodes, int count, int results) {
  Graph *outer = nodes[0]->graph, *subgraph = graph_new(outer->arena, outer->store);
  PtrMap inside;
  node_set_graph(fused, SYM_attr_Subgraph, subgraph);
  ptrmap_init(&inside, outer->arena);
  for (uint32_t i = 0; i < fused->input_count; i++) {
    Value *inner = graph_add_input(subgraph, STR(""), node_input(fused, i)->type);
    if (!ptrmap_has(&inside, node_input(fused, i))) ptrmap_put(&inside, node_input(fused, i), inner);
  }
  for (int n = 0; n < count; n++) {
    for (uint32_t i = 0; i < nodes[n]->input_count; i++) {
      Value *input = node_input(nodes[n], i), *inner;
      IValue constant;
      if (ptrmap_has(&inside, input)) continue;
      inner = value_is_constant(input, &constant) ? graph_insert_constant(subgraph, constant, input->type)
                                                  : insert_any(subgraph, input);
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
