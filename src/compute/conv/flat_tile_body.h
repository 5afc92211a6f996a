/* The loops of flat convolution over one type of vectors. Before it stand: V, LANES, VECTORS (in a tile's width), STEP
 * (rows at a time), TALL (rows of a plane at a time), PATCH (positions of a product), DOT_TALL (rows of a block of
 * products of lines, 4 or 8), Mask and mask_of, load, load_masked, store, store_masked, splat, arithmetic by name,
 * evens, interleave, deinterleave, transpose (LANES vectors, in place), one_and_exp_minus (flat_exp_body.h), KERNELS,
 * the table's name, DIRECT where flat_direct_body.h can be had, and HALVES where vectors are longer than FLAT_ROWS:
 * then R, R_LANES and the functions that end in _rows are shorter ones'. */
#include <assert.h>
#include <math.h>
#include <string.h>

#define UNROLLED _Pragma("GCC unroll 8")
#define UNROLLED_LANES _Pragma("GCC unroll 16")
#define UNROLLED_DOTS _Pragma("GCC unroll 24")

/* Runs DO(at, mask) for n elements, a vector at a time; only the last may need the mask. */
#define EACH_VECTOR(n, DO)                             \
  do {                                                 \
    int64_t each_at = 0;                               \
    for (; each_at + LANES <= (n); each_at += LANES) { \
      DO(each_at, mask_of(LANES));                     \
    }                                                  \
    if (each_at < (n)) {                               \
      DO(each_at, mask_of((int)((n)-each_at)));        \
    }                                                  \
  } while (0)

/* ---- epilogues ---- */

/* What takes more registers than a tile leaves: done to lines that were just written. */
static inline __attribute__((always_inline)) V activate_late(bool is_silu, V x) {
  return divide(is_silu ? x : splat(1), one_and_exp_minus(x));
}
static inline __attribute__((always_inline)) void activate_lines(bool is_silu, int rows, int64_t stride, int64_t n,
                                                                 float *x) {
  for (int r = 0; r < rows; r++, x += stride) {
#define ACTIVATE(i, m) store_masked(x + (i), m, activate_late(is_silu, load_masked(x + (i), m)))
    EACH_VECTOR(n, ACTIVATE);
#undef ACTIVATE
  }
}
/* `rows` lines of n, `stride` apart. */
static __attribute__((noinline)) void activate_block(const Activation *a, int rows, int64_t stride, int64_t n,
                                                     float *x) {
  if (a->kind == ACTIVATION_SIGMOID) activate_lines(false, rows, stride, n, x);
  if (a->kind == ACTIVATION_SILU) activate_lines(true, rows, stride, n, x);
  if (a->kind == ACTIVATION_FORMULA) activation_formula(a->formula, rows, stride, n, x);
}

static inline __attribute__((always_inline)) V hardswish(V x) {
  return divide(multiply(x, clamp(plus(x, splat(3)), splat(0), splat(6))), splat(6));
}
/* The others; of those it leaves x as it is. */
static inline __attribute__((always_inline)) V activate(const Activation *a, V x) {
  switch (a->kind) {
    case ACTIVATION_LIMITS:
      return clamp(x, splat(a->low), splat(a->high));
    case ACTIVATION_HARDSWISH:
      return hardswish(x);
    case ACTIVATION_HARDSIGMOID:
      return divide(clamp(plus(x, splat(3)), splat(0), splat(6)), splat(6));
    default:
      return x;
  }
}

/* Writes a row's sums, `count` vectors with the last of them under the mask. */
static inline __attribute__((always_inline)) void finish(const FlatTile *t, int row, int count, const V *sums,
                                                         Mask mask, float *out) {
  UNROLLED for (int v = 0; v < count; v++) {
    Mask m = v == count - 1 ? mask : mask_of(LANES);
    V x = sums[v];
    if (t->accumulate) x = plus(x, load_masked(out + v * LANES, m));
    if (t->last && t->scale) x = multiply(x, splat(t->scale[row]));
    if (t->last && t->shift) x = plus(x, splat(t->shift[row]));
    if (t->last && !t->is_raw) {
      if (t->add) x = plus(x, load_masked(t->add + row * t->out_stride + v * LANES, m));
      x = activate(&t->activation, x);
    }
    store_masked(out + v * LANES, m, x);
  }
}

