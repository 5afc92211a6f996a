/* All of them are batches of alpha A B + beta C. cuBLAS has columns side by side, so what it is asked for is the
 * transpose, B' A', of row-major matrices. float32 is computed in float32, not TF32; halves are summed in float32. */
#include "cuda/products.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdlib.h>

#include "cuda/card.h"
#include "wick/device.h"
#include "wick/library.h"

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

typedef struct Matrices { /* [batch, rows, columns] */
  int64_t batch, rows, columns;
  int64_t batch_stride, row_stride, column_stride;
  void *data;
} Matrices;

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

/* c = alpha a b + beta c; c is row-major. */
static wick_status multiply(int32_t index, uint32_t dtype, const Matrices *a, const Matrices *b, const Matrices *c,
                            double alpha, double beta, wick_error **error) {
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
    result =
        cublas.gemm(handle, b_op, a_op, (int)c->columns, (int)c->rows, (int)a->columns,
                    is_double ? (const void *)&doubles[0] : &floats[0], b->data, type->element, b_step, b->batch_stride,
                    a->data, type->element, a_step, a->batch_stride, is_double ? (const void *)&doubles[1] : &floats[1],
                    c->data, type->element, (int)(c->rows == 1 ? c->columns : c->row_stride), c->batch_stride,
                    (int)c->batch, type->compute, CUBLAS_GEMM_DEFAULT);
  pthread_mutex_unlock(&lock);
  return result ? fail(error, WICK_RUNTIME, "cuBLAS: a product failed (error %d)", result) : status;
}

/* ---- operators ---- */

/* What a kernel holds until it returns. */
typedef struct Held {
  wick_value *values[8];
  size_t count;
} Held;
static wick_value *hold(Held *held, wick_value *value) {
  if (value) held->values[held->count++] = value;
  return value;
}
static void let_go(Held *held) {
  for (size_t i = 0; i < held->count; i++) wick_value_release(held->values[i]);
}

enum Form {
  READ,      /* the last two dimensions are a matrix, those before the batch */
  READ_FLAT, /* all dimensions but the last are rows */
  WRITE,
  WRITE_FLAT
};

/* *value as matrices; a row-major copy of it takes its place where it can't be used as it lies. */
static wick_status take(wick_call *call, wick_value **value, enum Form form, Held *held, Matrices *out,
                        wick_tensor_view *view, wick_error **error) {
  bool flat = form == READ_FLAT || form == WRITE_FLAT, writes = form >= WRITE;
  for (int tries = 0; tries < 2; tries++) {
    *view = (wick_tensor_view){.size = sizeof *view};
    wick_status status = wick_device_tensor_of(*value, view, error);
    if (status) return status;
    const int64_t *sizes = view->sizes, *strides = view->strides;
    int last = view->ndim - 1;
    wick_tensor_info info = {.size = sizeof info};
    wick_tensor_info_of(*value, &info, NULL);
    *out = (Matrices){.batch = 1, .data = view->data, .columns = sizes[last], .column_stride = strides[last]};
    if (flat) {
      out->rows = out->columns ? info.count / out->columns : 0;
      out->row_stride = out->columns;
    } else {
      out->rows = sizes[last - 1];
      out->row_stride = strides[last - 1];
      if (view->ndim == 3) out->batch = sizes[0], out->batch_stride = strides[0];
    }
    if ((!flat || info.flags & WICK_INFO_CONTIGUOUS) && (has_rows(out) || (!writes && has_columns(out))))
      return WICK_OK;
    const wick_value *arguments[] = {*value};
    wick_value *copy = NULL;
    status = wick_call_operator(call, "aten::contiguous", NULL, arguments, 1, &copy, error);
    if (status) return status;
    *value = hold(held, copy);
  }
  return fail(error, WICK_UNSUPPORTED, "a product on CUDA of a matrix that lies in no order");
}

static double number(wick_call *call, size_t index) {
  wick_value *v = wick_call_argument(call, index);
  double result = wick_value_to_double(v);
  wick_value_release(v);
  return result;
}

static Matrices transposed(Matrices m) {
  Matrices t = m;
  t.rows = m.columns, t.columns = m.rows, t.row_stride = m.column_stride, t.column_stride = m.row_stride;
  return t;
}

/* Which broadcasts. */
static wick_status copy_into(wick_call *call, wick_value *to, const wick_value *from, wick_error **error) {
  const wick_value *arguments[] = {to, from};
  wick_value *same = NULL;
  wick_status status = wick_call_operator(call, "aten::copy_", NULL, arguments, 2, &same, error);
  wick_value_release(same);
  return status;
}

enum Kind { MM, ADDMM, LINEAR }; /* MM: bmm, too */

static wick_status run_product(wick_call *call, enum Kind kind, Held *held, wick_error **error) {
  bool adds = kind == ADDMM, is_linear = kind == LINEAR;
  wick_value *result = hold(held, wick_call_result(call, 0)), *a_value = hold(held, wick_call_argument(call, adds)),
             *b_value = hold(held, wick_call_argument(call, adds + 1u)), *first = NULL;
  wick_tensor_view a_view, b_view, c_view;
  Matrices a, b, c;
  double alpha = adds ? number(call, 4) : 1, beta = adds ? number(call, 3) : 0;
  wick_value *target = result;
  wick_status status = take(call, &a_value, is_linear ? READ_FLAT : READ, held, &a, &a_view, error);
  if (!status) status = take(call, &b_value, READ, held, &b, &b_view, error);
  if (!status) status = take(call, &target, is_linear ? WRITE_FLAT : WRITE, held, &c, &c_view, error);
  if (!status && a_view.dtype != b_view.dtype)
    status = fail(error, WICK_RUNTIME, "expected both matrices to have one dtype");
  if (status) return status;
  if (is_linear) b = transposed(b);
  if (adds) first = hold(held, wick_call_argument(call, 0));
  if (is_linear && (first = hold(held, wick_call_argument(call, 2))) && wick_value_kind(first) == WICK_TENSOR) beta = 1;
  if (beta != 0) status = copy_into(call, target, first, error);
  if (!status) status = multiply(c_view.device_index, c_view.dtype, &a, &b, &c, alpha, beta, error);
  return status || target == result ? status : copy_into(call, result, target, error);
}

static wick_status product(void *user, wick_call *call, wick_error **error) {
  static const enum Kind kinds[] = {MM, ADDMM, LINEAR};
  Held held = {.count = 0};
  wick_status status = run_product(call, kinds[(uintptr_t)user], &held, error);
  let_go(&held);
  return status;
}

wick_status products_register(wick_error **error) {
  const wick_device_kernel kernels[] = {
      {.name = "aten::mm", .user = (void *)MM},
      {.name = "aten::bmm", .user = (void *)MM},
      {.name = "aten::addmm", .user = (void *)ADDMM},
      {.name = "aten::linear", .user = (void *)LINEAR},
  };
  enum { COUNT = sizeof kernels / sizeof *kernels };
  wick_device_kernel filled[COUNT];
  for (int i = 0; i < COUNT; i++) {
    filled[i] = kernels[i];
    filled[i].size = sizeof filled[i];
    filled[i].flags = WICK_DEVICE_KERNEL_FILLS;
    filled[i].kernel = product;
  }
  return wick_device_kernels_register(WICK_DEVICE_CUDA, filled, COUNT, error);
}
