/* Singular values and eigenvalues: svd, eigh, eig and their older names. */
#include "op/linalg/linalg.h"

#include <math.h>
#include <stdio.h>

#include "call/row.h"

static int64_t smaller(int64_t a, int64_t b) {
  return a < b ? a : b;
}
static DType real_of(DType dtype) {
  return dtype_is_complex(dtype) ? dtype_to_real(dtype) : dtype;
}

static bool all_finite(const Tensor *t) { /* of packed values */
  int64_t n = dtype_is_complex((DType)t->dtype) ? 2 * t->numel : t->numel;
  if (real_of((DType)t->dtype) == DTYPE_FLOAT32) {
    const float *x = tensor_data(t);
    for (int64_t i = 0; i < n; i++)
      if (!isfinite(x[i])) return false;
  } else {
    const double *x = tensor_data(t);
    for (int64_t i = 0; i < n; i++)
      if (!isfinite(x[i])) return false;
  }
  return true;
}
static void fill_identity(const Tensor *t) {
  Matrices m = matrices_of(t);
  const double one = 1;
  tensor_fill_zero((Tensor *)t);
  for (int64_t i = 0; i < m.count; i++)
    dtype_convert((DType)t->dtype, matrix_at(&m, i), m.ld + 1, DTYPE_FLOAT64, &one, 0, smaller(m.rows, m.cols));
}

/* ---- svd: (U, S, Vh) ---- */
static Status shape_svd(Call *call, TensorSpec *specs) {
  const Tensor *a = call_tensor(call, 0);
  bool full = call_bool(call, 1), vectors = call_bool(call, 2);
  TRY(linalg_check_matrix(a, "linalg.svd", "A"));
  TRY(linalg_check_dtype(a, "linalg.svd", false));
  if (!call_is_none(call, 3))
    return status_new(
        ERROR_RUNTIME,
        "torch.linalg.svd: keyword argument `driver=` is only supported on CUDA inputs with cuSOLVER backend.");
  DType dtype = (DType)a->dtype;
  int64_t rows = matrix_rows(a), cols = matrix_cols(a), k = smaller(rows, cols);
  linalg_spec_rows(&specs[1], a, real_of(dtype), 1, &k);
  if (vectors) {
    linalg_spec(&specs[0], a, dtype, rows, full ? rows : k);
    linalg_spec(&specs[2], a, dtype, full ? cols : k, cols);
  } else {
    linalg_spec_empty(&specs[0], dtype);
    linalg_spec_empty(&specs[2], dtype);
  }
  return OK;
}
static Status kernel_svd(Call *call) {
  const Lapack *lapack = lapack_open();
  const Tensor *a = call_tensor(call, 0);
  Tensor *u = call_out(call, 0), *s = call_out(call, 1), *vh = call_out(call, 2), *work;
  bool full = call_bool(call, 1), vectors = call_bool(call, 2);
  if (a->numel == 0) {
    if (vectors) fill_identity(u), fill_identity(vh);
    return OK;
  }
  TRY(linalg_columns(a, NULL, &work));
  Matrices m = matrices_of(work), left = {0}, right = {0};
  if (vectors)
    left = matrices_of(u), right = matrices_of(vh);
  else
    left.ld = right.ld = 1;
  Status status = OK;
  bool finite = all_finite(work);
  for (int64_t i = 0; i < m.count && status == OK; i++) {
    double products = (double)m.rows * m.cols * smaller(m.rows, m.cols);
    status = linalg_attend((DType)a->dtype, products * (vectors ? 20 : 6));
    if (status) break;
    LapackInt info =
        !finite ? -4
                : lapack->gesdd[lapack_type((DType)a->dtype)](
                      LAPACK_COLUMNS,
                      !vectors ? 'N'
                      : full   ? 'A'
                               : 'S',
                      m.rows, m.cols, matrix_at(&m, i), m.ld, vector_at(s, i, smaller(m.rows, m.cols)),
                      vectors ? matrix_at(&left, i) : NULL, left.ld, vectors ? matrix_at(&right, i) : NULL, right.ld);
    status = lapack_memory(info);
    if (info == -4)
      status = status_new(
          ERROR_RUNTIME,
          "linalg.svd: The algorithm failed to converge because the input matrix contained non-finite values.");
    else if (info > 0)
      status = status_new(ERROR_RUNTIME,
                          "linalg.svd: The algorithm failed to converge because the input matrix is ill-conditioned or "
                          "has too many repeated singular values (error code: %d).",
                          info);
  }
  tensor_release(work);
  return status;
}

