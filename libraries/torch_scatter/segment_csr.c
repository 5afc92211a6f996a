/* Segments between pointers: row i of the result is made of src[indptr[i]] to src[indptr[i + 1]], along the last
 * dimension of indptr, whose dimensions before are src's (or 1). Numbers after it are carried along.
 *
 *   torch_scatter::_segment_sum_csr ... (src, indptr int64) -> result, and for min and max positions in src
 *   torch_scatter::_gather_csr (src, indptr, size?): the way back */
#include "torch_scatter/operators.h"
#include "torch_scatter/reduce.h"

enum { SRC, INDPTR, SIZE };

typedef struct Segments {
  Dense src;
  wick_tensor_view indptr;
  int dim;
  int64_t b, rows, k; /* `rows` in each of b parts, of k numbers */
} Segments;

static wick_status read_arguments(Segments *s, wick_call *call, wick_error **error) {
  s->indptr.size = sizeof s->indptr;
  wick_tensor_view given = {.size = sizeof given};
  TRY(wick_call_tensor(call, INDPTR, &s->indptr, error));
  TRY(wick_call_tensor(call, SRC, &given, error));
  if (s->indptr.dtype != WICK_INT64)
    return fail(error, WICK_INVALID_ARGUMENT, "expected pointers of int64, got %s", wick_dtype_name(s->indptr.dtype));
  if (s->indptr.ndim < 1 || given.ndim < s->indptr.ndim)
    return fail(error, WICK_INVALID_ARGUMENT, "indptr should have at least one dimension and no more than src");
  TRY(dense_argument(call, SRC, dtype_compute(given.dtype), &s->src, error));
  s->dim = s->indptr.ndim - 1;
  for (int i = 0; i < s->dim; i++)
    if (s->indptr.sizes[i] != s->src.sizes[i] && s->indptr.sizes[i] != 1)
      return fail(error, WICK_INVALID_ARGUMENT, "indptr should have src's size, or 1, in dimension %d", i);
  s->b = product(s->src.sizes, 0, s->dim);
  s->rows = s->indptr.sizes[s->dim] > 0 ? s->indptr.sizes[s->dim] - 1 : 0;
  s->k = product(s->src.sizes, s->dim + 1, s->src.ndim);
  return WICK_OK;
}

/* The pointers of part b; they are `stride` apart. */
static const int64_t *pointers_of(const Segments *s, int64_t b, int64_t *out_stride) {
  int64_t offset = 0;
  for (int i = s->dim - 1; i >= 0; i--) {
    if (s->indptr.sizes[i] != 1) offset += b % s->src.sizes[i] * s->indptr.strides[i];
    b /= s->src.sizes[i];
  }
  *out_stride = s->indptr.strides[s->dim];
  return (const int64_t *)s->indptr.data + offset;
}

/* Of each line of indptr: src's parts may be more, without numbers. */
static wick_status check_pointers(const Segments *s, int64_t limit, wick_call *call, wick_error **error) {
  int64_t lines = product(s->indptr.sizes, 0, s->dim), stride = s->indptr.strides[s->dim];
  if (s->rows <= 0) return WICK_OK; /* of any number of lines */
  for (int64_t line = 0; line < lines; line++) {
    const int64_t *at = s->indptr.data;
    int64_t position = line;
    for (int i = s->dim - 1; i >= 0; position /= s->indptr.sizes[i--])
      at += position % s->indptr.sizes[i] * s->indptr.strides[i];
    for (int64_t row = 0; row < s->rows; row++) {
      int64_t begin = at[row * stride], end = at[(row + 1) * stride];
      if (row % 65536 == 0) TRY(wick_call_poll(call, error));
      if (begin < 0 || end < begin || end > limit)
        return fail(error, WICK_INVALID_ARGUMENT, "pointers %lld, %lld do not rise from 0 to %lld at most",
                    (long long)begin, (long long)end, (long long)limit);
    }
  }
  return WICK_OK;
}

static wick_status reduce_rows(const Segments *s, Reduction reduction, uint32_t dtype, Dense *result,
                               int64_t *positions, wick_call *call, wick_error **error) {
  size_t width = s->src.dtype == WICK_FLOAT32 ? 4 : 8, line = (size_t)s->k * width;
  int64_t elements = s->src.sizes[s->dim], stride;
  char *to = result->data;
  for (int64_t b = 0; b < s->b; b++) {
    const int64_t *at = pointers_of(s, b, &stride);
    const char *from = (const char *)s->src.data + (size_t)(b * elements) * line;
    for (int64_t row = 0; row < s->rows; row++, to += line) {
      int64_t begin = at[row * stride], end = at[(row + 1) * stride];
      if (begin == end) {
        memset(to, 0, line);
        if (reduction == REDUCE_MUL) reduction_start(REDUCE_MUL, dtype, s->k, to);
      } else {
        reduction_start(reduction, dtype, s->k, to);
        for (int64_t e = begin; e < end; e++)
          reduction_add(reduction, s->src.dtype, s->k, to, from + (size_t)e * line, positions, e);
        if (reduction == REDUCE_MEAN) reduction_divide(s->src.dtype, s->k, to, end - begin);
      }
      if (positions) positions += s->k;
      TRY(wick_call_poll(call, error));
    }
  }
  return WICK_OK;
}

