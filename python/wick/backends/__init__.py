"""What programs ask of torch.backends and set there, as a PyTorch on a processor without those libraries answers."""
from wick.backends import cuda, cudnn, mkl, mkldnn, mps, openmp, quantized

__all__ = ["cuda", "cudnn", "mkl", "mkldnn", "mps", "openmp", "quantized"]
