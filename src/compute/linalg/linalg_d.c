/* Linear algebra of float64. */
#define IS_DOUBLE 1
#define IS_COMPLEX 0
#define LETTER LAPACK_D
#define FILL linalg_fill_d
#include "compute/linalg/linalg_body.h"
