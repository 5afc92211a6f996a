/* Resampling of images: nearest, linear, cubic, with or without antialiasing, in one to three dimensions.
 *
 * Every one of them is separable: along a dimension, each output is a weighted sum of a few inputs (its taps). The taps
 * of each dimension are made once; planes are resampled dimension by dimension; gradients apply the same taps
 * transposed. Cubic: R. Keys, "Cubic convolution interpolation for digital image processing" (1981), with a = -0.75, or
 * -0.5 with antialiasing. Lanczos: sin(pi x) / (pi x), windowed by the same over three steps (C. Lanczos, 1956). */
#include <assert.h>
#include <math.h>

#include "base/cache.h"
#include "base/parallel.h"
#include "call/agree.h"
#include "call/row.h"
#include "compute/resample/resample.h"
#include "tensor/layout.h"

typedef enum Filter { FILTER_NEAREST, FILTER_NEAREST_EXACT, FILTER_LINEAR, FILTER_CUBIC, FILTER_LANCZOS } Filter;
static const int filter_widths[] = {1, 1, 2, 4, 6}; /* in inputs, where nothing is made smaller */

typedef struct Resample {
  Filter filter;
  bool antialias, align_corners, single; /* single: coordinates in float32, as for float32 data */
  bool rounds;         /* dense bfloat16: step, weights, products and sums are rounded to it, as in PyTorch 1.13 */
  bool rounds_weights; /* bfloat16 as PyTorch 2.x has it, but for bilinear planes: weights alone */
  int spatial;
  int64_t planes, in[3], out[3];
  double scale[3]; /* as the caller gave it, 0: from the sizes */
  ResampleTaps taps[3];
  bool transposed; /* gradient: from out to in */
  const Tensor *from;
  Tensor *to;
  _Atomic bool failed;
} Resample;

/* Rounds to the precision that coordinates are computed in. */
static double fit(const Resample *r, double x) {
  return r->single ? (double)(float)x : x;
}

static double ratio(const Resample *r, int64_t a, int64_t b) {
  return round_if(r->rounds, round_if(r->rounds, (double)a) / round_if(r->rounds, (double)b));
}

static double step_of(const Resample *r, int d) {
  assert(d >= 0 && d < 3);
  bool nearest = r->filter <= FILTER_NEAREST_EXACT;
  if (r->align_corners && !nearest) return r->out[d] > 1 ? fit(r, ratio(r, r->in[d] - 1, r->out[d] - 1)) : 0;
  return fit(r, r->scale[d] > 0 ? round_if(r->rounds, 1 / r->scale[d]) : ratio(r, r->in[d], r->out[d]));
}

/* c[0] + x * (c[1] + x * (c[2] + x * c[3])) */
static double cubic(bool rounds, double x, const double *c) {
  double sum = c[3];
  for (int k = 2; k >= 0; k--) sum = round_if(rounds, round_if(rounds, sum * x) + c[k]);
  return sum;
}
static double cubic_near(bool rounds, double x, double a) {
  return cubic(rounds, x, (const double[]){1, 0, -(a + 3), a + 2});
}
static double cubic_far(bool rounds, double x, double a) {
  return cubic(rounds, x, (const double[]){-4 * a, 8 * a, -5 * a, a});
}
static double sinc(double x) {
  return x == 0 ? 1 : sin(M_PI * x) / (M_PI * x);
}
static double filter_at(Filter filter, double x) {
  x = fabs(x);
  if (filter == FILTER_LINEAR) return x < 1 ? 1 - x : 0;
  if (filter == FILTER_LANCZOS) return x < 3 ? sinc(x) * sinc(x / 3) : 0;
  return x < 1 ? cubic_near(false, x, -0.5) : x < 2 ? cubic_far(false, x, -0.5) : 0;
}

static int64_t clamp(int64_t i, int64_t n) {
  return i < 0 ? 0 : i >= n ? n - 1 : i;
}
/* The integer part; beyond [-n, 2n], where scales may lead that do not belong to the sizes, what is nearest. */
static int64_t whole_part(double x, int64_t n) {
  assert(n > 0);
  double least = -(double)n - 4, most = 2 * (double)n + 4;
  return (int64_t)(!(x > least) ? least : x < most ? x : most);
}

