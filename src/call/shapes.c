/* Shape functions that many rows share; the pointwise ones are in shapes_pointwise.c. */
#include "call/call.h"

#include <assert.h>

#include "tensor/layout.h"

void shape_set(TensorSpec *spec, DType dtype, int ndim, const int64_t *sizes) {
  assert(ndim >= 0 && ndim <= TENSOR_MAX_DIMS);
  spec->dtype = dtype;
  spec->ndim = ndim;
  spec->has_strides = false;
  if (ndim > 0) memcpy(spec->sizes, sizes, (size_t)ndim * sizeof *sizes);
}

void shape_like(const Tensor *t, TensorSpec *spec) {
  shape_set(spec, (DType)t->dtype, t->ndim, t->sizes);
  spec->device = tensor_device(t);
  layout_preserve(t, spec);
}

Status shape_rows_of_first(Call *c, TensorSpec *specs) {
  const Tensor *t = call_tensor(c, 0);
  shape_set(specs, (DType)t->dtype, t->ndim, t->sizes);
  specs->device = tensor_device(t);
  return OK;
}

Status shape_same_as_first(Call *c, TensorSpec *specs) {
  shape_like(call_tensor(c, 0), specs);
  return OK;
}
