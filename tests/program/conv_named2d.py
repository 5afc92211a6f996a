def f(x: Tensor, w: Tensor, b: Tensor):
    return (torch._C._nn.thnn_conv2d(x, w, [3, 3], b, [1, 2], [1, 0]), torch._C._nn.thnn_conv2d(x, w, [3, 3]),
            torch._C._nn.slow_conv_dilated2d(x, w, [3, 3], b, [1, 1], [2, 1], [2, 1]),
            torch._C._nn.slow_conv_transpose2d(x, w.transpose(0, 1), [3, 3], b, [2, 2], [1, 1], [1, 1], [1, 1]))
