/* Transforms of groups of lines, for one instruction set: included once for each of float and double, with NUMBER,
 * LANES and NAMED(name), the name of a function of this form.
 *
 * A group lies in split parts: real ones, then imaginary ones. Point j of line l is at j * LANES + l; a line that
 * takes all lanes by itself (a single one) has point j at j. */
#include <string.h>

typedef NUMBER NAMED(Vector) __attribute__((vector_size(FFT_VECTOR_BYTES), aligned(sizeof(NUMBER))));
#define Vector NAMED(Vector)
typedef struct NAMED(Parts) {
  Vector *restrict re, *restrict im;
} NAMED(Parts);
#define Parts NAMED(Parts)

/* a * (re + i im), into *re and *im of the result. */
#define TIMES(x_re, x_im, w, out_re, out_im)          \
  do {                                                \
    Vector times_re = (x_re), times_im = (x_im);      \
    (out_re) = times_re * (w)[0] - times_im * (w)[1]; \
    (out_im) = times_re * (w)[1] + times_im * (w)[0]; \
  } while (0)

/* ---- one pass: transforms of `radix` points, `apart` of them interleaved, and the twiddles after them ---- */

typedef struct NAMED(Pass) {
  int64_t rest;        /* points of what is transformed after this pass */
  int64_t apart;       /* product of the radices before it */
  const NUMBER *roots; /* pairs, of the whole length */
  int64_t step;        /* from one of them to the next */
} NAMED(Pass);
#define Pass NAMED(Pass)

static void NAMED(pass2)(const Pass *pass, Parts x, Parts y) {
  int64_t rest = pass->rest, s = pass->apart;
  for (int64_t p = 0; p < rest; p++) {
    const NUMBER *w = pass->roots + 2 * p * s * pass->step;
    for (int64_t q = 0; q < s; q++) {
      int64_t a = q + s * p, b = a + s * rest, to = q + s * 2 * p;
      y.re[to] = x.re[a] + x.re[b], y.im[to] = x.im[a] + x.im[b];
      TIMES(x.re[a] - x.re[b], x.im[a] - x.im[b], w, y.re[to + s], y.im[to + s]);
    }
  }
}

static void NAMED(pass4)(const Pass *pass, Parts x, Parts y) {
  int64_t rest = pass->rest, s = pass->apart;
  for (int64_t p = 0; p < rest; p++) {
    const NUMBER *w1 = pass->roots + 2 * p * s * pass->step, *w2 = pass->roots + 4 * p * s * pass->step,
                 *w3 = pass->roots + 6 * p * s * pass->step;
    for (int64_t q = 0; q < s; q++) {
      int64_t at = q + s * p, by = s * rest, to = q + s * 4 * p;
      Vector sum_re = x.re[at] + x.re[at + 2 * by], sum_im = x.im[at] + x.im[at + 2 * by];
      Vector gap_re = x.re[at] - x.re[at + 2 * by], gap_im = x.im[at] - x.im[at + 2 * by];
      Vector odd_re = x.re[at + by] + x.re[at + 3 * by], odd_im = x.im[at + by] + x.im[at + 3 * by];
      Vector turn_re = x.im[at + by] - x.im[at + 3 * by], turn_im = x.re[at + 3 * by] - x.re[at + by];
      y.re[to] = sum_re + odd_re, y.im[to] = sum_im + odd_im;
      TIMES(gap_re + turn_re, gap_im + turn_im, w1, y.re[to + s], y.im[to + s]);
      TIMES(sum_re - odd_re, sum_im - odd_im, w2, y.re[to + 2 * s], y.im[to + 2 * s]);
      TIMES(gap_re - turn_re, gap_im - turn_im, w3, y.re[to + 3 * s], y.im[to + 3 * s]);
    }
  }
}

