# What the gradients of operator rows call by bare names.


# ---- linear algebra; ^H is the adjoint, <a, b> the real part of the sum of conj(a) * b ----

def solve_backward(grad: Tensor, x: Tensor, a: Tensor, b: Tensor, left: bool) -> Tuple[Tensor, Tensor]:
    vector = b.dim() == 1 or (a.dim() - 1 == b.dim() and b.size() == a.size()[:-1])
    if vector:
        grad_b = torch.linalg_solve(a.mH, grad.unsqueeze(-1))
        return -torch.matmul(grad_b, x.unsqueeze(-1).mH), grad_b.squeeze(-1)
    grad_b = torch.linalg_solve(a.mH, grad, left=left)
    grad_a = torch.matmul(grad_b, x.mH) if left else torch.matmul(x.mH, grad_b)
    return -grad_a, grad_b


def inv_backward(grad: Tensor, inverse: Tensor) -> Tensor:
    adjoint = inverse.mH
    return -torch.matmul(adjoint, torch.matmul(grad, adjoint))


# factor * a^-H, a singular matrix being moved away from that by the least step.
def scaled_inverse_adjoint(a: Tensor, factor: Tensor) -> Tensor:
    lu, pivots, info = torch.linalg_lu_factor_ex(a.mH)
    d = lu.diagonal(0, -2, -1)
    eps = 1.1920928955078125e-07 if a.dtype == torch.float32 or a.dtype == torch.complex64 else 2.220446049250313e-16
    lu = lu + torch.diag_embed(torch.where(d == 0, torch.full_like(d, eps), torch.zeros_like(d)))
    return torch.linalg_lu_solve(lu, pivots, torch.diag_embed(factor.unsqueeze(-1).expand(d.size())))


def det_backward(grad: Tensor, det: Tensor, a: Tensor) -> Tensor:
    return scaled_inverse_adjoint(a, grad * det.conj())


def slogdet_backward(grad_sign: Tensor, grad_log: Tensor, sign: Tensor, a: Tensor) -> Tensor:
    if not a.is_complex():
        return scaled_inverse_adjoint(a, grad_log)
    turn = torch.imag(grad_sign.conj() * sign)
    return scaled_inverse_adjoint(a, torch.complex(grad_log, -turn))


# a = p @ l @ u, of whichever shape.
def lu_backward(grad_l: Tensor, grad_u: Tensor, p: Tensor, l: Tensor, u: Tensor) -> Tensor:
    rows = l.size(-2)
    cols = u.size(-1)
    k = l.size(-1)
    l1 = l.narrow(-2, 0, k)
    u1 = u.narrow(-1, 0, k)
    lower = torch.matmul(l1.mH, grad_l.narrow(-2, 0, k))
    upper = torch.matmul(grad_u.narrow(-1, 0, k), u1.mH)
    if cols > k:
        lower = lower - torch.matmul(grad_u.narrow(-1, k, cols - k), u.narrow(-1, k, cols - k).mH)
    if rows > k:
        upper = upper - torch.matmul(l.narrow(-2, k, rows - k).mH, grad_l.narrow(-2, k, rows - k))
    inner = torch.linalg_solve_triangular(u1.mH, lower.tril(-1) + upper.triu(), upper=False, left=False)
    grad = torch.linalg_solve_triangular(l1.mH, inner, upper=True, unitriangular=True)
    if cols > k:
        rest = torch.linalg_solve_triangular(l1.mH, grad_u.narrow(-1, k, cols - k), upper=True, unitriangular=True)
        grad = torch.cat([grad, rest], -1)
    if rows > k:
        rest = torch.linalg_solve_triangular(u1.mH, grad_l.narrow(-2, k, rows - k), upper=False, left=False)
        grad = torch.cat([grad, rest], -2)
    return torch.matmul(p, grad)


def lu_factor_backward(grad: Tensor, lu: Tensor, pivots: Tensor) -> Tensor:
    p, l, u = torch.lu_unpack(lu, pivots)
    k = l.size(-1)
    return lu_backward(grad.narrow(-1, 0, k).tril(-1), grad.narrow(-2, 0, k).triu(), p, l, u)


