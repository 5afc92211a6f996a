/* The graph fuser moves nodes into groups. */
#include "fuse/graph_fuser.h"

typedef struct InputMap {
  Node *group;
  Graph *subgraph;
} InputMap;

static Value *map_input(Value *value, void *argument) {
  InputMap *map = argument;
  for (uint32_t i = 0; i < map->group->input_count; i++)
    if (node_input(map->group, i) == value) return graph_input(map->subgraph, i);
  return NULL;
}

static Value *insert_input(Node *group, Graph *subgraph, Value *value) {
  uint32_t at = 0; /* tensors stand before numbers */
  for (uint32_t i = 0; i < group->input_count; i++)
    if (value_is_tensor(node_input(group, i))) at = i + 1;
  if (!value_is_tensor(value)) at = group->input_count;
  Value *inner = block_insert_input(subgraph->block, at, STR(""), value->type);
  node_insert_input(group, at, value);
  return inner;
}

static Value *no_outer(Value *value, void *argument) {
  (void)value, (void)argument;
  return NULL;
}

typedef struct NodeMap {
  InputMap inputs;
  Value *const *outer, *const *inner; /* constants that were copied */
  uint32_t count;
} NodeMap;
static Value *map_operand(Value *value, void *argument) {
  NodeMap *map = argument;
  for (uint32_t i = 0; i < map->count; i++)
    if (map->outer[i] == value) return map->inner[i];
  return map_input(value, &map->inputs);
}

Node *fuser_merge_node(GraphFuser *f, Node *group, Node *node) {
  Graph *subgraph = subgraph_of(group);
  InputMap inputs = {group, subgraph};
  Value **outer = ARENA_ARRAY(f->scratch, Value *, node->input_count + 1);
  Value **inner = ARENA_ARRAY(f->scratch, Value *, node->input_count + 1);
  uint32_t constants = 0;
  graph_set_insert_point(subgraph, subgraph->block->param->next);
  for (uint32_t i = 0; i < node->input_count; i++) {
    Value *value = node_input(node, i);
    NodeMap known = {inputs, outer, inner, constants};
    if (map_operand(value, &known)) continue;
    if (value->node->kind == SYM_prim_Constant && !value_is_tensor(value)) { /* kernels load tensors from outside */
      outer[constants] = value;
      inner[constants++] =
          node_output(graph_insert_node(subgraph, node_copy(value->node, subgraph, no_outer, NULL)), 0);
    } else {
      insert_input(group, subgraph, value);
    }
  }
  NodeMap map = {inputs, outer, inner, constants};
  Node *copy = graph_insert_node(subgraph, node_copy(node, subgraph, map_operand, &map));
  for (uint32_t i = 0; i < node->output_count; i++) {
    for (uint32_t k = 0; k < group->input_count; k++) {
      if (node_input(group, k) != node_output(node, i)) continue;
      value_replace_all_uses_with(graph_input(subgraph, k), node_output(copy, i));
      node_remove_input(group, k);
      block_erase_input(subgraph->block, k);
      break;
    }
  }
  return copy;
}

Value *fuser_add_group_output(GraphFuser *f, Node *group, Value *inner, Value *was) {
  graph_register_output(subgraph_of(group), inner);
  Value *output = node_add_output(group, was->type);
  copy_metadata(output, was);
  alias_replace_value(f->alias, was, output);
  value_replace_all_uses_with(was, output);
  return output;
}

Node *fuser_singleton_group(GraphFuser *f, Node *node) {
  Graph *graph = f->graph;
  Node *group = graph_create(graph, SYM_prim_FusionGroup, 0, NULL, 0);
  Graph *subgraph = graph_new(graph->arena, graph->store);
  group->range = node->range;
  subgraph->range = node->range;
  node_set_graph(group, SYM_attr_Subgraph, subgraph);
  node_insert_before(group, node);
  Node *merged = fuser_merge_node(f, group, node);
  graph_register_output(subgraph, node_output(merged, 0));
  Value *output = node_add_output(group, node_output(node, 0)->type);
  copy_metadata(output, node_output(node, 0));
  alias_add_node(f->alias, group);
  alias_replace_value(f->alias, node_output(node, 0), output);
  value_replace_all_uses_with(node_output(node, 0), output);
  node_destroy(node);
  return group;
}

typedef struct OuterMap {
  PtrMap values;
} OuterMap;
static Value *map_outer(Value *value, void *argument) {
  return ptrmap_get(&((OuterMap *)argument)->values, value);
}

void fuser_merge_groups(GraphFuser *f, Node *consumer, Node *producer) {
  Graph *inner = subgraph_of(producer);
  VEC(Node *) nodes = {0};
  OuterMap map;
  ptrmap_init(&map.values, f->scratch);
  for (uint32_t i = 0; i < producer->input_count; i++)
    ptrmap_put(&map.values, graph_input(inner, i), node_input(producer, i));
  BLOCK_EACH(node, inner->block) {
    Node *copy = node_copy(node, f->graph, map_outer, &map);
    node_insert_before(copy, producer);
    vec_arena_push(f->scratch, &nodes, copy);
    for (uint32_t i = 0; i < node->output_count; i++)
      ptrmap_put(&map.values, node_output(node, i), node_output(copy, i));
  }
  for (uint32_t i = 0; i < producer->output_count; i++) {
    Value *output = map_outer(graph_output(inner, i), &map);
    alias_replace_value(f->alias, node_output(producer, i), output);
    value_replace_all_uses_with(node_output(producer, i), output);
  }
  node_destroy(producer);
  for (size_t i = nodes.length; i-- > 0;) {
    Node *node = nodes.data[i];
    if (node->kind == SYM_prim_Constant) {
      if (!value_has_uses(node_output(node, 0))) node_destroy(node);
      continue;
    }
    Node *merged = fuser_merge_node(f, consumer, node);
    for (uint32_t k = 0; k < node->output_count; k++)
      if (value_has_uses(node_output(node, k)))
        fuser_add_group_output(f, consumer, node_output(merged, k), node_output(node, k));
    node_destroy(node);
  }
}
