/* Executors of functions, and how a call runs in one. */
#include "executor/graph_executor.h"

#include "base/clock.h"
#include "base/fork.h"
#include "base/stack.h"
#include "executor/drop_weights.h"
#include "executor/plan_cost.h"
#include "executor/variant.h"

/* What the first call of a function waits for a plan to run in, at most; and at its end for the plan of the next,
 * unless it took longer itself. */
#define FIRST_WAIT_NS UINT64_C(10000000)

/* ---- making, holding and freeing ---- */

static bool retain_unless_zero(RefCount *refs) {
  int32_t count = atomic_load(&refs->count);
  while (count > 0)
    if (atomic_compare_exchange_weak(&refs->count, &count, count + 1)) return true;
  return false;
}

bool graph_executor_hold(GraphExecutor *e) {
  return retain_unless_zero(e->function ? &e->function->unit->store.refs : &e->refs);
}

void graph_executor_let_go(GraphExecutor *e) {
  if (e->function)
    unit_release(e->function->unit);
  else
    graph_executor_release(e);
}

void graph_executor_free(GraphExecutor *e) {
  if (!e) return;
  executor_list_remove(&e->link);
  queue_remove(&e->find_paths);
  for (int mode = 0; mode < EXECUTOR_MODE_COUNT; mode++) {
    VariantList *list = &e->lists[mode];
    for (uint32_t i = 0; i < atomic_load(&list->count); i++) variant_free(atomic_load(&list->items[i]));
    for (int i = 0; i < CALL_TERMS; i++) variant_free(atomic_load(&list->generic[i]));
  }
  AttributePaths *paths = atomic_load(&e->paths);
  if (paths) attribute_paths_dispose(paths);
  mem_free(paths);
  pthread_mutex_destroy(&e->lock);
  if (!e->function) {
    code_free((Code *)(uintptr_t)e->code);
    graph_dispose((Graph *)(uintptr_t)e->graph);
    graph_dispose(e->lowered);
    for (size_t i = 0; i < e->sources.length; i++) source_release(e->sources.data[i]);
    vec_dispose(&e->sources);
    type_store_release(e->store);
  }
  mem_free(e);
}

GraphExecutor *graph_executor_alloc(const Graph *graph, Str name, const Services *services) {
  static _Atomic uint64_t serial;
  GraphExecutor *e = mem_calloc(1, sizeof *e);
  if (!e) return NULL;
  ref_init(&e->refs);
  e->serial = atomic_fetch_add_explicit(&serial, 1, memory_order_relaxed);
  e->graph = graph;
  e->name = name;
  e->services = services;
  e->find_paths = attributes_job();
  pthread_mutex_init(&e->lock, NULL);
  executor_list_add(&e->link);
  return e;
}

GraphExecutor *graph_executor_of(Function *function, const Services *services) {
  static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
  GraphExecutor *e = atomic_load_explicit(&function->executor, memory_order_acquire);
  if (e || !function->graph) return e;
  HEAP_SCOPE(function->graph->arena->heap);
  lock_take(&lock);
  e = atomic_load(&function->executor);
  if (!e) {
    e = graph_executor_alloc(function->graph, function->name, services);
    if (e) {
      e->function = function;
      atomic_store_explicit(&function->executor, e, memory_order_release);
    }
  }
  lock_drop(&lock);
  return e;
}

static void weigh_guards_of(ExecutorLink *link, void *unused) {
  (void)unused;
  VariantList *list = &((GraphExecutor *)link)->lists[EXECUTOR_PROFILING];
  for (uint32_t i = atomic_load(&list->count); i-- > 0;) variant_weigh(atomic_load(&list->items[i]));
  for (int i = 0; i < CALL_TERMS; i++) {
    Variant *generic = atomic_load(&list->generic[i]);
    if (generic) variant_weigh(generic);
  }
}

void graph_executors_weigh(void) {
  executor_list_each(weigh_guards_of, NULL);
}

/* ---- running ---- */

static Status run_as_written(GraphExecutor *e, Exec *exec, const IValue *arguments, uint32_t count, IValue *outputs,
                             uint32_t output_count) {
  const Code *code = e->code;
  if (e->function) TRY(function_code(exec, e->function, &code));
  return interp_run(exec, code, arguments, count, outputs, output_count);
}

static ExecutorMode mode_of_call(const Exec *exec) {
  if (exec->recorder) return EXECUTOR_SIMPLE;
  return executor_options_of(exec)->no_optimize ? EXECUTOR_DEFAULT : executor_mode_of(exec);
}

