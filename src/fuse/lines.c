/* Groups with line functions (lines.h). */
#include "fuse/lines.h"

#include "tile/line.h"

/* ---- what a run looks like ---- */

static const Tensor *operand_of(const FuseCall *call, const FuseStep *step) {
  return call->values[call->group->operands[step->first_operand].index];
}

/* The line's dimensions lie in one run: the reduction engine goes along them as along one, and not across them where
 * another dimension's elements lie closer together. */
static bool is_one_run(const Tensor *look, int dims) {
  int first = look->ndim - dims;
  int64_t stride = -1, next = 0;
  for (int d = look->ndim - 1; d >= first; d--) {
    if (look->sizes[d] == 1) continue;
    if (stride >= 0 && look->strides[d] != next) return false;
    if (stride < 0) stride = look->strides[d];
    next = look->strides[d] * look->sizes[d];
  }
  for (int i = 0; i < first; i++)
    if (look->sizes[i] > 1 && look->strides[i] < stride) return false;
  return true;
}

static bool is_along_last(const FuseLine *line, const Tensor *look) {
  if (look->ndim < line->dim_count) return false;
  unsigned dims = line->from_front;
  for (int k = 0; k < look->ndim; k++)
    if (line->from_back >> k & 1) dims |= 1u << (look->ndim - 1 - k);
  return dims == ((1u << line->dim_count) - 1) << (look->ndim - line->dim_count);
}

static int64_t line_length(const Tensor *look, int dims) {
  int64_t length = 1;
  for (int d = look->ndim - dims; d < look->ndim; d++) length *= look->sizes[d];
  return length;
}

static bool same_sizes(const Tensor *a, const Tensor *b) {
  return a->ndim == b->ndim && !memcmp(a->sizes, b->sizes, sizeof(int64_t) * a->ndim);
}

static bool broadcasts_to(const Tensor *look, const Tensor *domain) {
  int missing = domain->ndim - look->ndim;
  if (missing < 0) return false;
  for (int i = 0; i < look->ndim; i++)
    if (look->sizes[i] != 1 && look->sizes[i] != domain->sizes[i + missing]) return false;
  return true;
}

bool fuse_line_is_dropped(const FuseGroup *g, uint16_t value) {
  for (uint32_t i = 0; i < g->step_count; i++)
    if (g->steps[i].result == value) return g->steps[i].line.drops;
  return false;
}

/* The domain's sizes, with 1 in the place of those of a line, or without them. */
static bool is_storable(const Tensor *look, const Tensor *domain, int dims, bool is_dropped) {
  int kept = domain->ndim - dims;
  if (look->ndim != (is_dropped ? kept : domain->ndim) ||
      memcmp(look->sizes, domain->sizes, sizeof(int64_t) * (size_t)kept))
    return false;
  return is_dropped || line_length(look, dims) == 1 ||
         !memcmp(look->sizes + kept, domain->sizes + kept, sizeof(int64_t) * (size_t)dims);
}

/* Whether several dimensions of a line can be one of the operand: it has all of them, in one run, or moves along
 * none. */
static bool is_joinable(const Tensor *look, const Tensor *domain, int dims) {
  int own = look->ndim < dims ? look->ndim : dims;
  int64_t length = line_length(look, own);
  if (length == 1) return true;
  int64_t next = -1;
  for (int d = look->ndim - 1; d >= look->ndim - own; d--) {
    if (look->sizes[d] == 1) continue;
    if (next >= 0 && look->strides[d] != next) return false;
    next = look->strides[d] * look->sizes[d];
  }
  return length == line_length(domain, dims);
}

