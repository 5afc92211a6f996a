/* Products of few patches, over one type of vectors (flat_tile_body.h): vectors lie along output channels, and a weight
 * is read once for all patches. */

enum { FEW_PANELS = 2, FEW_PARTS = 4, FEW_ROWS = FEW_PANELS * FLAT_ROWS };
/* Panels that are read at once, and sums of each result that do not wait for each other: enough of them are under way
 * then, as many as registers hold. For one patch, which takes as long as weights come, that is one panel: a single
 * stream comes fastest. */
#define FEW_PARTS_OF(count) ((count) == 1 ? FEW_PARTS : 2)
#define FEW_PANELS_OF(count) ((count) > 1 && FEW_PANELS * PIECES * 2 * (count) <= STEP * VECTORS ? FEW_PANELS : 1)

/* The sums of `count` patches, `stride` apart, with the panel at w and maybe the one `panel` floats after it. */
static inline __attribute__((always_inline)) void sum_few(int count, int64_t depth, const float *x, int64_t stride,
                                                          const float *w, int64_t panel, float *lines) {
  const int parts = FEW_PARTS_OF(count), pieces = FEW_PANELS_OF(count) * PIECES;
  R sums[FEW_PARTS][FEW_PANELS * PIECES][FLAT_COLUMNS];
  UNROLLED for (int a = 0; a < parts; a++) UNROLLED for (int q = 0; q < pieces; q++)
      UNROLLED for (int i = 0; i < count; i++) sums[a][q][i] = splat_rows(0);
#define SUM(a)                                                                        \
  UNROLLED for (int q = 0; q < pieces; q++) {                                         \
    R row = load_rows(w + q / PIECES * panel + q % PIECES * R_LANES + (a)*FLAT_ROWS); \
    UNROLLED for (int i = 0; i < count; i++) sums[a][q][i] =                          \
        multiply_add_rows(row, splat_rows(x[i * stride + (a)]), sums[a][q][i]);       \
  }
  int64_t k = depth;
  for (; k >= parts; k -= parts, x += parts, w += parts * FLAT_ROWS) {
    if (pieces > PIECES) /* the next panels: short streams side by side are not fetched ahead otherwise */
      UNROLLED for (int q = 0; q < FEW_PANELS; q++) __builtin_prefetch(w + (q + FEW_PANELS) * panel, 0, 2);
    UNROLLED for (int a = 0; a < parts; a++) SUM(a)
  }
  for (; k > 0; k--, x++, w += FLAT_ROWS) SUM(0)
#undef SUM
  UNROLLED for (int a = parts - 1; a > 0; a--) UNROLLED for (int q = 0; q < pieces; q++)
      UNROLLED for (int i = 0; i < count; i++) sums[a / 2][q][i] = plus_rows(sums[a / 2][q][i], sums[a][q][i]);
  UNROLLED for (int q = 0; q < pieces; q++) UNROLLED for (int i = 0; i < count; i++)
      store_rows(lines + i * FEW_ROWS + q * R_LANES, sums[0][q][i]);
}

/* Functions of their own, so that each has all registers. */
#define SUM_FEW(count)                                                                                                 \
  static __attribute__((noinline)) void sum_few_##count(int64_t depth, const float *x, int64_t stride, const float *w, \
                                                        int64_t panel, float *lines) {                                 \
    sum_few(count, depth, x, stride, w, panel, lines);                                                                 \
  }
SUM_FEW(1)
SUM_FEW(2)
SUM_FEW(3)
SUM_FEW(4)
#undef SUM_FEW

/* Lines of one result of each row to results[row][count]; writes up to `count` vectors beyond the last. */
static void join_few(int count, int64_t rows, float lines[][FEW_ROWS], float *results) {
  if (count == 4) {
    for (int64_t at = 0; at < rows; at += LANES, results += 4 * LANES) {
      V even[2], odd[2], x[4];
      interleave(load(lines[0] + at), load(lines[2] + at), &even[0], &even[1]);
      interleave(load(lines[1] + at), load(lines[3] + at), &odd[0], &odd[1]);
      UNROLLED for (int i = 0; i < 2; i++) interleave(even[i], odd[i], &x[2 * i], &x[2 * i + 1]);
      UNROLLED for (int i = 0; i < 4; i++) store(results + i * LANES, x[i]);
    }
  } else {
    for (int64_t r = 0; r < rows; r++)
      for (int i = 0; i < count; i++) *results++ = lines[i][r];
  }
}

/* `rows` rows of results, from row `first` on. */
static void finish_few(const FlatFew *f, int64_t first, int64_t rows, float lines[][FEW_ROWS]) {
  const float *scale = f->scale ? f->scale + first : NULL, *shift = f->shift ? f->shift + first : NULL,
              *add = f->add ? f->add + first * f->count : NULL;
  float results[FLAT_COLUMNS * FEW_ROWS], *out = f->out + first * f->count;
  for (int i = 0; (scale || shift) && i < f->count; i++) {
    float *line = lines[i];
#define SCALE(at, m)                                        \
  V x = load_masked(line + (at), m);                        \
  if (scale) x = multiply(x, load_masked(scale + (at), m)); \
  if (shift) x = plus(x, load_masked(shift + (at), m));     \
  store_masked(line + (at), m, x)
    EACH_VECTOR(rows, SCALE);
#undef SCALE
  }
  join_few(f->count, rows, lines, results);
#define FINISH(at, m)                               \
  V x = load_masked(results + (at), m);             \
  if (add) x = plus(x, load_masked(add + (at), m)); \
  store_masked(out + (at), m, activate(&f->activation, x))
  EACH_VECTOR(rows * f->count, FINISH);
#undef FINISH
  if (activation_is_by_lines(&f->activation)) activate_block(&f->activation, 1, 0, rows * f->count, out);
}

/* A panel without another is its own neighbor. */
static void few(const FlatFew *f) {
  typedef void Sum(int64_t depth, const float *x, int64_t stride, const float *w, int64_t panel, float *lines);
  static Sum *const of[FLAT_COLUMNS] = {sum_few_1, sum_few_2, sum_few_3, sum_few_4};
  assert(f->count > 0 && f->count <= FLAT_COLUMNS);
  int64_t together = FEW_PANELS_OF(f->count) * FLAT_ROWS;
  for (int64_t first = 0; first < f->rows; first += FEW_ROWS) {
    int64_t rows = f->rows - first < FEW_ROWS ? f->rows - first : FEW_ROWS;
    float lines[FLAT_COLUMNS][FEW_ROWS];
    for (int64_t at = 0; at < rows; at += together)
      of[f->count - 1](f->depth, f->patches, f->stride, f->weights + (first + at) * f->depth,
                       rows - at > FLAT_ROWS ? f->depth * FLAT_ROWS : 0, lines[0] + at);
    finish_few(f, first, rows, lines);
  }
}
