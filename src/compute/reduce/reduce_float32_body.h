/* reduce_float32.h for one instruction set. The including file defines FORM(name), the name's form, and FUSED
 * (vector_math_body.h). */
#include "compute/reduce/reduce.h"
#include "tile/vector_math_body.h"

/* ---- sums, to which each value adds TERM ---- */
#define AS_IS(x) (x)
#define SQUARED(x) ((x) * (x))
/* Four rows at once, in order; four columns at once, converted as they are loaded. */
enum { COLUMNS = 4 };
typedef double Doubles __attribute__((vector_size(COLUMNS * sizeof(double)), aligned(sizeof(double)), may_alias));
typedef int64_t Longs __attribute__((vector_size(COLUMNS * sizeof(int64_t)), aligned(sizeof(int64_t)), may_alias));
#define LOAD(at) ((Doubles){(double)(at)[0], (double)(at)[1], (double)(at)[2], (double)(at)[3]})
#define SUMS(NAME, LINE, TERM)                                                                                      \
  static void NAME##_along(void *const *state, int64_t rows, int64_t stride, int64_t n, const float *x, int64_t at, \
                           bool positions) {                                                                        \
    double *sums = state[0];                                                                                        \
    (void)at, (void)positions;                                                                                      \
    for (int64_t r = 0; r < rows; r++) sums[r] += LINE(n, x + r * stride);                                          \
  }                                                                                                                 \
  static void NAME##_down(void *const *state, int64_t rows, int64_t stride, int64_t n, const float *x, int64_t at,  \
                          bool positions) {                                                                         \
    double *sums = state[0];                                                                                        \
    (void)at, (void)positions;                                                                                      \
    for (int64_t r = 0, count; r < rows; r += count, x += count * stride) {                                         \
      int64_t i = 0;                                                                                                \
      count = rows - r < 4 ? 1 : 4;                                                                                 \
      for (; i + COLUMNS <= n && count == 4; i += COLUMNS) {                                                        \
        const float *a = x + i, *b = a + stride, *c = b + stride, *d = c + stride;                                  \
        Doubles *to = (Doubles *)(sums + i), v = LOAD(a), w = LOAD(b), y = LOAD(c), z = LOAD(d);                    \
        *to = *to + TERM(v) + TERM(w) + TERM(y) + TERM(z);                                                          \
      }                                                                                                             \
      for (; i + COLUMNS <= n && count == 1; i += COLUMNS) {                                                        \
        Doubles *to = (Doubles *)(sums + i), v = LOAD(x + i);                                                       \
        *to += TERM(v);                                                                                             \
      }                                                                                                             \
      for (; i < n; i++)                                                                                            \
        for (int64_t k = 0; k < count; k++) sums[i] += TERM((double)x[k * stride + i]);                             \
    }                                                                                                               \
  }
SUMS(sum, FORM(line_sum_f32), AS_IS)
SUMS(squares, FORM(line_squares_f32), SQUARED)

/* ---- extremes: the first of equal values wins; a NaN wins over numbers and the first NaN over later ones ---- */
enum { WIDTH = 8 };
typedef int32_t Ints __attribute__((vector_size(WIDTH * sizeof(int32_t))));
typedef float Floats __attribute__((vector_size(WIDTH * sizeof(float)), aligned(sizeof(float)), may_alias));
/* The better of two numbers each. */
#define PICK(BETTER, x, y) ((Floats)(((x BETTER y) & (Ints)x) | (~(x BETTER y) & (Ints)y)))

/* Where value first is in x, which has it, or else NaN, of which then the first. */
static int64_t position_of(int64_t n, const float *x, float value) {
  int64_t i = 0;
  for (; i + WIDTH <= n; i += WIDTH) {
    Floats v = *(const Floats *)(x + i);
    Ints found = (v == value) | (v != v);
    int32_t any = 0;
    for (int k = 0; k < WIDTH; k++) any |= found[k];
    if (any) break;
  }
  while (x[i] != value && x[i] == x[i]) i++;
  return i;
}

