/* trace: programs from what a thread does. While a trace is on, every operator that the thread calls becomes a node
 * of a graph; tensors, futures and objects stand for the values they were seen with. What leaves tensors (numbers,
 * branches) is not seen: the graph holds what one run did.
 *
 *   trace/trace.h    TracingState, one trace from its inputs to its program (this file)
 *   trace/tracing.h  what the files of this folder share
 *
 * A trace belongs to its thread: it begins, records and ends there. It sits on the one path of operators as the
 * Recorder that Exec carries, so a thread that traces nothing pays for none of it. */
#pragma once

#include "call/exec.h"
#include "ir/unit.h"

typedef struct TracingState TracingState;

typedef enum TraceWarning {                     /* numbered as WICK_TRACE_... */
                            TRACE_NUMBER = 1,   /* an operator read elements of a traced tensor and gave no tensor */
                            TRACE_CONTAINER = 2 /* a list is a result */
} TraceWarning;

typedef struct TracePlace {
  const char *file, *text; /* text may be NULL */
  uint32_t line;
} TracePlace;
/* Whoever traces; functions may be NULL. They are called while nothing is recorded. */
typedef struct TraceListener {
  void *user;
  void (*warn)(void *user, TraceWarning kind, const char *message);
  bool (*place)(void *user, TracePlace *out);            /* of what runs now; borrowed; false: unknown */
  const char *(*name)(void *user, const IValue *tensor); /* the variable that holds it; borrowed; NULL: none */
} TraceListener;

typedef struct TraceStart {
  CompilationUnit *unit; /* that gets the program */
  Object *self;          /* the traced module, of a class of `unit`; NULL: a function */
  Str name;              /* of the function or method */
  bool lenient;          /* lists and dicts may be results */
  bool outplace;         /* what is written in place is recorded as a new tensor */
  uint32_t count;
  const IValue *inputs; /* tensors, and tuples, lists and dicts of them */
  const Str *names;     /* of the inputs; NULL: they have none */
  TraceListener listener;
} TraceStart;

/* out_inputs: for each input what stands for it from now on (owned): the tensors themselves, or views where a tensor
 * comes twice. A thread has one trace at a time. */
Status trace_begin(Exec *exec, const TraceStart *start, IValue *out_inputs, TracingState **out) MUST_CHECK;
/* Of this thread; NULL: it does not trace. */
TracingState *trace_current(void);
/* For an Exec whose operators are to be recorded; NULL: none are, for nobody traces, or a traced operator runs. */
Recorder *trace_recorder(void);
/* The program: a function of the unit, or a method of self's class and those of the submodules that were entered. The
 * trace is over, whatever is returned. */
Status trace_finish(TracingState *t, IValue result, Function **out) MUST_CHECK;
void trace_abort(TracingState *t);
/* Between them nothing is recorded; may be nested. */
void trace_pause(TracingState *t);
void trace_resume(TracingState *t);
bool trace_is_paused(const TracingState *t);
const TraceListener *trace_listener(const TracingState *t);

/* A function or method was called and gave `result`: stays a call. The function's unit is kept. */
Status trace_call(TracingState *t, Function *function, const IValue *arguments, uint32_t count,
                  IValue result) MUST_CHECK;
/* A size, or the number of elements, as a tensor of one number that stands for it. */
Status trace_size(TracingState *t, Tensor *tensor, int64_t dim, IValue *out) MUST_CHECK;
Status trace_numel(TracingState *t, Tensor *tensor, IValue *out) MUST_CHECK;
/* What runs between them becomes the forward of the submodule at `path` ("layers.0"). */
Status trace_enter(TracingState *t, Str path) MUST_CHECK;
Status trace_leave(TracingState *t) MUST_CHECK;
/* What runs between them becomes a fork; *out, a future that is done, stands for it. */
Status trace_fork(TracingState *t) MUST_CHECK;
Status trace_join(TracingState *t, IValue result, IValue *out) MUST_CHECK;
Status trace_wait(TracingState *t, Future *future, IValue *out) MUST_CHECK;
