/* Rules for numbers and bools: sums with constants gathered, conversions to the type a value has, Ifs whose result is
 * their condition. */
#include "ir/constant.h"
#include "pass/pass.h"
#include "pass/rewrite/rewrite.h"
#include "pass/rewrite/rewrite_rule.h"

#define FILE_NAME "peephole_non_tensor"

static bool gives_int(const RewriteMatch *m) {
  return replaced(m)->type->kind == TYPE_INT;
}

static bool is_one_value(const RewriteMatch *m) {
  return bound(m, 'x') == bound(m, 'y');
}

/* `c ? True : False`: what `and` and `or` leave. */
static bool is_true_else_false(const RewriteMatch *m) {
  return constant_is_bool(block_output(m->node->blocks[0], m->output), true) &&
         constant_is_bool(block_output(m->node->blocks[1], m->output), false);
}

static bool is_sum_of_ints(const Node *node) {
  return (node->kind == SYM_aten_add || node->kind == SYM_aten_sub) && node->input_count == 2 &&
         node_input(node, 0)->type->kind == TYPE_INT && node_input(node, 1)->type->kind == TYPE_INT &&
         node_output(node, 0)->type->kind == TYPE_INT;
}

/* node is x + c, c + x or x - c of ints: x, and what is added to it. */
static Value *offset_from(const Node *node, int64_t *out_offset) {
  if (!is_sum_of_ints(node)) return NULL;
  if (constant_int(node_input(node, 1), out_offset)) {
    if (node->kind == SYM_aten_sub && __builtin_sub_overflow((int64_t)0, *out_offset, out_offset)) return NULL;
    return node_input(node, 0);
  }
  if (node->kind == SYM_aten_add && constant_int(node_input(node, 0), out_offset)) return node_input(node, 1);
  return NULL;
}

/* (x + a) - b is x + (a - b). */
static Value *gathered_offsets(const RewriteMatch *m) {
  int64_t offset, inner;
  Value *base = offset_from(m->node, &offset), *deeper = base ? offset_from(base->node, &inner) : NULL;
  if (!deeper || !int64_add(offset, inner, &offset) || offset == INT64_MIN) return NULL;
  if (offset == 0) return deeper;
  bool less = offset < 0;
  Value *constant = insert_constant_before(m->node, ivalue_int(less ? -offset : offset), NULL);
  return insert_call_before(m->node, less ? SYM_aten_sub : SYM_aten_add, TYPE(INT), 2, (Value *[]){deeper, constant});
}

/* clang-format off */
static const RewriteRule rules[] = {
  {"x_plus_0",         "aten::add|aten::sub(%x:int, 0)",      GIVES("%x"), WHEN(gives_int)},
  {"0_plus_x",         "aten::add(0, %x:int)",                GIVES("%x"), WHEN(gives_int)},
  {"gathered_offsets", "aten::add|aten::sub(%x:int, %y:int)", MAKES(gathered_offsets)},
  {"x_times_1",        "aten::mul|aten::floordiv(%x:int, 1)", GIVES("%x"), WHEN(gives_int)},
  {"1_times_x",        "aten::mul(1, %x:int)",                GIVES("%x"), WHEN(gives_int)},
  {"equal_ints",       "aten::eq(%x:int, %y:int)",            GIVES("True"), WHEN(is_one_value)},
  {"unequal_ints",     "aten::ne(%x:int, %y:int)",            GIVES("False"), WHEN(is_one_value)},
  {"float_of_float",   "aten::Float(%x:float)",               GIVES("%x")},
  {"int_of_int",       "aten::Int(%x:int)",                   GIVES("%x")},
  {"not_of_not",       "aten::__not__(aten::__not__(%x))",    GIVES("%x")},
  {"true_else_false",  "prim::If[i](%x)",                     GIVES("%x"), WHEN(is_true_else_false)},
};
/* clang-format on */
const RewriteTable rewrite_numbers = {REWRITE_NUMBERS, FILE_NAME, rules, sizeof rules / sizeof *rules};

bool peephole_non_tensor(Graph *graph) {
  return rewrite_graph(&rewrite_numbers, graph, true, NULL);
}

PASS(peephole_non_tensor, GRADIENTS, peephole_non_tensor(graph),
     "gathers constants in sums of ints, drops conversions");
