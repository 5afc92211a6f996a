#include "render/text.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool reserve(Text *text, size_t more) {
  size_t needed = text->length + more + 1;
  if (text->failed || needed <= text->capacity) return !text->failed;
  size_t capacity = needed < 2048 ? 4096 : needed * 2;
  char *data = realloc(text->data, capacity);
  text->failed = !data;
  if (!data) return false;
  text->data = data;
  text->capacity = capacity;
  return true;
}

void text_add(Text *text, const char *added, size_t length) {
  if (!reserve(text, length)) return;
  memcpy(text->data + text->length, added, length);
  text->length += length;
  text->data[text->length] = 0;
}

void text_print(Text *text, const char *format, ...) {
  va_list list, again;
  va_start(list, format);
  va_copy(again, list);
  int length = vsnprintf(NULL, 0, format, list);
  if (length < 0)
    text->failed = true;
  else if (reserve(text, (size_t)length)) {
    vsnprintf(text->data + text->length, (size_t)length + 1, format, again);
    text->length += (size_t)length;
  }
  va_end(again);
  va_end(list);
}

void text_dispose(Text *text) {
  free(text->data);
  *text = (Text){0};
}