bool graph_executor_plans_here(const GraphExecutor *e, const Exec *exec) {
  enum { MOST_NODES = 2000, LEAST_STACK = 512 << 10 };
  return exec->work.first_epoch && !exec->work.deadline_ns && stack_left() >= LEAST_STACK &&
         graph_is_within(e->graph, MOST_NODES);
}

/* The variant of a call, its first plan asked for; waits for either up to `wait_ns`. NULL: it is not known yet. */
static Variant *ask_for_plan(GraphExecutor *e, Exec *exec, const IValue *arguments, uint32_t count, CallState *state,
                             uint64_t wait_ns) {
  ExecutorMode mode = mode_of_call(exec);
  *state = call_state_begin(e, exec, mode, arguments, count);
  Variant *v = graph_executor_variant(e, exec, mode, executor_options_of(exec), arguments, count, state, wait_ns);
  if (v && atomic_load_explicit(&v->stage, memory_order_relaxed) == STAGE_NEW) {
    variant_compile(v, exec);
    if (wait_ns) queue_wait(&v->job, wait_ns);
  }
  return v;
}

static bool is_without_gain(const GraphExecutor *e, const Exec *exec) {
  return atomic_load_explicit(&e->without_gain[call_terms_of(exec)], memory_order_relaxed);
}

/* The variant's plan, acquired, and the state that goes with it. NULL: the call runs the graph as written. */
static Plan *acquire_plan(Variant *v, CallState *state, const IValue *arguments) {
  if (!v) return NULL;
  Plan *plan = variant_acquire(v);
  Status status = call_state_read(state, v, plan, arguments);
  if (!status) return plan;
  status_free(status); /* no memory: the graph as written takes less */
  plan_release(plan);
  return NULL;
}

/* The variant, the plan that the call runs in and its state, both acquired. NULL: it runs the graph as written. */
static Plan *plan_of_call(GraphExecutor *e, Exec *exec, const IValue *arguments, uint32_t count, uint64_t wait_ns,
                          Variant **out, Snapshot **out_state) {
  *out = NULL;
  if (mode_of_call(exec) == EXECUTOR_SIMPLE) return NULL;
  STATISTIC_ADD(invocations);
  if (is_without_gain(e, exec)) return NULL;
  CallState state;
  Variant *v = *out = ask_for_plan(e, exec, arguments, count, &state, wait_ns);
  Plan *plan = acquire_plan(v, &state, arguments);
  if (plan) {
    STATISTIC_ADD(plan_hits);
    *out_state = state.snapshot;
  } else {
    STATISTIC_ADD(plan_misses);
    snapshot_release(state.snapshot);
  }
  return plan;
}

/* What the program did, or what it was given; not what stopped it. */
static bool is_its_own(ErrorCode code) {
  switch (code) {
    case ERROR_OUT_OF_MEMORY:
    case ERROR_CANCELLED:
    case ERROR_DEADLINE:
    case ERROR_BUDGET:
    case ERROR_INTERNAL:
      return false;
    default:
      return true;
  }
}

/* Runs in plans, and runs as written after one failed, that this thread is in: programs call one another through
 * kernels. Only the outermost asks again, or each level of such calls would double the time of an error. */
static _Thread_local uint32_t runs_under_way;

/* A plan computes in another order, so another error may come first. If nothing can be noticed of the run yet, the
 * program as written says which, unless something stops it. What strict_fusion regions raise is the plan's alone. */
static Status fail_as_written(GraphExecutor *e, Exec *exec, Status in_plan, const IValue *arguments, uint32_t count,
                              IValue *outputs, uint32_t output_count) {
  runs_under_way++;
  Status status = run_as_written(e, exec, arguments, count, outputs, output_count);
  runs_under_way--;
  if (!status) reason_add(REASON_PLAN_FAILED_ALONE, e->graph->block->ret->range);
  bool answers = !status || is_its_own(status->code);
  status_free(answers ? in_plan : status);
  return answers ? status : in_plan;
}

static Status run_in_plan(GraphExecutor *e, Variant *v, Plan *plan, Snapshot *state, Exec *exec,
                          const IValue *arguments, uint32_t count, IValue *outputs, uint32_t output_count) {
  InterpRun run = variant_begin_run(v, plan, state);
  bool grad_enabled = exec->grad_enabled;
  runs_under_way++;
  Status status = interp_run_plan(exec, plan->code, arguments, count, outputs, output_count, &run);
  runs_under_way--;
  bool asks_again = status && !runs_under_way && run.left_no_trace && is_its_own(status->code) &&
                    exec->grad_enabled == grad_enabled && !plan->cost.is_strict;
  if (state && !exec->grad_enabled && !exec->work.first_epoch && count) drop_weights(plan->code, state, arguments[0]);
  variant_end_run(v, plan, &run, exec, !status);
  return asks_again ? fail_as_written(e, exec, status, arguments, count, outputs, output_count) : status;
}

