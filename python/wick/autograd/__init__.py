"""Gradients: backward and grad, the grad mode, functions with a backward of their own."""
from .. import _C
from .._C import Tensor
from .grad_mode import enable_grad, inference_mode, no_grad, set_grad_enabled  # noqa: F401
from ._hooks import register_hook as _register_hook  # noqa: F401
from .anomaly import detect_anomaly, set_detect_anomaly  # noqa: F401
from .function import Function  # noqa: F401
from .gradcheck import gradcheck, gradgradcheck  # noqa: F401
from . import functional  # noqa: F401,E402


class _VariableType(type):
    def __instancecheck__(cls, value):
        return isinstance(value, Tensor)


class Variable(metaclass=_VariableType):
    """Every tensor is one. Variable(tensor, requires_grad=False): another over the same memory, without history."""

    def __new__(cls, data=None, requires_grad=False, volatile=None):
        if data is None:
            data = Tensor()
        if not isinstance(data, Tensor):
            raise TypeError("Variable data has to be a tensor, but got " + type(data).__name__)
        made = data.detach()
        return made.requires_grad_() if requires_grad else made


def _as_tuple(value):
    return (value,) if value is None or isinstance(value, Tensor) else tuple(value)


def _gradients(outputs, grads):
    """One gradient for each output: ones for outputs of one element that have none."""
    grads = (None,) * len(outputs) if grads is None else _as_tuple(grads)
    made = []
    for output, grad in zip(outputs, grads):
        if grad is None and output.requires_grad:
            if output.numel() != 1:
                raise RuntimeError("grad can be implicitly created only for scalar outputs")
        elif grad is not None and grad.shape != output.shape:
            raise RuntimeError("Mismatch in shape: grad_output[%d] has a shape of %s and output[%d] has a shape of "
                               "%s." % (len(made), grad.shape, len(made), output.shape))
        made.append(grad)
    if len(made) != len(outputs):
        raise RuntimeError("got %d tensors and %d gradients" % (len(outputs), len(made)))
    return tuple(made)


def _check_outputs(outputs):
    for i, output in enumerate(outputs):
        if isinstance(output, Tensor) and not output.requires_grad:
            raise RuntimeError("element %d of tensors does not require grad and does not have a grad_fn" % i)


def backward(tensors, grad_tensors=None, retain_graph=None, create_graph=False, grad_variables=None, inputs=None):
    """Adds the gradients of the tensors to those of the leaves that they were computed from, or of `inputs` alone."""
    tensors = _as_tuple(tensors)
    grads = _gradients(tensors, grad_variables if grad_tensors is None else grad_tensors)
    _check_outputs(tensors)
    retain = create_graph if retain_graph is None else retain_graph
    if inputs is None:
        _C._run_backward(tensors, grads, retain, create_graph, None, False)
        return
    inputs = _as_tuple(inputs)
    if not inputs:
        raise RuntimeError("'inputs' argument to backward() cannot be empty.")
    for tensor, grad in zip(inputs, _C._run_backward(tensors, grads, retain, create_graph, inputs, True)):
        if grad is not None:
            tensor.grad = grad if tensor.grad is None else tensor.grad + grad


def grad(outputs, inputs, grad_outputs=None, retain_graph=None, create_graph=False, only_inputs=True,
         allow_unused=False, is_grads_batched=False):
    """The gradients of the inputs; the leaves' own stay as they are."""
    if is_grads_batched:
        raise NotImplementedError("wick does not compute batches of gradients at once")
    outputs, inputs = _as_tuple(outputs), _as_tuple(inputs)
    if _C._has_torch_function(outputs + inputs):
        return _C._handle_torch_function(
            grad, outputs + inputs, (outputs, inputs),
            dict(grad_outputs=grad_outputs, retain_graph=retain_graph, create_graph=create_graph,
                 only_inputs=only_inputs, allow_unused=allow_unused), "autograd.grad")
    grads = _gradients(outputs, grad_outputs)
    _check_outputs(outputs)
    retain = create_graph if retain_graph is None else retain_graph
    return _C._run_backward(outputs, grads, retain, create_graph, inputs, allow_unused)


def __getattr__(name):
    if name == "profiler":
        import importlib
        return importlib.import_module(".profiler", __name__)
    raise AttributeError("module 'wick.autograd' has no attribute %r" % name)
