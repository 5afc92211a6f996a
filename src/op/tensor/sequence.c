/* Rows whose elements follow from their place: arange, linspace, logspace, indices of triangles, windows. */
#include "base/work_limit.h"
#include "call/options.h"
#include "call/row_extras.h"

#include <assert.h>
#include <complex.h> /* after ours: its macros are common words */
#include <math.h>
#undef complex
#undef I

#define OPTIONS "ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None"
enum { BLOCK = 256 };

/* ---- one-dimensional fills ---- */
typedef struct Sequence Sequence;
typedef void SequenceFill(const Sequence *s, int64_t from, int64_t count, void *out); /* out: elements of `kind` */
struct Sequence {
  DType dtype;
  int64_t n;
  double start, end, step, base;
  int64_t int_start, int_step;
  complex128 complex_start, complex_end, complex_step, complex_base;
  double alpha, beta;
  SequenceFill *fill;
  DType kind; /* int64, float64 or complex128 */
};

static Status sequence_write(const Sequence *s, Tensor *out) {
  assert(s->fill);
  if (!out->storage) return OK;
  complex128 block[BLOCK];
  size_t item = dtype_size(s->dtype);
  int64_t stride = out->strides[0];
  bool in_place = s->kind == s->dtype && stride == 1;
  for (int64_t i = 0, done = 0; i < out->numel && !work_is_over_after(&done, 8 * BLOCK); i += BLOCK) {
    int64_t count = out->numel - i < BLOCK ? out->numel - i : BLOCK;
    char *to = (char *)tensor_data(out) + i * stride * (int64_t)item;
    s->fill(s, i, count, in_place ? (void *)to : block);
    if (!in_place) dtype_convert(s->dtype, to, stride, s->kind, block, 1, count);
  }
  return OK;
}

static Status check_real(const char *kernel, DType dtype) {
  if (dtype == DTYPE_BOOL || dtype_is_complex(dtype))
    return status_new(ERROR_RUNTIME, "\"%s\" not implemented for '%s'", kernel, dtype_scalar_name(dtype));
  return OK;
}

/* ---- arange ---- */
static DType arange_dtype(const IValue *scalars, uint32_t count) {
  for (uint32_t i = 0; i < count; i++)
    if (scalars[i].tag != TAG_INT && scalars[i].tag != TAG_BOOL) return dtype_default();
  return DTYPE_INT64;
}

static Status check_bounds(double start, double end, double step, const char *bounds) {
  if (step == 0) return status_new(ERROR_RUNTIME, "step must be nonzero");
  if (!isfinite(start) || !isfinite(end)) return status_new(ERROR_RUNTIME, "unsupported range: %g -> %g", start, end);
  if (!((step > 0 && end >= start) || (step < 0 && end <= start)))
    return status_new(ERROR_RUNTIME, "upper bound and %s bound inconsistent with step sign", bounds);
  return OK;
}

/* As many arguments as `.param` says: 0 .. end, start .. end, or with a step. */
static uint32_t arange_bounds(const Call *c, IValue out[3]) {
  uint32_t count = (uint32_t)call_param(c);
  assert(count >= 1 && count <= 3);
  out[0] = count > 1 ? call_scalar(c, 0) : ivalue_int(0);
  out[1] = call_scalar(c, count > 1 ? 1 : 0);
  out[2] = count > 2 ? call_scalar(c, 2) : ivalue_int(1);
  return count;
}

static int64_t to_integer(IValue v) {
  return v.tag == TAG_FLOAT ? (int64_t)fmin(fmax(trunc(v.f), -0x1p62), 0x1p62) : ivalue_to_int(v);
}

