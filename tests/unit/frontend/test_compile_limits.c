/* Compiling within limits: deadlines and sizes of programs, the time of a call's first compilation, growth that is
 * linear; options of single operators. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "wick/wick.h"

static double cpu_seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* `count` lines of the pattern, which takes the line's number, between two texts. */
static char *program_of(const char *head, const char *pattern, int count, const char *tail) {
  size_t size = strlen(head) + strlen(tail) + (size_t)count * (strlen(pattern) + 24) + 1, length;
  char *text = malloc(size);
  assert_non_null(text);
  length = (size_t)snprintf(text, size, "%s", head);
  for (int i = 0; i < count; i++) length += (size_t)snprintf(text + length, size - length, pattern, i, i, i, i);
  snprintf(text + length, size - length, "%s", tail);
  return text;
}

static wick_status compile(const char *text, uint64_t deadline_ns, uint64_t max_steps, wick_module **out) {
  wick_compile_options options = {.size = sizeof options, .deadline_ns = deadline_ns, .max_steps = max_steps};
  wick_module *module = NULL;
  wick_error *error = NULL;
  wick_status status = wick_compile_with(NULL, text, strlen(text), &options, &module, &error);
  if (status) {
    assert_null(module);
    wick_error_free(error);
  }
  if (out)
    *out = module;
  else
    wick_module_release(module);
  return status;
}

static const char functions[] = "def f%d(x: int) -> int:\n    y = x + %d\n    return y * 2\n";

static void test_deadline(void **state) {
  (void)state;
  char *text = program_of("", functions, 60000, "");
  double begin = cpu_seconds();
  assert_int_equal(compile(text, 20000000, 0, NULL), WICK_DEADLINE);
  assert_true(cpu_seconds() - begin < 2);
  assert_int_equal(compile(text, 1, 0, NULL), WICK_DEADLINE);
  free(text);
  text = program_of("", functions, 100, "");
  assert_int_equal(compile(text, 100000000000, 0, NULL), WICK_OK);
  free(text);
}

static void test_steps(void **state) {
  (void)state;
  char *text = program_of("", functions, 100, "");
  assert_int_equal(compile(text, 0, 300, NULL), WICK_BUDGET);
  assert_int_equal(compile(text, 0, 100000, NULL), WICK_OK);
  free(text);
}

/* What a define leaves behind when its time is over: nothing. */
static void test_define(void **state) {
  (void)state;
  wick_module *module;
  assert_int_equal(compile("def g(x: int):\n    return x\n", 0, 0, &module), WICK_OK);
  char *text = program_of("", functions, 20000, "");
  wick_compile_options options = {.size = sizeof options, .deadline_ns = 5000000};
  size_t before = wick_module_method_count(module);
  assert_int_equal(wick_module_define(module, NULL, text, strlen(text), &options, NULL), WICK_DEADLINE);
  assert_int_equal(wick_module_method_count(module), before);
  options = (wick_compile_options){.size = sizeof options};
  assert_int_equal(wick_module_define(module, NULL, text, strlen(text), &options, NULL), WICK_OK);
  assert_int_equal(wick_module_method_count(module), before + 20000);
  wick_module_release(module);
  free(text);
}

/* The least time of three. */
static double time_of(const char *head, const char *pattern, int count, const char *tail) {
  double least = 1e9;
  char *text = program_of(head, pattern, count, tail);
  for (int i = 0; i < 3; i++) {
    double begin = cpu_seconds();
    assert_int_equal(compile(text, 0, 0, NULL), WICK_OK);
    double used = cpu_seconds() - begin;
    if (used < least) least = used;
  }
  free(text);
  return least;
}

/* Four times as much takes about four times as long: sixteen where each looks through all the others. */
static void test_growth(void **state) {
  (void)state;
  static const struct {
    const char *head, *pattern, *tail;
  } programs[] = {
      {"", functions, ""},
      {"class C:\n    def __init__(self):\n        self.a = 1\n",
       "    def m%d(self, x: int) -> int:\n        return x\n", ""},
      {"def f(x: int):\n    y = x\n    if x > 3:\n", "        y%d = x + 1\n        y = y%d\n", "    return y\n"},
  };
  for (size_t i = 0; i < sizeof programs / sizeof *programs; i++) {
    double few = time_of(programs[i].head, programs[i].pattern, 3000, programs[i].tail);
    double many = time_of(programs[i].head, programs[i].pattern, 12000, programs[i].tail);
    if (many > 9 * few + 0.05) fail_msg("program %zu: %.3f s for 3,000 and %.3f s for 12,000", i, few, many);
  }
}

