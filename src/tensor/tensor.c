/* Making and asking tensors. A tensor made here is one block: its Storage, itself (TENSOR_EMBEDDED), and data while
 * small. The block belongs to the Storage's count; the tensor holds one reference to it until it dies, so views outlive
 * the tensor. */
#include <assert.h>

#include "tensor/changed.h"
#include "tensor/layout.h"

enum { INLINE_DATA_BYTES = 8192, BLOCK_ALIGN = 16 };

typedef struct Block {
  Storage storage;
  Tensor tensor;
} Block;
static const size_t block_bytes = (sizeof(Block) + BLOCK_ALIGN - 1) / BLOCK_ALIGN * BLOCK_ALIGN;

Status storage_allocate(Storage *s, size_t bytes);

static Storage *home_storage(const Tensor *t) {
  return (Storage *)((char *)t - offsetof(Block, tensor));
}

/* ---- sizes ---- */
void tensor_judge_strides(Tensor *t) {
  int64_t expected = 1;
  bool contiguous = true, row_major = true;
  for (int i = t->ndim - 1; i >= 0; i--) {
    if (t->strides[i] != expected) {
      row_major = false;
      if (t->sizes[i] != 1) {
        contiguous = false;
        break;
      }
    }
    if (t->sizes[i] > 1) expected *= t->sizes[i];
  }
  t->row_major = row_major;
  t->contiguous = contiguous || t->numel == 0;
}

/* Elements between the first and the last that the view can reach, plus one; 0 for an empty view. */
static Status view_extent(int ndim, const int64_t *sizes, const int64_t *strides, int64_t offset, int64_t *out) {
  *out = 0;
  int64_t last = offset;
  for (int i = 0; i < ndim; i++) {
    int64_t steps, span;
    if (sizes[i] == 0) return *out = 0, OK;
    if (!int64_add(sizes[i], -1, &steps) || !int64_mul(steps, strides[i], &span) || !int64_add(last, span, &last))
      return status_new(ERROR_RUNTIME, "Storage size calculation overflowed with sizes=%s and strides=%s",
                        SIZES_TEXT(ndim, sizes), SIZES_TEXT(ndim, strides));
  }
  if (!int64_add(last, 1, out)) return status_new(ERROR_RUNTIME, "Storage size calculation overflowed");
  return OK;
}

static Status check_strides(int ndim, const int64_t *strides) {
  for (int i = 0; i < ndim; i++)
    if (strides[i] < 0)
      return status_new(ERROR_RUNTIME, "as_strided: Negative strides are not supported at the moment, got strides: %s",
                        SIZES_TEXT(ndim, strides));
  return OK;
}

Status tensor_check_extent(size_t storage_bytes, DType dtype, int ndim, const int64_t *sizes, const int64_t *strides,
                           int64_t offset) {
  TRY(check_strides(ndim, strides));
  if (offset < 0) return status_new(ERROR_RUNTIME, "Tensor: invalid storage offset %lld", (long long)offset);
  int64_t extent, bytes;
  TRY(view_extent(ndim, sizes, strides, offset, &extent));
  if (!int64_mul(extent, (int64_t)dtype_size(dtype), &bytes) || bytes < 0 || (size_t)bytes > storage_bytes)
    return status_new(
        ERROR_RUNTIME,
        "setStorage: sizes %s, strides %s, storage offset %lld, and itemsize %zu requiring a storage size of "
        "%lld are out of bounds for storage of size %zu",
        SIZES_TEXT(ndim, sizes), SIZES_TEXT(ndim, strides), (long long)offset, dtype_size(dtype), (long long)bytes,
        storage_bytes);
  return OK;
}
static Status check_bounds(const Storage *storage, DType dtype, int ndim, const int64_t *sizes, const int64_t *strides,
                           int64_t offset) {
  return tensor_check_extent(storage ? storage->bytes : SIZE_MAX, dtype, ndim, sizes, strides, offset);
}

/* Of tensors that show the storage. */
static uint32_t storage_kind_flag(const Storage *storage) {
  if (!storage || storage_data(storage)) return 0;
  if (storage->device.type != DEVICE_CPU) return TENSOR_NOT_CPU;
  return atomic_load_explicit(&storage->base, memory_order_relaxed) ? TENSOR_DROPPED : 0;
}

