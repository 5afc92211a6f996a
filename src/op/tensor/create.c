/* Rows that make tensors of given sizes, or of another tensor's, holding nothing or one number. */
#include "base/work_limit.h"
#include "call/options.h"
#include "call/row_extras.h"

/* `dtype, layout, device, pin_memory` as every such schema ends. */
#define OPTIONS "ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None"

/* ---- shapes ---- */
/* `.param` of rows whose forms differ there: how many arguments stand before the options. The last of them is the
 * number to fill with, where there is one. */
static uint32_t options_at(const Call *c) {
  return (uint32_t)call_param(c);
}

static Status shape_sizes(Call *c, TensorSpec *spec) { /* (size, *options) */
  TRY(sizes_read(c, 0, spec));
  return options_read(c, 1, dtype_default(), spec);
}

static Status shape_empty(Call *c, TensorSpec *spec) { /* (size, *options, memory_format) */
  TRY(shape_sizes(c, spec));
  int64_t format = call_int_or(c, 5, FORMAT_CONTIGUOUS);
  if (format == FORMAT_PRESERVE) return status_new(ERROR_RUNTIME, "unsupported memory format Preserve");
  return format_read(c, 5, FORMAT_CONTIGUOUS, NULL, spec);
}

static Status read_strides(const Call *c, uint32_t at, TensorSpec *spec) {
  size_t count;
  const int64_t *strides = call_ints(c, at, &count);
  if ((int)count != spec->ndim)
    return status_new(ERROR_RUNTIME, "dimensionality of sizes (%d) must match dimensionality of strides (%zu)",
                      spec->ndim, count);
  spec->has_strides = true;
  if (count) memcpy(spec->strides, strides, count * sizeof *strides);
  return OK;
}

static Status shape_empty_strided(Call *c, TensorSpec *spec) { /* (size, stride, *options) */
  TRY(sizes_read(c, 0, spec));
  TRY(read_strides(c, 1, spec));
  return options_read(c, 2, dtype_default(), spec);
}

static Status shape_full(Call *c, TensorSpec *spec) { /* (size, fill_value, *options) */
  TRY(sizes_read(c, 0, spec));
  return options_read(c, 2, scalar_default_dtype(call_scalar(c, 1)), spec);
}

/* Of self's look; memory_format after the options. */
static Status shape_as_self(Call *c, TensorSpec *spec) {
  const Tensor *self = call_tensor(c, 0);
  spec->ndim = self->ndim;
  if (self->ndim) memcpy(spec->sizes, self->sizes, self->ndim * sizeof *self->sizes);
  spec->device = tensor_device(self);
  TRY(options_read(c, options_at(c), (DType)self->dtype, spec));
  return format_read(c, options_at(c) + 4, FORMAT_PRESERVE, self, spec);
}

/* Of self's dtype and device, other sizes. */
static Status shape_new(Call *c, TensorSpec *spec) {
  TRY(sizes_read(c, 1, spec));
  spec->device = tensor_device(call_tensor(c, 0));
  return options_read(c, options_at(c), (DType)call_tensor(c, 0)->dtype, spec);
}

static Status shape_new_strided(Call *c, TensorSpec *spec) {
  TRY(shape_new(c, spec));
  return read_strides(c, 2, spec);
}

static Status shape_scalar(Call *c, TensorSpec *spec) {
  return options_read(c, 1, dtype_default(), spec);
}

static Status shape_eye(Call *c, TensorSpec *spec) { /* (n, *options) or (n, m, *options) */
  int64_t n = call_int(c, 0), m = call_int(c, options_at(c) - 1);
  if (n < 0) return status_new(ERROR_RUNTIME, "n must be greater or equal to 0, got %lld", (long long)n);
  if (m < 0) return status_new(ERROR_RUNTIME, "m must be greater or equal to 0, got %lld", (long long)m);
  shape_set(spec, dtype_default(), 2, (int64_t[]){n, m});
  return options_read(c, options_at(c), dtype_default(), spec);
}

/* ---- kernels ---- */
static Status kernel_empty(Call *c) {
  (void)c;
  return OK;
}
static Status kernel_zeros(Call *c) {
  return tensor_zero(call_out(c, 0));
}
static Status kernel_ones(Call *c) {
  return tensor_fill_scalar(call_out(c, 0), ivalue_int(1));
}

static Status kernel_full(Call *c) {
  return tensor_fill_scalar(call_out(c, 0), call_scalar(c, options_at(c) - 1));
}

static Status kernel_eye(Call *c) {
  Tensor *out = call_out(c, 0);
  tensor_fill_zero(out);
  int64_t n = out->sizes[0] < out->sizes[1] ? out->sizes[0] : out->sizes[1], stride = out->strides[0] + out->strides[1];
  complex128 one;
  TRY(scalar_to_element(ivalue_int(1), (DType)out->dtype, &one));
  if (n && out->storage && !work_is_over())
    dtype_convert((DType)out->dtype, tensor_data(out), stride, (DType)out->dtype, &one, 0, n);
  return OK;
}

