"""The grad mode as contexts and decorators."""
import functools
import inspect

from .. import _C


class _Mode:
    """A context that can stand over a function too."""

    def _again(self):
        """A context of the same kind for one call."""
        return self.__class__()

    def __call__(self, function):
        if inspect.isgeneratorfunction(function):
            @functools.wraps(function)
            def generator(*args, **kwargs):
                running = function(*args, **kwargs)
                answer = None
                try:
                    while True:
                        with self._again():
                            item = running.send(answer)
                        answer = yield item
                except StopIteration as stop:
                    return stop.value
            return generator

        @functools.wraps(function)
        def wrapper(*args, **kwargs):
            with self._again():
                return function(*args, **kwargs)
        return wrapper

    def __exit__(self, kind, value, trace):
        _C._set_grad_enabled(self._before)


class no_grad(_Mode):
    """Calls are not recorded within it: ``with no_grad():``, ``@no_grad()``."""

    def __enter__(self):
        self._before = _C.is_grad_enabled()
        _C._set_grad_enabled(False)


class enable_grad(_Mode):
    """Calls are recorded within it, also inside of no_grad."""

    def __enter__(self):
        self._before = _C.is_grad_enabled()
        _C._set_grad_enabled(True)


class set_grad_enabled(_Mode):
    """Records calls, or not, from when it is made; as a context until its end."""

    def __init__(self, mode):
        self._before = _C.is_grad_enabled()
        self._mode = mode
        _C._set_grad_enabled(mode)

    def _again(self):
        return set_grad_enabled(self._mode)

    def __call__(self, function):
        _C._set_grad_enabled(self._before)  # what stands over a function changes nothing now
        return super().__call__(function)

    def __enter__(self):
        pass


class inference_mode(_Mode):
    """As no_grad; is_inference_mode_enabled() tells."""

    def __init__(self, mode=True):
        self._mode = mode

    def _again(self):
        return inference_mode(self._mode)

    def __enter__(self):
        self._before = _C.is_grad_enabled()
        self._inference = _C.is_inference_mode_enabled()
        _C._set_inference_mode(self._mode)
        _C._set_grad_enabled(not self._mode)

    def __exit__(self, kind, value, trace):
        super().__exit__(kind, value, trace)
        _C._set_inference_mode(self._inference)
