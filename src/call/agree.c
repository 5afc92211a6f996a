/* Checks that arguments agree. */
#include "call/agree.h"

Status require_dtype(const Tensor *t, DType dtype) {
  if ((DType)t->dtype == dtype) return OK;
  return status_new(ERROR_RUNTIME, "expected scalar type %s but found %s", dtype_scalar_name(dtype),
                    dtype_scalar_name((DType)t->dtype));
}

Status require_sizes(const Tensor *t, const char *name, int ndim, const int64_t *sizes) {
  if (t->ndim == ndim && (ndim == 0 || memcmp(t->sizes, sizes, (size_t)ndim * sizeof *sizes) == 0)) return OK;
  return status_new(ERROR_RUNTIME, "Expected %s to have sizes %s, but got %s", name, SIZES_TEXT(ndim, sizes),
                    SIZES_TEXT(t->ndim, t->sizes));
}

Status require_like(const Tensor *t, const char *name, const TensorSpec *spec) {
  TRY(require_dtype(t, spec->dtype));
  return require_sizes(t, name, spec->ndim, spec->sizes);
}
