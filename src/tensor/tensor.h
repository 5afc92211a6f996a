/* tensor: arrays of numbers.
 *
 *   tensor/tensor.h   Tensor, a strided view of a counted Storage (this file)
 *   tensor/dtype.h    dtypes
 *   tensor/changed.h  what is done when a tensor changes that guards rely on
 *   tensor/half.h     half precision by the line
 *   tensor/float8.h   numbers of eight bits
 *   tensor/storage_share.h  one memory for several storages; what is made of a storage's content
 *   tensor/storage_drop.h  memory that is given back while something else can make its content again
 *   tensor/storage_alike.h  storages of equal content
 *   tensor/device_class.h  the memory of kinds of devices
 *   tensor/device_map.h  what stands for devices that are not there
 *   tensor/quantizer.h  how integers stand for numbers
 *   tensor/sparse.h   tensors of indices and values
 *   tensor/layout.h   the strides of results
 *   tensor/iterate.h  walking over several tensors at once
 *   tensor/promote.h  the dtype of a result
 *   tensor/random.h   generators */
#pragma once

#include <assert.h>

#include "base/str.h"
#include "tensor/dtype.h"

enum { TENSOR_MAX_DIMS = 32 };

/* Numbered as c10::DeviceType. */
typedef enum DeviceType { DEVICE_CPU = 0, DEVICE_CUDA = 1, DEVICE_META = 14 /* sizes without data */ } DeviceType;
typedef struct Device {
  int16_t type;
  int16_t index; /* -1: not given */
} Device;
#define DEVICE_CPU_0 ((Device){DEVICE_CPU, -1})
bool device_equal(Device a, Device b);
Status device_parse(Str text, Device *out) MUST_CHECK; /* "cpu", "cuda:0"; names the bad text */
void device_print(Device device, StrBuf *out);
const char *device_type_name(int type);

typedef struct Storage {
  RefCount refs;
  uint8_t flags;         /* StorageFlags */
  _Atomic bool is_shown; /* somebody outside has its address, and may write without bumping the version */
  Device device;
  _Atomic uint32_t version; /* bumped by every write through an operator */
  uint32_t born;            /* storage_epoch() when it was made */
  size_t bytes;
  void *data; /* 16-byte aligned at least when wick allocated it; NULL: tensor/storage_drop.h */
  void (*free_data)(void *context, void *data, size_t bytes); /* NULL: data is not owned (inline or static) */
  void *context;
  void *memory; /* off the host, where `data` is NULL: an address that means something to the device alone */
  /* Copies bytes as they were at first from where they came, and touches none of `data`; NULL: it can't. */
  bool (*fetch)(const struct Storage *storage, size_t offset, void *to, size_t bytes);
  _Atomic(struct Storage *) base;              /* tensor/storage_share.h: whose `data` it shows; NULL: its own */
  _Atomic(struct StorageFollower *) followers; /* tensor/storage_share.h: what goes with it; NULL: nothing */
} Storage;
enum StorageFlags { STORAGE_READ_ONLY = 1, STORAGE_RESIZABLE = 2 };

/* One word of flags from the start: operator_call tests the OR of its inputs' flags with one mask. */
enum TensorFlags {
  TENSOR_UNDEFINED = 1u << 0,
  TENSOR_REQUIRES_GRAD = 1u << 1, /* a leaf that asks for a gradient */
  TENSOR_HAS_GRAD_FN = 1u << 2,   /* the result of a recorded operator */
  TENSOR_CONJ = 1u << 3,          /* lazily conjugated */
  TENSOR_NEG = 1u << 4,
  TENSOR_SPARSE = 1u << 5,
  TENSOR_QUANTIZED = 1u << 6,
  TENSOR_WRAPPED_NUMBER = 1u << 7, /* made from a Python number: weak in type promotion */
  TENSOR_META = 1u << 8,           /* no data */
  TENSOR_NOT_CPU = 1u << 9,        /* data is another device's: tensor/device_class.h */
  TENSOR_EMBEDDED = 1u << 10,      /* its memory belongs to its storage's block */
  TENSOR_OPAQUE = 1u << 11,        /* nested, mkldnn: data is in `extension` */
  TENSOR_VIEW = 1u << 12,          /* shows a tensor whose gradients are its own: tensor_catch_up */
  TENSOR_DROPPED = 1u << 13,       /* its memory may have been given back: tensor_restore */
  TENSOR_LIMITED = 1u << 14,       /* of a dtype that few operators know: dtype_is_limited */
  TENSOR_RECORDS = TENSOR_REQUIRES_GRAD | TENSOR_HAS_GRAD_FN,
  TENSOR_UNUSUAL = TENSOR_CONJ | TENSOR_NEG | TENSOR_SPARSE | TENSOR_QUANTIZED | TENSOR_META | TENSOR_NOT_CPU |
                   TENSOR_OPAQUE | TENSOR_LIMITED
};
static inline uint32_t tensor_flags_of_dtype(DType dtype) {
  return dtype_is_limited(dtype) ? TENSOR_LIMITED : 0;
}

