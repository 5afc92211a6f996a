/* Packed parameters of quantized convolutions: making them, asking them, their pickled state by version. */
#include <assert.h>

#include "call/results.h"
#include "call/row_extras.h"
#include "op/quantized/packed.h"
#include "op/quantized/quantized.h"
#include "tensor/quantizer.h"
#include "type/class_type.h"

static void free_params(Capsule *capsule) {
  ConvParams *p = (ConvParams *)capsule;
  tensor_release(p->weight);
  tensor_release(p->bias);
  layer_dispose(&p->layer);
  mem_free(p->depthwise);
  mem_free(p);
}

static const NativeClass *class_of(int spatial) {
  assert(spatial == 2 || spatial == 3);
  return spatial == 3 ? &native_conv3d_params : &native_conv2d_params;
}

Status packed_conv_params(IValue object, int spatial, const ConvParams **out) {
  NativeValue *value;
  TRY(native_object_get(object, class_of(spatial), &value));
  *out = (const ConvParams *)value;
  return OK;
}

/* ---- checks ---- */

static Status check_numbers(const char *what, int spatial, const int64_t *values, int64_t least) {
  assert(spatial == 2 || spatial == 3);
  for (int i = 0; i < spatial; i++)
    if (values[i] < least || values[i] > INT32_MAX)
      return status_new(ERROR_RUNTIME, "quantized convolution: %s %s", what, SIZES_TEXT(spatial, values));
  return OK;
}

static Status check_shape(ConvParams *p, const Tensor *weight) {
  TRY(check_numbers("stride", p->spatial, p->stride, 1));
  TRY(check_numbers("padding", p->spatial, p->padding, 0));
  TRY(check_numbers("dilation", p->spatial, p->dilation, 1));
  TRY(check_numbers("output_padding", p->spatial, p->output_padding, 0));
  if (weight->ndim != p->spatial + 2)
    return status_new(ERROR_RUNTIME, "quantized convolution: the weight of %d spatial dimensions has sizes %s",
                      p->spatial, SIZES_TEXT(weight->ndim, weight->sizes));
  for (int i = 0; i < weight->ndim; i++)
    if (weight->sizes[i] < 1)
      return status_new(ERROR_RUNTIME, "quantized convolution: the weight has sizes %s",
                        SIZES_TEXT(weight->ndim, weight->sizes));
  memcpy(p->kernel, weight->sizes + 2, (size_t)p->spatial * sizeof *p->kernel);
  int64_t whole = weight->sizes[0];
  if (p->groups < 1 || p->groups > INT32_MAX || whole % p->groups)
    return status_new(ERROR_RUNTIME, "quantized convolution: %lld groups of a weight of sizes %s", (long long)p->groups,
                      SIZES_TEXT(weight->ndim, weight->sizes));
  int64_t other;
  if (!int64_mul(weight->sizes[1], p->groups, &other))
    return status_new(ERROR_RUNTIME, "quantized convolution: too many channels");
  p->outputs = p->transpose ? other : whole;
  p->inputs = p->transpose ? whole : other;
  if (!p->transpose) return OK;
  for (int i = 0; i < p->spatial; i++)
    if (p->output_padding[i] >= p->stride[i] && p->output_padding[i] >= p->dilation[i])
      return status_new(ERROR_RUNTIME,
                        "quantized convolution: output padding must be smaller than either stride or "
                        "dilation");
  return OK;
}

/* ---- packing ---- */

static int64_t taps_of(const ConvParams *p) {
  int64_t taps = 1;
  for (int i = 0; i < p->spatial; i++) taps *= p->kernel[i];
  return taps;
}

