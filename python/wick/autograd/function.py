"""Functions whose forward and backward are written in Python."""
import functools
import weakref

from .. import _C
from .._C import Tensor
from .grad_mode import no_grad


class _Saved:
    """A tensor kept for backward. A result is not held itself, for its history holds what is saved: while it lives it
    is the one that is given, afterwards its elements are."""

    def __init__(self, tensor):
        self._tensor = tensor
        self._version = tensor._version
        self._result = None

    def is_result(self):
        self._result = weakref.ref(self._tensor)
        self._tensor = self._tensor.detach()

    def get(self):
        tensor = self._tensor
        if tensor._version != self._version:
            raise RuntimeError(
                "one of the variables needed for gradient computation has been modified by an inplace operation: "
                "%s is at version %d; expected version %d instead"
                % (list(tensor.shape), tensor._version, self._version))
        if self._result is None:
            return tensor
        result = self._result()
        if result is not None:
            return result
        if _C.is_grad_enabled():
            raise NotImplementedError("the gradient of a gradient through a saved result that is gone")
        return tensor


class _Context:
    """What a function's forward leaves for its backward: ``ctx``."""

    def __init__(self):
        self._saved = ()
        self._dirty = ()
        self._not_differentiable = ()
        self.materialize_grads = True
        self.needs_input_grad = ()

    def save_for_backward(self, *tensors):
        """Keeps tensors (or None) for backward, which finds them in ``saved_tensors``."""
        for tensor in tensors:
            if tensor is not None and not isinstance(tensor, Tensor):
                raise TypeError("save_for_backward can only save variables, but argument is of type %s"
                                % type(tensor).__name__)
        self._saved = tuple(None if tensor is None else _Saved(tensor) for tensor in tensors)

    save_for_forward = save_for_backward

    @property
    def saved_tensors(self):
        """What save_for_backward was given."""
        return tuple(None if saved is None else saved.get() for saved in self._saved)

    def mark_dirty(self, *tensors):
        """Says that forward wrote into these of its inputs."""
        self._dirty = tensors

    def mark_non_differentiable(self, *tensors):
        """Says that these results have no gradient."""
        self._not_differentiable = tensors

    def set_materialize_grads(self, value):
        """Whether backward gets zeros (as by default) or None for results that no gradient reached."""
        self.materialize_grads = value


def _tuple_of_gradients(function, answer, count):
    answer = answer if isinstance(answer, tuple) else (answer,)
    if len(answer) > count and all(grad is None for grad in answer[count:]):
        answer = answer[:count]
    if len(answer) != count:
        raise RuntimeError("function %sBackward returned an incorrect number of gradients (expected %d, got %d)"
                           % (function.__name__, count, len(answer)))
    return answer


class _Meta(type):
    """Functions are named ExpBackward in histories."""

    def __call__(cls, *args, **kwargs):
        raise RuntimeError("Legacy autograd function with non-static forward method is deprecated. Please use "
                           "new-style autograd function with static forward method. (use %s.apply)" % cls.__name__)


class Function(metaclass=_Meta):
    """A computation with a gradient of its own: derive a class with static ``forward(ctx, *args)`` and
    ``backward(ctx, *grads)``, which gives one gradient for each argument, and call ``Mine.apply(*args)``."""

    @staticmethod
    def forward(ctx, *args, **kwargs):
        """Computes the results."""
        raise NotImplementedError("You must implement the forward function for custom autograd.Function.")

    @staticmethod
    def backward(ctx, *grad_outputs):
        """Computes one gradient for each argument of forward."""
        raise NotImplementedError("You must implement either the backward or vjp method for your custom "
                                  "autograd.Function to use it with backward mode AD.")

    vjp = backward

    @classmethod
    def apply(cls, *args):
        """Calls forward, and records backward where an argument requires a gradient."""
        ctx = _Context()
        ctx.needs_input_grad = tuple(isinstance(arg, Tensor) and arg.requires_grad for arg in args)
        with no_grad():
            answer = cls.forward(ctx, *args)
        if not (_C.is_grad_enabled() and any(ctx.needs_input_grad)):
            return answer
        several = isinstance(answer, (tuple, list))
        results = list(answer) if several else [answer]
        cls._record(ctx, args, results)
        return tuple(results) if several else results[0]

    @classmethod
    def _record(cls, ctx, args, results):
        places = [i for i, arg in enumerate(args) if isinstance(arg, Tensor)]
        inputs = tuple(args[i] for i in places)
        for i, result in enumerate(results):  # what was passed on is another tensor from here on
            if any(result is arg for arg in inputs) and not any(result is dirty for dirty in ctx._dirty):
                with no_grad():
                    results[i] = result.view_as(result)
        tensors = tuple(result for result in results if isinstance(result, Tensor))
        masked = sum(1 << i for i, result in enumerate(tensors)
                     if any(result is other for other in ctx._not_differentiable))
        for saved in ctx._saved:
            if saved is not None and any(saved._tensor is result for result in tensors):
                saved.is_result()
        looks = [(result.shape, result.dtype) for result in tensors]
        kept = [i for i, result in enumerate(results) if isinstance(result, Tensor)]
        count = len(results)

        def backward(grads):
            given = [None] * count
            for i, grad, (shape, dtype) in zip(kept, grads, looks):
                given[i] = grad
                if grad is None and ctx.materialize_grads:
                    given[i] = _C.operator("aten::zeros")(shape, dtype=dtype)
            method = cls.backward if cls.backward is not Function.backward else cls.vjp
            answer = _tuple_of_gradients(cls, method(ctx, *given), len(args))
            return tuple(answer[i] for i in places)

        _C._record(cls.__name__ + "Backward", backward, inputs, tensors, masked)


def once_differentiable(function):
    """Over a backward that can't be differentiated itself."""

    @functools.wraps(function)
    def wrapper(ctx, *grads):
        if _C.is_grad_enabled() and any(isinstance(grad, Tensor) and grad.requires_grad for grad in grads):
            raise RuntimeError("trying to differentiate twice a function that was marked with @once_differentiable")
        with no_grad():
            return function(ctx, *grads)
    return wrapper
