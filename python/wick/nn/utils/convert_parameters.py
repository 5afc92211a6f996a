"""Many parameters as one vector, and back."""
import wick


def parameters_to_vector(parameters):
    """All elements of all parameters in one vector."""
    return wick.cat([parameter.view(-1) for parameter in parameters])


def vector_to_parameters(vec, parameters):
    """Gives the parameters the vector's elements as their data, which they share."""
    if not isinstance(vec, wick.Tensor):
        raise TypeError('expected torch.Tensor, but got: {}'.format(type(vec).__name__))
    start = 0
    for parameter in parameters:
        count = parameter.numel()
        parameter.data = vec[start:start + count].view_as(parameter).data
        start += count
