/* Expansions and their depthwise convolutions by flat_expand.c against one convolution after the other (flat_conv.c,
 * flat_depthwise.c, which have tests of their own), in every instruction set this processor has: sizes, strides,
 * strips, epilogues, images, threads. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "activation_fixture.h"
#include "base/processor.h"
#include "compute/conv/flat_conv.h"
#include "compute/conv/flat_expand.h"
#include "compute/conv/flat_planes.h"
#include "random_numbers.h"

enum { GUARD = 64 };
static const FlatKernels *const tables[] = {PROCESSOR_WIDE_FORMS(flat_kernels)};

static float *numbers(int64_t n) {
  float *x = mem_alloc((size_t)n * sizeof *x);
  for (int64_t i = 0; i < n; i++) x[i] = (float)((int)(next() % 2001) - 1000) / 500;
  return x;
}

static ConvParams convolution(int64_t batch, int64_t groups, int64_t in, int64_t out, int64_t height, int64_t width,
                              int64_t side, int64_t stride) {
  return (ConvParams){.spatial = 2,
                      .batch = batch,
                      .groups = groups,
                      .in_channels = in,
                      .out_channels = out,
                      .in = {1, height, width},
                      .kernel = {1, side, side},
                      .stride = {1, stride, stride},
                      .dilation = {1, 1, 1},
                      .padding = {0, side / 2, side / 2},
                      .padding_after = {0, side / 2, side / 2},
                      .out = {1, (height - 1) / stride + 1, (width - 1) / stride + 1}};
}

typedef struct Case {
  ConvParams expand, depthwise;
  ConvEpilogue ends[2];
  float *input, *weights[2], *vectors[4], *add;
  int64_t between, results;
} Case;

static int64_t count_of(const ConvParams *p) {
  return p->batch * p->out_channels * p->out[1] * p->out[2];
}
static void set_case(Case *c, int64_t batch, int64_t in, int64_t channels, int64_t height, int64_t width, int64_t side,
                     int64_t stride) {
  memset(c, 0, sizeof *c);
  c->expand = convolution(batch, 1, in, channels, height, width, 1, 1);
  c->depthwise = convolution(batch, channels, channels, channels, height, width, side, stride);
  c->between = count_of(&c->expand);
  c->results = count_of(&c->depthwise);
  c->input = numbers(batch * in * height * width);
  c->weights[0] = numbers(channels * in);
  c->weights[1] = numbers(channels * side * side);
  c->add = numbers(c->results);
  for (int i = 0; i < 4; i++) c->vectors[i] = numbers(channels);
  for (int i = 0; i < 2; i++)
    c->ends[i] = (ConvEpilogue){.scale = next() % 4 ? c->vectors[i] : NULL,
                                .shift = next() % 4 ? c->vectors[2 + i] : NULL,
                                .add = i && next() % 4 == 0 ? c->add : NULL,
                                .activation = activation((uint64_t)(next()), -0.5F, next() % 2 ? 2 : INFINITY)};
}
static void free_case(Case *c) {
  for (int i = 0; i < 4; i++) mem_free(c->vectors[i]);
  mem_free(c->input), mem_free(c->weights[0]), mem_free(c->weights[1]), mem_free(c->add);
}

/* [channel / FLAT_ROWS][input channel][FLAT_ROWS]. */
static float *packed(const Case *c) {
  int64_t in = c->expand.in_channels, panels = (c->expand.out_channels + FLAT_ROWS - 1) / FLAT_ROWS;
  float *to = mem_calloc((size_t)(panels * in * FLAT_ROWS), sizeof *to);
  for (int64_t o = 0; o < c->expand.out_channels; o++)
    for (int64_t i = 0; i < in; i++)
      to[(o / FLAT_ROWS * in + i) * FLAT_ROWS + o % FLAT_ROWS] = c->weights[0][o * in + i];
  return to;
}

