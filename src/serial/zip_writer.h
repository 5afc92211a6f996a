/* ZipWriter: a zip file as PyTorch's reader wants it: records stored, their data aligned to 64 bytes, in one top
 * folder. The same records give the same bytes. The file appears under its name only when it is whole. */
#pragma once

#include <stdio.h>

#include "base/base.h"

typedef struct ZipRecord {
  char *name; /* owned, with the folder */
  uint64_t header, size;
  uint32_t crc;
} ZipRecord;
typedef struct ZipWriter {
  FILE *file;
  char *path, *temporary; /* owned */
  const char *folder;     /* "archive" */
  uint64_t at;
  VEC(ZipRecord) records;
} ZipWriter;
/* Makes a temporary file beside `path`. */
Status zip_writer_open(ZipWriter *writer, const char *path, const char *folder) MUST_CHECK;
Status zip_writer_add(ZipWriter *writer, Str name, const void *data, size_t size) MUST_CHECK;
/* Writes the directory and puts the file in the place of an older one. */
Status zip_writer_finish(ZipWriter *writer) MUST_CHECK;
/* Always: after success it frees memory, otherwise it also takes the temporary file away. */
void zip_writer_dispose(ZipWriter *writer);
