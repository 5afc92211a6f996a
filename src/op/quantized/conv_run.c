/* Quantized convolutions as products that read the input where it lies: an output pixel is a row, whose taps stand at
 * the same offsets from its first one. That wants channels innermost, in whole quads, and pixels around the image: the
 * zero point, which adds nothing. Where the input is otherwise it is laid out so first, some images at a time; so is
 * that of a transposed convolution, which is one of stride 1 over an image with pixels between its pixels. */
#include "op/quantized/conv_run.h"

#include <assert.h>

#include "base/cache.h"
#include "base/parallel.h"
#include "tensor/tensor.h"

typedef struct Conv {
  const ConvParams *p;
  const ConvShape *s;
  const LayerInput *input;
  const LayerOutput *output;
  uint8_t *to; /* where the first output pixel of the images in work goes */
  int64_t pixels;
  int64_t groups, inputs; /* of products, and channels of one: depthwise, channels stand together */

  /* the images as products read them */
  const uint8_t *images;
  int64_t sizes[3], step[3];        /* pixels, and how many of them an output pixel is apart from the next */
  int64_t before[3];                /* pixels around the image, may be negative: the image is cut */
  int64_t group_bytes, pixel_bytes; /* whole quads of a group's channels; of all groups */
  int64_t image_bytes;
  bool is_small;
  uint8_t *outside;  /* a pixel */
  uint8_t *laid_out; /* from the cache of large blocks */
  size_t laid_out_bytes;
  int64_t first_image;

  int64_t *offsets; /* of taps */
  int64_t taps, quads;
  int32_t *from; /* depthwise: what sums begin with */
  int64_t tile_rows, chunks;
  _Atomic bool failed;
} Conv;

/* ---- the input ---- */

static int64_t stride_of(const Conv *v, int d) {
  assert(d >= 0 && d < 3);
  const Tensor *x = v->input->bytes;
  int i = d + x->ndim - 3;
  return i >= 2 ? x->strides[i] : 0;
}

/* Numbers of one to four channels, each from a line of its own, become quads. */
static inline __attribute__((always_inline)) void join_lines(uint8_t *to, int64_t step, const uint8_t *from,
                                                             int64_t channel, int64_t pixel, int64_t n, uint8_t flip,
                                                             const int channels) {
  for (int64_t i = 0; i < n; i++) {
    uint32_t quad = 0;
    for (int c = 0; c < channels; c++) quad |= (uint32_t)(from[c * channel + i * pixel] ^ flip) << 8 * c;
    memcpy(to + i * step, &quad, sizeof quad);
  }
}
#define JOIN(channels)                                                \
  if (pixel == 1 && step == QGEMM_DEPTH)                              \
    join_lines(to, QGEMM_DEPTH, from, channel, 1, n, flip, channels); \
  else                                                                \
    join_lines(to, step, from, channel, pixel, n, flip, channels)
static void join_channels(uint8_t *to, int64_t step, const uint8_t *from, int64_t channel, int64_t pixel, int64_t n,
                          uint8_t flip, int64_t channels) {
  assert(channels >= 1);
  switch (channels) {
    case 1:
      JOIN(1);
      break;
    case 2:
      JOIN(2);
      break;
    case 3:
      JOIN(3);
      break;
    default:
      JOIN(4);
      break;
  }
}

/* `n` pixels of the image, `step` bytes apart in `to`. */
static void copy_pixels(const Conv *v, uint8_t *to, int64_t step, const uint8_t *from, int64_t pixel, int64_t n) {
  int64_t channel = v->input->bytes->strides[1];
  if (channel == 1 && v->group_bytes == v->inputs && !v->input->flip) {
    if (pixel == v->pixel_bytes && step == pixel)
      memcpy(to, from, (size_t)(n * pixel));
    else
      for (int64_t i = 0; i < n; i++) memcpy(to + i * step, from + i * pixel, (size_t)v->pixel_bytes);
    return;
  }
  for (int64_t g = 0; g < v->groups; g++)
    for (int64_t c = 0; c < v->inputs; c += QGEMM_DEPTH)
      join_channels(to + g * v->group_bytes + c, step, from + (g * v->inputs + c) * channel, channel, pixel, n,
                    v->input->flip, v->inputs - c);
}

