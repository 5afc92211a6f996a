/* Linear layers of quantized weights: packing, on quantized inputs, on numbers that are quantized first (dynamic), with
 * half-precision weights. */
#include <assert.h>
#include <math.h>

#include "call/quantized_engine.h"
#include "call/row_extras.h"
#include "op/quantized/packed.h"
#include "tensor/quantizer.h"

/* ---- parameters ---- */

static void free_params(Capsule *capsule) {
  LinearParams *p = (LinearParams *)capsule;
  tensor_release(p->weight);
  tensor_release(p->bias);
  layer_dispose(&p->layer);
  mem_free(p);
}

/* The nearest half-precision number, as float32; what is too large becomes the largest. */
static Status round_to_half(const Tensor *weight, Tensor **out) {
  Tensor *numbers;
  TRY(tensor_to_dtype(weight, DTYPE_FLOAT32, &numbers));
  Status status = tensor_empty(DTYPE_FLOAT32, weight->ndim, weight->sizes, out);
  if (!status) status = tensor_copy(*out, numbers, 1);
  tensor_release(numbers);
  TRY(status);
  float *x = tensor_data(*out);
  for (int64_t i = 0; i < (*out)->numel; i++) {
    float limited = x[i] > 65504 ? 65504 : x[i] < -65504 ? -65504 : x[i];
    x[i] = half_to_float(half_from_float(limited));
  }
  return OK;
}

static Status pack_rows(LinearParams *p) {
  Tensor *plain;
  TRY(tensor_contiguous(p->weight, &plain));
  Status status = layer_pack(tensor_data(plain), plain->sizes[0], 1, plain->sizes[1], 1, p->weight, p->bias, &p->layer);
  tensor_release(plain);
  return status;
}

static Status check_fp16(const Tensor *weight, const Tensor *bias) {
  if (!tensor_is_defined(weight) || weight->flags & TENSOR_UNUSUAL || weight->ndim != 2 ||
      !dtype_is_floating((DType)weight->dtype))
    return status_new(ERROR_RUNTIME, "the weight of a half-precision linear layer must be a float matrix");
  if (bias && (bias->flags & TENSOR_UNUSUAL || bias->ndim != 1 || bias->numel != weight->sizes[0] ||
               !dtype_is_floating((DType)bias->dtype)))
    return status_new(ERROR_RUNTIME, "the bias of a linear layer of %lld outputs has sizes %s",
                      (long long)weight->sizes[0], SIZES_TEXT(bias->ndim, bias->sizes));
  return OK;
}

Status linear_params_new(const Tensor *weight, const Tensor *bias, bool is_fp16, IValue *out) {
  TRY(is_fp16 ? check_fp16(weight, bias) : layer_check(weight, 2, 0, weight->ndim == 2 ? weight->sizes[0] : 0, bias));
  if (weight->sizes[0] < 1) return status_new(ERROR_RUNTIME, "a linear layer without outputs");
  LinearParams *p = mem_calloc(1, sizeof *p);
  if (!p) return status_out_of_memory();
  ref_init(&p->base.base.refs);
  p->base.base.free = free_params;
  p->base.native = &native_linear_params;
  p->is_fp16 = is_fp16;
  p->bias = tensor_retain(bias);
  Status status = OK;
  if (is_fp16)
    status = round_to_half(weight, &p->weight);
  else
    p->weight = tensor_retain(weight);
  if (!status && !is_fp16) status = pack_rows(p);
  if (status) {
    free_params(&p->base.base);
    return status;
  }
  return native_object_new(&p->base, out);
}

Status packed_linear_params(IValue object, const LinearParams **out) {
  NativeValue *value;
  TRY(native_object_get(object, &native_linear_params, &value));
  *out = (const LinearParams *)value;
  return OK;
}

static Status kernel_prepack(Call *c) { /* (W, B) */
  bool is_fp16 = call_param(c);
  IValue object;
  TRY(linear_params_new(call_tensor(c, 0), call_tensor_or_null(c, 1), is_fp16, &object));
  call_set(c, 0, object);
  return OK;
}

