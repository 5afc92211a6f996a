/* Advanced indexing: index, index_put, masked_select, nonzero, take and put.
 *
 * The indices become one list of element offsets into the table (masks as the positions of their true elements); the
 * dimensions that are not indexed are walked around it. */
#include <assert.h>

#include "base/parallel.h"
#include "base/work_limit.h"
#include "call/agree.h"
#include "call/row.h"
#include "compute/element/element.h"
#include "tensor/layout.h"

typedef struct Indexing {
  int ndim;                       /* of the result */
  int64_t sizes[TENSOR_MAX_DIMS]; /* of the result */
  int outer_ndim, inner_ndim;     /* kept dimensions before and after the indexed block */
  int64_t outer_sizes[TENSOR_MAX_DIMS], outer_strides[TENSOR_MAX_DIMS]; /* of the table, in elements */
  int64_t inner_sizes[TENSOR_MAX_DIMS], inner_strides[TENSOR_MAX_DIMS];
  int64_t outer_numel, inner_numel, count;
  int64_t *offsets;  /* count of them, in elements */
  TensorSpec layout; /* of the result */
} Indexing;

static int64_t product(int n, const int64_t *sizes) {
  int64_t p = 1;
  for (int i = 0; i < n; i++) p *= sizes[i];
  return p;
}

/* Positions of the non-zero elements, (count, ndim), row-major. */
static Status nonzero(const Tensor *self, Tensor **out) {
  Tensor *truth = NULL;
  TRY(tensor_to_dtype(self, DTYPE_BOOL, &truth));
  Tensor *dense;
  Status status = tensor_contiguous(truth, &dense);
  tensor_release(truth);
  TRY(status);
  const uint8_t *bits = tensor_data(dense);
  int64_t count = 0;
  for (int64_t i = 0; i < dense->numel; i++) count += bits[i] != 0;
  status = tensor_empty_strided(DTYPE_INT64, 2, (const int64_t[]){count, self->ndim}, (const int64_t[]){1, count}, out);
  if (status == OK && self->ndim) { /* column by column, so that each can stand alone */
    int64_t *to = tensor_data(*out), at[TENSOR_MAX_DIMS] = {0};
    for (int64_t i = 0; i < dense->numel; i++) {
      if (bits[i]) {
        for (int d = 0; d < self->ndim; d++) to[d * count] = at[d];
        to++;
      }
      for (int d = self->ndim - 1; d >= 0 && ++at[d] == self->sizes[d]; d--) at[d] = 0;
    }
  }
  tensor_release(dense);
  return status;
}

/* The index tensors with masks replaced by positions, one slot per dimension of self (NULL: the whole dimension). */
static Status expand_masks(const Tensor *self, const List *given, Tensor **slots, int *out_count) {
  int n = 0;
  for (size_t i = 0; i < given->length; i++) {
    IValue v = given->values[i];
    if (v.tag == TAG_NONE || !tensor_is_defined(v.tensor)) {
      if (n >= self->ndim)
        return status_exception("IndexError", "too many indices for tensor of dimension %d", self->ndim);
      slots[n++] = NULL;
      continue;
    }
    const Tensor *index = v.tensor;
    if (index->dtype == DTYPE_BOOL || index->dtype == DTYPE_UINT8) {
      if (n + index->ndim > self->ndim)
        return status_exception("IndexError", "too many indices for tensor of dimension %d", self->ndim);
      for (int d = 0; d < index->ndim; d++)
        if (index->sizes[d] != self->sizes[n + d])
          return status_exception("IndexError",
                                  "The shape of the mask %s at index %d does not match the shape of the indexed "
                                  "tensor %s at index %d",
                                  SIZES_TEXT(index->ndim, index->sizes), d, SIZES_TEXT(self->ndim, self->sizes), n + d);
      Tensor *positions;
      TRY(nonzero(index, &positions));
      Status status = OK;
      for (int d = 0; d < index->ndim && status == OK; d++) status = tensor_select(positions, 1, d, &slots[n++]);
      *out_count = n;
      tensor_release(positions);
      TRY(status);
    } else if (index->dtype == DTYPE_INT64 || index->dtype == DTYPE_INT32 || index->dtype == DTYPE_INT16 ||
               index->dtype == DTYPE_INT8) {
      if (n >= self->ndim)
        return status_exception("IndexError", "too many indices for tensor of dimension %d", self->ndim);
      TRY(tensor_to_dtype(index, DTYPE_INT64, &slots[n++]));
    } else {
      return status_exception("IndexError", "tensors used as indices must be long, byte or bool tensors");
    }
    *out_count = n;
  }
  *out_count = n;
  return OK;
}

