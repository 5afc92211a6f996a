/* Machine code of kernels gives the tile interpreter's bits: random kernels over random operands (dtypes, layouts,
 * broadcasting, lengths with all that is left over, in place), and some that were hard. WICK_KERNELS: how many random
 * ones; WICK_KERNEL: only that one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "checks.h"
#include "base/machine_code.h"
#include "../../chance.h"
#include "native/native_kernel.h"
#include "tile/run.h"
#include "tile/special.h"

enum { MOST_ARGUMENTS = 8, MOST_OUTPUTS = 4 };

static Chance chance;
static int64_t below(int64_t n) {
  return (int64_t)chance_below(&chance, (uint64_t)n);
}
static bool one_in(int64_t n) {
  return below(n) == 0;
}

/* ---- kernels ---- */

static const KernelOp ops[] = {
    KERNEL_NEG,    KERNEL_ABS,      KERNEL_SIGN,      KERNEL_SQUARE,     KERNEL_RECIPROCAL, KERNEL_SQRT,
    KERNEL_RSQRT,  KERNEL_FLOOR,    KERNEL_CEIL,      KERNEL_ROUND,      KERNEL_TRUNC,      KERNEL_NOT,
    KERNEL_ISNAN,  KERNEL_ISINF,    KERNEL_SIGNBIT,   KERNEL_ADD,        KERNEL_SUB,        KERNEL_MUL,
    KERNEL_DIV,    KERNEL_COPYSIGN, KERNEL_HARDSWISH, KERNEL_LEAKY_RELU, KERNEL_MIN,        KERNEL_MAX,
    KERNEL_FMIN,   KERNEL_FMAX,     KERNEL_AND,       KERNEL_OR,         KERNEL_XOR,        KERNEL_EQ,
    KERNEL_NE,     KERNEL_LT,       KERNEL_LE,        KERNEL_GT,         KERNEL_GE,         KERNEL_SELECT,
    KERNEL_SELECT, KERNEL_ADD,      KERNEL_MUL,       KERNEL_SUB,        KERNEL_EXP,        KERNEL_LOG,
    KERNEL_TANH,   KERNEL_SIGMOID,  KERNEL_ERF,       KERNEL_GELU,       KERNEL_EXPM1,      KERNEL_SIN,
    KERNEL_POW,    KERNEL_MOD,      KERNEL_FLOORDIV,  KERNEL_SHL,        KERNEL_ATAN2,      KERNEL_REAL};

static KernelValue pick_value(KernelBuilder *builder, const KernelValue *values, int count, TileType type) {
  KernelValue value = values[one_in(3) ? below(count) : count - 1 - below(count < 6 ? count : 6)];
  return type == TILE_TYPE_COUNT || kernel_type(builder, value) == type ? value : kernel_cast(builder, value, type);
}

static KernelValue add_random_ins(KernelBuilder *builder, const KernelValue *values, int count) {
  TileType type = (TileType)(one_in(3) ? below(TILE_C128) : (int)TILE_TYPE_COUNT);
  if (one_in(12)) {
    static const DType narrow[] = {DTYPE_FLOAT16, DTYPE_BFLOAT16, DTYPE_FLOAT32, DTYPE_INT8, DTYPE_INT32};
    return kernel_round_to(builder, pick_value(builder, values, count, TILE_TYPE_COUNT), narrow[below(5)]);
  }
  if (one_in(10)) {
    TileType of = (TileType)below(TILE_C128);
    double number = (double)(below(41) - 20);
    if (of == TILE_BOOL) number = (double)below(2);
    if (of >= TILE_F32) number /= (double)(1 + below(4));
    return kernel_constant(builder, of, number);
  }
  if (one_in(10))
    return kernel_cast(builder, pick_value(builder, values, count, TILE_TYPE_COUNT), (TileType)below(TILE_C128));
  for (;;) {
    KernelOp op = ops[below((int64_t)(sizeof ops / sizeof *ops))];
    int operands = kernel_op_operands(op);
    KernelValue a = pick_value(builder, values, count, type);
    KernelValue b = operands > 1 ? pick_value(builder, values, count, type) : KERNEL_NO_VALUE;
    KernelValue c = operands > 2 ? pick_value(builder, values, count, TILE_BOOL) : KERNEL_NO_VALUE;
    TileType widest = kernel_type(builder, a);
    if (operands > 1 && kernel_type(builder, b) > widest) widest = kernel_type(builder, b);
    if (widest == TILE_BOOL && !kernel_op_is_defined(op, widest)) widest = TILE_I64;
    if (kernel_op_is_defined(op, widest)) return kernel_emit(builder, op, a, b, c);
  }
}

