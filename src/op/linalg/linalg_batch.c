/* Checks, looks and batches for the operators over matrices; _linalg_check_errors. */
#include "op/linalg/linalg.h"

#include <assert.h>
#include <stdio.h>

#include "base/work_limit.h"
#include "call/row.h"

#include <complex.h> /* after ours: its macros are common words */

/* ---- checks ---- */
Status linalg_check_matrix(const Tensor *t, const char *name, const char *argument) {
  if (t->ndim < 2)
    return status_new(ERROR_RUNTIME, "%s: The input tensor %s must have at least 2 dimensions.", name, argument);
  if (matrix_rows(t) > INT32_MAX / 4 || matrix_cols(t) > INT32_MAX / 4)
    return status_new(ERROR_RUNTIME, "%s: %s has matrices of %lld by %lld, which is more than LAPACK takes", name,
                      argument, (long long)matrix_rows(t), (long long)matrix_cols(t));
  return OK;
}
Status linalg_check_square(const Tensor *t, const char *name, const char *argument) {
  TRY(linalg_check_matrix(t, name, argument));
  if (matrix_rows(t) != matrix_cols(t))
    return status_new(ERROR_RUNTIME, "%s: %s must be batches of square matrices, but they are %lld by %lld matrices",
                      name, argument, (long long)matrix_rows(t), (long long)matrix_cols(t));
  return OK;
}
Status linalg_check_dtype(const Tensor *t, const char *name, bool low_precision_ok) {
  DType dtype = (DType)t->dtype;
  if (!dtype_is_floating(dtype) && !dtype_is_complex(dtype))
    return status_new(ERROR_RUNTIME, "%s: Expected a floating point or complex tensor as input. Got %s", name,
                      dtype_scalar_name(dtype));
  if (!low_precision_ok && (dtype == DTYPE_FLOAT16 || dtype == DTYPE_BFLOAT16 || dtype == DTYPE_COMPLEX32))
    return status_new(ERROR_RUNTIME, "%s: Low precision dtypes not supported. Got %s", name, dtype_scalar_name(dtype));
  return OK;
}
Status linalg_check_same_dtype(const Tensor *a, const Tensor *b, const char *name, const char *a_name,
                               const char *b_name) {
  if (a->dtype == b->dtype) return OK;
  return status_new(
      ERROR_RUNTIME, "%s: Expected %s and %s to have the same dtype, but found %s of type %s and %s of type %s instead",
      name, a_name, b_name, a_name, dtype_scalar_name((DType)a->dtype), b_name, dtype_scalar_name((DType)b->dtype));
}

/* ---- looks ---- */
static void columns_strides(TensorSpec *spec) {
  strides_contiguous(spec->ndim, spec->sizes, spec->strides);
  int row = spec->ndim - 2, col = spec->ndim - 1;
  spec->strides[row] = 1;
  spec->strides[col] = spec->sizes[row] > 1 ? spec->sizes[row] : 1;
  spec->has_strides = true;
}
void linalg_spec(TensorSpec *spec, const Tensor *like, DType dtype, int64_t rows, int64_t cols) {
  assert(like->ndim >= 2);
  shape_set(spec, dtype, like->ndim, like->sizes);
  spec->sizes[like->ndim - 2] = rows;
  spec->sizes[like->ndim - 1] = cols;
  columns_strides(spec);
}
void linalg_spec_rows(TensorSpec *spec, const Tensor *like, DType dtype, int extra, const int64_t *sizes) {
  assert(like->ndim >= 2);
  shape_set(spec, dtype, like->ndim - 2, like->sizes);
  for (int d = 0; d < extra; d++) spec->sizes[spec->ndim++] = sizes[d];
}
Status linalg_spec_broadcast(TensorSpec *spec, const Tensor *a, const Tensor *b, DType dtype, int64_t rows,
                             int64_t cols) {
  int ndim;
  int64_t sizes[TENSOR_MAX_DIMS];
  TRY(sizes_broadcast(a->ndim - 2, a->sizes, b->ndim - 2, b->sizes, &ndim, sizes));
  sizes[ndim] = rows;
  sizes[ndim + 1] = cols;
  shape_set(spec, dtype, ndim + 2, sizes);
  columns_strides(spec);
  return OK;
}
void linalg_spec_empty(TensorSpec *spec, DType dtype) {
  shape_set(spec, dtype, 1, (const int64_t[]){0});
}

