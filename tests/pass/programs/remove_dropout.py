def idle(x: Tensor):
    return torch.dropout(x, 0.5, False) + 1
def given(x: Tensor):
    y = torch.dropout(x, 0.5, False)
    return y, x
def of_features(x: Tensor, y: Tensor):
    a = torch.feature_dropout(x, 0.5, False) * y
    return a, torch.alpha_dropout(a, 0.1, False)
def written(x: Tensor):
    y = torch.dropout(x, 0.5, False)
    y.add_(1)
    return x