static Status set_weight_bias(Call *c, const LinearParams *p) {
  call_set_tensor(c, 0, tensor_retain(p->weight));
  return set_packed_bias(c, 1, p->bias, &p->layer);
}
static Status kernel_unpack(Call *c) {
  const LinearParams *p;
  TRY(packed_linear_params(call_value(c, 0), &p));
  return set_weight_bias(c, p);
}
static Status kernel_bias(Call *c) {
  const LinearParams *p;
  TRY(packed_linear_params(call_value(c, 0), &p));
  return set_packed_bias(c, 0, p->bias, &p->layer);
}

/* (self, (weight, bias)): a weight that is not quantized is of half precision. */
static Status kernel_setstate(Call *c) {
  IValue state = call_value(c, 1), object;
  if (state.tag != TAG_TUPLE || state.tuple->length != 2 || state.tuple->values[0].tag != TAG_TENSOR)
    return status_new(ERROR_DATA, "the state of packed linear parameters is no weight and bias");
  const Tensor *weight = state.tuple->values[0].tensor;
  IValue b = state.tuple->values[1];
  const Tensor *bias = b.tag == TAG_TENSOR && tensor_is_defined(b.tensor) ? b.tensor : NULL;
  if (!tensor_is_defined(weight)) return status_new(ERROR_DATA, "packed linear parameters without a weight");
  TRY(linear_params_new(weight, bias, !tensor_is_quantized(weight), &object));
  IValue held = object.object->slots[0];
  ivalue_retain(held);
  ivalue_release(object);
  return native_object_set(call_value(c, 0), (NativeValue *)held.capsule);
}

/* ---- running ---- */

static Status check_input(const Call *c, const Tensor *x, const LinearParams *p, bool wants_fp16) {
  if (p->is_fp16 != wants_fp16)
    return status_new(ERROR_RUNTIME, STR_FMT ": the packed weight is %s", STR_ARG(c->op->name),
                      p->is_fp16 ? "of half precision" : "quantized");
  if (x->ndim == 0)
    return status_new(ERROR_RUNTIME, "The dimension (rank) of the input tensor to FC must be at least 1");
  int64_t inputs = p->weight->sizes[1];
  if (x->sizes[x->ndim - 1] != inputs)
    return status_new(ERROR_RUNTIME,
                      STR_FMT ": the input has sizes %s, but the layer takes %lld numbers in the last dimension",
                      STR_ARG(c->op->name), SIZES_TEXT(x->ndim, x->sizes), (long long)inputs);
  return OK;
}

static void output_sizes(const Tensor *x, const LinearParams *p, int64_t *sizes) {
  assert(x->ndim > 0);
  memcpy(sizes, x->sizes, (size_t)x->ndim * sizeof *sizes);
  sizes[x->ndim - 1] = p->weight->sizes[0];
}

/* Rows of whole quads: the input's own, or a copy in *owned. */
static Status padded_rows(const Tensor *bytes, int64_t depth, const uint8_t **out, int64_t *out_ld, void **owned) {
  *owned = NULL;
  *out = tensor_data(bytes);
  *out_ld = depth;
  if (depth % QGEMM_DEPTH == 0) return OK;
  int64_t ld = (depth + QGEMM_DEPTH - 1) / QGEMM_DEPTH * QGEMM_DEPTH, rows = depth ? bytes->numel / depth : 0;
  uint8_t *copy = mem_calloc((size_t)rows + 1, (size_t)ld);
  if (!copy) return status_out_of_memory();
  for (int64_t r = 0; r < rows; r++) memcpy(copy + r * ld, *out + r * depth, (size_t)depth);
  *out = *owned = copy;
  *out_ld = ld;
  return OK;
}

static Status run(Call *c, const LinearParams *p, const LayerInput *input, const LayerOutput *output, Tensor *out) {
  const uint8_t *rows;
  int64_t ld, depth = p->weight->sizes[1], count = out->numel / p->weight->sizes[0];
  void *owned;
  TRY(padded_rows(input->bytes, depth, &rows, &ld, &owned));
  Status status = count ? layer_run(&p->layer, output, count, rows, ld, tensor_data(out), p->weight->sizes[0],
                                    c->exec->work.threads)
                        : OK;
  mem_free(owned);
  return status;
}

