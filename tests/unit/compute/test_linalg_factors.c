/* compute/linalg, whether LAPACK is there or not: factors multiplied together again are the matrix, within the
 * bounds that LAPACK's own tests have (E. Anderson et al., LAPACK Users' Guide, "Testing"): residuals in units of
 * the precision, below 30. WICK_LINALG_MATRICES: so many random ones and a fifth as many ill-conditioned ones of
 * each type. */
#include "checks.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "compute/linalg/linalg.h"
#include "tensor/dtype.h"

#include <complex.h> /* after ours: its macros are common words */

static Lapack own;

static int setup(void **state) {
  (void)state;
  linalg_fill_s(&own);
  linalg_fill_d(&own);
  linalg_fill_c(&own);
  linalg_fill_z(&own);
  return 0;
}

/* ---- matrices as complex doubles, column-major, for what is checked; routines get them in their own type ---- */
typedef complex128 *Matrix;
static uint64_t seed = 88172645463325252u;
static double uniform(void) { /* in (-1, 1) */
  seed ^= seed << 13;
  seed ^= seed >> 7;
  seed ^= seed << 17;
  return (double)(int64_t)seed / 0x1p63;
}
static const DType dtypes[] = {DTYPE_FLOAT32, DTYPE_FLOAT64, DTYPE_COMPLEX64, DTYPE_COMPLEX128}; /* ORDER LapackType */
static bool is_complex(int t) {
  return t >= LAPACK_C;
}
static double unit_of(int t) {
  return t == LAPACK_S || t == LAPACK_C ? 0x1p-24 : 0x1p-53;
}
static Matrix new_matrix(int64_t rows, int64_t cols) {
  return calloc((size_t)(rows * cols) + 1, sizeof(complex128));
}
static Matrix random_matrix(int t, int64_t rows, int64_t cols) {
  Matrix a = new_matrix(rows, cols);
  for (int64_t i = 0; i < rows * cols; i++) a[i] = uniform() + (is_complex(t) ? uniform() * I : 0);
  return a;
}
static void *to_type(int t, int64_t count, Matrix a) {
  void *out = malloc(((size_t)count + 1) * dtype_size(dtypes[t]));
  dtype_convert(dtypes[t], out, 1, DTYPE_COMPLEX128, a, 1, count);
  dtype_convert(DTYPE_COMPLEX128, a, 1, dtypes[t], out, 1, count); /* rounded as the routine sees it */
  return out;
}
static Matrix from_type(int t, int64_t count, const void *a) {
  Matrix out = new_matrix(count, 1);
  dtype_convert(DTYPE_COMPLEX128, out, 1, dtypes[t], a, 1, count);
  return out;
}
static void *room(int t, int64_t count) {
  return calloc((size_t)count + 1, dtype_size(dtypes[t]));
}
static double *reals_of(int t, int64_t count, const void *a) {
  double *out = malloc(((size_t)count + 1) * sizeof *out);
  dtype_convert(DTYPE_FLOAT64, out, 1, dtype_to_real(dtypes[t | LAPACK_C]), a, 1, count);
  return out;
}
static double norm1(int64_t rows, int64_t cols, const complex128 *a) {
  double norm = 0;
  for (int64_t j = 0; j < cols; j++) {
    double sum = 0;
    for (int64_t i = 0; i < rows; i++) sum += cabs(a[i + j * rows]);
    norm = sum > norm || isnan(sum) ? sum : norm;
  }
  return norm;
}
static complex128 times(complex128 a, complex128 b) { /* without the search for NaN */
  return CMPLX(creal(a) * creal(b) - cimag(a) * cimag(b), creal(a) * cimag(b) + cimag(a) * creal(b));
}
/* op(A) B; A is rows x inner after op. */
static Matrix product(char op, int64_t rows, int64_t cols, int64_t inner, const complex128 *a, const complex128 *b) {
  Matrix c = new_matrix(rows, cols);
  for (int64_t j = 0; j < cols; j++)
    for (int64_t k = 0; k < inner; k++) {
      complex128 by = b[k + j * inner];
      if (by == 0) continue;
      for (int64_t i = 0; i < rows; i++)
        c[i + j * rows] += times(op == 'N'   ? a[i + k * rows]
                                 : op == 'T' ? a[k + i * inner]
                                             : conj(a[k + i * inner]),
                                 by);
    }
  return c;
}
static Matrix adjoint(int64_t rows, int64_t cols, const complex128 *a) {
  Matrix out = new_matrix(rows, cols);
  for (int64_t j = 0; j < cols; j++)
    for (int64_t i = 0; i < rows; i++) out[j + i * cols] = conj(a[i + j * rows]);
  return out;
}
static const char *what;
static void check_ratio(int t, double residual, double scale, const char *name) {
  double ratio = residual == 0 ? 0 : residual / scale / unit_of(t);
  if (!(ratio < 30)) fail_msg("%s of %s, %s: %g", name, dtype_name(dtypes[t]), what, ratio);
}
static double distance(int64_t rows, int64_t cols, const complex128 *a, const complex128 *b) {
  Matrix d = new_matrix(rows, cols);
  for (int64_t i = 0; i < rows * cols; i++) d[i] = a[i] - b[i];
  double norm = norm1(rows, cols, d);
  free(d);
  return norm;
}
/* Columns of q (rows x cols) are orthonormal. */
static void check_orthonormal(int t, int64_t rows, int64_t cols, const complex128 *q, const char *name) {
  Matrix one = product('C', cols, cols, rows, q, q);
  for (int64_t i = 0; i < cols; i++) one[i * (cols + 1)] -= 1;
  check_ratio(t, norm1(cols, cols, one), (double)(rows > 0 ? rows : 1), name);
  free(one);
}
/* ‖B - op(A) X‖ of each column, beside ‖A‖ ‖X‖. */
static void check_solution(int t, char op, int64_t n, int64_t columns, const complex128 *a, const complex128 *x,
                           const complex128 *b, const char *name) {
  Matrix ax = product(op, n, columns, n, a, x);
  double norm = norm1(n, n, a);
  if (op != 'N') {
    Matrix h = adjoint(n, n, a);
    norm = norm1(n, n, h);
    free(h);
  }
  for (int64_t j = 0; j < columns; j++)
    check_ratio(t, distance(n, 1, b + j * n, ax + j * n), norm * norm1(n, 1, x + j * n), name);
  free(ax);
}

