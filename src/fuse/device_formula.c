/* Formulas of operators (rows with .lower) on devices: an operator by itself runs its kernel by the fusion back end
 * of the device that its tensors are on. A back end sees few layouts: dimensions are sorted by the output's strides
 * and joined where all operands allow it, and operands that repeat have strides of 0. */
#include "fuse/device_formula.h"

#include <assert.h>

#include "call/pointwise.h"
#include "fuse/compiled.h"
#include "tile/formula.h"

enum { MAX_OPERANDS = FORMULA_MAX_PARAMETERS + KERNEL_MAX_OUTPUTS, MAX_RANK = 8, MAX_SIGNATURES = 512 };

bool device_runs_formulas(int device_type) {
  return (fuse_all_of(device_type) & ~(1u << BACKEND_TILE)) != 0;
}

/* What was compiled for a kernel, which is an operator's and so is never freed. */
static Status compiled_of(KernelIr *kernel, FuseCompiledList **out) {
  *out = atomic_load_explicit(&kernel->for_devices, memory_order_acquire);
  if (*out) return OK;
  HEAP_SCOPE(NULL);
  FuseCompiledList *list = mem_calloc(1, sizeof *list);
  if (!list) return status_out_of_memory();
  list->most = MAX_SIGNATURES;
  void *other = NULL;
  if (!atomic_compare_exchange_strong(&kernel->for_devices, &other, list)) {
    mem_free(list);
    list = other;
  }
  *out = list;
  return OK;
}

/* ---- numbers ---- */

/* A number that is a tensor of the host becomes one that back ends know as such. */
static void take_number(TileArgument *argument) {
  const Tensor *t = argument->tensor;
  DType dtype = (DType)t->dtype;
  if (dtype_is_complex(dtype)) {
    complex128 value;
    dtype_convert(DTYPE_COMPLEX128, &value, 1, dtype, tensor_data(t), 1, 1);
    *argument = (TileArgument){.kind = TILE_ARG_COMPLEX, .c = value};
  } else if (dtype_is_floating(dtype)) {
    double value;
    dtype_convert(DTYPE_FLOAT64, &value, 1, dtype, tensor_data(t), 1, 1);
    *argument = (TileArgument){.kind = TILE_ARG_FLOAT, .f = value};
  } else {
    int64_t value;
    dtype_convert(DTYPE_INT64, &value, 1, dtype, tensor_data(t), 1, 1);
    *argument = (TileArgument){.kind = TILE_ARG_INT, .i = value};
  }
}

/* ---- layouts ---- */

typedef struct Operand {
  Tensor metadata; /* nobody counts it */
  int64_t sizes[MAX_RANK], strides[MAX_RANK];
} Operand;
typedef struct Layout {
  int count, rank; /* of operands: outputs, then tensors among the arguments */
  const Tensor *tensors[MAX_OPERANDS];
  int64_t sizes[TENSOR_MAX_DIMS], strides[MAX_OPERANDS][TENSOR_MAX_DIMS];
  Operand operands[MAX_OPERANDS];
} Layout;

/* The stride of t along dimension d of what it is broadcast to. */
static int64_t stride_along(const Tensor *t, const Tensor *like, int d) {
  int own = d - (like->ndim - t->ndim);
  return own < 0 || t->sizes[own] == 1 ? 0 : t->strides[own];
}

static void swap_dims(Layout *l, int a, int b) {
  int64_t size = l->sizes[a];
  l->sizes[a] = l->sizes[b];
  l->sizes[b] = size;
  for (int i = 0; i < l->count; i++) {
    int64_t stride = l->strides[i][a];
    l->strides[i][a] = l->strides[i][b];
    l->strides[i][b] = stride;
  }
}

static bool can_join(const Layout *l, int outer, int inner) {
  for (int i = 0; i < l->count; i++)
    if (l->strides[i][outer] != l->strides[i][inner] * l->sizes[inner]) return false;
  return true;
}

static void set_dim(Layout *l, int to, int from) {
  l->sizes[to] = l->sizes[from];
  for (int i = 0; i < l->count; i++) l->strides[i][to] = l->strides[i][from];
}

static void find_dims(Layout *l, const Tensor *like) {
  for (int d = 0; d < like->ndim; d++) {
    if (like->sizes[d] == 1) continue;
    l->sizes[l->rank] = like->sizes[d];
    for (int i = 0; i < l->count; i++) l->strides[i][l->rank] = stride_along(l->tensors[i], like, d);
    int at = l->rank++;
    for (; at > 0 && l->strides[0][at - 1] < l->strides[0][at]; at--) swap_dims(l, at - 1, at);
  }
}

