/* Planes side by side, over one type of vectors (flat_tile_body.h): a vector holds one position of LANES planes. Loops
 * over positions then need neither masks nor reads across cache lines, however short rows are. */

enum { MOST_NEIGHBORS = 8 };

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

/* Sums of products or, where there are no weights, the greatest. */
static inline __attribute__((always_inline)) void lanes_of(const FlatLanes *l, int count, int64_t step,
                                                           const float *input, float *to) {
  V joined[MOST_NEIGHBORS];
  UNROLLED for (int i = 0; i < count; i++) joined[i] = splat(l->weights ? 0 : -INFINITY);
  if (l->weights)
    for (int64_t k = 0; k < l->tap_count; k++) {
      V w = load(l->weights + k * LANES);
      const float *x = input + l->taps[k] * LANES;
      UNROLLED for (int i = 0; i < count; i++) joined[i] = multiply_add(w, load(x + i * step), joined[i]);
    }
  else
    for (int64_t k = 0; k < l->tap_count; k++) {
      const float *x = input + l->taps[k] * LANES;
      UNROLLED for (int i = 0; i < count; i++) joined[i] = greater(load(x + i * step), joined[i]);
    }
  UNROLLED for (int i = 0; i < count; i++) store(to + i * LANES, joined[i]);
}
/* Neighboring results in a row, so many at once; where inputs are neighbors too, and where a stride is between. */
#define LANES_OF(count)                                                         \
  static void lanes_of_##count(const FlatLanes *l, const float *x, float *to) { \
    if (l->column_step == 1)                                                    \
      lanes_of(l, count, LANES, x, to);                                         \
    else                                                                        \
      lanes_of(l, count, l->column_step *LANES, x, to);                         \
  }
LANES_OF(1)
LANES_OF(2)
LANES_OF(3)
LANES_OF(4)
LANES_OF(5)
LANES_OF(6)
LANES_OF(7)
LANES_OF(8)
#undef LANES_OF

static void lanes_join(const FlatLanes *l) {
  static void (*const of[MOST_NEIGHBORS])(const FlatLanes *l, const float *x, float *to) = {
      lanes_of_1, lanes_of_2, lanes_of_3, lanes_of_4, lanes_of_5, lanes_of_6, lanes_of_7, lanes_of_8};
  int64_t parts = (l->length + MOST_NEIGHBORS - 1) / MOST_NEIGHBORS, most = (l->length + parts - 1) / parts;
  float *to = l->out;
  for (int64_t row = 0; row < l->rows; row++) {
    const float *x = l->input + row * l->row_step * LANES;
    for (int64_t at = 0; at < l->length; at += most) {
      int64_t count = l->length - at < most ? l->length - at : most;
      of[count - 1](l, x + at * l->column_step * LANES, to);
      to += count * LANES;
    }
  }
}

/* The way back, finishing: n positions of each plane. */
static void lanes_scatter(const FlatLanes *lanes, int64_t n, const float *from, int64_t from_stride, const float *add,
                          float *out, int64_t plane_stride) {
  const FlatLanes own = *lanes, *l = &own; /* which stores can't change, as the compiler sees it */
  for (int64_t at = 0; at < n; at += LANES) {
    Mask mask = mask_of(n - at < LANES ? (int)(n - at) : LANES);
    V lines[LANES];
    UNROLLED_LANES for (int i = 0; i < LANES; i++) lines[i] = load(from + (at + i) * from_stride);
    transpose(lines);
    UNROLLED_LANES for (int p = 0; p < LANES; p++) if (p < l->planes) {
      V x = lines[p];
      if (l->scale) x = multiply(x, splat(l->scale[p]));
      if (l->shift) x = plus(x, splat(l->shift[p]));
      if (add) x = plus(x, load_masked(add + p * plane_stride + at, mask));
      store_masked(out + p * plane_stride + at, mask, activate(&l->activation, x));
    }
    if (activation_is_by_lines(&l->activation)) /* while they are in L1 */
      activate_block(&l->activation, l->planes, plane_stride, n - at < LANES ? n - at : LANES, out + at);
  }
}

