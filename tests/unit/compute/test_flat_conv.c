/* Convolution by flat_conv.c, in every instruction set this processor has, against a plain loop in double: kernels,
 * strides, dilations, paddings, groups, few and many channels and positions, epilogues, threads. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "activation_fixture.h"
#include "base/parallel.h"
#include "base/processor.h"
#include "compute/conv/conv_patches.h"
#include "compute/conv/flat_conv.h"
#include "compute/conv/flat_few.h"
#include "compute/conv/flat_planes.h"
#include "compute/conv/flat_product.h"
#include "compute/conv/flat_winograd.h"
#include "random_numbers.h"

static float number(void) {
  return (float)((int)(next() % 2001) - 1000) / 500;
}
static float *numbers(int64_t n) {
  float *x = mem_alloc((size_t)(n ? n : 1) * sizeof *x);
  for (int64_t i = 0; i < n; i++) x[i] = number();
  return x;
}

typedef struct Case {
  ConvParams p;
  float *input, *weight, *scale, *shift, *add, *gate;
  ConvEpilogue epilogue;
  int64_t results;
} Case;

static void set_case(Case *c, const ConvParams *p) {
  memset(c, 0, sizeof *c);
  c->p = *p;
  c->results = p->batch * p->out_channels;
  int64_t in = p->batch * p->in_channels, taps = 1;
  for (int d = 0; d < CONV_SPATIAL; d++) {
    int64_t span = p->dilation[d] * (p->kernel[d] - 1) + 1;
    c->p.out[d] = (p->in[d] + p->padding[d] + p->padding_after[d] - span) / p->stride[d] + 1;
    c->results *= c->p.out[d];
    in *= p->in[d];
    taps *= p->kernel[d];
  }
  c->input = numbers(in);
  c->weight = numbers(p->out_channels * p->in_channels / p->groups * taps);
  c->scale = numbers(p->out_channels);
  c->shift = numbers(p->out_channels);
  c->add = numbers(c->results);
  c->gate = numbers(p->batch * p->in_channels);
}
static void free_case(Case *c) {
  mem_free(c->input), mem_free(c->weight), mem_free(c->scale), mem_free(c->shift), mem_free(c->add);
  mem_free(c->gate);
}

/* One result by its definition. */
static double sum_at(const Case *c, int64_t n, int64_t channel, const int64_t *at) {
  const ConvParams *p = &c->p;
  int64_t inputs = p->in_channels / p->groups, group = channel / (p->out_channels / p->groups);
  const float *w = c->weight + channel * inputs * p->kernel[0] * p->kernel[1] * p->kernel[2];
  double sum = 0;
  for (int64_t i = 0; i < inputs; i++)
    for (int64_t k0 = 0; k0 < p->kernel[0]; k0++)
      for (int64_t k1 = 0; k1 < p->kernel[1]; k1++)
        for (int64_t k2 = 0; k2 < p->kernel[2]; k2++, w++) {
          int64_t x0 = at[0] * p->stride[0] - p->padding[0] + k0 * p->dilation[0],
                  x1 = at[1] * p->stride[1] - p->padding[1] + k1 * p->dilation[1],
                  x2 = at[2] * p->stride[2] - p->padding[2] + k2 * p->dilation[2];
          if (x0 < 0 || x0 >= p->in[0] || x1 < 0 || x1 >= p->in[1] || x2 < 0 || x2 >= p->in[2]) continue;
          int64_t plane = n * p->in_channels + group * inputs + i;
          float x = c->input[((plane * p->in[0] + x0) * p->in[1] + x1) * p->in[2] + x2];
          if (c->epilogue.gate) x *= c->epilogue.gate[plane];
          sum += (double)*w * (double)x;
        }
  return sum;
}

static double finished(const ConvEpilogue *e, double x, int64_t channel, int64_t index) {
  if (e->scale) x *= (double)e->scale[channel];
  if (e->shift) x += (double)e->shift[channel];
  if (e->add) x += (double)e->add[index];
  double gate = fmin(fmax(x + 3, 0), 6) / 6;
  switch (e->activation.kind) {
    case ACTIVATION_LIMITS:
      return fmin(fmax(x, (double)e->activation.low), (double)e->activation.high);
    case ACTIVATION_HARDSWISH:
      return x * gate;
    case ACTIVATION_HARDSIGMOID:
      return gate;
    case ACTIVATION_SIGMOID:
      return 1 / (1 + exp(-x));
    case ACTIVATION_SILU:
      return x / (1 + exp(-x));
    case ACTIVATION_FORMULA:
      return 0.5 * x * (1 + erf(x * M_SQRT1_2));
    default:
      return x;
  }
}

static const FlatKernels *const tables[] = {PROCESSOR_WIDE_FORMS(flat_kernels)};
static int table_count(void) {
  return PROCESSOR_WIDE_FORM_COUNT;
}

/* The weight in an engine's layout. */
static float *packed(const Case *c, WeightLayout layout) {
  Tensor *weight;
  const ConvParams *p = &c->p;
  int64_t sizes[] = {p->out_channels, p->in_channels / p->groups, p->kernel[0], p->kernel[1], p->kernel[2]};
  assert_null(tensor_empty(DTYPE_FLOAT32, 5, sizes, &weight));
  memcpy(tensor_data(weight), c->weight, (size_t)weight->numel * sizeof(float));
  Work work = {.threads = 1};
  PackedWeight *kept = packed_weight_take(&work, weight, &layout);
  float *copy = mem_alloc(layout.bytes);
  memcpy(copy, packed_weight_data(kept), layout.bytes);
  packed_weight_give_back(kept);
  tensor_release(weight);
  packed_weights_trim(NULL);
  return copy;
}

