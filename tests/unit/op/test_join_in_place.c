/* Convolutions whose results are joined along their channels, as a region with the join, against the same one by one:
 * values, sizes, strides, errors. */
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>

#include "checks.h"
#include "outcome.h"
#include "random_tensor.h"
#include "call/call_plan.h"
#include "call/region.h"
#include "region_fixture.h"

static Exec exec;
static List *ones, *zeros;
static RegionText joined;
enum { INPUTS = 7 };

static int setup(void **state) {
  (void)state;
  exec_init(&exec, &api_services);
  check(list_from_ints(SIZES(1, 1), 2, &ones));
  check(list_from_ints(SIZES(0, 0), 2, &zeros));
  region_parse(
      &joined,
      "graph(%x : Tensor, %y : Tensor, %u : Tensor, %v : Tensor, %w : Tensor, %ones : int[], %zeros : int[]):\n"
      "  %none : NoneType = prim::Constant()\n"
      "  %one : int = prim::Constant[value=1]()\n"
      "  %half : float = prim::Constant[value=0.5]()\n"
      "  %a.1 : Tensor = aten::conv2d(%x, %u, %none, %ones, %zeros, %ones, %one)\n"
      "  %a : Tensor = aten::relu(%a.1)\n"
      "  %b.1 : Tensor = aten::conv2d(%y, %v, %none, %ones, %zeros, %ones, %one)\n"
      "  %b : Tensor = aten::sigmoid(%b.1)\n"
      "  %c.1 : Tensor = aten::conv2d(%x, %w, %none, %ones, %ones, %ones, %one)\n"
      "  %c : Tensor = aten::mul(%c.1, %half)\n"
      "  %d : Tensor = prim::VarConcat(%a, %b, %c, %one)\n"
      "  return (%d)\n");
  assert_non_null(joined.body->body.region->join.op);
  assert_int_equal(joined.body->body.region->unit_count, 3);
  return 0;
}
static int teardown(void **state) {
  (void)state;
  ivalue_release(ivalue_list(ones));
  ivalue_release(ivalue_list(zeros));
  region_dispose(&joined);
  return 0;
}

/* Of images of 4 channels; the third kernel is 3x3. */
static void make_inputs(IValue *inputs, Tensor *x, Tensor *y, const int64_t *channels) {
  inputs[0] = ivalue_tensor(x);
  inputs[1] = ivalue_tensor(y);
  for (int i = 0; i < 3; i++) {
    int64_t side = i == 2 ? 3 : 1;
    inputs[2 + i] = ivalue_tensor(random_tensor(4, SIZES(channels[i], 4, side, side)));
  }
  inputs[5] = ivalue_retain(ivalue_list(ones));
  inputs[6] = ivalue_retain(ivalue_list(zeros));
}
static void release_inputs(IValue *inputs) {
  for (int i = 0; i < INPUTS; i++) ivalue_release(inputs[i]);
}

static void compare(const IValue *inputs) {
  IValue got, expected;
  check(region_call(&exec, &joined, inputs, &got));
  check(region_call_apart(&exec, &joined, inputs, &expected));
  const Tensor *a = got.tensor, *b = expected.tensor;
  assert_true(tensor_same_sizes(a, b) && a->dtype == b->dtype);
  assert_memory_equal(a->strides, b->strides, b->ndim * sizeof *b->strides);
  for (int64_t i = 0; i < a->numel; i++)
    assert_true(fabsf(((float *)tensor_data(a))[i] - ((float *)tensor_data(b))[i]) < 1e-5f);
  assert_int_equal(a->storage->bytes, b->storage->bytes);
  ivalue_release(got), ivalue_release(expected);
}

static void test_values(void **state) {
  (void)state;
  static const int64_t channels[][3] = {{5, 2, 9}, {1, 1, 1}, {64, 3, 32}};
  for (int64_t batch = 0; batch < 3; batch++)
    for (int64_t side = 1; side < 40; side += 13)
      for (size_t c = 0; c < sizeof channels / sizeof *channels; c++) {
        IValue inputs[INPUTS];
        make_inputs(inputs, random_tensor(4, SIZES(batch, 4, side, side + 1)),
                    random_tensor(4, SIZES(batch, 4, side, side + 1)), channels[c]);
        for (exec.work.threads = 1; exec.work.threads < 3; exec.work.threads++) compare(inputs);
        exec.work.threads = 1;
        release_inputs(inputs);
      }
}

/* The second image of another size. */
static void test_errors(void **state) {
  (void)state;
  IValue inputs[INPUTS], out;
  for (int64_t batch = 1; batch < 3; batch++) {
    make_inputs(inputs, random_tensor(4, SIZES(batch, 4, 5, 6)), random_tensor(4, SIZES(batch, 4, 5, 7)),
                (const int64_t[]){2, 3, 4});
    check_error(region_call(&exec, &joined, inputs, &out), "Sizes of tensors must match except in dimension 1");
    release_inputs(inputs);
  }
  make_inputs(inputs, random_tensor(4, SIZES(1, 3, 5, 6)), random_tensor(4, SIZES(1, 4, 5, 6)),
              (const int64_t[]){2, 3, 4});
  check_error(region_call(&exec, &joined, inputs, &out), "to have 4 channels, but got 3");
  release_inputs(inputs);
}

/* Who appends, and takes away again, what a list of strides holds. */
static atomic_bool is_done;
static void *change_list(void *argument) {
  List *list = argument;
  while (!atomic_load(&is_done)) {
    for (int i = 0; i < 200; i++) check(list_append(list, ivalue_int(1)));
    list_truncate(list, 2);
  }
  return NULL;
}

/* Numbers that another thread may change are held for the call, as of the operators by themselves. */
static void test_shared_lists(void **state) {
  (void)state;
  IValue inputs[INPUTS], out;
  List *strides;
  pthread_t thread;
  check(list_from_ints(SIZES(1, 1), 2, &strides));
  make_inputs(inputs, random_tensor(4, SIZES(1, 4, 5, 6)), random_tensor(4, SIZES(1, 4, 5, 6)),
              (const int64_t[]){2, 3, 4});
  ivalue_release(inputs[5]);
  inputs[5] = ivalue_list(strides);
  ivalue_mark_shared(inputs[5]);
  const CallPlan *plan;
  check(call_plan(joined.op, &plan));
  for (uint32_t i = 0; i < joined.node->input_count; i++) assert_true(plan->held >> i & 1);
  assert_int_equal(pthread_create(&thread, NULL, change_list, strides), 0);
  for (int i = 0; i < 2000; i++) {
    Status status = region_call(&exec, &joined, inputs, &out);
    if (!status) ivalue_release(out);
    status_free(status); /* there were more than two */
  }
  atomic_store(&is_done, true);
  pthread_join(thread, NULL);
  check(region_call(&exec, &joined, inputs, &out));
  ivalue_release(out);
  release_inputs(inputs);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_values), cmocka_unit_test(test_errors),
                                     cmocka_unit_test(test_shared_lists)};
  return cmocka_run_group_tests(tests, setup, teardown);
}