/* autodiff: gradient function, accumulated grad, hooks. Its first member is an AutogradBase. */
typedef struct AutogradMeta AutogradMeta;
typedef struct AutogradBase {
  void (*free)(AutogradMeta *meta); /* called once, when the tensor dies */
  struct Tensor *base;              /* of a view: what it shows, itself no view */
  uint32_t version;                 /* of a view's storage when its history was right */
} AutogradBase;

/* A tensor's metadata other than autograd and sizes under resize_/set_ is immutable once it is shared. Who changes that
 * of one that others may know does it with the functions here, or calls tensor_changed. */
typedef struct Tensor {
  RefCount refs;
  uint32_t flags;
  uint8_t dtype; /* DType */
  uint8_t ndim;
  uint8_t contiguous; /* cached: row-major without gaps */
  uint8_t row_major;  /* cached: strides are those of a new tensor, where sizes are 1 or 0, too; hence contiguous */
  _Atomic bool is_relied_on; /* by guards that saw its metadata: base/stamp.h */
  int64_t numel;             /* cached product of sizes */
  int64_t offset;            /* in elements */
  int64_t *sizes;            /* ndim; point into `dims` up to 5 dimensions, else to the heap */
  int64_t *strides;          /* in elements */
  Storage *storage;          /* NULL when undefined or opaque */
  AutogradMeta *autograd;
  struct TensorExtension *extension; /* quantizer, sparse parts, ..., or NULL */
  void *mark;                        /* an embedder's, who finds by it what stands for the tensor */
  int64_t dims[10];
} Tensor;

/* What layouts beyond strided hang on a tensor; shared by its views, freed with the last. */
typedef enum ExtensionKind { EXTENSION_QUANTIZER, EXTENSION_NESTED, EXTENSION_SPARSE } ExtensionKind;
typedef struct TensorExtension {
  RefCount refs;
  uint8_t kind; /* ExtensionKind: what it is the head of */
  void (*free)(struct TensorExtension *extension);
} TensorExtension;

/* Everything that says what a tensor looks like, without data: what shape functions compute. */
typedef struct TensorSpec {
  DType dtype;
  Device device;
  uint32_t flags; /* TENSOR_WRAPPED_NUMBER, TENSOR_META, TENSOR_UNDEFINED only */
  int ndim;
  bool has_strides; /* else row-major */
  int64_t sizes[TENSOR_MAX_DIMS];
  int64_t strides[TENSOR_MAX_DIMS];
} TensorSpec;

/* ---- making ---- */
/* Uninitialized data. Checks sizes (negative, overflow, budget): a clear error. */
Status tensor_new(const TensorSpec *spec, Tensor **out) MUST_CHECK;
Status tensor_empty(DType dtype, int ndim, const int64_t *sizes, Tensor **out) MUST_CHECK;
Status tensor_empty_strided(DType dtype, int ndim, const int64_t *sizes, const int64_t *strides,
                            Tensor **out) MUST_CHECK;
Status tensor_empty_like(const Tensor *like,
                         Tensor **out) MUST_CHECK; /* keeps dense strides, as torch.preserve_format */
Status tensor_from_storage(Storage *storage, DType dtype, int ndim, const int64_t *sizes, const int64_t *strides,
                           int64_t offset, Tensor **out) MUST_CHECK; /* retains storage; checks bounds */
/* Such a view of a storage of that many bytes stays inside it. */
Status tensor_check_extent(size_t storage_bytes, DType dtype, int ndim, const int64_t *sizes, const int64_t *strides,
                           int64_t offset) MUST_CHECK;
/* A tensor whose data are in its extension, which it takes over on success: flags say of what kind. Its storage holds
 * no bytes, only the version. */
Status tensor_new_extended(DType dtype, int ndim, const int64_t *sizes, uint32_t flags, TensorExtension *extension,
                           Tensor **out) MUST_CHECK;
