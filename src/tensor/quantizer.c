/* Quantizers, and numbers to integers and back. The arithmetic is that of PyTorch's affine quantizers: float32 with
 * the reciprocal of the scale, ties to even, saturation. */
#include "tensor/quantizer.h"

#include <assert.h>
#include <math.h>

#include "base/work_limit.h"
#include "tensor/changed.h"
#include "tensor/iterate.h"

static const char *const scheme_names[] = {"per_tensor_affine", "per_channel_affine", "per_tensor_symmetric",
                                           "per_channel_symmetric", "per_channel_affine_float_qparams"};

const char *qscheme_name(int64_t scheme) {
  return scheme >= 0 && scheme < (int64_t)(sizeof scheme_names / sizeof *scheme_names) ? scheme_names[scheme]
                                                                                       : "unknown";
}

int64_t dtype_quantized_min(DType dtype) {
  return dtype == DTYPE_QINT8 ? INT8_MIN : dtype == DTYPE_QINT32 ? INT32_MIN : 0;
}
int64_t dtype_quantized_max(DType dtype) {
  switch (dtype) {
    case DTYPE_QINT8:
      return INT8_MAX;
    case DTYPE_QINT32:
      return INT32_MAX;
    case DTYPE_QUINT4X2:
      return 15;
    case DTYPE_QUINT2X4:
      return 3;
    default:
      return UINT8_MAX;
  }
}
int dtype_elements_per_byte(DType dtype) {
  return dtype == DTYPE_QUINT4X2 ? 2 : dtype == DTYPE_QUINT2X4 ? 4 : 1;
}

/* ---- quantizers ---- */

static void free_quantizer(TensorExtension *extension) {
  Quantizer *q = (Quantizer *)extension;
  tensor_release(q->scales);
  tensor_release(q->zero_points);
  mem_free(q);
}

static Status new_quantizer(QScheme scheme, Quantizer **out) {
  Quantizer *q = mem_calloc(1, sizeof *q);
  *out = q;
  if (!q) return status_out_of_memory();
  ref_init(&q->base.refs);
  q->base.kind = EXTENSION_QUANTIZER;
  q->base.free = free_quantizer;
  q->scheme = (uint8_t)scheme;
  q->scale = 1;
  return OK;
}

Quantizer *quantizer_retain(const Quantizer *q) {
  ref_retain(&((Quantizer *)q)->base.refs);
  return (Quantizer *)q;
}
void quantizer_release(Quantizer *q) {
  if (q && ref_release(&q->base.refs)) free_quantizer(&q->base);
}

Status quantizer_check_scale(DType dtype, double scale, int64_t zero_point) {
  int64_t least = dtype_quantized_min(dtype), most = dtype_quantized_max(dtype);
  if (zero_point > most)
    return status_new(ERROR_RUNTIME, "quantize_tensor_per_tensor_affine zero_point %lld is above upper bound.",
                      (long long)zero_point);
  if (zero_point < least)
    return status_new(ERROR_RUNTIME, "quantize_tensor_per_tensor_affine zero_point %lld is below lower bound.",
                      (long long)zero_point);
  (void)scale; /* any: PyTorch divides by it as it stands */
  return OK;
}

Status quantizer_new_per_tensor(double scale, int64_t zero_point, Quantizer **out) {
  TRY(new_quantizer(QSCHEME_PER_TENSOR_AFFINE, out));
  (*out)->scale = scale;
  (*out)->zero_point = zero_point;
  return OK;
}

static Status plain_copy(const Tensor *t, DType dtype, Tensor **out) {
  TRY(tensor_empty(dtype, 1, t->sizes, out));
  Status status = tensor_copy(*out, t, 1);
  if (status) {
    tensor_release(*out);
    *out = NULL;
  }
  return status;
}

