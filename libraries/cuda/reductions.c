/* Reductions over any dimensions. A thread, a warp or a group goes over what one element of the result is made of;
 * where that is much for few elements, parts of it are reduced first. */
#include "cuda/operators.h"

#include <string.h>

/* ORDER reducer, as the kernel's N0 */
enum { SUM, MEAN, PROD, MAX, MIN, ANY, ALL, VAR, STD, NORM1, NORM2, COUNT, SQUARES, ROOT };
enum { MAX_KEPT = 8, PARTS = 512, MANY = 1 << 16 };
/* As the kernel has it. */
typedef struct Shape {
  int64_t kept_sizes[MAX_KEPT], kept_strides[MAX_KEPT], sizes[MAX_KEPT], strides[MAX_KEPT];
} Shape;

/* A is what is reduced, B the result, C what comes beside it: an index or a mean. N1: lanes, N2: kept dimensions, N3:
 * reduced ones. `parts` of each line are results of their own; of all, `total` elements are in a result. */
static Source source = SOURCE(
    "enum { SUM, MEAN, PROD, MAX, MIN, ANY, ALL, VAR, STD, NORM1, NORM2, COUNT, SQUARES, ROOT };\n"
    "#define LANES (N1 == 0 ? 1 : N1 == 1 ? 32 : 256)\n"
    "struct shape { i64 kept_sizes[8], kept_strides[8], sizes[8], strides[8]; };\n"
    "typedef struct state { value v, w; i64 i; } state;\n"
    "FUNCTION int goes_first(value x, i64 i, state s) {\n"
    "  if (s.i < 0) return 1;\n"
    "  if (x != x) return s.v == s.v || i < s.i;\n"
    "  if (x == s.v) return i < s.i;\n"
    "  return N0 == MAX ? x > s.v : x < s.v;\n"
    "}\n"
    "FUNCTION state step(state s, value x, i64 i) {\n"
    "  const value size = x < 0 ? -x : x;\n"
    "  if (N0 == SUM || N0 == MEAN || N0 == ROOT) s.v += x;\n"
    "  if (N0 == NORM1) s.v += size;\n"
    "  if (N0 == NORM2 || N0 == SQUARES) s.v += x * x;\n"
    "  if (N0 == PROD) s.v *= x;\n"
    "  if (N0 == ANY) s.v = s.v != 0 || x != 0;\n"
    "  if (N0 == ALL) s.v = s.v != 0 && x != 0;\n"
    "  if (N0 == COUNT) s.v += x != 0;\n"
    "  if ((N0 == MAX || N0 == MIN) && goes_first(x, i, s)) s.v = x, s.i = i;\n"
    "  if (N0 == VAR || N0 == STD) {\n"
    "    const value from = x - s.v;\n"
    "    s.i++;\n"
    "    s.v += from / (value)s.i;\n"
    "    s.w += from * (x - s.v);\n"
    "  }\n"
    "  return s;\n"
    "}\n"
    "FUNCTION state join(state s, state t) {\n"
    "  if (N0 == PROD) s.v *= t.v;\n"
    "  else if (N0 == ANY) s.v = s.v != 0 || t.v != 0;\n"
    "  else if (N0 == ALL) s.v = s.v != 0 && t.v != 0;\n"
    "  else if (N0 == MAX || N0 == MIN) { if (t.i >= 0 && goes_first(t.v, t.i, s)) s = t; }\n"
    "  else if (N0 == VAR || N0 == STD) {\n"
    "    const value all = (value)(s.i + t.i), from = t.v - s.v;\n"
    "    if (t.i) {\n"
    "      s.v += from * (value)t.i / all;\n"
    "      s.w += t.w + from * from * (value)s.i * (value)t.i / all;\n"
    "      s.i += t.i;\n"
    "    }\n"
    "  }\n"
    "  else s.v += t.v;\n"
    "  return s;\n"
    "}\n"
    "extern \"C\" __global__ void __launch_bounds__(256) wick_kernel(const place results, const place count, "
    "const place parts, const A *a, B *b, C *c, const f64 total, const f64 correction, const struct shape p) {\n"
    "  __shared__ state room[GROUP];\n"
    "  const place which = (place)blockIdx.x * (GROUP / LANES) + threadIdx.x / LANES;\n"
    "  const u32 lane = threadIdx.x % LANES;\n"
    "  const place each = (count + parts - 1) / parts, begin = which % parts * each;\n"
    "  const place end = begin + each < count ? begin + each : count;\n"
    "  place rest = which / parts, base = 0;\n"
    "  state s;\n"
    "  s.v = N0 == PROD || N0 == ALL, s.w = 0, s.i = N0 == MAX || N0 == MIN ? -1 : 0;\n"
    "#pragma unroll\n"
    "  for (int d = N2; d-- > 0;) {\n"
    "    base += (d ? rest % (place)p.kept_sizes[d] : rest) * (place)p.kept_strides[d];\n"
    "    rest = d ? rest / (place)p.kept_sizes[d] : 0;\n"
    "  }\n"
    "#pragma unroll 4\n"
    "  for (place i = begin + lane; which < results && i < end; i += LANES) {\n"
    "    place left = i, at = base;\n"
    "#pragma unroll\n"
    "    for (int d = N3; d-- > 0;) {\n"
    "      at += (d ? left % (place)p.sizes[d] : left) * (place)p.strides[d];\n"
    "      left = d ? left / (place)p.sizes[d] : 0;\n"
    "    }\n"
    "    s = step(s, A_load(a[at]), (i64)i);\n"
    "  }\n"
    "#if N1\n"
    "  room[threadIdx.x] = s;\n"
    "  __syncthreads();\n"
    "  for (u32 k = LANES / 2; k; k /= 2) {\n"
    "    if (lane < k) room[threadIdx.x] = s = join(s, room[threadIdx.x + k]);\n"
    "    __syncthreads();\n"
    "  }\n"
    "#endif\n"
    "  if (lane || which >= results) return;\n"
    "  value v = s.v;\n"
    "  if (N0 == MEAN) v = (value)(s.v / total);\n"
    "  if (N0 == VAR || N0 == STD) v = s.w / (value)(total > correction ? total - correction : 0);\n"
    "  if (N0 == STD || N0 == NORM2 || N0 == ROOT) v = (value)sqrt((f64)v);\n"
    "  if (b) b[which] = B_store(v);\n"
    "  if (c) c[which] = C_store(N0 == MAX || N0 == MIN ? (value)s.i : s.v);\n"
    "}\n");

