/* deform_conv2d: convolution whose every weight looks where an offset tells it to, between pixels, times a mask
 * (Deformable ConvNets v2, arXiv 1811.11168). Computes in float64: the samples of one output pixel make a column, which
 * the weights are multiplied with. */
#include "torchvision/operators.h"

enum { INPUT, WEIGHT, OFFSET, MASK, BIAS, TENSORS };

typedef struct Deform {
  wick_call *call;
  Dense tensors[TENSORS];
  uint32_t dtype; /* of the input and the result */
  int64_t images, channels, height, width, out_channels, kernel_height, kernel_width, taps;
  int64_t stride[2], padding[2], dilation[2], groups, offset_groups, rows, columns;
  bool has_mask;
  double *out;                                                            /* forward */
  const double *grad;                                                     /* backward: of the result */
  double *grad_input, *grad_weight, *grad_offset, *grad_mask, *grad_bias; /* and of the arguments */
} Deform;

static void dispose(Deform *d) {
  for (int i = 0; i < TENSORS; i++) dense_dispose(&d->tensors[i]);
}

/* ---- what a call says ---- */

/* Of one axis: how many places the kernel has, below 1 for none. */
static bool places(int64_t size, int64_t padding, int64_t dilation, int64_t kernel, int64_t stride, int64_t *out) {
  int64_t reach, around;
  if (__builtin_mul_overflow(dilation, kernel - 1, &reach) || __builtin_mul_overflow(padding, 2, &around) ||
      __builtin_add_overflow(around, size, &around) || __builtin_sub_overflow(around, reach + 1, &around))
    return false;
  *out = around < 0 ? 0 : around / stride + 1;
  return true;
}

static wick_status read_sizes(Deform *d, size_t first, wick_error **error) {
  const Dense *input = &d->tensors[INPUT], *weight = &d->tensors[WEIGHT];
  for (int i = INPUT; i <= OFFSET; i++)
    if (d->tensors[i].ndim != 4)
      return fail(error, WICK_INVALID_ARGUMENT, "deform_conv2d: input, weight and offset must have 4 dimensions");
  int64_t numbers[8];
  for (size_t i = 0; i < COUNT(numbers); i++) numbers[i] = argument_int(d->call, first + i);
  memcpy(d->stride, numbers, sizeof d->stride);
  memcpy(d->padding, numbers + 2, sizeof d->padding);
  memcpy(d->dilation, numbers + 4, sizeof d->dilation);
  d->groups = numbers[6];
  d->offset_groups = numbers[7];
  d->has_mask = argument_int(d->call, first + 8) != 0;
  d->images = input->sizes[0];
  d->channels = input->sizes[1];
  d->height = input->sizes[2];
  d->width = input->sizes[3];
  d->out_channels = weight->sizes[0];
  d->kernel_height = weight->sizes[2];
  d->kernel_width = weight->sizes[3];
  if (__builtin_mul_overflow(d->kernel_height, d->kernel_width, &d->taps)) d->taps = 0;
  if (d->stride[0] < 1 || d->stride[1] < 1 || d->dilation[0] < 1 || d->dilation[1] < 1 || d->padding[0] < 0 ||
      d->padding[1] < 0 || d->taps < 1 || d->height < 1 || d->width < 1)
    return fail(error, WICK_INVALID_ARGUMENT,
                "deform_conv2d: kernel, image, stride and dilation must be at least 1, padding at least 0");
  if (d->groups < 1 || d->offset_groups < 1 || d->out_channels % d->groups || d->channels % d->groups ||
      weight->sizes[1] != d->channels / d->groups || d->channels % d->offset_groups)
    return fail(error, WICK_INVALID_ARGUMENT, "deform_conv2d: the channels of input and weight don't fit the groups");
  if (!places(d->height, d->padding[0], d->dilation[0], d->kernel_height, d->stride[0], &d->rows) ||
      !places(d->width, d->padding[1], d->dilation[1], d->kernel_width, d->stride[1], &d->columns) || d->rows < 1 ||
      d->columns < 1)
    return fail(error, WICK_INVALID_ARGUMENT, "deform_conv2d: the output has no pixels");
  return WICK_OK;
}

