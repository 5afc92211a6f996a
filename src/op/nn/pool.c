/* Pooling: maximum, average and adaptive, forward and back. Planes are walked in double for every element type but
 * float32, whose planes are read in place. */
#include "op/nn/pool.h"

#include <assert.h>
#include <math.h>

#include "base/parallel.h"
#include "base/work_limit.h"
#include "call/agree.h"
#include "call/row.h"
#include "compute/pool/pool_indices.h"
#include "tensor/layout.h"
#include "tile/line_sum.h"

int pool_spatial(const Call *call) {
  Str name = call->op->name;
  for (size_t i = 0; i + 1 < name.length; i++)
    if (name.data[i] >= '1' && name.data[i] <= '3' && name.data[i + 1] == 'd') return name.data[i] - '0';
  return 2;
}

static Status read_numbers(const Call *call, const char *name, int spatial, int64_t fallback, int64_t least,
                           int64_t *out) {
  for (int d = 0; d < 3; d++) out[d] = d < 3 - spatial ? (least > 0 ? 1 : 0) : fallback;
  int at = call_find_argument(call, name);
  if (at < 0) return OK;
  size_t count;
  const int64_t *values = call_ints(call, (uint32_t)at, &count);
  if (count == 0) return OK;
  if (count != 1 && count != (size_t)spatial)
    return status_new(ERROR_RUNTIME, STR_FMT ": %s must either be a single int, or a tuple of %d ints",
                      STR_ARG(str_slice(call->op->name, 6, call->op->name.length)), name, spatial);
  for (int d = 0; d < spatial; d++) {
    int64_t v = values[count == 1 ? 0 : d];
    if (v < least || v > INT32_MAX)
      return status_new(ERROR_RUNTIME, "%s should %s, but got %lld", name,
                        least > 0 ? "be greater than zero" : "not be negative", (long long)v);
    out[3 - spatial + d] = v;
  }
  return OK;
}

static Status read_input(const Call *call, uint32_t input_at, int spatial, PoolWindow *w) {
  const Tensor *input = call_tensor(call, input_at);
  memset(w, 0, sizeof *w);
  w->spatial = spatial;
  if (input->ndim != spatial + 1 && input->ndim != spatial + 2) {
    bool max = str_starts_with(call->op->name, "aten::max_pool");
    if (max && spatial > 1)
      return status_new(ERROR_RUNTIME, "non-empty %dD or %dD (batch mode) tensor expected for input", spatial + 1,
                        spatial + 2);
    if (max)
      return status_new(
          ERROR_RUNTIME,
          "max_pool1d: Expected 2D or 3D (batch mode) tensor with optional 0 dim batch size for input, but got:%s",
          SIZES_TEXT(input->ndim, input->sizes));
    if (spatial == 1)
      return status_new(ERROR_RUNTIME,
                        "Expected 2 to 3 dimensions, but got %d-dimensional tensor for argument #1 'self' (while "
                        "checking arguments for " STR_FMT ")",
                        input->ndim, STR_ARG(str_slice(call->op->name, 6, call->op->name.length)));
    return status_new(
        ERROR_RUNTIME,
        "Expected %dD or %dD (batch mode) tensor with optional 0 dim batch size for input, but got: %d dimensions",
        spatial + 1, spatial + 2, input->ndim);
  }
  w->unbatched = input->ndim == spatial + 1;
  w->planes = w->unbatched ? input->sizes[0] : input->sizes[0] * input->sizes[1];
  for (int d = 0; d < 3; d++) w->in[d] = 1;
  for (int d = 0; d < spatial; d++) {
    w->in[3 - spatial + d] = input->sizes[input->ndim - spatial + d];
    if (input->sizes[input->ndim - spatial + d] == 0)
      return status_new(
          ERROR_RUNTIME,
          "Expected input with optional 0 dim batch size and other non-zero dimensions, but got a dimension of size 0");
  }
  return OK;
}

/* "3x2x2": channels and the dimensions that windows go over. */
static void put_plane(const PoolWindow *w, int64_t channels, const int64_t *sizes, StrBuf *out) {
  assert(w->spatial >= 1 && w->spatial <= 3);
  strbuf_printf(out, w->spatial == 1 ? "%lldx1" : "%lld", (long long)channels); /* a line is a plane of one row */
  for (int d = 3 - w->spatial; d < 3; d++) strbuf_printf(out, "x%lld", (long long)sizes[d]);
}
static Status output_too_small(const PoolWindow *w, const Tensor *input) {
  assert(input->ndim > w->spatial);
  int64_t channels = input->sizes[input->ndim - w->spatial - 1];
  StrBuf text = {0};
  strbuf_puts(&text, "Given input size: (");
  put_plane(w, channels, w->in, &text);
  strbuf_puts(&text, "). Calculated output size: (");
  put_plane(w, channels, w->out, &text);
  Status status = status_new(ERROR_RUNTIME, STR_FMT "). Output size is too small", STR_ARG(strbuf_view(&text)));
  strbuf_dispose(&text);
  return status;
}

/* Other than the adaptive ones they want a channel; a batch may be empty. PyTorch takes averages of lines as those of
 * planes of one row. */
