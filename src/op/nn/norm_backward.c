/* The gradients of batch normalization. */
#include <math.h>

#include "call/agree.h"
#include "call/row.h"
#include "compute/norm/norm_batch.h"

enum { GRAD, INPUT, WEIGHT, RUNNING_MEAN, RUNNING_VAR, SAVE_MEAN, SAVE_INVSTD, TRAIN, EPS, OUTPUT_MASK };

/* Defined, or NULL. */
static const Tensor *given(const Call *call, uint32_t i) {
  const Tensor *t = call_tensor_or_null(call, i);
  return t && tensor_is_defined(t) ? t : NULL;
}

static Status check(const Call *call, bool training) {
  static const char *const names[] = {"weight", "running_mean", "running_var", "save_mean", "save_invstd"};
  const Tensor *grad = call_tensor(call, GRAD), *input = call_tensor(call, INPUT);
  if (call_list(call, OUTPUT_MASK)->length != 3)
    return status_new(ERROR_RUNTIME, "output_mask must have three entries");
  if (!dtype_is_floating((DType)input->dtype)) return call_unsupported_dtype(call, (DType)input->dtype);
  TRY(require_dtype(grad, (DType)input->dtype));
  if (input->ndim < 2 && input->numel)
    return status_new(ERROR_RUNTIME, "batch_norm: expected at least 2 dimensions, got %d", input->ndim);
  if (grad->ndim != input->ndim || memcmp(grad->sizes, input->sizes, (size_t)input->ndim * sizeof *input->sizes) != 0)
    return status_new(ERROR_RUNTIME, "batch_norm: grad_out of sizes %s does not fit an input of sizes %s",
                      SIZES_TEXT(grad->ndim, grad->sizes), SIZES_TEXT(input->ndim, input->sizes));
  if (!input->numel) return OK; /* of which nothing else is looked at, forward either */
  for (uint32_t i = WEIGHT; i <= SAVE_INVSTD; i++) {
    const Tensor *t = given(call, i);
    if (t && (t->ndim != 1 || t->numel != input->sizes[1]))
      return status_new(ERROR_RUNTIME, "%s should contain %lld elements not %lld", names[i - WEIGHT],
                        (long long)input->sizes[1], (long long)t->numel);
  }
  if (!training && (!given(call, RUNNING_MEAN) || !given(call, RUNNING_VAR)))
    return status_new(ERROR_RUNTIME, "Expected running_mean and running_var to be defined when training is False");
  return OK;
}

/* A dense operand of the type that is computed in; in rows of channels where `last`. */
static Status operand(const Call *call, const Tensor *t, DType dtype, bool last, Tensor **out) {
  Tensor *converted;
  TRY(tensor_to_dtype(t, dtype, &converted));
  Status status = OK;
  if (!last) {
    status = tensor_contiguous(converted, out);
  } else if (tensor_is_channels_last(converted)) {
    *out = tensor_retain(converted);
  } else {
    TensorSpec spec;
    tensor_spec_of(converted, &spec);
    spec.has_strides = true;
    strides_channels_last(spec.ndim, spec.sizes, spec.strides);
    status = tensor_new(&spec, out);
    if (!status) status = tensor_copy(*out, converted, call->exec->work.threads);
  }
  tensor_release(converted);
  return status;
}

static void read_doubles(const Tensor *t, double *out) {
  dtype_convert(DTYPE_FLOAT64, out, 1, (DType)t->dtype, tensor_data(t), t->strides[0], t->numel);
}

/* Mean and invstd of each channel: what is given, else what x has. */
static Status read_statistics(const Call *call, const NormBatch *b, bool training, double *mean, double *invstd) {
  double eps = call_double(call, EPS);
  bool is_saved = training && given(call, SAVE_MEAN) && given(call, SAVE_INVSTD);
  if (is_saved) {
    read_doubles(given(call, SAVE_MEAN), mean);
    read_doubles(given(call, SAVE_INVSTD), invstd);
    return OK;
  }
  if (training) {
    TRY(norm_batch_statistics(call->exec->work.threads, b, mean, invstd));
  } else {
    read_doubles(given(call, RUNNING_MEAN), mean);
    read_doubles(given(call, RUNNING_VAR), invstd);
  }
  for (int64_t c = 0; c < b->channels; c++) invstd[c] = 1 / sqrt(invstd[c] + eps);
  return OK;
}

/* A vector of the weight's type, else the input's. */
static Status vector_of(const Call *call, int64_t channels, const double *values, Tensor **out) {
  const Tensor *like = given(call, WEIGHT) ? given(call, WEIGHT) : call_tensor(call, INPUT);
  TRY(tensor_empty((DType)like->dtype, 1, &channels, out));
  dtype_convert((DType)like->dtype, tensor_data(*out), 1, DTYPE_FLOAT64, values, 1, channels);
  return OK;
}

