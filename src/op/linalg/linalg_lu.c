/* LU factorizations and what is solved with them: lu_factor, lu_solve, lu_unpack, solve, inv, det, slogdet. */
#include "op/linalg/linalg.h"

#include <assert.h>
#include <math.h>

#include "call/row.h"

#include <complex.h> /* after ours: its macros are common words */

static int64_t smaller(int64_t a, int64_t b) {
  return a < b ? a : b;
}

/* Factorizes `lu` where it lies; info may be NULL. */
static Status factorize(const Tensor *lu, const Tensor *pivots, const Tensor *info) {
  const Lapack *lapack = lapack_open();
  if (lu->numel == 0) {
    if (info) tensor_fill_zero((Tensor *)info);
    return OK;
  }
  Matrices m = matrices_of(lu);
  LapackType type = lapack_type((DType)lu->dtype);
  for (int64_t i = 0; i < m.count; i++) {
    TRY(linalg_attend((DType)lu->dtype, 2.0 / 3 * m.rows * m.cols * smaller(m.rows, m.cols)));
    LapackInt result = lapack->getrf[type](LAPACK_COLUMNS, m.rows, m.cols, matrix_at(&m, i), m.ld,
                                           vector_at(pivots, i, smaller(m.rows, m.cols)));
    if (info) ((int32_t *)tensor_data(info))[i] = result;
  }
  return OK;
}

/* Factorizes a copy of `a`, or of its transpose where that is the cheaper copy: PyTorch's choice, and its rounding. */
static Status factorize_copy(const Tensor *a, Tensor *lu, const Tensor *pivots, const Tensor *info,
                             bool *out_transposed) {
  *out_transposed = tensor_is_contiguous(a) && !dtype_is_complex((DType)a->dtype);
  if (*out_transposed) {
    Tensor *transposed;
    TRY(tensor_transpose(a, -2, -1, &transposed));
    Status status = tensor_copy(lu, transposed, 1);
    tensor_release(transposed);
    TRY(status);
  } else
    TRY(tensor_copy(lu, a, 1));
  return factorize(lu, pivots, info);
}

/* Solves op(A) X = B over each matrix of b, given the packed factors of the same batch. */
static Status solve_with(const Tensor *lu, const Tensor *pivots, const Tensor *b, char trans) {
  assert(trans == 'N' || trans == 'T' || trans == 'C');
  const Lapack *lapack = lapack_open();
  if (b->numel == 0) return OK;
  Matrices a = matrices_of(lu), x = matrices_of(b);
  LapackType type = lapack_type((DType)lu->dtype);
  for (int64_t i = 0; i < x.count; i++) {
    TRY(linalg_attend((DType)lu->dtype, 2.0 * a.rows * a.rows * x.cols));
    (void)lapack->getrs[type](LAPACK_COLUMNS, trans, a.rows, x.cols, matrix_at(&a, i), a.ld,
                              vector_at(pivots, i, a.rows), matrix_at(&x, i), x.ld);
  }
  return OK;
}

static void conjugate(const Tensor *t) { /* of a dense tensor */
  if (t->dtype == DTYPE_COMPLEX64) {
    complex64 *x = tensor_data(t);
    for (int64_t i = 0; i < t->numel; i++) x[i] = conjf(x[i]);
  } else if (t->dtype == DTYPE_COMPLEX128) {
    complex128 *x = tensor_data(t);
    for (int64_t i = 0; i < t->numel; i++) x[i] = conj(x[i]);
  }
}

