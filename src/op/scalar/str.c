/* Strings. As in TorchScript a string is its bytes: lengths, indices and character classes are those of ASCII. */
#include <assert.h>

#include "base/work_limit.h"
#include "call/results.h"
#include "call/row.h"

static bool is_upper(char c) {
  return c >= 'A' && c <= 'Z';
}
static bool is_lower(char c) {
  return c >= 'a' && c <= 'z';
}
static bool is_alpha(char c) {
  return is_upper(c) || is_lower(c);
}
static bool is_digit(char c) {
  return c >= '0' && c <= '9';
}
static bool is_alnum(char c) {
  return is_alpha(c) || is_digit(c);
}
static bool is_space(char c) {
  return c == ' ' || (c >= '\t' && c <= '\r');
}
static bool is_printable(char c) {
  return c >= ' ' && c <= '~';
}
static char to_upper(char c) {
  return is_lower(c) ? (char)(c - 32) : c;
}
static char to_lower(char c) {
  return is_upper(c) ? (char)(c + 32) : c;
}
static char to_swapped(char c) {
  return is_upper(c) ? to_lower(c) : to_upper(c);
}

/* ---- case ---- */

typedef struct CharMap {
  char (*of)(char);
} CharMap;
static Status map_chars(Call *c) {
  const CharMap *map = call_with(c);
  Str s = call_str(c, 0);
  String *out;
  TRY(string_new_uninitialized(s.length, &out));
  for (size_t i = 0; i < s.length; i++) out->data[i] = map->of(s.data[i]);
  call_set(c, 0, ivalue_string(out));
  return OK;
}

static Status capitalize(Call *c) {
  TRY(map_chars(c));
  String *out = c->outputs[0].string;
  if (out->length) out->data[0] = to_upper(out->data[0]);
  return OK;
}

static Status title(Call *c) {
  TRY(map_chars(c));
  String *out = c->outputs[0].string;
  for (size_t i = 0; i < out->length; i++)
    if (i == 0 || !is_alpha(out->data[i - 1])) out->data[i] = to_upper(out->data[i]);
  return OK;
}

/* ---- character classes ---- */

typedef struct CharClass {
  bool (*has)(char);
  bool has_empty; /* is an empty string of the class? */
} CharClass;
static Status all_are(Call *c) {
  const CharClass *class = call_with(c);
  Str s = call_str(c, 0);
  bool result = s.length > 0 || class->has_empty;
  for (size_t i = 0; i < s.length && result; i++) result = class->has(s.data[i]);
  return result_bool(c, 0, result);
}

/* Letters, and none of the other case. */
static Status has_one_case(Call *c) {
  const CharClass *other = call_with(c);
  Str s = call_str(c, 0);
  bool found = false;
  for (size_t i = 0; i < s.length; i++) {
    if (other->has(s.data[i])) return result_bool(c, 0, false);
    found |= is_alpha(s.data[i]);
  }
  return result_bool(c, 0, found);
}

static Status istitle_(Call *c) {
  Str s = call_str(c, 0);
  bool found = false;
  for (size_t i = 0; i < s.length; i++) {
    bool starts = i == 0 || !is_alpha(s.data[i - 1]);
    if (starts ? is_lower(s.data[i]) : is_upper(s.data[i])) return result_bool(c, 0, false);
    found |= is_alpha(s.data[i]);
  }
  return result_bool(c, 0, found);
}

/* As TorchScript sees it: no underscores. */
static Status isidentifier_(Call *c) {
  Str s = call_str(c, 0);
  TRY(all_are(c));
  return result_bool(c, 0, c->outputs[0].b && !is_digit(s.data[0]));
}

/* ---- searching ---- */

static unsigned char reversed_at(Str s, size_t i) {
  return (unsigned char)s.data[s.length - 1 - i];
}

/* The last place of `what` in s, or -1, in linear time: the algorithm of Knuth, Morris and Pratt (Fast Pattern Matching
 * in Strings, 1977), read from the ends. `borders` has room for what.length. */
