/* Attributes of nodes: a short array in order of setting. Setters replace; the graph holds what is counted. */
#include "ir/ir_internal.h"

const NodeAttribute *node_attribute(const Node *node, Symbol name) {
  for (uint32_t i = 0; i < node->attribute_count; i++)
    if (node->attributes[i].name == name) return &node->attributes[i];
  return NULL;
}

static NodeAttribute *slot(Node *node, Symbol name, AttributeTag tag) {
  NodeAttribute *a = (NodeAttribute *)node_attribute(node, name);
  if (!a) {
    NodeAttribute *grown = ARENA_ARRAY(node->graph->arena, NodeAttribute, node->attribute_count + 1);
    if (node->attribute_count) memcpy(grown, node->attributes, node->attribute_count * sizeof *grown);
    node->attributes = grown;
    a = &grown[node->attribute_count++];
  }
  *a = (NodeAttribute){.name = name, .tag = (uint8_t)tag};
  return a;
}

void node_set_int(Node *node, Symbol name, int64_t value) {
  slot(node, name, ATTR_INT)->i = value;
}

void node_set_float(Node *node, Symbol name, double value) {
  slot(node, name, ATTR_FLOAT)->f = value;
}

void node_set_complex(Node *node, Symbol name, complex128 value) {
  slot(node, name, ATTR_COMPLEX)->c = value;
}

void node_set_string(Node *node, Symbol name, Str value) {
  Str copy = {arena_strndup(node->graph->arena, value.data, value.length), value.length};
  slot(node, name, ATTR_STRING)->s = copy;
}

/* Takes it over, also when it throws. */
static void own_subgraph(Graph *graph, Graph *subgraph) {
  Status status = vec_arena_try_reserve(graph->arena, &graph->subgraphs, graph->subgraphs.length + 1);
  if (status) {
    graph_dispose(subgraph);
    catch_throw(graph->arena->catch_point, status);
  }
  graph->subgraphs.data[graph->subgraphs.length++] = subgraph;
}

void node_set_graph(Node *node, Symbol name, Graph *value) {
  if (value != node->graph) own_subgraph(node->graph, value);
  slot(node, name, ATTR_GRAPH)->g = value;
}

void node_set_type(Node *node, Symbol name, const Type *value) {
  slot(node, name, ATTR_TYPE)->ty = value;
}

void node_set_tensor(Node *node, Symbol name, Tensor *value) {
  NodeAttribute *a = slot(node, name, ATTR_TENSOR);
  vec_arena_reserve(node->graph->arena, &node->graph->held, node->graph->held.length + 1);
  graph_hold(node->graph, ivalue_tensor(tensor_retain(value)));
  a->t = value;
}

void node_set_ivalue(Node *node, Symbol name, IValue value) {
  NodeAttribute *a = slot(node, name, ATTR_IVALUE);
  vec_arena_reserve(node->graph->arena, &node->graph->held, node->graph->held.length + 1);
  graph_hold(node->graph, ivalue_retain(value));
  a->value = value;
}

static void *copy_items(Node *node, const void *items, size_t count, size_t bytes) {
  void *copy = arena_alloc_array(node->graph->arena, count ? count : 1, bytes);
  if (count) memcpy(copy, items, count * bytes);
  return copy;
}

void node_set_ints(Node *node, Symbol name, uint32_t count, const int64_t *values) {
  const int64_t *copy = copy_items(node, values, count, sizeof *values);
  NodeAttribute *a = slot(node, name, ATTR_INTS);
  a->count = count;
  a->ints = copy;
}

void node_set_floats(Node *node, Symbol name, uint32_t count, const double *values) {
  const double *copy = copy_items(node, values, count, sizeof *values);
  NodeAttribute *a = slot(node, name, ATTR_FLOATS);
  a->count = count;
  a->floats = copy;
}

void node_set_types(Node *node, Symbol name, uint32_t count, const Type *const *values) {
  const Type *const *copy = copy_items(node, values, count, sizeof *values);
  NodeAttribute *a = slot(node, name, ATTR_TYPES);
  a->count = count;
  a->types = copy;
}

void node_set_strings(Node *node, Symbol name, uint32_t count, const Str *values) {
  Str *copy = copy_items(node, values, count, sizeof *values);
  for (uint32_t i = 0; i < count; i++)
    copy[i].data = arena_strndup(node->graph->arena, values[i].data, values[i].length);
  NodeAttribute *a = slot(node, name, ATTR_STRINGS);
  a->count = count;
  a->strings = copy;
}

void node_remove_attribute(Node *node, Symbol name) {
  for (uint32_t i = 0; i < node->attribute_count; i++)
    if (node->attributes[i].name == name) {
      memmove(&node->attributes[i], &node->attributes[i + 1],
              (node->attribute_count - i - 1) * sizeof *node->attributes);
      node->attribute_count--;
      return;
    }
}

