#include "serial/pt2/source_place.h"

#define FILE_WORD "File \""

enum { MAX_FILE = 1000, MAX_LINE = 500 };

typedef struct Place {
  Str file, code;
  int64_t line;
} Place;

static ptrdiff_t find_last(Str text, const char *word) {
  size_t length = strlen(word);
  for (size_t at = text.length >= length ? text.length - length + 1 : 0; at-- > 0;)
    if (!memcmp(text.data + at, word, length)) return (ptrdiff_t)at;
  return -1;
}
/* Up to the character, which is cut off with what is before it; all of it where the character is not there. */
static Str cut(Str *text, char end) {
  ptrdiff_t at = str_find_char(*text, end);
  Str part = at < 0 ? *text : str_slice(*text, 0, (size_t)at);
  *text = at < 0 ? STR("") : str_slice(*text, (size_t)at + 1, text->length);
  return part;
}

/* `File "net.py", line 12, in forward`, newline, the line. */
static bool read_place(Str trace, Place *out) {
  static const char before_line[] = ", line ";
  ptrdiff_t at = find_last(trace, FILE_WORD);
  if (at < 0) return false;
  Str rest = str_slice(trace, (size_t)at + strlen(FILE_WORD), trace.length);
  out->file = cut(&rest, '"');
  if (!str_starts_with(rest, before_line)) return false;
  rest = str_slice(rest, strlen(before_line), rest.length);
  if (!str_to_int64(cut(&rest, ','), 10, &out->line) || out->line < 1 || out->line > INT32_MAX) return false;
  cut(&rest, '\n');
  out->code = cut(&rest, '\n');
  while (out->code.length && out->code.data[0] == ' ') out->code = str_slice(out->code, 1, out->code.length);
  return out->file.length && out->file.length < MAX_FILE && out->code.length && out->code.length < MAX_LINE;
}

static const Source *source_of(Pt2Builder *b, const Place *place) {
  Arena *arena = b->graph->arena;
  Str key = str_from(arena_printf(arena, "%lld:" STR_FMT, (long long)place->line, STR_ARG(place->file)));
  const Source *known = map_get(&b->places, key);
  Source *source;
  if (known) return known;
  pt2_try(b, source_new(place->code, arena_strndup(arena, place->file.data, place->file.length), (size_t)place->line,
                        &source));
  unit_hold_source(b->unit, source);
  map_put(&b->places, key, source);
  return source;
}

SourceRange pt2_source_place(Pt2Builder *b, const Json *node) {
  Str trace;
  Place place;
  if (!json_string(json_get(json_get(node, "metadata"), "stack_trace"), &trace) || !read_place(trace, &place))
    return b->graph->range;
  const Source *source = source_of(b, &place);
  return (SourceRange){source, 0, (uint32_t)source->length};
}