static Status derive(Call *call, NormBatch *b, Tensor *grad_x, const bool *mask) {
  bool training = call_bool(call, TRAIN);
  const Tensor *weight = given(call, WEIGHT), *input = call_tensor(call, INPUT);
  int64_t channels = b->channels;
  size_t bytes;
  if (!size_mul((size_t)channels + 1, 5 * sizeof(double), &bytes)) return status_out_of_memory();
  double *mean = mem_alloc(bytes);
  if (!mean) return status_out_of_memory();
  double *invstd = mean + channels, *scale = invstd + channels, *for_weight = scale + channels,
         *for_bias = for_weight + channels;
  if (weight) read_doubles(weight, scale);
  Tensor *results[3] = {NULL};
  Status status = read_statistics(call, b, training, mean, invstd);
  if (!status)
    status = norm_batch_backward(call->exec->work.threads, b, training, mean, invstd, weight ? scale : NULL, for_weight,
                                 for_bias);
  if (!status && mask[0]) status = tensor_to_dtype(grad_x, (DType)input->dtype, &results[0]);
  if (!status && mask[1]) status = vector_of(call, channels, for_weight, &results[1]);
  if (!status && mask[2]) status = vector_of(call, channels, for_bias, &results[2]);
  mem_free(mean);
  for (uint32_t i = 0; i < 3; i++)
    if (status)
      tensor_release(results[i]);
    else
      call_set_tensor(call, i, results[i] ? results[i] : tensor_undefined());
  return status;
}

/* No elements, which give zeros. */
static Status derive_nothing(Call *call, const bool *mask) {
  const Tensor *weight = given(call, WEIGHT), *input = call_tensor(call, INPUT);
  const Tensor *like = weight ? weight : input;
  int64_t channels = weight ? weight->numel : input->ndim > 1 ? input->sizes[1] : 0;
  for (uint32_t i = 0; i < 3; i++) {
    Tensor *t = tensor_undefined();
    if (mask[i] && i == 0) TRY(tensor_empty((DType)input->dtype, input->ndim, input->sizes, &t));
    if (mask[i] && i > 0) TRY(tensor_empty((DType)like->dtype, 1, &channels, &t));
    if (mask[i]) tensor_fill_zero(t);
    call_set_tensor(call, i, t);
  }
  return OK;
}

/* (grad_input, grad_weight, grad_bias), each undefined where output_mask says it is not wanted. Halves are computed in
 * float32. */
static Status kernel_batch_norm_backward(Call *call) {
  const Tensor *grad = call_tensor(call, GRAD), *input = call_tensor(call, INPUT);
  TRY(check(call, call_bool(call, TRAIN)));
  DType dtype = input->dtype == DTYPE_FLOAT64 ? DTYPE_FLOAT64 : DTYPE_FLOAT32;
  bool last = tensor_is_channels_last(input) && !tensor_is_contiguous(input);
  const bool *mask = call_list(call, OUTPUT_MASK)->bools;
  if (!input->numel) return derive_nothing(call, mask);
  int64_t channels = input->sizes[1], samples = input->sizes[0], each = input->numel / channels / samples;
  Tensor *g = NULL, *x = NULL, *y = NULL;
  TensorSpec spec;
  Status status;
  TRY_GOTO(operand(call, grad, dtype, last, &g), done);
  TRY_GOTO(operand(call, input, dtype, last, &x), done);
  tensor_spec_of(x, &spec);
  TRY_GOTO(tensor_new(&spec, &y), done);
  NormBatch b = {.dtype = dtype,
                 .batch = last ? samples * each : samples,
                 .channels = channels,
                 .inner = last ? 1 : each,
                 .x = tensor_data(x),
                 .grad = tensor_data(g),
                 .grad_x = mask[0] ? tensor_data(y) : NULL};
  status = derive(call, &b, y, mask);
done:
  tensor_release(g);
  tensor_release(x);
  tensor_release(y);
  return status;
}

static const OpRow rows[] = {
    {.schema = "aten::native_batch_norm_backward(Tensor grad_out, Tensor input, Tensor? weight, Tensor? running_mean, "
               "Tensor? running_var, Tensor? save_mean, Tensor? save_invstd, bool train, float eps, bool[3] "
               "output_mask) -> (Tensor, Tensor, Tensor)",
     .kernel = kernel_batch_norm_backward,
     .grad = "grad_out, input, weight: batch_norm_second_order(grads, grad_out, input, weight, running_mean, "
             "running_var, train, eps, output_mask)"},
};
OP_TABLE(op_table_norm_backward, rows);
