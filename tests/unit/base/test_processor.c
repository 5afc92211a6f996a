/* What has a form for each instruction set (base/processor.h): every form that this processor can run against the
 * portable one. Equal bits, but where one fuses a multiplication with an addition and the other rounds twice. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "base/processor.h"
#include "compute/norm/norm_affine.h"
#include "tile/line_normal.h"
#include "tile/loops.h"

enum { N = 203 };

/* Numbers of all sizes, with what is special among them. */
static double number(int i, int seed) {
  static const double special[] = {0, -0.0, 1, -1, INFINITY, -INFINITY, NAN, 0.5, 2.5, -2.5, 1e-40, 3e38, 16777217};
  uint32_t mixed = (uint32_t)(i * 31 + seed) * 2654435761u;
  if (mixed % 7 == 0) return special[mixed / 7 % (sizeof special / sizeof *special)];
  return ldexp((double)(int32_t)(mixed ^ mixed << 13), (int)(mixed % 11) - 32);
}
static void fill(TileType type, void *to, int seed) {
  for (int i = 0; i < N; i++) switch (type) {
      case TILE_BOOL:
        ((uint8_t *)to)[i] = number(i, seed) > 0;
        break;
      case TILE_I64:
        ((int64_t *)to)[i] = (int64_t)(int32_t)(i * 2654435761u + (uint32_t)seed) >> (i % 29);
        break;
      case TILE_F32:
        ((float *)to)[i] = (float)number(i, seed);
        break;
      default:
        ((double *)to)[i] = number(i, seed);
        break;
    }
}

static bool near(double x, double y, double relative) {
  return x == y || (isnan(x) && isnan(y)) || fabs(x - y) <= relative * fmax(fabs(x), fabs(y)) + 0x1p-146;
}

/* Equal numbers, or, in `relative`, as near as two functions of two ulp each are. */
static void compare(TileType type, const void *x, const void *y, double relative, const char *what, int op) {
  for (int i = 0; i < N; i++) {
    double a = 0, b = 0;
    switch (type) {
      case TILE_BOOL:
        a = ((const uint8_t *)x)[i], b = ((const uint8_t *)y)[i];
        break;
      case TILE_I64:
        a = (double)((const int64_t *)x)[i], b = (double)((const int64_t *)y)[i];
        break;
      case TILE_F32:
        a = (double)((const float *)x)[i], b = (double)((const float *)y)[i];
        break;
      default:
        a = ((const double *)x)[i], b = ((const double *)y)[i];
        break;
    }
    if (!near(a, b, relative)) fail_msg("%s %d of type %d, element %d: %.17g, not %.17g", what, op, type, i, b, a);
  }
}

static const TileLoops *const forms[] = {PROCESSOR_FORMS(tile_loops)};
static union {
  uint8_t bytes[N * 16];
  double aligned[N * 2];
} operands[3], expected, result;

enum { SAME, BOOL, REAL };
static const uint8_t results[] = {
#define X(name, operands, result, types) result,
    KERNEL_OPS(X)
#undef X
};
/* float32 functions of at most 2 ulp (tile/vector_math_body.h). */
static bool is_approximate(int op) {
  static const uint8_t functions[] = {KERNEL_EXP,   KERNEL_EXP2, KERNEL_EXPM1,   KERNEL_LOG,  KERNEL_LOG1P, KERNEL_LOG2,
                                      KERNEL_LOG10, KERNEL_TANH, KERNEL_SIGMOID, KERNEL_ERF,  KERNEL_SIN,   KERNEL_COS,
                                      KERNEL_POW,   KERNEL_TAN,  KERNEL_ATAN,    KERNEL_ATAN2};
  return memchr(functions, op, sizeof functions);
}

