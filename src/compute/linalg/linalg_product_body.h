/* Products and triangular systems. Letters as BLAS has them: op is 'N', 'T' or 'C' (adjoint). */

enum { SMALL_PRODUCT = 16 * 16 * 16 };
static const Work serial = {.threads = 1};

static NUMBER element(char op, const NUMBER *a, Index lda, Index i, Index j) {
  return op == 'N' ? a[i + j * lda] : op == 'T' ? a[j + i * lda] : conjugate(a[j + i * lda]);
}
static void multiply_plainly(char op_a, char op_b, Index m, Index n, Index k, REAL alpha, const NUMBER *a, Index lda,
                             const NUMBER *b, Index ldb, NUMBER *c, Index ldc) {
  for (Index j = 0; j < n; j++)
    for (Index p = 0; p < k && op_a == 'N'; p++)
      add_scaled(m, alpha * element(op_b, b, ldb, p, j), a + p * lda, c + j * ldc);
  for (Index j = 0; j < n && op_a != 'N'; j++)
    for (Index i = 0; i < m; i++) {
      NUMBER sum = 0;
      if (op_a == 'C' && op_b == 'N')
        sum = dot(k, a + i * lda, b + j * ldb);
      else
        for (Index p = 0; p < k; p++) sum += times(element(op_a, a, lda, i, p), element(op_b, b, ldb, p, j));
      c[i + j * ldc] += alpha * sum;
    }
}
#if IS_COMPLEX
/* Real and imaginary parts of op(a), each rows x columns. */
static void split_parts(char op, Index rows, Index columns, const NUMBER *a, Index lda, REAL *re, REAL *im) {
  for (Index j = 0; j < columns; j++)
    for (Index i = 0; i < rows; i++) {
      NUMBER x = element(op, a, lda, i, j);
      re[i + j * rows] = real_of(x);
      im[i + j * rows] = imaginary_of(x);
    }
}
static Status multiply_parts(Index m, Index n, Index k, double alpha, const REAL *a, const REAL *b, REAL *c,
                             bool accumulate) {
  return gemm(&serial, REAL_DTYPE, n, m, k, alpha, (GemmMatrix){b, k, 1}, (GemmMatrix){a, m, 1}, c, m, accumulate);
}
static Status multiply_blocked(char op_a, char op_b, Index m, Index n, Index k, REAL alpha, const NUMBER *a, Index lda,
                               const NUMBER *b, Index ldb, NUMBER *c, Index ldc) {
  size_t cells = (size_t)(m * k + k * n + m * n);
  REAL *parts = mem_alloc(2 * cells * sizeof *parts);
  if (!parts) return status_out_of_memory();
  REAL *a_re = parts, *a_im = a_re + m * k, *b_re = a_im + m * k, *b_im = b_re + k * n, *c_re = b_im + k * n,
       *c_im = c_re + m * n;
  split_parts(op_a, m, k, a, lda, a_re, a_im);
  split_parts(op_b, k, n, b, ldb, b_re, b_im);
  Status status;
  TRY_GOTO(multiply_parts(m, n, k, 1, a_re, b_re, c_re, false), done);
  TRY_GOTO(multiply_parts(m, n, k, -1, a_im, b_im, c_re, true), done);
  TRY_GOTO(multiply_parts(m, n, k, 1, a_re, b_im, c_im, false), done);
  TRY_GOTO(multiply_parts(m, n, k, 1, a_im, b_re, c_im, true), done);
  for (Index j = 0; j < n; j++)
    for (Index i = 0; i < m; i++) c[i + j * ldc] += alpha * number_of(c_re[i + j * m], c_im[i + j * m]);
done:
  mem_free(parts);
  return status;
}
#else
static Status multiply_blocked(char op_a, char op_b, Index m, Index n, Index k, REAL alpha, const NUMBER *a, Index lda,
                               const NUMBER *b, Index ldb, NUMBER *c, Index ldc) {
  /* gemm has rows: it computes C^T = op(B)^T op(A)^T */
  GemmMatrix left = {b, op_b == 'N' ? ldb : 1, op_b == 'N' ? 1 : ldb},
             right = {a, op_a == 'N' ? lda : 1, op_a == 'N' ? 1 : lda};
  return gemm(&serial, REAL_DTYPE, n, m, k, (double)alpha, left, right, c, ldc, true);
}
#endif
/* C += alpha op(A) op(B), C of m x n. */
static void multiply(char op_a, char op_b, Index m, Index n, Index k, REAL alpha, const NUMBER *a, Index lda,
                     const NUMBER *b, Index ldb, NUMBER *c, Index ldc) {
  if (m == 0 || n == 0 || k == 0) return;
  if (m * n * k > SMALL_PRODUCT) {
    Status status = multiply_blocked(op_a, op_b, m, n, k, alpha, a, lda, b, ldb, c, ldc);
    if (status == OK) return;
    status_free(status); /* no memory for blocks, before C was touched: it takes longer without */
  }
  multiply_plainly(op_a, op_b, m, n, k, alpha, a, lda, b, ldb, c, ldc);
}

