/* Str: a borrowed piece of text. StrBuf: a growing text, on the heap. Number text independent of locale. */
#pragma once

#include "base/memory.h"

typedef struct Str {
  const char *data; /* not terminated */
  size_t length;
} Str;
#define STR(literal) ((Str){"" literal, sizeof(literal) - 1})
#define STR_FMT "%.*s"
#define STR_ARG(s) (int)(s).length, (s).data
static inline Str str_from(const char *text) {
  return (Str){text, text ? strlen(text) : 0};
}
bool str_equal(Str a, Str b);
bool str_is_long(Str a, const char *text); /* str_is, for texts that begin alike */
/* Always inline, for look-ups in small tables: most texts differ in the first byte. */
static inline __attribute__((always_inline)) bool str_is(Str a, const char *text) {
  return a.length ? a.data[0] == text[0] && str_is_long(a, text) : !text[0];
}
int str_compare(Str a, Str b); /* bytes, as memcmp, the shorter first */
bool str_starts_with(Str s, const char *prefix);
bool str_ends_with(Str s, const char *suffix);
Str str_slice(Str s, size_t begin, size_t end);
ptrdiff_t str_find_char(Str s, char c); /* -1: absent */
ptrdiff_t str_rfind_char(Str s, char c);
bool str_is_listed(const char *words, Str word); /* whether it is one of them, separated by blanks */
Str str_after_last(Str s, char c);               /* all of s where c is not in it */
uint64_t str_hash(Str s);                        /* seeded per process */
/* Damerau-Levenshtein distance, for suggestions; gives up above `limit` and returns limit + 1. */
size_t str_distance(Str a, Str b, size_t limit);

/* Appending never fails visibly: a StrBuf that ran out of memory stays marked and strbuf_take says so. */
typedef struct StrBuf {
  char *data; /* terminated when not NULL */
  size_t length, capacity;
  size_t max_length; /* 0: no limit; beyond it text is cut and `truncated` set */
  bool failed, truncated;
} StrBuf;
void strbuf_dispose(StrBuf *b);
void strbuf_clear(StrBuf *b);
void strbuf_truncate(StrBuf *b, size_t length); /* to at most that length */
void strbuf_append(StrBuf *b, const char *data, size_t length);
void strbuf_puts(StrBuf *b, const char *text);
void strbuf_str(StrBuf *b, Str s);
void strbuf_char(StrBuf *b, char c);
void strbuf_repeat(StrBuf *b, char c, size_t count);
void strbuf_printf(StrBuf *b, const char *format, ...) PRINTF_LIKE(2, 3);
/* The shortest digits that read back to the same double, as Python's repr: 1.0, 0.1, 1e-05, inf, nan. */
void strbuf_double(StrBuf *b, double value);
/* C++ ostream's default: %g with `precision` significant digits. */
void strbuf_double_g(StrBuf *b, double value, int precision);
static inline Str strbuf_view(const StrBuf *b) {
  return (Str){b->data ? b->data : "", b->length};
}
/* Gives the text away (never NULL on success); *b becomes empty. */
Status strbuf_take(StrBuf *b, char **out_text) MUST_CHECK;
/* The text as a copy in an arena, terminated; *b becomes empty. Throws when the text ran out of memory. */
Str arena_take_text(Arena *arena, StrBuf *b);

/* Locale-independent parsing of the whole of s; false when malformed or out of range. */
bool str_to_int64(Str s, int base, int64_t *out);
bool str_to_double(Str s, double *out);
/* UTF-8: decodes one code point at *position and moves on; malformed bytes yield U+FFFD and move by one. */
uint32_t utf8_next(Str s, size_t *position);
size_t utf8_encode(uint32_t code_point, char out[4]);
/* Text for people's eyes: what a terminal would obey in it (control characters, malformed UTF-8) is spelled: \n, \x1b,
 * \u0085. Those of `kept` stay, and \r where a \n that does follows. */
void strbuf_escape(StrBuf *b, Str text, const char *kept);
