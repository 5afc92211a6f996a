/* Rearranging elements: flip, roll, repeat, triangles, diagonals, shuffles. */
#include "base/parallel.h"
#include "call/row.h"
#include "op/tensor/view.h"
#include "tensor/iterate.h"
#include "tensor/layout.h"

/* ---- flip ---- */

/* Lines of words backwards, each from its last element, in loops that become vectors. */
static void copy_line(void *argument, int64_t n, char *const *data, const int64_t *strides) {
  DType dtype = *(const DType *)argument;
  int64_t item = (int64_t)dtype_size(dtype);
  bool reversed = strides[0] == item && strides[1] == -item;
#define REVERSED(type)                                       \
  type *restrict to = (type *)data[0];                       \
  const type *restrict from = (const type *)data[1] + 1 - n; \
  for (int64_t i = 0; i < n; i++) to[i] = from[n - 1 - i]
  if (reversed && item == 4) {
    REVERSED(uint32_t);
  } else if (reversed && item == 8) {
    REVERSED(uint64_t);
  } else {
    dtype_convert(dtype, data[0], strides[0] / item, dtype, data[1], strides[1] / item, n);
  }
#undef REVERSED
}

/* Walks the output in step with self backwards along the flipped dimensions: an iterator with negative strides. */
static Status kernel_flip(Call *c) {
  const Tensor *self = call_tensor(c, 0);
  Tensor *out = call_out(c, 0);
  const int64_t *dims;
  int count;
  uint32_t flipped = 0;
  TRY(view_ints(c, 1, &dims, &count));
  for (int i = 0; i < count; i++) {
    int64_t dim;
    TRY(dim_wrap(dims[i], self->ndim, &dim));
    if (flipped >> dim & 1)
      return status_new(ERROR_RUNTIME, "dim %lld appears multiple times in the list of dims", (long long)dim);
    flipped |= 1u << dim;
  }
  if (self->numel == 0) return OK;
  if (self->ndim == 0) return tensor_copy(out, self, 1);
  DType dtype = (DType)self->dtype;
  int64_t item = (int64_t)dtype_size(dtype);
  Iterator it = {
      .operand_count = 2, .ndim = self->ndim, .numel = self->numel, .data = {tensor_data(out), tensor_data(self)}};
  for (int i = 0; i < self->ndim; i++) {
    int dim = self->ndim - 1 - i;
    it.sizes[i] = self->sizes[dim];
    it.strides[0][i] = out->strides[dim] * item;
    it.strides[1][i] = self->strides[dim] * item;
    if (flipped >> dim & 1) {
      it.data[1] += (self->sizes[dim] - 1) * it.strides[1][i];
      it.strides[1][i] = -it.strides[1][i];
    }
  }
  iterator_run_parallel(&it, c->exec->work.threads, 32768, copy_line, &dtype);
  return OK;
}

/* ---- roll ---- */

static Status copy_part(Tensor *to, const Tensor *from, int threads) {
  return to->numel ? tensor_copy(to, from, threads) : OK;
}

/* Moves each dimension by its shift: every corner of the box goes to the corner across. */
static Status roll_corners(const Tensor *self, Tensor *out, const int64_t *shifts, int threads) {
  int moved[TENSOR_MAX_DIMS], count = 0;
  for (int d = 0; d < self->ndim; d++)
    if (shifts[d]) moved[count++] = d; /* sizes of at least 2: corners are never more than elements */
  for (uint64_t corner = 0; corner < (uint64_t)1 << count; corner++) {
    Tensor *to = tensor_retain(out), *from = tensor_retain(self);
    Status status = OK;
    for (int k = 0; k < count && status == OK; k++) {
      int d = moved[k];
      int64_t shift = shifts[d], size = self->sizes[d];
      bool wraps = corner >> k & 1; /* the last `shift` elements go to the front */
      Tensor *part = NULL;
      status = tensor_narrow(to, d, wraps ? 0 : shift, wraps ? shift : size - shift, &part);
      if (status != OK) break;
      tensor_release(to);
      to = part;
      status = tensor_narrow(from, d, wraps ? size - shift : 0, wraps ? shift : size - shift, &part);
      if (status != OK) break;
      tensor_release(from);
      from = part;
    }
    if (status == OK) status = copy_part(to, from, threads);
    tensor_release(to);
    tensor_release(from);
    TRY(status);
  }
  return OK;
}