static ptrdiff_t find_last(Str s, Str what, uint32_t *borders) {
  assert(what.length <= s.length);
  size_t k = 0;
  borders[0] = 0;
  for (size_t i = 1; i < what.length; i++) {
    while (k && reversed_at(what, i) != reversed_at(what, k)) k = borders[k - 1];
    if (reversed_at(what, i) == reversed_at(what, k)) k++;
    borders[i] = (uint32_t)k;
  }
  k = 0;
  for (size_t i = 0; i < s.length; i++) {
    while (k && reversed_at(s, i) != reversed_at(what, k)) k = borders[k - 1];
    if (reversed_at(s, i) == reversed_at(what, k)) k++;
    if (k == what.length) return (ptrdiff_t)(s.length - 1 - i);
  }
  return -1;
}

/* Offset of the first (or last) place of `what` in s, or -1; -2: out of memory, for a last place only. */
static ptrdiff_t find_in(Str s, Str what, bool last) {
  if (what.length > s.length) return -1;
  if (!last) {
    const char *place = what.length ? memmem(s.data, s.length, what.data, what.length) : s.data;
    return place ? place - s.data : -1;
  }
  enum { SHORT = 64 };
  if (what.length <= SHORT) {
    for (size_t i = s.length - what.length + 1; i-- > 0;)
      if (!what.length || !memcmp(s.data + i, what.data, what.length)) return (ptrdiff_t)i;
    return -1;
  }
  uint32_t *borders = mem_alloc(what.length * sizeof *borders);
  ptrdiff_t place = borders ? find_last(s, what, borders) : -2;
  mem_free(borders);
  return place;
}

/* The piece [start, end) of argument 0 that arguments 2 and 3 name; -1 is the end itself. False: start lies after the
 * string. */
static bool window(const Call *c, Str *out, size_t *out_start) {
  Str s = call_str(c, 0);
  int64_t length = (int64_t)s.length, start = call_int(c, 2), end = call_int(c, 3);
  if (start < 0) start = start + length < 0 ? 0 : start + length;
  if (end < 0) end = end < -length - 1 ? 0 : end + length + 1;
  if (end > length) end = length;
  if (start > length) return false;
  if (end < start) end = start;
  *out = str_slice(s, (size_t)start, (size_t)end);
  *out_start = (size_t)start;
  return true;
}

enum { FIND_LAST = 1, FIND_MUST = 2 };

static Status find(Call *c) {
  bool last = call_param(c) & FIND_LAST, must = call_param(c) & FIND_MUST;
  Str s;
  size_t start;
  ptrdiff_t place = window(c, &s, &start) ? find_in(s, call_str(c, 1), last) : -1;
  if (place < -1) return status_out_of_memory();
  if (place < 0 && must) return status_exception("ValueError", "substring not found");
  return result_int(c, 0, place < 0 ? -1 : place + (ptrdiff_t)start);
}

static Status count(Call *c) {
  Str s, what = call_str(c, 1);
  size_t start;
  if (!window(c, &s, &start)) return result_int(c, 0, 0);
  if (!what.length) return result_int(c, 0, (int64_t)s.length + 1);
  int64_t n = 0;
  for (ptrdiff_t place; (place = find_in(s, what, false)) >= 0; n++)
    s = str_slice(s, (size_t)place + what.length, s.length);
  return result_int(c, 0, n);
}

static Status startswith(Call *c) {
  Str s, what = call_str(c, 1);
  size_t start;
  bool fits = window(c, &s, &start) && what.length <= s.length;
  return result_bool(c, 0, fits && str_equal(str_slice(s, 0, what.length), what));
}

static Status endswith(Call *c) {
  Str s, what = call_str(c, 1);
  size_t start;
  bool fits = window(c, &s, &start) && what.length <= s.length;
  return result_bool(c, 0, fits && str_equal(str_slice(s, s.length - what.length, s.length), what));
}

/* ---- stripping and padding ---- */

enum { STRIP_LEFT = 1, STRIP_RIGHT = 2 };

static Status strip(Call *c) {
  bool left = call_param(c) & STRIP_LEFT, right = call_param(c) & STRIP_RIGHT;
  Str s = call_str(c, 0), chars = call_str(c, 1);
  bool goes[256] = {false};
  for (size_t i = 0; i < chars.length; i++) goes[(unsigned char)chars.data[i]] = true;
  while (left && s.length && goes[(unsigned char)s.data[0]]) s = str_slice(s, 1, s.length);
  while (right && s.length && goes[(unsigned char)s.data[s.length - 1]]) s = str_slice(s, 0, s.length - 1);
  return result_str(c, 0, s);
}

