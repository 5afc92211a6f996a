/* Forms of operators that compute with the values of sparse tensors: what keeps zeros zero, sums, products of
 * elements, copies. */
#include <assert.h>

#include "call/call_plan.h"
#include "op/sparse/sparse.h"
#include "tensor/promote.h"
#include "tensor/sparse.h"

/* Refuses compressed tensors by name. */
static Status expect_coo_first(const Call *c) {
  return expect_coo(c, call_tensor(c, 0));
}

/* ---- through the values ---- */

/* The call's own operator on the values of self, the other arguments as they are. */
static Status on_values(Call *c, Tensor *values, Tensor **out) {
  IValue inputs[CALL_MAX_INPUTS], result = IVALUE_NONE;
  const CallPlan *plan;
  TRY(call_plan(c->op, &plan));
  if (c->input_count > CALL_MAX_INPUTS || !c->input_count)
    return status_internal(STR_FMT ": too many arguments", STR_ARG(c->op->name));
  memcpy(inputs, c->inputs, c->input_count * sizeof *inputs);
  inputs[0] = ivalue_tensor(values);
  Call inner = {.inputs = inputs, .input_count = c->input_count, .outputs = &result, .output_count = 1};
  TRY(operator_call(c->exec, plan->functional, &inner));
  *out = result.tensor;
  return OK;
}

/* What is linear keeps elements that are there twice. */
static Status form_values(Call *c) {
  const Tensor *self = call_tensor(c, 0);
  Tensor *values, *out = NULL;
  for (uint32_t i = 1; i < c->input_count; i++) {
    const Tensor *other = call_tensor_or_null(c, i);
    if (other && (other->ndim || tensor_is_sparse(other)))
      return status_new(ERROR_UNSUPPORTED, STR_FMT ": a sparse tensor and one that is no number", STR_ARG(c->op->name));
  }
  if (!tensor_is_sparse(self))
    return status_new(ERROR_UNSUPPORTED, STR_FMT ": a dense tensor and a sparse one", STR_ARG(c->op->name));
  TRY(on_values(c, tensor_sparse_parts(self)->values, &values));
  Status status = tensor_with_values(self, values, &out);
  tensor_release(values);
  return sparse_give(c, status, out);
}

/* f(a + b) is not f(a) + f(b): each index once. */
static Status form_coalesced_values(Call *c) {
  Tensor *coalesced, *values = NULL, *out = NULL;
  TRY(expect_coo_first(c));
  TRY(sparse_coalesce(c->exec, call_tensor(c, 0), &coalesced));
  Status status = on_values(c, tensor_sparse_parts(coalesced)->values, &values);
  if (!status) status = tensor_with_values(coalesced, values, &out);
  tensor_release(values);
  tensor_release(coalesced);
  return sparse_give(c, status, out);
}

/* A result of the values alone: norm, any. */
static Status form_of_values(Call *c) {
  Tensor *coalesced, *out = NULL;
  TRY(expect_coo_first(c));
  TRY(sparse_coalesce(c->exec, call_tensor(c, 0), &coalesced));
  Status status = on_values(c, tensor_sparse_parts(coalesced)->values, &out);
  tensor_release(coalesced);
  return sparse_give(c, status, out);
}

static Status form_frobenius_norm(Call *c) { /* (self, dim, keepdim) */
  static OpRef norm = OP_REF("aten::norm", "Scalar");
  size_t count;
  Tensor *out;
  call_ints(c, 1, &count);
  if (count || call_bool(c, 2))
    return status_new(ERROR_UNSUPPORTED, STR_FMT ": of a sparse tensor along dimensions", STR_ARG(c->op->name));
  TRY(sparse_op(c->exec, &norm, 2, (IValue[]){call_value(c, 0), ivalue_int(2)}, &out));
  call_set_tensor(c, 0, out);
  return OK;
}

