def forward(x):
    return torch.abs(torch.tanh(torch.neg(x)))
