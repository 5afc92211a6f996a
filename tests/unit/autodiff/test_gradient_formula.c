/* What a gradient text reads of its arguments: values, or only what their rows call metadata. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "autodiff/gradient_formula.h"

/* Whether the gradients read the values of the argument; -1: they do not name it. */
static int reads_values(const char *name, const char *overload, const char *argument) {
  const Operator *op = operator_find_overload(str_from(name), str_from(overload));
  Formula *formula = NULL;
  assert_non_null(op);
  assert_null(formula_of(op, &formula));
  FormulaNames names = formula_names(formula, UINT32_MAX);
  ptrdiff_t at = schema_find_argument(operator_schema(op), str_from(argument));
  assert_true(at >= 0);
  return names.arguments >> at & 1 ? (int)(names.reads >> at & 1) : -1;
}

static void test_reads(void **state) {
  (void)state;
  assert_int_equal(reads_values("aten::narrow", "", "self"), 0);           /* self.size() */
  assert_int_equal(reads_values("aten::cat", "", "tensors"), 0);           /* _cat_backward(grad, tensors, dim) */
  assert_int_equal(reads_values("aten::index_copy", "", "source"), 0);     /* .expand_as(source) */
  assert_int_equal(reads_values("aten::index", "Tensor", "self"), 0);      /* zeros_like(self).index_put(...) */
  assert_int_equal(reads_values("aten::pow", "Tensor_Scalar", "self"), 1); /* zeros_like(self) here, a power there */
  assert_int_equal(reads_values("aten::mul", "Tensor", "other"), 1);
  assert_int_equal(reads_values("aten::add", "Tensor", "self"), -1);
}

static void test_rows(void **state) {
  (void)state;
  const Operator *size = operator_find(STR("aten::size")), *expand_as = operator_find(STR("aten::expand_as")),
                 *item = operator_find(STR("aten::item"));
  assert_true(operator_reads_metadata(size, 0));
  assert_false(operator_reads_metadata(expand_as, 0)); /* whose memory the result shows */
  assert_true(operator_reads_metadata(expand_as, 1));
  assert_false(operator_reads_metadata(item, 0));
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_reads), cmocka_unit_test(test_rows)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
