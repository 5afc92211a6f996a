/* Rows that make quantized tensors, ask them how they are quantized, and give their numbers back. */
#include "call/options.h"
#include "call/quantized_engine.h"
#include "call/results.h"
#include "call/row_extras.h"
#include "op/quantized/quantized.h"
#include "tensor/quantizer.h"

#define TENSOR_OPTIONS "ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None"

static Status expect_floating(const Tensor *t) {
  if (t->dtype == DTYPE_FLOAT32) return OK;
  return status_new(ERROR_RUNTIME, "Quantize only works on Float Tensor, got %s", dtype_scalar_name((DType)t->dtype));
}
static Status expect_quantized_dtype(int64_t dtype) {
  if (dtype >= 0 && dtype < DTYPE_COUNT && dtype_is_quantized((DType)dtype)) return OK;
  return status_new(ERROR_RUNTIME, "quantizing into dtype %s, which is not quantized",
                    dtype >= 0 && dtype < DTYPE_COUNT ? dtype_name((DType)dtype) : "unknown");
}

/* ---- quantizing ---- */

static Status quantize_as(Call *c, DType dtype, double scale, int64_t zero_point) {
  TRY(expect_floating(call_tensor(c, 0)));
  return set_quantized(c, 0, call_tensor(c, 0), dtype, scale, zero_point);
}

static Status kernel_quantize_per_tensor(Call *c) { /* (self, scale, zero_point, dtype) */
  TRY(expect_quantized_dtype(call_int(c, 3)));
  return quantize_as(c, (DType)call_int(c, 3), call_double(c, 1), call_int(c, 2));
}

static Status one_number(const Tensor *t) {
  if (t->numel == 1 && !(t->flags & TENSOR_UNUSUAL)) return OK;
  return status_new(ERROR_RUNTIME, "a Tensor with %lld elements cannot be converted to Scalar", (long long)t->numel);
}

static Status kernel_quantize_tensor_qparams(Call *c) {
  TRY(expect_quantized_dtype(call_int(c, 3)));
  TRY(one_number(call_tensor(c, 1)));
  TRY(one_number(call_tensor(c, 2)));
  return quantize_as(c, (DType)call_int(c, 3), tensor_item_double(call_tensor(c, 1)),
                     tensor_item_int(call_tensor(c, 2)));
}

static Status kernel_quantize_tensors(Call *c) { /* (tensors, scales, zero_points, dtype) */
  List *tensors = call_list(c, 0), *out;
  TRY(expect_quantized_dtype(call_int(c, 3)));
  TRY(list_new(TYPE(TENSOR), tensors->length, &out));
  Status status = OK;
  for (int64_t i = 0; !status && i < (int64_t)tensors->length; i++) {
    Tensor *scale = NULL, *zero = NULL, *result = NULL;
    Quantizer *q = NULL;
    status = tensor_select(call_tensor(c, 1), 0, i, &scale);
    if (!status) status = tensor_select(call_tensor(c, 2), 0, i, &zero);
    if (!status) status = one_number(scale);
    if (!status) status = one_number(zero);
    if (!status) status = expect_floating(list_tensor(tensors, (size_t)i));
    if (!status) status = quantizer_check_scale((DType)call_int(c, 3), 1, tensor_item_int(zero));
    if (!status) status = quantizer_new_per_tensor(tensor_item_double(scale), tensor_item_int(zero), &q);
    if (!status) status = tensor_quantize(list_tensor(tensors, (size_t)i), (DType)call_int(c, 3), q, &result);
    if (!status) status = list_append(out, ivalue_tensor(result));
    quantizer_release(q);
    tensor_release(scale);
    tensor_release(zero);
  }
  call_set(c, 0, ivalue_list(out));
  return status;
}

static Status per_channel_of(Call *c, uint32_t scales, int ndim, int64_t axis, Quantizer **out) {
  if (axis < 0 || axis >= ndim)
    return status_new(ERROR_RUNTIME,
                      "Channel axis out of range in per channel affine quantization. Got: %lld Expected: [0, %d)",
                      (long long)axis, ndim);
  return quantizer_new_per_channel(call_tensor(c, scales), call_tensor(c, scales + 1), axis, out);
}

