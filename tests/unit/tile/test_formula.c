/* Formula text to kernel text, choices, errors; and kernels run over contiguous, strided, repeated and narrow operands.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "tile/formula.h"

static const FormulaParameter parameters[] = {{STR("self"), FORMULA_TENSOR, false},
                                              {STR("other"), FORMULA_TENSOR, false},
                                              {STR("alpha"), FORMULA_NUMBER, false},
                                              {STR("mode"), FORMULA_TEXT, false},
                                              {STR("max"), FORMULA_NUMBER, true}};
enum { PARAMETERS = 5 };

static void must(Status status) {
  if (status) fail_msg("%s", status->message);
}

static void expect_kernel(const char *text, TileType compute, const TileArgument *arguments, const char *expected) {
  KernelProgram *program;
  const TileKernel *kernel;
  must(kernel_program_new(str_from(text), PARAMETERS, parameters, &program));
  must(kernel_program_kernel(program, compute, arguments, &kernel));
  StrBuf out = {0};
  kernel_print(kernel->ir, &out);
  assert_string_equal(out.data, expected);
  strbuf_dispose(&out);
  kernel_program_free(program);
}

static void formulas_become_kernels(void **state) {
  (void)state;
  TileArgument one[PARAMETERS] = {{.kind = TILE_ARG_TENSOR},
                                  {.kind = TILE_ARG_TENSOR},
                                  {.kind = TILE_ARG_INT, .i = 1},
                                  {.kind = TILE_ARG_TEXT, .text = STR("x")}};
  TileArgument half[PARAMETERS] = {{.kind = TILE_ARG_TENSOR},
                                   {.kind = TILE_ARG_TENSOR},
                                   {.kind = TILE_ARG_FLOAT, .f = 0.5},
                                   {.kind = TILE_ARG_NONE},
                                   {.kind = TILE_ARG_INT, .i = 3}};
  const char *add = "self + other if alpha == 1 else self + alpha * other";
  expect_kernel(add, TILE_F32, one,
                "kernel(%0: f32 self, %1: f32 other) {\n"
                "  %5: f32 = add %0, %1\n"
                "  return %5\n"
                "}\n");
  expect_kernel(add, TILE_F64, half,
                "kernel(%0: f64 self, %1: f64 other, %2: f64 alpha) {\n"
                "  %5: f64 = mul %2, %1\n"
                "  %6: f64 = add %0, %5\n"
                "  return %6\n"
                "}\n");
  expect_kernel("1 / (1 + exp(-self))", TILE_F32, one,
                "kernel(%0: f32 self) {\n"
                "  %5: f32 = constant 1\n"
                "  %6: f32 = neg %0\n"
                "  %7: f32 = exp %6\n"
                "  %8: f32 = add %5, %7\n"
                "  %9: f32 = div %5, %8\n"
                "  return %9\n"
                "}\n");
  expect_kernel("t = self * self; t + t, self if other else t", TILE_I64,
                one, /* other is a condition; t is made once */
                "kernel(%0: i64 self, %1: bool other) {\n"
                "  %5: i64 = mul %0, %0\n"
                "  %6: i64 = add %5, %5\n"
                "  %7: i64 = select %0, %5, %1\n"
                "  return %6, %7\n"
                "}\n");
  expect_kernel("self if max is None else max(self, max)", TILE_F32, one, "kernel(%0: f32 self) {\n  return %0\n}\n");
  expect_kernel("self if mode == 'x' else other", TILE_F32, one, "kernel(%0: f32 self) {\n  return %0\n}\n");
  expect_kernel("self if mode == 'x' else max(self, max)", TILE_F32, half,
                "kernel(%0: f32 self, %4: f32 max) {\n"
                "  %5: f32 = max %0, %4\n"
                "  return %5\n"
                "}\n");
  expect_kernel("-2 ** 2 * self < other and not self == 1", TILE_BOOL, one,
                "kernel(%0: bool self, %1: bool other) {\n"
                "  %5: i64 = constant 2\n"
                "  %6: i64 = constant 1\n"
                "  %7: i64 = square %5\n"
                "  %8: i64 = neg %7\n"
                "  %9: i64 = cast %0\n"
                "  %10: i64 = mul %8, %9\n"
                "  %11: i64 = cast %1\n"
                "  %12: bool = lt %10, %11\n"
                "  %13: bool = eq %9, %6\n"
                "  %14: bool = not %13\n"
                "  %15: bool = and %12, %14\n"
                "  return %15\n"
                "}\n");
}

