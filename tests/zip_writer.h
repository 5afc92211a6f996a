/* A small writer of zip files, for tests that need archives with any content. Include after cmocka.h. */
#pragma once

#include <stdlib.h>
#include <string.h>
#include "serial/archive/inflate.h"

typedef struct Bytes {
  unsigned char *data;
  size_t length, capacity;
} Bytes;
static void put(Bytes *b, const void *data, size_t length) {
  if (b->length + length > b->capacity) {
    b->capacity = 2 * (b->length + length) + 64;
    b->data = realloc(b->data, b->capacity);
    assert_non_null(b->data);
  }
  if (length) memcpy(b->data + b->length, data, length);
  b->length += length;
}
static void put_number(Bytes *b, uint64_t value, int bytes) { /* zeros beyond 8 */
  for (; bytes--; value >>= 8) put(b, &(unsigned char){(unsigned char)value}, 1);
}

typedef struct Packed {
  Bytes file, directory;
  unsigned count;
} Packed;
/* Stored, with the right checksum. */
static void pack_record(Packed *zip, const char *name, size_t name_length, const Bytes *content) {
  uint32_t crc = checksum(content->data, content->length);
  size_t offset = zip->file.length;
  for (int central = 0; central < 2; central++) {
    Bytes *to = central ? &zip->directory : &zip->file;
    put_number(to, central ? 0x02014b50 : 0x04034b50, 4);
    if (central) put_number(to, 20, 2);
    put_number(to, 20, 2);
    put_number(to, 0, 8); /* flags, method, time, date */
    put_number(to, crc, 4);
    put_number(to, content->length, 4);
    put_number(to, content->length, 4);
    put_number(to, name_length, 2);
    put_number(to, 0, 2);
    if (central) {
      put_number(to, 0, 10);
      put_number(to, offset, 4);
    }
    put(to, name, name_length);
    if (!central) put(to, content->data, content->length);
  }
  zip->count++;
}
static void pack_finish(Packed *zip) {
  size_t offset = zip->file.length;
  put(&zip->file, zip->directory.data, zip->directory.length);
  put_number(&zip->file, 0x06054b50, 4);
  put_number(&zip->file, 0, 4);
  put_number(&zip->file, zip->count, 2);
  put_number(&zip->file, zip->count, 2);
  put_number(&zip->file, zip->directory.length, 4);
  put_number(&zip->file, offset, 4);
  put_number(&zip->file, 0, 2);
  free(zip->directory.data);
}
