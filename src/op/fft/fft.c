/* The three transforms everything else is made of: complex to complex, real to complex, complex to real, by FFTW, which
 * is opened on first use, and where it is not there by our own (compute/fft). Normalization: 0 none, 1 by the root of
 * the number of points, 2 by that number. */
#include "call/row.h"

#include <complex.h> /* after ours: its macros are common words */
#include <math.h>

#include "base/work_limit.h"
#include "compute/fft/fft.h"

/* A transform of the dimensions `dims` of `in` into `out`; `logical` has the real side's sizes (either's when both are
 * complex). `in` may be overwritten. */
typedef struct Transform {
  FftKind kind;
  const Tensor *in, *out, *logical;
  size_t count;
  const int *dims;
  bool is_forward, is_double;
} Transform;

#ifdef WICK_HAVE_FFTW

#include <fftw3.h>
#include <pthread.h>

#include "base/fork.h"
#include "base/library.h"

typedef const fftw_iodim64 *Dims;
typedef struct Fftw {
  void *(*dft)(int rank, Dims dims, int outer_rank, Dims outer, void *in, void *out, int sign, unsigned flags);
  void *(*r2c)(int rank, Dims dims, int outer_rank, Dims outer, void *in, void *out, unsigned flags);
  void *(*c2r)(int rank, Dims dims, int outer_rank, Dims outer, void *in, void *out, unsigned flags);
  void (*execute)(const void *plan);
  void (*destroy)(void *plan);
} Fftw;

static Fftw fftw[2]; /* single, double */
static bool is_there;
static pthread_mutex_t planner = PTHREAD_MUTEX_INITIALIZER; /* plans are made and destroyed by one thread at a time */

static void open_libraries(void) {
  static const char *const libraries[2] = {"libfftw3f.so.3", "libfftw3.so.3"};
#define SYMBOLS(prefix, f)                                                          \
  {                                                                                 \
    {prefix "_plan_guru64_dft", &f.dft}, {prefix "_plan_guru64_dft_r2c", &f.r2c},   \
        {prefix "_plan_guru64_dft_c2r", &f.c2r}, {prefix "_execute", &f.execute}, { \
      prefix "_destroy_plan", &f.destroy                                            \
    }                                                                               \
  }
  const LibrarySymbol symbols[2][5] = {SYMBOLS("fftwf", fftw[0]), SYMBOLS("fftw", fftw[1])};
#undef SYMBOLS
  char failure[128] = "";
  for (int wide = 0; wide < 2 && !failure[0]; wide++)
    library_open(&libraries[wide], 1, symbols[wide], 5, failure, sizeof failure);
  is_there = !failure[0];
}

static bool has_fftw(void) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, open_libraries);
  return is_there;
}

static Status by_fftw(const Transform *t) {
  const Fftw *f = &fftw[t->is_double];
  fftw_iodim64 inner[TENSOR_MAX_DIMS], outer[TENSOR_MAX_DIMS];
  bool chosen[TENSOR_MAX_DIMS] = {false};
  for (size_t i = 0; i < t->count; i++) {
    int d = t->dims[i];
    chosen[d] = true;
    inner[i] = (fftw_iodim64){t->logical->sizes[d], t->in->strides[d], t->out->strides[d]};
  }
  int outer_rank = 0, count = (int)t->count;
  for (int d = 0; d < t->in->ndim; d++)
    if (!chosen[d]) outer[outer_rank++] = (fftw_iodim64){t->in->sizes[d], t->in->strides[d], t->out->strides[d]};
  void *from = tensor_data(t->in), *to = tensor_data(t->out);
  lock_take(&planner);
  void *plan = t->kind == FFT_C2C   ? f->dft(count, inner, outer_rank, outer, from, to,
                                           t->is_forward ? FFTW_FORWARD : FFTW_BACKWARD, FFTW_ESTIMATE)
               : t->kind == FFT_R2C ? f->r2c(count, inner, outer_rank, outer, from, to, FFTW_ESTIMATE)
                                    : f->c2r(count, inner, outer_rank, outer, from, to, FFTW_ESTIMATE);
  lock_drop(&planner);
  if (!plan)
    return status_new(ERROR_RUNTIME, "FFTW has no plan for a transform of sizes %s",
                      SIZES_TEXT(t->logical->ndim, t->logical->sizes));
  f->execute(plan);
  lock_take(&planner);
  f->destroy(plan);
  lock_drop(&planner);
  return OK;
}

#else

static bool has_fftw(void) {
  return false;
}
static Status by_fftw(const Transform *t) {
  (void)t;
  return OK;
}

#endif

