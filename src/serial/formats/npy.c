/* NumPy's files: .npy is a header and data in C or Fortran order, .npz a zip of them. */
#include <assert.h>
#include <stdio.h>

#include "serial/archive/archive.h"
#include "serial/archive/zip_writer.h"
#include "serial/serial.h"

enum { MAX_HEADER = 1 << 24, NEWEST_FORMAT = 3 };

static Status bad_header(const char *what) {
  return status_new(ERROR_DATA, "damaged .npy: %s", what);
}

static const struct {
  char kind;
  uint8_t bytes;
  DType dtype;
} descr_rows[] = {
    {'u', 1, DTYPE_UINT8},     {'i', 1, DTYPE_INT8},        {'i', 2, DTYPE_INT16},   {'i', 4, DTYPE_INT32},
    {'i', 8, DTYPE_INT64},     {'f', 2, DTYPE_FLOAT16},     {'f', 4, DTYPE_FLOAT32}, {'f', 8, DTYPE_FLOAT64},
    {'c', 8, DTYPE_COMPLEX64}, {'c', 16, DTYPE_COMPLEX128}, {'b', 1, DTYPE_BOOL},    {'u', 2, DTYPE_UINT16},
    {'u', 4, DTYPE_UINT32},    {'u', 8, DTYPE_UINT64},
};

/* The text after `'key':` of the header's dict, without leading spaces. */
static bool header_value(Str header, const char *key, Str *out) {
  size_t n = strlen(key);
  for (size_t i = 0; i + n + 2 < header.length; i++) {
    if ((header.data[i] != '\'' && header.data[i] != '"') || memcmp(header.data + i + 1, key, n) != 0 ||
        header.data[i + 1 + n] != header.data[i])
      continue;
    size_t at = i + n + 2;
    while (at < header.length && (header.data[at] == ' ' || header.data[at] == ':')) at++;
    *out = str_slice(header, at, header.length);
    return true;
  }
  return false;
}

typedef struct NpyHeader {
  DType dtype;
  bool fortran, is_swapped; /* the most significant byte of each number is the first */
  int ndim;
  int64_t sizes[TENSOR_MAX_DIMS];
} NpyHeader;

static Status parse_shape(Str text, NpyHeader *h) {
  if (!text.length || text.data[0] != '(') return bad_header("no shape");
  size_t at = 1;
  while (at < text.length && text.data[at] != ')') {
    if (text.data[at] == ' ' || text.data[at] == ',' || text.data[at] == 'L') {
      at++;
      continue;
    }
    size_t begin = at;
    while (at < text.length && text.data[at] >= '0' && text.data[at] <= '9') at++;
    if (h->ndim == TENSOR_MAX_DIMS) return bad_header("too many dimensions");
    if (!str_to_int64(str_slice(text, begin, at), 10, &h->sizes[h->ndim])) return bad_header("a malformed shape");
    h->ndim++;
  }
  return at < text.length ? OK : bad_header("the shape does not end");
}

static Status parse_header(Str text, NpyHeader *h) {
  Str descr, order, shape;
  if (!header_value(text, "descr", &descr) || !header_value(text, "fortran_order", &order) ||
      !header_value(text, "shape", &shape))
    return bad_header("its header lacks descr, fortran_order or shape");
  if (descr.length && (descr.data[0] == '[' || descr.data[0] == '('))
    return status_new(ERROR_UNSUPPORTED, ".npy: arrays of structures");
  if (descr.length < 4 || (descr.data[0] != '\'' && descr.data[0] != '"')) return bad_header("a malformed descr");
  char byte_order = descr.data[1], kind = descr.data[2];
  size_t end = 3;
  while (end < descr.length && descr.data[end] >= '0' && descr.data[end] <= '9') end++;
  int64_t bytes = 0;
  h->dtype = DTYPE_NONE;
  if (str_to_int64(str_slice(descr, 3, end), 10, &bytes))
    for (size_t i = 0; i < sizeof descr_rows / sizeof *descr_rows; i++)
      if (descr_rows[i].kind == kind && descr_rows[i].bytes == bytes) h->dtype = descr_rows[i].dtype;
  if (h->dtype == DTYPE_NONE || !strchr("<>|=", byte_order))
    return status_new(ERROR_UNSUPPORTED, ".npy: arrays of type " STR_FMT,
                      STR_ARG(str_slice(descr, 0, end < 20 ? end + 1 : 20)));
  h->is_swapped = byte_order == '>';
  h->fortran = str_starts_with(order, "True");
  return parse_shape(shape, h);
}

