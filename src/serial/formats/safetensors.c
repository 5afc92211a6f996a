/* Reading safetensors. Every offset is checked; what all tensors take together is at most what the file holds, so that
 * a small file can't ask for much memory by naming the same bytes often. */
#include "serial/formats/safetensors.h"

#include <assert.h>

#include "serial/formats/json.h"

enum { LENGTH_BYTES = 8 };

static const struct {
  const char *name;
  DType dtype;
} dtypes[] = {
    {"F64", DTYPE_FLOAT64},
    {"F32", DTYPE_FLOAT32},
    {"F16", DTYPE_FLOAT16},
    {"BF16", DTYPE_BFLOAT16},
    {"I64", DTYPE_INT64},
    {"I32", DTYPE_INT32},
    {"I16", DTYPE_INT16},
    {"I8", DTYPE_INT8},
    {"U8", DTYPE_UINT8},
    {"BOOL", DTYPE_BOOL},
    {"C64", DTYPE_COMPLEX64},
    {"C128", DTYPE_COMPLEX128},
    {"U16", DTYPE_UINT16},
    {"U32", DTYPE_UINT32},
    {"U64", DTYPE_UINT64},
    {"F8_E5M2", DTYPE_FLOAT8_E5M2},
    {"F8_E4M3", DTYPE_FLOAT8_E4M3FN},
    {"F8_E5M2FNUZ", DTYPE_FLOAT8_E5M2FNUZ},
    {"F8_E4M3FNUZ", DTYPE_FLOAT8_E4M3FNUZ},
    {"F8_E8M0", DTYPE_FLOAT8_E8M0FNU},
};

/* *out_fits false: the file is too short for a length, or for what it says. */
static Status read_length(ByteSource *source, uint64_t *out, bool *out_fits) {
  unsigned char bytes[LENGTH_BYTES];
  *out_fits = false;
  if (source->size < LENGTH_BYTES + 2) return OK;
  TRY(byte_source_read(source, 0, bytes, sizeof bytes));
  *out = 0;
  for (int i = LENGTH_BYTES; i-- > 0;) *out = *out << 8 | bytes[i];
  *out_fits = *out >= 2 && *out <= source->size - LENGTH_BYTES;
  return OK;
}

Status safetensors_is(ByteSource *source, bool *out) {
  uint64_t length;
  char first;
  TRY(read_length(source, &length, out));
  if (!*out) return OK;
  TRY(byte_source_read(source, LENGTH_BYTES, &first, 1));
  *out = first == '{';
  return OK;
}

typedef struct Reader {
  ByteSource *source;
  uint64_t data, data_bytes; /* where tensors begin, and how much follows */
  uint64_t bytes_left;       /* that no tensor has taken */
  Dict *tensors;
} Reader;

static Status damaged(const char *what) {
  return status_new(ERROR_DATA, "damaged safetensors file: %s", what);
}

static Status read_spec(const Json *entry, TensorSpec *spec) {
  Str name;
  size_t i = 0, count = sizeof dtypes / sizeof *dtypes;
  if (!json_string(json_get(entry, "dtype"), &name)) return damaged("no dtype");
  while (i < count && !str_is(name, dtypes[i].name)) i++;
  if (i == count)
    return status_new(ERROR_UNSUPPORTED, "dtype '" STR_FMT "'",
                      STR_ARG(str_slice(name, 0, name.length < 40 ? name.length : 40)));
  const Json *shape = json_array(entry, "shape");
  if (!shape) return damaged("no shape");
  *spec = (TensorSpec){.dtype = dtypes[i].dtype, .device = DEVICE_CPU_0};
  for (const Json *e = json_first(shape); e; e = json_next(e)) {
    if (spec->ndim == TENSOR_MAX_DIMS) return damaged("too many dimensions");
    if (!json_int(e, &spec->sizes[spec->ndim]) || spec->sizes[spec->ndim] < 0) return damaged("a malformed shape");
    spec->ndim++;
  }
  return OK;
}

