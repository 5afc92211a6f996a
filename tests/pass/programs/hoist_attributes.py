# rewrites nothing
def none(x: Tensor):
    return x + 1
