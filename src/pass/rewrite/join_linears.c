/* Linear layers of one input (queries, keys and values of attention, gates) become one node with a result for each
 * (op/nn/linears.c). Later layers move up to the first, so nothing that lies between may be in their way. Anything the
 * operator finds out of the ordinary at run time, gradients included, it declines, so nothing need be known of the
 * tensors here. */
#include "call/call_plan.h"
#include "ir/graph_log.h"
#include "pass/motion/with_aliases.h"
#include "pass/pass.h"
#include "pass/rewrite/chain.h"

#define FILE_NAME "join_linears"

enum {
  MAX_LAYERS = (CALL_MAX_INPUTS - 1) / 2,
  MAX_SPAN = 64 /* nodes between a layer and the next one of its input */
};

typedef struct Layers {
  Node *nodes[MAX_LAYERS]; /* in the order as written */
  uint32_t count;
} Layers;

static bool is_linear(const Node *node) {
  return node->kind == SYM_aten_linear && node->input_count == 3;
}

/* The next layer of the same input; NULL: none is near. */
static Node *find_next(const Node *first) {
  Node *node = first->next;
  for (int steps = 0; steps < MAX_SPAN && node != first->owning_block->ret; steps++, node = node->next)
    if (is_linear(node) && node_input(node, 0) == node_input(first, 0)) return node;
  return NULL;
}

/* Moves each next layer in front of those found before it, and what it needs in front of all of them, until one has to
 * stay. */
static void gather_layers(AliasDb *db, Node *first, Layers *layers) {
  Node *point = first, *next;
  *layers = (Layers){.nodes = {first}, .count = 1};
  while (layers->count < MAX_LAYERS && (next = find_next(first))) {
    if (!alias_move_before(db, next, point)) {
      node_refused(FILE_NAME, next, REASON_NOT_MOVED_ALIASING);
      return;
    }
    layers->nodes[layers->count++] = point = next;
  }
}

static Node *join_layers(Graph *graph, AliasDb *db, const Layers *layers) {
  Node *first = layers->nodes[0];
  Node *joined = graph_create(graph, SYM_wick_linears, 1, (Value *[]){node_input(first, 0)}, 0);
  node_copy_metadata(joined, first);
  for (uint32_t i = 0; i < layers->count; i++) {
    Node *layer = layers->nodes[i];
    node_add_input(joined, node_input(layer, 1));
    node_add_input(joined, node_input(layer, 2));
    Value *output = node_add_output(joined, node_output(layer, 0)->type);
    alias_replace_value(db, node_output(layer, 0), output);
  }
  keep_as_subgraph(joined, layers->nodes, (int)layers->count, (int)layers->count);
  for (uint32_t i = 0; i < layers->count; i++)
    value_replace_all_uses_with(node_output(layers->nodes[i], 0), node_output(joined, i));
  node_insert_before(joined, first);
  for (uint32_t i = 0; i < layers->count; i++) node_destroy(layers->nodes[i]);
  return joined;
}

static void join_block(Graph *graph, AliasDb *db, Block *block) {
  BLOCK_EACH(node, block) {
    Layers layers;
    for (uint32_t i = 0; i < node->block_count; i++) join_block(graph, db, node->blocks[i]);
    if (!is_linear(node)) continue;
    gather_layers(db, node, &layers);
    if (layers.count > 1) {
      if (!jit_opt_limit(FILE_NAME)) return;
      NODE_LOG_UPDATE(FILE_NAME, "with others of its input:", node);
      node = join_layers(graph, db, &layers);
    }
    node_next = node->next; /* the next one may have moved */
  }
}

static void join(Graph *graph, AliasDb *db, void *ignored) {
  (void)ignored;
  join_block(graph, db, graph->block);
}

void join_linears(Graph *graph) {
  if (graph_has_kind(graph, SYM_aten_linear)) with_aliases(graph, join, NULL);
  GRAPH_LOG_DUMP(FILE_NAME, "After JoinLinears: ", graph);
}

PASS(join_linears, GRADIENTS, join_linears(graph), "makes linear layers of one input one node");