static void check_results(const Case *c, const float *out, const FlatKernels *kernels) {
  const ConvParams *p = &c->p;
  double bound = 1e-5 * (double)(p->in_channels / p->groups * p->kernel[0] * p->kernel[1] * p->kernel[2] + 4);
  int64_t at[3], index = 0;
  for (int64_t n = 0; n < p->batch; n++)
    for (int64_t channel = 0; channel < p->out_channels; channel++)
      for (at[0] = 0; at[0] < p->out[0]; at[0]++)
        for (at[1] = 0; at[1] < p->out[1]; at[1]++)
          for (at[2] = 0; at[2] < p->out[2]; at[2]++, index++) {
            double wanted = finished(&c->epilogue, sum_at(c, n, channel, at), channel, index);
            if (!(fabs(wanted - (double)out[index]) <= bound * (1 + fabs(wanted))))
              fail_msg(
                  "in vectors of %d: result %lld of channel %lld is %g, not %g (in %lldx%lldx%lldx%lld, kernel "
                  "%lldx%lldx%lld, stride %lld,%lld, groups %lld)",
                  kernels->vector, (long long)index, (long long)channel, (double)out[index], wanted,
                  (long long)p->in_channels, (long long)p->in[0], (long long)p->in[1], (long long)p->in[2],
                  (long long)p->kernel[0], (long long)p->kernel[1], (long long)p->kernel[2], (long long)p->stride[1],
                  (long long)p->stride[2], (long long)p->groups);
          }
}

/* Runs it in all tables; what lies beyond the results must stay. */
static void run_case(const Case *c) {
  enum { GUARD = 64 };
  Work work = {.threads = (int)(next() % 3) + 1};
  WeightLayout layout;
  flat_conv_layout(&c->p, &layout);
  float *weight = packed(c, layout), *out = mem_alloc((size_t)(c->results + GUARD) * sizeof *out);
  assert_true(flat_conv_takes(&c->p));
  for (int t = 0, n = table_count(); t < n; t++) {
    for (int64_t i = 0; i < c->results + GUARD; i++) out[i] = -77;
    assert_null(flat_conv_by(tables[t], &work, &c->p, c->input, weight, &c->epilogue, out));
    check_results(c, out, tables[t]);
    for (int64_t i = 0; i < GUARD; i++) assert_true(out[c->results + i] == -77);
  }
  mem_free(out);
  mem_free(weight);
}

/* The same as products of patches, whether that pays or not. */
static void run_product(const Case *c) {
  enum { GUARD = 64 };
  Work work = {.threads = (int)(next() % 3) + 1};
  float *out = mem_alloc((size_t)(c->results + GUARD) * sizeof *out);
  for (int t = 0, n = table_count(); t < n; t++) {
    WeightLayout layout;
    flat_product_layout(&c->p, tables[t], &layout);
    float *weight = packed(c, layout);
    for (int64_t i = 0; i < c->results + GUARD; i++) out[i] = -77;
    assert_null(flat_product(tables[t], &work, &c->p, c->input, weight, &c->epilogue, out));
    check_results(c, out, tables[t]);
    for (int64_t i = 0; i < GUARD; i++) assert_true(out[c->results + i] == -77);
    mem_free(weight);
  }
  mem_free(out);
}

/* Squares of two sides, each with the weight kept transformed and with one that is transformed when it is used. */
static const struct {
  int side;
  bool is_kept;
} WINOGRADS[] = {{2, true}, {2, false}, {4, true}, {4, false}};
enum { WINOGRAD_COUNT = sizeof WINOGRADS / sizeof *WINOGRADS, DIRECTLY = -1 };

/* The same with fewer products, in the tables for which that pays; counts how often with squares of each side. */
static void run_winograd(const Case *c, int *counts) {
  Work work = {.threads = (int)(next() % 3) + 1};
  float *out = mem_alloc((size_t)c->results * sizeof *out);
  for (int i = 0; i < WINOGRAD_COUNT; i++) {
    int side = WINOGRADS[i].side;
    WeightLayout layout;
    flat_winograd_layout(&c->p, side, WINOGRADS[i].is_kept, &layout);
    float *weight = packed(c, layout);
    for (int t = 0, n = table_count(); t < n; t++) {
      bool is_finite = false;
      if (flat_winograd_side(&c->p, tables[t]) == 0) continue;
      for (int64_t k = 0; k < c->results; k++) out[k] = -77;
      assert_null(flat_winograd(tables[t], &work, &c->p, side, WINOGRADS[i].is_kept, c->input, weight, &c->epilogue,
                                out, &is_finite));
      assert_true(is_finite);
      check_results(c, out, tables[t]);
      counts[side] += flat_winograd_side(&c->p, tables[t]) == side;
    }
    mem_free(weight);
  }
  mem_free(out);
}

static void run_depthwise(const Case *c) {
  Work work = {.threads = (int)(next() % 3) + 1};
  float *out = mem_alloc((size_t)(c->results + 1) * sizeof *out);
  for (int t = 0, n = table_count(); t < n; t++) {
    for (int64_t i = 0; i <= c->results; i++) out[i] = -77;
    assert_null(conv_depthwise_by(tables[t], &work, &c->p, c->input, c->weight, &c->epilogue, out));
    check_results(c, out, tables[t]);
    assert_true(out[c->results] == -77);
  }
  mem_free(out);
}

