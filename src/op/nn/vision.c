/* The operators of torchvision that archives of detectors use: boxes without overlap, and regions of a feature map.
 * Both compute in double precision. */
#include <math.h>

#include "compute/sort/sort.h"

/* A row-major copy in doubles. */
static Status doubles(const Call *call, const Tensor *t, Tensor **out) {
  Tensor *wide = NULL;
  if (t->dtype != DTYPE_FLOAT32 && t->dtype != DTYPE_FLOAT64) return call_unsupported_dtype(call, (DType)t->dtype);
  TRY(tensor_to_dtype(t, DTYPE_FLOAT64, &wide));
  Status status = tensor_contiguous(wide, out);
  tensor_release(wide);
  return status;
}

/* ---- nms: of boxes that overlap by more than a threshold, the one with the highest score stays ---- */

static Status check_boxes(const Tensor *boxes, const Tensor *scores) {
  if (boxes->ndim != 2) return status_new(ERROR_RUNTIME, "boxes should be a 2d tensor, got %dD", boxes->ndim);
  if (boxes->sizes[1] != 4)
    return status_new(ERROR_RUNTIME, "boxes should have 4 elements in dimension 1, got %lld",
                      (long long)boxes->sizes[1]);
  if (scores->ndim != 1) return status_new(ERROR_RUNTIME, "scores should be a 1d tensor, got %dD", scores->ndim);
  if (boxes->sizes[0] != scores->sizes[0])
    return status_new(ERROR_RUNTIME,
                      "boxes and scores should have same number of elements in dimension 0, got %lld and %lld",
                      (long long)boxes->sizes[0], (long long)scores->sizes[0]);
  return boxes->dtype == scores->dtype ? OK : status_new(ERROR_RUNTIME, "dets should have the same type as scores");
}

/* Intersection over union of (x1, y1, x2, y2). */
static double overlap(const double *a, const double *b) {
  double width = fmin(a[2], b[2]) - fmax(a[0], b[0]), height = fmin(a[3], b[3]) - fmax(a[1], b[1]);
  double both = fmax(width, 0) * fmax(height, 0);
  return both / ((a[2] - a[0]) * (a[3] - a[1]) + (b[2] - b[0]) * (b[3] - b[1]) - both);
}

/* (dets [n, 4], scores [n], threshold) -> positions int64 [kept], by falling score. */
static Status kernel_nms(Call *call) {
  const Tensor *boxes = call_tensor(call, 0), *scores = call_tensor(call, 1);
  double threshold = call_double(call, 2);
  TRY(check_boxes(boxes, scores));
  int64_t count = boxes->sizes[0], kept = 0;
  Tensor *dense = NULL, *result = NULL;
  SortLine line = {0};
  Status status;
  TRY_GOTO(doubles(call, boxes, &dense), done);
  TRY_GOTO(sort_line_new(count, &line), done);
  sort_line_load(&line, (DType)scores->dtype, tensor_data(scores),
                 scores->strides[0] * (int64_t)dtype_size((DType)scores->dtype), true);
  sort_stable(&line);
  /* what is left of the line: each box that stays removes those behind it that overlap with it */
  const double *box = tensor_data(dense);
  for (int64_t left = count; kept < left; kept++) {
    int64_t end = kept + 1;
    for (int64_t i = end; i < left; i++)
      if (!(overlap(box + 4 * line.items[kept].position, box + 4 * line.items[i].position) > threshold))
        line.items[end++] = line.items[i];
    left = end;
    TRY_GOTO(exec_poll(call->exec), done);
  }
  TRY_GOTO(tensor_empty(DTYPE_INT64, 1, &kept, &result), done);
  for (int64_t i = 0; i < kept; i++) ((int64_t *)tensor_data(result))[i] = line.items[i].position;
  call_set_tensor(call, 0, result);
done:
  sort_line_dispose(&line);
  tensor_release(dense);
  return status;
}

/* ---- roi_align: regions of an image, sampled on a grid within each cell of the output and averaged ---- */
enum { ROI_INPUT, ROI_BOXES, ROI_SCALE, ROI_ROWS, ROI_COLUMNS, ROI_SAMPLING, ROI_ALIGNED };
enum { MAX_SAMPLING = 4096 };

/* One axis of a region: `cells` of the output, each of `samples` places `step` apart. */
typedef struct RoiAxis {
  double begin, cell, step, samples;
  int64_t size; /* of the image */
} RoiAxis;

static RoiAxis roi_axis(double begin, double end, int64_t cells, int64_t size, int64_t sampling, bool aligned) {
  double length = aligned ? end - begin : fmax(end - begin, 1), cell = length / (double)cells;
  double samples = sampling > 0 ? (double)sampling : ceil(cell);
  return (RoiAxis){begin, cell, cell / samples, samples, size};
}

/* Of a cell's samples those of [*first, *last) may lie in the image, which reaches half a pixel beyond its centres. */
static void samples_inside(const RoiAxis *axis, int64_t cell, int64_t *first, int64_t *last) {
  double begin = axis->begin + (double)cell * axis->cell;
  *first = 0;
  *last = (int64_t)fmin(fmax(axis->samples, 0), INT32_MAX);
  if (!(axis->step > 0)) return;
  double low = floor((-1 - begin) / axis->step) - 1, high = ceil(((double)axis->size - begin) / axis->step) + 1;
  if (low > 0) *first = (int64_t)fmin(low, INT32_MAX);
  if (high < (double)*last) *last = (int64_t)fmax(high, 0);
}

