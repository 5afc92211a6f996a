/* Epilogues of convolutions with AVX2 and fused multiply-add. */
#define NAME conv_epilogue_avx2
#define MULTIPLY_ADD(a, b, c) __builtin_fmaf(a, b, c)
#include "compute/conv/conv_epilogue_body.h"