static void fill_outside(const Conv *v, uint8_t *to, int64_t n) {
  if (v->group_bytes == v->inputs)
    memset(to, v->input->zero, (size_t)(n * v->pixel_bytes));
  else
    for (int64_t i = 0; i < n; i++) memcpy(to + i * v->pixel_bytes, v->outside, (size_t)v->pixel_bytes);
}

/* The input's pixels are so many apart. */
static int64_t spread(const Conv *v, int d) {
  assert(d >= 0 && d < 3);
  return v->p->transpose ? v->s->stride[d] : 1;
}
/* Where a line of what is laid out shows one of the input. */
static bool input_line(const Conv *v, int d, int64_t at, int64_t *out) {
  assert(d >= 0 && d < 3);
  int64_t from = at - v->before[d];
  *out = from / spread(v, d);
  return from >= 0 && from % spread(v, d) == 0 && *out < v->s->in[d];
}

static void lay_out_line(const Conv *v, uint8_t *to, const uint8_t *line) {
  int64_t apart = spread(v, 2), width = v->sizes[2];
  int64_t first = v->before[2] < 0 ? (-v->before[2] + apart - 1) / apart : 0; /* input pixel */
  int64_t begin = v->before[2] + first * apart;
  int64_t n = begin < width ? (width - begin + apart - 1) / apart : 0;
  if (n > v->s->in[2] - first) n = v->s->in[2] - first;
  if (n <= 0 || apart > 1) {
    fill_outside(v, to, width);
  } else {
    fill_outside(v, to, begin);
    fill_outside(v, to + (begin + n) * v->pixel_bytes, width - begin - n);
  }
  if (n > 0)
    copy_pixels(v, to + begin * v->pixel_bytes, apart * v->pixel_bytes, line + first * stride_of(v, 2), stride_of(v, 2),
                n);
}

/* Lines [begin, end) of all images in work. */
static void lay_out_lines(void *argument, int64_t begin, int64_t end) {
  Conv *v = argument;
  const Tensor *x = v->input->bytes;
  for (int64_t i = begin; i < end; i++) {
    int64_t y = i % v->sizes[1], z = i / v->sizes[1] % v->sizes[0], image = i / v->sizes[1] / v->sizes[0], iz, iy;
    uint8_t *to = v->laid_out + i * v->sizes[2] * v->pixel_bytes;
    if (input_line(v, 0, z, &iz) && input_line(v, 1, y, &iy))
      lay_out_line(v, to,
                   (const uint8_t *)tensor_data(x) + (v->first_image + image) * x->strides[0] + iz * stride_of(v, 0) +
                       iy * stride_of(v, 1));
    else
      fill_outside(v, to, v->sizes[2]);
  }
}

/* Whether products can read the input as it is. */
static bool is_laid_out(const Conv *v) {
  const Tensor *x = v->input->bytes;
  int64_t want = v->pixel_bytes;
  if (v->p->transpose || v->input->flip || v->group_bytes != v->inputs) return false;
  if (x->strides[1] != 1 && x->sizes[1] != 1) return false;
  for (int d = 2; d >= 0; d--) {
    if (v->s->padding[d] || (v->s->in[d] != 1 && stride_of(v, d) != want)) return false;
    want *= v->s->in[d];
  }
  return v->s->batch == 1 || x->strides[0] == want;
}

static Status describe_images(Conv *v) {
  const ConvShape *s = v->s;
  bool fits = true;
  v->groups = v->p->depthwise ? 1 : v->p->groups;
  v->inputs = v->p->inputs / v->groups;
  v->group_bytes = (v->inputs + QGEMM_DEPTH - 1) / QGEMM_DEPTH * QGEMM_DEPTH;
  v->pixel_bytes = v->group_bytes * v->groups;
  if (is_laid_out(v)) v->images = tensor_data(v->input->bytes);
  v->image_bytes = v->pixel_bytes;
  for (int d = 0; d < 3; d++) {
    int64_t reach = (s->kernel[d] - 1) * s->dilation[d];
    v->step[d] = v->p->transpose ? 1 : s->stride[d];
    v->before[d] = v->p->transpose ? reach - s->padding[d] : s->padding[d];
    v->sizes[d] = v->images ? s->in[d] : (s->out[d] - 1) * v->step[d] + reach + 1;
    fits = fits && int64_mul(v->image_bytes, v->sizes[d], &v->image_bytes);
  }
  return fits ? OK : status_new(ERROR_RUNTIME, "the input of the quantized convolution is too large");
}

/* ---- taps ---- */

