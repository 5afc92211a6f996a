/* wick/run: calls of methods and functions, limits, profiles; asynchronous calls. */
#ifndef WICK_RUN_H
#define WICK_RUN_H

#include "wick/module.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- running ---- */
typedef struct wick_cancel wick_cancel;              /* counted; fired from any thread */
WICK_API wick_cancel *wick_cancel_new(void);         /* NULL: out of memory */
WICK_API void wick_cancel_fire(wick_cancel *cancel); /* safe in signal handlers */
WICK_API void wick_cancel_release(wick_cancel *cancel);
/* How long each operator of the calls that record into it took, by the place in the program and the shapes it saw. */
typedef struct wick_profile wick_profile;      /* counted; calls on any number of threads may record into one */
WICK_API wick_profile *wick_profile_new(void); /* NULL: out of memory */
WICK_API void wick_profile_release(wick_profile *profile); /* NULL is allowed */
enum {
  WICK_PROFILE_TABLE = 1, /* a line for each operator, shapes and place, by time: for people */
  WICK_PROFILE_JSON = 2,  /* {"calls", "ms", "interpreter_ms", "rows": [{"op", "overload", "inputs", "output", "source",
                           * "function", "module", "count", "code", "instruction", "places", "ms", "least_ms", "flops",
                           * "bytes"}]}, and "declines", "declined" where the operator's kernel left so many calls to
                           * others, and why; "fused": true of a region or a fusion group: totals over all calls; flops
                           * 0 where not known, bytes those of all tensors read and written. "code": a number for each
                           * plan or program as written that ran; instructions
                           * are in the order of its graph's nodes; "places": where the node comes from and what calls
                           * it was inlined by, as wick_node_place and wick_node_inlined_call say:
                           * "a.py:3:4 < b.py:7:8" */
  WICK_PROFILE_TRACE = 3, /* every run of an operator, as Chrome's trace events (the first 1,048,576) */
  WICK_PROFILE_FOLDED = 4, /* "function;place;operator nanoseconds", a line each, the outermost place first: for flame
                            * graphs */
  /* Sums of all that have the operator, the submodule ("layer1.0", the innermost whose method it stands in) or the line
   * of the source in common, by time: lines of at most 100 columns, for people. */
  WICK_PROFILE_BY_OPERATOR = 5,
  WICK_PROFILE_BY_MODULE = 6,
  WICK_PROFILE_BY_SOURCE = 7
};
/* What was recorded so far, as text to be freed with wick_text_free. An operator's time is without that of operators it
 * runs inside; backward passes that wick_backward runs are not recorded. WICK_INVALID_ARGUMENT: no such format. */
WICK_API wick_status wick_profile_print(const wick_profile *profile, uint32_t format, char **out_text,
                                        wick_error **error);
enum { WICK_GRAD_DEFAULT = 0, WICK_GRAD_ON = 1, WICK_GRAD_OFF = 2 };
typedef struct wick_run_options {
  uint32_t size;
  uint32_t threads;          /* within this call; 0: the runtime's */
  uint32_t grad;             /* WICK_GRAD_...; the default is off */
  uint32_t deterministic;    /* nonzero: the same bits on every call */
  uint64_t deadline_ns;      /* from now; 0: none. Running, waiting and standing in a queue end then */
  uint64_t max_steps;        /* loop iterations and calls, of all it forks together; 0: no limit */
  uint64_t max_bytes;        /* that it holds at once (tensors, text, containers), less what it frees; 0: no limit */
  wick_cancel *cancel;       /* may be NULL */
  uint32_t executor;         /* WICK_EXECUTOR_...; 0: the runtime's */
  uint32_t backend;          /* WICK_BACKEND_...; 0: the runtime's */
  wick_profile *profile;     /* where the time of operators is recorded; NULL: nowhere, which costs nothing */
  uint32_t shares_arguments; /* nonzero: lists and dicts of just the types wanted are passed themselves */
  uint32_t reserved;
  const char *default_device; /* "cuda:0": where the program makes tensors that it tells no device; NULL: the CPU */
} wick_run_options;
/* Calls a method (or function). `arguments` are borrowed; the last `named_count` of the `count` are named by `names`.
 * Containers are passed as Python passes them to TorchScript: copied, with the types the schema asks for, unless
 * shares_arguments is set; tensors and objects are passed themselves. `out` NULL, here and wherever it may be: the
 * result is not wanted. */
WICK_API wick_status wick_run(wick_module *module, const char *method, const wick_value *const *arguments, size_t count,
                              const char *const *names, size_t named_count,
                              const wick_run_options *WICK_NULLABLE options, wick_value **WICK_NULLABLE out,
                              wick_error **error);
/* Calls `forward` with `count` inputs by position and the default options: the short form of wick_run for the usual
 * case.
 *   wick_forward(module, &input, 1, &output, &error) */
