/* Rows that copy a tensor or change its dtype, device, memory format, sizes or storage. */
#include "call/options.h"
#include "call/row.h"
#include "tensor/device_map.h"

#define OPTIONS "ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None"

/* ---- copies ---- */
/* Sizes of self in the format of argument `at`; without one its own order of dimensions. */
static Status copy_shape(Call *c, uint32_t at, TensorSpec *spec) {
  const Tensor *self = call_tensor(c, 0);
  MemoryFormat format = (MemoryFormat)call_int_or(c, at, FORMAT_PRESERVE);
  spec->dtype = (DType)self->dtype;
  spec->device = tensor_device(self);
  spec->ndim = self->ndim;
  if (self->ndim) memcpy(spec->sizes, self->sizes, self->ndim * sizeof *self->sizes);
  if (format == FORMAT_CONTIGUOUS || (format == FORMAT_PRESERVE && self->row_major)) return OK;
  spec->has_strides = true;
  return strides_of_format(format, spec->ndim, spec->sizes, self, spec->strides);
}

static Status shape_clone(Call *c, TensorSpec *spec) {
  return copy_shape(c, 1, spec);
}

static Status shape_to_copy(Call *c, TensorSpec *spec) { /* (self, *options, non_blocking, memory_format) */
  const Tensor *self = call_tensor(c, 0);
  TRY(copy_shape(c, 6, spec));
  TRY(options_read(c, 1, (DType)self->dtype, spec));
  if (spec->device.type != DEVICE_META) {
    spec->flags &= ~(uint32_t)TENSOR_META;
    if (self->flags & TENSOR_META)
      return status_exception("NotImplementedError", "Cannot copy out of meta tensor; no data!");
  }
  return OK;
}

static Status kernel_copy(Call *c) {
  return tensor_copy(call_out(c, 0), call_tensor(c, 0), c->exec->work.threads);
}

static OpRef to_copy_ref = OP_REF("aten::_to_copy", "");
static OpRef clone_ref = OP_REF("aten::clone", "");

typedef struct Conversion {
  DType dtype;
  Device device;
  bool copy;
  IValue format; /* MemoryFormat? */
} Conversion;

/* What has no index is the first device of its type. */
static bool is_same_device(Device from, Device to) {
  if (from.type != to.type) return false;
  return from.index < 0 || from.index == (to.index < 0 ? 0 : to.index);
}

/* Self when nothing changes. */
static Status convert(Call *c, Conversion to) {
  Tensor *self = call_tensor(c, 0);
  Device from = tensor_device(self);
  bool same_device = is_same_device(from, to.device);
  bool same_format = to.format.tag == TAG_NONE || to.format.i == FORMAT_PRESERVE ||
                     to.format.i == (int64_t)tensor_suggested_format(self);
  if (to.dtype == self->dtype && same_device && same_format && !to.copy) {
    call_set_tensor(c, 0, tensor_retain(self));
    return OK;
  }
  IValue device = same_device ? IVALUE_NONE : ivalue_device(to.device), out = IVALUE_NONE;
  TRY(op_call(c->exec, &to_copy_ref, 7,
              (IValue[]){call_value(c, 0), ivalue_int(to.dtype), IVALUE_NONE, device, IVALUE_NONE, ivalue_bool(false),
                         to.format},
              1, &out));
  call_set(c, 0, out);
  return OK;
}

static Conversion unchanged(const Call *c) {
  const Tensor *self = call_tensor(c, 0);
  return (Conversion){(DType)self->dtype, tensor_device(self), false, IVALUE_NONE};
}
/* Keeps *device where there is None. */
static Status read_device(const Call *c, uint32_t i, Device *device) {
  return call_is_none(c, i) ? OK : options_device(c, i, device);
}

