/* Messages of the C API that say what a caller can't see from where he stands: which file, and how deep. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "wick/wick.h"

static void check(wick_status status, wick_status expected, wick_error **error, const char *part) {
  const char *message = wick_error_message(*error);
  assert_int_equal(status, expected);
  if (!strstr(message, part)) fail_msg("\"%s\" is not in \"%s\"", part, message);
  wick_error_free(*error);
}

static void test_paths(void **state) {
  (void)state;
  wick_module *module;
  wick_value *value;
  wick_error *error;
  check(wick_load(NULL, "data/none.pt", NULL, &module, &error), WICK_IO, &error, "data/none.pt: cannot open");
  check(wick_load_value(NULL, "data/none.npz", NULL, &value, &error), WICK_IO, &error, "data/none.npz: cannot open");
  check(wick_load(NULL, "data", NULL, &module, &error), WICK_IO, &error, "data: not a regular file");
  check(wick_load(NULL, "data/schemas.txt", NULL, &module, &error), WICK_DATA, &error, "data/schemas.txt: ");
  assert_null(module);
}

/* ---- a kernel that calls what calls it ---- */

static wick_module *module;
static int depth;

static wick_status call_again(void *user, wick_call *call, wick_error **error) {
  (void)user;
  wick_value *x = wick_call_argument(call, 0), *result = NULL;
  const wick_value *const arguments[] = {x};
  depth++;
  wick_status status = wick_run(module, "again", arguments, 1, NULL, 0, NULL, &result, error);
  if (!status) wick_call_set_result(call, 0, result);
  wick_value_release(result);
  wick_value_release(x);
  return status;
}

static void test_endless_calls_from_a_kernel(void **state) {
  (void)state;
  static const char text[] = "def again(x):\n    return torch.ops.messages.again(x)\n";
  wick_error *error;
  wick_value *x;
  assert_int_equal(wick_op_register("messages::again(Tensor x) -> Tensor", call_again, NULL, NULL), WICK_OK);
  assert_int_equal(wick_compile(NULL, text, strlen(text), "again.py", &module, NULL), WICK_OK);
  assert_int_equal(wick_tensor_new(WICK_FLOAT32, 1, (int64_t[]){1}, &x, NULL), WICK_OK);
  const wick_value *const arguments[] = {x};
  wick_status status = wick_run(module, "again", arguments, 1, NULL, 0, NULL, NULL, &error);
  assert_int_not_equal(status, WICK_OK);
  const char *message = wick_error_message(error);
  if (!strstr(message, "nested too deeply") && !strstr(message, "from within itself")) fail_msg("\"%s\"", message);
  assert_true(depth > 10);
  wick_error_free(error);
  wick_value_release(x);
  wick_module_release(module);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_paths), cmocka_unit_test(test_endless_calls_from_a_kernel)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
