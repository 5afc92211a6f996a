/* A linear layer with a sum and an activation behind it against the three one by one: the same bits, sizes, strides,
 * errors and gradients. */
#include <math.h>

#include "checks.h"
#include "outcome.h"
#include "random_tensor.h"

static Exec exec;

static int setup(void **state) {
  (void)state;
  exec_init(&exec, &api_services);
  return 0;
}

static IValue text(const char *s) {
  String *string;
  check(string_new(str_from(s), &string));
  return ivalue_string(string);
}

enum { INPUT, WEIGHT, BIAS, TERM, TERM_FIRST, ACTIVATION, ARGUMENTS, MAX_INPUTS = ARGUMENTS + 3 };
typedef struct Case {
  IValue inputs[MAX_INPUTS];
  uint32_t count;
} Case;

static const char *const activations[] = {"relu", "relu6",     "gelu",        "silu",     "sigmoid",    "tanh",
                                          NULL,   "hardswish", "hardsigmoid", "hardtanh", "leaky_relu", "elu"};
enum { ACTIVATIONS = sizeof activations / sizeof *activations };

/* The further arguments that the activation takes. */
static void set_activation(Case *c, const char *name, const char *approximate) {
  ivalue_release(c->inputs[ACTIVATION]);
  for (uint32_t i = ARGUMENTS; i < c->count; i++) ivalue_release(c->inputs[i]);
  c->inputs[ACTIVATION] = name ? text(name) : IVALUE_NONE;
  c->count = ARGUMENTS;
  if (!name) return;
  if (!strcmp(name, "gelu")) c->inputs[c->count++] = text(approximate);
  if (!strcmp(name, "leaky_relu") || !strcmp(name, "elu")) c->inputs[c->count++] = ivalue_float(0.3);
  if (!strcmp(name, "elu")) c->inputs[c->count++] = ivalue_int(1), c->inputs[c->count++] = ivalue_float(1.5);
  if (!strcmp(name, "hardtanh")) c->inputs[c->count++] = ivalue_float(-2), c->inputs[c->count++] = ivalue_int(3);
}

static Case new_case(Tensor *input, int64_t columns) {
  Case c = {.count = ARGUMENTS};
  int64_t width = input->sizes[input->ndim - 1];
  c.inputs[INPUT] = ivalue_tensor(input);
  c.inputs[WEIGHT] = ivalue_tensor(random_tensor(2, SIZES(columns, width)));
  c.inputs[BIAS] = c.inputs[TERM] = c.inputs[ACTIVATION] = IVALUE_NONE;
  c.inputs[TERM_FIRST] = ivalue_bool(false);
  return c;
}
static void release_case(Case *c) {
  for (uint32_t i = 0; i < c->count; i++) ivalue_release(c->inputs[i]);
}

static Status run_apart(const Case *c, IValue *out) {
  static OpRef linear = OP_REF("aten::linear", ""), add = OP_REF("aten::add", "Tensor");
  IValue x, next, one = ivalue_int(1), term = c->inputs[TERM];
  TRY(op_call(&exec, &linear, 3, c->inputs, 1, &x));
  if (term.tag == TAG_TENSOR) {
    bool first = c->inputs[TERM_FIRST].b;
    Status status = op_call(&exec, &add, 3, (IValue[]){first ? term : x, first ? x : term, one}, 1, &next);
    ivalue_release(x);
    TRY(status);
    x = next;
  }
  if (c->inputs[ACTIVATION].tag == TAG_STRING) {
    char name[32];
    snprintf(name, sizeof name, "aten::" STR_FMT, STR_ARG(ivalue_str(c->inputs[ACTIVATION])));
    OpRef activation = OP_REF(name, "");
    IValue inputs[MAX_INPUTS] = {x};
    memcpy(inputs + 1, c->inputs + ARGUMENTS, (c->count - ARGUMENTS) * sizeof *inputs);
    Status status = op_call(&exec, &activation, 1 + c->count - ARGUMENTS, inputs, 1, &next);
    ivalue_release(x);
    TRY(status);
    x = next;
  }
  *out = x;
  return OK;
}

/* As a node of a plan, whose body is what it was made from. */
typedef struct Body {
  CallBody body;
  const Case *c;
} Body;
static Status run_body(const CallBody *body, Call *call) {
  return run_apart(((const Body *)body)->c, call->outputs);
}
static Status run_fused(const Case *c, IValue *out) {
  static OpRef ref = OP_REF("wick::linear_pointwise", "");
  const Operator *op;
  Body body = {{.run = run_body}, c};
  Call call = {.inputs = c->inputs, .input_count = c->count, .outputs = out, .output_count = 1, .body = &body.body};
  check(op_find(&ref, &op));
  *out = IVALUE_NONE;
  return operator_call(&exec, op, &call);
}

static void compare_runs(const Case *c) {
  IValue got, expected;
  check(run_fused(c, &got));
  check(run_apart(c, &expected));
  const Tensor *a = got.tensor, *b = expected.tensor;
  assert_true(tensor_same_sizes(a, b) && a->dtype == b->dtype);
  assert_memory_equal(a->strides, b->strides, b->ndim * sizeof *b->strides);
  assert_memory_equal(tensor_data(a), tensor_data(b), (size_t)b->numel * dtype_size((DType)b->dtype));
  ivalue_release(got), ivalue_release(expected);
}

