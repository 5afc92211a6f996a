/* Scaling and shifting with NEON's fused multiply-add. */
#define NAME norm_affine_neon
#define RELU_NAME norm_affine_relu_neon
#define FOLD_NAME norm_fold_neon
#define MULTIPLY_ADD(a, b, c) __builtin_fmaf(a, b, c)
#include "compute/norm/norm_affine_body.h"
