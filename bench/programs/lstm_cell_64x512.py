# inputs: randn(64,512) randn(64,512) randn(64,512) randn(2048,512) randn(2048,512) randn(2048)
def forward(x: Tensor, h: Tensor, c: Tensor, w_x: Tensor, w_h: Tensor, bias: Tensor) -> Tuple[Tensor, Tensor]:
    i, f, g, o = (torch.mm(x, w_x.t()) + torch.mm(h, w_h.t()) + bias).chunk(4, dim=1)
    c = torch.sigmoid(f) * c + torch.sigmoid(i) * torch.tanh(g)
    return torch.sigmoid(o) * torch.tanh(c), c