/* ---- eigh: (eigenvalues, eigenvectors) ---- */
static Status eigh_options(const Call *call, bool *out_upper, bool *out_vectors) {
  if (call->inputs[1].tag == TAG_BOOL) { /* symeig(self, eigenvectors, upper) */
    *out_vectors = call_bool(call, 1);
    *out_upper = call_bool(call, 2);
    return OK;
  }
  Str triangle = call_str(call, 1);
  char letter = triangle.length == 1 ? triangle.data[0] : '?';
  if (!strchr("LlUu", letter))
    return status_new(ERROR_RUNTIME, "Expected UPLO argument to be 'L' or 'U', but got " STR_FMT, STR_ARG(triangle));
  *out_upper = letter == 'U' || letter == 'u';
  *out_vectors = call->input_count < 3 || call_bool(call, 2);
  return OK;
}
static Status shape_eigh(Call *call, TensorSpec *specs) {
  const Tensor *a = call_tensor(call, 0);
  bool upper, vectors;
  const char *name = call->inputs[1].tag == TAG_BOOL ? "linalg.symeig" : "linalg.eigh";
  TRY(linalg_check_square(a, name, "A"));
  TRY(linalg_check_dtype(a, name, false));
  TRY(eigh_options(call, &upper, &vectors));
  int64_t n = matrix_rows(a);
  linalg_spec_rows(&specs[0], a, real_of((DType)a->dtype), 1, &n);
  if (vectors)
    linalg_spec(&specs[1], a, (DType)a->dtype, n, n);
  else
    linalg_spec_empty(&specs[1], (DType)a->dtype);
  return OK;
}
static Status kernel_eigh(Call *call) {
  const Lapack *lapack = lapack_open();
  const Tensor *a = call_tensor(call, 0);
  Tensor *values = call_out(call, 0), *work = NULL;
  bool upper, vectors;
  TRY(eigh_options(call, &upper, &vectors));
  if (a->numel == 0) return OK;
  Status status;
  if (vectors) {
    work = tensor_retain(call_out(call, 1));
    TRY_GOTO(tensor_copy(work, a, 1), done);
  } else
    TRY_GOTO(linalg_columns(a, NULL, &work), done);
  Matrices m = matrices_of(work);
  status = OK;
  for (int64_t i = 0; i < m.count && status == OK; i++) {
    status = linalg_attend((DType)a->dtype, cube(m.rows) * (vectors ? 10 : 4));
    if (status) break;
    LapackInt info =
        lapack->syevd[lapack_type((DType)a->dtype)](LAPACK_COLUMNS, vectors ? 'V' : 'N', upper ? 'U' : 'L', m.rows,
                                                    matrix_at(&m, i), m.ld, vector_at(values, i, m.rows));
    status = lapack_memory(info);
    char where[48] = "";
    if (a->ndim > 2) snprintf(where, sizeof where, "(Batch element %lld): ", (long long)i);
    if (info > 0)
      status = status_new(ERROR_RUNTIME,
                          "linalg.eigh: %sThe algorithm failed to converge because the input matrix is ill-conditioned "
                          "or has too many repeated eigenvalues (error code: %d).",
                          where, info);
  }
done:
  tensor_release(work);
  return status;
}

/* ---- eig: (eigenvalues, eigenvectors), always complex ---- */
static DType complex_of(DType dtype) {
  return dtype_is_complex(dtype) ? dtype : dtype_to_complex(dtype);
}
static Status shape_eig(Call *call, TensorSpec *specs) {
  const Tensor *a = call_tensor(call, 0);
  TRY(linalg_check_square(a, "linalg.eig", "A"));
  TRY(linalg_check_dtype(a, "linalg.eig", false));
  int64_t n = matrix_rows(a);
  linalg_spec_rows(&specs[0], a, complex_of((DType)a->dtype), 1, &n);
  if (call->output_count > 1) linalg_spec(&specs[1], a, complex_of((DType)a->dtype), n, n);
  return OK;
}
/* A real routine gives a conjugate pair of vectors as two columns, real and imaginary parts. `values` and `vectors` (or
 * NULL) are complex numbers as pairs. */
