/* Compiling through wick.h: names from a resolver, methods added to modules, trees from outside. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "wick/wick.h"

typedef struct Names {
  const wick_value *value;
  wick_module *library;
  int asked;
  char last[64];
} Names;

static wick_status resolve(void *user, const char *name, wick_name *out) {
  Names *names = user;
  names->asked++;
  snprintf(names->last, sizeof names->last, "%s", name);
  assert_int_equal(out->size, sizeof *out);
  assert_int_equal(out->kind, WICK_NAME_UNKNOWN);
  if (!strcmp(name, "broken")) return WICK_RUNTIME;
  if (!strcmp(name, "config")) out->kind = WICK_NAME_NAMESPACE;
  if (!strcmp(name, "scale") || !strcmp(name, "config.size")) {
    out->kind = WICK_NAME_VALUE;
    out->value = names->value;
  }
  if (!strcmp(name, "helper") || !strcmp(name, "missing")) {
    out->kind = WICK_NAME_FUNCTION;
    out->module = names->library;
    out->member = !strcmp(name, "helper") ? "twice" : "thrice";
  }
  if (!strcmp(name, "Pair")) {
    out->kind = WICK_NAME_CLASS;
    out->module = names->library;
    out->member = "Pair";
  }
  if (!strcmp(name, "odd")) out->kind = 77;
  if (!strcmp(name, "empty")) out->kind = WICK_NAME_CLASS;
  return WICK_OK;
}

static const char library[] =
    "class Pair:\n"
    "  def __init__(self, a: int, b: int):\n"
    "    self.a = a\n"
    "    self.b = b\n"
    "  def sum(self) -> int:\n"
    "    return self.a + self.b\n"
    "def twice(x: int) -> int:\n"
    "  return 2 * x\n";

static wick_module *compile(const char *text) {
  wick_module *module;
  wick_error *error;
  if (wick_compile(NULL, text, strlen(text), NULL, &module, &error)) fail_msg("%s", wick_error_message(error));
  return module;
}
/* A text's function as a module with that as forward, from an archive. */
static wick_module *loaded(const char *text) {
  char path[] = "/tmp/wick_test_XXXXXX";
  int file = mkstemp(path);
  assert_true(file >= 0);
  close(file);
  wick_module *function = compile(text), *module;
  wick_error *error;
  assert_int_equal(wick_module_save(function, NULL, path, NULL, NULL), WICK_OK);
  wick_module_release(function);
  if (wick_load(NULL, path, NULL, &module, &error)) fail_msg("%s", wick_error_message(error));
  unlink(path);
  return module;
}

static wick_module *compile_with(const char *text, Names *names) {
  wick_module *module;
  wick_error *error;
  wick_compile_options options = {.size = sizeof options, .resolve = resolve, .user = names};
  if (wick_compile_with(NULL, text, strlen(text), &options, &module, &error)) fail_msg("%s", wick_error_message(error));
  return module;
}
static void refused(const char *text, Names *names, const char *part) {
  wick_module *module;
  wick_error *error;
  wick_compile_options options = {.size = sizeof options, .resolve = resolve, .user = names};
  assert_int_not_equal(wick_compile_with(NULL, text, strlen(text), &options, &module, &error), WICK_OK);
  assert_null(module);
  if (!strstr(wick_error_message(error), part)) fail_msg("'%s' does not say '%s'", wick_error_message(error), part);
  wick_error_free(error);
}
static int64_t call(wick_module *module, const char *name, int64_t argument) {
  wick_value *input = wick_value_int(argument), *output;
  wick_error *error;
  if (wick_run(module, name, (const wick_value *const[]){input}, 1, NULL, 0, NULL, &output, &error))
    fail_msg("%s", wick_error_message(error));
  int64_t result = wick_value_to_int(output);
  wick_value_release(output);
  wick_value_release(input);
  return result;
}

static void test_resolved_names(void **state) {
  (void)state;
  wick_value *five = wick_value_int(5);
  Names names = {.value = five, .library = compile(library)};
  wick_module *module = compile_with(
      "def f(x: int) -> int:\n  return helper(x) * scale + config.size\n"
      "def g(x: int) -> int:\n  p = Pair(x, scale)\n  return h(p)\n"
      "def h(p: Pair) -> int:\n  return p.sum()\n",
      &names);
  wick_module_release((wick_module *)names.library); /* the program keeps what it uses */
  wick_value_release(five);
  assert_int_equal(call(module, "f", 3), 35);
  assert_int_equal(call(module, "g", 3), 8);
  wick_module_release(module);
}

