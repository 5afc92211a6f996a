/* What kernels of quantized tensors share. */
#include "op/quantized/quantized.h"

#include <assert.h>
#include <math.h>

#include "call/operator.h"
#include "tensor/quantizer.h"

/* ---- checks ---- */

Status expect_quantized(const Call *call, const Tensor *t) {
  if (tensor_is_defined(t) && tensor_is_quantized(t)) return OK;
  return status_new(ERROR_RUNTIME, STR_FMT ": expected a quantized tensor, got one of dtype %s",
                    STR_ARG(call->op->name), dtype_name((DType)t->dtype));
}
Status expect_per_tensor(const Call *call, const Tensor *t) {
  TRY(expect_quantized(call, t));
  if (dtype_elements_per_byte((DType)t->dtype) > 1)
    return status_new(ERROR_UNSUPPORTED, STR_FMT ": tensors of dtype %s", STR_ARG(call->op->name),
                      dtype_name((DType)t->dtype));
  if (quantizer_is_per_tensor(tensor_quantizer(t))) return OK;
  return status_new(ERROR_RUNTIME, STR_FMT ": only per tensor quantization is supported, got %s",
                    STR_ARG(call->op->name), qscheme_name(tensor_quantizer(t)->scheme));
}

/* ---- results ---- */

static Status set_with(Call *call, uint32_t i, const Tensor *numbers, DType dtype, const Quantizer *q) {
  Tensor *out;
  TRY(tensor_quantize(numbers, dtype, q, &out));
  call_set_tensor(call, i, out);
  return OK;
}

Status set_quantized(Call *call, uint32_t i, const Tensor *numbers, DType dtype, double scale, int64_t zero_point) {
  Quantizer *q;
  TRY(quantizer_check_scale(dtype, scale, zero_point));
  TRY(quantizer_new_per_tensor(scale, zero_point, &q));
  Status status = set_with(call, i, numbers, dtype, q);
  quantizer_release(q);
  return status;
}

Status set_quantized_like(Call *call, uint32_t i, const Tensor *numbers, const Tensor *like) {
  return set_with(call, i, numbers, (DType)like->dtype, tensor_quantizer(like));
}

/* ---- parameters for numbers ---- */

/* quant_utils.h of PyTorch: the range includes zero; the zero point is where the error at both ends is less. */
void choose_qparams(float least, float most, QuantizedRange range, double *out_scale, int64_t *out_zero_point) {
  assert(range.qmin < range.qmax);
  int64_t qmin = range.qmin, qmax = range.qmax; /* their difference may not fit 32 bits */
  const float smallest = 6.1e-5f;
  if (range.reduce) {
    qmin /= 2;
    qmax /= 2;
  }
  bool middle = range.symmetric && least < 0 && most > 0;
  if (middle) {
    int64_t low = -((qmax - qmin) / 2 + 1), high = (qmax - qmin) / 2;
    float below = fabsf(least / (float)low), above = fabsf(most / (float)high), larger = below > above ? below : above;
    least = larger * (float)low;
    most = larger * (float)high;
  }
  if (least > 0) least = 0;
  if (most < 0) most = 0;
  double scale = ((double)most - least) / (double)(qmax - qmin);
  if ((float)scale == 0.0f || isinf(1.0f / (float)scale)) scale = 0.1;
  if (scale < smallest) {
    float original = (float)scale;
    scale = smallest;
    if (least == 0.0f)
      most = smallest * (float)(qmax - qmin);
    else if (most == 0.0f)
      least = -smallest * (float)(qmax - qmin);
    else {
      float amplifier = smallest / original;
      least *= amplifier;
      most *= amplifier;
    }
  }
  double from_least = (double)qmin - least / scale, from_most = (double)qmax - most / scale;
  double error_least = fabs((double)qmin) + fabs(least / scale), error_most = fabs((double)qmax) + fabs(most / scale);
  double zero = error_least < error_most ? from_least : from_most;
  if (middle) zero = (double)(qmin + qmax) / 2;
  *out_scale = scale;
  *out_zero_point = zero < (double)qmin ? qmin : zero > (double)qmax ? qmax : (int64_t)nearbyint(zero);
  if (zero != zero) *out_zero_point = qmin;
}

Status tensor_min_max(const Tensor *t, float *out_least, float *out_most) {
  Tensor *plain, *numbers;
  *out_least = *out_most = 0;
  if (t->numel == 0) return OK;
  TRY(tensor_to_dtype(t, DTYPE_FLOAT32, &numbers));
  Status status = tensor_contiguous(numbers, &plain);
  tensor_release(numbers);
  TRY(status);
  const float *x = tensor_data(plain);
  float least = x[0], most = x[0];
  for (int64_t i = 1; i < plain->numel; i++) {
    least = x[i] < least ? x[i] : least;
    most = x[i] > most ? x[i] : most;
  }
  *out_least = least;
  *out_most = most;
  tensor_release(plain);
  return OK;
}