WICK_API wick_status wick_forward(wick_module *module, wick_value *const *inputs, size_t count,
                                  wick_value **WICK_NULLABLE out, wick_error **error);
/* Calls a module as Python's `m(x)` does: the hooks before forward, forward, the hooks after it. Hooks get the
 * positional arguments as a tuple; what those before forward answer takes their place, what those after it answer the
 * place of the result. None changes nothing. Hooks of submodules run in any call, for the code calls them. Of a
 * compiled text, its function `forward`. Limits of time, steps and memory hold for all of it together. */
WICK_API wick_status wick_module_call(wick_module *module, const wick_value *const *arguments, size_t count,
                                      const char *const *names, size_t named_count,
                                      const wick_run_options *WICK_NULLABLE options, wick_value **WICK_NULLABLE out,
                                      wick_error **error);

/* ---- functions looked up once ---- */
typedef struct wick_function wick_function; /* counted; keeps its module; called from any thread */
/* The method (or function of a compiled text). WICK_NOT_FOUND lists what there is. Methods that are added to the module
 * later do not concern it. */
WICK_API wick_status wick_function_of(wick_module *module, const char *method, wick_function **out, wick_error **error);
WICK_API wick_function *wick_function_retain(wick_function *function);
WICK_API void wick_function_release(wick_function *function);           /* NULL is allowed */
WICK_API const char *wick_function_name(const wick_function *function); /* borrowed from the function */
/* As wick_module_schema. */
WICK_API wick_status wick_function_schema(const wick_function *function, char **out_text, wick_error **error);
/* As wick_run, without the look-up. */
WICK_API wick_status wick_function_run(wick_function *function, const wick_value *const *arguments, size_t count,
                                       const char *const *names, size_t named_count,
                                       const wick_run_options *WICK_NULLABLE options, wick_value **WICK_NULLABLE out,
                                       wick_error **error);
/* The same with the results copied into tensors of the caller, as wick_tensor_borrow makes them: one for a function
 * that gives a tensor, else one for each item of the tuple or list that it gives. Sizes must be the results', dtypes
 * are converted, strides may be any. When a result does not fit, none is written: WICK_INVALID_ARGUMENT. */
WICK_API wick_status wick_function_run_into(wick_function *function, const wick_value *const *arguments, size_t count,
                                            const char *const *names, size_t named_count,
                                            const wick_run_options *WICK_NULLABLE options, wick_value *const *outputs,
                                            size_t output_count, wick_error **error);
/* Makes everything ready that calls with such arguments will want: code compiled, plans made, weights packed, libraries
 * opened, memory for reuse; returns when later calls have nothing left to do first. The function runs several times
 * over a copy of the module's attributes, with its own random numbers and prints nothing; what it writes into tensors,
 * the arguments included, is put back. Operators from outside with effects of their own are called, too. Of `options`,
 * executor, backend, threads and the limits count for each of those runs. Not while the module runs elsewhere. */
WICK_API wick_status wick_prepare(wick_module *module, const char *method, const wick_value *const *arguments,
                                  size_t count, const char *const *names, size_t named_count,
                                  const wick_run_options *WICK_NULLABLE options, wick_error **error);

/* ---- asynchronous calls ---- */
typedef struct wick_future wick_future; /* counted by its users; the call goes on when all of them let go */
/* As wick_run, but returns at once: the call goes on in wick's threads. The arguments must not be changed meanwhile
 * unless the program is written for it. Errors of the arguments come at once, errors of the run with wick_future_wait.
 * WICK_BUSY, and nothing is begun: as many calls of the runtime have not ended as its max_async allows. A call counts
 * until wick_future_done or wick_future_wait, or a callback of wick_future_then, may say that it has ended. */
WICK_API wick_status wick_run_async(wick_module *module, const char *method, const wick_value *const *arguments,
                                    size_t count, const char *const *names, size_t named_count,
                                    const wick_run_options *WICK_NULLABLE options, wick_future **out,
                                    wick_error **error);
WICK_API int wick_future_done(const wick_future *future);
/* Blocks until the call has ended with all it forked, for timeout_ns at most (0: for ever; afterwards WICK_DEADLINE,
 * and the call goes on). Gives the result, or the call's error, each time it is asked. */
WICK_API wick_status wick_future_wait(wick_future *future, uint64_t timeout_ns, wick_value **WICK_NULLABLE out,
                                      wick_error **error);
/* Calls back once, when the call has ended: on the thread that ended it, or on this one when it has already. The
 * callback must not block for long; wick_future_wait returns at once in it. */
typedef void wick_future_callback(void *user, wick_future *future);
WICK_API wick_status wick_future_then(wick_future *future, wick_future_callback *callback, void *user,
                                      wick_error **error);
WICK_API void wick_future_release(wick_future *future); /* NULL is allowed */

#ifdef __cplusplus
}
#endif
#endif
