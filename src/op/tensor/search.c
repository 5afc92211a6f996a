/* Finding and counting values: unique, searchsorted, bincount, histograms, quantiles. */
#include <assert.h>
#include <math.h>
#include <stdlib.h>

#include "base/parallel.h"
#include "base/work_limit.h"
#include "call/row.h"
#include "compute/sort/sort.h"
#include "tensor/iterate.h"

/* ---- searchsorted: the place of each value in a sorted line ---- */
typedef struct Search {
  SortEdges edges; /* the first line of them */
  int64_t line;    /* values that are looked up in the same */
  bool right;
  DType dtype;
  const char *values;
  int64_t *places;
} Search;

static void search_values(void *argument, int64_t begin, int64_t end) {
  const Search *s = argument;
  assert(s->line > 0);
  int64_t keys[SORT_CHUNK], item = (int64_t)dtype_size(s->dtype);
  for (int64_t i = begin; i < end;) {
    int64_t row = i / s->line, left = (row + 1) * s->line < end ? (row + 1) * s->line - i : end - i,
            count = left < SORT_CHUNK ? left : SORT_CHUNK;
    SortEdges edges = s->edges;
    edges.keys += row * edges.length;
    if (edges.order) edges.order += row * edges.length;
    sort_keys(s->dtype, s->values + i * item, item, count, keys);
    sort_search(&edges, count, keys, s->right, s->places + i);
    i += count;
  }
}

/* The elements of a contiguous tensor as keys. */
static Status keys_of(const Tensor *t, Tensor **out) {
  TRY(tensor_empty(DTYPE_INT64, 1, &t->numel, out));
  int64_t item = (int64_t)dtype_size((DType)t->dtype), *keys = tensor_data(*out);
  const char *data = tensor_data(t);
  for (int64_t i = 0; i < t->numel; i += SORT_CHUNK)
    sort_keys((DType)t->dtype, data + i * item, item, t->numel - i < SORT_CHUNK ? t->numel - i : SORT_CHUNK, keys + i);
  return OK;
}

/* A contiguous tensor in `dtype`. */
static Status dense_in(const Tensor *t, DType dtype, Tensor **out) {
  Tensor *converted;
  TRY(tensor_to_dtype(t, dtype, &converted));
  Status status = tensor_contiguous(converted, out);
  tensor_release(converted);
  return status;
}

static bool flag(const Call *call, const char *name) {
  int at = call_find_argument(call, name);
  return at >= 0 && !call_is_none(call, (uint32_t)at) && call_bool(call, (uint32_t)at);
}

/* edges: (..., n), values: (..., m) of the same leading sizes, or edges of one dimension for any values. */
static Status search_lines(Call *call, const Tensor *edges, const Tensor *values, const Tensor *sorter, bool right,
                           Tensor *out) {
  Tensor *from = NULL, *keys = NULL, *order = NULL, *asked = NULL, *places = NULL;
  Status status;
  bool shared = edges->ndim == 1;
  if (edges->ndim == 0)
    return status_new(ERROR_RUNTIME, "torch.searchsorted(): boundaries tensor should have positive dimension");
  if (!shared && values->ndim != edges->ndim)
    return status_new(ERROR_RUNTIME,
                      "torch.searchsorted(): boundaries tensor should be 1 dimension or the first N-1 dimensions of "
                      "boundaries tensor and input value tensor must match");
  for (int d = 0; !shared && d < edges->ndim - 1; d++)
    if (edges->sizes[d] != values->sizes[d])
      return status_new(ERROR_RUNTIME,
                        "torch.searchsorted(): boundaries tensor should be 1 dimension or the first N-1 dimensions of "
                        "boundaries tensor and input value tensor must match");
  if (sorter && !tensor_same_sizes(sorter, edges))
    return status_new(ERROR_RUNTIME, "torch.searchsorted(): boundary and sorter must have the same size");
  if (sorter && sorter->dtype != DTYPE_INT64)
    return status_new(ERROR_RUNTIME, "torch.searchsorted(): sorter must be a tensor of long dtype but got dtype %s",
                      dtype_scalar_name((DType)sorter->dtype));
  DType dtype = (DType)edges->dtype; /* they are compared in */
  if (edges->dtype != values->dtype)
    dtype = dtype_is_floating(dtype) || dtype_is_floating((DType)values->dtype) ? DTYPE_FLOAT64 : DTYPE_INT64;
  TRY_GOTO(dense_in(edges, dtype, &from), done);
  TRY_GOTO(keys_of(from, &keys), done);
  TRY_GOTO(dense_in(values, dtype, &asked), done);
  if (sorter) TRY_GOTO(tensor_contiguous(sorter, &order), done);
  TRY_GOTO(tensor_empty(DTYPE_INT64, values->ndim, values->sizes, &places), done);
  int64_t length = edges->sizes[edges->ndim - 1];
  for (int64_t i = 0; order && i < order->numel; i++)
    if (((int64_t *)tensor_data(order))[i] < 0 || ((int64_t *)tensor_data(order))[i] >= length) {
      status = status_new(ERROR_RUNTIME, "torch.searchsorted(): sorter index out of range");
      goto done;
    }
  bool sorted = !order;
  for (int64_t i = 0; i < keys->numel && sorted; i += length)
    sorted = sort_is_sorted((int64_t *)tensor_data(keys) + i, length);
  Search s = {.edges = {tensor_data(keys), order ? tensor_data(order) : NULL, length, sorted},
              .line = shared ? asked->numel : values->sizes[values->ndim - 1],
              .right = right,
              .dtype = dtype,
              .values = tensor_data(asked),
              .places = tensor_data(places)};
  parallel_for(call->exec->work.threads, asked->numel, 1000, search_values, &s);
  status = tensor_copy(out, places, call->exec->work.threads);
done:
  tensor_release(from);
  tensor_release(keys);
  tensor_release(order);
  tensor_release(asked);
  tensor_release(places);
  return status;
}