/* ---- what is checked of one matrix ---- */
static void check_lu(int t, int64_t m, int64_t n, const complex128 *a) {
  int64_t least = m < n ? m : n;
  Matrix copy = new_matrix(m, n);
  memcpy(copy, a, (size_t)(m * n) * sizeof *copy);
  void *lu = to_type(t, m * n, copy);
  int32_t *pivots = calloc((size_t)least + 1, sizeof *pivots);
  own.getrf[t](LAPACK_COLUMNS, (int32_t)m, (int32_t)n, lu, (int32_t)m, pivots);
  Matrix f = from_type(t, m * n, lu), l = new_matrix(m, least), u = new_matrix(least, n);
  for (int64_t j = 0; j < least; j++)
    for (int64_t i = j; i < m; i++) {
      l[i + j * m] = i == j ? 1 : f[i + j * m];
      assert_true(cabs(l[i + j * m]) <= 1.5); /* by sizes of parts, hence up to sqrt 2 */
    }
  for (int64_t j = 0; j < n; j++)
    for (int64_t i = 0; i <= j && i < least; i++) u[i + j * least] = f[i + j * m];
  Matrix back = product('N', m, n, least, l, u);
  for (int64_t k = least - 1; k >= 0; k--)
    for (int64_t j = 0; j < n; j++) {
      complex128 kept = back[k + j * m];
      back[k + j * m] = back[pivots[k] - 1 + j * m];
      back[pivots[k] - 1 + j * m] = kept;
    }
  check_ratio(t, distance(m, n, back, copy), (double)n * norm1(m, n, copy), "LU");
  if (m == n) {
    const int64_t columns = 3;
    Matrix b = random_matrix(t, n, columns);
    for (const char *op = "NTC"; *op; op++) {
      void *x = to_type(t, n * columns, b);
      own.getrs[t](LAPACK_COLUMNS, *op, (int32_t)n, (int32_t)columns, lu, (int32_t)n, pivots, x, (int32_t)n);
      Matrix solution = from_type(t, n * columns, x);
      bool finite = isfinite(norm1(n, columns, solution));
      if (finite) check_solution(t, *op, n, columns, copy, solution, b, "a solution by LU");
      free(solution);
      free(x);
    }
    free(b);
  }
  free(copy), free(lu), free(pivots), free(f), free(l), free(u), free(back);
}
static void check_triangles(int t, int64_t n) {
  Matrix a = random_matrix(t, n, n);
  for (int64_t i = 0; i < n * n; i++) a[i] /= (double)n;
  for (int64_t i = 0; i < n; i++) a[i * (n + 1)] += 1;
  void *given = to_type(t, n * n, a);
  const int32_t size = (int32_t)n, others = 3;
  complex128 one_number = 1;
  void *one = to_type(t, 1, &one_number);
  for (int k = 0; k < 24; k++) {
    char side = k & 1 ? 'L' : 'R', uplo = k & 2 ? 'L' : 'U', diagonal = k & 4 ? 'U' : 'N', op = "NTC"[k / 8];
    int32_t m = side == 'L' ? size : others, columns = side == 'L' ? others : size;
    Matrix b = random_matrix(t, m, columns), triangle = new_matrix(n, n);
    for (int64_t j = 0; j < n; j++)
      for (int64_t i = uplo == 'L' ? j : 0; i < (uplo == 'L' ? n : j + 1); i++)
        triangle[i + j * n] = i == j && diagonal == 'U' ? 1 : a[i + j * n];
    void *x = to_type(t, m * columns, b);
    own.trsm[t](&side, &uplo, &op, &diagonal, &m, &columns, one, given, &size, x, &m);
    Matrix solution = from_type(t, m * columns, x);
    if (side == 'L')
      check_solution(t, op, n, others, triangle, solution, b, "a triangular solution");
    else { /* X op(A) = B is op(A)^H X^H = B^H */
      Matrix full = new_matrix(n, n);
      for (int64_t i = 0; i < n; i++) full[i * (n + 1)] = 1;
      Matrix turned = product(op, n, n, n, triangle, full), xh = adjoint(m, n, solution), bh = adjoint(m, n, b);
      check_solution(t, 'C', n, others, turned, xh, bh, "a triangular solution from the right");
      free(full), free(turned), free(xh), free(bh);
    }
    free(b), free(triangle), free(x), free(solution);
  }
  free(a), free(given), free(one);
}
static void check_cholesky(int t, int64_t n) {
  Matrix g = random_matrix(t, n, n), a = product('C', n, n, n, g, g);
  for (int64_t i = 0; i < n; i++) a[i * (n + 1)] = creal(a[i * (n + 1)]) + 1;
  void *given = to_type(t, n * n, a);
  Matrix b = random_matrix(t, n, 2);
  for (const char *uplo = "LU"; *uplo; uplo++) {
    void *f = room(t, n * n), *x = to_type(t, n * 2, b), *inverse = room(t, n * n);
    memcpy(f, given, (size_t)(n * n) * dtype_size(dtypes[t]));
    assert_int_equal(own.potrf[t](LAPACK_COLUMNS, *uplo, (int32_t)n, f, (int32_t)n), 0);
    Matrix factor = from_type(t, n * n, f);
    for (int64_t j = 0; j < n; j++)
      for (int64_t i = 0; i < n; i++)
        if (*uplo == 'L' ? i < j : i > j) {
          assert_true(factor[i + j * n] == a[i + j * n]); /* the other triangle is as it was */
          factor[i + j * n] = 0;
        }
    Matrix other = adjoint(n, n, factor),
           back = product('N', n, n, n, *uplo == 'L' ? factor : other, *uplo == 'L' ? other : factor);
    check_ratio(t, distance(n, n, back, a), (double)n * norm1(n, n, a), "Cholesky");
    own.potrs[t](LAPACK_COLUMNS, *uplo, (int32_t)n, 2, f, (int32_t)n, x, (int32_t)n);
    Matrix solution = from_type(t, n * 2, x);
    check_solution(t, 'N', n, 2, a, solution, b, "a solution by Cholesky");
    memcpy(inverse, f, (size_t)(n * n) * dtype_size(dtypes[t]));
    assert_int_equal(own.potri[t](LAPACK_COLUMNS, *uplo, (int32_t)n, inverse, (int32_t)n), 0);
    Matrix inv = from_type(t, n * n, inverse);
    for (int64_t j = 0; j < n; j++)
      for (int64_t i = 0; i < j; i++) {
        complex128 *high = &inv[i + j * n], *low = &inv[j + i * n];
        if (*uplo == 'L')
          *high = conj(*low);
        else
          *low = conj(*high);
      }
    Matrix one = product('N', n, n, n, a, inv);
    for (int64_t i = 0; i < n; i++) one[i * (n + 1)] -= 1;
    check_ratio(t, norm1(n, n, one), (double)n * norm1(n, n, a) * norm1(n, n, inv), "an inverse by Cholesky");
    free(f), free(x), free(inverse), free(factor), free(other), free(back), free(solution), free(inv), free(one);
  }
  /* the leading minor of order k is not positive */
  int64_t k = n / 2;
  complex128 minus = -1e4;
  dtype_convert(dtypes[t], (char *)given + (size_t)(k * (n + 1)) * dtype_size(dtypes[t]), 0, DTYPE_COMPLEX128, &minus,
                0, 1);
  for (const char *uplo = "LU"; *uplo; uplo++) {
    void *f = room(t, n * n);
    memcpy(f, given, (size_t)(n * n) * dtype_size(dtypes[t]));
    assert_int_equal(own.potrf[t](LAPACK_COLUMNS, *uplo, (int32_t)n, f, (int32_t)n), k + 1);
    free(f);
  }
  free(g), free(a), free(given), free(b);
}
static void check_indefinite(int t, int64_t n, bool hermitian) {
  Matrix a = random_matrix(t, n, n), b = random_matrix(t, n, 2);
  for (int64_t j = 0; j < n; j++)
    for (int64_t i = 0; i <= j; i++) {
      if (i == j && n > 4) a[i + j * n] = 0; /* pivots of one row alone would not do */
      if (i == j && hermitian) a[i + j * n] = creal(a[i + j * n]);
      a[i + j * n] = i == j ? a[i + j * n] : hermitian ? conj(a[j + i * n]) : a[j + i * n];
    }
  void *f = to_type(t, n * n, a), *x = to_type(t, n * 2, b);
  int32_t *pivots = calloc((size_t)n + 1, sizeof *pivots);
  int32_t info = (hermitian ? own.hetrf : own.sytrf)[t](LAPACK_COLUMNS, 'L', (int32_t)n, f, (int32_t)n, pivots);
  if (info == 0) {
    (hermitian ? own.hetrs : own.sytrs)[t](LAPACK_COLUMNS, 'L', (int32_t)n, 2, f, (int32_t)n, pivots, x, (int32_t)n);
    Matrix solution = from_type(t, n * 2, x);
    check_solution(t, 'N', n, 2, a, solution, b, hermitian ? "a solution by LDL^H" : "a solution by LDL^T");
    free(solution);
  } else
    assert_int_equal(n, 1);
  free(a), free(b), free(f), free(x), free(pivots);
}
static void check_qr(int t, int64_t m, int64_t n, const complex128 *a) {
  int64_t least = m < n ? m : n;
  Matrix copy = new_matrix(m, n);
  memcpy(copy, a, (size_t)(m * n) * sizeof *copy);
  void *f = to_type(t, m * n, copy), *tau = room(t, least), *q = room(t, m * m);
  assert_int_equal(own.geqrf[t](LAPACK_COLUMNS, (int32_t)m, (int32_t)n, f, (int32_t)m, tau), 0);
  memcpy(q, f, (size_t)(m * least) * dtype_size(dtypes[t]));
  assert_int_equal(own.orgqr[t](LAPACK_COLUMNS, (int32_t)m, (int32_t)m, (int32_t)least, q, (int32_t)m, tau), 0);
  Matrix whole = from_type(t, m * m, q), r = from_type(t, m * n, f);
  for (int64_t j = 0; j < n; j++)
    for (int64_t i = j + 1; i < m; i++) r[i + j * m] = 0;
  Matrix back = product('C', m, n, m, whole, copy);
  check_ratio(t, distance(m, n, back, r), (double)m * norm1(m, n, copy), "QR");
  check_orthonormal(t, m, m, whole, "Q");
  for (int k = 0; k < 4; k++) {
    bool is_left = k & 1;
    char op = k & 2 ? (is_complex(t) ? 'C' : 'T') : 'N';
    int64_t rows = is_left ? m : 5, cols = is_left ? 5 : m;
    Matrix c = random_matrix(t, rows, cols);
    void *given = to_type(t, rows * cols, c);
    assert_int_equal(own.ormqr[t](LAPACK_COLUMNS, is_left ? 'L' : 'R', op, (int32_t)rows, (int32_t)cols, (int32_t)least,
                                  f, (int32_t)m, tau, given, (int32_t)rows),
                     0);
    Matrix turned = op == 'N' ? adjoint(m, m, whole) : NULL, got = from_type(t, rows * cols, given);
    /* op(Q), so that the product takes it as it is */
    Matrix by = turned ? adjoint(m, m, turned) : adjoint(m, m, whole);
    Matrix wanted = is_left ? product('N', m, cols, m, by, c) : product('N', rows, m, m, c, by);
    check_ratio(t, distance(rows, cols, got, wanted), (double)m * norm1(rows, cols, c), "a product with Q");
    free(c), free(given), free(turned), free(got), free(by), free(wanted);
  }
  free(copy), free(f), free(tau), free(q), free(whole), free(r), free(back);
}
static void check_symmetric(int t, int64_t n, const complex128 *from) {
  Matrix a = new_matrix(n, n);
  for (int64_t j = 0; j < n; j++)
    for (int64_t i = 0; i < n; i++) a[i + j * n] = (from[i + j * n] + conj(from[j + i * n])) / 2;
  free(to_type(t, n * n, a));
  for (const char *uplo = "LU"; *uplo; uplo++) {
    Matrix triangle = new_matrix(n, n);
    for (int64_t j = 0; j < n; j++)
      for (int64_t i = 0; i < n; i++)
        triangle[i + j * n] = (*uplo == 'L' ? i >= j : i <= j) ? a[i + j * n] : 77; /* what must not be read */
    void *v = to_type(t, n * n, triangle), *again = to_type(t, n * n, triangle), *w = room(t, n), *values = room(t, n);
    assert_int_equal(own.syevd[t](LAPACK_COLUMNS, 'V', *uplo, (int32_t)n, v, (int32_t)n, w), 0);
    assert_int_equal(own.syevd[t](LAPACK_COLUMNS, 'N', *uplo, (int32_t)n, again, (int32_t)n, values), 0);
    Matrix q = from_type(t, n * n, v), scaled = new_matrix(n, n);
    double *d = reals_of(t, n, w), *alone = reals_of(t, n, values), largest = 0, apart = 0;
    for (int64_t j = 0; j < n; j++) {
      assert_true(j == 0 || d[j - 1] <= d[j]);
      largest = fmax(largest, fabs(d[j]));
      apart = fmax(apart, fabs(d[j] - alone[j]));
      for (int64_t i = 0; i < n; i++) scaled[i + j * n] = q[i + j * n] * d[j];
    }
    Matrix aq = product('N', n, n, n, a, q);
    check_ratio(t, distance(n, n, aq, scaled), (double)n * norm1(n, n, a), "symmetric eigenvalues");
    check_orthonormal(t, n, n, q, "symmetric eigenvectors");
    check_ratio(t, apart, (double)n * largest, "eigenvalues alone");
    free(triangle), free(v), free(again), free(w), free(values), free(q), free(scaled), free(d), free(alone), free(aq);
  }
  free(a);
}
static void check_general(int t, int64_t n, const complex128 *from) {
  Matrix a = new_matrix(n, n);
  memcpy(a, from, (size_t)(n * n) * sizeof *a);
  void *given = to_type(t, n * n, a), *v = room(t, n * n), *w = room(t, 2 * n);
  Matrix values = NULL, vectors = NULL;
  if (is_complex(t)) {
    assert_int_equal(own.geev_complex[t](LAPACK_COLUMNS, 'N', 'V', (int32_t)n, given, (int32_t)n, w, NULL, (int32_t)n,
                                         v, (int32_t)n),
                     0);
    values = from_type(t, n, w);
    vectors = from_type(t, n * n, v);
  } else {
    void *im = (char *)w + (size_t)n * dtype_size(dtypes[t]);
    assert_int_equal(own.geev_real[t](LAPACK_COLUMNS, 'N', 'V', (int32_t)n, given, (int32_t)n, w, im, NULL, (int32_t)n,
                                      v, (int32_t)n),
                     0);
    Matrix re = from_type(t, n, w), imaginary = from_type(t, n, im), parts = from_type(t, n * n, v);
    values = new_matrix(n, 1);
    vectors = new_matrix(n, n);
    for (int64_t j = 0; j < n; j++) {
      bool pair = imaginary[j] != 0;
      values[j] = re[j] + imaginary[j] * I;
      for (int64_t i = 0; i < n; i++) {
        vectors[i + j * n] = parts[i + j * n] + (pair ? parts[i + (j + 1) * n] * I : 0);
        if (pair) vectors[i + (j + 1) * n] = conj(vectors[i + j * n]);
      }
      if (!pair) continue;
      assert_true(creal(imaginary[j]) > 0); /* first of a pair */
      values[j + 1] = conj(values[j]);
      j++;
    }
    free(re), free(imaginary), free(parts);
  }
  Matrix av = product('N', n, n, n, a, vectors);
  double norm = norm1(n, n, a);
  for (int64_t j = 0; j < n; j++) {
    double length = 0, size = 0;
    for (int64_t i = 0; i < n; i++) {
      length += creal(vectors[i + j * n] * conj(vectors[i + j * n]));
      size = fmax(size, cabs(vectors[i + j * n]));
      av[i + j * n] -= vectors[i + j * n] * values[j];
    }
    check_ratio(t, fabs(sqrt(length) - 1), (double)n, "the length of an eigenvector");
    /* n reflectors round on the way to it: their errors add up as those of a random walk do */
    check_ratio(t, norm1(n, 1, av + j * n), sqrt((double)n) * norm * norm1(n, 1, vectors + j * n), "an eigenvector");
  }
  /* their sum is that of the diagonal */
  complex128 sum = 0;
  for (int64_t i = 0; i < n; i++) sum += values[i] - a[i * (n + 1)];
  check_ratio(t, cabs(sum), (double)n * norm, "the sum of eigenvalues");
  free(a), free(given), free(v), free(w), free(values), free(vectors), free(av);
}
static void check_svd(int t, int64_t m, int64_t n, const complex128 *from) {
  int64_t least = m < n ? m : n, most = m < n ? n : m;
  Matrix a = new_matrix(m, n);
  memcpy(a, from, (size_t)(m * n) * sizeof *a);
  double *before = NULL;
  for (const char *job = "NSA"; *job; job++) {
    int64_t left = *job == 'A' ? m : least, right = *job == 'A' ? n : least;
    void *given = to_type(t, m * n, a), *s = room(t, least), *u = room(t, m * left), *vh = room(t, right * n);
    assert_int_equal(own.gesdd[t](LAPACK_COLUMNS, *job, (int32_t)m, (int32_t)n, given, (int32_t)m, s, u, (int32_t)m, vh,
                                  (int32_t)right),
                     0);
    double *values = reals_of(t, least, s), apart = 0;
    for (int64_t i = 0; i < least; i++) {
      assert_true(values[i] >= 0 && (i == 0 || values[i] <= values[i - 1]));
      if (before) apart = fmax(apart, fabs(values[i] - before[i]));
    }
    if (before) {
      check_ratio(t, apart, (double)most * values[0], "singular values alone");
      Matrix v = from_type(t, m * left, u), w = from_type(t, right * n, vh), part = new_matrix(least, n);
      Matrix wh = adjoint(right, n, w);
      check_orthonormal(t, m, left, v, "left singular vectors");
      check_orthonormal(t, n, right, wh, "right singular vectors");
      for (int64_t j = 0; j < n; j++)
        for (int64_t i = 0; i < least; i++) part[i + j * least] = values[i] * w[i + j * right];
      Matrix back = product('N', m, n, least, v, part);
      check_ratio(t, distance(m, n, back, a), (double)most * norm1(m, n, a), "singular values");
      free(v), free(w), free(part), free(wh), free(back);
    }
    free(given), free(s), free(u), free(vh), free(before);
    before = values;
  }
  free(a), free(before);
}
/* X is of least squares where A^H (B - A X) is nothing, and the shortest where X is in the span of A^H: of a matrix
 * of known rank, all drivers agree. */
