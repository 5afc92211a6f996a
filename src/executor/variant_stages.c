/* What becomes of a variant: which plan it makes next, after what its calls have shown. */
#include "executor/variant.h"

#include <assert.h>

#include "base/fork.h"
#include "interp/interp.h"
#include "report/jit_log.h"

enum {
  BAILOUTS_TO_GIVE_UP = 2,
  RUNS_TO_WEIGH = 8 /* of a guarded plan: the calls of a program that makes few don't share the processor with it */
};

static void settle(Variant *v, Plan *plan) {
  variant_publish(v, plan);
  plan_release(v->profiling);
  profiling_record_release(v->record);
  v->profiling = NULL;
  v->record = NULL;
  atomic_store(&v->stage, STAGE_SETTLED);
}

/* `instead_of`: NULL, or what the plan has to cost no more than: *out is NULL where it would. */
static Status make_plan(Variant *v, PlanKind kind, const Plan *instead_of, Plan **out) {
  GraphExecutor *e = v->executor;
  const AttributePaths *paths = atomic_load(&e->paths);
  PlanRequest request = {.kind = kind,
                         .graph = e->graph,
                         .name = e->name,
                         .function = e->function,
                         .spec = v->is_generic ? NULL : &v->spec,
                         .paths = paths,
                         .values = v->values,
                         .profiling = v->profiling,
                         .instead_of = instead_of,
                         .profiled_runs = v->options.profiled_runs,
                         .record = v->record,
                         .grad_enabled = v->spec.grad_enabled,
                         .precision = v->spec.precision,
                         .small_derivatives = v->options.small_derivatives,
                         .services = e->services,
                         .caller = v->caller};
  return plan_new(&request, out);
}

static bool is_worth_keeping(const Variant *v, const Plan *plan) {
  return plan->has_gain || v->options.compile_now;
}

/* `plan` is taken over: the last of the variant; the graph as written where that does no more. false, and it is not:
 * the stage is another than `from` by now. */
static bool settle_on(Variant *v, Plan *plan, Stage from) {
  GraphExecutor *e = v->executor;
  Plan *kept = is_worth_keeping(v, plan) ? plan : NULL;
  lock_take(&e->lock);
  bool settles = atomic_load(&v->stage) == (int)from;
  if (settles) settle(v, kept ? plan_retain(kept) : NULL);
  lock_drop(&e->lock);
  if (settles && !kept) {
    enum { TERMS_ALONE = 1 };
    reason_add(REASON_PLAN_WITHOUT_GAIN, e->graph->block->ret->range);
    if (v->options.mode == EXECUTOR_PROFILING && v->spec.count == TERMS_ALONE)
      atomic_store(&e->without_gain[argument_spec_terms(&v->spec)], 1);
  }
  plan_release(plan);
  return settles;
}

static Status settle_with(Variant *v, PlanKind kind) {
  Plan *plan;
  TRY(make_plan(v, kind, NULL, &plan));
  settle_on(v, plan, (Stage)atomic_load(&v->stage));
  return OK;
}

static Status profile(Variant *v) {
  Plan *plan;
  TRY(make_plan(v, PLAN_PROFILING, NULL, &plan));
  plan_release(v->profiling); /* of an attempt that was cancelled */
  v->profiling = plan;
  if (!profiling_record_slots(plan->record)) return settle_with(v, PLAN_INSENSITIVE); /* no tensors */
  profiling_record_retain(plan->record);
  profiling_record_release(v->record);
  v->record = plan->record;
  lock_take(&v->executor->lock);
  variant_publish(v, plan_retain(plan));
  atomic_store(&v->stage, STAGE_PROFILING);
  lock_drop(&v->executor->lock);
  return OK;
}

/* What calls run in goes on to be it. */
static void become_ready(Variant *v) {
  Plan *profiling = NULL;
  lock_take(&v->executor->lock);
  if (atomic_load(&v->stage) == STAGE_WEIGHING) {
    atomic_store(&v->stage, STAGE_READY);
    profiling = v->profiling;
    v->profiling = NULL;
  }
  lock_drop(&v->executor->lock);
  plan_release(profiling);
}

