/* float32 functions against libm's double over a sample of all bit patterns, in every instruction set; and that an
 * element's result doesn't depend on where it stands. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/processor.h"
#include "tile/line_sum.h"
#include "tile/softmax_line.h"
#include "tile/loops.h"

enum { BLOCK = 1024 };

static double sigmoid(double x) {
  return 1 / (1 + exp(-x));
}
static const struct {
  KernelOp op;
  double (*exact)(double);
  const char *name;
  double ulps;
} functions[] = {
    {KERNEL_EXP, exp, "exp", 2},       {KERNEL_EXP2, exp2, "exp2", 2},    {KERNEL_EXPM1, expm1, "expm1", 2},
    {KERNEL_LOG, log, "log", 2},       {KERNEL_LOG1P, log1p, "log1p", 2}, {KERNEL_LOG2, log2, "log2", 2},
    {KERNEL_LOG10, log10, "log10", 2}, {KERNEL_TANH, tanh, "tanh", 2},    {KERNEL_SIGMOID, sigmoid, "sigmoid", 2.5},
    {KERNEL_ERF, erf, "erf", 1.9},     {KERNEL_SIN, sin, "sin", 2},       {KERNEL_COS, cos, "cos", 2},
    {KERNEL_TAN, tan, "tan", 1.6},     {KERNEL_ATAN, atan, "atan", 0.6},  {KERNEL_SQRT, sqrt, "sqrt", 0.51}};

/* Distance in units of the last place of the exact value. */
static double ulps(float value, double exact) {
  float rounded = (float)exact;
  if (isnan(exact)) return isnan(value) ? 0 : INFINITY;
  if (isinf(rounded) || isinf(value)) return rounded == value || fabs(exact) > 0x1.ffffp127 ? 0 : INFINITY;
  int exponent;
  (void)frexp(fabs(exact) < 0x1p-126 ? 0x1p-126 : exact, &exponent);
  return fabs((double)value - exact) / ldexp(1, exponent - 24);
}

/* The tables that this processor can run, PROCESSOR_FORM_COUNT of them for all types. The last may lack operations. */
static const TileLoops *const all_types[] = {PROCESSOR_FORMS(tile_loops)};
static const TileLoopTable *tables[3];
static size_t table_count;
static int find_tables(void **state) {
  (void)state;
  for (; table_count < PROCESSOR_FORM_COUNT; table_count++) tables[table_count] = &all_types[table_count]->loops;
  if (PROCESSOR_HAS_AVX512) tables[table_count++] = &tile_loops_avx512;
  return 0;
}

static uint64_t sample_step(void) {
  const char *step = getenv("WICK_TEST_FLOAT_STEP"); /* 1: all 2^32 */
  return step ? strtoull(step, NULL, 10) : 4099;
}

static void functions_are_accurate(void **state) {
  (void)state;
  float inputs[BLOCK], outputs[BLOCK];
  for (size_t table = 0; table < table_count; table++)
    for (size_t f = 0; f < sizeof functions / sizeof *functions; f++) {
      double worst = 0;
      float worst_input = 0;
      TileLoop *loop = (*tables[table])[functions[f].op][TILE_F32];
      if (!loop) continue;
      for (uint64_t bits = 0; bits < 1ull << 32; bits += sample_step() * BLOCK) {
        for (int i = 0; i < BLOCK; i++) {
          uint32_t pattern = (uint32_t)(bits + (uint64_t)i * sample_step());
          memcpy(&inputs[i], &pattern, sizeof pattern);
        }
        loop(BLOCK, outputs, inputs, NULL, NULL);
        for (int i = 0; i < BLOCK; i++) {
          double error = ulps(outputs[i], functions[f].exact((double)inputs[i]));
          if (error > worst) worst = error, worst_input = inputs[i];
        }
      }
      print_message("%s: %.3f ulp at %a\n", functions[f].name, worst, (double)worst_input);
      if (!(worst <= functions[f].ulps))
        fail_msg("%s is off by %g ulp at %a", functions[f].name, worst, (double)worst_input);
    }
}

