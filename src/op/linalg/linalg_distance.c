/* Distances: between rows (cdist, pdist), between tensors (dist, pairwise_distance, cosine_similarity), norms cut down
 * (renorm), and covariances. */
#include <math.h>

#include "base/parallel.h"
#include "base/work_limit.h"
#include "call/call.h"
#include "call/row.h"
#include "compute/distance/distance.h"

/* ---- rows in double ---- */
typedef struct Rows {
  const double *a, *b; /* count rows each, of n */
  double *out;
  int64_t rows_a, rows_b, n;
  double p;
  Distance *distance;
} Rows;
static void cross_rows(void *argument, int64_t begin, int64_t end) {
  const Rows *r = argument;
  int64_t done = 0;
  for (int64_t i = begin; i < end; i++) { /* i counts rows of every batch */
    int64_t batch = i / r->rows_a;
    for (int64_t j = 0; j < r->rows_b && !work_is_over_after(&done, r->n + 4); j++)
      r->out[i * r->rows_b + j] = r->distance(r->a + i * r->n, r->b + (batch * r->rows_b + j) * r->n, r->n, r->p);
  }
}
/* A row-major copy in the batch of `out`. */
static Status rows_of(const Tensor *t, const Tensor *out, DType dtype, Tensor **result) {
  int64_t sizes[TENSOR_MAX_DIMS];
  for (int d = 0; d < out->ndim - 2; d++) sizes[d] = out->sizes[d];
  sizes[out->ndim - 2] = t->sizes[t->ndim - 2];
  sizes[out->ndim - 1] = t->sizes[t->ndim - 1];
  TRY(tensor_empty(dtype, out->ndim, sizes, result));
  Status status = tensor_copy(*result, t, 1);
  if (status != OK) {
    tensor_release(*result);
    *result = NULL;
  }
  return status;
}