static Status assume_profile(Variant *v) {
  Plan *plan;
  TRY(make_plan(v, PLAN_OPTIMIZED, NULL, &plan));
  bool may_not_pay = plan_guards_may_not_pay(plan) && !v->options.compile_now;
  if (!may_not_pay && !is_worth_keeping(v, plan)) {
    settle_on(v, plan, STAGE_PROFILING);
    return OK;
  }
  lock_take(&v->executor->lock);
  variant_publish(v, plan);
  atomic_store(&v->stage, STAGE_WEIGHING);
  lock_drop(&v->executor->lock);
  if (v->options.compile_now) become_ready(v);
  return OK;
}

/* Guards have to gain more than they cost: else the plan without assumptions is the last. Meanwhile calls run in the
 * guarded one, and may leave it for another stage. */
static Status weigh_guards(Variant *v) {
  Plan *guarded = variant_acquire(v), *plan = NULL;
  assert(guarded);
  bool may_not_pay = plan_guards_may_not_pay(guarded);
  Status status = may_not_pay ? make_plan(v, PLAN_INSENSITIVE, guarded, &plan) : OK;
  if (plan && settle_on(v, plan, STAGE_WEIGHING))
    reason_add(REASON_GUARDS_WITHOUT_GAIN, v->executor->graph->block->ret->range);
  else if (!plan && !status && !is_worth_keeping(v, guarded))
    settle_on(v, plan_retain(guarded), STAGE_WEIGHING);
  else
    become_ready(v);
  plan_release(guarded);
  return status;
}

/* The next step from where the variant stands. */
static Status advance(Variant *v) {
  switch ((Stage)atomic_load(&v->stage)) {
    case STAGE_NEW:
      if (v->options.mode == EXECUTOR_DEFAULT) return settle_with(v, PLAN_REQUIRED);
      if (v->options.mode == EXECUTOR_SPECIALIZING)
        return settle_with(v, v->is_generic ? PLAN_INSENSITIVE : PLAN_SPECIALIZED);
      return profile(v);
    case STAGE_PROFILING_AGAIN:
      return profile(v);
    case STAGE_PROFILING:
      /* Asked for by a run that saw the record before it was extended: more runs are being merged into it. */
      return profiling_record_is_ready(v->profiling->record) ? assume_profile(v) : OK;
    case STAGE_FALLING_BACK:
      return settle_with(v, PLAN_INSENSITIVE);
    default:
      return OK;
  }
}

static void tell_failure(const Variant *v, Status status) {
  reason_add(REASON_PLAN_FAILED, v->executor->graph->block->ret->range);
  JIT_LOG_UPDATE("graph_executor", STR_FMT ": no plan: %s\n", STR_ARG(v->executor->name), status->message);
}

/* Neither the graph's fault nor for good: the next call tries again. */
static bool was_stopped(Status status) {
  return status->code == ERROR_CANCELLED || status->code == ERROR_DEADLINE;
}

static Variant *variant_of_weighing(Job *job) {
  return (Variant *)((char *)job - offsetof(Variant, weighing));
}
static void run_weighing(Job *job) {
  Variant *v = variant_of_weighing(job);
  assert(atomic_load(&v->is_compiling));
  if (atomic_load(&v->stage) == STAGE_WEIGHING) {
    Status status = weigh_guards(v);
    if (status && !was_stopped(status)) tell_failure(v, status);
    status_free(status);
  }
  atomic_store(&v->is_compiling, false);
}
static bool hold_weighing(Job *job) {
  return graph_executor_hold(variant_of_weighing(job)->executor);
}
static void let_weighing_go(Job *job) {
  graph_executor_let_go(variant_of_weighing(job)->executor);
}
Job variant_weighing(void) {
  return (Job){.run = run_weighing, .hold = hold_weighing, .let_go = let_weighing_go};
}

static void run_job(Job *job) {
  Variant *v = (Variant *)job;
  assert(atomic_load(&v->is_compiling));
  Status status = advance(v);
  Stage stage = (Stage)atomic_load(&v->stage);
  if (status && !was_stopped(status) && (stage == STAGE_PROFILING || stage == STAGE_PROFILING_AGAIN)) {
    tell_failure(v, status);
    status_free(status);
    status = settle_with(v, PLAN_INSENSITIVE);
  }
  if (status && !was_stopped(status)) {
    tell_failure(v, status);
    lock_take(&v->executor->lock);
    settle(v, NULL);
    lock_drop(&v->executor->lock);
  }
  status_free(status);
  atomic_store(&v->is_compiling, false);
}

