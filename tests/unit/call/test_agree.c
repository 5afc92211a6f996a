/* Operators whose kernels rely on two arguments' agreeing refuse those that do not: dtypes, sizes, lengths of lists,
 * indices. Programs can call each of them by name. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "wick/wick.h"

typedef struct Case {
  const char *expression, *error; /* error NULL: computes */
} Case;

static void check_case(const Case *c) {
  char source[1024];
  wick_module *module = NULL;
  wick_value *result = NULL;
  wick_error *error = NULL;
  snprintf(source, sizeof source, "def f():\n    return %s\n", c->expression);
  if (wick_compile(NULL, source, strlen(source), "agree.py", &module, &error))
    fail_msg("%s: %s", c->expression, wick_error_message(error));
  bool failed = wick_run(module, "f", NULL, 0, NULL, 0, NULL, &result, &error) != WICK_OK;
  if (failed != (c->error != NULL)) fail_msg("%s: %s", c->expression, failed ? wick_error_message(error) : "no error");
  if (failed && !strstr(wick_error_message(error), c->error))
    fail_msg("%s: \"%s\" is not in \"%s\"", c->expression, c->error, wick_error_message(error));
  wick_error_free(error);
  wick_value_release(result);
  wick_module_release(module);
}
#define CHECK_CASES(cases) \
  for (size_t i = 0; i < sizeof(cases) / sizeof *(cases); i++) check_case(&(cases)[i])

#define AVERAGE(grad, self) \
  "torch.ops.aten.avg_pool2d_backward(" grad ", " self ", [2, 2], [2, 2], [0, 0], False, True, None)"
#define AVERAGE3(grad, self) \
  "torch.ops.aten.avg_pool3d_backward(" grad ", " self ", [2, 2, 2], [2, 2, 2], [0, 0, 0], False, True, None)"
#define ADAPTIVE(grad, self) "torch.ops.aten._adaptive_avg_pool2d_backward(" grad ", " self ")"
#define ADAPTIVE3(grad, self) "torch.ops.aten._adaptive_avg_pool3d_backward(" grad ", " self ")"

static void test_gradients_of_pooling(void **state) {
  (void)state;
  static const Case cases[] = {
      {AVERAGE("torch.ones([1, 3, 2, 2])", "torch.zeros([1, 3, 4, 4])"), NULL},
      {AVERAGE("torch.ones([3, 2, 2])", "torch.zeros([3, 4, 4])"), NULL},
      {AVERAGE("torch.ones([1, 1, 200, 200], dtype=torch.float64)", "torch.zeros([1, 1, 400, 400], dtype=torch.uint8)"),
       "expected scalar type Byte but found Double"},
      {AVERAGE("torch.ones([2, 1, 2, 2])", "torch.zeros([1, 2, 4, 4])"), "Expected grad_output to have sizes"},
      {AVERAGE("torch.ones([2, 2])", "torch.zeros([1, 1, 4, 4])"), "Expected grad_output to have sizes"},
      {AVERAGE("torch.ones([1, 1, 4, 1])", "torch.zeros([1, 1, 4, 4])"), "Expected grad_output to have sizes"},
      {"torch.ops.aten.avg_pool2d_backward(torch.ones([1, 1, 2, 2]), torch.zeros([1, 1, 4, 4]), [2, 2], [2, 2], [0, "
       "0], "
       "False, True, 0)",
       "divisor must be not zero"},
      {AVERAGE3("torch.ones([1, 1, 2, 2, 2])", "torch.zeros([1, 1, 4, 4, 4])"), NULL},
      {AVERAGE3("torch.ones([1, 1, 2, 2, 2], dtype=torch.float64)", "torch.zeros([1, 1, 4, 4, 4])"),
       "expected scalar type Float but found Double"},
      {ADAPTIVE("torch.ones([1, 3, 2, 2])", "torch.zeros([1, 3, 4, 4])"), NULL},
      {ADAPTIVE("torch.ones([1, 1, 200, 200], dtype=torch.float64)",
                "torch.zeros([1, 1, 400, 400], dtype=torch.uint8)"),
       "expected scalar type Byte but found Double"},
      {ADAPTIVE("torch.ones([7, 33])", "torch.zeros([1, 16, 17], dtype=torch.int16)"),
       "to have 3 dimensions, but got 2"},
      {ADAPTIVE("torch.ones([3, 2, 2])", "torch.zeros([2, 4, 4])"), "Expected grad_output to have sizes"},
      {ADAPTIVE3("torch.ones([1, 1, 2, 2, 2])", "torch.zeros([1, 1, 4, 4, 4])"), NULL},
      {ADAPTIVE3("torch.ones([1, 1, 2, 2, 2], dtype=torch.float64)", "torch.zeros([1, 1, 4, 4, 4])"),
       "expected scalar type Float but found Double"},
  };
  CHECK_CASES(cases);
}

