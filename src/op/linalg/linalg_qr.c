/* Orthogonal factorizations by reflections (geqrf and its relatives, qr) and least squares. */
#include "op/linalg/linalg.h"

#include <assert.h>

#include "call/row.h"

#include <complex.h> /* after ours: its macros are common words */

static int64_t smaller(int64_t a, int64_t b) {
  return a < b ? a : b;
}

/* ---- geqrf ---- */
static Status shape_geqrf(Call *call, TensorSpec *specs) {
  const Tensor *a = call_tensor(call, 0);
  TRY(linalg_check_matrix(a, "torch.geqrf", "A"));
  TRY(linalg_check_dtype(a, "torch.geqrf", false));
  int64_t rows = matrix_rows(a), cols = matrix_cols(a);
  linalg_spec(&specs[0], a, (DType)a->dtype, rows, cols);
  linalg_spec_rows(&specs[1], a, (DType)a->dtype, 1, (const int64_t[]){smaller(rows, cols)});
  return OK;
}
/* How many columns are reflected at once: all of a small matrix, and of a large one so many that a step takes moments
 * even where numbers become subnormal, which makes it thirty times slower (equal elements do that). */
static int64_t panel_width(int64_t rows, int64_t cols) {
  const double SMALL_FLOPS = 5e8;
  int64_t count = smaller(rows, cols);
  return 4.0 * (double)rows * (double)cols * (double)count < SMALL_FLOPS ? count : 64;
}
/* Panel by panel, each applied to the columns that follow, so that the time is looked at in between. */
static Status reflect_matrix(const Lapack *lapack, DType dtype, const Matrices *m, int64_t index, char *tau) {
  LapackType type = lapack_type(dtype);
  size_t item = dtype_size(dtype);
  int64_t count = smaller(m->rows, m->cols), width = panel_width(m->rows, m->cols);
  char trans = dtype_is_complex(dtype) ? 'C' : 'T', *matrix = matrix_at(m, index);
  for (int64_t at = 0; at < count; at += width) {
    int64_t taken = smaller(width, count - at), rest = m->cols - at - taken, rows = m->rows - at;
    char *panel = matrix + (size_t)(at + at * m->ld) * item, *next = panel + (size_t)(taken * m->ld) * item;
    TRY(linalg_attend(dtype, 4.0 * (double)rows * (double)taken * (double)(taken + rest)));
    TRY(lapack_memory(
        lapack->geqrf[type](LAPACK_COLUMNS, (LapackInt)rows, (LapackInt)taken, panel, m->ld, tau + (size_t)at * item)));
    if (rest)
      TRY(lapack_memory(lapack->ormqr[type](LAPACK_COLUMNS, 'L', trans, (LapackInt)rows, (LapackInt)rest,
                                            (LapackInt)taken, panel, m->ld, tau + (size_t)at * item, next, m->ld)));
  }
  return OK;
}
static Status reflect(const Tensor *a, const Tensor *tau) {
  const Lapack *lapack = lapack_open();
  if (a->numel == 0) return OK;
  Matrices m = matrices_of(a);
  for (int64_t i = 0; i < m.count; i++)
    TRY(reflect_matrix(lapack, (DType)a->dtype, &m, i, vector_at(tau, i, smaller(m.rows, m.cols))));
  return OK;
}
static Status kernel_geqrf(Call *call) {
  TRY(tensor_copy(call_out(call, 0), call_tensor(call, 0), 1));
  return reflect(call_out(call, 0), call_out(call, 1));
}

