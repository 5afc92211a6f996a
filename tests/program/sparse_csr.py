def f(i: Tensor, v: Tensor, x: Tensor):
    a = torch.sparse_csr_tensor(torch.tensor([0, 2, 3, 4]), torch.tensor([0, 3, 1, 2]), v[:4], [3, 4])
    return a.crow_indices(), a.col_indices(), a.values(), a._nnz(), a.to_dense(), a.is_sparse_csr, a.is_sparse, a.layout
