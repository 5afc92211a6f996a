/* What the readers of each format of pictures and image.c share. */
#pragma once

#include "cli/cli.h"

typedef struct Pixels {
  unsigned char *data; /* rows from the top, channels side by side; malloc'd */
  int64_t width, height, channels;
} Pixels;
enum { MAX_SIDE = 1 << 16 };
#define MAX_PIXELS ((int64_t)1 << 28)
/* Memory for a picture of sizes from a file. */
wick_status pixels_new(Pixels *pixels, int64_t width, int64_t height, int64_t channels, wick_error **error);

wick_status png_read(const char *bytes, size_t length, Pixels *out, wick_error **error);
/* The bytes of a file; malloc'd, also on failure (NULL: there are none). */
wick_status png_write(const Pixels *pixels, char **out, size_t *out_length, wick_error **error);
wick_status jpeg_read(const char *bytes, size_t length, Pixels *out, wick_error **error);
/* As png_write. */
wick_status jpeg_write(const Pixels *pixels, char **out, size_t *out_length, wick_error **error);
wick_status ppm_read(const char *bytes, size_t length, Pixels *out, wick_error **error); /* P5, P6, 8 bits */
