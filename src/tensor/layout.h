/* layout: the strides of what operators make, one function for each of PyTorch's rules. A shape function sets sizes and
 * then asks one of them; a spec without strides is row-major, which is the rule of most reductions, scans, products and
 * of whatever sorts its input into lines first.
 *
 *   layout_preserve    the input's strides if it is dense, else its order of dimensions: clone, empty_like, index_fill
 *   layout_suggested   channels-last if the strides suggest it, else row-major: pooling, interpolation, padding, to
 *   layout_iterated    pointwise operators, of one input or several
 *
 * All are row-major where inputs are (Tensor.row_major), which is looked at first. Sizes of the spec are checked when
 * the tensor is made. */
#pragma once

#include "tensor/tensor.h"

/* preserve_format: strides for `like`'s sizes, which are the spec's. */
void layout_preserve(const Tensor *like, TensorSpec *spec);
/* The format that `like`'s strides suggest; the spec's sizes are its own and as many. */
void layout_suggested(const Tensor *like, TensorSpec *spec);
/* The same for batches of lines, which convolutions and pools take as planes of one row. */
void layout_of_lines(const Tensor *like, TensorSpec *spec);
/* Strides that show `t` in other sizes without moving data; false when a new dimension would straddle a gap. */
bool layout_of_view(const Tensor *t, int ndim, const int64_t *sizes, int64_t *out);
/* Whether all are row-major and have elements, so that the result is row-major, too. */
static inline bool layout_is_row_major(int count, const Tensor *const *inputs) {
  for (int i = 0; i < count; i++)
    if (!inputs[i]->row_major || !inputs[i]->numel) return false;
  return true;
}
/* The spec's sizes are what the inputs broadcast to. `has_number`: a number takes part as a tensor of no dimensions
 * does, hence sizes differ. Inputs that are alike give their strides, exactly; else `layout_ordered` puts dimensions in
 * the order of the first input whose strides tell, without gaps: its strides are spread over the spec's sizes, 0 where
 * an input is repeated. */
void layout_ordered(int count, const int64_t *const *strides, TensorSpec *spec);
void layout_iterated(int count, const Tensor *const *inputs, bool has_number, TensorSpec *spec);
/* Whether a pointwise result of what is row-major, of those sizes, and of `other`, which broadcasts to them, is
 * row-major, too, whichever comes first. */
bool layout_stays_row_major(int ndim, const int64_t *sizes, const Tensor *other);