Status quantizer_new_per_channel(const Tensor *scales, const Tensor *zero_points, int64_t axis, Quantizer **out) {
  *out = NULL;
  if (!tensor_is_defined(scales) || !tensor_is_defined(zero_points) ||
      (scales->flags | zero_points->flags) & TENSOR_UNUSUAL)
    return status_new(ERROR_RUNTIME, "scales and zero_points must be plain tensors");
  if (scales->ndim != 1) return status_new(ERROR_RUNTIME, "scale tensor must have dimension 1");
  if (zero_points->ndim != 1) return status_new(ERROR_RUNTIME, "zero_points tensor must have dimension 1");
  if (scales->numel != zero_points->numel)
    return status_new(ERROR_RUNTIME, "number of elements in scales and zero_points must match");
  bool is_float = dtype_is_floating((DType)zero_points->dtype);
  if (is_float && !dtype_is_floating((DType)scales->dtype)) return status_new(ERROR_RUNTIME, "scales must be floating");
  if (axis < 0)
    return status_new(ERROR_RUNTIME, "Channel axis out of range in per channel affine quantization. Got: %lld",
                      (long long)axis);
  Quantizer *q;
  TRY(new_quantizer(is_float ? QSCHEME_PER_CHANNEL_AFFINE_FLOAT_QPARAMS : QSCHEME_PER_CHANNEL_AFFINE, &q));
  q->axis = axis;
  Status status = plain_copy(scales, is_float ? DTYPE_FLOAT32 : DTYPE_FLOAT64, &q->scales);
  if (!status) status = plain_copy(zero_points, is_float ? DTYPE_FLOAT32 : DTYPE_INT64, &q->zero_points);
  if (status) {
    quantizer_release(q);
    return status;
  }
  *out = q;
  return OK;
}

Status quantizer_check_fits(const Quantizer *q, DType dtype, int ndim, const int64_t *sizes) {
  if (!dtype_is_quantized(dtype))
    return status_new(ERROR_RUNTIME, "%s is no dtype of quantized tensors", dtype_name(dtype));
  if (quantizer_is_per_tensor(q)) return OK;
  if (q->axis >= ndim)
    return status_new(ERROR_RUNTIME,
                      "Channel axis out of range in per channel affine quantization. Got: %lld Expected: [0, %d)",
                      (long long)q->axis, ndim);
  if (sizes[q->axis] != q->scales->numel)
    return status_new(ERROR_RUNTIME, "length of scales must equal to channel: got %lld scales for %lld channels",
                      (long long)q->scales->numel, (long long)sizes[q->axis]);
  return OK;
}

static bool same_bytes(const Tensor *a, const Tensor *b) {
  return a->dtype == b->dtype && a->numel == b->numel &&
         memcmp(tensor_data(a), tensor_data(b), (size_t)a->numel * dtype_size((DType)a->dtype)) == 0;
}

bool quantizer_equal(const Quantizer *a, const Quantizer *b) {
  if (a->scheme != b->scheme) return false;
  if (quantizer_is_per_tensor(a)) return a->scale == b->scale && a->zero_point == b->zero_point;
  return a->axis == b->axis && same_bytes(a->scales, b->scales) && same_bytes(a->zero_points, b->zero_points);
}

void tensor_set_quantizer(Tensor *t, Quantizer *q) {
  assert(dtype_is_quantized((DType)t->dtype));
  TensorExtension *old = t->extension;
  t->extension = &q->base;
  tensor_set_flags(t, t->flags | TENSOR_QUANTIZED);
  if (old && ref_release(&old->refs)) old->free(old);
}

Status tensor_new_quantized(DType dtype, int ndim, const int64_t *sizes, const int64_t *strides, const Quantizer *q,
                            Tensor **out) {
  *out = NULL;
  TRY(quantizer_check_fits(q, dtype, ndim, sizes));
  if (strides && dtype_elements_per_byte(dtype) == 1)
    TRY(tensor_empty_strided(dtype, ndim, sizes, strides, out));
  else
    TRY(tensor_empty(dtype, ndim, sizes, out));
  tensor_set_quantizer(*out, quantizer_retain(q));
  return OK;
}

/* ---- views ---- */

static const Quantizer *per_channel(const Tensor *t) {
  return tensor_is_quantized(t) && !quantizer_is_per_tensor(tensor_quantizer(t)) ? tensor_quantizer(t) : NULL;
}

/* q with another axis. */
static Status move_axis(Tensor *view, const Quantizer *q, int64_t axis) {
  if (axis == q->axis) return OK;
  Quantizer *moved;
  TRY(new_quantizer((QScheme)q->scheme, &moved));
  moved->axis = axis;
  moved->scales = tensor_retain(q->scales);
  moved->zero_points = tensor_retain(q->zero_points);
  tensor_set_quantizer(view, moved);
  return OK;
}

