/* Options, and the way from a function to its executor. */
#include "executor/executor.h"

#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

#include "base/fork.h"
#include "base/hostile.h"
#include "base/queue.h"
#include "executor/graph_executor.h"
#include "interp/interp.h"

enum { PROFILED_RUNS = 1, BAILOUT_DEPTH = 2, MAX_PLANS = CACHE_ENTRIES(8) };

static const char *const mode_names[] = {"default", "simple", "specializing", "profiling"};

const char *executor_mode_name(ExecutorMode mode) {
  assert(mode < EXECUTOR_MODE_COUNT);
  return mode_names[mode];
}

bool executor_mode_parse(Str name, ExecutorMode *out) {
  if (str_is(name, "specialising")) name = STR("specializing");
  for (int i = EXECUTOR_SIMPLE; i < EXECUTOR_MODE_COUNT; i++)
    if (str_is(name, mode_names[i])) {
      *out = (ExecutorMode)i;
      return true;
    }
  return false;
}

static ExecutorOptions environment;

static void read_environment(void) {
  const char *mode = getenv("WICK_EXECUTOR"), *compile = getenv("WICK_COMPILE"), *guard = getenv("WICK_FAIL_GUARD");
  environment = (ExecutorOptions){.mode = EXECUTOR_PROFILING,
                                  .profiled_runs = PROFILED_RUNS,
                                  .bailout_depth = BAILOUT_DEPTH,
                                  .max_plans = MAX_PLANS};
  if (mode) (void)executor_mode_parse(str_from(mode), &environment.mode);
  if (guard) environment.force_guard = strcmp(guard, "all") ? (uint32_t)strtoul(guard, NULL, 10) + 1 : UINT32_MAX;
  environment.compile_now = compile && !strcmp(compile, "now");
}

const ExecutorOptions *executor_defaults(void) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, read_environment);
  const ExecutorOptions *chosen = atomic_load_explicit(&runtime_of_process()->executor, memory_order_acquire);
  return chosen ? chosen : &environment;
}

/* ---- options that calls may be reading: each set once, for the rest of the process ---- */

enum { MAX_SETS = 1 << 16 };
typedef struct OptionSet {
  ExecutorOptions options;
  struct OptionSet *next;
} OptionSet;
static pthread_mutex_t sets_lock = PTHREAD_MUTEX_INITIALIZER;
static OptionSet *sets; /* guarded */
static int set_count;   /* guarded */

static bool same_options(const ExecutorOptions *a, const ExecutorOptions *b) {
  return a->mode == b->mode && a->no_optimize == b->no_optimize && a->compile_now == b->compile_now &&
         a->force_guard == b->force_guard && a->profiled_runs == b->profiled_runs &&
         a->bailout_depth == b->bailout_depth && a->max_plans == b->max_plans &&
         a->small_derivatives == b->small_derivatives;
}

/* The lock is held. */
static Status find_or_add_set(const ExecutorOptions *options, const ExecutorOptions **out) {
  assert(lock_is_held());
  HEAP_SCOPE(NULL);
  OptionSet *set = sets;
  while (set && !same_options(&set->options, options)) set = set->next;
  if (!set) {
    if (set_count == MAX_SETS)
      return status_new(ERROR_BUDGET, "executors were chosen in more than %d different ways", MAX_SETS);
    set = mem_alloc(sizeof *set);
    if (!set) return status_out_of_memory();
    *set = (OptionSet){*options, sets};
    sets = set;
    set_count++;
  }
  *out = &set->options;
  return OK;
}

static Status executor_options_keep(const ExecutorOptions *wanted, const ExecutorOptions **out) {
  ExecutorOptions complete;
  executor_options_complete(wanted, &complete);
  lock_take(&sets_lock);
  Status status = find_or_add_set(&complete, out);
  lock_drop(&sets_lock);
  return status;
}

Status executor_choose(Runtime *runtime, const ExecutorOptions *options) {
  const ExecutorOptions *kept;
  TRY(executor_options_keep(options, &kept));
  atomic_store_explicit(&runtime->executor, kept, memory_order_release);
  return OK;
}

void executor_options_complete(const ExecutorOptions *wanted, ExecutorOptions *out) {
  const ExecutorOptions *d = executor_defaults();
  *out = *wanted;
  if (!out->mode) out->mode = d->mode;
  if (!out->profiled_runs) out->profiled_runs = d->profiled_runs;
  if (!out->bailout_depth) out->bailout_depth = d->bailout_depth;
  if (!out->max_plans) out->max_plans = d->max_plans;
  if (!out->force_guard) out->force_guard = d->force_guard;
  out->compile_now |= d->compile_now;
}

/* NULL: as written. */
static GraphExecutor *executor_of(const Exec *exec, Function *function) {
  if (executor_mode_of(exec) == EXECUTOR_SIMPLE && !executor_options_of(exec)->no_optimize) return NULL;
  return graph_executor_of(function, exec->services);
}

Status executor_call(Exec *exec, Function *function, const IValue *arguments, uint32_t count, IValue *out) {
  GraphExecutor *executor = executor_of(exec, function);
  if (!executor) return interp_call(exec, function, arguments, count, out);
  return graph_executor_run(executor, exec, arguments, count, out, 1);
}

Status executor_start(Exec *exec, Function *function, const IValue *arguments, uint32_t count, Future **out) {
  GraphExecutor *executor = executor_of(exec, function);
  if (executor) return graph_executor_start(executor, exec, arguments, count, out);
  *out = NULL;
  const Code *code;
  TRY(function_code(exec, function, &code));
  return interp_start(exec, function, code, arguments, count, NULL, out);
}

void executor_print_plans(Function *function, bool with_source, StrBuf *out) {
  GraphExecutor *executor = atomic_load(&function->executor);
  if (executor) graph_executor_print_plans(executor, with_source, out);
}

struct Plan *executor_newest_plan(Function *function) {
  GraphExecutor *executor = atomic_load(&function->executor);
  return executor ? graph_executor_newest_plan(executor) : NULL;
}
void executor_print_kernels(Function *function, StrBuf *out) {
  GraphExecutor *executor = atomic_load(&function->executor);
  if (executor) graph_executor_print_kernels(executor, out);
}

size_t executor_trim(const Runtime *runtime) {
  return graph_executors_trim(runtime);
}
size_t executor_plan_bytes(const CompilationUnit *unit) {
  return graph_executors_bytes(unit);
}

void executor_drain(void) {
  queue_drain(); /* what is under way may bring guards that are to be weighed */
  graph_executors_weigh();
  queue_drain();
}

/* ---- a graph as something to call ---- */

typedef struct GraphCallable {
  Callable callable; /* first member */
  GraphExecutor *executor;
} GraphCallable;

static Status run_callable(Callable *callable, Exec *exec, const IValue *inputs, uint32_t input_count, IValue *outputs,
                           uint32_t output_count) {
  return graph_executor_run(((GraphCallable *)callable)->executor, exec, inputs, input_count, outputs, output_count);
}

static void release_callable(Callable *callable) {
  graph_executor_release(((GraphCallable *)callable)->executor);
  mem_free(callable);
}

Status executor_callable(const Graph *graph, Str name, const Services *services, Callable **out) {
  *out = NULL;
  GraphCallable *made = mem_calloc(1, sizeof *made);
  if (!made) return status_out_of_memory();
  Status status = graph_executor_new(graph, name, services, &made->executor);
  if (status) {
    mem_free(made);
    return status;
  }
  made->callable = (Callable){.run = run_callable, .release = release_callable};
  ref_init(&made->callable.refs);
  *out = &made->callable;
  return OK;
}
