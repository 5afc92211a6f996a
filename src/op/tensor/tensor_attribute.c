/* Rows that ask a tensor something: sizes, dtype, flags, its one element as a number. */
#include "call/options.h"
#include "call/row.h"
#include "compute/element/element.h"
#include "tensor/changed.h"
#include "tensor/promote.h"
#include "tensor/sparse.h"

/* ---- what every kernel here returns ---- */
static Status give_int(Call *c, int64_t value) {
  return call_set(c, 0, ivalue_int(value)), OK;
}
static Status give_bool(Call *c, bool value) {
  return call_set(c, 0, ivalue_bool(value)), OK;
}
static Status give_ints(Call *c, const int64_t *values, size_t count) {
  List *list;
  TRY(list_from_ints(values, count, &list));
  call_set(c, 0, ivalue_list(list));
  return OK;
}

/* ---- sizes ---- */
static Status kernel_size(Call *c) {
  return give_ints(c, call_tensor(c, 0)->sizes, call_tensor(c, 0)->ndim);
}
static Status kernel_stride(Call *c) {
  return give_ints(c, call_tensor(c, 0)->strides, call_tensor(c, 0)->ndim);
}

static Status give_of_dim(Call *c, const int64_t *values) {
  int64_t dim;
  int ndim = call_tensor(c, 0)->ndim;
  if (ndim == 0)
    return status_exception("IndexError", "Dimension specified as %lld but tensor has no dimensions",
                            (long long)call_int(c, 1));
  TRY(dim_wrap(call_int(c, 1), ndim, &dim));
  return give_int(c, values[dim]);
}
static Status kernel_size_int(Call *c) {
  return give_of_dim(c, call_tensor(c, 0)->sizes);
}
static Status kernel_stride_int(Call *c) {
  return give_of_dim(c, call_tensor(c, 0)->strides);
}

static Status kernel_shape_as_tensor(Call *c) {
  const Tensor *self = call_tensor(c, 0);
  Tensor *out;
  TRY(tensor_empty(DTYPE_INT64, 1, (int64_t[]){self->ndim}, &out));
  if (self->ndim) memcpy(tensor_data(out), self->sizes, self->ndim * sizeof *self->sizes);
  call_set_tensor(c, 0, out);
  return OK;
}

/* ---- one fact each ---- */
#define ASK_INT(name, expression)        \
  static Status kernel_##name(Call *c) { \
    const Tensor *t = call_tensor(c, 0); \
    return give_int(c, (expression));    \
  }
#define ASK_BOOL(name, expression)       \
  static Status kernel_##name(Call *c) { \
    const Tensor *t = call_tensor(c, 0); \
    return give_bool(c, (expression));   \
  }
ASK_INT(dim, t->ndim)
ASK_INT(numel, t->numel)
ASK_INT(storage_offset, t->offset)
ASK_INT(element_size, (int64_t)dtype_size((DType)t->dtype))
/* Wraps around for what is expanded beyond all memory, as PyTorch's. */
ASK_INT(nbytes, (int64_t)((uint64_t)t->numel *dtype_size((DType)t->dtype)))
ASK_INT(dtype, t->dtype)
ASK_INT(layout, tensor_layout(t))
ASK_INT(version, t->storage ? (int64_t)atomic_load(&t->storage->version) : 0)
ASK_BOOL(is_floating_point, dtype_is_floating((DType)t->dtype))
ASK_BOOL(is_complex, dtype_is_complex((DType)t->dtype))
ASK_BOOL(is_signed, t->dtype != DTYPE_UINT8 && t->dtype != DTYPE_BOOL && t->dtype != DTYPE_QUINT8 &&
                        t->dtype != DTYPE_FLOAT8_E8M0FNU && !dtype_is_wide_unsigned((DType)t->dtype))