Status tensor_quantizer_select(Tensor *view, int64_t dim, int64_t index) {
  const Quantizer *q = per_channel(view);
  if (!q) return OK;
  if (dim != q->axis) return move_axis(view, q, q->axis > dim ? q->axis - 1 : q->axis);
  if (q->scheme != QSCHEME_PER_CHANNEL_AFFINE)
    return status_new(ERROR_UNSUPPORTED, "selecting a channel of a tensor with float qparams");
  if (index >= q->scales->numel)
    return status_new(ERROR_RUNTIME, "the quantizer has no channel %lld", (long long)index);
  Quantizer *one;
  TRY(quantizer_new_per_tensor(((const double *)tensor_data(q->scales))[index],
                               ((const int64_t *)tensor_data(q->zero_points))[index], &one));
  tensor_set_quantizer(view, one);
  return OK;
}

Status tensor_quantizer_slice(Tensor *view, int64_t dim, int64_t start, int64_t step) {
  const Quantizer *q = per_channel(view);
  if (!q || dim != q->axis) return OK;
  int64_t end = start + view->sizes[dim] * step;
  Tensor *scales, *zero_points;
  Quantizer *sliced = NULL;
  TRY(tensor_slice(q->scales, 0, start, end, step, &scales));
  Status status = tensor_slice(q->zero_points, 0, start, end, step, &zero_points);
  if (!status) {
    status = quantizer_new_per_channel(scales, zero_points, q->axis, &sliced);
    tensor_release(zero_points);
  }
  tensor_release(scales);
  if (status) return status;
  tensor_set_quantizer(view, sliced);
  return OK;
}

Status tensor_quantizer_reorder(Tensor *view, const int64_t *order) {
  const Quantizer *q = per_channel(view);
  if (!q) return OK;
  for (int d = 0; d < view->ndim; d++)
    if (order[d] == q->axis) return move_axis(view, q, d);
  return status_new(ERROR_RUNTIME, "the view has lost the channel axis of its quantizer");
}

/* ---- lines ---- */

/* Limits are integers, so they may come before the rounding: to the nearest, ties to even, by a sum that has no room
 * for fractions. */
#define QUANTIZE_LINE(name, type)                                                                                    \
  static void quantize_##name(type *restrict to, const float *restrict from, int64_t n, float inverse, int32_t zero, \
                              float least, float most) {                                                             \
    const float shift = 0x1.8p23f;                                                                                   \
    for (int64_t i = 0; i < n; i++) {                                                                                \
      float x = from[i] * inverse;                                                                                   \
      x = x < 0x1p63f ? x : least; /* no 64-bit integer, nor is NaN: the least */                                    \
      x = x > least ? x : least;                                                                                     \
      x = x < most ? x : most;                                                                                       \
      to[i] = (type)((int32_t)((x + shift) - shift) + zero);                                                         \
    }                                                                                                                \
  }
QUANTIZE_LINE(int8, int8_t)
QUANTIZE_LINE(uint8, uint8_t)

/* The zero point is added in float32, which rounds above 2^24. */
static void quantize_int32(int32_t *restrict to, const float *restrict from, int64_t n, float inverse, int64_t zero) {
  for (int64_t i = 0; i < n; i++) {
    float x = rintf(from[i] * inverse) + (float)zero;
    x = x < 0x1p63f ? x : (float)INT32_MIN;
    to[i] = x >= 0x1p31f ? INT32_MAX : x > -0x1p31f ? (int32_t)x : INT32_MIN;
  }
}

void quantize_line(DType dtype, void *to, const float *from, int64_t n, float scale, int64_t zero_point) {
  assert(dtype_is_quantized(dtype));
  float inverse = 1.0f / scale;
  if (dtype == DTYPE_QINT32) {
    quantize_int32(to, from, n, inverse, zero_point);
    return;
  }
  int64_t lowest = dtype_quantized_min(dtype), highest = dtype_quantized_max(dtype);
  int32_t zero = (int32_t)(zero_point < lowest ? lowest : zero_point > highest ? highest : zero_point);
  float least = (float)(lowest - zero), most = (float)(highest - zero);
  if (dtype == DTYPE_QINT8)
    quantize_int8(to, from, n, inverse, zero, least, most);
  else
    quantize_uint8(to, from, n, inverse, zero, least, most);
}

