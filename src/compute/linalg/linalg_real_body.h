/* Eigenvalues of tridiagonal and singular values of bidiagonal matrices (linalg_real.h), of REAL. */

/* Columns j and j + 1 of n rows: (x, y) becomes (c x + s y, c y - s x). */
static void rotate_columns(Index n, REAL *z, Index j, REAL c, REAL s) {
  REAL *restrict x = z + j * n, *restrict y = x + n;
  for (Index i = 0; i < n; i++) {
    REAL kept = x[i];
    x[i] = c * kept + s * y[i];
    y[i] = c * y[i] - s * kept;
  }
}
static void swap_columns(Index n, REAL *z, Index i, Index j) {
  for (Index r = 0; r < n; r++) swap_reals(&z[r + i * n], &z[r + j * n]);
}

/* ---- symmetric and tridiagonal ---- */

/* [a b; b c] has the eigenvalues first, the larger in size, and second; (cs, sn) is first's vector. */
static void symmetric_pair(REAL a, REAL b, REAL c, REAL *first, REAL *second, REAL *cs, REAL *sn) {
  REAL sum = a + c, difference = a - c, twice = b + b, distance = length_of(difference, twice);
  REAL large = size_of_real(a) > size_of_real(c) ? a : c, small = size_of_real(a) > size_of_real(c) ? c : a;
  bool is_negative = sum < 0;
  if (sum == 0) {
    *first = distance / 2;
    *second = -distance / 2;
  } else {
    *first = (is_negative ? sum - distance : sum + distance) / 2;
    *second = large / *first * small - b / *first * b;
  }
  REAL side = difference >= 0 ? difference + distance : difference - distance;
  if (size_of_real(side) > size_of_real(twice)) {
    REAL cotangent = -twice / side;
    *sn = 1 / root(1 + cotangent * cotangent);
    *cs = cotangent * *sn;
  } else if (twice == 0) {
    *cs = 1;
    *sn = 0;
  } else {
    REAL tangent = -side / twice;
    *cs = 1 / root(1 + tangent * tangent);
    *sn = tangent * *cs;
  }
  if (is_negative == (difference < 0)) {
    REAL kept = *cs;
    *cs = -*sn;
    *sn = kept;
  }
}

/* A block of a tridiagonal matrix that `e` does not cut, from `low` to `high`. */
typedef struct Tridiagonal {
  Index n;
  REAL *d, *e, *z;
  Index steps_left;
} Tridiagonal;

