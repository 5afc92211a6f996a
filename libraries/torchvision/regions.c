/* Regions of feature maps, brought to one size: roi_align and roi_pool, and ps_roi_align and ps_roi_pool, whose cells
 * each have a channel of the input to themselves (R-FCN, arXiv 1605.06409). Of images [n, channels, height, width] and
 * regions [k, 5] of (image, x1, y1, x2, y2) come cells [k, out channels, rows, columns]. Computes in float64 of float64
 * and in float32 of all else; halves are converted. */
#include "torchvision/operators.h"

enum { MAX_SAMPLING = 4096 };

typedef struct RegionCall {
  RegionKind kind;
  wick_call *call;
  const void *rois, *from; /* images */
  void *cells;             /* results, or their gradients */
  void *to;                /* gradients of images; NULL: forward */
  int32_t *positions;      /* of every cell: the pixel that was taken, or the channel */
  int64_t images, channels, height, width, regions, out_channels, rows, columns, sampling;
  double scale;
  bool aligned;
  bool wide; /* float64 */
} RegionCall;

static int64_t region_cell(const RegionCall *r, int64_t region, int64_t channel, int64_t row, int64_t column) {
  return ((region * r->out_channels + channel) * r->rows + row) * r->columns + column;
}

/* Where the plane begins that a cell looks at. */
static int64_t region_plane(const RegionCall *r, int64_t image, int64_t channel, int64_t cell) {
  if (kind_is_position_sensitive(r->kind)) channel = r->positions[cell];
  return (image * r->channels + channel) * r->height * r->width;
}

#define REAL float
#define NAME(x) x##_float
#include "torchvision/regions_body.h"
#undef REAL
#undef NAME
#define REAL double
#define NAME(x) x##_double
#include "torchvision/regions_body.h"

static void visit(const RegionCall *r, int64_t region, int64_t channel) {
  if (r->wide)
    visit_region_double(r, region, channel);
  else
    visit_region_float(r, region, channel);
}

static void visit_some(void *argument, int64_t begin, int64_t end) {
  const RegionCall *r = argument;
  for (int64_t i = begin; i < end; i++) {
    visit(r, i / r->out_channels, i % r->out_channels);
  }
}

/* ---- what a call says ---- */

static wick_status check(RegionCall *r, const Dense *rois, const Dense *other, wick_error **error) {
  if (rois->ndim != 2 || rois->sizes[1] != 5)
    return fail(error, WICK_INVALID_ARGUMENT, "rois must have shape as Tensor[K, 5]");
  if (other->dtype != rois->dtype) return fail(error, WICK_INVALID_ARGUMENT, "input should have the same type as rois");
  if (r->rows < 1 || r->columns < 1)
    return fail(error, WICK_INVALID_ARGUMENT, "pooled_height and pooled_width must be positive");
  if (r->sampling > MAX_SAMPLING)
    return fail(error, WICK_UNSUPPORTED, "more than %d samples along a cell", MAX_SAMPLING);
  if (r->images < 0 || r->channels < 0 || r->height < 0 || r->width < 0)
    return fail(error, WICK_INVALID_ARGUMENT, "the sizes of the images must not be negative");
  if (rois->sizes[0] && (r->height == 0 || r->width == 0))
    return fail(error, WICK_INVALID_ARGUMENT, "the input has no pixels");
  if (r->height > INT32_MAX || r->width > INT32_MAX || r->height * r->width > INT32_MAX || r->channels > INT32_MAX)
    return fail(error, WICK_UNSUPPORTED, "images of more than %d pixels", INT32_MAX);
  int64_t cells;
  r->out_channels = r->channels;
  r->regions = rois->sizes[0];
  if (!kind_is_position_sensitive(r->kind)) return WICK_OK;
  if (__builtin_mul_overflow(r->rows, r->columns, &cells) || r->channels % cells)
    return fail(error, WICK_INVALID_ARGUMENT, "input channels must be a multiple of pooling height * pooling width");
  r->out_channels = r->channels / cells;
  return WICK_OK;
}

