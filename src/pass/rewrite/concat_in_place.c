/* Regions whose results are joined along their channels and go nowhere else become one region with the join, whose
 * engine writes each result where the joined tensor has it (op/nn/conv_region.c). */
#include "call/call_plan.h"
#include "interp/region_read.h"
#include "ir/constant.h"
#include "ir/graph_log.h"
#include "ir/subgraph.h"
#include "pass/motion/with_aliases.h"
#include "pass/pass.h"
#include "pass/rewrite/chain.h"
#include "pass/rewrite/rewrite.h"

#define FILE_NAME "concat_in_place"

enum { CHANNELS = 1 };

/* A region of one unit, of an engine that can place its results; `cat` alone uses it. */
static bool is_maker(const Node *node, const Node *cat) {
  const Graph *subgraph = node->kind == SYM_wick_region ? node_subgraph(node) : NULL;
  const Anchor *found = NULL;
  if (!subgraph || node->output_count != 1 || chain_next(node) != cat) return false;
  BLOCK_EACH(inner, subgraph->block) {
    const Anchor *anchor = node_anchor(inner);
    if (anchor && (found || !(anchor->takes & ANCHOR_PLACES))) return false;
    if (anchor) found = anchor;
  }
  return found != NULL;
}

/* Of the operators of a maker. */
static uint32_t count_arguments(const Node *maker) {
  uint32_t count = 0;
  BLOCK_EACH(node, node_subgraph(maker)->block) count += node->kind == SYM_prim_Constant ? 0 : node->input_count;
  return count;
}

static bool can_be_joined(const Node *cat) {
  int64_t dim;
  uint32_t count = cat->input_count - 1, arguments = cat->input_count, inputs = 0;
  if (cat->input_count < 3 || count > REGION_MAX_UNITS || !constant_int(node_input(cat, count), &dim) ||
      dim != CHANNELS)
    return false;
  for (uint32_t i = 0; i < count; i++) {
    const Node *maker = node_input(cat, i)->node;
    if (!is_maker(maker, cat)) return false;
    arguments += count_arguments(maker);
    inputs += maker->input_count;
  }
  return arguments <= REGION_MAX_ARGUMENTS && inputs <= CALL_MAX_INPUTS;
}

/* The makers and what joins them. */
static void join(Graph *graph, AliasDb *db, Node *const *makers, uint32_t count) {
  Node *cat = makers[count], *region = graph_create(graph, SYM_wick_region, 0, NULL, 0);
  VEC(Node *) nodes = {0};
  node_copy_metadata(region, cat);
  node_insert_before(region, cat);
  for (uint32_t i = 0; i < count; i++) {
    Node *before = makers[i]->prev, *after = makers[i]->next;
    subgraph_unwrap(makers[i], db);
    for (Node *node = before->next; node != after; node = node->next) vec_arena_push(graph->arena, &nodes, node);
  }
  vec_arena_push(graph->arena, &nodes, cat);
  chains_replace(db, nodes.data, (int)nodes.length, region);
}

static void join_block(Graph *graph, AliasDb *db, Block *block) {
  BLOCK_EACH(node, block) {
    Node *nodes[REGION_MAX_UNITS + 1];
    for (uint32_t i = 0; i < node->block_count; i++) join_block(graph, db, node->blocks[i]);
    if (node->kind != SYM_prim_VarConcat || !can_be_joined(node)) continue;
    int count = (int)node->input_count;
    for (int i = 0; i + 1 < count; i++) nodes[i] = node_input(node, (uint32_t)i)->node;
    nodes[count - 1] = node;
    chain_gather(db, nodes, count);
    if (chain_together(nodes, count) < count) {
      node_refused(FILE_NAME, node, REASON_NOT_MOVED_ALIASING);
      continue;
    }
    if (!jit_opt_limit(FILE_NAME)) return;
    NODE_LOG_UPDATE(FILE_NAME, "is part of what makes its tensors:", node);
    join(graph, db, nodes, (uint32_t)count - 1);
  }
}

static void join_all(Graph *graph, AliasDb *db, void *ignored) {
  (void)ignored;
  join_block(graph, db, graph->block);
}

void concat_in_place(Graph *graph) {
  if (graph_has_kind(graph, SYM_prim_VarConcat)) with_aliases(graph, join_all, NULL);
  GRAPH_LOG_DUMP(FILE_NAME, "After ConcatInPlace: ", graph);
}

PASS(concat_in_place, RESULTS, concat_in_place(graph), "lets convolutions write where cat would copy to");
