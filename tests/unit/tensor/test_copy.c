/* Copies over all pairs of dtypes, all strides, lazy conjugation; and the iteration they stand on. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <math.h>

#include "tensor/iterate.h"

#define SIZES(...) \
  (int64_t[]) {    \
    __VA_ARGS__    \
  }

/* Of those that hold 100; the tests of float8 are their own. */
static bool is_plain(int dtype) {
  return dtype_is_valid(dtype) && !dtype_is_quantized((DType)dtype) && !dtype_is_float8((DType)dtype);
}

static void converts_all_pairs(void **state) {
  (void)state;
  for (int from = 0; from < DTYPE_COUNT; from++) {
    for (int to = 0; to < DTYPE_COUNT; to++) {
      if (!is_plain(from) || !is_plain(to)) continue;
      double numbers[3] = {0, 1, 100}, back[3];
      complex128 source[6], target[6]; /* room for the widest, every second element used */
      dtype_convert((DType)from, source, 2, DTYPE_FLOAT64, numbers, 1, 3);
      dtype_convert((DType)to, target, 2, (DType)from, source, 2, 3);
      dtype_convert(DTYPE_FLOAT64, back, 1, (DType)to, target, 2, 3);
      bool is_bool = from == DTYPE_BOOL || to == DTYPE_BOOL;
      assert_true(back[0] == 0 && back[1] == 1 && back[2] == (is_bool ? 1 : 100));
      dtype_convert((DType)to, target, 1, (DType)from, source, 0, 3); /* one element broadcast */
      dtype_convert(DTYPE_FLOAT64, back, 1, (DType)to, target, 1, 3);
      assert_true(back[0] == 0 && back[2] == 0);
    }
  }
}

/* Lines of halves against halves one at a time; lengths that are no multiple of a vector's. */
static void converts_lines_of_halves(void **state) {
  (void)state;
  enum { N = 37 };
  for (uint32_t first = 0; first < 0x10000; first += N) {
    uint16_t halves[N], back[N];
    float wide[N], between[N];
    for (uint32_t i = 0; i < N; i++) halves[i] = (uint16_t)(first + i);
    dtype_convert(DTYPE_FLOAT32, wide, 1, DTYPE_FLOAT16, halves, 1, N);
    for (int i = 0; i < N; i++) {
      float expected = half_to_float(halves[i]);
      assert_true(wide[i] == expected || (isnan(wide[i]) && isnan(expected)));
      between[i] = isnan(expected) ? NAN : expected * 1.00048828125f; /* a tie, with what is denormal among them */
    }
    dtype_convert(DTYPE_FLOAT16, back, 1, DTYPE_FLOAT32, between, 1, N);
    for (int i = 0; i < N; i++) assert_int_equal(back[i], half_from_float(between[i]));
  }
}

static void converts_out_of_range_numbers(void **state) {
  (void)state;
  const float wild[] = {1e20f, NAN, -1e20f, 300.f, -1.5f, 3e9f};
  static const struct {
    DType dtype;
    int64_t expected[6];
  } rows[] = {{DTYPE_UINT8, {0, 0, 0, 44, 255, 0}},
              {DTYPE_INT8, {0, 0, 0, 44, -1, 0}},
              {DTYPE_INT16, {0, 0, 0, 300, -1, 0}},
              {DTYPE_INT32, {INT32_MIN, INT32_MIN, INT32_MIN, 300, -1, INT32_MIN}},
              {DTYPE_INT64, {INT64_MIN, INT64_MIN, INT64_MIN, 300, -1, 3000000000}},
              {DTYPE_BOOL, {1, 1, 1, 1, 1, 1}}};
  for (size_t r = 0; r < sizeof rows / sizeof *rows; r++) {
    int64_t raw[6], got[6];
    dtype_convert(rows[r].dtype, raw, 1, DTYPE_FLOAT32, wild, 1, 6);
    dtype_convert(DTYPE_INT64, got, 1, rows[r].dtype, raw, 1, 6);
    assert_memory_equal(got, rows[r].expected, sizeof got);
  }
}

