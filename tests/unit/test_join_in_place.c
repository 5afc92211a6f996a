/* Convolutions that write where a joined tensor has their results: the memory is one where that can be, and the values
 * are those of cat wherever it can't. */
#include "region_fixture.h"

static Exec exec;
static List *ones, *zeros;
static RegionText convolution;

static int setup(void **state) {
  (void)state;
  exec_init(&exec, NULL);
  check(list_from_ints(SIZES(1, 1), 2, &ones));
  check(list_from_ints(SIZES(0, 0), 2, &zeros));
  region_parse(&convolution,
               "graph(%x : Tensor, %w : Tensor, %ones : int[], %zeros : int[]):\n"
               "  %none : NoneType = prim::Constant()\n"
               "  %one : int = prim::Constant[value=1]()\n"
               "  %half : float = prim::Constant[value=0.5]()\n"
               "  %y : Tensor = aten::conv2d(%x, %w, %none, %ones, %zeros, %ones, %one)\n"
               "  %z : Tensor = aten::mul(%y, %half)\n"
               "  return (%z)\n");
  return 0;
}
static int teardown(void **state) {
  (void)state;
  ivalue_release(ivalue_list(ones));
  ivalue_release(ivalue_list(zeros));
  region_dispose(&convolution);
  return 0;
}

static Tensor *numbers(int64_t a, int64_t b, int64_t c, int64_t d, float step) {
  Tensor *t;
  check(tensor_empty(DTYPE_FLOAT32, 4, SIZES(a, b, c, d), &t));
  float *p = tensor_data(t);
  for (int64_t i = 0; i < t->numel; i++) p[i] = step * (float)(i % 13 - 6);
  return t;
}

/* What a plan calls: a 1x1 convolution to `channels`, as number `place` behind `beside`. */
static Tensor *convolve(Tensor *x, int64_t channels, Tensor *beside, int64_t place, int64_t room) {
  Tensor *w = numbers(channels, x->sizes[1], 1, 1, 0.25f);
  IValue result, inputs[] = {ivalue_tensor(x), ivalue_tensor(w), ivalue_list(ones), ivalue_list(zeros)};
  IValue placed[] = {beside ? ivalue_tensor(beside) : IVALUE_NONE, ivalue_int(place), ivalue_int(room)};
  check(region_call(&exec, &convolution, inputs, 3, placed, &result));
  tensor_release(w);
  return result.tensor;
}

/* What a node of a plan was made from. */
static Status run_body(const CallBody *body, Call *call) {
  static OpRef plain = OP_REF("prim::VarConcat", "");
  (void)body;
  return op_call(&exec, &plain, call->input_count, call->inputs, 1, call->outputs);
}
static Status join(OpRef *ref, Tensor *a, Tensor *b, Tensor *c, int64_t dim, Tensor **out) {
  static CallBody body = {.run = run_body};
  const Operator *op;
  IValue result = IVALUE_NONE;
  IValue inputs[] = {ivalue_tensor(a), ivalue_tensor(b), ivalue_tensor(c), ivalue_int(dim)};
  Call call = {.inputs = inputs, .input_count = 4, .outputs = &result, .output_count = 1, .body = &body};
  check(op_find(ref, &op));
  Status status = operator_call(&exec, op, &call);
  *out = status ? NULL : result.tensor;
  return status;
}

static bool lies_in(const Tensor *joined, const Tensor *part) {
  return joined->storage == part->storage;
}

/* Joins the three both ways and lets go of them; whether nothing was copied. */
static bool join_and_compare(Tensor *a, Tensor *b, Tensor *c, int64_t dim) {
  static OpRef in_place = OP_REF("wick::cat_in_place", ""), plain = OP_REF("prim::VarConcat", "");
  Tensor *got, *expected;
  check(join(&in_place, a, b, c, dim, &got));
  check(join(&plain, a, b, c, dim, &expected));
  assert_true(tensor_same_sizes(got, expected));
  assert_true(got->row_major && got->offset == 0);
  assert_memory_equal(tensor_data(got), tensor_data(expected), (size_t)got->numel * sizeof(float));
  bool is_joined = lies_in(got, a);
  assert_int_equal(is_joined, got->storage->bytes == expected->storage->bytes && lies_in(got, c));
  Tensor *all[] = {a, b, c, got, expected};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) tensor_release(all[i]);
  return is_joined;
}

