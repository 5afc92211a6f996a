/* Profiles of calls: which rows, how often, what is counted once and what not at all. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "wick/wick.h"

static const char source[] =
    "def product(a: Tensor, b: Tensor, n: int) -> Tensor:\n"
    "    for i in range(n):\n"
    "        a = torch.mm(a, b)\n"
    "    return a\n"
    "def parts(a: Tensor) -> Tensor:\n"
    "    return torch.outer(a, a)\n"
    "def forked(a: Tensor) -> Tensor:\n"
    "    left = torch.jit.fork(torch.neg, a)\n"
    "    right = torch.jit.fork(torch.neg, a)\n"
    "    return torch.jit.wait(left) + torch.jit.wait(right)\n"
    "def fails(a: Tensor) -> Tensor:\n"
    "    return torch.mm(a, a)\n";
static wick_module *module;

static wick_value *ones(int ndim, int64_t rows, int64_t columns) {
  static float data[64];
  wick_value *tensor;
  int64_t sizes[] = {rows, columns};
  for (int i = 0; i < 64; i++) data[i] = 1;
  assert_int_equal(wick_tensor_borrow(data, WICK_FLOAT32, ndim, sizes, NULL, NULL, NULL, &tensor, NULL), WICK_OK);
  return tensor;
}

static wick_status call(const char *name, wick_profile *profile, const wick_value *const *arguments, size_t count) {
  wick_run_options options = {.size = sizeof options, .profile = profile, .executor = WICK_EXECUTOR_SIMPLE};
  wick_value *result;
  wick_status status = wick_run(module, name, arguments, count, NULL, 0, &options, &result, NULL);
  wick_value_release(result);
  return status;
}

static void expect(wick_profile *profile, uint32_t format, const char *part) {
  char *text;
  assert_int_equal(wick_profile_print(profile, format, &text, NULL), WICK_OK);
  if (!strstr(text, part)) fail_msg("no '%s' in:\n%s", part, text);
  wick_text_free(text);
}
static int occurrences(wick_profile *profile, uint32_t format, const char *part) {
  char *text;
  int count = 0;
  assert_int_equal(wick_profile_print(profile, format, &text, NULL), WICK_OK);
  for (size_t i = 0, n = strlen(part); text[i]; i++) count += strncmp(text + i, part, n) == 0;
  wick_text_free(text);
  return count;
}

static void test_rows_by_shapes(void **state) {
  (void)state;
  wick_profile *profile = wick_profile_new();
  wick_value *tall = ones(2, 3, 2), *small = ones(2, 2, 2), *two = wick_value_int(2), *three = wick_value_int(3);
  assert_int_equal(call("product", profile, (const wick_value *const[]){tall, small, two}, 3), WICK_OK);
  assert_int_equal(call("product", profile, (const wick_value *const[]){tall, small, three}, 3), WICK_OK);
  assert_int_equal(call("product", profile, (const wick_value *const[]){small, small, three}, 3), WICK_OK);
  assert_int_equal(call("product", NULL, (const wick_value *const[]){small, small, three}, 3), WICK_OK);
  expect(profile, WICK_PROFILE_JSON, "{\"calls\": 3, ");
  expect(profile, WICK_PROFILE_JSON,
         "\"inputs\": \"float32[3,2], float32[2,2]\", \"output\": \"float32[3,2]\", "
         "\"source\": \"profile.py:3\", \"function\": \"product\", \"module\": \"\", \"count\": 5, \"code\": ");
  expect(profile, WICK_PROFILE_JSON, "\"places\": \"profile.py:3:");
  expect(profile, WICK_PROFILE_JSON, "\"flops\": 120.0, \"bytes\": 320.0}"); /* 5 of 3 * 2 * 2 * 2, of 4 * 16 */
  assert_int_equal(occurrences(profile, WICK_PROFILE_JSON, "\"op\": \"aten::mm\""), 2);
  assert_int_equal(occurrences(profile, WICK_PROFILE_TRACE, "\"name\": \"aten::mm\""), 8);
  expect(profile, WICK_PROFILE_BY_OPERATOR, "  aten::mm\n");
  assert_int_equal(occurrences(profile, WICK_PROFILE_BY_OPERATOR, "aten::mm"), 1); /* of both shapes */
  expect(profile, WICK_PROFILE_BY_MODULE, "  (the module itself)\n");
  expect(profile, WICK_PROFILE_BY_SOURCE, "  profile.py:3\n");
  expect(profile, WICK_PROFILE_TABLE, "aten::mm  float32[2,2], float32[2,2] -> float32[2,2]  profile.py:3\n");
  wick_profile_release(profile);
  wick_value_release(tall), wick_value_release(small), wick_value_release(two), wick_value_release(three);
}

/* An operator with a body: what the body runs has rows of its own. */
static void test_what_runs_inside(void **state) {
  (void)state;
  wick_profile *profile = wick_profile_new();
  wick_value *a = ones(1, 4, 0);
  assert_int_equal(call("parts", profile, (const wick_value *const[]){a}, 1), WICK_OK);
  assert_int_equal(occurrences(profile, WICK_PROFILE_TRACE, "\"name\": \"aten::mul\""), 1);
  assert_int_equal(occurrences(profile, WICK_PROFILE_TRACE, "\"name\": \"aten::outer\""), 1);
  wick_value_release(a);
  wick_profile_release(profile);
}

static void test_tasks(void **state) {
  (void)state;
  wick_profile *profile = wick_profile_new();
  wick_value *a = ones(2, 2, 2), *result;
  wick_run_options options = {.size = sizeof options, .profile = profile};
  wick_future *future;
  assert_int_equal(
      wick_run_async(module, "forked", (const wick_value *const[]){a}, 1, NULL, 0, &options, &future, NULL), WICK_OK);
  wick_profile_release(profile); /* the call keeps it */
  assert_int_equal(wick_future_wait(future, 0, &result, NULL), WICK_OK);
  wick_value_release(result);
  wick_future_release(future);

  profile = wick_profile_new();
  assert_int_equal(call("forked", profile, (const wick_value *const[]){a}, 1), WICK_OK);
  assert_int_equal(occurrences(profile, WICK_PROFILE_TRACE, "\"name\": \"aten::neg\""), 2);
  wick_value_release(a);
  wick_profile_release(profile);
}

static void test_errors(void **state) {
  (void)state;
  wick_profile *profile = wick_profile_new();
  wick_value *tall = ones(2, 3, 2);
  char *text;
  assert_int_not_equal(call("fails", profile, (const wick_value *const[]){tall}, 1), WICK_OK);
  expect(profile, WICK_PROFILE_JSON, "{\"calls\": 1, ");
  expect(profile, WICK_PROFILE_JSON, "\"rows\": []}"); /* what failed is not measured */
  assert_int_equal(wick_profile_print(profile, WICK_PROFILE_BY_SOURCE + 1, &text, NULL), WICK_INVALID_ARGUMENT);
  assert_null(text);
  assert_int_equal(wick_profile_print(NULL, WICK_PROFILE_TABLE, &text, NULL), WICK_INVALID_ARGUMENT);
  wick_profile_release(NULL);
  wick_value_release(tall);
  wick_profile_release(profile);
}

static int compile(void **state) {
  (void)state;
  return wick_compile(NULL, source, strlen(source), "profile.py", &module, NULL);
}
static int release(void **state) {
  (void)state;
  wick_module_release(module);
  return 0;
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_rows_by_shapes),
      cmocka_unit_test(test_what_runs_inside),
      cmocka_unit_test(test_tasks),
      cmocka_unit_test(test_errors),
  };
  return cmocka_run_group_tests(tests, compile, release);
}
