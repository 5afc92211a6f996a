/* Eigenvalues of symmetric and Hermitian matrices: to three diagonals by reflectors (Golub & Van Loan, 8.3.1), then
 * linalg_tridiagonal. */

/* The lower triangle of a becomes Q T Q^H: T's diagonal in d, what is beside it in e, the reflectors of Q below in
 * a. work has n numbers. */
static void reduce_to_tridiagonal(Index n, NUMBER *a, Index lda, REAL *d, REAL *e, NUMBER *tau, NUMBER *work) {
  for (Index i = 0; i < n; i++) a[i * (lda + 1)] = real_of(a[i * (lda + 1)]);
  for (Index k = 0; k < n - 1; k++) {
    Index rest = n - k - 1;
    NUMBER *v = a + k + 1 + k * lda, *corner = v + lda;
    NUMBER t = make_reflector(rest, v, v + 1, 1);
    e[k] = real_of(v[0]);
    v[0] = 1;
    if (t != 0) {
      /* w = t A v - (t / 2) (w^H v) v; A -= v w^H + w v^H */
      set_zero(rest, 1, work, 1);
      for (Index j = 0; j < rest; j++) {
        const NUMBER *column = corner + j + j * lda;
        work[j] += times(column[0], v[j]) + dot(rest - j - 1, column + 1, v + j + 1);
        add_scaled(rest - j - 1, v[j], column + 1, work + j + 1);
      }
      scale(rest, t, work, 1);
      add_scaled(rest, -times(t, dot(rest, work, v)) / 2, v, work);
      for (Index j = 0; j < rest; j++) {
        NUMBER *column = corner + j * lda;
        NUMBER by_work = -conjugate(work[j]), by_v = -conjugate(v[j]);
        for (Index i = j; i < rest; i++) column[i] += times(v[i], by_work) + times(work[i], by_v);
        column[j] = real_of(column[j]);
      }
    }
    v[0] = e[k];
    d[k] = real_of(a[k * (lda + 1)]);
    tau[k] = t;
  }
  if (n) d[n - 1] = real_of(a[(n - 1) * (lda + 1)]);
}
static void reverse_rows(Index rows, Index columns, NUMBER *a, Index lda) {
  for (Index j = 0; j < columns; j++)
    for (Index i = 0; i < rows / 2; i++) swap(1, a + i + j * lda, 1, a + rows - 1 - i + j * lda, 1);
}
/* Rows and columns in the opposite order: what was in the upper triangle is in the lower. */
static void reverse_both(Index n, NUMBER *a, Index lda) {
  for (Index j = 0; j < n / 2; j++) swap(n, a + j * lda, 1, a + (n - 1 - j) * lda, 1);
  reverse_rows(n, n, a, lda);
}
static void reverse_reals(Index n, REAL *x) {
  for (Index i = 0; i < n / 2; i++) swap_reals(&x[i], &x[n - 1 - i]);
}
/* By what a matrix is multiplied so that squares of its elements, and of what is small beside them, neither over- nor
 * underflow: a power of two, nearly always 1. */
static REAL safe_factor(REAL largest) {
  const REAL small = root(LEAST) / (EPSILON * EPSILON / 4), large = 1 / root(LEAST) / 4;
  if (!(largest > 0 && largest <= GREATEST) || (largest >= small && largest <= large)) return 1;
  int exponent;
  (void)frexp((double)((largest < small ? small : large) / 2) / (double)largest, &exponent);
  return (REAL)ldexp(1, exponent);
}
static LapackInt syevd(int layout, char job, char uplo, LapackInt order, void *matrix, LapackInt lda, void *values) {
  (void)layout;
  Index n = order;
  NUMBER *a = matrix;
  REAL *d = values;
  bool has_vectors = job == 'V', is_upper = uplo == 'U';
  if (is_upper) reverse_both(n, a, lda);
  REAL largest = 0;
  for (Index j = 0; j < n; j++) largest = greater(largest, largest_of(n - j, 1, a + j + j * lda, lda));
  REAL factor = safe_factor(largest);
  for (Index j = 0; factor != 1 && j < n; j++) scale(n - j, factor, a + j + j * lda, 1);
  Workspace space;
  /* reals first: z, e; then tau, work and the reflectors */
  size_t reals = (size_t)(has_vectors ? n * n : 0) + (size_t)n,
         numbers = (size_t)(2 * n) + (size_t)(has_vectors ? n * n : 0);
  reals += reals % 2;
  char *memory = workspace_begin(&space, 1, reals * sizeof(REAL) + numbers * sizeof(NUMBER));
  if (!memory) return LAPACK_NO_MEMORY;
  REAL *z = has_vectors ? (REAL *)memory : NULL, *e = (REAL *)memory + (has_vectors ? n * n : 0);
  NUMBER *tau = (NUMBER *)(memory + reals * sizeof(REAL)), *work = tau + n, *reflectors = work + n;
  reduce_to_tridiagonal(n, a, lda, d, e, tau, work);
  if (is_upper) reverse_reals(n, d), reverse_reals(n - 1, e);
  if (z) set_identity(n, z);
  LapackInt info = linalg_tridiagonal(n, d, e, z);
  for (Index i = 0; factor != 1 && i < n; i++) d[i] /= factor;
  if (has_vectors && !info) {
    copy_columns(n, n, a, lda, reflectors, n);
    for (Index j = 0; j < n; j++)
      for (Index i = 0; i < n; i++) a[i + j * lda] = z[i + j * n];
    if (is_upper) reverse_rows(n, n, a, lda);
    if (n > 1) info = apply_q(true, 'N', n - 1, n, n - 1, reflectors + 1, n, tau, a + 1, lda);
    if (is_upper) reverse_rows(n, n, a, lda);
  }
  workspace_end(&space);
  return info;
}
