/* Running results along one dimension: cumsum, cumprod, cummax, cummin, logcumsumexp. */
#include "base/parallel.h"
#include "base/work_limit.h"
#include "call/row.h"
#include "tensor/iterate.h"

#include <complex.h>
#include <math.h>

enum { CHUNK = 128, LEAST_INNER = 16 };

typedef enum ScanKind { SCAN_SUM, SCAN_PROD, SCAN_LOGSUMEXP, SCAN_MAX, SCAN_MIN } ScanKind;

typedef struct Scan {
  ScanKind kind;
  DType in, out;
  int64_t length;
  int64_t inner, blocks; /* of dense tensors: how many lines lie side by side, in how many blocks; or 0 */
  const char *from;
  char *to;
} Scan;

#define SCAN_CHUNK(T, START, STEP)                  \
  if (scan->inner) {                                \
    T *restrict x = values, *restrict runs = run;   \
    for (int64_t i = 0; i < n; i++) {               \
      T a = first ? (START) : runs[i];              \
      STEP;                                         \
      runs[i] = x[i] = a;                           \
    }                                               \
  } else {                                          \
    T *x = values, a = first ? (START) : *(T *)run; \
    for (int64_t i = 0; i < n; i++) {               \
      STEP;                                         \
      x[i] = a;                                     \
    }                                               \
    *(T *)run = a;                                  \
  }

static double log_add_exp(double a, double x) {
  if (isnan(a) || isnan(x)) return NAN;
  double high = a > x ? a : x, low = a > x ? x : a;
  return isinf(high) && high == low ? high : high + log1p(exp(low - high));
}

static complex128 complex_log1p(complex128 z) {
  double x = creal(z), y = cimag(z);
  return __builtin_complex(0.5 * log1p(x * x + 2 * x + y * y), atan2(y, 1 + x));
}
/* By the real parts. Of two equal infinite ones the imaginary parts count if they are +inf. */
static complex128 complex_log_add_exp(complex128 a, complex128 x) {
  if (isnan(creal(a)) || isnan(cimag(a)) || isnan(creal(x)) || isnan(cimag(x)))
    return __builtin_complex((double)NAN, (double)NAN);
  complex128 high = creal(a) > creal(x) ? a : x, low = creal(a) > creal(x) ? x : a;
  if (isinf(creal(low)) && creal(low) == creal(high)) return creal(low) < 0 ? low : clog(cexp(low) + cexp(high));
  return high + complex_log1p(cexp(low - high));
}

/* Steps over n values in place. *run carries the running result from chunk to chunk; of lines side by side each value
 * is another line's, and run an array. */
static void scan_chunk(const Scan *scan, DType class, void *values, int64_t n, bool first, void *run) {
  if (class == DTYPE_COMPLEX128) {
    if (scan->kind == SCAN_SUM)
      SCAN_CHUNK(complex128, 0, a += x[i])
    else if (scan->kind == SCAN_PROD)
      SCAN_CHUNK(complex128, 1, a *= x[i])
    else
      SCAN_CHUNK(complex128, -INFINITY, a = complex_log_add_exp(a, x[i]))
  } else if (class == DTYPE_INT64) {
    if (scan->kind == SCAN_SUM)
      SCAN_CHUNK(uint64_t, 0, a += x[i])
    else
      SCAN_CHUNK(uint64_t, 1, a *= x[i])
  } else if (scan->kind == SCAN_SUM) {
    SCAN_CHUNK(double, 0, a += x[i])
  } else if (scan->kind == SCAN_PROD) {
    SCAN_CHUNK(double, 1, a *= x[i])
  } else {
    SCAN_CHUNK(double, -INFINITY, a = log_add_exp(a, x[i]))
  }
}

static DType class_of(DType dtype) {
  return dtype_is_complex(dtype) ? DTYPE_COMPLEX128 : dtype_is_floating(dtype) ? DTYPE_FLOAT64 : DTYPE_INT64;
}

static void scan_line(void *argument, char *const *data, const int64_t *strides) {
  const Scan *scan = argument;
  DType class = class_of(scan->out);
  int64_t in_step = strides[1] / (int64_t)dtype_size(scan->in), out_step = strides[0] / (int64_t)dtype_size(scan->out);
  complex128 values[CHUNK], run = 0;
  for (int64_t i = 0, done = 0; i < scan->length && !work_is_over_after(&done, CHUNK); i += CHUNK) {
    int64_t n = scan->length - i < CHUNK ? scan->length - i : CHUNK;
    dtype_convert(class, values, 1, scan->in, data[1] + i * strides[1], in_step, n);
    scan_chunk(scan, class, values, n, i == 0, &run);
    dtype_convert(scan->out, data[0] + i * strides[0], out_step, class, values, 1, n);
  }
}