static ConvParams plain(int64_t in_channels, int64_t out_channels, int64_t height, int64_t width, int64_t kernel,
                        int64_t stride, int64_t padding) {
  return (ConvParams){.spatial = 2,
                      .batch = 1,
                      .groups = 1,
                      .in_channels = in_channels,
                      .out_channels = out_channels,
                      .in = {1, height, width},
                      .kernel = {1, kernel, kernel},
                      .stride = {1, stride, stride},
                      .dilation = {1, 1, 1},
                      .padding = {0, padding, padding},
                      .padding_after = {0, padding, padding}};
}
static void run_params(const ConvParams *p) {
  Case c;
  set_case(&c, p);
  run_case(&c);
  run_product(&c);
  free_case(&c);
}

/* Widths around those of vectors and tiles, with and without what lies between rows. */
static void test_widths(void **state) {
  (void)state;
  for (int64_t width = 1; width <= 52; width++)
    for (int64_t kernel = 1; kernel <= 3; kernel += 2) {
      ConvParams p = plain(5, 11, 3, width + kernel - 1, kernel, 1, kernel / 2);
      run_params(&p);
    }
}

/* More input channels than are summed up at once. */
static void test_many_channels(void **state) {
  (void)state;
  static const int64_t channels[] = {255, 256, 257, 600};
  for (int i = 0; i < 4; i++) {
    ConvParams one = plain(channels[i], 9, 5, 5, 1, 1, 0), three = plain(channels[i] / 8, 17, 7, 7, 3, 1, 1),
               column = plain(channels[i], 20, 1, 1 + i, 1, 1, 0);
    run_params(&one);
    run_params(&three);
    run_params(&column);
  }
}

/* A line, a plane or a volume of few results, in as many shapes as there are of so many. */
static ConvParams with_few_results(int i) {
  static const int64_t shapes[][CONV_SPATIAL] = {{1, 1, 1}, {1, 1, 2}, {1, 2, 1}, {2, 1, 1}, {1, 1, 3}, {1, 3, 1},
                                                 {1, 1, 4}, {1, 2, 2}, {2, 1, 2}, {2, 2, 1}, {4, 1, 1}};
  const int64_t *wanted = shapes[i % (int)(sizeof shapes / sizeof *shapes)];
  ConvParams p = {.spatial = 3, .batch = pick(1, 3), .groups = i % 4 ? 1 : pick(2, 3)};
  p.in_channels = p.groups * pick(1, i % 5 ? 9 : 70);
  p.out_channels = p.groups * pick(1, 40);
  bool is_line = i % 7 == 0; /* whose patches lie in order */
  if (is_line) p.in_channels = p.groups;
  for (int d = 0; d < CONV_SPATIAL; d++) {
    bool is_long = is_line && d == CONV_SPATIAL - 1;
    p.kernel[d] = is_long ? pick(5, 60) : is_line ? 1 : pick(1, 3);
    p.stride[d] = pick(1, is_long ? 70 : 3);
    p.dilation[d] = is_line ? 1 : pick(1, 3);
    p.in[d] = (wanted[d] - 1) * p.stride[d] + (p.kernel[d] - 1) * p.dilation[d] + 1 + pick(0, p.stride[d] - 1);
    if (is_line) continue;
    p.padding[d] = pick(0, i % 3 ? 2 : 5);
    if (p.padding[d] > p.in[d] - 1) p.padding[d] = p.in[d] - 1;
    p.padding_after[d] = p.in[d] - p.padding[d] > 1 ? pick(0, 1) : 0;
    p.in[d] -= p.padding[d] + p.padding_after[d];
  }
  return p;
}

static void test_few_results(void **state) {
  (void)state;
  int in_order = 0, put = 0, counts[FLAT_COLUMNS + 1] = {0};
  for (int i = 0; i < 600; i++) {
    ConvParams p = with_few_results(i);
    Case c;
    set_case(&c, &p);
    FlatPatches patches = flat_patches(&c.p);
    assert_true(flat_few_takes(&c.p));
    counts[patches.count]++;
    *(patches.bytes ? &put : &in_order) += 1;
    c.epilogue = (ConvEpilogue){.scale = i & 1 ? c.scale : NULL,
                                .shift = i & 2 ? c.shift : NULL,
                                .add = i & 4 ? c.add : NULL,
                                .activation = activation((uint64_t)(i / 8), -0.5F, i % 7 ? 2 : INFINITY)};
    run_case(&c);
    free_case(&c);
  }
  for (int n = 1; n <= FLAT_COLUMNS; n++) assert_true(counts[n] > 20);
  assert_true(in_order > 20 && put > 100);
  ConvParams more = plain(3, 3, 1, FLAT_COLUMNS + 1, 1, 1, 0);
  more.out[0] = more.out[1] = 1;
  more.out[2] = FLAT_COLUMNS + 1;
  assert_false(flat_few_takes(&more));
}

