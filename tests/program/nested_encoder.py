def the_method(x: Tensor, keep: Tensor, w: Tensor, b: Tensor, p: Tensor, c: Tensor, n: Tensor, f: Tensor, g: Tensor, h: Tensor):
    nested = torch._nested_tensor_from_mask(x, keep)
    out = torch._transformer_encoder_layer_fwd(nested, 8, 2, w, b, p, c, False, False, 1e-5, n, c, n, c, f, g, h, c)
    heads, weights = torch._native_multi_head_attention(x, x, x, 8, 2, w, b, p, c, keep.logical_not(), True, True, 1)
    return nested.is_nested, out.to_padded_tensor(0.5), heads, weights