static void check_least_squares(int t, int64_t m, int64_t n, int64_t rank) {
  int64_t least = m < n ? m : n, most = m < n ? n : m, columns = 2;
  Matrix left = random_matrix(t, m, rank), right = random_matrix(t, rank, n), a = product('N', m, n, rank, left, right);
  for (int64_t i = 0; i < least && rank == least; i++) a[i * (m + 1)] += 4 * (double)least; /* no nearly lost rank */
  free(to_type(t, m * n, a));
  Matrix b = random_matrix(t, m, columns), wide = new_matrix(most, columns);
  for (int64_t j = 0; j < columns; j++) memcpy(wide + j * most, b + j * m, (size_t)m * sizeof *wide);
  free(to_type(t, m * columns, b));
  double norm = norm1(m, n, a), unit = unit_of(t);
  Matrix first = NULL;
  for (int driver = rank < least; driver < 3; driver++) {
    void *given = to_type(t, m * n, a), *x = to_type(t, most * columns, wide), *s = room(t, least);
    int32_t *order = calloc((size_t)n + 1, sizeof *order), found = (int32_t)rank;
    int32_t rows = (int32_t)m, cols = (int32_t)n, sides = (int32_t)columns, ldb = (int32_t)most;
    double rcond = unit * 50 * (double)most;
    float rcond_single = (float)rcond;
    bool single = t == LAPACK_S || t == LAPACK_C;
    int32_t info =
        driver == 0   ? own.gels[t](LAPACK_COLUMNS, 'N', rows, cols, sides, given, rows, x, ldb)
        : driver == 1 ? single
                            ? own.gelsy_single[t](LAPACK_COLUMNS, rows, cols, sides, given, rows, x, ldb, order,
                                                  rcond_single, &found)
                            : own.gelsy[t](LAPACK_COLUMNS, rows, cols, sides, given, rows, x, ldb, order, rcond, &found)
        : single ? own.gelsd_single[t](LAPACK_COLUMNS, rows, cols, sides, given, rows, x, ldb, s, rcond_single, &found)
                 : own.gelsd[t](LAPACK_COLUMNS, rows, cols, sides, given, rows, x, ldb, s, rcond, &found);
    assert_int_equal(info, 0);
    assert_int_equal(found, rank);
    Matrix all = from_type(t, most * columns, x), solution = new_matrix(n, columns);
    for (int64_t j = 0; j < columns; j++) memcpy(solution + j * n, all + j * most, (size_t)n * sizeof *solution);
    Matrix ax = product('N', m, columns, n, a, solution);
    for (int64_t i = 0; i < m * columns; i++) ax[i] = b[i] - ax[i];
    Matrix along = product('C', n, columns, m, a, ax);
    double size = norm * norm1(n, columns, solution) + norm1(m, columns, b);
    check_ratio(t, norm1(n, columns, along), norm * (double)most * size, "least squares");
    if (m > n && rank == n && driver != 1) { /* what is left lies below the solution */
      for (int64_t j = 0; j < columns; j++) {
        double below = 0, left_over = 0;
        for (int64_t i = n; i < m; i++) below += creal(all[i + j * most] * conj(all[i + j * most]));
        for (int64_t i = 0; i < m; i++) left_over += creal(ax[i + j * m] * conj(ax[i + j * m]));
        check_ratio(t, fabs(sqrt(below) - sqrt(left_over)), (double)most * size, "residuals");
      }
    }
    if (first && !single) assert_true(distance(n, columns, first, solution) <= 1e-6 * (1 + norm1(n, columns, first)));
    free(given), free(x), free(s), free(order), free(all), free(ax), free(along), free(first);
    first = solution;
  }
  free(left), free(right), free(a), free(b), free(wide), free(first);
}

