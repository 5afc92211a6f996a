/* Packing, the portable product, and which form this processor takes. */
#include "compute/quantized/qgemm.h"

Status qmatrix_pack(const int8_t *from, int64_t rows, int64_t depth, int64_t row_stride, QMatrix *out) {
  *out = (QMatrix){.rows = rows,
                   .depth = depth,
                   .blocks = (rows + QGEMM_BLOCK - 1) / QGEMM_BLOCK,
                   .quads = (depth + QGEMM_DEPTH - 1) / QGEMM_DEPTH};
  size_t bytes;
  if (!size_mul((size_t)out->blocks, (size_t)out->quads, &bytes) ||
      !size_mul(bytes, QGEMM_BLOCK * QGEMM_DEPTH, &bytes) || bytes > SIZE_MAX - 64)
    return status_new(ERROR_RUNTIME, "the packed weights are too large");
  out->memory = mem_calloc(1, bytes + 64);
  if (!out->memory) return status_out_of_memory();
  out->data = (int8_t *)(((uintptr_t)out->memory + 63) & ~(uintptr_t)63);
  for (int64_t r = 0; r < rows; r++) {
    int8_t *to = out->data + r / QGEMM_BLOCK * out->quads * (QGEMM_BLOCK * QGEMM_DEPTH) + r % QGEMM_BLOCK * QGEMM_DEPTH;
    for (int64_t k = 0; k < depth; k++)
      to[k / QGEMM_DEPTH * (QGEMM_BLOCK * QGEMM_DEPTH) + k % QGEMM_DEPTH] = from[r * row_stride + k];
  }
  return OK;
}

void qmatrix_dispose(QMatrix *matrix) {
  mem_free(matrix->memory);
  *matrix = (QMatrix){0};
}

void qgemm_portable(const QMatrix *matrix, int64_t count, const uint8_t *a, int64_t ld_a, int32_t *out,
                    int64_t ld_out) {
  for (int64_t m = 0; m < count; m++)
    for (int64_t b = 0; b < matrix->blocks; b++) {
      const int8_t *w = matrix->data + b * matrix->quads * (QGEMM_BLOCK * QGEMM_DEPTH);
      uint32_t sums[QGEMM_BLOCK] = {0}; /* wraps, as vector instructions do */
      for (int64_t q = 0; q < matrix->quads; q++, w += QGEMM_BLOCK * QGEMM_DEPTH) {
        const uint8_t *x = a + m * ld_a + q * QGEMM_DEPTH;
        for (int n = 0; n < QGEMM_BLOCK; n++)
          for (int k = 0; k < QGEMM_DEPTH; k++) sums[n] += (uint32_t)((int32_t)x[k] * w[n * QGEMM_DEPTH + k]);
      }
      memcpy(out + m * ld_out + b * QGEMM_BLOCK, sums, sizeof sums);
    }
}

QGemm *qgemm(void) {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512vnni") && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl"))
    return qgemm_avx512;
  if (__builtin_cpu_supports("avx2")) return qgemm_avx2;
#endif
  return qgemm_portable;
}

#define NAME quantized_loops_portable
#include "compute/quantized/quantized_loops_body.h"

const QuantizedLoops *quantized_loops(void) {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl"))
    return &quantized_loops_avx512;
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return &quantized_loops_avx2;
#endif
  return &quantized_loops_portable;
}
