/* Positions and excerpts of sources. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "report/source.h"

static const char TEXT[] = "def f(x):\n  y = 1\n  z = foo(y,\n    z)\n  return z\n";

static void check_highlight(uint32_t begin, uint32_t end, const char *filename, const char *expected) {
  Source *source;
  assert_null(source_new(str_from(TEXT), filename, 1, &source));
  StrBuf text = {0};
  source_range_highlight((SourceRange){source, begin, end}, &text);
  assert_string_equal(text.data, expected);
  strbuf_dispose(&text);
  source_release(source);
}

static void test_excerpts(void **state) {
  (void)state;
  check_highlight(
      24, 27, "f.py",
      "  File \"f.py\", line 3\ndef f(x):\n  y = 1\n  z = foo(y,\n      ~~~ <--- HERE\n    z)\n  return z\n");
  check_highlight(24, 37, NULL,
                  "def f(x):\n  y = 1\n  z = foo(y,\n      ~~~~~~\n    z)\n    ~~ <--- HERE\n  return z\n");
  check_highlight(0, 3, NULL, "def f(x):\n~~~ <--- HERE\n  y = 1\n  z = foo(y,\n");
  check_highlight(49, 500, NULL, "  z = foo(y,\n    z)\n  return z\n          ~ <--- HERE\n");
}

static void test_positions(void **state) {
  (void)state;
  Source *source;
  uint32_t line, column;
  assert_null(source_new(str_from(TEXT), NULL, 11, &source));
  source_position(source, 0, &line, &column);
  assert_int_equal(line, 11);
  assert_int_equal(column, 0);
  source_position(source, 24, &line, &column);
  assert_int_equal(line, 13);
  assert_int_equal(column, 6);
  source_position(source, 1000, &line, &column);
  assert_int_equal(line, 16);
  Status status = source_error(ERROR_COMPILE, (SourceRange){source, 0, 3}, "no %s", "good");
  assert_string_equal(status->message, "no good:\ndef f(x):\n~~~ <--- HERE\n  y = 1\n  z = foo(y,\n");
  status_free(status);
  source_release(source);
}

static void test_long_line_is_cut(void **state) {
  (void)state;
  static char line[100000];
  memset(line, 'a', sizeof line);
  Source *source;
  assert_null(source_new((Str){line, sizeof line}, NULL, 1, &source));
  StrBuf text = {0};
  source_range_highlight((SourceRange){source, 50000, 60000}, &text);
  assert_true(text.length < 1000);
  strbuf_dispose(&text);
  source_release(source);
}

static void test_no_memory(void **state) {
  (void)state;
  for (int n = 1; n <= 4; n++) {
    Source *source;
    mem_fail_after(n);
    Status status = source_new(str_from(TEXT), "f.py", 1, &source);
    mem_fail_after(0);
    assert_ptr_equal(status, status_out_of_memory());
    assert_null(source);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_excerpts),
      cmocka_unit_test(test_positions),
      cmocka_unit_test(test_long_line_is_cut),
      cmocka_unit_test(test_no_memory),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
