/* Rows of the convolutions. All spellings are one operation, described by ConvParams. */
#include "op/nn/conv.h"

#include <assert.h>

#include "call/agree.h"
#include "call/row_extras.h"
#include "compute/conv/conv_backward.h"
#include "tensor/layout.h"

/* A list of one number for each spatial dimension (one number stands for all), into the last `spatial` places. */
static Status read_numbers(const Call *call, const char *name, int at, int spatial, int64_t fallback, int64_t least,
                           int64_t *out) {
  for (int d = 0; d < CONV_SPATIAL; d++) out[d] = fallback;
  if (at < 0 || call->inputs[at].tag != TAG_LIST) return OK;
  size_t count;
  const int64_t *values = call_ints(call, (uint32_t)at, &count);
  if (count != 1 && count != (size_t)spatial)
    return status_new(ERROR_RUNTIME,
                      "expected %s to be a single integer value or a list of %d values to match the convolution "
                      "dimensions, but got %zu values",
                      name, spatial, count);
  for (int d = 0; d < spatial; d++) {
    int64_t v = values[count == 1 ? 0 : d];
    if (v < least)
      return status_new(ERROR_RUNTIME, least > 0 ? "non-positive %s is not supported" : "negative %s is not supported",
                        name);
    if (v > INT32_MAX) return status_new(ERROR_RUNTIME, "%s is too large: %lld", name, (long long)v);
    out[CONV_SPATIAL - spatial + d] = v;
  }
  return OK;
}

static Status read_text_padding(Str mode, ConvParams *p) {
  if (str_is(mode, "valid")) return OK;
  if (!str_is(mode, "same")) return status_new(ERROR_RUNTIME, "Invalid padding string: '" STR_FMT "'", STR_ARG(mode));
  for (int d = 0; d < CONV_SPATIAL; d++) {
    if (p->stride[d] != 1) return status_new(ERROR_RUNTIME, "padding='same' is not supported for strided convolutions");
    int64_t total = p->dilation[d] * (p->kernel[d] - 1);
    p->padding[d] = total / 2;
    p->padding_after[d] = total - p->padding[d];
  }
  return OK;
}

Status conv_params(const Tensor *input, const Tensor *weight, ConvParams *p) {
  int first = p->unbatched ? 0 : 1;
  p->batch = p->unbatched ? 1 : input->sizes[0];
  p->in_channels = input->sizes[first];
  for (int d = 0; d < CONV_SPATIAL; d++) p->in[d] = p->kernel[d] = 1;
  for (int d = 0; d < p->spatial; d++) {
    p->in[CONV_SPATIAL - p->spatial + d] = input->sizes[first + 1 + d];
    p->kernel[CONV_SPATIAL - p->spatial + d] = weight->sizes[2 + d];
  }
  if (p->groups <= 0) return status_new(ERROR_RUNTIME, "non-positive groups is not supported");
  if (weight->sizes[0] < p->groups)
    return status_new(
        ERROR_RUNTIME,
        "Given groups=%lld, expected weight to be at least %lld at dimension 0, but got weight of size %s "
        "instead",
        (long long)p->groups, (long long)p->groups, SIZES_TEXT(weight->ndim, weight->sizes));
  if (p->in_channels % p->groups || weight->sizes[0] % p->groups)
    return status_new(ERROR_RUNTIME,
                      "Given groups=%lld, expected weight to be divisible by %lld at dimension 0, but got weight of "
                      "size %s instead",
                      (long long)p->groups, (long long)p->groups, SIZES_TEXT(weight->ndim, weight->sizes));
  int64_t expected = p->transposed ? weight->sizes[0] : weight->sizes[1] * p->groups;
  if (p->in_channels != expected)
    return status_new(ERROR_RUNTIME,
                      "Given %s=%lld, weight of size %s, expected input%s to have %lld channels, but got %lld channels "
                      "instead",
                      p->transposed ? "transposed" : "groups", p->transposed ? 1 : (long long)p->groups,
                      SIZES_TEXT(weight->ndim, weight->sizes), SIZES_TEXT(input->ndim, input->sizes),
                      (long long)expected, (long long)p->in_channels);
  if (p->transposed && !int64_mul(weight->sizes[1], p->groups, &p->out_channels))
    return status_new(ERROR_RUNTIME, "too many channels");
  if (!p->transposed) p->out_channels = weight->sizes[0];
  return OK;
}

