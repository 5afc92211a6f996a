/* What the rows of views and of their inverses share. */
#pragma once

#include "call/call.h"
#include "call/operator.h"

enum { OP_VIEW = OP_ACCEPT_CONJ | OP_ACCEPT_META | OP_ACCEPT_QUANTIZED | OP_ACCEPT_LIMITED };

/* int[] parameter i as sizes or dimensions; "too many dimensions" beyond TENSOR_MAX_DIMS. */
Status view_ints(const Call *c, uint32_t i, const int64_t **out, int *out_count);
Status view_sizes_or_error(const Tensor *t, int ndim, const int64_t *sizes, Tensor **out); /* view(): never copies */
Status view_reshaped(const Tensor *t, int ndim, const int64_t *sizes,
                     Tensor **out); /* reshape(): copies where it must */
Status view_diagonal(const Tensor *t, int64_t offset, int64_t dim1, int64_t dim2, Tensor **out);
Status view_slice(const Call *c, uint32_t first, const Tensor *t,
                  Tensor **out); /* dim, start, end, step are arguments first.. */
Status view_strided(const Call *c, uint32_t first, const Tensor *t, Tensor **out); /* size, stride, storage_offset */
Status view_unfold(const Tensor *t, int64_t dimension, int64_t size, int64_t step, Tensor **out);
