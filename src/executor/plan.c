/* Making plans: copy, inline, the kind's list of passes, a compact copy of the outcome, Code. What the passes left
 * lying goes with the arena that they worked in. */
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
  profiling_record_release(plan->record);
  graph_dispose(plan->graph);
  cache_count(store->arena.heap, -(int64_t)plan->bytes);
  type_store_dispose(store);
  mem_free(plan);
}

typedef struct Making {
  const PlanRequest *request;
  const Graph *graph; /* to run as it is */
  Plan *plan;
  Arena workshop; /* of the graphs that passes work on; their types are the plan's */
  Exec exec;
  SpecWriter spec;
  Phases phases;
  CompileClock clock;
} Making;

static void copy_as_written(void *argument) {
  Making *w = argument;
  const PlanRequest *r = w->request;
  Plan *plan = w->plan;
  Graph *graph = w->phases.graph = graph_copy(w->graph, &w->workshop, &plan->store);
  SOURCE_LOG_DUMP(phases_log_file(w->phases.profiles), "Optimizing the following function:", graph);
  plan->as_written = plan_cost(graph);
  if (r->spec && r->kind != PLAN_REQUIRED)
    argument_spec_inline(&w->spec, graph);
  else
    inliner(graph);
  autocast(graph); /* of calls that were too large to be inlined before */
  hoist_attributes(graph);
  if (plan->as_written.has_calls) { /* with what they do */
    plan->as_written = plan_cost(graph);
    plan->as_written.has_calls = true;
  }
  compile_clock_step(&w->clock, "copy and inline");
}

static void copy_profiled(Making *w) {
  const Plan *profiling = w->request->profiling;
  Graph *graph = w->phases.graph = graph_copy(profiling->graph, &w->workshop, &w->plan->store);
  w->plan->as_written = profiling->as_written;
  if (w->request->kind == PLAN_OPTIMIZED)
    profiling_record_apply(profiling->record, graph);
  else
    clear_profiling(graph);
  compile_clock_step(&w->clock, "copy and inline");
}

typedef struct Baseline {
  const Graph *from;
  Arena arena;
  Graph *graph;
} Baseline;

static void copy_baseline(void *baseline) {
  Baseline *b = baseline;
  b->graph = bailout_baseline(b->from, &b->arena, b->from->store);
}

/* Its graph is gone before the passes go on. */
static Status keep_baseline(Phases *phases) {
  const Making *w = (const Making *)((const char *)phases - offsetof(Making, phases));
  TypeStore *store = &w->plan->store;
  Baseline b = {.from = phases->graph};
  arena_init(&b.arena, NULL);
  b.arena.beside = &store->arena;
  Status status = arena_protect(&b.arena, copy_baseline, &b);
  if (!status) status = code_compile_baseline(b.graph, w->request->name, &w->plan->baseline);
  graph_dispose(b.graph);
  arena_dispose(&b.arena);
  return status;
}

static void run_phases(void *argument) {
  Making *w = argument;
  const PlanRequest *r = w->request;
  Phases *phases = &w->phases;
  if (r->profiling) {
    copy_profiled(w);
  } else {
    erase_shape_information(phases->graph);
    if (r->spec) argument_spec_apply(&w->spec, phases->graph);
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
    if (!status) status = arena_protect(&w->workshop, copy_as_written, w);
  }
  TRY(status);
  TRY(arena_protect(&w->workshop, run_phases, w));
  if (!graph_fits_stack(w->phases.graph)) return graph_too_deep();
  plan->cost = plan_cost(w->phases.graph);
  return OK;
}

static bool has_gain(const Plan *plan) {
  enum { LITTLE = 16 }; /* ns */
  const PlanCost *before = &plan->as_written, *after = &plan->cost;
  return plan->kind == PLAN_PROFILING || plan->kind == PLAN_REQUIRED || after->has_groups || after->is_strict ||
         (before->has_calls && !after->has_calls) || plan_cost_gain(after, before) > LITTLE;
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

static void leave_workshop(Making *w) {
  graph_dispose(w->phases.graph);
  w->phases.graph = NULL;
  arena_dispose(&w->workshop);
}

static void keep_graph(void *making) {
  Making *w = making;
  TypeStore *store = &w->plan->store;
  w->plan->graph = graph_compact(w->phases.graph, &store->arena, store, true);
  graph_seal(w->plan->graph);
}

static Status make_code(Making *w) {
  const PlanRequest *r = w->request;
  Plan *plan = w->plan;
  if (r->kind == PLAN_PROFILING) TRY(profiling_record_new(w->phases.graph, r->profiled_runs, r->record, &plan->record));
  TRY(arena_protect(&plan->store.arena, keep_graph, w));
  leave_workshop(w);
  compile_clock_step(&w->clock, "compact");
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
  arena_init(&w->workshop, NULL);
  w->workshop.beside = &plan->store.arena;
  w->phases = (Phases){.exec = &w->exec,
                       .function = request->function,
                       .grad_enabled = request->grad_enabled,
                       .small_derivatives = request->small_derivatives,
                       .clock = &w->clock,
                       .keep_baseline = keep_baseline,
                       .profiles = request->kind != PLAN_REQUIRED && request->kind != PLAN_SPECIALIZED};
  w->spec = (SpecWriter){request->spec, request->paths, request->values, &w->exec};
  exec_init_in(&w->exec, request->caller ? request->caller->runtime : runtime_of_process(), request->services);
  w->exec.work.threads = 1;
  w->exec.work.precision = request->precision;
  if (request->function) unit_enter(request->function->unit, &w->exec);
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
  plan->bytes = plan->store.arena.bytes + code_bytes(plan->code) + code_bytes(plan->baseline);
  cache_count(plan->store.arena.heap, (int64_t)plan->bytes);
}

Status plan_new(const PlanRequest *request, Plan **out) {
  HEAP_SCOPE(request->graph->arena->heap); /* not the caller's, whose call may not be the last */
  *out = NULL;
  Making making = {0};
  Status status = begin(request, &making);
  bool costs_more =
      !status && request->instead_of && plan_cost_gain(&making.plan->cost, &request->instead_of->cost) < 0;
  if (!status && !costs_more) {
    status = make_code(&making);
    if (!status) count_bytes(*out = plan_retain(making.plan));
  }
  leave_workshop(&making);
  plan_release(making.plan);
  return status;
}
