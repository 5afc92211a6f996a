/* Products of bytes by every instruction set, layers against sums made one by one under both engines, and parameters
 * from strangers. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <math.h>
#include <stdlib.h>

#include "api/handles.h"
#include "call/built_in.h"
#include "call/quantized_engine.h"
#include "compute/quantized/qgemm.h"
#include "frontend/frontend.h"
#include "ir/ir.h"
#include "tensor/quantizer.h"

static Exec exec;

static int64_t some(int64_t least, int64_t most) {
  return least + rand() % (most - least + 1);
}

/* ---- products ---- */

/* Rows of `taps` taps, of which every second row begins in the middle of another. */
static void check_product(QGemm *form, int64_t rows, int64_t outputs, int64_t taps, int64_t depth, int most) {
  QMatrix matrix;
  int64_t quads = (depth + 3) / 4, ld = taps * quads * 4, blocks = (outputs + 15) / 16;
  int8_t *w = malloc((size_t)(outputs * taps * depth) + 1);
  uint8_t *a = calloc((size_t)rows + 1, (size_t)ld);
  int32_t *out = malloc((size_t)(rows * blocks * 16) * sizeof *out);
  const uint8_t **bases = calloc((size_t)rows, sizeof *bases);
  int64_t *offsets = calloc((size_t)taps, sizeof *offsets);
  for (int64_t i = 0; i < outputs * taps * depth; i++) w[i] = (int8_t)(i % 3 ? some(-128, 127) : -128);
  for (int64_t i = 0; i < (rows + 1) * ld; i++) a[i] = (uint8_t)(i % 3 ? some(0, most) : most);
  for (int64_t m = 0; m < rows; m++) bases[m] = a + m * ld + (m % 2 ? ld / 2 : 0);
  for (int64_t t = 0; t < taps; t++) offsets[t] = (taps - 1 - t) * quads * 4;
  assert_null(qmatrix_pack(w, outputs, taps, depth, &matrix));
  form(&matrix, rows, &(QRows){bases, offsets, taps, quads}, out, blocks * 16);
  for (int64_t m = 0; m < rows; m++)
    for (int64_t n = 0; n < outputs; n++) {
      int32_t sum = 0;
      for (int64_t t = 0; t < taps; t++)
        for (int64_t k = 0; k < depth; k++) sum += bases[m][offsets[t] + k] * w[(n * taps + t) * depth + k];
      assert_int_equal(out[m * blocks * 16 + n], sum);
    }
  qmatrix_dispose(&matrix);
  free(w);
  free(a);
  free(out);
  free(bases);
  free(offsets);
}

static void products_are_exact(void **state) {
  (void)state;
  static const int64_t shapes[][4] = {{1, 1, 1, 1},     {1, 16, 1, 4},    {7, 17, 2, 5},
                                      {6, 64, 1, 64},   {13, 130, 3, 37}, {1, 300, 1, 9},
                                      {2, 2048, 1, 16}, {50, 33, 9, 255}, {11, 48, 49, 3}};
  for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
    const int64_t *s = shapes[i];
    check_product(qgemm_portable, s[0], s[1], s[2], s[3], 255);
    check_product(qgemm(false), s[0], s[1], s[2], s[3], 255);
    check_product(qgemm(true), s[0], s[1], s[2], s[3], 127);
#if defined(__x86_64__)
    if (!__builtin_cpu_supports("avx2")) continue;
    check_product(qgemm_avx2, s[0], s[1], s[2], s[3], 255);
    check_product(qgemm_avx2_small, s[0], s[1], s[2], s[3], 127);
#endif
  }
}