FuseRefusal fuse_lines_check(const FuseCall *call) {
  const FuseGroup *g = call->group;
  const Tensor *domain = NULL;
  int dims = g->line_dims;
  if (g->store_count > KERNEL_MAX_OUTPUTS) return FUSE_LINES;
  for (uint32_t i = 0; i < g->step_count; i++) {
    const FuseStep *step = &g->steps[i];
    if (!step->line.function) continue;
    const Tensor *look = operand_of(call, step);
    if (!is_along_last(&step->line, look) || line_length(look, dims) > FUSE_MAX_LINE) return FUSE_LINES;
    if (line_gives_number((LineFunction)step->line.function) && !is_one_run(look, dims)) return FUSE_LINES;
    if (!domain) domain = look;
    if (!same_sizes(look, domain)) return FUSE_SHAPE;
  }
  if (!domain->numel) return FUSE_SHAPE;
  for (uint32_t i = 0; i < g->leaf_count; i++) {
    const Tensor *look = call->values[g->leaves[i]];
    if (!broadcasts_to(look, domain)) return FUSE_SHAPE;
    if (dims > 1 && !is_joinable(look, domain, dims)) return FUSE_LINES;
  }
  for (uint32_t i = 0; i < g->store_count; i++) {
    const Tensor *look = call->values[g->stores[i]];
    bool is_dropped = fuse_line_is_dropped(g, g->stores[i]);
    if (!is_storable(look, domain, dims, is_dropped)) return FUSE_SHAPE;
    if (dims > 1 && !is_dropped && !is_joinable(look, domain, dims)) return FUSE_LINES;
  }
  return FUSE_NOT_REFUSED;
}

/* ---- lowering ---- */

static bool is_whole(DType dtype) {
  return dtype_is_integral(dtype) || dtype == DTYPE_BOOL;
}

DType fuse_line_dtype(const Call *call, const FuseStep *step) {
  DType self = (DType)call->inputs[0].tensor->dtype;
  int dtype = call_find_argument(call, "dtype");
  DType fallback = step->line.function == LINE_SUM && is_whole(self) ? DTYPE_INT64 : self;
  return dtype < 0 ? fallback : call_dtype_or(call, (uint32_t)dtype, fallback);
}

/* The type that the operator's kernel computes in; TILE_TYPE_COUNT: this is left to it. */
static TileType compute_type(LineFunction function, DType self, DType result, TileType operand) {
  bool is_softmax = function == LINE_SOFTMAX || function == LINE_LOG_SOFTMAX;
  if (function == LINE_NORMALIZE)
    return self == DTYPE_FLOAT32 ? TILE_F32 : self == DTYPE_BFLOAT16 ? TILE_TYPE_COUNT : TILE_F64;
  if (is_softmax && function == LINE_LOG_SOFTMAX && self == DTYPE_BFLOAT16 && result == DTYPE_BFLOAT16)
    return TILE_TYPE_COUNT;
  if (is_softmax) return operand == TILE_C128 ? TILE_TYPE_COUNT : result == DTYPE_FLOAT64 ? TILE_F64 : TILE_F32;
  if (operand == TILE_C128 || dtype_is_complex(result)) return TILE_C128; /* where one is not: not defined */
  if (is_whole(result)) return is_whole(self) ? TILE_I64 : TILE_TYPE_COUNT;
  return operand == TILE_F32 ? TILE_F32 : TILE_F64;
}

static KernelValue affine(const Call *call, KernelValue x, const KernelValue *operands, KernelBuilder *builder) {
  static const char *const names[] = {"weight", "bias"};
  for (int k = 0; k < 2; k++) {
    int i = call_find_argument(call, names[k]);
    if (i >= 0 && operands[i] != KERNEL_NO_VALUE)
      x = kernel_emit(builder, k ? KERNEL_ADD : KERNEL_MUL, x, operands[i], KERNEL_NO_VALUE);
  }
  return x;
}

KernelValue fuse_lower_line(const Call *call, const FuseStep *step, DType result, const KernelValue *operands,
                            KernelBuilder *builder) {
  LineFunction function = (LineFunction)step->line.function;
  DType self = (DType)call->inputs[0].tensor->dtype;
  TileType operand = kernel_type(builder, operands[0]), type = compute_type(function, self, result, operand);
  if (type == TILE_TYPE_COUNT || (type == TILE_C128 && operand != TILE_C128) ||
      (operand == TILE_C128 && !dtype_is_complex(result))) {
    kernel_fail(builder, status_new(ERROR_UNSUPPORTED, "%s of %s is left to its operator", line_name(function),
                                    dtype_name(self)));
    return operands[0];
  }
  int eps = call_find_argument(call, "eps");
  KernelValue x = kernel_line(builder, function, kernel_cast(builder, operands[0], type),
                              eps < 0 ? 0 : ivalue_to_double(call->inputs[eps]));
  return function == LINE_NORMALIZE ? affine(call, x, operands, builder) : x;
}
