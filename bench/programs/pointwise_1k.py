# inputs: randn(1000) randn(1000) randn(1000)
def forward(a: Tensor, b: Tensor, c: Tensor) -> Tensor:
    gate = torch.sigmoid(a * b - c)
    return gate * torch.tanh(b) + (1.0 - gate) * torch.relu(c) * 0.25
