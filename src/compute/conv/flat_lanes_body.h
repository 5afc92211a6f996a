/* Planes side by side, over one type of vectors (flat_tile_body.h): a vector holds one position of LANES planes. Loops
 * over positions then need neither masks nor reads across cache lines, however short rows are. */

/* Positions of `planes` planes to lines of LANES; the lanes of planes that are not there are zero. */
static void lanes_gather(int planes, const float *from, int64_t plane_stride, int64_t n, int64_t row, int64_t gap,
                         float *to) {
  int64_t left = row;
  for (int64_t at = 0; at < n; at += LANES) {
    int count = n - at < LANES ? (int)(n - at) : LANES;
    V lines[LANES];
    if (planes == LANES && count == LANES)
      UNROLLED_LANES for (int p = 0; p < LANES; p++) lines[p] = load(from + p * plane_stride + at);
    else
      UNROLLED_LANES for (int p = 0; p < LANES; p++) lines[p] =
          p < planes ? load_masked(from + p * plane_stride + at, mask_of(count)) : splat(0);
    transpose(lines);
    UNROLLED_LANES for (int i = 0; i < LANES; i++) if (i < count) {
      store(to, lines[i]);
      to += LANES + (--left ? 0 : gap);
      left = left ? left : row;
    }
  }
}

static inline __attribute__((always_inline)) void lanes_of(const FlatLanes *l, int count, int64_t step,
                                                           const float *input, V scale, V shift, float *to) {
  V sums[8];
  UNROLLED for (int i = 0; i < count; i++) sums[i] = splat(0);
  for (int64_t k = 0; k < l->tap_count; k++) {
    V w = load(l->weights + k * LANES);
    const float *x = input + l->taps[k] * LANES;
    UNROLLED for (int i = 0; i < count; i++) sums[i] = multiply_add(w, load(x + i * step), sums[i]);
  }
  UNROLLED for (int i = 0; i < count; i++) store(to + i * LANES, plus(multiply(sums[i], scale), shift));
}
/* Neighboring results in a row, up to 8 at once. */
#define LANES_OF(name, step)                                                                                  \
  static __attribute__((noinline)) void name(const FlatLanes *l, int count, const float *x, V scale, V shift, \
                                             float *to) {                                                     \
    switch (count) {                                                                                          \
      case 1:                                                                                                 \
        lanes_of(l, 1, step, x, scale, shift, to);                                                            \
        break;                                                                                                \
      case 2:                                                                                                 \
        lanes_of(l, 2, step, x, scale, shift, to);                                                            \
        break;                                                                                                \
      case 3:                                                                                                 \
        lanes_of(l, 3, step, x, scale, shift, to);                                                            \
        break;                                                                                                \
      case 4:                                                                                                 \
        lanes_of(l, 4, step, x, scale, shift, to);                                                            \
        break;                                                                                                \
      case 5:                                                                                                 \
        lanes_of(l, 5, step, x, scale, shift, to);                                                            \
        break;                                                                                                \
      case 6:                                                                                                 \
        lanes_of(l, 6, step, x, scale, shift, to);                                                            \
        break;                                                                                                \
      case 7:                                                                                                 \
        lanes_of(l, 7, step, x, scale, shift, to);                                                            \
        break;                                                                                                \
      default:                                                                                                \
        lanes_of(l, 8, step, x, scale, shift, to);                                                            \
    }                                                                                                         \
  }
LANES_OF(lanes_of_neighbors, LANES)
LANES_OF(lanes_of_any, l->column_step *LANES)
#undef LANES_OF

static void lanes_sum(const FlatLanes *l) {
  Mask mask = mask_of(l->planes);
  V scale = l->scale ? load_masked(l->scale, mask) : splat(1),
    shift = l->shift ? load_masked(l->shift, mask) : splat(0);
  int64_t parts = (l->length + 7) / 8, most = (l->length + parts - 1) / parts;
  float *to = l->out;
  for (int64_t row = 0; row < l->rows; row++) {
    const float *x = l->input + row * l->row_step * LANES;
    for (int64_t at = 0; at < l->length; at += most) {
      int count = (int)(l->length - at < most ? l->length - at : most);
      (l->column_step == 1 ? lanes_of_neighbors : lanes_of_any)(l, count, x + at * l->column_step * LANES, scale, shift,
                                                                to);
      to += count * LANES;
    }
  }
}

/* The way back, finishing: n positions of each plane. */
static void lanes_scatter(const FlatLanes *l, int64_t n, const float *from, const float *add, float *out,
                          int64_t plane_stride) {
  for (int64_t at = 0; at < n; at += LANES) {
    Mask mask = mask_of(n - at < LANES ? (int)(n - at) : LANES);
    V lines[LANES];
    UNROLLED_LANES for (int i = 0; i < LANES; i++) lines[i] = load(from + (at + i) * LANES);
    transpose(lines);
    UNROLLED_LANES for (int p = 0; p < LANES; p++) if (p < l->planes) {
      V x = lines[p];
      if (add) x = plus(x, load_masked(add + p * plane_stride + at, mask));
      store_masked(out + p * plane_stride + at, mask, activate(l->activation, l->low, l->high, x));
    }
  }
  if (l->activation >= CONV_SIGMOID) activate_block(l->activation, l->planes, plane_stride, n, out);
}
