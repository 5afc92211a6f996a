/* Linear algebra that is made of other operators: norms, pseudo-inverses, ranks, exponentials, products. The functions
 * that bodies call by bare names stand in prelude/operators.py, those of gradients in prelude/gradients.py. */
#include "call/row.h"

#define BODY(text, ...) \
  { .schema = text, .body = __VA_ARGS__ }
#define BODY_OUT(text, ...) \
  { .schema = text, .flags = OP_OUT, .body = __VA_ARGS__ }

static const OpRow rows[] = {
    /* ---- norms ---- */
    BODY_OUT("aten::linalg_matrix_norm(Tensor self, Scalar ord, int[] dim=[-2, -1], bool keepdim=False, *, ScalarType? "
             "dtype=None) -> Tensor",
             "return matrix_norm(self, float(ord), dim, keepdim, dtype)"),
    BODY_OUT("aten::linalg_matrix_norm.str_ord(Tensor self, str ord=\"fro\", int[] dim=[-2, -1], bool keepdim=False, "
             "*, ScalarType? dtype=None) -> Tensor",
             "return matrix_norm_named(self, ord, dim, keepdim, dtype)"),
    BODY_OUT("aten::linalg_norm(Tensor self, Scalar? ord=None, int[1]? dim=None, bool keepdim=False, *, ScalarType? "
             "dtype=None) -> Tensor",
             "if dim is not None:\n"
             "    if len(dim) != 1 and len(dim) != 2:\n"
             "        raise RuntimeError('linalg.norm: If dim is specified, it must be of length 1 or 2. Got "
             "{}'.format(dim))\n"
             "elif ord is not None:\n"
             "    if self.dim() != 1 and self.dim() != 2:\n"
             "        raise RuntimeError('linalg.norm: If dim is not specified but ord is, the input must be 1D or 2D. "
             "Got {}D.'.format(self.dim()))\n"
             "if ord is not None:\n"
             "    if dim is not None:\n"
             "        if len(dim) == 2:\n"
             "            return matrix_norm(self, float(ord), dim, keepdim, dtype)\n"
             "    elif self.dim() == 2:\n"
             "        return matrix_norm(self, float(ord), [0, 1], keepdim, dtype)\n"
             "    return torch.linalg_vector_norm(self, ord, dim, keepdim, dtype=dtype)\n"
             "return torch.linalg_vector_norm(self, 2, dim, keepdim, dtype=dtype)"),
    BODY_OUT("aten::linalg_norm.ord_str(Tensor self, str ord, int[1]? dim=None, bool keepdim=False, *, ScalarType? "
             "dtype=None) -> Tensor",
             "if dim is not None:\n"
             "    if len(dim) != 1 and len(dim) != 2:\n"
             "        raise RuntimeError('linalg.norm: If dim is specified, it must be of length 1 or 2. Got "
             "{}'.format(dim))\n"
             "    return matrix_norm_named(self, ord, dim, keepdim, dtype)\n"
             "if self.dim() != 1 and self.dim() != 2:\n"
             "    raise RuntimeError('linalg.norm: If dim is not specified but ord is, the input must be 1D or 2D. Got "
             "{}D.'.format(self.dim()))\n"
             "return matrix_norm_named(self, ord, [0, 1], keepdim, dtype)"),
    BODY_OUT("aten::nuclear_norm(Tensor self, bool keepdim=False) -> Tensor",
             "if self.dim() != 2:\n"
             "    raise RuntimeError('Expected a tensor with 2 dimensions, but got a tensor with {} dimensions "
             "instead.'.format(self.dim()))\n"
             "return matrix_norm_named(self, 'nuc', [0, 1], keepdim, None)",
             .cast = CAST_FULL),
    BODY_OUT("aten::nuclear_norm.dim(Tensor self, int[2] dim, bool keepdim=False) -> Tensor",
             "if len(dim) != 2:\n"
             "    raise RuntimeError('nuclear norm requires a \\'dim\\' argument of size 2')\n"
             "return matrix_norm_named(self, 'nuc', dim, keepdim, None)",
             .cast = CAST_FULL),
    BODY_OUT("aten::linalg_cond(Tensor self, Scalar? p=None) -> Tensor",
             "order = 2.0\n"
             "if p is not None:\n"
             "    order = float(p)\n"
             "return condition_number(self, order)"),
    BODY_OUT("aten::linalg_cond.p_str(Tensor self, str p) -> Tensor", "return condition_number_named(self, p)"),

    /* ---- ranks and pseudo-inverses ---- */
    BODY_OUT("aten::linalg_matrix_rank.atol_rtol_tensor(Tensor input, *, Tensor? atol=None, Tensor? rtol=None, bool "
             "hermitian=False) -> Tensor",
             "return matrix_rank(input, atol, rtol, hermitian)"),
    BODY_OUT("aten::linalg_matrix_rank.atol_rtol_float(Tensor self, *, float? atol=None, float? rtol=None, bool "
             "hermitian=False) -> Tensor",
             "return matrix_rank(self, tolerance(self, atol), tolerance(self, rtol), hermitian)"),
    BODY_OUT("aten::linalg_matrix_rank(Tensor self, float tol, bool hermitian=False) -> Tensor",
             "return matrix_rank(self, tolerance(self, tol), tolerance(self, 0.0), hermitian)"),
    BODY_OUT("aten::linalg_matrix_rank.tol_tensor(Tensor input, Tensor tol, bool hermitian=False) -> Tensor",
             "return matrix_rank(input, tol, torch.zeros_like(tol), hermitian)", .out = "out_tol_tensor"),
    {.schema = "aten::linalg_pinv.atol_rtol_tensor(Tensor self, *, Tensor? atol=None, Tensor? rtol=None, bool "
               "hermitian=False) -> Tensor",
     .flags = OP_OUT,
     .body = "return pseudo_inverse(self, atol, rtol, hermitian)",
     .grad = "self: pinv_backward(grad, result, self)"},
    {.schema = "aten::linalg_pinv.atol_rtol_float(Tensor self, *, float? atol=None, float? rtol=None, bool "
               "hermitian=False) -> Tensor",
     .flags = OP_OUT,
     .body = "return pseudo_inverse(self, tolerance(self, atol), tolerance(self, rtol), hermitian)",
     .grad = "self: pinv_backward(grad, result, self)"},
    {.schema = "aten::linalg_pinv(Tensor self, float rcond, bool hermitian=False) -> Tensor",
     .flags = OP_OUT,
     .body = "return pseudo_inverse(self, tolerance(self, 0.0), tolerance(self, rcond), hermitian)",
     .grad = "self: pinv_backward(grad, result, self)"},
    {.schema = "aten::linalg_pinv.rcond_tensor(Tensor self, Tensor rcond, bool hermitian=False) -> Tensor",
     .out = "out_rcond_tensor",
     .flags = OP_OUT,
     .body = "return pseudo_inverse(self, torch.zeros_like(rcond), rcond, hermitian)",
     .grad = "self: pinv_backward(grad, result, self)"},
    {.schema = "aten::pinverse(Tensor self, float rcond=1.0000000000000001e-15) -> Tensor",
     .body = "return pseudo_inverse(self, tolerance(self, 0.0), tolerance(self, rcond), False)",
     .grad = "self: pinv_backward(grad, result, self)"},

    /* ---- Hermitian roots, and a unitary matrix times one ---- */
    {.schema = "aten::linalg_matrix_sqrth(Tensor self) -> Tensor",
     .flags = OP_OUT,
     .body = "values, vectors = torch.linalg_eigh(self, 'L')\n"
             "return torch.matmul(vectors * values.sqrt().unsqueeze(-2), vectors.mH)"},
    {.schema = "aten::linalg_polar(Tensor A) -> (Tensor U, Tensor H)",
     .body = "w, s, vh = torch.linalg_svd(A, False)\n"
             "return torch.matmul(w, vh), torch.matmul(vh.mH * s.unsqueeze(-2), vh)"},

    /* ---- exponentials ---- */
    {.schema = "aten::linalg_matrix_exp(Tensor self) -> Tensor",
     .flags = OP_OUT,
     .body = "return exponential_of_matrices(self)",
     .grad = "self: torch.matrix_exp_backward(self, grad)"},
    BODY("aten::matrix_exp(Tensor self) -> Tensor", "return torch.linalg_matrix_exp(self)",
         .same_as = "aten::linalg_matrix_exp"),
    /* The derivative stands in a corner of the exponential of [[A^H, G], [0, A^H]]. */
    BODY("aten::matrix_exp_backward(Tensor self, Tensor grad) -> Tensor",
         "n = self.size(-1)\n"
         "a = self.mH\n"
         "above = torch.cat([a, grad], -1)\n"
         "below = torch.cat([torch.zeros_like(a), a], -1)\n"
         "return torch.linalg_matrix_exp(torch.cat([above, below], -2)).narrow(-2, 0, n).narrow(-1, n, n)"),

    /* ---- tensors as matrices ---- */
    BODY_OUT("aten::linalg_tensorinv(Tensor self, int ind=2) -> Tensor",
             "if ind <= 0:\n"
             "    raise RuntimeError('Expected a strictly positive integer for \\'ind\\', but got {}'.format(ind))\n"
             "first = self.size()[:ind]\n"
             "rest = self.size()[ind:]\n"
             "rows = product_of(first)\n"
             "cols = product_of(rest)\n"
             "if rows != cols:\n"
             "    raise RuntimeError('Expected self to satisfy the requirement prod(self.shape[ind:]) == "
             "prod(self.shape[:ind]), but got {} != {}'.format(cols, rows))\n"
             "return torch.linalg_inv(self.reshape([rows, cols])).reshape(rest + first)"),
    BODY_OUT("aten::linalg_tensorsolve(Tensor self, Tensor other, int[]? dims=None) -> Tensor",
             "a = self\n"
             "if dims is not None:\n"
             "    places: List[int] = []\n"
             "    for k in range(len(dims)):\n"
             "        places.append(self.dim() - len(dims) + k)\n"
             "    a = self.movedim(dims, places)\n"
             "rest = a.size()[other.dim():]\n"
             "rows = product_of(a.size()[:other.dim()])\n"
             "cols = product_of(rest)\n"
             "if rows != cols:\n"
             "    raise RuntimeError('Expected self to satisfy the requirement prod(self.shape[other.ndim:]) == "
             "prod(self.shape[:other.ndim]), but got {} != {}'.format(cols, rows))\n"
             "return torch.linalg_solve(a.reshape([rows, cols]), other.flatten()).reshape(rest)"),

    /* ---- vectors ---- */
    BODY_OUT("aten::linalg_cross(Tensor self, Tensor other, *, int dim=-1) -> Tensor",
             "if self.dim() != other.dim():\n"
             "    raise RuntimeError('linalg.cross: inputs must have the same number of dimensions.')\n"
             "if self.size(dim) != 3 or other.size(dim) != 3:\n"
             "    raise RuntimeError('linalg.cross: inputs dimension {} must have length 3. Got {} and {}'.format(dim, "
             "self.size(dim), other.size(dim)))\n"
             "if self.dtype != other.dtype:\n"
             "    raise RuntimeError('expected scalar type {} but found {}'.format(scalar_type_name(self), "
             "scalar_type_name(other)))\n"
             "a = self.contiguous()\n"
             "b = other.contiguous()\n"
             "return a.roll(-1, dim) * b.roll(-2, dim) - a.roll(-2, dim) * b.roll(-1, dim)"),
    BODY_OUT("aten::cross(Tensor self, Tensor other, int? dim=None) -> Tensor",
             "along = -1\n"
             "if dim is not None:\n"
             "    along = dim\n"
             "else:\n"
             "    for d in range(self.dim()):\n"
             "        if along < 0 and self.size(d) == 3:\n"
             "            along = d\n"
             "    if along < 0:\n"
             "        raise RuntimeError('no dimension of size 3 in input')\n"
             "return torch.linalg_cross(self, other, dim=along)",
             .cast = CAST_WIDEST),
    BODY("aten::linalg_vander(Tensor x, *, int? N=None) -> Tensor",
         "if x.dtype == torch.bool:\n"
         "    raise RuntimeError('linalg.vander supports floating point, complex, and integer tensors, but got Bool')\n"
         "values = x.reshape([1]) if x.dim() == 0 else x\n"
         "n = values.size(-1)\n"
         "if N is not None:\n"
         "    n = N\n"
         "if n <= 1:\n"
         "    raise RuntimeError('N must be greater than 1.')\n"
         "powers = values.unsqueeze(-1).expand(values.size() + [n - 1]).cumprod(-1)\n"
         "return torch.cat([torch.ones_like(powers.narrow(-1, 0, 1)), powers], -1)"),
};
OP_TABLE(op_table_linalg_ops, rows);