static Status kernel_quantize_per_channel(Call *c) { /* (self, scales, zero_points, axis, dtype) */
  const Tensor *self = call_tensor(c, 0);
  Quantizer *q;
  Tensor *out;
  TRY(expect_quantized_dtype(call_int(c, 4)));
  TRY(expect_floating(self));
  TRY(per_channel_of(c, 1, self->ndim, call_int(c, 3), &q));
  Status status = tensor_quantize(self, (DType)call_int(c, 4), q, &out);
  quantizer_release(q);
  if (!status) call_set_tensor(c, 0, out);
  return status;
}

/* qnnpack's engine takes the whole range of integers whatever it is asked. */
static bool reduces_range(const Call *c, bool asked) {
  return asked && quantized_engine(c->exec) != ENGINE_QNNPACK;
}

static Status kernel_quantize_dynamic(Call *c) { /* (self, dtype, reduce_range) */
  float least, most;
  double scale;
  int64_t zero_point, dtype = call_int(c, 1);
  if (dtype != DTYPE_QINT8 && dtype != DTYPE_QUINT8)
    return status_new(ERROR_RUNTIME, "dtype %lld not supported", (long long)dtype);
  TRY(expect_floating(call_tensor(c, 0)));
  TRY(tensor_min_max(call_tensor(c, 0), &least, &most));
  choose_qparams(least, most,
                 (QuantizedRange){(int32_t)dtype_quantized_min((DType)dtype),
                                  (int32_t)dtype_quantized_max((DType)dtype), reduces_range(c, call_bool(c, 2)), false},
                 &scale, &zero_point);
  return quantize_as(c, (DType)dtype, scale, zero_point);
}

static Status kernel_choose_qparams(Call *c) { /* (self, reduce_range) -> (scale, zero_point) */
  float least, most;
  double scale;
  int64_t zero_point;
  TRY(tensor_min_max(call_tensor(c, 0), &least, &most));
  choose_qparams(least, most, (QuantizedRange){0, 255, reduces_range(c, call_bool(c, 1)), false}, &scale, &zero_point);
  TRY(result_double(c, 0, scale));
  return result_int(c, 1, zero_point);
}

static Status kernel_parameters_of_range(Call *c) { /* (least, most, quant_min, quant_max, symmetric) */
  double scale;
  int64_t zero_point, least = call_int(c, 2), most = call_int(c, 3);
  if (least >= most || least < INT32_MIN || most > INT32_MAX)
    return status_new(ERROR_RUNTIME, "quantizing to integers from %lld to %lld", (long long)least, (long long)most);
  choose_qparams((float)call_double(c, 0), (float)call_double(c, 1),
                 (QuantizedRange){(int32_t)least, (int32_t)most, false, call_bool(c, 4)}, &scale, &zero_point);
  TRY(result_double(c, 0, scale));
  return result_int(c, 1, zero_point);
}

/* ---- integers as they are ---- */

static Status make_of_integers(Call *c, Quantizer *q) { /* takes q over */
  static const DType dtypes[] = {
      [DTYPE_UINT8] = DTYPE_QUINT8, [DTYPE_INT8] = DTYPE_QINT8, [DTYPE_INT32] = DTYPE_QINT32};
  const Tensor *self = call_tensor(c, 0);
  DType dtype = self->dtype <= DTYPE_INT32 ? dtypes[self->dtype] : 0;
  Tensor *plain = NULL, *out = NULL;
  Status status = dtype ? tensor_contiguous(self, &plain)
                        : status_new(ERROR_RUNTIME, "%s integers don't make a quantized tensor",
                                     dtype_scalar_name((DType)self->dtype));
  if (!status) status = tensor_new_quantized(dtype, self->ndim, self->sizes, NULL, q, &out);
  if (!status && self->numel) memcpy(tensor_data(out), tensor_data(plain), (size_t)self->numel * dtype_size(dtype));
  tensor_release(plain);
  quantizer_release(q);
  if (!status) call_set_tensor(c, 0, out);
  return status;
}
static Status kernel_make_per_tensor(Call *c) {
  Quantizer *q;
  TRY(quantizer_new_per_tensor(call_double(c, 1), call_int(c, 2), &q));
  return make_of_integers(c, q);
}
static Status kernel_make_per_channel(Call *c) {
  Quantizer *q;
  TRY(per_channel_of(c, 1, call_tensor(c, 0)->ndim, call_int(c, 3), &q));
  return make_of_integers(c, q);
}

