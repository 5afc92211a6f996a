/* The bytes of a zip file. */
#include "serial/archive/zip_writer.h"

#include <assert.h>
#ifdef WICK_HAVE_ZLIB
#include <zlib.h>
#endif

#include "serial/archive/inflate.h"

enum {
  ALIGNMENT = 64,
  LOCAL_HEADER = 30,
  CENTRAL_HEADER = 46,
  END_RECORD = 22,
  END64_RECORD = 56,
  LOCATOR64 = 20,
  UTF8_FLAG = 0x800,
  METHOD_STORED = 0,
  METHOD_DEFLATED = 8,
  VERSION_ZIP64 = 45,
  ZIP64_ID = 1,
  ZIP64_BYTES = 4 + 3 * 8,
  PADDING_ID = 0x4246
};

static void put_u16(unsigned char *to, unsigned value) {
  to[0] = (unsigned char)value;
  to[1] = (unsigned char)(value >> 8);
}
static void put_u32(unsigned char *to, uint32_t value) {
  put_u16(to, value & 0xFFFF);
  put_u16(to + 2, value >> 16);
}
static void put_u64(unsigned char *to, uint64_t value) {
  put_u32(to, (uint32_t)value);
  put_u32(to + 4, (uint32_t)(value >> 32));
}

static Status put(ZipWriter *writer, const void *data, size_t size) {
  if (writer->file.stream) {
    TRY(output_file_write(&writer->file, data, size));
  } else {
    strbuf_str(&writer->memory, (Str){data, size});
    if (writer->memory.failed) return status_out_of_memory();
  }
  writer->at += size;
  return OK;
}

void zip_writer_open_memory(ZipWriter *writer, const char *folder) {
  *writer = (ZipWriter){.folder = folder, .limit = UINT32_MAX, .count_limit = UINT16_MAX};
}
Status zip_writer_open(ZipWriter *writer, const char *path, const char *folder) {
  zip_writer_open_memory(writer, folder);
  return output_file_open(&writer->file, path);
}

/* ---- records ---- */

/* Numbers too large for their 32 bits, for the zip64 field. */
typedef struct Wide {
  uint64_t values[3];
  unsigned count;
} Wide;
static void put_narrow(const ZipWriter *writer, unsigned char *to, uint64_t value, Wide *wide) {
  assert(wide->count < sizeof wide->values / sizeof *wide->values);
  bool fits = value < writer->limit;
  put_u32(to, fits ? (uint32_t)value : UINT32_MAX);
  if (!fits) wide->values[wide->count++] = value;
}
/* The zip64 field of an entry; its length. */
static unsigned put_wide(unsigned char *to, const Wide *wide) {
  assert(wide->count <= sizeof wide->values / sizeof *wide->values);
  if (!wide->count) return 0;
  put_u16(to, ZIP64_ID);
  put_u16(to + 2, 8 * wide->count);
  for (unsigned i = 0; i < wide->count; i++) put_u64(to + 4 + 8 * i, wide->values[i]);
  return 4 + 8 * wide->count;
}

/* The fields that the local and the central header share. In a local header both sizes are wide when one is. */
static void put_common(const ZipWriter *writer, unsigned char *to, const ZipRecord *record, bool is_local, Wide *wide) {
  bool both = is_local && (record->size >= writer->limit || record->stored >= writer->limit);
  put_u16(to, UTF8_FLAG);
  put_u16(to + 2, record->deflated ? METHOD_DEFLATED : METHOD_STORED);
  put_u32(to + 8, record->crc);
  if (both) {
    put_u32(to + 12, UINT32_MAX);
    put_u32(to + 16, UINT32_MAX);
    *wide = (Wide){{record->size, record->stored}, 2};
  } else { /* the sizes stand in the other order in the zip64 field */
    put_narrow(writer, to + 16, record->size, wide);
    put_narrow(writer, to + 12, record->stored, wide);
  }
  put_u16(to + 20, (unsigned)strlen(record->name));
}

static Status put_record(ZipWriter *writer, ZipRecord record, Str name, const void *data) {
  bool has_folder = *writer->folder;
  size_t length = strlen(writer->folder) + has_folder + name.length;
  unsigned char header[LOCAL_HEADER] = {'P', 'K', 3, 4}, extra[ZIP64_BYTES + 4 + ALIGNMENT];
  if (length > UINT16_MAX) return status_new(ERROR_UNSUPPORTED, "a record's name is too long for a zip file");
  record.header = writer->at;
  record.name = mem_alloc(length + 1);
  if (!record.name) return status_out_of_memory();
  snprintf(record.name, length + 1, "%s%s" STR_FMT, writer->folder, has_folder ? "/" : "", STR_ARG(name));
  if (!vec_push(&writer->records, record)) {
    mem_free(record.name);
    return status_out_of_memory();
  }
  Wide wide = {0};
  put_common(writer, header + 6, &record, true, &wide);
  memset(extra, 'Z', sizeof extra);
  unsigned used = put_wide(extra, &wide);
  size_t start = (size_t)(writer->at % ALIGNMENT) + LOCAL_HEADER + length + used + 4;
  unsigned fill = (unsigned)((ALIGNMENT - start % ALIGNMENT) % ALIGNMENT);
  put_u16(extra + used, PADDING_ID);
  put_u16(extra + used + 2, fill);
  put_u16(header + 4, wide.count ? VERSION_ZIP64 : 0);
  put_u16(header + 28, used + 4 + fill);
  TRY(put(writer, header, sizeof header));
  TRY(put(writer, record.name, length));
  TRY(put(writer, extra, used + 4 + fill));
  return put(writer, data, (size_t)record.stored);
}

