/* operator_call: derived forms, their checks and messages, lazy inputs, versions, what autograd and tracing see. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "call/operator.h"
#include "call/row.h"
#include "tensor/iterate.h"

#define SIZES(...) \
  (int64_t[]) {    \
    __VA_ARGS__    \
  }

/* ---- two operators to test with ---- */

static void add_line(void *argument, int64_t n, char *const *data, const int64_t *strides) {
  (void)argument;
  for (int64_t i = 0; i < n; i++)
    *(float *)(data[0] + i * strides[0]) = *(float *)(data[1] + i * strides[1]) + *(float *)(data[2] + i * strides[2]);
}

static int kernel_runs;
static Status kernel_plus(Call *c) {
  Tensor *converted[2];
  kernel_runs++;
  for (uint32_t i = 0; i < 2; i++) TRY(tensor_to_dtype(call_tensor(c, i), DTYPE_FLOAT32, &converted[i]));
  Tensor *out = call_out(c, 0), *target = out;
  if (out->dtype != DTYPE_FLOAT32) TRY(tensor_empty(DTYPE_FLOAT32, out->ndim, out->sizes, &target));
  Iterator it;
  TRY(iterator_init(&it, 3, (const Tensor *const[]){target, converted[0], converted[1]}));
  iterator_run(&it, 0, it.numel, add_line, NULL);
  if (target != out) {
    TRY(tensor_copy(out, target, 1));
    tensor_release(target);
  }
  tensor_release(converted[0]);
  tensor_release(converted[1]);
  return OK;
}

static Status kernel_fails(Call *c) {
  (void)c;
  return status_new(ERROR_RUNTIME, "no luck");
}

static const OpRow rows[] = {
    {.schema = "test::plus(Tensor self, Tensor other) -> Tensor",
     .kernel = kernel_plus,
     .shape = shape_pointwise,
     .flags = OP_INPLACE | OP_OUT | OP_ALIASING_OK},
    {.schema = "test::careful(Tensor self, Tensor other) -> Tensor",
     .kernel = kernel_plus,
     .shape = shape_pointwise,
     .flags = OP_INPLACE | OP_OUT},
    {.schema = "test::fails(Tensor self) -> Tensor", .kernel = kernel_fails, .shape = shape_same_as_first},
};
static OP_TABLE(table, rows);

static Exec exec;
static int setup(void **state) {
  (void)state;
  exec_init(&exec, NULL);
  return operator_register(&table, NULL) != OK;
}

static Tensor *floats(int ndim, const int64_t *sizes, float first) {
  Tensor *t;
  assert_null(tensor_empty(DTYPE_FLOAT32, ndim, sizes, &t));
  for (int64_t i = 0; i < t->numel; i++) ((float *)tensor_data(t))[i] = first + (float)i;
  return t;
}

static Status run(const char *name, const char *overload, uint32_t count, const IValue *inputs, IValue *out) {
  const Operator *op = operator_find_overload(str_from(name), str_from(overload));
  assert_non_null(op);
  *out = IVALUE_NONE;
  return operator_call(&exec, op, &(Call){.inputs = inputs, .input_count = count, .outputs = out, .output_count = 1});
}
static Status run2(const char *name, Tensor *a, Tensor *b, IValue *out) {
  return run(name, "", 2, (IValue[]){ivalue_tensor(a), ivalue_tensor(b)}, out);
}

static void expect_error(Status status, const char *message) {
  assert_non_null(status);
  assert_string_equal(status->message, message);
  status_free(status);
}

static float at(const Tensor *t, int64_t i) {
  return ((float *)tensor_data(t))[i];
}

/* ---- tests ---- */

static void runs_functional(void **state) {
  (void)state;
  Tensor *a = floats(2, SIZES(2, 1), 0), *b = floats(1, SIZES(3), 10);
  IValue out;
  assert_null(run2("test::plus", a, b, &out));
  assert_int_equal(out.tensor->numel, 6);
  assert_true(at(out.tensor, 0) == 10 && at(out.tensor, 5) == 13);
  ivalue_release(out);
  tensor_release(a);
  tensor_release(b);
}

