/* Images read at the places that a grid names. prelude/operators.py says how, in every mode; here are the rows, and a
 * kernel for what is frequent: planes of float32, linearly. */
#include <assert.h>
#include <math.h>

#include "base/parallel.h"
#include "call/row_extras.h"
#include "report/reason.h"

enum { PADDING_ZEROS, PADDING_BORDER, PADDING_REFLECTION }; /* as grid_sampler's padding_mode */
enum { POINTS = 256 }; /* of a block: their corners are found once for all channels */

typedef struct GridSample {
  const float *image, *grid;
  float *out;
  int64_t channels, height, width, out_width, points; /* points: of one image */
  int64_t strides[4];                                 /* the grid's */
  int64_t padding;
  bool align_corners;
} GridSample;

/* Mirrors x at low and at low + span, as often as it takes. */
static float reflect(float x, float low, float span) {
  float distance = fabsf(x - low), extra = fmodf(distance, span), flips = floorf(distance / span);
  return fmodf(flips, 2) == 0 ? extra + low : span - extra + low;
}

/* Pixels of the place that the grid calls x, -1 to 1. */
static float pixel_of(const GridSample *s, float x, int64_t size) {
  float n = (float)size, most = (float)(size - 1);
  float at = s->align_corners ? (x + 1) / 2 * most : ((x + 1) * n - 1) / 2;
  if (s->padding == PADDING_ZEROS) return at;
  if (s->padding == PADDING_REFLECTION) {
    if (!s->align_corners)
      at = reflect(at, -0.5f, n);
    else
      at = size == 1 ? 0 : reflect(at, 0, most);
  }
  return at < 0 ? 0 : at > most ? most : at; /* NaN stays */
}

typedef struct Corners {
  float weight[4][POINTS];
  uint32_t shown[4][POINTS]; /* all bits; 0: outside, where 0 stands for the pixel */
  int64_t place[4][POINTS];
} Corners;

/* Along one dimension: the pixels below and above a place. */
typedef struct Pair {
  float weight[2];
  uint32_t shown[2];
  int64_t place[2]; /* within the image in any case */
} Pair;
static inline Pair pair_at(float at, int64_t size) {
  float low = floorf(at), most = (float)(size - 1);
  Pair pair = {.weight = {low + 1 - at, at - low}};
  if (!(low >= -1 && low <= most)) return pair; /* NaN is nowhere */
  int64_t i = (int64_t)low;
  bool below = i >= 0, above = low + 1 <= most;
  pair.shown[0] = below ? ~0u : 0;
  pair.shown[1] = above ? ~0u : 0;
  pair.place[0] = below ? i : 0;
  pair.place[1] = above ? i + 1 : 0;
  return pair;
}

static void find_corners(const GridSample *s, const float *grid, int64_t first, int64_t count, Corners *out) {
  assert(count <= POINTS);
  int64_t row = first / s->out_width, column = first % s->out_width;
  for (int64_t i = 0; i < count; i++) {
    const float *at = grid + row * s->strides[1] + column * s->strides[2];
    Pair x = pair_at(pixel_of(s, at[0], s->width), s->width);
    Pair y = pair_at(pixel_of(s, at[s->strides[3]], s->height), s->height);
#pragma GCC unroll 4
    for (int k = 0; k < 4; k++) { /* rows first, the order of the sums */
      int right = k >> 1, under = k & 1;
      out->weight[k][i] = y.weight[under] * x.weight[right];
      out->shown[k][i] = y.shown[under] & x.shown[right];
      out->place[k][i] = y.place[under] * s->width + x.place[right];
    }
    if (++column == s->out_width) {
      column = 0;
      row++;
    }
  }
}

static float shown_pixel(const float *plane, const Corners *c, int k, int64_t i) {
  union {
    float number;
    uint32_t bits;
  } pixel = {plane[c->place[k][i]]};
  pixel.bits &= c->shown[k][i];
  return pixel.number;
}

/* Blocks of points, image by image. */
static void sample_blocks(void *argument, int64_t begin, int64_t end) {
  const GridSample *s = argument;
  int64_t blocks = (s->points + POINTS - 1) / POINTS, pixels = s->height * s->width;
  Corners corners;
  for (int64_t b = begin; b < end; b++) {
    int64_t image = b / blocks, first = b % blocks * POINTS,
            count = s->points - first < POINTS ? s->points - first : POINTS;
    find_corners(s, s->grid + image * s->strides[0], first, count, &corners);
    for (int64_t c = image * s->channels; c < (image + 1) * s->channels; c++) {
      const float *plane = s->image + c * pixels;
      float *out = s->out + c * s->points + first;
      for (int64_t i = 0; i < count; i++) {
        float sum = 0;
#pragma GCC unroll 4
        for (int k = 0; k < 4; k++) sum += shown_pixel(plane, &corners, k, i) * corners.weight[k][i];
        out[i] = sum;
      }
    }
  }
}

static Status sample_linearly(Call *call) {
  const Tensor *input = call_tensor(call, 0), *grid = call_tensor(call, 1);
  int64_t padding = call_int(call, 3);
  if (input->dtype != DTYPE_FLOAT32 || grid->dtype != DTYPE_FLOAT32) return reason_decline(REASON_NOT_FUSED_DTYPE);
  if (call_int(call, 2) != 0 || padding < PADDING_ZEROS || padding > PADDING_REFLECTION)
    return reason_decline(REASON_NOT_FUSED_ARGUMENT);
  if (input->ndim != 4 || grid->ndim != 4 || input->sizes[0] != grid->sizes[0] || grid->sizes[3] != 2 ||
      input->numel == 0 || grid->numel == 0)
    return reason_decline(REASON_NOT_FUSED_SHAPE);
  Tensor *image, *out;
  TRY(tensor_contiguous(input, &image));
  Status status = tensor_empty(
      DTYPE_FLOAT32, 4, (const int64_t[]){input->sizes[0], input->sizes[1], grid->sizes[1], grid->sizes[2]}, &out);
  if (!status) {
    GridSample s = {.image = tensor_data(image),
                    .grid = tensor_data(grid),
                    .out = tensor_data(out),
                    .channels = input->sizes[1],
                    .height = input->sizes[2],
                    .width = input->sizes[3],
                    .out_width = grid->sizes[2],
                    .points = grid->sizes[1] * grid->sizes[2],
                    .padding = padding,
                    .align_corners = call_bool(call, 4)};
    memcpy(s.strides, grid->strides, sizeof s.strides);
    parallel_for(call->exec->work.threads, input->sizes[0] * ((s.points + POINTS - 1) / POINTS), 32 / s.channels + 1,
                 sample_blocks, &s);
    call_set_tensor(call, 0, out);
  }
  tensor_release(image);
  return status;
}

#define GRID_SAMPLER(name)                                                                      \
  {                                                                                             \
    .schema = "aten::" name                                                                     \
              "(Tensor input, Tensor grid, int interpolation_mode, int padding_mode, bool "     \
              "align_corners) -> Tensor",                                                       \
    .body = "return sample_grid(input, grid, interpolation_mode, padding_mode, align_corners)", \
    BESIDE(sample_linearly)                                                                     \
  }
static const OpRow rows[] = {GRID_SAMPLER("grid_sampler"), GRID_SAMPLER("grid_sampler_2d"),
                             GRID_SAMPLER("grid_sampler_3d")};
OP_TABLE(op_table_grid_sample, rows);
