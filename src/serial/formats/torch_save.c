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

/* After the pickles: the keys in order, and for each a count of elements (8 bytes) and the data. */
static Status fill_storages(StorageTable *table, const char *data, size_t length, size_t at, IValue keys) {
  if (keys.tag != TAG_LIST || keys.list->kind != LIST_VALUES)
    return status_new(ERROR_DATA, "damaged file: no list of storages");
  size_t filled = 0;
  for (size_t i = 0; i < keys.list->length; i++) {
    IValue key = keys.list->values[i];
    if (key.tag != TAG_STRING) return status_new(ERROR_DATA, "damaged file: a storage's key is no text");
    Storage *storage = map_get(&table->by_key, ivalue_str(key));
    if (!storage) return status_new(ERROR_DATA, "damaged file: data for a storage that nothing uses");
    if (length - at < 8 || length - at - 8 < storage->bytes)
      return status_new(ERROR_DATA, "the file ends within a tensor's data");
    memcpy(storage->data, data + at + 8, storage->bytes);
    at += 8 + storage->bytes;
    filled++;
  }
  if (filled < map_count(&table->by_key)) return status_new(ERROR_DATA, "damaged file: tensors without data");
  return OK;
}

/* magic, protocol, system information, the value, keys. */
static Status import_stream(ByteSource *source, const LoadOptions *options, IValue *out) {
  if (source->size > SIZE_MAX / 2 || (options->max_bytes && source->size > options->max_bytes))
    return status_new(ERROR_DATA, "the file exceeds the limit for reading");
  size_t length = (size_t)source->size, at = sizeof stream_magic, used;
  char *data = mem_alloc(length);
  if (!data) return status_out_of_memory();
  StorageTable table;
  DeviceMap map = {.text = options->device_map};
  storage_table_init(&table, NULL, "", &map);
  table.max_bytes = length;
  PickleHost plain = {0}, host = {.context = &table,
                                  .device_map = &map,
                                  .keeps_foreign = options->keeps_foreign,
                                  .load_storage = storage_table_load};
  IValue protocol = IVALUE_NONE, system = IVALUE_NONE, value = IVALUE_NONE, keys = IVALUE_NONE, little = IVALUE_NONE;
  IValue *parts[] = {&protocol, &system, &value, &keys};
  Status status = byte_source_read(source, 0, data, length);
  for (int i = 0; i < 4 && !status; i++) {
    status = pickle_read(data + at, length - at, i == 2 ? &host : &plain, parts[i], &used);
    if (!status) at += used;
    if (!status && i == 1 && system.tag == TAG_DICT) {
      IValue key;
      status = ivalue_from_str(STR("little_endian"), &key);
      bool found = false;
      if (!status) {
        status = dict_get(system.dict, key, &little, &found);
        ivalue_release(key);
      }
      if (found && little.tag == TAG_BOOL && !little.b)
        status = status_new(ERROR_UNSUPPORTED, "tensors in big-endian order");
    }
  }
  if (!status) status = fill_storages(&table, data, length, at, keys);
  if (!status) *out = ivalue_retain(value);
  ivalue_release(little);
  for (int i = 0; i < 4; i++) ivalue_release(*parts[i]);
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
