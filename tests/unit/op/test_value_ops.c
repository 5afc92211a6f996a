/* Operators on numbers, strings, lists and dicts, called by name as any caller does. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "call/call.h"
#include "call/operator.h"
#include "schema/schema.h"

static Exec exec;

static int setup(void **state) {
  (void)state;
  exec_init(&exec, NULL);
  return 0;
}

#define I(v) ivalue_int(v)
#define F(v) ivalue_float(v)
#define N IVALUE_NONE

static IValue S(const char *text) {
  IValue v;
  assert_null(ivalue_from_str(str_from(text), &v));
  return v;
}

static IValue L(size_t count, const int64_t *items) {
  List *list;
  assert_null(list_from_ints(items, count, &list));
  return ivalue_list(list);
}
#define LIST(...) L(sizeof((int64_t[]){__VA_ARGS__}) / 8, (int64_t[]){__VA_ARGS__})

/* Calls, releases the arguments, and gives the printed results; an error is "! message". Static text. */
static const char *call(const char *name, const char *overload, uint32_t count, const IValue *arguments) {
  static char text[512];
  OpRef ref = {name, overload, NULL};
  const Operator *op = operator_find_overload(str_from(name), str_from(overload));
  if (!op) fail_msg("no operator %s.%s", name, overload);
  uint32_t outputs = operator_schema(op)->return_count;
  IValue results[CALL_MAX_OUTPUTS];
  Status status = op_call(&exec, &ref, count, arguments, outputs, results);
  StrBuf out = {0};
  if (status != OK) {
    strbuf_printf(&out, "! %s", status->message);
    status_free(status);
  }
  for (uint32_t i = 0; i < outputs && status == OK; i++) {
    if (i) strbuf_puts(&out, " | ");
    assert_null(ivalue_print(results[i], &out));
    ivalue_release(results[i]);
  }
  if (!outputs && status == OK) assert_null(ivalue_print(arguments[0], &out));
  for (uint32_t i = 0; i < count; i++) ivalue_release(arguments[i]);
  snprintf(text, sizeof text, "%s", out.data ? out.data : "");
  strbuf_dispose(&out);
  return text;
}
#define ARGS(...)                                                \
  sizeof((IValue[]){__VA_ARGS__}) / sizeof(IValue), (IValue[]) { \
    __VA_ARGS__                                                  \
  }
#define CHECK(expected, name, overload, ...) assert_string_equal(call(name, overload, ARGS(__VA_ARGS__)), expected)

static void numbers(void **state) {
  (void)state;
  CHECK("-9223372036854775808", "aten::add", "int", I(INT64_MAX), I(1));
  CHECK("3.5", "aten::add", "int_float", I(1), F(2.5));
  CHECK("-4", "aten::floordiv", "int", I(-7), I(2));
  CHECK("-9223372036854775808", "aten::floordiv", "int", I(INT64_MIN), I(-1));
  CHECK("! division by 0", "aten::floordiv", "int", I(1), I(0));
  CHECK("1", "aten::remainder", "int", I(-7), I(2));
  CHECK("-0.5", "aten::remainder", "float", F(2.5), F(-1.5));
  CHECK("inf", "aten::div", "int", I(1), I(0));
  CHECK("8.", "aten::pow", "int", I(2), I(3));
  CHECK("-4 | 1", "aten::divmod", "int", I(-7), I(2));
  CHECK("1", "aten::__lshift__", "int", I(1), I(64));
  CHECK("64", "aten::__lshift__", "int", I(1), I(70));
  CHECK("0", "aten::__rshift__", "int", I(1), I(-1));
  CHECK("-4", "aten::__rshift__", "int", I(-8), I(65));
  CHECK("12", "aten::Int", "str", S(" 12"));
  CHECK("7", "aten::Int", "str", S("\t+7"));
  CHECK("! invalid literal for int() with base 10: '-7 '", "aten::Int", "str", S("-7 "));
  CHECK("! could not convert string to float: '1.5 '", "aten::Float", "str", S("1.5 "));
  CHECK("! could not convert string to float: '1e400'", "aten::Float", "str", S("1e400"));
  CHECK("! could not convert string to float: '1e-400'", "aten::Float", "str", S("1e-400"));
  CHECK("0.", "aten::Float", "str", S("0e-400"));
  CHECK("-inf", "aten::Float", "str", S(" -Infinity"));
  CHECK("16.", "aten::Float", "str", S("0x10"));
  CHECK("-12.75", "aten::Float", "str", S("-0x1.98p3"));
  CHECK("! could not convert string to float: '0x'", "aten::Float", "str", S("0x"));
  CHECK("! could not convert string to float: '0x1p'", "aten::Float", "str", S("0x1p"));
  CHECK("! invalid literal for int() with base 10: 'x'", "aten::Int", "str", S("x"));
  CHECK("4", "aten::__range_length", "", I(0), I(10), I(3));
  CHECK("9223372036854775807", "aten::__range_length", "", I(INT64_MIN), I(INT64_MAX), I(1));
  CHECK("2.", "aten::round", "float", F(2.5));
  CHECK("-3", "aten::floor", "float", F(-2.5));
  CHECK("-inf", "aten::log", "float", F(0));
  CHECK("6", "aten::gcd", "int", I(-12), I(18));
  CHECK("2432902008176640000", "aten::factorial", "int", I(20));
}

