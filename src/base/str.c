/* Text: comparison, a growing buffer, numbers that read and print the same in every locale, and UTF-8. */
#include "base/str.h"

#include <assert.h>
#include <locale.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>
#include <time.h>

#include "base/format.h"

/* ---- Str ---- */

bool str_equal(Str a, Str b) {
  return a.length == b.length && (a.length == 0 || memcmp(a.data, b.data, a.length) == 0);
}

bool str_is_long(Str a, const char *text) {
  return strnlen(text, a.length + 1) == a.length && memcmp(a.data, text, a.length) == 0; /* a may hold zeros */
}

int str_compare(Str a, Str b) {
  size_t shorter = a.length < b.length ? a.length : b.length;
  int order = shorter ? memcmp(a.data, b.data, shorter) : 0;
  return order ? order : (a.length > b.length) - (a.length < b.length);
}

bool str_starts_with(Str s, const char *prefix) {
  size_t length = strlen(prefix);
  return s.length >= length && memcmp(s.data, prefix, length) == 0;
}

bool str_ends_with(Str s, const char *suffix) {
  size_t length = strlen(suffix);
  return s.length >= length && memcmp(s.data + s.length - length, suffix, length) == 0;
}

Str str_slice(Str s, size_t begin, size_t end) {
  if (end > s.length) end = s.length;
  if (begin > end) begin = end;
  return (Str){s.data + begin, end - begin};
}

ptrdiff_t str_find_char(Str s, char c) {
  const char *found = s.length ? memchr(s.data, c, s.length) : NULL;
  return found ? found - s.data : -1;
}

bool str_is_listed(const char *words, Str word) {
  for (const char *p = words; *p;) {
    size_t length = strcspn(p, " ");
    if (length == word.length && !memcmp(p, word.data, length)) return true;
    p += length + strspn(p + length, " ");
  }
  return false;
}

Str str_after_last(Str s, char c) {
  return str_slice(s, (size_t)(str_rfind_char(s, c) + 1), s.length);
}

ptrdiff_t str_rfind_char(Str s, char c) {
  for (size_t i = s.length; i-- > 0;)
    if (s.data[i] == c) return (ptrdiff_t)i;
  return -1;
}

/* ---- hashing: words folded by 128-bit products; the seed keeps chosen keys from colliding ---- */

static uint64_t hash_seed(void) {
  static _Atomic uint64_t seed;
  uint64_t value = atomic_load_explicit(&seed, memory_order_relaxed);
  if (value) return value;
  uint64_t fresh;
  if (getrandom(&fresh, sizeof fresh, GRND_NONBLOCK) != sizeof fresh)
    fresh = (uint64_t)time(NULL) * UINT64_C(0x9e3779b97f4a7c15) ^ (uint64_t)(uintptr_t)&fresh;
  fresh |= 1;
  return atomic_compare_exchange_strong(&seed, &value, fresh) ? fresh : value;
}

static uint64_t fold(uint64_t a, uint64_t b) {
  unsigned __int128 product = (unsigned __int128)a * b;
  return (uint64_t)product ^ (uint64_t)(product >> 64);
}

static inline uint64_t load(const char *p, size_t bytes) {
  uint64_t word = 0;
  memcpy(&word, p, bytes);
  return word;
}
/* Less than eight, which overlap in the word where that spares a call of memcpy with a length that varies. */
static uint64_t few_bytes(const char *p, size_t count) {
  if (count >= 4) return load(p, 4) | load(p + count - 4, 4) << 32;
  if (!count) return 0;
  return load(p, 1) | load(p + count / 2, 1) << 8 | load(p + count - 1, 1) << 16;
}

uint64_t str_hash(Str s) {
  uint64_t seed = hash_seed(), hash = seed ^ s.length;
  const char *p = s.data;
  size_t left = s.length;
  for (; left >= 8; p += 8, left -= 8) hash = fold(hash ^ load(p, 8), seed ^ UINT64_C(0xa0761d6478bd642f));
  uint64_t word = s.length >= 8 ? load(p + left - 8, 8) : few_bytes(p, left);
  hash = fold(hash ^ word, seed ^ UINT64_C(0xe7037ed1a0b428db));
  return fold(hash ^ seed, UINT64_C(0x9e3779b97f4a7c15));
}

