/* What torch.save writes: a zip archive with one pickle and a record for each storage, or (before 1.6) a stream of
 * pickles followed by the storages' bytes. */
#include "serial/archive/storages.h"
#include "serial/pickle/pickle.h"
#include "serial/formats/file_kind.h"
#include "serial/serial.h"

/* The pickle of torch.serialization.MAGIC_NUMBER, which begins a stream. */
static const unsigned char stream_magic[] = {0x80, 0x02, 0x8a, 0x0a, 0x6c, 0xfc, 0x9c, 0x46,
                                             0xf9, 0x20, 0x6a, 0xa8, 0x50, 0x19, 0x2e};

static Status import_zip(ByteSource *source, const LoadOptions *options, IValue *out) {
  Archive *archive;
  TRY(archive_open(source, true, options->max_bytes, &archive));
  archive->share_weights = options->share_weights;
  StorageTable table;
  DeviceMap map = {.text = options->device_map};
  storage_table_init(&table, archive, "data/", &map);
  PickleHost host = {.context = &table,
                     .device_map = &map,
                     .keeps_foreign = options->keeps_foreign,
                     .load_storage = storage_table_load};
  const ArchiveRecord *record = archive_find(archive, STR("data.pkl")),
                      *order = archive_find(archive, STR("byteorder"));
  char *data = NULL, *text = NULL;
  size_t length;
  Status status = OK;
  if (!record) {
    status = file_refuse(source, "a file of torch.save");
  } else if (archive_find(archive, STR("constants.pkl"))) {
    status = status_new(ERROR_DATA, "this is a TorchScript archive, not a file of torch.save");
  }
  if (!status && order) {
    status = archive_read(archive, order, &text, &length);
    if (!status && !str_is((Str){text, length}, "little"))
      status = status_new(ERROR_UNSUPPORTED, "tensors in big-endian order");
  }
  if (!status) status = archive_read(archive, record, &data, &length);
  if (!status) status = pickle_read(data, length, &host, out, NULL);
  mem_free(data);
  mem_free(text);
  storage_table_dispose(&table);
  archive_free(archive);
  return status;
}

/* After the pickles: for each key, in this order, a count of elements (8 bytes) and the data. */
static Status fill_storage(Storage *storage, const char *data, size_t length, size_t *at) {
  uint64_t count = 0;
  if (length - *at < 8) return status_new(ERROR_DATA, "the file ends within a tensor's data");
  for (int i = 0; i < 8; i++) count |= (uint64_t)(unsigned char)data[*at + (size_t)i] << (8 * i);
  *at += 8;
  if (count ? storage->bytes % count != 0 || storage->bytes / count > sizeof(complex128) : storage->bytes != 0)
    return status_new(ERROR_DATA, "damaged file: %llu elements for a storage of %zu bytes", (unsigned long long)count,
                      storage->bytes);
  if (length - *at < storage->bytes) return status_new(ERROR_DATA, "the file ends within a tensor's data");
  if (storage->bytes) memcpy(storage->data, data + *at, storage->bytes);
  *at += storage->bytes;
  return OK;
}
static Status fill_storages(StorageTable *table, const char *data, size_t length, size_t at, IValue keys) {
  if (keys.tag != TAG_LIST || keys.list->kind != LIST_VALUES)
    return status_new(ERROR_DATA, "damaged file: no list of storages");
  PtrMap filled;
  ptrmap_init(&filled, NULL);
  Status status = OK;
  for (size_t i = 0; i < keys.list->length && !status; i++) {
    IValue key = keys.list->values[i];
    Storage *storage = key.tag == TAG_STRING ? map_get(&table->by_key, ivalue_str(key)) : NULL;
    if (!storage || ptrmap_has(&filled, storage))
      status = status_new(ERROR_DATA, "damaged file: data for a storage that nothing uses");
    else if (!ptrmap_put(&filled, storage, storage))
      status = status_out_of_memory();
    else
      status = fill_storage(storage, data, length, &at);
  }
  if (!status && keys.list->length < map_count(&table->by_key))
    status = status_new(ERROR_DATA, "damaged file: tensors without data");
  ptrmap_dispose(&filled);
  return status;
}

static Status check_little_endian(const IValue system) {
  IValue key, little;
  bool found = false;
  if (system.tag != TAG_DICT) return OK;
  TRY(ivalue_from_str(STR("little_endian"), &key));
  Status status = dict_get(system.dict, key, &little, &found);
  ivalue_release(key);
  if (status || !found) return status;
  bool is_big = little.tag == TAG_BOOL && !little.b;
  ivalue_release(little);
  return is_big ? status_new(ERROR_UNSUPPORTED, "tensors in big-endian order") : OK;
}

/* The pickles of a stream. */
enum { PROTOCOL, SYSTEM, VALUE, KEYS, STREAM_PICKLES };

/* The data of storages comes last, but sparse and quantized tensors are checked and put together from what they hold.
 * So the value's pickle is read twice: first for the storages it names, then, when these are filled, for the value. */
static Status read_stream(const char *data, size_t length, PickleHost *host, IValue *out) {
  PickleHost plain = {0};
  IValue parts[STREAM_PICKLES] = {IVALUE_NONE, IVALUE_NONE, IVALUE_NONE, IVALUE_NONE};
  size_t at = sizeof stream_magic, value_at = 0, used;
  Status status = OK;
  for (int i = 0; i < STREAM_PICKLES && !status; i++) {
    if (i == VALUE) value_at = at;
    host->only_storages = true;
    status = pickle_read(data + at, length - at, i == VALUE ? host : &plain, &parts[i], &used);
    if (!status) at += used;
    if (!status && i == SYSTEM) status = check_little_endian(parts[i]);
  }
  host->only_storages = false;
  if (!status) status = fill_storages(host->context, data, length, at, parts[KEYS]);
  if (!status) status = pickle_read(data + value_at, length - value_at, host, out, NULL);
  for (int i = 0; i < STREAM_PICKLES; i++) ivalue_release(parts[i]);
  return status;
}

static Status import_stream(ByteSource *source, const LoadOptions *options, IValue *out) {
  if (source->size > SIZE_MAX / 2 || (options->max_bytes && source->size > options->max_bytes))
    return status_new(ERROR_DATA, "the file exceeds the limit for reading");
  size_t length = (size_t)source->size;
  char *data = mem_alloc(length);
  if (!data) return status_out_of_memory();
  StorageTable table;
  DeviceMap map = {.text = options->device_map};
  storage_table_init(&table, NULL, "", &map);
  table.max_bytes = length;
  PickleHost host = {.context = &table,
                     .device_map = &map,
                     .keeps_foreign = options->keeps_foreign,
                     .load_storage = storage_table_load};
  Status status = byte_source_read(source, 0, data, length);
  if (!status) status = read_stream(data, length, &host, out);
  storage_table_dispose(&table);
  mem_free(data);
  return status;
}

Status value_import(ByteSource *source, const LoadOptions *options, IValue *out) {
  TRY(device_map_check(options->device_map));
  unsigned char start[sizeof stream_magic];
  bool is_zip;
  TRY(archive_is_zip(source, &is_zip));
  if (is_zip) return import_zip(source, options, out);
  if (source->size > sizeof start) {
    TRY(byte_source_read(source, 0, start, sizeof start));
    if (!memcmp(start, stream_magic, sizeof start)) return import_stream(source, options, out);
  }
  return options->keeps_foreign ? status_new(ERROR_DATA, "no file of torch.save") /* being looked at to be refused */
                                : file_refuse(source, "a file of torch.save");
}
