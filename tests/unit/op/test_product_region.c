/* Products of matrices, and linear layers, with what comes after them as one region against the operators one by one:
 * the engine takes them and gives the same bits, sizes and strides; what it does not take the operators do. */
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

enum { LEFT, RIGHT, SELF, ROW, TERM, NORM, INPUTS };

static void parse(const char *product, const char *chain, RegionText *out) {
  StrBuf text = {0};
  strbuf_printf(&text,
                "graph(%%a : Tensor, %%b : Tensor, %%s : Tensor, %%v : Tensor, %%t : Tensor, %%n : Tensor):\n"
                "  %%one : int = prim::Constant[value=1]()\n"
                "  %%eight : int = prim::Constant[value=8]()\n"
                "  %%half : float = prim::Constant[value=0.5]()\n"
                "  %%two : float = prim::Constant[value=-2.]()\n"
                "  %%eps : float = prim::Constant[value=0.001]()\n"
                "  %%no : bool = prim::Constant[value=0]()\n"
                "  %%none : NoneType = prim::Constant()\n"
                "  %%exact : str = prim::Constant[value=\"none\"]()\n"
                "  %%p : Tensor = aten::%s\n%s",
                product, chain);
  region_parse(out, text.data);
  strbuf_dispose(&text);
}

static const char *const chains[] = {
    "  %r : Tensor = aten::relu(%p)\n"
    "  return (%r)\n",
    "  %r : Tensor = aten::add(%p, %v, %one)\n"
    "  return (%r)\n",
    "  %q : Tensor = aten::add(%v, %p, %one)\n"
    "  %r : Tensor = aten::gelu(%q, %exact)\n"
    "  return (%r)\n",
    "  %d : Tensor = aten::div(%p, %eight)\n"
    "  %r : Tensor = aten::tanh(%d)\n"
    "  return (%r)\n",
    "  %d : Tensor = aten::div(%p, %eight)\n"
    "  %q : Tensor = aten::add(%d, %t, %one)\n"
    "  %r : Tensor = aten::relu6(%q)\n"
    "  return (%r)\n",
    "  %q : Tensor = aten::add(%p, %v, %one)\n"
    "  %r : Tensor = aten::add(%t, %q, %one)\n"
    "  return (%r)\n",
    "  %h : Tensor = aten::relu(%p)\n"
    "  %q : Tensor = aten::add(%h, %v, %one)\n"
    "  %o : Tensor = aten::add(%t, %q, %one)\n"
    "  %r : Tensor = aten::silu(%o)\n"
    "  return (%r)\n"};
/* Of matrices alone. */
static const char *const norms[] = {
    "  %m : Tensor = aten::batch_norm(%p, %v, %v, %v, %n, %no, %eps, %eps, %no)\n"
    "  return (%m)\n",
    "  %m : Tensor = aten::batch_norm(%p, %none, %none, %v, %n, %no, %eps, %eps, %no)\n"
    "  %h : Tensor = aten::tanh(%m)\n"
    "  %q : Tensor = aten::add(%h, %v, %one)\n"
    "  %o : Tensor = aten::add(%q, %t, %one)\n"
    "  %r : Tensor = aten::relu(%o)\n"
    "  return (%r)\n"};

/* Whether the engine took it. */
static bool compare(const char *product, const char *chain, const IValue *arguments) {
  RegionText region;
  parse(product, chain, &region);
  bool is_taken = region_gives_same_bits(&exec, &region, arguments, chain);
  region_dispose(&region);
  return is_taken;
}