static Status find_taps(Conv *v) {
  const ConvShape *s = v->s;
  /* the taps of a line are neighbors */
  bool joins = v->p->groups == 1 && s->dilation[2] == 1 && !v->p->transpose;
  int64_t across = joins ? 1 : s->kernel[2], at = 0;
  v->taps = s->kernel[0] * s->kernel[1] * across;
  v->quads = v->group_bytes * (joins ? s->kernel[2] : 1) / QGEMM_DEPTH;
  v->offsets = mem_alloc((size_t)v->taps * sizeof *v->offsets);
  if (!v->offsets) return status_out_of_memory();
  for (int64_t z = 0; z < s->kernel[0]; z++)
    for (int64_t y = 0; y < s->kernel[1]; y++)
      for (int64_t x = 0; x < across; x++) {
        int64_t k[3] = {z, y, x};
        for (int d = 0; d < 3 && v->p->transpose; d++) k[d] = s->kernel[d] - 1 - k[d];
        v->offsets[at++] =
            ((k[0] * s->dilation[0] * v->sizes[1] + k[1] * s->dilation[1]) * v->sizes[2] + k[2] * s->dilation[2]) *
            v->pixel_bytes;
      }
  return OK;
}

/* The first tap of each of `count` output pixels, counted over all images in work. */
static void find_pixels(const Conv *v, int64_t first, int64_t count, int64_t offset, const uint8_t **out) {
  const int64_t *sizes = v->s->out;
  int64_t x = first % sizes[2], y = first / sizes[2] % sizes[1], z = first / sizes[2] / sizes[1] % sizes[0],
          image = first / v->pixels, apart = v->step[2] * v->pixel_bytes;
  for (int64_t i = 0; i < count; x = 0) {
    const uint8_t *line = v->images + offset + image * v->image_bytes +
                          (z * v->step[0] * v->sizes[1] + y * v->step[1]) * v->sizes[2] * v->pixel_bytes;
    for (; x < sizes[2] && i < count; x++) out[i++] = line + x * apart;
    if (++y == sizes[1]) y = 0, z++;
    if (z == sizes[0]) z = 0, image++;
  }
}

/* ---- products ---- */

/* Some pixels with some output channels of a group: a column's pixels follow one another, so its weights stay near. */
static void run_tile(const Conv *v, int64_t i, int64_t images, int32_t *scratch) {
  const ConvParams *p = v->p;
  int64_t columns = layer_columns(&p->layer), first = i % v->chunks * v->tile_rows, column = i / v->chunks % columns,
          group = i / v->chunks / columns, count = images * v->pixels - first;
  const uint8_t *bases[LAYER_ROWS];
  if (count > v->tile_rows) count = v->tile_rows;
  find_pixels(v, first, count, group * v->group_bytes, bases);
  QRows rows = {bases, v->offsets, v->taps, v->quads};
  layer_run_tile(&p->layer, v->output, layer_column(&p->layer, (int)group, column, v->is_small), count, &rows,
                 v->to + first * p->outputs, p->outputs, scratch);
}

typedef struct Tiles {
  Conv *conv;
  int64_t images;
} Tiles;

static void run_tiles(void *argument, int64_t begin, int64_t end) {
  Tiles *tiles = argument;
  int32_t *scratch = mem_alloc(LAYER_SCRATCH * sizeof *scratch);
  if (!scratch) atomic_store(&tiles->conv->failed, true);
  for (int64_t i = begin; i < end && scratch; i++) run_tile(tiles->conv, i, tiles->images, scratch);
  mem_free(scratch);
}

static void run_products(Conv *v, int64_t images, int threads) {
  const ConvParams *p = v->p;
  Tiles tiles = {v, images};
  v->tile_rows = layer_tile_rows(images * v->pixels);
  v->chunks = (images * v->pixels + v->tile_rows - 1) / v->tile_rows;
  int64_t outputs = p->outputs / p->groups, most = LAYER_BLOCKS * QGEMM_BLOCK;
  int64_t one = v->tile_rows * (outputs < most ? outputs : most) * (v->taps * v->quads * QGEMM_DEPTH + 1);
  parallel_for(threads, v->chunks * layer_columns(&p->layer) * p->groups, 1 + (1 << 19) / (one + 1), run_tiles, &tiles);
}

/* ---- one input channel a group ---- */

