/* Convolutions whose results are joined along their channels and go nowhere else write them where the joined tensor has
 * them: the first one's storage has room for all, each next one lies after the one before, and wick::cat_in_place has
 * nothing to copy (op/nn/conv_norm.c, op/tensor/join_in_place.c). Whether it comes to that is seen at run time: tensors
 * that lie elsewhere are copied as ever. */
#include "interp/region_read.h"
#include "ir/graph_log.h"
#include "ir/subgraph.h"
#include "pass/pass.h"
#include "pass/rewrite/chain.h"

#define FILE_NAME "concat_in_place"

enum { WEIGHT = 1, CHANNELS = 1, PLACED_INPUTS = 3 };

/* A guard that fails before the join hands the value on to the program as written, where it is a tensor like any other.
 * Behind the join it would show what is written to the joined tensor. */
static bool is_used_once(const Value *value, const Node *cat) {
  uint32_t count = 0;
  for (size_t i = 0; i < value->uses.length; i++) {
    const Use *use = &value->uses.data[i];
    count += use->user->kind != SYM_prim_BailOut || use->offset == 0 || !node_is_before(use->user, cat);
  }
  return count == 1;
}

/* The region's only anchor, in its Subgraph, if it writes where it is told to; NULL. */
static const Node *placing_anchor(const Node *region) {
  const Graph *subgraph = region->kind == SYM_wick_region ? node_subgraph(region) : NULL;
  const Node *found = NULL;
  if (!subgraph || region->input_count != graph_input_count(subgraph)) return NULL;
  BLOCK_EACH(node, subgraph->block) {
    const Anchor *anchor = node_anchor(node);
    if (anchor && (found || !(anchor->takes & ANCHOR_PLACES))) return NULL;
    if (anchor) found = node;
  }
  return found;
}

/* The convolution that makes input number `i` for `cat` alone; NULL: it is none. */
static Node *find_maker(const Node *cat, uint32_t i) {
  const Value *part = node_input(cat, i);
  bool is_one = part->node->owning_block == cat->owning_block && is_used_once(part, cat) && placing_anchor(part->node);
  return is_one ? part->node : NULL;
}

/* What the region is given for its anchor's weight. */
static Value *weight_of(const Node *region) {
  const Value *inside = node_input(placing_anchor(region), WEIGHT);
  return node_input(region, inside->offset);
}

/* All are made so, in the order in which they lie, and all weights are there before the first one is made. */
static bool can_be_placed(const Node *cat) {
  int64_t dim;
  const Node *first = NULL, *before = NULL;
  uint32_t count = cat->input_count - 1;
  if (cat->input_count < 3 || !constant_int(node_input(cat, count), &dim) || dim != CHANNELS) return false;
  for (uint32_t i = 0; i < count; i++) {
    const Node *maker = find_maker(cat, i);
    if (!maker || (before && !node_is_before(before, maker))) return false;
    if (!first) first = maker;
    if (!node_is_before(weight_of(maker)->node, first)) return false;
    before = maker;
  }
  return true;
}

/* In the maker's place one that knows where its result is to lie: as number `place`, after `beside`. */
static Value *replace_maker(Graph *graph, Node *maker, Value *beside, int64_t place, Value *room) {
  uint32_t own = maker->input_count;
  Value **inputs = ARENA_ARRAY(graph->arena, Value *, own + PLACED_INPUTS);
  for (uint32_t i = 0; i < own; i++) inputs[i] = node_input(maker, i);
  inputs[own] = beside ? beside : insert_constant_before(maker, IVALUE_NONE, NULL);
  inputs[own + 1] = insert_constant_before(maker, ivalue_int(place), NULL);
  inputs[own + 2] = room;
  Value *placed = insert_call_before(maker, maker->kind, node_output(maker, 0)->type, own + PLACED_INPUTS, inputs);
  placed->node->inlined = maker->inlined;
  node_copy_attributes(placed->node, maker);
  replace_node(maker, placed);
  return placed;
}

static void replace_cat(Graph *graph, Node *cat) {
  NODE_LOG_UPDATE(FILE_NAME, "finds its tensors joined:", cat);
  uint32_t count = cat->input_count - 1;
  Value *beside = NULL, **parts = ARENA_ARRAY(graph->arena, Value *, count + 1),
        **weights = ARENA_ARRAY(graph->arena, Value *, count);
  for (uint32_t i = 0; i < count; i++) {
    parts[i] = node_input(cat, i);
    weights[i] = weight_of(parts[i]->node);
  }
  parts[count] = node_input(cat, count);
  Value *room = insert_call_before(parts[0]->node, SYM_wick_cat_room, TYPE(INT), count, weights);
  for (uint32_t i = 0; i < count; i++) parts[i] = beside = replace_maker(graph, parts[i]->node, beside, i, room);
  Value *joined = insert_call_before(cat, SYM_wick_cat_in_place, node_output(cat, 0)->type, count + 1, parts);
  keep_as_subgraph(joined->node, &cat, 1, 1);
  replace_node(cat, joined);
}

static void place_block(Graph *graph, Block *block) {
  BLOCK_EACH(node, block) {
    for (uint32_t i = 0; i < node->block_count; i++) place_block(graph, node->blocks[i]);
    if (node->kind != SYM_prim_VarConcat || !can_be_placed(node)) continue;
    if (!jit_opt_limit(FILE_NAME)) return;
    replace_cat(graph, node);
  }
}

void concat_in_place(Graph *graph) {
  place_block(graph, graph->block);
  GRAPH_LOG_DUMP(FILE_NAME, "After ConcatInPlace: ", graph);
}

PASS(concat_in_place, RESULTS, concat_in_place(graph), "lets convolutions write where cat would copy to");
