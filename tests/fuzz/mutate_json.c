/* Changes of a JSON text as a tree of values: what comes out is well-formed JSON of something else. Values are spans of
 * the text, found anew before each change. */
#include "mutate_json.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct Span {
  size_t begin, end;
  bool is_key, is_element; /* before a colon; within brackets */
} Span;

typedef struct Spans {
  const char *text;
  size_t length, at;
  Span *items;
  size_t count, capacity;
} Spans;

static bool skip_blanks(Spans *s) {
  while (s->at < s->length && strchr(" \t\r\n", s->text[s->at])) s->at++;
  return s->at < s->length;
}

static size_t add_span(Spans *s, bool is_key, bool is_element) {
  if (s->count == s->capacity) {
    s->capacity = s->capacity ? 2 * s->capacity : 256;
    s->items = realloc(s->items, s->capacity * sizeof *s->items);
    if (!s->items) abort();
  }
  s->items[s->count] = (Span){s->at, s->at, is_key, is_element};
  return s->count++;
}

static bool find_value(Spans *s, bool is_key, bool is_element, int depth);

static bool find_members(Spans *s, bool is_object, char close, int depth) {
  for (s->at++; skip_blanks(s) && s->text[s->at] != close;) {
    if (is_object && (!find_value(s, true, false, depth) || !skip_blanks(s) || s->text[s->at++] != ':')) return false;
    if (!find_value(s, false, !is_object, depth) || !skip_blanks(s)) return false;
    if (s->text[s->at] == ',') s->at++;
  }
  s->at++;
  return s->at <= s->length;
}

static bool find_value(Spans *s, bool is_key, bool is_element, int depth) {
  if (depth == 0 || !skip_blanks(s)) return false;
  size_t index = add_span(s, is_key, is_element), begin = s->at;
  char first = s->text[begin];
  if (first == '{' || first == '[') {
    if (!find_members(s, first == '{', first == '{' ? '}' : ']', depth - 1)) return false;
  } else if (first == '"') {
    for (s->at++; s->at < s->length && s->text[s->at] != '"'; s->at++) s->at += s->text[s->at] == '\\';
    s->at++;
  } else {
    s->at += strcspn(s->text + begin, ",:]} \t\r\n");
  }
  s->items[index].end = s->at;
  return s->at > begin && s->at <= s->length;
}

static char kind_of(const Spans *s, const Span *span) {
  char first = s->text[span->begin];
  return strchr("{[\"", first) ? first : '0';
}

/* The text with `with` in the place of what is between begin and end. */
static char *put_in(const Spans *s, size_t begin, size_t end, const char *with, size_t with_length,
                    size_t *out_length) {
  char *made = malloc(s->length - (end - begin) + with_length + 1);
  if (!made) abort();
  memcpy(made, s->text, begin);
  memcpy(made + begin, with, with_length);
  memcpy(made + begin + with_length, s->text + end, s->length - end);
  *out_length = s->length - (end - begin) + with_length;
  made[*out_length] = 0;
  return made;
}

/* Another value of the text, mostly of the same kind. */
static const Span *choose_other(const Spans *s, const Span *span, Chance *chance) {
  const Span *other = span;
  bool same_kind = chance_below(chance, 4) > 0;
  for (int tries = 0; tries < 30; tries++) {
    other = &s->items[chance_below(chance, s->count)];
    if (span->is_key ? other->is_key : !same_kind || kind_of(s, other) == kind_of(s, span)) return other;
  }
  return span;
}

static char *change(const Spans *s, const Span *span, Chance *chance, size_t *out_length) {
  static const char *const telling[] = {"null",
                                        "true",
                                        "0",
                                        "1",
                                        "-1",
                                        "2",
                                        "7",
                                        "64",
                                        "100",
                                        "2147483648",
                                        "-9223372036854775808",
                                        "9223372036854775807",
                                        "18446744073709551616",
                                        "1e999",
                                        "-0.5",
                                        "\"\"",
                                        "\"x\"",
                                        "\"torch.ops.aten.add.Tensor\"",
                                        "\"Max(2, -s0)\"",
                                        "\"9223372036854775807*s0\"",
                                        "\"((((((((((s0))))))))))\"",
                                        "[]",
                                        "{}",
                                        "[[[[]]]]",
                                        "{\"as_none\": true}",
                                        "{\"as_int\": -3}",
                                        "{\"as_ints\": [0, 1]}",
                                        "{\"as_tensor\": {\"name\": \"x\"}}",
                                        "\"\\u0000\""};
  const Span *other = choose_other(s, span, chance);
  size_t length = span->end - span->begin;
  char number[40];
  switch (chance_below(chance, span->is_key ? 2 : 6)) {
    case 0:
      return put_in(s, span->begin, span->end, s->text + other->begin, other->end - other->begin, out_length);
    case 1: /* a key is left out with its name changed */
      if (span->is_key) return put_in(s, span->end - 1, span->end - 1, "_", 1, out_length);
      break;
    case 2: /* an element twice */
      if (!span->is_element) break;
      char *twice = malloc(length + 1);
      if (!twice) abort();
      memcpy(twice, s->text + span->begin, length);
      twice[length] = ',';
      char *made = put_in(s, span->begin, span->begin, twice, length + 1, out_length);
      free(twice);
      return made;
    case 3: /* an element less */
      if (!span->is_element) break;
      size_t end = span->end, begin = span->begin;
      while (s->text[end] == ' ') end++;
      if (s->text[end] == ',')
        end++;
      else
        while (begin > 0 && strchr(" ,", s->text[begin - 1])) begin--;
      return put_in(s, begin, end, "", 0, out_length);
    case 4:
      if (kind_of(s, span) != '0') break;
      uint64_t near = (uint64_t)strtoll(s->text + span->begin, NULL, 10) + chance_below(chance, 5) - 2;
      snprintf(number, sizeof number, "%lld", (long long)near);
      return put_in(s, span->begin, span->end, number, strlen(number), out_length);
    default:
      break;
  }
  const char *text = telling[chance_below(chance, sizeof telling / sizeof *telling)];
  return put_in(s, span->begin, span->end, text, strlen(text), out_length);
}

char *json_mutate(const char *text, size_t length, Chance *chance, size_t *out_length) {
  enum { MAX_DEPTH = 200 };
  Spans s = {.text = text, .length = length};
  char *made = NULL;
  if (find_value(&s, false, false, MAX_DEPTH) && s.count)
    made = change(&s, &s.items[chance_below(chance, s.count)], chance, out_length);
  free(s.items);
  return made;
}
