/* Rows of complex tensors: parts, views as pairs of reals, lazy conjugation and negation. */
#include <assert.h>
#include <math.h>

#include "call/row_extras.h"
#include "op/tensor/view.h"
#include "tensor/iterate.h"
#include "tensor/layout.h"

static bool is_complex(const Tensor *t) {
  return dtype_is_complex((DType)t->dtype);
}

/* Self itself. */
static Status give_self(Call *c) {
  call_set_tensor(c, 0, tensor_retain(call_tensor(c, 0)));
  return OK;
}

/* The memory of t seen as the other kind: complex elements as pairs, or pairs as complex elements. */
static Status view_pairs(const Tensor *t, Tensor **out) {
  if (t->ndim == TENSOR_MAX_DIMS)
    return status_new(ERROR_UNSUPPORTED, "tensors of more than %d dimensions", TENSOR_MAX_DIMS);
  int64_t sizes[TENSOR_MAX_DIMS], strides[TENSOR_MAX_DIMS];
  for (int i = 0; i < t->ndim; i++) {
    sizes[i] = t->sizes[i];
    if (!int64_mul(t->strides[i], 2, &strides[i])) return status_new(ERROR_RUNTIME, "stride is too large");
  }
  sizes[t->ndim] = 2;
  strides[t->ndim] = 1;
  TRY(tensor_from_storage(t->storage, dtype_to_real((DType)t->dtype), t->ndim + 1, sizes, strides, t->offset * 2, out));
  (*out)->flags |= t->flags & (TENSOR_NEG | TENSOR_META);
  return OK;
}

static Status kernel_view_as_real(Call *c) {
  const Tensor *self = call_tensor(c, 0);
  Tensor *out;
  if (!is_complex(self)) return status_new(ERROR_RUNTIME, "view_as_real is only supported for complex tensors");
  if (self->flags & TENSOR_CONJ)
    return status_new(ERROR_RUNTIME,
                      "view_as_real doesn't work on unresolved conjugated tensors.  To resolve the conjugate tensor so "
                      "you can view it as real, use "
                      "self.resolve_conj(); however, be warned that the resulting tensor will NOT alias the original.");
  TRY(view_pairs(self, &out));
  call_set_tensor(c, 0, out);
  return OK;
}

static Status kernel_view_as_complex(Call *c) {
  const Tensor *self = call_tensor(c, 0);
  DType dtype = (DType)self->dtype;
  int last = self->ndim - 1;
  if (dtype != DTYPE_FLOAT32 && dtype != DTYPE_FLOAT64 && dtype != DTYPE_FLOAT16)
    return status_new(
        ERROR_RUNTIME,
        "view_as_complex is only supported for half, float and double tensors, but got a tensor of scalar type: %s",
        dtype_scalar_name(dtype));
  if (self->ndim == 0) return status_new(ERROR_RUNTIME, "Input tensor must have one or more dimensions");
  if (self->sizes[last] != 2) return status_new(ERROR_RUNTIME, "Tensor must have a last dimension of size 2");
  if (self->strides[last] != 1) return status_new(ERROR_RUNTIME, "Tensor must have a last dimension with stride 1");
  int64_t strides[TENSOR_MAX_DIMS];
  for (int i = 0; i < last; i++) {
    if (self->strides[i] % 2)
      return status_new(ERROR_RUNTIME, "Tensor must have a stride divisible by 2 for all but last dimension");
    strides[i] = self->strides[i] / 2;
  }
  if (self->offset % 2) return status_new(ERROR_RUNTIME, "Tensor must have a storage_offset divisible by 2");
  Tensor *out;
  TRY(tensor_from_storage(self->storage, dtype_to_complex(dtype), last, self->sizes, strides, self->offset / 2, &out));
  out->flags |= self->flags & (TENSOR_NEG | TENSOR_META);
  call_set_tensor(c, 0, out);
  return OK;
}

/* The same memory, with a lazy operation switched on or off. */
static Status toggled(const Tensor *t, uint32_t flag, Tensor **out) {
  TRY(tensor_alias(t, out));
  (*out)->flags ^= flag;
  return OK;
}

static Status set_toggled(Call *c, uint32_t flag) {
  Tensor *out;
  TRY(toggled(call_tensor(c, 0), flag, &out));
  call_set_tensor(c, 0, out);
  return OK;
}
static Status kernel_conj_view(Call *c) {
  return set_toggled(c, is_complex(call_tensor(c, 0)) ? TENSOR_CONJ : 0);
}
static Status kernel_neg_view(Call *c) {
  return set_toggled(c, TENSOR_NEG);
}

