/* GraphExecutor: the plans of one graph, and when which one is made.
 *
 * Calls fall into variants, by mode and ArgumentSpec; a variant has at most one plan that calls run in, published
 * atomically and counted, so that no lock is taken by a call that finds its plan. Stages of a variant:
 *
 *   specializing   NEW --compile--> SETTLED
 *   profiling      NEW --compile--> PROFILING --runs, compile--> READY --failed guards--> PROFILING ... --> SETTLED
 *
 * READY begins as WEIGHING, which ends as READY or, where guards don't pay, without them as SETTLED. From then on the
 * plan that watches is gone: PROFILING again begins with making it anew. With every return from READY to PROFILING the
 * types merge and the depth goes down; at depth 0 the plan that is insensitive to profiles settles the matter. A
 * variant without a plan runs the graph as written. */
#pragma once

#include "call/exec.h"
#include "call/runtime.h"
#include "ir/unit.h"

typedef struct GraphExecutor GraphExecutor;

/* Of a function: made at its first call, freed with its unit. NULL: no memory. */
GraphExecutor *graph_executor_of(Function *function, const Services *services);
/* Of a graph that belongs to nobody: copied with the sources it mentions. */
Status graph_executor_new(const Graph *graph, Str name, const Services *services, GraphExecutor **out) MUST_CHECK;
/* Of a function, with the function; may be NULL. */
void graph_executor_free(GraphExecutor *executor);
void graph_executor_release(GraphExecutor *executor); /* not for a function's */
Status graph_executor_run(GraphExecutor *executor, Exec *exec, const IValue *arguments, uint32_t count, IValue *outputs,
                          uint32_t output_count) MUST_CHECK;
/* As a task of its own; for a function's executor. */
Status graph_executor_start(GraphExecutor *executor, Exec *exec, const IValue *arguments, uint32_t count,
                            Future **out) MUST_CHECK;
/* Frees the plans that no run is in, of what was loaded or compiled with the runtime (NULL: of all); the next calls
 * make new ones. */
size_t graph_executors_trim(const Runtime *runtime);
size_t graph_executors_bytes(const CompilationUnit *unit);
/* Has all guards weighed that were to be weighed after more runs. */
void graph_executors_weigh(void);
struct Plan *graph_executor_newest_plan(GraphExecutor *executor); /* retained; NULL: none */
void graph_executor_print_plans(GraphExecutor *executor, bool with_source, StrBuf *out);
void graph_executor_print_kernels(GraphExecutor *executor, StrBuf *out);
