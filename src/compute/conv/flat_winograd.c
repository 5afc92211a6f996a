/* Blocks of squares: their inputs are transformed for all channels; then, for 8 output channels after the other, come
 * their filters' transforms, where they are not kept, the products, the sums back, and the rows. */
#include "compute/conv/flat_winograd.h"

#include <assert.h>

#include "base/cache.h"
#include "base/parallel.h"
#include "compute/conv/flat_conv.h"
#include "compute/conv/flat_planes.h"
#include "compute/conv/weight_reader.h"

enum {
  BLOCK_BYTES = 640 << 10,    /* of transformed inputs: they stay in L2 */
  KEPT_BYTES = 3 << 20,       /* of a transformed weight; larger ones would come from memory, which takes longer */
  ONE_THREAD_FLOATS = 1 << 13 /* of planes that are laid out */
};

typedef struct Winograd {
  const Work *work;
  const ConvParams *p;
  const FlatKernels *kernels;
  const ConvEpilogue *epilogue;
  const float *weight;
  int side, points; /* of a square of results; products for one */
  bool is_kept;     /* the weight is transformed */
  /* Squares of a plane, counted row by row. The inputs of a channel lie in side * (side + 2) planes, of rows by their
   * remainder and, of columns, those that each column of the squares' inputs meets: so they are runs, too. */
  int64_t high, wide, squares;
  int64_t plane, channel_floats;
  int64_t taps[MOST_POINTS * MOST_POINTS]; /* where the inputs of the first square are */
  /* of the image at hand */
  const float *image, *add;
  float *laid, *out;
  float *transformed; /* all inputs, where threads share output channels of the only block; else NULL */
  int64_t panels, chunk, chunks;
  int64_t vectors, blocks, width; /* of squares; the widest block */
  int64_t line;                   /* floats between two points of the transformed inputs */
  _Atomic bool failed, is_infinite;
} Winograd;

static int64_t vectors_of(int64_t n, const FlatKernels *kernels) {
  return (n + kernels->vector - 1) / kernels->vector;
}
static int64_t squares_of(int64_t results, int side) {
  return (results + side - 1) / side;
}

static int64_t panels_of(const ConvParams *p) {
  return (p->out_channels + FLAT_ROWS - 1) / FLAT_ROWS;
}

/* In products of vectors. */
static double work_of(const ConvParams *p, int side, const FlatKernels *kernels) {
  double inputs = (double)p->in_channels, outputs = (double)(panels_of(p) * FLAT_ROWS);
  double input_work = side == 2 ? 70 : 260, output_work = side == 2 ? 60 : 260; /* of transforms */
  int64_t vectors = vectors_of(squares_of(p->out[1], side) * squares_of(p->out[2], side), kernels);
  return (double)vectors * ((side + 2) * (side + 2) * inputs * outputs + input_work * inputs + output_work * outputs);
}

int flat_winograd_side(const ConvParams *p, const FlatKernels *kernels) {
  enum { LEAST = 12 }; /* channels: transforming fewer takes what the products save */
  if (p->transposed || p->groups != 1 || p->kernel[0] != 1 || p->in[0] != 1 || p->padding[0] || p->padding_after[0])
    return 0;
  for (int d = 1; d < CONV_SPATIAL; d++)
    if (p->kernel[d] != 3 || p->stride[d] != 1 || p->dilation[d] != 1) return 0;
  if (p->in_channels < LEAST || p->out_channels < LEAST) return 0;
  double direct = (double)vectors_of(p->out[1] * (p->out[2] + 2) - 2, kernels) * 9 * (double)p->in_channels *
                  (double)(panels_of(p) * FLAT_ROWS);
  double two = work_of(p, 2, kernels), four = work_of(p, 4, kernels), least = two < four ? two : four;
  if (p->out[1] * p->out[2] <= 36 || least * 1.1 > direct) return 0;
  return two < four ? 2 : 4;
}

/* ---- weights ---- */

static uint64_t transformed_bytes(const ConvParams *p, int side) {
  int64_t points = (side + 2) * (side + 2);
  return (uint64_t)(panels_of(p) * points * p->in_channels * FLAT_ROWS) * sizeof(float);
}

bool flat_winograd_keeps(const ConvParams *p, int side) {
  return transformed_bytes(p, side) <= KEPT_BYTES;
}