static KernelIr *random_kernel(void) {
  TileType types[MOST_ARGUMENTS];
  int arguments = 1 + (int)below(MOST_ARGUMENTS), outputs = 1 + (int)(one_in(2) ? 0 : below(MOST_OUTPUTS));
  bool is_uniform = one_in(3);
  TileType common = (TileType)(TILE_I64 + below(3));
  for (int i = 0; i < arguments; i++) types[i] = is_uniform && !one_in(6) ? common : (TileType)below(TILE_C128);
  KernelBuilder *builder;
  check(kernel_builder_new(arguments, types, &builder));
  KernelValue values[200], results[MOST_OUTPUTS];
  int count = 0, wanted = 1 + (int)below(one_in(20) ? 90 : one_in(3) ? 40 : 12);
  for (; count < arguments; count++) values[count] = kernel_argument(builder, count);
  for (int i = 0; i < wanted; i++, count++) values[count] = add_random_ins(builder, values, count);
  for (int i = 0; i < outputs; i++) results[i] = values[i ? below(count) : count - 1];
  KernelIr *kernel;
  check(kernel_builder_finish(builder, outputs, results, &kernel));
  return kernel;
}

/* ---- operands ---- */

static double random_number(void) {
  static const double special[] = {0,       -0.0,  1,     -1,   0.5,   INFINITY, -INFINITY, NAN,          1e-40,
                                   -1e-310, 65504, 65520, 3e38, 1e300, 9.3e18,   -9.3e18,   2147483648.0, 127,
                                   128,     255,   256};
  if (one_in(8)) return special[below((int64_t)(sizeof special / sizeof *special))];
  return (double)(below(2001) - 1000) * (one_in(2) ? 0.01 : 1);
}

static void fill(Tensor *t) {
  for (int64_t i = 0; i < t->numel; i++) {
    char *at = (char *)tensor_data(t) + i * (int64_t)dtype_size((DType)t->dtype);
    if (t->dtype == DTYPE_INT64 && one_in(4)) {
      int64_t whole = one_in(4) ? INT64_MIN + below(2) : (int64_t)chance_next(&chance);
      memcpy(at, &whole, sizeof whole);
      continue;
    }
    double number = random_number();
    if (t->dtype <= DTYPE_INT64 && !(fabs(number) < 100)) number = (double)below(100);
    if (t->dtype == DTYPE_BOOL) number = (double)below(2);
    dtype_convert((DType)t->dtype, at, 1, DTYPE_FLOAT64, &number, 1, 1);
  }
}

static const DType dtypes[TILE_C128][6] = {
    [TILE_BOOL] = {DTYPE_BOOL, DTYPE_BOOL, DTYPE_BOOL, DTYPE_BOOL, DTYPE_INT64, DTYPE_FLOAT32},
    [TILE_I64] = {DTYPE_INT64, DTYPE_INT64, DTYPE_INT64, DTYPE_INT32, DTYPE_UINT8, DTYPE_INT16},
    [TILE_F32] = {DTYPE_FLOAT32, DTYPE_FLOAT32, DTYPE_FLOAT32, DTYPE_FLOAT16, DTYPE_BFLOAT16, DTYPE_FLOAT32},
    [TILE_F64] = {DTYPE_FLOAT64, DTYPE_FLOAT64, DTYPE_FLOAT64, DTYPE_FLOAT64, DTYPE_FLOAT32, DTYPE_FLOAT64}};
/* What outputs may have: what holds the type's numbers as it is stored. */
static DType output_dtype(TileType type) {
  static const DType ints[] = {DTYPE_INT64, DTYPE_INT64, DTYPE_INT32, DTYPE_UINT8};
  static const DType floats[] = {DTYPE_FLOAT32, DTYPE_FLOAT32, DTYPE_FLOAT16, DTYPE_BFLOAT16};
  return type == TILE_BOOL  ? DTYPE_BOOL
         : type == TILE_I64 ? ints[below(4)]
         : type == TILE_F32 ? floats[below(4)]
                            : DTYPE_FLOAT64;
}

