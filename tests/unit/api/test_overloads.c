/* Operators looked up once (wick/overload.h), and what tensors and generators tell of themselves. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

#include "wick/wick.h"

static wick_value *three_floats(const float *numbers) {
  wick_value *tensor = NULL;
  assert_int_equal(wick_tensor_new(WICK_FLOAT32, 1, (const int64_t[]){3}, &tensor, NULL), WICK_OK);
  assert_int_equal(wick_tensor_copy_from(tensor, numbers, 12, NULL), WICK_OK);
  return tensor;
}

static const wick_overload *overload_of(const char *name, const char *schema_begin) {
  for (const wick_overload *o = wick_overload_first(name); o; o = wick_overload_next(o)) {
    char *text = NULL;
    assert_int_equal(wick_overload_schema(o, &text, NULL), WICK_OK);
    int found = !strncmp(text, schema_begin, strlen(schema_begin));
    wick_text_free(text);
    if (found) return o;
  }
  fail_msg("no overload %s", schema_begin);
  return NULL;
}

static void test_parameters(void **state) {
  (void)state;
  const wick_overload *add = overload_of("aten::add", "aten::add.Tensor(");
  wick_parameter p = {.size = sizeof p};
  assert_int_equal(wick_overload_parameter_count(add), 3);
  assert_int_equal(wick_overload_result_count(add), 1);
  assert_int_equal(wick_overload_parameter(add, 0, &p, NULL), WICK_OK);
  assert_int_equal(p.kind, WICK_TAKES_TENSOR);
  assert_int_equal(p.name_length, 4);
  assert_memory_equal(p.name, "self", 4);
  assert_int_equal(wick_overload_parameter(add, 2, &p, NULL), WICK_OK);
  assert_int_equal(p.kind, WICK_TAKES_SCALAR);
  assert_int_equal(p.flags, WICK_PARAMETER_KEYWORD_ONLY | WICK_PARAMETER_HAS_DEFAULT);
  assert_int_equal(wick_overload_parameter(add, 3, &p, NULL), WICK_INVALID_ARGUMENT);
  const wick_overload *out = overload_of("aten::add", "aten::add.out(");
  assert_int_equal(wick_overload_parameter(out, 3, &p, NULL), WICK_OK);
  assert_int_equal(p.flags & (WICK_PARAMETER_OUT | WICK_PARAMETER_WRITTEN),
                   WICK_PARAMETER_OUT | WICK_PARAMETER_WRITTEN);
  const wick_overload *sum = overload_of("aten::sum", "aten::sum.dim_IntList(");
  assert_int_equal(wick_overload_parameter(sum, 1, &p, NULL), WICK_OK);
  assert_int_equal(p.kind, WICK_TAKES_INT);
  assert_int_equal(p.repeats, 1);
  assert_int_equal(p.flags & (WICK_PARAMETER_LIST | WICK_PARAMETER_OPTIONAL),
                   WICK_PARAMETER_LIST | WICK_PARAMETER_OPTIONAL);
  assert_int_equal(wick_overload_parameter(sum, 3, &p, NULL), WICK_OK);
  assert_int_equal(p.kind, WICK_TAKES_DTYPE);
}

static void test_call(void **state) {
  (void)state;
  const wick_overload *add = overload_of("aten::add", "aten::add.Tensor(");
  wick_value *a = three_floats((const float[]){1, 2, 3}), *two = wick_value_int(2), *result = NULL;
  wick_error *error = NULL;
  float numbers[3];
  assert_int_equal(wick_overload_call(NULL, add, (const wick_value *const[]){a, a, two}, 3, NULL, &result, 1, &error),
                   WICK_OK);
  assert_int_equal(wick_tensor_copy_to(result, numbers, sizeof numbers, NULL), WICK_OK);
  assert_memory_equal(numbers, ((const float[]){3, 6, 9}), sizeof numbers);
  wick_value_release(result);
  /* a number for a tensor; the default for alpha */
  assert_int_equal(wick_overload_call(NULL, add, (const wick_value *const[]){a, two, NULL}, 3, NULL, &result, 1, NULL),
                   WICK_OK);
  assert_int_equal(wick_tensor_copy_to(result, numbers, sizeof numbers, NULL), WICK_OK);
  assert_memory_equal(numbers, ((const float[]){3, 4, 5}), sizeof numbers);
  wick_value_release(result);
  const wick_overload *add_ = overload_of("aten::add_", "aten::add_.Tensor(");
  assert_int_equal(wick_overload_call(NULL, add_, (const wick_value *const[]){a, a, NULL}, 3, NULL, &result, 1, NULL),
                   WICK_OK);
  assert_ptr_equal(wick_value_identity(result), wick_value_identity(a));
  wick_value_release(result);
  /* refused: a text for a tensor, nothing for what has no default, a wrong count */
  wick_value *text = wick_value_string("x", 1);
  assert_int_equal(
      wick_overload_call(NULL, add, (const wick_value *const[]){a, text, NULL}, 3, NULL, &result, 1, &error),
      WICK_INVALID_ARGUMENT);
  assert_string_equal(wick_error_message(error), "aten::add(): argument 'other' must be Tensor, not str");
  wick_error_free(error);
  assert_int_equal(wick_overload_call(NULL, add, (const wick_value *const[]){a, NULL, NULL}, 3, NULL, &result, 1, NULL),
                   WICK_INVALID_ARGUMENT);
  assert_int_equal(wick_overload_call(NULL, add, (const wick_value *const[]){a, a}, 2, NULL, &result, 1, NULL),
                   WICK_INVALID_ARGUMENT);
  assert_null(result);
  wick_value_release(text), wick_value_release(two), wick_value_release(a);
}

