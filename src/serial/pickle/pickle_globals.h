/* The names a pickle may mention, with what wick makes of them. PICKLE_CALLS: called with a tuple of arguments, by a
 * function of pickle_calls.c. Storage classes and dtypes are looked up by their names in DTYPES. */
#pragma once

#include "base/vec.h"
#include "serial/pickle/pickle.h"

#define PICKLE_CALLS(X)                                                       \
  X(REBUILD_TENSOR, "torch._utils", "_rebuild_tensor")                        \
  X(REBUILD_TENSOR_V2, "torch._utils", "_rebuild_tensor_v2")                  \
  X(REBUILD_TENSOR_V3, "torch._utils", "_rebuild_tensor_v3")                  \
  X(REBUILD_META, "torch._utils", "_rebuild_meta_tensor_no_storage")          \
  X(REBUILD_PARAMETER, "torch._utils", "_rebuild_parameter")                  \
  X(REBUILD_PARAMETER_STATE, "torch._utils", "_rebuild_parameter_with_state") \
  X(REBUILD_QTENSOR, "torch._utils", "_rebuild_qtensor")                      \
  X(REBUILD_SPARSE, "torch._utils", "_rebuild_sparse_tensor")                 \
  X(REBUILD_COMPRESSED, "torch._utils", "_rebuild_sparse_csr_tensor")         \
  X(GET_LAYOUT, "torch.serialization", "_get_layout")                         \
  X(REBUILD_FROM_TYPE, "torch._tensor", "_rebuild_from_type_v2")              \
  X(ORDERED_DICT, "collections", "OrderedDict")                               \
  X(BUILD_INTS, "torch.jit._pickle", "build_intlist")                         \
  X(BUILD_DOUBLES, "torch.jit._pickle", "build_doublelist")                   \
  X(BUILD_BOOLS, "torch.jit._pickle", "build_boollist")                       \
  X(BUILD_TENSORS, "torch.jit._pickle", "build_tensorlist")                   \
  X(BUILD_FROM_ID, "torch.jit._pickle", "build_tensor_from_id")               \
  X(RESTORE_TYPE, "torch.jit._pickle", "restore_type_tag")                    \
  X(COMPLEX, "builtins", "complex")                                           \
  X(COMPLEX_2, "__builtin__", "complex")                                      \
  X(DEVICE, "torch", "device")                                                \
  X(SIZE, "torch", "Size")                                                    \
  X(ENCODE, "_codecs", "encode")                                              \
  X(TENSOR_CLASS, "torch", "Tensor")                                          \
  X(PARAMETER_CLASS, "torch.nn.parameter", "Parameter")

/* Names that stand for an int, numbered as PyTorch does. */
#define PICKLE_INTS(X)                   \
  X("torch", "contiguous_format", 0)     \
  X("torch", "preserve_format", 1)       \
  X("torch", "channels_last", 2)         \
  X("torch", "channels_last_3d", 3)      \
  X("torch", "per_tensor_affine", 0)     \
  X("torch", "per_channel_affine", 1)    \
  X("torch", "per_tensor_symmetric", 2)  \
  X("torch", "per_channel_symmetric", 3) \
  X("torch", "per_channel_affine_float_qparams", 4)

/* Layouts, which are torch.NAME and the text of that. */
#define PICKLE_LAYOUTS(X)     \
  X(STRIDED, "strided")       \
  X(SPARSE_COO, "sparse_coo") \
  X(SPARSE_CSR, "sparse_csr") \
  X(SPARSE_CSC, "sparse_csc")

typedef enum PickleCallKind {
#define X(name, module, global) PICKLE_##name,
  PICKLE_CALLS(X)
#undef X
      PICKLE_STORAGE_CLASS, /* dtype says which */
  PICKLE_TORCH_CLASS,       /* type says which: not yet an instance */
  PICKLE_NEW_OBJECT,        /* type; an instance whose state is still to come */
  PICKLE_OPAQUE,            /* a storage with its dtype, or a part of it */
  PICKLE_FOREIGN            /* text is its name: host->keeps_foreign */
} PickleCallKind;

/* What stands on the machine's stack beside plain values. */
typedef struct PickleName {
  Capsule base;
  uint8_t kind; /* PickleCallKind */
  uint8_t dtype;
  const Type *type;
  /* PICKLE_OPAQUE: a part of a storage, or all of it. */
  Storage *storage; /* owned; NULL: on the meta device */
  size_t offset, bytes;
  IValue text; /* owned; PICKLE_FOREIGN */
} PickleName;

typedef struct PickleReader {
  const unsigned char *data;
  size_t length, at;
  const PickleHost *host;
  VEC(IValue) stack;
  VEC(size_t) marks;
  VEC(IValue) memo;    /* by index, owned; uninitialized: never put */
  size_t copies_left;  /* elements that list building may copy in all */
  VEC(IValue) fetched; /* lists and dicts used twice, owned: the result may hold itself */
} PickleReader;

Status pickle_name_new(PickleCallKind kind, PickleName **out) MUST_CHECK;
static inline PickleName *pickle_name(IValue v) {
  return v.tag == TAG_CAPSULE ? (PickleName *)v.capsule : NULL;
}
/* GLOBAL module name. */
Status pickle_find_global(PickleReader *reader, Str module, Str name, IValue *out) MUST_CHECK;
/* REDUCE: callable and arguments borrowed. */
Status pickle_call(PickleReader *reader, IValue callable, IValue arguments, IValue *out) MUST_CHECK;
/* BINPERSID: a storage. */
Status pickle_load_storage(PickleReader *reader, IValue id, IValue *out) MUST_CHECK;
/* BUILD: target and state borrowed. */
Status pickle_build(PickleReader *reader, IValue target, IValue state, IValue *out) MUST_CHECK;
