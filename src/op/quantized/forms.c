/* Forms of ordinary operators for quantized tensors. Most go through the operator on numbers and quantize its result as
 * the first tensor is; those that only pick elements go through the integers themselves. */
#include <math.h>

#include "call/call_plan.h"
#include "call/quantized_engine.h"
#include "call/results.h"
#include "call/row.h"
#include "op/quantized/quantized.h"
#include "tensor/iterate.h"
#include "tensor/quantizer.h"

/* ---- the row's own way, on other inputs ---- */

typedef Status Convert(const Tensor *t, Tensor **out);

static Status convert_list(const List *list, Convert *convert, IValue *out) {
  List *copy;
  TRY(list_copy(list, &copy));
  Status status = OK;
  for (size_t i = 0; !status && i < copy->length; i++) {
    Tensor *converted;
    if (copy->values[i].tag != TAG_TENSOR || !tensor_is_quantized(copy->values[i].tensor)) continue;
    status = convert(copy->values[i].tensor, &converted);
    if (!status) list_set(copy, i, ivalue_tensor(converted));
  }
  *out = ivalue_list(copy);
  if (status) ivalue_release(*out);
  return status;
}

static Status convert_value(IValue value, Convert *convert, IValue *out) {
  if (value.tag == TAG_TENSOR && tensor_is_quantized(value.tensor)) {
    Tensor *converted;
    TRY(convert(value.tensor, &converted));
    *out = ivalue_tensor(converted);
    return OK;
  }
  if (value.tag == TAG_LIST && value.list->kind == LIST_VALUES) return convert_list(value.list, convert, out);
  *out = ivalue_retain(value);
  return OK;
}

/* Runs the functional operator with every quantized tensor converted; its results are c's. */
static Status run_converted(Call *c, Convert *convert) {
  IValue inputs[CALL_MAX_INPUTS];
  const CallPlan *plan;
  uint32_t done = 0;
  Status status = OK;
  TRY(call_plan(c->op, &plan));
  if (c->input_count > CALL_MAX_INPUTS) return status_internal(STR_FMT ": too many arguments", STR_ARG(c->op->name));
  while (!status && done < c->input_count) {
    status = convert_value(c->inputs[done], convert, &inputs[done]);
    if (!status) done++;
  }
  if (!status) {
    Call inner = {
        .inputs = inputs, .input_count = c->input_count, .outputs = c->outputs, .output_count = c->output_count};
    for (uint32_t i = 0; i < c->output_count; i++) call_set(c, i, IVALUE_NONE);
    status = operator_call(c->exec, plan->functional, &inner);
  }
  while (done) ivalue_release(inputs[--done]);
  return status;
}

static const Tensor *first_quantized(const Call *c) {
  for (uint32_t i = 0; i < c->input_count; i++) {
    IValue v = c->inputs[i];
    if (v.tag == TAG_TENSOR && tensor_is_quantized(v.tensor)) return v.tensor;
    for (size_t k = 0; v.tag == TAG_LIST && v.list->kind == LIST_VALUES && k < v.list->length; k++)
      if (v.list->values[k].tag == TAG_TENSOR && tensor_is_quantized(v.list->values[k].tensor))
        return v.list->values[k].tensor;
  }
  return NULL;
}

/* The result stays what it is: comparisons, sums of squares. */
static Status form_numbers(Call *c) {
  return run_converted(c, tensor_dequantize);
}

/* Every float result is quantized as the first tensor. */
static Status form_requantize(Call *c) {
  const Tensor *like = first_quantized(c);
  if (!like) return run_converted(c, tensor_dequantize); /* only an out tensor is */
  TRY(expect_per_tensor(c, like));
  TRY(run_converted(c, tensor_dequantize));
  for (uint32_t i = 0; i < c->output_count; i++) {
    if (c->outputs[i].tag != TAG_TENSOR || c->outputs[i].tensor->dtype != DTYPE_FLOAT32) continue;
    Tensor *numbers = tensor_retain(c->outputs[i].tensor);
    Status status = set_quantized_like(c, i, numbers, like);
    tensor_release(numbers);
    TRY(status);
  }
  return OK;
}

/* ---- picking elements ---- */

/* Every integer of at most 32 bits is a float64. */
static Status integers_as_numbers(const Tensor *t, Tensor **out) {
  Tensor *integers;
  TRY(tensor_int_repr(t, &integers));
  Status status = tensor_to_dtype(integers, DTYPE_FLOAT64, out);
  tensor_release(integers);
  return status;
}

