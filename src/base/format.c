/* %s, %.*s, %c, %d, %u, %zu, %lld, %llu and %% without flags or widths are put directly; a format that has others is
 * left to vsnprintf. */
#include "base/format.h"

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

typedef struct Out {
  char *data;
  size_t room, length;
} Out;

static void put(Out *out, const char *text, size_t length) {
  if (out->length < out->room) {
    size_t left = out->room - out->length;
    memcpy(out->data + out->length, text, length < left ? length : left);
  }
  out->length += length;
}

static void put_number(Out *out, bool is_negative, unsigned long long magnitude) {
  char digits[3 * sizeof magnitude + 1], *at = digits + sizeof digits;
  do *--at = (char)('0' + magnitude % 10);
  while (magnitude /= 10);
  if (is_negative) *--at = '-';
  put(out, at, (size_t)(digits + sizeof digits - at));
}
static void put_signed(Out *out, long long value) {
  put_number(out, value < 0, value < 0 ? 0 - (unsigned long long)value : (unsigned long long)value);
}

static bool put_text(Out *out, const char *text, int most) {
  if (!text) return false;
  put(out, text, most < 0 ? strlen(text) : strnlen(text, (size_t)most));
  return true;
}

static bool starts_with(const char *text, const char *with, size_t *length) {
  size_t n = strlen(with);
  return !strncmp(text, with, n) && (*length = n);
}

/* `*length`: of what follows the percent sign. */
static bool put_conversion(Out *out, const char *at, va_list *arguments, size_t *length) {
  *length = 1;
  if (*at == 's') return put_text(out, va_arg(*arguments, const char *), -1);
  if (*at == 'd') return put_signed(out, va_arg(*arguments, int)), true;
  if (*at == 'u') return put_number(out, false, va_arg(*arguments, unsigned)), true;
  if (*at == '%') return put(out, "%", 1), true;
  if (*at == 'c') return put(out, &(char){(char)va_arg(*arguments, int)}, 1), true;
  if (starts_with(at, ".*s", length)) {
    int most = va_arg(*arguments, int);
    return put_text(out, va_arg(*arguments, const char *), most);
  }
  if (starts_with(at, "zu", length)) return put_number(out, false, va_arg(*arguments, size_t)), true;
  if (starts_with(at, "lld", length)) return put_signed(out, va_arg(*arguments, long long)), true;
  if (starts_with(at, "llu", length)) return put_number(out, false, va_arg(*arguments, unsigned long long)), true;
  return false;
}

static bool put_all(Out *out, const char *format, va_list *arguments) {
  for (const char *at = format; *at;) {
    size_t length = strcspn(at, "%");
    put(out, at, length);
    at += length;
    if (!*at) break;
    if (!put_conversion(out, ++at, arguments, &length)) return false;
    at += length;
  }
  return out->length <= INT_MAX;
}

int text_format(char *out, size_t room, const char *format, va_list arguments) {
  Out plain = {out, room, 0};
  va_list copy;
  va_copy(copy, arguments);
  bool is_plain = put_all(&plain, format, &copy);
  va_end(copy);
  if (!is_plain) return vsnprintf(out, room, format, arguments);
  if (room) out[plain.length < room ? plain.length : room - 1] = '\0';
  return (int)plain.length;
}