/* Of what is not trained. */
static Status form_dropout(Call *c) {
  if (call_bool(c, 2)) return status_new(ERROR_UNSUPPORTED, "aten::dropout: a sparse tensor in training");
  call_set_tensor(c, 0, tensor_retain(call_tensor(c, 0)));
  return OK;
}

static Status form_conj(Call *c) {
  const Tensor *self = call_tensor(c, 0);
  if (dtype_is_complex((DType)self->dtype)) {
    static OpRef conj = OP_REF("aten::conj_physical", "");
    Tensor *values, *out = NULL;
    TRY(sparse_op(c->exec, &conj, 1, (IValue[]){ivalue_tensor(tensor_sparse_parts(self)->values)}, &values));
    Status status = tensor_with_values(self, values, &out);
    tensor_release(values);
    return sparse_give(c, status, out);
  }
  call_set_tensor(c, 0, tensor_retain(self));
  return OK;
}

static Status form_self(Call *c) {
  call_set_tensor(c, 0, tensor_retain(call_tensor(c, 0)));
  return OK;
}

/* ---- copies ---- */

static Status copy_as(Call *c, const Tensor *self, DType dtype) {
  const Tensor *old = tensor_sparse_parts(self)->values;
  Tensor *values = NULL, *out = NULL;
  TRY(tensor_empty(dtype, old->ndim, old->sizes, &values));
  Status status = tensor_copy(values, old, c->exec->work.threads);
  if (!status) status = tensor_with_values(self, values, &out);
  tensor_release(values);
  return sparse_give(c, status, out);
}

static Status form_clone(Call *c) {
  return copy_as(c, call_tensor(c, 0), (DType)call_tensor(c, 0)->dtype);
}

static Status form_to_copy(Call *c) { /* (self, dtype, layout, device, pin_memory, non_blocking, memory_format) */
  const Tensor *self = call_tensor(c, 0);
  if (!call_is_none(c, 2) && call_int(c, 2) != (int64_t)tensor_layout(self))
    return status_new(ERROR_UNSUPPORTED, STR_FMT ": another layout", STR_ARG(c->op->name));
  if (!call_is_none(c, 3) && call_value(c, 3).device.type != DEVICE_CPU)
    return status_new(ERROR_UNSUPPORTED, STR_FMT ": a sparse tensor on another device", STR_ARG(c->op->name));
  return copy_as(c, self, call_dtype_or(c, 1, (DType)self->dtype));
}

static Status form_copy(Call *c) { /* (self, src, non_blocking) */
  const Tensor *self = call_tensor(c, 0), *from = call_tensor(c, 1);
  if (!tensor_is_sparse(self) || tensor_layout(self) != tensor_layout(from))
    return status_new(ERROR_RUNTIME,
                      "copy_() between dense and sparse Tensors is not implemented! Found self type = "
                      "%s and src type = %s",
                      layout_name(tensor_layout(self)), layout_name(tensor_layout(from)));
  return copy_as(c, from, (DType)self->dtype);
}

static Status form_zeros(Call *c) {
  const Tensor *self = call_tensor(c, 0);
  Tensor *indices = NULL, *values = NULL, *out = NULL;
  TRY(expect_coo_first(c));
  int64_t dtype = c->input_count > 1 ? call_int_or(c, 1, self->dtype) : self->dtype;
  Status status = tensor_empty(DTYPE_INT64, 2, (const int64_t[]){tensor_sparse_parts(self)->sparse_dim, 0}, &indices);
  if (!status) status = sparse_dense_rows(self, (DType)dtype, 0, &values);
  if (!status) status = tensor_new_coo(self->ndim, self->sizes, indices, values, true, &out);
  tensor_release(indices);
  tensor_release(values);
  return sparse_give(c, status, out);
}

/* ---- sums ---- */

static DType promoted(const Tensor *a, const Tensor *b) {
  Promotion p = PROMOTION_EMPTY;
  promotion_add(&p, a);
  promotion_add(&p, b);
  return promotion_result(&p);
}

