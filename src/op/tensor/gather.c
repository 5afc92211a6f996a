/* Reading and writing along one dimension by index: gather, scatter and its reductions, index_select, index_add, ...
 *
 * All of them walk the index tensor's shape with a view of the table (the tensor that is read or written) whose stride
 * along the dimension is 0; the index read at each place says how far to step along it. */
#include <assert.h>

#include "base/parallel.h"
#include "base/work_limit.h"
#include "call/row_extras.h"
#include "compute/element/element.h"
#include "tensor/iterate.h"

typedef enum ScatterMode { SCATTER_PUT, SCATTER_ADD, SCATTER_MULTIPLY, SCATTER_AMAX, SCATTER_AMIN } ScatterMode;

typedef struct IndexWalk {
  DType dtype; /* of table and source */
  DType index_dtype;
  int64_t step, length; /* bytes and elements of the table along the dimension */
  ScatterMode mode;
  bool gather;
  ElementCombine *combine;
  int64_t bad; /* an index that was out of range */
  bool is_bad;
} IndexWalk;

static bool read_index(IndexWalk *w, const char *from, int64_t *out) {
  int64_t index;
  if (w->index_dtype == DTYPE_INT64)
    memcpy(&index, from, sizeof index);
  else {
    int32_t narrow;
    memcpy(&narrow, from, sizeof narrow);
    index = narrow;
  }
  if (index < 0 || index >= w->length) {
    w->bad = index;
    w->is_bad = true;
    return false;
  }
  *out = index;
  return true;
}

/* walk_run for the frequent: int64 indices, elements that are moved as words, or float32 that adds up. */
static bool walk_words(IndexWalk *w, int64_t n, char *const *data, const int64_t *strides) {
  const char *indices = data[0];
  char *others = data[1], *table = data[2];
  int64_t step = w->step, length = w->length, index_stride = strides[0], other_stride = strides[1],
          table_stride = strides[2];
  size_t item = dtype_size(w->dtype);
  if (w->index_dtype != DTYPE_INT64) return false;
  if (index_stride == 0 && other_stride == sizeof(float) && table_stride == sizeof(float) &&
      w->dtype == DTYPE_FLOAT32 && !w->gather && w->mode == SCATTER_ADD) { /* a row is added */
    int64_t index;
    if (!read_index(w, indices, &index)) return true;
    float *into = (float *)(table + index * step);
    for (int64_t i = 0; i < n; i++) into[i] += ((const float *)others)[i];
    return true;
  }
#define WALK(type, effect)                                                                                  \
  for (int64_t i = 0; i < n; i++, indices += index_stride, others += other_stride, table += table_stride) { \
    int64_t index = *(const int64_t *)indices;                                                              \
    if (index < 0 || index >= length) return w->bad = index, w->is_bad = true;                              \
    type *other = (type *)others, *place = (type *)(table + index * step);                                  \
    effect;                                                                                                 \
  }                                                                                                         \
  return true
  if (w->gather && item == 4) {
    WALK(uint32_t, *other = *place);
  } else if (w->gather && item == 8) {
    WALK(uint64_t, *other = *place);
  } else if (w->gather) {
    return false;
  } else if (w->mode == SCATTER_PUT && item == 4) {
    WALK(uint32_t, *place = *other);
  } else if (w->mode == SCATTER_PUT && item == 8) {
    WALK(uint64_t, *place = *other);
  } else if (w->mode == SCATTER_ADD && w->dtype == DTYPE_FLOAT32) {
    WALK(float, *place += *other);
  }
#undef WALK
  return false;
}

/* data: index, source (or result of gather), table */
static void walk_run(void *argument, int64_t n, char *const *data, const int64_t *strides) {
  IndexWalk *w = argument;
  if (walk_words(w, n, data, strides)) return;
  size_t item = dtype_size(w->dtype);
  int64_t done = 0;
  for (int64_t i = 0; i < n && !work_is_over_after(&done, 1); i++) {
    int64_t index;
    if (!read_index(w, data[0] + i * strides[0], &index)) return;
    char *other = data[1] + i * strides[1], *place = data[2] + i * strides[2] + index * w->step;
    if (w->gather)
      memcpy(other, place, item);
    else if (w->mode == SCATTER_PUT)
      memcpy(place, other, item);
    else
      w->combine(place, other);
  }
}

/* The view of `table` that the walk steps over: index's sizes, stride 0 along dim. */
static Status table_view(const Tensor *table, int ndim, const int64_t *sizes, int64_t dim, Tensor **out) {
  assert(dim >= 0 && (dim < ndim || ndim == 0));
  int64_t strides[TENSOR_MAX_DIMS];
  for (int d = 0; d < ndim; d++) strides[d] = d == dim ? 0 : table->strides[d];
  return tensor_as_strided(table, ndim, sizes, strides, table->offset, out);
}

/* An expanded index may be of any length. */
static Status walk_pieces(Exec *exec, const Iterator *it, IndexWalk *w) {
  const int64_t piece = 1 << 20;
  for (int64_t begin = 0, end; begin < it->numel && !w->is_bad; begin = end) {
    end = it->numel - begin < piece ? it->numel : begin + piece;
    TRY(work_check(&exec->work));
    iterator_run(it, begin, end, walk_run, w);
  }
  return OK;
}