static REAL wilkinson_shift(REAL end, REAL next, REAL between, REAL other_end) {
  REAL g = (next - end) / (2 * between), r = length_of(g, 1);
  return other_end - end + between / (g + with_sign(r, g));
}
static bool is_tiny_between(REAL e, REAL before, REAL after) {
  const REAL unit = EPSILON / 2;
  return e * e <= unit * unit * size_of_real(before) * size_of_real(after) + LEAST;
}
/* Eigenvalues come out at `low` first. */
static void ql_steps(Tridiagonal *t, Index low, Index high) {
  REAL *d = t->d, *e = t->e;
  while (low <= high) {
    Index m = low;
    while (m < high && !is_tiny_between(e[m], d[m], d[m + 1])) m++;
    if (m < high) e[m] = 0;
    if (m == low) {
      low++;
      continue;
    }
    if (m == low + 1) {
      REAL first, second, c, s;
      symmetric_pair(d[low], e[low], d[low + 1], &first, &second, &c, &s);
      if (t->z) rotate_columns(t->n, t->z, low, c, s);
      d[low] = first, d[low + 1] = second, e[low] = 0;
      low += 2;
      continue;
    }
    if (t->steps_left == 0) return;
    t->steps_left--;
    REAL g = wilkinson_shift(d[low], d[low + 1], e[low], d[m]), s = 1, c = 1, p = 0;
    for (Index i = m - 1; i >= low; i--) {
      REAL f = s * e[i], b = c * e[i], r;
      rotation_of(g, f, &c, &s, &r);
      if (i != m - 1) e[i + 1] = r;
      g = d[i + 1] - p;
      r = (d[i] - g) * s + 2 * c * b;
      p = s * r;
      d[i + 1] = g + p;
      g = c * r - b;
      if (t->z) rotate_columns(t->n, t->z, i, c, -s);
    }
    d[low] -= p;
    e[low] = g;
  }
}
/* Eigenvalues come out at `high` first. */
static void qr_steps(Tridiagonal *t, Index low, Index high) {
  REAL *d = t->d, *e = t->e;
  while (low <= high) {
    Index m = high;
    while (m > low && !is_tiny_between(e[m - 1], d[m], d[m - 1])) m--;
    if (m > low) e[m - 1] = 0;
    if (m == high) {
      high--;
      continue;
    }
    if (m == high - 1) {
      REAL first, second, c, s;
      symmetric_pair(d[m], e[m], d[high], &first, &second, &c, &s);
      if (t->z) rotate_columns(t->n, t->z, m, c, s);
      d[m] = first, d[high] = second, e[m] = 0;
      high -= 2;
      continue;
    }
    if (t->steps_left == 0) return;
    t->steps_left--;
    REAL g = wilkinson_shift(d[high], d[high - 1], e[high - 1], d[m]), s = 1, c = 1, p = 0;
    for (Index i = m; i < high; i++) {
      REAL f = s * e[i], b = c * e[i], r;
      rotation_of(g, f, &c, &s, &r);
      if (i != m) e[i - 1] = r;
      g = d[i] - p;
      r = (d[i + 1] - g) * s + 2 * c * b;
      p = s * r;
      d[i] = g + p;
      g = c * r - b;
      if (t->z) rotate_columns(t->n, t->z, i, c, s);
    }
    d[high] -= p;
    e[high - 1] = g;
  }
}
int32_t linalg_tridiagonal(int64_t n, REAL *d, REAL *e, REAL *z) {
  Tridiagonal t = {n, d, e, z, 30 * n};
  REAL sum = 0;
  for (Index i = 0; i < n; i++) sum += d[i] * 0 + (i < n - 1 ? e[i] * 0 : 0);
  if (sum != 0) t.steps_left = 0; /* NaN: no step would help */
  for (Index low = 0, high; low < n && t.steps_left; low = high + 1) {
    for (high = low; high < n - 1; high++)
      if (size_of_real(e[high]) <= root(size_of_real(d[high])) * root(size_of_real(d[high + 1])) * (EPSILON / 2)) {
        e[high] = 0;
        break;
      }
    /* from the end that has the smaller numbers, which the steps move */
    if (size_of_real(d[high]) < size_of_real(d[low]))
      qr_steps(&t, low, high);
    else
      ql_steps(&t, low, high);
  }
  int32_t left = 0;
  for (Index i = 0; i < n - 1; i++) left += e[i] != 0;
  for (Index i = 0; i < n - 1 && !left; i++) {
    Index least = i;
    for (Index j = i + 1; j < n; j++)
      if (d[j] < d[least]) least = j;
    if (least == i) continue;
    swap_reals(&d[i], &d[least]);
    if (z) swap_columns(n, z, i, least);
  }
  return left;
}

/* ---- bidiagonal ---- */

typedef struct Turn {
  REAL c, s;
} Turn;
/* Singular values of [f g; 0 h], the larger in size first, with the signs that the vectors leave:
 * left^T [f g; 0 h] right is diagonal (Demmel & Kahan, section 3). */
