/* Batch normalization's sums and gradients against their definitions: both types, instruction sets, rows and planes,
 * threads. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/memory.h"
#include "base/processor.h"
#include "compute/norm/norm_batch.h"
#include "tensor/tensor.h"
#include "random_numbers.h"

enum { MOST = 4096, MOST_CHANNELS = 40 };
typedef struct Data {
  NormBatch b;
  int64_t n;
  double x[MOST], grad[MOST]; /* as they are in b's type, in which they lie in the others */
  char typed_x[MOST * 8], typed_grad[MOST * 8], grad_x[(MOST + 1) * 8];
  double weight[MOST_CHANNELS], mean[MOST_CHANNELS], invstd[MOST_CHANNELS];
} Data;

static void typed(DType dtype, int64_t n, double *values, char *to) {
  for (int64_t i = 0; i < n; i++) values[i] = 3 + (double)((int)(next() % 2001) - 1000) / 500;
  dtype_convert(dtype, to, 1, DTYPE_FLOAT64, values, 1, n);
  dtype_convert(DTYPE_FLOAT64, values, 1, dtype, to, 1, n);
}

static void fill(Data *d) {
  NormBatch *b = &d->b;
  *b = (NormBatch){.dtype = next() % 2 ? DTYPE_FLOAT32 : DTYPE_FLOAT64,
                   .batch = pick(1, 6),
                   .channels = pick(1, MOST_CHANNELS),
                   .inner = next() % 3 ? pick(2, 17) : 1,
                   .x = d->typed_x,
                   .grad = d->typed_grad,
                   .grad_x = d->grad_x};
  d->n = b->batch * b->channels * b->inner;
  assert_true(d->n <= MOST);
  typed(b->dtype, d->n, d->x, d->typed_x);
  typed(b->dtype, d->n, d->grad, d->typed_grad);
  for (int64_t c = 0; c < b->channels; c++) {
    d->weight[c] = (double)pick(-9, 9) / 4;
    d->mean[c] = (double)pick(-9, 9) / 4;
    d->invstd[c] = (double)pick(1, 9) / 4;
  }
}

static int64_t at(const NormBatch *b, int64_t n, int64_t c, int64_t i) {
  return (n * b->channels + c) * b->inner + i;
}
#define EACH(b)                            \
  for (int64_t n = 0; n < (b)->batch; n++) \
    for (int64_t i = 0; i < (b)->inner; i++)

static void check_close(double wanted, double got, double bound) {
  if (!(fabs(wanted - got) <= bound * (1 + fabs(wanted)))) fail_msg("%.17g, not %.17g", got, wanted);
}

static void check_statistics(const Data *d, double *mean, double *variance) {
  const NormBatch *b = &d->b;
  double count = (double)(b->batch * b->inner), shared[2][MOST_CHANNELS];
  assert_null(norm_batch_statistics(1, b, mean, variance));
  assert_null(norm_batch_statistics(3, b, shared[0], shared[1]));
  assert_memory_equal(mean, shared[0], (size_t)b->channels * sizeof *mean);
  assert_memory_equal(variance, shared[1], (size_t)b->channels * sizeof *mean);
  for (int64_t c = 0; c < b->channels; c++) {
    double sum = 0, squares = 0;
    EACH(b) sum += d->x[at(b, n, c, i)];
    EACH(b) squares += pow(d->x[at(b, n, c, i)] - sum / count, 2);
    check_close(sum / count, mean[c], 1e-12);
    check_close(squares / count, variance[c], 1e-12);
  }
}

