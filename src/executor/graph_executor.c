/* Variants and their stages. The executor's lock guards lists and stages; plans are read without it. */
#include "executor/graph_executor.h"

#include <pthread.h>
#include <sched.h>

#include "base/clock.h"
#include "base/fork.h"
#include "executor/compile_times.h"
#include "executor/executor_list.h"
#include "executor/plan.h"
#include "executor/queue.h"
#include "fuse/group.h"
#include "pass/pass.h"

/* What the first call of a function waits for a plan to run in, at most; and at its end for the plan of the next,
 * unless it took longer itself. */
#define FIRST_WAIT_NS UINT64_C(10000000)

enum { MAX_VARIANTS = 32, BAILOUTS_TO_GIVE_UP = 2, GENERIC_VARIANTS = 2 };

typedef enum Stage { STAGE_NEW, STAGE_PROFILING, STAGE_READY, STAGE_FALLING_BACK, STAGE_SETTLED } Stage;

typedef struct Variant {
  Job job;
  GraphExecutor *executor;
  ExecutorOptions options;
  ArgumentSpec spec;
  bool is_generic;           /* assumes nothing: for what found no place among the variants */
  IValue *values;            /* of the attributes, retained */
  const Exec *caller;        /* while it compiles on its thread */
  _Atomic(Plan *) plan;      /* what calls run in; NULL: the graph as written */
  _Atomic uint32_t readers;  /* of `plan`, between reading and retaining it */
  _Atomic int stage;         /* Stage */
  _Atomic bool is_compiling; /* its job is queued or under way; who sets it may queue it */
  Plan *profiling;           /* kept to profile again */
  uint32_t depth;
} Variant;

/* By mode; unoptimized plans are those of EXECUTOR_DEFAULT. */
typedef struct VariantList {
  _Atomic uint32_t count;
  _Atomic(Variant *) items[MAX_VARIANTS];
  _Atomic(Variant *) generic[GENERIC_VARIANTS]; /* by grad mode */
} VariantList;

struct GraphExecutor {
  ExecutorLink link; /* first member */
  RefCount refs;     /* of one without a function */
  Function *function;
  const Graph *graph; /* as written */
  Str name;
  const Services *services;
  pthread_mutex_t lock;
  Job find_paths;
  _Atomic bool is_finding, was_called;
  _Atomic(AttributePaths *) paths; /* NULL: not looked for yet */
  VariantList lists[EXECUTOR_MODE_COUNT];
  _Atomic uint8_t hopeless[GENERIC_VARIANTS]; /* by grad mode: optimizing gains nothing, whatever the arguments */
  /* without a function: */
  TypeStore *store; /* of `graph` */
  VEC(const Source *) sources;
  Graph *lowered;   /* `graph` without prim::GradOf, which only plans make use of */
  const Code *code; /* of `lowered` */
};

/* ---- plans of a variant ---- */

static Plan *acquire(Variant *v) {
  if (!atomic_load_explicit(&v->plan, memory_order_relaxed)) return NULL;
  atomic_fetch_add(&v->readers, 1);
  Plan *plan = atomic_load(&v->plan);
  if (plan) plan_retain(plan);
  atomic_fetch_sub(&v->readers, 1);
  return plan;
}

/* `plan`, whose reference is taken over, in the place of the one returned, which no call acquires any more. The lock is
 * held. */
static Plan *withdraw(Variant *v, Plan *plan) {
  Plan *old = atomic_exchange(&v->plan, plan);
  while (atomic_load(&v->readers)) sched_yield(); /* a few instructions of theirs */
  return old;
}

static void publish(Variant *v, Plan *plan) {
  plan_release(withdraw(v, plan));
}

static void settle(Variant *v, Plan *plan) {
  publish(v, plan);
  plan_release(v->profiling);
  v->profiling = NULL;
  atomic_store(&v->stage, STAGE_SETTLED);
}

/* ---- compiling ---- */

static Status make_plan(Variant *v, PlanKind kind, Plan **out) {
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
                         .keep_guards = v->options.compile_now,
                         .profiled_runs = v->options.profiled_runs,
                         .grad_enabled = v->spec.grad_enabled,
                         .services = e->services,
                         .caller = v->caller};
  return plan_new(&request, out);
}

