/* The routines of compute/lapack/lapack.h for machines without LAPACK: the same parameters, conventions (signs,
 * pivots, order) and `info`. One source for four element types: linalg_s.c, linalg_d.c, linalg_c.c and linalg_z.c
 * say which and include linalg_body.h, which lists the parts. Large products are compute/gemm's; small matrices need
 * no heap. */
#pragma once

#include "compute/lapack/lapack.h"

typedef void LinalgFill(Lapack *out); /* sets the routines of one element type */
extern LinalgFill linalg_fill_s, linalg_fill_d, linalg_fill_c, linalg_fill_z;
