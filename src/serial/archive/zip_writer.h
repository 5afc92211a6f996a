/* ZipWriter: a zip file as PyTorch's reader wants it: records stored, their data aligned to 64 bytes, in one top
 * folder, with zip64 fields where sizes need them. The same records give the same bytes. The file appears under its
 * name only when it is whole. */
#pragma once

#include "base/output_file.h"
#include "base/vec.h"

typedef struct ZipRecord {
  char *name; /* owned, with the folder */
  uint64_t header, size, stored;
  uint32_t crc;
  bool deflated;
} ZipRecord;
typedef struct ZipWriter {
  OutputFile file; /* not open: into memory */
  StrBuf memory;
  const char *folder; /* "archive"; "": records stand in none */
  uint64_t at;
  VEC(ZipRecord) records;
  /* Sizes, offsets and counts from here on go to zip64 fields: the largest of their width. Tests lower them. */
  uint32_t limit;
  uint16_t count_limit;
} ZipWriter;
/* Opens the OutputFile; `path` must outlive the writer. */
Status zip_writer_open(ZipWriter *writer, const char *path, const char *folder) MUST_CHECK;
/* The bytes stand in writer->memory after zip_writer_finish. */
void zip_writer_open_memory(ZipWriter *writer, const char *folder);
Status zip_writer_add(ZipWriter *writer, Str name, const void *data, size_t size) MUST_CHECK;
/* Deflated, where that makes it smaller. */
Status zip_writer_add_text(ZipWriter *writer, Str name, const void *data, size_t size) MUST_CHECK;
/* Writes the directory and finishes the file. */
Status zip_writer_finish(ZipWriter *writer) MUST_CHECK;
/* Always: after success it frees memory, otherwise it also gives the file up. */
void zip_writer_dispose(ZipWriter *writer);
