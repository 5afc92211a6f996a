/* What tools see of programs on their way to what runs: steps, passes, observers, functions as text, aliases, kernels,
 * attributes as inputs, passes over whole programs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "wick/wick.h"

static void fine(wick_status status, wick_error *error) {
  if (status) print_error("%s\n", wick_error_message(error));
  assert_int_equal(status, WICK_OK);
}

static wick_module *compiled(wick_runtime *runtime, const char *text) {
  wick_module *module;
  wick_error *error = NULL;
  fine(wick_compile(runtime, text, strlen(text), "program.py", &module, &error), error);
  return module;
}

static void expect_text(char *text, const char *part) {
  if (!strstr(text, part)) print_error("no '%s' in:\n%s\n", part, text);
  assert_non_null(strstr(text, part));
  wick_text_free(text);
}

static void test_names(void **state) {
  (void)state;
  bool has_peephole = false;
  assert_string_equal(wick_compile_step(0), "emit");
  size_t steps = 0, passes = 0;
  while (wick_compile_step(steps)) steps++;
  assert_null(wick_compile_step(steps + 5));
  for (; wick_pass_name(passes); passes++) {
    assert_true(wick_pass_exists(wick_pass_name(passes)));
    has_peephole |= !strcmp(wick_pass_name(passes), "peephole");
  }
  assert_true(has_peephole && steps > 5);
  assert_null(wick_pass_name(passes + 5));
  assert_false(wick_pass_exists("nothing"));
}

typedef struct Seen {
  char names[8000];
  size_t count, graphs;
} Seen;
static void observe(void *user, const char *function, const char *step, const wick_graph *graph) {
  Seen *seen = user;
  char *text;
  fine(wick_graph_print(graph, &text, NULL), NULL);
  seen->graphs += !strncmp(text, "graph(", 6);
  seen->count++;
  wick_text_free(text);
  size_t used = strlen(seen->names);
  snprintf(seen->names + used, sizeof seen->names - used, "%s:%s ", function, step);
}

/* The body of atleast_1d is compiled on the way: it is wick's, and not shown. */
static void test_observer(void **state) {
  (void)state;
  wick_runtime *runtime;
  wick_error *error = NULL;
  Seen compiling = {0}, planning = {0};
  fine(wick_runtime_new(NULL, &runtime, &error), error);
  wick_executor_options now = {.size = sizeof now, .executor = WICK_EXECUTOR_SPECIALIZING, .synchronous = 1};
  fine(wick_runtime_set_executor(runtime, &now, &error), error);
  wick_runtime_observe(runtime, observe, &compiling);
  wick_module *module =
      compiled(runtime, "def f(x):\n    return torch.atleast_1d(x)\ndef g(x):\n    return f(x) + 1\n");
  assert_non_null(strstr(compiling.names, "f:emit "));
  assert_non_null(strstr(compiling.names, "g:emit "));
  assert_non_null(strstr(compiling.names, "g:canonicalize_outputs "));
  assert_null(strstr(compiling.names, "atleast_1d:"));
  assert_int_equal(compiling.graphs, compiling.count);
  wick_runtime_observe(runtime, observe, &planning);
  wick_function *function;
  wick_value *x, *result;
  fine(wick_function_of(module, "g", &function, &error), error);
  assert_string_equal(wick_function_qualified_name(function), "g");
  fine(wick_tensor_new(WICK_FLOAT32, 1, (int64_t[]){3}, &x, &error), error);
  fine(wick_function_run(function, (const wick_value *[]){x}, 1, NULL, 0, NULL, &result, &error), error);
  assert_non_null(strstr(planning.names, "g:inliner "));
  assert_null(strstr(planning.names, "atleast_1d:"));
  wick_value_release(result);
  char *text;
  fine(wick_function_print(function, WICK_PRINT_PLANS, &text, &error), error);
  expect_text(text, "# specialized");
  wick_runtime_observe(runtime, NULL, NULL);
  size_t count = planning.count;
  wick_module_release(compiled(runtime, "def h(x):\n    return x\n"));
  assert_int_equal(planning.count, count);
  wick_value_release(x);
  wick_function_release(function);
  wick_module_release(module);
  wick_runtime_release(runtime);
}

static void test_functions(void **state) {
  (void)state;
  static const struct {
    uint32_t what;
    const char *part;
  } rows[] = {{WICK_PRINT_GRAPH, "return (%"},  {WICK_PRINT_PLACES, "# program.py:2"},
              {WICK_PRINT_CODE, "torch.tanh("}, {WICK_PRINT_BYTECODE, "RET"},
              {WICK_PRINT_PLANS, ""}, /* nobody called it */
              {WICK_PRINT_KERNELS, ""}};
  wick_module *module = compiled(NULL, "def f(x):\n    return torch.tanh(x) * torch.exp(x)\n");
  wick_function *function;
  wick_error *error = NULL;
  char *text;
  fine(wick_function_of(module, "f", &function, &error), error);
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    fine(wick_function_print(function, rows[i].what, &text, &error), error);
    assert_true(*rows[i].part || !*text);
    expect_text(text, rows[i].part);
  }
  assert_int_equal(wick_function_print(function, 99, &text, NULL), WICK_INVALID_ARGUMENT);
  wick_function_release(function);
  wick_graph *graph;
  wick_alias *alias;
  fine(wick_graph_of_method(module, "f", 1, &graph, &error), error);
  fine(wick_graph_run_pass(graph, "graph_fuser", &error), error);
  fine(wick_graph_print_kernels(graph, &text, &error), error);
  expect_text(text, "tanh");
  fine(wick_graph_print_places(graph, &text, &error), error);
  expect_text(text, "# program.py:2");
  fine(wick_alias_new(graph, &alias, &error), error);
  fine(wick_alias_print(alias, 0, &text, &error), error);
  expect_text(text, "ALIAS DB");
  fine(wick_alias_print(alias, 1, &text, &error), error);
  expect_text(text, "digraph");
  wick_alias_release(alias);
  wick_graph_release(graph);
  wick_module_release(module);
}

