/* Convolutions and normalizations with what follows them, in plans against the program as written: on dtypes, sizes,
 * layouts, values that are written between, and errors. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "wick/wick.h"

static const char program[] =
    "def end_relu(x, w, b, y, v):\n"
    "    c = torch.conv2d(x, w, b, [1, 1], [1, 1], [1, 1], 1)\n"
    "    return torch.relu(c)\n"
    "def end_relu6(x, w, b, y, v):\n"
    "    c = torch.conv2d(x, w, b, [1, 1], [1, 1], [1, 1], 1)\n"
    "    return torch.nn.functional.relu6(c)\n"
    "def end_hardswish(x, w, b, y, v):\n"
    "    c = torch.conv2d(x, w, b, [1, 1], [1, 1], [1, 1], 1)\n"
    "    return torch.nn.functional.hardswish(c)\n"
    "def end_hardsigmoid(x, w, b, y, v):\n"
    "    c = torch.conv2d(x, w, b, [1, 1], [1, 1], [1, 1], 1)\n"
    "    return torch.nn.functional.hardsigmoid(c)\n"
    "def end_sigmoid(x, w, b, y, v):\n"
    "    c = torch.conv2d(x, w, b, [1, 1], [1, 1], [1, 1], 1)\n"
    "    return torch.sigmoid(c)\n"
    "def end_silu(x, w, b, y, v):\n"
    "    c = torch.conv2d(x, w, b, [1, 1], [1, 1], [1, 1], 1)\n"
    "    return torch.nn.functional.silu(c)\n"
    "def end_gelu(x, w, b, y, v):\n"
    "    c = torch.conv2d(x, w, b, [1, 1], [1, 1], [1, 1], 1)\n"
    "    return torch.nn.functional.gelu(c)\n"
    "def end_gelu_tanh(x, w, b, y, v):\n"
    "    c = torch.conv2d(x, w, b, [1, 1], [1, 1], [1, 1], 1)\n"
    "    return torch.nn.functional.gelu(c, approximate='tanh')\n"
    "def end_of_lines(x, w, b, y, v):\n"
    "    lines = x[:, :, 0].transpose(1, 2).contiguous().transpose(1, 2)\n"
    "    return torch.tanh(torch.conv1d(lines, w[:, :, 0].contiguous(), b))\n"
    "def norm_sum_relu(x, w, b, y, v):\n"
    "    c = torch.conv2d(x, w, None, [1, 1], [1, 1], [1, 1], 1)\n"
    "    n = torch.batch_norm(c, v, b, b, v, False, 0.1, 1e-5, True)\n"
    "    return torch.relu(n + y)\n"
    "def sum_in_place(x, w, b, y, v):\n"
    "    c = torch.conv2d(x, w, b, [1, 1], [1, 1], [1, 1], 1)\n"
    "    c.add_(y)\n"
    "    c.relu_()\n"
    "    return c\n"
    "def sum_second(x, w, b, y, v):\n"
    "    c = torch.conv2d(x, w, b, [1, 1], [1, 1], [1, 1], 1)\n"
    "    return torch.nn.functional.silu(y + c)\n"
    "def sum_is_written(x, w, b, y, v):\n"
    "    z = y * 1\n"
    "    c = torch.conv2d(x, w, b, [1, 1], [1, 1], [1, 1], 1)\n"
    "    z.mul_(2)\n"
    "    return torch.relu(c + z)\n"
    "def input_is_written(x, w, b, y, v):\n"
    "    z = x * 1\n"
    "    c = torch.conv2d(z, w, b, [1, 1], [1, 1], [1, 1], 1)\n"
    "    z.mul_(2)\n"
    "    return torch.relu(c + y) + z.sum()\n"
    "def used_twice(x, w, b, y, v):\n"
    "    c = torch.conv2d(x, w, b, [1, 1], [1, 1], [1, 1], 1)\n"
    "    return torch.relu(c) + c\n"
    "def sum_written_behind(x, w, b, y, v):\n"
    "    c = torch.conv2d(x, w, b, [1, 1], [1, 1], [1, 1], 1)\n"
    "    r = torch.relu(c + y)\n"
    "    r.mul_(2)\n"
    "    return r - y\n"
    "def joined(x, w, b, y, v):\n"
    "    c = torch.relu(torch.conv2d(x, w, b, [1, 1], [1, 1], [1, 1], 1))\n"
    "    d = torch.sigmoid(torch.conv2d(y, w, b, [1, 1], [1, 1], [1, 1], 1))\n"
    "    return torch.cat([c, d], 1)\n"
    "def joined_and_written(x, w, b, y, v):\n"
    "    c = torch.relu(torch.conv2d(x, w, b, [1, 1], [1, 1], [1, 1], 1))\n"
    "    d = torch.relu(torch.conv2d(y, w, None, [1, 1], [1, 1], [1, 1], 1))\n"
    "    j = torch.cat([c, d], 1)\n"
    "    j.mul_(2)\n"
    "    return j[:, 3:20]\n"
    "def gate_first(x, w, b, y, v):\n"
    "    k = w[:, :, :1, :1].contiguous()\n"
    "    g = torch.sigmoid(torch.conv2d(v.expand(1, 16).reshape(1, 16, 1, 1), k, b))\n"
    "    return torch.relu(torch.conv2d(g * x, k, b) + y)\n"
    "def gate_second(x, w, b, y, v):\n"
    "    k = w[:, :, :1, :1].contiguous()\n"
    "    g = torch.nn.functional.hardsigmoid(torch.conv2d(v.expand(1, 16).reshape(1, 16, 1, 1), k, b))\n"
    "    return torch.conv2d(x * g, k, b)\n"
    "def gate_of_three(x, w, b, y, v):\n"
    "    k = w[:, :, :1, :1].contiguous()\n"
    "    g = torch.sigmoid(torch.conv2d(v.expand(1, 16).reshape(1, 16, 1, 1), k, b))\n"
    "    return torch.conv2d(x * g, w, b, [1, 1], [1, 1], [1, 1], 1)\n"
    "def gate_of_places(x, w, b, y, v):\n"
    "    k = w[:, :, :1, :1].contiguous()\n"
    "    g = torch.sigmoid(torch.conv2d(y, k[:1], None))\n"
    "    return torch.conv2d(x * g, k, b)\n"
    "def gate_of_elements(x, w, b, y, v):\n"
    "    k = w[:, :, :1, :1].contiguous()\n"
    "    g = torch.sigmoid(torch.conv2d(y, k, b))\n"
    "    return torch.conv2d(x * g, k, b)\n"
    "def sum_alone(x, w, b, y, v):\n"
    "    return torch.conv2d(x, w, b, [1, 1], [1, 1], [1, 1], 1) + y\n"
    "def gate_is_written(x, w, b, y, v):\n"
    "    k = w[:, :, :1, :1].contiguous()\n"
    "    g = torch.sigmoid(torch.conv2d(v.expand(1, 16).reshape(1, 16, 1, 1), k, b))\n"
    "    z = g * x\n"
    "    g.mul_(2)\n"
    "    return torch.conv2d(z, k, b) + g\n"
    "def gate_used_twice(x, w, b, y, v):\n"
    "    k = w[:, :, :1, :1].contiguous()\n"
    "    g = torch.sigmoid(torch.conv2d(v.expand(1, 16).reshape(1, 16, 1, 1), k, b))\n"
    "    z = g * x\n"
    "    return torch.conv2d(z, k, b) + z\n"
    "def norm_relu(x, w, b, y, v):\n"
    "    return torch.relu(torch.batch_norm(y, v, b, b, v, False, 0.1, 1e-5, True))\n"
    "def norm_relu_bare(x, w, b, y, v):\n"
    "    return torch.relu(torch.batch_norm(y, None, None, b, v, False, 0.1, 1e-5, True))\n"
    "def norm_relu_over_dying(x, w, b, y, v):\n"
    "    return torch.relu(torch.batch_norm(torch.cat([y, y], 2), v, b, b, v, False, 0.1, 1e-5, True))\n"
    "def norm_relu_over_living(x, w, b, y, v):\n"
    "    z = torch.cat([y, y], 2)\n"
    "    r = torch.relu(torch.batch_norm(z, v, b, b, v, False, 0.1, 1e-5, True))\n"
    "    return torch.cat([r, z], 0)\n"
    "def norm_relu_over_shown(x, w, b, y, v):\n"
    "    z = torch.cat([y, y], 2)\n"
    "    shown = z.select(0, 0)\n"
    "    r = torch.relu(torch.batch_norm(z, v, b, b, v, False, 0.1, 1e-5, True))\n"
    "    return torch.cat([r.select(0, 0), shown], 0)\n"
    "def norm_relu_written(x, w, b, y, v):\n"
    "    n = torch.batch_norm(y, v, b, b, v, False, 0.1, 1e-5, True)\n"
    "    n.mul_(2)\n"
    "    return torch.relu(n)\n"
    "def plain(n: int):\n"
    "    torch.manual_seed(n)\n"
    "    return [torch.randn([1, 16, 9, 11]), torch.randn([16, 16, 3, 3]), torch.randn([16]),\n"
    "            torch.randn([1, 16, 9, 11]), torch.rand([16]) + 0.5]\n"
    "def arguments(n: int):\n"
    "    a = plain(n)\n"
    "    if n == 1:\n"
    "        return [t.double() for t in a]\n"
    "    if n == 2:\n"
    "        a[0] = a[0].contiguous(memory_format=torch.channels_last)\n"
    "    if n == 3:\n"
    "        a[3] = torch.randn([3, 16, 9, 11])\n"
    "    if n == 4:\n"
    "        a[3] = torch.randn([16, 1, 1])\n"
    "    if n == 5:\n"
    "        a[3] = a[3].double()\n"
    "    if n == 6:\n"
    "        a[3] = a[3].transpose(2, 3).contiguous().transpose(2, 3)\n"
    "    if n == 7:\n"
    "        a[0][0, 3, 4, 5] = float('inf')\n"
    "    if n == 8:\n"
    "        a[0] = a[0][0]\n"
    "        a[3] = a[3][0]\n"
    "    if n == 9:\n"
    "        a[3] = torch.randn([1, 16, 5, 5])\n"
    "    if n == 10:\n"
    "        a[1] = a[1].to(torch.float64)\n"
    "    if n == 11:\n"
    "        a[0] = torch.randn([1, 16, 9, 22])[:, :, :, ::2]\n"
    "    if n == 12:\n"
    "        a[0] = a[0].transpose(2, 3).contiguous().transpose(2, 3)\n"
    "    return a\n"
    "def same(a, b):\n"
    "    return a.dtype == b.dtype and a.size() == b.size() and a.stride() == b.stride() and torch.allclose(\n"
    "        a, b, 1e-5, 1e-5, True)\n";
enum { ARGUMENTS = 13, COUNT = 5 };
static const char *const names[] = {"end_relu",
                                    "end_relu6",
                                    "end_hardswish",
                                    "end_hardsigmoid",
                                    "end_sigmoid",
                                    "end_silu",
                                    "end_gelu",
                                    "end_gelu_tanh",
                                    "end_of_lines",
                                    "norm_sum_relu",
                                    "sum_in_place",
                                    "sum_second",
                                    "sum_is_written",
                                    "input_is_written",
                                    "used_twice",
                                    "sum_written_behind",
                                    "joined",
                                    "joined_and_written",
                                    "gate_first",
                                    "gate_second",
                                    "gate_of_three",
                                    "gate_of_places",
                                    "gate_of_elements",
                                    "sum_alone",
                                    "gate_is_written",
                                    "gate_used_twice",
                                    "norm_relu",
                                    "norm_relu_bare",
                                    "norm_relu_over_dying",
                                    "norm_relu_over_living",
                                    "norm_relu_over_shown",
                                    "norm_relu_written"};

static wick_module *module;

static wick_status call(const char *name, uint32_t executor, const wick_value *const *values, size_t count,
                        wick_value **out, wick_error **error) {
  wick_run_options options = {.size = sizeof options, .executor = executor, .threads = 2};
  return wick_run(module, name, values, count, NULL, 0, &options, out, error);
}

static void compare(const char *name, int which, const wick_value *expected, const wick_value *got) {
  wick_value *same;
  assert_int_equal(call("same", WICK_EXECUTOR_SIMPLE, (const wick_value *const[]){expected, got}, 2, &same, NULL),
                   WICK_OK);
  if (!wick_value_to_bool(same)) fail_msg("%s: another result in a plan of arguments %d", name, which);
  wick_value_release(same);
}

/* The plan is made for the first arguments and meets the others, too. */
static void check(const char *name, uint32_t executor, int first, int which) {
  for (int i = 0; i < 5; i++) {
    int n = i < 3 ? first : which;
    wick_value *number = wick_value_int(n), *list, *values[COUNT], *expected = NULL, *got = NULL;
    wick_error *error = NULL, *planned = NULL;
    assert_int_equal(call("arguments", WICK_EXECUTOR_SIMPLE, (const wick_value *const[]){number}, 1, &list, NULL),
                     WICK_OK);
    for (size_t k = 0; k < COUNT; k++) values[k] = wick_value_item(list, k);
    const wick_value *const *arguments = (const wick_value *const *)values;
    wick_status status = call(name, WICK_EXECUTOR_SIMPLE, arguments, COUNT, &expected, &error);
    wick_status other = call(name, executor, arguments, COUNT, &got, &planned);
    if (other != status) print_message("%s %d %d: %s\n", name, n, i, wick_error_message(error ? error : planned));
    assert_int_equal(other, status);
    if (status)
      assert_string_equal(wick_error_message(error), wick_error_message(planned));
    else
      compare(name, n, expected, got);
    wick_wait_for_plans();
    wick_error_free(error), wick_error_free(planned);
    for (size_t k = 0; k < COUNT; k++) wick_value_release(values[k]);
    wick_value_release(number), wick_value_release(list), wick_value_release(expected), wick_value_release(got);
  }
}

