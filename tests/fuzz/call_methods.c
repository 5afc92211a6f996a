/* See call_methods.h. */
#include "call_methods.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_ARGUMENTS = 8, DEADLINE_NS = 200000000 };

static wick_value *make_tensor(bool is_matrix) {
  static float data[6] = {0, 1, -1, 2.5f, 3, -4};
  static const int64_t matrix[] = {2, 3}, vector[] = {2};
  wick_value *out;
  return wick_tensor_borrow(data, WICK_FLOAT32, is_matrix ? 2 : 1, is_matrix ? matrix : vector, NULL, NULL, NULL, &out,
                            NULL)
             ? NULL
             : out;
}
static bool begins(const char *text, const char *with) {
  return !strncmp(text, with, strlen(with));
}
/* Of the type that a parameter of a schema begins with. */
static wick_value *make_argument(const char *parameter, bool is_matrix) {
  if (begins(parameter, "int[]")) {
    wick_value *out;
    return wick_value_ints((int64_t[]){1, 2}, 2, &out, NULL) ? NULL : out;
  }
  if (begins(parameter, "Tensor[]")) {
    wick_value *item = make_tensor(is_matrix), *out;
    bool failed = wick_value_list((const wick_value *const[]){item, item}, 2, &out, NULL);
    wick_value_release(item);
    return failed ? NULL : out;
  }
  if (begins(parameter, "int")) return wick_value_int(2);
  if (begins(parameter, "float")) return wick_value_double(0.5);
  if (begins(parameter, "bool")) return wick_value_bool(1);
  if (begins(parameter, "str")) return wick_value_string("x", 1);
  return make_tensor(is_matrix);
}

/* `forward(Class self, Tensor x, int n=1) -> Tensor`: x and n. */
static size_t make_arguments(const char *schema, bool is_matrix, wick_value **out) {
  size_t count = 0;
  int depth = 0;
  const char *at = strchr(schema, '(');
  for (; at && *at && count < MAX_ARGUMENTS; at++) {
    if (*at == ')' && !--depth) break;
    if (*at == '(' || *at == '[') depth++;
    if (*at == ']') depth--;
    if (*at == ',' && depth == 1) out[count++] = make_argument(at + 2, is_matrix);
  }
  return count;
}

static bool call(wick_module *module, const char *method, bool is_matrix) {
  wick_run_options limits = {
      .size = sizeof limits, .threads = 1, .deadline_ns = DEADLINE_NS, .max_steps = 2000, .max_bytes = 16 << 20};
  char *schema;
  wick_error *error;
  wick_value *arguments[MAX_ARGUMENTS], *result = NULL;
  if (wick_module_schema(module, method, &schema, NULL)) return false;
  size_t count = make_arguments(schema, is_matrix, arguments);
  wick_text_free(schema);
  bool failed =
      wick_run(module, method, (const wick_value *const *)arguments, count, NULL, 0, &limits, &result, &error);
  if (failed) {
    if (wick_error_status(error) == WICK_INTERNAL) abort();
    wick_error_free(error);
  }
  wick_value_release(result);
  for (size_t i = 0; i < count; i++) wick_value_release(arguments[i]);
  return !failed;
}

size_t call_methods(wick_module *module, double *out_longest) {
  size_t returned = 0;
  *out_longest = 0;
  for (size_t i = 0; i < 2 * wick_module_method_count(module); i++) {
    double begin = processor_seconds();
    returned += call(module, wick_module_method_name(module, i / 2), i % 2 == 0);
    double taken = processor_seconds() - begin;
    if (taken > *out_longest) *out_longest = taken;
  }
  return returned;
}
