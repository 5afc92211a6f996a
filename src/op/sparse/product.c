/* Products of sparse matrices with dense ones and with each other. */
#include <assert.h>

#include "call/kind_form.h"
#include "call/options.h"
#include "call/row.h"
#include "op/sparse/sparse.h"
#include "tensor/sparse.h"

static Status shapes_error(const Tensor *a, const Tensor *b) {
  return status_new(ERROR_RUNTIME, "mat1 and mat2 shapes cannot be multiplied (%s and %s)",
                    SIZES_TEXT(a->ndim, a->sizes), SIZES_TEXT(b->ndim, b->sizes));
}

/* ---- sparse by dense ---- */

/* out (rows, columns), row-major, += alpha * a * b, element by element of a in its order. */
#define PRODUCT(name, type)                                                                             \
  static void add_##name(const Tensor *a, const Tensor *b, const void *alpha_at, Tensor *out) {         \
    const SparseParts *parts = tensor_sparse_parts(a);                                                  \
    const int64_t *index = tensor_data(parts->indices), *strides = parts->indices->strides;             \
    const type *values = tensor_data(parts->values), *dense = tensor_data(b);                           \
    type *result = tensor_data(out), alpha = *(const type *)alpha_at;                                   \
    int64_t columns = b->sizes[1], nnz = tensor_nnz(a);                                                 \
    for (int64_t i = 0; i < nnz; i++) {                                                                 \
      int64_t row = index[i * strides[1]], at = index[strides[0] + i * strides[1]];                     \
      type value = (type)(alpha * values[i * parts->values->strides[0]]), *to = result + row * columns; \
      const type *from = dense + at * b->strides[0];                                                    \
      if (b->strides[1] == 1)                                                                           \
        for (int64_t k = 0; k < columns; k++) to[k] = (type)(to[k] + value * from[k]);                  \
      else                                                                                              \
        for (int64_t k = 0; k < columns; k++) to[k] = (type)(to[k] + value * from[k * b->strides[1]]);  \
    }                                                                                                   \
  }
PRODUCT(uint8, uint8_t)
PRODUCT(int8, int8_t)
PRODUCT(int16, int16_t)
PRODUCT(int32, uint32_t) /* wraps */
PRODUCT(int64, uint64_t)
PRODUCT(float32, float)
PRODUCT(float64, double)
PRODUCT(complex64, complex64)
PRODUCT(complex128, complex128)

typedef void Product(const Tensor *a, const Tensor *b, const void *alpha, Tensor *out);
static Product *const products[DTYPE_COUNT] = {
    [DTYPE_UINT8] = add_uint8,     [DTYPE_INT8] = add_int8,           [DTYPE_INT16] = add_int16,
    [DTYPE_INT32] = add_int32,     [DTYPE_INT64] = add_int64,         [DTYPE_FLOAT32] = add_float32,
    [DTYPE_FLOAT64] = add_float64, [DTYPE_COMPLEX64] = add_complex64, [DTYPE_COMPLEX128] = add_complex128};

/* A new matrix: a * b * alpha added to `to`, which may be NULL for zeros. a: COO; b dense. */
static Status multiply(const Tensor *a, const Tensor *b, IValue alpha, const Tensor *to, Tensor **out) {
  assert(tensor_is_sparse(a) && !tensor_is_sparse(b));
  double room[2];
  if (a->ndim != 2 || tensor_sparse_parts(a)->sparse_dim != 2)
    return status_new(ERROR_RUNTIME, "addmm: Argument #2: matrix expected, got %dD tensor", a->ndim);
  if (b->ndim != 2) return status_new(ERROR_RUNTIME, "addmm: Argument #3: matrix expected, got %dD tensor", b->ndim);
  if (a->sizes[1] != b->sizes[0]) return shapes_error(a, b);
  if (a->dtype != b->dtype || (to && to->dtype != a->dtype))
    return status_new(ERROR_RUNTIME, "expected scalar type %s but found %s", dtype_scalar_name((DType)a->dtype),
                      dtype_scalar_name((DType)(a->dtype != b->dtype ? b->dtype : to->dtype)));
  if (!products[a->dtype])
    return status_new(ERROR_RUNTIME, "\"addmm_sparse_dense\" not implemented for '%s'",
                      dtype_scalar_name((DType)a->dtype));
  TRY(scalar_to_element(alpha, (DType)a->dtype, room));
  TRY(tensor_empty((DType)a->dtype, 2, (const int64_t[]){a->sizes[0], b->sizes[1]}, out));
  Status status = OK;
  if (to)
    status = tensor_copy(*out, to, 1);
  else
    tensor_fill_zero(*out);
  if (!status)
    products[a->dtype](a, b, room, *out);
  else
    tensor_release(*out);
  return status;
}