size_t str_distance(Str a, Str b, size_t limit) {
  size_t gap = a.length > b.length ? a.length - b.length : b.length - a.length, row_items;
  if (gap > limit || !size_add(b.length, 1, &row_items)) return limit + 1;
  size_t *rows = mem_calloc(3 * row_items, sizeof *rows);
  if (!rows) return limit + 1;
  size_t *before = rows, *previous = rows + row_items, *current = rows + 2 * row_items;
  for (size_t j = 0; j <= b.length; j++) previous[j] = j;
  for (size_t i = 1; i <= a.length; i++) {
    size_t least = current[0] = i;
    for (size_t j = 1; j <= b.length; j++) {
      size_t best = previous[j - 1] + (a.data[i - 1] != b.data[j - 1]);
      if (previous[j] + 1 < best) best = previous[j] + 1;
      if (current[j - 1] + 1 < best) best = current[j - 1] + 1;
      bool swapped = i > 1 && j > 1 && a.data[i - 1] == b.data[j - 2] && a.data[i - 2] == b.data[j - 1];
      if (swapped && before[j - 2] + 1 < best) best = before[j - 2] + 1;
      current[j] = best;
      if (best < least) least = best;
    }
    size_t *recycled = before;
    before = previous;
    previous = current;
    current = recycled;
    if (least > limit) break;
  }
  size_t distance = previous[b.length];
  mem_free(rows);
  return distance > limit ? limit + 1 : distance;
}

/* ---- StrBuf ---- */

void strbuf_dispose(StrBuf *b) {
  mem_free(b->data);
  *b = (StrBuf){.max_length = b->max_length};
}

void strbuf_clear(StrBuf *b) {
  b->length = 0;
  b->failed = b->truncated = false;
  if (b->data) b->data[0] = '\0';
}

void strbuf_truncate(StrBuf *b, size_t length) {
  assert(b->length <= b->capacity);
  if (b->length <= length) return;
  b->length = length;
  b->data[length] = '\0';
}

/* Room for `more` bytes and the NUL. */
static bool strbuf_reserve(StrBuf *b, size_t more) {
  size_t needed, wanted;
  if (b->failed) return false;
  if (!size_add(b->length, more, &needed) || !size_add(needed, 1, &needed)) return !(b->failed = true);
  if (needed <= b->capacity) return true;
  wanted = b->capacity + b->capacity / 2;
  if (wanted < needed) wanted = needed;
  if (wanted < 32) wanted = 32;
  char *grown = mem_realloc(b->data, wanted);
  if (!grown) return !(b->failed = true);
  b->data = grown;
  b->capacity = wanted;
  return true;
}

/* How much of `length` the limit lets in. */
static size_t strbuf_admit(StrBuf *b, size_t length) {
  if (!b->max_length) return length;
  size_t room = b->max_length > b->length ? b->max_length - b->length : 0;
  if (length <= room) return length;
  b->truncated = true;
  return room;
}

void strbuf_append(StrBuf *b, const char *data, size_t length) {
  assert(!length || data);
  length = strbuf_admit(b, length);
  if (!length || !strbuf_reserve(b, length)) return;
  memcpy(b->data + b->length, data, length);
  b->length += length;
  b->data[b->length] = '\0';
}

void strbuf_puts(StrBuf *b, const char *text) {
  strbuf_append(b, text, strlen(text));
}
void strbuf_str(StrBuf *b, Str s) {
  strbuf_append(b, s.data, s.length);
}
void strbuf_char(StrBuf *b, char c) {
  strbuf_append(b, &c, 1);
}

void strbuf_repeat(StrBuf *b, char c, size_t count) {
  count = strbuf_admit(b, count);
  if (!count || !strbuf_reserve(b, count)) return;
  memset(b->data + b->length, c, count);
  b->length += count;
  b->data[b->length] = '\0';
}

