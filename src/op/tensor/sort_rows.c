/* Rows that order values along a dimension: sort, topk, kthvalue, median, mode. */
#include "call/row.h"
#include "compute/sort/sort.h"
#include "schema/schema.h"
#include "tensor/iterate.h"
#include "tensor/layout.h"

typedef struct Selection Selection;
/* Puts the items wanted into the first `count` places of the line. */
typedef void SelectInLine(const Selection *s, SortLine *line);
struct Selection {
  const Exec *exec;
  SelectInLine *select;
  bool few; /* the first `count` without select: by a heap, as PyTorch does where it is one in 64 or less */
  DType dtype;
  int64_t length, count; /* values in and out of a line */
  int64_t k;
  bool descending, stable, sorted, ignore_nan;
  _Atomic(bool) failed;
};

static void select_line(void *argument, char *const *data, const int64_t *strides) {
  Selection *s = argument;
  SortLine line;
  if (work_has_to_end(&s->exec->work)) return; /* operator_call says so */
  Status status = sort_line_new(s->length, &line);
  if (status != OK) {
    status_free(status);
    s->failed = true;
    return;
  }
  if (s->few) {
    sort_line_load_least(&line, s->count, s->dtype, data[2], strides[2], s->descending);
  } else {
    sort_line_load(&line, s->dtype, data[2], strides[2], s->descending);
    s->select(s, &line);
  }
  size_t bytes = dtype_size(s->dtype);
  for (int64_t i = 0; i < s->count; i++) {
    int64_t position = line.items[i].position;
    memcpy(data[0] + i * strides[0], data[2] + position * strides[2], bytes);
    memcpy(data[1] + i * strides[1], &position, sizeof position);
  }
  sort_line_dispose(&line);
}

/* A view of `self` with dimension `dim` replaced by length 1, so that all operands of a walk have equal other sizes. */
static Status run_selection(Call *call, Selection *s, int64_t dim) {
  const Tensor *self = call_tensor(call, 0);
  Tensor *out[2] = {call_out(call, 0), call_out(call, 1)}, *views[3] = {NULL, NULL, NULL};
  Status status = OK;
  s->exec = call->exec;
  s->dtype = (DType)self->dtype;
  if (dtype_is_complex(s->dtype))
    return status_new(ERROR_RUNTIME, "Sort currently does not support complex dtypes on CPU");
  if (self->numel == 0 && out[0]->numel == 0) return OK;
  const Tensor *source[3] = {out[0], out[1], self};
  int64_t sizes[TENSOR_MAX_DIMS], strides[TENSOR_MAX_DIMS];
  int ndim = self->ndim ? self->ndim : 1;
  for (int t = 0; t < 3; t++) {
    bool dropped = self->ndim && source[t]->ndim < self->ndim;
    for (int d = 0, from = 0; d < ndim; d++) {
      bool along = d == dim;
      sizes[d] = along ? 1 : self->sizes[d];
      if (along)
        strides[d] = dropped || !self->ndim ? 1 : source[t]->strides[from];
      else
        strides[d] = source[t]->strides[from];
      if (!(along && dropped)) from++;
    }
    TRY_GOTO(tensor_as_strided(source[t], ndim, sizes, strides, source[t]->offset, &views[t]), done);
  }
  status = iterate_lines(3, (const Tensor *const *)views, (int)dim, call->exec->work.threads, select_line, s);
  if (status == OK && s->failed) status = status_out_of_memory();
done:
  for (int t = 0; t < 3; t++) tensor_release(views[t]);
  return status;
}

static void select_sorted(const Selection *s, SortLine *line) {
  if (s->stable)
    sort_stable(line);
  else
    sort_unstable(line->items, line->length);
}

static void select_top(const Selection *s, SortLine *line) {
  int64_t k = s->count;
  if (k == 0) return;
  if (k < line->length || !s->sorted) sort_select(line->items, k - 1, line->length);
  if (s->sorted) sort_unstable(line->items, k - 1);
}

/* Moves the k-th smallest to its place: quickselect by the median of three, whose choice among equal values is
 * PyTorch's. */
