/* Lists of views: chunk, split, unbind, tensor_split and their unsafe and copying forms. */
#include "base/vec.h"
#include "base/work_limit.h"
#include "call/row.h"
#include "op/tensor/view.h"

/* Collects views; gives all of them to output 0, or none. */
typedef struct Parts {
  VEC(Tensor *) tensors;
  bool copy;
  int64_t done; /* of work_is_over_after */
} Parts;

static Status parts_add(Parts *parts, Status status, Tensor *part) {
  if (status != OK) return status;
  if (work_is_over_after(&parts->done, 64)) {
    tensor_release(part);
    return work_status();
  }
  if (parts->copy) {
    Tensor *clone;
    status = tensor_clone(part, &clone);
    tensor_release(part);
    if (status != OK) return status;
    part = clone;
  }
  if (vec_push(&parts->tensors, part)) return OK;
  tensor_release(part);
  return status_out_of_memory();
}

static Status parts_finish(Parts *parts, Call *c, Status status) {
  if (status == OK) {
    status = call_set_tensor_list(c, 0, parts->tensors.length, parts->tensors.data);
  } else {
    for (size_t i = 0; i < parts->tensors.length; i++) tensor_release(parts->tensors.data[i]);
  }
  vec_dispose(&parts->tensors);
  return status;
}

static Status add_slice(Parts *parts, const Tensor *t, int64_t dim, int64_t start, int64_t end) {
  Tensor *part = NULL;
  Status status = tensor_slice(t, dim, start, end < start ? start : end, 1, &part);
  return parts_add(parts, status, part);
}

static Status split_by(Parts *parts, const Tensor *t, int64_t split_size, int64_t dim) {
  if (t->ndim == 0) return status_new(ERROR_RUNTIME, "split expects at least a 1-dimensional tensor");
  if (split_size < 0)
    return status_new(ERROR_RUNTIME, "split expects split_size be non-negative, but got split_size=%lld",
                      (long long)split_size);
  TRY(dim_wrap(dim, t->ndim, &dim));
  int64_t size = t->sizes[dim];
  if (split_size == 0 && size != 0)
    return status_new(ERROR_RUNTIME, "split_size can only be 0 if dimension size is 0, but got dimension size of %lld",
                      (long long)size);
  int64_t count = split_size == 0 ? 1 : size / split_size + (size % split_size != 0);
  if (count < 1) count = 1;
  if (!vec_reserve(&parts->tensors, (size_t)count)) return status_out_of_memory();
  for (int64_t i = 0; i < count; i++)
    TRY(add_slice(parts, t, dim, i * split_size, i + 1 == count ? size : (i + 1) * split_size));
  return OK;
}

static Status split_sizes(Parts *parts, const Tensor *t, const int64_t *sizes, size_t count, int64_t dim) {
  if (t->ndim == 0) return status_new(ERROR_RUNTIME, "split expects at least a 1-dimensional tensor");
  int64_t start = 0, given = dim;
  bool fits = true;
  TRY(dim_wrap(dim, t->ndim, &dim));
  for (size_t i = 0; i < count && fits; i++) {
    if (sizes[i] < 0)
      return status_new(ERROR_RUNTIME,
                        "split_with_sizes expects split_sizes have only non-negative entries, but got split_sizes=%s",
                        SIZES_TEXT((int)count, sizes));
    fits = int64_add(start, sizes[i], &start);
  }
  if (!fits || start != t->sizes[dim])
    return status_new(ERROR_RUNTIME,
                      "split_with_sizes expects split_sizes to sum exactly to %lld (input tensor's size at dimension "
                      "%lld), but got split_sizes=%s",
                      (long long)t->sizes[dim], (long long)given, SIZES_TEXT((int)count, sizes));
  start = 0;
  for (size_t i = 0; i < count; i++) {
    TRY(add_slice(parts, t, dim, start, start + sizes[i]));
    start += sizes[i];
  }
  return OK;
}

static Status kernel_split(Call *c) {
  Parts parts = {.copy = false};
  return parts_finish(&parts, c, split_by(&parts, call_tensor(c, 0), call_int(c, 1), call_int(c, 2)));
}

static Status kernel_split_copy(Call *c) {
  Parts parts = {.copy = true};
  return parts_finish(&parts, c, split_by(&parts, call_tensor(c, 0), call_int(c, 1), call_int(c, 2)));
}