typedef struct Reduction {
  int reducer;
  Shape shape;
  int kept, reduced; /* dimensions */
  int64_t results, count, parts;
  uint32_t from_dtype, to_dtype, beside_dtype; /* SOURCE_NO_DTYPE: nothing goes there */
  uint8_t type;
  bool is_wide;
  void *from, *to, *beside;
  double total, correction;
} Reduction;

static int add(int64_t *sizes, int64_t *strides, int count, int64_t size, int64_t stride) {
  if (size == 1) return count;
  if (count && strides[count - 1] == stride * size) {
    sizes[count - 1] *= size;
    strides[count - 1] = stride;
    return count;
  }
  sizes[count] = size;
  strides[count] = stride;
  return count + 1;
}

/* Neighbors read what lies side by side. */
static int choose_lanes(const Reduction *r) {
  bool across = r->kept && r->shape.kept_strides[r->kept - 1] == 1 && r->results >= 1024;
  int64_t count = r->count / r->parts;
  return across || count <= 4 ? 0 : count <= 256 ? 1 : 2;
}

static void launch(Work *w, const Reduction *r) {
  static const int lanes[] = {1, 32, 256};
  int choice = choose_lanes(r);
  int64_t counts[] = {r->results * r->parts, r->count, r->parts};
  uint32_t narrow[] = {(uint32_t)counts[0], (uint32_t)counts[1], (uint32_t)counts[2]};
  void *p[3];
  for (int i = 0; i < 3; i++) p[i] = r->is_wide ? (void *)&counts[i] : &narrow[i];
  bool has_beside = r->beside_dtype != SOURCE_NO_DTYPE, has_result = r->to_dtype != SOURCE_NO_DTYPE;
  SourceUse use = {{(uint8_t)r->from_dtype, (uint8_t)(has_result ? r->to_dtype : WICK_UINT8),
                    (uint8_t)(has_beside ? r->beside_dtype : WICK_UINT8)},
                   r->type,
                   r->is_wide,
                   {(uint8_t)r->reducer, (uint8_t)choice, (uint8_t)r->kept, (uint8_t)r->reduced}};
  void *from = r->from, *to = has_result ? r->to : NULL, *beside = has_beside ? r->beside : NULL;
  double total = r->total, correction = r->correction;
  Shape shape = r->shape;
  void *parameters[] = {p[0], p[1], p[2], &from, &to, &beside, &total, &correction, &shape};
  work_launch(w, &source, &use, counts[0] * lanes[choice], parameters);
}