static void taps_plain(const Resample *r, int d, ResampleTaps *t) {
  double step = step_of(r, d);
  for (int64_t o = 0; o < t->out; o++) {
    int64_t *index = t->index + o * t->width;
    double *weight = t->weight + o * t->width;
    double half = r->align_corners ? fit(r, step * (double)o) : fit(r, fit(r, step * ((double)o + 0.5)) - 0.5);
    switch (r->filter) {
      case FILTER_NEAREST:
        index[0] = clamp(whole_part(floor(fit(r, step * (double)o)), t->in), t->in);
        weight[0] = 1;
        break;
      case FILTER_NEAREST_EXACT:
        index[0] = clamp(whole_part(floor(fit(r, step * ((double)o + 0.5))), t->in), t->in);
        weight[0] = 1;
        break;
      case FILTER_LINEAR: {
        double at = t->in == t->out ? (double)o : half < 0 ? 0 : half;
        index[0] = clamp(whole_part(at, t->in), t->in);
        index[1] = t->in == t->out ? o : clamp(index[0] + 1, t->in);
        weight[1] = round_if(r->rounds || r->rounds_weights, at - (double)index[0]);
        if (weight[1] > 1) weight[1] = 1;
        weight[0] = round_if(r->rounds || r->rounds_weights, 1 - weight[1]);
        break;
      }
      case FILTER_LANCZOS: /* antialiased alone */
        break;
      case FILTER_CUBIC: {
        double base = floor(half), x = round_if(r->rounds, half - base), rest = round_if(r->rounds, 1 - x), a = -0.75;
        for (int k = 0; k < 4; k++) index[k] = clamp(whole_part(base, t->in) - 1 + k, t->in);
        weight[0] = cubic_far(r->rounds, round_if(r->rounds, x + 1), a);
        weight[1] = cubic_near(r->rounds, x, a);
        weight[2] = cubic_near(r->rounds, rest, a);
        weight[3] = cubic_far(r->rounds, round_if(r->rounds, rest + 1), a);
        for (int k = 0; k < 4; k++) weight[k] = round_if(r->rounds_weights, weight[k]);
        break;
      }
    }
  }
}

/* Antialiasing widens the filter by how much smaller the result is. */
static double support_of(const Resample *r, double step) {
  return filter_widths[r->filter] / 2.0 * (step >= 1 ? step : 1);
}

static void taps_antialias(const Resample *r, int d, ResampleTaps *t) {
  double step = step_of(r, d), support = support_of(r, step), inverse = step >= 1 ? 1 / step : 1;
  for (int64_t o = 0; o < t->out; o++) {
    int64_t *index = t->index + o * t->width;
    double *weight = t->weight + o * t->width, total = 0, centre = step * ((double)o + 0.5);
    int64_t first = whole_part(centre - support + 0.5, t->in), last = whole_part(centre + support + 0.5, t->in);
    if (first < 0) first = 0;
    if (last > t->in) last = t->in;
    t->used[o] = last <= first ? 0 : last - first < t->width ? last - first : t->width;
    for (int64_t k = 0; k < t->width; k++) {
      bool inside = k < t->used[o];
      index[k] = inside ? first + k : 0;
      weight[k] = inside ? filter_at(r->filter, ((double)(first + k) - centre + 0.5) * inverse) : 0;
      total += weight[k];
    }
    for (int64_t k = 0; k < t->width && total != 0; k++) weight[k] /= total;
  }
}

static Status taps_new(const Resample *r, int d, ResampleTaps *t) {
  assert(d >= 0 && d < 3);
  t->in = r->in[d];
  t->out = r->out[d];
  t->width = filter_widths[r->filter];
  t->rounds = r->rounds;
  t->has_unused = r->antialias || r->transposed;
  if (r->antialias) {
    double support = support_of(r, step_of(r, d));
    if (!(support < 1e9)) return status_new(ERROR_RUNTIME, "upsample: the scale is too small");
    t->width = (int64_t)ceil(support) * 2 + 1;
  }
  int64_t cells;
  if (!int64_mul(t->out, t->width, &cells)) return status_out_of_memory();
  t->index = mem_calloc((size_t)cells + 1, sizeof *t->index);
  t->weight = mem_calloc((size_t)cells + 1, sizeof *t->weight);
  t->single = mem_alloc(((size_t)cells + 1) * sizeof *t->single);
  if (r->antialias) t->used = mem_calloc((size_t)t->out + 1, sizeof *t->used);
  if (!t->index || !t->weight || !t->single || (r->antialias && !t->used)) return status_out_of_memory();
  if (r->antialias)
    taps_antialias(r, d, t);
  else
    taps_plain(r, d, t);
  for (int64_t i = 0; i < cells; i++) t->single[i] = (float)t->weight[i];
  return OK;
}

