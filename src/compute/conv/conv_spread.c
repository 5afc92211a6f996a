/* A transposed convolution of float32, which the input gradient of a plain one is too, as plain convolutions: one for
 * each remainder of the results' positions by the strides. It reads what is `narrow` with the kernel's taps that meet
 * that remainder, in reverse, at a stride of 1. */
#include <assert.h>

#include "base/cache.h"
#include "base/parallel.h"
#include "compute/conv/conv_backward.h"
#include "compute/conv/flat_conv.h"
#include "compute/conv/flat_product.h"
#include "compute/conv/flat_winograd.h"
#include "compute/gemm/gemm.h"

/* The taps that meet a remainder in one dimension: last, last - step, ..., `count` of them. */
typedef struct Taps {
  int64_t last, step, count;
} Taps;

typedef struct Part {
  ConvParams p; /* the plain convolution that gives this part of the results */
  int64_t remainder[CONV_SPATIAL];
  Taps taps[CONV_SPATIAL];
  bool is_empty, is_zero; /* no results; no tap meets them */
  bool is_cut;            /* its results begin within what is narrow */
} Part;

static int64_t greatest_divisor(int64_t a, int64_t b) {
  while (b) {
    int64_t rest = a % b;
    a = b;
    b = rest;
  }
  return a;
}

static void set_dimension(const ConvParams *p, int d, int64_t remainder, Part *part) {
  assert(remainder >= 0 && remainder < p->stride[d]);
  ConvParams *q = &part->p;
  Taps *taps = &part->taps[d];
  int64_t stride = p->stride[d], common = greatest_divisor(stride, p->dilation[d]);
  int64_t wide = p->transposed ? p->out[d] : p->in[d];
  part->remainder[d] = remainder;
  q->in[d] = p->transposed ? p->in[d] : p->out[d];
  q->out[d] = wide > remainder ? (wide - remainder + stride - 1) / stride : 0;
  q->stride[d] = 1;
  q->dilation[d] = p->dilation[d] / common;
  taps->step = stride / common;
  taps->count = 0;
  for (int64_t k = 0; k < p->kernel[d]; k++)
    if ((remainder + p->padding[d] - k * p->dilation[d]) % stride == 0) taps->last = k, taps->count++;
  q->kernel[d] = taps->count;
  part->is_empty |= q->out[d] == 0;
  part->is_zero |= taps->count == 0;
  if (!taps->count) return;
  int64_t first = (remainder + p->padding[d] - taps->last * p->dilation[d]) / stride; /* that the first result reads */
  int64_t after = q->out[d] + q->dilation[d] * (taps->count - 1) - q->in[d] + first;
  part->is_cut |= first > 0;
  q->padding[d] = -first;
  q->padding_after[d] = after > 0 ? after : 0;
}

static Part part_of(const ConvParams *p, int64_t at) {
  Part part = {.p = {.spatial = p->spatial,
                     .groups = p->groups,
                     .batch = p->batch,
                     .in_channels = p->transposed ? p->in_channels : p->out_channels,
                     .out_channels = p->transposed ? p->out_channels : p->in_channels}};
  for (int d = CONV_SPATIAL - 1; d >= 0; d--) {
    set_dimension(p, d, at % p->stride[d], &part);
    at /= p->stride[d];
  }
  return part;
}

bool conv_spread_takes(const ConvParams *p) {
  enum { MOST_PARTS = 64 };
  int64_t parts = 1;
  for (int d = 0; d < CONV_SPATIAL; d++) {
    if (p->stride[d] > MOST_PARTS || p->kernel[d] == 0) return false;
    parts *= p->stride[d];
  }
  if (parts > MOST_PARTS || p->in_channels == 0 || p->out_channels == 0) return false;
  for (int64_t i = 0; i < parts; i++) {
    Part part = part_of(p, i);
    if (part.is_empty || part.is_zero) continue;
    if (part.is_cut || !flat_conv_takes(&part.p)) return false;
  }
  return true;
}

/* ---- the plain convolutions, by weights of their own ---- */

/* Where a tap of an input and an output channel of a group lies in the weight, in floats. */
typedef struct Strides {
  int64_t group, input, output;
} Strides;

