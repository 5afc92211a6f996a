/* Promotion against tables that torch.promote_types and torch.result_type of PyTorch 1.13 gave. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "tensor/promote.h"

/* Rows and columns in the order of `kinds`; each letter is a dtype's number in hexadecimal. */
static const char kinds[] = "0123456789abf";
static const char *const pairs[] = {"0223456789a0f", "2123456789a1f", "2223456789a2f", "3333456789a3f", "4444456789a4f",
                                    "5555556789a56", "6666666799a66", "77777777aaa77", "8888889a89a89", "9999999a99a99",
                                    "aaaaaaaaaaaaa", "0123456789abf", "fffff66799aff"};
static const char *const dimensioned_with_zero_dim[] = {
    "0000056789a0f", "1111156789a1f", "2222256789a2f", "3333356789a3f", "4444456789a4f",
    "5555555588855", "6666666699966", "77777777aaa77", "8888888888888", "9999999999999",
    "aaaaaaaaaaaaa", "0123456789abf", "ffffffff999ff"};
/* with a Python bool, int, float, complex; the same for tensors with and without dimensions */
static const char *const with_number[] = {"0069", "1169", "2269", "3369", "4469", "5558", "6669",
                                          "777a", "8888", "9999", "aaaa", "b469", "fff9"};
static const DType number_dtypes[] = {DTYPE_BOOL, DTYPE_INT64, DTYPE_FLOAT64, DTYPE_COMPLEX128};

static DType dtype_of(char c) {
  return (DType)(c <= '9' ? c - '0' : c - 'a' + 10);
}

static Tensor *make(DType dtype, int ndim) {
  Tensor *t;
  assert_null(tensor_empty(dtype, ndim, (int64_t[]){2}, &t));
  return t;
}

static void promotes_pairs(void **state) {
  (void)state;
  for (int i = 0; kinds[i]; i++)
    for (int j = 0; kinds[j]; j++)
      assert_int_equal(dtype_promote(dtype_of(kinds[i]), dtype_of(kinds[j])), dtype_of(pairs[i][j]));
}

static void promotes_by_category(void **state) {
  (void)state;
  for (int i = 0; kinds[i]; i++) {
    for (int j = 0; kinds[j]; j++) {
      Promotion p = PROMOTION_EMPTY;
      Tensor *a = make(dtype_of(kinds[i]), 1), *b = make(dtype_of(kinds[j]), 0);
      promotion_add(&p, b);
      promotion_add(&p, a);
      assert_int_equal(promotion_result(&p), dtype_of(dimensioned_with_zero_dim[i][j]));
      tensor_release(a);
      tensor_release(b);
    }
    for (int n = 0; n < 4; n++) {
      for (int ndim = 0; ndim < 2; ndim++) {
        Promotion p = PROMOTION_EMPTY;
        Tensor *a = make(dtype_of(kinds[i]), ndim);
        promotion_add(&p, a);
        promotion_add_scalar(&p, number_dtypes[n]);
        assert_int_equal(promotion_result(&p), dtype_of(with_number[i][n]));
        tensor_release(a);
      }
    }
  }
}

static void wrapped_tensors_are_weak(void **state) {
  (void)state;
  Tensor *number, *ints = make(DTYPE_INT32, 1);
  assert_null(tensor_from_double(1.5, &number));
  Promotion p = PROMOTION_EMPTY;
  promotion_add(&p, number);
  assert_int_equal(promotion_result(&p), DTYPE_FLOAT32);
  promotion_add(&p, ints);
  assert_int_equal(promotion_result(&p), DTYPE_FLOAT32);
  tensor_release(number);
  tensor_release(ints);
}

/* As PyTorch 2.14: of the dtypes of 2.x only unsigned integers promote, to floating dtypes. */
static void promotes_limited_dtypes(void **state) {
  (void)state;
  DType result;
  assert_int_equal(dtype_promote(DTYPE_UINT16, DTYPE_UINT16), DTYPE_UINT16);
  assert_int_equal(dtype_promote(DTYPE_UINT16, DTYPE_BFLOAT16), DTYPE_BFLOAT16);
  assert_int_equal(dtype_promote(DTYPE_FLOAT64, DTYPE_UINT64), DTYPE_FLOAT64);
  assert_int_equal(dtype_promote(DTYPE_UINT16, DTYPE_UINT32), DTYPE_NO_PROMOTION);
  assert_int_equal(dtype_promote(DTYPE_FLOAT8_E5M2, DTYPE_FLOAT32), DTYPE_NO_PROMOTION);
  Promotion p = PROMOTION_EMPTY;
  Tensor *bytes = make(DTYPE_FLOAT8_E5M2, 1), *floats = make(DTYPE_FLOAT32, 1);
  promotion_add(&p, bytes);
  promotion_add_scalar(&p, DTYPE_INT64);
  assert_null(promotion_finish(&p, &result));
  assert_int_equal(result, DTYPE_FLOAT8_E5M2);
  promotion_add(&p, floats);
  Status status = promotion_finish(&p, &result);
  assert_non_null(status);
  assert_string_equal(status->message,
                      "Promotion for Float8 Types is not supported, attempted to promote Float8_e5m2 "
                      "and Float");
  status_free(status);
  tensor_release(bytes);
  tensor_release(floats);
}

static void tells_castable_dtypes(void **state) {
  (void)state;
  assert_true(dtype_can_cast(DTYPE_INT64, DTYPE_UINT8));
  assert_true(dtype_can_cast(DTYPE_BOOL, DTYPE_FLOAT16));
  assert_false(dtype_can_cast(DTYPE_FLOAT32, DTYPE_INT64));
  assert_false(dtype_can_cast(DTYPE_COMPLEX64, DTYPE_FLOAT64));
  assert_false(dtype_can_cast(DTYPE_INT8, DTYPE_BOOL));
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(promotes_pairs), cmocka_unit_test(promotes_by_category),
                                     cmocka_unit_test(wrapped_tensors_are_weak),
                                     cmocka_unit_test(promotes_limited_dtypes),
                                     cmocka_unit_test(tells_castable_dtypes)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
