/* box_iou_rotated: the overlap of rectangles at any angle, each with each. One is clipped by the other's four
 * sides in turn (I. Sutherland and G. Hodgman, "Reentrant polygon clipping", 1974), what is left measured by the sum of
 * cross products around it. */
#include "torchvision/operators.h"

typedef struct Point {
  double x, y;
} Point;

/* Clipping a convex polygon by a line adds at most one corner. */
enum { CORNERS = 4, MOST_CORNERS = 2 * CORNERS };
#define LEAST_AREA 1e-14 /* below it a box overlaps with nothing */

typedef struct Box {
  double x, y, area;
  Point corners[CORNERS]; /* about its center */
} Box;

/* (x, y, width, height, degrees), y downwards: a positive angle turns it counter-clockwise. */
static Box box_read(const Dense *boxes, int64_t i) {
  double v[5];
  for (int k = 0; k < 5; k++)
    v[k] = boxes->dtype == WICK_FLOAT32 ? ((const float *)boxes->data)[5 * i + k]
                                        : ((const double *)boxes->data)[5 * i + k];
  double angle = v[4] * M_PI / 180, c = cos(angle) / 2, s = sin(angle) / 2;
  Point along = {v[2] * c, -v[2] * s}, across = {v[3] * s, v[3] * c};
  return (Box){v[0],
               v[1],
               v[2] * v[3],
               {{-along.x - across.x, -along.y - across.y},
                {along.x - across.x, along.y - across.y},
                {along.x + across.x, along.y + across.y},
                {across.x - along.x, across.y - along.y}}};
}

static double side_of(Point from, Point to, Point p) {
  return (to.x - from.x) * (p.y - from.y) - (to.y - from.y) * (p.x - from.x);
}

/* Keeps what lies to the left of the line. */
static int clip(const Point *polygon, int count, Point from, Point to, Point *out) {
  int kept = 0;
  for (int i = 0; i < count; i++) {
    Point a = polygon[i], b = polygon[(i + 1) % count];
    double at_a = side_of(from, to, a), at_b = side_of(from, to, b);
    if (at_a >= 0 && kept < MOST_CORNERS) out[kept++] = a;
    if ((at_a >= 0) == (at_b >= 0) || kept == MOST_CORNERS) continue;
    double share = at_a / (at_a - at_b);
    out[kept++] = (Point){a.x + share * (b.x - a.x), a.y + share * (b.y - a.y)};
  }
  return kept;
}

static double area_of(const Point *polygon, int count) {
  double sum = 0;
  for (int i = 2; i < count; i++) sum += side_of(polygon[0], polygon[i - 1], polygon[i]);
  return sum / 2;
}

static double overlap(const Box *a, const Box *b) {
  if (a->area < LEAST_AREA || b->area < LEAST_AREA) return 0;
  Point polygons[2][MOST_CORNERS], corners[CORNERS];
  for (int i = 0; i < CORNERS; i++) { /* about one center: far from the origin nothing is lost */
    polygons[0][i] = a->corners[i];
    corners[i] = (Point){b->corners[i].x + (b->x - a->x), b->corners[i].y + (b->y - a->y)};
  }
  int count = CORNERS;
  for (int i = 0; i < CORNERS && count; i++)
    count = clip(polygons[i % 2], count, corners[i], corners[(i + 1) % CORNERS], polygons[1 - i % 2]);
  double both = area_of(polygons[0], count); /* four sides: it is in the first again, or nothing is */
  return both / (a->area + b->area - both);
}

static wick_status check(const Dense *boxes, const char *name, wick_error **error) {
  if (boxes->ndim != 2)
    return fail(error, WICK_INVALID_ARGUMENT, "%s should be a 2d tensor, got %dD", name, boxes->ndim);
  if (boxes->sizes[1] != 5)
    return fail(error, WICK_INVALID_ARGUMENT, "%s should have 5 elements in dimension 1, got %lld", name,
                (long long)boxes->sizes[1]);
  if (boxes->dtype != WICK_FLOAT32 && boxes->dtype != WICK_FLOAT64)
    return fail(error, WICK_INVALID_ARGUMENT, "box_iou_rotated: not implemented for tensors of %s",
                wick_dtype_name(boxes->dtype));
  return WICK_OK;
}

/* (boxes1 [n, 5], boxes2 [m, 5]) -> float32 [n, m], whatever the boxes' dtype */
wick_status kernel_box_iou_rotated(void *user, wick_call *call, wick_error **error) {
  (void)user;
  Dense a = {0}, b = {0}, result = {0};
  wick_status status;
  TRY_GOTO(dense_argument(call, 0, ANY_DTYPE, &a, error), done);
  TRY_GOTO(dense_argument(call, 1, ANY_DTYPE, &b, error), done);
  TRY_GOTO(check(&a, "boxes1", error), done);
  TRY_GOTO(check(&b, "boxes2", error), done);
  if (a.dtype != b.dtype) {
    status = fail(error, WICK_INVALID_ARGUMENT, "boxes1 and boxes2 must have the same dtype");
    goto done;
  }
  int64_t sizes[] = {a.sizes[0], b.sizes[0]};
  TRY_GOTO(dense_new(WICK_FLOAT32, 2, sizes, false, &result, error), done);
  for (int64_t i = 0; i < sizes[0]; i++) {
    Box one = box_read(&a, i);
    for (int64_t j = 0; j < sizes[1]; j++) {
      Box other = box_read(&b, j);
      ((float *)result.data)[i * sizes[1] + j] = (float)overlap(&one, &other);
    }
    TRY_GOTO(wick_call_poll(call, error), done);
  }
  wick_call_set_result(call, 0, result.value);
done:
  dense_dispose(&a);
  dense_dispose(&b);
  dense_dispose(&result);
  return status;
}