static Status shape_arange(Call *c, TensorSpec *spec) {
  IValue bounds[3];
  uint32_t count = arange_bounds(c, bounds);
  shape_set(spec, DTYPE_FLOAT32, 1, (int64_t[]){0});
  TRY(options_read(c, count, arange_dtype(c->inputs, count), spec));
  TRY(check_real("arange_cpu", spec->dtype));
  double start = ivalue_to_double(bounds[0]), end = ivalue_to_double(bounds[1]), step = ivalue_to_double(bounds[2]);
  double size;
  if (spec->dtype == DTYPE_INT64) {
    if (to_integer(bounds[2]) == 0) return status_new(ERROR_RUNTIME, "step must be nonzero");
    TRY(check_bounds(start, end, step, "larger"));
    __int128 from = to_integer(bounds[0]), to = to_integer(bounds[1]), by = to_integer(bounds[2]);
    __int128 length = by > 0 ? (to - from + by - 1) / by : (from - to - by - 1) / -by;
    size = (double)length;
    spec->sizes[0] = length > 0 ? (int64_t)(length < INT64_MAX ? length : INT64_MAX) : 0;
  } else {
    TRY(check_bounds(start, end, step, "larger"));
    size = ceil((end - start) / step);
    if (size >= 0 && size < 0x1p63) spec->sizes[0] = (int64_t)size;
  }
  if (!(size >= 0 && size < 0x1p63)) return status_new(ERROR_RUNTIME, "invalid size, possible overflow?");
  return OK;
}

static void fill_int_steps(const Sequence *s, int64_t from, int64_t count, void *out) {
  int64_t *ints = out;
  uint64_t step = (uint64_t)s->int_step, value = (uint64_t)s->int_start + step * (uint64_t)from;
  for (int64_t i = 0; i < count; i++, value += step) ints[i] = (int64_t)value;
}
static void fill_steps(const Sequence *s, int64_t from, int64_t count, void *out) {
  double *reals = out;
  for (int64_t i = 0; i < count; i++) reals[i] = s->start + s->step * (double)(from + i);
}

static Status arange_write(Tensor *out, IValue start, IValue step) {
  Sequence s = {.dtype = (DType)out->dtype};
  if (dtype_is_integral(s.dtype)) {
    s.int_start = to_integer(start);
    s.int_step = to_integer(step);
    s.fill = fill_int_steps;
    s.kind = DTYPE_INT64;
  } else {
    s.start = ivalue_to_double(start);
    s.step = ivalue_to_double(step);
    s.fill = fill_steps;
    s.kind = DTYPE_FLOAT64;
  }
  return sequence_write(&s, out);
}

static Status kernel_arange(Call *c) {
  IValue bounds[3];
  arange_bounds(c, bounds);
  return arange_write(call_out(c, 0), bounds[0], bounds[2]);
}

static Status shape_range(Call *c, TensorSpec *spec) {
  IValue bounds[3];
  uint32_t count = arange_bounds(c, bounds);
  shape_set(spec, DTYPE_FLOAT32, 1, (int64_t[]){0});
  TRY(options_read(c, count, dtype_default(), spec));
  TRY(check_real("range_cpu", spec->dtype));
  double start = ivalue_to_double(bounds[0]), end = ivalue_to_double(bounds[1]), step = ivalue_to_double(bounds[2]);
  TRY(check_bounds(start, end, step, "lower"));
  double size = floor((end - start) / step) + 1;
  if (!(size < 0x1p63)) return status_new(ERROR_RUNTIME, "invalid size, possible overflow?");
  spec->sizes[0] = (int64_t)size;
  return OK;
}

static Status kernel_dim_arange(Call *c) {
  const Tensor *like = call_tensor(c, 0);
  int64_t dim;
  Tensor *out;
  TRY(dim_wrap(call_int(c, 1), like->ndim, &dim));
  TRY(tensor_empty(DTYPE_INT64, 1, (int64_t[]){like->ndim ? like->sizes[dim] : 1}, &out));
  call_set_tensor(c, 0, out);
  return arange_write(out, ivalue_int(0), ivalue_int(1));
}