/* ---- householder_product, orgqr ---- */
static Status shape_product(Call *call, TensorSpec *specs) {
  const Tensor *a = call_tensor(call, 0), *tau = call_tensor(call, 1);
  static const char name[] = "torch.linalg.householder_product";
  if (a->ndim < 2) return status_new(ERROR_RUNTIME, "%s: input must have at least 2 dimensions.", name);
  TRY(linalg_check_matrix(a, name, "input"));
  TRY(linalg_check_dtype(a, name, false));
  if (matrix_rows(a) < matrix_cols(a))
    return status_new(ERROR_RUNTIME, "%s: input.shape[-2] must be greater than or equal to input.shape[-1]", name);
  if (tau->ndim < 1 || matrix_cols(a) < tau->sizes[tau->ndim - 1])
    return status_new(ERROR_RUNTIME, "%s: input.shape[-1] must be greater than or equal to tau.shape[-1]", name);
  if (a->ndim - tau->ndim != 1)
    return status_new(ERROR_RUNTIME,
                      "%s: Expected tau to have one dimension less than input, but got tau.ndim equal to %d and "
                      "input.ndim is equal to %d",
                      name, tau->ndim, a->ndim);
  if (memcmp(a->sizes, tau->sizes, (size_t)(a->ndim - 2) * sizeof *a->sizes) != 0)
    return status_new(ERROR_RUNTIME, "%s: Expected batch dimensions of tau to be equal to input.shape[:-2], but got %s",
                      name, SIZES_TEXT(tau->ndim - 1, tau->sizes));
  TRY(linalg_check_same_dtype(tau, a, name, "tau", "input"));
  linalg_spec(specs, a, (DType)a->dtype, matrix_rows(a), matrix_cols(a));
  return OK;
}
/* Multiplies the reflections out over `a`, the first `k` columns of which hold them. */
static Status multiply_out(const Tensor *a, const Tensor *tau, int64_t k) {
  assert(k >= 0 && k <= a->sizes[a->ndim - 1]);
  const Lapack *lapack = lapack_open();
  if (a->numel == 0) return OK;
  Matrices m = matrices_of(a);
  for (int64_t i = 0; i < m.count; i++) {
    TRY(linalg_attend((DType)a->dtype, 4.0 * m.rows * m.cols * (double)k));
    TRY(lapack_memory(lapack->orgqr[lapack_type((DType)a->dtype)](LAPACK_COLUMNS, m.rows, m.cols, (LapackInt)k,
                                                                  matrix_at(&m, i), m.ld, vector_at(tau, i, k))));
  }
  return OK;
}
static Status kernel_product(Call *call) {
  const Tensor *tau = call_tensor(call, 1);
  Tensor *dense;
  TRY(tensor_contiguous(tau, &dense));
  Status status = tensor_copy(call_out(call, 0), call_tensor(call, 0), 1);
  if (status == OK) status = multiply_out(call_out(call, 0), dense, tau->sizes[tau->ndim - 1]);
  tensor_release(dense);
  return status;
}

