/* Sizes, and statuses that must be fine or tell of something: what tests of operators share. */
#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "call/operator.h"
#include "ivalue/ivalue.h"

#define SIZES(...) \
  (int64_t[]) {    \
    __VA_ARGS__    \
  }

static inline void check(Status status) {
  if (status) print_error("%s\n", status->message);
  assert_null(status);
}
static inline IValue text_value(const char *text) {
  String *s;
  check(string_new(str_from(text), &s));
  return ivalue_string(s);
}
static inline void check_error(Status status, const char *part) {
  assert_non_null(status);
  if (!strstr(status->message, part)) print_error("\"%s\" is not in \"%s\"\n", part, status->message);
  assert_non_null(strstr(status->message, part));
  status_free(status);
}