/* From 0 to size - 1. */
static int64_t wrapped(int64_t shift, int64_t size) {
  int64_t rest = shift % size;
  return rest < 0 ? rest + size : rest;
}

/* Each shift cuts the tensor in two and joins the parts, hence with the layout of a cat: channels-last where both parts
 * suggest it. Without dimensions the flattened tensor is shifted. */
static Status shape_roll(Call *c, TensorSpec *specs) {
  const Tensor *self = call_tensor(c, 0);
  size_t shift_count, dim_count;
  const int64_t *shifts = call_ints(c, 1, &shift_count), *dims = call_ints(c, 2, &dim_count);
  int64_t sizes[TENSOR_MAX_DIMS], dim;
  TRY(shape_rows_of_first(c, specs));
  if (dim_count == 0 || shift_count != dim_count) return OK;
  if (self->numel == 0) return layout_preserve(self, specs), OK;
  memcpy(sizes, self->sizes, self->ndim * sizeof *sizes);
  const int64_t *strides = self->strides;
  for (size_t i = 0; i < dim_count && self->ndim; i++) {
    TRY(dim_wrap(dims[i], self->ndim, &dim));
    int64_t size = sizes[dim], head = wrapped(shifts[i], size);
    sizes[dim] = head;
    MemoryFormat format = strides_suggested_format(self->ndim, sizes, strides);
    sizes[dim] = size - head;
    if (strides_suggested_format(self->ndim, sizes, strides) != format) format = FORMAT_CONTIGUOUS;
    sizes[dim] = size;
    specs->has_strides = format != FORMAT_CONTIGUOUS;
    TRY(strides_of_format(format, self->ndim, sizes, NULL, specs->strides));
    strides = specs->strides;
  }
  return OK;
}

static Status kernel_roll(Call *c) {
  const Tensor *self = call_tensor(c, 0);
  Tensor *out = call_out(c, 0);
  size_t shift_count, dim_count;
  const int64_t *shifts = call_ints(c, 1, &shift_count), *dims = call_ints(c, 2, &dim_count);
  if (shift_count == 0) return status_new(ERROR_RUNTIME, "`shifts` required");
  if (dim_count == 0 && shift_count == 1) { /* the flattened tensor */
    if (self->numel == 0) return OK;
    Tensor *flat, *flat_out = NULL;
    TRY(view_reshaped(self, 1, (const int64_t[]){-1}, &flat));
    int64_t shift = ((shifts[0] % self->numel) + self->numel) % self->numel;
    Status status = view_sizes_or_error(out, 1, (const int64_t[]){-1}, &flat_out);
    if (status == OK) status = roll_corners(flat, flat_out, &shift, c->exec->work.threads);
    tensor_release(flat);
    tensor_release(flat_out);
    return status;
  }
  if (shift_count != dim_count)
    return status_new(ERROR_RUNTIME, "shifts and dimensions must align. shifts: %zu, dims:%zu", shift_count, dim_count);
  if (self->numel == 0) return OK;
  int64_t total[TENSOR_MAX_DIMS] = {0};
  for (size_t i = 0; i < dim_count; i++) {
    int64_t dim;
    if (self->ndim == 0)
      return status_exception("IndexError", "Dimension specified as %lld but tensor has no dimensions",
                              (long long)dims[i]);
    TRY(dim_wrap(dims[i], self->ndim, &dim));
    int64_t size = self->sizes[dim];
    total[dim] = wrapped(total[dim] - (size - wrapped(shifts[i], size)), size);
  }
  return roll_corners(self, out, total, c->exec->work.threads);
}

/* ---- repeat ---- */

static Status shape_repeat(Call *c, TensorSpec *specs) {
  const Tensor *self = call_tensor(c, 0);
  const int64_t *repeats;
  int count;
  TRY(view_ints(c, 1, &repeats, &count));
  if (count < self->ndim)
    return status_new(ERROR_RUNTIME,
                      "Number of dimensions of repeat dims can not be smaller than number of dimensions of tensor");
  shape_set(specs, (DType)self->dtype, count, repeats);
  for (int i = 0; i < count; i++) {
    int d = i - (count - self->ndim);
    if (d >= 0 && !int64_mul(specs->sizes[i], self->sizes[d], &specs->sizes[i])) return status_out_of_memory();
  }
  for (int i = 0; i < count; i++)
    if (specs->sizes[i] < 0)
      return status_new(ERROR_RUNTIME, "Trying to create tensor with negative dimension %lld: %s",
                        (long long)specs->sizes[i], SIZES_TEXT(count, specs->sizes));
  return OK;
}