/* ---- writing one value or another tensor everywhere ---- */
static Status kernel_fill_tensor(Call *c) {
  const Tensor *value = call_tensor(c, 1);
  Tensor *out = call_out(c, 0);
  if (value->ndim != 0)
    return status_new(ERROR_RUNTIME, "fill_ only supports 0-dimension value tensor but got tensor with %d dimensions.",
                      value->ndim);
  return tensor_copy(out, value, c->exec->work.threads);
}

static Status kernel_copy(Call *c) {
  return tensor_copy(call_out(c, 0), call_tensor(c, 1), c->exec->work.threads);
}

static Status kernel_copy_number(Call *c) {
  Tensor *self = call_tensor(c, 0);
  TRY(tensor_fill_scalar(self, call_scalar(c, 1)));
  call_set_tensor(c, 0, tensor_retain(self));
  return OK;
}

static Status kernel_scalar_to_tensor(Call *c) {
  IValue scalar = call_scalar(c, 0);
  Tensor *t;
  switch (scalar.tag) {
    case TAG_INT:
      TRY(tensor_from_int(scalar.i, &t));
      break;
    case TAG_BOOL:
      TRY(tensor_from_bool(scalar.b, &t));
      break;
    case TAG_COMPLEX:
      TRY(tensor_from_complex(ivalue_complex(scalar), &t));
      break;
    default:
      TRY(tensor_from_double(scalar.f, &t));
      break;
  }
  call_set_tensor(c, 0, t);
  return OK;
}

enum { MAKES = OP_OUT | OP_ACCEPT_META | OP_NOT_DIFFERENTIABLE | OP_ACCEPT_CONJ };
#define MAKE(text, shape_function, kernel_function, ...)                \
  {                                                                     \
    .schema = text, .shape = shape_function, .kernel = kernel_function, \
    .flags = MAKES | OP_ACCEPT_DEVICES | OP_ACCEPT_LIMITED, __VA_ARGS__ \
  }
#define LIKE(text, shape_function, kernel_function, options)                              \
  {                                                                                       \
    .schema = text, .shape = shape_function, .kernel = kernel_function, .param = options, \
    .flags = MAKES | OP_ACCEPT_DEVICES | OP_METADATA_ONLY | OP_ACCEPT_LIMITED             \
  }
#define WRITE(text, kernel_function, more, ...)                                                                        \
  {                                                                                                                    \
    .schema = text, .shape = shape_same_as_first, .kernel = kernel_function,                                           \
    .flags = OP_INPLACE | OP_OUT | OP_ALIASING_SELF | OP_ACCEPT_CONJ | OP_ACCEPT_DEVICES | OP_ACCEPT_LIMITED | (more), \
    .grad = __VA_ARGS__                                                                                                \
  }

