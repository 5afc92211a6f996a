/* Joining tensors: cat and stack as kernels that copy runs of memory, the rest in terms of them. */
#include <assert.h>

#include "base/copy_short.h"
#include "base/parallel.h"
#include "call/row_extras.h"
#include "tensor/layout.h"
#include "tensor/promote.h"

/* The oldest exception of all: a vector of no elements joins with anything. */
static bool is_skipped(const Tensor *t) {
  return t->ndim == 1 && t->sizes[0] == 0;
}

static Status check_list(const List *list, const char *message) {
  if (list->length == 0) return status_new(ERROR_RUNTIME, "%s", message);
  for (size_t i = 0; i < list->length; i++)
    if (list->values[i].tag != TAG_TENSOR || !tensor_is_defined(list->values[i].tensor))
      return status_new(
          ERROR_RUNTIME,
          "Expected a proper Tensor but got None (or an undefined Tensor in C++) at entry %zu of a list of tensors", i);
  return OK;
}

static Status list_dtype(const List *list, DType *out) {
  assert(list->length > 0);
  Promotion promotion = PROMOTION_EMPTY;
  for (size_t i = 0; i < list->length; i++) promotion_add(&promotion, list_tensor(list, i));
  return promotion_finish(&promotion, out);
}

/* channels-last when every tensor is, also those without elements. */
static MemoryFormat list_format(const List *list) {
  assert(list->length > 0);
  MemoryFormat format = FORMAT_CONTIGUOUS;
  for (size_t i = 0, seen = 0; i < list->length; i++) {
    const Tensor *t = list_tensor(list, i);
    MemoryFormat own = tensor_suggested_format(t);
    if (own == FORMAT_CONTIGUOUS || (seen++ && own != format)) return FORMAT_CONTIGUOUS;
    format = own;
  }
  return format;
}

/* The same of the tensors with a dimension of one element after. */
static MemoryFormat list_format_unsqueezed(const List *list) {
  MemoryFormat format = FORMAT_CONTIGUOUS;
  for (size_t i = 0; i < list->length; i++) {
    const Tensor *t = list_tensor(list, i);
    int64_t sizes[TENSOR_MAX_DIMS + 1], strides[TENSOR_MAX_DIMS + 1];
    memcpy(sizes, t->sizes, t->ndim * sizeof *sizes);
    memcpy(strides, t->strides, t->ndim * sizeof *strides);
    sizes[t->ndim] = strides[t->ndim] = 1;
    MemoryFormat own = strides_suggested_format(t->ndim + 1, sizes, strides);
    if (own == FORMAT_CONTIGUOUS || (i && own != format)) return FORMAT_CONTIGUOUS;
    format = own;
  }
  return format;
}

static Status shape_cat(Call *c, TensorSpec *specs) {
  const List *list = call_list(c, 0);
  TRY(check_list(list, "torch.cat(): expected a non-empty list of Tensors"));
  const Tensor *first = NULL;
  int64_t dim = 0;
  for (size_t i = 0; i < list->length; i++) {
    const Tensor *t = list_tensor(list, i);
    if (t->ndim == 0)
      return status_new(ERROR_RUNTIME, "zero-dimensional tensor (at position %zu) cannot be concatenated", i);
    if (is_skipped(t)) continue;
    if (!first) {
      first = t;
      TRY(dim_wrap(call_int(c, 1), t->ndim, &dim));
      shape_set(specs, DTYPE_NONE, t->ndim, t->sizes);
      continue;
    }
    if (t->ndim != first->ndim)
      return status_new(ERROR_RUNTIME, "Tensors must have same number of dimensions: got %d and %d", first->ndim,
                        t->ndim);
    for (int d = 0; d < t->ndim; d++)
      if (d != dim && t->sizes[d] != first->sizes[d])
        return status_new(ERROR_RUNTIME,
                          "Sizes of tensors must match except in dimension %lld. Expected size %lld but got size %lld "
                          "for tensor number %zu in the list.",
                          (long long)dim, (long long)first->sizes[d], (long long)t->sizes[d], i);
    if (!int64_add(specs->sizes[dim], t->sizes[dim], &specs->sizes[dim])) return status_out_of_memory();
  }
  if (!first) shape_set(specs, DTYPE_NONE, 1, (const int64_t[]){0});
  TRY(list_dtype(list, &specs->dtype));
  MemoryFormat format = list_format(list);
  if (format != FORMAT_CONTIGUOUS) {
    specs->has_strides = true;
    TRY(strides_of_format(format, specs->ndim, specs->sizes, NULL, specs->strides));
  }
  return OK;
}