/* The output seen with a dimension of its own for each repetition, self expanded over those. */
static Status kernel_repeat(Call *c) {
  const Tensor *self = call_tensor(c, 0);
  Tensor *out = call_out(c, 0), *to = NULL, *from = NULL;
  const int64_t *repeats;
  int count, n = 0;
  TRY(view_ints(c, 1, &repeats, &count));
  if (out->numel == 0) return OK;
  int64_t sizes[2 * TENSOR_MAX_DIMS], to_strides[2 * TENSOR_MAX_DIMS], from_strides[2 * TENSOR_MAX_DIMS];
  for (int i = 0; i < count; i++) {
    int d = i - (count - self->ndim);
    int64_t size = d >= 0 ? self->sizes[d] : 1;
    if (repeats[i] != 1) {
      sizes[n] = repeats[i];
      to_strides[n] = size * out->strides[i];
      from_strides[n++] = 0;
    }
    if (size != 1) {
      sizes[n] = size;
      to_strides[n] = out->strides[i];
      from_strides[n++] = self->strides[d];
    }
  }
  if (n > TENSOR_MAX_DIMS) return status_new(ERROR_UNSUPPORTED, "repeat: too many dimensions");
  TRY(tensor_as_strided(out, n, sizes, to_strides, out->offset, &to));
  Status status = tensor_as_strided(self, n, sizes, from_strides, self->offset, &from);
  if (status == OK) status = tensor_copy(to, from, c->exec->work.threads);
  tensor_release(from);
  tensor_release(to);
  return status;
}

/* repeat_interleave.Tensor: index i, repeats[i] times. */
static Status kernel_repeat_interleave(Call *c) {
  const Tensor *repeats = call_tensor(c, 0);
  Tensor *counts = NULL, *wide = NULL, *out = NULL;
  if (repeats->ndim != 1) return status_new(ERROR_RUNTIME, "repeat_interleave only accept 1D vector as repeat");
  if (repeats->dtype != DTYPE_INT32 && repeats->dtype != DTYPE_INT64)
    return status_new(ERROR_RUNTIME, "repeats has to be Long or Int tensor");
  TRY(tensor_to_dtype(repeats, DTYPE_INT64, &wide));
  Status status = tensor_contiguous(wide, &counts);
  tensor_release(wide);
  TRY(status);
  const int64_t *n = tensor_data(counts);
  int64_t total = 0;
  for (int64_t i = 0; i < counts->numel; i++) {
    if (n[i] < 0)
      status = status_new(ERROR_RUNTIME, "repeats can not be negative");
    else if (!int64_add(total, n[i], &total))
      status = status_out_of_memory();
    if (status != OK) goto done;
  }
  if (!call_is_none(c, 1) && call_int(c, 1) != total) {
    status = status_new(ERROR_RUNTIME, "allocated size does not match required size");
    goto done;
  }
  TRY_GOTO(tensor_empty((DType)repeats->dtype, 1, &total, &out), done);
  for (int64_t i = 0, at = 0; i < counts->numel; i++)
    for (int64_t k = 0; k < n[i]; k++, at++) {
      if (out->dtype == DTYPE_INT64)
        ((int64_t *)tensor_data(out))[at] = i;
      else
        ((int32_t *)tensor_data(out))[at] = (int32_t)i;
    }
  call_set_tensor(c, 0, out);
done:
  tensor_release(counts);
  return status;
}

/* ---- triangles ---- */

static Status shape_triangle(Call *c, TensorSpec *specs) {
  const Tensor *self = call_tensor(c, 0);
  int64_t ignored;
  if (self->ndim == 0) return status_exception("IndexError", "Dimension specified as -2 but tensor has no dimensions");
  if (self->numel > 0) TRY(dim_wrap(-2, self->ndim, &ignored));
  return shape_rows_of_first(c, specs);
}

