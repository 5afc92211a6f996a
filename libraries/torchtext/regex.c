/* Matching by a list of threads that go through the text together, the preferred one first (Thompson's and Pike's
 * machine, as Cox describes it: https://swtch.com/~rsc/regexp/regexp2.html). */
#include "torchtext/regex_internal.h"

enum { SLOTS = 2 * MAX_GROUPS, MAX_TEXT = 64 << 20 };

typedef struct Thread {
  int at;
  int64_t slots[SLOTS];
} Thread;
typedef struct Pending { /* an instruction to look at, or (slot >= 0) a slot to set back */
  int at, slot;
  int64_t value;
} Pending;
typedef struct Machine {
  const Regex *regex;
  const char *text, *end;
  Thread *now, *next;
  int next_count;
  Pending *stack; /* two for each instruction */
  uint64_t *seen, step;
} Machine;

size_t regex_decode(const char *text, const char *end, uint32_t *out) {
  const unsigned char *s = (const unsigned char *)text;
  size_t length = s[0] < 0xc2 ? 1 : s[0] < 0xe0 ? 2 : s[0] < 0xf0 ? 3 : s[0] < 0xf5 ? 4 : 1;
  *out = s[0];
  if (length == 1 || (size_t)(end - text) < length) return 1;
  uint32_t c = s[0] & (0x7fu >> length);
  for (size_t i = 1; i < length; i++) {
    if ((s[i] & 0xc0) != 0x80) return 1;
    c = c << 6 | (s[i] & 0x3f);
  }
  *out = c;
  return length;
}

static bool is_word(const Machine *m, const char *at) {
  return at >= m->text && at < m->end &&
         ((*at >= '0' && *at <= '9') || (*at >= 'A' && *at <= 'Z') || (*at >= 'a' && *at <= 'z') || *at == '_');
}

/* What of OP_BEGIN, OP_END and OP_WORD holds at this place. */
static bool holds(const Machine *m, const RegexInstruction *in, const char *at) {
  if (in->op == OP_BEGIN) return at == m->text;
  if (in->op == OP_END) return at == m->end;
  return (is_word(m, at - 1) != is_word(m, at)) != in->negated;
}

/* Adds the threads that `start` leads to without reading, in order of preference. */
static void add_threads(Machine *m, int start, const char *at, int64_t *slots) {
  int depth = 0;
  m->stack[depth++] = (Pending){start, -1, 0};
  while (depth) {
    Pending p = m->stack[--depth];
    if (p.slot >= 0) {
      slots[p.slot] = p.value;
      continue;
    }
    if (m->seen[p.at] == m->step) continue;
    m->seen[p.at] = m->step;
    const RegexInstruction *in = &m->regex->code[p.at];
    switch (in->op) {
      case OP_SPLIT:
        m->stack[depth++] = (Pending){p.at + in->y, -1, 0};
        m->stack[depth++] = (Pending){p.at + in->x, -1, 0};
        break;
      case OP_JUMP:
        m->stack[depth++] = (Pending){p.at + in->x, -1, 0};
        break;
      case OP_SAVE:
        m->stack[depth++] = (Pending){0, in->x, slots[in->x]};
        slots[in->x] = at - m->text;
        m->stack[depth++] = (Pending){p.at + 1, -1, 0};
        break;
      case OP_BEGIN:
      case OP_END:
      case OP_WORD:
        if (holds(m, in, at)) m->stack[depth++] = (Pending){p.at + 1, -1, 0};
        break;
      default:
        m->next[m->next_count].at = p.at;
        memcpy(m->next[m->next_count++].slots, slots, sizeof m->next->slots);
    }
  }
}

static bool takes(const Regex *regex, const RegexInstruction *in, uint32_t c) {
  for (int i = in->x; i < in->x + in->y; i++)
    if (c >= regex->ranges[i].first && c <= regex->ranges[i].last) return !in->negated;
  return in->negated;
}

