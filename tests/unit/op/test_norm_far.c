/* Normalization of numbers that lie far from zero, where float32 has few places left for what they differ by: what
 * comes out is as good as near zero, in every executor, and the gradients and statistics are, too. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "wick/wick.h"

/* Each is right in float64; of float32 at most ERROR away, in units of what comes out (about 1). */
static const char program[] =
    "def layer(x: Tensor, w: Tensor) -> Tensor:\n"
    "    return torch.layer_norm(x, [x.size(-1)], None, None, 1e-5)\n"
    "def layer_weights(x: Tensor, w: Tensor) -> Tensor:\n"
    "    return torch.layer_norm(x, [x.size(-1)], w, w, 1e-5)\n"
    "def layer_in_group(x: Tensor, w: Tensor) -> Tensor:\n"
    "    return torch.tanh(torch.layer_norm(x, [x.size(-1)], w, w, 1e-5) * w) + w\n"
    "def layer_several(x: Tensor, w: Tensor) -> Tensor:\n"
    "    return torch.layer_norm(x, x.size()[1:], None, None, 1e-5)\n"
    "def native_layer(x: Tensor, w: Tensor) -> Tensor:\n"
    "    y, mean, invstd = torch.native_layer_norm(x, [x.size(-1)], w, None, 1e-5)\n"
    "    return y * invstd\n"
    "def group(x: Tensor, w: Tensor) -> Tensor:\n"
    "    return torch.group_norm(x, 2, None, None, 1e-5)\n"
    "def group_weights(x: Tensor, w: Tensor) -> Tensor:\n"
    "    return torch.group_norm(x, 2, w[:4], w[:4], 1e-5)\n"
    "def variance(x: Tensor, w: Tensor) -> Tensor:\n"
    "    return torch.cat([x.var([-1]).flatten(), x.var([0]).flatten(), x.var().reshape(1)])\n"
    "def deviation(x: Tensor, w: Tensor) -> Tensor:\n"
    "    return torch.cat([x.std([-1]).flatten(), x.std([1]).flatten(), x.std().reshape(1)])\n";
#define ERROR 2e-6

typedef struct Line {
  int64_t n;
  double middle;
  int is_ramp; /* 0, 1, 2, ...; else what looks random, about 1 wide */
} Line;
static const Line lines[] = {{256, 1e5, 0}, {4, 1e6, 1}, {37, -3e5, 0}, {1000, 1e4, 0}, {16, 1e6, 1}, {64, 0, 0}};

static double element(const Line *line, int64_t i) {
  if (line->is_ramp) return line->middle + (double)(i % line->n);
  return line->middle + 2 * sin((double)(i * i % 1009));
}

static void fine(wick_status status, wick_error *error) {
  if (status) print_error("%s\n", wick_error_message(error));
  assert_int_equal(status, WICK_OK);
}

/* The line's numbers as float32 has them, in [3, 4, n] of the dtype. */
static wick_value *input_of(const Line *line, uint32_t dtype) {
  const int64_t sizes[] = {3, 4, line->n};
  wick_value *x;
  wick_error *error = NULL;
  fine(wick_tensor_new(dtype, 3, sizes, &x, &error), error);
  for (int64_t i = 0; i < 12 * line->n; i++) {
    float v = (float)element(line, i);
    if (dtype == WICK_FLOAT32)
      ((float *)wick_tensor_mutable_data(x))[i] = v;
    else
      ((double *)wick_tensor_mutable_data(x))[i] = (double)v;
  }
  return x;
}
static wick_value *weight_of(const Line *line, uint32_t dtype) {
  wick_value *w;
  wick_error *error = NULL;
  fine(wick_tensor_new(dtype, 1, &line->n, &w, &error), error);
  for (int64_t i = 0; i < line->n; i++) {
    float v = 0.5f + (float)(i % 7) / 8;
    if (dtype == WICK_FLOAT32)
      ((float *)wick_tensor_mutable_data(w))[i] = v;
    else
      ((double *)wick_tensor_mutable_data(w))[i] = (double)v;
  }
  return w;
}

static double at(const wick_tensor_view *view, int64_t i) {
  int64_t place = 0;
  for (int d = view->ndim - 1; d >= 0; i /= view->sizes[d], d--) place += i % view->sizes[d] * view->strides[d];
  return view->dtype == WICK_FLOAT32 ? (double)((const float *)view->data)[place] : ((const double *)view->data)[place];
}

static wick_value *call(wick_module *module, const char *name, const Line *line, uint32_t dtype) {
  wick_value *x = input_of(line, dtype), *w = weight_of(line, dtype), *y;
  wick_error *error = NULL;
  fine(wick_run(module, name, (const wick_value *const[]){x, w}, 2, NULL, 0, NULL, &y, &error), error);
  wick_value_release(x);
  wick_value_release(w);
  return y;
}

static void compare(const char *name, const Line *line, const wick_value *got, const wick_value *want) {
  wick_tensor_view a = {.size = sizeof a}, b = {.size = sizeof b};
  int64_t count = 1;
  assert_int_equal(wick_tensor_view_of(got, &a, NULL), WICK_OK);
  assert_int_equal(wick_tensor_view_of(want, &b, NULL), WICK_OK);
  assert_int_equal(a.ndim, b.ndim);
  for (int d = 0; d < a.ndim; d++) count *= a.sizes[d];
  for (int64_t i = 0; i < count; i++) {
    double off = fabs(at(&a, i) - at(&b, i)), most = ERROR * (1 + fabs(at(&b, i)));
    if (!(off <= most))
      fail_msg("%s of %lld at %g: element %lld is %.9g, not %.9g", name, (long long)line->n, line->middle, (long long)i,
               at(&a, i), at(&b, i));
  }
}

static void test_far_from_zero(void **state) {
  (void)state;
  const uint32_t executors[] = {WICK_EXECUTOR_SIMPLE, WICK_EXECUTOR_SPECIALIZING, WICK_EXECUTOR_PROFILING};
  for (size_t e = 0; e < sizeof executors / sizeof *executors; e++) {
    wick_runtime *runtime;
    wick_module *module;
    wick_error *error = NULL;
    wick_executor_options options = {.size = sizeof options, .executor = executors[e], .synchronous = 1};
    fine(wick_runtime_new(NULL, &runtime, &error), error);
    fine(wick_runtime_set_executor(runtime, &options, &error), error);
    fine(wick_compile(runtime, program, strlen(program), "far.py", &module, &error), error);
    for (size_t i = 0; i < wick_module_method_count(module); i++)
      for (size_t k = 0; k < sizeof lines / sizeof *lines; k++) {
        const char *name = wick_module_method_name(module, i);
        wick_value *want = call(module, name, &lines[k], WICK_FLOAT64);
        for (int round = 0; round < 3; round++) {
          wick_value *got = call(module, name, &lines[k], WICK_FLOAT32);
          compare(name, &lines[k], got, want);
          wick_value_release(got);
        }
        wick_value_release(want);
      }
    wick_module_release(module);
    wick_runtime_release(runtime);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_far_from_zero)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