/* Copies what lies on one side of the diagonal, zeros the rest: a run on either side of a column in each row. */
typedef struct Triangle {
  char *out;
  const char *self;
  int64_t rows, columns, diagonal, item;
  bool upper;
} Triangle;

static void triangle_rows(void *argument, int64_t begin, int64_t end) {
  const Triangle *t = argument;
  for (int64_t row = begin; row < end; row++) {
    int64_t bytes = t->columns * t->item;
    /* the first column of the upper part, or the first after the lower one; a diagonal may be any int64 */
    int64_t cut, i = row % t->rows;
    if (!int64_add(i, t->diagonal, &cut)) cut = t->diagonal > 0 ? t->columns : 0;
    if (!t->upper && cut < INT64_MAX) cut++;
    cut = cut < 0 ? 0 : cut > t->columns ? t->columns : cut;
    int64_t head = cut * t->item;
    char *to = t->out + row * bytes;
    const char *from = t->self + row * bytes;
    if (t->upper) {
      memset(to, 0, (size_t)head);
      if (to != from) memcpy(to + head, from + head, (size_t)(bytes - head));
    } else {
      if (to != from) memcpy(to, from, (size_t)head);
      memset(to + head, 0, (size_t)(bytes - head));
    }
  }
}

static Status kernel_triangle(Call *c) {
  bool upper = call_param(c);
  Tensor *out = call_out(c, 0), *self;
  if (out->numel == 0) return OK;
  TRY(tensor_contiguous(call_tensor(c, 0), &self));
  Triangle t = {tensor_data(out),
                tensor_data(self),
                out->sizes[out->ndim - 2],
                out->sizes[out->ndim - 1],
                call_int(c, 1),
                (int64_t)dtype_size((DType)out->dtype),
                upper};
  parallel_for(c->exec->work.threads, out->numel / t.columns, 32768 / t.columns + 1, triangle_rows, &t);
  tensor_release(self);
  return OK;
}

/* ---- diagonals ---- */

static Status diag_embed_dims(const Call *c, int64_t *out_dim1, int64_t *out_dim2, int64_t *out_size) {
  const Tensor *self = call_tensor(c, 0);
  int64_t offset = call_int(c, 1);
  if (self->ndim == 0)
    return status_exception("IndexError", "Dimension out of range (expected to be in range of [-1, 0], but got -1)");
  TRY(dim_wrap(call_int(c, 2), self->ndim + 1, out_dim1));
  TRY(dim_wrap(call_int(c, 3), self->ndim + 1, out_dim2));
  if (*out_dim1 == *out_dim2)
    return status_new(ERROR_RUNTIME, "diagonal dimensions cannot be identical %lld, %lld", (long long)call_int(c, 2),
                      (long long)call_int(c, 3));
  if (offset == INT64_MIN || !int64_add(self->sizes[self->ndim - 1], offset < 0 ? -offset : offset, out_size))
    return status_out_of_memory();
  return OK;
}

static Status shape_diag_embed(Call *c, TensorSpec *specs) {
  const Tensor *self = call_tensor(c, 0);
  int64_t dim1, dim2, size;
  TRY(diag_embed_dims(c, &dim1, &dim2, &size));
  if (self->ndim == TENSOR_MAX_DIMS)
    return status_new(ERROR_UNSUPPORTED, "tensors of more than %d dimensions", TENSOR_MAX_DIMS);
  shape_set(specs, (DType)self->dtype, 0, NULL);
  specs->ndim = self->ndim + 1;
  for (int i = 0, from = 0; i < specs->ndim; i++) specs->sizes[i] = i == dim1 || i == dim2 ? size : self->sizes[from++];
  return OK;
}

static Status kernel_diag_embed(Call *c) {
  Tensor *out = call_out(c, 0), *diagonal;
  int64_t dim1, dim2, size;
  TRY(diag_embed_dims(c, &dim1, &dim2, &size));
  tensor_fill_zero(out);
  TRY(view_diagonal(out, call_int(c, 1), dim1, dim2, &diagonal));
  Status status = tensor_copy(diagonal, call_tensor(c, 0), c->exec->work.threads);
  tensor_release(diagonal);
  return status;
}

