/* Freezing: what becomes a constant, what stays, what is refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "wick/wick.h"

static wick_module *load(void) {
  wick_module *module;
  wick_error *error;
  if (wick_load(NULL, "program/linear.pt", NULL, &module, &error)) fail_msg("%s", wick_error_message(error));
  return module;
}

static size_t count_attributes(const wick_module *module) {
  wick_value *state;
  assert_int_equal(wick_module_state_dict(module, &state, NULL), WICK_OK);
  size_t count = wick_value_length(state);
  wick_value_release(state);
  return count;
}

static void test_constants(void **state) {
  (void)state;
  wick_module *module = load(), *frozen;
  assert_int_equal(wick_module_train(module, 0, NULL), WICK_OK);
  assert_int_equal(wick_module_freeze(module, NULL, NULL, 0, &frozen, NULL), WICK_OK);
  assert_true(count_attributes(module) > 0);
  assert_int_equal(count_attributes(frozen), 0);
  wick_graph *graph;
  assert_int_equal(wick_graph_of_method(frozen, "forward", 0, &graph, NULL), WICK_OK);
  for (wick_node *node = wick_block_first(wick_graph_block(graph)); node; node = wick_node_next(node))
    assert_string_not_equal(wick_node_kind(node), "prim::GetAttr");
  wick_graph_release(graph);
  assert_string_equal(wick_module_class_name(frozen), wick_module_class_name(module));
  wick_module_release(module); /* the frozen one keeps what it needs */
  assert_int_equal(wick_module_method_count(frozen), 1);
  wick_module_release(frozen);
}

/* Normalization with constant weights goes into the convolutions in front of it. */
static void test_folds(void **state) {
  (void)state;
  wick_module *module, *frozen;
  wick_graph *graph;
  size_t convolutions = 0;
  assert_int_equal(wick_load(NULL, "model/digits_cnn.pt", NULL, &module, NULL), WICK_OK);
  assert_int_equal(wick_module_train(module, 0, NULL), WICK_OK);
  assert_int_equal(wick_module_freeze(module, NULL, NULL, 0, &frozen, NULL), WICK_OK);
  assert_int_equal(wick_graph_of_method(frozen, "forward", 0, &graph, NULL), WICK_OK);
  for (wick_node *node = wick_block_first(wick_graph_block(graph)); node; node = wick_node_next(node)) {
    assert_string_not_equal(wick_node_kind(node), "aten::batch_norm");
    convolutions += strcmp(wick_node_kind(node), "aten::conv2d") == 0;
  }
  assert_true(convolutions > 0);
  wick_graph_release(graph);
  wick_module_release(frozen);
  wick_module_release(module);
}

static void test_preserved(void **state) {
  (void)state;
  wick_module *module = load(), *frozen;
  const char *const keep[] = {"training"}, *const unknown[] = {"no_such_thing"};
  assert_int_equal(wick_module_train(module, 0, NULL), WICK_OK);
  assert_int_equal(wick_module_freeze(module, NULL, unknown, 1, &frozen, NULL), WICK_NOT_FOUND);
  assert_null(frozen);
  assert_int_equal(wick_module_freeze(module, NULL, keep, 1, &frozen, NULL), WICK_OK);
  wick_value *object = wick_module_object(frozen), *training = wick_value_get_text(object, "training");
  assert_non_null(training);
  wick_value_release(training);
  wick_value_release(object);
  wick_module_release(frozen);
  wick_module_release(module);
}

static void test_training(void **state) {
  (void)state;
  wick_module *module = load(), *frozen;
  assert_int_equal(wick_module_train(module, 1, NULL), WICK_OK);
  assert_int_equal(wick_module_freeze(module, NULL, NULL, 0, &frozen, NULL), WICK_INVALID_ARGUMENT);
  wick_module_release(module);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_constants), cmocka_unit_test(test_folds),
                                     cmocka_unit_test(test_preserved), cmocka_unit_test(test_training)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