/* The same of what most tiles are: summed up at once, shifted and maybe scaled, with hardswish, clamped, or followed by
 * activate_rows. Without a clamp, between infinities: NaN and all others stay. */
static inline bool is_short(const FlatTile *t) {
  return t->last && !t->is_raw && !t->accumulate && !t->add && t->shift && t->activation.kind != ACTIVATION_HARDSIGMOID;
}
static inline __attribute__((always_inline)) void finish_short(const FlatTile *t, bool is_hardswish, int first,
                                                               int step, int count, V sums[][VECTORS], Mask mask) {
  V low = splat(t->activation.kind == ACTIVATION_LIMITS ? t->activation.low : -INFINITY),
    high = splat(t->activation.kind == ACTIVATION_LIMITS ? t->activation.high : INFINITY);
  const int rows = t->rows - first; /* here and below what stores could change, as the compiler sees it */
  const int64_t stride = t->out_stride;
  const float *scale = t->scale ? t->scale + first : NULL, *shift = t->shift + first;
  float *out = t->out + first * stride;
  UNROLLED for (int r = 0; r < step; r++, out += stride) if (r < rows) {
    V factor = splat(scale ? scale[r] : 1), term = splat(shift[r]);
    UNROLLED for (int v = 0; v < count; v++) {
      V x = plus(multiply(sums[r][v], factor), term);
      x = is_hardswish ? hardswish(x) : clamp(x, low, high);
      store_masked(out + v * LANES, v == count - 1 ? mask : mask_of(LANES), x);
    }
  }
}

/* After all rows of a tile were written by finish. */
static void activate_rows(const FlatTile *t) {
  if (!t->last || t->is_raw || !activation_is_by_lines(&t->activation)) return;
  activate_block(&t->activation, t->rows, t->out_stride, t->width, t->out);
}

static void finish_rows(const FlatTile *t, int64_t first, int64_t n, int64_t stride, const float *add, float *out) {
  for (int r = 0; r < t->rows; r++) {
    const float *from = t->out + r * t->out_stride + first;
#define FINISH(i, m)                                            \
  V x = load_masked(from + (i), m);                             \
  if (add) x = plus(x, load_masked(add + r * stride + (i), m)); \
  store_masked(out + r * stride + (i), m, activate(&t->activation, x))
    EACH_VECTOR(n, FINISH);
#undef FINISH
  }
  if (activation_is_by_lines(&t->activation)) activate_block(&t->activation, t->rows, stride, n, out);
}

/* ---- tiles ---- */

/* One tap of one channel: `count` vectors of inputs times `step` weights. */
static inline __attribute__((always_inline)) void sum_up(int step, int count, const float *x, Mask mask, const float *w,
                                                         V sums[][VECTORS]) {
  V b[VECTORS];
  UNROLLED for (int v = 0; v < count - 1; v++) b[v] = load(x + v * LANES);
  b[count - 1] = load_masked(x + (count - 1) * LANES, mask);
  UNROLLED for (int r = 0; r < step; r++) {
    V s = splat(w[r]);
    UNROLLED for (int v = 0; v < count; v++) sums[r][v] = multiply_add(s, b[v], sums[r][v]);
  }
}