/* Sums begin with what the input's zero point adds to them. */
static Status find_beginnings(Conv *v) {
  const ConvParams *p = v->p;
  v->from = mem_alloc((size_t)(p->outputs + 1) * sizeof *v->from);
  if (!v->from) return status_out_of_memory();
  for (int64_t c = 0; c < p->outputs; c++) {
    uint32_t sum = 0;
    for (int64_t t = 0; t < p->layer.taps; t++) sum += (uint32_t)p->depthwise[t * p->outputs + c];
    v->from[c] = (int32_t)(0 - sum * (uint32_t)v->input->zero);
  }
  return OK;
}

/* The sums are free of the weights' zero points: no row sum is taken off. */
static void run_depthwise(void *argument, int64_t begin, int64_t end) {
  Conv *v = argument;
  const ConvParams *p = v->p;
  const QuantizedLoops *loops = quantized_loops();
  int32_t *sums = mem_alloc((size_t)(p->outputs + 16) * sizeof *sums);
  if (!sums) atomic_store(&v->failed, true);
  for (int64_t at = begin; at < end && sums; at += LAYER_ROWS) {
    const uint8_t *pixels[LAYER_ROWS];
    int64_t count = end - at < LAYER_ROWS ? end - at : LAYER_ROWS;
    find_pixels(v, at, count, 0, pixels);
    for (int64_t i = 0; i < count; i++) {
      loops->depthwise(p->outputs, v->taps, pixels[i], v->offsets, p->depthwise, v->from, sums);
      layer_output_row(v->output, &p->layer, 0, p->outputs, sums, 0, v->to + (at + i) * p->outputs);
    }
  }
  mem_free(sums);
}

/* ---- all of it ---- */

enum { IMAGE_LIMIT = 8 << 20 /* bytes laid out at a time, or one image */ };

static Status run_images(Conv *v, int64_t first, int64_t images, const Exec *exec) {
  assert(images > 0);
  int64_t lines = images * v->sizes[0] * v->sizes[1], line_bytes = v->sizes[2] * v->pixel_bytes;
  v->first_image = first;
  if (v->laid_out) {
    parallel_for(exec->work.threads, lines, 1 + (1 << 19) / (line_bytes + 1), lay_out_lines, v);
    v->images = v->laid_out;
  }
  v->is_small = layer_is_small(v->images, images * v->image_bytes);
  if (v->p->depthwise) {
    int64_t one = (v->taps + 4) * v->p->outputs;
    parallel_for(exec->work.threads, images * v->pixels, 1 + (1 << 17) / (one + 1), run_depthwise, v);
  } else {
    run_products(v, images, exec->work.threads);
  }
  v->to += images * v->pixels * v->p->outputs;
  return atomic_load(&v->failed) ? status_out_of_memory() : work_check(&exec->work);
}

static Status prepare(Conv *v, int64_t *images) {
  TRY(describe_images(v));
  *images = v->s->batch;
  if (!v->images) {
    if (*images > IMAGE_LIMIT / v->image_bytes) *images = IMAGE_LIMIT / v->image_bytes;
    if (*images < 1) *images = 1;
    if (!size_mul((size_t)*images, (size_t)v->image_bytes, &v->laid_out_bytes)) return status_out_of_memory();
    v->laid_out = cache_alloc(v->laid_out_bytes);
    v->outside = mem_calloc(1, (size_t)v->pixel_bytes);
    if (!v->laid_out || !v->outside) return status_out_of_memory();
    for (int64_t i = 0; i < v->pixel_bytes; i++)
      if (i % v->group_bytes < v->inputs) v->outside[i] = (uint8_t)v->input->zero;
  }
  TRY(find_taps(v));
  return v->p->depthwise ? find_beginnings(v) : OK;
}

Status conv_run(const ConvParams *p, const ConvShape *shape, const LayerInput *input, const LayerOutput *output,
                uint8_t *to, const Exec *exec) {
  Conv v = {.p = p, .s = shape, .input = input, .output = output, .to = to};
  int64_t images;
  v.pixels = shape->out[0] * shape->out[1] * shape->out[2];
  Status status = prepare(&v, &images);
  for (int64_t at = 0; !status && at < shape->batch; at += images)
    status = run_images(&v, at, shape->batch - at < images ? shape->batch - at : images, exec);
  cache_free(v.laid_out, v.laid_out_bytes);
  mem_free(v.outside);
  mem_free(v.offsets);
  mem_free(v.from);
  return status;
}
