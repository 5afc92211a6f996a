/* Cholesky factors and triangular systems: cholesky, cholesky_inverse, cholesky_solve, solve_triangular; and the
 * symmetric factorization LDL^T. */
#include "op/linalg/linalg.h"

#include <assert.h>

#include "call/row.h"

/* ---- cholesky ---- */
static Status shape_cholesky(Call *call, TensorSpec *specs) {
  const Tensor *a = call_tensor(call, 0);
  TRY(linalg_check_square(a, "linalg.cholesky", "A"));
  TRY(linalg_check_dtype(a, "linalg.cholesky", false));
  linalg_spec(&specs[0], a, (DType)a->dtype, matrix_rows(a), matrix_cols(a));
  linalg_spec_rows(&specs[1], a, DTYPE_INT32, 0, NULL);
  return OK;
}
static Status kernel_cholesky(Call *call) {
  const Lapack *lapack = lapack_open();
  const Tensor *a = call_tensor(call, 0);
  Tensor *out = call_out(call, 0), *info = call_out(call, 1);
  bool upper = call_bool(call, 1);
  TRY(tensor_copy(out, a, 1));
  Matrices m = matrices_of(out);
  linalg_keep_triangle(&m, dtype_size((DType)out->dtype), upper);
  for (int64_t i = 0; i < m.count; i++) {
    TRY(linalg_attend((DType)out->dtype, cube(m.rows) / 3));
    ((int32_t *)tensor_data(info))[i] = m.rows ? lapack->potrf[lapack_type((DType)out->dtype)](
                                                     LAPACK_COLUMNS, upper ? 'U' : 'L', m.rows, matrix_at(&m, i), m.ld)
                                               : 0;
  }
  return call_bool(call, 2) ? linalg_check_info(info, "linalg.cholesky_ex", a->ndim == 2) : OK;
}

static Status shape_cholesky_inverse(Call *call, TensorSpec *specs) {
  const Tensor *a = call_tensor(call, 0);
  TRY(linalg_check_square(a, "cholesky_inverse", "A"));
  TRY(linalg_check_dtype(a, "cholesky_inverse", false));
  linalg_spec(specs, a, (DType)a->dtype, matrix_rows(a), matrix_cols(a));
  return OK;
}
static Status kernel_cholesky_inverse(Call *call) {
  const Lapack *lapack = lapack_open();
  Tensor *out = call_out(call, 0);
  bool upper = call_bool(call, 1);
  TRY(tensor_copy(out, call_tensor(call, 0), 1));
  Matrices m = matrices_of(out);
  for (int64_t i = 0; i < m.count && m.rows; i++) {
    TRY(linalg_attend((DType)out->dtype, cube(m.rows) * 2 / 3));
    LapackInt info = lapack->potri[lapack_type((DType)out->dtype)](LAPACK_COLUMNS, upper ? 'U' : 'L', m.rows,
                                                                   matrix_at(&m, i), m.ld);
    TRY(lapack_memory(info));
    if (info > 0)
      return status_new(ERROR_RUNTIME,
                        "cholesky_inverse: The diagonal element %d is zero, the inversion could not be completed "
                        "because the input matrix is singular.",
                        info);
  }
  linalg_mirror(&m, (DType)out->dtype, upper);
  return OK;
}