/* Parts first, each a result of the type that computes; then those. */
static void launch_in_parts(Work *w, const Reduction *r) {
  static const uint32_t dtypes[] = {WICK_BOOL8, WICK_INT64, WICK_FLOAT32, WICK_FLOAT64};
  Reduction first = *r, second = *r;
  size_t bytes = (size_t)(r->results * PARTS) * wick_dtype_bytes(dtypes[r->type]);
  void *room = NULL;
  first.parts = PARTS;
  first.reducer = r->reducer == MEAN ? SUM : r->reducer == NORM2 ? SQUARES : r->reducer;
  first.to_dtype = second.from_dtype = dtypes[r->type];
  work_take(w, card_allocate(NULL, w->card->index, bytes, &room, w->error));
  first.to = second.from = room;
  second.reducer = r->reducer == NORM2 ? ROOT : r->reducer == NORM1 || r->reducer == COUNT ? SUM : r->reducer;
  second.count = PARTS;
  second.shape = (Shape){{r->results}, {PARTS}, {PARTS}, {1}};
  second.kept = second.reduced = 1;
  second.is_wide = false;
  launch(w, &first);
  launch(w, &second);
  if (room) card_free(NULL, w->card->index, room, bytes);
}

static bool has_state(int reducer) { /* that one number does not hold */
  return reducer == MAX || reducer == MIN || reducer == VAR || reducer == STD;
}

static void reduce(Work *w, Reduction *r, const wick_tensor_view *self, uint32_t dims) {
  Shape *s = &r->shape;
  if (self->ndim > MAX_KEPT) return work_refuse(w, "CUDA: reductions of more than %d dimensions", MAX_KEPT);
  r->results = r->count = r->parts = 1;
  r->kept = r->reduced = 0;
  for (int d = 0; d < self->ndim; d++) {
    int64_t size = self->sizes[d], stride = self->strides[d];
    bool is_reduced = dims >> d & 1;
    *(is_reduced ? &r->count : &r->results) *= size;
    if (is_reduced)
      r->reduced = add(s->sizes, s->strides, r->reduced, size, stride);
    else
      r->kept = add(s->kept_sizes, s->kept_strides, r->kept, size, stride);
  }
  if (!r->results) return;
  if (!r->count && (r->reducer == MAX || r->reducer == MIN)) return work_refuse(w, "CUDA: the extreme of no elements");
  r->from = self->data;
  r->from_dtype = self->dtype;
  r->total = (double)r->count;
  r->is_wide = r->results > INT32_MAX / 512 || r->count > INT32_MAX / 2 || view_count(self) > INT32_MAX / 2;
  if (self->dtype == WICK_COMPLEX64 || self->dtype == WICK_COMPLEX128)
    return work_refuse(w, "CUDA: reductions of %s", wick_dtype_name(self->dtype));
  if (r->count >= MANY && r->results <= 256 && !has_state(r->reducer) && choose_lanes(r) == 2)
    launch_in_parts(w, r);
  else
    launch(w, r);
}

/* The dimensions that an argument names: all where it is None or empty. */
static uint32_t dims_of(Work *w, const wick_tensor_view *self, int argument) {
  int64_t dims[MAX_KEPT];
  uint32_t bits = 0;
  int count = argument < 0 ? 0 : work_ints(w, (size_t)argument, dims, MAX_KEPT);
  for (int i = 0; i < count; i++) bits |= 1u << view_dim(self, dims[i]);
  return count ? bits : UINT32_MAX;
}

/* What rows have besides the reducer, packed in their variant: the argument of dimensions + 1, from bit 8; which result
 * is the index or the mean, from bit 12: 0 none, 1 the first, 2 the second; where the correction is + 1, from bit 16:
 * whether unbiased, and from bit 20 as a number. */
#define OVER(dim) (((dim) + 1) << 8)
#define BESIDE(which) ((which) << 12)
#define UNBIASED(argument) (((argument) + 1) << 16)
#define CORRECTION(argument) (((argument) + 1) << 20)