/* The values asked for: a tensor argument or a number. */
static Status asked_values(const Call *call, uint32_t at, Tensor **out) {
  IValue v = call_value(call, at);
  if (v.tag == TAG_TENSOR) {
    *out = tensor_retain(v.tensor);
    return OK;
  }
  return tensor_from_double(ivalue_to_double(v), out);
}
static Status shape_search(Call *call, TensorSpec *specs) {
  int at = call_find_argument(call, "self");
  IValue v = call_value(call, (uint32_t)at);
  memset(specs, 0, offsetof(TensorSpec, sizes));
  int boundaries = call_find_argument(call, "boundaries");
  if (boundaries >= 0 && call_tensor(call, (uint32_t)boundaries)->ndim != 1)
    return status_new(ERROR_RUNTIME, "boundaries tensor must be 1 dimension, but got dim(%d)",
                      call_tensor(call, (uint32_t)boundaries)->ndim);
  specs->dtype = flag(call, "out_int32") ? DTYPE_INT32 : DTYPE_INT64;
  specs->device = DEVICE_CPU_0;
  if (v.tag == TAG_TENSOR) {
    specs->ndim = v.tensor->ndim;
    memcpy(specs->sizes, v.tensor->sizes, (size_t)v.tensor->ndim * sizeof(int64_t));
  }
  return OK;
}
static Status kernel_search(Call *call) {
  int edges = call_find_argument(call, "sorted_sequence"), side = call_find_argument(call, "side"),
      sorter = call_find_argument(call, "sorter");
  if (edges < 0) edges = call_find_argument(call, "boundaries");
  bool right = flag(call, "right");
  if (side >= 0 && !call_is_none(call, (uint32_t)side)) {
    Str text = call_str(call, (uint32_t)side);
    if (!str_is(text, "left") && !str_is(text, "right"))
      return status_new(ERROR_RUNTIME, "torch.searchsorted(): side can only be 'left' or 'right' but got " STR_FMT,
                        STR_ARG(text));
    if (right && str_is(text, "left"))
      return status_new(
          ERROR_RUNTIME,
          "torch.searchsorted(): side and right can't be set to opposites, got side of left while right was True");
    right = str_is(text, "right");
  }
  Tensor *values;
  TRY(asked_values(call, (uint32_t)call_find_argument(call, "self"), &values));
  Status status =
      search_lines(call, call_tensor(call, (uint32_t)edges), values,
                   sorter < 0 ? NULL : call_tensor_or_null(call, (uint32_t)sorter), right, call_out(call, 0));
  tensor_release(values);
  return status;
}

/* ---- unique: whole rows along dimension 0 of a (rows, width) table ---- */
typedef struct Table {
  const char *data;
  DType dtype;
  int64_t rows, width;
  size_t item;
} Table;

static int compare_items(DType dtype, const char *a, const char *b) {
  if (dtype_is_complex(dtype) || memcmp(a, b, dtype_size(dtype)) == 0) return memcmp(a, b, dtype_size(dtype));
  if (dtype_is_floating(dtype)) {
    double x, y;
    dtype_convert(DTYPE_FLOAT64, &x, 1, dtype, a, 1, 1);
    dtype_convert(DTYPE_FLOAT64, &y, 1, dtype, b, 1, 1);
    if (isnan(x) || isnan(y)) return isnan(x) ? 1 : -1; /* NaNs are all different, after the numbers */
    return x < y ? -1 : x > y;
  }
  int64_t x, y;
  dtype_convert(DTYPE_INT64, &x, 1, dtype, a, 1, 1);
  dtype_convert(DTYPE_INT64, &y, 1, dtype, b, 1, 1);
  return x < y ? -1 : x > y;
}
static int compare_rows(const Table *t, int64_t a, int64_t b) {
  for (int64_t i = 0; i < t->width; i++) {
    int order = compare_items(t->dtype, t->data + (a * t->width + i) * (int64_t)t->item,
                              t->data + (b * t->width + i) * (int64_t)t->item);
    if (order) return order;
  }
  return 0;
}
static bool has_nan(const Table *t, int64_t row) {
  for (int64_t i = 0; dtype_is_floating(t->dtype) && i < t->width; i++) {
    double x;
    dtype_convert(DTYPE_FLOAT64, &x, 1, t->dtype, t->data + (row * t->width + i) * (int64_t)t->item, 1, 1);
    if (isnan(x)) return true;
  }
  return false;
}
/* Puts the rows' numbers in order, equal ones as they stand, with `spare` of the same size. A merge sort that looks at
 * the time. */