static Status padded(Call *c, Str s, size_t left, size_t right, char fill) {
  String *out;
  size_t length;
  if (!size_add(s.length, left, &length) || !size_add(length, right, &length)) return status_out_of_memory();
  TRY(string_new_uninitialized(length, &out));
  memset(out->data, fill, left);
  if (s.length) memcpy(out->data + left, s.data, s.length);
  memset(out->data + left + s.length, fill, right);
  call_set(c, 0, ivalue_string(out));
  return OK;
}

/* How much is missing to the width in argument 1. */
static size_t missing(const Call *c) {
  int64_t width = call_int(c, 1), length = (int64_t)call_str(c, 0).length;
  return width > length ? (size_t)(width - length) : 0;
}

static Status fill_of(const Call *c, char *out) {
  Str fill = call_str(c, 2);
  if (fill.length != 1) return status_exception("TypeError", "The fill character must be exactly one character long");
  *out = fill.data[0];
  return OK;
}

static Status ljust(Call *c) {
  char fill;
  TRY(fill_of(c, &fill));
  return padded(c, call_str(c, 0), 0, missing(c), fill);
}

static Status rjust(Call *c) {
  char fill;
  TRY(fill_of(c, &fill));
  return padded(c, call_str(c, 0), missing(c), 0, fill);
}

static Status center(Call *c) {
  char fill;
  TRY(fill_of(c, &fill));
  size_t total = missing(c), left = call_int(c, 1) % 2 ? (total + 1) / 2 : total / 2;
  return padded(c, call_str(c, 0), left, total - left, fill);
}

/* A sign gets no special place. */
static Status zfill(Call *c) {
  return padded(c, call_str(c, 0), missing(c), 0, '0');
}

static Status expandtabs(Call *c) {
  Str s = call_str(c, 0);
  int64_t size = call_int(c, 1);
  StrBuf out = {0};
  size_t column = 0;
  for (size_t i = 0; i < s.length; i++) {
    char ch = s.data[i];
    if (ch == '\t') {
      size_t spaces = size > 0 ? (size_t)size - column % (size_t)size : 0;
      strbuf_repeat(&out, ' ', spaces);
      column += spaces;
      continue;
    }
    strbuf_char(&out, ch);
    column = ch == '\n' || ch == '\r' ? 0 : column + 1;
  }
  return result_strbuf(c, 0, &out);
}

/* ---- taking apart and putting together ---- */

static Status append_piece(List *list, Str piece) {
  IValue v;
  TRY(ivalue_from_str(piece, &v));
  return list_append(list, v);
}

/* Hands the list to the call, or releases it when the status is an error. */
static Status finish_list(Call *c, List *list, Status status) {
  if (status == OK)
    call_set(c, 0, ivalue_list(list));
  else
    ivalue_release(ivalue_list(list));
  return status;
}

static Status split_at_space(List *out, Str s, int64_t max) {
  for (;;) {
    while (s.length && is_space(s.data[0])) s = str_slice(s, 1, s.length);
    if (!s.length) return OK;
    size_t end = 0;
    if (max >= 0 && (int64_t)out->length >= max) end = s.length;
    while (end < s.length && !is_space(s.data[end])) end++;
    TRY(append_piece(out, str_slice(s, 0, end)));
    s = str_slice(s, end, s.length);
  }
}

static Status split_at(List *out, Str s, Str separator, int64_t max) {
  if (!separator.length) return status_exception("ValueError", "empty separator");
  for (ptrdiff_t place; (max < 0 || (int64_t)out->length < max) && (place = find_in(s, separator, false)) >= 0;) {
    TRY(append_piece(out, str_slice(s, 0, (size_t)place)));
    s = str_slice(s, (size_t)place + separator.length, s.length);
  }
  return append_piece(out, s);
}

static Status split(Call *c) {
  List *out;
  TRY(list_new(TYPE(STRING), 0, &out));
  Str s = call_str(c, 0);
  int64_t max = call_int(c, 2);
  return finish_list(c, out, call_is_none(c, 1) ? split_at_space(out, s, max) : split_at(out, s, call_str(c, 1), max));
}