def lu_unpack_backward(grad_l: Tensor, grad_u: Tensor, lu: Tensor) -> Tensor:
    k = min(lu.size(-2), lu.size(-1))
    below = torch.constant_pad_nd(grad_l.tril(-1), [0, lu.size(-1) - k], 0)
    return below + torch.constant_pad_nd(grad_u.triu(), [0, 0, 0, lu.size(-2) - k], 0)


def lu_solve_factor_backward(grad: Tensor, x: Tensor, lu: Tensor, pivots: Tensor, left: bool, adjoint: bool) -> Tensor:
    grad_b = torch.linalg_lu_solve(lu, pivots, grad, left=left, adjoint=not adjoint)
    if left:
        grad_a = torch.matmul(x, grad_b.mH) if adjoint else torch.matmul(grad_b, x.mH)
    else:
        grad_a = torch.matmul(grad_b.mH, x) if adjoint else torch.matmul(x.mH, grad_b)
    p, l, u = torch.lu_unpack(lu, pivots)
    inner = torch.matmul(p.mH, -grad_a)
    return torch.matmul(inner, u.mH).tril(-1) + torch.matmul(l.mH, inner).triu()


def cholesky_backward(grad: Tensor, factor: Tensor, upper: bool) -> Tensor:
    l = factor.mH if upper else factor
    g = grad.mH if upper else grad
    inner = torch.matmul(l.mH, g)
    middle = (inner.tril() + inner.tril(-1).mH) * 0.5
    half = torch.linalg_solve_triangular(l.mH, middle, upper=True)
    return torch.linalg_solve_triangular(l, half, upper=False, left=False)


def cholesky_inverse_backward(grad: Tensor, factor: Tensor, inverse: Tensor, upper: bool) -> Tensor:
    grad_a = -torch.matmul(inverse, torch.matmul(grad + grad.mH, inverse))
    return torch.matmul(factor, grad_a) if upper else torch.matmul(grad_a, factor)


def cholesky_solve_backward(grad: Tensor, factor: Tensor, x: Tensor, upper: bool) -> Tuple[Tensor, Tensor]:
    grad_b = torch.cholesky_solve(grad, factor, upper)
    grad_a = torch.matmul(grad_b, x.mH)
    grad_a = -(grad_a + grad_a.mH)
    return grad_b, torch.matmul(factor, grad_a) if upper else torch.matmul(grad_a, factor)


def keep_triangle(grad: Tensor, upper: bool, unitriangular: bool) -> Tensor:
    if upper:
        return grad.triu(1 if unitriangular else 0)
    return grad.tril(-1 if unitriangular else 0)


def solve_triangular_backward(grad: Tensor, a: Tensor, x: Tensor, upper: bool, left: bool, unitriangular: bool) -> Tuple[Tensor, Tensor]:
    grad_b = torch.linalg_solve_triangular(a.mH, grad, upper=not upper, left=left, unitriangular=unitriangular)
    grad_a = torch.matmul(grad_b, x.mH) if left else torch.matmul(x.mH, grad_b)
    return keep_triangle(-grad_a, upper, unitriangular), grad_b


def triangular_solve_backward(grad: Tensor, grad_used: Tensor, a: Tensor, x: Tensor, upper: bool, transpose: bool,
                              unitriangular: bool) -> Tuple[Tensor, Tensor]:
    grad_b, used = torch.triangular_solve(grad, a.conj(), upper, not transpose, unitriangular)
    grad_a = torch.matmul(x.conj(), grad_b.transpose(-2, -1)) if transpose else torch.matmul(grad_b, x.mH)
    return grad_b, keep_triangle(-grad_a, upper, unitriangular) + grad_used