/* Of an odd number of points: sums and differences of those that lie opposite. */
static inline __attribute__((always_inline)) void NAMED(odd_pass)(const Pass *pass, const int radix, Parts x, Parts y) {
  enum { HALF = FFT_LARGEST_FACTOR / 2 + 1 };
  int64_t rest = pass->rest, s = pass->apart, by = s * rest, circle = rest * s * pass->step;
  const int half = radix / 2;
  Vector sum_re[HALF], sum_im[HALF], gap_re[HALF], gap_im[HALF];
  NUMBER turn[HALF][2];
  for (int k = 0; k <= half; k++) memcpy(turn[k], pass->roots + 2 * k * circle, sizeof turn[k]);
  for (int64_t p = 0; p < rest; p++)
    for (int64_t q = 0; q < s; q++) {
      int64_t at = q + s * p, to = q + s * radix * p;
      Vector first_re = x.re[at], first_im = x.im[at], all_re = first_re, all_im = first_im;
      for (int k = 1; k <= half; k++) {
        int64_t one = at + k * by, other = at + (radix - k) * by;
        sum_re[k] = x.re[one] + x.re[other], sum_im[k] = x.im[one] + x.im[other];
        gap_re[k] = x.re[one] - x.re[other], gap_im[k] = x.im[one] - x.im[other];
        all_re += sum_re[k], all_im += sum_im[k];
      }
      y.re[to] = all_re, y.im[to] = all_im;
      for (int j = 1; j <= half; j++) {
        Vector even_re = first_re, even_im = first_im, odd_re = {0}, odd_im = {0};
        for (int k = 1, at_circle = j; k <= half; k++, at_circle = (at_circle + j) % radix) {
          bool is_mirrored = at_circle > half;
          const NUMBER *root = turn[is_mirrored ? radix - at_circle : at_circle];
          NUMBER c = root[0], d = is_mirrored ? -root[1] : root[1];
          even_re += sum_re[k] * c, even_im += sum_im[k] * c;
          odd_re -= gap_im[k] * d, odd_im += gap_re[k] * d;
        }
        const NUMBER *w = pass->roots + 2 * j * p * s * pass->step;
        const NUMBER *mirror = pass->roots + 2 * (radix - j) * p * s * pass->step;
        TIMES(even_re + odd_re, even_im + odd_im, w, y.re[to + j * s], y.im[to + j * s]);
        TIMES(even_re - odd_re, even_im - odd_im, mirror, y.re[to + (radix - j) * s], y.im[to + (radix - j) * s]);
      }
    }
}
static void NAMED(pass3)(const Pass *pass, Parts x, Parts y) {
  NAMED(odd_pass)(pass, 3, x, y);
}
static void NAMED(pass5)(const Pass *pass, Parts x, Parts y) {
  NAMED(odd_pass)(pass, 5, x, y);
}

/* Transforms `n` vectors between `x` and `y`; where they are afterwards. `step`: from one n-th root to the next. */
static Parts NAMED(passes)(const FftFactors *factors, int64_t n, const NUMBER *roots, int64_t step, Parts x, Parts y) {
  Pass pass = {.rest = n, .apart = 1, .roots = roots, .step = step};
  for (int i = 0; i < factors->count; i++) {
    int radix = factors->of[i];
    pass.rest /= radix;
    if (radix == 4)
      NAMED(pass4)(&pass, x, y);
    else if (radix == 2)
      NAMED(pass2)(&pass, x, y);
    else if (radix == 3)
      NAMED(pass3)(&pass, x, y);
    else if (radix == 5)
      NAMED(pass5)(&pass, x, y);
    else
      NAMED(odd_pass)(&pass, radix, x, y);
    pass.apart *= radix;
    Parts swapped = x;
    x = y, y = swapped;
  }
  return x;
}

/* ---- a line that takes all lanes: LANES transforms of every LANES-th point, joined ---- */

