/* Text: numbers in both directions, the buffer's limits, UTF-8, distances. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/format.h"
#include "base/str.h"

static void check_double(double value, const char *expected) {
  StrBuf text = {0};
  strbuf_double(&text, value);
  assert_string_equal(text.data, expected);
  strbuf_dispose(&text);
}

static void test_shortest_double(void **state) {
  (void)state;
  check_double(0.0, "0.0");
  check_double(-0.0, "-0.0");
  check_double(1, "1.0");
  check_double(0.1, "0.1");
  check_double(100, "100.0");
  check_double(1e15, "1000000000000000.0");
  check_double(1e16, "1e+16");
  check_double(123456789012345680.0, "1.2345678901234568e+17");
  check_double(0.0001, "0.0001");
  check_double(0.00001, "1e-05");
  check_double(1.5e-7, "1.5e-07");
  check_double(1.0 / 3, "0.3333333333333333");
  check_double(2.0 / 3, "0.6666666666666666");
  check_double(5e-324, "5e-324");
  check_double(ldexp(1, -44), "5.684341886080802e-14");
  check_double(1.7976931348623157e308, "1.7976931348623157e+308");
  check_double(2.2250738585072014e-308, "2.2250738585072014e-308");
  check_double(9007199254740993.0, "9007199254740992.0");
  check_double(INFINITY, "inf");
  check_double(-INFINITY, "-inf");
  check_double(NAN, "nan");
}

static void test_doubles_read_back(void **state) {
  (void)state;
  srand(7);
  for (int i = 0; i < 20000; i++) {
    uint64_t bits = 0;
    for (int k = 0; k < 5; k++) bits = bits << 15 ^ (uint64_t)rand();
    double value, back;
    memcpy(&value, &bits, sizeof value);
    if (!isfinite(value)) continue;
    StrBuf text = {0};
    strbuf_double(&text, value);
    assert_true(str_to_double(strbuf_view(&text), &back));
    assert_memory_equal(&back, &value, sizeof value);
    strbuf_dispose(&text);
  }
}

static void test_reading_numbers(void **state) {
  (void)state;
  double d;
  int64_t i;
  assert_true(str_to_double(STR("1."), &d) && d == 1);
  assert_true(str_to_double(STR(".5e1"), &d) && d == 5);
  assert_true(str_to_double(STR("-Infinity"), &d) && isinf(d) && d < 0);
  assert_true(str_to_double(STR("nan"), &d) && isnan(d));
  const char *bad[] = {"", ".", "e5", "1e", "0x10", " 1", "1 ", "1,5", "--1", "1e+", "infi"};
  for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) assert_false(str_to_double(str_from(bad[k]), &d));
  assert_true(str_to_int64(STR("-9223372036854775808"), 10, &i) && i == INT64_MIN);
  assert_true(str_to_int64(STR("7fFF"), 16, &i) && i == 0x7fff);
  assert_false(str_to_int64(STR("9223372036854775808"), 10, &i));
  assert_false(str_to_int64(STR("12a"), 10, &i));
  assert_false(str_to_int64(STR("-"), 10, &i));
  StrBuf text = {0};
  strbuf_double_g(&text, 1234567.0, 6);
  strbuf_char(&text, ' ');
  strbuf_double_g(&text, 0.5, 4);
  assert_string_equal(text.data, "1.23457e+06 0.5");
  strbuf_dispose(&text);
}

static void test_buffer_limits(void **state) {
  (void)state;
  StrBuf text = {.max_length = 8};
  strbuf_puts(&text, "12345");
  strbuf_printf(&text, "%s", "6789");
  assert_string_equal(text.data, "12345678");
  assert_true(text.truncated);
  char *taken;
  assert_null(strbuf_take(&text, &taken));
  assert_string_equal(taken, "12345678");
  mem_free(taken);
  mem_fail_after(1);
  strbuf_puts(&text, "lost");
  mem_fail_after(0);
  assert_ptr_equal(strbuf_take(&text, &taken), status_out_of_memory());
  assert_null(strbuf_take(&text, &taken));
  assert_string_equal(taken, "");
  mem_free(taken);
}

static void test_utf8(void **state) {
  (void)state;
  const uint32_t points[] = {0, 0x7F, 0x80, 0x7FF, 0x800, 0xFFFF, 0x10000, 0x10FFFF};
  for (size_t i = 0; i < sizeof points / sizeof *points; i++) {
    char bytes[4];
    size_t length = utf8_encode(points[i], bytes), position = 0;
    assert_int_equal(utf8_next((Str){bytes, length}, &position), points[i]);
    assert_int_equal(position, length);
  }
  const char *bad[] = {"\x80", "\xC0\x80", "\xE0\x80\x80", "\xED\xA0\x80", "\xF4\x90\x80\x80", "\xF0\x9F\x98", "\xFF"};
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    size_t position = 0;
    assert_int_equal(utf8_next(str_from(bad[i]), &position), 0xFFFD);
    assert_int_equal(position, 1);
  }
}

static void check_format(const char *format, ...) {
  char expected[200], made[200];
  for (size_t room = 0; room < 60; room++) {
    va_list arguments;
    memset(expected, '#', sizeof expected);
    memset(made, '#', sizeof made);
    va_start(arguments, format);
    int length = vsnprintf(expected, room, format, arguments);
    va_end(arguments);
    va_start(arguments, format);
    assert_int_equal(text_format(made, room, format, arguments), length);
    va_end(arguments);
    assert_memory_equal(made, expected, sizeof made);
  }
}

/* As the C library has it, plain conversions and others, whatever the room. */
static void test_formats(void **state) {
  (void)state;
  check_format("no conversion");
  check_format("%s and %s, 100%%", "one", "");
  check_format("<%.*s> <%.*s> <%.*s>", 3, "four", 9, "four", 0, "four");
  check_format("<%.*s> %c%c", -1, "whole", 'a', 'z');
  check_format("%d %d %d %u %u", 0, INT_MIN, INT_MAX, 0u, UINT_MAX);
  check_format("%zu %zu %lld %lld %llu", (size_t)0, SIZE_MAX, LLONG_MIN, LLONG_MAX, ULLONG_MAX);
  check_format("%s %5d %s", "before", 42, "after");
  check_format("%.3f %x %p %ld %-8s|%02d", 0.5, 255, (void *)&check_format, -7l, "left", 3);
  check_format("%.*s|", 0, (const char *)NULL);
}

