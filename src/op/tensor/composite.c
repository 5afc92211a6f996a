/* Rows that are short compositions of other operators, of no family of their own. */
#include "call/row.h"

#define COMPOSITE(text, body_, ...) \
  { .schema = text, .body = body_, __VA_ARGS__ }
#define GIVING_ARGUMENT(text, body_) \
  { .schema = text, .body = body_, .flags = OP_RETURNS_ARGUMENT }
#define NO_GRAD(text, write) \
  { .schema = text, .body = "with torch.no_grad():\n    " write "\nreturn tensor", .flags = OP_RETURNS_ARGUMENT }
#define GRADIENT_AXES                      \
  "axes: List[int] = []\n"                 \
  "if dim is None:\n"                      \
  "    axes = same_sequence(self.dim())\n" \
  "else:\n"                                \
  "    axes = [dim]\n"
static const OpRow rows[] = {
    COMPOSITE("aten::allclose(Tensor self, Tensor other, float rtol=1.0000000000000001e-05, float atol=1e-08, bool "
              "equal_nan=False) -> bool",
              "return bool(torch.isclose(self, other, rtol, atol, equal_nan).all())"),
    {.schema = "aten::nanmean(Tensor self, int[1]? dim=None, bool keepdim=False, *, ScalarType? dtype=None) -> Tensor",
     .body = "if not (self.is_floating_point() or self.is_complex()):\n"
             "    raise RuntimeError('nanmean(): expected input to have floating point or complex dtype')\n"
             "return torch.nansum(self, dim, keepdim, dtype=dtype) / torch.logical_not(torch.isnan(self)).sum(dim, "
             "keepdim)",
     .flags = OP_OUT},
    COMPOSITE(
        "aten::embedding_renorm_(Tensor(a!) self, Tensor indices, float max_norm, float norm_type) -> Tensor(a!)",
        "places = torch._unique(indices.reshape([-1]))[0]\n"
        "rows = self.index_select(0, places)\n"
        "norms = rows.norm(norm_type, [1], True)\n"
        "return self.index_put_([places], torch.where(norms > max_norm, rows * (max_norm / (norms + 1e-7)), rows))"),
    COMPOSITE("aten::embedding_renorm(Tensor self, Tensor indices, float max_norm, float norm_type) -> Tensor",
              "return torch.embedding_renorm_(self.clone(), indices, max_norm, norm_type)"),
    NO_GRAD("aten::_no_grad_fill_(Tensor(a!) tensor, float val) -> Tensor(a!)", "tensor.fill_(val)"),
    NO_GRAD("aten::_no_grad_zero_(Tensor(a!) tensor) -> Tensor(a!)", "tensor.zero_()"),
    NO_GRAD("aten::_no_grad_uniform_(Tensor(a!) tensor, float a, float b) -> Tensor(a!)", "tensor.uniform_(a, b)"),
    NO_GRAD("aten::_no_grad_normal_(Tensor(a!) tensor, float mean, float std) -> Tensor(a!)",
            "tensor.normal_(mean, std)"),
    /* The schema is PyTorch's. It hides the write, so that a call whose result is not used is dead code there and here.
     */
    GIVING_ARGUMENT(
        "aten::_no_grad_embedding_renorm_(Tensor weight, Tensor input, float max_norm, float norm_type) -> Tensor",
        "with torch.no_grad():\n"
        "    weight.embedding_renorm_(input, max_norm, norm_type)\n"
        "return weight"),
    COMPOSITE("aten::norm_except_dim(Tensor v, int pow=2, int dim=0) -> Tensor", "return norm_but(v, pow, dim)"),
    COMPOSITE("aten::_weight_norm(Tensor v, Tensor g, int dim=0) -> Tensor", "return v * (g / norm_but(v, 2, dim))"),
    COMPOSITE("aten::trapezoid.dx(Tensor y, *, Scalar dx=1, int dim=-1) -> Tensor",
              "n = y.size(dim)\n"
              "if y.dtype == torch.bool:\n"
              "    raise RuntimeError('trapezoid: received a bool input for `y`, but bool is not supported')\n"
              "if n == 0:\n"
              "    return y.sum([dim]) * 0.\n"
              "total = y.sum([dim]) - (y.select(dim, 0) + y.select(dim, -1)) * 0.5\n"
              "return total * dx"),
    COMPOSITE("aten::trapezoid.x(Tensor y, Tensor x, *, int dim=-1) -> Tensor",
              "return trapezoid_terms(y, x, dim).sum([dim])"),
    COMPOSITE("aten::trapz.dx(Tensor y, *, float dx=1., int dim=-1) -> Tensor",
              "return torch.trapezoid(y, dx=dx, dim=dim)"),
    COMPOSITE("aten::trapz.x(Tensor y, Tensor x, *, int dim=-1) -> Tensor", "return torch.trapezoid(y, x, dim=dim)"),
    COMPOSITE("aten::cumulative_trapezoid.dx(Tensor y, *, Scalar dx=1, int dim=-1) -> Tensor",
              "if y.dtype == torch.bool:\n"
              "    raise RuntimeError('cumulative_trapezoid: received a bool input for `y`, but bool is not "
              "supported')\n"
              "n = max(y.size(dim) - 1, 0)\n"
              "return (y.slice(dim, 0, n) + y.slice(dim, 1)).cumsum(dim) * (dx / 2.)"),
    COMPOSITE("aten::cumulative_trapezoid.x(Tensor y, Tensor x, *, int dim=-1) -> Tensor",
              "return trapezoid_terms(y, x, dim).cumsum(dim)"),
    COMPOSITE(
        "aten::gradient.scalarint(Tensor self, *, Scalar? spacing=None, int? dim=None, int edge_order=1) -> Tensor[]",
        GRADIENT_AXES
        "return gradients_even(self, axes, [1. if spacing is None else float(spacing) for _ in axes], edge_order)"),
    COMPOSITE("aten::gradient.scalararray(Tensor self, *, Scalar spacing, int[] dim, int edge_order=1) -> Tensor[]",
              "return gradients_even(self, dim, [float(spacing) for _ in dim], edge_order)"),
    COMPOSITE("aten::gradient.array(Tensor self, *, int[] dim, int edge_order=1) -> Tensor[]",
              "return gradients_even(self, dim, [1. for _ in dim], edge_order)"),
    COMPOSITE(
        "aten::gradient.scalarrayint(Tensor self, *, Scalar[] spacing, int? dim=None, int edge_order=1) -> Tensor[]",
        GRADIENT_AXES "return gradients_even(self, axes, [float(s) for s in spacing], edge_order)"),
    COMPOSITE(
        "aten::gradient.scalarrayarray(Tensor self, *, Scalar[] spacing, int[] dim, int edge_order=1) -> Tensor[]",
        "return gradients_even(self, dim, [float(s) for s in spacing], edge_order)"),
    COMPOSITE(
        "aten::gradient.tensorarrayint(Tensor self, *, Tensor[] spacing, int? dim=None, int edge_order=1) -> Tensor[]",
        GRADIENT_AXES "return gradients_uneven(self, axes, spacing, edge_order)"),
    COMPOSITE("aten::gradient.tensorarray(Tensor self, *, Tensor[] spacing, int[] dim, int edge_order=1) -> Tensor[]",
              "return gradients_uneven(self, dim, spacing, edge_order)"),
    COMPOSITE("aten::max_unpool2d(Tensor self, Tensor indices, int[2] output_size) -> Tensor",
              "return unpool(self, indices, output_size)", .dtypes = "max_unpool2d: floating"),
    COMPOSITE(
        "aten::max_unpool3d(Tensor self, Tensor indices, int[3] output_size, int[3] stride, int[3] padding) -> Tensor",
        "return unpool(self, indices, output_size)", .dtypes = "max_unpool3d: floating"),
    COMPOSITE("aten::affine_grid_generator(Tensor theta, int[] size, bool align_corners) -> Tensor",
              "spatial = len(size) - 2\n"
              "axes: List[Tensor] = []\n"
              "for d in range(spatial):\n"
              "    n = size[len(size) - 1 - d]\n"
              "    line = torch.linspace(-1., 1., n, dtype=theta.dtype, device=theta.device) if n > 1 else "
              "torch.zeros([n], dtype=theta.dtype, device=theta.device)\n"
              "    if not align_corners:\n"
              "        line = line * (n - 1) / n\n"
              "    shape = [1 for _ in range(spatial)]\n"
              "    shape[spatial - 1 - d] = n\n"
              "    axes.append(line.view(shape).expand(size[2:]))\n"
              "axes.append(torch.ones(size[2:], dtype=theta.dtype, device=theta.device))\n"
              "base = torch.stack(axes, -1).view([1, -1, spatial + 1]).expand([size[0], -1, spatial + 1])\n"
              "return base.bmm(theta.transpose(1, 2)).view([size[0]] + size[2:] + [spatial])"),
    COMPOSITE("aten::segment_reduce(Tensor data, str reduce, *, Tensor? lengths=None, Tensor? indices=None, Tensor? "
              "offsets=None, int axis=0, bool unsafe=False, Scalar? initial=None) -> Tensor",
              "return segments_of(data, reduce, lengths, offsets, axis, unsafe, initial)"),
    GIVING_ARGUMENT(
        "aten::_test_optional_intlist(Tensor values, int[]? addends) -> Tensor",
        "if addends is None:\n    return values\nreturn values + torch.tensor(addends, dtype=values.dtype)"),
    GIVING_ARGUMENT(
        "aten::_test_optional_filled_intlist(Tensor values, int[2]? addends) -> Tensor",
        "if addends is None:\n    return values\nreturn values + torch.tensor(addends, dtype=values.dtype)"),
    GIVING_ARGUMENT(
        "aten::_test_optional_floatlist(Tensor values, float[]? addends) -> Tensor",
        "if addends is None:\n    return values\nreturn values + torch.tensor(addends, dtype=values.dtype)"),
    COMPOSITE("aten::_test_serialization_subcmul(Tensor self, Tensor other, Scalar alpha=1) -> Tensor",
              "return self - other * alpha"),
};
OP_TABLE(op_table_composite, rows);
