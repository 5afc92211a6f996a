/* Sampling: multinomial, poisson, binomial, gamma, dirichlet. Each draws from the generator in PyTorch's order. */
#include <assert.h>
#include <math.h>

#include "base/work_limit.h"
#include "call/row_extras.h"
#include "tensor/iterate.h"
#include "tensor/random.h"

/* ---- multinomial ---- */
static Status check_multinomial(const Call *c, const Tensor *self, int64_t samples, bool replacement) {
  int64_t categories = self->ndim ? self->sizes[self->ndim - 1] : 0;
  (void)c;
  if (!dtype_is_floating((DType)self->dtype))
    return status_new(ERROR_RUNTIME, "multinomial only supports floating-point dtypes for input, got: %s",
                      dtype_scalar_name((DType)self->dtype));
  if (self->ndim != 1 && self->ndim != 2) return status_new(ERROR_RUNTIME, "prob_dist must be 1 or 2 dim");
  if (samples <= 0) return status_new(ERROR_RUNTIME, "cannot sample n_sample <= 0 samples");
  if (!replacement && samples > categories)
    return status_new(ERROR_RUNTIME, "cannot sample n_sample > prob_dist.size(-1) samples without replacement");
  if (categories > (int64_t)1 << 24) return status_new(ERROR_RUNTIME, "number of categories cannot exceed 2^24");
  return OK;
}

static Status shape_multinomial(Call *c, TensorSpec *spec) {
  const Tensor *self = call_tensor(c, 0);
  int64_t samples = call_int(c, 1);
  TRY(check_multinomial(c, self, samples, call_bool(c, 2)));
  if (self->ndim == 1)
    shape_set(spec, DTYPE_INT64, 1, &samples);
  else
    shape_set(spec, DTYPE_INT64, 2, (int64_t[]){self->sizes[0], samples});
  return OK;
}

static double stored(DType dtype, double value) {
  if (dtype == DTYPE_FLOAT32) return (float)value;
  if (dtype == DTYPE_FLOAT64) return value;
  char element[16];
  dtype_convert(dtype, element, 1, DTYPE_FLOAT64, &value, 1, 1);
  dtype_convert(DTYPE_FLOAT64, &value, 1, dtype, element, 1, 1);
  return value;
}

/* Cumulated probabilities, then a binary search for each uniform number. */
static Status sample_with_replacement(Generator *g, DType dtype, double *weights, int64_t categories, int64_t samples,
                                      int64_t *out) {
  double sum = 0;
  for (int64_t i = 0; i < categories; i++) {
    if (!(weights[i] >= 0))
      return status_new(ERROR_RUNTIME, "invalid multinomial distribution (encountering probability entry < 0)");
    if (!isfinite(weights[i]))
      return status_new(ERROR_RUNTIME,
                        "invalid multinomial distribution (encountering probability entry = infinity or NaN)");
    weights[i] = sum = stored(dtype, sum + weights[i]);
  }
  if (!(sum > 0)) return status_new(ERROR_RUNTIME, "invalid multinomial distribution (sum of probabilities <= 0)");
  for (int64_t i = 0; i < categories; i++) weights[i] = stored(dtype, weights[i] / sum);
  weights[categories - 1] = 1;
  for (int64_t i = 0, done = 0; i < samples; i++) {
    if (work_is_over_after(&done, 8)) return work_status();
    double u = generator_uniform_double(g);
    int64_t low = 0, high = categories;
    while (low < high) {
      int64_t middle = low + (high - low) / 2;
      if (weights[middle] < u)
        low = middle + 1;
      else
        high = middle;
    }
    out[i] = low;
  }
  return OK;
}

/* The largest quotients of probability and exponential number, in falling order: a heap of the best, the worst on top.
 */
static void sample_without_replacement(const double *weights, const double *clocks, DType dtype, int64_t categories,
                                       int64_t samples, double *keys, int64_t *out) {
  assert(samples <= categories);
  int64_t kept = 0;
#define KEY_LESS(a, b) (keys[a] < keys[b] || (keys[a] == keys[b] && (a) > (b)))
  for (int64_t i = 0; i < categories; i++) {
    keys[i] = stored(dtype, weights[i] / clocks[i]);
    int64_t at;
    if (kept < samples) {
      at = kept++;
      while (at > 0 && KEY_LESS(i, out[(at - 1) / 2])) {
        out[at] = out[(at - 1) / 2];
        at = (at - 1) / 2;
      }
      out[at] = i;
      continue;
    }
    if (!KEY_LESS(out[0], i)) continue;
    at = 0;
    for (int64_t child; (child = 2 * at + 1) < samples; at = child) {
      if (child + 1 < samples && KEY_LESS(out[child + 1], out[child])) child++;
      if (!KEY_LESS(out[child], i)) break;
      out[at] = out[child];
    }
    out[at] = i;
  }
  for (int64_t n = samples - 1; n > 0; n--) { /* the worst goes to the end */
    int64_t last = out[n], at = 0;
    out[n] = out[0];
    for (int64_t child; (child = 2 * at + 1) < n; at = child) {
      if (child + 1 < n && KEY_LESS(out[child + 1], out[child])) child++;
      if (!KEY_LESS(out[child], last)) break;
      out[at] = out[child];
    }
    out[at] = last;
  }
#undef KEY_LESS
}