static int64_t panel_count(const ConvParams *q, int64_t rows) {
  return (q->out_channels / q->groups + rows - 1) / rows;
}
static size_t weight_bytes(const ConvParams *q, int64_t rows) {
  int64_t taps = q->kernel[0] * q->kernel[1] * q->kernel[2];
  return (size_t)(panel_count(q, rows) * rows * q->in_channels * taps) * sizeof(float);
}

/* The layout of flat_weight_layout. `kernel` is the weight's. */
static void put_weights(const Part *part, const int64_t *kernel, Strides strides, int64_t rows, const float *weight,
                        float *to) {
  const ConvParams *q = &part->p;
  const Taps *t = part->taps;
  int64_t outputs = q->out_channels / q->groups, inputs = q->in_channels / q->groups, panels = panel_count(q, rows);
  for (int64_t group = 0; group < q->groups; group++)
    for (int64_t panel = 0; panel < panels; panel++)
      for (int64_t input = 0; input < inputs; input++) {
        const float *from = weight + group * strides.group + input * strides.input + panel * rows * strides.output;
        int64_t count = outputs - panel * rows < rows ? outputs - panel * rows : rows;
        for (int64_t j0 = 0; j0 < t[0].count; j0++)
          for (int64_t j1 = 0; j1 < t[1].count; j1++)
            for (int64_t j2 = 0; j2 < t[2].count; j2++, to += rows) {
              int64_t k0 = t[0].last - j0 * t[0].step, k1 = t[1].last - j1 * t[1].step, k2 = t[2].last - j2 * t[2].step;
              const float *tap = from + (k0 * kernel[1] + k1) * kernel[2] + k2;
              for (int64_t c = 0; c < count; c++) to[c] = tap[c * strides.output];
              for (int64_t c = count; c < rows; c++) to[c] = 0;
            }
      }
}

static const ConvEpilogue nothing = {.activation = {ACTIVATION_NONE}};

/* *done false: some result is not finite. */
static Status run_winograd(const Work *work, const Part *part, int side, const int64_t *kernel, Strides strides,
                           const float *from, const float *weight, float *out, bool *done) {
  const ConvParams *q = &part->p;
  WeightLayout layout;
  flat_winograd_layout(q, side, true, &layout);
  Tensor *plain;
  TRY(tensor_empty(DTYPE_FLOAT32, 3, layout.sizes, &plain));
  float *packed = cache_alloc(layout.bytes);
  Status status = packed ? OK : status_out_of_memory();
  if (!status) {
    put_weights(part, kernel, strides, 1, weight, tensor_data(plain));
    flat_winograd_pack(work->threads, &layout, plain, packed);
    status = flat_winograd(flat_kernels(), work, q, side, true, from, packed, &nothing, out, done);
    cache_free(packed, layout.bytes);
  }
  tensor_release(plain);
  return status;
}

/* Output channels of a panel of the weight. */
static int64_t panel_rows(const ConvParams *q) {
  return conv_is_depthwise(q) ? 1 : flat_product_pays(q, flat_kernels()) ? 2 * flat_kernels()->vector : FLAT_ROWS;
}

static Status run_packed(const Work *work, const ConvParams *q, const float *from, const float *packed, float *out) {
  if (conv_is_depthwise(q)) return conv_depthwise(work, q, from, packed, &nothing, out);
  if (flat_product_pays(q, flat_kernels())) return flat_product(flat_kernels(), work, q, from, packed, &nothing, out);
  return flat_conv(work, q, from, packed, &nothing, out);
}

static Status run_part(const Work *work, const Part *part, const int64_t *kernel, Strides strides, const float *from,
                       const float *weight, float *out) {
  const ConvParams *q = &part->p;
  int side = flat_winograd_side(q, flat_kernels());
  if (side) {
    bool done = false;
    TRY(run_winograd(work, part, side, kernel, strides, from, weight, out, &done));
    if (done) return OK;
  }
  size_t bytes = weight_bytes(q, panel_rows(q));
  float *packed = cache_alloc(bytes);
  if (!packed) return status_out_of_memory();
  put_weights(part, kernel, strides, panel_rows(q), weight, packed);
  Status status = run_packed(work, q, from, packed, out);
  cache_free(packed, bytes);
  return status;
}

/* The weight is [narrow channel][wide channel of the group][tap]. */
static Strides spread_strides(const ConvParams *p, const Part *part) {
  int64_t taps = p->kernel[0] * p->kernel[1] * p->kernel[2], wide = part->p.out_channels / p->groups;
  return (Strides){part->p.in_channels / p->groups * wide * taps, wide * taps, taps};
}

