/* General matrices on the way to their eigenvalues: balanced (B. Parlett & C. Reinsch, 1969, with the lengths of R.
 * James, J. Langou & B. Lowery, "On matrix balancing and eigenvector computation", 2014), then zero below the first
 * subdiagonal (Golub & Van Loan, 7.4). */

/* Which rows and columns, [low, high], are left to be done: others show their eigenvalue. scales: of each row in
 * between its factor, of the others the row that it was exchanged with. */
typedef struct Balance {
  Index n, low, high;
  REAL *scales;
} Balance;

static void exchange(const Balance *b, NUMBER *a, Index lda, Index i, Index with) {
  b->scales[with] = (REAL)i;
  if (i == with) return;
  swap(b->high + 1, a + i * lda, 1, a + with * lda, 1);
  swap(b->n - b->low, a + i + b->low * lda, lda, a + with + b->low * lda, lda);
}
static bool is_alone(const Balance *b, const NUMBER *a, Index lda, Index i, bool in_row) {
  for (Index j = b->low; j <= b->high; j++)
    if (j != i && (in_row ? a[i + j * lda] : a[j + i * lda]) != 0) return false;
  return true;
}
static void isolate(Balance *b, NUMBER *a, Index lda) {
  for (Index i = b->high; i >= b->low;) {
    if (!is_alone(b, a, lda, i, true)) {
      i--;
      continue;
    }
    exchange(b, a, lda, i, b->high);
    if (b->high == b->low) return;
    i = --b->high;
  }
  for (Index i = b->low; i <= b->high;) {
    if (!is_alone(b, a, lda, i, false)) {
      i++;
      continue;
    }
    exchange(b, a, lda, i, b->low);
    i = ++b->low;
  }
}
static void balance(Balance *b, NUMBER *a, Index lda) {
  const REAL least = LEAST / EPSILON * 2, most = 1 / least;
  isolate(b, a, lda);
  for (Index i = b->low; i <= b->high; i++) b->scales[i] = 1;
  Index count = b->high - b->low + 1;
  for (bool changed = true; changed && count > 1;) {
    changed = false;
    for (Index i = b->low; i <= b->high; i++) {
      REAL column = length(count, a + b->low + i * lda, 1), row = length(count, a + i + b->low * lda, lda);
      if (column == 0 || row == 0 || !(column + row <= GREATEST)) continue;
      REAL factor = 1, sum = column + row;
      for (; column < row / 2 && factor < most && column < most && row > least; factor *= 2) column *= 2, row /= 2;
      for (; column / 2 >= row && factor > least && column > least && row < most; factor /= 2) column /= 2, row *= 2;
      REAL scaled = b->scales[i] * factor;
      if (column + row >= (REAL)0.95 * sum || scaled < least || scaled > most) continue;
      b->scales[i] = scaled;
      changed = true;
      scale(b->n - b->low, 1 / factor, a + i + b->low * lda, lda);
      scale(b->high + 1, factor, a + i * lda, 1);
    }
  }
}
/* Rows of what belongs to the balanced matrix, as they are for the matrix itself. */
static void unbalance(const Balance *b, Index columns, NUMBER *v, Index ldv) {
  for (Index i = b->low; i <= b->high && b->low < b->high; i++) scale(columns, b->scales[i], v + i, ldv);
  for (Index i = b->low - 1; i >= 0; i--) swap(columns, v + i, ldv, v + (Index)b->scales[i], ldv);
  for (Index i = b->high + 1; i < b->n; i++) swap(columns, v + i, ldv, v + (Index)b->scales[i], ldv);
}

/* a = Q H Q^H; z, if not NULL, becomes Q. work has n. */
static LapackInt reduce_to_hessenberg(const Balance *b, NUMBER *a, Index lda, NUMBER *tau, NUMBER *z, Index ldz,
                                      NUMBER *work) {
  Index n = b->n, rows = b->high + 1;
  for (Index k = b->low; k < b->high; k++) {
    NUMBER *v = a + k + 1 + k * lda;
    Index count = rows - k - 1;
    tau[k] = make_reflector(count, v, v + 1, 1);
    reflect_columns(rows, count, v + 1, tau[k], a + (k + 1) * lda, lda, work);
    reflect_rows(count, n - k - 1, v + 1, conjugate(tau[k]), v + lda, lda);
  }
  LapackInt info = 0;
  Index count = b->high - b->low;
  if (z) {
    set_zero(n, n, z, ldz);
    for (Index i = 0; i < n; i++) z[i * (ldz + 1)] = 1;
    NUMBER *corner = z + (b->low + 1) * (ldz + 1);
    copy_columns(count, count, a + b->low + 1 + b->low * lda, lda, corner, ldz);
    info = form_q(count, count, count, corner, ldz, tau + b->low);
  }
  for (Index j = 0; j < n; j++)
    for (Index i = j + 2; i < n; i++) a[i + j * lda] = 0;
  return info;
}
