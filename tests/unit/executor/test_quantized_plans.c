/* A plan for float tensors is not taken for quantized ones, nor one for a tensor with one scale for a tensor with a
 * scale for each channel: calls that bring them in turn give what the program as written gives. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "wick/wick.h"

static const char program[] =
    "def make(kind: int):\n"
    "    torch.manual_seed(kind)\n"
    "    x = torch.randn([4, 6])\n"
    "    if kind == 1:\n"
    "        return torch.quantize_per_tensor(x, 0.05, 3, torch.qint8)\n"
    "    if kind == 2:\n"
    "        return torch.quantize_per_channel(x, torch.rand([4]) + 0.01, torch.zeros([4]), 0, torch.qint8)\n"
    "    if kind == 3:\n"
    "        return torch.quantize_per_tensor(x, 0.05, 128, torch.quint8)\n"
    "    return x\n"
    "def views(x):\n"
    "    y = x.view([6, 4]).reshape([3, 8])\n"
    "    return y.dequantize() * 2 + 1\n"
    "def numbers(x):\n"
    "    y = x[1:3]\n"
    "    if y.is_quantized:\n"
    "        return y.int_repr().to(torch.float) + y.dequantize().sum() * 0.5\n"
    "    return torch.sigmoid(y) * y\n"
    "def dtypes(x):\n"
    "    if x.dtype == torch.qint8:\n"
    "        return x.dequantize()\n"
    "    return torch.tensor([x.dtype])\n"
    "def same(a, b):\n"
    "    return a.dtype == b.dtype and a.size() == b.size() and torch.equal(a, b)\n";

enum { KINDS = 4, ROUNDS = 6 };

static wick_module *module;

/* What it gives in the executor; the text of the error in *error where it fails. */
static wick_value *call(const char *name, uint32_t executor, const wick_value *const *values, size_t count,
                        wick_error **error) {
  wick_run_options options = {.size = sizeof options, .executor = executor};
  wick_value *out = NULL;
  wick_run(module, name, values, count, NULL, 0, &options, &out, error);
  return out;
}

static void compare(const char *name, uint32_t executor, int kind) {
  wick_error *expected_error = NULL, *error = NULL;
  wick_value *number = wick_value_int(kind);
  wick_value *x = call("make", WICK_EXECUTOR_SIMPLE, (const wick_value *const *)&number, 1, NULL);
  assert_non_null(x);
  wick_value *expected = call(name, WICK_EXECUTOR_SIMPLE, (const wick_value *const *)&x, 1, &expected_error);
  wick_value *got = call(name, executor, (const wick_value *const *)&x, 1, &error);
  if (expected_error) {
    assert_non_null(error);
    assert_string_equal(wick_error_message(error), wick_error_message(expected_error));
  } else {
    if (error) fail_msg("%s of kind %d: %s", name, kind, wick_error_message(error));
    wick_value *same = call("same", WICK_EXECUTOR_SIMPLE, (const wick_value *const[]){expected, got}, 2, NULL);
    if (!wick_value_to_bool(same)) fail_msg("%s of kind %d: another result in executor %u", name, kind, executor);
    wick_value_release(same);
  }
  wick_error_free(error), wick_error_free(expected_error);
  wick_value_release(number), wick_value_release(x), wick_value_release(expected), wick_value_release(got);
}

static void test_kinds_in_turn(void **state) {
  (void)state;
  static const uint32_t executors[] = {WICK_EXECUTOR_SPECIALIZING, WICK_EXECUTOR_PROFILING};
  static const char *const names[] = {"views", "numbers", "dtypes"};
  for (int e = 0; e < 2; e++)
    for (int n = 0; n < 3; n++)
      for (int first = 0; first < KINDS; first++) { /* the plans are made for this one */
        char text[sizeof program];
        memcpy(text, program, sizeof text);
        assert_int_equal(wick_compile(NULL, text, strlen(text), "kinds.py", &module, NULL), WICK_OK);
        for (int round = 0; round < ROUNDS; round++) {
          compare(names[n], executors[e], first);
          wick_wait_for_plans();
        }
        for (int round = 0; round < ROUNDS; round++)
          for (int kind = 0; kind < KINDS; kind++) {
            compare(names[n], executors[e], kind);
            wick_wait_for_plans();
          }
        wick_module_release(module);
      }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_kinds_in_turn)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
