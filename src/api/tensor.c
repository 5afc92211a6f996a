/* Tensors across the border: new, borrowed, viewed. */
#include "api/handles.h"

#include <assert.h>

#include "base/output_file.h"
#include "serial/serial.h"
#include "tensor/quantizer.h"
#include "tensor/storage_share.h"

static Status check_shape(uint32_t dtype, int32_t ndim) {
  if (!dtype_is_valid(dtype) || dtype_is_quantized((DType)dtype) || dtype == DTYPE_COMPLEX32)
    return status_new(ERROR_INVALID_ARGUMENT, "%u is no dtype that tensors can have", dtype);
  if (ndim < 0 || ndim > TENSOR_MAX_DIMS)
    return status_new(ERROR_INVALID_ARGUMENT, "a tensor of %d dimensions (at most %d)", ndim, TENSOR_MAX_DIMS);
  return OK;
}

wick_status wick_tensor_new(uint32_t dtype, int32_t ndim, const int64_t *sizes, wick_value **out, wick_error **error) {
  Tensor *tensor;
  API_OUT(out);
  API_TRY(check_shape(dtype, ndim));
  if (ndim) API_NEED(sizes);
  API_TRY(tensor_empty((DType)dtype, ndim, sizes, &tensor));
  return api_status(value_box(ivalue_tensor(tensor), out), error);
}

typedef struct Borrowed {
  void (*drop)(void *user);
  void *user;
} Borrowed;
static void drop_borrowed(void *context, void *data, size_t bytes) {
  (void)data, (void)bytes;
  Borrowed *borrowed = context;
  if (borrowed->drop) borrowed->drop(borrowed->user);
  mem_free(borrowed);
}

/* Bytes from the first to after the last element. */
static Status extent(DType dtype, int32_t ndim, const int64_t *sizes, const int64_t *strides, size_t *out) {
  assert(ndim >= 0 && ndim <= TENSOR_MAX_DIMS);
  int64_t last = 0, numel;
  TRY(sizes_numel(ndim, sizes, &numel));
  for (int i = 0; i < ndim && numel; i++) {
    int64_t span;
    if (strides[i] < 0) return status_new(ERROR_INVALID_ARGUMENT, "stride %d is negative", i);
    if (!int64_mul(sizes[i] - 1, strides[i], &span) || !int64_add(last, span, &last))
      return status_new(ERROR_INVALID_ARGUMENT, "the tensor's sizes and strides overflow");
  }
  if (!size_mul(numel ? (size_t)last + 1 : 0, dtype_size(dtype), out))
    return status_new(ERROR_INVALID_ARGUMENT, "the tensor's sizes and strides overflow");
  return OK;
}

wick_status wick_tensor_borrow(void *data, uint32_t dtype, int32_t ndim, const int64_t *sizes, const int64_t *strides,
                               void (*drop)(void *user), void *user, wick_value **out, wick_error **error) {
  int64_t dense[TENSOR_MAX_DIMS];
  size_t bytes, alignment;
  Storage *storage;
  Tensor *tensor;
  API_OUT(out);
  API_TRY(check_shape(dtype, ndim));
  if (ndim) API_NEED(sizes);
  if (!strides) {
    int64_t numel;
    API_TRY(sizes_numel(ndim, sizes, &numel));
    strides_contiguous(ndim, sizes, dense);
    strides = dense;
  }
  API_TRY(extent((DType)dtype, ndim, sizes, strides, &bytes));
  if (bytes > UINTPTR_MAX - (uintptr_t)data)
    return api_status(status_new(ERROR_INVALID_ARGUMENT, "wick_tensor_borrow: the tensor's end lies out of memory"),
                      error);
  alignment = dtype_is_complex((DType)dtype) ? dtype_size((DType)dtype) / 2 : dtype_size((DType)dtype);
  if (bytes && (!data || (uintptr_t)data % alignment))
    return api_status(status_new(ERROR_INVALID_ARGUMENT, "wick_tensor_borrow: data %s",
                                 data ? "is not aligned for its dtype" : "is NULL"),
                      error);
  Borrowed *borrowed = mem_calloc(1, sizeof *borrowed);
  if (!borrowed) return api_status(status_out_of_memory(), error);
  Status status = storage_from_data(data, bytes, drop_borrowed, borrowed, &storage);
  if (status) {
    mem_free(borrowed);
    return api_status(status, error);
  }
  atomic_store(&storage->is_shown, true);
  status = tensor_from_storage(storage, (DType)dtype, ndim, sizes, strides, 0, &tensor);
  if (!status) status = value_box(ivalue_tensor(tensor), out);
  if (!status) *borrowed = (Borrowed){drop, user}; /* only now: on failure the caller keeps the memory */
  storage_release(storage);
  return api_status(status, error);
}