/* The gradient of sum of grad * y by x, which moves mean and invstd where `training`. */
static void check_gradients(const Data *d, bool training, bool weighted) {
  const NormBatch *b = &d->b;
  double count = (double)(b->batch * b->inner), bound = b->dtype == DTYPE_FLOAT64 ? 1e-12 : 1e-5;
  double for_weight[2][MOST_CHANNELS], for_bias[2][MOST_CHANNELS], got[2][MOST];
  for (int k = 0; k < 2; k++) {
    memset((char *)d->grad_x, 77, sizeof d->grad_x);
    assert_null(norm_batch_backward(k ? 3 : 1, b, training, d->mean, d->invstd, weighted ? d->weight : NULL,
                                    for_weight[k], for_bias[k]));
    dtype_convert(DTYPE_FLOAT64, got[k], 1, b->dtype, d->grad_x, 1, d->n);
    assert_true(d->grad_x[(size_t)d->n * dtype_size(b->dtype)] == 77);
  }
  assert_memory_equal(got[0], got[1], (size_t)d->n * sizeof(double));
  for (int64_t c = 0; c < b->channels; c++) {
    double sum = 0, product = 0, w = weighted ? d->weight[c] : 1, s = d->invstd[c];
    EACH(b) sum += d->grad[at(b, n, c, i)];
    EACH(b) product += d->grad[at(b, n, c, i)] * (d->x[at(b, n, c, i)] - d->mean[c]) * s;
    check_close(sum, for_bias[0][c], 1e-12);
    check_close(product, for_weight[0][c], 1e-12);
    assert_true(for_bias[0][c] == for_bias[1][c] && for_weight[0][c] == for_weight[1][c]);
    EACH(b) {
      double g = d->grad[at(b, n, c, i)], x = (d->x[at(b, n, c, i)] - d->mean[c]) * s;
      check_close(training ? w * s * (g - sum / count - x * product / count) : w * s * g, got[0][at(b, n, c, i)],
                  bound * 16);
    }
  }
}

static void test_random(void **state) {
  (void)state;
  Data *d = mem_alloc(sizeof *d);
  double mean[MOST_CHANNELS], variance[MOST_CHANNELS];
  for (int k = 0; k < 200; k++) {
    fill(d);
    check_statistics(d, mean, variance);
    check_gradients(d, false, next() % 2);
    for (int64_t c = 0; c < d->b.channels; c++) {
      d->mean[c] = mean[c];
      d->invstd[c] = 1 / sqrt(variance[c] + 0.01);
    }
    check_gradients(d, true, next() % 2);
  }
  mem_free(d);
}

/* The same bits from every instruction set where the order of sums is the same: sums of planes and of rows. */
static void test_forms(void **state) {
  (void)state;
  static const NormBatchForms *const forms[] = {PROCESSOR_FORMS(norm_batch)};
  float x[37], grad[37], out[2][37];
  for (int i = 0; i < 37; i++) x[i] = (float)pick(-99, 99) / 7, grad[i] = (float)pick(-99, 99) / 7;
  NormGradient g = {0.25, 0.5, 0.75, 1.5};
  for (int f = 0; f < PROCESSOR_FORM_COUNT; f++)
    for (int64_t n = 0; n <= 37; n++) {
      const NormBatchLoops *portable = &norm_batch_portable[0], *l = &(*forms[f])[0];
      double wanted[2] = {1, 2}, got[2] = {1, 2};
      portable->moments(n, x, 0.5, wanted);
      l->moments(n, x, 0.5, got);
      assert_memory_equal(wanted, got, sizeof got);
      portable->products(n, x, grad, 0.5, wanted);
      l->products(n, x, grad, 0.5, got);
      assert_memory_equal(wanted, got, sizeof got);
      portable->gradient(n, x, grad, &g, out[0]);
      l->gradient(n, x, grad, &g, out[1]);
      assert_memory_equal(out[0], out[1], (size_t)n * sizeof(float));
    }
}

static void test_nothing(void **state) {
  (void)state;
  double mean[2] = {1, 1}, variance[2] = {1, 1}, for_weight[2], for_bias[2];
  NormBatch b = {.dtype = DTYPE_FLOAT32, .batch = 0, .channels = 2, .inner = 3};
  assert_null(norm_batch_statistics(2, &b, mean, variance));
  assert_true(mean[0] == 0 && variance[1] == 0);
  assert_null(norm_batch_backward(2, &b, true, mean, variance, NULL, for_weight, for_bias));
  assert_true(for_weight[0] == 0 && for_bias[1] == 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_random), cmocka_unit_test(test_forms),
                                     cmocka_unit_test(test_nothing)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
