/* What programs hold as constants, defaults and names comes back from a saved archive as it was. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <math.h>
#include <unistd.h>

#include <cmocka.h>

#include "wick/wick.h"
#include "../../small_archive.h"

/* Saves and loads again; takes the module over. */
static wick_module *again(wick_module *module) {
  char path[] = "/tmp/wick_saved_XXXXXX";
  wick_error *error;
  wick_module *loaded;
  int file = mkstemp(path);
  assert_true(file >= 0);
  close(file);
  if (wick_module_save(module, NULL, path, NULL, &error)) fail_msg("save: %s", wick_error_message(error));
  wick_module_release(module);
  if (wick_load(NULL, path, NULL, &loaded, &error)) fail_msg("load: %s", wick_error_message(error));
  unlink(path);
  return loaded;
}

static wick_value *run(wick_module *module, const wick_value *const *inputs, size_t count) {
  wick_value *result;
  wick_error *error;
  if (wick_run(module, "forward", inputs, count, NULL, 0, NULL, &result, &error))
    fail_msg("run: %s", wick_error_message(error));
  return result;
}

/* ---- numbers ---- */

enum { NUMBERS = 300 };
typedef struct Numbers {
  double values[NUMBERS];
} Numbers;

/* "v7" is number 7, "z7" the complex of 7 and 8. */
static wick_status resolve(void *user, const char *name, wick_name *out) {
  static wick_value *held[2 * NUMBERS];
  const Numbers *numbers = user;
  char kind, rest;
  int i;
  if (sscanf(name, "%c%d%c", &kind, &i, &rest) != 2 || (kind != 'v' && kind != 'z')) return WICK_OK;
  wick_value **value = &held[2 * i + (kind == 'z')];
  wick_value_release(*value);
  double x = numbers->values[i], y = numbers->values[(i + 1) % NUMBERS];
  *value = kind == 'v' ? wick_value_double(x) : wick_value_complex(x, y);
  out->kind = WICK_NAME_VALUE;
  out->value = *value;
  return WICK_OK;
}

static uint64_t bits(double value) {
  uint64_t result;
  memcpy(&result, &value, sizeof result);
  return isnan(value) ? 0x7ff8000000000000u : result;
}

static double some_number(uint64_t *state, int i) {
  static const double odd[] = {0.0,   -0.0,           1e10,   -1e10, 1e15,    1e16,     9007199254740993.0,
                               1e300, -1e300,         5e-324, 1e-5,  0.1,     INFINITY, -INFINITY,
                               NAN,   123456789012.0, 1e22,   1e23,  -0x1p63, 0x1p63,   9999999999.0};
  if (i < (int)(sizeof odd / sizeof *odd)) return odd[i];
  *state = *state * 6364136223846793005u + 1442695040888963407u;
  uint64_t random = *state >> 3;
  double value;
  memcpy(&value, &random, sizeof value);
  switch (i % 4) {
    case 0:
      return (double)(int64_t)(*state >> 20);
    case 1:
      return -round(ldexp((double)(*state >> 12), (int)(*state % 200) - 60));
    case 2:
      return ldexp((double)(*state >> 11), -53);
    default:
      return value;
  }
}

static wick_module *compile_list(const char *element, char kind, Numbers *numbers) {
  static char text[NUMBERS * 8 + 100];
  int length = snprintf(text, sizeof text, "def forward() -> List[%s]:\n  return [", element);
  for (int i = 0; i < NUMBERS; i++) length += snprintf(text + length, sizeof text - (size_t)length, "%c%d, ", kind, i);
  strcpy(text + length - 2, "]\n");
  wick_module *module;
  wick_error *error;
  wick_compile_options options = {.size = sizeof options, .resolve = resolve, .user = numbers};
  if (wick_compile_with(NULL, text, strlen(text), &options, &module, &error)) fail_msg("%s", wick_error_message(error));
  return again(module);
}

static void test_numbers(void **state) {
  (void)state;
  uint64_t seed = 7;
  Numbers numbers;
  for (int i = 0; i < NUMBERS; i++) numbers.values[i] = some_number(&seed, i);
  wick_module *floats = compile_list("float", 'v', &numbers), *complexes = compile_list("complex", 'z', &numbers);
  wick_value *list = run(floats, NULL, 0), *pairs = run(complexes, NULL, 0);
  for (size_t i = 0; i < NUMBERS; i++) {
    double want = numbers.values[i], real, imaginary;
    wick_value *item = wick_value_item(list, i), *pair = wick_value_item(pairs, i);
    assert_int_equal(wick_value_kind(item), WICK_DOUBLE);
    if (bits(wick_value_to_double(item)) != bits(want)) fail_msg("%a became %a", want, wick_value_to_double(item));
    wick_value_to_complex(pair, &real, &imaginary);
    if (bits(real) != bits(want) || bits(imaginary) != bits(numbers.values[(i + 1) % NUMBERS]))
      fail_msg("%a %aj became %a %aj", want, numbers.values[(i + 1) % NUMBERS], real, imaginary);
    wick_value_release(item);
    wick_value_release(pair);
  }
  wick_value_release(list);
  wick_value_release(pairs);
  wick_module_release(floats);
  wick_module_release(complexes);
}

