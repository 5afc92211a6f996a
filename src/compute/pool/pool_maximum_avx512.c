/* The greatest of small windows with AVX-512. */
#define NAME pool_maximum_avx512
#include "compute/pool/pool_maximum_body.h"
