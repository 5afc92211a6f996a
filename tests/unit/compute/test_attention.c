/* Attention of every instruction set against sums in double: edges of tiles and blocks, masks, strides, rows without
 * anything to attend to, what is not finite; scratch of just the size that is asked for. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <time.h>

#include <cmocka.h>

#include "base/clock.h"
#include "base/processor.h"
#include "base/work_limit.h"
#include "compute/attention/attention.h"

typedef enum Masks { NONE, ADDED, HIDDEN, BOTH, LEFT_EMPTY, MASKS } Masks;

static float noise(int64_t i) {
  return (float)sin((double)(i * 7919 % 10007));
}

static float score(const AttentionPart *p, int64_t row, int64_t key) {
  double sum = 0;
  for (int64_t w = 0; w < p->width; w++)
    sum += (double)((const float *)p->query.data)[row * p->query.row_stride + w * p->query.col_stride] *
           ((const float *)p->key.data)[w * p->key.row_stride + key * p->key.col_stride];
  sum = p->divides ? sum / p->factor : sum * p->factor;
  if (p->add.data) sum += ((const float *)p->add.data)[row * p->add.row_stride + key * p->add.col_stride];
  if (p->hidden.data && ((const uint8_t *)p->hidden.data)[row * p->hidden.row_stride + key * p->hidden.col_stride])
    sum = p->fill;
  return (float)sum;
}

static void compare(const AttentionPart *p) {
  double *weights = mem_alloc((size_t)p->keys * sizeof *weights);
  for (int64_t row = 0; row < p->rows; row++) {
    double most = -INFINITY, total = 0;
    for (int64_t j = 0; j < p->keys; j++) {
      weights[j] = (double)score(p, row, j);
      if (weights[j] > most) most = weights[j];
    }
    for (int64_t j = 0; j < p->keys; j++) total += weights[j] = exp(weights[j] - most);
    for (int64_t o = 0; o < p->out_width; o++) {
      double sum = 0, got = (double)p->out[row * p->out_stride + o];
      for (int64_t j = 0; j < p->keys; j++)
        sum += weights[j] / total * ((const float *)p->value.data)[j * p->value.row_stride + o * p->value.col_stride];
      if (isnan(sum) ? !isnan(got) : !(fabs(got - sum) < 1e-5))
        fail_msg("%lld x %lld keys, width %lld: row %lld, %lld: %g, not %g", (long long)p->rows, (long long)p->keys,
                 (long long)p->width, (long long)row, (long long)o, got, sum);
    }
    for (int64_t o = p->out_width; o < p->out_stride; o++) assert_true(p->out[row * p->out_stride + o] == -7.0f);
  }
  mem_free(weights);
}

static void check(AttentionKernel *kernel, const int64_t *sizes, Masks masks, bool is_turned) {
  enum { GAP = 3 };
  int64_t rows = sizes[0], keys = sizes[1], width = sizes[2], out_width = sizes[3];
  float *query = mem_alloc((size_t)(rows * width) * sizeof(float)),
        *key = mem_alloc((size_t)(width * keys) * sizeof(float)),
        *value = mem_alloc((size_t)(keys * out_width) * sizeof(float)),
        *add = mem_alloc((size_t)(rows * keys) * sizeof(float)),
        *out = mem_alloc((size_t)(rows * (out_width + GAP)) * sizeof(float));
  uint8_t *hidden = mem_alloc((size_t)(rows * keys));
  void *scratch = mem_alloc(attention_scratch_bytes(keys, width, out_width));
  for (int64_t i = 0; i < rows * width; i++) query[i] = noise(i);
  for (int64_t i = 0; i < keys * width; i++) key[i] = noise(i + 77);
  for (int64_t i = 0; i < keys * out_width; i++) value[i] = noise(i + 777);
  for (int64_t i = 0; i < rows * keys; i++) {
    add[i] = noise(i + 7777);
    hidden[i] = i % 3 == 1 || i % 97 > 60 || (masks == LEFT_EMPTY && (i % keys < ATTENTION_KEYS || i / keys % 2));
  }
  for (int64_t i = 0; i < rows * (out_width + GAP); i++) out[i] = -7;
  AttentionPart p = {.rows = rows,
                     .keys = keys,
                     .width = width,
                     .out_width = out_width,
                     .query = is_turned ? (GemmMatrix){query, 1, rows} : (GemmMatrix){query, width, 1},
                     .key = is_turned ? (GemmMatrix){key, keys, 1} : (GemmMatrix){key, 1, width},
                     .value = is_turned ? (GemmMatrix){value, 1, keys} : (GemmMatrix){value, out_width, 1},
                     .factor = is_turned ? 4 : 3,
                     .divides = is_turned,
                     .fill = masks == BOTH ? -2 : -INFINITY,
                     .out = out,
                     .out_stride = out_width + GAP};
  if (masks == ADDED || masks == BOTH) p.add = is_turned ? (GemmMatrix){add, 1, rows} : (GemmMatrix){add, 0, 1};
  if (masks >= HIDDEN) p.hidden = is_turned ? (GemmMatrix){hidden, 0, 2} : (GemmMatrix){hidden, keys, 1};
  if (masks >= HIDDEN && is_turned && rows < 2) p.hidden.col_stride = 1;
  kernel(&p, scratch, &(int64_t){0});
  compare(&p);
  mem_free(query), mem_free(key), mem_free(value), mem_free(add), mem_free(out), mem_free(hidden), mem_free(scratch);
}

static void every_form(void **state) {
  (void)state;
  AttentionKernel *const forms[] = {PROCESSOR_WIDE_FORMS(attention)};
  /* rows, keys, width, out_width */
  static const int64_t sizes[][4] = {{1, 1, 1, 1},     {2, 33, 5, 7},    {7, 64, 64, 64},   {25, 197, 32, 48},
                                     {31, 100, 3, 80}, {5, 513, 16, 17}, {26, 1100, 20, 65}};
  for (int form = 0; form < PROCESSOR_WIDE_FORM_COUNT; form++)
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
      for (Masks masks = NONE; masks < MASKS; masks++) {
        check(forms[form], sizes[s], masks, false);
        check(forms[form], sizes[s], masks, true);
      }
}

