/* What the readers of pictures, sound and tables share. */
#include "cli/media.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

wick_status media_error(wick_error **error, wick_status status, const char *format, ...) {
  char text[400];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  *error = wick_error_new(status, text);
  return status;
}

wick_status media_own_error(wick_error **error, wick_status status) {
  wick_error *traced = *error;
  *error = wick_error_new(status, wick_error_message(traced));
  wick_error_free(traced);
  return status;
}

static const char *take_symbols(void *library, const MediaSymbol *symbols) {
  for (const MediaSymbol *s = symbols; s->name; s++) {
    void *symbol = dlsym(library, s->name);
    if (!symbol) return s->name;
    memcpy(s->to, &symbol, sizeof symbol);
  }
  return NULL;
}
wick_status media_open(const char *const *names, const char *package, const MediaSymbol *symbols, wick_error **error) {
  const char *missing = NULL;
  for (size_t i = 0; names[i]; i++) {
    void *library = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
    if (!library) continue;
    missing = take_symbols(library, symbols);
    if (!missing) return WICK_OK;
    dlclose(library);
  }
  return missing ? media_error(error, WICK_UNSUPPORTED, "%s has no %s", names[0], missing)
                 : media_error(error, WICK_UNSUPPORTED, "%s is not installed (Debian: %s)", names[0], package);
}

wick_status media_bytes(const char *path, char **out, size_t *out_length, wick_error **error) {
  enum { CHUNK = 1 << 16 };
  FILE *file = fopen(path, "rb");
  char *bytes = NULL;
  size_t length = 0, capacity = 0, got = 1;
  *out = NULL;
  if (!file) return media_error(error, WICK_IO, "%s", strerror(errno));
  while (got) {
    if (capacity - length < CHUNK) {
      capacity = 2 * capacity + CHUNK + 1;
      char *more = realloc(bytes, capacity);
      if (!more) break;
      bytes = more;
    }
    got = fread(bytes + length, 1, capacity - length - 1, file);
    length += got;
  }
  int failed = ferror(file) ? errno : 0;
  fclose(file);
  if (got || failed) {
    free(bytes);
    return got ? media_error(error, WICK_OUT_OF_MEMORY, "out of memory")
               : media_error(error, WICK_IO, "%s", strerror(failed));
  }
  bytes[length] = 0;
  *out = bytes;
  *out_length = length;
  return WICK_OK;
}
