/* Blocks of positions: their patches are put in order, then come, for a panel of output channels after the other, the
 * products, some hundred inputs at a time, and the results. */
#include "compute/conv/flat_product.h"

#include <assert.h>

#include "base/cache.h"
#include "base/parallel.h"
#include "compute/conv/flat_conv.h"
#include "compute/conv/flat_planes.h"

enum {
  DEPTH = 192,              /* inputs that are summed up at once: their weights, of a panel, stay in L1 */
  PATCH_BYTES = 256 << 10,  /* of a block: they stay in L2 */
  LEAST_TILES = 4,          /* of a block: so often a weight that was fetched is used */
  ONE_THREAD_WORK = 1 << 17 /* products */
};

typedef struct Product {
  const Work *work;
  const ConvParams *p;
  const FlatKernels *kernels;
  const ConvEpilogue *epilogue;
  const float *weight;
  FlatPlanes planes;
  bool is_plain;            /* one tap, no stride, all positions read: patches are runs of the input */
  const float *input, *add; /* of the image at hand */
  const float *gate;        /* of its planes; NULL: nothing. Only where patches are runs */
  float *out;
  int64_t inputs, outputs, depth, positions; /* of a group; depth: products of a result */
  int64_t wide, panels;                      /* channels of a panel */
  int64_t vectors, chunk, chunks;            /* of channels, half panels; those that one thread does */
  int64_t tiles, block, blocks;              /* of positions; those of the largest block */
  _Atomic bool failed;
} Product;

bool flat_product_pays(const ConvParams *p, const FlatKernels *kernels) {
  int64_t outputs = p->out_channels / p->groups, inputs = p->in_channels / p->groups,
          positions = p->out[0] * p->out[1] * p->out[2], taps = p->kernel[0] * p->kernel[1] * p->kernel[2];
  if (p->transposed || outputs < kernels->vector || inputs * taps < 16 || positions <= FLAT_COLUMNS) return false;
  return positions <= CONV_FEW_POSITIONS;
}

void flat_product_layout(const ConvParams *p, const FlatKernels *kernels, WeightLayout *out) {
  flat_weight_layout(p, 2 * kernels->vector, out);
}

/* ---- patches: [tile][depth][position] ---- */

/* Where the inputs of a tile's positions begin in a plane; what goes beyond the last is the last again. */
static void set_places(const Product *w, int64_t first, int64_t *places) {
  const ConvParams *p = w->p;
  for (int i = 0; i < w->kernels->patch; i++) {
    int64_t at = first + i < w->positions ? first + i : w->positions - 1, row = at / p->out[2];
    places[i] = (row / p->out[1] * w->planes.extent[1] + row % p->out[1]) * w->planes.extent[2] + at % p->out[2];
  }
}

static void put_patches(const Product *w, int64_t group, int64_t first, int64_t end, float *to) {
  enum { MOST = 16 };
  int64_t places[MOST], patch = w->kernels->patch, channel = w->planes.channel_stride;
  assert(patch <= MOST);
  const float *input = w->input + group * w->inputs * channel;
  for (int64_t at = first; at < end; at += patch, to += w->depth * patch) {
    int n = (int)(end - at < patch ? end - at : patch);
    if (w->is_plain) {
      w->kernels->put_runs(input + at, channel, w->depth, n, w->gate, to);
    } else {
      set_places(w, at, places);
      for (int64_t c = 0; c < w->inputs; c++)
        w->kernels->put_places(input + c * channel, w->planes.tap_count, w->planes.taps, places,
                               to + c * w->planes.tap_count * patch);
    }
  }
}

/* ---- products ---- */

