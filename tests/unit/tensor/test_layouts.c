/* Strides of results are PyTorch's, for inputs of many layouts and in every executor: data/layouts.txt, which
 * torch/record_layouts.py writes and describes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "wick/wick.h"

enum { MAX_INPUTS = 64, MAX_DIMS = 8, LINE_BYTES = 512, ELEMENTS = 1 << 14 };

typedef struct Input {
  char name[40];
  int ndim;
  int64_t sizes[MAX_DIMS], strides[MAX_DIMS];
} Input;

typedef struct Table {
  Input inputs[MAX_INPUTS];
  int input_count, cases, wrong;
  float elements[ELEMENTS];
  char expression[LINE_BYTES];
  wick_module *module;
} Table;

static int read_numbers(const char *text, int64_t *out) {
  int count = 0;
  for (char *end = (char *)(uintptr_t)text; count < MAX_DIMS; end++) {
    out[count++] = strtoll(end, &end, 10);
    if (*end != ',') break;
  }
  return count;
}

static void read_input(Table *table, const char *line) {
  char sizes[100], strides[100];
  assert_true(table->input_count < MAX_INPUTS);
  Input *input = &table->inputs[table->input_count++];
  assert_int_equal(sscanf(line, "@%39s %99s %99s", input->name, sizes, strides), 3);
  input->ndim = read_numbers(sizes, input->sizes);
  assert_int_equal(read_numbers(strides, input->strides), input->ndim);
}

static void read_expression(Table *table, const char *line) {
  char source[LINE_BYTES + 160];
  wick_error *error = NULL;
  snprintf(table->expression, sizeof table->expression, "%s", strchr(line, ' ') + 1);
  const char *program = *line == '~' ? "def f(y: Tensor):\n"
                                       "    y = y.detach().requires_grad_()\n"
                                       "    r = %s\n"
                                       "    return torch.autograd.grad([(r * r.detach()).sum()], [y])\n"
                                     : "def f(y: Tensor):\n    return %s\n";
  int length = snprintf(source, sizeof source, program, table->expression);
  wick_module_release(table->module);
  wick_compile(NULL, source, (size_t)length, "layouts.py", &table->module, &error);
  if (error) fail_msg("%s: %s", table->expression, wick_error_message(error));
}

/* " 3,1" for every tensor in the value, " -" for one without dimensions. */
static void add_strides(const wick_value *value, char *out, size_t bytes) {
  wick_tensor_view view = {.size = sizeof view};
  size_t n = strlen(out);
  if (wick_value_kind(value) == WICK_TENSOR) {
    assert_int_equal(wick_tensor_view_of(value, &view, NULL), WICK_OK);
    for (int d = 0; d < view.ndim && n < bytes; d++)
      n += (size_t)snprintf(out + n, bytes - n, "%s%lld", d ? "," : " ", (long long)view.strides[d]);
    if (view.ndim == 0) snprintf(out + n, bytes - n, " -");
    return;
  }
  for (size_t i = 0; i < wick_value_length(value); i++) {
    wick_value *item = wick_value_item(value, i);
    add_strides(item, out, bytes);
    wick_value_release(item);
  }
}

static void check_case(Table *table, const char *line) {
  char name[40], got[LINE_BYTES];
  int at = 0;
  assert_int_equal(sscanf(line, " %39s%n", name, &at), 1);
  const Input *input = table->inputs;
  while (strcmp(input->name, name)) assert_true(++input < table->inputs + table->input_count);
  wick_value *y, *result;
  wick_error *error = NULL;
  assert_int_equal(wick_tensor_borrow(table->elements, WICK_FLOAT32, input->ndim, input->sizes, input->strides, NULL,
                                      NULL, &y, NULL),
                   WICK_OK);
  for (uint32_t executor = WICK_EXECUTOR_SIMPLE; executor <= WICK_EXECUTOR_PROFILING; executor++) {
    wick_run_options options = {.size = sizeof options, .executor = executor, .grad = WICK_GRAD_ON};
    int calls = executor == WICK_EXECUTOR_SIMPLE ? 1 : 3; /* the last of them with a plan */
    for (int call = 0; call < calls; call++) {
      wick_run(table->module, "f", (const wick_value *const[]){y}, 1, NULL, 0, &options, &result, &error);
      if (error && strstr(wick_error_message(error), "this build has no")) { /* an optional library */
        wick_error_free(error);
        wick_value_release(y);
        return;
      }
      if (error) fail_msg("%s of %s: %s", table->expression, name, wick_error_message(error));
      *got = 0;
      add_strides(result, got, sizeof got);
      wick_value_release(result);
      if (!strcmp(got, line + at)) continue;
      print_error("%s of %s, executor %u, call %d: strides%s, not%s\n", table->expression, name, executor, call, got,
                  line + at);
      table->wrong++;
    }
  }
  wick_value_release(y);
  table->cases++;
}

static void test_recorded_strides(void **state) {
  (void)state;
  static Table table;
  char line[LINE_BYTES];
  FILE *file = fopen("data/layouts.txt", "r");
  wick_executor_options executor = {.size = sizeof executor, .executor = WICK_EXECUTOR_PROFILING, .synchronous = 1};
  assert_non_null(file);
  assert_int_equal(wick_runtime_set_executor(NULL, &executor, NULL), WICK_OK);
  for (int i = 0; i < ELEMENTS; i++) table.elements[i] = (float)(i % 7) - 2.75f;
  while (fgets(line, sizeof line, file)) {
    line[strcspn(line, "\n")] = 0;
    if (*line == '@') read_input(&table, line);
    if ((*line >= '0' && *line <= '9') || *line == '~') read_expression(&table, line);
    if (*line == ' ') check_case(&table, line);
  }
  fclose(file);
  wick_module_release(table.module);
  assert_int_equal(table.wrong, 0);
  assert_true(table.cases > 500);
}

int main(void) {
  return cmocka_run_group_tests(((const struct CMUnitTest[]){cmocka_unit_test(test_recorded_strides)}), NULL, NULL);
}