static Status check_weights(const double *weights, int64_t rows, int64_t categories) {
  for (int64_t r = 0; r < rows; r++) {
    double sum = 0;
    for (int64_t i = 0; i < categories; i++) {
      double w = weights[r * categories + i];
      if (!(w >= 0) || !isfinite(w))
        return status_new(ERROR_RUNTIME, "probability tensor contains either `inf`, `nan` or element < 0");
      sum += w;
    }
    if (sum == 0) return status_new(ERROR_RUNTIME, "invalid multinomial distribution (sum of probabilities <= 0)");
  }
  return OK;
}

/* A row-major float64 copy. */
static Status to_doubles(const Tensor *t, Tensor **out) {
  TRY(tensor_empty(DTYPE_FLOAT64, t->ndim, t->sizes, out));
  Status status = tensor_copy(*out, t, 1);
  if (status) tensor_release(*out), *out = NULL;
  return status;
}

static Status multinomial(Generator *g, const Tensor *self, int64_t samples, bool replacement, Tensor *out) {
  assert(self->ndim == 1 || self->ndim == 2);
  DType dtype = (DType)self->dtype;
  int64_t categories = self->sizes[self->ndim - 1], rows = self->ndim == 2 ? self->sizes[0] : 1;
  Tensor *weights = NULL, *drawn = NULL, *clocks = NULL, *keys = NULL, *picked = NULL;
  if (rows == 0) return OK;
  Status status = to_doubles(self, &weights);
  if (status) return status;
  TRY_GOTO(tensor_empty(DTYPE_INT64, out->ndim, out->sizes, &picked), done);
  double *w = tensor_data(weights);
  int64_t *to = tensor_data(picked);
  if (replacement) {
    for (int64_t r = 0; r < rows; r++)
      TRY_GOTO(sample_with_replacement(g, dtype, w + r * categories, categories, samples, to + r * samples), done);
  } else {
    TRY_GOTO(check_weights(w, rows, categories), done);
    TRY_GOTO(tensor_empty_like(self, &drawn), done);
    TRY_GOTO(random_exponential(g, drawn, 1), done);
    TRY_GOTO(to_doubles(drawn, &clocks), done);
    TRY_GOTO(tensor_empty(DTYPE_FLOAT64, 1, &categories, &keys), done);
    for (int64_t r = 0; r < rows; r++)
      sample_without_replacement(w + r * categories, (double *)tensor_data(clocks) + r * categories, dtype, categories,
                                 samples, tensor_data(keys), to + r * samples);
  }
  status = tensor_copy(out, picked, 1);
done:
  tensor_release(weights);
  tensor_release(drawn);
  tensor_release(clocks);
  tensor_release(keys);
  tensor_release(picked);
  return status;
}

typedef struct Draw {
  Status (*body)(Call *c, Generator *g);
  uint32_t generator; /* argument */
} Draw;
static Status kernel_draw(Call *c) {
  const Draw *draw = call_with(c);
  generator_lock();
  Generator *g = call_generator(c, draw->generator);
  Status status = g ? draw->body(c, g) : status_new(ERROR_OUT_OF_MEMORY, "there is no random generator");
  generator_unlock();
  return status;
}

static Status draw_multinomial(Call *c, Generator *g) {
  return multinomial(g, call_tensor(c, 0), call_int(c, 1), call_bool(c, 2), call_out(c, 0));
}

/* ---- one number from one or two parameters ---- */
/* W. Hormann, "The transformed rejection method for generating Poisson random variables" (1993); products of uniform
 * numbers for small rates. */
static double sample_poisson(Generator *g, double rate, double unused) {
  (void)unused;
  if (rate == 0) return 0;
  if (rate < 10) {
    double limit = exp(-rate), product = 1;
    for (int64_t count = 0;; count++) {
      product *= generator_uniform_double(g);
      if (!(product > limit)) return (double)count;
    }
  }
  double b = 0.931 + 2.53 * sqrt(rate), a = -0.059 + 0.02483 * b, inverse_alpha = 1.1239 + 1.1328 / (b - 3.4),
         v_r = 0.9277 - 3.6224 / (b - 2);
  for (int tries = 0; tries < 100000; tries++) {
    double u = generator_uniform_double(g) - 0.5, v = generator_uniform_double(g), us = 0.5 - fabs(u);
    double k = floor((2 * a / us + b) * u + rate + 0.43);
    if (us >= 0.07 && v <= v_r) return k;
    if (k < 0 || (us < 0.013 && v > us)) continue;
    if (log(v) + log(inverse_alpha) - log(a / (us * us) + b) <= -rate + k * log(rate) - lgamma(k + 1)) return k;
  }
  return NAN;
}

