/* Lists of allowed operators: whatever way a program spells an operator, and whenever it is reached. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "wick/wick.h"
#include "../../small_archive.h"

/* NULL, and the message, when refused; the message "" otherwise. */
static wick_module *load(const Bytes *file, const char *allowed, char message[1000]) {
  wick_module *module;
  wick_error *error;
  wick_load_options options = {.size = sizeof options, .allow_ops = allowed};
  message[0] = 0;
  if (!wick_load_memory(NULL, file->data, file->length, &options, &module, &error)) return module;
  snprintf(message, 1000, "%s", wick_error_message(error));
  wick_error_free(error);
  return NULL;
}

static Bytes archive_with_body(const char *body) {
  static char code[2000];
  snprintf(code, sizeof code,
           "class M(Module):\n"
           "  __parameters__ = []\n"
           "  __buffers__ = []\n"
           "  def forward(self: __torch__.M, x: Tensor):\n"
           "    %s\n"
           "  def same(self: __torch__.M, x: Tensor) -> Tensor:\n"
           "    return x\n",
           body);
  return archive_of(code, plain_object, sizeof plain_object - 1, no_constants, sizeof no_constants - 1);
}

/* What stands in the message after "not allowed: ", one a line. */
static void refused_names(const char *message, char lines[1000]) {
  const char *names = strstr(message, "operators that are not allowed: ");
  if (!names) fail_msg("refused for another reason: %s", message);
  names += strlen("operators that are not allowed: ");
  char *to = lines;
  for (; *names; names++)
    if (*names != ' ') *to++ = *names == ',' ? '\n' : *names;
  *to = 0;
}

/* That the body uses `operator`, besides aten::add, and that a list of all it uses lets it through. */
static void expect_held(const char *body, const char *operator) {
  char message[1000], names[1000], wanted[100], line[1010];
  Bytes file = archive_with_body(body);
  wick_module *module = load(&file, NULL, message);
  if (!module) fail_msg("%s: %s", body, message);
  wick_module_release(module);
  module = load(&file, "aten::add\n", message);
  if (module) fail_msg("%s is let through", body);
  refused_names(message, names);
  snprintf(wanted, sizeof wanted, "\n%s\n", operator);
  snprintf(line, sizeof line, "\n%s\n", names);
  if (!strstr(line, wanted)) fail_msg("%s: no word of %s: %s", body, operator, message);
  strcat(names, "\naten::add");
  module = load(&file, names, message);
  if (!module) fail_msg("%s with all its operators: %s", body, message);
  wick_module_release(module);
  free(file.data);
}

