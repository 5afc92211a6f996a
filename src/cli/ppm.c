/* Portable pixmaps and graymaps: a header of numbers and the bytes. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "cli/image.h"
#include "cli/media.h"

/* After white space and comments; -1: none is there. */
static int64_t next_number(const char **at) {
  while (**at == ' ' || **at == '\t' || **at == '\n' || **at == '\r' || **at == '#')
    *at += **at == '#' ? strcspn(*at, "\n") : 1;
  int64_t number = 0;
  if (**at < '0' || **at > '9') return -1;
  for (; **at >= '0' && **at <= '9'; ++*at) number = number > MAX_SIDE ? number : 10 * number + (**at - '0');
  return number;
}

wick_status ppm_read(const char *bytes, size_t length, Pixels *out, wick_error **error) {
  assert(length > 2 && bytes[0] == 'P');
  const char *at = bytes + 2; /* the bytes end with a zero */
  int64_t channels = bytes[1] == '6' ? 3 : 1, width = next_number(&at), height = next_number(&at);
  int64_t most = next_number(&at);
  if (width < 1 || height < 1 || most < 1 || !*at) return media_error(error, WICK_DATA, "a damaged header");
  if (most > 255) return media_error(error, WICK_UNSUPPORTED, "more than 8 bits a color");
  at++;
  wick_status status = pixels_new(out, width, height, channels, error);
  if (status) return status;
  size_t wanted = (size_t)(width * height * channels), there = (size_t)(bytes + length - at);
  if (there < wanted) {
    free(out->data);
    return media_error(error, WICK_DATA, "cut short: %zu of %zu bytes", there, wanted);
  }
  for (size_t i = 0; i < wanted; i++) {
    unsigned value = (unsigned char)at[i];
    out->data[i] = (unsigned char)(value >= most ? 255 : (value * 255 + (unsigned)most / 2) / (unsigned)most);
  }
  return WICK_OK;
}
