/* Plan: a graph made ready for a kind of calls, with the Code that runs it. All its graphs and their types live in the
 * arena of its store and die together, when the last run that is in it has returned (and the last value of one of its
 * types is gone). It borrows the sources, types and graphs of its function's unit. */
#pragma once

#include "executor/argument_spec.h"
#include "executor/plan_cost.h"
#include "executor/profiling_record.h"
#include "interp/interp.h"

typedef enum PlanKind {
  PLAN_REQUIRED,    /* required passes only */
  PLAN_SPECIALIZED, /* for an ArgumentSpec */
  PLAN_PROFILING,   /* instrumented */
  PLAN_OPTIMIZED,   /* with guards for what a profile showed */
  PLAN_INSENSITIVE  /* assumes nothing of tensors */
} PlanKind;
const char *plan_kind_name(PlanKind kind);

typedef struct Plan {
  TypeStore store; /* first member: its count is the plan's */
  PlanKind kind;
  Graph *graph;              /* that `code` was made of, compact */
  Code *code, *baseline;     /* baseline: what failed guards go on in; NULL: there are none */
  ProfilingRecord *record;   /* of PLAN_PROFILING */
  _Atomic uint32_t bailouts; /* runs that left it by a failed guard */
  _Atomic uint32_t runs;     /* others, while guards are to be weighed */
  PlanCost as_written, cost;
  bool has_gain;              /* costs less than the graph as written */
  size_t bytes;               /* that it takes of what its heap may keep */
  struct Plan *next;          /* among those that are given back */
  struct GraphExecutor *held; /* let go after this one; NULL: another one of the list holds it */
} Plan;

typedef struct PlanRequest {
  PlanKind kind;
  const Graph *graph; /* as written */
  Str name;
  Function *function;       /* NULL of a subgraph */
  const ArgumentSpec *spec; /* NULL: nothing is assumed */
  const AttributePaths *paths;
  const IValue *values;    /* of the paths' leaves */
  const Plan *profiling;   /* to start from, instead of `graph`; PLAN_OPTIMIZED needs it, with a record that is ready */
  const Plan *instead_of;  /* NULL, or a plan that the new one has to cost no more than */
  uint32_t profiled_runs;  /* for PLAN_PROFILING */
  ProfilingRecord *record; /* likewise: NULL, or that of such a plan of before, which goes on */
  bool grad_enabled;       /* the calls' grad mode */
  Precision precision;     /* theirs */
  bool small_derivatives;  /* as in ExecutorOptions */
  const Services *services;
  const Exec *caller; /* whose runtime's observer is shown the passes; NULL: nobody's */
} PlanRequest;
/* *out is NULL where the plan would cost more than the one that it is to stand instead of. */
Status plan_new(const PlanRequest *request, Plan **out) MUST_CHECK;
/* Whether a plan without its guards might cost no more: guards have to gain more than they cost. */
bool plan_guards_may_not_pay(const Plan *plan);
static inline Plan *plan_retain(Plan *plan) {
  type_store_retain(&plan->store);
  return plan;
}
static inline void plan_release(Plan *plan) {
  if (plan) type_store_release(&plan->store);
}