static void triangle_pair(REAL f, REAL g, REAL h, REAL *large, REAL *small, Turn *left, Turn *right) {
  REAL upper = size_of_real(f), across = size_of_real(g), lower = size_of_real(h);
  bool is_swapped = lower > upper;
  REAL first = is_swapped ? h : f, last = is_swapped ? f : h;
  if (is_swapped) swap_reals(&upper, &lower);
  Turn near = {1, 0}, far = {1, 0}; /* left and right, when nothing is swapped */
  enum { FIRST, ACROSS, LAST } ruler = is_swapped ? LAST : FIRST;
  if (across == 0) {
    *large = upper;
    *small = lower;
  } else if (across > upper && upper / across < EPSILON / 2) {
    ruler = ACROSS;
    *large = across;
    *small = lower > 1 ? upper / (across / lower) : upper / across * lower;
    near = (Turn){1, last / g};
    far = (Turn){first / g, 1};
  } else {
    if (across > upper) ruler = ACROSS;
    REAL difference = upper - lower, relative = difference == upper ? 1 : difference / upper; /* also of infinities */
    REAL m = g / first, t = 2 - relative, mm = m * m, s = root(t * t + mm);
    REAL r = relative == 0 ? size_of_real(m) : root(relative * relative + mm), a = (s + r) / 2;
    *small = lower / a;
    *large = upper * a;
    if (mm == 0)
      t = relative == 0 ? with_sign(2, first) * with_sign(1, g) : g / with_sign(difference, first) + m / t;
    else
      t = (m / (s + t) + m / (r + relative)) * (1 + a);
    REAL l = root(t * t + 4);
    far = (Turn){2 / l, t / l};
    near = (Turn){(far.c + far.s * m) / a, last / first * far.s / a};
  }
  *left = is_swapped ? (Turn){far.s, far.c} : near;
  *right = is_swapped ? (Turn){near.s, near.c} : far;
  REAL sign = ruler == FIRST    ? with_sign(1, right->c) * with_sign(1, left->c) * with_sign(1, f)
              : ruler == ACROSS ? with_sign(1, right->s) * with_sign(1, left->c) * with_sign(1, g)
                                : with_sign(1, right->s) * with_sign(1, left->s) * with_sign(1, h);
  *large = with_sign(*large, sign);
  *small = with_sign(*small, sign * with_sign(1, f) * with_sign(1, h));
}
static REAL least_of_triangle(REAL f, REAL g, REAL h) {
  REAL large, small;
  Turn left, right;
  triangle_pair(f, g, h, &large, &small, &left, &right);
  return size_of_real(small);
}

