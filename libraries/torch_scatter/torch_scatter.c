/* torch_scatter: reductions over the nodes of graphs (https://github.com/rusty1s/pytorch_scatter has the operators'
 * meanings). What archives name is written in TorchScript over a few kernels, whose names begin with _, so that
 * gradients follow from theirs. A tensor given as `out` is reduced into, as there, and written. */
#include "kit/kit.h"
#include "torch_scatter/operators.h"
#include "torch_scatter/reduce.h"

static Reduction sum = REDUCE_SUM, mul = REDUCE_MUL, mean = REDUCE_MEAN, min = REDUCE_MIN, max = REDUCE_MAX;

#define SCATTER "Tensor src, Tensor index, int dim, Tensor(a!)? out=None, int? dim_size=None"
#define SCATTER_KERNEL "Tensor src, Tensor index, int dim, Tensor? out, int? dim_size"
#define SEGMENT_CSR "Tensor src, Tensor indptr, Tensor(a!)? out=None"
#define SEGMENT_COO "Tensor src, Tensor index, Tensor(a!)? out=None, int? dim_size=None"
#define PLACE(dim) "src: torch.ops.torch_scatter._place(grad, results[1], src.size(), " dim ")"
/* what is given as `out` becomes the result */
#define INTO_OUT      \
  "if out is None:\n" \
  "  return result\n" \
  "return out.copy_(result)\n"
#define PAIR_INTO_OUT           \
  "if out is None:\n"           \
  "  return result, position\n" \
  "return out.copy_(result), position\n"

#define SCATTER_BODY(name)                                     \
  "at = torch.ops.torch_scatter._broadcast(index, src, dim)\n" \
  "result = torch.ops.torch_scatter._scatter_" name "(src, at, dim, out, dim_size)\n" INTO_OUT
#define SCATTER_PAIR_BODY(name)                                \
  "at = torch.ops.torch_scatter._broadcast(index, src, dim)\n" \
  "result, position = torch.ops.torch_scatter._scatter_" name "(src, at, dim, out, dim_size)\n" PAIR_INTO_OUT
#define MEAN_BODY(rounding)                                                                 \
  "at = torch.ops.torch_scatter._broadcast(index, src, dim)\n"                              \
  "total = torch.ops.torch_scatter._scatter_sum(src, at, dim, out, dim_size)\n"             \
  "d = dim if dim >= 0 else dim + src.dim()\n"                                              \
  "ones = torch.ones(index.size(), dtype=src.dtype)\n"                                      \
  "along = index.dim() - 1 if index.dim() <= d else d\n"                                    \
  "count = torch.ops.torch_scatter._scatter_sum(ones, index, along, None, total.size(d))\n" \
  "count = torch.ops.torch_scatter._broadcast(torch.clamp(count, 1), total, d)\n"           \
  "if total.is_floating_point():\n"                                                         \
  "  result = total / count\n"                                                              \
  "else:\n"                                                                                 \
  "  result = torch.div(total, count, rounding_mode=\"" rounding "\")\n" INTO_OUT

/* the index as segment_coo's scatter takes it */
#define COO_INDEX                                  \
  "torch.ops.torch_scatter._check_sorted(index)\n" \
  "sizes = src.size()[:index.dim()]\n"             \
  "index = index.expand(sizes)\n"
#define COO_BODY(name) \
  COO_INDEX "return torch.ops.torch_scatter.scatter_" name "(src, index, index.dim() - 1, out, dim_size)\n"
#define CSR_BODY(name) "result = torch.ops.torch_scatter._segment_" name "_csr(src, indptr)\n" INTO_OUT
#define CSR_PAIR_BODY(name) \
  "result, position = torch.ops.torch_scatter._segment_" name "_csr(src, indptr)\n" PAIR_INTO_OUT

