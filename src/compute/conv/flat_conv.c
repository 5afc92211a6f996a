/* Sharing out: which positions and channels make a tile, how many input channels are summed up at once, what each
 * thread does. */
#include "compute/conv/flat_conv.h"

#include <assert.h>

#include "base/cache.h"
#include "base/parallel.h"
#include "base/processor.h"
#include "compute/conv/flat_few.h"
#include "compute/conv/flat_planes.h"
#include "compute/conv/flat_tile.h"

enum {
  BLOCK_TAPS = 256,            /* weights of an output channel that are used at once: the inputs they meet stay in L1 */
  INPUT_BYTES = 192 << 10,     /* that a panel's tiles read, one panel after the other: they stay in L2 */
  BLOCK_BYTES = 128 << 10,     /* sums that wait for more input channels: they stay in L2 */
  DEPTH_BYTES = 600 << 10,     /* of all inputs of all tiles; below, panels take all of them, one after the other */
  ONE_THREAD_WORK = 1 << 17,   /* products; below, sharing costs more than it saves */
  ONE_THREAD_COLUMNS = 1 << 14 /* those of few positions, which take as long as weights come */
};

typedef struct FlatConv {
  const Work *work;
  const ConvParams *p;
  const FlatKernels *kernels;
  const ConvEpilogue *epilogue;
  const float *weight;
  FlatPlanes planes;
  FlatPatches patches; /* count 0: planes are read */
  /* of the image at hand */
  const float *input;
  const float *gate; /* of its planes; NULL: nothing. Only of one group, and where runs are of the input as it lies */
  const float *add;
  float *out;
  /* of a group */
  int64_t inputs, outputs, panels, panel_floats;
  int64_t chunk, chunks;    /* panels that are done one after the other on the same inputs */
  int64_t width;            /* positions of a tile */
  int64_t tiles, row_tiles; /* row_tiles: tiles of a row where they end with it, else 0 */
  int64_t block;            /* input channels at once */
  int64_t beside;           /* panels whose sums wait for more input channels together: all of a chunk, or one */
  bool is_gapped;           /* sums go to scratch first: there are others between the rows */
  _Atomic bool failed;
} FlatConv;

const FlatKernels *flat_kernels(void) {
  return PROCESSOR_WIDE_FORM(flat_kernels);
}

bool flat_conv_takes(const ConvParams *p) {
  ConvParams simple = flat_simplify(p);
  bool is_empty = p->in_channels == 0 || p->kernel[0] == 0 || p->kernel[1] == 0 || p->kernel[2] == 0;
  return !p->transposed && !is_empty && flat_planes_pay(&simple);
}

void flat_weight_layout(const ConvParams *p, int64_t rows, WeightLayout *out) {
  int d = 0;
  int64_t taps = p->kernel[0] * p->kernel[1] * p->kernel[2], inputs = p->in_channels / p->groups,
          outputs = p->out_channels / p->groups, panels = (outputs + rows - 1) / rows;
  memset(out, 0, sizeof *out);
  if (p->groups > 1) {
    out->sizes[d] = p->groups;
    out->strides[d++] = panels * inputs * taps * rows;
  }
  out->channels = d;
  out->sizes[d] = outputs;
  out->strides[d++] = inputs * taps * rows;
  out->sizes[d] = inputs;
  out->strides[d++] = taps * rows;
  out->sizes[d] = taps;
  out->strides[d++] = rows;
  out->ndim = d;
  out->block_count = 1;
  out->block_dims[0] = out->channels;
  out->blocks[0] = rows;
  out->bytes = (uint64_t)(p->groups * panels * inputs * taps * rows) * sizeof(float);
}

void flat_conv_layout(const ConvParams *p, WeightLayout *out) {
  flat_weight_layout(p, FLAT_ROWS, out);
}

/* ---- tiles ---- */

typedef struct Place {
  int64_t input; /* of the first position, in a plane */
  int64_t out;   /* the same in a plane of results; of a gapped tile unused */
  int width;
} Place;

static Place place_of(const FlatConv *c, int64_t tile) {
  assert(tile >= 0 && tile < c->tiles);
  const ConvParams *p = c->p;
  int64_t width = c->width;
  if (!c->row_tiles) {
    int64_t first = tile * width, left = c->planes.positions - first;
    return (Place){first, first, (int)(left < width ? left : width)};
  }
  int64_t row = tile / c->row_tiles, first = tile % c->row_tiles * width, left = p->out[2] - first;
  int64_t input = (row / p->out[1] * c->planes.extent[1] + row % p->out[1]) * c->planes.extent[2] + first;
  return (Place){input, row * p->out[2] + first, (int)(left < width ? left : width)};
}