static Status add_offsets(Indexing *x, const Tensor *self, int dim, const Tensor *index, int ndim,
                          const int64_t *sizes) {
  assert(dim >= 0 && dim < self->ndim);
  Tensor *spread, *dense = NULL;
  TRY(tensor_expand(index, ndim, sizes, &spread));
  Status status = tensor_contiguous(spread, &dense);
  tensor_release(spread);
  TRY(status);
  if (x->count && self->sizes[dim] == 0) {
    tensor_release(dense);
    return status_exception("IndexError", "index is out of bounds for dimension with size 0");
  }
  const int64_t *at = tensor_data(dense);
  bool empty = x->outer_numel == 0 || x->inner_numel == 0; /* nothing is read: PyTorch looks at no index */
  for (int64_t i = 0; i < x->count && !empty; i++) {
    int64_t k = at[i];
    if (k < -self->sizes[dim] || k >= self->sizes[dim]) {
      status = status_exception("IndexError", "index %lld is out of bounds for dimension %d with size %lld",
                                (long long)k, dim, (long long)self->sizes[dim]);
      break;
    }
    x->offsets[i] += (k < 0 ? k + self->sizes[dim] : k) * self->strides[dim];
  }
  tensor_release(dense);
  return status;
}

static Status indices_differ(Tensor *const *slots, int slot_count) {
  StrBuf shapes = {0};
  for (int d = 0; d < slot_count; d++)
    if (slots[d])
      strbuf_printf(&shapes, "%s%s", shapes.length ? ", " : "", SIZES_TEXT(slots[d]->ndim, slots[d]->sizes));
  Status status = status_exception(
      "IndexError", "shape mismatch: indexing tensors could not be broadcast together with shapes " STR_FMT,
      STR_ARG(strbuf_view(&shapes)));
  strbuf_dispose(&shapes);
  return status;
}

/* An index tensor's strides along the dimensions of the result: it is seen with size 1 before and after the block. */
static Status index_strides(const Indexing *x, const Tensor *index, int ndim, const int64_t *sizes, int64_t *out) {
  int64_t seen[TENSOR_MAX_DIMS];
  Tensor *spread, *shown = NULL;
  for (int d = 0; d < x->ndim; d++) {
    bool in_block = d >= x->outer_ndim && d < x->outer_ndim + ndim;
    seen[d] = in_block ? x->sizes[d] : 1;
  }
  TRY(tensor_expand(index, ndim, sizes, &spread));
  Status status = tensor_view_sizes(spread, x->ndim, seen, &shown);
  for (int d = 0; shown && d < x->ndim; d++) out[d] = seen[d] == x->sizes[d] ? shown->strides[d] : 0;
  tensor_release(spread);
  tensor_release(shown);
  return status;
}

/* The order of dimensions of self, and where it shows nothing (along what is indexed) that of the index tensors. */
static Status choose_layout(Indexing *x, const Tensor *self, Tensor *const *slots, int slot_count, int ndim,
                            const int64_t *sizes) {
  bool row_major = self->row_major && x->count;
  for (int d = 0; d < slot_count && row_major; d++) row_major = !slots[d] || slots[d]->row_major;
  shape_set(&x->layout, (DType)self->dtype, x->ndim, x->sizes);
  if (row_major) return OK;
  int64_t strides[TENSOR_MAX_DIMS + 1][TENSOR_MAX_DIMS] = {{0}};
  const int64_t *rows[TENSOR_MAX_DIMS + 1] = {strides[0]};
  int count = 1;
  memcpy(strides[0], x->outer_strides, (size_t)x->outer_ndim * sizeof(int64_t));
  memcpy(strides[0] + x->outer_ndim + ndim, x->inner_strides, (size_t)x->inner_ndim * sizeof(int64_t));
  for (int d = 0; d < slot_count; d++) {
    if (!slots[d]) continue;
    TRY(index_strides(x, slots[d], ndim, sizes, strides[count]));
    rows[count] = strides[count], count++;
  }
  layout_ordered(count, rows, &x->layout);
  return OK;
}