/* Rows of output channels: tap by tap, the input channels of its group. */
static Status arrange(const ConvParams *p, int8_t **out) {
  Tensor *plain;
  TRY(tensor_contiguous(p->weight, &plain));
  int64_t taps = taps_of(p), inner = plain->sizes[1], outputs = p->outputs / p->groups, inputs = p->inputs / p->groups;
  int8_t *rows = mem_alloc((size_t)plain->numel + 1);
  if (!rows) {
    tensor_release(plain);
    return status_out_of_memory();
  }
  const int8_t *from = tensor_data(plain);
  for (int64_t g = 0; g < p->groups; g++)
    for (int64_t o = 0; o < outputs; o++)
      for (int64_t i = 0; i < inputs; i++) {
        int64_t at = p->transpose ? (g * inputs + i) * inner + o : (g * outputs + o) * inner + i;
        for (int64_t t = 0; t < taps; t++) rows[((g * outputs + o) * taps + t) * inputs + i] = from[at * taps + t];
      }
  tensor_release(plain);
  *out = rows;
  return OK;
}

static Status make_depthwise(ConvParams *p, const int8_t *rows) {
  if (p->inputs != p->groups || p->outputs != p->groups || p->groups == 1) return OK;
  int64_t taps = taps_of(p);
  p->depthwise = mem_alloc((size_t)(taps * p->outputs) * sizeof *p->depthwise + 64);
  if (!p->depthwise) return status_out_of_memory();
  for (int64_t o = 0; o < p->outputs; o++)
    for (int64_t t = 0; t < taps; t++)
      p->depthwise[t * p->outputs + o] = (int16_t)(rows[o * taps + t] - p->layer.zeros[o]);
  return OK;
}

/* p has its numbers; takes it over. */
static Status finish(ConvParams *p, const Tensor *weight, const Tensor *bias, NativeValue **out) {
  int8_t *rows = NULL;
  ref_init(&p->base.base.refs);
  p->base.base.free = free_params;
  p->base.native = class_of(p->spatial);
  Status status = check_shape(p, weight);
  int64_t axis = p->transpose ? 1 : 0;
  if (!status && p->transpose && p->groups > 1 && !quantizer_is_per_tensor(tensor_quantizer(weight)))
    status = status_new(ERROR_UNSUPPORTED, "transposed quantized convolution in groups, quantized per channel");
  if (!status) status = layer_check(weight, p->spatial + 2, axis, p->outputs, bias);
  if (!status) {
    p->weight = tensor_retain(weight);
    p->bias = tensor_retain(bias);
    status = arrange(p, &rows);
  }
  if (!status)
    status = layer_pack(rows, p->outputs, taps_of(p), p->inputs / p->groups, (int)p->groups, weight, bias, &p->layer);
  if (!status) status = make_depthwise(p, rows);
  mem_free(rows);
  if (status) {
    free_params(&p->base.base);
    return status;
  }
  *out = &p->base;
  return OK;
}

/* ---- prepack ---- */

/* A list of `spatial` numbers, or of one less with `fill` before (one-dimensional convolutions), or of one. */
static Status read_list(const Call *c, uint32_t i, int spatial, bool one_dimensional, int64_t fill, int64_t *out) {
  size_t count;
  const int64_t *values = call_ints(c, i, &count);
  if (one_dimensional ? count != 1 : count != (size_t)spatial)
    return status_new(ERROR_RUNTIME, STR_FMT ": expected %d numbers, got %zu", STR_ARG(c->op->name),
                      one_dimensional ? 1 : spatial, count);
  if (one_dimensional) {
    out[0] = fill;
    out[1] = values[0];
  } else {
    memcpy(out, values, (size_t)spatial * sizeof *out);
  }
  return OK;
}