typedef struct Bidiagonal {
  Index n;
  REAL *d, *e, *u, *v;
} Bidiagonal;
static void turn_both(const Bidiagonal *b, Index j, Turn left, Turn right) {
  if (!b->u) return;
  rotate_columns(b->n, b->u, j, left.c, left.s);
  rotate_columns(b->n, b->v, j, right.c, right.s);
}
/* One step from `low` to `high`, chasing what sticks out downwards. */
static void step_down(const Bidiagonal *b, Index low, Index high, REAL shift) {
  REAL *d = b->d, *e = b->e;
  if (shift == 0) {
    Turn right = {1, 0}, left = {1, 0};
    for (Index i = low; i < high; i++) {
      REAL r;
      rotation_of(d[i] * right.c, e[i], &right.c, &right.s, &r);
      if (i > low) e[i - 1] = left.s * r;
      rotation_of(left.c * r, d[i + 1] * right.s, &left.c, &left.s, &d[i]);
      turn_both(b, i, left, right);
    }
    REAL h = d[high] * right.c;
    d[high] = h * left.c;
    e[high - 1] = h * left.s;
    return;
  }
  REAL f = (size_of_real(d[low]) - shift) * (with_sign(1, d[low]) + shift / d[low]), g = e[low];
  for (Index i = low; i < high; i++) {
    Turn right, left;
    REAL r;
    rotation_of(f, g, &right.c, &right.s, &r);
    if (i > low) e[i - 1] = r;
    f = right.c * d[i] + right.s * e[i];
    e[i] = right.c * e[i] - right.s * d[i];
    g = right.s * d[i + 1];
    d[i + 1] *= right.c;
    rotation_of(f, g, &left.c, &left.s, &d[i]);
    f = left.c * e[i] + left.s * d[i + 1];
    d[i + 1] = left.c * d[i + 1] - left.s * e[i];
    if (i < high - 1) {
      g = left.s * e[i + 1];
      e[i + 1] *= left.c;
    }
    turn_both(b, i, left, right);
  }
  e[high - 1] = f;
}
static void step_up(const Bidiagonal *b, Index low, Index high, REAL shift) {
  REAL *d = b->d, *e = b->e;
  if (shift == 0) {
    Turn left = {1, 0}, right = {1, 0};
    for (Index i = high; i > low; i--) {
      REAL r;
      rotation_of(d[i] * left.c, e[i - 1], &left.c, &left.s, &r);
      if (i < high) e[i] = right.s * r;
      rotation_of(right.c * r, d[i - 1] * left.s, &right.c, &right.s, &d[i]);
      turn_both(b, i - 1, (Turn){left.c, -left.s}, (Turn){right.c, -right.s});
    }
    REAL h = d[low] * left.c;
    d[low] = h * right.c;
    e[low] = h * right.s;
    return;
  }
  REAL f = (size_of_real(d[high]) - shift) * (with_sign(1, d[high]) + shift / d[high]), g = e[high - 1];
  for (Index i = high; i > low; i--) {
    Turn left, right;
    REAL r;
    rotation_of(f, g, &left.c, &left.s, &r);
    if (i < high) e[i] = r;
    f = left.c * d[i] + left.s * e[i - 1];
    e[i - 1] = left.c * e[i - 1] - left.s * d[i];
    g = left.s * d[i - 1];
    d[i - 1] *= left.c;
    rotation_of(f, g, &right.c, &right.s, &d[i]);
    f = right.c * e[i - 1] + right.s * d[i - 1];
    d[i - 1] = right.c * d[i - 1] - right.s * e[i - 1];
    if (i > low + 1) {
      g = right.s * e[i - 2];
      e[i - 2] *= right.c;
    }
    turn_both(b, i - 1, (Turn){left.c, -left.s}, (Turn){right.c, -right.s});
  }
  e[low] = f;
}
/* Whether an element beside the diagonal is nothing by the criterion that keeps relative accuracy; then it is zero.
 * Else a lower bound of the block's singular values. */