/* Every form of the loops gives the same bytes. */
static void loops_agree(void **state) {
  (void)state;
  enum { N = 203, WHOLE = 208 };
  int32_t sums[WHOLE] = {0}, int_bias[WHOLE] = {0}, zeros[WHOLE] = {0};
  float float_bias[WHOLE] = {0}, multiplier[WHOLE] = {0};
  uint8_t a[N], b[N], want[N], got[N];
  for (int i = 0; i < N; i++) {
    sums[i] = (int32_t)some(-100000, 100000);
    int_bias[i] = (int32_t)some(-100, 100);
    zeros[i] = (int32_t)some(-3, 3);
    float_bias[i] = (float)some(-1000, 1000) / 7;
    multiplier[i] = (float)some(1, 1000) / 300000;
    a[i] = (uint8_t)some(0, 255);
    b[i] = (uint8_t)some(0, 255);
  }
  const QuantizedLoops *fast = quantized_loops(), *plain = &quantized_loops_portable;
  Requantization how = {int_bias, float_bias, multiplier, 3, -10, 200, 17};
  for (int with_zeros = 0; with_zeros < 2; with_zeros++) {
    plain->requantize(&how, N, sums, 77, with_zeros ? zeros : NULL, want);
    fast->requantize(&how, N, sums, 77, with_zeros ? zeros : NULL, got);
    assert_memory_equal(want, got, N);
  }
  QuantizedSum sum = {0.1f, 0.03f, -0.5f, 0.25f, 7.5f, -128, 127, 128, true};
  plain->add_uint8(&sum, N, a, b, want);
  fast->add_uint8(&sum, N, a, b, got);
  assert_memory_equal(want, got, N);
  assert_int_equal(plain->sum_bytes(N, a), fast->sum_bytes(N, a));
}

/* ---- layers ---- */

static IValue random_quantized(DType dtype, int ndim, const int64_t *sizes, double scale, int64_t zero) {
  Tensor *t;
  Quantizer *q;
  assert_null(quantizer_new_per_tensor(scale, zero, &q));
  assert_null(tensor_new_quantized(dtype, ndim, sizes, NULL, q, &t));
  quantizer_release(q);
  for (int64_t i = 0; i < t->numel; i++) ((uint8_t *)tensor_data(t))[i] = (uint8_t)some(0, 255);
  return ivalue_tensor(t);
}

static IValue ints(int count, const int64_t *values) {
  List *list;
  assert_null(list_from_ints(values, (size_t)count, &list));
  return ivalue_list(list);
}

/* A convolution of 2 dimensions without bias: each output from its sum. */
static void check_conv(QuantizedEngine engine, int64_t inputs, int64_t outputs, int64_t groups, int64_t kernel,
                       int64_t stride, int64_t padding, int64_t dilation) {
  static OpRef prepack = OP_REF("quantized::conv2d_prepack", ""), conv = OP_REF("quantized::conv2d", "new");
  int64_t x_sizes[] = {2, inputs, 9, 7}, w_sizes[] = {outputs, inputs / groups, kernel, kernel}, pair[3][2];
  const double sx = 0.03, sw = 0.02, so = 0.31;
  const int64_t zx = 93, zo = 110;
  exec.runtime->quantized_engine = (uint8_t)engine;
  IValue x = random_quantized(DTYPE_QUINT8, 4, x_sizes, sx, zx), w = random_quantized(DTYPE_QINT8, 4, w_sizes, sw, 0);
  for (int i = 0; i < 2; i++) pair[0][i] = stride, pair[1][i] = padding, pair[2][i] = dilation;
  IValue packed, out, lists[] = {ints(2, pair[0]), ints(2, pair[1]), ints(2, pair[2])};
  assert_null(op_call(&exec, &prepack, 6, (IValue[]){w, IVALUE_NONE, lists[0], lists[1], lists[2], ivalue_int(groups)},
                      1, &packed));
  assert_null(op_call(&exec, &conv, 4, (IValue[]){x, packed, ivalue_float(so), ivalue_int(zo)}, 1, &out));
  const Tensor *y = out.tensor;
  const uint8_t *xs = tensor_data(x.tensor);
  const int8_t *ws = tensor_data(w.tensor);
  int64_t each_in = inputs / groups, each_out = outputs / groups;
  for (int64_t n = 0; n < 2; n++)
    for (int64_t o = 0; o < outputs; o++)
      for (int64_t i = 0; i < y->sizes[2]; i++)
        for (int64_t j = 0; j < y->sizes[3]; j++) {
          int32_t sum = 0;
          for (int64_t c = 0; c < each_in; c++)
            for (int64_t a = 0; a < kernel; a++)
              for (int64_t b = 0; b < kernel; b++) {
                int64_t row = i * stride - padding + a * dilation, column = j * stride - padding + b * dilation;
                if (row < 0 || row >= 9 || column < 0 || column >= 7) continue;
                int64_t channel = o / each_out * each_in + c;
                sum += (int32_t)(xs[((n * inputs + channel) * 9 + row) * 7 + column] - zx) *
                       ws[((o * each_in + c) * kernel + a) * kernel + b];
              }
          float product = (float)sx * (float)sw;
          float q = engine == ENGINE_QNNPACK ? rintf((float)sum * (product * (1.0f / (float)so))) + (float)zo
                                             : rintf((float)sum * (product / (float)so) + (float)zo);
          int64_t want = q < 0 ? 0 : q > 255 ? 255 : (int64_t)q;
          int64_t at = n * y->strides[0] + o * y->strides[1] + i * y->strides[2] + j * y->strides[3];
          assert_int_equal(((const uint8_t *)tensor_data(y))[at], want);
        }
  ivalue_release(out);
  ivalue_release(packed);
  ivalue_release(x);
  ivalue_release(w);
  for (int i = 0; i < 3; i++) ivalue_release(lists[i]);
  exec.runtime->quantized_engine = ENGINE_DEFAULT;
}