/* (weight, bias, stride, padding, [output_padding,] dilation, groups) */
typedef struct Packing {
  int dimensions;
  bool transpose;
} Packing;
static Status kernel_prepack(Call *c) {
  int dimensions = ((const Packing *)call_with(c))->dimensions;
  bool transpose = ((const Packing *)call_with(c))->transpose;
  const Tensor *weight = call_tensor(c, 0), *bias = call_tensor_or_null(c, 1);
  int spatial = dimensions == 3 ? 3 : 2;
  bool line = dimensions == 1;
  uint32_t at = 2;
  Tensor *wide = NULL;
  NativeValue *value;
  IValue object;
  TRY(expect_quantized(c, weight));
  ConvParams *p = mem_calloc(1, sizeof *p);
  if (!p) return status_out_of_memory();
  p->spatial = spatial;
  p->transpose = transpose;
  Status status = read_list(c, at++, spatial, line, 1, p->stride);
  if (!status) status = read_list(c, at++, spatial, line, 0, p->padding);
  if (!status && transpose) status = read_list(c, at++, spatial, line, 0, p->output_padding);
  if (!status) status = read_list(c, at++, spatial, line, 1, p->dilation);
  if (!status) p->groups = call_int(c, at);
  if (!status) status = line ? tensor_unsqueeze(weight, 2, &wide) : OK;
  if (status) {
    mem_free(p);
    return status;
  }
  status = finish(p, wide ? wide : weight, bias, &value);
  tensor_release(wide);
  TRY(status);
  TRY(native_object_new(value, &object));
  call_set(c, 0, object);
  return OK;
}

/* ---- asking ---- */

static Status params_of(const Call *c, const ConvParams **out) {
  IValue object = call_value(c, 0);
  if (object.tag == TAG_OBJECT && native_class_find(object.object->class_type->type.name) == &native_conv3d_params)
    return packed_conv_params(object, 3, out);
  return packed_conv_params(object, 2, out);
}

static Status kernel_weight(Call *c) {
  const ConvParams *p;
  TRY(params_of(c, &p));
  call_set_tensor(c, 0, tensor_retain(p->weight));
  return OK;
}
static Status set_bias(Call *c, uint32_t i, const ConvParams *p) {
  return set_packed_bias(c, i, p->bias, &p->layer);
}
static Status kernel_bias(Call *c) {
  const ConvParams *p;
  TRY(params_of(c, &p));
  return set_bias(c, 0, p);
}
static Status kernel_unpack(Call *c) {
  TRY(kernel_weight(c));
  const ConvParams *p;
  TRY(params_of(c, &p));
  return set_bias(c, 1, p);
}
static Status kernel_unpack_1d(Call *c) {
  const ConvParams *p;
  Tensor *weight;
  TRY(params_of(c, &p));
  TRY(tensor_squeeze_dim(p->weight, 2, &weight));
  call_set_tensor(c, 0, weight);
  return set_bias(c, 1, p);
}
static Status set_numbers(Call *c, const int64_t *values, int count) {
  List *list;
  TRY(list_from_ints(values, (size_t)count, &list));
  call_set(c, 0, ivalue_list(list));
  return OK;
}
#define ASK_LIST(field)                          \
  static Status kernel_##field(Call *c) {        \
    const ConvParams *p;                         \
    TRY(params_of(c, &p));                       \
    return set_numbers(c, p->field, p->spatial); \
  }
ASK_LIST(stride)
ASK_LIST(padding)
ASK_LIST(output_padding)
ASK_LIST(dilation)
static Status kernel_groups(Call *c) {
  const ConvParams *p;
  TRY(params_of(c, &p));
  return result_int(c, 0, p->groups);
}
static Status kernel_transpose(Call *c) {
  const ConvParams *p;
  TRY(params_of(c, &p));
  return result_int(c, 0, p->transpose);
}
static Status kernel_transpose_bool(Call *c) {
  const ConvParams *p;
  TRY(params_of(c, &p));
  return result_bool(c, 0, p->transpose);
}

static Status sizes_value(const Tensor *t, IValue *out) {
  List *list;
  TRY(list_from_ints(t->sizes, t->ndim, &list));
  *out = ivalue_list(list);
  return OK;
}
static Status numbers_value(const int64_t *numbers, int count, IValue *out) {
  List *list;
  TRY(list_from_ints(numbers, (size_t)count, &list));
  *out = ivalue_list(list);
  return OK;
}