static Status check_channels(const Call *call, const Tensor *input, const PoolWindow *w) {
  bool max = str_starts_with(call->op->name, "aten::max");
  int64_t sizes[TENSOR_MAX_DIMS];
  int ndim = 0, spatial = w->spatial == 1 && !max ? 2 : w->spatial;
  if (input->sizes[w->unbatched ? 0 : 1] != 0) return OK;
  for (int d = 0; d < input->ndim; d++) {
    if (spatial != w->spatial && d == input->ndim - 1) sizes[ndim++] = 1;
    sizes[ndim++] = input->sizes[d];
  }
  if (spatial == 3) {
    const char *name = max ? "max_pool3d_with_indices_out_cpu_template" : "avg_pool3d";
    return status_new(ERROR_RUNTIME,
                      "%s(): Expected input's non-batch dimensions to have positive length, but input has a shape of "
                      "%s and non-batch dimension 0 has length zero!",
                      name, SIZES_TEXT(input->ndim, input->sizes));
  }
  return status_new(ERROR_RUNTIME,
                    "%sExpected %dD or %dD (batch mode) tensor with optional 0 dim batch size for input, but got:%s",
                    spatial == 1 ? "max_pool1d: " : "", spatial + 1, spatial + 2, SIZES_TEXT(ndim, sizes));
}

/* How many windows there are, 0 or less where the first one does not fit. With ceil_mode the last may reach beyond the
 * input, and must begin in it or in its left padding. */
static int64_t count_windows(const PoolWindow *w, int d) {
  assert(d >= 0 && d < 3 && w->stride[d] > 0);
  int64_t reach = w->in[d] + 2 * w->padding[d] - w->dilation[d] * (w->kernel[d] - 1) - 1, stride = w->stride[d];
  if (w->ceil_mode) reach += stride - 1;
  int64_t count = reach / stride - (reach % stride < 0) + 1;
  return count - (w->ceil_mode && (count - 1) * stride >= w->in[d] + w->padding[d]);
}

/* Averages of volumes want an input that the kernel fits into, whatever is padded. */
static Status check_volume(const Call *call, const PoolWindow *w) {
  const int64_t *in = w->in, *k = w->kernel;
  if (w->spatial < 3 || !str_starts_with(call->op->name, "aten::avg")) return OK;
  if (in[0] >= k[0] && in[1] >= k[1] && in[2] >= k[2]) return OK;
  return status_new(
      ERROR_RUNTIME, "input image (T: %lld H: %lld W: %lld) smaller than kernel size (kT: %lld kH: %lld kW: %lld)",
      (long long)in[0], (long long)in[1], (long long)in[2], (long long)k[0], (long long)k[1], (long long)k[2]);
}

static Status read_window(const Call *call, uint32_t input_at, int spatial, PoolWindow *w, bool *out_is_small) {
  TRY(read_input(call, input_at, spatial, w));
  TRY(check_channels(call, call_tensor(call, input_at), w));
  TRY(read_numbers(call, "kernel_size", spatial, 1, 1, w->kernel));
  memcpy(w->stride, w->kernel, sizeof w->kernel);
  int stride = call_find_argument(call, "stride");
  if (stride >= 0 && call_list(call, (uint32_t)stride)->length)
    TRY(read_numbers(call, "stride", spatial, 1, 1, w->stride));
  TRY(read_numbers(call, "padding", spatial, 0, 0, w->padding));
  TRY(read_numbers(call, "dilation", spatial, 1, 1, w->dilation));
  int ceil_mode = call_find_argument(call, "ceil_mode");
  w->ceil_mode = ceil_mode >= 0 && call_bool(call, (uint32_t)ceil_mode);
  if (!(call_tensor(call, input_at)->flags & TENSOR_QUANTIZED)) TRY(check_volume(call, w));
  bool is_small = false;
  for (int d = 0; d < 3; d++) {
    if (w->padding[d] > w->kernel[d] / 2)
      return status_new(ERROR_RUNTIME,
                        "pad should be at most half of kernel size, but got pad=%lld and kernel_size=%lld",
                        (long long)w->padding[d], (long long)w->kernel[d]);
    int64_t count = count_windows(w, d);
    is_small |= count < 1;
    w->out[d] = count < 0 ? 0 : count;
  }
  *out_is_small = is_small;
  return OK;
}

Status pool_read(const Call *call, uint32_t input_at, int spatial, PoolWindow *w) {
  bool is_small;
  TRY(read_window(call, input_at, spatial, w, &is_small));
  return is_small ? output_too_small(w, call_tensor(call, input_at)) : OK;
}

Status pool_read_output_size(const Call *call, uint32_t input_at, int spatial, PoolWindow *w) {
  TRY(read_input(call, input_at, spatial, w));
  const List *sizes = call_list(call, (uint32_t)call_find_argument(call, "output_size"));
  if (sizes->length != (size_t)spatial && sizes->length != 1)
    return status_new(ERROR_RUNTIME, STR_FMT ": output_size must be %d",
                      STR_ARG(str_slice(call->op->name, 6, call->op->name.length)), spatial);
  for (int d = 0; d < 3; d++) w->out[d] = 1;
  for (int d = 0; d < spatial; d++) {
    int64_t v = sizes->ints[sizes->length == 1 ? 0 : d];
    if (v < 0)
      return status_new(ERROR_RUNTIME, "elements of output_size must be greater than or equal to 0 but received %lld",
                        (long long)v);
    w->out[3 - spatial + d] = v;
  }
  return OK;
}

void pool_spec(const Tensor *input, const PoolWindow *w, DType dtype, TensorSpec *out) {
  assert(input->ndim > w->spatial && input->ndim <= TENSOR_MAX_DIMS);
  memset(out, 0, offsetof(TensorSpec, sizes));
  out->dtype = dtype;
  out->device = tensor_device(input);
  out->ndim = input->ndim;
  memcpy(out->sizes, input->sizes, (size_t)input->ndim * sizeof(int64_t));
  for (int d = 0; d < w->spatial; d++) out->sizes[input->ndim - w->spatial + d] = w->out[3 - w->spatial + d];
}