static const struct {
  const char *body, *operator;
} spellings[] = {
    {"return torch.mul(x, 2)", "aten::mul"},
    {"return ops.aten.mul(x, 2)", "aten::mul"},
    {"return x.mul(2)", "aten::mul"},
    {"return x.normal_()", "aten::normal_"},
    {"return x * 2", "aten::mul"},
    {"return 2 * x", "aten::mul"},
    {"return x @ x", "aten::matmul"},
    {"return x / 2", "aten::div"},
    {"return x // 2", "aten::floor_divide"},
    {"return x ** 2", "aten::pow"},
    {"return x < 2", "aten::lt"},
    {"return ~x", "aten::bitwise_not"},
    {"return x & x", "aten::__and__"},
    {"x *= 2\n    return x", "aten::mul_"},
    {"x[0] = 1\n    return x", "aten::copy_"},
    {"x[0] += x\n    return x", "aten::add_"},
    {"return x[0]", "aten::select"},
    {"return x[0:1]", "aten::slice"},
    {"return x[x]", "aten::index"},
    {"return -x", "aten::neg"},
    {"return x.T", "aten::numpy_T"},
    {"return x.data", "prim::data"},
    {"return x.shape", "aten::size"},
    {"return x.dtype", "prim::dtype"},
    {"return x.size()", "aten::size"},
    {"return (torch.mul)(x, 2)", "aten::mul"},
    {"return getattr(torch, \"mul\")(x, 2)", "aten::mul"},
    {"return getattr(x, \"mul\")(2)", "aten::mul"},
    {"return torch.mul(*(x, 2))", "aten::mul"},
    {"return torch.add(x, torch.mul(x, 2))", "aten::mul"},
    {"return torch.add(x, 1, alpha=3 ** 4)", "aten::pow"},
    {"return [torch.mul(x, i) for i in range(3)]", "aten::mul"},
    {"return torch.mul(x, 2) if True else x", "aten::mul"},
    {"return self.same(torch.mul(x, 2))", "aten::mul"},
    {"print(x)\n    return x", "prim::Print"},
    {"torch.manual_seed(1)\n    return x", "aten::manual_seed"},
    {"ops.aten.manual_seed(1)\n    return x", "aten::manual_seed"},
    {"warnings.warn(\"x\")\n    return x", "aten::warn"},
    {"return 2 in [1, 2]", "aten::__contains__"},
    {"return ops.prim.TimePoint()", "prim::TimePoint"},
    {"return 3 ** 4", "aten::pow"},
    {"a = [3, 1]\n    a.sort()\n    return a", "aten::sort"},
    {"a = [3, 1]\n    a += [2]\n    return a", "aten::add_"},
    {"a = [3, 1]\n    return a[0]", "aten::__getitem__"},
    {"a = {1: 2}\n    return a[1]", "aten::__getitem__"},
    {"return \"a\".replace(\"a\", \"b\")", "aten::replace"},
    {"return \"a\".upper()[0]", "aten::upper"},
    {"return \"{}\".format(x)", "aten::format"},
    {"return f\"{x}\"", "aten::format"},
    {"return math.sqrt(2.0)", "aten::sqrt"},
    {"return torch.tensor([1])", "aten::tensor"},
    {"return sorted([3, 1])", "aten::sorted"},
    {"a: List[float] = x.tolist()\n    return a", "prim::tolist"},
    {"for y in x:\n      pass\n    return x", "aten::select"},
    {"if x:\n      return 1\n    return 2", "aten::Bool"},
    {"while bool(x):\n      pass\n    return x", "aten::Bool"},
    {"return float(x)", "aten::Float"},
    {"return len([1])", "aten::len"},
    {"return abs(-1)", "prim::abs"},
    {"return min(1, 2)", "prim::min"},
    {"return fork(self.same, torch.mul(x, 2))", "aten::mul"},
    {"return wait(fork(self.same, x))", "aten::wait"},
};

static void test_every_spelling_is_held(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof spellings / sizeof *spellings; i++)
    expect_held(spellings[i].body, spellings[i].operator);
}

static void test_the_language_is_no_operator(void **state) {
  (void)state;
  const char *const bodies[] = {
      "return torch.add(x, 1)",
      "if isinstance(x, Tensor):\n      return x\n    raise AssertionError(\"no\")",
      "a, b = (x, [x])\n    return {1: b}",
      "return unchecked_cast(Tensor, annotate(Optional[Tensor], x))",
      "for i in range(3):\n      x = torch.add(x, 1)\n    return self.same(x)",
  };
  char message[1000];
  for (size_t i = 0; i < sizeof bodies / sizeof *bodies; i++) {
    Bytes file = archive_with_body(bodies[i]);
    wick_module *module = load(&file, "\n\naten::add\r\n", message);
    if (!module) fail_msg("%s: %s", bodies[i], message);
    wick_module_release(module);
    free(file.data);
  }
}

/* What forward does not name is reached by an object: its class stands in data.pkl alone. */
static void test_an_interface_is_held(void **state) {
  (void)state;
  static const char nested_object[] =
      "\x80\x02"
      "c__torch__\nM\n)\x81}X\5\0\0\0innerc__torch__\nTwice\n)\x81}bsb.";
  char message[1000];
  Bytes file = archive_of(
      "class M(Module):\n"
      "  __parameters__ = []\n"
      "  __buffers__ = []\n"
      "  inner : __torch__.Inner\n"
      "  def forward(self: __torch__.M, x: Tensor) -> Tensor:\n"
      "    return (self.inner).run(x)\n"
      "class Inner(ModuleInterface):\n"
      "  def run(self, x: Tensor) -> Tensor:\n"
      "    pass\n"
      "class Twice(Module):\n"
      "  __parameters__ = []\n"
      "  __buffers__ = []\n"
      "  def run(self: __torch__.Twice, x: Tensor) -> Tensor:\n"
      "    return torch.mul(x, 2)\n",
      nested_object, sizeof nested_object - 1, no_constants, sizeof no_constants - 1);
  wick_module *module = load(&file, NULL, message);
  if (!module) fail_msg("%s", message);
  wick_module_release(module);
  assert_null(load(&file, "aten::add\n", message));
  if (!strstr(message, "not allowed: aten::mul")) fail_msg("%s", message);
  free(file.data);
}