/* The bits of what it is put together of: so it may stand for that in one program and not in another. */
static void gelu_is_its_formula(void **state) {
  (void)state;
  static float x[BLOCK], got[BLOCK], half[BLOCK], normal[BLOCK], numbers[3][BLOCK];
  const float constants[] = {0.5f, 1, 0.7071067811865476f};
  for (int i = 0; i < 3 * BLOCK; i++) numbers[i / BLOCK][i % BLOCK] = constants[i / BLOCK];
  for (size_t table = 0; table < table_count; table++) {
    const TileLoopTable *loops = tables[table];
    for (uint64_t bits = 0; bits < 1ull << 32; bits += sample_step() * BLOCK) {
      for (int i = 0; i < BLOCK; i++) {
        uint32_t pattern = (uint32_t)(bits + (uint64_t)i * sample_step());
        memcpy(&x[i], &pattern, sizeof pattern);
      }
      (*loops)[KERNEL_GELU][TILE_F32](BLOCK, got, x, NULL, NULL);
      (*loops)[KERNEL_MUL][TILE_F32](BLOCK, normal, x, numbers[2], NULL);
      (*loops)[KERNEL_ERF][TILE_F32](BLOCK, normal, normal, NULL, NULL);
      (*loops)[KERNEL_ADD][TILE_F32](BLOCK, normal, numbers[1], normal, NULL);
      (*loops)[KERNEL_MUL][TILE_F32](BLOCK, half, numbers[0], x, NULL);
      (*loops)[KERNEL_MUL][TILE_F32](BLOCK, half, half, normal, NULL);
      for (int i = 0; i < BLOCK; i++)
        if (isnan(half[i]) ? !isnan(got[i]) : memcmp(&half[i], &got[i], sizeof *got) != 0)
          fail_msg("gelu(%a) = %a, not %a", (double)x[i], (double)got[i], (double)half[i]);
    }
  }
}

static double modulo(double x, double y) {
  double r = fmod(x, y);
  return r != 0 && (r < 0) != (y < 0) ? (double)(float)(r + y) : r;
}
static const struct {
  KernelOp op;
  double (*exact)(double, double);
  const char *name;
  double ulps;
  bool is_positive; /* the random first operands */
} binary_functions[] = {{KERNEL_POW, pow, "pow", 1, true},
                        {KERNEL_ATAN2, atan2, "atan2", 0.6, false},
                        {KERNEL_FMOD, fmod, "fmod", 0, false},
                        {KERNEL_MOD, modulo, "mod", 0, false}};

static void functions_of_two_are_accurate(void **state) {
  (void)state;
  static const float edges[] = {0,           -0.0f, 1,      -1,      2,        -2,          0.5f,
                                -0.5f,       3,     1e-40f, 1e30f,   INFINITY, -INFINITY,   NAN,
                                16777217.0f, -3,    1e-45f, -1e-45f, 3.4e38f,  536870912.0f};
  enum { EDGES = sizeof edges / sizeof *edges, N = EDGES * EDGES };
  for (size_t table = 0; table < table_count; table++)
    for (size_t f = 0; f < sizeof binary_functions / sizeof *binary_functions; f++) {
      TileLoop *loop = (*tables[table])[binary_functions[f].op][TILE_F32];
      double (*exact)(double, double) = binary_functions[f].exact;
      if (!loop) continue;
      float x[N], y[N], to[N];
      for (int i = 0; i < N; i++) x[i] = edges[i / EDGES], y[i] = edges[i % EDGES];
      loop(N, to, x, y, NULL);
      for (int i = 0; i < N; i++) {
        double expected = exact((double)x[i], (double)y[i]);
        if (ulps(to[i], expected) > binary_functions[f].ulps ||
            (expected == 0 && !signbit(expected) != !signbit(to[i])))
          fail_msg("%s(%g, %g) = %g", binary_functions[f].name, (double)x[i], (double)y[i], (double)to[i]);
      }
      uint32_t random = 1;
      double worst = 0;
      for (int round = 0; round < 2000; round++) {
        for (int i = 0; i < N; i++) {
          random = random * 1664525u + 1013904223u;
          x[i] = expf(((float)(random >> 8) / 0x1p24f - 0.5f) * 40);
          if (!binary_functions[f].is_positive && random & 128) x[i] = -x[i];
          random = random * 1664525u + 1013904223u;
          y[i] = ((float)(random >> 8) / 0x1p24f - 0.5f) * 12;
          if (random & 64 && !binary_functions[f].is_positive) x[i] = y[i] * (float)(random & 63); /* near a multiple */
        }
        loop(N, to, x, y, NULL);
        for (int i = 0; i < N; i++) worst = fmax(worst, ulps(to[i], exact((double)x[i], (double)y[i])));
        memcpy(y, x, sizeof x);
        loop(N, x, x, y, NULL); /* in place */
        for (int i = 0; i < N; i++) worst = fmax(worst, ulps(x[i], exact((double)y[i], (double)y[i])));
      }
      print_message("%s: %.3f ulp\n", binary_functions[f].name, worst);
      assert_true(worst <= binary_functions[f].ulps);
    }
}