/* The tail of Stirling's series: log k! minus its leading terms. */
static double stirling_tail(double k) {
  static const double small[] = {0.0810614667953272,  0.0413406959554092, 0.0276779256849983, 0.02079067210376509,
                                 0.0166446911898211,  0.0138761288230707, 0.0118967099458917, 0.0104112652619720,
                                 0.00925546218271273, 0.00833056343336287};
  if (k >= 0 && k <= 9) return small[(int)k];
  double square = (k + 1) * (k + 1);
  return (1.0 / 12 - (1.0 / 360 - 1.0 / 1260 / square) / square) / (k + 1);
}

/* W. Hormann, "The generation of binomial random variates" (1993), for p <= 1/2 and a mean of at least 10. */
static double binomial_by_rejection(Generator *g, double n, double p) {
  assert(p > 0 && p <= 0.5);
  double deviation = sqrt(n * p * (1 - p)), b = 1.15 + 2.53 * deviation, a = -0.0873 + 0.0248 * b + 0.01 * p,
         c = n * p + 0.5, v_r = 0.92 - 4.2 / b;
  double odds = p / (1 - p), alpha = (2.83 + 5.1 / b) * deviation, m = floor((n + 1) * p);
  for (int tries = 0; tries < 100000; tries++) {
    double u = generator_uniform_double(g) - 0.5, v = generator_uniform_double(g), us = 0.5 - fabs(u);
    double k = floor((2 * a / us + b) * u + c);
    if (us >= 0.07 && v <= v_r) return k;
    if (k < 0 || k > n) continue;
    v = log(v * alpha / (a / (us * us) + b));
    double bound = (m + 0.5) * log((m + 1) / (odds * (n - m + 1))) + (n + 1) * log((n - m + 1) / (n - k + 1)) +
                   (k + 0.5) * log(odds * (n - k + 1) / (k + 1)) + stirling_tail(m) + stirling_tail(n - m) -
                   stirling_tail(k) - stirling_tail(n - k);
    if (v <= bound) return k;
  }
  return NAN;
}

/* Sums of geometric numbers until they pass n. */
static double binomial_by_inversion(Generator *g, double n, double p) {
  double passed = 0, log_q = log1p(-p);
  for (double count = 0;; count++) {
    passed += ceil(log(generator_uniform_double(g)) / log_q);
    if (!(passed <= n)) return count;
  }
}

static double sample_binomial(Generator *g, double n, double p) {
  if (n <= 0 || p <= 0) return 0;
  if (p >= 1) return n;
  if (!(p > 0)) return NAN;
  double q = p <= 0.5 ? p : 1 - p,
         count = n * q >= 10 ? binomial_by_rejection(g, n, q) : binomial_by_inversion(g, n, q);
  return p <= 0.5 ? count : n - count;
}

/* G. Marsaglia, W. W. Tsang, "A simple method for generating gamma variables" (2000). */
static double sample_gamma(Generator *g, double alpha, double unused) {
  (void)unused;
  double scale = 1;
  if (!(alpha >= 0)) return NAN;
  if (alpha < 1) {
    if (alpha == 0) return 0;
    scale = pow(1 - generator_uniform_double(g), 1 / alpha);
    alpha += 1;
  }
  double d = alpha - 1.0 / 3, c = 1 / sqrt(9 * d);
  for (;;) {
    double x, y;
    do {
      x = generator_normal(g);
      y = 1 + c * x;
    } while (y <= 0);
    double v = y * y * y, u = 1 - generator_uniform_double(g), xx = x * x;
    if (u < 1 - 0.0331 * xx * xx || log(u) < 0.5 * xx + d * (1 - v + log(v))) return scale * d * v;
  }
}

typedef struct SampleRun {
  Generator *generator;
  double (*sample)(Generator *g, double a, double b);
  DType out, a, b;
  bool one_parameter;
} SampleRun;

static void sample_run(void *argument, int64_t n, char *const *data, const int64_t *strides) {
  const SampleRun *run = argument;
  for (int64_t i = 0, done = 0; i < n; i++) {
    double a, b = 0, value;
    if (work_is_over_after(&done, 32)) return;
    dtype_convert(DTYPE_FLOAT64, &a, 1, run->a, data[1] + i * strides[1], 1, 1);
    if (!run->one_parameter) dtype_convert(DTYPE_FLOAT64, &b, 1, run->b, data[2] + i * strides[2], 1, 1);
    value = run->sample(run->generator, a, b);
    dtype_convert(run->out, data[0] + i * strides[0], 1, DTYPE_FLOAT64, &value, 1, 1);
  }
}

