/* Rows that make, convert and ask tensors, called as the interpreter calls them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "call/call.h"
#include "call/operator.h"

static Exec exec;
static int setup(void **state) {
  (void)state;
  exec_init(&exec, NULL);
  return 0;
}

static IValue ints(size_t count, const int64_t *values) {
  List *list;
  assert_null(list_from_ints(values, count, &list));
  return ivalue_list(list);
}
#define INTS(...) ints(sizeof((int64_t[]){__VA_ARGS__}) / 8, (int64_t[]){__VA_ARGS__})

/* Releases the arguments. */
static Status call(const char *name, const char *overload, uint32_t count, IValue *inputs, IValue *out) {
  OpRef ref = {name, overload, NULL};
  *out = IVALUE_NONE;
  Status status = op_call(&exec, &ref, count, inputs, 1, out);
  for (uint32_t i = 0; i < count; i++) ivalue_release(inputs[i]);
  return status;
}
#define CALL(name, overload, out, ...) \
  call(name, overload, sizeof((IValue[]){__VA_ARGS__}) / sizeof(IValue), (IValue[]){__VA_ARGS__}, out)

static void expect_error(Status status, const char *text) {
  assert_non_null(status);
  assert_non_null(strstr(status->message, text));
  status_free(status);
}

static void makes_and_fills(void **state) {
  (void)state;
  IValue t;
  assert_null(CALL("aten::full", "", &t, INTS(2, 3), ivalue_int(7)));
  assert_int_equal(t.tensor->dtype, DTYPE_INT64);
  assert_int_equal(((int64_t *)tensor_data(t.tensor))[5], 7);
  IValue like;
  assert_null(CALL("aten::zeros_like", "", &like, t, ivalue_int(DTYPE_FLOAT64)));
  assert_int_equal(like.tensor->dtype, DTYPE_FLOAT64);
  ivalue_release(like);
  expect_error(CALL("aten::full", "", &t, INTS(2), ivalue_int(300), ivalue_int(DTYPE_UINT8)),
               "value cannot be converted to type uint8_t without overflow");
  expect_error(CALL("aten::zeros", "", &t, INTS(-1)), "negative dimension -1");
}

static void counts(void **state) {
  (void)state;
  IValue t;
  assert_null(CALL("aten::arange", "start_step", &t, ivalue_int(10), ivalue_int(0), ivalue_int(-3)));
  assert_int_equal(t.tensor->numel, 4);
  assert_int_equal(((int64_t *)tensor_data(t.tensor))[3], 1);
  ivalue_release(t);
  assert_null(CALL("aten::linspace", "", &t, ivalue_int(0), ivalue_int(10), ivalue_int(5), ivalue_int(DTYPE_INT64)));
  assert_int_equal(((int64_t *)tensor_data(t.tensor))[3], 7);
  ivalue_release(t);
  assert_null(CALL("aten::tril_indices", "", &t, ivalue_int(INT64_MAX), ivalue_int(0)));
  assert_int_equal(t.tensor->numel, 0);
  ivalue_release(t);
  expect_error(CALL("aten::triu_indices", "", &t, ivalue_int(INT64_MAX), ivalue_int(INT64_MAX)), "too many indices");
  expect_error(CALL("aten::arange", "start_step", &t, ivalue_int(0), ivalue_int(1), ivalue_int(0)),
               "step must be nonzero");
}

static void converts_only_when_needed(void **state) {
  (void)state;
  IValue t, same, half;
  assert_null(CALL("aten::ones", "", &t, INTS(2)));
  assert_null(CALL("aten::to", "dtype", &same, ivalue_retain(t), ivalue_int(DTYPE_FLOAT32)));
  assert_ptr_equal(same.tensor, t.tensor);
  assert_null(CALL("aten::to", "dtype", &half, ivalue_retain(t), ivalue_int(DTYPE_FLOAT16)));
  assert_int_equal(half.tensor->dtype, DTYPE_FLOAT16);
  expect_error(CALL("aten::to", "device", &same, ivalue_retain(t), ivalue_device((Device){DEVICE_CUDA, 0}),
                    ivalue_int(DTYPE_FLOAT32)),
               "there is no device 'cuda:0' here");
  ivalue_release(half);
  ivalue_release(t);
  ivalue_release(t);
}

static void reads_literals(void **state) {
  (void)state;
  IValue t;
  double numbers[] = {0.1, 2};
  List *list;
  assert_null(list_from_doubles(numbers, 2, &list));
  assert_null(CALL("aten::tensor", "", &t, ivalue_list(list), ivalue_int(DTYPE_FLOAT64)));
  assert_true(*(double *)tensor_data(t.tensor) == (double)0.1f); /* by way of the default dtype */
  ivalue_release(t);
  assert_null(CALL("aten::tensor", "int", &t, ivalue_int(300), ivalue_int(DTYPE_UINT8)));
  assert_int_equal(*(uint8_t *)tensor_data(t.tensor), 44);
  ivalue_release(t);
  expect_error(CALL("aten::tensor", "int", &t, ivalue_int(3), IVALUE_NONE, IVALUE_NONE, ivalue_bool(true)),
               "can require gradients");
}

static void asks(void **state) {
  (void)state;
  IValue t, v;
  assert_null(CALL("aten::ones", "", &t, INTS(3)));
  expect_error(CALL("aten::item", "", &v, ivalue_retain(t)), "a Tensor with 3 elements cannot be converted to Scalar");
  expect_error(CALL("aten::Bool", "Tensor", &v, ivalue_retain(t)), "more than one value is ambiguous");
  assert_null(CALL("aten::size", "int", &v, ivalue_retain(t), ivalue_int(-1)));
  assert_int_equal(v.i, 3);
  assert_null(CALL("aten::dropout", "", &v, ivalue_retain(t), ivalue_float(0.5), ivalue_bool(false)));
  assert_ptr_equal(v.tensor, t.tensor);
  ivalue_release(v);
  ivalue_release(t);
}

static void keeps_storage_bounds(void **state) {
  (void)state;
  IValue t, v;
  assert_null(CALL("aten::ones", "", &t, INTS(4)));
  expect_error(CALL("aten::set_", "source_Tensor_storage_offset", &v, ivalue_retain(t), ivalue_retain(t), ivalue_int(2),
                    INTS(3), INTS(2)),
               "out of bounds for storage of size 16");
  expect_error(CALL("aten::set_", "source_Tensor_storage_offset", &v, ivalue_retain(t), ivalue_retain(t),
                    ivalue_int(-1), INTS(1), INTS(1)),
               "invalid storage offset -1");
  expect_error(CALL("aten::resize_", "", &v, ivalue_retain(t), INTS(INT64_MAX)), "overflow");
  ivalue_release(t);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(makes_and_fills), cmocka_unit_test(counts), cmocka_unit_test(converts_only_when_needed),
      cmocka_unit_test(reads_literals),  cmocka_unit_test(asks),   cmocka_unit_test(keeps_storage_bounds)};
  return cmocka_run_group_tests(tests, setup, NULL);
}
