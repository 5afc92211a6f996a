/* Attributes that the graph can't write are read once, at its start. What guards promise of parameters is then tested
 * before anything has run, and does not stand between the operators that fusers look for. */
#include "pass/motion/attribute_reads.h"

#include <assert.h>

#include "pass/pass.h"

#define FILE_NAME "hoist_attributes"

typedef struct Hoist {
  AttributeReads reads;
  Node *last; /* hoisted last; the block's Param at first */
} Hoist;

static bool is_hoisted(const Hoist *h, const Node *read) {
  return read->owning_block == h->last->owning_block && !node_is_before(h->last, read);
}

/* The hoisted read of the same attribute of the same object; NULL: none. */
static Node *same_read(const Hoist *h, const Node *node) {
  const Value *object = node_input(node, 0);
  for (size_t i = 0; i < object->uses.length; i++) {
    Node *user = object->uses.data[i].user;
    if (user != node && user->kind == SYM_prim_GetAttr && is_hoisted(h, user) &&
        str_equal(node_string(user, SYM_attr_name), node_string(node, SYM_attr_name)))
      return user;
  }
  return NULL;
}

static void hoist_read(Hoist *h, Node *node) {
  assert(node->kind == SYM_prim_GetAttr);
  Node *same = same_read(h, node);
  if (same) {
    value_replace_all_uses_with(node_output(node, 0), node_output(same, 0));
    node_destroy(node);
    return;
  }
  if (h->last->next != node) node_move_after(node, h->last);
  h->last = node;
}

static void hoist_block(Hoist *h, Block *block) {
  BLOCK_EACH(node, block) {
    for (uint32_t i = 0; i < node->block_count; i++) hoist_block(h, node->blocks[i]);
    if (node->kind == SYM_prim_GetAttr && attribute_read_input(&h->reads, node_output(node, 0))) hoist_read(h, node);
  }
}

static void hoist(Arena *scratch, void *argument) {
  Graph *graph = argument;
  Hoist h = {.last = graph->block->param};
  attribute_reads_find(&h.reads, graph, scratch);
  hoist_block(&h, graph->block);
}

void hoist_attributes(Graph *graph) {
  graph_require_stack(graph);
  graph_with_scratch(graph, hoist, graph);
}

PASS(hoist_attributes, GRADIENTS, hoist_attributes(graph), "reads attributes that nobody writes once, at the start");
