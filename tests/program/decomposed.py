# What PyTorch 2.x decomposes exported programs into, quantized ones among them.
def per_tensor(x: Tensor, dtype: int, least: int, most: int):
    scale, zero_point = torch.tensor([0.0173]), torch.tensor([3])
    low, high = torch.tensor(least), torch.tensor(most)
    q = torch.ops.quantized_decomposed.quantize_per_tensor(x, 0.031, -2, least, most, dtype)
    t = torch.ops.quantized_decomposed.quantize_per_tensor(x, scale, zero_point, least, most, dtype)
    u = torch.ops.quantized_decomposed.quantize_per_tensor(x, scale, zero_point, low, high, dtype)
    a = torch.ops.quantized_decomposed.dequantize_per_tensor(q, 0.031, -2, least, most, dtype)
    b = torch.ops.quantized_decomposed.dequantize_per_tensor(t, scale, zero_point, least, most, dtype, out_dtype=torch.float64)
    c = torch.ops.quantized_decomposed.dequantize_per_tensor(u, scale, zero_point, low, high, dtype, out_dtype=torch.float16)
    return q, t, u, a, b, c


def per_channel(x: Tensor, scales: Tensor, zero_points: Tensor, axis: int):
    q = torch.ops.quantized_decomposed.quantize_per_channel(x, scales, zero_points, axis, -127, 127, torch.int8)
    a = torch.ops.quantized_decomposed.dequantize_per_channel(q, scales, zero_points, axis, -127, 127, torch.int8)
    b = torch.ops.quantized_decomposed.dequantize_per_channel(q, scales, None, axis, -127, 127, torch.int8, out_dtype=torch.float64)
    return q, a, b


def fake(x: Tensor, scales: Tensor, zero_points: Tensor, axis: int):
    return torch.ops.quantized_decomposed.fake_quant_per_channel(x, scales, zero_points, axis, -127, 127)


def chosen(x: Tensor, dtype: int):
    return (torch.ops.quantized_decomposed.choose_qparams(x, -128, 127, 1e-5, dtype),
            torch.ops.quantized_decomposed.choose_qparams_symmetric(x, -127, 127, 0.25, dtype))


def per_token(x: Tensor):
    scales, zero_points = torch.ops.quantized_decomposed.choose_qparams_per_token(x, torch.int8)
    uneven, shift = torch.ops.quantized_decomposed.choose_qparams_per_token_asymmetric(x, torch.int8)
    q = torch.ops.quantized_decomposed.quantize_per_token(x, uneven, shift, -128, 127, torch.int8)
    a = torch.ops.quantized_decomposed.dequantize_per_token(q, uneven, shift, -128, 127, torch.int8, torch.float32)
    return scales, zero_points, uneven, shift, q, a


def per_group(x: Tensor, scales: Tensor, zero_points: Tensor, size: int):
    q = torch.ops.quantized_decomposed.quantize_per_channel_group(x, scales, zero_points, -8, 7, torch.int8, size)
    a = torch.ops.quantized_decomposed.dequantize_per_channel_group(q, scales, zero_points, -8, 7, torch.int8, size, torch.float32)
    b = torch.ops.quantized_decomposed.dequantize_per_channel_group(q, scales, None, -8, 7, torch.int8, size, torch.float32)
    return q, a, b


def batch_norms(x: Tensor, weight: Optional[Tensor], bias: Optional[Tensor], mean: Tensor, var: Tensor):
    a = torch.ops.aten._native_batch_norm_legit_functional(x, weight, bias, mean, var, True, 0.1, 1e-5)
    b = torch.ops.aten._native_batch_norm_legit_functional(x, weight, bias, mean, var, False, 0.1, 1e-5)
    c = torch.ops.aten._batch_norm_with_update_functional(x, weight, bias, mean, var, 0.2, 1e-3)
    d = torch.ops.aten._batch_norm_no_update(x, weight, bias, mean, var, 0.2, 1e-3)
    e = torch.ops.aten._batch_norm_with_update(x, weight, bias, mean, var, 0.2, 1e-3)
    return a, b, c[0], c[4], c[5], d[0], e[0]


def bag(weight: Tensor, indices: Tensor, offsets: Tensor, mode: int):
    y, _, sizes, _ = torch.ops.aten._embedding_bag_forward_only(weight, indices, offsets, False, mode)
    return y


def masked_index(x: Tensor, i: Tensor, j: Tensor, mask: Tensor):
    both: List[Optional[Tensor]] = [i, j]
    fit = torch.ops.aten._unsafe_masked_index(x, mask, both, 0.5)
    rows = torch.ops.aten._unsafe_masked_index(x, mask, [None, j], -1)
    return fit, rows, torch.ops.aten._unsafe_masked_index_put_accumulate(x, mask, both, fit)


def others(x: Tensor, y: Tensor, w: Tensor, g: Tensor):
    a = torch.ops.aten._trilinear(x, w, y, [1, 3], [0], [1, 2], [2, 3])
    b = torch.ops.aten._addmm_activation(g[:, 0], x, x.t(), beta=0.5, alpha=2)
    c = torch.ops.aten._addmm_activation(g[:, 0], x, x.t(), use_gelu=True)
    d = torch.ops.aten.log_sigmoid_forward(x)[0]
    return a, b, c, d, torch.ops.aten._weight_norm_interface(w, g[:, :1, None].contiguous(), 0)


def int8_product(x: Tensor, weight: Tensor, scales: Tensor):
    return torch.ops.aten._weight_int8pack_mm(x, weight, scales)


def holds(x: Tensor):
    torch.ops.aten._assert_async(x)
    return x


def spaces(a: Tensor, b: Tensor, steps: int):
    return (torch.linspace(a, b, steps), torch.linspace(a, 7, steps, dtype=torch.float64), torch.linspace(1.5, b, steps),
            torch.logspace(a, b, steps), torch.logspace(a, 2, steps, 2.5), torch.logspace(0.5, b, steps))
