/* Pooling of quantized tensors: channels innermost, integers as they are. The average of PyTorch's own kernels rounds
 * the mean of integers with the zero point in it; those of three dimensions, of channels-last memory and QNNPACK's
 * round without it, and the latter divide by the whole kernel. Adaptive averages over row-major memory sum in 64 bits,
 * zero point and all, the others in 32, which wrap. */
#include <math.h>

#include "base/parallel.h"
#include "base/work_limit.h"
#include "call/kind_form.h"
#include "call/quantized_engine.h"
#include "call/row.h"
#include "op/nn/pool.h"
#include "op/quantized/quantized.h"
#include "tensor/quantizer.h"

typedef struct Pool {
  PoolWindow w;
  DType dtype;
  int64_t batch, channels, item;
  const char *in;
  char *out;
  int64_t zero, least, most;
  bool adaptive, average, qnnpack, count_include_pad;
  int64_t divisor; /* 0: the window's */
  float scale;
  bool zero_last; /* the zero point is added after rounding */
  _Atomic bool failed;
} Pool;

typedef struct Box {
  int64_t begin[3], end[3], step[3], counted; /* counted: with padding */
} Box;

/* A walk through a box by parts of its lines: boxes are as large as the program says, so each part counts as work. */
typedef struct Walk {
  const Pool *pool;
  Box box;
  int64_t z, y, x, first, last, line; /* the part: [first, last) of the line, whose pixel 0 is number `line` */
  int64_t done;
} Walk;
enum { PART = 1024 /* pixels */ };

static Box box_of(const Pool *p, const int64_t *at) {
  Box b = {.counted = 1};
  for (int d = 0; d < 3; d++) {
    if (p->adaptive) {
      b.begin[d] = adaptive_begin(at[d], p->w.out[d], p->w.in[d]);
      b.end[d] = adaptive_end(at[d], p->w.out[d], p->w.in[d]);
      b.step[d] = 1;
      b.counted *= b.end[d] - b.begin[d];
      continue;
    }
    int64_t start = at[d] * p->w.stride[d] - p->w.padding[d], extent = (p->w.kernel[d] - 1) * p->w.dilation[d] + 1,
            end = start + extent, limit = p->w.in[d] + p->w.padding[d];
    b.step[d] = p->w.dilation[d];
    b.counted *= (end < limit ? end : limit) - start;
    b.begin[d] = start < 0 ? start + (-start + b.step[d] - 1) / b.step[d] * b.step[d] : start;
    b.end[d] = end < p->w.in[d] ? end : p->w.in[d];
  }
  return b;
}

static void walk_begin(Walk *walk, const int64_t *at) {
  const Box *b = &walk->box;
  walk->box = box_of(walk->pool, at);
  walk->z = b->begin[0];
  walk->y = b->begin[1];
  walk->x = b->begin[2];
  if (walk->z >= b->end[0] || walk->y >= b->end[1]) walk->x = b->end[2]; /* nothing */
}
/* false: at the end, or work is over. */
static inline bool walk_next(Walk *walk) {
  const Box *b = &walk->box;
  const Pool *p = walk->pool;
  if (walk->x >= b->end[2]) return false;
  walk->first = walk->x;
  walk->last = b->end[2] - walk->x > PART * b->step[2] ? walk->x + PART * b->step[2] : b->end[2];
  walk->line = (walk->z * p->w.in[1] + walk->y) * p->w.in[2];
  walk->x = walk->last;
  if (walk->last == b->end[2] &&
      ((walk->y += b->step[1]) < b->end[1] || (walk->y = b->begin[1], (walk->z += b->step[0]) < b->end[0])))
    walk->x = b->begin[2];
  return !work_is_over_after(&walk->done, (walk->last - walk->first) * p->channels);
}

#define WALK_EACH(walk, x) \
  while (walk_next(walk))  \
    for (int64_t x = (walk)->first; x < (walk)->last; x += (walk)->box.step[2])