void flat_winograd_layout(const ConvParams *p, int side, bool is_kept, WeightLayout *out) {
  if (!is_kept) {
    flat_conv_layout(p, out);
    return;
  }
  memset(out, 0, sizeof *out);
  out->transform = side == 2 ? WEIGHT_WINOGRAD_2 : WEIGHT_WINOGRAD_4;
  out->ndim = 3;
  out->sizes[0] = p->out_channels;
  out->sizes[1] = p->in_channels;
  out->sizes[2] = 9;
  out->bytes = transformed_bytes(p, side);
}

FilterPoints filter_points(int side) {
  const double a = WINOGRAD_NEAR, b = WINOGRAD_FAR, between = a * a - b * b;
  if (side == 2) return (FilterPoints){1, 1, {{1, 0.5}}};
  return (FilterPoints){2, 1 / (a * a * b * b), {{a, 1 / (2 * a * a * between)}, {b, -1 / (2 * b * b * between)}}};
}

/* Of 8 channels, in double: kept weights are rounded once. */
typedef double FilterLanes[FLAT_ROWS];
static inline void filter_line(const FilterPoints *f, const double *w0, const double *w1, const double *w2,
                               FilterLanes *out) {
  for (int c = 0; c < FLAT_ROWS; c++) out[0][c] = w0[c] * f->scale;
  for (int k = 0; k < f->pairs; k++) {
    const double x = f->pair[k].x, square = x * x, scale = f->pair[k].scale;
    for (int c = 0; c < FLAT_ROWS; c++) {
      double even = w0[c] + square * w2[c], odd = x * w1[c];
      out[2 * k + 1][c] = (even + odd) * scale;
      out[2 * k + 2][c] = (even - odd) * scale;
    }
  }
  memcpy(out[2 * f->pairs + 1], w2, sizeof *out);
}

/* G w G' of one input channel, for `n` output channels whose filters are `stride` apart. */
static void transform_filters(const FilterPoints *f, const float *from, int64_t stride, int n, float *u,
                              int64_t u_stride) {
  FilterLanes w[9] = {{0}}, half[3][MOST_POINTS], line[MOST_POINTS];
  int length = 2 * f->pairs + 2;
  for (int c = 0; c < n; c++)
    for (int k = 0; k < 9; k++) w[k][c] = (double)from[c * stride + k];
  for (int j = 0; j < 3; j++) filter_line(f, w[j], w[3 + j], w[6 + j], half[j]);
  for (int i = 0; i < length; i++) {
    filter_line(f, half[0][i], half[1][i], half[2][i], line);
    for (int j = 0; j < length; j++)
      for (int c = 0; c < FLAT_ROWS; c++) u[(i * length + j) * u_stride + c] = (float)line[j][c];
  }
}

typedef struct Packing {
  const WeightLayout *layout;
  const Tensor *weight;
  float *to;
} Packing;
/* A few input channels at a time: what they give of each point is a run of whole cache lines. */
static void pack_panels(void *argument, int64_t begin, int64_t end) {
  enum { AT_ONCE = 4, RUN = AT_ONCE * FLAT_ROWS };
  const Packing *p = argument;
  int side = p->layout->transform == WEIGHT_WINOGRAD_2 ? 2 : 4, points = (side + 2) * (side + 2);
  int64_t outputs = p->layout->sizes[0], inputs = p->layout->sizes[1];
  FilterPoints filter = filter_points(side);
  WeightReader reader;
  weight_reader_begin(&reader, p->weight, FLAT_ROWS * inputs * 9);
  for (int64_t panel = begin; panel < end; panel++) {
    int64_t first = panel * FLAT_ROWS, n = outputs - first < FLAT_ROWS ? outputs - first : FLAT_ROWS;
    const float *from = weight_reader_at(&reader, first * inputs * 9, n * inputs * 9);
    float *to = p->to + panel * points * inputs * FLAT_ROWS, u[MOST_POINTS * MOST_POINTS][RUN];
    for (int64_t i = 0; i < inputs; i += AT_ONCE) {
      int64_t count = inputs - i < AT_ONCE ? inputs - i : AT_ONCE;
      for (int64_t k = 0; k < count; k++)
        transform_filters(&filter, from + (i + k) * 9, inputs * 9, (int)n, u[0] + k * FLAT_ROWS, RUN);
      for (int k = 0; k < points; k++)
        memcpy(to + (k * inputs + i) * FLAT_ROWS, u[k], (size_t)(count * FLAT_ROWS) * sizeof(float));
    }
  }
  weight_reader_end(&reader);
}
void flat_winograd_pack(int threads, const WeightLayout *layout, const Tensor *weight, float *to) {
  Packing packing = {layout, weight, to};
  int64_t panels = (layout->sizes[0] + FLAT_ROWS - 1) / FLAT_ROWS;
  parallel_for(threads, panels, 8192 / (layout->sizes[1] + 1) / FLAT_ROWS + 1, pack_panels, &packing);
}

