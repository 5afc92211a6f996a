/* Attributes that the graph can't write are read once, at its start: chains of prim::GetAttr from the graph's inputs.
 * What guards promise of parameters is then tested before anything has run, and does not stand between the operators
 * that fusers look for. */
#include "executor/attribute_writes.h"
#include "executor/phases.h"

typedef struct Hoist {
  AttributeWrites writes;
  PtrMap objects; /* Value that is there at the start: an input of the graph, or a hoisted read */
  Node *last;     /* hoisted last; the block's Param at first */
} Hoist;

/* The hoisted read of the same attribute of the same object; NULL: none. */
static Node *same_read(const Hoist *h, const Node *node) {
  const Value *object = node_input(node, 0);
  for (size_t i = 0; i < object->uses.length; i++) {
    Node *user = object->uses.data[i].user;
    if (user != node && user->kind == SYM_prim_GetAttr && ptrmap_get(&h->objects, node_output(user, 0)) &&
        str_equal(node_string(user, SYM_attr_name), node_string(node, SYM_attr_name)))
      return user;
  }
  return NULL;
}

static void hoist_read(Hoist *h, Node *node) {
  const ClassType *class_type;
  uint32_t slot;
  if (!ptrmap_get(&h->objects, node_input(node, 0))) return;
  const ClassAttribute *attribute = attribute_of_node(node, &class_type, &slot);
  if (!attribute || attribute_is_written(&h->writes, attribute)) return;
  Node *same = same_read(h, node);
  if (same) {
    value_replace_all_uses_with(node_output(node, 0), node_output(same, 0));
    node_destroy(node);
    return;
  }
  if (h->last->next != node) node_move_after(node, h->last);
  h->last = node;
  ptrmap_put(&h->objects, node_output(node, 0), node);
}

static void hoist_block(Hoist *h, Block *block) {
  BLOCK_EACH(node, block) {
    for (uint32_t i = 0; i < node->block_count; i++) hoist_block(h, node->blocks[i]);
    if (node->kind == SYM_prim_GetAttr) hoist_read(h, node);
  }
}

static void hoist(Arena *scratch, void *argument) {
  Graph *graph = argument;
  Hoist h = {.last = graph->block->param};
  ptrmap_init(&h.objects, scratch);
  attribute_writes_init(&h.writes, scratch);
  attribute_writes_collect(&h.writes, graph);
  if (h.writes.unknown) return;
  for (uint32_t i = 0; i < graph_input_count(graph); i++)
    if (graph_input(graph, i)->type->kind == TYPE_CLASS) ptrmap_put(&h.objects, graph_input(graph, i), graph);
  hoist_block(&h, graph->block);
}

void hoist_attributes(Graph *graph) {
  graph_require_stack(graph);
  arena_with_scratch(graph->arena, hoist, graph);
}