/* Rows of up to CHUNK lines at once. */
static void scan_blocks(void *argument, int64_t begin, int64_t end) {
  const Scan *scan = argument;
  DType class = class_of(scan->out);
  int64_t in_size = (int64_t)dtype_size(scan->in), out_size = (int64_t)dtype_size(scan->out), done = 0;
  complex128 values[CHUNK], runs[CHUNK];
  for (int64_t item = begin; item < end; item++) {
    int64_t first = item % scan->blocks * CHUNK, n = scan->inner - first < CHUNK ? scan->inner - first : CHUNK;
    int64_t at = item / scan->blocks * scan->length * scan->inner + first;
    for (int64_t i = 0; i < scan->length && !work_is_over_after(&done, n); i++, at += scan->inner) {
      dtype_convert(class, values, 1, scan->in, scan->from + at * in_size, 1, n);
      scan_chunk(scan, class, values, n, i == 0, runs);
      dtype_convert(scan->out, scan->to + at * out_size, 1, class, values, 1, n);
    }
  }
}

/* Values and positions of the last extreme so far; a NaN stays. */
static void extreme_line(void *argument, char *const *data, const int64_t *strides) {
  const Scan *scan = argument;
  bool floating = dtype_is_floating(scan->in), want_max = scan->kind == SCAN_MAX;
  double best = 0;
  int64_t best_int = 0, at = 0;
  for (int64_t i = 0, done = 0; i < scan->length && !work_is_over_after(&done, 1); i++) {
    double x = 0;
    int64_t k = 0;
    bool better;
    if (floating) {
      dtype_convert(DTYPE_FLOAT64, &x, 1, scan->in, data[2] + i * strides[2], 1, 1);
      better = i == 0 || isnan(x) || (!isnan(best) && (want_max ? x >= best : x <= best));
    } else {
      dtype_convert(DTYPE_INT64, &k, 1, scan->in, data[2] + i * strides[2], 1, 1);
      better = i == 0 || (want_max ? k >= best_int : k <= best_int);
    }
    if (better) {
      best = x;
      best_int = k;
      at = i;
    }
    dtype_convert(scan->out, data[0] + i * strides[0], 1, floating ? DTYPE_FLOAT64 : DTYPE_INT64,
                  floating ? (void *)&best : (void *)&best_int, 1, 1);
    memcpy(data[1] + i * strides[1], &at, sizeof at);
  }
}

static Status shape_scan(Call *call, TensorSpec *specs) {
  const Tensor *self = call_tensor(call, 0);
  int64_t dim;
  TRY(dim_wrap(call_int(call, 1), self->ndim, &dim));
  TRY(shape_rows_of_first(call, specs));
  DType dtype = class_of((DType)self->dtype) == DTYPE_INT64 ? DTYPE_INT64 : (DType)self->dtype;
  specs->dtype = call->input_count > 2 ? call_dtype_or(call, 2, dtype) : dtype;
  if (specs->dtype == DTYPE_BOOL && self->ndim && self->numel) /* asked for: that of bools is int64 */
    return status_new(ERROR_RUNTIME, "\"%s_out_cpu\" not implemented for 'Bool'",
                      call_param(call) == SCAN_SUM ? "cumsum" : "cumprod");
  return OK;
}
static Status shape_log_scan(Call *call, TensorSpec *specs) {
  DType self = (DType)call_tensor(call, 0)->dtype;
  bool is_complex = dtype_is_complex(self) && work_is_torch2(&call->exec->work);
  if (!dtype_is_floating(self) && !is_complex) return call_unsupported_dtype(call, self);
  return shape_scan(call, specs);
}
static Status shape_extreme_scan(Call *call, TensorSpec *specs) {
  DType self = (DType)call_tensor(call, 0)->dtype;
  if (dtype_is_complex(self)) return call_unsupported_dtype(call, self);
  if (call_tensor(call, 0)->ndim && call_tensor(call, 0)->numel)
    TRY(shape_scan(call, specs));
  else
    TRY(shape_rows_of_first(call, specs)); /* the dimension is not looked at */
  specs[0].dtype = self;
  specs[1] = specs[0];
  specs[1].dtype = DTYPE_INT64;
  return OK;
}

