/* What the fuzz targets share. Each defines LLVMFuzzerTestOneInput: any input ends in a result or an error, within
 * bounds of time and memory. fuzz_main.c feeds files to it where there is no libFuzzer. */
#pragma once

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/base.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* An error with a message, or none. */
static inline void may_fail(Status status) {
  if (status && (!status->message || !status->message[0])) abort();
  status_free(status);
}
static inline void must_hold(Status status) {
  if (!status) return;
  fprintf(stderr, "must not fail: %s\n", status->message);
  abort();
}