/* The regions, in what is computed in. */
static wick_status take_rois(RegionCall *r, size_t index, uint32_t dtype, Dense *out, wick_error **error) {
  r->wide = dtype == WICK_FLOAT64;
  TRY(dense_argument(r->call, index, r->wide ? WICK_FLOAT64 : WICK_FLOAT32, out, error));
  r->rois = out->data;
  if (r->wide ? regions_fit_double(r) : regions_fit_float(r)) return WICK_OK;
  return fail(error, WICK_INVALID_ARGUMENT, "a region is of no image");
}

static wick_status require_floating(const Dense *tensor, wick_error **error) {
  if (dtype_is_floating(tensor->dtype)) return WICK_OK;
  return fail(error, WICK_INVALID_ARGUMENT, "not implemented for tensors of %s", wick_dtype_name(tensor->dtype));
}

static RegionCall region_call(const void *user, wick_call *call) {
  RegionCall r = {
      .kind = *(const RegionKind *)user, .call = call, .aligned = *(const RegionKind *)user == PS_ROI_ALIGN};
  r.scale = argument_double(call, 2);
  return r;
}

/* Channels of position-sensitive cells. */
static void number_channels(const RegionCall *r) {
  for (int64_t cell = 0; cell < r->regions * r->out_channels * r->rows * r->columns; cell++)
    r->positions[cell] = (int32_t)(cell % r->channels);
}

/* ---- (input, rois, spatial_scale, pooled_height, pooled_width, sampling_ratio?, aligned?) ---- */

wick_status kernel_regions(void *user, wick_call *call, wick_error **error) {
  RegionCall r = region_call(user, call);
  Dense input = {0}, rois = {0}, wide_input = {0}, wide_rois = {0}, cells = {0}, positions = {0};
  wick_status status;
  r.rows = argument_int(call, 3);
  r.columns = argument_int(call, 4);
  if (kind_samples(r.kind)) r.sampling = argument_int(call, 5);
  if (r.kind == ROI_ALIGN) r.aligned = argument_int(call, 6) != 0;
  TRY_GOTO(dense_argument(call, 0, ANY_DTYPE, &input, error), done);
  TRY_GOTO(dense_argument(call, 1, ANY_DTYPE, &rois, error), done);
  TRY_GOTO(require_floating(&input, error), done);
  status =
      input.ndim == 4 ? WICK_OK : fail(error, WICK_INVALID_ARGUMENT, "input must have shape as Tensor[N, C, H, W]");
  if (status) goto done;
  r.images = input.sizes[0];
  r.channels = input.sizes[1];
  r.height = input.sizes[2];
  r.width = input.sizes[3];
  TRY_GOTO(check(&r, &rois, &input, error), done);
  TRY_GOTO(take_rois(&r, 1, input.dtype, &wide_rois, error), done);
  TRY_GOTO(dense_argument(call, 0, wide_rois.dtype, &wide_input, error), done);
  const int64_t sizes[] = {r.regions, r.out_channels, r.rows, r.columns};
  TRY_GOTO(dense_new(wide_rois.dtype, 4, sizes, false, &cells, error), done);
  r.from = wide_input.data;
  r.cells = cells.data;
  if (r.kind != ROI_ALIGN) {
    TRY_GOTO(dense_new(WICK_INT32, 4, sizes, false, &positions, error), done);
    r.positions = positions.data;
    if (r.kind != ROI_POOL) number_channels(&r);
  }
  if (cells.numel) wick_call_parallel(call, r.regions * r.out_channels, 1, visit_some, &r);
  TRY_GOTO(wick_call_poll(call, error), done);
  TRY_GOTO(dense_give(call, 0, &cells, input.dtype, error), done);
  if (r.positions) wick_call_set_result(call, 1, positions.value);
done:
  dense_dispose(&input);
  dense_dispose(&rois);
  dense_dispose(&wide_input);
  dense_dispose(&wide_rois);
  dense_dispose(&cells);
  dense_dispose(&positions);
  return status;
}

