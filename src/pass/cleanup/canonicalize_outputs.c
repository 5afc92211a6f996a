/* Outputs of Ifs and Loops are put in the order in which they are first used, so that equal programs print alike. */
#include "pass/pass.h"

#include <assert.h>

#define FILE_NAME "canonicalize_outputs"

/* Blocks of one node come in order; a nested node is after the node it is in. */
static bool user_is_before(const Use *a, const Use *b) {
  if (a->user == b->user) return a->offset < b->offset;
  const Node *x = a->user, *y = b->user;
  size_t depth_x = 0, depth_y = 0;
  for (const Node *n = x; n && n->owning_block; n = n->owning_block->owning_node) depth_x++;
  for (const Node *n = y; n && n->owning_block; n = n->owning_block->owning_node) depth_y++;
  const Node *top_x = x, *top_y = y;
  while (depth_x > depth_y) top_x = top_x->owning_block->owning_node, depth_x--;
  while (depth_y > depth_x) top_y = top_y->owning_block->owning_node, depth_y--;
  if (top_x == top_y) return top_x == x; /* one holds the other: the outer node's own inputs come first */
  while (top_x->owning_block != top_y->owning_block) {
    const Node *owner_x = top_x->owning_block->owning_node, *owner_y = top_y->owning_block->owning_node;
    if (owner_x == owner_y) {
      for (uint32_t i = 0; i < owner_x->block_count; i++)
        if (owner_x->blocks[i] == top_x->owning_block)
          return true;
        else if (owner_x->blocks[i] == top_y->owning_block)
          return false;
    }
    top_x = owner_x;
    top_y = owner_y;
  }
  if (top_x->kind == SYM_prim_Return) return false;
  if (top_y->kind == SYM_prim_Return) return true;
  return node_is_before(top_x, top_y);
}

static const Use *first_use(const Value *value) {
  const Use *first = NULL;
  for (size_t i = 0; i < value->uses.length; i++)
    if (!first || user_is_before(&value->uses.data[i], first)) first = &value->uses.data[i];
  return first;
}

/* Stable; values without uses go last. */
static uint32_t *sorted_outputs(Graph *graph, Node *node, bool *out_changed) {
  uint32_t count = node->output_count;
  uint32_t *order = ARENA_ARRAY(graph->arena, uint32_t, count + 1);
  const Use **uses = ARENA_ARRAY(graph->arena, const Use *, count + 1);
  *out_changed = false;
  for (uint32_t i = 0; i < count; i++) {
    uses[i] = first_use(node_output(node, i));
    uint32_t at = i;
    while (at > 0 && uses[i] && (!uses[order[at - 1]] || user_is_before(uses[i], uses[order[at - 1]]))) {
      order[at] = order[at - 1];
      at--;
    }
    order[at] = i;
    if (at != i) *out_changed = true;
  }
  return order;
}

static void permute_outputs(Node *node, const uint32_t *order, uint32_t count) {
  assert(count == node->output_count);
  Value **values = ARENA_ARRAY(node->graph->arena, Value *, count + 1);
  for (uint32_t i = 0; i < count; i++) {
    Value *old = node_output(node, order[i]), *fresh = node_add_output(node, old->type);
    Str name = old->name;
    value_replace_all_uses_with(old, fresh);
    if (name.length) {
      value_set_name(old, STR(""));
      value_set_name(fresh, name);
    }
    values[i] = fresh;
  }
  for (uint32_t i = count; i-- > 0;) node_erase_output(node, i);
}

static void permute_block_outputs(Block *block, const uint32_t *order, uint32_t count, uint32_t from) {
  assert(from + count <= block_output_count(block));
  Value **values = ARENA_ARRAY(block->graph->arena, Value *, count + 1);
  for (uint32_t i = 0; i < count; i++) values[i] = block_output(block, from + order[i]);
  for (uint32_t i = 0; i < count; i++) block_replace_output(block, from + i, values[i]);
}

static void canonicalize_node(Node *node) {
  uint32_t count = node->output_count;
  bool changed;
  uint32_t *order = sorted_outputs(node->graph, node, &changed);
  if (!changed) return;
  permute_outputs(node, order, count);
  if (node->kind == SYM_prim_If) {
    for (int i = 0; i < 2; i++) permute_block_outputs(node->blocks[i], order, count, 0);
    return;
  }
  Block *body = node->blocks[0];
  permute_block_outputs(body, order, count, 1);
  Value **inputs = ARENA_ARRAY(node->graph->arena, Value *, count + 1);
  for (uint32_t i = 0; i < count; i++) inputs[i] = node_input(node, 2 + order[i]);
  for (uint32_t i = 0; i < count; i++) node_replace_input(node, 2 + i, inputs[i]);
  for (uint32_t i = 0; i < count; i++) {
    Value *old = block_input(body, 1 + order[i]), *fresh = block_add_input(body, STR(""), old->type);
    Str name = old->name;
    value_replace_all_uses_with(old, fresh);
    if (name.length) {
      value_set_name(old, STR(""));
      value_set_name(fresh, name);
    }
  }
  for (uint32_t i = count; i-- > 0;) block_erase_input(body, 1 + i);
}

static void canonicalize_in(Block *block) {
  BLOCK_EACH_REVERSE(node, block) {
    if (node->kind == SYM_prim_If || node->kind == SYM_prim_Loop) canonicalize_node(node);
    for (uint32_t i = 0; i < node->block_count; i++) canonicalize_in(node->blocks[i]);
  }
}

void canonicalize_outputs(Graph *graph) {
  canonicalize_in(graph->block);
}

PASS(canonicalize_outputs, GRADIENTS, canonicalize_outputs(graph), "orders outputs of branches and loops by first use");
