/* Arguments of rows that make tensors. */
#include "call/options.h"

#include <assert.h>
#include <math.h>

#include "tensor/device_class.h"
#include "tensor/device_map.h"
#include "tensor/iterate.h"
#include "tensor/storage_share.h"

Status options_device(const Call *c, uint32_t at, Device *out) {
  *out = call_value(c, at).device;
  if (device_is_there(*out)) return OK;
  *out = device_map_apply(c->exec->device_map, *out);
  return device_is_there(*out) ? OK : device_is_missing(*out);
}

Status options_read(const Call *c, uint32_t at, DType fallback, TensorSpec *spec) {
  int64_t dtype = call_int_or(c, at, fallback), layout = call_int_or(c, at + 1, 0);
  if (!dtype_is_valid(dtype)) return status_new(ERROR_RUNTIME, "Unrecognized dtype %lld", (long long)dtype);
  if (layout != 0) return status_new(ERROR_UNSUPPORTED, "making tensors of a layout other than strided");
  if (dtype_is_quantized((DType)dtype))
    return status_new(ERROR_UNSUPPORTED, "making quantized tensors without a quantizer");
  spec->dtype = (DType)dtype;
  if (!call_is_none(c, at + 2)) TRY(options_device(c, at + 2, &spec->device));
  if (spec->device.type == DEVICE_META) spec->flags |= TENSOR_META;
  if (!call_is_none(c, at + 3) && call_bool(c, at + 3))
    return status_new(ERROR_RUNTIME, "Need to provide pin_memory allocator to use pin memory.");
  return OK;
}

Status sizes_read(const Call *c, uint32_t at, TensorSpec *spec) {
  size_t count;
  const int64_t *sizes = call_ints(c, at, &count);
  if (count > TENSOR_MAX_DIMS)
    return status_new(ERROR_UNSUPPORTED, "tensors of more than %d dimensions", TENSOR_MAX_DIMS);
  spec->ndim = (int)count;
  spec->has_strides = false;
  if (count) memcpy(spec->sizes, sizes, count * sizeof *sizes);
  return OK;
}

Status format_read(const Call *c, uint32_t at, MemoryFormat fallback, const Tensor *like, TensorSpec *spec) {
  MemoryFormat format = (MemoryFormat)call_int_or(c, at, fallback);
  if (format == FORMAT_CONTIGUOUS || (format == FORMAT_PRESERVE && (!like || like->row_major))) return OK;
  TRY(strides_of_format(format, spec->ndim, spec->sizes, like, spec->strides));
  spec->has_strides = true;
  return OK;
}

DType scalar_default_dtype(IValue scalar) {
  switch (scalar.tag) {
    case TAG_BOOL:
      return DTYPE_BOOL;
    case TAG_INT:
      return DTYPE_INT64;
    case TAG_COMPLEX:
      return dtype_default_complex();
    default:
      return dtype_default();
  }
}

/* Least and greatest value, and the C name that the message uses. */
static const struct {
  double least, greatest;
  const char *name;
} ranges[DTYPE_COUNT] = {
    [DTYPE_UINT8] = {0, 255, "uint8_t"},
    [DTYPE_INT8] = {-128, 127, "int8_t"},
    [DTYPE_INT16] = {-32768, 32767, "int16_t"},
    [DTYPE_INT32] = {-0x1p31, 0x1p31 - 1, "int"},
    [DTYPE_INT64] = {-0x1p63, 0x1p63, "int64_t"},
    [DTYPE_FLOAT16] = {-65504, 65504, "at::Half"},
    [DTYPE_FLOAT32] = {-0x1.fffffep127, 0x1.fffffep127, "float"},
    [DTYPE_FLOAT64] = {-INFINITY, INFINITY, "double"},
    [DTYPE_COMPLEX64] = {-0x1.fffffep127, 0x1.fffffep127, "c10::complex<float>"},
    [DTYPE_BFLOAT16] = {-0x1.fep127, 0x1.fep127, "at::BFloat16"},
    [DTYPE_UINT16] = {0, 65535, "uint16_t"},
    [DTYPE_UINT32] = {0, 0x1p32 - 1, "uint32_t"},
    [DTYPE_UINT64] = {0, 0x1p64, "uint64_t"},
};