static Status kernel_split_with_sizes(Call *c) {
  Parts parts = {.copy = false};
  size_t count;
  const int64_t *sizes = call_ints(c, 1, &count);
  return parts_finish(&parts, c, split_sizes(&parts, call_tensor(c, 0), sizes, count, call_int(c, 2)));
}

static Status kernel_split_with_sizes_copy(Call *c) {
  Parts parts = {.copy = true};
  size_t count;
  const int64_t *sizes = call_ints(c, 1, &count);
  return parts_finish(&parts, c, split_sizes(&parts, call_tensor(c, 0), sizes, count, call_int(c, 2)));
}

static Status chunk_of(Call *c, Parts *parts) {
  const Tensor *t = call_tensor(c, 0);
  int64_t chunks = call_int(c, 1), dim;
  if (t->ndim == 0) return status_new(ERROR_RUNTIME, "chunk expects at least a 1-dimensional tensor");
  if (chunks <= 0)
    return status_new(ERROR_RUNTIME, "chunk expects `chunks` to be greater than 0, got: %lld", (long long)chunks);
  TRY(dim_wrap(call_int(c, 2), t->ndim, &dim));
  int64_t size = t->sizes[dim], split_size = size / chunks + (size % chunks != 0);
  if (size > 0) return split_by(parts, t, split_size, dim);
  /* all of an empty dimension, as often as asked */
  for (int64_t i = 0; i < chunks; i++) TRY(add_slice(parts, t, dim, 0, 0));
  return OK;
}

static Status kernel_chunk(Call *c) {
  Parts parts = {.copy = false};
  return parts_finish(&parts, c, chunk_of(c, &parts));
}

static Status unbind_of(Call *c, Parts *parts) {
  const Tensor *t = call_tensor(c, 0);
  int64_t dim;
  if (t->ndim == 0) return status_exception("IndexError", "Dimension specified as 0 but tensor has no dimensions");
  TRY(dim_wrap(call_int(c, 1), t->ndim, &dim));
  if (!vec_reserve(&parts->tensors, (size_t)t->sizes[dim])) return status_out_of_memory();
  for (int64_t i = 0; i < t->sizes[dim]; i++) {
    Tensor *part = NULL;
    Status status = tensor_select(t, dim, i, &part);
    TRY(parts_add(parts, status, part));
  }
  return OK;
}

static Status kernel_unbind(Call *c) {
  Parts parts = {.copy = false};
  return parts_finish(&parts, c, unbind_of(c, &parts));
}

static Status kernel_unbind_copy(Call *c) {
  Parts parts = {.copy = true};
  return parts_finish(&parts, c, unbind_of(c, &parts));
}

/* ---- tensor_split and its kin: composites, because the parts may overlap or leave something out ---- */

static Status add_part(Parts *parts, const Call *c, int64_t dim, int64_t start, int64_t end) {
  static OpRef slice = OP_REF("aten::slice", "Tensor");
  IValue part = IVALUE_NONE;
  Status status =
      op_call(c->exec, &slice, 5,
              (IValue[]){c->inputs[0], ivalue_int(dim), ivalue_int(start), ivalue_int(end), ivalue_int(1)}, 1, &part);
  return parts_add(parts, status, part.tensor);
}

static Status at_indices(const Call *c, Parts *parts, const int64_t *indices, size_t count, int64_t dim) {
  const Tensor *t = call_tensor(c, 0);
  if (t->ndim == 0)
    return status_new(ERROR_RUNTIME,
                      "tensor_split expected at least a 1-dimensional tensor, but got a tensor with 0 dims");
  TRY(dim_wrap(dim, t->ndim, &dim));
  int64_t start = 0;
  for (size_t i = 0; i <= count; i++) {
    int64_t end = i < count ? indices[i] : t->sizes[dim];
    TRY(add_part(parts, c, dim, start, end));
    start = end;
  }
  return OK;
}

