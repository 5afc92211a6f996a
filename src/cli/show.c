/* Text for people, on standard output and standard error. Names and messages come from files of strangers: what a
 * terminal would obey in them is spelled. */
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"

/* Of the first write to standard output that failed; a later fflush may have nothing to write. */
static int write_error;

/* Text of several lines, or without `in_lines` of one. The length of what was written. */
static int put(FILE *to, const char *text, bool in_lines) {
  char *shown;
  wick_status failed = wick_text_escape(text, strlen(text), in_lines ? "\n\t" : NULL, &shown, NULL);
  if (failed) return fputs("out of memory", to), 0;
  if (fputs(shown, to) < 0 && to == stdout && !write_error) write_error = errno;
  int length = (int)strlen(shown);
  wick_text_free(shown);
  return length;
}

int show(const char *format, ...) {
  va_list arguments;
  char *text;
  va_start(arguments, format);
  int length = vasprintf(&text, format, arguments);
  va_end(arguments);
  if (length < 0) return fputs("out of memory", stdout), 0;
  length = put(stdout, text, true);
  free(text);
  return length;
}
void show_text(FILE *to, const char *text) {
  put(to, text, true);
}
void show_name(FILE *to, const char *name, int width) {
  int length = put(to, name, false);
  fprintf(to, "%*s", length < width ? width - length : 0, "");
}
void show_start(const char *text, size_t most) {
  size_t length = strlen(text), cut = length < most ? length : most;
  while (cut < length && cut && (text[cut] & 0xC0) == 0x80) cut--; /* not within a character */
  char *start = strndup(text, cut);
  show_name(stdout, start ? start : "out of memory", 0);
  free(start);
}

bool show_finish(void) {
  static bool is_told;
  bool failed = fflush(stdout) != 0;
  if (!failed && !ferror(stdout)) return true;
  if (failed && !write_error) write_error = errno;
  if (!is_told) complain("standard output", "%s", write_error ? strerror(write_error) : "can't be written");
  is_told = true;
  return false;
}
