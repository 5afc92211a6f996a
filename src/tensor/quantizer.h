/* Quantizer: how the integers of a quantized tensor stand for numbers, (q - zero_point) * scale: one scale for the
 * whole tensor, or one for each index of an axis. A TensorExtension, immutable, shared by views. */
#pragma once

#include <assert.h>

#include "tensor/tensor.h"

/* Numbered as c10::QScheme. */
typedef enum QScheme {
  QSCHEME_PER_TENSOR_AFFINE = 0,
  QSCHEME_PER_CHANNEL_AFFINE = 1,
  QSCHEME_PER_TENSOR_SYMMETRIC = 2,
  QSCHEME_PER_CHANNEL_SYMMETRIC = 3,
  QSCHEME_PER_CHANNEL_AFFINE_FLOAT_QPARAMS = 4
} QScheme;

typedef struct Quantizer {
  TensorExtension base;
  uint8_t scheme;      /* PER_TENSOR_AFFINE, PER_CHANNEL_AFFINE or PER_CHANNEL_AFFINE_FLOAT_QPARAMS */
  double scale;        /* per tensor */
  int64_t zero_point;  /* per tensor */
  int64_t axis;        /* per channel: below the tensor's ndim */
  Tensor *scales;      /* per channel, row-major: float64, of float qparams float32 */
  Tensor *zero_points; /* per channel, row-major: int64, of float qparams float32 */
} Quantizer;

static inline bool tensor_is_quantized(const Tensor *t) {
  return t->flags & TENSOR_QUANTIZED;
}
/* Of a quantized tensor. */
static inline const Quantizer *tensor_quantizer(const Tensor *t) {
  assert(t->extension && t->extension->kind == EXTENSION_QUANTIZER);
  return (const Quantizer *)t->extension;
}
static inline bool quantizer_is_per_tensor(const Quantizer *q) {
  return q->scheme == QSCHEME_PER_TENSOR_AFFINE;
}
/* "per_tensor_affine" */
const char *qscheme_name(int64_t scheme);

/* The least and greatest integer of a quantized dtype. */
int64_t dtype_quantized_min(DType dtype);
int64_t dtype_quantized_max(DType dtype);
/* Elements that share a byte: 2 of quint4x2, 4 of quint2x4, else 1. Rows (the last dimension) start at whole bytes, the
 * first element in the lowest bits; such tensors are row-major, and their storage has room for a byte for each. */
int dtype_elements_per_byte(DType dtype);

/* PyTorch's errors for a zero point that the dtype can't hold and a scale that is no positive number. */
Status quantizer_check_scale(DType dtype, double scale, int64_t zero_point) MUST_CHECK;
Status quantizer_new_per_tensor(double scale, int64_t zero_point, Quantizer **out) MUST_CHECK;
/* One-dimensional scales and zero points of equal length, converted; floating zero points make float qparams. */
Status quantizer_new_per_channel(const Tensor *scales, const Tensor *zero_points, int64_t axis,
                                 Quantizer **out) MUST_CHECK;
Quantizer *quantizer_retain(const Quantizer *q);
void quantizer_release(Quantizer *q); /* NULL is allowed */
/* A per-channel quantizer has as many channels as the tensor's axis, each with a scale; an error if not. */
Status quantizer_check_fits(const Quantizer *q, DType dtype, int ndim, const int64_t *sizes) MUST_CHECK;
bool quantizer_equal(const Quantizer *a, const Quantizer *b);

/* `t`, of a quantized dtype, is quantized by q from now on; takes over a reference. */
void tensor_set_quantizer(Tensor *t, Quantizer *q);
/* Uninitialized; strides NULL: row-major. Retains q, which must fit. */
Status tensor_new_quantized(DType dtype, int ndim, const int64_t *sizes, const int64_t *strides, const Quantizer *q,
                            Tensor **out) MUST_CHECK;
/* For views of per-channel tensors: what becomes of the quantizer. `view` has the quantizer of what it shows. */
Status tensor_quantizer_select(Tensor *view, int64_t dim, int64_t index) MUST_CHECK;
Status tensor_quantizer_slice(Tensor *view, int64_t dim, int64_t start, int64_t step) MUST_CHECK;
/* Dimension d of the view is order[d] of what it shows, or none (-1). */
Status tensor_quantizer_reorder(Tensor *view, const int64_t *order) MUST_CHECK;

/* The float32 numbers of t: row-major, or channels-last where t is, as everything that is made here. */
Status tensor_dequantize(const Tensor *t, Tensor **out) MUST_CHECK;
/* The integers of t as uint8, int8 or int32: a copy. */
Status tensor_int_repr(const Tensor *t, Tensor **out) MUST_CHECK;
/* Float numbers as integers of `to` by its quantizer; same sizes. */
Status tensor_quantize_into(Tensor *to, const Tensor *from) MUST_CHECK;
/* A new quantized tensor. Retains q. */
Status tensor_quantize(const Tensor *from, DType dtype, const Quantizer *q, Tensor **out) MUST_CHECK;

/* One line of n elements, strides 1: the arithmetic of PyTorch, q = rint(x * (1 / scale)) + zero_point, saturated. */
void quantize_line(DType dtype, void *to, const float *from, int64_t n, float scale, int64_t zero_point);
void dequantize_line(DType dtype, float *to, const void *from, int64_t n, float scale, int64_t zero_point);
