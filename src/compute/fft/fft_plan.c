/* Factors, and roots of unity to the last place. */
#include "compute/fft/fft_plan.h"

#include <math.h>

#include "base/memory.h"
#include "base/processor.h"

static const double pi = 3.14159265358979323846;

/* exp(-2 pi i k / n), 0 <= k < n: of an angle in the first octant, mirrored. */
static void root_of_unity(int64_t k, int64_t n, double *re, double *im) {
  uint64_t eighths = 8 * (uint64_t)k, octant = eighths / (uint64_t)n;
  double rest = (double)(eighths % (uint64_t)n);
  bool is_odd = octant & 1;
  double angle = pi / 4 * (is_odd ? (double)n - rest : rest) / (double)n;
  double c = cos(angle), s = sin(angle);
  static const signed char axes[8][3] = {
      /* whether the cosine is s, signs of both */
      {0, 1, 1}, {1, 1, 1}, {1, -1, 1}, {0, -1, 1}, {0, -1, -1}, {1, -1, -1}, {1, 1, -1}, {0, 1, -1}};
  const signed char *axis = axes[octant];
  *re = axis[1] * (axis[0] ? s : c);
  *im = -axis[2] * (axis[0] ? c : s);
}

static void put(void *pairs, bool is_double, int64_t k, double re, double im) {
  if (is_double)
    ((double *)pairs)[2 * k] = re, ((double *)pairs)[2 * k + 1] = im;
  else
    ((float *)pairs)[2 * k] = (float)re, ((float *)pairs)[2 * k + 1] = (float)im;
}

static size_t pair_bytes(bool is_double) {
  return is_double ? 2 * sizeof(double) : 2 * sizeof(float);
}

/* All n roots, as products of some that are far apart and some that are near. */
static Status new_roots(int64_t n, bool is_double, void **out) {
  enum { NEAR = 64 };
  double near[NEAR][2], re, im;
  for (int64_t k = 0; k < NEAR && k < n; k++) root_of_unity(k, n, &near[k][0], &near[k][1]);
  *out = mem_alloc(pair_bytes(is_double) * (size_t)n);
  if (!*out) return status_out_of_memory();
#define PRODUCTS(Number)                                         \
  do {                                                           \
    Number(*roots)[2] = (Number(*)[2]) * out + far;              \
    for (int64_t k = 0; k < count; k++) {                        \
      roots[k][0] = (Number)(re * near[k][0] - im * near[k][1]); \
      roots[k][1] = (Number)(re * near[k][1] + im * near[k][0]); \
    }                                                            \
  } while (0)
  for (int64_t far = 0; far < n; far += NEAR) {
    int64_t count = n - far < NEAR ? n - far : NEAR;
    root_of_unity(far, n, &re, &im);
    if (is_double)
      PRODUCTS(double);
    else
      PRODUCTS(float);
  }
#undef PRODUCTS
  return OK;
}

/* Whether all factors are small; fours first, for their butterflies do most for what they read. */
static bool factorize(int64_t n, FftFactors *factors) {
  for (; n % 4 == 0; n /= 4) factors->of[factors->count++] = 4;
  for (int factor = 2; n > 1 && factor <= FFT_LARGEST_FACTOR; factor++)
    for (; n % factor == 0; n /= factor) factors->of[factors->count++] = factor;
  return n == 1;
}

static Status new_twists(FftPlan *plan) {
  int64_t each = plan->points / plan->split, padded = each + plan->lanes, all = padded * plan->split;
  plan->twists = mem_calloc((size_t)all, pair_bytes(plan->is_double));
  if (!plan->twists) return status_out_of_memory();
#define TWISTS(Number)                                               \
  for (int64_t c = 0; c < plan->split; c++) {                        \
    const Number *root = plan->roots;                                \
    Number *re = (Number *)plan->twists + c * padded;                \
    for (int64_t k = 0; k < each; k++, root += 2 * c * plan->step) { \
      re[k] = root[0];                                               \
      re[all + k] = root[1];                                         \
    }                                                                \
  }
  if (plan->is_double)
    TWISTS(double)
  else
    TWISTS(float)
#undef TWISTS
  return OK;
}

/* The kernel: the transform of the chirp's conjugate, around the convolution's end. */
static Status new_kernel(FftPlan *plan) {
  int64_t n = plan->points, length = plan->convolved->points;
  size_t pair = pair_bytes(plan->is_double), number = pair / 2;
  plan->chirp = mem_alloc(pair * (size_t)n);
  plan->kernel = mem_alloc(pair * (size_t)length);
  char *parts = mem_calloc((size_t)(length + 64), 3 * pair);
  if (!plan->chirp || !plan->kernel || !parts) {
    mem_free(parts);
    return status_out_of_memory();
  }
  char *re = parts, *im = parts + number * (size_t)length;
  for (int64_t j = 0; j < n; j++) {
    double c, s;
    root_of_unity((int64_t)((unsigned __int128)j * (uint64_t)j % (uint64_t)(2 * n)), 2 * n, &c, &s);
    put(plan->chirp, plan->is_double, j, c, s);
    for (int64_t at = j; at < length; at = j && at == j ? length - j : length) {
      double scaled_re = c / (double)length, scaled_im = -s / (double)length;
      if (plan->is_double)
        ((double *)(void *)re)[at] = scaled_re, ((double *)(void *)im)[at] = scaled_im;
      else
        ((float *)(void *)re)[at] = (float)scaled_re, ((float *)(void *)im)[at] = (float)scaled_im;
    }
  }
  FftSingle *single = plan->is_double ? PROCESSOR_FORM(fft_single_double) : PROCESSOR_FORM(fft_single_float);
  single(plan->convolved, parts);
  for (int64_t k = 0; k < length; k++)
    if (plan->is_double)
      put(plan->kernel, true, k, ((double *)(void *)re)[k], ((double *)(void *)im)[k]);
    else
      put(plan->kernel, false, k, ((float *)(void *)re)[k], ((float *)(void *)im)[k]);
  mem_free(parts);
  return OK;
}

static Status fill(FftPlan *plan) {
  int64_t n = plan->points;
  bool has_factors = factorize(n, &plan->whole);
  TRY(new_roots(n * plan->step, plan->is_double, &plan->roots));
  if (has_factors) {
    for (int split = plan->lanes; split > 1 && !plan->split; split--)
      if (n % split == 0) plan->split = split;
    if (!plan->split) return OK;
    factorize(n / plan->split, &plan->part);
    return new_twists(plan);
  }
  int64_t length = 64;
  while (length < 2 * n - 1) length *= 2;
  TRY(fft_plan_new(length, 1, plan->is_double, &plan->convolved));
  plan->split = plan->lanes; /* the convolution's */
  return new_kernel(plan);
}

Status fft_plan_new(int64_t points, int64_t step, bool is_double, FftPlan **out) {
  FftPlan *plan = mem_calloc(1, sizeof *plan);
  *out = NULL;
  if (!plan) return status_out_of_memory();
  *plan = (FftPlan){.points = points,
                    .step = step,
                    .is_double = is_double,
                    .refs = {1},
                    .lanes = FFT_VECTOR_BYTES / (int)(pair_bytes(is_double) / 2)};
  Status status = fill(plan);
  if (status)
    fft_plan_free(plan);
  else
    *out = plan;
  return status;
}

void fft_plan_free(FftPlan *plan) {
  if (!plan) return;
  fft_plan_free(plan->convolved);
  mem_free(plan->roots), mem_free(plan->twists), mem_free(plan->chirp), mem_free(plan->kernel);
  mem_free(plan);
}