static Status kernel_fill_diagonal(Call *c) {
  Tensor *self = call_tensor(c, 0), *diagonal, *number = NULL;
  bool wrap = call_bool(c, 2);
  if (self->ndim < 2) return status_new(ERROR_RUNTIME, "dimensions must larger than 1");
  for (int i = 1; i < self->ndim && self->ndim > 2; i++)
    if (self->sizes[i] != self->sizes[0])
      return status_new(ERROR_RUNTIME, "all dimensions of input must be of equal length");
  int64_t height = self->sizes[0], width = self->sizes[1], length = height < width ? height : width, stride = 0;
  for (int i = 0; i < self->ndim; i++) stride += self->strides[i];
  int64_t sizes[1] = {length}, strides[1] = {stride};
  /* wrapped: the diagonal of a tall matrix starts again after each square */
  if (self->numel > 0 && wrap && self->ndim == 2 && height > width + 1) {
    int64_t step = width + 1, offset = self->offset;
    Status status = OK;
    IValue value = call_scalar(c, 1);
    TRY(tensor_from_complex(ivalue_to_complex(value), &number));
    for (int64_t at = 0; at < height * width && status == OK; at += step) {
      Tensor *one;
      status = tensor_as_strided(self, 0, sizes, strides,
                                 offset + at / width * self->strides[0] + at % width * self->strides[1], &one);
      if (status == OK) status = tensor_copy(one, number, 1);
      if (status == OK) tensor_release(one);
    }
    tensor_release(number);
    TRY(status);
    call_set_tensor(c, 0, tensor_retain(self));
    return OK;
  }
  if (self->numel > 0) {
    TRY(tensor_as_strided(self, 1, sizes, strides, self->offset, &diagonal));
    Status status = tensor_from_complex(ivalue_to_complex(call_scalar(c, 1)), &number);
    if (status == OK) status = tensor_copy(diagonal, number, c->exec->work.threads);
    tensor_release(number);
    tensor_release(diagonal);
    TRY(status);
  }
  call_set_tensor(c, 0, tensor_retain(self));
  return OK;
}

#define BODY(text, statements) \
  { .schema = text, .body = statements }
#define BODY_GIVING_ARGUMENT(text, statements) \
  { .schema = text, .body = statements, .flags = OP_RETURNS_ARGUMENT }
#define BODY_OUT(text, ...) \
  { .schema = text, .body = __VA_ARGS__, .flags = OP_OUT }