static void writes_in_place(void **state) {
  (void)state;
  const char *names[] = {"test::plus_", "test::careful_"};
  for (int i = 0; i < 2; i++) {
    Tensor *a = floats(2, SIZES(2, 2), 0), *b = floats(1, SIZES(2), 10), *view;
    uint32_t version = a->storage->version;
    IValue out;
    assert_null(run2(names[i], a, b, &out));
    assert_ptr_equal(out.tensor, a);
    assert_true(at(a, 0) == 10 && at(a, 3) == 14);
    assert_int_equal(a->storage->version, version + 1);
    ivalue_release(out);
    assert_null(run2(names[i], a, a, &out)); /* self twice */
    assert_true(at(a, 3) == 28);
    ivalue_release(out);
    assert_null(tensor_transpose(a, 0, 1, &view)); /* a strided self */
    assert_null(run2(names[i], view, b, &out));
    assert_true(at(a, 0) == 30 && at(a, 2) == 24 + 11);
    ivalue_release(out);
    tensor_release(view);
    tensor_release(a);
    tensor_release(b);
  }
}

static void refuses_in_place(void **state) {
  (void)state;
  Tensor *a = floats(1, SIZES(2), 0), *b = floats(2, SIZES(2, 2), 0), *whole, *part, *wide;
  IValue out;
  expect_error(run2("test::plus_", a, b, &out), "output with shape [2] doesn't match the broadcast shape [2, 2]");
  assert_int_equal(out.tag, TAG_NONE);
  Tensor *longs;
  assert_null(tensor_to_dtype(a, DTYPE_INT64, &longs));
  expect_error(run2("test::plus_", longs, a, &out), "result type Float can't be cast to the desired output type Long");
  assert_null(tensor_expand(a, 2, SIZES(2, 2), &wide));
  expect_error(
      run2("test::plus_", wide, b, &out),
      "unsupported operation: more than one element of the written-to tensor refers to a single memory location. "
      "Please clone() the tensor before performing the operation.");
  whole = floats(1, SIZES(4), 0);
  Tensor *rest;
  assert_null(tensor_narrow(whole, 0, 0, 3, &part));
  assert_null(tensor_narrow(whole, 0, 1, 3, &rest));
  expect_error(run2("test::plus_", part, rest, &out),
               "unsupported operation: some elements of the input tensor and the written-to tensor refer to a single "
               "memory location. "
               "Please clone() the tensor before performing the operation.");
  Tensor *all[] = {a, b, longs, wide, whole, part, rest};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) tensor_release(all[i]);
}

static void fills_out(void **state) {
  (void)state;
  const char *names[] = {"test::plus", "test::careful"};
  for (int i = 0; i < 2; i++) {
    Tensor *a = floats(1, SIZES(2), 0), *b = floats(2, SIZES(2, 2), 0), *small, *doubles, *longs;
    IValue out;
    assert_null(tensor_empty(DTYPE_FLOAT32, 1, SIZES(0), &small));
    assert_null(run(names[i], "out", 3, (IValue[]){ivalue_tensor(a), ivalue_tensor(b), ivalue_tensor(small)}, &out));
    assert_ptr_equal(out.tensor, small);
    assert_true(small->ndim == 2 && small->numel == 4 && at(small, 3) == 4);
    ivalue_release(out);
    assert_null(tensor_empty(DTYPE_FLOAT64, 2, SIZES(2, 2), &doubles));
    assert_null(run(names[i], "out", 3, (IValue[]){ivalue_tensor(a), ivalue_tensor(b), ivalue_tensor(doubles)}, &out));
    assert_true(((double *)tensor_data(doubles))[3] == 4);
    ivalue_release(out);
    assert_null(run(names[i], "out", 3, (IValue[]){ivalue_tensor(b), ivalue_tensor(a), ivalue_tensor(b)},
                    &out)); /* out is an input */
    assert_true(at(b, 3) == 4 && at(b, 1) == 2);
    ivalue_release(out);
    assert_null(tensor_empty(DTYPE_INT64, 2, SIZES(2, 2), &longs));
    expect_error(run(names[i], "out", 3, (IValue[]){ivalue_tensor(a), ivalue_tensor(b), ivalue_tensor(longs)}, &out),
                 "result type Float can't be cast to the desired output type Long");
    Tensor *all[] = {a, b, small, doubles, longs};
    for (size_t k = 0; k < sizeof all / sizeof *all; k++) tensor_release(all[k]);
  }
}

