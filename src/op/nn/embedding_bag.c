/* Sums, means and maxima of bags of embeddings. prelude/operators.py says how; here are the rows, and a kernel for
 * sums and means of float32. */
#include "base/cache.h"
#include "base/parallel.h"
#include "call/row_extras.h"
#include "report/reason.h"

enum { BAGS_SUM, BAGS_MEAN }; /* as embedding_bag's mode */

typedef struct Bags {
  const float *rows, *scales; /* scales: NULL: none */
  int64_t row_count, width, padding;
  const int64_t *indices, *starts;
  int64_t index_count, start_count, count; /* count: of bags */
  bool is_mean;
  float *out;
  int64_t *sizes;
  _Atomic bool failed;
} Bags;

static int64_t bag_end(const Bags *b, int64_t bag) {
  return bag + 1 < b->start_count ? b->starts[bag + 1] : b->index_count;
}

/* Whether all of it is as it should be: the body says what is not. */
static bool are_in_range(const Bags *b) {
  if (b->count < 0 || (b->start_count && b->starts[0] != 0)) return false;
  for (int64_t bag = 0; bag < b->count; bag++)
    if (bag_end(b, bag) < b->starts[bag] || bag_end(b, bag) > b->index_count) return false;
  for (int64_t i = 0; i < b->index_count; i++)
    if (b->indices[i] < 0 || b->indices[i] >= b->row_count) return false;
  return true;
}

/* sum += scale * row, the product in float32. */
static void add_row(double *restrict sum, const float *restrict row, float scale, int64_t width) {
  for (int64_t i = 0; i < width; i++) sum[i] += (double)(row[i] * scale);
}

static void sum_bags(void *argument, int64_t begin, int64_t end) {
  Bags *b = argument;
  int64_t width = b->width;
  double *sum = cache_alloc((size_t)width * sizeof *sum + 1);
  if (!sum) {
    b->failed = true;
    return;
  }
  for (int64_t bag = begin; bag < end; bag++) {
    int64_t n = 0, bag_limit = bag_end(b, bag);
    memset(sum, 0, (size_t)width * sizeof *sum);
    for (int64_t i = b->starts[bag]; i < bag_limit; i++) {
      if (b->indices[i] == b->padding) continue;
      add_row(sum, b->rows + b->indices[i] * width, b->scales ? b->scales[i] : 1, width);
      n++;
    }
    float *out = b->out + bag * width, divisor = b->is_mean && n > 1 ? (float)n : 1;
    for (int64_t i = 0; i < width; i++) out[i] = (float)sum[i] / divisor;
    b->sizes[bag] = n;
  }
  cache_free(sum, (size_t)width * sizeof *sum + 1);
}

static Status fill_bags(const Call *call, Bags *b, Tensor *out[4]) {
  int64_t seen = b->count > 0 ? bag_end(b, b->count - 1) : 0;
  TRY(tensor_empty(DTYPE_FLOAT32, 2, (const int64_t[]){b->count, b->width}, &out[0]));
  TRY(tensor_empty(DTYPE_INT64, 1, &seen, &out[1]));
  TRY(tensor_empty(DTYPE_INT64, 1, &b->count, &out[2]));
  TRY(tensor_empty(DTYPE_INT64, 1, (const int64_t[]){0}, &out[3]));
  int64_t *bag_of = tensor_data(out[1]);
  b->out = tensor_data(out[0]);
  b->sizes = tensor_data(out[2]);
  for (int64_t bag = 0; bag < b->count; bag++)
    for (int64_t i = b->starts[bag], limit = bag_end(b, bag); i < limit; i++) bag_of[i] = bag;
  parallel_for(call->exec->work.threads, b->count, 65536 * b->count / (seen * b->width + b->count + 1) + 1, sum_bags,
               b);
  return b->failed ? status_out_of_memory() : OK;
}

static bool is_dense(const Tensor *t, DType dtype, int ndim) {
  return t->dtype == dtype && t->ndim == ndim && tensor_is_contiguous(t);
}
static bool has_indices(const Tensor *t) {
  return is_dense(t, DTYPE_INT64, 1) || is_dense(t, DTYPE_INT32, 1);
}