static Status walk(Exec *exec, IndexWalk *w, const Tensor *table, int64_t dim, const Tensor *index,
                   const Tensor *other) {
  Tensor *view = NULL;
  Status status = OK;
  if (index->numel == 0) return OK;
  w->dtype = (DType)table->dtype;
  w->index_dtype = (DType)index->dtype;
  w->length = table->ndim ? table->sizes[dim] : 1;
  w->step = (table->ndim ? table->strides[dim] : 0) * (int64_t)dtype_size(w->dtype);
  if (table->ndim) TRY(table_view(table, index->ndim, index->sizes, dim, &view));
  Iterator it;
  TRY_GOTO(iterator_init(&it, 3, (const Tensor *const[]){index, other, view ? view : table}), done);
  if (w->gather)
    iterator_run_parallel(&it, exec->work.threads, 16384, walk_run, w);
  else
    status = walk_pieces(exec, &it, w);
  if (!status && w->is_bad)
    status = status_exception("IndexError", "index %lld is out of bounds for dimension %lld with size %lld",
                              (long long)w->bad, (long long)dim, (long long)w->length);
done:
  tensor_release(view);
  return status;
}

static Status check_walk(const char *name, const Tensor *table, int64_t dim, const Tensor *index,
                         const Tensor *source) {
  int index_ndim = index->ndim ? index->ndim : 1, table_ndim = table->ndim ? table->ndim : 1;
  if (index->numel == 0) return OK;
  if (index->dtype != DTYPE_INT64) return status_new(ERROR_RUNTIME, "%s(): Expected dtype int64 for index", name);
  if (index_ndim != table_ndim)
    return status_new(ERROR_RUNTIME, "Index tensor must have the same number of dimensions as %s tensor",
                      source ? "self" : "input");
  if (source && (source->ndim ? source->ndim : 1) != index_ndim)
    return status_new(ERROR_RUNTIME, "Index tensor must have the same number of dimensions as src tensor");
  for (int d = 0; d < index->ndim; d++) {
    int64_t table_size = table->ndim ? table->sizes[d] : 1,
            source_size = source && source->ndim ? source->sizes[d] : INT64_MAX;
    if ((d == dim || index->sizes[d] <= table_size) && index->sizes[d] <= source_size) continue;
    if (source)
      return status_new(ERROR_RUNTIME,
                        "Expected index %s to be smaller than self %s apart from dimension %lld and to be smaller size "
                        "than src %s",
                        SIZES_TEXT(index->ndim, index->sizes), SIZES_TEXT(table->ndim, table->sizes), (long long)dim,
                        SIZES_TEXT(source->ndim, source->sizes));
    return status_new(ERROR_RUNTIME,
                      "Size does not match at dimension %d expected index %s to be smaller than self %s apart from "
                      "dimension %lld",
                      d, SIZES_TEXT(index->ndim, index->sizes), SIZES_TEXT(table->ndim, table->sizes), (long long)dim);
  }
  return OK;
}

/* ---- gather ---- */
static Status shape_gather(Call *call, TensorSpec *specs) {
  const Tensor *self = call_tensor(call, 0), *index = call_tensor(call, 2);
  int64_t dim;
  TRY(dim_wrap(call_int(call, 1), self->ndim, &dim));
  TRY(check_walk("gather", self, dim, index, NULL));
  memset(specs, 0, offsetof(TensorSpec, sizes));
  specs->dtype = (DType)self->dtype;
  specs->device = tensor_device(self);
  specs->ndim = index->ndim;
  for (int d = 0; d < index->ndim; d++) specs->sizes[d] = index->sizes[d];
  return OK;
}
static Status kernel_gather(Call *call) {
  const Tensor *self = call_tensor(call, 0);
  int64_t dim;
  TRY(dim_wrap(call_int(call, 1), self->ndim, &dim));
  IndexWalk w = {.gather = true};
  return walk(call->exec, &w, self, dim, call_tensor(call, 2), call_out(call, 0));
}

/* ---- scatter ---- */
/* A zero-dimensional tensor of `dtype` (not a wrapped number) from a Scalar. */
static Status number_tensor(IValue number, DType dtype, Tensor **out) {
  TRY(tensor_empty(dtype, 0, NULL, out));
  if (number.tag == TAG_COMPLEX) {
    complex128 c = ivalue_to_complex(number);
    dtype_convert(dtype, tensor_data(*out), 1, DTYPE_COMPLEX128, &c, 1, 1);
  } else if (number.tag == TAG_FLOAT) {
    dtype_convert(dtype, tensor_data(*out), 1, DTYPE_FLOAT64, &number.f, 1, 1);
  } else {
    int64_t i = ivalue_to_int(number);
    dtype_convert(dtype, tensor_data(*out), 1, DTYPE_INT64, &i, 1, 1);
  }
  return OK;
}

/* The source as a tensor of self's dtype and at least the index's sizes: a tensor argument, or one number spread by
 * strides of 0. */
static Status source_tensor(const Call *call, uint32_t at, const Tensor *like, const Tensor *index, Tensor **out) {
  IValue v = call_value(call, at);
  Tensor *given = NULL, *converted = NULL;
  Status status = OK;
  if (v.tag == TAG_TENSOR) {
    if (v.tensor->dtype != like->dtype && !(v.tensor->flags & TENSOR_WRAPPED_NUMBER))
      return status_new(ERROR_RUNTIME, "scatter(): Expected self.dtype to be equal to src.dtype");
    given = tensor_retain(v.tensor);
  } else {
    TRY(number_tensor(v, (DType)like->dtype, &given));
  }
  TRY_GOTO(tensor_to_dtype(given, (DType)like->dtype, &converted), done);
  if (converted->ndim == 0 && index->ndim > 0) {
    TRY_GOTO(tensor_expand(converted, index->ndim, index->sizes, out), done);
  } else {
    /* the part of src that the index covers */
    TRY_GOTO(tensor_as_strided(converted, index->ndim, index->sizes, converted->strides, converted->offset, out), done);
  }
done:
  tensor_release(given);
  tensor_release(converted);
  return status;
}