ASK_BOOL(is_contiguous, tensor_is_contiguous(t))
ASK_BOOL(is_cpu, tensor_device(t).type == DEVICE_CPU)
ASK_BOOL(is_cuda, tensor_device(t).type == DEVICE_CUDA)
ASK_BOOL(is_meta, t->flags &TENSOR_META)
ASK_BOOL(is_quantized, t->flags &TENSOR_QUANTIZED)
ASK_BOOL(is_sparse, tensor_layout(t) == LAYOUT_SPARSE_COO)
ASK_BOOL(is_sparse_csr, tensor_layout(t) == LAYOUT_SPARSE_CSR)
ASK_BOOL(requires_grad, t->flags &TENSOR_RECORDS)
ASK_BOOL(is_leaf, !(t->flags & TENSOR_HAS_GRAD_FN))
/* Of kinds that there are none of here. */
static Status kernel_zero(Call *c) {
  return give_int(c, 0);
}
static Status kernel_false(Call *c) {
  return give_bool(c, false);
}
static Status kernel_none(Call *c) {
  return call_set(c, 0, IVALUE_NONE), OK;
}

static Status kernel_is_contiguous_format(Call *c) {
  return give_bool(c, tensor_has_format(call_tensor(c, 0), (MemoryFormat)call_int(c, 1)));
}
static Status kernel_is_same_size(Call *c) {
  return give_bool(c, tensor_same_sizes(call_tensor(c, 0), call_tensor(c, 1)));
}
static Status kernel_device(Call *c) {
  return call_set(c, 0, ivalue_device(tensor_device(call_tensor(c, 0)))), OK;
}

static Status kernel_requires_grad_(Call *c) {
  Tensor *self = call_tensor(c, 0);
  bool wanted = call_bool(c, 1);
  if (wanted && !dtype_is_floating((DType)self->dtype) && !dtype_is_complex((DType)self->dtype))
    return status_new(ERROR_RUNTIME, "only Tensors of floating point dtype can require gradients");
  if (!wanted && (self->flags & TENSOR_HAS_GRAD_FN))
    return status_new(ERROR_RUNTIME, "you can only change requires_grad flags of leaf variables.");
  if (!wanted)
    tensor_set_flags(self, self->flags & ~(uint32_t)TENSOR_REQUIRES_GRAD);
  else if (!(self->flags & TENSOR_HAS_GRAD_FN))
    tensor_set_flags(self, self->flags | TENSOR_REQUIRES_GRAD);
  call_set_tensor(c, 0, tensor_retain(self));
  return OK;
}

/* A tensor of the same memory without history. */
static Status kernel_data(Call *c) {
  Tensor *out;
  TRY(tensor_alias(call_tensor(c, 0), &out));
  call_set_tensor(c, 0, out);
  return OK;
}

/* ---- comparing whole tensors ---- */
static Status kernel_equal(Call *c) {
  const Tensor *a = call_tensor(c, 0), *b = call_tensor(c, 1);
  if (!tensor_same_sizes(a, b)) return give_bool(c, false);
  bool bytes = a->dtype == b->dtype && !dtype_is_floating((DType)a->dtype) && !dtype_is_complex((DType)a->dtype),
       equal = true;
  Tensor *x = NULL, *y = NULL;
  Status status = tensor_contiguous(a, &x);
  if (!status) status = tensor_contiguous(b, &y);
  if (!status && bytes) {
    equal = memcmp(tensor_data(x), tensor_data(y), (size_t)x->numel * dtype_size((DType)x->dtype)) == 0;
  } else if (!status) { /* NaN differs from itself, zeros of both signs agree */
    complex128 left[128], right[128];
    int64_t x_item = (int64_t)dtype_size((DType)x->dtype), y_item = (int64_t)dtype_size((DType)y->dtype);
    for (int64_t i = 0; equal && i < x->numel; i += 128) {
      int64_t count = x->numel - i < 128 ? x->numel - i : 128;
      dtype_convert(DTYPE_COMPLEX128, left, 1, (DType)x->dtype, (char *)tensor_data(x) + i * x_item, 1, count);
      dtype_convert(DTYPE_COMPLEX128, right, 1, (DType)y->dtype, (char *)tensor_data(y) + i * y_item, 1, count);
      for (int64_t j = 0; equal && j < count; j++) equal = left[j] == right[j];
    }
  }
  tensor_release(x);
  tensor_release(y);
  TRY(status);
  return give_bool(c, equal);
}

