/* What PyTorch 2.x takes operators apart into, and its checks: rows that are short compositions of others. */
#include "call/row.h"

#define COMPOSITE(text, body_) \
  { .schema = text, .body = body_ }

/* linspace and logspace between tensors, of which each is one number. */
#define SPACE_OPTIONS \
  "ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor"
#define ONE_NUMBER(name, end)                                                                        \
  "if " end                                                                                          \
  ".dim() != 0:\n"                                                                                   \
  "    raise RuntimeError('" name " only supports 0-dimensional start and end tensors, but got " end \
  " with {} dimension(s).'.format(" end ".dim()))\n"
#define NUMBERS(name)                                                          \
  "if start.dim() != 0 or end.dim() != 0:\n"                                   \
  "    raise RuntimeError('" name                                              \
  " only supports 0-dimensional start and end tensors, but got start with {} " \
  "dimension(s) and end with {} dimension(s).'.format(start.dim(), end.dim()))\n"
#define BETWEEN(name, given, start, end)                  \
  "return torch." name "(" start ", " end ", steps" given \
  ", dtype=dtype, layout=layout, device=device, "         \
  "pin_memory=pin_memory)"
#define SPACES(name, base, given)                                                                              \
  COMPOSITE("aten::" name ".Tensor_Tensor(Tensor start, Tensor end, int steps" base ", *, " SPACE_OPTIONS,     \
            NUMBERS(name) BETWEEN(name, given, "start.item()", "end.item()")),                                 \
      COMPOSITE("aten::" name ".Tensor_Scalar(Tensor start, Scalar end, int steps" base ", *, " SPACE_OPTIONS, \
                ONE_NUMBER(name, "start") BETWEEN(name, given, "start.item()", "end")),                        \
      COMPOSITE("aten::" name ".Scalar_Tensor(Scalar start, Tensor end, int steps" base ", *, " SPACE_OPTIONS, \
                ONE_NUMBER(name, "end") BETWEEN(name, given, "start", "end.item()"))

