/* Winograd's transforms over one type of vectors (flat_tile_body.h): a lane is a square of results. */

#define WINOGRAD_LINE (WINOGRAD_MOST + 2)

/* B' x. Of F(4x4, 3x3) with the points 0, a, -a, b, -b and infinity: pairs of points share even and odd parts. */
static inline __attribute__((always_inline)) void winograd_input_line(int side, const V *x, V *y) {
  const float a = WINOGRAD_NEAR, b = WINOGRAD_FAR, sum = a * a + b * b, product = a * a * b * b;
  if (side == 2) {
    y[0] = minus(x[0], x[2]);
    y[1] = plus(x[1], x[2]);
    y[2] = minus(x[2], x[1]);
    y[3] = minus(x[1], x[3]);
    return;
  }
  V even = multiply_add(splat(-b * b), x[2], x[4]), odd = multiply_add(splat(-b * b), x[1], x[3]);
  y[1] = multiply_add(splat(a), odd, even);
  y[2] = multiply_add(splat(-a), odd, even);
  even = multiply_add(splat(-a * a), x[2], x[4]), odd = multiply_add(splat(-a * a), x[1], x[3]);
  y[3] = multiply_add(splat(b), odd, even);
  y[4] = multiply_add(splat(-b), odd, even);
  y[0] = multiply_add(splat(product), x[0], multiply_add(splat(-sum), x[2], x[4]));
  y[5] = multiply_add(splat(product), x[1], multiply_add(splat(-sum), x[3], x[5]));
}

/* A line of filters; lanes are output channels. */
typedef float Filters __attribute__((vector_size(FLAT_ROWS * sizeof(float)), aligned(sizeof(float))));

/* G w: at each of the points, over its distances to the others, multiplied. */
static inline __attribute__((always_inline)) void winograd_filter_line(int side, const Filters *w, Filters *y) {
  const float a = WINOGRAD_NEAR, b = WINOGRAD_FAR, between = a * a - b * b, near = 1 / (2 * a * a * between),
              far = -1 / (2 * b * b * between);
  if (side == 2) {
    Filters even = (w[0] + w[2]) * 0.5f, odd = w[1] * 0.5f;
    y[0] = w[0];
    y[1] = even + odd;
    y[2] = even - odd;
    y[3] = w[2];
    return;
  }
  Filters even = w[0] * near + w[2] * (a * a * near), odd = w[1] * (a * near);
  y[1] = even + odd;
  y[2] = even - odd;
  even = w[0] * far + w[2] * (b * b * far), odd = w[1] * (b * far);
  y[3] = even + odd;
  y[4] = even - odd;
  y[0] = w[0] * (1 / (a * a * b * b));
  y[5] = w[2];
}

static inline __attribute__((always_inline)) void winograd_filters_of(int side, int64_t n, const float *from,
                                                                      float *to) {
  const int line = side + 2;
  for (int64_t c = 0; c < n; c++, from += 9 * FLAT_ROWS, to += FLAT_ROWS) {
    const Filters *w = (const Filters *)from;
    Filters half[WINOGRAD_LINE][3], y[WINOGRAD_LINE];
    UNROLLED for (int j = 0; j < 3; j++) {
      winograd_filter_line(side, (const Filters[]){w[j], w[3 + j], w[6 + j]}, y);
      UNROLLED for (int i = 0; i < line; i++) half[i][j] = y[i];
    }
    UNROLLED for (int i = 0; i < line; i++) {
      winograd_filter_line(side, half[i], y);
      UNROLLED for (int j = 0; j < line; j++) * (Filters *)(to + (i * line + j) * WINOGRAD_FILTERS) = y[j];
    }
  }
}
static void winograd_filters(int side, int64_t n, const float *from, float *to) {
  assert((side == 2 || side == WINOGRAD_MOST) && n <= WINOGRAD_DEPTH);
  if (side == 2)
    winograd_filters_of(2, n, from, to);
  else
    winograd_filters_of(WINOGRAD_MOST, n, from, to);
}

