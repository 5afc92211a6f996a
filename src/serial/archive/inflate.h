/* The deflate format (RFC 1951) read, and the checksum of zip archives, by zlib or, in builds without it, by our own.
 * What is inflated stands in memory as a whole, so that it is its own window. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "serial/archive/byte_source.h"

typedef enum InflateEnd {
  INFLATE_WHOLE, /* the end of the data */
  INFLATE_FULL,  /* there is more than was wanted */
  INFLATE_CUT,   /* the source ends before */
  INFLATE_BAD    /* no such data */
} InflateEnd;
/* Reads `stored` bytes from `offset` on and writes up to `bytes`; how many is in *done. Fails where the source
 * does, or for memory. */
Status inflate_record(ByteSource *source, uint64_t offset, uint64_t stored, void *to, size_t bytes, size_t *done,
                      InflateEnd *end) MUST_CHECK;
/* The same by our own code, whatever the build has. */
Status inflate_record_plain(ByteSource *source, uint64_t offset, uint64_t stored, void *to, size_t bytes, size_t *done,
                            InflateEnd *end) MUST_CHECK;
/* CRC-32 as zip has it (ISO 3309). */
uint32_t checksum(const void *data, size_t size);
uint32_t checksum_plain(const void *data, size_t size);