/* A tensor of the sizes, or of such as broadcast to them, row-major or not. */
static Tensor *random_operand(DType dtype, int ndim, const int64_t *sizes, bool may_repeat, bool may_stride) {
  int64_t own[4] = {0}, wide[4] = {0};
  Tensor *t, *part;
  for (int d = 0; d < ndim; d++) own[d] = may_repeat && one_in(4) ? 1 : sizes[d];
  if (!may_stride || one_in(2)) {
    check(tensor_empty(dtype, ndim, own, &t));
    fill(t);
    return t;
  }
  for (int d = 0; d < ndim; d++) wide[d] = own[d] * 2 + 1;
  check(tensor_empty(dtype, ndim, wide, &t));
  fill(t);
  for (int d = 0; d < ndim; d++) {
    int64_t step = 1 + below(2);
    check(tensor_slice(t, d, 0, own[d] * step, step, &part));
    tensor_release(t);
    t = part;
  }
  return t;
}

static Tensor *copy_of(const Tensor *t) {
  TensorSpec spec = {.dtype = (DType)t->dtype, .ndim = t->ndim, .device = DEVICE_CPU_0};
  memcpy(spec.sizes, t->sizes, sizeof(int64_t) * t->ndim);
  Tensor *copy;
  if (tensor_is_dense(t)) {
    spec.has_strides = true;
    memcpy(spec.strides, t->strides, sizeof(int64_t) * t->ndim);
  }
  check(tensor_new(&spec, &copy));
  memset(tensor_data(copy), 0x5a, (size_t)copy->numel * dtype_size((DType)copy->dtype));
  return copy;
}

static int64_t number_of(const Tensor *t, int64_t i, double *out_float) {
  int64_t offset = 0;
  for (int d = t->ndim - 1; d >= 0; d--) {
    offset += i % t->sizes[d] * t->strides[d];
    i /= t->sizes[d];
  }
  const char *at = (const char *)tensor_data(t) + offset * (int64_t)dtype_size((DType)t->dtype);
  int64_t bits = 0;
  memcpy(&bits, at, dtype_size((DType)t->dtype));
  dtype_convert(DTYPE_FLOAT64, out_float, 1, (DType)t->dtype, at, 1, 1);
  return bits;
}

static void expect_alike(int64_t which, const KernelIr *kernel, int output, const Tensor *expected, const Tensor *got) {
  for (int64_t i = 0; i < expected->numel; i++) {
    double a, b;
    if (number_of(expected, i, &a) == number_of(got, i, &b) || (a != a && b != b)) continue;
    StrBuf text = {0};
    kernel_print(kernel, &text);
    print_error("%s", text.data);
    fail_msg("kernel %lld, output %d, element %lld: %.17g, not %.17g", (long long)which, output, (long long)i, b, a);
  }
}

typedef struct Operands {
  TileArgument arguments[MOST_ARGUMENTS];
  Tensor *tensors[MOST_ARGUMENTS], *expected[MOST_OUTPUTS], *got[MOST_OUTPUTS];
  bool is_number[KERNEL_MAX_ARGUMENTS], stays[KERNEL_MAX_ARGUMENTS];
} Operands;

