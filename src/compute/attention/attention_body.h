/* attention.h for one instruction set. The including file defines what gemm_tile_body.h asks for but T and NAME,
 * ATTENTION (the function's name) and FUSED (tile/vector_math_body.h). */
#include "base/work_limit.h"
#include "compute/attention/attention.h"

#define T float
#define NAME(x) x##_f32
#include "compute/gemm/gemm_tile_body.h"
#undef FMA
#include "tile/vector_math_body.h"

#if defined(__clang__)
#define INDEPENDENT _Pragma("clang loop vectorize(assume_safety)")
#else
#define INDEPENDENT _Pragma("GCC ivdep")
#endif

enum { PARTS = 32 }; /* of maxima and sums, in a fixed order: the compiler keeps them in vector registers */
#define HALVES(X) X(16) X(8) X(4) X(2) X(1) /* to join them */

static int64_t whole(int64_t n) {
  return (n + COLUMNS - 1) / COLUMNS * COLUMNS;
}
static int64_t score_stride(int64_t n) {
  return whole((n + PARTS - 1) / PARTS * PARTS);
}

/* What a block of a row becomes before its maximum is known. */
static void mask_scores(const AttentionPart *p, int64_t row, int64_t first_key, int64_t n, float *scores) {
  float factor = p->factor;
  if (p->divides)
    for (int64_t j = 0; j < n; j++) scores[j] /= factor;
  else if (factor != 1)
    for (int64_t j = 0; j < n; j++) scores[j] *= factor;
  if (p->add.data) {
    int64_t step = p->add.col_stride;
    const float *add = (const float *)p->add.data + row * p->add.row_stride + first_key * step;
    if (step == 1) INDEPENDENT
    for (int64_t j = 0; j < n; j++) scores[j] += add[j];
    else for (int64_t j = 0; j < n; j++) scores[j] += add[j * step];
  }
  if (p->hidden.data) {
    float fill = p->fill;
    int64_t step = p->hidden.col_stride;
    const uint8_t *hidden = (const uint8_t *)p->hidden.data + row * p->hidden.row_stride + first_key * step;
    if (step == 1) INDEPENDENT
    for (int64_t j = 0; j < n; j++) scores[j] = hidden[j] ? fill : scores[j];
    else for (int64_t j = 0; j < n; j++) scores[j] = hidden[j * step] ? fill : scores[j];
  }
}

/* Of n numbers, a multiple of PARTS. NaN is left out: it spreads by the sum. */
static float greatest(int64_t n, const float *x) {
  float parts[PARTS];
  for (int k = 0; k < PARTS; k++) parts[k] = x[k];
  for (int64_t i = PARTS; i < n; i += PARTS)
    for (int k = 0; k < PARTS; k++) parts[k] = x[i + k] > parts[k] ? x[i + k] : parts[k];
  for (int k = 0; k < PARTS; k++) parts[k] = parts[k] == parts[k] ? parts[k] : -INFINITY;
#define HALF(half) \
  for (int k = 0; k < half; k++) parts[k] = parts[k + half] > parts[k] ? parts[k + half] : parts[k];
  HALVES(HALF)
#undef HALF
  return parts[0];
}

/* e^x for x up to 0, or NaN; 0 where that is no normal number. */
static inline float weight_of(float x) {
  float shifted = FMA(x, LOG2_E, ROUND_BIASED(127));
  float n = shifted - ROUND_BIASED(127);
  float r = FMA(n, -LN2_LO, FMA(n, -LN2_HI, x));
  float e = exp_core(r) * power_of_two(as_int(shifted));
  return x < -87.0f ? 0 : e;
}

/* Exponentials of x - shift in place; their sum. n is a multiple of PARTS. */
static float exponentials(int64_t n, float *x, float shift) {
  float parts[PARTS] = {0};
  INDEPENDENT
  for (int64_t i = 0; i < n; i++) x[i] = weight_of(x[i] - shift);
  for (int64_t i = 0; i < n; i += PARTS)
    for (int k = 0; k < PARTS; k++) parts[k] += x[i + k];
#define HALF(half) \
  for (int k = 0; k < half; k++) parts[k] += parts[k + half];
  HALVES(HALF)
#undef HALF
  return parts[0];
}

typedef struct RowState {
  float most, sum;
} RowState;

/* A block of a row's scores to weights, with room for whole PARTS; what the row's results of blocks before are to be
 * multiplied by. While all scores are -inf a row has no weights and no greatest score. */
