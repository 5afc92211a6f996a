def the_method(x: Tensor):
    pooled, at = torch.nn.functional.max_pool2d(x, 2, return_indices=True)
    values = torch.unique(x)
    same, inverse = torch.unique(x, return_inverse=True)
    all_of, again, counts = torch.unique(x, True, True, True)
    runs, lengths = torch.unique_consecutive(x, return_counts=True)
    return pooled, at, torch.nn.functional.max_pool2d(x, 2), values, same, inverse, all_of, again, counts, runs, lengths