void strbuf_printf(StrBuf *b, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  int length = text_format(NULL, 0, format, arguments);
  va_end(arguments);
  if (length <= 0) {
    if (length < 0) b->failed = true;
    return;
  }
  size_t admitted = strbuf_admit(b, (size_t)length);
  if (!strbuf_reserve(b, (size_t)length)) return;
  va_start(arguments, format);
  text_format(b->data + b->length, (size_t)length + 1, format, arguments);
  va_end(arguments);
  b->length += admitted;
  b->data[b->length] = '\0';
}

Status strbuf_take(StrBuf *b, char **out_text) {
  *out_text = NULL;
  if (!b->failed && !b->data && strbuf_reserve(b, 0)) b->data[0] = '\0';
  if (b->failed) {
    strbuf_dispose(b);
    return status_out_of_memory();
  }
  *out_text = b->data;
  *b = (StrBuf){.max_length = b->max_length};
  return OK;
}

typedef struct Taking {
  Arena *arena;
  const StrBuf *from;
  char *copy;
} Taking;
static void copy_text(void *argument) {
  Taking *t = argument;
  t->copy = arena_strndup(t->arena, strbuf_view(t->from).data, t->from->length);
}
Str arena_take_text(Arena *arena, StrBuf *b) {
  assert(arena->catch_point);
  Taking taking = {arena, b, NULL};
  Status status = b->failed ? status_out_of_memory() : arena_protect(arena, copy_text, &taking);
  Str text = {taking.copy, b->length};
  strbuf_dispose(b);
  if (status) catch_throw(arena->catch_point, status);
  return text;
}

/* ---- numbers ---- */

static locale_t c_locale;
static void make_c_locale(void) {
  c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
}

/* strtod without the process's locale; text is terminated and has been checked. */
static double read_double(const char *text) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, make_c_locale);
  return c_locale ? strtod_l(text, NULL, c_locale) : strtod(text, NULL);
}

enum { MAX_DIGITS = 17 };

/* The digits (without trailing zeros) and decimal exponent of |value| at `precision` significant digits. */
static int decimal_digits(double value, int precision, char digits[MAX_DIGITS + 1], int *out_exponent) {
  assert(precision >= 1 && precision <= MAX_DIGITS);
  char text[64];
  snprintf(text, sizeof text, "%.*e", precision - 1, fabs(value));
  int n = 0;
  const char *p = text;
  for (; *p && *p != 'e'; p++) /* skips the decimal point, whatever the locale makes of it */
    if (*p >= '0' && *p <= '9' && n < MAX_DIGITS) digits[n++] = *p;
  *out_exponent = *p ? atoi(p + 1) : 0;
  while (n > 1 && digits[n - 1] == '0') n--;
  digits[n] = '\0';
  return n;
}

static bool digits_read_back(const char *digits, int exponent, double value) {
  char text[64];
  snprintf(text, sizeof text, "%c%s%se%d", digits[0], digits[1] ? "." : "", digits + 1, exponent);
  return read_double(text) == value;
}

/* The next larger number of `precision` digits: beside a power of two it can be the one that reads back. */
static int next_digits(char *digits, int n, int precision, int *exponent) {
  while (n < precision) digits[n++] = '0';
  int i = n - 1;
  while (i >= 0 && digits[i] == '9') digits[i--] = '0';
  if (i < 0) {
    digits[0] = '1';
    ++*exponent;
  } else {
    digits[i]++;
  }
  while (n > 1 && digits[n - 1] == '0') n--;
  digits[n] = '\0';
  return n;
}

/* Any decimal of at most 15 digits survives a normal double, so the search may begin there. */
static int shortest_digits(double value, char digits[MAX_DIGITS + 1], int *out_exponent) {
  value = fabs(value);
  int n = 0;
  for (int precision = value < 2.2250738585072014e-308 ? 1 : 15; precision <= MAX_DIGITS; precision++) {
    n = decimal_digits(value, precision, digits, out_exponent);
    if (precision == MAX_DIGITS || digits_read_back(digits, *out_exponent, value)) break;
    n = next_digits(digits, n, precision, out_exponent);
    if (digits_read_back(digits, *out_exponent, value)) break;
  }
  return n;
}

