/* Deflate by repetitions that a hash of three bytes finds, and a Huffman code for each block of symbols. */
#include "cli/deflate.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum {
  HASH_BITS = 15,
  WINDOW = 1 << 15,
  SHORTEST = 3,
  LONGEST = 258,
  TRIES = 32, /* earlier places that are looked at for a repetition */
  BLOCK_SYMBOLS = 1 << 14,
  LITERALS = 286,
  DISTANCES = 30,
  END_OF_BLOCK = 256,
  LONGEST_CODE = 15
};

typedef struct Symbol {
  uint16_t length;   /* 0: a literal */
  uint16_t distance; /* or the literal */
} Symbol;
typedef struct Writer {
  unsigned char *out;
  size_t length, capacity;
  uint64_t bits;
  int bit_count;
  bool has_failed;
} Writer;

static void put_bits(Writer *w, uint32_t value, int count) {
  assert(count >= 0 && count <= 16 && value >> count == 0);
  w->bits |= (uint64_t)value << w->bit_count;
  w->bit_count += count;
  while (w->bit_count >= 8) {
    if (w->length == w->capacity) {
      size_t capacity = 2 * w->capacity + 4096;
      unsigned char *more = w->has_failed ? NULL : realloc(w->out, capacity);
      if (!more) {
        w->has_failed = true;
        return;
      }
      w->out = more;
      w->capacity = capacity;
    }
    w->out[w->length++] = (unsigned char)w->bits;
    w->bits >>= 8;
    w->bit_count -= 8;
  }
}

/* ---- codes ---- */

typedef struct Code {
  unsigned char lengths[LITERALS];
  uint16_t bits[LITERALS]; /* the first one lowest */
} Code;

static uint32_t mirrored(uint32_t value, int count) {
  uint32_t out = 0;
  for (int i = 0; i < count; i++) out |= (value >> i & 1) << (count - 1 - i);
  return out;
}
/* Huffman's lengths (1952): the two rarest become one, until one is left. Counts are halved until none is too long. */
static void choose_lengths(const uint32_t *counts, int symbols, Code *code) {
  uint32_t weights[2 * LITERALS];
  int parents[2 * LITERALS];
  for (int shift = 0;; shift++) {
    int nodes = symbols, used = 0, longest = 0;
    bool is_open[2 * LITERALS] = {false};
    for (int i = 0; i < symbols; i++) {
      weights[i] = counts[i] ? (counts[i] >> shift) + 1 : 0;
      is_open[i] = counts[i] > 0;
      used += is_open[i];
    }
    memset(code->lengths, 0, sizeof code->lengths);
    if (used < 2) { /* a code has two symbols, so that every reader takes it */
      int first = 0;
      while (first < symbols && !counts[first]) first++;
      code->lengths[first < symbols ? first : 0] = 1;
      code->lengths[first == 0 || first == symbols ? 1 : 0] = 1;
      return;
    }
    for (; used > 1; used--) {
      int rarest[2] = {-1, -1};
      for (int i = 0; i < nodes; i++) {
        if (!is_open[i]) continue;
        if (rarest[0] < 0 || weights[i] < weights[rarest[0]])
          rarest[1] = rarest[0], rarest[0] = i;
        else if (rarest[1] < 0 || weights[i] < weights[rarest[1]])
          rarest[1] = i;
      }
      weights[nodes] = weights[rarest[0]] + weights[rarest[1]];
      parents[rarest[0]] = parents[rarest[1]] = nodes;
      is_open[rarest[0]] = is_open[rarest[1]] = false;
      is_open[nodes++] = true;
    }
    for (int i = 0; i < symbols; i++) {
      int length = 0;
      for (int at = i; counts[i] && at != nodes - 1; at = parents[at]) length++;
      code->lengths[i] = (unsigned char)length;
      if (length > longest) longest = length;
    }
    if (longest <= LONGEST_CODE) return;
  }
}
static void assign_bits(int symbols, Code *code) {
  uint32_t value = 0;
  for (int length = 1; length <= LONGEST_CODE; length++, value <<= 1)
    for (int i = 0; i < symbols; i++)
      if (code->lengths[i] == length) code->bits[i] = (uint16_t)mirrored(value++, length);
}

/* ---- blocks ---- */