/* X of A X = B, or of X A = B, into `out` (any strides), A given by its factors: from the right it is A^T X^T = B^T. */
static Status solve_sided(const Tensor *lu, const Tensor *pivots, const Tensor *b, bool left, bool adjoint,
                          Tensor *out) {
  Tensor *side = NULL, *x = NULL, *back = NULL, *factors = NULL, *swaps = NULL;
  Status status;
  TRY_GOTO(left ? tensor_alias(b, &side) : tensor_transpose(b, -2, -1, &side), done);
  TRY_GOTO(left ? tensor_alias(out, &back) : tensor_transpose(out, -2, -1, &back), done);
  TRY_GOTO(linalg_columns(side, back, &x), done);
  TRY_GOTO(linalg_columns(lu, back, &factors), done);
  TRY_GOTO(linalg_vectors(pivots, back, &swaps), done);
  /* X A^H = B is conj(A) X^T = B^T: conjugate around it. */
  bool around = adjoint && !left;
  if (around) conjugate(x);
  TRY_GOTO(solve_with(factors, swaps, x, left ? (adjoint ? 'C' : 'N') : (adjoint ? 'N' : 'T')), done);
  if (around) conjugate(x);
  status = tensor_copy(back, x, 1);
done:
  tensor_release(side);
  tensor_release(x);
  tensor_release(back);
  tensor_release(factors);
  tensor_release(swaps);
  return status;
}

/* ---- lu_factor_ex, _lu_with_info ---- */
static Status shape_lu(Call *call, TensorSpec *specs) {
  const Tensor *a = call_tensor(call, 0);
  TRY(linalg_check_matrix(a, "torch.linalg.lu_factor", "A"));
  TRY(linalg_check_dtype(a, "torch.linalg.lu_factor", false));
  if (!call_bool(call, 1))
    return status_new(ERROR_RUNTIME, "linalg.lu_factor: LU without pivoting is not implemented on the CPU");
  int64_t rows = matrix_rows(a), cols = matrix_cols(a);
  linalg_spec(&specs[0], a, (DType)a->dtype, rows, cols);
  linalg_spec_rows(&specs[1], a, DTYPE_INT32, 1, (const int64_t[]){smaller(rows, cols)});
  linalg_spec_rows(&specs[2], a, DTYPE_INT32, 0, NULL);
  return OK;
}
static Status kernel_lu(Call *call) {
  TRY(tensor_copy(call_out(call, 0), call_tensor(call, 0), 1));
  TRY(factorize(call_out(call, 0), call_out(call, 1), call_out(call, 2)));
  return call_bool(call, 2)
             ? linalg_check_info(call_out(call, 2), "torch.linalg.lu_factor_ex", call_tensor(call, 0)->ndim == 2)
             : OK;
}

/* ---- linalg_lu_solve(LU, pivots, B, left, adjoint), lu_solve(B, LU, pivots) ---- */
static Status check_factors(const Tensor *lu, const Tensor *pivots, const Tensor *b, bool left, const char *name) {
  TRY(linalg_check_square(lu, name, "LU"));
  TRY(linalg_check_dtype(lu, name, false));
  TRY(linalg_check_matrix(b, name, "B"));
  TRY(linalg_check_same_dtype(lu, b, name, "LU", "B"));
  if (pivots->dtype != DTYPE_INT32)
    return status_new(ERROR_RUNTIME, "%s: pivots should be a Tensor of scalar type torch.int32", name);
  if (pivots->ndim != lu->ndim - 1 || memcmp(pivots->sizes, lu->sizes, (size_t)pivots->ndim * sizeof *lu->sizes) != 0)
    return status_new(ERROR_RUNTIME, "%s: Number of pivots per batch should be same as the dimension of the matrix",
                      name);
  if ((left ? matrix_rows(b) : matrix_cols(b)) != matrix_cols(lu))
    return status_new(ERROR_RUNTIME, "%s: Incompatible shapes of A and B for the equation %s (%lldx%lld and %lldx%lld)",
                      name, left ? "AX = B" : "XA = B", (long long)matrix_rows(lu), (long long)matrix_cols(lu),
                      (long long)matrix_rows(b), (long long)matrix_cols(b));
  return OK;
}
static Status check_pivots(const Tensor *pivots, int64_t n) {
  Tensor *dense;
  TRY(tensor_contiguous(pivots, &dense));
  const int32_t *p = tensor_data(dense);
  bool good = true;
  for (int64_t i = 0; i < dense->numel; i++) good = good && p[i] >= 1 && p[i] <= n;
  tensor_release(dense);
  return good ? OK
              : status_new(ERROR_RUNTIME,
                           "Pivots given to lu_solve must all be greater or equal to 1. Did you properly pass the "
                           "result of lu_factor?");
}
static Status shape_linalg_lu_solve(Call *call, TensorSpec *specs) {
  const Tensor *lu = call_tensor(call, 0), *b = call_tensor(call, 2);
  TRY(check_factors(lu, call_tensor(call, 1), b, call_bool(call, 3), "torch.linalg.lu_solve"));
  return linalg_spec_broadcast(specs, lu, b, (DType)b->dtype, matrix_rows(b), matrix_cols(b));
}
static Status kernel_linalg_lu_solve(Call *call) {
  TRY(check_pivots(call_tensor(call, 1), matrix_rows(call_tensor(call, 0))));
  return solve_sided(call_tensor(call, 0), call_tensor(call, 1), call_tensor(call, 2), call_bool(call, 3),
                     call_bool(call, 4), call_out(call, 0));
}