static void convolutions_sum_what_they_should(void **state) {
  (void)state;
  static const int64_t shapes[][7] = {{3, 5, 1, 3, 1, 1, 1},   {8, 16, 1, 1, 1, 0, 1},  {4, 8, 2, 3, 2, 1, 1},
                                      {6, 6, 6, 3, 1, 1, 1},   {6, 12, 6, 3, 2, 2, 1},  {5, 20, 1, 2, 1, 0, 2},
                                      {16, 33, 1, 3, 1, 2, 2}, {20, 20, 20, 5, 1, 2, 1}};
  for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
    const int64_t *s = shapes[i];
    check_conv(ENGINE_ONEDNN, s[0], s[1], s[2], s[3], s[4], s[5], s[6]);
    check_conv(ENGINE_QNNPACK, s[0], s[1], s[2], s[3], s[4], s[5], s[6]);
  }
}

/* ---- state from strangers ---- */

static IValue list_of(const Type *element, size_t count, const IValue *items) {
  List *list;
  assert_null(list_new(element, count, &list));
  for (size_t i = 0; i < count; i++) assert_null(list_append(list, ivalue_retain(items[i])));
  return ivalue_list(list);
}

/* Gives an object of Conv2dPackedParamsBase the state ("2", [config, weight], []); the error, or NULL. */
static Status set_conv_state(const int16_t *config, int64_t count, IValue weight) {
  static OpRef setstate = OP_REF("classes::Conv2dPackedParamsBase_setstate", "");
  const NativeClass *native = native_class_find(STR("__torch__.torch.classes.quantized.Conv2dPackedParamsBase"));
  Object *object;
  Tensor *numbers;
  Tuple *tuple;
  assert_non_null(native);
  assert_null(object_new(native_class_type(native)->class_type, &object));
  assert_null(tensor_empty(DTYPE_INT16, 1, &count, &numbers));
  memcpy(tensor_data(numbers), config, (size_t)count * sizeof *config);
  assert_null(tuple_new(3, NULL, &tuple));
  assert_null(ivalue_from_str(STR("2"), &tuple->values[0]));
  IValue items[] = {ivalue_tensor(numbers), weight};
  tuple->values[1] = list_of(TYPE(TENSOR), 2, items);
  tuple->values[2] = list_of(type_optional_of(TYPE_TENSOR), 0, NULL);
  Status status = op_call(&exec, &setstate, 2, (IValue[]){ivalue_object(object), ivalue_tuple(tuple)}, 0, NULL);
  tensor_release(numbers);
  ivalue_release(ivalue_tuple(tuple));
  ivalue_release(ivalue_object(object));
  return status;
}

