def forward(x: Tensor):
    y = torch.softmax(x, -1)
    return y, [torch.nn.functional.max_pool2d(x, 2), x.sum()], {"sorted": torch.sort(x, 1)[0]}