wick_status wick_tensor_spec_of(const wick_value *tensor, wick_tensor_spec *out, wick_error **error) {
  API_NEED(tensor);
  API_NEED(out);
  *out = (wick_tensor_spec){0};
  if (tensor->value.tag != TAG_TENSOR || !tensor_is_defined(tensor->value.tensor))
    return api_status(status_new(ERROR_INVALID_ARGUMENT, "the value is no tensor"), error);
  const Tensor *t = tensor->value.tensor;
  out->dtype = t->dtype;
  out->ndim = t->ndim;
  memcpy(out->sizes, t->sizes, (size_t)t->ndim * sizeof *t->sizes);
  return api_status(OK, error);
}

void api_view_tensor(const Tensor *t, wick_tensor_view *out) {
  Device device = tensor_device(t);
  *out = (wick_tensor_view){
      .size = sizeof *out,
      .dtype = t->dtype,
      .ndim = t->ndim,
      .device_type = device.type,
      .device_index = device.index,
      .flags = (tensor_records(t) ? WICK_TENSOR_REQUIRES_GRAD : 0) | (t->flags & TENSOR_CONJ ? WICK_TENSOR_CONJ : 0),
      .sizes = t->sizes,
      .strides = t->strides,
      .data = tensor_memory(t)};
}

wick_status wick_tensor_view_of(const wick_value *tensor, wick_tensor_view *out, wick_error **error) {
  API_NEED(tensor);
  API_NEED(out);
  uint32_t size = out->size;
  API_TRY(api_check_size("wick_tensor_view", size));
  if (tensor->value.tag != TAG_TENSOR)
    return api_status(status_new(ERROR_INVALID_ARGUMENT, "the value is no tensor"), error);
  const Tensor *t = tensor->value.tensor;
  wick_tensor_view view = {.size = size};
  if (!tensor_is_defined(t)) {
    view.flags = WICK_TENSOR_UNDEFINED;
    view.ndim = 1;
    static const int64_t zero, one = 1;
    view.sizes = &zero;
    view.strides = &one;
  } else {
    API_TRY(tensor_check_host(t));
    if (t->flags & (TENSOR_SPARSE | TENSOR_META | TENSOR_OPAQUE | TENSOR_NEG))
      return api_status(status_new(ERROR_UNSUPPORTED, "the tensor has no plain memory"), error);
    if (t->storage) API_TRY(storage_show(t->storage));
    api_view_tensor(t, &view);
    view.size = size;
  }
  memcpy(out, &view, size < sizeof view ? size : sizeof view);
  return api_status(OK, error);
}

static uint32_t info_flags(const Tensor *t) {
  static const struct {
    uint32_t of_tensor, shown;
  } same[] = {{TENSOR_CONJ, WICK_INFO_CONJ},           {TENSOR_NEG, WICK_INFO_NEG},
              {TENSOR_SPARSE, WICK_INFO_SPARSE},       {TENSOR_META, WICK_INFO_META},
              {TENSOR_QUANTIZED, WICK_INFO_QUANTIZED}, {TENSOR_OPAQUE | TENSOR_NOT_CPU, WICK_INFO_OPAQUE}};
  uint32_t flags = tensor_records(t) ? WICK_INFO_REQUIRES_GRAD : 0;
  bool made = tensor_catch_up((Tensor *)(uintptr_t)t) & TENSOR_HAS_GRAD_FN;
  if (!made) flags |= WICK_INFO_LEAF;
  if (t->contiguous) flags |= WICK_INFO_CONTIGUOUS;
  if (t->storage && t->storage->flags & STORAGE_READ_ONLY) flags |= WICK_INFO_READ_ONLY;
  for (size_t i = 0; i < sizeof same / sizeof *same; i++)
    if (t->flags & same[i].of_tensor) flags |= same[i].shown;
  return flags;
}

wick_status wick_tensor_info_of(const wick_value *tensor, wick_tensor_info *out, wick_error **error) {
  API_NEED(tensor);
  API_NEED(out);
  uint32_t size = out->size;
  API_TRY(api_check_size("wick_tensor_info", size));
  if (tensor->value.tag != TAG_TENSOR)
    return api_status(status_new(ERROR_INVALID_ARGUMENT, "the value is no tensor"), error);
  const Tensor *t = tensor->value.tensor;
  wick_tensor_info info = {.size = size, .flags = WICK_INFO_UNDEFINED};
  if (tensor_is_defined(t)) {
    Device device = tensor_device(t);
    info = (wick_tensor_info){.size = size,
                              .dtype = t->dtype,
                              .flags = info_flags(t),
                              .ndim = t->ndim,
                              .device_type = device.type,
                              .device_index = device.index,
                              .count = t->numel,
                              .offset = t->offset,
                              .storage_bytes = t->storage ? t->storage->bytes : 0,
                              .version = t->storage ? atomic_load(&t->storage->version) : 0,
                              .sizes = t->sizes,
                              .strides = t->strides};
  }
  memcpy(out, &info, size < sizeof info ? size : sizeof info);
  return api_status(OK, error);
}

uint32_t wick_default_dtype(void) {
  return dtype_default();
}
wick_status wick_set_default_dtype(uint32_t dtype, wick_error **error) {
  if (!dtype_is_valid(dtype) || !dtype_is_floating((DType)dtype) || dtype_is_float8((DType)dtype))
    return api_status(status_new(ERROR_INVALID_ARGUMENT, "%u is no floating dtype", dtype), error);
  if (dtype != dtype_default()) {
    dtype_set_default((DType)dtype);
    wick_trim();
  }
  return api_status(OK, error);
}

