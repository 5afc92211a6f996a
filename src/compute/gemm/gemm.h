/* Matrix products: C = alpha * A B (+ C), the one way for every operator that multiplies matrices.
 *
 * By packed kernels of our own, where they have wide vectors and so are as fast as any; else large float32 products go
 * to oneDNN (opened on first use). Halves are computed in float32, integers in int64, complex numbers in complex
 * double. */
#pragma once

#include "base/work.h"
#include "compute/activation.h"
#include "tensor/tensor.h"

typedef struct WeightLayout WeightLayout; /* compute/conv/conv_weights.h */

typedef struct GemmMatrix {
  const void *data;
  int64_t row_stride, col_stride; /* in elements, any */
} GemmMatrix;

/* A is m x k, B is k x n, C is m x n with unit column stride. accumulate: adds to what C holds. */
Status gemm(const Work *work, DType dtype, int64_t m, int64_t n, int64_t k, double alpha, GemmMatrix a, GemmMatrix b,
            void *c, int64_t c_row_stride, bool accumulate) MUST_CHECK;

/* Whether so much work has to be done in parts, with looks at the deadline between them, as gemm does. */
bool gemm_is_to_be_attended(const Work *work, DType dtype, int64_t m, int64_t n, int64_t k);

/* Products of bfloat16 that round at every step, as PyTorch 1.13 does (gemm_bfloat16.c). alpha scales A; round_scaled
 * rounds that too. */
bool gemm_bfloat16_is_stepwise(int64_t m, int64_t n, int64_t k, GemmMatrix a, GemmMatrix b);
Status gemm_bfloat16_stepwise(int64_t m, int64_t n, int64_t k, float alpha, bool round_scaled, GemmMatrix a,
                              GemmMatrix b, void *c, int64_t c_row_stride, bool accumulate) MUST_CHECK;
/* y = alpha * A x (+ y), each row summed before it is scaled; x is a column. */
void gemv_bfloat16(int64_t m, int64_t k, float alpha, GemmMatrix a, GemmMatrix x, void *y, int64_t y_stride,
                   bool accumulate);

/* What happens to the results of a product in registers: result + term, then no less than low and no more than high.
 * NaN stays NaN. */
typedef struct GemmEnd {
  const float *term; /* of the results' sizes; NULL: nothing */
  int64_t term_stride;
  bool limits;
  float low, high;
} GemmEnd;
static inline float gemm_ended(const GemmEnd *end, int64_t row, int64_t column, float x) {
  if (end->term) x += end->term[row * end->term_stride + column];
  if (end->limits) x = end->low > x ? end->low : x;
  return end->limits && end->high < x ? end->high : x;
}
/* A tensor that is added to the results, broadcast to them. */
enum { GEMM_TERM_DIMS = 4, GEMM_MAX_STEPS = 5 };
typedef struct GemmTerm {
  const float *data;
  int64_t step; /* from column to column: 1, or 0: one number for all columns */
  int ndim;     /* rows are counted through this many dimensions */
  int64_t sizes[GEMM_TERM_DIMS], strides[GEMM_TERM_DIMS];
} GemmTerm;
typedef struct GemmStep {
  enum { GEMM_AFFINE, GEMM_TERM, GEMM_ACTIVATION } kind;
  const float *scale, *shift; /* of columns, as norm_affine has them */
  GemmTerm term;
  const Activation *activation; /* limits or a formula */
} GemmStep;
/* What happens to the results of a product, step by step: the first of them in registers where the product is done by
 * panels, the others while the results of some rows are in cache. */
typedef struct GemmEpilogue {
  GemmEnd in_registers;
  int count, register_count; /* of steps; register_count: those that in_registers does */
  GemmStep steps[GEMM_MAX_STEPS];
} GemmEpilogue;
/* Room for another step, whose kind and what belongs to it are set. */
void gemm_epilogue_add(GemmEpilogue *e, const GemmStep *step);
/* The steps from `first` on, of some of the results; c is the first of them. Rows are counted through all results. */
void gemm_epilogue(const GemmEpilogue *e, int first, int64_t row, int64_t rows, int64_t column, int64_t columns,
                   float *c, int64_t ldc);
