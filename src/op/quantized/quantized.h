/* What kernels of quantized tensors share: checks, results, parameters for numbers. */
#pragma once

#include "call/call.h"

Status expect_quantized(const Call *call, const Tensor *t) MUST_CHECK;
/* One scale, and a byte or more for each integer: what kernels over integers can read. */
Status expect_per_tensor(const Call *call, const Tensor *t) MUST_CHECK;
/* Quantizes `numbers` as (dtype, scale, zero_point) into output i. */
Status set_quantized(Call *call, uint32_t i, const Tensor *numbers, DType dtype, double scale,
                     int64_t zero_point) MUST_CHECK;
/* Quantizes `numbers` by the quantizer of `like`, which is per tensor. */
Status set_quantized_like(Call *call, uint32_t i, const Tensor *numbers, const Tensor *like) MUST_CHECK;
/* Scale and zero point for numbers between least and most, by PyTorch's ChooseQuantizationParams. */
typedef struct QuantizedRange {
  int32_t qmin, qmax;
  bool reduce;    /* half the integers */
  bool symmetric; /* zero in the middle of the integers, where the numbers have both signs */
} QuantizedRange;
void choose_qparams(float least, float most, QuantizedRange range, double *out_scale, int64_t *out_zero_point);
/* The least and the greatest of a float32 tensor; 0 and 0 of none. */
Status tensor_min_max(const Tensor *t, float *out_least, float *out_most) MUST_CHECK;
