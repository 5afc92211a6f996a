/* The loops around products of bytes with 512-bit vectors. */
#if defined(__x86_64__)
#define NAME quantized_loops_avx512
#include "compute/quantized/quantized_loops_body.h"
#else
typedef int quantized_loops_avx512_has_nothing_to_compile;
#endif
