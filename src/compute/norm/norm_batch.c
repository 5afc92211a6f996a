/* Batch normalization: the walk over channels. */
#include "base/memory.h"
#include "base/parallel.h"
#include "base/processor.h"
#include "tensor/tensor.h"
#define NAME norm_batch_portable
#include "compute/norm/norm_batch_body.h"

enum { ONE_THREAD_ELEMENTS = 16384, ROW_CHANNELS = 16 /* that a thread takes of rows at least: a line of cache */ };

typedef struct Walk {
  const NormBatch *b;
  const NormBatchLoops *loops;
  int64_t item;
  bool training;
  double *first, *sums, *others; /* of each channel */
  const double *mean, *invstd, *weight;
  void *numbers; /* of rows: a line for each of NormGradient's, of x's type */
} Walk;

static Walk walk_of(const NormBatch *b) {
  const NormBatchForms *forms = PROCESSOR_FORM(norm_batch);
  bool is_double = b->dtype == DTYPE_FLOAT64;
  return (Walk){.b = b, .loops = &(*forms)[is_double], .item = is_double ? sizeof(double) : sizeof(float)};
}

static void share_out(int threads, const NormBatch *b, ParallelBody *body, Walk *w) {
  int64_t grain = 1 + ONE_THREAD_ELEMENTS / (b->batch * b->inner + 1);
  if (b->inner == 1 && grain < ROW_CHANNELS) grain = ROW_CHANNELS;
  parallel_for(threads, b->channels, grain, body, w);
}

/* Of an operand, from a channel of a sample on. */
static const char *place_of(const Walk *w, const void *operand, int64_t n, int64_t channel) {
  return (const char *)operand + (n * w->b->channels + channel) * w->b->inner * w->item;
}

static double first_of(const Walk *w, int64_t channel) {
  const char *x = place_of(w, w->b->x, 0, channel);
  return w->b->dtype == DTYPE_FLOAT64 ? *(const double *)x : (double)*(const float *)x;
}

static void sum_moments(void *argument, int64_t begin, int64_t end) {
  const Walk *w = argument;
  const NormBatch *b = w->b;
  for (int64_t c = begin; c < end; c++) w->first[c] = first_of(w, c);
  for (int64_t n = 0; n < b->batch && b->inner == 1; n++)
    w->loops->row_moments(end - begin, place_of(w, b->x, n, begin), w->first + begin, w->sums + begin,
                          w->others + begin);
  for (int64_t c = begin; c < end && b->inner != 1; c++) {
    double sums[2] = {0, 0};
    for (int64_t n = 0; n < b->batch; n++) w->loops->moments(b->inner, place_of(w, b->x, n, c), w->first[c], sums);
    w->sums[c] = sums[0];
    w->others[c] = sums[1];
  }
}

Status norm_batch_statistics(int threads, const NormBatch *b, double *mean, double *variance) {
  int64_t count = b->batch * b->inner;
  size_t bytes = (size_t)b->channels * sizeof(double);
  memset(mean, 0, bytes);
  memset(variance, 0, bytes);
  if (!count) return OK;
  Walk w = walk_of(b);
  w.first = mem_alloc(bytes + 1);
  if (!w.first) return status_out_of_memory();
  w.sums = mean;
  w.others = variance;
  share_out(threads, b, sum_moments, &w);
  for (int64_t c = 0; c < b->channels; c++) {
    double sum = mean[c], squared = (variance[c] - sum * sum / (double)count) / (double)count;
    mean[c] = w.first[c] + sum / (double)count;
    variance[c] = squared < 0 ? 0 : squared;
  }
  mem_free(w.first);
  return OK;
}

static NormGradient gradient_of(const Walk *w, int64_t c, double sum, double product) {
  double count = (double)(w->b->batch * w->b->inner), invstd = w->invstd[c], weight = w->weight ? w->weight[c] : 1;
  return (NormGradient){.mean = w->mean[c],
                        .mean_grad = w->training ? sum / count : 0,
                        .factor = w->training ? product / count * invstd * invstd : 0,
                        .scale = invstd * weight};
}

static void put_numbers(const Walk *w, int64_t c, NormGradient g) {
  const double numbers[] = {g.mean, g.mean_grad, g.factor, g.scale};
  dtype_convert(w->b->dtype, (char *)w->numbers + c * w->item, w->b->channels, DTYPE_FLOAT64, numbers, 1, 4);
}

static void derive_rows(const Walk *w, int64_t begin, int64_t end) {
  const NormBatch *b = w->b;
  for (int64_t n = 0; n < b->batch; n++)
    w->loops->row_products(end - begin, place_of(w, b->x, n, begin), place_of(w, b->grad, n, begin), w->mean + begin,
                           w->sums + begin, w->others + begin);
  for (int64_t c = begin; c < end; c++) put_numbers(w, c, gradient_of(w, c, w->sums[c], w->others[c]));
  for (int64_t n = 0; n < b->batch && b->grad_x; n++)
    w->loops->row_gradient(end - begin, place_of(w, b->x, n, begin), place_of(w, b->grad, n, begin),
                           (const char *)w->numbers + begin * w->item, b->channels,
                           (char *)place_of(w, b->grad_x, n, begin));
}

static void derive(void *argument, int64_t begin, int64_t end) {
  const Walk *w = argument;
  const NormBatch *b = w->b;
  if (b->inner == 1) {
    derive_rows(w, begin, end);
    return;
  }
  for (int64_t c = begin; c < end; c++) {
    double sums[2] = {0, 0};
    for (int64_t n = 0; n < b->batch; n++)
      w->loops->products(b->inner, place_of(w, b->x, n, c), place_of(w, b->grad, n, c), w->mean[c], sums);
    NormGradient g = gradient_of(w, c, sums[0], sums[1]);
    for (int64_t n = 0; n < b->batch && b->grad_x; n++)
      w->loops->gradient(b->inner, place_of(w, b->x, n, c), place_of(w, b->grad, n, c), &g,
                         (char *)place_of(w, b->grad_x, n, c));
    w->sums[c] = sums[0];
    w->others[c] = sums[1];
  }
}

Status norm_batch_backward(int threads, const NormBatch *b, bool training, const double *mean, const double *invstd,
                           const double *weight, double *grad_weight, double *grad_bias) {
  size_t bytes = (size_t)b->channels * sizeof(double);
  memset(grad_bias, 0, bytes);
  memset(grad_weight, 0, bytes);
  if (b->batch * b->inner == 0) return OK;
  Walk w = walk_of(b);
  w.training = training;
  w.sums = grad_bias;
  w.others = grad_weight;
  w.mean = mean;
  w.invstd = invstd;
  w.weight = weight;
  w.numbers = b->inner == 1 ? mem_alloc(4 * bytes) : NULL;
  if (b->inner == 1 && !w.numbers) return status_out_of_memory();
  share_out(threads, b, derive, &w);
  for (int64_t c = 0; c < b->channels; c++) grad_weight[c] *= invstd[c];
  mem_free(w.numbers);
  return OK;
}
