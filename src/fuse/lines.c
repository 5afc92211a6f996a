/* Groups with line functions (lines.h). */
#include "fuse/lines.h"

#include "tile/line.h"

/* ---- what a run looks like ---- */

static const Tensor *operand_of(const FuseCall *call, const FuseStep *step) {
  return call->values[call->group->operands[step->first_operand].index];
}

/* The reduction engine goes along lines as well, not across lines that lie closer together. */
static bool is_innermost(const Tensor *look) {
  int last = look->ndim - 1;
  for (int i = 0; i < last; i++)
    if (look->sizes[i] > 1 && look->strides[i] < look->strides[last]) return false;
  return true;
}

static bool is_along_last(const FuseStep *step, const Tensor *look) {
  return look->ndim > 0 && (step->dim == -1 || step->dim == look->ndim - 1);
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

static bool is_dropped(const FuseGroup *g, uint16_t value) {
  for (uint32_t i = 0; i < g->step_count; i++)
    if (g->steps[i].result == value) return g->steps[i].drops;
  return false;
}

/* The domain's sizes, with 1 in the place of the last, or without it. */
static bool is_storable(const Tensor *look, const Tensor *domain, bool is_dropped) {
  int last = domain->ndim - 1;
  if (look->ndim != domain->ndim - is_dropped || memcmp(look->sizes, domain->sizes, sizeof(int64_t) * (size_t)last))
    return false;
  return is_dropped || look->sizes[last] == domain->sizes[last] || look->sizes[last] == 1;
}

FuseRefusal fuse_lines_check(const FuseCall *call) {
  const FuseGroup *g = call->group;
  const Tensor *domain = NULL;
  if (g->store_count > KERNEL_MAX_OUTPUTS) return FUSE_LINES;
  for (uint32_t i = 0; i < g->step_count; i++) {
    const FuseStep *step = &g->steps[i];
    if (!step->line) continue;
    const Tensor *look = operand_of(call, step);
    if (!is_along_last(step, look) || look->sizes[look->ndim - 1] > FUSE_MAX_LINE) return FUSE_LINES;
    if (line_gives_number((LineFunction)step->line) && !is_innermost(look)) return FUSE_LINES;
    if (!domain) domain = look;
    if (!same_sizes(look, domain)) return FUSE_SHAPE;
  }
  if (!domain->numel) return FUSE_SHAPE;
  for (uint32_t i = 0; i < g->leaf_count; i++)
    if (!broadcasts_to(call->values[g->leaves[i]], domain)) return FUSE_SHAPE;
  for (uint32_t i = 0; i < g->store_count; i++)
    if (!is_storable(call->values[g->stores[i]], domain, is_dropped(g, g->stores[i]))) return FUSE_SHAPE;
  return FUSE_NOT_REFUSED;
}

/* ---- lowering ---- */

static bool is_whole(DType dtype) {
  return dtype_is_integral(dtype) || dtype == DTYPE_BOOL;
}

DType fuse_line_dtype(const Call *call, const FuseStep *step) {
  DType self = (DType)call->inputs[0].tensor->dtype;
  int dtype = call_find_argument(call, "dtype");
  DType fallback = step->line == LINE_SUM && is_whole(self) ? DTYPE_INT64 : self;
  return dtype < 0 ? fallback : call_dtype_or(call, (uint32_t)dtype, fallback);
}

/* The type that the operator's kernel computes in; TILE_TYPE_COUNT: this is left to it. */
static TileType compute_type(LineFunction function, DType self, DType result, TileType operand) {
  bool is_softmax = function == LINE_SOFTMAX || function == LINE_LOG_SOFTMAX;
  if (function == LINE_NORMALIZE) return self == DTYPE_FLOAT32 ? TILE_F32 : TILE_TYPE_COUNT;
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
  LineFunction function = (LineFunction)step->line;
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