/* ---- the walk over planes ---- */
typedef struct Pool Pool;
typedef void PlaneKernel(const Pool *p, const void *in, void *out, int64_t *indices);
struct Pool {
  PoolWindow w;
  PlaneKernel *kernel;
  const Tensor *in; /* dense */
  Tensor *out, *indices;
  bool count_include_pad, adaptive;
  int64_t divisor; /* 0: the window's */
  bool rounds;     /* sums to bfloat16, element by element: adaptive averages of volumes, which 2.x alone takes */
  _Atomic bool failed;
};

static int64_t numel3(const int64_t *n) {
  return n[0] * n[1] * n[2];
}

static void plane_max(const Pool *p, const void *from, void *to, int64_t *indices);
static void plane_max_integers(const Pool *p, const void *from, void *to, int64_t *indices);

/* In float64, or where the kernel is that of integers in int64. */
static void pool_planes(void *argument, int64_t begin, int64_t end) {
  Pool *p = argument;
  int64_t in = numel3(p->w.in), out = numel3(p->w.out);
  double *buffer = mem_calloc((size_t)(in + out), sizeof(double));
  if (!buffer) {
    p->failed = true;
    return;
  }
  DType dtype = (DType)p->in->dtype, compute = p->kernel == plane_max_integers ? DTYPE_INT64 : DTYPE_FLOAT64;
  int64_t item = (int64_t)dtype_size(dtype);
  for (int64_t plane = begin; plane < end && !work_is_over(); plane++) {
    dtype_convert(compute, buffer, 1, dtype, tensor_items(p->in, item) + plane * in * item, 1, in);
    p->kernel(p, buffer, buffer + in, p->indices ? (int64_t *)tensor_data(p->indices) + plane * out : NULL);
    dtype_convert(dtype, tensor_items(p->out, item) + plane * out * item, 1, compute, buffer + in, 1, out);
  }
  mem_free(buffer);
}

/* Averages of whole planes. */
static void average_whole(void *argument, int64_t begin, int64_t end) {
  const Pool *p = argument;
  int64_t n = numel3(p->w.in);
  const float *in = tensor_data(p->in);
  float *out = tensor_data(p->out);
  for (int64_t i = begin; i < end; i++) out[i] = (float)(line_sum_f32(n, in + i * n) / (double)n);
}

/* float32 in place; false: not this case. p->in and p->out are dense. */
static bool run_float32(Call *call, Pool *p, Status *status) {
  const PoolWindow *w = &p->w;
  if (p->in->dtype != DTYPE_FLOAT32) return false;
  if (p->adaptive && p->kernel != plane_max && numel3(w->out) == 1) {
    parallel_for(call->exec->work.threads, w->planes, 1 + 12288 / (numel3(w->in) + 1), average_whole, p);
    *status = work_check(&call->exec->work);
    return true;
  }
  PoolPlanes planes = {.planes = w->planes,
                       .averages = p->kernel != plane_max,
                       .count_include_pad = p->count_include_pad,
                       .divisor = p->divisor};
  for (int d = 0; d < 3; d++) {
    bool even = p->adaptive && w->in[d] > 0 && w->in[d] % w->out[d] == 0; /* windows of one size side by side */
    if (p->adaptive && !even) return false;
    planes.in[d] = w->in[d];
    planes.out[d] = w->out[d];
    planes.kernel[d] = even ? w->in[d] / w->out[d] : w->kernel[d];
    planes.stride[d] = even ? planes.kernel[d] : w->stride[d];
    planes.padding[d] = even ? 0 : w->padding[d];
    planes.dilation[d] = even ? 1 : w->dilation[d];
  }
  *status = p->indices ? pool_indices_run(&call->exec->work, &planes, tensor_data(p->in), tensor_data(p->out),
                                          tensor_data(p->indices))
                       : pool_planes_run(&call->exec->work, &planes, tensor_data(p->in), tensor_data(p->out));
  return true;
}

/* A row-major tensor in place of one that is not. */
static Status stand_in_for(Tensor **out) {
  Tensor *own = *out;
  if (own && !tensor_is_contiguous(own)) return tensor_empty((DType)own->dtype, own->ndim, own->sizes, out);
  return OK;
}
static Status copy_over(Status status, Tensor *to, Tensor *stand_in) {
  if (!status) status = tensor_copy(to, stand_in, 1);
  tensor_release(stand_in);
  return status;
}

static Status run_planes(Call *call, Pool *p, const Tensor *input) {
  Tensor *dense, *out = p->out, *indices = p->indices;
  Status status;
  if (out->numel == 0) return OK;
  TRY(tensor_contiguous(input, &dense));
  p->in = dense;
  TRY_GOTO(stand_in_for(&p->out), done);
  TRY_GOTO(stand_in_for(&p->indices), done);
  if (!run_float32(call, p, &status)) {
    parallel_for(call->exec->work.threads, p->w.planes, 1 + 8192 / (numel3(p->w.in) + 1), pool_planes, p);
    status = p->failed ? status_out_of_memory() : OK;
  }
done:
  if (p->out != out) status = copy_over(status, out, p->out);
  if (p->indices != indices) status = copy_over(status, indices, p->indices);
  tensor_release(dense);
  return status;
}