/* Turns round the bytes of every number; a complex one is two. */
static void swap_bytes(unsigned char *data, size_t bytes, DType dtype) {
  size_t each = dtype_size(dtype) / (dtype_is_complex(dtype) ? 2 : 1);
  for (size_t at = 0; at + each <= bytes; at += each)
    for (size_t i = 0; i < each / 2; i++) {
      unsigned char low = data[at + i];
      data[at + i] = data[at + each - 1 - i];
      data[at + each - 1 - i] = low;
    }
}

/* Bytes [offset, offset + length) of the source hold one array. */
static Status load_array(ByteSource *source, uint64_t offset, uint64_t length, IValue *out) {
  assert(offset <= source->size && length <= source->size - offset);
  unsigned char start[12];
  if (length < sizeof start) return bad_header("it is too short");
  TRY(byte_source_read(source, offset, start, sizeof start));
  if (memcmp(start, "\x93NUMPY", 6) != 0) return bad_header("its signature is missing");
  if (start[6] < 1 || start[6] > NEWEST_FORMAT)
    return status_new(ERROR_UNSUPPORTED, ".npy: version %d.%d of the format", start[6], start[7]);
  size_t prefix = start[6] == 1 ? 10 : 12;
  size_t header = start[6] == 1
                      ? (size_t)(start[8] | start[9] << 8)
                      : (size_t)start[8] | (size_t)start[9] << 8 | (size_t)start[10] << 16 | (size_t)start[11] << 24;
  if (header > length - prefix) return bad_header("its header leaves the file");
  if (header > MAX_HEADER)
    return status_new(ERROR_UNSUPPORTED, ".npy: a header of %zu bytes, more than %d", header, MAX_HEADER);
  char *text = mem_alloc(header + 1);
  if (!text) return status_out_of_memory();
  NpyHeader h = {0};
  Status status = byte_source_read(source, offset + prefix, text, header);
  if (!status) status = parse_header((Str){text, header}, &h);
  mem_free(text);
  if (status) return status;
  int64_t numel, strides[TENSOR_MAX_DIMS], step = 1;
  size_t bytes;
  TRY(sizes_numel(h.ndim, h.sizes, &numel));
  if (!size_mul((size_t)numel, dtype_size(h.dtype), &bytes) || bytes > length - prefix - header)
    return bad_header("it has less data than its shape says");
  strides_contiguous(h.ndim, h.sizes, strides);
  if (h.fortran)
    for (int i = 0; i < h.ndim; i++) strides[i] = step, step *= h.sizes[i] ? h.sizes[i] : 1;
  Tensor *tensor;
  TRY(tensor_empty_strided(h.dtype, h.ndim, h.sizes, strides, &tensor));
  status = byte_source_read(source, offset + prefix + header, tensor_data(tensor), bytes);
  if (status) {
    tensor_release(tensor);
    return status;
  }
  if (h.is_swapped) swap_bytes(tensor_data(tensor), bytes, h.dtype);
  *out = ivalue_tensor(tensor);
  return OK;
}