static Status kernel_linear(Call *c) { /* (X, W, scale, zero_point) */
  bool relu = call_param(c);
  const Tensor *x = call_tensor(c, 0);
  const LinearParams *p;
  LayerInput input;
  LayerOutput output = {0};
  Quantizer *q = NULL;
  Tensor *out = NULL;
  int64_t sizes[TENSOR_MAX_DIMS];
  TRY(packed_linear_params(call_value(c, 1), &p));
  TRY(check_input(c, x, p, false));
  TRY(layer_input(c, x, &input));
  output_sizes(x, p, sizes);
  Status status = layer_input_settle(&input);
  if (!status)
    status = layer_output_integers(c, &p->layer, &input, (DType)x->dtype, call_double(c, 2), call_int(c, 3), relu,
                                   false, &output);
  if (!status) status = quantizer_new_per_tensor(call_double(c, 2), call_int(c, 3), &q);
  if (!status) status = tensor_new_quantized((DType)x->dtype, x->ndim, sizes, NULL, q, &out);
  if (!status) status = run(c, p, &input, &output, out);
  quantizer_release(q);
  layer_output_dispose(&output);
  layer_input_dispose(&input);
  if (status)
    tensor_release(out);
  else
    call_set_tensor(c, 0, out);
  return status;
}

static Status kernel_linear_dynamic(Call *c) { /* (X, W, reduce_range) */
  bool relu = call_param(c);
  const Tensor *x = call_tensor(c, 0);
  const LinearParams *p;
  LayerInput input;
  LayerOutput output = {0};
  Tensor *out = NULL;
  int64_t sizes[TENSOR_MAX_DIMS];
  TRY(packed_linear_params(call_value(c, 1), &p));
  TRY(check_input(c, x, p, false));
  bool qnnpack = quantized_engine(c->exec) == ENGINE_QNNPACK, fused = !qnnpack && !p->layer.has_zeros;
  TRY(layer_input_dynamic(c, x, call_bool(c, 2) && !qnnpack, fused, &input));
  output_sizes(x, p, sizes);
  Status status = layer_output_numbers(&p->layer, &input, relu, &output);
  if (!status) status = tensor_empty(DTYPE_FLOAT32, x->ndim, sizes, &out);
  if (!status) status = run(c, p, &input, &output, out);
  layer_output_dispose(&output);
  layer_input_dispose(&input);
  if (status)
    tensor_release(out);
  else
    call_set_tensor(c, 0, out);
  return status;
}

static Status kernel_linear_fp16(Call *c) { /* (X, W) */
  bool relu = call_param(c);
  static OpRef linear = OP_REF("aten::linear", ""), relu_op = OP_REF("aten::relu", "");
  const LinearParams *p;
  IValue out, positive;
  TRY(packed_linear_params(call_value(c, 1), &p));
  TRY(check_input(c, call_tensor(c, 0), p, true));
  TRY(op_call(c->exec, &linear, 3,
              (IValue[]){call_value(c, 0), ivalue_tensor(p->weight), p->bias ? ivalue_tensor(p->bias) : IVALUE_NONE}, 1,
              &out));
  if (relu) {
    Status status = op_call(c->exec, &relu_op, 1, &out, 1, &positive);
    ivalue_release(out);
    TRY(status);
    out = positive;
  }
  call_set(c, 0, out);
  return OK;
}

/* Writes its argument, although the schema does not say so. */
static Status kernel_saturate_fp16(Call *c) {
  static OpRef clamp = OP_REF("aten::clamp", "");
  Tensor *weight = call_tensor(c, 0);
  IValue limited;
  if (weight->dtype != DTYPE_FLOAT32) return call_unsupported_dtype(c, (DType)weight->dtype);
  TRY(op_call(c->exec, &clamp, 3, (IValue[]){ivalue_tensor(weight), ivalue_float(-65504), ivalue_float(65504)}, 1,
              &limited));
  Status status = tensor_copy(weight, limited.tensor, c->exec->work.threads);
  ivalue_release(limited);
  if (!status) call_set_tensor(c, 0, tensor_retain(weight));
  return status;
}

#define PARAMS_ROW(text, ...) \
  { .schema = text, .flags = OP_NOT_DIFFERENTIABLE | OP_ACCEPT_QUANTIZED, .kernel = __VA_ARGS__ }
#define BOTH(schema, ...) PARAMS_ROW("quantized::" schema, __VA_ARGS__), PARAMS_ROW("_quantized::" schema, __VA_ARGS__)