/* Numbers that are integers of `like`, back with its quantizer. */
static Status numbers_as_integers(const Tensor *numbers, const Tensor *like, Tensor **out) {
  Quantizer *q;
  int64_t strides[TENSOR_MAX_DIMS];
  strides_preserve(numbers->ndim, numbers->sizes, numbers->strides, strides);
  TRY(quantizer_new_per_tensor(tensor_quantizer(like)->scale, tensor_quantizer(like)->zero_point, &q));
  Status status = tensor_new_quantized((DType)like->dtype, numbers->ndim, numbers->sizes, strides, q, out);
  quantizer_release(q);
  if (status || !numbers->numel) return status;
  DType plain = like->dtype == DTYPE_QINT8 ? DTYPE_INT8 : like->dtype == DTYPE_QINT32 ? DTYPE_INT32 : DTYPE_UINT8;
  Tensor *integers;
  status = tensor_from_storage((*out)->storage, plain, (*out)->ndim, (*out)->sizes, (*out)->strides, (*out)->offset,
                               &integers);
  if (!status) {
    status = tensor_copy(integers, numbers, 1);
    tensor_release(integers);
  }
  if (status) tensor_release(*out);
  return status;
}

static Status form_pick(Call *c) {
  const Tensor *like = first_quantized(c);
  if (!like) return run_converted(c, tensor_dequantize);
  TRY(expect_per_tensor(c, like));
  TRY(run_converted(c, integers_as_numbers));
  for (uint32_t i = 0; i < c->output_count; i++) {
    Tensor *integers;
    if (c->outputs[i].tag != TAG_TENSOR || c->outputs[i].tensor->dtype != DTYPE_FLOAT64) continue;
    TRY(numbers_as_integers(c->outputs[i].tensor, like, &integers));
    call_set_tensor(c, i, integers);
  }
  return OK;
}

/* ---- limits ---- */

typedef struct Limits {
  DType dtype;
  int64_t least, most;
} Limits;

#define LIMIT(name, type)                                                                           \
  static void limit_##name(const Limits *l, int64_t n, char *const *data, const int64_t *strides) { \
    type least = (type)l->least, most = (type)l->most;                                              \
    if (strides[0] == sizeof(type) && strides[1] == sizeof(type)) {                                 \
      type *restrict to = (type *)data[0];                                                          \
      const type *from = (const type *)data[1];                                                     \
      for (int64_t i = 0; i < n; i++) {                                                             \
        type x = from[i] > least ? from[i] : least;                                                 \
        to[i] = x < most ? x : most;                                                                \
      }                                                                                             \
      return;                                                                                       \
    }                                                                                               \
    for (int64_t i = 0; i < n; i++) {                                                               \
      type x = *(const type *)(data[1] + i * strides[1]);                                           \
      x = x > least ? x : least;                                                                    \
      *(type *)(data[0] + i * strides[0]) = x < most ? x : most;                                    \
    }                                                                                               \
  }
LIMIT(uint8, uint8_t)
LIMIT(int8, int8_t)
LIMIT(int32, int32_t)

static void run_limits(void *argument, int64_t n, char *const *data, const int64_t *strides) {
  const Limits *l = argument;
  if (l->dtype == DTYPE_QUINT8)
    limit_uint8(l, n, data, strides);
  else if (l->dtype == DTYPE_QINT8)
    limit_int8(l, n, data, strides);
  else
    limit_int32(l, n, data, strides);
}

/* Integers between least and most, of the same quantizer. */
static Status limited(Call *c, const Tensor *self, int64_t least, int64_t most, Tensor **out) {
  int64_t strides[TENSOR_MAX_DIMS];
  Limits l = {(DType)self->dtype, least, most};
  Iterator it;
  strides_preserve(self->ndim, self->sizes, self->strides, strides);
  TRY(tensor_new_quantized(l.dtype, self->ndim, self->sizes, strides, tensor_quantizer(self), out));
  Status status = iterator_init(&it, 2, (const Tensor *const[]){*out, self});
  if (!status && self->numel) iterator_run_parallel(&it, c->exec->work.threads, 1 << 16, run_limits, &l);
  if (status) tensor_release(*out);
  return status;
}

