/* What the files of the tracer share. Functions throw to the arena of the trace. */
#pragma once

#include "call/call.h"
#include "trace/trace.h"

/* What values stand for; a fork has a frame of its own, whose values nobody outside can mean. */
typedef struct TraceFrame {
  PtrMap values;    /* Tensor, Future or Object -> Value */
  VEC(IValue) held; /* the keys: an address must not mean something else while it is one */
  size_t sweep_at;  /* so many are held: time to let go of what nobody else holds */
  Node *fork;       /* NULL: the trace's own */
} TraceFrame;

struct TracingState {
  Recorder recorder; /* first */
  uint32_t pauses;
  PreparedGraph *workspace;
  Graph *graph; /* and its arena and types are the workspace's */
  CompilationUnit *unit;
  Object *self; /* held, as the unit is */
  Str name;
  bool lenient, outplace;
  TraceListener listener;
  VEC(TraceFrame) frames;
  VEC(CompilationUnit *) used; /* held: of functions that were called */
  VEC(Source *) sources;       /* held: the places */
  Map places;                  /* "file:line" -> Source */
  Map modules;                 /* path -> Value of the submodule */
  SourceRange range;           /* of what is being recorded */
};

_Noreturn void trace_fail(TracingState *t, ErrorCode code, const char *format, ...) PRINTF_LIKE(3, 4);
/* Runs body where it may throw, with the place asked for; nothing is recorded meanwhile. */
Status trace_protect(TracingState *t, void (*body)(void *argument), void *argument) MUST_CHECK;
void trace_warn(TracingState *t, TraceWarning kind, const char *message);

/* ---- tracing_state.c ---- */
/* NULL: the trace has not seen it. */
Value *trace_find(const TracingState *t, const void *counted);
void trace_remember(TracingState *t, IValue counted, Value *value);

/* ---- trace_values.c ---- */
/* An operator's node, inserted; `name` is qualified. */
Node *trace_node(TracingState *t, Str name, uint32_t input_count, Value *const *inputs, uint32_t output_count);
Value *trace_constant(TracingState *t, IValue value, const Type *type_or_null);
/* What stands for a value: as it was seen, put together of what was seen, or a constant. `type` may be NULL. */
Value *trace_value(TracingState *t, IValue v, const Type *type);
/* From now on `value` stands for v, and values taken out of it for what v holds. */
void trace_assign(TracingState *t, IValue v, Value *value);
/* The same for an input, with views for tensors that were seen already; gives what stands for it. */
IValue trace_input(TracingState *t, Exec *exec, IValue v, Value *value);
/* The type of an input. */
const Type *trace_input_type(TracingState *t, IValue v);
/* A result of the program. */
Value *trace_result(TracingState *t, IValue v);
const Type *trace_tensor_type(TracingState *t, const Tensor *tensor);

/* ---- record.c ---- */
Status trace_record(Recorder *recorder, Exec *exec, Call *call) MUST_CHECK;

/* ---- trace_blocks.c: the blocks of what was entered and forked become functions ---- */
/* Paths of two attributes of one tree of modules: `path` is `prefix` or within it. */
bool trace_path_within(Str path, Str prefix);
void trace_lower_blocks(TracingState *t);

/* ---- trace_finish.c ---- */
/* A function of the unit that owns the class (NULL: of the trace's unit) with a copy of the graph. */
Function *trace_define(TracingState *t, Graph *graph, ClassType *class_type, Str name);
