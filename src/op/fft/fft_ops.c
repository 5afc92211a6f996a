/* The Fourier transforms of torch.fft, each a choice of sizes and dimensions before one or two of the basic transforms;
 * shifts and frequencies. */
#include <math.h>

#include "call/row.h"

/* ---- steps: each takes over *x and leaves the next tensor there ---- */
static Status step(Exec *exec, OpRef *ref, uint32_t count, IValue *inputs, Tensor **x) {
  inputs[0] = ivalue_tensor(*x);
  IValue result = IVALUE_NONE;
  Status status = op_call(exec, ref, count, inputs, 1, &result);
  tensor_release(*x);
  *x = status == OK ? result.tensor : NULL;
  return status;
}
static Status step_to_dtype(Exec *exec, DType dtype, Tensor **x) {
  static OpRef to = OP_REF("aten::to", "dtype");
  if ((*x)->dtype == dtype) return OK;
  return step(exec, &to, 2, (IValue[]){IVALUE_NONE, ivalue_int(dtype)}, x);
}
static Status step_conj(Exec *exec, Tensor **x) {
  static OpRef conjugate = OP_REF("aten::_conj_physical", "");
  return step(exec, &conjugate, 1, (IValue[]){IVALUE_NONE}, x);
}
static Status step_with_list(Exec *exec, OpRef *ref, uint32_t count, IValue *inputs, const int64_t *ints, size_t length,
                             Tensor **x) {
  List *list;
  TRY(list_from_ints(ints, length, &list));
  inputs[1] = ivalue_list(list);
  Status status = step(exec, ref, count, inputs, x);
  ivalue_release(inputs[1]);
  return status;
}
/* Cuts or pads dimension `dim` at its end. */
static Status step_resize(Exec *exec, int64_t dim, int64_t size, Tensor **x) {
  static OpRef pad = OP_REF("aten::constant_pad_nd", ""), slice = OP_REF("aten::slice", "Tensor");
  int64_t have = (*x)->sizes[dim];
  if (have == size) return OK;
  if (have > size)
    return step(exec, &slice, 5,
                (IValue[]){IVALUE_NONE, ivalue_int(dim), ivalue_int(0), ivalue_int(size), ivalue_int(1)}, x);
  int64_t amounts[2 * TENSOR_MAX_DIMS] = {0};
  size_t length = (size_t)((*x)->ndim - dim) * 2;
  amounts[length - 1] = size - have;
  return step_with_list(exec, &pad, 3, (IValue[]){IVALUE_NONE, IVALUE_NONE, ivalue_int(0)}, amounts, length, x);
}
static Status step_c2c(Exec *exec, const int64_t *dims, size_t count, int64_t mode, bool forward, Tensor **x) {
  static OpRef ref = OP_REF("aten::_fft_c2c", "");
  return step_with_list(exec, &ref, 4, (IValue[]){IVALUE_NONE, IVALUE_NONE, ivalue_int(mode), ivalue_bool(forward)},
                        dims, count, x);
}
static Status step_r2c(Exec *exec, const int64_t *dims, size_t count, int64_t mode, bool onesided, Tensor **x) {
  static OpRef ref = OP_REF("aten::_fft_r2c", "");
  return step_with_list(exec, &ref, 4, (IValue[]){IVALUE_NONE, IVALUE_NONE, ivalue_int(mode), ivalue_bool(onesided)},
                        dims, count, x);
}
static Status step_c2r(Exec *exec, const int64_t *dims, size_t count, int64_t mode, int64_t points, Tensor **x) {
  static OpRef ref = OP_REF("aten::_fft_c2r", "");
  return step_with_list(exec, &ref, 4, (IValue[]){IVALUE_NONE, IVALUE_NONE, ivalue_int(mode), ivalue_int(points)}, dims,
                        count, x);
}

/* ---- what the functions are ---- */
typedef enum Kind {
  COMPLEX,   /* complex to complex; real input is promoted */
  FROM_REAL, /* real to half of a Hermitian signal */
  TO_REAL,   /* half of a Hermitian signal to real */
} Kind;
typedef struct Fft {
  const char *name;
  Kind kind;
  bool forward;
} Fft;
static const Fft functions[] = {
    {"fft", COMPLEX, true},      {"ifft", COMPLEX, false},  {"rfft", FROM_REAL, true},
    {"ihfft", FROM_REAL, false}, {"irfft", TO_REAL, false}, {"hfft", TO_REAL, true},
};
/* aten::fft_ihfft2 -> ihfft */
static const Fft *fft_of(const Call *call) {
  Str stem = str_slice(call->op->name, sizeof "aten::fft_" - 1, call->op->name.length);
  char last = stem.data[stem.length - 1];
  if (last == '2' || last == 'n') stem.length--;
  for (size_t i = 0; i < sizeof functions / sizeof *functions; i++)
    if (str_is(stem, functions[i].name)) return &functions[i];
  return NULL;
}