/* ---- the one element as a number ---- */
static Status item(const Tensor *t, IValue *out) {
  if (t->numel != 1)
    return status_new(ERROR_RUNTIME, "a Tensor with %lld elements cannot be converted to Scalar", (long long)t->numel);
  if (!t->storage) return status_new(ERROR_RUNTIME, "a tensor on the meta device has no element to read");
  TRY(tensor_check_host(t));
  DType dtype = (DType)t->dtype;
  if (dtype_is_complex(dtype)) return ivalue_from_complex(tensor_item_complex(t), out);
  if (dtype_is_floating(dtype))
    *out = ivalue_float(tensor_item_double(t));
  else if (dtype == DTYPE_BOOL)
    *out = ivalue_bool(tensor_item_bool(t));
  else
    *out = ivalue_int(tensor_item_int(t));
  return OK;
}

/* The number as int, float, bool or complex; "value cannot be converted to type double without overflow". */
static Status give_as(Call *c, IValue number, DType as) {
  union {
    int64_t i;
    double f;
    bool b;
    complex128 z;
  } value;
  memset(&value, 0, sizeof value);
  Status status = scalar_to_element(number, as, &value);
  ivalue_release(number);
  TRY(status);
  IValue out = as == DTYPE_INT64     ? ivalue_int(value.i)
               : as == DTYPE_FLOAT64 ? ivalue_float(value.f)
                                     : ivalue_bool(value.b);
  if (as == DTYPE_COMPLEX128) TRY(ivalue_from_complex(value.z, &out));
  call_set(c, 0, out);
  return OK;
}

/* Programs have no ints from 2^63 on. */
static Status check_int(const Tensor *t) {
  if (t->dtype != DTYPE_UINT64 || t->numel != 1 || tensor_item_int(t) >= 0) return OK;
  return status_new(ERROR_RUNTIME, "value cannot be converted to type int64_t without overflow");
}

static Status kernel_item_as(Call *c) {
  DType as = (DType)call_param(c);
  IValue number;
  TRY(check_int(call_tensor(c, 0)));
  TRY(item(call_tensor(c, 0), &number));
  return give_as(c, number, as);
}

static Status kernel_item(Call *c) {
  IValue number;
  TRY(check_int(call_tensor(c, 0)));
  TRY(item(call_tensor(c, 0), &number));
  call_set(c, 0, number);
  return OK;
}

static Status kernel_is_nonzero(Call *c) {
  bool truth;
  TRY(element_truth(call_tensor(c, 0), &truth));
  return give_bool(c, truth);
}

/* complex(a, b) where either may be a tensor. */
static Status kernel_complex_of_two(Call *c) {
  double parts[2];
  for (uint32_t i = 0; i < 2; i++) {
    IValue v = call_value(c, i), number = v;
    if (v.tag == TAG_TENSOR) TRY(item(v.tensor, &number));
    if (number.tag == TAG_COMPLEX) {
      ivalue_release(number);
      return status_new(ERROR_RUNTIME, "complex() takes real numbers");
    }
    parts[i] = ivalue_to_double(number);
  }
  IValue out;
  TRY(ivalue_from_complex(__builtin_complex(parts[0], parts[1]), &out));
  call_set(c, 0, out);
  return OK;
}

/* ---- dtypes ---- */
static Status kernel_result_type(Call *c) {
  Promotion p = PROMOTION_EMPTY;
  for (uint32_t i = 0; i < 2; i++) {
    IValue v = call_value(c, i);
    if (v.tag == TAG_TENSOR)
      promotion_add(&p, v.tensor);
    else
      promotion_add_scalar(&p, scalar_default_dtype(v));
  }
  DType dtype;
  TRY(promotion_finish(&p, &dtype));
  return give_int(c, dtype);
}
#define ASK(text, kernel_function) \
  { .schema = text, .kernel = kernel_function, .flags = OP_ACCEPT_ANY | OP_NOT_DIFFERENTIABLE }