/* Points sizes and strides at room for ndim of each. */
static bool reserve_dims(Tensor *t, int ndim) {
  if (ndim <= 5) {
    if (t->sizes != t->dims) mem_free(t->sizes);
    t->sizes = t->dims;
    t->strides = t->dims + 5;
    return true;
  }
  int64_t *room = mem_alloc(2 * (size_t)ndim * sizeof *room);
  if (!room) return false;
  if (t->sizes != t->dims) mem_free(t->sizes);
  t->sizes = room;
  t->strides = room + ndim;
  return true;
}

static Status set_dims(Tensor *t, int ndim, const int64_t *sizes, const int64_t *strides, int64_t numel) {
  assert(ndim >= 0 && ndim <= TENSOR_MAX_DIMS);
  int64_t own_sizes[TENSOR_MAX_DIMS], own_strides[TENSOR_MAX_DIMS]; /* the arguments may be the tensor's own */
  if (ndim) memcpy(own_sizes, sizes, (size_t)ndim * sizeof *sizes); /* an empty list may have no items to point at */
  if (strides && ndim)
    memcpy(own_strides, strides, (size_t)ndim * sizeof *strides);
  else
    strides_contiguous(ndim, sizes, own_strides);
  if (!reserve_dims(t, ndim)) return status_out_of_memory();
  memcpy(t->sizes, own_sizes, (size_t)ndim * sizeof *sizes);
  memcpy(t->strides, own_strides, (size_t)ndim * sizeof *strides);
  t->ndim = (uint8_t)ndim;
  t->numel = numel;
  tensor_judge_strides(t);
  return OK;
}

static Status change_dims(Tensor *t, int ndim, const int64_t *sizes, const int64_t *strides, int64_t numel) {
  TRY(set_dims(t, ndim, sizes, strides, numel));
  tensor_changed(t);
  return OK;
}

Status tensor_set_sizes(Tensor *t, int ndim, const int64_t *sizes, const int64_t *strides) {
  int64_t numel, row_major[TENSOR_MAX_DIMS];
  TRY(sizes_numel(ndim, sizes, &numel));
  if (!strides) {
    strides_contiguous(ndim, sizes, row_major);
    strides = row_major;
  }
  TRY(check_bounds(t->storage, (DType)t->dtype, ndim, sizes, strides, t->offset));
  return change_dims(t, ndim, sizes, strides, numel);
}

/* The home block holds the tensor itself, and is held until that goes, whatever it shows. */
static void replace_storage(Tensor *t, Storage *storage) {
  const Storage *home = t->flags & TENSOR_EMBEDDED ? home_storage(t) : NULL;
  Storage *old = t->storage;
  t->storage = storage;
  if (storage && storage != home) storage_retain(storage);
  if (old != home) storage_release(old);
}

Status tensor_set_storage(Tensor *t, Storage *storage, int64_t offset, int ndim, const int64_t *sizes,
                          const int64_t *strides) {
  int64_t numel, row_major[TENSOR_MAX_DIMS];
  TRY(sizes_numel(ndim, sizes, &numel));
  if (!strides) {
    strides_contiguous(ndim, sizes, row_major);
    strides = row_major;
  }
  TRY(check_bounds(storage, (DType)t->dtype, ndim, sizes, strides, offset));
  TRY(change_dims(t, ndim, sizes, strides, numel));
  t->offset = offset;
  if (storage == t->storage) return OK;
  replace_storage(t, storage);
  tensor_set_flags(t, (t->flags & ~(uint32_t)(TENSOR_NOT_CPU | TENSOR_DROPPED)) | storage_kind_flag(storage));
  return OK;
}

Status tensor_set_data(Tensor *t, const Tensor *source) {
  enum { KEPT = TENSOR_RECORDS | TENSOR_VIEW | TENSOR_EMBEDDED };
  if (source == t) return OK;
  TRY(set_dims(t, source->ndim, source->sizes, source->strides, source->numel));
  t->dtype = source->dtype;
  t->offset = source->offset;
  t->flags = (t->flags & KEPT) | (source->flags & ~(uint32_t)KEPT);
  TensorExtension *old = t->extension;
  if (source->extension) ref_retain(&source->extension->refs);
  t->extension = source->extension;
  if (old && ref_release(&old->refs)) old->free(old);
  if (source->storage != t->storage) replace_storage(t, source->storage);
  tensor_changed(t);
  return OK;
}

