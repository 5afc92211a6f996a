/* Linear algebra: looks, batches, sides, errors; what comes back multiplied together again. */
#include "checks.h"

#include "call/call.h"

/* after the headers: it defines `complex` */
#include <complex.h>
#include <math.h>

static Exec exec;

static int setup(void **state) {
  (void)state;
  exec_init(&exec, NULL);
  return 0;
}

/* Filled with numbers that are neither regular nor singular. */
static Tensor *matrix(DType dtype, int ndim, const int64_t *sizes) {
  Tensor *t;
  check(tensor_empty(dtype, ndim, sizes, &t));
  for (int64_t i = 0; i < t->numel; i++) {
    complex128 value = sin(1.7 * (double)(i * i) + 0.3) + 0.5 * cos(2.9 * (double)(i * i)) * I;
    dtype_convert(dtype, (char *)tensor_data(t) + i * (int64_t)dtype_size(dtype), 0, DTYPE_COMPLEX128, &value, 0, 1);
  }
  return t;
}
static complex128 at(const Tensor *t, int64_t offset) {
  complex128 value;
  dtype_convert(DTYPE_COMPLEX128, &value, 0, (DType)t->dtype,
                (char *)tensor_data(t) + offset * (int64_t)dtype_size((DType)t->dtype), 0, 1);
  return value;
}
static complex128 at_matrix(const Tensor *t, int64_t batch, int64_t row, int64_t col) {
  int64_t offset = row * t->strides[t->ndim - 2] + col * t->strides[t->ndim - 1];
  return at(t, offset + (t->ndim > 2 ? batch * t->strides[t->ndim - 3] : 0));
}
static const DType four_types[] = {DTYPE_FLOAT32, DTYPE_FLOAT64, DTYPE_COMPLEX64, DTYPE_COMPLEX128};
static double tolerance_of(DType dtype) {
  return dtype == DTYPE_FLOAT32 || dtype == DTYPE_COMPLEX64 ? 1e-4 : 1e-11;
}

static void release_all(uint32_t count, IValue *values) {
  for (uint32_t i = 0; i < count; i++) ivalue_release(values[i]);
}

static void test_inverse_of_a_batch(void **state) {
  (void)state;
  static OpRef inv = OP_REF("aten::linalg_inv_ex", "");
  for (size_t d = 0; d < 4; d++) {
    Tensor *a = matrix(four_types[d], 3, SIZES(2, 3, 3)), *turned;
    check(tensor_transpose(a, 1, 2, &turned));
    for (int variant = 0; variant < 2; variant++) {
      const Tensor *input = variant ? turned : a;
      IValue out[2] = {IVALUE_NONE, IVALUE_NONE};
      check(op_call(&exec, &inv, 1, (IValue[]){ivalue_tensor((Tensor *)input)}, 2, out));
      const Tensor *x = out[0].tensor;
      assert_int_equal(x->strides[1], 1); /* column-major */
      for (int64_t b = 0; b < 2; b++)
        for (int64_t i = 0; i < 3; i++)
          for (int64_t j = 0; j < 3; j++) {
            complex128 sum = 0;
            for (int64_t k = 0; k < 3; k++) sum += at_matrix(input, b, i, k) * at_matrix(x, b, k, j);
            assert_true(cabs(sum - (i == j)) < tolerance_of(four_types[d]));
          }
      assert_int_equal(at(out[1].tensor, 1), 0);
      release_all(2, out);
    }
    tensor_release(turned);
    tensor_release(a);
  }
}

static void test_solve_from_either_side(void **state) {
  (void)state;
  static OpRef solve = OP_REF("aten::_linalg_solve_ex", "");
  for (size_t d = 0; d < 4; d++)
    for (int left = 0; left < 2; left++) {
      Tensor *a = matrix(four_types[d], 2, SIZES(3, 3)),
             *b = matrix(four_types[d], 3, left ? SIZES(2, 3, 2) : SIZES(2, 2, 3));
      IValue out[4] = {IVALUE_NONE, IVALUE_NONE, IVALUE_NONE, IVALUE_NONE};
      check(op_call(&exec, &solve, 3, (IValue[]){ivalue_tensor(a), ivalue_tensor(b), ivalue_bool(left)}, 4, out));
      const Tensor *x = out[0].tensor;
      assert_true(tensor_same_sizes(x, b));
      for (int64_t batch = 0; batch < 2; batch++)
        for (int64_t i = 0; i < b->sizes[1]; i++)
          for (int64_t j = 0; j < b->sizes[2]; j++) {
            complex128 sum = 0;
            for (int64_t k = 0; k < 3; k++)
              sum += left ? at_matrix(a, 0, i, k) * at_matrix(x, batch, k, j)
                          : at_matrix(x, batch, i, k) * at_matrix(a, 0, k, j);
            assert_true(cabs(sum - at_matrix(b, batch, i, j)) < tolerance_of(four_types[d]));
          }
      release_all(4, out);
      tensor_release(a);
      tensor_release(b);
    }
}

