/* The greatest of windows, with and without where it was found, against a plain search: kernels, strides, dilations,
 * paddings, rows short and long, equal values, NaN, minus infinity; and the way back. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/processor.h"
#include "compute/pool/pool_indices.h"
#include "compute/pool/pool_maximum.h"
#include "random_numbers.h"

static PoolPlanes random_planes(void) {
  PoolPlanes p = {.planes = pick(1, 5)};
  int dimensions = (int)pick(1, 3);
  for (int d = 0; d < 3; d++) {
    bool there = d >= 3 - dimensions;
    p.kernel[d] = there ? pick(1, 6) : 1;
    p.stride[d] = there ? pick(1, 3) : 1;
    p.dilation[d] = there ? pick(1, 2) : 1;
    p.padding[d] = there ? pick(0, p.kernel[d] / 2) : 0;
    int64_t span = p.dilation[d] * (p.kernel[d] - 1) + 1;
    p.in[d] = there ? span + pick(0, d == 2 ? 60 : 6) : 1;
    p.out[d] = (p.in[d] + 2 * p.padding[d] - span) / p.stride[d] + 1;
    bool one_more = (p.out[d] * p.stride[d] - p.padding[d]) < p.in[d] && next() % 2; /* as ceil_mode has it */
    p.out[d] += one_more;
  }
  return p;
}

/* Windows that pool_maximum.h takes, around each element or not. */
static PoolPlanes small_windows(bool is_same) {
  PoolPlanes p;
  do {
    p = random_planes();
    p.in[0] = p.out[0] = p.kernel[0] = p.stride[0] = p.dilation[0] = 1;
    p.padding[0] = 0;
    p.stride[2] = pick(1, 2);
    p.kernel[2] = pick(2, 3);
    p.padding[2] = pick(0, 1);
    p.dilation[2] = 1;
    p.in[2] = pick(28, 120);
    p.out[2] = (p.in[2] + 2 * p.padding[2] - p.kernel[2]) / p.stride[2] + 1;
    p.out[2] += p.out[2] * p.stride[2] - p.padding[2] < p.in[2] && next() % 2;
    for (int d = 1; is_same && d < 3; d++) {
      p.kernel[d] = 3;
      p.stride[d] = p.padding[d] = p.dilation[d] = 1;
      p.in[d] = p.out[d] = pick(1, next() % 2 ? 9 : 66);
    }
  } while (!pool_maximum_fits(&p));
  return p;
}

static float value(bool odd) {
  uint32_t kind = odd ? next() % 8 : 8;
  return kind == 0 ? NAN : kind < 4 ? -INFINITY : (float)pick(-3, 3);
}

/* Window (o0, o1, o2): where the greatest is. */
static int64_t search(const PoolPlanes *p, const float *in, int64_t o0, int64_t o1, int64_t o2) {
  int64_t at = -1;
  float best = -INFINITY;
  for (int64_t k0 = 0; k0 < p->kernel[0]; k0++)
    for (int64_t k1 = 0; k1 < p->kernel[1]; k1++)
      for (int64_t k2 = 0; k2 < p->kernel[2]; k2++) {
        int64_t x0 = o0 * p->stride[0] - p->padding[0] + k0 * p->dilation[0],
                x1 = o1 * p->stride[1] - p->padding[1] + k1 * p->dilation[1],
                x2 = o2 * p->stride[2] - p->padding[2] + k2 * p->dilation[2];
        if (x0 < 0 || x0 >= p->in[0] || x1 < 0 || x1 >= p->in[1] || x2 < 0 || x2 >= p->in[2]) continue;
        int64_t here = (x0 * p->in[1] + x1) * p->in[2] + x2;
        if (at >= 0 && !(in[here] > best) && !isnan(in[here])) continue;
        at = here;
        best = in[here];
      }
  return at;
}

