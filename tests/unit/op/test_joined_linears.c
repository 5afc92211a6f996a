/* Joined linear layers against the layers one by one: the same bits, sizes, strides, errors and gradients. */
#include "checks.h"
#include "outcome.h"
#include "random_tensor.h"
#include "region_fixture.h"

static Exec exec;
static RegionText joined;

static int setup(void **state) {
  (void)state;
  exec_init(&exec, &api_services);
  region_parse(&joined,
               "graph(%x : Tensor, %w : Tensor, %a : Tensor?, %v : Tensor, %b : Tensor?, %u : Tensor, %c : Tensor?):\n"
               "  %p : Tensor = aten::linear(%x, %w, %a)\n"
               "  %q : Tensor = aten::linear(%x, %v, %b)\n"
               "  %r : Tensor = aten::linear(%x, %u, %c)\n"
               "  return (%p, %q, %r)\n");
  assert_int_equal(joined.node->output_count, 3);
  return 0;
}
static int teardown(void **state) {
  (void)state;
  region_dispose(&joined);
  return 0;
}

enum { LAYERS = 3, INPUTS = 2 * LAYERS + 1 };
typedef struct Case {
  IValue inputs[INPUTS], got[LAYERS], expected[LAYERS];
} Case;

static Status run_layers(const IValue *inputs, IValue *outputs) {
  static OpRef linear = OP_REF("aten::linear", "");
  for (int i = 0; i < LAYERS; i++)
    TRY(op_call(&exec, &linear, 3, (IValue[]){inputs[0], inputs[2 * i + 1], inputs[2 * i + 2]}, 1, &outputs[i]));
  return OK;
}
static Status call_joined(Case *c) {
  return region_call(&exec, &joined, c->inputs, c->got);
}
static void run_joined(Case *c) {
  check(call_joined(c));
}
static void run_apart(Case *c) {
  check(run_layers(c->inputs, c->expected));
}
static void compare(const Case *c) {
  for (int i = 0; i < LAYERS; i++) {
    const Tensor *got = c->got[i].tensor, *expected = c->expected[i].tensor;
    assert_true(tensor_same_sizes(got, expected) && got->dtype == expected->dtype);
    assert_memory_equal(got->strides, expected->strides, expected->ndim * sizeof *expected->strides);
    assert_memory_equal(tensor_data(got), tensor_data(expected), (size_t)expected->numel * sizeof(float));
    for (int j = 0; j < i; j++) assert_ptr_not_equal(got->storage, c->got[j].tensor->storage);
  }
}
static void release_results(Case *c) {
  for (int i = 0; i < LAYERS; i++) ivalue_release(c->got[i]), ivalue_release(c->expected[i]);
}
static void release_inputs(Case *c) {
  for (int i = 0; i < INPUTS; i++) ivalue_release(c->inputs[i]);
}

/* Layers of `outputs`, every other with a bias, by rows of `width`. */
static void make_layers(Case *c, int64_t width, const int64_t *outputs) {
  for (int i = 0; i < LAYERS; i++) {
    c->inputs[2 * i + 1] = ivalue_tensor(random_tensor(2, SIZES(outputs[i], width)));
    c->inputs[2 * i + 2] = i % 2 ? IVALUE_NONE : ivalue_tensor(random_tensor(1, SIZES(outputs[i])));
  }
}

/* Weights that are passing values, those that are kept (from the second time on), and any number of threads. */
static void test_the_same_bits(void **state) {
  (void)state;
  static const int64_t rows[] = {1, 4, 5, 37, 240, 241, 700}, widths[] = {1, 17, 390};
  static const int64_t outputs[][LAYERS] = {{64, 64, 64}, {5, 130, 65}, {3, 70, 1}, {256, 7, 256}};
  for (size_t m = 0; m < sizeof rows / sizeof *rows; m++)
    for (size_t k = 0; k < sizeof widths / sizeof *widths; k++)
      for (size_t n = 0; n < sizeof outputs / sizeof *outputs; n++) {
        Case c = {.inputs = {ivalue_tensor(random_tensor(2, SIZES(rows[m], widths[k])))}};
        make_layers(&c, widths[k], outputs[n]);
        for (int time = 0; time < 4; time++) {
          exec.work.threads = 1;
          if (time % 2) run_apart(&c);
          exec.work.threads = time;
          run_joined(&c);
          exec.work.threads = 1;
          if (time % 2 == 0) run_apart(&c);
          compare(&c);
          release_results(&c);
        }
        release_inputs(&c);
      }
}

static void test_inputs_that_lie_otherwise(void **state) {
  (void)state;
  Tensor *wide = random_tensor(3, SIZES(6, 9, 20)), *views[4];
  check(tensor_transpose(wide, 0, 1, &views[0]));
  check(tensor_transpose(wide, 1, 2, &views[1]));
  check(tensor_select(wide, 1, 4, &views[2]));
  check(tensor_select(views[1], 0, 3, &views[3]));
  for (int i = 0; i < 4; i++) {
    Case c = {.inputs = {ivalue_tensor(views[i])}};
    make_layers(&c, views[i]->sizes[views[i]->ndim - 1], (const int64_t[]){8, 70, 33});
    for (exec.work.threads = 1; exec.work.threads < 3; exec.work.threads++) {
      run_joined(&c);
      run_apart(&c);
      compare(&c);
      release_results(&c);
    }
    release_inputs(&c);
  }
  exec.work.threads = 1;
  tensor_release(wide);
}