static Status resolve(Indexing *x, const Tensor *self, Tensor *const *slots, int slot_count) {
  assert(slot_count <= self->ndim);
  int ndim = 0, first = -1, last = -1;
  int64_t sizes[TENSOR_MAX_DIMS];
  bool adjacent = true;
  for (int d = 0; d < slot_count; d++) {
    if (!slots[d]) continue;
    if (first < 0)
      first = d;
    else if (last != d - 1)
      adjacent = false;
    last = d;
    Status status = sizes_broadcast(ndim, sizes, slots[d]->ndim, slots[d]->sizes, &ndim, sizes);
    if (status != OK) {
      status_free(status);
      return indices_differ(slots, slot_count);
    }
  }
  if (first < 0) first = 0;
  int block_at = adjacent ? first : 0;
  for (int d = 0; d < self->ndim; d++) {
    if (d < slot_count && slots[d]) continue;
    bool outer = d < block_at;
    int *n = outer ? &x->outer_ndim : &x->inner_ndim;
    (outer ? x->outer_sizes : x->inner_sizes)[*n] = self->sizes[d];
    (outer ? x->outer_strides : x->inner_strides)[*n] = self->strides[d];
    ++*n;
  }
  if (x->outer_ndim + ndim + x->inner_ndim > TENSOR_MAX_DIMS) return status_new(ERROR_RUNTIME, "too many dimensions");
  for (int d = 0; d < x->outer_ndim; d++) x->sizes[x->ndim++] = x->outer_sizes[d];
  for (int d = 0; d < ndim; d++) x->sizes[x->ndim++] = sizes[d];
  for (int d = 0; d < x->inner_ndim; d++) x->sizes[x->ndim++] = x->inner_sizes[d];
  TRY(sizes_numel(ndim, sizes, &x->count));
  TRY(choose_layout(x, self, slots, slot_count, ndim, sizes));
  x->outer_numel = product(x->outer_ndim, x->outer_sizes);
  x->inner_numel = product(x->inner_ndim, x->inner_sizes);
  x->offsets = mem_calloc(x->count ? (size_t)x->count : 1, sizeof(int64_t));
  if (!x->offsets) return status_out_of_memory();
  for (int d = 0; d < slot_count; d++)
    if (slots[d]) TRY(add_offsets(x, self, d, slots[d], ndim, sizes));
  return OK;
}

static Status indexing_init(Indexing *x, const Tensor *self, const List *indices) {
  *x = (Indexing){0};
  Tensor *slots[TENSOR_MAX_DIMS] = {NULL};
  int count = 0;
  Status status = indices->length > (size_t)self->ndim
                      ? status_exception("IndexError", "too many indices for tensor of dimension %d (got %zu)",
                                         self->ndim, indices->length)
                      : expand_masks(self, indices, slots, &count);
  if (status == OK) status = resolve(x, self, slots, count);
  for (int i = 0; i < TENSOR_MAX_DIMS; i++) tensor_release(slots[i]);
  return status;
}
static void indexing_dispose(Indexing *x) {
  mem_free(x->offsets);
}

typedef struct Transfer {
  const Indexing *x;
  char *table, *dense; /* dense: the result, or the values, row-major */
  size_t item;
  bool to_table;
  ElementCombine *combine; /* NULL: copy */
} Transfer;

static int64_t offset_of(int ndim, const int64_t *sizes, const int64_t *strides, int64_t index) {
  int64_t offset = 0;
  for (int d = ndim - 1; d >= 0; d--) {
    offset += index % sizes[d] * strides[d];
    index /= sizes[d];
  }
  return offset;
}

/* Items are (outer, indexed) pairs, each with all inner elements. */
static void transfer(void *argument, int64_t begin, int64_t end) {
  const Transfer *t = argument;
  const Indexing *x = t->x;
  size_t item = t->item;
  int64_t line = x->inner_ndim ? x->inner_sizes[x->inner_ndim - 1] : 1;
  int64_t step = x->inner_ndim ? x->inner_strides[x->inner_ndim - 1] : 1;
  int64_t lines = line ? x->inner_numel / line : 0;
  int64_t outer_index = -1, outer = 0, done = 0;
  for (int64_t i = begin; i < end && !work_is_over_after(&done, x->inner_numel); i++) {
    if (i / x->count != outer_index) {
      outer_index = i / x->count;
      outer = offset_of(x->outer_ndim, x->outer_sizes, x->outer_strides, outer_index);
    }
    char *dense = t->dense + i * x->inner_numel * (int64_t)item;
    for (int64_t l = 0; l < lines; l++, dense += line * (int64_t)item) {
      int64_t at = outer + x->offsets[i % x->count] + offset_of(x->inner_ndim - 1, x->inner_sizes, x->inner_strides, l);
      char *table = t->table + at * (int64_t)item;
      if (!t->combine && (step == 1 || line == 1)) {
        memcpy(t->to_table ? table : dense, t->to_table ? dense : table, (size_t)line * item);
        continue;
      }
      for (int64_t k = 0; k < line; k++) {
        char *a = table + k * step * (int64_t)item, *b = dense + k * (int64_t)item;
        if (t->combine)
          t->combine(a, b);
        else
          memcpy(t->to_table ? a : b, t->to_table ? b : a, item);
      }
    }
  }
}