def qr_backward(grad_q: Tensor, grad_r: Tensor, q: Tensor, r: Tensor, mode: str) -> Tensor:
    if mode == 'r':
        raise RuntimeError('The derivative of linalg.qr depends on Q, which is not computed when mode=\'r\'. Please use linalg.qr(A, mode=\'reduced\') if you are going to differentiate through linalg.qr')
    rows = q.size(-2)
    cols = r.size(-1)
    if mode == 'complete' and rows > cols:
        raise RuntimeError('The QR decomposition is not differentiable when mode=\'complete\' and nrows > ncols')
    k = q.size(-1)
    r1 = r.narrow(-1, 0, k)
    grad_r1 = grad_r.narrow(-1, 0, k)
    g = grad_q
    if cols > k: # the further columns of R are Q^H times those of A
        g = g + torch.matmul(torch.matmul(q, r.narrow(-1, k, cols - k)), grad_r.narrow(-1, k, cols - k).mH)
    inner = torch.matmul(grad_r1, r1.mH) - torch.matmul(q.mH, g)
    strict = inner.triu(1)
    d = inner.diagonal(0, -2, -1)
    middle = strict + strict.mH + torch.diag_embed(torch.real(d) if d.is_complex() else d)
    grad = torch.linalg_solve_triangular(r1.mH, torch.matmul(q, middle) + g, upper=False, left=False)
    if cols > k:
        grad = torch.cat([grad, torch.matmul(q, grad_r.narrow(-1, k, cols - k))], -1)
    return grad


def lstsq_backward(grad: Tensor, a: Tensor, b: Tensor) -> Tuple[Tensor, Tensor]:
    vector = b.dim() == 1 or (a.dim() - 1 == b.dim() and b.size() == a.size()[:-1])
    g = grad.unsqueeze(-1) if vector else grad
    wide = b.unsqueeze(-1) if vector else b
    inverse = torch.pinverse(a)
    grad_b = torch.matmul(inverse.mH, g)
    return pinv_backward(torch.matmul(g, wide.mH), inverse, a), grad_b.squeeze(-1) if vector else grad_b


# The derivative of a pseudo-inverse of constant rank (Golub and Pereyra).
def pinv_backward(grad: Tensor, inverse: Tensor, a: Tensor) -> Tensor:
    g = grad.mH
    adjoint = inverse.mH
    if a.size(-2) <= a.size(-1):
        k = torch.matmul(g, inverse)
        ka = torch.matmul(k, adjoint)
        return (-torch.matmul(inverse, k).mH + ka - torch.matmul(torch.matmul(a, inverse), ka)
                + torch.matmul(torch.matmul(adjoint, inverse), g - torch.matmul(k, a)))
    k = torch.matmul(inverse, g)
    ak = torch.matmul(adjoint, k)
    return (-torch.matmul(k, inverse).mH + torch.matmul(torch.matmul(g - torch.matmul(a, k), inverse), adjoint)
            + ak - torch.matmul(torch.matmul(ak, inverse), a))


def replace_diagonal(x: Tensor, diagonal: Tensor) -> Tensor:
    return x - torch.diag_embed(x.diagonal(0, -2, -1)) + torch.diag_embed(diagonal)


# s_j - s_i, with ones where that is nothing.
def gaps(s: Tensor) -> Tensor:
    return replace_diagonal(s.unsqueeze(-2) - s.unsqueeze(-1), torch.ones_like(s))


def svd_backward(grad_u: Tensor, grad_s: Tensor, grad_vh: Tensor, a: Tensor, u: Tensor, s: Tensor, vh: Tensor, full_matrices: bool,
                 compute_uv: bool) -> Tensor:
    if not compute_uv:
        left, values, right = torch._linalg_svd(a, False, True)
        return torch.matmul(left * grad_s.unsqueeze(-2).to(a.dtype), right)
    rows = a.size(-2)
    cols = a.size(-1)
    k = s.size(-1)
    left = u.narrow(-1, 0, k)
    right = vh.narrow(-2, 0, k)
    g_left = grad_u.narrow(-1, 0, k)
    g_right = grad_vh.narrow(-2, 0, k)
    turn_u = torch.matmul(left.mH, g_left)
    turn_u = turn_u - turn_u.mH
    turn_v = torch.matmul(right, g_right.mH)
    turn_v = turn_v - turn_v.mH
    between = gaps(s * s)
    inner = turn_u / between * s.unsqueeze(-2) + s.unsqueeze(-1) * (turn_v / between)
    d = grad_s.to(a.dtype)
    if a.is_complex():
        d = d + turn_u.diagonal(0, -2, -1) / (s * 2.0)
    inner = replace_diagonal(inner, d)
    grad = torch.matmul(left, torch.matmul(inner, right))
    if rows > k:
        beyond = torch.matmul(g_left / s.unsqueeze(-2), right)
        grad = grad + beyond - torch.matmul(left, torch.matmul(left.mH, beyond))
    if cols > k:
        beyond = torch.matmul(left, g_right / s.unsqueeze(-1))
        grad = grad + beyond - torch.matmul(torch.matmul(beyond, right.mH), right)
    return grad