#define DEQUANTIZE_LINE(name, type)                                                                                  \
  static void dequantize_##name(float *restrict to, const type *restrict from, int64_t n, float scale, float zero) { \
    for (int64_t i = 0; i < n; i++) to[i] = ((float)from[i] - zero) * scale;                                         \
  }
DEQUANTIZE_LINE(int8, int8_t)
DEQUANTIZE_LINE(uint8, uint8_t)

/* The difference wraps at 32 bits. */
static void dequantize_int32(float *restrict to, const int32_t *restrict from, int64_t n, float scale, int64_t zero) {
  for (int64_t i = 0; i < n; i++) to[i] = (float)(int32_t)((uint32_t)from[i] - (uint32_t)zero) * scale;
}

void dequantize_line(DType dtype, float *to, const void *from, int64_t n, float scale, int64_t zero_point) {
  assert(dtype_is_quantized(dtype));
  switch (dtype) {
    case DTYPE_QINT8:
      dequantize_int8(to, from, n, scale, (float)zero_point);
      break;
    case DTYPE_QINT32:
      dequantize_int32(to, from, n, scale, zero_point);
      break;
    default:
      dequantize_uint8(to, from, n, scale, (float)zero_point);
      break;
  }
}

/* ---- tensors ---- */

typedef struct Affine {
  DType dtype;
  int64_t item;
  float scale;
  int64_t zero_point;
  float float_zero; /* of float qparams */
  bool has_float_zero;
} Affine;

enum { RUN = 256 };

static void gather(char *to, const char *from, int64_t stride, int64_t n, int64_t item) {
  for (int64_t i = 0; i < n; i++) memcpy(to + i * item, from + i * stride, (size_t)item);
}
static void scatter(char *to, const char *from, int64_t stride, int64_t n, int64_t item) {
  for (int64_t i = 0; i < n; i++) memcpy(to + i * stride, from + i * item, (size_t)item);
}

static void dequantize_some(const Affine *a, float *to, const void *from, int64_t n) {
  dequantize_line(a->dtype, to, from, n, a->scale, a->zero_point);
  if (a->has_float_zero) {
    dequantize_line(a->dtype, to, from, n, 1, 0);
    for (int64_t i = 0; i < n; i++) to[i] = (to[i] - a->float_zero) * a->scale;
  }
}
static void quantize_some(const Affine *a, void *to, const float *from, int64_t n) {
  if (!a->has_float_zero) {
    quantize_line(a->dtype, to, from, n, a->scale, a->zero_point);
    return;
  }
  float inverse = a->scale == 0 ? 1.0f : 1.0f / a->scale, shifted[RUN];
  for (int64_t i = 0; i < n; i++) shifted[i] = from[i] * inverse + a->float_zero;
  quantize_line(a->dtype, to, shifted, n, 1, 0);
}

/* data: float, integers. */
static void dequantize_run(void *argument, int64_t n, char *const *data, const int64_t *strides) {
  const Affine *a = argument;
  if (strides[0] == sizeof(float) && strides[1] == a->item && !a->has_float_zero) {
    dequantize_some(a, (float *)data[0], data[1], n);
    return;
  }
  int32_t integers[RUN];
  float numbers[RUN];
  for (int64_t i = 0; i < n; i += RUN) {
    int64_t count = n - i < RUN ? n - i : RUN;
    gather((char *)integers, data[1] + i * strides[1], strides[1], count, a->item);
    dequantize_some(a, numbers, integers, count);
    scatter(data[0] + i * strides[0], (const char *)numbers, strides[0], count, sizeof(float));
  }
}
/* data: integers, float. */
static void quantize_run(void *argument, int64_t n, char *const *data, const int64_t *strides) {
  const Affine *a = argument;
  if (strides[0] == a->item && strides[1] == sizeof(float) && !a->has_float_zero) {
    quantize_some(a, data[0], (const float *)data[1], n);
    return;
  }
  int32_t integers[RUN];
  float numbers[RUN];
  for (int64_t i = 0; i < n; i += RUN) {
    int64_t count = n - i < RUN ? n - i : RUN;
    gather((char *)numbers, data[1] + i * strides[1], strides[1], count, sizeof(float));
    quantize_some(a, integers, numbers, count);
    scatter(data[0] + i * strides[0], (const char *)integers, strides[0], count, a->item);
  }
}

