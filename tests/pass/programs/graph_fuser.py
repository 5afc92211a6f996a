# tolerance: 1e-6
def three(x: Tensor, y: Tensor):
    return torch.tanh(x * y) + x
def several(x: Tensor, y: Tensor, z: Tensor):
    a = torch.sigmoid(x + y)
    b = a * z
    return b, torch.relu(b - x)
def comparison(x: Tensor, y: Tensor):
    m = (x > y) & (x > 0)
    return torch.where(m, x * 2, y), m
def numbers(x: Tensor, f: float, n: int):
    return (x * f + n) / 3 - x
def chunks(x: Tensor, y: Tensor):
    a, b, c = (x * y).chunk(3, 1)
    return a * b + c
def concatenation(x: Tensor, y: Tensor):
    return torch.cat([x.exp() + y, x * y], 0)
def written(x: Tensor, y: Tensor):
    a = x * 2
    b = a + y
    a.add_(1)
    c = b * a
    return c.tanh(), a
def given_as_it_is(x: Tensor, y: Tensor):
    a = x.float() * y
    return a.relu(), x.to(torch.float32)
def into_argument(x: Tensor, y: Tensor):
    x.copy_((x * y).tanh())
    return x
def clamp(x: Tensor, y: Tensor):
    return x.clamp(-1, 1) * y.abs() + torch.erf(x)
def broadcast(x: Tensor, y: Tensor):
    a = x.unsqueeze(-1) * y
    return a + 1 - y, a.sum()
def same_sizes(x: Tensor, y: Tensor):
    a = x * x + x
    return a.view(-1), a.stride(), y
def ints(x: Tensor, y: Tensor):
    return (x * 2).to(torch.int64) + (y > 0) * 3
def division(x: Tensor, y: Tensor):
    return torch.div(x, y, rounding_mode="floor") + x % 3, (x / 2).neg()
def halves(x: Tensor, y: Tensor):
    return (x.half() * 3 + 1) * 7, (x.to(torch.bfloat16) + y) * y
def attention(x: Tensor, y: Tensor):
    return torch.softmax(x * 0.5 + y, -1), torch.log_softmax(y * 2 - x, dim=-1)
def normalized(x: Tensor, y: Tensor):
    rms = (x * x).mean(-1, keepdim=True)
    return x * torch.rsqrt(rms + 1e-5) * y, torch.layer_norm(x, [x.size(-1)]) + y
def reduced(x: Tensor, y: Tensor):
    a = x * y + 1
    return a.sum(-1), a.amax(-1, keepdim=True) - a, a.sum([1], dtype=torch.float64), a.amin(-1)
def other_dimensions(x: Tensor, y: Tensor):
    a = x * y + 1
    return a.sum(0), torch.softmax(a, 0) * 2, a.sum(), a.t().mean(-1, keepdim=True) * 3