/* ---- planes ---- */

static void lay_channel(Winograd *w, int64_t c) {
  const ConvParams *p = w->p;
  int64_t last = w->side * w->high + 2;
  for (int64_t i = 0; i < last; i++) {
    int64_t row = i - p->padding[1], n = row >= 0 && row < p->in[1] ? p->in[2] : 0;
    const float *from = w->image + c * p->in[1] * p->in[2];
    float *to = w->laid + c * w->channel_floats + i % w->side * (w->side + 2) * w->plane + i / w->side * w->wide;
    w->kernels->winograd_deal(w->side, n ? from + row * p->in[2] : from, n, p->padding[2], w->wide, to, w->plane);
  }
}

/* Of `width` squares from the first on. */
static void transform_channel(const Winograd *w, int64_t c, int64_t first, int64_t width, float *inputs) {
  w->kernels->winograd_input(w->side, width, w->laid + c * w->channel_floats + first, w->taps, inputs + c * w->width,
                             w->line);
}

static void lay_channels(void *argument, int64_t begin, int64_t end) {
  Winograd *w = argument;
  for (int64_t c = begin; c < end; c++) {
    lay_channel(w, c);
    if (w->transformed) transform_channel(w, c, 0, w->squares, w->transformed);
  }
}

static void set_planes(Winograd *w) {
  int line = w->side + 2;
  w->high = squares_of(w->p->out[1], w->side);
  w->wide = squares_of(w->p->out[2], w->side);
  w->squares = w->high * w->wide;
  w->plane = (w->high + 1) * w->wide;
  w->channel_floats = w->side * line * w->plane;
  for (int i = 0; i < line; i++)
    for (int j = 0; j < line; j++) w->taps[i * line + j] = (i % w->side * line + j) * w->plane + i / w->side * w->wide;
}

/* ---- blocks ---- */

typedef struct Scratch {
  float *memory;
  float *inputs;   /* [point][input channel][width], `line` between points; whole vectors, so that all sums are made in
                    * one order */
  float *products; /* [8][point][width] */
  float *rows;     /* [8][side][side * width]: results */
  float *filters;  /* [point][WINOGRAD_FILTERS]; NULL: they are kept */
  size_t bytes;
} Scratch;

static bool scratch_new(const Winograd *w, Scratch *s) {
  size_t inputs = w->transformed ? 0 : (size_t)(w->points * w->line),
         products = (size_t)(FLAT_ROWS * w->points * w->width),
         rows = (size_t)(FLAT_ROWS * w->side * w->side * w->width);
  size_t filters = w->is_kept ? 0 : (size_t)(w->points * WINOGRAD_FILTERS);
  s->bytes = (inputs + products + rows + filters) * sizeof(float);
  s->memory = cache_alloc(s->bytes);
  if (!s->memory) return false;
  s->inputs = w->transformed ? w->transformed : s->memory;
  s->products = s->memory + inputs;
  s->rows = s->products + products;
  s->filters = filters ? s->rows + rows : NULL;
  return true;
}

/* The results of a block, for the channels of a panel, to their rows. */
static void write_squares(const Winograd *w, const Scratch *s, int64_t channel, int rows, int64_t first, int width) {
  const ConvParams *p = w->p;
  int64_t size = p->out[1] * p->out[2];
  FlatTile t = {.out_stride = w->side * w->side * w->width, .rows = rows, .activation = w->epilogue->activation};
  for (int64_t i = 0, n; i < width; i += n) { /* squares of a row */
    int64_t row = (first + i) / w->wide, column = (first + i) % w->wide;
    n = w->wide - column < width - i ? w->wide - column : width - i;
    int64_t y = row * w->side, x = column * w->side, wanted = w->side * n;
    if (wanted > p->out[2] - x) wanted = p->out[2] - x;
    for (int64_t k = 0; k < w->side && y + k < p->out[1]; k++) {
      int64_t at = channel * size + (y + k) * p->out[2] + x;
      t.out = s->rows + k * w->side * w->width;
      w->kernels->finish_rows(&t, w->side * i, wanted, size, w->add ? w->add + at : NULL, w->out + at);
    }
  }
}