/* Both vectors of a panel or one of them, at `half`. */
static void run_panel(const Product *w, int64_t group, int64_t panel, int half, int vectors, int64_t first, int64_t end,
                      const float *patches, float *sums) {
  const ConvEpilogue *e = w->epilogue;
  int64_t vector = w->kernels->vector, patch = w->kernels->patch, size = w->positions,
          left = w->outputs - panel * w->wide, channel = group * w->outputs + panel * w->wide;
  const float *weights = w->weight + (group * w->panels + panel) * w->depth * w->wide + half * vector;
  sums += half * vector;
  for (int64_t k = 0; k < w->depth; k += DEPTH) {
    int64_t depth = w->depth - k < DEPTH ? w->depth - k : DEPTH, tile = 0;
    for (int64_t at = first; at < end; at += patch, tile++) {
      const float *next = weights + (k + depth) * w->wide; /* which two tiles fetch */
      int places = (int)(end - at < patch ? end - at : patch);
      w->kernels->product(vectors, places, depth, patches + (tile * w->depth + k) * patch, weights + k * w->wide, k > 0,
                          tile < 2 ? next + tile * depth * vector : weights + k * w->wide,
                          sums + tile * patch * w->wide);
    }
  }
  for (int h = 0; h < vectors; h++) {
    int64_t at = channel + (half + h) * vector, rest = left - (half + h) * vector;
    FlatLanes l = {.planes = (int)(rest < vector ? rest : vector),
                   .scale = e->scale ? e->scale + at : NULL,
                   .shift = e->shift ? e->shift + at : NULL,
                   .activation = e->activation};
    w->kernels->lanes_scatter(&l, end - first, sums + h * vector, w->wide, w->add ? w->add + at * size + first : NULL,
                              w->out + at * size + first, size);
  }
}

/* Blocks have as many tiles, give or take one, and so have neighboring ones together: each thread's. */
static int64_t begin_of_block(const Product *w, int64_t block) {
  int64_t begin = block * w->tiles / w->blocks * w->kernels->patch;
  return begin < w->positions ? begin : w->positions;
}

static void run_units(void *argument, int64_t begin, int64_t end) {
  Product *w = argument;
  int64_t patch = w->kernels->patch, tiles = (w->block + patch - 1) / patch;
  size_t patches = (size_t)(tiles * patch * w->depth + w->kernels->vector),
         sums = (size_t)((tiles * patch + w->kernels->vector) * w->wide), bytes = (patches + sums) * sizeof(float);
  float *scratch = cache_alloc(bytes);
  if (!scratch) {
    atomic_store(&w->failed, true);
    return;
  }
  int64_t there = -1; /* whose patches are in scratch */
  for (int64_t unit = begin; unit < end && !work_has_to_end(w->work); unit++) {
    int64_t chunk = unit % w->chunks, place = unit / w->chunks, group = place / w->blocks, block = place % w->blocks,
            first = begin_of_block(w, block), last = begin_of_block(w, block + 1);
    if (place != there) put_patches(w, group, first, last, scratch);
    there = place;
    int64_t v = chunk * w->chunk, end_v = v + w->chunk < w->vectors ? v + w->chunk : w->vectors;
    for (int count; v < end_v; v += count) {
      count = v % 2 == 0 && v + 1 < end_v ? 2 : 1;
      run_panel(w, group, v / 2, (int)(v % 2), count, first, last, scratch, scratch + patches);
    }
  }
  cache_free(scratch, bytes);
}

/* How much longer the thread that does most takes than if n equal parts could be shared out evenly. */
static double unevenness(int64_t n, int64_t threads) {
  return (double)((n + threads - 1) / threads * threads) / (double)n;
}

/* Blocks of few tiles where inputs are many; where there are few blocks, some channels for each thread, whose weights
 * no other then reads, unless positions can be shared out more evenly. */
static void set_blocks(Product *w) {
  const double WEIGHTS_READ_AGAIN = 1.1;
  int64_t patch = w->kernels->patch, tiles = (w->positions + patch - 1) / patch, threads = w->work->threads,
          groups = w->p->groups, most = PATCH_BYTES / (w->depth * patch * (int64_t)sizeof(float));
  if (most < LEAST_TILES) most = LEAST_TILES;
  w->blocks = (tiles + most - 1) / most;
  bool is_few = w->blocks * groups < 8 * threads && w->blocks * groups % threads,
       by_channels = is_few && unevenness(w->vectors, threads) <= unevenness(tiles, threads) * WEIGHTS_READ_AGAIN;
  if (is_few && !by_channels) w->blocks = (w->blocks + threads - 1) / threads * threads;
  if (w->blocks > tiles) w->blocks = tiles;
  w->tiles = tiles;
  w->block = (tiles + w->blocks - 1) / w->blocks * patch;
  w->chunks = by_channels ? threads : 1;
  if (w->chunks > w->vectors) w->chunks = w->vectors;
  w->chunk = (w->vectors + w->chunks - 1) / w->chunks;
  w->chunks = (w->vectors + w->chunk - 1) / w->chunk;
}

