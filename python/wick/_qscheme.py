"""How the scales of quantized tensors are laid out: numbers to programs, names to Python."""


class qscheme(int):
    """`torch.per_tensor_affine` and its like."""

    _names = ("per_tensor_affine", "per_channel_affine", "per_tensor_symmetric", "per_channel_symmetric",
              "per_channel_affine_float_qparams")

    def __repr__(self):
        return "torch." + self._names[self]

    __str__ = __repr__

    def __reduce__(self):
        return self._names[self]


schemes = tuple(qscheme(number) for number in range(len(qscheme._names)))
(per_tensor_affine, per_channel_affine, per_tensor_symmetric, per_channel_symmetric,
 per_channel_affine_float_qparams) = schemes
