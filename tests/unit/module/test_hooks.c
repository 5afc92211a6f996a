/* Hooks of modules: what they answer, how they are listed, and that saved modules keep them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>

#include <cmocka.h>

#include "wick/wick.h"
#include "../../small_archive.h"

static wick_module *load(const char *code, char message[1000]) {
  Bytes file = archive_of(code, plain_object, sizeof plain_object - 1, no_constants, sizeof no_constants - 1);
  wick_module *module;
  wick_error *error;
  message[0] = 0;
  if (wick_load_memory(NULL, file.data, file.length, NULL, &module, &error)) {
    snprintf(message, 1000, "%s", wick_error_message(error));
    wick_error_free(error);
  }
  free(file.data);
  return module;
}
static wick_module *loaded(const char *code) {
  char message[1000];
  wick_module *module = load(code, message);
  if (!module) fail_msg("%s", message);
  return module;
}

/* m(number); -1 when it failed, with the message. */
static int64_t call(wick_module *module, int64_t number, char message[1000]) {
  wick_value *argument = wick_value_int(number), *result;
  wick_error *error;
  int64_t answer = -1;
  message[0] = 0;
  if (wick_module_call(module, (const wick_value *[]){argument}, 1, NULL, 0, NULL, &result, &error)) {
    snprintf(message, 1000, "%s", wick_error_message(error));
    wick_error_free(error);
  } else {
    answer = wick_value_to_int(result);
  }
  wick_value_release(result);
  wick_value_release(argument);
  return answer;
}

#define HEAD "class M(Module):\n  __parameters__ = []\n  __buffers__ = []\n"
#define FORWARD "  def forward(self: __torch__.M, n: int) -> int:\n    return torch.mul(n, 100)\n"
static const char several[] = HEAD
    "  __forward_pre_hooks__ = [\"nothing\", \"one\", \"several\", \"one\", ]\n"
    "  __forward_hooks__ = [\"post\", \"silent\", ]\n" FORWARD
    "  def one(self: __torch__.M, input: Tuple[int]) -> int:\n    return torch.add((input)[0], 1)\n"
    "  def several(self: __torch__.M, input: Tuple[int]) -> Tuple[int]:\n    return (torch.mul((input)[0], 2),)\n"
    "  def nothing(self: __torch__.M, input: Tuple[int]) -> NoneType:\n    return None\n"
    "  def post(self: __torch__.M, input: Tuple[int], output: int) -> int:\n"
    "    return torch.add(output, (input)[0])\n"
    "  def silent(self: __torch__.M, input: Tuple[int], output: int) -> NoneType:\n    return None\n";

static void check_several(wick_module *module) {
  char message[1000];
  assert_int_equal(call(module, 3, message), 909); /* ((3 + 1) * 2 + 1) * 101 */
  assert_int_equal(wick_module_hook_count(module, NULL, WICK_FORWARD_PRE_HOOK), 4);
  assert_int_equal(wick_module_hook_count(module, "", WICK_FORWARD_HOOK), 2);
  assert_int_equal(wick_module_hook_count(module, "part", WICK_FORWARD_HOOK), 0);
  assert_int_equal(wick_module_hook_count(module, NULL, 2), 0);
  assert_int_equal(wick_module_method_count(module), 1); /* hooks are no methods */
  char *text;
  assert_int_equal(wick_module_hook_schema(module, NULL, WICK_FORWARD_PRE_HOOK, 1, &text, NULL), WICK_OK);
  assert_string_equal(text, "__torch__.M.one(__torch__.M self, (int) input) -> int");
  wick_text_free(text);
  assert_int_equal(wick_module_hook_schema(module, NULL, WICK_FORWARD_HOOK, 2, &text, NULL), WICK_NOT_FOUND);
  assert_null(text);
}

static void test_order_and_answers(void **state) {
  (void)state;
  wick_module *module = loaded(several), *again;
  char path[64];
  check_several(module);
  snprintf(path, sizeof path, "/tmp/wick_hooks_%d.pt", (int)getpid());
  assert_int_equal(wick_module_save(module, NULL, path, NULL, NULL), WICK_OK);
  assert_int_equal(wick_load(NULL, path, NULL, &again, NULL), WICK_OK);
  unlink(path);
  check_several(again);
  wick_module_release(again);
  wick_module_release(module);
}

static void test_failing_hook(void **state) {
  (void)state;
  char message[1000];
  wick_module *module = loaded(HEAD "  __forward_hooks__ = [\"post\", ]\n" FORWARD
                                    "  def post(self: __torch__.M, input: Tuple[int], output: int) -> int:\n"
                                    "    ops.prim.RaiseException(\"enough\")\n    return output\n");
  assert_int_equal(call(module, 3, message), -1);
  assert_non_null(strstr(message, "enough"));
  wick_module_release(module);
}

static void test_answers_that_do_not_fit(void **state) {
  (void)state;
  char message[1000];
  wick_module *module = loaded(HEAD "  __forward_pre_hooks__ = [\"pre\", ]\n" FORWARD
                                    "  def pre(self: __torch__.M, input: Tuple[int]) -> Tuple[int, int]:\n"
                                    "    return ((input)[0], 1)\n");
  assert_int_equal(call(module, 3, message), -1);
  assert_non_null(strstr(message, "forward"));
  wick_module_release(module);
}

static void test_lists(void **state) {
  (void)state;
  char message[1000];
  assert_null(load(HEAD "  __forward_hooks__ = [\"post\", ]\n" FORWARD, message));
  assert_non_null(strstr(message, "The class has no hook 'post'"));
  assert_null(load(HEAD "  __forward_hooks__ = [3, ]\n" FORWARD, message));
  assert_non_null(strstr(message, "The name of a hook must be a string"));
  /* Not called by name. */
  wick_module *module = loaded(several);
  wick_value *argument = wick_value_int(1);
  assert_int_equal(wick_run(module, "one", (const wick_value *[]){argument}, 1, NULL, 0, NULL, NULL, NULL),
                   WICK_NOT_FOUND);
  wick_value_release(argument);
  wick_module_release(module);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_order_and_answers),
      cmocka_unit_test(test_failing_hook),
      cmocka_unit_test(test_answers_that_do_not_fit),
      cmocka_unit_test(test_lists),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
