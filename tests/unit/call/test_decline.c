/* Calls that a kernel leaves to its operator's body: the results are those of the program as written, and each is
 * counted once, for its reason, where it stands. */
#include "program_fixture.h"

#include <pthread.h>

#include "api/handles.h"
#include "call/operator.h"
#include "report/reason.h"

enum { CALLS = 6 };

static const char program[] =
    "def linear(x: Tensor) -> Tensor:\n"
    "    w = torch.full([5, 8], 0.25).to(x.dtype)\n"
    "    return torch.relu_(torch.linear(x, w))\n"
    "def linears(x: Tensor) -> Tensor:\n"
    "    w = torch.full([5, 8], 0.25).to(x.dtype)\n"
    "    return torch.linear(x, w) - torch.linear(x, w * 2)\n"
    "def convolution(x: Tensor) -> Tensor:\n"
    "    w = torch.full([5, 8, 1, 1], 0.25).to(x.dtype)\n"
    "    y = torch.conv2d(x.t().reshape(1, 8, 3, 2), w)\n"
    "    return torch.sigmoid(y)\n"
    "def norm(x: Tensor) -> Tensor:\n"
    "    m = torch.full([8], 0.25).to(x.dtype)\n"
    "    y = torch.batch_norm(x.unsqueeze(2), None, None, m, m, False, 0.1, 0.001, False)\n"
    "    return torch.relu(y)\n"
    "def attention(x: Tensor) -> Tensor:\n"
    "    s = torch.matmul(x, x.t()) / 3.0\n"
    "    return torch.matmul(torch.softmax(s, -1), x)\n"
    "def recurrent(x: Tensor) -> Tensor:\n"
    "    w = torch.full([8, 8], 0.25).to(x.dtype)\n"
    "    return torch.rnn_relu_cell(x, x, w, w)\n";

static const struct {
  const char *function, *op, *line;
  DType dtype;
  Reason reason;
} cases[] = {
    {"linear", "aten::linear + relu_", "program.py:3", DTYPE_BFLOAT16, REASON_NOT_FUSED_DTYPE},
    {"linears", "aten::linear + linear", "program.py:6", DTYPE_FLOAT64, REASON_NOT_FUSED_DTYPE},
    {"convolution", "aten::conv2d + sigmoid", "program.py:9", DTYPE_FLOAT64, REASON_NOT_FUSED_DTYPE},
    {"norm", "aten::batch_norm + relu", "program.py:13", DTYPE_FLOAT64, REASON_NOT_FUSED_DTYPE},
    {"attention", "aten::matmul + div + softmax + matmul", "program.py:17", DTYPE_FLOAT64, REASON_NOT_FUSED_DTYPE},
    {"recurrent", "aten::rnn_relu_cell", "program.py:20", DTYPE_FLOAT64, REASON_NOT_FUSED_DTYPE},
};
enum { CASES = sizeof cases / sizeof *cases };

static wick_module *compile(void) {
  wick_module *module;
  assert_int_equal(wick_compile(NULL, program, sizeof program - 1, "program.py", &module, NULL), WICK_OK);
  return module;
}

/* Six rows of eight. */
static wick_value *input_of(DType dtype) {
  Tensor *x, *cast;
  wick_value *value;
  assert_null(tensor_empty(DTYPE_FLOAT32, 2, (const int64_t[]){6, 8}, &x));
  float *data = tensor_data(x);
  for (int i = 0; i < 48; i++) data[i] = (float)(i % 11) / 4 - 1;
  assert_null(tensor_to_dtype(x, dtype, &cast));
  assert_null(value_box(ivalue_tensor(cast), &value));
  tensor_release(x);
  return value;
}

static wick_value *run(wick_module *module, const char *function, const wick_value *x, uint32_t executor,
                       wick_profile *profile) {
  wick_run_options options = {.size = sizeof options, .executor = executor, .profile = profile};
  wick_value *result;
  wick_error *error = NULL;
  if (wick_run(module, function, &x, 1, NULL, 0, &options, &result, &error))
    fail_msg("%s: %s", function, wick_error_message(error));
  return result;
}

