/* Rows of backward operators that programs name when they were exported with the gradients that they compute:
 * TorchScript over other operators, with the helpers that gradients have (prelude/gradients_tensor.py). */
#include "call/row.h"

#define BACKWARD(text, ...) \
  { .schema = "aten::" text, .body = __VA_ARGS__ }
/* Where the mean was taken, each element has its share. */
#define SHARED "shared = grad_output / self.numel() if reduction == 1 else grad_output\n"
#define NLL(name)                                                                                               \
  BACKWARD(name                                                                                                 \
           "(Tensor grad_output, Tensor self, Tensor target, Tensor? weight, int reduction, int ignore_index, " \
           "Tensor total_weight) -> Tensor",                                                                    \
           "return nll_loss_input_backward(grad_output, self, target, weight, reduction, ignore_index, total_weight)")
#define MAX_POOL(d)                                                                                                  \
  BACKWARD("max_pool" #d "d_with_indices_backward(Tensor grad_output, Tensor self, int[" #d "] kernel_size, int[" #d \
           "] stride, int[" #d "] padding, int[" #d "] dilation, bool ceil_mode, Tensor indices) -> Tensor",         \
           "return pool_scatter_backward(grad_output, self, indices, " #d ")")
#define ADAPTIVE_MAX_POOL(d)                                                                               \
  BACKWARD("adaptive_max_pool" #d "d_backward(Tensor grad_output, Tensor self, Tensor indices) -> Tensor", \
           "return pool_scatter_backward(grad_output, self, indices, " #d ")")

static const OpRow rows[] = {
    BACKWARD("native_layer_norm_backward(Tensor grad_out, Tensor input, SymInt[] normalized_shape, Tensor mean, Tensor "
             "rstd, Tensor? weight, Tensor? bias, bool[3] output_mask) -> (Tensor, Tensor, Tensor)",
             "return layer_norm_parts(grad_out, input, len(normalized_shape), mean, rstd, weight, output_mask)"),
    BACKWARD(
        "native_group_norm_backward(Tensor grad_out, Tensor input, Tensor mean, Tensor rstd, Tensor? weight, SymInt "
        "N, SymInt C, SymInt HxW, int group, bool[3] output_mask) -> (Tensor, Tensor, Tensor)",
        "return group_norm_parts(grad_out, input, mean, rstd, weight, [N, C, HxW], group, output_mask)"),
    BACKWARD("_fused_rms_norm_backward(Tensor grad_out, Tensor input, int[] normalized_shape, Tensor rstd, Tensor? "
             "weight, bool[2] output_mask) -> (Tensor, Tensor)",
             "return rms_norm_parts(grad_out, input, len(normalized_shape), rstd, weight, output_mask)"),
    MAX_POOL(2),
    MAX_POOL(3),
    ADAPTIVE_MAX_POOL(2),
    ADAPTIVE_MAX_POOL(3),
    NLL("nll_loss_backward"),
    NLL("nll_loss2d_backward"),
    BACKWARD("mse_loss_backward(Tensor grad_output, Tensor self, Tensor target, int reduction) -> Tensor",
             SHARED "return 2 * (self - target) * shared"),
    BACKWARD("smooth_l1_loss_backward(Tensor grad_output, Tensor self, Tensor target, int reduction, float beta) -> "
             "Tensor",
             SHARED "d = self - target\n"
                    "return torch.where(d.abs() < beta, d / beta, d.sign()) * shared"),
    BACKWARD(
        "huber_loss_backward(Tensor grad_output, Tensor self, Tensor target, int reduction, float delta) -> Tensor",
        SHARED "return (self - target).clamp(-delta, delta) * shared"),
    BACKWARD("soft_margin_loss_backward(Tensor grad_output, Tensor self, Tensor target, int reduction) -> Tensor",
             SHARED "return -target * torch.sigmoid(-target * self) * shared"),
    BACKWARD("binary_cross_entropy_backward(Tensor grad_output, Tensor self, Tensor target, Tensor? weight=None, int "
             "reduction=1) -> Tensor",
             SHARED "g = shared * (self - target) / ((1 - self) * self).clamp(min=1e-12)\n"
                    "return g if weight is None else g * weight"),
    BACKWARD("glu_backward(Tensor grad_output, Tensor self, int dim) -> Tensor",
             "a, b = self.chunk(2, dim)\n"
             "s = torch.sigmoid(b)\n"
             "return torch.cat([grad_output * s, grad_output * a * s * (1 - s)], dim)"),
    BACKWARD(
        "_prelu_kernel_backward(Tensor grad_output, Tensor self, Tensor weight) -> (Tensor, Tensor)",
        "above = self > 0\n"
        "return torch.where(above, grad_output, weight * grad_output), torch.where(above, 0., self * grad_output)"),
    BACKWARD("embedding_backward(Tensor grad, Tensor indices, SymInt num_weights, SymInt padding_idx, bool "
             "scale_grad_by_freq, bool sparse) -> Tensor",
             "if sparse:\n"
             "    raise RuntimeError('embedding_backward: sparse gradients are not supported')\n"
             "return torch.embedding_dense_backward(grad, indices, num_weights, padding_idx, scale_grad_by_freq)"),
    BACKWARD("masked_scatter_backward(Tensor grad_output, Tensor mask, SymInt[] sizes) -> Tensor",
             "return masked_scatter_source_backward(grad_output, mask, sizes)"),
    {.schema = "aten::cumprod_backward(Tensor grad, Tensor input, int dim, Tensor output) -> Tensor",
     .body = "return cumprod_backward(grad, input, dim, output)",
     .flags = OP_RETURNS_ARGUMENT},
    BACKWARD("_weight_norm_interface_backward(Tensor grad_w, Tensor saved_v, Tensor saved_g, Tensor saved_norms, int "
             "dim) -> (Tensor, Tensor)",
             "axes = [d for d in range(saved_v.dim()) if d != dim]\n"
             "inner = (grad_w * saved_v).sum(axes, True)\n"
             "return saved_g / saved_norms * (grad_w - saved_v * (inner / (saved_norms * saved_norms))), inner / "
             "saved_norms"),
    BACKWARD("_scaled_dot_product_flash_attention_for_cpu_backward(Tensor grad_out, Tensor query, Tensor key, Tensor "
             "value, Tensor out, Tensor logsumexp, float dropout_p, bool is_causal, *, Tensor? attn_mask=None, float? "
             "scale=None) -> (Tensor grad_query, Tensor grad_key, Tensor grad_value)",
             "return flash_attention_backward(grad_out, query, key, value, out, logsumexp, is_causal, attn_mask, "
             "scale)"),
};
OP_TABLE(op_table_backward, rows);
