/* Convolution as matrix products over unfolded input (K. Chellapilla et al., "High Performance Convolutional Neural
 * Networks for Document Processing", 2006). A transposed convolution is the gradient of a plain one with respect to its
 * input. */
#include "base/cache.h"

#include <assert.h>

#include "compute/conv/conv.h"
#include "compute/gemm/gemm.h"

/* The plain convolution that p is, or whose input gradient p is: `wide` is its input side, `narrow` its output side. */
typedef struct Unfold {
  const ConvParams *p;
  int64_t wide[CONV_SPATIAL], narrow[CONV_SPATIAL];
  int64_t wide_channels, narrow_channels;               /* of one group */
  int64_t wide_numel, narrow_numel, kernel_numel, rows; /* rows: wide_channels * kernel_numel */
} Unfold;

static Unfold unfold_of(const ConvParams *p) {
  assert(p->groups > 0 && p->in_channels % p->groups == 0 && p->out_channels % p->groups == 0);
  Unfold u = {.p = p, .wide_numel = 1, .narrow_numel = 1, .kernel_numel = 1};
  for (int d = 0; d < CONV_SPATIAL; d++) {
    u.wide[d] = p->transposed ? p->out[d] : p->in[d];
    u.narrow[d] = p->transposed ? p->in[d] : p->out[d];
    u.wide_numel *= u.wide[d];
    u.narrow_numel *= u.narrow[d];
    u.kernel_numel *= p->kernel[d];
  }
  u.wide_channels = (p->transposed ? p->out_channels : p->in_channels) / p->groups;
  u.narrow_channels = (p->transposed ? p->in_channels : p->out_channels) / p->groups;
  u.rows = u.wide_channels * u.kernel_numel;
  return u;
}

/* Visits each (row, column) of the unfolded matrix: BODY sees `at`, the element of `wide`, or -1 in the padding, and
 * `i`, the matrix cell. */
#define EACH_CELL(BODY)                                                                                          \
  for (int64_t row = 0, i = 0; row < u->rows; row++) {                                                           \
    int64_t k = row % u->kernel_numel, channel = row / u->kernel_numel * u->wide_numel;                          \
    int64_t k2 = k % p->kernel[2], k1 = k / p->kernel[2] % p->kernel[1], k0 = k / (p->kernel[2] * p->kernel[1]); \
    for (int64_t o0 = 0; o0 < u->narrow[0]; o0++) {                                                              \
      int64_t x0 = o0 * p->stride[0] - p->padding[0] + k0 * p->dilation[0];                                      \
      for (int64_t o1 = 0; o1 < u->narrow[1]; o1++) {                                                            \
        int64_t x1 = o1 * p->stride[1] - p->padding[1] + k1 * p->dilation[1];                                    \
        bool outside = x0 < 0 || x0 >= u->wide[0] || x1 < 0 || x1 >= u->wide[1];                                 \
        int64_t line = channel + (x0 * u->wide[1] + x1) * u->wide[2];                                            \
        int64_t x2 = k2 * p->dilation[2] - p->padding[2];                                                        \
        for (int64_t o2 = 0; o2 < u->narrow[2]; o2++, x2 += p->stride[2], i++) {                                 \
          int64_t at = outside || x2 < 0 || x2 >= u->wide[2] ? -1 : line + x2;                                   \
          BODY;                                                                                                  \
        }                                                                                                        \
      }                                                                                                          \
    }                                                                                                            \
  }

#define FOLDING(T)                                                                    \
  static void unfold_##T(const Unfold *u, const T *wide, T *columns) {                \
    const ConvParams *p = u->p;                                                       \
    EACH_CELL(columns[i] = at < 0 ? 0 : wide[at])                                     \
  }                                                                                   \
  static void fold_##T(const Unfold *u, const T *columns, T *wide) {                  \
    const ConvParams *p = u->p;                                                       \
    EACH_CELL(if (at >= 0) wide[at] += columns[i])                                    \
  }                                                                                   \
  static void add_bias_##T(int64_t channels, int64_t numel, const T *bias, T *out) {  \
    for (int64_t c = 0; c < channels; c++)                                            \
      for (int64_t i = 0; i < numel; i++) *out++ = bias ? bias[c] : 0;                \
  }                                                                                   \
  static void sum_bias_##T(int64_t channels, int64_t numel, const T *grad, T *bias) { \
    for (int64_t c = 0; c < channels; c++, grad += numel) {                           \
      double sum = 0;                                                                 \
      for (int64_t i = 0; i < numel; i++) sum += grad[i];                             \
      bias[c] += (T)sum;                                                              \
    }                                                                                 \
  }
FOLDING(float)
FOLDING(double)

#define CALL_FOR(dtype, name, ...) ((dtype) == DTYPE_FLOAT32 ? name##_float(__VA_ARGS__) : name##_double(__VA_ARGS__))

static Status columns_new(const Unfold *u, DType dtype, void **out, size_t *out_bytes) {
  int64_t cells;
  if (!int64_mul(u->rows, u->narrow_numel, &cells) || !size_mul((size_t)cells + 1, dtype_size(dtype), out_bytes))
    return status_out_of_memory();
  *out = cache_alloc(*out_bytes);
  return *out ? OK : status_out_of_memory();
}

bool conv_is_product(const ConvParams *p) {
  for (int d = 0; d < CONV_SPATIAL; d++)
    if (p->transposed || p->kernel[d] != 1 || p->stride[d] != 1 || p->padding[d] != 0 || p->padding_after[d] != 0 ||
        p->output_padding[d] != 0)
      return false;
  return true;
}

