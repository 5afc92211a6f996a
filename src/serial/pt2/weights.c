/* In a PT2 archive a tensor is a record of raw bytes (several tensors may be views of one), or a file of torch.save as
 * a record. Older files have one of torch.save for the state and one for the constants. */
#include "serial/pt2/weights.h"

/* The file's numbers of dtypes, which are neither PyTorch's nor wick's. */
static const uint8_t dtypes[] = {DTYPE_NONE,      DTYPE_UINT8,      DTYPE_INT8,    DTYPE_INT16,   DTYPE_INT32,
                                 DTYPE_INT64,     DTYPE_FLOAT16,    DTYPE_FLOAT32, DTYPE_FLOAT64, DTYPE_COMPLEX32,
                                 DTYPE_COMPLEX64, DTYPE_COMPLEX128, DTYPE_BOOL,    DTYPE_BFLOAT16};
static const uint8_t later_dtypes[] = {DTYPE_UINT16,          DTYPE_FLOAT8_E4M3FN,   DTYPE_FLOAT8_E5M2,
                                       DTYPE_FLOAT8_E4M3FNUZ, DTYPE_FLOAT8_E5M2FNUZ, DTYPE_FLOAT8_E8M0FNU,
                                       DTYPE_UINT32,          DTYPE_UINT64};
enum { FIRST_LATER = 28 };
DType pt2_dtype(int64_t number) {
  if (number >= 0 && (size_t)number < sizeof dtypes) return (DType)dtypes[number];
  bool is_later = number >= FIRST_LATER && (size_t)(number - FIRST_LATER) < sizeof later_dtypes;
  return is_later ? (DType)later_dtypes[number - FIRST_LATER] : DTYPE_NONE;
}

/* ---- raw tensors ---- */

typedef struct Metadata {
  DType dtype;
  int ndim;
  int64_t sizes[TENSOR_MAX_DIMS], strides[TENSOR_MAX_DIMS], offset;
  Device device;
} Metadata;

static Status read_numbers(const Json *list, int *out_count, int64_t out[TENSOR_MAX_DIMS]) {
  *out_count = 0;
  if (!list) return status_new(ERROR_DATA, "a tensor has no sizes or strides");
  for (const Json *e = json_first(list); e; e = json_next(e)) {
    if (*out_count == TENSOR_MAX_DIMS)
      return status_new(ERROR_UNSUPPORTED, "a tensor of more than %d dimensions", TENSOR_MAX_DIMS);
    if (!json_int(json_get(e, "as_int"), &out[*out_count]) || out[*out_count] < 0)
      return status_new(ERROR_DATA, "a stored tensor has a size or stride that is no number");
    ++*out_count;
  }
  return OK;
}

static Status read_device(const Pt2Weights *w, const Json *device, Device *out) {
  StrBuf text = {.max_length = 100};
  Str type = STR("cpu");
  int64_t index;
  json_string(json_get(device, "type"), &type);
  strbuf_str(&text, type);
  if (json_int(json_get(device, "index"), &index)) strbuf_printf(&text, ":%lld", (long long)index);
  Status status = device_map_location(w->device_map, strbuf_view(&text), out);
  strbuf_dispose(&text);
  return status;
}

static Status read_metadata(const Pt2Weights *w, const Json *meta, Metadata *out) {
  int64_t dtype, layout = 7;
  int strides;
  if (!json_int(json_get(meta, "dtype"), &dtype)) return status_new(ERROR_DATA, "a tensor has no dtype");
  out->dtype = pt2_dtype(dtype);
  if (out->dtype == DTYPE_NONE) return status_new(ERROR_UNSUPPORTED, "a tensor of dtype number %lld", (long long)dtype);
  json_int(json_get(meta, "layout"), &layout);
  if (layout != 7) return status_new(ERROR_UNSUPPORTED, "a stored tensor of layout number %lld", (long long)layout);
  TRY(read_numbers(json_array(meta, "sizes"), &out->ndim, out->sizes));
  TRY(read_numbers(json_array(meta, "strides"), &strides, out->strides));
  if (strides != out->ndim)
    return status_new(ERROR_DATA, "a stored tensor has %d strides for %d dimensions", strides, out->ndim);
  out->offset = 0;
  const Json *offset = json_get(json_get(meta, "storage_offset"), "as_int");
  if (offset && (!json_int(offset, &out->offset) || out->offset < 0))
    return status_new(ERROR_DATA, "a stored tensor has a malformed storage_offset");
  return read_device(w, json_get(meta, "device"), &out->device);
}