static void compare(const char *function, const wick_value *got, const wick_value *expected) {
  const Tensor *a = got->value.tensor, *b = expected->value.tensor;
  if (a->dtype != b->dtype || !tensor_same_sizes(a, b) ||
      memcmp(a->strides, b->strides, b->ndim * sizeof *b->strides) ||
      memcmp(tensor_data(a), tensor_data(b), (size_t)b->numel * dtype_size((DType)b->dtype)))
    fail_msg("%s: another result", function);
}

static void each_is_counted_where_it_stands(void **state) {
  (void)state;
  wick_module *module = compile();
  for (int i = 0; i < CASES; i++) {
    wick_value *x = input_of(cases[i].dtype);
    wick_value *expected = run(module, cases[i].function, x, WICK_EXECUTOR_SIMPLE, NULL);
    wick_value_release(run(module, cases[i].function, x, WICK_EXECUTOR_SPECIALIZING, NULL)); /* makes the plan */
    reason_reset();
    wick_stats before = {.size = sizeof before}, after = before;
    wick_stats_get(&before);
    for (int call = 0; call < CALLS; call++) {
      wick_value *got = run(module, cases[i].function, x, WICK_EXECUTOR_SPECIALIZING, NULL);
      compare(cases[i].function, got, expected);
      wick_value_release(got);
    }
    wick_stats_get(&after);
    char *text, row[300];
    assert_int_equal(wick_explain(&text, NULL), WICK_OK);
    snprintf(row, sizeof row, "%dx  %s", CALLS, cases[i].line);
    const char *at = strstr(text, row), *end = at ? strchr(at, '\n') : NULL;
    snprintf(row, sizeof row, "%s (%s)", reason_text(cases[i].reason), cases[i].op);
    if (!end || !strstr(at, row) || strstr(at, row) > end) fail_msg("%s:\n%s", cases[i].function, text);
    if (after.declines - before.declines != CALLS || reason_count(cases[i].reason) != CALLS)
      fail_msg("%s: counted %d times", cases[i].function, (int)(after.declines - before.declines));
    wick_text_free(text);
    wick_value_release(expected);
    wick_value_release(x);
  }
  wick_module_release(module);
}

/* Looked at in between, and when the program is gone. */
static void counts_outlive_the_program(void **state) {
  (void)state;
  wick_module *module = compile();
  wick_value *x = input_of(cases[0].dtype);
  char *text, row[300];
  wick_value_release(run(module, cases[0].function, x, WICK_EXECUTOR_SPECIALIZING, NULL));
  reason_reset();
  for (int call = 0; call < CALLS; call++) {
    wick_value_release(run(module, cases[0].function, x, WICK_EXECUTOR_SPECIALIZING, NULL));
    if (call % 2) continue;
    assert_int_equal(wick_explain(&text, NULL), WICK_OK);
    wick_text_free(text);
  }
  wick_module_release(module);
  wick_value_release(x);
  assert_int_equal(wick_explain(&text, NULL), WICK_OK);
  snprintf(row, sizeof row, "%dx  %s", CALLS, cases[0].line);
  if (!strstr(text, row)) fail_msg("%s", text);
  wick_text_free(text);
}

static void profiles_say_so(void **state) {
  (void)state;
  wick_module *module = compile();
  wick_profile *profile = wick_profile_new();
  wick_value *x = input_of(DTYPE_BFLOAT16);
  for (int call = 0; call < CALLS; call++) wick_value_release(run(module, "linear", x, WICK_EXECUTOR_DEFAULT, NULL));
  for (int call = 0; call < CALLS; call++) wick_value_release(run(module, "linear", x, WICK_EXECUTOR_DEFAULT, profile));
  for (uint32_t format = WICK_PROFILE_TABLE; format <= WICK_PROFILE_JSON; format++) {
    char *text;
    assert_int_equal(wick_profile_print(profile, format, &text, NULL), WICK_OK);
    if (!strstr(text, "aten::linear + relu") || !strstr(text, "aten::linear") || !strstr(text, "aten::relu") ||
        !strstr(text, "does not compute in the inputs' dtypes"))
      fail_msg("%s", text);
    wick_text_free(text);
  }
  wick_profile_release(profile);
  wick_value_release(x);
  wick_module_release(module);
}