static Status kernel_index(Call *call) {
  const Tensor *self = call_tensor(call, 0);
  Indexing x;
  Tensor *dense = NULL, *out = NULL;
  Status status = indexing_init(&x, self, call_list(call, 1));
  if (status == OK) status = tensor_empty((DType)self->dtype, x.ndim, x.sizes, &dense);
  if (status == OK && dense->numel) {
    Transfer t = {&x, tensor_data(self), tensor_data(dense), dtype_size((DType)self->dtype), false, NULL};
    parallel_for(call->exec->work.threads, x.outer_numel * x.count, 1 + 16384 / x.inner_numel, transfer, &t);
  }
  if (status == OK && x.layout.has_strides) {
    status = tensor_new(&x.layout, &out);
    if (status == OK) status = tensor_copy(out, dense, call->exec->work.threads);
    tensor_release(dense);
    dense = out;
  }
  if (status == OK)
    call_set_tensor(call, 0, dense);
  else
    tensor_release(dense);
  indexing_dispose(&x);
  return status;
}

static Status put_values(Call *call, const Indexing *x, Tensor *table, const Tensor *values, bool accumulate) {
  if (values->dtype != table->dtype)
    return status_new(
        ERROR_RUNTIME,
        "Index put requires the source and destination dtypes match, got %s for the destination and %s for the source.",
        dtype_scalar_name((DType)table->dtype), dtype_scalar_name((DType)values->dtype));
  Tensor *spread = NULL, *dense = NULL;
  Status status = tensor_expand(values, x->ndim, x->sizes, &spread);
  if (status != OK) {
    if (status->code == ERROR_OUT_OF_MEMORY) return status;
    status_free(status);
    return status_new(ERROR_RUNTIME,
                      "shape mismatch: value tensor of shape %s cannot be broadcast to indexing result of shape %s",
                      SIZES_TEXT(values->ndim, values->sizes), SIZES_TEXT(x->ndim, x->sizes));
  }
  TRY_GOTO(tensor_contiguous(spread, &dense), done);
  Transfer t = {x,
                tensor_data(table),
                tensor_data(dense),
                dtype_size((DType)table->dtype),
                true,
                accumulate ? element_combine(ELEMENT_ADD, (DType)table->dtype) : NULL};
  if (dense->numel) transfer(&t, 0, x->outer_numel * x->count);
  (void)call;
done:
  tensor_release(spread);
  tensor_release(dense);
  return status;
}

/* One element over a mask alone is a number that fills it, whatever its dtype. */
static bool fills_mask(const Tensor *out, const Tensor *values, const List *indices, bool accumulate) {
  size_t others = 0, masks = 0;
  for (size_t i = 0; i < indices->length; i++) {
    IValue index = indices->values[i];
    if (index.tag != TAG_TENSOR || !tensor_is_defined(index.tensor)) continue;
    bool is_mask = index.tensor->dtype == DTYPE_BOOL || index.tensor->dtype == DTYPE_UINT8;
    *(is_mask ? &masks : &others) += 1;
  }
  bool fits = dtype_is_complex((DType)out->dtype) || !dtype_is_complex((DType)values->dtype);
  return !accumulate && values->numel == 1 && masks == 1 && !others && fits;
}

