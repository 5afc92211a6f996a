/* Normalization of bfloat16, rounded after every step as PyTorch 1.13 rounds it. */
#pragma once

#include <stdint.h>

/* Mean and 1 / sqrt(variance + eps) of n elements. */
void bfloat16_statistics(const uint16_t *x, int64_t n, double eps, float *out_mean, float *out_invstd);
