/* Reading zip archives. The directory at the end of the file is the authority; local headers only say where data
 * begins. */
#include "serial/archive/archive.h"

#include <assert.h>
#include <stdlib.h>
#include "serial/archive/inflate.h"
#include "tensor/storage_alike.h"

enum {
  END_BYTES = 22,
  END64_BYTES = 56,
  LOCATOR64_BYTES = 20,
  ENTRY_BYTES = 46,
  LOCAL_BYTES = 30,
  SIGN_END = 0x06054b50,
  SIGN_END64 = 0x06064b50,
  SIGN_LOCATOR64 = 0x07064b50,
  SIGN_ENTRY = 0x02014b50,
  SIGN_LOCAL = 0x04034b50,
  METHOD_STORED = 0,
  METHOD_DEFLATED = 8,
  FLAG_ENCRYPTED = 1,
  STORAGE_ALIGNMENT = 16,
  LEAST_VIEW = 64 << 10 /* bytes of a storage that stays in a mapped file: around less the system brings in more */
};
#define MAX_INFLATION 1032 /* deflate can't do better */
#define DEFAULT_BUDGET ((uint64_t)1 << 30)

static uint16_t get16(const unsigned char *p) {
  return (uint16_t)(p[0] | p[1] << 8);
}
static uint32_t get32(const unsigned char *p) {
  return (uint32_t)get16(p) | (uint32_t)get16(p + 2) << 16;
}
static uint64_t get64(const unsigned char *p) {
  return (uint64_t)get32(p) | (uint64_t)get32(p + 4) << 32;
}

static Status damaged(const char *what) {
  return status_new(ERROR_DATA, "damaged archive: %s", what);
}

Status archive_is_zip(ByteSource *source, bool *out) {
  unsigned char start[4];
  *out = false;
  if (source->size < END_BYTES) return OK;
  TRY(byte_source_read(source, 0, start, sizeof start));
  *out = get32(start) == SIGN_LOCAL || get32(start) == SIGN_END;
  return OK;
}

typedef struct Directory {
  uint64_t offset, bytes, count;
} Directory;

static Status read_end64(ByteSource *source, uint64_t end_offset, Directory *out) {
  unsigned char locator[LOCATOR64_BYTES], end[END64_BYTES];
  if (end_offset < LOCATOR64_BYTES) return damaged("no zip64 locator");
  TRY(byte_source_read(source, end_offset - LOCATOR64_BYTES, locator, sizeof locator));
  if (get32(locator) != SIGN_LOCATOR64) return damaged("no zip64 locator");
  TRY(byte_source_read(source, get64(locator + 8), end, sizeof end));
  if (get32(end) != SIGN_END64) return damaged("no zip64 end record");
  *out = (Directory){.count = get64(end + 32), .bytes = get64(end + 40), .offset = get64(end + 48)};
  return OK;
}

/* The end record stands before a comment of at most 65535 bytes, which must fill the rest of the file. */
static Status find_directory(ByteSource *source, Directory *out) {
  if (source->size < END_BYTES) return status_new(ERROR_DATA, "not an archive: the file is too short");
  size_t tail = source->size < END_BYTES + 65535u ? (size_t)source->size : END_BYTES + 65535u;
  unsigned char *bytes = mem_alloc(tail);
  if (!bytes) return status_out_of_memory();
  Status status = byte_source_read(source, source->size - tail, bytes, tail);
  bool found = false;
  for (size_t at = tail - END_BYTES + 1; !status && !found && at-- > 0;) {
    const unsigned char *end = bytes + at;
    if (get32(end) != SIGN_END || get16(end + 20) != tail - END_BYTES - at) continue;
    found = true;
    *out = (Directory){.count = get16(end + 10), .bytes = get32(end + 12), .offset = get32(end + 16)};
    if (out->count == 0xffff || out->bytes == 0xffffffff || out->offset == 0xffffffff)
      status = read_end64(source, source->size - tail + at, out);
  }
  mem_free(bytes);
  if (!status && !found)
    status = status_new(ERROR_DATA, "not an archive, or cut short: the directory at its end is missing");
  if (status) return status;
  if (out->offset > source->size || out->bytes > source->size - out->offset)
    return damaged("the directory leaves the file");
  if (out->count > out->bytes / ENTRY_BYTES) return damaged("more records than the directory has room for");
  return OK;
}

