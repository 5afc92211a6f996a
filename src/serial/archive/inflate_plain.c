/* Deflate's blocks (RFC 1951) and the checksum (ISO 3309), without a library. */
#include <pthread.h>
#include <string.h>

#include "base/memory.h"
#include "serial/archive/inflate.h"

enum {
  PIECE = 1 << 16,
  LONGEST_CODE = 15,
  NEAR_CODE = 9, /* codes of up to so many bits are found by one look */
  MOST_SYMBOLS = 288,
  LENGTHS = 19,
  END_OF_BLOCK = 256,
  FIRST_LENGTH = 257
};

/* A canonical code: those of one length follow each other. */
typedef struct Code {
  uint16_t count[LONGEST_CODE + 1]; /* of each length */
  uint16_t symbols[MOST_SYMBOLS];   /* by length, then by number */
  uint16_t near[1 << NEAR_CODE]; /* by the next bits, the first one lowest: symbol << 4 | length; 0: longer, or none */
} Code;

typedef struct Inflate {
  ByteSource *source;
  uint64_t offset, left; /* of what was not read yet */
  unsigned char *piece;
  size_t at, end; /* in the piece */
  uint64_t bits;
  int bit_count;
  int missing; /* bits that were wanted after the end: zeros stand for them */
  unsigned char *to;
  size_t done, bytes;
  Status status;
  Code literals, distances;
} Inflate;

static bool more(Inflate *s) {
  size_t count = (size_t)(s->left < PIECE ? s->left : PIECE);
  if (!count || s->status) return false;
  s->status = byte_source_read(s->source, s->offset, s->piece, count);
  s->offset += count, s->left -= count;
  s->at = 0, s->end = count;
  return !s->status;
}

/* At least `count` bits, up to 32, in s->bits. */
static void want(Inflate *s, int count) {
  while (s->bit_count < count) {
    if (s->at == s->end && !more(s))
      s->missing += 8;
    else
      s->bits |= (uint64_t)s->piece[s->at++] << s->bit_count;
    s->bit_count += 8;
  }
}
static uint32_t take(Inflate *s, int count) {
  want(s, count);
  uint32_t value = (uint32_t)(s->bits & (((uint64_t)1 << count) - 1));
  s->bits >>= count;
  s->bit_count -= count;
  return value;
}
/* What was taken lies beyond the end. */
static bool is_cut(const Inflate *s) {
  return s->missing > s->bit_count || s->status;
}

/* False: no code has such lengths. A single code of one bit, and none at all, are taken. */
static bool code_init(Code *code, const unsigned char *lengths, int symbols) {
  uint16_t first[LONGEST_CODE + 2] = {0};
  int left = 1, used = 0;
  memset(code, 0, sizeof *code);
  for (int i = 0; i < symbols; i++) code->count[lengths[i]]++;
  used = symbols - code->count[0];
  code->count[0] = 0;
  for (int length = 1; length <= LONGEST_CODE; length++) {
    left = 2 * left - code->count[length];
    if (left < 0) return false;
    first[length + 1] = (uint16_t)(first[length] + code->count[length]);
  }
  if (left > 0 && !(used == 0 || (used == 1 && code->count[1] == 1))) return false;
  uint16_t next[LONGEST_CODE + 2];
  memcpy(next, first, sizeof next);
  for (int i = 0; i < symbols; i++)
    if (lengths[i]) code->symbols[next[lengths[i]]++] = (uint16_t)i;
  uint32_t value = 0;
  for (int length = 1; length <= NEAR_CODE; length++) {
    for (int i = 0; i < code->count[length]; i++, value++) {
      uint32_t mirrored = 0;
      for (int bit = 0; bit < length; bit++) mirrored |= (value >> bit & 1) << (length - 1 - bit);
      for (uint32_t rest = mirrored; rest < 1u << NEAR_CODE; rest += 1u << length)
        code->near[rest] = (uint16_t)(code->symbols[first[length] + i] << 4 | length);
    }
    value <<= 1;
  }
  return true;
}

