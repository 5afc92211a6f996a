/* PYTORCH_JIT_OPT_LIMIT: a pass makes many rewrites, one of them wrong; by bisection over how many it may make the
 * wrong one is found. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "report/jit_log.h"
#include "wick/wick.h"

enum { REWRITES = 29, WRONG = 17 };

static int rewrites; /* of the last graph */

/* neg(x) becomes x * -1, and the WRONG-th of them x * -2. */
static wick_status negate_by_product(void *user, wick_graph *graph, wick_error **error) {
  (void)user;
  rewrites = 0;
  for (wick_node *node = wick_block_first(wick_graph_block(graph)), *next; node; node = next) {
    next = wick_node_next(node);
    if (strcmp(wick_node_kind(node), "aten::neg") != 0 || !wick_pass_may_rewrite("negate_by_product")) continue;
    wick_value *factor = wick_value_int(++rewrites == WRONG ? -2 : -1);
    wick_ir_value *constant;
    wick_node *product;
    wick_status status = wick_node_insert_constant(node, factor, &constant, error);
    wick_value_release(factor);
    wick_ir_value *inputs[] = {wick_node_input(node, 0), constant};
    if (!status) status = wick_node_new(wick_node_owner(node), node, "aten::mul", inputs, 2, 1, &product, error);
    if (!status) status = wick_ir_value_replace(wick_node_output(node, 0), wick_node_output(product, 0), error);
    if (!status) status = wick_node_destroy(node, error);
    if (status) return status;
  }
  return WICK_OK;
}

/* What the program gives when the pass may rewrite `limit` times; -1: as often as it likes. */
static double run(wick_runtime *runtime, int limit) {
  char text[4000] = "def f(x: Tensor):\n", setting[60];
  for (int i = 0; i < REWRITES; i++) sprintf(text + strlen(text), "    x = torch.cos(torch.neg(x) + %d.5)\n", i);
  strcat(text, "    return x\n");
  snprintf(setting, sizeof setting, "peephole=1000:negate_by_product.cpp=%d", limit);
  if (limit < 0)
    unsetenv("PYTORCH_JIT_OPT_LIMIT");
  else
    setenv("PYTORCH_JIT_OPT_LIMIT", setting, 1);
  jit_log_configure(NULL, NULL); /* reads the environment again; counts start anew */
  wick_module *module;
  wick_value *x, *result;
  double number;
  assert_int_equal(wick_compile(runtime, text, strlen(text), "limit.py", &module, NULL), WICK_OK);
  assert_int_equal(wick_tensor_new(WICK_FLOAT64, 0, NULL, &x, NULL), WICK_OK);
  wick_tensor_view view = {.size = sizeof view};
  assert_int_equal(wick_tensor_view_of(x, &view, NULL), WICK_OK);
  *(double *)view.data = 0.25;
  assert_int_equal(wick_run(module, "f", (const wick_value *const *)&x, 1, NULL, 0, NULL, &result, NULL), WICK_OK);
  assert_int_equal(wick_tensor_view_of(result, &view, NULL), WICK_OK);
  number = *(double *)view.data;
  wick_value_release(result);
  wick_value_release(x);
  wick_module_release(module);
  return number;
}

static wick_runtime *runtime_without_fusion(void) {
  wick_runtime *runtime;
  wick_executor_options options = {
      .size = sizeof options, .executor = WICK_EXECUTOR_SPECIALIZING, .profiled_runs = 1, .synchronous = 1};
  assert_int_equal(wick_runtime_new(NULL, &runtime, NULL), WICK_OK);
  assert_int_equal(wick_runtime_set_executor(runtime, &options, NULL), WICK_OK);
  assert_int_equal(wick_enable_backend(WICK_BACKEND_TILE, 0, NULL), WICK_OK);
  return runtime;
}

static void test_bisection(void **state) {
  (void)state;
  wick_runtime *runtime = runtime_without_fusion();
  double right = run(runtime, 0);
  assert_int_equal(wick_pass_register("negate_by_product", negate_by_product, NULL, NULL), WICK_OK);
  assert_true(run(runtime, 0) == right);
  assert_int_equal(rewrites, 0);
  assert_true(run(runtime, -1) != right);
  assert_int_equal(rewrites, REWRITES);
  int good = 0, bad = REWRITES; /* rewrites with which the result is right, and with which it is wrong */
  while (bad - good > 1) {
    int limit = (good + bad) / 2;
    bool is_right = run(runtime, limit) == right;
    assert_int_equal(rewrites, limit);
    *(is_right ? &good : &bad) = limit;
  }
  assert_int_equal(bad, WRONG);
  assert_int_equal(wick_pass_remove("negate_by_product", NULL), WICK_OK);
  wick_runtime_release(runtime);
}

/* wick_graph_rewrite asks for the pass that it is called by. */
static wick_status negate_by_graph(void *user, wick_graph *graph, wick_error **error) {
  size_t count;
  wick_status status = wick_graph_rewrite(graph, "graph(%x):\n  %y : Tensor = aten::neg(%x)\n  return (%y)",
                                          "graph(%x):\n  %y : Tensor = aten::sin(%x)\n  return (%y)", &count, error);
  *(size_t *)user += count;
  return status;
}

static void test_rewriting_by_graphs(void **state) {
  (void)state;
  wick_runtime *runtime = runtime_without_fusion();
  size_t count = 0;
  assert_int_equal(wick_pass_register("negate_by_product", negate_by_graph, &count, NULL), WICK_OK);
  double as_written = run(runtime, 0);
  assert_int_equal(count, 0);
  assert_true(run(runtime, 5) != as_written);
  assert_int_equal(count, 5);
  count = 0;
  (void)run(runtime, -1);
  assert_int_equal(count, REWRITES);
  assert_int_equal(wick_pass_remove("negate_by_product", NULL), WICK_OK);
  wick_runtime_release(runtime);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_bisection), cmocka_unit_test(test_rewriting_by_graphs)};
  int failed = cmocka_run_group_tests(tests, NULL, NULL);
  unsetenv("PYTORCH_JIT_OPT_LIMIT");
  return failed;
}
