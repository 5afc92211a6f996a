/* Which rows of which batch each thread takes. */
#include "compute/attention/attention.h"

#include "base/cache.h"
#include "base/parallel.h"
#include "base/processor.h"
#include "base/work_limit.h"

enum {
  WIDEST = 64,         /* columns of a panel, in any form */
  ROWS_AT_LEAST = 96,  /* of one unit: each packs the keys and values of its batch */
  ONE_THREAD = 1 << 18 /* products; below, waking another thread costs more */
};

static int64_t whole(int64_t n) {
  return (n + WIDEST - 1) / WIDEST * WIDEST;
}
size_t attention_scratch_bytes(int64_t keys, int64_t width, int64_t out_width) {
  int64_t block = whole(keys < ATTENTION_KEYS ? keys : ATTENTION_KEYS);
  return (size_t)(whole(keys) * width + keys * whole(out_width) + ATTENTION_ROWS * (block + whole(out_width))) *
             sizeof(float) +
         GEMM_PAD;
}

typedef struct Sharing {
  const Attention *all;
  AttentionKernel *kernel;
  int64_t splits, rows; /* of each batch, of one split */
  size_t scratch_bytes;
  _Atomic bool failed;
} Sharing;

/* Moves what there is of an operand to the batch. */
static const void *at_batch(const Attention *all, int operand, int64_t batch, const void *data, size_t item) {
  int64_t offset = 0;
  if (!data) return NULL;
  for (int d = all->ndim - 1; d >= 0; batch /= all->sizes[d], d--)
    offset += batch % all->sizes[d] * all->strides[operand][d];
  return (const char *)data + offset * (int64_t)item;
}
static void move_rows(GemmMatrix *matrix, int64_t rows, size_t item) {
  if (matrix->data) matrix->data = (const char *)matrix->data + rows * matrix->row_stride * (int64_t)item;
}

static void run_units(void *argument, int64_t begin, int64_t end) {
  Sharing *s = argument;
  const Attention *all = s->all;
  int64_t done = 0;
  void *scratch = cache_alloc(s->scratch_bytes);
  if (!scratch) {
    atomic_store(&s->failed, true);
    return;
  }
  for (int64_t unit = begin; unit < end; unit++) {
    AttentionPart part = all->part;
    int64_t batch = unit / s->splits, row = unit % s->splits * s->rows;
    if (row >= part.rows) continue;
    part.rows = part.rows - row < s->rows ? part.rows - row : s->rows;
    if (work_is_over_after(&done, 1)) break;
    GemmMatrix *const matrices[] = {&part.query, &part.key, &part.value, &part.add, &part.hidden};
    for (int i = 0; i < 5; i++)
      matrices[i]->data = at_batch(all, i, batch, matrices[i]->data, i == 4 ? 1 : sizeof(float));
    part.out = (float *)at_batch(all, 5, batch, part.out, sizeof(float)) + row * part.out_stride;
    move_rows(&part.query, row, sizeof(float));
    move_rows(&part.add, row, sizeof(float));
    move_rows(&part.hidden, row, 1);
    s->kernel(&part, scratch, &done);
  }
  cache_free(scratch, s->scratch_bytes);
}

Status attention(const Work *work, const Attention *all) {
  const AttentionPart *p = &all->part;
  int threads = work->threads > 1 ? work->threads : 1;
  int64_t batches = 1, splits = 1;
  for (int d = 0; d < all->ndim; d++) batches *= all->sizes[d];
  if (batches < 4 * threads && threads > 1) splits = (4 * threads + batches - 1) / (batches ? batches : 1);
  if (splits > p->rows / ROWS_AT_LEAST) splits = p->rows / ROWS_AT_LEAST;
  if (splits < 1) splits = 1;
  Sharing s = {.all = all,
               .kernel = PROCESSOR_WIDE_FORM(attention),
               .splits = splits,
               .rows = ((p->rows + splits - 1) / splits + ATTENTION_ROWS - 1) / ATTENTION_ROWS * ATTENTION_ROWS,
               .scratch_bytes = attention_scratch_bytes(p->keys, p->width, p->out_width)};
  int64_t cost = s.rows * p->keys * (p->width + p->out_width);
  parallel_for(threads, batches * splits, ONE_THREAD / (cost + 1) + 1, run_units, &s);
  return s.failed ? status_out_of_memory() : work_check(work);
}