/* Patches that follow each other are read where they lie. */
static void test_patches_in_order(void **state) {
  (void)state;
  static const struct {
    int64_t in_channels, in[2], kernel[2], stride, dilation, padding;
    int64_t stride_between; /* 0: they are put in order */
  } cases[] = {
      {1, {1, 640}, {1, 256}, 128, 1, 0, 128}, {1, {1, 640}, {1, 256}, 128, 1, 1, 0},
      {1, {1, 640}, {1, 200}, 128, 2, 0, 0},   {2, {1, 640}, {1, 256}, 128, 1, 0, 0},
      {1, {9, 4}, {3, 4}, 2, 1, 0, 8},         {1, {9, 4}, {3, 3}, 2, 1, 0, 0},
      {5, {1, 4}, {1, 1}, 1, 1, 0, 0},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    ConvParams p =
        plain(cases[i].in_channels, 20, cases[i].in[0], cases[i].in[1], 1, cases[i].stride, cases[i].padding);
    for (int d = 0; d < 2; d++) {
      p.kernel[1 + d] = cases[i].kernel[d];
      p.dilation[1 + d] = cases[i].kernel[d] > 1 ? cases[i].dilation : 1;
      if (cases[i].in[d] == 1) p.padding[1 + d] = p.padding_after[1 + d] = 0;
    }
    Case c;
    set_case(&c, &p);
    FlatPatches patches = flat_patches(&c.p);
    assert_int_equal(patches.bytes == 0, cases[i].stride_between > 0);
    if (patches.bytes == 0) assert_int_equal(patches.stride, cases[i].stride_between);
    run_case(&c);
    free_case(&c);
  }
}

/* The bits of results are the same on any number of threads. */
static void test_few_threads(void **state) {
  (void)state;
  for (int64_t width = 1; width <= FLAT_COLUMNS; width++) {
    ConvParams p = plain(300, 333, 1, width, 3, 1, 1);
    Case c;
    set_case(&c, &p);
    WeightLayout layout;
    flat_conv_layout(&c.p, &layout);
    float *weight = packed(&c, layout), *out[3];
    for (int t = 0, n = table_count(); t < n; t++) {
      for (int i = 0; i < 3; i++) {
        Work work = {.threads = 1 + i};
        out[i] = mem_alloc((size_t)c.results * sizeof(float));
        assert_null(flat_conv_by(tables[t], &work, &c.p, c.input, weight, &c.epilogue, out[i]));
        assert_memory_equal(out[i], out[0], (size_t)c.results * sizeof(float));
      }
      for (int i = 0; i < 3; i++) mem_free(out[i]);
    }
    mem_free(weight);
    free_case(&c);
  }
}

static void test_epilogues(void **state) {
  (void)state;
  for (int i = 0; i < 96; i++) {
    ConvParams p = plain(i % 3 ? 7 : 300, 10, 6, i & 1 ? 9 : 50, i & 2 ? 3 : 1, 1, i & 2 ? 1 : 0);
    if (i % 5 == 4) p.in[1] = 1, p.in[2] = 3;
    Case c;
    set_case(&c, &p);
    c.epilogue = (ConvEpilogue){.scale = i & 4 ? c.scale : NULL,
                                .shift = i & 8 ? c.shift : NULL,
                                .add = i & 16 ? c.add : NULL,
                                .activation = activation((uint64_t)(i), -0.5F, i % 7 ? 2 : INFINITY)};
    run_case(&c);
    run_product(&c);
    free_case(&c);
  }
}

/* Inputs times a number for each plane: few and many channels, several blocks of tiles, several images. */
static void test_gated_inputs(void **state) {
  (void)state;
  static const int64_t channels[] = {3, 40, 257, 700};
  for (int i = 0; i < 24; i++) {
    int64_t height = pick(1, i % 5 ? 12 : 60), width = pick(height < 5 ? 5 : 1, i % 5 ? 14 : 60);
    ConvParams p = plain(channels[i % 4], pick(1, i % 5 ? 50 : 9), height, width, 1, 1, 0);
    p.batch = i % 5 ? 1 + i % 3 : 1;
    Case c;
    set_case(&c, &p);
    c.epilogue = (ConvEpilogue){.scale = i & 1 ? c.scale : NULL, .add = i & 2 ? c.add : NULL, .gate = c.gate};
    assert_true(conv_takes_gate(&c.p));
    run_case(&c);
    run_product(&c);
    free_case(&c);
  }
  ConvParams dot = plain(40, 8, 2, 2, 1, 1, 0), three = plain(40, 8, 9, 9, 3, 1, 1),
             groups = plain(40, 8, 9, 9, 1, 1, 0), step = plain(40, 8, 9, 9, 1, 2, 0);
  groups.groups = 2;
  const ConvParams *const others[] = {&dot, &three, &groups, &step};
  for (int i = 0; i < 4; i++) {
    Case c;
    set_case(&c, others[i]);
    assert_false(conv_takes_gate(&c.p));
    free_case(&c);
  }
}

/* What the patches' way is taken for, and what it isn't; and panels of one and of two vectors, blocks of many tiles. */
static void test_products(void **state) {
  (void)state;
  const FlatKernels *kernels = flat_kernels();
  ConvParams small = plain(40, 70, 7, 7, 3, 1, 1), large = plain(16, 40, 60, 60, 1, 1, 0),
             dot = plain(40, 70, 1, 1, 1, 1, 0);
  small.out[0] = large.out[0] = dot.out[0] = dot.out[1] = dot.out[2] = 1;
  small.out[1] = small.out[2] = 7;
  large.out[1] = large.out[2] = 60;
  assert_true(flat_product_pays(&small, kernels));
  assert_false(flat_product_pays(&large, kernels));
  assert_false(flat_product_pays(&dot, kernels));
  for (int64_t outputs = 1; outputs < 70; outputs += 11) {
    ConvParams p = plain(pick(1, 30), outputs, pick(5, 16), pick(5, 16), 1 + outputs % 2 * 2, 1 + outputs % 3 / 2, 1);
    run_params(&p);
  }
  ConvParams deep = plain(500, 33, 14, 15, 1, 1, 0);
  run_params(&deep);
  run_params(&large);
}

