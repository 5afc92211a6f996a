"""What this build has: ``torch.has_lapack`` and so on."""
from . import backends

has_cuda = has_cudnn = False
has_lapack = has_spectral = True  # by code of its own where the libraries are missing
has_mkl, has_mkldnn = backends.mkl.is_available(), backends.mkldnn.is_available()
has_mps, has_openmp = backends.mps.is_available(), backends.openmp.is_available()


def is_vulkan_available():
    """False."""
    return False
