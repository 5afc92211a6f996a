/* safetensors files, and state dicts going into modules. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "wick/wick.h"
#include "../../zip_writer.h"

static const float numbers[] = {1, 2, 3, 4, 5, 6};

static Bytes file_with(const char *header, size_t data_bytes) {
  Bytes file = {0};
  put_number(&file, strlen(header), 8);
  put(&file, header, strlen(header));
  put(&file, numbers, data_bytes);
  return file;
}
/* NULL and the message when refused; frees the file. */
static wick_value *load(Bytes file, char message[400]) {
  wick_value *value;
  wick_error *error;
  wick_status status = wick_load_value_memory(NULL, file.data, file.length, NULL, &value, &error);
  free(file.data);
  if (!status) return value;
  snprintf(message, 400, "%s", wick_error_message(error));
  wick_error_free(error);
  return NULL;
}
static bool has_json(void) {
  char message[400] = "";
  wick_value_release(load(file_with("{}", 0), message));
  return !strstr(message, "JSON can't be read");
}

static const char good[] =
    "{\"__metadata__\":{\"format\":\"pt\"},"
    "\"a\":{\"dtype\":\"F32\",\"shape\":[2,2],\"data_offsets\":[8,24]},"
    "\"b\":{\"dtype\":\"I64\",\"shape\":[],\"data_offsets\":[0,8]},"
    "\"c\":{\"dtype\":\"F16\",\"shape\":[0,3],\"data_offsets\":[24,24]}} ";

static void test_reads(void **state) {
  (void)state;
  if (!has_json()) skip();
  char message[400];
  wick_value *dict = load(file_with(good, sizeof numbers), message);
  assert_non_null(dict);
  assert_int_equal(wick_value_length(dict), 3);
  wick_value *a = wick_value_get_text(dict, "a");
  wick_tensor_view view = {.size = sizeof view};
  assert_int_equal(wick_tensor_view_of(a, &view, NULL), WICK_OK);
  assert_int_equal(view.ndim, 2);
  assert_memory_equal(view.data, numbers + 2, 16);
  wick_value_release(a);
  wick_value_release(dict);
}

static void test_reads_limited_dtypes(void **state) {
  static const struct {
    const char *name;
    uint32_t dtype;
  } rows[] = {{"U16", WICK_UINT16},          {"U32", WICK_UINT32},
              {"U64", WICK_UINT64},          {"F8_E4M3", WICK_FLOAT8_E4M3FN},
              {"F8_E5M2", WICK_FLOAT8_E5M2}, {"F8_E8M0", WICK_FLOAT8_E8M0FNU}};
  (void)state;
  if (!has_json()) skip();
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    char header[120], message[400];
    snprintf(header, sizeof header, "{\"a\":{\"dtype\":\"%s\",\"shape\":[2],\"data_offsets\":[0,%zu]}}", rows[i].name,
             2 * wick_dtype_bytes(rows[i].dtype));
    wick_value *dict = load(file_with(header, 2 * wick_dtype_bytes(rows[i].dtype)), message);
    assert_non_null(dict);
    wick_value *a = wick_value_get_text(dict, "a");
    wick_tensor_view view = {.size = sizeof view};
    assert_int_equal(wick_tensor_view_of(a, &view, NULL), WICK_OK);
    assert_int_equal(view.dtype, rows[i].dtype);
    assert_memory_equal(view.data, numbers, 2 * wick_dtype_bytes(rows[i].dtype));
    wick_value_release(a);
    wick_value_release(dict);
  }
}

