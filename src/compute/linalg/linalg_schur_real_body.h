/* The Schur form of a real matrix by double shifts (J. Francis, 1961; Golub & Van Loan, 7.5): upper triangular, with
 * a block of two rows for each pair of complex eigenvalues. */

/* (x, y) of n: to (c x + s y, c y - s x). */
static void rotate(Index n, REAL *x, REAL *y, Index step, REAL c, REAL s) {
  for (Index i = 0; i < n; i++) {
    REAL kept = x[i * step];
    x[i * step] = c * kept + s * y[i * step];
    y[i * step] = c * y[i * step] - s * kept;
  }
}
typedef struct Pair {
  REAL a, b, c, d;             /* [a b; c d]; c is 0 or a is d and b c < 0 */
  REAL re[2], im[2], cos, sin; /* the eigenvalues; the rotation that makes it so */
} Pair;
static void standardize(Pair *p) {
  const REAL few = 4 * EPSILON;
  p->cos = 1, p->sin = 0;
  REAL difference = p->a - p->d;
  if (p->c == 0) {
  } else if (p->b == 0) {
    p->cos = 0, p->sin = 1;
    swap_reals(&p->a, &p->d);
    p->b = -p->c;
    p->c = 0;
  } else if (difference != 0 || signbit(p->b) == signbit(p->c)) {
    REAL half = difference / 2, most = greater(size_of_real(p->b), size_of_real(p->c));
    REAL least = lesser(size_of_real(p->b), size_of_real(p->c)) * with_sign(1, p->b) * with_sign(1, p->c);
    REAL unit = greater(size_of_real(half), most), z = half / unit * half + most / unit * least;
    if (z >= few) { /* real eigenvalues */
      z = half + with_sign(root(unit) * root(z), half);
      p->a = p->d + z;
      p->d -= most / z * least;
      REAL tau = length_of(p->c, z);
      p->cos = z / tau;
      p->sin = p->c / tau;
      p->b -= p->c;
      p->c = 0;
    } else { /* complex ones, or nearly equal ones: the diagonal is made equal */
      REAL sigma = p->b + p->c, tau = length_of(sigma, difference);
      REAL cs = root((1 + size_of_real(sigma) / tau) / 2), sn = -(half / (tau * cs)) * with_sign(1, sigma);
      REAL aa = p->a * cs + p->b * sn, bb = p->b * cs - p->a * sn, cc = p->c * cs + p->d * sn,
           dd = p->d * cs - p->c * sn;
      p->b = bb * cs + dd * sn;
      p->c = cc * cs - aa * sn;
      REAL middle = ((aa * cs + cc * sn) + (dd * cs - bb * sn)) / 2;
      p->a = p->d = middle;
      if (p->c != 0 && p->b == 0) {
        p->b = -p->c;
        p->c = 0;
        REAL kept = cs;
        cs = -sn;
        sn = kept;
      } else if (p->c != 0 && signbit(p->b) == signbit(p->c)) { /* real after all */
        REAL by_b = root(size_of_real(p->b)), by_c = root(size_of_real(p->c)), apart = with_sign(by_b * by_c, p->c),
             size = 1 / root(size_of_real(p->b + p->c));
        p->a = middle + apart;
        p->d = middle - apart;
        p->b -= p->c;
        p->c = 0;
        REAL c = by_b * size, s = by_c * size, kept = cs * c - sn * s;
        sn = cs * s + sn * c;
        cs = kept;
      }
      p->cos = cs, p->sin = sn;
    }
  }
  p->re[0] = p->a, p->re[1] = p->d;
  p->im[0] = p->c == 0 ? 0 : root(size_of_real(p->b)) * root(size_of_real(p->c));
  p->im[1] = -p->im[0];
}

