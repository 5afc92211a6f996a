"""Hooks of tensors: any number of Python's functions after the one that a tensor has."""
import collections


class RemovableHandle:
    """Takes a hook away again."""

    _next = 0

    def __init__(self, hooks, on_empty=None):
        self._hooks = hooks
        self._on_empty = on_empty
        self.id = RemovableHandle._next
        RemovableHandle._next += 1

    def remove(self):
        """The hook is not called any more."""
        self._hooks.pop(self.id, None)
        if not self._hooks and self._on_empty:
            self._on_empty()

    def __enter__(self):
        return self

    def __exit__(self, kind, value, trace):
        self.remove()


def register_hook(tensor, hook):
    """Calls hook(grad) when backward has the tensor's gradient."""
    if not tensor.requires_grad:
        raise RuntimeError("cannot register a hook on a tensor that doesn't require gradient")
    hooks = getattr(tensor, "_hooks", None)
    if hooks is None:
        hooks = tensor._hooks = collections.OrderedDict()

        def call(grad):
            first = grad
            for function in list(hooks.values()):
                answer = function(grad)
                grad = grad if answer is None else answer
            return None if grad is first else grad

        tensor._set_hook(call)
    handle = RemovableHandle(hooks)
    hooks[handle.id] = hook
    return handle
