/* What PyTorch 2.x takes operators apart into, and its checks: rows that are short compositions of others. */
#include "call/row.h"

#define COMPOSITE(text, body_) \
  { .schema = text, .body = body_ }

static const OpRow rows[] = {
    COMPOSITE("aten::nonzero_static(Tensor self, *, int size, int fill_value=-1) -> Tensor",
              "if size < 0:\n"
              "    raise RuntimeError('nonzero_static: size must be non-negative')\n"
              "found = torch.nonzero(self)\n"
              "kept = found.narrow(0, 0, min(size, found.size(0)))\n"
              "return torch.constant_pad_nd(kept, [0, 0, 0, size - kept.size(0)], fill_value)"),
    COMPOSITE("aten::_int_mm(Tensor self, Tensor mat2) -> Tensor",
              "if self.dtype != torch.int8 or mat2.dtype != torch.int8:\n"
              "    raise RuntimeError('_int_mm: Expected self and mat2 to be of dtype int8')\n"
              "return torch.mm(self.to(torch.int32), mat2.to(torch.int32))"),
    COMPOSITE("aten::_reshape_copy(Tensor self, int[] size) -> Tensor", "return self.reshape(size).clone()"),
    COMPOSITE("aten::_is_all_true(Tensor self) -> Tensor", "return self.all()"),
    COMPOSITE("aten::_is_any_true(Tensor self) -> Tensor", "return self.any()"),
    COMPOSITE("aten::_linalg_eigvals(Tensor self) -> Tensor", "return torch.linalg_eigvals(self)"),
    COMPOSITE("aten::_unsafe_index.Tensor(Tensor self, Tensor?[] indices) -> Tensor",
              "return torch.index(self, indices)"),
    COMPOSITE("aten::_unsafe_index_put(Tensor self, Tensor?[] indices, Tensor values, bool accumulate=False) -> Tensor",
              "return torch.index_put(self, indices, values, accumulate)"),
    COMPOSITE("aten::_native_batch_norm_legit_no_training(Tensor input, Tensor? weight, Tensor? bias, Tensor "
              "running_mean, Tensor running_var, float momentum, float eps) -> (Tensor, Tensor, Tensor)",
              "return torch.native_batch_norm(input, weight, bias, running_mean, running_var, False, momentum, eps)"),
    COMPOSITE(
        "aten::_native_batch_norm_legit(Tensor input, Tensor? weight, Tensor? bias, Tensor(a!) running_mean, "
        "Tensor(b!) running_var, bool training, float momentum, float eps) -> (Tensor, Tensor, Tensor)",
        "return torch.native_batch_norm(input, weight, bias, running_mean, running_var, training, momentum, eps)"),
    COMPOSITE(
        "aten::_native_batch_norm_legit.no_stats(Tensor input, Tensor? weight, Tensor? bias, bool training, float "
        "momentum, float eps) -> (Tensor, Tensor, Tensor)",
        "return torch.native_batch_norm(input, weight, bias, None, None, training, momentum, eps)"),
    {.schema = "aten::_assert_async.msg(Tensor self, str assert_msg) -> ()",
     .body = "if not bool(self):\n"
             "    raise RuntimeError(assert_msg)",
     .flags = OP_SIDE_EFFECTS},
    {.schema = "aten::_assert_scalar(Scalar self, str assert_msg) -> ()",
     .body = "if not bool(self):\n"
             "    raise RuntimeError(assert_msg)",
     .flags = OP_SIDE_EFFECTS},
    {.schema = "aten::_print(str s) -> ()", .body = "print(s)", .flags = OP_SIDE_EFFECTS},
    {.schema = "aten::sym_constrain_range(Scalar size, *, int? min=None, int? max=None) -> ()",
     .body = "n = int(size)\n"
             "if (min is not None and n < min) or (max is not None and n > max):\n"
             "    raise RuntimeError('Invalid value range for {} between [{}, {}].'.format(n, min, max))",
     .flags = OP_SIDE_EFFECTS},
    {.schema = "aten::sym_constrain_range_for_size(Scalar size, *, int? min=None, int? max=None) -> ()",
     .body = "n = int(size)\n"
             "if n < 0 or (min is not None and n < min) or (max is not None and n > max):\n"
             "    raise RuntimeError('Invalid value range for {} between [{}, {}].'.format(n, min, max))",
     .flags = OP_SIDE_EFFECTS},
};
OP_TABLE(op_table_decomposed, rows);