static Status scatter(Call *call, const Tensor *index, int64_t dim, const Tensor *source, ScatterMode mode) {
  assert(mode <= SCATTER_AMIN);
  static const ElementReduction reductions[] = {[SCATTER_ADD] = ELEMENT_ADD,
                                                [SCATTER_MULTIPLY] = ELEMENT_MULTIPLY,
                                                [SCATTER_AMAX] = ELEMENT_MAX,
                                                [SCATTER_AMIN] = ELEMENT_MIN};
  Tensor *out = call_out(call, 0);
  IndexWalk w = {.mode = mode};
  if (mode != SCATTER_PUT) {
    w.combine = element_combine(reductions[mode], (DType)out->dtype);
    if (!w.combine) return call_unsupported_dtype(call, (DType)out->dtype);
  }
  return walk(call->exec, &w, out, dim, index, source);
}

static Status copy_self(Call *call) {
  const Tensor *self = call_tensor(call, 0);
  Tensor *out = call_out(call, 0);
  return out == self ? OK : tensor_copy(out, self, call->exec->work.threads);
}

static Status scatter_call(Call *call, ScatterMode mode) {
  const Tensor *self = call_tensor(call, 0), *index = call_tensor(call, 2);
  int64_t dim;
  TRY(dim_wrap(call_int(call, 1), self->ndim, &dim));
  const Tensor *src = call_value(call, 3).tag == TAG_TENSOR ? call_tensor(call, 3) : NULL;
  TRY(check_walk("scatter", self, dim, index, src));
  TRY(copy_self(call));
  if (index->numel == 0) return OK;
  Tensor *source;
  TRY(source_tensor(call, 3, self, index, &source));
  Status status = scatter(call, index, dim, source, mode);
  tensor_release(source);
  return status;
}
static Status kernel_scatter(Call *call) {
  return scatter_call(call, (ScatterMode)call_param(call));
}
static Status kernel_scatter_with(Call *call) {
  Str reduce = call_str(call, 4);
  if (str_is(reduce, "add")) return scatter_call(call, SCATTER_ADD);
  if (str_is(reduce, "multiply")) return scatter_call(call, SCATTER_MULTIPLY);
  return status_new(ERROR_RUNTIME, "reduce argument must be either add or multiply.");
}

/* ---- scatter_reduce, index_reduce ---- */
typedef struct Reduction {
  ScatterMode mode;
  bool mean, prod;
} Reduction;
static Status read_reduction(Str name, Reduction *out) {
  if (str_is(name, "sum"))
    *out = (Reduction){SCATTER_ADD, false, false};
  else if (str_is(name, "prod"))
    *out = (Reduction){SCATTER_MULTIPLY, false, true};
  else if (str_is(name, "mean"))
    *out = (Reduction){SCATTER_ADD, true, false};
  else if (str_is(name, "amax"))
    *out = (Reduction){SCATTER_AMAX, false, false};
  else if (str_is(name, "amin"))
    *out = (Reduction){SCATTER_AMIN, false, false};
  else
    return status_new(ERROR_RUNTIME, "reduce argument must be either sum, prod, mean, amax or amin.");
  return OK;
}

/* Without self: places that the index touches start from the reduction's identity. */
static Status forget_touched(Call *call, const Tensor *index, int64_t dim, Reduction r) {
  Tensor *out = call_out(call, 0), *identity = NULL, *spread = NULL;
  Status status = OK;
  TRY(element_identity(r.mode == SCATTER_ADD        ? ELEMENT_ADD
                       : r.mode == SCATTER_MULTIPLY ? ELEMENT_MULTIPLY
                       : r.mode == SCATTER_AMAX     ? ELEMENT_MAX
                                                    : ELEMENT_MIN,
                       (DType)out->dtype, &identity));
  TRY_GOTO(tensor_expand(identity, index->ndim, index->sizes, &spread), done);
  status = scatter(call, index, dim, spread, SCATTER_PUT);
done:
  tensor_release(identity);
  tensor_release(spread);
  return status;
}

/* Divides by how many values came to each place; integers round down. */
static Status divide_by_counts(Call *call, const Tensor *index, int64_t dim, bool include_self) {
  static OpRef div = OP_REF("aten::div_", "Tensor_mode"), true_div = OP_REF("aten::div_", "Tensor");
  Tensor *out = call_out(call, 0), *counts = NULL, *one = NULL, *ones = NULL;
  Status status = OK;
  IValue result = IVALUE_NONE, floor = IVALUE_NONE;
  TRY(tensor_empty(DTYPE_INT64, out->ndim, out->sizes, &counts));
  tensor_fill_zero(counts);
  TRY_GOTO(element_identity(ELEMENT_MULTIPLY, DTYPE_INT64, &one), done);
  TRY_GOTO(tensor_expand(one, index->ndim, index->sizes, &ones), done);
  IndexWalk w = {.mode = SCATTER_ADD, .combine = element_combine(ELEMENT_ADD, DTYPE_INT64)};
  TRY_GOTO(walk(call->exec, &w, counts, dim, index, ones), done);
  int64_t *count = tensor_data(counts);
  for (int64_t i = 0; i < counts->numel; i++) {
    if (include_self) count[i]++;
    if (count[i] == 0) count[i] = 1;
  }
  if (dtype_is_floating((DType)out->dtype) || dtype_is_complex((DType)out->dtype)) {
    status = op_call(call->exec, &true_div, 2, (IValue[]){ivalue_tensor(out), ivalue_tensor(counts)}, 1, &result);
  } else {
    TRY_GOTO(ivalue_from_str(STR("floor"), &floor), done);
    status = op_call(call->exec, &div, 3, (IValue[]){ivalue_tensor(out), ivalue_tensor(counts), floor}, 1, &result);
  }
done:
  ivalue_release(result);
  ivalue_release(floor);
  tensor_release(counts);
  tensor_release(one);
  tensor_release(ones);
  return status;
}

