/* Packing, the portable product, and which form this processor takes. */
#include "compute/quantized/qgemm.h"

#include <assert.h>

#include "base/memory.h"

enum { QUAD_BYTES = QGEMM_BLOCK * QGEMM_DEPTH };

Status qmatrix_pack(const int8_t *from, int64_t rows, int64_t taps, int64_t depth, QMatrix *out) {
  assert(rows >= 0 && taps > 0 && depth >= 0);
  int64_t quads = (depth + QGEMM_DEPTH - 1) / QGEMM_DEPTH;
  size_t bytes;
  *out = (QMatrix){.rows = rows, .blocks = (rows + QGEMM_BLOCK - 1) / QGEMM_BLOCK};
  if (!int64_mul(taps, quads, &out->quads) || !size_mul((size_t)out->blocks, (size_t)out->quads, &bytes) ||
      !size_mul(bytes, QUAD_BYTES, &bytes) || bytes > SIZE_MAX - 64)
    return status_new(ERROR_RUNTIME, "the packed weights are too large");
  out->memory = mem_calloc(1, bytes + 64);
  if (!out->memory) return status_out_of_memory();
  out->data = (int8_t *)(((uintptr_t)out->memory + 63) & ~(uintptr_t)63);
  for (int64_t r = 0; r < rows; r++) {
    int8_t *to = out->data + r / QGEMM_BLOCK * out->quads * QUAD_BYTES + r % QGEMM_BLOCK * QGEMM_DEPTH;
    for (int64_t t = 0; t < taps; t++, to += quads * QUAD_BYTES, from += depth)
      for (int64_t k = 0; k < depth; k++) to[k / QGEMM_DEPTH * QUAD_BYTES + k % QGEMM_DEPTH] = from[k];
  }
  return OK;
}

void qmatrix_dispose(QMatrix *matrix) {
  mem_free(matrix->memory);
  *matrix = (QMatrix){0};
}

void qgemm_portable(const QMatrix *matrix, int64_t count, const QRows *rows, int32_t *out, int64_t ld_out) {
  assert(ld_out >= matrix->blocks * QGEMM_BLOCK && rows->taps * rows->quads == matrix->quads);
  for (int64_t m = 0; m < count; m++)
    for (int64_t b = 0; b < matrix->blocks; b++) {
      const int8_t *w = matrix->data + b * matrix->quads * QUAD_BYTES;
      uint32_t sums[QGEMM_BLOCK] = {0}; /* wraps, as vector instructions do */
      for (int64_t t = 0; t < rows->taps; t++) {
        const uint8_t *x = rows->bases[m] + rows->offsets[t];
        for (int64_t q = 0; q < rows->quads; q++, w += QUAD_BYTES, x += QGEMM_DEPTH)
          for (int n = 0; n < QGEMM_BLOCK; n++)
            for (int k = 0; k < QGEMM_DEPTH; k++) sums[n] += (uint32_t)((int32_t)x[k] * w[n * QGEMM_DEPTH + k]);
      }
      memcpy(out + m * ld_out + b * QGEMM_BLOCK, sums, sizeof sums);
    }
}

#if defined(__x86_64__)
static bool has_vnni(void) {
  return __builtin_cpu_supports("avx512vnni") && __builtin_cpu_supports("avx512bw") &&
         __builtin_cpu_supports("avx512vl");
}
QGemm *qgemm(bool is_small) {
  if (has_vnni()) return qgemm_avx512;
  if (__builtin_cpu_supports("avx2")) return is_small ? qgemm_avx2_small : qgemm_avx2;
  return qgemm_portable;
}
bool qgemm_gains_of_small(void) {
  return !has_vnni() && __builtin_cpu_supports("avx2");
}
#else
QGemm *qgemm(bool is_small) {
  (void)is_small;
  return qgemm_portable;
}
bool qgemm_gains_of_small(void) {
  return false;
}
#endif

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