static Status shape_cholesky_solve(Call *call, TensorSpec *specs) {
  const Tensor *b = call_tensor(call, 0), *a = call_tensor(call, 1);
  if (b->ndim < 2)
    return status_new(ERROR_RUNTIME, "b should have at least 2 dimensions, but has %d dimensions instead", b->ndim);
  if (a->ndim < 2)
    return status_new(ERROR_RUNTIME, "u should have at least 2 dimensions, but has %d dimensions instead", a->ndim);
  TRY(linalg_check_square(a, "cholesky_solve", "A"));
  TRY(linalg_check_dtype(a, "cholesky_solve", false));
  TRY(linalg_check_same_dtype(a, b, "cholesky_solve", "A", "b"));
  if (matrix_rows(a) != matrix_rows(b))
    return status_new(
        ERROR_RUNTIME,
        "Incompatible matrix sizes for cholesky_solve: each A matrix is %lld by %lld but each b matrix is %lld by %lld",
        (long long)matrix_rows(a), (long long)matrix_cols(a), (long long)matrix_rows(b), (long long)matrix_cols(b));
  return linalg_spec_broadcast(specs, b, a, (DType)b->dtype, matrix_rows(b), matrix_cols(b));
}
static Status kernel_cholesky_solve(Call *call) {
  const Lapack *lapack = lapack_open();
  Tensor *out = call_out(call, 0), *factor;
  TRY(tensor_copy(out, call_tensor(call, 0), 1));
  TRY(linalg_columns(call_tensor(call, 1), out, &factor));
  Matrices a = matrices_of(factor), x = matrices_of(out);
  Status status = OK;
  for (int64_t i = 0; i < x.count && out->numel && !status; i++) {
    status = linalg_attend((DType)out->dtype, 2.0 * x.rows * x.rows * x.cols);
    if (status) break;
    (void)lapack->potrs[lapack_type((DType)out->dtype)](LAPACK_COLUMNS, call_bool(call, 2) ? 'U' : 'L', x.rows, x.cols,
                                                        matrix_at(&a, i), a.ld, matrix_at(&x, i), x.ld);
  }
  tensor_release(factor);
  return status;
}

/* ---- triangular systems ---- */
typedef struct Triangle {
  bool upper, left, unit;
  char trans;
} Triangle;

/* Writes the solution over `x`, a packed batch that holds B. */
static Status solve_triangle(const Tensor *a, Tensor *x, Triangle how) {
  assert(how.trans == 'N' || how.trans == 'T' || how.trans == 'C');
  const Lapack *lapack = lapack_open();
  if (x->numel == 0) return OK;
  Tensor *factor;
  TRY(linalg_columns(a, x, &factor));
  Matrices m = matrices_of(factor), b = matrices_of(x);
  const double one[2] = {1, 0};
  const float one_single[2] = {1, 0};
  LapackType type = lapack_type((DType)x->dtype);
  const void *alpha = type == LAPACK_S || type == LAPACK_C ? (const void *)one_single : one;
  Status status = OK;
  for (int64_t i = 0; i < b.count; i++) {
    status = linalg_attend((DType)x->dtype, (double)b.rows * b.cols * m.rows);
    if (status) break;
    lapack->trsm[type](how.left ? "L" : "R", how.upper ? "U" : "L", &how.trans, how.unit ? "U" : "N", &b.rows, &b.cols,
                       alpha, matrix_at(&m, i), &m.ld, matrix_at(&b, i), &b.ld);
  }
  tensor_release(factor);
  return status;
}

static Status shape_solve_triangular(Call *call, TensorSpec *specs) {
  const Tensor *a = call_tensor(call, 0), *b = call_tensor(call, 1);
  bool left = call_bool(call, 3);
  static const char name[] = "linalg.solve_triangular";
  TRY(linalg_check_square(a, name, "A"));
  TRY(linalg_check_matrix(b, name, "B"));
  if (!dtype_is_floating((DType)a->dtype) && !dtype_is_complex((DType)a->dtype))
    return status_new(ERROR_RUNTIME, "\"triangular_solve_cpu\" not implemented for '%s'",
                      dtype_scalar_name((DType)a->dtype));
  TRY(linalg_check_dtype(a, name, false));
  if ((left ? matrix_rows(b) : matrix_cols(b)) != matrix_rows(a))
    return status_new(ERROR_RUNTIME, "%s: Incompatible shapes of A and B for the equation %s (%lldx%lld and %lldx%lld)",
                      name, left ? "AX = B" : "XA = B", (long long)matrix_rows(a), (long long)matrix_cols(a),
                      (long long)matrix_rows(b), (long long)matrix_cols(b));
  return linalg_spec_broadcast(specs, a, b, (DType)a->dtype, matrix_rows(b), matrix_cols(b));
}
static Status kernel_solve_triangular(Call *call) {
  TRY(tensor_copy(call_out(call, 0), call_tensor(call, 1), 1));
  Triangle how = {.upper = call_bool(call, 2), .left = call_bool(call, 3), .unit = call_bool(call, 4), .trans = 'N'};
  return solve_triangle(call_tensor(call, 0), call_out(call, 0), how);
}