static bool has_sizes(const Dense *tensor, int64_t images, int64_t channels, int64_t rows, int64_t columns) {
  const int64_t sizes[] = {images, channels, rows, columns};
  return tensor->ndim == 4 && !memcmp(tensor->sizes, sizes, sizeof sizes);
}

/* Tensors from argument `from` on, numbers from argument `from` + 5. */
static wick_status deform_init(Deform *d, wick_call *call, size_t from, wick_error **error) {
  wick_tensor_view view = {.size = sizeof view};
  d->call = call;
  TRY(wick_call_tensor(call, from, &view, error));
  d->dtype = view.dtype;
  if (!dtype_is_floating(d->dtype))
    return fail(error, WICK_INVALID_ARGUMENT, "not implemented for tensors of %s", wick_dtype_name(d->dtype));
  for (size_t i = 0; i < TENSORS; i++) {
    TRY(wick_call_tensor(call, from + i, &view, error));
    if (view.dtype != d->dtype)
      return fail(error, WICK_INVALID_ARGUMENT, "deform_conv2d: expected tensors of %s, got %s",
                  wick_dtype_name(d->dtype), wick_dtype_name(view.dtype));
    TRY(dense_argument(call, from + i, WICK_FLOAT64, &d->tensors[i], error));
  }
  TRY(read_sizes(d, from + TENSORS, error));
  const Dense *mask = &d->tensors[MASK], *bias = &d->tensors[BIAS];
  int64_t per_offset, both;
  if (__builtin_mul_overflow(d->offset_groups, d->taps, &per_offset) || __builtin_mul_overflow(per_offset, 2, &both))
    return fail(error, WICK_INVALID_ARGUMENT, "deform_conv2d: the kernel is too large");
  if (!has_sizes(&d->tensors[OFFSET], d->images, both, d->rows, d->columns))
    return fail(error, WICK_INVALID_ARGUMENT, "deform_conv2d: offset must have shape as Tensor[%lld, %lld, %lld, %lld]",
                (long long)d->images, (long long)both, (long long)d->rows, (long long)d->columns);
  if (d->has_mask && !has_sizes(mask, d->images, per_offset, d->rows, d->columns))
    return fail(error, WICK_INVALID_ARGUMENT, "deform_conv2d: mask must have shape as Tensor[%lld, %lld, %lld, %lld]",
                (long long)d->images, (long long)per_offset, (long long)d->rows, (long long)d->columns);
  if (bias->ndim != 1 || bias->sizes[0] != d->out_channels)
    return fail(error, WICK_INVALID_ARGUMENT, "deform_conv2d: bias must have shape as Tensor[%lld]",
                (long long)d->out_channels);
  return WICK_OK;
}

/* ---- samples ---- */

/* Where a tap of an output pixel looks: the four pixels around, -1 outside, with weights and what those change by when
 * the place moves down and across. */
typedef struct Place {
  int64_t at[4];
  double weight[4], down[4], across[4];
} Place;

static Place place_of(const Deform *d, int64_t image, int64_t group, int64_t tap, int64_t row, int64_t column) {
  int64_t pixels = d->rows * d->columns, pixel = row * d->columns + column;
  const double *offset = (const double *)d->tensors[OFFSET].data +
                         ((image * d->offset_groups + group) * 2 * d->taps + 2 * tap) * pixels + pixel;
  double y = (double)(row * d->stride[0] - d->padding[0] + tap / d->kernel_width * d->dilation[0]) + offset[0];
  double x = (double)(column * d->stride[1] - d->padding[1] + tap % d->kernel_width * d->dilation[1]) + offset[pixels];
  Place p = {.at = {-1, -1, -1, -1}};
  if (!(y > -1 && y < (double)d->height && x > -1 && x < (double)d->width)) return p;
  int64_t top = (int64_t)floor(y), left = (int64_t)floor(x);
  double below = y - (double)top, right = x - (double)left;
  for (int corner = 0; corner < 4; corner++) {
    bool low = corner & 2, far = corner & 1;
    int64_t i = top + low, j = left + far;
    if (i < 0 || j < 0 || i >= d->height || j >= d->width) continue;
    p.at[corner] = i * d->width + j;
    p.weight[corner] = (low ? below : 1 - below) * (far ? right : 1 - right);
    p.down[corner] = (low ? 1 : -1) * (far ? right : 1 - right);
    p.across[corner] = (far ? 1 : -1) * (low ? below : 1 - below);
  }
  return p;
}