static inline __attribute__((always_inline)) void NAMED(join4)(Vector *re, Vector *im, int a, int by) {
  int b = a + by, c = b + by, d = c + by;
  Vector sum_re = re[a] + re[c], sum_im = im[a] + im[c], gap_re = re[a] - re[c], gap_im = im[a] - im[c];
  Vector odd_re = re[b] + re[d], odd_im = im[b] + im[d], turn_re = im[b] - im[d], turn_im = re[d] - re[b];
  re[a] = sum_re + odd_re, im[a] = sum_im + odd_im;
  re[b] = gap_re + turn_re, im[b] = gap_im + turn_im;
  re[c] = sum_re - odd_re, im[c] = sum_im - odd_im;
  re[d] = gap_re - turn_re, im[d] = gap_im - turn_im;
}

/* Of LANES points. */
static inline __attribute__((always_inline)) void NAMED(transform_lanes)(Vector *re, Vector *im, Vector *y_re,
                                                                         Vector *y_im) {
#if LANES == 8
  const NUMBER root = (NUMBER)0.70710678118654752440;
  NAMED(join4)(re, im, 0, 2);
  NAMED(join4)(re, im, 1, 2);
  Vector turned_re[4] = {re[1], (re[3] + im[3]) * root, im[5], (im[7] - re[7]) * root};
  Vector turned_im[4] = {im[1], (im[3] - re[3]) * root, -re[5], -(re[7] + im[7]) * root};
  for (int k = 0; k < 4; k++) {
    y_re[k] = re[2 * k] + turned_re[k], y_im[k] = im[2 * k] + turned_im[k];
    y_re[k + 4] = re[2 * k] - turned_re[k], y_im[k + 4] = im[2 * k] - turned_im[k];
  }
#else
  NAMED(join4)(re, im, 0, 1);
  for (int k = 0; k < LANES; k++) y_re[k] = re[k], y_im[k] = im[k];
#endif
}

/* Of fewer, by the sums. */
static void NAMED(transform_few)(const FftPlan *plan, const Vector *re, const Vector *im, Vector *y_re, Vector *y_im) {
  const int n = plan->split;
  const NUMBER *roots = plan->roots;
  int64_t apart = 2 * plan->points / n * plan->step;
  for (int k = 0; k < n; k++) {
    y_re[k] = re[0], y_im[k] = im[0];
    for (int c = 1; c < n; c++) {
      const NUMBER *w = roots + c * k % n * apart;
      y_re[k] += re[c] * w[0] - im[c] * w[1], y_im[k] += re[c] * w[1] + im[c] * w[0];
    }
  }
}

static void NAMED(join)(const FftPlan *plan, const NUMBER *re, const NUMBER *im, NUMBER *out_re, NUMBER *out_im) {
  const int split = plan->split;
  int64_t each = plan->points / split, padded = each + LANES;
  const NUMBER *twist_re = plan->twists, *twist_im = twist_re + split * padded;
  for (int64_t k = 0; k < each; k += LANES) {
    int64_t count = each - k < LANES ? each - k : LANES;
    NUMBER turned[2][LANES][LANES] = {{{0}}};
    for (int64_t l = 0; l < count; l++)
      for (int c = 0; c < LANES; c++)
        turned[0][c][l] = re[(k + l) * LANES + c], turned[1][c][l] = im[(k + l) * LANES + c];
    Vector x_re[LANES], x_im[LANES], y_re[LANES], y_im[LANES], w_re, w_im, t_re, t_im;
    for (int c = 0; c < split; c++) {
      memcpy(&t_re, turned[0][c], sizeof t_re), memcpy(&t_im, turned[1][c], sizeof t_im);
      memcpy(&w_re, twist_re + c * padded + k, sizeof w_re), memcpy(&w_im, twist_im + c * padded + k, sizeof w_im);
      x_re[c] = t_re * w_re - t_im * w_im, x_im[c] = t_re * w_im + t_im * w_re;
    }
    if (split == LANES)
      NAMED(transform_lanes)(x_re, x_im, y_re, y_im);
    else
      NAMED(transform_few)(plan, x_re, x_im, y_re, y_im);
    for (int c = 0; c < split; c++) {
      memcpy(out_re + c * each + k, &y_re[c], (size_t)count * sizeof(NUMBER));
      memcpy(out_im + c * each + k, &y_im[c], (size_t)count * sizeof(NUMBER));
    }
  }
}

