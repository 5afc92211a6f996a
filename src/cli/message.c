/* Messages and the clock. */
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cli/cli.h"

enum { MAX_COMPLAINTS = 1000 };
static char *complaints[MAX_COMPLAINTS]; /* as long as the process */
static size_t complaint_count;

const char *complaint_at(size_t index) {
  return index < complaint_count ? complaints[index] : NULL;
}
static void keep_complaint(const char *file, const char *message) {
  char *text;
  if (complaint_count == MAX_COMPLAINTS) return;
  if (asprintf(&text, "%s%s%s", file ? file : "", file ? ": " : "", message) >= 0) complaints[complaint_count++] = text;
}

void complain(const char *file, const char *format, ...) {
  va_list arguments;
  char *text = NULL;
  progress_clear();
  va_start(arguments, format);
  int length = vasprintf(&text, format, arguments);
  va_end(arguments);
  if (length < 0) text = NULL;
  const char *message = text ? text : "out of memory";
  fputs("wick: ", stderr);
  if (file) show_name(stderr, file, 0), fputs(": ", stderr);
  show_text(stderr, message);
  fputc('\n', stderr);
  keep_complaint(file, message);
  free(text);
}

void complain_error(const char *file, wick_error *error) {
  const char *message = wick_error_message(error);
  size_t length = file ? strlen(file) : 0;
  bool names_it = length && !strncmp(message, file, length) && message[length] == ':';
  complain(names_it ? NULL : file, "%s", message);
  const char *trace = wick_error_trace(error);
  if (*trace) show_text(stderr, trace), fputs(trace[strlen(trace) - 1] == '\n' ? "" : "\n", stderr);
  wick_error_free(error);
}

/* ---- the clock ---- */

uint64_t clock_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}
double clock_ms(void) {
  return (double)clock_ns() / 1e6;
}