/* Whether `list` can be joined by copying one run of bytes of each tensor in turn, `outer` times. */
static bool has_plain_runs(const List *list, const Tensor *out) {
  if (!tensor_is_contiguous(out)) return false;
  for (size_t i = 0; i < list->length; i++) {
    const Tensor *t = list_tensor(list, i);
    if (t->dtype != out->dtype || !tensor_is_contiguous(t)) return false;
  }
  return true;
}

typedef struct Runs {
  const List *list;
  char *out;
  int64_t outer, bytes; /* rows, of one run of each tensor; bytes of a row */
} Runs;

static int64_t run_bytes(const Runs *runs, const Tensor *t) {
  return t->numel / runs->outer * (int64_t)dtype_size((DType)t->dtype);
}

/* Whole rows, tensor by tensor: many short runs of one are cheaper than few of each. */
static void copy_rows(const Runs *runs, int64_t begin, int64_t end) {
  char *to = runs->out;
  for (size_t i = 0; i < runs->list->length; i++) {
    const Tensor *t = list_tensor(runs->list, i);
    int64_t bytes = run_bytes(runs, t);
    const char *from = tensor_data(t);
    if (!bytes) continue;
    for (int64_t k = begin; k < end; k++) copy_short(to + k * runs->bytes, from + k * bytes, (size_t)bytes);
    to += bytes;
  }
}

/* Bytes from `begin` to `end` of a row. */
static void copy_part(const Runs *runs, int64_t row, int64_t begin, int64_t end) {
  char *to = runs->out + row * runs->bytes;
  int64_t at = 0;
  for (size_t i = 0; i < runs->list->length && at < end; i++) {
    const Tensor *t = list_tensor(runs->list, i);
    int64_t bytes = run_bytes(runs, t);
    int64_t low = begin > at ? begin : at, high = end < at + bytes ? end : at + bytes;
    const char *from = tensor_data(t);
    if (low < high) memcpy(to + low, from + row * bytes + (low - at), (size_t)(high - low));
    at += bytes;
  }
}

enum {
  JOIN_LINE = 64,                     /* bytes: no line of the cache is written by two threads */
  JOIN_GRAIN = (16 << 10) / JOIN_LINE /* lines; fewer are copied sooner than another thread comes */
};

static void copy_lines(void *argument, int64_t begin, int64_t end) {
  const Runs *runs = argument;
  int64_t total = runs->outer * runs->bytes;
  begin *= JOIN_LINE;
  end = end * JOIN_LINE < total ? end * JOIN_LINE : total;
  int64_t row = begin / runs->bytes, last = end / runs->bytes;
  int64_t from = begin % runs->bytes, to = end % runs->bytes;
  if (row == last) {
    copy_part(runs, row, from, to);
    return;
  }
  if (from) copy_part(runs, row++, from, runs->bytes);
  copy_rows(runs, row, last);
  if (to) copy_part(runs, last, 0, to);
}

