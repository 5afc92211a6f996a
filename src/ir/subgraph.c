/* Putting nodes into groups and taking them out again. */
#include "ir/subgraph.h"

#include "call/operator.h"

Graph *node_subgraph(const Node *group) {
  const NodeAttribute *attribute = node_attribute(group, SYM_attr_Subgraph);
  return attribute && attribute->tag == ATTR_GRAPH ? attribute->g : NULL;
}

Graph *node_acting_subgraph(const Node *node) {
  Graph *graph = node_subgraph(node);
  const Operator *op = graph ? node_operator(node) : NULL;
  return op && operator_is_of_plans(op) ? NULL : graph;
}

void subgraph_erase_input(Node *group, uint32_t index) {
  block_erase_input(node_subgraph(group)->block, index);
  node_remove_input(group, index);
}

void subgraph_erase_output(Node *group, uint32_t index) {
  block_erase_output(node_subgraph(group)->block, index);
  node_erase_output(group, index);
}

static void copy_metadata(Value *to, const Value *from) {
  to->type = from->type;
  if (from->name.length) value_set_name(to, from->name);
}

static bool same_bits(IValue a, IValue b) {
  if (a.tag != b.tag) return false;
  if (a.tag == TAG_NONE) return true;
  if (a.tag == TAG_BOOL) return a.b == b.b;
  return a.i == b.i; /* for counted things: the same one */
}

/* The constant inside, moved to the front, where what is about to be put there can use it. */
static Value *import_constant(Graph *subgraph, Value *outer, IValue value) {
  Node *front = subgraph->block->param->next;
  BLOCK_EACH(node, subgraph->block) {
    IValue other;
    if (node->kind != SYM_prim_Constant || node_output(node, 0)->type != outer->type) continue;
    if (!value_is_constant(node_output(node, 0), &other) || !same_bits(value, other)) continue;
    if (node != front) node_move_before(node, front);
    return node_output(node, 0);
  }
  Node *copy = node_copy(outer->node, subgraph, NULL, NULL);
  node_insert_before(copy, front);
  return node_output(copy, 0);
}

static Value *map_lookup(Value *value, void *argument) {
  return ptrmap_get(argument, value);
}

static void take_in(Node *group, const Node *node, PtrMap *inside) {
  Graph *subgraph = node_subgraph(group);
  ptrmap_init(inside, subgraph->arena);
  for (uint32_t i = 0; i < node->input_count; i++) {
    Value *input = node_input(node, i), *inner = NULL;
    IValue value;
    if (ptrmap_has(inside, input)) continue;
    for (uint32_t k = 0; k < group->input_count && !inner; k++)
      if (node_input(group, k) == input) inner = graph_input(subgraph, k);
    if (inner) {
      ptrmap_put(inside, input, inner);
      continue;
    }
    if (value_is_constant(input, &value)) {
      inner = import_constant(subgraph, input, value);
    } else {
      node_add_input(group, input);
      inner = graph_add_input(subgraph, STR(""), input->type);
      copy_metadata(inner, input);
    }
    ptrmap_put(inside, input, inner);
  }
}

static void merge_one(Node *group, Node *node, AliasDb *db) {
  Graph *subgraph = node_subgraph(group);
  PtrMap inside;
  take_in(group, node, &inside);
  Node *front = subgraph->block->param->next;
  while (front->kind == SYM_prim_Constant) { /* after the constants it reads */
    bool read = false;
    for (uint32_t i = 0; i < node->input_count; i++) {
      Value *inner = ptrmap_get(&inside, node_input(node, i));
      if (inner && inner->node == front) read = true;
    }
    if (!read) break;
    front = front->next;
  }
  Node *copy = node_copy(node, subgraph, map_lookup, &inside);
  node_insert_before(copy, front);
  for (uint32_t i = 0; i < node->output_count; i++) {
    Value *outer = node_output(node, i), *inner = node_output(copy, i);
    for (uint32_t k = 0; k < group->input_count; k++) {
      if (node_input(group, k) != outer) continue;
      value_replace_all_uses_with(graph_input(subgraph, k), inner);
      subgraph_erase_input(group, k);
      break;
    }
    if (!value_has_uses(outer)) continue;
    graph_register_output(subgraph, inner);
    Value *output = node_add_output(group, outer->type);
    if (db) alias_replace_value(db, outer, output);
    value_replace_all_uses_with(outer, output);
    copy_metadata(output, outer);
  }
  node_destroy(node);
}

