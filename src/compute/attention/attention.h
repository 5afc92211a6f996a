/* softmax(Q K, with a factor and masks) V of float32 in one pass, a block of scores at a time.
 *
 * After M. Milakov, N. Gimelshein, "Online normalizer calculation for softmax" (2018), and T. Dao et al.,
 * "FlashAttention" (2022): a few rows of Q meet up to ATTENTION_KEYS keys; the exponentials of their scores, less the
 * rows' greatest so far, are multiplied by V right away; sums and results of blocks before are scaled when a greater
 * score comes. Rows that have all scores in one block are never scaled. */
#pragma once

#include "base/work.h"
#include "compute/gemm/gemm.h"

enum { ATTENTION_KEYS = 512, ATTENTION_ROWS = 24 };

/* One batch. Scores are Q K times (or by) `factor`, plus `add`, and `fill` where `hidden` is not 0. */
typedef struct AttentionPart {
  int64_t rows, keys, width, out_width; /* all at least 1 */
  GemmMatrix query, key, value;         /* rows x width, width x keys, keys x out_width; float32 */
  float factor;
  bool divides;
  float fill;
  GemmMatrix add, hidden; /* float32, bool: rows x keys, broadcast by strides of 0; data NULL: none */
  float *out;             /* rows of out_width */
  int64_t out_stride;
} AttentionPart;

/* scratch: attention_scratch_bytes; *done: as of work_is_over_after. */
typedef void AttentionKernel(const AttentionPart *part, void *scratch, int64_t *done);
AttentionKernel attention_portable, attention_avx2, attention_avx512, attention_neon;
size_t attention_scratch_bytes(int64_t keys, int64_t width, int64_t out_width);

/* Many batches: strides of each batch dimension in elements. */
enum { ATTENTION_OPERANDS = 6 }; /* query, key, value, add, hidden, out */
typedef struct Attention {
  AttentionPart part; /* of the first batch */
  int ndim;           /* batch dimensions */
  const int64_t *sizes;
  const int64_t *strides[ATTENTION_OPERANDS]; /* of what is there */
} Attention;
Status attention(const Work *work, const Attention *all) MUST_CHECK;