#define UNPACK_PAIRS(name, real)                                                                            \
  static void name(int64_t n, const real *wr, const real *wi, const real *v, real *values, real *vectors) { \
    for (int64_t k = 0; k < n; k++) values[2 * k] = wr[k], values[2 * k + 1] = wi[k];                       \
    for (int64_t k = 0; vectors && k < n; k++) {                                                            \
      bool pair = wi[k] != 0 && k + 1 < n;                                                                  \
      real *first = vectors + 2 * k * n, *second = first + 2 * n;                                           \
      for (int64_t i = 0; i < n; i++) {                                                                     \
        first[2 * i] = v[i + k * n];                                                                        \
        first[2 * i + 1] = pair ? v[i + (k + 1) * n] : 0;                                                   \
        if (pair) second[2 * i] = first[2 * i], second[2 * i + 1] = -first[2 * i + 1];                      \
      }                                                                                                     \
      if (pair) k++;                                                                                        \
    }                                                                                                       \
  }
UNPACK_PAIRS(unpack_pairs_float, float)
UNPACK_PAIRS(unpack_pairs_double, double)

static Status kernel_eig(Call *call) {
  const Lapack *lapack = lapack_open();
  const Tensor *a = call_tensor(call, 0);
  Tensor *values = call_out(call, 0), *vectors = call->output_count > 1 ? call_out(call, 1) : NULL, *work = NULL,
         *scratch = NULL;
  if (a->numel == 0) return OK;
  DType dtype = (DType)a->dtype;
  LapackType type = lapack_type(dtype);
  Status status;
  TRY_GOTO(linalg_columns(a, NULL, &work), done);
  if (!all_finite(work)) {
    status = status_new(ERROR_RUNTIME, "torch.linalg.eig: input tensor should not contain infs or NaNs.");
    goto done;
  }
  Matrices m = matrices_of(work), v = {0};
  if (vectors) v = matrices_of(vectors);
  int64_t n = m.rows;
  char job = vectors ? 'V' : 'N';
  TRY_GOTO(tensor_empty(dtype, 2, (const int64_t[]){n + 2, n}, &scratch),
           done); /* wr, wi and the vectors of a real matrix */
  for (int64_t i = 0; i < m.count && status == OK; i++) {
    status = linalg_attend((DType)a->dtype, cube(n) * (vectors ? 60 : 25));
    if (status) break;
    void *w = vector_at(values, i, n), *to = vectors ? matrix_at(&v, i) : NULL;
    LapackInt info;
    if (type == LAPACK_C || type == LAPACK_Z)
      info =
          lapack->geev_complex[type](LAPACK_COLUMNS, 'N', job, m.rows, matrix_at(&m, i), m.ld, w, NULL, m.ld, to, m.ld);
    else {
      void *wr = vector_at(scratch, 0, n), *wi = vector_at(scratch, 1, n), *vr = vector_at(scratch, 2, n);
      info = lapack->geev_real[type](LAPACK_COLUMNS, 'N', job, m.rows, matrix_at(&m, i), m.ld, wr, wi, NULL, m.ld, vr,
                                     m.ld);
      if (info == 0 && type == LAPACK_S)
        unpack_pairs_float(m.rows, wr, wi, vr, w, to);
      else if (info == 0)
        unpack_pairs_double(m.rows, wr, wi, vr, w, to);
    }
    status = lapack_memory(info);
    char where[48] = "";
    if (a->ndim > 2) snprintf(where, sizeof where, "(Batch element %lld): ", (long long)i);
    if (info > 0)
      status = status_new(ERROR_RUNTIME,
                          "torch.linalg.eig: %sThe algorithm failed to converge because the input matrix is "
                          "ill-conditioned or has too many repeated eigenvalues (error code: %d).",
                          where, info);
  }
done:
  tensor_release(work);
  tensor_release(scratch);
  return status;
}