/* One dimension, of all lines. */
static Status along(const Work *work, const Transform *t, FftKind kind, const Tensor *in, const Tensor *out, int dim) {
  int64_t sizes[TENSOR_MAX_DIMS], in_strides[TENSOR_MAX_DIMS], out_strides[TENSOR_MAX_DIMS];
  const Tensor *real = kind == FFT_R2C ? in : out;
  int rank = 0;
  for (int d = 0; d < in->ndim; d++)
    if (d != dim) {
      sizes[rank] = in->sizes[d];
      in_strides[rank] = in->strides[d], out_strides[rank++] = out->strides[d];
    }
  FftAxis axis = {.kind = kind,
                  .is_double = t->is_double,
                  .is_inverse = !t->is_forward,
                  .points = real->sizes[dim],
                  .in = tensor_data(in),
                  .out = tensor_data(out),
                  .in_stride = in->strides[dim],
                  .out_stride = out->strides[dim],
                  .rank = rank,
                  .sizes = sizes,
                  .in_strides = in_strides,
                  .out_strides = out_strides};
  TRY(fft_axis(work, &axis));
  return work_status();
}

/* Dimension by dimension, the one between real and complex numbers where all others are complex. */
static Status by_own(const Work *work, const Transform *t) {
  int last = t->dims[t->count - 1];
  size_t others = t->kind == FFT_C2C ? t->count : t->count - 1;
  const Tensor *at = t->in;
  if (t->kind == FFT_R2C) {
    TRY(along(work, t, FFT_R2C, t->in, t->out, last));
    at = t->out;
  }
  for (size_t i = 0; i < others; i++) {
    const Tensor *to = t->kind == FFT_C2R ? t->in : t->out;
    TRY(along(work, t, FFT_C2C, at, to, t->dims[i]));
    at = to;
  }
  return t->kind == FFT_C2R ? along(work, t, FFT_C2R, t->in, t->out, last) : OK;
}

static Status transform(const Work *work, FftKind kind, const Tensor *in, const Tensor *out, const Tensor *logical,
                        size_t count, const int *dims, bool forward) {
  bool is_double = in->dtype == DTYPE_FLOAT64 || in->dtype == DTYPE_COMPLEX128;
  Transform t = {kind, in, out, logical, count, dims, forward, is_double};
  double points = 1, lines = (double)in->numel;
  for (size_t i = 0; i < count; i++) {
    points *= (double)logical->sizes[dims[i]];
    lines /= in->sizes[dims[i]] ? (double)in->sizes[dims[i]] : 1;
  }
  TRY(work_status_before(lines * points * log2(points + 2) * (is_double ? 4 : 2), "a Fourier transform"));
  return has_fftw() ? by_fftw(&t) : by_own(work, &t);
}

static Status read_dims(const Call *call, int ndim, int *dims, size_t *out_count) {
  size_t count;
  const int64_t *given = call_ints(call, 1, &count);
  bool seen[TENSOR_MAX_DIMS] = {false};
  for (size_t i = 0; i < count; i++) {
    int64_t d;
    TRY(dim_wrap(given[i], ndim, &d));
    if (ndim == 0 || seen[d]) return status_new(ERROR_RUNTIME, "FFT dims must be unique");
    seen[d] = true;
    dims[i] = (int)d;
  }
  *out_count = count;
  return OK;
}

static Status normalize(const Tensor *out, const Tensor *logical, size_t count, const int *dims, int64_t mode) {
  if (mode == 0 || out->numel == 0) return OK;
  double points = 1;
  for (size_t i = 0; i < count; i++) points *= (double)logical->sizes[dims[i]];
  double scale = mode == 1 ? 1 / sqrt(points) : 1 / points;
  int64_t n = dtype_is_complex((DType)out->dtype) ? 2 * out->numel : out->numel;
  if (out->dtype == DTYPE_FLOAT32 || out->dtype == DTYPE_COMPLEX64) {
    float *x = tensor_data(out), factor = (float)scale;
    for (int64_t i = 0; i < n; i++) x[i] *= factor;
  } else {
    double *x = tensor_data(out);
    for (int64_t i = 0; i < n; i++) x[i] *= scale;
  }
  return OK;
}

static Status check_input(const Call *call, bool complex_input) {
  const Tensor *self = call_tensor(call, 0);
  DType d = (DType)self->dtype;
  if (complex_input ? d == DTYPE_COMPLEX64 || d == DTYPE_COMPLEX128 : d == DTYPE_FLOAT32 || d == DTYPE_FLOAT64)
    return OK;
  return status_new(ERROR_RUNTIME, "expected a %s tensor of single or double precision, but got %s",
                    complex_input ? "complex" : "real", dtype_scalar_name(d));
}

/* A full-sized transform of `in`, which it takes over; the normalization is argument 2. */
static Status run_full(Call *call, FftKind kind, Tensor *in, size_t count, const int *dims, bool forward) {
  Status status = transform(&call->exec->work, kind, in, call_out(call, 0), call_tensor(call, 0), count, dims, forward);
  tensor_release(in);
  TRY(status);
  return normalize(call_out(call, 0), call_tensor(call, 0), count, dims, call_int(call, 2));
}