/* A' m. */
static inline __attribute__((always_inline)) void winograd_output_line(int side, const V *m, V *y) {
  const float a = WINOGRAD_NEAR, b = WINOGRAD_FAR;
  if (side == 2) {
    y[0] = plus(plus(m[0], m[1]), m[2]);
    y[1] = minus(minus(m[1], m[2]), m[3]);
    return;
  }
  V near_sum = plus(m[1], m[2]), near_difference = minus(m[1], m[2]), far_sum = plus(m[3], m[4]),
    far_difference = minus(m[3], m[4]);
  y[0] = plus(m[0], plus(near_sum, far_sum));
  y[1] = multiply_add(splat(a), near_difference, multiply(splat(b), far_difference));
  y[2] = multiply_add(splat(a * a), near_sum, multiply(splat(b * b), far_sum));
  y[3] = multiply_add(splat(a * a * a), near_difference, multiply_add(splat(b * b * b), far_difference, m[5]));
}

static inline __attribute__((always_inline)) void winograd_input_of(int side, int64_t n, const float *from,
                                                                    const int64_t *taps, float *to, int64_t stride) {
  const int line = side + 2;
#define TRANSFORM(at, mask)                                                                             \
  V d[WINOGRAD_LINE][WINOGRAD_LINE];                                                                    \
  UNROLLED for (int j = 0; j < line; j++) {                                                             \
    V x[WINOGRAD_LINE], y[WINOGRAD_LINE];                                                               \
    UNROLLED for (int i = 0; i < line; i++) x[i] = load_masked(from + taps[i * line + j] + (at), mask); \
    winograd_input_line(side, x, y);                                                                    \
    UNROLLED for (int i = 0; i < line; i++) d[i][j] = y[i];                                             \
  }                                                                                                     \
  UNROLLED for (int i = 0; i < line; i++) {                                                             \
    V y[WINOGRAD_LINE];                                                                                 \
    winograd_input_line(side, d[i], y);                                                                 \
    UNROLLED for (int j = 0; j < line; j++) store(to + (i * line + j) * stride + (at), y[j]);           \
  }
  EACH_VECTOR(n, TRANSFORM);
#undef TRANSFORM
}
static void winograd_input(int side, int64_t n, const float *from, const int64_t *taps, float *to, int64_t stride) {
  assert(side == 2 || side == WINOGRAD_MOST);
  if (side == 2)
    winograd_input_of(2, n, from, taps, to, stride);
  else
    winograd_input_of(WINOGRAD_MOST, n, from, taps, to, stride);
}

/* x[0] y[0] x[1] y[1] ... of two, and of four. */
static inline __attribute__((always_inline)) void store_mixed(int side, float *to, const V *y) {
  V even_low, even_high, odd_low, odd_high, out[4];
  if (side == 2) {
    interleave(y[0], y[1], &out[0], &out[1]);
  } else {
    interleave(y[0], y[2], &even_low, &even_high);
    interleave(y[1], y[3], &odd_low, &odd_high);
    interleave(even_low, odd_low, &out[0], &out[1]);
    interleave(even_high, odd_high, &out[2], &out[3]);
  }
  UNROLLED for (int i = 0; i < side; i++) store(to + i * LANES, out[i]);
}