/* ---- triangular systems ---- */
typedef struct Triangle {
  bool is_left, is_lower, is_unit;
  char op;
  const NUMBER *a;
  Index lda;
} Triangle;

static void divide_by_diagonal(const Triangle *t, Index n, Index k, NUMBER *x, Index step) {
  if (t->is_unit) return;
  NUMBER pivot = element(t->op, t->a, t->lda, k, k);
  for (Index i = 0; i < n; i++) x[i * step] = quotient(x[i * step], pivot);
}
/* Few unknowns, n of them: each is eliminated from those that follow. */
static void eliminate(const Triangle *t, Index n, Index others, NUMBER *b, Index ldb) {
  bool op_is_lower = t->is_lower == (t->op == 'N'), forward = op_is_lower == t->is_left;
  for (Index step = 0; step < n; step++) {
    Index k = forward ? step : n - 1 - step, from = forward ? k + 1 : 0, to = forward ? n : k;
    if (!t->is_left) {
      divide_by_diagonal(t, others, k, b + k * ldb, 1);
      for (Index i = from; i < to; i++)
        add_scaled(others, -element(t->op, t->a, t->lda, k, i), b + k * ldb, b + i * ldb);
      continue;
    }
    divide_by_diagonal(t, others, k, b + k, ldb);
    for (Index j = 0; j < others; j++) {
      NUMBER *column = b + j * ldb, x = -column[k];
      if (t->op == 'N')
        add_scaled(to - from, x, t->a + from + k * t->lda, column + from);
      else
        for (Index i = from; i < to; i++) column[i] += times(element(t->op, t->a, t->lda, i, k), x);
    }
  }
}
/* Of n unknowns: half of them, what they contribute to the others, the others. */
static void solve_halves(Triangle t, Index n, Index others, NUMBER *b, Index ldb) {
  enum { FEW = 16 };
  if (n <= FEW) {
    eliminate(&t, n, others, b, ldb);
    return;
  }
  Index half = n / 2, rest = n - half;
  Triangle last = t;
  last.a += half * (t.lda + 1);
  NUMBER *first_b = b, *last_b = b + (t.is_left ? half : half * ldb);
  bool op_is_lower = t.is_lower == (t.op == 'N'), forward = op_is_lower == t.is_left;
  /* what is not on the diagonal: rest x half where it is stored below, else half x rest */
  const NUMBER *beside = t.a + (t.is_lower ? half : half * t.lda);
  if (forward) {
    solve_halves(t, half, others, first_b, ldb);
    if (t.is_left)
      multiply(t.op, 'N', rest, others, half, -1, beside, t.lda, first_b, ldb, last_b, ldb);
    else
      multiply('N', t.op, others, rest, half, -1, first_b, ldb, beside, t.lda, last_b, ldb);
    solve_halves(last, rest, others, last_b, ldb);
  } else {
    solve_halves(last, rest, others, last_b, ldb);
    if (t.is_left)
      multiply(t.op, 'N', half, others, rest, -1, beside, t.lda, last_b, ldb, first_b, ldb);
    else
      multiply('N', t.op, others, half, rest, -1, last_b, ldb, beside, t.lda, first_b, ldb);
    solve_halves(t, half, others, first_b, ldb);
  }
}
/* op(A) X = B or X op(A) = B, B of m x n, over B. */
static void solve_triangle(char side, char uplo, char op, char diagonal, Index m, Index n, const NUMBER *a, Index lda,
                           NUMBER *b, Index ldb) {
  Triangle t = {side == 'L', uplo == 'L', diagonal == 'U', IS_COMPLEX || op == 'N' ? op : 'C', a, lda};
  solve_halves(t, t.is_left ? m : n, t.is_left ? n : m, b, ldb);
}
static void trsm(const char *side, const char *uplo, const char *op, const char *diagonal, const LapackInt *m,
                 const LapackInt *n, const void *alpha, const void *a, const LapackInt *lda, void *b,
                 const LapackInt *ldb) {
  assert(*(const NUMBER *)alpha == 1);
  (void)alpha;
  solve_triangle(*side, *uplo, *op, *diagonal, *m, *n, a, *lda, b, *ldb);
}
