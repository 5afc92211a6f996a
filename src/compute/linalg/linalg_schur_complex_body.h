/* The Schur form of a complex matrix by single shifts (Golub & Van Loan, 7.5). What is below the diagonal is kept
 * real. */

/* Row and column `k` times phase and conj(phase), from `from` and up to `to`, and the vectors'. */
static void turn(const Schur *s, Index k, NUMBER phase, Index from, Index last, Index first, Index to) {
  if (last >= from) scale(last - from + 1, phase, &H(k, from), s->ldh);
  if (to >= first) scale(to - first + 1, conjugate(phase), &H(first, k), 1);
  if (s->z) scale(s->n, conjugate(phase), s->z + k * s->ldz, 1);
}
static void make_subdiagonal_real(const Schur *s) {
  Index first = s->wants_form ? 0 : s->low, last = s->wants_form ? s->n - 1 : s->high;
  for (Index i = s->low + 1; i <= s->high; i++) {
    NUMBER below = H(i, i - 1);
    if (imaginary_of(below) == 0) continue;
    NUMBER phase = below / size_of(below);
    phase = conjugate(phase) / absolute(phase);
    H(i, i - 1) = absolute(below);
    turn(s, i, phase, i, last, first, i + 1 < last ? i + 1 : last);
  }
}
static NUMBER square_root(NUMBER x) {
  return (NUMBER)csqrt(x);
}
/* The eigenvalue of the last two rows that is nearer to the last element. */
static NUMBER choose_shift(const Schur *s, Index begin, Index end, Index count) {
  if (count % (2 * UNUSUAL_EVERY) == 0) return H(end, end) + (REAL)0.75 * size_of_real(real_of(H(end, end - 1)));
  if (count % UNUSUAL_EVERY == 0) return H(begin, begin) + (REAL)0.75 * size_of_real(real_of(H(begin + 1, begin)));
  NUMBER last = H(end, end), u = times(square_root(H(end - 1, end)), square_root(H(end, end - 1)));
  REAL size = size_of(u);
  if (size == 0) return last;
  NUMBER x = (H(end - 1, end - 1) - last) / 2;
  REAL x_size = size_of(x);
  size = greater(size, x_size);
  NUMBER x_part = x / size, u_part = u / size, y = size * square_root(times(x_part, x_part) + times(u_part, u_part));
  if (x_size > 0) {
    NUMBER direction = x / x_size;
    if (real_of(direction) * real_of(y) + imaginary_of(direction) * imaginary_of(y) < 0) y = -y;
  }
  return last - times(u, quotient(u, x + y));
}
static Index start_step(const Schur *s, Index begin, Index end, NUMBER shift, NUMBER v[2]) {
  for (Index m = end - 1;; m--) {
    NUMBER h11 = H(m, m), shifted = h11 - shift;
    REAL below = real_of(H(m + 1, m)), size = size_of(shifted) + size_of_real(below);
    v[0] = shifted / size;
    v[1] = below / size;
    if (m == begin) return m;
    if (size_of_real(real_of(H(m, m - 1))) * size_of_real(real_of(v[1])) <=
        EPSILON * (size_of(v[0]) * (size_of(h11) + size_of(H(m + 1, m + 1)))))
      return m;
  }
}
static void single_step(const Schur *s, Index begin, Index end, NUMBER shift) {
  Index first = s->wants_form ? 0 : begin, last = s->wants_form ? s->n - 1 : end;
  NUMBER v[2];
  Index start = start_step(s, begin, end, shift, v);
  for (Index k = start; k < end; k++) {
    if (k > start) v[0] = H(k, k - 1), v[1] = H(k + 1, k - 1);
    NUMBER tau = make_reflector(2, &v[0], &v[1], 1), v2 = v[1];
    if (k > start) {
      H(k, k - 1) = v[0];
      H(k + 1, k - 1) = 0;
    }
    REAL t2 = real_of(times(tau, v2));
    for (Index j = k; j <= last; j++) {
      NUMBER *x = &H(k, j), sum = times(conjugate(tau), x[0]) + t2 * x[1];
      x[0] -= sum;
      x[1] -= times(sum, v2);
    }
    Index bottom = k + 2 < end ? k + 2 : end;
    NUMBER *x = s->h + k * s->ldh, *y = x + s->ldh;
    for (Index i = first; i <= bottom; i++) {
      NUMBER sum = times(tau, x[i]) + t2 * y[i];
      x[i] -= sum;
      y[i] -= times(sum, conjugate(v2));
    }
    for (Index i = 0; s->z && i < s->n; i++) {
      NUMBER *a = s->z + i + k * s->ldz, *b = a + s->ldz, sum = times(tau, *a) + t2 * *b;
      *a -= sum;
      *b -= times(sum, conjugate(v2));
    }
    if (k > start || start == begin) continue;
    /* a step that began in the middle has made the element before it complex */
    NUMBER phase = (NUMBER)1 - tau;
    phase = phase / absolute(phase);
    H(start + 1, start) = times(H(start + 1, start), conjugate(phase));
    if (start + 2 <= end) H(start + 2, start + 1) = times(H(start + 2, start + 1), phase);
    for (Index j = start; j <= end; j++)
      if (j != start + 1) turn(s, j, phase, j + 1, last, first, j - 1);
  }
  NUMBER below = H(end, end - 1);
  if (imaginary_of(below) == 0) return;
  REAL size = absolute(below);
  H(end, end - 1) = size;
  turn(s, end, conjugate(below / size), end + 1, last, first, end - 1);
}
static LapackInt schur_form(const Schur *s, NUMBER *w) {
  make_subdiagonal_real(s);
  for (Index end = s->high, begin; end >= s->low; end--) {
    begin = s->low;
    Index most = SCHUR_STEPS * (s->high - s->low + 1 > 10 ? s->high - s->low + 1 : 10);
    for (Index step = 0; step <= most; step++) {
      begin = block_begin_of(s, begin, end);
      if (begin > s->low) H(begin, begin - 1) = 0;
      if (begin == end) break;
      single_step(s, begin, end, choose_shift(s, begin, end, step + 1));
    }
    if (begin < end) return (LapackInt)end + 1;
  }
  for (Index i = 0; i < s->n; i++) w[i] = H(i, i);
  return 0;
}
/* Vectors of the triangle into x, n x n. */
static void triangle_vectors(const Schur *s, NUMBER *x) {
  Index n = s->n;
  REAL norm = 0;
  for (Index j = 0; j < n; j++) norm = greater(norm, largest_of(j + 1, 1, &H(0, j), 1));
  const REAL large = root(GREATEST) / (REAL)(n + 1) / greater(1, norm);
  set_zero(n, n, x, n);
  for (Index j = 0; j < n; j++) {
    NUMBER *column = x + j * n, w = H(j, j);
    const REAL least = greater(EPSILON * size_of(w), LEAST / EPSILON * (REAL)n);
    column[j] = 1;
    for (Index i = j - 1; i >= 0; i--) {
      add_scaled(i + 1, -column[i + 1], &H(0, i + 1), column);
      NUMBER divisor = H(i, i) - w;
      if (size_of(divisor) < least) divisor = least;
      column[i] = quotient(column[i], divisor);
      REAL size = size_of(column[i]);
      if (size > large) scale(n, 1 / size, column, 1); /* before it overflows */
    }
  }
}
/* Of length 1, the largest element real. */
static void normalize(Index n, NUMBER *v, Index ldv) {
  for (Index j = 0; j < n; j++) {
    NUMBER *column = v + j * ldv;
    REAL inverse = 1 / length(n, column, 1), most = -1;
    Index largest = 0;
    for (Index i = 0; i < n; i++) {
      column[i] *= inverse;
      REAL size = real_of(times(conjugate(column[i]), column[i]));
      if (size > most) most = size, largest = i;
    }
    scale(n, conjugate(column[largest]) / root(most), column, 1);
    column[largest] = real_of(column[largest]);
  }
}
static LapackInt geev_complex(int layout, char left, char right, LapackInt order, void *matrix, LapackInt lda,
                              void *values, void *left_vectors, LapackInt ldvl, void *right_vectors, LapackInt ldvr) {
  assert(left == 'N');
  (void)layout, (void)left, (void)left_vectors, (void)ldvl;
  Index n = order;
  NUMBER *a = matrix, *w = values, *v = right == 'V' ? right_vectors : NULL;
  REAL factor = safe_factor(largest_of(n, n, a, lda));
  for (Index j = 0; factor != 1 && j < n; j++) scale(n, factor, a + j * lda, 1);
  Workspace space;
  /* scales have room for n reals in as many numbers */
  NUMBER *memory = workspace_begin(&space, (size_t)(3 * n + (v ? 2 * n * n : 0)), sizeof *memory);
  if (!memory) return LAPACK_NO_MEMORY;
  NUMBER *tau = memory + n, *work = tau + n, *z = v ? work + n : NULL, *x = v ? z + n * n : NULL;
  Balance b = {n, 0, n - 1, (REAL *)(void *)memory};
  balance(&b, a, lda);
  LapackInt info = reduce_to_hessenberg(&b, a, lda, tau, z, n, work);
  Schur s = {n, b.low, b.high, v != NULL, a, lda, z, n};
  if (!info) info = schur_form(&s, w);
  if (v && !info) {
    triangle_vectors(&s, x);
    set_zero(n, n, v, ldvr);
    multiply('N', 'N', n, n, n, 1, z, n, x, n, v, ldvr);
    unbalance(&b, n, v, ldvr);
    normalize(n, v, ldvr);
  }
  for (Index i = 0; factor != 1 && i < n; i++) w[i] /= factor;
  workspace_end(&space);
  return info;
}
#undef H
