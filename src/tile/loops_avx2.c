/* The vectorised loops with 256-bit vectors, fused multiplication and addition, and half conversions. */
#if defined(__x86_64__)
#include <immintrin.h>

#define TILE_LOOPS tile_loops_avx2
#define FUSED 1
#define HALF_TO_FLOAT(x) _cvtsh_ss(x)
#define HALF_FROM_FLOAT(x) _cvtss_sh(x, _MM_FROUND_TO_NEAREST_INT)
#include "tile/loops_body.h"
#else
typedef int loops_avx2_has_nothing_to_compile;
#endif
