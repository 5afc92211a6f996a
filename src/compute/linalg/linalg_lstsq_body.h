/* Least squares: by QR of a matrix of full rank, by QR with column pivoting, by singular values. */

/* Y of R^H Y = B (k unknowns), then B (n rows) = Q [Y; 0]: the shortest solution of [R^H 0] Q^H X = B. */
static LapackInt shortest(Index n, Index k, Index columns, const NUMBER *a, Index lda, const NUMBER *tau, NUMBER *b,
                          Index ldb) {
  solve_triangle('L', 'U', 'C', 'N', k, columns, a, lda, b, ldb);
  set_zero(n - k, columns, b + k, ldb);
  return apply_q(true, 'N', n, columns, k, a, lda, tau, b, ldb);
}
static LapackInt zero_on_diagonal(Index n, const NUMBER *a, Index lda) {
  for (Index i = 0; i < n; i++)
    if (a[i * (lda + 1)] == 0) return (LapackInt)i + 1;
  return 0;
}
static LapackInt gels(int layout, char op, LapackInt rows, LapackInt cols, LapackInt columns, void *matrix,
                      LapackInt lda, void *sides, LapackInt ldb) {
  assert(op == 'N');
  (void)layout, (void)op;
  Index m = rows, n = cols;
  NUMBER *a = matrix, *b = sides;
  if (largest_of(m, n, a, lda) == 0) {
    set_zero(m > n ? m : n, columns, b, ldb);
    return 0;
  }
  Workspace space;
  NUMBER *tau = workspace_begin(&space, (size_t)(m < n ? m + m * n : n), sizeof *tau), *wide = tau + m;
  if (!tau) return LAPACK_NO_MEMORY;
  LapackInt info;
  if (m >= n) {
    info = factor_qr(m, n, a, lda, tau);
    if (!info) info = apply_q(true, 'C', m, columns, n, a, lda, tau, b, ldb);
    if (!info) info = zero_on_diagonal(n, a, lda);
    if (!info) solve_triangle('L', 'U', 'N', 'N', n, columns, a, lda, b, ldb);
  } else {
    copy_adjoint(m, n, a, lda, wide, n);
    info = factor_qr(n, m, wide, n, tau);
    if (!info) info = zero_on_diagonal(m, wide, n);
    if (!info) info = shortest(n, m, columns, wide, n, tau, b, ldb);
  }
  workspace_end(&space);
  return info;
}

/* QR with the longest remaining column next (P. Businger & G. Golub, 1965). Lengths are updated, and taken anew where
 * cancellation has eaten them. lengths has 2 n. */
static void factor_pivoted(Index m, Index n, NUMBER *a, Index lda, LapackInt *order, NUMBER *tau, REAL *lengths) {
  REAL *taken = lengths + n;
  const REAL limit = root(EPSILON / 2);
  for (Index j = 0; j < n; j++) {
    order[j] = (LapackInt)j + 1;
    lengths[j] = taken[j] = length(m, a + j * lda, 1);
  }
  for (Index k = 0; k < n && k < m; k++) {
    Index longest = k;
    for (Index j = k + 1; j < n; j++)
      if (lengths[j] > lengths[longest]) longest = j;
    if (longest != k) {
      swap(m, a + k * lda, 1, a + longest * lda, 1);
      LapackInt kept = order[k];
      order[k] = order[longest];
      order[longest] = kept;
      lengths[longest] = lengths[k];
      taken[longest] = taken[k];
    }
    NUMBER *pivot = a + k * (lda + 1);
    tau[k] = make_reflector(m - k, pivot, pivot + 1, 1);
    reflect_rows(m - k, n - k - 1, pivot + 1, conjugate(tau[k]), pivot + lda, lda);
    for (Index j = k + 1; j < n; j++) {
      if (lengths[j] == 0) continue;
      REAL part = absolute(a[k + j * lda]) / lengths[j], rest = greater(0, (1 + part) * (1 - part));
      REAL ratio = lengths[j] / taken[j];
      if (rest * ratio * ratio <= limit)
        lengths[j] = taken[j] = length(m - k - 1, a + k + 1 + j * lda, 1);
      else
        lengths[j] *= root(rest);
    }
  }
}
/* An estimate of the largest or least singular value of a triangle that grows by a column, from the vector that gave
 * the one before (C. Bischof, "Incremental condition estimation", SIAM J. Matrix Anal. Appl. 11, 1990). */