static Status rsplit_at(List *out, Str s, Str separator, int64_t max) {
  if (!separator.length) return status_exception("ValueError", "empty separator");
  ptrdiff_t place = 0;
  while ((max < 0 || (int64_t)out->length < max) && (place = find_in(s, separator, true)) >= 0) {
    TRY(append_piece(out, str_slice(s, (size_t)place + separator.length, s.length)));
    s = str_slice(s, 0, (size_t)place);
  }
  if (place < -1) return status_out_of_memory();
  TRY(append_piece(out, s));
  for (size_t i = 0, j = out->length - 1; i < j; i++, j--) { /* found from the right */
    IValue swapped = out->values[i];
    out->values[i] = out->values[j];
    out->values[j] = swapped;
  }
  return OK;
}

static Status rsplit(Call *c) {
  List *out;
  TRY(list_new(TYPE(STRING), 0, &out));
  return finish_list(c, out, rsplit_at(out, call_str(c, 0), call_str(c, 1), call_int(c, 2)));
}

/* TorchScript's way: every separating character ends a line, and what is kept of it is a piece of its own. */
static Status split_lines(List *out, Str s, bool keep_ends) {
  while (s.length) {
    size_t end = 0;
    while (end < s.length && !memchr("\n\r\v\f\x1c\x1d\x1e", s.data[end], 7)) end++;
    TRY(append_piece(out, str_slice(s, 0, end)));
    bool ended = end < s.length;
    if (ended && keep_ends) TRY(append_piece(out, str_slice(s, end, end + 1)));
    s = str_slice(s, end + ended, s.length);
  }
  return OK;
}

static Status splitlines(Call *c) {
  List *out;
  TRY(list_new(TYPE(STRING), 0, &out));
  return finish_list(c, out, split_lines(out, call_str(c, 0), call_bool(c, 1)));
}

static Status partition(Call *c) {
  bool last = call_param(c);
  Str s = call_str(c, 0), separator = call_str(c, 1);
  if (!separator.length) return status_exception("ValueError", "empty separator");
  ptrdiff_t place = find_in(s, separator, last);
  if (place < -1) return status_out_of_memory();
  Str before = s, after = STR("");
  if (place >= 0) {
    before = str_slice(s, 0, (size_t)place);
    after = str_slice(s, (size_t)place + separator.length, s.length);
  } else if (last) {
    before = STR("");
    after = s;
  }
  TRY(result_str(c, 0, before));
  TRY(result_str(c, 1, place < 0 ? STR("") : separator));
  return result_str(c, 2, after);
}

static Status join(Call *c) {
  Str separator = call_str(c, 0);
  const List *values = call_list(c, 1);
  StrBuf out = {0};
  int64_t done = 0;
  for (size_t i = 0; i < values->length && !work_is_over_after(&done, 8); i++) {
    if (i) strbuf_str(&out, separator);
    IValue piece = list_get(values, i);
    strbuf_str(&out, ivalue_str(piece));
    ivalue_release(piece);
  }
  return result_strbuf(c, 0, &out);
}

static Status replace(Call *c) {
  Str s = call_str(c, 0), old = call_str(c, 1), with = call_str(c, 2);
  int64_t left = call_int(c, 3);
  StrBuf out = {0};
  if (!old.length) { /* before each character and at the end */
    for (size_t i = 0; i <= s.length; i++) {
      if (left != 0) strbuf_str(&out, with);
      if (left > 0) left--;
      if (i < s.length) strbuf_char(&out, s.data[i]);
    }
    return result_strbuf(c, 0, &out);
  }
  for (ptrdiff_t place; left != 0 && (place = find_in(s, old, false)) >= 0; left -= left > 0) {
    strbuf_str(&out, str_slice(s, 0, (size_t)place));
    strbuf_str(&out, with);
    s = str_slice(s, (size_t)place + old.length, s.length);
  }
  strbuf_str(&out, s);
  return result_strbuf(c, 0, &out);
}