static Status reduce_into(Call *call, const Tensor *index, int64_t dim, const Tensor *source, Reduction r,
                          bool include_self) {
  TRY(copy_self(call));
  if (index->numel == 0) return OK;
  if (!include_self) TRY(forget_touched(call, index, dim, r));
  TRY(scatter(call, index, dim, source, r.mode));
  return r.mean ? divide_by_counts(call, index, dim, include_self) : OK;
}

static Status kernel_scatter_reduce(Call *call) {
  const Tensor *self = call_tensor(call, 0), *index = call_tensor(call, 2);
  int64_t dim;
  Reduction r;
  TRY(dim_wrap(call_int(call, 1), self->ndim, &dim));
  TRY(read_reduction(call_str(call, 4), &r));
  TRY(check_walk("scatter", self, dim, index, call_tensor(call, 3)));
  if (index->numel == 0) return copy_self(call);
  Tensor *source;
  TRY(source_tensor(call, 3, self, index, &source));
  Status status = reduce_into(call, index, dim, source, r, call_bool(call, 5));
  tensor_release(source);
  return status;
}

/* ---- a one-dimensional index along dim ---- */
/* The index spread over `like`'s shape, its elements along dim. */
static Status spread_index(const Tensor *index, const Tensor *like, int64_t dim, Tensor **out) {
  int64_t strides[TENSOR_MAX_DIMS] = {0};
  if (index->ndim > 1) return status_exception("IndexError", "Index is supposed to be a vector");
  int64_t length = like->ndim ? like->sizes[dim] : 1;
  if (index->numel != length)
    return status_exception("IndexError", "Number of indices (%lld) should be equal to source.size(dim) (%lld)",
                            (long long)index->numel, (long long)length);
  if (like->ndim) strides[dim] = index->ndim ? index->strides[0] : 0;
  return tensor_as_strided(index, like->ndim, like->sizes, strides, index->offset, out);
}

static Status shape_index_select(Call *call, TensorSpec *specs) {
  const Tensor *self = call_tensor(call, 0), *index = call_tensor(call, 2);
  int64_t dim;
  TRY(dim_wrap(call_int(call, 1), self->ndim, &dim));
  if (index->ndim > 1) return status_exception("IndexError", "index_select(): Index is supposed to be a vector");
  if (index->dtype != DTYPE_INT64 && index->dtype != DTYPE_INT32)
    return status_new(ERROR_RUNTIME, "index_select(): Expected dtype int32 or int64 for index");
  memset(specs, 0, offsetof(TensorSpec, sizes));
  specs->dtype = (DType)self->dtype;
  specs->device = tensor_device(self);
  specs->ndim = self->ndim;
  for (int d = 0; d < self->ndim; d++) specs->sizes[d] = d == dim ? index->numel : self->sizes[d];
  return OK;
}
/* Dense rows of at least a few bytes are copied as they are. */
typedef struct RowSelect {
  const char *from;
  char *to;
  const void *index;
  bool is_wide; /* index: int64, else int32 */
  int64_t index_stride, count, size;
  size_t row_bytes;
  _Atomic bool is_bad;
} RowSelect;
static void select_rows(void *argument, int64_t begin, int64_t end) {
  RowSelect *s = argument;
  int64_t done = 0;
  for (int64_t unit = begin; unit < end; unit++) {
    int64_t i = unit % s->count * s->index_stride, outer = unit / s->count;
    int64_t at;
    if (s->is_wide) {
      memcpy(&at, (const char *)s->index + i * (int64_t)sizeof at, sizeof at);
    } else {
      int32_t narrow;
      memcpy(&narrow, (const char *)s->index + i * (int64_t)sizeof narrow, sizeof narrow);
      at = narrow;
    }
    if (at < 0 || at >= s->size) {
      atomic_store(&s->is_bad, true);
      return;
    }
    if (work_is_over_after(&done, (int64_t)s->row_bytes / 64 + 1)) return;
    memcpy(s->to + (size_t)unit * s->row_bytes, s->from + (size_t)(outer * s->size + at) * s->row_bytes, s->row_bytes);
  }
}
static bool selects_rows(const Tensor *self, int64_t dim, const Tensor *out, size_t *out_row_bytes) {
  enum { LEAST = 16 };
  if (self->ndim == 0 || (self->flags & TENSOR_UNUSUAL) || !tensor_is_contiguous(self) || !tensor_is_contiguous(out))
    return false;
  *out_row_bytes = dtype_size((DType)self->dtype);
  for (int d = (int)dim + 1; d < self->ndim; d++) *out_row_bytes *= (size_t)self->sizes[d];
  return *out_row_bytes >= LEAST && out->numel > 0;
}

/* The first index below `least` or not below `length`, if there is one. */
static Status find_outside(Exec *exec, const Tensor *index, int64_t least, int64_t length, int64_t *out_bad,
                           bool *out_found) {
  int64_t item = (int64_t)dtype_size((DType)index->dtype), step = index->ndim ? index->strides[0] * item : 0;
  *out_found = false;
  for (int64_t i = 0; i < index->numel && !*out_found; i++) {
    if (i % 65536 == 0) TRY(work_check(&exec->work));
    dtype_convert(DTYPE_INT64, out_bad, 1, (DType)index->dtype, (const char *)tensor_data(index) + i * step, 1, 1);
    *out_found = *out_bad < least || *out_bad >= length;
  }
  return OK;
}