static Status kernel_to_dtype(Call *c) { /* (self, dtype, non_blocking, copy, format) */
  Conversion to = unchanged(c);
  to.dtype = (DType)call_int(c, 1);
  to.copy = call_bool(c, 3);
  to.format = call_value(c, 4);
  return convert(c, to);
}
static Status kernel_to_device(Call *c) { /* (self, device, dtype, non_blocking, copy, format) */
  Device device;
  TRY(options_device(c, 1, &device));
  return convert(c, (Conversion){(DType)call_int(c, 2), device, call_bool(c, 4), call_value(c, 5)});
}
static Status kernel_to_dtype_layout(Call *c) { /* (self, *options, non_blocking, copy, format) */
  Conversion to = unchanged(c);
  if (call_int_or(c, 2, 0) != 0) return status_new(ERROR_UNSUPPORTED, "converting to a layout other than strided");
  to.dtype = call_dtype_or(c, 1, to.dtype);
  TRY(read_device(c, 3, &to.device));
  to.copy = call_bool(c, 6);
  to.format = call_value(c, 7);
  return convert(c, to);
}
static Status kernel_to_other(Call *c) { /* (self, other, non_blocking, copy, format) */
  const Tensor *other = call_tensor(c, 1);
  return convert(c, (Conversion){(DType)other->dtype, tensor_device(other), call_bool(c, 3), call_value(c, 4)});
}
static Status kernel_to_prim_device(Call *c) { /* (self, device, dtype, non_blocking, copy) */
  Conversion to = unchanged(c);
  TRY(read_device(c, 1, &to.device));
  to.dtype = call_dtype_or(c, 2, to.dtype);
  to.copy = call_bool(c, 4);
  return convert(c, to);
}
static Status kernel_to_prim_dtype(Call *c) { /* (self, dtype, non_blocking, copy) */
  Conversion to = unchanged(c);
  to.dtype = call_dtype_or(c, 1, to.dtype);
  to.copy = call_bool(c, 3);
  return convert(c, to);
}
static Status kernel_to_prim_other(Call *c) { /* (self, non_blocking, copy) */
  Conversion to = unchanged(c);
  to.copy = call_bool(c, 2);
  return convert(c, to);
}
static Status kernel_type_as(Call *c) {
  const Tensor *other = call_tensor(c, 1);
  return convert(c, (Conversion){(DType)other->dtype, tensor_device(other), false, IVALUE_NONE});
}
static Status kernel_to_device_type(Call *c) {
  DeviceType device = (DeviceType)call_param(c);
  Conversion to = unchanged(c);
  to.device = device_map_apply(c->exec->device_map, (Device){(int16_t)device, -1});
  if (!device_is_there(to.device)) return device_is_missing(to.device);
  return convert(c, to);
}

static Status cast(Call *c, DType dtype) {
  Conversion to = unchanged(c);
  to.dtype = dtype;
  return convert(c, to);
}
static Status kernel_cast(Call *c) {
  return cast(c, (DType)call_param(c));
}

static Status kernel_full_precision(Call *c) { /* (self, cuda_enabled, cpu_enabled) */
  DType dtype = (DType)call_tensor(c, 0)->dtype;
  bool reduced = dtype == DTYPE_FLOAT16 || dtype == DTYPE_BFLOAT16;
  return cast(c, call_bool(c, 2) && reduced ? DTYPE_FLOAT32 : dtype);
}
static Status kernel_reduced_precision(Call *c) { /* (self, cuda_enabled, cpu_enabled, cuda_dtype, cpu_dtype) */
  DType dtype = (DType)call_tensor(c, 0)->dtype;
  return cast(c, call_bool(c, 2) && dtype == DTYPE_FLOAT32 ? (DType)call_int(c, 4) : dtype);
}

static Status kernel_contiguous(Call *c) {
  Tensor *self = call_tensor(c, 0);
  MemoryFormat format = (MemoryFormat)call_int(c, 1);
  if (tensor_has_format(self, format)) {
    call_set_tensor(c, 0, tensor_retain(self));
    return OK;
  }
  if (format == FORMAT_PRESERVE)
    return status_new(ERROR_RUNTIME, "preserve memory format is unsupported by the contiguous operator");
  IValue out = IVALUE_NONE;
  TRY(op_call(c->exec, &clone_ref, 2, (IValue[]){call_value(c, 0), call_value(c, 1)}, 1, &out));
  call_set(c, 0, out);
  return OK;
}

