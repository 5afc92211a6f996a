/* Transposed convolutions, in every spelling, with what comes after them as one region against the operators one by
 * one: the engine takes them, and gives the same values. */
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

static const char *const spellings[] = {
    "aten::conv_transpose2d(%x, %w, %b, %two, %ones, %ones, %g, %ones)",
    "aten::convolution(%x, %w, %b, %two, %ones, %ones, %yes, %ones, %g)",
    "aten::_convolution(%x, %w, %b, %two, %ones, %ones, %yes, %ones, %g, %no, %no, %no, %no)"};
static const char *const chains[] = {"  %r : Tensor = aten::silu(%c)\n", "  %r : Tensor = aten::add(%t, %c, %one)\n",
                                     "  %n : Tensor = aten::batch_norm(%c, %b, %b, %m, %m, %no, %eps, %eps, %no)\n"
                                     "  %r : Tensor = aten::relu(%n)\n",
                                     "  %n : Tensor = aten::batch_norm(%c, %b, %b, %m, %m, %no, %eps, %eps, %no)\n"
                                     "  %s : Tensor = aten::add(%n, %t, %one)\n"
                                     "  %r : Tensor = aten::gelu(%s, %none)\n"};

static void parse(const char *spelling, const char *chain, int groups, RegionText *out) {
  StrBuf text = {0};
  strbuf_printf(&text,
                "graph(%%x : Tensor, %%w : Tensor, %%b : Tensor, %%t : Tensor, %%m : Tensor):\n"
                "  %%one : int = prim::Constant[value=1]()\n"
                "  %%g : int = prim::Constant[value=%d]()\n"
                "  %%yes : bool = prim::Constant[value=1]()\n"
                "  %%no : bool = prim::Constant[value=0]()\n"
                "  %%eps : float = prim::Constant[value=0.001]()\n"
                "  %%none : str = prim::Constant[value=\"none\"]()\n"
                "  %%ones : int[] = prim::Constant[value=[1, 1]]()\n"
                "  %%two : int[] = prim::Constant[value=[2, 2]]()\n"
                "  %%c : Tensor = %s\n%s  return (%%r)\n",
                groups, spelling, chain);
  region_parse(out, text.data);
  strbuf_dispose(&text);
}

static void compare(const Tensor *a, const Tensor *b) {
  assert_true(tensor_same_sizes(a, b) && a->dtype == b->dtype);
  assert_memory_equal(a->strides, b->strides, b->ndim * sizeof *b->strides);
  const float *x = tensor_data(a), *y = tensor_data(b);
  for (int64_t i = 0; i < a->numel; i++) assert_true(fabsf(x[i] - y[i]) <= 1e-5f * (1 + fabsf(y[i])));
}

static void test_chains(void **state) {
  (void)state;
  for (size_t s = 0; s < sizeof spellings / sizeof *spellings; s++)
    for (size_t c = 0; c < sizeof chains / sizeof *chains; c++)
      for (int groups = 1; groups <= 2; groups++)
        for (exec.work.threads = 1; exec.work.threads <= 2; exec.work.threads++) {
          RegionText region;
          IValue got, expected,
              arguments[] = {ivalue_tensor(random_tensor(4, SIZES(2, 4, 5, 6))),
                             ivalue_tensor(random_tensor(4, SIZES(4, 6 / groups, 3, 3))),
                             ivalue_tensor(random_tensor(1, SIZES(6))),
                             ivalue_tensor(random_tensor(4, SIZES(2, 6, 10, 12))),
                             ivalue_tensor(random_tensor(1, SIZES(6)))};
          float *mean_and_variance = tensor_data(arguments[4].tensor);
          for (int i = 0; i < 6; i++) mean_and_variance[i] = fabsf(mean_and_variance[i]) + 0.5f;
          parse(spellings[s], chains[c], groups, &region);
          uint64_t declined = region_declines();
          check(region_call(&exec, &region, arguments, &got));
          check(region_call_apart(&exec, &region, arguments, &expected));
          assert_int_equal(region_declines(), declined);
          compare(got.tensor, expected.tensor);
          region_dispose(&region);
          ivalue_release(got), ivalue_release(expected);
          for (size_t i = 0; i < sizeof arguments / sizeof *arguments; i++) ivalue_release(arguments[i]);
        }
  exec.work.threads = 1;
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_chains)};
  return cmocka_run_group_tests(tests, setup, NULL);
}
