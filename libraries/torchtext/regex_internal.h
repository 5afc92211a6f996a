/* A regular expression's program, made by regex_parse.c for the machine of regex.c. */
#pragma once

#include "torchtext/regex.h"

enum { MAX_INSTRUCTIONS = 4096, MAX_GROUPS = 10, MAX_NESTING = 100, MAX_REPEAT = 1000, MAX_RANGES = 4096 };

typedef enum RegexOp {
  OP_RANGES, /* one code point of ranges [x, x + y), or none of them (negated) */
  OP_SPLIT,  /* goes on at x, or else at y; both relative */
  OP_JUMP,   /* at x */
  OP_SAVE,   /* the position goes to slot x */
  OP_BEGIN,
  OP_END,
  OP_WORD, /* at the edge of a word; negated: not there */
  OP_MATCH
} RegexOp;

typedef struct RegexInstruction {
  uint8_t op;
  bool negated;
  int32_t x, y;
} RegexInstruction;
typedef struct RegexRange {
  uint32_t first, last;
} RegexRange;

struct Regex {
  RegexInstruction code[MAX_INSTRUCTIONS];
  RegexRange ranges[MAX_RANGES];
  int count, range_count, groups;
};

/* The code point at `text`; a byte that begins none is one of its own. Gives its length. */
size_t regex_decode(const char *text, const char *end, uint32_t *out);