static inline __attribute__((always_inline)) void tile_of_vectors(const FlatTile *t, int count, Mask mask) {
  const int step = count == 1 ? FLAT_ROWS : STEP; /* so that enough sums are under way */
  for (int first = 0; first < t->rows; first += step) {
    V sums[FLAT_ROWS][VECTORS];
    const float *w = t->weights + first, *x = t->input;
    UNROLLED for (int r = 0; r < step; r++) UNROLLED for (int v = 0; v < count; v++) sums[r][v] = splat(0);
    if (t->tap_count == 1) {
      x += t->taps[0];
      enum { AHEAD = 8 }; /* channels: rows of planes and weights come from L3 or memory as often as not */
      const float *next = t->next ? t->next : w + 4 * AHEAD * FLAT_ROWS;
      for (int64_t c = t->channels; c > 0; c--, x += t->channel_stride, w += FLAT_ROWS, next += FLAT_ROWS) {
        UNROLLED for (int v = 0; v < count; v++) __builtin_prefetch(x + AHEAD * t->channel_stride + v * LANES);
        __builtin_prefetch(next);
        sum_up(step, count, x, mask, w, sums);
      }
    } else {
      for (int64_t c = t->channels; c > 0; c--, x += t->channel_stride)
        for (int64_t k = 0; k < t->tap_count; k++, w += FLAT_ROWS) sum_up(step, count, x + t->taps[k], mask, w, sums);
    }
    if (is_short(t)) {
      if (t->activation.kind == ACTIVATION_HARDSWISH)
        finish_short(t, true, first, step, count, sums, mask);
      else
        finish_short(t, false, first, step, count, sums, mask);
      continue;
    }
    UNROLLED for (int r = 0; r < step; r++) if (first + r < t->rows)
        finish(t, first + r, count, sums[r], mask, t->out + (first + r) * t->out_stride);
  }
}

/* Functions of their own, so that each has all registers; whole tiles need no mask. */
#define TILE_OF(name, count)                                              \
  static __attribute__((noinline)) void name##_whole(const FlatTile *t) { \
    tile_of_vectors(t, count, mask_of(LANES));                            \
  }                                                                       \
  static __attribute__((noinline)) void name##_part(const FlatTile *t) {  \
    tile_of_vectors(t, count, mask_of(t->width - (count - 1) * LANES));   \
  }                                                                       \
  static void name(const FlatTile *t) {                                   \
    if (t->width == (count)*LANES)                                        \
      name##_whole(t);                                                    \
    else                                                                  \
      name##_part(t);                                                     \
  }
TILE_OF(tile_of_one, 1)
TILE_OF(tile_of_two, 2)
#if VECTORS > 2
TILE_OF(tile_of_three, 3)
#endif
#undef TILE_OF

/* ---- few positions ---- */

#ifndef HALVES
typedef V R;
enum { R_LANES = LANES };
#define load_rows load
#define store_rows store
#define splat_rows splat
#define multiply_add_rows multiply_add
#define plus_rows plus
#endif
enum { PIECES = FLAT_ROWS / R_LANES /* of a panel's rows */ };

/* Two sums of each position that do not wait for each other, of every other channel. Positions beyond the tile's width
 * are its last again. */
static inline __attribute__((always_inline)) void sum_columns(const FlatTile *t, int width, float *columns) {
  R sums[2][FLAT_COLUMNS][PIECES];
  int64_t at[FLAT_COLUMNS], taps = t->tap_count, step = t->channel_stride;
  UNROLLED for (int i = 0; i < width; i++) at[i] = i < t->width ? i : t->width - 1;
  UNROLLED for (int a = 0; a < 2; a++) UNROLLED for (int i = 0; i < width; i++)
      UNROLLED for (int q = 0; q < PIECES; q++) sums[a][i][q] = splat_rows(0);
  for (int64_t k = 0; k < taps; k++) {
    const float *x = t->input + t->taps[k], *w = t->weights + k * FLAT_ROWS;
#define SUM(a)                                                                                       \
  UNROLLED for (int i = 0; i < width; i++) UNROLLED for (int q = 0; q < PIECES; q++) sums[a][i][q] = \
      multiply_add_rows(load_rows(w + q * R_LANES), splat_rows(x[at[i]]), sums[a][i][q]);            \
  x += step;                                                                                         \
  w += taps * FLAT_ROWS
    for (int64_t c = t->channels / 2; c > 0; c--) {
      SUM(0);
      SUM(1);
    }
    if (t->channels % 2) {
      SUM(0);
    }
#undef SUM
  }
  UNROLLED for (int i = 0; i < width; i++) UNROLLED for (int q = 0; q < PIECES; q++)
      store_rows(columns + i * FLAT_ROWS + q * R_LANES, plus_rows(sums[0][i][q], sums[1][i][q]));
}