/* `plan` is taken over: the last of the variant; the graph as written where that does no more. */
static void settle_on(Variant *v, Plan *plan) {
  GraphExecutor *e = v->executor;
  if (!plan->has_gain && !v->options.compile_now) {
    enum { GRAD_MODE_ALONE = 1 };
    reason_add(REASON_PLAN_WITHOUT_GAIN, e->graph->block->ret->range);
    if (v->options.mode == EXECUTOR_PROFILING && v->spec.count == GRAD_MODE_ALONE)
      atomic_store(&e->hopeless[v->spec.grad_enabled], 1);
    plan_release(plan);
    plan = NULL;
  }
  lock_take(&e->lock);
  settle(v, plan);
  lock_drop(&e->lock);
}

static Status settle_with(Variant *v, PlanKind kind) {
  Plan *plan;
  TRY(make_plan(v, kind, &plan));
  settle_on(v, plan);
  return OK;
}

static Status profile_first(Variant *v) {
  Plan *plan;
  TRY(make_plan(v, PLAN_PROFILING, &plan));
  plan_release(v->profiling); /* of an attempt that was cancelled */
  v->profiling = plan;
  if (!profiling_record_slots(plan->record)) return settle_with(v, PLAN_INSENSITIVE); /* no tensors */
  lock_take(&v->executor->lock);
  publish(v, plan_retain(plan));
  atomic_store(&v->stage, STAGE_PROFILING);
  lock_drop(&v->executor->lock);
  return OK;
}

static Status assume_profile(Variant *v) {
  Plan *plan;
  TRY(make_plan(v, PLAN_OPTIMIZED, &plan));
  if (plan->kind != PLAN_OPTIMIZED || (!plan->has_gain && !v->options.compile_now)) {
    settle_on(v, plan);
    return OK;
  }
  lock_take(&v->executor->lock);
  publish(v, plan);
  atomic_store(&v->stage, STAGE_READY);
  lock_drop(&v->executor->lock);
  return OK;
}

