/* StorageTable: the tensor data of an archive by key, so that tensors which shared a storage share it again. */
#pragma once

#include "serial/archive/archive.h"
#include "tensor/device_map.h"

typedef struct StorageTable {
  Archive *archive;      /* NULL: storages are made empty and filled by the caller (the stream format) */
  const char *folder;    /* "data/" */
  DeviceMap *device_map; /* borrowed; may be NULL */
  uint64_t max_bytes;    /* of all storages, when there is no archive */
  Map by_key;            /* owned key -> owned Storage */
} StorageTable;
void storage_table_init(StorageTable *table, Archive *archive, const char *folder, DeviceMap *device_map);
void storage_table_dispose(StorageTable *table);
/* PickleHost.load_storage with the table as context: *out is NULL where the location is the meta device. */
Status storage_table_load(void *table, Str key, Str location, DType dtype, size_t bytes, Storage **out) MUST_CHECK;