/* Whether tiles that end with their rows waste no more than those that go on over what lies between them. */
static bool prefers_rows(const FlatConv *c, int64_t rows) {
  int64_t vector = c->kernels->vector, length = c->p->out[2];
  int64_t in_rows = rows * ((length + vector - 1) / vector), flat = (c->planes.positions + vector - 1) / vector;
  return length <= vector ? in_rows * 9 < flat * 8 : in_rows * 32 <= flat * 33; /* tiles of one vector are slower */
}

/* As many tiles as n positions need, of equal width. */
static int64_t divide(FlatConv *c, int64_t n) {
  int64_t vector = c->kernels->vector, vectors = (n + vector - 1) / vector, most = c->kernels->width / vector;
  if (n > vector && n % vector && n % vector <= FLAT_COLUMNS) vectors--; /* what is left is summed along the channels */
  int64_t tiles = (vectors + most - 1) / most;
  c->width = (vectors + tiles - 1) / tiles * vector;
  return (n + c->width - 1) / c->width;
}

static void set_tiles(FlatConv *c) {
  const ConvParams *p = c->p;
  int64_t rows = p->out[0] * p->out[1];
  bool is_dense = c->planes.positions == rows * p->out[2];
  if (!is_dense && prefers_rows(c, rows)) {
    c->row_tiles = divide(c, p->out[2]);
    c->tiles = rows * c->row_tiles;
  } else {
    c->tiles = divide(c, c->planes.positions);
    c->is_gapped = !is_dense;
  }
}

/* Few tiles are shared out by output channels, so that no thread reads all weights. */
static void set_chunks(FlatConv *c) {
  int threads = c->work->threads;
  c->chunks = c->tiles * c->p->groups >= 8 * threads ? 1 : threads;
  if (c->chunks > c->panels) c->chunks = c->panels;
  c->chunk = (c->panels + c->chunks - 1) / c->chunks;
  c->chunks = (c->panels + c->chunk - 1) / c->chunk;
}

static FlatTile tile_of(const FlatConv *c, int64_t group, int64_t panel) {
  assert(panel >= 0 && panel < c->panels);
  const ConvEpilogue *e = c->epilogue;
  int64_t first = panel * FLAT_ROWS, channel = group * c->outputs + first;
  return (FlatTile){
      .channel_stride = c->planes.channel_stride,
      .tap_count = c->planes.tap_count,
      .taps = c->planes.taps,
      .rows = (int)(c->outputs - first < FLAT_ROWS ? c->outputs - first : FLAT_ROWS),
      .scale = e->scale ? e->scale + channel : NULL,
      .shift = e->shift ? e->shift + channel : NULL,
      .activation = e->activation,
  };
}

/* Copies the rows out of the sums of a gapped tile, finishing them. */
static void write_rows(const FlatConv *c, int64_t channel, const FlatTile *t, int64_t tile) {
  const ConvParams *p = c->p;
  int64_t size = p->out[0] * p->out[1] * p->out[2], row_length = c->planes.extent[2];
  Place place = place_of(c, tile);
  int64_t row = place.input / row_length, x = place.input % row_length;
  for (int i = 0; i < place.width; row++, x = 0) {
    int64_t n = row_length - x < place.width - i ? row_length - x : place.width - i;
    int64_t wanted = p->out[2] - x < n ? p->out[2] - x : n;
    int64_t y = row % c->planes.extent[1], z = row / c->planes.extent[1];
    if (wanted > 0 && y < p->out[1]) {
      int64_t at = channel * size + (z * p->out[1] + y) * p->out[2] + x;
      c->kernels->finish_rows(t, i, wanted, size, c->add ? c->add + at : NULL, c->out + at);
    }
    i += (int)n;
  }
}

/* Where tiles read: the first channel, from position `first` of its plane on, and how far channels are apart. */
typedef struct Source {
  const float *input;
  int64_t first, channel_stride;
} Source;

/* The inputs of tiles [first, end) as they lie or, times the gate, in room for them. */
static Source source_of(const FlatConv *c, int64_t group, int64_t first, int64_t end, float *room) {
  const float *input = c->input + group * c->inputs * c->planes.channel_stride;
  if (!c->gate) return (Source){input, 0, c->planes.channel_stride};
  assert(c->planes.tap_count == 1 && !c->is_gapped && !c->row_tiles && c->p->groups == 1);
  Place last = place_of(c, end - 1);
  int64_t at = place_of(c, first).input, n = last.input + last.width - at;
  c->kernels->lay_gated(input + at, c->planes.channel_stride, c->inputs, n, c->gate, room);
  return (Source){room, at, n};
}

/* Tiles [first, end) of the panels [panel, panel_end), whose sums wait together. A panel's weights stay in L1 for all
 * tiles, and results are written in long runs. */
