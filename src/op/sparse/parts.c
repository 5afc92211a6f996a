/* Rows that put sparse tensors together and give their parts back. */
#include "call/results.h"
#include "call/row.h"
#include "op/sparse/sparse.h"
#include "tensor/sparse.h"

#define OPTIONS "ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory="

/* ---- making ---- */

static Status kernel_coo(Call *c) { /* (sparse_dim, dense_dim, size, indices, values, *options, is_coalesced) */
  size_t ndim;
  const int64_t *sizes = call_ints(c, 2, &ndim);
  Tensor *indices = call_tensor(c, 3), *values = call_tensor(c, 4), *out;
  if (ndim > TENSOR_MAX_DIMS)
    return status_new(ERROR_UNSUPPORTED, "tensors of more than %d dimensions", TENSOR_MAX_DIMS);
  TRY(tensor_new_coo((int)ndim, sizes, indices, values, !call_is_none(c, 9) && call_bool(c, 9), &out));
  call_set_tensor(c, 0, out);
  return OK;
}

static Status kernel_compressed(Call *c) { /* (begins, indices, values, size, *options) */
  Layout layout = (Layout)call_param(c);
  size_t ndim;
  const int64_t *sizes = call_ints(c, 3, &ndim);
  Tensor *out;
  if (ndim > TENSOR_MAX_DIMS)
    return status_new(ERROR_UNSUPPORTED, "tensors of more than %d dimensions", TENSOR_MAX_DIMS);
  TRY(tensor_new_compressed(layout, (int)ndim, sizes, call_tensor(c, 0), call_tensor(c, 1), call_tensor(c, 2), &out));
  call_set_tensor(c, 0, out);
  return OK;
}

/* ---- parts ---- */

static Status give_alias(Call *c, const Tensor *part) {
  Tensor *out;
  TRY(tensor_alias(part, &out));
  call_set_tensor(c, 0, out);
  return OK;
}

static Status expect_sparse(Call *c) {
  const Tensor *t = call_tensor(c, 0);
  if (tensor_is_sparse(t)) return OK;
  return status_new(ERROR_RUNTIME, STR_FMT " expected sparse tensor layout but got Strided",
                    STR_ARG(str_slice(c->op->name, 6, c->op->name.length)));
}
static Status expect_coalesced(Call *c, const char *what) {
  TRY(expect_coo(c, call_tensor(c, 0)));
  if (tensor_sparse_parts(call_tensor(c, 0))->coalesced) return OK;
  return status_new(ERROR_RUNTIME, "Cannot get %s on an uncoalesced tensor, please call .coalesce() first", what);
}

static Status kernel_indices_raw(Call *c) {
  TRY(expect_coo(c, call_tensor(c, 0)));
  return give_alias(c, tensor_sparse_parts(call_tensor(c, 0))->indices);
}
static Status kernel_values_raw(Call *c) {
  TRY(expect_coo(c, call_tensor(c, 0)));
  return give_alias(c, tensor_sparse_parts(call_tensor(c, 0))->values);
}
static Status kernel_indices(Call *c) {
  TRY(expect_coalesced(c, "indices"));
  return kernel_indices_raw(c);
}
static Status kernel_values(Call *c) {
  TRY(expect_sparse(c));
  if (tensor_layout(call_tensor(c, 0)) == LAYOUT_SPARSE_COO) TRY(expect_coalesced(c, "values"));
  return give_alias(c, tensor_sparse_parts(call_tensor(c, 0))->values);
}

/* Which layout the operator asks, and whether for where lines begin. */
enum { PART_BEGINS = 1 << 8, PART_LAYOUT = PART_BEGINS - 1 };

static Status kernel_part(Call *c) {
  Layout layout = (Layout)(call_param(c) & PART_LAYOUT);
  bool begins = call_param(c) & PART_BEGINS;
  TRY(expect_sparse(c));
  const SparseParts *parts = tensor_sparse_parts(call_tensor(c, 0));
  if (parts->layout != layout)
    return status_new(ERROR_RUNTIME, STR_FMT " expected %s tensor layout but got %s",
                      STR_ARG(str_slice(c->op->name, 6, c->op->name.length)), layout_name(layout),
                      layout_name((Layout)parts->layout));
  return give_alias(c, begins ? parts->begins : parts->indices);
}

/* ---- facts ---- */

static Status kernel_nnz(Call *c) {
  TRY(expect_sparse(c));
  return result_int(c, 0, tensor_nnz(call_tensor(c, 0)));
}
static Status kernel_sparse_dim(Call *c) {
  TRY(expect_sparse(c));
  return result_int(c, 0, tensor_sparse_parts(call_tensor(c, 0))->sparse_dim);
}
static Status kernel_dense_dim(Call *c) {
  TRY(expect_sparse(c));
  return result_int(c, 0, call_tensor(c, 0)->ndim - tensor_sparse_parts(call_tensor(c, 0))->sparse_dim);
}
static Status kernel_is_coalesced(Call *c) {
  TRY(expect_coo(c, call_tensor(c, 0)));
  return result_bool(c, 0, tensor_sparse_parts(call_tensor(c, 0))->coalesced);
}

#define SPARSE_FACT OP_ACCEPT_SPARSE | OP_NOT_DIFFERENTIABLE
#define ASK(text, ...) \
  { .schema = text, .flags = SPARSE_FACT, .kernel = __VA_ARGS__ }
#define BODY(text, statements) \
  { .schema = text, .body = statements }
