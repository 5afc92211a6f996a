/* Type promotion: the highest category among dimensioned tensors, zero-dimensional tensors and wrapped numbers decides;
 * a lower one counts only where it is of a higher kind (bool < integral < floating < complex). */
#include "tensor/promote.h"

/* A Python number is weak: of its kind, with the default precision. */
static DType weak_dtype(DType d) {
  return dtype_is_complex(d) ? dtype_default_complex() : dtype_is_floating(d) ? dtype_default() : d;
}

static void add(Promotion *p, DType *category, DType dtype) {
  DType before = *category;
  *category = dtype_promote(before, dtype);
  if (*category != DTYPE_NO_PROMOTION || p->apart[0] != DTYPE_NONE) return;
  p->apart[0] = before;
  p->apart[1] = dtype;
}

void promotion_add_scalar(Promotion *p, DType scalar_dtype) {
  add(p, &p->wrapped, weak_dtype(scalar_dtype));
}

void promotion_add(Promotion *p, const Tensor *t) {
  DType dtype = (DType)t->dtype;
  bool is_wrapped = t->flags & TENSOR_WRAPPED_NUMBER;
  if (is_wrapped) dtype = weak_dtype(dtype);
  DType *category = t->ndim > 0 ? &p->dimensioned : is_wrapped ? &p->wrapped : &p->zero_dim;
  add(p, category, dtype);
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

Status promotion_is_refused(DType a, DType b) {
  bool has_float8 = dtype_is_float8(a) || dtype_is_float8(b);
  return status_new(ERROR_RUNTIME, "Promotion for %s is not supported, attempted to promote %s and %s",
                    has_float8 ? "Float8 Types" : "uint16, uint32, uint64 types", dtype_scalar_name(a),
                    dtype_scalar_name(b));
}

Status promotion_finish(const Promotion *p, DType *out) {
  if (p->apart[0] != DTYPE_NONE) return promotion_is_refused(p->apart[0], p->apart[1]);
  DType numbers = combine(p->zero_dim, p->wrapped);
  if (numbers == DTYPE_NO_PROMOTION) return promotion_is_refused(p->zero_dim, p->wrapped);
  *out = combine(p->dimensioned, numbers);
  return *out == DTYPE_NO_PROMOTION ? promotion_is_refused(p->dimensioned, numbers) : OK;
}
