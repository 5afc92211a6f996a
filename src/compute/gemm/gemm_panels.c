/* Linear layers: which part of the rows and of the weight's panels each thread takes, and how their results are
 * finished. */
#include <assert.h>

#include "base/cache.h"
#include "base/parallel.h"
#include "base/processor.h"
#include "compute/conv/conv_weights.h"
#include "compute/gemm/gemm.h"

enum {
  ROWS_TOGETHER = 240,      /* of A, that meet one panel after the other: a depth of GEMM_PANEL_K of them stays in L2 */
  ONE_THREAD_WORK = 1 << 17 /* products; below, sharing costs more than it saves */
};

static int64_t panel_columns(void) {
  return PROCESSOR_HAS_AVX512 ? GEMM_AVX512_COLUMNS : PROCESSOR_FORM(gemm_kernels)->panel_columns;
}

void gemm_panels_layout(int64_t n, int64_t k, WeightLayout *out) {
  int64_t columns = panel_columns();
  memset(out, 0, sizeof *out);
  out->ndim = 2;
  out->sizes[0] = n;
  out->strides[0] = k * columns;
  out->sizes[1] = k;
  out->strides[1] = columns;
  out->block_count = 1;
  out->blocks[0] = columns;
  out->bytes = (uint64_t)((n + columns - 1) / columns * k * columns) * sizeof(float);
}

typedef struct Sharing {
  uint32_t count;
  const GemmPanels *products;
  GemmPanelKernel *kernel;
  int64_t columns, rows; /* rows: that one unit takes, of all panels; 0: a unit is a panel */
  size_t scratch_bytes;  /* 0: all weights are packed */
  _Atomic bool failed;
} Sharing;

static int64_t panel_count(const Sharing *s, const GemmPanels *g) {
  return (g->n + s->columns - 1) / s->columns;
}

/* Rows by panels, to their end. Arithmetic takes longer than the way to L2, and in L1 it would displace the panel. */
static void run_block(const Sharing *s, const GemmPanels *g, int64_t first_row, int64_t end_row, int64_t first_panel,
                      int64_t end_panel, void *scratch) {
  assert(first_row < end_row && first_panel <= end_panel);
  int64_t first = first_panel * s->columns, end = end_panel * s->columns < g->n ? end_panel * s->columns : g->n;
  s->kernel(g, first_row, end_row, first_panel, end_panel, scratch);
  if (g->epilogue)
    gemm_epilogue(g->epilogue, g->epilogue->register_count, first_row, end_row - first_row, first, end - first,
                  (float *)g->c + first_row * g->ldc + first, g->ldc);
}

/* Rows of all products, one product after the other: the rows of an A that they share are still near. */
static void run_rows(const Sharing *s, int64_t first, int64_t end, void *scratch) {
  for (uint32_t p = 0; p < s->count; p++)
    run_block(s, &s->products[p], first, end, 0, panel_count(s, &s->products[p]), scratch);
}

/* Panels [begin, end), counted through all products. */
static void run_panels(const Sharing *s, int64_t begin, int64_t end, void *scratch) {
  for (const GemmPanels *g = s->products; begin < end; g++) {
    int64_t panels = panel_count(s, g), last = end < panels ? end : panels;
    if (begin < last) run_block(s, g, 0, g->m, begin, last, scratch);
    begin = begin < panels ? 0 : begin - panels;
    end -= panels;
  }
}

static void run_units(void *argument, int64_t begin, int64_t end) {
  Sharing *s = argument;
  int64_t m = s->products->m;
  void *scratch = s->scratch_bytes ? cache_alloc(s->scratch_bytes) : NULL;
  if (s->scratch_bytes && !scratch) {
    atomic_store(&s->failed, true);
    return;
  }
  if (s->rows)
    for (int64_t i = begin; i < end; i++)
      run_rows(s, i * s->rows, i * s->rows + s->rows < m ? i * s->rows + s->rows : m, scratch);
  else
    run_panels(s, begin, end, scratch);
  if (scratch) cache_free(scratch, s->scratch_bytes);
}

Status gemm_panels_joined(const Work *work, uint32_t count, const GemmPanels *products) {
  int threads = work->threads > 1 ? work->threads : 1;
  int64_t columns = panel_columns(), m = products->m, blocks = (m + ROWS_TOGETHER - 1) / ROWS_TOGETHER, panels = 0;
  int64_t row_work = 0; /* of one row of A by all weights */
  Sharing s = {.count = count,
               .products = products,
               .kernel = PROCESSOR_HAS_AVX512 ? gemm_panels_avx512 : PROCESSOR_FORM(gemm_kernels)->panels,
               .columns = columns};
  for (uint32_t p = 0; p < count; p++) {
    const GemmPanels *g = &products[p];
    assert(g->m == m && (g->ldc >= g->n || m <= 1) && (g->k > 0 || m == 0 || g->n == 0));
    panels += panel_count(&s, g);
    row_work += g->n * g->k;
    if (!g->panels) s.scratch_bytes = gemm_panel_scratch_bytes(columns);
  }
  if (m == 0 || panels == 0) return OK;
  if (blocks > 1) { /* as many for each thread, of equal height; what is not packed is put in order but once for each */
    blocks = s.scratch_bytes ? threads : (blocks + threads - 1) / threads * threads;
    s.rows = ((m + blocks - 1) / blocks + 5) / 6 * 6;
    blocks = (m + s.rows - 1) / s.rows;
    parallel_for(threads, blocks, ONE_THREAD_WORK / (s.rows * row_work + 1) + 1, run_units, &s);
  } else {
    parallel_for(threads, panels, ONE_THREAD_WORK / (m * row_work / panels + 1) + 1, run_units, &s);
  }
  return s.failed ? status_out_of_memory() : work_check(work);
}

Status gemm_panels(const Work *work, const GemmPanels *g) {
  return gemm_panels_joined(work, 1, g);
}