static double mask_index(const Deform *d, int64_t image, int64_t group, int64_t tap, int64_t pixel, int64_t *at) {
  *at = ((image * d->offset_groups + group) * d->taps + tap) * d->rows * d->columns + pixel;
  return d->has_mask ? ((const double *)d->tensors[MASK].data)[*at] : 1;
}

static double combine(const double *plane, const Place *place, const double *weights) {
  double sum = 0;
  for (int corner = 0; corner < 4; corner++)
    if (place->at[corner] >= 0) sum += weights[corner] * plane[place->at[corner]];
  return sum;
}

/* ---- forward ---- */

/* The column of an output pixel: [channels, taps]. */
static void gather(const Deform *d, int64_t image, int64_t row, int64_t column, double *samples) {
  int64_t each = d->channels / d->offset_groups, plane = d->height * d->width, at;
  const double *input = (const double *)d->tensors[INPUT].data + image * d->channels * plane;
  for (int64_t group = 0; group < d->offset_groups; group++)
    for (int64_t tap = 0; tap < d->taps; tap++) {
      Place place = place_of(d, image, group, tap, row, column);
      double mask = mask_index(d, image, group, tap, row * d->columns + column, &at);
      for (int64_t c = group * each; c < (group + 1) * each; c++)
        samples[c * d->taps + tap] = mask * combine(input + c * plane, &place, place.weight);
    }
}

static wick_status forward(const Deform *d, double *samples, wick_error **error) {
  int64_t pixels = d->rows * d->columns, in = d->channels / d->groups * d->taps, out = d->out_channels / d->groups;
  const double *bias = d->tensors[BIAS].data, *weight = d->tensors[WEIGHT].data;
  for (int64_t i = 0; i < d->images * pixels; i++) {
    int64_t image = i / pixels, pixel = i % pixels;
    TRY(wick_call_poll(d->call, error));
    gather(d, image, pixel / d->columns, pixel % d->columns, samples);
    for (int64_t o = 0; o < d->out_channels; o++) {
      const double *w = weight + o * in, *s = samples + o / out * in;
      double sum = bias[o];
      for (int64_t k = 0; k < in; k++) sum += w[k] * s[k];
      d->out[(image * d->out_channels + o) * pixels + pixel] = sum;
    }
  }
  return WICK_OK;
}

/* (input, weight, offset, mask, bias, stride_h, stride_w, pad_h, pad_w, dilation_h, dilation_w, groups, offset_groups,
 * use_mask) */
wick_status kernel_deform_conv2d(void *user, wick_call *call, wick_error **error) {
  (void)user;
  Deform d = {0};
  Dense result = {0}, samples = {0};
  wick_status status;
  TRY_GOTO(deform_init(&d, call, 0, error), done);
  const int64_t sizes[] = {d.images, d.out_channels, d.rows, d.columns}, column[] = {d.channels, d.taps};
  TRY_GOTO(dense_new(WICK_FLOAT64, 4, sizes, false, &result, error), done);
  TRY_GOTO(dense_new(WICK_FLOAT64, 2, column, false, &samples, error), done);
  d.out = result.data;
  if (result.numel) TRY_GOTO(forward(&d, samples.data, error), done);
  TRY_GOTO(dense_give(call, 0, &result, d.dtype, error), done);
done:
  dispose(&d);
  dense_dispose(&result);
  dense_dispose(&samples);
  return status;
}

/* ---- backward ---- */

