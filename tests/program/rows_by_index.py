def by_index(x, dim: int, index):
    return torch.index_select(x, dim, index)


def words(table, tokens):
    return torch.embedding(table, tokens)
