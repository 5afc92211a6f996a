/* Our own reading of the deflate format beside zlib's: what zlib writes, cut short, with bits turned, and not wholly
 * wanted; checksums. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "serial/archive/inflate.h"

enum { MOST = 300000 };
static unsigned char found[MOST + 1];

static InflateEnd plain(const unsigned char *data, size_t size, size_t bytes, size_t *done) {
  ByteSource *source;
  InflateEnd end = INFLATE_BAD;
  assert_null(byte_source_from_memory(data, size, &source));
  assert_null(inflate_record_plain(source, 0, size, found, bytes, done, &end));
  byte_source_release(source);
  return end;
}

/* Three bytes in a block of fixed codes, as the format's description gives them; a stored block. */
static void by_hand(void **unused) {
  (void)unused;
  static const unsigned char coded[] = {0x4b, 0x4c, 0x4a, 0x06, 0x00}, stored[] = {1, 2, 0, 0xfd, 0xff, 'h', 'i'};
  size_t done;
  assert_int_equal(plain(coded, sizeof coded, 10, &done), INFLATE_WHOLE);
  assert_int_equal(done, 3);
  assert_memory_equal(found, "abc", 3);
  assert_int_equal(plain(stored, sizeof stored, 10, &done), INFLATE_WHOLE);
  assert_memory_equal(found, "hi", 2);
  assert_int_equal(plain(stored, sizeof stored, 1, &done), INFLATE_FULL);
  assert_int_equal(plain(stored, sizeof stored - 1, 10, &done), INFLATE_CUT);
  assert_int_equal(plain(stored, 0, 10, &done), INFLATE_CUT);
  assert_int_equal(plain((const unsigned char[]){7}, 1, 10, &done), INFLATE_BAD);
  assert_int_equal(checksum_plain("123456789", 9), 0xcbf43926);
  assert_int_equal(checksum_plain("", 0), 0);
}

#ifdef WICK_HAVE_ZLIB

#include <zlib.h>

static unsigned char text[MOST], packed[2 * MOST], wanted[MOST + 1];

static uint32_t state = 1;
static uint32_t number(void) {
  return state = state * 1664525 + 1013904223, state >> 8;
}

static size_t pack(size_t size, int level, int strategy) {
  z_stream stream = {.next_in = text, .avail_in = (uInt)size, .next_out = packed, .avail_out = sizeof packed};
  assert_int_equal(deflateInit2(&stream, level, Z_DEFLATED, -MAX_WBITS, 8, strategy), Z_OK);
  assert_int_equal(deflate(&stream, Z_FINISH), Z_STREAM_END);
  deflateEnd(&stream);
  return stream.total_out;
}

/* Words that come again, runs, noise. */
static void write_text(size_t size, uint32_t kind) {
  for (size_t i = 0; i < size; i++)
    text[i] =
        (unsigned char)(kind == 0   ? number()
                        : kind == 1 ? 'a' + number() % 3
                        : kind == 2 ? i / 1000
                                    : (i < 40 || number() % 9 == 0 ? number() % 90 : text[i - 1 - number() % 39]));
}

static void both(size_t size, size_t bytes) {
  ByteSource *source;
  size_t done, done_by_zlib;
  InflateEnd end_by_zlib = INFLATE_BAD;
  InflateEnd end = plain(packed, size, bytes, &done);
  assert_null(byte_source_from_memory(packed, size, &source));
  assert_null(inflate_record(source, 0, size, wanted, bytes, &done_by_zlib, &end_by_zlib));
  byte_source_release(source);
  assert_int_equal(end == INFLATE_WHOLE, end_by_zlib == INFLATE_WHOLE);
  assert_int_equal(end == INFLATE_FULL, end_by_zlib == INFLATE_FULL);
  if (end != INFLATE_WHOLE && end != INFLATE_FULL) return;
  assert_int_equal(done, done_by_zlib);
  assert_memory_equal(found, wanted, done);
}

static void what_zlib_writes(void **unused) {
  (void)unused;
  static const int strategies[] = {Z_DEFAULT_STRATEGY, Z_FILTERED, Z_HUFFMAN_ONLY, Z_RLE, Z_FIXED};
  for (uint32_t i = 0; i < 200; i++) {
    size_t size = i < 20 ? i : number() % (i % 50 ? 5000 : MOST);
    write_text(size, i % 4);
    size_t stored = pack(size, (int)(number() % 10), strategies[number() % 5]), done;
    assert_int_equal(plain(packed, stored, size, &done), INFLATE_WHOLE);
    assert_int_equal(done, size);
    assert_memory_equal(found, text, size);
    assert_int_equal(checksum_plain(text, size), crc32_z(0, text, size));
    if (size) both(stored, number() % size);
  }
}

static void what_is_damaged(void **unused) {
  (void)unused;
  for (uint32_t i = 0; i < 20000; i++) {
    size_t size = 1 + number() % 600;
    write_text(size, i % 4);
    size_t stored = pack(size, (int)(number() % 10), (int)(number() % 5));
    if (i % 3 == 0) stored = number() % stored;
    for (uint32_t k = i % 4; k && stored; k--) packed[number() % stored] ^= (unsigned char)(1u << number() % 8);
    both(stored, sizeof found - 1);
  }
}
#endif

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(by_hand),
#ifdef WICK_HAVE_ZLIB
      cmocka_unit_test(what_zlib_writes),
      cmocka_unit_test(what_is_damaged),
#endif
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