static inline __attribute__((always_inline)) bool winograd_output_of(int side, int64_t n, const float *sums,
                                                                     int64_t stride, float scale, float shift,
                                                                     float *to, int64_t row) {
  const int line = side + 2;
  V checks = splat(0), factor = splat(scale), term = splat(shift);
  for (int64_t at = 0; at < n; at += LANES) {
    Mask mask = mask_of(n - at < LANES ? (int)(n - at) : LANES);
    V half[WINOGRAD_MOST][WINOGRAD_LINE];
    UNROLLED for (int j = 0; j < line; j++) {
      V m[WINOGRAD_LINE], y[WINOGRAD_MOST];
      UNROLLED for (int i = 0; i < line; i++) m[i] = load_masked(sums + (i * line + j) * stride + at, mask);
      winograd_output_line(side, m, y);
      UNROLLED for (int i = 0; i < side; i++) half[i][j] = y[i];
    }
    UNROLLED for (int i = 0; i < side; i++) {
      V y[WINOGRAD_MOST];
      winograd_output_line(side, half[i], y);
      UNROLLED for (int j = 0; j < side; j++) {
        y[j] = plus(multiply(y[j], factor), term);
        checks = multiply_add(y[j], splat(0), checks); /* 0, or NaN */
      }
      store_mixed(side, to + i * row + side * at, y);
    }
  }
  float lanes[LANES], sum = 0;
  store(lanes, checks);
  for (int i = 0; i < LANES; i++) sum += lanes[i];
  return sum == 0;
}
static bool winograd_output(int side, int64_t n, const float *sums, int64_t stride, float scale, float shift, float *to,
                            int64_t row) {
  assert(side == 2 || side == WINOGRAD_MOST);
  return side == 2 ? winograd_output_of(2, n, sums, stride, scale, shift, to, row)
                   : winograd_output_of(WINOGRAD_MOST, n, sums, stride, scale, shift, to, row);
}

/* A vector of a row of n values with zeros around, from the place `at` on. */
static inline V load_of_row(const float *row, int64_t n, int64_t at) {
#ifdef DIRECT
  return load_masked(row + at, lanes_within(at, n));
#else
  if (at >= 0 && at + LANES <= n) return load(row + at);
  if (at >= n || at <= -LANES) return splat(0);
  if (at >= 0) return load_masked(row + at, mask_of((int)(n - at)));
  float part[2 * LANES];
  store(part, splat(0));
  store(part + LANES, load_masked(row, mask_of(n < LANES ? (int)n : LANES)));
  return load(part + LANES + at);
#endif
}
/* `side` vectors: of all places from `at` on, the first of every `side`, the second, ...; of few, half of their lanes.
 */
static inline __attribute__((always_inline)) void deal_vectors(int side, bool is_few, const float *row, int64_t n,
                                                               int64_t at, V *dealt) {
  V x[WINOGRAD_MOST], even[2], odd[2];
  UNROLLED for (int k = 0; k < side; k++) x[k] = is_few && k >= side / 2 ? x[0] : load_of_row(row, n, at + k * LANES);
  if (side == 2) {
    deinterleave(x[0], x[1], &dealt[0], &dealt[1]);
    return;
  }
  deinterleave(x[0], x[1], &even[0], &odd[0]);
  deinterleave(x[2], x[3], &even[1], &odd[1]);
  deinterleave(even[0], even[1], &dealt[0], &dealt[2]);
  deinterleave(odd[0], odd[1], &dealt[1], &dealt[3]);
}
static inline __attribute__((always_inline)) void winograd_deal_of(int side, const float *row, int64_t n,
                                                                   int64_t before, int64_t places, float *to,
                                                                   int64_t apart) {
#define DEAL(is_few)                                                     \
  V dealt[WINOGRAD_LINE], next[WINOGRAD_MOST];                           \
  Mask mask = mask_of(places - at < LANES ? (int)(places - at) : LANES); \
  deal_vectors(side, is_few, row, n, side *at - before, dealt);          \
  deal_vectors(side, is_few, row, n, side *(at + 1) - before, next);     \
  UNROLLED for (int k = 0; k < 2; k++) dealt[side + k] = next[k];        \
  UNROLLED for (int k = 0; k < side + 2; k++) store_masked(to + k * apart + at, mask, dealt[k])
  int64_t at = 0;
  for (; at + LANES / 2 < places; at += LANES) {
    DEAL(false);
  }
  if (at < places) {
    DEAL(true);
  }
#undef DEAL
}
static void winograd_deal(int side, const float *row, int64_t n, int64_t before, int64_t places, float *to,
                          int64_t apart) {
  assert(side == 2 || side == WINOGRAD_MOST);
  if (side == 2)
    winograd_deal_of(2, row, n, before, places, to, apart);
  else
    winograd_deal_of(WINOGRAD_MOST, row, n, before, places, to, apart);
}
#undef WINOGRAD_LINE