static int64_t numel3(const int64_t *n) {
  return n[0] * n[1] * n[2];
}

static void resample_planes(void *argument, int64_t begin, int64_t end) {
  Resample *r = argument;
  int64_t most = 1;
  for (int d = 0; d < 3; d++) most *= r->in[d] > r->out[d] ? r->in[d] : r->out[d];
  double *buffers = mem_calloc((size_t)most, 2 * sizeof(double));
  if (!buffers) {
    r->failed = true;
    return;
  }
  const int64_t *from_sizes = r->transposed ? r->out : r->in, *to_sizes = r->transposed ? r->in : r->out;
  int64_t from = numel3(from_sizes), to = numel3(to_sizes), item = (int64_t)dtype_size((DType)r->from->dtype);
  for (int64_t plane = begin; plane < end; plane++) {
    double *now = buffers, *next = buffers + most;
    int64_t sizes[3] = {from_sizes[0], from_sizes[1], from_sizes[2]};
    dtype_convert(DTYPE_FLOAT64, now, 1, (DType)r->from->dtype, tensor_items(r->from, item) + plane * from * item, 1,
                  from);
    for (int d = 2; d >= 0; d--) {
      if (r->in[d] == 1 && r->out[d] == 1) continue;
      int64_t before = 1, after = 1;
      for (int k = 0; k < d; k++) before *= sizes[k];
      for (int k = d + 1; k < 3; k++) after *= sizes[k];
      resample_double(&r->taps[d], r->transposed, before, after, now, next);
      sizes[d] = to_sizes[d];
      double *swap = now;
      now = next;
      next = swap;
    }
    dtype_convert((DType)r->to->dtype, tensor_items(r->to, item) + plane * to * item, 1, DTYPE_FLOAT64, now, 1, to);
  }
  mem_free(buffers);
}

/* float32, from the input's memory to the output's. */
static bool is_by_floats(const Resample *r) {
  return r->from->dtype == DTYPE_FLOAT32 && !r->transposed;
}
/* The dimensions in the order of the passes. The last one takes longest for an element, unless its taps are a run, with
 * antialiasing: before it come those that leave fewer lines, after it those that make more. */
static int float_passes(const Resample *r, int *dims) {
  int count = 0;
  bool before[2];
  for (int d = 0; d < 2; d++) {
    before[d] = r->out[d] < r->in[d] && !r->antialias;
    if (before[d]) dims[count++] = d;
  }
  dims[count++] = 2;
  for (int d = 1; d >= 0; d--)
    if (!before[d] && (r->out[d] > 1 || r->in[d] > 1)) dims[count++] = d;
  return count;
}

static void resample_float_planes(void *argument, int64_t begin, int64_t end) {
  Resample *r = argument;
  int64_t from = numel3(r->in), to = numel3(r->out), most = 1;
  int dims[3], count = float_passes(r, dims);
  for (int d = 0; d < 3; d++) most *= r->in[d] > r->out[d] ? r->in[d] : r->out[d];
  float *buffers = cache_alloc((size_t)most * 2 * sizeof(float));
  if (!buffers) {
    r->failed = true;
    return;
  }
  for (int64_t plane = begin; plane < end; plane++) {
    const float *now = (const float *)tensor_data(r->from) + plane * from;
    int64_t sizes[3] = {r->in[0], r->in[1], r->in[2]};
    for (int i = 0; i < count; i++) {
      float *next = i + 1 == count ? (float *)tensor_data(r->to) + plane * to : buffers + i % 2 * most;
      int64_t before = 1, after = 1;
      for (int d = 0; d < dims[i]; d++) before *= sizes[d];
      for (int d = dims[i] + 1; d < 3; d++) after *= sizes[d];
      resample_float(&r->taps[dims[i]], before, after, now, next);
      sizes[dims[i]] = r->out[dims[i]];
      now = next;
    }
  }
  cache_free(buffers, (size_t)most * 2 * sizeof(float));
}

