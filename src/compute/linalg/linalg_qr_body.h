/* Orthogonal factorizations by reflectors: Q = H(0) H(1) ..., each a column below the diagonal. Many are applied as
 * one, 1 - V T V^H (R. Schreiber & C. Van Loan, "A storage-efficient WY representation for products of Householder
 * transformations", SIAM J. Sci. Stat. Comput. 10, 1989). */

enum { BLOCK = 32, UNBLOCKED = 48 }; /* reflectors in a block; up to so many are applied one by one */

typedef struct Block {
  Index rows, count;
  NUMBER *v, *t; /* rows x count, ones on the diagonal and zeros above; count x count, upper */
  NUMBER *work;  /* count times what it is applied to */
} Block;
static void make_block(Block *block, const NUMBER *a, Index lda, const NUMBER *tau) {
  Index rows = block->rows, count = block->count;
  for (Index j = 0; j < count; j++) {
    NUMBER *v = block->v + j * rows, *t = block->t + j * count;
    set_zero(j, 1, v, rows);
    v[j] = 1;
    memcpy(v + j + 1, a + j + 1 + j * lda, (size_t)(rows - j - 1) * sizeof *v);
    /* t's column is -tau T (V^H v) */
    for (Index i = 0; i < j; i++) t[i] = times(-tau[j], dot(rows - j, block->v + j + i * rows, v + j));
    for (Index i = 0; i < j; i++) {
      NUMBER sum = 0;
      for (Index k = i; k < j; k++) sum += times(block->t[i + k * count], t[k]);
      t[i] = sum;
    }
    t[j] = tau[j];
    set_zero(count - j - 1, 1, t + j + 1, count);
  }
}
/* C (rows x n) = (1 - V op(T) V^H) C, or C (n x rows) times that. */
static void apply_block(const Block *block, bool is_left, char op, Index n, NUMBER *c, Index ldc) {
  Index rows = block->rows, count = block->count;
  NUMBER *first = block->work, *second = first + count * n;
  set_zero(2 * count * n, 1, first, 1);
  if (is_left) {
    multiply('C', 'N', count, n, rows, 1, block->v, rows, c, ldc, first, count);
    multiply(op, 'N', count, n, count, 1, block->t, count, first, count, second, count);
    multiply('N', 'N', rows, n, count, -1, block->v, rows, second, count, c, ldc);
  } else {
    multiply('N', 'N', n, count, rows, 1, c, ldc, block->v, rows, first, n);
    multiply('N', op, n, count, count, 1, first, n, block->t, count, second, n);
    multiply('N', 'C', n, rows, count, -1, second, n, block->v, rows, c, ldc);
  }
}
/* Room for blocks of `rows` that are applied to n others. */
static NUMBER *block_begin(Workspace *space, Block *block, Index rows, Index n) {
  NUMBER *at = workspace_begin(space, (size_t)(BLOCK * (rows + BLOCK + 2 * n)), sizeof *at);
  if (at) *block = (Block){.v = at, .t = at + BLOCK * rows, .work = at + BLOCK * (rows + BLOCK)};
  return at;
}

