/* Fourier transforms against sums of roots of unity, of every length to 200 and some beyond: kinds, precisions,
 * strides, few lines and many. */
#include <complex.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "compute/fft/fft.h"

static uint64_t seed = 1;
static double number(void) {
  seed = seed * 6364136223846793005u + 1442695040888963407u;
  return (double)(seed >> 33) / (1u << 30) - 1;
}

typedef struct Case {
  FftKind kind;
  bool is_double, is_inverse;
  int64_t points, lines, gap; /* gap: elements between the points of a line beyond the lines themselves */
} Case;

static double get(const void *data, bool is_double, int64_t at) {
  return is_double ? ((const double *)data)[at] : (double)((const float *)data)[at];
}

/* The sum; `roots` has exp(-2 pi i k / n). */
static double complex point(const double complex *x, const long double complex *roots, int64_t n, int64_t k,
                            bool is_inverse) {
  long double complex sum = 0;
  for (int64_t j = 0; j < n; j++) {
    long double complex root = roots[j * k % n];
    sum += x[j] * (is_inverse ? conjl(root) : root);
  }
  return (double complex)sum;
}

/* Relative error of all lines, in the root of squares. */
static double error_of(Case c) {
  int64_t half = c.points / 2 + 1, ins = c.kind == FFT_C2R ? half : c.points,
          outs = c.kind == FFT_R2C ? half : c.points;
  int64_t step = c.lines + c.gap; /* points lie apart, lines beside each other */
  int in_parts = c.kind == FFT_R2C ? 1 : 2, out_parts = c.kind == FFT_C2R ? 1 : 2;
  size_t size = c.is_double ? sizeof(double) : sizeof(float);
  void *in = calloc((size_t)(ins * step * in_parts), size), *out = calloc((size_t)(outs * step * out_parts), size);
  for (int64_t i = 0; i < ins * step * in_parts; i++) {
    double x = number();
    if (c.is_double)
      ((double *)in)[i] = x;
    else
      ((float *)in)[i] = (float)x;
  }
  FftAxis axis = {.kind = c.kind,
                  .is_double = c.is_double,
                  .is_inverse = c.is_inverse,
                  .points = c.points,
                  .in = in,
                  .out = out,
                  .in_stride = step,
                  .out_stride = step,
                  .rank = 1,
                  .sizes = &c.lines,
                  .in_strides = (int64_t[]){1},
                  .out_strides = (int64_t[]){1}};
  Work work = {.threads = 2};
  assert_int_equal(fft_axis(&work, &axis) == OK, 1);
  double wrong = 0, all = 0;
  double complex *x = calloc((size_t)c.points, sizeof *x);
  long double complex *roots = calloc((size_t)c.points, sizeof *roots);
  for (int64_t k = 0; k < c.points; k++) {
    long double angle = 2 * 3.141592653589793238462643383279502884L * (long double)k / (long double)c.points;
    roots[k] = cosl(angle) - sinl(angle) * I;
  }
  for (int64_t l = 0; l < c.lines; l++) {
    for (int64_t j = 0; j < ins; j++) {
      int64_t at = in_parts * (j * step + l);
      x[j] = get(in, c.is_double, at) + (in_parts == 2 ? get(in, c.is_double, at + 1) : 0) * I;
    }
    if (c.kind == FFT_C2R) {
      x[0] = creal(x[0]);
      if (c.points % 2 == 0) x[c.points / 2] = creal(x[c.points / 2]);
      for (int64_t j = half; j < c.points; j++) x[j] = conj(x[c.points - j]);
    }
    for (int64_t k = 0; k < outs; k++) {
      double complex wanted = point(x, roots, c.points, k, c.is_inverse);
      int64_t at = out_parts * (k * step + l);
      double re = get(out, c.is_double, at) - creal(wanted),
             im = out_parts == 2 ? get(out, c.is_double, at + 1) - cimag(wanted) : 0;
      wrong += re * re + im * im, all += creal(wanted) * creal(wanted) + cimag(wanted) * cimag(wanted);
    }
  }
  free(x), free(roots), free(in), free(out);
  return sqrt(wrong / (all > 0 ? all : 1));
}

static const struct {
  FftKind kind;
  bool is_inverse;
} kinds[] = {{FFT_C2C, false}, {FFT_C2C, true}, {FFT_R2C, false}, {FFT_C2R, true}};