static void join_runs(Call *c, const List *list, Tensor *out, int64_t outer) {
  if (out->numel == 0) return;
  assert(out->numel % outer == 0);
  Runs runs = {list, tensor_data(out), outer, out->numel / outer * (int64_t)dtype_size((DType)out->dtype)};
  int64_t lines = (outer * runs.bytes + JOIN_LINE - 1) / JOIN_LINE;
  parallel_for(c->exec->work.threads, lines, JOIN_GRAIN, copy_lines, &runs);
}

static int64_t product(const int64_t *sizes, int64_t count) {
  int64_t result = 1;
  for (int64_t i = 0; i < count; i++) result *= sizes[i];
  return result;
}

static Status kernel_cat(Call *c) {
  const List *list = call_list(c, 0);
  Tensor *out = call_out(c, 0);
  int64_t dim;
  if (out->numel == 0) return OK;
  TRY(dim_wrap(call_int(c, 1), out->ndim, &dim));
  if (has_plain_runs(list, out)) {
    join_runs(c, list, out, product(out->sizes, dim));
    return OK;
  }
  int64_t at = 0;
  for (size_t i = 0; i < list->length; i++) {
    const Tensor *t = list_tensor(list, i);
    if (is_skipped(t)) continue;
    Tensor *part;
    TRY(tensor_narrow(out, dim, at, t->sizes[dim], &part));
    Status status = tensor_copy(part, t, c->exec->work.threads);
    tensor_release(part);
    TRY(status);
    at += t->sizes[dim];
  }
  return OK;
}

/* The tensors are joined along `dim`, and a view of that cuts the dimension in two, of which the outer one is new. */
static Status strides_of_stack(const List *list, int64_t dim, TensorSpec *specs) {
  assert(list->length > 0 && dim >= 0);
  MemoryFormat format = list_format(list);
  int64_t joined[TENSOR_MAX_DIMS], strides[TENSOR_MAX_DIMS], cut[TENSOR_MAX_DIMS];
  int ndim = specs->ndim;
  if (format == FORMAT_CONTIGUOUS) return OK;
  memcpy(joined, specs->sizes, (size_t)ndim * sizeof *joined);
  memcpy(cut, joined, (size_t)dim * sizeof *cut);
  memcpy(cut + dim + 1, joined + dim, (size_t)(ndim - dim) * sizeof *cut);
  cut[dim] = (int64_t)list->length;
  if (!int64_mul(joined[dim], cut[dim], &joined[dim])) return status_out_of_memory();
  TRY(strides_of_format(format, ndim, joined, NULL, strides));
  Tensor whole = {.ndim = (uint8_t)ndim, .sizes = joined, .strides = strides};
  TRY(sizes_numel(ndim, joined, &whole.numel));
  specs->has_strides = layout_of_view(&whole, ndim + 1, cut, specs->strides);
  return OK;
}

static Status shape_stack(Call *c, TensorSpec *specs) {
  const List *list = call_list(c, 0);
  TRY(check_list(list, "stack expects a non-empty TensorList"));
  const Tensor *first = list_tensor(list, 0);
  int64_t dim;
  TRY(dim_wrap(call_int(c, 1), first->ndim + 1, &dim));
  if (first->ndim == TENSOR_MAX_DIMS)
    return status_new(ERROR_UNSUPPORTED, "tensors of more than %d dimensions", TENSOR_MAX_DIMS);
  for (size_t i = 1; i < list->length; i++) {
    const Tensor *t = list_tensor(list, i);
    if (!tensor_same_sizes(first, t))
      return status_new(ERROR_RUNTIME,
                        "stack expects each tensor to be equal size, but got %s at entry 0 and %s at entry %zu",
                        SIZES_TEXT(first->ndim, first->sizes), SIZES_TEXT(t->ndim, t->sizes), i);
  }
  DType dtype;
  TRY(list_dtype(list, &dtype));
  shape_set(specs, dtype, first->ndim, first->sizes);
  if (dim < first->ndim) TRY(strides_of_stack(list, dim, specs));
  memmove(&specs->sizes[dim + 1], &specs->sizes[dim], (size_t)(first->ndim - dim) * sizeof *specs->sizes);
  specs->sizes[dim] = (int64_t)list->length;
  specs->ndim++;
  if (dim < first->ndim || list_format_unsqueezed(list) == FORMAT_CONTIGUOUS) return OK;
  specs->has_strides = true;
  strides_channels_last(specs->ndim, specs->sizes, specs->strides);
  return OK;
}