static Status into_sections(const Call *c, Parts *parts, int64_t sections, int64_t dim) {
  const Tensor *t = call_tensor(c, 0);
  if (t->ndim == 0)
    return status_new(ERROR_RUNTIME,
                      "tensor_split expected at least a 1-dimensional tensor, but got a tensor with 0 dims");
  TRY(dim_wrap(dim, t->ndim, &dim));
  if (sections <= 0)
    return status_new(ERROR_RUNTIME, "number of sections must be larger than 0, got %lld", (long long)sections);
  int64_t size = t->sizes[dim], start = 0;
  for (int64_t i = 0; i < sections; i++) {
    int64_t end = start + size / sections + (i < size % sections);
    TRY(add_part(parts, c, dim, start, end));
    start = end;
  }
  return OK;
}

static Status kernel_tensor_split_sections(Call *c) {
  Parts parts = {.copy = false};
  return parts_finish(&parts, c, into_sections(c, &parts, call_int(c, 1), call_int(c, 2)));
}

static Status kernel_tensor_split_indices(Call *c) {
  Parts parts = {.copy = false};
  size_t count;
  const int64_t *indices = call_ints(c, 1, &count);
  return parts_finish(&parts, c, at_indices(c, &parts, indices, count, call_int(c, 2)));
}

static Status kernel_tensor_split_tensor(Call *c) {
  const Tensor *given = call_tensor(c, 1);
  Parts parts = {.copy = false};
  if (given->dtype != DTYPE_INT64)
    return status_new(ERROR_RUNTIME,
                      "tensor_split expected tensor_indices_or_sections to have dtype of long, but got %s",
                      dtype_scalar_name((DType)given->dtype));
  if (given->flags & TENSOR_META)
    return status_new(ERROR_UNSUPPORTED, "aten::tensor_split: the sections' numbers have no data");
  TRY(tensor_check_host(given));
  if (given->ndim > 1)
    return status_new(
        ERROR_RUNTIME,
        "tensor_split expected tensor_indices_or_sections to be a zero-dimensional or one-dimensional tensor, "
        "but got a tensor with %d dims",
        given->ndim);
  if (given->ndim == 0)
    return parts_finish(&parts, c, into_sections(c, &parts, tensor_item_int(given), call_int(c, 2)));
  Tensor *indices;
  TRY(tensor_contiguous(given, &indices));
  Status status = at_indices(c, &parts, tensor_data(indices), (size_t)indices->numel, call_int(c, 2));
  tensor_release(indices);
  return parts_finish(&parts, c, status);
}

/* hsplit cuts the second dimension (the first of a vector), vsplit the first, dsplit the third. */
static Status split_kind(const Call *c, const char **out_name, int64_t *out_dim) {
  int ndim = call_tensor(c, 0)->ndim;
  char kind = c->op->name.data[sizeof "aten::" - 1];
  int least = kind == 'h' ? 1 : kind == 'v' ? 2 : 3;
  *out_name = kind == 'h' ? "hsplit" : kind == 'v' ? "vsplit" : "dsplit";
  *out_dim = kind == 'v' || (kind == 'h' && ndim == 1) ? 0 : kind == 'h' ? 1 : 2;
  if (ndim >= least) return OK;
  return status_new(ERROR_RUNTIME,
                    "torch.%s requires a tensor with at least %d dimension, but got a tensor with %d dimensions!",
                    *out_name, least, ndim);
}

static Status kernel_xsplit_sections(Call *c) {
  const char *name;
  int64_t dim, sections = call_int(c, 1);
  TRY(split_kind(c, &name, &dim));
  const Tensor *t = call_tensor(c, 0);
  if (sections == 0 || t->sizes[dim] % sections != 0)
    return status_new(ERROR_RUNTIME,
                      "torch.%s attempted to split along dimension %lld, but the size of the dimension %lld is not "
                      "divisible by the split_size %lld!",
                      name, (long long)dim, (long long)t->sizes[dim], (long long)sections);
  Parts parts = {.copy = false};
  return parts_finish(&parts, c, into_sections(c, &parts, sections, dim));
}

static Status kernel_xsplit_indices(Call *c) {
  const char *name;
  int64_t dim;
  TRY(split_kind(c, &name, &dim));
  size_t count;
  const int64_t *indices = call_ints(c, 1, &count);
  Parts parts = {.copy = false};
  return parts_finish(&parts, c, at_indices(c, &parts, indices, count, dim));
}

