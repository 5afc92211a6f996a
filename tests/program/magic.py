def forward(x):
    return torch.ops.my_namespace.magic(x, 3)