/* Zero-dimensional, flagged TENSOR_WRAPPED_NUMBER: what a Python number becomes in a Tensor parameter. */
Status tensor_from_int(int64_t value, Tensor **out) MUST_CHECK;   /* int64 */
Status tensor_from_double(double value, Tensor **out) MUST_CHECK; /* float64 (promotes as the default dtype) */
Status tensor_from_complex(complex128 value, Tensor **out) MUST_CHECK;
Status tensor_from_bool(bool value, Tensor **out) MUST_CHECK;
Tensor *tensor_undefined(void); /* the one shared undefined tensor; retained */
Tensor *tensor_retain(const Tensor *t);
void tensor_release(Tensor *t); /* NULL is allowed */
void tensor_destroy(Tensor *t); /* for who released the last reference himself */

/* Epochs tell storages that were there before something began from those made since. */
uint32_t storage_epoch(void);
uint32_t storage_epoch_begin(void);                                           /* a new one, which is given */
Status storage_new(size_t bytes, Storage **out) MUST_CHECK;                   /* from the size-class cache when large */
Status storage_new_on(Device device, size_t bytes, Storage **out) MUST_CHECK; /* an error where that is not there */
/* On the host, of memory that goes back to the system with the storage: for weights. */
Status storage_new_lasting(size_t bytes, Storage **out) MUST_CHECK;
/* Borrowed memory; free_data (may be NULL) is called once when the last tensor goes. */
Status storage_from_data(void *data, size_t bytes, void (*free_data)(void *, void *, size_t), void *context,
                         Storage **out) MUST_CHECK;
Storage *storage_retain(const Storage *s);
void storage_release(Storage *s);
void storage_destroy(Storage *s);                           /* for who released the last reference himself */
Status storage_resize(Storage *s, size_t bytes) MUST_CHECK; /* keeps the old content; for resize_ */
/* Whether the next may copy something. */
bool storage_has_source(const Storage *storage);
/* Copies bytes of a mapped file without making its pages this process's memory. false: nothing is copied, for somebody
 * may have written or there is no file; they are to be read in place. */
bool storage_fetch(const Storage *storage, size_t offset, void *to, size_t bytes);

/* ---- asking ---- */
static inline bool tensor_is_defined(const Tensor *t) {
  return t && !(t->flags & TENSOR_UNDEFINED);
}
/* Its memory, which another thread may exchange for a copy meanwhile (storage_show); the old one stays readable. */
static inline void *storage_data(const Storage *storage) {
  return __atomic_load_n(&storage->data, __ATOMIC_RELAXED);
}
/* Where its bytes are, the host's address or the device's; NULL: nowhere. */
static inline void *storage_address(const Storage *storage) {
  void *data = storage_data(storage);
  return data ? data : storage->memory;
}
/* The first element, of tensors that are known to be on the host and in memory: kernels and what makes tensors itself.
 * Others ask tensor_host. NULL without storage. */
static inline void *tensor_data(const Tensor *t) {
  assert(!t->storage || t->storage->device.type == DEVICE_CPU);
  assert(!(t->flags & TENSOR_DROPPED) || storage_data(t->storage));
  return t->storage ? (char *)storage_data(t->storage) + t->offset * (int64_t)dtype_size((DType)t->dtype) : NULL;
}
/* The same, of any tensor: an error that names the device where the host can't read it. */
Status tensor_host(const Tensor *t, void **out) MUST_CHECK;
/* Sees to it that its memory is there, where that was dropped. */
Status storage_restore(Storage *storage) MUST_CHECK; /* tensor/storage_drop.h */
static inline Status tensor_restore(const Tensor *t) {
  return __builtin_expect(t->flags & TENSOR_DROPPED, 0) ? storage_restore(t->storage) : OK;
}
/* The error alone: OK when all is on the host and in memory, or there is no data. */
Status tensor_check_host(const Tensor *t) MUST_CHECK;
/* Where the first element is, as its device's address: the host's own where that is the device. */
void *tensor_memory(const Tensor *t);
/* A view of what came to record through a write since the view was made, so that the view records as well. */
bool tensor_is_behind(const Tensor *view);
static inline bool tensor_records(const Tensor *t) {
  return t->flags & TENSOR_RECORDS || (t->flags & TENSOR_VIEW && tensor_is_behind(t));
}
/* The flags of `t` afterwards: that of a view which is behind says that it records; its history is made when asked for.
 */