static void column(const FlatTile *t) {
  float columns[FLAT_COLUMNS * FLAT_ROWS];
  Mask mask = mask_of(t->width);
  if (t->width == 1)
    sum_columns(t, 1, columns);
  else
    sum_columns(t, FLAT_COLUMNS, columns);
  for (int r = 0; r < t->rows; r++) {
    float row[LANES] = {0};
    for (int i = 0; i < t->width; i++) row[i] = columns[i * FLAT_ROWS + r];
    V x = load(row);
    finish(t, r, 1, &x, mask, t->out + r * t->out_stride);
  }
  activate_rows(t);
}

/* ---- tiles of any width ---- */

static void tile(const FlatTile *t) {
  assert(t->width > 0 && t->width <= VECTORS * LANES && t->rows > 0 && t->rows <= FLAT_ROWS);
  if (t->width <= FLAT_COLUMNS && t->width < LANES) { /* whole vectors are summed up in the same order in any tile */
    column(t);
    return;
  }
  if (t->width <= LANES)
    tile_of_one(t);
  else if (t->width <= 2 * LANES)
    tile_of_two(t);
#if VECTORS > 2
  else
    tile_of_three(t);
#endif
  activate_rows(t);
}

/* ---- depthwise ---- */

/* Finishes and writes vectors of `count` rows, one below the other. */
static inline __attribute__((always_inline)) void write_rows(const FlatPlane *p, int count, int64_t row, int64_t at,
                                                             Mask m, const V *sums) {
  UNROLLED for (int r = 0; r < count; r++) {
    int64_t to = (row + r) * p->length + at;
    V y = plus(multiply(sums[r], splat(p->scale)), splat(p->shift));
    if (p->add) y = plus(y, load_masked(p->add + to, m));
    store_masked(p->out + to, m, activate(&p->activation, y));
  }
}

static inline __attribute__((always_inline)) void rows_of_taps(const FlatPlane *p, int count, int64_t row, int64_t at,
                                                               int n) {
  Mask m = mask_of(n);
  V sums[8];
  const float *x = p->input + row * p->row_stride + at;
  UNROLLED for (int r = 0; r < count; r++) sums[r] = splat(0);
  for (int64_t k = 0; k < p->tap_count; k++) {
    V w = splat(p->weights[k]);
    UNROLLED for (int r = 0; r < count; r++) sums[r] =
        multiply_add(w, load_masked(x + p->taps[k] + r * p->row_stride, m), sums[r]);
  }
  write_rows(p, count, row, at, m, sums);
}

/* The same where taps lie side by side in a square: a row of inputs is read once for all results it is part of, which
 * counts, because most reads cross cache lines. */
static inline __attribute__((always_inline)) void rows_of_square(const FlatPlane *p, int kernel, int count, int64_t row,
                                                                 int64_t at, int n) {
  Mask m = mask_of(n);
  V sums[8], w[7];
  UNROLLED for (int r = 0; r < count; r++) sums[r] = splat(0);
  for (int k = 0; k < kernel; k++) {
    const float *x = p->input + row * p->row_stride + at + k;
    UNROLLED for (int i = 0; i < kernel; i++) w[i] = splat(p->weights[i * kernel + k]);
    _Pragma("GCC unroll 16") for (int y = 0; y < count + kernel - 1; y++) {
      V line = load_masked(x + y * p->row_stride, m);
      UNROLLED for (int r = 0; r < count; r++) if (y - r >= 0 && y - r < kernel) sums[r] =
          multiply_add(w[y - r], line, sums[r]);
    }
  }
  write_rows(p, count, row, at, m, sums);
}

/* The side of the square in which taps lie side by side; 0: they don't. */
static int square_of(const FlatPlane *p) {
  int side = p->tap_count == 9 ? 3 : p->tap_count == 25 ? 5 : p->tap_count == 49 ? 7 : 0;
  for (int64_t k = 0; side && k < p->tap_count; k++)
    if (p->taps[k] != k / side * p->row_stride + k % side) return 0;
  return side;
}