static void test_texts(void **state) {
  (void)state;
  static const char text[] = "def f(x):\n    return x\n", code[] = "def f(self: __torch__.M) -> int:\n  return 1\n";
  wick_trees *trees;
  const wick_tree *tree;
  wick_error *error = NULL;
  char *printed;
  fine(wick_trees_new(text, strlen(text), "text.py", &trees, &error), error);
  fine(wick_trees_print_tokens(trees, &printed, &error), error);
  expect_text(printed, "TK_RETURN");
  wick_trees_release(trees);
  fine(wick_trees_new(code, strlen(code), "code.py", &trees, &error), error);
  fine(wick_trees_parse_code(trees, &tree, &error), error);
  fine(wick_tree_print(tree, &printed, &error), error);
  expect_text(printed, "(return");
  wick_trees_release(trees);
  fine(wick_trees_new(NULL, 0, NULL, &trees, &error), error);
  assert_int_equal(wick_trees_print_tokens(trees, &printed, NULL), WICK_INVALID_ARGUMENT);
  assert_int_equal(wick_trees_parse_code(trees, &tree, NULL), WICK_INVALID_ARGUMENT);
  wick_trees_release(trees);
  fine(wick_trees_new("x = '", 5, "broken.py", &trees, &error), error);
  assert_int_equal(wick_trees_print_tokens(trees, &printed, NULL), WICK_SYNTAX);
  wick_trees_release(trees);
}

static void test_lower(void **state) {
  (void)state;
  wick_module *module, *functions = compiled(NULL, "def f(x):\n    return x\n");
  wick_graph *graph;
  wick_value *attributes, *weight;
  wick_error *error = NULL;
  fine(wick_tensor_new(WICK_FLOAT32, 1, (int64_t[]){2}, &weight, &error), error);
  wick_attribute own = {sizeof own, WICK_PARAMETER, "weight", weight};
  fine(wick_module_new(NULL, "Net", &own, 1, &module, &error), error);
  static const char methods[] =
      "def forward(self, x):\n    return x * self.weight\ndef change(self):\n    self.training = False\n";
  fine(wick_module_define(module, NULL, methods, strlen(methods), NULL, &error), error);
  fine(wick_graph_lower(module, "forward", &graph, &attributes, &error), error);
  assert_int_equal(wick_block_input_count(wick_graph_block(graph)), 2);
  assert_int_equal(wick_value_length(attributes), 1);
  wick_value_release(attributes);
  wick_graph_release(graph);
  assert_int_equal(wick_graph_lower(module, "change", &graph, &attributes, NULL), WICK_UNSUPPORTED);
  assert_null(graph);
  assert_null(attributes);
  assert_int_equal(wick_graph_lower(functions, "f", &graph, NULL, NULL), WICK_INVALID_ARGUMENT);
  wick_value_release(weight);
  wick_module_release(module);
  wick_module_release(functions);
}

static void test_programs(void **state) {
  (void)state;
  wick_module *module = compiled(NULL, "def f(x: int):\n    return (x + 0) * 1\ndef g(x: int):\n    return x + 0\n");
  wick_function *f, *g;
  wick_value *three = wick_value_int(3), *result;
  wick_error *error = NULL;
  char *text;
  fine(wick_module_check_code(module, &text, &error), error);
  assert_string_equal(text, "");
  wick_text_free(text);
  fine(wick_function_of(module, "f", &f, &error), error);
  fine(wick_function_of(module, "g", &g, &error), error);
  fine(wick_function_run(g, (const wick_value *[]){three}, 1, NULL, 0, NULL, &result, &error), error);
  wick_value_release(result);
  assert_int_equal(wick_module_run_passes(module, (const char *[]){"nothing"}, 1, &error), WICK_NOT_FOUND);
  assert_non_null(strstr(wick_error_message(error), "there is no pass 'nothing'"));
  wick_error_free(error);
  error = NULL;
  const char *const passes[] = {"peephole", "dead_code_elimination"};
  fine(wick_module_run_passes(module, passes, 2, &error), error);
  fine(wick_function_print(f, WICK_PRINT_GRAPH, &text, &error), error);
  assert_null(strstr(text, "aten::add"));
  wick_text_free(text);
  fine(wick_function_print(g, WICK_PRINT_GRAPH, &text, &error), error); /* it ran */
  expect_text(text, "aten::add");
  fine(wick_function_run(f, (const wick_value *[]){three}, 1, NULL, 0, NULL, &result, &error), error);
  assert_int_equal(wick_value_to_int(result), 3);
  wick_value_release(result);
  wick_value_release(three);
  wick_function_release(f);
  wick_function_release(g);
  wick_module_release(module);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_names),     cmocka_unit_test(test_observer),
                                     cmocka_unit_test(test_functions), cmocka_unit_test(test_texts),
                                     cmocka_unit_test(test_lower),     cmocka_unit_test(test_programs)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
