#include "torchtext/vocab.h"

#include <sys/random.h>
#include <time.h>

/* A file may hold any tokens: their hashes begin with something that it does not know. */
static uint64_t seed(void) {
  static _Atomic uint64_t drawn;
  uint64_t value = drawn;
  if (value) return value;
  if (getrandom(&value, sizeof value, GRND_NONBLOCK) != sizeof value) value = (uint64_t)time(NULL) ^ (uintptr_t)&drawn;
  uint64_t none = 0;
  __atomic_compare_exchange_n((uint64_t *)&drawn, &none, value | 1, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
  return drawn;
}

static uint64_t hash(const char *text, size_t length) {
  uint64_t h = seed() ^ length;
  for (size_t i = 0; i < length; i++) {
    h = (h ^ (unsigned char)text[i]) * UINT64_C(0x9e3779b97f4a7c15);
    h ^= h >> 29;
  }
  return h ^ h >> 32;
}

Vocab *vocab_new(void) {
  return calloc(1, sizeof(Vocab));
}

void vocab_free(Vocab *vocab) {
  if (!vocab) return;
  for (int64_t i = 0; i < vocab->count; i++) free(vocab->tokens[i].text);
  free(vocab->tokens);
  free(vocab->slots);
  free(vocab);
}

int64_t vocab_find(const Vocab *vocab, const char *text, size_t length) {
  if (!vocab->slot_count) return -1;
  for (uint64_t i = hash(text, length);; i++) {
    int64_t position = vocab->slots[i & (vocab->slot_count - 1)] - 1;
    if (position < 0) return -1;
    const Token *token = &vocab->tokens[position];
    if (token->length == length && !memcmp(token->text, text, length)) return position;
  }
}

static void note(Vocab *vocab, int64_t position) {
  const Token *token = &vocab->tokens[position];
  uint64_t i = hash(token->text, token->length);
  while (vocab->slots[i & (vocab->slot_count - 1)]) i++;
  vocab->slots[i & (vocab->slot_count - 1)] = position + 1;
}

static bool reserve(Vocab *vocab) {
  if (vocab->count == vocab->capacity) {
    int64_t capacity = vocab->capacity ? 2 * vocab->capacity : 16;
    Token *tokens = realloc(vocab->tokens, (size_t)capacity * sizeof *tokens);
    if (!tokens) return false;
    vocab->tokens = tokens;
    vocab->capacity = capacity;
  }
  if (2 * (uint64_t)(vocab->count + 1) <= vocab->slot_count) return true;
  uint64_t slot_count = vocab->slot_count ? 2 * vocab->slot_count : 64;
  int64_t *slots = calloc(slot_count, sizeof *slots);
  if (!slots) return false;
  free(vocab->slots);
  vocab->slots = slots;
  vocab->slot_count = slot_count;
  for (int64_t i = 0; i < vocab->count; i++) note(vocab, i);
  return true;
}

wick_status vocab_insert(Vocab *vocab, int64_t position, const char *text, size_t length, wick_error **error) {
  char *copy = malloc(length + 1);
  if (!copy || !reserve(vocab)) {
    free(copy);
    return fail_memory(error);
  }
  memcpy(copy, text, length);
  copy[length] = 0;
  if (position < vocab->count)
    for (uint64_t i = 0; i < vocab->slot_count; i++)
      if (vocab->slots[i] > position) vocab->slots[i]++;
  memmove(&vocab->tokens[position + 1], &vocab->tokens[position],
          (size_t)(vocab->count - position) * sizeof *vocab->tokens);
  vocab->tokens[position] = (Token){copy, length};
  vocab->count++;
  note(vocab, position);
  return WICK_OK;
}