static void reduction(Work *w, int variant) {
  Reduction r = {.reducer = variant & 0xff, .to_dtype = SOURCE_NO_DTYPE, .beside_dtype = SOURCE_NO_DTYPE};
  int dim = (variant >> 8 & 15) - 1, beside = variant >> 12 & 15;
  int unbiased = (variant >> 16 & 15) - 1, correction = (variant >> 20 & 15) - 1;
  wick_tensor_view self, to, other;
  if (!work_tensor(w, 0, false, &self)) return;
  if (beside != 1) {
    if (!work_result(w, 0, &to)) return;
    r.to = to.data, r.to_dtype = to.dtype;
  }
  if (beside) {
    if (!work_result(w, (size_t)beside - 1, &other)) return;
    r.beside = other.data, r.beside_dtype = other.dtype;
  }
  if (r.reducer == NORM2 && dim != 1 && !work_is_none(w, 1)) {
    double p = work_real(w, 1);
    if (p != 1 && p != 2) return work_refuse(w, "CUDA: a norm of another order than 1 and 2");
    r.reducer = p == 1 ? NORM1 : NORM2;
  }
  bool is_extreme = r.reducer == MAX || r.reducer == MIN;
  bool tests = r.reducer == ANY || r.reducer == ALL || r.reducer == COUNT;
  r.type = source_type_of(is_extreme || tests || beside == 1 ? self.dtype : r.to_dtype);
  r.correction = unbiased >= 0                                             ? (double)work_int(w, (size_t)unbiased)
                 : correction >= 0 && !work_is_none(w, (size_t)correction) ? work_real(w, (size_t)correction)
                                                                           : 1;
  uint32_t dims = dims_of(w, &self, dim);
  if (!w->status) reduce(w, &r, &self, dims);
}

const OperatorKernel reduction_kernels[] = {
    {"aten::sum", reduction, SUM, true},
    {"aten::sum.dim_IntList", reduction, SUM | OVER(1), true},
    {"aten::mean", reduction, MEAN, true},
    {"aten::mean.dim", reduction, MEAN | OVER(1), true},
    {"aten::prod", reduction, PROD, true},
    {"aten::prod.dim_int", reduction, PROD | OVER(1), true},
    {"aten::max", reduction, MAX, true},
    {"aten::min", reduction, MIN, true},
    {"aten::amax", reduction, MAX | OVER(1), true},
    {"aten::amin", reduction, MIN | OVER(1), true},
    {"aten::max.dim", reduction, MAX | OVER(1) | BESIDE(2), true},
    {"aten::min.dim", reduction, MIN | OVER(1) | BESIDE(2), true},
    {"aten::argmax", reduction, MAX | OVER(1) | BESIDE(1), true},
    {"aten::argmin", reduction, MIN | OVER(1) | BESIDE(1), true},
    {"aten::any", reduction, ANY, true},
    {"aten::any.dim", reduction, ANY | OVER(1), true},
    {"aten::all", reduction, ALL, true},
    {"aten::all.dim", reduction, ALL | OVER(1), true},
    {"aten::count_nonzero", reduction, COUNT | OVER(1), true},
    {"aten::count_nonzero.dim_IntList", reduction, COUNT | OVER(1), true},
    {"aten::var", reduction, VAR | UNBIASED(1), true},
    {"aten::var.dim", reduction, VAR | OVER(1) | UNBIASED(2), true},
    {"aten::var.correction", reduction, VAR | OVER(1) | CORRECTION(2), true},
    {"aten::std", reduction, STD | UNBIASED(1), true},
    {"aten::std.dim", reduction, STD | OVER(1) | UNBIASED(2), true},
    {"aten::std.correction", reduction, STD | OVER(1) | CORRECTION(2), true},
    {"aten::var_mean", reduction, VAR | UNBIASED(1) | BESIDE(2), true},
    {"aten::var_mean.dim", reduction, VAR | OVER(1) | UNBIASED(2) | BESIDE(2), true},
    {"aten::var_mean.correction", reduction, VAR | OVER(1) | CORRECTION(2) | BESIDE(2), true},
    {"aten::norm.Scalar", reduction, NORM2, true},
    {"aten::norm.ScalarOpt_dim", reduction, NORM2 | OVER(2), true},
    {"aten::linalg_vector_norm", reduction, NORM2 | OVER(2), true},
    {"aten::frobenius_norm.dim", reduction, NORM2 | OVER(1), true},
    {0},
};