static Status kernel_scan(Call *call) {
  ScanKind kind = (ScanKind)call_param(call);
  const Tensor *self = call_tensor(call, 0);
  Tensor *out = call_out(call, 0);
  if (self->numel == 0) return OK;
  if (self->ndim == 0) {
    if (call->output_count > 1) tensor_fill_zero(call_out(call, 1));
    return tensor_copy(out, self, 1);
  }
  int64_t dim;
  TRY(dim_wrap(call_int(call, 1), self->ndim, &dim));
  Scan scan = {kind, (DType)self->dtype, (DType)out->dtype, self->sizes[dim]};
  if (kind == SCAN_MAX || kind == SCAN_MIN)
    return iterate_lines(3, (const Tensor *const[]){out, call_out(call, 1), self}, (int)dim, call->exec->work.threads,
                         extreme_line, &scan);
  int64_t inner = 1;
  for (int d = (int)dim + 1; d < self->ndim; d++) inner *= self->sizes[d];
  if (inner < LEAST_INNER || !tensor_is_contiguous(self) || !tensor_is_contiguous(out))
    return iterate_lines(2, (const Tensor *const[]){out, self}, (int)dim, call->exec->work.threads, scan_line, &scan);
  scan.inner = inner;
  scan.blocks = (inner + CHUNK - 1) / CHUNK;
  scan.from = tensor_data(self);
  scan.to = tensor_data(out);
  int64_t items = self->numel / (scan.length * inner) * scan.blocks;
  parallel_for(call->exec->work.threads, items, 1 + 12288 / (scan.length * CHUNK), scan_blocks, &scan);
  return work_check(&call->exec->work);
}

#define LOG_SCAN(kinds, ...)                                                                                  \
  {                                                                                                           \
    .schema = "aten::logcumsumexp(Tensor self, int dim) -> Tensor", .dtypes = "logcumsumexp_out_cpu: " kinds, \
    .shape = shape_log_scan, .kernel = kernel_scan, .param = SCAN_LOGSUMEXP,                                  \
    .grad = "self: logcumsumexp_backward(grad, self, result, dim)", .flags = OP_OUT, __VA_ARGS__              \
  }
static const OpRow rows[] = {
    {.schema = "aten::cumsum(Tensor self, int dim, *, ScalarType? dtype=None) -> Tensor",
     .cast = CAST_FULL_UNLESS_DTYPE,
     .shape = shape_scan,
     .kernel = kernel_scan,
     .param = SCAN_SUM,
     .grad = "self: grad.flip([dim]).cumsum(dim).flip([dim])",
     .flags = OP_ACCEPT_UNSIGNED | OP_INPLACE | OP_OUT},
    {.schema = "aten::cumprod(Tensor self, int dim, *, ScalarType? dtype=None) -> Tensor",
     .cast = CAST_FULL_UNLESS_DTYPE,
     .shape = shape_scan,
     .kernel = kernel_scan,
     .param = SCAN_PROD,
     .grad = "self: cumprod_backward(grad, self, dim, result)",
     .flags = OP_ACCEPT_UNSIGNED | OP_INPLACE | OP_OUT},
    LOG_SCAN("floating", .torch = 0),
    LOG_SCAN("floating complex", .torch = 2),
    {.schema = "aten::cummax(Tensor self, int dim) -> (Tensor values, Tensor indices)",
     .out = "out: values indices",
     .shape = shape_extreme_scan,
     .kernel = kernel_scan,
     .param = SCAN_MAX,
     .grad = "self: cummaxmin_backward(grad, self, results[1], dim)",
     .flags = OP_OUT},
    {.schema = "aten::cummin(Tensor self, int dim) -> (Tensor values, Tensor indices)",
     .out = "out: values indices",
     .shape = shape_extreme_scan,
     .kernel = kernel_scan,
     .param = SCAN_MIN,
     .grad = "self: cummaxmin_backward(grad, self, results[1], dim)",
     .flags = OP_OUT},
    {.schema = "aten::cummaxmin_backward(Tensor grad, Tensor input, Tensor indices, int dim) -> Tensor",
     .body = "return torch.zeros_like(input).scatter_add(dim, indices, grad) if input.numel() != 0 else input"},
};
OP_TABLE(op_table_scan, rows);