static void run_tiles(const FlatConv *c, int64_t group, int64_t panel, int64_t panel_end, int64_t first, int64_t end,
                      Source source, float *scratch) {
  int64_t size = c->p->out[0] * c->p->out[1] * c->p->out[2];
  for (int64_t channel = 0; channel < c->inputs; channel += c->block) {
    int64_t channels = c->inputs - channel < c->block ? c->inputs - channel : c->block;
    for (int64_t k = panel; k < panel_end; k++) {
      FlatTile t = tile_of(c, group, k);
      int64_t out_channel = group * c->outputs + k * FLAT_ROWS;
      t.channel_stride = source.channel_stride;
      t.weights = c->weight + (group * c->panels + k) * c->panel_floats + channel * t.tap_count * FLAT_ROWS;
      t.channels = channels;
      t.accumulate = channel > 0;
      t.last = channel + channels == c->inputs;
      t.is_raw = c->is_gapped;
      t.out_stride = c->is_gapped ? c->width : size;
      for (int64_t tile = first; tile < end && !work_has_to_end(c->work); tile++) {
        Place place = place_of(c, tile);
        int64_t waiting = channels == c->inputs ? 0 : (tile - first) * c->beside + k - panel;
        t.input = source.input + channel * source.channel_stride + place.input - source.first;
        t.width = place.width;
        t.out = c->is_gapped ? scratch + waiting * FLAT_ROWS * c->width : c->out + out_channel * size + place.out;
        t.add = c->add ? c->add + out_channel * size + place.out : NULL;
        c->kernels->tile(&t);
        if (t.last && c->is_gapped) write_rows(c, out_channel, &t, tile);
      }
    }
  }
}

static void run_units(void *argument, int64_t begin, int64_t end) {
  FlatConv *c = argument;
  size_t tile_bytes = (size_t)(FLAT_ROWS * c->width) * sizeof(float);
  int64_t inputs = c->block < c->inputs ? c->block : c->inputs, together = INPUT_BYTES / (inputs * c->width * 4);
  if (c->beside == 1) together = c->tiles;
  if (c->block < c->inputs && together > BLOCK_BYTES / (c->beside * (int64_t)tile_bytes))
    together = BLOCK_BYTES / (c->beside * (int64_t)tile_bytes);
  if (c->gate && together > INPUT_BYTES / (c->inputs * c->width * 4))
    together = INPUT_BYTES / (c->inputs * c->width * 4);
  if (together < 1) together = 1;
  /* sums of gapped tiles or, as gated ones are not gapped, their inputs */
  size_t bytes = c->gate ? (size_t)(c->inputs * together * c->width) * sizeof(float)
                         : tile_bytes * (size_t)(c->block < c->inputs ? together * c->beside : 1);
  float *scratch = c->is_gapped || c->gate ? cache_alloc(bytes) : NULL;
  if ((c->is_gapped || c->gate) && !scratch) {
    atomic_store(&c->failed, true);
    return;
  }
  while (begin < end && !work_has_to_end(c->work)) {
    int64_t tile = begin % c->tiles, chunk = begin / c->tiles % c->chunks, group = begin / c->tiles / c->chunks;
    int64_t n = c->tiles - tile < end - begin ? c->tiles - tile : end - begin;
    if (n > together) n = together;
    int64_t panel = chunk * c->chunk, panel_end = panel + c->chunk < c->panels ? panel + c->chunk : c->panels;
    Source source = source_of(c, group, tile, tile + n, scratch);
    for (int64_t k = panel; k < panel_end; k += c->beside)
      run_tiles(c, group, k, k + c->beside < panel_end ? k + c->beside : panel_end, tile, tile + n, source, scratch);
    begin += n;
  }
  if (scratch) cache_free(scratch, bytes);
}

/* ---- few positions ---- */

/* Units are panels, a group's after the other's. */
static void run_few(void *argument, int64_t begin, int64_t end) {
  FlatConv *c = argument;
  const ConvEpilogue *e = c->epilogue;
  int64_t size = c->patches.count;
  while (begin < end && !work_has_to_end(c->work)) {
    int64_t group = begin / c->panels, panel = begin % c->panels, first = panel * FLAT_ROWS,
            n = c->panels - panel < end - begin ? c->panels - panel : end - begin,
            rows = c->outputs - first < n * FLAT_ROWS ? c->outputs - first : n * FLAT_ROWS,
            channel = group * c->outputs + first;
    c->kernels->few(&(FlatFew){.weights = c->weight + begin * c->panel_floats,
                               .patches = c->input + group * c->patches.group_stride,
                               .depth = c->patches.depth,
                               .stride = c->patches.stride,
                               .rows = rows,
                               .count = (int)size,
                               .out = c->out + channel * size,
                               .scale = e->scale ? e->scale + channel : NULL,
                               .shift = e->shift ? e->shift + channel : NULL,
                               .add = c->add ? c->add + channel * size : NULL,
                               .activation = e->activation});
    begin += n;
  }
}

/* ---- images ---- */

