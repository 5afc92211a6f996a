# The operators of torchaudio, and their gradients, with weights that tell the results' places apart.
def weigh(y: Tensor) -> Tensor:
    return (y * torch.arange(1, y.numel() + 1).reshape(y.size()).to(y.dtype)).sum()

def lfilter(x: Tensor, a: Tensor, b: Tensor):
    return torch.ops.torchaudio._lfilter(x, a, b)

def lfilter_strides(x: Tensor, a: Tensor, b: Tensor):
    return list(lfilter(x, a, b).stride())

def lfilter_gradients(x: Tensor, a: Tensor, b: Tensor):
    with torch.enable_grad():
        inputs = [t.detach().requires_grad_() for t in [x, a, b]]
        return torch.autograd.grad([weigh(lfilter(inputs[0], inputs[1], inputs[2]))], inputs)

def core_loop(windows: Tensor, a_flipped: Tensor, out: Tensor):
    spread = torch.zeros(out.size() + [2], dtype=out.dtype).select(-1, 0)
    torch.ops.torchaudio._lfilter_core_loop(windows, a_flipped, spread)
    result = torch.ops.torchaudio._lfilter_core_loop(windows, a_flipped, out)
    assert result is out
    return out, spread

def overdrive(x: Tensor, temp: Tensor):
    first, last, out = torch.zeros(x.size(0), dtype=x.dtype), torch.ones(x.size(0), dtype=x.dtype), torch.zeros(x.size(1), x.size(0), dtype=x.dtype).t()
    in_, out_, wave = torch.ops.torchaudio._overdrive_core_loop(x, temp, first, last, out)
    assert in_ is first and out_ is last and wave is out
    return first, last, out

def rnnt(logits: Tensor, targets: Tensor, frames: Tensor, labels: Tensor, blank: int, clamp: float, softmax: bool):
    with torch.enable_grad():
        x = logits.detach().requires_grad_()
        costs, each = torch.ops.torchaudio.rnnt_loss(x, targets, frames, labels, blank, clamp, softmax)
        grads = torch.autograd.grad([weigh(costs)], [x])
        with torch.no_grad():
            same = torch.ops.torchaudio.rnnt_loss(logits, targets, frames, labels, blank, clamp, softmax)[1]
        return costs.detach(), grads[0], each, same, torch.ops.torchaudio.rnnt_loss_forward(logits, targets, frames, labels, blank, clamp)[0]

def align(x: Tensor, targets: Tensor, frames: Tensor, labels: Tensor, blank: int):
    return torch.ops.torchaudio.forced_align(x, targets, frames, labels, blank)