/* What a program defines is not asked for; the language's own names are. */
static void test_order_of_names(void **state) {
  (void)state;
  Names names = {0};
  wick_module *module =
      compile_with("def scale(x: int) -> int:\n  return x\ndef f(x: int) -> int:\n  return scale(x)\n", &names);
  assert_int_equal(names.asked, 0);
  wick_module_release(module);
  module = compile_with("def f(x: float) -> float:\n  return math.sqrt(x)\n", &names);
  assert_string_equal(names.last, "math");
  wick_module_release(module);
}

static void test_bad_answers(void **state) {
  (void)state;
  Names names = {.library = compile(library)};
  refused("def f(x: int):\n  return broken\n", &names, "the resolver failed for 'broken'");
  refused("def f(x: int):\n  return odd\n", &names, "unknown kind 77");
  refused("def f(x: int):\n  return scale\n", &names, "without saying what it is");
  refused("def f(x: int):\n  return empty\n", &names, "without saying what it is");
  refused("def f(x: int):\n  return missing(x)\n", &names, "there is no function 'thrice' (there is twice)");
  refused("def f(x: int):\n  return config.other\n", &names, "other");
  refused("def f(x: int):\n  return nothing\n", &names, "undefined value nothing");
  int64_t sizes[] = {1};
  wick_value *weight;
  assert_int_equal(wick_tensor_new(WICK_FLOAT32, 1, sizes, &weight, NULL), WICK_OK);
  assert_int_equal(wick_tensor_set_requires_grad(weight, 1, NULL), WICK_OK);
  names.value = weight;
  refused("def f(x: int):\n  return scale\n", &names, "can't be a constant");
  wick_value_release(weight);
  wick_module_release((wick_module *)names.library);
}

static wick_status use_module(void *user, const char *name, wick_name *out) {
  if (!strcmp(name, "net_forward")) {
    out->kind = WICK_NAME_FUNCTION;
    out->module = user;
    out->member = "forward";
  }
  if (!strcmp(name, "net")) {
    static wick_value *object;
    if (!object) object = wick_module_object(user);
    out->kind = WICK_NAME_VALUE;
    out->value = object;
  }
  return WICK_OK;
}

static void test_methods_added_to_a_module(void **state) {
  (void)state;
  wick_module *module;
  wick_error *error;
  module = loaded("def f(x: Tensor) -> Tensor:\n  return x + 1\n");
  static const char good[] =
      "def twice(self, x: Tensor) -> Tensor:\n  return self.forward(x) * 2\n"
      "def thrice(self, x: Tensor) -> Tensor:\n  return self.twice(x) + self.forward(x)\n";
  static const char bad[] = "def fine(self, x: Tensor):\n  return x\ndef wrong(self, x: Tensor):\n  return y\n";
  size_t count = wick_module_method_count(module);
  assert_int_equal(wick_module_define(module, NULL, bad, strlen(bad), NULL, &error), WICK_COMPILE);
  assert_non_null(strstr(wick_error_message(error), "undefined value y"));
  wick_error_free(error);
  assert_int_equal(wick_module_method_count(module), count);
  if (wick_module_define(module, NULL, good, strlen(good), NULL, &error)) fail_msg("%s", wick_error_message(error));
  assert_int_equal(wick_module_method_count(module), count + 2);
  assert_int_equal(wick_module_define(module, NULL, good, strlen(good), NULL, &error), WICK_COMPILE);
  assert_non_null(strstr(wick_error_message(error), "already defined"));
  wick_error_free(error);

  /* another program calls the module */
  static const char outer[] =
      "def f(x: Tensor) -> Tensor:\n  return net_forward(x) * 3 - net.thrice(x) - net(x) + net.forward(x)\n";
  wick_compile_options options = {.size = sizeof options, .resolve = use_module, .user = module};
  wick_module *program;
  if (wick_compile_with(NULL, outer, strlen(outer), &options, &program, &error))
    fail_msg("%s", wick_error_message(error));
  static const char self[] = "def loop(self, x: Tensor) -> Tensor:\n  return net(x)\n";
  assert_int_equal(wick_module_define(module, NULL, self, strlen(self), &options, &error), WICK_COMPILE);
  assert_non_null(strstr(wick_error_message(error), "keep itself alive"));
  wick_error_free(error);
  float data[6] = {1, 2, 3, 4, 5, 6};
  int64_t sizes[] = {2, 3};
  wick_value *input, *output;
  assert_int_equal(wick_tensor_borrow(data, WICK_FLOAT32, 2, sizes, NULL, NULL, NULL, &input, NULL), WICK_OK);
  if (wick_run(program, "f", (const wick_value *const[]){input}, 1, NULL, 0, NULL, &output, &error))
    fail_msg("%s", wick_error_message(error));
  wick_tensor_view view = {.size = sizeof view};
  assert_int_equal(wick_tensor_view_of(output, &view, NULL), WICK_OK);
  assert_true(((const float *)view.data)[0] == 0);
  wick_value_release(output);
  wick_value_release(input);
  wick_module_release(program);
  wick_name name = {0};
  use_module(module, "net", &name);
  wick_value_release((wick_value *)name.value);
  wick_module_release(module);
}

