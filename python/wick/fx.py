"""What files of models import of torch.fx; there is no symbolic tracing, so nothing has to be marked for it."""


def wrap(fn_or_name):
    """Gives back what it takes."""
    return fn_or_name