static void rounds_halves(void **state) {
  (void)state;
  for (uint32_t bits = 0; bits < 0x10000; bits++) {
    float f = half_to_float((uint16_t)bits);
    if (isnan(f))
      assert_true(isnan(half_to_float(half_from_float(f))));
    else
      assert_int_equal(half_from_float(f), bits);
  }
  assert_int_equal(half_from_float(65519.f), 0x7bff);
  assert_int_equal(half_from_float(65520.f), 0x7c00);
  assert_int_equal(half_from_float(0x1p-25f), 0); /* a tie goes to even */
  assert_int_equal(bfloat16_from_float(1.00390625f), 0x3f80);
}

static Tensor *numbered(DType dtype, int ndim, const int64_t *sizes) {
  Tensor *t;
  assert_null(tensor_empty(dtype, ndim, sizes, &t));
  for (int64_t i = 0; i < t->numel; i++)
    dtype_convert(dtype, (char *)tensor_data(t) + (size_t)i * dtype_size(dtype), 1, DTYPE_INT64, &i, 1, 1);
  return t;
}

static void transposes_in_blocks(void **state) {
  (void)state;
  static const DType dtypes[] = {DTYPE_UINT8, DTYPE_FLOAT16, DTYPE_FLOAT32, DTYPE_FLOAT64, DTYPE_COMPLEX128};
  for (int k = 0; k < 5; k++) {
    Tensor *t = numbered(dtypes[k], 3, SIZES(3, 70, 45)), *turned, *copy;
    assert_null(tensor_transpose(t, 1, 2, &turned));
    assert_null(tensor_empty(dtypes[k], 3, turned->sizes, &copy));
    assert_null(tensor_copy(copy, turned, 2));
    size_t item = dtype_size(dtypes[k]);
    for (int64_t b = 0; b < 3; b++)
      for (int64_t r = 0; r < 70; r++)
        for (int64_t c = 0; c < 45; c++)
          assert_memory_equal((char *)tensor_data(copy) + (size_t)((b * 45 + c) * 70 + r) * item,
                              (char *)tensor_data(t) + (size_t)((b * 70 + r) * 45 + c) * item, item);
    tensor_release(copy);
    tensor_release(turned);
    tensor_release(t);
  }
}

/* Planes of few columns, and of numbers that are no multiple of a block's. */
static void transposes_narrow_planes(void **state) {
  (void)state;
  static const int64_t rows[] = {1, 2, 3, 4, 5, 8, 33}, columns[] = {1, 4, 7, 35, 700};
  for (int i = 0; i < 7; i++)
    for (int j = 0; j < 5; j++) {
      Tensor *t = numbered(DTYPE_INT32, 3, SIZES(2, rows[i], columns[j])), *turned, *copy;
      assert_null(tensor_transpose(t, 1, 2, &turned));
      assert_null(tensor_empty(DTYPE_INT32, 3, turned->sizes, &copy));
      assert_null(tensor_copy(copy, turned, 1));
      const int32_t *got = tensor_data(copy);
      for (int64_t b = 0; b < 2; b++)
        for (int64_t c = 0; c < columns[j]; c++)
          for (int64_t r = 0; r < rows[i]; r++) assert_int_equal(*got++, (b * rows[i] + r) * columns[j] + c);
      tensor_release(copy);
      tensor_release(turned);
      tensor_release(t);
    }
}

/* Runs of every short length, between tensors of which the outer dimensions are turned, on one thread and on three. */
static void copies_runs(void **state) {
  (void)state;
  for (int64_t n = 1; n < 1100; n += n < 40 ? 1 : 97)
    for (int threads = 1; threads <= 3; threads += 2) {
      Tensor *t = numbered(DTYPE_INT32, 4, SIZES(3, 5, 7, n)), *turned, *copy;
      assert_null(tensor_transpose(t, 0, 2, &turned));
      assert_null(tensor_empty(DTYPE_INT32, 4, turned->sizes, &copy));
      assert_null(tensor_copy(copy, turned, threads));
      const int32_t *got = tensor_data(copy);
      for (int64_t c = 0; c < 7; c++)
        for (int64_t b = 0; b < 5; b++)
          for (int64_t a = 0; a < 3; a++)
            for (int64_t i = 0; i < n; i++) assert_int_equal(*got++, ((a * 5 + b) * 7 + c) * n + i);
      tensor_release(copy);
      tensor_release(turned);
      tensor_release(t);
    }
}

