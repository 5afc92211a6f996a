/* The front end from text to graphs: control flow, names, types, errors. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <time.h>

#include "api/handles.h"
#include "frontend/frontend.h"

typedef struct Program {
  CompilationUnit *unit;
  Status status;
} Program;

static Program compile(const char *text) {
  Program p = {0};
  Source *source;
  Exec exec;
  exec_init(&exec, &api_services);
  assert_null(source_new(str_from(text), "program.py", 1, &source));
  assert_null(unit_new(&p.unit));
  p.status = frontend_compile_program(p.unit, &exec, source, NULL);
  source_release(source);
  return p;
}

static void release(Program *p) {
  status_free(p->status);
  unit_release(p->unit);
}

static void expect_graph(const char *text, const char *function, const char *expected) {
  Program p = compile(text);
  if (p.status) print_message("%s\n", p.status->message);
  assert_null(p.status);
  Function *f = unit_find_function(p.unit, str_from(function));
  assert_non_null(f);
  assert_non_null(f->graph);
  assert_null(graph_lint(f->graph));
  StrBuf out = {0};
  graph_print(f->graph, false, &out);
  assert_string_equal(out.data, expected);
  strbuf_dispose(&out);
  release(&p);
}

static void expect_error(const char *text, const char *part) {
  Program p = compile(text);
  assert_non_null(p.status);
  if (!strstr(p.status->message, part)) print_message("%s\n", p.status->message);
  assert_non_null(strstr(p.status->message, part));
  release(&p);
}

static void expect_compiles(const char *text) {
  Program p = compile(text);
  if (p.status) print_message("%s\n", p.status->message);
  assert_null(p.status);
  release(&p);
}

/* Seconds to compile so many early returns in a row, or to refuse them. */
static double time_returns(int count, bool fits) {
  StrBuf text = {0};
  strbuf_puts(&text, "def f(x: int) -> int:\n");
  for (int i = 0; i < count; i++) strbuf_printf(&text, "  if x == %d:\n    return %d\n", i, 2 * i);
  strbuf_puts(&text, "  return -1\n");
  clock_t start = clock();
  if (fits)
    expect_compiles(text.data);
  else
    expect_error(text.data, "nested too deeply");
  double seconds = (double)(clock() - start) / CLOCKS_PER_SEC;
  strbuf_dispose(&text);
  return seconds;
}

static void test_many_early_returns(void **state) {
  (void)state;
  double few = time_returns(1000, true), many = time_returns(20000, false);
  for (int i = 0; i < 5 && many > 40 * few + 0.2; i++) /* measures may be too large, but none is too small */
    few = fmin(few, time_returns(1000, true)), many = fmin(many, time_returns(20000, false));
  print_message("1,000 early returns: %.0f ms, 20,000 refused: %.0f ms\n", 1e3 * few, 1e3 * many);
  assert_true(many <= 40 * few + 0.2);
}

static void test_phi(void **state) {
  (void)state;
  expect_graph("def f(a, b, c: bool):\n  d = a + b\n  if c:\n    e = d + d\n  else:\n    e = b + d\n  return e\n", "f",
               "graph(%a.1 : Tensor,\n      %b.1 : Tensor,\n      %c.1 : bool):\n"
               "  %3 : int = prim::Constant[value=1]()\n"
               "  %d.1 : Tensor = aten::add(%a.1, %b.1, %3)\n"
               "  %e : Tensor = prim::If(%c.1)\n"
               "    block0():\n      %e.1 : Tensor = aten::add(%d.1, %d.1, %3)\n      -> (%e.1)\n"
               "    block1():\n      %e.3 : Tensor = aten::add(%b.1, %d.1, %3)\n      -> (%e.3)\n"
               "  return (%e)\n");
}

static void test_early_return_hides_what_follows(void **state) {
  (void)state;
  expect_graph(
      "def f(i: int) -> float:\n  if i < 0:\n    raise RuntimeError('Negative input')\n  else:\n    return "
      "math.sqrt(i)\n  print(i)\n",
      "f",
      "graph(%i.1 : int):\n"
      "  %1 : str = prim::Constant[value=\"builtins.RuntimeError\"]()\n"
      "  %2 : str = prim::Constant[value=\"Negative input\"]()\n"
      "  %3 : int = prim::Constant[value=0]()\n"
      "  %4 : float = prim::Uninitialized()\n"
      "  %5 : bool = aten::lt(%i.1, %3)\n"
      "  %6 : float = prim::If(%5)\n"
      "    block0():\n       = prim::RaiseException(%2, %1)\n      -> (%4)\n"
      "    block1():\n      %7 : float = aten::sqrt(%i.1)\n      -> (%7)\n"
      "  return (%6)\n");
}