static Status kernel_index_put(Call *call) {
  const Tensor *self = call_tensor(call, 0), *values = call_tensor(call, 2);
  Tensor *out = call_out(call, 0), *converted = NULL, *number = NULL;
  if (out != self) TRY(tensor_copy(out, self, call->exec->work.threads));
  Indexing x;
  Status status = indexing_init(&x, out, call_list(call, 1));
  bool fills = fills_mask(out, values, call_list(call, 1), call_bool(call, 3));
  if (status == OK && fills) { /* a number, whatever dimensions it comes with */
    status = tensor_view_sizes(values, 0, NULL, &number);
    if (status == OK) values = number;
  }
  if (status == OK && (fills || values->flags & TENSOR_WRAPPED_NUMBER) && values->dtype != out->dtype)
    status = tensor_to_dtype(values, (DType)out->dtype, &converted);
  if (status == OK) status = put_values(call, &x, out, converted ? converted : values, call_bool(call, 3));
  tensor_release(converted);
  tensor_release(number);
  indexing_dispose(&x);
  return status;
}

/* ---- masks ---- */
static Status kernel_nonzero(Call *call) {
  Tensor *out;
  TRY(nonzero(call_tensor(call, 0), &out));
  call_set_tensor(call, 0, out);
  return OK;
}

static Status broadcast_pair(const Tensor *a, const Tensor *b, Tensor **out_a, Tensor **out_b) {
  int64_t sizes[TENSOR_MAX_DIMS];
  int ndim;
  TRY(sizes_broadcast(a->ndim, a->sizes, b->ndim, b->sizes, &ndim, sizes));
  TRY(tensor_expand(a, ndim, sizes, out_a));
  return tensor_expand(b, ndim, sizes, out_b);
}

/* A mask as bools. PyTorch reads the bytes of masks of other dtypes, which are 0 and 1 in whole numbers alone. */
static Status mask_as_bools(const Tensor *mask, Tensor **out) {
  if (mask->dtype == DTYPE_BOOL) return tensor_contiguous(mask, out);
  Tensor *wide, *dense = NULL;
  TRY(tensor_to_dtype(mask, DTYPE_INT64, &wide));
  Status status;
  TRY_GOTO(tensor_contiguous(wide, &dense), done);
  const int64_t *values = tensor_data(dense);
  for (int64_t i = 0; i < dense->numel; i++) {
    if (values[i] == 0 || values[i] == 1) continue;
    status = status_new(ERROR_RUNTIME, "Mask tensor can take 0 and 1 values only");
    goto done;
  }
  status = tensor_to_dtype(dense, DTYPE_BOOL, out);
done:
  tensor_release(wide);
  tensor_release(dense);
  return status;
}

static Status kernel_masked_select(Call *call) {
  const Tensor *self = call_tensor(call, 0), *mask = call_tensor(call, 1);
  bool takes_bytes = !work_is_torch2(&call->exec->work);
  if (mask->dtype != DTYPE_BOOL && !(takes_bytes && mask->dtype == DTYPE_UINT8))
    return status_new(ERROR_RUNTIME, "masked_select: expected BoolTensor%s for mask",
                      takes_bytes ? " or ByteTensor" : "");
  Tensor *bools = NULL, *wide = NULL, *wide_mask = NULL, *dense = NULL, *bits = NULL, *out = NULL;
  Status status;
  TRY_GOTO(mask_as_bools(mask, &bools), done);
  TRY_GOTO(broadcast_pair(self, bools, &wide, &wide_mask), done);
  TRY_GOTO(tensor_contiguous(wide, &dense), done);
  TRY_GOTO(tensor_contiguous(wide_mask, &bits), done);
  const uint8_t *bit = tensor_data(bits);
  int64_t count = 0;
  for (int64_t i = 0; i < bits->numel; i++) count += bit[i] != 0;
  TRY_GOTO(tensor_empty((DType)self->dtype, 1, &count, &out), done);
  size_t item = dtype_size((DType)self->dtype);
  char *to = tensor_data(out);
  const char *from = tensor_data(dense);
  for (int64_t i = 0; i < bits->numel; i++)
    if (bit[i]) {
      memcpy(to, from + i * (int64_t)item, item);
      to += item;
    }
  call_set_tensor(call, 0, out);
done:
  tensor_release(bools);
  tensor_release(wide);
  tensor_release(wide_mask);
  tensor_release(dense);
  tensor_release(bits);
  return status;
}

