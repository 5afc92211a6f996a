/* Makes plans by hand, step by step as the profiling executor does: instrument, run, insert guards, eliminate them,
 * insert bailouts, compile baseline and plan. */
#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <cmocka.h>

#include "api/handles.h"
#include "executor/phases.h"
#include "executor/profiling_record.h"
#include "interp/interp.h"
#include "interp/profile.h"
#include "pass/pass.h"

typedef struct Planned {
  Arena arena;
  Catch catch_point;
  Graph *profiled, *plan, *baseline;
  ProfilingRecord *record;
  Code *profiled_code, *baseline_code, *plan_code;
  Exec *exec;
} Planned;

#define PLANNED_TRY(p, expression)                                    \
  do {                                                                \
    Status planned_status = (expression);                             \
    if (planned_status) print_error("%s\n", planned_status->message); \
    assert_null(planned_status);                                      \
  } while (0)

static inline void planned_copy(void *argument) {
  Planned *p = argument;
  p->profiled = graph_copy(p->plan, &p->arena, p->plan->store);
}

/* Instruments a copy of the function's inlined graph, to be run a number of times. */
static inline void planned_init(Planned *p, Exec *exec, const Function *function, uint32_t runs) {
  memset(p, 0, sizeof *p);
  p->exec = exec;
  arena_init(&p->arena, &p->catch_point);
  if (catch_enter(&p->catch_point)) {
    p->profiled = graph_copy(function->graph, &p->arena, function->graph->store);
    inliner(p->profiled);
    hoist_attributes(p->profiled);
    constant_propagation(p->profiled, exec);
    lower_tuples(p->profiled);
    dead_code_elimination(p->profiled);
  }
  PLANNED_TRY(p, p->catch_point.status);
  PLANNED_TRY(p, profiling_record_new(p->profiled, runs, NULL, &p->record));
  PLANNED_TRY(p, code_compile(p->profiled, STR("profiled"), &p->profiled_code));
}

static inline Status planned_profile(Planned *p, const IValue *arguments, uint32_t count, IValue *out) {
  InterpRun run = {.profile = profiling_record_begin(p->record)};
  Status status = interp_run_plan(p->exec, p->profiled_code, arguments, count, out, 1, &run);
  profiling_record_end(p->record, run.profile, !status);
  return status;
}

/* Guards and bailouts, all of them or only the needed ones. */
static inline void planned_guard(Planned *p, bool eliminate) {
  if (catch_enter(&p->catch_point)) {
    p->plan = graph_copy(p->profiled, &p->arena, p->profiled->store);
    profiling_record_apply(p->record, p->plan);
    insert_guards(p->plan, true);
    if (eliminate) guard_elimination(p->plan, p->exec);
    bailout_graph(p->plan);
    p->baseline = bailout_baseline(p->plan, &p->arena, p->plan->store);
  }
  PLANNED_TRY(p, p->catch_point.status);
  PLANNED_TRY(p, graph_lint(p->plan));
  PLANNED_TRY(p, graph_lint(p->baseline));
  PLANNED_TRY(p, code_compile_baseline(p->baseline, STR("baseline"), &p->baseline_code));
}

static inline void planned_finish(Planned *p) {
  PLANNED_TRY(p, code_compile_plan(p->plan, STR("plan"), p->baseline_code, NULL, &p->plan_code));
}

static inline void planned_dispose_codes(Planned *p) {
  code_free(p->plan_code);
  code_free(p->baseline_code);
  p->plan_code = p->baseline_code = NULL;
}

static inline void planned_dispose(Planned *p) {
  planned_dispose_codes(p);
  code_free(p->profiled_code);
  profiling_record_release(p->record);
  if (p->plan) graph_dispose(p->plan);
  if (p->baseline) graph_dispose(p->baseline);
  graph_dispose(p->profiled);
  arena_dispose(&p->arena);
}
