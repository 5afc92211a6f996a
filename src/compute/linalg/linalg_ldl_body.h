/* Symmetric and Hermitian indefinite matrices: L D L^T and L D L^H of the lower triangle, with blocks of one or two
 * rows in D (J. R. Bunch & L. Kaufman, "Some stable methods for calculating inertia and solving symmetric linear
 * systems", Math. Comp. 31, 1977). Two rows of one block have the same negative pivot. */

static NUMBER mirrored(bool is_hermitian, NUMBER x) {
  return is_hermitian ? conjugate(x) : x;
}
static void make_real(bool is_hermitian, NUMBER *x) {
  if (is_hermitian) *x = real_of(*x);
}
static void swap_symmetrically(bool is_hermitian, Index n, NUMBER *a, Index lda, Index i, Index with) {
  swap(n - with - 1, a + with + 1 + i * lda, 1, a + with + 1 + with * lda, 1);
  for (Index j = i + 1; j < with; j++) {
    NUMBER *below = &a[j + i * lda], *beside = &a[with + j * lda], kept = *below;
    *below = mirrored(is_hermitian, *beside);
    *beside = mirrored(is_hermitian, kept);
  }
  a[with + i * lda] = mirrored(is_hermitian, a[with + i * lda]);
  swap(1, &a[i * (lda + 1)], 1, &a[with * (lda + 1)], 1);
}
/* Which row comes to k, or to k + 1 when a block of two does best. */
static Index choose_pivot(bool is_hermitian, Index n, const NUMBER *a, Index lda, Index k, bool *out_is_pair,
                          bool *out_is_zero) {
  const REAL alpha = (REAL)0.6403882032022076; /* (1 + sqrt 17) / 8 bounds growth best */
  REAL diagonal = is_hermitian ? size_of_real(real_of(a[k * (lda + 1)])) : size_of(a[k * (lda + 1)]), column = 0;
  Index largest = k;
  for (Index i = k + 1; i < n; i++)
    if (size_of(a[i + k * lda]) > column) column = size_of(a[i + k * lda]), largest = i;
  *out_is_pair = false;
  *out_is_zero = isnan(diagonal) || greater(diagonal, column) == 0;
  if (*out_is_zero || diagonal >= alpha * column) return k;
  REAL row = 0;
  for (Index j = k; j < largest; j++) row = greater(row, size_of(a[largest + j * lda]));
  for (Index i = largest + 1; i < n; i++) row = greater(row, size_of(a[i + largest * lda]));
  if (diagonal >= alpha * column * (column / row)) return k;
  NUMBER other = a[largest * (lda + 1)];
  if ((is_hermitian ? size_of_real(real_of(other)) : size_of(other)) >= alpha * row) return largest;
  *out_is_pair = true;
  return largest;
}
static void eliminate_one(bool is_hermitian, Index n, NUMBER *a, Index lda, Index k) {
  NUMBER *column = a + k * lda, inverse = quotient(1, column[k]);
  make_real(is_hermitian, &inverse);
  for (Index j = k + 1; j < n; j++) {
    add_scaled(n - j, -times(inverse, mirrored(is_hermitian, column[j])), column + j, a + j + j * lda);
    make_real(is_hermitian, &a[j * (lda + 1)]);
  }
  scale(n - k - 1, inverse, column + k + 1, 1);
}
static void eliminate_two(bool is_hermitian, Index n, NUMBER *a, Index lda, Index k) {
  NUMBER *first = a + k * lda, *second = first + lda, beside = first[k + 1];
  /* divided by what is beside, so that nothing overflows */
  NUMBER d11 = quotient(second[k + 1], beside), d22 = quotient(first[k], mirrored(is_hermitian, beside));
  NUMBER inverse = quotient(1, times(d11, d22) - 1);
  for (Index j = k + 2; j < n; j++) {
    NUMBER x = times(inverse, quotient(times(d11, first[j]) - second[j], mirrored(is_hermitian, beside)));
    NUMBER y = times(inverse, quotient(times(d22, second[j]) - first[j], beside));
    add_scaled(n - j, -mirrored(is_hermitian, x), first + j, a + j + j * lda);
    add_scaled(n - j, -mirrored(is_hermitian, y), second + j, a + j + j * lda);
    first[j] = x;
    second[j] = y;
    make_real(is_hermitian, &a[j * (lda + 1)]);
  }
}
static LapackInt factorize_indefinite(bool is_hermitian, Index n, NUMBER *a, Index lda, LapackInt *pivots) {
  LapackInt info = 0;
  for (Index k = 0; k < n;) {
    bool is_pair, is_zero;
    Index pivot = choose_pivot(is_hermitian, n, a, lda, k, &is_pair, &is_zero), row = k + is_pair;
    make_real(is_hermitian, &a[k * (lda + 1)]);
    if (is_zero) {
      if (!info) info = (LapackInt)k + 1;
      pivots[k++] = (LapackInt)pivot + 1;
      continue;
    }
    if (pivot != row) {
      swap_symmetrically(is_hermitian, n, a, lda, row, pivot);
      if (is_pair) swap(1, &a[row + k * lda], 1, &a[pivot + k * lda], 1);
    }
    make_real(is_hermitian, &a[row * (lda + 1)]);
    if (is_pair) {
      eliminate_two(is_hermitian, n, a, lda, k);
      pivots[k] = pivots[k + 1] = -(LapackInt)(pivot + 1);
    } else {
      eliminate_one(is_hermitian, n, a, lda, k);
      pivots[k] = (LapackInt)pivot + 1;
    }
    k += 1 + is_pair;
  }
  return info;
}
/* Through L and D downwards, then through L^T or L^H upwards. */
static void solve_indefinite(bool is_hermitian, Index n, Index columns, const NUMBER *a, Index lda,
                             const LapackInt *pivots, NUMBER *b, Index ldb) {
  for (Index k = 0; k < n;) {
    bool is_pair = pivots[k] < 0;
    Index row = k + is_pair, pivot = (is_pair ? -(Index)pivots[row] : pivots[row]) - 1, next = row + 1;
    if (pivot != row) swap(columns, b + row, ldb, b + pivot, ldb);
    const NUMBER *first = a + k * lda, *second = first + lda;
    for (Index j = 0; j < columns; j++) {
      NUMBER *x = b + j * ldb;
      add_scaled(n - next, -x[k], first + next, x + next);
      if (!is_pair) {
        x[k] = quotient(x[k], first[k]);
        continue;
      }
      add_scaled(n - next, -x[k + 1], second + next, x + next);
      NUMBER beside = first[k + 1], across = mirrored(is_hermitian, beside);
      NUMBER d11 = quotient(first[k], across), d22 = quotient(second[k + 1], beside);
      NUMBER divisor = times(d11, d22) - 1, upper = quotient(x[k], across), lower = quotient(x[k + 1], beside);
      x[k] = quotient(times(d22, upper) - lower, divisor);
      x[k + 1] = quotient(times(d11, lower) - upper, divisor);
    }
    k = next;
  }
  for (Index k = n - 1; k >= 0;) {
    bool is_pair = pivots[k] < 0;
    Index row = k, pivot = (is_pair ? -(Index)pivots[row] : pivots[row]) - 1, next = row + 1;
    for (Index i = k - is_pair; i <= k; i++)
      for (Index j = 0; j < columns; j++) {
        NUMBER sum = 0;
        for (Index r = next; r < n; r++) sum += times(mirrored(is_hermitian, a[r + i * lda]), b[r + j * ldb]);
        b[i + j * ldb] -= sum;
      }
    if (pivot != row) swap(columns, b + row, ldb, b + pivot, ldb);
    k -= 1 + is_pair;
  }
}
static LapackInt sytrf(int layout, char uplo, LapackInt n, void *a, LapackInt lda, LapackInt *pivots) {
  assert(uplo == 'L');
  (void)layout, (void)uplo;
  return factorize_indefinite(false, n, a, lda, pivots);
}
static LapackInt hetrf(int layout, char uplo, LapackInt n, void *a, LapackInt lda, LapackInt *pivots) {
  assert(uplo == 'L');
  (void)layout, (void)uplo;
  return factorize_indefinite(IS_COMPLEX, n, a, lda, pivots);
}
static LapackInt sytrs(int layout, char uplo, LapackInt n, LapackInt columns, const void *a, LapackInt lda,
                       const LapackInt *pivots, void *b, LapackInt ldb) {
  assert(uplo == 'L');
  (void)layout, (void)uplo;
  solve_indefinite(false, n, columns, a, lda, pivots, b, ldb);
  return 0;
}
static LapackInt hetrs(int layout, char uplo, LapackInt n, LapackInt columns, const void *a, LapackInt lda,
                       const LapackInt *pivots, void *b, LapackInt ldb) {
  assert(uplo == 'L');
  (void)layout, (void)uplo;
  solve_indefinite(IS_COMPLEX, n, columns, a, lda, pivots, b, ldb);
  return 0;
}