/* ---- the complex transform of a group, in `x`, with room of the same size in `y`; where it is afterwards ---- */

static Parts NAMED(swapped)(Parts x) {
  return (Parts){x.im, x.re};
}
static Parts NAMED(at)(NUMBER *numbers, int64_t count) {
  return (Parts){(Vector *)(void *)numbers, (Vector *)(void *)(numbers + count)};
}
static NUMBER *NAMED(numbers)(Vector *part) {
  return (NUMBER *)(void *)part;
}

/* A line, with as many points beside each other as there are lanes for them. */
static void NAMED(spread)(const FftPlan *plan, const NUMBER *flat, NUMBER *out) {
  for (int64_t j = 0; j < plan->points; j += plan->split, out += LANES)
    for (int l = 0; l < LANES; l++) out[l] = l < plan->split ? flat[j + l] : 0;
}

static Parts NAMED(by_factors)(const FftPlan *plan, bool is_single, Parts x, Parts y) {
  if (!is_single) return NAMED(passes)(&plan->whole, plan->points, plan->roots, plan->step, x, y);
  int64_t each = plan->points / plan->split;
  if (plan->split < LANES) {
    NAMED(spread)(plan, NAMED(numbers)(x.re), NAMED(numbers)(y.re));
    NAMED(spread)(plan, NAMED(numbers)(x.im), NAMED(numbers)(y.im));
    Parts flat = x;
    x = y, y = flat;
  }
  Parts done = NAMED(passes)(&plan->part, each, plan->roots, plan->step * plan->split, x, y);
  Parts to = done.re == x.re ? y : x;
  NAMED(join)(plan, NAMED(numbers)(done.re), NAMED(numbers)(done.im), NAMED(numbers)(to.re), NAMED(numbers)(to.im));
  return to;
}

/* Each point of `count` lines (lanes) times a pair. */
static inline __attribute__((always_inline)) void NAMED(times_pairs)(const NUMBER *pairs, int64_t n, const int lanes,
                                                                     const NUMBER *re, const NUMBER *im, NUMBER *out_re,
                                                                     NUMBER *out_im) {
  for (int64_t j = 0; j < n; j++)
    for (int l = 0; l < lanes; l++) {
      int64_t at = j * lanes + l;
      NUMBER x_re = re[at], x_im = im[at];
      out_re[at] = x_re * pairs[2 * j] - x_im * pairs[2 * j + 1];
      out_im[at] = x_re * pairs[2 * j + 1] + x_im * pairs[2 * j];
    }
}

/* Bluestein's: the points times the chirp, convolved with its conjugate, times the chirp. `y` and `z` have room
 * for the convolution; the result is in `x`. */
static inline __attribute__((always_inline)) void NAMED(by_chirp)(const FftPlan *plan, const int lanes, Parts x,
                                                                  Parts y, Parts z) {
  int64_t n = plan->points, length = plan->convolved->points;
  NUMBER *x_re = NAMED(numbers)(x.re), *x_im = NAMED(numbers)(x.im), *re = NAMED(numbers)(y.re),
         *im = NAMED(numbers)(y.im);
  NAMED(times_pairs)(plan->chirp, n, lanes, x_re, x_im, re, im);
  memset(re + n * lanes, 0, sizeof(NUMBER) * (size_t)((length - n) * lanes));
  memset(im + n * lanes, 0, sizeof(NUMBER) * (size_t)((length - n) * lanes));
  Parts done = NAMED(by_factors)(plan->convolved, lanes == 1, y, z), other = done.re == y.re ? z : y;
  re = NAMED(numbers)(done.re), im = NAMED(numbers)(done.im);
  NAMED(times_pairs)(plan->kernel, length, lanes, re, im, re, im);
  done = NAMED(swapped)(NAMED(by_factors)(plan->convolved, lanes == 1, NAMED(swapped)(done), NAMED(swapped)(other)));
  NAMED(times_pairs)(plan->chirp, n, lanes, NAMED(numbers)(done.re), NAMED(numbers)(done.im), x_re, x_im);
}