/* A weight, and the part's packed, or NULL. */
typedef struct PartWeight {
  const float *plain, *packed;
} PartWeight;

static Status run_spread(const Work *work, const ConvParams *p, const Part *part, const float *narrow,
                         PartWeight weight, float *out) {
  if (weight.packed) return run_packed(work, &part->p, narrow, weight.packed, out);
  return run_part(work, part, p->kernel, spread_strides(p, part), narrow, weight.plain, out);
}

bool conv_gather_takes(const ConvParams *p) {
  ConvParams plain = conv_plain_of(p);
  return flat_conv_takes(&plain) && plain.out_channels > 0;
}

Status conv_gather(const Work *work, const ConvParams *p, const float *wide, const float *weight, float *narrow) {
  Part part = {.p = conv_plain_of(p)};
  for (int d = 0; d < CONV_SPATIAL; d++) part.taps[d] = (Taps){.last = 0, .step = -1, .count = p->kernel[d]};
  int64_t taps = p->kernel[0] * p->kernel[1] * p->kernel[2], inputs = part.p.in_channels / p->groups;
  Strides strides = {part.p.out_channels / p->groups * inputs * taps, taps, inputs * taps};
  return run_part(work, &part, p->kernel, strides, wide, weight, narrow);
}

/* ---- results that are a stride apart ---- */

typedef struct Deal {
  const ConvParams *p;
  const Part *part;
  const float *from; /* NULL: zeros */
  float *wide;
} Deal;

static void deal_planes(void *argument, int64_t begin, int64_t end) {
  const Deal *deal = argument;
  const ConvParams *p = deal->p, *q = &deal->part->p;
  const int64_t *size = p->transposed ? p->out : p->in, *first = deal->part->remainder, *n = q->out;
  for (int64_t plane = begin; plane < end; plane++) {
    const float *from = deal->from ? deal->from + plane * n[0] * n[1] * n[2] : NULL;
    float *wide = deal->wide + plane * size[0] * size[1] * size[2];
    for (int64_t i0 = 0; i0 < n[0]; i0++)
      for (int64_t i1 = 0; i1 < n[1]; i1++) {
        int64_t x0 = first[0] + i0 * p->stride[0], x1 = first[1] + i1 * p->stride[1], step = p->stride[2];
        float *to = wide + (x0 * size[1] + x1) * size[2] + first[2];
        for (int64_t i2 = 0; i2 < n[2]; i2++) to[i2 * step] = from ? from[i2] : 0;
        if (from) from += n[2];
      }
  }
}

static Status run_strided(const Work *work, const ConvParams *p, const Part *part, const float *narrow,
                          PartWeight weight, float *wide) {
  enum { ONE_THREAD_FLOATS = 32768 };
  const ConvParams *q = &part->p;
  int64_t size = q->out[0] * q->out[1] * q->out[2], planes = q->batch * q->out_channels;
  size_t bytes = part->is_zero ? 0 : (size_t)(planes * size) * sizeof(float);
  float *results = bytes ? cache_alloc(bytes) : NULL;
  if (bytes && !results) return status_out_of_memory();
  Status status = bytes ? run_spread(work, p, part, narrow, weight, results) : OK;
  Deal deal = {p, part, results, wide};
  if (!status) parallel_for(work->threads, planes, 1 + ONE_THREAD_FLOATS / size, deal_planes, &deal);
  if (bytes) cache_free(results, bytes);
  return status;
}

static int64_t part_count(const ConvParams *p) {
  return p->stride[0] * p->stride[1] * p->stride[2];
}

/* packed: of all parts with panels of so many rows; or NULL. */
static Status run_parts(const Work *work, const ConvParams *p, const float *narrow, const float *weight,
                        const float *packed, int64_t rows, float *wide) {
  for (int64_t i = 0; i < part_count(p) && p->batch; i++) {
    Part part = part_of(p, i);
    PartWeight of_part = {weight, packed};
    if (packed && !part.is_zero) packed += weight_bytes(&part.p, rows) / sizeof(float);
    if (part.is_empty) continue;
    if (part_count(p) == 1 && !part.is_zero) return run_spread(work, p, &part, narrow, of_part, wide);
    TRY(run_strided(work, p, &part, narrow, of_part, wide));
  }
  return OK;
}