/* Values of `t`, of a dtype and times a number: new or its own. */
static Status scaled_values(Exec *exec, const Tensor *t, DType dtype, IValue alpha, Tensor **out) {
  assert(tensor_is_sparse(t));
  static OpRef mul = OP_REF("aten::mul", "Scalar"), to = OP_REF("aten::to", "dtype");
  Tensor *values;
  TRY(sparse_op(exec, &to, 2, (IValue[]){ivalue_tensor(tensor_sparse_parts(t)->values), ivalue_int(dtype)}, &values));
  if (alpha.tag == TAG_INT && alpha.i == 1) return *out = values, OK;
  Status status = sparse_op(exec, &mul, 2, (IValue[]){ivalue_tensor(values), alpha}, out);
  tensor_release(values);
  return status;
}

/* dense + alpha * sparse */
static Status add_to_dense(Call *c, const Tensor *dense, const Tensor *sparse, IValue alpha) {
  assert(tensor_is_sparse(sparse) && !tensor_is_sparse(dense));
  static OpRef to = OP_REF("aten::to", "dtype"), reshape = OP_REF("aten::reshape", "");
  DType dtype = promoted(dense, sparse);
  Tensor *coo = NULL, *places = NULL, *values = NULL, *base = NULL, *rows = NULL, *sum = NULL, *out = NULL;
  List *sizes = NULL;
  if (!tensor_same_sizes(dense, sparse))
    return status_new(ERROR_RUNTIME,
                      "add: expected 'self' and 'other' to have same size, but self has size %s while other has size "
                      "%s (FYI: dense-sparse addition does not currently support broadcasting)",
                      SIZES_TEXT(dense->ndim, dense->sizes), SIZES_TEXT(sparse->ndim, sparse->sizes));
  Status status = tensor_as_coo(sparse, &coo);
  if (!status) status = tensor_coo_places(coo, &places);
  if (!status) status = scaled_values(c->exec, coo, dtype, alpha, &values);
  if (!status)
    status = sparse_op(c->exec, &to, 2, (IValue[]){ivalue_tensor((Tensor *)dense), ivalue_int(dtype)}, &base);
  if (!status) {
    int64_t row_sizes[TENSOR_MAX_DIMS + 1] = {tensor_coo_extent(coo)};
    for (int d = 1; d < values->ndim; d++) row_sizes[d] = values->sizes[d];
    status = list_from_ints(row_sizes, (size_t)values->ndim, &sizes);
  }
  if (!status) status = sparse_op(c->exec, &reshape, 2, (IValue[]){ivalue_tensor(base), ivalue_list(sizes)}, &rows);
  if (!status) status = sparse_add_rows(c->exec, rows, places, values, &sum);
  if (!status) status = tensor_view_sizes(sum, dense->ndim, dense->sizes, &out);
  if (!status && !out) status = status_internal("a dense tensor has gaps");
  if (sizes) ivalue_release(ivalue_list(sizes));
  Tensor *used[] = {coo, places, values, base, rows, sum};
  for (size_t i = 0; i < sizeof used / sizeof *used; i++) tensor_release(used[i]);
  return sparse_give(c, status, out);
}

/* Where each element of a and b goes when both are walked once, the smaller place first, as PyTorch merges them: equal
 * places that meet become one. rows has na + nb numbers. */
static int64_t merge_places(const int64_t *a, int64_t na, const int64_t *b, int64_t nb, int64_t *rows) {
  assert(na >= 0 && nb >= 0);
  int64_t i = 0, j = 0, count = 0;
  while (i < na || j < nb) {
    bool takes_a = j >= nb || (i < na && a[i] <= b[j]), takes_b = i >= na || (j < nb && b[j] <= a[i]);
    if (takes_a) rows[i++] = count;
    if (takes_b) rows[na + j++] = count;
    count++;
  }
  return count;
}