/* ---- lu_unpack ---- */
static Status shape_lu_unpack(Call *call, TensorSpec *specs) {
  const Tensor *lu = call_tensor(call, 0), *pivots = call_tensor(call, 1);
  bool data = call_bool(call, 2), swaps = call_bool(call, 3);
  TRY(linalg_check_matrix(lu, "torch.lu_unpack", "LU"));
  if (swaps && pivots->dtype != DTYPE_INT32)
    return status_new(ERROR_RUNTIME,
                      "torch.lu_unpack: LU_pivots is expected to be a contiguous tensor of torch.int32 dtype.\n"
                      "Note: this function is intended to be used with the output produced by torch.linalg.lu_factor");
  int64_t rows = matrix_rows(lu), cols = matrix_cols(lu), k = smaller(rows, cols);
  if (swaps && (pivots->ndim != lu->ndim - 1 || pivots->sizes[pivots->ndim - 1] != k ||
                memcmp(pivots->sizes, lu->sizes, (size_t)(lu->ndim - 2) * sizeof *lu->sizes) != 0))
    return status_new(ERROR_RUNTIME, "torch.lu_unpack: LU_pivots of sizes %s don't belong to LU_data of sizes %s",
                      SIZES_TEXT(pivots->ndim, pivots->sizes), SIZES_TEXT(lu->ndim, lu->sizes));
  DType dtype = (DType)lu->dtype;
  for (int i = 0; i < 3; i++) linalg_spec_empty(&specs[i], dtype);
  if (swaps) linalg_spec_rows(&specs[0], lu, dtype, 2, (const int64_t[]){rows, rows});
  if (data) {
    linalg_spec_rows(&specs[1], lu, dtype, 2, (const int64_t[]){rows, k});
    linalg_spec_rows(&specs[2], lu, dtype, 2, (const int64_t[]){k, cols});
  }
  return OK;
}
/* The row-major triangle of `from` (rows x cols in the upper left corner of each matrix) with ones on the diagonal of
 * L. */