/* "backward" (the default) scales the inverse by the points, "forward" the forward one, "ortho" both by the root. */
static Status read_norm(const Call *call, uint32_t i, bool forward, int64_t *out) {
  if (call_is_none(call, i) || str_is(call_str(call, i), "backward"))
    *out = forward ? 0 : 2;
  else if (str_is(call_str(call, i), "forward"))
    *out = forward ? 2 : 0;
  else if (str_is(call_str(call, i), "ortho"))
    *out = 1;
  else
    return status_new(ERROR_RUNTIME, "Invalid normalization mode: \"" STR_FMT "\"", STR_ARG(call_str(call, i)));
  return OK;
}
static Status check_points(int64_t n) {
  return n >= 1 ? OK : status_new(ERROR_RUNTIME, "Invalid number of data points (%lld) specified", (long long)n);
}

/* Integers become the default dtype; then complex where the transform asks for it. */
static Status promote(Exec *exec, bool to_complex, Tensor **x) {
  DType dtype = (DType)(*x)->dtype;
  if (!dtype_is_floating(dtype) && !dtype_is_complex(dtype)) dtype = dtype_default();
  if (dtype == DTYPE_FLOAT16 || dtype == DTYPE_BFLOAT16 || dtype == DTYPE_COMPLEX32)
    return status_new(ERROR_RUNTIME, "Unsupported dtype %s", dtype_scalar_name(dtype));
  if (to_complex && !dtype_is_complex(dtype)) dtype = dtype_to_complex(dtype);
  return step_to_dtype(exec, dtype, x);
}

/* The dimensions with their sizes; a size of -1 keeps what is there. */
typedef struct Points {
  size_t count;
  int64_t dims[TENSOR_MAX_DIMS], sizes[TENSOR_MAX_DIMS];
  bool sized; /* sizes were given */
} Points;

static Status run_fft(Exec *exec, const Fft *fft, bool many, Points *p, const Call *call, uint32_t norm, Tensor **x) {
  int64_t mode, last = p->dims[p->count ? p->count - 1 : 0];
  TRY(read_norm(call, norm, fft->forward, &mode));
  bool had_real = !dtype_is_complex((DType)(*x)->dtype);
  if (fft->kind == FROM_REAL && !had_real)
    return status_new(ERROR_RUNTIME, "%s%s expects a real%s input tensor, but got %s", fft->name, many ? "n" : "",
                      many ? "-valued" : "", dtype_scalar_name((DType)(*x)->dtype));
  if (fft->kind != COMPLEX && p->count == 0)
    return status_new(ERROR_RUNTIME, "%sn must transform at least one axis", fft->name);
  bool stay_real = fft->kind == FROM_REAL || (fft->kind == COMPLEX && had_real && p->count == 1);
  TRY(promote(exec, !stay_real, x));
  int64_t points = 0;
  for (size_t i = 0; i < p->count; i++) {
    int64_t have = (*x)->sizes[p->dims[i]], size = p->sizes[i];
    if (fft->kind == TO_REAL && i + 1 == p->count) {
      points = size == -1 ? 2 * (have - 1) : size;
      TRY(check_points(points));
      size = points / 2 + 1;
    } else {
      if (size == -1) size = have;
      TRY(check_points(size));
    }
    TRY(step_resize(exec, p->dims[i], size, x));
  }
  switch (fft->kind) {
    case COMPLEX:
      if (!stay_real) return p->count ? step_c2c(exec, p->dims, p->count, mode, fft->forward, x) : OK;
      TRY(step_r2c(exec, p->dims, 1, mode, false, x));
      return fft->forward ? OK : step_conj(exec, x);
    case FROM_REAL:
      if (fft->forward) return step_r2c(exec, p->dims, p->count, mode, true, x);
      TRY(step_r2c(exec, &last, 1, mode, true, x));
      TRY(step_conj(exec, x));
      return p->count > 1 ? step_c2c(exec, p->dims, p->count - 1, mode, false, x) : OK;
    case TO_REAL:
      if (!fft->forward) return step_c2r(exec, p->dims, p->count, mode, points, x);
      if (p->count > 1) TRY(step_c2c(exec, p->dims, p->count - 1, mode, true, x));
      TRY(step_conj(exec, x));
      return step_c2r(exec, &last, 1, mode, points, x);
  }
  return OK;
}

