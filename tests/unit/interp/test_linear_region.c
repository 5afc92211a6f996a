/* A linear layer with a sum and an activation after it against the three one by one: the same bits, sizes, strides,
 * errors and gradients. */
#include <math.h>

#include "checks.h"
#include "outcome.h"
#include "random_tensor.h"
#include "region_fixture.h"

static Exec exec;

static int setup(void **state) {
  (void)state;
  exec_init(&exec, &api_services);
  return 0;
}

enum { INPUT, WEIGHT, BIAS, TERM, INPUTS };
typedef struct Case {
  IValue inputs[INPUTS];
  bool term_first;
  const char *activation; /* the operator and what it takes besides the tensor; NULL: none */
} Case;

/* Further arguments are constants of make_region. */
static const char *const activations[] = {"relu(%y)",
                                          "relu6(%y)",
                                          "gelu(%y, %none_text)",
                                          "silu(%y)",
                                          "sigmoid(%y)",
                                          "tanh(%y)",
                                          NULL,
                                          "hardswish(%y)",
                                          "hardsigmoid(%y)",
                                          "hardtanh(%y, %minus, %three)",
                                          "leaky_relu(%y, %part)",
                                          "elu(%y, %part, %one, %half)",
                                          "gelu(%y, %tanh)",
                                          "mish(%y)",
                                          "relu_(%y)",
                                          "mul(%y, %half)"};
enum { ACTIVATIONS = sizeof activations / sizeof *activations };

static Case new_case(Tensor *input, int64_t columns) {
  Case c = {.activation = activations[0]};
  int64_t width = input->sizes[input->ndim - 1];
  c.inputs[INPUT] = ivalue_tensor(input);
  c.inputs[WEIGHT] = ivalue_tensor(random_tensor(2, SIZES(columns, width)));
  c.inputs[BIAS] = c.inputs[TERM] = IVALUE_NONE;
  return c;
}
static void release_case(Case *c) {
  for (uint32_t i = 0; i < INPUTS; i++) ivalue_release(c->inputs[i]);
}

/* The region of the case's operators; release it by region_dispose. */
static void make_region(const Case *c, RegionText *out) {
  static const char constants[] =
      "graph(%x : Tensor, %w : Tensor, %b : Tensor?, %t : Tensor):\n"
      "  %one : int = prim::Constant[value=1]()\n"
      "  %three : int = prim::Constant[value=3]()\n"
      "  %minus : float = prim::Constant[value=-2.]()\n"
      "  %half : float = prim::Constant[value=1.5]()\n"
      "  %part : float = prim::Constant[value=0.3]()\n"
      "  %none_text : str = prim::Constant[value=\"none\"]()\n"
      "  %tanh : str = prim::Constant[value=\"tanh\"]()\n";
  StrBuf text = {0};
  bool sums = c->inputs[TERM].tag == TAG_TENSOR;
  strbuf_printf(&text, "%s  %%%s : Tensor = aten::linear(%%x, %%w, %%b)\n", constants, sums ? "l" : "y");
  if (sums) strbuf_printf(&text, "  %%y : Tensor = aten::add(%s, %%one)\n", c->term_first ? "%t, %l" : "%l, %t");
  if (c->activation) strbuf_printf(&text, "  %%z : Tensor = aten::%s\n", c->activation);
  strbuf_printf(&text, "  return (%%%s)\n", c->activation ? "z" : "y");
  region_parse(out, text.data);
  strbuf_dispose(&text);
}

static Status run_fused(const Case *c, IValue *out) {
  RegionText region;
  make_region(c, &region);
  Status status = region_call(&exec, &region, c->inputs, out);
  region_dispose(&region);
  return status;
}
static Status run_apart(const Case *c, IValue *out) {
  RegionText region;
  make_region(c, &region);
  Status status = region_call_apart(&exec, &region, c->inputs, out);
  region_dispose(&region);
  return status;
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
          c.activation = activations[turn];
          if (turn == 4) c.inputs[BIAS] = ivalue_tensor(random_tensor(1, SIZES(columns[n])));
          if (turn == 6) c.inputs[TERM] = ivalue_tensor(random_tensor(2, SIZES(rows[m], columns[n])));
          c.term_first = turn % 2;
          compare_runs(&c);
        }
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
    cases[i]->activation = "gelu(%y, %none_text)";
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
  c.inputs[TERM] = ivalue_tensor(random_tensor(2, SIZES(12, 7)));
  check_error(run_fused(&c, &out), "must match the size of tensor b (7)");
  ivalue_release(c.inputs[WEIGHT]);
  c.inputs[WEIGHT] = ivalue_tensor(random_tensor(2, SIZES(9, 7)));
  check_error(run_fused(&c, &out), "mat1 and mat2 shapes cannot be multiplied (12x8 and 7x9)");
  release_case(&c);
}

/* What makes no float32 of float32, or takes what is not known, is no part of a region. */
static void test_what_is_left_out(void **state) {
  (void)state;
  static const char *const others[] = {
      "aten::isnan(%y)",         "aten::gt(%y, %one)",    "aten::softmax(%y, %one, %none)",
      "aten::add(%y, %y, %one)", "aten::mul(%y, %t)",     "aten::dropout(%y, %p, %yes)",
      "aten::gelu(%y, %nearly)", "aten::celu(%y, %zero)", "aten::leaky_relu(%y, %given)"};
  for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
    StrBuf text = {0};
    IrText ir;
    strbuf_printf(&text,
                  "graph(%%x : Tensor, %%w : Tensor, %%t : Tensor, %%given : float):\n"
                  "  %%none : NoneType = prim::Constant()\n"
                  "  %%one : int = prim::Constant[value=1]()\n"
                  "  %%zero : int = prim::Constant[value=0]()\n"
                  "  %%p : float = prim::Constant[value=0.5]()\n"
                  "  %%yes : bool = prim::Constant[value=1]()\n"
                  "  %%nearly : str = prim::Constant[value=\"nearly\"]()\n"
                  "  %%y : Tensor = aten::linear(%%x, %%w, %%none)\n"
                  "  %%z : Tensor = %s\n"
                  "  return (%%z)\n",
                  others[i]);
    ir_parse(&ir, text.data);
    check(pass_run(pass_find(STR("fuse_regions")), ir.graph, &exec));
    BLOCK_EACH(node, ir.graph->block)
    if (node->kind == SYM_wick_region) fail_msg("%s became part of a region", others[i]);
    ir_dispose(&ir);
    strbuf_dispose(&text);
  }
}

static void test_gradients(void **state) {
  (void)state;
  Case c = new_case(random_tensor(2, SIZES(12, 8)), 16);
  Tensor *weight = c.inputs[WEIGHT].tensor, *gradients[2];
  c.inputs[TERM] = ivalue_tensor(random_tensor(2, SIZES(12, 16)));
  c.activation = "gelu(%y, %none_text)";
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
                                     cmocka_unit_test(test_errors), cmocka_unit_test(test_what_is_left_out),
                                     cmocka_unit_test(test_gradients)};
  return cmocka_run_group_tests(tests, setup, NULL);
}
