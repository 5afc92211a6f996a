/* Copying and filling tensors whose memory the host can't read. A device's row moves runs of bytes; dtypes, lazy
 * conjugation and negation are resolved on the host, so data that changes goes through a copy there. */
#include "tensor/device_class.h"
#include "tensor/layout.h"

enum { LAZY = TENSOR_CONJ | TENSOR_NEG };

/* A walk over a tensor in runs of elements without gaps, beside another of the same sizes. */
typedef struct Runs {
  int outer;      /* dimensions walked one by one: the first ones */
  int64_t length; /* elements of a run */
} Runs;

/* The innermost dimensions that both show row-major without gaps are one run. */
static Runs find_runs(const Tensor *a, const Tensor *b) {
  Runs runs = {.outer = a->ndim, .length = 1};
  while (runs.outer > 0) {
    int d = runs.outer - 1;
    if (a->sizes[d] != 1 && (a->strides[d] != runs.length || b->strides[d] != runs.length)) break;
    runs.length *= a->sizes[d];
    runs.outer--;
  }
  return runs;
}

/* Moves `at` to the next place of the outer dimensions; false behind the last. */
static bool next_run(const Tensor *t, int outer, int64_t *at) {
  for (int d = outer - 1; d >= 0; d--) {
    if (++at[d] < t->sizes[d]) return true;
    at[d] = 0;
  }
  return false;
}

static char *run_address(const Tensor *t, int outer, const int64_t *at) {
  int64_t offset = 0;
  for (int d = 0; d < outer; d++) offset += at[d] * t->strides[d];
  return (char *)tensor_memory(t) + offset * (int64_t)dtype_size((DType)t->dtype);
}

/* Between tensors of the same sizes and dtype: the bytes as they are. */
static Status copy_runs(const DeviceClass *class, Tensor *to, const Tensor *from) {
  Runs runs = find_runs(to, from);
  int64_t at[TENSOR_MAX_DIMS] = {0};
  size_t bytes = (size_t)runs.length * dtype_size((DType)to->dtype);
  do
    TRY(class->copy(tensor_device(to), run_address(to, runs.outer, at), tensor_device(from),
                    run_address(from, runs.outer, at), bytes));
  while (next_run(to, runs.outer, at));
  return OK;
}

/* A row-major copy on the host: of the elements as they are stored, with the same lazy flags. */
static Status to_host(const Tensor *from, Tensor **out) {
  TRY(tensor_empty((DType)from->dtype, from->ndim, from->sizes, out));
  Status status = copy_runs(device_class(tensor_device(from).type), *out, from);
  if (status) {
    tensor_release(*out);
    *out = NULL;
    return status;
  }
  (*out)->flags |= from->flags & LAZY;
  return OK;
}

/* A host tensor into one on a device: converted to its dtype and sizes first. */
static Status from_host(Tensor *to, const Tensor *from, int threads) {
  Tensor *ready;
  if (to->dtype == from->dtype && tensor_same_sizes(to, from) && !((to->flags ^ from->flags) & LAZY))
    return copy_runs(device_class(tensor_device(to).type), to, from);
  TRY(tensor_empty((DType)to->dtype, to->ndim, to->sizes, &ready));
  ready->flags |= to->flags & LAZY;
  Status status = tensor_copy(ready, from, threads);
  if (!status) status = copy_runs(device_class(tensor_device(to).type), to, ready);
  tensor_release(ready);
  return status;
}

static Status refuse(const Tensor *to, const Tensor *from) {
  return status_new(ERROR_UNSUPPORTED, "device '%s' does not copy from %s to %s%s",
                    device_type_name(tensor_device(to).type), dtype_name((DType)from->dtype),
                    dtype_name((DType)to->dtype), from->dtype == to->dtype ? " of another sign or conjugation" : "");
}

Status device_copy(Tensor *to, const Tensor *from, int threads) {
  int to_type = tensor_device(to).type, from_type = tensor_device(from).type;
  if ((to->flags | from->flags) & (TENSOR_QUANTIZED | TENSOR_SPARSE | TENSOR_OPAQUE))
    return status_new(ERROR_UNSUPPORTED, "device '%s' copies plain tensors only",
                      device_type_name(to_type == DEVICE_CPU ? from_type : to_type));
  if (to->numel == 0) return OK;
  if (from_type == DEVICE_CPU) return from_host(to, from, threads);
  if (to_type == from_type) {
    Tensor *broadcast = NULL;
    if (to->dtype != from->dtype || (to->flags ^ from->flags) & LAZY) return refuse(to, from);
    TRY(tensor_expand(from, to->ndim, to->sizes, &broadcast));
    Status status = copy_runs(device_class(to_type), to, broadcast);
    tensor_release(broadcast);
    return status;
  }
  Tensor *here;
  TRY(to_host(from, &here));
  Status status = tensor_copy(to, here, threads);
  tensor_release(here);
  return status;
}

Status device_fill(Tensor *t, const void *item) {
  Device device = tensor_device(t);
  const DeviceClass *class = device_class(device.type);
  size_t size = dtype_size((DType)t->dtype);
  int64_t at[TENSOR_MAX_DIMS] = {0};
  if (t->numel == 0) return OK;
  if (tensor_is_dense(t)) return class->fill(device, tensor_memory(t), (size_t)t->numel, item, size);
  Runs runs = find_runs(t, t);
  do TRY(class->fill(device, run_address(t, runs.outer, at), (size_t)runs.length, item, size));
  while (next_run(t, runs.outer, at));
  return OK;
}
