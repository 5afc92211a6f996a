/* Distributions. A fill walks the tensor in memory order, as PyTorch's iterator does, and draws in that order; so a
 * seed gives PyTorch's numbers, with the precision of each draw (24, 53, 11 or 8 random bits) following the dtype. */
#include "tensor/random.h"

#include <assert.h>
#include <math.h>

#include "base/work_limit.h"
#include "tensor/iterate.h"
#include "tensor/storage_share.h"

enum { BLOCK = 256 };
static_assert(BLOCK % NORMAL_GROUP == 0, "blocks of whole groups");

typedef struct Draw {
  Generator *generator;
  DType dtype; /* the target's */
  double a, b; /* parameters */
  uint64_t range;
  int64_t base;
  /* One of them: */
  void (*reals)(struct Draw *draw, int64_t count, double *out);
  double (*real)(struct Draw *draw);
  int64_t (*integer)(struct Draw *draw);
} Draw;

static void fill_run(void *argument, int64_t n, char *const *data, const int64_t *strides) {
  Draw *draw = argument;
  union {
    double reals[BLOCK];
    int64_t integers[BLOCK];
  } values;
  int64_t item = (int64_t)dtype_size(draw->dtype);
  for (int64_t i = 0, done = 0; i < n && !work_is_over_after(&done, BLOCK); i += BLOCK) {
    int64_t count = n - i < BLOCK ? n - i : BLOCK;
    if (draw->integer)
      for (int64_t j = 0; j < count; j++) values.integers[j] = draw->integer(draw);
    else if (draw->reals)
      draw->reals(draw, count, values.reals);
    else
      for (int64_t j = 0; j < count; j++) values.reals[j] = draw->real(draw);
    dtype_convert(draw->dtype, data[0] + i * strides[0], strides[0] / item, draw->integer ? DTYPE_INT64 : DTYPE_FLOAT64,
                  &values, 1, count);
  }
}

static Status fill_by(IterateBody *run, Draw *draw, Tensor *t) {
  if (t->flags & TENSOR_META) return OK;
  TRY(tensor_check_writable(t));
  TRY(storage_own(t->storage));
  Iterator it;
  TRY(iterator_init(&it, 1, (const Tensor *const[]){t}));
  draw->dtype = (DType)t->dtype;
  iterator_run(&it, 0, it.numel, run, draw);
  return OK;
}
static Status fill(Draw *draw, Tensor *t) {
  return fill_by(fill_run, draw, t);
}

/* ---- uniform ---- */
/* In [0, 1) with as many bits as the dtype's mantissa has. */
static double uniform_of_dtype(Generator *g, DType dtype) {
  switch (dtype) {
    case DTYPE_FLOAT64:
      return generator_uniform_double(g);
    case DTYPE_FLOAT16:
      return (double)(generator_random32(g) & 0x7ffu) * 0x1p-11;
    case DTYPE_BFLOAT16:
      return (double)(generator_random32(g) & 0xffu) * 0x1p-8;
    default:
      return generator_uniform_float(g);
  }
}

static double draw_uniform(Draw *draw) {
  double x = uniform_of_dtype(draw->generator, draw->dtype);
  if (draw->a == 0 && draw->b == 1) return x;
  if (draw->dtype == DTYPE_FLOAT64) return fma(x, draw->b - draw->a, draw->a);
  float from = (float)draw->a, to = (float)draw->b;
  return fmaf((float)x, to - from, from);
}

static void uniform_float_run(void *argument, int64_t n, char *const *data, const int64_t *strides) {
  Draw *draw = argument;
  float values[BLOCK], from = (float)draw->a, to = (float)draw->b;
  for (int64_t i = 0, done = 0; i < n && !work_is_over_after(&done, BLOCK); i += BLOCK) {
    int64_t count = n - i < BLOCK ? n - i : BLOCK;
    generator_uniform_floats(draw->generator, count, values);
    for (int64_t j = 0; j < count && (from != 0 || to != 1); j++) values[j] = fmaf(values[j], to - from, from);
    dtype_convert(DTYPE_FLOAT32, data[0] + i * strides[0], strides[0] / (int64_t)sizeof(float), DTYPE_FLOAT32, values,
                  1, count);
  }
}

Status random_uniform(Generator *g, Tensor *t, double from, double to) {
  if (t->dtype == DTYPE_FLOAT32) return fill_by(uniform_float_run, &(Draw){.generator = g, .a = from, .b = to}, t);
  return fill(&(Draw){.generator = g, .a = from, .b = to, .real = draw_uniform}, t);
}

/* ---- normal ---- */
static double draw_normal(Draw *draw) {
  return fma(generator_normal(draw->generator), draw->b, draw->a);
}

