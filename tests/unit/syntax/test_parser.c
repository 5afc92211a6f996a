/* Text in, s-expressions out; what does not parse ends in a message. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <pthread.h>

#include "syntax/view.h"

#include "syntax/parser.h"

typedef struct Case {
  const char *text, *tree; /* the tree on one line, or the first line of the error */
} Case;

#define V(name) "(variable (ident " name "))"

static const Case EXPRESSIONS[] = {
    {"z.sigmoid() - (x + y)", "(- (apply (. " V("z") " (ident sigmoid)) (list) (list)) (+ " V("x") " " V("y") "))"},
    {"a + b * c - d", "(- (+ " V("a") " (* " V("b") " " V("c") ")) " V("d") ")"},
    {"-x ** -2", "(unary minus (pow operator " V("x") " (unary minus (const 2))))"},
    {"2 ** 3 ** 4", "(pow operator (const 2) (pow operator (const 3) (const 4)))"},
    {"a @ b // c % d", "(% (floordiv (@ " V("a") " " V("b") ") " V("c") ") " V("d") ")"},
    {"a | b ^ c & d << 1 >> 2",
     "(| " V("a") " (^ " V("b") " (& " V("c") " (>> (<< " V("d") " (const 1)) (const 2)))))"},
    {"not a and b or c", "(or (and (not " V("a") ") " V("b") ") " V("c") ")"},
    {"a < b <= c", "(and (< " V("a") " " V("b") ") (le " V("b") " " V("c") "))"},
    {"a is not b not in c", "(and (is not " V("a") " " V("b") ") (not (in " V("b") " " V("c") ")))"},
    {"a is None", "(is " V("a") " (None))"},
    {"not a == b", "(not (eq " V("a") " " V("b") "))"},
    {"a if b else c if d else e", "(if " V("b") " " V("a") " (if " V("d") " " V("c") " " V("e") "))"},
    {"~a", "(~ " V("a") ")"},
    {"()", "(tuple-literal (list))"},
    {"(a)", V("a")},
    {"(a,)", "(tuple-literal (list " V("a") "))"},
    {"a, *b", "(tuple-literal (list " V("a") " (starred " V("b") ")))"},
    {"[1, 2,]", "(list-literal (list (const 1) (const 2)))"},
    {"{}", "(dict-literal (list) (list))"},
    {"{1: a, 2: b,}", "(dict-literal (list (const 1) (const 2)) (list " V("a") " " V("b") "))"},
    {"[x for x in y]", "(list comprehension " V("x") " " V("x") " " V("y") ")"},
    {"[a for a, b in y if a if b]", "(list comprehension " V("a") " (tuple-literal (list " V("a") " " V("b") ")) " V(
                                        "y") " (list " V("a") " " V("b") "))"},
    {"{k: v for k in y if k}", "(dict comprehension " V("k") " " V("v") " " V("k") " " V("y") " (list " V("k") "))"},
    {"any(x for x in y)", "(apply " V("any") " (list (list comprehension " V("x") " " V("x") " " V("y") ")) (list))"},
    {"f(a, *b, c=1, d=2)",
     "(apply " V("f") " (list " V("a") " (starred " V("b") ")) (list (attribute (ident c) (const 1)) "
                                                           "(attribute (ident d) (const 2))))"},
    {"x[1]", "(subscript " V("x") " (list (const 1)))"},
    {"x[1:, ..., ::2, None]", "(subscript " V("x") " (list (slice expr (option (const 1)) (option) (option)) (dots) "
                                                   "(slice expr (option) (option) (option (const 2))) (None)))"},
    {"x[(1, 2)]", "(subscript " V("x") " (list (const 1) (const 2)))"},
    {"T[()]", "(subscript " V("T") " (list (tuple-literal (list))))"},
    {"CONSTANTS.c0", "(. " V("CONSTANTS") " (ident c0))"},
    {"__torch__.a.___torch_mangle_0.B", "(. (. (. " V("__torch__") " (ident a)) (ident ___torch_mangle_0)) (ident B))"},
    {"annotate(List[int], [])",
     "(apply " V("annotate") " (list (subscript " V("List") " (list " V("int") ")) (list-literal (list))) (list))"},
    {"-inf", "(unary minus " V("inf") ")"},
    {"1_000 + 0x_f", "(+ (const 1000) (const 0xf))"},
    {"'a' \"b\" '''c'''", "(string_literal abc)"},
    {"'\\x41\\102\\u00e9\\n\\q\\''", "(string_literal AB\xC3\xA9\n\\q')"},
    {"r'\\n'", "(string_literal \\n)"},
    {"f'{x}a{y + 1}'",
     "(apply (. (string_literal {}a{}) (ident format)) (list " V("x") " (+ " V("y") " (const 1))) (list))"},
    {"f'a{{'", "(string_literal a{)"},
    {"f'{{}}{x}'", "(apply (. (string_literal {}{}) (ident format)) (list (string_literal {}) " V("x") ") (list))"},
    {"f'{d[\"k\"]}'",
     "(apply (. (string_literal {}) (ident format)) (list (subscript " V("d") " (list (string_literal k)))) (list))"},
    {"f'{x!r}'", "(unsupported Don't support conversion in JoinedStr)"},
    {"f'{x:>{w}}'", "(unsupported Don't support formatting in JoinedStr)"},
    {"lambda x, *y, z=1: x", "(unsupported Lambda aren't supported)"},
    {"{1, 2}", "(unsupported Set aren't supported)"},
    {"b'x'", "(unsupported Unknown Constant expression type: bytes are not supported)"},
    {"(x := 1)", "(unsupported NamedExpr aren't supported)"},
    {"await x", "(unsupported Await aren't supported)"},
    {"+x", "(unsupported unsupported unary operator: UAdd)"},
    {"[x for x in y for z in x]", "(unsupported Only a single generator is currently supported)"},
    {"f(**k)", "(apply " V("f") " (list (unsupported keyword-arg expansion is not supported)) (list))"},
    {"a +", "expected an expression but found end of file here:"},
    {"f(a=1, b)", "expected a keyword argument but found 'b' here:"},
    {"(a b)", "expected ',' or ')' but found 'b' here:"},
    {"a b", "expected end of the expression but found 'b' here:"},
    {"x[]", "expected an index but found ']' here:"},
    {"a if b", "expected else but found end of file here:"},
    {"f'{x'", "f-string: '}' is missing:"},
    {"f'}'", "f-string: a single '}' is not allowed:"},
    {"f'{}'", "f-string: an expression is missing:"},
    {"'\\x4'", "an escape with too few hexadecimal digits:"},
};

