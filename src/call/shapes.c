/* Shape functions that many rows share; the pointwise ones are in shapes_pointwise.c. */
#include "call/call.h"

void shape_set(TensorSpec *spec, DType dtype, int ndim, const int64_t *sizes) {
  spec->dtype = dtype;
  spec->ndim = ndim;
  spec->has_strides = false;
  if (ndim > 0) memcpy(spec->sizes, sizes, (size_t)ndim * sizeof *sizes);
}

void shape_like(const Tensor *t, TensorSpec *spec) {
  shape_set(spec, (DType)t->dtype, t->ndim, t->sizes);
  spec->device = tensor_device(t);
  if (!tensor_is_contiguous(t)) {
    spec->has_strides = true;
    strides_preserve(t->ndim, t->sizes, t->strides, spec->strides);
  }
}

Status shape_same_as_first(Call *c, TensorSpec *specs) {
  shape_like(call_tensor(c, 0), specs);
  return OK;
}
