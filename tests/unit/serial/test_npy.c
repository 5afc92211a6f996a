/* NumPy's files: versions of the format, orders of bytes, and why others are refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "serial/serial.h"

/* A file of that version with the header's dict, padded with spaces up to `header_length`, and data. */
static Status load(int version, const char *dict, size_t header_length, const void *data, size_t bytes, IValue *out) {
  size_t prefix = version == 1 ? 10 : 12, used = strlen(dict);
  if (header_length < used + 1) header_length = used + 1;
  size_t length = prefix + header_length + bytes;
  unsigned char *file = malloc(length);
  assert_non_null(file);
  memcpy(file, "\x93NUMPY", 6);
  file[6] = (unsigned char)version;
  file[7] = 0;
  for (size_t i = 8; i < prefix; i++) file[i] = (unsigned char)(header_length >> (8 * (i - 8)));
  memset(file + prefix, ' ', header_length);
  memcpy(file + prefix, dict, used);
  file[prefix + header_length - 1] = '\n';
  memcpy(file + prefix + header_length, data, bytes);
  ByteSource *source;
  assert_null(byte_source_from_memory(file, length, &source));
  Status status = npy_load(source, out);
  byte_source_release(source);
  free(file);
  return status;
}

static void expect_values(int version, const char *dict, size_t header_length, const void *data, size_t bytes,
                          const char *text) {
  IValue value;
  StrBuf printed = {0};
  assert_null(load(version, dict, header_length, data, bytes, &value));
  assert_null(ivalue_print(value, &printed));
  strbuf_char(&printed, '\0');
  if (!strstr(printed.data, text)) fail_msg("%s: '%s' has no '%s'", dict, printed.data, text);
  strbuf_dispose(&printed);
  ivalue_release(value);
}
static void expect_refusal(int version, const char *dict, const char *text) {
  IValue value;
  Status status = load(version, dict, 0, "0123456789abcdef", 16, &value);
  if (!status) fail_msg("%s was read", dict);
  if (!strstr(status->message, text)) fail_msg("'%s' does not say '%s'", status->message, text);
  status_free(status);
}
#define DICT(descr) "{'descr': " descr ", 'fortran_order': False, 'shape': (2,), }"

static void test_versions(void **state) {
  (void)state;
  for (int version = 1; version <= 3; version++)
    expect_values(version, DICT("'<i4'"), 118, "\1\0\0\0\2\1\0\0", 8, " 1\n 258");
  expect_values(2, DICT("'<i4'"), 70000, "\1\0\0\0\2\1\0\0", 8, " 1\n 258");
  expect_values(1, DICT("'<u2'"), 0, "\1\0\377\377", 4, "UInt16");
  expect_values(1, DICT("'<u8'"), 0, "\1\0\0\0\0\0\0\0\2\0\0\0\0\0\0\0", 16, "UInt64");
  expect_refusal(4, DICT("'<i4'"), "version 4.0 of the format");
  expect_refusal(0, DICT("'<i4'"), "version 0.0 of the format");
}

static void test_orders_of_bytes(void **state) {
  (void)state;
  expect_values(1, DICT("'>i2'"), 0, "\0\1\1\2", 4, " 1\n 258");
  expect_values(1, DICT("'>i8'"), 0, "\0\0\0\0\0\0\0\1\0\0\0\0\0\0\1\2", 16, " 1\n 258");
  expect_values(1, DICT("'>f4'"), 0, "\x3f\xc0\0\0\xc0\0\0\0", 8, " 1.5000\n-2.0000");
  expect_values(1, DICT("'>u1'"), 0, "\1\2", 2, " 1\n 2");
  expect_values(1, DICT("'|b1'"), 0, "\1\0", 2, " 1\n 0");
  IValue value; /* a complex number is two, each turned round by itself */
  assert_null(load(1, DICT("'>c8'"), 0, "\x3f\xc0\0\0\xc0\0\0\0\0\0\0\0\x3f\x80\0\0", 16, &value));
  assert_memory_equal(tensor_data(value.tensor), ((float[]){1.5F, -2.0F, 0.0F, 1.0F}), 16);
  ivalue_release(value);
}

static void test_refusals(void **state) {
  (void)state;
  expect_refusal(1, DICT("[('shape', '<f4'), ('b', '<i8')]"), "arrays of structures");
  expect_refusal(1, DICT("('<f4', (2,))"), "arrays of structures");
  expect_refusal(1, DICT("'|O'"), "arrays of type '|O'");
  expect_refusal(1, DICT("'<U3'"), "arrays of type '<U3'");
  expect_refusal(1, DICT("'>M8[ns]'"), "arrays of type '>M8");
  expect_refusal(1, DICT("'<f16'"), "arrays of type '<f16'");
  expect_refusal(1, DICT("7"), "a malformed descr");
}

/* Structures of thousands of fields have headers of hundreds of kilobytes. */
static void test_long_headers_of_structures(void **state) {
  (void)state;
  StrBuf dict = {0};
  strbuf_puts(&dict, "{'descr': [");
  for (int i = 0; i < 5000; i++) strbuf_printf(&dict, "('field%d', '<f4'), ", i);
  strbuf_puts(&dict, "], 'fortran_order': False, 'shape': (1,), }");
  strbuf_char(&dict, '\0');
  expect_refusal(2, dict.data, "arrays of structures");
  strbuf_dispose(&dict);
}

static void test_header_beyond_the_file(void **state) {
  (void)state;
  ByteSource *source;
  IValue value;
  assert_null(byte_source_from_memory("\x93NUMPY\2\0\xff\xff\xff\xff{}      ", 20, &source));
  Status status = npy_load(source, &value);
  assert_non_null(status);
  assert_non_null(strstr(status->message, "its header leaves the file"));
  status_free(status);
  byte_source_release(source);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_versions),
      cmocka_unit_test(test_orders_of_bytes),
      cmocka_unit_test(test_refusals),
      cmocka_unit_test(test_long_headers_of_structures),
      cmocka_unit_test(test_header_beyond_the_file),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