/* NaN stays NaN through clamps. */
static void test_nan(void **state) {
  (void)state;
  Work work = {.threads = parallel_default_threads()};
  Case c;
  ConvParams p = plain(1, 1, 1, 20, 1, 1, 0);
  float weight[FLAT_ROWS] = {1}, out[20];
  set_case(&c, &p);
  c.epilogue = (ConvEpilogue){.activation = {ACTIVATION_LIMITS, 0, 6, NULL}};
  c.input[3] = c.input[19] = NAN;
  for (int t = 0, n = table_count(); t < n; t++) {
    assert_null(flat_conv_by(tables[t], &work, &c.p, c.input, weight, &c.epilogue, out));
    for (int i = 0; i < 20; i++) assert_true(!isnan(out[i]) == (i != 3 && i != 19));
  }
  free_case(&c);
}

static void test_random(void **state) {
  (void)state;
  const char *wanted = getenv("WICK_RANDOM_CONVOLUTIONS");
  long count = wanted ? atol(wanted) : 200;
  for (long i = 0; i < count; i++) {
    ConvParams p = {.spatial = (int)pick(1, 3), .batch = pick(1, 2), .groups = i % 3 ? 1 : pick(2, 3)};
    p.in_channels = p.groups * pick(1, 6);
    p.out_channels = p.groups * pick(1, 20);
    for (int d = 0; d < CONV_SPATIAL; d++) {
      bool used = d >= CONV_SPATIAL - p.spatial;
      p.kernel[d] = used ? pick(1, 4) : 1;
      p.stride[d] = used ? pick(1, 3) : 1;
      p.dilation[d] = used ? pick(1, 3) : 1;
      p.padding[d] = used ? pick(0, 3) : 0;
      p.padding_after[d] = used && i % 5 == 0 ? p.padding[d] + 1 : p.padding[d];
      int64_t least = p.dilation[d] * (p.kernel[d] - 1) + 1 - p.padding[d] - p.padding_after[d];
      p.in[d] = used ? pick(1, d == 2 ? 40 : 9) : 1;
      if (p.in[d] < least) p.in[d] = least;
    }
    Case c;
    set_case(&c, &p);
    if (i & 1) c.epilogue.shift = c.shift;
    if (i & 2) c.epilogue.add = c.add;
    run_case(&c);
    run_product(&c);
    free_case(&c);
  }
}

static void test_winograd(void **state) {
  (void)state;
  int counts[5] = {0};
  for (int64_t width = 5; width <= 60; width += 1 + width / 20)
    for (int i = 0; i < 4; i++) {
      ConvParams p = plain(pick(16, 40), pick(16, 50), pick(5, 30), width, 3, 1, i % 3);
      p.padding_after[2] += i & 1;
      p.batch = 1 + i / 3;
      Case c;
      set_case(&c, &p);
      c.epilogue = (ConvEpilogue){.scale = i & 1 ? c.scale : NULL,
                                  .shift = i & 2 ? c.shift : NULL,
                                  .add = width % 2 ? c.add : NULL,
                                  .activation = activation((uint64_t)(width), -1, 6)};
      run_winograd(&c, counts);
      free_case(&c);
    }
  assert_true(counts[2] > 20 && counts[4] > 50);
  /* So many channels that blocks are narrower. */
  ConvParams p = plain(700, 20, 9, 13, 3, 1, 1);
  Case c;
  set_case(&c, &p);
  run_winograd(&c, counts);
  free_case(&c);
  p.stride[1] = 2;
  assert_int_equal(flat_winograd_side(&p, flat_kernels()), 0);
}

/* The root of the mean square of what the results of one of WINOGRADS, or DIRECTLY those of flat_conv, are off, for one
 * table. */
static double mean_error(const Case *c, const FlatKernels *kernels, int winograd, int threads, const double *wanted,
                         float *out) {
  Work work = {.threads = threads};
  WeightLayout layout;
  bool is_finite = true;
  int side = winograd == DIRECTLY ? 0 : WINOGRADS[winograd].side;
  bool is_kept = side && WINOGRADS[winograd].is_kept;
  if (side)
    flat_winograd_layout(&c->p, side, is_kept, &layout);
  else
    flat_conv_layout(&c->p, &layout);
  float *weight = packed(c, layout);
  if (side)
    assert_null(flat_winograd(kernels, &work, &c->p, side, is_kept, c->input, weight, &c->epilogue, out, &is_finite));
  else
    assert_null(flat_conv_by(kernels, &work, &c->p, c->input, weight, &c->epilogue, out));
  assert_true(is_finite);
  mem_free(weight);
  double squares = 0;
  for (int64_t i = 0; i < c->results; i++) squares += (wanted[i] - (double)out[i]) * (wanted[i] - (double)out[i]);
  return sqrt(squares / (double)c->results);
}