static Status load_member(Archive *archive, const ArchiveRecord *record, Dict *into) {
  char *data;
  size_t length;
  ByteSource *bytes;
  TRY(archive_read(archive, record, &data, &length));
  Status status = byte_source_from_memory(data, length, &bytes);
  IValue array = IVALUE_NONE, key = IVALUE_NONE;
  if (!status) {
    status = load_array(bytes, 0, length, &array);
    byte_source_release(bytes);
  }
  mem_free(data);
  if (status) return status_context(status, STR_FMT, STR_ARG(record->name));
  Str name = record->name;
  if (str_ends_with(name, ".npy")) name.length -= 4;
  status = ivalue_from_str(name, &key);
  if (status) {
    ivalue_release(array);
    return status;
  }
  return dict_set(into, key, array);
}

Status npy_load(ByteSource *source, IValue *out) {
  bool is_zip;
  Archive *archive;
  TRY(archive_is_zip(source, &is_zip));
  if (!is_zip) return load_array(source, 0, source->size, out);
  TRY(archive_open(source, false, 0, &archive));
  Dict *dict;
  Status status = dict_new(TYPE(STRING), TYPE(TENSOR), &dict);
  if (!status) {
    for (size_t i = 0; i < archive->records.length && !status; i++)
      status = load_member(archive, &archive->records.data[i], dict);
    *out = ivalue_dict(dict);
    if (status) ivalue_release(*out);
  }
  archive_free(archive);
  return status;
}

Status npy_write(const Tensor *tensor, StrBuf *out) {
  char descr[8] = "";
  for (size_t i = 0; i < sizeof descr_rows / sizeof *descr_rows; i++)
    if (descr_rows[i].dtype == (DType)tensor->dtype)
      snprintf(descr, sizeof descr, "%c%c%u", descr_rows[i].bytes > 1 ? '<' : '|', descr_rows[i].kind,
               descr_rows[i].bytes);
  if (!*descr) return status_new(ERROR_UNSUPPORTED, ".npy has no type for %s", dtype_name((DType)tensor->dtype));
  Tensor *dense;
  TRY(tensor_check_host(tensor));
  TRY(tensor_contiguous(tensor, &dense));
  StrBuf header = {0};
  strbuf_printf(&header, "{'descr': '%s', 'fortran_order': False, 'shape': (", descr);
  for (int i = 0; i < dense->ndim; i++) strbuf_printf(&header, "%lld, ", (long long)dense->sizes[i]);
  strbuf_puts(&header, "), }");
  while ((10 + header.length + 1) % 64) strbuf_char(&header, ' ');
  strbuf_char(&header, '\n');
  strbuf_append(out, "\x93NUMPY\x01\x00", 8);
  strbuf_char(out, (char)(header.length & 0xff));
  strbuf_char(out, (char)(header.length >> 8));
  strbuf_str(out, strbuf_view(&header));
  strbuf_append(out, tensor_data(dense), (size_t)dense->numel * dtype_size((DType)dense->dtype));
  bool failed = header.failed || out->failed;
  strbuf_dispose(&header);
  tensor_release(dense);
  return failed ? status_out_of_memory() : OK;
}

static Status add_array(ZipWriter *writer, Str name, const Tensor *tensor) {
  StrBuf record = {0}, array = {0};
  strbuf_printf(&record, STR_FMT ".npy", STR_ARG(name));
  Status status = npy_write(tensor, &array);
  if (!status && (record.failed || array.failed)) status = status_out_of_memory();
  if (!status) status = zip_writer_add(writer, strbuf_view(&record), array.data, array.length);
  strbuf_dispose(&record);
  strbuf_dispose(&array);
  return status;
}
Status npz_export(const Dict *tensors, const char *path) {
  ZipWriter writer;
  Status status = zip_writer_open(&writer, path, "");
  for (DictEntry *entry = NULL; !status && (entry = dict_next(tensors, entry));) {
    if (entry->key.tag != TAG_STRING || entry->value.tag != TAG_TENSOR || !tensor_is_defined(entry->value.tensor))
      status = status_new(ERROR_INVALID_ARGUMENT, ".npz holds tensors by name");
    else
      status = add_array(&writer, ivalue_str(entry->key), entry->value.tensor);
  }
  if (!status) status = zip_writer_finish(&writer);
  zip_writer_dispose(&writer);
  return status;
}
