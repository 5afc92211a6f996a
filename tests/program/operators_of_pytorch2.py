# Operators that PyTorch 2 brought, against the same by older ones.
def same(a: Tensor, b: Tensor, what: str):
    if a.dtype != b.dtype or a.size() != b.size() or not torch.allclose(a, b, 1e-5, 1e-6):
        raise RuntimeError(what)


def attention(q: Tensor, k: Tensor, v: Tensor, scores_added: Tensor, scale: float) -> Tensor:
    return torch.matmul(torch.softmax(torch.matmul(q, k.transpose(-2, -1)) * scale + scores_added, -1), v)


def check_attention():
    q, k, v = torch.randn([2, 4, 3, 8]), torch.randn([2, 4, 5, 8]), torch.randn([2, 4, 5, 6])
    none = torch.zeros([3, 5])
    usual = 1. / math.sqrt(8.)
    same(torch.scaled_dot_product_attention(q, k, v), attention(q, k, v, none, usual), 'plain')
    same(torch.scaled_dot_product_attention(q[0, 0], k[0, 0], v[0, 0]), attention(q[0, 0], k[0, 0], v[0, 0], none, usual), 'two dims')
    same(torch.scaled_dot_product_attention(q, k, v, None, 0., False, scale=-0.3), attention(q, k, v, none, -0.3), 'scale')
    later = torch.ones([3, 5], dtype=torch.bool).triu(1)
    hidden = none.masked_fill(later, float('-inf'))
    same(torch.scaled_dot_product_attention(q, k, v, None, 0., True), attention(q, k, v, hidden, usual), 'causal')
    same(torch.scaled_dot_product_attention(q, k, v, later.logical_not()), attention(q, k, v, hidden, usual), 'bool mask')
    added = torch.randn([2, 1, 3, 5])
    same(torch.scaled_dot_product_attention(q, k, v, added), attention(q, k, v, added, usual), 'float mask')
    nothing = torch.zeros([3, 5], dtype=torch.bool)
    same(torch.scaled_dot_product_attention(q, k, v, nothing), torch.zeros([2, 4, 3, 6]), 'nothing attended to')
    few = torch.randn([2, 2, 5, 8])
    many = few.repeat_interleave(2, -3)
    same(torch.scaled_dot_product_attention(q, few, few, enable_gqa=True), attention(q, many, many, none, usual), 'groups')


def check_norm():
    x = torch.randn([2, 3, 4])
    w = torch.randn([3, 4])
    wanted = x * torch.rsqrt((x * x).mean([1, 2], True) + 1e-6) * w
    same(torch.rms_norm(x, [3, 4], w, 1e-6), wanted, 'rms_norm')
    same(torch.rms_norm(x, [4]), x * torch.rsqrt((x * x).mean([2], True) + 1.1920928955078125e-07), 'rms_norm without weight')


def check_shapes():
    assert torch.squeeze(torch.zeros([1, 2, 1, 3, 1]), [0, 2, -1]).size() == [2, 3]
    assert torch.squeeze(torch.zeros([2, 1]), [0]).size() == [2, 1]
    x = torch.tensor([[1, 0], [0, 0]])
    assert torch.any(x, [0, 1], True).size() == [1, 1]
    assert bool(torch.any(x, [0, 1])) and not bool(torch.all(x, None))
    same(torch.any(x, [-1]), torch.tensor([True, False]), 'any')
    assert torch.all(x.to(torch.uint8), [0]).dtype == torch.uint8
    assert x.nbytes == 32 and x.itemsize == 8
    assert str(torch.device('cuda', 1)) == 'cuda:1'


def check_statistics():
    x = torch.randn([3, 5])
    squares = ((x - x.mean(1, True)) ** 2).sum(1, True)
    same(torch.var(x, [1], correction=1.5, keepdim=True), squares / 3.5, 'var')
    same(torch.std(x, correction=0), x.std(False), 'std of all')


def check_lists():
    pair = [torch.ones([2]), torch.ones([3])]
    same(torch.pad_sequence(pair, True, 0., 'left'), torch.tensor([[0., 1., 1.], [1., 1., 1.]]), 'left')
    x = torch.tensor([[0, 3], [4, 0]])
    same(torch.nonzero_static(x, size=3, fill_value=-1), torch.tensor([[0, 1], [1, 0], [-1, -1]]), 'nonzero_static')
    wide = torch.full([2, 300], 100, dtype=torch.int8)
    same(torch._int_mm(wide, wide.t()), torch.full([2, 2], 3000000, dtype=torch.int32), '_int_mm')
    a = [torch.ones([2]), torch.zeros([1])]
    torch._foreach_add_(a, 1.0)
    torch._foreach_mul_(a, a)
    same(a[0], torch.full([2], 4.), 'foreach')
    same(torch._foreach_sqrt(a)[1], torch.ones([1]), 'foreach_sqrt')


def forward() -> bool:
    check_attention()
    check_norm()
    check_shapes()
    check_statistics()
    check_lists()
    return True