/* The same for a stride of 2 both ways, on a plane that is not split: every other input is picked from two vectors. */
static inline __attribute__((always_inline)) void rows_of_halves(const FlatPlane *p, int kernel, int count, int64_t row,
                                                                 int64_t at, int n) {
  V sums[4], w[7];
  UNROLLED for (int r = 0; r < count; r++) sums[r] = splat(0);
  for (int k = 0; k < kernel; k++) {
    const float *x = p->input + 2 * (row * p->row_stride + at) + k;
    UNROLLED for (int i = 0; i < kernel; i++) w[i] = splat(p->weights[i * kernel + k]);
    _Pragma("GCC unroll 16") for (int y = 0; y < 2 * count + kernel - 2; y++) {
      V line = evens(x + y * p->row_stride, n);
      UNROLLED for (int r = 0; r < count; r++) if (y - 2 * r >= 0 && y - 2 * r < kernel) sums[r] =
          multiply_add(w[y - 2 * r], line, sums[r]);
    }
  }
  write_rows(p, count, row, at, mask_of(n), sums);
}

/* `count` rows from `row` on; the last vector begins as early as it has to. Functions of their own, so that each has
 * all registers. */
#define ROWS_OF(name, rows_of, count)                                                   \
  static __attribute__((noinline)) void name##_whole(const FlatPlane *p, int64_t row) { \
    for (int64_t i = 0; i < p->length; i += LANES)                                      \
      rows_of(p, count, row, i + LANES <= p->length ? i : p->length - LANES, LANES);    \
  }                                                                                     \
  static __attribute__((noinline)) void name##_part(const FlatPlane *p, int64_t row) {  \
    rows_of(p, count, row, 0, (int)p->length);                                          \
  }                                                                                     \
  static void name(const FlatPlane *p, int64_t row) {                                   \
    (p->length >= LANES ? name##_whole : name##_part)(p, row);                          \
  }
#define ROWS_OF_EACH(name, rows_of)                           \
  ROWS_OF(name##_four, rows_of, 4)                            \
  ROWS_OF(name##_two, rows_of, 2)                             \
  ROWS_OF(name##_one, rows_of, 1)                             \
  static void name##_rest(const FlatPlane *p, int64_t row) {  \
    for (; row + 4 <= p->rows; row += 4) name##_four(p, row); \
    for (; row + 2 <= p->rows; row += 2) name##_two(p, row);  \
    for (; row < p->rows; row++) name##_one(p, row);          \
  }
#define ROWS_OF_TALL(name, rows_of)                                 \
  ROWS_OF_EACH(name, rows_of)                                       \
  ROWS_OF(name##_tall, rows_of, TALL)                               \
  static void name(const FlatPlane *p) {                            \
    int64_t row = 0;                                                \
    for (; row + TALL <= p->rows; row += TALL) name##_tall(p, row); \
    name##_rest(p, row);                                            \
  }
#define SQUARE_3(p, count, row, at, n) rows_of_square(p, 3, count, row, at, n)
#define SQUARE_5(p, count, row, at, n) rows_of_square(p, 5, count, row, at, n)
#define SQUARE_7(p, count, row, at, n) rows_of_square(p, 7, count, row, at, n)
#define HALVES_3(p, count, row, at, n) rows_of_halves(p, 3, count, row, at, n)
#define HALVES_5(p, count, row, at, n) rows_of_halves(p, 5, count, row, at, n)
ROWS_OF_TALL(square_of_3, SQUARE_3)
ROWS_OF_TALL(square_of_5, SQUARE_5)
ROWS_OF_TALL(square_of_7, SQUARE_7)
ROWS_OF_TALL(any_taps, rows_of_taps)
ROWS_OF_EACH(halves_of_3, HALVES_3)
ROWS_OF_EACH(halves_of_5, HALVES_5)
#undef ROWS_OF
#undef ROWS_OF_EACH
#undef ROWS_OF_TALL

static void depthwise(const FlatPlane *p) {
  int side = square_of(p);
  assert(p->step == 1 || (p->step == 2 && (side == 3 || side == 5)));
  if (p->step == 2)
    (side == 3 ? halves_of_3_rest : halves_of_5_rest)(p, 0);
  else
    (side == 3 ? square_of_3 : side == 5 ? square_of_5 : side == 7 ? square_of_7 : any_taps)(p);
  if (activation_is_by_lines(&p->activation)) activate_block(&p->activation, 1, 0, p->rows * p->length, p->out);
}

/* ---- laying out ---- */

static inline void clear(int64_t n, float *to) {
  for (int64_t i = 0; i < n; i++) to[i] = 0;
}

static void lay(const FlatRows *l) {
  const float *from = l->from;
  float *to = l->to;
  int64_t n = l->count, stride = l->stride;
  for (int64_t row = 0; row < l->rows; row++, from += l->from_step) {
    clear(l->before, to);
    to += l->before;
    if (stride > 2 || n < LANES) { /* few are done sooner one by one than by a masked store */
      for (int64_t i = 0; i < n; i++) to[i] = from[stride * i];
    } else { /* the last vector begins as early as it has to */
      for (int64_t i = 0; i < n; i += LANES) {
        int64_t at = i + LANES <= n ? i : n - LANES;
        store_masked(to + at, mask_of(LANES), stride == 2 ? evens(from + 2 * at, LANES) : load(from + at));
      }
    }
    to += n;
    clear(l->after, to);
    to += l->after;
  }
}

static void lay_gated(const float *from, int64_t stride, int64_t depth, int64_t n, const float *gates, float *to) {
  for (int64_t k = 0; k < depth; k++, from += stride, to += n) {
    V gate = splat(gates[k]);
#define LAY(i, m) store_masked(to + (i), m, multiply(gate, load_masked(from + (i), m)))
    EACH_VECTOR(n, LAY);
#undef LAY
  }
}

/* ---- lines ---- */

/* The lines joined one after the other; with few of them, known here, the loop is straight. */
static inline __attribute__((always_inline)) void join_lines(bool sums, int count, const float *const *lines, int64_t n,
                                                             float *to) {
#define JOIN(i, m)                                        \
  V joined = load_masked(lines[0] + (i), m);              \
  UNROLLED for (int k = 1; k < count; k++) {              \
    V x = load_masked(lines[k] + (i), m);                 \
    joined = sums ? plus(x, joined) : greater(x, joined); \
  }                                                       \
  store_masked(to + (i), m, joined)
  EACH_VECTOR(n, JOIN);
#undef JOIN
}
static void maximum_line(int count, const float *const *lines, int64_t n, float *to) {
  if (count == 2)
    join_lines(false, 2, lines, n, to);
  else if (count == 3)
    join_lines(false, 3, lines, n, to);
  else
    join_lines(false, count, lines, n, to);
}
static void sum_line(int count, const float *const *lines, int64_t n, float *to) {
  join_lines(true, count, lines, n, to);
}

#ifdef DIRECT
/* The lanes of a vector that begins at `at` in a row of n. */
static inline Mask lanes_within(int64_t at, int64_t n) {
  int64_t first = at < 0 ? -at : 0, end = n - at;
  if (first > LANES) first = LANES;
  if (end < first) end = first;
  if (end > LANES) end = LANES;
  return mask_of((int)end) & ~mask_of((int)first);
}
#endif

#include "compute/conv/flat_winograd_body.h"

#include "compute/conv/flat_lanes_body.h"

#include "compute/conv/flat_few_body.h"

#ifdef DIRECT
#include "compute/conv/flat_direct_body.h"
#else
#define DIRECT NULL
#endif
#include "compute/conv/flat_dots_body.h"

const FlatKernels KERNELS = {
    .width = VECTORS * LANES,
    .vector = LANES,
    .patch = PATCH,
    .tile = tile,
    .few = few,
    .finish_rows = finish_rows,
    .depthwise = depthwise,
    .direct = DIRECT,
    .lay = lay,
    .lay_gated = lay_gated,
    .lanes_gather = lanes_gather,
    .lanes_join = lanes_join,
    .lanes_scatter = lanes_scatter,
    .lanes_copy = lanes_copy,
    .lanes_finish = lanes_finish,
    .product = product,
    .put_runs = put_runs,
    .put_places = put_places,
    .winograd_input = winograd_input,
    .winograd_filters = winograd_filters,
    .winograd_output = winograd_output,
    .winograd_deal = winograd_deal,
    .maximum = maximum_line,
    .sum = sum_line,
    .dots = dots,
};
