/* Tensors, storage and views: one block, shared storage, checked bounds. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "base/cache.h"

#include "tensor/tensor.h"

#define SIZES(...) \
  (int64_t[]) {    \
    __VA_ARGS__    \
  }

static void expect_error(Status status, const char *message) {
  assert_non_null(status);
  assert_string_equal(status->message, message);
  status_free(status);
}

static Tensor *arange(int ndim, const int64_t *sizes) {
  Tensor *t;
  assert_null(tensor_empty(DTYPE_INT32, ndim, sizes, &t));
  for (int64_t i = 0; i < t->numel; i++) ((int32_t *)tensor_data(t))[i] = (int32_t)i;
  return t;
}

static void expect_ints(const Tensor *t, int64_t count, const int64_t *expected) {
  Tensor *row_major;
  assert_int_equal(t->numel, count);
  assert_null(tensor_contiguous(t, &row_major));
  for (int64_t i = 0; i < count; i++) assert_int_equal(((int32_t *)tensor_data(row_major))[i], expected[i]);
  tensor_release(row_major);
}

static void view_outlives_its_tensor(void **state) {
  (void)state;
  Tensor *t = arange(2, SIZES(2, 3)), *row;
  assert_null(tensor_select(t, 0, -1, &row));
  tensor_release(t);
  expect_ints(row, 3, SIZES(3, 4, 5));
  tensor_release(row);
}

static void set_storage_keeps_the_block(void **state) {
  (void)state;
  Tensor *t = arange(1, SIZES(4)), *other = arange(1, SIZES(6)), *view;
  assert_null(tensor_alias(t, &view));
  assert_null(tensor_set_storage(t, other->storage, 1, 1, SIZES(3), NULL));
  tensor_release(other);
  expect_ints(t, 3, SIZES(1, 2, 3));
  tensor_release(t);
  expect_ints(view, 4, SIZES(0, 1, 2, 3));
  tensor_release(view);
}

static void resize_keeps_content(void **state) {
  (void)state;
  Tensor *t = arange(1, SIZES(4));
  assert_null(tensor_resize(t, 2, SIZES(40, 100)));
  assert_int_equal(((int32_t *)tensor_data(t))[3], 3);
  assert_int_equal(t->numel, 4000);
  assert_null(tensor_resize(t, 1, SIZES(2)));
  expect_ints(t, 2, SIZES(0, 1));
  tensor_release(t);
}

static void refuses_bad_sizes(void **state) {
  (void)state;
  Tensor *t;
  expect_error(tensor_empty(DTYPE_FLOAT32, 2, SIZES(-1, 2), &t),
               "Trying to create tensor with negative dimension -1: [-1, 2]");
  expect_error(tensor_empty(DTYPE_FLOAT32, 3, SIZES(INT64_C(1) << 62, INT64_C(1) << 62, 0), &t),
               "Storage size calculation overflowed with sizes=[4611686018427387904, 4611686018427387904, 0]");
  expect_error(tensor_empty(DTYPE_FLOAT32, 1, SIZES(INT64_C(1) << 50), &t),
               "can't allocate memory: you tried to allocate 4503599627370496 bytes");
  assert_null(t);
  /* as a file may ask for */
  expect_error(tensor_check_extent(64, DTYPE_FLOAT32, 1, SIZES(INT64_MIN), SIZES(0), 0),
               "Storage size calculation overflowed with sizes=[-9223372036854775808] and strides=[0]");
}