static int64_t quantized_number(const Tensor *like, double number) {
  float x = (float)number;
  const Quantizer *q = tensor_quantizer(like);
  union {
    uint8_t u8;
    int8_t i8;
    int32_t i32;
  } integer;
  quantize_line((DType)like->dtype, &integer, &x, 1, (float)q->scale, q->zero_point);
  return like->dtype == DTYPE_QUINT8 ? integer.u8 : like->dtype == DTYPE_QINT8 ? integer.i8 : integer.i32;
}

/* QNNPACK's clamp writes a row-major result from bytes it reads in the order of channels-last memory: elements of
 * channels-last inputs come out in other places, as they do in PyTorch with this engine. */
static Status qnnpack_order(Tensor **out) {
  Tensor *dense = *out, *row_major;
  if (dense->contiguous || !tensor_is_channels_last(dense)) return OK;
  TRY(tensor_new_quantized((DType)dense->dtype, dense->ndim, dense->sizes, NULL, tensor_quantizer(dense), &row_major));
  memcpy(tensor_data(row_major), tensor_data(dense), (size_t)dense->numel);
  tensor_release(dense);
  *out = row_major;
  return OK;
}

static Status clamp(Call *c, bool has_least, double least, bool has_most, double most) {
  const Tensor *self = call_tensor(c, 0);
  Tensor *out;
  TRY(expect_per_tensor(c, self));
  int64_t low = has_least ? quantized_number(self, least) : dtype_quantized_min((DType)self->dtype);
  int64_t high = has_most ? quantized_number(self, most) : dtype_quantized_max((DType)self->dtype);
  TRY(limited(c, self, low, high, &out));
  bool scrambles = has_least && has_most && self->dtype == DTYPE_QUINT8 && quantized_engine(c->exec) == ENGINE_QNNPACK;
  Status status = scrambles ? qnnpack_order(&out) : OK;
  if (status)
    tensor_release(out);
  else
    call_set_tensor(c, 0, out);
  return status;
}
static Status form_relu(Call *c) {
  const Tensor *self = call_tensor(c, 0);
  Tensor *out;
  TRY(expect_per_tensor(c, self));
  TRY(limited(c, self, tensor_quantizer(self)->zero_point, dtype_quantized_max((DType)self->dtype), &out));
  call_set_tensor(c, 0, out);
  return OK;
}
static Status form_clamp(Call *c) { /* (self, min, max) */
  return clamp(c, !call_is_none(c, 1), call_double_or(c, 1, 0), !call_is_none(c, 2), call_double_or(c, 2, 0));
}
static Status form_clamp_min(Call *c) {
  return clamp(c, true, ivalue_to_double(call_scalar(c, 1)), false, 0);
}
static Status form_clamp_max(Call *c) {
  return clamp(c, false, 0, true, ivalue_to_double(call_scalar(c, 1)));
}
static Status form_hardtanh(Call *c) {
  return clamp(c, true, ivalue_to_double(call_scalar(c, 1)), true, ivalue_to_double(call_scalar(c, 2)));
}
static Status form_relu6(Call *c) {
  return clamp(c, true, 0, true, 6);
}

/* quantized::relu6(qx, inplace) */
static Status kernel_relu6(Call *c) {
  Tensor *self = call_tensor(c, 0);
  TRY(form_relu6(c));
  if (!call_bool(c, 1)) return OK;
  TRY(tensor_copy(self, call_out(c, 0), c->exec->work.threads));
  tensor_bump_version(self);
  call_set_tensor(c, 0, tensor_retain(self));
  return OK;
}

/* ---- activations whose range is known ---- */

/* [0, 1) or [-1, 1) over the whole range of integers. */
static Status with_range(Call *c, double width, bool symmetric) {
  const Tensor *self = call_tensor(c, 0);
  TRY(expect_per_tensor(c, self));
  DType dtype = (DType)self->dtype;
  bool wide = dtype == DTYPE_QINT32;
  double scale = width / (wide ? 0x1p32 : 256);
  int64_t zero = symmetric ? (dtype == DTYPE_QUINT8 ? 128 : 0) : dtype == DTYPE_QINT8 ? -128 : 0;
  TRY(run_converted(c, tensor_dequantize));
  Tensor *numbers = tensor_retain(c->outputs[0].tensor);
  Status status = set_quantized(c, 0, numbers, dtype, scale, zero);
  tensor_release(numbers);
  return status;
}
static Status form_sigmoid(Call *c) {
  return with_range(c, 1, false);
}
static Status form_tanh(Call *c) {
  return with_range(c, 2, true);
}

