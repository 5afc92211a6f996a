def forward(kinds: Dict[str, Tensor], part: str):
    plain: Dict[str, Tensor] = {}
    for name, tensor in kinds.items():
        if tensor.is_quantized:
            plain[name] = tensor.dequantize()
        elif tensor.is_sparse or tensor.layout != torch.strided:
            plain[name] = tensor.to_dense()
        elif tensor.is_meta:
            plain[name] = torch.tensor(tensor.size() + tensor.stride())
        else:
            plain[name] = tensor.detach().clone()
    # what shared a storage shares it again
    kinds[part].fill_(-1)
    return plain, kinds["whole"]
