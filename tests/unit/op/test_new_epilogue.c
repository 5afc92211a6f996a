/* An activation that nothing knows of is one row: its formula is all that regions need to take it along, after a
 * convolution, a linear layer, a product of matrices and a normalization by stored statistics. */
#include <math.h>

#include "call/pointwise.h"
#include "call/row.h"
#include "checks.h"
#include "outcome.h"
#include "random_tensor.h"
#include "region_fixture.h"

static const OpRow rows[] = {{.schema = "test::bent(Tensor self, Scalar bend=1) -> Tensor",
                              .shape = shape_pointwise_float,
                              .lower = "self + (sqrt(self * self + bend) - sqrt(bend + 0.0)) / 2",
                              .flags = OP_INPLACE | OP_OUT | OP_ALIASING_OK}};
static OP_TABLE(table, rows);

static Exec exec;

static int setup(void **state) {
  (void)state;
  exec_init(&exec, &api_services);
  return operator_register(&table, NULL) != OK;
}

static const char *const anchors[] = {"aten::conv2d(%x, %w, %none, %ones, %ones, %ones, %one)",
                                      "aten::conv_transpose2d(%x, %w, %none, %ones, %ones, %zeros, %one, %ones)",
                                      "aten::linear(%x, %m, %none)", "aten::matmul(%x, %m)",
                                      "aten::batch_norm(%x, %none, %none, %v, %v, %no, %eps, %eps, %no)"};

static void parse(const char *anchor, const char *activation, RegionText *out) {
  StrBuf text = {0};
  strbuf_printf(&text,
                "graph(%%x : Tensor, %%w : Tensor, %%m : Tensor, %%v : Tensor):\n"
                "  %%none : NoneType = prim::Constant()\n"
                "  %%no : bool = prim::Constant[value=0]()\n"
                "  %%one : int = prim::Constant[value=1]()\n"
                "  %%bend : float = prim::Constant[value=0.25]()\n"
                "  %%eps : float = prim::Constant[value=0.001]()\n"
                "  %%ones : int[] = prim::Constant[value=[1, 1]]()\n"
                "  %%zeros : int[] = prim::Constant[value=[0, 0]]()\n"
                "  %%y : Tensor = %s\n  %%r : Tensor = %s\n  return (%%r)\n",
                anchor, activation);
  region_parse(out, text.data);
  strbuf_dispose(&text);
}

static void test_every_anchor_takes_it(void **state) {
  (void)state;
  static const char *const activations[] = {"test::bent(%y, %one)", "test::bent(%y, %bend)", "test::bent_(%y, %bend)"};
  IValue arguments[] = {ivalue_tensor(random_tensor(4, SIZES(2, 5, 9, 9))),
                        ivalue_tensor(random_tensor(4, SIZES(5, 5, 3, 3))),
                        ivalue_tensor(random_tensor(2, SIZES(9, 9))), ivalue_tensor(random_tensor(1, SIZES(5)))};
  float *statistics = tensor_data(arguments[3].tensor);
  for (int i = 0; i < 5; i++) statistics[i] = fabsf(statistics[i]) + 0.5f;
  for (size_t c = 0; c < sizeof anchors / sizeof *anchors; c++)
    for (size_t a = 0; a < sizeof activations / sizeof *activations; a++) {
      RegionText region;
      IValue got, expected;
      uint64_t declined = region_declines();
      parse(anchors[c], activations[a], &region);
      check(region_call(&exec, &region, arguments, &got));
      assert_int_equal(region_declines(), declined);
      check(region_call_apart(&exec, &region, arguments, &expected));
      const Tensor *x = got.tensor, *y = expected.tensor;
      assert_true(tensor_same_sizes(x, y) && x->dtype == DTYPE_FLOAT32 && y->dtype == DTYPE_FLOAT32);
      assert_memory_equal(tensor_data(x), tensor_data(y), (size_t)x->numel * sizeof(float));
      region_dispose(&region);
      ivalue_release(got), ivalue_release(expected);
    }
  for (size_t i = 0; i < sizeof arguments / sizeof *arguments; i++) ivalue_release(arguments[i]);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_every_anchor_takes_it)};
  return cmocka_run_group_tests(tests, setup, NULL);
}
