/* Attention without special instructions. */
#define ATTENTION attention_portable
#define FUSED 0
#define VECTOR 16
#define WIDE 2
#define FMA(a, b, c) ((a) * (b) + (c))
#include "compute/attention/attention_body.h"
