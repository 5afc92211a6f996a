/* The loops around products of bytes with 256-bit vectors. */
#if defined(__x86_64__)
#define NAME quantized_loops_avx2
#include "compute/quantized/quantized_loops_body.h"
#else
typedef int quantized_loops_avx2_has_nothing_to_compile;
#endif