/* (sizes of the weight, sizes of the bias or None, stride, padding, dilation, groups) */
static Status kernel_unpack_sizes(Call *c) {
  const ConvParams *p;
  Tuple *tuple;
  TRY(params_of(c, &p));
  TRY(tuple_new(6, NULL, &tuple));
  call_set(c, 0, ivalue_tuple(tuple));
  TRY(sizes_value(p->weight, &tuple->values[0]));
  if (p->bias) TRY(sizes_value(p->bias, &tuple->values[1]));
  TRY(numbers_value(p->stride, p->spatial, &tuple->values[2]));
  TRY(numbers_value(p->padding, p->spatial, &tuple->values[3]));
  TRY(numbers_value(p->dilation, p->spatial, &tuple->values[4]));
  tuple->values[5] = ivalue_int(p->groups);
  return OK;
}

/* ---- pickled state ---- */

enum { MAX_CONFIG = 4 * 3 + 3 };

/* spatial, then stride, padding, dilation, output_padding of each dimension, groups, flags */
static int config_of(const ConvParams *p, int64_t *out) {
  int n = 0;
  out[n++] = p->spatial;
  const int64_t *lists[] = {p->stride, p->padding, p->dilation, p->output_padding};
  for (int k = 0; k < 4; k++)
    for (int i = 0; i < p->spatial; i++) out[n++] = lists[k][i];
  out[n++] = p->groups;
  out[n++] = p->transpose;
  return n;
}
static Status read_config(const int64_t *config, size_t count, int spatial, ConvParams *p) {
  size_t n = 0;
  if (count != (size_t)(4 * spatial + 3) || config[n++] != spatial)
    return status_new(ERROR_DATA, "packed convolution parameters of %d dimensions: %zu numbers", spatial, count);
  int64_t *lists[] = {p->stride, p->padding, p->dilation, p->output_padding};
  for (int k = 0; k < 4; k++)
    for (int i = 0; i < spatial; i++) lists[k][i] = config[n++];
  p->groups = config[n++];
  p->transpose = config[n] & 1;
  return OK;
}

/* Version 2, which PyTorch writes and every reader since 1.5 knows: ("2", [config, weight], [bias]). */
static Status make_state(const ConvParams *p, Tuple *state) {
  int64_t config[MAX_CONFIG];
  int count = config_of(p, config);
  int64_t size = count;
  for (int i = 0; i < count; i++)
    if (config[i] > INT16_MAX)
      return status_new(ERROR_UNSUPPORTED, "a quantized convolution's %lld can't be saved", (long long)config[i]);
  Tensor *numbers;
  List *tensors, *optional;
  TRY(ivalue_from_str(STR("2"), &state->values[0]));
  TRY(list_new(TYPE(TENSOR), 2, &tensors));
  state->values[1] = ivalue_list(tensors);
  TRY(tensor_empty(DTYPE_INT16, 1, &size, &numbers));
  dtype_convert(DTYPE_INT16, tensor_data(numbers), 1, DTYPE_INT64, config, 1, count);
  TRY(list_append(tensors, ivalue_tensor(numbers)));
  TRY(list_append(tensors, ivalue_tensor(tensor_retain(p->weight))));
  TRY(list_new(type_optional_of(TYPE_TENSOR), 1, &optional));
  state->values[2] = ivalue_list(optional);
  return list_append(optional, p->bias ? ivalue_tensor(tensor_retain(p->bias)) : IVALUE_NONE);
}
static Status kernel_getstate(Call *c) {
  const ConvParams *p;
  Tuple *state;
  TRY(params_of(c, &p));
  TRY(tuple_new(3, NULL, &state));
  Status status = make_state(p, state);
  for (uint32_t i = 0; !status && i < 3; i++) call_set(c, i, ivalue_retain(state->values[i]));
  ivalue_release(ivalue_tuple(state));
  return status;
}

typedef struct State {
  const Tensor *weight, *bias;
} State;

static Status bad_state(const char *what) {
  return status_new(ERROR_DATA, "the state of packed convolution parameters: %s", what);
}
static const List *list_of(IValue v) {
  return v.tag == TAG_LIST ? v.list : NULL;
}
static const Tensor *tensor_at(const List *list, size_t i) {
  bool there = list && list->kind == LIST_VALUES && i < list->length && list->values[i].tag == TAG_TENSOR;
  return there && tensor_is_defined(list->values[i].tensor) ? list->values[i].tensor : NULL;
}