static Status sort_rows(const Table *t, int64_t *order, int64_t *spare) {
  int64_t done = 0, *from = order, *to = spare, n = t->rows;
  for (int64_t width = 1; width < n; width *= 2) {
    for (int64_t begin = 0; begin < n; begin += 2 * width) {
      int64_t middle = begin + width < n ? begin + width : n, end = middle + width < n ? middle + width : n;
      for (int64_t i = begin, left = begin, right = middle; i < end; i++) {
        if (work_is_over_after(&done, 4 + t->width)) return work_status();
        bool take_right = left >= middle || (right < end && compare_rows(t, from[right], from[left]) < 0);
        to[i] = take_right ? from[right++] : from[left++];
      }
    }
    int64_t *swap = from;
    from = to;
    to = swap;
  }
  if (from != order) memcpy(order, from, (size_t)n * sizeof *order);
  return OK;
}

/* What the rows are: in order, where each group of equal ones begins in it, and the group of each row (NULL where
 * nobody asks). */
typedef struct Groups {
  int64_t *order, *firsts, *number, found;
} Groups;

static Status group_rows(const Table *t, bool sort, Groups *out) {
  for (int64_t i = 0; i < t->rows; i++) out->order[i] = i;
  if (sort) TRY(sort_rows(t, out->order, out->number));
  int64_t looked = 0;
  for (int64_t i = 0; i < t->rows; i++) {
    if (work_is_over_after(&looked, 4 + t->width)) return work_status();
    if (i == 0 || compare_rows(t, out->order[i - 1], out->order[i]) != 0 || has_nan(t, out->order[i]))
      out->firsts[out->found++] = i;
    out->number[out->order[i]] = out->found - 1;
  }
  return OK;
}

static int64_t keys_at(const Table *t, int64_t begin, int64_t *keys) {
  int64_t count = t->rows - begin < SORT_CHUNK ? t->rows - begin : SORT_CHUNK, item = (int64_t)t->item;
  sort_keys(t->dtype, t->data + begin * item, item, count, keys);
  return count;
}

/* The span of single integers, from *least on; UINT64_MAX: too wide for a table of those between. */
static uint64_t span_of(const Table *t, int64_t *least) {
  int64_t keys[SORT_CHUNK], greatest = INT64_MIN;
  *least = INT64_MAX;
  for (int64_t begin = 0, count; begin < t->rows; begin += count) {
    count = keys_at(t, begin, keys);
    for (int64_t i = 0; i < count; i++) {
      *least = keys[i] < *least ? keys[i] : *least;
      greatest = keys[i] > greatest ? keys[i] : greatest;
    }
  }
  uint64_t span = (uint64_t)greatest - (uint64_t)*least;
  return t->rows > 0 && span < 2 * (uint64_t)t->rows + 1000 ? span + 1 : UINT64_MAX;
}

/* Groups of integers that lie close, by counting each. */
static Status group_by_counting(const Table *t, int64_t least, int64_t span, Groups *out) {
  Tensor *table;
  int64_t keys[SORT_CHUNK], sum = 0, done = 0;
  TRY(tensor_empty(DTYPE_INT64, 1, (const int64_t[]){2 * span}, &table));
  tensor_fill_zero(table);
  int64_t *counts = tensor_data(table), *where = counts + span; /* one of each; then its group */
  for (int64_t begin = 0, count; begin < t->rows; begin += count) {
    count = keys_at(t, begin, keys);
    for (int64_t i = 0; i < count; i++) {
      counts[keys[i] - least]++;
      where[keys[i] - least] = begin + i;
    }
    if (work_is_over_after(&done, count)) {
      tensor_release(table);
      return work_status();
    }
  }
  for (int64_t value = 0; value < span; value++) {
    if (counts[value] == 0) continue;
    out->firsts[out->found] = sum;
    out->order[sum] = where[value];
    where[value] = out->found++;
    sum += counts[value];
  }
  assert(sum == t->rows);
  for (int64_t begin = 0, count; begin < t->rows && out->number; begin += count) {
    count = keys_at(t, begin, keys);
    for (int64_t i = 0; i < count; i++) out->number[begin + i] = where[keys[i] - least];
  }
  tensor_release(table);
  return OK;
}

