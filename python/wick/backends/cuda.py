"""CUDA is not there. Its switches keep what is set and change nothing, as in any PyTorch without a card."""


class _Matmul:
    """How products may be computed on a card."""
    allow_tf32 = False
    allow_fp16_reduced_precision_reduction = True
    allow_bf16_reduced_precision_reduction = True


matmul = _Matmul()


def is_built():
    """False."""
    return False