wick_status kernel_segment_csr(void *user, wick_call *call, wick_error **error) {
  Reduction reduction = *(const Reduction *)user;
  Segments s = {0};
  Dense result = {0}, positions = {0};
  wick_tensor_view given = {.size = sizeof given};
  int64_t sizes[32];
  wick_status status;
  TRY_GOTO(read_arguments(&s, call, error), done);
  TRY_GOTO(wick_call_tensor(call, SRC, &given, error), done);
  memcpy(sizes, s.src.sizes, (size_t)s.src.ndim * sizeof *sizes);
  sizes[s.dim] = s.rows;
  TRY_GOTO(dense_new(s.src.dtype, s.src.ndim, sizes, true, &result, error), done);
  if (reduction_has_position(reduction)) {
    TRY_GOTO(dense_new(WICK_INT64, s.src.ndim, sizes, false, &positions, error), done);
    for (int64_t i = 0; i < positions.numel; i++) ((int64_t *)positions.data)[i] = s.src.sizes[s.dim];
  }
  TRY_GOTO(check_pointers(&s, s.src.sizes[s.dim], call, error), done);
  if (result.numel) TRY_GOTO(reduce_rows(&s, reduction, given.dtype, &result, positions.data, call, error), done);
  TRY_GOTO(dense_give(call, 0, &result, given.dtype, error), done);
  if (positions.value) wick_call_set_result(call, 1, positions.value);
done:
  dense_dispose(&s.src);
  dense_dispose(&result);
  dense_dispose(&positions);
  return status;
}

static int64_t last_pointer(const Segments *s) {
  int64_t offset = 0;
  for (int i = 0; i < s->indptr.ndim; i++) {
    if (s->indptr.sizes[i] == 0) return 0;
    offset += (s->indptr.sizes[i] - 1) * s->indptr.strides[i];
  }
  return ((const int64_t *)s->indptr.data)[offset];
}

static wick_status copy_rows(const Segments *s, const Dense *result, wick_call *call, wick_error **error) {
  size_t width = s->src.dtype == WICK_FLOAT32 ? 4 : 8, line = (size_t)s->k * width;
  const char *from = s->src.data;
  int64_t stride;
  for (int64_t b = 0; b < s->b; b++) {
    const int64_t *at = pointers_of(s, b, &stride);
    char *to = (char *)result->data + (size_t)(b * result->sizes[s->dim]) * line;
    for (int64_t row = 0; row < s->rows; row++, from += line) {
      for (int64_t e = at[row * stride]; e < at[(row + 1) * stride]; e++) memcpy(to + (size_t)e * line, from, line);
      TRY(wick_call_poll(call, error));
    }
  }
  return WICK_OK;
}

wick_status kernel_gather_csr(void *user, wick_call *call, wick_error **error) {
  (void)user;
  Segments s = {0};
  Dense result = {0};
  wick_tensor_view given = {.size = sizeof given};
  int64_t sizes[32];
  wick_status status;
  TRY_GOTO(read_arguments(&s, call, error), done);
  TRY_GOTO(wick_call_tensor(call, SRC, &given, error), done);
  memcpy(sizes, s.src.sizes, (size_t)s.src.ndim * sizeof *sizes);
  if (sizes[s.dim] != 0 && sizes[s.dim] != s.rows) {
    status = fail(error, WICK_INVALID_ARGUMENT, "src should have %lld rows, one for each segment, not %lld",
                  (long long)s.rows, (long long)sizes[s.dim]);
    goto done;
  }
  sizes[s.dim] = argument_int_or(call, SIZE, s.src.numel ? last_pointer(&s) : 0);
  TRY_GOTO(dense_new(s.src.dtype, s.src.ndim, sizes, true, &result, error), done);
  if (s.src.numel) {
    TRY_GOTO(check_pointers(&s, sizes[s.dim], call, error), done);
    TRY_GOTO(copy_rows(&s, &result, call, error), done);
  }
  TRY_GOTO(dense_give(call, 0, &result, given.dtype, error), done);
done:
  dense_dispose(&s.src);
  dense_dispose(&result);
  return status;
}

/* (index int64) -> nothing; fails where the index does not rise along its last dimension. */
wick_status kernel_check_sorted(void *user, wick_call *call, wick_error **error) {
  (void)user;
  Dense index = {0};
  wick_status status;
  TRY_GOTO(dense_argument(call, 0, ANY_DTYPE, &index, error), done);
  if (index.dtype != WICK_INT64 || index.ndim < 1) {
    status = fail(error, WICK_INVALID_ARGUMENT, "expected an index of int64 with dimensions");
    goto done;
  }
  int64_t line = index.sizes[index.ndim - 1];
  const int64_t *at = index.data;
  for (int64_t i = 1; i < index.numel; i++)
    if (i % line && at[i] < at[i - 1]) {
      status = fail(error, WICK_INVALID_ARGUMENT, "the index should be sorted along its last dimension");
      break;
    }
done:
  dense_dispose(&index);
  return status;
}