static void make_operands(Operands *o, const KernelIr *kernel) {
  int64_t sizes[4], lengths[] = {1, 2, 3, 7, 8, 9, 15, 16, 17, 31, 33, 64, 100, 128, 130, 200, 255, 1000, 1025, 3000};
  int ndim = 1 + (int)below(3);
  int64_t left = one_in(30) ? 40000 : 4000;
  for (int d = ndim; d-- > 0;) {
    do sizes[d] = one_in(40) ? 1 : lengths[below(20)];
    while (sizes[d] > left);
    left /= sizes[d];
  }
  bool may_repeat = one_in(2), may_stride = one_in(2);
  memset(o, 0, sizeof *o);
  for (int i = 0; i < kernel->argument_count; i++) {
    TileArgument *argument = &o->arguments[i];
    TileType type = (TileType)kernel->types[i];
    if (one_in(5)) {
      o->is_number[i] = true;
      double number = random_number();
      argument->kind = one_in(2) ? TILE_ARG_FLOAT : TILE_ARG_INT;
      if (argument->kind == TILE_ARG_FLOAT)
        argument->f = number;
      else
        argument->i = below(20) - 10;
      if (one_in(4)) argument->kind = TILE_ARG_BOOL, argument->b = one_in(2);
    } else {
      argument->kind = TILE_ARG_TENSOR;
      bool has_none = one_in(8);
      argument->tensor = o->tensors[i] =
          random_operand(dtypes[type][below(6)], has_none ? 0 : ndim, sizes, may_repeat, may_stride);
    }
    const Tensor *t = o->tensors[i];
    o->stays[i] = o->is_number[i] || t->ndim == 0 || (t->sizes[t->ndim - 1] == 1 && sizes[ndim - 1] != 1);
  }
  for (int i = 0; i < kernel->output_count; i++) {
    o->expected[i] =
        random_operand(output_dtype((TileType)kernel->types[kernel->outputs[i]]), ndim, sizes, false, may_stride);
    o->got[i] = copy_of(o->expected[i]);
  }
}

static void drop_operands(Operands *o) {
  for (int i = 0; i < MOST_ARGUMENTS; i++) tensor_release(o->tensors[i]);
  for (int i = 0; i < MOST_OUTPUTS; i++) tensor_release(o->expected[i]), tensor_release(o->got[i]);
}

/* The last output over an argument that lies as it does. Others may not share memory. */
static void run_in_place(int64_t which, const TileKernel *native, const KernelIr *kernel, Operands *o) {
  for (int i = 0; i < kernel->argument_count; i++) {
    Tensor *t = o->tensors[i], *expected = o->expected[0];
    if (!t || kernel->output_count != 1 || t->dtype != expected->dtype || t->numel != expected->numel ||
        !tensor_is_contiguous(t) || t->ndim != expected->ndim)
      continue;
    bool is_shared = false;
    for (int k = 0; k < kernel->argument_count; k++) is_shared |= k != i && o->tensors[k] == t;
    if (is_shared) continue;
    Tensor *outputs[] = {t};
    Status status = tile_run(native, 1, o->arguments, outputs);
    if (status) {
      status_free(status);
      return;
    }
    expect_alike(which, kernel, 0, expected, t);
    return;
  }
}

static bool run_both(int64_t which, KernelIr *kernel, Operands *o) {
  TileKernel *plain;
  NativeKernel *native;
  check(tile_kernel_new(kernel, &plain));
  check(native_kernel_new(kernel, o->is_number, o->stays, NULL, &native));
  int threads = 1 + (int)below(2);
  Status expected = tile_run(plain, threads, o->arguments, o->expected);
  Status got = tile_run(native_kernel_tile(native), threads, o->arguments, o->got);
  if ((expected != NULL) != (got != NULL)) fail_msg("kernel %lld: an error in one form only", (long long)which);
  bool is_fine = !expected;
  if (is_fine) {
    for (int i = 0; i < kernel->output_count; i++) expect_alike(which, kernel, i, o->expected[i], o->got[i]);
    run_in_place(which, native_kernel_tile(native), kernel, o);
  }
  status_free(expected);
  status_free(got);
  tile_kernel_free(plain);
  native_kernel_free(native);
  return is_fine;
}

static void test_random_kernels(void **state) {
  (void)state;
  const char *count_text = getenv("WICK_KERNELS"), *one_text = getenv("WICK_KERNEL");
  int64_t count = count_text ? atoll(count_text) : 2000, first = one_text ? atoll(one_text) : 0, compared = 0;
  if (!native_is_there()) {
    print_message("this processor has no native code\n");
    skip();
  }
  if (one_text) count = first + 1;
  for (int64_t i = first; i < count; i++) {
    chance.state = (uint64_t)i * 7919;
    KernelIr *kernel = random_kernel();
    Operands operands;
    make_operands(&operands, kernel);
    if (native_suits(kernel, operands.stays)) compared += run_both(i, kernel, &operands);
    drop_operands(&operands);
    kernel_release(kernel);
  }
  print_message("%lld kernels compared\n", (long long)compared);
  if (!one_text) assert_true(compared > count / 2);
  assert_int_equal(machine_code_held(), 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_random_kernels)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
