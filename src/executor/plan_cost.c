/* One walk. What a loop does counts several times, what raises not at all. */
#include "executor/plan_cost.h"

#include "base/stack.h"
#include "pass/motion/inliner.h"
#include "pass/types/node_work.h"
#include "tensor/tensor.h"

/* In nanoseconds, of one thread; and */
enum { COST_STEP = 8, COST_GUARD = 16, COST_OPERATOR = 128, GUESSED_FLOPS = 1 << 19 /* 64 x 64 x 64 */ };

static bool ends_by_raising(const Block *block) {
  return block->ret->prev->kind == SYM_prim_RaiseException;
}

/* The last entry takes what finds no other. */
static PlanWork *find_work(PlanCost *cost, const NodeWork *work) {
  for (uint32_t i = 0; i < cost->work_count; i++)
    if (cost->work[i].dtype == work->dtype && cost->work[i].device_type == work->device_type) return &cost->work[i];
  if (cost->work_count < PLAN_WORKS) {
    cost->work[cost->work_count] = (PlanWork){.dtype = work->dtype, .device_type = work->device_type};
    return &cost->work[cost->work_count++];
  }
  PlanWork *last = &cost->work[PLAN_WORKS - 1];
  last->dtype = last->device_type = -1;
  return last;
}

static void add_work(const Node *node, double times, PlanCost *cost) {
  NodeWork work = node_work(node), guessed = {.flops = GUESSED_FLOPS, .dtype = DTYPE_FLOAT32};
  double guess = COST_OPERATOR + (work.has_flops ? node_work_ns(&guessed) : 0);
  cost->guess += times * guess;
  cost->time += times * (work.is_known ? COST_OPERATOR + node_work_ns(&work) : guess);
  cost->unsized += !work.is_known;
  if (!work.is_known || (!work.flops && !work.bytes)) return;
  PlanWork *sum = find_work(cost, &work);
  sum->flops += times * work.flops;
  sum->bytes += times * work.bytes;
}

static void add_step(double step, double times, PlanCost *cost) {
  cost->guess += times * step;
  cost->time += times * step;
}

static void add_cost_of_node(const Node *node, double times, PlanCost *cost) {
  if (node->kind == SYM_prim_Constant || node->kind == SYM_prim_profile) return;
  bool computes =
      node->kind != SYM_prim_GetAttr && node->output_count && node_output(node, 0)->type->kind == TYPE_TENSOR;
  if (node->kind == SYM_prim_BailOut)
    add_step(COST_GUARD, times, cost);
  else if (!computes)
    add_step(COST_STEP, times, cost);
  else if (node->block_count || node->kind == SYM_prim_DifferentiableGraph)
    add_step(COST_OPERATOR, times, cost); /* and what is inside, below */
  else
    add_work(node, times, cost);
}

static void add_cost(const Block *block, double times, PlanCost *cost) {
  enum { TURNS = 8, ENOUGH = 1 << 20 };
  if (ends_by_raising(block)) return;
  BLOCK_EACH(node, block) {
    cost->has_calls |= node->kind == SYM_prim_CallFunction || node->kind == SYM_prim_CallMethod;
    cost->has_groups |= node->callable != NULL;
    cost->has_gradients |= node->callable && node->kind == SYM_prim_DifferentiableGraph;
    cost->has_guards |= node->kind == SYM_prim_BailOut;
    cost->is_strict |= node->kind == SYM_prim_Enter && type_is_strict_fusion(node_input(node, 0)->type);
    add_cost_of_node(node, times, cost);
    for (uint32_t i = 0; i < node->block_count; i++)
      add_cost(node->blocks[i], node->kind == SYM_prim_Loop && times < ENOUGH ? times * TURNS : times, cost);
    if (node->kind == SYM_prim_DifferentiableGraph)
      add_cost(node_attribute(node, SYM_attr_Subgraph)->g->block, times, cost);
  }
}

PlanCost plan_cost(const Graph *graph) {
  PlanCost cost = {0};
  add_cost(graph->block, 1, &cost);
  return cost;
}

double plan_cost_gain(const PlanCost *a, const PlanCost *than) {
  bool are_known = !a->unsized && !than->unsized;
  return are_known ? than->time - a->time : than->guess - a->guess;
}

/* ---- for people ---- */

static void print_amount(double amount, const char *unit, StrBuf *out) {
  static const char prefixes[] = " KMGTPE";
  uint32_t step = 0;
  for (; amount >= 1000 && step + 2 < sizeof prefixes; step++) amount /= 1000;
  strbuf_printf(out, "%.3g %.*s%s", amount, step ? 1 : 0, &prefixes[step], unit);
}

void plan_cost_print(const PlanCost *cost, StrBuf *out) {
  for (uint32_t i = 0; i < cost->work_count; i++) {
    const PlanWork *work = &cost->work[i];
    if (i) strbuf_puts(out, ", ");
    if (work->flops > 0) {
      print_amount(work->flops, "FLOP", out);
      strbuf_puts(out, " and ");
    }
    print_amount(work->bytes, "B", out);
    strbuf_printf(out, " of %s", work->dtype < 0 ? "other dtypes" : dtype_name((DType)work->dtype));
    if (work->device_type > DEVICE_CPU) strbuf_printf(out, " on %s", device_type_name(work->device_type));
  }
  if (!cost->unsized) return;
  bool is_one = cost->unsized == 1;
  strbuf_printf(out, "%s%u operator%s of unknown sizes", cost->work_count ? ", " : "", cost->unsized,
                is_one ? "" : "s");
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
