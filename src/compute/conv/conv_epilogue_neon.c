/* Epilogues of convolutions with NEON's fused multiply-add. */
#define NAME conv_epilogue_neon
#define MULTIPLY_ADD(a, b, c) __builtin_fmaf(a, b, c)
#include "compute/conv/conv_epilogue_body.h"