/* triangular_solve(B, A) gives X and the A that it used, both of the broadcast batch. */
static Status shape_triangular_solve(Call *call, TensorSpec *specs) {
  const Tensor *b = call_tensor(call, 0), *a = call_tensor(call, 1);
  const Tensor *both[2] = {b, a};
  for (int i = 0; i < 2; i++)
    if (both[i]->ndim < 2)
      return status_new(
          ERROR_RUNTIME,
          "torch.triangular_solve: Expected %s to have at least 2 dimensions, but it has %d dimensions instead",
          i ? "A" : "b", both[i]->ndim);
  TRY(linalg_check_square(a, "triangular_solve", "A"));
  TRY(linalg_check_matrix(b, "triangular_solve", "b"));
  TRY(linalg_check_dtype(a, "triangular_solve", false));
  if (a->dtype != b->dtype)
    return status_new(ERROR_RUNTIME,
                      "Expected b and A to have the same dtype, but found b of type %s and A of type %s instead.",
                      dtype_scalar_name((DType)b->dtype), dtype_scalar_name((DType)a->dtype));
  if (matrix_rows(a) != matrix_rows(b))
    return status_new(ERROR_RUNTIME,
                      "Incompatible matrix sizes for triangular_solve: each A matrix is %lld by %lld but each b matrix "
                      "is %lld by %lld",
                      (long long)matrix_rows(a), (long long)matrix_cols(a), (long long)matrix_rows(b),
                      (long long)matrix_cols(b));
  TRY(linalg_spec_broadcast(&specs[0], b, a, (DType)b->dtype, matrix_rows(b), matrix_cols(b)));
  return linalg_spec_broadcast(&specs[1], b, a, (DType)b->dtype, matrix_rows(a), matrix_cols(a));
}
static Status kernel_triangular_solve(Call *call) {
  Tensor *x = call_out(call, 0), *used = call_out(call, 1);
  TRY(tensor_copy(x, call_tensor(call, 0), 1));
  TRY(tensor_copy(used, call_tensor(call, 1), 1));
  Triangle how = {
      .upper = call_bool(call, 2), .left = true, .unit = call_bool(call, 4), .trans = call_bool(call, 3) ? 'T' : 'N'};
  return solve_triangle(used, x, how);
}