static Status kernel_stack(Call *c) {
  const List *list = call_list(c, 0);
  Tensor *out = call_out(c, 0);
  int64_t dim;
  TRY(dim_wrap(call_int(c, 1), out->ndim, &dim));
  if (has_plain_runs(list, out)) {
    join_runs(c, list, out, product(out->sizes, dim));
    return OK;
  }
  for (size_t i = 0; i < list->length; i++) {
    Tensor *part;
    TRY(tensor_select(out, dim, (int64_t)i, &part));
    Status status = tensor_copy(part, list_tensor(list, i), c->exec->work.threads);
    tensor_release(part);
    TRY(status);
  }
  return OK;
}

/* prim::VarConcat(tensors..., dim) and VarStack: the operator over a list of the inputs but the last. */
static Status join_inputs(Call *c, OpRef *op) {
  List *list;
  if (c->input_count < 2) return status_new(ERROR_RUNTIME, STR_FMT " needs tensors and a dim", STR_ARG(c->op->name));
  TRY(call_list_of_inputs(c, c->input_count - 1, &list));
  Status status = op_call(c->exec, op, 2, (IValue[]){ivalue_list(list), c->inputs[c->input_count - 1]}, 1, c->outputs);
  ivalue_release(ivalue_list(list));
  return status;
}

static Status kernel_variadic_cat(Call *c) {
  static OpRef cat = OP_REF("aten::cat", "");
  return join_inputs(c, &cat);
}

static Status kernel_variadic_stack(Call *c) {
  static OpRef stack = OP_REF("aten::stack", "");
  return join_inputs(c, &stack);
}

/* _cat_backward(grad, tensors, dim): each tensor's part, in its dtype. */
static Status kernel_cat_backward(Call *c) {
  static OpRef narrow = OP_REF("aten::narrow", ""), to = OP_REF("aten::to", "dtype"),
               zeros = OP_REF("aten::zeros_like", "");
  const List *list = call_list(c, 1);
  const Tensor *grad = call_tensor(c, 0);
  int64_t at = 0, dim;
  TRY(dim_wrap(call_int(c, 2), grad->ndim, &dim));
  List *parts;
  TRY(list_new(TYPE(TENSOR), list->length, &parts));
  Status status = OK;
  for (size_t i = 0; i < list->length && status == OK; i++) {
    const Tensor *t = list_tensor(list, i);
    IValue part = IVALUE_NONE, converted = IVALUE_NONE;
    if (is_skipped(t)) {
      status = op_call(c->exec, &zeros, 1, &list->values[i], 1, &part);
    } else {
      status = op_call(c->exec, &narrow, 4,
                       (IValue[]){c->inputs[0], ivalue_int(dim), ivalue_int(at), ivalue_int(t->sizes[dim])}, 1, &part);
      at += t->sizes[dim];
    }
    if (status == OK && part.tensor->dtype != t->dtype) {
      status = op_call(c->exec, &to, 2, (IValue[]){part, ivalue_int(t->dtype)}, 1, &converted);
      ivalue_release(part);
      part = converted;
    }
    if (status == OK) status = list_append(parts, part);
  }
  if (status == OK)
    call_set(c, 0, ivalue_list(parts));
  else
    ivalue_release(ivalue_list(parts));
  return status;
}