#define COO(text, size, coalesced)                                                                            \
  BODY(text, "return torch._sparse_coo_tensor_with_dims_and_tensors(indices.size(0), values.dim() - 1, " size \
             ", indices, values, is_coalesced=" coalesced ")")

static const OpRow rows[] = {
    {.schema = "aten::_sparse_coo_tensor_with_dims_and_tensors(int sparse_dim, int dense_dim, int[] size, Tensor "
               "indices, Tensor values, *, " OPTIONS "False, bool? is_coalesced=None) -> Tensor",
     .kernel = kernel_coo,
     .grad = "values: sparse_values_at(grad, indices)",
     .flags = OP_GRAD_EXACT},
    COO("aten::_sparse_coo_tensor_unsafe(Tensor indices, Tensor values, int[] size, *, " OPTIONS
        "None, bool? is_coalesced=None) -> Tensor",
        "size", "is_coalesced"),
    COO("aten::sparse_coo_tensor.indices(Tensor indices, Tensor values, *, " OPTIONS
        "None, bool? is_coalesced=None) -> Tensor",
        "sparse_size_of(indices, values)", "is_coalesced"),
    COO("aten::sparse_coo_tensor.indices_size(Tensor indices, Tensor values, int[] size, *, " OPTIONS
        "None, bool? is_coalesced=None) -> Tensor",
        "size", "is_coalesced"),
    BODY("aten::sparse_coo_tensor.size(int[] size, *, " OPTIONS "False) -> Tensor",
         "return empty_coo(size, len(size), torch.zeros([0], dtype=dtype))"),
    BODY("aten::_sparse_coo_tensor_with_dims(int sparse_dim, int dense_dim, int[] size, *, " OPTIONS "False) -> Tensor",
         "return empty_coo(size, sparse_dim, torch.zeros([0], dtype=dtype))"),
    {.schema = "aten::_sparse_csr_tensor_unsafe(Tensor crow_indices, Tensor col_indices, Tensor values, int[] size, "
               "*, " OPTIONS "None) -> Tensor",
     .kernel = kernel_compressed,
     .param = LAYOUT_SPARSE_CSR},
    {.schema = "aten::_sparse_csc_tensor_unsafe(Tensor ccol_indices, Tensor row_indices, Tensor values, int[] size, "
               "*, " OPTIONS "None) -> Tensor",
     .kernel = kernel_compressed,
     .param = LAYOUT_SPARSE_CSC},
    BODY("aten::sparse_csr_tensor.crow_col_value_size(Tensor crow_indices, Tensor col_indices, Tensor values, int[] "
         "size, *, " OPTIONS "False) -> Tensor",
         "return torch._sparse_csr_tensor_unsafe(crow_indices, col_indices, values, size)"),
    BODY("aten::sparse_csr_tensor.crow_col_value(Tensor crow_indices, Tensor col_indices, Tensor values, *, " OPTIONS
         "False) -> Tensor",
         "return torch._sparse_csr_tensor_unsafe(crow_indices, col_indices, values, [crow_indices.size(0) - 1, "
         "int(col_indices.max()) + 1 if col_indices.numel() > 0 else 0])"),
    BODY("aten::sparse_csc_tensor.ccol_row_value_size(Tensor ccol_indices, Tensor row_indices, Tensor values, int[] "
         "size, *, " OPTIONS "False) -> Tensor",
         "return torch._sparse_csc_tensor_unsafe(ccol_indices, row_indices, values, size)"),
    {.schema = "aten::_indices(Tensor(a) self) -> Tensor(a)", .kernel = kernel_indices_raw, .flags = SPARSE_FACT},
    {.schema = "aten::_values(Tensor(a) self) -> Tensor(a)", .kernel = kernel_values_raw, .flags = SPARSE_FACT},
    {.schema = "aten::indices(Tensor(a) self) -> Tensor(a)", .kernel = kernel_indices, .flags = SPARSE_FACT},
    {.schema = "aten::values(Tensor(a) self) -> Tensor(a)",
     .kernel = kernel_values,
     .grad = "self: sparse_like(self, grad)",
     .flags = OP_ACCEPT_SPARSE | OP_GRAD_EXACT},
    ASK("aten::crow_indices(Tensor(a) self) -> Tensor(a)", kernel_part, .param = LAYOUT_SPARSE_CSR | PART_BEGINS),
    ASK("aten::col_indices(Tensor(a) self) -> Tensor(a)", kernel_part, .param = LAYOUT_SPARSE_CSR),
    ASK("aten::ccol_indices(Tensor(a) self) -> Tensor(a)", kernel_part, .param = LAYOUT_SPARSE_CSC | PART_BEGINS),
    ASK("aten::row_indices(Tensor(a) self) -> Tensor(a)", kernel_part, .param = LAYOUT_SPARSE_CSC),
    ASK("aten::_nnz(Tensor self) -> int", kernel_nnz),
    ASK("aten::sparse_dim(Tensor self) -> int", kernel_sparse_dim),
    ASK("aten::_dimI(Tensor self) -> int", kernel_sparse_dim),
    ASK("aten::dense_dim(Tensor self) -> int", kernel_dense_dim),
    ASK("aten::_dimV(Tensor self) -> int", kernel_dense_dim),
    ASK("aten::is_coalesced(Tensor self) -> bool", kernel_is_coalesced),
};
OP_TABLE(op_table_sparse_parts, rows);
