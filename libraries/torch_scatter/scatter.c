/* torch_scatter::_scatter_sum, ..._mul, ..._min, ..._max: numbers of src go where an index of the same sizes says,
 * along one dimension. (src, index int64, dim, out?, dim_size?) -> result, and for min and max positions in src.
 *
 * src is seen as B x E x K numbers with dim in the middle, the result as B x N x K. */
#include "torch_scatter/operators.h"
#include "torch_scatter/reduce.h"

enum { SRC, INDEX, DIM, OUT, DIM_SIZE };

typedef struct Scatter {
  Reduction reduction;
  Dense src, result, positions;
  wick_tensor_view index;
  int64_t dim, b, e, k, n;
  int64_t *inner; /* offsets in the index of the K numbers after dim; NULL: all of them are 0 */
} Scatter;

static int64_t offset_in(const wick_tensor_view *index, int begin, int end, int64_t position) {
  int64_t offset = 0;
  for (int i = end - 1; i >= begin; i--) {
    offset += position % index->sizes[i] * index->strides[i];
    position /= index->sizes[i];
  }
  return offset;
}

static const int64_t *index_at(const Scatter *s, int64_t b, int64_t e) {
  int64_t stride = s->index.ndim ? s->index.strides[s->dim] : 0;
  return (const int64_t *)s->index.data + offset_in(&s->index, 0, (int)s->dim, b) + e * stride;
}

static wick_status read_arguments(Scatter *s, wick_call *call, wick_error **error) {
  s->index.size = sizeof s->index;
  TRY(wick_call_tensor(call, INDEX, &s->index, error));
  if (s->index.dtype != WICK_INT64)
    return fail(error, WICK_INVALID_ARGUMENT, "expected an index of int64, got %s", wick_dtype_name(s->index.dtype));
  wick_tensor_view given = {.size = sizeof given};
  TRY(wick_call_tensor(call, SRC, &given, error));
  TRY(dense_argument(call, SRC, dtype_compute(given.dtype), &s->src, error));
  s->dim = argument_int(call, DIM);
  TRY(wrap_dim(&s->dim, s->src.ndim, error));
  bool same = s->index.ndim == s->src.ndim;
  for (int i = 0; same && i < s->src.ndim; i++) same = s->index.sizes[i] == s->src.sizes[i];
  if (!same) return fail(error, WICK_INVALID_ARGUMENT, "the index should have the sizes of src");
  s->b = product(s->src.sizes, 0, (int)s->dim);
  s->e = s->src.ndim ? s->src.sizes[s->dim] : 1;
  s->k = product(s->src.sizes, (int)s->dim + 1, s->src.ndim);
  bool varies = false;
  for (int i = (int)s->dim + 1; i < s->src.ndim; i++) varies |= s->index.sizes[i] > 1 && s->index.strides[i] != 0;
  if (!varies || !s->src.numel) return WICK_OK;
  if (!(s->inner = malloc((size_t)s->k * sizeof *s->inner))) return fail_memory(error);
  for (int64_t i = 0; i < s->k; i++) s->inner[i] = offset_in(&s->index, (int)s->dim + 1, s->index.ndim, i);
  return WICK_OK;
}

/* One more than the largest of the index, all of which must be below `limit`. */
static wick_status check_index(const Scatter *s, int64_t limit, int64_t *out_size, wick_error **error) {
  *out_size = 0;
  if (!s->src.numel) return WICK_OK;
  for (int64_t b = 0; b < s->b; b++)
    for (int64_t e = 0; e < s->e; e++) {
      const int64_t *at = index_at(s, b, e);
      for (int64_t k = 0; k < (s->inner ? s->k : 1); k++) {
        int64_t i = at[s->inner ? s->inner[k] : 0];
        if (i < 0 || i >= limit)
          return fail(error, WICK_INVALID_ARGUMENT, "index %lld is out of bounds for dimension %lld with size %lld",
                      (long long)i, (long long)s->dim, (long long)limit);
        if (i >= *out_size) *out_size = i + 1;
      }
    }
  return WICK_OK;
}