static void run_image(FlatConv *c, int threads) {
  const ConvParams *p = c->p;
  if (c->patches.count) {
    int64_t cost = c->patches.depth * FLAT_ROWS * c->patches.count;
    parallel_for(threads, p->groups * c->panels, ONE_THREAD_COLUMNS / cost + 1, run_few, c);
    return;
  }
  int64_t each = c->inputs * c->planes.tap_count * FLAT_ROWS;
  parallel_for(threads, p->groups * c->chunks * c->tiles, ONE_THREAD_WORK / (each * c->chunk * c->width) + 1, run_units,
               c);
}

/* Where a convolution reads an image: laid out or put in order, in `room`, or as it lies. */
static const float *laid_image(const FlatConv *c, int threads, const float *image, float *room) {
  if (!room) return image;
  if (c->patches.count)
    flat_patches_put(&c->patches, threads, c->p, image, room);
  else
    flat_planes_lay(&c->planes, c->kernels, threads, c->p, image, room);
  return room;
}

typedef struct Images {
  FlatConv *c;
  const float *input;
  float *out;
  int64_t in, results; /* of an image */
  _Atomic bool failed; /* of those that were dealt */
} Images;

/* Images [begin, end), each on so many threads. */
static void run_range(FlatConv *c, const Images *images, int threads, int64_t begin, int64_t end) {
  size_t bytes = c->patches.count ? c->patches.bytes : c->planes.bytes;
  float *laid = bytes ? cache_alloc(bytes) : NULL;
  if (bytes && !laid) atomic_store(&c->failed, true);
  for (int64_t n = begin; n < end && !atomic_load(&c->failed) && !work_has_to_end(c->work); n++) {
    c->input = laid_image(c, threads, images->input + n * images->in, laid);
    c->out = images->out + n * images->results;
    c->gate = c->epilogue->gate ? c->epilogue->gate + n * c->p->in_channels : NULL;
    c->add = c->epilogue->add ? c->epilogue->add + n * images->results : NULL;
    run_image(c, threads);
  }
  if (laid) cache_free(laid, bytes);
}
static void run_dealt(void *argument, int64_t begin, int64_t end) {
  Images *images = argument;
  FlatConv own = *images->c;
  run_range(&own, images, 1, begin, end);
  if (atomic_load(&own.failed)) atomic_store(&images->failed, true);
}

static Status run_images(FlatConv *c, const float *input, float *out) {
  const ConvParams *p = c->p;
  Images images = {.c = c,
                   .input = input,
                   .out = out,
                   .in = p->in_channels * p->in[0] * p->in[1] * p->in[2],
                   .results = p->out_channels * p->out[0] * p->out[1] * p->out[2]};
  double cost = (double)images.results * (double)c->panel_floats / FLAT_ROWS;
  int threads = c->work->threads;
  if (flat_images_are_dealt(threads, p->batch, cost))
    parallel_for(threads, p->batch, 1 + (int64_t)(ONE_THREAD_WORK / (cost + 1)), run_dealt, &images);
  else
    run_range(c, &images, cost < ONE_THREAD_COLUMNS ? 1 : threads, 0, p->batch);
  return atomic_load(&c->failed) || atomic_load(&images.failed) ? status_out_of_memory() : work_check(c->work);
}

Status flat_conv_by(const FlatKernels *kernels, const Work *work, const ConvParams *p, const float *input,
                    const float *weight, const ConvEpilogue *epilogue, float *out) {
  ConvParams simple = flat_simplify(p);
  FlatConv c = {.work = work, .p = &simple, .kernels = kernels, .epilogue = epilogue, .weight = weight};
  c.inputs = p->in_channels / p->groups;
  c.outputs = p->out_channels / p->groups;
  c.panels = (c.outputs + FLAT_ROWS - 1) / FLAT_ROWS;
  c.panel_floats = c.inputs * p->kernel[0] * p->kernel[1] * p->kernel[2] * FLAT_ROWS;
  if (flat_few_takes(&simple)) {
    assert(!epilogue->gate);
    c.patches = flat_patches(&simple);
    return run_images(&c, input, out);
  }
  TRY(flat_planes_init(&simple, &c.planes));
  c.block = BLOCK_TAPS / c.planes.tap_count;
  if (c.block < 1) c.block = 1;
  set_tiles(&c);
  set_chunks(&c);
  c.beside = c.inputs * c.planes.channel_stride * (int64_t)sizeof(float) <= DEPTH_BYTES ? 1 : c.chunk;
  Status status = run_images(&c, input, out);
  flat_planes_dispose(&c.planes);
  return status;
}

Status flat_conv(const Work *work, const ConvParams *p, const float *input, const float *weight,
                 const ConvEpilogue *epilogue, float *out) {
  return flat_conv_by(flat_kernels(), work, p, input, weight, epilogue, out);
}