/* The whole record as a storage; borrowed. */
static Status record_storage(Pt2Weights *w, const ArchiveRecord *record, Storage **out) {
  *out = map_get(&w->storages, record->name);
  if (*out) return OK;
  if (record->size > SIZE_MAX) return status_out_of_memory();
  TRY(archive_storage(w->container->archive, record, (size_t)record->size, out));
  if (map_put(&w->storages, record->name, *out)) return OK;
  storage_release(*out);
  return status_out_of_memory();
}

static bool is_view_of(const Tensor *tensor, const Metadata *m) {
  return tensor->dtype == m->dtype && tensor->ndim == m->ndim && tensor->offset == m->offset &&
         !memcmp(tensor->sizes, m->sizes, (size_t)m->ndim * sizeof *m->sizes) &&
         !memcmp(tensor->strides, m->strides, (size_t)m->ndim * sizeof *m->strides);
}

static Status read_raw(Pt2Weights *w, const ArchiveRecord *record, const Json *meta, Tensor **out) {
  Metadata m;
  Storage *storage;
  TRY(read_metadata(w, meta, &m));
  if (m.device.type == DEVICE_META) {
    TensorSpec spec = {.dtype = m.dtype, .device = m.device, .flags = TENSOR_META, .ndim = m.ndim, .has_strides = true};
    memcpy(spec.sizes, m.sizes, sizeof m.sizes);
    memcpy(spec.strides, m.strides, sizeof m.strides);
    return tensor_new(&spec, out);
  }
  /* What has two names is one tensor, as in the model, so that it has one gradient. */
  const Tensor *first = map_get(&w->firsts, record->name);
  if (first && is_view_of(first, &m)) return *out = tensor_retain(first), OK;
  TRY(record_storage(w, record, &storage));
  TRY(tensor_from_storage(storage, m.dtype, m.ndim, m.sizes, m.strides, m.offset, out));
  bool requires_grad = false;
  json_bool(json_get(meta, "requires_grad"), &requires_grad);
  if (requires_grad && (dtype_is_floating(m.dtype) || dtype_is_complex(m.dtype))) (*out)->flags |= TENSOR_REQUIRES_GRAD;
  if (first || map_put(&w->firsts, record->name, tensor_retain(*out))) return OK;
  tensor_release(*out);
  tensor_release(*out);
  return status_out_of_memory();
}

/* ---- pickled ones ---- */

static Status read_pickled(const Pt2Weights *w, const ArchiveRecord *record, IValue *out) {
  char *bytes;
  size_t length;
  ByteSource *source;
  TRY(archive_read(w->container->archive, record, &bytes, &length));
  Status status = byte_source_from_memory(bytes, length, &source);
  if (!status) {
    LoadOptions options = *w->options;
    uint64_t left = w->container->archive->bytes_left;
    options.max_bytes = left ? left : 1; /* 0 would be no limit */
    status = value_import(source, &options, out);
    byte_source_release(source);
  }
  mem_free(bytes);
  return status_context(status, STR_FMT, STR_ARG(record->name));
}

/* ---- PT2 archives ---- */

static Status read_payload(Pt2Weights *w, const char *folder, const Json *payload, IValue *out) {
  Str path;
  bool is_pickled = false;
  if (!json_string(json_get(payload, "path_name"), &path)) return status_new(ERROR_DATA, "no path_name");
  json_bool(json_get(payload, "use_pickle"), &is_pickled);
  StrBuf name = {0};
  strbuf_puts(&name, folder);
  strbuf_str(&name, path);
  const ArchiveRecord *record = name.failed ? NULL : archive_find(w->container->archive, strbuf_view(&name));
  Status status = name.failed ? status_out_of_memory()
                  : record
                      ? OK
                      : status_new(ERROR_DATA, "the archive has no record '" STR_FMT "'", STR_ARG(strbuf_view(&name)));
  strbuf_dispose(&name);
  if (status) return status;
  if (is_pickled) return read_pickled(w, record, out);
  const Json *meta = json_object(payload, "tensor_meta");
  if (!meta) return status_new(ERROR_UNSUPPORTED, "an object that is no tensor");
  Tensor *tensor;
  TRY(read_raw(w, record, meta, &tensor));
  *out = ivalue_tensor(tensor);
  return OK;
}

