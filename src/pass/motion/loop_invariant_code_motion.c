/* What a loop computes anew in every iteration from values that come from outside moves in front of it: where nobody
 * writes to what it reads or gives, nothing has an effect, and it can't fail, or the loop is known to run. */
#include "call/operator.h"
#include "ir/constant.h"
#include "ir/graph_log.h"
#include "ir/node_kind.h"
#include "pass/motion/with_aliases.h"
#include "pass/pass.h"

#define FILE_NAME "loop_invariant_code_motion"

static bool never_fails(const Node *node) {
  if (node->kind == SYM_prim_Constant) return true;
  const Operator *op = node_operator(node);
  return op && op->flags & OP_NEVER_RAISES;
}

/* Whether it computes the same in every iteration, if it may be computed elsewhere at all. */
static bool takes_invariants(const Node *node, const Block *body) {
  if (node->block_count || node->callable || !node->output_count) return false;
  for (uint32_t i = 0; i < node->input_count; i++)
    if (node_is_in_block(node_input(node, i)->node, body)) return false;
  return true;
}

static bool may_leave(AliasDb *db, const Node *node, bool runs) {
  if (node_has_side_effects(node)) return node_refused(FILE_NAME, node, REASON_NOT_MOVED_SIDE_EFFECTS);
  if (node_is_nondeterministic(node)) return node_refused(FILE_NAME, node, REASON_NOT_MOVED_RANDOM);
  if (!node_has_flag(node, KIND_MAY_SHARE)) return false;
  if (!runs && !never_fails(node)) return node_refused(FILE_NAME, node, REASON_NOT_MOVED_MAY_FAIL);
  if (alias_node_writes(db, node) || alias_node_has_writers(db, node))
    return node_refused(FILE_NAME, node, REASON_NOT_MOVED_ALIASING);
  if (node->kind == SYM_prim_Constant) return true;
  for (uint32_t i = 0; i < node->output_count; i++) /* a new one each time, if anybody outside could tell */
    if (!alias_safe_to_change(db, node_output(node, i), node_output(node, i)))
      return node_refused(FILE_NAME, node, REASON_NOT_MOVED_ALIASING);
  return true;
}

static void hoist_in(AliasDb *db, Block *block) {
  BLOCK_EACH(node, block) {
    for (uint32_t i = 0; i < node->block_count; i++) hoist_in(db, node->blocks[i]);
    if (node->kind != SYM_prim_Loop) continue;
    int64_t trips;
    bool runs = constant_int(node_input(node, 0), &trips) && trips > 0 && constant_is_bool(node_input(node, 1), true);
    Block *body = node->blocks[0];
    BLOCK_EACH(inner, body) {
      /* after what may leave the loop or be seen from outside, nothing is sure to run, and what fails stays */
      if (node_has_side_effects(inner) || node_writes(inner) || inner->block_count) runs = false;
      if (!takes_invariants(inner, body) || !may_leave(db, inner, runs) || !jit_opt_limit(FILE_NAME)) continue;
      JIT_LOG_UPDATE(FILE_NAME, STR_FMT " moves out of a loop", STR_ARG(symbol_name(inner->kind)));
      node_move_before(inner, node);
    }
  }
}

static void hoist(Graph *graph, AliasDb *db, void *argument) {
  (void)argument;
  hoist_in(db, graph->block);
}

void loop_invariant_code_motion(Graph *graph) {
  with_aliases(graph, hoist, NULL);
  GRAPH_LOG_DUMP(FILE_NAME, "After HoistLoopInvariants: ", graph);
}

PASS(loop_invariant_code_motion, GRADIENTS, loop_invariant_code_motion(graph),
     "moves what iterations have in common out of loops");