static void resolves_lazy_inputs(void **state) {
  (void)state;
  Tensor *a = floats(1, SIZES(2), 1), *b = floats(1, SIZES(2), 10), *lazy;
  IValue out;
  assert_null(tensor_alias(a, &lazy));
  lazy->flags |= TENSOR_NEG;
  assert_null(run2("test::plus", lazy, b, &out));
  assert_true(at(out.tensor, 0) == 9 && at(out.tensor, 1) == 9);
  ivalue_release(out);
  assert_null(run2("test::plus_", lazy, b, &out)); /* stored so that it reads as 9 */
  assert_ptr_equal(out.tensor, lazy);
  assert_true(at(a, 0) == -9);
  ivalue_release(out);
  tensor_release(lazy);
  tensor_release(a);
  tensor_release(b);
}

static void refuses_what_rows_do_not_accept(void **state) {
  (void)state;
  Tensor *a = floats(1, SIZES(2), 0), *undefined = tensor_undefined();
  IValue out;
  expect_error(run2("test::plus", a, undefined, &out),
               "Expected a proper Tensor but got None (or an undefined Tensor in C++) for argument #1 'other'");
  a->flags |= TENSOR_SPARSE;
  expect_error(run2("test::plus", a, a, &out), "test::plus: sparse tensors are not supported");
  a->flags &= ~(uint32_t)TENSOR_SPARSE;
  expect_error(run("test::fails", "", 1, (IValue[]){ivalue_tensor(a)}, &out), "no luck");
  assert_int_equal(out.tag, TAG_NONE);
  tensor_release(a);
  tensor_release(undefined);
}

static void computes_sizes_of_meta_tensors(void **state) {
  (void)state;
  TensorSpec spec = {.dtype = DTYPE_FLOAT32,
                     .device = {DEVICE_META, -1},
                     .flags = TENSOR_META,
                     .ndim = 2,
                     .sizes = {1 << 20, 1 << 20}};
  Tensor *a;
  IValue out;
  assert_null(tensor_new(&spec, &a));
  kernel_runs = 0;
  assert_null(run2("test::plus", a, a, &out));
  assert_int_equal(kernel_runs, 0);
  assert_true(out.tensor->flags & TENSOR_META && out.tensor->numel == 1ll << 40);
  ivalue_release(out);
  tensor_release(a);
}

static void reuses_planned_and_dying_memory(void **state) {
  (void)state;
  Tensor *a = floats(1, SIZES(1 << 15), 0), *b = floats(1, SIZES(1 << 15), 0);
  const Operator *op = operator_find(STR("test::plus"));
  IValue out = IVALUE_NONE;
  Call call = {.inputs = (IValue[]){ivalue_tensor(a), ivalue_tensor(b)},
               .input_count = 2,
               .outputs = &out,
               .output_count = 1,
               .dying = 1};
  assert_null(operator_call(&exec, op, &call));
  const Tensor *taken = out.tensor;
#ifndef WICK_HOSTILE /* there a copy of it dies */
  assert_ptr_equal(taken, a);
#endif
  call.dying = 0;
  assert_null(operator_call(&exec, op, &call)); /* the slot holds a tensor that fits */
  assert_ptr_equal(out.tensor, taken);
  ivalue_release(out);
  tensor_release(a);
  tensor_release(b);
}

static int recorded, viewed, traced;
static Status record(Exec *e, Call *c) {
  recorded++;
  e->grad_enabled = false;
  Status status = operator_run(c);
  e->grad_enabled = true;
  return status;
}
static Status view(Exec *e, Call *c) {
  (void)e, (void)c;
  viewed++;
  return OK;
}
static Status trace(Recorder *recorder, Exec *e, Call *c) {
  assert_ptr_equal(e->recorder, recorder);
  assert_non_null(e->services);
  assert_non_null(c->outputs);
  traced++;
  return OK;
}

