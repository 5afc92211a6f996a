/* serial: archives. Reading never runs anything: pickles are read as data with a closed list of names. */
#pragma once

#include "frontend/frontend.h"
#include "module/module.h"

/* ---- bytes of an archive ---- */
typedef struct ByteSource {
  /* Reads exactly `length` bytes at `offset`. */
  Status (*read)(struct ByteSource *source, uint64_t offset, void *to, size_t length);
  /* A pointer to the bytes in place, or NULL when it must be read; valid while the source is retained. */
  const void *(*view)(struct ByteSource *source, uint64_t offset, size_t length);
  void (*free)(struct ByteSource *source);
  uint64_t size;
  RefCount refs;
} ByteSource;
Status byte_source_open(const char *path, bool map, ByteSource **out) MUST_CHECK;
Status byte_source_from_memory(const void *data, size_t length, ByteSource **out) MUST_CHECK; /* borrowed for the source's life */
void byte_source_release(ByteSource *source);

typedef struct LoadOptions {
  bool map;
  uint64_t max_bytes;
  const char *device_map; /* "cuda=cpu,cuda:1=cpu" or "*=cpu"; NULL: devices other than cpu are an error */
  const char *allow_ops;  /* path-free list of allowed operator names, newline separated; NULL: all */
} LoadOptions;

/* A TorchScript archive of any version. */
Status import_module(ByteSource *source, Exec *exec, const LoadOptions *options, Module **out) MUST_CHECK;
/* A file of torch.save (zip or legacy stream): tensors, containers, numbers, strings; anything else is an error naming the global. */
Status import_value(ByteSource *source, Exec *exec, const LoadOptions *options, IValue *out) MUST_CHECK;
Status npy_load(ByteSource *source, IValue *out) MUST_CHECK;  /* .npy: a tensor; .npz: a dict of tensors */