/* Few rows and many, weights that are kept from the second time on, all activations, sums on both sides. */
static void test_the_same_bits(void **state) {
  (void)state;
  static const int64_t rows[] = {1, 4, 5, 37, 260}, widths[] = {1, 17, 390}, columns[] = {1, 5, 64, 150};
  for (size_t m = 0; m < sizeof rows / sizeof *rows; m++)
    for (size_t k = 0; k < sizeof widths / sizeof *widths; k++)
      for (size_t n = 0; n < sizeof columns / sizeof *columns; n++) {
        Case c = new_case(random_tensor(2, SIZES(rows[m], widths[k])), columns[n]);
        float *x = tensor_data(c.inputs[INPUT].tensor);
        x[0] = NAN, x[rows[m] * widths[k] - 1] = -INFINITY;
        for (int turn = 0; turn < ACTIVATIONS; turn++) {
          exec.work.threads = turn % 3;
          set_activation(&c, activations[turn], "none");
          if (turn == 4) c.inputs[BIAS] = ivalue_tensor(random_tensor(1, SIZES(columns[n])));
          if (turn == 6) c.inputs[TERM] = ivalue_tensor(random_tensor(2, SIZES(rows[m], columns[n])));
          c.inputs[TERM_FIRST].b = turn % 2;
          compare_runs(&c);
        }
        set_activation(&c, "gelu", "tanh");
        compare_runs(&c);
        release_case(&c);
      }
  exec.work.threads = 1;
}

/* Terms that are broadcast, inputs with gaps and of one dimension, doubles: the body does them, or the kernel. */
static void test_out_of_the_ordinary(void **state) {
  (void)state;
  Tensor *wide = random_tensor(3, SIZES(6, 9, 20)), *turned, *vector;
  check(tensor_transpose(wide, 0, 2, &turned));
  check(tensor_select(turned, 0, 3, &vector));
  Case gaps = new_case(turned, 70), row = new_case(random_tensor(1, SIZES(20)), 33), rows = new_case(vector, 12);
  Case *const cases[] = {&gaps, &row, &rows};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    set_activation(cases[i], "gelu", "none");
    compare_runs(cases[i]);
    int64_t columns = cases[i]->inputs[WEIGHT].tensor->sizes[0];
    cases[i]->inputs[TERM] = ivalue_tensor(random_tensor(1, SIZES(columns)));
    compare_runs(cases[i]);
    for (int k = INPUT; k <= TERM; k++) {
      Tensor *as_double;
      if (cases[i]->inputs[k].tag != TAG_TENSOR) continue;
      check(tensor_to_dtype(cases[i]->inputs[k].tensor, DTYPE_FLOAT64, &as_double));
      ivalue_release(cases[i]->inputs[k]);
      cases[i]->inputs[k] = ivalue_tensor(as_double);
    }
    compare_runs(cases[i]);
    release_case(cases[i]);
  }
  tensor_release(wide);
}

static void test_errors(void **state) {
  (void)state;
  IValue out;
  Case c = new_case(random_tensor(2, SIZES(12, 8)), 9);
  set_activation(&c, "gelu", "nearly");
  check_error(run_fused(&c, &out), "approximate argument must be either none or tanh");
  c.inputs[TERM] = ivalue_tensor(random_tensor(2, SIZES(12, 7)));
  check_error(run_fused(&c, &out), "must match the size of tensor b (7)");
  ivalue_release(c.inputs[WEIGHT]);
  c.inputs[WEIGHT] = ivalue_tensor(random_tensor(2, SIZES(9, 7)));
  check_error(run_fused(&c, &out), "mat1 and mat2 shapes cannot be multiplied (12x8 and 7x9)");
  set_activation(&c, "softmax", NULL);
  check_error(run_fused(&c, &out), "no activation 'softmax'");
  release_case(&c);
}

static void test_gradients(void **state) {
  (void)state;
  Case c = new_case(random_tensor(2, SIZES(12, 8)), 16);
  Tensor *weight = c.inputs[WEIGHT].tensor, *gradients[2];
  c.inputs[TERM] = ivalue_tensor(random_tensor(2, SIZES(12, 16)));
  set_activation(&c, "gelu", "none");
  weight->flags |= TENSOR_REQUIRES_GRAD;
  for (int is_fused = 0; is_fused < 2; is_fused++) {
    IValue result;
    exec.grad_enabled = true;
    check((is_fused ? run_fused : run_apart)(&c, &result));
    exec.grad_enabled = false;
    assert_true(tensor_records(result.tensor));
    check(backward_of_sum(&exec, result));
    check(tensor_to_dtype(gradient_of(weight), DTYPE_FLOAT64, &gradients[is_fused])); /* a copy: they add up */
    ivalue_release(result);
  }
  for (int64_t i = 0; i < weight->numel; i++)
    assert_true(((double *)tensor_data(gradients[1]))[i] == 2 * ((double *)tensor_data(gradients[0]))[i]);
  tensor_release(gradients[0]), tensor_release(gradients[1]);
  release_case(&c);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_the_same_bits), cmocka_unit_test(test_out_of_the_ordinary),
                                     cmocka_unit_test(test_errors), cmocka_unit_test(test_gradients)};
  return cmocka_run_group_tests(tests, setup, NULL);
}
