/* Quantizers: the integers of numbers and back, views of per-channel tensors, copies, what is refused, text. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <math.h>

#include "tensor/quantizer.h"

#define SIZES(...) \
  (int64_t[]) {    \
    __VA_ARGS__    \
  }

static Tensor *numbers(int ndim, const int64_t *sizes, const float *values) {
  Tensor *t;
  assert_null(tensor_empty(DTYPE_FLOAT32, ndim, sizes, &t));
  memcpy(tensor_data(t), values, (size_t)t->numel * sizeof *values);
  return t;
}
static Quantizer *per_tensor(double scale, int64_t zero_point) {
  Quantizer *q;
  assert_null(quantizer_new_per_tensor(scale, zero_point, &q));
  return q;
}
static Quantizer *per_channel(const float *scales, const int64_t *zero_points, int64_t count, int64_t axis) {
  Quantizer *q;
  Tensor *zeros, *s = numbers(1, &count, scales);
  assert_null(tensor_empty(DTYPE_INT64, 1, &count, &zeros));
  memcpy(tensor_data(zeros), zero_points, (size_t)count * sizeof *zero_points);
  assert_null(quantizer_new_per_channel(s, zeros, axis, &q));
  tensor_release(s);
  tensor_release(zeros);
  return q;
}

static void rounds_to_even_and_saturates(void **state) {
  (void)state;
  const float values[] = {0.5f, 1.5f, -0.5f, 1000, -1000, 2.6f, NAN, -INFINITY};
  static const struct {
    DType dtype;
    int64_t expected[6];
  } rows[] = {{DTYPE_QUINT8, {10, 12, 10, 255, 0, 13}},
              {DTYPE_QINT8, {10, 12, 10, 127, -128, 13}},
              {DTYPE_QINT32, {10, 12, 10, 1010, -990, 13}}};
  for (size_t r = 0; r < sizeof rows / sizeof *rows; r++) {
    Tensor *from = numbers(1, SIZES(8), values), *q, *integers;
    Quantizer *how = per_tensor(1, 10);
    assert_null(tensor_quantize(from, rows[r].dtype, how, &q));
    assert_null(tensor_int_repr(q, &integers));
    for (int i = 0; i < 6; i++) {
      int64_t got;
      dtype_convert(DTYPE_INT64, &got, 1, (DType)integers->dtype,
                    (const char *)tensor_data(integers) + i * (int)dtype_size((DType)integers->dtype), 1, 1);
      assert_int_equal(got, rows[r].expected[i]);
    }
    tensor_release(integers);
    tensor_release(q);
    tensor_release(from);
    quantizer_release(how);
  }
}

static void views_keep_each_channel_its_scale(void **state) {
  (void)state;
  const float values[] = {1, 2, 3, 10, 20, 30};
  Quantizer *how = per_channel((const float[]){1, 10}, (const int64_t[]){0, 5}, 2, 0);
  Tensor *from = numbers(2, SIZES(2, 3), values), *q, *view, *back;
  assert_null(tensor_quantize(from, DTYPE_QINT8, how, &q));
  assert_null(tensor_select(q, 0, 1, &view));
  assert_true(quantizer_is_per_tensor(tensor_quantizer(view)) && tensor_quantizer(view)->scale == 10);
  assert_null(tensor_dequantize(view, &back));
  assert_memory_equal(tensor_data(back), values + 3, 3 * sizeof *values);
  tensor_release(back);
  tensor_release(view);
  assert_null(tensor_transpose(q, 0, 1, &view));
  assert_int_equal(tensor_quantizer(view)->axis, 1);
  assert_null(tensor_dequantize(view, &back));
  assert_true(tensor_item_double(back) == 1 || back->numel == 6);
  tensor_release(back);
  tensor_release(view);
  assert_null(tensor_slice(q, 0, 1, 2, 1, &view));
  assert_int_equal(tensor_quantizer(view)->scales->numel, 1);
  tensor_release(view);
  assert_null(tensor_view_sizes(q, 1, SIZES(6), &view)); /* has six channels now, of two: its numbers can't be told */
  Status status = tensor_dequantize(view, &back);
  assert_non_null(status);
  status_free(status);
  tensor_release(view);
  tensor_release(q);
  tensor_release(from);
  quantizer_release(how);
}