static void reflect_each(Index m, Index n, NUMBER *a, Index lda, NUMBER *tau, Index applied_to) {
  for (Index k = 0; k < n && k < m; k++) {
    NUMBER *pivot = a + k * (lda + 1);
    tau[k] = make_reflector(m - k, pivot, pivot + 1, 1);
    reflect_rows(m - k, applied_to - k - 1, pivot + 1, conjugate(tau[k]), pivot + lda, lda);
  }
}
static LapackInt factor_qr(Index m, Index n, NUMBER *a, Index lda, NUMBER *tau) {
  Index count = m < n ? m : n;
  if (count <= UNBLOCKED) {
    reflect_each(m, count, a, lda, tau, n);
    return 0;
  }
  Workspace space;
  Block block;
  if (!block_begin(&space, &block, m, n)) return LAPACK_NO_MEMORY;
  for (Index k = 0; k < count; k += BLOCK) {
    NUMBER *corner = a + k * (lda + 1);
    block.rows = m - k;
    block.count = count - k < BLOCK ? count - k : BLOCK;
    reflect_each(m - k, block.count, corner, lda, tau + k, block.count);
    if (n - k == block.count) break;
    make_block(&block, corner, lda, tau + k);
    apply_block(&block, true, 'C', n - k - block.count, corner + block.count * lda, lda);
  }
  workspace_end(&space);
  return 0;
}
/* C (m x n) = op(Q) C, or C op(Q), Q of k reflectors in a. op is 'N' or 'C'. */
static LapackInt apply_q(bool is_left, char op, Index m, Index n, Index k, const NUMBER *a, Index lda,
                         const NUMBER *tau, NUMBER *c, Index ldc) {
  Index rows = is_left ? m : n, others = is_left ? n : m;
  bool forward = is_left == (op == 'C');
  if (rows == 0 || others == 0) return 0;
  Workspace space;
  if (k <= UNBLOCKED || others < 4) {
    NUMBER *work = workspace_begin(&space, is_left ? 0 : (size_t)m, sizeof *work);
    if (!work) return LAPACK_NO_MEMORY;
    for (Index step = 0; step < k; step++) {
      Index i = forward ? step : k - 1 - step;
      const NUMBER *v = a + i + 1 + i * lda;
      NUMBER t = op == 'C' ? conjugate(tau[i]) : tau[i];
      if (is_left)
        reflect_rows(m - i, n, v, t, c + i, ldc);
      else
        reflect_columns(m, n - i, v, t, c + i * ldc, ldc, work);
    }
    workspace_end(&space);
    return 0;
  }
  Block block;
  if (!block_begin(&space, &block, rows, others)) return LAPACK_NO_MEMORY;
  Index blocks = (k + BLOCK - 1) / BLOCK;
  for (Index step = 0; step < blocks; step++) {
    Index i = (forward ? step : blocks - 1 - step) * BLOCK;
    block.rows = rows - i;
    block.count = k - i < BLOCK ? k - i : BLOCK;
    make_block(&block, a + i * (lda + 1), lda, tau + i);
    apply_block(&block, is_left, op, others, is_left ? c + i : c + i * ldc, ldc);
  }
  workspace_end(&space);
  return 0;
}
/* The first n columns of Q over the k reflectors in a. */
static LapackInt form_q(Index m, Index n, Index k, NUMBER *a, Index lda, const NUMBER *tau) {
  for (Index j = k; j < n; j++) {
    set_zero(m, 1, a + j * lda, lda);
    a[j * (lda + 1)] = 1;
  }
  Workspace space;
  Block block = {0};
  bool is_blocked = k > UNBLOCKED;
  if (is_blocked && !block_begin(&space, &block, m, n)) return LAPACK_NO_MEMORY;
  Index width = is_blocked ? BLOCK : k ? k : 1;
  for (Index begin = (k - 1) / width * width; begin >= 0 && k; begin -= width) {
    Index end = begin + width < k ? begin + width : k;
    if (is_blocked && end < n) {
      block.rows = m - begin;
      block.count = end - begin;
      make_block(&block, a + begin * (lda + 1), lda, tau + begin);
      apply_block(&block, true, 'N', n - end, a + begin + end * lda, lda);
    }
    for (Index i = end - 1; i >= begin; i--) {
      NUMBER *column = a + i * lda;
      reflect_rows(m - i, (is_blocked ? end : n) - i - 1, column + i + 1, tau[i], a + i + (i + 1) * lda, lda);
      scale(m - i - 1, -tau[i], column + i + 1, 1);
      column[i] = (NUMBER)1 - tau[i];
      set_zero(i, 1, column, lda);
    }
  }
  if (is_blocked) workspace_end(&space);
  return 0;
}
static LapackInt geqrf(int layout, LapackInt m, LapackInt n, void *a, LapackInt lda, void *tau) {
  (void)layout;
  return factor_qr(m, n, a, lda, tau);
}
static LapackInt orgqr(int layout, LapackInt m, LapackInt n, LapackInt k, void *a, LapackInt lda, const void *tau) {
  (void)layout;
  return form_q(m, n, k, a, lda, tau);
}
static LapackInt ormqr(int layout, char side, char op, LapackInt m, LapackInt n, LapackInt k, const void *a,
                       LapackInt lda, const void *tau, void *c, LapackInt ldc) {
  (void)layout;
  return apply_q(side == 'L', op == 'N' ? 'N' : 'C', m, n, k, a, lda, tau, c, ldc);
}