static bool is_cut(const Bidiagonal *b, Index low, Index high, bool downwards, REAL tolerance, REAL *out_least) {
  REAL *d = b->d, *e = b->e;
  Index last = downwards ? high - 1 : low;
  if (size_of_real(e[last]) <= tolerance * size_of_real(d[downwards ? high : low])) {
    e[last] = 0;
    return true;
  }
  REAL bound = size_of_real(d[downwards ? low : high]);
  *out_least = bound;
  for (Index k = 0; k < high - low; k++) {
    Index i = downwards ? low + k : high - 1 - k;
    if (size_of_real(e[i]) <= tolerance * bound) {
      e[i] = 0;
      return true;
    }
    bound = size_of_real(d[downwards ? i + 1 : i]) * (bound / (bound + size_of_real(e[i])));
    *out_least = lesser(*out_least, bound);
  }
  return false;
}
static REAL shift_of(const Bidiagonal *b, Index low, Index high, bool downwards, REAL tolerance, REAL least,
                     REAL largest) {
  const REAL unit = EPSILON / 2;
  if ((REAL)b->n * tolerance * (least / largest) <= greater(unit, (REAL)0.01 * tolerance)) return 0;
  REAL start = size_of_real(b->d[downwards ? low : high]);
  Index at = downwards ? high - 1 : low;
  REAL shift = least_of_triangle(b->d[at], b->e[at], b->d[at + 1]), ratio = shift / start;
  return start > 0 && ratio * ratio < unit ? 0 : shift;
}
static void sort_descending(const Bidiagonal *b) {
  for (Index i = 0; i < b->n; i++) {
    if (b->d[i] < 0 || (b->d[i] == 0 && signbit(b->d[i]))) {
      b->d[i] = -b->d[i];
      for (Index r = 0; b->v && r < b->n; r++) b->v[r + i * b->n] = -b->v[r + i * b->n];
    }
  }
  for (Index i = 0; i < b->n - 1; i++) {
    Index most = i;
    for (Index j = i + 1; j < b->n; j++)
      if (b->d[j] > b->d[most]) most = j;
    if (most == i) continue;
    swap_reals(&b->d[i], &b->d[most]);
    if (b->u) swap_columns(b->n, b->u, i, most), swap_columns(b->n, b->v, i, most);
  }
}
static void set_identity(Index n, REAL *z) {
  memset(z, 0, (size_t)(n * n) * sizeof *z);
  for (Index i = 0; i < n; i++) z[i * (n + 1)] = 1;
}
/* Of an upper matrix. */
static int32_t bidiagonal_values(const Bidiagonal *b) {
  REAL *d = b->d, *e = b->e, largest = 0;
  Index n = b->n;
  for (Index i = 0; i < n; i++) largest = greater(largest, size_of_real(d[i]));
  for (Index i = 0; i < n - 1; i++) largest = greater(largest, size_of_real(e[i]));
  const REAL unit = EPSILON / 2, tolerance = unit * greater(10, lesser(100, root(root(root(1 / unit)))));
  REAL bound = n ? size_of_real(d[0]) : 0, least = bound;
  for (Index i = 1; i < n && least != 0; i++) {
    bound = size_of_real(d[i]) * (bound / (bound + size_of_real(e[i - 1])));
    least = lesser(least, bound);
  }
  least /= root((REAL)n);
  const REAL steps = 6 * (REAL)n * (REAL)n;
  const REAL nothing = greater(tolerance * least, steps * LEAST);
  REAL left = steps;
  Index old_low = -1, old_high = -1;
  bool downwards = true;
  for (Index high = n - 1; high > 0;) {
    if (left < 0) {
      int32_t count = 0;
      for (Index i = 0; i < n - 1; i++) count += e[i] != 0;
      return count;
    }
    if (size_of_real(d[high]) <= nothing) d[high] = 0;
    Index low = high - 1;
    REAL most = size_of_real(d[high]);
    for (; low >= 0; low--) {
      if (size_of_real(d[low]) <= nothing) d[low] = 0;
      if (size_of_real(e[low]) <= nothing) {
        e[low] = 0;
        break;
      }
      most = greater(most, greater(size_of_real(d[low]), size_of_real(e[low])));
    }
    low++;
    if (low == high) {
      high--;
      continue;
    }
    if (low == high - 1) {
      Turn turn_left, turn_right;
      REAL large, small;
      triangle_pair(d[low], e[low], d[high], &large, &small, &turn_left, &turn_right);
      d[low] = large, d[high] = small, e[low] = 0;
      turn_both(b, low, turn_left, turn_right);
      high -= 2;
      continue;
    }
    /* another block than before: from its larger end to the smaller */
    if (low > old_high || high < old_low) downwards = size_of_real(d[low]) >= size_of_real(d[high]);
    if (is_cut(b, low, high, downwards, tolerance, &least)) continue;
    old_low = low;
    old_high = high;
    REAL shift = shift_of(b, low, high, downwards, tolerance, least, most);
    left -= (REAL)(high - low);
    if (downwards)
      step_down(b, low, high, shift);
    else
      step_up(b, low, high, shift);
    Index last = downwards ? high - 1 : low;
    if (size_of_real(e[last]) <= nothing) e[last] = 0;
  }
  sort_descending(b);
  return 0;
}
int32_t linalg_bidiagonal(int64_t n, bool is_lower, REAL *d, REAL *e, REAL *u, REAL *v) {
  Bidiagonal b = {n, d, e, u, v};
  if (u) set_identity(n, u), set_identity(n, v);
  /* Rotations of its rows make it an upper one; they come to u first, which is the identity. */
  for (Index i = 0; is_lower && i < n - 1; i++) {
    Turn turn;
    rotation_of(d[i], e[i], &turn.c, &turn.s, &d[i]);
    e[i] = turn.s * d[i + 1];
    d[i + 1] *= turn.c;
    if (u) rotate_columns(n, u, i, turn.c, turn.s);
  }
  return bidiagonal_values(&b);
}