/* What the value is once stored in the dtype. */
static double rounded(DType dtype, double value) {
  switch (dtype) {
    case DTYPE_FLOAT64:
      return value;
    case DTYPE_FLOAT16:
      return half_to_float(half_from_float((float)value));
    case DTYPE_BFLOAT16:
      return bfloat16_to_float(bfloat16_from_float((float)value));
    default:
      return (float)value;
  }
}

/* A group in other dtypes than float32: bfloat16 rounds after every step, the others where PyTorch keeps a value of the
 * dtype. */
static void normal_group(double *u, DType dtype, double mean, double std) {
  for (int i = 0; i < NORMAL_GROUP / 2; i++) {
    double *first = &u[i], *second = &u[i + NORMAL_GROUP / 2], u1 = rounded(dtype, 1.0 - *first), u2 = *second;
    if (dtype == DTYPE_FLOAT64) {
      double radius = sqrt(-2.0 * log(u1)), angle = 2.0 * M_PI * u2;
      *first = fma(radius * cos(angle), std, mean);
      *second = fma(radius * sin(angle), std, mean);
    } else if (dtype == DTYPE_BFLOAT16) {
#define R(x) rounded(DTYPE_BFLOAT16, (x))
      double radius = R(sqrt(R(-2.0 * R(log(u1))))), angle = R(2.0 * M_PI * u2);
      *first = R(R(R(radius * R(cos(angle))) * std) + mean);
      *second = R(R(R(radius * R(sin(angle))) * std) + mean);
#undef R
    } else {
      float radius = (float)rounded(dtype, sqrtf(-2.0f * logf((float)u1))),
            angle = (float)rounded(dtype, (float)(2.0 * M_PI) * (float)u2);
      *first = rounded(dtype, fmaf(radius * cosf(angle), (float)std, (float)mean));
      *second = rounded(dtype, fmaf(radius * sinf(angle), (float)std, (float)mean));
    }
  }
}

/* The whole tensor is drawn uniformly first; a last group that is not full is drawn anew over the last sixteen. */
static void fill_normal_floats(Generator *g, int64_t n, float *data, float mean, float std) {
  int64_t whole = n / NORMAL_GROUP * NORMAL_GROUP;
  for (int64_t i = 0, done = 0; i < whole && !work_is_over_after(&done, BLOCK); i += BLOCK) {
    int64_t count = whole - i < BLOCK ? whole - i : BLOCK;
    generator_uniform_floats(g, count, data + i);
    random_normal_groups(count, data + i, mean, std);
  }
  if (whole == n) return;
  float drawn_over[NORMAL_GROUP];
  generator_uniform_floats(g, n - whole, drawn_over);
  generator_uniform_floats(g, NORMAL_GROUP, data + n - NORMAL_GROUP);
  random_normal_groups(NORMAL_GROUP, data + n - NORMAL_GROUP, mean, std);
}
static Status fill_normal_groups(Generator *g, Tensor *t, double mean, double std) {
  DType dtype = (DType)t->dtype;
  size_t item = dtype_size(dtype);
  char *data = tensor_data(t);
  double group[NORMAL_GROUP];
  mean = rounded(dtype, mean);
  std = rounded(dtype, std);
  int64_t whole = t->numel / NORMAL_GROUP * NORMAL_GROUP;
  for (int64_t i = 0, done = 0; i < whole && !work_is_over_after(&done, NORMAL_GROUP); i += NORMAL_GROUP) {
    for (int j = 0; j < NORMAL_GROUP; j++) group[j] = uniform_of_dtype(g, dtype);
    normal_group(group, dtype, mean, std);
    dtype_convert(dtype, data + (size_t)i * item, 1, DTYPE_FLOAT64, group, 1, NORMAL_GROUP);
  }
  if (whole == t->numel) return OK;
  for (int64_t i = whole; i < t->numel; i++) (void)uniform_of_dtype(g, dtype);
  for (int j = 0; j < NORMAL_GROUP; j++) group[j] = uniform_of_dtype(g, dtype);
  normal_group(group, dtype, mean, std);
  dtype_convert(dtype, data + (size_t)(t->numel - NORMAL_GROUP) * item, 1, DTYPE_FLOAT64, group, 1, NORMAL_GROUP);
  return OK;
}

static Status normal_real(Generator *g, Tensor *t, double mean, double std) {
  if (t->numel >= NORMAL_GROUP && t->contiguous && !(t->flags & TENSOR_META)) {
    if (t->dtype != DTYPE_FLOAT32) return fill_normal_groups(g, t, mean, std);
    fill_normal_floats(g, t->numel, tensor_data(t), (float)mean, (float)std);
    return OK;
  }
  return fill(&(Draw){.generator = g, .a = mean, .b = std, .real = draw_normal}, t);
}