Status conv_spread(const Work *work, const ConvParams *p, const float *narrow, const float *weight, float *wide) {
  assert(conv_spread_takes(p));
  return run_parts(work, p, narrow, weight, NULL, 0, wide);
}

/* ---- kept weights ---- */

/* What all parts' panels have in common; 0: they differ, or filters are transformed. */
static int64_t common_rows(const ConvParams *p) {
  int64_t rows = 0;
  for (int64_t i = 0; i < part_count(p); i++) {
    Part part = part_of(p, i);
    if (part.is_empty || part.is_zero) continue;
    if (flat_winograd_side(&part.p, flat_kernels()) || (rows && rows != panel_rows(&part.p))) return 0;
    rows = panel_rows(&part.p);
  }
  return rows;
}

/* All that the order depends on; conv_spread_pack reads it. */
static void spread_layout(const ConvParams *p, int64_t rows, WeightLayout *out) {
  memset(out, 0, sizeof *out);
  out->transform = WEIGHT_SPREAD;
  out->ndim = 2 + CONV_SPATIAL;
  out->sizes[0] = p->in_channels;
  out->sizes[1] = p->out_channels / p->groups;
  out->blocks[CONV_SPATIAL] = p->groups;
  out->blocks[CONV_SPATIAL + 1] = rows;
  for (int d = 0; d < CONV_SPATIAL; d++) {
    out->sizes[2 + d] = p->kernel[d];
    out->strides[d] = p->stride[d];
    out->strides[CONV_SPATIAL + d] = p->dilation[d];
    out->blocks[d] = p->padding[d];
  }
  for (int64_t i = 0; i < part_count(p); i++) {
    Part part = part_of(p, i);
    if (!part.is_zero) out->bytes += weight_bytes(&part.p, rows);
  }
}

void conv_spread_pack(int threads, const WeightLayout *layout, const Tensor *weight, float *to) {
  (void)threads;
  int64_t groups = layout->blocks[CONV_SPATIAL], rows = layout->blocks[CONV_SPATIAL + 1];
  ConvParams p = {
      .transposed = true, .groups = groups, .in_channels = layout->sizes[0], .out_channels = layout->sizes[1] * groups};
  for (int d = 0; d < CONV_SPATIAL; d++) {
    p.kernel[d] = layout->sizes[2 + d];
    p.stride[d] = layout->strides[d];
    p.dilation[d] = layout->strides[CONV_SPATIAL + d];
    p.padding[d] = layout->blocks[d];
  }
  for (int64_t i = 0; i < part_count(&p); i++) {
    Part part = part_of(&p, i);
    if (part.is_zero) continue;
    put_weights(&part, p.kernel, spread_strides(&p, &part), rows, tensor_data(weight), to);
    to += weight_bytes(&part.p, rows) / sizeof(float);
  }
}

/* One position, which the kernel makes all results of: a product of matrices as they lie. */
static bool is_one_product(const ConvParams *p) {
  bool is_one = p->groups == 1;
  for (int d = 0; d < CONV_SPATIAL; d++)
    is_one &= p->in[d] == 1 && p->padding[d] == 0 && p->dilation[d] == 1 && p->out[d] == p->kernel[d];
  return is_one;
}

Status conv_spread_by_kept(const Work *work, const ConvParams *p, const Tensor *narrow, const Tensor *weight,
                           Tensor *wide) {
  assert(conv_spread_takes(p) && p->transposed);
  if (is_one_product(p)) {
    int64_t results = p->out_channels * p->kernel[0] * p->kernel[1] * p->kernel[2];
    return gemm(work, DTYPE_FLOAT32, p->batch, results, p->in_channels, 1,
                (GemmMatrix){tensor_data(narrow), p->in_channels, 1}, (GemmMatrix){tensor_data(weight), results, 1},
                tensor_data(wide), results, false);
  }
  int64_t rows = common_rows(p);
  if (!rows) return run_parts(work, p, tensor_data(narrow), tensor_data(weight), NULL, 0, tensor_data(wide));
  WeightLayout layout;
  spread_layout(p, rows, &layout);
  PackedWeight *packed = packed_weight_take(work, weight, &layout);
  if (!packed) return status_out_of_memory();
  Status status =
      run_parts(work, p, tensor_data(narrow), tensor_data(weight), packed_weight_data(packed), rows, tensor_data(wide));
  packed_weight_give_back(packed);
  return status;
}