/* ---- linspace, logspace ---- */
/* `.param`: whether it is logspace, which has a base after the steps. */
static Status shape_space(Call *c, TensorSpec *spec) {
  bool is_log = call_param(c);
  const char *name = is_log ? "logspace" : "linspace";
  int64_t steps = call_int(c, 2);
  if (steps < 0) return status_new(ERROR_RUNTIME, "number of steps must be non-negative");
  bool is_complex = call_scalar(c, 0).tag == TAG_COMPLEX || call_scalar(c, 1).tag == TAG_COMPLEX;
  shape_set(spec, DTYPE_FLOAT32, 1, &steps);
  TRY(options_read(c, is_log ? 4 : 3, is_complex ? dtype_default_complex() : dtype_default(), spec));
  if (is_complex && !dtype_is_complex(spec->dtype))
    return status_new(ERROR_RUNTIME,
                      "torch.%s(): inferred dtype c10::complex<float> can't be safely cast to passed dtype %s", name,
                      dtype_scalar_name(spec->dtype));
  if (spec->dtype == DTYPE_BOOL || (spec->dtype == DTYPE_FLOAT16 && is_log))
    return status_new(ERROR_RUNTIME, "\"%s_cpu\" not implemented for '%s'", name, dtype_scalar_name(spec->dtype));
  return OK;
}

/* PyTorch fills vectors of integers from a first element that is cut off already, two vectors at a time; what is left
 * over comes one by one. */
static double linspace_int_at(const Sequence *s, int64_t i) {
  enum { VECTOR_BYTES = 32 };
  int64_t lanes = VECTOR_BYTES / (int64_t)dtype_size(s->dtype), lane = i < s->n - s->n % (2 * lanes) ? i % lanes : 0;
  int64_t first = i - lane;
  double value = first < s->n / 2 ? s->start + s->step * (double)first : s->end - s->step * (double)(s->n - first - 1);
  return trunc(value) + s->step * (double)lane;
}

/* The first half counts from the start, the second from the end; in the dtype's precision. */
static double linspace_at(const Sequence *s, int64_t i) {
  bool from_start = i < s->n / 2;
  if (s->dtype == DTYPE_FLOAT32) {
    float step = (float)s->step;
    return from_start ? (float)s->start + step * (float)i : (float)s->end - step * (float)(s->n - i - 1);
  }
  return from_start ? s->start + s->step * (double)i : s->end - s->step * (double)(s->n - i - 1);
}
static complex128 linspace_complex_at(const Sequence *s, int64_t i) {
  return i < s->n / 2 ? s->complex_start + s->complex_step * (double)i
                      : s->complex_end - s->complex_step * (double)(s->n - i - 1);
}
static void fill_linspace(const Sequence *s, int64_t from, int64_t count, void *out) {
  for (int64_t i = 0; i < count; i++) ((double *)out)[i] = linspace_at(s, from + i);
}
static void fill_linspace_ints(const Sequence *s, int64_t from, int64_t count, void *out) {
  for (int64_t i = 0; i < count; i++) ((double *)out)[i] = linspace_int_at(s, from + i);
}
static void fill_linspace_complex(const Sequence *s, int64_t from, int64_t count, void *out) {
  for (int64_t i = 0; i < count; i++) ((complex128 *)out)[i] = linspace_complex_at(s, from + i);
}
static void fill_logspace(const Sequence *s, int64_t from, int64_t count, void *out) {
  for (int64_t i = 0; i < count; i++) ((double *)out)[i] = pow(s->base, linspace_at(s, from + i));
}
static void fill_logspace_complex(const Sequence *s, int64_t from, int64_t count, void *out) {
  for (int64_t i = 0; i < count; i++) ((complex128 *)out)[i] = cpow(s->complex_base, linspace_complex_at(s, from + i));
}

static Status bound_in_dtype(IValue bound, DType dtype, double *out) {
  complex128 element;
  TRY(scalar_to_element(bound, dtype, &element));
  dtype_convert(DTYPE_FLOAT64, out, 1, dtype, &element, 1, 1);
  return OK;
}