typedef struct Shifts {
  REAL re[2], im[2];
} Shifts;
/* The eigenvalues of the last two rows; both the nearer to the last element where they are real. */
static Shifts choose_shifts(const Schur *s, Index begin, Index end, Index count) {
  REAL h11, h21, h12, h22;
  if (count % UNUSUAL_EVERY == 0) { /* where steps go round in circles */
    bool at_end = count % (2 * UNUSUAL_EVERY) == 0;
    REAL size = at_end ? size_of_real(H(end, end - 1)) + size_of_real(H(end - 1, end - 2))
                       : size_of_real(H(begin + 1, begin)) + size_of_real(H(begin + 2, begin + 1));
    h11 = h22 = (REAL)0.75 * size + (at_end ? H(end, end) : H(begin, begin));
    h12 = (REAL)-0.4375 * size;
    h21 = size;
  } else {
    h11 = H(end - 1, end - 1), h21 = H(end, end - 1), h12 = H(end - 1, end), h22 = H(end, end);
  }
  REAL size = size_of_real(h11) + size_of_real(h12) + size_of_real(h21) + size_of_real(h22);
  if (size == 0) return (Shifts){0};
  h11 /= size, h21 /= size, h12 /= size, h22 /= size;
  REAL middle = (h11 + h22) / 2, determinant = (h11 - middle) * (h22 - middle) - h12 * h21,
       apart = root(size_of_real(determinant));
  if (determinant >= 0) return (Shifts){{middle * size, middle * size}, {apart * size, -apart * size}};
  REAL first = middle + apart, second = middle - apart;
  REAL near = size_of_real(first - h22) <= size_of_real(second - h22) ? first : second;
  return (Shifts){{near * size, near * size}, {0, 0}};
}
/* The first column of (H - shift)(H - other), scaled, where the block may as well begin at `m`. */
static Index start_step(const Schur *s, Index begin, Index end, const Shifts *shifts, REAL v[3]) {
  for (Index m = end - 2;; m--) {
    REAL below = size_of_real(H(m + 1, m)),
         size = size_of_real(H(m, m) - shifts->re[1]) + size_of_real(shifts->im[1]) + below;
    REAL h21 = H(m + 1, m) / size;
    v[0] = h21 * H(m, m + 1) + (H(m, m) - shifts->re[0]) * ((H(m, m) - shifts->re[1]) / size) -
           shifts->im[0] * (shifts->im[1] / size);
    v[1] = h21 * (H(m, m) + H(m + 1, m + 1) - shifts->re[0] - shifts->re[1]);
    v[2] = h21 * H(m + 2, m + 1);
    size = size_of_real(v[0]) + size_of_real(v[1]) + size_of_real(v[2]);
    v[0] /= size, v[1] /= size, v[2] /= size;
    if (m == begin) return m;
    REAL around = size_of_real(H(m - 1, m - 1)) + size_of_real(H(m, m)) + size_of_real(H(m + 1, m + 1));
    if (size_of_real(H(m, m - 1)) * (size_of_real(v[1]) + size_of_real(v[2])) <= EPSILON * size_of_real(v[0]) * around)
      return m;
  }
}
static void reflect_three(const Schur *s, Index k, Index rows, const REAL v[3], REAL tau, Index first, Index last,
                          Index end) {
  REAL t2 = tau * v[1], t3 = rows == 3 ? tau * v[2] : 0, v2 = v[1], v3 = rows == 3 ? v[2] : 0;
  for (Index j = k; j <= last; j++) {
    REAL *x = &H(k, j), third = rows == 3 ? x[2] : 0, sum = x[0] + v2 * x[1] + v3 * third;
    x[0] -= sum * tau;
    x[1] -= sum * t2;
    if (rows == 3) x[2] = third - sum * t3;
  }
  Index bottom = k + 3 < end ? k + 3 : end;
  REAL *x = s->h + k * s->ldh, *y = x + s->ldh, *w = rows == 3 ? y + s->ldh : NULL;
  for (int turn = 0; turn < 2; turn++) {
    for (Index i = first; i <= bottom; i++) {
      REAL sum = x[i] + v2 * y[i] + (w ? v3 * w[i] : 0);
      x[i] -= sum * tau;
      y[i] -= sum * t2;
      if (w) w[i] -= sum * t3;
    }
    if (!s->z || turn) return;
    first = 0, bottom = s->n - 1;
    x = s->z + k * s->ldz, y = x + s->ldz, w = rows == 3 ? y + s->ldz : NULL;
  }
}
static void double_step(const Schur *s, Index begin, Index end, const Shifts *shifts) {
  Index first = s->wants_form ? 0 : begin, last = s->wants_form ? s->n - 1 : end;
  REAL v[3];
  Index start = start_step(s, begin, end, shifts, v);
  for (Index k = start; k < end; k++) {
    Index rows = end - k + 1 < 3 ? end - k + 1 : 3;
    if (k > start) memcpy(v, &H(k, k - 1), (size_t)rows * sizeof *v);
    REAL tau = make_reflector(rows, &v[0], &v[1], 1);
    if (k > start) {
      H(k, k - 1) = v[0];
      H(k + 1, k - 1) = 0;
      if (rows == 3) H(k + 2, k - 1) = 0;
    } else if (start > begin)
      H(k, k - 1) *= 1 - tau;
    reflect_three(s, k, rows, v, tau, first, last, end);
  }
}
/* The eigenvalues of the last rows, 0 or so many of them that were not found. */
static LapackInt schur_form(const Schur *s, REAL *re, REAL *im) {
  for (Index i = 0; i < s->n; i++)
    if (i < s->low || i > s->high) re[i] = H(i, i), im[i] = 0;
  for (Index end = s->high, begin; end >= s->low; end = begin - 1) {
    begin = s->low;
    Index most = SCHUR_STEPS * (s->high - s->low + 1 > 10 ? s->high - s->low + 1 : 10), since = 0, step = 0;
    for (; step <= most; step++) {
      begin = block_begin_of(s, begin, end);
      if (begin > s->low) H(begin, begin - 1) = 0;
      if (begin >= end - 1) break;
      since++;
      Shifts shifts = choose_shifts(s, begin, end, since);
      double_step(s, begin, end, &shifts);
    }
    if (begin < end - 1) return (LapackInt)end + 1;
    if (begin == end) {
      re[end] = H(end, end), im[end] = 0;
      continue;
    }
    Index i = begin;
    Pair p = {H(i, i), H(i, end), H(end, i), H(end, end), {0}, {0}, 1, 0};
    standardize(&p);
    H(i, i) = p.a, H(i, end) = p.b, H(end, i) = p.c, H(end, end) = p.d;
    re[i] = p.re[0], im[i] = p.im[0], re[end] = p.re[1], im[end] = p.im[1];
    if (s->wants_form) {
      if (end + 1 < s->n) rotate(s->n - end - 1, &H(i, end + 1), &H(end, end + 1), s->ldh, p.cos, p.sin);
      rotate(i, &H(0, i), &H(0, end), 1, p.cos, p.sin);
      if (s->z) rotate(s->n, s->z + i * s->ldz, s->z + end * s->ldz, 1, p.cos, p.sin);
    }
  }
  return 0;
}

