/* Bilinear interpolation of quantized images: weights of the four neighbors in float32, the zero point taken off before
 * rounding. */
#include <math.h>

#include "base/parallel.h"
#include "call/kind_form.h"
#include "op/quantized/quantized.h"
#include "tensor/quantizer.h"

typedef struct Tap {
  int64_t first, second;
  float near, far; /* their weights */
} Tap;

typedef struct Resize {
  const Tensor *in, *out;
  const Tap *rows, *columns;
  DType dtype;
  int64_t channels, zero, least, most;
  bool channels_last;
} Resize;

/* fused: places between pixels are found without rounding in between, as the code for channels-last memory does. */
static void make_taps(Tap *taps, int64_t in, int64_t out, bool align, double factor, bool fused) {
  float step = align        ? (out > 1 ? (float)(in - 1) / (float)(out - 1) : 0)
               : factor > 0 ? (float)(1.0 / factor)
                            : (float)in / (float)out;
  for (int64_t i = 0; i < out; i++) {
    float middle = (float)i + 0.5f;
    float at = align ? step * (float)i : fused ? fmaf(step, middle, -0.5f) : step * middle - 0.5f;
    if (at < 0) at = 0;
    int64_t first = (int64_t)at;
    if (first > in - 1) first = in - 1;
    float far = at - (float)first;
    taps[i] = (Tap){first, first < in - 1 ? first + 1 : first, 1.0f - far, far};
  }
}

static float load(const Resize *r, const char *data, int64_t at) {
  return r->dtype == DTYPE_QUINT8  ? (float)((const uint8_t *)data)[at]
         : r->dtype == DTYPE_QINT8 ? (float)((const int8_t *)data)[at]
                                   : (float)((const int32_t *)(const void *)data)[at];
}

/* Which products are fused with the sum after them: none over row-major memory; over channels-last memory vectors of
 * eight channels, which bytes have, fuse those of the second neighbors, what is left of the channels those of the
 * first. */
typedef enum Fusing { FUSE_NONE, FUSE_FIRST, FUSE_SECOND } Fusing;

static inline float blend(Fusing fusing, float a, float x, float b, float y) {
  return fusing == FUSE_FIRST ? fmaf(a, x, b * y) : fusing == FUSE_SECOND ? fmaf(b, y, a * x) : a * x + b * y;
}

static Fusing fusing_of(const Resize *r, int64_t channel) {
  if (!r->channels_last) return FUSE_NONE;
  return r->dtype != DTYPE_QINT32 && channel < r->channels / 8 * 8 ? FUSE_SECOND : FUSE_FIRST;
}

static void resize_planes(void *argument, int64_t begin, int64_t end) {
  const Resize *r = argument;
  const int64_t *in = r->in->strides, *out = r->out->strides;
  const char *from = tensor_data(r->in);
  for (int64_t plane = begin; plane < end; plane++) {
    int64_t base = plane / r->channels * in[0] + plane % r->channels * in[1];
    int64_t to = plane / r->channels * out[0] + plane % r->channels * out[1];
    Fusing fusing = fusing_of(r, plane % r->channels);
    for (int64_t y = 0; y < r->out->sizes[2]; y++)
      for (int64_t x = 0; x < r->out->sizes[3]; x++) {
        const Tap *h = &r->rows[y], *w = &r->columns[x];
        int64_t top = base + h->first * in[2], bottom = base + h->second * in[2];
        float upper = blend(fusing, w->near, load(r, from, top + w->first * in[3]), w->far,
                            load(r, from, top + w->second * in[3]));
        float lower = blend(fusing, w->near, load(r, from, bottom + w->first * in[3]), w->far,
                            load(r, from, bottom + w->second * in[3]));
        float value = blend(fusing, h->near, upper, h->far, lower);
        float q = rintf(value - (float)r->zero) + (float)r->zero;
        int64_t limited = q >= (float)r->most ? r->most : q > (float)r->least ? (int64_t)q : r->least;
        int64_t at = to + y * out[2] + x * out[3];
        if (r->dtype == DTYPE_QINT32)
          ((int32_t *)tensor_data(r->out))[at] = (int32_t)limited;
        else
          ((uint8_t *)tensor_data(r->out))[at] = (uint8_t)limited;
      }
  }
}

