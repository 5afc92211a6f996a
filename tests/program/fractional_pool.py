def the_method(x: Tensor, r: Tensor):
    return torch._C._nn.fractional_max_pool2d(x, [2, 3], [3, 4], r)