static void test_definitions_added_to_a_text(void **state) {
  (void)state;
  wick_module *module = compile(library);
  wick_error *error;
  static const char more[] = "def quad(x: int) -> int:\n  p = Pair(x, x)\n  return twice(p.sum())\n",
                    again[] = "def fresh(x: int) -> int:\n  return x\ndef twice(x: int) -> int:\n  return x\n",
                    half[] = "class Half:\n  def __init__(self, x: int):\n    self.x = y\n",
                    whole[] =
                        "class Half:\n  def __init__(self, x: int):\n    self.x = x\n"
                        "def half(x: int) -> int:\n  return Half(x).x\n";
  if (wick_module_define(module, NULL, more, strlen(more), NULL, &error)) fail_msg("%s", wick_error_message(error));
  assert_int_equal(call(module, "quad", 3), 12);
  assert_int_equal(wick_module_define(module, NULL, again, strlen(again), NULL, &error), WICK_COMPILE);
  wick_error_free(error);
  assert_int_equal(wick_module_method_count(module), 2);
  assert_int_equal(wick_module_define(module, NULL, half, strlen(half), NULL, &error), WICK_COMPILE);
  wick_error_free(error);
  if (wick_module_define(module, NULL, whole, strlen(whole), NULL, &error)) fail_msg("%s", wick_error_message(error));
  assert_int_equal(call(module, "half", 3), 3);
  wick_module_release(module);
}

/* What was called before is still being optimized when the next definition comes: tsan looks on. */
static void test_definitions_while_plans_are_made(void **state) {
  (void)state;
  enum { DEFINITIONS = 30, STATEMENTS = 60, TEXT_BYTES = 8192 };
  wick_module *module = loaded("def f(x: Tensor) -> Tensor:\n  return torch.tanh(x)\n");
  wick_error *error;
  char *text = malloc(TEXT_BYTES), name[20];
  float data[6] = {1, 2, 3, 4, 5, 6};
  wick_value *input, *output;
  assert_int_equal(wick_tensor_borrow(data, WICK_FLOAT32, 2, (const int64_t[]){2, 3}, NULL, NULL, NULL, &input, NULL),
                   WICK_OK);
  for (int i = 0; i < DEFINITIONS; i++) {
    snprintf(name, sizeof name, "m%d", i);
    int length = snprintf(text, TEXT_BYTES, "def %s(self, x: Tensor) -> Tensor:\n", name);
    for (int k = 0; k < STATEMENTS; k++)
      length += snprintf(text + length, TEXT_BYTES - (size_t)length, "  x = self.forward(x) * %d\n", k);
    length += snprintf(text + length, TEXT_BYTES - (size_t)length, "  return x\n");
    if (wick_module_define(module, NULL, text, (size_t)length, NULL, &error)) fail_msg("%s", wick_error_message(error));
    for (int k = 0; k < 3; k++) {
      if (wick_run(module, name, (const wick_value *const[]){input}, 1, NULL, 0, NULL, &output, &error))
        fail_msg("%s", wick_error_message(error));
      wick_value_release(output);
    }
  }
  free(text);
  wick_value_release(input);
  wick_module_release(module);
}