static void test_nested_loops_carry(void **state) {
  (void)state;
  expect_graph("def f(l: List[int]):\n  s = 0\n  for a in l:\n    for b in l:\n      s += 1\n  return s\n", "f",
               "graph(%l.1 : int[]):\n"
               "  %1 : bool = prim::Constant[value=1]()\n"
               "  %s.1 : int = prim::Constant[value=0]()\n"
               "  %3 : int = prim::Constant[value=1]()\n"
               "  %4 : int = aten::len(%l.1)\n"
               "  %s : int = prim::Loop(%4, %1, %s.1)\n"
               "    block0(%6 : int, %s.15 : int):\n"
               "      %8 : int = aten::len(%l.1)\n"
               "      %s.13 : int = prim::Loop(%8, %1, %s.15)\n"
               "        block0(%10 : int, %s.11 : int):\n"
               "          %s.5 : int = aten::add(%s.11, %3)\n"
               "          -> (%1, %s.5)\n"
               "      -> (%1, %s.13)\n"
               "  return (%s)\n");
}

static void test_static_conditions_choose_a_branch(void **state) {
  (void)state;
  expect_compiles(
      "def f(x: int):\n  if not torch.jit.is_scripting():\n    return undefined_name\n  if x is None:\n    return "
      "also_undefined\n  return x\n");
}

static void test_refinement(void **state) {
  (void)state;
  expect_compiles(
      "def f(x: Optional[int], y: Optional[int]) -> int:\n  if x is None or y is None:\n    return 0\n  return x + "
      "y\n");
  expect_compiles("def f(x: Optional[int]) -> int:\n  assert x is not None\n  return x + 1\n");
  expect_compiles(
      "def f(x: Union[int, str, List[int]]) -> int:\n  if isinstance(x, (int, str)):\n    if isinstance(x, int):\n     "
      " return x\n"
      "    return len(x)\n  return x[0]\n");
  expect_error("def f(x: Optional[int]) -> int:\n  return x + 1\n", "Arguments for call are not valid");
}

static void test_classes(void **state) {
  (void)state;
  expect_compiles(
      "class A:\n  def __init__(self, n: int):\n    self.n = n\n  def __add__(self, o: 'A') -> int:\n    return self.n "
      "+ o.n\n"
      "  @property\n  def twice(self) -> int:\n    return 2 * self.n\n  @staticmethod\n  def make() -> 'A':\n    "
      "return A(1)\n"
      "def f() -> int:\n  return A(2) + A.make() + A(3).twice\n");
  expect_error("class A:\n  def __init__(self):\n    self.n = 1\ndef f(a: A):\n  return a.m\n",
               "has no attribute or method 'm'");
  expect_error("class A:\n  def __init__(self):\n    self.n = 1\ndef f(a: A):\n  a.k = 2\n", "nonexistent attribute");
}

static void test_recursion_is_refused(void **state) {
  (void)state;
  expect_error("def f(n: int) -> int:\n  return g(n)\ndef g(n: int) -> int:\n  return f(n)\n", "called recursively");
}

static void test_errors_of_several_functions_come_together(void **state) {
  (void)state;
  Program p = compile("def f(x):\n  return undefined_one\ndef g(x):\n  return f(x)\ndef h(value):\n  return valeu\n");
  assert_non_null(p.status);
  assert_non_null(strstr(p.status->message, "undefined value undefined_one"));
  assert_non_null(strstr(p.status->message, "Did you mean 'value'?"));
  assert_null(strstr(p.status->message, "did not compile"));
  release(&p);
}

static void test_rejections(void **state) {
  (void)state;
  expect_error("def f(x):\n  break\n", "outside loop");
  expect_error("def f(x: int = 1, y: int):\n  return x\n", "non-default argument follows default argument");
  expect_error("class A:\n  def f(self, x: int = 1, y: int):\n    return x\n", "non-default argument follows");
  expect_compiles("def f(x: int = 1, *, y: int):\n  return x\n");
  expect_error("class P(NamedTuple):\n  a: int = 1\n  b: int\ndef f():\n  return P(1, 2)\n",
               "Non-default namedtuple field b cannot follow default field a");
  expect_error("def f(c: bool):\n  if c:\n    y = 1\n  return y\n", "y is not defined in the false branch");
  expect_error("def f(x):\n  x = 1\n  for i in range(3):\n    x = 'a'\n  return x\n", "previously had type");
  expect_error("def f(x) -> int:\n  return x.size()\n", "Return value was annotated");
  expect_error("def f(x: int) -> Optional[int]:\n  if x > 2:\n    return 3\n", "does not return along all paths");
  expect_error("def f(x):\n  a, b = x, x, x\n", "too many values to unpack");
  expect_error("def f(x: Dict[List[int], int]):\n  pass\n", "Cannot create dict for key type");
  expect_error("def f(x):\n  return lambda y: y\n", "Lambda aren't supported");
  expect_error("def f(x: Lst[int]):\n  pass\n", "Unknown type name 'Lst'");
}

