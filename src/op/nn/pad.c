/* Padding: constant, and the modes that repeat what is there (reflect, replicate, circular) by one table of source
 * indices for each padded dimension; their gradients add up through the same tables. */
#include <assert.h>

#include "base/copy_short.h"
#include "base/parallel.h"
#include "base/work_limit.h"
#include "call/agree.h"
#include "call/row.h"
#include "tensor/layout.h"

typedef enum PadMode { PAD_REFLECT, PAD_REPLICATE, PAD_CIRCULAR, PAD_CONSTANT } PadMode; /* numbered as _pad_enum's */

/* The padded look of a tensor: leading dimensions as one, up to three padded ones, innermost last. */
typedef struct Padding {
  PadMode mode;
  int dims;
  int64_t planes, sizes[3], padded[3], before[3];
  int64_t cropped[3]; /* circular and constant: what negative padding leaves */
} Padding;

/* ---- constant ---- */

/* Then all of the result is of the input. */
static bool only_crops(const int64_t *pad, size_t count) {
  for (size_t i = 0; i < count; i++)
    if (pad[i] > 0) return false;
  return true;
}

static Status shape_constant(Call *c, TensorSpec *specs) {
  const Tensor *self = call_tensor(c, 0);
  size_t count;
  const int64_t *pad = call_ints(c, 1, &count);
  if (count % 2) return status_new(ERROR_RUNTIME, "Length of pad must be even but instead it equals %zu", count);
  if ((int64_t)count > 2 * self->ndim)
    return status_new(
        ERROR_RUNTIME,
        "Length of pad should be no more than twice the number of dimensions of the input. Pad length is %zu"
        "while the input has %ddimensions.",
        count, self->ndim);
  bool crops = only_crops(pad, count);
  shape_set(specs, (DType)self->dtype, self->ndim, self->sizes);
  for (size_t i = 0; i < count / 2; i++) {
    int dim = self->ndim - 1 - (int)i;
    int64_t *size = &specs->sizes[dim], left = self->sizes[dim];
    for (int k = 0; k < 2; k++) {
      int64_t p = pad[2 * i + (size_t)k];
      if (p < 0 && left + p < 0) /* of two signs: no overflow */
        return status_new(ERROR_RUNTIME, "start (%llu) + length (%lld) exceeds dimension size (%lld).",
                          k ? 0 : 0 - (unsigned long long)p, (long long)(left + p), (long long)left);
      if (p < 0) left += p;
      if (!int64_add(*size, p, size)) return status_out_of_memory();
    }
    if (*size < 1 && !crops)
      return status_new(ERROR_RUNTIME,
                        "The input size %lld, plus negative padding %lld and %lld resulted in a negative output size, "
                        "which is invalid. "
                        "Check dimension %d of your input.",
                        (long long)self->sizes[dim], (long long)pad[2 * i], (long long)pad[2 * i + 1], dim);
  }
  if (crops) { /* a copy of a part, in its order of dimensions */
    Tensor part = {.ndim = self->ndim, .sizes = specs->sizes, .strides = self->strides};
    TRY(sizes_numel(part.ndim, part.sizes, &part.numel));
    tensor_judge_strides(&part);
    layout_preserve(&part, specs);
    return OK;
  }
  MemoryFormat format = tensor_suggested_format(self);
  if (format != FORMAT_CONTIGUOUS) {
    specs->has_strides = true;
    TRY(strides_of_format(format, specs->ndim, specs->sizes, NULL, specs->strides));
  }
  return OK;
}

static Status fill_with(Tensor *t, IValue value, int threads) {
  Tensor *number;
  TRY(tensor_from_complex(ivalue_to_complex(value), &number));
  if (!dtype_is_complex((DType)t->dtype) && value.tag != TAG_COMPLEX) {
    tensor_release(number);
    TRY(value.tag == TAG_FLOAT ? tensor_from_double(value.f, &number) : tensor_from_int(ivalue_to_int(value), &number));
  }
  Status status = tensor_copy(t, number, threads);
  tensor_release(number);
  return status;
}