/* ---- gradients by the input ---- */

/* Positions that name a pixel, or none, and channels that are there. */
static wick_status check_positions(const RegionCall *r, const Dense *positions, const Dense *grad, wick_error **error) {
  bool fits = positions->ndim == 4 && !memcmp(positions->sizes, grad->sizes, 4 * sizeof *grad->sizes);
  int64_t end = r->kind == ROI_POOL ? r->height * r->width : r->channels, begin = r->kind == ROI_POOL ? -1 : 0;
  for (int64_t i = 0; fits && i < positions->numel; i++)
    fits = ((const int32_t *)positions->data)[i] >= begin && ((const int32_t *)positions->data)[i] < end;
  if (fits) return WICK_OK;
  return fail(error, WICK_INVALID_ARGUMENT, "the positions that the operator gave don't belong to the gradient");
}

/* (grad, rois, ..., spatial_scale, pooled_height, pooled_width, batch_size, channels, height, width), with the
 * positions after rois where the kind has them, and sampling_ratio and aligned where torchvision has them. */
wick_status kernel_regions_backward(void *user, wick_call *call, wick_error **error) {
  RegionCall r = {
      .kind = *(const RegionKind *)user, .call = call, .aligned = *(const RegionKind *)user == PS_ROI_ALIGN};
  Dense grad = {0}, rois = {0}, wide_grad = {0}, wide_rois = {0}, positions = {0}, result = {0};
  wick_status status;
  size_t next = r.kind == ROI_ALIGN ? 2 : 3;
  r.scale = argument_double(call, next++);
  r.rows = argument_int(call, next++);
  r.columns = argument_int(call, next++);
  if (r.kind == PS_ROI_ALIGN) r.sampling = argument_int(call, next++);
  r.images = argument_int(call, next++);
  r.channels = argument_int(call, next++);
  r.height = argument_int(call, next++);
  r.width = argument_int(call, next++);
  if (r.kind == ROI_ALIGN) {
    r.sampling = argument_int(call, next++);
    r.aligned = argument_int(call, next++) != 0;
  }
  TRY_GOTO(dense_argument(call, 0, ANY_DTYPE, &grad, error), done);
  TRY_GOTO(dense_argument(call, 1, ANY_DTYPE, &rois, error), done);
  TRY_GOTO(require_floating(&grad, error), done);
  TRY_GOTO(check(&r, &rois, &grad, error), done);
  const int64_t cells[] = {r.regions, r.out_channels, r.rows, r.columns};
  const int64_t sizes[] = {r.images, r.channels, r.height, r.width};
  if (grad.ndim != 4 || memcmp(grad.sizes, cells, sizeof cells)) {
    status = fail(error, WICK_INVALID_ARGUMENT, "the gradient must have shape as Tensor[K, C, rows, columns]");
    goto done;
  }
  if (r.kind != ROI_ALIGN) {
    TRY_GOTO(dense_argument(call, 2, WICK_INT32, &positions, error), done);
    TRY_GOTO(check_positions(&r, &positions, &grad, error), done);
    r.positions = positions.data;
  }
  TRY_GOTO(take_rois(&r, 1, grad.dtype, &wide_rois, error), done);
  TRY_GOTO(dense_argument(call, 0, wide_rois.dtype, &wide_grad, error), done);
  TRY_GOTO(dense_new(wide_rois.dtype, 4, sizes, true, &result, error), done);
  r.cells = wide_grad.data;
  r.to = result.data;
  for (int64_t i = 0; grad.numel && i < r.regions * r.out_channels; i++) { /* regions overlap: one after another */
    visit(&r, i / r.out_channels, i % r.out_channels);
    TRY_GOTO(wick_call_poll(call, error), done);
  }
  TRY_GOTO(dense_give(call, 0, &result, grad.dtype, error), done);
done:
  dense_dispose(&grad);
  dense_dispose(&rois);
  dense_dispose(&wide_grad);
  dense_dispose(&wide_rois);
  dense_dispose(&positions);
  dense_dispose(&result);
  return status;
}