static void test_refusals(void **state) {
  (void)state;
  if (!has_json()) skip();
#define A(dtype, shape, range) "{\"a\":{\"dtype\":\"" dtype "\",\"shape\":" shape ",\"data_offsets\":" range "}}"
  static const struct {
    const char *header, *message;
  } cases[] = {
      {A("F32", "[2]", "[0,12]"), "fit together"},
      {A("F32", "[2]", "[20,28]"), "outside the file"},
      {A("F32", "[2]", "[8,0]"), "outside the file"},
      {A("F32", "[2]", "[-8,0]"), "outside the file"},
      {A("F32", "[2]", "[0]"), "two numbers"},
      {A("F32", "[2]", "[0,8.5]"), "two numbers"},
      {A("F32", "[-2]", "[0,8]"), "malformed shape"},
      {A("F32", "{}", "[0,8]"), "no shape"},
      {A("F32", "[4503599627370496,4503599627370496]", "[0,8]"), "without measure"},
      {A("F32", "[0,4503599627370496,4503599627370496]", "[0,0]"), "overflowed"},
      {A("F4", "[2]", "[0,2]"), "'F4'"},
      {"{\"a\":1}", "tensor 'a'"},
      {"{\"a\":", "damaged JSON"},
      {"{} {}", "more text"},
      {"{\"a\":{\"dtype\":\"U8\",\"shape\":[16],\"data_offsets\":[0,16]},"
       "\"b\":{\"dtype\":\"U8\",\"shape\":[16],\"data_offsets\":[0,16]}}",
       "overlap"},
      {"{\"a\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[0,1]},"
       "\"a\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[1,2]}}",
       "twice"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    char message[400] = "";
    wick_value *value = load(file_with(cases[i].header, sizeof numbers), message);
    if (value || !strstr(message, cases[i].message))
      fail_msg("%s: '%s' does not say '%s'", cases[i].header, message, cases[i].message);
  }
}

static void test_cut_files(void **state) {
  (void)state;
  char message[400];
  for (size_t length = 0; length < sizeof good + 8 + sizeof numbers; length++) {
    Bytes file = file_with(good, sizeof numbers);
    if (length < file.length) file.length = length;
    wick_value_release(load(file, message));
  }
}

/* A module with a parameter and a buffer of two numbers. */
static wick_module *module_with_state(void) {
#define STORAGE(key)                                        \
  "X\x07\0\0\0storagectorch\nFloatStorage\nX\x01\0\0\0" key \
  "X\x03\0\0\0"                                             \
  "cpuK\x02t"
#define TENSOR(key) \
  "ctorch._utils\n_rebuild_tensor_v2\n((" STORAGE(key) "QK\0K\x02\x85K\x01\x85\x89" "ccollections\nOrderedDict\n)RtR"
  static const char data[] =
      "\x80\x02"
      "c__torch__\nM\n)\x81}(X\x01\0\0\0w" TENSOR("0") "X\x01\0\0\0b" TENSOR("1") "ub.";
  static const char constants[] = "\x80\x02).";
  static const char code[] =
      "class M(Module):\n  __parameters__ = [\"w\", ]\n  __buffers__ = [\"b\", ]\n"
      "  w : Tensor\n  b : Tensor\n"
      "  def forward(self: __torch__.M) -> Tensor:\n    return torch.add(self.w, self.b)\n";
  const struct {
    const char *name;
    const void *content;
    size_t length;
  } records[] = {{"m/version", "3\n", 2},
                 {"m/data.pkl", data, sizeof data - 1},
                 {"m/constants.pkl", constants, sizeof constants - 1},
                 {"m/code/__torch__.py", code, sizeof code - 1},
                 {"m/data/0", numbers, 8},
                 {"m/data/1", numbers, 8}};
  Packed zip = {0};
  for (size_t i = 0; i < sizeof records / sizeof *records; i++) {
    Bytes bytes = {0};
    put(&bytes, records[i].content, records[i].length);
    pack_record(&zip, records[i].name, strlen(records[i].name), &bytes);
    free(bytes.data);
  }
  pack_finish(&zip);
  wick_module *module;
  wick_error *error;
  wick_load_options options = {.size = sizeof options};
  if (wick_load_memory(NULL, zip.file.data, zip.file.length, &options, &module, &error))
    fail_msg("%s", wick_error_message(error));
  free(zip.file.data);
  return module;
}

static float first_of_forward(wick_module *module) {
  wick_value *result;
  wick_tensor_view view = {.size = sizeof view};
  assert_int_equal(wick_run(module, "forward", NULL, 0, NULL, 0, NULL, &result, NULL), WICK_OK);
  assert_int_equal(wick_tensor_view_of(result, &view, NULL), WICK_OK);
  float first = *(const float *)view.data;
  wick_value_release(result);
  return first;
}

static void test_load_state(void **state) {
  (void)state;
  if (!has_json()) skip();
  static const char fitting[] =
      "{\"b\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[16,24]},"
      "\"w\":{\"dtype\":\"U8\",\"shape\":[2],\"data_offsets\":[0,2]}}",
                    other[] =
                        "{\"w\":{\"dtype\":\"F32\",\"shape\":[1,2],\"data_offsets\":[0,8]},"
                        "\"x\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[8,16]}}";
  char message[400];
  wick_error *error;
  wick_module *module = module_with_state();
  assert_true(first_of_forward(module) == 2);
  wick_value *wrong = load(file_with(other, sizeof numbers), message);
  assert_int_not_equal(wick_module_load_state(module, wrong, &error), WICK_OK);
  assert_non_null(strstr(wick_error_message(error), "1 missing: b"));
  assert_non_null(strstr(wick_error_message(error), "1 unexpected: x"));
  assert_non_null(strstr(wick_error_message(error), "'w' has other sizes: [1, 2], the module's [2]"));
  wick_error_free(error);
  assert_true(first_of_forward(module) == 2);
  wick_value *right = load(file_with(fitting, sizeof numbers), message), *number = wick_value_int(1);
  assert_int_equal(wick_module_load_state(module, right, NULL), WICK_OK);
  assert_true(first_of_forward(module) == 5); /* w: bytes of 1.0f, which are 0 and 0 */
  assert_int_equal(wick_module_load_state(module, number, NULL), WICK_INVALID_ARGUMENT);
  wick_value_release(number);
  wick_value_release(right);
  wick_value_release(wrong);
  wick_module_release(module);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_reads),     cmocka_unit_test(test_reads_limited_dtypes), cmocka_unit_test(test_refusals),
      cmocka_unit_test(test_cut_files), cmocka_unit_test(test_load_state),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
