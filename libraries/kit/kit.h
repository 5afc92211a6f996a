/* What the libraries of operators here share: arguments as plain memory, results, errors. Everything is written against
 * wick/library.h alone, as a library from anywhere would be. */
#pragma once

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "wick/library.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))
#define OPERATOR(text, ...) \
  { .size = sizeof(wick_operator), .schema = text, __VA_ARGS__ }
#define TRY(expression)                           \
  do {                                            \
    wick_status try_status = (expression);        \
    if (try_status != WICK_OK) return try_status; \
  } while (0)
#define TRY_GOTO(expression, label)    \
  do {                                 \
    status = (expression);             \
    if (status != WICK_OK) goto label; \
  } while (0)

/* Sets *error and gives the status. */
wick_status fail(wick_error **error, wick_status status, const char *format, ...) __attribute__((format(printf, 3, 4)));
wick_status fail_memory(wick_error **error);

/* ---- arguments that are no tensors ---- */
int64_t argument_int(wick_call *call, size_t index);
double argument_double(wick_call *call, size_t index);
bool argument_is_none(wick_call *call, size_t index);
int64_t argument_int_or(wick_call *call, size_t index, int64_t otherwise); /* of an int? */

/* ---- tensors in row-major memory; zero-initialize, then dispose whatever came of it ---- */
typedef struct Dense {
  wick_value *value;
  const int64_t *sizes;
  void *data;
  int64_t numel;
  uint32_t dtype;
  int ndim;
} Dense;
void dense_dispose(Dense *dense);
/* An argument, converted to `dtype` unless that is ANY_DTYPE. Of real, unquantized numbers only. */
enum { ANY_DTYPE = 255 };
wick_status dense_argument(wick_call *call, size_t index, uint32_t dtype, Dense *out, wick_error **error);
/* The same of a value. */
wick_status dense_of(wick_call *call, const wick_value *value, uint32_t dtype, Dense *out, wick_error **error);
/* A new one; `zero`: filled with zeros. */
wick_status dense_new(uint32_t dtype, int ndim, const int64_t *sizes, bool zero, Dense *out, wick_error **error);
/* Result `index` of the call: the tensor, converted to `dtype`. */
wick_status dense_give(wick_call *call, size_t index, const Dense *dense, uint32_t dtype, wick_error **error);

/* A kernel, `cuda_version() -> int`: -1, for there is none. */
wick_status kernel_cuda_version(void *user, wick_call *call, wick_error **error);

bool dtype_is_floating(uint32_t dtype);
/* float64, float32 (for halves too) or int64 (for integers and bools): what sums are computed in. */
uint32_t dtype_compute(uint32_t dtype);
int64_t product(const int64_t *sizes, int begin, int end);
/* -n to n - 1 as 0 to n - 1; a scalar counts as one dimension. Fails beyond. */
wick_status wrap_dim(int64_t *dim, int ndim, wick_error **error);