/* ---- whole tensors ---- */

static Status form_equal(Call *c) {
  const Tensor *a = call_tensor(c, 0), *b = call_tensor(c, 1);
  bool both = tensor_is_quantized(a) && tensor_is_quantized(b) && a->dtype == b->dtype;
  if (!both || !quantizer_equal(tensor_quantizer(a), tensor_quantizer(b)) || !tensor_same_sizes(a, b))
    return result_bool(c, 0, false);
  Tensor *left, *right;
  TRY(tensor_contiguous(a, &left));
  Status status = tensor_contiguous(b, &right);
  if (!status) {
    bool same = memcmp(tensor_data(left), tensor_data(right), (size_t)a->numel * dtype_size((DType)a->dtype)) == 0;
    status = result_bool(c, 0, same);
    tensor_release(right);
  }
  tensor_release(left);
  return status;
}

/* copy(self, src): what src says in the sizes of self; numbers are quantized as self is. */
static Status form_copy(Call *c) {
  const Tensor *self = call_tensor(c, 0);
  Tensor *from, *out;
  TRY(expect_quantized(c, self));
  TRY(tensor_expand(call_tensor(c, 1), self->ndim, self->sizes, &from));
  Status status = tensor_new_quantized((DType)self->dtype, self->ndim, self->sizes, NULL, tensor_quantizer(self), &out);
  if (!status) {
    status = tensor_copy(out, from, c->exec->work.threads);
    if (status)
      tensor_release(out);
    else
      call_set_tensor(c, 0, out);
  }
  tensor_release(from);
  return status;
}

/* A number among the arguments stands for its integer; then elements are picked. */
static Status pick_with_number(Call *c, uint32_t number_at) {
  const Tensor *like = first_quantized(c);
  IValue inputs[CALL_MAX_INPUTS], number = call_scalar(c, number_at);
  Call inner = *c;
  if (!like) return run_converted(c, tensor_dequantize);
  TRY(expect_per_tensor(c, like));
  memcpy(inputs, c->inputs, c->input_count * sizeof *inputs);
  double value = number.tag == TAG_TENSOR ? tensor_item_double(number.tensor) : ivalue_to_double(number);
  inputs[number_at] = ivalue_float((double)quantized_number(like, value));
  inner.inputs = inputs;
  return form_pick(&inner);
}
static Status form_fill(Call *c) {
  return pick_with_number(c, 1);
}
static Status form_value(Call *c) { /* (self, mask or padding, value) */
  return pick_with_number(c, 2);
}

/* empty_like and the like: zeros for contents, quantized as the first tensor. */
static Status form_empty_like(Call *c) {
  const Tensor *self = call_tensor(c, 0);
  int64_t strides[TENSOR_MAX_DIMS];
  Tensor *out;
  DType dtype = call_dtype_or(c, 1, (DType)self->dtype);
  if (!dtype_is_quantized(dtype))
    return status_new(ERROR_UNSUPPORTED, STR_FMT ": numbers like a quantized tensor", STR_ARG(c->op->name));
  MemoryFormat format = (MemoryFormat)call_int_or(c, c->input_count - 1, FORMAT_PRESERVE);
  TRY(strides_of_format(format, self->ndim, self->sizes, self, strides));
  TRY(tensor_new_quantized(dtype, self->ndim, self->sizes, strides, tensor_quantizer(self), &out));
  memset(tensor_data(out), 0, (size_t)out->numel * dtype_size(dtype));
  call_set_tensor(c, 0, out);
  return OK;
}

static Status form_item(Call *c) {
  const Tensor *self = call_tensor(c, 0);
  Tensor *numbers;
  if (self->numel != 1)
    return status_new(ERROR_RUNTIME, "a Tensor with %lld elements cannot be converted to Scalar",
                      (long long)self->numel);
  TRY(tensor_dequantize(self, &numbers));
  double value = tensor_item_double(numbers);
  tensor_release(numbers);
  return result_double(c, 0, value);
}

static const OpRow rows[] = {
    {.schema = "quantized::relu6(Tensor qx, bool inplace=False) -> Tensor",
     .kernel = kernel_relu6,
     .flags = OP_NOT_DIFFERENTIABLE | OP_ACCEPT_QUANTIZED | OP_RETURNS_ARGUMENT | OP_SIDE_EFFECTS},
};
OP_TABLE(op_table_quantized_forms, rows);

