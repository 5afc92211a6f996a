/* Gradients from outside (wick_record), and hooks of what recorded calls made. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

#include "wick/wick.h"

static wick_value *numbers(const float *data, int requires_grad) {
  wick_value *tensor = NULL;
  assert_int_equal(wick_tensor_new(WICK_FLOAT32, 1, (const int64_t[]){2}, &tensor, NULL), WICK_OK);
  assert_int_equal(wick_tensor_copy_from(tensor, data, 8, NULL), WICK_OK);
  if (requires_grad) assert_int_equal(wick_tensor_set_requires_grad(tensor, 1, NULL), WICK_OK);
  return tensor;
}

static wick_value *call(const char *name, const wick_value *a, const wick_value *b, uint32_t grad) {
  wick_run_options options = {.size = sizeof options, .grad = grad};
  wick_value *out = NULL;
  wick_error *error = NULL;
  wick_status status = wick_op_call_with(NULL, name, NULL, (const wick_value *const[]){a, b}, b ? 2 : 1, NULL, 0,
                                         &options, &out, &error);
  if (status) fail_msg("%s: %s", name, wick_error_message(error));
  return out;
}

static void assert_grad(const wick_value *leaf, float a, float b) {
  wick_value *grad = NULL;
  float found[2];
  assert_int_equal(wick_tensor_grad(leaf, &grad, NULL), WICK_OK);
  assert_non_null(grad);
  assert_int_equal(wick_tensor_copy_to(grad, found, sizeof found, NULL), WICK_OK);
  assert_memory_equal(found, ((const float[]){a, b}), sizeof found);
  wick_value_release(grad);
}

typedef struct Backward {
  int calls, drops, fails;
} Backward;

/* Of y = 3 x, said to be 5 times as steep. */
static wick_status backward(void *user, int create_graph, const wick_value *const *grads, size_t grad_count,
                            wick_value **out_grads, size_t input_count, wick_error **error) {
  Backward *b = user;
  b->calls++;
  assert_int_equal(create_graph, 0);
  assert_int_equal(grad_count, 1);
  assert_int_equal(input_count, 2);
  if (b->fails) {
    *error = wick_error_new(WICK_RAISED, "no gradient today");
    return WICK_RAISED;
  }
  wick_value *five = wick_value_double(5);
  out_grads[0] = call("aten::mul", grads[0], five, WICK_GRAD_OFF);
  wick_value_release(five);
  return WICK_OK;
}
static void drop(void *user) {
  ((Backward *)user)->drops++;
}

static void test_record(void **state) {
  (void)state;
  Backward b = {0};
  wick_value *x = numbers((const float[]){1, 2}, 1), *plain = numbers((const float[]){0, 0}, 0);
  wick_value *three = wick_value_double(3), *y = call("aten::mul", x, three, WICK_GRAD_OFF);
  char *name = NULL;
  const wick_value *inputs[] = {x, plain}, *outputs[] = {y};
  assert_int_equal(wick_record("TripleBackward", backward, drop, &b, inputs, 2, outputs, 1, 0, NULL), WICK_OK);
  assert_int_equal(wick_tensor_history(y, &name, NULL), WICK_OK);
  assert_string_equal(name, "TripleBackward");
  wick_text_free(name);
  wick_value *loss = call("aten::sum", y, NULL, WICK_GRAD_ON);
  assert_int_equal(wick_backward(NULL, (const wick_value *const[]){loss}, NULL, 1, WICK_RETAIN_GRAPH, NULL), WICK_OK);
  assert_grad(x, 5, 5);
  b.fails = 1;
  wick_error *error = NULL;
  assert_int_equal(wick_backward(NULL, (const wick_value *const[]){loss}, NULL, 1, 0, &error), WICK_RAISED);
  assert_string_equal(wick_error_message(error), "no gradient today");
  wick_error_free(error);
  assert_int_equal(b.calls, 2);
  assert_int_equal(b.drops, 0);
  wick_value_release(loss), wick_value_release(y);
  assert_int_equal(b.drops, 1);
  /* a leaf that requires grad can't be a result; user is dropped all the same */
  assert_int_equal(wick_record("Bad", backward, drop, &b, inputs, 2, inputs, 1, 0, NULL), WICK_INVALID_ARGUMENT);
  assert_int_equal(b.drops, 2);
  wick_value_release(three), wick_value_release(plain), wick_value_release(x);
}

static wick_status negate(void *user, const wick_value *grad, wick_value **out_replacement, wick_error **error) {
  (void)error;
  ++*(int *)user;
  *out_replacement = call("aten::neg", grad, NULL, WICK_GRAD_OFF);
  return WICK_OK;
}

static void test_hook_inside(void **state) {
  (void)state;
  int calls = 0;
  wick_value *x = numbers((const float[]){1, 2}, 1), *y = call("aten::mul", x, x, WICK_GRAD_ON);
  wick_value *loss = call("aten::sum", y, NULL, WICK_GRAD_ON), *gradient = NULL;
  assert_int_equal(wick_tensor_add_hook(y, negate, NULL, &calls, NULL), WICK_OK);
  assert_int_equal(wick_backward(NULL, (const wick_value *const[]){loss}, NULL, 1, WICK_RETAIN_GRAPH, NULL), WICK_OK);
  assert_grad(x, -2, -4);
  assert_int_equal(wick_grad(NULL, (const wick_value *const[]){loss}, NULL, 1, (const wick_value *const[]){y}, 1,
                             WICK_RETAIN_GRAPH, &gradient, NULL),
                   WICK_OK);
  assert_int_equal(calls, 2);
  wick_value_release(gradient);
  assert_int_equal(wick_tensor_clear_hooks(y, NULL), WICK_OK);
  assert_int_equal(wick_backward(NULL, (const wick_value *const[]){loss}, NULL, 1, 0, NULL), WICK_OK);
  assert_int_equal(calls, 2);
  assert_grad(x, 0, 0);
  wick_value_release(loss), wick_value_release(y), wick_value_release(x);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_record), cmocka_unit_test(test_hook_inside)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