/* wraps: a negative padding_idx counts from the end; else it is none. */
static Status run_bags(Call *call) {
  const Tensor *weight = call_tensor(call, 0), *scales = call_is_none(call, 6) ? NULL : call_tensor(call, 6);
  int64_t mode = call_int(call, 4), wraps = call_param(call);
  if (weight->dtype != DTYPE_FLOAT32 || (scales && scales->dtype != DTYPE_FLOAT32))
    return reason_decline(REASON_NOT_FUSED_DTYPE);
  if (!is_dense(weight, DTYPE_FLOAT32, 2) || !has_indices(call_tensor(call, 1)) || !has_indices(call_tensor(call, 2)) ||
      (scales && !is_dense(scales, DTYPE_FLOAT32, 1)))
    return reason_decline(REASON_NOT_FUSED_LAYOUT);
  if ((mode != BAGS_SUM && mode != BAGS_MEAN) ||
      (scales && (mode != BAGS_SUM || scales->numel < call_tensor(call, 1)->numel)))
    return reason_decline(REASON_NOT_FUSED_ARGUMENT);
  Tensor *indices = NULL, *starts = NULL, *out[4] = {NULL};
  Status status;
  TRY_GOTO(tensor_to_dtype(call_tensor(call, 1), DTYPE_INT64, &indices), done);
  TRY_GOTO(tensor_to_dtype(call_tensor(call, 2), DTYPE_INT64, &starts), done);
  Bags b = {.rows = tensor_data(weight),
            .scales = scales ? tensor_data(scales) : NULL,
            .row_count = weight->sizes[0],
            .width = weight->sizes[1],
            .indices = tensor_data(indices),
            .starts = tensor_data(starts),
            .index_count = indices->numel,
            .start_count = starts->numel,
            .count = starts->numel - call_bool(call, 7),
            .is_mean = mode == BAGS_MEAN};
  int at = call_find_argument(call, "padding_idx");
  b.padding = at < 0 ? -1 : call_int_or(call, (uint32_t)at, -1);
  if (wraps && b.padding < 0 && !call_is_none(call, (uint32_t)at)) b.padding += b.row_count;
  if (!are_in_range(&b)) TRY_GOTO(reason_decline(REASON_NOT_FUSED_ARGUMENT), done);
  TRY_GOTO(fill_bags(call, &b, out), done);
  for (uint32_t i = 0; i < 4; i++) {
    call_set_tensor(call, i, out[i]);
    out[i] = NULL;
  }
done:
  tensor_release(indices);
  tensor_release(starts);
  for (int i = 0; i < 4; i++) tensor_release(out[i]);
  return status;
}

#define BAGS(text, wraps, body_) \
  { .schema = text, .body = body_, .param = wraps, BESIDE(run_bags) }
static const OpRow rows[] = {
    BAGS("aten::embedding_bag(Tensor weight, Tensor indices, Tensor offsets, bool scale_grad_by_freq=False, int "
         "mode=0, bool sparse=False, Tensor? per_sample_weights=None, bool include_last_offset=False) -> (Tensor, "
         "Tensor, Tensor, Tensor)",
         false, "return bags_of(weight, indices, offsets, mode, per_sample_weights, include_last_offset, -1)"),
    BAGS("aten::embedding_bag.padding_idx(Tensor weight, Tensor indices, Tensor offsets, bool scale_grad_by_freq, "
         "int mode, bool sparse, Tensor? per_sample_weights, bool include_last_offset, int? padding_idx) -> "
         "(Tensor, Tensor, Tensor, Tensor)",
         true,
         "padding = -1\n"
         "if padding_idx is not None:\n"
         "    padding = padding_idx + weight.size(0) if padding_idx < 0 else padding_idx\n"
         "return bags_of(weight, indices, offsets, mode, per_sample_weights, include_last_offset, padding)"),
    BAGS("aten::_embedding_bag(Tensor weight, Tensor indices, Tensor offsets, bool scale_grad_by_freq=False, int "
         "mode=0, bool sparse=False, Tensor? per_sample_weights=None, bool include_last_offset=False, int "
         "padding_idx=-1) -> (Tensor, Tensor, Tensor, Tensor)",
         false, "return bags_of(weight, indices, offsets, mode, per_sample_weights, include_last_offset, padding_idx)"),
};
OP_TABLE(op_table_embedding_bag, rows);