def eigh_backward(grad_values: Tensor, grad_vectors: Tensor, a: Tensor, values: Tensor, vectors: Tensor, compute_v: bool) -> Tensor:
    if not compute_v:
        again, v = torch.linalg_eigh(a)
        return torch.matmul(v * grad_values.unsqueeze(-2).to(a.dtype), v.mH)
    inner = torch.matmul(vectors.mH, grad_vectors) / gaps(values)
    grad = torch.matmul(vectors, torch.matmul(replace_diagonal(inner, grad_values.to(a.dtype)), vectors.mH))
    return (grad + grad.mH) * 0.5


def eig_backward(grad_values: Tensor, grad_vectors: Tensor, a: Tensor, values: Tensor, vectors: Tensor) -> Tensor:
    adjoint = vectors.mH
    inner = torch.matmul(adjoint, grad_vectors)
    lengths = torch.real(inner.diagonal(0, -2, -1)).unsqueeze(-2)
    inner = (inner - torch.matmul(adjoint, vectors * lengths)) / gaps(values).conj()
    grad = torch.linalg_solve(adjoint, torch.matmul(replace_diagonal(inner, grad_values), adjoint))
    return grad if a.is_complex() else torch.real(grad)


# The product of reflections 1 - t v v^H, taken back one by one.
# With Q, the square product of the reflections: of Q x, x Q, and the same with its adjoint.
def ormqr_backward(grad: Tensor, a: Tensor, tau: Tensor, x: Tensor, left: bool, transpose: bool) -> Tuple[Tensor, Tensor, Tensor]:
    batch = a.size()[:-1]
    count = tau.size(-1)
    square = torch.cat([a.narrow(-1, 0, count), torch.zeros(batch + [a.size(-2) - count], dtype=a.dtype, device=a.device)], -1)
    q = torch.linalg_householder_product(square, tau)
    if left:
        for_q = torch.matmul(x, grad.mH) if transpose else torch.matmul(grad, x.mH)
    else:
        for_q = torch.matmul(grad.mH, x) if transpose else torch.matmul(x.mH, grad)
    for_square, for_tau = householder_product_backward(for_q, q, square, tau)
    rest = torch.zeros(batch + [a.size(-1) - count], dtype=a.dtype, device=a.device)
    return torch.cat([for_square.narrow(-1, 0, count), rest], -1), for_tau, torch.ormqr(a, tau, grad, left, not transpose)


def householder_product_backward(grad: Tensor, result: Tensor, a: Tensor, tau: Tensor) -> Tuple[Tensor, Tensor]:
    rows = a.size(-2)
    count = tau.size(-1)
    unit = torch.eye(rows, dtype=a.dtype)
    below = a.tril(-1)
    vectors: List[Tensor] = []
    rest: List[Tensor] = [unit.narrow(1, 0, a.size(-1)).expand(a.size())]
    for k in range(count):
        i = count - 1 - k
        v = below.narrow(-1, i, 1) + unit.narrow(1, i, 1)
        vectors.append(v)
        after = rest[-1]
        rest.append(after - torch.matmul(tau.narrow(-1, i, 1).unsqueeze(-1) * v, torch.matmul(v.mH, after)))
    g = grad
    columns: List[Tensor] = []
    taus: List[Tensor] = []
    for i in range(count):
        v = vectors[count - 1 - i]
        t = tau.narrow(-1, i, 1).unsqueeze(-1)
        by_reflection = torch.matmul(g, rest[count - 1 - i].mH)
        forward = torch.matmul(by_reflection, v)
        taus.append(-torch.matmul(v.mH, forward).squeeze(-1))
        columns.append(-(t.conj() * forward + t * torch.matmul(by_reflection.mH, v)))
        g = g - torch.matmul(t.conj() * v, torch.matmul(v.mH, g))
    if count == 0:
        return torch.zeros_like(a), torch.zeros_like(tau)
    grad_a = torch.cat(columns, -1).tril(-1)
    return torch.constant_pad_nd(grad_a, [0, a.size(-1) - count], 0), torch.cat(taus, -1)


