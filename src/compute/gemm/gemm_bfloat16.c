/* Products of bfloat16 that round every product and every sum, as PyTorch's portable loops do: programs that were
 * trained and tested there see the same numbers. Only rows times columns that both lie dense in memory are summed in
 * float32 there, and here (gemm.c). */
#include "compute/gemm/gemm.h"

#include "base/work_limit.h"

static float rounded(float x) {
  return bfloat16_to_float(bfloat16_from_float(x));
}

static float load(const GemmMatrix *x, int64_t i, int64_t j) {
  return bfloat16_to_float(((const uint16_t *)x->data)[i * x->row_stride + j * x->col_stride]);
}

bool gemm_bfloat16_is_stepwise(int64_t m, int64_t n, int64_t k, GemmMatrix a, GemmMatrix b) {
  bool rows = a.col_stride == 1 && a.row_stride >= k && m > 0;
  bool columns = b.row_stride == 1 && b.col_stride >= k && !(b.col_stride == 1 && b.row_stride >= n);
  return !(rows && columns);
}

Status gemm_bfloat16_stepwise(int64_t m, int64_t n, int64_t k, float alpha, bool round_scaled, GemmMatrix a,
                              GemmMatrix b, void *c, int64_t c_row_stride, bool accumulate) {
  size_t bytes;
  if (!size_mul((size_t)n, 2 * sizeof(float), &bytes)) return status_out_of_memory();
  float *sums = mem_alloc(bytes);
  if (!sums) return status_out_of_memory();
  float *line = sums + n;
  int64_t done = 0;
  for (int64_t i = 0; i < m; i++) {
    uint16_t *out = (uint16_t *)c + i * c_row_stride;
    for (int64_t j = 0; j < n; j++) sums[j] = accumulate ? bfloat16_to_float(out[j]) : 0;
    for (int64_t l = 0; l < k && !work_is_over_after(&done, n); l++) {
      float scaled = load(&a, i, l) * alpha;
      if (round_scaled) scaled = rounded(scaled);
      for (int64_t j = 0; j < n; j++) line[j] = load(&b, l, j);
      for (int64_t j = 0; j < n; j++) sums[j] = rounded(sums[j] + rounded(scaled * line[j]));
    }
    for (int64_t j = 0; j < n; j++) out[j] = bfloat16_from_float(sums[j]);
  }
  mem_free(sums);
  return OK;
}

void gemv_bfloat16(int64_t m, int64_t k, float alpha, GemmMatrix a, GemmMatrix x, void *y, int64_t y_stride,
                   bool accumulate) {
  int64_t done = 0;
  for (int64_t i = 0; i < m; i++) {
    uint16_t *out = (uint16_t *)y + i * y_stride;
    float sum = 0;
    for (int64_t l = 0; l < k && !work_is_over_after(&done, 1); l++)
      sum = rounded(sum + rounded(load(&a, i, l) * load(&x, l, 0)));
    sum = rounded(alpha * sum);
    *out = bfloat16_from_float(accumulate ? bfloat16_to_float(*out) + sum : sum);
  }
}