/* Nothing is read of an empty table, so that no copy meets a wrong index. */
static Status check_empty_select(Call *call, int64_t dim) {
  const Tensor *self = call_tensor(call, 0), *index = call_tensor(call, 2);
  int64_t bad;
  bool outside;
  TRY(find_outside(call->exec, index, 0, self->sizes[dim], &bad, &outside));
  if (!outside) return OK;
  if (self->ndim == 1) return status_exception("IndexError", "index out of range in self");
  if (self->sizes[dim] == 0)
    return status_new(ERROR_RUNTIME, "index_select(): self indexing axis dim should be positive");
  return status_new(ERROR_RUNTIME, "INDICES element is out of DATA bounds, id=%lld axis_dim=%lld", (long long)bad,
                    (long long)self->sizes[dim]);
}

static Status kernel_index_select(Call *call) {
  enum { ONE_THREAD_BYTES = 1 << 18 };
  const Tensor *self = call_tensor(call, 0), *index = call_tensor(call, 2);
  Tensor *out = call_out(call, 0), *spread;
  int64_t dim;
  size_t row_bytes;
  TRY(dim_wrap(call_int(call, 1), self->ndim, &dim));
  if (self->numel == 0) return check_empty_select(call, dim);
  if (selects_rows(self, dim, out, &row_bytes)) {
    RowSelect s = {.from = tensor_data(self),
                   .to = tensor_data(out),
                   .index = tensor_data(index),
                   .is_wide = index->dtype == DTYPE_INT64,
                   .index_stride = index->ndim ? index->strides[0] : 0,
                   .count = index->numel,
                   .size = self->sizes[dim],
                   .row_bytes = row_bytes};
    int64_t units = (int64_t)((size_t)out->numel * dtype_size((DType)out->dtype) / row_bytes);
    parallel_for(call->exec->work.threads, units, (int64_t)(ONE_THREAD_BYTES / row_bytes) + 1, select_rows, &s);
    return s.is_bad ? status_exception("IndexError", "index out of range in self") : OK;
  }
  TRY(spread_index(index, out, dim, &spread));
  IndexWalk w = {.gather = true};
  Status status = walk(call->exec, &w, self, dim, spread, out);
  tensor_release(spread);
  if (!status || !w.is_bad) return status;
  status_free(status);
  return status_exception("IndexError", "index out of range in self");
}

/* alpha may not take what is added out of self's kind of number. */
static Status check_alpha(IValue alpha, DType self) {
  if (alpha.tag == TAG_COMPLEX && !dtype_is_complex(self))
    return status_new(ERROR_RUNTIME, "For non-complex input tensors, argument alpha must not be a complex number.");
  if (alpha.tag == TAG_FLOAT && (dtype_is_integral(self) || self == DTYPE_BOOL))
    return status_new(ERROR_RUNTIME, "For integral input tensors, argument alpha must not be a floating point number.");
  return OK;
}
/* index_add and index_reduce: what is added to `self` at each index is a slice of `source`, which may broadcast. The
 * sources as a view of self's sizes, but for as many slices along dim as there are indices. */
static Status spread_slices(const Tensor *self, int64_t dim, const Tensor *source, int64_t count, Tensor **out) {
  int64_t sizes[TENSOR_MAX_DIMS], strides[TENSOR_MAX_DIMS] = {0};
  int from = source->ndim - 1;
  for (int d = self->ndim - 1; d >= 0; d--) {
    sizes[d] = d == dim ? count : self->sizes[d];
    if (d == dim) strides[d] = source->ndim ? source->strides[dim] : 0;
    if (d == dim) continue;
    if (from == dim) from--;
    if (from < 0) continue;
    if (source->sizes[from] != sizes[d] && source->sizes[from] != 1)
      return status_new(ERROR_RUNTIME,
                        "The size of tensor a (%lld) must match the size of tensor b (%lld) at non-singleton dimension "
                        "%d",
                        (long long)sizes[d], (long long)source->sizes[from], d > dim ? d - 1 : d);
    strides[d] = source->sizes[from] == 1 ? 0 : source->strides[from];
    from--;
  }
  return tensor_as_strided(source, self->ndim, sizes, strides, source->offset, out);
}

static Status check_slices(const char *name, const Tensor *self, int64_t dim, const Tensor *index,
                           const Tensor *source) {
  if (index->ndim > 1)
    return status_exception("IndexError",
                            "%s(): Index is supposed to be a vector, but got dim: %d with type: %s and "
                            "size: %s",
                            name, index->ndim, dtype_scalar_name((DType)index->dtype),
                            SIZES_TEXT(index->ndim, index->sizes));
  if (index->dtype != DTYPE_INT64 && index->dtype != DTYPE_INT32)
    return status_new(ERROR_RUNTIME, "%s(): Expected dtype int32/int64 for index but got: %s", name,
                      dtype_scalar_name((DType)index->dtype));
  if (self->dtype != source->dtype)
    return status_new(ERROR_RUNTIME, "%s(): self (%s) and source (%s) must have the same scalar type", name,
                      dtype_scalar_name((DType)self->dtype), dtype_scalar_name((DType)source->dtype));
  if (dim != 0 && dim >= source->ndim)
    return status_exception("IndexError", "%s(): Indexing dim %lld is out of bounds of the source tensor with dim %d",
                            name, (long long)dim, source->ndim);
  int64_t length = source->ndim ? source->sizes[dim] : 1;
  if (index->numel != length)
    return status_exception("IndexError",
                            "%s(): Number of indices (%lld) should be equal to source.size(dim): (%lld), for dim: %lld",
                            name, (long long)index->numel, (long long)length, (long long)dim);
  if (self->ndim <= 1 && source->ndim > 1)
    return status_new(ERROR_RUNTIME, "source.dim() (%d) must one or zero for given self.dim() (%d)", source->ndim,
                      self->ndim);
  if (self->ndim > 1 && source->ndim == 0)
    return status_exception("IndexError", "select() cannot be applied to a 0-dim tensor.");
  if (source->ndim > (self->ndim ? self->ndim : 1))
    return status_new(ERROR_RUNTIME, "%s(): source has %d dimensions, more than self's %d", name, source->ndim,
                      self->ndim);
  return OK;
}