/* -1: the bits are no code. */
static int symbol_of(Inflate *s, const Code *code) {
  want(s, LONGEST_CODE);
  uint16_t near = code->near[s->bits & ((1 << NEAR_CODE) - 1)];
  if (near) {
    s->bits >>= near & 15;
    s->bit_count -= near & 15;
    return near >> 4;
  }
  int value = 0, first = 0, index = 0;
  for (int length = 1; length <= LONGEST_CODE; length++) {
    value |= (int)take(s, 1);
    int count = code->count[length];
    if (value - first < count) return code->symbols[index + value - first];
    index += count;
    first = (first + count) << 1;
    value <<= 1;
  }
  return -1;
}

static InflateEnd stored_block(Inflate *s) {
  take(s, s->bit_count & 7);
  uint32_t length = take(s, 16), inverse = take(s, 16);
  if (is_cut(s)) return INFLATE_CUT;
  if (length != (inverse ^ 0xffff)) return INFLATE_BAD;
  while (length--) {
    unsigned char byte = (unsigned char)take(s, 8);
    if (is_cut(s)) return INFLATE_CUT;
    if (s->done == s->bytes) return INFLATE_FULL;
    s->to[s->done++] = byte;
  }
  return INFLATE_WHOLE;
}

static InflateEnd copy_back(Inflate *s, size_t length, size_t distance) {
  if (distance > s->done) return INFLATE_BAD;
  bool is_full = length > s->bytes - s->done;
  if (is_full) length = s->bytes - s->done;
  for (size_t i = 0; i < length; i++, s->done++) s->to[s->done] = s->to[s->done - distance];
  return is_full ? INFLATE_FULL : INFLATE_WHOLE;
}

/* Lengths and distances begin at `base` and go on for 2 to the `extra` bits that follow. */
static InflateEnd coded_block(Inflate *s) {
  static const uint16_t length_base[] = {3,  4,  5,  6,  7,  8,  9,  10, 11,  13,  15,  17,  19,  23, 27,
                                         31, 35, 43, 51, 59, 67, 83, 99, 115, 131, 163, 195, 227, 258};
  static const uint8_t length_extra[] = {0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2,
                                         2, 3, 3, 3, 3, 4, 4, 4, 4, 5, 5, 5, 5, 0};
  static const uint16_t distance_base[] = {1,    2,    3,    4,    5,    7,    9,    13,    17,    25,
                                           33,   49,   65,   97,   129,  193,  257,  385,   513,   769,
                                           1025, 1537, 2049, 3073, 4097, 6145, 8193, 12289, 16385, 24577};
  enum { LENGTH_SYMBOLS = sizeof length_extra, DISTANCE_SYMBOLS = sizeof distance_base / sizeof *distance_base };
  for (;;) {
    int symbol = symbol_of(s, &s->literals);
    if (is_cut(s)) return INFLATE_CUT;
    if (symbol < 0 || symbol >= FIRST_LENGTH + LENGTH_SYMBOLS) return INFLATE_BAD;
    if (symbol == END_OF_BLOCK) return INFLATE_WHOLE;
    if (symbol < END_OF_BLOCK) {
      if (s->done == s->bytes) return INFLATE_FULL;
      s->to[s->done++] = (unsigned char)symbol;
      continue;
    }
    symbol -= FIRST_LENGTH;
    size_t length = length_base[symbol] + take(s, length_extra[symbol]);
    int far = symbol_of(s, &s->distances);
    if (is_cut(s)) return INFLATE_CUT;
    if (far < 0 || far >= DISTANCE_SYMBOLS) return INFLATE_BAD;
    size_t distance = distance_base[far] + take(s, far < 2 ? 0 : far / 2 - 1);
    if (is_cut(s)) return INFLATE_CUT;
    InflateEnd end = copy_back(s, length, distance);
    if (end != INFLATE_WHOLE) return end;
  }
}

static bool fixed_codes(Inflate *s) {
  unsigned char lengths[MOST_SYMBOLS];
  for (int i = 0; i < MOST_SYMBOLS; i++) lengths[i] = i < 144 ? 8 : i < 256 ? 9 : i < 280 ? 7 : 8;
  if (!code_init(&s->literals, lengths, MOST_SYMBOLS)) return false;
  memset(lengths, 5, 32); /* two of them stand for nothing */
  return code_init(&s->distances, lengths, 32);
}

