/* StorageTable: the tensor data of an archive by key, so that tensors which shared a storage share it again; the device
 * map. */
#pragma once

#include "serial/archive/archive.h"

typedef struct StorageTable {
  Archive *archive;       /* NULL: storages are made empty and filled by the caller (the stream format) */
  const char *folder;     /* "data/" */
  const char *device_map; /* as LoadOptions has it */
  uint64_t max_bytes;     /* of all storages, when there is no archive */
  Map by_key;             /* owned key -> owned Storage */
} StorageTable;
void storage_table_init(StorageTable *table, Archive *archive, const char *folder, const char *device_map);
void storage_table_dispose(StorageTable *table);
/* PickleHost.load_storage with the table as context. */
Status storage_table_load(void *table, Str key, Str location, DType dtype, size_t bytes, Storage **out) MUST_CHECK;

/* "cuda=cpu,cuda:1=cpu" or "*=cpu": the device that stands for `location`; the most exact entry wins. */
Status device_map_apply(const char *map_or_null, Str location, Device *out) MUST_CHECK;