/* ---- cdist ---- */
static Status shape_cdist(Call *call, TensorSpec *specs) {
  const Tensor *a = call_tensor(call, 0), *b = call_tensor(call, 1);
  if (a->ndim < 2) return status_new(ERROR_RUNTIME, "cdist only supports at least 2D tensors, X1 got: %dD", a->ndim);
  if (b->ndim < 2) return status_new(ERROR_RUNTIME, "cdist only supports at least 2D tensors, X2 got: %dD", b->ndim);
  if (a->sizes[a->ndim - 1] != b->sizes[b->ndim - 1])
    return status_new(ERROR_RUNTIME, "X1 and X2 must have the same number of columns. X1: %lld X2: %lld",
                      (long long)a->sizes[a->ndim - 1], (long long)b->sizes[b->ndim - 1]);
  for (int i = 0; i < 2; i++) {
    DType dtype = (DType)call_tensor(call, (uint32_t)i)->dtype;
    if (!dtype_is_floating(dtype))
      return status_new(ERROR_RUNTIME, "cdist only supports floating-point dtypes, X%d got: %s", i + 1,
                        dtype_scalar_name(dtype));
  }
  if (a->dtype != b->dtype)
    return status_new(ERROR_RUNTIME, "expected scalar type %s but found %s", dtype_scalar_name((DType)a->dtype),
                      dtype_scalar_name((DType)b->dtype));
  if (!(call_double(call, 2) >= 0)) return status_new(ERROR_RUNTIME, "cdist only supports non-negative p values");
  if (!call_is_none(call, 3) && (call_int(call, 3) < 0 || call_int(call, 3) > 2))
    return status_new(ERROR_RUNTIME, "possible modes: 0, 1, 2, but was: %lld", (long long)call_int(call, 3));
  int ndim;
  int64_t sizes[TENSOR_MAX_DIMS];
  TRY(sizes_broadcast(a->ndim - 2, a->sizes, b->ndim - 2, b->sizes, &ndim, sizes));
  sizes[ndim] = a->sizes[a->ndim - 2];
  sizes[ndim + 1] = b->sizes[b->ndim - 2];
  shape_set(specs, (DType)a->dtype, ndim + 2, sizes);
  return OK;
}
/* PyTorch's rule for when Euclidean distances come from a matrix product; mode 1: always, 2: never. */
static bool takes_product(const Call *call, const Tensor *out) {
  enum { MOST_ROWS = 25, ALWAYS = 1, NEVER = 2 };
  int64_t mode = call_is_none(call, 3) ? 0 : call_int(call, 3);
  if (call_double(call, 2) != 2 || out->dtype != DTYPE_FLOAT32 || mode == NEVER) return false;
  return mode == ALWAYS || out->sizes[out->ndim - 2] > MOST_ROWS || out->sizes[out->ndim - 1] > MOST_ROWS;
}
static Status cdist_by_product(Call *call, Tensor *out) {
  Tensor *a = NULL, *b = NULL, *products = NULL;
  Status status;
  TRY_GOTO(rows_of(call_tensor(call, 0), out, DTYPE_FLOAT32, &a), done);
  TRY_GOTO(rows_of(call_tensor(call, 1), out, DTYPE_FLOAT32, &b), done);
  TRY_GOTO(tensor_empty(DTYPE_FLOAT32, out->ndim, out->sizes, &products), done);
  int64_t rows_a = out->sizes[out->ndim - 2], rows_b = out->sizes[out->ndim - 1], n = a->sizes[a->ndim - 1];
  for (int64_t batch = 0; batch < out->numel / (rows_a * rows_b); batch++)
    TRY_GOTO(distance_by_product(&call->exec->work, rows_a, rows_b, n, (float *)tensor_data(a) + batch * rows_a * n,
                                 (float *)tensor_data(b) + batch * rows_b * n,
                                 (float *)tensor_data(products) + batch * rows_a * rows_b),
             done);
  status = tensor_copy(out, products, call->exec->work.threads);
done:
  tensor_release(a);
  tensor_release(b);
  tensor_release(products);
  return status;
}
static Status kernel_cdist(Call *call) {
  Tensor *out = call_out(call, 0), *a = NULL, *b = NULL, *wide = NULL;
  if (out->numel == 0) return OK;
  if (takes_product(call, out)) return cdist_by_product(call, out);
  Status status;
  TRY_GOTO(rows_of(call_tensor(call, 0), out, DTYPE_FLOAT64, &a), done);
  TRY_GOTO(rows_of(call_tensor(call, 1), out, DTYPE_FLOAT64, &b), done);
  TRY_GOTO(tensor_empty(DTYPE_FLOAT64, out->ndim, out->sizes, &wide), done);
  double p = call_double(call, 2);
  Rows rows = {.a = tensor_data(a),
               .b = tensor_data(b),
               .out = tensor_data(wide),
               .rows_a = out->sizes[out->ndim - 2],
               .rows_b = out->sizes[out->ndim - 1],
               .n = a->sizes[a->ndim - 1],
               .p = p,
               .distance = distance_of(p)};
  parallel_for(call->exec->work.threads, out->numel / rows.rows_b, 1 + 30000 / (rows.rows_b * rows.n + 1), cross_rows,
               &rows);
  status = tensor_copy(out, wide, 1);
done:
  tensor_release(a);
  tensor_release(b);
  tensor_release(wide);
  return status;
}

