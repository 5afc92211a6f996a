/* Local rewrites of numbers and bools: sums with constants gathered, conversions to the type a value has, Ifs whose
 * result is their condition. */
#include "ir/graph_log.h"
#include "pass/pass.h"
#include "pass/rewrite/rewrite.h"

#define FILE_NAME "peephole_non_tensor"

static bool is_int_pair(const Node *node) {
  return node->input_count == 2 && node_input(node, 0)->type->kind == TYPE_INT &&
         node_input(node, 1)->type->kind == TYPE_INT && node_output(node, 0)->type->kind == TYPE_INT;
}

/* node is x + c, c + x or x - c of ints: x, and what is added to it. */
static Value *offset_from(const Node *node, int64_t *out_offset) {
  if ((node->kind != SYM_aten_add && node->kind != SYM_aten_sub) || !is_int_pair(node)) return NULL;
  if (constant_int(node_input(node, 1), out_offset)) {
    if (node->kind == SYM_aten_sub && __builtin_sub_overflow((int64_t)0, *out_offset, out_offset)) return NULL;
    return node_input(node, 0);
  }
  if (node->kind == SYM_aten_add && constant_int(node_input(node, 0), out_offset)) return node_input(node, 1);
  return NULL;
}

/* (x + a) - b is x + (a - b). */
static Value *gather_offsets(Node *node) {
  int64_t offset, inner;
  Value *base = offset_from(node, &offset);
  if (!base) return NULL;
  if (offset == 0) return base;
  Value *deeper = offset_from(base->node, &inner);
  if (!deeper || !int64_add(offset, inner, &offset) || offset == INT64_MIN) return NULL;
  if (offset == 0) return deeper;
  bool less = offset < 0;
  Value *constant = insert_constant_before(node, ivalue_int(less ? -offset : offset), NULL);
  return insert_call_before(node, less ? SYM_aten_sub : SYM_aten_add, TYPE(INT), 2, (Value *[]){deeper, constant});
}

static Value *times_one(const Node *node) {
  int64_t factor;
  if (!is_int_pair(node)) return NULL;
  if (constant_int(node_input(node, 1), &factor) && factor == 1) return node_input(node, 0);
  if (node->kind == SYM_aten_mul && constant_int(node_input(node, 0), &factor) && factor == 1)
    return node_input(node, 1);
  return NULL;
}

static Value *rewrite(Node *node) {
  if (!node->input_count) return NULL;
  Value *first = node_input(node, 0);
  switch (node->kind) {
    case SYM_aten_add:
    case SYM_aten_sub:
      return gather_offsets(node);
    case SYM_aten_mul:
    case SYM_aten_floordiv:
      return times_one(node);
    case SYM_aten_Float:
      return first->type->kind == TYPE_FLOAT ? first : NULL;
    case SYM_aten_Int:
      return first->type->kind == TYPE_INT ? first : NULL;
    case SYM_aten_Bool:
      return first->type->kind == TYPE_BOOL ? first : NULL;
    case SYM_aten___not__:
      return first->node->kind == SYM_aten___not__ ? node_input(first->node, 0) : NULL;
    default:
      return NULL;
  }
}

/* `c ? True : False` is c: what `and` and `or` leave. */
static bool rewrite_if(Node *node) {
  bool changed = false;
  for (uint32_t i = 0; i < node->output_count; i++) {
    if (!value_has_uses(node_output(node, i)) || !constant_is_bool(block_output(node->blocks[0], i), true) ||
        !constant_is_bool(block_output(node->blocks[1], i), false) || !jit_opt_limit(FILE_NAME))
      continue;
    value_replace_all_uses_with(node_output(node, i), node_input(node, 0));
    changed = true;
  }
  return changed;
}

static bool rewrite_block(const Block *block) {
  bool changed = false;
  BLOCK_EACH(node, block) {
    for (uint32_t i = 0; i < node->block_count; i++) changed |= rewrite_block(node->blocks[i]);
    if (node->kind == SYM_prim_If) changed |= rewrite_if(node);
    if (node->output_count != 1 || !value_has_uses(node_output(node, 0))) continue;
    Value *with = rewrite(node);
    if (!with || !jit_opt_limit(FILE_NAME)) continue;
    NODE_LOG_UPDATE(FILE_NAME, "is simpler:", node);
    value_replace_all_uses_with(node_output(node, 0), with);
    changed = true;
  }
  return changed;
}

bool peephole_non_tensor(Graph *graph) {
  return rewrite_block(graph->block);
}

PASS(peephole_non_tensor, GRADIENTS, peephole_non_tensor(graph),
     "gathers constants in sums of ints, drops conversions");