/* NAME_line gives NaN for a line with one, and either of -0 and 0. Until then numbers beside a NaN may get lost. */
#define EXTREME(NAME, BETTER, LEAST)                                                                                \
  static float NAME##_line(int64_t n, const float *x) {                                                             \
    Floats lanes = (Floats){0} + LEAST;                                                                             \
    Ints odd = {0};                                                                                                 \
    float best = LEAST;                                                                                             \
    bool any_odd = false;                                                                                           \
    int64_t i = 0;                                                                                                  \
    for (; i + 4 * WIDTH <= n; i += 4 * WIDTH) {                                                                    \
      const Floats *v = (const Floats *)(x + i);                                                                    \
      Floats a = v[0], b = v[1], c = v[2], d = v[3];                                                                \
      odd |= (a != a) | (b != b) | (c != c) | (d != d);                                                             \
      a = PICK(BETTER, a, b);                                                                                       \
      c = PICK(BETTER, c, d);                                                                                       \
      a = PICK(BETTER, a, c);                                                                                       \
      lanes = PICK(BETTER, a, lanes);                                                                               \
    }                                                                                                               \
    for (; i + WIDTH <= n; i += WIDTH) {                                                                            \
      Floats a = *(const Floats *)(x + i);                                                                          \
      odd |= a != a;                                                                                                \
      lanes = PICK(BETTER, a, lanes);                                                                               \
    }                                                                                                               \
    for (; i < n; i++) {                                                                                            \
      best = x[i] BETTER best ? x[i] : best;                                                                        \
      any_odd |= x[i] != x[i];                                                                                      \
    }                                                                                                               \
    int64_t bits[WIDTH / 2];                                                                                        \
    float four[WIDTH / 2];                                                                                          \
    memcpy(bits, &odd, sizeof odd);                                                                                 \
    any_odd |= (bits[0] | bits[1] | bits[2] | bits[3]) != 0;                                                        \
    for (int k = 0; k < WIDTH / 2; k++) four[k] = lanes[k] BETTER lanes[k + 4] ? lanes[k] : lanes[k + 4];           \
    four[0] = four[0] BETTER four[2] ? four[0] : four[2];                                                           \
    four[1] = four[1] BETTER four[3] ? four[1] : four[3];                                                           \
    four[0] = four[0] BETTER four[1] ? four[0] : four[1];                                                           \
    best = four[0] BETTER best ? four[0] : best;                                                                    \
    return any_odd ? NAN : best;                                                                                    \
  }                                                                                                                 \
  static void NAME##_along(void *const *state, int64_t rows, int64_t stride, int64_t n, const float *x, int64_t at, \
                           bool positions) {                                                                        \
    double *best = state[0];                                                                                        \
    int64_t *place = state[1];                                                                                      \
    for (int64_t r = 0; r < rows; r++, x += stride) {                                                               \
      float value = NAME##_line(n, x);                                                                              \
      if (at && !(value BETTER best[r]) && !(value != value && best[r] == best[r])) continue;                       \
      best[r] = value;                                                                                              \
      if (!positions && value != 0) continue;                                                                       \
      int64_t position = position_of(n, x, value);                                                                  \
      best[r] = x[position];                                                                                        \
      place[r] = at + position;                                                                                     \
    }                                                                                                               \
  }                                                                                                                 \
  static void NAME##_down(void *const *state, int64_t rows, int64_t stride, int64_t n, const float *x, int64_t at,  \
                          bool positions) {                                                                         \
    double *best = state[0];                                                                                        \
    int64_t *place = state[1];                                                                                      \
    (void)positions;                                                                                                \
    for (int64_t r = 0; r < rows; r++, x += stride) {                                                               \
      int64_t position = at + r, none = position ? 0 : -1, i = 0;                                                   \
      for (; i + COLUMNS <= n; i += COLUMNS) {                                                                      \
        Doubles *to = (Doubles *)(best + i), value = LOAD(x + i), old = *to;                                        \
        Longs *where = (Longs *)(place + i);                                                                        \
        Longs better = none | (value BETTER old) | ((value != value) & (old == old));                               \
        *to = (Doubles)((better & (Longs)value) | (~better & (Longs)old));                                          \
        *where = (better & position) | (~better & *where);                                                          \
      }                                                                                                             \
      for (; i < n; i++)                                                                                            \
        if (none || x[i] BETTER best[i] || (x[i] != x[i] && best[i] == best[i])) {                                  \
          best[i] = x[i];                                                                                           \
          place[i] = position;                                                                                      \
        }                                                                                                           \
    }                                                                                                               \
  }
EXTREME(max, >, -INFINITY)
EXTREME(min, <, INFINITY)

/* ---- logsumexp: NaN is left out of the largest values: it spreads by the sum. What is added to the sums is less
 * `shift`, which is finite: without it infinities give the right sum themselves. ---- */
static inline float shift_of(double most) {
  return most - most == 0 ? (float)most : 0;
}

/* The sum of exponentials less `most`, and a new largest value. */
static inline void raise(double *most, double *sum, float value) {
  if (!(value > *most)) return;
  if (*sum != 0) *sum *= exp(*most - (double)value);
  *most = value;
}

static void add_exponentials(double *most, double *sum, int64_t n, const float *x) {
  float e[REDUCE_BLOCK];
  raise(most, sum, max_line(n, x));
  float shift = shift_of(*most);
  memcpy(e, x, (size_t)n * sizeof *e);
  for (int64_t i = n; i % WIDTH != 0; i++) e[i] = 0;
  for (int64_t i = 0; i < n; i += WIDTH)
    for (int k = 0; k < WIDTH; k++) e[i + k] = f32_exp(e[i + k] - shift);
  *sum += FORM(line_sum_f32)(n, e);
}
_Static_assert(REDUCE_BLOCK % WIDTH == 0, "vectors fill a block");

static void logsumexp_along(void *const *state, int64_t rows, int64_t stride, int64_t n, const float *x, int64_t at,
                            bool positions) {
  double *most = state[0], *sums = state[1];
  (void)at, (void)positions;
  for (int64_t r = 0; r < rows; r++) add_exponentials(&most[r], &sums[r], n, x + r * stride);
}

/* Column by column of a block that stays in the nearest cache. */
static void logsumexp_down(void *const *state, int64_t rows, int64_t stride, int64_t n, const float *x, int64_t at,
                           bool positions) {
  double *most = state[0], *sums = state[1];
  float column[REDUCE_BLOCK];
  (void)at, (void)positions;
  for (int64_t r = 0; r < rows; r += REDUCE_BLOCK, x += REDUCE_BLOCK * stride) {
    int64_t count = rows - r < REDUCE_BLOCK ? rows - r : REDUCE_BLOCK;
    for (int64_t i = 0; i < n; i++) {
      for (int64_t k = 0; k < count; k++) column[k] = x[k * stride + i];
      add_exponentials(&most[i], &sums[i], count, column);
    }
  }
}

#define ROW(name) \
  { name##_along, name##_down }
const ReduceRowsTable FORM(reduce_rows) = {[REDUCE_FLOAT32_SUM] = ROW(sum),
                                           [REDUCE_FLOAT32_SQUARES] = ROW(squares),
                                           [REDUCE_FLOAT32_MAX] = ROW(max),
                                           [REDUCE_FLOAT32_MIN] = ROW(min),
                                           [REDUCE_FLOAT32_LOGSUMEXP] = ROW(logsumexp)};