/* broadcast_tensors: each expanded to what all broadcast to. */
static Status kernel_broadcast_tensors(Call *c) {
  static OpRef expand = OP_REF("aten::expand", "");
  const List *list = call_list(c, 0);
  int64_t sizes[TENSOR_MAX_DIMS];
  int ndim = 0;
  for (size_t i = 0; i < list->length; i++)
    TRY(sizes_broadcast(ndim, sizes, list_tensor(list, i)->ndim, list_tensor(list, i)->sizes, &ndim, sizes));
  List *results, *target;
  TRY(list_from_ints(sizes, (size_t)ndim, &target));
  Status status = list_new(TYPE(TENSOR), list->length, &results);
  if (status != OK) goto done;
  for (size_t i = 0; i < list->length && status == OK; i++) {
    IValue result;
    status = op_call(c->exec, &expand, 2, (IValue[]){list->values[i], ivalue_list(target)}, 1, &result);
    if (status == OK) status = list_append(results, result);
  }
  if (status == OK)
    call_set(c, 0, ivalue_list(results));
  else
    ivalue_release(ivalue_list(results));
done:
  ivalue_release(ivalue_list(target));
  return status;
}

#define CAT(text, ...)                                                                                                 \
  {                                                                                                                    \
    .schema = text, .kernel = kernel_cat, .shape = shape_cat,                                                          \
    .grad = "tensors: torch._cat_backward(grad, tensors, dim)", .flags = OP_OUT | OP_WRITES_APART | OP_ACCEPT_LIMITED, \
    __VA_ARGS__                                                                                                        \
  }
#define BODY(text, statements) \
  { .schema = text, .body = statements }
#define BODY_GIVING_ARGUMENT(text, statements) \
  { .schema = text, .body = statements, .flags = OP_RETURNS_ARGUMENT }
#define BODY_OUT(text, ...) \
  { .schema = text, .flags = OP_OUT, .body = __VA_ARGS__ }

