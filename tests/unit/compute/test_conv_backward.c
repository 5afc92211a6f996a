/* The fast ways of gradients of convolutions, and of transposed ones, against the portable one in double: random
 * kernels, strides, dilations, paddings, groups, batches, threads; numbers that are not finite. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/processor.h"
#include "compute/conv/conv_backward.h"
#include "random_numbers.h"

/* The same numbers in both precisions. */
typedef struct Numbers {
  int64_t count;
  float *f;
  double *d;
} Numbers;
static Numbers numbers(int64_t n) {
  Numbers x = {n, mem_alloc((size_t)(n + 1) * sizeof(float)), mem_alloc((size_t)(n + 1) * sizeof(double))};
  for (int64_t i = 0; i < n; i++) x.d[i] = (double)(x.f[i] = (float)((int)(next() % 2001) - 1000) / 500);
  return x;
}
static void numbers_free(Numbers x) {
  mem_free(x.f);
  mem_free(x.d);
}

typedef struct Case {
  ConvParams p;
  Numbers input, weight, grad;
} Case;
static Case case_of(const ConvParams *p) {
  int64_t in = p->batch * p->in_channels, out = p->batch * p->out_channels,
          weight = p->in_channels * p->out_channels / p->groups;
  for (int d = 0; d < CONV_SPATIAL; d++) {
    in *= p->in[d];
    out *= p->out[d];
    weight *= p->kernel[d];
  }
  return (Case){*p, numbers(in), numbers(weight), numbers(out)};
}
static void case_free(const Case *c) {
  numbers_free(c->input);
  numbers_free(c->weight);
  numbers_free(c->grad);
}

static ConvParams random_params(void) {
  static const int64_t channels[] = {1, 2, 3, 5, 8, 9, 16, 17, 33};
  ConvParams p = {
      .spatial = 3, .transposed = next() % 3 == 0, .batch = pick(1, 9), .groups = next() % 3 ? 1 : pick(2, 5)};
  if (next() % 6 == 0) { /* depthwise */
    p.groups = pick(2, 40);
    p.in_channels = p.out_channels = p.groups;
  } else {
    p.in_channels = p.groups * channels[next() % 9];
    p.out_channels = p.groups * channels[next() % 9];
  }
  int dimensions = (int)pick(1, 5) / 2 + 1; /* mostly planes */
  for (int d = 0; d < CONV_SPATIAL; d++) {
    bool there = d >= CONV_SPATIAL - dimensions;
    p.kernel[d] = there ? pick(1, 4) : 1;
    p.stride[d] = there && next() % 2 ? pick(1, 3) : 1;
    p.dilation[d] = there && next() % 3 == 0 ? pick(1, 3) : 1;
    int64_t reach = p.dilation[d] * (p.kernel[d] - 1); /* more padding is rare */
    p.padding[d] = there ? pick(0, next() % 8 ? reach : reach + 2) : 0;
    p.padding_after[d] = there && !p.transposed && next() % 4 == 0 ? pick(0, 3) : p.padding[d];
    p.in[d] = there ? pick(1, dimensions == 3 ? 7 : 19) : 1;
    int64_t span = p.dilation[d] * (p.kernel[d] - 1) + 1, around = p.padding[d] + p.padding_after[d];
    if (p.transposed) {
      p.output_padding[d] = pick(0, (p.stride[d] > p.dilation[d] ? p.stride[d] : p.dilation[d]) - 1);
      while ((p.in[d] - 1) * p.stride[d] + span + p.output_padding[d] - around < 1) p.in[d]++;
      p.out[d] = (p.in[d] - 1) * p.stride[d] + span + p.output_padding[d] - around;
    } else {
      while (p.in[d] + around < span) p.in[d]++;
      p.out[d] = (p.in[d] + around - span) / p.stride[d] + 1;
    }
  }
  return p;
}