/* The zip64 extra field holds those of size, stored size and offset that did not fit, in this order. */
static Status read_extra64(const unsigned char *extra, size_t length, ArchiveRecord *record) {
  bool wants_size = record->size == 0xffffffff, wants_stored = record->stored == 0xffffffff,
       wants_header = record->header == 0xffffffff;
  if (!wants_size && !wants_stored && !wants_header) return OK;
  for (size_t at = 0; at + 4 <= length;) {
    size_t bytes = get16(extra + at + 2);
    if (bytes > length - at - 4) break;
    if (get16(extra + at) == 1) {
      const unsigned char *p = extra + at + 4, *end = p + bytes;
      uint64_t *fields[3] = {wants_size ? &record->size : NULL, wants_stored ? &record->stored : NULL,
                             wants_header ? &record->header : NULL};
      for (int i = 0; i < 3; i++) {
        if (!fields[i]) continue;
        if (end - p < 8) return damaged("a short zip64 field");
        *fields[i] = get64(p);
        p += 8;
      }
      return OK;
    }
    at += 4 + bytes;
  }
  return damaged("a zip64 field is missing");
}

static Status record_error(const ArchiveRecord *record, const char *what) {
  return status_new(ERROR_DATA, "damaged archive: record '" STR_FMT "' %s",
                    (int)(record->name.length > 200 ? 200 : record->name.length), record->name.data, what);
}

/* One entry of the directory at *at; moves on. */
static Status read_entry(Archive *archive, const unsigned char *bytes, size_t length, size_t *at, ArchiveRecord *out) {
  assert(*at <= length);
  if (length - *at < ENTRY_BYTES) return damaged("the directory is cut");
  const unsigned char *entry = bytes + *at;
  if (get32(entry) != SIGN_ENTRY) return damaged("a directory entry has no signature");
  size_t name = get16(entry + 28), extra = get16(entry + 30), comment = get16(entry + 32);
  if (name + extra + comment > length - *at - ENTRY_BYTES) return damaged("a directory entry leaves the directory");
  *out = (ArchiveRecord){.name = {(const char *)entry + ENTRY_BYTES, name},
                         .method = get16(entry + 10),
                         .crc = get32(entry + 16),
                         .stored = get32(entry + 20),
                         .size = get32(entry + 24),
                         .header = get32(entry + 42)};
  *at += ENTRY_BYTES + name + extra + comment;
  TRY(read_extra64(entry + ENTRY_BYTES + name, extra, out));
  if (memchr(out->name.data, 0, name)) return damaged("a record's name holds a zero byte");
  if (get16(entry + 8) & FLAG_ENCRYPTED) return record_error(out, "is encrypted");
  if (out->method != METHOD_STORED && out->method != METHOD_DEFLATED)
    return record_error(out, "is compressed in a way wick does not read (stored and deflated it does)");
  if (out->method == METHOD_STORED && out->stored != out->size)
    return record_error(out, "is stored with two different sizes");
  if (out->method == METHOD_DEFLATED && out->size / MAX_INFLATION > out->stored + 1)
    return record_error(out, "can't inflate to the size it gives");
  uint64_t end = archive->source->size;
  unsigned char local[LOCAL_BYTES];
  if (out->header > end || end - out->header < LOCAL_BYTES) return record_error(out, "lies outside the file");
  TRY(byte_source_read(archive->source, out->header, local, sizeof local));
  if (get32(local) != SIGN_LOCAL) return record_error(out, "has no local header");
  out->data = out->header + LOCAL_BYTES + get16(local + 26) + get16(local + 28);
  if (out->data > end || out->stored > end - out->data) return record_error(out, "leaves the file");
  return OK;
}