static const OpRow rows[] = {
    CAT("aten::cat(Tensor[] tensors, int dim=0) -> Tensor"),
    CAT("aten::concat(Tensor[] tensors, int dim=0) -> Tensor", .same_as = "aten::cat"),
    CAT("aten::concatenate(Tensor[] tensors, int dim=0) -> Tensor"),
    {.schema = "aten::stack(Tensor[] tensors, int dim=0) -> Tensor",
     .kernel = kernel_stack,
     .shape = shape_stack,
     .grad = "tensors: torch._stack_backward(grad, tensors, dim)",
     .flags = OP_OUT | OP_WRITES_APART | OP_ACCEPT_LIMITED},
    {.schema = "aten::_stack(Tensor[] tensors, int dim=0) -> Tensor",
     .kernel = kernel_stack,
     .shape = shape_stack,
     .grad = "tensors: torch._stack_backward(grad, tensors, dim)",
     .flags = OP_OUT | OP_WRITES_APART | OP_ACCEPT_LIMITED},
    {.schema = "prim::VarConcat(...) -> Tensor",
     OPEN("Tensor... int"),
     .kernel = kernel_variadic_cat,
     .flags = OP_COMPOSITE | OP_ACCEPT_SPARSE | OP_OF_PLANS},
    {.schema = "prim::VarStack(...) -> Tensor",
     OPEN("Tensor... int"),
     .kernel = kernel_variadic_stack,
     .flags = OP_COMPOSITE | OP_ACCEPT_SPARSE | OP_OF_PLANS},
    {.schema = "aten::_cat_backward(Tensor grad, Tensor[] tensors, int dim) -> Tensor[]",
     .kernel = kernel_cat_backward,
     .flags = OP_COMPOSITE | OP_METADATA_OTHERS | OP_RETURNS_ARGUMENT},
    {.schema = "aten::_stack_backward(Tensor grad, Tensor[] tensors, int dim) -> Tensor[]",
     .body = "parts: List[Tensor] = []\n"
             "for i, part in enumerate(torch.unbind(grad, dim)):\n"
             "  parts.append(part.to(tensors[i].dtype))\n"
             "return parts\n",
     .flags = OP_METADATA_OTHERS | OP_RETURNS_ARGUMENT},
    {.schema = "aten::broadcast_shapes(int[] a, int[] b) -> int[]", .body = "return broadcast_of(a, b)"},
    {.schema = "aten::_chunk_cat(Tensor[] tensors, int dim, int num_chunks) -> Tensor",
     .flags = OP_OUT,
     .body = "return chunks_joined(tensors, dim, num_chunks)"},
    {.schema = "aten::broadcast_tensors(Tensor[] tensors) -> Tensor[]",
     .kernel = kernel_broadcast_tensors,
     .flags = OP_COMPOSITE | OP_RETURNS_ARGUMENT},
    BODY_GIVING_ARGUMENT("aten::atleast_1d(Tensor self) -> Tensor",
                         "return self.reshape([1]) if self.dim() == 0 else self\n"),
    BODY_GIVING_ARGUMENT("aten::atleast_2d(Tensor self) -> Tensor",
                         "if self.dim() == 0:\n  return self.reshape([1, 1])\n"
                         "return self.unsqueeze(0) if self.dim() == 1 else self\n"),
    BODY_GIVING_ARGUMENT("aten::atleast_3d(Tensor self) -> Tensor",
                         "if self.dim() == 0:\n  return self.reshape([1, 1, 1])\n"
                         "if self.dim() == 1:\n  return self.unsqueeze(0).unsqueeze(-1)\n"
                         "return self.unsqueeze(-1) if self.dim() == 2 else self\n"),
    BODY_GIVING_ARGUMENT("aten::atleast_1d.Sequence(Tensor[] tensors) -> Tensor[]",
                         "return [torch.atleast_1d(t) for t in tensors]\n"),
    BODY_GIVING_ARGUMENT("aten::atleast_2d.Sequence(Tensor[] tensors) -> Tensor[]",
                         "return [torch.atleast_2d(t) for t in tensors]\n"),
    BODY_GIVING_ARGUMENT("aten::atleast_3d.Sequence(Tensor[] tensors) -> Tensor[]",
                         "return [torch.atleast_3d(t) for t in tensors]\n"),
    BODY_OUT("aten::hstack(Tensor[] tensors) -> Tensor",
             "if len(tensors) == 0:\n  raise RuntimeError(\"hstack expects a non-empty TensorList\")\n"
             "parts = [torch.atleast_1d(t) for t in tensors]\n"
             "return torch.cat(parts, 0 if parts[0].dim() == 1 else 1)\n"),
    BODY_OUT("aten::vstack(Tensor[] tensors) -> Tensor",
             "if len(tensors) == 0:\n  raise RuntimeError(\"vstack expects a non-empty TensorList\")\n"
             "return torch.cat([torch.atleast_2d(t) for t in tensors], 0)\n"),
    BODY_OUT("aten::row_stack(Tensor[] tensors) -> Tensor",
             "if len(tensors) == 0:\n  raise RuntimeError(\"vstack expects a non-empty TensorList\")\n"
             "return torch.cat([torch.atleast_2d(t) for t in tensors], 0)\n",
             .same_as = "aten::vstack"),
    BODY_OUT("aten::dstack(Tensor[] tensors) -> Tensor",
             "if len(tensors) == 0:\n  raise RuntimeError(\"dstack expects a non-empty TensorList\")\n"
             "return torch.cat([torch.atleast_3d(t) for t in tensors], 2)\n"),
    BODY_OUT("aten::column_stack(Tensor[] tensors) -> Tensor",
             "if len(tensors) == 0:\n  raise RuntimeError(\"column_stack expects a non-empty TensorList\")\n"
             "return torch.hstack([t.reshape([t.numel(), 1]) if t.dim() <= 1 else t for t in tensors])\n"),
    BODY_OUT("aten::block_diag(Tensor[] tensors) -> Tensor",
             "rows: List[Tensor] = []\n"
             "width = 0\n"
             "for i, t in enumerate(tensors):\n"
             "  if t.dim() > 2:\n"
             "    raise RuntimeError(\"torch.block_diag: Input tensors must have 2 or fewer dimensions. Input \" + "
             "str(i) + \" has \" + str(t.dim()) + \" dimensions\")\n"
             "  width += torch.atleast_2d(t).size(1)\n"
             "at = 0\n"
             "for t in tensors:\n"
             "  block = torch.atleast_2d(t)\n"
             "  rows.append(torch.constant_pad_nd(block, [at, width - at - block.size(1)], 0))\n"
             "  at += block.size(1)\n"
             "if len(rows) == 0:\n"
             "  return torch.empty([1, 0])\n"
             "return torch.cat(rows, 0)\n"),
    BODY_GIVING_ARGUMENT("aten::meshgrid(Tensor[] tensors) -> Tensor[]",
                         "return torch.meshgrid(tensors, indexing=\"ij\")\n"),
    BODY_GIVING_ARGUMENT(
        "aten::meshgrid.indexing(Tensor[] tensors, *, str indexing) -> Tensor[]",
        "count = len(tensors)\n"
        "if count == 0:\n  raise RuntimeError(\"meshgrid expects a non-empty TensorList\")\n"
        "if indexing != \"ij\" and indexing != \"xy\":\n"
        "  raise RuntimeError(\"torch.meshgrid: indexing must be one of \\\"xy\\\" or \\\"ij\\\", but received: \" + "
        "indexing)\n"
        "order = [i for i in range(count)]\n"
        "if indexing == \"xy\" and count >= 2:\n"
        "  order[0] = 1\n"
        "  order[1] = 0\n"
        "sizes: List[int] = []\n"
        "for i in order:\n"
        "  if tensors[i].dim() > 1:\n"
        "    raise RuntimeError(\"torch.meshgrid: Expected 0D or 1D tensor in the tensor list\")\n"
        "  sizes.append(tensors[i].numel())\n"
        "grids: List[Tensor] = []\n"
        "for i in range(count):\n"
        "  shape = [1 for k in range(count)]\n"
        "  shape[order[i]] = tensors[i].numel()\n"
        "  grids.append(tensors[i].reshape(shape).expand(sizes))\n"
        "return grids\n"),
    BODY_GIVING_ARGUMENT("aten::cartesian_prod(Tensor[] tensors) -> Tensor",
                         "for t in tensors:\n"
                         "  if t.dim() != 1:\n"
                         "    raise RuntimeError(\"Expect a 1D vector, but got shape \" + str(t.size()))\n"
                         "if len(tensors) == 1:\n"
                         "  return tensors[0]\n"
                         "return torch.stack([t.flatten() for t in torch.meshgrid(tensors, indexing=\"ij\")], 1)\n"),
    BODY("aten::combinations(Tensor self, int r=2, bool with_replacement=False) -> Tensor",
         "if self.dim() != 1:\n  raise RuntimeError(\"Expect a 1D vector, but got shape \" + str(self.size()))\n"
         "if r < 0:\n  raise RuntimeError(\"Expect a non-negative number, but got \" + str(r))\n"
         "if r == 0:\n  return torch.empty([0], dtype=self.dtype)\n"
         "numbers = torch.arange(self.numel())\n"
         "grids = torch.meshgrid([numbers for i in range(r)], indexing=\"ij\")\n"
         "mask = torch.ones_like(grids[0], dtype=torch.bool)\n"
         "for i in range(r - 1):\n"
         "  mask = torch.logical_and(mask, grids[i] <= grids[i + 1] if with_replacement else grids[i] < grids[i + 1])\n"
         "values = torch.meshgrid([self for i in range(r)], indexing=\"ij\")\n"
         "return torch.stack([v.masked_select(mask) for v in values], 1)\n"),
};
OP_TABLE(op_table_join, rows);