Status tensor_resize(Tensor *t, int ndim, const int64_t *sizes) {
  int64_t numel, extent;
  size_t bytes;
  TRY(sizes_numel(ndim, sizes, &numel));
  if (!int64_add(numel, t->offset, &extent) || !size_mul((size_t)extent, dtype_size((DType)t->dtype), &bytes))
    return status_new(ERROR_RUNTIME, "Storage size calculation overflowed with sizes=%s", SIZES_TEXT(ndim, sizes));
  if (t->storage && numel > 0 && bytes > t->storage->bytes) TRY(storage_resize(t->storage, bytes));
  return change_dims(t, ndim, sizes, NULL, numel);
}

/* ---- making ---- */

/* What a tensor of this look takes. */
typedef struct Measures {
  int64_t numel, row_major[TENSOR_MAX_DIMS];
  const int64_t *strides;
  size_t bytes;
} Measures;

static inline Status measure(const TensorSpec *spec, Measures *m) {
  int64_t extent = 0;
  if (!dtype_is_valid(spec->dtype)) return status_internal("a tensor without a dtype");
  TRY(sizes_numel(spec->ndim, spec->sizes, &m->numel));
  m->strides = spec->strides;
  if (spec->has_strides) {
    TRY(check_strides(spec->ndim, spec->strides));
    TRY(view_extent(spec->ndim, spec->sizes, spec->strides, 0, &extent));
  } else {
    strides_contiguous(spec->ndim, spec->sizes, m->row_major);
    m->strides = m->row_major;
    extent = m->numel;
  }
  if (!size_mul((size_t)extent, dtype_size(spec->dtype), &m->bytes) || m->bytes > INT64_MAX)
    return status_new(ERROR_RUNTIME, "Storage size calculation overflowed with sizes=%s",
                      SIZES_TEXT(spec->ndim, spec->sizes));
  return OK;
}

/* Off the host its storage is a block of its own. */
static __attribute__((noinline)) Status new_elsewhere(const TensorSpec *spec, Tensor **out) {
  Measures m;
  Storage *storage;
  TRY(measure(spec, &m));
  TRY(storage_new_on(spec->device, m.bytes, &storage));
  Status status = tensor_from_storage(storage, spec->dtype, spec->ndim, spec->sizes, m.strides, 0, out);
  storage_release(storage);
  if (!status) (*out)->flags |= spec->flags & TENSOR_WRAPPED_NUMBER;
  return status;
}

Status tensor_new(const TensorSpec *spec, Tensor **out) {
  *out = NULL;
  if (spec->flags & TENSOR_UNDEFINED) return *out = tensor_undefined(), OK;
  bool is_meta = spec->device.type == DEVICE_META || (spec->flags & TENSOR_META);
  if (!is_meta && spec->device.type != DEVICE_CPU) return new_elsewhere(spec, out);
  Measures m;
  TRY(measure(spec, &m));
  bool is_inline = !is_meta && m.bytes <= INLINE_DATA_BYTES;
  Block *block = mem_alloc(block_bytes + (is_inline ? m.bytes : 0));
  if (!block) return status_out_of_memory();
  memset(block, 0, sizeof *block);
  Storage *storage = &block->storage;
  ref_init(&storage->refs);
  storage->born = storage_epoch();
  storage->flags = STORAGE_RESIZABLE;
  storage->device = is_meta ? (Device){DEVICE_META, -1} : DEVICE_CPU_0;
  if (is_inline) {
    storage->bytes = m.bytes;
    storage->data = (char *)block + block_bytes;
  } else if (!is_meta) {
    Status status = storage_allocate(storage, m.bytes);
    if (status) return mem_free(block), status;
  }
  Tensor *t = &block->tensor;
  ref_init(&t->refs);
  t->dtype = (uint8_t)spec->dtype;
  t->flags = TENSOR_EMBEDDED | (spec->flags & TENSOR_WRAPPED_NUMBER) | (is_meta ? TENSOR_META : 0) |
             tensor_flags_of_dtype(spec->dtype);
  t->storage = is_meta ? NULL : storage;
  t->sizes = t->dims;
  Status status = set_dims(t, spec->ndim, spec->sizes, m.strides, m.numel);
  if (status) return storage_destroy(storage), status;
  *out = t;
  return OK;
}

static Status make(DType dtype, uint32_t flags, int ndim, const int64_t *sizes, const int64_t *strides, Tensor **out) {
  *out = NULL;
  if (ndim > TENSOR_MAX_DIMS)
    return status_new(ERROR_UNSUPPORTED, "tensors of more than %d dimensions", TENSOR_MAX_DIMS);
  TensorSpec spec;
  spec.dtype = dtype;
  spec.device = DEVICE_CPU_0;
  spec.flags = flags;
  spec.ndim = ndim;
  spec.has_strides = strides != NULL;
  if (ndim) memcpy(spec.sizes, sizes, (size_t)ndim * sizeof *sizes);
  if (ndim && strides) memcpy(spec.strides, strides, (size_t)ndim * sizeof *strides);
  return tensor_new(&spec, out);
}