static void test_svd_multiplies_back(void **state) {
  (void)state;
  static OpRef svd = OP_REF("aten::_linalg_svd", "");
  for (size_t d = 0; d < 4; d++)
    for (int full = 0; full < 2; full++) {
      Tensor *a = matrix(four_types[d], 2, SIZES(2, 4));
      IValue out[3] = {IVALUE_NONE, IVALUE_NONE, IVALUE_NONE};
      check(op_call(&exec, &svd, 2, (IValue[]){ivalue_tensor(a), ivalue_bool(full)}, 3, out));
      assert_int_equal(out[2].tensor->sizes[0], full ? 4 : 2);
      for (int64_t i = 0; i < 2; i++)
        for (int64_t j = 0; j < 4; j++) {
          complex128 sum = 0;
          for (int64_t k = 0; k < 2; k++)
            sum += at_matrix(out[0].tensor, 0, i, k) * at(out[1].tensor, k) * at_matrix(out[2].tensor, 0, k, j);
          assert_true(cabs(sum - at_matrix(a, 0, i, j)) < tolerance_of(four_types[d]));
        }
      release_all(3, out);
      tensor_release(a);
    }
}

/* So large that its columns are reflected panel by panel: R is a triangle, and in a few places Q's columns are
 * orthogonal and Q R is the matrix. */
static void test_qr_of_large_matrices(void **state) {
  (void)state;
  static OpRef qr = OP_REF("aten::linalg_qr", "");
  for (size_t d = 0; d < 4; d += 3)
    for (int wide = 0; wide < 2; wide++) {
      Tensor *a = matrix(four_types[d], 2, wide ? SIZES(500, 600) : SIZES(600, 500));
      IValue out[2] = {IVALUE_NONE, IVALUE_NONE}, mode = text_value("reduced");
      check(op_call(&exec, &qr, 2, (IValue[]){ivalue_tensor(a), mode}, 2, out));
      const Tensor *q = out[0].tensor, *r = out[1].tensor;
      for (int64_t i = 1; i < 500; i += 61)
        for (int64_t j = 3; j < 500; j += 67) {
          complex128 dot = 0, product = 0;
          for (int64_t k = 0; k < q->sizes[0]; k++) dot += conj(at_matrix(q, 0, k, i)) * at_matrix(q, 0, k, j);
          for (int64_t k = 0; k < 500; k++) product += at_matrix(q, 0, i, k) * at_matrix(r, 0, k, j);
          assert_true(cabs(dot - (i == j)) < tolerance_of(four_types[d]));
          assert_true(cabs(product - at_matrix(a, 0, i, j)) < 10 * tolerance_of(four_types[d]));
          if (i > j) assert_true(at_matrix(r, 0, i, j) == 0);
        }
      release_all(2, out);
      ivalue_release(mode);
      tensor_release(a);
    }
}

static void test_eigenvectors_of_a_rotation(void **state) {
  (void)state;
  static OpRef eig = OP_REF("aten::linalg_eig", "");
  Tensor *a;
  check(tensor_empty(DTYPE_FLOAT64, 2, SIZES(2, 2), &a));
  memcpy(tensor_data(a), (double[]){0, -1, 1, 0}, 4 * sizeof(double));
  IValue out[2] = {IVALUE_NONE, IVALUE_NONE};
  check(op_call(&exec, &eig, 1, (IValue[]){ivalue_tensor(a)}, 2, out));
  for (int64_t k = 0; k < 2; k++) {
    complex128 value = at(out[0].tensor, k);
    assert_true(fabs(cabs(value) - 1) < 1e-12 && fabs(creal(value)) < 1e-12);
    assert_true(cabs(-at_matrix(out[1].tensor, 0, 1, k) - value * at_matrix(out[1].tensor, 0, 0, k)) < 1e-12);
  }
  release_all(2, out);
  tensor_release(a);
}