/* Numbers from `first` on go in groups: 2 to the `extra` bits that follow the group's symbol. */
typedef struct Group {
  int symbol, extra;
  uint32_t rest;
} Group;
static Group length_group(uint32_t length) {
  if (length == LONGEST) return (Group){285, 0, 0};
  uint32_t value = length - SHORTEST;
  if (value < 8) return (Group){257 + (int)value, 0, 0};
  int extra = 29 - __builtin_clz(value); /* two bits after the highest choose the symbol */
  return (Group){257 + 4 * (extra + 1) + (int)(value >> extra & 3), extra, value & ((1u << extra) - 1)};
}
static Group distance_group(uint32_t distance) {
  uint32_t value = distance - 1;
  if (value < 4) return (Group){(int)value, 0, 0};
  int extra = 30 - __builtin_clz(value);
  return (Group){2 * (extra + 1) + (int)(value >> extra & 1), extra, value & ((1u << extra) - 1)};
}
static void put_group(Writer *w, const Code *code, Group group) {
  put_bits(w, code->bits[group.symbol], code->lengths[group.symbol]);
  put_bits(w, group.rest, group.extra);
}
static void put_block(Writer *w, const Symbol *symbols, int count, bool is_last) {
  static const unsigned char order[19] = {16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15};
  uint32_t literal_counts[LITERALS] = {0}, distance_counts[DISTANCES] = {0};
  Code literals, distances;
  literal_counts[END_OF_BLOCK] = 1;
  for (int i = 0; i < count; i++) {
    literal_counts[symbols[i].length ? length_group(symbols[i].length).symbol : symbols[i].distance]++;
    if (symbols[i].length) distance_counts[distance_group(symbols[i].distance).symbol]++;
  }
  choose_lengths(literal_counts, LITERALS, &literals);
  choose_lengths(distance_counts, DISTANCES, &distances);
  assign_bits(LITERALS, &literals);
  assign_bits(DISTANCES, &distances);
  put_bits(w, is_last, 1);
  put_bits(w, 2, 2);
  put_bits(w, LITERALS - 257, 5);
  put_bits(w, DISTANCES - 1, 5);
  put_bits(w, 19 - 4, 4);
  /* lengths up to 15 in a code of four bits for each: a block is long beside them */
  for (int i = 0; i < 19; i++) put_bits(w, order[i] < 16 ? 4 : 0, 3);
  for (int i = 0; i < LITERALS; i++) put_bits(w, mirrored(literals.lengths[i], 4), 4);
  for (int i = 0; i < DISTANCES; i++) put_bits(w, mirrored(distances.lengths[i], 4), 4);
  for (int i = 0; i < count; i++) {
    if (symbols[i].length == 0)
      put_group(w, &literals, (Group){symbols[i].distance, 0, 0});
    else {
      put_group(w, &literals, length_group(symbols[i].length));
      put_group(w, &distances, distance_group(symbols[i].distance));
    }
  }
  put_group(w, &literals, (Group){END_OF_BLOCK, 0, 0});
}

/* ---- repetitions ---- */

typedef struct Finder {
  const unsigned char *bytes;
  size_t length;
  int64_t newest[1 << HASH_BITS]; /* the last place of a hash; -1: none */
  int64_t before[WINDOW];         /* the place before with the same hash, by place */
  Symbol symbols[BLOCK_SYMBOLS];
} Finder;

static uint32_t hash_at(const Finder *f, size_t at) {
  uint32_t three = (uint32_t)f->bytes[at] | (uint32_t)f->bytes[at + 1] << 8 | (uint32_t)f->bytes[at + 2] << 16;
  return three * 2654435761u >> (32 - HASH_BITS);
}
static void remember(Finder *f, size_t at) {
  if (f->length - at < SHORTEST) return;
  uint32_t hash = hash_at(f, at);
  f->before[at % WINDOW] = f->newest[hash];
  f->newest[hash] = (int64_t)at;
}
static size_t longest_repetition(const Finder *f, size_t at, size_t *out_distance) {
  size_t most = f->length - at < LONGEST ? f->length - at : LONGEST, best = 0;
  if (most < SHORTEST) return 0;
  int64_t place = f->newest[hash_at(f, at)];
  for (int tries = TRIES; tries && place >= 0 && at - (size_t)place < WINDOW && best < most; tries--) {
    const unsigned char *there = f->bytes + place, *here = f->bytes + at;
    size_t same = 0;
    while (same < most && there[same] == here[same]) same++;
    if (same > best) best = same, *out_distance = at - (size_t)place;
    place = f->before[place % WINDOW];
  }
  return best >= SHORTEST ? best : 0;
}

uint32_t deflate_sum(const unsigned char *bytes, size_t length) {
  enum { MODULUS = 65521, PIECE = 5552 }; /* so many bytes overflow nothing */
  uint32_t low = 1, high = 0;
  while (length) {
    size_t count = length < PIECE ? length : PIECE;
    length -= count;
    for (; count; count--) low += *bytes++, high += low;
    low %= MODULUS, high %= MODULUS;
  }
  return high << 16 | low;
}

bool deflate_pack(const unsigned char *bytes, size_t length, unsigned char **out, size_t *out_length) {
  Writer w = {0};
  Finder *f = malloc(sizeof *f);
  *out = NULL;
  if (!f) return false;
  f->bytes = bytes;
  f->length = length;
  memset(f->newest, -1, sizeof f->newest);
  put_bits(&w, 0x78, 8);
  put_bits(&w, 0x9c, 8);
  size_t at = 0;
  do {
    int count = 0;
    while (at < length && count < BLOCK_SYMBOLS) {
      size_t distance = 0, same = longest_repetition(f, at, &distance);
      f->symbols[count++] = same ? (Symbol){(uint16_t)same, (uint16_t)distance} : (Symbol){0, bytes[at]};
      for (size_t i = 0; i < (same ? same : 1); i++) remember(f, at++);
    }
    put_block(&w, f->symbols, count, at == length);
  } while (at < length);
  free(f);
  put_bits(&w, 0, -w.bit_count & 7);
  uint32_t sum = deflate_sum(bytes, length);
  for (int shift = 24; shift >= 0; shift -= 8) put_bits(&w, sum >> shift & 255, 8);
  if (w.has_failed) {
    free(w.out);
    return false;
  }
  *out = w.out;
  *out_length = w.length;
  return true;
}