static const OpRow rows[] = {
    {.schema = "aten::flip(Tensor self, int[] dims) -> Tensor",
     .kernel = kernel_flip,
     .shape = shape_same_as_first,
     .grad = "self: grad.flip(dims)",
     .flags = OP_ACCEPT_UNSIGNED | OP_OUT},
    BODY("aten::fliplr(Tensor self) -> Tensor",
         "if self.dim() < 2:\n  raise RuntimeError(\"Input must be >= 2-d.\")\n"
         "return self.flip([1])\n"),
    BODY("aten::flipud(Tensor self) -> Tensor",
         "if self.dim() < 1:\n  raise RuntimeError(\"Input must be >= 1-d.\")\n"
         "return self.flip([0])\n"),
    {.schema = "aten::roll(Tensor self, int[1] shifts, int[1] dims=[]) -> Tensor",
     .kernel = kernel_roll,
     .shape = shape_roll,
     .grad = "self: grad.roll([-s for s in shifts], dims)",
     .flags = OP_ACCEPT_LIMITED | OP_OUT},
    BODY_OUT("aten::rot90(Tensor self, int k=1, int[] dims=[0, 1]) -> Tensor",
             "if len(dims) != 2:\n  raise RuntimeError(\"expected total rotation dims == 2, but got dims = \" + "
             "str(len(dims)))\n"
             "if self.dim() < 2:\n  raise RuntimeError(\"expected total dims >= 2, but got total dims = \" + "
             "str(self.dim()))\n"
             "a = dims[0] + self.dim() if dims[0] < 0 else dims[0]\n"
             "b = dims[1] + self.dim() if dims[1] < 0 else dims[1]\n"
             "if a == b:\n  raise RuntimeError(\"expected rotation dims to be different, but got dim0 = \" + "
             "str(dims[0]) + \" and dim1 = \" + str(dims[1]))\n"
             "turns = k % 4\n"
             "if turns == 1:\n  return self.flip([b]).transpose(a, b)\n"
             "if turns == 2:\n  return self.flip([a, b])\n"
             "if turns == 3:\n  return self.flip([a]).transpose(a, b)\n"
             "return self.clone(memory_format=torch.contiguous_format)\n"),
    {.schema = "aten::repeat(Tensor self, SymInt[] repeats) -> Tensor",
     .kernel = kernel_repeat,
     .shape = shape_repeat,
     .grad = "self: torch._repeat_backward(grad, repeats, self.size())",
     .flags = OP_ACCEPT_LIMITED | OP_OUT},
    BODY_GIVING_ARGUMENT("aten::_repeat_backward(Tensor grad, int[] repeats, int[] input_sizes) -> Tensor",
                         "sizes: List[int] = []\n"
                         "dims: List[int] = []\n"
                         "extra = len(repeats) - len(input_sizes)\n"
                         "for i in range(len(repeats)):\n"
                         "  dims.append(len(sizes))\n"
                         "  sizes.append(repeats[i])\n"
                         "  if i >= extra:\n"
                         "    sizes.append(input_sizes[i - extra])\n"
                         "if len(dims) == 0:\n  return grad\n"
                         "return grad.reshape(sizes).sum(dims)\n"),
    BODY("aten::tile(Tensor self, int[] dims) -> Tensor",
         "repeats = [1 for i in range(self.dim() - len(dims))]\n"
         "repeats.extend(dims)\n"
         "return self.repeat(repeats)\n"),
    {.schema = "aten::repeat_interleave.Tensor(Tensor repeats, *, int? output_size=None) -> Tensor",
     .kernel = kernel_repeat_interleave,
     .flags = OP_OUT | OP_NOT_DIFFERENTIABLE},
    BODY("aten::repeat_interleave.self_Tensor(Tensor self, Tensor repeats, int? dim=None, *, int? output_size=None) -> "
         "Tensor",
         "x = self\n"
         "d = 0\n"
         "if dim is None:\n  x = self.flatten()\n"
         "else:\n  d = dim\n"
         "counts = repeats\n"
         "if repeats.dim() == 0 or (repeats.dim() == 1 and repeats.size(0) == 1):\n"
         "  counts = repeats.reshape([1]).expand([x.size(d)])\n"
         "elif repeats.dim() != 1:\n  raise RuntimeError(\"repeats must be 0-dim or 1-dim tensor\")\n"
         "elif repeats.size(0) != x.size(d):\n  raise RuntimeError(\"repeats must have the same size as input along "
         "dim\")\n"
         "return x.index_select(d, torch.repeat_interleave(counts, output_size=output_size))\n"),
    BODY(
        "aten::repeat_interleave.self_int(Tensor self, int repeats, int? dim=None, *, int? output_size=None) -> Tensor",
        "if dim is not None and self.dim() == 0:\n  raise IndexError(\"Dimension specified as {} but tensor has no "
        "dimensions\".format(dim))\n"
        "x = self\n"
        "d = 0\n"
        "if dim is None:\n  x = self.flatten()\n"
        "else:\n  d = dim + self.dim() if dim < 0 else dim\n"
        "if x.dim() == 0:\n  x = x.reshape([1])\n"
        "if repeats < 0:\n"
        "  if x.size(d) != 0:\n    raise RuntimeError(\"repeats can not be negative\")\n"
        "  return x.clone()\n"
        "if output_size is not None and output_size != repeats * x.size(d):\n"
        "  raise RuntimeError(\"allocated size does not match required size\")\n"
        "if repeats == 1:\n  return x.clone()\n"
        "sizes = x.size()\n"
        "sizes.insert(d + 1, repeats)\n"
        "return x.unsqueeze(d + 1).expand(sizes).clone(memory_format=torch.contiguous_format).flatten(d, d + 1)\n"),
    {.schema = "aten::tril(Tensor self, int diagonal=0) -> Tensor",
     .kernel = kernel_triangle,
     .param = false,
     .shape = shape_triangle,
     .grad = "self: grad.tril(diagonal)",
     .flags = OP_INPLACE | OP_OUT | OP_WRITES_EXPANDED},
    {.schema = "aten::triu(Tensor self, int diagonal=0) -> Tensor",
     .kernel = kernel_triangle,
     .param = true,
     .shape = shape_triangle,
     .grad = "self: grad.triu(diagonal)",
     .flags = OP_INPLACE | OP_OUT | OP_WRITES_EXPANDED},
    {.schema = "aten::diag_embed(Tensor self, int offset=0, int dim1=-2, int dim2=-1) -> Tensor",
     .kernel = kernel_diag_embed,
     .shape = shape_diag_embed,
     .grad = "self: grad.diagonal(offset, dim1, dim2)",
     .flags = OP_OUT},
    BODY_OUT("aten::diag(Tensor self, int diagonal=0) -> Tensor",
             "if self.dim() == 1:\n  return torch.diag_embed(self, diagonal)\n"
             "if self.dim() == 2:\n"
             "  if (diagonal > self.size(1) or -diagonal > self.size(0)) and not is_torch2():\n"
             "    raise RuntimeError(\"numel: integer multiplication overflow\")\n"
             "  return torch.diagonal_copy(self, diagonal)\n"
             "raise RuntimeError('diag(): Supports 1D or 2D tensors. Got {}D'.format(self.dim()) if "
             "is_torch2() else 'matrix or a vector expected')\n"),
    {.schema = "aten::trace(Tensor self) -> Tensor",
     .dtypes = "trace: integral floating complex",
     .body = "if self.dim() != 2:\n  raise RuntimeError(\"trace: expected a matrix, but got tensor with dim \" + "
             "str(self.dim()))\n"
             "return self.diagonal().sum()\n",
     .flags = OP_OUT},
    BODY_OUT("aten::diff(Tensor self, int n=1, int dim=-1, Tensor? prepend=None, Tensor? append=None) -> Tensor",
             "if self.dim() < 1:\n  raise RuntimeError(\"diff expects input to be at least one-dimensional\")\n"
             "if n <= 0:\n"
             "  if n < 0 and is_torch2():\n"
             "    raise RuntimeError(\"order must be non-negative but got \" + str(n))\n"
             "  return self.clone()\n"
             "parts: List[Tensor] = []\n"
             "if prepend is not None:\n  parts.append(prepend)\n"
             "parts.append(self)\n"
             "if append is not None:\n  parts.append(append)\n"
             "x = torch.cat(parts, dim) if len(parts) > 1 else self\n"
             "for i in range(n):\n"
             "  size = x.size(dim)\n"
             "  if size == 0:\n    break\n"
             "  late = x.narrow(dim, 1, size - 1)\n"
             "  early = x.narrow(dim, 0, size - 1)\n"
             "  x = torch.logical_xor(late, early) if x.dtype == torch.bool else late - early\n"
             "return x\n"),
    BODY_GIVING_ARGUMENT(
        "aten::sum_to_size(Tensor self, int[] size) -> Tensor",
        "if len(size) == 0:\n  return self.sum()\n"
        "extra = self.dim() - len(size)\n"
        "if extra < 0:\n"
        "  raise RuntimeError(\"size {\" + str(size) + \"} is not expandable to size {\" + str(self.size()) + \"}.\")\n"
        "dims = [i for i in range(extra)]\n"
        "for i in range(len(size)):\n"
        "  if size[i] == 1 and self.size(extra + i) != 1:\n"
        "    dims.append(extra + i)\n"
        "  elif size[i] != self.size(extra + i):\n"
        "    raise RuntimeError(\"size {\" + str(size) + \"} is not expandable to size {\" + str(self.size()) + "
        "\"}.\")\n"
        "if len(dims) == 0:\n  return self\n"
        "return self.sum(dims, True).view(size)\n"),
    BODY("aten::diagflat(Tensor self, int offset=0) -> Tensor", "return torch.diag_embed(self.flatten(), offset)\n"),
    {.schema = "aten::fill_diagonal_(Tensor(a!) self, Scalar fill_value, bool wrap=False) -> Tensor(a!)",
     .kernel = kernel_fill_diagonal,
     .grad = "self: grad.clone().fill_diagonal_(0, wrap)"},
    BODY_OUT(
        "aten::pixel_shuffle(Tensor self, int upscale_factor) -> Tensor",
        "n = self.dim()\n"
        "r = upscale_factor\n"
        "if n < 3:\n"
        "  raise RuntimeError(\"pixel_shuffle expects input to have at least 3 dimensions, but got input with \" "
        "+ str(n) + \" dimension(s)\")\n"
        "if r <= 0:\n"
        "  raise RuntimeError(\"pixel_shuffle expects a positive upscale_factor, but got \" + str(r))\n"
        "c = self.size(-3)\n"
        "h = self.size(-2)\n"
        "w = self.size(-1)\n"
        "if c % (r * r) != 0:\n"
        "  raise RuntimeError(\"pixel_shuffle expects its input's 'channel' dimension to be divisible by the "
        "square of upscale_factor, \"\n"
        "                     \"but input.size(-3)=\" + str(c) + \" is not divisible by \" + str(r * r))\n"
        "batch = self.size()[:-3]\n"
        "b = [i for i in range(len(batch))]\n"
        "k = len(batch)\n"
        "parts = self.reshape(batch + [c // (r * r), r, r, h, w]).permute(b + [k, k + 3, k + 1, k + 4, k + 2])\n"
        "return torch._contiguous_as(parts.clone(memory_format=torch.contiguous_format).reshape(batch + [c // (r * "
        "r), h * r, w * r]), self)\n",
        .grad = "self: torch.pixel_unshuffle(grad, upscale_factor)"),
    BODY_OUT(
        "aten::pixel_unshuffle(Tensor self, int downscale_factor) -> Tensor",
        "n = self.dim()\n"
        "r = downscale_factor\n"
        "if n < 3:\n"
        "  raise RuntimeError(\"pixel_unshuffle expects input to have at least 3 dimensions, but got input with "
        "\" + str(n) + \" dimension(s)\")\n"
        "if r <= 0:\n"
        "  raise RuntimeError(\"pixel_unshuffle expects a positive downscale_factor, but got \" + str(r))\n"
        "c = self.size(-3)\n"
        "h = self.size(-2)\n"
        "w = self.size(-1)\n"
        "if h % r != 0:\n"
        "  raise RuntimeError(\"pixel_unshuffle expects height to be divisible by downscale_factor, but "
        "input.size(-2)=\" + str(h) + \" is not divisible by \" + str(r))\n"
        "if w % r != 0:\n"
        "  raise RuntimeError(\"pixel_unshuffle expects width to be divisible by downscale_factor, but "
        "input.size(-1)=\" + str(w) + \" is not divisible by \" + str(r))\n"
        "batch = self.size()[:-3]\n"
        "b = [i for i in range(len(batch))]\n"
        "k = len(batch)\n"
        "parts = self.reshape(batch + [c, h // r, r, w // r, r]).permute(b + [k, k + 2, k + 4, k + 1, k + 3])\n"
        "return torch._contiguous_as(parts.clone(memory_format=torch.contiguous_format).reshape(batch + [c * r * r, "
        "h // r, w // r]), self)\n",
        .grad = "self: torch.pixel_shuffle(grad, downscale_factor)"),
    BODY_OUT("aten::channel_shuffle(Tensor self, int groups) -> Tensor",
             "if self.dim() <= 2:\n"
             "  raise RuntimeError(\"channel_shuffle expects input with > 2 dims, but got input with sizes \" + "
             "str(self.size()))\n"
             "c = self.size(1)\n"
             "if groups <= 0:\n"
             "  raise RuntimeError(\"Number of groups to divide channels in must be positive. Value of groups:\" + "
             "str(groups))\n"
             "if c % groups != 0:\n"
             "  raise RuntimeError(\"Number of channels must be divisible by groups. Got \" + str(c) + \" channels and "
             "\" + str(groups) + \" groups.\")\n"
             "sizes = self.size()\n"
             "if self.numel() == 0:\n"
             "  return self.clone()\n"
             "parts = self.reshape([sizes[0], groups, c // groups] + sizes[2:]).transpose(1, 2)\n"
             "return torch._contiguous_as(parts.clone(memory_format=torch.contiguous_format).reshape(sizes), self)\n"),
    BODY("aten::native_channel_shuffle(Tensor self, int groups) -> Tensor",
         "return torch.channel_shuffle(self, groups)\n"),
};
OP_TABLE(op_table_rearrange, rows);