static Status bilinear(Call *c, int64_t height, int64_t width, bool align, double factor_h, double factor_w) {
  const Tensor *self = call_tensor(c, 0);
  TRY(expect_per_tensor(c, self));
  if (self->ndim != 4 || self->sizes[2] < 1 || self->sizes[3] < 1 || height < 1 || width < 1)
    return status_new(ERROR_RUNTIME,
                      "Input and output sizes should be greater than 0, but got input %s and output (H: "
                      "%lld, W: %lld)",
                      SIZES_TEXT(self->ndim, self->sizes), (long long)height, (long long)width);
  int64_t sizes[4] = {self->sizes[0], self->sizes[1], height, width}, strides[4];
  Tensor *out;
  Status status = strides_of_format(tensor_suggested_format(self), 4, sizes, NULL, strides);
  if (!status) status = tensor_new_quantized((DType)self->dtype, 4, sizes, strides, tensor_quantizer(self), &out);
  TRY(status);
  Tap *taps = mem_alloc((size_t)(height + width) * sizeof *taps);
  if (!taps) {
    tensor_release(out);
    return status_out_of_memory();
  }
  bool channels_last = tensor_has_format(self, FORMAT_CHANNELS_LAST);
  make_taps(taps, self->sizes[2], height, align, factor_h, channels_last);
  make_taps(taps + height, self->sizes[3], width, align, factor_w, channels_last);
  Resize r = {self,
              out,
              taps,
              taps + height,
              (DType)self->dtype,
              self->sizes[1],
              tensor_quantizer(self)->zero_point,
              dtype_quantized_min((DType)self->dtype),
              dtype_quantized_max((DType)self->dtype),
              channels_last};
  if (out->numel)
    parallel_for(c->exec->work.threads, sizes[0] * sizes[1], 1 + 8192 / (height * width), resize_planes, &r);
  mem_free(taps);
  call_set_tensor(c, 0, out);
  return OK;
}

static Status form_bilinear(Call *c) { /* (self, output_size, align_corners, scales_h, scales_w) */
  size_t count;
  const int64_t *sizes = call_ints(c, 1, &count);
  if (count != 2) return status_new(ERROR_RUNTIME, "It is expected output_size equals to 2, but got size %zu", count);
  return bilinear(c, sizes[0], sizes[1], call_bool(c, 2), call_double_or(c, 3, 0), call_double_or(c, 4, 0));
}

static Status form_bilinear_vec(Call *c) { /* (input, output_size, align_corners, scale_factors) */
  const Tensor *self = call_tensor(c, 0);
  size_t count = 0;
  if (!call_is_none(c, 1)) {
    const int64_t *sizes = call_ints(c, 1, &count);
    if (count == 2) return bilinear(c, sizes[0], sizes[1], call_bool(c, 2), 0, 0);
  } else if (!call_is_none(c, 3) && self->ndim == 4) {
    const double *factors = call_doubles(c, 3, &count);
    double height = count == 2 ? floor((double)self->sizes[2] * factors[0]) : 0,
           width = count == 2 ? floor((double)self->sizes[3] * factors[1]) : 0;
    if (count == 2 && height < INT32_MAX && width < INT32_MAX)
      return bilinear(c, (int64_t)height, (int64_t)width, call_bool(c, 2), factors[0], factors[1]);
  }
  return status_new(ERROR_RUNTIME, "Must specify exactly one of output_size and scale_factors, of two dimensions");
}

static const KindForm forms[] = {
    {"aten::upsample_bilinear2d", form_bilinear},
    {"aten::upsample_bilinear2d.vec", form_bilinear_vec},
};
KIND_FORMS(quantized_forms_upsample, forms);