/* (self, n, dim, norm) */
static Status kernel_fft(Call *call) {
  const Fft *fft = fft_of(call);
  Tensor *x = call_tensor(call, 0);
  Points p = {.count = 1, .sized = !call_is_none(call, 1)};
  if (x->ndim == 0)
    return status_exception("IndexError", "Dimension specified as %lld but tensor has no dimensions",
                            (long long)call_int(call, 2));
  TRY(dim_wrap(call_int(call, 2), x->ndim, &p.dims[0]));
  p.sizes[0] = call_int_or(call, 1, -1);
  if (p.sized) TRY(check_points(p.sizes[0]));
  tensor_retain(x);
  Status status = run_fft(call->exec, fft, false, &p, call, 3, &x);
  if (status == OK)
    call_set_tensor(call, 0, x);
  else
    tensor_release(x);
  return status;
}

static Status read_points(const Call *call, int ndim, Points *p) {
  bool sized = !call_is_none(call, 1), placed = !call_is_none(call, 2);
  size_t size_count = 0, dim_count = 0;
  const int64_t *sizes = sized ? call_ints(call, 1, &size_count) : NULL,
                *dims = placed ? call_ints(call, 2, &dim_count) : NULL;
  bool seen[TENSOR_MAX_DIMS] = {false};
  if (placed && dim_count > TENSOR_MAX_DIMS) return status_new(ERROR_RUNTIME, "FFT dims must be unique");
  for (size_t i = 0; i < dim_count; i++) {
    TRY(dim_wrap(dims[i], ndim, &p->dims[i]));
    if (seen[p->dims[i]]) return status_new(ERROR_RUNTIME, "FFT dims must be unique");
    seen[p->dims[i]] = true;
  }
  if (sized && placed && size_count != dim_count)
    return status_new(ERROR_RUNTIME, "When given, dim and shape arguments must have the same length");
  if (sized && size_count > (size_t)ndim)
    return status_new(ERROR_RUNTIME, "Got shape with %zu values but input tensor only has %d dimensions.", size_count,
                      ndim);
  p->sized = sized;
  p->count = sized ? size_count : placed ? dim_count : (size_t)ndim;
  for (size_t i = 0; i < p->count; i++) {
    if (!placed) p->dims[i] = ndim - (int64_t)p->count + (int64_t)i;
    p->sizes[i] = sized ? sizes[i] : -1;
    if (p->sizes[i] != -1) TRY(check_points(p->sizes[i]));
  }
  return OK;
}
/* (self, s, dim, norm) */
static Status kernel_fftn(Call *call) {
  const Fft *fft = fft_of(call);
  Tensor *x = call_tensor(call, 0);
  Points p = {0};
  TRY(read_points(call, x->ndim, &p));
  tensor_retain(x);
  Status status = run_fft(call->exec, fft, true, &p, call, 3, &x);
  Tensor *fresh;
  if (status == OK && x == call_tensor(call, 0) && (status = tensor_clone(x, &fresh)) == OK) { /* along no dimension */
    tensor_release(x);
    x = fresh;
  }
  if (status == OK)
    call_set_tensor(call, 0, x);
  else
    tensor_release(x);
  return status;
}

/* ---- fftshift, ifftshift ---- */
static Status kernel_shift(Call *call) {
  bool inverse = call_param(call);
  static OpRef roll = OP_REF("aten::roll", "");
  const Tensor *self = call_tensor(call, 0);
  size_t count = self->ndim;
  const int64_t *given = call_is_none(call, 1) ? NULL : call_ints(call, 1, &count);
  if (count > TENSOR_MAX_DIMS) return status_new(ERROR_RUNTIME, "FFT dims must be unique");
  int64_t shifts[TENSOR_MAX_DIMS], dims[TENSOR_MAX_DIMS];
  for (size_t i = 0; i < count; i++) {
    TRY(dim_wrap(given ? given[i] : (int64_t)i, self->ndim, &dims[i]));
    int64_t size = self->ndim ? self->sizes[dims[i]] : 1;
    shifts[i] = size / 2 + (inverse ? size % 2 : 0);
  }
  List *shift_list = NULL, *dim_list = NULL;
  Status status;
  TRY_GOTO(list_from_ints(shifts, count, &shift_list), done);
  TRY_GOTO(list_from_ints(dims, count, &dim_list), done);
  IValue result = IVALUE_NONE;
  TRY_GOTO(op_call(call->exec, &roll, 3,
                   (IValue[]){call_value(call, 0), ivalue_list(shift_list), ivalue_list(dim_list)}, 1, &result),
           done);
  call_set(call, 0, result);
done:
  if (shift_list) ivalue_release(ivalue_list(shift_list));
  if (dim_list) ivalue_release(ivalue_list(dim_list));
  return status;
}