/* The bounds that docs/kernels.md states, and the same bits for any number of threads. */
static void test_winograd_errors(void **state) {
  (void)state;
  static const int64_t sizes[][3] = {{128, 24, 29}, {300, 14, 14}, {64, 56, 55}};
  for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
    ConvParams p = plain(sizes[s][0], 16, sizes[s][1], sizes[s][2], 3, 1, 1);
    Case c;
    set_case(&c, &p);
    for (int64_t i = 0; i < p.in_channels * p.in[1] * p.in[2]; i++) /* as after relu */
      c.input[i] = fmaxf(c.input[i] + number() * 0.01F, 0);
    for (int64_t i = 0; i < 16 * p.in_channels * 9; i++) c.weight[i] *= 0.9F + number() * 0.01F;
    double *wanted = mem_alloc((size_t)c.results * sizeof *wanted);
    float *out = mem_alloc((size_t)c.results * sizeof *out), *again = mem_alloc((size_t)c.results * sizeof *again);
    int64_t at[3] = {0}, index = 0;
    for (int64_t channel = 0; channel < p.out_channels; channel++)
      for (at[1] = 0; at[1] < c.p.out[1]; at[1]++)
        for (at[2] = 0; at[2] < c.p.out[2]; at[2]++) wanted[index++] = sum_at(&c, 0, channel, at);
    for (int t = 0, n = table_count(); t < n; t++) {
      double direct = mean_error(&c, tables[t], DIRECTLY, 1, wanted, out);
      for (int i = 0; i < WINOGRAD_COUNT; i++) {
        int side = WINOGRADS[i].side;
        double error = mean_error(&c, tables[t], i, 1, wanted, out);
        if (!(error > 0 && error < (side == 2 ? 3 : 8) * direct))
          fail_msg("side %d in vectors of %d: errors of %g, directly %g", side, tables[t]->vector, error, direct);
        for (int threads = 2; threads <= 5; threads++) {
          mean_error(&c, tables[t], i, threads, wanted, again);
          assert_memory_equal(out, again, (size_t)c.results * sizeof *out);
        }
      }
    }
    mem_free(wanted), mem_free(out), mem_free(again);
    free_case(&c);
  }
}

static void test_depthwise(void **state) {
  (void)state;
  for (int i = 0; i < 300; i++) {
    int64_t channels = i % 3 ? pick(2, 5) : pick(6, 40); /* enough to lie side by side */
    ConvParams p = plain(channels, 0, pick(1, 25), pick(1, 40), pick(1, 7), pick(1, 3), pick(0, 3));
    p.groups = p.out_channels = p.in_channels;
    p.batch = pick(1, 2);
    if (i % 2) p.kernel[1] = p.kernel[2] = 3 + i % 3 * 2, p.stride[1] = p.stride[2] = 1;
    if (i % 4 == 2) p.kernel[1] = p.kernel[2] = 3 + i % 8 / 4 * 2, p.stride[1] = p.stride[2] = 2;
    if (i % 7 == 0) p.dilation[1] = 2, p.dilation[2] = 3;
    if (i % 60 == 33) p.in[1] = 150, p.in[2] = 130; /* more rows than are done at once */
    if (i % 5 == 0) p.spatial = 3, p.in[0] = 4, p.kernel[0] = 2, p.stride[0] = 2;
    for (int d = 0; d < CONV_SPATIAL; d++) {
      int64_t least = p.dilation[d] * (p.kernel[d] - 1) + 1 - p.padding[d] - p.padding_after[d];
      if (p.in[d] < least) p.in[d] = least;
    }
    Case c;
    set_case(&c, &p);
    c.epilogue = (ConvEpilogue){.scale = i & 1 ? c.scale : NULL,
                                .shift = i & 2 ? c.shift : NULL,
                                .add = i & 4 ? c.add : NULL,
                                .activation = activation((uint64_t)(i), -1, 6)};
    run_depthwise(&c);
    free_case(&c);
  }
}

/* Images of `planes` planes of n positions, to the other order. */
static void to_channels_last(int64_t images, int64_t planes, int64_t n, const float *from, float *to) {
  for (int64_t image = 0; image < images; image++, from += planes * n, to += planes * n)
    for (int64_t plane = 0; plane < planes; plane++)
      for (int64_t i = 0; i < n; i++) to[i * planes + plane] = from[plane * n + i];
}

/* The bits of planes that were put side by side, where they lie so. */
static void test_depthwise_channels_last(void **state) {
  (void)state;
  Work work = {.threads = parallel_default_threads()};
  for (int i = 0; i < 200; i++) {
    int64_t channels = pick(8, 40);
    ConvParams p = plain(channels, channels, pick(1, 25), pick(1, 40), pick(1, 7), pick(1, 3), pick(0, 3));
    p.groups = channels;
    p.batch = pick(1, 2);
    if (i % 7 == 0) p.dilation[1] = 2, p.dilation[2] = 3;
    if (i % 40 == 33) p.in[1] = 150, p.in[2] = 130; /* more rows than are done at once */
    for (int d = 0; d < CONV_SPATIAL; d++) {
      int64_t least = p.dilation[d] * (p.kernel[d] - 1) + 1 - p.padding[d] - p.padding_after[d];
      if (p.in[d] < least) p.in[d] = least;
    }
    Case c;
    set_case(&c, &p);
    c.epilogue = (ConvEpilogue){.scale = i & 1 ? c.scale : NULL, .shift = i & 2 ? c.shift : NULL};
    int64_t in = c.p.in[1] * c.p.in[2], size = c.p.out[1] * c.p.out[2];
    size_t bytes = (size_t)(c.results + 1) * sizeof(float);
    float *input = mem_alloc((size_t)(p.batch * channels * in) * sizeof *input), *planes = mem_alloc(bytes),
          *wanted = mem_alloc(bytes), *out = mem_alloc(bytes);
    to_channels_last(p.batch, channels, in, c.input, input);
    work.threads = 1 + i % 3;
    for (int t = 0, n = table_count(); t < n; t++) {
      if (!flat_side_last_pays(&c.p, tables[t])) fail();
      assert_null(flat_side_by_side(tables[t], &work, &c.p, c.input, c.weight, &c.epilogue, planes));
      to_channels_last(p.batch, channels, size, planes, wanted);
      out[c.results] = -77;
      assert_null(flat_side_last(tables[t], &work, &c.p, input, c.weight, &c.epilogue, out));
      assert_memory_equal(out, wanted, (size_t)c.results * sizeof *out);
      assert_true(out[c.results] == -77);
    }
    mem_free(input), mem_free(planes), mem_free(wanted), mem_free(out);
    free_case(&c);
  }
}