/* The first match from `from` on, the preferred one: its groups. */
static wick_status search(Machine *m, wick_call *call, const char *from, int64_t *out, bool *out_found,
                          wick_error **error) {
  *out_found = false;
  m->next_count = 0;
  m->step++;
  for (const char *at = from;;) {
    int64_t slots[SLOTS];
    uint32_t c = 0;
    size_t length = at < m->end ? regex_decode(at, m->end, &c) : 0;
    if (!*out_found) { /* a match may begin here, preferred least */
      for (int i = 0; i < SLOTS; i++) slots[i] = -1;
      slots[0] = at - m->text;
      add_threads(m, 0, at, slots);
    }
    Thread *threads = m->next;
    int count = m->next_count;
    m->next = m->now;
    m->now = threads;
    m->next_count = 0;
    m->step++;
    for (int i = 0; i < count; i++) {
      const RegexInstruction *in = &m->regex->code[threads[i].at];
      if (in->op == OP_MATCH) {
        memcpy(out, threads[i].slots, sizeof threads->slots);
        out[1] = at - m->text;
        *out_found = true;
        break; /* what follows is preferred less */
      }
      if (length && takes(m->regex, in, c)) add_threads(m, threads[i].at + 1, at + length, threads[i].slots);
    }
    if (!length || (*out_found && !m->next_count)) return WICK_OK;
    at += length;
    TRY(wick_call_poll(call, error));
  }
}

wick_status text_append(Text *text, const char *data, size_t length, wick_error **error) {
  if (length > MAX_TEXT - text->length) return fail(error, WICK_RUNTIME, "the text grows beyond 64 MiB");
  if (text->length + length > text->capacity) {
    size_t capacity = 2 * (text->length + length) + 64;
    char *larger = realloc(text->data, capacity);
    if (!larger) return fail_memory(error);
    text->data = larger;
    text->capacity = capacity;
  }
  if (length) memcpy(text->data + text->length, data, length);
  text->length += length;
  return WICK_OK;
}

static wick_status rewrite(const Machine *m, const int64_t *slots, const char *with, size_t length, Text *out,
                           wick_error **error) {
  for (size_t i = 0; i < length; i++) {
    if (with[i] != '\\') {
      TRY(text_append(out, with + i, 1, error));
      continue;
    }
    if (++i == length || (with[i] != '\\' && (with[i] < '0' || with[i] > '9')))
      return fail(error, WICK_INVALID_ARGUMENT, "a backslash in a replacement is followed by no group");
    int group = with[i] - '0';
    if (with[i] == '\\')
      TRY(text_append(out, "\\", 1, error));
    else if (group > m->regex->groups)
      return fail(error, WICK_INVALID_ARGUMENT, "a replacement names group %d of %d", group, m->regex->groups);
    else if (slots[2 * group] >= 0 && slots[2 * group + 1] >= slots[2 * group])
      TRY(text_append(out, m->text + slots[2 * group], (size_t)(slots[2 * group + 1] - slots[2 * group]), error));
  }
  return WICK_OK;
}

static wick_status replace(Machine *m, wick_call *call, const char *with, size_t with_length, Text *out,
                           wick_error **error) {
  const char *at = m->text, *last = NULL;
  while (at <= m->end) {
    int64_t slots[SLOTS];
    bool found;
    TRY(search(m, call, at, slots, &found, error));
    if (!found) break;
    const char *begin = m->text + slots[0], *end = m->text + slots[1];
    TRY(text_append(out, at, (size_t)(begin - at), error));
    at = begin;
    if (begin == end && begin == last) { /* no empty match at the end of the last one */
      uint32_t c;
      size_t length = at < m->end ? regex_decode(at, m->end, &c) : 0;
      TRY(text_append(out, at, length, error));
      at += length ? length : 1;
      continue;
    }
    TRY(rewrite(m, slots, with, with_length, out, error));
    at = last = end;
  }
  return at < m->end ? text_append(out, at, (size_t)(m->end - at), error) : WICK_OK;
}

wick_status regex_replace(const Regex *regex, wick_call *call, const char *text, size_t length, const char *replacement,
                          size_t replacement_length, Text *out, wick_error **error) {
  size_t count = (size_t)regex->count;
  Machine m = {.regex = regex, .text = text, .end = text + length, .step = 1};
  m.now = malloc(count * sizeof *m.now);
  m.next = malloc(count * sizeof *m.next);
  m.stack = malloc((2 * count + 2) * sizeof *m.stack);
  m.seen = calloc(count, sizeof *m.seen);
  wick_status status = m.now && m.next && m.stack && m.seen
                           ? replace(&m, call, replacement, replacement_length, out, error)
                           : fail_memory(error);
  free(m.now);
  free(m.next);
  free(m.stack);
  free(m.seen);
  return status;
}

void regex_free(Regex *regex) {
  free(regex);
}