#define ROW(text, function) \
  { .schema = text, .kernel = kernel_##function, .grad = "self: torch.cat(grads, dim)", .flags = OP_VIEW }
#define COPY_ROW(text, function) \
  { .schema = text, .kernel = kernel_##function, .grad = "self: torch.cat(grads, dim)", .flags = OP_VIEW | OP_OUT }
/* Not annotated, as PyTorch has it; they show self all the same. */
#define UNSAFE_ROW(text, function, more)                                                \
  {                                                                                     \
    .schema = text, .kernel = kernel_##function, .grad = "self: torch.cat(grads, dim)", \
    .flags = OP_VIEW | OP_RETURNS_ARGUMENT | (more)                                     \
  }
#define COMPOSITE(text, function) \
  { .schema = text, .kernel = kernel_##function, .flags = OP_VIEW | OP_COMPOSITE }

static const OpRow rows[] = {
    ROW("aten::split.Tensor(Tensor(a -> *) self, int split_size, int dim=0) -> Tensor(a)[]", split),
    ROW("aten::split.sizes(Tensor(a -> *) self, int[] split_size, int dim=0) -> Tensor(a)[]", split_with_sizes),
    ROW("aten::split(Tensor(a -> *) self, int[] split_sizes, int dim=0) -> Tensor(a)[]", split_with_sizes),
    ROW("aten::split_with_sizes(Tensor(a -> *) self, int[] split_sizes, int dim=0) -> Tensor(a)[]", split_with_sizes),
    COPY_ROW("aten::split_copy.Tensor(Tensor self, int split_size, int dim=0) -> Tensor[]", split_copy),
    COPY_ROW("aten::split_with_sizes_copy(Tensor self, int[] split_sizes, int dim=0) -> Tensor[]",
             split_with_sizes_copy),
    UNSAFE_ROW("aten::unsafe_split.Tensor(Tensor self, int split_size, int dim=0) -> Tensor[]", split, OP_OUT),
    UNSAFE_ROW("aten::unsafe_split_with_sizes(Tensor self, int[] split_sizes, int dim=0) -> Tensor[]", split_with_sizes,
               OP_OUT),
    ROW("aten::chunk(Tensor(a -> *) self, int chunks, int dim=0) -> Tensor(a)[]", chunk),
    UNSAFE_ROW("aten::unsafe_chunk(Tensor self, int chunks, int dim=0) -> Tensor[]", chunk, 0),
    {.schema = "aten::unbind.int(Tensor(a -> *) self, int dim=0) -> Tensor(a)[]",
     .kernel = kernel_unbind,
     .grad = "self: torch.stack(grads, dim)",
     .flags = OP_VIEW},
    {.schema = "aten::unbind_copy.int(Tensor self, int dim=0) -> Tensor[]",
     .kernel = kernel_unbind_copy,
     .grad = "self: torch.stack(grads, dim)",
     .flags = OP_VIEW | OP_OUT},
    COMPOSITE("aten::tensor_split.sections(Tensor(a -> *) self, int sections, int dim=0) -> Tensor(a)[]",
              tensor_split_sections),
    COMPOSITE("aten::tensor_split.indices(Tensor(a -> *) self, int[] indices, int dim=0) -> Tensor(a)[]",
              tensor_split_indices),
    COMPOSITE("aten::tensor_split.tensor_indices_or_sections(Tensor(a -> *) self, Tensor tensor_indices_or_sections, "
              "int dim=0) -> Tensor(a)[]",
              tensor_split_tensor),
    COMPOSITE("aten::hsplit.int(Tensor(a -> *) self, int sections) -> Tensor(a)[]", xsplit_sections),
    COMPOSITE("aten::hsplit.array(Tensor(a -> *) self, int[] indices) -> Tensor(a)[]", xsplit_indices),
    COMPOSITE("aten::vsplit.int(Tensor(a -> *) self, int sections) -> Tensor(a)[]", xsplit_sections),
    COMPOSITE("aten::vsplit.array(Tensor(a -> *) self, int[] indices) -> Tensor(a)[]", xsplit_indices),
    COMPOSITE("aten::dsplit.int(Tensor(a -> *) self, int sections) -> Tensor(a)[]", xsplit_sections),
    COMPOSITE("aten::dsplit.array(Tensor(a -> *) self, int[] indices) -> Tensor(a)[]", xsplit_indices),
};
OP_TABLE(op_table_split, rows);