/* "2 x 3", over the dimensions that there are. */
static void put_product(const ConvParams *p, const int64_t *values, StrBuf *out) {
  assert(p->spatial >= 1 && p->spatial <= CONV_SPATIAL);
  for (int d = CONV_SPATIAL - p->spatial; d < CONV_SPATIAL; d++)
    strbuf_printf(out, "%s%lld", d > CONV_SPATIAL - p->spatial ? " x " : "", (long long)values[d]);
}
static Status kernel_too_large(const ConvParams *p) {
  int64_t padded[CONV_SPATIAL], kernel[CONV_SPATIAL];
  StrBuf text = {0};
  for (int d = 0; d < CONV_SPATIAL; d++) {
    padded[d] = p->in[d] + p->padding[d] + p->padding_after[d];
    kernel[d] = (int64_t)((uint64_t)p->dilation[d] * (uint64_t)(p->kernel[d] - 1) + 1);
  }
  strbuf_puts(&text, "Calculated padded input size per channel: (");
  put_product(p, padded, &text);
  strbuf_puts(&text, "). Kernel size: (");
  put_product(p, kernel, &text);
  Status status = status_new(ERROR_RUNTIME, STR_FMT "). Kernel size can't be greater than actual input size",
                             STR_ARG(strbuf_view(&text)));
  strbuf_dispose(&text);
  return status;
}

/* PyTorch computes lines as planes of height 1. */
static Status kernel_is_empty(const ConvParams *p) {
  const int64_t *k = p->kernel;
  if (p->spatial == 3)
    return status_new(ERROR_RUNTIME, "kernel size should be greater than zero, but got: %lld x %lld x %lld (TxHxW)",
                      (long long)k[0], (long long)k[1], (long long)k[2]);
  return status_new(ERROR_RUNTIME,
                    "kernel size should be greater than zero, but got kernel_height: %lld kernel_width: %lld",
                    (long long)k[1], (long long)k[2]);
}

static Status output_sizes(ConvParams *p) {
  for (int d = 0; d < CONV_SPATIAL; d++) {
    int64_t span;
    if (p->kernel[d] < 1) return kernel_is_empty(p);
    if (!int64_mul(p->dilation[d], p->kernel[d] - 1, &span)) return status_new(ERROR_RUNTIME, "kernel is too large");
    if (p->transposed) {
      int64_t wide;
      if (!int64_mul(p->in[d] - 1, p->stride[d], &wide) || !int64_add(wide, span + p->output_padding[d] + 1, &wide))
        return status_new(ERROR_RUNTIME, "output is too large");
      p->out[d] = wide - p->padding[d] - p->padding_after[d];
      if (p->output_padding[d] > 0 && p->output_padding[d] >= p->stride[d] && p->output_padding[d] >= p->dilation[d])
        return status_new(ERROR_RUNTIME,
                          "output padding must be smaller than either stride or dilation, but got output_padding %lld",
                          (long long)p->output_padding[d]);
    } else {
      int64_t padded = p->in[d] + p->padding[d] + p->padding_after[d];
      if (padded < span + 1) return kernel_too_large(p);
      p->out[d] = (padded - span - 1) / p->stride[d] + 1;
    }
    if (p->out[d] < 0 || (p->transposed && p->out[d] == 0 && p->in[d] > 0))
      return status_new(
          ERROR_RUNTIME,
          "Given input size per channel, calculated output size per channel: (%lld). Output size is too small",
          (long long)p->out[d]);
  }
  return OK;
}

const int64_t *conv_result_sizes(const ConvParams *p, int64_t *sizes) {
  sizes[0] = p->batch;
  sizes[1] = p->out_channels;
  for (int d = 0; d < p->spatial; d++) sizes[2 + d] = p->out[CONV_SPATIAL - p->spatial + d];
  return sizes;
}

Status conv_read(const Call *call, ConvParams *p) {
  ConvPlaces places = {.input = call_find_argument(call, "input"),
                       .weight = call_find_argument(call, "weight"),
                       .bias = call_find_argument(call, "bias"),
                       .stride = call_find_argument(call, "stride"),
                       .padding = call_find_argument(call, "padding"),
                       .dilation = call_find_argument(call, "dilation"),
                       .groups = call_find_argument(call, "groups"),
                       .transposed = call_find_argument(call, "transposed"),
                       .output_padding = call_find_argument(call, "output_padding")};
  if (places.input < 0) places.input = call_find_argument(call, "self");
  return conv_read_at(call, &places, p);
}