Status tensor_empty(DType dtype, int ndim, const int64_t *sizes, Tensor **out) {
  return make(dtype, 0, ndim, sizes, NULL, out);
}

Status tensor_empty_strided(DType dtype, int ndim, const int64_t *sizes, const int64_t *strides, Tensor **out) {
  return make(dtype, 0, ndim, sizes, strides, out);
}

void tensor_spec_of(const Tensor *t, TensorSpec *out) {
  assert(t->ndim <= TENSOR_MAX_DIMS);
  out->dtype = (DType)t->dtype;
  out->device = tensor_device(t);
  out->flags = t->flags & (TENSOR_META | TENSOR_UNDEFINED);
  out->ndim = t->ndim;
  out->has_strides = !t->row_major;
  if (t->ndim == 0) return;
  memcpy(out->sizes, t->sizes, t->ndim * sizeof *t->sizes);
  memcpy(out->strides, t->strides, t->ndim * sizeof *t->strides);
}

/* The spec of a dense tensor with t's sizes in t's order of dimensions. */
static void spec_like(const Tensor *t, TensorSpec *out) {
  tensor_spec_of(t, out);
  layout_preserve(t, out);
}

Status tensor_empty_like(const Tensor *like, Tensor **out) {
  TensorSpec spec;
  spec_like(like, &spec);
  return tensor_new(&spec, out);
}

/* A tensor object of its own over a storage; takes nothing over. */
static Status new_view(const Tensor *like, Storage *storage, DType dtype, int ndim, const int64_t *sizes,
                       const int64_t *strides, int64_t offset, int64_t numel, Tensor **out) {
  Tensor *t = mem_calloc(1, sizeof *t);
  if (!t) return status_out_of_memory();
  ref_init(&t->refs);
  t->dtype = (uint8_t)dtype;
  t->flags = tensor_flags_of_dtype(dtype);
  t->sizes = t->dims;
  Status status = set_dims(t, ndim, sizes, strides, numel);
  if (status) return mem_free(t), status;
  t->offset = offset;
  t->storage = storage_retain(storage);
  if (like) {
    t->flags |= like->flags & ((TENSOR_UNUSUAL & ~TENSOR_LIMITED) | TENSOR_DROPPED);
    if (like->extension) {
      ref_retain(&like->extension->refs);
      t->extension = like->extension;
    }
  }
  *out = t;
  return OK;
}

Status tensor_new_extended(DType dtype, int ndim, const int64_t *sizes, uint32_t flags, TensorExtension *extension,
                           Tensor **out) {
  int64_t numel, strides[TENSOR_MAX_DIMS];
  Storage *storage;
  *out = NULL;
  TRY(sizes_numel(ndim, sizes, &numel));
  TRY(storage_new(0, &storage));
  strides_contiguous(ndim, sizes, strides);
  Status status = new_view(NULL, storage, dtype, ndim, sizes, strides, 0, numel, out);
  storage_release(storage);
  if (status) return status;
  (*out)->flags = flags;
  (*out)->extension = extension;
  return OK;
}

Status tensor_from_storage(Storage *storage, DType dtype, int ndim, const int64_t *sizes, const int64_t *strides,
                           int64_t offset, Tensor **out) {
  *out = NULL;
  int64_t numel, row_major[TENSOR_MAX_DIMS];
  TRY(sizes_numel(ndim, sizes, &numel));
  if (!strides) {
    strides_contiguous(ndim, sizes, row_major);
    strides = row_major;
  }
  TRY(check_bounds(storage, dtype, ndim, sizes, strides, offset));
  TRY(new_view(NULL, storage, dtype, ndim, sizes, strides, offset, numel, out));
  (*out)->flags |= storage_kind_flag(storage);
  return OK;
}

Status tensor_alias(const Tensor *t, Tensor **out) {
  *out = NULL;
  if (t->flags & TENSOR_UNDEFINED) return *out = tensor_undefined(), OK;
  TRY(new_view(t, t->storage, (DType)t->dtype, t->ndim, t->sizes, t->strides, t->offset, t->numel, out));
  (*out)->flags |= t->flags & TENSOR_WRAPPED_NUMBER;
  return OK;
}