static Status kernel_masked_scatter(Call *call) {
  const Tensor *self = call_tensor(call, 0), *mask = call_tensor(call, 1), *source = call_tensor(call, 2);
  if (source->dtype != self->dtype)
    return status_new(ERROR_RUNTIME, "masked_scatter: expected self and source to have same dtypes but got%s and %s",
                      dtype_scalar_name((DType)self->dtype), dtype_scalar_name((DType)source->dtype));
  if (mask->dtype != DTYPE_BOOL && work_is_torch2(&call->exec->work))
    return status_new(ERROR_RUNTIME, "masked_scatter_ only supports boolean masks, but got mask with dtype %s",
                      dtype_scalar_name((DType)mask->dtype));
  if (mask->dtype != DTYPE_BOOL && !dtype_is_integral((DType)mask->dtype))
    return status_new(ERROR_RUNTIME, "masked_scatter: expected BoolTensor or ByteTensor for mask");
  Tensor *bools = NULL, *wide = NULL, *wide_mask = NULL, *out = NULL, *bits = NULL, *values = NULL;
  Status status;
  TRY_GOTO(mask_as_bools(mask, &bools), done);
  TRY_GOTO(broadcast_pair(self, bools, &wide, &wide_mask), done);
  TRY_GOTO(tensor_empty((DType)self->dtype, wide->ndim, wide->sizes, &out), done);
  TRY_GOTO(tensor_copy(out, wide, call->exec->work.threads), done);
  TRY_GOTO(tensor_contiguous(wide_mask, &bits), done);
  TRY_GOTO(tensor_contiguous(source, &values), done);
  const uint8_t *bit = tensor_data(bits);
  size_t item = dtype_size((DType)self->dtype);
  int64_t used = 0;
  for (int64_t i = 0; i < bits->numel; i++) {
    if (!bit[i]) continue;
    if (used == values->numel) {
      status = status_new(ERROR_RUNTIME, "Number of elements of source < number of ones in mask");
      goto done;
    }
    memcpy(tensor_items(out, (int64_t)item) + i * (int64_t)item,
           tensor_items(values, (int64_t)item) + used++ * (int64_t)item, item);
  }
  call_set_tensor(call, 0, tensor_retain(out));
done:
  tensor_release(bools);
  tensor_release(wide);
  tensor_release(wide_mask);
  tensor_release(out);
  tensor_release(bits);
  tensor_release(values);
  return status;
}

/* ---- take and put: positions in the flattened tensor ---- */
static Status flat_offset(const Tensor *self, int64_t index, int64_t *out) {
  if (index < -self->numel || index >= self->numel)
    return status_exception("IndexError", "out of range: tried to access index %lld on a tensor of %lld elements.",
                            (long long)index, (long long)self->numel);
  *out = offset_of(self->ndim, self->sizes, self->strides, index < 0 ? index + self->numel : index);
  return OK;
}
static Status shape_take(Call *call, TensorSpec *specs) {
  const Tensor *index = call_tensor(call, 1);
  if (index->dtype != DTYPE_INT64)
    return status_new(ERROR_RUNTIME, "take(): Expected a long tensor for index, but got %s",
                      dtype_scalar_name((DType)index->dtype));
  tensor_spec_of(index, specs);
  specs->dtype = (DType)call_tensor(call, 0)->dtype;
  specs->has_strides = false;
  return OK;
}
static Status kernel_take(Call *call) {
  const Tensor *self = call_tensor(call, 0);
  Tensor *index, *out = call_out(call, 0);
  if (self->numel == 0 && call_tensor(call, 1)->numel)
    return status_exception("IndexError", "take(): tried to take from an empty tensor");
  TRY(tensor_contiguous(call_tensor(call, 1), &index));
  size_t item = dtype_size((DType)self->dtype);
  Status status = OK;
  int64_t done = 0;
  for (int64_t i = 0; i < index->numel && status == OK && !work_is_over_after(&done, 1); i++) {
    int64_t from, to;
    status = flat_offset(self, ((int64_t *)tensor_data(index))[i], &from);
    if (status == OK) status = flat_offset(out, i, &to);
    if (status == OK)
      memcpy(tensor_items(out, (int64_t)item) + to * (int64_t)item,
             tensor_items(self, (int64_t)item) + from * (int64_t)item, item);
  }
  tensor_release(index);
  return status;
}
static Status kernel_put(Call *call) {
  const Tensor *self = call_tensor(call, 0), *given = call_tensor(call, 1), *source = call_tensor(call, 2);
  Tensor *out = call_out(call, 0), *index = NULL, *values = NULL;
  Status status = OK;
  if (given->dtype != DTYPE_INT64)
    return status_new(ERROR_RUNTIME, "put_(): Expected a long tensor for index, but got %s",
                      dtype_scalar_name((DType)given->dtype));
  if (source->dtype != self->dtype)
    return status_new(ERROR_RUNTIME, "put_(): self and source expected to have the same dtype");
  if (self->numel == 0 && given->numel)
    return status_exception("IndexError", "put_(): Tried to put elements into an empty tensor");
  if (source->numel != given->numel)
    return status_new(ERROR_RUNTIME,
                      "put_(): Expected source and index to have the same number of elements, but got source.numel() = "
                      "%lld, index.numel() = %lld",
                      (long long)source->numel, (long long)given->numel);
  if (out != self) TRY(tensor_copy(out, self, call->exec->work.threads));
  TRY_GOTO(tensor_contiguous(given, &index), done);
  TRY_GOTO(tensor_contiguous(source, &values), done);
  ElementCombine *add = call_bool(call, 3) ? element_combine(ELEMENT_ADD, (DType)self->dtype) : NULL;
  size_t item = dtype_size((DType)self->dtype);
  int64_t done = 0;
  for (int64_t i = 0; i < index->numel && !work_is_over_after(&done, 1); i++) {
    int64_t to;
    TRY_GOTO(flat_offset(out, ((int64_t *)tensor_data(index))[i], &to), done);
    char *place = tensor_items(out, (int64_t)item) + to * (int64_t)item,
         *value = tensor_items(values, (int64_t)item) + i * (int64_t)item;
    if (add)
      add(place, value);
    else
      memcpy(place, value, item);
  }
done:
  tensor_release(index);
  tensor_release(values);
  return status;
}

