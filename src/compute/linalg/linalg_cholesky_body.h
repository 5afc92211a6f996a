/* Cholesky factors, by halves, and what is computed with them. What is not in the triangle is left as it is. */

/* In the triangle of n x n C alone: C -= B^H B where it is upper, B k x n; C -= B B^H where it is lower, B n x k. */
static void subtract_square(bool is_lower, Index n, Index k, const NUMBER *b, Index ldb, NUMBER *c, Index ldc) {
  enum { FEW = 16 };
  if (n > FEW) {
    Index half = n / 2, rest = n - half;
    const NUMBER *last = b + (is_lower ? half : half * ldb);
    subtract_square(is_lower, half, k, b, ldb, c, ldc);
    if (is_lower)
      multiply('N', 'C', rest, half, k, -1, last, ldb, b, ldb, c + half, ldc);
    else
      multiply('C', 'N', half, rest, k, -1, b, ldb, last, ldb, c + half * ldc, ldc);
    subtract_square(is_lower, rest, k, last, ldb, c + half * (ldc + 1), ldc);
    return;
  }
  for (Index j = 0; j < n; j++) {
    if (is_lower)
      for (Index p = 0; p < k; p++) add_scaled(n - j, -conjugate(b[j + p * ldb]), b + j + p * ldb, c + j + j * ldc);
    else
      for (Index i = 0; i <= j; i++) c[i + j * ldc] -= dot(k, b + i * ldb, b + j * ldb);
    c[j + j * ldc] = real_of(c[j + j * ldc]);
  }
}
static LapackInt factorize_positive(bool is_lower, Index n, NUMBER *a, Index lda) {
  if (n == 0) return 0;
  if (n == 1) {
    REAL pivot = real_of(*a);
    *a = pivot;
    if (!(pivot > 0)) return 1;
    *a = root(pivot);
    return 0;
  }
  Index half = n / 2, rest = n - half;
  NUMBER *beside = a + (is_lower ? half : half * lda), *last = a + half * (lda + 1);
  LapackInt info = factorize_positive(is_lower, half, a, lda);
  if (info) return info;
  if (is_lower)
    solve_triangle('R', 'L', 'C', 'N', rest, half, a, lda, beside, lda);
  else
    solve_triangle('L', 'U', 'C', 'N', half, rest, a, lda, beside, lda);
  subtract_square(is_lower, rest, half, beside, lda, last, lda);
  info = factorize_positive(is_lower, rest, last, lda);
  return info ? info + (LapackInt)half : 0;
}
static LapackInt potrf(int layout, char uplo, LapackInt n, void *a, LapackInt lda) {
  (void)layout;
  return factorize_positive(uplo == 'L', n, a, lda);
}
static LapackInt potrs(int layout, char uplo, LapackInt n, LapackInt columns, const void *a, LapackInt lda, void *b,
                       LapackInt ldb) {
  (void)layout;
  solve_triangle('L', uplo, uplo == 'L' ? 'N' : 'C', 'N', n, columns, a, lda, b, ldb);
  solve_triangle('L', uplo, uplo == 'L' ? 'C' : 'N', 'N', n, columns, a, lda, b, ldb);
  return 0;
}
/* The inverse of what `a` is the factor of: of that, the triangle alone. */
static LapackInt potri(int layout, char uplo, LapackInt n, void *matrix, LapackInt lda) {
  NUMBER *a = matrix;
  for (Index i = 0; i < n; i++)
    if (a[i * (lda + 1)] == 0) return (LapackInt)i + 1;
  Workspace space;
  NUMBER *inverse = workspace_begin(&space, (size_t)n * (size_t)n, sizeof *inverse);
  if (!inverse) return LAPACK_NO_MEMORY;
  set_zero(n, n, inverse, n);
  for (Index i = 0; i < n; i++) inverse[i * (n + 1)] = 1;
  LapackInt info = potrs(layout, uplo, n, n, a, lda, inverse, n);
  for (Index j = 0; j < n; j++)
    for (Index i = uplo == 'L' ? j : 0; i < (uplo == 'L' ? n : j + 1); i++) a[i + j * lda] = inverse[i + j * n];
  workspace_end(&space);
  return info;
}
