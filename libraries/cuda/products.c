/* All of them are batches of alpha A B + beta C. cuBLAS has columns side by side, so what it is asked for is the
 * transpose, B' A', of row-major matrices. float32 is computed in float32, but where TF32 is asked for; halves are
 * summed in float32. */
#include "cuda/products.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdlib.h>

#include "cuda/operators.h"

/* ---- cuBLAS ---- */

typedef struct cublasContext *cublasHandle_t;
enum { CUBLAS_OP_N = 0, CUBLAS_OP_T = 1, CUBLAS_GEMM_DEFAULT = -1 };
static struct {
  int (*create)(cublasHandle_t *handle);
  int (*set_stream)(cublasHandle_t handle, CUstream stream);
  int (*gemm)(cublasHandle_t handle, int a_op, int b_op, int m, int n, int k, const void *alpha, const void *a,
              int a_type, int a_step, long long a_batch, const void *b, int b_type, int b_step, long long b_batch,
              const void *beta, void *c, int c_type, int c_step, long long c_batch, int batches, int compute,
              int algorithm);
} cublas;
static pthread_mutex_t lock =
    PTHREAD_MUTEX_INITIALIZER; /* opening, and the handles, which are one thread's at a time */
static bool is_open;
static cublasHandle_t handles[MAX_CARDS];

/* Lock held. */
static wick_status open_cublas(wick_error **error) {
  static const char *const files[] = {"libcublas.so.13", "libcublas.so.12", "libcublas.so.11"};
  if (is_open) return WICK_OK;
  const char *given = secure_getenv("WICK_CUBLAS");
  void *library = given ? dlopen(given, RTLD_NOW | RTLD_LOCAL) : NULL;
  for (size_t i = 0; !given && !library && i < sizeof files / sizeof *files; i++)
    library = dlopen(files[i], RTLD_NOW | RTLD_LOCAL);
  if (!library)
    return fail(error, WICK_NOT_FOUND, "products on CUDA need cuBLAS: %s (WICK_CUBLAS names the file)", dlerror());
  *(void **)&cublas.create = dlsym(library, "cublasCreate_v2");
  *(void **)&cublas.set_stream = dlsym(library, "cublasSetStream_v2");
  *(void **)&cublas.gemm = dlsym(library, "cublasGemmStridedBatchedEx");
  if (!cublas.create || !cublas.set_stream || !cublas.gemm)
    return fail(error, WICK_NOT_FOUND, "products on CUDA need a newer cuBLAS");
  is_open = true;
  return WICK_OK;
}

/* Lock held. */
static wick_status handle_of(const Card *card, cublasHandle_t *out, wick_error **error) {
  wick_status status = open_cublas(error);
  cublasHandle_t *handle = &handles[card->index];
  int result = 0;
  if (!status && !*handle) {
    result = cublas.create(handle);
    if (!result) result = cublas.set_stream(*handle, card->stream);
  }
  *out = *handle;
  return result ? fail(error, WICK_RUNTIME, "cuBLAS: no handle for device %d (error %d)", card->index, result) : status;
}

/* ---- a batch of products ---- */

static const struct Type {
  uint32_t dtype;
  int element, compute; /* cuBLAS's numbers */
} types[] = {{WICK_FLOAT32, 0, 68}, {WICK_FLOAT64, 1, 70}, {WICK_FLOAT16, 2, 68}, {WICK_BFLOAT16, 14, 68}};

static const struct Type *find_type(uint32_t dtype) {
  for (size_t i = 0; i < sizeof types / sizeof *types; i++)
    if (types[i].dtype == dtype) return &types[i];
  return NULL;
}

static bool has_rows(const Matrices *m) { /* without gaps */
  return (m->column_stride == 1 || m->columns == 1) && (m->row_stride >= m->columns || m->rows == 1);
}
static bool has_columns(const Matrices *m) {
  return (m->row_stride == 1 || m->rows == 1) && (m->column_stride >= m->rows || m->columns == 1);
}

/* How the transpose of a row-major matrix looks to it. */
static void describe(const Matrices *m, int *op, int *step) {
  bool rows = has_rows(m);
  int64_t stride = rows ? m->rows == 1 ? m->columns : m->row_stride : m->columns == 1 ? m->rows : m->column_stride;
  *op = rows ? CUBLAS_OP_N : CUBLAS_OP_T;
  *step = (int)(stride > 0 ? stride : 1);
}

static bool are_small(const Matrices *m) {
  return m->batch <= INT_MAX && m->rows <= INT_MAX && m->columns <= INT_MAX && m->row_stride <= INT_MAX &&
         m->column_stride <= INT_MAX;
}

