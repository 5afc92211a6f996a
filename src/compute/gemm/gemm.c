/* Chooses how to multiply (gemm.h) and splits the work over threads. */
#include "compute/gemm/gemm.h"

#include <assert.h>

#include "base/cache.h"
#include "base/parallel.h"
#include "base/processor.h"
#include "base/work_limit.h"

/* Above this many multiply-adds oneDNN's call pays for itself, where our own kernels are the portable ones. */
static const int64_t ONEDNN_FROM = 1 << 20;
static bool onednn_is_faster(const Work *work, int64_t m, int64_t n, int64_t k) {
  return PROCESSOR_FORM(gemm_kernels) == &gemm_kernels_portable && work->threads > 0 && m > 4 && n > 4 &&
         m * n * k >= ONEDNN_FROM;
}
/* Work between two looks at a deadline. */
static const double ATTENDED_FROM = 2e9;

static const GemmKernels *kernels(void) {
  return PROCESSOR_FORM(gemm_kernels);
}

static void multiply_f32(int64_t m, int64_t n, int64_t k, double alpha, GemmMatrix a, GemmMatrix b, float *c,
                         int64_t c_row_stride, void *scratch) {
  if (m > 4 && n > 4 && PROCESSOR_HAS_AVX512)
    gemm_block_avx512(m, n, k, alpha, a, b, c, c_row_stride, scratch);
  else
    kernels()->f32(m, n, k, alpha, a, b, c, c_row_stride, scratch);
}

typedef struct Product {
  DType dtype;
  int64_t m, n, k, c_row_stride;
  double alpha;
  GemmMatrix a, b;
  char *c;
  bool by_rows;                 /* threads take rows of C, else columns */
  const GemmEpilogue *epilogue; /* of float32; NULL: none */
  int64_t row;                  /* of all that the epilogue knows, C's first */
  _Atomic bool failed;
} Product;

static void run_part(void *argument, int64_t begin, int64_t end) {
  Product *p = argument;
  size_t item = dtype_size(p->dtype);
  GemmMatrix a = p->a, b = p->b;
  char *c = p->c;
  int64_t m = p->m, n = p->n;
  if (p->by_rows) {
    a.data = (const char *)a.data + begin * a.row_stride * (int64_t)item;
    c += begin * p->c_row_stride * (int64_t)item;
    m = end - begin;
  } else {
    b.data = (const char *)b.data + begin * b.col_stride * (int64_t)item;
    c += begin * (int64_t)item;
    n = end - begin;
  }
  char small[8192];
  size_t bytes = m <= 4 || n <= 4 ? 0 : gemm_scratch_bytes(m, n, p->k);
  void *scratch = bytes <= sizeof small ? small : cache_alloc(bytes);
  if (!scratch) {
    p->failed = true;
    return;
  }
  if (p->dtype == DTYPE_FLOAT32)
    multiply_f32(m, n, p->k, p->alpha, a, b, (float *)c, p->c_row_stride, scratch);
  else
    kernels()->f64(m, n, p->k, p->alpha, a, b, (double *)c, p->c_row_stride, scratch);
  if (scratch != small) cache_free(scratch, bytes);
  if (p->epilogue)
    gemm_epilogue(p->epilogue, 0, p->row + (p->by_rows ? begin : 0), m, p->by_rows ? 0 : begin, n, (float *)c,
                  p->c_row_stride);
}

static Status gemm_packed(const Work *work, Product *p) {
  p->by_rows = p->m >= p->n;
  int64_t whole = p->by_rows ? p->m : p->n, other = p->by_rows ? p->n : p->m, line = other * p->k;
  int64_t least = other <= 4 ? 1 << 16 : 1 << 18; /* few rows take as long as the other operand comes from memory */
  int64_t grain = line > 0 ? least / line + 1 : whole;
  grain = (grain + 47) / 48 * 48; /* whole register tiles */
  parallel_for(work->threads, whole, grain, run_part, p);
  return p->failed ? status_out_of_memory() : OK;
}

/* Any other type: plain loops over the wide class, which is exact enough and small. Integers are
 * unsigned, for they wrap. */
#define PLAIN(WIDE, WIDE_DTYPE)                                                                                      \
  for (int64_t i = 0; i < m; i++) {                                                                                  \
    for (int64_t j = 0; j < n; j++) {                                                                                \
      WIDE sum = 0, factor, x, y;                                                                                    \
      if (work_is_over_after(&done, 8 * k)) return;                                                                  \
      for (int64_t p = 0; p < k; p++) {                                                                              \
        dtype_convert(WIDE_DTYPE, &x, 1, dtype, (const char *)a.data + (i * a.row_stride + p * a.col_stride) * item, \
                      1, 1);                                                                                         \
        dtype_convert(WIDE_DTYPE, &y, 1, dtype, (const char *)b.data + (p * b.row_stride + j * b.col_stride) * item, \
                      1, 1);                                                                                         \
        sum += x * y;                                                                                                \
      }                                                                                                              \
      dtype_convert(WIDE_DTYPE, &factor, 1, DTYPE_FLOAT64, &alpha, 1, 1);                                            \
      sum *= factor;                                                                                                 \
      char *to = (char *)c + (i * c_row_stride + j) * item;                                                          \
      if (accumulate) {                                                                                              \
        dtype_convert(WIDE_DTYPE, &x, 1, dtype, to, 1, 1);                                                           \
        sum += x;                                                                                                    \
      }                                                                                                              \
      dtype_convert(dtype, to, 1, WIDE_DTYPE, &sum, 1, 1);                                                           \
    }                                                                                                                \
  }
