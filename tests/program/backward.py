# Backward operators that programs name which were exported with the gradients they compute.
def layer_norm(grad: Tensor, x: Tensor, sizes: List[int], weight: Optional[Tensor], bias: Optional[Tensor]):
    y, mean, scale = torch.ops.aten.native_layer_norm(x, sizes, weight, bias, 1e-5)
    a, b, c = torch.ops.aten.native_layer_norm_backward(grad, x, sizes, mean, scale, weight, bias, [True, weight is not None, bias is not None])
    return [a] if weight is None else [a, b, c]


def group_norm(grad: Tensor, x: Tensor, weight: Optional[Tensor], groups: int):
    n, c = x.size(0), x.size(1)
    y, mean, scale = torch.ops.aten.native_group_norm(x, weight, weight, n, c, x.numel() // (n * c), groups, 1e-5)
    has = weight is not None
    a, b, d = torch.ops.aten.native_group_norm_backward(grad, x, mean, scale, weight, n, c, x.numel() // (n * c), groups, [True, has, has])
    return [a, b, d] if has else [a]


def max_pool(grad: Tensor, x: Tensor):
    y, indices = torch.ops.aten.max_pool2d_with_indices(x, [3, 3], [2, 2], [1, 1])
    return torch.ops.aten.max_pool2d_with_indices_backward(grad, x, [3, 3], [2, 2], [1, 1], [1, 1], False, indices)


def adaptive_max_pool(grad: Tensor, x: Tensor):
    y, indices = torch.ops.aten.adaptive_max_pool2d(x, [2, 3])
    return torch.ops.aten.adaptive_max_pool2d_backward(grad, x, indices)


def nll(grad: Tensor, x: Tensor, target: Tensor, weight: Optional[Tensor], reduction: int):
    y, total = torch.ops.aten.nll_loss_forward(x, target, weight, reduction, 2)
    return torch.ops.aten.nll_loss_backward(grad, x, target, weight, reduction, 2, total)


def losses(grad: Tensor, x: Tensor, y: Tensor, reduction: int):
    p, q = x.sigmoid(), y.sigmoid()
    return (torch.ops.aten.mse_loss_backward(grad, x, y, reduction), torch.ops.aten.smooth_l1_loss_backward(grad, x, y, reduction, 0.5),
            torch.ops.aten.huber_loss_backward(grad, x, y, reduction, 0.25), torch.ops.aten.soft_margin_loss_backward(grad, x, y.sign(), reduction),
            torch.ops.aten.binary_cross_entropy_backward(grad, p, q, None, reduction), torch.ops.aten.binary_cross_entropy_backward(grad, p, q, q, reduction))


def gates(grad: Tensor, x: Tensor, w: Tensor, dim: int):
    return torch.ops.aten.glu_backward(grad, x, dim), torch.ops.aten._prelu_kernel_backward(x, x * 2 - 0.1, w)


def others(grad: Tensor, x: Tensor, indices: Tensor, mask: Tensor):
    output = torch.cumprod(x, 1)
    return (torch.ops.aten.embedding_backward(grad, indices, 5, 1, True, False), torch.ops.aten.masked_scatter_backward(x, mask, [7]),
            torch.ops.aten.cumprod_backward(x, x, 1, output))


def weight_norm(grad: Tensor, v: Tensor, g: Tensor, dim: int):
    w, norms = torch.ops.aten._weight_norm_interface(v, g, dim)
    return torch.ops.aten._weight_norm_interface_backward(grad, v, g, norms, dim)


def attention(grad: Tensor, q: Tensor, k: Tensor, v: Tensor, causal: bool, mask: Optional[Tensor], scale: Optional[float]):
    y, sums = torch.ops.aten._scaled_dot_product_flash_attention_for_cpu(q, k, v, 0.0, causal, attn_mask=mask, scale=scale)
    return torch.ops.aten._scaled_dot_product_flash_attention_for_cpu_backward(grad, q, k, v, y, sums, 0.0, causal, attn_mask=mask, scale=scale)