/* The same of single values, by their keys. */
static Status group_values(const Table *t, bool sort, Groups *out) {
  int64_t least;
  uint64_t span = sort && !dtype_is_floating(t->dtype) ? span_of(t, &least) : UINT64_MAX;
  if (span != UINT64_MAX) return group_by_counting(t, least, (int64_t)span, out);
  SortLine line;
  assert(t->width == 1);
  TRY(sort_line_new(t->rows, &line));
  sort_line_load(&line, t->dtype, t->data, (int64_t)t->item, false);
  if (sort) sort_stable(&line);
  bool floating = dtype_is_floating(t->dtype);
  int64_t found = 0;
  for (int64_t i = 0; i < t->rows; i++) {
    Ranked item = line.items[i];
    bool is_nan = floating && item.key == SORT_KEY_NAN; /* equals nothing */
    if (i == 0 || item.key != line.items[i - 1].key || is_nan) {
      out->order[i] = item.position; /* of the others nobody asks */
      out->firsts[found++] = i;
    }
    if (out->number) out->number[item.position] = found - 1;
  }
  out->found = found;
  sort_line_dispose(&line);
  return work_status();
}

/* Sets outputs (values, inverse, counts); those not asked for are empty. */
static Status unique_rows(Call *call, const Tensor *table, bool sort, bool want_inverse, bool want_counts, int ndim,
                          const int64_t *inverse_sizes) {
  Tensor *dense, *values = NULL, *inverse = NULL, *counts = NULL, *scratch = NULL;
  int64_t none = 0;
  Groups groups = {0};
  Status status;
  TRY(tensor_contiguous(table, &dense));
  Table t = {tensor_data(dense), (DType)table->dtype, table->sizes[0], table->sizes[1],
             dtype_size((DType)table->dtype)};
  bool single = t.width == 1 && !dtype_is_complex(t.dtype);
  TRY_GOTO(tensor_empty(DTYPE_INT64, 2, (const int64_t[]){3, t.rows + 1}, &scratch), done);
  groups.order = tensor_data(scratch);
  groups.firsts = groups.order + t.rows + 1;
  groups.number = single && !want_inverse ? NULL : groups.firsts + t.rows + 1;
  TRY_GOTO((single ? group_values : group_rows)(&t, sort, &groups), done);
  int64_t found = groups.found, *order = groups.order, *firsts = groups.firsts;
  firsts[found] = t.rows;
  TRY_GOTO(tensor_empty(t.dtype, 2, (const int64_t[]){found, t.width}, &values), done);
  size_t row = (size_t)t.width * t.item;
  for (int64_t i = 0; i < found; i++)
    memcpy((char *)tensor_data(values) + (size_t)i * row, t.data + (size_t)order[firsts[i]] * row, row);
  TRY_GOTO(want_inverse ? tensor_empty(DTYPE_INT64, ndim, inverse_sizes, &inverse)
                        : tensor_empty(DTYPE_INT64, 1, &none, &inverse),
           done);
  if (want_inverse) memcpy(tensor_data(inverse), groups.number, (size_t)t.rows * sizeof *groups.number);
  TRY_GOTO(tensor_empty(DTYPE_INT64, 1, want_counts ? &found : &none, &counts), done);
  for (int64_t i = 0; want_counts && i < found; i++) ((int64_t *)tensor_data(counts))[i] = firsts[i + 1] - firsts[i];
  call_set_tensor(call, 0, tensor_retain(values));
  call_set_tensor(call, 1, tensor_retain(inverse));
  if (call->output_count > 2) call_set_tensor(call, 2, tensor_retain(counts));
done:
  tensor_release(dense);
  tensor_release(values);
  tensor_release(inverse);
  tensor_release(counts);
  tensor_release(scratch);
  return status;
}

/* Every element a row of one; the values come back flat. */
static Status unique_elements(Call *call, bool sort, bool want_inverse, bool want_counts) {
  const Tensor *self = call_tensor(call, 0);
  Tensor *dense, *table = NULL, *flat = NULL;
  Status status;
  TRY(tensor_contiguous(self, &dense));
  TRY_GOTO(tensor_view_sizes(dense, 2, (const int64_t[]){self->numel, 1}, &table), done);
  TRY_GOTO(unique_rows(call, table, sort, want_inverse, want_counts, self->ndim, self->sizes), done);
  TRY_GOTO(tensor_view_sizes(call_out(call, 0), 1, (const int64_t[]){call_out(call, 0)->sizes[0]}, &flat), done);
  call_set_tensor(call, 0, flat);
done:
  tensor_release(dense);
  tensor_release(table);
  return status;
}
static Status kernel_unique(Call *call) {
  return unique_elements(call, true, flag(call, "return_inverse"), flag(call, "return_counts"));
}

