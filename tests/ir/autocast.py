def scaled(x, scale: float):
    return torch.exp(x * scale)


def f(x: Tensor, w: Tensor):
    with torch.cpu.amp.autocast():
        y = torch.mm(x, w)
        with torch.autocast("cpu", dtype=torch.bfloat16, enabled=False):
            y = y + torch.mm(x, w)
        return scaled(y, 0.5), torch.is_autocast_cpu_enabled()