Status zip_writer_add(ZipWriter *writer, Str name, const void *data, size_t size) {
  ZipRecord record = {.size = size, .stored = size, .crc = checksum(data, size)};
  return put_record(writer, record, name, data);
}

/* The whole text at once; *out is NULL when that is not smaller, and in builds without zlib. */
#ifdef WICK_HAVE_ZLIB
static Status deflate_text(const void *data, size_t size, unsigned char **out, size_t *out_size) {
  z_stream stream = {0};
  *out = NULL;
  if (!size || size > UINT32_MAX / 2) return OK;
  unsigned char *buffer = mem_alloc(size);
  if (!buffer) return status_out_of_memory();
  if (deflateInit2(&stream, Z_BEST_COMPRESSION, Z_DEFLATED, -MAX_WBITS, 9, Z_DEFAULT_STRATEGY) != Z_OK) {
    mem_free(buffer);
    return status_out_of_memory();
  }
  stream.next_in = (unsigned char *)data;
  stream.avail_in = (uInt)size;
  stream.next_out = buffer;
  stream.avail_out = (uInt)size - 1;
  bool is_smaller = deflate(&stream, Z_FINISH) == Z_STREAM_END;
  *out_size = stream.total_out;
  deflateEnd(&stream);
  if (is_smaller) {
    *out = buffer;
  } else {
    mem_free(buffer);
  }
  return OK;
}
#else
static Status deflate_text(const void *data, size_t size, unsigned char **out, size_t *out_size) {
  (void)data;
  *out = NULL, *out_size = size;
  return OK;
}
#endif

Status zip_writer_add_text(ZipWriter *writer, Str name, const void *data, size_t size) {
  unsigned char *smaller;
  size_t stored;
  TRY(deflate_text(data, size, &smaller, &stored));
  if (!smaller) return zip_writer_add(writer, name, data, size);
  ZipRecord record = {.size = size, .stored = stored, .crc = checksum(data, size), .deflated = true};
  Status status = put_record(writer, record, name, smaller);
  mem_free(smaller);
  return status;
}

/* ---- the directory ---- */

static Status put_entry(ZipWriter *writer, const ZipRecord *record) {
  unsigned char header[CENTRAL_HEADER] = {'P', 'K', 1, 2}, extra[ZIP64_BYTES];
  Wide wide = {0};
  put_common(writer, header + 8, record, false, &wide);
  put_narrow(writer, header + 42, record->header, &wide);
  unsigned used = put_wide(extra, &wide);
  put_u16(header + 6, wide.count ? VERSION_ZIP64 : 0);
  put_u16(header + 30, used);
  TRY(put(writer, header, sizeof header));
  TRY(put(writer, record->name, strlen(record->name)));
  return put(writer, extra, used);
}

/* The zip64 end record and the locator that finds it. */
static Status put_end64(ZipWriter *writer, uint64_t start, uint64_t bytes, uint64_t count) {
  unsigned char end[END64_RECORD] = {'P', 'K', 6, 6}, locator[LOCATOR64] = {'P', 'K', 6, 7};
  put_u64(locator + 8, writer->at);
  put_u32(locator + 16, 1);
  put_u64(end + 4, sizeof end - 12);
  put_u16(end + 12, VERSION_ZIP64);
  put_u16(end + 14, VERSION_ZIP64);
  put_u64(end + 24, count);
  put_u64(end + 32, count);
  put_u64(end + 40, bytes);
  put_u64(end + 48, start);
  TRY(put(writer, end, sizeof end));
  return put(writer, locator, sizeof locator);
}

static Status put_directory(ZipWriter *writer) {
  uint64_t start = writer->at, count = writer->records.length;
  unsigned char end[END_RECORD] = {'P', 'K', 5, 6};
  for (size_t i = 0; i < count; i++) TRY(put_entry(writer, &writer->records.data[i]));
  uint64_t bytes = writer->at - start;
  bool is_wide = count >= writer->count_limit || bytes >= writer->limit || start >= writer->limit;
  if (is_wide) TRY(put_end64(writer, start, bytes, count));
  put_u16(end + 8, is_wide ? UINT16_MAX : (unsigned)count);
  put_u16(end + 10, is_wide ? UINT16_MAX : (unsigned)count);
  put_u32(end + 12, is_wide ? UINT32_MAX : (uint32_t)bytes);
  put_u32(end + 16, is_wide ? UINT32_MAX : (uint32_t)start);
  return put(writer, end, sizeof end);
}

Status zip_writer_finish(ZipWriter *writer) {
  TRY(put_directory(writer));
  return writer->file.stream ? output_file_finish(&writer->file) : OK;
}

void zip_writer_dispose(ZipWriter *writer) {
  output_file_close(&writer->file);
  for (size_t i = 0; i < writer->records.length; i++) mem_free(writer->records.data[i].name);
  vec_dispose(&writer->records);
  strbuf_dispose(&writer->memory);
}