static void exponentials_of_doubles_are_accurate(void **state) {
  (void)state;
  static const double edges[] = {0,   -0.0,   709.7,  709.79, 1e9,    INFINITY, -INFINITY,
                                 NAN, -708.5, -745.1, -746,   -1e300, 1e-300};
  enum { EDGES = sizeof edges / sizeof *edges };
  for (int table = 0; table < PROCESSOR_FORM_COUNT; table++) {
    TileLoop *loop = all_types[table]->loops[KERNEL_EXP][TILE_F64];
    double x[BLOCK], to[BLOCK], worst = 0;
    for (int round = 0; round < 500; round++) {
      for (int i = 0; i < BLOCK; i++) {
        uint32_t random = (uint32_t)(round * BLOCK + i) * 2654435761u;
        x[i] = ldexp((double)(int32_t)(random ^ random << 13), (int)(random % 40) - 60);
      }
      if (!round) memcpy(x, edges, sizeof edges);
      loop(BLOCK - (round & 7), to, x, NULL, NULL);
      for (int i = 0; i < BLOCK - (round & 7); i++) {
        long double exact = expl((long double)x[i]);
        int exponent;
        if (isnan(x[i]) || isinf((double)exact)) {
          assert_true(isnan(x[i]) ? isnan(to[i]) : to[i] == (double)exact);
          continue;
        }
        (void)frexpl(exact < 0x1p-1022L ? 0x1p-1022L : exact, &exponent);
        worst = fmax(worst, (double)(fabsl((long double)to[i] - exact) / ldexpl(1, exponent - 53)));
      }
    }
    print_message("exp of double: %.3f ulp\n", worst);
    assert_true(worst <= 1.1);
  }
}

static void magnitudes_are_accurate(void **state) {
  (void)state;
  static const double edges[] = {0, -0.0, 1, -3, 4, 1e200, -1e-200, 1e-320, INFINITY, -INFINITY, NAN, 0.1};
  enum { EDGES = sizeof edges / sizeof *edges, N = EDGES * EDGES };
  for (int table = 0; table < PROCESSOR_FORM_COUNT; table++)
    for (int plain = 0; plain < 2; plain++) { /* without what takes the longer way, or with */
      double x[2 * N], size[N];
      for (int i = 0; i < N; i++) {
        x[2 * i] = plain ? i * 0.37 - 5 : edges[i / EDGES];
        x[2 * i + 1] = plain ? 3 - i * 0.11 : edges[i % EDGES];
      }
      all_types[table]->loops[KERNEL_ABS][TILE_C128](N - plain, size, x, NULL, NULL);
      for (int i = 0; i < N - plain; i++) {
        double exact = hypot(x[2 * i], x[2 * i + 1]);
        if (!(size[i] == exact || fabs(size[i] - exact) <= 0x1p-52 * exact || (isnan(size[i]) && isnan(exact))))
          fail_msg("abs(%g, %g) = %g", x[2 * i], x[2 * i + 1], size[i]);
      }
    }
}

/* The bits of what they are put together of. */
static void activations_are_their_formulas(void **state) {
  (void)state;
  for (size_t table = 0; table < table_count; table++) {
    float x[BLOCK], slope[BLOCK], to[BLOCK];
    for (int i = 0; i < BLOCK; i++) {
      x[i] = i == 0 ? NAN : i == 1 ? INFINITY : i == 2 ? -INFINITY : i == 3 ? -0.0f : (float)(i - 500) * 0.0173f;
      slope[i] = (float)(i % 5) * 0.3f - 0.2f;
    }
    (*tables[table])[KERNEL_HARDSWISH][TILE_F32](BLOCK - 3, to, x, NULL, NULL);
    for (int i = 0; i < BLOCK - 3; i++) {
      float expected = x[i] * fminf(fmaxf(x[i] + 3, 0), 6) / 6;
      assert_true(to[i] == expected || (isnan(to[i]) && isnan(expected)));
    }
    (*tables[table])[KERNEL_LEAKY_RELU][TILE_F32](BLOCK - 3, to, x, slope, NULL);
    for (int i = 0; i < BLOCK - 3; i++) {
      float expected = x[i] > 0 ? x[i] : slope[i] * x[i];
      assert_true(to[i] == expected || (isnan(to[i]) && isnan(expected)));
    }
  }
}

