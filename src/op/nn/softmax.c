/* softmax and log_softmax along one dimension, and their gradients. Lines are computed in float32 (halves too,
 * softmax_line.h) or float64. */
#include "op/nn/softmax.h"

#include <math.h>

#include "base/parallel.h"
#include "base/work_limit.h"
#include "call/row_extras.h"
#include "tensor/iterate.h"
#include "tile/line.h"
#include "tile/loops.h"
#include "tile/softmax_line.h"

enum { LINE_ON_STACK = 1024 };

typedef struct SoftmaxRun {
  int64_t length;
  DType in, out, compute;
  bool is_log,
      rounds;        /* rounds: the sum and its logarithm to bfloat16, as PyTorch 1.13 does along the last dimension */
  SoftmaxLine *line; /* of float32 */
  _Atomic bool failed;
} SoftmaxRun;

/* data: out, in */
static void run_line(void *argument, char *const *data, const int64_t *strides) {
  SoftmaxRun *s = argument;
  bool single = s->compute == DTYPE_FLOAT32;
  if (single && s->in == DTYPE_FLOAT32 && s->out == DTYPE_FLOAT32 && strides[0] == sizeof(float) &&
      strides[1] == sizeof(float)) {
    s->line(s->length, (const float *)data[1], (float *)data[0], s->is_log);
    return;
  }
  double stack[LINE_ON_STACK], *buffer = stack;
  if (s->length > LINE_ON_STACK) {
    buffer = mem_calloc((size_t)s->length, sizeof(double));
    if (!buffer) {
      s->failed = true;
      return;
    }
  }
  dtype_convert(s->compute, buffer, 1, s->in, data[1], strides[1] / (int64_t)dtype_size(s->in), s->length);
  if (single)
    s->line(s->length, (float *)buffer, (float *)buffer, s->is_log);
  else
    softmax_line_f64(s->length, buffer, buffer, s->is_log, s->rounds);
  dtype_convert(s->out, data[0], strides[0] / (int64_t)dtype_size(s->out), s->compute, buffer, 1, s->length);
  if (buffer != stack) mem_free(buffer);
}

/* Dense float32 whose lines lie side by side, `inner` of them: row by row of a block of lines, neighbours at once. */
typedef struct SoftmaxBlocks {
  int64_t length, inner, blocks; /* blocks: of the inner lines */
  const float *x;
  float *to;
  bool is_log;
  TileLoop *exponentials, *subtract, *multiply;
} SoftmaxBlocks;
enum { BLOCK = 256, LEAST_INNER = 16 };

static void softmax_block(const SoftmaxBlocks *s, int64_t n, const float *x, float *to) {
  float most[BLOCK], e[BLOCK];
  double sums[BLOCK] = {0};
  int64_t end = s->length * s->inner;
  for (int64_t i = 0; i < n; i++) most[i] = -INFINITY; /* without NaN, which spreads by the sum */
  for (int64_t at = 0; at < end; at += s->inner)
    for (int64_t i = 0; i < n; i++) most[i] = x[at + i] > most[i] ? x[at + i] : most[i];
  for (int64_t at = 0; at < end; at += s->inner) {
    float *terms = s->is_log ? e : to + at;
    s->subtract(n, terms, x + at, most, NULL);
    s->exponentials(n, terms, terms, NULL, NULL);
    for (int64_t i = 0; i < n; i++) sums[i] += (double)terms[i];
  }
  for (int64_t i = 0; i < n; i++) e[i] = s->is_log ? logf((float)sums[i]) : 1 / (float)sums[i];
  for (int64_t at = 0; at < end; at += s->inner) {
    if (s->is_log) s->subtract(n, to + at, x + at, most, NULL);
    (s->is_log ? s->subtract : s->multiply)(n, to + at, to + at, e, NULL);
  }
}