static void views_show_what_they_should(void **state) {
  (void)state;
  Tensor *t = arange(2, SIZES(3, 4)), *v, *w;
  assert_null(tensor_transpose(t, 0, 1, &v));
  expect_ints(v, 12, SIZES(0, 4, 8, 1, 5, 9, 2, 6, 10, 3, 7, 11));
  assert_null(tensor_view_sizes(v, 1, SIZES(-1), &w));
  assert_null(w); /* no view can show it */
  tensor_release(v);
  assert_null(tensor_slice(t, 1, -3, INT64_MAX, 2, &v));
  expect_ints(v, 6, SIZES(1, 3, 5, 7, 9, 11));
  assert_null(tensor_view_sizes(v, 3, SIZES(3, 2, 1), &w));
  expect_ints(w, 6, SIZES(1, 3, 5, 7, 9, 11));
  tensor_release(w);
  assert_null(tensor_unsqueeze(v, 1, &w));
  tensor_release(v);
  assert_null(tensor_expand(w, 3, SIZES(-1, 2, -1), &v));
  expect_ints(v, 12, SIZES(1, 3, 1, 3, 5, 7, 5, 7, 9, 11, 9, 11));
  assert_false(v->contiguous);
  expect_error(tensor_check_writable(v),
               "unsupported operation: more than one element of the written-to tensor refers to a single "
               "memory location. Please clone() the tensor before performing the operation.");
  tensor_release(v);
  assert_null(tensor_squeeze_dim(w, 1, &v));
  assert_int_equal(v->ndim, 2);
  tensor_release(v);
  tensor_release(w);
  assert_null(tensor_narrow(t, 0, 1, 2, &v));
  expect_ints(v, 8, SIZES(4, 5, 6, 7, 8, 9, 10, 11));
  tensor_release(v);
  assert_null(tensor_permute(t, SIZES(-1, 0), &v));
  assert_int_equal(v->sizes[0], 4);
  tensor_release(v);
  tensor_release(t);
}

static void views_refuse(void **state) {
  (void)state;
  Tensor *t = arange(2, SIZES(3, 4)), *scalar = arange(0, NULL), *v;
  expect_error(tensor_select(t, 0, 5, &v), "select(): index 5 out of range for tensor of size [3, 4] at dimension 0");
  expect_error(tensor_select(scalar, 0, 0, &v), "select() cannot be applied to a 0-dim tensor.");
  expect_error(tensor_slice(t, 0, 0, 1, 0, &v), "slice step must be positive");
  expect_error(tensor_transpose(t, 0, 2, &v), "Dimension out of range (expected to be in range of [-2, 1], but got 2)");
  expect_error(tensor_narrow(t, 0, 1, 3, &v), "start (1) + length (3) exceeds dimension size (3).");
  expect_error(tensor_permute(t, SIZES(0, 0), &v), "permute(): duplicate dims are not allowed.");
  expect_error(tensor_view_sizes(t, 2, SIZES(5, -1), &v), "shape '[5, -1]' is invalid for input of size 12");
  expect_error(tensor_expand(t, 2, SIZES(2, 4), &v),
               "The expanded size of the tensor (2) must match the existing size (3) at "
               "non-singleton dimension 0.  Target sizes: [2, 4].  Tensor sizes: [3, 4]");
  expect_error(tensor_as_strided(t, 1, SIZES(2), SIZES(100), 0, &v),
               "setStorage: sizes [2], strides [100], storage offset 0, and itemsize 4 requiring a storage size of 404 "
               "are out of "
               "bounds for storage of size 48");
  expect_error(tensor_as_strided(t, 1, SIZES(2), SIZES(-1), 0, &v),
               "as_strided: Negative strides are not supported at the moment, got strides: [-1]");
  expect_error(tensor_as_strided(t, 1, SIZES(0), SIZES(1), -1, &v), "Tensor: invalid storage offset -1");
  tensor_release(t);
  tensor_release(scalar);
}

static void many_dimensions_use_the_heap(void **state) {
  (void)state;
  Tensor *t = arange(8, SIZES(1, 2, 1, 2, 1, 2, 1, 2)), *v;
  assert_null(tensor_permute(t, SIZES(7, 6, 5, 4, 3, 2, 1, 0), &v));
  expect_ints(v, 16, SIZES(0, 8, 4, 12, 2, 10, 6, 14, 1, 9, 5, 13, 3, 11, 7, 15));
  tensor_release(t);
  tensor_release(v);
}

