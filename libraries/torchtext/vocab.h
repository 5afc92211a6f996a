/* Vocab: tokens in order and their positions, as torchtext's class of that name keeps them. */
#pragma once

#include "kit/kit.h"

typedef struct Token {
  char *text; /* owned; may hold zero bytes */
  size_t length;
} Token;
typedef struct Vocab {
  Token *tokens;
  int64_t count, capacity;
  int64_t *slots; /* position + 1; 0: empty */
  uint64_t slot_count;
  bool has_default;
  int64_t default_index; /* of tokens that are not there */
} Vocab;

Vocab *vocab_new(void); /* NULL: out of memory */
void vocab_free(Vocab *vocab);
/* -1: it is not there. */
int64_t vocab_find(const Vocab *vocab, const char *text, size_t length);
/* At `position` of 0 to count; those from there on move up. The token must not be there. */
wick_status vocab_insert(Vocab *vocab, int64_t position, const char *text, size_t length, wick_error **error);