static const OpRow rows[] = {
    {.schema = "aten::_linalg_svd(Tensor A, bool full_matrices=False, bool compute_uv=True, *, str? driver=None) -> "
               "(Tensor U, Tensor S, Tensor Vh)",
     .out = "U: U S Vh",
     .kernel = kernel_svd,
     .shape = shape_svd,
     .flags = OP_OUT,
     .grad = "A: svd_backward(grads[0], grads[1], grads[2], A, results[0], results[1], results[2], full_matrices, "
             "compute_uv)"},
    {.schema =
         "aten::linalg_svd(Tensor A, bool full_matrices=True, *, str? driver=None) -> (Tensor U, Tensor S, Tensor Vh)",
     .out = "U: U S Vh",
     .body = "return torch._linalg_svd(A, full_matrices, True, driver=driver)",
     .flags = OP_OUT},
    {.schema = "aten::linalg_svdvals(Tensor A, *, str? driver=None) -> Tensor",
     .body = "u, s, vh = torch._linalg_svd(A, False, A.requires_grad, driver=driver)\nreturn s",
     .flags = OP_OUT},
    {.schema = "aten::svd(Tensor self, bool some=True, bool compute_uv=True) -> (Tensor U, Tensor S, Tensor V)",
     .out = "U: U S V",
     .body = "if self.dim() < 2:\n"
             "    raise RuntimeError('linalg.svd: input should have at least 2 dimensions, but has {} dimensions "
             "instead'.format(self.dim()))\n"
             "if compute_uv:\n"
             "    u, s, vh = torch._linalg_svd(self, not some, True)\n"
             "    return u, s, vh.transpose(-2, -1).conj()\n"
             "s = torch.linalg_svdvals(self)\n"
             "rows = self.size(-2)\n"
             "cols = self.size(-1)\n"
             "batch = self.size()[:-2]\n"
             "u = torch.zeros(batch + [rows, rows], dtype=self.dtype, device=self.device)\n"
             "v = torch.zeros(batch + [cols, cols], dtype=self.dtype, device=self.device)\n"
             "return u, s, v",
     .flags = OP_OUT},
    {.schema = "aten::_linalg_eigh(Tensor A, str UPLO=\"L\", bool compute_v=True) -> (Tensor eigenvalues, Tensor "
               "eigenvectors)",
     .out = "eigenvalues: eigenvalues eigenvectors",
     .kernel = kernel_eigh,
     .shape = shape_eigh,
     .flags = OP_OUT,
     .grad = "A: eigh_backward(grads[0], grads[1], A, results[0], results[1], compute_v)"},
    {.schema = "aten::linalg_eigh(Tensor self, str UPLO=\"L\") -> (Tensor eigenvalues, Tensor eigenvectors)",
     .out = "eigvals: eigvals eigvecs",
     .kernel = kernel_eigh,
     .shape = shape_eigh,
     .flags = OP_OUT,
     .grad = "self: eigh_backward(grads[0], grads[1], self, results[0], results[1], True)"},
    {.schema = "aten::linalg_eigvalsh(Tensor self, str UPLO=\"L\") -> Tensor",
     .body = "values, vectors = torch._linalg_eigh(self, UPLO, self.requires_grad)\nreturn values",
     .flags = OP_OUT},
    {.schema = "aten::symeig(Tensor self, bool eigenvectors=False, bool upper=True) -> (Tensor eigenvalues, Tensor "
               "eigenvectors)",
     .out = "e: e V",
     .kernel = kernel_eigh,
     .shape = shape_eigh,
     .flags = OP_OUT,
     .grad = "self: eigh_backward(grads[0], grads[1], self, results[0], results[1], eigenvectors)"},
    {.schema = "aten::_symeig_helper(Tensor self, bool eigenvectors, bool upper) -> (Tensor, Tensor)",
     .kernel = kernel_eigh,
     .shape = shape_eigh},
    {.schema = "aten::linalg_eig(Tensor self) -> (Tensor eigenvalues, Tensor eigenvectors)",
     .out = "out: eigenvalues eigenvectors",
     .kernel = kernel_eig,
     .shape = shape_eig,
     .flags = OP_OUT,
     .grad = "self: eig_backward(grads[0], grads[1], self, results[0], results[1])"},
    {.schema = "aten::linalg_eigvals(Tensor self) -> Tensor",
     .body = "values, vectors = torch.linalg_eig(self)\nreturn values",
     .flags = OP_OUT},
};
OP_TABLE(op_table_linalg_spectral, rows);