static Status merged_indices(const Tensor *a, const Tensor *b, const int64_t *rows, int64_t count, Tensor **out) {
  const Tensor *const from[] = {tensor_sparse_parts(a)->indices, tensor_sparse_parts(b)->indices};
  int dims = tensor_sparse_parts(a)->sparse_dim;
  TRY(tensor_empty(DTYPE_INT64, 2, (const int64_t[]){dims, count}, out));
  for (int side = 0; side < 2; side++) {
    const int64_t *data = tensor_data(from[side]), *strides = from[side]->strides;
    for (int d = 0; d < dims; d++)
      for (int64_t i = 0; i < from[side]->sizes[1]; i++)
        ((int64_t *)tensor_data(*out))[d * count + rows[i]] = data[d * strides[0] + i * strides[1]];
    rows += from[side]->sizes[1];
  }
  return OK;
}

static Status check_same_form(const Call *c, const Tensor *a, const Tensor *b) {
  TRY(expect_coo(c, a));
  TRY(expect_coo(c, b));
  if (!tensor_same_sizes(a, b))
    return status_new(ERROR_RUNTIME, STR_FMT ": expected sizes of 'self' and 'other' to match, but %s != %s",
                      STR_ARG(c->op->name), SIZES_TEXT(a->ndim, a->sizes), SIZES_TEXT(b->ndim, b->sizes));
  if (tensor_sparse_parts(a)->sparse_dim != tensor_sparse_parts(b)->sparse_dim)
    return status_new(ERROR_RUNTIME,
                      STR_FMT
                      ": expected 'self' and 'other' to have same number of sparse dimensions, but they have "
                      "%d and %d",
                      STR_ARG(c->op->name), tensor_sparse_parts(a)->sparse_dim, tensor_sparse_parts(b)->sparse_dim);
  return OK;
}

static Status add_sparse(Call *c, const Tensor *a, const Tensor *b, IValue alpha) {
  TRY(check_same_form(c, a, b));
  DType dtype = promoted(a, b);
  int64_t na = tensor_nnz(a), nb = tensor_nnz(b), both = na + nb;
  Tensor *places[2] = {NULL, NULL}, *values[2] = {NULL, NULL}, *rows[3] = {NULL, NULL, NULL};
  Tensor *indices = NULL, *zeros = NULL, *half = NULL, *sum = NULL, *out = NULL;
  Status status = tensor_coo_places(a, &places[0]);
  if (!status) status = tensor_coo_places(b, &places[1]);
  if (!status) status = scaled_values(c->exec, a, dtype, ivalue_int(1), &values[0]);
  if (!status) status = scaled_values(c->exec, b, dtype, alpha, &values[1]);
  if (!status) status = tensor_empty(DTYPE_INT64, 1, &both, &rows[0]);
  if (!status) status = tensor_narrow(rows[0], 0, 0, na, &rows[1]);
  if (!status) status = tensor_narrow(rows[0], 0, na, nb, &rows[2]);
  if (!status) {
    int64_t count = merge_places(tensor_data(places[0]), na, tensor_data(places[1]), nb, tensor_data(rows[0]));
    status = merged_indices(a, b, tensor_data(rows[0]), count, &indices);
    if (!status) status = sparse_dense_rows(a, dtype, count, &zeros);
  }
  if (!status) status = sparse_add_rows(c->exec, zeros, rows[1], values[0], &half);
  if (!status) status = sparse_add_rows(c->exec, half, rows[2], values[1], &sum);
  bool coalesced = tensor_sparse_parts(a)->coalesced && tensor_sparse_parts(b)->coalesced;
  if (!status) status = tensor_new_coo(a->ndim, a->sizes, indices, sum, coalesced, &out);
  Tensor *used[] = {places[0], places[1], values[0], values[1], rows[0], rows[1], rows[2], indices, zeros, half, sum};
  for (size_t i = 0; i < sizeof used / sizeof *used; i++) tensor_release(used[i]);
  return sparse_give(c, status, out);
}