/* Looks whether work is over by the size of windows, which memory does not bound. */
#define EACH_OUTPUT(w)                                                                                        \
  for (int64_t o0 = 0, o = 0, done = 0, work = window_work(p) + 8, over = 0; o0 < (w)->out[0] && !over; o0++) \
    for (int64_t o1 = 0; o1 < (w)->out[1] && !over; o1++)                                                     \
      for (int64_t o2 = 0; o2 < (w)->out[2] && !(over = work_is_over_after(&done, work)); o2++, o++)

/* About how many elements a window covers. */
static int64_t window_work(const Pool *p) {
  const PoolWindow *w = &p->w;
  int64_t work = 1;
  for (int d = 0; d < 3; d++) {
    int64_t span = p->adaptive ? w->in[d] / (w->out[d] + 1) + 1 : w->kernel[d];
    work *= span < w->in[d] ? span : w->in[d];
  }
  return work;
}

typedef struct Span {
  int64_t begin, end, step;
} Span;
static Span window_span(const Pool *p, int d, int64_t o) {
  assert(d >= 0 && d < 3 && o >= 0 && o < p->w.out[d]);
  const PoolWindow *w = &p->w;
  if (p->adaptive) return (Span){adaptive_begin(o, w->out[d], w->in[d]), adaptive_end(o, w->out[d], w->in[d]), 1};
  int64_t begin = o * w->stride[d] - w->padding[d], end = begin + (w->kernel[d] - 1) * w->dilation[d] + 1;
  if (begin < 0) begin += (-begin + w->dilation[d] - 1) / w->dilation[d] * w->dilation[d];
  return (Span){begin, end < w->in[d] ? end : w->in[d], w->dilation[d]};
}

/* The first of the greatest. */
static void plane_max_integers(const Pool *p, const void *from, void *to, int64_t *indices) {
  const PoolWindow *w = &p->w;
  const int64_t *in = from;
  int64_t *out = to;
  EACH_OUTPUT(w) {
    Span a = window_span(p, 0, o0), b = window_span(p, 1, o1), c = window_span(p, 2, o2);
    int64_t best = INT64_MIN, at = (a.begin * w->in[1] + b.begin) * w->in[2] + c.begin;
    for (int64_t i = a.begin; i < a.end; i += a.step)
      for (int64_t j = b.begin; j < b.end; j += b.step)
        for (int64_t k = c.begin; k < c.end; k += c.step) {
          int64_t here = (i * w->in[1] + j) * w->in[2] + k;
          if (in[here] <= best) continue;
          best = in[here];
          at = here;
        }
    out[o] = best;
    if (indices) indices[o] = at;
  }
}
static void plane_max(const Pool *p, const void *from, void *to, int64_t *indices) {
  const double *in = from;
  double *out = to;
  const PoolWindow *w = &p->w;
  EACH_OUTPUT(w) {
    Span a = window_span(p, 0, o0), b = window_span(p, 1, o1), c = window_span(p, 2, o2);
    double best = -INFINITY;
    int64_t at = (a.begin * w->in[1] + b.begin) * w->in[2] + c.begin;
    for (int64_t i = a.begin; i < a.end; i += a.step)
      for (int64_t j = b.begin; j < b.end; j += b.step)
        for (int64_t k = c.begin; k < c.end; k += c.step) {
          int64_t here = (i * w->in[1] + j) * w->in[2] + k;
          if (in[here] > best || in[here] != in[here]) {
            best = in[here];
            at = here;
          }
        }
    out[o] = best;
    if (indices) indices[o] = at;
  }
}

/* The window of output `at`, and what its sum is divided by. */
static double average_window(const Pool *p, const int64_t *at, Span *spans) {
  const PoolWindow *w = &p->w;
  int64_t count = 1;
  for (int d = 0; d < 3; d++) {
    spans[d] = window_span(p, d, at[d]);
    int64_t begin = at[d] * w->stride[d] - w->padding[d], end = begin + w->kernel[d];
    if (end > w->in[d] + w->padding[d]) end = w->in[d] + w->padding[d];
    count *= p->count_include_pad && !p->adaptive ? end - begin : spans[d].end - spans[d].begin;
  }
  return (double)(p->divisor ? p->divisor : count);
}

static void plane_average(const Pool *p, const void *from, void *to, int64_t *indices) {
  const double *in = from;
  double *out = to;
  (void)indices;
  const PoolWindow *w = &p->w;
  EACH_OUTPUT(w) {
    Span s[3];
    double divisor = average_window(p, (const int64_t[]){o0, o1, o2}, s);
    double sum = 0;
    for (int64_t i = s[0].begin; i < s[0].end; i++)
      for (int64_t j = s[1].begin; j < s[1].end; j++)
        for (int64_t k = s[2].begin; k < s[2].end; k++) {
          sum += in[(i * w->in[1] + j) * w->in[2] + k];
          if (p->rounds) sum = (double)bfloat16_round((float)sum);
        }
    out[o] = sum / divisor;
  }
}

/* ---- maximum ---- */
/* With the layout that planes are pooled to: lines are planes of one row. Volumes are row-major. */
static void pooled_spec(const Tensor *input, const PoolWindow *w, DType dtype, TensorSpec *out) {
  pool_spec(input, w, dtype, out);
  if (w->spatial == 2) layout_suggested(input, out);
  if (w->spatial == 1) layout_of_lines(input, out);
}