/* ---- uninitialized ---- */

static Status empty_with(Call *c, const TensorSpec *spec, const Quantizer *q) {
  Tensor *out;
  if (spec->device.type == DEVICE_META) return status_new(ERROR_UNSUPPORTED, "quantized meta tensors");
  TRY(tensor_new_quantized(spec->dtype, spec->ndim, spec->sizes, spec->has_strides ? spec->strides : NULL, q, &out));
  memset(tensor_data(out), 0, (size_t)out->numel * dtype_size(spec->dtype));
  call_set_tensor(c, 0, out);
  return OK;
}

/* dtype, layout, device, pin_memory from `at`, memory format at `format`. */
static Status read_spec(Call *c, uint32_t at, uint32_t format, DType fallback, TensorSpec *spec) {
  int64_t dtype = call_int_or(c, at, fallback);
  *spec = (TensorSpec){.device = DEVICE_CPU_0};
  TRY(expect_quantized_dtype(dtype));
  TRY(sizes_read(c, 0, spec));
  if (call_int_or(c, at + 1, 0) != 0)
    return status_new(ERROR_UNSUPPORTED, "making tensors of a layout other than strided");
  if (!call_is_none(c, at + 2)) TRY(options_device(c, at + 2, &spec->device));
  spec->dtype = (DType)dtype;
  return format_read(c, format, FORMAT_CONTIGUOUS, NULL, spec);
}

static Status kernel_empty_per_tensor(Call *c) { /* (size, *options, scale, zero_point, memory_format) */
  TensorSpec spec;
  Quantizer *q;
  TRY(read_spec(c, 1, 7, DTYPE_NONE, &spec));
  TRY(quantizer_new_per_tensor(call_double(c, 5), call_int(c, 6), &q));
  Status status = empty_with(c, &spec, q);
  quantizer_release(q);
  return status;
}
static Status kernel_empty_per_channel(Call *c) { /* (size, *, scales, zero_points, axis, options, memory_format) */
  TensorSpec spec;
  Quantizer *q;
  TRY(read_spec(c, 4, 8, DTYPE_NONE, &spec));
  TRY(per_channel_of(c, 1, spec.ndim, call_int(c, 3), &q));
  Status status = empty_with(c, &spec, q);
  quantizer_release(q);
  return status;
}
static Status kernel_empty_quantized(Call *c) { /* (size, qtensor, *options, memory_format) */
  TensorSpec spec;
  TRY(expect_quantized(c, call_tensor(c, 1)));
  TRY(read_spec(c, 2, 6, (DType)call_tensor(c, 1)->dtype, &spec));
  return empty_with(c, &spec, tensor_quantizer(call_tensor(c, 1)));
}

/* ---- asking ---- */

static Status kernel_int_repr(Call *c) {
  Tensor *out;
  TRY(expect_quantized(c, call_tensor(c, 0)));
  TRY(tensor_int_repr(call_tensor(c, 0), &out));
  call_set_tensor(c, 0, out);
  return OK;
}

/* A tensor that is not quantized is its own numbers, as float32. */
static Status numbers_of(const Tensor *t, Tensor **out) {
  return tensor_is_quantized(t) ? tensor_dequantize(t, out) : tensor_to_dtype(t, DTYPE_FLOAT32, out);
}
static Status kernel_dequantize(Call *c) {
  Tensor *out;
  TRY(numbers_of(call_tensor(c, 0), &out));
  call_set_tensor(c, 0, out);
  return OK;
}
static Status dequantize_list(const List *tensors, IValue *out_list) {
  List *out;
  TRY(list_new(TYPE(TENSOR), tensors->length, &out));
  Status status = OK;
  for (size_t i = 0; !status && i < tensors->length; i++) {
    Tensor *numbers;
    status = numbers_of(list_tensor(tensors, i), &numbers);
    if (!status) status = list_append(out, ivalue_tensor(numbers));
  }
  *out_list = ivalue_list(out);
  if (status) ivalue_release(*out_list);
  return status;
}
static Status kernel_dequantize_list(Call *c) {
  IValue out;
  TRY(dequantize_list(call_list(c, 0), &out));
  call_set(c, 0, out);
  return OK;
}

