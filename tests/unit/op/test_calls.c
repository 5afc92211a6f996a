/* Calls with unusual arguments give PyTorch's results, or its refusals in its words, in every executor: data/calls.txt,
 * which torch/record_calls.py writes and describes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "wick/wick.h"

enum { LINE_BYTES = 2048 };

/* "a; F.b(a)" as a function that gives the last as text. */
static wick_module *compile(const char *line) {
  char source[2 * LINE_BYTES] = "import torch.nn.functional as F\ndef f():\n";
  size_t length = strlen(source);
  for (const char *p = line, *end; p; p = end ? end + 2 : NULL) {
    end = strstr(p, "; ");
    length += (size_t)snprintf(source + length, sizeof source - length, end ? "    %.*s\n" : "    return str(%.*s)\n",
                               (int)(end ? (size_t)(end - p) : strlen(p)), p);
    assert_true(length < sizeof source);
  }
  wick_module *module;
  wick_error *error;
  if (wick_compile(NULL, source, length, NULL, &module, &error)) fail_msg("%s: %s", line, wick_error_message(error));
  return module;
}

/* As the table has it: the result with "\n" for line breaks, or the first line of the error. */
static void run(wick_module *module, uint32_t executor, char out[LINE_BYTES]) {
  wick_run_options options = {sizeof options};
  options.executor = executor;
  wick_value *result;
  wick_error *error;
  size_t length = 4;
  if (wick_run(module, "f", NULL, 0, NULL, 0, &options, &result, &error)) {
    const char *message = wick_error_message(error);
    snprintf(out, LINE_BYTES, "  ! %.*s", (int)strcspn(message, "\n"), message);
    wick_error_free(error);
    return;
  }
  size_t text_length;
  const char *text = wick_value_to_string(result, &text_length);
  strcpy(out, "  = ");
  for (size_t i = 0; i < text_length && length + 3 < LINE_BYTES; i++) {
    if (text[i] == '\n') out[length++] = '\\';
    out[length++] = text[i] == '\n' ? 'n' : text[i];
  }
  out[length] = 0;
  wick_value_release(result);
}

static void test_table(void **state) {
  (void)state;
  static const uint32_t executors[] = {WICK_EXECUTOR_SIMPLE, WICK_EXECUTOR_SPECIALIZING, WICK_EXECUTOR_PROFILING};
  char line[LINE_BYTES], call[LINE_BYTES] = "", got[LINE_BYTES];
  int cases = 0, wrong = 0;
  FILE *file = fopen("data/calls.txt", "r");
  assert_non_null(file);
  while (fgets(line, sizeof line, file)) {
    line[strcspn(line, "\n")] = 0;
    if (line[0] != ' ') {
      strcpy(call, line);
      continue;
    }
    wick_module *module = compile(call);
    for (size_t i = 0; i < sizeof executors / sizeof *executors; i++) {
      run(module, executors[i], got);
      cases++;
      if (!strcmp(got, line)) continue;
      print_error("%s, executor %u\n  PyTorch: %s\n  wick:    %s\n", call, executors[i], line, got);
      wrong++;
    }
    wick_module_release(module);
  }
  fclose(file);
  assert_true(cases > 300);
  assert_int_equal(wrong, 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_table)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
