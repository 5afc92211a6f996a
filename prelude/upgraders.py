# What operators meant in older archives, where they have changed since: NAME_FIRST_LAST stands for the operator NAME in
# archives of versions FIRST to LAST. Calls that fit none of these mean today's operator. Only operators whose meaning
# never changed are used here, so that what is saved again means the same in any version.


# Division of whole numbers gave whole numbers, rounded towards zero.
def div_0_3(self: Tensor, other: Tensor) -> Tensor:
    if self.is_floating_point() or other.is_floating_point() or self.is_complex() or other.is_complex():
        return torch.true_divide(self, other)
    return torch.divide(self, other, rounding_mode="trunc")


def div_0_3__1(self: Tensor, other: number) -> Tensor:
    if self.is_floating_point() or self.is_complex() or not isinstance(other, int):
        return torch.true_divide(self, other)
    return torch.divide(self, other, rounding_mode="trunc")


def div_0_3__2(self: Tensor, other: Tensor, *, out: Tensor) -> Tensor:
    if self.is_floating_point() or other.is_floating_point() or out.is_floating_point() or out.is_complex():
        return torch.true_divide(self, other, out=out)
    return torch.divide(self, other, rounding_mode="trunc", out=out)


def div__0_3(self: Tensor, other: Tensor) -> Tensor:
    if self.is_floating_point() or other.is_floating_point() or self.is_complex():
        return self.true_divide_(other)
    return self.divide_(other, rounding_mode="trunc")


def div__0_3__1(self: Tensor, other: number) -> Tensor:
    if self.is_floating_point() or self.is_complex() or not isinstance(other, int):
        return self.true_divide_(other)
    return self.divide_(other, rounding_mode="trunc")


# Without a dtype the result was of the default dtype, whatever the number.
def full_0_4(
    size: List[int],
    fill_value: number,
    *,
    dtype: Optional[int] = None,
    layout: Optional[int] = None,
    device: Optional[Device] = None,
    pin_memory: Optional[bool] = None,
) -> Tensor:
    if dtype is None and isinstance(fill_value, int):
        fill_value = float(fill_value)
    return torch.full(size, fill_value, dtype=dtype, layout=layout, device=device, pin_memory=pin_memory)


# The number of steps could be left out.
def linspace_0_7(
    start: number,
    end: number,
    steps: Optional[int] = None,
    *,
    dtype: Optional[int] = None,
    layout: Optional[int] = None,
    device: Optional[Device] = None,
    pin_memory: Optional[bool] = None,
) -> Tensor:
    count = 100 if steps is None else steps
    return torch.linspace(start, end, count, dtype=dtype, layout=layout, device=device, pin_memory=pin_memory)


def linspace_0_7__1(start: number, end: number, steps: Optional[int] = None, *, out: Tensor) -> Tensor:
    count = 100 if steps is None else steps
    return torch.linspace(start, end, count, out=out)


def logspace_0_8(
    start: number,
    end: number,
    steps: Optional[int] = None,
    base: float = 10.0,
    *,
    dtype: Optional[int] = None,
    layout: Optional[int] = None,
    device: Optional[Device] = None,
    pin_memory: Optional[bool] = None,
) -> Tensor:
    count = 100 if steps is None else steps
    return torch.logspace(start, end, count, base, dtype=dtype, layout=layout, device=device, pin_memory=pin_memory)


def logspace_0_8__1(
    start: number, end: number, steps: Optional[int] = None, base: float = 10.0, *, out: Tensor
) -> Tensor:
    count = 100 if steps is None else steps
    return torch.logspace(start, end, count, base, out=out)