static void release_all(IValue *arguments) {
  for (int i = 0; i < INPUTS; i++) ivalue_release(arguments[i]);
}
static Tensor *positive(int64_t n) {
  Tensor *t = random_tensor(1, SIZES(n));
  float *p = tensor_data(t);
  for (int64_t i = 0; i < n; i++) p[i] = fabsf(p[i]) + 0.25f;
  return t;
}
/* Batches of products, or matrices. */
static void make(IValue *out, int ndim, int64_t batch, int64_t m, int64_t k, int64_t n) {
  const int64_t *batches = SIZES(batch, 2);
  int64_t sizes[4];
  int outer = ndim - 2;
  if (outer) memcpy(sizes, batches, (size_t)outer * sizeof *sizes);
  sizes[outer] = m, sizes[outer + 1] = k;
  out[LEFT] = ivalue_tensor(random_tensor(ndim, sizes));
  sizes[outer] = k, sizes[outer + 1] = n;
  out[RIGHT] = ivalue_tensor(random_tensor(ndim, sizes));
  sizes[outer] = m;
  out[TERM] = ivalue_tensor(random_tensor(ndim, sizes));
  out[SELF] = ivalue_tensor(random_tensor(ndim, sizes));
  out[ROW] = ivalue_tensor(random_tensor(1, SIZES(n)));
  out[NORM] = ivalue_tensor(positive(n));
}

static const int64_t rows[] = {1, 5, 37, 260}, depths[] = {1, 17, 390}, columns[] = {1, 5, 64, 150};
#define EACH_SIZE(m, k, n)                                      \
  for (size_t m = 0; m < sizeof rows / sizeof *rows; m++)       \
    for (size_t k = 0; k < sizeof depths / sizeof *depths; k++) \
      for (size_t n = 0; n < sizeof columns / sizeof *columns; n++)

static void test_matrices(void **state) {
  (void)state;
  static const char *const products[] = {"mm(%a, %b)", "matmul(%a, %b)", "addmm(%v, %a, %b, %one, %one)",
                                         "addmm(%s, %a, %b, %half, %two)"};
  EACH_SIZE(m, k, n) {
    IValue arguments[INPUTS];
    make(arguments, 2, 1, rows[m], depths[k], columns[n]);
    float *x = tensor_data(arguments[LEFT].tensor);
    x[0] = NAN, x[rows[m] * depths[k] - 1] = -INFINITY;
    size_t at = m + k + n;
    for (size_t c = 0; c < sizeof chains / sizeof *chains; c++)
      assert_true(compare(products[(at + c) % 4], chains[c], arguments));
    for (size_t c = 0; c < sizeof norms / sizeof *norms; c++)
      assert_true(compare(products[(at + c) % 4], norms[c], arguments));
    release_all(arguments);
  }
}

/* By the transpose of a weight whose panels are kept. */
static void test_kept_weights(void **state) {
  (void)state;
  static const char *const products[] = {"linear(%a, %b, %none)", "linear(%a, %b, %v)", "mm(%a, %s)",
                                         "addmm(%v, %a, %s, %one, %one)", "matmul(%a, %s)"};
  EACH_SIZE(m, k, n) {
    IValue arguments[INPUTS];
    make(arguments, 2, 1, rows[m], depths[k], columns[n]);
    ivalue_release(arguments[RIGHT]), ivalue_release(arguments[SELF]);
    Tensor *turned;
    arguments[RIGHT] = ivalue_tensor(random_tensor(2, SIZES(columns[n], depths[k])));
    check(tensor_transpose(arguments[RIGHT].tensor, 0, 1, &turned));
    arguments[SELF] = ivalue_tensor(turned);
    for (size_t p = 0; p < sizeof products / sizeof *products; p++) {
      assert_true(compare(products[p], chains[(m + k + n + p) % 7], arguments));
      assert_true(compare(products[p], norms[p % 2], arguments));
    }
    release_all(arguments);
  }
}

static void test_batches(void **state) {
  (void)state;
  static const char *const products[] = {"bmm(%a, %b)", "matmul(%a, %b)", "baddbmm(%s, %a, %b, %one, %one)",
                                         "baddbmm(%v, %a, %b, %half, %eight)"};
  for (int64_t batch = 1; batch <= 4; batch += 3) EACH_SIZE(m, k, n) {
      if (rows[m] * depths[k] * columns[n] > 400000) continue;
      IValue arguments[INPUTS];
      make(arguments, 3, batch, rows[m], depths[k], columns[n]);
      for (size_t c = 0; c < sizeof chains / sizeof *chains; c++)
        assert_true(compare(products[(m + n + c) % 4], chains[c], arguments));
      release_all(arguments);
    }
}