static void check_length(int64_t points, int64_t lines) {
  for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++)
    for (int wide = 0; wide < 2; wide++) {
      Case c = {kinds[k].kind, wide, kinds[k].is_inverse, points, lines, points % 3};
      double found = error_of(c);
      if (!(found < (wide ? 1e-14 : 2e-6)))
        fail_msg("kind %d, %s, %lld points, %lld lines: %g", (int)c.kind, wide ? "double" : "float", (long long)points,
                 (long long)lines, found);
    }
}

static void every_length(void **state) {
  (void)state;
  for (int64_t points = 1; points <= 200; points++) {
    check_length(points, 1);
    check_length(points, 2 + points % 10);
  }
}

static void long_ones(void **state) {
  (void)state;
  static const int64_t lengths[] = {256,  400,  512,  625,  1000, 1001, 1009, 1024,
                                    1025, 1260, 2048, 2187, 2310, 2401, 4096};
  for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
    check_length(lengths[i], 1);
    if (lengths[i] < 700) check_length(lengths[i], 17);
  }
}

/* In place, and nothing beside the lines is written. */
static void in_place(void **state) {
  (void)state;
  enum { POINTS = 24, LINES = 5 };
  float x[POINTS][LINES + 1][2], y[POINTS][LINES + 1][2];
  for (int j = 0; j < POINTS; j++)
    for (int l = 0; l <= LINES; l++) x[j][l][0] = (float)number(), x[j][l][1] = (float)number();
  memcpy(y, x, sizeof x);
  FftAxis axis = {.points = POINTS,
                  .in = y,
                  .out = y,
                  .in_stride = LINES + 1,
                  .out_stride = LINES + 1,
                  .rank = 1,
                  .sizes = (int64_t[]){LINES},
                  .in_strides = (int64_t[]){1},
                  .out_strides = (int64_t[]){1}};
  Work work = {.threads = 1};
  assert_true(fft_axis(&work, &axis) == OK);
  axis.is_inverse = true;
  assert_true(fft_axis(&work, &axis) == OK);
  for (int j = 0; j < POINTS; j++)
    for (int part = 0; part < 2; part++) {
      assert_true(x[j][LINES][part] == y[j][LINES][part]);
      for (int l = 0; l < LINES; l++) assert_true(fabsf(y[j][l][part] - POINTS * x[j][l][part]) < 1e-4f);
    }
}

/* Plans that are kept give what new ones give, more lengths than places go round, and all can be given back. */
static void test_kept_plans(void **state) {
  (void)state;
  enum { MOST = 4099 }; /* prime: by convolution */
  static const int64_t lengths[] = {1,   2,   3,   4,   5,   6,    7,    8,    9,    10, 64,
                                    100, 127, 243, 256, 512, 1000, 1024, 4096, MOST, 97};
  enum { COUNT = sizeof lengths / sizeof *lengths };
  static double complex in[MOST], out[3][MOST];
  Work work = {.threads = 1};
  for (int64_t j = 0; j < MOST; j++) in[j] = number() + number() * I;
  fft_trim();
  assert_int_equal(fft_trim(), 0);
  for (int n = 0; n < COUNT; n++) {
    for (int turn = 0; turn < 3; turn++) {
      FftAxis axis = {FFT_C2C, true, false, lengths[n], in, out[turn], 1, 1, 0, NULL, NULL, NULL};
      if (turn == 2) assert_true(fft_trim() > (size_t)lengths[n]);
      assert_true(fft_axis(&work, &axis) == OK);
    }
    assert_memory_equal(out[0], out[1], (size_t)lengths[n] * sizeof *in);
    assert_memory_equal(out[0], out[2], (size_t)lengths[n] * sizeof *in);
  }
  for (int n = 0; n < 3 * COUNT; n++) {
    FftAxis axis = {FFT_C2C, true, false, lengths[n % COUNT], in, out[0], 1, 1, 0, NULL, NULL, NULL};
    assert_true(fft_axis(&work, &axis) == OK);
  }
  assert_memory_equal(out[0], out[1], 97 * sizeof *in);
  size_t kept = fft_trim();
  assert_true(kept > 0 && kept < 9u << 20);
  assert_int_equal(fft_trim(), 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_kept_plans), cmocka_unit_test(every_length),
                                     cmocka_unit_test(long_ones), cmocka_unit_test(in_place)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