/* ---- ormqr ---- */
static Status shape_ormqr(Call *call, TensorSpec *specs) {
  const Tensor *a = call_tensor(call, 0), *tau = call_tensor(call, 1), *c = call_tensor(call, 2);
  bool left = call_bool(call, 3);
  static const char name[] = "torch.ormqr";
  TRY(linalg_check_matrix(a, name, "input"));
  TRY(linalg_check_matrix(c, name, "other"));
  TRY(linalg_check_dtype(a, name, false));
  TRY(linalg_check_same_dtype(tau, a, name, "tau", "input"));
  TRY(linalg_check_same_dtype(c, a, name, "other", "input"));
  const char *side = left ? "other.shape[-2]" : "other.shape[-1]";
  int64_t n = left ? matrix_rows(c) : matrix_cols(c);
  if (tau->ndim != a->ndim - 1 || c->ndim != a->ndim ||
      memcmp(a->sizes, tau->sizes, (size_t)(a->ndim - 2) * sizeof *a->sizes) != 0 ||
      memcmp(a->sizes, c->sizes, (size_t)(a->ndim - 2) * sizeof *a->sizes) != 0)
    return status_new(ERROR_RUNTIME, "%s: Expected batch dimensions of tau and other to be equal to those of input",
                      name);
  if (n < tau->sizes[tau->ndim - 1])
    return status_new(ERROR_RUNTIME, "%s: %s must be greater than or equal to tau.shape[-1]", name, side);
  if (n != matrix_rows(a)) return status_new(ERROR_RUNTIME, "%s: %s must be equal to input.shape[-2]", name, side);
  if (tau->sizes[tau->ndim - 1] > matrix_cols(a))
    return status_new(ERROR_RUNTIME, "%s: tau.shape[-1] must be less than or equal to input.shape[-1]", name);
  linalg_spec(specs, c, (DType)c->dtype, matrix_rows(c), matrix_cols(c));
  return OK;
}
static Status kernel_ormqr(Call *call) {
  const Lapack *lapack = lapack_open();
  Tensor *out = call_out(call, 0), *reflections = NULL, *tau = NULL;
  Status status;
  TRY_GOTO(tensor_copy(out, call_tensor(call, 2), 1), done);
  TRY_GOTO(linalg_columns(call_tensor(call, 0), NULL, &reflections), done);
  TRY_GOTO(tensor_contiguous(call_tensor(call, 1), &tau), done);
  Matrices a = matrices_of(reflections), c = matrices_of(out);
  LapackInt k = (LapackInt)tau->sizes[tau->ndim - 1];
  char trans = call_bool(call, 4) ? (dtype_is_complex((DType)out->dtype) ? 'C' : 'T') : 'N';
  for (int64_t i = 0; i < c.count && out->numel && k; i++) {
    TRY_GOTO(linalg_attend((DType)out->dtype, 4.0 * c.rows * c.cols * k), done);
    LapackInt info = lapack->ormqr[lapack_type((DType)out->dtype)](LAPACK_COLUMNS, call_bool(call, 3) ? 'L' : 'R',
                                                                   trans, c.rows, c.cols, k, matrix_at(&a, i), a.ld,
                                                                   vector_at(tau, i, k), matrix_at(&c, i), c.ld);
    TRY_GOTO(lapack_memory(info), done);
  }
done:
  tensor_release(reflections);
  tensor_release(tau);
  return status;
}

/* ---- qr ---- */
typedef enum QrMode { QR_REDUCED, QR_COMPLETE, QR_R } QrMode;
static Status qr_mode(const Call *call, QrMode *out) {
  if (call->inputs[1].tag == TAG_BOOL) {
    *out = call_bool(call, 1) ? QR_REDUCED : QR_COMPLETE;
    return OK;
  }
  static const char *const names[] = {"reduced", "complete", "r"}; /* ORDER QrMode */
  for (int i = 0; i < 3; i++)
    if (str_is(call_str(call, 1), names[i])) {
      *out = (QrMode)i;
      return OK;
    }
  return status_new(ERROR_RUNTIME,
                    "qr received unrecognized mode '" STR_FMT
                    "' but expected one of 'reduced' (default), 'r', or 'complete'",
                    STR_ARG(call_str(call, 1)));
}
static Status shape_qr(Call *call, TensorSpec *specs) {
  const Tensor *a = call_tensor(call, 0);
  QrMode mode;
  TRY(linalg_check_matrix(a, "linalg.qr", "A"));
  TRY(linalg_check_dtype(a, "linalg.qr", false));
  TRY(qr_mode(call, &mode));
  int64_t rows = matrix_rows(a), cols = matrix_cols(a), k = mode == QR_COMPLETE ? rows : smaller(rows, cols);
  if (mode == QR_R)
    linalg_spec_empty(&specs[0], (DType)a->dtype);
  else
    linalg_spec(&specs[0], a, (DType)a->dtype, rows, k);
  linalg_spec(&specs[1], a, (DType)a->dtype, k, cols);
  return OK;
}
static Status copy_corner(const Tensor *from, Tensor *to) { /* as much as both have, from the upper left */
  Tensor *rows = NULL, *source = NULL, *target_rows = NULL, *target = NULL;
  int64_t height = smaller(matrix_rows(from), matrix_rows(to)), width = smaller(matrix_cols(from), matrix_cols(to));
  Status status;
  TRY_GOTO(tensor_narrow(from, -2, 0, height, &rows), done);
  TRY_GOTO(tensor_narrow(rows, -1, 0, width, &source), done);
  TRY_GOTO(tensor_narrow(to, -2, 0, height, &target_rows), done);
  TRY_GOTO(tensor_narrow(target_rows, -1, 0, width, &target), done);
  status = tensor_copy(target, source, 1);
done:
  tensor_release(rows);
  tensor_release(source);
  tensor_release(target_rows);
  tensor_release(target);
  return status;
}
static Status kernel_qr(Call *call) {
  const Tensor *a = call_tensor(call, 0);
  Tensor *q = call_out(call, 0), *r = call_out(call, 1), *work = NULL, *tau = NULL;
  QrMode mode;
  TRY(qr_mode(call, &mode));
  int64_t k = smaller(matrix_rows(a), matrix_cols(a));
  Matrices triangle = matrices_of(r);
  Status status;
  TRY_GOTO(linalg_columns(a, NULL, &work), done);
  TRY_GOTO(tensor_empty((DType)a->dtype, 2, (const int64_t[]){triangle.count, k}, &tau), done);
  TRY_GOTO(reflect(work, tau), done);
  tensor_fill_zero(r);
  TRY_GOTO(copy_corner(work, r), done);
  linalg_keep_triangle(&triangle, dtype_size((DType)r->dtype), true);
  if (mode == QR_R) goto done;
  tensor_fill_zero(q);
  TRY_GOTO(copy_corner(work, q), done);
  status = multiply_out(q, tau, k);
  if (status == OK && k == 0 && q->numel) { /* no reflections: Q is the identity */
    Matrices m = matrices_of(q);
    const double one = 1;
    for (int64_t i = 0; i < m.count; i++)
      dtype_convert((DType)q->dtype, matrix_at(&m, i), m.rows + 1, DTYPE_FLOAT64, &one, 0, smaller(m.rows, m.cols));
  }
done:
  tensor_release(work);
  tensor_release(tau);
  return status;
}