/* ---- between arrays and parts ---- */

/* The spectrum of n real points, of which `z` has the transform of the pairs as n / 2 complex points: each k with
 * n / 2 - k. In `z`, which has room for one point more. */
static inline __attribute__((always_inline)) void NAMED(untangle)(const NUMBER *roots, int64_t half, const int lanes,
                                                                  NUMBER *re, NUMBER *im) {
  for (int l = 0; l < lanes; l++) {
    NUMBER a = re[l], b = im[l];
    re[l] = a + b, im[l] = 0;
    re[half * lanes + l] = a - b, im[half * lanes + l] = 0;
  }
  for (int64_t k = 1; 2 * k <= half; k++)
    for (int l = 0; l < lanes; l++) {
      int64_t one = k * lanes + l, other = (half - k) * lanes + l;
      NUMBER even_re = (re[one] + re[other]) / 2, even_im = (im[one] - im[other]) / 2;
      NUMBER odd_re = (im[one] + im[other]) / 2, odd_im = (re[other] - re[one]) / 2;
      NUMBER c = roots[2 * k], d = roots[2 * k + 1];
      NUMBER turned_re = odd_re * c - odd_im * d, turned_im = odd_re * d + odd_im * c;
      re[one] = even_re + turned_re, im[one] = even_im + turned_im;
      re[other] = even_re - turned_re, im[other] = turned_im - even_im;
    }
}

/* The other way, for the inverse transform: from a spectrum of n / 2 + 1 points to the n / 2 whose inverse transform
 * has the real points as pairs. */
static inline __attribute__((always_inline)) void NAMED(tangle)(const NUMBER *roots, int64_t half, const int lanes,
                                                                NUMBER *re, NUMBER *im) {
  for (int l = 0; l < lanes; l++) {
    NUMBER a = re[l], b = re[half * lanes + l];
    re[l] = a + b, im[l] = a - b;
  }
  for (int64_t k = 1; 2 * k <= half; k++)
    for (int l = 0; l < lanes; l++) {
      int64_t one = k * lanes + l, other = (half - k) * lanes + l;
      NUMBER even_re = re[one] + re[other], even_im = im[one] - im[other];
      NUMBER gap_re = re[one] - re[other], gap_im = im[one] + im[other];
      NUMBER c = roots[2 * k], d = -roots[2 * k + 1];
      NUMBER odd_re = gap_re * c - gap_im * d, odd_im = gap_re * d + gap_im * c;
      re[one] = even_re - odd_im, im[one] = even_im + odd_re;
      re[other] = even_re + odd_im, im[other] = odd_re - even_im;
    }
}

/* Points go between lines and lanes some at a time, so that the part of the group that they lie in, a vector apart,
 * stays in the nearest cache while all lines have their turn. */
enum { NAMED(TILE) = 64 };
#define TILES(count)                                             \
  for (int64_t begin = 0; begin < (count); begin += NAMED(TILE)) \
    for (int64_t l = 0, end = begin + NAMED(TILE) < (count) ? begin + NAMED(TILE) : (count); l < lanes; l++)

static inline __attribute__((always_inline)) void NAMED(read)(const FftLines *lines, const int lanes, NUMBER *re,
                                                              NUMBER *im) {
  const FftAxis *axis = lines->axis;
  int64_t n = axis->points, stride = axis->in_stride, half = n / 2;
  bool is_even = n % 2 == 0, is_real = axis->kind == FFT_R2C;
  int64_t count = axis->kind == FFT_C2C ? n : !is_real ? half + 1 : is_even ? half : n;
  int64_t step = is_real && !is_even ? stride : 2 * stride, beside = is_real ? is_even ? stride : 0 : 1;
  TILES(count) {
    const NUMBER *x = (const NUMBER *)axis->in + (is_real ? 1 : 2) * lines->from[l < lines->count ? l : 0];
    if (beside)
      for (int64_t j = begin; j < end; j++) re[j * lanes + l] = x[j * step], im[j * lanes + l] = x[j * step + beside];
    else
      for (int64_t j = begin; j < end; j++) re[j * lanes + l] = x[j * step], im[j * lanes + l] = 0;
  }
  if (axis->kind != FFT_C2R) return;
  for (int l = 0; l < lanes; l++) im[l] = 0;
  for (int64_t j = 1; j <= half && !is_even; j++)
    for (int l = 0; l < lanes; l++)
      re[(n - j) * lanes + l] = re[j * lanes + l], im[(n - j) * lanes + l] = -im[j * lanes + l];
}

