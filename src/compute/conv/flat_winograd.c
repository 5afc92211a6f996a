/* Blocks of squares: their inputs are transformed for all channels; then, for 8 output channels after the other, come
 * the products, the sums back, and the rows. */
#include "compute/conv/flat_winograd.h"

#include <assert.h>

#include "base/cache.h"
#include "base/parallel.h"
#include "compute/conv/flat_planes.h"

enum { POINTS = 16, BLOCK_BYTES = 512 << 10 /* of transformed inputs: they stay in L2 */ };

typedef struct Winograd {
  Exec *exec;
  const ConvParams *p;
  const FlatKernels *kernels;
  const ConvEpilogue *epilogue;
  const float *weight;
  FlatPlanes planes; /* by parity; a position is a square of results */
  const float *input, *add;
  float *out;
  int64_t panels, chunk, chunks, width, blocks;
  _Atomic bool failed, is_infinite;
} Winograd;

/* The planes that squares of 4x4 inputs, 2 apart, are read from. */
static ConvParams square_params(const ConvParams *p) {
  ConvParams square = *p;
  for (int d = 1; d < CONV_SPATIAL; d++) {
    square.kernel[d] = 4;
    square.stride[d] = 2;
    square.out[d] = (p->out[d] + 1) / 2;
  }
  return square;
}

bool flat_winograd_pays(const ConvParams *p, const FlatKernels *kernels) {
  enum { INPUT_WORK = 70, OUTPUT_WORK = 60, LEAST = 16 }; /* of the transforms, in products of vectors */
  if (p->transposed || p->groups != 1 || p->kernel[0] != 1 || p->in[0] != 1 || p->padding[0] || p->padding_after[0])
    return false;
  for (int d = 1; d < CONV_SPATIAL; d++)
    if (p->kernel[d] != 3 || p->stride[d] != 1 || p->dilation[d] != 1) return false;
  if (p->in_channels < LEAST || p->out_channels < LEAST) return false;
  double inputs = (double)p->in_channels, outputs = (double)p->out_channels;
  int64_t high = (p->out[1] + 1) / 2, wide = (p->out[2] + 1) / 2, vector = kernels->vector;
  int64_t squares = (high * (wide + 1) - 1 + vector - 1) / vector,
          places = (p->out[1] * (p->out[2] + 2) - 2 + vector - 1) / vector;
  double work = (double)squares * (POINTS * inputs * outputs + INPUT_WORK * inputs + OUTPUT_WORK * outputs);
  return squares > 2 && work * 1.1 < (double)places * 9 * inputs * outputs;
}

/* ---- weights ---- */

void flat_winograd_layout(const ConvParams *p, WeightLayout *out) {
  int64_t panels = (p->out_channels + FLAT_ROWS - 1) / FLAT_ROWS;
  memset(out, 0, sizeof *out);
  out->transform = WEIGHT_WINOGRAD;
  out->ndim = 3;
  out->sizes[0] = p->out_channels;
  out->sizes[1] = p->in_channels;
  out->sizes[2] = 9;
  out->bytes = (uint64_t)(panels * POINTS * p->in_channels * FLAT_ROWS) * sizeof(float);
}

/* G g G' with G = (1 0 0; 1/2 1/2 1/2; 1/2 -1/2 1/2; 0 0 1). */
static void transform_filter(const float *g, float u[POINTS]) {
  float half[4][3];
  for (int j = 0; j < 3; j++) {
    half[0][j] = g[j];
    half[1][j] = (g[j] + g[3 + j] + g[6 + j]) / 2;
    half[2][j] = (g[j] - g[3 + j] + g[6 + j]) / 2;
    half[3][j] = g[6 + j];
  }
  for (int i = 0; i < 4; i++) {
    u[i * 4] = half[i][0];
    u[i * 4 + 1] = (half[i][0] + half[i][1] + half[i][2]) / 2;
    u[i * 4 + 2] = (half[i][0] - half[i][1] + half[i][2]) / 2;
    u[i * 4 + 3] = half[i][2];
  }
}