typedef struct Estimate {
  REAL value;
  NUMBER *vector;
} Estimate;
/* The extreme singular value of [value 0; conj(along) conj(corner)], and its right vector (s, c). */
static REAL extend(const Estimate *e, bool is_largest, NUMBER along, NUMBER corner, NUMBER *out_s, NUMBER *out_c) {
  REAL factor = greater(e->value, greater(absolute(along), absolute(corner)));
  if (factor == 0) {
    *out_s = is_largest ? 0 : 1;
    *out_c = is_largest ? 1 : 0;
    return 0;
  }
  REAL value = e->value / factor, x = absolute(along) / factor, y = absolute(corner) / factor;
  /* [first across; conj(across) second] has its square */
  REAL first = value * value + x * x, second = y * y, determinant = value * y;
  NUMBER across = times(along / factor, conjugate(corner) / factor);
  REAL large = (first + second) / 2 + length_of((first - second) / 2, x * y);
  REAL square = is_largest ? large : determinant / large * determinant;
  /* of its two equations the one with the larger coefficients */
  NUMBER s = across, c = square - first;
  if (size_of_real(square - second) > size_of_real(square - first)) s = square - second, c = conjugate(across);
  REAL norm = length_of(absolute(s), absolute(c));
  if (norm == 0) {
    s = is_largest ? 1 : 0;
    c = is_largest ? 0 : 1;
    norm = 1;
  }
  *out_s = s / norm;
  *out_c = c / norm;
  return root(square) * factor;
}
static Index estimate_rank(Index least, const NUMBER *a, Index lda, REAL rcond, NUMBER *work) {
  Estimate top = {absolute(a[0]), work}, bottom = {absolute(a[0]), work + least};
  if (top.value == 0) return 0;
  top.vector[0] = bottom.vector[0] = 1;
  Index rank = 1;
  for (; rank < least; rank++) {
    const NUMBER *column = a + rank * lda;
    NUMBER s_top, c_top, s_bottom, c_bottom;
    REAL largest = extend(&top, true, dot(rank, top.vector, column), column[rank], &s_top, &c_top);
    REAL smallest = extend(&bottom, false, dot(rank, bottom.vector, column), column[rank], &s_bottom, &c_bottom);
    if (!(largest * rcond <= smallest)) break;
    scale(rank, s_top, top.vector, 1);
    scale(rank, s_bottom, bottom.vector, 1);
    top.vector[rank] = c_top, bottom.vector[rank] = c_bottom;
    top.value = largest, bottom.value = smallest;
  }
  return rank;
}
static LapackInt gelsy(int layout, LapackInt rows, LapackInt cols, LapackInt columns, void *matrix, LapackInt lda,
                       void *sides, LapackInt ldb, LapackInt *order, REAL rcond, LapackInt *out_rank) {
  (void)layout;
  Index m = rows, n = cols, least = m < n ? m : n;
  NUMBER *a = matrix, *b = sides;
  *out_rank = 0;
  REAL largest = largest_of(m, n, a, lda);
  if (largest == 0) {
    set_zero(m > n ? m : n, columns, b, ldb);
    return 0;
  }
  REAL factor = safe_factor(largest);
  for (Index j = 0; factor != 1 && j < n; j++) scale(m, factor, a + j * lda, 1);
  Workspace space;
  size_t numbers =
      (size_t)(2 * least + n + least * n) + (size_t)n; /* two tau, the vectors, the wide triangle, lengths */
  NUMBER *tau = workspace_begin(&space, numbers + (size_t)least, sizeof *tau);
  if (!tau) return LAPACK_NO_MEMORY;
  NUMBER *wide_tau = tau + least, *work = wide_tau + least, *wide = work + 2 * n;
  factor_pivoted(m, n, a, lda, order, tau, (REAL *)(void *)work);
  Index rank = estimate_rank(least, a, lda, rcond, work);
  LapackInt info = apply_q(true, 'C', m, columns, least, a, lda, tau, b, ldb);
  if (!info && rank == n)
    solve_triangle('L', 'U', 'N', 'N', n, columns, a, lda, b, ldb);
  else if (!info) {
    set_zero(n, rank, wide, n);
    for (Index j = 0; j < n; j++)
      for (Index i = 0; i < rank && i <= j; i++) wide[j + i * n] = conjugate(a[i + j * lda]);
    info = factor_qr(n, rank, wide, n, wide_tau);
    if (!info) info = shortest(n, rank, columns, wide, n, wide_tau, b, ldb);
  }
  /* x in the order that the columns had */
  for (Index j = 0; j < columns && !info; j++) {
    for (Index i = 0; i < n; i++) work[order[i] - 1] = b[i + j * ldb];
    memcpy(b + j * ldb, work, (size_t)n * sizeof *work);
  }
  for (Index j = 0; j < columns && factor != 1; j++) scale(n, factor, b + j * ldb, 1);
  workspace_end(&space);
  *out_rank = (LapackInt)rank;
  return info;
}