/* Every byte counts, and the length. */
static void test_hash(void **state) {
  (void)state;
  char text[40] = "the hash of a text of some forty bytes.";
  for (size_t length = 0; length < sizeof text; length++) {
    Str whole = {text, length};
    uint64_t hash = str_hash(whole);
    char copy[sizeof text];
    memcpy(copy, text, sizeof text);
    assert_true(str_hash((Str){copy, length}) == hash);
    if (length) assert_true(str_hash((Str){text, length - 1}) != hash);
    for (size_t i = 0; i < length; i++) {
      copy[i] ^= 1;
      assert_true(str_hash((Str){copy, length}) != hash);
      copy[i] ^= 1;
    }
  }
}

static void test_distance(void **state) {
  (void)state;
  assert_int_equal(str_distance(STR("sigmoid"), STR("sigmiod"), 2), 1);
  assert_int_equal(str_distance(STR("relu"), STR("relu6"), 2), 1);
  assert_int_equal(str_distance(STR(""), STR("abc"), 5), 3);
  assert_int_equal(str_distance(STR("kitten"), STR("sitting"), 5), 3);
  assert_int_equal(str_distance(STR("kitten"), STR("sitting"), 1), 2);
  assert_true(str_compare(STR("a"), STR("ab")) < 0);
  assert_true(str_ends_with(STR("a.pt"), ".pt"));
}

/* Texts read from files may hold zeros, where a C string ends. */
static void test_equality(void **state) {
  (void)state;
  assert_true(str_is(STR("torch"), "torch"));
  assert_true(str_is(STR(""), ""));
  assert_false(str_is(STR(""), "t"));
  assert_false(str_is(STR("torch"), ""));
  assert_false(str_is(STR("torch"), "torc"));
  assert_false(str_is(STR("torc"), "torch"));
  assert_false(str_is(STR("torch\0torch"), "torch"));
  assert_false(str_is(STR("torch\0"), "torch"));
  assert_false(str_is(STR("\0"), ""));
}

static void expect_escaped(Str text, const char *kept, const char *wanted) {
  StrBuf out = {0};
  strbuf_escape(&out, text, kept);
  assert_false(out.failed);
  assert_true(str_is(strbuf_view(&out), wanted));
  strbuf_dispose(&out);
}
static void test_escape(void **state) {
  (void)state;
  expect_escaped(STR(""), "", "");
  expect_escaped(STR("plain \\ \"text\""), "", "plain \\ \"text\"");
  expect_escaped(STR("\x1b[1m\a\x7f\0end"), "", "\\x1b[1m\\x07\\x7f\\x00end");
  expect_escaped(STR("a\nb\tc\rd"), "", "a\\nb\\tc\\rd");
  expect_escaped(STR("a\nb\tc\rd\r\ne\r"), "\n\t", "a\nb\tc\\rd\r\ne\\r");
  expect_escaped(STR("\0"), "\n", "\\x00");
  /* of two bytes: the introducer of sequences; its neighbors are letters */
  expect_escaped(STR("\xC2\x9B"
                     "2J\xC2\x80\xC2\x9F\xC2\xA0"),
                 "", "\\u009b2J\\u0080\\u009f\xC2\xA0");
  expect_escaped(STR("\xC3\xA9\xE2\x82\xAC\xF0\x9F\x90\x8D\xEF\xBF\xBD"), "",
                 "\xC3\xA9\xE2\x82\xAC\xF0\x9F\x90\x8D\xEF\xBF\xBD");
  /* alone, cut short, too long for what it says, half of a pair */
  expect_escaped(STR("\x9B"
                     "a\xC3"),
                 "", "\\x9ba\\xc3");
  expect_escaped(STR("\xC0\x9B\xE0\x82\x9B\xED\xA0\x80"), "", "\\xc0\\x9b\\xe0\\x82\\x9b\\xed\\xa0\\x80");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_equality),          cmocka_unit_test(test_shortest_double),
      cmocka_unit_test(test_doubles_read_back), cmocka_unit_test(test_reading_numbers),
      cmocka_unit_test(test_buffer_limits),     cmocka_unit_test(test_utf8),
      cmocka_unit_test(test_distance),          cmocka_unit_test(test_hash),
      cmocka_unit_test(test_formats),           cmocka_unit_test(test_escape),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