static Status sample_each(Call *c, Generator *g, double (*sample)(Generator *, double, double), const Tensor *a,
                          const Tensor *b_or_null) {
  Tensor *out = call_out(c, 0);
  if (!out->storage) return OK;
  Iterator it;
  TRY(iterator_init(&it, b_or_null ? 3 : 2, (const Tensor *const[]){out, a, b_or_null}));
  SampleRun run = {
      g, sample, (DType)out->dtype, (DType)a->dtype, b_or_null ? (DType)b_or_null->dtype : DTYPE_FLOAT64, !b_or_null};
  iterator_run(&it, 0, it.numel, sample_run, &run);
  return work_status();
}

static Status shape_floating(Call *c, TensorSpec *spec) {
  const Tensor *self = call_tensor(c, 0);
  if (!dtype_is_floating((DType)self->dtype)) return call_unsupported_dtype(c, (DType)self->dtype);
  shape_set(spec, (DType)self->dtype, self->ndim, self->sizes);
  spec->device = tensor_device(self);
  return OK;
}

static Status shape_binomial(Call *c, TensorSpec *spec) {
  TRY(shape_pointwise(c, spec));
  spec->has_strides = false;
  return OK;
}

static bool has_negative(const double *values, int64_t n) {
  for (int64_t i = 0; i < n; i++)
    if (!(values[i] >= 0)) return true;
  return false;
}

static Status draw_poisson(Call *c, Generator *g) {
  Tensor *rates;
  TRY(to_doubles(call_tensor(c, 0), &rates));
  bool bad = has_negative(tensor_data(rates), rates->numel);
  tensor_release(rates);
  if (bad) return status_new(ERROR_RUNTIME, "invalid Poisson rate, expected rate to be non-negative");
  return sample_each(c, g, sample_poisson, call_tensor(c, 0), NULL);
}
static Status draw_binomial(Call *c, Generator *g) {
  return sample_each(c, g, sample_binomial, call_tensor(c, 0), call_tensor(c, 1));
}
static Status draw_gamma(Call *c, Generator *g) {
  return sample_each(c, g, sample_gamma, call_tensor(c, 0), NULL);
}

/* Gamma numbers along the last dimension, divided by their sum. */
static Status draw_dirichlet(Call *c, Generator *g) {
  Tensor *out = call_out(c, 0), *gammas;
  TRY(sample_each(c, g, sample_gamma, call_tensor(c, 0), NULL));
  TRY(to_doubles(out, &gammas));
  int64_t length = out->ndim ? out->sizes[out->ndim - 1] : 1;
  double *data = tensor_data(gammas);
  for (int64_t i = 0, done = 0; length && i < gammas->numel && !work_is_over_after(&done, 2 * length); i += length) {
    double sum = 0;
    for (int64_t j = 0; j < length; j++) sum += data[i + j];
    for (int64_t j = 0; j < length; j++) data[i + j] /= sum;
  }
  Status status = tensor_copy(out, gammas, 1);
  tensor_release(gammas);
  return status;
}

#define SAMPLE(text, shape_function, body, generator, gradient)                                             \
  {                                                                                                         \
    .schema = text, .shape = shape_function, .kernel = kernel_draw, .with = &(const Draw){body, generator}, \
    .grad = gradient, .flags = OP_OUT | OP_NONDETERMINISTIC                                                 \
  }

static const OpRow rows[] = {
    {.schema = "aten::multinomial(Tensor self, int num_samples, bool replacement=False, *, Generator? generator=None) "
               "-> Tensor",
     .shape = shape_multinomial,
     .kernel = kernel_draw,
     .with = &(const Draw){draw_multinomial, 3},
     .extras = &(const RowExtras){.exact_out = "multinomial expects {wanted} tensor out, got: {given}"},
     .flags = OP_OUT | OP_NONDETERMINISTIC | OP_NOT_DIFFERENTIABLE},
    SAMPLE("aten::poisson(Tensor self, Generator? generator=None) -> Tensor", shape_floating, draw_poisson, 1,
           "self: torch.zeros_like(grad)"),
    SAMPLE("aten::binomial(Tensor count, Tensor prob, Generator? generator=None) -> Tensor", shape_binomial,
           draw_binomial, 2, "count: torch.zeros_like(grad); prob: torch.zeros_like(grad)"),
    SAMPLE("aten::_standard_gamma(Tensor self, Generator? generator=None) -> Tensor", shape_floating, draw_gamma, 1,
           NULL),
    SAMPLE("aten::_sample_dirichlet(Tensor self, Generator? generator=None) -> Tensor", shape_floating, draw_dirichlet,
           1, NULL),
};

OP_TABLE(op_table_sample, rows);