/* How many tables have it. */
static int run_case(const Case *c) {
  Work work = {.threads = (int)(next() % 3) + 1};
  int taken = 0;
  float *weight = packed(c), *between = mem_alloc((size_t)c->between * sizeof *between),
        *wanted = mem_alloc((size_t)c->results * sizeof *wanted),
        *out = mem_alloc((size_t)(c->results + GUARD) * sizeof *out);
  Expansion both = {&c->expand, &c->depthwise, &c->ends[0], &c->ends[1]};
  for (int t = 0; t < PROCESSOR_WIDE_FORM_COUNT; t++) {
    if (!flat_expand_takes(tables[t], &both)) continue;
    taken++;
    assert_null(flat_conv_by(tables[t], &work, &c->expand, c->input, weight, &c->ends[0], between));
    assert_null(conv_depthwise_by(tables[t], &work, &c->depthwise, between, c->weights[1], &c->ends[1], wanted));
    for (int64_t i = 0; i < c->results + GUARD; i++) out[i] = -77;
    assert_null(flat_expand(tables[t], &work, &both, c->input, weight, c->weights[1], out));
    for (int64_t i = 0; i < c->results; i++) {
      float bound = 1e-4F * (float)c->expand.in_channels;
      if (!(fabsf(out[i] - wanted[i]) <= bound * (1 + fabsf(wanted[i]))))
        fail_msg("result %lld is %g, not %g (%lld to %lld channels, %lldx%lld, side %lld, stride %lld, %d threads)",
                 (long long)i, (double)out[i], (double)wanted[i], (long long)c->expand.in_channels,
                 (long long)c->expand.out_channels, (long long)c->expand.in[1], (long long)c->expand.in[2],
                 (long long)c->depthwise.kernel[1], (long long)c->depthwise.stride[1], work.threads);
    }
    for (int64_t i = 0; i < GUARD; i++) assert_true(out[c->results + i] == -77);
  }
  mem_free(weight), mem_free(between), mem_free(wanted), mem_free(out);
  return taken;
}

static bool some_table_can(void) {
  for (int t = 0; t < PROCESSOR_WIDE_FORM_COUNT; t++)
    if (tables[t]->direct) return true;
  return false;
}

static void test_sizes(void **state) {
  (void)state;
  int taken = 0;
  for (int i = 0; i < 120; i++) {
    Case c;
    int64_t stride = 1 + i % 2, side = stride == 2 ? 3 + 2 * pick(0, 1) : 3 + 2 * pick(0, 2);
    set_case(&c, pick(1, 2), pick(1, 40), pick(2, 40), pick(9, 60), pick(30, 60), side, stride);
    taken += run_case(&c);
    free_case(&c);
  }
  assert_int_equal(taken > 100, some_table_can());
}

/* Images that are more than a cache holds: several strips, the last of them short. */
static void test_strips(void **state) {
  (void)state;
  for (int i = 0; i < 6; i++) {
    Case c;
    set_case(&c, 1, pick(8, 24), pick(9, 17), pick(150, 200), pick(60, 160), i % 2 ? 5 : 3, 1 + i / 2 % 2);
    run_case(&c);
    free_case(&c);
  }
}

/* What it is not for. */
static void test_refuses(void **state) {
  (void)state;
  Case c;
  set_case(&c, 1, 8, 16, 20, 20, 3, 1);
  Expansion both = {&c.expand, &c.depthwise, &c.ends[0], &c.ends[1]};
  assert_int_equal(flat_expand_takes(flat_kernels(), &both), flat_kernels()->direct != NULL);
  c.ends[0].gate = c.vectors[0];
  assert_false(flat_expand_takes(flat_kernels(), &both));
  c.ends[0].gate = NULL;
  c.ends[0].add = c.add;
  assert_false(flat_expand_takes(flat_kernels(), &both));
  c.ends[0].add = NULL;
  c.depthwise.groups = 8;
  assert_false(flat_expand_takes(flat_kernels(), &both));
  c.depthwise.groups = 16;
  c.expand.in_channels = 300;
  assert_false(flat_expand_takes(flat_kernels(), &both));
  c.expand.in_channels = 8;
  c.expand.in[1] = c.expand.in[2] = c.expand.out[1] = c.expand.out[2] = 16;
  assert_false(flat_expand_takes(flat_kernels(), &both));
  free_case(&c);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_sizes), cmocka_unit_test(test_strips),
                                     cmocka_unit_test(test_refuses)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