#define POOL_OF(name, type)                                                                   \
  static void max_##name(const Pool *p, Walk *walk, const type *in, type *restrict out) {     \
    for (int64_t c = 0; c < p->channels; c++) out[c] = (type)p->least;                        \
    WALK_EACH(walk, x) {                                                                      \
      const type *restrict from = in + (walk->line + x) * p->channels;                        \
      for (int64_t c = 0; c < p->channels; c++) out[c] = from[c] > out[c] ? from[c] : out[c]; \
    }                                                                                         \
  }                                                                                           \
  static void sum_##name(const Pool *p, Walk *walk, const type *in, int64_t *restrict sums) { \
    WALK_EACH(walk, x) {                                                                      \
      const type *restrict from = in + (walk->line + x) * p->channels;                        \
      for (int64_t c = 0; c < p->channels; c++) sums[c] += from[c];                           \
    }                                                                                         \
  }
POOL_OF(uint8, uint8_t)
POOL_OF(int8, int8_t)
POOL_OF(int32, int32_t)

static void store_averages(const Pool *p, const Box *b, const int64_t *sums, char *out) {
  int64_t inside = 1, whole = p->w.kernel[0] * p->w.kernel[1] * p->w.kernel[2];
  for (int d = 0; d < 3; d++)
    inside *= b->end[d] > b->begin[d] ? (b->end[d] - b->begin[d] + b->step[d] - 1) / b->step[d] : 0;
  int64_t divisor = p->divisor ? p->divisor : p->adaptive || !p->count_include_pad ? inside : b->counted;
  if (p->qnnpack) divisor = p->adaptive ? inside : whole;
  float inverse = p->qnnpack ? p->scale / (p->scale * (float)divisor) : 1.0f / (float)(divisor ? divisor : 1);
  bool wide = p->adaptive && !p->zero_last;
  if (wide) {
    inverse = 1.0f;
    for (int d = 0; d < 3; d++) inverse /= (float)(b->end[d] - b->begin[d]);
  }
  for (int64_t c = 0; c < p->channels; c++) {
    float mean = (wide ? (float)sums[c] : (float)(int32_t)(sums[c] - p->zero * inside)) * inverse;
    float q = wide ? rintf(mean) : p->zero_last ? rintf(mean) + (float)p->zero : rintf(mean + (float)p->zero);
    int64_t limited = q >= (float)p->most ? p->most : q > (float)p->least ? (int64_t)q : p->least;
    if (p->dtype == DTYPE_QINT32) {
      int32_t wide = (int32_t)limited;
      memcpy(out + c * 4, &wide, sizeof wide);
    } else {
      out[c] = (char)limited;
    }
  }
}

static void pool_pixel(const Pool *p, Walk *walk, const char *image, char *out, int64_t *sums) {
  const void *in = image;
  if (p->average) memset(sums, 0, (size_t)p->channels * sizeof *sums);
  if (p->dtype == DTYPE_QUINT8)
    p->average ? sum_uint8(p, walk, in, sums) : max_uint8(p, walk, in, (uint8_t *)out);
  else if (p->dtype == DTYPE_QINT8)
    p->average ? sum_int8(p, walk, in, sums) : max_int8(p, walk, in, (int8_t *)out);
  else
    p->average ? sum_int32(p, walk, in, sums) : max_int32(p, walk, in, (int32_t *)(void *)out);
  if (p->average) store_averages(p, &walk->box, sums, out);
}

static void pool_pixels(void *argument, int64_t begin, int64_t end) {
  Pool *p = argument;
  int64_t pixels = p->w.out[0] * p->w.out[1] * p->w.out[2], in_pixels = p->w.in[0] * p->w.in[1] * p->w.in[2];
  int64_t *sums = p->average ? mem_alloc((size_t)p->channels * sizeof *sums) : NULL;
  if (p->average && !sums) {
    atomic_store(&p->failed, true);
    return;
  }
  Walk walk = {.pool = p};
  for (int64_t i = begin; i < end && !work_is_over_after(&walk.done, p->channels); i++) {
    int64_t at[3] = {i % pixels / (p->w.out[1] * p->w.out[2]), i % pixels / p->w.out[2] % p->w.out[1], i % p->w.out[2]};
    walk_begin(&walk, at);
    const char *image = p->in + i / pixels * in_pixels * p->channels * p->item;
    pool_pixel(p, &walk, image, p->out + i * p->channels * p->item, sums);
  }
  mem_free(sums);
}

