/* wick/archive.h, and what the command asks of a runtime: files and programs looked at from outside. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "wick/wick.h"

static void fine(wick_status status, wick_error *error) {
  if (status) print_error("%s\n", wick_error_message(error));
  assert_int_equal(status, WICK_OK);
}

static void test_records(void **state) {
  (void)state;
  wick_archive *archive;
  wick_error *error = NULL;
  char *data;
  size_t length, code = 0;
  fine(wick_archive_open("data/shared_state.pt", NULL, &archive, &error), error);
  assert_true(wick_archive_bytes(archive) > 0);
  for (size_t i = 0; i < wick_archive_count(archive); i++) {
    const char *name = wick_archive_name(archive, i);
    fine(wick_archive_read(archive, name, &data, &length, &error), error);
    assert_int_equal(data[length], 0);
    code += !strncmp(name, "code/", 5);
    wick_text_free(data);
  }
  assert_true(code > 0);
  assert_null(wick_archive_name(archive, wick_archive_count(archive)));
  assert_int_equal(wick_archive_read(archive, "nothing", &data, &length, &error), WICK_NOT_FOUND);
  assert_null(data);
  wick_error_free(error);
  wick_archive_release(archive);
  assert_int_equal(wick_archive_open("unit/api/test_api_archive.c", NULL, &archive, NULL), WICK_DATA);
  assert_null(archive);
  wick_load_options small = {.size = sizeof small, .max_bytes = 1};
  fine(wick_archive_open("data/shared_state.pt", &small, &archive, &error), error);
  assert_int_not_equal(wick_archive_read(archive, "data.pkl", &data, &length, NULL), WICK_OK);
  wick_archive_release(archive);
}

typedef struct Seen {
  size_t count, stop_after, calls;
  int64_t elements;
  char names[400];
} Seen;
static int see_tensor(void *user, const char *name, const wick_value *tensor) {
  Seen *seen = user;
  wick_tensor_spec spec;
  fine(wick_tensor_spec_of(tensor, &spec, NULL), NULL);
  int64_t elements = 1;
  for (int i = 0; i < spec.ndim; i++) elements *= spec.sizes[i];
  seen->elements += elements;
  snprintf(seen->names + strlen(seen->names), sizeof seen->names - strlen(seen->names), "%s ", name);
  return ++seen->count == seen->stop_after;
}

static wick_value *weights(void) {
  wick_value *a, *dict, *both[2], *keys[2] = {wick_value_string("inner", 5), wick_value_string("b", 1)}, *list;
  fine(wick_tensor_new(WICK_FLOAT32, 2, (int64_t[]){2, 3}, &a, NULL), NULL);
  fine(wick_value_tuple((const wick_value *[]){a, a}, 2, &list, NULL), NULL);
  both[0] = list;
  both[1] = a;
  fine(wick_value_dict((const wick_value *const *)keys, (const wick_value *const *)both, 2, &dict, NULL), NULL);
  for (int i = 0; i < 2; i++) wick_value_release(both[i]), wick_value_release(keys[i]);
  return dict;
}

static void test_contents(void **state) {
  (void)state;
  char path[64], *text;
  snprintf(path, sizeof path, "/tmp/wick_api_archive_%d.pt", (int)getpid());
  wick_value *dict = weights(), *read;
  wick_file_kind kind = {.size = sizeof kind};
  wick_error *error = NULL;
  fine(wick_save_value(NULL, dict, path, &error), error);
  wick_value_release(dict);
  fine(wick_file_kind_of(path, NULL, &kind, &error), error);
  assert_int_equal(kind.use, WICK_FILE_PICKLE);
  assert_true(*kind.name && *kind.advice);
  fine(wick_file_contents(path, NULL, &read, &error), error);
  fine(wick_value_describe(read, &text, &error), error);
  assert_non_null(strstr(text, "'inner'"));
  wick_text_free(text);
  Seen all = {0}, one = {.stop_after = 1};
  fine(wick_value_each_tensor(read, see_tensor, &all, &error), error);
  assert_string_equal(all.names, "inner.0 inner.1 b ");
  assert_int_equal(all.elements, 18);
  fine(wick_value_each_tensor(read, see_tensor, &one, &error), error);
  assert_int_equal(one.count, 1);
  wick_value_release(read);
  unlink(path);
  kind.size = 8; /* a caller of an older header */
  kind.name = "as it was";
  fine(wick_file_kind_of("unit/api/test_api_archive.c", NULL, &kind, &error), error);
  assert_int_equal(kind.use, WICK_FILE_OTHER);
  assert_string_equal(kind.name, "as it was");
  assert_int_equal(wick_file_contents("unit/api/test_api_archive.c", NULL, &read, NULL), WICK_DATA);
  assert_int_equal(wick_file_kind_of("nowhere.pt", NULL, &kind, NULL), WICK_IO);
}