static Status add_scaled(Call *c, IValue alpha) {
  const Tensor *a = call_tensor(c, 0), *b = call_tensor(c, 1);
  if (tensor_is_sparse(a) && tensor_is_sparse(b)) return add_sparse(c, a, b, alpha);
  if (tensor_is_sparse(a))
    return status_new(ERROR_RUNTIME, "add(sparse, dense) is not supported. Use add(dense, sparse) instead.");
  return add_to_dense(c, a, b, alpha);
}
static Status form_add(Call *c) {
  return add_scaled(c, call_scalar(c, 2));
}
static Status form_sub(Call *c) {
  IValue alpha = call_scalar(c, 2);
  if (alpha.tag == TAG_INT) return add_scaled(c, ivalue_int(alpha.i == INT64_MIN ? alpha.i : -alpha.i));
  if (alpha.tag == TAG_FLOAT) return add_scaled(c, ivalue_float(-alpha.f));
  return status_new(ERROR_UNSUPPORTED, "aten::sub: a sparse tensor times a number that is not real");
}

/* ---- products of elements ---- */

static OpRef mul_ref = OP_REF("aten::mul", "Tensor");

/* Elements that both have. */
static Status mul_sparse(Call *c, const Tensor *left, const Tensor *right) {
  static OpRef values_at = OP_REF("aten::_sparse_mask_helper", "");
  TRY(check_same_form(c, left, right));
  Tensor *a = NULL, *b = NULL, *places[2] = {NULL, NULL}, *indices = NULL, *of_a = NULL, *of_b = NULL, *values = NULL;
  Tensor *out = NULL;
  Status status = sparse_coalesce(c->exec, left, &a);
  if (!status) status = sparse_coalesce(c->exec, right, &b);
  if (!status) status = tensor_coo_places(a, &places[0]);
  if (!status) status = tensor_coo_places(b, &places[1]);
  if (!status) {
    int64_t na = tensor_nnz(a), nb = tensor_nnz(b), count = 0, i = 0, j = 0, dims = tensor_sparse_parts(a)->sparse_dim;
    const int64_t *pa = tensor_data(places[0]), *pb = tensor_data(places[1]);
    const Tensor *from = tensor_sparse_parts(a)->indices;
    for (; i < na && j < nb; pa[i] < pb[j] ? i++ : pa[i] > pb[j] ? j++ : (count++, i++, j++)) continue;
    status = tensor_empty(DTYPE_INT64, 2, (const int64_t[]){dims, count}, &indices);
    int64_t k = 0;
    for (i = j = 0; !status && i < na && j < nb; pa[i] < pb[j] ? i++ : pa[i] > pb[j] ? j++ : (k++, i++, j++))
      if (pa[i] == pb[j])
        for (int64_t d = 0; d < dims; d++)
          ((int64_t *)tensor_data(indices))[d * count + k] =
              ((const int64_t *)tensor_data(from))[d * from->strides[0] + i * from->strides[1]];
  }
  if (!status) status = sparse_op(c->exec, &values_at, 2, (IValue[]){ivalue_tensor(a), ivalue_tensor(indices)}, &of_a);
  if (!status) status = sparse_op(c->exec, &values_at, 2, (IValue[]){ivalue_tensor(b), ivalue_tensor(indices)}, &of_b);
  if (!status) status = sparse_op(c->exec, &mul_ref, 2, (IValue[]){ivalue_tensor(of_a), ivalue_tensor(of_b)}, &values);
  bool coalesced = tensor_sparse_parts(left)->coalesced && tensor_sparse_parts(right)->coalesced;
  if (!status) status = tensor_new_coo(left->ndim, left->sizes, indices, values, coalesced, &out);
  Tensor *used[] = {a, b, places[0], places[1], indices, of_a, of_b, values};
  for (size_t i = 0; i < sizeof used / sizeof *used; i++) tensor_release(used[i]);
  return sparse_give(c, status, out);
}

