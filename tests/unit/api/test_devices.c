/* Devices that are not there: what stands for them, and what is said where nothing does. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "wick/wick.h"

static void expect_text(wick_error *error, const char *text) {
  if (!error || !strstr(wick_error_message(error), text))
    fail_msg("'%s' expected in '%s'", text, error ? wick_error_message(error) : "(no error)");
  wick_error_free(error);
}

static wick_module *load(const char *device_map, wick_error **error) {
  wick_load_options options = {.size = sizeof options, .device_map = device_map};
  wick_module *module;
  wick_load(NULL, "archive/gpu.pt", &options, &module, error);
  return module;
}

static void test_archive(void **state) {
  (void)state;
  wick_error *error = NULL;
  char *replaced;
  assert_null(load(NULL, &error));
  expect_text(error, "tensors on device 'cuda:0' (a device map such as \"*=cpu\" puts them elsewhere)");
  assert_null(load("xpu=cpu", &error));
  expect_text(error, "tensors on device 'cuda:0'");
  assert_null(load("cuda", &error));
  expect_text(error, "device map: 'cuda' is not FROM=TO");
  assert_null(load("*=cuda:1", &error));
  expect_text(error, "wick has no device 'cuda:1' to map '*' to");
  static const char *const maps[] = {"*=cpu", "cuda=cpu", " cuda:0 = cpu , xpu=cpu"};
  for (size_t i = 0; i < sizeof maps / sizeof *maps; i++) {
    wick_module *module = load(maps[i], &error);
    assert_non_null(module);
    assert_int_equal(wick_module_replaced_devices(module, &replaced, NULL), WICK_OK);
    assert_string_equal(replaced, "cuda");
    wick_text_free(replaced);
    wick_module_release(module);
  }
}

static const char program[] =
    "def name(d: str) -> str:\n    return str(torch.device(d))\n"
    "def zeros(d: str):\n    return torch.zeros([2], device=d).sum() + torch.ones([1]).to(d)\n"
    "def cuda(d: str):\n    return torch.ones([2]).cuda()\n"
    "def constant(d: str):\n    return torch.tensor([1], device=\"mps\")\n";

static wick_module *compiled(const char *device_map) {
  wick_compile_options options = {.size = sizeof options, .device_map = device_map};
  wick_module *module;
  assert_int_equal(wick_compile_with(NULL, program, strlen(program), &options, &module, NULL), WICK_OK);
  return module;
}
static wick_value *run(wick_module *module, const char *function, const char *device, wick_error **error) {
  wick_value *argument = wick_value_string(device, strlen(device)), *result;
  wick_run(module, function, (const wick_value *[]){argument}, 1, NULL, 0, NULL, &result, error);
  wick_value_release(argument);
  return result;
}

static void test_without_map(void **state) {
  (void)state;
  wick_module *module = compiled(NULL);
  wick_error *error = NULL;
  wick_value *name = run(module, "name", "cuda:3", &error);
  assert_string_equal(wick_value_to_string(name, NULL), "cuda:3");
  wick_value_release(name);
  assert_null(run(module, "zeros", "xpu:1", &error));
  expect_text(error, "there is no device 'xpu:1' here: wick computes on cpu (a device map such as \"*=cpu\"");
  assert_null(run(module, "cuda", "", &error));
  expect_text(error, "there is no device 'cuda' here");
  assert_null(run(module, "constant", "", &error));
  expect_text(error, "there is no device 'mps' here");
  wick_module_release(module);
}

static void test_with_map(void **state) {
  (void)state;
  wick_module *module = compiled("*=cpu");
  wick_error *error = NULL;
  static const char *const functions[] = {"zeros", "cuda", "constant"};
  for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
    wick_value *value = run(module, functions[i], "hpu", &error);
    if (!value) fail_msg("%s: %s", functions[i], wick_error_message(error));
    wick_value_release(value);
  }
  /* What is there stays what it is. */
  static const char *const names[][2] = {{"cuda:3", "cpu"}, {"cpu", "cpu"}, {"meta", "meta"}};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    wick_value *name = run(module, "name", names[i][0], &error);
    assert_string_equal(wick_value_to_string(name, NULL), names[i][1]);
    wick_value_release(name);
  }
  char *replaced;
  assert_int_equal(wick_module_replaced_devices(module, &replaced, NULL), WICK_OK);
  assert_string_equal(replaced, "cuda, mps, hpu");
  wick_text_free(replaced);
  wick_compile_options options = {.size = sizeof options, .device_map = "*=cpu"};
  assert_int_equal(wick_module_define(module, NULL, "def g(x):\n    return x\n", 24, &options, NULL),
                   WICK_INVALID_ARGUMENT);
  wick_module_release(module);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_archive),
      cmocka_unit_test(test_without_map),
      cmocka_unit_test(test_with_map),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