/* The next step from where the variant stands. */
static Status advance(Variant *v) {
  switch ((Stage)atomic_load(&v->stage)) {
    case STAGE_NEW:
      if (v->options.mode == EXECUTOR_DEFAULT) return settle_with(v, PLAN_REQUIRED);
      if (v->options.mode == EXECUTOR_SPECIALIZING)
        return settle_with(v, v->is_generic ? PLAN_INSENSITIVE : PLAN_SPECIALIZED);
      return profile_first(v);
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

static void run_job(Job *job) {
  Variant *v = (Variant *)job;
  Status status = advance(v);
  if (status && !was_stopped(status) && atomic_load(&v->stage) == STAGE_PROFILING) {
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

static bool retain_unless_zero(RefCount *refs) {
  int32_t count = atomic_load(&refs->count);
  while (count > 0)
    if (atomic_compare_exchange_weak(&refs->count, &count, count + 1)) return true;
  return false;
}

static bool hold(GraphExecutor *e) {
  return retain_unless_zero(e->function ? &e->function->unit->store.refs : &e->refs);
}

static void let_go(GraphExecutor *e) {
  if (e->function)
    unit_release(e->function->unit);
  else
    graph_executor_release(e);
}

static bool hold_variant(Job *job) {
  return hold(((Variant *)job)->executor);
}
static void let_variant_go(Job *job) {
  let_go(((Variant *)job)->executor);
}

/* Lets the variant advance, on this thread or off it. */
static void compile(Variant *v, const Exec *exec) {
  if (atomic_exchange(&v->is_compiling, true)) return;
  if (v->options.compile_now) {
    v->caller = exec;
    run_job(&v->job);
  } else if (!queue_add(&v->job)) {
    atomic_store(&v->is_compiling, false);
  }
}

/* ---- attributes ---- */

static void find_paths_now(GraphExecutor *e) {
  CompileClock clock;
  compile_clock_start(&clock, "attributes");
  AttributePaths *paths = mem_calloc(1, sizeof *paths);
  lock_enter(); /* a fork waits: in the child nobody would be looking any more */
  if (paths) {
    Status status = attribute_paths_find(e->graph, paths);
    status_free(status); /* without paths nothing is assumed */
  }
  atomic_store(&e->paths, paths);
  lock_leave();
  compile_clock_step(&clock, "paths");
}

static void run_find_paths(Job *job) {
  find_paths_now((GraphExecutor *)((char *)job - offsetof(GraphExecutor, find_paths)));
}
static bool hold_for_paths(Job *job) {
  return hold((GraphExecutor *)((char *)job - offsetof(GraphExecutor, find_paths)));
}
static void let_paths_go(Job *job) {
  let_go((GraphExecutor *)((char *)job - offsetof(GraphExecutor, find_paths)));
}

/* NULL: they are being looked for. */
static const AttributePaths *paths_of(GraphExecutor *e, bool now) {
  const AttributePaths *paths = atomic_load_explicit(&e->paths, memory_order_acquire);
  if (paths || atomic_exchange(&e->is_finding, true)) return paths;
  if (now)
    find_paths_now(e);
  else if (!queue_add(&e->find_paths))
    atomic_store(&e->is_finding, false);
  return atomic_load(&e->paths);
}

/* ---- finding the variant of a call ---- */

static bool spec_equal(const ArgumentSpec *a, const ArgumentSpec *b) {
  return a->count == b->count && !memcmp(a->words, b->words, a->count * sizeof *a->words);
}

static Variant *find(VariantList *list, const ArgumentSpec *spec) {
  uint32_t count = atomic_load_explicit(&list->count, memory_order_acquire);
  for (uint32_t i = 0; i < count; i++) {
    Variant *v = atomic_load_explicit(&list->items[i], memory_order_relaxed);
    if (spec_equal(&v->spec, spec)) return v;
  }
  return NULL;
}

static void variant_free(Variant *v) {
  if (!v) return;
  queue_remove(&v->job);
  plan_release(atomic_load(&v->plan));
  plan_release(v->profiling);
  const AttributePaths *paths = atomic_load(&v->executor->paths);
  for (size_t i = 0; v->values && paths && i < paths->leaves.length; i++) ivalue_release(v->values[i]);
  mem_free(v->values);
  argument_spec_dispose(&v->spec);
  mem_free(v);
}

/* NULL: no memory, or an attribute changed meanwhile. */
static Variant *variant_new(GraphExecutor *e, ExecutorMode mode, const ExecutorOptions *options,
                            const ArgumentSpec *spec, bool is_generic, const IValue *arguments, uint32_t count) {
  const AttributePaths *paths = atomic_load(&e->paths);
  Variant *v = mem_calloc(1, sizeof *v);
  if (!v) return NULL;
  v->job = (Job){.run = run_job, .hold = hold_variant, .let_go = let_variant_go};
  v->executor = e;
  v->options = *options;
  v->options.mode = mode; /* EXECUTOR_DEFAULT: not optimized */
  v->depth = options->bailout_depth;
  v->is_generic = is_generic;
  v->spec = *spec;
  v->spec.words = v->spec.few;
  bool fine = true;
  if (spec->words != spec->few && !is_generic) {
    v->spec.capacity = spec->count;
    v->spec.words = mem_alloc(spec->count * sizeof *spec->words);
    fine = v->spec.words != NULL;
    if (fine) memcpy(v->spec.words, spec->words, spec->count * sizeof *spec->words);
  }
  if (fine && !is_generic && paths->leaves.length) {
    v->values = mem_calloc(paths->leaves.length, sizeof *v->values);
    fine = v->values && count && argument_spec_values(&v->spec, paths, arguments[0], v->values);
  }
  if (fine) return v;
  if (!v->spec.words) v->spec.words = v->spec.few;
  variant_free(v);
  return NULL;
}

static Variant *add(GraphExecutor *e, ExecutorMode mode, const ExecutorOptions *options, const ArgumentSpec *spec,
                    const IValue *arguments, uint32_t count) {
  VariantList *list = &e->lists[mode];
  lock_take(&e->lock);
  uint32_t used = atomic_load(&list->count);
  Variant *v = find(list, spec);
  if (!v && used < options->max_plans && used < MAX_VARIANTS) {
    v = variant_new(e, mode, options, spec, false, arguments, count);
    if (v) {
      atomic_store(&list->items[used], v);
      atomic_store(&list->count, used + 1);
    }
  } else if (!v) {
    v = atomic_load(&list->generic[spec->grad_enabled]);
    if (!v) {
      reason_add(REASON_PLAN_NOT_CACHED, e->graph->block->ret->range);
      v = variant_new(e, mode, options, spec, true, arguments, count);
      atomic_store(&list->generic[spec->grad_enabled], v);
    }
  }
  lock_drop(&e->lock);
  return v;
}

static Variant *variant_of(GraphExecutor *e, Exec *exec, ExecutorMode mode, const ExecutorOptions *options,
                           const IValue *arguments, uint32_t count, uint64_t wait_ns) {
  const AttributePaths *paths = paths_of(e, options->compile_now);
  if (!paths && wait_ns) {
    queue_wait(&e->find_paths, wait_ns);
    paths = atomic_load(&e->paths);
  }
  if (!paths) return NULL;
  VariantList *list = &e->lists[mode];
  ArgumentSpec spec;
  argument_spec_take(&spec, exec->grad_enabled, mode == EXECUTOR_SPECIALIZING, e->graph, paths, arguments, count);
  Variant *v = NULL;
  if (!spec.failed) {
    v = find(list, &spec);
    if (!v && atomic_load(&list->count) >= (options->max_plans < MAX_VARIANTS ? options->max_plans : MAX_VARIANTS))
      v = atomic_load(&list->generic[spec.grad_enabled]);
    if (!v) v = add(e, mode, options, &spec, arguments, count);
  }
  argument_spec_dispose(&spec);
  return v;
}

/* ---- running ---- */

static Status run_as_written(GraphExecutor *e, Exec *exec, const IValue *arguments, uint32_t count, IValue *outputs,
                             uint32_t output_count) {
  const Code *code = e->code;
  if (e->function) TRY(function_code(exec, e->function, &code));
  return interp_run(exec, code, arguments, count, outputs, output_count);
}

/* A guard of the plan failed once more. */
static void bailed_out(Variant *v, Plan *plan, const Exec *exec) {
  STATISTIC_ADD(bailouts);
  if (atomic_load(&v->stage) == STAGE_FALLING_BACK) compile(v, exec); /* in case its job could not be queued */
  if (atomic_fetch_add(&plan->bailouts, 1) + 1 < BAILOUTS_TO_GIVE_UP) return;
  bool falls_back = false;
  lock_take(&v->executor->lock);
  if (atomic_load(&v->plan) == plan && atomic_load(&v->stage) == STAGE_READY && v->profiling) {
    if (v->depth) {
      v->depth--;
      profiling_record_extend(v->profiling->record, v->options.profiled_runs);
      atomic_store(&v->stage, STAGE_PROFILING);
      publish(v, plan_retain(v->profiling));
    } else {
      atomic_store(&v->stage, STAGE_FALLING_BACK);
      falls_back = true;
    }
  }
  lock_drop(&v->executor->lock);
  if (falls_back) compile(v, exec);
}

static InterpRun begin_in_plan(const Variant *v, Plan *plan) {
  InterpRun run = {.force_guard = v->options.force_guard};
  if (plan->record && !profiling_record_is_ready(plan->record)) run.profile = profiling_record_begin(plan->record);
  return run;
}

static void end_in_plan(Variant *v, Plan *plan, const InterpRun *run, const Exec *exec, bool succeeded) {
  if (plan->record) {
    profiling_record_end(plan->record, run->profile, succeeded);
    if (profiling_record_is_ready(plan->record) && atomic_load(&v->stage) == STAGE_PROFILING) compile(v, exec);
  }
  if (run->failed_guard) bailed_out(v, plan, exec);
  plan_release(plan);
}

static ExecutorMode mode_of_call(const Exec *exec) {
  if (exec->recorder) return EXECUTOR_SIMPLE;
  return executor_options_of(exec)->no_optimize ? EXECUTOR_DEFAULT : executor_mode_of(exec);
}

/* The variant of a call, its first plan asked for; waits for either up to `wait_ns`. NULL: it is not known yet. */
static Variant *ask_for_plan(GraphExecutor *e, Exec *exec, const IValue *arguments, uint32_t count, uint64_t wait_ns) {
  Variant *v = variant_of(e, exec, mode_of_call(exec), executor_options_of(exec), arguments, count, wait_ns);
  if (v && atomic_load_explicit(&v->stage, memory_order_relaxed) == STAGE_NEW) {
    compile(v, exec);
    if (wait_ns) queue_wait(&v->job, wait_ns);
  }
  return v;
}

static bool is_hopeless(const GraphExecutor *e, const Exec *exec) {
  return atomic_load_explicit(&e->hopeless[exec->grad_enabled], memory_order_relaxed);
}

/* The variant and the plan that the call runs in; the plan is acquired. NULL: it runs the graph as written. */
static Plan *plan_of_call(GraphExecutor *e, Exec *exec, const IValue *arguments, uint32_t count, uint64_t wait_ns,
                          Variant **out) {
  *out = NULL;
  if (mode_of_call(exec) == EXECUTOR_SIMPLE) return NULL;
  STATISTIC_ADD(invocations);
  if (is_hopeless(e, exec)) return NULL;
  Variant *v = *out = ask_for_plan(e, exec, arguments, count, wait_ns);
  Plan *plan = v ? acquire(v) : NULL;
  if (plan)
    STATISTIC_ADD(plan_hits);
  else
    STATISTIC_ADD(plan_misses);
  return plan;
}

static Status run_in_plan(Variant *v, Plan *plan, Exec *exec, const IValue *arguments, uint32_t count, IValue *outputs,
                          uint32_t output_count) {
  InterpRun run = begin_in_plan(v, plan);
  Status status = interp_run_plan(exec, plan->code, arguments, count, outputs, output_count, &run);
  end_in_plan(v, plan, &run, exec, !status);
  return status;
}

/* A call does not wait beyond its deadline. */
static uint64_t within_deadline(const Exec *exec, uint64_t wait_ns) {
  if (!exec->deadline_ns) return wait_ns;
  uint64_t now = clock_now_ns(), left = exec->deadline_ns > now ? exec->deadline_ns - now : 0;
  return wait_ns < left ? wait_ns : left;
}

/* The first call of a function: it waits, so that those behind it find what they will run in. */
static Status run_first(GraphExecutor *e, Exec *exec, const IValue *arguments, uint32_t count, IValue *outputs,
                        uint32_t output_count) {
  Variant *v;
  Plan *plan = plan_of_call(e, exec, arguments, count, within_deadline(exec, FIRST_WAIT_NS), &v);
  uint64_t begin = clock_now_ns();
  Status status = plan ? run_in_plan(v, plan, exec, arguments, count, outputs, output_count)
                       : run_as_written(e, exec, arguments, count, outputs, output_count);
  uint64_t took = clock_now_ns() - begin, wait_ns = within_deadline(exec, took > FIRST_WAIT_NS ? took : FIRST_WAIT_NS);
  if (v)
    queue_wait(&v->job, wait_ns);
  else if (mode_of_call(exec) != EXECUTOR_SIMPLE && !is_hopeless(e, exec))
    ask_for_plan(e, exec, arguments, count, wait_ns);
  return status;
}

Status graph_executor_run(GraphExecutor *e, Exec *exec, const IValue *arguments, uint32_t count, IValue *outputs,
                          uint32_t output_count) {
  if (e->function && !atomic_load_explicit(&e->was_called, memory_order_relaxed) &&
      !atomic_exchange(&e->was_called, true))
    return run_first(e, exec, arguments, count, outputs, output_count);
  Variant *v;
  Plan *plan = plan_of_call(e, exec, arguments, count, 0, &v);
  return plan ? run_in_plan(v, plan, exec, arguments, count, outputs, output_count)
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
  end_in_plan(run->variant, run->plan, &run->async.run, exec, succeeded);
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
  Plan *plan = plan_of_call(e, exec, arguments, count, 0, &v);
  if (!plan) return start_as_written(e, exec, arguments, count, out);
  PlanRun *run = mem_alloc(sizeof *run);
  if (!run) {
    plan_release(plan);
    return start_as_written(e, exec, arguments, count, out);
  }
  *run = (PlanRun){{begin_in_plan(v, plan), plan_run_ended}, v, plan};
  Status status = interp_start(exec, e->function, plan->code, arguments, count, &run->async, out);
  if (status) plan_run_ended(&run->async, exec, false);
  return status;
}

/* ---- making and freeing ---- */

void graph_executor_free(GraphExecutor *e) {
  if (!e) return;
  executor_list_remove(&e->link);
  queue_remove(&e->find_paths);
  for (int mode = 0; mode < EXECUTOR_MODE_COUNT; mode++) {
    VariantList *list = &e->lists[mode];
    for (uint32_t i = 0; i < atomic_load(&list->count); i++) variant_free(atomic_load(&list->items[i]));
    for (int i = 0; i < GENERIC_VARIANTS; i++) variant_free(atomic_load(&list->generic[i]));
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

static GraphExecutor *executor_alloc(const Graph *graph, Str name, const Services *services) {
  GraphExecutor *e = mem_calloc(1, sizeof *e);
  if (!e) return NULL;
  ref_init(&e->refs);
  e->graph = graph;
  e->name = name;
  e->services = services;
  e->find_paths = (Job){.run = run_find_paths, .hold = hold_for_paths, .let_go = let_paths_go};
  pthread_mutex_init(&e->lock, NULL);
  executor_list_add(&e->link);
  return e;
}

GraphExecutor *graph_executor_of(Function *function, const Services *services) {
  static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
  GraphExecutor *e = atomic_load_explicit(&function->executor, memory_order_acquire);
  if (e || !function->graph) return e;
  lock_take(&lock);
  e = atomic_load(&function->executor);
  if (!e) {
    e = executor_alloc(function->graph, function->name, services);
    if (e) {
      e->function = function;
      atomic_store_explicit(&function->executor, e, memory_order_release);
    }
  }
  lock_drop(&lock);
  return e;
}

/* ---- of a graph alone ---- */

static void destroy_store(TypeStore *store) {
  type_store_dispose(store);
  mem_free(store);
}

static void hold_source(GraphExecutor *e, Node *node) {
  const Source *source = node->range.source;
  for (size_t i = 0; i < e->sources.length; i++)
    if (!source || e->sources.data[i] == source) return;
  if (!source) return;
  if (vec_reserve(&e->sources, e->sources.length + 1))
    e->sources.data[e->sources.length++] = source_retain(source);
  else
    node->range.source = NULL;
}

/* The copy outlives the plan that it comes from: no types of its store, no calls of functions that may be gone. */
static void forget_plan(GraphExecutor *e, const Block *block) {
  for (uint32_t i = 0; i < block_input_count(block); i++)
    block_input(block, i)->type = type_for_value(block_input(block, i)->type);
  BLOCK_EACH(node, block) {
    hold_source(e, node);
    for (uint32_t i = 0; i < node->output_count; i++)
      node_output(node, i)->type = type_for_value(node_output(node, i)->type);
    node->inlined = NULL;
    for (uint32_t i = 0; i < node->block_count; i++) forget_plan(e, node->blocks[i]);
  }
}

typedef struct Copy {
  GraphExecutor *executor;
  const Graph *from;
  Graph *to, *lowered;
  Str name;
} Copy;

static void copy_body(void *argument) {
  Copy *c = argument;
  TypeStore *store = c->executor->store;
  c->to = graph_copy(c->from, &store->arena, store);
  forget_plan(c->executor, c->to->block);
  c->lowered = graph_copy(c->to, &store->arena, store);
  lower_grad_of(c->lowered);
  graph_seal(c->to);
  graph_seal(c->lowered);
  c->executor->name = (Str){arena_strndup(&store->arena, c->name.data, c->name.length), c->name.length};
}

Status graph_executor_new(const Graph *graph, Str name, const Services *services, GraphExecutor **out) {
  *out = NULL;
  GraphExecutor *e = executor_alloc(NULL, name, services);
  TypeStore *store = mem_calloc(1, sizeof *store);
  Status status = e && store ? type_store_init(store, destroy_store) : status_out_of_memory();
  if (status) {
    if (e) executor_list_remove(&e->link), pthread_mutex_destroy(&e->lock);
    mem_free(e);
    mem_free(store);
    return status;
  }
  e->store = store;
  Copy copy = {e, graph, NULL, NULL, name};
  status = arena_protect(&store->arena, copy_body, &copy);
  e->graph = copy.to;
  e->lowered = copy.lowered;
  if (!status) {
    Code *code = NULL;
    status = code_compile(copy.lowered, e->name, &code);
    e->code = code;
  }
  if (status) {
    graph_executor_free(e);
    return status;
  }
  *out = e;
  return OK;
}

void graph_executor_release(GraphExecutor *executor) {
  if (executor && ref_release(&executor->refs)) graph_executor_free(executor);
}

/* ---- giving plans back ---- */

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
static void take_plans(Variant *v, Plan **list) {
  if (!v || atomic_exchange(&v->is_compiling, true)) return;
  Plan *plan = withdraw(v, NULL), *profiling = v->profiling == plan ? NULL : v->profiling;
  uint32_t own = v->profiling && !profiling ? 2 : 1;
  bool is_used = references(plan) > own || references(profiling) > 1;
  if (is_used || !(plan || profiling) || !hold(v->executor)) { /* not held: it is being freed */
    atomic_store(&v->plan, plan);
  } else {
    if (own == 2) plan_release(plan);
    if (plan) give_back(plan, v->executor, list);
    if (profiling) give_back(profiling, plan ? NULL : v->executor, list); /* comes before the other */
    v->profiling = NULL;
    v->depth = v->options.bailout_depth;
    atomic_store(&v->stage, STAGE_NEW);
  }
  atomic_store(&v->is_compiling, false);
}

static void take_plans_of(ExecutorLink *link, void *argument) {
  GraphExecutor *e = (GraphExecutor *)link;
  if (!lock_try(&e->lock)) return; /* it is being used; who has the lock may want that of the list */
  for (int mode = 0; mode < EXECUTOR_MODE_COUNT; mode++) {
    VariantList *list = &e->lists[mode];
    for (uint32_t i = atomic_load(&list->count); i-- > 0;) take_plans(atomic_load(&list->items[i]), argument);
    for (int i = 0; i < GENERIC_VARIANTS; i++) take_plans(atomic_load(&list->generic[i]), argument);
  }
  lock_drop(&e->lock);
}

void graph_executors_trim(void) {
  Plan *plans = NULL;
  executor_list_each(take_plans_of, &plans);
  while (plans) {
    Plan *next = plans->next;
    GraphExecutor *held = plans->held;
    plan_release(plans);
    if (held) let_go(held);
    plans = next;
  }
}

/* ---- printing ---- */

typedef enum Shown { SHOWN_GRAPHS, SHOWN_SOURCES, SHOWN_KERNELS } Shown;

static void print_variant(Variant *v, Shown shown, StrBuf *out) {
  Plan *plan = v ? acquire(v) : NULL;
  if (!plan) return;
  strbuf_printf(out, "# %s%s, bailout depth %u\n", plan_kind_name(plan->kind), v->is_generic ? ", any arguments" : "",
                v->depth);
  if (shown == SHOWN_KERNELS)
    status_free(fuse_print_kernels(plan->graph, out)); /* short of memory it prints less */
  else
    graph_print(plan->graph, shown == SHOWN_SOURCES, out);
  plan_release(plan);
}

static void print_variants(GraphExecutor *e, Shown shown, StrBuf *out) {
  for (int mode = 0; mode < EXECUTOR_MODE_COUNT; mode++) {
    VariantList *list = &e->lists[mode];
    for (uint32_t i = atomic_load(&list->count); i-- > 0;) print_variant(atomic_load(&list->items[i]), shown, out);
    for (int i = 0; i < GENERIC_VARIANTS; i++) print_variant(atomic_load(&list->generic[i]), shown, out);
  }
}

void graph_executor_print_plans(GraphExecutor *e, bool with_source, StrBuf *out) {
  print_variants(e, with_source ? SHOWN_SOURCES : SHOWN_GRAPHS, out);
}
void graph_executor_print_kernels(GraphExecutor *e, StrBuf *out) {
  print_variants(e, SHOWN_KERNELS, out);
}
