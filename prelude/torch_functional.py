# torch.functional: what PyTorch writes in Python. Operators of the same name that take the same arguments need no entry here.


def _unique_impl(input: Tensor, sorted: bool = True, return_inverse: bool = False, return_counts: bool = False,
                 dim: Optional[int] = None) -> Tuple[Tensor, Tensor, Tensor]:
    if dim is None:
        return torch._unique2(input, sorted, return_inverse, return_counts)
    return torch.unique_dim(input, dim, sorted, return_inverse, return_counts)


def _return_counts(input: Tensor, sorted: bool = True, return_inverse: bool = False, return_counts: bool = False,
                   dim: Optional[int] = None) -> Tuple[Tensor, Tensor]:
    output, _, counts = _unique_impl(input, sorted, return_inverse, return_counts, dim)
    return output, counts


def _return_inverse(input: Tensor, sorted: bool = True, return_inverse: bool = False, return_counts: bool = False,
                    dim: Optional[int] = None) -> Tuple[Tensor, Tensor]:
    output, inverse, _ = _unique_impl(input, sorted, return_inverse, return_counts, dim)
    return output, inverse


def _return_output(input: Tensor, sorted: bool = True, return_inverse: bool = False, return_counts: bool = False,
                   dim: Optional[int] = None) -> Tensor:
    return _unique_impl(input, sorted, return_inverse, return_counts, dim)[0]


_return_inverse_true = boolean_dispatch('return_counts', 3, False, _unique_impl, _return_inverse)
_return_inverse_false = boolean_dispatch('return_counts', 3, False, _return_counts, _return_output)
unique = boolean_dispatch('return_inverse', 2, False, _return_inverse_true, _return_inverse_false)


def _unique_consecutive_impl(input: Tensor, return_inverse: bool = False, return_counts: bool = False,
                             dim: Optional[int] = None) -> Tuple[Tensor, Tensor, Tensor]:
    return torch._VF.unique_consecutive(input, return_inverse, return_counts, dim)


def _consecutive_return_counts(input: Tensor, return_inverse: bool = False, return_counts: bool = False,
                               dim: Optional[int] = None) -> Tuple[Tensor, Tensor]:
    output, _, counts = _unique_consecutive_impl(input, return_inverse, return_counts, dim)
    return output, counts


def _consecutive_return_inverse(input: Tensor, return_inverse: bool = False, return_counts: bool = False,
                                dim: Optional[int] = None) -> Tuple[Tensor, Tensor]:
    output, inverse, _ = _unique_consecutive_impl(input, return_inverse, return_counts, dim)
    return output, inverse


def _consecutive_return_output(input: Tensor, return_inverse: bool = False, return_counts: bool = False,
                               dim: Optional[int] = None) -> Tensor:
    return _unique_consecutive_impl(input, return_inverse, return_counts, dim)[0]


_consecutive_return_inverse_true = boolean_dispatch('return_counts', 2, False, _unique_consecutive_impl, _consecutive_return_inverse)
_consecutive_return_inverse_false = boolean_dispatch('return_counts', 2, False, _consecutive_return_counts, _consecutive_return_output)
unique_consecutive = boolean_dispatch('return_inverse', 1, False, _consecutive_return_inverse_true, _consecutive_return_inverse_false)


def stft(input: Tensor, n_fft: int, hop_length: Optional[int] = None, win_length: Optional[int] = None, window: Optional[Tensor] = None,
         center: bool = True, pad_mode: str = 'reflect', normalized: bool = False, onesided: Optional[bool] = None,
         return_complex: Optional[bool] = None) -> Tensor:
    return torch._VF.stft(input, n_fft, hop_length, win_length, window, center, pad_mode, normalized, onesided, return_complex)


def _lu_with_infos(A: Tensor, pivot: bool = True, get_infos: bool = False,
                   out: Optional[Tuple[Tensor, Tensor, Tensor]] = None) -> Tuple[Tensor, Tensor, Tensor]:
    result = torch._lu_with_info(A, pivot, not get_infos)
    if out is None:
        return result
    out[0].resize_as_(result[0]).copy_(result[0])
    out[1].resize_as_(result[1]).copy_(result[1])
    out[2].resize_as_(result[2]).copy_(result[2])
    return out


def _lu_no_infos(A: Tensor, pivot: bool = True, get_infos: bool = False, out: Optional[Tuple[Tensor, Tensor]] = None) -> Tuple[Tensor, Tensor]:
    result = torch._lu_with_info(A, pivot, not get_infos)
    if out is None:
        return result[0], result[1]
    out[0].resize_as_(result[0]).copy_(result[0])
    out[1].resize_as_(result[1]).copy_(result[1])
    return out