/* n elements, each of which is `value`. */
static void fill_run(DType dtype, char *to, const void *value, int64_t n) {
  size_t item = dtype_size(dtype);
  if (n > 4)
    dtype_convert(dtype, to, 1, dtype, value, 0, n);
  else
    for (int64_t i = 0; i < n; i++) copy_short(to + (size_t)i * item, value, item);
}

typedef struct ConstantJob {
  const Padding *padding;
  char *to; /* both row-major */
  const char *from;
  DType dtype;
  complex128 value; /* of the dtype */
} ConstantJob;

static void pad_constant_planes(void *argument, int64_t begin, int64_t end) {
  const ConstantJob *job = argument;
  const Padding *p = job->padding;
  int64_t item = (int64_t)dtype_size(job->dtype), width = p->padded[2], before = p->before[2],
          cut = before < 0 ? -before : 0, left = before < 0 ? 0 : before, length = p->cropped[2], done = 0;
  char *to = job->to + begin * p->padded[0] * p->padded[1] * width * item;
  for (int64_t plane = begin; plane < end; plane++)
    for (int64_t z = -p->before[0]; z < p->padded[0] - p->before[0]; z++) {
      if (work_is_over_after(&done, p->padded[1] * width)) return;
      for (int64_t y = -p->before[1]; y < p->padded[1] - p->before[1]; y++, to += width * item) {
        if (z < 0 || z >= p->sizes[0] || y < 0 || y >= p->sizes[1]) {
          fill_run(job->dtype, to, &job->value, width);
          continue;
        }
        int64_t row = (plane * p->sizes[0] + z) * p->sizes[1] + y;
        fill_run(job->dtype, to, &job->value, left);
        memcpy(to + left * item, job->from + (row * p->sizes[2] + cut) * item, (size_t)(length * item));
        fill_run(job->dtype, to + (left + length) * item, &job->value, width - left - length);
      }
    }
}

/* Dense tensors of which the last three dimensions at most are padded: row by row. Of channels-last ones the channels
 * are part of a row. */
static bool pads_planes(const Tensor *self, const Tensor *out, const int64_t *pad, size_t count, Padding *p) {
  if (count > 6 || self->storage == out->storage || ((self->flags | out->flags) & TENSOR_UNUSUAL)) return false;
  bool last = self->ndim == 4 && count <= 4 && tensor_is_channels_last(self) && tensor_is_channels_last(out);
  if (!last && (!tensor_is_contiguous(self) || !tensor_is_contiguous(out))) return false;
  *p = (Padding){.mode = PAD_CONSTANT, .planes = 1};
  for (int d = 2; d >= 0; d--) {
    int dim = self->ndim - 3 + d;
    size_t at = 2 * (size_t)(2 - d);
    bool is_one = dim < 0 || (last && d == 0);
    int64_t before = at < count ? pad[at] : 0, after = at < count ? pad[at + 1] : 0,
            scale = last && d == 2 ? self->sizes[1] : 1;
    p->sizes[d] = is_one ? 1 : self->sizes[dim] * scale;
    p->padded[d] = is_one ? 1 : out->sizes[dim] * scale;
    p->before[d] = before * scale;
    p->cropped[d] = p->sizes[d] + ((before < 0 ? before : 0) + (after < 0 ? after : 0)) * scale;
  }
  for (int dim = 0; dim < self->ndim - 3; dim++) p->planes *= self->sizes[dim];
  return true;
}

static Status pad_constant(Call *c, const Padding *p) {
  const Tensor *self = call_tensor(c, 0);
  Tensor *out = call_out(c, 0), *one;
  if (out->numel == 0) return OK;
  ConstantJob job = {.padding = p, .dtype = (DType)out->dtype};
  int64_t item = (int64_t)dtype_size(job.dtype);
  TRY(tensor_empty((DType)out->dtype, 0, NULL, &one));
  Status status = fill_with(one, call_scalar(c, 2), 1);
  if (!status) {
    memcpy(&job.value, tensor_data(one), (size_t)item);
    job.to = tensor_data(out);
    job.from = tensor_items(self, item);
    parallel_for(c->exec->work.threads, p->planes, 32768 * p->planes / out->numel + 1, pad_constant_planes, &job);
  }
  tensor_release(one);
  return status;
}