static void position_does_not_matter(void **state) {
  (void)state;
  float inputs[67], whole[67], one;
  for (int i = 0; i < 67; i++) inputs[i] = (float)(i - 33) * 0.37f;
  for (size_t table = 0; table < table_count; table++)
    for (size_t f = 0; f < sizeof functions / sizeof *functions; f++) {
      TileLoop *loop = (*tables[table])[functions[f].op][TILE_F32];
      if (!loop) continue;
      loop(67, whole, inputs, NULL, NULL);
      for (int i = 0; i < 67; i++) {
        loop(1, &one, &inputs[i], NULL, NULL);
        if (!(isnan(one) && isnan(whole[i]))) assert_memory_equal(&one, &whole[i], sizeof one);
      }
    }
}

static void halves_convert_both_ways(void **state) {
  (void)state;
  for (int table = 0; table < PROCESSOR_FORM_COUNT; table++)
    for (uint32_t bits = 0; bits < 0x10000; bits++) {
      uint16_t half = (uint16_t)bits, back;
      float wide;
      all_types[table]->loads[DTYPE_FLOAT16][TILE_F32](1, &wide, &half, NULL, NULL);
      if (isnan(wide)) continue;
      assert_true(wide == half_to_float(half));
      all_types[table]->stores[DTYPE_FLOAT16][TILE_F32](1, &back, &wide, NULL, NULL);
      assert_int_equal(back, half);
    }
}

static void softmax_lines_are_accurate(void **state) {
  (void)state;
  SoftmaxLine *const forms[] = {PROCESSOR_WIDE_FORMS(softmax_line)};
  static const int64_t lengths[] = {1, 5, 16, 33, 256, 700};
  float x[700], to[700];
  for (int form = 0; form < PROCESSOR_WIDE_FORM_COUNT; form++)
    for (size_t l = 0; l < sizeof lengths / sizeof *lengths; l++)
      for (int is_log = 0; is_log < 2; is_log++) {
        int64_t n = lengths[l];
        double sum = 0;
        for (int64_t i = 0; i < n; i++) sum += exp((double)(x[i] = (float)(i * 37 % 101) * 0.25f - 3));
        forms[form](n, x, to, is_log);
        for (int64_t i = 0; i < n; i++) {
          double exact = is_log ? (double)x[i] - log(sum) : exp((double)x[i]) / sum;
          if (!(fabs(to[i] - exact) <= 1e-6 * fabs(exact) + 1e-7))
            fail_msg("form %d, %lld of %lld: %g, not %g", form, (long long)i, (long long)n, (double)to[i], exact);
        }
        forms[form](n, x, x, is_log);
        assert_memory_equal(x, to, (size_t)n * sizeof *x);
        x[n / 2] = NAN;
        forms[form](n, x, to, is_log);
        for (int64_t i = 0; i < n; i++) assert_true(isnan(to[i]));
        for (int64_t i = 0; i < n; i++) x[i] = -INFINITY;
        x[n / 2] = 1;
        forms[form](n, x, to, false);
        for (int64_t i = 0; i < n; i++) assert_true(to[i] == (i == n / 2));
      }
}

static void sums_have_the_same_bits_in_every_form(void **state) {
  (void)state;
  float x[300];
  double wide[300];
  for (int i = 0; i < 300; i++) wide[i] = x[i] = (float)(i * 37 % 101) * 0.37f - 13;
  for (int64_t n = 0; n <= 300; n += n < 80 ? 1 : 7) {
    double exact = 0, squares = 0;
    for (int64_t i = 0; i < n; i++) exact += wide[i], squares += wide[i] * wide[i];
    double sums[] = {line_sum_f32_portable(n, x), line_sum_f32(n, x), line_sum_f64(n, wide)};
    double of_squares = line_squares_f64(n, wide);
    assert_true(fabs(sums[0] - exact) <= 1e-10);
    assert_true(fabs(of_squares - squares) <= 1e-8);
    for (int k = 1; k < 3; k++) assert_memory_equal(&sums[0], &sums[k], sizeof *sums);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(functions_are_accurate),        cmocka_unit_test(gelu_is_its_formula),
      cmocka_unit_test(functions_of_two_are_accurate), cmocka_unit_test(exponentials_of_doubles_are_accurate),
      cmocka_unit_test(magnitudes_are_accurate),       cmocka_unit_test(activations_are_their_formulas),
      cmocka_unit_test(position_does_not_matter),      cmocka_unit_test(halves_convert_both_ways),
      cmocka_unit_test(softmax_lines_are_accurate),    cmocka_unit_test(sums_have_the_same_bits_in_every_form)};
  return cmocka_run_group_tests(tests, find_tables, NULL);
}
