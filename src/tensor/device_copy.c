/* Copying and filling tensors whose memory the host can't read. A device's row moves runs of bytes; dtypes, lazy
 * conjugation and negation are resolved on the host, so data that changes goes through a copy there. */
#include "tensor/device_class.h"

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

/* Moves `at` to the next place of the outer dimensions; false after the last. */
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

/* More runs than this are a device's own work, where it can do it. */
enum { MANY_RUNS = 4 };

static bool are_many(const Tensor *t, Runs runs) {
  return t->numel / runs.length > MANY_RUNS;
}

/* By the device's own means. ERROR_UNSUPPORTED is no answer yet. */
static Status convert(const DeviceClass *class, Tensor *to, const Tensor *from, bool *out_done) {
  *out_done = false;
  if (!class->convert) return OK;
  Status status = class->convert(to, from);
  *out_done = !status;
  if (!status || status->code != ERROR_UNSUPPORTED) return status;
  status_free(status);
  return OK;
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

/* Row-major on t's device, elements not yet set. */
static Status empty_beside(const Tensor *t, Tensor **out) {
  TensorSpec spec = {.dtype = (DType)t->dtype, .device = tensor_device(t), .ndim = t->ndim};
  memcpy(spec.sizes, t->sizes, (size_t)t->ndim * sizeof *t->sizes);
  TRY(tensor_new(&spec, out));
  (*out)->flags |= t->flags & LAZY;
  return OK;
}

/* Between a tensor of the class and a row-major one of the host: many runs are gathered on the device first, or spread
 * there afterwards. */
static Status cross(const DeviceClass *class, Tensor *to, const Tensor *from) {
  bool arrives = tensor_device(to).type != DEVICE_CPU, done = false;
  const Tensor *there = arrives ? to : from;
  Tensor *dense;
  if (!class->convert || !are_many(there, find_runs(to, from))) return copy_runs(class, to, from);
  TRY(empty_beside(there, &dense));
  Status status = arrives ? copy_runs(class, dense, from) : OK;
  if (!status) status = convert(class, arrives ? to : dense, arrives ? dense : from, &done);
  if (done && !arrives) status = copy_runs(class, to, dense);
  tensor_release(dense);
  return status || done ? status : copy_runs(class, to, from);
}

/* A row-major copy on the host: of the elements as they are stored, with the same lazy flags. */
static Status to_host(const Tensor *from, Tensor **out) {
  TRY(tensor_empty((DType)from->dtype, from->ndim, from->sizes, out));
  Status status = cross(device_class(tensor_device(from).type), *out, from);
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
  const DeviceClass *class = device_class(tensor_device(to).type);
  bool is_ready = to->dtype == from->dtype && tensor_same_sizes(to, from) && !((to->flags ^ from->flags) & LAZY);
  if (is_ready && (tensor_is_contiguous(from) || !are_many(from, find_runs(to, from)))) return cross(class, to, from);
  TRY(tensor_empty((DType)to->dtype, to->ndim, to->sizes, &ready));
  ready->flags |= to->flags & LAZY;
  Status status = tensor_copy(ready, from, threads);
  if (!status) status = cross(class, to, ready);
  tensor_release(ready);
  return status;
}

static Status refuse(const Tensor *to, const Tensor *from) {
  return status_new(ERROR_UNSUPPORTED, "device '%s' does not copy from %s to %s%s",
                    device_type_name(tensor_device(to).type), dtype_name((DType)from->dtype),
                    dtype_name((DType)to->dtype), from->dtype == to->dtype ? " of another sign or conjugation" : "");
}

/* Between devices of a class; another dtype only where both are one. */
static Status within(const DeviceClass *class, Tensor *to, const Tensor *from) {
  Tensor *broadcast = NULL;
  bool is_same = to->dtype == from->dtype, done = false;
  if ((to->flags ^ from->flags) & LAZY) return refuse(to, from);
  TRY(tensor_expand(from, to->ndim, to->sizes, &broadcast));
  Status status = OK;
  if (device_equal(tensor_device(to), tensor_device(from)) && (!is_same || are_many(to, find_runs(to, broadcast))))
    status = convert(class, to, broadcast, &done);
  if (!status && !done) status = is_same ? copy_runs(class, to, broadcast) : refuse(to, from);
  tensor_release(broadcast);
  return status;
}

Status device_copy(Tensor *to, const Tensor *from, int threads) {
  int to_type = tensor_device(to).type, from_type = tensor_device(from).type;
  if ((to->flags | from->flags) & (TENSOR_QUANTIZED | TENSOR_SPARSE | TENSOR_OPAQUE))
    return status_new(ERROR_UNSUPPORTED, "device '%s' copies plain tensors only",
                      device_type_name(to_type == DEVICE_CPU ? from_type : to_type));
  if (to->numel == 0) return OK;
  if (from_type == DEVICE_CPU) return from_host(to, from, threads);
  if (to_type == from_type) {
    return within(device_class(to_type), to, from);
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
