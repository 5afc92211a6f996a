/* Giving plans back: those of all executors that no run is in and none is being made for. */
#include <assert.h>

#include "base/fork.h"
#include "executor/variant.h"

static void give_back(Plan *plan, GraphExecutor *held, Plan **list) {
  plan->next = *list;
  plan->held = held;
  *list = plan;
}

static uint32_t references(const Plan *plan) {
  return plan ? (uint32_t)atomic_load(&plan->store.refs.count) : 0;
}

/* What the variant has of plans goes to the list, and it starts anew, unless a run is in one or one is being made.
 * Nothing is freed here, for that may free executors; until it is, the executor is held, for a plan borrows constants
 * and sources of its function's unit. The lock is held. */
static void take_plans(Variant *v, void *argument) {
  Plan **list = argument;
  assert(lock_is_held());
  if (atomic_exchange(&v->is_compiling, true)) return;
  Plan *plan = variant_withdraw(v, NULL), *profiling = v->profiling == plan ? NULL : v->profiling;
  uint32_t own = v->profiling && !profiling ? 2 : 1;
  bool is_used = references(plan) > own || references(profiling) > 1;
  if (is_used || !(plan || profiling) || !graph_executor_hold(v->executor)) { /* not held: it is being freed */
    atomic_store(&v->plan, plan);
  } else {
    if (own == 2) plan_release(plan);
    if (plan) give_back(plan, v->executor, list);
    if (profiling) give_back(profiling, plan ? NULL : v->executor, list); /* comes before the other */
    profiling_record_release(v->record);
    v->profiling = NULL;
    v->record = NULL;
    v->depth = v->options.bailout_depth;
    atomic_store(&v->stage, STAGE_NEW);
  }
  atomic_store(&v->is_compiling, false);
}

typedef struct Trim {
  const Runtime *runtime;
  Plan *plans; /* to be released */
} Trim;

static void take_plans_of(ExecutorLink *link, void *argument) {
  GraphExecutor *e = (GraphExecutor *)link;
  Trim *trim = argument;
  if (trim->runtime && !(e->graph && e->graph->arena->heap == trim->runtime->heap)) return;
  if (!lock_try(&e->lock)) return; /* it is being used; who has the lock may want that of the list */
  variants_each(e, take_plans, &trim->plans);
  lock_drop(&e->lock);
}

size_t graph_executors_trim(const Runtime *runtime) {
  size_t bytes = 0;
  Trim trim = {runtime, NULL};
  executor_list_each(take_plans_of, &trim);
  for (Plan *plans = trim.plans; plans;) {
    Plan *next = plans->next;
    GraphExecutor *held = plans->held;
    if (references(plans) == 1) bytes += plans->bytes;
    plan_release(plans);
    if (held) graph_executor_let_go(held);
    plans = next;
  }
  return bytes;
}

/* ---- asking ---- */

typedef struct Sum {
  const CompilationUnit *unit;
  size_t bytes;
} Sum;

/* Nobody frees the plan while it has a reader. */
static void add_plan(Variant *v, void *argument) {
  Sum *sum = argument;
  atomic_fetch_add(&v->readers, 1);
  const Plan *plan = atomic_load(&v->plan);
  if (plan) sum->bytes += plan->bytes;
  atomic_fetch_sub(&v->readers, 1);
}

static void add_plans_of(ExecutorLink *link, void *argument) {
  GraphExecutor *e = (GraphExecutor *)link;
  Sum *sum = argument;
  if (!e->function || e->function->unit != sum->unit) return;
  variants_each(e, add_plan, sum);
}

size_t graph_executors_bytes(const CompilationUnit *unit) {
  Sum sum = {unit, 0};
  executor_list_each(add_plans_of, &sum);
  return sum.bytes;
}