# ---- Fourier transforms ----

def fft_r2c_backward(grad: Tensor, dim: List[int], normalization: int, onesided: bool, points: int) -> Tensor:
    g = grad
    if onesided: # what was left out counts as nothing
        last = dim[-1] if dim[-1] >= 0 else dim[-1] + grad.dim()
        pads: List[int] = []
        for k in range(2 * (grad.dim() - last) - 1):
            pads.append(0)
        pads.append(points - grad.size(last))
        g = torch.constant_pad_nd(grad, pads, 0)
    return torch.real(torch._fft_c2c(g, dim, normalization, False))


# The middle of a half signal stands for two elements of the whole.
def fft_c2r_backward(grad: Tensor, dim: List[int], normalization: int, size: int) -> Tensor:
    half = torch._fft_r2c(grad, dim, normalization, True)
    last = dim[-1] if dim[-1] >= 0 else dim[-1] + grad.dim()
    doubled = grad.size(last) - half.size(last)
    if doubled > 0:
        ends = half.size(last) - 1 - doubled
        parts = [half.narrow(last, 0, 1), half.narrow(last, 1, doubled) * 2.0]
        if ends > 0:
            parts.append(half.narrow(last, 1 + doubled, ends))
        half = torch.cat(parts, last)
    if size > half.size(last):
        pads: List[int] = []
        for k in range(2 * (grad.dim() - last) - 1):
            pads.append(0)
        pads.append(size - half.size(last))
        half = torch.constant_pad_nd(half, pads, 0)
    return half


# Gradients of fake quantization with learned scale and zero point: S. Esser et al., "Learned Step Size Quantization" (2020),
# extended to zero points as in S. Jain et al., "Trained Quantization Thresholds" (2020).
def learnable_terms(grad: Tensor, self: Tensor, scale: Tensor, zero_point: Tensor, quant_min: int, quant_max: int,
                    grad_factor: float) -> Tuple[Tensor, Tensor, Tensor]:
    whole = (self / scale).round() + zero_point
    limited = whole.clamp(quant_min, quant_max)
    inside = (whole == limited).to(self.dtype)
    rounded = (limited - zero_point) * scale
    by_scale = inside * (rounded - self) / scale + (1 - inside) * (limited - zero_point)
    return grad * inside, grad * by_scale * grad_factor, grad * (inside - 1) * scale * grad_factor


def learnable_per_tensor_backward(grad: Tensor, self: Tensor, scale: Tensor, zero_point: Tensor, quant_min: int, quant_max: int,
                                  grad_factor: float) -> Tuple[Tensor, Tensor, Tensor]:
    z = zero_point.round().clamp(quant_min, quant_max)
    x, s, zero = learnable_terms(grad, self, scale, z, quant_min, quant_max, grad_factor)
    return x, s.sum().unsqueeze(0), zero.sum().unsqueeze(0)


def learnable_per_channel_backward(grad: Tensor, self: Tensor, scale: Tensor, zero_point: Tensor, axis: int, quant_min: int,
                                   quant_max: int, grad_factor: float) -> Tuple[Tensor, Tensor, Tensor]:
    shape = [1 for _ in range(self.dim())]
    shape[axis] = -1
    z = zero_point.round().clamp(quant_min, quant_max).view(shape)
    x, s, zero = learnable_terms(grad, self, scale.view(shape), z, quant_min, quant_max, grad_factor)
    others = [d for d in range(self.dim()) if d != axis]
    return x, s.sum(others), zero.sum(others)
