/* wick/library: operators with everything a built-in one has, classes whose objects hold a value of C, and what kernels
 * ask of the call that they serve. docs/libraries.md is the guide.
 *
 *   static const wick_operator operators[] = {
 *       {.size = sizeof(wick_operator),
 *        .schema = "mine::scale(Tensor x, float by) -> Tensor",
 *        .kernel = scale,
 *        .gradient = "x: torch.ops.mine.scale(grad, by)"},
 *       {.size = sizeof(wick_operator), .schema = "mine::twice(Tensor x) -> Tensor", .body = "return x + x"},
 *   };
 *   WICK_API wick_status wick_library_init(wick_error **error) {
 *     return wick_operators_register(operators, 2, error);
 *   }                                                                                                       */
#ifndef WICK_LIBRARY_H
#define WICK_LIBRARY_H

#include "wick/operator.h"
#include "wick/tensor.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- operators ---- */

/* Fills specs[i] for the i-th result, of operators whose results are all tensors: from sizes, dtypes and arguments that
 * are no tensors. `specs` is all zero before. The results are then there, row-major and not yet filled, when the kernel
 * runs (wick_call_result). Fails where the arguments don't belong together. */
typedef wick_status wick_shape(void *user, wick_call *call, wick_tensor_spec *specs, wick_error **error);

enum { /* flags; none: computes its results from its arguments, and nothing else */
       WICK_OPERATOR_NOT_DIFFERENTIABLE = 1, /* results never require a gradient */
       WICK_OPERATOR_NONDETERMINISTIC = 2,   /* draws random numbers: two calls are never made one */
       WICK_OPERATOR_SIDE_EFFECTS = 4,       /* never removed or moved */
       WICK_OPERATOR_COMPOSITE = 8,          /* the kernel only calls operators: gradients come from those */
       WICK_OPERATOR_TAKES_UNDEFINED = 16,   /* arguments may be undefined tensors; without it such a call fails */
       WICK_OPERATOR_RETURNS_ARGUMENT = 32   /* a result may be, or show the memory of, an argument although the schema
                                                does not say so */
};
typedef struct wick_operator {
  uint32_t size;       /* sizeof(wick_operator) */
  uint32_t flags;      /* WICK_OPERATOR_... */
  const char *schema;  /* "mine::scale(Tensor x, float by) -> Tensor"; writes stand in it as in PyTorch: Tensor(a!) */
  wick_kernel *kernel; /* one of kernel */
  const char *body;    /* and body: TorchScript statements over the parameters, compiled on first use; torch.x means the
                           operator x, those of libraries are torch.ops.mine.x */
  const char
      *gradient;     /* docs/autograd.md, "Gradient texts"; operators as in a body. NULL: a kernel without one gives an
                           error where a gradient is wanted, bodies have those of what they call */
  wick_shape *shape; /* for kernels; NULL: the kernel makes its results (wick_call_set_result) */
  void *user;        /* given to kernel and shape */
} wick_operator;
/* Adds operators for the rest of the process: all of them or, on failure, those before the one that the error names.
 * The texts are copied. */
WICK_API wick_status wick_operators_register(const wick_operator *operators, size_t count, wick_error **error);

/* ---- what kernels ask of their call, besides wick_call_argument and wick_call_set_result ---- */

/* The argument as a tensor, borrowed until the kernel returns. Fails where it is none, is undefined, or has no plain
 * memory; the error names the argument. */
WICK_API wick_status wick_call_tensor(const wick_call *call, size_t index, wick_tensor_view *out, wick_error **error);
/* A result that the operator's shape function described, to be filled; NULL: no such result, or no memory. */
WICK_API wick_value *wick_call_result(wick_call *call, size_t index);
/* Runs an operator with the settings and within the limits of the call. Several results come as a tuple. Gradients are
 * recorded only in kernels that are WICK_OPERATOR_COMPOSITE. */
WICK_API wick_status wick_call_operator(wick_call *call, const char *name, const char *WICK_NULLABLE overload,
                                        const wick_value *const *arguments, size_t count, wick_value **out,
                                        wick_error **error);