/* Maxima are of floating dtypes, in 2.x of integers, too; PyTorch's names for them. */
static Status check_max_dtype(const Call *call, int spatial) {
  static const char *const names[] = {"max_pool1d_impl", "max_pool2d", "max_pool3d_with_indices_cpu", "max_pool3d"};
  bool is_torch2 = work_is_torch2(&call->exec->work);
  DType dtype = (DType)call_tensor(call, 0)->dtype;
  if (dtype_is_floating(dtype) || dtype_is_quantized(dtype)) return OK;
  bool is_plane = spatial == 1 && str_ends_with(call->op->name, "_with_indices");
  if (is_torch2 && dtype_is_integral(dtype) && (spatial > 1 || is_plane)) return OK;
  return status_new(ERROR_RUNTIME, "\"%s\" not implemented for '%s'",
                    names[is_plane                    ? 1
                          : spatial == 3 && is_torch2 ? 3
                                                      : spatial - 1],
                    dtype_scalar_name(dtype));
}

static Status shape_max(Call *call, TensorSpec *specs) {
  PoolWindow w;
  const Tensor *input = call_tensor(call, 0);
  TRY(pool_read(call, 0, pool_spatial(call), &w));
  TRY(check_max_dtype(call, w.spatial));
  pooled_spec(input, &w, (DType)input->dtype, specs);
  if (call->output_count > 1) pooled_spec(input, &w, DTYPE_INT64, specs + 1);
  return OK;
}
static Status kernel_max(Call *call) {
  bool is_integral = dtype_is_integral((DType)call_tensor(call, 0)->dtype);
  Pool p = {.kernel = is_integral ? plane_max_integers : plane_max,
            .out = call_out(call, 0),
            .indices = call->output_count > 1 ? call_out(call, 1) : NULL};
  TRY(pool_read(call, 0, pool_spatial(call), &p.w));
  return run_planes(call, &p, call_tensor(call, 0));
}

/* Lines without gradients alone may be shorter than a window, which then has no place. */
static Status max_of_short_lines(Call *call, const PoolWindow *w, bool *out_done) {
  int64_t count = count_windows(w, 2);
  const Tensor *self = call_tensor(call, 0);
  TensorSpec spec[1] = {{.device = DEVICE_CPU_0}};
  Tensor *out;
  *out_done = true;
  if (count < 0) return status_new(ERROR_RUNTIME, "max_pool1d() Invalid computed output size: %lld", (long long)count);
  pool_spec(self, w, (DType)self->dtype, spec);
  TRY(tensor_new(spec, &out));
  call_set_tensor(call, 0, out);
  return OK;
}
static Status try_short_lines(Call *call, bool *out_done) {
  PoolWindow w;
  bool is_small;
  *out_done = false;
  if (call->exec->grad_enabled && tensor_records(call_tensor(call, 0))) return OK;
  TRY(read_window(call, 0, 1, &w, &is_small));
  return is_small ? max_of_short_lines(call, &w, out_done) : OK;
}

/* The maxima alone: where a gradient is wanted, or the tensor is out of the ordinary, those of the operator that says
 * where they were found. */
static Status kernel_max_alone(Call *call) {
  static OpRef with_indices[] = {OP_REF("aten::max_pool1d_with_indices", ""),
                                 OP_REF("aten::max_pool2d_with_indices", ""),
                                 OP_REF("aten::max_pool3d_with_indices", "")};
  const Tensor *self = call_tensor(call, 0);
  int spatial = pool_spatial(call);
  if (tensor_is_defined(self) && self->ndim > spatial) TRY(check_max_dtype(call, spatial));
  if (tensor_is_defined(self) && spatial == 1) {
    bool done;
    TRY(try_short_lines(call, &done));
    if (done) return OK;
  }
  bool is_plain = tensor_is_defined(self) && self->dtype == DTYPE_FLOAT32 && !(self->flags & TENSOR_UNUSUAL);
  if (is_plain && !(call->exec->grad_enabled && tensor_records(self))) {
    TensorSpec spec[1] = {{.device = DEVICE_CPU_0}};
    Tensor *out;
    TRY(shape_max(call, spec));
    if (spatial == 1) spec->has_strides = false; /* these are not seen as planes */
    TRY(tensor_new(spec, &out));
    call_set_tensor(call, 0, out);
    return kernel_max(call);
  }
  IValue results[2];
  TRY(op_call(call->exec, &with_indices[spatial - 1], call->input_count, call->inputs, 2, results));
  call_set(call, 0, results[0]);
  ivalue_release(results[1]);
  return OK;
}