/* narrow = weight * unfold(wide), for every sample and group; narrow holds what to add to. */
static Status narrow_from_wide(const Work *work, const Unfold *u, DType dtype, const char *wide, const char *weight,
                               char *narrow) {
  const ConvParams *p = u->p;
  int64_t item = (int64_t)dtype_size(dtype);
  void *columns = NULL;
  size_t bytes = 0;
  bool direct = conv_is_product(p);
  if (!direct) TRY(columns_new(u, dtype, &columns, &bytes));
  Status status = OK;
  for (int64_t i = 0; i < p->batch * p->groups && status == OK; i++) {
    const char *from = wide + i * u->wide_channels * u->wide_numel * item;
    if (!direct) CALL_FOR(dtype, unfold, u, (const void *)from, columns);
    const char *w = weight + i % p->groups * u->narrow_channels * u->rows * item;
    status = gemm(work, dtype, u->narrow_channels, u->narrow_numel, u->rows, 1, (GemmMatrix){w, u->rows, 1},
                  (GemmMatrix){direct ? from : columns, u->narrow_numel, 1},
                  narrow + i * u->narrow_channels * u->narrow_numel * item, u->narrow_numel, true);
    if (status == OK) status = work_poll(work);
  }
  if (columns) cache_free(columns, bytes);
  return status;
}

/* wide += fold(weight^T * narrow) */
static Status wide_from_narrow(const Work *work, const Unfold *u, DType dtype, const char *narrow, const char *weight,
                               char *wide) {
  const ConvParams *p = u->p;
  int64_t item = (int64_t)dtype_size(dtype);
  void *columns;
  size_t bytes;
  TRY(columns_new(u, dtype, &columns, &bytes));
  Status status = OK;
  for (int64_t i = 0; i < p->batch * p->groups && status == OK; i++) {
    const char *w = weight + i % p->groups * u->narrow_channels * u->rows * item;
    status = gemm(work, dtype, u->rows, u->narrow_numel, u->narrow_channels, 1, (GemmMatrix){w, 1, u->rows},
                  (GemmMatrix){narrow + i * u->narrow_channels * u->narrow_numel * item, u->narrow_numel, 1}, columns,
                  u->narrow_numel, false);
    void *to = wide + i * u->wide_channels * u->wide_numel * item;
    if (status == OK) CALL_FOR(dtype, fold, u, columns, to);
    if (status == OK) status = work_poll(work);
  }
  cache_free(columns, bytes);
  return status;
}

/* grad_weight += narrow * unfold(wide)^T */
static Status weight_gradient(const Work *work, const Unfold *u, DType dtype, const char *narrow, const char *wide,
                              char *grad_weight) {
  const ConvParams *p = u->p;
  int64_t item = (int64_t)dtype_size(dtype);
  void *columns = NULL;
  size_t bytes = 0;
  bool direct = conv_is_product(p);
  if (!direct) TRY(columns_new(u, dtype, &columns, &bytes));
  Status status = OK;
  for (int64_t i = 0; i < p->batch * p->groups && status == OK; i++) {
    const void *from = wide + i * u->wide_channels * u->wide_numel * item;
    if (!direct) CALL_FOR(dtype, unfold, u, from, columns);
    status = gemm(work, dtype, u->narrow_channels, u->rows, u->narrow_numel, 1,
                  (GemmMatrix){narrow + i * u->narrow_channels * u->narrow_numel * item, u->narrow_numel, 1},
                  (GemmMatrix){direct ? from : columns, 1, u->narrow_numel},
                  grad_weight + i % p->groups * u->narrow_channels * u->rows * item, u->rows, true);
  }
  if (columns) cache_free(columns, bytes);
  return status;
}

Status conv_forward_portable(const Work *work, const ConvParams *p, DType dtype, const void *input, const void *weight,
                             const void *bias, void *out) {
  Unfold u = unfold_of(p);
  int64_t numel = p->out[0] * p->out[1] * p->out[2];
  for (int64_t n = 0; n < p->batch; n++) {
    void *sample = (char *)out + n * p->out_channels * numel * (int64_t)dtype_size(dtype);
    CALL_FOR(dtype, add_bias, p->out_channels, numel, bias, sample);
  }
  return p->transposed ? wide_from_narrow(work, &u, dtype, input, weight, out)
                       : narrow_from_wide(work, &u, dtype, input, weight, out);
}

Status conv_backward_portable(const Work *work, const ConvParams *p, DType dtype, const void *grad, const void *input,
                              const void *weight, void *grad_input, void *grad_weight, void *grad_bias) {
  Unfold u = unfold_of(p);
  size_t item = dtype_size(dtype);
  int64_t in = p->in[0] * p->in[1] * p->in[2], out = p->out[0] * p->out[1] * p->out[2];
  if (grad_input) {
    memset(grad_input, 0, (size_t)(p->batch * p->in_channels * in) * item);
    TRY(p->transposed ? narrow_from_wide(work, &u, dtype, grad, weight, grad_input)
                      : wide_from_narrow(work, &u, dtype, grad, weight, grad_input));
  }
  if (grad_weight) {
    memset(grad_weight, 0, (size_t)(p->groups * u.narrow_channels * u.rows) * item);
    TRY(p->transposed ? weight_gradient(work, &u, dtype, input, grad, grad_weight)
                      : weight_gradient(work, &u, dtype, grad, input, grad_weight));
  }
  if (grad_bias) {
    memset(grad_bias, 0, (size_t)p->out_channels * item);
    for (int64_t n = 0; n < p->batch; n++) {
      const void *sample = (const char *)grad + n * p->out_channels * out * (int64_t)item;
      CALL_FOR(dtype, sum_bias, p->out_channels, out, sample, grad_bias);
    }
  }
  return OK;
}