/* Runs body(call, index, dim, source): both spread over the slices of self that index names. */
typedef Status SlicesBody(Call *call, const Tensor *index, int64_t dim, const Tensor *source);
static Status with_slices(Call *call, int64_t dim, const Tensor *source, SlicesBody *body) {
  const Tensor *self = call_tensor(call, 0), *index = call_tensor(call, 2);
  Tensor *slices = NULL, *spread = NULL;
  Status status;
  TRY_GOTO(spread_slices(self, dim, source, index->numel, &slices), done);
  TRY_GOTO(spread_index(index, slices, dim, &spread), done);
  status = body(call, spread, dim, slices);
done:
  tensor_release(slices);
  tensor_release(spread);
  return status;
}

static Status body_put(Call *call, const Tensor *index, int64_t dim, const Tensor *source) {
  return scatter(call, index, dim, source, SCATTER_PUT);
}
static Status body_add(Call *call, const Tensor *index, int64_t dim, const Tensor *source) {
  return scatter(call, index, dim, source, SCATTER_ADD);
}
static Status body_reduce(Call *call, const Tensor *index, int64_t dim, const Tensor *source) {
  Reduction r;
  TRY(read_reduction(call_str(call, 4), &r));
  return reduce_into(call, index, dim, source, r, call_bool(call, 5));
}

/* What the slices of index_add and index_reduce must be. */
static Status check_call_slices(Call *call, const char *name, int64_t *out_dim) {
  const Tensor *self = call_tensor(call, 0), *index = call_tensor(call, 2);
  int64_t bad;
  bool outside;
  TRY(dim_wrap(call_int(call, 1), self->ndim, out_dim));
  TRY(check_slices(name, self, *out_dim, index, call_tensor(call, 3)));
  TRY(find_outside(call->exec, index, 0, self->ndim ? self->sizes[*out_dim] : 1, &bad, &outside));
  return outside ? status_exception("IndexError", "index out of range in self") : OK;
}

/* Sizes but for dimension `dim`, as "2 4". */
static void put_slice_sizes(const Tensor *t, int64_t dim, StrBuf *out) {
  bool first = true;
  for (int d = 0; d < t->ndim; d++) {
    if (d == dim) continue;
    strbuf_printf(out, first ? "%lld" : " %lld", (long long)t->sizes[d]);
    first = false;
  }
}
static Status slices_differ(const Tensor *self, const Tensor *source, int64_t dim) {
  StrBuf text = {0};
  strbuf_puts(&text, "index_copy_(): Source/destination tensor must have same slice shapes. Destination slice shape: ");
  put_slice_sizes(self, dim, &text);
  strbuf_printf(&text, " at dimension %lld and source slice shape: ", (long long)dim);
  put_slice_sizes(source, dim, &text);
  Status status = status_new(ERROR_RUNTIME, STR_FMT " at dimension 0.", STR_ARG(strbuf_view(&text)));
  strbuf_dispose(&text);
  return status;
}

static Status check_copied(const Tensor *self, int64_t dim, const Tensor *index, const Tensor *source) {
  if (index->ndim > 1)
    return status_exception("IndexError", "index_copy_(): Index should have dimension 1 or 0 (got %d)", index->ndim);
  if (source->ndim == 0 && index->numel != 1)
    return status_exception("IndexError",
                            "index_copy_(): When source is scalar, index should have one element (got %lld)",
                            (long long)index->numel);
  if (source->ndim != self->ndim && source->ndim && self->ndim)
    return status_exception("IndexError",
                            "index_copy_(): When source and destination are not scalars, their dimensionality must "
                            "match. Source dimensionality (%d), destination dimensionality (%d)",
                            source->ndim, self->ndim);
  if (index->dtype != DTYPE_INT64)
    return status_new(ERROR_RUNTIME, "index_copy_(): Expected a long tensor for index, but got %s",
                      dtype_scalar_name((DType)index->dtype));
  if (self->dtype != source->dtype)
    return status_new(ERROR_RUNTIME,
                      "index_copy_(): self and source expected to have the same dtype, but got (self) %s and (source) "
                      "%s",
                      dtype_scalar_name((DType)self->dtype), dtype_scalar_name((DType)source->dtype));
  bool same = (self->ndim ? self->ndim : 1) == (source->ndim ? source->ndim : 1);
  for (int d = 0; d < self->ndim && same && source->ndim; d++) same = d == dim || self->sizes[d] == source->sizes[d];
  if (!same) return slices_differ(self, source, dim);
  if (source->ndim && index->numel != source->sizes[dim])
    return status_exception("IndexError",
                            "index_copy_(): Number of indices (%lld) should be equal to source.size(dim) (%lld)",
                            (long long)index->numel, (long long)source->sizes[dim]);
  return OK;
}

