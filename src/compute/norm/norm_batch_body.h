/* The loops of norm_batch.h for one instruction set. The including file defines NAME, the table. */
#include "compute/norm/norm_batch.h"

/* Eight sums side by side, as two vectors: GCC converts wider ones one element after the other. */
typedef double Half __attribute__((vector_size(32)));
typedef float Vec_float __attribute__((vector_size(16), aligned(4), may_alias));
typedef double Vec_double __attribute__((vector_size(32), aligned(8), may_alias));
enum { HALF = 4, LANES = 2 * HALF };
#define LOAD(T, p) __builtin_convertvector(*(const Vec_##T *)(p), Half)

/* In an order that is the same for every instruction set. */
static inline double sum_of(const Half *s) {
  const Half x = s[0] + s[1];
  return (x[0] + x[2]) + (x[1] + x[3]);
}

#define LOOPS(T)                                                                                                       \
  static void moments_##T(int64_t n, const void *values, double first, double *sums) {                                 \
    const T *x = values;                                                                                               \
    Half sum[2] = {{0}}, squares[2] = {{0}};                                                                           \
    int64_t i = 0;                                                                                                     \
    for (; i + LANES <= n; i += LANES)                                                                                 \
      for (int h = 0; h < 2; h++) {                                                                                    \
        Half d = LOAD(T, x + i + h * HALF) - first;                                                                    \
        sum[h] += d;                                                                                                   \
        squares[h] += d * d;                                                                                           \
      }                                                                                                                \
    double rest = 0, rest_squares = 0;                                                                                 \
    for (; i < n; i++) {                                                                                               \
      double d = (double)x[i] - first;                                                                                 \
      rest += d;                                                                                                       \
      rest_squares += d * d;                                                                                           \
    }                                                                                                                  \
    sums[0] += sum_of(sum) + rest;                                                                                     \
    sums[1] += sum_of(squares) + rest_squares;                                                                         \
  }                                                                                                                    \
  static void products_##T(int64_t n, const void *values, const void *gradients, double mean, double *sums) {          \
    const T *x = values, *grad = gradients;                                                                            \
    Half sum[2] = {{0}}, product[2] = {{0}};                                                                           \
    int64_t i = 0;                                                                                                     \
    for (; i + LANES <= n; i += LANES)                                                                                 \
      for (int h = 0; h < 2; h++) {                                                                                    \
        Half g = LOAD(T, grad + i + h * HALF);                                                                         \
        sum[h] += g;                                                                                                   \
        product[h] += g * (LOAD(T, x + i + h * HALF) - mean);                                                          \
      }                                                                                                                \
    double rest = 0, rest_product = 0;                                                                                 \
    for (; i < n; i++) {                                                                                               \
      rest += (double)grad[i];                                                                                         \
      rest_product += (double)grad[i] * ((double)x[i] - mean);                                                         \
    }                                                                                                                  \
    sums[0] += sum_of(sum) + rest;                                                                                     \
    sums[1] += sum_of(product) + rest_product;                                                                         \
  }                                                                                                                    \
  static void gradient_##T(int64_t n, const void *values, const void *gradients, const NormGradient *g, void *out) {   \
    const T *x = values, *grad = gradients;                                                                            \
    T *to = out, mean = (T)g->mean, mean_grad = (T)g->mean_grad, factor = (T)g->factor, scale = (T)g->scale;           \
    for (int64_t i = 0; i < n; i++) to[i] = (grad[i] - mean_grad - (x[i] - mean) * factor) * scale;                    \
  }                                                                                                                    \
  static void row_moments_##T(int64_t n, const void *values, const double *first, double *sums, double *squares) {     \
    const T *x = values;                                                                                               \
    for (int64_t c = 0; c < n; c++) {                                                                                  \
      double d = (double)x[c] - first[c];                                                                              \
      sums[c] += d;                                                                                                    \
      squares[c] += d * d;                                                                                             \
    }                                                                                                                  \
  }                                                                                                                    \
  static void row_products_##T(int64_t n, const void *values, const void *gradients, const double *mean, double *sums, \
                               double *products) {                                                                     \
    const T *x = values, *grad = gradients;                                                                            \
    for (int64_t c = 0; c < n; c++) {                                                                                  \
      double g = (double)grad[c];                                                                                      \
      sums[c] += g;                                                                                                    \
      products[c] += g * ((double)x[c] - mean[c]);                                                                     \
    }                                                                                                                  \
  }                                                                                                                    \
  static void row_gradient_##T(int64_t n, const void *values, const void *gradients, const void *numbers,              \
                               int64_t stride, void *out) {                                                            \
    const T *x = values, *grad = gradients, *mean = numbers, *mean_grad = mean + stride, *factor = mean_grad + stride, \
            *scale = factor + stride;                                                                                  \
    T *to = out;                                                                                                       \
    for (int64_t c = 0; c < n; c++) to[c] = (grad[c] - mean_grad[c] - (x[c] - mean[c]) * factor[c]) * scale[c];        \
  }
#define TABLE(T) \
  { moments_##T, products_##T, gradient_##T, row_moments_##T, row_products_##T, row_gradient_##T }

LOOPS(float)
LOOPS(double)
const NormBatchForms NAME = {TABLE(float), TABLE(double)};