/* conv2d, conv_transpose3d; 0: it has none */
static int rank_in_name(Str name) {
  char digit = name.length >= 2 && name.data[name.length - 1] == 'd' ? name.data[name.length - 2] : 0;
  return digit >= '1' && digit <= '3' ? digit - '0' : 0;
}

Status conv_read_at(const Call *call, const ConvPlaces *places, ConvParams *p) {
  const Tensor *input = call_tensor(call, (uint32_t)places->input),
               *weight = call_tensor(call, (uint32_t)places->weight);
  const Tensor *bias = places->bias < 0 ? NULL : call_tensor_or_null(call, (uint32_t)places->bias);
  Str name = call->op->name;
  memset(p, 0, sizeof *p);
  p->spatial = weight->ndim - 2;
  int n = rank_in_name(name);
  if (n && p->spatial != n) {
    p->spatial = n; /* the input's rank is looked at first, below */
    if (input->ndim == n + 1 || input->ndim == n + 2)
      return status_new(ERROR_RUNTIME,
                        "Expected %dD (unbatched) or %dD (batched) input to " STR_FMT
                        ", with weight of %d dimensions, but got weight of %d dimensions",
                        n + 1, n + 2, STR_ARG(name), n + 2, weight->ndim);
  }
  if (p->spatial < 1 || p->spatial > CONV_SPATIAL)
    return status_new(ERROR_RUNTIME, "weight should have at least three dimensions and at most five, but has %d",
                      weight->ndim);
  if (input->ndim != p->spatial + 1 && input->ndim != p->spatial + 2)
    return status_new(ERROR_RUNTIME,
                      "Expected %dD (unbatched) or %dD (batched) input to " STR_FMT ", but got input of size: %s",
                      p->spatial + 1, p->spatial + 2, STR_ARG(str_slice(name, 6, name.length)),
                      SIZES_TEXT(input->ndim, input->sizes));
  p->unbatched = input->ndim == p->spatial + 1;
  p->transposed = places->transposed >= 0 ? call_bool(call, (uint32_t)places->transposed)
                                          : str_starts_with(name, "aten::conv_transpose");
  p->groups = places->groups >= 0 ? call_int(call, (uint32_t)places->groups) : 1;
  TRY(read_numbers(call, "stride", places->stride, p->spatial, 1, 1, p->stride));
  TRY(read_numbers(call, "dilation", places->dilation, p->spatial, 1, 1, p->dilation));
  TRY(read_numbers(call, "padding", places->padding, p->spatial, 0, 0, p->padding));
  TRY(read_numbers(call, "output_padding", places->output_padding, p->spatial, 0, 0, p->output_padding));
  if (!p->transposed) memset(p->output_padding, 0, sizeof p->output_padding);
  memcpy(p->padding_after, p->padding, sizeof p->padding);
  TRY(conv_params(input, weight, p));
  if (places->padding >= 0 && call->inputs[places->padding].tag == TAG_STRING)
    TRY(read_text_padding(call_str(call, (uint32_t)places->padding), p));
  if (input->dtype != weight->dtype)
    return status_new(ERROR_RUNTIME, "expected scalar type %s but found %s", dtype_scalar_name((DType)input->dtype),
                      dtype_scalar_name((DType)weight->dtype));
  /* Autocast leaves a bias of type Tensor? as it is; oneDNN adds it in float32, too. */
  bool wider_bias = bias && bias->dtype == DTYPE_FLOAT32 && input->dtype == DTYPE_BFLOAT16;
  if (bias && bias->dtype != input->dtype && !wider_bias)
    return status_new(ERROR_RUNTIME, "Input type (%s) and bias type (%s) should be the same",
                      dtype_scalar_name((DType)input->dtype), dtype_scalar_name((DType)bias->dtype));
  if (bias && (bias->ndim != 1 || bias->sizes[0] != p->out_channels))
    return status_new(ERROR_RUNTIME,
                      "Given weight of size %s, expected bias to be 1-dimensional with %lld elements, but got bias of "
                      "size %s instead",
                      SIZES_TEXT(weight->ndim, weight->sizes), (long long)p->out_channels,
                      SIZES_TEXT(bias->ndim, bias->sizes));
  return output_sizes(p);
}