/* ---- lstsq: (solution, residuals, rank, singular_values) ---- */
typedef enum Driver { DRIVER_GELSY, DRIVER_GELS, DRIVER_GELSD, DRIVER_GELSS } Driver;
static Status lstsq_driver(const Call *call, Driver *out) {
  static const char *const names[] = {"gelsy", "gels", "gelsd", "gelss"}; /* ORDER Driver */
  *out = DRIVER_GELSY;
  if (call_is_none(call, 3)) return OK;
  for (int i = 0; i < 4; i++)
    if (str_is(call_str(call, 3), names[i])) {
      *out = (Driver)i;
      return OK;
    }
  return status_new(ERROR_RUNTIME,
                    "torch.linalg.lstsq: parameter `driver` should be one of (gels, gelsy, gelsd, gelss)");
}
static bool lstsq_is_vector(const Tensor *a, const Tensor *b) {
  return b->ndim == 1 ||
         (a->ndim - 1 == b->ndim && memcmp(a->sizes, b->sizes, (size_t)b->ndim * sizeof *b->sizes) == 0);
}
static Status lstsq_check(const Tensor *a, const Tensor *b, bool vector) {
  static const char name[] = "torch.linalg.lstsq";
  if (a->ndim < 2) return status_new(ERROR_RUNTIME, "%s: input must have at least 2 dimensions.", name);
  if (b->ndim < 1) return status_new(ERROR_RUNTIME, "%s: other must have at least 1 dimension.", name);
  TRY(linalg_check_matrix(a, name, "input"));
  TRY(linalg_check_dtype(a, name, false));
  TRY(linalg_check_same_dtype(b, a, name, "other", "input"));
  if (a->ndim < b->ndim || a->ndim - b->ndim > 1)
    return status_new(ERROR_RUNTIME,
                      "%s: input.dim() must be greater or equal to other.dim() and (input.dim() - other.dim()) <= 1",
                      name);
  if ((vector ? b->sizes[b->ndim - 1] : matrix_rows(b)) != matrix_rows(a))
    return status_new(
        ERROR_RUNTIME,
        vector ? "%s: input.size(-2) should match other.size(-1)" : "%s: input.size(-2) should match other.size(-2)",
        name);
  return OK;
}

