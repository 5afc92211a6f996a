# Numbers halfway between two integers, which one rounding and two take apart.
def forward(x: Tensor, w: Tensor):
    p = torch.ops.quantized.linear_prepack(torch.quantize_per_tensor(w, 1 / 127, 0, torch.qint8), None)
    return torch.ops.quantized.linear_dynamic(x, p, False)