/* A greater score in each block; one that is infinite; one that is no number. */
static void blocks_of_scores(void **state) {
  (void)state;
  enum { KEYS = 3 * ATTENTION_KEYS };
  static float query[3] = {1, 1, 1}, key[KEYS], value[KEYS], add[3 * KEYS], out[3];
  static _Alignas(64) char scratch[1 << 20];
  assert_true(attention_scratch_bytes(KEYS, 1, 1) <= sizeof scratch);
  for (int i = 0; i < KEYS; i++) key[i] = (float)(i / ATTENTION_KEYS * 30 + i % 7), value[i] = noise(i);
  add[KEYS + KEYS / 2] = INFINITY;
  add[2 * KEYS + KEYS / 2] = NAN;
  AttentionPart p = {.rows = 3,
                     .keys = KEYS,
                     .width = 1,
                     .out_width = 1,
                     .query = {query, 1, 1},
                     .key = {key, 1, 1},
                     .value = {value, 1, 1},
                     .add = {add, KEYS, 1},
                     .factor = 1,
                     .out = out,
                     .out_stride = 1};
  AttentionKernel *const forms[] = {PROCESSOR_WIDE_FORMS(attention)};
  for (int form = 0; form < PROCESSOR_WIDE_FORM_COUNT; form++) {
    forms[form](&p, scratch, &(int64_t){0});
    compare(&p);
    assert_true(!isnan(out[0]) && isnan(out[1]) && isnan(out[2]));
  }
}

/* Batches and rows shared out among threads: the same bits. */
static void shared_out(void **state) {
  (void)state;
  enum { BATCHES = 3, ROWS = 401, KEYS = 70, WIDTH = 8 };
  static float query[BATCHES * ROWS * WIDTH], key[KEYS * WIDTH], out[2][BATCHES * ROWS * WIDTH];
  for (int i = 0; i < BATCHES * ROWS * WIDTH; i++) query[i] = noise(i);
  for (int i = 0; i < KEYS * WIDTH; i++) key[i] = noise(i + 5);
  const int64_t sizes[] = {BATCHES}, dense[] = {ROWS * WIDTH}, same[] = {0};
  for (int i = 0; i < 2; i++) {
    Work work = {.threads = i ? 3 : 1};
    Attention all = {.part = {.rows = ROWS,
                              .keys = KEYS,
                              .width = WIDTH,
                              .out_width = WIDTH,
                              .query = {query, WIDTH, 1},
                              .key = {key, 1, WIDTH},
                              .value = {key, WIDTH, 1},
                              .factor = 1,
                              .out = out[i],
                              .out_stride = WIDTH},
                     .ndim = 1,
                     .sizes = sizes,
                     .strides = {dense, same, same, NULL, NULL, dense}};
    assert_null(attention(&work, &all));
  }
  assert_memory_equal(out[0], out[1], sizeof out[0]);
}

#ifdef __SANITIZE_THREAD__ /* which makes everything ten times as slow */
enum { MOST_MS = 4000 };
#else
enum { MOST_MS = 400 };
#endif

/* 200,000 rows that all are one, against as many keys: what is left at the deadline is left. */
static void ends_at_the_deadline(void **state) {
  enum { LONG = 200000, WIDTH = 8 };
  static float one[WIDTH], out[WIDTH];
  const int64_t sizes[] = {1}, still[] = {0};
  (void)state;
  WorkLimit limit = {.deadline_ns = clock_now_ns() + 100000000}, *before = work_limit_enter(&limit);
  clock_t begin = clock();
  Work work = {.threads = 1};
  Attention all = {.part = {.rows = LONG,
                            .keys = LONG,
                            .width = WIDTH,
                            .out_width = WIDTH,
                            .query = {one, 0, 1},
                            .key = {one, 1, 0},
                            .value = {one, 0, 1},
                            .factor = 1,
                            .out = out},
                   .ndim = 1,
                   .sizes = sizes,
                   .strides = {still, still, still, NULL, NULL, still}};
  status_free(attention(&work, &all)); /* whether it is an error the caller says, who asks the limit */
  bool is_over = work_is_over();
  work_limit_enter(before);
  assert_true(is_over);
  double used_ms = 1000 * (double)(clock() - begin) / CLOCKS_PER_SEC;
  if (used_ms > MOST_MS) fail_msg("%.0f ms of processor time", used_ms);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(every_form), cmocka_unit_test(blocks_of_scores),
                                     cmocka_unit_test(shared_out), cmocka_unit_test(ends_at_the_deadline)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
