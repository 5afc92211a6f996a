"""How tensors are printed."""


def tensor_text(tensor):
    return "tensor(%s)" % (tensor.tolist(),)


def set_printoptions(**options):
    pass