/* PyTorch gives the inverse and the counts along a dimension whether they are asked for or not. */
static Status unique_along(Call *call, int64_t dim, bool sort) {
  const Tensor *self = call_tensor(call, 0);
  Tensor *front = NULL, *dense = NULL, *table = NULL, *whole = NULL, *back = NULL;
  Status status;
  TRY(dim_wrap(dim, self->ndim, &dim));
  if (self->ndim == 0) return unique_elements(call, sort, flag(call, "return_inverse"), flag(call, "return_counts"));
  TRY_GOTO(tensor_transpose(self, 0, dim, &front), done);
  TRY_GOTO(tensor_contiguous(front, &dense), done);
  int64_t rows = dense->sizes[0], width = rows ? dense->numel / rows : 0, sizes[TENSOR_MAX_DIMS];
  if (rows == 0) {
    width = 1;
    for (int d = 1; d < dense->ndim; d++) width *= dense->sizes[d];
  }
  TRY_GOTO(tensor_view_sizes(dense, 2, (const int64_t[]){rows, width}, &table), done);
  TRY_GOTO(unique_rows(call, table, sort, true, true, 1, &rows), done);
  memcpy(sizes, dense->sizes, (size_t)dense->ndim * sizeof *sizes);
  sizes[0] = call_out(call, 0)->sizes[0];
  TRY_GOTO(tensor_view_sizes(call_out(call, 0), dense->ndim, sizes, &whole), done);
  TRY_GOTO(tensor_transpose(whole, 0, dim, &back), done);
  call_set_tensor(call, 0, tensor_retain(back));
done:
  tensor_release(front);
  tensor_release(dense);
  tensor_release(table);
  tensor_release(whole);
  tensor_release(back);
  return status;
}
static Status kernel_unique_dim(Call *call) {
  return unique_along(call, call_int(call, 1), true);
}
static Status kernel_unique_dim_consecutive(Call *call) {
  return unique_along(call, call_int(call, 1), false);
}
static Status kernel_unique_consecutive(Call *call) {
  bool of_line = call_tensor(call, 0)->ndim == 1 && !call_is_none(call, 3) && call_int(call, 3) == 0;
  if (!call_is_none(call, 3) && !of_line) return unique_along(call, call_int(call, 3), false);
  return unique_elements(call, false, call_bool(call, 1), call_bool(call, 2));
}

/* ---- bincount ---- */
static Status kernel_bincount(Call *call) {
  const Tensor *self = call_tensor(call, 0), *weights = call_tensor_or_null(call, 1);
  int64_t least = call_int(call, 2), length = least;
  if (least < 0) return status_new(ERROR_RUNTIME, "minlength should be >= 0");
  if (self->ndim != 1 || dtype_is_floating((DType)self->dtype) || dtype_is_complex((DType)self->dtype))
    return status_new(ERROR_RUNTIME, "bincount only supports 1-d non-negative integral inputs.");
  if (weights && (weights->ndim != 1 || weights->numel != self->numel))
    return status_new(ERROR_RUNTIME, "weights should be 1-d and have the same length as input");
  Tensor *at = NULL, *scale = NULL, *sums = NULL, *out = NULL;
  Status status;
  TRY_GOTO(dense_in(self, DTYPE_INT64, &at), done);
  const int64_t *index = tensor_data(at);
  int64_t least_index = 0, greatest = -1;
  for (int64_t i = 0; i < at->numel; i++) {
    least_index = index[i] < least_index ? index[i] : least_index;
    greatest = index[i] > greatest ? index[i] : greatest;
  }
  if (least_index < 0 || greatest == INT64_MAX) {
    status = status_new(ERROR_RUNTIME, "bincount only supports 1-d non-negative integral inputs.");
    goto done;
  }
  if (greatest >= length) length = greatest + 1;
  DType dtype = !weights ? DTYPE_INT64 : weights->dtype == DTYPE_FLOAT32 ? DTYPE_FLOAT32 : DTYPE_FLOAT64;
  if (weights) TRY_GOTO(dense_in(weights, DTYPE_FLOAT64, &scale), done);
  TRY_GOTO(tensor_empty(weights ? DTYPE_FLOAT64 : DTYPE_INT64, 1, &length, &sums), done);
  tensor_fill_zero(sums);
  if (weights) {
    const double *weight = tensor_data(scale);
    double *sum = tensor_data(sums);
    for (int64_t i = 0; i < at->numel; i++) sum[index[i]] += weight[i];
  } else {
    int64_t *count = tensor_data(sums);
    for (int64_t i = 0; i < at->numel; i++) count[index[i]]++;
  }
  TRY_GOTO(tensor_to_dtype(sums, dtype, &out), done);
  call_set_tensor(call, 0, out);
done:
  tensor_release(at);
  tensor_release(scale);
  tensor_release(sums);
  return status;
}

/* ---- histc ---- */
static Status shape_histc(Call *call, TensorSpec *spec) {
  const Tensor *self = call_tensor(call, 0);
  int64_t bins = call_int(call, 1);
  if (bins <= 0) return status_new(ERROR_RUNTIME, "bins must be > 0");
  shape_set(spec, (DType)self->dtype, 1, &bins);
  spec->device = tensor_device(self);
  return OK;
}

