/* Scaling and shifting with AVX2 and fused multiply-add. */
#define NAME norm_affine_avx2
#define RELU_NAME norm_affine_relu_avx2
#define FOLD_NAME norm_fold_avx2
#define MULTIPLY_ADD(a, b, c) __builtin_fmaf(a, b, c)
#include "compute/norm/norm_affine_body.h"
