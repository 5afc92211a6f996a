"""Futures outside of programs: what a call that a program forked will give, or what Python itself promises."""

import threading
import typing

T = typing.TypeVar("T")


class Future(typing.Generic[T]):
    """What a call will give: `Future[Tensor]` in annotations of programs, or a result that Python sets."""

    _script_handle = None

    def __init__(self, *, devices=None, _kept=None):
        self._script_handle = _kept  # the future of a program
        self._changed = threading.Condition()
        self._result = self._error = None
        self._is_done = _kept is not None  # a program's calls have ended when it gives their futures
        self._callbacks = []

    def done(self):
        """Whether the result is there."""
        return self._is_done

    def wait(self):
        """The result, when it is there; or the error is raised."""
        if self._script_handle is not None:
            return self._script_handle.wait()
        with self._changed:
            self._changed.wait_for(self.done)
        return self.value()

    def value(self):
        """The result of a future that is done."""
        if self._script_handle is not None:
            return self._script_handle.wait()
        if not self._is_done:
            raise RuntimeError("the future has no value yet: it is not done")
        if self._error is not None:
            raise self._error
        return self._result

    def set_result(self, result):
        """Ends it: those who wait go on, and what `then` and `add_done_callback` were given is called."""
        self._end(result, None)

    def set_exception(self, result):
        """Ends it with an error, which `wait` and `value` raise."""
        assert isinstance(result, Exception), "%s is of type %s, not an Exception." % (result, type(result))
        self._end(None, result)

    def _end(self, result, error):
        with self._changed:
            if self._is_done:
                raise RuntimeError("Attempting to mark a completed Future as complete again. Note that a Future can "
                                   "only be marked completed once.")
            self._result, self._error, self._is_done = result, error, True
            callbacks, self._callbacks = self._callbacks, []
            self._changed.notify_all()
        for callback in callbacks:
            callback(self)

    def add_done_callback(self, callback):
        """Calls it with this future when it is done; at once where it is done already."""
        with self._changed:
            if not self._is_done:
                self._callbacks.append(callback)
                return
        callback(self)

    def then(self, callback):
        """A Future of what the callback gives, which is called with this one when it is done."""
        following = Future()

        def call(done):
            try:
                result = callback(done)
            except Exception as error:  # noqa: BLE001, it is the following future's
                following.set_exception(RuntimeError("Got the following error when running the callback: %s: %s"
                                                     % (type(error).__name__, error)))
            else:
                following.set_result(result)
        self.add_done_callback(call)
        return following


def collect_all(futures):
    """A Future of the list, done when all of them are."""
    futures, collected = list(futures), Future()
    left, lock = [len(futures)], threading.Lock()

    def ended(_):
        with lock:
            left[0] -= 1
            is_last = left[0] == 0
        if is_last:
            collected.set_result(futures)
    if not futures:
        collected.set_result(futures)
    for future in futures:
        future.add_done_callback(ended)
    return collected


def wait_all(futures):
    """The results of all, in their order."""
    return [future.wait() for future in collect_all(futures).wait()]