Status tensor_as_strided(const Tensor *t, int ndim, const int64_t *sizes, const int64_t *strides, int64_t offset,
                         Tensor **out) {
  *out = NULL;
  int64_t numel;
  TRY(sizes_numel(ndim, sizes, &numel));
  TRY(check_bounds(t->storage, (DType)t->dtype, ndim, sizes, strides, offset));
  return new_view(t, t->storage, (DType)t->dtype, ndim, sizes, strides, offset, numel, out);
}

#define FROM_NUMBER(name, type, dtype)                             \
  Status name(type value, Tensor **out) {                          \
    TRY(make((dtype), TENSOR_WRAPPED_NUMBER, 0, NULL, NULL, out)); \
    memcpy((*out)->storage->data, &value, sizeof value);           \
    return OK;                                                     \
  }
FROM_NUMBER(tensor_from_int, int64_t, DTYPE_INT64)
FROM_NUMBER(tensor_from_double, double, DTYPE_FLOAT64)
FROM_NUMBER(tensor_from_complex, complex128, DTYPE_COMPLEX128)
FROM_NUMBER(tensor_from_bool, bool, DTYPE_BOOL)

/* ---- counts ---- */
static Tensor undefined_tensor = {.refs = {1},
                                  .flags = TENSOR_UNDEFINED,
                                  .dtype = DTYPE_NONE,
                                  .ndim = 1,
                                  .contiguous = 1,
                                  .row_major = 1,
                                  .sizes = undefined_tensor.dims,
                                  .strides = undefined_tensor.dims + 5,
                                  .dims = {[5] = 1}};

Tensor *tensor_undefined(void) {
  return tensor_retain(&undefined_tensor);
}

Tensor *tensor_retain(const Tensor *t) {
  if (t) ref_retain(&((Tensor *)t)->refs);
  return (Tensor *)t;
}

void tensor_destroy(Tensor *t) {
  assert(!(t->flags & TENSOR_UNDEFINED));
  if (t->autograd) ((AutogradBase *)t->autograd)->free(t->autograd);
  if (t->extension && ref_release(&t->extension->refs)) t->extension->free(t->extension);
  if (t->sizes != t->dims) mem_free(t->sizes);
  Storage *storage = t->storage;
  if (t->flags & TENSOR_EMBEDDED) {
    Storage *home = home_storage(t);
    if (storage != home) storage_release(storage);
    storage_release(home);
  } else {
    storage_release(storage);
    mem_free(t);
  }
}

void tensor_release(Tensor *t) {
  if (t && ref_release(&t->refs)) tensor_destroy(t);
}

/* ---- asking ---- */
bool tensor_is_behind(const Tensor *view) {
  const AutogradBase *autograd = (const AutogradBase *)view->autograd;
  return autograd && autograd->base && autograd->base->flags & TENSOR_RECORDS && view->storage &&
         autograd->version != atomic_load(&view->storage->version) &&
         (dtype_is_floating((DType)view->dtype) || dtype_is_complex((DType)view->dtype));
}

Device tensor_device(const Tensor *t) {
  if (t->storage) return t->storage->device;
  return (t->flags & TENSOR_META) ? (Device){DEVICE_META, -1} : DEVICE_CPU_0;
}

void *tensor_memory(const Tensor *t) {
  if (!t->storage) return NULL;
  char *start = storage_address(t->storage);
  return start ? start + t->offset * (int64_t)dtype_size((DType)t->dtype) : NULL;
}

Status tensor_check_host(const Tensor *t) {
  if (!(t->flags & TENSOR_NOT_CPU)) return tensor_restore(t);
  StrBuf name = {.max_length = 40};
  device_print(tensor_device(t), &name);
  Status status =
      status_new(ERROR_UNSUPPORTED, "a tensor on device '" STR_FMT "' can't be read here: copy it to the cpu first",
                 STR_ARG(strbuf_view(&name)));
  strbuf_dispose(&name);
  return status;
}

Status tensor_host(const Tensor *t, void **out) {
  *out = NULL;
  if (t->flags & TENSOR_META)
    return status_exception("NotImplementedError", "Cannot copy out of meta tensor; no data!");
  TRY(tensor_check_host(t));
  *out = tensor_data(t);
  return OK;
}

bool tensor_same_sizes(const Tensor *a, const Tensor *b) {
  return a->ndim == b->ndim && memcmp(a->sizes, b->sizes, a->ndim * sizeof *a->sizes) == 0;
}