/* (grad, self, indices, spatial): the gradient of self, dense, from that of the greatest of each window. */
static Status kernel_max_backward(Call *call) {
  const Tensor *grad = call_tensor(call, 0), *self = call_tensor(call, 1), *indices = call_tensor(call, 2);
  int64_t spatial = call_int(call, 3), size = 1, count = 1;
  DType dtype = (DType)self->dtype;
  if (dtype != DTYPE_FLOAT32 && dtype != DTYPE_FLOAT64) return call_unsupported_dtype(call, dtype);
  TRY(require_dtype(grad, dtype));
  TRY(require_dtype(indices, DTYPE_INT64));
  bool fits = spatial >= 1 && spatial <= self->ndim && grad->ndim == self->ndim && indices->ndim == self->ndim;
  for (int d = 0; fits && d < self->ndim; d++) {
    bool is_spatial = d >= self->ndim - spatial;
    fits = grad->sizes[d] == indices->sizes[d] && (is_spatial || grad->sizes[d] == self->sizes[d]);
    if (is_spatial) size *= self->sizes[d], count *= indices->sizes[d];
  }
  if (!fits)
    return status_new(ERROR_RUNTIME,
                      "max_pool: a gradient of sizes %s and indices of sizes %s do not fit an input of "
                      "sizes %s",
                      SIZES_TEXT(grad->ndim, grad->sizes), SIZES_TEXT(indices->ndim, indices->sizes),
                      SIZES_TEXT(self->ndim, self->sizes));
  Tensor *g = NULL, *at = NULL, *out = NULL;
  Status status;
  TRY_GOTO(tensor_contiguous(grad, &g), done);
  TRY_GOTO(tensor_contiguous(indices, &at), done);
  TRY_GOTO(tensor_empty(dtype, self->ndim, self->sizes, &out), done);
  if (self->numel && !pool_spread(call->exec->work.threads, dtype, self->numel / size, size, count, tensor_data(g),
                                  tensor_data(at), tensor_data(out)))
    status =
        status_new(ERROR_RUNTIME, "max_pool: an index lies outside of the plane of %lld elements", (long long)size);
  if (!status) call_set_tensor(call, 0, tensor_retain(out));
done:
  tensor_release(g);
  tensor_release(at);
  tensor_release(out);
  return status;
}

/* ---- average ---- */
static Status shape_average(Call *call, TensorSpec *specs) {
  PoolWindow w;
  const Tensor *input = call_tensor(call, 0);
  TRY(pool_read(call, 0, pool_spatial(call), &w));
  int divisor = call_find_argument(call, "divisor_override");
  if (divisor >= 0 && call_int_or(call, (uint32_t)divisor, 1) == 0)
    return status_new(ERROR_RUNTIME, "divisor must be not zero");
  pooled_spec(input, &w, (DType)input->dtype, specs);
  return OK;
}
static Status kernel_average(Call *call) {
  int divisor = call_find_argument(call, "divisor_override"), include = call_find_argument(call, "count_include_pad");
  Pool p = {.kernel = plane_average,
            .out = call_out(call, 0),
            .count_include_pad = call_bool(call, (uint32_t)include),
            .divisor = divisor >= 0 ? call_int_or(call, (uint32_t)divisor, 0) : 0};
  TRY(pool_read(call, 0, pool_spatial(call), &p.w));
  return run_planes(call, &p, call_tensor(call, 0));
}

/* ---- adaptive ---- */
/* Maxima, and averages of volumes, want a channel in a batch. */
static Status check_adaptive_channels(const Call *call, const Tensor *input, const PoolWindow *w) {
  bool max = call->output_count > 1;
  if (w->unbatched || input->sizes[1] != 0 || (!max && w->spatial != 3)) return OK;
  int64_t plane[4] = {input->sizes[0], 0, 1, input->sizes[2]}; /* a line is a plane of one row */
  return status_new(ERROR_RUNTIME,
                    "adaptive_%s_pool%dd(): Expected input to have non-zero size for non-batch dimensions, but input "
                    "has sizes %s with dimension 1 being empty",
                    max ? "max" : "avg", w->spatial == 1 ? 2 : w->spatial,
                    w->spatial == 1 ? SIZES_TEXT(4, plane) : SIZES_TEXT(input->ndim, input->sizes));
}
static Status shape_adaptive(Call *call, TensorSpec *specs) {
  PoolWindow w;
  const Tensor *input = call_tensor(call, 0);
  TRY(pool_read_output_size(call, 0, pool_spatial(call), &w));
  TRY(check_adaptive_channels(call, input, &w));
  bool is_empty_plane = call->output_count == 1 && w.spatial < 3 && (!w.out[1] || !w.out[2]);
  if (!dtype_is_floating((DType)input->dtype) && input->numel && !is_empty_plane)
    return call_unsupported_dtype(call, (DType)input->dtype);
  pooled_spec(input, &w, (DType)input->dtype, specs);
  if (call->output_count > 1) pooled_spec(input, &w, DTYPE_INT64, specs + 1);
  return OK;
}
static Status kernel_adaptive(Call *call) {
  Pool p = {.kernel = call->output_count > 1 ? plane_max : plane_average,
            .adaptive = true,
            .out = call_out(call, 0),
            .indices = call->output_count > 1 ? call_out(call, 1) : NULL};
  TRY(pool_read_output_size(call, 0, pool_spatial(call), &p.w));
  p.rounds = p.kernel == plane_average && p.w.spatial == 3 && call_tensor(call, 0)->dtype == DTYPE_BFLOAT16;
  return run_planes(call, &p, call_tensor(call, 0));
}