typedef struct Lstsq {
  Driver driver;
  double rcond;
  Tensor *a, *x; /* packed: the matrices; max(rows, cols) by nrhs, the right-hand sides and then the solutions */
  Tensor *rank, *singular; /* of the whole batch; NULL where the driver has none */
} Lstsq;
static Status lstsq_run(const Lstsq *p, LapackInt *pivots) {
  const Lapack *lapack = lapack_open();
  Matrices a = matrices_of(p->a), x = matrices_of(p->x);
  LapackType t = lapack_type((DType)p->a->dtype);
  bool single = t == LAPACK_S || t == LAPACK_C;
  int64_t k = smaller(a.rows, a.cols);
  for (int64_t i = 0; i < a.count; i++) {
    double products = (double)a.rows * a.cols * ((double)k + x.cols);
    TRY(linalg_attend((DType)p->a->dtype, products * (p->driver == DRIVER_GELSS ? 12 : 4)));
    void *at = matrix_at(&a, i), *xt = matrix_at(&x, i), *s = p->singular ? vector_at(p->singular, i, k) : NULL;
    LapackInt info = 0, rank = 0;
    float rcond = (float)p->rcond;
#define ARGUMENTS LAPACK_COLUMNS, a.rows, a.cols, x.cols, at, a.ld, xt, x.ld
    switch (p->driver) {
      case DRIVER_GELS:
        info = lapack->gels[t](LAPACK_COLUMNS, 'N', a.rows, a.cols, x.cols, at, a.ld, xt, x.ld);
        break;
      case DRIVER_GELSY:
        memset(pivots, 0, (size_t)a.cols * sizeof *pivots);
        info = single ? lapack->gelsy_single[t](ARGUMENTS, pivots, rcond, &rank)
                      : lapack->gelsy[t](ARGUMENTS, pivots, p->rcond, &rank);
        break;
      case DRIVER_GELSD:
        info = single ? lapack->gelsd_single[t](ARGUMENTS, s, rcond, &rank)
                      : lapack->gelsd[t](ARGUMENTS, s, p->rcond, &rank);
        break;
      case DRIVER_GELSS:
        info = single ? lapack->gelss_single[t](ARGUMENTS, s, rcond, &rank)
                      : lapack->gelss[t](ARGUMENTS, s, p->rcond, &rank);
        break;
    }
#undef ARGUMENTS
    TRY(lapack_memory(info));
    if (info > 0)
      return status_new(ERROR_RUNTIME,
                        "torch.linalg.lstsq: The least squares problem could not be solved because the input matrix "
                        "does not have full rank (error code: %d).",
                        info);
    if (p->rank) ((int64_t *)tensor_data(p->rank))[i] = rank;
  }
  return OK;
}
/* The first element along each of the `batch` dimensions in which `sizes` has 1. */
static Status first_along(const Tensor *t, int batch, const int64_t *sizes, Tensor **out) {
  Tensor *now = tensor_retain(t);
  for (int d = 0; d < batch; d++) {
    if (sizes[d] != 1 || t->sizes[d] == 1) continue;
    Tensor *next;
    Status status = tensor_narrow(now, d, 0, 1, &next);
    tensor_release(now);
    TRY(status);
    now = next;
  }
  *out = now;
  return OK;
}
/* Squared lengths of what the rows below the solution hold. */
static Status lstsq_residuals(const Tensor *x, int64_t cols, int batch, const int64_t *batch_sizes, DType real,
                              Tensor **out) {
  Matrices m = matrices_of(x);
  int64_t sizes[TENSOR_MAX_DIMS];
  memcpy(sizes, batch_sizes, (size_t)batch * sizeof *sizes);
  sizes[batch] = m.cols;
  TRY(tensor_empty(real, batch + 1, sizes, out));
  int64_t item = (int64_t)dtype_size((DType)x->dtype);
  for (int64_t i = 0; i < m.count; i++)
    for (LapackInt c = 0; c < m.cols; c++) {
      double sum = 0;
      const char *column = (char *)matrix_at(&m, i) + (int64_t)c * m.ld * item;
      for (int64_t r = cols; r < m.rows; r++) {
        complex128 value;
        dtype_convert(DTYPE_COMPLEX128, &value, 0, (DType)x->dtype, column + r * item, 0, 1);
        sum += creal(value) * creal(value) + cimag(value) * cimag(value);
      }
      dtype_convert(real, vector_at(*out, i * m.cols + c, 1), 0, DTYPE_FLOAT64, &sum, 0, 1);
    }
  return OK;
}
static Status kernel_lstsq(Call *call) {
  const Tensor *a = call_tensor(call, 0);
  bool vector = lstsq_is_vector(a, call_tensor(call, 1));
  TRY(lstsq_check(a, call_tensor(call, 1), vector));
  DType dtype = (DType)a->dtype, real = dtype_is_complex(dtype) ? dtype_to_real(dtype) : dtype;
  Lstsq p = {.rcond = call_double_or(call, 2, -1)};
  TRY(lstsq_driver(call, &p.driver));
  int64_t rows = matrix_rows(a), cols = matrix_cols(a), tall = rows > cols ? rows : cols;
  if (call_is_none(call, 2)) p.rcond = (real == DTYPE_FLOAT32 ? 0x1p-23 : 0x1p-52) * (double)tall;
  Tensor *b = NULL, *wide = NULL, *top = NULL, *firsts = NULL, *out = NULL;
  LapackInt *pivots = NULL;
  Status status;
  TRY_GOTO(vector ? tensor_unsqueeze(call_tensor(call, 1), -1, &b) : tensor_alias(call_tensor(call, 1), &b), done);
  int64_t sizes[TENSOR_MAX_DIMS];
  int ndim;
  TRY_GOTO(sizes_broadcast(a->ndim - 2, a->sizes, b->ndim - 2, b->sizes, &ndim, sizes), done);
  sizes[ndim] = tall;
  sizes[ndim + 1] = matrix_cols(b);
  TRY_GOTO(tensor_empty(dtype, ndim + 2, sizes, &wide), done);
  TRY_GOTO(linalg_columns(wide, NULL, &p.x), done);
  tensor_fill_zero(p.x);
  TRY_GOTO(tensor_narrow(p.x, -2, 0, rows, &top), done);
  TRY_GOTO(tensor_copy(top, b, 1), done);
  TRY_GOTO(linalg_columns(a, p.x, &p.a), done);
  if (p.driver != DRIVER_GELS) {
    TRY_GOTO(tensor_empty(DTYPE_INT64, ndim, sizes, &p.rank), done);
    tensor_fill_zero(p.rank);
  }
  if (p.driver == DRIVER_GELSD || p.driver == DRIVER_GELSS) {
    sizes[ndim] = smaller(rows, cols);
    TRY_GOTO(tensor_empty(real, ndim + 1, sizes, &p.singular), done);
  }
  if (!(pivots = mem_alloc(((size_t)cols + 1) * sizeof *pivots))) {
    status = status_out_of_memory();
    goto done;
  }
  if (p.a->numel && p.x->numel)
    TRY_GOTO(lstsq_run(&p, pivots), done);
  else
    tensor_fill_zero(p.x);

  bool full = rows > cols && p.driver != DRIVER_GELSY;
  for (int64_t i = 0; p.rank && i < p.rank->numel; i++) full = full && ((int64_t *)tensor_data(p.rank))[i] == cols;
  if (full)
    TRY_GOTO(lstsq_residuals(p.x, cols, ndim, sizes, real, &out), done);
  else
    TRY_GOTO(tensor_empty(real, 1, (const int64_t[]){0}, &out), done);
  call_set_tensor(call, 1, out);
  tensor_release(top);
  top = NULL;
  TRY_GOTO(tensor_narrow(p.x, -2, 0, cols, &top), done);
  if (vector) {
    Tensor *column = top;
    top = NULL;
    status = tensor_squeeze_dim(column, -1, &top);
    tensor_release(column);
    if (status != OK) goto done;
  }
  call_set_tensor(call, 0, top); /* with the rows below in its storage, as PyTorch leaves it */
  top = NULL;
  if (p.rank) {
    TRY_GOTO(first_along(p.rank, ndim, a->sizes, &firsts), done);
    TRY_GOTO(tensor_clone(firsts, &out), done);
  } else
    TRY_GOTO(tensor_empty(DTYPE_INT64, 1, (const int64_t[]){0}, &out), done);
  call_set_tensor(call, 2, out);
  if (p.singular) {
    tensor_release(firsts);
    firsts = NULL;
    TRY_GOTO(first_along(p.singular, ndim, a->sizes, &firsts), done);
    TRY_GOTO(tensor_clone(firsts, &out), done);
  } else
    TRY_GOTO(tensor_empty(real, 1, (const int64_t[]){0}, &out), done);
  call_set_tensor(call, 3, out);
done:
  tensor_release(b);
  tensor_release(wide);
  tensor_release(top);
  tensor_release(firsts);
  tensor_release(p.x);
  tensor_release(p.a);
  tensor_release(p.rank);
  tensor_release(p.singular);
  mem_free(pivots);
  return status;
}

