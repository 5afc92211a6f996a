#include "kit/kit.h"

#include <stdarg.h>
#include <stdio.h>

wick_status fail(wick_error **error, wick_status status, const char *format, ...) {
  char text[512];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  if (error) *error = wick_error_new(status, text);
  return status;
}

wick_status fail_memory(wick_error **error) {
  return fail(error, WICK_OUT_OF_MEMORY, "out of memory");
}

int64_t argument_int(wick_call *call, size_t index) {
  return argument_int_or(call, index, 0);
}

double argument_double(wick_call *call, size_t index) {
  wick_value *value = wick_call_argument(call, index);
  double result = wick_value_to_double(value);
  wick_value_release(value);
  return result;
}

bool argument_is_none(wick_call *call, size_t index) {
  wick_value *value = wick_call_argument(call, index);
  bool result = wick_value_kind(value) == WICK_NONE;
  wick_value_release(value);
  return result;
}

int64_t argument_int_or(wick_call *call, size_t index, int64_t otherwise) {
  wick_value *value = wick_call_argument(call, index);
  int64_t result = wick_value_kind(value) == WICK_NONE ? otherwise : wick_value_to_int(value);
  wick_value_release(value);
  return result;
}

/* ---- tensors ---- */

void dense_dispose(Dense *dense) {
  wick_value_release(dense->value);
  *dense = (Dense){0};
}

/* Takes value over. */
static wick_status describe(wick_value *value, Dense *out, wick_error **error) {
  wick_tensor_view view = {.size = sizeof view};
  out->value = value;
  TRY(wick_tensor_view_of(value, &view, error));
  out->sizes = view.sizes;
  out->data = view.data;
  out->numel = product(view.sizes, 0, view.ndim);
  out->dtype = view.dtype;
  out->ndim = view.ndim;
  return WICK_OK;
}

static wick_status convert(wick_call *call, const wick_value *value, uint32_t dtype, wick_value **out,
                           wick_error **error) {
  wick_value *wanted = wick_value_int(dtype), *no = wick_value_bool(0);
  wick_status status = fail_memory(NULL);
  if (wanted && no)
    status = wick_call_operator(call, "aten::to", "dtype", (const wick_value *const[]){value, wanted, no, no, NULL}, 5,
                                out, error);
  wick_value_release(wanted);
  wick_value_release(no);
  return status;
}

static bool is_plain(uint32_t dtype) {
  return dtype <= WICK_FLOAT64 || dtype == WICK_BOOL8 || dtype == WICK_BFLOAT16;
}

wick_status dense_of(wick_call *call, const wick_value *value, uint32_t dtype, Dense *out, wick_error **error) {
  wick_tensor_view view = {.size = sizeof view};
  wick_value *converted = NULL, *dense = NULL;
  TRY(wick_tensor_view_of(value, &view, error));
  if (view.flags & WICK_TENSOR_UNDEFINED) return fail(error, WICK_INVALID_ARGUMENT, "a tensor is undefined");
  if (!is_plain(view.dtype))
    return fail(error, WICK_INVALID_ARGUMENT, "not implemented for tensors of %s", wick_dtype_name(view.dtype));
  bool fits = dtype == ANY_DTYPE || dtype == view.dtype;
  if (!fits) TRY(convert(call, value, dtype, &converted, error));
  wick_status status = wick_tensor_contiguous(fits ? value : converted, &dense, error);
  wick_value_release(converted);
  return status ? status : describe(dense, out, error);
}

wick_status dense_argument(wick_call *call, size_t index, uint32_t dtype, Dense *out, wick_error **error) {
  wick_tensor_view view = {.size = sizeof view};
  TRY(wick_call_tensor(call, index, &view, error)); /* which names it */
  wick_value *value = wick_call_argument(call, index);
  if (!value) return fail_memory(error);
  wick_status status = dense_of(call, value, dtype, out, error);
  wick_value_release(value);
  return status;
}

wick_status dense_new(uint32_t dtype, int ndim, const int64_t *sizes, bool zero, Dense *out, wick_error **error) {
  wick_value *value;
  TRY(wick_tensor_new(dtype, ndim, sizes, &value, error));
  TRY(describe(value, out, error));
  static const uint8_t bytes[] = {1, 1, 2, 4, 8, 2, 4, 8};
  if (zero && out->numel) memset(out->data, 0, (size_t)out->numel * bytes[dtype]);
  return WICK_OK;
}

wick_status dense_give(wick_call *call, size_t index, const Dense *dense, uint32_t dtype, wick_error **error) {
  if (dense->dtype == dtype) {
    wick_call_set_result(call, index, dense->value);
    return WICK_OK;
  }
  wick_value *converted;
  TRY(convert(call, dense->value, dtype, &converted, error));
  wick_call_set_result(call, index, converted);
  wick_value_release(converted);
  return WICK_OK;
}

wick_status kernel_cuda_version(void *user, wick_call *call, wick_error **error) {
  (void)user;
  wick_value *none = wick_value_int(-1);
  if (!none) return fail_memory(error);
  wick_call_set_result(call, 0, none);
  wick_value_release(none);
  return WICK_OK;
}

bool dtype_is_floating(uint32_t dtype) {
  return (dtype >= WICK_FLOAT16 && dtype <= WICK_FLOAT64) || dtype == WICK_BFLOAT16;
}

uint32_t dtype_compute(uint32_t dtype) {
  return dtype == WICK_FLOAT64 ? WICK_FLOAT64 : dtype_is_floating(dtype) ? WICK_FLOAT32 : WICK_INT64;
}

int64_t product(const int64_t *sizes, int begin, int end) {
  int64_t result = 1;
  for (int i = begin; i < end; i++) result *= sizes[i];
  return result;
}

wick_status wrap_dim(int64_t *dim, int ndim, wick_error **error) {
  int64_t count = ndim ? ndim : 1;
  if (*dim < -count || *dim >= count)
    return fail(error, WICK_INVALID_ARGUMENT,
                "Dimension out of range (expected to be in range of [%lld, %lld], but got %lld)", (long long)-count,
                (long long)count - 1, (long long)*dim);
  if (*dim < 0) *dim += count;
  return WICK_OK;
}