static void test_random(void **state) {
  (void)state;
  for (int i = 0; i < 300; i++) {
    PoolPlanes p = random_planes();
    int64_t size = p.in[0] * p.in[1] * p.in[2], count = p.out[0] * p.out[1] * p.out[2];
    float *in = mem_alloc((size_t)(p.planes * size) * sizeof *in), *out = mem_alloc((size_t)(p.planes * count) * 4);
    int64_t *indices = mem_alloc((size_t)(p.planes * count) * sizeof *indices), at = 0;
    Work work = {.threads = (int)pick(1, 3)};
    for (int64_t k = 0; k < p.planes * size; k++) in[k] = value(i % 3 == 0);
    assert_null(pool_indices_run(&work, &p, in, out, indices));
    for (int64_t plane = 0; plane < p.planes; plane++)
      for (int64_t o0 = 0; o0 < p.out[0]; o0++)
        for (int64_t o1 = 0; o1 < p.out[1]; o1++)
          for (int64_t o2 = 0; o2 < p.out[2]; o2++, at++) {
            int64_t wanted = search(&p, in + plane * size, o0, o1, o2);
            assert_int_equal(indices[at], wanted);
            assert_memory_equal(&out[at], &in[plane * size + wanted], sizeof *out);
          }
    mem_free(in);
    mem_free(out);
    mem_free(indices);
  }
}

static void check_maximum(const PoolPlanes *p, const float *in, const float *out) {
  int64_t size = p->in[1] * p->in[2], at = 0;
  for (int64_t plane = 0; plane < p->planes; plane++)
    for (int64_t o1 = 0; o1 < p->out[1]; o1++)
      for (int64_t o2 = 0; o2 < p->out[2]; o2++, at++) {
        float wanted = in[plane * size + search(p, in + plane * size, 0, o1, o2)];
        if (isnan(wanted) ? !isnan(out[at]) : out[at] != wanted)
          fail_msg("plane %lld, %lld, %lld: %g, not %g", (long long)plane, (long long)o1, (long long)o2,
                   (double)out[at], (double)wanted);
      }
}

/* Each form over planes that lie one after the other, and what chooses among the ways. Behind the last nothing can be
 * read. */
static void test_maximum(void **state) {
  (void)state;
  PoolMaximum *const forms[] = {PROCESSOR_WIDE_FORMS(pool_maximum)};
  for (int i = 0; i < 600; i++) {
    PoolPlanes p = small_windows(i % 2);
    int64_t size = p.in[1] * p.in[2], count = p.out[1] * p.out[2];
    float *in = malloc((size_t)(p.planes * size) * sizeof *in), *out = malloc((size_t)(p.planes * count) * 4),
          *scratch = malloc((size_t)pool_maximum_scratch(&p) * sizeof *scratch);
    Work work = {.threads = (int)pick(1, 3)};
    for (int64_t k = 0; k < p.planes * size; k++) in[k] = value(i % 3 == 0);
    for (int form = 0; form < PROCESSOR_WIDE_FORM_COUNT; form++) {
      for (int64_t k = 0; k < p.planes * count; k++) out[k] = 99;
      for (int64_t k = 0; k < pool_maximum_scratch(&p); k++) scratch[k] = -INFINITY;
      for (int64_t k = 0; k < p.planes; k++)
        forms[form](&p, in + k * size, (p.planes - k) * size, out + k * count, scratch);
      check_maximum(&p, in, out);
    }
    for (int64_t k = 0; k < p.planes * count; k++) out[k] = 99;
    assert_null(pool_planes_run(&work, &p, in, out));
    check_maximum(&p, in, out);
    free(in), free(out), free(scratch);
  }
}

static void test_spread(void **state) {
  (void)state;
  const float grad[] = {1, 2, 4, 8};
  const double wide[] = {1, 2, 4, 8};
  const int64_t indices[] = {2, 2, 0, 1};
  float to[7] = {9, 9, 9, 9, 9, 9, 9};
  double also[6];
  assert_true(pool_spread(2, DTYPE_FLOAT32, 2, 3, 2, grad, indices, to));
  assert_true(pool_spread(2, DTYPE_FLOAT64, 2, 3, 2, wide, indices, also));
  const float wanted[] = {0, 0, 3, 4, 8, 0, 9};
  assert_memory_equal(to, wanted, sizeof to);
  for (int i = 0; i < 6; i++) assert_true(also[i] == (double)wanted[i]);
  const int64_t above[] = {2, 3}, below[] = {-1, 0};
  assert_false(pool_spread(1, DTYPE_FLOAT32, 1, 3, 2, grad, above, to));
  assert_false(pool_spread(1, DTYPE_FLOAT32, 1, 3, 2, grad, below, to));
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_random), cmocka_unit_test(test_maximum),
                                     cmocka_unit_test(test_spread)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