static Status pass_on(Call *c, OpRef *op) {
  IValue out = IVALUE_NONE;
  TRY(op_call(c->exec, op, 1, c->inputs, 1, &out));
  call_set(c, 0, out);
  return OK;
}
static Status kernel_conj(Call *c) {
  static OpRef conj_view = OP_REF("aten::_conj", "");
  return is_complex(call_tensor(c, 0)) ? pass_on(c, &conj_view) : give_self(c);
}
static Status kernel_resolve_conj(Call *c) {
  static OpRef clone = OP_REF("aten::clone", "");
  return call_tensor(c, 0)->flags & TENSOR_CONJ ? pass_on(c, &clone) : give_self(c);
}
static Status kernel_resolve_neg(Call *c) {
  static OpRef clone = OP_REF("aten::clone", "");
  return call_tensor(c, 0)->flags & TENSOR_NEG ? pass_on(c, &clone) : give_self(c);
}

/* ---- parts: composites of views, so that their gradients follow ---- */
static OpRef as_real_ref = OP_REF("aten::view_as_real", "");
static OpRef select_ref = OP_REF("aten::select", "int");
static OpRef conj_ref = OP_REF("aten::_conj", "");
static OpRef neg_view_ref = OP_REF("aten::_neg_view", "");

static Status take_part(Call *c, int part) {
  assert(part == 0 || part == 1);
  Exec *exec = c->exec;
  bool conjugated = call_tensor(c, 0)->flags & TENSOR_CONJ;
  IValue plain = IVALUE_NONE, pairs = IVALUE_NONE, out = IVALUE_NONE, negated = IVALUE_NONE;
  Status status = OK;
  if (conjugated) TRY(op_call(exec, &conj_ref, 1, c->inputs, 1, &plain));
  TRY_GOTO(op_call(exec, &as_real_ref, 1, conjugated ? &plain : c->inputs, 1, &pairs), done);
  TRY_GOTO(op_call(exec, &select_ref, 3, (IValue[]){pairs, ivalue_int(-1), ivalue_int(part)}, 1, &out), done);
  if (conjugated && part == 1) {
    TRY_GOTO(op_call(exec, &neg_view_ref, 1, &out, 1, &negated), done);
    call_set(c, 0, negated);
  } else {
    call_set(c, 0, out);
    out = IVALUE_NONE;
  }
done:
  ivalue_release(plain);
  ivalue_release(pairs);
  ivalue_release(out);
  return status;
}
static Status kernel_real(Call *c) {
  return is_complex(call_tensor(c, 0)) ? take_part(c, 0) : give_self(c);
}
static Status kernel_imag(Call *c) {
  if (!is_complex(call_tensor(c, 0)))
    return status_new(ERROR_RUNTIME, "imag is not implemented for tensors with non-complex dtypes.");
  return take_part(c, 1);
}

/* ---- making complex tensors from two ---- */
static Status shape_two_reals(Call *c, TensorSpec *spec) {
  const Tensor *a = call_tensor(c, 0), *b = call_tensor(c, 1);
  DType da = (DType)a->dtype, db = (DType)b->dtype;
  bool fits = (da == DTYPE_FLOAT16 || da == DTYPE_FLOAT32 || da == DTYPE_FLOAT64) &&
              (db == DTYPE_FLOAT16 || db == DTYPE_FLOAT32 || db == DTYPE_FLOAT64);
  if (!fits)
    return status_new(ERROR_RUNTIME, "Expected both inputs to be Half, Float or Double tensors but got %s and %s",
                      dtype_scalar_name(da), dtype_scalar_name(db));
  if (da != db)
    return status_new(ERROR_RUNTIME, "Expected object of scalar type %s but got scalar type %s for second argument",
                      dtype_scalar_name(da), dtype_scalar_name(db));
  int ndim;
  int64_t sizes[TENSOR_MAX_DIMS];
  TRY(sizes_broadcast(a->ndim, a->sizes, b->ndim, b->sizes, &ndim, sizes));
  shape_set(spec, dtype_to_complex(da), ndim, sizes);
  layout_iterated(2, (const Tensor *const[]){a, b}, false, spec);
  spec->device = tensor_device(a);
  return OK;
}

static Status write_part(const Tensor *pairs, int part, const Tensor *from) {
  assert(part == 0 || part == 1);
  Tensor *to;
  TRY(tensor_select(pairs, -1, part, &to));
  Status status = tensor_copy(to, from, 1);
  tensor_release(to);
  return status;
}