/* The third operand is the mask of a selection. */
static void operations_are_the_same(void **state) {
  (void)state;
  int compared = 0;
  for (int form = 1; form < PROCESSOR_FORM_COUNT; form++)
    for (int op = 0; op < KERNEL_OP_COUNT; op++)
      for (TileType type = TILE_BOOL; type <= TILE_F64; type++) {
        TileLoop *portable = forms[0]->loops[op][type], *loop = forms[form]->loops[op][type];
        assert_true(!portable == !loop);
        if (!portable || op == KERNEL_GELU) continue; /* its sum cancels; test_vector_math knows its steps */
        TileType to = results[op] == BOOL ? TILE_BOOL : type;
        double relative = !is_approximate(op) ? 0 : type == TILE_F32 ? 0x1p-21 : 0x1p-51;
        fill(type, &operands[0], 1), fill(type, &operands[1], 2), fill(TILE_BOOL, &operands[2], 3);
        portable(N, &expected, &operands[0], &operands[1], &operands[2]);
        loop(N, &result, &operands[0], &operands[1], &operands[2]);
        compare(to, &expected, &result, relative, "operation", op);
        compared++;
      }
  if (PROCESSOR_FORM_COUNT > 1) assert_true(compared > 100);
}

static void conversions_are_the_same(void **state) {
  (void)state;
  for (int form = 1; form < PROCESSOR_FORM_COUNT; form++)
    for (TileType from = TILE_BOOL; from <= TILE_F64; from++)
      for (TileType to = TILE_BOOL; to <= TILE_F64; to++) {
        TileLoop *portable = forms[0]->casts[from][to];
        if (!portable) continue;
        fill(from, &operands[0], 5);
        portable(N, &expected, &operands[0], NULL, NULL);
        forms[form]->casts[from][to](N, &result, &operands[0], NULL, NULL);
        compare(to, &expected, &result, 0, "conversion from", from);
      }
}

/* All patterns of 16 bits, and what lies between two of them: ties go to the even one. */
static void halves_are_the_same(void **state) {
  (void)state;
  static const DType dtypes[] = {DTYPE_FLOAT16, DTYPE_BFLOAT16};
  for (int form = 1; form < PROCESSOR_FORM_COUNT; form++)
    for (size_t d = 0; d < 2; d++)
      for (uint32_t bits = 0; bits < 0x10000; bits++) {
        uint16_t half[3] = {(uint16_t)bits, (uint16_t)(bits + 1), (uint16_t)bits}, back[2][5];
        float wide[2][3], between[5];
        for (int f = 0; f < 2; f++) forms[f ? form : 0]->loads[dtypes[d]][TILE_F32](3, wide[f], half, NULL, NULL);
        for (int i = 0; i < 3; i++)
          if (!(isnan(wide[0][i]) && isnan(wide[1][i]))) assert_memory_equal(&wide[0][i], &wide[1][i], 4);
        if (isnan(wide[0][0]) || isnan(wide[0][1])) continue;
        float middle = wide[0][0] / 2 + wide[0][1] / 2;
        memcpy(between, (float[]){wide[0][0], middle, nextafterf(middle, 0), nextafterf(middle, INFINITY), -middle},
               20);
        for (int f = 0; f < 2; f++) forms[f ? form : 0]->stores[dtypes[d]][TILE_F32](5, back[f], between, NULL, NULL);
        if (!isnan(middle)) assert_memory_equal(back[0], back[1], sizeof back[0]);
      }
}

