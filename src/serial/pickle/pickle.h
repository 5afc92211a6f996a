/* pickle: reads Python pickles as data. The machine knows a closed list of names (pickle_globals.h); none of them runs
 * anything, and any other name is an error. Nothing recurses; what a pickle can make is bounded by its length. */
#pragma once

#include "ivalue/ivalue.h"

/* What a pickle needs from outside. Functions may be NULL: what asks for them is then refused. */
typedef struct PickleHost {
  void *context;
  struct DeviceMap *device_map; /* of torch.device; may be NULL */
  /* For looking at files: what names no data becomes a dict of what was pickled (PICKLE_FOREIGN_...) in place of an
   * error. Nobody knows its class, and nothing of it runs. */
  bool keeps_foreign;
  /* Only what is asked of load_storage matters: what the pickle calls, builds and puts into containers is passed over. */
  bool only_storages;
  /* "__torch__.a.B": a class, enum or named tuple. */
  Status (*resolve_class)(void *context, Str qualified_name, const Type **out);
  /* The annotation of a restore_type_tag. */
  Status (*parse_type)(void *context, Str annotation, const Type **out);
  /* The object of a class with its pickled state (borrowed). */
  Status (*make_object)(void *context, ClassType *class_type, IValue state, IValue *out);
  /* At least `bytes` of the storage named `key`; the same for the same key. *out is the caller's; NULL: there is none,
   * for its tensors are on the meta device. */
  Status (*load_storage)(void *context, Str key, Str location, DType dtype, size_t bytes, Storage **out);
  /* Tensor `index` of the table that archives of 2019 carry. *out is the caller's. */
  Status (*load_tensor)(void *context, int64_t index, Tensor **out);
} PickleHost;

/* Keys of such a dict: the qualified name, the arguments that made it, the state that it was given, if it was. */
#define PICKLE_FOREIGN_CLASS "__class__"
#define PICKLE_FOREIGN_ARGUMENTS "__arguments__"
#define PICKLE_FOREIGN_STATE "__state__"

/* Reads one pickle at the start of data; *out_used (may be NULL) is where it ended. Classes other than __torch__'s give
 * dicts, lists, tuples, numbers and strings; lists have element type Any unless tagged. */
Status pickle_read(const void *data, size_t length, const PickleHost *host, IValue *out, size_t *out_used) MUST_CHECK;

/* Gives lists, dicts and tuples the types they are declared with (pickled containers often come without), checks that
 * the value fits the type, and may replace *value by one of the same content. `what` names it in errors. */
Status ivalue_restore_type(IValue *value, const Type *type, const char *what) MUST_CHECK;
