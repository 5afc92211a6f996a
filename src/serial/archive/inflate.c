/* Which code inflates. */
#include "serial/archive/inflate.h"

#ifdef WICK_HAVE_ZLIB

#include <zlib.h>

#include "base/memory.h"

enum { PIECE = 1 << 16 };

static Status run(z_stream *stream, unsigned char *piece, ByteSource *source, uint64_t offset, uint64_t left,
                  unsigned char *to, size_t bytes, size_t *done, InflateEnd *end) {
  for (;;) {
    if (stream->avail_in == 0 && left) {
      stream->avail_in = (uInt)(left < PIECE ? left : PIECE);
      stream->next_in = piece;
      TRY(byte_source_read(source, offset, piece, stream->avail_in));
      offset += stream->avail_in;
      left -= stream->avail_in;
    }
    uInt room = (uInt)(bytes - *done < (1u << 30) ? bytes - *done : (1u << 30)), had_in = stream->avail_in;
    unsigned char beyond;
    bool is_full = room == 0;
    stream->next_out = is_full ? &beyond : to + *done;
    stream->avail_out = is_full ? 1 : room;
    int state = inflate(stream, Z_NO_FLUSH);
    uInt given = (is_full ? 1 : room) - stream->avail_out;
    if (is_full && given) return *end = INFLATE_FULL, OK;
    *done += given;
    if (state == Z_STREAM_END) return *end = INFLATE_WHOLE, OK;
    if (state != Z_OK && state != Z_BUF_ERROR) return *end = INFLATE_BAD, OK;
    if (!given && stream->avail_in == had_in && !left) return *end = INFLATE_CUT, OK;
  }
}

Status inflate_record(ByteSource *source, uint64_t offset, uint64_t stored, void *to, size_t bytes, size_t *done,
                      InflateEnd *end) {
  z_stream stream = {0};
  unsigned char *piece = mem_alloc(PIECE), none;
  *done = 0;
  if (!piece) return status_out_of_memory();
  if (inflateInit2(&stream, -MAX_WBITS) != Z_OK) {
    mem_free(piece);
    return status_out_of_memory();
  }
  Status status = run(&stream, piece, source, offset, stored, to ? to : &none, bytes, done, end);
  inflateEnd(&stream);
  mem_free(piece);
  return status;
}

uint32_t checksum(const void *data, size_t size) {
  return (uint32_t)crc32_z(0, data, size);
}

#else

Status inflate_record(ByteSource *source, uint64_t offset, uint64_t stored, void *to, size_t bytes, size_t *done,
                      InflateEnd *end) {
  return inflate_record_plain(source, offset, stored, to, bytes, done, end);
}

uint32_t checksum(const void *data, size_t size) {
  return checksum_plain(data, size);
}

#endif