static void softmax_blocks(void *argument, int64_t begin, int64_t end) {
  const SoftmaxBlocks *s = argument;
  for (int64_t item = begin; item < end && !work_is_over(); item++) {
    int64_t first = item % s->blocks * BLOCK, n = s->inner - first < BLOCK ? s->inner - first : BLOCK;
    int64_t at = item / s->blocks * s->length * s->inner + first;
    softmax_block(s, n, s->x + at, s->to + at);
  }
}

/* false: not this case. */
static bool run_blocks(const SoftmaxRun *run, const Exec *exec, const Tensor *self, Tensor *out, int64_t dim) {
  if (run->in != DTYPE_FLOAT32 || run->out != DTYPE_FLOAT32 || !tensor_is_contiguous(self) ||
      !tensor_is_contiguous(out))
    return false;
  SoftmaxBlocks s = {.length = run->length,
                     .inner = 1,
                     .x = tensor_data(self),
                     .to = tensor_data(out),
                     .is_log = run->is_log,
                     .exponentials = tile_loop(KERNEL_EXP, TILE_F32),
                     .subtract = tile_loop(KERNEL_SUB, TILE_F32),
                     .multiply = tile_loop(KERNEL_MUL, TILE_F32)};
  for (int d = (int)dim + 1; d < self->ndim; d++) s.inner *= self->sizes[d];
  if (s.inner < LEAST_INNER) return false;
  s.blocks = (s.inner + BLOCK - 1) / BLOCK;
  int64_t outer = self->numel / (s.length * s.inner), grain = 1 + 8192 / (s.length * BLOCK);
  parallel_for(exec->work.threads, outer * s.blocks, grain, softmax_blocks, &s);
  return true;
}

static Status kernel_softmax(Call *call) {
  bool is_log = call_param(call);
  const Tensor *self = call_tensor(call, 0);
  Tensor *out = call_out(call, 0);
  int64_t dim;
  TRY(dim_wrap(call_int(call, 1), self->ndim, &dim));
  bool rounds = is_log && self->dtype == DTYPE_BFLOAT16 && out->dtype == DTYPE_BFLOAT16 && dim == self->ndim - 1;
  DType compute = out->dtype == DTYPE_FLOAT64 || rounds ? DTYPE_FLOAT64 : DTYPE_FLOAT32;
  SoftmaxRun s = {.length = self->ndim ? self->sizes[dim] : 1,
                  .in = (DType)self->dtype,
                  .out = (DType)out->dtype,
                  .compute = compute,
                  .is_log = is_log,
                  .rounds = rounds,
                  .line = softmax_line()};
  if (self->numel == 0) return OK;
  if (self->ndim == 0) {
    double x = tensor_item_double(self) - tensor_item_double(self); /* NaN for what is not finite */
    if (!is_log) x += 1;
    dtype_convert(s.out, tensor_data(out), 1, DTYPE_FLOAT64, &x, 1, 1);
    return OK;
  }
  if (run_blocks(&s, call->exec, self, out, dim)) return work_check(&call->exec->work);
  TRY(iterate_lines(2, (const Tensor *const[]){out, self}, (int)dim, call->exec->work.threads, run_line, &s));
  return s.failed ? status_out_of_memory() : OK;
}

static Status softmax_spec(Call *call, TensorSpec *specs, DType dtype) {
  const Tensor *self = call_tensor(call, 0);
  int64_t dim;
  TRY(dim_wrap(call_int(call, 1), self->ndim, &dim));
  TRY(shape_rows_of_first(call, specs));
  specs->dtype = dtype;
  if (dtype_is_floating(dtype) || self->numel == 0) return OK;
  bool last = self->ndim == 0 || dim == self->ndim - 1, is_log = str_starts_with(call->op->name, "aten::log_");
  return status_new(ERROR_RUNTIME, "\"%s%s_kernel_impl\" not implemented for '%s'", last && is_log ? "log_" : "",
                    last ? "softmax_lastdim" : "softmax", dtype_scalar_name(dtype));
}
static Status shape_softmax(Call *call, TensorSpec *specs) { /* (self, dim, ..., dtype): the last argument */
  return softmax_spec(call, specs, call_dtype_or(call, call->input_count - 1, (DType)call_tensor(call, 0)->dtype));
}
static Status shape_half_softmax(Call *call, TensorSpec *specs) {
  DType self = (DType)call_tensor(call, 0)->dtype;
  if (call_bool(call, 2))
    return status_new(ERROR_RUNTIME, "softmax with half to float conversion is not supported on CPU");
  return softmax_spec(call, specs, self);
}