/* Tensors wherever they stand in lists and tuples. */
static Status dequantize_any(IValue value, int nesting, IValue *out) {
  Status status = OK;
  if (nesting && value.tag == TAG_LIST) return *out = ivalue_retain(value), OK; /* only a list that was given itself */
  if (nesting > 100) return status_new(ERROR_UNSUPPORTED, "dequantize: values nested more than 100 times");
  if (value.tag == TAG_TENSOR) {
    Tensor *numbers;
    TRY(numbers_of(value.tensor, &numbers));
    *out = ivalue_tensor(numbers);
  } else if (value.tag == TAG_TUPLE) {
    Tuple *tuple;
    TRY(tuple_new(value.tuple->length, value.tuple->type, &tuple));
    *out = ivalue_tuple(tuple);
    for (uint32_t i = 0; !status && i < tuple->length; i++)
      status = dequantize_any(value.tuple->values[i], nesting + 1, &tuple->values[i]);
  } else if (value.tag == TAG_LIST && value.list->kind == LIST_VALUES) {
    List *list;
    TRY(list_copy(value.list, &list));
    *out = ivalue_list(list);
    for (size_t i = 0; !status && i < list->length; i++) {
      IValue item;
      status = dequantize_any(list->values[i], nesting + 1, &item);
      if (!status) list_set(list, i, item);
    }
  } else {
    *out = ivalue_retain(value);
  }
  if (status) ivalue_release(*out);
  return status;
}
static Status kernel_dequantize_any(Call *c) {
  IValue out;
  TRY(dequantize_any(call_value(c, 0), 0, &out));
  call_set(c, 0, out);
  return OK;
}

static Status expect_scheme(Call *c, bool per_tensor) {
  TRY(expect_quantized(c, call_tensor(c, 0)));
  if (quantizer_is_per_tensor(tensor_quantizer(call_tensor(c, 0))) == per_tensor) return OK;
  return status_new(ERROR_RUNTIME, "Expected quantizer->qscheme() == %s to be true, but got false.",
                    per_tensor ? "kPerTensorAffine" : "kPerChannelAffine");
}
static Status kernel_q_scale(Call *c) {
  TRY(expect_scheme(c, true));
  return result_double(c, 0, tensor_quantizer(call_tensor(c, 0))->scale);
}
static Status kernel_q_zero_point(Call *c) {
  TRY(expect_scheme(c, true));
  return result_int(c, 0, tensor_quantizer(call_tensor(c, 0))->zero_point);
}
static Status set_copy(Call *c, const Tensor *t) {
  Tensor *copy;
  TRY(tensor_clone(t, &copy));
  call_set_tensor(c, 0, copy);
  return OK;
}
static Status kernel_q_scales(Call *c) {
  TRY(expect_scheme(c, false));
  return set_copy(c, tensor_quantizer(call_tensor(c, 0))->scales);
}
static Status kernel_q_zero_points(Call *c) {
  TRY(expect_scheme(c, false));
  return set_copy(c, tensor_quantizer(call_tensor(c, 0))->zero_points);
}
static Status kernel_q_axis(Call *c) {
  TRY(expect_scheme(c, false));
  return result_int(c, 0, tensor_quantizer(call_tensor(c, 0))->axis);
}
static Status kernel_qscheme(Call *c) {
  TRY(expect_quantized(c, call_tensor(c, 0)));
  return result_int(c, 0, tensor_quantizer(call_tensor(c, 0))->scheme);
}

/* That take quantized tensors so that an out tensor may be one. */
#define MAKE(text, kernel_function) \
  { .schema = text, .kernel = kernel_function, .flags = OP_NOT_DIFFERENTIABLE | OP_OUT | OP_ACCEPT_QUANTIZED }
#define ASK(text, ...) \
  { .schema = text, .flags = OP_NOT_DIFFERENTIABLE | OP_ACCEPT_QUANTIZED, .kernel = __VA_ARGS__ }
#define ASK_TENSOR(text, kernel_function) \
  { .schema = text, .kernel = kernel_function, .flags = OP_NOT_DIFFERENTIABLE | OP_ACCEPT_QUANTIZED | OP_OUT }

