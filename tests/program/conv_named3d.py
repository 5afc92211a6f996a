def f(x: Tensor, w: Tensor, b: Tensor):
    x3 = x.unsqueeze(2).repeat(1, 1, 3, 1, 1)
    w3 = w.unsqueeze(2).repeat(1, 1, 2, 1, 1)
    return (torch._C._nn.slow_conv3d(x3, w3, [2, 3, 3], b, [1, 2, 1], [0, 1, 1]),
            torch._C._nn.slow_conv_dilated3d(x3, w3, [2, 3, 3], b, [1, 1, 1], [0, 1, 1], [1, 2, 1]),
            torch._C._nn.slow_conv_transpose3d(x3, w3.transpose(0, 1), [2, 3, 3], b, [1, 2, 1], [0, 1, 1], [0, 1, 0], [1, 1, 1]))