/* ---- batches ---- */
Matrices matrices_of(const Tensor *t) {
  assert(t->ndim >= 2);
  int64_t rows = matrix_rows(t), cols = matrix_cols(t), count = 1;
  for (int d = 0; d < t->ndim - 2; d++) count *= t->sizes[d];
  return (Matrices){.data = tensor_data(t),
                    .count = count,
                    .step = rows * cols * (int64_t)dtype_size((DType)t->dtype),
                    .rows = (LapackInt)rows,
                    .cols = (LapackInt)cols,
                    .ld = rows > 1 ? (LapackInt)rows : 1};
}
Status linalg_columns(const Tensor *from, const Tensor *like, Tensor **out) {
  TensorSpec spec;
  memset(&spec, 0, offsetof(TensorSpec, sizes));
  spec.device = DEVICE_CPU_0;
  linalg_spec(&spec, like ? like : from, (DType)from->dtype, matrix_rows(from), matrix_cols(from));
  TRY(tensor_new(&spec, out));
  Status status = tensor_copy(*out, from, 1);
  if (status != OK) {
    tensor_release(*out);
    *out = NULL;
  }
  return status;
}
Status linalg_vectors(const Tensor *from, const Tensor *like, Tensor **out) {
  int64_t sizes[TENSOR_MAX_DIMS];
  int batch = like->ndim - 2;
  for (int d = 0; d < batch; d++) sizes[d] = like->sizes[d];
  sizes[batch] = from->sizes[from->ndim - 1];
  Tensor *wide;
  TRY(tensor_expand(from, batch + 1, sizes, &wide));
  Status status = tensor_contiguous(wide, out);
  tensor_release(wide);
  return status;
}
void linalg_keep_triangle(const Matrices *m, size_t item, bool upper) {
  for (int64_t i = 0; i < m->count; i++)
    for (LapackInt col = 0; col < m->cols; col++) {
      char *column = (char *)matrix_at(m, i) + (size_t)col * (size_t)m->ld * item;
      LapackInt diagonal = col < m->rows ? col : m->rows;
      if (!upper)
        memset(column, 0, (size_t)diagonal * item);
      else if (col + 1 < m->rows)
        memset(column + (size_t)(col + 1) * item, 0, (size_t)(m->rows - col - 1) * item);
    }
}
void linalg_mirror(const Matrices *m, DType dtype, bool from_upper) {
  assert(m->rows == m->cols);
#define MIRROR(T, conjugate)                                           \
  for (int64_t i = 0; i < m->count; i++) {                             \
    T *a = matrix_at(m, i);                                            \
    for (int64_t col = 0; col < m->cols; col++)                        \
      for (int64_t row = 0; row < col; row++) {                        \
        T *high = &a[row + col * m->ld], *low = &a[col + row * m->ld]; \
        if (from_upper)                                                \
          *low = conjugate(*high);                                     \
        else                                                           \
          *high = conjugate(*low);                                     \
      }                                                                \
  }
  switch (dtype) {
    case DTYPE_FLOAT32:
      MIRROR(float, ) break;
    case DTYPE_FLOAT64:
      MIRROR(double, ) break;
    case DTYPE_COMPLEX64:
      MIRROR(complex64, conjf) break;
    default:
      MIRROR(complex128, conj) break;
  }
#undef MIRROR
}

/* ---- time ---- */
Status linalg_attend(DType dtype, double flops) {
  const double FLOPS_PER_NS = 4; /* of one good processor; the threads of a library make up for the worse ones */
  return work_status_before(flops * (dtype_is_complex(dtype) ? 4 : 1) / FLOPS_PER_NS, "linear algebra");
}

/* ---- _linalg_check_errors ---- */
typedef struct Explanation {
  const char *part; /* of the function's name */
  const char *text; /* takes info once or twice */
} Explanation;
static const Explanation explanations[] = {
    {"inv",
     "The diagonal element %d is zero, the inversion could not be completed because the input matrix is singular."},
    {"solve", "The solver failed because the input matrix is singular."},
    {"cholesky",
     "The factorization could not be completed because the input is not positive-definite (the leading minor of order "
     "%d is not positive-definite)."},
    {"svd",
     "The algorithm failed to converge because the input matrix is ill-conditioned or has too many repeated singular "
     "values (error code: %d)."},
    {"eig",
     "The algorithm failed to converge because the input matrix is ill-conditioned or has too many repeated "
     "eigenvalues (error code: %d)."},
    {"lstsq",
     "The least squares problem could not be solved because the input matrix does not have full rank (error code: "
     "%d)."},
    {"lu_factor",
     "U[%1$d,%1$d] is zero and using it on lu_solve would result in a division by zero. If you still want to perform "
     "the factorization, consider calling linalg.lu(A, pivot) or linalg.lu_factor_ex(A, pivot)"},
};

static Status info_error(const char *name, const char *where, int32_t info) {
  assert(info != 0);
  if (info < 0)
    return status_new(ERROR_RUNTIME,
                      "%s: %sArgument %lld has illegal value. Most certainly there is a bug in the implementation "
                      "calling the backend library.",
                      name, where, -(long long)info);
  for (size_t i = 0; i < sizeof explanations / sizeof *explanations; i++) {
    if (!strstr(name, explanations[i].part)) continue;
    char text[400];
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
    snprintf(text, sizeof text, explanations[i].text, info);
#pragma GCC diagnostic pop
    return status_new(ERROR_RUNTIME, "%s: %s%s", name, where, text);
  }
  return status_new(ERROR_RUNTIME, "%s: %sUnknown error code: %d.", name, where, info);
}

Status linalg_check_info(const Tensor *info, const char *name, bool is_matrix) {
  Tensor *dense;
  TRY(tensor_contiguous(info, &dense));
  const int32_t *values = tensor_data(dense);
  Status status = OK;
  for (int64_t i = 0; i < dense->numel && status == OK; i++) {
    if (values[i] == 0) continue;
    char where[48] = "";
    if (!is_matrix) snprintf(where, sizeof where, "(Batch element %lld): ", (long long)i);
    status = info_error(name, where, values[i]);
  }
  tensor_release(dense);
  return status;
}

static Status kernel_check_errors(Call *call) {
  const Tensor *info = call_tensor(call, 0);
  if (info->dtype != DTYPE_INT32)
    return status_new(ERROR_RUNTIME, "info must be a tensor of Int, got %s", dtype_scalar_name((DType)info->dtype));
  char name[80];
  snprintf(name, sizeof name, STR_FMT, STR_ARG(call_str(call, 1)));
  return linalg_check_info(info, name, call_bool(call, 2));
}

static const OpRow rows[] = {
    {.schema = "aten::_linalg_check_errors(Tensor info, str api_name, *, bool is_matrix) -> ()",
     .kernel = kernel_check_errors,
     .flags = OP_SIDE_EFFECTS},
};
OP_TABLE(op_table_linalg_errors, rows);