/* ---- LDL^T ---- */
static Status shape_ldl(Call *call, TensorSpec *specs) {
  const Tensor *a = call_tensor(call, 0);
  TRY(linalg_check_square(a, "torch.linalg.ldl_factor_ex", "A"));
  TRY(linalg_check_dtype(a, "torch.linalg.ldl_factor_ex", false));
  int64_t n = matrix_rows(a);
  linalg_spec(&specs[0], a, (DType)a->dtype, n, n);
  linalg_spec_rows(&specs[1], a, DTYPE_INT32, 1, &n);
  linalg_spec_rows(&specs[2], a, DTYPE_INT32, 0, NULL);
  return OK;
}
static Status kernel_ldl(Call *call) {
  const Lapack *lapack = lapack_open();
  const Tensor *a = call_tensor(call, 0);
  Tensor *out = call_out(call, 0), *pivots = call_out(call, 1), *info = call_out(call, 2);
  TRY(tensor_copy(out, a, 1));
  Matrices m = matrices_of(out);
  linalg_keep_triangle(&m, dtype_size((DType)out->dtype), false);
  LapackType type = lapack_type((DType)out->dtype);
  for (int64_t i = 0; i < m.count; i++) {
    TRY(linalg_attend((DType)out->dtype, cube(m.rows) / 3));
    int32_t *swaps = vector_at(pivots, i, m.rows);
    LapackInt result = m.rows == 0 ? 0
                                   : (call_bool(call, 1) ? lapack->hetrf : lapack->sytrf)[type](
                                         LAPACK_COLUMNS, 'L', m.rows, matrix_at(&m, i), m.ld, swaps);
    TRY(lapack_memory(result));
    ((int32_t *)tensor_data(info))[i] = result;
  }
  return call_bool(call, 2) ? linalg_check_info(info, "torch.linalg.ldl_factor_ex", a->ndim == 2) : OK;
}
static Status shape_ldl_solve(Call *call, TensorSpec *specs) {
  const Tensor *a = call_tensor(call, 0), *pivots = call_tensor(call, 1), *b = call_tensor(call, 2);
  static const char name[] = "torch.linalg.ldl_solve";
  TRY(linalg_check_square(a, name, "LD"));
  TRY(linalg_check_dtype(a, name, false));
  TRY(linalg_check_matrix(b, name, "B"));
  if (pivots->ndim != a->ndim - 1 || memcmp(pivots->sizes, a->sizes, (size_t)pivots->ndim * sizeof *a->sizes) != 0)
    return status_new(ERROR_RUNTIME,
                      "%s: Expected LD.shape[:-1] and pivots.shape to be the same, but got pivots with shape %s", name,
                      SIZES_TEXT(pivots->ndim, pivots->sizes));
  if (pivots->dtype != DTYPE_INT32 && pivots->dtype != DTYPE_INT64)
    return status_new(ERROR_RUNTIME, "%s: Expected pivots to be integers, but got %s", name,
                      dtype_scalar_name((DType)pivots->dtype));
  TRY(linalg_check_same_dtype(a, b, name, "LD", "B"));
  if (matrix_rows(b) != matrix_rows(a))
    return status_new(
        ERROR_RUNTIME, "%s: Incompatible shapes of A and B for the equation AX = B (%lldx%lld and %lldx%lld)", name,
        (long long)matrix_rows(a), (long long)matrix_cols(a), (long long)matrix_rows(b), (long long)matrix_cols(b));
  return linalg_spec_broadcast(specs, b, a, (DType)b->dtype, matrix_rows(b), matrix_cols(b));
}
/* LAPACK trusts them. Rows count from 1; two rows of one block have negative ones, hence never an odd run of them. */
static Status check_ldl_pivots(const int32_t *swaps, int64_t n) {
  int64_t run = 0;
  for (int64_t i = 0; i < n; i++) {
    if (swaps[i] == 0 || swaps[i] > n || swaps[i] < -n)
      return status_new(ERROR_RUNTIME, "torch.linalg.ldl_solve: a pivot is %d, beyond the %lld rows", swaps[i],
                        (long long)n);
    run = swaps[i] < 0 ? run + 1 : 0;
    if (run % 2 && (i + 1 == n || swaps[i + 1] > 0))
      return status_new(ERROR_RUNTIME, "torch.linalg.ldl_solve: the negative pivot at %lld is not one of two",
                        (long long)i);
  }
  return OK;
}
static Status kernel_ldl_solve(Call *call) {
  const Lapack *lapack = lapack_open();
  Tensor *out = call_out(call, 0), *factors = NULL, *narrow = NULL, *pivots = NULL;
  Status status;
  TRY_GOTO(tensor_copy(out, call_tensor(call, 2), 1), done);
  TRY_GOTO(linalg_columns(call_tensor(call, 0), out, &factors), done);
  TRY_GOTO(tensor_to_dtype(call_tensor(call, 1), DTYPE_INT32, &narrow), done);
  TRY_GOTO(linalg_vectors(narrow, out, &pivots), done);
  Matrices m = matrices_of(factors), x = matrices_of(out);
  for (int64_t i = 0; i < x.count && out->numel; i++)
    TRY_GOTO(check_ldl_pivots(vector_at(pivots, i, m.rows), m.rows), done);
  for (int64_t i = 0; i < x.count && out->numel; i++) {
    TRY_GOTO(linalg_attend((DType)out->dtype, 2.0 * m.rows * m.rows * x.cols), done);
    (void)(call_bool(call, 3) ? lapack->hetrs : lapack->sytrs)[lapack_type((DType)out->dtype)](
        LAPACK_COLUMNS, 'L', m.rows, x.cols, matrix_at(&m, i), m.ld, vector_at(pivots, i, m.rows), matrix_at(&x, i),
        x.ld);
  }
done:
  tensor_release(factors);
  tensor_release(narrow);
  tensor_release(pivots);
  return status;
}

