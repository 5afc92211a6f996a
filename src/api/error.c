/* wick_error is Error. */
#include "api/handles.h"

#include <assert.h>

wick_status api_status(Status status, wick_error **error) {
  wick_status code = status ? (wick_status)status->code : WICK_OK;
  if (error) {
    *error = (wick_error *)status;
  } else {
    status_free(status);
  }
  return code;
}

wick_status wick_error_status(const wick_error *error) {
  return error ? (wick_status)((const Error *)error)->code : WICK_OK;
}
const char *wick_error_message(const wick_error *error) {
  const Error *e = (const Error *)error;
  return e && e->message ? e->message : "";
}
const char *wick_error_exception(const wick_error *error) {
  const Error *e = (const Error *)error;
  return !e ? "" : e->class_name ? e->class_name : e->exception ? e->exception : "";
}
const char *wick_error_trace(const wick_error *error) {
  const Error *e = (const Error *)error;
  return e && e->trace ? e->trace : "";
}
void wick_error_free(wick_error *error) {
  status_free((Status)error);
}

wick_error *wick_error_new(wick_status status, const char *message) {
  static const int codes[] = {
#define X(name, value) value,
      ERROR_CODES(X)
#undef X
  };
  ErrorCode code = ERROR_RUNTIME;
  for (size_t i = 0; i < sizeof codes / sizeof *codes; i++)
    if (codes[i] == status) code = (ErrorCode)status;
  return (wick_error *)status_new(code, "%s", message ? message : "");
}

Status api_check_size(const char *what, uint32_t size) {
  return size >= sizeof size && size <= 4096 ? OK : status_new(ERROR_INVALID_ARGUMENT, "%s: size is not set", what);
}

Status api_copy_options(const char *what, const void *from, size_t known, void *to) {
  assert(known >= sizeof(uint32_t));
  memset(to, 0, known);
  *(uint32_t *)to = (uint32_t)known;
  if (!from) return OK;
  uint32_t size = *(const uint32_t *)from;
  TRY(api_check_size(what, size));
  for (size_t i = known; i < size; i++)
    if (((const char *)from)[i])
      return status_new(ERROR_INVALID_ARGUMENT, "%s: has fields this version of wick does not know", what);
  memcpy(to, from, size < known ? size : known);
  return OK;
}

Status api_null(const char *function, const char *argument) {
  return status_new(ERROR_INVALID_ARGUMENT, "%s: %s is NULL", function, argument);
}

Status api_null_item(const char *function, const char *argument, size_t index) {
  return status_new(ERROR_INVALID_ARGUMENT, "%s: %s[%zu] is NULL", function, argument, index);
}