static Status unpack_triangle(const Tensor *from, Tensor *to, bool upper) {
  Tensor *rows = NULL, *part = NULL;
  TRY(tensor_narrow(from, -2, 0, matrix_rows(to), &rows));
  Status status = tensor_narrow(rows, -1, 0, matrix_cols(to), &part);
  if (status == OK) status = tensor_copy(to, part, 1);
  tensor_release(rows);
  tensor_release(part);
  TRY(status);
  if (to->numel == 0) return OK;
  int64_t height = matrix_rows(to), width = matrix_cols(to), item = (int64_t)dtype_size((DType)to->dtype);
  const double one = 1;
  char *line = tensor_data(to);
  for (int64_t r = 0; r < to->numel / width; r++, line += width * item) {
    int64_t row = r % height, diagonal = smaller(row, width);
    if (upper)
      memset(line, 0, (size_t)(diagonal * item));
    else if (row < width) {
      memset(line + row * item, 0, (size_t)((width - row) * item));
      dtype_convert((DType)to->dtype, line + row * item, 0, DTYPE_FLOAT64, &one, 0, 1);
    }
  }
  return OK;
}
static Status unpack_pivots(const Tensor *pivots, Tensor *out) {
  tensor_fill_zero(out);
  if (out->numel == 0) return OK;
  Tensor *dense;
  TRY(tensor_contiguous(pivots, &dense));
  int64_t rows = matrix_rows(out), k = pivots->sizes[pivots->ndim - 1], item = (int64_t)dtype_size((DType)out->dtype);
  int64_t *order = mem_alloc((size_t)rows * sizeof *order);
  if (!order) {
    tensor_release(dense);
    return status_out_of_memory();
  }
  Status status = OK;
  const double one = 1;
  for (int64_t b = 0; b < out->numel / (rows * rows) && status == OK; b++) {
    const int32_t *swaps = vector_at(dense, b, k);
    char *matrix = (char *)tensor_data(out) + b * rows * rows * item;
    for (int64_t i = 0; i < rows; i++) order[i] = i;
    for (int64_t i = 0; i < k; i++) {
      if (swaps[i] < 1 || swaps[i] > rows) {
        status = status_new(ERROR_RUNTIME, "lu_unpack: a pivot is %d, beyond the %lld rows", swaps[i], (long long)rows);
        break;
      }
      int64_t kept = order[i];
      order[i] = order[swaps[i] - 1];
      order[swaps[i] - 1] = kept;
    }
    for (int64_t i = 0; i < rows && status == OK; i++)
      dtype_convert((DType)out->dtype, matrix + (order[i] * rows + i) * item, 0, DTYPE_FLOAT64, &one, 0, 1);
  }
  mem_free(order);
  tensor_release(dense);
  return status;
}
static Status kernel_lu_unpack(Call *call) {
  const Tensor *lu = call_tensor(call, 0);
  if (call_bool(call, 3)) TRY(unpack_pivots(call_tensor(call, 1), call_out(call, 0)));
  if (!call_bool(call, 2)) return OK;
  TRY(unpack_triangle(lu, call_out(call, 1), false));
  return unpack_triangle(lu, call_out(call, 2), true);
}

/* ---- solve ---- */
/* B is a batch of vectors when it has one dimension, or just the batch dimensions of A and one more. */
static bool is_vector(const Tensor *a, const Tensor *b) {
  return b->ndim == 1 ||
         (a->ndim - 1 == b->ndim && memcmp(a->sizes, b->sizes, (size_t)b->ndim * sizeof *b->sizes) == 0);
}
static Status shape_solve(Call *call, TensorSpec *specs) {
  const Tensor *a = call_tensor(call, 0), *b = call_tensor(call, 1);
  bool left = call_bool(call, 2);
  TRY(linalg_check_square(a, "linalg.solve", "A"));
  TRY(linalg_check_dtype(a, "linalg.solve", false));
  TRY(linalg_check_same_dtype(a, b, "linalg.solve", "A", "B"));
  int64_t n = matrix_rows(a);
  linalg_spec(&specs[1], a, (DType)a->dtype, n, n);
  linalg_spec_rows(&specs[2], a, DTYPE_INT32, 1, &n);
  linalg_spec_rows(&specs[3], a, DTYPE_INT32, 0, NULL);
  if (b->ndim == 0)
    return status_new(ERROR_RUNTIME, "linalg.solve: The input tensor B must have at least 2 dimensions.");
  if (is_vector(a, b)) {
    if (!left)
      return status_new(ERROR_RUNTIME,
                        "linalg.solve: Vector broadcasting of the left hand side is not supported for left=False. In "
                        "this case linalg.solve is equivalent to B / A.squeeze(-1)");
    if (b->sizes[b->ndim - 1] != n)
      return status_new(ERROR_RUNTIME,
                        "linalg.solve: Incompatible shapes of A and B for the equation AX = B (%lldx%lld and %lldx1)",
                        (long long)n, (long long)n, (long long)b->sizes[b->ndim - 1]);
    linalg_spec_rows(&specs[0], a, (DType)a->dtype, 1, &n);
    return OK;
  }
  TRY(linalg_check_matrix(b, "linalg.solve", "B"));
  int64_t rows = matrix_rows(b), cols = matrix_cols(b);
  if ((left ? rows : cols) != n)
    return status_new(ERROR_RUNTIME,
                      "linalg.solve: Incompatible shapes of A and B for the equation %s (%lldx%lld and %lldx%lld)",
                      left ? "AX = B" : "XA = B", (long long)n, (long long)n, (long long)rows, (long long)cols);
  return linalg_spec_broadcast(&specs[0], a, b, (DType)a->dtype, rows, cols);
}
static Status kernel_solve(Call *call) {
  const Tensor *a = call_tensor(call, 0), *b = call_tensor(call, 1);
  Tensor *x = call_out(call, 0), *lu = call_out(call, 1), *pivots = call_out(call, 2);
  bool adjoint;
  TRY(factorize_copy(a, lu, pivots, call_out(call, 3), &adjoint));
  if (call_bool(call, 3)) TRY(linalg_check_info(call_out(call, 3), "torch.linalg.solve_ex", a->ndim == 2));
  if (!is_vector(a, b)) return solve_sided(lu, pivots, b, call_bool(call, 2), adjoint, x);
  Tensor *column = NULL, *into = NULL;
  Status status;
  TRY_GOTO(tensor_unsqueeze(b, -1, &column), done);
  TRY_GOTO(tensor_unsqueeze(x, -1, &into), done);
  status = solve_sided(lu, pivots, column, true, adjoint, into);
done:
  tensor_release(column);
  tensor_release(into);
  return status;
}