static Status kernel_complex(Call *c) {
  Tensor *pairs, *out = call_out(c, 0);
  if (!out->storage) return OK;
  TRY(view_pairs(out, &pairs));
  Status status = write_part(pairs, 0, call_tensor(c, 0));
  if (!status) status = write_part(pairs, 1, call_tensor(c, 1));
  tensor_release(pairs);
  return status;
}

static void polar_run(void *argument, int64_t n, char *const *data, const int64_t *strides) {
  const DType *dtypes = argument; /* complex, real */
  for (int64_t i = 0; i < n; i++) {
    double radius, angle;
    dtype_convert(DTYPE_FLOAT64, &radius, 1, dtypes[1], data[1] + i * strides[1], 1, 1);
    dtype_convert(DTYPE_FLOAT64, &angle, 1, dtypes[1], data[2] + i * strides[2], 1, 1);
    complex128 value = __builtin_complex(radius * cos(angle), radius * sin(angle));
    dtype_convert(dtypes[0], data[0] + i * strides[0], 1, DTYPE_COMPLEX128, &value, 1, 1);
  }
}

static Status kernel_polar(Call *c) {
  Tensor *out = call_out(c, 0);
  if (!out->storage) return OK;
  Iterator it;
  TRY(iterator_init(&it, 3, (const Tensor *const[]){out, call_tensor(c, 0), call_tensor(c, 1)}));
  iterator_run_parallel(&it, c->exec->work.threads, 4096, polar_run,
                        (DType[]){(DType)out->dtype, (DType)call_tensor(c, 0)->dtype});
  return OK;
}

static Status kernel_is_conj(Call *c) {
  call_set(c, 0, ivalue_bool(call_tensor(c, 0)->flags & TENSOR_CONJ));
  return OK;
}
static Status kernel_is_neg(Call *c) {
  call_set(c, 0, ivalue_bool(call_tensor(c, 0)->flags & TENSOR_NEG));
  return OK;
}

#define VIEW(text, kernel_function, gradient) \
  { .schema = text, .kernel = kernel_function, .grad = gradient, .flags = OP_VIEW }
#define PART(text, kernel_function) \
  { .schema = text, .kernel = kernel_function, .flags = OP_COMPOSITE | OP_VIEW }
#define PAIR(text, kernel_function, gradient)                                                               \
  {                                                                                                         \
    .schema = text, .shape = shape_two_reals, .kernel = kernel_function, .grad = gradient, .flags = OP_OUT, \
    .extras = &(const RowExtras) {                                                                          \
      .exact_out = "Expected object of scalar type {wanted} but got scalar type {given} for argument 'out'" \
    }                                                                                                       \
  }
#define ASK(text, kernel_function) \
  { .schema = text, .kernel = kernel_function, .flags = OP_ACCEPT_ANY }

static const OpRow rows[] = {
    VIEW("aten::view_as_real(Tensor(a) self) -> Tensor(a)", kernel_view_as_real,
         "self: torch.view_as_complex(grad.contiguous())"),
    VIEW("aten::view_as_complex(Tensor(a) self) -> Tensor(a)", kernel_view_as_complex,
         "self: torch.view_as_real(grad.contiguous().resolve_conj())"),
    {.schema = "aten::_conj(Tensor(a) self) -> Tensor(a)",
     .kernel = kernel_conj_view,
     .grad = "self: grad.conj()",
     .flags = OP_VIEW | OP_CONJUGATE},
    VIEW("aten::_neg_view(Tensor(a) self) -> Tensor(a)", kernel_neg_view, "self: grad.neg()"),
    {.schema = "aten::conj(Tensor(a) self) -> Tensor(a)",
     .kernel = kernel_conj,
     .flags = OP_COMPOSITE | OP_VIEW | OP_CONJUGATE},
    PART("aten::resolve_conj(Tensor(a) self) -> Tensor(a)", kernel_resolve_conj),
    PART("aten::resolve_neg(Tensor(a) self) -> Tensor(a)", kernel_resolve_neg),
    PART("aten::real(Tensor(a) self) -> Tensor(a)", kernel_real),
    PART("aten::imag(Tensor(a) self) -> Tensor(a)", kernel_imag),
    PAIR("aten::complex(Tensor real, Tensor imag) -> Tensor", kernel_complex,
         "real: torch.real(grad); imag: torch.imag(grad)"),
    PAIR("aten::polar(Tensor abs, Tensor angle) -> Tensor", kernel_polar,
         "abs: torch.real(grad.conj() * torch.sgn(result)); angle: -torch.imag(grad.conj() * result)"),
    ASK("aten::is_conj(Tensor self) -> bool", kernel_is_conj),
    ASK("aten::is_neg(Tensor self) -> bool", kernel_is_neg),
};

OP_TABLE(op_table_complex, rows);