/* Planes follow what either operand suggests; lines that are not row-major are copied so first; volumes and transposed
 * convolutions are row-major. */
static void set_layout(const ConvParams *p, const Tensor *input, const Tensor *weight, TensorSpec *specs) {
  assert(p->spatial >= 1 && p->spatial <= CONV_SPATIAL);
  if (p->spatial == 2) {
    layout_suggested(input, specs);
    if (!specs->has_strides) layout_suggested(weight, specs);
  } else if (p->spatial == 1 && tensor_is_contiguous(input)) {
    layout_of_lines(input, specs);
  }
}

bool conv_gives_row_major(const ConvParams *p, const Tensor *input, const Tensor *weight) {
  if (input->row_major && weight->row_major) return true;
  TensorSpec spec;
  memset(&spec, 0, offsetof(TensorSpec, sizes));
  spec.ndim = p->spatial + 2;
  conv_result_sizes(p, spec.sizes);
  set_layout(p, input, weight, &spec);
  return !spec.has_strides;
}

static Status shape_conv(Call *call, TensorSpec *specs) {
  ConvParams p;
  const ConvPlaces *places = call_with(call);
  TRY(conv_read_at(call, places, &p));
  const Tensor *input = call_tensor(call, (uint32_t)places->input),
               *weight = call_tensor(call, (uint32_t)places->weight);
  memset(specs, 0, offsetof(TensorSpec, sizes));
  specs->dtype = (DType)input->dtype;
  specs->device = tensor_device(input);
  specs->ndim = input->ndim;
  int at = 0;
  if (!p.unbatched) specs->sizes[at++] = p.batch;
  specs->sizes[at++] = p.out_channels;
  for (int d = 0; d < p.spatial; d++) specs->sizes[at++] = p.out[CONV_SPATIAL - p.spatial + d];
  if (!p.unbatched && !p.transposed) set_layout(&p, input, weight, specs);
  return OK;
}

/* Operands dense and of the type the portable kernels take. */
static Status portable_operand(const Tensor *t, DType dtype, Tensor **out) {
  if (!t) return OK;
  Tensor *converted;
  TRY(tensor_to_dtype(t, dtype, &converted));
  Status status = tensor_contiguous(converted, out);
  tensor_release(converted);
  return status;
}

static DType compute_dtype(DType dtype) {
  return dtype == DTYPE_FLOAT32 || dtype == DTYPE_FLOAT16 || dtype == DTYPE_BFLOAT16 ? DTYPE_FLOAT32 : DTYPE_FLOAT64;
}

