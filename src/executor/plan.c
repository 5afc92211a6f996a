/* Making plans: copy, inline, the kind's list of passes, Code. */
#include "executor/plan.h"

#include <assert.h>

#include "base/cache.h"

#include "executor/compile_times.h"
#include "executor/phases.h"
#include "ir/alias_db.h"
#include "ir/graph_log.h"
#include "pass/motion/attribute_reads.h"
#include "pass/pass.h"

const char *plan_kind_name(PlanKind kind) {
  static const char *const names[] = {"required passes", "specialized", "profiling", "optimized",
                                      "insensitive to profiles"};
  assert((size_t)kind < sizeof names / sizeof *names);
  return names[kind];
}

static void destroy(TypeStore *store) {
  Plan *plan = (Plan *)store;
  code_free(plan->code);
  code_free(plan->baseline);
  profiling_record_free(plan->record);
  graph_dispose(plan->graph);
  graph_dispose(plan->baseline_graph);
  cache_count(store->arena.heap, -(int64_t)plan->bytes);
  type_store_dispose(store);
  mem_free(plan);
}

typedef struct Making {
  const PlanRequest *request;
  const Graph *graph; /* to run as it is */
  Plan *plan;
  Exec exec;
  SpecWriter spec;
  Phases phases;
  CompileClock clock;
} Making;

static void copy_as_written(void *argument) {
  Making *w = argument;
  const PlanRequest *r = w->request;
  Plan *plan = w->plan;
  plan->graph = graph_copy(w->graph, &plan->store.arena, &plan->store);
  SOURCE_LOG_DUMP(phases_log_file(w->phases.profiles), "Optimizing the following function:", plan->graph);
  plan->as_written = plan_cost(plan->graph);
  w->phases.graph = plan->graph;
  if (r->spec && r->kind != PLAN_REQUIRED)
    argument_spec_inline(&w->spec, plan->graph);
  else
    inliner(plan->graph);
  autocast(plan->graph); /* of calls that were too large to be inlined before */
  hoist_attributes(plan->graph);
  if (plan->as_written.has_calls) plan->as_written.time = plan_cost(plan->graph).time;
  compile_clock_step(&w->clock, "copy and inline");
}

static void copy_profiled(Making *w) {
  const Plan *profiling = w->request->profiling;
  Plan *plan = w->plan;
  plan->graph = w->phases.graph = graph_copy(profiling->graph, &plan->store.arena, &plan->store);
  plan->as_written = profiling->as_written;
  if (w->request->kind == PLAN_OPTIMIZED)
    profiling_record_apply(profiling->record, plan->graph);
  else
    clear_profiling(plan->graph);
  compile_clock_step(&w->clock, "copy and inline");
}

static void run_phases(void *argument) {
  Making *w = argument;
  const PlanRequest *r = w->request;
  Phases *phases = &w->phases;
  if (r->profiling) {
    copy_profiled(w);
  } else {
    erase_shape_information(w->plan->graph);
    if (r->spec) argument_spec_apply(&w->spec, w->plan->graph);
  }
  switch (r->kind) {
    case PLAN_REQUIRED:
      run_required_passes(phases);
      break;
    case PLAN_SPECIALIZED:
      run_specialized(phases);
      break;
    case PLAN_PROFILING:
      run_profiling_insensitive(phases);
      break;
    case PLAN_INSENSITIVE:
      if (!r->profiling) run_profiling_insensitive(phases);
      run_last_optimizations(phases);
      break;
    case PLAN_OPTIMIZED:
      run_profiling_optimizations(phases);
      break;
  }
}

static Status make_graph(Making *w) {
  Plan *plan = w->plan;
  Status status = OK;
  if (!w->request->profiling) {
    Function *function = w->request->function;
    w->graph = w->request->graph;
    if (function) status = function_graph_to_run(&w->exec, function, &w->graph);
    if (!status) status = arena_protect(&plan->store.arena, copy_as_written, w);
  }
  TRY(status);
  status = arena_protect(&plan->store.arena, run_phases, w);
  plan->baseline_graph = w->phases.baseline;
  TRY(status);
  if (!graph_fits_stack(plan->graph)) return graph_too_deep();
  plan->cost = plan_cost(plan->graph);
  return OK;
}