/* The least and the greatest, NaN where there is one; and how many elements are in each bin, in the steps PyTorch
 * rounds. */
#define HISTOGRAM(T, S)                                                                                         \
  static void range_##S(int64_t n, const T *x, double *low, double *high) {                                     \
    T least = x[0], greatest = x[0];                                                                            \
    for (int64_t i = 1; i < n; i++) {                                                                           \
      least = x[i] < least || x[i] != x[i] ? x[i] : least;                                                      \
      greatest = x[i] > greatest || x[i] != x[i] ? x[i] : greatest;                                             \
    }                                                                                                           \
    *low = (double)least, *high = (double)greatest;                                                             \
  }                                                                                                             \
  /* place: NaN where the width is 0. wide_first: the order of 2.x */                                           \
  static void count_##S(int64_t n, const T *x, T low, T high, int64_t bins, bool wide_first, int64_t *counts) { \
    T width = high - low, wide = (T)bins;                                                                       \
    for (int64_t i = 0; i < n; i++) {                                                                           \
      if (!(x[i] >= low && x[i] <= high)) continue;                                                             \
      T from = x[i] - low, place = wide_first ? from * wide / width : from / width * wide;                      \
      int64_t bin = place > 0 ? place < wide ? (int64_t)place : bins - 1 : 0;                                   \
      counts[bin < bins ? bin : bins - 1]++;                                                                    \
    }                                                                                                           \
  }
HISTOGRAM(float, f32)
HISTOGRAM(double, f64)

static bool is_half(DType dtype) {
  return dtype == DTYPE_FLOAT16 || dtype == DTYPE_BFLOAT16;
}
static float half_rounded(DType dtype, float x) {
  uint16_t stored;
  dtype_convert(dtype, &stored, 1, DTYPE_FLOAT32, &x, 1, 1);
  dtype_convert(DTYPE_FLOAT32, &x, 1, dtype, &stored, 1, 1);
  return x;
}
/* The same of half precision, rounded after each step. */
static void count_half(DType dtype, int64_t n, const float *x, float low, float high, int64_t bins, bool wide_first,
                       int64_t *counts) {
  float width = half_rounded(dtype, high - low), wide = (float)bins;
  for (int64_t i = 0; i < n; i++) {
    if (!(x[i] >= low && x[i] <= high)) continue;
    float from = half_rounded(dtype, x[i] - low);
    float place = wide_first ? half_rounded(dtype, from * wide) / width : half_rounded(dtype, from / width) * wide;
    place = half_rounded(dtype, place);
    int64_t bin = place > 0 ? place < wide ? (int64_t)place : bins - 1 : 0;
    counts[bin < bins ? bin : bins - 1]++;
  }
}

typedef struct Histogram {
  DType dtype, compute; /* of the elements; float32 or float64 */
  double low, high;
  int64_t bins, *counts; /* NULL: low and high are looked for */
  bool wide_first;
} Histogram;

static void histogram_run(void *argument, int64_t n, char *const *data, const int64_t *strides) {
  Histogram *h = argument;
  bool wide = h->compute == DTYPE_FLOAT64;
  union {
    float f[SORT_CHUNK];
    double d[SORT_CHUNK];
  } x;
  for (int64_t i = 0, done = 0, count; i < n && !work_is_over_after(&done, SORT_CHUNK); i += count) {
    count = n - i < SORT_CHUNK ? n - i : SORT_CHUNK;
    dtype_convert(h->compute, &x, 1, h->dtype, data[0] + i * strides[0], strides[0] / (int64_t)dtype_size(h->dtype),
                  count);
    if (h->counts && is_half(h->dtype)) {
      count_half(h->dtype, count, x.f, (float)h->low, (float)h->high, h->bins, h->wide_first, h->counts);
    } else if (h->counts && wide) {
      count_f64(count, x.d, h->low, h->high, h->bins, h->wide_first, h->counts);
    } else if (h->counts) {
      count_f32(count, x.f, (float)h->low, (float)h->high, h->bins, h->wide_first, h->counts);
    } else {
      double low, high;
      if (wide)
        range_f64(count, x.d, &low, &high);
      else
        range_f32(count, x.f, &low, &high);
      h->low = low < h->low || isnan(low) ? low : h->low;
      h->high = high > h->high || isnan(high) ? high : h->high;
    }
  }
}

