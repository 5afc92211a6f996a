/* Filters come back from their transforms and what these lack, every bit, whatever is among them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "compute/conv/flat_winograd.h"
#include "compute/conv/winograd_rest.h"

enum { OUTPUTS = 61, INPUTS = 23, TAPS = 9, COUNT = OUTPUTS * INPUTS * TAPS };

typedef enum Among { USUAL, RARE, ANY } Among;

static uint32_t next_bits(uint32_t *seed) {
  *seed = *seed * 1664525u + 1013904223u;
  return *seed >> 8 ^ *seed << 13;
}
/* Sums of three, between -1 and 1; of RARE ones some of any bits: zeros of both signs, denormals, infinities, NaNs. */
static void fill(float *filters, Among among) {
  static const uint32_t odd[] = {0,           0x80000000u, 1,           0x80000001u, 0x7f800000u,
                                 0xff800000u, 0x7fc00001u, 0xffa00000u, 0x7f7fffffu, 0x00800000u};
  uint32_t seed = 5;
  for (int i = 0; i < COUNT; i++) {
    float sum = 0;
    for (int k = 0; k < 3; k++) sum += (float)(int32_t)next_bits(&seed) / 6.5e9f;
    uint32_t bits = i % 2 ? next_bits(&seed) : odd[(size_t)i / 2 % (sizeof odd / sizeof *odd)];
    if (among == ANY || (among == RARE && i % 1021 < 2))
      memcpy(&filters[i], &bits, sizeof bits);
    else
      filters[i] = sum;
  }
}

static WeightLayout layout_of(int side) {
  ConvParams p = {.in_channels = INPUTS, .out_channels = OUTPUTS};
  WeightLayout layout;
  flat_winograd_layout(&p, side, true, &layout);
  return layout;
}

static float *transform(const WeightLayout *layout, float *filters) {
  Storage storage = {.device = DEVICE_CPU_0, .bytes = COUNT * sizeof *filters, .data = filters};
  Tensor weight = {.storage = &storage, .numel = COUNT, .dtype = DTYPE_FLOAT32};
  float *transformed = malloc(layout->bytes);
  flat_winograd_pack(1, layout, &weight, transformed);
  return transformed;
}

static void come_back(void **state) {
  (void)state;
  float *filters = malloc(COUNT * sizeof *filters), *again = malloc(COUNT * sizeof *again);
  for (int side = 2; side <= 4; side += 2)
    for (Among among = USUAL; among <= RARE; among++) {
      WeightLayout layout = layout_of(side);
      fill(filters, among);
      float *transformed = transform(&layout, filters);
      for (int threads = 1; threads <= 3; threads += 2) {
        WinogradRest *rest = winograd_rest_new(threads, &layout, transformed, filters);
        assert_non_null(rest);
        assert_true(winograd_rest_bytes(rest) < COUNT * sizeof(float) * 3 / 8);
        memset(again, 0x5a, COUNT * sizeof *again);
        winograd_rest_put_back(rest, &layout, transformed, again);
        assert_memory_equal(again, filters, COUNT * sizeof *again);
        mem_free(rest);
      }
      free(transformed);
    }
  free(filters);
  free(again);
}

static void what_is_too_large_is_none(void **state) {
  (void)state;
  float *filters = malloc(COUNT * sizeof *filters);
  WeightLayout layout = layout_of(4);
  fill(filters, ANY);
  float *transformed = transform(&layout, filters);
  assert_null(winograd_rest_new(1, &layout, transformed, filters));
  assert_int_equal(winograd_rest_bytes(NULL), 0);
  free(transformed);
  free(filters);
}

static void no_memory_is_none(void **state) {
  (void)state;
  float *filters = malloc(COUNT * sizeof *filters);
  WeightLayout layout = layout_of(2);
  fill(filters, USUAL);
  float *transformed = transform(&layout, filters);
  for (int n = 1; n <= 2; n++) {
    mem_fail_after(n);
    assert_null(winograd_rest_new(1, &layout, transformed, filters));
    mem_fail_after(0);
  }
  free(transformed);
  free(filters);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(come_back), cmocka_unit_test(what_is_too_large_is_none),
                                     cmocka_unit_test(no_memory_is_none)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