/* Starts from a copy of `out`, or from nothing. */
static wick_status make_result(Scatter *s, wick_call *call, uint32_t dtype, wick_error **error) {
  int64_t sizes[32], found;
  int ndim = s->src.ndim;
  for (int i = 0; i < ndim; i++) sizes[i] = s->src.sizes[i];
  if (argument_is_none(call, OUT)) {
    s->n = argument_int_or(call, DIM_SIZE, -1);
    if (s->n < 0 && !argument_is_none(call, DIM_SIZE))
      return fail(error, WICK_INVALID_ARGUMENT, "dim_size should not be negative, got %lld", (long long)s->n);
    TRY(check_index(s, s->n < 0 ? INT64_MAX : s->n, &found, error));
    if (s->n < 0) s->n = found;
    if (ndim) sizes[s->dim] = s->n;
    if (!ndim && s->n != 1) return fail(error, WICK_INVALID_ARGUMENT, "a scalar can only go to index 0");
    TRY(dense_new(s->src.dtype, ndim, sizes, false, &s->result, error));
    reduction_start(s->src.numel ? s->reduction : REDUCE_SUM, dtype, s->result.numel, s->result.data);
    return WICK_OK;
  }
  Dense out = {0};
  wick_status status;
  TRY_GOTO(dense_argument(call, OUT, s->src.dtype, &out, error), done);
  bool fits = out.ndim == ndim;
  for (int i = 0; fits && i < ndim; i++) fits = i == s->dim || out.sizes[i] == sizes[i];
  if (!fits) {
    status = fail(error, WICK_INVALID_ARGUMENT, "out should have the sizes of src but for dimension %lld",
                  (long long)s->dim);
    goto done;
  }
  s->n = ndim ? out.sizes[s->dim] : 1;
  TRY_GOTO(check_index(s, s->n, &found, error), done);
  TRY_GOTO(dense_new(s->src.dtype, ndim, out.sizes, false, &s->result, error), done);
  memcpy(s->result.data, out.data, (size_t)out.numel * (s->src.dtype == WICK_FLOAT32 ? 4 : 8));
done:
  dense_dispose(&out);
  return status;
}

static wick_status add_all(Scatter *s, wick_call *call, wick_error **error) {
  size_t width = s->src.dtype == WICK_FLOAT32 ? 4 : 8;
  int64_t *positions = s->positions.data, since = 0;
  char *result = s->result.data;
  const char *from = s->src.data;
  for (int64_t b = 0; b < s->b; b++)
    for (int64_t e = 0; e < s->e; e++, from += (size_t)s->k * width) {
      const int64_t *at = index_at(s, b, e);
      if ((since += s->k) > 1 << 18) {
        since = 0;
        TRY(wick_call_poll(call, error));
      }
      int64_t step = s->inner ? 1 : s->k;
      for (int64_t k = 0; k < s->k; k += step) {
        int64_t to = (b * s->n + at[s->inner ? s->inner[k] : 0]) * s->k + k;
        reduction_add(s->reduction, s->src.dtype, step, result + (size_t)to * width, from + (size_t)k * width,
                      positions ? positions + to : NULL, e);
      }
    }
  return WICK_OK;
}

wick_status kernel_scatter(void *user, wick_call *call, wick_error **error) {
  Scatter s = {.reduction = *(const Reduction *)user};
  wick_tensor_view given = {.size = sizeof given};
  wick_status status;
  TRY_GOTO(wick_call_tensor(call, SRC, &given, error), done);
  TRY_GOTO(read_arguments(&s, call, error), done);
  TRY_GOTO(make_result(&s, call, given.dtype, error), done);
  if (reduction_has_position(s.reduction)) {
    TRY_GOTO(dense_new(WICK_INT64, s.result.ndim, s.result.sizes, false, &s.positions, error), done);
    for (int64_t i = 0; i < s.positions.numel; i++) ((int64_t *)s.positions.data)[i] = s.e;
  }
  if (s.src.numel) TRY_GOTO(add_all(&s, call, error), done);
  if (argument_is_none(call, OUT)) reduction_finish(s.reduction, given.dtype, s.result.numel, s.result.data);
  TRY_GOTO(dense_give(call, 0, &s.result, given.dtype, error), done);
  if (s.positions.value) wick_call_set_result(call, 1, s.positions.value);
done:
  free(s.inner);
  dense_dispose(&s.src);
  dense_dispose(&s.result);
  dense_dispose(&s.positions);
  return status;
}