int64_t node_int(const Node *node, Symbol name) {
  const NodeAttribute *a = node_attribute(node, name);
  assert(a && a->tag == ATTR_INT);
  return a->i;
}

Str node_string(const Node *node, Symbol name) {
  const NodeAttribute *a = node_attribute(node, name);
  assert(a && a->tag == ATTR_STRING);
  return a->s;
}

static void copy_boxed(Node *to, const NodeAttribute *from) {
  if (from->boxed.tag == TAG_NONE) return;
  vec_arena_reserve(to->graph->arena, &to->graph->held, to->graph->held.length + 1);
  graph_hold(to->graph, ivalue_retain(from->boxed));
  ((NodeAttribute *)node_attribute(to, from->name))->boxed = from->boxed;
}

/* Room for all of them, under their names. */
static void copy_names(Node *to, const Node *from) {
  if (to->attribute_count || !from->attribute_count) return;
  to->attributes = ARENA_ARRAY(to->graph->arena, NodeAttribute, from->attribute_count);
  to->attribute_count = from->attribute_count;
  for (uint32_t i = 0; i < from->attribute_count; i++) to->attributes[i].name = from->attributes[i].name;
}

static Graph *copy_graph(const NodeCopier *copier, const Graph *graph, const Node *to) {
  Graph *around = to->graph;
  return copier->scratch ? graph_compact(graph, around->arena, around->store, copier->keeps_numbers)
                         : graph_copy(graph, around->arena, around->store);
}

void node_copy_attributes(Node *to, const Node *from) {
  node_copy_attributes_by(&(NodeCopier){0}, to, from);
}

void node_copy_attributes_by(const NodeCopier *copier, Node *to, const Node *from) {
  Graph *graph = to->graph;
  copy_names(to, from);
  for (uint32_t i = 0; i < from->attribute_count; i++) {
    const NodeAttribute *a = &from->attributes[i];
    switch ((AttributeTag)a->tag) {
      case ATTR_STRING:
        node_set_string(to, a->name, a->s);
        copy_boxed(to, a);
        break;
      case ATTR_TENSOR:
        node_set_tensor(to, a->name, a->t);
        break;
      case ATTR_IVALUE:
        node_set_ivalue(to, a->name, a->value);
        break;
      case ATTR_GRAPH:
        node_set_graph(to, a->name, copy_graph(copier, a->g, to));
        break;
      case ATTR_INTS:
        node_set_ints(to, a->name, a->count, a->ints);
        break;
      case ATTR_FLOATS:
        node_set_floats(to, a->name, a->count, a->floats);
        break;
      case ATTR_TYPE:
        node_set_type(to, a->name, type_copy(graph->store, a->ty));
        break;
      case ATTR_TYPES: {
        const Type **items = ARENA_ARRAY(graph->arena, const Type *, a->count + 1);
        for (uint32_t k = 0; k < a->count; k++) items[k] = type_copy(graph->store, a->types[k]);
        node_set_types(to, a->name, a->count, items);
        break;
      }
      case ATTR_STRINGS:
        node_set_strings(to, a->name, a->count, a->strings);
        break;
      case ATTR_INT:
      case ATTR_FLOAT:
      case ATTR_COMPLEX: {
        NodeAttribute copy = *a;
        copy.boxed = IVALUE_NONE;
        *slot(to, a->name, a->tag) = copy;
        copy_boxed(to, a);
        break;
      }
      case ATTR_COMPLEXES: {
        const complex128 *items = copy_items(to, a->complexes, a->count, sizeof *items);
        NodeAttribute *new = slot(to, a->name, a->tag);
        new->count = a->count;
        new->complexes = items;
        break;
      }
      case ATTR_TENSORS: {
        Tensor *const *items = copy_items(to, a->tensors, a->count, sizeof *items);
        for (uint32_t k = 0; k < a->count; k++) {
          vec_arena_reserve(graph->arena, &graph->held, graph->held.length + 1);
          graph_hold(graph, ivalue_tensor(tensor_retain(items[k])));
        }
        NodeAttribute *new = slot(to, a->name, a->tag);
        new->count = a->count;
        new->tensors = items;
        break;
      }
      case ATTR_GRAPHS: {
        Graph **items = copy_items(to, a->graphs, a->count, sizeof *items);
        for (uint32_t k = 0; k < a->count; k++) {
          items[k] = copy_graph(copier, a->graphs[k], to);
          own_subgraph(graph, items[k]);
        }
        NodeAttribute *new = slot(to, a->name, a->tag);
        new->count = a->count;
        new->graphs = items;
        break;
      }
    }
  }
}

void node_set_callable(Node *node, Callable *callable) {
  Graph *graph = node->graph;
  vec_arena_reserve(graph->arena, &graph->callables, graph->callables.length + 1);
  ref_retain(&callable->refs);
  graph->callables.data[graph->callables.length++] = callable;
  node->callable = callable;
}