static const OpRow rows[] = {
    {.schema = "aten::geqrf(Tensor self) -> (Tensor a, Tensor tau)",
     .out = "a: a tau",
     .kernel = kernel_geqrf,
     .shape = shape_geqrf,
     .flags = OP_OUT},
    {.schema = "aten::linalg_householder_product(Tensor input, Tensor tau) -> Tensor",
     .kernel = kernel_product,
     .shape = shape_product,
     .flags = OP_OUT,
     .grad = "input, tau: householder_product_backward(grad, result, input, tau)"},
    {.schema = "aten::orgqr(Tensor self, Tensor input2) -> Tensor",
     .same_as = "aten::linalg_householder_product",
     .kernel = kernel_product,
     .shape = shape_product,
     .flags = OP_OUT,
     .grad = "self, input2: householder_product_backward(grad, result, self, input2)"},
    {.schema = "aten::ormqr(Tensor self, Tensor input2, Tensor input3, bool left=True, bool transpose=False) -> Tensor",
     .kernel = kernel_ormqr,
     .shape = shape_ormqr,
     .flags = OP_OUT},
    {.schema = "aten::ormqr(Tensor self, Tensor input2, Tensor input3, bool left=True, bool transpose=False) -> Tensor",
     .torch = 2, /* has gradients */
     .kernel = kernel_ormqr,
     .shape = shape_ormqr,
     .flags = OP_OUT,
     .grad = "self, input2, input3: ormqr_backward(grad, self, input2, input3, left, transpose)"},
    {.schema = "aten::linalg_qr(Tensor A, str mode=\"reduced\") -> (Tensor Q, Tensor R)",
     .out = "out: Q R",
     .kernel = kernel_qr,
     .shape = shape_qr,
     .flags = OP_OUT,
     .grad = "A: qr_backward(grads[0], grads[1], results[0], results[1], mode)"},
    {.schema = "aten::qr(Tensor self, bool some=True) -> (Tensor Q, Tensor R)",
     .out = "Q: Q R",
     .kernel = kernel_qr,
     .shape = shape_qr,
     .flags = OP_OUT,
     .grad = "self: qr_backward(grads[0], grads[1], results[0], results[1], 'reduced' if some else 'complete')"},
    {.schema = "aten::linalg_lstsq(Tensor self, Tensor b, float? rcond=None, *, str? driver=None) -> (Tensor solution, "
               "Tensor residuals, Tensor rank, Tensor singular_values)",
     .out = "out: solution residuals rank singular_values",
     .kernel = kernel_lstsq,
     .flags = OP_OUT,
     .grad = "self, b: lstsq_backward(grads[0], self, b)"},
};
OP_TABLE(op_table_linalg_qr, rows);
