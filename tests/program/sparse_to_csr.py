def f(i: Tensor, v: Tensor, x: Tensor):
    a = torch.sparse_coo_tensor(i, v, [3, 4]).to_sparse_csr()
    return a.crow_indices(), a.col_indices(), a.values(), a.to_sparse(), a.to_sparse().is_coalesced(), torch.relu(x).to_sparse_csr().to_dense()