#define COMPARE(name)                        \
  {"aten::" name ".Tensor", form_numbers}, { \
    "aten::" name ".Scalar", form_numbers    \
  }
static const KindForm forms[] = {
    {"aten::relu", form_relu},
    {"aten::clamp", form_clamp},
    {"aten::clip", form_clamp},
    {"aten::clamp_min", form_clamp_min},
    {"aten::clamp_max", form_clamp_max},
    {"aten::hardtanh", form_hardtanh},
    {"aten::relu6", form_relu6},
    {"aten::sigmoid", form_sigmoid},
    {"aten::hardsigmoid", form_sigmoid},
    {"aten::tanh", form_tanh},
    {"aten::gelu", form_requantize},
    {"aten::elu", form_requantize},
    {"aten::celu", form_requantize},
    {"aten::leaky_relu", form_requantize},
    {"aten::hardswish", form_requantize},
    {"aten::threshold", form_requantize},
    {"aten::prelu", form_requantize},
    COMPARE("eq"),
    COMPARE("ne"),
    COMPARE("lt"),
    COMPARE("le"),
    COMPARE("gt"),
    COMPARE("ge"),
    {"aten::cat", form_requantize},
    {"aten::stack", form_requantize},
    {"aten::fill.Scalar", form_fill},
    {"aten::fill.Tensor", form_requantize},
    {"aten::masked_fill.Scalar", form_value},
    {"aten::masked_fill.Tensor", form_requantize},
    {"aten::constant_pad_nd", form_value},
    {"aten::index.Tensor", form_pick},
    {"aten::index_select", form_pick},
    {"aten::gather", form_pick},
    {"aten::flip", form_pick},
    {"aten::repeat", form_pick},
    {"aten::roll", form_pick},
    {"aten::reflection_pad1d", form_pick},
    {"aten::reflection_pad2d", form_pick},
    {"aten::replication_pad2d", form_pick},
    {"aten::channel_shuffle", form_pick},
    {"aten::pixel_shuffle", form_pick},
    {"aten::sort", form_pick},
    {"aten::sort.stable", form_pick},
    {"aten::topk", form_pick},
    {"aten::argsort", form_pick},
    {"aten::max", form_pick},
    {"aten::min", form_pick},
    {"aten::max.dim", form_pick},
    {"aten::min.dim", form_pick},
    {"aten::upsample_nearest1d", form_pick},
    {"aten::upsample_nearest2d", form_pick},
    {"aten::upsample_nearest3d", form_pick},
    {"aten::_upsample_nearest_exact1d", form_pick},
    {"aten::_upsample_nearest_exact2d", form_pick},
    {"aten::_upsample_nearest_exact3d", form_pick},
    {"aten::upsample_nearest1d.vec", form_pick},
    {"aten::upsample_nearest2d.vec", form_pick},
    {"aten::upsample_nearest3d.vec", form_pick},
    {"aten::_upsample_nearest_exact1d.vec", form_pick},
    {"aten::_upsample_nearest_exact2d.vec", form_pick},
    {"aten::_upsample_nearest_exact3d.vec", form_pick},
    {"aten::mean", form_requantize},
    {"aten::mean.dim", form_requantize},
    {"aten::std", form_requantize},
    {"aten::std.dim", form_requantize},
    {"aten::std.correction", form_requantize},
    {"aten::max_pool2d_with_indices", form_pick},
    {"aten::equal", form_equal},
    {"aten::copy", form_copy},
    {"aten::empty_like", form_empty_like},
    {"aten::item", form_item},
    {"aten::pad", NULL},
    {"prim::VarConcat", NULL},
    {"prim::VarStack", NULL},
    {"aten::contiguous", NULL},
    {"aten::clone", NULL},
    {"aten::detach", NULL},
    {"aten::detach_", NULL},
    {"aten::resize_", NULL},
    {"aten::resize_as_", NULL},
    {"aten::set_.source_Tensor", NULL},
    {"aten::is_floating_point", NULL},
    {"aten::unbind.int", NULL},
    {"aten::unbind", NULL},
    {"aten::split", NULL},
    {"aten::split.Tensor", NULL},
    {"aten::split.sizes", NULL},
    {"aten::split_with_sizes", NULL},
    {"aten::chunk", NULL},
    {"aten::tensor_split.sections", NULL},
    {"aten::tensor_split.indices", NULL},
};
KIND_FORMS(quantized_forms_basic, forms);