/* ---- pdist: the distances of rows i < j, in order ---- */
static Status shape_pdist(Call *call, TensorSpec *specs) {
  const Tensor *self = call_tensor(call, 0);
  if (self->ndim != 2) return status_new(ERROR_RUNTIME, "pdist only supports 2D tensors, got: %dD", self->ndim);
  if (!dtype_is_floating((DType)self->dtype))
    return status_new(ERROR_RUNTIME, "pdist only supports floating-point dtypes");
  if (!(call_double(call, 1) >= 0)) return status_new(ERROR_RUNTIME, "pdist only supports non-negative p values");
  int64_t n = self->sizes[0], pairs;
  if (!int64_mul(n, n > 0 ? n - 1 : 0, &pairs))
    return status_new(ERROR_RUNTIME, "pdist of %lld rows is too large", (long long)n);
  shape_set(specs, (DType)self->dtype, 1, (const int64_t[]){pairs / 2});
  return OK;
}
static Status kernel_pdist(Call *call) {
  Tensor *out = call_out(call, 0), *rows = NULL, *wide = NULL;
  const Tensor *self = call_tensor(call, 0);
  if (out->numel == 0) return OK;
  Status status;
  TRY_GOTO(rows_of(self, self, DTYPE_FLOAT64, &rows), done);
  TRY_GOTO(tensor_empty(DTYPE_FLOAT64, 1, out->sizes, &wide), done);
  double p = call_double(call, 1), *to = tensor_data(wide);
  const double *x = tensor_data(rows);
  Distance *distance = distance_of(p);
  int64_t count = self->sizes[0], n = self->sizes[1];
  int64_t done = 0;
  for (int64_t i = 0; i < count; i++)
    for (int64_t j = i + 1; j < count && !work_is_over_after(&done, n + 4); j++)
      *to++ = distance(x + i * n, x + j * n, n, p);
  status = tensor_copy(out, wide, 1);
done:
  tensor_release(rows);
  tensor_release(wide);
  return status;
}

#define CDIST_GRAD                                       \
  "x1: torch._cdist_backward(grad, x1, x2, p, result); " \
  "x2: torch._cdist_backward(grad.transpose(-2, -1), x2, x1, p, result.transpose(-2, -1))"