static void knows_memory_formats(void **state) {
  (void)state;
  int64_t strides[4], sizes[] = {2, 3, 4, 5};
  strides_channels_last(4, sizes, strides);
  Tensor *t, *like, *half;
  assert_null(tensor_empty_strided(DTYPE_FLOAT32, 4, sizes, strides, &t));
  assert_true(tensor_is_channels_last(t) && tensor_is_dense(t) && !t->contiguous);
  assert_int_equal(tensor_suggested_format(t), FORMAT_CHANNELS_LAST);
  assert_null(tensor_empty_like(t, &like));
  assert_memory_equal(like->strides, strides, sizeof strides);
  assert_null(tensor_narrow(t, 1, 0, 2, &half)); /* gaps, but still in this order of dimensions */
  assert_int_equal(tensor_suggested_format(half), FORMAT_CHANNELS_LAST);
  tensor_release(like);
  assert_null(tensor_empty_like(half, &like));
  assert_true(tensor_is_channels_last(like));
  tensor_release(half);
  tensor_release(like);
  tensor_release(t);
}

static void undefined_is_shared(void **state) {
  (void)state;
  Tensor *a = tensor_undefined(), *b = tensor_undefined();
  assert_ptr_equal(a, b);
  assert_false(tensor_is_defined(a));
  assert_int_equal(a->numel, 0);
  tensor_release(a);
  tensor_release(b);
}

static void parses_devices(void **state) {
  (void)state;
  Device d;
  assert_null(device_parse(STR("cuda:1"), &d));
  assert_true(d.type == DEVICE_CUDA && d.index == 1);
  assert_null(device_parse(STR("cpu"), &d));
  assert_true(device_equal(d, DEVICE_CPU_0));
  expect_error(device_parse(STR("cuda:01"), &d), "Invalid device string: 'cuda:01'");
  expect_error(device_parse(STR(""), &d), "Device string must not be empty");
  status_free(device_parse(STR("toaster"), &d));
}

static void frees_when_allocation_fails(void **state) {
  (void)state;
  for (int n = 1; n < 6; n++) {
    Tensor *t = NULL, *v = NULL;
    mem_fail_after(n);
    Status status = tensor_empty(DTYPE_FLOAT32, 7, SIZES(1, 1, 1, 1, 1, 1, 64), &t);
    if (!status) status = tensor_unsqueeze(t, 0, &v);
    mem_fail_after(0);
    status_free(status);
    tensor_release(v);
    tensor_release(t);
  }
}

/* What the build for tests promises: what is released is overwritten, and one block is kept for another use. */
static void released_memory_is_hostile(void **state) {
  (void)state;
#ifndef WICK_HOSTILE
  skip();
#else
  enum { BYTES = 100000 };
  Storage *storage[2];
  cache_trim(NULL);
  for (int i = 0; i < 2; i++) {
    assert_null(storage_new(BYTES, &storage[i]));
    memset(storage[i]->data, 0, BYTES);
  }
  for (int i = 0; i < 2; i++) storage_release(storage[i]);
  assert_in_range(cache_bytes(NULL), BYTES, 2 * BYTES - 1);
  unsigned char *again = cache_alloc(BYTES);
  for (size_t i = 2 * sizeof(void *); i < BYTES; i++)
    assert_int_equal(again[i], 0xff); /* before: what the cache notes */
  cache_free(again, BYTES);
#endif
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(view_outlives_its_tensor),     cmocka_unit_test(set_storage_keeps_the_block),
      cmocka_unit_test(resize_keeps_content),         cmocka_unit_test(refuses_bad_sizes),
      cmocka_unit_test(views_show_what_they_should),  cmocka_unit_test(views_refuse),
      cmocka_unit_test(many_dimensions_use_the_heap), cmocka_unit_test(knows_memory_formats),
      cmocka_unit_test(undefined_is_shared),          cmocka_unit_test(parses_devices),
      cmocka_unit_test(frees_when_allocation_fails),  cmocka_unit_test(released_memory_is_hostile)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