static void test_chains(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    for (int which = 0; which < ARGUMENTS; which++)
      check(names[i], WICK_EXECUTOR_PROFILING, which % 2 ? 0 : which, which);
}

/* Images and lines whose elements lie otherwise are copied, as convolutions by themselves do, and what is multiplied or
 * added in another way is so by its operator; nothing is declined. */
static void test_images_with_gaps(void **state) {
  (void)state;
  static const struct {
    const char *name;
    int which;
  } cases[] = {{"end_relu", 11},    {"end_relu", 12},        {"norm_sum_relu", 11},
               {"end_of_lines", 0}, {"gate_of_elements", 0}, {"sum_alone", 6}};
  wick_stats before = {.size = sizeof before}, after = {.size = sizeof after};
  wick_stats_get(&before);
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    check(cases[i].name, WICK_EXECUTOR_PROFILING, cases[i].which, cases[i].which);
    check(cases[i].name, WICK_EXECUTOR_SPECIALIZING, cases[i].which, cases[i].which); /* whose plans know no sizes */
  }
  wick_stats_get(&after);
  assert_int_equal(after.declines, before.declines);
}

static int compile(void **state) {
  (void)state;
  wick_error *error = NULL;
  if (!wick_compile(NULL, program, strlen(program), "chains.py", &module, &error)) return 0;
  print_error("%s\n", wick_error_message(error));
  wick_error_free(error);
  return 1;
}
static int release(void **state) {
  (void)state;
  wick_module_release(module);
  return 0;
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_images_with_gaps), cmocka_unit_test(test_chains)};
  return cmocka_run_group_tests(tests, compile, release);
}
