/* Making plans: copy, inline, the kind's list of passes, Code. */
#include "executor/plan.h"

#include "executor/compile_times.h"
#include "executor/phases.h"
#include "ir/graph_log.h"
#include "pass/pass.h"

const char *plan_kind_name(PlanKind kind) {
  static const char *const names[] = {"required passes", "specialised", "profiling", "optimised",
                                      "insensitive to profiles"};
  return names[kind];
}

static void destroy(TypeStore *store) {
  Plan *plan = (Plan *)store;
  code_free(plan->code);
  code_free(plan->baseline);
  profiling_record_free(plan->record);
  graph_dispose(plan->graph);
  graph_dispose(plan->baseline_graph);
  type_store_dispose(store);
  mem_free(plan);
}

typedef struct Cost {
  uint32_t nodes; /* that do something, those of loops' bodies several times */
  bool has_calls, has_callables;
} Cost;

static void add_cost(const Block *block, uint32_t times, Cost *cost) {
  enum { TURNS = 8, ENOUGH = 1 << 24 };
  BLOCK_EACH(node, block) {
    if (node->kind == SYM_prim_Constant || node->kind == SYM_prim_BailOut || node->kind == SYM_prim_profile) continue;
    cost->has_calls |= node->kind == SYM_prim_CallFunction || node->kind == SYM_prim_CallMethod;
    cost->has_callables |= node->callable != NULL;
    cost->nodes += times;
    for (uint32_t i = 0; i < node->block_count && cost->nodes < ENOUGH; i++)
      add_cost(node->blocks[i], node->kind == SYM_prim_Loop && times < ENOUGH / TURNS ? times * TURNS : times, cost);
  }
}

static Cost cost_of(const Graph *graph) {
  Cost cost = {0};
  add_cost(graph->block, 1, &cost);
  return cost;
}

typedef struct Work {
  const PlanRequest *request;
  Plan *plan;
  Exec exec;
  Phases phases;
  CompileClock clock;
  Cost before;
} Work;

static void copy_as_written(void *argument) {
  Work *w = argument;
  const PlanRequest *r = w->request;
  Plan *plan = w->plan;
  plan->graph = graph_copy(r->graph, &plan->store.arena, &plan->store);
  SOURCE_LOG_DUMP(phases_log_file(w->phases.profiles), "Optimizing the following function:", r->services, plan->graph);
  w->before = cost_of(plan->graph);
  w->phases.graph = plan->graph;
  run_inlining(&w->phases);
  w->before.nodes = cost_of(plan->graph).nodes;
  compile_clock_step(&w->clock, "copy and inline");
}

static void run_phases(void *argument) {
  Work *w = argument;
  const PlanRequest *r = w->request;
  Plan *plan = w->plan;
  Phases *phases = &w->phases;
  if (r->profiling) {
    plan->graph = phases->graph = graph_copy(r->profiling->graph, &plan->store.arena, &plan->store);
    w->before = cost_of(plan->graph);
    profiling_record_apply(r->profiling->record, plan->graph);
    compile_clock_step(&w->clock, "copy and inline");
  } else {
    erase_shape_information(plan->graph);
  }
  if (!r->profiling && r->spec) {
    argument_spec_apply(r->spec, plan->graph, r->paths, r->values);
  }
  switch (r->kind) {
    case PLAN_REQUIRED:
      run_required_passes(phases);
      break;
    case PLAN_SPECIALISED:
      run_specialised(phases);
      break;
    case PLAN_PROFILING:
    case PLAN_INSENSITIVE:
      run_profiling_insensitive(phases);
      if (r->kind == PLAN_INSENSITIVE) run_last_optimizations(phases);
      break;
    case PLAN_OPTIMISED:
      run_profiling_optimizations(phases);
      break;
  }
}

static Status make(Work *w) {
  const PlanRequest *r = w->request;
  Plan *plan = w->plan;
  Status status = OK;
  if (!r->profiling) {
    code_graphs_lock();
    status = arena_protect(&plan->store.arena, copy_as_written, w);
    code_graphs_unlock();
  }
  TRY(status);
  status = arena_protect(&plan->store.arena, run_phases, w);
  plan->baseline_graph = w->phases.baseline;
  TRY(status);
  if (r->kind == PLAN_PROFILING) TRY(profiling_record_new(plan->graph, r->profiled_runs, &plan->record));
  if (!graph_fits_stack(plan->graph)) return graph_too_deep();
  Cost cost = cost_of(plan->graph);
  plan->cost = cost.nodes;
  plan->has_gain = r->kind == PLAN_PROFILING || r->kind == PLAN_REQUIRED || cost.has_callables ||
                   (w->before.has_calls && !cost.has_calls) || cost.nodes + 2 < w->before.nodes;
  if (plan->baseline_graph) TRY(code_compile_baseline(plan->baseline_graph, r->name, &plan->baseline));
  TRY(code_compile_plan(plan->graph, r->name, plan->baseline, &plan->code));
  compile_clock_step(&w->clock, "code");
  return OK;
}

Status plan_new(const PlanRequest *request, Plan **out) {
  *out = NULL;
  Plan *plan = mem_calloc(1, sizeof *plan);
  if (!plan) return status_out_of_memory();
  Status status = type_store_init(&plan->store, destroy);
  if (status) {
    mem_free(plan);
    return status;
  }
  plan->store.home = request->graph->store;
  plan->kind = request->kind;
  Work w = {.request = request, .plan = plan};
  w.phases = (Phases){.exec = &w.exec,
                      .function = request->function,
                      .grad_enabled = request->grad_enabled,
                      .clock = &w.clock,
                      .profiles = request->kind != PLAN_REQUIRED && request->kind != PLAN_SPECIALISED};
  exec_init(&w.exec, request->services);
  w.exec.threads = 1;
  if (request->caller) {
    w.exec.observe = request->caller->observe;
    w.exec.observe_user = request->caller->observe_user;
  }
  STATISTIC_ADD(compiles);
  compile_clock_start(&w.clock, plan_kind_name(request->kind));
  status = make(&w);
  if (status) {
    plan_release(plan);
    return status;
  }
  *out = plan;
  return OK;
}
