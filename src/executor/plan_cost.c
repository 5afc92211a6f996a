/* One walk. What a loop does counts several times, what raises not at all. */
#include "executor/plan_cost.h"

#include "base/stack.h"
#include "pass/motion/inliner.h"

enum { COST_STEP = 1, COST_GUARD = 2, COST_OPERATOR = 16 };

static bool ends_by_raising(const Block *block) {
  return block->ret->prev->kind == SYM_prim_RaiseException;
}

static uint32_t cost_of_node(const Node *node) {
  if (node->kind == SYM_prim_Constant || node->kind == SYM_prim_profile) return 0;
  if (node->kind == SYM_prim_BailOut) return COST_GUARD;
  bool computes =
      node->kind != SYM_prim_GetAttr && node->output_count && node_output(node, 0)->type->kind == TYPE_TENSOR;
  return computes ? COST_OPERATOR : COST_STEP;
}

static void add_cost(const Block *block, uint32_t times, PlanCost *cost) {
  enum { TURNS = 8, ENOUGH = 1 << 20 };
  if (ends_by_raising(block)) return;
  BLOCK_EACH(node, block) {
    cost->has_calls |= node->kind == SYM_prim_CallFunction || node->kind == SYM_prim_CallMethod;
    cost->has_groups |= node->callable != NULL;
    cost->has_gradients |= node->callable && node->kind == SYM_prim_DifferentiableGraph;
    cost->has_guards |= node->kind == SYM_prim_BailOut;
    cost->is_strict |= node->kind == SYM_prim_Enter && type_is_strict_fusion(node_input(node, 0)->type);
    cost->time += (uint64_t)times * cost_of_node(node);
    for (uint32_t i = 0; i < node->block_count; i++)
      add_cost(node->blocks[i], node->kind == SYM_prim_Loop && times < ENOUGH ? times * TURNS : times, cost);
  }
}

PlanCost plan_cost(const Graph *graph) {
  PlanCost cost = {0};
  add_cost(graph->block, 1, &cost);
  return cost;
}

static bool count_down(const Block *block, uint32_t *left) {
  if (STACK_IS_LOW()) return false;
  BLOCK_EACH(node, block) {
    if (!(*left)--) return *left = 0, false;
    for (uint32_t i = 0; i < node->block_count; i++)
      if (!count_down(node->blocks[i], left)) return false;
    const Function *callee = inlined_callee(node);
    if (callee && callee->graph && !count_down(callee->graph->block, left)) return false;
  }
  return true;
}

bool graph_is_within(const Graph *graph, uint32_t nodes) {
  return count_down(graph->block, &nodes);
}
