/* wick/operator: calling operators, and adding them. */
#ifndef WICK_OPERATOR_H
#define WICK_OPERATOR_H

#include "wick/run.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Calls one operator by its qualified name ("aten::add") and overload ("Tensor"; NULL: the first that fits the
 * arguments). The last `named_count` of the `count` arguments are named by `names`. Several results come as a tuple. */
WICK_API wick_status wick_op_call(wick_runtime *runtime, const char *name, const char *WICK_NULLABLE overload,
                                  const wick_value *const *arguments, size_t count, const char *const *names,
                                  size_t named_count, wick_value **WICK_NULLABLE out, wick_error **error);
/* The same with a call's options; executor, backend and max_steps concern programs alone. */
WICK_API wick_status wick_op_call_with(wick_runtime *runtime, const char *name, const char *WICK_NULLABLE overload,
                                       const wick_value *const *arguments, size_t count, const char *const *names,
                                       size_t named_count, const wick_run_options *WICK_NULLABLE options,
                                       wick_value **WICK_NULLABLE out, wick_error **error);
typedef struct wick_call wick_call; /* one invocation of an operator; ends with the kernel's return */
WICK_API size_t wick_call_argument_count(const wick_call *call);
WICK_API wick_value *wick_call_argument(wick_call *call, size_t index); /* NULL: no such index, or no memory */
WICK_API void wick_call_set_result(wick_call *call, size_t index, const wick_value *value);
/* Computes; on failure sets *error (wick_error_new) and returns its status. Must not keep the call. Called from any
 * thread. */
typedef wick_status wick_kernel(void *user, wick_call *call, wick_error **error);
/* Adds an operator for the rest of the process: "my_namespace::magic(Tensor x, int n=2) -> Tensor". Overloads that
 * differ only in returns are refused. */
WICK_API wick_status wick_op_register(const char *schema, wick_kernel *kernel, void *user, wick_error **error);
/* Opens a shared library and calls its `wick_status wick_library_init(wick_error **error)`, which registers operators
 * (wick/library.h). `path`: a file, with a '/' in it; or the name of a library, "torch_scatter", which
 * wick_library_find knows. One that is open already stays so. */
WICK_API wick_status wick_load_library(const char *path, wick_error **error);
/* Where the library NAME.so is: in the folders of the environment's WICK_LIBRARY_PATH (with colons between), beside
 * wick's own library or command as they were installed, or in its build folder. WICK_NOT_FOUND: nowhere. The path is
 * freed with wick_text_free. */
WICK_API wick_status wick_library_find(const char *name, char **out_path, wick_error **error);
/* A program that names an operator or a class of a namespace which nothing has registered has the library of that name
 * opened for it, from these folders and from nowhere else. 0 switches that off, for the whole process. */
WICK_API void wick_set_automatic_libraries(int on);
/* The files of the libraries that are open, in order; static. NULL: no such index. */
WICK_API const char *wick_library_path(size_t index);
/* Whether an operator of that name is there. Those that only passes make (wick::region) are not there for anybody
 * else: programs, archives and calls that name one are refused. Graphs may hold their nodes (wick/graph.h). */
WICK_API int wick_op_exists(const char *name);
/* Why nothing of an operator's namespace is there: its library is not installed, is not opened by itself, failed to
 * open. Static; "" where the namespace is there. */
WICK_API const char *wick_op_missing(const char *name);

#ifdef __cplusplus
}
#endif
#endif