/* ---- inv ---- */
static Status shape_inv(Call *call, TensorSpec *specs) {
  const Tensor *a = call_tensor(call, 0);
  TRY(linalg_check_square(a, "linalg.inv", "A"));
  TRY(linalg_check_dtype(a, "linalg.inv", false));
  linalg_spec(&specs[0], a, (DType)a->dtype, matrix_rows(a), matrix_cols(a));
  linalg_spec_rows(&specs[1], a, DTYPE_INT32, 0, NULL);
  return OK;
}
static Status kernel_inv(Call *call) {
  const Tensor *a = call_tensor(call, 0);
  Tensor *out = call_out(call, 0), *info = call_out(call, 1), *pivots, *factors = NULL;
  int64_t n = matrix_rows(a);
  Matrices m = matrices_of(out);
  TRY(tensor_empty(DTYPE_INT32, 2, (const int64_t[]){m.count, n}, &pivots));
  Status status;
  TRY_GOTO(linalg_columns(a, NULL, &factors), done);
  bool transposed;
  TRY_GOTO(factorize_copy(a, factors, pivots, info, &transposed), done);
  tensor_fill_zero(out);
  const double one = 1;
  for (int64_t i = 0; i < m.count; i++)
    dtype_convert((DType)out->dtype, matrix_at(&m, i), n + 1, DTYPE_FLOAT64, &one, 0, n);
  TRY_GOTO(solve_with(factors, pivots, out, transposed ? 'T' : 'N'), done);
  if (call_bool(call, 1)) status = linalg_check_info(info, "linalg.inv_ex", a->ndim == 2);
done:
  tensor_release(pivots);
  tensor_release(factors);
  return status;
}