bool tensor_is_dense(const Tensor *t) {
  if (t->contiguous) return true;
  int order[TENSOR_MAX_DIMS];
  const int64_t *strides = t->strides;
  dims_sort(t->ndim, t->sizes, 1, &strides, order);
  int64_t expected = 1;
  for (int i = 0; i < t->ndim; i++) {
    int d = order[i];
    if (t->sizes[d] == 1) continue;
    if (strides[d] != expected) return false;
    expected *= t->sizes[d];
  }
  return true;
}

bool tensor_shares_storage(const Tensor *a, const Tensor *b) {
  return a->storage && b->storage &&
         (a->storage == b->storage || (a->storage->bytes && storage_address(a->storage) &&
                                       storage_address(a->storage) == storage_address(b->storage)));
}

TensorOverlap tensor_overlap(const Tensor *a, const Tensor *b) {
  if (a == b) return OVERLAP_FULL;
  if (a->numel == 0 || b->numel == 0 || !tensor_shares_storage(a, b)) return OVERLAP_NONE;
  if (!tensor_is_dense(a) || !tensor_is_dense(b)) return OVERLAP_UNKNOWN;
  const char *a_begin = tensor_memory(a), *a_end = a_begin + a->numel * (int64_t)dtype_size((DType)a->dtype);
  const char *b_begin = tensor_memory(b), *b_end = b_begin + b->numel * (int64_t)dtype_size((DType)b->dtype);
  if (a_begin == b_begin && a_end == b_end) {
    bool same = a->ndim == b->ndim && memcmp(a->strides, b->strides, a->ndim * sizeof *a->strides) == 0;
    return same ? OVERLAP_FULL : OVERLAP_PARTIAL;
  }
  return a_begin < b_end && b_begin < a_end ? OVERLAP_PARTIAL : OVERLAP_NONE;
}

bool tensor_shows_twice(const Tensor *t) {
  for (int i = 0; i < t->ndim && !t->contiguous; i++)
    if (t->sizes[i] > 1 && t->strides[i] == 0) return true;
  return false;
}

Status tensor_check_writable(const Tensor *to) {
  if (!tensor_shows_twice(to)) return OK;
  return status_new(ERROR_RUNTIME,
                    "unsupported operation: more than one element of the written-to tensor refers to a single "
                    "memory location. Please clone() the tensor before performing the operation.");
}

static Status overlaps(void) {
  return status_new(ERROR_RUNTIME,
                    "unsupported operation: some elements of the input tensor and the written-to tensor refer to a "
                    "single memory location. Please clone() the tensor before performing the operation.");
}

Status tensor_check_overlap(const Tensor *to, const Tensor *from) {
  return to->storage == from->storage && tensor_overlap(to, from) == OVERLAP_PARTIAL ? overlaps() : OK;
}

Status tensor_check_apart(const Tensor *to, const Tensor *from) {
  TensorOverlap overlap = tensor_overlap(to, from);
  return overlap == OVERLAP_PARTIAL || overlap == OVERLAP_FULL ? overlaps() : OK;
}

/* Writes element 0 as dtype `to`, lazy conjugation and negation applied. Callers refuse tensors without data; should
 * one forget, it reads zero. */
static void item(const Tensor *t, DType to, void *out) {
  assert(t->numel > 0);
  if (!tensor_data(t)) {
    memset(out, 0, dtype_size(to));
    return;
  }
  dtype_convert(to, out, 1, (DType)t->dtype, tensor_data(t), 1, 1);
}

complex128 tensor_item_complex(const Tensor *t) {
  complex128 value;
  item(t, DTYPE_COMPLEX128, &value);
  if (t->flags & TENSOR_CONJ) value = __builtin_conj(value);
  return (t->flags & TENSOR_NEG) ? -value : value;
}

int64_t tensor_item_int(const Tensor *t) {
  if (t->flags & TENSOR_NEG) return (int64_t)__builtin_creal(tensor_item_complex(t));
  int64_t value;
  item(t, DTYPE_INT64, &value);
  return value;
}

double tensor_item_double(const Tensor *t) {
  double value;
  item(t, DTYPE_FLOAT64, &value);
  return (t->flags & TENSOR_NEG) ? -value : value;
}

bool tensor_item_bool(const Tensor *t) {
  if (dtype_is_complex((DType)t->dtype)) return tensor_item_complex(t) != 0;
  uint8_t value;
  item(t, DTYPE_BOOL, &value);
  return value;
}
