/* For tests of what is logged: the log goes into `heard`. Behind <cmocka.h>. */
#pragma once

#include "report/jit_log.h"

static StrBuf heard;
static void hear(void *user, const char *text, size_t length) {
  (void)user;
  strbuf_append(&heard, text, length);
}
static int log_begin(void **state) {
  (void)state;
  jit_log_set_sink(hear, NULL);
  return 0;
}
static int log_end(void **state) {
  (void)state;
  jit_log_set_sink(NULL, NULL);
  jit_log_configure(NULL, NULL);
  strbuf_dispose(&heard);
  return 0;
}