static int see_operator(void *user, const char *name, size_t calls, int is_known) {
  Seen *seen = user;
  snprintf(seen->names + strlen(seen->names), sizeof seen->names - strlen(seen->names), "%s%s ", name,
           is_known ? "" : "?");
  seen->calls += calls;
  return ++seen->count == seen->stop_after;
}

static int see_overload(void *user, const wick_overload *overload, const char *unknown_name, size_t calls) {
  Seen *seen = user;
  char *schema = NULL;
  if (overload) assert_int_equal(wick_overload_schema(overload, &schema, NULL), WICK_OK);
  const char *text = schema ? schema : unknown_name;
  snprintf(seen->names + strlen(seen->names), sizeof seen->names - strlen(seen->names), "%.*s%s ",
           (int)strcspn(text, "("), text, schema ? "" : "?");
  wick_text_free(schema);
  seen->calls += calls;
  return ++seen->count == seen->stop_after;
}

/* Bytes of the caller's, and text as it may be shown. */
static void test_writing(void **state) {
  (void)state;
  char path[60], *text, read[8];
  wick_error *error = NULL;
  snprintf(path, sizeof path, "/tmp/wick_written_%d", (int)getpid());
  fine(wick_file_write(path, "one\0two", 7, &error), error);
  FILE *file = fopen(path, "rb");
  assert_int_equal(fread(read, 1, sizeof read, file), 7);
  assert_memory_equal(read, "one\0two", 7);
  fclose(file);
  fine(wick_file_write(path, "", 0, &error), error);
  assert_int_equal(wick_file_write("/nowhere/x", "x", 1, &error), WICK_IO);
  assert_int_equal(strncmp(wick_error_message(error), "/nowhere/x: ", 12), 0);
  wick_error_free(error);
  if (!access("/dev/full", W_OK)) {
    assert_int_equal(wick_file_write("/dev/full", "x", 1, &error), WICK_IO);
    wick_error_free(error);
  }
  remove(path);
  fine(wick_text_escape("a\n\x1b[1m\0b", 8, NULL, &text, &error), error);
  assert_string_equal(text, "a\\n\\x1b[1m\\x00b");
  wick_text_free(text);
  fine(wick_text_escape("a\n\x1b[1m", 6, "\n\t", &text, &error), error);
  assert_string_equal(text, "a\n\\x1b[1m");
  wick_text_free(text);
}

/* A device that takes nothing: every saver says so. */
static void test_savers_to_a_full_device(void **state) {
  (void)state;
  wick_value *tensor, *key = wick_value_string("x", 1), *dict;
  wick_module *module;
  wick_error *error = NULL;
  const int64_t sizes[] = {2};
  if (access("/dev/full", W_OK)) skip();
  fine(wick_tensor_new(WICK_FLOAT32, 1, sizes, &tensor, &error), error);
  fine(wick_value_dict((const wick_value *const[]){key}, (const wick_value *const[]){tensor}, 1, &dict, &error), error);
  fine(wick_load(NULL, "data/shared_state.pt", NULL, &module, &error), error);
  const wick_status statuses[] = {
      wick_tensor_save_npy(tensor, "/dev/full", NULL), wick_tensors_save_npz(dict, "/dev/full", NULL),
      wick_save_value(NULL, dict, "/dev/full", NULL), wick_module_save(module, NULL, "/dev/full", NULL, NULL)};
  for (size_t i = 0; i < sizeof statuses / sizeof *statuses; i++) assert_int_equal(statuses[i], WICK_IO);
  wick_module_release(module);
  wick_value_release(dict);
  wick_value_release(key);
  wick_value_release(tensor);
}

static void test_overloads(void **state) {
  (void)state;
  static const char program[] =
      "def f(x, n: int):\n    return x * x + x * 2.0 + n * n * n\ndef g(x):\n    return x * x\n";
  wick_module *module;
  wick_error *error = NULL;
  Seen all = {0}, one = {.stop_after = 1}, missing = {0};
  fine(wick_compile(NULL, program, strlen(program), NULL, &module, &error), error);
  fine(wick_module_each_overload(module, see_overload, &all, &error), error);
  assert_string_equal(
      all.names, "aten::mul.Tensor aten::mul.Scalar aten::add.Tensor aten::mul.int aten::add.Scalar aten::mul.Tensor ");
  assert_int_equal(all.calls, 7);
  fine(wick_module_each_overload(module, see_overload, &one, &error), error);
  assert_int_equal(one.count, 1);
  wick_module_release(module);
  fine(wick_archive_each_overload("files/missing_operator.pt", NULL, see_overload, &missing, &error), error);
  assert_non_null(strstr(missing.names, "strange::plus? "));
}