static Status kernel_index_copy(Call *call) {
  const Tensor *self = call_tensor(call, 0), *index = call_tensor(call, 2), *source = call_tensor(call, 3);
  int64_t dim, bad, length;
  bool outside;
  TRY(dim_wrap(call_int(call, 1), self->ndim, &dim));
  TRY(check_copied(self, dim, index, source));
  length = self->ndim ? self->sizes[dim] : 1;
  if (self->numel == 0 && length) return OK; /* no index is looked at */
  TRY(find_outside(call->exec, index, 0, length, &bad, &outside));
  if (outside)
    return status_exception("IndexError",
                            "index_copy_(): index %lld is out of bounds for dimension %lld with size %lld",
                            (long long)bad, (long long)dim, (long long)length);
  TRY(copy_self(call));
  return with_slices(call, dim, source, body_put);
}
static Status kernel_index_reduce(Call *call) {
  Str reduce = call_str(call, 4);
  int64_t dim;
  if (!str_is(reduce, "prod") && !str_is(reduce, "mean") && !str_is(reduce, "amax") && !str_is(reduce, "amin"))
    return status_new(ERROR_RUNTIME,
                      "index_reduce(): Expected reduce to be one of prod, mean, amax or amin but got " STR_FMT ".",
                      STR_ARG(reduce));
  TRY(check_call_slices(call, "index_reduce_", &dim));
  return with_slices(call, dim, call_tensor(call, 3), body_reduce);
}
/* 1.13 expands sources of other sizes, or leaves some of their elements out. */
static Status check_added(const Tensor *self, const Tensor *source, int64_t dim) {
  bool fits = self->ndim == source->ndim;
  for (int d = 0; fits && d < self->ndim; d++) fits = d == dim || self->sizes[d] == source->sizes[d];
  if (fits) return OK;
  return status_new(ERROR_RUNTIME,
                    "source tensor shape must match self tensor shape, excluding the specified dimension. Got "
                    "self.shape = %s source.shape = %s",
                    SIZES_TEXT(self->ndim, self->sizes), SIZES_TEXT(source->ndim, source->sizes));
}
static Status kernel_index_add(Call *call) {
  static OpRef mul = OP_REF("aten::mul", "Scalar");
  const Tensor *source = call_tensor(call, 3);
  int64_t dim;
  TRY(check_call_slices(call, "index_add_", &dim));
  if (work_is_torch2(&call->exec->work)) TRY(check_added(call_tensor(call, 0), source, dim));
  IValue alpha = call_scalar(call, 4), scaled = IVALUE_NONE;
  if (dtype_is_integral((DType)source->dtype) && alpha.tag == TAG_FLOAT) {
    if (!(alpha.f >= -0x1p63 && alpha.f < 0x1p63))
      return status_new(ERROR_RUNTIME, "value cannot be converted to type int64_t without overflow");
    alpha = ivalue_int((int64_t)alpha.f); /* as PyTorch converts it */
  }
  TRY(check_alpha(alpha, (DType)source->dtype));
  TRY(copy_self(call));
  if (alpha.tag == TAG_INT && alpha.i == 1) return with_slices(call, dim, source, body_add);
  TRY(op_call(call->exec, &mul, 2, (IValue[]){ivalue_tensor((Tensor *)source), alpha}, 1, &scaled));
  Tensor *added = NULL;
  Status status = tensor_to_dtype(scaled.tensor, (DType)source->dtype, &added); /* bool times int is int */
  if (!status) status = with_slices(call, dim, added, body_add);
  tensor_release(added);
  ivalue_release(scaled);
  return status;
}
static Status kernel_index_fill(Call *call) {
  const Tensor *self = call_tensor(call, 0), *index = call_tensor(call, 2);
  int64_t dim, sizes[TENSOR_MAX_DIMS], strides[TENSOR_MAX_DIMS] = {0};
  TRY(dim_wrap(call_int(call, 1), self->ndim, &dim));
  if (index->numel && index->dtype != DTYPE_INT64)
    return status_new(ERROR_RUNTIME, "index_fill_(): Expected dtype int64 for index.");
  if (index->ndim > 1) return status_exception("IndexError", "Index has to be a vector/scalar");
  if (call_value(call, 3).tag != TAG_TENSOR && call_scalar(call, 3).tag == TAG_COMPLEX &&
      !dtype_is_complex((DType)self->dtype))
    return status_new(ERROR_RUNTIME, "index_fill_(): Converting complex Scalar to non-complex type is not supported");
  TRY(copy_self(call));
  Tensor *number = NULL, *value = NULL, *wrapped = NULL;
  Status status = OK;
  for (int d = 0; d < self->ndim; d++) sizes[d] = d == dim ? index->numel : self->sizes[d];
  /* negative indices count from the end here */
  static OpRef remainder = OP_REF("aten::remainder", "Scalar");
  IValue positive = IVALUE_NONE;
  int64_t length = self->ndim ? self->sizes[dim] : 1;
  if (call_value(call, 3).tag == TAG_TENSOR) {
    if (call_tensor(call, 3)->ndim != 0)
      return status_new(ERROR_RUNTIME,
                        "index_fill_ only supports a 0-dimensional value tensor, but got tensor with %d dimension(s).",
                        call_tensor(call, 3)->ndim);
    TRY_GOTO(tensor_to_dtype(call_tensor(call, 3), (DType)self->dtype, &number), done);
  } else {
    TRY_GOTO(number_tensor(call_value(call, 3), (DType)self->dtype, &number), done);
  }
  if (index->numel == 0) goto done;
  int64_t bad;
  bool outside;
  if (self->numel == 0 && length) goto done; /* no index is looked at */
  TRY_GOTO(find_outside(call->exec, index, -length, length, &bad, &outside), done);
  if (outside) {
    status = status_exception("IndexError", "index %lld is out of bounds for dimension %lld with size %lld",
                              (long long)bad, (long long)dim, (long long)length);
    goto done;
  }
  TRY_GOTO(
      op_call(call->exec, &remainder, 2, (IValue[]){ivalue_tensor((Tensor *)index), ivalue_int(length)}, 1, &positive),
      done);
  if (self->ndim) strides[dim] = positive.tensor->ndim ? positive.tensor->strides[0] : 0;
  TRY_GOTO(tensor_as_strided(positive.tensor, self->ndim, sizes, strides, positive.tensor->offset, &wrapped), done);
  TRY_GOTO(tensor_expand(number, self->ndim, sizes, &value), done);
  status = scatter(call, wrapped, dim, value, SCATTER_PUT);
done:
  tensor_release(number);
  tensor_release(value);
  tensor_release(wrapped);
  ivalue_release(positive);
  return status;
}