/* Terms that are broadcast to the results, and operands that lie anyhow. */
static void test_places(void **state) {
  (void)state;
  const int64_t terms[][4] = {{3, 2, 6, 9}, {3, 1, 6, 9}, {1, 2, 1, 9}, {3, 2, 6, 1}, {1, 1, 1, 1}, {3, 1, 1, 9}};
  IValue arguments[INPUTS];
  make(arguments, 4, 3, 6, 5, 9);
  for (size_t i = 0; i < sizeof terms / sizeof *terms; i++) {
    ivalue_release(arguments[TERM]);
    arguments[TERM] = ivalue_tensor(random_tensor(4, terms[i]));
    for (size_t c = 4; c < sizeof chains / sizeof *chains; c++)
      assert_true(compare("matmul(%a, %b)", chains[c], arguments));
  }
  Tensor *wide = random_tensor(4, SIZES(6, 3, 2, 9)), *turned, *part;
  check(tensor_permute(wide, SIZES(1, 2, 0, 3), &turned));
  tensor_release(wide);
  ivalue_release(arguments[TERM]);
  arguments[TERM] = ivalue_tensor(turned); /* its sum lies as it does */
  for (size_t c = 4; c < sizeof chains / sizeof *chains; c++)
    assert_false(compare("matmul(%a, %b)", chains[c], arguments));
  check(tensor_select(arguments[RIGHT].tensor, 0, 1, &part));
  ivalue_release(arguments[RIGHT]);
  check(tensor_select(part, 0, 1, &arguments[RIGHT].tensor)); /* a matrix by all rows */
  tensor_release(part);
  for (size_t c = 0; c < 3; c++) assert_true(compare("matmul(%a, %b)", chains[c], arguments));
  release_all(arguments);
}

/* The operators do these, errors too. */
static void test_out_of_the_ordinary(void **state) {
  (void)state;
  IValue arguments[INPUTS];
  make(arguments, 2, 1, 6, 5, 9);
  IValue right = arguments[RIGHT], term = arguments[TERM];
  arguments[RIGHT] = ivalue_tensor(random_tensor(1, SIZES(5)));
  arguments[TERM] = ivalue_tensor(random_tensor(1, SIZES(6)));
  assert_false(compare("matmul(%a, %b)", chains[0], arguments)); /* a vector */
  ivalue_release(arguments[RIGHT]), ivalue_release(arguments[TERM]);
  arguments[RIGHT] = right;
  arguments[TERM] = ivalue_tensor(random_tensor(3, SIZES(2, 6, 9)));
  assert_false(compare("mm(%a, %b)", chains[4], arguments)); /* results of more dimensions */
  ivalue_release(arguments[TERM]);
  arguments[TERM] = term;
  for (int i = 0; i < INPUTS; i++) {
    Tensor *wide;
    check(tensor_to_dtype(arguments[i].tensor, DTYPE_FLOAT64, &wide));
    ivalue_release(arguments[i]);
    arguments[i] = ivalue_tensor(wide);
  }
  assert_false(compare("mm(%a, %b)", chains[4], arguments));
  RegionText region;
  IValue out;
  parse("mm(%b, %b)", chains[4], &region);
  check_error(region_call(&exec, &region, arguments, &out), "mat1 and mat2 shapes cannot be multiplied (5x9 and 5x9)");
  region_dispose(&region);
  release_all(arguments);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_matrices), cmocka_unit_test(test_kept_weights),
                                     cmocka_unit_test(test_batches), cmocka_unit_test(test_places),
                                     cmocka_unit_test(test_out_of_the_ordinary)};
  return cmocka_run_group_tests(tests, setup, NULL);
}
