/* Fourier transforms against the sum that defines them; there and back; errors. */
#include "call/call.h"
#include "checks.h"

/* after the headers: it defines `complex` */
#include <complex.h>
#include <math.h>

static Exec exec;
static int setup(void **state) {
  (void)state;
  exec_init(&exec, NULL);
  return 0;
}

static Tensor *signal(DType dtype, int64_t rows, int64_t cols) {
  Tensor *t;
  check(tensor_empty(dtype, 2, SIZES(rows, cols), &t));
  for (int64_t i = 0; i < t->numel; i++) {
    complex128 value = sin(1.3 * (double)i) + cos(0.7 * (double)i) * I;
    dtype_convert(dtype, (char *)tensor_data(t) + i * (int64_t)dtype_size(dtype), 0, DTYPE_COMPLEX128, &value, 0, 1);
  }
  return t;
}
static complex128 at(const Tensor *t, int64_t i) {
  complex128 value;
  dtype_convert(DTYPE_COMPLEX128, &value, 0, (DType)t->dtype,
                (char *)tensor_data(t) + i * (int64_t)dtype_size((DType)t->dtype), 0, 1);
  return value;
}
/* (self, n, dim, norm) */
static Status fft(OpRef *ref, Tensor *t, IValue n, int64_t dim, const char *norm, Tensor **out) {
  IValue text = IVALUE_NONE, result = IVALUE_NONE;
  if (norm) text = text_value(norm);
  Status status = op_call(&exec, ref, 4, (IValue[]){ivalue_tensor(t), n, ivalue_int(dim), text}, 1, &result);
  ivalue_release(text);
  *out = status == OK ? result.tensor : NULL;
  return status;
}
static bool missing(Status status) {
  bool is = status && status->code == ERROR_UNSUPPORTED;
  if (is) print_message("%s: skipped\n", status->message);
  if (is) status_free(status);
  return is;
}

static OpRef fft_ref = OP_REF("aten::fft_fft", ""), ifft_ref = OP_REF("aten::fft_ifft", ""),
             rfft_ref = OP_REF("aten::fft_rfft", ""), irfft_ref = OP_REF("aten::fft_irfft", ""),
             hfft_ref = OP_REF("aten::fft_hfft", ""), ihfft_ref = OP_REF("aten::fft_ihfft", "");

static void test_against_the_definition(void **state) {
  (void)state;
  static const DType types[] = {DTYPE_COMPLEX64, DTYPE_COMPLEX128, DTYPE_FLOAT32, DTYPE_FLOAT64};
  for (int d = 0; d < 4; d++) {
    Tensor *x = signal(types[d], 5, 3), *y;
    Status status = fft(&fft_ref, x, IVALUE_NONE, 0, "ortho", &y);
    if (missing(status)) {
      tensor_release(x);
      skip();
    }
    check(status);
    for (int64_t k = 0; k < 5; k++)
      for (int64_t c = 0; c < 3; c++) {
        complex128 sum = 0;
        for (int64_t i = 0; i < 5; i++) sum += at(x, i * 3 + c) * cexp(-2 * M_PI * I * (double)(i * k) / 5) / sqrt(5);
        assert_true(cabs(sum - at(y, k * 3 + c)) < (d % 2 ? 1e-12 : 1e-5));
      }
    tensor_release(x);
    tensor_release(y);
  }
}