Status random_normal(Generator *g, Tensor *t, double mean, double std) {
  if (!dtype_is_complex((DType)t->dtype)) return normal_real(g, t, mean, std);
  /* Real and imaginary parts of half the variance each, side by side in memory; the mean is the real part's and the
   * imaginary part's alike (it is zero wherever an operator draws complex numbers). */
  if (t->flags & TENSOR_META) return OK;
  if (t->ndim == TENSOR_MAX_DIMS)
    return status_new(ERROR_UNSUPPORTED, "complex random tensors of %d dimensions", TENSOR_MAX_DIMS);
  int64_t sizes[TENSOR_MAX_DIMS], strides[TENSOR_MAX_DIMS];
  for (int i = 0; i < t->ndim; i++) {
    sizes[i] = t->sizes[i];
    strides[i] = t->strides[i] * 2;
  }
  sizes[t->ndim] = 2;
  strides[t->ndim] = 1;
  Tensor *parts;
  TRY(tensor_from_storage(t->storage, dtype_to_real((DType)t->dtype), t->ndim + 1, sizes, strides, t->offset * 2,
                          &parts));
  Status status = normal_real(g, parts, mean, std / sqrt(2.0));
  tensor_release(parts);
  return status;
}

static double draw_log_normal(Draw *draw) {
  return exp(draw_normal(draw));
}

Status random_log_normal(Generator *g, Tensor *t, double mean, double std) {
  return fill(&(Draw){.generator = g, .a = mean, .b = std, .real = draw_log_normal}, t);
}

/* ---- integers ---- */
static int64_t draw_from_to(Draw *draw) {
  bool wide = draw->dtype == DTYPE_INT64 || draw->dtype == DTYPE_FLOAT64 || draw->dtype == DTYPE_FLOAT32 ||
              draw->dtype == DTYPE_BFLOAT16;
  uint64_t bits = wide && draw->range >= (uint64_t)1 << 32 ? generator_random64(draw->generator)
                                                           : generator_random32(draw->generator);
  return (int64_t)(bits % draw->range + (uint64_t)draw->base);
}

static int64_t draw_64_bits(Draw *draw) {
  return (int64_t)generator_random64(draw->generator);
}

Status random_from_to(Generator *g, Tensor *t, int64_t from, uint64_t range) {
  return fill(&(Draw){.generator = g, .base = from, .range = range, .integer = range ? draw_from_to : draw_64_bits}, t);
}

/* From zero to the greatest value, or to the greatest integer that a floating dtype counts to without gaps. */
static int64_t draw_full_range(Draw *draw) {
  Generator *g = draw->generator;
  switch (draw->dtype) {
    case DTYPE_BOOL:
      return generator_random32(g) & 1;
    case DTYPE_INT64:
      return (int64_t)(generator_random64(g) & INT64_MAX);
    case DTYPE_FLOAT64:
      return (int64_t)(generator_random64(g) % (((uint64_t)1 << 53) + 1));
    case DTYPE_FLOAT32:
      return generator_random32(g) % ((1u << 24) + 1);
    case DTYPE_FLOAT16:
      return generator_random32(g) % ((1u << 11) + 1);
    case DTYPE_BFLOAT16:
      return generator_random32(g) % ((1u << 8) + 1);
    case DTYPE_UINT8:
      return generator_random32(g) & 0xff;
    case DTYPE_INT8:
      return generator_random32(g) & 0x7f;
    case DTYPE_INT16:
      return generator_random32(g) & 0x7fff;
    default:
      return generator_random32(g) & 0x7fffffff;
  }
}

Status random_full_range(Generator *g, Tensor *t) {
  return fill(&(Draw){.generator = g, .integer = draw_full_range}, t);
}

/* A shuffle from the front: element i changes places with one of those from i on. */
Status random_permutation(Generator *g, Tensor *t) {
  if (t->flags & TENSOR_META) return OK;
  int64_t n = t->numel, *order = mem_calloc((size_t)n + 1, sizeof *order);
  if (!order) return status_out_of_memory();
  for (int64_t i = 0; i < n; i++) order[i] = i;
  for (int64_t i = 0, done = 0; i < n - 1 && !work_is_over_after(&done, 2); i++) {
    int64_t j = i + (int64_t)(generator_random32(g) % (uint64_t)(n - i)), moved = order[i];
    order[i] = order[j];
    order[j] = moved;
  }
  dtype_convert((DType)t->dtype, tensor_data(t), t->ndim ? t->strides[0] : 1, DTYPE_INT64, order, 1, n);
  mem_free(order);
  return OK;
}