/* gemm of float32, then the epilogue, NULL: nothing, on results whose rows are counted from `row` on. */
Status gemm_finished(const Work *work, int64_t m, int64_t n, int64_t k, double alpha, GemmMatrix a, GemmMatrix b,
                     float *c, int64_t ldc, bool accumulate, const GemmEpilogue *e, int64_t row) MUST_CHECK;

/* C = A B + bias, B's columns being the rows of a contiguous weight (n, k) that may be kept packed: what a linear layer
 * does. A's rows have no gaps within; C is written, not read. */
typedef struct GemmPanels {
  int64_t m, n, k;
  const void *a, *weight, *bias; /* bias: of n, or NULL */
  const void *panels;            /* the weight in the layout of gemm_panels_layout; NULL: it is read as it lies */
  int64_t a_stride, weight_stride;
  void *c;
  int64_t ldc;
  const GemmEpilogue *epilogue; /* NULL: nothing more happens */
} GemmPanels;
void gemm_panels_layout(int64_t n, int64_t k, WeightLayout *out);
/* float32. The same bits with panels and without, whatever the number of threads. */
Status gemm_panels(const Work *work, const GemmPanels *product) MUST_CHECK;
/* Several of as many rows, shared out as one; each gets the bits that it has by itself. */
Status gemm_panels_joined(const Work *work, uint32_t count, const GemmPanels *products) MUST_CHECK;

/* The packed kernels, one table for each instruction set; serial. Scratch holds gemm_scratch_bytes. */
/* Rows [first_row, end_row) of the panels [first_panel, end_panel); scratch holds gemm_panel_scratch_bytes. */
typedef void GemmPanelKernel(const GemmPanels *product, int64_t first_row, int64_t end_row, int64_t first_panel,
                             int64_t end_panel, void *scratch);
typedef struct GemmKernels {
  void (*f32)(int64_t m, int64_t n, int64_t k, double alpha, GemmMatrix a, GemmMatrix b, float *c, int64_t c_row_stride,
              void *scratch);
  void (*f64)(int64_t m, int64_t n, int64_t k, double alpha, GemmMatrix a, GemmMatrix b, double *c,
              int64_t c_row_stride, void *scratch);
  GemmPanelKernel *panels; /* float32 */
  int64_t panel_columns;
} GemmKernels;
extern const GemmKernels gemm_kernels_portable, gemm_kernels_avx2, gemm_kernels_neon;
/* The float32 one with 512-bit vectors, for m and n above 4. */
void gemm_block_avx512(int64_t m, int64_t n, int64_t k, double alpha, GemmMatrix a, GemmMatrix b, float *c,
                       int64_t c_row_stride, void *scratch);
void gemm_panels_avx512(const GemmPanels *product, int64_t first_row, int64_t end_row, int64_t first_panel,
                        int64_t end_panel, void *scratch);
enum { GEMM_MC = 96, GEMM_KC = 256, GEMM_NC = 512, GEMM_PAD = 64, GEMM_PANEL_K = 384, GEMM_AVX512_COLUMNS = 64 };
static inline size_t gemm_panel_scratch_bytes(int64_t columns) {
  return (size_t)(columns * GEMM_PANEL_K) * sizeof(float) + GEMM_PAD;
}
static inline size_t gemm_scratch_bytes(int64_t m, int64_t n, int64_t k) {
  size_t kc = (size_t)(k < GEMM_KC ? k : GEMM_KC), mc = (size_t)(m < GEMM_MC ? m : GEMM_MC) + 8,
         nc = (size_t)(n < GEMM_NC ? n : GEMM_NC) + 32;
  return (mc + nc) * kc * sizeof(double) + 4 * GEMM_PAD;
}
/* oneDNN's float32 product on so many threads, or false when it is not there. */
bool gemm_onednn_f32(int threads, int64_t m, int64_t n, int64_t k, float alpha, GemmMatrix a, GemmMatrix b, float *c,
                     int64_t c_row_stride, bool accumulate);