void subgraph_merge(Node *group, Node *node, AliasDb *db) {
  if (!node_subgraph(node) || node->kind != group->kind) {
    merge_one(group, node, db);
    return;
  }
  Node *before = node->prev; /* another group: its nodes, one by one, the last first */
  subgraph_unwrap(node, db);
  while (group->prev != before) {
    Node *last = group->prev;
    if (last->kind == SYM_prim_Constant && !value_has_uses(node_output(last, 0)))
      node_destroy(last);
    else if (last->kind == SYM_prim_Constant)
      node_move_after(last, before), before = last;
    else
      merge_one(group, last, db);
  }
}

Node *subgraph_wrap(Node *node, Symbol kind, AliasDb *db) {
  Graph *graph = node->graph;
  Node *group = graph_create(graph, kind, 0, NULL, 0);
  group->range = node->range;
  node_set_graph(group, SYM_attr_Subgraph, graph_new(graph->arena, graph->store));
  node_insert_after(group, node);
  merge_one(group, node, db);
  return group;
}

void subgraph_unwrap(Node *group, AliasDb *db) {
  Graph *graph = group->graph, *subgraph = node_subgraph(group);
  uint32_t count = graph_output_count(subgraph);
  Value **inputs = ARENA_ARRAY(graph->arena, Value *, group->input_count + 1);
  Value **outputs = ARENA_ARRAY(graph->arena, Value *, count + 1);
  for (uint32_t i = 0; i < group->input_count; i++) inputs[i] = node_input(group, i);
  Node *old = graph->insert_before;
  graph_set_insert_point(graph, group);
  graph_inline(graph, subgraph, inputs, outputs);
  graph->insert_before = old == group ? group->next : old;
  for (uint32_t i = 0; i < group->output_count; i++) {
    Value *value = node_output(group, i);
    Str name = value->name;
    if (db) alias_replace_value(db, value, outputs[i]);
    value_replace_all_uses_with(value, outputs[i]);
    if (name.length && outputs[i]->node->kind != SYM_prim_Param) value_set_name(outputs[i], name);
  }
  node_destroy(group);
}

void subgraph_unmerge_output(Node *group, uint32_t index) {
  Graph *graph = group->graph, *subgraph = node_subgraph(group);
  Value *inner = graph_output(subgraph, index);
  Node *node = inner->node;
  PtrMap outside;
  ptrmap_init(&outside, graph->arena);
  Node *last = group;
  for (uint32_t i = 0; i < group->input_count; i++)
    ptrmap_put(&outside, graph_input(subgraph, i), node_input(group, i));
  if (node->kind == SYM_prim_Param) {
    value_replace_all_uses_with(node_output(group, index), ptrmap_get(&outside, inner));
    subgraph_erase_output(group, index);
    return;
  }
  for (uint32_t i = 0; i < group->output_count; i++)
    if (i != index && !ptrmap_has(&outside, graph_output(subgraph, i)))
      ptrmap_put(&outside, graph_output(subgraph, i), node_output(group, i));
  for (uint32_t i = 0; i < node->input_count; i++) {
    Value *input = node_input(node, i), *outer;
    IValue value;
    if (ptrmap_has(&outside, input)) continue;
    if (value_is_constant(input, &value)) {
      Node *copy = node_copy(input->node, graph, NULL, NULL);
      node_insert_after(copy, last);
      last = copy;
      outer = node_output(copy, 0);
    } else {
      graph_register_output(subgraph, input);
      outer = node_add_output(group, input->type);
      copy_metadata(outer, input);
    }
    ptrmap_put(&outside, input, outer);
  }
  Node *copy = node_copy(node, graph, map_lookup, &outside);
  node_insert_after(copy, last);
  value_replace_all_uses_with(node_output(group, index), node_output(copy, inner->offset));
  subgraph_erase_output(group, index);
  for (uint32_t i = 0; i < node->output_count; i++)
    if (value_has_uses(node_output(node, i))) return;
  node_destroy(node);
}