lu = boolean_dispatch('get_infos', 2, False, _lu_with_infos, _lu_no_infos)


def contract(a: Tensor, b: Tensor, dims_a: List[int], dims_b: List[int], out: Optional[Tensor]) -> Tensor:
    result = torch._VF.tensordot(a, b, dims_a, dims_b)
    if out is None:
        return result
    return out.resize_as_(result).copy_(result)


def contract_last(a: Tensor, b: Tensor, dims: int, out: Optional[Tensor]) -> Tensor:
    if dims < 0:
        raise RuntimeError('tensordot expects dims >= 0, but got dims={}'.format(dims))
    return contract(a, b, [k for k in range(-dims, 0)], [k for k in range(dims)], out)


@torch.jit._overload
def tensordot(a: Tensor, b: Tensor, dims: int = 2, out: Optional[Tensor] = None) -> Tensor:
    return contract_last(a, b, dims, out)


@torch.jit._overload
def tensordot(a: Tensor, b: Tensor, dims: Tuple[List[int], List[int]], out: Optional[Tensor] = None) -> Tensor:
    return contract(a, b, dims[0], dims[1], out)


@torch.jit._overload
def tensordot(a: Tensor, b: Tensor, dims: List[List[int]], out: Optional[Tensor] = None) -> Tensor:
    return contract(a, b, dims[0], dims[1], out)


@torch.jit._overload
def tensordot(a: Tensor, b: Tensor, dims: Tensor, out: Optional[Tensor] = None) -> Tensor:
    if dims.numel() <= 1:
        return contract_last(a, b, int(dims), out)
    assert dims.size(0) == 2
    dims_a: List[int] = dims[0].tolist()
    dims_b: List[int] = dims[1].tolist()
    return contract(a, b, dims_a, dims_b, out)


def named_norm(input: Tensor, p: str, dim: Optional[List[int]], keepdim: bool, dtype: Optional[int]) -> Tensor:
    if p != 'fro' and p != 'nuc':
        raise RuntimeError('only valid string values are \'fro\' and \'nuc\', found {}'.format(p))
    if dtype is not None:
        raise ValueError('dtype argument is not supported in {} norm'.format('frobenius' if p == 'fro' else 'nuclear'))
    if p == 'fro':
        return torch.frobenius_norm(input, torch.jit.annotate(List[int], []) if dim is None else dim, keepdim)
    if dim is None:
        return torch.nuclear_norm(input, keepdim)
    return torch.nuclear_norm(input, dim, keepdim)


def power_norm(input: Tensor, p: Optional[number], dim: Optional[List[int]], keepdim: bool, dtype: Optional[int]) -> Tensor:
    dims = [k for k in range(input.dim())] if dim is None else dim
    if dtype is None:
        return torch._VF.norm(input, p, dims, keepdim)
    return torch._VF.norm(input, p, dims, keepdim, dtype=dtype)


def norm_into(result: Tensor, out: Optional[Tensor]) -> Tensor:
    if out is None:
        return result
    return out.resize_as_(result).copy_(result)


def one_dim(dim: Optional[int]) -> Optional[List[int]]:
    if dim is None:
        return None
    return [dim]


@torch.jit._overload
def norm(input: Tensor, p: str = 'fro', dim: Optional[List[int]] = None, keepdim: bool = False, out: Optional[Tensor] = None,
         dtype: Optional[int] = None) -> Tensor:
    return norm_into(named_norm(input, p, dim, keepdim, dtype), out)


@torch.jit._overload
def norm(input: Tensor, p: Optional[number] = 2, dim: Optional[List[int]] = None, keepdim: bool = False, out: Optional[Tensor] = None,
         dtype: Optional[int] = None) -> Tensor:
    return norm_into(power_norm(input, p, dim, keepdim, dtype), out)


@torch.jit._overload
def norm(input: Tensor, p: Optional[number] = 2, dim: Optional[int] = None, keepdim: bool = False, out: Optional[Tensor] = None,
         dtype: Optional[int] = None) -> Tensor:
    return norm_into(power_norm(input, p, one_dim(dim), keepdim, dtype), out)


@torch.jit._overload
def norm(input: Tensor, p: str = 'fro', dim: Optional[int] = None, keepdim: bool = False, out: Optional[Tensor] = None,
         dtype: Optional[int] = None) -> Tensor:
    return norm_into(named_norm(input, p, one_dim(dim), keepdim, dtype), out)