#define BILINEAR(grad, input_size) \
  "torch.ops.aten.upsample_bilinear2d_backward(" grad ", [4, 4], " input_size ", False, None, None)"

static void test_gradients_of_resampling(void **state) {
  (void)state;
  static const Case cases[] = {
      {BILINEAR("torch.ones([1, 3, 4, 4])", "[1, 3, 8, 8]"), NULL},
      {BILINEAR("torch.ones([1, 1, 4, 4])", "[50, 70, 8, 8]"), "output.size(0) = 50 but got grad_output.size(0) = 1"},
      {BILINEAR("torch.ones([1, 3, 4, 4])", "[1, 1, 8, 8]"), "output.size(1) = 1 but got grad_output.size(1) = 3"},
      {BILINEAR("torch.ones([1, 1, 4, 4])", "[1, 9223372036854775807, 8, 8]"), "output.size(1)"},
      {BILINEAR("torch.ones([1, 1, 4, 5])", "[1, 1, 8, 8]"), "output.size(3) = 4 but got grad_output.size(3) = 5"},
      {BILINEAR("torch.ones([1, 1, 4, 4])", "[1, 1, 8]"), "It is expected input_size equals to 4, but got size 3"},
      {"torch.ops.aten.upsample_nearest1d_backward(torch.ones([1, 1, 4]), [4], [2, 1, 8], None)", "output.size(0) = 2"},
      {"torch.ops.aten.upsample_nearest2d_backward(torch.ones([1, 1, 600, 600]), [600, 600], [1, 3, 1200, 1200], None, "
       "None)",
       "output.size(1) = 3"},
      {"torch.ops.aten.upsample_trilinear3d_backward(torch.ones([1, 1, 4, 4, 4]), [4, 4, 4], [1, 3, 8, 8, 8], False)",
       "output.size(1) = 3"},
  };
  CHECK_CASES(cases);
}

#define CONVOLUTION(grad)                                               \
  "torch.ops.aten.convolution_backward(" grad                           \
  ", torch.ones([1, 2, 5, 5]), torch.ones([3, 2, 3, 3]), [3], [1, 1], " \
  "[1, 1], [1, 1], False, [0, 0], 1, [True, True, True])"
#define GRID(grid) "torch.ops.aten.grid_sampler_2d(torch.ones([1, 2, 4, 4]), " grid ", 0, 0, False)"

static void test_convolution_and_grids(void **state) {
  (void)state;
  static const Case cases[] = {
      {CONVOLUTION("torch.ones([1, 3, 5, 5])"), NULL},
      {CONVOLUTION("torch.ones([1, 3, 5, 4])"), "does not fit an output of 75 elements"},
      {CONVOLUTION("torch.ones([3, 25])"), "does not fit an output of 75 elements"},
      {CONVOLUTION("torch.ones([1, 3, 5, 5], dtype=torch.float64)"), "expected scalar type Float but found Double"},
      {GRID("torch.zeros([1, 3, 3, 2])"), NULL},
      {"torch.ops.aten.grid_sampler_2d(torch.ones([0, 2, 4, 4]), torch.zeros([0, 3, 3, 2]), 0, 0, False)", NULL},
      {"torch.ops.aten.grid_sampler_2d(torch.ones([2, 0, 4, 4]), torch.zeros([2, 3, 3, 2]), 0, 0, False)", NULL},
      {GRID("torch.zeros([1, 3, 3, 2], dtype=torch.float64)"), "expected scalar type Float but found Double"},
  };
  CHECK_CASES(cases);
}