void strbuf_double(StrBuf *b, double value) {
  if (isnan(value)) {
    strbuf_puts(b, "nan");
    return;
  }
  if (signbit(value)) strbuf_char(b, '-');
  if (isinf(value)) {
    strbuf_puts(b, "inf");
    return;
  }
  if (value == 0) {
    strbuf_puts(b, "0.0");
    return;
  }
  char digits[MAX_DIGITS + 1];
  int exponent, n = shortest_digits(value, digits, &exponent);
  if (exponent < -4 || exponent >= 16) {
    strbuf_char(b, digits[0]);
    if (n > 1) strbuf_char(b, '.');
    strbuf_puts(b, digits + 1);
    strbuf_printf(b, "e%c%02d", exponent < 0 ? '-' : '+', abs(exponent));
  } else if (exponent < 0) {
    strbuf_puts(b, "0.");
    strbuf_repeat(b, '0', (size_t)(-exponent - 1));
    strbuf_puts(b, digits);
  } else {
    int whole = exponent + 1 < n ? exponent + 1 : n;
    strbuf_append(b, digits, (size_t)whole);
    strbuf_repeat(b, '0', (size_t)(exponent + 1 - whole));
    strbuf_char(b, '.');
    strbuf_puts(b, whole < n ? digits + whole : "0");
  }
}

void strbuf_double_g(StrBuf *b, double value, int precision) {
  char text[1200];
  if (precision > 1000) precision = 1000;
  snprintf(text, sizeof text, "%.*g", precision, value);
  if (isfinite(value)) {
    const char *point = localeconv()->decimal_point, *found = strcmp(point, ".") ? strstr(text, point) : NULL;
    if (found && *point) {
      strbuf_append(b, text, (size_t)(found - text));
      strbuf_char(b, '.');
      strbuf_puts(b, found + strlen(point));
      return;
    }
  }
  strbuf_puts(b, text);
}

static int digit_value(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'z') return c - 'a' + 10;
  if (c >= 'A' && c <= 'Z') return c - 'A' + 10;
  return 99;
}

bool str_to_int64(Str s, int base, int64_t *out) {
  assert(base >= 2 && base <= 36);
  size_t i = 0;
  bool negative = s.length && s.data[0] == '-';
  if (s.length && (s.data[0] == '-' || s.data[0] == '+')) i++;
  if (i == s.length) return false;
  int64_t value = 0; /* kept negative: the least int64 has no opposite */
  for (; i < s.length; i++) {
    int digit = digit_value(s.data[i]);
    if (digit >= base || __builtin_mul_overflow(value, (int64_t)base, &value) ||
        __builtin_sub_overflow(value, (int64_t)digit, &value))
      return false;
  }
  if (!negative && __builtin_sub_overflow((int64_t)0, value, &value)) return false;
  *out = value;
  return true;
}

static bool equal_ignoring_case(Str s, const char *lower) {
  if (s.length != strlen(lower)) return false;
  for (size_t i = 0; i < s.length; i++)
    if ((s.data[i] | 0x20) != lower[i]) return false;
  return true;
}

static size_t skip_digits(Str s, size_t i) {
  while (i < s.length && s.data[i] >= '0' && s.data[i] <= '9') i++;
  return i;
}

/* [sign] (digits [. digits] | . digits) [e [sign] digits], and nothing that strtod knows besides. */
static bool is_decimal(Str s) {
  size_t i = s.length && (s.data[0] == '-' || s.data[0] == '+') ? 1 : 0;
  size_t whole = skip_digits(s, i), digits = whole - i;
  i = whole;
  if (i < s.length && s.data[i] == '.') {
    size_t fraction = skip_digits(s, i + 1);
    digits += fraction - i - 1;
    i = fraction;
  }
  if (!digits) return false;
  if (i < s.length && (s.data[i] == 'e' || s.data[i] == 'E')) {
    i++;
    if (i < s.length && (s.data[i] == '-' || s.data[i] == '+')) i++;
    size_t end = skip_digits(s, i);
    if (end == i) return false;
    i = end;
  }
  return i == s.length;
}