/* For bodies: self in the format that the strides of `like` suggest. */
static Status kernel_contiguous_as(Call *c) {
  Tensor *self = call_tensor(c, 0);
  MemoryFormat format = tensor_suggested_format(call_tensor(c, 1));
  int64_t strides[TENSOR_MAX_DIMS];
  IValue out = IVALUE_NONE;
  TRY(strides_of_format(format, self->ndim, self->sizes, NULL, strides));
  if (!memcmp(strides, self->strides, self->ndim * sizeof *strides)) {
    call_set_tensor(c, 0, tensor_retain(self));
    return OK;
  }
  TRY(op_call(c->exec, &clone_ref, 2, (IValue[]){call_value(c, 0), ivalue_int(format)}, 1, &out));
  call_set(c, 0, out);
  return OK;
}

/* ---- sizes and storage in place ---- */
static Status resize(Call *c, int ndim, const int64_t *sizes, MemoryFormat format) {
  Tensor *self = call_tensor(c, 0);
  int64_t strides[TENSOR_MAX_DIMS];
  if (self->flags & TENSOR_RECORDS) return status_new(ERROR_RUNTIME, "cannot resize variables that require grad");
  if (format == FORMAT_PRESERVE) return status_new(ERROR_RUNTIME, "Unsupported memory format Preserve");
  bool same = self->ndim == ndim && (ndim == 0 || memcmp(self->sizes, sizes, (size_t)ndim * sizeof *sizes) == 0);
  size_t had = self->storage ? self->storage->bytes : 0;
  if (!same) TRY(tensor_resize(self, ndim, sizes));
  if (self->storage && self->storage->bytes > had) /* nobody sees what was in that memory, and every run the same */
    memset((char *)self->storage->data + had, 0, self->storage->bytes - had);
  if (format != FORMAT_CONTIGUOUS) {
    TRY(strides_of_format(format, ndim, sizes, NULL, strides));
    TRY(tensor_set_sizes(self, ndim, sizes, strides));
  }
  call_set_tensor(c, 0, tensor_retain(self));
  return OK;
}

static Status kernel_resize_(Call *c) {
  size_t count;
  const int64_t *sizes = call_ints(c, 1, &count);
  if (count > TENSOR_MAX_DIMS)
    return status_new(ERROR_UNSUPPORTED, "tensors of more than %d dimensions", TENSOR_MAX_DIMS);
  return resize(c, (int)count, sizes, (MemoryFormat)call_int_or(c, 2, FORMAT_CONTIGUOUS));
}

static Status kernel_resize_as_(Call *c) {
  const Tensor *like = call_tensor(c, 1);
  MemoryFormat format = (MemoryFormat)call_int_or(c, 2, FORMAT_CONTIGUOUS);
  int64_t sizes[TENSOR_MAX_DIMS] = {0}; /* the template may be self */
  if (like->ndim) memcpy(sizes, like->sizes, like->ndim * sizeof *sizes);
  return resize(c, like->ndim, sizes, format == FORMAT_PRESERVE ? tensor_suggested_format(like) : format);
}

static Status set_storage(Call *c, Storage *storage, int64_t offset, int ndim, const int64_t *sizes,
                          const int64_t *strides) {
  Tensor *self = call_tensor(c, 0);
  TRY(tensor_set_storage(self, storage, offset, ndim, sizes, strides));
  call_set_tensor(c, 0, tensor_retain(self));
  return OK;
}

static Status kernel_set_(Call *c) {
  Storage *empty;
  TRY(storage_new(0, &empty));
  Status status = set_storage(c, empty, 0, 1, (int64_t[]){0}, NULL);
  storage_release(empty);
  return status;
}
static Status kernel_set_tensor_(Call *c) {
  const Tensor *source = call_tensor(c, 1);
  return set_storage(c, source->storage, source->offset, source->ndim, source->sizes, source->strides);
}
static Status kernel_set_whole_storage_(Call *c) {
  Storage *storage = call_value(c, 1).storage;
  int64_t count = (int64_t)(storage->bytes / dtype_size((DType)call_tensor(c, 0)->dtype));
  return set_storage(c, storage, 0, 1, &count, NULL);
}