static void bad_formulas_are_refused(void **state) {
  (void)state;
  static const char *const texts[] = {
      "",           "self +", "selfish", "exp(self, other)", "(self",    "self self", "self if other",
      "nope(self)", "1e",     "'x",      "t = self; u",      "mode + 1", "self is 1", "1.2.3 * self"};
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
    Formula *formula;
    Status status = formula_parse(str_from(texts[i]), PARAMETERS, parameters, &formula);
    if (!status) fail_msg("`%s` was accepted", texts[i]);
    assert_int_equal(status->code, ERROR_SYNTAX);
    status_free(status);
  }
  char deep[2048];
  memset(deep, '(', sizeof deep - 1);
  deep[sizeof deep - 1] = 0;
  Formula *formula;
  Status status = formula_parse(str_from(deep), PARAMETERS, parameters, &formula);
  assert_non_null(status);
  status_free(status);
}

static void meaningless_types_are_refused(void **state) {
  (void)state;
  static const struct {
    const char *text;
    TileType type;
  } cases[] = {{"exp(self)", TILE_I64},  {"self < other", TILE_C128}, {"self & other", TILE_F32},
               {"self * 0.5", TILE_I64}, {"erfinv(self)", TILE_C128}, {"gcd(self, other)", TILE_F32}};
  TileArgument arguments[PARAMETERS] = {{.kind = TILE_ARG_TENSOR}, {.kind = TILE_ARG_TENSOR}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    KernelProgram *program;
    const TileKernel *kernel;
    must(kernel_program_new(str_from(cases[i].text), PARAMETERS, parameters, &program));
    Status status = kernel_program_kernel(program, cases[i].type, arguments, &kernel);
    assert_non_null(status);
    assert_int_equal(status->code, ERROR_UNSUPPORTED);
    status_free(status);
    kernel_program_free(program);
  }
}

static Tensor *new_tensor(DType dtype, int ndim, const int64_t *sizes) {
  Tensor *t;
  must(tensor_empty(dtype, ndim, sizes, &t));
  int64_t *numbers = mem_alloc((size_t)t->numel * sizeof *numbers);
  for (int64_t i = 0; i < t->numel; i++) numbers[i] = i + 1;
  dtype_convert(dtype, tensor_data(t), 1, DTYPE_INT64, numbers, 1, t->numel);
  mem_free(numbers);
  return t;
}

static double element(const Tensor *t, int64_t row, int64_t column) {
  double value;
  int64_t at = (t->ndim > 1 ? row * t->strides[0] : 0) + column * t->strides[t->ndim - 1];
  dtype_convert(DTYPE_FLOAT64, &value, 1, (DType)t->dtype,
                (char *)tensor_data(t) + at * (int64_t)dtype_size((DType)t->dtype), 1, 1);
  return value;
}

static void run(const char *text, const Tensor *self, const Tensor *other, Tensor *out) {
  KernelProgram *program;
  const TileKernel *kernel;
  TileArgument arguments[PARAMETERS] = {{.kind = TILE_ARG_TENSOR, .tensor = self},
                                        {.kind = TILE_ARG_TENSOR, .tensor = other},
                                        {.kind = TILE_ARG_FLOAT, .f = 0.5}};
  must(kernel_program_new(str_from(text), PARAMETERS, parameters, &program));
  must(kernel_program_kernel(program, tile_type_of((DType)out->dtype), arguments, &kernel));
  must(tile_run(kernel, 2, arguments, &out));
  kernel_program_free(program);
}