/* The codes of a block, themselves in a code. */
static InflateEnd read_codes(Inflate *s) {
  static const unsigned char order[LENGTHS] = {16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15};
  unsigned char lengths[MOST_SYMBOLS + 32] = {0};
  int literals = 257 + (int)take(s, 5), distances = 1 + (int)take(s, 5), count = 4 + (int)take(s, 4);
  if (literals > 286 || distances > 30) return is_cut(s) ? INFLATE_CUT : INFLATE_BAD;
  for (int i = 0; i < count; i++) lengths[order[i]] = (unsigned char)take(s, 3);
  if (is_cut(s)) return INFLATE_CUT;
  if (!code_init(&s->literals, lengths, LENGTHS)) return INFLATE_BAD;
  memset(lengths, 0, sizeof lengths);
  for (int i = 0; i < literals + distances;) {
    int symbol = symbol_of(s, &s->literals);
    if (is_cut(s)) return INFLATE_CUT;
    if (symbol < 0 || (symbol == 16 && i == 0)) return INFLATE_BAD;
    if (symbol < 16) {
      lengths[i++] = (unsigned char)symbol;
      continue;
    }
    unsigned char repeated = symbol == 16 ? lengths[i - 1] : 0;
    int times = symbol == 16 ? 3 + (int)take(s, 2) : symbol == 17 ? 3 + (int)take(s, 3) : 11 + (int)take(s, 7);
    if (is_cut(s)) return INFLATE_CUT;
    if (i + times > literals + distances) return INFLATE_BAD;
    memset(lengths + i, repeated, (size_t)times);
    i += times;
  }
  bool is_code = lengths[END_OF_BLOCK] && code_init(&s->literals, lengths, literals) &&
                 code_init(&s->distances, lengths + literals, distances);
  return is_code ? INFLATE_WHOLE : INFLATE_BAD;
}

static InflateEnd blocks(Inflate *s) {
  for (bool is_last = false; !is_last;) {
    is_last = take(s, 1);
    uint32_t kind = take(s, 2);
    if (is_cut(s)) return INFLATE_CUT;
    if (kind == 3) return INFLATE_BAD;
    InflateEnd end = INFLATE_WHOLE;
    if (kind == 1 && !fixed_codes(s)) return INFLATE_BAD;
    if (kind == 2) end = read_codes(s);
    if (end == INFLATE_WHOLE) end = kind == 0 ? stored_block(s) : coded_block(s);
    if (end != INFLATE_WHOLE) return end;
  }
  return INFLATE_WHOLE;
}

Status inflate_record_plain(ByteSource *source, uint64_t offset, uint64_t stored, void *to, size_t bytes, size_t *done,
                            InflateEnd *end) {
  Inflate *s = mem_calloc(1, sizeof *s);
  unsigned char none;
  *done = 0;
  if (!s) return status_out_of_memory();
  s->piece = mem_alloc(PIECE);
  s->source = source, s->offset = offset, s->left = stored;
  s->to = to ? to : &none, s->bytes = bytes;
  Status status = s->piece ? OK : status_out_of_memory();
  if (!status) {
    *end = blocks(s);
    *done = s->done;
    status = s->status;
  }
  mem_free(s->piece);
  mem_free(s);
  return status;
}

/* ---- the checksum, eight bytes at a time ---- */

enum { SLICES = 8 };
static uint32_t table[SLICES][256]; /* what a byte becomes that so many others follow */

static void fill_table(void) {
  for (uint32_t byte = 0; byte < 256; byte++) {
    uint32_t value = byte;
    for (int bit = 0; bit < 8; bit++) value = value >> 1 ^ (value & 1 ? 0xedb88320 : 0);
    table[0][byte] = value;
  }
  for (int slice = 1; slice < SLICES; slice++)
    for (int byte = 0; byte < 256; byte++) {
      uint32_t before = table[slice - 1][byte];
      table[slice][byte] = table[0][before & 255] ^ before >> 8;
    }
}

uint32_t checksum_plain(const void *data, size_t size) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  const unsigned char *p = data;
  uint32_t sum = 0xffffffff;
  pthread_once(&once, fill_table);
  for (; size >= SLICES; p += SLICES, size -= SLICES) {
    uint32_t low = sum ^ ((uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24);
    sum = table[7][low & 255] ^ table[6][low >> 8 & 255] ^ table[5][low >> 16 & 255] ^ table[4][low >> 24] ^
          table[3][p[4]] ^ table[2][p[5]] ^ table[1][p[6]] ^ table[0][p[7]];
  }
  for (; size; p++, size--) sum = table[0][(sum ^ *p) & 255] ^ sum >> 8;
  return ~sum;
}
