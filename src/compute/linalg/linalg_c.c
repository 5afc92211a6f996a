/* Linear algebra of complex64. */
#define IS_DOUBLE 0
#define IS_COMPLEX 1
#define LETTER LAPACK_C
#define FILL linalg_fill_c
#include "compute/linalg/linalg_body.h"