/* ---- which matrices ---- */
static int64_t count_of(void) {
  const char *count = getenv("WICK_LINALG_MATRICES");
  return count ? atoll(count) : 12;
}
static int64_t random_size(int64_t index, int64_t count) {
  if (index < 4) return index + 1;
  double most = index == 5 ? 300 : count > 100 ? 300 : 90;
  if (index == 5) return 130;
  return (int64_t)pow(most, fabs(uniform())) + (index % 3 == 0 ? 20 : 0);
}
typedef enum Kind { RANDOM, GRADED, NEARLY_SINGULAR, DEFICIENT, EQUAL, TINY, HUGE_, KIND_COUNT } Kind;
static Matrix matrix_of_kind(int t, Kind kind, int64_t m, int64_t n) {
  Matrix a = random_matrix(t, m, n);
  bool single = t == LAPACK_S || t == LAPACK_C;
  double span = single ? 12 : 40;
  for (int64_t j = 0; j < n; j++)
    for (int64_t i = 0; i < m; i++) {
      complex128 *x = &a[i + j * m];
      if (kind == GRADED) *x *= exp2(-span * (double)(i + j) / (double)(m + n));
      if (kind == NEARLY_SINGULAR && j > 0) *x = a[i] + *x * unit_of(t) * 4;
      if (kind == DEFICIENT && j >= n / 2) *x = a[i + (j - n / 2) * m];
      if (kind == EQUAL) *x = 1;
      if (kind == TINY) *x *= single ? 1e-32 : 1e-300;
      if (kind == HUGE_) *x *= single ? 1e34 : 1e300;
    }
  return a;
}
static void check_matrix(int t, Kind kind, int64_t m, int64_t n) {
  static char text[120];
  static const char *const names[] = {"random", "graded", "nearly singular", "deficient", "equal", "tiny", "huge"};
  snprintf(text, sizeof text, "%s, %lld x %lld", names[kind], (long long)m, (long long)n);
  what = text;
  bool is_scaled = kind == TINY || kind == HUGE_; /* sums of so large numbers are infinite */
  Matrix a = matrix_of_kind(t, kind, m, n), square = matrix_of_kind(t, kind, n, n);
  if (!is_scaled) {
    check_lu(t, n, n, square);
    check_lu(t, m, n, a);
  }
  check_qr(t, m, n, a);
  check_svd(t, m, n, a);
  check_symmetric(t, n, square);
  check_general(t, n, square);
  if (kind == RANDOM) {
    check_triangles(t, n);
    check_cholesky(t, n);
    check_indefinite(t, n, false);
    check_indefinite(t, n, true);
    int64_t least = m < n ? m : n;
    check_least_squares(t, m, n, least);
    if (least > 2) check_least_squares(t, m, n, (least + 1) / 2);
  }
  free(a), free(square);
}
static void test_random(void **state) {
  (void)state;
  for (int64_t i = 0; i < count_of(); i++)
    for (int t = 0; t < 4; t++) check_matrix(t, RANDOM, random_size(i, count_of()), random_size(i, count_of()));
}
static void test_ill_conditioned(void **state) {
  (void)state;
  int64_t count = count_of() / 5 < 2 * KIND_COUNT ? 2 * KIND_COUNT : count_of() / 5;
  for (int64_t i = 0; i < count; i++)
    for (int t = 0; t < 4; t++)
      check_matrix(t, 1 + (Kind)(i % (KIND_COUNT - 1)), random_size(9, count_of()) + 1, random_size(9, count_of()) + 1);
}
/* A result or an `info`, in time; nothing is written beyond the matrices (a sanitizer would see). */
static void test_not_numbers(void **state) {
  (void)state;
  for (int t = 0; t < 4; t++)
    for (int k = 0; k < 6; k++) {
      int32_t n = k < 3 ? 3 : 60;
      Matrix a = random_matrix(t, n, n);
      a[n * n / 2] = k % 3 == 0 ? NAN : k % 3 == 1 ? INFINITY : -INFINITY;
      a[0] = k % 3 == 0 ? NAN : 1;
      void *given[8];
      for (int i = 0; i < 8; i++) given[i] = to_type(t, n * n, a);
      void *u = room(t, n * n), *v = room(t, n * n), *w = room(t, 2 * n);
      int32_t *pivots = calloc((size_t)n, sizeof *pivots);
      own.getrf[t](LAPACK_COLUMNS, n, n, given[0], n, pivots);
      for (int32_t i = 0; i < n; i++) assert_in_range(pivots[i], i + 1, n);
      own.geqrf[t](LAPACK_COLUMNS, n, n, given[1], n, w);
      own.potrf[t](LAPACK_COLUMNS, 'L', n, given[2], n);
      own.hetrf[t](LAPACK_COLUMNS, 'L', n, given[3], n, pivots);
      for (int32_t i = 0; i < n; i++) assert_in_range(abs(pivots[i]), 1, n);
      own.syevd[t](LAPACK_COLUMNS, 'V', 'L', n, given[4], n, w);
      own.gesdd[t](LAPACK_COLUMNS, 'A', n, n, given[5], n, w, u, n, v, n);
      if (is_complex(t))
        own.geev_complex[t](LAPACK_COLUMNS, 'N', 'V', n, given[6], n, w, NULL, n, v, n);
      else
        own.geev_real[t](LAPACK_COLUMNS, 'N', 'V', n, given[6], n, w, (char *)w + (size_t)n * dtype_size(dtypes[t]),
                         NULL, n, v, n);
      own.gels[t](LAPACK_COLUMNS, 'N', n, n, n, given[7], n, u, n);
      for (int i = 0; i < 8; i++) free(given[i]);
      free(a), free(u), free(v), free(w), free(pivots);
    }
}
static void test_no_memory(void **state) {
  (void)state;
  for (int t = 0; t < 4; t++) {
    const int32_t n = 100;
    Matrix a = random_matrix(t, n, n);
    void *given = to_type(t, n * n, a), *w = room(t, n);
    mem_fail_after(1);
    assert_int_equal(own.syevd[t](LAPACK_COLUMNS, 'V', 'L', n, given, n, w), LAPACK_NO_MEMORY);
    mem_fail_after(1);
    assert_int_equal(own.geqrf[t](LAPACK_COLUMNS, n, n, given, n, w), LAPACK_NO_MEMORY);
    mem_fail_after(0);
    status_free(lapack_memory(0));
    Status status = lapack_memory(LAPACK_NO_MEMORY);
    assert_true(status != OK);
    status_free(status);
    free(a), free(given), free(w);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_random),
      cmocka_unit_test(test_ill_conditioned),
      cmocka_unit_test(test_not_numbers),
      cmocka_unit_test(test_no_memory),
  };
  return cmocka_run_group_tests(tests, setup, NULL);
}