/* A complex convolution is four real ones: calls itself through the operator on real and imaginary parts. */
static Status conv_complex(Call *call, int input_at, int weight_at, int bias_at) {
  static OpRef view_as_real = OP_REF("aten::view_as_real", ""), select = OP_REF("aten::select", "int"),
               sub = OP_REF("aten::sub", "Tensor"), add = OP_REF("aten::add", "Tensor"),
               complex = OP_REF("aten::complex", "");
  Exec *exec = call->exec;
  IValue parts[2][2] = {{IVALUE_NONE, IVALUE_NONE}, {IVALUE_NONE, IVALUE_NONE}},
         products[2][2] = {{IVALUE_NONE, IVALUE_NONE}, {IVALUE_NONE, IVALUE_NONE}};
  IValue real = IVALUE_NONE, imaginary = IVALUE_NONE, whole = IVALUE_NONE, inputs[16];
  Status status = OK;
  const int at[2] = {input_at, weight_at};
  for (int k = 0; k < 2; k++) {
    IValue pair = IVALUE_NONE;
    TRY_GOTO(op_call(exec, &view_as_real, 1, &call->inputs[at[k]], 1, &pair), done);
    for (int part = 0; part < 2 && status == OK; part++)
      status = op_call(exec, &select, 3, (IValue[]){pair, ivalue_int(-1), ivalue_int(part)}, 1, &parts[k][part]);
    ivalue_release(pair);
    if (status != OK) goto done;
  }
  memcpy(inputs, call->inputs, call->input_count * sizeof *inputs);
  if (bias_at >= 0) inputs[bias_at] = IVALUE_NONE;
  for (int i = 0; i < 2; i++)
    for (int w = 0; w < 2; w++) {
      inputs[input_at] = parts[0][i];
      inputs[weight_at] = parts[1][w];
      Call inner = {.exec = exec,
                    .op = call->op,
                    .inputs = inputs,
                    .outputs = &products[i][w],
                    .input_count = call->input_count,
                    .output_count = 1};
      TRY_GOTO(operator_call(exec, call->op, &inner), done);
    }
  TRY_GOTO(op_call(exec, &sub, 3, (IValue[]){products[0][0], products[1][1], ivalue_int(1)}, 1, &real), done);
  TRY_GOTO(op_call(exec, &add, 3, (IValue[]){products[0][1], products[1][0], ivalue_int(1)}, 1, &imaginary), done);
  TRY_GOTO(op_call(exec, &complex, 2, (IValue[]){real, imaginary}, 1, &whole), done);
  if (bias_at >= 0 && !call_is_none(call, (uint32_t)bias_at)) {
    Tensor *bias = call_tensor(call, (uint32_t)bias_at), *spread;
    int64_t sizes[TENSOR_MAX_DIMS], strides[TENSOR_MAX_DIMS] = {0};
    Tensor *out = call_out(call, 0);
    int channel = out->ndim - (call_tensor(call, (uint32_t)weight_at)->ndim - 1);
    for (int d = 0; d < out->ndim; d++) sizes[d] = out->sizes[d];
    strides[channel] = bias->strides[0];
    TRY_GOTO(tensor_as_strided(bias, out->ndim, sizes, strides, bias->offset, &spread), done);
    IValue sum = IVALUE_NONE;
    status = op_call(exec, &add, 3, (IValue[]){whole, ivalue_tensor(spread), ivalue_int(1)}, 1, &sum);
    tensor_release(spread);
    if (status != OK) goto done;
    ivalue_release(whole);
    whole = sum;
  }
  status = tensor_copy(call_out(call, 0), whole.tensor, exec->work.threads);
done:
  for (int i = 0; i < 2; i++)
    for (int k = 0; k < 2; k++) {
      ivalue_release(parts[i][k]);
      ivalue_release(products[i][k]);
    }
  ivalue_release(real);
  ivalue_release(imaginary);
  ivalue_release(whole);
  return status;
}

/* float32 of one layout, which results have, too. */
static bool is_channels_last(const Exec *exec, const ConvParams *p, const Tensor *input, const Tensor *out) {
  return input->dtype == DTYPE_FLOAT32 && p->spatial == 2 && conv_takes_channels_last(&exec->work, p) &&
         !tensor_is_contiguous(out) && tensor_is_channels_last(input) && tensor_is_channels_last(out);
}

static Status kernel_conv(Call *call) {
  ConvParams p;
  const ConvPlaces *places = call_with(call);
  TRY(conv_read_at(call, places, &p));
  const Tensor *input = call_tensor(call, (uint32_t)places->input),
               *weight = call_tensor(call, (uint32_t)places->weight);
  const Tensor *bias = call_tensor_or_null(call, (uint32_t)places->bias);
  Tensor *out = call_out(call, 0);
  if (out->numel == 0) return OK;
  if (dtype_is_complex((DType)input->dtype)) return conv_complex(call, places->input, places->weight, places->bias);
  DType dtype = compute_dtype((DType)input->dtype);
  Tensor *x = NULL, *w = NULL, *b = NULL, *y = NULL;
  Status status;
  bool channels_last = is_channels_last(call->exec, &p, input, out);
  if (!channels_last) TRY_GOTO(portable_operand(input, dtype, &x), done);
  TRY_GOTO(portable_operand(weight, dtype, &w), done);
  TRY_GOTO(portable_operand(bias, dtype, &b), done);
  ConvEpilogue bias_only = {.shift = b ? tensor_data(b) : NULL};
  if (channels_last) {
    status = conv_forward_channels_last(&call->exec->work, &p, input, w, bias_only.shift, out);
    goto done;
  }
  if (out->dtype == dtype && tensor_is_contiguous(out))
    y = tensor_retain(out);
  else
    TRY_GOTO(tensor_empty(dtype, out->ndim, out->sizes, &y), done);
  if (dtype != DTYPE_FLOAT32) TRY_GOTO(tensor_restore(w), done);
  if (dtype == DTYPE_FLOAT32)
    status = conv_forward(&call->exec->work, &p, x, w, &bias_only, y);
  else
    status = conv_forward_portable(&call->exec->work, &p, dtype, tensor_data(x), tensor_data(w),
                                   b ? tensor_data(b) : NULL, tensor_data(y));
  if (status == OK && y != out) status = tensor_copy(out, y, call->exec->work.threads);
done:
  tensor_release(x);
  tensor_release(w);
  tensor_release(b);
  tensor_release(y);
  return status;
}