static void check(const Case *c, const char *what, int64_t n, const float *got, const double *wanted, double bound) {
  const ConvParams *p = &c->p;
  for (int64_t i = 0; i < n; i++)
    if (!(fabs(wanted[i] - (double)got[i]) <= bound * (1 + fabs(wanted[i]))))
      fail_msg(
          "%s: %lld is %g, not %g (%s, %lld images, %lld to %lld channels in %lld groups, in %lldx%lldx%lld, kernel "
          "%lldx%lldx%lld, stride %lld,%lld,%lld)",
          what, (long long)i, (double)got[i], wanted[i], p->transposed ? "transposed" : "plain", (long long)p->batch,
          (long long)p->in_channels, (long long)p->out_channels, (long long)p->groups, (long long)p->in[0],
          (long long)p->in[1], (long long)p->in[2], (long long)p->kernel[0], (long long)p->kernel[1],
          (long long)p->kernel[2], (long long)p->stride[0], (long long)p->stride[1], (long long)p->stride[2]);
}

static Work work_of(int threads) {
  return (Work){.threads = threads};
}

static const FlatKernels *const tables[] = {PROCESSOR_WIDE_FORMS(flat_kernels)};

static void check_weight_tables(const Case *c, const double *wanted, double bound) {
  const ConvParams *p = &c->p;
  float *alone = mem_alloc((size_t)(c->weight.count + 1) * sizeof *alone),
        *shared = mem_alloc((size_t)(c->weight.count + 1) * sizeof *shared);
  const float *narrow = p->transposed ? c->input.f : c->grad.f, *wide = p->transposed ? c->grad.f : c->input.f;
  for (int t = 0; t < PROCESSOR_WIDE_FORM_COUNT; t++) {
    Work one = work_of(1), more = work_of((int)pick(2, 5));
    bool done = false;
    alone[c->weight.count] = shared[c->weight.count] = -77;
    assert_null(conv_correlate_by(tables[t], &one, p, narrow, wide, alone, &done));
    assert_true(done);
    check(c, "weight", c->weight.count, alone, wanted, bound);
    assert_null(conv_correlate_by(tables[t], &more, p, narrow, wide, shared, &done));
    assert_memory_equal(alone, shared, (size_t)(c->weight.count + 1) * sizeof *alone);
  }
  mem_free(alone);
  mem_free(shared);
}

typedef struct Gradients {
  Numbers input, weight, bias;
} Gradients;
static Gradients gradients_of(const Case *c, int threads) {
  Gradients g = {numbers(c->input.count), numbers(c->weight.count), numbers(c->p.out_channels)};
  Work work = work_of(threads);
  assert_null(conv_backward_portable(&work, &c->p, DTYPE_FLOAT64, c->grad.d, c->input.d, c->weight.d, g.input.d,
                                     g.weight.d, g.bias.d));
  g.input.f[g.input.count] = g.weight.f[g.weight.count] = g.bias.f[g.bias.count] = -77;
  assert_null(
      conv_backward(&work, &c->p, DTYPE_FLOAT32, c->grad.f, c->input.f, c->weight.f, g.input.f, g.weight.f, g.bias.f));
  assert_true(g.input.f[g.input.count] == -77 && g.weight.f[g.weight.count] == -77 && g.bias.f[g.bias.count] == -77);
  return g;
}
static void gradients_free(const Gradients *g) {
  numbers_free(g->input);
  numbers_free(g->weight);
  numbers_free(g->bias);
}

static void check_results(const Case *c) { /* of a transposed one */
  Numbers out = numbers(c->grad.count);
  Work work = work_of((int)pick(1, 3));
  assert_null(conv_forward_portable(&work, &c->p, DTYPE_FLOAT64, c->input.d, c->weight.d, NULL, out.d));
  out.f[out.count] = -77;
  assert_null(conv_spread(&work, &c->p, c->input.f, c->weight.f, out.f));
  assert_true(out.f[out.count] == -77);
  check(c, "result", out.count, out.f, out.d, 1e-4);
  numbers_free(out);
}