static Status read_version_2(const Tuple *t, int spatial, ConvParams *p, State *out) {
  const List *tensors = list_of(t->values[1]), *optional = list_of(t->values[2]);
  const Tensor *config = tensor_at(tensors, 0);
  int64_t numbers[MAX_CONFIG];
  if (!config || config->flags & TENSOR_UNUSUAL || config->ndim != 1 || config->numel > MAX_CONFIG ||
      !config->contiguous || !dtype_is_integral((DType)config->dtype))
    return bad_state("no numbers");
  dtype_convert(DTYPE_INT64, numbers, 1, (DType)config->dtype, tensor_data(config), 1, config->numel);
  out->weight = tensor_at(tensors, 1);
  out->bias = tensor_at(optional, 0);
  return read_config(numbers, (size_t)config->numel, spatial, p);
}
static Status read_version_3(const Tuple *t, int spatial, ConvParams *p, State *out) {
  const List *config = list_of(t->values[1]), *tensors = list_of(t->values[2]);
  int64_t numbers[MAX_CONFIG];
  if (!config || config->length > MAX_CONFIG) return bad_state("no numbers");
  for (size_t i = 0; i < config->length; i++) {
    IValue item = list_get(config, i);
    numbers[i] = item.tag == TAG_INT ? item.i : -1;
    ivalue_release(item);
  }
  out->weight = tensor_at(tensors, 1);
  out->bias = tensor_at(tensors, 2);
  return read_config(numbers, config->length, spatial, p);
}
/* (weight, bias, stride, padding, dilation, groups); lists may be of one-element tensors. */
static Status read_numbers(IValue v, int spatial, int64_t *out) {
  const List *list = list_of(v);
  if (!list || list->length != (size_t)spatial) return bad_state("a list of another length");
  for (int i = 0; i < spatial; i++) {
    IValue item = list_get(list, (size_t)i);
    bool number = item.tag == TAG_INT, tensor = item.tag == TAG_TENSOR && item.tensor->numel == 1 &&
                                                !(item.tensor->flags & (TENSOR_UNUSUAL | TENSOR_UNDEFINED));
    out[i] = number ? item.i : tensor ? tensor_item_int(item.tensor) : -1;
    ivalue_release(item);
    if (!number && !tensor) return bad_state("a list of something else than numbers");
  }
  return OK;
}
static Status read_version_1(const Tuple *t, int spatial, ConvParams *p, State *out) {
  const IValue *v = t->values;
  out->weight = v[0].tag == TAG_TENSOR && tensor_is_defined(v[0].tensor) ? v[0].tensor : NULL;
  out->bias = v[1].tag == TAG_TENSOR && tensor_is_defined(v[1].tensor) ? v[1].tensor : NULL;
  TRY(read_numbers(v[2], spatial, p->stride));
  TRY(read_numbers(v[3], spatial, p->padding));
  TRY(read_numbers(v[4], spatial, p->dilation));
  if (v[5].tag == TAG_INT)
    p->groups = v[5].i;
  else if (v[5].tag == TAG_TENSOR && tensor_is_defined(v[5].tensor) && v[5].tensor->numel == 1)
    p->groups = tensor_item_int(v[5].tensor);
  return OK;
}

static Status read_state(IValue state, int spatial, ConvParams *p, State *out) {
  const Tuple *t = state.tag == TAG_TUPLE ? state.tuple : NULL;
  if (!t || t->length < 3) return bad_state("no tuple");
  if (t->length == 6 && t->values[0].tag == TAG_TENSOR) return read_version_1(t, spatial, p, out);
  if (t->values[0].tag == TAG_STRING && str_is(ivalue_str(t->values[0]), "2"))
    return read_version_2(t, spatial, p, out);
  if (t->values[0].tag == TAG_INT && t->values[0].i == 3) return read_version_3(t, spatial, p, out);
  return bad_state("of a version that is not known");
}