static const OpRow rows[] = {
    MAKE("aten::empty.memory_format(SymInt[] size, *, " OPTIONS ", MemoryFormat? memory_format=None) -> Tensor",
         shape_empty, kernel_empty, .out = "out"),
    MAKE("aten::empty_strided(SymInt[] size, SymInt[] stride, *, " OPTIONS ") -> Tensor", shape_empty_strided,
         kernel_empty),
    {.schema = "aten::empty_permuted(SymInt[] size, int[] physical_layout, *, " OPTIONS ") -> Tensor",
     .body =
         "n = len(size)\n"
         "if n != len(physical_layout):\n"
         "    raise RuntimeError('Number of dimensions in size does not match the length of the physical_layout; "
         "i.e. len(size) = {} is not equal to len(physical_layout) = {}'.format(n, len(physical_layout)))\n"
         "sizes: List[int] = []\n"
         "back = [-1 for _ in range(n)]\n"
         "for i in range(n):\n"
         "    d = physical_layout[i]\n"
         "    if d < 0 or d >= n:\n"
         "        raise RuntimeError('Dimension out of range (expected to be between 0 and {}, but got {} at index "
         "{}).  NB: negative dims not currently supported; file an issue if you want it.'.format(n - 1, d, i))\n"
         "    if back[d] >= 0:\n"
         "        raise RuntimeError('Duplicate dim not allowed')\n"
         "    back[d] = i\n"
         "    sizes.append(size[d])\n"
         "return torch.empty(sizes, dtype=dtype, layout=layout, device=device, pin_memory=pin_memory).permute(back)"},
    LIKE("aten::empty_like(Tensor self, *, " OPTIONS ", MemoryFormat? memory_format=None) -> Tensor", shape_as_self,
         kernel_empty, 1),
    MAKE("aten::zeros(SymInt[] size, *, " OPTIONS ") -> Tensor", shape_sizes, kernel_zeros),
    LIKE("aten::zeros_like(Tensor self, *, " OPTIONS ", MemoryFormat? memory_format=None) -> Tensor", shape_as_self,
         kernel_zeros, 1),
    MAKE("aten::_efficientzerotensor(int[] size, *, " OPTIONS ") -> Tensor", shape_sizes, kernel_zeros),
    MAKE("aten::ones(SymInt[] size, *, " OPTIONS ") -> Tensor", shape_sizes, kernel_ones),
    LIKE("aten::ones_like(Tensor self, *, " OPTIONS ", MemoryFormat? memory_format=None) -> Tensor", shape_as_self,
         kernel_ones, 1),
    MAKE("aten::full(SymInt[] size, Scalar fill_value, *, " OPTIONS ") -> Tensor", shape_full, kernel_full, .param = 2,
         .since = 5, .extras = &(const RowExtras){.upgrader = "0_4"}),
    LIKE("aten::full_like(Tensor self, Scalar fill_value, *, " OPTIONS ", MemoryFormat? memory_format=None) -> Tensor",
         shape_as_self, kernel_full, 2),
    LIKE("aten::new_empty(Tensor self, SymInt[] size, *, " OPTIONS ") -> Tensor", shape_new, kernel_empty, 2),
    LIKE("aten::new_empty_strided(Tensor self, SymInt[] size, SymInt[] stride, *, " OPTIONS ") -> Tensor",
         shape_new_strided, kernel_empty, 3),
    LIKE("aten::new_zeros(Tensor self, SymInt[] size, *, " OPTIONS ") -> Tensor", shape_new, kernel_zeros, 2),
    LIKE("aten::new_ones(Tensor self, SymInt[] size, *, " OPTIONS ") -> Tensor", shape_new, kernel_ones, 2),
    LIKE("aten::new_full(Tensor self, SymInt[] size, Scalar fill_value, *, " OPTIONS ") -> Tensor", shape_new,
         kernel_full, 3),
    MAKE("aten::scalar_tensor(Scalar s, *, " OPTIONS ") -> Tensor", shape_scalar, kernel_full, .param = 1),
    {.schema = "aten::eye(int n, *, " OPTIONS ") -> Tensor",
     .shape = shape_eye,
     .param = 1,
     .kernel = kernel_eye,
     .flags = MAKES | OP_ACCEPT_FLOAT8},
    {.schema = "aten::eye.m(int n, int m, *, " OPTIONS ") -> Tensor",
     .shape = shape_eye,
     .param = 2,
     .kernel = kernel_eye,
     .flags = MAKES | OP_ACCEPT_FLOAT8},
    WRITE("aten::fill.Scalar(Tensor self, Scalar value) -> Tensor", kernel_full, OP_WRITES_EXPANDED,
          "self: torch.zeros_like(grad)", .param = 2),
    WRITE("aten::fill.Tensor(Tensor self, Tensor value) -> Tensor", kernel_fill_tensor, OP_WRITES_EXPANDED,
          "self: torch.zeros_like(grad); value: grad.sum()"),
    WRITE("aten::zero(Tensor self) -> Tensor", kernel_zeros, OP_WRITES_EXPANDED, "self: torch.zeros_like(grad)"),
    WRITE("aten::copy(Tensor self, Tensor src, bool non_blocking=False) -> Tensor", kernel_copy, 0,
          "self: torch.zeros_like(grad); src: grad.to(src.dtype)"),
    {.schema = "aten::copy_.Tensor(Tensor(a!) self, Tensor other) -> Tensor(a!)",
     .body = "return self.copy_(other, False)"},
    {.schema = "aten::copy_.int(Tensor(a!) self, int other) -> Tensor(a!)",
     .kernel = kernel_copy_number,
     .flags = OP_ACCEPT_CONJ | OP_ACCEPT_DEVICES | OP_ACCEPT_LIMITED,
     .grad = "self: torch.zeros_like(grad)"},
    {.schema = "aten::copy_.float(Tensor(a!) self, float other) -> Tensor(a!)",
     .kernel = kernel_copy_number,
     .flags = OP_ACCEPT_CONJ | OP_ACCEPT_DEVICES | OP_ACCEPT_LIMITED,
     .grad = "self: torch.zeros_like(grad)"},
    {.schema = "aten::vander(Tensor x, int? N=None, bool increasing=False) -> Tensor",
     .body = "if x.dim() != 1:\n"
             "  raise RuntimeError('x must be a one-dimensional tensor.')\n"
             "columns = x.size(0)\n"
             "if N is not None:\n"
             "  columns = N\n"
             "if columns < 0:\n"
             "  raise RuntimeError('N must be non-negative.')\n"
             "powers = torch.arange(columns, dtype=4)\n"
             "if not increasing:\n"
             "  powers = powers.flip(0)\n"
             "return torch.pow(x.unsqueeze(1), powers)"},
    {.schema = "prim::NumToTensor.Scalar(Scalar a) -> Tensor", .kernel = kernel_scalar_to_tensor},
    {.schema = "prim::NumToTensor.bool(bool a) -> Tensor", .kernel = kernel_scalar_to_tensor},
};

OP_TABLE(op_table_create, rows);
