/* Regions over numbers of type REAL, once for each: NAME(x) is x for that type. Rounds as torchvision does, which
 * decides what lies in a cell. */

/* ---- on a grid between pixels ---- */

/* One axis of a region: cells of the output, each with `samples` places. */
typedef struct NAME(Axis) {
  REAL begin, cell, samples;
  int64_t size; /* of the image */
} NAME(Axis);

static NAME(Axis) NAME(axis)(const RegionCall *r, REAL begin, REAL end, int64_t cells, int64_t size) {
  REAL scale = (REAL)r->scale, offset = r->aligned ? (REAL)0.5 : 0;
  begin = begin * scale - offset;
  REAL length = end * scale - offset - begin;
  if (!r->aligned && !(length >= 1)) length = 1;
  REAL cell = length / (REAL)cells;
  return (NAME(Axis)){begin, cell, r->sampling > 0 ? (REAL)r->sampling : (REAL)ceil(cell), size};
}

/* Of a cell's samples those of [*first, *last) may lie in the image, which reaches a pixel beyond its centers. */
static void NAME(samples_inside)(const NAME(Axis) * axis, int64_t cell, int64_t *first, int64_t *last) {
  double begin = (double)axis->begin + (double)cell * axis->cell, step = (double)axis->cell / axis->samples;
  *first = 0;
  *last = (int64_t)fmin(fmax(axis->samples, 0), INT32_MAX);
  if (!(step > 0)) return;
  double low = floor((-1 - begin) / step) - 1, high = ceil(((double)axis->size - begin) / step) + 1;
  if (low > 0) *first = (int64_t)fmin(low, INT32_MAX);
  if (high < (double)*last) *last = (int64_t)fmax(high, 0);
}

/* The two pixels next to a sample and the weight of the second; false outside of the image. */
static bool NAME(sample)(const NAME(Axis) * axis, int64_t cell, int64_t sample, int64_t at[2], REAL *weight) {
  REAL x = axis->begin + (REAL)cell * axis->cell + ((REAL)sample + (REAL)0.5) * axis->cell / axis->samples;
  if (!(x >= -1 && x <= (REAL)axis->size)) return false;
  if (x < 0) x = 0;
  at[0] = (int64_t)x;
  if (at[0] >= axis->size - 1) {
    at[0] = at[1] = axis->size - 1;
    *weight = 0;
  } else {
    at[1] = at[0] + 1;
    *weight = x - (REAL)at[0];
  }
  return true;
}

/* The sum of the samples of a cell in `plane`; with `to`, `by` is spread over that plane instead. */
static REAL NAME(sampled)(const NAME(Axis) * y, const NAME(Axis) * x, int64_t row, int64_t column, const REAL *plane,
                          REAL *to, REAL by) {
  int64_t y_first, y_last, x_first, x_last, rows[2], columns[2];
  REAL down, across, sum = 0;
  NAME(samples_inside)(y, row, &y_first, &y_last);
  NAME(samples_inside)(x, column, &x_first, &x_last);
  for (int64_t i = y_first; i < y_last; i++) {
    if (!NAME(sample)(y, row, i, rows, &down)) continue;
    for (int64_t j = x_first; j < x_last; j++) {
      if (!NAME(sample)(x, column, j, columns, &across)) continue;
      for (int corner = 0; corner < 4; corner++) {
        REAL weight = (corner & 2 ? down : 1 - down) * (corner & 1 ? across : 1 - across);
        int64_t at = rows[corner >> 1] * x->size + columns[corner & 1];
        if (to)
          to[at] += by * weight;
        else
          sum += weight * plane[at];
      }
    }
  }
  return sum;
}

static void NAME(sample_region)(const RegionCall *r, int64_t region, int64_t channel) {
  const REAL *box = (const REAL *)r->rois + 5 * region;
  NAME(Axis)
  x = NAME(axis)(r, box[1], box[3], r->columns, r->width), y = NAME(axis)(r, box[2], box[4], r->rows, r->height);
  REAL count = y.samples * x.samples;
  if (r->kind == ROI_ALIGN && !(count >= 1)) count = 1;
  for (int64_t i = 0; i < r->rows; i++)
    for (int64_t j = 0; j < r->columns; j++) {
      if (wick_call_poll(r->call, NULL)) return; /* asked again at the end */
      int64_t cell = region_cell(r, region, channel, i, j), plane = region_plane(r, (int64_t)box[0], channel, cell);
      if (r->to)
        NAME(sampled)(&y, &x, i, j, NULL, (REAL *)r->to + plane, ((const REAL *)r->cells)[cell] / count);
      else
        ((REAL *)r->cells)[cell] = NAME(sampled)(&y, &x, i, j, (const REAL *)r->from + plane, NULL, 0) / count;
    }
}