static inline __attribute__((always_inline)) void NAMED(write)(const FftLines *lines, const int lanes, const NUMBER *re,
                                                               const NUMBER *im) {
  const FftAxis *axis = lines->axis;
  int64_t n = axis->points, stride = axis->out_stride, half = n / 2;
  bool is_even = n % 2 == 0, is_real = axis->kind == FFT_C2R;
  int64_t count = axis->kind == FFT_C2C ? n : !is_real ? half + 1 : is_even ? half : n;
  int64_t step = is_real && !is_even ? stride : 2 * stride, beside = is_real ? is_even ? stride : 0 : 1;
  TILES(count) {
    if (l >= lines->count) continue;
    NUMBER *y = (NUMBER *)axis->out + (is_real ? 1 : 2) * lines->to[l];
    if (beside)
      for (int64_t j = begin; j < end; j++) y[j * step] = re[j * lanes + l], y[j * step + beside] = im[j * lanes + l];
    else
      for (int64_t j = begin; j < end; j++) y[j * step] = re[j * lanes + l];
  }
}
#undef TILES

static inline __attribute__((always_inline)) void NAMED(group)(const FftLines *lines, const int lanes,
                                                               NUMBER *workspace) {
  const FftPlan *plan = lines->plan;
  const FftAxis *axis = lines->axis;
  bool halves = axis->kind != FFT_C2C && axis->points % 2 == 0;
  int64_t room = fft_room(plan, lanes == 1);
  Parts x = NAMED(at)(workspace, room);
  NUMBER *re = NAMED(numbers)(x.re), *im = NAMED(numbers)(x.im);
  NAMED(read)(lines, lanes, re, im);
  if (halves && axis->kind == FFT_C2R) NAMED(tangle)(plan->roots, plan->points, lanes, re, im);
  if (axis->is_inverse) x = NAMED(swapped)(x);
  if (plan->convolved) {
    int64_t wide = fft_room(plan->convolved, lanes == 1);
    Parts y = NAMED(at)(workspace + 2 * room, wide), z = NAMED(at)(workspace + 2 * room + 2 * wide, wide);
    NAMED(by_chirp)(plan, lanes, x, y, z);
  } else {
    x = NAMED(by_factors)(plan, lanes == 1, x, NAMED(at)(workspace + 2 * room, room));
  }
  if (axis->is_inverse) x = NAMED(swapped)(x);
  re = NAMED(numbers)(x.re), im = NAMED(numbers)(x.im);
  if (halves && axis->kind == FFT_R2C) NAMED(untangle)(plan->roots, plan->points, lanes, re, im);
  NAMED(write)(lines, lanes, re, im);
}

void NAMED(fft_lines)(const FftLines *lines, void *workspace) {
  if (lines->is_single)
    NAMED(group)(lines, 1, workspace);
  else
    NAMED(group)(lines, LANES, workspace);
}

void NAMED(fft_single)(const FftPlan *plan, void *parts) {
  int64_t n = plan->points;
  NUMBER *numbers = parts;
  Parts x = NAMED(at)(numbers, n), done = NAMED(by_factors)(plan, true, x, NAMED(at)(numbers + 2 * n, n));
  if (done.re != x.re) memcpy(numbers, numbers + 2 * n, 2 * sizeof(NUMBER) * (size_t)n);
}
#undef Vector
#undef Parts
#undef Pass
#undef TIMES
