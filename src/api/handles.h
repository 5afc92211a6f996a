/* The structs behind the handles of wick.h, and how statuses cross the border. */
#pragma once

#include "base/work_limit.h"
#include "call/call.h"
#include "call/runtime.h"
#include "ir/unit.h"
#include "module/module.h"
#include "wick/wick.h"

struct wick_runtime {
  Runtime runtime;               /* first member: what `destroy` gets */
  wick_graph_observer *observer; /* what runtime.observe shows graphs to; NULL: nobody */
  void *observer_user;
  uint32_t max_async; /* asynchronous calls that have not ended; 0: any number */
  _Atomic uint32_t async_calls;
};
/* The runtime that a handle means, which may be NULL. */
static inline Runtime *runtime_of(const wick_runtime *handle) {
  return handle ? (Runtime *)(uintptr_t)&handle->runtime : runtime_of_process();
}
struct wick_value {
  RefCount refs;
  IValue value;
  CompilationUnit *unit; /* retained: where the value came from, or NULL. Its constants do not keep it themselves */
};
/* module is NULL for a compiled text: then its functions are called. */
struct wick_module {
  RefCount refs;
  Module *module;
  CompilationUnit *unit;
  wick_runtime *runtime; /* retained, or NULL */
  VEC(char *) names;     /* of methods or functions, owned */
  char *class_name;      /* owned */
};
/* Takes over `module` (may be NULL); retains the rest. */
Status module_handle_new(wick_runtime *runtime, Module *module, CompilationUnit *unit, wick_module **out) MUST_CHECK;
/* Reads the names of methods or functions again. */
Status module_handle_list(wick_module *handle) MUST_CHECK;
struct wick_cancel {
  RefCount refs;
  _Atomic bool fired;
};
struct wick_profile {
  RefCount refs;
  struct OpProfile *profile;
};
struct wick_call {
  Call *call;
};

/* Flags of tensors whose elements the caller can't reach. */
enum { NO_PLAIN_MEMORY = TENSOR_UNDEFINED | TENSOR_SPARSE | TENSOR_META | TENSOR_NOT_CPU | TENSOR_OPAQUE };

/* WICK_TENSOR and its like: what kind of value is of the type; WICK_OTHER where that can be of several. */
uint32_t kind_of_type(const Type *type);

/* What a tensor that is defined looks like, data wherever it is. */
void api_view_tensor(const Tensor *t, struct wick_tensor_view *out);

extern const Services api_services;

/* Gives the error away through `error` when that is not NULL; the code of the status. */
wick_status api_status(Status status, wick_error **error);
#define API_TRY(expression)                                       \
  do {                                                            \
    Status api_try_status = (expression);                         \
    if (api_try_status) return api_status(api_try_status, error); \
  } while (0)
/* For what the caller has to give. */
Status api_null(const char *function, const char *argument) MUST_CHECK;
Status api_null_item(const char *function, const char *argument, size_t index) MUST_CHECK;
#define API_NEED(pointer)                                                   \
  do {                                                                      \
    if (!(pointer)) return api_status(api_null(__func__, #pointer), error); \
  } while (0)
#define API_NEED_BYTES(data, length) \
  do {                               \
    if (length) API_NEED(data);      \
  } while (0)
/* Where a result goes: first in every function, so that it is empty on each failure. */
#define API_OUT(out) \
  do {               \
    API_NEED(out);   \
    *(out) = 0;      \
  } while (0)
#define API_NEED_ITEMS(items, count)                                                                       \
  do {                                                                                                     \
    for (size_t need_i = 0; need_i < (count); need_i++)                                                    \
      if (!(items) || !(items)[need_i]) return api_status(api_null_item(__func__, #items, need_i), error); \
  } while (0)
/* Boxes, taking over the reference also on failure. `unit` (may be NULL) is where the value comes from. */
Status value_box_of(IValue value, CompilationUnit *unit, wick_value **out) MUST_CHECK;
static inline Status value_box(IValue value, wick_value **out) {
  return value_box_of(value, NULL, out);
}
/* The same for a result that may not be wanted: out may be NULL. */
Status value_give(IValue value, CompilationUnit *unit, wick_value **out) MUST_CHECK;
/* Kernels and callbacks from outside: what they give as a Status. */
Status foreign_run(wick_kernel *kernel, void *user, Call *call) MUST_CHECK;
Status foreign_status(wick_status status, wick_error *error, const char *what) MUST_CHECK;
Status foreign_check_schema(const char *schema) MUST_CHECK;
wick_value *value_box_or_null(IValue value, CompilationUnit *unit);
void api_exec_init(Exec *exec, const wick_runtime *runtime);
wick_runtime *runtime_retain(wick_runtime *runtime); /* NULL is allowed */
/* One more handle of a module, or one less: with the last one goes what is kept for calls. */
void runtime_add_module(wick_runtime *runtime);
void runtime_drop_module(wick_runtime *runtime);
/* exec gets `budget` when there is one. */
Status api_apply_run_options(Exec *exec, const wick_run_options *options, WorkBudget *budget, wick_cancel **out_cancel,
                             wick_profile **out_profile) MUST_CHECK;
/* A limit for work from now on; 0: none. Enter it with work_limit_enter only where there is one. */
void api_limit_init(WorkLimit *limit, uint64_t deadline_ns, uint64_t max_trees);
/* What was made under a limit that somebody found to be over is not whole: OK becomes the error. */
Status api_limit_leave(WorkLimit *limit, WorkLimit *outer, Status status) MUST_CHECK;
/* Of a struct of the caller's. */
Status api_check_size(const char *what, uint32_t size) MUST_CHECK;
/* A struct of the caller's that begins with its size: copied into `to` (of `known` bytes), the rest zero. A nonzero
 * unknown tail is refused. */
Status api_copy_options(const char *what, const void *from, size_t known, void *to) MUST_CHECK;