static void test_there_and_back(void **state) {
  (void)state;
  struct {
    OpRef *there, *back;
    DType dtype;
  } pairs[] = {{&fft_ref, &ifft_ref, DTYPE_COMPLEX128},
               {&rfft_ref, &irfft_ref, DTYPE_FLOAT64},
               {&ihfft_ref, &hfft_ref, DTYPE_FLOAT64}};
  for (int p = 0; p < 3; p++)
    for (int64_t n = 1; n < 8; n++) {
      Tensor *x = signal(pairs[p].dtype, 2, n), *y, *z;
      Status status = fft(pairs[p].there, x, IVALUE_NONE, -1, NULL, &y);
      if (missing(status)) {
        tensor_release(x);
        skip();
      }
      check(status);
      check(fft(pairs[p].back, y, ivalue_int(n), -1, NULL, &z));
      assert_true(tensor_same_sizes(x, z) && x->dtype == z->dtype);
      for (int64_t i = 0; i < x->numel; i++) assert_true(cabs(at(x, i) - at(z, i)) < 1e-12);
      tensor_release(x);
      tensor_release(y);
      tensor_release(z);
    }
}

static void test_an_empty_batch(void **state) {
  (void)state;
  const struct {
    OpRef *ref;
    DType from, to;
    int64_t length;
  } cases[] = {{&fft_ref, DTYPE_FLOAT32, DTYPE_COMPLEX64, 3},
               {&rfft_ref, DTYPE_FLOAT32, DTYPE_COMPLEX64, 2},
               {&irfft_ref, DTYPE_COMPLEX64, DTYPE_FLOAT32, 4},
               {&hfft_ref, DTYPE_COMPLEX64, DTYPE_FLOAT32, 4},
               {&ihfft_ref, DTYPE_FLOAT32, DTYPE_COMPLEX64, 2}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    Tensor *x, *y;
    check(tensor_empty(cases[i].from, 2, SIZES(0, 3), &x));
    Status status = fft(cases[i].ref, x, IVALUE_NONE, -1, NULL, &y);
    tensor_release(x);
    if (missing(status)) skip();
    check(status);
    assert_int_equal(y->dtype, cases[i].to);
    assert_int_equal(y->sizes[0], 0);
    assert_int_equal(y->sizes[1], cases[i].length);
    tensor_release(y);
  }
}

static void test_errors(void **state) {
  (void)state;
  Tensor *x = signal(DTYPE_FLOAT32, 2, 3), *half = signal(DTYPE_FLOAT16, 2, 3), *z = signal(DTYPE_COMPLEX64, 2, 3), *y;
  static OpRef fftn = OP_REF("aten::fft_fftn", ""), c2r = OP_REF("aten::_fft_c2r", "");
  check_error(fft(&fft_ref, x, IVALUE_NONE, 0, "none", &y), "Invalid normalization mode: \"none\"");
  check_error(fft(&fft_ref, x, ivalue_int(0), 0, NULL, &y), "Invalid number of data points (0) specified");
  check_error(fft(&fft_ref, x, IVALUE_NONE, 2, NULL, &y), "Dimension out of range");
  check_error(fft(&fft_ref, half, IVALUE_NONE, 0, NULL, &y), "Unsupported dtype Half");
  check_error(fft(&rfft_ref, z, IVALUE_NONE, 0, NULL, &y), "rfft expects a real input tensor, but got ComplexFloat");
  List *twice;
  IValue result = IVALUE_NONE;
  check(list_from_ints(SIZES(0, -2), 2, &twice));
  check_error(op_call(&exec, &fftn, 3, (IValue[]){ivalue_tensor(x), IVALUE_NONE, ivalue_list(twice)}, 1, &result),
              "FFT dims must be unique");
  ivalue_release(ivalue_list(twice));
  check(list_from_ints(SIZES(1), 1, &twice)); /* would read beyond the input */
  check_error(op_call(&exec, &c2r, 4, (IValue[]){ivalue_tensor(z), ivalue_list(twice), ivalue_int(0), ivalue_int(100)},
                      1, &result),
              "needs 51 complex ones, but got 3");
  ivalue_release(ivalue_list(twice));
  tensor_release(x);
  tensor_release(half);
  tensor_release(z);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_against_the_definition),
      cmocka_unit_test(test_there_and_back),
      cmocka_unit_test(test_an_empty_batch),
      cmocka_unit_test(test_errors),
  };
  return cmocka_run_group_tests(tests, setup, NULL);
}
