/* Linear algebra of complex128. */
#define IS_DOUBLE 1
#define IS_COMPLEX 1
#define LETTER LAPACK_Z
#define FILL linalg_fill_z
#include "compute/linalg/linalg_body.h"