/* (N, C, ...) or (C, ...) with the channels last, row-major. */
static Status channels_last(const Tensor *t, int spatial, Tensor **out) {
  int64_t order[TENSOR_MAX_DIMS];
  int first = t->ndim - spatial - 1;
  for (int i = 0; i < first; i++) order[i] = i;
  for (int i = 0; i < spatial; i++) order[first + i] = first + 1 + i;
  order[t->ndim - 1] = first;
  Tensor *view;
  TRY(tensor_permute(t, order, &view));
  Status status = tensor_contiguous(view, out);
  tensor_release(view);
  return status;
}

static Status new_result(const Tensor *self, const PoolWindow *w, Tensor **out) {
  int64_t sizes[TENSOR_MAX_DIMS], strides[TENSOR_MAX_DIMS], stride;
  int first = self->ndim - w->spatial - 1;
  memcpy(sizes, self->sizes, (size_t)self->ndim * sizeof *sizes);
  for (int d = 0; d < w->spatial; d++) sizes[first + 1 + d] = w->out[3 - w->spatial + d];
  strides[first] = 1;
  stride = sizes[first] ? sizes[first] : 1;
  for (int i = self->ndim - 1; i > first; i--) {
    strides[i] = stride;
    stride *= sizes[i] ? sizes[i] : 1;
  }
  if (first) strides[0] = stride;
  return tensor_new_quantized((DType)self->dtype, self->ndim, sizes, strides, tensor_quantizer(self), out);
}

static Status run(Call *c, Pool *p) {
  const Tensor *self = call_tensor(c, 0);
  Tensor *in, *out;
  p->dtype = (DType)self->dtype;
  p->item = (int64_t)dtype_size(p->dtype);
  p->zero = tensor_quantizer(self)->zero_point;
  p->scale = (float)tensor_quantizer(self)->scale;
  p->zero_last = p->qnnpack || (p->w.spatial == 3 && !p->adaptive) ||
                 (self->ndim == 4 && tensor_has_format(self, FORMAT_CHANNELS_LAST)) ||
                 (self->ndim == 5 && tensor_has_format(self, FORMAT_CHANNELS_LAST_3D));
  p->least = dtype_quantized_min(p->dtype);
  p->most = dtype_quantized_max(p->dtype);
  p->channels = self->sizes[self->ndim - p->w.spatial - 1];
  p->batch = p->w.unbatched ? 1 : self->sizes[0];
  TRY(channels_last(self, p->w.spatial, &in));
  Status status = new_result(self, &p->w, &out);
  if (!status) {
    p->in = tensor_data(in);
    p->out = tensor_data(out);
    int64_t pixels = p->w.out[0] * p->w.out[1] * p->w.out[2];
    if (out->numel)
      parallel_for(c->exec->work.threads, p->batch * pixels, 1 + 32768 / (p->channels + 1), pool_pixels, p);
    if (atomic_load(&p->failed)) status = status_out_of_memory();
    if (status)
      tensor_release(out);
    else
      call_set_tensor(c, 0, out);
  }
  tensor_release(in);
  return status;
}

static Status form_max_pool(Call *c) {
  Pool p = {0};
  TRY(expect_per_tensor(c, call_tensor(c, 0)));
  TRY(pool_read(c, 0, pool_spatial(c), &p.w));
  return run(c, &p);
}

