#include "base/library.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#include "base/parallel.h"

static const char *first_missing(void *library, const LibrarySymbol *symbols, size_t count) {
  for (size_t i = 0; i < count; i++)
    if (!dlsym(library, symbols[i].name)) return symbols[i].name;
  return NULL;
}

static void fill_slots(void *library, const LibrarySymbol *symbols, size_t count) {
  for (size_t i = 0; i < count; i++) {
    void *symbol = dlsym(library, symbols[i].name);
    memcpy(symbols[i].slot, &symbol, sizeof symbol);
  }
}

bool library_open(const char *const *names, size_t name_count, const LibrarySymbol *symbols, size_t count,
                  char *out_reason, size_t reason_size) {
  if (out_reason) snprintf(out_reason, reason_size, "%s can't be opened", names[0]);
  for (size_t i = 0; i < name_count; i++) {
    void *library = parallel_open_library(names[i]);
    if (!library) continue;
    const char *missing = first_missing(library, symbols, count);
    if (!missing) {
      fill_slots(library, symbols, count);
      if (out_reason && reason_size) out_reason[0] = 0;
      return true;
    }
    if (out_reason) snprintf(out_reason, reason_size, "%s has no %s", names[i], missing);
    dlclose(library);
  }
  return false;
}