static const OpRow rows[] = {
    {.schema = "aten::linalg_cholesky_ex(Tensor self, *, bool upper=False, bool check_errors=False) -> (Tensor L, "
               "Tensor info)",
     .out = "L: L info",
     .kernel = kernel_cholesky,
     .shape = shape_cholesky,
     .flags = OP_OUT,
     .grad = "self: cholesky_backward(grads[0], results[0], upper)"},
    {.schema = "aten::linalg_cholesky(Tensor self, *, bool upper=False) -> Tensor",
     .body = "l, info = torch.linalg_cholesky_ex(self, upper=upper)\n"
             "torch._linalg_check_errors(info, 'linalg.cholesky', is_matrix=self.dim() == 2)\n"
             "return l",
     .flags = OP_OUT},
    {.schema = "aten::cholesky(Tensor self, bool upper=False) -> Tensor",
     .body = "if self.numel() == 0:\n"
             "    return self.clone()\n"
             "l, info = torch.linalg_cholesky_ex(self, upper=upper)\n"
             "torch._linalg_check_errors(info, 'cholesky', is_matrix=self.dim() == 2)\n"
             "return l",
     .flags = OP_OUT},
    {.schema = "aten::cholesky_inverse(Tensor self, bool upper=False) -> Tensor",
     .kernel = kernel_cholesky_inverse,
     .shape = shape_cholesky_inverse,
     .flags = OP_OUT,
     .grad = "self: cholesky_inverse_backward(grad, self, result, upper)"},
    {.schema = "aten::_cholesky_solve_helper(Tensor self, Tensor A, bool upper) -> Tensor",
     .kernel = kernel_cholesky_solve,
     .shape = shape_cholesky_solve,
     .flags = OP_OUT,
     .grad = "self, A: cholesky_solve_backward(grad, A, result, upper)"},
    {.schema = "aten::cholesky_solve(Tensor self, Tensor input2, bool upper=False) -> Tensor",
     .kernel = kernel_cholesky_solve,
     .shape = shape_cholesky_solve,
     .flags = OP_OUT,
     .grad = "self, input2: cholesky_solve_backward(grad, input2, result, upper)"},
    {.schema = "aten::linalg_solve_triangular(Tensor self, Tensor B, *, bool upper, bool left=True, bool "
               "unitriangular=False) -> Tensor",
     .kernel = kernel_solve_triangular,
     .shape = shape_solve_triangular,
     .flags = OP_OUT,
     .grad = "self, B: solve_triangular_backward(grad, self, result, upper, left, unitriangular)"},
    {.schema = "aten::triangular_solve(Tensor self, Tensor A, bool upper=True, bool transpose=False, bool "
               "unitriangular=False) -> (Tensor solution, Tensor cloned_coefficient)",
     .out = "X: X M",
     .kernel = kernel_triangular_solve,
     .shape = shape_triangular_solve,
     .flags = OP_OUT,
     .grad = "self, A: triangular_solve_backward(grads[0], grads[1], A, results[0], upper, transpose, unitriangular)"},
    {.schema = "aten::linalg_ldl_factor_ex(Tensor self, *, bool hermitian=False, bool check_errors=False) -> (Tensor "
               "LD, Tensor pivots, Tensor info)",
     .out = "out: LD pivots info",
     .kernel = kernel_ldl,
     .shape = shape_ldl,
     .flags = OP_OUT},
    {.schema = "aten::linalg_ldl_factor(Tensor self, *, bool hermitian=False) -> (Tensor LD, Tensor pivots)",
     .out = "out: LD pivots",
     .body = "ld, pivots, info = torch.linalg_ldl_factor_ex(self, hermitian=hermitian)\n"
             "torch._linalg_check_errors(info, 'torch.linalg.ldl_factor', is_matrix=self.dim() == 2)\n"
             "return ld, pivots",
     .flags = OP_OUT},
    {.schema = "aten::linalg_ldl_solve(Tensor LD, Tensor pivots, Tensor B, *, bool hermitian=False) -> Tensor",
     .kernel = kernel_ldl_solve,
     .shape = shape_ldl_solve,
     .flags = OP_OUT},
};
OP_TABLE(op_table_linalg_cholesky, rows);