/* Whether gradients are recorded where the program calls the operator. */
WICK_API int wick_call_grad_is_enabled(const wick_call *call);
/* Fails when the call is cancelled, past its deadline or out of steps. For long loops; cheap. */
WICK_API wick_status wick_call_poll(const wick_call *call, wick_error **error);
/* Runs body(arg, begin, end) over parts of 0 to n of `grain` and more, on the call's threads, and waits for them. */
WICK_API void wick_call_parallel(const wick_call *call, int64_t n, int64_t grain,
                                 void (*body)(void *arg, int64_t begin, int64_t end), void *arg);

/* ---- operators that finish later ----
 *
 * A kernel gives a Future at once and goes on elsewhere: in a thread of its own, a network's, a device's. The program
 * waits with torch.jit.wait where it needs the value, and computes meanwhile.
 *
 *   {.schema = "mine::receive(int source) -> Future(Tensor)", .kernel = receive, .flags = WICK_OPERATOR_SIDE_EFFECTS}
 *
 *   static wick_status receive(void *user, wick_call *call, wick_error **error) {
 *     wick_promise *promise;
 *     wick_status status = wick_call_promise(call, 0, &promise, error);
 *     if (!status) queue_add(user, promise);     // whose thread calls wick_promise_keep(promise, tensor, NULL)
 *     return status;
 *   }                                                                                                         */
typedef struct wick_promise wick_promise;
/* Makes the call's result `index`, which the schema says to be a Future(T), one that waits for the promise. It is to be
 * kept or broken once, from whichever thread, even after all who could wait for it have gone. */
WICK_API wick_status wick_call_promise(wick_call *call, size_t index, wick_promise **out, wick_error **error);
/* Gives the Future its value, of type T (NULL: None), and ends the promise. It is held, not copied: nobody should
 * change it afterwards. A value of another type is an error, which whoever waits gets too. */
WICK_API wick_status wick_promise_keep(wick_promise *promise, const wick_value *WICK_NULLABLE value,
                                       wick_error **error);
/* Whoever waits gets an error with this text (NULL: one that says no more), and the promise ends. NULL is allowed. */
WICK_API void wick_promise_break(wick_promise *WICK_NULLABLE promise, const char *WICK_NULLABLE why);

/* ---- classes whose objects hold a value of C: torch.classes.mine.Table ----
 *
 * A method is an operator whose first parameter is the object; the constructor is the method "__init__". Archives hold
 * what "__getstate__" gives, and loading calls "__setstate__" with it on an object that is still empty: both give an
 * object its value with wick_native_set. A class without these two can't be saved or loaded.
 *
 *   {.schema = "mine::Table_getstate(__torch__.torch.classes.mine.Table self) -> int[]", .kernel = getstate}
 *
 *   static const wick_class_method methods[] = {{"__getstate__", "mine::Table_getstate"}, ...};               */
typedef struct wick_class_method {
  const char *name;          /* "lookup" */
  const char *operator_name; /* "mine::Table_lookup", registered before, with one overload */
} wick_class_method;
typedef struct wick_class {
  uint32_t size; /* sizeof(wick_class) */
  uint32_t reserved;
  const char *name; /* "mine.Table" */
  const wick_class_method *methods;
  size_t method_count;
} wick_class;
/* Adds a class for the rest of the process. The texts are copied. */
WICK_API wick_status wick_class_register(const wick_class *of, wick_error **error);
/* Gives an object of the class `name` its value: `data`, for which drop(data) (may be NULL) is called once, from
 * whichever thread, when nothing holds it any more, and at once on failure. Copies of an object share it, and
 * several threads may read it: what changes in it needs a lock of its own. An object that threads may share (whatever a
 * caller or a module holds) holds the values that it had before as well. */
WICK_API wick_status wick_native_set(wick_value *object, const char *name, void *data,
                                     void (*WICK_NULLABLE drop)(void *data), wick_error **error);
/* A new object of the class with that value; on failure as wick_native_set. */
WICK_API wick_status wick_native_new(const char *name, void *data, void (*WICK_NULLABLE drop)(void *data),
                                     wick_value **out, wick_error **error);
/* The value of an object of the class, as long as the object is held and, where threads do not share it, not set again.
 * NULL, with an error, for other values and for an object that was given none. */
WICK_API wick_status wick_native_data(const wick_value *object, const char *name, void **out_data, wick_error **error);

#ifdef __cplusplus
}
#endif
#endif
