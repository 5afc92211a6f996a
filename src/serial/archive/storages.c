/* Storages of one folder of an archive. */
#include "serial/archive/storages.h"

static Str trimmed(Str s) {
  while (s.length && s.data[0] == ' ') s = str_slice(s, 1, s.length);
  while (s.length && s.data[s.length - 1] == ' ') s.length--;
  return s;
}
static bool same_device_text(Str entry, Str location) {
  if (str_equal(entry, location)) return true;
  ptrdiff_t colon = str_find_char(location, ':');
  return colon > 0 && str_equal(entry, str_slice(location, 0, (size_t)colon));
}

Status device_map_apply(const char *map, Str location, Device *out) {
  Str rest = map ? str_from(map) : STR(""), best = {0};
  int best_rank = 0; /* 1: "*", 2: the type, 3: type and index */
  while (rest.length) {
    ptrdiff_t comma = str_find_char(rest, ',');
    Str entry = comma < 0 ? rest : str_slice(rest, 0, (size_t)comma);
    rest = comma < 0 ? STR("") : str_slice(rest, (size_t)comma + 1, rest.length);
    ptrdiff_t equals = str_find_char(entry, '=');
    if (equals < 0)
      return status_new(ERROR_INVALID_ARGUMENT, "device map: '" STR_FMT "' is not FROM=TO", STR_ARG(entry));
    Str from = trimmed(str_slice(entry, 0, (size_t)equals)),
        to = trimmed(str_slice(entry, (size_t)equals + 1, entry.length));
    int rank = str_equal(from, location) ? 3 : same_device_text(from, location) ? 2 : str_is(from, "*") ? 1 : 0;
    if (rank > best_rank) best_rank = rank, best = to;
  }
  TRY(device_parse(best_rank ? best : location, out));
  if (out->type != DEVICE_CPU)
    return status_new(ERROR_UNSUPPORTED,
                      "the archive has tensors on device '" STR_FMT
                      "'%s (a device map such as \"*=cpu\" puts them elsewhere)",
                      STR_ARG(location), best_rank ? ", mapped to one that wick does not have" : "");
  return OK;
}

void storage_table_init(StorageTable *table, Archive *archive, const char *folder, const char *device_map) {
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
    return storage_new(bytes, out);
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
  TRY(device_map_apply(table->device_map, location, &device));
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