/* ---- fftfreq, rfftfreq: (n, d, dtype, layout, device, pin_memory) ---- */
static Status shape_freq(Call *call, TensorSpec *specs, int64_t size, const char *name) {
  DType dtype = call_dtype_or(call, 2, dtype_default());
  if (!dtype_is_floating(dtype) && !dtype_is_complex(dtype))
    return status_new(ERROR_RUNTIME, "%s requires a floating point or complex dtype", name);
  shape_set(specs, dtype, 1, &size);
  return OK;
}
static Status shape_fftfreq(Call *call, TensorSpec *specs) {
  return shape_freq(call, specs, call_int(call, 0), "fftfreq");
}
static Status shape_rfftfreq(Call *call, TensorSpec *specs) {
  int64_t n = call_int(call, 0);
  return shape_freq(call, specs, n < 0 ? n : n / 2 + 1, "rfftfreq");
}
static Status kernel_freq(Call *call) {
  Tensor *out = call_out(call, 0);
  int64_t n = call_int(call, 0), length = out->numel, wrap = length == n ? (n + 1) / 2 : length;
  double unit = 1.0 / ((double)n * call_double(call, 1));
  if (out->dtype == DTYPE_FLOAT32) {
    float *x = tensor_data(out);
    for (int64_t i = 0; i < length; i++) x[i] = (float)(i < wrap ? i : i - n) * (float)unit;
    return OK;
  }
  char *x = tensor_data(out);
  for (int64_t i = 0; i < length; i++) {
    double value = (double)(i < wrap ? i : i - n) * unit;
    dtype_convert((DType)out->dtype, x + i * (int64_t)dtype_size((DType)out->dtype), 0, DTYPE_FLOAT64, &value, 0, 1);
  }
  return OK;
}

#define FFT_1(name)                                                                                 \
  {                                                                                                 \
    .schema = "aten::fft_" name "(Tensor self, int? n=None, int dim=-1, str? norm=None) -> Tensor", \
    .kernel = kernel_fft, .flags = OP_COMPOSITE | OP_OUT                                            \
  }
#define FFT_2(name)                                                                                              \
  {                                                                                                              \
    .schema = "aten::fft_" name "2(Tensor self, int[1]? s=None, int[1] dim=[-2, -1], str? norm=None) -> Tensor", \
    .kernel = kernel_fftn, .flags = OP_COMPOSITE | OP_OUT                                                        \
  }
#define FFT_N(name)                                                                                           \
  {                                                                                                           \
    .schema = "aten::fft_" name "n(Tensor self, int[1]? s=None, int[1]? dim=None, str? norm=None) -> Tensor", \
    .kernel = kernel_fftn, .flags = OP_COMPOSITE | OP_OUT                                                     \
  }
#define FFT(name) FFT_1(name), FFT_2(name), FFT_N(name)
static const OpRow rows[] = {
    FFT("fft"),
    FFT("ifft"),
    FFT("rfft"),
    FFT("irfft"),
    FFT("hfft"),
    FFT("ihfft"),
    {.schema = "aten::fft_fftshift(Tensor self, int[1]? dim=None) -> Tensor",
     .kernel = kernel_shift,
     .param = false,
     .flags = OP_COMPOSITE},
    {.schema = "aten::fft_ifftshift(Tensor self, int[1]? dim=None) -> Tensor",
     .kernel = kernel_shift,
     .param = true,
     .flags = OP_COMPOSITE},
    {.schema = "aten::fft_fftfreq(int n, float d=1., *, ScalarType? dtype=None, Layout? layout=None, Device? "
               "device=None, bool? pin_memory=None) -> Tensor",
     .kernel = kernel_freq,
     .shape = shape_fftfreq,
     .flags = OP_OUT},
    {.schema = "aten::fft_rfftfreq(int n, float d=1., *, ScalarType? dtype=None, Layout? layout=None, Device? "
               "device=None, bool? pin_memory=None) -> Tensor",
     .kernel = kernel_freq,
     .shape = shape_rfftfreq,
     .flags = OP_OUT},
};
OP_TABLE(op_table_fft_ops, rows);