static Status expect_product(const Call *c, const Tensor *a, const Tensor *b) {
  if (!tensor_is_sparse(b) && tensor_is_sparse(a) &&
      !(b->flags & TENSOR_UNUSUAL & ~(uint32_t)(TENSOR_CONJ | TENSOR_NEG)))
    return OK;
  return status_new(ERROR_UNSUPPORTED, STR_FMT ": a product of tensors with layouts %s and %s", STR_ARG(c->op->name),
                    layout_name(tensor_layout(a)), layout_name(tensor_layout(b)));
}

/* self * beta + a * b * alpha; b plain or lazily conjugated. */
static Status give_product(Call *c, Tensor *self, const Tensor *a, const Tensor *b, IValue beta, IValue alpha) {
  static OpRef mul = OP_REF("aten::mul", "Scalar"), resolve = OP_REF("aten::resolve_conj", "");
  Tensor *coo = NULL, *scaled = NULL, *dense = NULL, *out;
  TRY(expect_product(c, a, b));
  bool adds = self && !(beta.tag != TAG_COMPLEX && ivalue_to_double(beta) == 0);
  if (adds && self->flags & TENSOR_UNUSUAL)
    return status_new(ERROR_UNSUPPORTED, STR_FMT ": adding to a tensor that is not plain", STR_ARG(c->op->name));
  Status status = tensor_as_coo(a, &coo);
  if (!status) status = sparse_op(c->exec, &resolve, 1, (IValue[]){ivalue_tensor((Tensor *)b)}, &dense);
  if (!status && adds) status = sparse_op(c->exec, &mul, 2, (IValue[]){ivalue_tensor(self), beta}, &scaled);
  if (!status) status = multiply(coo, dense, alpha, scaled, &out);
  tensor_release(coo);
  tensor_release(dense);
  tensor_release(scaled);
  if (!status) call_set_tensor(c, 0, out);
  return status;
}

static Status kernel_addmm(Call *c) {
  return give_product(c, call_tensor(c, 0), call_tensor(c, 1), call_tensor(c, 2), call_scalar(c, 3), call_scalar(c, 4));
}

/* ---- forms ---- */

static Status form_mm(Call *c) {
  static OpRef sparse = OP_REF("aten::_sparse_sparse_matmul", "");
  const Tensor *a = call_tensor(c, 0), *b = call_tensor(c, 1);
  Tensor *out;
  if (!tensor_is_sparse(a) || !tensor_is_sparse(b)) return give_product(c, NULL, a, b, ivalue_int(0), ivalue_int(1));
  TRY(sparse_op(c->exec, &sparse, 2, c->inputs, &out));
  call_set_tensor(c, 0, out);
  return OK;
}

static OpRef mm_ref = OP_REF("aten::mm", "");

/* A matrix by a vector: as by a matrix of one column. */
static Status form_mv(Call *c) {
  static OpRef unsqueeze = OP_REF("aten::unsqueeze", ""), squeeze = OP_REF("aten::squeeze", "dim");
  Tensor *column = NULL, *product = NULL, *out;
  if (call_tensor(c, 0)->ndim != 2 || call_tensor(c, 1)->ndim != 1)
    return status_new(ERROR_RUNTIME, "vector + matrix @ vector expected, got %d, %d", call_tensor(c, 0)->ndim,
                      call_tensor(c, 1)->ndim);
  Status status = sparse_op(c->exec, &unsqueeze, 2, (IValue[]){call_value(c, 1), ivalue_int(1)}, &column);
  if (!status) status = sparse_op(c->exec, &mm_ref, 2, (IValue[]){call_value(c, 0), ivalue_tensor(column)}, &product);
  if (!status) status = sparse_op(c->exec, &squeeze, 2, (IValue[]){ivalue_tensor(product), ivalue_int(1)}, &out);
  tensor_release(column);
  tensor_release(product);
  if (!status) call_set_tensor(c, 0, out);
  return status;
}

