/* Columns: sums, lengths, and reflectors (Golub & Van Loan, 5.1). */

/* y += a x */
static void add_scaled(Index n, NUMBER a, const NUMBER *restrict x, NUMBER *restrict y) {
  for (Index i = 0; i < n; i++) y[i] += times(a, x[i]);
}
/* The sum of conj(x) y. */
static NUMBER dot(Index n, const NUMBER *x, const NUMBER *y) {
  enum { SUMS = 8 }; /* independent, so that they go into vectors */
  NUMBER sums[SUMS] = {0}, sum = 0;
  Index i = 0;
  for (; i + SUMS <= n; i += SUMS)
    for (int k = 0; k < SUMS; k++) sums[k] += times(conjugate(x[i + k]), y[i + k]);
  for (; i < n; i++) sum += times(conjugate(x[i]), y[i]);
  for (int k = 0; k < SUMS; k++) sum += sums[k];
  return sum;
}
static void scale(Index n, NUMBER a, NUMBER *x, Index step) {
  for (Index i = 0; i < n; i++) x[i * step] = times(a, x[i * step]);
}
static void swap(Index n, NUMBER *x, Index x_step, NUMBER *y, Index y_step) {
  for (Index i = 0; i < n; i++) {
    NUMBER kept = x[i * x_step];
    x[i * x_step] = y[i * y_step];
    y[i * y_step] = kept;
  }
}
static void set_zero(Index rows, Index columns, NUMBER *a, Index lda) {
  for (Index j = 0; j < columns; j++) memset(a + j * lda, 0, (size_t)rows * sizeof *a);
}
static void copy_columns(Index rows, Index columns, const NUMBER *from, Index from_step, NUMBER *to, Index to_step) {
  for (Index j = 0; j < columns; j++) memcpy(to + j * to_step, from + j * from_step, (size_t)rows * sizeof *to);
}
/* to (columns x rows) = from^H */
static void copy_adjoint(Index rows, Index columns, const NUMBER *from, Index from_step, NUMBER *to, Index to_step) {
  for (Index j = 0; j < columns; j++)
    for (Index i = 0; i < rows; i++) to[j + i * to_step] = conjugate(from[i + j * from_step]);
}
/* The largest of all sizes of parts; NaN where there is one. */
static REAL largest_of(Index rows, Index columns, const NUMBER *a, Index lda) {
  REAL largest = 0;
  for (Index j = 0; j < columns; j++)
    for (Index i = 0; i < rows; i++) {
      REAL size = size_of(a[i + j * lda]);
      if (!(size <= largest)) largest = size;
      if (isnan(size)) return size;
    }
  return largest;
}
/* The Euclidean length. Squares that over- or underflow are taken of what is divided by the largest. */
static REAL length(Index n, const NUMBER *x, Index step) {
  double sum = 0;
  for (Index i = 0; i < n; i++) {
    double size = (double)real_of(x[i * step]);
    sum += size * size;
#if IS_COMPLEX
    size = (double)imaginary_of(x[i * step]);
    sum += size * size;
#endif
  }
  if (!IS_DOUBLE || (sum > DBL_MIN / DBL_EPSILON / DBL_EPSILON && sum <= DBL_MAX)) return (REAL)sqrt(sum);
  REAL largest = 0;
  for (Index i = 0; i < n; i++) {
    REAL size = size_of(x[i * step]);
    if (isnan(size)) return size;
    largest = greater(largest, size);
  }
  if (largest == 0 || isinf(largest)) return largest;
  sum = 0;
  for (Index i = 0; i < n; i++) {
    double size = (double)(absolute(x[i * step]) / largest);
    sum += size * size;
  }
  return (REAL)((double)largest * sqrt(sum));
}

/* H = 1 - tau v v^H with H^H (alpha, x) = (beta, 0), beta real, v = (1, x afterwards). n counts alpha. Gives tau;
 * alpha becomes beta. */
static NUMBER make_reflector(Index n, NUMBER *alpha, NUMBER *x, Index step) {
  REAL rest = n > 1 ? length(n - 1, x, step) : 0, re = real_of(*alpha);
#if IS_COMPLEX
  REAL im = imaginary_of(*alpha);
  if (rest == 0 && im == 0) return 0;
  REAL beta = -with_sign(length_of(length_of(re, im), rest), re);
#else
  if (rest == 0) return 0;
  REAL beta = -with_sign(length_of(re, rest), re);
#endif
  const REAL small = LEAST / (EPSILON / 2);
  int times_grown = 0;
  while (size_of_real(beta) < small && times_grown < 20) {
    scale(n - 1, 1 / small, x, step);
    *alpha /= small;
    beta /= small;
    times_grown++;
  }
  if (times_grown) {
    rest = length(n - 1, x, step);
    re = real_of(*alpha);
#if IS_COMPLEX
    im = imaginary_of(*alpha);
    beta = -with_sign(length_of(length_of(re, im), rest), re);
#else
    beta = -with_sign(length_of(re, rest), re);
#endif
  }
#if IS_COMPLEX
  NUMBER tau = number_of((beta - re) / beta, -im / beta);
#else
  NUMBER tau = (beta - re) / beta;
#endif
  scale(n - 1, quotient(1, *alpha - beta), x, step);
  for (int k = 0; k < times_grown; k++) beta *= small;
  *alpha = beta;
  return tau;
}
/* C = (1 - tau v v^H) C, v = (1, rest), of m rows. */
static void reflect_rows(Index m, Index n, const NUMBER *rest, NUMBER tau, NUMBER *c, Index ldc) {
  if (tau == 0 || m == 0) return;
  for (Index j = 0; j < n; j++) {
    NUMBER *column = c + j * ldc, along = times(tau, column[0] + dot(m - 1, rest, column + 1));
    column[0] -= along;
    add_scaled(m - 1, -along, rest, column + 1);
  }
}
/* C = C (1 - tau v v^H), v = (1, rest), of n columns; m numbers of work. */
static void reflect_columns(Index m, Index n, const NUMBER *rest, NUMBER tau, NUMBER *c, Index ldc, NUMBER *work) {
  if (tau == 0 || n == 0) return;
  memcpy(work, c, (size_t)m * sizeof *work);
  for (Index j = 1; j < n; j++) add_scaled(m, rest[j - 1], c + j * ldc, work);
  add_scaled(m, -tau, work, c);
  for (Index j = 1; j < n; j++) add_scaled(m, -times(tau, conjugate(rest[j - 1])), work, c + j * ldc);
}