/* ---- arguments ---- */
static bool has_text(Str s, const char *text) {
  return memmem(s.data, s.length, text, strlen(text)) != NULL;
}

static Status read_scales(const Call *call, Resample *r) {
  static const char *const names[] = {"scales_d", "scales_h", "scales_w"};
  int factors = call_find_argument(call, "scale_factors"), single = call_find_argument(call, "scales");
  if (factors >= 0 && !call_is_none(call, (uint32_t)factors)) {
    size_t n;
    const double *values = call_doubles(call, (uint32_t)factors, &n);
    if (n != (size_t)r->spatial)
      return status_new(ERROR_RUNTIME, "upsample: expected %d scale factors, got %zu", r->spatial, n);
    for (int d = 0; d < r->spatial; d++) r->scale[3 - r->spatial + d] = values[d];
  }
  if (single >= 0) r->scale[2] = call_double_or(call, (uint32_t)single, 0);
  for (int d = 0; d < 3; d++) {
    int at = call_find_argument(call, names[d]);
    if (at >= 0) r->scale[d] = call_double_or(call, (uint32_t)at, 0);
  }
  return OK;
}

/* "H: 3, W: 4" */
static void put_named_sizes(int spatial, const int64_t *sizes, StrBuf *out) {
  assert(spatial >= 1 && spatial <= 3);
  for (int d = 3 - spatial; d < 3; d++)
    strbuf_printf(out, "%s%c: %lld", d > 3 - spatial ? ", " : "", "DHW"[d], (long long)sizes[d]);
}
static Status sizes_not_positive(const Resample *r) {
  StrBuf text = {0};
  strbuf_puts(&text, "Input and output sizes should be greater than 0, but got input (");
  put_named_sizes(r->spatial, r->in, &text);
  strbuf_puts(&text, r->spatial == 1 ? ") and output (" : ") output (");
  put_named_sizes(r->spatial, r->out, &text);
  Status status = status_new(ERROR_RUNTIME, STR_FMT ")", STR_ARG(strbuf_view(&text)));
  strbuf_dispose(&text);
  return status;
}