#define DEF(params, type, body) "(def (ident f) (decl " params " " type ") (list " body "))"

static const Case FILES[] = {
    {"", "(list)"},
    {"x = y = 1\n", "(list (assign (list " V("x") " " V("y") ") (option (const 1)) (option)))"},
    {"a, b = c", "(list (assign (list (tuple-literal (list " V("a") " " V("b") "))) (option " V("c") ") (option)))"},
    {"x: int", "(list (assign (list " V("x") ") (option) (option " V("int") ")))"},
    {"x: int = 1", "(list (assign (list " V("x") ") (option (const 1)) (option " V("int") ")))"},
    {"x = []  # type: List[int]\n",
     "(list (assign (list " V("x") ") (option (list-literal (list))) (option (subscript " V("List") " (list " V(
         "int") ")))))"},
    {"x //= 2; y @= x", "(list (aug_assign " V("x") " (floordiv) (const 2)) (aug_assign " V("y") " (@) " V("x") "))"},
    {"def f(): pass", "(list " DEF("(list)", "(option)", "(pass)") ")"},
    {"def f(a: int, b=1, *, c: float) -> int:\n  return a\n",
     "(list " DEF("(list (param (ident a) (option " V(
                      "int") ") (option) (False)) (param (ident b) (option) (option (const 1)) "
                             "(False)) (param (ident c) (option " V("float") ") (option) (True)))",
                  "(option " V("int") ")", "(return " V("a") ")") ")"},
    {"def f(*a, **k): return",
     "(list " DEF("(list (param (ident a) (option) (option) (starred)) (param (ident k) (option) "
                  "(option) (pow operator)))",
                  "(option)", "(return (None))") ")"},
    {"def f(self, x):\n  # type: (int) -> float\n  pass\n",
     "(list " DEF(
         "(list (param (ident self) (option) (option) (False)) (param (ident x) (option " V("int") ") (option) "
                                                                                                   "(False)))",
         "(option " V("float") ")", "(pass)") ")"},
    {"def f(x,  # type: int\n      y  # type: str\n      ):\n  # type: (...) -> float\n  pass\n",
     "(list " DEF("(list (param (ident x) (option " V("int") ") (option) (False)) (param (ident y) (option " V(
                      "str") ") (option) (False)))",
                  "(option " V("float") ")", "(pass)") ")"},
    {"@torch.jit.script\ndef f(): pass", "(list (def (ident f) (decl (list) (option)) (list (pass)) (list (. (. " V(
                                             "torch") " (ident jit)) (ident script)))))"},
    {"class A(B):\n  x: int\n  def f(self): pass\n",
     "(list (class (ident A) (list " V("B") ") (list (assign (list " V("x") ") (option) (option " V("int") ")) " DEF(
         "(list (param (ident self) (option) (option) (False)))", "(option)", "(pass)") ") (list)))"},
    {"if a:\n  b\nelif c: d\nelse:\n  e\n",
     "(list (if " V("a") " (list (expression statement " V("b") ")) (list (if " V(
         "c") " (list (expression statement " V("d") ")) (list (expression statement " V("e") "))))))"},
    {"while a: break", "(list (while " V("a") " (list (break))))"},
    {"for a, b in c, d:\n  continue",
     "(list (for (list (tuple-literal (list " V("a") " " V("b") "))) (list (tuple-literal (list " V("c") " " V(
         "d") "))) (list (continue))))"},
    {"with a as b, c: pass",
     "(list (with (list (withitem " V("a") " (option " V("b") ")) (withitem " V("c") " (option))) (list (pass))))"},
    {"assert a, 'm'", "(list (assert " V("a") " (option (string_literal m))))"},
    {"raise E('m') from e\nraise", "(list (raise (apply " V("E") " (list (string_literal m)) (list))) (raise (None)))"},
    {"del a, b[0]", "(list (del (list " V("a") " (subscript " V("b") " (list (const 0))))))"},
    {"import a.b as c, d\nfrom .e import (f, g as h,)\nfrom . import *\n",
     "(list (import (option) (list (alias (ident a.b) (option (ident c))) (alias (ident d) (option)))) "
     "(import (option (ident .e)) (list (alias (ident f) (option)) (alias (ident g) (option (ident h))))) "
     "(import (option (ident .)) (list (alias (ident *) (option)))))"},
    {"global a, b", "(list (unsupported global variables aren't supported))"},
    {"try:\n  a\nexcept E as e:\n  b\nelse: c\nfinally: d\n", "(list (unsupported try blocks aren't supported))"},
    {"while a:\n  b\nelse:\n  c\n", "(list (unsupported else branches of loops aren't supported))"},
    {"def f():\n  yield 1",
     "(list " DEF("(list)", "(option)", "(expression statement (unsupported Yield aren't supported))") ")"},
    {"async def f(): pass", "(list (unsupported async is not supported))"},
    {"x = yield", "(list (assign (list " V("x") ") (option (unsupported Yield aren't supported)) (option)))"},
    {"f() = 1", "cannot assign to this expression:"},
    {"a, 1 = x", "cannot assign to this expression:"},
    {"if a:\nb", "expected an indented block but found 'b' here:"},
    {"a\n  b", "unexpected indent:"},
    {"def f(x, /): pass", "expected parameter ('/' is not supported in TorchScript) but found '/' here:"},
    {"def f(x):\n  # type: (int, int) -> int\n  pass",
     "Number of type annotations (2) did not match the number of function parameters (1):"},
    {"@a\nx = 1", "expected def or class but found 'x' here:"},
    {"print 1", "expected newline but found '1' here:"},
};

