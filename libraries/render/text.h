/* Text that grows; one that failed for want of memory stays so. */
#ifndef RENDER_TEXT_H
#define RENDER_TEXT_H

#include <stdbool.h>
#include <stddef.h>

typedef struct Text {
  char *data; /* ends with a zero byte; NULL while empty */
  size_t length, capacity;
  bool failed;
} Text;
__attribute__((format(printf, 2, 3))) void text_print(Text *text, const char *format, ...);
void text_add(Text *text, const char *added, size_t length);
void text_dispose(Text *text);

#endif