static Status resample_read(const Call *call, Resample *r) {
  Str name = call->op->name;
  memset(r, 0, sizeof *r);
  for (size_t i = 0; i + 1 < name.length; i++)
    if (name.data[i + 1] == 'd' && name.data[i] >= '1' && name.data[i] <= '3') r->spatial = name.data[i] - '0';
  r->filter = has_text(name, "nearest_exact") ? FILTER_NEAREST_EXACT
              : has_text(name, "nearest")     ? FILTER_NEAREST
              : has_text(name, "cubic")       ? FILTER_CUBIC
              : has_text(name, "lanczos")     ? FILTER_LANCZOS
                                              : FILTER_LINEAR;
  r->antialias = has_text(name, "_aa");
  r->transposed = has_text(name, "_backward");
  int align = call_find_argument(call, "align_corners"), output = call_find_argument(call, "output_size"),
      input_size = call_find_argument(call, "input_size");
  r->align_corners = align >= 0 && call_bool(call, (uint32_t)align);
  const Tensor *t = call_tensor(call, 0);
  r->single = t->dtype != DTYPE_FLOAT64;
  r->rounds = !work_is_torch2(&call->exec->work) && t->dtype == DTYPE_BFLOAT16 && r->filter >= FILTER_LINEAR &&
              !r->antialias && !r->transposed && (tensor_is_contiguous(t) || !tensor_is_channels_last(t));
  r->rounds_weights = work_is_torch2(&call->exec->work) && t->dtype == DTYPE_BFLOAT16 && !r->antialias &&
                      !r->transposed && (r->filter == FILTER_CUBIC || (r->filter == FILTER_LINEAR && r->spatial != 2));
  if (t->ndim != r->spatial + 2)
    return status_new(ERROR_RUNTIME, "It is expected input_size equals to %d, but got size %d", r->spatial + 2,
                      t->ndim);
  const int64_t *sizes = t->sizes;
  size_t n = (size_t)t->ndim;
  if (input_size >= 0) sizes = call_ints(call, (uint32_t)input_size, &n);
  if (n != (size_t)t->ndim)
    return status_new(ERROR_RUNTIME, "It is expected input_size equals to %d, but got size %zu", r->spatial + 2, n);
  for (int d = 0; d < 2; d++)
    if (sizes[d] != t->sizes[d])
      return status_new(ERROR_RUNTIME,
                        "Expected grad_output to have the same shape as output; output.size(%d) = %lld but got "
                        "grad_output.size(%d) = %lld",
                        d, (long long)sizes[d], d, (long long)t->sizes[d]);
  r->planes = t->sizes[0] * t->sizes[1];
  TRY(read_scales(call, r));
  for (int d = 0; d < 3; d++) r->in[d] = r->out[d] = 1;
  bool given = output >= 0 && !call_is_none(call, (uint32_t)output);
  size_t count = 0;
  const int64_t *wanted = given ? call_ints(call, (uint32_t)output, &count) : NULL;
  if (given && count != (size_t)r->spatial)
    return status_new(ERROR_RUNTIME, "It is expected output_size equals to %d, but got size %zu", r->spatial, count);
  int factors = call_find_argument(call, "scale_factors");
  if (call_find_argument(call, "scale_factors") >= 0 && given != call_is_none(call, (uint32_t)factors))
    return status_new(ERROR_RUNTIME, "Must specify exactly one of output_size and scale_factors");
  for (int d = 0; d < r->spatial; d++) {
    int at = 3 - r->spatial + d;
    r->in[at] = sizes[2 + d];
    double scaled = (double)r->in[at] * r->scale[at];
    if (!given && !(scaled < 9e15)) return status_new(ERROR_RUNTIME, "upsample: the scale factor is too large");
    r->out[at] = given ? wanted[d] : (int64_t)scaled;
  }
  for (int d = 0; d < 3; d++)
    if (r->in[d] <= 0 || r->out[d] <= 0) return sizes_not_positive(r);
  if (r->planes == 0 && t->sizes[1] == 0)
    return status_new(ERROR_RUNTIME, "Non-empty %dD data tensor expected but got a tensor with sizes %s", t->ndim,
                      SIZES_TEXT(t->ndim, t->sizes));
  bool plain = r->filter <= FILTER_NEAREST_EXACT || (r->filter == FILTER_LINEAR && r->spatial == 2);
  if (!dtype_is_floating((DType)t->dtype) && !(plain && t->dtype == DTYPE_UINT8))
    return call_unsupported_dtype(call, (DType)t->dtype);
  return OK;
}

static Status shape_resample(Call *call, TensorSpec *specs) {
  Resample r;
  TRY(resample_read(call, &r));
  const Tensor *t = call_tensor(call, 0);
  memset(specs, 0, offsetof(TensorSpec, sizes));
  specs->dtype = (DType)t->dtype;
  specs->device = tensor_device(t);
  specs->ndim = t->ndim;
  specs->sizes[0] = t->sizes[0];
  specs->sizes[1] = t->sizes[1];
  const int64_t *sizes = r.transposed ? r.in : r.out;
  for (int d = 0; d < r.spatial; d++) {
    specs->sizes[2 + d] = sizes[3 - r.spatial + d];
    if (r.transposed && t->sizes[2 + d] != r.out[3 - r.spatial + d])
      return status_new(ERROR_RUNTIME,
                        "Expected grad_output to have the same shape as output; output.size(%d) = %lld but got "
                        "grad_output.size(%d) = %lld",
                        2 + d, (long long)r.out[3 - r.spatial + d], 2 + d, (long long)t->sizes[2 + d]);
  }
  bool row_major = (r.filter == FILTER_CUBIC && !r.antialias) ||
                   (r.filter <= FILTER_NEAREST_EXACT && r.transposed && r.spatial == 3);
  if (!row_major) layout_suggested(t, specs);
  return OK;
}

