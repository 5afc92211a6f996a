/* DLPack: the layout of its structs as the standard fixes it (version 0.x, which all producers speak). */
#include "api/handles.h"
#include "tensor/storage_share.h"
#include "wick/dlpack.h"

enum {
  DL_CPU = 1,
  DL_INT = 0,
  DL_UINT = 1,
  DL_FLOAT = 2,
  DL_BFLOAT = 4,
  DL_COMPLEX = 5,
  DL_BOOL = 6,
  DL_FLOAT8_E4M3FN = 10,
  DL_FLOAT8_E4M3FNUZ = 11,
  DL_FLOAT8_E5M2 = 12,
  DL_FLOAT8_E5M2FNUZ = 13,
  DL_FLOAT8_E8M0FNU = 14
};
typedef struct DLTensorData {
  void *data;
  struct {
    int32_t type, id;
  } device;
  int32_t ndim;
  struct {
    uint8_t code, bits;
    uint16_t lanes;
  } dtype;
  int64_t *shape, *strides;
  uint64_t byte_offset;
} DLTensorData;
typedef struct DLManaged {
  DLTensorData tensor;
  void *manager;
  void (*deleter)(struct DLManaged *self);
} DLManaged;

static const struct {
  DType dtype;
  uint8_t code, bits;
} dtype_rows[] = {
    {DTYPE_UINT8, DL_UINT, 8},
    {DTYPE_INT8, DL_INT, 8},
    {DTYPE_INT16, DL_INT, 16},
    {DTYPE_INT32, DL_INT, 32},
    {DTYPE_INT64, DL_INT, 64},
    {DTYPE_FLOAT16, DL_FLOAT, 16},
    {DTYPE_FLOAT32, DL_FLOAT, 32},
    {DTYPE_FLOAT64, DL_FLOAT, 64},
    {DTYPE_BFLOAT16, DL_BFLOAT, 16},
    {DTYPE_COMPLEX64, DL_COMPLEX, 64},
    {DTYPE_COMPLEX128, DL_COMPLEX, 128},
    {DTYPE_BOOL, DL_BOOL, 8},
    {DTYPE_UINT16, DL_UINT, 16},
    {DTYPE_UINT32, DL_UINT, 32},
    {DTYPE_UINT64, DL_UINT, 64},
    {DTYPE_FLOAT8_E4M3FN, DL_FLOAT8_E4M3FN, 8},
    {DTYPE_FLOAT8_E4M3FNUZ, DL_FLOAT8_E4M3FNUZ, 8},
    {DTYPE_FLOAT8_E5M2, DL_FLOAT8_E5M2, 8},
    {DTYPE_FLOAT8_E5M2FNUZ, DL_FLOAT8_E5M2FNUZ, 8},
    {DTYPE_FLOAT8_E8M0FNU, DL_FLOAT8_E8M0FNU, 8},
};

typedef struct Exported {
  DLManaged managed; /* first */
  Tensor *tensor;
  int64_t sizes[TENSOR_MAX_DIMS], strides[TENSOR_MAX_DIMS];
} Exported;
static void delete_exported(DLManaged *self) {
  Exported *exported = (Exported *)self;
  tensor_release(exported->tensor);
  mem_free(exported);
}