/* A row-major view may reach beyond what the storage has: it grows, as under resize_. */
static Status grow_to_hold(Call *c, Storage *storage, int64_t offset, int ndim, const int64_t *sizes) {
  int64_t numel, last;
  size_t bytes;
  TRY(sizes_numel(ndim, sizes, &numel));
  if (numel == 0 || offset < 0 || !int64_add(numel, offset, &last)) return OK;
  if (!size_mul((size_t)last, dtype_size((DType)call_tensor(c, 0)->dtype), &bytes) || bytes <= storage->bytes)
    return OK;
  return storage_resize(storage, bytes);
}

static Status set_parts(Call *c, Storage *storage) { /* (self, source, storage_offset, size, stride) */
  size_t ndim, stride_count;
  const int64_t *sizes = call_ints(c, 3, &ndim), *strides = call_ints(c, 4, &stride_count);
  if (ndim > TENSOR_MAX_DIMS)
    return status_new(ERROR_UNSUPPORTED, "tensors of more than %d dimensions", TENSOR_MAX_DIMS);
  if (stride_count && stride_count != ndim)
    return status_new(ERROR_RUNTIME, "unequal size length (%zu) and stride length (%zu)", ndim, stride_count);
  if (!stride_count) TRY(grow_to_hold(c, storage, call_int(c, 2), (int)ndim, sizes));
  return set_storage(c, storage, call_int(c, 2), (int)ndim, sizes, stride_count ? strides : NULL);
}
static Status kernel_set_storage_parts_(Call *c) {
  return set_parts(c, call_value(c, 1).storage);
}
static Status kernel_set_tensor_parts_(Call *c) {
  return set_parts(c, call_tensor(c, 1)->storage);
}

#define CONVERT(text, ...) \
  { .schema = text, .flags = OP_COMPOSITE | OP_ACCEPT_ANY, .kernel = __VA_ARGS__ }
#define SET(text, kernel_function) \
  { .schema = text, .kernel = kernel_function, .flags = OP_NOT_DIFFERENTIABLE | OP_RESHAPES | OP_ACCEPT_CONJ }

/* The schema hides that the result may be self. */
#define CAST_ROW(name, dtype)                                                                                 \
  {                                                                                                           \
    .schema = "aten::_cast_" #name "(Tensor self, bool non_blocking=False) -> Tensor", .kernel = kernel_cast, \
    .param = dtype, .flags = OP_COMPOSITE | OP_ACCEPT_ANY | OP_RETURNS_ARGUMENT                               \
  }
