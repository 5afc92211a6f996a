/* Variant: the calls of a graph that may share a plan, and the plan. For the files that GraphExecutor is made of:
 *
 *   graph_executor.c        executors of functions; running
 *   graph_executor_alone.c  executors of graphs without a function
 *   graph_executor_print.c  what the plans are
 *   executor_trim.c         giving plans back
 *   variant_plan.c          reading and replacing the plan of a variant
 *   variant_search.c        from arguments to the variant
 *   variant_state.c         the state that calls share while nobody writes it
 *   variant_stages.c        from one plan to the next
 *
 * The executor's lock guards lists and stages; plans are read without it. */
#pragma once

#include <pthread.h>

#include "executor/graph_executor.h"
#include "base/queue.h"
#include "executor/executor.h"
#include "executor/executor_list.h"
#include "executor/plan.h"
#include "ivalue/snapshot.h"

enum { MAX_VARIANTS = 32 };

typedef enum Stage {
  STAGE_NEW,
  STAGE_PROFILING,
  STAGE_WEIGHING, /* ready, but whether its guards hold and pay is to be found out */
  STAGE_READY,
  STAGE_PROFILING_AGAIN, /* is about to */
  STAGE_FALLING_BACK,
  STAGE_SETTLED
} Stage;

typedef struct Variant {
  Job job;      /* the next step */
  Job weighing; /* the step from STAGE_WEIGHING on, which nobody waits for */
  GraphExecutor *executor;
  ExecutorOptions options;
  ArgumentSpec spec;
  bool is_generic;           /* assumes nothing: for what found no place among the variants */
  IValue *values;            /* of the attributes, retained */
  const Exec *caller;        /* while it compiles on its thread */
  _Atomic(Plan *) plan;      /* what calls run in; NULL: the graph as written */
  _Atomic uint32_t readers;  /* of `plan`, between reading and retaining it */
  _Atomic int stage;         /* Stage */
  _Atomic bool is_compiling; /* one of its jobs is queued or under way; who sets it may queue it */
  Plan *profiling;           /* kept until guards have held for a while, or the variant is settled */
  ProfilingRecord *record;   /* what it saw: kept to go on with; NULL: nothing yet, or the variant is settled */
  uint32_t depth;
} Variant;

/* By mode; unoptimized plans are those of EXECUTOR_DEFAULT. */
typedef struct VariantList {
  _Atomic uint32_t count;
  _Atomic(Variant *) items[MAX_VARIANTS];
  _Atomic(Variant *) generic[CALL_TERMS];
} VariantList;

struct GraphExecutor {
  ExecutorLink link; /* first member */
  RefCount refs;     /* of one without a function */
  uint64_t serial;   /* no other executor of the process has it */
  Function *function;
  const Graph *graph; /* as written */
  Str name;
  const Services *services;
  pthread_mutex_t lock;
  Job find_paths;
  _Atomic bool is_finding, was_called;
  _Atomic(AttributePaths *) paths; /* NULL: not looked for yet */
  VariantList lists[EXECUTOR_MODE_COUNT];
  _Atomic uint8_t without_gain[CALL_TERMS]; /* optimizing gains nothing, whatever the arguments */
  /* without a function: */
  TypeStore *store; /* of `graph` */
  VEC(const Source *) sources;
  Graph *lowered;   /* `graph` without prim::GradOf, which only plans make use of */
  const Code *code; /* of `lowered` */
};

/* The state of a call's first argument, and the Snapshot of it that the object keeps for the executor's calls. */
typedef struct CallState {
  Snapshot *snapshot; /* retained; NULL: it has to be read anew */
  Object *object;     /* borrowed; NULL: the first argument is none that threads share */
  uint64_t reader, stamp;
} CallState;

/* ---- executors ---- */
GraphExecutor *graph_executor_alloc(const Graph *graph, Str name, const Services *services); /* NULL: no memory */
/* Keeps the executor, by what owns it, until it is let go. false: it is being freed. */
bool graph_executor_hold(GraphExecutor *executor);
void graph_executor_let_go(GraphExecutor *executor);
Job attributes_job(void); /* for `find_paths`: looks for what the graph reads */
/* Whether the call makes plans itself: it is a function's first, which waits for them anyway, and they are small, so
 * that another thread would have them no earlier. */
bool graph_executor_plans_here(const GraphExecutor *executor, const Exec *exec);
/* The variant of a call, found or made. NULL: there is none yet, for what the graph reads is being looked for (waited
 * for up to `wait_ns`), or there can't be one. */
Variant *graph_executor_variant(GraphExecutor *executor, Exec *exec, ExecutorMode mode, const ExecutorOptions *options,
                                const IValue *arguments, uint32_t count, CallState *state, uint64_t wait_ns);

/* ---- the state of a call ---- */
CallState call_state_begin(const GraphExecutor *executor, const Exec *exec, ExecutorMode mode, const IValue *arguments,
                           uint32_t count);
/* The variant that the state and `inputs`, what the other arguments say, lead to; NULL: not known. */
Variant *call_state_variant(const CallState *state, const ArgumentSpec *inputs);
/* Before the paths are walked for it (ORDER snapshot). */
void call_state_rely_on(const CallState *state, const AttributePaths *paths);
/* Reads what a run in the plan (NULL: as written) needs and the snapshot does not hold. */
Status call_state_read(CallState *state, Variant *variant, const Plan *plan, const IValue *arguments) MUST_CHECK;

/* ---- the plan of a variant ---- */
void variants_each(GraphExecutor *executor, void (*visit)(Variant *variant, void *argument), void *argument);
Plan *variant_acquire(Variant *variant); /* retained; NULL: the graph as written */
/* Puts `plan`, whose reference is taken over, in the place of the one returned, which no call acquires any more. The
 * lock is held. */
Plan *variant_withdraw(Variant *variant, Plan *plan);
void variant_publish(Variant *variant, Plan *plan); /* the same; the other one is released */

/* ---- its stages ---- */
void variant_free(Variant *variant); /* NULL is allowed */
Job variant_job(void);               /* for its field `job` */
Job variant_weighing(void);          /* for its field `weighing` */
/* Lets the variant advance, on this thread or off it. */
void variant_compile(Variant *variant, const Exec *exec);
/* Has its guards weighed off this thread, if that is the next step. */
void variant_weigh(Variant *variant);
/* Around a run in `plan`, which is released at its end, and so is the state. */
InterpRun variant_begin_run(const Variant *variant, Plan *plan, Snapshot *state);
void variant_end_run(Variant *variant, Plan *plan, const InterpRun *run, const Exec *exec, bool succeeded);