static Status read_range(const Reader *r, const Json *entry, uint64_t *out_begin, uint64_t *out_bytes) {
  assert(r->bytes_left <= r->data_bytes);
  const Json *offsets = json_array(entry, "data_offsets");
  int64_t begin, end;
  if (json_count(offsets) != 2 || !json_int(json_first(offsets), &begin) ||
      !json_int(json_next(json_first(offsets)), &end))
    return damaged("data_offsets are not two numbers");
  if (begin < 0 || end < begin || (uint64_t)end > r->data_bytes) return damaged("the data lies outside the file");
  *out_begin = (uint64_t)begin;
  *out_bytes = (uint64_t)(end - begin);
  if (*out_bytes > r->bytes_left) return damaged("tensors overlap");
  return OK;
}

static Status read_tensor(Reader *r, const Json *entry, Tensor **out) {
  TensorSpec spec;
  uint64_t begin, bytes;
  TRY(read_spec(entry, &spec));
  TRY(read_range(r, entry, &begin, &bytes));
  size_t expected = dtype_size(spec.dtype);
  for (int i = 0; i < spec.ndim; i++)
    if (!size_mul(expected, (size_t)spec.sizes[i], &expected)) return damaged("a shape without measure");
  if (expected != bytes) return damaged("the shape and the bytes of data do not fit together");
  TRY(tensor_new(&spec, out));
  r->bytes_left -= bytes;
  Status status = bytes ? byte_source_read(r->source, r->data + begin, tensor_data(*out), (size_t)bytes) : OK;
  if (status) tensor_release(*out);
  return status;
}

static Status add_tensor(Reader *r, const Json *entry) {
  Str name = json_key(entry);
  IValue key;
  bool is_there;
  Tensor *tensor;
  if (str_is(name, "__metadata__")) return OK;
  TRY(ivalue_from_str(name, &key));
  Status status = dict_get(r->tensors, key, NULL, &is_there);
  if (is_there) status = damaged("a name stands there twice");
  if (!status) status = read_tensor(r, entry, &tensor);
  if (!status) return dict_set(r->tensors, key, ivalue_tensor(tensor));
  ivalue_release(key);
  return status_context(status, "tensor '" STR_FMT "'", (int)(name.length < 200 ? name.length : 200), name.data);
}

static Status read_header(ByteSource *source, uint64_t length, Json **out) {
  size_t bytes;
  if (length > SIZE_MAX || !size_add((size_t)length, 1, &bytes)) return status_out_of_memory();
  char *text = mem_alloc(bytes);
  if (!text) return status_out_of_memory();
  text[bytes - 1] = 0;
  Status status = byte_source_read(source, LENGTH_BYTES, text, bytes - 1);
  if (!status) status = json_parse((Str){text, bytes - 1}, out);
  mem_free(text);
  return status ? status_context(status, "the header of a safetensors file") : OK;
}

Status safetensors_read(ByteSource *source, IValue *out) {
  uint64_t length;
  Json *header;
  bool fits;
  TRY(read_length(source, &length, &fits));
  if (!fits) return damaged("the header leaves the file");
  TRY(read_header(source, length, &header));
  Reader r = {.source = source, .data = LENGTH_BYTES + length, .data_bytes = source->size - LENGTH_BYTES - length};
  r.bytes_left = r.data_bytes;
  Status status = json_is_object(header) ? dict_new(TYPE(STRING), TYPE(TENSOR), &r.tensors) : damaged("no names");
  for (const Json *e = status ? NULL : json_first(header); e && !status; e = json_next(e)) status = add_tensor(&r, e);
  json_free(header);
  if (!status) {
    *out = ivalue_dict(r.tensors);
    return OK;
  }
  if (r.tensors) ivalue_release(ivalue_dict(r.tensors));
  return status;
}
