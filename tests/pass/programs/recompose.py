# loses errors
# tolerance: 1e-4
# another error: the layer says otherwise what does not fit
def convolutions(x: Tensor):
    w = torch.arange(12.0).reshape(2, 1, 3, 2)
    y = x.reshape(1, 1, -1, x.size(-1))
    y = torch.convolution(torch.cat([y, y, y, y], 2), w, None, [1, 1], [1, 1], [1, 1], False, [0, 0], 1)
    return torch.convolution(y, w, None, [2, 1], [0, 0], [1, 1], True, [1, 0], 1)
def norms(x: Tensor):
    w = torch.tensor([0.5, 2.0, 1.0])
    y, mean, deviation = torch.native_layer_norm(x, [3], w, w, 1e-5)
    z, a, b = torch._native_batch_norm_legit_no_training(x, w, w, w, w, 0.1, 1e-5)
    return y, z
def pools(x: Tensor):
    y, indices = torch.max_pool2d_with_indices(x.reshape(1, 1, -1, x.size(-1)), [1, 2], [1, 1], [0, 0], [1, 1], False)
    return y
def softmax(x: Tensor):
    return torch._softmax(x, -1, False), torch._log_softmax(x, 0, False)
def linear(x: Tensor):
    w = torch.tensor([[1.0, 2.0, 3.0], [0.5, 0.25, 1.0]])
    b = torch.tensor([1.0, -1.0])
    y = torch.addmm(b, x, torch.permute(w, [1, 0])) + torch.addmm(b, x, w.t())
    return y + torch.mm(x, torch.permute(w, [1, 0]))
def matrix_as_bias(x: Tensor):
    w = torch.tensor([[1.0, 2.0, 3.0], [0.5, 0.25, 1.0], [2.0, 1.0, 0.0]])
    return torch.addmm(x, x, torch.permute(w, [1, 0])), torch.mm(x, torch.permute(w, [0, 1]))
