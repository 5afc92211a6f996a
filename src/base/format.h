/* Texts from formats, as vsnprintf makes them, at a tenth of its work where the conversions are plain. */
#pragma once

#include <stdarg.h>
#include <stddef.h>

/* At most `room` bytes with the NUL; returns the whole text's length, negative as vsnprintf. */
int text_format(char *out, size_t room, const char *format, va_list arguments) __attribute__((format(printf, 3, 0)));