/* Objects among the constants are made before anything else, and their __setstate__ runs. */
static void test_code_that_runs_while_loading_is_held(void **state) {
  (void)state;
  static const char constants[] =
      "\x80\x02"
      "c__torch__\nState\n)\x81K\1b\x85.";
  char message[1000];
  Bytes file = archive_of(
      "class M(Module):\n"
      "  __parameters__ = []\n"
      "  __buffers__ = []\n"
      "  def forward(self: __torch__.M, x: Tensor) -> Tensor:\n"
      "    return x\n"
      "class State:\n"
      "  size : int\n"
      "  def __setstate__(self: __torch__.State, state: int) -> NoneType:\n"
      "    print(\"this must not run\")\n"
      "    self.size = state\n",
      plain_object, sizeof plain_object - 1, constants, sizeof constants - 1);
  assert_null(load(&file, "aten::add\n", message));
  if (!strstr(message, "not allowed: prim::Print")) fail_msg("%s", message);
  free(file.data);
}

static wick_module *held_module(void) {
  char message[1000];
  Bytes file = archive_with_body("return torch.add(x, 1)");
  wick_module *module = load(&file, "aten::add\n", message);
  if (!module) fail_msg("%s", message);
  free(file.data);
  return module;
}
static wick_status define(wick_module *module, const char *text, const wick_compile_options *options,
                          char message[1000]) {
  wick_error *error = NULL;
  wick_status status = wick_module_define(module, NULL, text, strlen(text), options, &error);
  snprintf(message, 1000, "%s", wick_error_message(error));
  wick_error_free(error);
  return status;
}

static void test_methods_that_come_later_are_held(void **state) {
  (void)state;
  char message[1000];
  wick_module *module = held_module();
  assert_int_equal(define(module, "def more(self, x: Tensor):\n  y = x + 1\n  return y * 2\n", NULL, message),
                   WICK_COMPILE);
  if (!strstr(message, "aten::mul is none of those") || !strstr(message, "return y * 2")) fail_msg("%s", message);
  assert_int_equal(define(module, "def more(self, x: Tensor):\n  return x + 1\n", NULL, message), WICK_OK);
  wick_module_release(module);
}

static wick_status answer_function(void *user, const char *name, wick_name *out) {
  if (strcmp(name, "helper")) return WICK_OK;
  out->kind = WICK_NAME_FUNCTION;
  out->module = user;
  out->member = "outer";
  return WICK_OK;
}
static void test_functions_of_other_programs_are_held(void **state) {
  (void)state;
  char message[1000];
  wick_module *module = held_module(), *library;
  const char *text = "def inner(x: Tensor):\n  return x.relu()\ndef outer(x: Tensor):\n  return inner(x) + 1\n";
  const char *method = "def more(self, x: Tensor):\n  return helper(x)\n";
  assert_int_equal(wick_compile(NULL, text, strlen(text), NULL, &library, NULL), WICK_OK);
  wick_compile_options options = {.size = sizeof options, .resolve = answer_function, .user = library};
  assert_int_not_equal(define(module, method, &options, message), WICK_OK);
  if (!strstr(message, "not allowed: aten::relu")) fail_msg("%s", message);
  wick_module_release(library);
  text = "def outer(x: Tensor):\n  return x + 1\n";
  assert_int_equal(wick_compile(NULL, text, strlen(text), NULL, &library, NULL), WICK_OK);
  options.user = library;
  if (define(module, method, &options, message)) fail_msg("%s", message);
  wick_module_release(library);
  wick_module_release(module);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_every_spelling_is_held),
      cmocka_unit_test(test_the_language_is_no_operator),
      cmocka_unit_test(test_an_interface_is_held),
      cmocka_unit_test(test_code_that_runs_while_loading_is_held),
      cmocka_unit_test(test_methods_that_come_later_are_held),
      cmocka_unit_test(test_functions_of_other_programs_are_held),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