static Status kernel_space(Call *c) {
  bool is_log = call_param(c);
  double base = is_log ? call_double(c, 3) : 0;
  Tensor *out = call_out(c, 0);
  Sequence s = {.dtype = (DType)out->dtype, .n = out->numel, .base = base, .complex_base = base};
  double intervals = s.n > 1 ? (double)(s.n - 1) : 1;
  if (dtype_is_complex(s.dtype)) {
    s.complex_start = ivalue_to_complex(call_scalar(c, 0));
    s.complex_end = s.n == 1 ? s.complex_start : ivalue_to_complex(call_scalar(c, 1));
    s.complex_step = (s.complex_end - s.complex_start) / intervals;
    s.kind = DTYPE_COMPLEX128;
    s.fill = is_log ? fill_logspace_complex : fill_linspace_complex;
  } else {
    TRY(bound_in_dtype(call_scalar(c, 0), s.dtype, &s.start));
    TRY(bound_in_dtype(call_scalar(c, s.n == 1 ? 0 : 1), s.dtype, &s.end));
    s.step =
        s.dtype == DTYPE_FLOAT32 ? ((float)s.end - (float)s.start) / (float)intervals : (s.end - s.start) / intervals;
    s.kind = DTYPE_FLOAT64;
    s.fill = is_log ? fill_logspace : dtype_is_floating(s.dtype) ? fill_linspace : fill_linspace_ints;
  }
  return sequence_write(&s, out);
}

/* ---- triangles ---- */
/* Elements (i, j) of a row-by-column matrix with j - i <= offset. */
static __int128 tril_count(int64_t rows, int64_t columns, int64_t offset) {
  /* Row i has clamp(i + offset + 1, 0, columns) of them: none, then growing by one, then whole rows. */
  __int128 first = (__int128)-offset > 0 ? -(__int128)offset : 0, full = (__int128)columns - offset - 1;
  if (first > rows) first = rows;
  if (full < first) full = first;
  if (full > rows) full = rows;
  __int128 low = first + offset + 1, growing = full - first;
  return growing * low + growing * (growing - 1) / 2 + (rows - full) * (__int128)columns;
}

static Status shape_triangle(Call *c, TensorSpec *spec) {
  bool upper = call_param(c);
  int64_t rows = call_int(c, 0), columns = call_int(c, 1), offset = call_int(c, 2);
  if (rows < 0) return status_new(ERROR_RUNTIME, "row must be non-negative, got%lld", (long long)rows);
  if (columns < 0) return status_new(ERROR_RUNTIME, "col must be non-negative, got%lld", (long long)columns);
  if (offset == INT64_MIN) return status_new(ERROR_RUNTIME, "offset %lld is out of range", (long long)offset);
  __int128 count = rows == 0 || columns == 0 ? 0 : tril_count(rows, columns, upper ? offset - 1 : offset);
  if (upper) count = (__int128)rows * columns - count;
  if (count > INT64_MAX / 32) return status_new(ERROR_RUNTIME, "too many indices");
  shape_set(spec, DTYPE_INT64, 2, (int64_t[]){2, (int64_t)count});
  TRY(options_read(c, 3, DTYPE_INT64, spec));
  if (spec->dtype == DTYPE_INT64 || spec->dtype == DTYPE_INT32) return OK;
  return status_new(ERROR_RUNTIME, "\"%s_indices\" not implemented for '%s'", upper ? "triu" : "tril",
                    dtype_scalar_name(spec->dtype));
}

static Status kernel_triangle(Call *c) {
  bool upper = call_param(c);
  Tensor *out = call_out(c, 0);
  int64_t columns = call_int(c, 1), offset = call_int(c, 2), at = 0, n = out->sizes[1], done = 0;
  if (!out->storage || n == 0) return OK;
  char *data = tensor_data(out);
  int64_t item = (int64_t)dtype_size((DType)out->dtype), step = out->strides[1] * item,
          next_row = out->strides[0] * item;
  for (int64_t row = !upper && offset < 0 ? -offset : 0; at < n; row++) {
    __int128 diagonal = (__int128)row + offset;
    int64_t first = 0, last = columns - 1;
    if (upper)
      first = diagonal > 0 ? (int64_t)diagonal : 0;
    else if (diagonal < last)
      last = (int64_t)diagonal;
    for (int64_t column = first; column <= last && at < n; column++, at++) {
      if (work_is_over_after(&done, 4)) return OK;
      dtype_convert((DType)out->dtype, data + at * step, 1, DTYPE_INT64, &row, 1, 1);
      dtype_convert((DType)out->dtype, data + at * step + next_row, 1, DTYPE_INT64, &column, 1, 1);
    }
  }
  return OK;
}

