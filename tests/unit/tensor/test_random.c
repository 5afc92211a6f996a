/* A seed gives PyTorch's numbers: each row was drawn by PyTorch 1.13 after manual_seed(0). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <math.h>

#include "tensor/random.h"

static Generator *generator;

static int setup(void **state) {
  (void)state;
  status_free(generator_new(0, &generator));
  return generator ? 0 : -1;
}
static int teardown(void **state) {
  (void)state;
  generator_release(generator);
  return 0;
}

static Tensor *fresh(DType dtype, int64_t n) {
  Tensor *t;
  assert_null(tensor_empty(dtype, 1, &n, &t));
  generator_seed(generator, 0);
  return t;
}

static void expect(Tensor *t, int64_t from, int count, const double *expected) {
  for (int i = 0; i < count; i++) {
    double got;
    dtype_convert(DTYPE_FLOAT64, &got, 1, (DType)t->dtype,
                  (char *)tensor_data(t) + (size_t)(from + i) * dtype_size((DType)t->dtype), 1, 1);
    assert_true(fabs(got - expected[i]) <= 1e-6 * fabs(expected[i]));
  }
  tensor_release(t);
}
#define VALUES(...) \
  (double[]) {      \
    __VA_ARGS__     \
  }

static void draws_real_numbers(void **state) {
  (void)state;
  Tensor *t = fresh(DTYPE_FLOAT32, 3);
  assert_null(random_uniform(generator, t, 0, 1));
  expect(t, 0, 3, VALUES(0.49625658988952637, 0.7682217955589294, 0.08847743272781372));
  t = fresh(DTYPE_FLOAT64, 3);
  assert_null(random_normal(generator, t, 0, 1));
  expect(t, 0, 3, VALUES(1.5409961082440433, -0.2934289057609464, -2.1787893820745574));
  t = fresh(DTYPE_FLOAT32, 18); /* groups of sixteen, the last drawn anew */
  assert_null(random_normal(generator, t, 0, 1));
  tensor_retain(t);
  expect(t, 0, 2, VALUES(-1.1258398294448853, -1.152360200881958));
  expect(t, 16, 2, VALUES(0.9318265914916992, 1.2590092420578003));
  t = fresh(DTYPE_FLOAT64, 4);
  assert_null(random_exponential(generator, t, 1));
  expect(t, 0, 4, VALUES(3.508326186707642, 1.2303847641796768, 0.6150440938940115, 2.5351186442158817));
}

static void draws_integers(void **state) {
  (void)state;
  Tensor *t = fresh(DTYPE_INT64, 8);
  assert_null(random_from_to(generator, t, 0, 10));
  expect(t, 0, 8, VALUES(4, 9, 3, 0, 3, 9, 7, 3));
  t = fresh(DTYPE_INT64, 8);
  assert_null(random_permutation(generator, t));
  expect(t, 0, 8, VALUES(4, 0, 7, 3, 2, 5, 1, 6));
  t = fresh(DTYPE_INT64, 3);
  assert_null(random_full_range(generator, t));
  expect(t, 0, 3, VALUES(900450186894289455., 3969543146641149120., 1895649597198586619.));
}

static void draws_bernoulli(void **state) {
  (void)state;
  Tensor *t = fresh(DTYPE_FLOAT32, 8), *p;
  assert_null(random_bernoulli(generator, t, 0.5));
  expect(t, 0, 8, VALUES(0, 0, 1, 0, 0, 0, 1, 1));
  p = fresh(DTYPE_FLOAT32, 8);
  for (int i = 0; i < 8; i++) ((float *)tensor_data(p))[i] = 0.5f;
  t = fresh(DTYPE_INT64, 8);
  assert_null(random_bernoulli_tensor(generator, t, p));
  expect(tensor_retain(t), 0, 8, VALUES(1, 0, 1, 1, 1, 0, 1, 0));
  ((float *)tensor_data(p))[3] = 2;
  Status status = random_bernoulli_tensor(generator, t, p);
  assert_non_null(status);
  status_free(status);
  status = random_bernoulli(generator, t, -1);
  assert_string_equal(status->message, "bernoulli_ expects p to be in [0, 1], but got p=-1");
  status_free(status);
  tensor_release(p);
  tensor_release(t);
}

static void fills_in_memory_order(void **state) {
  (void)state;
  Tensor *t, *turned;
  assert_null(tensor_empty(DTYPE_FLOAT32, 2, (int64_t[]){2, 3}, &t));
  assert_null(tensor_transpose(t, 0, 1, &turned));
  generator_seed(generator, 0);
  assert_null(random_from_to(generator, turned, 0, 100));
  expect(t, 0, 6, VALUES(44, 39, 33, 60, 63, 79));
  tensor_release(turned);
}

/* Many at once are those that come one by one, wherever the generator's state is renewed, and leave it as they do. */
static void draws_many_at_once(void **state) {
  (void)state;
  static const int64_t counts[] = {1, 5, 623, 1, 624, 625, 3, 311, 2000, 0, 127, 129};
  Generator *single;
  float floats[2000];
  double doubles[2000];
  uint8_t left[GENERATOR_STATE_BYTES], right[GENERATOR_STATE_BYTES];
  assert_null(generator_new(7, &single));
  generator_seed(generator, 7);
  for (size_t c = 0; c < sizeof counts / sizeof *counts; c++) {
    generator_uniform_floats(generator, counts[c], floats);
    for (int64_t i = 0; i < counts[c]; i++) assert_true(floats[i] == generator_uniform_float(single));
    assert_int_equal(generator_random32(generator), generator_random32(single));
    generator_uniform_doubles(generator, counts[c], doubles);
    for (int64_t i = 0; i < counts[c]; i++) assert_true(doubles[i] == generator_uniform_double(single));
    generator_state_get(generator, left);
    generator_state_get(single, right);
    assert_memory_equal(left, right, sizeof left);
  }
  generator_release(single);
}

static void transforms_as_libm(void **state) {
  (void)state;
  enum { N = 16 * 700 };
  static float u[N], x[N];
  generator_seed(generator, 3);
  generator_uniform_floats(generator, N, u);
  static const float edges[] = {0, 0x1p-24f, 0x1.fffffep-1f, 0.25f, 0.5f, 0.75f, 0.125f, 0x1.fffffep-3f};
  memcpy(u, edges, sizeof edges);
  memcpy(u + 8, edges, sizeof edges);
  memcpy(u + 24, edges, sizeof edges);
  memcpy(x, u, sizeof u);
  random_normal_groups(N, x, 0.5f, 2.0f);
  for (int i = 0; i < N; i += 16)
    for (int j = i; j < i + 8; j++) {
      float radius = sqrtf(-2.0f * logf(1.0f - u[j])), angle = (float)(2.0 * M_PI) * u[j + 8];
      assert_true(fabsf(x[j] - (0.5f + 2.0f * radius * cosf(angle))) <= 2e-6f);
      assert_true(fabsf(x[j + 8] - (0.5f + 2.0f * radius * sinf(angle))) <= 2e-6f);
    }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(draws_real_numbers), cmocka_unit_test(draws_integers),
                                     cmocka_unit_test(draws_bernoulli),    cmocka_unit_test(fills_in_memory_order),
                                     cmocka_unit_test(draws_many_at_once), cmocka_unit_test(transforms_as_libm)};
  return cmocka_run_group_tests(tests, setup, teardown);
}