/* What is not quantized is given back, which the schemas hide. */
#define DEQUANTIZE(text, kernel_function, more)                                         \
  {                                                                                     \
    .schema = text, .kernel = kernel_function,                                          \
    .flags = OP_NOT_DIFFERENTIABLE | OP_ACCEPT_QUANTIZED | OP_RETURNS_ARGUMENT | (more) \
  }

static const OpRow rows[] = {
    MAKE("aten::quantize_per_tensor(Tensor self, float scale, int zero_point, ScalarType dtype) -> Tensor",
         kernel_quantize_per_tensor),
    MAKE("aten::quantize_per_tensor.tensor_qparams(Tensor self, Tensor scale, Tensor zero_point, ScalarType dtype) -> "
         "Tensor",
         kernel_quantize_tensor_qparams),
    MAKE("aten::quantize_per_tensor.tensors(Tensor[] tensors, Tensor scales, Tensor zero_points, ScalarType dtype) -> "
         "Tensor[]",
         kernel_quantize_tensors),
    MAKE("aten::quantize_per_channel(Tensor self, Tensor scales, Tensor zero_points, int axis, ScalarType dtype) -> "
         "Tensor",
         kernel_quantize_per_channel),
    MAKE("aten::quantize_per_tensor_dynamic(Tensor self, ScalarType dtype, bool reduce_range) -> Tensor",
         kernel_quantize_dynamic),
    {.schema = "aten::_choose_qparams_per_tensor(Tensor self, bool reduce_range=False) -> (float, int)",
     .kernel = kernel_choose_qparams,
     .flags = OP_NOT_DIFFERENTIABLE},
    {.schema = "classes::quantized_parameters_of_range(float least, float most, int quant_min, int quant_max, "
               "bool symmetric) -> (float, "
               "int)",
     .kernel = kernel_parameters_of_range,
     .flags = OP_NOT_DIFFERENTIABLE},
    MAKE("aten::_make_per_tensor_quantized_tensor(Tensor self, float scale, int zero_point) -> Tensor",
         kernel_make_per_tensor),
    MAKE("aten::_make_per_channel_quantized_tensor(Tensor self, Tensor scale, Tensor zero_point, int axis) -> Tensor",
         kernel_make_per_channel),
    MAKE("aten::_empty_affine_quantized(int[] size, *, " TENSOR_OPTIONS
         ", float scale=1., int zero_point=0, MemoryFormat? memory_format=0) -> Tensor",
         kernel_empty_per_tensor),
    MAKE("aten::_empty_per_channel_affine_quantized(int[] size, *, Tensor scales, Tensor zero_points, int "
         "axis, " TENSOR_OPTIONS ", MemoryFormat? memory_format=0) -> Tensor",
         kernel_empty_per_channel),
    ASK_TENSOR("aten::empty_quantized(int[] size, Tensor qtensor, *, " TENSOR_OPTIONS
               ", MemoryFormat? memory_format=None) -> Tensor",
               kernel_empty_quantized),
    ASK_TENSOR("aten::int_repr(Tensor self) -> Tensor", kernel_int_repr),
    DEQUANTIZE("aten::dequantize.self(Tensor self) -> Tensor", kernel_dequantize, OP_OUT),
    DEQUANTIZE("aten::dequantize.tensor(Tensor qtensor) -> Tensor", kernel_dequantize, 0),
    DEQUANTIZE("aten::dequantize.tensors(Tensor[] tensors) -> Tensor[]", kernel_dequantize_list, OP_OUT),
    DEQUANTIZE("aten::dequantize.list(Tensor[] qtensors) -> Tensor[]", kernel_dequantize_list, 0),
    ASK("aten::dequantize.any(Any tensors) -> Any", kernel_dequantize_any, OPEN("Any -> Any")),
    ASK("aten::q_scale(Tensor self) -> float", kernel_q_scale),
    ASK("aten::q_zero_point(Tensor self) -> int", kernel_q_zero_point),
    ASK_TENSOR("aten::q_per_channel_scales(Tensor self) -> Tensor", kernel_q_scales),
    ASK_TENSOR("aten::q_per_channel_zero_points(Tensor self) -> Tensor", kernel_q_zero_points),
    ASK("aten::q_per_channel_axis(Tensor self) -> int", kernel_q_axis),
    ASK("aten::qscheme(Tensor self) -> QScheme", kernel_qscheme),
};
OP_TABLE(op_table_quantize, rows);
