# inputs: randn(4000000) randn(4000000) randn(4000000)
def forward(a: Tensor, b: Tensor, c: Tensor) -> Tensor:
    gate = torch.sigmoid(a * b - c)
    return gate * torch.tanh(b) + (1.0 - gate) * torch.relu(c) * 0.25