/* A sparse tensor by a dense one of its sizes, or by a number. */
static Status mul_dense(Call *c, const Tensor *sparse, Tensor *dense) {
  assert(tensor_is_sparse(sparse) && !tensor_is_sparse(dense));
  static OpRef rows_at = OP_REF("aten::_sparse_mask_helper", "");
  const SparseParts *parts = tensor_sparse_parts(sparse);
  Tensor *whole = NULL, *rows = NULL, *values = NULL, *out = NULL;
  Status status = OK;
  if (dense->ndim == 0) {
    rows = tensor_retain(dense);
  } else {
    TRY(expect_coo(c, sparse));
    status = tensor_expand(dense, sparse->ndim, sparse->sizes, &whole);
    if (!status)
      status = sparse_op(c->exec, &rows_at, 2, (IValue[]){ivalue_tensor(whole), ivalue_tensor(parts->indices)}, &rows);
  }
  if (!status)
    status = sparse_op(c->exec, &mul_ref, 2, (IValue[]){ivalue_tensor(parts->values), ivalue_tensor(rows)}, &values);
  if (!status) status = tensor_with_values(sparse, values, &out);
  tensor_release(whole);
  tensor_release(rows);
  tensor_release(values);
  return sparse_give(c, status, out);
}

static Status form_mul(Call *c) {
  Tensor *a = call_tensor(c, 0), *b = call_tensor(c, 1);
  if (!tensor_is_sparse(a)) return mul_dense(c, b, a);
  return tensor_is_sparse(b) ? mul_sparse(c, a, b) : mul_dense(c, a, b);
}

#define VALUES(name) \
  { name, form_values, false }
#define COALESCED(name) \
  { name, form_coalesced_values, false }
static const KindForm forms[] = {
    {"aten::add.Tensor", form_add, false},
    {"aten::sub.Tensor", form_sub, false},
    {"aten::mul.Tensor", form_mul, false},
    VALUES("aten::mul.Scalar"),
    VALUES("aten::div.Tensor"),
    VALUES("aten::div.Scalar"),
    COALESCED("aten::div.Tensor_mode"),
    COALESCED("aten::div.Scalar_mode"),
    VALUES("aten::neg"),
    COALESCED("aten::abs"),
    COALESCED("aten::asin"),
    COALESCED("aten::asinh"),
    COALESCED("aten::atan"),
    COALESCED("aten::atanh"),
    COALESCED("aten::ceil"),
    COALESCED("aten::deg2rad"),
    COALESCED("aten::erf"),
    COALESCED("aten::erfinv"),
    COALESCED("aten::expm1"),
    COALESCED("aten::floor"),
    COALESCED("aten::frac"),
    COALESCED("aten::isinf"),
    COALESCED("aten::isnan"),
    COALESCED("aten::isneginf"),
    COALESCED("aten::isposinf"),
    COALESCED("aten::log1p"),
    COALESCED("aten::nan_to_num"),
    COALESCED("aten::pow.Tensor_Scalar"),
    COALESCED("aten::rad2deg"),
    COALESCED("aten::round"),
    COALESCED("aten::sgn"),
    COALESCED("aten::sign"),
    COALESCED("aten::signbit"),
    COALESCED("aten::sin"),
    COALESCED("aten::sinh"),
    COALESCED("aten::sqrt"),
    COALESCED("aten::tan"),
    COALESCED("aten::tanh"),
    COALESCED("aten::trunc"),
    {"aten::any", form_of_values, false},
    {"aten::norm.Scalar", form_of_values, false},
    {"aten::frobenius_norm.dim", form_frobenius_norm, true},
    {"aten::dropout", form_dropout, true},
    {"aten::conj", form_conj, false},
    {"aten::conj_physical", form_conj, false},
    {"aten::resolve_conj", form_self, false},
    {"aten::contiguous", form_self, false},
    {"aten::clone", form_clone, false},
    {"aten::_to_copy", form_to_copy, false},
    {"aten::copy", form_copy, false},
    {"aten::zero", form_zeros, false},
    {"aten::zeros_like", form_zeros, false},
};
KIND_FORMS(sparse_forms_basic, forms);