static wick_status name_other(void *user, const char *name, wick_name *out) {
  if (!strcmp(name, "other")) {
    out->kind = WICK_NAME_FUNCTION;
    out->module = user;
    out->member = "f";
  }
  return WICK_OK;
}
static void test_programs_can_not_use_each_other_both_ways(void **state) {
  (void)state;
  static const char text[] = "def f(x: int) -> int:\n  return x + 1\n",
                    user[] = "def f(x: int) -> int:\n  return other(x)\n",
                    back[] = "def g(x: int) -> int:\n  return other(x)\n";
  wick_module *first = compile(text), *second;
  wick_error *error;
  wick_compile_options options = {.size = sizeof options, .resolve = name_other, .user = first};
  assert_int_equal(wick_compile_with(NULL, user, strlen(user), &options, &second, NULL), WICK_OK);
  assert_int_equal(call(second, "f", 1), 2);
  options.user = second;
  assert_int_equal(wick_module_define(first, NULL, back, strlen(back), &options, &error), WICK_COMPILE);
  assert_non_null(strstr(wick_error_message(error), "both ways"));
  wick_error_free(error);
  wick_module_release(first);
  wick_module_release(second);
}

/* ---- trees ---- */

static const wick_tree *tree(wick_trees *trees, const char *kind, size_t count, const wick_tree *const *children) {
  const wick_tree *made;
  wick_error *error;
  if (wick_tree_new(trees, kind, children, count, 0, 0, &made, &error)) fail_msg("%s", wick_error_message(error));
  return made;
}
#define CHILDREN(...) ((const wick_tree *const[]){NULL __VA_OPT__(, ) __VA_ARGS__})
#define T(kind, ...) tree(trees, kind, sizeof CHILDREN(__VA_ARGS__) / sizeof(void *) - 1, CHILDREN(__VA_ARGS__) + 1)
static const wick_tree *text(wick_trees *trees, const char *kind, const char *of) {
  const wick_tree *made;
  wick_error *error;
  if (wick_tree_new_text(trees, kind, of, strlen(of), 0, 0, &made, &error)) fail_msg("%s", wick_error_message(error));
  return made;
}
#define ID(name) text(trees, "TK_IDENT", name)
#define VAR(name) T("TK_VAR", ID(name))

static void test_a_program_of_trees(void **state) {
  (void)state;
  wick_trees *trees;
  assert_int_equal(wick_trees_new(NULL, 0, NULL, &trees, NULL), WICK_OK);
  const wick_tree *none = T("TK_OPTION"), *an_int = T("TK_OPTION", VAR("int"));
  const wick_tree *param = T("TK_PARAM", ID("x"), an_int, none, T("TK_FALSE"));
  const wick_tree *sum = T("+", T("*", VAR("x"), text(trees, "TK_CONST", "0x10")), VAR("scale"));
  const wick_tree *def =
      T("TK_DEF", ID("f"), T("TK_DECL", T("TK_LIST", param), an_int),
        T("TK_LIST", T("TK_ASSIGN", T("TK_LIST", VAR("y")), T("TK_OPTION", sum), none), T("TK_RETURN", VAR("y"))));
  const wick_tree *program = T("TK_LIST", def);
  wick_value *five = wick_value_int(5);
  Names names = {.value = five};
  wick_compile_options options = {.size = sizeof options, .resolve = resolve, .user = &names};
  wick_module *module;
  wick_error *error;
  if (wick_compile_tree(NULL, program, &options, &module, &error)) fail_msg("%s", wick_error_message(error));
  wick_trees_release(trees);
  wick_value_release(five);
  assert_int_equal(call(module, "f", 2), 37);
  char *schema;
  assert_int_equal(wick_module_schema(module, "f", &schema, NULL), WICK_OK);
  assert_string_equal(schema, "f(int x) -> int");
  wick_text_free(schema);
  wick_module_release(module);
}

