"""What this build has: ``torch.has_lapack`` and so on."""
from . import backends, ones

has_cuda = has_cudnn = False
has_mkl, has_mkldnn = backends.mkl.is_available(), backends.mkldnn.is_available()
has_mps, has_openmp = backends.mps.is_available(), backends.openmp.is_available()


def _works(function):
    """Whether the build has what the function needs."""
    try:
        function()
    except NotImplementedError:
        return False
    return True


def __getattr__(name):
    if name == "has_lapack":
        found = _works(lambda: ones(1, 1).inverse())
    elif name == "has_spectral":
        from .fft import fft
        found = _works(lambda: fft(ones(2)))
    else:
        raise AttributeError("module 'wick._has' has no attribute %r" % name)
    globals()[name] = found
    return found


def is_vulkan_available():
    """False."""
    return False