static void test_following(void **state) {
  (void)state;
  size_t count = 0;
  for (const wick_overload *o = wick_overload_following(NULL); o; o = wick_overload_following(o)) count++;
  assert_true(count > 2000);
  assert_null(wick_overload_first("aten::no_such_operator"));
}

/* What is said of gradients, of what runs an operator and of groups. */
static void test_abilities(void **state) {
  (void)state;
  const wick_overload *tanh = overload_of("aten::tanh", "aten::tanh("),
                      *softmax = overload_of("aten::softmax", "aten::softmax.int(");
  assert_int_equal(wick_overload_gradient(tanh), WICK_GRADIENT_FORMULA);
  assert_int_equal(wick_overload_runs(tanh), WICK_RUNS_FORMULA);
  assert_true(wick_overload_is_fusable(tanh));
  const wick_overload *tanh_out = overload_of("aten::tanh", "aten::tanh.out(");
  assert_int_equal(wick_overload_gradient(tanh_out), WICK_GRADIENT_NONE);
  assert_false(wick_overload_is_fusable(tanh_out));
  assert_true(wick_overload_is_fusable(softmax));
  assert_int_equal(wick_overload_gradient(wick_overload_first("aten::argmax")), WICK_GRADIENT_NEVER);
  assert_int_equal(wick_overload_gradient(wick_overload_first("aten::dim")), WICK_GRADIENT_NEVER);
  assert_int_equal(wick_overload_gradient(overload_of("aten::_add_relu", "aten::_add_relu.Tensor(")),
                   WICK_GRADIENT_NONE);
  assert_false(wick_overload_is_fusable(wick_overload_first("aten::mm")));
  assert_int_equal(wick_overload_runs(wick_overload_first("aten::mm")), WICK_RUNS_KERNEL);
}

static void test_info(void **state) {
  (void)state;
  wick_value *a = three_floats((const float[]){1, 2, 3}), *b = NULL, *grad = NULL;
  wick_tensor_info info = {.size = sizeof info};
  char *name = NULL;
  assert_int_equal(wick_tensor_set_requires_grad(a, 1, NULL), WICK_OK);
  assert_int_equal(wick_tensor_info_of(a, &info, NULL), WICK_OK);
  assert_int_equal(info.flags, WICK_INFO_REQUIRES_GRAD | WICK_INFO_LEAF | WICK_INFO_CONTIGUOUS);
  assert_int_equal(info.count, 3);
  assert_int_equal(info.sizes[0], 3);
  wick_run_options options = {.size = sizeof options, .grad = WICK_GRAD_ON};
  const wick_overload *add = overload_of("aten::add", "aten::add.Tensor(");
  assert_int_equal(wick_overload_call(NULL, add, (const wick_value *const[]){a, a, NULL}, 3, &options, &b, 1, NULL),
                   WICK_OK);
  assert_int_equal(wick_tensor_info_of(b, &info, NULL), WICK_OK);
  assert_int_equal(info.flags, WICK_INFO_REQUIRES_GRAD | WICK_INFO_CONTIGUOUS);
  assert_int_equal(wick_tensor_history(b, &name, NULL), WICK_OK);
  assert_string_equal(name, "AddBackward0");
  wick_text_free(name);
  assert_int_equal(wick_tensor_history(a, &name, NULL), WICK_OK);
  assert_string_equal(name, "");
  wick_text_free(name);
  assert_int_equal(wick_tensor_set_grad(a, b, NULL), WICK_OK);
  assert_int_equal(wick_tensor_grad(a, &grad, NULL), WICK_OK);
  assert_ptr_equal(wick_value_identity(grad), wick_value_identity(b));
  wick_value_release(grad);
  assert_int_equal(wick_tensor_set_grad(a, NULL, NULL), WICK_OK);
  assert_int_equal(wick_tensor_grad(a, &grad, NULL), WICK_OK);
  assert_null(grad);
  wick_value_release(a), wick_value_release(b);
}

static void test_generators(void **state) {
  (void)state;
  wick_value *g = NULL;
  uint64_t seed = 0;
  assert_int_equal(wick_generator_new(7, &g, NULL), WICK_OK);
  assert_int_equal(wick_generator_seed(g, &seed, NULL), WICK_OK);
  assert_int_equal(seed, 7);
  assert_int_equal(wick_generator_set_seed(g, 9, NULL), WICK_OK);
  assert_int_equal(wick_generator_seed(g, &seed, NULL), WICK_OK);
  assert_int_equal(seed, 9);
  unsigned char bytes[WICK_GENERATOR_STATE_BYTES], again[WICK_GENERATOR_STATE_BYTES];
  assert_int_equal(wick_generator_state(g, bytes, NULL), WICK_OK);
  assert_int_equal(wick_generator_set_seed(g, 1, NULL), WICK_OK);
  assert_int_equal(wick_generator_set_state(g, bytes, sizeof bytes, NULL), WICK_OK);
  assert_int_equal(wick_generator_state(g, again, NULL), WICK_OK);
  assert_memory_equal(bytes, again, sizeof bytes);
  assert_int_equal(wick_generator_set_state(g, bytes, 10, NULL), WICK_RUNTIME);
  memset(again, 0, sizeof again);
  assert_int_equal(wick_generator_set_state(g, again, sizeof again, NULL), WICK_RUNTIME);
  wick_value_release(g);
  assert_int_equal(wick_generator_default(&g, NULL), WICK_OK);
  assert_int_equal(wick_value_kind(g), WICK_GENERATOR);
  wick_value_release(g);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_parameters), cmocka_unit_test(test_call),
                                     cmocka_unit_test(test_following),  cmocka_unit_test(test_info),
                                     cmocka_unit_test(test_generators), cmocka_unit_test(test_abilities)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