static Status kernel_histc(Call *call) {
  Tensor *out = call_out(call, 0), *counts;
  const Tensor *self = call_tensor(call, 0);
  DType dtype = (DType)self->dtype;
  Histogram h = {dtype,
                 dtype == DTYPE_FLOAT64 ? DTYPE_FLOAT64 : DTYPE_FLOAT32,
                 ivalue_to_double(call_scalar(call, 2)),
                 ivalue_to_double(call_scalar(call, 3)),
                 call_int(call, 1),
                 NULL,
                 work_is_torch2(&call->exec->work)};
  Iterator it;
  TRY(iterator_init(&it, 1, &self));
  if (h.low == h.high && self->numel > 0) {
    h.low = INFINITY, h.high = -INFINITY;
    iterator_run(&it, 0, it.numel, histogram_run, &h);
    TRY(work_status());
  }
  if (h.low == h.high) h.low -= 1, h.high += 1;
  if (!isfinite(h.low) || !isfinite(h.high))
    return status_new(ERROR_RUNTIME, "torch.histc: range of [%g, %g] is not finite", h.low, h.high);
  if (!(h.low < h.high)) return status_new(ERROR_RUNTIME, "torch.histc: max must be larger than min");
  TRY(tensor_empty(DTYPE_INT64, 1, &h.bins, &counts));
  tensor_fill_zero(counts);
  h.counts = tensor_data(counts);
  iterator_run(&it, 0, it.numel, histogram_run, &h);
  Status status = tensor_copy(out, counts, 1);
  tensor_release(counts);
  return status;
}

#define SEARCH(text)                                                                                         \
  {                                                                                                          \
    .schema = text, .shape = shape_search, .kernel = kernel_search, .flags = OP_NOT_DIFFERENTIABLE | OP_OUT, \
    .dtypes = "searchsorted_out_cpu: promoted integral floating"                                             \
  }
#define UNIQUE(text, kernel_, ...) \
  { .schema = text, .kernel = kernel_, .flags = OP_NOT_DIFFERENTIABLE, __VA_ARGS__ }