/* `wanted` are the gradients of an output pixel's column. */
static void spread(const Deform *d, int64_t image, int64_t row, int64_t column, const double *wanted) {
  int64_t each = d->channels / d->offset_groups, plane = d->height * d->width, pixels = d->rows * d->columns, at;
  const double *input = (const double *)d->tensors[INPUT].data + image * d->channels * plane;
  double *to = d->grad_input + image * d->channels * plane;
  for (int64_t group = 0; group < d->offset_groups; group++)
    for (int64_t tap = 0; tap < d->taps; tap++) {
      Place place = place_of(d, image, group, tap, row, column);
      double mask = mask_index(d, image, group, tap, row * d->columns + column, &at), value = 0, down = 0, across = 0;
      for (int64_t c = group * each; c < (group + 1) * each; c++) {
        double grad = wanted[c * d->taps + tap];
        value += grad * combine(input + c * plane, &place, place.weight);
        down += grad * mask * combine(input + c * plane, &place, place.down);
        across += grad * mask * combine(input + c * plane, &place, place.across);
        for (int corner = 0; corner < 4; corner++)
          if (place.at[corner] >= 0) to[c * plane + place.at[corner]] += grad * mask * place.weight[corner];
      }
      double *offset = d->grad_offset + ((image * d->offset_groups + group) * 2 * d->taps + 2 * tap) * pixels +
                       row * d->columns + column;
      offset[0] = down;
      offset[pixels] = across;
      if (d->has_mask) d->grad_mask[at] = value;
    }
}

static wick_status backward(const Deform *d, double *samples, double *wanted, wick_error **error) {
  int64_t pixels = d->rows * d->columns, in = d->channels / d->groups * d->taps, out = d->out_channels / d->groups;
  const double *weight = d->tensors[WEIGHT].data;
  for (int64_t i = 0; i < d->images * pixels; i++) {
    int64_t image = i / pixels, pixel = i % pixels;
    TRY(wick_call_poll(d->call, error));
    gather(d, image, pixel / d->columns, pixel % d->columns, samples);
    memset(wanted, 0, (size_t)(d->channels * d->taps) * sizeof *wanted);
    for (int64_t o = 0; o < d->out_channels; o++) {
      double grad = d->grad[(image * d->out_channels + o) * pixels + pixel];
      d->grad_bias[o] += grad;
      for (int64_t k = 0; k < in; k++) {
        wanted[o / out * in + k] += grad * weight[o * in + k];
        d->grad_weight[o * in + k] += grad * samples[o / out * in + k];
      }
    }
    spread(d, image, pixel / d->columns, pixel % d->columns, wanted);
  }
  return WICK_OK;
}

/* (grad, and what the operator takes) -> gradients of input, weight, offset, mask, bias */
wick_status kernel_deform_conv2d_backward(void *user, wick_call *call, wick_error **error) {
  (void)user;
  Deform d = {0};
  Dense grad = {0}, samples = {0}, wanted = {0}, results[TENSORS] = {{0}};
  wick_status status;
  TRY_GOTO(deform_init(&d, call, 1, error), done);
  TRY_GOTO(dense_argument(call, 0, WICK_FLOAT64, &grad, error), done);
  if (!has_sizes(&grad, d.images, d.out_channels, d.rows, d.columns)) {
    status = fail(error, WICK_INVALID_ARGUMENT, "deform_conv2d: the gradient must have the sizes of the result");
    goto done;
  }
  const int64_t column[] = {d.channels, d.taps};
  TRY_GOTO(dense_new(WICK_FLOAT64, 2, column, false, &samples, error), done);
  TRY_GOTO(dense_new(WICK_FLOAT64, 2, column, false, &wanted, error), done);
  for (int i = 0; i < TENSORS; i++)
    TRY_GOTO(dense_new(WICK_FLOAT64, d.tensors[i].ndim, d.tensors[i].sizes, true, &results[i], error), done);
  d.grad = grad.data;
  d.grad_input = results[INPUT].data;
  d.grad_weight = results[WEIGHT].data;
  d.grad_offset = results[OFFSET].data;
  d.grad_mask = results[MASK].data;
  d.grad_bias = results[BIAS].data;
  TRY_GOTO(backward(&d, samples.data, wanted.data, error), done);
  for (int i = 0; i < TENSORS; i++) TRY_GOTO(dense_give(call, (size_t)i, &results[i], d.dtype, error), done);
done:
  dispose(&d);
  dense_dispose(&grad);
  dense_dispose(&samples);
  dense_dispose(&wanted);
  for (int i = 0; i < TENSORS; i++) dense_dispose(&results[i]);
  return status;
}