static void test_empty_matrices(void **state) {
  (void)state;
  static OpRef qr = OP_REF("aten::linalg_qr", ""), det = OP_REF("aten::_linalg_det", "");
  Tensor *a;
  check(tensor_empty(DTYPE_FLOAT32, 2, SIZES(3, 0), &a));
  IValue mode, out[3] = {IVALUE_NONE, IVALUE_NONE, IVALUE_NONE};
  mode = text_value("complete");
  check(op_call(&exec, &qr, 2, (IValue[]){ivalue_tensor(a), mode}, 2, out));
  assert_true(at_matrix(out[0].tensor, 0, 1, 1) == 1 && at_matrix(out[0].tensor, 0, 1, 2) == 0);
  release_all(2, out);
  ivalue_release(mode);
  tensor_release(a);
  out[0] = out[1] = IVALUE_NONE;
  check(tensor_empty(DTYPE_FLOAT32, 3, SIZES(2, 0, 0), &a));
  check(op_call(&exec, &det, 1, (IValue[]){ivalue_tensor(a)}, 3, out));
  assert_true(at(out[0].tensor, 1) == 1);
  release_all(3, out);
  tensor_release(a);
}

static void test_errors_name_the_function(void **state) {
  (void)state;
  static OpRef inv = OP_REF("aten::linalg_inv_ex", ""), cholesky = OP_REF("aten::linalg_cholesky_ex", ""),
               svd = OP_REF("aten::_linalg_svd", ""), lu_solve = OP_REF("aten::linalg_lu_solve", "");
  IValue out[3] = {IVALUE_NONE, IVALUE_NONE, IVALUE_NONE};
  Tensor *wide = matrix(DTYPE_FLOAT32, 2, SIZES(2, 3)), *ints = matrix(DTYPE_INT64, 2, SIZES(2, 2)),
         *zero = matrix(DTYPE_FLOAT64, 3, SIZES(2, 2, 2)), *vector = matrix(DTYPE_FLOAT32, 1, SIZES(2)), *pivots;
  check_error(op_call(&exec, &inv, 1, (IValue[]){ivalue_tensor(wide)}, 2, out),
              "linalg.inv: A must be batches of square matrices, but they are 2 by 3 matrices");
  check_error(op_call(&exec, &inv, 1, (IValue[]){ivalue_tensor(ints)}, 2, out),
              "linalg.inv: Expected a floating point or complex tensor as input. Got Long");
  check_error(op_call(&exec, &inv, 1, (IValue[]){ivalue_tensor(vector)}, 2, out),
              "linalg.inv: The input tensor A must have at least 2 dimensions.");
  memset((char *)tensor_data(zero) + 4 * sizeof(double), 0, 4 * sizeof(double));
  check_error(op_call(&exec, &inv, 2, (IValue[]){ivalue_tensor(zero), ivalue_bool(true)}, 2, out),
              "(Batch element 1): The diagonal element 1 is zero");
  memset(tensor_data(zero), 0, 4 * sizeof(double));
  check_error(
      op_call(&exec, &cholesky, 3, (IValue[]){ivalue_tensor(zero), ivalue_bool(false), ivalue_bool(true)}, 2, out),
      "the leading minor of order 1");
  *(double *)tensor_data(zero) = NAN;
  check_error(op_call(&exec, &svd, 1, (IValue[]){ivalue_tensor(zero)}, 3, out), "contained non-finite values");
  check(tensor_empty(DTYPE_INT32, 2, SIZES(2, 2), &pivots));
  memcpy(tensor_data(pivots), (int32_t[]){1, 2, 99, 2}, 4 * sizeof(int32_t)); /* would have LAPACK write anywhere */
  check_error(
      op_call(&exec, &lu_solve, 3, (IValue[]){ivalue_tensor(zero), ivalue_tensor(pivots), ivalue_tensor(zero)}, 1, out),
      "Pivots given to lu_solve");
  tensor_release(pivots);
  tensor_release(wide);
  tensor_release(ints);
  tensor_release(zero);
  tensor_release(vector);
}