static const OpRow rows[] = {
    {.schema = "aten::clone(Tensor self, *, MemoryFormat? memory_format=None) -> Tensor",
     .shape = shape_clone,
     .kernel = kernel_copy,
     .grad = "self: grad",
     .flags = OP_OUT | OP_ACCEPT_CONJ | OP_ACCEPT_QUANTIZED | OP_ACCEPT_DEVICES | OP_ACCEPT_LIMITED},
    {.schema = "aten::_to_copy(Tensor self, *, " OPTIONS
               ", bool non_blocking=False, MemoryFormat? memory_format=None) -> Tensor",
     .shape = shape_to_copy,
     .kernel = kernel_copy,
     .grad = "self: grad.to(self.dtype)",
     .flags = OP_ACCEPT_CONJ | OP_ACCEPT_META | OP_ACCEPT_DEVICES | OP_ACCEPT_LIMITED},
    CONVERT("aten::to.dtype(Tensor(a) self, ScalarType dtype, bool non_blocking=False, bool copy=False, MemoryFormat? "
            "memory_format=None) -> Tensor(a)",
            kernel_to_dtype),
    CONVERT(
        "aten::to.device(Tensor(a) self, Device device, ScalarType dtype, bool non_blocking=False, bool copy=False, "
        "MemoryFormat? memory_format=None) -> Tensor(a)",
        kernel_to_device),
    CONVERT("aten::to.dtype_layout(Tensor(a) self, *, " OPTIONS ", bool non_blocking=False, bool copy=False, "
            "MemoryFormat? memory_format=None) -> Tensor(a)",
            kernel_to_dtype_layout),
    CONVERT("aten::to.other(Tensor(a) self, Tensor other, bool non_blocking=False, bool copy=False, MemoryFormat? "
            "memory_format=None) -> Tensor(a)",
            kernel_to_other),
    CONVERT("aten::to.prim_Device(Tensor(a) self, Device? device, int? dtype=None, bool non_blocking=False, bool "
            "copy=False) -> Tensor(b|a)",
            kernel_to_prim_device),
    CONVERT(
        "aten::to.prim_dtype(Tensor(a) self, int? dtype=None, bool non_blocking=False, bool copy=False) -> Tensor(b|a)",
        kernel_to_prim_dtype),
    CONVERT("aten::to.prim_other(Tensor(a) self, bool non_blocking=False, bool copy=False) -> Tensor(b|a)",
            kernel_to_prim_other),
    {.schema = "aten::type_as(Tensor self, Tensor other) -> Tensor",
     .kernel = kernel_type_as,
     .flags = OP_COMPOSITE | OP_ACCEPT_ANY | OP_RETURNS_ARGUMENT | OP_METADATA_OTHERS},
    CONVERT("aten::cpu(Tensor(a) self) -> Tensor(b|a)", kernel_to_device_type, .param = DEVICE_CPU),
    CONVERT("aten::cuda(Tensor(a) self) -> Tensor(b|a)", kernel_to_device_type, .param = DEVICE_CUDA),
    CAST_ROW(Byte, DTYPE_UINT8),
    CAST_ROW(Char, DTYPE_INT8),
    CAST_ROW(Short, DTYPE_INT16),
    CAST_ROW(Int, DTYPE_INT32),
    CAST_ROW(Long, DTYPE_INT64),
    CAST_ROW(Half, DTYPE_FLOAT16),
    CAST_ROW(Float, DTYPE_FLOAT32),
    CAST_ROW(Double, DTYPE_FLOAT64),
    CONVERT("aten::_autocast_to_full_precision(Tensor(a) self, bool cuda_enabled, bool cpu_enabled) -> Tensor(a)",
            kernel_full_precision),
    CONVERT("aten::_autocast_to_reduced_precision(Tensor(a) self, bool cuda_enabled, bool cpu_enabled, ScalarType "
            "cuda_dtype, "
            "ScalarType cpu_dtype) -> Tensor(a)",
            kernel_reduced_precision),
    CONVERT("aten::contiguous(Tensor(a) self, *, MemoryFormat memory_format=0) -> Tensor(a)", kernel_contiguous),
    CONVERT("aten::_contiguous_as(Tensor(a) self, Tensor like) -> Tensor(a)", kernel_contiguous_as),
    {.schema = "aten::resize(Tensor self, SymInt[] size, *, MemoryFormat? memory_format=None) -> Tensor",
     .body = "return self.detach().clone().resize_(size, memory_format=memory_format)"},
    {.schema = "aten::resize_as(Tensor self, Tensor the_template, *, MemoryFormat? memory_format=None) -> Tensor",
     .body = "return self.detach().clone().resize_as_(the_template, memory_format=memory_format)"},
    {.schema = "aten::_to_cpu(Tensor[] tensors) -> Tensor[]",
     .body = "return [t.cpu() for t in tensors]",
     .flags = OP_RETURNS_ARGUMENT},
    SET("aten::resize_(Tensor(a!) self, SymInt[] size, *, MemoryFormat? memory_format=None) -> Tensor(a!)",
        kernel_resize_),
    SET("aten::resize_as_(Tensor(a!) self, Tensor the_template, *, MemoryFormat? memory_format=None) -> Tensor(a!)",
        kernel_resize_as_),
    SET("aten::set_(Tensor(a!) self) -> Tensor(a!)", kernel_set_),
    SET("aten::set_.source_Tensor(Tensor(a!) self, Tensor source) -> Tensor(a!)", kernel_set_tensor_),
    SET("aten::set_.source_Tensor_storage_offset(Tensor(a!) self, Tensor source, SymInt storage_offset, SymInt[] size, "
        "SymInt[] stride=[]) -> Tensor(a!)",
        kernel_set_tensor_parts_),
    SET("aten::set_.source_Storage(Tensor(a!) self, Storage source) -> Tensor(a!)", kernel_set_whole_storage_),
    SET("aten::set_.source_Storage_storage_offset(Tensor(a!) self, Storage source, SymInt storage_offset, SymInt[] "
        "size, SymInt[] stride=[]) -> Tensor(a!)",
        kernel_set_storage_parts_),
};

OP_TABLE(op_table_to, rows);