static float weigh(const AttentionPart *p, int64_t row, int64_t first_key, int64_t n, float *scores, RowState *state) {
  mask_scores(p, row, first_key, n, scores);
  while (n % PARTS) scores[n++] = -INFINITY;
  float most = greatest(n, scores), before = 1;
  if (most < state->most) most = state->most;
  float shift = most == -INFINITY ? 0 : most;
  if (most > state->most) before = weight_of(state->most - most);
  state->most = most;
  state->sum = state->sum * before + exponentials(n, scores, shift);
  return before;
}

/* Whether the work of so many products is to be done. */
static bool goes_on(int64_t products, int64_t *done) {
  return !work_is_over_after(done, products / 8 + 16);
}

void ATTENTION(const AttentionPart *p, void *scratch, int64_t *done) {
  int64_t stride = score_stride(p->keys < ATTENTION_KEYS ? p->keys : ATTENTION_KEYS), out_stride = whole(p->out_width);
  float *keys = (float *)(((uintptr_t)scratch + GEMM_PAD - 1) & ~(uintptr_t)(GEMM_PAD - 1)),
        *values = keys + whole(p->keys) * p->width, *scores = values + p->keys * out_stride,
        *results = scores + ATTENTION_ROWS * stride;
  for (int64_t j = 0; j < p->keys && goes_on(COLUMNS * p->width, done); j += COLUMNS)
    pack_panel_f32(keys + j * p->width, (const float *)p->key.data + j * p->key.col_stride, p->key.col_stride,
                   p->key.row_stride, p->keys - j < COLUMNS ? p->keys - j : COLUMNS, p->width, COLUMNS);
  for (int64_t j = 0; j < p->out_width && goes_on(COLUMNS * p->keys, done); j += COLUMNS)
    pack_panel_f32(values + j * p->keys, (const float *)p->value.data + j * p->value.col_stride, p->value.col_stride,
                   p->value.row_stride, p->out_width - j < COLUMNS ? p->out_width - j : COLUMNS, p->keys, COLUMNS);
  for (int64_t row = 0; row < p->rows; row += ATTENTION_ROWS) {
    int64_t rows = p->rows - row < ATTENTION_ROWS ? p->rows - row : ATTENTION_ROWS;
    RowState states[ATTENTION_ROWS];
    for (int64_t i = 0; i < rows; i++) states[i] = (RowState){.most = -INFINITY};
    for (int64_t first = 0; first < p->keys; first += ATTENTION_KEYS) {
      int64_t n = p->keys - first < ATTENTION_KEYS ? p->keys - first : ATTENTION_KEYS;
      for (int64_t j = 0; j < n; j += COLUMNS) { /* whole vectors: there is room after the scores */
        int64_t columns = n - j < COLUMNS ? (n - j + LANES - 1) / LANES * LANES : COLUMNS;
        if (!goes_on(rows * columns * p->width, done)) return;
        for (int64_t i = 0; i < rows; i += ROWS)
          tile_of_f32(rows - i < ROWS ? rows - i : ROWS, columns, p->width,
                      (const float *)p->query.data + (row + i) * p->query.row_stride, p->query.row_stride,
                      p->query.col_stride, keys + (first + j) * p->width, COLUMNS, NULL, 0, scores + i * stride + j,
                      stride, NULL);
      }
      for (int64_t i = 0; i < rows; i++) {
        float before = weigh(p, row + i, first, n, scores + i * stride, &states[i]);
        if (first && before != 1)
          for (int64_t j = 0; j < p->out_width; j++) results[i * out_stride + j] *= before;
      }
      for (int64_t j = 0; j < p->out_width; j += COLUMNS) {
        int64_t columns = p->out_width - j < COLUMNS ? (p->out_width - j + LANES - 1) / LANES * LANES : COLUMNS;
        if (!goes_on(rows * columns * n, done)) return;
        for (int64_t i = 0; i < rows; i += ROWS) {
          float *to = results + i * out_stride + j;
          tile_of_f32(rows - i < ROWS ? rows - i : ROWS, columns, n, scores + i * stride, stride, 1,
                      values + j * p->keys + first * COLUMNS, COLUMNS, first ? to : NULL, out_stride, to, out_stride,
                      NULL);
        }
      }
    }
    for (int64_t i = 0; i < rows; i++) {
      float scale = 1 / states[i].sum;
      if (states[i].most == -INFINITY) scale = NAN; /* nothing to attend to */
      float *to = p->out + (row + i) * p->out_stride;
      for (int64_t j = 0; j < p->out_width; j++) to[j] = results[i * out_stride + j] * scale;
    }
  }
}