/* Of an operand, in its dtype; images and filters in the layout that either operand suggests, as convolutions' results
 * are. */
static Status finish_gradient(const ConvParams *p, const Tensor *gradient, const Tensor *operand, const Tensor *input,
                              const Tensor *weight, Tensor **out) {
  TensorSpec spec;
  tensor_spec_of(operand, &spec);
  spec.dtype = (DType)input->dtype;
  spec.has_strides = false;
  if (operand == input && input->numel == 0)
    layout_preserve(input, &spec);
  else if (!p->transposed && (operand == input || p->spatial == 2))
    set_layout(p, input, weight, &spec);
  if (!spec.has_strides) return tensor_to_dtype(gradient, (DType)input->dtype, out);
  TRY(tensor_new(&spec, out));
  Status status = tensor_copy(*out, gradient, 1);
  if (!status) return OK;
  tensor_release(*out);
  *out = NULL;
  return status;
}

/* (grad_input, grad_weight, grad_bias), each undefined where output_mask says it is not wanted. */
static Status kernel_conv_backward(Call *call) {
  const Tensor *grad = call_tensor(call, 0), *input = call_tensor(call, 1), *weight = call_tensor(call, 2);
  const bool *mask = call_list(call, 10)->bools;
  ConvParams p;
  TRY(conv_read(call, &p));
  DType dtype = compute_dtype((DType)input->dtype);
  Tensor *g = NULL, *x = NULL, *w = NULL, *results[3] = {NULL};
  const Tensor *like[3] = {input, weight, NULL};
  Status status = OK;
  if (call_list(call, 10)->length != 3) return status_new(ERROR_RUNTIME, "output_mask must have three entries");
  if (dtype_is_complex((DType)input->dtype)) return call_unsupported_dtype(call, (DType)input->dtype);
  int64_t expected, sizes[] = {p.batch, p.out_channels, p.out[0], p.out[1], p.out[2]};
  TRY(sizes_numel(5, sizes, &expected));
  TRY(require_dtype(grad, (DType)input->dtype));
  if (grad->numel != expected || grad->ndim != input->ndim)
    return status_new(ERROR_RUNTIME, "grad_output of sizes %s does not fit an output of %lld elements",
                      SIZES_TEXT(grad->ndim, grad->sizes), (long long)expected);
  TRY_GOTO(portable_operand(grad, dtype, &g), done);
  TRY_GOTO(portable_operand(input, dtype, &x), done);
  TRY_GOTO(portable_operand(weight, dtype, &w), done);
  for (int i = 0; i < 3; i++) {
    if (!mask[i]) continue;
    TRY_GOTO(tensor_empty(dtype, i == 2 ? 1 : like[i]->ndim, i == 2 ? &p.out_channels : like[i]->sizes, &results[i]),
             done);
  }
  TRY_GOTO(conv_backward(&call->exec->work, &p, dtype, tensor_data(g), tensor_data(x), tensor_data(w),
                         results[0] ? tensor_data(results[0]) : NULL, results[1] ? tensor_data(results[1]) : NULL,
                         results[2] ? tensor_data(results[2]) : NULL),
           done);
  for (uint32_t i = 0; i < 3; i++) {
    Tensor *final = results[i] ? NULL : tensor_undefined();
    if (results[i] && i < 2)
      TRY_GOTO(finish_gradient(&p, results[i], like[i], input, weight, &final), done);
    else if (results[i])
      TRY_GOTO(tensor_to_dtype(results[i], (DType)input->dtype, &final), done);
    call_set_tensor(call, i, final);
  }
done:
  tensor_release(g);
  tensor_release(x);
  tensor_release(w);
  for (int i = 0; i < 3; i++) tensor_release(results[i]);
  return status;
}

