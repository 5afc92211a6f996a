/* Archives around the pickles that a fuzz target is given. */
#pragma once

#include <assert.h>
#include <stdint.h>
#include <string.h>
#define assert_non_null assert

#include "../zip_writer.h"
#include "api/handles.h"
#include "fuzz.h"

static inline void fuzz_add_record(Packed *zip, const char *name, const void *data, size_t length) {
  Bytes bytes = {0};
  put(&bytes, data, length);
  pack_record(zip, name, strlen(name), &bytes);
  free(bytes.data);
}

enum { FUZZ_STORAGES = 8, FUZZ_STORAGE_BYTES = 1024 };

/* What every archive has: no constants, storages for data.pkl and for bytecode.pkl with these bytes. Then loads it;
 * NULL: that ended in an error. */
static inline wick_module *fuzz_load_with(Packed *zip, const uint8_t (*storages)[FUZZ_STORAGE_BYTES]) {
  wick_module *module;
  wick_error *error;
  wick_load_options options = {.size = sizeof options, .max_bytes = 16 << 20};
  fuzz_add_record(zip, "m/constants.pkl", "\x80\x02).", 4);
  fuzz_add_record(zip, "m/version", "3\n", 2);
  for (int i = 0; i < FUZZ_STORAGES; i++) {
    char name[40];
    snprintf(name, sizeof name, "m/data/%d", i);
    fuzz_add_record(zip, name, storages[i], FUZZ_STORAGE_BYTES);
    snprintf(name, sizeof name, "m/constants/%d.storage", i);
    fuzz_add_record(zip, name, storages[i], FUZZ_STORAGE_BYTES);
  }
  pack_finish(zip);
  if (wick_load_memory(NULL, zip->file.data, zip->file.length, &options, &module, &error)) {
    if (wick_error_status(error) == WICK_INTERNAL) abort();
    wick_error_free(error);
    module = NULL;
  }
  free(zip->file.data);
  return module;
}

static inline wick_module *fuzz_load(Packed *zip) {
  static const uint8_t zeros[FUZZ_STORAGES][FUZZ_STORAGE_BYTES];
  return fuzz_load_with(zip, zeros);
}