/* ---- vectors ---- */
typedef struct Parts {
  REAL re, im;
} Parts;
/* (re + i im) / (c + i d), where the divisor is no less than `least`. */
static Parts divided(Parts x, REAL c, REAL d, REAL least) {
  if (size_of_real(c) + size_of_real(d) < least) c = least, d = 0;
  if (size_of_real(d) <= size_of_real(c)) {
    REAL ratio = d / c, divisor = c + d * ratio;
    return (Parts){(x.re + x.im * ratio) / divisor, (x.im - x.re * ratio) / divisor};
  }
  REAL ratio = c / d, divisor = c * ratio + d;
  return (Parts){(x.re * ratio + x.im) / divisor, (x.im * ratio - x.re) / divisor};
}
static Parts product_of(Parts x, Parts y) {
  return (Parts){x.re * y.re - x.im * y.im, x.re * y.im + x.im * y.re};
}
/* The block [t11 t12; t21 t22] - w of x = (upper, lower), by the larger of its first column. */
static void solve_pair(const REAL t[4], Parts w, REAL least, Parts *upper, Parts *lower) {
  Parts a = {t[0] - w.re, -w.im}, d = {t[3] - w.re, -w.im};
  if (size_of_real(a.re) + size_of_real(a.im) >= size_of_real(t[1])) {
    Parts ratio = divided((Parts){t[1], 0}, a.re, a.im, least), by = product_of(ratio, *upper);
    Parts y =
        divided((Parts){lower->re - by.re, lower->im - by.im}, d.re - ratio.re * t[2], d.im - ratio.im * t[2], least);
    *lower = y;
    *upper = divided((Parts){upper->re - t[2] * y.re, upper->im - t[2] * y.im}, a.re, a.im, least);
  } else { /* rows exchanged: t21 x + d y = lower, a x + t12 y = upper */
    Parts ratio = {a.re / t[1], a.im / t[1]}, by = product_of(ratio, *lower), with = product_of(ratio, d);
    Parts y = divided((Parts){upper->re - by.re, upper->im - by.im}, t[2] - with.re, -with.im, least);
    Parts dy = product_of(d, y);
    *upper = (Parts){(lower->re - dy.re) / t[1], (lower->im - dy.im) / t[1]};
    *lower = y;
  }
}
/* x's rows up to `last` from the lowest on: (T - w) x = 0, where what is below contributes what they hold. Parts of
 * x are columns; im is NULL where w is real. */