wick_status multiply(int32_t index, uint32_t dtype, enum Precision precision, const Matrices *a, const Matrices *b,
                     const Matrices *c, double alpha, double beta, wick_error **error) {
  enum { FAST_TF32 = 77 }; /* as cuBLAS has it */
  const struct Type *type = find_type(dtype);
  const float floats[2] = {(float)alpha, (float)beta};
  const double doubles[2] = {alpha, beta};
  bool is_double = dtype == WICK_FLOAT64;
  Card *card = NULL;
  cublasHandle_t handle;
  int a_op, b_op, a_step, b_step, result = 0;
  if (!type) return fail(error, WICK_UNSUPPORTED, "products on CUDA are not of %s", wick_dtype_name(dtype));
  if (!are_small(a) || !are_small(b) || !are_small(c))
    return fail(error, WICK_UNSUPPORTED, "a product on CUDA of more than 2,147,483,647 rows or columns");
  wick_status status = card_enter(index, &card, error);
  if (status || !c->batch || !c->rows || !c->columns) return status;
  describe(a, &a_op, &a_step);
  describe(b, &b_op, &b_step);
  pthread_mutex_lock(&lock);
  status = handle_of(card, &handle, error);
  if (!status)
    result = cublas.gemm(handle, b_op, a_op, (int)c->columns, (int)c->rows, (int)a->columns,
                         is_double ? (const void *)&doubles[0] : &floats[0], b->data, type->element, b_step,
                         b->batch_stride, a->data, type->element, a_step, a->batch_stride,
                         is_double ? (const void *)&doubles[1] : &floats[1], c->data, type->element,
                         (int)(c->rows == 1 ? c->columns : c->row_stride), c->batch_stride, (int)c->batch,
                         precision == TF32 && dtype == WICK_FLOAT32 ? FAST_TF32 : type->compute, CUBLAS_GEMM_DEFAULT);
  pthread_mutex_unlock(&lock);
  return result ? fail(error, WICK_RUNTIME, "cuBLAS: a product failed (error %d)", result) : status;
}

/* ---- operators ---- */

enum Form {
  READ,      /* the last two dimensions are a matrix, those before the batch */
  READ_FLAT, /* all dimensions but the last are rows */
  WRITE,
  WRITE_FLAT
};

/* Whether dimensions before the last `own` are as one: then their size and stride. */
static bool join_batch(const wick_tensor_view *t, int own, int64_t *size, int64_t *stride) {
  *size = 1, *stride = 0;
  for (int d = t->ndim - own; d-- > 0;) {
    if (t->sizes[d] == 1) continue;
    if (*size == 1) *stride = t->strides[d];
    if (*size != 1 && t->strides[d] != *stride * *size) return false;
    *size *= t->sizes[d];
  }
  return true;
}

static bool see_matrices(const wick_tensor_view *t, enum Form form, Matrices *out) {
  int last = t->ndim - 1;
  bool flat = form == READ_FLAT || form == WRITE_FLAT;
  *out = (Matrices){.batch = 1, .data = t->data, .columns = t->sizes[last], .column_stride = t->strides[last]};
  if (flat) return join_batch(t, 1, &out->rows, &out->row_stride) && has_rows(out);
  out->rows = t->sizes[last - 1];
  out->row_stride = t->strides[last - 1];
  return join_batch(t, 2, &out->batch, &out->batch_stride) && (has_rows(out) || (form < WRITE && has_columns(out)));
}

/* *value as matrices; a row-major copy of it takes its place where it can't be used as it lies. */
static bool take(Work *w, wick_value **value, enum Form form, Matrices *out, wick_tensor_view *view) {
  for (int tries = 0; tries < 2 && work_view(w, *value, view); tries++) {
    if (see_matrices(view, form, out)) return true;
    *value = work_call(w, "aten::contiguous", NULL, (const wick_value *const[]){*value}, 1);
  }
  work_refuse(w, "a product on CUDA of a matrix that lies in no order");
  return false;
}

static Matrices transposed(Matrices m) {
  Matrices t = m;
  t.rows = m.columns, t.columns = m.rows, t.row_stride = m.column_stride, t.column_stride = m.row_stride;
  return t;
}

/* Which broadcasts. */
static void copy_into(Work *w, wick_value *to, const wick_value *from) {
  work_call(w, "aten::copy_", NULL, (const wick_value *const[]){to, from}, 2);
}

enum Kind { MM, ADDMM, LINEAR }; /* MM: bmm, too; ADDMM: baddbmm */

