/* Normalization of quantized tensors by known statistics: one scale and shift a channel, over integers. */
#include <math.h>

#include "call/row.h"
#include "op/quantized/quantized.h"
#include "tensor/iterate.h"
#include "tensor/quantizer.h"

typedef struct Affine {
  DType dtype;
  float scale, shift; /* of steps: q' = rint(scale * (q - zero_in) + shift) + zero */
  int64_t zero_in, zero, least, most;
} Affine;

static void run(void *argument, int64_t n, char *const *data, const int64_t *strides) {
  const Affine *a = argument;
  for (int64_t i = 0; i < n; i++) {
    const char *from = data[1] + i * strides[1];
    char *to = data[0] + i * strides[0];
    int64_t q = a->dtype == DTYPE_QUINT8  ? *(const uint8_t *)from
                : a->dtype == DTYPE_QINT8 ? *(const int8_t *)from
                                          : *(const int32_t *)from;
    float y = rintf((float)(q - a->zero_in) * a->scale + a->shift) + (float)a->zero;
    int64_t limited = y >= (float)a->most ? a->most : y > (float)a->least ? (int64_t)y : a->least;
    if (a->dtype == DTYPE_QINT32)
      *(int32_t *)to = (int32_t)limited;
    else
      *to = (char)limited;
  }
}

static Status numbers_or(const Tensor *t, int64_t channels, float fallback, Tensor **out) {
  TRY(tensor_empty(DTYPE_FLOAT32, 1, &channels, out));
  Status status = OK;
  if (t && (t->ndim != 1 || t->numel != channels || t->flags & TENSOR_UNUSUAL))
    status = status_new(ERROR_RUNTIME, "batch norm of %lld channels: a parameter has sizes %s", (long long)channels,
                        SIZES_TEXT(t->ndim, t->sizes));
  else if (t)
    status = tensor_copy(*out, t, 1);
  for (int64_t i = 0; !t && i < channels; i++) ((float *)tensor_data(*out))[i] = fallback;
  if (status) {
    tensor_release(*out);
    *out = NULL;
  }
  return status;
}

static Status normalize(const Tensor *out, const Tensor *x, Tensor *const *parameters, double eps, float scale_in,
                        float scale_out, Affine *a) {
  const float *weight = tensor_data(parameters[0]), *bias = tensor_data(parameters[1]),
              *mean = tensor_data(parameters[2]), *var = tensor_data(parameters[3]);
  for (int64_t i = 0; i < x->sizes[1]; i++) {
    Tensor *to, *from;
    Iterator it;
    float inverse = (float)(1.0 / (double)sqrtf(var[i] + (float)eps));
    a->scale = inverse * weight[i] * (scale_in / scale_out);
    a->shift = (bias[i] - mean[i] * inverse * weight[i]) / scale_out;
    TRY(tensor_slice(out, 1, i, i + 1, 1, &to));
    Status status = tensor_slice(x, 1, i, i + 1, 1, &from);
    if (!status) {
      status = iterator_init(&it, 2, (const Tensor *const[]){to, from});
      if (!status) iterator_run(&it, 0, it.numel, run, a);
      tensor_release(from);
    }
    tensor_release(to);
    TRY(status);
  }
  return OK;
}

/* (input, weight, bias, mean, var, eps, output_scale, output_zero_point) */
static Status kernel_batch_norm(Call *c) {
  const Tensor *x = call_tensor(c, 0);
  double scale = call_double(c, 6);
  int64_t zero = call_int(c, 7), strides[TENSOR_MAX_DIMS];
  TRY(expect_per_tensor(c, x));
  TRY(quantizer_check_scale((DType)x->dtype, scale, zero));
  if (x->ndim < 2)
    return status_new(ERROR_RUNTIME, STR_FMT ": expected at least 2 dimensions, got %d", STR_ARG(c->op->name), x->ndim);
  if (x->numel == 0) { /* quantized as it came */
    Tensor *same;
    TRY(tensor_clone(x, &same));
    call_set_tensor(c, 0, same);
    return OK;
  }
  Affine a = {(DType)x->dtype,
              0,
              0,
              tensor_quantizer(x)->zero_point,
              zero,
              dtype_quantized_min((DType)x->dtype),
              dtype_quantized_max((DType)x->dtype)};
  Tensor *parameters[4] = {0}, *out = NULL;
  Quantizer *q = NULL;
  Status status = OK;
  for (uint32_t i = 0; !status && i < 4; i++)
    status = numbers_or(call_tensor_or_null(c, i + 1), x->sizes[1], i == 0 ? 1 : 0, &parameters[i]);
  if (x->ndim == 4 || x->ndim == 5)
    strides_channels_last(x->ndim, x->sizes, strides); /* whatever the input's memory */
  else
    strides_preserve(x->ndim, x->sizes, x->strides, strides);
  if (!status) status = quantizer_new_per_tensor(scale, zero, &q);
  if (!status) status = tensor_new_quantized(a.dtype, x->ndim, x->sizes, strides, q, &out);
  if (!status && x->numel)
    status = normalize(out, x, parameters, call_double(c, 5), (float)tensor_quantizer(x)->scale, (float)scale, &a);
  quantizer_release(q);
  for (int i = 0; i < 4; i++) tensor_release(parameters[i]);
  if (status)
    tensor_release(out);
  else
    call_set_tensor(c, 0, out);
  return status;
}

static const OpRow rows[] = {
    {.schema = "aten::quantized_batch_norm(Tensor input, Tensor? weight, Tensor? bias, Tensor mean, Tensor var, float "
               "eps, float output_scale, int output_zero_point) -> Tensor",
     .kernel = kernel_batch_norm,
     .flags = OP_NOT_DIFFERENTIABLE | OP_ACCEPT_QUANTIZED | OP_OUT},
};
OP_TABLE(op_table_quantized_norm, rows);