static bool has_gain(const Plan *plan) {
  enum { LITTLE = 2 };
  const PlanCost *before = &plan->as_written, *after = &plan->cost;
  return plan->kind == PLAN_PROFILING || plan->kind == PLAN_REQUIRED || after->has_groups ||
         (before->has_calls && !after->has_calls) || after->time + LITTLE < before->time;
}

typedef struct StateSearch {
  const Graph *graph;
  Arena scratch;
  AttributeReads reads;
  const Node *first_effect;
} StateSearch;

static void find_state(void *argument) {
  StateSearch *s = argument;
  attribute_reads_find(&s->reads, s->graph, &s->scratch);
  s->first_effect = alias_first_effect(s->graph, &s->scratch);
}

/* What nobody in the graph writes is its state. */
static Status compile_code(Plan *plan, Str name) {
  StateSearch s = {.graph = plan->graph};
  arena_init(&s.scratch, NULL);
  Status status = arena_protect(&s.scratch, find_state, &s);
  StateValues state = {s.reads.inputs, s.reads.count, true, s.first_effect};
  if (!status) status = code_compile_plan(plan->graph, name, plan->baseline, &state, &plan->code);
  arena_dispose(&s.scratch);
  return status;
}

static Status make_code(Making *w) {
  const PlanRequest *r = w->request;
  Plan *plan = w->plan;
  if (r->kind == PLAN_PROFILING) TRY(profiling_record_new(plan->graph, r->profiled_runs, &plan->record));
  if (plan->baseline_graph) TRY(code_compile_baseline(plan->baseline_graph, r->name, &plan->baseline));
  TRY(compile_code(plan, r->name));
  compile_clock_step(&w->clock, "code");
  return OK;
}

/* Everything but the Code. w->plan is owned, also after an error. */
static Status begin(const PlanRequest *request, Making *w) {
  Plan *plan = mem_calloc(1, sizeof *plan);
  if (!plan) return status_out_of_memory();
  Status status = type_store_init(&plan->store, destroy);
  if (status) {
    mem_free(plan);
    return status;
  }
  plan->store.home = request->graph->store;
  plan->kind = request->kind;
  *w = (Making){.request = request, .plan = plan};
  w->phases = (Phases){.exec = &w->exec,
                       .function = request->function,
                       .grad_enabled = request->grad_enabled,
                       .clock = &w->clock,
                       .profiles = request->kind != PLAN_REQUIRED && request->kind != PLAN_SPECIALIZED};
  w->spec = (SpecWriter){request->spec, request->paths, request->values, &w->exec};
  exec_init_in(&w->exec, request->caller ? request->caller->runtime : runtime_of_process(), request->services);
  w->exec.work.threads = 1;
  if (request->function) w->exec.device_map = &request->function->unit->device_map;
  w->exec.is_silent = !request->caller;
  STATISTIC_ADD(compiles);
  compile_clock_start(&w->clock, plan_kind_name(request->kind));
  TRY(make_graph(w));
  plan->has_gain = has_gain(plan);
  return OK;
}

bool plan_guards_may_not_pay(const Plan *plan) {
  return plan->kind == PLAN_OPTIMIZED && plan->cost.has_guards && !plan->cost.has_gradients;
}

/* A plan is never refused for want of room: what else is kept makes room for it. */
static void count_bytes(Plan *plan) {
  plan->bytes = plan->store.arena.bytes;
  cache_count(plan->store.arena.heap, (int64_t)plan->bytes);
}

Status plan_new(const PlanRequest *request, Plan **out) {
  HEAP_SCOPE(request->graph->arena->heap); /* not the caller's, whose call may not be the last */
  *out = NULL;
  Making making = {0};
  Status status = begin(request, &making);
  bool costs_more = !status && request->instead_of && making.plan->cost.time > request->instead_of->cost.time;
  if (!status && !costs_more) {
    status = make_code(&making);
    if (!status) count_bytes(*out = plan_retain(making.plan));
  }
  plan_release(making.plan);
  return status;
}
