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

static Value *map_lookup(Value *value, void *argument) {
  return ptrmap_get(argument, value);
}

/* An input of the region for each of the maker's. */
static void add_inputs(Node *region, const Node *maker, PtrMap *inside) {
  Graph *into = node_subgraph(region), *from = node_subgraph(maker);
  for (uint32_t i = 0; i < maker->input_count; i++) {
    Value *input = node_input(maker, i);
    uint32_t at = 0;
    while (at < region->input_count && node_input(region, at) != input) at++;
    if (at == region->input_count) {
      node_add_input(region, input);
      graph_add_input(into, STR(""), input->type);
    }
    ptrmap_put(inside, graph_input(from, i), graph_input(into, at));
  }
}

/* A copy of the maker's Subgraph at the end of the region's; what it gives. */
static Value *add_maker(Node *region, const Node *maker) {
  Graph *into = node_subgraph(region), *from = node_subgraph(maker);
  PtrMap inside;
  ptrmap_init(&inside, into->arena);
  add_inputs(region, maker, &inside);
  BLOCK_EACH(node, from->block) {
    Node *copy = node_copy(node, into, map_lookup, &inside);
    graph_insert_node(into, copy);
    ptrmap_put(&inside, node_output(node, 0), node_output(copy, 0));
  }
  return ptrmap_get(&inside, graph_output(from, 0));
}

/* The makers and what joins them. */
static void join(Graph *graph, AliasDb *db, Node *const *nodes, uint32_t count) {
  Node *cat = nodes[count], *region = graph_create(graph, SYM_wick_region, 0, NULL, 0);
  Graph *subgraph = graph_new(graph->arena, graph->store);
  node_copy_metadata(region, cat);
  node_set_graph(region, SYM_attr_Subgraph, subgraph);
  Node *inner = graph_create(subgraph, cat->kind, 0, NULL, 0);
  for (uint32_t i = 0; i < count; i++) node_add_input(inner, add_maker(region, nodes[i]));
  node_add_input(inner, graph_insert_constant(subgraph, ivalue_int(CHANNELS), NULL));
  graph_register_output(subgraph, node_add_output(inner, node_output(cat, 0)->type));
  graph_insert_node(subgraph, inner);
  Value *joined = node_add_output(region, node_output(cat, 0)->type);
  node_insert_before(region, cat);
  alias_replace_value(db, node_output(cat, 0), joined);
  value_replace_all_uses_with(node_output(cat, 0), joined);
  for (uint32_t i = count + 1; i--;) node_destroy(nodes[i]);
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