static void test_trees_that_do_not_fit(void **state) {
  (void)state;
  static const char source[] = "def f(x: int) -> int:\n  return x\n";
  wick_trees *trees, *others;
  wick_error *error;
  const wick_tree *made;
  assert_int_equal(wick_trees_new(source, strlen(source), "a.py", &trees, NULL), WICK_OK);
  assert_int_equal(wick_trees_new(NULL, 0, NULL, &others, NULL), WICK_OK);
  const wick_tree *x = VAR("x"), *name = ID("x"), *list = T("TK_LIST", x);
  const struct {
    const char *kind;
    size_t count;
    const wick_tree *children[3];
    uint32_t begin, end;
    const char *part;
  } cases[] = {
      {"TK_NO", 0, {0}, 0, 0, "is no kind of tree"},
      {"TK_VAR", 1, {x}, 0, 0, "must be an ident"},
      {"+", 1, {x}, 0, 0, "more than 1"},
      {"+", 3, {x, x, x}, 0, 0, "fewer than 3"},
      {"TK_IF", 3, {x, x, list}, 0, 0, "must be a list, each item a statement"},
      {"TK_IF", 3, {x, list, list}, 0, 0, "must be a list, each item a statement"},
      {"TK_RETURN", 1, {list}, 0, 0, "must be an expression"},
      {"TK_RETURN", 1, {NULL}, 0, 0, "NULL"},
      {"TK_RETURN", 1, {x}, 3, 2, "can't stand"},
      {"TK_RETURN", 1, {x}, 0, 1000, "can't stand"},
      {"TK_IDENT", 0, {0}, 0, 0, "no kind of tree with children"},
      {"TK_NEWLINE", 0, {0}, 0, 0, "no kind of tree with children"},
      {"TK_OPTION", 2, {x, x}, 0, 0, "one child"},
      {"TK_SUBSCRIPT", 2, {x, name}, 0, 0, "must be a list"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    assert_int_equal(wick_tree_new(trees, cases[i].kind, cases[i].children, cases[i].count, cases[i].begin,
                                   cases[i].end, &made, &error),
                     WICK_INVALID_ARGUMENT);
    assert_null(made);
    if (!strstr(wick_error_message(error), cases[i].part))
      fail_msg("'%s' does not say '%s'", wick_error_message(error), cases[i].part);
    wick_error_free(error);
  }
  assert_int_equal(wick_tree_new(others, "TK_RETURN", &x, 1, 0, 0, &made, NULL), WICK_INVALID_ARGUMENT);
  static const char *const idents[] = {"", "1a", "a b", "a..b", ".", "a."}, *const numbers[] = {"", "a", "1x", "-1",
                                                                                                "0x"};
  for (size_t i = 0; i < sizeof idents / sizeof *idents; i++)
    assert_int_equal(wick_tree_new_text(trees, "TK_IDENT", idents[i], strlen(idents[i]), 0, 0, &made, NULL),
                     WICK_INVALID_ARGUMENT);
  for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
    assert_int_equal(wick_tree_new_text(trees, "TK_CONST", numbers[i], strlen(numbers[i]), 0, 0, &made, NULL),
                     WICK_INVALID_ARGUMENT);
  /* Shared parts count each time: this would be 2^40 nodes. */
  const wick_tree *sum = x;
  wick_status status = WICK_OK;
  for (int i = 0; i < 40 && !status; i++) {
    const wick_tree *both[] = {sum, sum};
    status = wick_tree_new(trees, "+", both, 2, 0, 0, &sum, NULL);
  }
  assert_int_equal(status, WICK_INVALID_ARGUMENT);
  wick_trees_release(trees);
  wick_trees_release(others);
}

static void test_parsed_trees(void **state) {
  (void)state;
  static const char source[] = "def f(x: int) -> int:\n  return x + undefined\n";
  wick_trees *trees;
  wick_error *error;
  wick_module *module;
  const wick_tree *file;
  char *printed;
  assert_int_equal(wick_trees_new(source, strlen(source), "a.py", &trees, NULL), WICK_OK);
  assert_int_equal(wick_trees_parse(trees, &file, NULL), WICK_OK);
  assert_int_equal(wick_tree_print(file, &printed, NULL), WICK_OK);
  assert_non_null(strstr(printed, "(ident f)"));
  wick_text_free(printed);
  assert_int_equal(wick_compile_tree(NULL, file, NULL, &module, &error), WICK_COMPILE);
  assert_non_null(strstr(wick_error_message(error), "File \"a.py\", line 2"));
  wick_error_free(error);
  const wick_tree *x = VAR("x"), *loose = T("TK_LIST", x);
  assert_int_equal(wick_compile_tree(NULL, x, NULL, &module, &error), WICK_INVALID_ARGUMENT);
  wick_error_free(error);
  assert_int_equal(wick_compile_tree(NULL, loose, NULL, &module, &error), WICK_INVALID_ARGUMENT);
  wick_error_free(error);
  wick_trees_release(trees);
  assert_int_equal(wick_trees_new(NULL, 0, NULL, &trees, NULL), WICK_OK);
  assert_int_equal(wick_trees_parse(trees, &file, NULL), WICK_INVALID_ARGUMENT);
  wick_trees_release(trees);
}

/* Two texts in one program: each place is in its own, with its own number of lines. */
static void test_trees_of_several_texts(void **state) {
  (void)state;
  static const char first[] = "def f(x: int):\n  return missing\n", second[] = "def g(x: int):\n  return absent\n";
  wick_trees *trees;
  wick_error *error;
  wick_module *module;
  uint32_t index;
  assert_int_equal(wick_trees_new(first, strlen(first), "first.py", &trees, NULL), WICK_OK);
  assert_int_equal(wick_trees_add_text(trees, second, strlen(second), "second.py", 40, &index, NULL), WICK_OK);
  assert_int_equal(index, 1);
  const wick_tree *none = T("TK_OPTION"), *param, *name, *var, *result, *defs[2];
  for (uint32_t i = 0; i < 2; i++) {
    const char *wrong = i ? "absent" : "missing";
    assert_int_equal(wick_trees_use_text(trees, i, NULL), WICK_OK);
    param = T("TK_PARAM", ID("x"), T("TK_OPTION", VAR("int")), none, T("TK_FALSE"));
    name = ID(wrong);
    assert_int_equal(wick_tree_new(trees, "TK_VAR", &name, 1, 24, 24 + (uint32_t)strlen(wrong), &var, NULL), WICK_OK);
    result = T("TK_RETURN", var);
    defs[i] = T("TK_DEF", ID(i ? "g" : "f"), T("TK_DECL", T("TK_LIST", param), none), T("TK_LIST", result));
  }
  assert_int_equal(wick_trees_use_text(trees, 2, NULL), WICK_INVALID_ARGUMENT);
  const wick_tree *program = T("TK_LIST", defs[0], defs[1]);
  assert_int_equal(wick_compile_tree(NULL, program, NULL, &module, &error), WICK_COMPILE);
  assert_non_null(strstr(wick_error_message(error), "File \"first.py\", line 2"));
  assert_non_null(strstr(wick_error_message(error), "File \"second.py\", line 41"));
  wick_error_free(error);
  wick_trees_release(trees);
}

static wick_status other_names(void *user, const char *name, wick_name *out) {
  static const struct {
    const char *name, *member;
  } names[] = {{"F", "torch.nn.functional"}, {"root", "math.sqrt"}, {"half", "halved"},       {"P", "some.where.Pair"},
               {"odd", "torch.no_such"},     {"loop", "loop"},      {"math.none", "nothing"}, {"T", "torch"}};
  (void)user;
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    if (!strcmp(name, names[i].name)) out->kind = WICK_NAME_ALIAS, out->member = names[i].member;
  if (!strcmp(name, "unsaid")) out->kind = WICK_NAME_ALIAS;
  return WICK_OK;
}
static wick_status compile_aliases(const char *text, wick_module **out, wick_error **error) {
  wick_compile_options options = {.size = sizeof options, .resolve = other_names};
  return wick_compile_with(NULL, text, strlen(text), &options, out, error);
}
static void test_other_names(void **state) {
  (void)state;
  static const char text[] =
      "def halved(x: int) -> int:\n  return x // 2\n"
      "def f(x: int) -> int:\n  y = F.relu(T.tensor([-3, 5]))\n  return int(root(float(half(x)))) + int(y[1])\n";
  static const struct {
    const char *text, *part;
  } wrong[] = {{"def f(x: int):\n  return odd(x)\n", "no_such"},
               {"def f(x: int):\n  return loop(x)\n", "undefined value loop"},
               {"def f(x: int):\n  return unsaid(x)\n", "without saying what it is"}};
  wick_module *module;
  wick_error *error;
  if (compile_aliases(text, &module, &error)) fail_msg("%s", wick_error_message(error));
  assert_int_equal(call(module, "f", 32), 9);
  wick_module_release(module);
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
    assert_int_equal(compile_aliases(wrong[i].text, &module, &error), WICK_COMPILE);
    if (!strstr(wick_error_message(error), wrong[i].part)) fail_msg("%s", wick_error_message(error));
    wick_error_free(error);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_resolved_names),
      cmocka_unit_test(test_order_of_names),
      cmocka_unit_test(test_bad_answers),
      cmocka_unit_test(test_methods_added_to_a_module),
      cmocka_unit_test(test_definitions_added_to_a_text),
      cmocka_unit_test(test_definitions_while_plans_are_made),
      cmocka_unit_test(test_programs_can_not_use_each_other_both_ways),
      cmocka_unit_test(test_a_program_of_trees),
      cmocka_unit_test(test_trees_that_do_not_fit),
      cmocka_unit_test(test_parsed_trees),
      cmocka_unit_test(test_trees_of_several_texts),
      cmocka_unit_test(test_other_names),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