static int compare_headers(const void *a, const void *b) {
  uint64_t left = (*(ArchiveRecord *const *)a)->header, right = (*(ArchiveRecord *const *)b)->header;
  return (left > right) - (left < right);
}
static Status check_overlap(Archive *archive, uint64_t directory) {
  size_t n = archive->records.length;
  ArchiveRecord **order = mem_calloc(n ? n : 1, sizeof *order);
  if (!order) return status_out_of_memory();
  for (size_t i = 0; i < n; i++) order[i] = &archive->records.data[i];
  qsort(order, n, sizeof *order, compare_headers);
  Status status = OK;
  for (size_t i = 0; i < n && !status; i++) {
    uint64_t limit = i + 1 < n ? order[i + 1]->header : directory;
    if (order[i]->data + order[i]->stored > limit) status = record_error(order[i], "overlaps what follows it");
  }
  mem_free(order);
  return status;
}

/* Cuts the folder all names share; directories' own entries (names ending in a slash) are dropped. */
static Status strip_folder(Archive *archive) {
  size_t kept = 0;
  for (size_t i = 0; i < archive->records.length; i++) {
    ArchiveRecord *record = &archive->records.data[i];
    if (!archive->folder.data) {
      ptrdiff_t slash = str_find_char(record->name, '/');
      if (slash <= 0)
        return status_new(ERROR_DATA, "not a PyTorch archive: record '" STR_FMT "' stands in no folder",
                          STR_ARG(record->name));
      archive->folder = str_slice(record->name, 0, (size_t)slash);
    }
    size_t n = archive->folder.length;
    if (record->name.length <= n || memcmp(record->name.data, archive->folder.data, n) != 0 ||
        record->name.data[n] != '/')
      return record_error(record, "stands outside the archive's folder");
    record->name = str_slice(record->name, n + 1, record->name.length);
    if (record->name.length && !str_ends_with(record->name, "/")) archive->records.data[kept++] = *record;
  }
  archive->records.length = kept;
  return OK;
}

static Status read_directory(Archive *archive, bool one_folder) {
  Directory directory;
  TRY(find_directory(archive->source, &directory));
  size_t length = (size_t)directory.bytes, at = 0;
  archive->directory = mem_alloc(length + 1);
  if (!archive->directory) return status_out_of_memory();
  TRY(byte_source_read(archive->source, directory.offset, archive->directory, length));
  if (!vec_reserve(&archive->records, (size_t)directory.count + 1)) return status_out_of_memory();
  for (uint64_t i = 0; i < directory.count; i++) {
    ArchiveRecord record;
    TRY(read_entry(archive, (const unsigned char *)archive->directory, length, &at, &record));
    archive->records.data[archive->records.length++] = record;
  }
  TRY(check_overlap(archive, directory.offset));
  if (one_folder) TRY(strip_folder(archive));
  for (size_t i = 0; i < archive->records.length; i++) {
    ArchiveRecord *record = &archive->records.data[i];
    if (map_has(&archive->index, record->name)) return record_error(record, "is there twice");
    if (!map_put(&archive->index, record->name, record)) return status_out_of_memory();
  }
  return OK;
}

Status archive_open(ByteSource *source, bool one_folder, uint64_t max_bytes, Archive **out) {
  Archive *archive = mem_calloc(1, sizeof *archive);
  if (!archive) return status_out_of_memory();
  archive->source = byte_source_retain(source);
  archive->check_crc = !source->is_private;
  uint64_t by_size = source->size < UINT64_MAX / 32 ? source->size * 16 + DEFAULT_BUDGET : UINT64_MAX;
  archive->bytes_left = max_bytes ? max_bytes : by_size;
  map_init(&archive->index, NULL);
  Status status = read_directory(archive, one_folder);
  if (status) {
    archive_free(archive);
    return status;
  }
  *out = archive;
  return OK;
}

void archive_free(Archive *archive) {
  if (!archive) return;
  map_dispose(&archive->index);
  vec_dispose(&archive->records);
  mem_free(archive->directory);
  byte_source_release(archive->source);
  mem_free(archive);
}

