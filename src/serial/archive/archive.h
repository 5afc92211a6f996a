/* Archive: the directory of a zip file and its records, stored or deflated. Every number of the file is checked before
 * it is used: records lie inside the file, do not overlap, have different names, and inflate to what the directory
 * says. */
#pragma once

#include "base/map.h"
#include "base/vec.h"
#include "serial/archive/byte_source.h"
#include "tensor/tensor.h"

typedef struct ArchiveRecord {
  Str name;              /* without the top folder */
  uint64_t header, data; /* offsets of the local header and of the bytes */
  uint64_t stored, size; /* bytes in the file, bytes when inflated */
  uint32_t crc;
  uint16_t method;
} ArchiveRecord;

typedef struct Archive {
  ByteSource *source;         /* retained */
  Str folder;                 /* the top folder all records share, without slash; empty: none */
  VEC(ArchiveRecord) records; /* in the order of the directory */
  Map index;
  char *directory;     /* names point into it */
  uint64_t bytes_left; /* budget for what is read out of it */
  bool check_crc;
  bool share_weights; /* what is loaded shares its memory with what is equal (tensor/storage_alike.h) */
} Archive;

Status archive_is_zip(ByteSource *source, bool *out) MUST_CHECK; /* looks at the first bytes only */
/* one_folder: every record must stand in one top folder, as PyTorch writes them. max_bytes: what may be read out of it
 * in all, 0 for a limit that follows from the file's size. CRCs are checked where the source is read, not mapped. */
Status archive_open(ByteSource *source, bool one_folder, uint64_t max_bytes, Archive **out) MUST_CHECK;
void archive_free(Archive *archive);
const ArchiveRecord *archive_find(const Archive *archive, Str name); /* NULL: absent */
/* The whole record, terminated by a zero byte; the caller frees. */
Status archive_read(Archive *archive, const ArchiveRecord *record, char **out, size_t *out_length) MUST_CHECK;
/* `bytes` of the record from its start as a storage: in place where the source is private and the data aligned. */
Status archive_storage(Archive *archive, const ArchiveRecord *record, size_t bytes, Storage **out) MUST_CHECK;