/* The arguments that only averages have, by name. */
static bool flag(const Call *c, const char *name, bool fallback) {
  int at = call_find_argument(c, name);
  return at < 0 || call_is_none(c, (uint32_t)at) ? fallback : call_bool(c, (uint32_t)at);
}
static Status form_avg_pool(Call *c) {
  const Tensor *self = call_tensor(c, 0);
  Pool p = {.average = true, .count_include_pad = flag(c, "count_include_pad", true)};
  int at = call_find_argument(c, "divisor_override"), spatial = pool_spatial(c);
  TRY(expect_per_tensor(c, self));
  TRY(pool_read(c, 0, spatial, &p.w));
  if (at >= 0 && !call_is_none(c, (uint32_t)at)) {
    p.divisor = call_int(c, (uint32_t)at);
    if (p.divisor == 0) return status_new(ERROR_RUNTIME, "divisor must be not zero");
  }
  p.qnnpack =
      quantized_engine(c->exec) == ENGINE_QNNPACK && self->dtype == DTYPE_QUINT8 && spatial < 3 && !p.w.ceil_mode;
  return run(c, &p);
}
/* What PyTorch makes of an average over whole volumes: the mean of the numbers, quantized again. */
static Status mean_of_volume(Call *c) {
  static OpRef mean = OP_REF("aten::mean", "dim");
  List *dims;
  IValue result;
  TRY(list_from_ints((const int64_t[]){-3, -2, -1}, 3, &dims));
  IValue inputs[] = {call_value(c, 0), ivalue_list(dims), ivalue_bool(true), IVALUE_NONE};
  Status status = op_call(c->exec, &mean, 4, inputs, 1, &result);
  ivalue_release(ivalue_list(dims));
  if (!status) call_set(c, 0, result);
  return status;
}

static Status form_adaptive_avg_pool(Call *c) {
  const Tensor *self = call_tensor(c, 0);
  Pool p = {.average = true, .adaptive = true, .count_include_pad = true};
  int spatial = pool_spatial(c);
  TRY(expect_per_tensor(c, self));
  TRY(pool_read_output_size(c, 0, spatial, &p.w));
  if (spatial == 3 && p.w.out[0] == 1 && p.w.out[1] == 1 && p.w.out[2] == 1) return mean_of_volume(c);
  bool divides = true;
  for (int d = 0; d < 3; d++) divides &= p.w.out[d] > 0 && p.w.in[d] % p.w.out[d] == 0;
  p.qnnpack = quantized_engine(c->exec) == ENGINE_QNNPACK && self->dtype == DTYPE_QUINT8 && spatial < 3 && divides;
  return run(c, &p);
}

#define MAX_ROW(text) \
  { .schema = text, .kernel = form_max_pool, .flags = OP_NOT_DIFFERENTIABLE | OP_ACCEPT_QUANTIZED | OP_OUT }
static const OpRow rows[] = {
    MAX_ROW("aten::quantized_max_pool1d(Tensor self, int[1] kernel_size, int[1] stride=[], int[1] padding=0, int[1] "
            "dilation=1, bool ceil_mode=False) -> Tensor"),
    MAX_ROW("aten::quantized_max_pool2d(Tensor self, int[2] kernel_size, int[2] stride=[], int[2] padding=0, int[2] "
            "dilation=1, bool ceil_mode=False) -> Tensor"),
};
OP_TABLE(op_table_quantized_pool, rows);

static const KindForm forms[] = {
    {"aten::max_pool1d", form_max_pool},
    {"aten::max_pool2d", form_max_pool},
    {"aten::avg_pool1d", form_avg_pool},
    {"aten::avg_pool2d", form_avg_pool},
    {"aten::avg_pool3d", form_avg_pool},
    {"aten::adaptive_avg_pool1d", form_adaptive_avg_pool},
    {"aten::adaptive_avg_pool2d", form_adaptive_avg_pool},
    {"aten::adaptive_avg_pool3d", form_adaptive_avg_pool},
    {"aten::_adaptive_avg_pool2d", form_adaptive_avg_pool},
    {"aten::_adaptive_avg_pool3d", form_adaptive_avg_pool},
};
KIND_FORMS(quantized_forms_pool, forms);