/* The products of a panel with input channels [first, end), on top of those before them. Where filters are transformed
 * now, those that come next are fetched meanwhile, a ninth for each of nine points. */
static void multiply(const Winograd *w, const Scratch *s, int64_t panel, int64_t first, int64_t end, FlatTile *t) {
  int64_t inputs = w->p->in_channels, each = w->points / 9;
  const float *filters = w->weight + (panel * inputs + first) * 9 * FLAT_ROWS,
              *next = filters + (end - first) * 9 * FLAT_ROWS;
  t->channels = end - first;
  t->accumulate = first > 0;
  if (!w->is_kept) w->kernels->winograd_filters(w->side, t->channels, filters, s->filters);
  for (int k = 0; k < w->points; k++) {
    t->weights =
        w->is_kept ? w->weight + (panel * w->points + k) * inputs * FLAT_ROWS : s->filters + k * WINOGRAD_FILTERS;
    t->next = !w->is_kept && k % each == 0 && k / each < 9 ? next + k / each * t->channels * FLAT_ROWS : NULL;
    t->input = s->inputs + k * w->line + first * w->width;
    t->out = s->products + k * w->width;
    w->kernels->tile(t);
  }
}

static void run_panel(Winograd *w, const Scratch *s, int64_t panel, int64_t first, int width) {
  assert(panel >= 0 && panel < w->panels);
  static const int64_t here = 0;
  const ConvEpilogue *e = w->epilogue;
  int64_t channel = panel * FLAT_ROWS, inputs = w->p->in_channels, left = w->p->out_channels - channel,
          depth = w->is_kept ? inputs : WINOGRAD_DEPTH;
  FlatTile t = {.channel_stride = w->width,
                .tap_count = 1,
                .taps = &here,
                .out_stride = w->points * w->width,
                .rows = (int)(left < FLAT_ROWS ? left : FLAT_ROWS),
                .width = (int)vectors_of(width, w->kernels) * w->kernels->vector};
  for (int64_t c = 0; c < inputs; c += depth) multiply(w, s, panel, c, c + depth < inputs ? c + depth : inputs, &t);
  bool is_finite = true;
  for (int r = 0; r < t.rows; r++)
    is_finite &= w->kernels->winograd_output(w->side, width, s->products + r * w->points * w->width, w->width,
                                             e->scale ? e->scale[channel + r] : 1, e->shift ? e->shift[channel + r] : 0,
                                             s->rows + r * w->side * w->side * w->width, w->side * w->width);
  if (!is_finite) atomic_store_explicit(&w->is_infinite, true, memory_order_relaxed);
  write_squares(w, s, channel, t.rows, first, width);
}

static void run_blocks(void *argument, int64_t begin, int64_t end) {
  Winograd *w = argument;
  Scratch s;
  if (!scratch_new(w, &s)) {
    atomic_store(&w->failed, true);
    return;
  }
  for (int64_t unit = begin; unit < end && !work_has_to_end(w->work); unit++) {
    int64_t block = unit % w->blocks, panel = unit / w->blocks * w->chunk, panel_end = panel + w->chunk;
    int64_t first = block * w->vectors / w->blocks * w->kernels->vector,
            last = (block + 1) * w->vectors / w->blocks * w->kernels->vector;
    int width = (int)((last < w->squares ? last : w->squares) - first);
    if (!w->transformed)
      for (int64_t c = 0; c < w->p->in_channels; c++) transform_channel(w, c, first, width, s.inputs);
    for (int64_t k = panel; k < panel_end && k < w->panels; k++) run_panel(w, &s, k, first, width);
  }
  cache_free(s.memory, s.bytes);
}

/* Blocks of a tile's width or less, as many for each thread; where there are not so many vectors, threads share output
 * channels. */