static void gemm_plain(DType dtype, int64_t m, int64_t n, int64_t k, double alpha, GemmMatrix a, GemmMatrix b, void *c,
                       int64_t c_row_stride, bool accumulate) {
  int64_t item = (int64_t)dtype_size(dtype), done = 0;
  if (dtype_is_complex(dtype))
    PLAIN(complex128, DTYPE_COMPLEX128)
  else
    PLAIN(uint64_t, DTYPE_INT64)
}

/* Halves: float32 copies of the operands, the product, and back. */
static Status gemm_half(const Work *work, DType dtype, int64_t m, int64_t n, int64_t k, double alpha, GemmMatrix a,
                        GemmMatrix b, void *c, int64_t c_row_stride, bool accumulate) {
  size_t cells, bytes;
  if (!size_add((size_t)(m * k), (size_t)(k * n), &cells) || !size_add(cells, (size_t)(m * n), &cells) ||
      !size_mul(cells + 1, sizeof(float), &bytes))
    return status_out_of_memory();
  float *wide = cache_alloc(bytes);
  if (!wide) return status_out_of_memory();
  float *wide_b = wide + m * k, *wide_c = wide_b + k * n;
  for (int64_t i = 0; i < m; i++)
    dtype_convert(DTYPE_FLOAT32, wide + i * k, 1, dtype, (const char *)a.data + i * a.row_stride * 2, a.col_stride, k);
  for (int64_t p = 0; p < k; p++)
    dtype_convert(DTYPE_FLOAT32, wide_b + p * n, 1, dtype, (const char *)b.data + p * b.row_stride * 2, b.col_stride,
                  n);
  for (int64_t i = 0; i < m && accumulate; i++)
    dtype_convert(DTYPE_FLOAT32, wide_c + i * n, 1, dtype, (char *)c + i * c_row_stride * 2, 1, n);
  Status status = gemm(work, DTYPE_FLOAT32, m, n, k, alpha, (GemmMatrix){wide, k, 1}, (GemmMatrix){wide_b, n, 1},
                       wide_c, n, accumulate);
  for (int64_t i = 0; i < m; i++)
    dtype_convert(dtype, (char *)c + i * c_row_stride * 2, 1, DTYPE_FLOAT32, wide_c + i * n, 1, n);
  cache_free(wide, bytes);
  return status;
}

/* Multiply-adds that take about a tenth of a second: narrow products are bound by memory, other types converted. */
static double attended_work(DType dtype, int64_t m, int64_t n) {
  bool is_plain = dtype != DTYPE_FLOAT32 && dtype != DTYPE_FLOAT64;
  return is_plain ? ATTENDED_FROM / 200 : m <= 16 || n <= 16 ? ATTENDED_FROM / 20 : ATTENDED_FROM;
}

bool gemm_is_to_be_attended(const Work *work, DType dtype, int64_t m, int64_t n, int64_t k) {
  return work->is_limited && (m > GEMM_MC || n > GEMM_MC || k > GEMM_KC) &&
         (double)m * (double)n * (double)k > 2 * attended_work(dtype, m, n);
}

/* In parts, with a look at the deadline between them: rows, else columns, else (what no part of the result bounds, the
 * operands may be expanded) the sums. */
static Status gemm_attended(const Work *work, DType dtype, int64_t m, int64_t n, int64_t k, double alpha, GemmMatrix a,
                            GemmMatrix b, void *c, int64_t c_row_stride, bool accumulate) {
  enum { COLUMNS = 96 * 8 };
  int64_t item = (int64_t)dtype_size(dtype);
  double cost = attended_work(dtype, m, n), rest = (double)n * (double)k;
  if (m > GEMM_MC) {
    int64_t rows = rest * GEMM_MC > cost ? GEMM_MC : (int64_t)(cost / rest) / GEMM_MC * GEMM_MC;
    for (int64_t i = 0; i < m; i += rows) {
      GemmMatrix panel = {(const char *)a.data + i * a.row_stride * item, a.row_stride, a.col_stride};
      TRY(work_poll(work));
      TRY(gemm(work, dtype, m - i < rows ? m - i : rows, n, k, alpha, panel, b, (char *)c + i * c_row_stride * item,
               c_row_stride, accumulate));
    }
    return OK;
  }
  if (n > COLUMNS) {
    for (int64_t j = 0; j < n; j += COLUMNS) {
      GemmMatrix panel = {(const char *)b.data + j * b.col_stride * item, b.row_stride, b.col_stride};
      TRY(work_poll(work));
      TRY(gemm(work, dtype, m, n - j < COLUMNS ? n - j : COLUMNS, k, alpha, a, panel, (char *)c + j * item,
               c_row_stride, accumulate));
    }
    return OK;
  }
  int64_t depth = (int64_t)(cost / ((double)m * (double)n));
  depth = depth < GEMM_KC ? GEMM_KC : depth / GEMM_KC * GEMM_KC;
  for (int64_t p = 0; p < k; p += depth) {
    GemmMatrix left = {(const char *)a.data + p * a.col_stride * item, a.row_stride, a.col_stride},
               right = {(const char *)b.data + p * b.row_stride * item, b.row_stride, b.col_stride};
    TRY(work_poll(work));
    TRY(gemm(work, dtype, m, n, k - p < depth ? k - p : depth, alpha, left, right, c, c_row_stride,
             accumulate || p > 0));
  }
  return OK;
}

