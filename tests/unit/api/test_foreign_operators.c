/* Operators and classes from outside with what wick/library.h offers. */
#include <stdio.h>
#include <stdlib.h>

#include "api/handles.h"
#include "checks.h"
#include "ivalue/print.h"
#include "wick/wick.h"
#include "wick/library.h"

#define FINE(call)                                    \
  do {                                                \
    wick_error *error = NULL;                         \
    if (call) {                                       \
      print_error("%s\n", wick_error_message(error)); \
      wick_error_free(error);                         \
      assert_true(false);                             \
    }                                                 \
  } while (0)
#define REFUSED(word, call)                                                                       \
  do {                                                                                            \
    wick_error *error = NULL;                                                                     \
    assert_int_not_equal(call, WICK_OK);                                                          \
    if (!strstr(wick_error_message(error), word)) print_error("%s\n", wick_error_message(error)); \
    assert_non_null(strstr(wick_error_message(error), word));                                     \
    wick_error_free(error);                                                                       \
  } while (0)

/* ---- scale(x, by), which has a shape function and a gradient ---- */

static wick_status scale_shape(void *user, wick_call *call, wick_tensor_spec *specs, wick_error **error) {
  (void)user;
  wick_tensor_view x = {.size = sizeof x};
  wick_status status = wick_call_tensor(call, 0, &x, error);
  if (status) return status;
  specs->dtype = x.dtype;
  specs->ndim = x.ndim;
  for (int i = 0; i < x.ndim; i++) specs->sizes[i] = x.sizes[i];
  return WICK_OK;
}

typedef struct Part {
  const float *from;
  float *to, by;
} Part;
static void scale_part(void *arg, int64_t begin, int64_t end) {
  const Part *part = arg;
  for (int64_t i = begin; i < end; i++) part->to[i] = part->from[i] * part->by;
}

static wick_status scale(void *user, wick_call *call, wick_error **error) {
  assert_string_equal(user, "mine");
  wick_tensor_view x = {.size = sizeof x}, y = {.size = sizeof y};
  wick_value *result = wick_call_result(call, 0), *by = wick_call_argument(call, 1);
  wick_status status = wick_call_tensor(call, 0, &x, error);
  if (!status) status = wick_tensor_view_of(result, &y, error);
  if (!status) status = wick_call_poll(call, error);
  Part part = {x.data, y.data, (float)wick_value_to_double(by)};
  if (!status) wick_call_parallel(call, x.sizes[0], 1, scale_part, &part);
  wick_value_release(by);
  wick_value_release(result);
  return status;
}

static wick_status wrong_shape(void *user, wick_call *call, wick_tensor_spec *specs, wick_error **error) {
  (void)call, (void)error;
  specs->dtype = *(const uint32_t *)user;
  specs->ndim = specs->dtype ? 1 : 33;
  specs->sizes[0] = -1;
  return WICK_OK;
}

/* Twice the first argument, by wick's own operators. */
static wick_status twice(void *user, wick_call *call, wick_error **error) {
  (void)user;
  wick_value *x = wick_call_argument(call, 0), *sum = NULL;
  wick_status status =
      wick_call_operator(call, "aten::add", "Tensor", (const wick_value *const[]){x, x}, 2, &sum, error);
  wick_call_set_result(call, 0, sum);
  wick_value_release(sum);
  wick_value_release(x);
  return status;
}

static const uint32_t float32 = WICK_FLOAT32, no_dtype = 99, many_dimensions = 0;
static const wick_operator operators[] = {
    {.size = sizeof(wick_operator),
     .schema = "foreign::scale(Tensor x, float by) -> Tensor",
     .kernel = scale,
     .shape = scale_shape,
     .user = "mine",
     .gradient = "x: torch.ops.foreign.scale(grad, by)"},
    {.size = sizeof(wick_operator),
     .schema = "foreign::scale_twice(Tensor x, float by) -> Tensor",
     .body = "y = torch.ops.foreign.scale(x, by)\nreturn torch.ops.foreign.scale(y, by)"},
    {.size = sizeof(wick_operator),
     .schema = "foreign::twice(Tensor x) -> Tensor",
     .kernel = twice,
     .flags = WICK_OPERATOR_COMPOSITE},
    {.size = sizeof(wick_operator),
     .schema = "foreign::wrong_size(Tensor x) -> Tensor",
     .kernel = twice,
     .shape = wrong_shape,
     .user = (void *)&float32},
    {.size = sizeof(wick_operator),
     .schema = "foreign::wrong_dtype(Tensor x) -> Tensor",
     .kernel = twice,
     .shape = wrong_shape,
     .user = (void *)&no_dtype},
    {.size = sizeof(wick_operator),
     .schema = "foreign::wrong_ndim(Tensor x) -> Tensor",
     .kernel = twice,
     .shape = wrong_shape,
     .user = (void *)&many_dimensions},
};

