def fused(x):
    with torch.jit.strict_fusion():
        y = torch.relu(x) + x
    return y.cumsum(0)


def by_itself(x):
    with torch.jit.strict_fusion():
        y = torch.relu(x) + x
        z = y.nonzero()
    return z.cumsum(0)