/* Through the singular values of the triangle; rows of b beyond the n unknowns keep what is left of the sides. */
static LapackInt solve_by_values(Index m, Index n, Index columns, NUMBER *a, Index lda, NUMBER *b, Index ldb, REAL *s,
                                 REAL rcond, LapackInt *out_rank) {
  Index least = m < n ? m : n;
  bool is_wide = m < n;
  Workspace space;
  NUMBER *tau = workspace_begin(&space, (size_t)(least + 3 * least * least + (is_wide ? m * n : 0) + least * columns),
                                sizeof *tau);
  if (!tau) return LAPACK_NO_MEMORY;
  NUMBER *square = tau + least, *u = square + least * least, *v = u + least * least, *by_u = v + least * least,
         *wide = by_u + least * columns, *q = is_wide ? wide : a;
  Index q_step = is_wide ? n : lda;
  if (is_wide) copy_adjoint(m, n, a, lda, wide, n);
  LapackInt info = factor_qr(is_wide ? n : m, least, q, q_step, tau);
  if (!info && !is_wide) info = apply_q(true, 'C', m, columns, n, a, lda, tau, b, ldb);
  set_zero(least, least, square, least);
  for (Index j = 0; j < least; j++)
    for (Index i = 0; i <= j; i++) {
      if (is_wide)
        square[j + i * least] = conjugate(q[i + j * q_step]);
      else
        square[i + j * least] = q[i + j * q_step];
    }
  if (!info) info = factor_tall(false, least, least, square, least, s, u, least, least, v, least);
  if (!info) {
    REAL limit = (rcond >= 0 ? rcond : EPSILON / 2) * s[0];
    Index rank = 0;
    set_zero(least * columns, 1, by_u, 1);
    multiply('C', 'N', least, columns, least, 1, u, least, b, ldb, by_u, least);
    for (Index i = 0; i < least; i++) {
      bool counts = s[i] > limit;
      rank += counts;
      for (Index j = 0; j < columns; j++) by_u[i + j * least] = counts ? by_u[i + j * least] / s[i] : (NUMBER)0;
    }
    set_zero(is_wide ? n : least, columns, b, ldb);
    multiply('N', 'N', least, columns, least, 1, v, least, by_u, least, b, ldb);
    if (is_wide) info = apply_q(true, 'N', n, columns, least, q, q_step, tau, b, ldb);
    *out_rank = (LapackInt)rank;
  }
  workspace_end(&space);
  return info;
}
static LapackInt gelsd(int layout, LapackInt rows, LapackInt cols, LapackInt columns, void *matrix, LapackInt lda,
                       void *b, LapackInt ldb, void *s, REAL rcond, LapackInt *out_rank) {
  (void)layout;
  Index m = rows, n = cols;
  NUMBER *a = matrix;
  REAL largest = largest_of(m, n, a, lda);
  *out_rank = 0;
  if (largest == 0) {
    set_zero(m > n ? m : n, columns, b, ldb);
    memset(s, 0, (size_t)(m < n ? m : n) * sizeof(REAL));
    return 0;
  }
  REAL factor = safe_factor(largest);
  for (Index j = 0; factor != 1 && j < n; j++) scale(m, factor, a + j * lda, 1);
  LapackInt info = solve_by_values(m, n, columns, a, lda, b, ldb, s, rcond, out_rank);
  for (Index i = 0; factor != 1 && i < (m < n ? m : n); i++) ((REAL *)s)[i] /= factor;
  for (Index j = 0; factor != 1 && j < columns; j++) scale(n, factor, (NUMBER *)b + j * ldb, 1);
  return info;
}