/* ---- planes that lie side by side ---- */

/* The same for channels-last images: a position of up to LANES planes is a run, and positions are `from_step` apart. */
static void lanes_copy(int planes, const float *from, int64_t from_step, int64_t n, int64_t row, int64_t gap,
                       float *to) {
  Mask mask = mask_of(planes);
  int64_t left = row;
  for (int64_t i = 0; i < n; i++, from += from_step) {
    store(to, load_masked(from, mask));
    to += LANES + (--left ? 0 : gap);
    left = left ? left : row;
  }
}
static void lanes_finish(const FlatLanes *l, int64_t n, const float *from, float *out, int64_t out_step) {
  Mask mask = mask_of(l->planes);
  V scale = l->scale ? load_masked(l->scale, mask) : splat(1),
    shift = l->shift ? load_masked(l->shift, mask) : splat(0);
  const bool has_scale = l->scale, has_shift = l->shift;
  for (int64_t i = 0; i < n; i++, from += LANES, out += out_step) {
    V x = load(from);
    if (has_scale) x = multiply(x, scale);
    if (has_shift) x = plus(x, shift);
    store_masked(out, mask, x);
  }
}

/* ---- products of patches ---- */

static inline __attribute__((always_inline)) void product_of(int vectors, int places, int64_t depth,
                                                             const float *patches, const float *weights,
                                                             bool accumulate, const float *next, float *out) {
  V sums[PATCH][2];
  UNROLLED_LANES for (int i = 0; i < places; i++) UNROLLED for (int v = 0; v < vectors; v++) sums[i][v] =
      accumulate ? load(out + (2 * i + v) * LANES) : splat(0);
  for (int64_t k = 0; k < depth; k++, patches += PATCH, weights += 2 * LANES, next += LANES) {
    V w[2];
    UNROLLED for (int v = 0; v < vectors; v++) w[v] = load(weights + v * LANES);
    __builtin_prefetch(next, 0, 3);
    UNROLLED_LANES for (int i = 0; i < places; i++) {
      V x = splat(patches[i]);
      UNROLLED for (int v = 0; v < vectors; v++) sums[i][v] = multiply_add(x, w[v], sums[i][v]);
    }
  }
  UNROLLED_LANES for (int i = 0; i < places; i++) UNROLLED for (int v = 0; v < vectors; v++)
      store(out + (2 * i + v) * LANES, sums[i][v]);
}
static void product(int vectors, int places, int64_t depth, const float *patches, const float *weights, bool accumulate,
                    const float *next, float *out) {
  assert((vectors == 1 || vectors == 2) && places > 0 && places <= PATCH);
  if (places > PATCH / 2 && vectors == 2)
    product_of(2, PATCH, depth, patches, weights, accumulate, next, out);
  else if (places > PATCH / 2)
    product_of(1, PATCH, depth, patches, weights, accumulate, next, out);
  else if (vectors == 2)
    product_of(2, PATCH / 2, depth, patches, weights, accumulate, next, out);
  else
    product_of(1, PATCH / 2, depth, patches, weights, accumulate, next, out);
}

static void put_runs(const float *from, int64_t stride, int64_t depth, int n, const float *gates, float *to) {
  for (int64_t k = 0; k < depth; k++, from += stride, to += PATCH) UNROLLED for (int at = 0; at < PATCH; at += LANES) {
      int left = n - at < 0 ? 0 : n - at < LANES ? n - at : LANES;
      V x = load_masked(from + at, mask_of(left));
      store(to + at, gates ? multiply(x, splat(gates[k])) : x);
    }
}

static void put_places(const float *from, int64_t tap_count, const int64_t *taps, const int64_t *places, float *to) {
  for (int64_t k = 0; k < tap_count; k++, to += PATCH)
    UNROLLED_LANES for (int i = 0; i < PATCH; i++) to[i] = from[taps[k] + places[i]];
}
