/* Memory that is given back while something else can make its content again: a weight's, whose kernels read it in
 * another order (compute/conv/conv_weights.h).
 *
 * A storage is dropped where nobody can be reading it. Its `data` are NULL from then on, and its tensors, which have
 * TENSOR_DROPPED, show nothing until somebody asks for their elements (tensor_restore): then the content is made again,
 * bit for bit. Before anything writes it is there, so what it is made of never gets old. Restoring may happen while
 * other threads use the storage; dropping never does.
 *
 * The memory is a base's (tensor/storage_share.h): it goes when none of the storages that share it shows it. */
#pragma once

#include "tensor/tensor.h"

/* What makes the content of a storage again. */
typedef struct ContentSource {
  bool (*make)(void *context, void *to); /* all of it; false: no memory */
  void (*free)(void *context);
  void *context;
  uint32_t version; /* of the content that it makes */
} ContentSource;

/* Whether it could be dropped, if nobody were reading it: it is large, has been allocated for itself, is no part of a
 * mapped file, whose memory the system can take back itself, and was not restored time and again. */
bool storage_may_drop(const Storage *storage);
/* Whether it was dropped, if `is_unused` says that nobody reads it. That is asked with the lock of storages held, and
 * tells the tensor, from which on it counts. The source is taken over. */
bool storage_drop(Storage *storage, ContentSource source, bool (*is_unused)(void *argument), void *argument);
/* Moves whenever a storage is restored, or is found to be one that could be dropped. */
uint32_t storage_drop_stamp(void);
void storage_drop_found(void);

/* ---- storage_share.c's and storage_alike.c's, with the lock held ---- */

/* Memory that is to be freed without the lock. */
typedef struct LeftMemory {
  void *data;
  size_t bytes;
  void (*free_data)(void *context, void *data, size_t bytes);
  void *context;
} LeftMemory;
static inline void left_memory_free(LeftMemory left) {
  if (left.data) left.free_data(left.context, left.data, left.bytes);
}
/* The memory of a base that no storage shows, when `going` of its references go. */
LeftMemory dropped_take_memory(Storage *base, int32_t going);
/* A storage comes to share a dropped content, or one that does goes. */
void dropped_count(Storage *base, int32_t storages);
/* Without the lock, of a base that the caller holds: whether it has the content of `own`, whose memory it takes over
 * where it has none. */
bool dropped_is_alike(Storage *base, Storage *own);