static bool hold_variant(Job *job) {
  return graph_executor_hold(((Variant *)job)->executor);
}
static void let_variant_go(Job *job) {
  graph_executor_let_go(((Variant *)job)->executor);
}
Job variant_job(void) {
  return (Job){.run = run_job, .hold = hold_variant, .let_go = let_variant_go};
}

/* On the caller's thread. What is kept is nobody's: it does not count for the call. */
static void run_now(Variant *v) {
  MemBudget *budget = mem_budget_enter(NULL);
  run_job(&v->job);
  mem_budget_enter(budget);
}

void variant_compile(Variant *v, const Exec *exec) {
  if (atomic_exchange(&v->is_compiling, true)) return;
  if (v->options.compile_now) {
    v->caller = exec;
    run_now(v);
  } else if (graph_executor_plans_here(v->executor, exec)) {
    run_now(v);
  } else if (!queue_add(&v->job)) {
    atomic_store(&v->is_compiling, false);
  }
}

/* Its job may have been refused for want of memory. */
static bool awaits_job(Stage stage) {
  return stage == STAGE_FALLING_BACK || stage == STAGE_PROFILING_AGAIN;
}
static bool is_guarded(Stage stage) {
  return stage == STAGE_READY || stage == STAGE_WEIGHING;
}

/* Too many guards failed. The lock is held. */
static void give_up_plan(Variant *v) {
  if (!v->depth) {
    atomic_store(&v->stage, STAGE_FALLING_BACK);
    return;
  }
  v->depth--;
  if (v->profiling) {
    profiling_record_extend(v->record, v->options.profiled_runs);
    atomic_store(&v->stage, STAGE_PROFILING);
    variant_publish(v, plan_retain(v->profiling));
  } else {
    atomic_store(&v->stage, STAGE_PROFILING_AGAIN);
  }
}

/* A guard of the plan failed once more. */
static void bailed_out(Variant *v, Plan *plan, const Exec *exec) {
  STATISTIC_ADD(bailouts);
  if (atomic_fetch_add(&plan->bailouts, 1) + 1 >= BAILOUTS_TO_GIVE_UP) {
    lock_take(&v->executor->lock);
    if (atomic_load(&v->plan) == plan && is_guarded((Stage)atomic_load(&v->stage)) && v->record) give_up_plan(v);
    lock_drop(&v->executor->lock);
  }
  if (awaits_job((Stage)atomic_load(&v->stage))) variant_compile(v, exec);
}

void variant_weigh(Variant *v) {
  if (atomic_load(&v->stage) != STAGE_WEIGHING || atomic_exchange(&v->is_compiling, true)) return;
  if (!queue_add(&v->weighing)) atomic_store(&v->is_compiling, false);
}

InterpRun variant_begin_run(const Variant *v, Plan *plan, Snapshot *state) {
  InterpRun run = {.state = state, .force_guard = v->options.force_guard};
  if (plan->record && !profiling_record_is_ready(plan->record)) run.profile = profiling_record_begin(plan->record);
  return run;
}

void variant_end_run(Variant *v, Plan *plan, const InterpRun *run, const Exec *exec, bool succeeded) {
  if (plan->record) {
    bool awaits = succeeded && !v->options.compile_now && profiling_record_await_state(plan->record, run->profile);
    if (awaits) queue_begin(); /* no later call has to: those that make its plan themselves are first calls */
    profiling_record_end(plan->record, run->profile, succeeded);
    if (profiling_record_is_ready(plan->record) && atomic_load(&v->stage) == STAGE_PROFILING) variant_compile(v, exec);
  }
  if (run->failed_guard)
    bailed_out(v, plan, exec);
  else if (atomic_load_explicit(&v->stage, memory_order_relaxed) == STAGE_WEIGHING &&
           atomic_fetch_add(&plan->runs, 1) + 1 >= RUNS_TO_WEIGH)
    variant_weigh(v);
  snapshot_release(run->state);
  plan_release(plan);
}