/* As the whole of a function: nothing beside it says that it is a float. */
static void test_a_large_whole_float(void **state) {
  (void)state;
  const char *text = "def forward() -> float:\n  return 1e10\n";
  wick_module *module;
  assert_int_equal(wick_compile(NULL, text, strlen(text), NULL, &module, NULL), WICK_OK);
  module = again(module);
  wick_value *result = run(module, NULL, 0);
  assert_int_equal(wick_value_kind(result), WICK_DOUBLE);
  assert_true(wick_value_to_double(result) == 1e10);
  wick_value_release(result);
  wick_module_release(module);
}

/* ---- defaults ---- */

static const char defaults_code[] =
    "class M(Module):\n"
    "  __parameters__ = []\n"
    "  __buffers__ = []\n"
    "  def forward(self: __torch__.M,\n"
    "    mode: __torch__.Mode=__torch__.Mode.B,\n"
    "    maybe: Optional[__torch__.Mode]=__torch__.Mode.A,\n"
    "    device: Device=torch.device(\"cpu\"),\n"
    "    other: Optional[Device]=torch.device(\"cuda:1\"),\n"
    "    pair: __torch__.Pair=__torch__.Pair(1, 2.5),\n"
    "    none: Optional[__torch__.Pair]=__torch__.Pair(3, 4.),\n"
    "    deep: Tuple[int, __torch__.Deep]=(1, __torch__.Deep(__torch__.Mode.A, __torch__.Pair(7, 2.5))),\n"
    "    both: Tuple[__torch__.Mode, Tuple[__torch__.Mode]]=(__torch__.Mode.A, (__torch__.Mode.B,)),\n"
    "    c: complex=1.+2.j,\n"
    "    d: complex=-1.-2.j,\n"
    "    large: float=10000000000.,\n"
    "    small: float=-inf,\n"
    "    text: str=\"q\\\"'\\n\") -> Tuple[int, str]:\n"
    "    if isinstance(none, __torch__.Pair):\n"
    "      n = unchecked_cast(__torch__.Pair, none).b\n"
    "    else:\n"
    "      n = 0.\n"
    "    s = torch.format(\"{} {} {} {} {} {} {} {} {} {} {} {} {}\", mode, maybe, device, other, pair, n, deep, "
    "both,\n"
    "      c, d, large, small, text)\n"
    "    return (pair.a, s)\n"
    "  def call(self: __torch__.M) -> Tuple[int, str]:\n"
    "    return (self).forward()\n"
    "class Mode(Enum):\n"
    "  A = \"a\"\n"
    "  B = \"b\"\n"
    "class Pair(NamedTuple):\n"
    "  a : int\n"
    "  b : float\n"
    "class Deep(NamedTuple):\n"
    "  m : __torch__.Mode\n"
    "  p : __torch__.Pair\n";
static const char defaults_result[] =
    "(1, Enum<Mode.B> Enum<Mode.A> cpu cuda:1 (1, 2.5) 4. (1, (Enum<Mode.A>, (7, 2.5))) "
    "(Enum<Mode.A>, (Enum<Mode.B>,)) 1.+2.j -1.-2.j 10000000000. -inf q\"'\n)";

static void expect_result(wick_module *module, const char *method, const char *want) {
  wick_value *result;
  wick_error *error;
  char *text;
  if (wick_run(module, method, NULL, 0, NULL, 0, NULL, &result, &error)) fail_msg("%s", wick_error_message(error));
  assert_int_equal(wick_value_print(result, &text, NULL), WICK_OK);
  assert_string_equal(text, want);
  wick_text_free(text);
  wick_value_release(result);
}

static wick_module *load_text(const char *code, const char *pickle, size_t pickle_length) {
  Bytes file = archive_of(code, pickle, pickle_length, no_constants, sizeof no_constants - 1);
  wick_module *module;
  wick_error *error;
  wick_load_options options = {.size = sizeof options};
  if (wick_load_memory(NULL, file.data, file.length, &options, &module, &error))
    fail_msg("%s in:\n%s", wick_error_message(error), code);
  free(file.data);
  return module;
}

static void test_defaults(void **state) {
  (void)state;
  wick_module *module = load_text(defaults_code, plain_object, sizeof plain_object - 1);
  for (int i = 0; i < 2; i++) {
    expect_result(module, "forward", defaults_result);
    expect_result(module, "call", defaults_result);
    module = again(module);
  }
  wick_module_release(module);
}