/* Every element of the smaller side of the window meets a whole filter of its group. */
double conv_flops(const Call *call) {
  ConvParams p;
  Status status = conv_read(call, &p);
  status_free(status);
  if (status) return 0;
  const int64_t *places = p.transposed ? p.in : p.out;
  double window = (double)(p.kernel[0] * p.kernel[1] * p.kernel[2]);
  return 2 * (double)(p.batch * places[0] * places[1] * places[2]) * window * (double)p.in_channels *
         (double)p.out_channels / (double)p.groups;
}

/* As TorchScript has it, convolutions are differentiated where they run, not in graphs.
 * The gradient of a spelling with its own arguments as convolution_backward's. */
#define GRAD(input, stride, padding, dilation, transposed, output_padding, groups)                        \
  input ", weight, bias: conv_backward(grad, " input ", weight, bias, " stride ", " padding ", " dilation \
        ", " transposed ", " output_padding ", " groups ")"
#define CONV_WITH(extras_, text, places, ...)                                                           \
  {                                                                                                     \
    .schema = text, .shape = shape_conv, .kernel = kernel_conv, .with = &(places), .flops = conv_flops, \
    .flags = OP_EAGER_ONLY, .extras = &(extras_), .grad = __VA_ARGS__                                   \
  }
#define PLAIN_CONV(text, places, ...) CONV_WITH(plain_extras, text, places, __VA_ARGS__)
#define CONV(text, places, ...) CONV_WITH(general_extras, text, places, __VA_ARGS__)
static const RowExtras plain_extras = {.restores = 1 << 1, .anchor = &conv_anchor},
                       general_extras = {.restores = 1 << 1, .anchor = &conv_general_anchor};
/* Where each schema has its arguments. */
static const ConvPlaces in_short = {.input = 0,
                                    .weight = 1,
                                    .bias = 2,
                                    .stride = 3,
                                    .padding = 4,
                                    .dilation = 5,
                                    .groups = 6,
                                    .transposed = -1,
                                    .output_padding = -1};
static const ConvPlaces in_transposed = {.input = 0,
                                         .weight = 1,
                                         .bias = 2,
                                         .stride = 3,
                                         .padding = 4,
                                         .output_padding = 5,
                                         .groups = 6,
                                         .dilation = 7,
                                         .transposed = -1};
static const ConvPlaces in_full = {.input = 0,
                                   .weight = 1,
                                   .bias = 2,
                                   .stride = 3,
                                   .padding = 4,
                                   .dilation = 5,
                                   .transposed = 6,
                                   .output_padding = 7,
                                   .groups = 8};
static const ConvPlaces in_mkldnn = {.input = 0,
                                     .weight = 1,
                                     .bias = 2,
                                     .padding = 3,
                                     .stride = 4,
                                     .dilation = 5,
                                     .groups = 6,
                                     .transposed = -1,
                                     .output_padding = -1};
#define PLAIN GRAD("input", "stride", "padding", "dilation", "False", "[0]", "groups")
#define PADDED \
  "input, weight, bias: conv_padding_backward(grad, input, weight, bias, stride, padding, dilation, groups)"
