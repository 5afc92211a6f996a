/* executor: how a function's graph is made to run. Three ways, TorchScript's: the simple one runs Code of the graph as
 * written; the specializing one makes a plan for every kind of arguments; the profiling one watches a few runs, makes a
 * plan that assumes what they showed, and goes on in baseline Code where an assumption fails. Plans are made off the
 * caller's thread, while calls run in what is there.
 *
 *   executor/executor.h          calling (this file)
 *   executor/graph_executor.h    the state of one graph: variants, plans, when which is made
 *   executor/variant.h           what it is made of: calls that may share a plan, and the plan
 *   executor/plan.h              Plan: graphs, types and Code that live and die together
 *   executor/drop_weights.h      weights that are kept in the order of kernels alone
 *   executor/plan_cost.h         which of two plans does less
 *   executor/phases.h            the lists of passes
 *   executor/attribute_paths.h   the attributes that a graph reads and nobody in it writes
 *   executor/argument_spec.h     what a plan assumes of arguments and attributes
 *   executor/profiling_record.h  what runs have shown
 *   executor/compile_times.h     processor time that making plans took
 *   executor/executor_list.h     all graph executors of the process */
#pragma once

#include "call/exec.h"
#include "call/runtime.h"
#include "ir/unit.h"

typedef enum ExecutorMode {
  EXECUTOR_DEFAULT,
  EXECUTOR_SIMPLE,
  EXECUTOR_SPECIALIZING,
  EXECUTOR_PROFILING,
  EXECUTOR_MODE_COUNT
} ExecutorMode;
/* 0 in a field is the default. */
typedef struct ExecutorOptions {
  ExecutorMode mode;
  bool no_optimize;       /* plans get the required passes only */
  bool compile_now;       /* on the caller's thread, and plans are kept that gain nothing: for tests and dumps */
  uint32_t force_guard;   /* for tests: this guard fails even if it holds; an index plus one, UINT32_MAX: all */
  uint32_t profiled_runs; /* before a plan is made */
  uint32_t bailout_depth; /* how often runs are profiled again after guards failed; then nothing is assumed any more */
  uint32_t max_plans;     /* kinds of arguments of one function that get plans of their own */
  bool small_derivatives; /* parts of a single node, too, have backward graphs of their own */
} ExecutorOptions;
const char *executor_mode_name(ExecutorMode mode);     /* for tests */
bool executor_mode_parse(Str name, ExecutorMode *out); /* "specialising" too */
/* Of the process's runtime: what was chosen for it, else what the environment says, which is read once:
 * WICK_EXECUTOR=simple|specializing|profiling, WICK_COMPILE=now, WICK_FAIL_GUARD=index|all. */
const ExecutorOptions *executor_defaults(void);
/* Of a call. */
static inline const ExecutorOptions *executor_options_of(const Exec *exec) {
  return exec->executor ? exec->executor : executor_defaults();
}
static inline ExecutorMode executor_mode_of(const Exec *exec) {
  return exec->executor_mode ? (ExecutorMode)exec->executor_mode : executor_options_of(exec)->mode;
}
/* For calls of the runtime from then on; calls under way keep to what they began with. */
Status executor_choose(Runtime *runtime, const ExecutorOptions *options) MUST_CHECK;
/* `wanted` with the defaults in place of zeros. */
void executor_options_complete(const ExecutorOptions *wanted, ExecutorOptions *out);

/* As interp_call: arguments borrowed, *out owned. In what way, exec->executor says (NULL: executor_defaults). */
Status executor_call(Exec *exec, Function *function, const IValue *arguments, uint32_t count, IValue *out) MUST_CHECK;
/* The same as a task of its own: returns at once. */
Status executor_start(Exec *exec, Function *function, const IValue *arguments, uint32_t count, Future **out) MUST_CHECK;
/* Prints the graphs of the function's plans, newest first; nothing when there are none. */
void executor_print_plans(Function *function, bool with_source, StrBuf *out);
/* The plan that was made last of those that calls run in, retained (executor/plan.h); NULL: there is none. */
struct Plan *executor_newest_plan(Function *function);
/* The kernels that their fusion groups have. */
void executor_print_kernels(Function *function, StrBuf *out);
/* Frees the plans that no run is in, of what was loaded or compiled with the runtime; NULL: of all. Bytes. */
size_t executor_trim(const Runtime *runtime);
/* Of the plans that calls of the unit's functions run in. */
size_t executor_plan_bytes(const CompilationUnit *unit);
/* Waits until nothing is being compiled, nor would be without more calls. */
void executor_drain(void);

/* A Callable that runs a copy of `graph` under an executor of its own, as exec->executor says at each call. */
Status executor_callable(const Graph *graph, Str name, const Services *services, Callable **out) MUST_CHECK;