/* Windows side by side in channels-last images, against the loops for row-major ones. */
static void test_patches(void **state) {
  (void)state;
  Work work = {.threads = parallel_default_threads()};
  for (int i = 0; i < 100; i++) {
    int64_t kernel = pick(1, 4), channels = pick(1, 20), outputs = pick(5, 140), taps = kernel * kernel;
    ConvParams p =
        plain(channels, outputs, kernel * pick(2, 9) + pick(0, kernel - 1), kernel * pick(3, 20), kernel, kernel, 0);
    p.batch = pick(1, 3);
    Case c;
    set_case(&c, &p);
    c.epilogue = (ConvEpilogue){.shift = i & 1 ? c.shift : NULL};
    Tensor *weight;
    assert_null(tensor_empty(DTYPE_FLOAT32, 4, (const int64_t[]){outputs, channels, kernel, kernel}, &weight));
    memcpy(tensor_data(weight), c.weight, (size_t)weight->numel * sizeof(float));
    int64_t in = c.p.in[1] * c.p.in[2], size = c.p.out[1] * c.p.out[2];
    size_t bytes = (size_t)(c.results + 1) * sizeof(float);
    float *input = mem_alloc((size_t)(p.batch * channels * in) * sizeof *input), *planes = mem_alloc(bytes),
          *wanted = mem_alloc(bytes), *out = mem_alloc(bytes);
    to_channels_last(p.batch, channels, in, c.input, input);
    assert_null(conv_forward_portable(&work, &c.p, DTYPE_FLOAT32, c.input, c.weight, c.epilogue.shift, planes));
    to_channels_last(p.batch, outputs, size, planes, wanted);
    work.threads = 1 + i % 3;
    out[c.results] = -77;
    assert_true(conv_patches_takes(&work, &c.p));
    assert_null(conv_patches(&work, &c.p, input, weight, c.epilogue.shift, out));
    assert_true(out[c.results] == -77);
    for (int64_t k = 0; k < c.results; k++)
      assert_true(fabsf(out[k] - wanted[k]) <= 1e-5F * (float)(taps * channels + 1) * fmaxf(1, fabsf(wanted[k])));
    tensor_release(weight);
    mem_free(input), mem_free(planes), mem_free(wanted), mem_free(out);
    free_case(&c);
  }
  ConvParams apart = plain(8, 8, 16, 16, 2, 3, 0), padded = plain(8, 8, 16, 16, 2, 2, 1);
  assert_false(conv_patches_takes(&work, &apart));
  assert_false(conv_patches_takes(&work, &padded));
}

/* The greatest of a window by its definition, the first of those that are equal, NaN if one is. */
static float greatest_at(const ConvParams *p, const float *plane, int64_t y, int64_t x) {
  float greatest = -INFINITY;
  for (int64_t k1 = 0; k1 < p->kernel[1]; k1++)
    for (int64_t k2 = 0; k2 < p->kernel[2]; k2++) {
      int64_t x1 = y * p->stride[1] - p->padding[1] + k1 * p->dilation[1],
              x2 = x * p->stride[2] - p->padding[2] + k2 * p->dilation[2];
      if (x1 < 0 || x1 >= p->in[1] || x2 < 0 || x2 >= p->in[2]) continue;
      float value = plane[x1 * p->in[2] + x2];
      if (value > greatest || isnan(value)) greatest = value;
    }
  return greatest;
}

static void test_maximum(void **state) {
  (void)state;
  Work work = {.threads = parallel_default_threads()};
  for (int i = 0; i < 200; i++) {
    int64_t planes = pick(8, 40);
    ConvParams p = plain(planes, planes, pick(4, 40), pick(4, 40), pick(1, 4), pick(1, 3), 0);
    p.groups = planes;
    p.padding[1] = p.padding[2] = p.padding_after[1] = p.padding_after[2] = pick(0, p.kernel[1] / 2);
    if (i % 40 == 7) p.in[1] = p.in[2] = 140; /* more rows than are done at once */
    Case c;
    set_case(&c, &p);
    float *out = mem_alloc((size_t)(c.results + 1) * sizeof *out);
    c.input[pick(0, planes * p.in[1] * p.in[2] - 1)] = NAN;
    work.threads = 1 + i % 3;
    for (int t = 0, n = table_count(); t < n; t++) {
      if (!flat_side_pays(&c.p, tables[t])) fail();
      out[c.results] = -77;
      assert_null(flat_side_maximum(tables[t], &work, &c.p, c.input, out));
      const float *at = out;
      for (int64_t plane = 0; plane < planes; plane++)
        for (int64_t y = 0; y < c.p.out[1]; y++)
          for (int64_t x = 0; x < c.p.out[2]; x++, at++) {
            float wanted = greatest_at(&c.p, c.input + plane * p.in[1] * p.in[2], y, x);
            assert_true(isnan(wanted) ? isnan(*at) : wanted == *at && signbit(wanted) == signbit(*at));
          }
      assert_true(out[c.results] == -77);
    }
    mem_free(out);
    free_case(&c);
  }
}