typedef struct Packing {
  const WeightLayout *layout;
  const float *weight;
  float *to;
} Packing;
static void pack_panels(void *argument, int64_t begin, int64_t end) {
  const Packing *p = argument;
  int64_t outputs = p->layout->sizes[0], inputs = p->layout->sizes[1];
  for (int64_t channel = begin * FLAT_ROWS; channel < end * FLAT_ROWS; channel++)
    for (int64_t i = 0; i < inputs; i++) {
      float u[POINTS] = {0};
      float *to = p->to + (channel / FLAT_ROWS * POINTS * inputs + i) * FLAT_ROWS + channel % FLAT_ROWS;
      if (channel < outputs) transform_filter(p->weight + (channel * inputs + i) * 9, u);
      for (int k = 0; k < POINTS; k++) to[k * inputs * FLAT_ROWS] = u[k];
    }
}
void flat_winograd_pack(int threads, const WeightLayout *layout, const float *weight, float *to) {
  Packing packing = {layout, weight, to};
  int64_t panels = (layout->sizes[0] + FLAT_ROWS - 1) / FLAT_ROWS;
  parallel_for(threads, panels, 8192 / (layout->sizes[1] + 1) / FLAT_ROWS + 1, pack_panels, &packing);
}

/* ---- blocks ---- */

typedef struct Scratch {
  float *inputs;   /* [16][input channel][width] */
  float *products; /* [8][16][width] */
  float *rows;     /* [8][2][2 * width]: results of both rows of the squares */
  size_t bytes;
} Scratch;

static bool scratch_new(const Winograd *w, Scratch *s) {
  size_t inputs = (size_t)(POINTS * w->p->in_channels * w->width), products = (size_t)(FLAT_ROWS * POINTS * w->width),
         rows = (size_t)(FLAT_ROWS * 4 * w->width);
  s->bytes = (inputs + products + rows) * sizeof(float);
  s->inputs = cache_alloc(s->bytes);
  if (!s->inputs) return false;
  s->products = s->inputs + inputs;
  s->rows = s->products + products;
  return true;
}

/* The results of a block, for the channels of a panel, to their rows. */
static void write_squares(const Winograd *w, const Scratch *s, int64_t channel, int rows, int64_t first, int width) {
  const ConvParams *p = w->p;
  int64_t size = p->out[1] * p->out[2], length = w->planes.extent[2];
  FlatTile t = {.out_stride = 4 * w->width,
                .rows = rows,
                .activation = w->epilogue->activation,
                .low = w->epilogue->low,
                .high = w->epilogue->high};
  for (int64_t i = 0; i < width;) {
    int64_t y = (first + i) / length * 2, x = (first + i) % length * 2, n = length - x / 2;
    if (n > width - i) n = width - i;
    int64_t wanted = p->out[2] - x < 2 * n ? p->out[2] - x : 2 * n;
    for (int64_t row = 0; row < 2 && y + row < p->out[1] && wanted > 0; row++) {
      int64_t at = channel * size + (y + row) * p->out[2] + x;
      t.out = s->rows + row * 2 * w->width;
      w->kernels->finish_rows(&t, 2 * i, wanted, size, w->add ? w->add + at : NULL, w->out + at);
    }
    i += n;
  }
}