static Status kernel_setstate(Call *c) {
  int spatial = (int)call_param(c);
  State state = {0};
  NativeValue *value;
  ConvParams *p = mem_calloc(1, sizeof *p);
  if (!p) return status_out_of_memory();
  p->spatial = spatial;
  Status status = read_state(call_value(c, 1), spatial, p, &state);
  if (!status && (!state.weight || !tensor_is_quantized(state.weight))) status = bad_state("no quantized weight");
  if (status) {
    mem_free(p);
    return status;
  }
  TRY(finish(p, state.weight, state.bias, &value));
  return native_object_set(call_value(c, 0), value);
}

#define PARAMS_ROW(text, ...) \
  { .schema = text, .flags = OP_NOT_DIFFERENTIABLE | OP_ACCEPT_QUANTIZED, .kernel = __VA_ARGS__ }
#define PREPACK_ROW(name, class_name, dimensions)                                                                      \
  PARAMS_ROW(                                                                                                          \
      name                                                                                                             \
      "_prepack(Tensor weight, Tensor? bias, int[] stride, int[] padding, int[] dilation, int groups) -> " class_name, \
      kernel_prepack, .with = &(const Packing){dimensions, false})
#define TRANSPOSE_ROWS(name, class_name, dimensions)                                                         \
  PARAMS_ROW("quantized::" name                                                                              \
             "_prepack(Tensor weight, Tensor? bias, int[] stride, int[] padding, int[] output_padding, "     \
             "int[] dilation, int groups) -> " class_name,                                                   \
             kernel_prepack, .with = &(const Packing){dimensions, true}),                                    \
      PARAMS_ROW("_quantized::" name                                                                         \
                 "_prepack(Tensor weight, Tensor? bias, int[] stride, int[] padding, int[] output_padding, " \
                 "int[] dilation, int groups) -> " class_name,                                               \
                 kernel_prepack, .with = &(const Packing){dimensions, true})
#define UNPACK_ROW(name, class_name, kernel_function)                           \
  PARAMS_ROW("quantized::" name "_unpack(" class_name                           \
             " packed_weights) -> (Tensor unpacked_weights, Tensor? B_origin)", \
             kernel_function)
#define ASK_ROWS(name, class_name)                                                                                     \
  PARAMS_ROW("quantized::" name "_stride(" class_name " packed_weights) -> int[]", kernel_stride),                     \
      PARAMS_ROW("quantized::" name "_padding(" class_name " packed_weights) -> int[]", kernel_padding),               \
      PARAMS_ROW("quantized::" name "_output_padding(" class_name " packed_weights) -> int[]", kernel_output_padding), \
      PARAMS_ROW("quantized::" name "_dilation(" class_name " packed_weights) -> int[]", kernel_dilation),             \
      PARAMS_ROW("quantized::" name "_groups(" class_name " packed_weights) -> int", kernel_groups),                   \
      PARAMS_ROW("quantized::" name "_transpose(" class_name " packed_weights) -> int", kernel_transpose)
#define CLASS_ROWS(name, class_name, spatial)                                                                   \
  PARAMS_ROW("classes::" name "_getstate(" class_name " self) -> (str, Tensor[], Tensor?[])", kernel_getstate), \
      PARAMS_ROW("classes::" name "_setstate(" class_name "(a!) self, Any state) -> ()", kernel_setstate,       \
                 .param = spatial, OPEN("Any")),                                                                \
      PARAMS_ROW("classes::" name "_weight(" class_name " self) -> Tensor", kernel_weight),                     \
      PARAMS_ROW("classes::" name "_bias(" class_name " self) -> Tensor?", kernel_bias),                        \
      PARAMS_ROW("classes::" name "_unpack(" class_name " self) -> (Tensor, Tensor?)", kernel_unpack),          \
      PARAMS_ROW("classes::" name "_stride(" class_name " self) -> int[]", kernel_stride),                      \
      PARAMS_ROW("classes::" name "_padding(" class_name " self) -> int[]", kernel_padding),                    \
      PARAMS_ROW("classes::" name "_output_padding(" class_name " self) -> int[]", kernel_output_padding),      \
      PARAMS_ROW("classes::" name "_dilation(" class_name " self) -> int[]", kernel_dilation),                  \
      PARAMS_ROW("classes::" name "_groups(" class_name " self) -> int", kernel_groups),                        \
      PARAMS_ROW("classes::" name "_transpose(" class_name " self) -> bool", kernel_transpose_bool)