bool str_to_double(Str s, double *out) {
  Str bare = s.length && (s.data[0] == '-' || s.data[0] == '+') ? str_slice(s, 1, s.length) : s;
  bool negative = s.length && s.data[0] == '-';
  if (equal_ignoring_case(bare, "inf") || equal_ignoring_case(bare, "infinity")) {
    *out = negative ? -INFINITY : INFINITY;
    return true;
  }
  if (equal_ignoring_case(bare, "nan")) {
    *out = negative ? -NAN : NAN;
    return true;
  }
  if (!is_decimal(s)) return false;
  char small[64], *text = s.length < sizeof small ? small : mem_alloc(s.length + 1);
  if (!text) return false;
  memcpy(text, s.data, s.length);
  text[s.length] = '\0';
  *out = read_double(text);
  if (text != small) mem_free(text);
  return true;
}

/* ---- UTF-8 ---- */

uint32_t utf8_next(Str s, size_t *position) {
  assert(*position < s.length);
  size_t i = *position;
  unsigned char first = (unsigned char)s.data[i];
  *position = i + 1;
  if (first < 0x80) return first;
  int more = first >= 0xF0 ? 3 : first >= 0xE0 ? 2 : 1;
  if (first < 0xC2 || first > 0xF4 || s.length - i <= (size_t)more) return 0xFFFD;
  uint32_t code = first & (0x3Fu >> more);
  for (int k = 1; k <= more; k++) {
    unsigned char byte = (unsigned char)s.data[i + (size_t)k];
    if ((byte & 0xC0) != 0x80) return 0xFFFD;
    code = code << 6 | (byte & 0x3F);
  }
  bool overlong = (more == 2 && code < 0x800) || (more == 3 && code < 0x10000);
  if (overlong || code > 0x10FFFF || (code >= 0xD800 && code <= 0xDFFF)) return 0xFFFD;
  *position = i + (size_t)more + 1;
  return code;
}

size_t utf8_encode(uint32_t code_point, char out[4]) {
  if (code_point > 0x10FFFF || (code_point >= 0xD800 && code_point <= 0xDFFF)) code_point = 0xFFFD;
  if (code_point < 0x80) {
    out[0] = (char)code_point;
    return 1;
  }
  size_t length = code_point < 0x800 ? 2 : code_point < 0x10000 ? 3 : 4;
  for (size_t i = length - 1; i > 0; i--, code_point >>= 6) out[i] = (char)(0x80 | (code_point & 0x3F));
  out[0] = (char)((0xF00 >> length & 0xFF) | code_point);
  return length;
}

/* ---- for people's eyes ---- */

static bool is_control(uint32_t code) {
  return code < 0x20 || (code >= 0x7F && code < 0xA0);
}
static void spell_control(StrBuf *b, uint32_t code) {
  switch (code) {
    case '\n':
      return strbuf_puts(b, "\\n");
    case '\r':
      return strbuf_puts(b, "\\r");
    case '\t':
      return strbuf_puts(b, "\\t");
    default:
      return strbuf_printf(b, code < 0x80 ? "\\x%02x" : "\\u%04x", (unsigned)code);
  }
}
/* `rest` is what follows it. */
static bool is_kept(uint32_t code, Str rest, const char *kept) {
  if (!is_control(code)) return true;
  if (!code || code >= 0x80) return false;
  return strchr(kept, (int)code) || (code == '\r' && rest.length && *rest.data == '\n' && strchr(kept, '\n'));
}
void strbuf_escape(StrBuf *b, Str text, const char *kept) {
  size_t shown = 0; /* up to here it is in b */
  for (size_t at = 0, begin = 0; at < text.length; begin = at) {
    uint32_t code = utf8_next(text, &at);
    bool is_malformed = code == 0xFFFD && at == begin + 1;
    if (!is_malformed && is_kept(code, str_slice(text, at, text.length), kept)) continue;
    strbuf_append(b, text.data + shown, begin - shown);
    if (is_malformed)
      strbuf_printf(b, "\\x%02x", (unsigned char)text.data[begin]);
    else
      spell_control(b, code);
    shown = at;
  }
  strbuf_append(b, text.data + shown, text.length - shown);
}