#define MEASURE(text, kernel_function) \
  { .schema = text, .kernel = kernel_function, .flags = OP_ACCEPT_ANY | OP_NOT_DIFFERENTIABLE | OP_METADATA_ONLY }
#define ITEM(text, ...)                                                                               \
  {                                                                                                   \
    .schema = text, .flags = OP_ACCEPT_CONJ | OP_ACCEPT_LIMITED | OP_NOT_DIFFERENTIABLE | OP_ELEMENT, \
    .kernel = __VA_ARGS__                                                                             \
  }
#define COMPLEX_OF(overload, a, b)                                                                    \
  {                                                                                                   \
    .schema = "aten::Complex." overload "(" a ", " b ") -> complex", .kernel = kernel_complex_of_two, \
    .flags = OP_ACCEPT_CONJ | OP_NOT_DIFFERENTIABLE                                                   \
  }

static const OpRow rows[] = {
    MEASURE("aten::size(Tensor self) -> int[]", kernel_size),
    MEASURE("prim::shape(Tensor self) -> int[]", kernel_size),
    MEASURE("aten::size.int(Tensor self, int dim) -> int", kernel_size_int),
    MEASURE("aten::stride(Tensor self) -> int[]", kernel_stride),
    MEASURE("aten::stride.int(Tensor self, int dim) -> int", kernel_stride_int),
    MEASURE("aten::dim(Tensor self) -> int", kernel_dim),
    MEASURE("aten::numel(Tensor self) -> int", kernel_numel),
    MEASURE("aten::storage_offset(Tensor self) -> int", kernel_storage_offset),
    MEASURE("aten::element_size(Tensor self) -> int", kernel_element_size),
    MEASURE("prim::itemsize(Tensor a) -> int", kernel_element_size),
    MEASURE("prim::nbytes(Tensor a) -> int", kernel_nbytes),
    ASK("aten::_version(Tensor self) -> int", kernel_version),
    ASK("aten::output_nr(Tensor self) -> int", kernel_zero),
    MEASURE("aten::_shape_as_tensor(Tensor self) -> Tensor", kernel_shape_as_tensor),
    MEASURE("aten::is_floating_point(Tensor self) -> bool", kernel_is_floating_point),
    MEASURE("aten::is_complex(Tensor self) -> bool", kernel_is_complex),
    MEASURE("aten::is_signed(Tensor self) -> bool", kernel_is_signed),
    MEASURE("aten::is_contiguous(Tensor self) -> bool", kernel_is_contiguous),
    MEASURE("aten::is_contiguous.memory_format(Tensor self, MemoryFormat memory_format) -> bool",
            kernel_is_contiguous_format),
    MEASURE("aten::is_same_size(Tensor self, Tensor other) -> bool", kernel_is_same_size),
    ASK("aten::is_leaf(Tensor self) -> bool", kernel_is_leaf),
    ASK("aten::is_inference(Tensor self) -> bool", kernel_false),
    ASK("aten::is_distributed(Tensor self) -> bool", kernel_false),
    ASK("aten::is_pinned(Tensor self, Device? device=None) -> bool", kernel_false),
    MEASURE("aten::cudnn_is_acceptable(Tensor self) -> bool", kernel_false),
    {.schema = "aten::requires_grad_(Tensor(a!) self, bool requires_grad=True) -> Tensor(a!)",
     .kernel = kernel_requires_grad_,
     .flags = OP_ACCEPT_ANY | OP_NOT_DIFFERENTIABLE | OP_WRITES_NO_DATA},
    ASK("prim::data(Tensor(a) a) -> Tensor(a)", kernel_data),
    {.schema = "aten::data(Tensor self) -> Tensor",
     .kernel = kernel_data,
     .flags = OP_ACCEPT_ANY | OP_NOT_DIFFERENTIABLE | OP_RETURNS_ARGUMENT},
    MEASURE("prim::dtype(Tensor a) -> int", kernel_dtype),
    MEASURE("prim::device(Tensor a) -> Device", kernel_device),
    MEASURE("prim::layout(Tensor a) -> Layout", kernel_layout),
    ASK("prim::name(Tensor a) -> str?", kernel_none),
    ASK("prim::requires_grad(Tensor a) -> bool", kernel_requires_grad),
    MEASURE("prim::is_cpu(Tensor a) -> bool", kernel_is_cpu),
    MEASURE("prim::is_cuda(Tensor a) -> bool", kernel_is_cuda),
    MEASURE("prim::is_meta(Tensor a) -> bool", kernel_is_meta),
    MEASURE("prim::is_quantized(Tensor a) -> bool", kernel_is_quantized),
    MEASURE("prim::is_sparse(Tensor a) -> bool", kernel_is_sparse),
    MEASURE("prim::is_sparse_csr(Tensor a) -> bool", kernel_is_sparse_csr),
    MEASURE("prim::is_ipu(Tensor a) -> bool", kernel_false),
    MEASURE("prim::is_mkldnn(Tensor a) -> bool", kernel_false),
    MEASURE("prim::is_mps(Tensor a) -> bool", kernel_false),
    MEASURE("prim::is_ort(Tensor a) -> bool", kernel_false),
    MEASURE("prim::is_maia(Tensor a) -> bool", kernel_false),
    MEASURE("prim::is_mtia(Tensor a) -> bool", kernel_false),
    MEASURE("prim::is_vulkan(Tensor a) -> bool", kernel_false),
    MEASURE("prim::is_xpu(Tensor a) -> bool", kernel_false),
    {.schema = "aten::equal(Tensor self, Tensor other) -> bool",
     .cast = CAST_WIDEST,
     .kernel = kernel_equal,
     .flags = OP_ACCEPT_UNSIGNED | OP_NOT_DIFFERENTIABLE},
    ITEM("aten::item(Tensor self) -> Scalar", kernel_item),
    ITEM("aten::_local_scalar_dense(Tensor self) -> Scalar", kernel_item),
    ITEM("aten::is_nonzero(Tensor self) -> bool", kernel_is_nonzero),
    ITEM("aten::Bool.Tensor(Tensor a) -> bool", kernel_is_nonzero),
    ITEM("aten::Int.Tensor(Tensor a) -> int", kernel_item_as, .param = DTYPE_INT64),
    ITEM("aten::Float.Tensor(Tensor a) -> float", kernel_item_as, .param = DTYPE_FLOAT64),
    ITEM("aten::Complex.Tensor(Tensor a) -> complex", kernel_item_as, .param = DTYPE_COMPLEX128),
    COMPLEX_OF("Tensor_Tensor", "Tensor a", "Tensor b"),
    COMPLEX_OF("Tensor_bool", "Tensor x", "bool y"),
    COMPLEX_OF("Tensor_float", "Tensor x", "float y"),
    COMPLEX_OF("Tensor_int", "Tensor x", "int y"),
    COMPLEX_OF("bool_Tensor", "bool x", "Tensor y"),
    COMPLEX_OF("float_Tensor", "float x", "Tensor y"),
    COMPLEX_OF("int_Tensor", "int x", "Tensor y"),
    MEASURE("aten::result_type.Tensor(Tensor tensor, Tensor other) -> ScalarType", kernel_result_type),
    MEASURE("aten::result_type.Scalar(Tensor tensor, Scalar other) -> ScalarType", kernel_result_type),
    MEASURE("aten::result_type.Scalar_Tensor(Scalar scalar, Tensor tensor) -> ScalarType", kernel_result_type),
};

OP_TABLE(op_table_attribute, rows);