static Affine affine_of_channel(const Quantizer *q, DType dtype, int64_t channel) {
  assert(quantizer_is_per_tensor(q) || (channel >= 0 && channel < q->scales->numel));
  Affine a = {.dtype = dtype, .item = (int64_t)dtype_size(dtype)};
  if (quantizer_is_per_tensor(q)) {
    a.scale = (float)q->scale;
    a.zero_point = q->zero_point;
  } else if (q->scheme == QSCHEME_PER_CHANNEL_AFFINE) {
    a.scale = (float)((const double *)tensor_data(q->scales))[channel];
    a.zero_point = ((const int64_t *)tensor_data(q->zero_points))[channel];
  } else {
    a.scale = ((const float *)tensor_data(q->scales))[channel];
    a.float_zero = ((const float *)tensor_data(q->zero_points))[channel];
    a.has_float_zero = true;
  }
  return a;
}

static Status run_pair(const Tensor *to, const Tensor *from, IterateBody *body, Affine *affine) {
  Iterator it;
  TRY(iterator_init(&it, 2, (const Tensor *const[]){to, from}));
  iterator_run(&it, 0, it.numel, body, affine);
  return OK;
}

/* Runs body over to and from, of the same sizes, channel by channel. */
static Status run_channels(const Tensor *to, const Tensor *from, const Quantizer *q, DType dtype, IterateBody *body) {
  if (to->numel == 0) return OK;
  if (quantizer_is_per_tensor(q)) {
    Affine affine = affine_of_channel(q, dtype, 0);
    return run_pair(to, from, body, &affine);
  }
  for (int64_t c = 0, done = 0; c < q->scales->numel && !work_is_over_after(&done, 1024); c++) {
    Affine affine = affine_of_channel(q, dtype, c);
    Tensor *part_to, *part_from;
    TRY(tensor_slice(to, q->axis, c, c + 1, 1, &part_to));
    Status status = tensor_slice(from, q->axis, c, c + 1, 1, &part_from);
    if (!status) {
      status = run_pair(part_to, part_from, body, &affine);
      tensor_release(part_from);
    }
    tensor_release(part_to);
    TRY(status);
  }
  return OK;
}

/* ---- less than a byte ---- */

static int64_t bytes_of_row(DType dtype, int64_t columns) {
  int each = dtype_elements_per_byte(dtype);
  return (columns + each - 1) / each;
}
static int64_t row_length(const Tensor *t) {
  return t->ndim ? t->sizes[t->ndim - 1] : 1;
}

/* One integer a byte, as quint8 of the same sizes without a quantizer. */
static Status unpack_bits(const Tensor *t, Tensor **out) {
  int each = dtype_elements_per_byte((DType)t->dtype), width = 8 / each;
  int64_t columns = row_length(t), bytes = bytes_of_row((DType)t->dtype, columns);
  if (!t->contiguous || t->offset)
    return status_new(ERROR_UNSUPPORTED, "views of %s tensors", dtype_name((DType)t->dtype));
  TRY(tensor_empty(DTYPE_UINT8, t->ndim, t->sizes, out));
  const uint8_t *from = tensor_data(t);
  uint8_t *to = tensor_data(*out);
  for (int64_t r = 0; columns && r < t->numel / columns; r++)
    for (int64_t i = 0; i < columns; i++)
      to[r * columns + i] = (uint8_t)(from[r * bytes + i / each] >> (i % each * width) & ((1 << width) - 1));
  return OK;
}
static void pack_bits(Tensor *to, const Tensor *bytes_tensor) {
  assert(to->contiguous && bytes_tensor->contiguous);
  int each = dtype_elements_per_byte((DType)to->dtype), width = 8 / each;
  int64_t columns = row_length(to), bytes = bytes_of_row((DType)to->dtype, columns);
  const uint8_t *from = tensor_data(bytes_tensor);
  uint8_t *out = tensor_data(to);
  memset(out, 0, (size_t)to->numel);
  for (int64_t r = 0; columns && r < to->numel / columns; r++)
    for (int64_t i = 0; i < columns; i++)
      out[r * bytes + i / each] |= (uint8_t)(from[r * columns + i] << (i % each * width));
}