typedef struct Images {
  Product *w;
  const float *input;
  float *out;
  int64_t in, results; /* of an image */
  _Atomic bool failed; /* of those that were dealt */
} Images;

/* Images [begin, end), each on so many threads. */
static void run_range(Product *w, const Images *images, int threads, int64_t begin, int64_t end) {
  int64_t cost = w->block * w->depth * w->chunk * w->kernels->vector;
  float *laid = w->planes.bytes ? cache_alloc(w->planes.bytes) : NULL;
  if (w->planes.bytes && !laid) atomic_store(&w->failed, true);
  for (int64_t n = begin; n < end && !atomic_load(&w->failed) && !work_has_to_end(w->work); n++) {
    const float *input = images->input + n * images->in;
    w->input = laid ? laid : input;
    w->out = images->out + n * images->results;
    w->gate = w->epilogue->gate ? w->epilogue->gate + n * w->p->in_channels : NULL;
    w->add = w->epilogue->add ? w->epilogue->add + n * images->results : NULL;
    if (laid) flat_planes_lay(&w->planes, w->kernels, threads, w->p, input, laid);
    parallel_for(threads, w->p->groups * w->blocks * w->chunks, ONE_THREAD_WORK / cost + 1, run_units, w);
  }
  if (laid) cache_free(laid, w->planes.bytes);
}
static void run_dealt(void *argument, int64_t begin, int64_t end) {
  Images *images = argument;
  Product own = *images->w;
  run_range(&own, images, 1, begin, end);
  if (atomic_load(&own.failed)) atomic_store(&images->failed, true);
}

static Status run_images(Product *w, const float *input, float *out) {
  const ConvParams *p = w->p;
  Images images = {.w = w,
                   .input = input,
                   .out = out,
                   .in = p->in_channels * p->in[0] * p->in[1] * p->in[2],
                   .results = p->out_channels * w->positions};
  double cost = (double)images.results * (double)w->depth;
  int threads = w->work->threads;
  if (flat_images_are_dealt(threads, p->batch, cost))
    parallel_for(threads, p->batch, 1 + (int64_t)(ONE_THREAD_WORK / (cost + 1)), run_dealt, &images);
  else
    run_range(w, &images, threads, 0, p->batch);
  return atomic_load(&w->failed) || atomic_load(&images.failed) ? status_out_of_memory() : work_check(w->work);
}

Status flat_product(const FlatKernels *kernels, const Work *work, const ConvParams *p, const float *input,
                    const float *weight, const ConvEpilogue *epilogue, float *out) {
  ConvParams simple = flat_simplify(p);
  Product w = {.work = work, .p = &simple, .kernels = kernels, .epilogue = epilogue, .weight = weight};
  w.inputs = p->in_channels / p->groups;
  w.outputs = p->out_channels / p->groups;
  w.positions = p->out[0] * p->out[1] * p->out[2];
  w.wide = 2 * kernels->vector;
  w.panels = (w.outputs + w.wide - 1) / w.wide;
  w.vectors = (w.outputs + kernels->vector - 1) / kernels->vector;
  TRY(flat_planes_init(&simple, &w.planes));
  w.depth = w.inputs * w.planes.tap_count;
  w.is_plain = w.planes.tap_count == 1 && !w.planes.bytes && w.planes.positions == w.positions;
  assert(!epilogue->gate || (w.is_plain && p->groups == 1));
  set_blocks(&w);
  Status status = run_images(&w, input, out);
  flat_planes_dispose(&w.planes);
  return status;
}