static void quick_select(Ranked *items, int64_t length, int64_t k) {
  for (int64_t low = 0, high = length - 1; low < high;) {
    if (low + 1 == high) {
      if (items[high].key < items[low].key) swap_items(&items[low], &items[high]);
      return;
    }
    swap_items(&items[(low + high) / 2], &items[low + 1]);
    if (items[high].key < items[low + 1].key) swap_items(&items[low + 1], &items[high]);
    if (items[high].key < items[low].key) swap_items(&items[low], &items[high]);
    if (items[low].key < items[low + 1].key) swap_items(&items[low + 1], &items[low]);
    int64_t i = low + 1, j = high, pivot = items[low].key;
    for (;;) {
      do i++;
      while (items[i].key < pivot);
      do j--;
      while (pivot < items[j].key);
      if (j < i) break;
      swap_items(&items[i], &items[j]);
    }
    swap_items(&items[low], &items[j]);
    if (j <= k) low = i;
    if (j >= k) high = j - 1;
  }
}

static void select_kth(const Selection *s, SortLine *line) {
  quick_select(line->items, line->length, s->k);
  line->items[0] = line->items[s->k];
}

/* The lower median, of equal ones that which a stable sort would put there; the first NaN where one is and counts. */
static void select_median(const Selection *s, SortLine *line) {
  Ranked *items = line->items;
  int64_t numbers = line->length, below = 0, equal = 0;
  for (int64_t i = 0; i < line->length && dtype_is_floating(s->dtype); i++) numbers -= items[i].key == SORT_KEY_NAN;
  int64_t at = numbers < line->length && !s->ignore_nan ? numbers : numbers > 0 ? (numbers - 1) / 2 : 0;
  sort_select(items, at, line->length);
  int64_t key = items[at].key;
  for (int64_t i = 0; i < line->length; i++) {
    below += items[i].key < key;
    if (items[i].key == key) line->spare[equal++] = (Ranked){items[i].position, items[i].position};
  }
  sort_select(line->spare, at - below, equal);
  items[0] = line->spare[at - below];
}

/* The most frequent value, the smallest of those equally frequent; the position of the last one of its run. */
static void select_mode(const Selection *s, SortLine *line) {
  const Ranked *items = line->items;
  sort_unstable(line->items, line->length);
  bool floating = dtype_is_floating(s->dtype);
  int64_t best = 0, best_count = 0;
  for (int64_t begin = 0; begin < line->length;) {
    int64_t end = begin + 1;
    bool is_nan = floating && items[begin].key == SORT_KEY_NAN; /* equals nothing */
    while (end < line->length && !is_nan && items[begin].key == items[end].key) end++;
    if (end - begin > best_count) {
      best_count = end - begin;
      best = end - 1;
    }
    begin = end;
  }
  line->items[0] = line->items[best];
}

static int64_t dim_argument(const Call *call) {
  int at = (int)schema_find_argument(operator_schema(call->op), STR("dim"));
  return at < 0 ? -1 : call_int(call, (uint32_t)at);
}
static bool bool_argument(const Call *call, const char *name, bool fallback) {
  int at = (int)schema_find_argument(operator_schema(call->op), str_from(name));
  return at < 0 || call_is_none(call, (uint32_t)at) ? fallback : call_bool(call, (uint32_t)at);
}

/* (values, indices) shaped as self with `length` along the dimension; length -1: reduced away, or 1 with keepdim. */
static Status shape_selected(Call *call, TensorSpec *specs, int64_t length) {
  const Tensor *self = call_tensor(call, 0);
  int64_t dim;
  TRY(dim_wrap(dim_argument(call), self->ndim, &dim));
  memset(specs, 0, offsetof(TensorSpec, sizes));
  specs->dtype = (DType)self->dtype;
  specs->device = tensor_device(self);
  for (int d = 0; d < self->ndim; d++) {
    if (d != dim)
      specs->sizes[specs->ndim++] = self->sizes[d];
    else if (length >= 0)
      specs->sizes[specs->ndim++] = length;
    else if (bool_argument(call, "keepdim", false))
      specs->sizes[specs->ndim++] = 1;
    if (d == dim && length < 0 && self->sizes[d] == 0)
      return status_exception("IndexError", "Expected reduction dim %d to have non-zero size.", d);
  }
  specs[1] = specs[0];
  specs[1].dtype = DTYPE_INT64;
  return OK;
}