static const OpRow rows[] = {
    SEARCH("aten::searchsorted.Tensor(Tensor sorted_sequence, Tensor self, *, bool out_int32=False, bool right=False, "
           "str? side=None, Tensor? sorter=None) -> Tensor"),
    SEARCH("aten::searchsorted.Scalar(Tensor sorted_sequence, Scalar self, *, bool out_int32=False, bool right=False, "
           "str? side=None, Tensor? sorter=None) -> Tensor"),
    SEARCH(
        "aten::bucketize.Tensor(Tensor self, Tensor boundaries, *, bool out_int32=False, bool right=False) -> Tensor"),
    SEARCH(
        "aten::bucketize.Scalar(Scalar self, Tensor boundaries, *, bool out_int32=False, bool right=False) -> Tensor"),
    UNIQUE("aten::_unique(Tensor self, bool sorted=True, bool return_inverse=False) -> (Tensor, Tensor)", kernel_unique,
           .dtypes = "unique: bool integral floating"),
    UNIQUE("aten::_unique2(Tensor self, bool sorted=True, bool return_inverse=False, bool return_counts=False) -> "
           "(Tensor, Tensor, Tensor)",
           kernel_unique, .dtypes = "unique: bool integral floating"),
    UNIQUE("aten::unique_dim(Tensor self, int dim, bool sorted=True, bool return_inverse=False, bool "
           "return_counts=False) -> (Tensor, Tensor, Tensor)",
           kernel_unique_dim, .dtypes = "unique_dim: bool integral floating"),
    UNIQUE("aten::unique_dim_consecutive(Tensor self, int dim, bool return_inverse=False, bool return_counts=False) -> "
           "(Tensor, Tensor, Tensor)",
           kernel_unique_dim_consecutive, .dtypes = "unique_dim: bool integral floating"),
    UNIQUE("aten::unique_consecutive(Tensor self, bool return_inverse=False, bool return_counts=False, int? dim=None) "
           "-> (Tensor, Tensor, Tensor)",
           kernel_unique_consecutive, .dtypes = "unique_consecutive: bool integral floating"),
    UNIQUE("aten::bincount(Tensor self, Tensor? weights=None, int minlength=0) -> Tensor", kernel_bincount),
    {.schema = "aten::isin.Tensor_Tensor(Tensor elements, Tensor test_elements, *, bool assume_unique=False, bool "
               "invert=False) -> Tensor",
     .body = "check_isin(elements)\ncheck_isin(test_elements)\n"
             "found = (elements.unsqueeze(-1) == test_elements.reshape(-1)).any(-1)\nreturn found.logical_not() if "
             "invert else found",
     .flags = OP_NOT_DIFFERENTIABLE},
    {.schema = "aten::isin.Tensor_Scalar(Tensor elements, Scalar test_element, *, bool assume_unique=False, bool "
               "invert=False) -> Tensor",
     .body = "check_isin(elements)\nfound = elements == test_element\nreturn found.logical_not() if invert else found",
     .flags = OP_NOT_DIFFERENTIABLE},
    {.schema = "aten::isin.Scalar_Tensor(Scalar element, Tensor test_elements, *, bool assume_unique=False, bool "
               "invert=False) -> Tensor",
     .body = "check_isin(test_elements)\nfound = (test_elements == element).any()\nreturn found.logical_not() if "
             "invert else found",
     .flags = OP_NOT_DIFFERENTIABLE},
    {.schema = "aten::histc(Tensor self, int bins=100, Scalar min=0, Scalar max=0) -> Tensor",
     .dtypes = "histogram_cpu: floating",
     .shape = shape_histc,
     .kernel = kernel_histc,
     .flags = OP_OUT | OP_NOT_DIFFERENTIABLE},
    {.schema = "aten::histogram.bins_tensor(Tensor self, Tensor bins, *, Tensor? weight=None, bool density=False) -> "
               "(Tensor hist, Tensor bin_edges)",
     .dtypes = "histogramdd: floating",
     .out = "bins_tensor_out: hist bin_edges",
     .body = "return histogram_of(self, [bins], weight, density), bins.clone()",
     .flags = OP_NOT_DIFFERENTIABLE},
    {.schema = "aten::histogram.bin_ct(Tensor self, int bins=100, *, float[]? range=None, Tensor? weight=None, bool "
               "density=False) -> (Tensor hist, Tensor bin_edges)",
     .dtypes = "histogramdd: floating",
     .out = "bin_ct_out: hist bin_edges",
     .body = "edges = histogram_edges(self.reshape([-1, 1]), [bins], range)\n"
             "return histogram_of(self, edges, weight, density), edges[0]",
     .flags = OP_NOT_DIFFERENTIABLE},
    {.schema = "aten::histogramdd(Tensor self, int[] bins, float[]? range=None, Tensor? weight=None, bool "
               "density=False) -> (Tensor hist, Tensor[] bin_edges)",
     .dtypes = "histogramdd: floating",
     .body = "edges = histogram_edges(self.reshape([-1, self.size(-1)]), bins, range)\n"
             "return histogramdd_of(self, edges, weight, density), edges",
     .flags = OP_NOT_DIFFERENTIABLE},
    {.schema = "aten::histogramdd.int_bins(Tensor self, int bins, float[]? range=None, Tensor? weight=None, bool "
               "density=False) -> (Tensor hist, Tensor[] bin_edges)",
     .dtypes = "histogramdd: floating",
     .body = "edges = histogram_edges(self.reshape([-1, self.size(-1)]), same_count(bins, self.size(-1)), range)\n"
             "return histogramdd_of(self, edges, weight, density), edges",
     .flags = OP_NOT_DIFFERENTIABLE},
    {.schema = "aten::histogramdd.TensorList_bins(Tensor self, Tensor[] bins, float[]? range=None, Tensor? "
               "weight=None, bool density=False) -> (Tensor hist, Tensor[] bin_edges)",
     .dtypes = "histogramdd: floating",
     .body = "return histogramdd_of(self, bins, weight, density), bins",
     .flags = OP_NOT_DIFFERENTIABLE | OP_RETURNS_ARGUMENT},
    {.schema = "aten::_histogramdd_bin_edges(Tensor self, int[] bins, *, float[]? range=None, Tensor? weight=None, "
               "bool density=False) -> Tensor[]",
     .body = "return histogram_edges(self.reshape([-1, self.size(-1)]), bins, range)"},
    {.schema = "aten::_histogramdd_from_bin_cts(Tensor self, int[] bins, *, float[]? range=None, Tensor? weight=None, "
               "bool density=False) -> Tensor",
     .body = "return histogramdd_of(self, histogram_edges(self.reshape([-1, self.size(-1)]), bins, range), weight, "
             "density)"},
    {.schema = "aten::_histogramdd_from_bin_tensors(Tensor self, Tensor[] bins, *, Tensor? weight=None, bool "
               "density=False) -> Tensor",
     .body = "return histogramdd_of(self, bins, weight, density)"},
    {.schema = "aten::quantile(Tensor self, Tensor q, int? dim=None, bool keepdim=False, *, str "
               "interpolation=\"linear\") -> Tensor",
     .body = "return quantile_of(self, q, dim, keepdim, interpolation, False)"},
    {.schema = "aten::quantile.scalar(Tensor self, float q, int? dim=None, bool keepdim=False, *, str "
               "interpolation=\"linear\") -> Tensor",
     .body = "return quantile_of(self, quantile_place(self, q), dim, keepdim, interpolation, False)"},
    {.schema = "aten::nanquantile(Tensor self, Tensor q, int? dim=None, bool keepdim=False, *, str "
               "interpolation=\"linear\") -> Tensor",
     .body = "return quantile_of(self, q, dim, keepdim, interpolation, True)"},
    {.schema = "aten::nanquantile.scalar(Tensor self, float q, int? dim=None, bool keepdim=False, *, str "
               "interpolation=\"linear\") -> Tensor",
     .body = "return quantile_of(self, quantile_place(self, q), dim, keepdim, interpolation, True)"},
};
OP_TABLE(op_table_search, rows);
