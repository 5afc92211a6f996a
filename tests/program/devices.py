def forward(x: Tensor):
    return x.device, [x.device, torch.device("cuda:1")], {"a": torch.device("meta")}, x.dtype, x.layout
