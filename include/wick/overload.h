/* wick/overload: operators that are looked up once: their overloads, what those take and give, and calls that choose
 * nothing any more. For bindings of other languages, which match arguments by rules of their own.
 *
 *   const wick_overload *add = wick_overload_first("aten::add");
 *   const wick_value *arguments[] = {a, b, NULL};
 *   wick_value *sum;
 *   wick_overload_call(NULL, add, arguments, 3, NULL, &sum, 1, &error);                                      */
#ifndef WICK_OVERLOAD_H
#define WICK_OVERLOAD_H

#include "wick/run.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct wick_overload wick_overload; /* of the process: nothing to release */
/* The first overload of a qualified name; NULL: there is no such operator (wick_op_missing says why). */
WICK_API const wick_overload *wick_overload_first(const char *name);
/* The next of the same name, or NULL. */
WICK_API const wick_overload *wick_overload_next(const wick_overload *overload);
/* Every overload of every operator in turn: the one after `overload`, of NULL the first; NULL: there are no more. */
WICK_API const wick_overload *wick_overload_following(const wick_overload *WICK_NULLABLE overload);
/* "aten::add"; not terminated, of the process. */
WICK_API const char *wick_overload_name(const wick_overload *overload, size_t *out_length);
/* "aten::add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor". Freed with wick_text_free. */
WICK_API wick_status wick_overload_schema(const wick_overload *overload, char **out_text, wick_error **error);

enum {                       /* what a parameter takes, or an element of it where it is a list */
       WICK_TAKES_OTHER = 0, /* what the kinds below don't name: a dict, an object, a type variable */
       WICK_TAKES_TENSOR = 1,
       WICK_TAKES_SCALAR = 2, /* int, double, bool or complex */
       WICK_TAKES_INT = 3,
       WICK_TAKES_DOUBLE = 4,
       WICK_TAKES_BOOL = 5,
       WICK_TAKES_COMPLEX = 6,
       WICK_TAKES_STRING = 7,
       WICK_TAKES_DTYPE = 8, /* an int */
       WICK_TAKES_LAYOUT = 9,
       WICK_TAKES_MEMORY_FORMAT = 10,
       WICK_TAKES_DEVICE = 11,
       WICK_TAKES_GENERATOR = 12
};
enum {
  WICK_PARAMETER_LIST = 1,
  WICK_PARAMETER_OPTIONAL = 2,          /* None is taken */
  WICK_PARAMETER_OPTIONAL_ELEMENTS = 4, /* of a list: elements may be None */
  WICK_PARAMETER_KEYWORD_ONLY = 8,
  WICK_PARAMETER_HAS_DEFAULT = 16,
  WICK_PARAMETER_WRITTEN = 32, /* Tensor(a!) */
  WICK_PARAMETER_OUT = 64      /* where a result goes that is given back: `out` of out= forms */
};
typedef struct wick_parameter {
  uint32_t size; /* sizeof(wick_parameter), set by the caller */
  uint32_t kind; /* WICK_TAKES_... */
  uint32_t flags;
  int32_t repeats;  /* n of int[n]: one number stands for n of them; else 0 */
  const char *name; /* not terminated; "" for results without a name */
  size_t name_length;
} wick_parameter;
/* 0 for NULL, and for operators that take or give any number. */
WICK_API size_t wick_overload_parameter_count(const wick_overload *overload);
WICK_API size_t wick_overload_result_count(const wick_overload *overload);
WICK_API wick_status wick_overload_parameter(const wick_overload *overload, size_t index, wick_parameter *out,
                                             wick_error **error);
WICK_API wick_status wick_overload_result(const wick_overload *overload, size_t index, wick_parameter *out,
                                          wick_error **error);
/* What becomes of a gradient that is wanted through it. */
enum {
  WICK_GRADIENT_NONE = 0,     /* an error */
  WICK_GRADIENT_FORMULA = 1,  /* it has one */
  WICK_GRADIENT_COMPOSED = 2, /* that of the operators that it calls */
  WICK_GRADIENT_NEVER = 3     /* nothing: its results never require one, or are no tensors */
};
WICK_API uint32_t wick_overload_gradient(const wick_overload *overload);
/* How it runs. */
enum {
  WICK_RUNS_KERNEL = 0,  /* by a function */
  WICK_RUNS_FORMULA = 1, /* by a formula for each element, for all dtypes */
  WICK_RUNS_BODY = 2,    /* as TorchScript that calls other operators */
  WICK_RUNS_NODE = 3     /* by what is made for a node of a graph: nobody calls it from outside */
};
WICK_API uint32_t wick_overload_runs(const wick_overload *overload);
/* Whether plans put it into groups that run as one: pointwise, or along the last dimensions. */
WICK_API int wick_overload_is_fusable(const wick_overload *overload);
/* Calls it with one argument for each parameter, in order; NULL takes the default. Arguments are converted as by
 * wick_op_call, numbers for tensors too. results[i], the i-th result, is the caller's; a result that is an argument
 * itself (of operators that write) is the same tensor (wick_value_identity). executor, backend and max_steps of the
 * options concern programs alone. */
WICK_API wick_status wick_overload_call(wick_runtime *runtime, const wick_overload *overload,
                                        const wick_value *const *arguments, size_t count,
                                        const wick_run_options *WICK_NULLABLE options, wick_value **results,
                                        size_t result_count, wick_error **error);

#ifdef __cplusplus
}
#endif
#endif