/* The two pixels next to a sample and the weight of the second; false outside of the image. */
static bool roi_sample(const RoiAxis *axis, int64_t cell, int64_t sample, int64_t at[2], double *weight) {
  double x = axis->begin + (double)cell * axis->cell + ((double)sample + 0.5) * axis->step;
  if (!(x >= -1 && x <= (double)axis->size)) return false;
  x = fmin(fmax(x, 0), (double)(axis->size - 1));
  at[0] = (int64_t)x;
  at[1] = at[0] + 1 < axis->size ? at[0] + 1 : at[0];
  *weight = x - (double)at[0];
  return true;
}

static double roi_cell(const double *plane, const RoiAxis *y, const RoiAxis *x, int64_t row, int64_t column) {
  int64_t y_first, y_last, x_first, x_last, rows[2], columns[2];
  double down, across, sum = 0;
  samples_inside(y, row, &y_first, &y_last);
  samples_inside(x, column, &x_first, &x_last);
  for (int64_t i = y_first; i < y_last; i++) {
    if (!roi_sample(y, row, i, rows, &down)) continue;
    const double *top = plane + rows[0] * x->size, *bottom = plane + rows[1] * x->size;
    for (int64_t j = x_first; j < x_last; j++)
      if (roi_sample(x, column, j, columns, &across))
        sum += (1 - down) * ((1 - across) * top[columns[0]] + across * top[columns[1]]) +
               down * ((1 - across) * bottom[columns[0]] + across * bottom[columns[1]]);
  }
  return sum / fmax(y->samples * x->samples, 1);
}

static Status shape_roi_align(Call *call, TensorSpec *spec) {
  const Tensor *input = call_tensor(call, ROI_INPUT), *boxes = call_tensor(call, ROI_BOXES);
  int64_t rows = call_int(call, ROI_ROWS), columns = call_int(call, ROI_COLUMNS);
  if (boxes->ndim != 2 || boxes->sizes[1] != 5)
    return status_new(ERROR_RUNTIME, "rois must have shape as Tensor[K, 5]");
  if (input->ndim != 4) return status_new(ERROR_RUNTIME, "input must have shape as Tensor[N, C, H, W]");
  if (input->dtype != boxes->dtype) return status_new(ERROR_RUNTIME, "input should have the same type as rois");
  if (rows < 1 || columns < 1) return status_new(ERROR_RUNTIME, "pooled_height and pooled_width must be positive");
  if (call_int(call, ROI_SAMPLING) > MAX_SAMPLING)
    return status_new(ERROR_UNSUPPORTED, "roi_align: more than %d samples along a cell", MAX_SAMPLING);
  if (boxes->sizes[0] && (input->sizes[2] == 0 || input->sizes[3] == 0))
    return status_new(ERROR_RUNTIME, "roi_align: the input has no pixels");
  shape_set(spec, (DType)input->dtype, 4, (const int64_t[]){boxes->sizes[0], input->sizes[1], rows, columns});
  return OK;
}

/* (input [N, C, H, W], rois [K, 5] of (image, x1, y1, x2, y2)) -> [K, C, rows, columns] */
static Status kernel_roi_align(Call *call) {
  Tensor *out = call_out(call, 0), *input = NULL, *boxes = NULL, *values = NULL;
  int64_t rows = out->sizes[2], columns = out->sizes[3], sampling = call_int(call, ROI_SAMPLING);
  double scale = call_double(call, ROI_SCALE), offset = call_bool(call, ROI_ALIGNED) ? 0.5 : 0;
  Status status;
  TRY_GOTO(doubles(call, call_tensor(call, ROI_INPUT), &input), done);
  TRY_GOTO(doubles(call, call_tensor(call, ROI_BOXES), &boxes), done);
  TRY_GOTO(tensor_empty(DTYPE_FLOAT64, 4, out->sizes, &values), done);
  const double *box = tensor_data(boxes);
  double *cell = tensor_data(values);
  int64_t height = input->sizes[2], width = input->sizes[3];
  for (int64_t k = 0; k < boxes->sizes[0] && out->numel; k++, box += 5) {
    if (!(box[0] >= 0 && box[0] < (double)input->sizes[0])) {
      status = status_exception("IndexError", "roi_align: region %lld is of no image", (long long)k);
      goto done;
    }
    RoiAxis x = roi_axis(box[1] * scale - offset, box[3] * scale - offset, columns, width, sampling, offset != 0);
    RoiAxis y = roi_axis(box[2] * scale - offset, box[4] * scale - offset, rows, height, sampling, offset != 0);
    const double *plane = (const double *)tensor_data(input) + (int64_t)box[0] * input->strides[0];
    for (int64_t c = 0; c < input->sizes[1]; c++, plane += height * width) {
      for (int64_t i = 0; i < rows * columns; i++) *cell++ = roi_cell(plane, &y, &x, i / columns, i % columns);
      TRY_GOTO(exec_poll(call->exec), done);
    }
  }
  status = tensor_copy(out, values, call->exec->threads);
done:
  tensor_release(input);
  tensor_release(boxes);
  tensor_release(values);
  return status;
}

static const OpRow rows[] = {
    {.schema = "torchvision::nms(Tensor dets, Tensor scores, float iou_threshold) -> Tensor",
     .kernel = kernel_nms,
     .flags = OP_NOT_DIFFERENTIABLE},
    {.schema = "torchvision::roi_align(Tensor input, Tensor rois, float spatial_scale, int pooled_height, int "
               "pooled_width, int sampling_ratio, bool aligned) -> Tensor",
     .shape = shape_roi_align,
     .kernel = kernel_roi_align},
};
OP_TABLE(op_table_vision, rows);