#define INDEX_GRAD "self: self.new_zeros(self.size()).index_put(indices, grad, True)"
#define PUT_GRAD                                                                                     \
  "self: grad if accumulate else grad.index_put(indices, torch.zeros_like(values), False); values: " \
  "grad.index(indices)"
#define WRITES OP_INPLACE | OP_ALIASING_SELF | OP_WRITES_APART
static const OpRow rows[] = {
    {.schema = "aten::index.Tensor(Tensor self, Tensor?[] indices) -> Tensor",
     .kernel = kernel_index,
     .grad = INDEX_GRAD,
     .flags = OP_ACCEPT_LIMITED | OP_OUT},
    {.schema = "aten::index.Tensor_hacked_twin(Tensor self, Tensor[] indices) -> Tensor",
     .kernel = kernel_index,
     .grad = INDEX_GRAD,
     .flags = OP_ACCEPT_LIMITED},
    {.schema = "aten::index_put(Tensor self, Tensor?[] indices, Tensor values, bool accumulate=False) -> Tensor",
     .cast = CAST_WIDEST,
     .shape = shape_same_as_first,
     .kernel = kernel_index_put,
     .grad = PUT_GRAD,
     .flags = OP_ACCEPT_FLOAT8 | WRITES | OP_OUT | OP_WRITES_EXPANDED},
    {.schema =
         "aten::index_put.hacked_twin(Tensor self, Tensor[] indices, Tensor values, bool accumulate=False) -> Tensor",
     .cast = CAST_WIDEST,
     .shape = shape_same_as_first,
     .kernel = kernel_index_put,
     .grad = PUT_GRAD,
     .flags = OP_ACCEPT_FLOAT8 | WRITES | OP_WRITES_EXPANDED},
    {.schema = "aten::nonzero(Tensor self) -> Tensor",
     .kernel = kernel_nonzero,
     .flags = OP_OUT | OP_NOT_DIFFERENTIABLE},
    {.schema = "aten::argwhere(Tensor self) -> Tensor",
     .body = "return torch.nonzero(self)",
     .flags = OP_NOT_DIFFERENTIABLE},
    {.schema = "aten::nonzero_numpy(Tensor self) -> Tensor[]",
     .body = "if self.dim() == 0:\n    return self.unsqueeze(0).nonzero().unbind(1)\nreturn self.nonzero().unbind(1)"},
    {.schema = "aten::where(Tensor condition) -> Tensor[]", .body = "return condition.nonzero_numpy()"},
    {.schema = "aten::masked_select(Tensor self, Tensor mask) -> Tensor",
     .kernel = kernel_masked_select,
     .grad = "self: masked_select_backward(grad, self, mask)",
     .flags = OP_ACCEPT_FLOAT8 | OP_OUT | OP_WRITES_APART},
    {.schema = "aten::masked_select_backward(Tensor grad, Tensor input, Tensor mask) -> Tensor",
     .body = "size = torch._infer_size(input.size(), mask.size())\n"
             "return torch.zeros_like(input.expand(size), dtype=grad.dtype).masked_scatter_(mask, "
             "grad).sum_to_size(input.size())"},
    {.schema = "aten::masked_scatter(Tensor self, Tensor mask, Tensor source) -> Tensor",
     .kernel = kernel_masked_scatter,
     .grad = "self: grad.masked_fill(mask, 0); source: masked_scatter_source_backward(grad, mask, source.size())",
     .flags = OP_INPLACE | OP_OUT},
    {.schema = "aten::take(Tensor self, Tensor index) -> Tensor",
     .shape = shape_take,
     .kernel = kernel_take,
     .grad = "self: torch.zeros_like(self).put(index, grad, True)",
     .flags = OP_OUT | OP_WRITES_APART},
    {.schema = "aten::put(Tensor self, Tensor index, Tensor source, bool accumulate=False) -> Tensor",
     .shape = shape_same_as_first,
     .kernel = kernel_put,
     .grad = "self: grad if accumulate else grad.put(index, torch.zeros_like(source), False); source: "
             "grad.take(index).reshape_as(source)",
     .flags = WRITES | OP_OUT},
    {.schema = "aten::take_along_dim(Tensor self, Tensor indices, int? dim=None) -> Tensor",
     .body = "if dim is None:\n"
             "    return self.reshape(-1).gather(0, indices.reshape(-1))\n"
             "if self.dim() != indices.dim():\n"
             "    raise RuntimeError('torch.take_along_dim(): input and indices should have the same number of "
             "dimensions')\n"
             "d = dim + self.dim() if dim < 0 else dim\n"
             "own = list(self.size())\n"
             "index = list(indices.size())\n"
             "own[d] = index[d]\n"
             "shape = torch._infer_size(own, index)\n"
             "index = list(shape)\n"
             "wide = list(shape)\n"
             "wide[d] = self.size(d)\n"
             "return self.expand(wide).gather(d, indices.expand(index))",
     .flags = OP_OUT},
    {.schema = "aten::one_hot(Tensor self, int num_classes=-1) -> Tensor",
     .body = "if self.dtype != torch.int64:\n"
             "    raise RuntimeError('one_hot is only applicable to index tensor.')\n"
             "if self.numel() == 0 and num_classes <= 0:\n"
             "    raise RuntimeError('Can not infer total number of classes from empty tensor.')\n"
             "if self.numel() > 0 and int(self.min()) < 0:\n"
             "    raise RuntimeError('Class values must be non-negative.')\n"
             "classes = int(self.max()) + 1 if num_classes == -1 else num_classes\n"
             "if self.numel() > 0 and int(self.max()) >= classes:\n"
             "    raise RuntimeError('Class values must be smaller than num_classes.')\n"
             "result = torch.zeros(self.size() + [classes], dtype=torch.int64, device=self.device)\n"
             "return result.scatter_(-1, self.unsqueeze(-1), 1)"},
    {.schema = "aten::embedding(Tensor weight, Tensor indices, int padding_idx=-1, bool scale_grad_by_freq=False, bool "
               "sparse=False) -> Tensor",
     .body = "if weight.dim() != 2:\n"
             "    raise RuntimeError(\"'weight' must be 2-D\")\n"
             "check_embedding_indices(indices, 'embedding')\n"
             "if indices.dim() == 1:\n"
             "    return weight.index_select(0, indices)\n"
             "return weight.index_select(0, indices.reshape(-1)).view(indices.size() + [weight.size(1)])",
     .grad = "weight: embedding_dense_backward(grad, indices, weight.size(0), padding_idx, scale_grad_by_freq)"},
    {.schema = "aten::embedding_dense_backward(Tensor grad_output, Tensor indices, int num_weights, int padding_idx, "
               "bool scale_grad_by_freq) -> Tensor",
     .body = "flat = indices.reshape(-1)\n"
             "grad = grad_output.reshape([flat.numel(), grad_output.size(-1)])\n"
             "if padding_idx >= 0:\n"
             "    grad = grad.masked_fill((flat == padding_idx).unsqueeze(1), 0)\n"
             "if scale_grad_by_freq:\n"
             "    counts = torch.bincount(flat, None, num_weights)\n"
             "    grad = grad / counts.index_select(0, flat).unsqueeze(1)\n"
             "return torch.zeros([num_weights, grad.size(1)], dtype=grad.dtype, device=grad.device).index_add(0, flat, "
             "grad)"},
};
OP_TABLE(op_table_index, rows);