static void join_dims(Layout *l) {
  int last = 0;
  for (int d = 1; d < l->rank; d++) {
    if (!can_join(l, last, d)) {
      set_dim(l, ++last, d);
      continue;
    }
    l->sizes[last] *= l->sizes[d];
    for (int i = 0; i < l->count; i++) l->strides[i][last] = l->strides[i][d];
  }
  if (l->rank) l->rank = last + 1;
}

static void make_metadata(const Layout *l, int i, Operand *to) {
  const Tensor *t = l->tensors[i];
  bool repeats = true; /* along all dimensions */
  for (int d = 0; d < l->rank; d++) repeats &= l->strides[i][d] == 0;
  memset(&to->metadata, 0, offsetof(Tensor, dims));
  to->metadata.flags = t->flags & TENSOR_NOT_CPU;
  to->metadata.dtype = t->dtype;
  to->metadata.storage = t->storage;
  to->metadata.offset = t->offset;
  to->metadata.sizes = to->sizes;
  to->metadata.strides = to->strides;
  to->metadata.ndim = (uint8_t)(repeats ? 0 : l->rank);
  to->metadata.numel = 1;
  for (int d = 0; d < to->metadata.ndim; d++) {
    to->metadata.numel *= to->sizes[d] = l->sizes[d];
    to->strides[d] = l->strides[i][d];
  }
  tensor_judge_strides(&to->metadata);
}

/* Puts metadata in the place of outputs and arguments. */
static Status simplify(PointwiseRun *run, int argument_count, int output_count, Layout *l) {
  l->count = l->rank = 0;
  for (int i = 0; i < output_count; i++) l->tensors[l->count++] = run->outputs[i];
  for (int i = 0; i < argument_count; i++)
    if (run->arguments[i].kind == TILE_ARG_TENSOR) l->tensors[l->count++] = run->arguments[i].tensor;
  assert(l->count <= MAX_OPERANDS);
  find_dims(l, run->outputs[0]);
  join_dims(l);
  if (l->rank > MAX_RANK) return status_new(ERROR_UNSUPPORTED, "tensors of more than %d dimensions", MAX_RANK);
  for (int i = 0; i < l->count; i++) make_metadata(l, i, &l->operands[i]);
  int next = 0;
  for (int i = 0; i < output_count; i++) run->outputs[i] = &l->operands[next++].metadata;
  for (int i = 0; i < argument_count; i++)
    if (run->arguments[i].kind == TILE_ARG_TENSOR) run->arguments[i].tensor = &l->operands[next++].metadata;
  return OK;
}

/* ---- running ---- */

static Status run_prepared(PointwiseRun *run, const Call *call, int device_type) {
  KernelIr *kernel = run->kernel->ir;
  FuseCompiledList *list;
  FuseSignature signature;
  FuseCompiled *compiled;
  Layout layout;
  for (int i = 0; i < kernel->argument_count; i++)
    if (run->arguments[i].kind == TILE_ARG_TENSOR && tensor_device(run->arguments[i].tensor).type == DEVICE_CPU)
      take_number(&run->arguments[i]);
  TRY(simplify(run, kernel->argument_count, kernel->output_count, &layout));
  TRY(compiled_of(kernel, &list));
  fuse_signature(call->exec->work.precision, kernel, run->arguments, kernel->argument_count, run->outputs, &signature);
  TRY(fuse_compiled_enter_now(list, kernel, fuse_all_of(device_type), &signature, &compiled));
  Status status = fuse_compiled_run(compiled, call->exec->work.threads, run->arguments, run->outputs);
  fuse_compiled_leave(compiled);
  return status;
}

Status device_formula_run(Call *call) {
  PointwiseRun run;
  TRY(pointwise_prepare(call, &run));
  const Tensor *like = run.outputs[0];
  int type = tensor_device(like).type;
  if (like->numel == 0) return OK;
  Status status = run_prepared(&run, call, type);
  if (!status || status->code != ERROR_UNSUPPORTED) return status;
  const Operator *op = call->op;
  return status_context(status, STR_FMT "%s" STR_FMT " does not run on device '%s'", STR_ARG(op->name),
                        op->overload_name.length ? "." : "", STR_ARG(op->overload_name), device_type_name(type));
}