static Status kernel_constant(Call *c) {
  const Tensor *self = call_tensor(c, 0);
  Tensor *out = call_out(c, 0);
  size_t count;
  const int64_t *pad = call_ints(c, 1, &count);
  Padding padding;
  if (pads_planes(self, out, pad, count, &padding)) return pad_constant(c, &padding);
  if (!only_crops(pad, count)) TRY(fill_with(out, call_scalar(c, 2), c->exec->work.threads));
  Tensor *to = tensor_retain(out), *from = tensor_retain(self);
  Status status = OK;
  for (size_t i = 0; i < count / 2 && status == OK; i++) {
    int dim = self->ndim - 1 - (int)i;
    int64_t before = pad[2 * i], after = pad[2 * i + 1];
    int64_t from_start = before < 0 ? -before : 0, to_start = before > 0 ? before : 0;
    int64_t length = self->sizes[dim] - from_start + (after < 0 ? after : 0);
    if (length == 0) goto done; /* nothing of self is left */
    Tensor *part;
    TRY_GOTO(tensor_narrow(to, dim, to_start, length, &part), done);
    tensor_release(to);
    to = part;
    TRY_GOTO(tensor_narrow(from, dim, from_start, length, &part), done);
    tensor_release(from);
    from = part;
  }
  status = tensor_copy(to, from, c->exec->work.threads);
done:
  tensor_release(to);
  tensor_release(from);
  return status;
}

/* ---- modes that repeat ---- */

/* PyTorch names the innermost dimension first. */
static Status report_too_small(const Padding *p) {
  static const char letters[] = "DHW";
  StrBuf before = {0}, after = {0};
  for (int d = 3 - p->dims; d < 3; d++) {
    strbuf_printf(&before, "%s%c: %lld", d > 3 - p->dims ? d == 2 ? ", " : " " : "", letters[d],
                  (long long)p->sizes[d]);
    strbuf_printf(&after, "%s%c: %lld", d > 3 - p->dims ? " " : "", letters[d], (long long)p->padded[d]);
  }
  Status status = status_new(ERROR_RUNTIME, "input (" STR_FMT ") is too small. Calculated output " STR_FMT,
                             STR_ARG(strbuf_view(&before)), STR_ARG(strbuf_view(&after)));
  strbuf_dispose(&before);
  strbuf_dispose(&after);
  return status;
}