static Status add_payload(Pt2Weights *w, const char *folder, const Json *payload, Dict *to) {
  Str name = json_key(payload);
  IValue key, value;
  Status status = read_payload(w, folder, payload, &value);
  if (status)
    return status_context(status, "tensor '" STR_FMT "'", (int)(name.length < 200 ? name.length : 200), name.data);
  status = ivalue_from_str(name, &key);
  if (status) return ivalue_release(value), status;
  return dict_set(to, key, value);
}

/* data/weights/NAME_weights_config.json and what it names. */
static Status read_folder(Pt2Weights *w, const char *folder, const char *kind, Dict *to) {
  StrBuf name = {0};
  Json *config;
  strbuf_printf(&name, "%s" STR_FMT "_%s_config.json", folder, STR_ARG(w->container->model), kind);
  Status status =
      name.failed ? status_out_of_memory() : pt2_read_json(w->container->archive, strbuf_view(&name), &config);
  strbuf_dispose(&name);
  if (status || !config) return status;
  for (const Json *e = json_first(json_get(config, "config")); e && !status; e = json_next(e))
    status = add_payload(w, folder, e, to);
  json_free(config);
  return status;
}

/* ---- older files ---- */

static Status read_older(const Pt2Weights *w, const char *name, const char *other_name, Dict **to) {
  const ArchiveRecord *record = archive_find(w->container->archive, str_from(name));
  IValue value;
  if (!record) record = archive_find(w->container->archive, str_from(other_name));
  if (!record || !record->size) return OK;
  TRY(read_pickled(w, record, &value));
  if (value.tag != TAG_DICT) {
    ivalue_release(value);
    return status_new(ERROR_DATA, "%s holds no dict", name);
  }
  ivalue_release(ivalue_dict(*to));
  *to = value.dict;
  return OK;
}

Status pt2_weights_read(Pt2Weights *w, const Pt2Container *container, const LoadOptions *options,
                        DeviceMap *device_map) {
  *w = (Pt2Weights){.container = container, .options = options, .device_map = device_map};
  map_init(&w->storages, NULL);
  map_init(&w->firsts, NULL);
  TRY(dict_new(TYPE(STRING), TYPE(ANY), &w->state));
  TRY(dict_new(TYPE(STRING), TYPE(ANY), &w->constants));
  if (container->is_older) {
    TRY(read_older(w, "serialized_state_dict.pt", "serialized_state_dict.json", &w->state));
    return read_older(w, "serialized_constants.pt", "serialized_constants.json", &w->constants);
  }
  TRY(read_folder(w, "data/weights/", "weights", w->state));
  return read_folder(w, "data/constants/", "constants", w->constants);
}
void pt2_weights_dispose(Pt2Weights *w) {
  for (MapEntry *e = map_next(&w->storages, NULL); e; e = map_next(&w->storages, e)) storage_release(e->value);
  for (MapEntry *e = map_next(&w->firsts, NULL); e; e = map_next(&w->firsts, e)) tensor_release(e->value);
  map_dispose(&w->storages);
  map_dispose(&w->firsts);
  if (w->state) ivalue_release(ivalue_dict(w->state));
  if (w->constants) ivalue_release(ivalue_dict(w->constants));
}

static Status look_up(const Dict *dict, Str name, IValue *out, bool *out_found) {
  IValue key;
  TRY(ivalue_from_str(name, &key));
  Status status = dict_get(dict, key, out, out_found);
  ivalue_release(key);
  return status;
}
Status pt2_weights_find(const Pt2Weights *w, Str name, bool is_constant, Tensor **out) {
  IValue value;
  bool found;
  TRY(look_up(is_constant ? w->constants : w->state, name, &value, &found));
  if (!found) TRY(look_up(is_constant ? w->state : w->constants, name, &value, &found)); /* older files differ */
  if (!found) return status_new(ERROR_DATA, "the file holds no tensor '" STR_FMT "'", STR_ARG(name));
  if (value.tag == TAG_TENSOR) return *out = value.tensor, OK;
  ivalue_release(value);
  return status_new(ERROR_UNSUPPORTED, "the constant '" STR_FMT "' is no tensor", STR_ARG(name));
}
