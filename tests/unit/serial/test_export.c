/* Saved programs: errors in them lead back to the source that was compiled, however often they were saved. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "wick/wick.h"

static const char program[] =
    "def unrelated(x: int) -> int:\n"
    "    return x * 12345\n"
    "\n\n\n\n"
    "def check(x: int, names: List[str]) -> str:\n"
    "    for i in range(x):\n"
    "        if i > 2:\n"
    "            raise ValueError('too many: ' + names[i])\n"
    "    return names[x]\n"
    "\n\n\n\n"
    "def forward(x: int) -> str:\n"
    "    names = ['a', 'b']\n"
    "    return check(x, names)\n";

/* The name of a file stands in it: both are called the same, in different folders. */
static char folder[] = "/tmp/wick_export_XXXXXX", inner[40], first[50], second[50];

static int make_folder(void **state) {
  (void)state;
  if (!mkdtemp(folder)) return 1;
  snprintf(inner, sizeof inner, "%s/again", folder);
  snprintf(first, sizeof first, "%s/a.pt", folder);
  snprintf(second, sizeof second, "%s/a.pt", inner);
  return mkdir(inner, 0700);
}
static int remove_folder(void **state) {
  (void)state;
  unlink(first);
  unlink(second);
  rmdir(inner);
  return rmdir(folder);
}

static char *contents(const char *path, size_t *length) {
  FILE *file = fopen(path, "rb");
  assert_non_null(file);
  fseek(file, 0, SEEK_END);
  *length = (size_t)ftell(file);
  rewind(file);
  char *data = malloc(*length);
  assert_int_equal(fread(data, 1, *length, file), *length);
  fclose(file);
  return data;
}

/* The trace of forward(number); freed by the caller. */
static char *failing_trace(wick_module *module, long long number) {
  wick_value *input = wick_value_int(number), *output = NULL;
  wick_error *error = NULL;
  assert_int_not_equal(
      wick_run(module, "forward", (const wick_value *const[]){input}, 1, NULL, 0, NULL, &output, &error), WICK_OK);
  char *trace = strdup(wick_error_trace(error));
  wick_error_free(error);
  wick_value_release(input);
  return trace;
}

static void save_program(void) {
  wick_module *module;
  assert_int_equal(wick_compile(NULL, program, strlen(program), "folder/program.py", &module, NULL), WICK_OK);
  assert_int_equal(wick_module_save(module, NULL, first, "forward", NULL), WICK_OK);
  wick_module_release(module);
}

static void test_errors_lead_to_the_source(void **state) {
  (void)state;
  wick_module *module, *again;
  save_program();
  for (int mode = 0; mode < 2; mode++) {
    wick_load_options options = {.size = sizeof options, .mode = mode ? WICK_LOAD_MAP : WICK_LOAD_READ};
    assert_int_equal(wick_load(NULL, first, &options, &module, NULL), WICK_OK);
    char *trace = failing_trace(module, 2);
    assert_non_null(strstr(trace, "File \"folder/program.py\", line 11, in check"));
    assert_non_null(strstr(trace, "    return names[x]\n           ~~~~~~~~ <--- HERE"));
    assert_non_null(strstr(trace, "File \"folder/program.py\", line 18, in forward"));
    assert_non_null(strstr(trace, "    return check(x, names)\n           ~~~~~"));
    /* The lines around it are there, not those of other functions. */
    assert_non_null(strstr(trace, "raise ValueError('too many: ' + names[i])"));
    assert_null(strstr(trace, "12345"));
    assert_int_equal(wick_module_save(module, NULL, second, NULL, NULL), WICK_OK);
    wick_module_release(module);
    assert_int_equal(wick_load(NULL, second, NULL, &again, NULL), WICK_OK);
    char *same = failing_trace(again, 2);
    assert_string_equal(same, trace);
    wick_module_release(again);
    free(trace);
    free(same);
  }
}

static void test_the_same_bytes(void **state) {
  (void)state;
  wick_module *module;
  size_t lengths[2];
  save_program();
  assert_int_equal(wick_load(NULL, first, NULL, &module, NULL), WICK_OK);
  assert_int_equal(wick_module_save(module, NULL, second, NULL, NULL), WICK_OK);
  wick_module_release(module);
  char *bytes[2] = {contents(first, &lengths[0]), contents(second, &lengths[1])};
  assert_int_equal(lengths[0], lengths[1]);
  assert_memory_equal(bytes[0], bytes[1], lengths[0]);
  /* Source that no range needs is not kept. */
  assert_null(memmem(bytes[0], lengths[0], "unrelated", 9));
  free(bytes[0]);
  free(bytes[1]);
}

/* Expressions too long for one line get a name; what is written before them still happens before them. */
/* As PyTorch calls the records: in a folder named after the file, the version at another place from 6 on. */
static void expect_record(const char *text, const char *file, const char *record) {
  char path[60];
  wick_module *module;
  size_t length;
  snprintf(path, sizeof path, "%s/%s", folder, file);
  assert_int_equal(wick_compile(NULL, text, strlen(text), NULL, &module, NULL), WICK_OK);
  assert_int_equal(wick_module_save(module, NULL, path, "forward", NULL), WICK_OK);
  wick_module_release(module);
  char *data = contents(path, &length);
  if (!memmem(data, length, record, strlen(record))) fail_msg("%s has no record %s", file, record);
  free(data);
  unlink(path);
}
static void test_names_of_records(void **state) {
  (void)state;
  const char *old = "def forward(x: Tensor):\n    return x.tanh()\n",
             *recent = "def forward(x: Tensor):\n    return torch.nn.functional.gelu(x)\n";
  expect_record(old, "x.y.pt", "x.y/version");
  expect_record(recent, "x.y.pt", "x.y/.data/version");
  expect_record(recent, "plain", "plain/data.pkl");
  expect_record(recent, ".pt", "archive/data.pkl");
}

static void test_long_expressions_keep_their_order(void **state) {
  (void)state;
  static const char text[] =
      "def take(names: List[str]) -> str:\n"
      "    return names.pop(0)\n"
      "def forward() -> str:\n"
      "    names = ['a', 'b', 'c']\n"
      "    return ' '.join([take(names), take(names), ' and at last comes '.join([take(names), "
      "'!']).upper().lower()])\n";
  wick_module *module;
  wick_value *output;
  assert_int_equal(wick_compile(NULL, text, strlen(text), "order.py", &module, NULL), WICK_OK);
  assert_int_equal(wick_module_save(module, NULL, first, "forward", NULL), WICK_OK);
  wick_module_release(module);
  assert_int_equal(wick_load(NULL, first, NULL, &module, NULL), WICK_OK);
  assert_int_equal(wick_run(module, "forward", NULL, 0, NULL, 0, NULL, &output, NULL), WICK_OK);
  assert_string_equal(wick_value_to_string(output, NULL), "a b c and at last comes !");
  wick_value_release(output);
  wick_module_release(module);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_errors_lead_to_the_source),
      cmocka_unit_test(test_names_of_records),
      cmocka_unit_test(test_the_same_bytes),
      cmocka_unit_test(test_long_expressions_keep_their_order),
  };
  return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