static Status concatenate(Call *c) {
  Str a = call_str(c, 0), b = call_str(c, 1);
  String *out;
  size_t length;
  if (!size_add(a.length, b.length, &length)) return status_out_of_memory();
  TRY(string_new_uninitialized(length, &out));
  if (a.length) memcpy(out->data, a.data, a.length);
  if (b.length) memcpy(out->data + a.length, b.data, b.length);
  call_set(c, 0, ivalue_string(out));
  return OK;
}

static Status get_char(Call *c) {
  Str s = call_str(c, 0);
  int64_t length = (int64_t)s.length, i = call_int(c, 1);
  if (i < 0) i += length;
  if (i < 0 || i >= length) return status_exception("IndexError", "string index out of range");
  return result_str(c, 0, str_slice(s, (size_t)i, (size_t)i + 1));
}

static Status slice(Call *c) {
  Str s = call_str(c, 0);
  int64_t start, step, count;
  TRY(slice_bounds(c, (int64_t)s.length, &start, &step, &count));
  if (step == 1 && count) return result_str(c, 0, str_slice(s, (size_t)start, (size_t)(start + count)));
  String *out;
  TRY(string_new_uninitialized((size_t)count, &out));
  for (int64_t i = 0; i < count; i++) out->data[i] = s.data[start + i * step];
  call_set(c, 0, ivalue_string(out));
  return OK;
}

static Status length(Call *c) {
  return result_int(c, 0, (int64_t)call_str(c, 0).length);
}

static Status chars(Call *c) {
  Str s = call_str(c, 0);
  List *out;
  TRY(list_new(TYPE(STRING), s.length, &out));
  Status status = OK;
  for (size_t i = 0; i < s.length && status == OK; i++) status = append_piece(out, str_slice(s, i, i + 1));
  return finish_list(c, out, status);
}

/* ---- characters and numbers ---- */

static Status ord(Call *c) {
  Str s = call_str(c, 0);
  if (s.length != 1) return status_exception("TypeError", "String for ord() must be 1 character, found %zu", s.length);
  return result_int(c, 0, (unsigned char)s.data[0]);
}

static Status chr(Call *c) {
  int64_t code = call_int(c, 0);
  if (code < 0 || code >= 0x110000) return status_exception("ValueError", "chr() arg not in range(0x110000)");
  char bytes[4] = {(char)code};
  return result_str(c, 0, (Str){bytes, code < 256 ? 1 : utf8_encode((uint32_t)code, bytes)});
}

typedef struct Base {
  int bits; /* of a digit */
  const char *prefix;
} Base;
static Status in_base(Call *c) {
  const Base *base = call_with(c);
  int64_t value = call_int(c, 0);
  uint64_t magnitude = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
  char digits[64];
  size_t n = 0;
  do {
    digits[sizeof digits - ++n] = "0123456789abcdef"[magnitude & ((1u << base->bits) - 1)];
    magnitude >>= base->bits;
  } while (magnitude);
  StrBuf out = {0};
  strbuf_puts(&out, value < 0 ? "-" : "");
  strbuf_puts(&out, base->prefix);
  strbuf_append(&out, digits + sizeof digits - n, n);
  return result_strbuf(c, 0, &out);
}

/* ---- comparison ---- */

#define COMPARE(name, relation)                                                       \
  static Status name(Call *c) {                                                       \
    return result_bool(c, 0, str_compare(call_str(c, 0), call_str(c, 1)) relation 0); \
  }
static Status equal(Call *c) {
  return result_bool(c, 0, str_equal(call_str(c, 0), call_str(c, 1)));
}
static Status not_equal(Call *c) {
  return result_bool(c, 0, !str_equal(call_str(c, 0), call_str(c, 1)));
}
COMPARE(less, <)
COMPARE(less_equal, <=)
COMPARE(greater, >)
COMPARE(greater_equal, >=)

#define TO_STR(name, function, map) ROW("aten::" name "(str self) -> str", function, .with = &(const CharMap){map})
#define TO_BOOL(name, function, ...) \
  ROW("aten::" name "(str self) -> bool", function, .with = &(const CharClass){__VA_ARGS__})
#define WINDOWED(name, result, ...) \
  ROW("aten::" name "(str self, str substr, int start=0, int end=-1) -> " result, __VA_ARGS__)
#define COMPARISON(name, function) ROW("aten::" name ".str(str a, str b) -> bool", function)

