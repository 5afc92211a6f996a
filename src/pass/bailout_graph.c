/* Bailouts: what a graph needs to go on elsewhere when a guard fails. Needs guards outside of `with` statements and of
 * subgraphs. Afterwards a BailOut's inputs are all that the rest of the graph needs: whoever has them can go on behind
 * the node in the baseline, which is this graph without its promises. */
#include "pass/liveness.h"

typedef struct Bailout {
  Node *guard;
  uint32_t count;
  Value **live;
} Bailout;

typedef struct Inserter {
  Arena *arena;
  VEC(Bailout) bailouts;
} Inserter;

static bool is_guard(const Node *node) {
  return node->kind == SYM_prim_Guard;
}

static void record(void *argument, Node *guard, uint32_t count, Value *const *live) {
  Inserter *inserter = argument;
  Bailout bailout = {guard, 0, ARENA_ARRAY(inserter->arena, Value *, count + 1)};
  for (uint32_t i = 0; i < count; i++)
    if (live[i] != node_input(guard, 0)) bailout.live[bailout.count++] = live[i];
  vec_arena_push(inserter->arena, &inserter->bailouts, bailout);
}

void insert_bailouts(Graph *graph) {
  Inserter inserter = {.arena = graph->arena};
  liveness_visit(graph, graph->arena, is_guard, record, &inserter);
  int64_t index = 0;
  for (size_t i = inserter.bailouts.length; i-- > 0; index++) { /* the first guard has index 0 */
    const Bailout *bailout = &inserter.bailouts.data[i];
    Node *node = bailout->guard;
    node->kind = SYM_prim_BailOut;
    node->op = NULL;
    node_set_int(node, SYM_attr_index, index);
    for (uint32_t k = 0; k < bailout->count; k++) node_add_input(node, bailout->live[k]);
  }
}

static void make_markers(Block *block) {
  BLOCK_EACH(node, block) {
    for (uint32_t i = 0; i < node->block_count; i++) make_markers(node->blocks[i]);
    if (node->kind != SYM_prim_BailOut || !node->output_count) continue;
    value_replace_all_uses_with(node_output(node, 0), node_input(node, 0));
    node_erase_output(node, 0);
  }
}

Graph *bailout_baseline(const Graph *graph, Arena *arena, TypeStore *store) {
  Graph *baseline = graph_copy(graph, arena, store);
  make_markers(baseline->block);
  erase_shape_information(baseline);
  return baseline;
}