static void run_panel(Winograd *w, const Scratch *s, int64_t panel, int64_t first, int width) {
  assert(panel >= 0 && panel < w->panels);
  static const int64_t here = 0;
  const ConvEpilogue *e = w->epilogue;
  int64_t channel = panel * FLAT_ROWS, inputs = w->p->in_channels, left = w->p->out_channels - channel;
  FlatTile t = {.channels = inputs,
                .channel_stride = w->width,
                .tap_count = 1,
                .taps = &here,
                .out_stride = POINTS * w->width,
                .rows = (int)(left < FLAT_ROWS ? left : FLAT_ROWS),
                .width = width};
  for (int k = 0; k < POINTS; k++) {
    t.weights = w->weight + (panel * POINTS + k) * inputs * FLAT_ROWS;
    t.input = s->inputs + k * inputs * w->width;
    t.out = s->products + k * w->width;
    w->kernels->tile(&t);
  }
  bool is_finite = true;
  for (int r = 0; r < t.rows; r++)
    is_finite &= w->kernels->winograd_output(width, s->products + r * POINTS * w->width, w->width,
                                             e->scale ? e->scale[channel + r] : 1, e->shift ? e->shift[channel + r] : 0,
                                             s->rows + r * 4 * w->width, 2 * w->width);
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
  for (int64_t unit = begin; unit < end && !exec_is_over(w->exec); unit++) {
    int64_t first = unit % w->blocks * w->width, panel = unit / w->blocks * w->chunk, panel_end = panel + w->chunk;
    int width = (int)(w->planes.positions - first < w->width ? w->planes.positions - first : w->width);
    for (int64_t c = 0; c < w->p->in_channels; c++)
      w->kernels->winograd_input(width, w->input + c * w->planes.channel_stride + first, w->planes.taps,
                                 s.inputs + c * w->width, w->p->in_channels * w->width);
    for (int64_t k = panel; k < panel_end && k < w->panels; k++) run_panel(w, &s, k, first, width);
  }
  cache_free(s.inputs, s.bytes);
}

static void set_blocks(Winograd *w) {
  int64_t vector = w->kernels->vector, vectors = (w->planes.positions + vector - 1) / vector,
          most = BLOCK_BYTES / (POINTS * w->p->in_channels * vector * (int64_t)sizeof(float)),
          whole = w->kernels->width / vector;
  if (most > whole) most = whole;
  if (most < 1) most = 1;
  w->blocks = (vectors + most - 1) / most;
  w->width = (vectors + w->blocks - 1) / w->blocks * vector;
  w->blocks = (w->planes.positions + w->width - 1) / w->width;
  w->panels = (w->p->out_channels + FLAT_ROWS - 1) / FLAT_ROWS;
  w->chunks = w->blocks % w->exec->threads == 0 || w->blocks >= 8 * w->exec->threads ? 1 : w->exec->threads;
  if (w->chunks > w->panels) w->chunks = w->panels;
  w->chunk = (w->panels + w->chunks - 1) / w->chunks;
  w->chunks = (w->panels + w->chunk - 1) / w->chunk;
}

static Status run_images(Winograd *w, const ConvParams *square, const float *input, float *out, bool *out_finite) {
  const ConvParams *p = w->p;
  int threads = w->exec->threads;
  int64_t in = p->in_channels * p->in[1] * p->in[2], results = p->out_channels * p->out[1] * p->out[2];
  float *laid = cache_alloc(w->planes.bytes);
  if (!laid) return status_out_of_memory();
  Status status = OK;
  w->input = laid;
  for (int64_t n = 0; n < p->batch && !status && !atomic_load(&w->is_infinite); n++) {
    w->out = out + n * results;
    w->add = w->epilogue->add ? w->epilogue->add + n * results : NULL;
    flat_planes_lay(&w->planes, w->kernels, threads, square, input + n * in, laid);
    parallel_for(threads, w->blocks * w->chunks, 1, run_blocks, w);
    status = atomic_load(&w->failed) ? status_out_of_memory() : exec_attend(w->exec);
  }
  cache_free(laid, w->planes.bytes);
  *out_finite = !atomic_load(&w->is_infinite);
  return status;
}

Status flat_winograd(const FlatKernels *kernels, Exec *exec, const ConvParams *p, const float *input,
                     const float *weight, const ConvEpilogue *epilogue, float *out, bool *out_finite) {
  ConvParams square = square_params(p);
  Winograd w = {.exec = exec, .p = p, .kernels = kernels, .epilogue = epilogue, .weight = weight};
  TRY(flat_planes_init(&square, &w.planes));
  set_blocks(&w);
  Status status = run_images(&w, &square, input, out, out_finite);
  flat_planes_dispose(&w.planes);
  return status;
}