static Status padding_init(Padding *p, PadMode mode, int dims, const Tensor *self, const int64_t *pad, size_t count) {
  assert(dims >= 1 && dims <= 3);
  *p =
      (Padding){.mode = mode, .dims = dims, .planes = 1, .sizes = {1, 1, 1}, .padded = {1, 1, 1}, .cropped = {1, 1, 1}};
  const char *name = mode == PAD_REFLECT     ? "reflection_pad"
                     : mode == PAD_REPLICATE ? "replication_pad"
                                             : "circular padding";
  if ((int64_t)count != 2 * dims) return status_new(ERROR_RUNTIME, "padding size is expected to be %d", 2 * dims);
  if (self->ndim != dims + 1 && self->ndim != dims + 2)
    return status_new(ERROR_RUNTIME,
                      "%s%dd: Expected %dD or %dD (batch mode) tensor with possibly 0 batch size and other non-zero "
                      "dimensions for input, but got: %s",
                      name, dims, dims + 1, dims + 2, SIZES_TEXT(self->ndim, self->sizes));
  for (int i = 0; i < self->ndim - dims; i++) p->planes *= self->sizes[i];
  bool batched = self->ndim == dims + 2, any = mode == PAD_REFLECT && dims < 3 && !batched;
  if (mode != PAD_CIRCULAR && !any && self->sizes[batched] == 0)
    return status_new(ERROR_RUNTIME,
                      "Expected %dD or %dD (batch mode) tensor with possibly 0 batch size and other non-zero "
                      "dimensions for input, but got: %s",
                      dims + 1, dims + 2, SIZES_TEXT(self->ndim, self->sizes));
  bool negative = false, some = false;
  for (int i = dims - 1; i >= 0; i--) {
    int dim = self->ndim - dims + i, at = 3 - dims + i;
    int64_t size = self->sizes[dim], before = pad[2 * (dims - 1 - i)], after = pad[2 * (dims - 1 - i) + 1];
    if (size == 0)
      return status_new(ERROR_RUNTIME,
                        "Expected %dD or %dD (batch mode) tensor with possibly 0 batch size and other non-zero "
                        "dimensions for input, but got: %s",
                        dims + 1, dims + 2, SIZES_TEXT(self->ndim, self->sizes));
    if (mode == PAD_REFLECT && (before >= size || after >= size))
      return status_new(ERROR_RUNTIME,
                        "Argument #%d: Padding size should be less than the corresponding input dimension, but got: "
                        "padding (%lld, %lld) at dimension %d of input %s",
                        4 + 2 * (dims - 1 - i), (long long)before, (long long)after, dim,
                        dims == 2 ? (self->ndim == 3 ? "3" : "4") : SIZES_TEXT(self->ndim, self->sizes));
    if (mode == PAD_CIRCULAR && (before > size || after > size))
      return status_new(ERROR_RUNTIME, "Padding value causes wrapping around more than once.");
    int64_t padded;
    if (!int64_add(size, before, &padded) || !int64_add(padded, after, &padded)) return status_out_of_memory();
    if (mode == PAD_CIRCULAR && padded < 0)
      return status_new(ERROR_RUNTIME, "Negative padding value is resulting in an empty dimension");
    p->sizes[at] = size;
    p->padded[at] = padded;
    p->before[at] = before;
    p->cropped[at] = size + (before < 0 ? before : 0) + (after < 0 ? after : 0);
    if (mode == PAD_CIRCULAR && padded > 0 && p->cropped[at] <= 0)
      return status_new(ERROR_RUNTIME, "Negative padding value is resulting in an empty dimension");
    negative |= padded < 0;
    some |= padded > 0;
  }
  return mode != PAD_CIRCULAR && (negative || !some) ? report_too_small(p) : OK;
}

/* For each padded index the index it shows. */
static Status padding_tables(const Padding *p, int64_t *tables[3]) {
  int64_t *all = mem_alloc((size_t)(p->padded[0] + p->padded[1] + p->padded[2]) * sizeof *all + 1);
  if (!all) return status_out_of_memory();
  for (int d = 0; d < 3; d++) {
    tables[d] = all;
    int64_t size = p->sizes[d];
    for (int64_t i = 0; i < p->padded[d]; i++) {
      int64_t from = i - p->before[d];
      if (p->mode == PAD_CIRCULAR) { /* around what the crop leaves */
        int64_t start = p->before[d] < 0 ? -p->before[d] : 0, length = p->cropped[d];
        from = start + (((from - start) % length) + length) % length;
      } else if (p->mode == PAD_REPLICATE)
        from = from < 0 ? 0 : from >= size ? size - 1 : from;
      else
        from = from < 0 ? -from : from >= size ? 2 * (size - 1) - from : from;
      all[i] = from;
    }
    all += p->padded[d];
  }
  return OK;
}

typedef struct PadJob {
  const Padding *padding;
  int64_t *const *tables;
  char *padded, *inner; /* row-major */
  int64_t item;
  DType dtype;
} PadJob;

static void pad_planes(void *argument, int64_t begin, int64_t end) {
  const PadJob *job = argument;
  const Padding *p = job->padding;
  int64_t inner_numel = p->sizes[0] * p->sizes[1] * p->sizes[2], numel = p->padded[0] * p->padded[1] * p->padded[2],
          width = p->padded[2];
  for (int64_t plane = begin; plane < end; plane++) {
    char *to = job->padded + plane * numel * job->item;
    const char *from = job->inner + plane * inner_numel * job->item;
    for (int64_t z = 0; z < p->padded[0]; z++)
      for (int64_t y = 0; y < p->padded[1]; y++) {
        const char *row = from + (job->tables[0][z] * p->sizes[1] + job->tables[1][y]) * p->sizes[2] * job->item;
        const int64_t *x = job->tables[2];
        switch (job->item) {
#define COPY_ROW(type)                                                             \
  for (int64_t i = 0; i < width; i++) ((type *)to)[i] = ((const type *)row)[x[i]]; \
  break
          case 1:
            COPY_ROW(uint8_t);
          case 2:
            COPY_ROW(uint16_t);
          case 4:
            COPY_ROW(uint32_t);
          case 8:
            COPY_ROW(uint64_t);
          default:
            COPY_ROW(complex128);
#undef COPY_ROW
        }
        to += width * job->item;
      }
  }
}