static const OpRow rows[] = {
    BOTH("linear_prepack(Tensor W, Tensor? B=None) -> " LINEAR_PARAMS " W_prepack", kernel_prepack, .param = false),
    BOTH("linear_prepack_fp16(Tensor W, Tensor? B=None) -> " LINEAR_PARAMS " W_prepack", kernel_prepack, .param = true),
    PARAMS_ROW("quantized::linear_unpack(" LINEAR_PARAMS " W_prepack) -> (Tensor W_origin, Tensor? B_origin)",
               kernel_unpack),
    PARAMS_ROW("quantized::linear_unpack_fp16(" LINEAR_PARAMS " W_prepack) -> (Tensor W_origin, Tensor? B_origin)",
               kernel_unpack),
    PARAMS_ROW(
        "quantized::linear(Tensor X, " LINEAR_PARAMS " W_prepack, float Y_scale_i, int Y_zero_point_i) -> Tensor Y",
        kernel_linear, .param = false,
        .extras = &(const RowExtras){.quantizes =
                                         &(const QuantizedForm){"aten::linear", .unpack = "quantized::linear_unpack"}}),
    PARAMS_ROW("_quantized::linear(Tensor X, " LINEAR_PARAMS
               " W_prepack, float Y_scale_i, int Y_zero_point_i) -> Tensor Y",
               kernel_linear, .param = false),
    PARAMS_ROW("quantized::linear_relu(Tensor X, " LINEAR_PARAMS
               " W_prepack, float Y_scale_i, int Y_zero_point_i) -> Tensor Y",
               kernel_linear, .param = true,
               .extras = &(const RowExtras){.quantizes = &(const QuantizedForm){"aten::linear",
                                                                                .unpack = "quantized::linear_unpack",
                                                                                .relu = true}}),
    BOTH("linear_dynamic(Tensor X, " LINEAR_PARAMS " W_prepack, bool reduce_range=False) -> Tensor Y",
         kernel_linear_dynamic, .param = false),
    PARAMS_ROW("quantized::linear_relu_dynamic(Tensor X, " LINEAR_PARAMS
               " W_prepack, bool reduce_range=False) -> Tensor Y",
               kernel_linear_dynamic, .param = true),
    PARAMS_ROW("quantized::linear_dynamic_fp16(Tensor X, " LINEAR_PARAMS " W_prepack) -> Tensor Y", kernel_linear_fp16,
               .param = false),
    PARAMS_ROW("quantized::linear_relu_dynamic_fp16(Tensor X, " LINEAR_PARAMS " W_prepack) -> Tensor Y",
               kernel_linear_fp16, .param = true),
    {.schema = "quantized::linear_dynamic_fp16_unpacked_weight(Tensor X, Tensor weight, Tensor bias) -> Tensor",
     .body = "return torch.ops.quantized.linear_dynamic_fp16(X, torch.ops.quantized.linear_prepack_fp16(weight, bias))",
     .flags = OP_NOT_DIFFERENTIABLE},
    {.schema = "aten::_saturate_weight_to_fp16(Tensor weight) -> Tensor",
     .kernel = kernel_saturate_fp16,
     .writes = 1 << 0,
     .flags = OP_NOT_DIFFERENTIABLE | OP_RETURNS_ARGUMENT},
    PARAMS_ROW("classes::LinearPackedParamsBase_getstate(" LINEAR_PARAMS " self) -> (Tensor, Tensor?)", kernel_unpack),
    PARAMS_ROW("classes::LinearPackedParamsBase_setstate(" LINEAR_PARAMS "(a!) self, (Tensor, Tensor?) state) -> ()",
               kernel_setstate),
    PARAMS_ROW("classes::LinearPackedParamsBase_bias(" LINEAR_PARAMS " self) -> Tensor?", kernel_bias),
};
OP_TABLE(op_table_quantized_linear, rows);

static const NativeMethod methods[] = {
    {"__getstate__", "classes::LinearPackedParamsBase_getstate"},
    {"__setstate__", "classes::LinearPackedParamsBase_setstate"},
    {"bias", "classes::LinearPackedParamsBase_bias"},
    {"unpack", "classes::LinearPackedParamsBase_getstate"},
};
const NativeClass native_linear_params = {"quantized.LinearPackedParamsBase", methods,
                                          sizeof methods / sizeof *methods};