static inline uint32_t tensor_catch_up(Tensor *t) {
  if (t->flags & TENSOR_VIEW && !(t->flags & TENSOR_RECORDS) && tensor_is_behind(t)) t->flags |= TENSOR_HAS_GRAD_FN;
  return t->flags;
}
static inline bool tensor_is_contiguous(const Tensor *t) {
  return t->contiguous;
}
bool tensor_is_channels_last(const Tensor *t); /* NHWC of 4, NDHWC of 5 dimensions, without gaps */
bool tensor_is_dense(const Tensor *t);         /* non-overlapping, no gaps, in some order of dimensions */
bool tensor_same_sizes(const Tensor *a, const Tensor *b);
bool tensor_shares_storage(const Tensor *a, const Tensor *b);
/* Whether memory is shared: FULL when elements coincide one by one, UNKNOWN when that would be hard to say. */
typedef enum TensorOverlap { OVERLAP_NONE, OVERLAP_FULL, OVERLAP_PARTIAL, OVERLAP_UNKNOWN } TensorOverlap;
TensorOverlap tensor_overlap(const Tensor *a, const Tensor *b);
bool tensor_shows_twice(const Tensor *t); /* the same element, as what is expanded does */
/* PyTorch's errors for writing to a tensor that shows an element twice, or reading what is half overwritten. */
Status tensor_check_writable(const Tensor *to) MUST_CHECK;
Status tensor_check_overlap(const Tensor *to, const Tensor *from) MUST_CHECK;
/* The same, where `to` may not be the tensor that is read either. */
Status tensor_check_apart(const Tensor *to, const Tensor *from) MUST_CHECK;
Device tensor_device(const Tensor *t);
/* Element 0 of a one-element tensor, converted. */
int64_t tensor_item_int(const Tensor *t);
double tensor_item_double(const Tensor *t);
complex128 tensor_item_complex(const Tensor *t);
bool tensor_item_bool(const Tensor *t);
void tensor_spec_of(const Tensor *t, TensorSpec *out);
static inline void tensor_bump_version(Tensor *t) {
  if (t->storage) atomic_fetch_add_explicit(&t->storage->version, 1, memory_order_relaxed);
}

/* ---- views: share the storage; arguments checked where they can be wrong ---- */
Status tensor_alias(const Tensor *t, Tensor **out) MUST_CHECK; /* same view, a tensor of its own, without autograd */
Status tensor_as_strided(const Tensor *t, int ndim, const int64_t *sizes, const int64_t *strides, int64_t offset,
                         Tensor **out) MUST_CHECK;
/* Sizes may hold one -1. *out is NULL (and OK) when no view can show it: the caller copies. */
Status tensor_view_sizes(const Tensor *t, int ndim, const int64_t *sizes, Tensor **out) MUST_CHECK;
Status tensor_expand(const Tensor *t, int ndim, const int64_t *sizes, Tensor **out) MUST_CHECK;
Status tensor_transpose(const Tensor *t, int64_t dim0, int64_t dim1, Tensor **out) MUST_CHECK;
Status tensor_permute(const Tensor *t, const int64_t *order, Tensor **out) MUST_CHECK;
Status tensor_select(const Tensor *t, int64_t dim, int64_t index, Tensor **out) MUST_CHECK;
Status tensor_slice(const Tensor *t, int64_t dim, int64_t start, int64_t end, int64_t step, Tensor **out) MUST_CHECK;
Status tensor_narrow(const Tensor *t, int64_t dim, int64_t start, int64_t length, Tensor **out) MUST_CHECK;
Status tensor_squeeze_dim(const Tensor *t, int64_t dim, Tensor **out) MUST_CHECK;
Status tensor_unsqueeze(const Tensor *t, int64_t dim, Tensor **out) MUST_CHECK;
/* Changes sizes and strides (NULL: row-major) in place: for set_, resize_ and kernels' own tensors; the storage must
 * hold them. */
Status tensor_set_sizes(Tensor *t, int ndim, const int64_t *sizes, const int64_t *strides) MUST_CHECK;
/* `t` is what `source` is, over its memory; what autograd knows of `t` stays. */
Status tensor_set_data(Tensor *t, const Tensor *source) MUST_CHECK;
Status tensor_set_storage(Tensor *t, Storage *storage, int64_t offset, int ndim, const int64_t *sizes,
                          const int64_t *strides) MUST_CHECK;
/* resize_: row-major sizes, the storage growing where it must. */
Status tensor_resize(Tensor *t, int ndim, const int64_t *sizes) MUST_CHECK;