static void test_suggestions(void **state) {
  (void)state;
  const char *const wrong[][2] = {
      {"def f(x: Tensor):\n  return x.transpos(0, 1)\n", "Did you mean 'transpose'?"},
      {"def f(x: Tensor):\n  return x.shap\n", "Did you mean 'shape'?"},
      {"def f(x: List[int]):\n  x.apend(1)\n", "Did you mean 'append'?"},
      {"def f(x: Dict[str, int]):\n  return x.item()\n", "Did you mean 'items'?"},
      {"def f(x: str):\n  return x.uper()\n", "Did you mean 'upper'?"},
      {"def f(x: float):\n  return math.sqr(x)\n", "Did you mean 'sqrt'?"},
      {"def f(x):\n  return torch.sofmax(x, 0)\n", "Did you mean 'softmax'?"},
      {"def f(x):\n  return x.to(torch.flaot32)\n", "Did you mean 'float32'?"},
      {"def f(x):\n  with torch.no_gard():\n    return x\n", "Did you mean 'no_grad'?"},
      {"def f(x: Tensr):\n  return x\n", "Did you mean 'Tensor'?"},
      {"def f(x):\n  return torch.add(x, x, alph=2)\n", "Did you mean 'alpha'?"},
      {"class P(NamedTuple):\n  first: int\ndef f(p: P):\n  return p.frst\n", "Did you mean 'first'?"},
      {"class C(Enum):\n  RED = 1\ndef f():\n  return C.REDD\n", "Did you mean 'RED'?"},
      {"class M(Module):\n  weight : Tensor\n  def forward(self) -> Tensor:\n    return self.wieght\n",
       "Did you mean 'weight'?"},
      {"def f(a: A):\n  return a.vlue\nclass A:\n  def __init__(self):\n    self.value = 1\n", "Did you mean 'value'?"},
      {"def f(x: Optional[int]):\n  return math.sqrt(x)\n", "may be None"},
      {"def f(n):\n  for i in range(n):\n    pass\n", "write 'n: TYPE'"},
      {"def f(s):\n  t = s\n  return t.split(',')\n", "write 's: str'"},
      {"def f(d):\n  return d['key']\n", "write 'd: TYPE'"},
  };
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) expect_error(wrong[i][0], wrong[i][1]);
  expect_compiles("def f(a: A) -> int:\n  return a.n\nclass A:\n  def __init__(self):\n    self.n = 1\n");
}

static void test_deep_nesting_ends(void **state) {
  (void)state;
  enum { DEPTH = 20000 };
  StrBuf text = {0};
  strbuf_puts(&text, "def f(x):\n  return x");
  for (int i = 0; i < DEPTH; i++) strbuf_puts(&text, " + x");
  strbuf_puts(&text, "\n");
  Program p = compile(text.data);
  release(&p); /* a result or an error */
  strbuf_clear(&text);
  strbuf_puts(&text, "def f(x):\n  return x");
  strbuf_repeat(&text, '[', 300);
  strbuf_repeat(&text, ']', 300);
  strbuf_puts(&text, "\n");
  p = compile(text.data);
  assert_non_null(p.status);
  release(&p);
  strbuf_dispose(&text);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_phi),
      cmocka_unit_test(test_early_return_hides_what_follows),
      cmocka_unit_test(test_many_early_returns),
      cmocka_unit_test(test_nested_loops_carry),
      cmocka_unit_test(test_static_conditions_choose_a_branch),
      cmocka_unit_test(test_refinement),
      cmocka_unit_test(test_classes),
      cmocka_unit_test(test_recursion_is_refused),
      cmocka_unit_test(test_errors_of_several_functions_come_together),
      cmocka_unit_test(test_rejections),
      cmocka_unit_test(test_suggestions),
      cmocka_unit_test(test_deep_nesting_ends),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