static void operands_of_any_strides_and_dtypes(void **state) {
  (void)state;
  static const DType dtypes[] = {DTYPE_UINT8, DTYPE_INT32, DTYPE_FLOAT16, DTYPE_FLOAT32, DTYPE_FLOAT64, DTYPE_BFLOAT16};
  const int64_t sizes[] = {7, 13}, row_sizes[] = {13}, column_sizes[] = {7, 1}, transposed_sizes[] = {13, 7};
  for (size_t i = 0; i < sizeof dtypes / sizeof *dtypes; i++) {
    Tensor *self = new_tensor(dtypes[i], 2, sizes), *row = new_tensor(DTYPE_INT64, 1, row_sizes),
           *column = new_tensor(DTYPE_FLOAT32, 2, column_sizes);
    Tensor *base = new_tensor(DTYPE_FLOAT32, 2, transposed_sizes), *transposed, *out = new_tensor(dtypes[i], 2, sizes);
    must(tensor_transpose(base, 0, 1, &transposed));
    run("self + other", self, row, out);
    for (int64_t r = 0; r < 7; r++)
      for (int64_t c = 0; c < 13; c++) assert_true(element(out, r, c) == element(self, r, c) + element(row, 0, c));
    run("self + other", column, self, out);
    for (int64_t r = 0; r < 7; r++)
      for (int64_t c = 0; c < 13; c++) assert_true(element(out, r, c) == element(self, r, c) + element(column, r, 0));
    run("self * 2 - other", self, transposed, out);
    for (int64_t r = 0; r < 7; r++)
      for (int64_t c = 0; c < 13; c++) {
        double expected = element(self, r, c) * 2 - element(transposed, r, c);
        assert_true(element(out, r, c) == (dtypes[i] == DTYPE_UINT8 ? (uint8_t)(int)expected : expected));
      }
    run("self + other", transposed, self, transposed); /* in place */
    assert_true(element(base, 3, 2) == element(self, 2, 3) + 3 * 7 + 2 + 1);
    tensor_release(self), tensor_release(row), tensor_release(column), tensor_release(base), tensor_release(transposed),
        tensor_release(out);
  }
}

static void threads_and_blocks_do_not_change_bits(void **state) {
  (void)state;
  const int64_t size = 100003;
  Tensor *self = new_tensor(DTYPE_FLOAT32, 1, &size), *out = new_tensor(DTYPE_FLOAT32, 1, &size), *piece, *piece_out;
  run("tanh(self * 0.0001) * alpha + log1p(self)", self, self, out);
  for (int64_t at = 0; at < size; at += 9973) {
    must(tensor_narrow(self, 0, at, 17 < size - at ? 17 : size - at, &piece));
    piece_out = new_tensor(DTYPE_FLOAT32, 1, piece->sizes);
    run("tanh(self * 0.0001) * alpha + log1p(self)", piece, piece, piece_out);
    assert_memory_equal(tensor_data(piece_out), (float *)tensor_data(out) + at, sizeof(float) * (size_t)piece->numel);
    tensor_release(piece), tensor_release(piece_out);
  }
  tensor_release(self), tensor_release(out);
}