static const OpRow rows[] = {
    TO_STR("upper", map_chars, to_upper),
    TO_STR("lower", map_chars, to_lower),
    TO_STR("swapcase", map_chars, to_swapped),
    TO_STR("capitalize", capitalize, to_lower),
    TO_STR("title", title, to_lower),
    TO_BOOL("isalpha", all_are, is_alpha),
    TO_BOOL("isalnum", all_are, is_alnum),
    TO_BOOL("isdigit", all_are, is_digit),
    TO_BOOL("isdecimal", all_are, is_digit),
    TO_BOOL("isnumeric", all_are, is_digit),
    TO_BOOL("isspace", all_are, is_space),
    TO_BOOL("isprintable", all_are, is_printable, .has_empty = true),
    TO_BOOL("islower", has_one_case, is_upper),
    TO_BOOL("isupper", has_one_case, is_lower),
    ROW("aten::istitle(str self) -> bool", istitle_),
    TO_BOOL("isidentifier", isidentifier_, is_alnum),
    WINDOWED("find", "int", find, .param = 0),
    WINDOWED("rfind", "int", find, .param = FIND_LAST),
    WINDOWED("index.str", "int", find, .param = FIND_MUST),
    WINDOWED("rindex", "int", find, .param = FIND_LAST | FIND_MUST),
    WINDOWED("count", "int", count),
    WINDOWED("startswith", "bool", startswith),
    WINDOWED("endswith", "bool", endswith),
    {.schema = "aten::__contains__.substr(str self, str key) -> bool",
     .body = "return self.find(key, 0, len(self)) != -1",
     .flags = OP_BUILTIN},
    ROW("aten::strip(str self, str chars=\" \\n\\t\\f\\v\") -> str", strip, .param = STRIP_LEFT | STRIP_RIGHT),
    ROW("aten::lstrip(str self, str chars=\" \\n\\t\\f\\v\") -> str", strip, .param = STRIP_LEFT),
    ROW("aten::rstrip(str self, str chars=\" \\n\\t\\f\\v\") -> str", strip, .param = STRIP_RIGHT),
    ROW("aten::ljust(str self, int width, str fillchar=\" \") -> str", ljust),
    ROW("aten::rjust(str self, int width, str fillchar=\" \") -> str", rjust),
    ROW("aten::center(str self, int width, str fillchar=\" \") -> str", center),
    ROW("aten::zfill(str self, int width) -> str", zfill),
    ROW("aten::expandtabs(str self, int tabsize=8) -> str", expandtabs),
    ROW("aten::split.str(str self, str? separator=None, int max=-1) -> str[]", split),
    ROW("aten::rsplit(str self, str separator=\" \", int max=-1) -> str[]", rsplit),
    ROW("aten::splitlines(str self, bool keepends=False) -> str[]", splitlines),
    ROW("aten::partition(str self, str separator) -> (str, str, str)", partition, .param = false),
    ROW("aten::rpartition(str self, str separator) -> (str, str, str)", partition, .param = true),
    ROW("aten::join(str self, str[] values) -> str", join),
    ROW("aten::replace(str self, str old, str new, int max=-1) -> str", replace),
    ROW("aten::add.str(str a, str b) -> str", concatenate),
    ROW("aten::__getitem__.str(str s, int index) -> str", get_char),
    ROW("prim::StringIndex(str string, int index) -> str", get_char),
    ROW("aten::slice.str(str string, int? start=None, int? end=None, int step=1) -> str", slice),
    ROW("aten::len.str(str s) -> int", length),
    ROW("aten::list(str t) -> str[]", chars),
    ROW("aten::ord(str string) -> int", ord),
    ROW("aten::chr(int i) -> str", chr),
    ROW("aten::hex(int i) -> str", in_base, .with = &(const Base){4, "0x"}),
    ROW("aten::oct(int i) -> str", in_base, .with = &(const Base){3, "0o"}),
    ROW("aten::bin(int i) -> str", in_base, .with = &(const Base){1, "0b"}),
    COMPARISON("eq", equal),
    COMPARISON("ne", not_equal),
    COMPARISON("lt", less),
    COMPARISON("le", less_equal),
    COMPARISON("gt", greater),
    COMPARISON("ge", greater_equal),
};
OP_TABLE(op_table_str, rows);