static const wick_operator operators[] = {
    OPERATOR("torch_scatter::cuda_version() -> int", .kernel = kernel_cuda_version),

    /* an index of one dimension counts along dim, others begin with src's first; the rest is repeated */
    OPERATOR("torch_scatter::_broadcast(Tensor index, Tensor src, int dim) -> Tensor",
             .body = "d = dim if dim >= 0 else dim + src.dim()\n"
                     "if index.dim() == 1:\n"
                     "  for i in range(d):\n"
                     "    index = index.unsqueeze(0)\n"
                     "for i in range(index.dim(), src.dim()):\n"
                     "  index = index.unsqueeze(-1)\n"
                     "return index.expand(src.size())\n"),
    /* gradients at positions, of sizes[dim] where there was none */
    OPERATOR("torch_scatter::_place(Tensor grad, Tensor position, int[] sizes, int dim) -> Tensor",
             .body = "d = dim if dim >= 0 else dim + len(sizes)\n"
                     "longer = sizes[:d] + [sizes[d] + 1] + sizes[d + 1:]\n"
                     "placed = torch.zeros(longer, dtype=grad.dtype).scatter(d, position, grad)\n"
                     "return placed.narrow(d, 0, sizes[d])\n"),
    OPERATOR("torch_scatter::_check_sorted(Tensor index) -> ()", .kernel = kernel_check_sorted,
             .flags = WICK_OPERATOR_SIDE_EFFECTS),

    OPERATOR("torch_scatter::_scatter_sum(" SCATTER_KERNEL ") -> Tensor", .kernel = kernel_scatter, .user = &sum,
             .gradient = "src: torch.gather(grad, dim, index)"),
    OPERATOR("torch_scatter::_scatter_mul(" SCATTER_KERNEL ") -> Tensor", .kernel = kernel_scatter, .user = &mul,
             .gradient = "src: torch.nan_to_num(torch.gather(grad * result, dim, index) / src, 0.0, float('inf'), "
                         "-float('inf'))"),
    OPERATOR("torch_scatter::_scatter_min(" SCATTER_KERNEL ") -> (Tensor, Tensor)", .kernel = kernel_scatter,
             .user = &min, .gradient = PLACE("dim")),
    OPERATOR("torch_scatter::_scatter_max(" SCATTER_KERNEL ") -> (Tensor, Tensor)", .kernel = kernel_scatter,
             .user = &max, .gradient = PLACE("dim")),
    OPERATOR("torch_scatter::scatter_sum(" SCATTER ") -> Tensor", .body = SCATTER_BODY("sum")),
    OPERATOR("torch_scatter::scatter_mul(" SCATTER ") -> Tensor", .body = SCATTER_BODY("mul")),
    OPERATOR("torch_scatter::scatter_mean(" SCATTER ") -> Tensor", .body = MEAN_BODY("floor")),
    OPERATOR("torch_scatter::scatter_min(" SCATTER ") -> (Tensor, Tensor)", .body = SCATTER_PAIR_BODY("min")),
    OPERATOR("torch_scatter::scatter_max(" SCATTER ") -> (Tensor, Tensor)", .body = SCATTER_PAIR_BODY("max")),

    OPERATOR("torch_scatter::segment_sum_coo(" SEGMENT_COO ") -> Tensor", .body = COO_BODY("sum")),
    OPERATOR("torch_scatter::segment_mean_coo(" SEGMENT_COO ") -> Tensor",
             .body = COO_INDEX "dim = index.dim() - 1\n" MEAN_BODY("trunc")),
    OPERATOR("torch_scatter::segment_min_coo(" SEGMENT_COO ") -> (Tensor, Tensor)", .body = COO_BODY("min")),
    OPERATOR("torch_scatter::segment_max_coo(" SEGMENT_COO ") -> (Tensor, Tensor)", .body = COO_BODY("max")),
    OPERATOR("torch_scatter::gather_coo(Tensor src, Tensor index, Tensor(a!)? out=None) -> Tensor",
             .body =
                 "torch.ops.torch_scatter._check_sorted(index)\n"
                 "d = index.dim() - 1\n"
                 "for i in range(index.dim(), src.dim()):\n"
                 "  index = index.unsqueeze(-1)\n"
                 "sizes = src.size()\n"
                 "result = torch.gather(src, d, index.expand(sizes[:d] + [index.size(d)] + sizes[d + 1:]))\n" INTO_OUT),

    OPERATOR("torch_scatter::_segment_sum_csr(Tensor src, Tensor indptr) -> Tensor", .kernel = kernel_segment_csr,
             .user = &sum,
             .gradient = "src: torch.ops.torch_scatter._gather_csr(grad, indptr, src.size(indptr.dim() - 1))"),
    OPERATOR("torch_scatter::_segment_mean_csr(Tensor src, Tensor indptr) -> Tensor", .kernel = kernel_segment_csr,
             .user = &mean,
             .gradient =
                 "src: torch.ops.torch_scatter._segment_mean_csr_backward(grad, indptr, src.size(indptr.dim() - 1))"),
    OPERATOR("torch_scatter::_segment_min_csr(Tensor src, Tensor indptr) -> (Tensor, Tensor)",
             .kernel = kernel_segment_csr, .user = &min, .gradient = PLACE("indptr.dim() - 1")),
    OPERATOR("torch_scatter::_segment_max_csr(Tensor src, Tensor indptr) -> (Tensor, Tensor)",
             .kernel = kernel_segment_csr, .user = &max, .gradient = PLACE("indptr.dim() - 1")),
    OPERATOR("torch_scatter::_gather_csr(Tensor src, Tensor indptr, int? size) -> Tensor", .kernel = kernel_gather_csr,
             .gradient = "src: torch.ops.torch_scatter._segment_sum_csr(grad, indptr)"),
    OPERATOR("torch_scatter::_segment_mean_csr_backward(Tensor grad, Tensor indptr, int size) -> Tensor",
             .body = "count = (indptr.narrow(-1, 1, indptr.size(-1) - 1) - indptr.narrow(-1, 0, indptr.size(-1) - 1))\n"
                     "count = torch.clamp(count.to(grad.dtype), 1)\n"
                     "for i in range(indptr.dim(), grad.dim()):\n"
                     "  count = count.unsqueeze(-1)\n"
                     "return torch.ops.torch_scatter._gather_csr(grad / count, indptr, size)\n"),
    OPERATOR("torch_scatter::segment_sum_csr(" SEGMENT_CSR ") -> Tensor", .body = CSR_BODY("sum")),
    OPERATOR("torch_scatter::segment_mean_csr(" SEGMENT_CSR ") -> Tensor", .body = CSR_BODY("mean")),
    OPERATOR("torch_scatter::segment_min_csr(" SEGMENT_CSR ") -> (Tensor, Tensor)", .body = CSR_PAIR_BODY("min")),
    OPERATOR("torch_scatter::segment_max_csr(" SEGMENT_CSR ") -> (Tensor, Tensor)", .body = CSR_PAIR_BODY("max")),
    OPERATOR("torch_scatter::gather_csr(Tensor src, Tensor indptr, Tensor(a!)? out=None) -> Tensor",
             .body = "size: Optional[int] = None\n"
                     "if out is not None:\n"
                     "  size = out.size(indptr.dim() - 1)\n"
                     "result = torch.ops.torch_scatter._gather_csr(src, indptr, size)\n" INTO_OUT),
};

WICK_API wick_status wick_library_init(wick_error **error) {
  return wick_operators_register(operators, COUNT(operators), error);
}