static const OpRow rows[] = {
    SPACES("linspace", "", ""),
    SPACES("logspace", ", float base=10.", ", base"),
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
    COMPOSITE(
        "aten::_native_batch_norm_legit_functional(Tensor input, Tensor? weight, Tensor? bias, Tensor running_mean, "
        "Tensor running_var, bool training, float momentum, float eps) -> (Tensor, Tensor, Tensor, Tensor "
        "running_mean_out, Tensor running_var_out)",
        "mean = running_mean.clone()\n"
        "var = running_var.clone()\n"
        "y, m, v = torch.native_batch_norm(input, weight, bias, mean, var, training, momentum, eps)\n"
        "return y, m, v, mean, var"),
    COMPOSITE(
        "aten::_batch_norm_no_update(Tensor input, Tensor? weight, Tensor? bias, Tensor? running_mean, Tensor? "
        "running_var, float momentum, float eps) -> (Tensor, Tensor, Tensor, Tensor)",
        "y, m, v = torch.native_batch_norm(input, weight, bias, running_mean, running_var, False, momentum, eps)\n"
        "return y, m, v, torch.zeros([0], dtype=torch.uint8, device=input.device)"),
    COMPOSITE("aten::_batch_norm_with_update(Tensor input, Tensor? weight, Tensor? bias, Tensor(a!) running_mean, "
              "Tensor(b!) running_var, float momentum, float eps) -> (Tensor, Tensor, Tensor, Tensor)",
              "y, m, v = torch.native_batch_norm(input, weight, bias, running_mean, running_var, True, momentum, eps)\n"
              "return y, m, v, torch.zeros([0], dtype=torch.uint8, device=input.device)"),
    COMPOSITE(
        "aten::_batch_norm_with_update_functional(Tensor input, Tensor? weight, Tensor? bias, Tensor running_mean, "
        "Tensor running_var, float momentum, float eps) -> (Tensor, Tensor, Tensor, Tensor, Tensor "
        "running_mean_out, Tensor running_var_out)",
        "mean = running_mean.clone()\n"
        "var = running_var.clone()\n"
        "y, m, v = torch.native_batch_norm(input, weight, bias, mean, var, True, momentum, eps)\n"
        "return y, m, v, torch.zeros([0], dtype=torch.uint8, device=input.device), mean, var"),
    COMPOSITE("aten::_embedding_bag_forward_only(Tensor weight, Tensor indices, Tensor offsets, bool "
              "scale_grad_by_freq=False, int mode=0, bool sparse=False, Tensor? per_sample_weights=None, bool "
              "include_last_offset=False, int padding_idx=-1) -> (Tensor, Tensor, Tensor, Tensor)",
              "return torch._embedding_bag(weight, indices, offsets, scale_grad_by_freq, mode, sparse, "
              "per_sample_weights, include_last_offset, padding_idx)"),
    COMPOSITE("aten::_unsafe_masked_index(Tensor self, Tensor mask, Tensor?[] indices, Scalar fill) -> Tensor",
              "return torch.index(self, indices_within(self, indices)).masked_fill(mask.logical_not(), fill)"),
    COMPOSITE(
        "aten::_unsafe_masked_index_put_accumulate(Tensor self, Tensor mask, Tensor?[] indices, Tensor values) -> "
        "Tensor",
        "kept = values.masked_fill(mask.logical_not(), 0)\n"
        "return torch.index_put(self, indices_within(self, indices), kept, True)"),
    COMPOSITE("aten::_trilinear(Tensor i1, Tensor i2, Tensor i3, int[] expand1, int[] expand2, int[] expand3, int[] "
              "sumdim, int unroll_dim=1) -> Tensor",
              "return (with_axes(i1, expand1) * with_axes(i2, expand2) * with_axes(i3, expand3)).sum(sumdim)"),
    COMPOSITE("aten::_addmm_activation(Tensor self, Tensor mat1, Tensor mat2, *, Scalar beta=1, Scalar alpha=1, bool "
              "use_gelu=False) -> Tensor",
              "y = torch.addmm(self, mat1, mat2, beta=beta, alpha=alpha)\n"
              "return torch.gelu(y) if use_gelu else torch.relu(y)"),
    COMPOSITE("aten::log_sigmoid_forward(Tensor self) -> (Tensor output, Tensor buffer)",
              "return torch.log_sigmoid(self), torch.exp(-torch.abs(self))"),
    COMPOSITE("aten::_weight_norm_interface(Tensor v, Tensor g, int dim=0) -> (Tensor, Tensor)",
              "norm = torch.norm_except_dim(v, 2, dim)\n"
              "return v * (g / norm), norm"),
    COMPOSITE("aten::_scaled_mm(Tensor self, Tensor mat2, Tensor scale_a, Tensor scale_b, Tensor? bias=None, Tensor? "
              "scale_result=None, ScalarType? out_dtype=None, bool use_fast_accum=False) -> Tensor",
              "if scale_result is not None:\n"
              "    raise RuntimeError('_scaled_mm: a scale of the result is not supported')\n"
              "return scaled_product(self, mat2, scale_a, scale_b, bias, out_dtype)"),
    COMPOSITE("aten::_weight_int8pack_mm(Tensor self, Tensor mat2, Tensor scales) -> Tensor",
              "return int8_product(self, mat2, scales)"),
    {.schema = "aten::_assert_async.msg(Tensor self, str assert_msg) -> ()",
     .body = "if not bool(self):\n"
             "    raise RuntimeError(assert_msg)",
     .flags = OP_SIDE_EFFECTS},
    {.schema = "aten::_assert_async(Tensor self) -> ()",
     .body = "if not bool(self):\n"
             "    raise RuntimeError('Expected Tensor with single nonzero value, but got zero')",
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