static Status kernel_resample(Call *call) {
  Resample r;
  Tensor *out = call_out(call, 0), *dense = NULL, *stand_in = NULL;
  Status status;
  TRY(resample_read(call, &r));
  if (out->numel == 0) return OK;
  for (int d = 0; d < 3; d++) TRY_GOTO(taps_new(&r, d, &r.taps[d]), done);
  TRY_GOTO(tensor_contiguous(call_tensor(call, 0), &dense), done);
  if (!tensor_is_contiguous(out)) TRY_GOTO(tensor_empty((DType)out->dtype, out->ndim, out->sizes, &stand_in), done);
  r.from = dense;
  r.to = stand_in ? stand_in : out;
  parallel_for(call->exec->work.threads, r.planes, 1 + 16384 / numel3(r.out),
               is_by_floats(&r) ? resample_float_planes : resample_planes, &r);
  status = r.failed ? status_out_of_memory() : work_poll(&call->exec->work);
  if (status == OK && stand_in) status = tensor_copy(out, stand_in, 1);
done:
  for (int d = 0; d < 3; d++) {
    mem_free(r.taps[d].index);
    mem_free(r.taps[d].weight);
    mem_free(r.taps[d].single);
    mem_free(r.taps[d].used);
  }
  tensor_release(dense);
  tensor_release(stand_in);
  return status;
}

/* Four rows for each: with numbers, with lists (.vec), and their gradients. ALIGN, SCALES: the arguments that not all
 * have. */
#define UPSAMPLE(name, n, numel, ALIGN, ALIGN_NAME, SCALES, SCALE_NAMES)                                               \
  {.schema = "aten::" name "(Tensor self, SymInt[" n "] output_size" ALIGN SCALES ") -> Tensor",                       \
   .shape = shape_resample,                                                                                            \
   .kernel = kernel_resample,                                                                                          \
   .grad = "self: " name "_backward(grad, output_size, self.size()" ALIGN_NAME SCALE_NAMES ")",                        \
   .flags = OP_OUT},                                                                                                   \
      {.schema = "aten::" name ".vec(Tensor input, SymInt[]? output_size" ALIGN ", float[]? scale_factors) -> Tensor", \
       .shape = shape_resample,                                                                                        \
       .kernel = kernel_resample,                                                                                      \
       .grad = "input: " name "_backward(grad, output_size, input.size()" ALIGN_NAME ", scale_factors)"},              \
      {.schema = "aten::" name "_backward(Tensor grad_output, SymInt[" n "] output_size, SymInt[" numel                \
                 "] input_size" ALIGN SCALES ") -> Tensor",                                                            \
       .out = "grad_input: grad_input",                                                                                \
       .shape = shape_resample,                                                                                        \
       .kernel = kernel_resample},                                                                                     \
  {                                                                                                                    \
    .schema = "aten::" name "_backward.vec(Tensor grad_output, SymInt[]? output_size, SymInt[] input_size" ALIGN       \
              ", float[]? scale_factors) -> Tensor",                                                                   \
    .shape = shape_resample, .kernel = kernel_resample                                                                 \
  }
#define ALIGNED ", bool align_corners", ", align_corners"
#define UNALIGNED "", ""
#define SCALES1 ", float? scales=None", ", scales"
#define SCALES2 ", float? scales_h=None, float? scales_w=None", ", scales_h, scales_w"
#define SCALES3 ", float? scales_d=None, float? scales_h=None, float? scales_w=None", ", scales_d, scales_h, scales_w"
#define EXPAND(...) UPSAMPLE(__VA_ARGS__)
static const OpRow rows[] = {
    EXPAND("upsample_nearest1d", "1", "3", UNALIGNED, SCALES1),
    EXPAND("upsample_nearest2d", "2", "4", UNALIGNED, SCALES2),
    EXPAND("upsample_nearest3d", "3", "5", UNALIGNED, SCALES3),
    EXPAND("_upsample_nearest_exact1d", "1", "3", UNALIGNED, SCALES1),
    EXPAND("_upsample_nearest_exact2d", "2", "4", UNALIGNED, SCALES2),
    EXPAND("_upsample_nearest_exact3d", "3", "5", UNALIGNED, SCALES3),
    EXPAND("upsample_linear1d", "1", "3", ALIGNED, SCALES1),
    EXPAND("upsample_bilinear2d", "2", "4", ALIGNED, SCALES2),
    EXPAND("upsample_trilinear3d", "3", "5", ALIGNED, SCALES3),
    EXPAND("upsample_bicubic2d", "2", "4", ALIGNED, SCALES2),
    EXPAND("_upsample_bilinear2d_aa", "2", "4", ALIGNED, SCALES2),
    EXPAND("_upsample_bicubic2d_aa", "2", "4", ALIGNED, SCALES2),
    EXPAND("_upsample_lanczos2d_aa", "2", "4", ALIGNED, SCALES2),
};
OP_TABLE(op_table_upsample, rows);