wick_status wick_tensor_to_dlpack(const wick_value *tensor, struct DLManagedTensor **out, wick_error **error) {
  API_OUT(out);
  API_NEED(tensor);
  const Tensor *t = tensor->value.tag == TAG_TENSOR ? tensor->value.tensor : NULL;
  if (!t || !tensor_is_defined(t))
    return api_status(status_new(ERROR_INVALID_ARGUMENT, "the value is no tensor"), error);
  API_TRY(tensor_check_host(t));
  if (t->flags & TENSOR_UNUSUAL & ~TENSOR_LIMITED)
    return api_status(status_new(ERROR_UNSUPPORTED, "DLPack: the tensor has no plain memory"), error);
  if (t->flags & TENSOR_RECORDS)
    return api_status(status_new(ERROR_INVALID_ARGUMENT, "DLPack: the tensor requires grad; detach it"), error);
  if (t->storage) API_TRY(storage_show(t->storage));
  Exported *exported = mem_calloc(1, sizeof *exported);
  if (!exported) return api_status(status_out_of_memory(), error);
  DLTensorData *d = &exported->managed.tensor;
  for (size_t i = 0; i < sizeof dtype_rows / sizeof *dtype_rows; i++)
    if (dtype_rows[i].dtype == (DType)t->dtype) {
      d->dtype.code = dtype_rows[i].code;
      d->dtype.bits = dtype_rows[i].bits;
      d->dtype.lanes = 1;
    }
  if (!d->dtype.lanes) {
    mem_free(exported);
    return api_status(status_new(ERROR_UNSUPPORTED, "DLPack has no type for %s", dtype_name((DType)t->dtype)), error);
  }
  exported->tensor = tensor_retain(t);
  for (int dim = 0; dim < t->ndim; dim++) {
    exported->sizes[dim] = t->sizes[dim];
    exported->strides[dim] = t->sizes[dim] < 2 ? 1 : t->strides[dim]; /* as PyTorch: nothing steps there */
  }
  d->data = tensor_data(t);
  d->device.type = DL_CPU;
  d->ndim = t->ndim;
  d->shape = exported->sizes;
  d->strides = exported->strides;
  exported->managed.deleter = delete_exported;
  *out = (struct DLManagedTensor *)&exported->managed;
  return api_status(OK, error);
}

/* Where the first element lies: no object is so large that an offset in it exceeds PTRDIFF_MAX. */
static Status place_of(const DLTensorData *d, char **out) {
  uintptr_t place;
  *out = d->data;
  if (!d->byte_offset) return OK;
  if (!d->data || d->byte_offset > PTRDIFF_MAX || __builtin_add_overflow((uintptr_t)d->data, d->byte_offset, &place))
    return status_new(ERROR_INVALID_ARGUMENT, "DLPack: byte_offset %llu leads out of memory",
                      (unsigned long long)d->byte_offset);
  *out = (char *)place;
  return OK;
}

static void drop_managed(void *user) {
  DLManaged *managed = user;
  if (managed->deleter) managed->deleter(managed);
}

wick_status wick_tensor_from_dlpack(struct DLManagedTensor *managed, wick_value **out, wick_error **error) {
  if (out) *out = NULL;
  API_NEED(managed);
  DLManaged *given = (DLManaged *)managed;
  const DLTensorData *d = &given->tensor;
  wick_error *failure = NULL;
  wick_status status = WICK_OK;
  DType dtype = DTYPE_NONE;
  char *place;
  for (size_t i = 0; i < sizeof dtype_rows / sizeof *dtype_rows; i++)
    if (dtype_rows[i].code == d->dtype.code && dtype_rows[i].bits == d->dtype.bits && d->dtype.lanes == 1)
      dtype = dtype_rows[i].dtype;
  if (!out) {
    status = api_status(api_null(__func__, "out"), &failure);
  } else if (d->device.type != DL_CPU) {
    status = api_status(status_new(ERROR_UNSUPPORTED, "DLPack: a tensor on device %d", d->device.type), &failure);
  } else if (dtype == DTYPE_NONE) {
    status = api_status(
        status_new(ERROR_UNSUPPORTED, "DLPack: dtype code %d with %d bits", d->dtype.code, d->dtype.bits), &failure);
  } else if (!(status = api_status(place_of(d, &place), &failure))) {
    status = wick_tensor_borrow(place, dtype, d->ndim, d->shape, d->strides, drop_managed, given, out, &failure);
  }
  if (status) drop_managed(given);
  if (error) {
    *error = failure;
  } else {
    wick_error_free(failure);
  }
  return status;
}