static void test_pivots(void **state) {
  (void)state;
#define LDL_SOLVE(pivots) \
  "torch.linalg_ldl_solve(torch.eye(3), torch.tensor([" pivots "], dtype=torch.int32), torch.ones([3, 1]))"
  static const Case cases[] = {
      {LDL_SOLVE("1, 2, 3"), NULL},
      {LDL_SOLVE("-2, -2, 3"), NULL},
      {LDL_SOLVE("1, 2, 4"), "a pivot is 4, beyond the 3 rows"},
      {LDL_SOLVE("1, 2, -3"), "the negative pivot at 2 is not one of two"},
      {LDL_SOLVE("-1, -1, -1"), "the negative pivot at 2 is not one of two"},
      {LDL_SOLVE("1, -2, 3"), "the negative pivot at 1 is not one of two"},
  };
  CHECK_CASES(cases);
}

static void test_dtypes_that_are_none(void **state) {
  (void)state;
  static const Case cases[] = {
      {"torch.ones([2]).sum(dtype=torch.float64)", NULL},
      {"torch.ones([2]).sum(dtype=-1)", "Unrecognized dtype -1 for argument 'dtype'"},
      {"torch.ones([2]).prod(dtype=-2)", "Unrecognized dtype -2"},
      {"torch.ones([2]).cumsum(0, dtype=100)", "Unrecognized dtype 100"},
      {"torch.tensor(1.0, dtype=9223372036854775807)", "Unrecognized dtype 9223372036854775807"},
      {"torch.as_tensor(1, dtype=100)", "Unrecognized dtype 100"},
      {"torch.nansum(torch.ones([2]), dtype=100)", "Unrecognized dtype 100"},
      {"torch.softmax(torch.ones([2]), 0, dtype=-1)", "Unrecognized dtype -1"},
  };
  CHECK_CASES(cases);
}

#define META(sizes) "torch.ones(" sizes ", device=torch.device('meta'))"

static void test_meta_tensors(void **state) {
  (void)state;
  static const Case cases[] = {
      {"torch.sqrt(" META("[2, 3]") ", out=" META("[0]") ").size()", NULL},
      {"torch.sqrt(" META("[2, 3]") ", out=torch.ones([0]))", "Expected all tensors to be on the same device"},
      {"torch.ones([2, 3]).add_(" META("[2, 3]") ")", "Expected all tensors to be on the same device"},
      {"torch.view_copy(" META("[2, 3]") ", dtype=torch.int32).size()", NULL},
  };
  CHECK_CASES(cases);
}

/* What an out tensor holds is read before it takes the result's sizes. */
static int64_t out_is_input(const char *lines) {
  char source[1024];
  wick_module *module = NULL;
  wick_value *result = NULL;
  wick_error *error = NULL;
  snprintf(source, sizeof source, "def f() -> int:\n%s", lines);
  if (wick_compile(NULL, source, strlen(source), "out.py", &module, &error) ||
      wick_run(module, "f", NULL, 0, NULL, 0, NULL, &result, &error))
    fail_msg("%s: %s", lines, wick_error_message(error));
  int64_t number = wick_value_to_int(result);
  wick_value_release(result);
  wick_module_release(module);
  return number;
}
static void test_an_input_as_out(void **state) {
  (void)state;
  assert_int_equal(out_is_input("    a = torch.ones([2, 3])\n"
                                "    torch.mm(a, torch.ones([3, 400]), out=a)\n"
                                "    return int(a.sum())\n"),
                   2 * 400 * 3);
  assert_int_equal(out_is_input("    a = torch.ones([2, 3])\n"
                                "    torch.sum(a, [0], out=a)\n"
                                "    return int(a.sum()) * 10 + a.dim()\n"),
                   61);
  assert_int_equal(out_is_input("    a = torch.ones([2, 3])\n"
                                "    torch.ops.aten.linalg_multi_dot([a, torch.ones([3, 4])], out=a)\n"
                                "    return a.size(1)\n"),
                   4);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_gradients_of_pooling),  cmocka_unit_test(test_gradients_of_resampling),
      cmocka_unit_test(test_convolution_and_grids), cmocka_unit_test(test_pivots),
      cmocka_unit_test(test_dtypes_that_are_none),  cmocka_unit_test(test_meta_tensors),
      cmocka_unit_test(test_an_input_as_out),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