#define SOFTMAX_BACKWARD \
  "aten::_softmax_backward_data(Tensor grad_output, Tensor output, int dim, ScalarType input_dtype) -> Tensor"
#define SOFTMAX_GRAD "self: _softmax_backward_data(grad, result, dim, self.dtype)"
#define LOG_SOFTMAX_GRAD "self: _log_softmax_backward_data(grad, result, dim, self.dtype)"
static const OpRow rows[] = {
    {.schema = "aten::softmax.int(Tensor self, int dim, ScalarType? dtype=None) -> Tensor",
     .line = LINE_SOFTMAX,
     .shape = shape_softmax,
     .kernel = kernel_softmax,
     .extras = &(const RowExtras){.anchor = &softmax_anchor},
     .param = false,
     .grad = SOFTMAX_GRAD,
     .flags = OP_OUT | OP_ALIASING_OK},
    {.schema = "aten::log_softmax.int(Tensor self, int dim, ScalarType? dtype=None) -> Tensor",
     .cast = CAST_FULL_UNLESS_DTYPE,
     .line = LINE_LOG_SOFTMAX,
     .shape = shape_softmax,
     .kernel = kernel_softmax,
     .param = true,
     .grad = LOG_SOFTMAX_GRAD,
     .flags = OP_OUT | OP_ALIASING_OK},
    {.schema = "aten::special_softmax(Tensor self, int dim, ScalarType? dtype=None) -> Tensor",
     .same_as = "aten::softmax",
     .shape = shape_softmax,
     .kernel = kernel_softmax,
     .param = false,
     .grad = SOFTMAX_GRAD,
     .flags = OP_ALIASING_OK},
    {.schema = "aten::special_log_softmax(Tensor self, int dim, *, ScalarType? dtype=None) -> Tensor",
     .same_as = "aten::log_softmax",
     .shape = shape_softmax,
     .kernel = kernel_softmax,
     .param = true,
     .grad = LOG_SOFTMAX_GRAD,
     .flags = OP_ALIASING_OK},
    {.schema = "aten::_softmax(Tensor self, int dim, bool half_to_float) -> Tensor",
     .shape = shape_half_softmax,
     .kernel = kernel_softmax,
     .param = false,
     .grad = SOFTMAX_GRAD,
     .flags = OP_OUT | OP_ALIASING_OK},
    {.schema = "aten::_log_softmax(Tensor self, int dim, bool half_to_float) -> Tensor",
     .shape = shape_half_softmax,
     .kernel = kernel_softmax,
     .param = true,
     .grad = LOG_SOFTMAX_GRAD,
     .flags = OP_OUT | OP_ALIASING_OK},
    {.schema = SOFTMAX_BACKWARD,
     .out = "out: grad_input",
     .body = "product = grad_output * output\n"
             "return (product - output * product.sum([dim], True)).to(input_dtype)"},
    {.schema = SOFTMAX_BACKWARD,
     .torch = 2, /* bfloat16 is computed in float32 */
     .out = "out: grad_input",
     .body = "g = opmath(grad_output)\n"
             "out = opmath(output)\n"
             "product = g * out\n"
             "return (product - out * product.sum([dim], True)).to(input_dtype)"},
    {.schema = "aten::_log_softmax_backward_data(Tensor grad_output, Tensor output, int dim, ScalarType input_dtype) "
               "-> Tensor",
     .body = "return (grad_output - output.exp() * grad_output.sum([dim], True)).to(input_dtype)"},
};
OP_TABLE(op_table_softmax, rows);
