/* LU with partial pivoting, by halves of the columns (S. Toledo, "Locality of reference in LU decomposition with
 * partial pivoting", 1997); what is solved with it. Pivots count rows from 1. */

static void swap_rows(Index columns, NUMBER *a, Index lda, Index count, const LapackInt *pivots, bool backwards) {
  for (Index j = 0; j < columns; j++) {
    NUMBER *column = a + j * lda;
    for (Index k = 0; k < count; k++) {
      Index i = backwards ? count - 1 - k : k, with = pivots[i] - 1;
      NUMBER kept = column[i];
      column[i] = column[with];
      column[with] = kept;
    }
  }
}
/* Few columns, one by one. */
static LapackInt factorize_columns(Index m, Index n, NUMBER *a, Index lda, LapackInt *pivots) {
  LapackInt info = 0;
  for (Index k = 0; k < n && k < m; k++) {
    NUMBER *column = a + k * lda;
    Index pivot = k;
    REAL largest = size_of(column[k]);
    for (Index i = k + 1; i < m; i++)
      if (size_of(column[i]) > largest) largest = size_of(column[i]), pivot = i;
    pivots[k] = (LapackInt)pivot + 1;
    if (column[pivot] != 0) {
      if (pivot != k) swap(n, a + k, lda, a + pivot, lda);
      if (size_of(column[k]) >= LEAST)
        scale(m - k - 1, quotient(1, column[k]), column + k + 1, 1);
      else
        for (Index i = k + 1; i < m; i++) column[i] = quotient(column[i], column[k]);
    } else if (info == 0)
      info = (LapackInt)k + 1;
    for (Index j = k + 1; j < n; j++) add_scaled(m - k - 1, -a[k + j * lda], column + k + 1, a + k + 1 + j * lda);
  }
  return info;
}
static LapackInt factorize(Index m, Index n, NUMBER *a, Index lda, LapackInt *pivots) {
  enum { FEW = 8 };
  Index count = m < n ? m : n;
  if (count <= FEW) return factorize_columns(m, n, a, lda, pivots);
  Index half = count / 2, rest = n - half;
  NUMBER *right = a + half * lda, *corner = right + half;
  LapackInt info = factorize(m, half, a, lda, pivots);
  swap_rows(rest, right, lda, half, pivots, false);
  solve_triangle('L', 'L', 'N', 'U', half, rest, a, lda, right, lda);
  multiply('N', 'N', m - half, rest, half, -1, a + half, lda, right, lda, corner, lda);
  LapackInt later = factorize(m - half, rest, corner, lda, pivots + half);
  if (later && !info) info = later + (LapackInt)half;
  swap_rows(half, a + half, lda, count - half, pivots + half, false);
  for (Index i = half; i < count; i++) pivots[i] += (LapackInt)half;
  return info;
}
static LapackInt getrf(int layout, LapackInt m, LapackInt n, void *a, LapackInt lda, LapackInt *pivots) {
  (void)layout;
  return factorize(m, n, a, lda, pivots);
}
static LapackInt getrs(int layout, char op, LapackInt n, LapackInt columns, const void *a, LapackInt lda,
                       const LapackInt *pivots, void *b, LapackInt ldb) {
  (void)layout;
  if (op == 'N') {
    swap_rows(columns, b, ldb, n, pivots, false);
    solve_triangle('L', 'L', 'N', 'U', n, columns, a, lda, b, ldb);
    solve_triangle('L', 'U', 'N', 'N', n, columns, a, lda, b, ldb);
  } else {
    solve_triangle('L', 'U', op, 'N', n, columns, a, lda, b, ldb);
    solve_triangle('L', 'L', op, 'U', n, columns, a, lda, b, ldb);
    swap_rows(columns, b, ldb, n, pivots, true);
  }
  return 0;
}