const ArchiveRecord *archive_find(const Archive *archive, Str name) {
  return map_get(&archive->index, name);
}

static Status take_budget(Archive *archive, const ArchiveRecord *record, uint64_t bytes) {
  if (bytes > archive->bytes_left)
    return status_new(ERROR_DATA, "record '" STR_FMT "' of %llu bytes exceeds the limit for reading this archive",
                      STR_ARG(record->name), (unsigned long long)bytes);
  archive->bytes_left -= bytes;
  return OK;
}

/* Inflates the record's first `bytes` to `to`; all of them when bytes is the record's size. */
static Status inflate_to(Archive *archive, const ArchiveRecord *record, void *to, size_t bytes) {
  assert(bytes <= record->size);
  size_t done;
  InflateEnd end;
  TRY(inflate_record(archive->source, record->data, record->stored, to, bytes, &done, &end));
  if (end == INFLATE_BAD) return record_error(record, "does not inflate");
  if (end == INFLATE_CUT) return record_error(record, "is cut");
  if (end == INFLATE_FULL && bytes == record->size) return record_error(record, "inflates to more than it says");
  return done == bytes ? OK : record_error(record, "inflates to less than it says");
}

static Status read_to(Archive *archive, const ArchiveRecord *record, void *to, size_t bytes) {
  assert(bytes <= record->size);
  if (record->method == METHOD_DEFLATED) {
    TRY(inflate_to(archive, record, to, bytes));
  } else {
    TRY(byte_source_read(archive->source, record->data, to, bytes));
  }
  if (archive->check_crc && bytes == record->size && checksum(to, bytes) != record->crc)
    return record_error(record, "has a wrong checksum");
  return OK;
}

Status archive_read(Archive *archive, const ArchiveRecord *record, char **out, size_t *out_length) {
  TRY(take_budget(archive, record, record->size));
  size_t bytes;
  if (record->size > SIZE_MAX || !size_add((size_t)record->size, 1, &bytes)) return status_out_of_memory();
  char *data = mem_alloc(bytes);
  if (!data) return status_out_of_memory();
  Status status = read_to(archive, record, data, bytes - 1);
  if (status) {
    mem_free(data);
    return status;
  }
  data[bytes - 1] = 0;
  *out = data;
  *out_length = bytes - 1;
  return OK;
}

static void release_source(void *context, void *data, size_t bytes) {
  (void)data, (void)bytes;
  byte_source_release(context);
}

static bool fetch_from_source(const Storage *storage, size_t offset, void *to, size_t bytes) {
  const ByteSource *source = storage->context;
  return source->fetch(source, (const char *)storage->data + offset, to, bytes);
}

Status archive_storage(Archive *archive, const ArchiveRecord *record, size_t bytes, Storage **out) {
  if (bytes > record->size)
    return status_new(ERROR_DATA, "record '" STR_FMT "' holds %llu bytes, its tensors need %llu", STR_ARG(record->name),
                      (unsigned long long)record->size, (unsigned long long)bytes);
  if (record->method == METHOD_STORED && archive->source->is_private && archive->source->view && bytes >= LEAST_VIEW) {
    const void *view = archive->source->view(archive->source, record->data, bytes);
    if (view && (uintptr_t)view % STORAGE_ALIGNMENT == 0) {
      byte_source_retain(archive->source);
      Status status = storage_from_data((void *)(uintptr_t)view, bytes, release_source, archive->source, out);
      if (status)
        byte_source_release(archive->source);
      else if (archive->source->fetch)
        (*out)->fetch = fetch_from_source;
      return status;
    }
  }
  TRY(take_budget(archive, record, bytes));
  Storage *storage;
  TRY(storage_new_lasting(bytes, &storage));
  Status status = read_to(archive, record, storage->data, bytes);
  if (!status && archive->share_weights) status = storage_join_alike(&storage);
  if (status) {
    storage_release(storage);
    return status;
  }
  *out = storage;
  return OK;
}