/* inner += padded, in double or double complex. */
static void add_planes(void *argument, int64_t begin, int64_t end) {
  const PadJob *job = argument;
  const Padding *p = job->padding;
  bool complex = job->dtype == DTYPE_COMPLEX128;
  int64_t inner_numel = p->sizes[0] * p->sizes[1] * p->sizes[2], numel = p->padded[0] * p->padded[1] * p->padded[2];
  for (int64_t plane = begin; plane < end; plane++) {
    const char *from = job->padded + plane * numel * job->item;
    char *to = job->inner + plane * inner_numel * job->item;
    for (int64_t z = 0; z < p->padded[0]; z++)
      for (int64_t y = 0; y < p->padded[1]; y++) {
        char *row = to + (job->tables[0][z] * p->sizes[1] + job->tables[1][y]) * p->sizes[2] * job->item;
        for (int64_t i = 0; i < p->padded[2]; i++, from += job->item) {
          if (complex)
            ((complex128 *)row)[job->tables[2][i]] += *(const complex128 *)from;
          else
            ((double *)row)[job->tables[2][i]] += *(const double *)from;
        }
      }
  }
}

static Status run_planes(Call *c, const Padding *p, ParallelBody *body, PadJob *job) {
  int64_t *tables[3], plane = p->padded[0] * p->padded[1] * p->padded[2];
  TRY(padding_tables(p, tables));
  job->padding = p;
  job->tables = tables;
  job->item = (int64_t)dtype_size(job->dtype);
  parallel_for(c->exec->work.threads, p->planes, 32768 / (plane + 1) + 1, body, job);
  mem_free(tables[0]);
  return OK;
}

/* The mode and the number of dimensions stand in the operator's name: aten::reflection_pad2d_backward; _pad_circular
 * has both in its arguments. */
static PadMode call_mode(const Call *c) {
  const char *name = c->op->row->schema + sizeof "aten::" - 1;
  return strncmp(name, "reflection", 10) == 0    ? PAD_REFLECT
         : strncmp(name, "replication", 11) == 0 ? PAD_REPLICATE
                                                 : PAD_CIRCULAR;
}

static int call_dims(const Call *c, size_t pad_count) {
  const char *digit = strpbrk(c->op->row->schema, "123");
  return call_mode(c) == PAD_CIRCULAR ? (int)(pad_count / 2) : digit[0] - '0';
}

static Status read_padding(const Call *c, uint32_t self, Padding *out) {
  size_t count;
  const int64_t *pad = call_ints(c, self + 1, &count);
  int dims = call_dims(c, count);
  if (dims < 1 || dims > 3)
    return status_new(ERROR_RUNTIME, "Only 1 to 3 dimensions can be padded in this mode, got %zu numbers", count);
  return padding_init(out, call_mode(c), dims, call_tensor(c, self), pad, count);
}

static Status shape_pad(Call *c, TensorSpec *specs) {
  const Tensor *self = call_tensor(c, 0);
  Padding p;
  TRY(read_padding(c, 0, &p));
  shape_set(specs, (DType)self->dtype, self->ndim, self->sizes);
  for (int i = 0; i < p.dims; i++) specs->sizes[self->ndim - p.dims + i] = p.padded[3 - p.dims + i];
  return OK;
}