/* Whatever does not fit is what aten::linear says of the first layer that has it. */
static void test_errors(void **state) {
  (void)state;
  const struct {
    int ndim, bias;
    int64_t sizes[2];
    const char *error;
  } cases[] = {{2, 0, {9, 7}, "mat1 and mat2 shapes cannot be multiplied (12x8 and 7x9)"},
               {2, 5, {9, 8}, "expanded size of the tensor (9) must match the existing size (5)"},
               {3, 0, {3, 8}, "weight must be a matrix or a vector"}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    Case c = {.inputs = {ivalue_tensor(random_tensor(2, SIZES(12, 8)))}};
    make_layers(&c, 8, (const int64_t[]){16, 9, 6});
    ivalue_release(c.inputs[3]);
    ivalue_release(c.inputs[5]);
    c.inputs[3] = ivalue_tensor(random_tensor(cases[i].ndim, SIZES(cases[i].sizes[0], cases[i].sizes[1], 1)));
    if (cases[i].bias) c.inputs[4] = ivalue_tensor(random_tensor(1, SIZES(cases[i].bias)));
    c.inputs[5] = ivalue_tensor(random_tensor(2, SIZES(6, 99))); /* wrong, too, but later */
    check_error(call_joined(&c), cases[i].error);
    for (int k = 0; k < LAYERS; k++) ivalue_release(c.got[k]);
    release_inputs(&c);
  }
}

/* While gradients are recorded, each result leads to its own layer. */
static void test_gradients(void **state) {
  (void)state;
  Case c = {.inputs = {ivalue_tensor(random_tensor(2, SIZES(12, 8)))}};
  Tensor *gradients[2];
  make_layers(&c, 8, (const int64_t[]){16, 9, 6});
  Tensor *weight = c.inputs[3].tensor;
  weight->flags |= TENSOR_REQUIRES_GRAD;
  for (int is_joined = 0; is_joined < 2; is_joined++) {
    exec.grad_enabled = true;
    IValue *results = is_joined ? c.got : c.expected;
    if (is_joined)
      run_joined(&c);
    else
      run_apart(&c);
    for (int i = 0; i < LAYERS; i++) assert_int_equal(tensor_records(results[i].tensor), i == 1);
    exec.grad_enabled = false;
    check(backward_of_sum(&exec, results[1]));
    check(tensor_to_dtype(gradient_of(weight), DTYPE_FLOAT64, &gradients[is_joined])); /* a copy: they add up */
  }
  for (int64_t i = 0; i < weight->numel; i++)
    assert_true(((double *)tensor_data(gradients[1]))[i] == 2 * ((double *)tensor_data(gradients[0]))[i]);
  compare(&c);
  tensor_release(gradients[0]), tensor_release(gradients[1]);
  release_results(&c);
  release_inputs(&c);
}

static void test_other_dtypes(void **state) {
  (void)state;
  Case c = {.inputs = {ivalue_tensor(random_tensor(2, SIZES(12, 8)))}};
  make_layers(&c, 8, (const int64_t[]){16, 9, 6});
  for (int i = 0; i < INPUTS; i++) {
    Tensor *wide;
    if (c.inputs[i].tag != TAG_TENSOR) continue;
    check(tensor_to_dtype(c.inputs[i].tensor, DTYPE_FLOAT64, &wide));
    ivalue_release(c.inputs[i]);
    c.inputs[i] = ivalue_tensor(wide);
  }
  run_joined(&c);
  run_apart(&c);
  for (int i = 0; i < LAYERS; i++) assert_int_equal(c.got[i].tensor->dtype, DTYPE_FLOAT64);
  compare(&c);
  release_results(&c);
  release_inputs(&c);
}

/* Functions of the results, which are done where these are. */
static void test_functions(void **state) {
  (void)state;
  static const int64_t rows[] = {1, 4, 37, 700}, widths[] = {1, 17, 390};
  RegionText region;
  region_parse(&region,
               "graph(%x : Tensor, %w : Tensor, %a : Tensor?, %v : Tensor, %b : Tensor?, %u : Tensor, %c : Tensor?):\n"
               "  %half : float = prim::Constant[value=0.5]()\n"
               "  %one : int = prim::Constant[value=1]()\n"
               "  %exact : str = prim::Constant[value=\"none\"]()\n"
               "  %p : Tensor = aten::linear(%x, %w, %a)\n"
               "  %q : Tensor = aten::linear(%x, %v, %b)\n"
               "  %f : Tensor = aten::relu(%p)\n"
               "  %r : Tensor = aten::linear(%x, %u, %c)\n"
               "  %g : Tensor = aten::gelu(%q, %exact)\n"
               "  %h : Tensor = aten::add(%g, %half, %one)\n"
               "  return (%f, %h, %r)\n");
  assert_int_equal(region.node->output_count, LAYERS);
  for (size_t m = 0; m < sizeof rows / sizeof *rows; m++)
    for (size_t k = 0; k < sizeof widths / sizeof *widths; k++) {
      Case c = {.inputs = {ivalue_tensor(random_tensor(2, SIZES(rows[m], widths[k])))}};
      make_layers(&c, widths[k], (const int64_t[]){64, 130, 7});
      for (int time = 0; time < 4; time++) {
        uint64_t declined = region_declines();
        exec.work.threads = time;
        check(region_call(&exec, &region, c.inputs, c.got));
        assert_int_equal(region_declines(), declined);
        check(region_call_apart(&exec, &region, c.inputs, c.expected));
        compare(&c);
        release_results(&c);
      }
      release_inputs(&c);
    }
  exec.work.threads = 1;
  region_dispose(&region);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_the_same_bits), cmocka_unit_test(test_inputs_that_lie_otherwise),
      cmocka_unit_test(test_errors),        cmocka_unit_test(test_gradients),
      cmocka_unit_test(test_other_dtypes),  cmocka_unit_test(test_functions),
  };
  return cmocka_run_group_tests(tests, setup, teardown);
}
