/* Strided iteration: broadcast, order dimensions by the operands' strides, merge those that follow each other without
 * gaps. */
#include "tensor/iterate.h"

#include <assert.h>

#include "base/parallel.h"
#include "base/work_limit.h"

/* Byte strides of t as it broadcasts to the sizes of `shape`; false when it does not. */
static bool broadcast_strides(const Tensor *shape, const Tensor *t, int64_t *out) {
  int64_t item = (int64_t)dtype_size((DType)t->dtype);
  int shift = shape->ndim - t->ndim;
  if (shift < 0) return false;
  for (int i = 0; i < shape->ndim; i++) {
    int64_t size = i < shift ? 1 : t->sizes[i - shift];
    if (size != shape->sizes[i] && size != 1) return false;
    out[i] = size == 1 ? 0 : t->strides[i - shift] * item;
  }
  return true;
}

/* Takes the dimensions in `order`, leaving out those of size one. */
static void set_dims(Iterator *it, const int64_t *sizes, int64_t (*strides)[TENSOR_MAX_DIMS], const int *order,
                     int ndim) {
  it->ndim = 0;
  for (int i = 0; i < ndim; i++) {
    int d = order[i];
    if (sizes[d] == 1) continue;
    int last = it->ndim - 1;
    bool merges = last >= 0;
    for (int k = 0; merges && k < it->operand_count; k++)
      merges = strides[k][d] == it->strides[k][last] * it->sizes[last];
    if (merges) {
      it->sizes[last] *= sizes[d];
      continue;
    }
    it->sizes[++last] = sizes[d];
    for (int k = 0; k < it->operand_count; k++) it->strides[k][last] = strides[k][d];
    it->ndim = last + 1;
  }
  if (it->ndim > 0) return;
  it->ndim = 1;
  it->sizes[0] = it->numel;
  for (int k = 0; k < it->operand_count; k++) it->strides[k][0] = 0;
}

static bool all_contiguous(int count, const Tensor *const *operands) {
  for (int k = 0; k < count; k++)
    if (!operands[k]->contiguous || !tensor_same_sizes(operands[0], operands[k])) return false;
  return true;
}

static Status init_without(Iterator *it, int count, const Tensor *const *operands, int without, int64_t *line_strides) {
  assert(count > 0 && without < operands[0]->ndim);
  const Tensor *shape = operands[0];
  if (count > ITERATE_MAX_OPERANDS) return status_new(ERROR_UNSUPPORTED, "more than %d operands", ITERATE_MAX_OPERANDS);
  it->operand_count = count;
  it->numel = shape->numel;
  for (int k = 0; k < count; k++) {
    if (__builtin_expect(operands[k]->flags & (TENSOR_NOT_CPU | TENSOR_DROPPED), 0))
      TRY(tensor_check_host(operands[k]));
    it->data[k] = tensor_data(operands[k]);
  }
  if (without < 0 && all_contiguous(count, operands)) {
    it->ndim = 1;
    it->sizes[0] = it->numel;
    for (int k = 0; k < count; k++) it->strides[k][0] = (int64_t)dtype_size((DType)operands[k]->dtype);
    return OK;
  }
  int64_t strides[ITERATE_MAX_OPERANDS][TENSOR_MAX_DIMS], sizes[TENSOR_MAX_DIMS];
  sizes[0] = 1; /* for zero dimensions */
  const int64_t *rows[ITERATE_MAX_OPERANDS];
  for (int k = 0; k < count; k++) {
    if (!broadcast_strides(shape, operands[k], strides[k]))
      return status_new(ERROR_RUNTIME, "a tensor of sizes %s can't be broadcast to %s",
                        SIZES_TEXT(operands[k]->ndim, operands[k]->sizes), SIZES_TEXT(shape->ndim, shape->sizes));
    rows[k] = strides[k];
  }
  if (shape->ndim) memcpy(sizes, shape->sizes, shape->ndim * sizeof *sizes);
  if (without >= 0) {
    if (sizes[without] > 0) it->numel /= sizes[without];
    sizes[without] = 1;
    for (int k = 0; k < count; k++) {
      /* Operands that all have length 1 there may be heads of longer lines: their own strides are told. */
      int own = without - (shape->ndim - operands[k]->ndim);
      bool head = shape->sizes[without] == 1 && own >= 0;
      line_strides[k] =
          head ? operands[k]->strides[own] * (int64_t)dtype_size((DType)operands[k]->dtype) : strides[k][without];
    }
  }
  int order[TENSOR_MAX_DIMS];
  dims_sort(shape->ndim, sizes, count, rows, order);
  set_dims(it, sizes, strides, order, shape->ndim);
  return OK;
}

