/* nms: of boxes that overlap by more than a threshold, the one with the highest score stays. */
#include "torchvision/operators.h"

/* Boxes are (x1, y1, x2, y2), `order` their positions by falling score. What stays moves to the front of `order`; each
 * removes those after it whose intersection over union with it is above the threshold. Gives how many stay. */
#define SUPPRESS(REAL, MIN, MAX)                                                                                    \
  static wick_status suppress_##REAL(wick_call *call, const REAL *boxes, double threshold, int64_t count,           \
                                     int64_t *order, int64_t *out_kept, wick_error **error) {                       \
    int64_t left = count, kept = 0;                                                                                 \
    for (; kept < left; kept++) {                                                                                   \
      const REAL *a = boxes + 4 * order[kept], area = (a[2] - a[0]) * (a[3] - a[1]);                                \
      int64_t end = kept + 1;                                                                                       \
      for (int64_t i = end; i < left; i++) {                                                                        \
        const REAL *b = boxes + 4 * order[i];                                                                       \
        REAL width = MAX(MIN(a[2], b[2]) - MAX(a[0], b[0]), 0), height = MAX(MIN(a[3], b[3]) - MAX(a[1], b[1]), 0); \
        REAL both = width * height, overlap = both / (area + (b[2] - b[0]) * (b[3] - b[1]) - both);                 \
        if (!((double)overlap > threshold)) order[end++] = order[i];                                                \
      }                                                                                                             \
      left = end;                                                                                                   \
      TRY(wick_call_poll(call, error));                                                                             \
    }                                                                                                               \
    *out_kept = kept;                                                                                               \
    return WICK_OK;                                                                                                 \
  }
SUPPRESS(float, fminf, fmaxf)
SUPPRESS(double, fmin, fmax)

static wick_status check(const Dense *boxes, const Dense *scores, wick_error **error) {
  if (boxes->ndim != 2) return fail(error, WICK_INVALID_ARGUMENT, "boxes should be a 2d tensor, got %dD", boxes->ndim);
  if (boxes->sizes[1] != 4)
    return fail(error, WICK_INVALID_ARGUMENT, "boxes should have 4 elements in dimension 1, got %lld",
                (long long)boxes->sizes[1]);
  if (scores->ndim != 1)
    return fail(error, WICK_INVALID_ARGUMENT, "scores should be a 1d tensor, got %dD", scores->ndim);
  if (boxes->sizes[0] != scores->sizes[0])
    return fail(error, WICK_INVALID_ARGUMENT,
                "boxes and scores should have same number of elements in dimension 0, got %lld and %lld",
                (long long)boxes->sizes[0], (long long)scores->sizes[0]);
  if (boxes->dtype != scores->dtype)
    return fail(error, WICK_INVALID_ARGUMENT, "dets should have the same type as scores");
  if (boxes->dtype != WICK_FLOAT32 && boxes->dtype != WICK_FLOAT64)
    return fail(error, WICK_INVALID_ARGUMENT, "nms: not implemented for tensors of %s", wick_dtype_name(boxes->dtype));
  return WICK_OK;
}

typedef struct Scored {
  double score;
  int64_t position;
} Scored;

/* Falling scores, NaN before all, the first of equal ones first. */
static int compare(const void *left, const void *right) {
  const Scored *a = left, *b = right;
  bool none = isnan(a->score), other_none = isnan(b->score);
  if (none != other_none) return none ? -1 : 1;
  if (!none && a->score != b->score) return a->score > b->score ? -1 : 1;
  return a->position < b->position ? -1 : 1;
}

/* The positions in that order. */
static wick_status sorted(const Dense *scores, Dense *out, wick_error **error) {
  int64_t count = scores->numel;
  TRY(dense_new(WICK_INT64, 1, &count, false, out, error));
  Scored *items = calloc((size_t)count + 1, sizeof *items);
  if (!items) return fail_memory(error);
  for (int64_t i = 0; i < count; i++)
    items[i] = (Scored){
        scores->dtype == WICK_FLOAT32 ? ((const float *)scores->data)[i] : ((const double *)scores->data)[i], i};
  qsort(items, (size_t)count, sizeof *items, compare);
  for (int64_t i = 0; i < count; i++) ((int64_t *)out->data)[i] = items[i].position;
  free(items);
  return WICK_OK;
}

/* (dets [n, 4], scores [n], iou_threshold) -> positions int64 [kept], by falling score */
wick_status kernel_nms(void *user, wick_call *call, wick_error **error) {
  (void)user;
  Dense boxes = {0}, scores = {0}, order = {0}, result = {0};
  double threshold = argument_double(call, 2);
  int64_t kept;
  wick_status status;
  TRY_GOTO(dense_argument(call, 0, ANY_DTYPE, &boxes, error), done);
  TRY_GOTO(dense_argument(call, 1, ANY_DTYPE, &scores, error), done);
  TRY_GOTO(check(&boxes, &scores, error), done);
  TRY_GOTO(sorted(&scores, &order, error), done);
  if (boxes.dtype == WICK_FLOAT32)
    status = suppress_float(call, boxes.data, threshold, boxes.sizes[0], order.data, &kept, error);
  else
    status = suppress_double(call, boxes.data, threshold, boxes.sizes[0], order.data, &kept, error);
  if (status) goto done;
  TRY_GOTO(dense_new(WICK_INT64, 1, &kept, false, &result, error), done);
  if (kept) memcpy(result.data, order.data, (size_t)kept * sizeof(int64_t));
  wick_call_set_result(call, 0, result.value);
done:
  dense_dispose(&boxes);
  dense_dispose(&scores);
  dense_dispose(&order);
  dense_dispose(&result);
  return status;
}
