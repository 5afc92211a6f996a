/* The greatest of small windows with AVX2. */
#define NAME pool_maximum_avx2
#include "compute/pool/pool_maximum_body.h"