Status iterator_init(Iterator *it, int operand_count, const Tensor *const *operands) {
  return init_without(it, operand_count, operands, -1, NULL);
}

enum { PART_OF_RUN = 4 * WORK_PER_LOOK };

void iterator_run(const Iterator *it, int64_t begin, int64_t end, IterateBody *body, void *argument) {
  assert(it->ndim >= 1 && it->ndim <= TENSOR_MAX_DIMS && it->operand_count <= ITERATE_MAX_OPERANDS);
  assert(begin >= 0 && end <= it->numel);
  if (begin >= end) return;
  int count = it->operand_count;
  char *data[ITERATE_MAX_OPERANDS];
  int64_t at[TENSOR_MAX_DIMS], inner_strides[ITERATE_MAX_OPERANDS], rest = begin, done = 0;
  bool limited = end - begin > WORK_PER_LOOK && work_limit();
  for (int k = 0; k < count; k++) {
    data[k] = it->data[k];
    inner_strides[k] = it->strides[k][0];
  }
  for (int i = 0; i < it->ndim; i++) {
    at[i] = rest % it->sizes[i];
    rest /= it->sizes[i];
    for (int k = 0; k < count; k++) data[k] += at[i] * it->strides[k][i];
  }
  for (;;) {
    int64_t n = it->sizes[0] - at[0];
    if (n > end - begin) n = end - begin;
    if (limited) {
      if (n > PART_OF_RUN) n = PART_OF_RUN;
      if (work_is_over_after(&done, n)) return;
    }
    body(argument, n, data, inner_strides);
    begin += n;
    if (begin >= end) return;
    if (at[0] + n < it->sizes[0]) { /* more of the line */
      for (int k = 0; k < count; k++) data[k] += n * inner_strides[k];
      at[0] += n;
      continue;
    }
    /* The line is used up: back to its start, on to the next. */
    for (int k = 0; k < count; k++) data[k] -= at[0] * inner_strides[k];
    at[0] = 0;
    for (int i = 1; i < it->ndim; i++) {
      for (int k = 0; k < count; k++) data[k] += it->strides[k][i];
      if (++at[i] < it->sizes[i]) break;
      for (int k = 0; k < count; k++) data[k] -= it->sizes[i] * it->strides[k][i];
      at[i] = 0;
    }
  }
}

typedef struct RunPiece {
  const Iterator *it;
  IterateBody *body;
  void *argument;
} RunPiece;

static void run_piece(void *argument, int64_t begin, int64_t end) {
  RunPiece *piece = argument;
  iterator_run(piece->it, begin, end, piece->body, piece->argument);
}

void iterator_run_parallel(const Iterator *it, int threads, int64_t grain, IterateBody *body, void *argument) {
  if (it->numel <= grain) {
    iterator_run(it, 0, it->numel, body, argument);
    return;
  }
  parallel_for(threads, it->numel, grain, run_piece, &(RunPiece){it, body, argument});
}

typedef struct LineRun {
  IterateLineBody *body;
  void *argument;
  const int64_t *line_strides;
  int operand_count;
  int64_t length;
} LineRun;

static void run_lines(void *argument, int64_t n, char *const *data, const int64_t *strides) {
  LineRun *run = argument;
  char *line[ITERATE_MAX_OPERANDS];
  int64_t done = 0;
  for (int64_t i = 0; i < n && !work_is_over_after(&done, run->length); i++) {
    for (int k = 0; k < run->operand_count; k++) line[k] = data[k] + i * strides[k];
    run->body(run->argument, line, run->line_strides);
  }
}

Status iterate_lines(int operand_count, const Tensor *const *operands, int dim, int threads, IterateLineBody *body,
                     void *argument) {
  Iterator it;
  int64_t line_strides[ITERATE_MAX_OPERANDS] = {0};
  bool has_dim = operands[0]->ndim > 0; /* a zero-dimensional tensor is one line of one element */
  TRY(init_without(&it, operand_count, operands, has_dim ? dim : -1, line_strides));
  int64_t length = has_dim ? operands[0]->sizes[dim] : 1;
  int64_t grain = length > 0 && length < 32768 ? 32768 / length : 1;
  iterator_run_parallel(&it, threads, grain, run_lines,
                        &(LineRun){body, argument, line_strides, operand_count, length});
  return OK;
}