static void set_blocks(Winograd *w) {
  int64_t vector = w->kernels->vector, threads = w->work->threads, whole = w->kernels->width / vector,
          most = BLOCK_BYTES / (w->points * w->p->in_channels * vector * (int64_t)sizeof(float));
  w->vectors = vectors_of(w->squares, w->kernels);
  if (most > whole) most = whole;
  if (most < 1) most = 1;
  w->blocks = (w->vectors + most - 1) / most;
  bool is_shared = w->vectors >= 2 * threads;
  if (is_shared) w->blocks = (w->blocks + threads - 1) / threads * threads;
  if (w->blocks > w->vectors) w->blocks = w->vectors;
  w->width = (w->vectors + w->blocks - 1) / w->blocks * vector;
  w->line =
      w->p->in_channels * w->width + vector; /* no multiple of a page: a transform writes all of a line's points */
  w->panels = (w->p->out_channels + FLAT_ROWS - 1) / FLAT_ROWS;
  w->chunks = is_shared ? 1 : threads;
  if (w->chunks > w->panels) w->chunks = w->panels;
  w->chunk = (w->panels + w->chunks - 1) / w->chunks;
  w->chunks = (w->panels + w->chunk - 1) / w->chunk;
}

typedef struct Images {
  Winograd *w;
  const float *input;
  float *out;
  int64_t in, results;              /* of an image */
  _Atomic bool failed, is_infinite; /* of those that were dealt */
} Images;

/* Images [begin, end), each on so many threads. */
static void run_range(Winograd *w, const Images *images, int threads, int64_t begin, int64_t end) {
  bool is_together = threads > 1 && w->blocks == 1 && w->chunks > 1;
  size_t laid = (size_t)(vectors_of(w->p->in_channels * w->channel_floats, w->kernels) * w->kernels->vector),
         bytes = (laid + (is_together ? (size_t)(w->points * w->line) : 0)) * sizeof(float);
  w->laid = cache_alloc(bytes);
  w->transformed = is_together && w->laid ? w->laid + laid : NULL;
  if (!w->laid) atomic_store(&w->failed, true);
  for (int64_t n = begin; n < end && !atomic_load(&w->failed) && !atomic_load(&w->is_infinite); n++) {
    if (work_has_to_end(w->work)) break;
    w->out = images->out + n * images->results;
    w->add = w->epilogue->add ? w->epilogue->add + n * images->results : NULL;
    w->image = images->input + n * images->in;
    parallel_for(threads, w->p->in_channels, 1 + ONE_THREAD_FLOATS / w->channel_floats, lay_channels, w);
    parallel_for(threads, w->blocks * w->chunks, 1, run_blocks, w);
  }
  if (w->laid) cache_free(w->laid, bytes);
}
static void run_dealt(void *argument, int64_t begin, int64_t end) {
  Images *images = argument;
  Winograd own = *images->w;
  run_range(&own, images, 1, begin, end);
  if (atomic_load(&own.failed)) atomic_store(&images->failed, true);
  if (atomic_load(&own.is_infinite)) atomic_store(&images->is_infinite, true);
}

static Status run_images(Winograd *w, const float *input, float *out, bool *out_finite) {
  const ConvParams *p = w->p;
  Images images = {.w = w,
                   .input = input,
                   .out = out,
                   .in = p->in_channels * p->in[1] * p->in[2],
                   .results = p->out_channels * p->out[1] * p->out[2]};
  int threads = w->work->threads;
  if (flat_images_are_dealt(threads, p->batch, work_of(p, w->side, w->kernels) * w->kernels->vector))
    parallel_for(threads, p->batch, 1, run_dealt, &images);
  else
    run_range(w, &images, threads, 0, p->batch);
  *out_finite = !atomic_load(&w->is_infinite) && !atomic_load(&images.is_infinite);
  return atomic_load(&w->failed) || atomic_load(&images.failed) ? status_out_of_memory() : work_check(w->work);
}

Status flat_winograd(const FlatKernels *kernels, const Work *work, const ConvParams *p, int side, bool is_kept,
                     const float *input, const float *weight, const ConvEpilogue *epilogue, float *out,
                     bool *out_finite) {
  assert(side == 2 || side == 4);
  Winograd w = {.work = work,
                .p = p,
                .kernels = kernels,
                .epilogue = epilogue,
                .weight = weight,
                .side = side,
                .is_kept = is_kept};
  w.points = (side + 2) * (side + 2);
  set_planes(&w);
  set_blocks(&w);
  return run_images(&w, input, out, out_finite);
}