static Status form_matmul(Call *c) {
  static OpRef mv = OP_REF("aten::mv", "");
  const Tensor *a = call_tensor(c, 0), *b = call_tensor(c, 1);
  Tensor *out;
  if (a->ndim != 2 || (b->ndim != 2 && b->ndim != 1))
    return status_new(ERROR_UNSUPPORTED, STR_FMT ": sparse tensors of %d and %d dimensions", STR_ARG(c->op->name),
                      a->ndim, b->ndim);
  TRY(sparse_op(c->exec, b->ndim == 2 ? &mm_ref : &mv, 2, c->inputs, &out));
  call_set_tensor(c, 0, out);
  return OK;
}

static Status form_linear(Call *c) {
  static OpRef transpose = OP_REF("aten::t", ""), add = OP_REF("aten::add", "Tensor"),
               matmul = OP_REF("aten::matmul", "");
  Tensor *weight = NULL, *product = NULL, *sum;
  Status status = sparse_op(c->exec, &transpose, 1, (IValue[]){call_value(c, 1)}, &weight);
  if (!status) status = sparse_op(c->exec, &matmul, 2, (IValue[]){call_value(c, 0), ivalue_tensor(weight)}, &product);
  if (!status && call_tensor_or_null(c, 2)) {
    status = sparse_op(c->exec, &add, 2, (IValue[]){ivalue_tensor(product), call_value(c, 2)}, &sum);
    tensor_release(product);
    product = sum;
  }
  tensor_release(weight);
  if (!status) call_set_tensor(c, 0, product);
  return status;
}

/* Matrices of a batch stand on the diagonal of one. */
static Status form_bmm(Call *c) {
  static OpRef product = OP_REF("aten::_sparse_bmm", "");
  Tensor *out;
  TRY(sparse_op(c->exec, &product, 2, c->inputs, &out));
  call_set_tensor(c, 0, out);
  return OK;
}

static const OpRow rows[] = {
    {.schema = "aten::_sparse_addmm(Tensor self, Tensor mat1, Tensor mat2, *, Scalar beta=1, Scalar alpha=1) -> Tensor",
     .kernel = kernel_addmm,
     .grad = "self: grad * beta; mat1: sparse_product_mat1_grad(grad, mat1, mat2) * alpha; "
             "mat2: mat1.t().conj().mm(grad) * alpha",
     .flags = OP_ACCEPT_SPARSE | OP_ACCEPT_CONJ},
    {.schema = "aten::_sparse_mm(Tensor sparse, Tensor dense) -> Tensor",
     .body = "if sparse.layout != 0 and dense.layout != 0:\n"
             "    return torch._sparse_sparse_matmul(sparse, dense)\n"
             "rows = torch.zeros([sparse.size(0), dense.size(-1)], dtype=sparse.dtype)\n"
             "return torch._sparse_addmm(rows, sparse, dense, beta=0, alpha=1)"},
    {.schema = "aten::_sparse_bmm(Tensor self, Tensor mat2) -> Tensor", .body = "return sparse_bmm(self, mat2)"},
    {.schema = "aten::_sparse_sparse_matmul(Tensor self, Tensor other) -> Tensor",
     .body = "return sparse_by_sparse(self, other)",
     .grad = "self: sparse_values_like(torch._sparse_sparse_matmul(grad, other.t().conj()), self); "
             "other: sparse_values_like(torch._sparse_sparse_matmul(self.t().conj(), grad), other)",
     .flags = OP_GRAD_EXACT},
};
OP_TABLE(op_table_sparse_product, rows);

static const KindForm forms[] = {
    {"aten::mm", form_mm, false},  {"aten::addmm", kernel_addmm, false}, {"aten::mv", form_mv, true},
    {"aten::bmm", form_bmm, true}, {"aten::matmul", form_matmul, true},  {"aten::linear", form_linear, true},
};
KIND_FORMS(sparse_forms_product, forms);