static void affine_is_the_same(void **state) {
  (void)state;
  NormAffine *const affine[] = {PROCESSOR_FORMS(norm_affine)};
  NormAffineRelu *const affine_relu[] = {PROCESSOR_FORMS(norm_affine_relu)};
  float x[N], scale[N], shift[N], to[2][N];
  fill(TILE_F32, x, 7), fill(TILE_F32, scale, 8), fill(TILE_F32, shift, 9);
  for (int i = 0; i < N; i++) { /* no cancellation, which would show the rounding of the product */
    if (isfinite(x[i])) x[i] = fabsf(x[i]);
    if (isfinite(scale[i])) scale[i] = fabsf(scale[i]);
    if (isfinite(shift[i])) shift[i] = fabsf(shift[i]);
  }
  scale[0] = 1.7f, shift[0] = 0.3f;
  const float center = -0.25f; /* nothing that cancels */
  NormFold *const fold[] = {PROCESSOR_FORMS(norm_fold)};
  float weight[N], variance[N], scales[2][N];
  for (int i = 0; i < N; i++) { /* nothing that cancels */
    weight[i] = 0.1f + (float)i;
    variance[i] = (float)((i * 37) % 101);
    to[0][i] = -(float)i / 7;
  }
  const NormStored stored = {weight, shift, to[0], variance, 1e-5f};
  for (int form = 0; form < PROCESSOR_FORM_COUNT; form++) {
    float shifts[N];
    fold[form](N, &stored, scales[form > 0], shifts);
    assert_memory_equal(scales[form > 0], scales[0], sizeof *scales);
    for (int i = 0; i < N; i++) {
      float wanted = 1 / sqrtf(variance[i] + 1e-5f) * weight[i];
      assert_true(scales[0][i] == wanted);
      if (!near((double)shifts[i], (double)((float)i / 7 * wanted + shift[i]), 0x1p-22))
        fail_msg("shift %d of form %d: %g", i, form, (double)shifts[i]);
    }
  }
  for (int form = 0; form < PROCESSOR_FORM_COUNT; form++)
    for (int negative = 0; negative < 2; negative++) { /* relu of what the same form gives without, in place, too */
      float a = negative ? -1.7f : 1.7f, b = negative ? 0.0f : 0.3f;
      affine[form](N, x, to[0], (NormScaling){NULL, &a, &b}, 0);
      for (int i = 0; i < N; i++) to[0][i] = to[0][i] > 0 || isnan(to[0][i]) ? to[0][i] : 0;
      memcpy(to[1], x, sizeof x);
      affine_relu[form](N, to[1], to[1], a, b);
      compare(TILE_F32, to[0], to[1], 0, "affine and relu, negative", negative);
      for (int i = 0; i < N; i++) assert_true(isnan(to[1][i]) || !signbit(to[1][i]));
    }
  for (int form = 1; form < PROCESSOR_FORM_COUNT; form++) {
    for (int variant = 0; variant < 3; variant++) { /* one for all, their own, one with a center */
      NormScaling by = {variant == 2 ? &center : NULL, scale, shift};
      affine[0](N, x, to[0], by, variant % 2);
      affine[form](N, x, to[1], by, variant % 2);
      compare(TILE_F32, to[0], to[1], 0x1p-22, "affine of step and center", variant);
    }
  }
}

/* The line functions promise the same bits by all forms, for fusion groups and kernels alike. */
static void lines_are_normalized_the_same(void **state) {
  (void)state;
  const LineNormal *const forms[] = {PROCESSOR_WIDE_FORMS(line_normal)};
  static float x[N], to[2][N];
  for (int n = 0; n < N; n += n < 70 ? 1 : 37) {
    LineMoments moments[2];
    for (int i = 0; i < n; i++) x[i] = 1e5f + (float)((i * 389) % 257) / 32;
    for (int form = 0; form < PROCESSOR_WIDE_FORM_COUNT; form++) {
      memset(&moments[form > 0], 0, sizeof *moments);
      forms[form]->take_moments(n, x, n ? (double)x[0] : 0, &moments[form > 0]);
      forms[form]->normalize(n, to[form > 0], x, 100003.5f, 0.37f, 0.001f);
      assert_memory_equal(&moments[form > 0], &moments[0], sizeof *moments);
      assert_memory_equal(to[form > 0], to[0], (size_t)n * sizeof(float));
    }
    for (int i = 0; i < n; i++) assert_true(to[0][i] == (x[i] - 100003.5f) * 0.37f + 0.001f);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(operations_are_the_same),
                                     cmocka_unit_test(conversions_are_the_same), cmocka_unit_test(halves_are_the_same),
                                     cmocka_unit_test(affine_is_the_same),
                                     cmocka_unit_test(lines_are_normalized_the_same)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