/* Sigmoid and silu of an epilogue over a sample of all numbers. */
static void test_gates(void **state) {
  (void)state;
  enum { N = 1021, STEP = 8191 };
  for (int t = 0, n = table_count(); t < n; t++)
    for (int is_silu = 0; is_silu < 2; is_silu++)
      for (uint64_t bits = 0; bits < 1ull << 32; bits += (uint64_t)N * STEP) {
        float x[N], y[N + 1];
        for (int i = 0; i < N; i++) {
          uint32_t pattern = (uint32_t)(bits + (uint64_t)i * STEP);
          memcpy(&x[i], &pattern, sizeof pattern);
          y[i] = x[i];
        }
        y[N] = -77;
        FlatTile tile = {.out = y,
                         .out_stride = N,
                         .rows = 1,
                         .activation = {.kind = is_silu ? ACTIVATION_SILU : ACTIVATION_SIGMOID}};
        tables[t]->finish_rows(&tile, 0, N, N, NULL, y);
        assert_true(y[N] == -77);
        for (int i = 0; i < N; i++) {
          double exact = (is_silu ? (double)x[i] : 1) / (1 + exp(-(double)x[i]));
          double ulp = ldexp(1, ilogb(fmax(fabs(exact), 0x1p-126)) - 23);
          bool is_right = isnan(exact)   ? isnan(y[i])
                          : isinf(exact) ? (double)y[i] == exact
                                         : fabs((double)y[i] - exact) <= fmax(3.2 * ulp, 0x1p-120);
          if (!is_right)
            fail_msg("in vectors of %d: %a gives %a, not %a", tables[t]->vector, (double)x[i], (double)y[i], exact);
        }
      }
}

/* What is not finite stays where a plain loop has it. */
static void test_infinity(void **state) {
  (void)state;
  static const float values[] = {INFINITY, -INFINITY, NAN, 3e38F};
  Work work = {.threads = parallel_default_threads()};
  for (int v = 0; v < 4; v++) {
    Case c;
    Tensor *input, *weight, *out;
    ConvParams p = plain(16, 16, 20, 20, 3, 1, 1);
    set_case(&c, &p);
    assert_int_equal(flat_winograd_side(&c.p, flat_kernels()), 4);
    assert_null(tensor_empty(DTYPE_FLOAT32, 4, (const int64_t[]){1, 16, 20, 20}, &input));
    assert_null(tensor_empty(DTYPE_FLOAT32, 4, (const int64_t[]){16, 16, 3, 3}, &weight));
    assert_null(tensor_empty(DTYPE_FLOAT32, 4, (const int64_t[]){1, 16, 20, 20}, &out));
    c.input[210] = values[v];
    memcpy(tensor_data(input), c.input, (size_t)input->numel * sizeof(float));
    memcpy(tensor_data(weight), c.weight, (size_t)weight->numel * sizeof(float));
    assert_null(conv_forward(&work, &c.p, input, weight, &c.epilogue, out));
    const float *results = tensor_data(out);
    for (int64_t i = 0; i < out->numel; i++) {
      int64_t place = i % 400, y = place / 20, x = place % 20;
      bool near = y >= 9 && y <= 11 && x >= 9 && x <= 11;
      if (!near) assert_true(isfinite(results[i]) && fabsf(results[i]) < 1e5F);
      if (near && v == 2) assert_true(isnan(results[i]));
    }
    tensor_release(input), tensor_release(weight), tensor_release(out);
    free_case(&c);
  }
  packed_weights_trim(NULL);
}

/* A dilation that spreads two taps over a plane as large as memory is left to others. */
static void test_empty_planes(void **state) {
  (void)state;
  ConvParams p = plain(1, 1, 1, 1, 2, 1, 1 << 30);
  p.dilation[1] = p.dilation[2] = (INT64_C(1) << 31) - 1;
  p.out[0] = 1;
  p.out[1] = p.out[2] = p.in[1] + 2 * p.padding[1] - p.dilation[1];
  assert_false(flat_conv_takes(&p));
  ConvParams without_taps = plain(2, 3, 4, 4, 1, 1, 0), without_inputs = without_taps;
  without_taps.kernel[1] = 0;
  without_inputs.in_channels = 0;
  assert_false(flat_conv_takes(&without_taps));
  assert_false(flat_conv_takes(&without_inputs));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_widths),       cmocka_unit_test(test_many_channels),
      cmocka_unit_test(test_few_results),  cmocka_unit_test(test_patches_in_order),
      cmocka_unit_test(test_few_threads),  cmocka_unit_test(test_epilogues),
      cmocka_unit_test(test_products),     cmocka_unit_test(test_nan),
      cmocka_unit_test(test_random),       cmocka_unit_test(test_empty_planes),
      cmocka_unit_test(test_winograd),     cmocka_unit_test(test_winograd_errors),
      cmocka_unit_test(test_gates),        cmocka_unit_test(test_infinity),
      cmocka_unit_test(test_depthwise),    cmocka_unit_test(test_depthwise_channels_last),
      cmocka_unit_test(test_patches),      cmocka_unit_test(test_maximum),
      cmocka_unit_test(test_gated_inputs),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