static void broadcasts_and_refuses(void **state) {
  (void)state;
  Tensor *row = numbered(DTYPE_INT64, 1, SIZES(3)), *t, *shifted, *head;
  assert_null(tensor_empty(DTYPE_FLOAT32, 2, SIZES(2, 3), &t));
  assert_null(tensor_copy(t, row, 1));
  assert_true(((float *)tensor_data(t))[5] == 2);
  Status status = tensor_copy(row, t, 1);
  assert_string_equal(status->message, "output with shape [3] doesn't match the broadcast shape [2, 3]");
  status_free(status);
  assert_null(tensor_narrow(row, 0, 1, 2, &shifted));
  assert_null(tensor_narrow(row, 0, 0, 2, &head));
  status = tensor_copy(shifted, head, 1);
  assert_non_null(status);
  status_free(status);
  assert_null(tensor_copy(head, head, 1));
  tensor_release(shifted);
  tensor_release(head);
  tensor_release(row);
  tensor_release(t);
}

static void resolves_conjugation(void **state) {
  (void)state;
  Tensor *t, *lazy, *copy;
  assert_null(tensor_empty(DTYPE_COMPLEX64, 1, SIZES(2), &t));
  complex64 *data = tensor_data(t);
  data[0] = __builtin_complex(1.f, 2.f);
  data[1] = __builtin_complex(3.f, -4.f);
  assert_null(tensor_alias(t, &lazy));
  lazy->flags |= TENSOR_CONJ;
  assert_null(tensor_contiguous(lazy, &copy));
  assert_ptr_not_equal(copy, lazy);
  assert_true(((complex64 *)tensor_data(copy))[1] == __builtin_complex(3.f, 4.f));
  assert_null(tensor_copy(t, lazy, 1)); /* onto itself */
  assert_true(data[0] == __builtin_complex(1.f, -2.f));
  assert_null(tensor_copy(lazy, copy, 1)); /* what is written is what is read */
  assert_true(tensor_item_complex(lazy) == tensor_item_complex(copy));
  tensor_release(copy);
  tensor_release(lazy);
  tensor_release(t);
}

static void sum_run(void *argument, int64_t n, char *const *data, const int64_t *strides) {
  for (int64_t i = 0; i < n; i++)
    *(int64_t *)argument = (*(int64_t *)argument * 31 + *(int64_t *)(data[0] + i * strides[0])) % 1000003;
}

static void runs_pieces_like_the_whole(void **state) {
  (void)state;
  Tensor *t = numbered(DTYPE_INT64, 3, SIZES(3, 4, 5)), *part;
  assert_null(tensor_slice(t, 2, 0, 5, 2, &part));
  Iterator it;
  int64_t whole = 0, pieces = 0;
  assert_null(iterator_init(&it, 1, (const Tensor *const[]){part}));
  assert_int_equal(it.ndim, 2); /* the outer two merge */
  iterator_run(&it, 0, it.numel, sum_run, &whole);
  for (int64_t i = 0; i < it.numel; i += 7) iterator_run(&it, i, i + 7 < it.numel ? i + 7 : it.numel, sum_run, &pieces);
  assert_int_equal(whole, pieces);
  tensor_release(part);
  tensor_release(t);
}

static void count_lines(void *argument, char *const *data, const int64_t *line_strides) {
  assert_int_equal(line_strides[0], 5 * 8);
  ((int64_t *)argument)[0]++;
  ((int64_t *)argument)[1] += *(int64_t *)data[0];
}

static void walks_lines(void **state) {
  (void)state;
  Tensor *t = numbered(DTYPE_INT64, 3, SIZES(3, 4, 5));
  int64_t lines[2] = {0, 0};
  assert_null(iterate_lines(1, (const Tensor *const[]){t}, 1, 1, count_lines, lines));
  assert_int_equal(lines[0], 15);
  assert_int_equal(lines[1], 330); /* the first elements of each line: 3 * (0+1+2+3+4) + 5 * (0+20+40) */
  tensor_release(t);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(converts_all_pairs),
                                     cmocka_unit_test(converts_lines_of_halves),
                                     cmocka_unit_test(converts_out_of_range_numbers),
                                     cmocka_unit_test(rounds_halves),
                                     cmocka_unit_test(transposes_in_blocks),
                                     cmocka_unit_test(transposes_narrow_planes),
                                     cmocka_unit_test(copies_runs),
                                     cmocka_unit_test(broadcasts_and_refuses),
                                     cmocka_unit_test(resolves_conjugation),
                                     cmocka_unit_test(runs_pieces_like_the_whole),
                                     cmocka_unit_test(walks_lines)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
