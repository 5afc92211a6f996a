/* interp: Code, linear register code made from a Graph, and the machine that runs it. Calls push frames on the heap and
 * never recurse in C; a frame that waits for a Future is suspended and resumed by whoever completes it.
 *
 *   interp/interp.h            compiling and running (this file)
 *   interp/code.h              Code and its instructions
 *   interp/state.h             what a plan's Code reads of its first argument before it runs
 *   interp/compile_internal.h  what the files that make it share
 *   interp/node_body.h         what runs where a plan's operator declines
 *   interp/region_read.h       regions of plans, read of their Subgraphs
 *   interp/last_use.h          where values die
 *   interp/task.h              frames, stacks, tasks
 *   interp/profile.h           what profiling code observes, guards
 *   interp/op_profile.h        how long operators take; interp/op_profile_internal.h
 *   interp/dict_string.h       the short way into dicts with text keys */
#pragma once

#include "call/runtime.h"
#include "ir/unit.h"

typedef struct Exec Exec; /* call/exec.h */

typedef struct Code Code;
/* Self-contained: borrows nothing of the graph but types, sources and callables, which the unit keeps. It has compact
 * copies of the Subgraphs of operators that may decline. */
Status code_compile(const Graph *graph, Str name, Code **out) MUST_CHECK;
void code_free(Code *code);
size_t code_bytes(const Code *code);            /* with those of its forks; NULL: 0 */
void code_print(const Code *code, StrBuf *out); /* wick dump --stage bytecode, with the documents' names */

/* Runs a function to its end; checks nothing about the arguments (the API did). Arguments borrowed, *out owned; several
 * results come as a Tuple. Blocks the calling thread while suspended; returns when every task it forked has ended. On
 * failure the error's trace is "Traceback of TorchScript (most recent call last):" with the source of every frame;
 * PyTorch prints "The following operation failed in the TorchScript interpreter.", that, and "RuntimeError: message".
 */
Status interp_call(Exec *exec, Function *function, const IValue *arguments, uint32_t count, IValue *out) MUST_CHECK;
/* Runs Code directly, e.g. a plan's: results in outputs[graph outputs]. */
Status interp_run(Exec *exec, const Code *code, const IValue *inputs, uint32_t input_count, IValue *outputs,
                  uint32_t output_count) MUST_CHECK;
/* ---- plans ----
 * A baseline is Code of a graph with prim::BailOut markers: they cost nothing, and it can be entered at each of them.
 * A plan's graph has come from a copy of the baseline's graph by rewriting; its BailOuts are guards, and where one
 * fails the run goes on in the baseline at the marker of the same index, with the BailOut's inputs as the values that
 * live there; the first one, which is tested, the marker may do without. */
Status code_compile_baseline(const Graph *graph, Str name, Code **out) MUST_CHECK;
/* Values that a plan's Code expects a run to bring along: by number, the input whose attributes the value is read
 * from, as attribute_reads_find (pass) gives them; NULL: none. Meant are those of the first input, in the graph's own
 * block. */
typedef struct StateValues {
  Value *const *inputs;
  uint32_t count;
  bool knows_effects;       /* and then: */
  const Node *first_effect; /* alias_first_effect of the graph */
} StateValues;
/* `baseline` must live as long as *out, and so must the graph, if it is sealed: then Subgraphs of its nodes are
 * borrowed. baseline: NULL when the graph has no guards. */
Status code_compile_plan(const Graph *graph, Str name, const Code *baseline, const StateValues *state,
                         Code **out) MUST_CHECK;
typedef struct InterpRun {
  struct Snapshot *state;     /* in: of the Code's state; NULL: it has none */
  struct ProfileRun *profile; /* in: slots for prim::profile, or NULL */
  uint32_t force_guard;       /* in, for tests: fails even if it holds; an index plus one, UINT32_MAX: any */
  uint32_t force_after;       /* in: it holds so many times first */
  uint32_t failed_guard;      /* out: index of the guard that failed, plus one; 0: none did */
  bool left_no_trace;         /* out, of a run that failed: before anything that can be noticed outside */
} InterpRun;
Status interp_run_plan(Exec *exec, const Code *code, const IValue *inputs, uint32_t input_count, IValue *outputs,
                       uint32_t output_count, InterpRun *run) MUST_CHECK;
/* ---- calls that return at once ---- */
/* What an asynchronous run in a plan keeps: told once, on the thread that ended it, before the Future is complete. */
typedef struct AsyncRun {
  InterpRun run; /* first member */
  void (*ended)(struct AsyncRun *run, Exec *exec, bool succeeded);
} AsyncRun;
/* As interp_call, as a task of its own. `code` is the function's or one of its plans'; `run` belongs to the task from
 * then on, on failure it stays the caller's; NULL: nobody is told. */
Status interp_start(Exec *exec, Function *function, const Code *code, const IValue *arguments, uint32_t count,
                    AsyncRun *run, Future **out) MUST_CHECK;
/* Of a function, compiled on first use. */
Status function_code(Exec *exec, Function *function, const Code **out) MUST_CHECK;
/* A cancel flag was set: what waits looks at it. Safe in signal handlers. */
void interp_cancelled(void);
/* Frees the stacks that the runtime keeps: bytes. */
size_t interp_trim(Runtime *runtime);
size_t interp_stack_bytes(Runtime *runtime); /* of these */
