/* prim::VarConcat and prim::VarStack take the tensors themselves: no list is made for each call. Where the list can't
 * have been changed between its making and its use; it goes when nobody else wants it. */
#include "call/call_plan.h"
#include "ir/graph_log.h"
#include "pass/motion/with_aliases.h"
#include "pass/pass.h"
#include "pass/rewrite/rewrite.h"

#define FILE_NAME "variadic_ops"

typedef struct Variadic {
  Symbol from, to;
  bool changed;
} Variadic;

static bool replace(const Variadic *v, AliasDb *db, Node *node) {
  if (node->kind != v->from || node->input_count != 2) return false;
  Node *list = node_input(node, 0)->node;
  if (list->kind != SYM_prim_ListConstruct || !list->input_count || list->input_count >= CALL_MAX_INPUTS) return false;
  if (!alias_could_move_before(db, list, node)) return node_refused(FILE_NAME, list, REASON_NOT_MOVED_ALIASING);
  if (!jit_opt_limit(FILE_NAME)) return false;
  Value **inputs = ARENA_ARRAY(node->graph->arena, Value *, list->input_count + 1), *dim = node_input(node, 1);
  for (uint32_t i = 0; i < list->input_count; i++) inputs[i] = node_input(list, i);
  inputs[list->input_count] = dim;
  NODE_LOG_UPDATE(FILE_NAME, "takes its tensors itself:", node);
  Value *old = node_output(node, 0),
        *result = insert_call_before(node, v->to, old->type, list->input_count + 1, inputs);
  alias_add_node(db, result->node);
  Str name = old->name;
  value_set_name(old, STR(""));
  if (name.length) value_set_name(result, name);
  replace_node(node, result);
  return true;
}

static void replace_in(Variadic *v, AliasDb *db, Block *block) {
  BLOCK_EACH(node, block) {
    for (uint32_t i = 0; i < node->block_count; i++) replace_in(v, db, node->blocks[i]);
    v->changed |= replace(v, db, node);
  }
}

static void replace_all(Graph *graph, AliasDb *db, void *argument) {
  replace_in(argument, db, graph->block);
}

static void use_variadic(Graph *graph, Str from, Str to) {
  Variadic v = {.from = symbol_intern(from), .to = symbol_intern(to)};
  with_aliases(graph, replace_all, &v);
  if (v.changed) dead_code_elimination(graph);
  GRAPH_LOG_DUMP(FILE_NAME, "After UseVariadicOps: ", graph);
}

void use_variadic_cat(Graph *graph) {
  use_variadic(graph, STR("aten::cat"), STR("prim::VarConcat"));
}

void use_variadic_stack(Graph *graph) {
  use_variadic(graph, STR("aten::stack"), STR("prim::VarStack"));
}

PASS(use_variadic_cat, GRADIENTS, use_variadic_cat(graph), "lets aten::cat take its tensors without a list");
PASS(use_variadic_stack, GRADIENTS, use_variadic_stack(graph), "lets aten::stack take its tensors without a list");
