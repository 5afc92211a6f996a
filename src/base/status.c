/* Errors are heap objects; one static object stands in for all of them when there is no memory left. */
#include "base/status.h"

#include <stdio.h>

#include "base/memory.h"

static Error no_memory = {ERROR_OUT_OF_MEMORY, (char *)"out of memory", "RuntimeError", NULL, NULL, true};

static char *format_text(const char *format, va_list arguments) {
  va_list again;
  va_copy(again, arguments);
  int length = vsnprintf(NULL, 0, format, again);
  va_end(again);
  if (length < 0) return NULL;
  char *text = mem_alloc((size_t)length + 1);
  if (text) vsnprintf(text, (size_t)length + 1, format, arguments);
  return text;
}

static Status error_new(ErrorCode code, const char *exception, const char *format, va_list arguments) {
  Error *error = mem_calloc(1, sizeof *error);
  if (!error) return &no_memory;
  error->code = code;
  error->exception = exception;
  error->message = format_text(format, arguments);
  if (!error->message) {
    mem_free(error);
    return &no_memory;
  }
  return error;
}

static const char *exception_of_code(ErrorCode code) {
  return code == ERROR_UNSUPPORTED ? "NotImplementedError" : "RuntimeError";
}

Status status_new(ErrorCode code, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  Status status = error_new(code, exception_of_code(code), format, arguments);
  va_end(arguments);
  return status;
}

Status status_newv(ErrorCode code, const char *format, va_list arguments) {
  return error_new(code, exception_of_code(code), format, arguments);
}

Status status_exception(const char *exception, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  Status status = error_new(ERROR_RUNTIME, exception, format, arguments);
  va_end(arguments);
  return status;
}

Status status_internal_at(const char *file, int line, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  Status status = error_new(ERROR_INTERNAL, exception_of_code(ERROR_INTERNAL), format, arguments);
  va_end(arguments);
  return status_context(status, "%s:%d", file, line);
}

Status status_out_of_memory(void) {
  return &no_memory;
}

/* Context and trace are best effort: an error without them is still the error. */
Status status_context(Status status, const char *format, ...) {
  if (status == OK || status->is_static) return status;
  va_list arguments;
  va_start(arguments, format);
  char *context = format_text(format, arguments);
  va_end(arguments);
  if (!context) return status;
  size_t head = strlen(context), tail = strlen(status->message);
  char *joined = mem_alloc(head + 2 + tail + 1);
  if (joined) {
    memcpy(joined, context, head);
    memcpy(joined + head, ": ", 2);
    memcpy(joined + head + 2, status->message, tail + 1);
    mem_free(status->message);
    status->message = joined;
  }
  mem_free(context);
  return status;
}

Status status_add_trace(Status status, const char *text) {
  if (status == OK || status->is_static) return status;
  size_t head = status->trace ? strlen(status->trace) : 0, tail = strlen(text);
  char *grown = mem_realloc(status->trace, head + tail + 1);
  if (!grown) return status;
  memcpy(grown + head, text, tail + 1);
  status->trace = grown;
  return status;
}

void status_free(Status status) {
  if (status == OK || status->is_static) return;
  mem_free(status->message);
  mem_free(status->class_name);
  mem_free(status->trace);
  mem_free(status);
}