/* ---- gradients of averages: each output's gradient spreads over its window ---- */
static void plane_average_backward(const Pool *p, const void *from, void *to, int64_t *indices) {
  const double *grad = from;
  double *out = to;
  (void)indices;
  const PoolWindow *w = &p->w;
  memset(out, 0, (size_t)numel3(w->in) * sizeof *out);
  EACH_OUTPUT(w) {
    Span s[3];
    double divisor = average_window(p, (const int64_t[]){o0, o1, o2}, s);
    double share = grad[o] / divisor;
    for (int64_t i = s[0].begin; i < s[0].end; i++)
      for (int64_t j = s[1].begin; j < s[1].end; j++)
        for (int64_t k = s[2].begin; k < s[2].end; k++) out[(i * w->in[1] + j) * w->in[2] + k] += share;
  }
}
static void average_backward_planes(void *argument, int64_t begin, int64_t end) {
  Pool *p = argument;
  int64_t in = numel3(p->w.in), out = numel3(p->w.out);
  DType dtype = (DType)p->in->dtype;
  int64_t item = (int64_t)dtype_size(dtype);
  double *buffer = mem_calloc((size_t)(in + out), sizeof(double));
  if (!buffer) {
    p->failed = true;
    return;
  }
  for (int64_t plane = begin; plane < end && !work_is_over(); plane++) {
    dtype_convert(DTYPE_FLOAT64, buffer, 1, dtype, tensor_items(p->in, item) + plane * out * item, 1, out);
    plane_average_backward(p, buffer, buffer + out, NULL);
    dtype_convert(dtype, tensor_items(p->out, item) + plane * in * item, 1, DTYPE_FLOAT64, buffer + out, 1, in);
  }
  mem_free(buffer);
}
static Status shape_like_second(Call *call, TensorSpec *specs) {
  tensor_spec_of(call_tensor(call, 1), specs);
  specs->has_strides = false;
  if (specs->ndim == 4) layout_suggested(call_tensor(call, 1), specs);
  return OK;
}
/* A mean over whole images is spread row-major. */
static Status shape_adaptive_backward(Call *call, TensorSpec *specs) {
  const Tensor *grad = call_tensor(call, 0);
  TRY(shape_like_second(call, specs));
  if (grad->ndim == 4 && grad->sizes[2] == 1 && grad->sizes[3] == 1) specs->has_strides = false;
  return OK;
}
static Status run_average_backward(Call *call, Pool *p) {
  Tensor *dense;
  TensorSpec result;
  const Tensor *self = call_tensor(call, 1);
  pool_spec(self, &p->w, (DType)self->dtype, &result);
  TRY(require_like(call_tensor(call, 0), "grad_output", &result));
  TRY(tensor_contiguous(call_tensor(call, 0), &dense));
  Tensor *out = call_out(call, 0);
  p->in = dense;
  p->out = out;
  Status status;
  TRY_GOTO(stand_in_for(&p->out), done);
  if (out->numel)
    parallel_for(call->exec->work.threads, p->w.planes, 1 + 8192 / (numel3(p->w.in) + 1), average_backward_planes, p);
  status = p->failed ? status_out_of_memory() : OK;
  if (p->out != out) status = copy_over(status, out, p->out);
done:
  tensor_release(dense);
  return status;
}
static Status kernel_average_backward(Call *call) {
  int divisor = call_find_argument(call, "divisor_override"), include = call_find_argument(call, "count_include_pad");
  Pool p = {.count_include_pad = call_bool(call, (uint32_t)include),
            .divisor = call_int_or(call, (uint32_t)divisor, 0)};
  if (!call_is_none(call, (uint32_t)divisor) && p.divisor == 0)
    return status_new(ERROR_RUNTIME, "divisor must be not zero");
  TRY(pool_read(call, 1, pool_spatial(call), &p.w));
  return run_average_backward(call, &p);
}
static Status kernel_adaptive_backward(Call *call) {
  const Tensor *grad = call_tensor(call, 0);
  Pool p = {.adaptive = true};
  int spatial = pool_spatial(call);
  TRY(read_input(call, 1, spatial, &p.w));
  if (grad->ndim != call_tensor(call, 1)->ndim)
    return status_new(ERROR_RUNTIME, "Expected grad_output to have %d dimensions, but got %d",
                      call_tensor(call, 1)->ndim, grad->ndim);
  for (int d = 0; d < 3; d++) p.w.out[d] = d < 3 - spatial ? 1 : grad->sizes[grad->ndim - 3 + d];
  return run_average_backward(call, &p);
}