static void solve_upwards(const Schur *s, Index last, Parts w, REAL norm, REAL *re, REAL *im) {
  const REAL least = greater(EPSILON * (size_of_real(w.re) + size_of_real(w.im)), LEAST / EPSILON * (REAL)s->n),
             large = root(GREATEST) / (REAL)(s->n + 1) / greater(1, norm);
  for (Index i = last, above; i >= 0; i = above - 1) {
    bool is_pair = i > 0 && H(i, i - 1) != 0;
    Parts lower = {re[i], im ? im[i] : 0}, upper = {0};
    above = i - is_pair;
    if (is_pair) {
      upper = (Parts){re[i - 1], im ? im[i - 1] : 0};
      REAL t[4] = {H(i - 1, i - 1), H(i, i - 1), H(i - 1, i), H(i, i)};
      solve_pair(t, w, least, &upper, &lower);
      re[i - 1] = upper.re;
      if (im) im[i - 1] = upper.im;
    } else
      lower = divided(lower, H(i, i) - w.re, -w.im, least);
    re[i] = lower.re;
    if (im) im[i] = lower.im;
    REAL size = size_of_real(lower.re) + size_of_real(lower.im) + size_of_real(upper.re) + size_of_real(upper.im);
    if (size > large) { /* before it overflows */
      scale(s->n, 1 / size, re, 1);
      if (im) scale(s->n, 1 / size, im, 1);
    }
    for (Index k = above; k <= i; k++) {
      add_scaled(above, -re[k], &H(0, k), re);
      if (im) add_scaled(above, -im[k], &H(0, k), im);
    }
  }
}
/* Vectors of the triangle into x, n x n; of a pair two columns, the real and the imaginary part. */
static void triangle_vectors(const Schur *s, const REAL *wr, const REAL *wi, REAL *x) {
  Index n = s->n;
  REAL norm = 0;
  for (Index j = 0; j < n; j++) norm = greater(norm, largest_of(j + 1, 1, &H(0, j), 1));
  set_zero(n, n, x, n);
  for (Index j = 0; j < n; j++) {
    REAL *re = x + j * n, *im = NULL;
    Index next = j + 1;
    re[j] = 1;
    if (wi[j] != 0 && next < n) {
      im = re + n;
      if (size_of_real(H(j, next)) >= size_of_real(H(next, j)))
        im[next] = wi[j] / H(j, next);
      else {
        re[j] = -wi[j] / H(next, j);
        im[next] = 1;
      }
      add_scaled(j, -im[next], &H(0, next), im);
    }
    add_scaled(j, -re[j], &H(0, j), re);
    solve_upwards(s, j - 1, (Parts){wr[j], im ? wi[j] : 0}, norm, re, im);
    j += im != NULL;
  }
}
/* Of length 1; of a pair the largest element is real. */
static void normalize(Index n, const REAL *wi, REAL *v, Index ldv) {
  for (Index j = 0; j < n; j++) {
    REAL *re = v + j * ldv, *im = re + ldv;
    if (wi[j] == 0 || j + 1 == n) {
      scale(n, 1 / length(n, re, 1), re, 1);
      continue;
    }
    REAL inverse = 1 / length_of(length(n, re, 1), length(n, im, 1)), most = -1, c, s, r;
    Index largest = 0;
    for (Index i = 0; i < n; i++) {
      re[i] *= inverse, im[i] *= inverse;
      REAL size = re[i] * re[i] + im[i] * im[i];
      if (size > most) most = size, largest = i;
    }
    rotation_of(re[largest], im[largest], &c, &s, &r);
    rotate(n, re, im, 1, c, s);
    im[largest] = 0;
    j++;
  }
}
static LapackInt geev_real(int layout, char left, char right, LapackInt order, void *matrix, LapackInt lda, void *re,
                           void *im, void *left_vectors, LapackInt ldvl, void *right_vectors, LapackInt ldvr) {
  assert(left == 'N');
  (void)layout, (void)left, (void)left_vectors, (void)ldvl;
  Index n = order;
  REAL *a = matrix, *wr = re, *wi = im, *v = right == 'V' ? right_vectors : NULL;
  REAL factor = safe_factor(largest_of(n, n, a, lda));
  for (Index j = 0; factor != 1 && j < n; j++) scale(n, factor, a + j * lda, 1);
  Workspace space;
  REAL *scales = workspace_begin(&space, (size_t)(3 * n + (v ? 2 * n * n : 0)), sizeof *scales);
  if (!scales) return LAPACK_NO_MEMORY;
  REAL *tau = scales + n, *work = tau + n, *z = v ? work + n : NULL, *x = v ? z + n * n : NULL;
  Balance b = {n, 0, n - 1, scales};
  balance(&b, a, lda);
  LapackInt info = reduce_to_hessenberg(&b, a, lda, tau, z, n, work);
  Schur s = {n, b.low, b.high, v != NULL, a, lda, z, n};
  if (!info) info = schur_form(&s, wr, wi);
  if (v && !info) {
    triangle_vectors(&s, wr, wi, x);
    set_zero(n, n, v, ldvr);
    multiply('N', 'N', n, n, n, 1, z, n, x, n, v, ldvr);
    unbalance(&b, n, v, ldvr);
    normalize(n, wi, v, ldvr);
  }
  for (Index i = 0; factor != 1 && i < n; i++) wr[i] /= factor, wi[i] /= factor;
  workspace_end(&space);
  return info;
}
#undef H
