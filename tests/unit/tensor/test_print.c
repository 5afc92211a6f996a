/* The text of tensors against what torch's C++ printer gave. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <math.h>

#include "tensor/tensor.h"

static void expect(DType dtype, int ndim, const int64_t *sizes, const double *values, const char *text) {
  Tensor *t;
  assert_null(tensor_empty(dtype, ndim, sizes, &t));
  dtype_convert(dtype, tensor_data(t), 1, DTYPE_FLOAT64, values, 1, t->numel);
  StrBuf out = {0};
  assert_null(tensor_print(t, &out));
  assert_string_equal(out.data, text);
  strbuf_dispose(&out);
  tensor_release(t);
}
#define SIZES(...) \
  (int64_t[]) {    \
    __VA_ARGS__    \
  }
#define VALUES(...) \
  (double[]) {      \
    __VA_ARGS__     \
  }

static void prints_as_torch(void **state) {
  (void)state;
  expect(DTYPE_FLOAT32, 0, NULL, VALUES(1.0 / 3), "0.333333\n[ CPUFloatType{} ]");
  expect(DTYPE_FLOAT32, 1, SIZES(3), VALUES(1.5, 2e6, 3), " 1.5000e+00\n 2.0000e+06\n 3.0000e+00\n[ CPUFloatType{3} ]");
  expect(DTYPE_FLOAT32, 1, SIZES(2), VALUES(123456.5, -7.25), " 1.2346e+05\n-7.2500e+00\n[ CPUFloatType{2} ]");
  expect(DTYPE_INT64, 2, SIZES(2, 3), VALUES(0, 1, 2, 3, 4, 5), " 0  1  2\n 3  4  5\n[ CPULongType{2,3} ]");
  expect(DTYPE_FLOAT32, 2, SIZES(2, 2), VALUES(NAN, 1, INFINITY, 2), "nan  1\ninf  2\n[ CPUFloatType{2,2} ]");
  expect(DTYPE_FLOAT32, 2, SIZES(0, 3), VALUES(0), "[ CPUFloatType{0,3} ]");
  expect(DTYPE_BOOL, 1, SIZES(1), VALUES(1), " 1\n[ CPUBoolType{1} ]");
}

static void cuts_wide_matrices(void **state) {
  (void)state;
  double values[12];
  for (int i = 0; i < 12; i++) values[i] = i * 1e8;
  expect(
      DTYPE_FLOAT32, 2, SIZES(1, 12), values,
      "Columns 1 to 6 0.0000e+00  1.0000e+08  2.0000e+08  3.0000e+08  4.0000e+08  5.0000e+08\n\n"
      "Columns 7 to 12 6.0000e+08  7.0000e+08  8.0000e+08  9.0000e+08  1.0000e+09  1.1000e+09\n[ CPUFloatType{1,12} ]");
}

static void prints_slices(void **state) {
  (void)state;
  expect(DTYPE_FLOAT32, 3, SIZES(2, 2, 2), VALUES(1, 2, 1e8, .5, 3, -4, 5, 6),
         "(1,.,.) = \n  1.0000e+00  2.0000e+00\n  1.0000e+08  5.0000e-01\n\n(2,.,.) = \n  3 -4\n  5  6\n[ "
         "CPUFloatType{2,2,2} ]");
}

static void stops_where_text_is_cut(void **state) {
  (void)state;
  Tensor *t;
  assert_null(tensor_empty(DTYPE_FLOAT32, 2, SIZES(1000, 1000), &t));
  tensor_fill_zero(t);
  StrBuf out = {.max_length = 100};
  assert_null(tensor_print(t, &out));
  assert_true(out.truncated && out.length <= 100);
  strbuf_dispose(&out);
  tensor_release(t);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(prints_as_torch), cmocka_unit_test(cuts_wide_matrices),
                                     cmocka_unit_test(prints_slices), cmocka_unit_test(stops_where_text_is_cut)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