static wick_value *run(const char *text, const char *function, const wick_value *argument) {
  wick_module *module = NULL;
  wick_value *result = NULL;
  const wick_run_options options = {.size = sizeof options, .grad = WICK_GRAD_ON};
  FINE(wick_compile(NULL, text, strlen(text), NULL, &module, &error));
  FINE(wick_run(module, function, &argument, argument ? 1 : 0, NULL, 0, &options, &result, &error));
  wick_module_release(module);
  return result;
}

static double number_at(const wick_value *tensor, int i) {
  wick_tensor_view view = {.size = sizeof view};
  FINE(wick_tensor_view_of(tensor, &view, &error));
  return ((const float *)view.data)[i];
}

static void test_operators(void **state) {
  (void)state;
  float numbers[] = {1, 2, 3};
  wick_value *x, *wrong = NULL;
  FINE(wick_tensor_borrow(numbers, WICK_FLOAT32, 1, (int64_t[]){3}, NULL, NULL, NULL, &x, &error));
  wick_value *y =
      run("def f(x):\n  y = x.detach().requires_grad_()\n"
          "  z = torch.ops.foreign.twice(torch.ops.foreign.scale_twice(y, 3.0))\n"
          "  return torch.autograd.grad([z.sum()], [y])[0], z\n",
          "f", x);
  wick_value *grad = wick_value_item(y, 0), *z = wick_value_item(y, 1);
  assert_true(number_at(grad, 2) == 18 && number_at(z, 1) == 36);
  REFUSED("negative",
          wick_op_call(NULL, "foreign::wrong_size", NULL, (const wick_value *const[]){x}, 1, NULL, 0, &wrong, &error));
  REFUSED("99, which is no dtype",
          wick_op_call(NULL, "foreign::wrong_dtype", NULL, (const wick_value *const[]){x}, 1, NULL, 0, &wrong, &error));
  REFUSED("33 dimensions",
          wick_op_call(NULL, "foreign::wrong_ndim", NULL, (const wick_value *const[]){x}, 1, NULL, 0, &wrong, &error));
  wick_value_release(z);
  wick_value_release(grad);
  wick_value_release(y);
  wick_value_release(x);
}

static void test_refused_operators(void **state) {
  (void)state;
  wick_operator op = {.size = sizeof op, .schema = "foreign::other(Tensor x) -> Tensor"};
  REFUSED("either a kernel or a body", wick_operators_register(&op, 1, &error));
  op.kernel = twice;
  op.body = "return x";
  REFUSED("either a kernel or a body", wick_operators_register(&op, 1, &error));
  op.shape = scale_shape;
  op.kernel = NULL;
  REFUSED("a shape function is for kernels", wick_operators_register(&op, 1, &error));
  op.kernel = twice;
  op.body = NULL;
  op.schema = "foreign::other(Tensor x) -> int";
  REFUSED("a shape function is for kernels", wick_operators_register(&op, 1, &error));
  op.schema = "foreign::other(Tensor x";
  assert_int_not_equal(wick_operators_register(&op, 1, NULL), WICK_OK);
  op.schema = "foreign::twice(Tensor x) -> Tensor";
  REFUSED("is registered already", wick_operators_register(&op, 1, &error));
}

/* ---- a counter, with pickling ---- */

#define COUNTER "foreign.Counter"
#define COUNTER_TYPE "__torch__.torch.classes.foreign.Counter"
static int counters;
static void drop_counter(void *data) {
  free(data);
  counters--;
}

static wick_status counter_set(void *user, wick_call *call, wick_error **error) {
  (void)user;
  wick_value *self = wick_call_argument(call, 0), *n = wick_call_argument(call, 1);
  int64_t *data = malloc(sizeof *data);
  *data = wick_value_to_int(n);
  counters++;
  wick_status status = wick_native_set(self, COUNTER, data, drop_counter, error);
  wick_value_release(n);
  wick_value_release(self);
  return status;
}

static wick_status counter_next(void *user, wick_call *call, wick_error **error) {
  wick_value *self = wick_call_argument(call, 0);
  void *data;
  wick_status status = wick_native_data(self, COUNTER, &data, error);
  if (!status) {
    wick_value *now = wick_value_int(*(int64_t *)data);
    if (user) ++*(int64_t *)data;
    wick_call_set_result(call, 0, now);
    wick_value_release(now);
  }
  wick_value_release(self);
  return status;
}

