/* PNG by libpng's simplified interface. */
#include <stdlib.h>

#include "cli/image.h"

#ifdef WICK_HAVE_PNG
#include <png.h>

static struct {
  __typeof__(png_image_begin_read_from_memory) *begin;
  __typeof__(png_image_finish_read) *finish;
  __typeof__(png_image_write_to_stdio) *write;
  __typeof__(png_image_free) *release;
} png;

static wick_status open_png(wick_error **error) {
  static const char *const names[] = {"libpng16.so.16", NULL};
  const MediaSymbol symbols[] = {{"png_image_begin_read_from_memory", &png.begin},
                                 {"png_image_finish_read", &png.finish},
                                 {"png_image_write_to_stdio", &png.write},
                                 {"png_image_free", &png.release},
                                 {0}};
  return png.release ? WICK_OK : media_open(names, "libpng16-16", symbols, error);
}

wick_status png_read(const char *bytes, size_t length, Pixels *out, wick_error **error) {
  png_image image = {.version = PNG_IMAGE_VERSION};
  wick_status status = open_png(error);
  if (status) return status;
  if (!png.begin(&image, bytes, length)) return media_error(error, WICK_DATA, "%s", image.message);
  bool is_color = image.format & PNG_FORMAT_FLAG_COLOR;
  bool has_alpha = image.format & PNG_FORMAT_FLAG_ALPHA;
  /* with alpha as it is, and left out below: the library would lay the picture over a background */
  image.format = (is_color ? PNG_FORMAT_RGB : PNG_FORMAT_GRAY) | (has_alpha ? PNG_FORMAT_FLAG_ALPHA : 0);
  int stored = (is_color ? 3 : 1) + has_alpha;
  status = pixels_new(out, image.width, image.height, stored, error);
  if (!status && !png.finish(&image, NULL, out->data, 0, NULL)) {
    status = media_error(error, WICK_DATA, "%s", image.message);
    free(out->data);
  }
  png.release(&image);
  if (status || !has_alpha) return status;
  out->channels = stored - 1;
  for (int64_t i = 0; i < out->width * out->height; i++)
    for (int64_t c = 0; c < out->channels; c++) out->data[i * out->channels + c] = out->data[i * stored + c];
  return WICK_OK;
}

wick_status png_write(const Pixels *pixels, char **out, size_t *out_length, wick_error **error) {
  wick_status status = open_png(error);
  if (status) return status;
  FILE *to = open_memstream(out, out_length);
  png_image image = {.version = PNG_IMAGE_VERSION,
                     .width = (png_uint_32)pixels->width,
                     .height = (png_uint_32)pixels->height,
                     .format = pixels->channels == 1 ? PNG_FORMAT_GRAY : PNG_FORMAT_RGB};
  if (!to) return media_error(error, WICK_OUT_OF_MEMORY, "out of memory");
  bool fine = png.write(&image, to, 0, pixels->data, 0, NULL);
  if (fclose(to) && fine) return media_error(error, WICK_OUT_OF_MEMORY, "out of memory");
  return fine ? WICK_OK : media_error(error, WICK_DATA, "%s", image.message);
}
#else
wick_status png_read(const char *bytes, size_t length, Pixels *out, wick_error **error) {
  (void)bytes, (void)length, (void)out;
  return media_error(error, WICK_UNSUPPORTED, "this wick was built without libpng");
}
wick_status png_write(const Pixels *pixels, char **out, size_t *out_length, wick_error **error) {
  (void)out, (void)out_length;
  return png_read(NULL, 0, (Pixels *)pixels, error);
}
#endif