/* Names that are bound on both sides of an `if`, where values are inserted after one node again and again. */
static void test_growth_of_variables(void **state) {
  (void)state;
  double seconds[2];
  for (int k = 0; k < 2; k++) {
    int count = k ? 8000 : 2000;
    char *first = program_of("def f(x: int):\n", "    v%d = x\n", count, "    if x > 3:\n");
    seconds[k] = time_of(first, "        v%d = x + 1\n", count, "    return v0\n");
    free(first);
  }
  if (seconds[1] > 9 * seconds[0] + 0.05) fail_msg("%.3f s for 2,000 and %.3f s for 8,000", seconds[0], seconds[1]);
}

/* Operators that are TorchScript themselves are compiled within the first call. */
static void test_first_call(void **state) {
  (void)state;
  static const char text[] =
      "def f(x: Tensor):\n"
      "    y = torch.nn.functional.multi_margin_loss(x, torch.zeros([4], dtype=torch.int64))\n"
      "    return torch.nn.functional.gaussian_nll_loss(x, x, x.abs() + 1) + y + "
      "torch.nn.functional.cosine_similarity(x, "
      "x).sum() + torch.linalg.multi_dot([x, x.t(), x]).sum()\n";
  wick_module *module;
  wick_value *x = NULL, *value = NULL;
  assert_int_equal(compile(text, 0, 0, &module), WICK_OK);
  float data[12] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 1, 2, 3};
  assert_int_equal(wick_tensor_borrow(data, WICK_FLOAT32, 2, (const int64_t[]){4, 3}, NULL, NULL, NULL, &x, NULL),
                   WICK_OK);
  const wick_value *arguments[] = {x};
  wick_error *error = NULL;
  for (uint64_t ns = 1000; ns < 100000000; ns = ns * 3 / 2) {
    wick_run_options options = {.size = sizeof options, .deadline_ns = ns};
    wick_status status = wick_run(module, "f", arguments, 1, NULL, 0, &options, &value, &error);
    if (status && status != WICK_DEADLINE) fail_msg("%llu ns: %s", (unsigned long long)ns, wick_error_message(error));
    wick_error_free(error);
    wick_value_release(value);
    error = NULL, value = NULL;
  }
  assert_int_equal(wick_run(module, "f", arguments, 1, NULL, 0, NULL, &value, NULL), WICK_OK);
  wick_value_release(value);
  wick_value_release(x);
  wick_module_release(module);
}

static void test_operator(void **state) {
  (void)state;
  wick_value *size = NULL, *value = NULL;
  wick_value *number = wick_value_int(30000000);
  assert_int_equal(wick_value_list((const wick_value *const[]){number}, 1, &size, NULL), WICK_OK);
  const wick_value *arguments[] = {size};
  wick_run_options options = {.size = sizeof options, .deadline_ns = 1000000};
  double begin = cpu_seconds();
  assert_int_equal(wick_op_call_with(NULL, "aten::randn", NULL, arguments, 1, NULL, 0, &options, &value, NULL),
                   WICK_DEADLINE);
  assert_null(value);
  assert_true(cpu_seconds() - begin < 2);
  options = (wick_run_options){.size = sizeof options, .max_bytes = 1000};
  assert_int_equal(wick_op_call_with(NULL, "aten::randn", NULL, arguments, 1, NULL, 0, &options, &value, NULL),
                   WICK_BUDGET);
  options = (wick_run_options){.size = sizeof options, .cancel = wick_cancel_new()};
  wick_cancel_fire(options.cancel);
  assert_int_equal(wick_op_call_with(NULL, "aten::randn", NULL, arguments, 1, NULL, 0, &options, &value, NULL),
                   WICK_CANCELLED);
  wick_cancel_release(options.cancel);
  wick_value_release(number);
  wick_value_release(size);
}

/* Keys that equal nothing, themselves included. */
static void test_nan_keys(void **state) {
  (void)state;
  static const char text[] =
      "def f(n: int):\n    d: Dict[float, int] = {}\n    x = float('nan')\n    for i in range(n):\n"
      "        d[x] = i\n    d[1.0] = 3\n    return len(d) if d[1.0] == 3 and x not in d else 0\n";
  wick_module *module;
  wick_value *n = wick_value_int(100000), *value = NULL;
  assert_int_equal(compile(text, 0, 0, &module), WICK_OK);
  double begin = cpu_seconds();
  assert_int_equal(wick_run(module, "f", (const wick_value *const[]){n}, 1, NULL, 0, NULL, &value, NULL), WICK_OK);
  assert_true(cpu_seconds() - begin < 3);
  assert_int_equal(wick_value_to_int(value), 100001);
  wick_value_release(value);
  wick_value_release(n);
  wick_module_release(module);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_deadline),
      cmocka_unit_test(test_steps),
      cmocka_unit_test(test_define),
      cmocka_unit_test(test_growth),
      cmocka_unit_test(test_growth_of_variables),
      cmocka_unit_test(test_first_call),
      cmocka_unit_test(test_operator),
      cmocka_unit_test(test_nan_keys),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