static bool fits(IValue scalar, DType dtype) {
  if (dtype_is_float8(dtype)) return scalar.tag != TAG_COMPLEX || __builtin_cimag(ivalue_complex(scalar)) == 0;
  if (dtype == DTYPE_BOOL || !ranges[dtype].name) return true;
  if (scalar.tag == TAG_COMPLEX) {
    double imaginary = __builtin_cimag(ivalue_complex(scalar));
    if (dtype == DTYPE_COMPLEX64 ? isfinite(imaginary) && fabs(imaginary) > ranges[dtype].greatest : imaginary != 0)
      return false;
  }
  double value = scalar.tag == TAG_COMPLEX ? __builtin_creal(ivalue_complex(scalar)) : ivalue_to_double(scalar),
         least = ranges[dtype].least, greatest = ranges[dtype].greatest;
  if (dtype_is_floating(dtype) || dtype_is_complex(dtype))
    return !isfinite(value) || (value >= least && value <= greatest);
  bool is_widest = dtype == DTYPE_INT64 || dtype == DTYPE_UINT64;
  if (scalar.tag == TAG_INT && is_widest) return true;
  if (scalar.tag == TAG_INT && least == 0) least = -greatest; /* negative integers wrap */
  return value >= least && (is_widest ? value < greatest : value <= greatest);
}

Status scalar_to_element(IValue scalar, DType dtype, void *out) {
  assert(dtype < DTYPE_COUNT);
  if (!fits(scalar, dtype))
    return status_new(ERROR_RUNTIME, "value cannot be converted to type %s without overflow",
                      dtype_is_float8(dtype) ? "double" : ranges[dtype].name);
  if (scalar.tag == TAG_COMPLEX) {
    complex128 value = ivalue_complex(scalar);
    if (dtype == DTYPE_BOOL)
      *(uint8_t *)out = value != 0;
    else
      dtype_convert(dtype, out, 1, DTYPE_COMPLEX128, &value, 1, 1);
  } else if (scalar.tag == TAG_FLOAT) {
    dtype_convert(dtype, out, 1, DTYPE_FLOAT64, &scalar.f, 1, 1);
  } else {
    int64_t value = scalar.tag == TAG_BOOL ? scalar.b : scalar.i;
    dtype_convert(dtype, out, 1, DTYPE_INT64, &value, 1, 1);
  }
  return OK;
}

typedef struct FillRun {
  DType dtype;
  complex128 element; /* room for any dtype */
} FillRun;

static void fill_run(void *argument, int64_t n, char *const *data, const int64_t *strides) {
  FillRun *run = argument;
  dtype_convert(run->dtype, data[0], strides[0] / (int64_t)dtype_size(run->dtype), run->dtype, &run->element, 0, n);
}

Status tensor_fill_scalar(Tensor *t, IValue scalar) {
  FillRun run = {.dtype = (DType)t->dtype};
  if (dtype_is_quantized(run.dtype)) return status_new(ERROR_UNSUPPORTED, "filling quantized tensors");
  TRY(scalar_to_element(scalar, run.dtype, &run.element));
  TRY(tensor_check_writable(t));
  TRY(storage_own(t->storage));
  if (t->numel == 0 || !t->storage) return OK;
  if (t->flags & (TENSOR_CONJ | TENSOR_NEG)) {
    complex128 value;
    dtype_convert(DTYPE_COMPLEX128, &value, 1, run.dtype, &run.element, 1, 1);
    if (t->flags & TENSOR_CONJ) value = __builtin_conj(value);
    if (t->flags & TENSOR_NEG) value = -value;
    dtype_convert(run.dtype, &run.element, 1, DTYPE_COMPLEX128, &value, 1, 1);
  }
  if (t->flags & TENSOR_NOT_CPU) return device_fill(t, &run.element);
  static const complex128 zero;
  if (memcmp(&run.element, &zero, dtype_size(run.dtype)) == 0) {
    tensor_fill_zero(t);
    return OK;
  }
  Iterator it;
  TRY(iterator_init(&it, 1, (const Tensor *const[]){t}));
  iterator_run(&it, 0, it.numel, fill_run, &run);
  return OK;
}