/* A column spread over rows of several blocks, and the same column written out. */
static void numbers_along_a_line_do_not_change_bits(void **state) {
  (void)state;
  static const char *const texts[] = {
      "self * rsqrt(other + 1e-5)", "exp(other * 0.1)",
      "t = exp(other * 0.1); u = tanh(self * 0.01 * t) + t; u * sqrt(other) + self * t",
      "t = self * 0.5; u = t + sqrt(other) * alpha; v = u * t - log(other); v + cos(other) * u",
      "other + alpha if self > other else exp(other)"};
  static const DType dtypes[] = {DTYPE_FLOAT32, DTYPE_FLOAT64, DTYPE_BFLOAT16, DTYPE_UINT8};
  const int64_t sizes[] = {6, 2500}, column_sizes[] = {6, 1};
  for (size_t d = 0; d < sizeof dtypes / sizeof *dtypes; d++) {
    Tensor *self = new_tensor(DTYPE_FLOAT32, 2, sizes), *column = new_tensor(dtypes[d], 2, column_sizes), *wide, *whole;
    DType dtype = dtypes[d] == DTYPE_UINT8 ? DTYPE_FLOAT32 : dtypes[d];
    Tensor *out = new_tensor(dtype, 2, sizes), *expected = new_tensor(dtype, 2, sizes);
    must(tensor_expand(column, 2, sizes, &wide));
    must(tensor_contiguous(wide, &whole));
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
      run(texts[i], self, column, out);
      run(texts[i], self, whole, expected);
      assert_memory_equal(tensor_data(out), tensor_data(expected), (size_t)out->numel * dtype_size(dtype));
    }
    tensor_release(self), tensor_release(column), tensor_release(wide), tensor_release(whole);
    tensor_release(out), tensor_release(expected);
  }
}

static void integers_do_not_divide_by_zero(void **state) {
  (void)state;
  const int64_t size = 3;
  Tensor *self = new_tensor(DTYPE_INT64, 1, &size), *zeros = new_tensor(DTYPE_INT64, 1, &size),
         *out = new_tensor(DTYPE_INT64, 1, &size);
  tensor_fill_zero(zeros);
  ((int64_t *)tensor_data(self))[0] = INT64_MIN;
  static const char *const texts[] = {"self // other", "self % other", "fmod(self, other)", "truncdiv(self, other)"};
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
    KernelProgram *program;
    const TileKernel *kernel;
    TileArgument arguments[PARAMETERS] = {{.kind = TILE_ARG_TENSOR, .tensor = self},
                                          {.kind = TILE_ARG_TENSOR, .tensor = zeros}};
    must(kernel_program_new(str_from(texts[i]), PARAMETERS, parameters, &program));
    must(kernel_program_kernel(program, TILE_I64, arguments, &kernel));
    Status status = tile_run(kernel, 1, arguments, &out);
    assert_non_null(status);
    assert_string_equal(status->message, "ZeroDivisionError");
    status_free(status);
    kernel_program_free(program);
  }
  run("self // -1", self, zeros, out); /* INT64_MIN / -1 wraps around */
  assert_true(((int64_t *)tensor_data(out))[0] == INT64_MIN && ((int64_t *)tensor_data(out))[1] == -2);
  tensor_release(self), tensor_release(zeros), tensor_release(out);
}

/* What the IR defines the interpreter has a loop for, and nothing else. */
static void interpreter_has_all_operations(void **state) {
  (void)state;
  for (int op = 0; op < KERNEL_OP_COUNT; op++)
    for (int type = 0; type < TILE_TYPE_COUNT; type++)
      if (!tile_loop((KernelOp)op, (TileType)type) != !kernel_op_is_defined((KernelOp)op, (TileType)type))
        fail_msg("%s over %s", kernel_op_name((KernelOp)op), tile_type_name((TileType)type));
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(formulas_become_kernels),
                                     cmocka_unit_test(interpreter_has_all_operations),
                                     cmocka_unit_test(bad_formulas_are_refused),
                                     cmocka_unit_test(meaningless_types_are_refused),
                                     cmocka_unit_test(operands_of_any_strides_and_dtypes),
                                     cmocka_unit_test(threads_and_blocks_do_not_change_bits),
                                     cmocka_unit_test(numbers_along_a_line_do_not_change_bits),
                                     cmocka_unit_test(integers_do_not_divide_by_zero)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