/* ---- of whole pixels ---- */

/* The pixels [*begin, *end) of a cell. */
static void NAME(pixels)(const RegionCall *r, REAL first, REAL last, int64_t cells, int64_t size, int64_t cell,
                         int64_t *begin, int64_t *end) {
  REAL scale = (REAL)r->scale, start = (REAL)round(first * scale);
  REAL length = (REAL)round(last * scale) - start + (r->kind == ROI_POOL ? 1 : 0);
  if (!(length >= 1)) length = 1;
  REAL each = length / (REAL)cells;
  /* torchvision's ps_roi_pool leaves the last pixel out, but not in its gradient */
  int64_t limit = r->kind == PS_ROI_POOL && !r->to ? size - 1 : size;
  *begin = (int64_t)fmin(fmax(floor((REAL)cell * each) + start, 0), (double)limit);
  *end = (int64_t)fmin(fmax(ceil((REAL)(cell + 1) * each) + start, 0), (double)limit);
}

static void NAME(pool_cell)(const RegionCall *r, const int64_t rows[2], const int64_t columns[2], int64_t cell,
                            int64_t plane) {
  int64_t area = (rows[1] - rows[0]) * (columns[1] - columns[0]), best = -1;
  bool empty = rows[1] <= rows[0] || columns[1] <= columns[0];
  const REAL *from = (const REAL *)r->from + plane;
  REAL *value = (REAL *)r->cells + cell, result = 0;
  for (int64_t i = rows[0]; i < rows[1] && !empty; i++)
    for (int64_t j = columns[0]; j < columns[1]; j++) {
      int64_t at = i * r->width + j;
      if (r->kind == PS_ROI_POOL && r->to) {
        ((REAL *)r->to)[plane + at] += *value / (REAL)area;
      } else if (r->kind == PS_ROI_POOL) {
        result += from[at];
      } else if (from[at] > (best < 0 ? -(REAL)__FLT_MAX__ : result)) {
        result = from[at];
        best = at;
      }
    }
  if (r->to) return;
  if (r->kind == ROI_POOL) {
    *value = empty || best >= 0 ? result : -(REAL)__FLT_MAX__;
    r->positions[cell] = (int32_t)best;
  } else {
    *value = empty ? 0 : result / (REAL)area;
  }
}

static void NAME(pool_region)(const RegionCall *r, int64_t region, int64_t channel) {
  const REAL *box = (const REAL *)r->rois + 5 * region;
  for (int64_t i = 0; i < r->rows; i++)
    for (int64_t j = 0; j < r->columns; j++) {
      if (wick_call_poll(r->call, NULL)) return; /* asked again at the end */
      int64_t cell = region_cell(r, region, channel, i, j), plane = region_plane(r, (int64_t)box[0], channel, cell);
      int64_t rows[2], columns[2];
      if (r->kind == ROI_POOL && r->to) {
        if (r->positions[cell] >= 0) ((REAL *)r->to)[plane + r->positions[cell]] += ((const REAL *)r->cells)[cell];
        continue;
      }
      NAME(pixels)(r, box[2], box[4], r->rows, r->height, i, &rows[0], &rows[1]);
      NAME(pixels)(r, box[1], box[3], r->columns, r->width, j, &columns[0], &columns[1]);
      NAME(pool_cell)(r, rows, columns, cell, plane);
    }
}

/* Whether every region is of an image. */
static bool NAME(regions_fit)(const RegionCall *r) {
  for (int64_t k = 0; k < r->regions; k++) {
    REAL image = ((const REAL *)r->rois)[5 * k];
    if (!(image >= 0 && image < (REAL)r->images)) return false;
  }
  return true;
}

static void NAME(visit_region)(const RegionCall *r, int64_t region, int64_t channel) {
  if (kind_samples(r->kind))
    NAME(sample_region)(r, region, channel);
  else
    NAME(pool_region)(r, region, channel);
}
