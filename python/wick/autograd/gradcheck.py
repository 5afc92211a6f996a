"""Gradients against differences: whether backward computes what forward does."""
from .. import _C
from .._C import Tensor


class GradcheckError(RuntimeError):
    """A gradient that differs from the differences of the function's values."""


def _as_tuple(value):
    return value if isinstance(value, tuple) else tuple(value) if isinstance(value, list) else (value,)


def _outputs(func, inputs):
    return tuple(out for out in _as_tuple(func(*inputs))
                 if isinstance(out, Tensor) and (out.dtype.is_floating_point or out.dtype.is_complex))


def _numerical(func, inputs, at, output, eps):
    """The Jacobian of one output with respect to one input, a row for each element of the input."""
    flat = inputs[at].detach().reshape(-1)
    rows = []
    for i in range(flat.numel()):
        values = []
        for step in (eps, -eps):
            moved = flat.clone()
            moved[i] += step
            changed = list(inputs)
            changed[at] = moved.reshape(inputs[at].shape).requires_grad_()
            values.append(_outputs(func, changed)[output].detach().reshape(-1))
        rows.append((values[0] - values[1]) / (2 * eps))
    return rows


def _analytical(outputs, inputs, at, output, allow_unused=True):
    from . import grad
    columns = []
    out = outputs[output]
    for i in range(out.numel()):
        seed = _C.operator("aten::zeros_like")(out).reshape(-1)
        seed[i] = 1
        found = grad(out, inputs[at], seed.reshape(out.shape), retain_graph=True, allow_unused=True)[0]
        if found is None:
            found = _C.operator("aten::zeros_like")(inputs[at])
        columns.append(found.detach().reshape(-1))
    return columns


def gradcheck(func, inputs, *, eps=1e-6, atol=1e-5, rtol=1e-3, raise_exception=True, check_sparse_nnz=False,
              nondet_tol=0.0, check_undefined_grad=True, check_grad_dtypes=False, check_batched_grad=False,
              check_forward_ad=False, check_backward_ad=True, fast_mode=False):
    """Whether the gradients of func at the inputs (float64 is best) are what small differences of its values show."""
    inputs = _as_tuple(inputs)
    wanted = [i for i, value in enumerate(inputs) if isinstance(value, Tensor) and value.requires_grad]
    if not wanted:
        raise ValueError("gradcheck expects at least one input tensor to require gradient, but none of the them have "
                         "requires_grad=True.")
    if any(inputs[i].dtype.is_complex for i in wanted):
        raise NotImplementedError("gradcheck of complex inputs")
    outputs = _outputs(func, inputs)
    for at in wanted:
        for output in range(len(outputs)):
            if not outputs[output].requires_grad:
                continue
            numerical = _numerical(func, inputs, at, output, eps)
            analytical = _analytical(outputs, inputs, at, output)
            for i, row in enumerate(numerical):
                for k, column in enumerate(analytical):
                    expected, found = row[k].item(), column[i].item()
                    if abs(expected - found) <= atol + rtol * abs(expected):
                        continue
                    if not raise_exception:
                        return False
                    raise GradcheckError(
                        "Jacobian mismatch for output %d with respect to input %d, at (%d, %d),\nnumerical:%s\n"
                        "analytical:%s" % (output, at, i, k, expected, found))
    return True


def gradgradcheck(func, inputs, grad_outputs=None, *, eps=1e-6, atol=1e-5, rtol=1e-3, raise_exception=True,
                  **options):
    """The same of the gradients' own gradients."""
    from . import grad
    inputs = _as_tuple(inputs)
    outputs = _outputs(func, inputs)
    if grad_outputs is None:
        seeds = tuple(_C.operator("aten::randn_like")(out).requires_grad_() for out in outputs)
    else:
        seeds = _as_tuple(grad_outputs)
    wanted = [i for i, value in enumerate(inputs) if isinstance(value, Tensor) and value.requires_grad]

    def gradients(*args):
        arguments, given = args[:len(inputs)], args[len(inputs):]
        results = _outputs(func, arguments)
        found = grad(results, [arguments[i] for i in wanted], given, create_graph=True, allow_unused=True)
        return tuple(value for value in found if value is not None)

    return gradcheck(gradients, inputs + seeds, eps=eps, atol=atol, rtol=rtol, raise_exception=raise_exception)