static void copies_take_the_quantizer_along(void **state) {
  (void)state;
  Quantizer *one = per_tensor(1, 0), *half = per_tensor(0.5, 3);
  Tensor *from = numbers(1, SIZES(2), (const float[]){1, 2}), *a, *b, *c;
  assert_null(tensor_quantize(from, DTYPE_QUINT8, one, &a));
  assert_null(tensor_quantize(from, DTYPE_QUINT8, half, &b));
  assert_null(tensor_clone(b, &c));
  assert_true(tensor_is_quantized(c) && quantizer_equal(tensor_quantizer(c), half));
  assert_null(tensor_copy(a, b, 1));
  assert_true(quantizer_equal(tensor_quantizer(a), half));
  assert_int_equal(((uint8_t *)tensor_data(a))[0], 5);
  assert_null(tensor_copy(c, from, 1)); /* numbers are quantized */
  assert_int_equal(((uint8_t *)tensor_data(c))[1], 7);
  Status status = tensor_copy(from, a, 1);
  assert_non_null(status);
  status_free(status);
  tensor_release(a);
  tensor_release(b);
  tensor_release(c);
  tensor_release(from);
  quantizer_release(one);
  quantizer_release(half);
}

static void refuses_channels_that_do_not_fit(void **state) {
  (void)state;
  Quantizer *how = per_channel((const float[]){1, 10}, (const int64_t[]){0, 5}, 2, 1);
  Tensor *from = numbers(2, SIZES(2, 3), (const float[]){1, 2, 3, 4, 5, 6}), *q;
  Status status = tensor_quantize(from, DTYPE_QINT8, how, &q);
  assert_non_null(status);
  status_free(status);
  status = quantizer_check_scale(DTYPE_QINT8, 1, 128);
  assert_non_null(status);
  status_free(status);
  tensor_release(from);
  quantizer_release(how);
}

static void packs_two_to_a_byte(void **state) {
  (void)state;
  const float values[] = {1, 2, 3, 4, 5, 6};
  Quantizer *how = per_tensor(1, 0);
  Tensor *from = numbers(2, SIZES(2, 3), values), *q, *back;
  assert_null(tensor_quantize(from, DTYPE_QUINT4X2, how, &q));
  assert_int_equal(((uint8_t *)tensor_data(q))[0], 0x21); /* a row begins at a byte */
  assert_int_equal(((uint8_t *)tensor_data(q))[2], 0x54);
  assert_null(tensor_dequantize(q, &back));
  assert_memory_equal(tensor_data(back), values, sizeof values);
  tensor_release(back);
  tensor_release(q);
  tensor_release(from);
  quantizer_release(how);
}

static void prints_how_it_is_quantized(void **state) {
  (void)state;
  Quantizer *how = per_tensor(0.1, 10);
  Tensor *from = numbers(2, SIZES(1, 2), (const float[]){-0.1f, -0.8f}), *q;
  StrBuf text = {0};
  assert_null(tensor_quantize(from, DTYPE_QUINT8, how, &q));
  assert_null(tensor_print(q, &text));
  strbuf_char(&text, 0);
  assert_string_equal(
      text.data,
      "-0.1000 -0.8000\n[ QuantizedCPUQUInt8Type{1,2}, qscheme: per_tensor_affine, scale: 0.1000, zero_point: 10 ]");
  strbuf_dispose(&text);
  tensor_release(q);
  tensor_release(from);
  quantizer_release(how);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(rounds_to_even_and_saturates),
      cmocka_unit_test(views_keep_each_channel_its_scale),
      cmocka_unit_test(copies_take_the_quantizer_along),
      cmocka_unit_test(refuses_channels_that_do_not_fit),
      cmocka_unit_test(packs_two_to_a_byte),
      cmocka_unit_test(prints_how_it_is_quantized),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