/* ---- whole tensors ---- */

/* Row-major, or channels-last where t is. */
static Status format_strides(const Tensor *t, int64_t *out) {
  return strides_of_format(tensor_suggested_format(t), t->ndim, t->sizes, NULL, out);
}

static Status new_float_like(const Tensor *t, Tensor **out) {
  int64_t strides[TENSOR_MAX_DIMS];
  TRY(format_strides(t, strides));
  return tensor_empty_strided(DTYPE_FLOAT32, t->ndim, t->sizes, strides, out);
}

/* A view of t without its quantizer, as `dtype` of the same size. */
static Status integers_of(const Tensor *t, DType dtype, Tensor **out) {
  return tensor_from_storage(t->storage, dtype, t->ndim, t->sizes, t->strides, t->offset, out);
}
static DType integer_dtype(DType dtype) {
  return dtype == DTYPE_QINT8 ? DTYPE_INT8 : dtype == DTYPE_QINT32 ? DTYPE_INT32 : DTYPE_UINT8;
}

Status tensor_dequantize(const Tensor *t, Tensor **out) {
  *out = NULL;
  const Quantizer *q = tensor_quantizer(t);
  TRY(quantizer_check_fits(q, (DType)t->dtype, t->ndim, t->sizes));
  Tensor *integers, *numbers;
  TRY(dtype_elements_per_byte((DType)t->dtype) > 1 ? unpack_bits(t, &integers)
                                                   : integers_of(t, integer_dtype((DType)t->dtype), &integers));
  Status status = new_float_like(t, &numbers);
  if (!status) {
    status = run_channels(numbers, integers, q, (DType)t->dtype, dequantize_run);
    if (status)
      tensor_release(numbers);
    else
      *out = numbers;
  }
  tensor_release(integers);
  return status;
}

Status tensor_int_repr(const Tensor *t, Tensor **out) {
  *out = NULL;
  Tensor *integers;
  int each = dtype_elements_per_byte((DType)t->dtype);
  if (each > 1) { /* as PyTorch: the bytes, one-dimensional */
    int64_t count = (t->numel + each - 1) / each;
    TRY(tensor_empty(DTYPE_UINT8, 1, &count, out));
    memcpy(tensor_data(*out), tensor_data(t), (size_t)count);
    return OK;
  }
  TRY(integers_of(t, integer_dtype((DType)t->dtype), &integers));
  int64_t strides[TENSOR_MAX_DIMS];
  Status status = format_strides(t, strides);
  if (!status) status = tensor_empty_strided((DType)integers->dtype, t->ndim, t->sizes, strides, out);
  if (!status) status = tensor_copy(*out, integers, 1);
  tensor_release(integers);
  return status;
}

Status tensor_quantize_into(Tensor *to, const Tensor *from) {
  const Quantizer *q = tensor_quantizer(to);
  Tensor *numbers, *integers;
  TRY(quantizer_check_fits(q, (DType)to->dtype, to->ndim, to->sizes));
  if (!tensor_same_sizes(to, from))
    return status_new(ERROR_RUNTIME, "quantized: sizes %s and %s differ", SIZES_TEXT(to->ndim, to->sizes),
                      SIZES_TEXT(from->ndim, from->sizes));
  TRY(tensor_to_dtype(from, DTYPE_FLOAT32, &numbers));
  bool packed = dtype_elements_per_byte((DType)to->dtype) > 1;
  Status status = packed ? tensor_empty(DTYPE_UINT8, to->ndim, to->sizes, &integers)
                         : integers_of(to, integer_dtype((DType)to->dtype), &integers);
  if (!status) {
    status = run_channels(integers, numbers, q, (DType)to->dtype, quantize_run);
    if (!status && packed) pack_bits(to, integers);
    tensor_release(integers);
  }
  tensor_release(numbers);
  return status;
}

Status tensor_quantize(const Tensor *from, DType dtype, const Quantizer *q, Tensor **out) {
  int64_t strides[TENSOR_MAX_DIMS];
  TRY(format_strides(from, strides));
  TRY(tensor_new_quantized(dtype, from->ndim, from->sizes, strides, q, out));
  Status status = tensor_quantize_into(*out, from);
  if (!status) return OK;
  tensor_release(*out);
  *out = NULL;
  return status;
}