static void test_operators(void **state) {
  (void)state;
  static const char program[] = "def f(x):\n    return torch.relu(x) + torch.relu(x * x)\n";
  char path[64];
  snprintf(path, sizeof path, "/tmp/wick_api_archive_%d.pt", (int)getpid());
  wick_module *module;
  wick_error *error = NULL;
  Seen all = {0}, one = {.stop_after = 1}, saved = {0};
  fine(wick_compile(NULL, program, strlen(program), NULL, &module, &error), error);
  fine(wick_module_each_operator(module, see_operator, &all, &error), error);
  assert_string_equal(all.names, "aten::relu aten::mul aten::add ");
  assert_int_equal(all.calls, 4);
  fine(wick_module_each_operator(module, see_operator, &one, &error), error);
  assert_int_equal(one.count, 1);
  fine(wick_module_save(module, NULL, path, NULL, &error), error);
  fine(wick_archive_each_operator(path, "aten::relu", see_operator, &saved, &error), error);
  assert_string_equal(saved.names, all.names);
  wick_module_release(module);
  unlink(path);
  assert_string_equal(wick_op_missing("aten::nothing"), "");
  assert_string_equal(wick_op_missing("not_there::nothing"), "it is not installed");
  assert_null(wick_library_path(0));
}

static void test_runtime(void **state) {
  (void)state;
  uint32_t number;
  char path[64], *text;
  wick_runtime *runtime;
  wick_error *error = NULL;
  fine(wick_executor_named("specialising", &number, &error), error);
  assert_int_equal(number, WICK_EXECUTOR_SPECIALIZING);
  assert_int_equal(wick_executor_named("nothing", &number, NULL), WICK_NOT_FOUND);
  assert_int_equal(number, 0);
  fine(wick_backend_named("tile", &number, &error), error);
  assert_int_equal(number, WICK_BACKEND_TILE);
  assert_int_equal(wick_backend_named("nothing", &number, NULL), WICK_NOT_FOUND);
  fine(wick_runtime_new(NULL, &runtime, &error), error);
  wick_executor_options simple = {.size = sizeof simple, .executor = WICK_EXECUTOR_SIMPLE};
  fine(wick_runtime_set_executor(runtime, &simple, &error), error);
  assert_int_equal(wick_runtime_executor(runtime), WICK_EXECUTOR_SIMPLE);
  assert_int_not_equal(wick_runtime_executor(NULL), WICK_EXECUTOR_DEFAULT);
  wick_runtime_release(runtime);
  fine(wick_explain(&text, &error), error);
  assert_non_null(strstr(text, "plans that were made"));
  wick_text_free(text);
  assert_int_equal(wick_dtype_bytes(WICK_COMPLEX64), 8);
  assert_int_equal(wick_dtype_bytes(1000), 0);

  wick_value *tensor, *read;
  snprintf(path, sizeof path, "/tmp/wick_api_archive_%d.npy", (int)getpid());
  fine(wick_tensor_new(WICK_INT64, 1, (int64_t[]){3}, &tensor, &error), error);
  fine(wick_tensor_save_npy(tensor, path, &error), error);
  fine(wick_load_value(NULL, path, NULL, &read, &error), error);
  assert_int_equal(wick_tensor_count(read), 3);
  assert_int_equal(wick_tensor_save_npy(tensor, "/nowhere/x.npy", NULL), WICK_IO);
  wick_value_release(tensor);
  wick_value_release(read);
  unlink(path);
}

static void test_inflating(void **state) {
  (void)state;
  /* a block with the fixed code: "abc", then three letters from three back, and one letter more */
  static const unsigned char data[] = {0x4b, 0x4c, 0x4a, 0x4e, 0x4c, 0x4a, 0x06, 0x00};
  char out[16] = "";
  size_t length;
  wick_error *error = NULL;
  fine(wick_inflate(data, sizeof data, out, sizeof out, &length, &error), error);
  assert_int_equal(length, 6);
  assert_memory_equal(out, "abcabc", 6);
  fine(wick_inflate(data, sizeof data, out, 6, &length, &error), error);
  assert_int_equal(wick_inflate(data, sizeof data, out, 5, &length, &error), WICK_DATA);
  assert_non_null(strstr(wick_error_message(error), "the 5 bytes"));
  wick_error_free(error);
  assert_int_equal(wick_inflate(data, 4, out, sizeof out, &length, &error), WICK_DATA);
  assert_non_null(strstr(wick_error_message(error), "cut short"));
  wick_error_free(error);
  assert_int_equal(wick_inflate("\7", 1, out, sizeof out, &length, &error), WICK_DATA);
  assert_non_null(strstr(wick_error_message(error), "damaged"));
  wick_error_free(error);
  assert_int_equal(wick_inflate("\3", 2, NULL, 0, &length, NULL), WICK_OK); /* nothing, and room for that */
  assert_int_equal(wick_checksum("123456789", 9), 0xcbf43926);
  assert_int_equal(wick_checksum(NULL, 0), 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_records),   cmocka_unit_test(test_contents),
                                     cmocka_unit_test(test_operators), cmocka_unit_test(test_overloads),
                                     cmocka_unit_test(test_writing),   cmocka_unit_test(test_savers_to_a_full_device),
                                     cmocka_unit_test(test_runtime),   cmocka_unit_test(test_inflating)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