static void product(Work *w, int kind) {
  bool adds = kind == ADDMM, is_linear = kind == LINEAR;
  wick_value *result = work_hold(w, wick_call_result(w->call, 0)), *a_value = work_argument(w, adds),
             *b_value = work_argument(w, adds + 1u), *target = result;
  wick_tensor_view a_view, b_view, c_view;
  Matrices a, b, c;
  double alpha = adds ? work_real(w, 4) : 1, beta = adds ? work_real(w, 3) : 0;
  if (!take(w, &a_value, is_linear ? READ_FLAT : READ, &a, &a_view) || !take(w, &b_value, READ, &b, &b_view) ||
      !take(w, &target, is_linear ? WRITE_FLAT : WRITE, &c, &c_view))
    return;
  if (a_view.dtype != b_view.dtype)
    return work_take(w, fail(w->error, WICK_RUNTIME, "expected both matrices to have one dtype"));
  if (is_linear) b = transposed(b);
  if (is_linear && !work_is_none(w, 2)) beta = 1;
  if (beta != 0) copy_into(w, target, work_argument(w, is_linear ? 2 : 0));
  if (!w->status) work_take(w, multiply(c_view.device_index, c_view.dtype, PRECISE, &a, &b, &c, alpha, beta, w->error));
  if (target != result) copy_into(w, result, target);
}

/* ---- matmul: of any dimensions ---- */

/* A vector is a row on the left and a column on the right. */
static wick_value *as_matrix(Work *w, wick_value *value, const wick_tensor_view *view, int dim) {
  if (view->ndim != 1) return value;
  return work_call(w, "aten::unsqueeze", NULL, (const wick_value *const[]){value, work_hold(w, wick_value_int(dim))},
                   2);
}

static wick_value *as_batch(Work *w, wick_value *value, const wick_tensor_view *view, const wick_tensor_view *out,
                            int batch_dims) {
  wick_value *sizes[64], *size = NULL;
  for (int d = 0; d < batch_dims + 2; d++) {
    int own = d - batch_dims + view->ndim - 2;
    sizes[d] = work_hold(w, wick_value_int(d < batch_dims ? out->sizes[d] : view->sizes[own]));
  }
  if (w->status || wick_value_list((const wick_value *const *)sizes, (size_t)batch_dims + 2, &size, NULL)) size = NULL;
  return work_call(w, "aten::expand", NULL, (const wick_value *const[]){value, work_hold(w, size)}, 2);
}

static void matmul(Work *w, int variant) {
  (void)variant;
  wick_value *a_value = work_argument(w, 0), *b_value = work_argument(w, 1);
  wick_tensor_view a_view, b_view, out;
  Matrices a, b, c = {.batch = 1};
  if (!work_view(w, a_value, &a_view) || !work_view(w, b_value, &b_view) || !work_result(w, 0, &out)) return;
  if (a_view.dtype != b_view.dtype)
    return work_take(w, fail(w->error, WICK_RUNTIME, "expected both matrices to have one dtype"));
  bool is_row = a_view.ndim == 1, is_column = b_view.ndim == 1;
  a_value = as_matrix(w, a_value, &a_view, 0);
  b_value = as_matrix(w, b_value, &b_view, 1);
  if (!work_view(w, a_value, &a_view) || !work_view(w, b_value, &b_view)) return;
  int batch_dims = out.ndim - 2 + is_row + is_column;
  if (batch_dims > 60) return work_refuse(w, "CUDA: matmul of so many dimensions");
  bool is_flat = b_view.ndim == 2; /* then what is before a's rows is more rows */
  if (!is_flat) {
    a_value = as_batch(w, a_value, &a_view, &out, batch_dims);
    b_value = as_batch(w, b_value, &b_view, &out, batch_dims);
  }
  if (!take(w, &a_value, is_flat && a_view.ndim > 2 ? READ_FLAT : READ, &a, &a_view) ||
      !take(w, &b_value, READ, &b, &b_view))
    return;
  for (int d = 0; d < batch_dims && !is_flat; d++) c.batch *= out.sizes[d];
  c.rows = a.rows, c.columns = b.columns, c.row_stride = b.columns, c.column_stride = 1;
  c.batch_stride = c.rows * c.columns;
  c.data = out.data;
  if (!w->status) work_take(w, multiply(out.device_index, out.dtype, PRECISE, &a, &b, &c, 1, 0, w->error));
}

const OperatorKernel product_kernels[] = {
    {"aten::mm", product, MM, true},
    {"aten::bmm", product, MM, true},
    {"aten::addmm", product, ADDMM, true},
    {"aten::baddbmm", product, ADDMM, true},
    {"aten::linear", product, LINEAR, true},
    {"aten::matmul", matmul, 0, true},
    {"aten::mv", matmul, 0, true},
    {"aten::dot", matmul, 0, true},
    {0},
};
