/* Storages of one folder of an archive. */
#include "serial/archive/storages.h"

#include <assert.h>

void storage_table_init(StorageTable *table, Archive *archive, const char *folder, DeviceMap *device_map) {
  *table = (StorageTable){.archive = archive, .folder = folder, .device_map = device_map};
  map_init(&table->by_key, NULL);
}
void storage_table_dispose(StorageTable *table) {
  for (MapEntry *e = map_next(&table->by_key, NULL); e; e = map_next(&table->by_key, e)) {
    storage_release(e->value);
    mem_free((char *)(uintptr_t)e->key.data);
  }
  map_dispose(&table->by_key);
}

static Status load_new(StorageTable *table, Str key, size_t bytes, Storage **out) {
  if (!table->archive) {
    if (bytes > table->max_bytes)
      return status_new(ERROR_DATA, "a storage of %zu bytes does not fit into the file", bytes);
    table->max_bytes -= bytes;
    return storage_new_lasting(bytes, out);
  }
  StrBuf name = {0};
  strbuf_puts(&name, table->folder);
  strbuf_str(&name, key);
  if (name.failed) {
    strbuf_dispose(&name);
    return status_out_of_memory();
  }
  const ArchiveRecord *record = archive_find(table->archive, strbuf_view(&name));
  Status status = record ? archive_storage(table->archive, record, bytes, out)
                         : status_new(ERROR_DATA, "the archive has no record '" STR_FMT "' with a tensor's data",
                                      STR_ARG(strbuf_view(&name)));
  strbuf_dispose(&name);
  return status;
}

Status storage_table_load(void *context, Str key, Str location, DType dtype, size_t bytes, Storage **out) {
  assert(dtype < DTYPE_COUNT);
  StorageTable *table = context;
  (void)dtype;
  Storage *storage = map_get(&table->by_key, key);
  if (storage) {
    if (bytes > storage->bytes)
      return status_new(ERROR_DATA, "storage '" STR_FMT "' is named with two sizes", STR_ARG(key));
    *out = storage_retain(storage);
    return OK;
  }
  Device device;
  TRY(device_map_location(table->device_map, location, &device));
  if (device.type == DEVICE_META) return *out = NULL, OK;
  TRY(load_new(table, key, bytes, &storage));
  char *owned = mem_alloc(key.length + 1);
  if (owned) memcpy(owned, key.data, key.length);
  if (!owned || !map_put(&table->by_key, (Str){owned, key.length}, storage)) {
    mem_free(owned);
    storage_release(storage);
    return status_out_of_memory();
  }
  *out = storage_retain(storage);
  return OK;
}