static bool is_defined_tensor(const wick_value *value) {
  return value && value->value.tag == TAG_TENSOR && tensor_is_defined(value->value.tensor);
}

void *wick_tensor_mark(const wick_value *tensor) {
  return is_defined_tensor(tensor) ? tensor->value.tensor->mark : NULL;
}
void wick_tensor_set_mark(wick_value *tensor, void *mark) {
  if (is_defined_tensor(tensor)) tensor->value.tensor->mark = mark; /* the undefined one is everybody's */
}

wick_status wick_tensor_set_data(wick_value *tensor, const wick_value *source, wick_error **error) {
  API_NEED(tensor);
  API_NEED(source);
  if (!is_defined_tensor(tensor) || !is_defined_tensor(source))
    return api_status(status_new(ERROR_INVALID_ARGUMENT, "the value is no tensor"), error);
  return api_status(tensor_set_data(tensor->value.tensor, source->value.tensor), error);
}

wick_status wick_tensor_quantizer_of(const wick_value *tensor, wick_quantizer *out, wick_error **error) {
  API_NEED(tensor);
  API_NEED(out);
  API_TRY(api_check_size("wick_quantizer", out->size));
  if (tensor->value.tag != TAG_TENSOR || !tensor_is_defined(tensor->value.tensor) ||
      !tensor_is_quantized(tensor->value.tensor))
    return api_status(status_new(ERROR_INVALID_ARGUMENT, "the value is no quantized tensor"), error);
  const Quantizer *q = tensor_quantizer(tensor->value.tensor);
  wick_quantizer quantizer = {
      .size = out->size, .scheme = q->scheme, .scale = q->scale, .zero_point = q->zero_point, .axis = q->axis};
  if (!quantizer_is_per_tensor(q)) {
    bool is_float = q->scheme == QSCHEME_PER_CHANNEL_AFFINE_FLOAT_QPARAMS;
    quantizer.channels = q->scales->numel;
    quantizer.scales = is_float ? NULL : tensor_data(q->scales);
    quantizer.zero_points = is_float ? NULL : tensor_data(q->zero_points);
    quantizer.float_scales = is_float ? tensor_data(q->scales) : NULL;
    quantizer.float_zero_points = is_float ? tensor_data(q->zero_points) : NULL;
  }
  memcpy(out, &quantizer, out->size < sizeof quantizer ? out->size : sizeof quantizer);
  return api_status(OK, error);
}

wick_status wick_tensor_contiguous(const wick_value *tensor, wick_value **out, wick_error **error) {
  Tensor *dense;
  API_OUT(out);
  API_NEED(tensor);
  if (tensor->value.tag != TAG_TENSOR || !tensor_is_defined(tensor->value.tensor))
    return api_status(status_new(ERROR_INVALID_ARGUMENT, "the value is no tensor"), error);
  API_TRY(tensor_contiguous(tensor->value.tensor, &dense));
  return api_status(value_box(ivalue_tensor(dense), out), error);
}

const char *wick_dtype_name(uint32_t dtype) {
  return dtype_is_valid(dtype) ? dtype_name((DType)dtype) : "";
}
size_t wick_dtype_bytes(uint32_t dtype) {
  return dtype_is_valid(dtype) ? dtype_size((DType)dtype) : 0;
}

static Status npy_of(const wick_value *value, StrBuf *out) {
  if (value->value.tag != TAG_TENSOR || !tensor_is_defined(value->value.tensor))
    return status_new(ERROR_INVALID_ARGUMENT, "the value is no tensor");
  return npy_write(value->value.tensor, out);
}

wick_status wick_tensor_to_npy(const wick_value *tensor, char **out_data, size_t *out_length, wick_error **error) {
  StrBuf bytes = {0};
  API_OUT(out_data);
  API_OUT(out_length);
  API_NEED(tensor);
  Status status = npy_of(tensor, &bytes);
  size_t length = bytes.length;
  if (!status) status = strbuf_take(&bytes, out_data);
  if (status) {
    strbuf_dispose(&bytes);
  } else {
    *out_length = length;
  }
  return api_status(status, error);
}

wick_status wick_tensor_save_npy(const wick_value *tensor, const char *path, wick_error **error) {
  StrBuf bytes = {0};
  API_NEED(tensor);
  API_NEED(path);
  Status status = npy_of(tensor, &bytes);
  if (!status && bytes.failed) status = status_out_of_memory();
  if (!status) status = output_file_save(path, strbuf_view(&bytes));
  strbuf_dispose(&bytes);
  return api_status(status, error);
}

wick_status wick_tensors_save_npz(const wick_value *tensors, const char *path, wick_error **error) {
  API_NEED(tensors);
  API_NEED(path);
  if (tensors->value.tag != TAG_DICT)
    return api_status(status_new(ERROR_INVALID_ARGUMENT, ".npz holds tensors by name"), error);
  return api_status(npz_export(tensors->value.dict, path), error);
}