/* ---- windows ---- */
typedef struct Window {
  SequenceFill *fill;
  uint32_t options;           /* arguments before the options: length, periodic, alpha, beta as far as there are any */
  double alpha, beta;         /* of forms without the argument */
  uint32_t alpha_at, beta_at; /* arguments; 0: the number above */
} Window;

static Status shape_window(Call *c, TensorSpec *spec) {
  const Window *window = call_with(c);
  int64_t length = call_int(c, 0);
  Str name = c->op->name;
  if (length < 0)
    return status_new(ERROR_RUNTIME, STR_FMT " requires non-negative window_length, got window_length=%lld",
                      STR_ARG(str_slice(name, 6, name.length)), (long long)length);
  shape_set(spec, DTYPE_FLOAT32, 1, &length);
  TRY(options_read(c, window->options, dtype_default(), spec));
  if (dtype_is_floating(spec->dtype)) return OK;
  return status_new(ERROR_RUNTIME, STR_FMT " expects floating point dtypes, got: %s",
                    STR_ARG(str_slice(name, 6, name.length)), dtype_scalar_name(spec->dtype));
}

/* step: from 0 at the first element to 1 at the last (of the period). */
static void fill_cosine(const Sequence *s, int64_t from, int64_t count, void *out) {
  for (int64_t i = 0; i < count; i++)
    ((double *)out)[i] = s->alpha - s->beta * cos(2 * M_PI * s->step * (double)(from + i));
}
static void fill_blackman(const Sequence *s, int64_t from, int64_t count, void *out) {
  for (int64_t i = 0; i < count; i++) {
    double x = 2 * M_PI * s->step * (double)(from + i);
    ((double *)out)[i] = 0.42 - 0.5 * cos(x) + 0.08 * cos(2 * x);
  }
}
static void fill_bartlett(const Sequence *s, int64_t from, int64_t count, void *out) {
  for (int64_t i = 0; i < count; i++) ((double *)out)[i] = 1 - fabs(2 * s->step * (double)(from + i) - 1);
}
/* The modified Bessel function of order zero: its power series, all terms positive, scaled against overflow. */
static double log_bessel_i0(double x) {
  double half = x / 2, term = 1, sum = 1, log_scale = 0;
  for (int k = 1; k < 100000; k++) {
    if (k % 128 == 0 && work_is_over_after_more(128)) break;
    term *= half / k * (half / k);
    sum += term;
    if (sum > 1e200) {
      sum *= 1e-200;
      term *= 1e-200;
      log_scale += 200 * M_LN10;
    }
    if (term < sum * 1e-17) break;
  }
  return log(sum) + log_scale;
}
static void fill_kaiser(const Sequence *s, int64_t from, int64_t count, void *out) {
  for (int64_t i = 0; i < count; i++) {
    double x = 2 * s->step * (double)(from + i) - 1, inside = 1 - x * x;
    ((double *)out)[i] = exp(log_bessel_i0(s->beta * sqrt(inside > 0 ? inside : 0)) - log_bessel_i0(s->beta));
  }
}

static Status kernel_window(Call *c) {
  const Window *window = call_with(c);
  Tensor *out = call_out(c, 0);
  if (out->numel == 1) return tensor_fill_scalar(out, ivalue_int(1));
  bool periodic = window->options == 1 || call_bool(c, 1);
  int64_t intervals = periodic ? out->numel : out->numel - 1;
  Sequence s = {.dtype = (DType)out->dtype,
                .step = 1.0 / (double)intervals,
                .alpha = window->alpha_at ? call_double(c, window->alpha_at) : window->alpha,
                .beta = window->beta_at ? call_double(c, window->beta_at) : window->beta,
                .fill = window->fill,
                .kind = DTYPE_FLOAT64};
  return sequence_write(&s, out);
}

#define ROW(text, shape_function, kernel_function, ...)                   \
  {                                                                       \
    .schema = text, .shape = shape_function, .kernel = kernel_function,   \
    .flags = OP_OUT | OP_ACCEPT_META | OP_NOT_DIFFERENTIABLE, __VA_ARGS__ \
  }