/* A call does not wait beyond its deadline. */
static uint64_t within_deadline(const Exec *exec, uint64_t wait_ns) {
  if (!exec->work.deadline_ns) return wait_ns;
  uint64_t now = clock_now_ns(), left = exec->work.deadline_ns > now ? exec->work.deadline_ns - now : 0;
  return wait_ns < left ? wait_ns : left;
}

/* It waits, so that those after it find what they will run in. */
static Status run_and_wait(GraphExecutor *e, Exec *exec, const IValue *arguments, uint32_t count, IValue *outputs,
                           uint32_t output_count) {
  Variant *v;
  Snapshot *state;
  Plan *plan = plan_of_call(e, exec, arguments, count, within_deadline(exec, FIRST_WAIT_NS), &v, &state);
  uint64_t begin = clock_now_ns();
  Status status = plan ? run_in_plan(e, v, plan, state, exec, arguments, count, outputs, output_count)
                       : run_as_written(e, exec, arguments, count, outputs, output_count);
  uint64_t took = clock_now_ns() - begin, wait_ns = within_deadline(exec, took > FIRST_WAIT_NS ? took : FIRST_WAIT_NS);
  if (v) {
    queue_wait(&v->job, wait_ns);
  } else if (mode_of_call(exec) != EXECUTOR_SIMPLE && !is_without_gain(e, exec)) {
    CallState unused;
    ask_for_plan(e, exec, arguments, count, &unused, wait_ns);
    snapshot_release(unused.snapshot);
  }
  return status;
}

/* The first call of a function: kernels prepare for those after it. */
static Status run_first(GraphExecutor *e, Exec *exec, const IValue *arguments, uint32_t count, IValue *outputs,
                        uint32_t output_count) {
  uint32_t outer = exec->work.first_epoch;
  if (!outer) exec->work.first_epoch = storage_epoch_begin();
  Status status = run_and_wait(e, exec, arguments, count, outputs, output_count);
  exec->work.first_epoch = outer;
  return status;
}

Status graph_executor_run(GraphExecutor *e, Exec *exec, const IValue *arguments, uint32_t count, IValue *outputs,
                          uint32_t output_count) {
  if (e->function && !atomic_load_explicit(&e->was_called, memory_order_relaxed) &&
      !atomic_exchange(&e->was_called, true))
    return run_first(e, exec, arguments, count, outputs, output_count);
  Variant *v;
  Snapshot *state;
  Plan *plan = plan_of_call(e, exec, arguments, count, 0, &v, &state);
  return plan ? run_in_plan(e, v, plan, state, exec, arguments, count, outputs, output_count)
              : run_as_written(e, exec, arguments, count, outputs, output_count);
}

/* ---- running as a task ---- */

typedef struct PlanRun {
  AsyncRun async; /* first member */
  Variant *variant;
  Plan *plan;
} PlanRun;

static void plan_run_ended(AsyncRun *async, Exec *exec, bool succeeded) {
  PlanRun *run = (PlanRun *)async;
  variant_end_run(run->variant, run->plan, &run->async.run, exec, succeeded);
  mem_free(run);
}

static Status start_as_written(GraphExecutor *e, Exec *exec, const IValue *arguments, uint32_t count, Future **out) {
  const Code *code;
  *out = NULL;
  TRY(function_code(exec, e->function, &code));
  return interp_start(exec, e->function, code, arguments, count, NULL, out);
}

Status graph_executor_start(GraphExecutor *e, Exec *exec, const IValue *arguments, uint32_t count, Future **out) {
  Variant *v;
  Snapshot *state;
  Plan *plan = plan_of_call(e, exec, arguments, count, 0, &v, &state);
  if (!plan) return start_as_written(e, exec, arguments, count, out);
  PlanRun *run = mem_alloc(sizeof *run);
  if (!run) {
    snapshot_release(state);
    plan_release(plan);
    return start_as_written(e, exec, arguments, count, out);
  }
  *run = (PlanRun){{variant_begin_run(v, plan, state), plan_run_ended}, v, plan};
  Status status = interp_start(exec, e->function, plan->code, arguments, count, &run->async, out);
  if (status) plan_run_ended(&run->async, exec, false);
  return status;
}
