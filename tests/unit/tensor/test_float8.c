/* float8 beside what PyTorch 2.14 makes of the same numbers. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "tensor/float8.h"

typedef struct Case {
  float number;
  uint8_t e4m3fn, e5m2, e4m3fnuz, e5m2fnuz, e8m0fnu;
} Case;
static const Case cases[] = {
    {0.f, 0, 0, 0, 0, 0},
    {-0.f, 128, 128, 0, 0, 0},
    {1.f, 56, 60, 64, 64, 127},
    {-1.f, 184, 188, 192, 192, 127},
    {1.5f, 60, 62, 68, 66, 128}, /* halfway between exponents: up */
    {3.3f, 69, 67, 77, 71, 129},
    {240.f, 119, 92, 127, 96, 135},
    {248.f, 120, 92, 128, 96, 135},
    {464.f, 126, 95, 128, 99, 136},
    {-448.f, 254, 223, 128, 227, 136},
    {57344.f, 126, 123, 128, 127, 143},
    {61440.f, 126, 124, 128, 128, 143},
    {3.4e38f, 126, 124, 128, 128, 255},
    {INFINITY, 126, 124, 128, 128, 255},
    {-INFINITY, 254, 252, 128, 128, 255},
    {NAN, 127, 127, 128, 128, 255},
    {0x1p-9f, 1, 24, 2, 28, 118},
    {0x1p-10f, 0, 20, 1, 24, 117},
    {0x1.02p-10f, 1, 20, 1, 24, 117},
    {0x1p-17f, 0, 0, 0, 1, 110},
    {0x1p-127f, 0, 0, 0, 0, 0},
    {0x1p-126f, 0, 0, 0, 0, 1},
};
static const Float8 *const formats[] = {&float8_e4m3fn, &float8_e5m2, &float8_e4m3fnuz, &float8_e5m2fnuz,
                                        &float8_e8m0fnu};

static void rounds_and_saturates(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    const Case *c = &cases[i];
    assert_int_equal(float8_from_float(&float8_e4m3fn, c->number), c->e4m3fn);
    assert_int_equal(float8_from_float(&float8_e5m2, c->number), c->e5m2);
    assert_int_equal(float8_from_float(&float8_e4m3fnuz, c->number), c->e4m3fnuz);
    assert_int_equal(float8_from_float(&float8_e5m2fnuz, c->number), c->e5m2fnuz);
    assert_int_equal(float8_from_float(&float8_e8m0fnu, c->number), c->e8m0fnu);
  }
}

/* Every number but NaN comes back as the same bits; e4m3fn has no infinities. */
static void comes_back(void **state) {
  (void)state;
  for (size_t f = 0; f < sizeof formats / sizeof *formats; f++) {
    int nans = 0, infinities = 0;
    for (int bits = 0; bits < 256; bits++) {
      float number = float8_to_float(formats[f], (uint8_t)bits);
      nans += isnan(number) != 0;
      infinities += isinf(number) != 0;
      if (!isnan(number)) assert_int_equal(float8_from_float(formats[f], number), bits);
    }
    bool has_infinities = formats[f] == &float8_e5m2;
    assert_int_equal(infinities, has_infinities ? 2 : 0);
    assert_int_equal(nans, has_infinities ? 6 : formats[f] == &float8_e4m3fn ? 2 : 1);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(rounds_and_saturates), cmocka_unit_test(comes_back)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
