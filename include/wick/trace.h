/* wick/trace: programs from what a thread does.
 *
 *   wick_trace_options options = {.size = sizeof options, .name = "f"};
 *   wick_trace_begin(NULL, &options, inputs, 1, &x, &error);        // x stands for the input from here on
 *   wick_op_call(NULL, "aten::relu", NULL, &x, 1, NULL, 0, &y, &error);
 *   wick_trace_end(y, &module, &error);                             // "f" of a compiled text
 *
 * While a trace is on, every operator that this thread calls (wick_op_call and whatever else calls operators by
 * name) becomes a node, with its other arguments as constants. Functions and methods that are run stay calls, with
 * their control flow. Tensors that the trace has not seen are constants. The program does for other inputs what was
 * done for these: what the host decided by the elements of tensors is not in it (`warn` tells), and sizes only as
 * far as they were asked with wick_trace_size. Graphs are PyTorch 1.13's, in kinds and order of nodes.
 *
 * With a module, its parameters, buffers and submodules become attributes of self; wick_trace_enter says which
 * submodule is at work, and what runs until wick_trace_leave becomes a method of that ("forward", "forward1" where
 * there is one already). A trace belongs to the thread that began it, which has one at a time; it ends with
 * wick_trace_end or wick_trace_abort there. */
#ifndef WICK_TRACE_H
#define WICK_TRACE_H

#include "wick/operator.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {                          /* what a trace does not hold */
       WICK_TRACE_NUMBER = 1,   /* an operator read elements of a traced tensor and gave no tensor: int(x), if x */
       WICK_TRACE_CONTAINER = 2 /* a list is a result: it has as many items in every run */
};
/* The message is borrowed. Operators that callbacks call are not recorded. */
typedef void wick_trace_warn_callback(void *user, uint32_t kind, const char *message);
typedef struct wick_trace_place {
  uint32_t size;    /* set by wick */
  uint32_t line;    /* from 1 */
  const char *file; /* borrowed until the callback is called again, as `text` */
  const char *text; /* the line, for messages; may be NULL */
} wick_trace_place;
/* Where the caller is, for the ranges of nodes; nonzero: it said so. */
typedef int wick_trace_place_callback(void *user, wick_trace_place *out);
/* The name of the variable that holds the tensor (wick_value_identity tells which it is): its value in the graph gets
 * that name. Borrowed until it is called again; NULL: none. */
typedef const char *wick_trace_name_callback(void *user, const wick_value *tensor);
typedef struct wick_trace_options {
  uint32_t size;
  uint32_t lenient;               /* nonzero: lists and dicts of tensors may be results (strict=False) */
  wick_module *module;            /* traced as self; NULL: a function is traced */
  const char *name;               /* of the function or method; NULL: "forward" */
  const char *const *input_names; /* one for each input, identifiers; NULL: they have none */
  wick_trace_warn_callback *warn; /* may be NULL, as the others */
  wick_trace_place_callback *place;
  wick_trace_name_callback *name_of;
  void *user;
  uint32_t outplace; /* nonzero: operators that write to a tensor are recorded as those that give a new one */
} wick_trace_options;

/* inputs: tensors, and tuples, lists and dicts of them. out_inputs (count of them) gets what the program is to be
 * traced with: the same tensors, or views where one comes twice. WICK_INVALID_ARGUMENT: this thread traces already. */
WICK_API wick_status wick_trace_begin(wick_runtime *runtime, const wick_trace_options *WICK_NULLABLE options,
                                      const wick_value *const *inputs, size_t count, wick_value **out_inputs,
                                      wick_error **error);
/* result: tensors that were traced, and tuples of them. Gives a compiled text with the function, or the module, which
 * has the method now; as wick_module_define, not while the module runs elsewhere. The trace is over, also on failure,
 * and then the module is as it was. */
WICK_API wick_status wick_trace_end(const wick_value *result, wick_module **WICK_NULLABLE out, wick_error **error);
WICK_API void wick_trace_abort(void); /* nothing, when this thread does not trace */
/* Whether operators that this thread calls are recorded now. */
WICK_API int wick_trace_is_on(void);
/* From now on nothing is recorded, or again; may be nested. What is made meanwhile is constant to the trace. */
WICK_API void wick_trace_pause(void);
WICK_API void wick_trace_resume(void);

/* The submodule of the traced module by its path ("layers.0"). */
WICK_API wick_status wick_trace_enter(const char *submodule, wick_error **error);
WICK_API wick_status wick_trace_leave(wick_error **error);

/* A tensor's size as a tensor of one int64 that stands for it: operators take it where they take a number, and compute
 * with it as with any tensor. */
WICK_API wick_status wick_trace_size(const wick_value *tensor, int64_t dim, wick_value **out, wick_error **error);
/* The same for its number of elements. */
WICK_API wick_status wick_trace_numel(const wick_value *tensor, wick_value **out, wick_error **error);

/* What is called between them becomes a fork; it runs at once. *out is a future that is done, for wick_trace_wait.
 */
WICK_API wick_status wick_trace_fork(wick_error **error);
WICK_API wick_status wick_trace_join(const wick_value *result, wick_value **out, wick_error **error);
/* The result of a future, as a node of the trace. */
WICK_API wick_status wick_trace_wait(const wick_value *future, wick_value **out, wick_error **error);

#ifdef __cplusplus
}
#endif
#endif