static Status shape_sort(Call *call, TensorSpec *specs) {
  const Tensor *self = call_tensor(call, 0);
  int64_t dim;
  TRY(dim_wrap(dim_argument(call), self->ndim, &dim));
  TRY(shape_selected(call, specs, self->ndim ? self->sizes[dim] : 1));
  for (int i = 0; i < 2; i++) layout_preserve(self, &specs[i]);
  return OK;
}
static Status kernel_sort(Call *call) {
  const Tensor *self = call_tensor(call, 0);
  int64_t dim;
  TRY(dim_wrap(dim_argument(call), self->ndim, &dim));
  int64_t length = self->ndim ? self->sizes[dim] : 1;
  Selection s = {.select = select_sorted,
                 .length = length,
                 .count = length,
                 .descending = bool_argument(call, "descending", false),
                 .stable = bool_argument(call, "stable", false)};
  return run_selection(call, &s, dim);
}

static Status check_k(Call *call, int64_t k, bool from_one, int64_t *out_dim) {
  const Tensor *self = call_tensor(call, 0);
  TRY(dim_wrap(dim_argument(call), self->ndim, out_dim));
  int64_t length = self->ndim ? self->sizes[*out_dim] : 1;
  if (from_one && (k < 1 || k > length))
    return status_new(ERROR_RUNTIME, "kthvalue(): selected number k out of range for dimension %lld",
                      (long long)*out_dim);
  if (k < 0 || k > length) return status_new(ERROR_RUNTIME, "selected index k out of range");
  return OK;
}
static Status shape_topk(Call *call, TensorSpec *specs) {
  int64_t dim;
  TRY(check_k(call, call_int(call, 1), false, &dim));
  return shape_selected(call, specs, call_int(call, 1));
}
static Status kernel_topk(Call *call) {
  const Tensor *self = call_tensor(call, 0);
  int64_t dim;
  TRY(check_k(call, call_int(call, 1), false, &dim));
  Selection s = {.select = select_top,
                 .length = self->ndim ? self->sizes[dim] : 1,
                 .count = call_int(call, 1),
                 .descending = call_bool(call, 3),
                 .sorted = call_bool(call, 4)};
  s.few = s.count > 0 && s.count <= s.length / 64;
  return run_selection(call, &s, dim);
}

static Status shape_picked(Call *call, TensorSpec *specs) {
  return shape_selected(call, specs, -1);
}
static Status shape_kthvalue(Call *call, TensorSpec *specs) {
  int64_t dim;
  TRY(check_k(call, call_int(call, 1), true, &dim));
  return shape_selected(call, specs, -1);
}
static Status pick(Call *call, Selection s) {
  const Tensor *self = call_tensor(call, 0);
  int64_t dim;
  TRY(dim_wrap(dim_argument(call), self->ndim, &dim));
  s.length = self->ndim ? self->sizes[dim] : 1;
  s.count = 1;
  return run_selection(call, &s, dim);
}
static Status kernel_kthvalue(Call *call) {
  return pick(call, (Selection){.select = select_kth, .k = call_int(call, 1) - 1});
}
static Status kernel_median(Call *call) {
  return pick(call, (Selection){.select = select_median});
}
static Status kernel_nanmedian(Call *call) {
  return pick(call, (Selection){.select = select_median, .ignore_nan = true});
}
static Status kernel_mode(Call *call) {
  return pick(call, (Selection){.select = select_mode});
}

