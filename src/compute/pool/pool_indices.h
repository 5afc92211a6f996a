/* The greatest of every window of float32 planes and where it was found, and the way back. Indices count in a plane. */
#pragma once

#include "compute/pool/pool_plane.h"
#include "tensor/dtype.h"

/* Of equal ones the first; NaN if one is, the last of them. */
Status pool_indices_run(const Work *work, const PoolPlanes *p, const float *in, float *out,
                        int64_t *indices) MUST_CHECK;
/* Adds to each plane of `size` elements `count` gradients, in order, where their indices say; float32 or float64.
 * false: an index lies outside. */
bool pool_spread(int threads, DType dtype, int64_t planes, int64_t size, int64_t count, const void *grad,
                 const int64_t *indices, void *to);
