# with: constant_propagation_mutable shape_analysis decompose_norms
# tolerance: 1e-3
def layers(x: Tensor):
    w = torch.tensor([0.5, 2.0, 1.0])
    return torch.layer_norm(x, [3], w, w)
def batches(x: Tensor):
    w = torch.tensor([0.5, 2.0, 1.0])
    return torch.batch_norm(x, w, w, w, w, False, 0.1, 1e-5, False)