/* ---- det, slogdet: (result, LU, pivots), (sign, logabsdet, LU, pivots) ---- */
static Status shape_det(Call *call, TensorSpec *specs) {
  const Tensor *a = call_tensor(call, 0);
  bool logarithm = call->output_count == 4;
  const char *name = logarithm ? "linalg.slogdet" : "linalg.det";
  TRY(linalg_check_square(a, name, "A"));
  TRY(linalg_check_dtype(a, name, false));
  int64_t n = matrix_rows(a);
  DType dtype = (DType)a->dtype;
  linalg_spec_rows(specs++, a, dtype, 0, NULL);
  if (logarithm) linalg_spec_rows(specs++, a, dtype_is_complex(dtype) ? dtype_to_real(dtype) : dtype, 0, NULL);
  linalg_spec(specs++, a, dtype, n, n);
  linalg_spec_rows(specs, a, DTYPE_INT32, 1, &n);
  return OK;
}
static Status kernel_det(Call *call) {
  bool logarithm = call->output_count == 4;
  Tensor *lu = call_out(call, logarithm ? 2 : 1), *pivots = call_out(call, logarithm ? 3 : 2),
         *first = call_out(call, 0);
  bool transposed;
  TRY(factorize_copy(call_tensor(call, 0), lu, pivots, NULL, &transposed));
  Matrices m = matrices_of(lu);
  DType dtype = (DType)lu->dtype;
  int64_t item = (int64_t)dtype_size(dtype);
  for (int64_t i = 0; i < m.count; i++) {
    const int32_t *swaps = vector_at(pivots, i, m.rows);
    complex128 product = 1, sign = 1;
    double log_size = 0;
    for (LapackInt k = 0; k < m.rows; k++) {
      complex128 value;
      dtype_convert(DTYPE_COMPLEX128, &value, 0, dtype, (char *)matrix_at(&m, i) + (int64_t)k * (m.ld + 1) * item, 0,
                    1);
      if (swaps[k] != k + 1) product = -product, sign = -sign;
      double size = cabs(value);
      product *= value;
      sign *= size == 0 ? 0 : value / size;
      log_size += log(size);
    }
    dtype_convert(dtype, vector_at(first, i, 1), 0, DTYPE_COMPLEX128, logarithm ? &sign : &product, 0, 1);
    if (logarithm)
      dtype_convert((DType)call_out(call, 1)->dtype, vector_at(call_out(call, 1), i, 1), 0, DTYPE_FLOAT64, &log_size, 0,
                    1);
  }
  return OK;
}