static Status kernel_pad(Call *c) {
  Tensor *out = call_out(c, 0), *self;
  Padding p;
  TRY(read_padding(c, 0, &p));
  if (out->numel == 0) return OK;
  TRY(tensor_contiguous(call_tensor(c, 0), &self));
  PadJob job = {.padded = tensor_data(out),
                .inner = tensor_items(self, (int64_t)dtype_size((DType)out->dtype)),
                .dtype = (DType)out->dtype};
  Status status = run_planes(c, &p, pad_planes, &job);
  tensor_release(self);
  return status;
}

static Status shape_pad_backward(Call *c, TensorSpec *specs) {
  const Tensor *self = call_tensor(c, 1);
  shape_set(specs, (DType)self->dtype, self->ndim, self->sizes);
  return OK;
}

static Status kernel_pad_backward(Call *c) {
  const Tensor *grad = call_tensor(c, 0), *self = call_tensor(c, 1);
  Tensor *out = call_out(c, 0), *wide = NULL, *padded = NULL, *sums = NULL;
  Padding p;
  TRY(read_padding(c, 1, &p));
  DType dtype = dtype_is_complex((DType)grad->dtype) ? DTYPE_COMPLEX128 : DTYPE_FLOAT64;
  for (int i = 0; i < self->ndim; i++) {
    int at = i - (self->ndim - p.dims);
    int64_t expected = at < 0 ? self->sizes[i] : p.padded[3 - p.dims + at];
    if (grad->ndim != self->ndim || grad->sizes[i] != expected)
      return status_new(ERROR_RUNTIME, "grad_output has size %s, which padding %s does not give",
                        SIZES_TEXT(grad->ndim, grad->sizes), SIZES_TEXT(self->ndim, self->sizes));
  }
  TRY(tensor_empty(dtype, self->ndim, self->sizes, &sums));
  tensor_fill_zero(sums);
  Status status = tensor_to_dtype(grad, dtype, &wide);
  if (status == OK) status = tensor_contiguous(wide, &padded);
  if (status == OK) {
    PadJob job = {.padded = tensor_items(padded, (int64_t)dtype_size(dtype)),
                  .inner = tensor_items(sums, (int64_t)dtype_size(dtype)),
                  .dtype = dtype};
    if (padded->numel) status = run_planes(c, &p, add_planes, &job);
  }
  if (status == OK) status = tensor_copy(out, sums, c->exec->work.threads);
  tensor_release(wide);
  tensor_release(padded);
  tensor_release(sums);
  return status;
}

/* ---- pad: chooses ---- */

static Status pad_by_mode(Call *c, PadMode mode, IValue value) {
  static OpRef constant = OP_REF("aten::constant_pad_nd", ""), circular = OP_REF("aten::_pad_circular", "");
  static OpRef reflect[3] = {OP_REF("aten::reflection_pad1d", ""), OP_REF("aten::reflection_pad2d", ""),
                             OP_REF("aten::reflection_pad3d", "")};
  static OpRef replicate[3] = {OP_REF("aten::replication_pad1d", ""), OP_REF("aten::replication_pad2d", ""),
                               OP_REF("aten::replication_pad3d", "")};
  const Tensor *self = call_tensor(c, 0);
  size_t count;
  (void)call_ints(c, 1, &count);
  if (count % 2) return status_new(ERROR_RUNTIME, "Padding length must be divisible by 2");
  if ((int64_t)count > 2 * self->ndim) return status_new(ERROR_RUNTIME, "Padding length too large");
  if (mode == PAD_CONSTANT)
    return op_call(c->exec, &constant, 3,
                   (IValue[]){c->inputs[0], c->inputs[1], value.tag == TAG_NONE ? ivalue_float(0) : value}, 1,
                   c->outputs);
  if (value.tag != TAG_NONE && ivalue_to_double(value) != 0) {
    static const char *const names[] = {"reflect", "replicate", "circular"};
    return status_new(ERROR_RUNTIME, "Padding mode \"%s\" doesn't take in value argument", names[mode]);
  }
  int64_t dims = (int64_t)count / 2;
  if (dims < 1 || dims > 3 || (self->ndim != dims + 1 && self->ndim != dims + 2))
    return status_exception("NotImplementedError",
                            "Only 2D, 3D, 4D, 5D padding with non-constant padding are supported for now");
  if (mode == PAD_CIRCULAR && self->ndim != dims + 2)
    return status_new(ERROR_RUNTIME, "Invalid padding size, expected %d but got %zu", 2 * (self->ndim - 2), count);
  OpRef *op = mode == PAD_CIRCULAR ? &circular : mode == PAD_REFLECT ? &reflect[dims - 1] : &replicate[dims - 1];
  return op_call(c->exec, op, 2, c->inputs, 1, c->outputs);
}

