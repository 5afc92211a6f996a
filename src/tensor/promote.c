/* Type promotion: the highest category among dimensioned tensors, zero-dimensional tensors and wrapped numbers decides;
 * a lower one counts only where it is of a higher kind (bool < integral < floating < complex). */
#include "tensor/promote.h"

/* A Python number is weak: of its kind, with the default precision. */
static DType weak_dtype(DType d) {
  return dtype_is_complex(d) ? dtype_default_complex() : dtype_is_floating(d) ? dtype_default() : d;
}

void promotion_add_scalar(Promotion *p, DType scalar_dtype) {
  p->wrapped = dtype_promote(p->wrapped, weak_dtype(scalar_dtype));
}

void promotion_add(Promotion *p, const Tensor *t) {
  DType dtype = (DType)t->dtype;
  bool is_wrapped = t->flags & TENSOR_WRAPPED_NUMBER;
  if (is_wrapped) dtype = weak_dtype(dtype);
  DType *category = t->ndim > 0 ? &p->dimensioned : is_wrapped ? &p->wrapped : &p->zero_dim;
  *category = dtype_promote(*category, dtype);
}

static DType combine(DType higher, DType lower) {
  if (higher == DTYPE_NONE || dtype_is_complex(higher)) return higher == DTYPE_NONE ? lower : higher;
  if (dtype_is_floating(higher)) return dtype_is_complex(lower) ? dtype_to_complex(higher) : higher;
  if (higher == DTYPE_BOOL || dtype_is_floating(lower) || dtype_is_complex(lower)) return dtype_promote(higher, lower);
  return higher;
}

DType promotion_result(const Promotion *p) {
  return combine(p->dimensioned, combine(p->zero_dim, p->wrapped));
}
