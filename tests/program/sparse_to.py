def f(i: Tensor, v: Tensor, x: Tensor):
    a = torch.sparse_coo_tensor(i, v, [3, 4])
    b = a.to(torch.float64)
    return b, b.is_coalesced(), a.double(), a.int(), a.coalesce().half().is_coalesced(), a.to('cpu'), a.cpu()
