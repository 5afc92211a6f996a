/* Rows that sum sparse tensors and take softmax along them. */
#include "call/row.h"

#define BODY(text, statements) \
  { .schema = text, .body = statements }

static const OpRow rows[] = {
    BODY("aten::_sparse_sum(Tensor self) -> Tensor", "return torch.coalesce(self).values().sum()"),
    BODY("aten::_sparse_sum.dtype(Tensor self, *, ScalarType dtype) -> Tensor",
         "return torch.coalesce(self).values().sum(dtype=dtype)"),
    BODY("aten::_sparse_sum.dim(Tensor self, int[1] dim) -> Tensor", "return sparse_sum_over(self, dim)"),
    BODY("aten::_sparse_sum.dim_dtype(Tensor self, int[1] dim, *, ScalarType dtype) -> Tensor",
         "return sparse_sum_over(self.to(dtype), dim)"),
    BODY("aten::_sparse_softmax.int(Tensor self, int dim, ScalarType? dtype=None) -> Tensor",
         "return sparse_softmax_over(self, dim, dtype, False)"),
    BODY("aten::_sparse_softmax(Tensor self, int dim, bool half_to_float) -> Tensor",
         "return sparse_softmax_over(self, dim, 6 if half_to_float else self.dtype, False)"),
    BODY("aten::_sparse_log_softmax.int(Tensor self, int dim, ScalarType? dtype=None) -> Tensor",
         "return sparse_softmax_over(self, dim, dtype, True)"),
    BODY("aten::_sparse_log_softmax(Tensor self, int dim, bool half_to_float) -> Tensor",
         "return sparse_softmax_over(self, dim, 6 if half_to_float else self.dtype, True)"),
    BODY("aten::sparse_mask(Tensor self, Tensor mask) -> Tensor", "return sparse_masked(self, mask)"),
    BODY("aten::_sparse_mask_helper(Tensor t, Tensor mask_indices) -> Tensor",
         "return sparse_values_at(t, mask_indices)"),
};
OP_TABLE(op_table_sparse_reduce, rows);
