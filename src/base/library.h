/* Shared libraries, opened when they are first needed: a machine without one behaves like a build without it. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

typedef struct LibrarySymbol {
  const char *name;
  void *slot; /* the function pointer that it fills */
} LibrarySymbol;
/* Opens the first of `names` that has all `count` symbols and fills their slots; it stays open. Otherwise false, and
 * `out_reason`, if not NULL, says what is missing of the one that came nearest. */
bool library_open(const char *const *names, size_t name_count, const LibrarySymbol *symbols, size_t count,
                  char *out_reason, size_t reason_size);