#define SPREAD "self: pool_scatter_backward(grad, self, results[1], "
#define MAX_POOL(d, one, zero)                                                                                    \
  {.schema = "aten::max_pool" #d "d(Tensor self, int[" #d "] kernel_size, int[" #d "] stride=[], int[" #d         \
             "] padding=" zero ", int[" #d "] dilation=" one ", bool ceil_mode=False) -> Tensor",                 \
   .kernel = kernel_max_alone,                                                                                    \
   .flags = OP_COMPOSITE,                                                                                         \
   .same_as = "aten::max_pool" #d "d_with_indices"},                                                              \
  {                                                                                                               \
    .schema =                                                                                                     \
        "aten::max_pool" #d "d_with_indices(Tensor self, int[" #d "] kernel_size, int[" #d "] stride=[], int[" #d \
        "] padding=" zero ", int[" #d "] dilation=" one ", bool ceil_mode=False) -> (Tensor, Tensor)",            \
    .out = "out: out indices", .shape = shape_max, .kernel = kernel_max, .grad = SPREAD #d ")"                    \
  }
#define AVERAGE_SCHEMA(d, one_zero, tail)                                                                            \
  "aten::avg_pool" #d "d(Tensor self, int[" #d "] kernel_size, int[" #d "] stride=[], int[" #d "] padding=" one_zero \
  ", bool ceil_mode=False, bool count_include_pad=True" tail ") -> Tensor"
#define AVERAGE_BACKWARD_SCHEMA(d)                                                                   \
  "aten::avg_pool" #d "d_backward(Tensor grad_output, Tensor self, int[" #d "] kernel_size, int[" #d \
  "] stride, int[" #d "] padding, bool ceil_mode, bool count_include_pad, int? divisor_override) -> Tensor"
static const OpRow rows[] = {
    MAX_POOL(1, "[1]", "[0]"),
    MAX_POOL(2, "1", "0"),
    MAX_POOL(3, "1", "0"),
    {.schema = "aten::_max_pool_backward(Tensor grad, Tensor self, Tensor indices, int spatial) -> Tensor",
     .kernel = kernel_max_backward,
     .grad = "grad: grad.flatten(-spatial).gather(-1, indices.flatten(-spatial)).reshape(indices.size())"},
    {.schema = AVERAGE_SCHEMA(1, "[0]", ""),
     .dtypes = "avg_pool2d: int64 floating",
     .shape = shape_average,
     .kernel = kernel_average,
     .grad = "self: avg_pool1d_backward(grad, self, kernel_size, stride, padding, ceil_mode, count_include_pad)"},
    {.schema = AVERAGE_SCHEMA(2, "0", ", int? divisor_override=None"),
     .dtypes = "avg_pool2d: int64 floating",
     .shape = shape_average,
     .kernel = kernel_average,
     .grad = "self: avg_pool2d_backward(grad, self, kernel_size, stride, padding, ceil_mode, count_include_pad, "
             "divisor_override)"},
    {.schema = AVERAGE_SCHEMA(3, "0", ", int? divisor_override=None"),
     .dtypes = "avg_pool3d_out_frame: int64 floating",
     .shape = shape_average,
     .kernel = kernel_average,
     .grad = "self: avg_pool3d_backward(grad, self, kernel_size, stride, padding, ceil_mode, count_include_pad, "
             "divisor_override)"},
    {.schema = AVERAGE_BACKWARD_SCHEMA(2),
     .out = "grad_input: grad_input",
     .shape = shape_like_second,
     .kernel = kernel_average_backward,
     .grad = "grad_output: torch.avg_pool2d(grad, kernel_size, stride, padding, ceil_mode, count_include_pad, "
             "divisor_override)"},
    {.schema = AVERAGE_BACKWARD_SCHEMA(3),
     .out = "grad_input: grad_input",
     .shape = shape_like_second,
     .kernel = kernel_average_backward,
     .grad = "grad_output: torch.avg_pool3d(grad, kernel_size, stride, padding, ceil_mode, count_include_pad, "
             "divisor_override)"},
    {.schema = "aten::adaptive_avg_pool1d(Tensor self, int[1] output_size) -> Tensor",
     .shape = shape_adaptive,
     .kernel = kernel_adaptive,
     .grad = "self: _adaptive_avg_pool2d_backward(grad.unsqueeze(-2), self.unsqueeze(-2)).squeeze(-2)"},
    {.schema = "aten::adaptive_avg_pool2d(Tensor self, SymInt[2] output_size) -> Tensor",
     .shape = shape_adaptive,
     .kernel = kernel_adaptive,
     .grad = "self: _adaptive_avg_pool2d_backward(grad, self)"},
    {.schema = "aten::adaptive_avg_pool3d(Tensor self, int[3] output_size) -> Tensor",
     .dtypes = "adaptive_avg_pool3d_cpu: floating",
     .shape = shape_adaptive,
     .kernel = kernel_adaptive,
     .grad = "self: _adaptive_avg_pool3d_backward(grad, self)"},
    {.schema = "aten::_adaptive_avg_pool2d(Tensor self, SymInt[2] output_size) -> Tensor",
     .shape = shape_adaptive,
     .kernel = kernel_adaptive,
     .grad = "self: _adaptive_avg_pool2d_backward(grad, self)"},
    {.schema = "aten::_adaptive_avg_pool3d(Tensor self, int[3] output_size) -> Tensor",
     .dtypes = "adaptive_avg_pool3d_cpu: floating",
     .shape = shape_adaptive,
     .kernel = kernel_adaptive,
     .grad = "self: _adaptive_avg_pool3d_backward(grad, self)"},
    {.schema = "aten::_adaptive_avg_pool2d_backward(Tensor grad_output, Tensor self) -> Tensor",
     .shape = shape_adaptive_backward,
     .kernel = kernel_adaptive_backward,
     .grad = "grad_output: torch.adaptive_avg_pool2d(grad, grad_output.size()[-2:])"},
    {.schema = "aten::_adaptive_avg_pool3d_backward(Tensor grad_output, Tensor self) -> Tensor",
     .shape = shape_adaptive_backward,
     .kernel = kernel_adaptive_backward,
     .grad = "grad_output: torch.adaptive_avg_pool3d(grad, grad_output.size()[-3:])"},
    {.schema = "aten::adaptive_max_pool1d(Tensor self, int[1] output_size) -> (Tensor, Tensor)",
     .dtypes = "adaptive_max_pool2d: floating",
     .shape = shape_adaptive,
     .kernel = kernel_adaptive,
     .grad = SPREAD "1)"},
    {.schema = "aten::adaptive_max_pool2d(Tensor self, int[2] output_size) -> (Tensor, Tensor)",
     .dtypes = "adaptive_max_pool2d: floating",
     .out = "out: out indices",
     .shape = shape_adaptive,
     .kernel = kernel_adaptive,
     .grad = SPREAD "2)"},
    {.schema = "aten::adaptive_max_pool3d(Tensor self, int[3] output_size) -> (Tensor, Tensor)",
     .dtypes = "adaptive_max_pool3d_cpu: floating",
     .out = "out: out indices",
     .shape = shape_adaptive,
     .kernel = kernel_adaptive,
     .grad = SPREAD "3)"},
};
OP_TABLE(op_table_pool, rows);