/* What records gradients goes to the body, whose operators record. */
static void gradients_are_recorded(void **state) {
  (void)state;
  expect_text(
      "def f() -> str:\n"
      "    for i in range(5):\n"
      "        x = torch.ones([3, 8]).requires_grad_()\n"
      "        w = torch.ones([5, 8]).requires_grad_()\n"
      "        torch.relu(torch.linear(x, w)).sum().backward()\n"
      "        g = x.grad\n"
      "        if g is None or not torch.equal(g, torch.full([3, 8], 5.0)):\n"
      "            return 'another gradient'\n"
      "    return ''\n",
      "f", -1, 1, WICK_GRAD_ON, "");
}

/* ---- threads ---- */

typedef struct Caller {
  wick_module *module;
  const wick_value *x;
  wick_value *result;
} Caller;
static void *call_often(void *argument) {
  Caller *c = argument;
  for (int i = 0; i < 20; i++) {
    wick_value_release(c->result);
    c->result = run(c->module, "linear", c->x, WICK_EXECUTOR_SPECIALIZING, NULL);
  }
  return NULL;
}

/* The body's Code is made by whichever comes first. */
static void threads_share_a_body(void **state) {
  (void)state;
  enum { THREADS = 4 };
  wick_module *module = compile();
  wick_value *x = input_of(DTYPE_FLOAT64), *expected = run(module, "linear", x, WICK_EXECUTOR_SIMPLE, NULL);
  pthread_t threads[THREADS];
  Caller callers[THREADS];
  for (int i = 0; i < THREADS; i++) {
    callers[i] = (Caller){module, x, NULL};
    assert_int_equal(pthread_create(&threads[i], NULL, call_often, &callers[i]), 0);
  }
  for (int i = 0; i < THREADS; i++) {
    pthread_join(threads[i], NULL);
    compare("linear", callers[i].result, expected);
    wick_value_release(callers[i].result);
  }
  wick_value_release(expected);
  wick_value_release(x);
  wick_module_release(module);
}

/* Made for this: nothing beside the kernel. */
static void without_a_body_it_is_an_error(void **state) {
  (void)state;
  static OpRef region = OP_REF("wick::region", "");
  Exec exec;
  IValue out;
  api_exec_init(&exec, NULL);
  Status status = op_call(&exec, &region, 0, NULL, 1, &out);
  assert_non_null(status);
  assert_non_null(strstr(status->message, "wick::region: not fused: "));
  assert_non_null(strstr(status->message, ", and it has no body"));
  status_free(status);
}

/* An error that is nobody's stays as it is. */
static void declines_are_static(void **state) {
  (void)state;
  Reason reason = REASON_COUNT;
  Status status = reason_decline(REASON_NOT_FUSED_SIZE), other = status_new(ERROR_RUNTIME, "something");
  assert_true(reason_is_decline(status, &reason) && reason == REASON_NOT_FUSED_SIZE);
  assert_ptr_equal(status_add_trace(status_context(status, "here"), "there"), status);
  assert_string_equal(status->message, reason_text(REASON_NOT_FUSED_SIZE));
  assert_false(reason_is_decline(OK, &reason) || reason_is_decline(other, &reason) ||
               reason_is_decline(status_out_of_memory(), &reason));
  status_free(status);
  status_free(other);
}

static int setup(void **state) {
  (void)state;
  const wick_executor_options options = {.size = sizeof options, .synchronous = 1};
  return wick_runtime_set_executor(NULL, &options, NULL) != WICK_OK;
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(each_is_counted_where_it_stands),
      cmocka_unit_test(counts_outlive_the_program),
      cmocka_unit_test(profiles_say_so),
      cmocka_unit_test(gradients_are_recorded),
      cmocka_unit_test(threads_share_a_body),
      cmocka_unit_test(without_a_body_it_is_an_error),
      cmocka_unit_test(declines_are_static),
  };
  return cmocka_run_group_tests(tests, setup, NULL);
}