/* Nothing to transform: no elements, or no dimensions. */
static bool is_trivial(const Tensor *self, Tensor *out, size_t count, Status *status) {
  *status = OK;
  if (self->numel && out->numel && count) return false;
  if (self->numel && out->numel)
    *status = tensor_copy(out, self, 1);
  else if (out->numel)
    tensor_fill_zero(out);
  return true;
}

/* ---- _fft_c2c ---- */
static Status shape_c2c(Call *call, TensorSpec *specs) {
  TRY(check_input(call, true));
  const Tensor *self = call_tensor(call, 0);
  shape_set(specs, (DType)self->dtype, self->ndim, self->sizes);
  return OK;
}
static Status kernel_c2c(Call *call) {
  const Tensor *self = call_tensor(call, 0);
  Tensor *out = call_out(call, 0), *in;
  int dims[TENSOR_MAX_DIMS];
  size_t count;
  TRY(read_dims(call, self->ndim, dims, &count));
  Status status;
  if (is_trivial(self, out, count, &status)) return status;
  TRY(tensor_clone(self, &in));
  return run_full(call, FFT_C2C, in, count, dims, call_bool(call, 3));
}

/* ---- _fft_r2c ---- */
static Status shape_r2c(Call *call, TensorSpec *specs) {
  TRY(check_input(call, false));
  const Tensor *self = call_tensor(call, 0);
  int dims[TENSOR_MAX_DIMS];
  size_t count;
  TRY(read_dims(call, self->ndim, dims, &count));
  shape_set(specs, dtype_to_complex((DType)self->dtype), self->ndim, self->sizes);
  if (call_bool(call, 3) && count) specs->sizes[dims[count - 1]] = specs->sizes[dims[count - 1]] / 2 + 1;
  return OK;
}
static Status kernel_r2c(Call *call) {
  const Tensor *self = call_tensor(call, 0);
  Tensor *out = call_out(call, 0), *in;
  int dims[TENSOR_MAX_DIMS];
  size_t count;
  TRY(read_dims(call, self->ndim, dims, &count));
  Status status;
  if (is_trivial(self, out, count, &status)) return status;
  bool half = call_bool(call, 3);
  if (half)
    TRY(tensor_clone(self, &in));
  else
    TRY(tensor_to_dtype(self, (DType)out->dtype, &in));
  return run_full(call, half ? FFT_R2C : FFT_C2C, in, count, dims, true);
}

/* ---- _fft_c2r ---- */
static Status shape_c2r(Call *call, TensorSpec *specs) {
  TRY(check_input(call, true));
  const Tensor *self = call_tensor(call, 0);
  int dims[TENSOR_MAX_DIMS];
  size_t count;
  TRY(read_dims(call, self->ndim, dims, &count));
  shape_set(specs, dtype_to_real((DType)self->dtype), self->ndim, self->sizes);
  if (count == 0) return OK;
  int64_t points = call_int(call, 3), half = self->sizes[dims[count - 1]];
  if (points < 1) return status_new(ERROR_RUNTIME, "Invalid number of data points (%lld) specified", (long long)points);
  if (half < points / 2 + 1)
    return status_new(ERROR_RUNTIME, "a transform to %lld real points needs %lld complex ones, but got %lld",
                      (long long)points, (long long)(points / 2 + 1), (long long)half);
  specs->sizes[dims[count - 1]] = points;
  return OK;
}
static Status kernel_c2r(Call *call) {
  const Tensor *self = call_tensor(call, 0);
  Tensor *out = call_out(call, 0), *in;
  int dims[TENSOR_MAX_DIMS];
  size_t count;
  TRY(read_dims(call, self->ndim, dims, &count));
  Status status;
  if (is_trivial(self, out, count, &status)) return status;
  TRY(tensor_clone(self, &in));
  status = transform(&call->exec->work, FFT_C2R, in, out, out, count, dims, false);
  tensor_release(in);
  TRY(status);
  return normalize(out, out, count, dims, call_int(call, 2));
}

static const OpRow rows[] = {
    {.schema = "aten::_fft_c2c(Tensor self, int[] dim, int normalization, bool forward) -> Tensor",
     .kernel = kernel_c2c,
     .shape = shape_c2c,
     .flags = OP_OUT,
     .grad = "self: torch._fft_c2c(grad, dim, normalization, not forward)"},
    {.schema = "aten::_fft_r2c(Tensor self, int[] dim, int normalization, bool onesided) -> Tensor",
     .kernel = kernel_r2c,
     .shape = shape_r2c,
     .flags = OP_OUT,
     .grad = "self: fft_r2c_backward(grad, dim, normalization, onesided, self.size(dim[-1]))"},
    {.schema = "aten::_fft_c2r(Tensor self, int[] dim, int normalization, int last_dim_size) -> Tensor",
     .kernel = kernel_c2r,
     .shape = shape_c2r,
     .flags = OP_OUT,
     .grad = "self: fft_c2r_backward(grad, dim, normalization, self.size(dim[-1]))"},
};
OP_TABLE(op_table_fft, rows);