static void test_defaults_that_are_none(void **state) {
  (void)state;
  const char *const refused[] = {
      "def f(mode: Mode = Mode.C):\n  return mode\n",
      "def f(pair: Pair = Pair(1)):\n  return pair\n",
      "def f(pair: Pair = Pair(1, 2, 3)):\n  return pair\n",
      "def f(pair: Pair = Pair(1, c=2)):\n  return pair\n",
      "def f(pair: Pair = Pair(1, 'x')):\n  return pair\n",
      "def f(pair: Pair = (1, 2, 3)):\n  return pair\n",
      "def f(mode: Mode = 1):\n  return mode\n",
      "def f(d: torch.device = torch.device(1)):\n  return d\n",
      "def f(d: torch.device = torch.device('nowhere')):\n  return d\n",
      "def f(x: float = torch.rand(1)):\n  return x\n",
  };
  for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
    char text[400];
    wick_module *module;
    wick_error *error;
    snprintf(text, sizeof text, "class Mode(Enum):\n  A = 1\nclass Pair(NamedTuple):\n  a: int\n  b: float\n%s",
             refused[i]);
    if (!wick_compile(NULL, text, strlen(text), NULL, &module, &error)) fail_msg("%s is compiled", refused[i]);
    wick_error_free(error);
  }
}

/* ---- names ---- */

static void test_static_methods(void **state) {
  (void)state;
  const char *text =
      "class P:\n"
      "  def __init__(self, x: int):\n"
      "    self.x = x\n"
      "  @staticmethod\n"
      "  def make(k: int):\n"
      "    return P(k)\n"
      "class P__static:\n"
      "  def __init__(self):\n"
      "    self.y = 1\n"
      "def make(k: int) -> int:\n"
      "  return k + P__static().y\n"
      "def forward() -> int:\n"
      "  return P.make(5).x * 10 + make(1)\n";
  wick_module *module;
  wick_error *error;
  if (wick_compile(NULL, text, strlen(text), NULL, &module, &error)) fail_msg("%s", wick_error_message(error));
  char path[] = "/tmp/wick_static_XXXXXX";
  int file = mkstemp(path);
  assert_true(file >= 0);
  close(file);
  assert_int_equal(wick_module_save(module, NULL, path, "forward", NULL), WICK_OK);
  wick_module_release(module);
  if (wick_load(NULL, path, NULL, &module, &error)) fail_msg("%s", wick_error_message(error));
  unlink(path);
  module = again(module);
  expect_result(module, "forward", "52");
  wick_module_release(module);
}

/* An attribute with the value 7, of any name, as a pickle of the module. */
static void test_names_of_attributes(void **state) {
  (void)state;
  const char *const names[] = {"self",
                               "x",
                               "torch",
                               "CONSTANTS",
                               "ops",
                               "_0",
                               "inf",
                               "__torch__",
                               "training",
                               "0",
                               "a.b",
                               "a b",
                               "int",
                               "None",
                               "True",
                               "class",
                               "lambda",
                               "if",
                               "in",
                               "async",
                               "with",
                               "__init__",
                               "__annotations__",
                               "__parameters__",
                               "print",
                               "",
                               "\"",
                               "a\\b",
                               "\n",
                               "\xc3\xa9",
                               "getattr"};
  static const char start[] =
      "\x80\x02"
      "c__torch__\nM\n)\x81}X";
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    char code[400], quoted[40] = "";
    Bytes pickle = {0};
    for (const char *c = names[i]; *c; c++) {
      size_t length = strlen(quoted);
      snprintf(quoted + length, sizeof quoted - length, "%s%c", *c == '"' || *c == '\\' || *c == '\n' ? "\\" : "",
               *c == '\n' ? 'n' : *c);
    }
    snprintf(code, sizeof code,
             "class M(Module):\n"
             "  __parameters__ = [\"%s\", ]\n"
             "  __annotations__ = []\n"
             "  __annotations__[\"%s\"] = int\n"
             "  def forward(self: __torch__.M) -> int:\n"
             "    return getattr(self, \"%s\")\n",
             quoted, quoted, quoted);
    put(&pickle, start, sizeof start - 1);
    put_number(&pickle, strlen(names[i]), 4);
    put(&pickle, names[i], strlen(names[i]));
    put(&pickle, "K\7sb.", 5);
    wick_module *module = load_text(code, (const char *)pickle.data, pickle.length);
    module = again(again(module));
    expect_result(module, "forward", "7");
    wick_module_release(module);
    free(pickle.data);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_numbers),        cmocka_unit_test(test_a_large_whole_float),
      cmocka_unit_test(test_defaults),       cmocka_unit_test(test_defaults_that_are_none),
      cmocka_unit_test(test_static_methods), cmocka_unit_test(test_names_of_attributes),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