#define WRITES_INTO(shape_, text, kernel_, ...)                                    \
  {                                                                                \
    .schema = text, .shape = shape_, .kernel = kernel_,                            \
    .flags = OP_INPLACE | OP_OUT | OP_ALIASING_SELF | OP_WRITES_APART, __VA_ARGS__ \
  }
#define WRITES(text, kernel_, ...) WRITES_INTO(shape_rows_of_first, text, kernel_, __VA_ARGS__)
#define FILLS(text, kernel_, ...)                                                          \
  {                                                                                        \
    .schema = text, .shape = shape_same_as_first, .kernel = kernel_, __VA_ARGS__,          \
    .flags = OP_INPLACE | OP_OUT | OP_ALIASING_SELF | OP_WRITES_EXPANDED | OP_WRITES_APART \
  }
static const OpRow rows[] = {
    {.schema = "aten::gather(Tensor self, int dim, Tensor index, *, bool sparse_grad=False) -> Tensor",
     .shape = shape_gather,
     .kernel = kernel_gather,
     .grad = "self: gather_backward(grad, self, dim, index, sparse_grad)",
     .extras = &(const RowExtras){.exact_out = ""},
     .flags = OP_ACCEPT_UNSIGNED | OP_OUT},
    {.schema = "aten::gather_backward(Tensor grad, Tensor self, int dim, Tensor index, bool sparse_grad) -> Tensor",
     .body = "return torch.zeros_like(self).scatter_add(dim, index, grad)"},
    WRITES("aten::scatter.src(Tensor self, int dim, Tensor index, Tensor src) -> Tensor", kernel_scatter,
           .param = SCATTER_PUT, .grad = "self: grad.scatter(dim, index, 0); src: grad.gather(dim, index)"),
    WRITES("aten::scatter.value(Tensor self, int dim, Tensor index, Scalar value) -> Tensor", kernel_scatter,
           .param = SCATTER_PUT, .grad = "self: grad.scatter(dim, index, 0)"),
    WRITES("aten::scatter.reduce(Tensor self, int dim, Tensor index, Tensor src, *, str reduce) -> Tensor",
           kernel_scatter_with),
    WRITES("aten::scatter.value_reduce(Tensor self, int dim, Tensor index, Scalar value, *, str reduce) -> Tensor",
           kernel_scatter_with),
    WRITES("aten::scatter_add(Tensor self, int dim, Tensor index, Tensor src) -> Tensor", kernel_scatter,
           .param = SCATTER_ADD, .grad = "self: grad; src: grad.gather(dim, index)"),
    WRITES("aten::scatter_reduce.two(Tensor self, int dim, Tensor index, Tensor src, str reduce, *, bool "
           "include_self=True) -> Tensor",
           kernel_scatter_reduce,
           .grad = "self, src: scatter_reduce_backward(grad, self, dim, index, src, reduce, include_self, result)"),
    {.schema = "aten::index_select(Tensor self, int dim, Tensor index) -> Tensor",
     .shape = shape_index_select,
     .kernel = kernel_index_select,
     .grad = "self: index_select_backward(grad, self.size(), dim, index)",
     .flags = OP_ACCEPT_LIMITED | OP_OUT | OP_WRITES_APART},
    {.schema = "aten::index_select_backward(Tensor grad, int[] self_sizes, int dim, Tensor index) -> Tensor",
     .body = "return torch.zeros(self_sizes, dtype=grad.dtype, device=grad.device).index_add(dim, index, grad)"},
    WRITES("aten::index_add(Tensor self, int dim, Tensor index, Tensor source, *, Scalar alpha=1) -> Tensor",
           kernel_index_add, .grad = "self: grad; source: grad.index_select(dim, index).expand_as(source) * alpha",
           .extras = &(const RowExtras){.exact_out = ""}),
    WRITES("aten::index_copy(Tensor self, int dim, Tensor index, Tensor source) -> Tensor", kernel_index_copy,
           .grad = "self: grad.index_fill(dim, index, 0); source: grad.index_select(dim, index).expand_as(source)"),
    FILLS("aten::index_fill.int_Scalar(Tensor self, int dim, Tensor index, Scalar value) -> Tensor", kernel_index_fill,
          .grad = "self: grad.index_fill(dim, index, 0)"),
    FILLS("aten::index_fill.int_Tensor(Tensor self, int dim, Tensor index, Tensor value) -> Tensor", kernel_index_fill,
          .grad = "self: grad.index_fill(dim, index, 0); value: grad.index_select(dim, index).sum()"),
    WRITES("aten::index_reduce(Tensor self, int dim, Tensor index, Tensor source, str reduce, *, bool "
           "include_self=True) -> Tensor",
           kernel_index_reduce,
           .grad = "self, source: index_reduce_backward(grad, self, dim, index, source, reduce, include_self, result)"),
};
OP_TABLE(op_table_gather, rows);
