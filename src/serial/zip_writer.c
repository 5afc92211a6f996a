/* The bytes of a zip file, without zip64: archives beyond 4 GiB are refused. */
#include "serial/zip_writer.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

enum {
  ALIGNMENT = 64,
  LOCAL_HEADER = 30,
  CENTRAL_HEADER = 46,
  END_RECORD = 22,
  UTF8_FLAG = 0x800,
  PADDING_ID = 0x4246
};

static Status io_error(const ZipWriter *writer, const char *what) {
  return status_new(ERROR_IO, "%s: %s: %s", writer->path, what, strerror(errno));
}

static void put_u16(unsigned char *to, unsigned value) {
  to[0] = (unsigned char)value;
  to[1] = (unsigned char)(value >> 8);
}
static void put_u32(unsigned char *to, uint32_t value) {
  put_u16(to, value & 0xFFFF);
  put_u16(to + 2, value >> 16);
}

static Status put(ZipWriter *writer, const void *data, size_t size) {
  if (size && fwrite(data, 1, size, writer->file) != size) return io_error(writer, "can't write");
  writer->at += size;
  return OK;
}

Status zip_writer_open(ZipWriter *writer, const char *path, const char *folder) {
  *writer = (ZipWriter){.folder = folder};
  size_t length = strlen(path);
  writer->path = mem_strdup(path);
  writer->temporary = mem_alloc(length + 12);
  if (!writer->path || !writer->temporary) return status_out_of_memory();
  snprintf(writer->temporary, length + 12, "%s.tmp-XXXXXX", path);
  int descriptor = mkstemp(writer->temporary);
  if (descriptor < 0) {
    mem_free(writer->temporary);
    writer->temporary = NULL;
    return io_error(writer, "can't make a file beside it");
  }
  /* As if it had been made by open(): mkstemp allows nobody else to read. */
  mode_t mask = umask(0);
  umask(mask);
  writer->file = fchmod(descriptor, 0666 & ~mask) ? NULL : fdopen(descriptor, "wb");
  if (writer->file) return OK;
  Status status = io_error(writer, "can't open");
  close(descriptor);
  return status;
}

/* The fields that the local and the central header share. */
static void put_common(unsigned char *to, const ZipRecord *record, unsigned extra) {
  put_u16(to + 2, UTF8_FLAG);
  put_u32(to + 10, record->crc);
  put_u32(to + 14, (uint32_t)record->size);
  put_u32(to + 18, (uint32_t)record->size);
  put_u16(to + 22, (unsigned)strlen(record->name));
  put_u16(to + 24, extra);
}

Status zip_writer_add(ZipWriter *writer, Str name, const void *data, size_t size) {
  ZipRecord record = {.header = writer->at, .size = size};
  size_t length = strlen(writer->folder) + 1 + name.length;
  unsigned char header[LOCAL_HEADER] = {'P', 'K', 3, 4}, padding[4 + ALIGNMENT];
  if (length > 0xFFFF) return status_new(ERROR_UNSUPPORTED, "a record's name is too long for a zip file");
  if (writer->records.length == 0xFFFE || writer->at + size > 0xFFFF0000u)
    return status_new(ERROR_UNSUPPORTED, "archives beyond 4 GiB can't be written");
  for (size_t i = 0; i < size; i += (size_t)1 << 30)
    record.crc = (uint32_t)crc32_z(record.crc, (const unsigned char *)data + i,
                                   size - i < (size_t)1 << 30 ? size - i : (size_t)1 << 30);
  record.name = mem_alloc(length + 1);
  if (!record.name) return status_out_of_memory();
  snprintf(record.name, length + 1, "%s/" STR_FMT, writer->folder, STR_ARG(name));
  if (!vec_push(&writer->records, record)) {
    mem_free(record.name);
    return status_out_of_memory();
  }
  size_t start = (size_t)(writer->at % ALIGNMENT) + LOCAL_HEADER + length + 4;
  size_t fill = (ALIGNMENT - start % ALIGNMENT) % ALIGNMENT;
  memset(padding, 'Z', sizeof padding);
  put_u16(padding, PADDING_ID);
  put_u16(padding + 2, (unsigned)fill);
  put_common(header + 4, &record, (unsigned)fill + 4);
  TRY(put(writer, header, sizeof header));
  TRY(put(writer, record.name, length));
  TRY(put(writer, padding, fill + 4));
  return put(writer, data, size);
}

static Status put_directory(ZipWriter *writer) {
  uint64_t start = writer->at;
  unsigned char end[END_RECORD] = {'P', 'K', 5, 6};
  for (size_t i = 0; i < writer->records.length; i++) {
    const ZipRecord *record = &writer->records.data[i];
    unsigned char header[CENTRAL_HEADER] = {'P', 'K', 1, 2};
    put_common(header + 6, record, 0);
    put_u32(header + 42, (uint32_t)record->header);
    TRY(put(writer, header, sizeof header));
    TRY(put(writer, record->name, strlen(record->name)));
  }
  put_u16(end + 8, (unsigned)writer->records.length);
  put_u16(end + 10, (unsigned)writer->records.length);
  put_u32(end + 12, (uint32_t)(writer->at - start));
  put_u32(end + 16, (uint32_t)start);
  return put(writer, end, sizeof end);
}

Status zip_writer_finish(ZipWriter *writer) {
  TRY(put_directory(writer));
  if (fflush(writer->file) || fsync(fileno(writer->file))) return io_error(writer, "can't write");
  FILE *file = writer->file;
  writer->file = NULL;
  if (fclose(file)) return io_error(writer, "can't write");
  if (rename(writer->temporary, writer->path)) return io_error(writer, "can't be replaced");
  mem_free(writer->temporary);
  writer->temporary = NULL;
  return OK;
}

void zip_writer_dispose(ZipWriter *writer) {
  if (writer->file) fclose(writer->file);
  if (writer->temporary) unlink(writer->temporary);
  for (size_t i = 0; i < writer->records.length; i++) mem_free(writer->records.data[i].name);
  vec_dispose(&writer->records);
  mem_free(writer->temporary);
  mem_free(writer->path);
}