typedef struct Job {
  Arena arena;
  Source *source;
  Tree *(*parse)(Arena *arena, const Source *source, int flags);
  int flags;
  StrBuf out;
} Job;

static void parse_and_print(void *argument) {
  Job *job = argument;
  tree_print(job->parse(&job->arena, job->source, job->flags), &job->out);
}

/* The printed tree, or the error's first line; printed line breaks and their indentation become one blank. */
static char *result_of(Tree *(*parse)(Arena *, const Source *, int), Str text, int flags) {
  Job job = {.parse = parse, .flags = flags};
  char *result;
  assert_null(source_new(text, NULL, 1, &job.source));
  Status status = arena_protect(&job.arena, parse_and_print, &job);
  if (status) {
    strbuf_clear(&job.out);
    strbuf_append(&job.out, status->message, strcspn(status->message, "\n"));
    assert_int_equal(status->code, ERROR_SYNTAX);
    status_free(status);
  }
  StrBuf flat = {0};
  for (size_t i = 0; i < job.out.length; i++) {
    size_t blanks = strspn(job.out.data + i + 1, " ");
    bool breaks = job.out.data[i] == '\n' && job.out.data[i + 1 + blanks] == '(';
    strbuf_char(&flat, breaks ? ' ' : job.out.data[i]);
    if (breaks) i += blanks;
  }
  assert_null(strbuf_take(&flat, &result));
  strbuf_dispose(&job.out);
  arena_dispose(&job.arena);
  source_release(job.source);
  return result;
}