#define PICKED "self: value_selecting_reduction_backward(grad, dim, results[1], self.size(), "
static const OpRow rows[] = {
    {.schema = "aten::sort(Tensor self, int dim=-1, bool descending=False) -> (Tensor values, Tensor indices)",
     .out = "values: values indices",
     .shape = shape_sort,
     .kernel = kernel_sort,
     .grad = PICKED "True)",
     .flags = OP_ACCEPT_UNSIGNED | OP_OUT},
    {.schema = "aten::sort.stable(Tensor self, *, bool? stable, int dim=-1, bool descending=False) -> (Tensor values, "
               "Tensor indices)",
     .out = "values_stable: values indices",
     .shape = shape_sort,
     .kernel = kernel_sort,
     .grad = PICKED "True)",
     .flags = OP_ACCEPT_UNSIGNED | OP_OUT},
    {.schema = "aten::argsort(Tensor self, int dim=-1, bool descending=False) -> Tensor",
     .body = "return torch.sort(self, dim, descending)[1]",
     .flags = OP_NOT_DIFFERENTIABLE},
    {.schema = "aten::argsort.stable(Tensor self, *, bool stable, int dim=-1, bool descending=False) -> Tensor",
     .body = "return torch.sort(self, stable=stable, dim=dim, descending=descending)[1]",
     .flags = OP_NOT_DIFFERENTIABLE},
    {.schema = "aten::msort(Tensor self) -> Tensor", .body = "return torch.sort(self, 0)[0]", .flags = OP_OUT},
    {.schema = "aten::topk(Tensor self, int k, int dim=-1, bool largest=True, bool sorted=True) -> (Tensor values, "
               "Tensor indices)",
     .dtypes = "topk_cpu: integral floating",
     .out = "values: values indices",
     .shape = shape_topk,
     .kernel = kernel_topk,
     .grad = PICKED "True)",
     .flags = OP_OUT},
    {.schema = "aten::kthvalue(Tensor self, int k, int dim=-1, bool keepdim=False) -> (Tensor values, Tensor indices)",
     .dtypes = "kthvalue_cpu: integral floating",
     .out = "values: values indices",
     .shape = shape_kthvalue,
     .kernel = kernel_kthvalue,
     .grad = PICKED "keepdim)",
     .flags = OP_OUT},
    {.schema = "aten::median.dim(Tensor self, int dim, bool keepdim=False) -> (Tensor values, Tensor indices)",
     .dtypes = "median_out: integral floating",
     .out = "dim_values: values indices",
     .shape = shape_picked,
     .kernel = kernel_median,
     .grad = PICKED "keepdim)",
     .flags = OP_OUT},
    {.schema = "aten::nanmedian.dim(Tensor self, int dim, bool keepdim=False) -> (Tensor values, Tensor indices)",
     .dtypes = "median_out: integral floating",
     .out = "dim_values: values indices",
     .shape = shape_picked,
     .kernel = kernel_nanmedian,
     .grad = PICKED "keepdim)",
     .flags = OP_OUT},
    {.schema = "aten::median(Tensor self) -> Tensor",
     .dtypes = "median_cpu: integral floating",
     .body = "if self.numel() == 0:\n"
             "    return torch.full([], float('nan'), dtype=self.dtype, device=self.device)\n"
             "return torch.median(self.reshape(-1), 0)[0]"},
    {.schema = "aten::nanmedian(Tensor self) -> Tensor",
     .dtypes = "median_cpu: integral floating",
     .body = "if self.numel() == 0:\n"
             "    return torch.full([], float('nan'), dtype=self.dtype, device=self.device)\n"
             "return torch.nanmedian(self.reshape(-1), 0)[0]"},
    {.schema = "aten::mode(Tensor self, int dim=-1, bool keepdim=False) -> (Tensor values, Tensor indices)",
     .dtypes = "mode_cpu: bool integral floating",
     .out = "values: values indices",
     .shape = shape_picked,
     .kernel = kernel_mode,
     .grad = PICKED "keepdim)",
     .flags = OP_OUT},
    {.schema = "aten::value_selecting_reduction_backward(Tensor grad, int dim, Tensor indices, int[] sizes, bool "
               "keepdim) -> Tensor",
     .body = "if not keepdim and len(sizes) > 0:\n"
             "    grad = grad.unsqueeze(dim)\n"
             "    indices = indices.unsqueeze(dim)\n"
             "return torch.zeros(sizes, dtype=grad.dtype, device=grad.device).scatter(dim, indices, grad)"},
};
OP_TABLE(op_table_sort, rows);