static void test_one_sample_is_joined(void **state) {
  (void)state;
  for (int64_t side = 1; side < 40; side += 13) {
    Tensor *x = numbers(1, 3, side, side + 1, 1);
    Tensor *a = convolve(x, 5, NULL, 0, 5 + 2 + 9), *b = convolve(x, 2, a, 1, 16), *c = convolve(x, 9, b, 2, 16);
    assert_true(join_and_compare(a, b, c, 1));
    tensor_release(x);
  }
}

static void test_several_samples_are_copied(void **state) {
  (void)state;
  Tensor *x = numbers(2, 3, 4, 5, 1);
  Tensor *a = convolve(x, 5, NULL, 0, 16), *b = convolve(x, 2, a, 1, 16), *c = convolve(x, 9, b, 2, 16);
  assert_false(join_and_compare(a, b, c, 1));
  tensor_release(x);
}

/* Where somebody else may lie already, or the room is not what was said, a result lies by itself. */
static void test_a_place_that_is_not_free(void **state) {
  (void)state;
  Tensor *x = numbers(1, 3, 4, 5, 1);
  Tensor *a = convolve(x, 5, NULL, 0, 16), *b = convolve(x, 2, a, 1, 16), *again = convolve(x, 9, a, 1, 16);
  assert_true(lies_in(a, b) && !lies_in(a, again));
  assert_false(join_and_compare(a, b, again, 1));
  a = convolve(x, 5, NULL, 0, 8);
  b = convolve(x, 2, a, 1, 8);
  Tensor *too_large = convolve(x, 9, b, 2, 8);
  assert_false(join_and_compare(a, b, too_large, 1));
  a = convolve(x, 5, NULL, 0, 17); /* room that nobody took */
  b = convolve(x, 2, a, 1, 17);
  assert_false(join_and_compare(a, b, convolve(x, 9, b, 2, 17), 1));
  a = numbers(1, 5, 4, 5, 1); /* no room */
  b = convolve(x, 2, a, 1, 16);
  assert_false(join_and_compare(a, b, convolve(x, 9, b, 2, 16), 1));
  a = convolve(x, 5, NULL, 0, -3);
  b = convolve(x, 2, a, -1, 0);
  assert_false(join_and_compare(a, b, convolve(x, 9, b, 0, 0), 1));
  tensor_release(x);
}

static void test_other_ways_to_join(void **state) {
  (void)state;
  static OpRef in_place = OP_REF("wick::cat_in_place", "");
  Tensor *x = numbers(1, 3, 4, 4, 1), *wide = numbers(1, 3, 4, 8, 1), *out;
  Tensor *a = convolve(x, 4, NULL, 0, 12), *b = convolve(x, 4, a, 1, 12), *c = convolve(x, 4, b, 2, 12);
  assert_false(join_and_compare(a, b, c, 2)); /* along rows they do not lie in order */
  a = convolve(x, 4, NULL, 0, 12), b = convolve(x, 4, a, 1, 12), c = convolve(x, 4, b, 2, 12);
  assert_false(join_and_compare(b, a, c, 1));
  a = convolve(x, 4, NULL, 0, 12), b = convolve(wide, 4, a, 1, 12), c = convolve(x, 4, b, 2, 12);
  check_error(join(&in_place, a, b, c, 1, &out), "Sizes of tensors must match except in dimension 1");
  tensor_release(a), tensor_release(b), tensor_release(c);
  tensor_release(x), tensor_release(wide);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_one_sample_is_joined),
      cmocka_unit_test(test_several_samples_are_copied),
      cmocka_unit_test(test_a_place_that_is_not_free),
      cmocka_unit_test(test_other_ways_to_join),
  };
  return cmocka_run_group_tests(tests, setup, teardown);
}
