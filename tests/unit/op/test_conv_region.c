/* Convolutions with a term that lies otherwise than their results: the sum is its operator's, within the region, to the
 * bits and strides of the operators one by one. */
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

#define CONSTANTS                                   \
  "  %one : int = prim::Constant[value=1]()\n"      \
  "  %zero : int[] = prim::Constant[value=[0]]()\n" \
  "  %ones : int[] = prim::Constant[value=[1]]()\n"
#define CONV(x) "  %c : Tensor = aten::conv1d(" x ", %w, %b, %ones, %zero, %ones, %one)\n"

static Tensor *transposed(const int64_t *sizes) {
  Tensor *t, *rows = random_tensor(3, (int64_t[]){sizes[0], sizes[2], sizes[1]});
  check(tensor_transpose(rows, 1, 2, &t));
  tensor_release(rows);
  return t;
}

static void test_term_that_lies_otherwise(void **state) {
  (void)state;
  static const char *const sums[] = {"aten::add(%c, %t, %one)", "aten::add(%t, %c, %one)"};
  for (size_t s = 0; s < sizeof sums / sizeof *sums; s++) {
    char text[800];
    RegionText region;
    IValue arguments[] = {ivalue_tensor(random_tensor(3, SIZES(2, 8, 30))),
                          ivalue_tensor(random_tensor(3, SIZES(5, 8, 3))), ivalue_tensor(random_tensor(1, SIZES(5))),
                          ivalue_tensor(transposed(SIZES(2, 5, 28)))};
    snprintf(
        text, sizeof text,
        "graph(%%x : Tensor, %%w : Tensor, %%b : Tensor, %%t : Tensor):\n%s%s  %%r : Tensor = %s\n  return (%%r)\n",
        CONSTANTS, CONV("%x"), sums[s]);
    region_parse(&region, text);
    assert_true(region_gives_same_bits(&exec, &region, arguments, sums[s]));
    region_dispose(&region);
    for (size_t i = 0; i < sizeof arguments / sizeof *arguments; i++) ivalue_release(arguments[i]);
  }
}

/* The function comes after a sum that no engine makes. */
static void test_function_of_such_a_sum(void **state) {
  (void)state;
  RegionText region;
  IValue arguments[] = {ivalue_tensor(random_tensor(3, SIZES(2, 8, 30))),
                        ivalue_tensor(random_tensor(3, SIZES(5, 8, 3))), ivalue_tensor(random_tensor(1, SIZES(5))),
                        ivalue_tensor(transposed(SIZES(2, 5, 28)))};
  region_parse(&region,
               "graph(%x : Tensor, %w : Tensor, %b : Tensor, %t : Tensor):\n" CONSTANTS CONV(
                   "%x") "  %s : Tensor = aten::add(%c, %t, %one)\n  %r : Tensor = aten::relu(%s)\n  return (%r)\n");
  assert_false(region_gives_same_bits(&exec, &region, arguments, "relu"));
  region_dispose(&region);
  for (size_t i = 0; i < sizeof arguments / sizeof *arguments; i++) ivalue_release(arguments[i]);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_term_that_lies_otherwise),
                                     cmocka_unit_test(test_function_of_such_a_sum)};
  return cmocka_run_group_tests(tests, setup, NULL);
}
