/* Programs as sequences of calls, and what their traces hold. */
#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "wick/wick.h"

enum { MOST = 64 };
/* Values that go at the end of a test. */
typedef struct Pool {
  wick_value *values[1024];
  size_t count;
} Pool;

static inline void require(wick_status status, wick_error *const *error) {
  if (status) fail_msg("%s", wick_error_message(*error));
}
static inline wick_value *keep(Pool *pool, wick_value *value) {
  assert_non_null(value);
  assert_true(pool->count < sizeof pool->values / sizeof *pool->values);
  return pool->values[pool->count++] = value;
}
static inline void pool_free(Pool *pool) {
  while (pool->count) wick_value_release(pool->values[--pool->count]);
}

/* One argument for each letter: t a value, n None, i int, d double, b bool, s text; I ints and T values as a list,
 * after their count. */
static inline wick_value *list_argument(Pool *pool, char kind, va_list *arguments) {
  wick_value *items[MOST], *list;
  wick_error *error = NULL;
  int count = va_arg(*arguments, int);
  for (int i = 0; i < count; i++)
    items[i] = kind == 'I' ? keep(pool, wick_value_int(va_arg(*arguments, int))) : va_arg(*arguments, wick_value *);
  require(wick_value_list((const wick_value *const *)items, (size_t)count, &list, &error), &error);
  return keep(pool, list);
}
static inline wick_value *op_arguments(Pool *pool, const char *name, const char *overload, const char *format,
                                       va_list *arguments) {
  const wick_value *values[MOST];
  size_t count = 0;
  wick_value *out;
  wick_error *error = NULL;
  for (const char *c = format; *c; c++) {
    wick_value *value = *c == 't'   ? va_arg(*arguments, wick_value *)
                        : *c == 'i' ? keep(pool, wick_value_int(va_arg(*arguments, int)))
                        : *c == 'b' ? keep(pool, wick_value_bool(va_arg(*arguments, int)))
                        : *c == 'd' ? keep(pool, wick_value_double(va_arg(*arguments, double)))
                        : *c == 'n' ? keep(pool, wick_value_none())
                                    : NULL;
    if (*c == 's') {
      const char *text = va_arg(*arguments, const char *);
      value = keep(pool, wick_value_string(text, strlen(text)));
    }
    if (*c == 'I' || *c == 'T') value = list_argument(pool, *c, arguments);
    assert_non_null(value);
    values[count++] = value;
  }
  require(wick_op_call(NULL, name, overload, values, count, NULL, 0, &out, &error), &error);
  return keep(pool, out);
}
static inline wick_value *op(Pool *pool, const char *name, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  wick_value *result = op_arguments(pool, name, NULL, format, &arguments);
  va_end(arguments);
  return result;
}
static inline wick_value *item(Pool *pool, const wick_value *value, size_t index) {
  return keep(pool, wick_value_item(value, index));
}
static inline wick_value *tensor(Pool *pool, int ndim, ...) {
  int64_t sizes[8];
  va_list arguments;
  va_start(arguments, ndim);
  for (int i = 0; i < ndim; i++) sizes[i] = va_arg(arguments, int);
  va_end(arguments);
  wick_value *out;
  wick_error *error = NULL;
  require(wick_tensor_new(WICK_FLOAT32, ndim, sizes, &out, &error), &error);
  float *data = wick_tensor_mutable_data(keep(pool, out));
  int64_t count = 1;
  for (int i = 0; i < ndim; i++) count *= sizes[i];
  for (int64_t i = 0; i < count; i++) data[i] = (float)(i % 7) - 2;
  return out;
}

/* Begins to trace a function of one input. */
static inline wick_value *begin(Pool *pool, const wick_value *input) {
  wick_value *x;
  wick_error *error = NULL;
  wick_trace_options options = {.size = sizeof options, .name = "f", .input_names = (const char *const[]){"x"}};
  require(wick_trace_begin(NULL, &options, &input, 1, &x, &error), &error);
  return keep(pool, x);
}
/* The result of a future, which goes with the pool. */
static inline wick_value *wait_for(Pool *pool, wick_value *future) {
  wick_value *result;
  wick_error *error = NULL;
  require(wick_trace_wait(keep(pool, future), &result, &error), &error);
  return keep(pool, result);
}
static inline wick_module *end(const wick_value *result) {
  wick_module *module;
  wick_error *error = NULL;
  require(wick_trace_end(result, &module, &error), &error);
  return module;
}

static inline void append_kinds(const wick_graph *graph, char *text, size_t capacity) {
  for (wick_node *node = wick_block_first(wick_graph_block(graph)); node; node = wick_node_next(node)) {
    const char *kind = wick_node_kind(node);
    size_t used = strlen(text);
    kind = strncmp(kind, "aten::", 6) == 0 || strncmp(kind, "prim::", 6) == 0 ? kind + 6 : kind;
    snprintf(text + used, capacity - used, "%s%s", used ? " " : "", strcmp(kind, "Constant") ? kind : ".");
  }
}
/* Kinds of a method's nodes in order, without namespace; a constant is a dot. */
static inline void expect_kinds(wick_module *module, const char *method, const char *wanted) {
  char kinds[4096] = "";
  wick_graph *graph;
  wick_error *error = NULL;
  require(wick_graph_of_method(module, method, 0, &graph, &error), &error);
  append_kinds(graph, kinds, sizeof kinds);
  wick_graph_release(graph);
  assert_string_equal(kinds, wanted);
}
static inline void print_graph(wick_module *module, const char *method) {
  wick_graph *graph;
  char *text;
  assert_int_equal(wick_graph_of_method(module, method, 0, &graph, NULL), WICK_OK);
  assert_int_equal(wick_graph_print(graph, &text, NULL), WICK_OK);
  puts(text);
  wick_text_free(text);
  wick_graph_release(graph);
}
static inline wick_value *run(Pool *pool, wick_module *module, const char *method, const wick_value *input) {
  wick_value *out;
  wick_error *error = NULL;
  require(wick_run(module, method, &input, 1, NULL, 0, NULL, &out, &error), &error);
  return keep(pool, out);
}
static inline void expect_text(const wick_value *value, const char *wanted) {
  char *text;
  assert_int_equal(wick_value_print(value, &text, NULL), WICK_OK);
  assert_string_equal(text, wanted);
  wick_text_free(text);
}
static inline void expect_equal(Pool *pool, wick_value *a, wick_value *b) {
  assert_int_equal(wick_value_to_bool(op(pool, "aten::equal", "tt", a, b)), 1);
}
