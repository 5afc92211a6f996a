"""Handles that take hooks off again, and the hooks of modules that see gradients."""
import itertools
import weakref
from collections import OrderedDict

import wick

_next_id = itertools.count()


class RemovableHandle:
    """What a ``register_*hook`` returns: ``remove()``, or leaving a ``with`` block, takes the hook off."""

    def __init__(self, hooks, *, extra=None):
        self.hooks_ref = weakref.ref(hooks)
        self.id = next(_next_id)
        self.extra_refs = [weakref.ref(each) for each in _as_list(extra)]

    def remove(self):
        """Takes the hook off; does nothing when that happened already."""
        for ref in [self.hooks_ref, *self.extra_refs]:
            hooks = ref()
            if hooks is not None:
                hooks.pop(self.id, None)

    def __getstate__(self):
        return self.hooks_ref(), self.id

    def __setstate__(self, state):
        hooks, self.id = state
        self.hooks_ref = weakref.ref(OrderedDict() if hooks is None else hooks)
        self.extra_refs = []

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        self.remove()


def _as_list(value):
    if value is None:
        return []
    return list(value) if isinstance(value, (list, tuple)) else [value]


class BackwardHook:
    """Shows the gradients at the two ends of one call of a module to its full backward hooks.

    Every tensor that goes in and comes out passes an identity in the autograd graph. The identity of the outputs is
    reached first in the backward pass and keeps what it saw; that of the inputs then calls the hooks with both.
    """

    def __init__(self, module, hooks):
        self.module = module
        self.hooks = hooks
        self.grad_outputs = None
        self.input_count = 0
        self.has_input_grad = False

    def setup_input(self, args):
        """The positional arguments as the module is to see them."""
        self.input_count = len(args)
        args, self.has_input_grad = self._pass(args, self._at_inputs)
        return args

    def setup_output(self, result):
        """The module's result as its caller is to see it; a tensor or a tuple of tensors and others."""
        if not isinstance(result, (tuple, wick.Tensor)):
            raise RuntimeError("full backward hooks need a module that returns a Tensor or a tuple of Tensors, "
                               "but got {}".format(type(result)))
        alone = isinstance(result, wick.Tensor)
        passed, _ = self._pass((result,) if alone else result, self._at_outputs)
        return passed[0] if alone else passed

    @staticmethod
    def _pass(values, seen):
        where = [i for i, value in enumerate(values) if isinstance(value, wick.Tensor) and value.requires_grad]
        if not where or not wick.is_grad_enabled():
            return values, False
        # what has no gradient stands as zeros between those that have
        absent = [wick.zeros_like(value) if isinstance(value, wick.Tensor) else None for value in values]

        def at_backward(grads):
            spread = list(absent)
            for i, grad in zip(where, grads):
                spread[i] = grad
            result = seen(tuple(spread))
            return grads if result is None else tuple(result[i] for i in where)

        passed = _boundary().apply(at_backward, *(values[i] for i in where))
        passed = iter(passed if isinstance(passed, tuple) else (passed,))
        chosen = set(where)
        return tuple(next(passed) if i in chosen else value for i, value in enumerate(values)), True

    def _at_outputs(self, grads):
        self.grad_outputs = grads
        if not self.has_input_grad:
            return self._call((None,) * self.input_count, False)
        return None

    def _at_inputs(self, grads):
        return self._call(grads, True)

    def _call(self, grad_inputs, may_replace):
        replaced = None
        for hook in self.hooks:
            result = hook(self.module, grad_inputs, self.grad_outputs)
            if result is None:
                continue
            if not may_replace:
                raise RuntimeError("Backward hooks cannot return gradients when no input of the module requires "
                                   "them.")
            result = result if isinstance(result, tuple) else (result,)
            if len(result) != len(grad_inputs):
                raise RuntimeError("Backward hook returned an invalid number of grad_input, got {}, but expected {}"
                                   .format(len(result), len(grad_inputs)))
            grad_inputs = replaced = result
        return replaced


_Boundary = None


def _boundary():
    """The identity with a callback, made when a hook first needs autograd.Function."""
    global _Boundary
    if _Boundary is None:
        class Boundary(wick.autograd.Function):
            """Views of its tensors; the backward pass hands their gradients to ``at_backward``."""

            @staticmethod
            def forward(ctx, at_backward, *tensors):
                ctx.at_backward = at_backward
                return tuple(tensor.view_as(tensor) for tensor in tensors)

            @staticmethod
            def backward(ctx, *grads):
                return (None, *ctx.at_backward(grads))
        _Boundary = Boundary
    return _Boundary