static void strings(void **state) {
  (void)state;
  CHECK("[a, b, , c]", "aten::split", "str", S("a,b,,c"), S(","), I(-1));
  CHECK("[a, b  c ]", "aten::split", "str", S("  a b  c "), N, I(1));
  CHECK("[a,b, c]", "aten::rsplit", "", S("a,b,c"), S(","), I(1));
  CHECK("! empty separator", "aten::split", "str", S("a"), S(""), I(-1));
  CHECK("cba", "aten::slice", "str", S("abc"), N, N, I(-1));
  CHECK("bd", "aten::slice", "str", S("abcde"), I(1), I(10), I(2));
  CHECK("3", "aten::rfind", "", S("abcabc"), S("a"), I(0), I(-1));
  CHECK("! substring not found", "aten::index", "str", S("abc"), S("x"), I(0), I(-1));
  CHECK("4", "aten::count", "", S("abc"), S(""), I(0), I(-1));
  CHECK("-a-b-", "aten::replace", "", S("ab"), S(""), S("-"), I(-1));
  CHECK("a | . | b.c", "aten::partition", "", S("a.b.c"), S("."));
  CHECK("a.b | . | c", "aten::rpartition", "", S("a.b.c"), S("."));
  CHECK("Hello World", "aten::title", "", S("hELLO wORLD"));
  CHECK("-0xff", "aten::hex", "", I(-255));
  CHECK("! String for ord() must be 1 character, found 2", "aten::ord", "", S("ab"));
  CHECK("a1b2.5", "aten::format", "", S("a{}b{}"), I(1), F(2.5));
  CHECK("{0}", "aten::format", "", S("{0}"), I(1));
  CHECK("! Too few arguments for format string: {}", "aten::format", "", S("{}"));
  CHECK("7|2.500000|x%", "aten::percentFormat", "", S("%s%%"), S("7|2.500000|x"));
  CHECK("! Incomplete format specifier", "aten::percentFormat", "", S("%"), I(1));
}

static void lists(void **state) {
  (void)state;
  CHECK("3", "aten::__getitem__", "t", LIST(1, 2, 3), I(-1));
  CHECK("! list index out of range", "aten::__getitem__", "t", LIST(1), I(1));
  CHECK("! pop from empty list", "aten::pop", "t", L(0, NULL), I(-1));
  CHECK("[9, 1]", "aten::insert", "t", LIST(1), I(-5), I(9));
  CHECK("[5, 3, 1]", "aten::slice", "t", LIST(1, 2, 3, 4, 5), N, N, I(-2));
  CHECK("[1, 2, 1, 2]", "aten::mul", "left_t", LIST(1, 2), I(2));
  CHECK("[]", "aten::mul", "left_t", LIST(1, 2), I(-2));
  CHECK("! a list would have more than 2147483647 items", "aten::mul", "left_t", LIST(1, 2), I(INT64_MAX));
  CHECK("[3, 2, 1]", "aten::sort", "int", LIST(2, 3, 1), ivalue_bool(true));
  CHECK("! list.remove(x): x not in list", "aten::remove", "int", LIST(1), I(2));
  CHECK("! max() arg is an empty sequence", "prim::max", "self_int", L(0, NULL));
  CHECK("[1, 3]", "prim::max", "int_list", LIST(1, 2), LIST(1, 3));
  IValue self = LIST(1, 2);
  CHECK("[1, 2, 1, 2]", "aten::extend", "t", self, ivalue_retain(self));
  IValue words = S("b a c");
  IValue list;
  static OpRef split = OP_REF("aten::split", "str");
  assert_null(op_call(&exec, &split, 1, &words, 1, &list));
  ivalue_release(words);
  CHECK("[a, b, c]", "aten::sorted", "str", list);
}

static IValue dict(void) {
  Dict *d;
  assert_null(dict_new(TYPE(STRING), TYPE(INT), &d));
  assert_null(dict_set(d, S("a"), I(1)));
  assert_null(dict_set(d, S("b"), I(2)));
  return ivalue_dict(d);
}

static void dicts(void **state) {
  (void)state;
  CHECK("[a, b]", "aten::keys", "str", dict());
  CHECK("[(a, 1), (b, 2)]", "aten::items", "str", dict());
  CHECK("! x", "aten::__getitem__", "Dict_str", dict(), S("x"));
  CHECK("None", "aten::get", "str", dict(), S("x"));
  CHECK("7", "aten::get", "default_str", dict(), S("x"), I(7));
  CHECK("(a, 1)", "aten::popitem", "str", dict());
  CHECK("{a: 1, b: 5}", "aten::_set_item", "str", dict(), S("b"), I(5));
  CHECK("{b: 2}", "aten::Delete", "Dict_str", dict(), S("a"));
  CHECK("True", "aten::__contains__", "str", dict(), S("a"));
  CHECK("{a: 1, b: 2}", "aten::update", "str", dict(), dict());
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(numbers), cmocka_unit_test(strings), cmocka_unit_test(lists),
                                     cmocka_unit_test(dicts)};
  return cmocka_run_group_tests(tests, setup, NULL);
}
