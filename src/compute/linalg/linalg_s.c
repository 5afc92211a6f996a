/* Linear algebra of float32. */
#define IS_DOUBLE 0
#define IS_COMPLEX 0
#define LETTER LAPACK_S
#define FILL linalg_fill_s
#include "compute/linalg/linalg_body.h"