static const OpRow rows[] = {
    {.schema = "aten::cdist(Tensor x1, Tensor x2, float p=2., int? compute_mode=None) -> Tensor",
     .dtypes = "cdist: floating",
     .cast = CAST_FULL,
     .kernel = kernel_cdist,
     .shape = shape_cdist,
     .grad = CDIST_GRAD},
    {.schema = "aten::_cdist_forward(Tensor x1, Tensor x2, float p, int? compute_mode) -> Tensor",
     .kernel = kernel_cdist,
     .shape = shape_cdist,
     .grad = CDIST_GRAD,
     .flags = OP_OUT},
    {.schema = "aten::_cdist_backward(Tensor grad, Tensor x1, Tensor x2, float p, Tensor cdist) -> Tensor",
     .body = "slope = distance_slope(x1.unsqueeze(-2) - x2.unsqueeze(-3), cdist.unsqueeze(-1), p)\n"
             "return (slope * grad.unsqueeze(-1)).sum(-2)",
     .flags = OP_OUT},
    {.schema = "aten::_euclidean_dist(Tensor x1, Tensor x2) -> Tensor",
     .body = "return torch.cdist(x1, x2)",
     .flags = OP_OUT},
    {.schema = "aten::pdist(Tensor self, float p=2.) -> Tensor",
     .cast = CAST_FULL,
     .kernel = kernel_pdist,
     .shape = shape_pdist,
     .grad = "self: torch._pdist_backward(grad, self, p, result)"},
    {.schema = "aten::_pdist_forward(Tensor self, float p=2.) -> Tensor",
     .kernel = kernel_pdist,
     .shape = shape_pdist,
     .grad = "self: torch._pdist_backward(grad, self, p, result)",
     .flags = OP_OUT},
    {.schema = "aten::_pdist_backward(Tensor grad, Tensor self, float p, Tensor pdist) -> Tensor",
     .body = "n = self.size(0)\n"
             "pairs = torch.triu_indices(n, n, 1)\n"
             "low = pairs[0]\n"
             "high = pairs[1]\n"
             "slope = distance_slope(self.index_select(0, low) - self.index_select(0, high), pdist.unsqueeze(-1), p) * "
             "grad.unsqueeze(-1)\n"
             "return torch.zeros_like(self).index_add(0, low, slope).index_add(0, high, -slope)",
     .flags = OP_OUT},
    {.schema = "aten::pairwise_distance(Tensor x1, Tensor x2, float p=2., float eps=9.9999999999999995e-07, bool "
               "keepdim=False) -> Tensor",
     .body = "difference = x1 - x2 + eps\nreturn torch.norm(difference, p, [difference.dim() - 1], keepdim)"},
    {.schema = "aten::cosine_similarity(Tensor x1, Tensor x2, int dim=1, float eps=1e-08) -> Tensor",
     .cast = CAST_FULL,
     .body = "dtype = torch.result_type(x1, x2)\n"
             "a = x1.to(dtype)\n"
             "b = x2.to(dtype)\n"
             "if not a.is_floating_point():\n"
             "    raise RuntimeError('expected common dtype to be floating point, yet common dtype is another')\n"
             "both = torch.broadcast_tensors([a, b])\n"
             "return (unit_vectors(both[0], dim, eps) * unit_vectors(both[1], dim, eps)).sum(dim)"},
    {.schema = "aten::dist(Tensor self, Tensor other, Scalar p=2) -> Tensor",
     .cast = CAST_FULL,
     .body = "return torch.norm(self - other, p)",
     .flags = OP_OUT},
    {.schema = "aten::renorm(Tensor self, Scalar p, int dim, Scalar maxnorm) -> Tensor",
     .cast = CAST_FULL,
     .flags = OP_INPLACE | OP_OUT,
     .body =
         "if float(p) <= 0.0:\n"
         "    raise RuntimeError('renorm: non-positive-norm not supported')\n"
         "if float(maxnorm) < 0.0:\n"
         "    raise RuntimeError('renorm: expected maxnorm to be >= 0 but got {}'.format(float(maxnorm)))\n"
         "if self.dim() < 2:\n"
         "    raise RuntimeError('renorm: input needs at least 2 dimensions, got {} dimensions'.format(self.dim()))\n"
         "if dim < -self.dim() or dim >= self.dim():\n"
         "    raise IndexError('Dimension out of range (expected to be in range of [{}, {}], but got {})'.format("
         "-self.dim(), self.dim() - 1, dim))\n"
         "kept = dim if dim >= 0 else dim + self.dim()\n"
         "others: List[int] = []\n"
         "for d in range(self.dim()):\n"
         "    if d != kept:\n"
         "        others.append(d)\n"
         "norm = torch.linalg_vector_norm(self, p, others, True)\n"
         "factor = torch.where(norm > float(maxnorm), float(maxnorm) / (norm + 1e-07), torch.ones_like(norm))\n"
         "return (self * factor).contiguous()"},
    {.schema = "aten::cov(Tensor self, *, int correction=1, Tensor? fweights=None, Tensor? aweights=None) -> Tensor",
     .body = "return covariance(self, correction, fweights, aweights)"},
    {.schema = "aten::corrcoef(Tensor self) -> Tensor",
     .body = "if self.dim() > 2:\n"
             "    raise RuntimeError('corrcoef(): expected input to have two or fewer dimensions but got an input with "
             "{} dimensions'.format(self.dim()))\n"
             "c = torch.cov(self)\n"
             "if c.dim() == 0:\n"
             "    return c / c\n"
             "d = c.diagonal()\n"
             "deviation = (torch.real(d) if d.is_complex() else d).sqrt()\n"
             "c = c / deviation.view([-1, 1]) / deviation.view([1, -1])\n"
             "if c.is_complex():\n"
             "    return torch.complex(torch.real(c).clamp(-1, 1), torch.imag(c).clamp(-1, 1))\n"
             "return c.clamp(-1, 1)"},
};
OP_TABLE(op_table_linalg_distance, rows);
