/* Depthwise convolution of planes where they lie: `ROWS` rows of results are summed up in registers, a vector of
 * neighbors each; masks leave out what is beyond a row's ends. Needs loads that touch nothing but their mask's
 * lanes. */

enum { ROWS = 7, LEAST_ROWS = 3, MOST_SIDE = 7 };
#define UNROLLED_ROWS _Pragma("GCC unroll 32")

/* Keeps the compiler from reading it anew from memory wherever it is used: loads are what is short. */
static inline __attribute__((always_inline)) V in_register(V x) {
  __asm__("" : "+v"(x));
  return x;
}

/* The inputs that `side` taps of a row meet; with a stride of 2, even and odd ones of two vectors. */
static inline __attribute__((always_inline)) void load_taps(int side, int stride, const float *from, const Mask *masks,
                                                            V *taps) {
  if (stride == 1) {
    UNROLLED for (int i = 0; i < side; i++) taps[i] = load_masked(from + i, masks[i]);
    return;
  }
  UNROLLED for (int i = 0; i < side; i += 2) deinterleave(
      load_masked(from + i, masks[i]), load_masked(from + i + LANES, masks[i + 1]), &taps[i], &taps[i + 1]);
}

/* Sums [y, y + rows) of the vector at x. */
static inline __attribute__((always_inline)) void sum_rows(const FlatDirect *p, int side, int stride, int rows,
                                                           int64_t y, int64_t x, V *sums) {
  int64_t at = x * stride - p->padding[1], row = y * stride - p->padding[0], width = p->in_size[1];
  uint64_t height = (uint64_t)p->in_size[0];
  const float *from = p->input + row * width + at;
  Mask masks[MOST_SIDE + 1];
  for (int i = 0; i < side; i++) masks[i] = lanes_within(stride == 1 ? at + i : at + i / 2 * 2 + i % 2 * LANES, width);
  if (stride == 2) masks[side] = lanes_within(at + side - 1 + LANES, width);
  V weights[9];
  if (side == 3) UNROLLED_ROWS for (int i = 0; i < 9; i++) weights[i] = in_register(splat(p->weights[i]));
  V others[ROWS]; /* of every other tap of a long row, so that fewer additions wait for each other */
  UNROLLED for (int j = 0; j < rows; j++) sums[j] = others[j] = splat(0);
  UNROLLED_ROWS for (int i = 0; i < (rows - 1) * stride + side; i++, row++, from += width) {
    if ((uint64_t)row >= height) continue;
    V taps[MOST_SIDE + 1];
    load_taps(side, stride, from, masks, taps);
    UNROLLED for (int j = 0; j < rows; j++) {
      int k = i - j * stride;
      if (k < 0 || k >= side) continue;
      UNROLLED for (int t = 0; t < side; t++) {
        V *sum = side > 3 && t % 2 ? &others[j] : &sums[j];
        *sum = multiply_add(side == 3 ? weights[k * side + t] : splat(p->weights[k * side + t]), taps[t], *sum);
      }
    }
  }
  if (side > 3) UNROLLED for (int j = 0; j < rows; j++) sums[j] = plus(sums[j], others[j]);
}

/* Without an activation, between infinities: NaN and all others stay. */
static inline __attribute__((always_inline)) void rows_at(const FlatDirect *p, int side, int stride, int rows,
                                                          int64_t y, int64_t x) {
  V sums[ROWS];
  sum_rows(p, side, stride, rows, y, x, sums);
  int64_t width = p->out_size[1], to = y * width + x;
  Mask mask = mask_of(width - x < LANES ? (int)(width - x) : LANES);
  V scale = splat(p->scale), shift = splat(p->shift);
  if (!p->add && p->activation.kind <= ACTIVATION_LIMITS) {
    V low = splat(p->activation.kind == ACTIVATION_LIMITS ? p->activation.low : -INFINITY),
      high = splat(p->activation.kind == ACTIVATION_LIMITS ? p->activation.high : INFINITY);
    float *out = p->out + to;
    UNROLLED for (int j = 0; j < rows; j++, out += width)
        store_masked(out, mask, clamp(plus(multiply(sums[j], scale), shift), low, high));
    return;
  }
  UNROLLED for (int j = 0; j < rows; j++, to += width) {
    V sum = plus(multiply(sums[j], scale), shift);
    if (p->add) sum = plus(sum, load_masked(p->add + to, mask));
    store_masked(p->out + to, mask, activate(&p->activation, sum));
  }
}

static inline __attribute__((always_inline)) void direct_of(const FlatDirect *p, int side, int stride) {
  int64_t y = 0, rows = p->out_size[0], length = p->out_size[1];
  for (; y + ROWS <= rows; y += ROWS)
    for (int64_t x = 0; x < length; x += LANES) rows_at(p, side, stride, ROWS, y, x);
  for (; y + LEAST_ROWS <= rows; y += LEAST_ROWS)
    for (int64_t x = 0; x < length; x += LANES) rows_at(p, side, stride, LEAST_ROWS, y, x);
  for (; y < rows; y++)
    for (int64_t x = 0; x < length; x += LANES) rows_at(p, side, stride, 1, y, x);
}

static void direct(const FlatDirect *p) {
  if (p->stride == 1 && p->side == 3)
    direct_of(p, 3, 1);
  else if (p->stride == 1 && p->side == 5)
    direct_of(p, 5, 1);
  else if (p->stride == 1)
    direct_of(p, 7, 1);
  else if (p->side == 3)
    direct_of(p, 3, 2);
  else
    direct_of(p, 5, 2);
  if (activation_is_by_lines(&p->activation))
    activate_block(&p->activation, 1, 0, p->out_size[0] * p->out_size[1], p->out);
}
