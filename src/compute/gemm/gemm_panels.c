/* Linear layers: which part of the rows and of the weight's panels each thread takes. */
#include <assert.h>

#include "base/cache.h"
#include "base/parallel.h"
#include "base/processor.h"
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
  const GemmPanels *product;
  GemmPanelKernel *kernel;
  int64_t panels, rows; /* rows: that one unit takes, of all panels; 0: a unit is a panel */
  size_t scratch_bytes;
  _Atomic bool failed;
} Sharing;

static void run_units(void *argument, int64_t begin, int64_t end) {
  Sharing *s = argument;
  int64_t m = s->product->m;
  void *scratch = s->product->panels ? NULL : cache_alloc(s->scratch_bytes);
  if (!s->product->panels && !scratch) {
    atomic_store(&s->failed, true);
    return;
  }
  if (s->rows) {
    for (int64_t i = begin; i < end; i++)
      s->kernel(s->product, i * s->rows, i * s->rows + s->rows < m ? i * s->rows + s->rows : m, 0, s->panels, scratch);
  } else {
    s->kernel(s->product, 0, m, begin, end, scratch);
  }
  if (scratch) cache_free(scratch, s->scratch_bytes);
}

Status gemm_panels(Exec *exec, const GemmPanels *g) {
  assert(g->ldc >= g->n || g->m <= 1);
  int threads = exec->threads > 1 ? exec->threads : 1;
  int64_t columns = panel_columns(), blocks = (g->m + ROWS_TOGETHER - 1) / ROWS_TOGETHER;
  Sharing s = {.product = g,
               .kernel = PROCESSOR_HAS_AVX512 ? gemm_panels_avx512 : PROCESSOR_FORM(gemm_kernels)->panels,
               .panels = (g->n + columns - 1) / columns,
               .scratch_bytes = gemm_panel_scratch_bytes(columns)};
  if (g->m == 0 || g->n == 0) return OK;
  assert(g->k > 0);
  if (blocks > 1) { /* as many for each thread, of equal height; what is not packed is put in order but once for each */
    blocks = g->panels ? (blocks + threads - 1) / threads * threads : threads;
    s.rows = ((g->m + blocks - 1) / blocks + 5) / 6 * 6;
    blocks = (g->m + s.rows - 1) / s.rows;
    parallel_for(threads, blocks, ONE_THREAD_WORK / (s.rows * g->n * g->k + 1) + 1, run_units, &s);
  } else {
    parallel_for(threads, s.panels, ONE_THREAD_WORK / (g->m * columns * g->k + 1) + 1, run_units, &s);
  }
  return s.failed ? status_out_of_memory() : exec_attend(exec);
}