#define TRANSPOSED GRAD("input", "stride", "padding", "dilation", "True", "output_padding", "groups")
#define GENERAL GRAD("input", "stride", "padding", "dilation", "transposed", "output_padding", "groups")
static const OpRow rows[] = {
    PLAIN_CONV(
        "aten::conv1d(Tensor input, Tensor weight, Tensor? bias=None, int[1] stride=[1], int[1] padding=[0], int[1] "
        "dilation=[1], int groups=1) -> Tensor",
        in_short, PLAIN, .cast = CAST_REDUCED, .conv_dims = 1),
    PLAIN_CONV("aten::conv2d(Tensor input, Tensor weight, Tensor? bias=None, int[2] stride=1, int[2] padding=0, int[2] "
               "dilation=1, int groups=1) -> Tensor",
               in_short, PLAIN, .cast = CAST_REDUCED, .conv_dims = 2),
    PLAIN_CONV("aten::conv3d(Tensor input, Tensor weight, Tensor? bias=None, int[3] stride=1, int[3] padding=0, int[3] "
               "dilation=1, int groups=1) -> Tensor",
               in_short, PLAIN, .cast = CAST_REDUCED, .conv_dims = 3),
    PLAIN_CONV("aten::conv1d.padding(Tensor input, Tensor weight, Tensor? bias=None, int[1] stride=[1], str "
               "padding=\"valid\", int[1] dilation=[1], int groups=1) -> Tensor",
               in_short, PADDED, .cast = CAST_REDUCED, .conv_dims = 1),
    PLAIN_CONV(
        "aten::conv2d.padding(Tensor input, Tensor weight, Tensor? bias=None, int[2] stride=1, str padding=\"valid\", "
        "int[2] dilation=1, int groups=1) -> Tensor",
        in_short, PADDED, .cast = CAST_REDUCED, .conv_dims = 2),
    PLAIN_CONV(
        "aten::conv3d.padding(Tensor input, Tensor weight, Tensor? bias=None, int[3] stride=1, str padding=\"valid\", "
        "int[3] dilation=1, int groups=1) -> Tensor",
        in_short, PADDED, .cast = CAST_REDUCED, .conv_dims = 3),
    CONV("aten::_convolution_mode(Tensor input, Tensor weight, Tensor? bias, int[] stride, str padding, int[] "
         "dilation, int groups) -> Tensor",
         in_short, PADDED),
    CONV("aten::conv_transpose1d(Tensor input, Tensor weight, Tensor? bias=None, int[1] stride=[1], int[1] "
         "padding=[0], int[1] output_padding=[0], int groups=1, int[1] dilation=[1]) -> Tensor",
         in_transposed, TRANSPOSED, .cast = CAST_REDUCED, .conv_dims = 1),
    CONV("aten::conv_transpose2d.input(Tensor input, Tensor weight, Tensor? bias=None, int[2] stride=1, int[2] "
         "padding=0, int[2] output_padding=0, int groups=1, int[2] dilation=1) -> Tensor",
         in_transposed, TRANSPOSED, .conv_dims = 2),
    CONV("aten::conv_transpose3d.input(Tensor input, Tensor weight, Tensor? bias=None, int[3] stride=1, int[3] "
         "padding=0, int[3] output_padding=0, int groups=1, int[3] dilation=1) -> Tensor",
         in_transposed, TRANSPOSED, .conv_dims = 3),
    CONV("aten::convolution(Tensor input, Tensor weight, Tensor? bias, int[] stride, int[] padding, int[] dilation, "
         "bool transposed, int[] output_padding, int groups) -> Tensor",
         in_full, GENERAL, .cast = CAST_REDUCED, .conv_dims = CONV_ANY_DIMS),
    CONV("aten::_convolution(Tensor input, Tensor weight, Tensor? bias, int[] stride, int[] padding, int[] dilation, "
         "bool transposed, int[] output_padding, int groups, bool benchmark, bool deterministic, bool cudnn_enabled, "
         "bool allow_tf32) -> Tensor",
         in_full, GENERAL, .cast = CAST_REDUCED),
    CONV("aten::_convolution.deprecated(Tensor input, Tensor weight, Tensor? bias, int[] stride, int[] padding, int[] "
         "dilation, bool transposed, int[] output_padding, int groups, bool benchmark, bool deterministic, bool "
         "cudnn_enabled) -> Tensor",
         in_full, GENERAL, .cast = CAST_REDUCED),
    CONV("aten::mkldnn_convolution(Tensor self, Tensor weight, Tensor? bias, int[] padding, int[] stride, int[] "
         "dilation, int groups) -> Tensor",
         in_mkldnn, GRAD("self", "stride", "padding", "dilation", "False", "[0]", "groups")),
    {.schema = "aten::convolution_backward(Tensor grad_output, Tensor input, Tensor weight, SymInt[]? bias_sizes, "
               "int[] stride, int[] padding, int[] dilation, bool transposed, int[] output_padding, int groups, "
               "bool[3] output_mask) -> (Tensor, Tensor, Tensor)",
     .kernel = kernel_conv_backward,
     .grad = "grad_output, input, weight: convolution_second_order(grads, grad_output, input, weight, stride, padding, "
             "dilation, transposed, "
             "output_padding, groups, output_mask)"},
    {.schema = "aten::conv_tbc(Tensor self, Tensor weight, Tensor bias, int pad=0) -> Tensor",
     .cast = CAST_REDUCED,
     .body = "return torch.conv1d(self.permute([1, 2, 0]), weight.permute([2, 1, 0]), bias, [1], [pad]).permute([2, 0, "
             "1]).contiguous()"},
};
OP_TABLE(op_table_conv, rows);