static void test_random(void **state) {
  (void)state;
  int spread = 0, gathered = 0, correlated = 0;
  for (int i = 0; i < 400; i++) {
    ConvParams p = random_params();
    Case c = case_of(&p);
    Gradients g = gradients_of(&c, (int)pick(1, 3));
    double bound = 1e-6 * sqrt((double)(c.grad.count / p.out_channels) + 16) * 4;
    check(&c, "input", g.input.count, g.input.f, g.input.d, 1e-4);
    check(&c, "weight", g.weight.count, g.weight.f, g.weight.d, bound);
    check(&c, "bias", g.bias.count, g.bias.f, g.bias.d, 1e-6);
    if (conv_correlate_takes(&p)) correlated++, check_weight_tables(&c, g.weight.d, bound);
    if (p.transposed) gathered += conv_gather_takes(&p);
    if (conv_spread_takes(&p)) spread++;
    if (p.transposed && conv_spread_takes(&p)) check_results(&c);
    gradients_free(&g);
    case_free(&c);
  }
  assert_true(spread > 200 && gathered > 80 && correlated > 300); /* the fast ways are taken */
}

static ConvParams plane_params(int64_t batch, int64_t in_channels, int64_t out_channels, int64_t side, int64_t kernel,
                               int64_t stride) {
  int64_t out = (side + kernel / 2 * 2 - kernel) / stride + 1;
  return (ConvParams){.spatial = 2,
                      .batch = batch,
                      .groups = 1,
                      .in_channels = in_channels,
                      .out_channels = out_channels,
                      .in = {1, side, side},
                      .out = {1, out, out},
                      .kernel = {1, kernel, kernel},
                      .stride = {1, stride, stride},
                      .dilation = {1, 1, 1},
                      .padding = {0, kernel / 2, kernel / 2},
                      .padding_after = {0, kernel / 2, kernel / 2}};
}

/* What reads the gradient of results beyond the input's end leaves that out. */
static void test_cut(void **state) {
  (void)state;
  ConvParams p = plane_params(6, 33, 33, 5, 1, 1);
  p.spatial = 3;
  p.in[0] = p.out[0] = 2;
  p.out[1] += p.padding_after[1] = 3;
  p.out[2] += p.padding_after[2] = 2;
  for (int threads = 1; threads <= 3; threads += 2) {
    Case c = case_of(&p);
    Gradients g = gradients_of(&c, threads);
    check(&c, "input", g.input.count, g.input.f, g.input.d, 1e-4);
    check(&c, "weight", g.weight.count, g.weight.f, g.weight.d, 1e-4);
    gradients_free(&g);
    case_free(&c);
  }
}

/* Lines of many images, of more than one chunk, of more channels than are taken together. */
static void test_large(void **state) {
  (void)state;
  const ConvParams all[] = {plane_params(64, 16, 32, 8, 3, 1), plane_params(70, 90, 70, 5, 3, 1),
                            plane_params(2, 66, 20, 33, 3, 2), plane_params(3, 130, 9, 12, 1, 1),
                            plane_params(1, 3, 8, 75, 7, 2)};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
    Case c = case_of(&all[i]);
    Gradients g = gradients_of(&c, 2);
    check(&c, "input", g.input.count, g.input.f, g.input.d, 1e-4);
    check(&c, "weight", g.weight.count, g.weight.f, g.weight.d, 1e-4);
    check_weight_tables(&c, g.weight.d, 1e-4);
    gradients_free(&g);
    case_free(&c);
  }
}

/* An infinite input touches those taps that meet it, and no others. */
static void test_not_finite(void **state) {
  (void)state;
  ConvParams p = plane_params(2, 3, 4, 6, 3, 1);
  Case c = case_of(&p);
  c.input.d[0] = c.input.f[0] = INFINITY;
  c.grad.d[2 * 36 + 7] = c.grad.f[2 * 36 + 7] = NAN;
  Gradients g = gradients_of(&c, 2);
  int finite = 0;
  for (int64_t i = 0; i < g.weight.count; i++) {
    assert_true(isnan(g.weight.d[i]) == isnan(g.weight.f[i]) && isinf(g.weight.d[i]) == isinf(g.weight.f[i]));
    finite += isfinite(g.weight.f[i]) != 0;
  }
  assert_true(finite > 0 && finite < g.weight.count);
  for (int64_t i = 0; i < g.input.count; i++) assert_true(isnan(g.input.d[i]) == isnan(g.input.f[i]));
  gradients_free(&g);
  case_free(&c);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_random), cmocka_unit_test(test_large),
                                     cmocka_unit_test(test_cut), cmocka_unit_test(test_not_finite)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
