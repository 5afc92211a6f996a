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

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_gradients_of_pooling),
      cmocka_unit_test(test_gradients_of_resampling),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