static void check(Tree *(*parse)(Arena *, const Source *, int), const Case *cases, size_t count) {
  for (size_t i = 0; i < count; i++) {
    char *result = result_of(parse, str_from(cases[i].text), PARSE_PYTHON);
    if (strcmp(result, cases[i].tree)) print_error("of: %s\n", cases[i].text);
    assert_string_equal(result, cases[i].tree);
    mem_free(result);
  }
}

static void test_expressions(void **state) {
  (void)state;
  check(parse_expression, EXPRESSIONS, sizeof EXPRESSIONS / sizeof *EXPRESSIONS);
}

static void test_files(void **state) {
  (void)state;
  check(parse_file, FILES, sizeof FILES / sizeof *FILES);
}

static void test_layout_and_archive_escapes(void **state) {
  (void)state;
  Job job = {.parse = parse_expression};
  assert_null(source_new(STR("z.sigmoid() - (x + y)"), NULL, 1, &job.source));
  assert_null(arena_protect(&job.arena, parse_and_print, &job));
  assert_string_equal(
      job.out.data,
      "(-\n  (apply\n    (.\n      (variable (ident z))\n      (ident sigmoid))\n    (list)\n    (list))\n"
      "  (+\n    (variable (ident x))\n    (variable (ident y))))");
  strbuf_dispose(&job.out);
  arena_dispose(&job.arena);
  source_release(job.source);
  char *result = result_of(parse_expression, STR("'\\303\\251'"), PARSE_ARCHIVE);
  assert_string_equal(result, "(string_literal \xC3\xA9)");
  mem_free(result);
}

/* `count` times `piece` between a head and a tail. */
static void check_repeated(Tree *(*parse)(Arena *, const Source *, int), const char *head, const char *piece, int count,
                           const char *tail, const char *error_or_null) {
  StrBuf text = {0};
  strbuf_puts(&text, head);
  for (int i = 0; i < count; i++) strbuf_puts(&text, piece);
  strbuf_puts(&text, tail);
  char *result = result_of(parse, strbuf_view(&text), PARSE_PYTHON);
  if (error_or_null)
    assert_non_null(strstr(result, error_or_null));
  else
    assert_int_equal(result[0], '(');
  mem_free(result);
  strbuf_dispose(&text);
}

static void check_all_depths(void) {
  check_repeated(parse_expression, "", "(", 10000, "", "nested too deeply");
  check_repeated(parse_expression, "", "[", 10000, "", "nested too deeply");
  check_repeated(parse_expression, "", "{1:", 10000, "", "nested too deeply");
  check_repeated(parse_expression, "", "f(", 10000, "", "nested too deeply");
  check_repeated(parse_expression, "", "-", 10000, "x", "nested too deeply");
  check_repeated(parse_expression, "", "not ", 10000, "x", "nested too deeply");
  check_repeated(parse_expression, "", "lambda: ", 10000, "x", "nested too deeply");
  check_repeated(parse_expression, "", "a if b else ", 10000, "x", "nested too deeply");
  check_repeated(parse_expression, "x", "**x", 10000, "", "nested too deeply");
  check_repeated(parse_expression, "x", "+x", 100000, "", "too deeply");
  check_repeated(parse_file, "if x:\n  y\n", "elif x:\n  y\n", 100000, "", "too deeply");
  check_repeated(parse_file, "", "class A: ", 10000, "", "expected");
}

static void test_depth(void **state) {
  (void)state;
  check_all_depths();
  check_repeated(parse_expression, "x", "+x", 3000, "", NULL);
  check_repeated(parse_expression, "x", ".a", 3000, "", NULL);
  check_repeated(parse_file, "if x:\n  y\n", "elif x:\n  y\n", 1500, "", NULL);
  check_repeated(parse_expression, "", "(", 900, "x", "never closed");
  /* Each level doubles the tree that would result: 2^30 nodes of 200 characters. */
  StrBuf text = {0};
  for (int i = 0; i < 30; i++) strbuf_puts(&text, "a<(");
  strbuf_char(&text, 'x');
  for (int i = 0; i < 30; i++) strbuf_puts(&text, ")<b");
  char *result = result_of(parse_expression, strbuf_view(&text), PARSE_PYTHON);
  assert_string_equal(result, "chained comparisons are nested too deeply:");
  mem_free(result);
  strbuf_clear(&text);
  for (int i = 0; i < 1000; i++) {
    strbuf_repeat(&text, ' ', (size_t)i);
    strbuf_puts(&text, "if x:\n");
  }
  result = result_of(parse_file, strbuf_view(&text), PARSE_PYTHON);
  assert_string_equal(result, "blocks are nested too deeply:");
  mem_free(result);
  strbuf_dispose(&text);
}