#define WINDOW(text, fill, ...)                                                 \
  ROW("aten::" text ", *, " OPTIONS ") -> Tensor", shape_window, kernel_window, \
      .with = &(const Window){fill, __VA_ARGS__})
#define LONG_OPTIONS "ScalarType? dtype=4, Layout? layout=None, Device? device=None, bool? pin_memory=None"

static const OpRow rows[] = {
    ROW("aten::arange(Scalar end, *, " OPTIONS ") -> Tensor", shape_arange, kernel_arange, .param = 1),
    ROW("aten::arange.start(Scalar start, Scalar end, *, " OPTIONS ") -> Tensor", shape_arange, kernel_arange,
        .param = 2),
    ROW("aten::arange.start_step(Scalar start, Scalar end, Scalar step=1, *, " OPTIONS ") -> Tensor", shape_arange,
        kernel_arange, .param = 3, .out = "start_out"),
    ROW("aten::range(Scalar start, Scalar end, *, " OPTIONS ") -> Tensor", shape_range, kernel_arange, .param = 2,
        .out = "out_"),
    ROW("aten::range.step(Scalar start, Scalar end, Scalar step=1, *, " OPTIONS ") -> Tensor", shape_range,
        kernel_arange, .param = 3, .out = "out"),
    {.schema = "aten::_dim_arange(Tensor like, int dim) -> Tensor",
     .kernel = kernel_dim_arange,
     .flags = OP_NOT_DIFFERENTIABLE},
    ROW("aten::linspace(Scalar start, Scalar end, int steps, *, " OPTIONS ") -> Tensor", shape_space, kernel_space,
        .param = false, .since = 8, .extras = &(const RowExtras){.upgrader = "0_7"}),
    ROW("aten::logspace(Scalar start, Scalar end, int steps, float base=10., *, " OPTIONS ") -> Tensor", shape_space,
        kernel_space, .param = true, .since = 9, .extras = &(const RowExtras){.upgrader = "0_8"}),
    ROW("aten::tril_indices(int row, int col, int offset=0, *, " LONG_OPTIONS ") -> Tensor", shape_triangle,
        kernel_triangle, .param = false),
    ROW("aten::triu_indices(int row, int col, int offset=0, *, " LONG_OPTIONS ") -> Tensor", shape_triangle,
        kernel_triangle, .param = true),
    WINDOW("hann_window(int window_length", fill_cosine, 1, .alpha = 0.5, .beta = 0.5),
    WINDOW("hann_window.periodic(int window_length, bool periodic", fill_cosine, 2, .alpha = 0.5, .beta = 0.5),
    WINDOW("hamming_window(int window_length", fill_cosine, 1, .alpha = 0.54, .beta = 0.46),
    WINDOW("hamming_window.periodic(int window_length, bool periodic", fill_cosine, 2, .alpha = 0.54, .beta = 0.46),
    WINDOW("hamming_window.periodic_alpha(int window_length, bool periodic, float alpha", fill_cosine, 3, .alpha_at = 2,
           .beta = 0.46),
    WINDOW("hamming_window.periodic_alpha_beta(int window_length, bool periodic, float alpha, float beta", fill_cosine,
           4, .alpha_at = 2, .beta_at = 3),
    WINDOW("blackman_window(int window_length", fill_blackman, 1),
    WINDOW("blackman_window.periodic(int window_length, bool periodic", fill_blackman, 2),
    WINDOW("bartlett_window(int window_length", fill_bartlett, 1),
    WINDOW("bartlett_window.periodic(int window_length, bool periodic", fill_bartlett, 2),
    WINDOW("kaiser_window(int window_length", fill_kaiser, 1, .beta = 12.0),
    WINDOW("kaiser_window.periodic(int window_length, bool periodic", fill_kaiser, 2, .beta = 12.0),
    WINDOW("kaiser_window.beta(int window_length, bool periodic, float beta", fill_kaiser, 3, .beta_at = 2),
};

OP_TABLE(op_table_sequence, rows);