#define CHECK(info, name, a) "torch._linalg_check_errors(" info ", '" name "', is_matrix=" a ".dim() == 2)\n"
/* Helpers in gradients stand in prelude/gradients.py. */
static const OpRow rows[] = {
    {.schema = "aten::linalg_lu_factor_ex(Tensor A, *, bool pivot=True, bool check_errors=False) -> (Tensor LU, Tensor "
               "pivots, Tensor info)",
     .out = "out: LU pivots info",
     .kernel = kernel_lu,
     .shape = shape_lu,
     .flags = OP_OUT,
     .grad = "A: lu_factor_backward(grads[0], results[0], results[1])"},
    {.schema = "aten::linalg_lu_factor(Tensor A, *, bool pivot=True) -> (Tensor LU, Tensor pivots)",
     .out = "out: LU pivots",
     .body = "lu, pivots, info = torch.linalg_lu_factor_ex(A, pivot=pivot)\n" CHECK("info", "torch.linalg.lu_factor",
                                                                                    "A") "return lu, pivots",
     .flags = OP_OUT},
    {.schema = "aten::_lu_with_info(Tensor self, bool pivot=True, bool check_errors=True) -> (Tensor LU, Tensor "
               "pivots, Tensor info)",
     .body = "return torch.linalg_lu_factor_ex(self, pivot=pivot, check_errors=check_errors)"},
    {.schema = "aten::linalg_lu(Tensor A, *, bool pivot=True) -> (Tensor P, Tensor L, Tensor U)",
     .out = "out: P L U",
     .body = "lu, pivots, info = torch.linalg_lu_factor_ex(A, pivot=pivot)\nreturn torch.lu_unpack(lu, pivots)",
     .flags = OP_OUT},
    {.schema =
         "aten::linalg_lu_solve(Tensor LU, Tensor pivots, Tensor B, *, bool left=True, bool adjoint=False) -> Tensor",
     .kernel = kernel_linalg_lu_solve,
     .shape = shape_linalg_lu_solve,
     .flags = OP_OUT,
     .grad = "LU: lu_solve_factor_backward(grad, result, LU, pivots, left, adjoint); "
             "B: torch.linalg_lu_solve(LU, pivots, grad, left=left, adjoint=not adjoint)"},
    {.schema = "aten::lu_solve(Tensor self, Tensor LU_data, Tensor LU_pivots) -> Tensor",
     .body = "return torch.linalg_lu_solve(LU_data, LU_pivots, self)",
     .flags = OP_OUT},
    {.schema = "aten::lu_unpack(Tensor LU_data, Tensor LU_pivots, bool unpack_data=True, bool unpack_pivots=True) -> "
               "(Tensor P, Tensor L, Tensor U)",
     .out = "out: P L U",
     .kernel = kernel_lu_unpack,
     .shape = shape_lu_unpack,
     .flags = OP_OUT,
     .grad = "LU_data: lu_unpack_backward(grads[1], grads[2], LU_data)"},
    {.schema = "aten::_linalg_solve_ex(Tensor A, Tensor B, *, bool left=True, bool check_errors=False) -> (Tensor "
               "result, Tensor LU, Tensor pivots, Tensor info)",
     .out = "result: result LU pivots info",
     .kernel = kernel_solve,
     .shape = shape_solve,
     .flags = OP_OUT,
     .grad = "A, B: solve_backward(grads[0], results[0], A, B, left)"},
    {.schema = "aten::linalg_solve_ex(Tensor A, Tensor B, *, bool left=True, bool check_errors=False) -> (Tensor "
               "result, Tensor info)",
     .out = "out: result info",
     .body = "x, lu, pivots, info = torch._linalg_solve_ex(A, B, left=left, check_errors=check_errors)\nreturn x, info",
     .flags = OP_OUT},
    {.schema = "aten::linalg_solve(Tensor A, Tensor B, *, bool left=True) -> Tensor",
     .body = "x, lu, pivots, info = torch._linalg_solve_ex(A, B, left=left)\n" CHECK("info", "torch.linalg.solve",
                                                                                     "A") "return x",
     .flags = OP_OUT},
    {.schema = "aten::linalg_inv_ex(Tensor A, *, bool check_errors=False) -> (Tensor inverse, Tensor info)",
     .out = "inverse: inverse info",
     .kernel = kernel_inv,
     .shape = shape_inv,
     .flags = OP_OUT,
     .grad = "A: inv_backward(grads[0], results[0])"},
    {.schema = "aten::linalg_inv(Tensor A) -> Tensor",
     .body = "x, info = torch.linalg_inv_ex(A)\n" CHECK("info", "linalg.inv", "A") "return x",
     .flags = OP_OUT},
    {.schema = "aten::inverse(Tensor self) -> Tensor",
     .same_as = "aten::linalg_inv",
     .body = "return torch.linalg_inv(self)",
     .flags = OP_OUT},
    {.schema = "aten::_linalg_det(Tensor A) -> (Tensor result, Tensor LU, Tensor pivots)",
     .out = "result: result LU pivots",
     .kernel = kernel_det,
     .shape = shape_det,
     .flags = OP_OUT,
     .grad = "A: det_backward(grads[0], results[0], A)"},
    {.schema = "aten::linalg_det(Tensor A) -> Tensor",
     .body = "d, lu, pivots = torch._linalg_det(A)\nreturn d",
     .flags = OP_OUT},
    {.schema = "aten::det(Tensor self) -> Tensor",
     .same_as = "aten::linalg_det",
     .body = "return torch.linalg_det(self)"},
    {.schema = "aten::_linalg_slogdet(Tensor A) -> (Tensor sign, Tensor logabsdet, Tensor LU, Tensor pivots)",
     .out = "sign: sign logabsdet LU pivots",
     .kernel = kernel_det,
     .shape = shape_det,
     .flags = OP_OUT,
     .grad = "A: slogdet_backward(grads[0], grads[1], results[0], A)"},
    {.schema = "aten::linalg_slogdet(Tensor A) -> (Tensor sign, Tensor logabsdet)",
     .out = "out: sign logabsdet",
     .body = "sign, size, lu, pivots = torch._linalg_slogdet(A)\nreturn sign, size",
     .flags = OP_OUT},
    {.schema = "aten::slogdet(Tensor self) -> (Tensor sign, Tensor logabsdet)",
     .out = "out: sign logabsdet",
     .body = "return torch.linalg_slogdet(self)",
     .flags = OP_OUT},
    {.schema = "aten::logdet(Tensor self) -> Tensor",
     .body = "sign, size = torch.linalg_slogdet(self)\n"
             "if self.is_complex():\n"
             "    return sign.log() + size\n"
             "return torch.where(sign == -1.0, torch.full_like(size, float('nan')), size)"},
};
OP_TABLE(op_table_linalg_lu, rows);