static const wick_operator counter_operators[] = {
    {.size = sizeof(wick_operator),
     .schema = "foreign::counter_set(" COUNTER_TYPE "(a!) self, int n=5) -> ()",
     .kernel = counter_set},
    {.size = sizeof(wick_operator),
     .schema = "foreign::counter_next(" COUNTER_TYPE "(a!) self) -> int",
     .kernel = counter_next,
     .user = "count"},
    {.size = sizeof(wick_operator),
     .schema = "foreign::counter_get(" COUNTER_TYPE " self) -> int",
     .kernel = counter_next},
};
static const wick_class_method counter_methods[] = {{"__init__", "foreign::counter_set"},
                                                    {"__setstate__", "foreign::counter_set"},
                                                    {"__getstate__", "foreign::counter_get"},
                                                    {"next", "foreign::counter_next"}};

static void test_class(void **state) {
  (void)state;
  wick_class of = {.size = sizeof of, .name = COUNTER, .methods = counter_methods, .method_count = 4};
  FINE(wick_class_register(&of, &error));
  wick_value *result =
      run("def f():\n  a = torch.classes.foreign.Counter(7)\n  b = torch.classes.foreign.Counter()\n"
          "  first = a.next() + b.next()\n  a.next()\n  return first * 100 + a.next()\n",
          "f", NULL);
  assert_int_equal(wick_value_to_int(result), 1209);
  wick_value_release(result);
  assert_int_equal(counters, 0);
  wick_module *module = NULL;
  static const char *const values[] = {"value", " value", ""};
  for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
    char text[100];
    snprintf(text, sizeof text, "def f():\n  return getattr(torch.classes.foreign.Counter(), '%s')\n", values[i]);
    REFUSED("has no attribute", wick_compile(NULL, text, strlen(text), NULL, &module, &error));
  }
  REFUSED("there is a class foreign.Counter already", wick_class_register(&of, &error));
  of.name = "foreign";
  REFUSED("is no name of a class", wick_class_register(&of, &error));
  of.name = "foreign.Counter.More";
  REFUSED("is no name of a class", wick_class_register(&of, &error));
  of.name = "foreign.Other"; /* whose methods these are not */
  REFUSED("is no operator whose first parameter is the object", wick_class_register(&of, &error));
  const wick_class_method unknown = {"next", "foreign::nothing"};
  of.methods = &unknown;
  of.method_count = 1;
  REFUSED("there is no operator foreign::nothing", wick_class_register(&of, &error));
}

/* Neither as text nor as a hash does an object tell where it is. */
static void check_hides_address(const wick_value *object) {
  char *text, *again, address[40];
  uint64_t hash;
  const void *at = object->value.object;
  snprintf(address, sizeof address, "%p", at);
  FINE(wick_value_print(object, &text, &error));
  FINE(wick_value_print(object, &again, &error));
  assert_non_null(strstr(text, " object at 0x"));
  assert_string_equal(text, again);
  assert_null(strstr(text, address + 2));
  check(ivalue_hash(object->value, &hash));
  assert_int_equal(hash, ivalue_identity(at));
  assert_int_not_equal(hash, (uintptr_t)at);
  wick_text_free(text);
  wick_text_free(again);
}

static void test_objects(void **state) {
  (void)state;
  wick_value *object = NULL;
  void *data;
  counters++;
  REFUSED("there is no native class foreign.Nothing",
          wick_native_new("foreign.Nothing", malloc(8), drop_counter, &object, &error));
  assert_int_equal(counters, 0);
  counters += 3;
  FINE(wick_native_new(COUNTER, calloc(1, 8), drop_counter, &object, &error));
  FINE(wick_native_data(object, COUNTER, &data, &error));
  FINE(wick_native_set(object, COUNTER, calloc(1, 8), drop_counter, &error));
  FINE(wick_native_set(object, COUNTER, calloc(1, 8), drop_counter, &error));
  assert_int_equal(counters, 3); /* another thread may still use what it was given */
  assert_int_equal(*(const int64_t *)data, 0);
  FINE(wick_native_data(object, COUNTER, &data, &error));
  check_hides_address(object);
  wick_value *number = wick_value_int(1);
  REFUSED("expected an object of the class foreign.Counter", wick_native_data(number, COUNTER, &data, &error));
  REFUSED("expected an object of the class",
          wick_native_data(object, "quantized.LinearPackedParamsBase", &data, &error));
  wick_value_release(number);
  wick_value_release(object);
  assert_int_equal(counters, 0);
}

static int setup(void **state) {
  (void)state;
  FINE(wick_operators_register(operators, sizeof operators / sizeof *operators, &error));
  FINE(wick_operators_register(counter_operators, 3, &error));
  return 0;
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_operators), cmocka_unit_test(test_refused_operators),
                                     cmocka_unit_test(test_class), cmocka_unit_test(test_objects)};
  return cmocka_run_group_tests(tests, setup, NULL);
}
