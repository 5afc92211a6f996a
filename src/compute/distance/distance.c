/* distance.h: sums in several parts, which vectors compute. */
#include "compute/distance/distance.h"

#include <assert.h>
#include <math.h>

#include "base/parallel.h"
#include "compute/gemm/gemm.h"

enum { LANES = 8 };
/* Squares of distances below this part of the rows' own lose too many digits as differences of products. */
#define CLOSE 0x1p-6f

/* The sum over i of `term`, in LANES parts. */
#define SUM_OF(T, term)                                                         \
  T lanes[LANES] = {0}, sum = 0;                                                \
  int64_t whole = n - n % LANES;                                                \
  for (int64_t begin = 0; begin < whole; begin += LANES)                        \
    for (int64_t i = begin; i < begin + LANES; i++) lanes[i - begin] += (term); \
  for (int64_t i = whole; i < n; i++) sum += (term);                            \
  for (int lane = 0; lane < LANES; lane++) sum += lanes[lane]

static double distance_0(const double *a, const double *b, int64_t n, double p) {
  (void)p;
  SUM_OF(double, a[i] != b[i]);
  return sum;
}
static double distance_1(const double *a, const double *b, int64_t n, double p) {
  (void)p;
  SUM_OF(double, fabs(a[i] - b[i]));
  return sum;
}
static double distance_2(const double *a, const double *b, int64_t n, double p) {
  (void)p;
  SUM_OF(double, (a[i] - b[i]) * (a[i] - b[i]));
  return sqrt(sum);
}
static double distance_inf(const double *a, const double *b, int64_t n, double p) {
  (void)p;
  double largest = 0;
  for (int64_t i = 0; i < n; i++) {
    double size = fabs(a[i] - b[i]);
    if (size > largest || isnan(size)) largest = size;
    if (isnan(largest)) break;
  }
  return largest;
}
static double distance_p(const double *a, const double *b, int64_t n, double p) {
  double sum = 0;
  for (int64_t i = 0; i < n; i++) sum += pow(fabs(a[i] - b[i]), p);
  return pow(sum, 1 / p);
}
Distance *distance_of(double p) {
  return p == 0 ? distance_0 : p == 1 ? distance_1 : p == 2 ? distance_2 : isinf(p) ? distance_inf : distance_p;
}

static float square_of(const float *x, int64_t n) {
  SUM_OF(float, x[i] * x[i]);
  return sum;
}

static float square_between(const float *a, const float *b, int64_t n) {
  SUM_OF(float, (a[i] - b[i]) * (a[i] - b[i]));
  return sum;
}

typedef struct Products {
  int64_t rows_b, n;
  const float *a, *b, *squares_b;
  float *out;
} Products;

static void products_to_distances(void *argument, int64_t begin, int64_t end) {
  const Products *p = argument;
  for (int64_t i = begin; i < end; i++) {
    const float *a = p->a + i * p->n, *squares_b = p->squares_b;
    float square = square_of(a, p->n), *out = p->out + i * p->rows_b;
    int32_t close = 0;
    for (int64_t j = 0; j < p->rows_b; j++) {
      float scale = square + squares_b[j], x = scale + out[j];
      close += !(x >= scale * CLOSE);
      out[j] = sqrtf(x);
    }
    for (int64_t j = 0; j < p->rows_b && close; j++) {
      float scale = square + squares_b[j];
      if (!(out[j] * out[j] > scale * (2 * CLOSE))) out[j] = sqrtf(square_between(a, p->b + j * p->n, p->n));
    }
  }
}

Status distance_by_product(const Work *work, int64_t rows_a, int64_t rows_b, int64_t n, const float *a, const float *b,
                           float *out) {
  assert(rows_a > 0 && rows_b > 0 && n >= 0);
  Tensor *squares;
  TRY(tensor_empty(DTYPE_FLOAT32, 1, &rows_b, &squares));
  float *squares_b = tensor_data(squares);
  for (int64_t j = 0; j < rows_b; j++) squares_b[j] = square_of(b + j * n, n);
  Status status = gemm(work, DTYPE_FLOAT32, rows_a, rows_b, n, -2, (GemmMatrix){a, n, 1}, (GemmMatrix){b, 1, n}, out,
                       rows_b, false);
  if (status == OK)
    parallel_for(work->threads, rows_a, 1 + 30000 / (rows_b + n), products_to_distances,
                 &(Products){rows_b, n, a, b, squares_b, out});
  tensor_release(squares);
  return status;
}