static Status kernel_pad_enum(Call *c) {
  int64_t mode = call_int(c, 2);
  if (mode < 0 || mode > PAD_CONSTANT)
    return status_new(ERROR_RUNTIME, "Unrecognised padding mode %lld", (long long)mode);
  return pad_by_mode(c, (PadMode)mode, c->inputs[3]);
}

static Status kernel_pad_named(Call *c) {
  Str mode = call_str(c, 2);
  PadMode found;
  if (str_is(mode, "constant"))
    found = PAD_CONSTANT;
  else if (str_is(mode, "reflect"))
    found = PAD_REFLECT;
  else if (str_is(mode, "replicate"))
    found = PAD_REPLICATE;
  else if (str_is(mode, "circular"))
    found = PAD_CIRCULAR;
  else
    return status_exception("NotImplementedError", "Unrecognised padding mode " STR_FMT, STR_ARG(mode));
  return pad_by_mode(c, found, c->inputs[3]);
}

#define PAD(name, type, loop)                                                                         \
  {.schema = "aten::" name "(Tensor self, " type " padding) -> Tensor",                               \
   .kernel = kernel_pad,                                                                              \
   .shape = shape_pad,                                                                                \
   .dtypes = loop ": integral floating complex",                                                      \
   .grad = "self: torch." name "_backward(grad, self, padding)",                                      \
   .flags = OP_OUT},                                                                                  \
  {                                                                                                   \
    .schema = "aten::" name "_backward(Tensor grad_output, Tensor self, " type " padding) -> Tensor", \
    .out = "grad_input: grad_input", .kernel = kernel_pad_backward, .shape = shape_pad_backward,      \
    .grad = "grad_output: torch." name "(grad, padding)", .flags = OP_OUT                             \
  }

static const OpRow rows[] = {
    {.schema = "aten::constant_pad_nd(Tensor self, int[] pad, Scalar value=0) -> Tensor",
     .kernel = kernel_constant,
     .shape = shape_constant,
     .grad = "self: torch.constant_pad_nd(grad, [-p for p in pad], 0)",
     .flags = OP_ACCEPT_LIMITED | OP_OUT},
    PAD("reflection_pad1d", "int[2]", "reflection_pad1d"),
    PAD("reflection_pad2d", "int[4]", "reflection_pad2d"),
    PAD("reflection_pad3d", "int[6]", "reflection_pad3d_cpu"),
    PAD("replication_pad1d", "int[2]", "replication_pad1d_cpu"),
    PAD("replication_pad2d", "int[4]", "replication_pad2d_cpu"),
    PAD("replication_pad3d", "int[6]", "replication_pad3d_cpu"),
    {.schema = "aten::_pad_circular(Tensor self, int[] pad) -> Tensor",
     .kernel = kernel_pad,
     .shape = shape_pad,
     .grad = "self: torch._pad_circular_backward(grad, self, pad)"},
    {.schema = "aten::_pad_circular_backward(Tensor grad_output, Tensor self, int[] pad) -> Tensor",
     .kernel = kernel_pad_backward,
     .shape = shape_pad_backward,
     .grad = "grad_output: torch._pad_circular(grad, pad)"},
    {.schema = "aten::_pad_enum(Tensor self, int[] pad, int mode, float? value=None) -> Tensor",
     .kernel = kernel_pad_enum,
     .flags = OP_COMPOSITE},
    {.schema = "aten::pad(Tensor self, int[] pad, str mode=\"constant\", float? value=None) -> Tensor",
     .kernel = kernel_pad_named,
     .flags = OP_COMPOSITE},
};
OP_TABLE(op_table_pad, rows);
