/* Singular values: to two diagonals by reflectors from both sides (Golub & Van Loan, 5.4.8), then linalg_bidiagonal.
 * Of a matrix that is much taller than wide, the triangle of its QR factorization is reduced instead. */

/* a (m x n, m >= n) becomes Q B P^H, B's diagonal in d, what is above it in e. Q's reflectors are below the diagonal
 * of a, P's in p (n x n, NULL: nobody wants them) below its first subdiagonal: H(k) of P begins at row k + 1. work
 * has m + n. */
static void reduce_to_bidiagonal(Index m, Index n, NUMBER *a, Index lda, REAL *d, REAL *e, NUMBER *tau_q, NUMBER *tau_p,
                                 NUMBER *p, NUMBER *work) {
  NUMBER *row = work + m;
  for (Index k = 0; k < n; k++) {
    NUMBER *pivot = a + k * (lda + 1);
    tau_q[k] = make_reflector(m - k, pivot, pivot + 1, 1);
    d[k] = real_of(*pivot);
    reflect_rows(m - k, n - k - 1, pivot + 1, conjugate(tau_q[k]), pivot + lda, lda);
    if (k == n - 1) break;
    Index rest = n - k - 1;
    for (Index j = 0; j < rest; j++) row[j] = conjugate(pivot[(j + 1) * lda]);
    tau_p[k] = make_reflector(rest, row, row + 1, 1);
    e[k] = real_of(row[0]);
    if (p) memcpy(p + k + 1 + k * n, row, (size_t)rest * sizeof *row);
    reflect_columns(m - k - 1, rest, row + 1, tau_p[k], pivot + 1 + lda, lda, work);
  }
}
static void set_numbers(Index n, const REAL *from, NUMBER *to, Index to_step) {
  for (Index j = 0; j < n; j++)
    for (Index i = 0; i < n; i++) to[i + j * to_step] = from[i + j * n];
}
/* a = u diag(s) v^H, m >= n; a is used up. u, m x columns (n or m), and v, n x n, both or none. `flipped`: what it
 * was made from is the adjoint, and signs are as they come out when that is reduced. */
static LapackInt factor_tall(bool flipped, Index m, Index n, NUMBER *a, Index lda, REAL *s, NUMBER *u, Index ldu,
                             Index columns, NUMBER *v, Index ldv) {
  bool is_tall = m > n && m >= (IS_COMPLEX ? 17 * n / 9 : 11 * n / 6);
  Index rows = is_tall ? n : m, square = is_tall ? n * n : 0, vectors = u ? n * n : 0;
  Workspace space;
  size_t reals = (size_t)(n + 2 * vectors), numbers = (size_t)(3 * n + rows + n + square + vectors);
  reals += reals % 2;
  char *memory = workspace_begin(&space, 1, reals * sizeof(REAL) + numbers * sizeof(NUMBER));
  if (!memory) return LAPACK_NO_MEMORY;
  REAL *e = (REAL *)memory, *left = u ? e + n : NULL, *right = u ? left + n * n : NULL;
  NUMBER *tau = (NUMBER *)(memory + reals * sizeof(REAL)), *tau_q = tau + n, *tau_p = tau_q + n, *work = tau_p + n,
         *triangle = work + rows + n, *p = u ? triangle + square : NULL, *reduced = a;
  Index step = lda;
  LapackInt info = 0;
  bool flips_triangle = flipped && is_tall;
  if (is_tall) {
    info = factor_qr(m, n, a, lda, tau);
    reduced = triangle;
    step = n;
    set_zero(n, n, triangle, n);
    for (Index j = 0; j < n; j++)
      for (Index i = 0; i <= j; i++) {
        if (flips_triangle)
          triangle[j + i * n] = conjugate(a[i + j * lda]);
        else
          triangle[i + j * n] = a[i + j * lda];
      }
  }
  if (!info) {
    reduce_to_bidiagonal(rows, n, reduced, step, s, e, tau_q, tau_p, p, work);
    bool is_lower = flipped && !is_tall;
    info = linalg_bidiagonal(n, is_lower, s, e, is_lower ? right : left, is_lower ? left : right);
  }
  if (u && !info) {
    /* where the triangle was flipped, its left vectors are v's */
    NUMBER *by_q = flips_triangle ? v : u, *by_p = flips_triangle ? u : v;
    Index q_step = flips_triangle ? ldv : ldu, p_step = flips_triangle ? ldu : ldv;
    set_zero(m, columns, u, ldu);
    for (Index i = n; i < columns; i++) u[i + i * ldu] = 1;
    set_numbers(n, left, by_q, q_step);
    set_numbers(n, right, by_p, p_step);
    Index wide = is_tall ? n : columns;
    info = apply_q(true, 'N', rows, wide, n, reduced, step, tau_q, by_q, q_step);
    if (!info && n > 1) info = apply_q(true, 'N', n - 1, n, n - 1, p + 1, n, tau_p, by_p + 1, p_step);
    if (!info && is_tall) info = apply_q(true, 'N', m, columns, n, a, lda, tau, u, ldu);
  }
  workspace_end(&space);
  return info;
}
static LapackInt gesdd(int layout, char job, LapackInt rows, LapackInt cols, void *matrix, LapackInt lda, void *s,
                       void *left, LapackInt ldu, void *right, LapackInt ldvh) {
  (void)layout;
  Index m = rows, n = cols, least = m < n ? m : n, most = m < n ? n : m;
  NUMBER *a = matrix, *u = left, *vh = right;
  bool is_wide = m < n, has_vectors = job != 'N';
  REAL largest = largest_of(m, n, a, lda), factor = safe_factor(largest);
  if (isnan(largest)) return -4;
  for (Index j = 0; factor != 1 && j < n; j++) scale(m, factor, a + j * lda, 1);
  /* the tall matrix's: its left vectors, most x columns, and its right ones, least x least */
  Index columns = job == 'A' ? most : least, flipped = is_wide ? most * least : 0;
  Workspace space;
  NUMBER *memory = workspace_begin(
      &space, (size_t)(flipped + (has_vectors ? least * least + (is_wide ? most * columns : 0) : 0)), sizeof *memory);
  if (!memory) return LAPACK_NO_MEMORY;
  NUMBER *tall = a, *short_vectors = has_vectors ? memory + flipped : NULL,
         *long_vectors = !has_vectors ? NULL
                         : is_wide    ? short_vectors + least * least
                                      : u;
  Index step = lda;
  if (is_wide) {
    copy_adjoint(m, n, a, lda, memory, n);
    tall = memory;
    step = n;
  }
  LapackInt info = factor_tall(is_wide, most, least, tall, step, s, long_vectors, is_wide ? most : ldu, columns,
                               short_vectors, least);
  if (has_vectors && !info && is_wide) {
    copy_adjoint(most, columns, long_vectors, most, vh, ldvh);
    copy_columns(least, least, short_vectors, least, u, ldu);
  } else if (has_vectors && !info)
    copy_adjoint(least, least, short_vectors, least, vh, ldvh);
  for (Index i = 0; factor != 1 && i < least; i++) ((REAL *)s)[i] /= factor;
  workspace_end(&space);
  return info;
}
