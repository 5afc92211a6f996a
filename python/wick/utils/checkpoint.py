"""Parts of a network that are computed again in the backward pass rather than kept."""
import wick


def _functions():
    """The autograd function, made when it is first needed."""
    class Checkpoint(wick.autograd.Function):
        """Runs without recording; the backward pass runs again, recording, and goes on from there."""

        @staticmethod
        def forward(ctx, function, preserve_rng_state, *args):
            ctx.function = function
            ctx.rng_state = wick.get_rng_state() if preserve_rng_state else None
            ctx.args = args
            with wick.no_grad():
                return function(*args)

        @staticmethod
        def backward(ctx, *grads):
            args = [value.detach().requires_grad_(value.requires_grad) if isinstance(value, wick.Tensor) else value
                    for value in ctx.args]
            after = wick.get_rng_state() if ctx.rng_state is not None else None
            if ctx.rng_state is not None:
                wick.set_rng_state(ctx.rng_state)
            try:
                with wick.enable_grad():
                    outputs = ctx.function(*args)
            finally:
                if after is not None:
                    wick.set_rng_state(after)
            outputs = outputs if isinstance(outputs, (tuple, list)) else (outputs,)
            pairs = [(output, grad) for output, grad in zip(outputs, grads)
                     if isinstance(output, wick.Tensor) and output.requires_grad]
            if not pairs:
                raise RuntimeError('none of output has requires_grad=True, this checkpoint() is not necessary')
            wick.autograd.backward([output for output, _ in pairs], [grad for _, grad in pairs])
            return (None, None, *(value.grad if isinstance(value, wick.Tensor) else None for value in args))

    return Checkpoint


_Checkpoint = None


def checkpoint(function, *args, use_reentrant=True, preserve_rng_state=True, **kwargs):
    """``function(*args)``, whose intermediate results are computed again in the backward pass.

    At least one of the tensors in ``args`` must require a gradient for the parameters to get theirs.
    """
    global _Checkpoint
    if kwargs:
        original = function

        def function(*values):
            return original(*values, **kwargs)
    if _Checkpoint is None:
        _Checkpoint = _functions()
    return _Checkpoint.apply(function, preserve_rng_state, *args)


def checkpoint_sequential(functions, segments, input, **kwargs):
    """A Sequential or a list of functions in ``segments`` parts, all but the last one checkpointed."""
    functions = list(functions.children()) if isinstance(functions, wick.nn.Module) else list(functions)

    def run(part):
        def segment(value):
            for function in part:
                value = function(value)
            return value
        return segment

    size = len(functions) // segments
    for i in range(segments - 1):
        input = checkpoint(run(functions[i * size:(i + 1) * size]), input, **kwargs)
    return run(functions[(segments - 1) * size:])(input)
