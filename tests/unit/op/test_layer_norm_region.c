/* A linear layer with the normalization of its rows before it as one region against the operators one by one: the
 * engine takes both and gives the same bits; what it does not take the operators do, errors too. */
#include <math.h>

#include "checks.h"
#include "ir/subgraph.h"
#include "outcome.h"
#include "random_tensor.h"
#include "region_fixture.h"

static Exec exec;

static int setup(void **state) {
  (void)state;
  exec_init(&exec, &api_services);
  return 0;
}

enum { ROWS, SCALE, SHIFT, WEIGHT, BIAS, TERM, INPUTS };

static void parse(int64_t length, const char *norm, const char *rest, RegionText *out) {
  StrBuf text = {0};
  strbuf_printf(&text,
                "graph(%%x : Tensor, %%g : Tensor, %%h : Tensor, %%w : Tensor, %%b : Tensor, %%t : Tensor):\n"
                "  %%one : int = prim::Constant[value=1]()\n"
                "  %%eps : float = prim::Constant[value=0.001]()\n"
                "  %%yes : bool = prim::Constant[value=1]()\n"
                "  %%none : NoneType = prim::Constant()\n"
                "  %%shape : int[] = prim::Constant[value=[%lld]]()\n"
                "  %%n : Tensor = aten::layer_norm(%%x, %%shape, %s, %%eps, %%yes)\n%s",
                (long long)length, norm, rest);
  region_parse(out, text.data);
  strbuf_dispose(&text);
  bool has_norm = false;
  BLOCK_EACH(node, node_subgraph(out->node)->block) has_norm |= node->kind == SYM_aten_layer_norm;
  assert_true(has_norm);
}

static const char *const norms[] = {"%g, %h", "%none, %h", "%g, %none", "%none, %none"};
static const char *const chains[] = {
    "  %r : Tensor = aten::linear(%n, %w, %b)\n"
    "  return (%r)\n",
    "  %p : Tensor = aten::linear(%n, %w, %none)\n"
    "  %r : Tensor = aten::relu(%p)\n"
    "  return (%r)\n",
    "  %p : Tensor = aten::linear(%n, %w, %b)\n"
    "  %q : Tensor = aten::add(%t, %p, %one)\n"
    "  %r : Tensor = aten::tanh(%q)\n"
    "  return (%r)\n"};

/* Whether the engine took it. */
static bool compare(int64_t length, const char *norm, const char *chain, const IValue *arguments) {
  RegionText region;
  parse(length, norm, chain, &region);
  bool is_taken = region_gives_same_bits(&exec, &region, arguments, chain);
  region_dispose(&region);
  return is_taken;
}

static void make(IValue *out, int64_t batch, int64_t m, int64_t k, int64_t n) {
  out[ROWS] = ivalue_tensor(random_tensor(3, SIZES(batch, m, k)));
  out[SCALE] = ivalue_tensor(random_tensor(1, SIZES(k)));
  out[SHIFT] = ivalue_tensor(random_tensor(1, SIZES(k)));
  out[WEIGHT] = ivalue_tensor(random_tensor(2, SIZES(n, k)));
  out[BIAS] = ivalue_tensor(random_tensor(1, SIZES(n)));
  out[TERM] = ivalue_tensor(random_tensor(3, SIZES(batch, m, n)));
}
static void release_all(IValue *arguments) {
  for (int i = 0; i < INPUTS; i++) ivalue_release(arguments[i]);
}

static void test_sizes(void **state) {
  (void)state;
  static const int64_t rows[] = {1, 5, 37, 260}, depths[] = {1, 17, 390}, columns[] = {1, 5, 64};
  for (size_t m = 0; m < sizeof rows / sizeof *rows; m++)
    for (size_t k = 0; k < sizeof depths / sizeof *depths; k++)
      for (size_t n = 0; n < sizeof columns / sizeof *columns; n++) {
        IValue arguments[INPUTS];
        make(arguments, 1 + (int64_t)(m + k) % 2, rows[m], depths[k], columns[n]);
        for (size_t c = 0; c < sizeof chains / sizeof *chains; c++)
          assert_true(compare(depths[k], norms[(m + k + n + c) % 4], chains[c], arguments));
        release_all(arguments);
      }
}

/* Rows that lie anyhow, and some that are no numbers. */
static void test_places(void **state) {
  (void)state;
  IValue arguments[INPUTS];
  make(arguments, 3, 6, 7, 9);
  Tensor *wide = random_tensor(3, SIZES(7, 6, 3)), *turned;
  ((float *)tensor_data(wide))[4] = NAN;
  check(tensor_transpose(wide, 0, 2, &turned));
  tensor_release(wide);
  ivalue_release(arguments[ROWS]);
  arguments[ROWS] = ivalue_tensor(turned);
  for (size_t c = 0; c < sizeof chains / sizeof *chains; c++) assert_true(compare(7, norms[c], chains[c], arguments));
  release_all(arguments);
}

static void test_out_of_the_ordinary(void **state) {
  (void)state;
  IValue arguments[INPUTS], out;
  RegionText region;
  make(arguments, 2, 6, 5, 9);
  parse(4, norms[0], chains[0], &region);
  check_error(region_call(&exec, &region, arguments, &out), "Given normalized_shape=[4]");
  region_dispose(&region);
  ivalue_release(arguments[WEIGHT]);
  arguments[WEIGHT] = ivalue_tensor(random_tensor(2, SIZES(9, 4)));
  parse(5, norms[0], chains[0], &region);
  check_error(region_call(&exec, &region, arguments, &out), "mat1 and mat2 shapes cannot be multiplied (12x5 and 4x9)");
  region_dispose(&region);
  ivalue_release(arguments[WEIGHT]);
  arguments[WEIGHT] = ivalue_tensor(random_tensor(2, SIZES(9, 5)));
  for (int i = 0; i < INPUTS; i++) {
    Tensor *wide;
    check(tensor_to_dtype(arguments[i].tensor, DTYPE_FLOAT64, &wide));
    ivalue_release(arguments[i]);
    arguments[i] = ivalue_tensor(wide);
  }
  assert_false(compare(5, norms[0], chains[2], arguments));
  release_all(arguments);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_sizes), cmocka_unit_test(test_places),
                                     cmocka_unit_test(test_out_of_the_ordinary)};
  return cmocka_run_group_tests(tests, setup, NULL);
}