static void refuses_parameters_that_can_not_be(void **state) {
  (void)state;
  const int64_t sizes[] = {4, 2, 3, 3};
  const int16_t good[] = {2, 1, 1, 0, 0, 1, 1, 0, 0, 1, 0};
  static const struct {
    int at;
    int16_t value;
  } bad[] = {{0, 3}, {1, 0}, {1, -1}, {3, -1}, {5, 0}, {7, -2}, {9, 0}, {9, 3}, {9, -1}};
  IValue weight = random_quantized(DTYPE_QINT8, 4, sizes, 0.1, 0);
  assert_null(set_conv_state(good, 11, weight));
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    int16_t config[11];
    memcpy(config, good, sizeof good);
    config[bad[i].at] = bad[i].value;
    Status status = set_conv_state(config, 11, weight);
    assert_non_null(status);
    status_free(status);
  }
  Status status = set_conv_state(good, 10, weight);
  assert_non_null(status);
  status_free(status);
  static const double scales[] = {0, -1, (double)NAN, (double)INFINITY};
  for (size_t i = 0; i < sizeof scales / sizeof *scales; i++) {
    IValue other = random_quantized(DTYPE_QINT8, 4, sizes, scales[i], 0);
    status = set_conv_state(good, 11, other);
    assert_non_null(status);
    status_free(status);
    ivalue_release(other);
  }
  IValue unsigned_weight = random_quantized(DTYPE_QUINT8, 4, sizes, 0.1, 0);
  status = set_conv_state(good, 11, unsigned_weight);
  assert_non_null(status);
  status_free(status);
  ivalue_release(unsigned_weight);
  IValue flat = random_quantized(DTYPE_QINT8, 3, sizes, 0.1, 0);
  status = set_conv_state(good, 11, flat);
  assert_non_null(status);
  status_free(status);
  ivalue_release(flat);
  ivalue_release(weight);
}

/* An object that was never given its state is refused, not read. */
static void refuses_objects_without_state(void **state) {
  (void)state;
  static OpRef unpack = OP_REF("quantized::linear_unpack", "");
  const NativeClass *native = native_class_find(STR("__torch__.torch.classes.quantized.LinearPackedParamsBase"));
  Object *object;
  IValue out[2];
  assert_null(object_new(native_class_type(native)->class_type, &object));
  Status status = op_call(&exec, &unpack, 1, (IValue[]){ivalue_object(object)}, 2, out);
  assert_non_null(status);
  status_free(status);
  ivalue_release(ivalue_object(object));
}

static void every_method_of_a_native_class_is_there(void **state) {
  (void)state;
  CompilationUnit *unit;
  assert_null(unit_new(&unit));
  for (const NativeClass *const *native = built_in()->native_classes; *native; native++) {
    const Type *type = native_class_type(*native);
    for (size_t i = 0; i < (*native)->method_count; i++) {
      const Function *method = class_type_find_method(type->class_type, str_from((*native)->methods[i].name));
      assert_non_null(method);
      assert_true(method->graph && method->schema && method->is_native);
      assert_null(graph_lint(method->graph));
    }
  }
  unit_release(unit);
}

static void programs_know_the_engine(void **state) {
  (void)state;
  static const QuantizedEngine engines[] = {ENGINE_ONEDNN, ENGINE_QNNPACK};
  for (size_t i = 0; i < 2; i++) {
    Function *function;
    IValue out;
    exec.runtime->quantized_engine = (uint8_t)engines[i];
    assert_null(frontend_compile_helper(
        &exec, STR("def engine_name() -> str:\n    return torch.backends.quantized.engine\n"), "engine", &function));
    assert_null(exec.services->call_function(&exec, function, NULL, 0, &out));
    assert_true(str_is(ivalue_str(out), quantized_engine_name(engines[i])));
    ivalue_release(out);
  }
  exec.runtime->quantized_engine = ENGINE_DEFAULT;
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(products_are_exact),
      cmocka_unit_test(loops_agree),
      cmocka_unit_test(convolutions_sum_what_they_should),
      cmocka_unit_test(refuses_parameters_that_can_not_be),
      cmocka_unit_test(refuses_objects_without_state),
      cmocka_unit_test(programs_know_the_engine),
      cmocka_unit_test(every_method_of_a_native_class_is_there),
  };
  srand(1);
  api_exec_init(&exec, NULL);
  return cmocka_run_group_tests(tests, NULL, NULL);
}