/* ---- copying and converting (bulk, parallel up to `threads`) ---- */
Status tensor_copy(Tensor *to, const Tensor *from, int threads)
    MUST_CHECK; /* broadcasts, converts dtype, any strides, resolves conj/neg; memory may overlap exactly */
Status tensor_contiguous(const Tensor *t, Tensor **out) MUST_CHECK; /* retained self when already so and not conj/neg */
Status tensor_clone(const Tensor *t, Tensor **out) MUST_CHECK;
Status tensor_to_dtype(const Tensor *t, DType dtype, Tensor **out) MUST_CHECK; /* retained self when already so */
void tensor_fill_zero(Tensor *t);         /* of one that is known to be on the host */
Status tensor_zero(Tensor *t) MUST_CHECK; /* wherever it is */
/* Converts n elements, strides in elements (0 broadcasts one): the one element converter. */
void dtype_convert(DType to, void *to_data, int64_t to_stride, DType from, const void *from_data, int64_t from_stride,
                   int64_t n);

/* ---- sizes ---- */
/* Python's negative dimensions; IndexError "Dimension out of range (expected to be in range of [-2, 1], but got 3)".
 * ndim 0 counts as 1. */
Status dim_wrap(int64_t dim, int64_t ndim, int64_t *out) MUST_CHECK;
/* "The size of tensor a (3) must match the size of tensor b (4) at non-singleton dimension 1" */
Status sizes_broadcast(int ndim_a, const int64_t *a, int ndim_b, const int64_t *b, int *out_ndim,
                       int64_t *out) MUST_CHECK;
void strides_contiguous(int ndim, const int64_t *sizes, int64_t *out);
/* What is cached of a tensor's strides: for who writes them himself. */
void tensor_judge_strides(Tensor *t);
void strides_channels_last(int ndim, const int64_t *sizes, int64_t *out); /* ndim 4 or 5 */
/* Overflow and negative sizes are errors. */
Status sizes_numel(int ndim, const int64_t *sizes, int64_t *out) MUST_CHECK;
/* Sizes with one -1 resolved for a tensor of numel elements: "shape '[2, -1]' is invalid for input of size 5". */
Status sizes_infer(int ndim, const int64_t *sizes, int64_t numel, int64_t *out) MUST_CHECK;
/* Dense strides in the order of dimensions that `strides` has: what preserve_format means. */
void strides_preserve(int ndim, const int64_t *sizes, const int64_t *strides, int64_t *out);
/* Dimensions from the innermost to the outermost by the strides of `count` operands, the first deciding first;
 * ambiguous ones keep their order. PyTorch walks memory in this order, so random numbers and preserved strides depend
 * on it. */
void dims_sort(int ndim, const int64_t *sizes, int count, const int64_t *const *strides, int *order);
/* "[2, 3]" */
typedef struct SizesText {
  char text[400];
} SizesText;
SizesText sizes_text(int ndim, const int64_t *sizes);
#define SIZES_TEXT(ndim, sizes) (sizes_text((ndim), (sizes)).text)

/* ---- memory formats, numbered as PyTorch's ---- */
typedef enum MemoryFormat {
  FORMAT_CONTIGUOUS = 0,
  FORMAT_PRESERVE = 1,
  FORMAT_CHANNELS_LAST = 2,
  FORMAT_CHANNELS_LAST_3D = 3
} MemoryFormat;
/* The format that its strides suggest for results. */
MemoryFormat tensor_suggested_format(const Tensor *t);
MemoryFormat strides_suggested_format(int ndim, const int64_t *sizes, const int64_t *strides);
bool tensor_has_format(const Tensor *t, MemoryFormat format); /* is_contiguous(memory_format=...) */
/* Strides of `sizes` in a format; "required rank 4 tensor to use channels_last format". FORMAT_PRESERVE keeps those of
 * `like`. */
Status strides_of_format(MemoryFormat format, int ndim, const int64_t *sizes, const Tensor *like_or_null,
                         int64_t *out) MUST_CHECK;

/* As PyTorch prints a tensor: `tensor`-less text of torch's C++ printer used by print() in TorchScript. */
Status tensor_print(const Tensor *t, StrBuf *out) MUST_CHECK;
/* The same; of more than 1,000 elements only the first and the last 3 along each dimension of more than 6. */
Status tensor_print_short(const Tensor *t, StrBuf *out) MUST_CHECK;