static void zero_rows(char *c, int64_t item, int64_t m, int64_t n, int64_t row_stride) {
  bool dense = row_stride == n; /* short rows are not worth a call each */
  int64_t rows = dense ? 1 : m, bytes = (dense ? m * n : n) * item;
  for (int64_t i = 0; i < rows; i++) memset(c + i * row_stride * item, 0, (size_t)bytes);
}

static bool is_packed(const Work *work, DType dtype, int64_t m, int64_t n, int64_t k) {
  return !gemm_is_to_be_attended(work, dtype, m, n, k) &&
         (dtype == DTYPE_FLOAT64 || (dtype == DTYPE_FLOAT32 && !onednn_is_faster(work, m, n, k)));
}
static Status run_packed(const Work *work, Product *p, bool accumulate) {
  if (!accumulate) zero_rows(p->c, (int64_t)dtype_size(p->dtype), p->m, p->n, p->c_row_stride);
  if (p->k) return gemm_packed(work, p);
  if (p->epilogue) gemm_epilogue(p->epilogue, 0, p->row, p->m, 0, p->n, (float *)p->c, p->c_row_stride);
  return OK;
}

Status gemm(const Work *work, DType dtype, int64_t m, int64_t n, int64_t k, double alpha, GemmMatrix a, GemmMatrix b,
            void *c, int64_t c_row_stride, bool accumulate) {
  if (m == 0 || n == 0) return OK;
  assert(k >= 0 && (m == 1 || c_row_stride >= n)); /* rows of C do not meet */
  Product p = {
      .dtype = dtype, .m = m, .n = n, .k = k, .c_row_stride = c_row_stride, .alpha = alpha, .a = a, .b = b, .c = c};
  if (is_packed(work, dtype, m, n, k)) return run_packed(work, &p, accumulate);
  if (dtype == DTYPE_BFLOAT16 && !work_is_torch2(work) && gemm_bfloat16_is_stepwise(m, n, k, a, b))
    return gemm_bfloat16_stepwise(m, n, k, (float)alpha, false, a, b, c, c_row_stride, accumulate);
  if (dtype == DTYPE_FLOAT16 || dtype == DTYPE_BFLOAT16)
    return gemm_half(work, dtype, m, n, k, alpha, a, b, c, c_row_stride, accumulate);
  if (gemm_is_to_be_attended(work, dtype, m, n, k))
    return gemm_attended(work, dtype, m, n, k, alpha, a, b, c, c_row_stride, accumulate);
  if (dtype != DTYPE_FLOAT32) {
    gemm_plain(dtype, m, n, k, alpha, a, b, c, c_row_stride, accumulate);
    return OK;
  }
  if (gemm_onednn_f32(work->threads, m, n, k, (float)alpha, a, b, c, c_row_stride, accumulate)) return OK;
  return run_packed(work, &p, accumulate);
}

static void finish_rows(void *argument, int64_t begin, int64_t end) {
  const Product *p = argument;
  gemm_epilogue(p->epilogue, 0, p->row + begin, end - begin, 0, p->n, (float *)p->c + begin * p->c_row_stride,
                p->c_row_stride);
}

Status gemm_finished(const Work *work, int64_t m, int64_t n, int64_t k, double alpha, GemmMatrix a, GemmMatrix b,
                     float *c, int64_t ldc, bool accumulate, const GemmEpilogue *e, int64_t row) {
  enum { ONE_THREAD_FLOATS = 8192 };
  Product p = {.dtype = DTYPE_FLOAT32,
               .m = m,
               .n = n,
               .k = k,
               .c_row_stride = ldc,
               .alpha = alpha,
               .a = a,
               .b = b,
               .c = (char *)c,
               .epilogue = e,
               .row = row};
  if (m == 0 || n == 0) return OK;
  if (is_packed(work, DTYPE_FLOAT32, m, n, k)) return run_packed(work, &p, accumulate);
  TRY(gemm(work, DTYPE_FLOAT32, m, n, k, alpha, a, b, c, ldc, accumulate));
  if (e) parallel_for(work->threads, m, 1 + ONE_THREAD_FLOATS / n, finish_rows, &p);
  return OK;
}
