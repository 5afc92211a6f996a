"""Derivatives of functions: Jacobians, Hessians, and their products with vectors, by backward passes."""
import wick

from .._C import Tensor
from .grad_mode import enable_grad


def _tuple(value, what):
    one = isinstance(value, Tensor)
    if not isinstance(value, (Tensor, tuple, list)):
        raise TypeError("The %s given to this function must be either a Tensor or a tuple of Tensors but it has type "
                        "%s." % (what, type(value)))
    values = (value,) if one else tuple(value)
    for i, each in enumerate(values):
        if not isinstance(each, Tensor):
            raise TypeError("The %s given to this function must be either a Tensor or a tuple of Tensors but the "
                            "value at index %d has type %s." % (what, i, type(each)))
    return one, values


def _leaves(inputs, create_graph):
    """The inputs as tensors whose gradients are asked for: apart from their history unless that is to go on."""
    return tuple(each.view_as(each) if create_graph and each.requires_grad else each.detach().requires_grad_()
                 for each in inputs)


def _unwrapped(one, values):
    return values[0] if one else tuple(values)


def _grads(outputs, inputs, v, create_graph, strict):
    """The products of v with the Jacobian; zeros where an input has no part in the outputs."""
    pairs = [(output, each) for output, each in zip(outputs, v) if output.requires_grad]
    if strict and len(pairs) != len(outputs):
        raise RuntimeError("An output of the function is independent of the inputs, which strict mode forbids.")
    found = (None,) * len(inputs)
    if pairs:
        found = wick.autograd.grad([output for output, _ in pairs], inputs, [each for _, each in pairs],
                                   retain_graph=True, create_graph=create_graph, allow_unused=True)
    if strict and any(grad is None for grad in found):
        raise RuntimeError("An output of the function is independent of an input, which strict mode forbids.")
    return tuple(wick.zeros_like(each) if grad is None else grad for grad, each in zip(found, inputs))


def _vector(v, like, what):
    if v is None:
        if len(like) != 1 or like[0].numel() != 1:
            raise RuntimeError("The vector v can only be None if %s a single Tensor with a single element." % what)
        return (wick.ones_like(like[0]),)
    _, v = _tuple(v, "vector v")
    if len(v) != len(like) or any(a.shape != b.shape for a, b in zip(v, like)):
        raise RuntimeError("v has other sizes than what it is multiplied with.")
    return v


def vjp(func, inputs, v=None, create_graph=False, strict=False):
    """The outputs, and v times the Jacobian."""
    with enable_grad():
        one, inputs = _tuple(inputs, "inputs")
        inputs = _leaves(inputs, create_graph)
        one_output, outputs = _tuple(func(*inputs), "outputs of the user-provided function")
        v = _vector(v, outputs, "the user-provided function returns")
        found = _grads(outputs, inputs, v, create_graph, strict)
    return _unwrapped(one_output, _parted(outputs, create_graph)), _unwrapped(one, found)


def _parted(values, create_graph):
    return values if create_graph else tuple(each.detach() for each in values)


def jvp(func, inputs, v=None, create_graph=False, strict=False):
    """The outputs, and the Jacobian times v: the gradient of v times the Jacobian by v, which is linear in v."""
    with enable_grad():
        _, inputs = _tuple(inputs, "inputs")
        v = _vector(v, inputs, "the input to the user-provided function is")
        inputs = _leaves(inputs, create_graph)
        one_output, outputs = _tuple(func(*inputs), "outputs of the user-provided function")
        along = tuple(wick.zeros_like(each).requires_grad_() for each in outputs)
        products = _grads(outputs, inputs, along, True, strict)
        found = _grads(products, along, v, create_graph, False)
    return _unwrapped(one_output, _parted(outputs, create_graph)), _unwrapped(one_output, found)


def jacobian(func, inputs, create_graph=False, strict=False, vectorize=False, strategy="reverse-mode"):
    """The derivatives of each output by each input: of their sizes one after the other."""
    if strategy != "reverse-mode":
        raise NotImplementedError("wick computes Jacobians by backward passes")
    with enable_grad():
        one, inputs = _tuple(inputs, "inputs")
        inputs = _leaves(inputs, create_graph)
        one_output, outputs = _tuple(func(*inputs), "outputs of the user-provided function")
        rows = []
        for output in outputs:
            basis = wick.eye(output.numel(), dtype=output.dtype).reshape(output.numel(), *output.shape)
            parts = [_grads((output,), inputs, (each,), create_graph, strict) for each in basis]
            rows.append(_unwrapped(one, [
                wick.stack([part[i] for part in parts]).reshape(output.shape + each.shape) if parts
                else wick.zeros(output.shape + each.shape) for i, each in enumerate(inputs)]))
    return _unwrapped(one_output, rows)


def _scalar(func):
    def checked(*inputs):
        one, outputs = _tuple(func(*inputs), "outputs of the user-provided function")
        if not one or outputs[0].numel() != 1:
            raise RuntimeError("The function given must return a single Tensor with a single element.")
        return outputs[0].reshape(())
    return checked


def hessian(func, inputs, create_graph=False, strict=False, vectorize=False, outer_jacobian_strategy="reverse-mode"):
    """The second derivatives of a function with one element."""
    one, inputs = _tuple(inputs, "inputs")

    def first(*inputs):
        return jacobian(_scalar(func), inputs, create_graph=True, strict=strict)
    found = jacobian(first, inputs, create_graph, strict, vectorize, outer_jacobian_strategy)
    return found[0][0] if one else found


def vhp(func, inputs, v=None, create_graph=False, strict=False):
    """The output, and v times the Hessian."""
    with enable_grad():
        one, inputs = _tuple(inputs, "inputs")
        v = _vector(v, inputs, "the input to the user-provided function is")
        inputs = _leaves(inputs, create_graph)
        output = _scalar(func)(*inputs)
        first = _grads((output,), inputs, (wick.ones_like(output),), True, strict)
        found = _grads(first, inputs, v, create_graph, strict)
    return output if create_graph else output.detach(), _unwrapped(one, found)


hvp = vhp  # the Hessian is symmetric