static void calls_autograd_and_tracer(void **state) {
  (void)state;
  static const Services services = {.autograd_record = record, .autograd_view = view};
  Recorder recorder = {trace};
  Exec with = exec;
  with.services = &services;
  Tensor *a = floats(1, SIZES(2), 0), *b = floats(1, SIZES(2), 0);
  const Operator *plus = operator_find(STR("test::plus")), *alias = operator_find(STR("aten::alias")),
                 *detach = operator_find(STR("aten::detach"));
  IValue out = IVALUE_NONE;
  Call call = {
      .inputs = (IValue[]){ivalue_tensor(a), ivalue_tensor(b)}, .input_count = 2, .outputs = &out, .output_count = 1};
#define CALL(op, count) \
  call.input_count = count, assert_null(operator_call(&with, op, &call)), ivalue_release(out), out = IVALUE_NONE
  recorded = viewed = traced = 0;
  CALL(plus, 2);
  assert_int_equal(recorded, 0);
  CALL(alias, 1);
  assert_true(recorded == 0 && viewed == 1);
  b->flags |= TENSOR_REQUIRES_GRAD;
  CALL(plus, 2);
  assert_int_equal(recorded, 1);
  with.grad_enabled = false;
  CALL(plus, 2);
  assert_int_equal(recorded, 1);
  with.grad_enabled = true;
  a->flags |= TENSOR_REQUIRES_GRAD;
  CALL(detach, 1);
  assert_int_equal(recorded, 1);
  with.recorder = &recorder;
  CALL(plus, 2);
  assert_true(recorded == 2 && traced == 1 && with.recorder == &recorder);
  tensor_release(a);
  tensor_release(b);
}

static void op_call_fills_defaults(void **state) {
  (void)state;
  static OpRef flatten = OP_REF("aten::flatten", "using_ints"), missing = OP_REF("aten::no_such", "x");
  Tensor *a = floats(2, SIZES(2, 3), 0);
  IValue out;
  assert_null(op_call(&exec, &flatten, 1, (IValue[]){ivalue_tensor(a)}, 1, &out));
  assert_true(out.tensor->ndim == 1 && tensor_shares_storage(out.tensor, a));
  ivalue_release(out);
  expect_error(op_call(&exec, &missing, 0, NULL, 1, &out), "there is no operator aten::no_such.x");
  tensor_release(a);
}

/* One number for each short line, or one line for all, on either side; also written in place. */
static void computes_short_lines(void **state) {
  (void)state;
  for (int64_t n = 1; n <= 140; n += n < 40 ? 1 : 11) {
    const int64_t shapes[][3] = {{5, 3, 1}, {1, 3, 1}, {5, 1, n}, {1, 1, n}};
    for (size_t k = 0; k < sizeof shapes / sizeof *shapes; k++) {
      Tensor *a = floats(3, SIZES(5, 3, n), 1), *b = floats(3, shapes[k], 1000);
      const int64_t *strides = b->strides, *sizes = shapes[k];
      IValue less, more;
      assert_null(run("aten::sub", "Tensor", 3, (IValue[]){ivalue_tensor(a), ivalue_tensor(b), ivalue_int(1)}, &less));
      assert_null(run("aten::sub", "Tensor", 3, (IValue[]){ivalue_tensor(b), ivalue_tensor(a), ivalue_int(1)}, &more));
      for (int64_t i = 0; i < a->numel; i++) {
        int64_t x = i / 3 / n, y = i / n % 3, z = i % n;
        float other = at(b, (sizes[0] > 1) * x * strides[0] + (sizes[1] > 1) * y * strides[1] + (sizes[2] > 1) * z);
        assert_true(at(less.tensor, i) == at(a, i) - other && at(more.tensor, i) == other - at(a, i));
      }
      IValue out;
      assert_null(run("aten::sub_", "Tensor", 3, (IValue[]){ivalue_tensor(a), ivalue_tensor(b), ivalue_int(1)}, &out));
      for (int64_t i = 0; i < a->numel; i++) assert_true(at(a, i) == at(less.tensor, i));
      ivalue_release(out);
      ivalue_release(less);
      ivalue_release(more);
      tensor_release(a);
      tensor_release(b);
    }
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(runs_functional),
                                     cmocka_unit_test(computes_short_lines),
                                     cmocka_unit_test(writes_in_place),
                                     cmocka_unit_test(refuses_in_place),
                                     cmocka_unit_test(fills_out),
                                     cmocka_unit_test(resolves_lazy_inputs),
                                     cmocka_unit_test(refuses_what_rows_do_not_accept),
                                     cmocka_unit_test(computes_sizes_of_meta_tensors),
                                     cmocka_unit_test(reuses_planned_and_dying_memory),
                                     cmocka_unit_test(calls_autograd_and_tracer),
                                     cmocka_unit_test(op_call_fills_defaults)};
  return cmocka_run_group_tests(tests, setup, NULL);
}
