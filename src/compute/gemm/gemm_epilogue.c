/* What happens to a product's results after it (gemm.h). */
#include <assert.h>

#include "compute/gemm/gemm.h"
#include "compute/norm/norm_affine.h"

/* Whether registers can do the step after those that they do already: the sum with a row for each, then limits. */
static bool goes_into_registers(GemmEnd *end, const GemmStep *step) {
  if (end->limits) return false;
  if (step->kind == GEMM_TERM && step->term.step == 1 && step->term.ndim == 1 && !end->term) {
    end->term = step->term.data;
    end->term_stride = step->term.strides[0];
    return true;
  }
  if (step->kind != GEMM_ACTIVATION || step->activation->kind != ACTIVATION_LIMITS) return false;
  end->limits = true;
  end->low = step->activation->low;
  end->high = step->activation->high;
  return true;
}

void gemm_epilogue_add(GemmEpilogue *e, const GemmStep *step) {
  assert(e->count < GEMM_MAX_STEPS);
  if (e->count == e->register_count && goes_into_registers(&e->in_registers, step)) e->register_count++;
  e->steps[e->count++] = *step;
}

static void add_term(const GemmTerm *t, int64_t row, int64_t column, int64_t n, float *c) {
  const float *from = t->data + column * t->step;
  for (int d = t->ndim - 1; d > 0; d--, row /= t->sizes[d + 1]) from += row % t->sizes[d] * t->strides[d];
  from += row * t->strides[0];
  if (t->step)
    for (int64_t i = 0; i < n; i++) c[i] += from[i];
  else
    for (int64_t i = 0; i < n; i++) c[i] += *from;
}

static void run_step(const GemmStep *s, int64_t row, int64_t column, int64_t n, float *c) {
  if (s->kind == GEMM_AFFINE)
    norm_affine(n, c, c, (NormScaling){NULL, s->scale + column, s->shift + column}, 1);
  else
    add_term(&s->term, row, column, n, c);
}

/* Functions are computed of some rows at once where these have no gaps between them. */
void gemm_epilogue(const GemmEpilogue *e, int first, int64_t row, int64_t rows, int64_t column, int64_t columns,
                   float *c, int64_t ldc) {
  enum { TOGETHER = 2048 };
  int64_t most = columns == ldc ? 1 + TOGETHER / (columns + 1) : 1, count;
  for (int64_t i = 0; i < rows && first < e->count; i += count) {
    float *line = c + i * ldc;
    count = rows - i < most ? rows - i : most;
    for (int step = first; step < e->count; step++) {
      const GemmStep *s = &e->steps[step];
      if (s->kind == GEMM_ACTIVATION)
        activation_line(s->activation, count * columns, line);
      else
        for (int64_t k = 0; k < count; k++) run_step(s, row + i + k, column, columns, line + k * ldc);
    }
  }
}