static void *on_small_stack(void *argument) {
  check_all_depths();
  return argument;
}

static void test_depth_on_small_stack(void **state) {
  (void)state;
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, 256 << 10);
  pthread_t thread;
  assert_int_equal(pthread_create(&thread, &attributes, on_small_stack, NULL), 0);
  pthread_join(thread, NULL);
  pthread_attr_destroy(&attributes);
}

static void use_views(void *argument) {
  Job *job = argument;
  Tree *def = parse_def(&job->arena, job->source, PARSE_PYTHON);
  assert_true(str_is(ident_text(def_name(def)), "g"));
  Tree *param = decl_params(def_decl(def))->children[0];
  Tree *type = option_get(param_type(param));
  assert_int_equal(type->kind, TK_STRINGLITERAL);
  Tree *parsed = parse_string_annotation(&job->arena, type);
  assert_true(str_is(var_text(subscript_value(parsed)), "List"));
  assert_int_equal(parsed->range.begin, type->range.begin);
  assert_null(option_get(param_default(param)));
  assert_null(def_decorators(def));
  Tree *ret = def_body(def)->children[0];
  assert_true(str_is(var_text(binary_lhs(return_value(ret))), "x"));
  unsupported_throw(&job->arena, binary_rhs(return_value(ret)));
}

static void test_views(void **state) {
  (void)state;
  Job job = {0};
  assert_null(source_new(STR("def g(x: 'List[int]'):\n  return x + (lambda: 1)\n"), NULL, 1, &job.source));
  Status status = arena_protect(&job.arena, use_views, &job);
  assert_non_null(status);
  assert_int_equal(status->code, ERROR_COMPILE);
  assert_string_equal(status->message,
                      "Lambda aren't supported:\ndef g(x: 'List[int]'):\n"
                      "  return x + (lambda: 1)\n              ~~~~~~~~~ <--- HERE\n");
  status_free(status);
  arena_dispose(&job.arena);
  source_release(job.source);
}

static void test_numbers(void **state) {
  (void)state;
  int64_t i;
  double d;
  assert_int_equal(number_parse(STR("0x1F"), false, &i, &d), NUMBER_INT);
  assert_int_equal(i, 31);
  assert_int_equal(number_parse(STR("0b101"), true, &i, &d), NUMBER_INT);
  assert_int_equal(i, -5);
  assert_int_equal(number_parse(STR("9223372036854775808"), true, &i, &d), NUMBER_INT);
  assert_true(i == INT64_MIN);
  assert_int_equal(number_parse(STR("9223372036854775808"), false, &i, &d), NUMBER_OUT_OF_RANGE);
  assert_int_equal(number_parse(STR("1.5e3"), true, &i, &d), NUMBER_FLOAT);
  assert_true(d == -1500);
  assert_int_equal(number_parse(STR("2J"), false, &i, &d), NUMBER_COMPLEX);
  assert_true(d == 2);
}

static void test_memory_runs_out(void **state) {
  (void)state;
  for (int n = 1; n < 40; n++) {
    Job job = {.parse = parse_file};
    assert_null(source_new(STR("def f(x):\n  return 'a' f'{x}b' + x[1:2]\n"), NULL, 1, &job.source));
    mem_fail_after(n);
    Status status = arena_protect(&job.arena, parse_and_print, &job);
    mem_fail_after(0);
    assert_true(status == OK || status->code == ERROR_OUT_OF_MEMORY);
    status_free(status);
    strbuf_dispose(&job.out);
    arena_dispose(&job.arena);
    source_release(job.source);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_expressions),
      cmocka_unit_test(test_files),
      cmocka_unit_test(test_layout_and_archive_escapes),
      cmocka_unit_test(test_depth),
      cmocka_unit_test(test_depth_on_small_stack),
      cmocka_unit_test(test_views),
      cmocka_unit_test(test_numbers),
      cmocka_unit_test(test_memory_runs_out),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
