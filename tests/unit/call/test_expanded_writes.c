/* Which operators may write to a tensor that shows an element several times, and what they leave, is PyTorch's:
 * data/expanded_writes.txt, which torch/record_expanded_writes.py writes and describes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "wick/wick.h"

enum { LINE_BYTES = 512 };

/* "refused", "error: ..." or the elements of x after the expression. */
static void outcome_of(const char *dtype, const char *expression, uint32_t executor, char *out, size_t bytes) {
  char source[2 * LINE_BYTES];
  wick_module *module = NULL;
  wick_value *result = NULL;
  wick_error *error = NULL;
  int length = snprintf(source, sizeof source,
                        "def f():\n"
                        "    x = torch.tensor([1, 0, 1]).to(torch.%s).expand([3, 3])\n"
                        "    y = torch.tensor([[1, 1, 1], [0, 1, 1], [1, 1, 0]]).to(torch.%s)\n"
                        "    %s\n"
                        "    return [float(v) for v in x.flatten()]\n",
                        dtype, dtype, expression);
  wick_run_options options = {.size = sizeof options, .executor = executor};
  wick_compile(NULL, source, (size_t)length, "writes.py", &module, &error);
  if (module) wick_run(module, "f", NULL, 0, NULL, 0, &options, &result, &error);
  size_t n = 0;
  if (error)
    snprintf(out, bytes, "%s",
             strstr(wick_error_message(error), "more than one element") ? "refused" : wick_error_message(error));
  for (size_t i = 0; result && i < wick_value_length(result) && n < bytes; i++) {
    wick_value *item = wick_value_item(result, i);
    n += (size_t)snprintf(out + n, bytes - n, "%s%g", i ? " " : "", wick_value_to_double(item));
    wick_value_release(item);
  }
  wick_value_release(result);
  wick_module_release(module);
  wick_error_free(error);
}

static void test_writes(void **state) {
  (void)state;
  char line[LINE_BYTES], outcome[LINE_BYTES];
  int cases = 0, wrong = 0;
  FILE *file = fopen("data/expanded_writes.txt", "r");
  assert_non_null(file);
  while (fgets(line, sizeof line, file)) {
    if (*line == '#') continue;
    char *expression = strchr(line, '\t'), *expected = strrchr(line, '\t');
    assert_true(expression && expected > expression);
    *expression++ = *expected++ = 0;
    expected[strcspn(expected, "\n")] = 0;
    cases++;
    for (uint32_t executor = WICK_EXECUTOR_SIMPLE; executor <= WICK_EXECUTOR_SPECIALIZING; executor++) {
      outcome_of(line, expression, executor, outcome, sizeof outcome);
      if (!strcmp(outcome, expected)) continue;
      print_error("%s %s: %.300s, not %s\n", line, expression, outcome, expected);
      wrong++;
    }
  }
  fclose(file);
  assert_true(cases > 300);
  assert_int_equal(wrong, 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_writes)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
