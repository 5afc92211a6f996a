# rewrites nothing
def none(x: Tensor):
    return x.add_(1)