/* ---- bernoulli ---- */
static void draw_bernoulli(Draw *draw, int64_t count, double *out) {
  generator_uniform_doubles(draw->generator, count, out);
  for (int64_t i = 0; i < count; i++) out[i] = out[i] < draw->a;
}

static Status check_probability(double p) {
  if (p >= 0 && p <= 1) return OK;
  StrBuf text = {0};
  strbuf_double_g(&text, p, 6);
  Status status =
      status_new(ERROR_RUNTIME, "bernoulli_ expects p to be in [0, 1], but got p=%s", text.data ? text.data : "");
  strbuf_dispose(&text);
  return status;
}

Status random_bernoulli(Generator *g, Tensor *t, double p) {
  TRY(check_probability(p));
  return fill(&(Draw){.generator = g, .a = p, .reals = draw_bernoulli}, t);
}

typedef struct BernoulliRun {
  Generator *generator;
  DType to, p;
  bool bad;
} BernoulliRun;

/* A float64 probability draws 53 bits, any other 24. */
static void bernoulli_run(void *argument, int64_t n, char *const *data, const int64_t *strides) {
  BernoulliRun *run = argument;
  int64_t to_item = (int64_t)dtype_size(run->to), p_item = (int64_t)dtype_size(run->p);
  double p[BLOCK];
  uint8_t drawn[BLOCK];
  for (int64_t i = 0, done = 0; i < n && !work_is_over_after(&done, BLOCK); i += BLOCK) {
    int64_t count = n - i < BLOCK ? n - i : BLOCK;
    dtype_convert(DTYPE_FLOAT64, p, 1, run->p, data[1] + i * strides[1], strides[1] / p_item, count);
    for (int64_t j = 0; j < count; j++) {
      if (!(p[j] >= 0 && p[j] <= 1)) run->bad = true;
      drawn[j] = run->p == DTYPE_FLOAT64 ? generator_uniform_double(run->generator) < p[j]
                                         : generator_uniform_float(run->generator) < (float)p[j];
    }
    dtype_convert(run->to, data[0] + i * strides[0], strides[0] / to_item, DTYPE_BOOL, drawn, 1, count);
  }
}

Status random_bernoulli_tensor(Generator *g, Tensor *t, const Tensor *p) {
  if (!dtype_is_floating((DType)p->dtype))
    return status_new(ERROR_RUNTIME, "expected probabilities tensor to have floating type, got %s",
                      dtype_scalar_name((DType)p->dtype));
  if ((t->flags | p->flags) & TENSOR_META) return OK;
  TRY(tensor_check_writable(t));
  TRY(storage_own(t->storage));
  Iterator it;
  TRY(iterator_init(&it, 2, (const Tensor *const[]){t, p}));
  BernoulliRun run = {g, (DType)t->dtype, (DType)p->dtype, false};
  iterator_run(&it, 0, it.numel, bernoulli_run, &run);
  return run.bad ? status_new(ERROR_RUNTIME, "Expected p_in >= 0 && p_in <= 1 to be true, but got false.") : OK;
}

/* ---- the others, all from 53 random bits ---- */
/* 1 - u is exact, and log by far the faster; the last bit, in which log1p may differ, is seen in float64 alone. */
static void draw_exponential(Draw *draw, int64_t count, double *out) {
  double scale = -1.0 / draw->a;
  generator_uniform_doubles(draw->generator, count, out);
  if (draw->dtype == DTYPE_FLOAT64)
    for (int64_t i = 0; i < count; i++) out[i] = scale * log1p(-out[i]);
  else
    for (int64_t i = 0; i < count; i++) out[i] = scale * log(1.0 - out[i]);
}
static double draw_geometric(Draw *draw) {
  return ceil(log(generator_uniform_double(draw->generator)) / log1p(-draw->a));
}
static double draw_cauchy(Draw *draw) {
  return fma(draw->b, tan(M_PI * (generator_uniform_double(draw->generator) - 0.5)), draw->a);
}

Status random_exponential(Generator *g, Tensor *t, double lambda) {
  return fill(&(Draw){.generator = g, .a = lambda, .reals = draw_exponential}, t);
}
Status random_geometric(Generator *g, Tensor *t, double p) {
  return fill(&(Draw){.generator = g, .a = p, .real = draw_geometric}, t);
}
Status random_cauchy(Generator *g, Tensor *t, double median, double sigma) {
  return fill(&(Draw){.generator = g, .a = median, .b = sigma, .real = draw_cauchy}, t);
}