static void test_without_memory(void **state) {
  (void)state;
  static OpRef lstsq = OP_REF("aten::linalg_lstsq", "");
  Tensor *a = matrix(DTYPE_FLOAT64, 3, SIZES(2, 4, 2)), *b = matrix(DTYPE_FLOAT64, 3, SIZES(1, 4, 3));
  Status status = status_out_of_memory();
  for (int64_t n = 1; status != OK && n < 200; n++) {
    status_free(status);
    IValue out[4] = {IVALUE_NONE, IVALUE_NONE, IVALUE_NONE, IVALUE_NONE};
    mem_fail_after(n);
    status = op_call(&exec, &lstsq, 2, (IValue[]){ivalue_tensor(a), ivalue_tensor(b)}, 4, out);
    mem_fail_after(0);
    release_all(4, out);
  }
  check(status);
  tensor_release(a);
  tensor_release(b);
}

/* ---- einsum ---- */
static Status einsum(const char *equation, size_t count, Tensor *const *operands, Tensor **out) {
  static OpRef ref = OP_REF("aten::einsum", "");
  IValue text, result = IVALUE_NONE;
  List *list;
  text = text_value(equation);
  check(list_new(TYPE(TENSOR), count, &list));
  for (size_t i = 0; i < count; i++) check(list_append(list, ivalue_tensor(tensor_retain(operands[i]))));
  Status status = op_call(&exec, &ref, 2, (IValue[]){text, ivalue_list(list)}, 1, &result);
  ivalue_release(text);
  ivalue_release(ivalue_list(list));
  *out = status == OK ? result.tensor : NULL;
  return status;
}
static void test_einsum(void **state) {
  (void)state;
  Tensor *a = matrix(DTYPE_FLOAT64, 3, SIZES(2, 3, 4)), *b = matrix(DTYPE_FLOAT64, 2, SIZES(4, 3)),
         *square = matrix(DTYPE_FLOAT64, 2, SIZES(3, 3)), *out;
  check(einsum("...ik, kj -> j...i", 2, (Tensor *[]){a, b}, &out));
  assert_string_equal(SIZES_TEXT(out->ndim, out->sizes), "[3, 2, 3]");
  Tensor *dense;
  check(tensor_contiguous(out, &dense));
  for (int64_t j = 0; j < 3; j++)
    for (int64_t p = 0; p < 2; p++)
      for (int64_t i = 0; i < 3; i++) {
        complex128 sum = 0;
        for (int64_t k = 0; k < 4; k++) sum += at(a, (p * 3 + i) * 4 + k) * at(b, k * 3 + j);
        assert_true(cabs(sum - at(dense, (j * 2 + p) * 3 + i)) < 1e-12);
      }
  tensor_release(dense);
  tensor_release(out);
  check(einsum("ii", 1, (Tensor *[]){square}, &out));
  assert_int_equal(out->ndim, 0);
  assert_true(cabs(at(out, 0) - at(square, 0) - at(square, 4) - at(square, 8)) < 1e-12);
  tensor_release(out);
  check_error(einsum("ij,jk", 1, (Tensor *[]){square}, &out), "fewer operands were provided than specified");
  check_error(einsum("ij", 2, (Tensor *[]){square, b}, &out), "more operands were provided than specified");
  check_error(einsum("ij->ik", 1, (Tensor *[]){square}, &out), "output subscript k does not appear");
  check_error(einsum("i.j", 1, (Tensor *[]){square}, &out), "not part of any ellipsis");
  check_error(einsum("ij,jk", 2, (Tensor *[]){square, b}, &out), "does not broadcast");
  check_error(einsum("i\xff", 1, (Tensor *[]){square}, &out), "invalid subscript");
  tensor_release(a);
  tensor_release(b);
  tensor_release(square);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_inverse_of_a_batch),
      cmocka_unit_test(test_solve_from_either_side),
      cmocka_unit_test(test_svd_multiplies_back),
      cmocka_unit_test(test_eigenvectors_of_a_rotation),
      cmocka_unit_test(test_empty_matrices),
      cmocka_unit_test(test_errors_name_the_function),
      cmocka_unit_test(test_qr_of_large_matrices),
      cmocka_unit_test(test_without_memory),
      cmocka_unit_test(test_einsum),
  };
  return cmocka_run_group_tests(tests, setup, NULL);
}