static const OpRow rows[] = {
    PREPACK_ROW("quantized::conv1d", CONV2D_PARAMS, 1),
    PREPACK_ROW("quantized::conv2d", CONV2D_PARAMS, 2),
    PREPACK_ROW("quantized::conv3d", CONV3D_PARAMS, 3),
    PREPACK_ROW("quantized::conv", CONV2D_PARAMS, 2),
    PREPACK_ROW("_quantized::conv2d", CONV2D_PARAMS, 2),
    PREPACK_ROW("_quantized::conv3d", CONV3D_PARAMS, 3),
    TRANSPOSE_ROWS("conv_transpose1d", CONV2D_PARAMS, 1),
    TRANSPOSE_ROWS("conv_transpose2d", CONV2D_PARAMS, 2),
    TRANSPOSE_ROWS("conv_transpose3d", CONV3D_PARAMS, 3),
    UNPACK_ROW("conv1d", CONV2D_PARAMS, kernel_unpack_1d),
    UNPACK_ROW("conv2d", CONV2D_PARAMS, kernel_unpack),
    UNPACK_ROW("conv3d", CONV3D_PARAMS, kernel_unpack),
    UNPACK_ROW("conv", CONV2D_PARAMS, kernel_unpack),
    UNPACK_ROW("conv_transpose1d", CONV2D_PARAMS, kernel_unpack_1d),
    UNPACK_ROW("conv_transpose2d", CONV2D_PARAMS, kernel_unpack),
    UNPACK_ROW("conv_transpose3d", CONV3D_PARAMS, kernel_unpack),
    ASK_ROWS("conv2d", CONV2D_PARAMS),
    ASK_ROWS("conv3d", CONV3D_PARAMS),
    ASK_ROWS("conv_transpose2d", CONV2D_PARAMS),
    ASK_ROWS("conv_transpose3d", CONV3D_PARAMS),
    PARAMS_ROW("quantized::conv2d_unpack_sizes(Any packed_weights) -> Any", kernel_unpack_sizes,
               OPEN(CONV2D_PARAMS " -> Any")),
    CLASS_ROWS("Conv2dPackedParamsBase", CONV2D_PARAMS, 2),
    CLASS_ROWS("Conv3dPackedParamsBase", CONV3D_PARAMS, 3),
};
OP_TABLE(op_table_quantized_conv_params, rows);

#define METHODS(name)                                                                                   \
  {"__getstate__", "classes::" name "_getstate"}, {"__setstate__", "classes::" name "_setstate"},       \
      {"weight", "classes::" name "_weight"}, {"bias", "classes::" name "_bias"},                       \
      {"unpack", "classes::" name "_unpack"}, {"stride", "classes::" name "_stride"},                   \
      {"padding", "classes::" name "_padding"}, {"output_padding", "classes::" name "_output_padding"}, \
      {"dilation", "classes::" name "_dilation"}, {"groups", "classes::" name "_groups"}, {             \
    "transpose", "classes::" name "_transpose"                                                          \
  }
static const NativeMethod methods_2d[] = {METHODS("Conv2dPackedParamsBase")};
static const NativeMethod methods_3d[] = {METHODS("Conv3dPackedParamsBase")};
const NativeClass native_conv2d_params = {"quantized.Conv2dPackedParamsBase", methods_2d,
                                          sizeof methods_2d / sizeof *methods_2d};
const NativeClass native_conv3d_params = {"quantized.Conv3dPackedParamsBase", methods_3d,
                                          sizeof methods_3d / sizeof *methods_3d};
