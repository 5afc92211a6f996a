/* JPEG by libjpeg-turbo's own interface. */
#include <stdlib.h>
#include <string.h>

#include "cli/image.h"
#include "cli/media.h"

#ifdef WICK_HAVE_TURBOJPEG
#include <turbojpeg.h>

static struct {
  __typeof__(tjInitDecompress) *init;
  __typeof__(tjDecompressHeader3) *header;
  __typeof__(tjDecompress2) *decompress;
  __typeof__(tjGetErrorStr2) *error;
  __typeof__(tjInitCompress) *init_writing;
  __typeof__(tjCompress2) *compress;
  __typeof__(tjFree) *free;
  __typeof__(tjDestroy) *destroy;
} jpeg;

static wick_status open_jpeg(wick_error **error) {
  static const char *const names[] = {"libturbojpeg.so.0", NULL};
  const MediaSymbol symbols[] = {
      {"tjInitDecompress", &jpeg.init}, {"tjDecompressHeader3", &jpeg.header},  {"tjDecompress2", &jpeg.decompress},
      {"tjGetErrorStr2", &jpeg.error},  {"tjInitCompress", &jpeg.init_writing}, {"tjCompress2", &jpeg.compress},
      {"tjFree", &jpeg.free},           {"tjDestroy", &jpeg.destroy},           {0}};
  return jpeg.destroy ? WICK_OK : media_open(names, "libturbojpeg0", symbols, error);
}

wick_status jpeg_read(const char *bytes, size_t length, Pixels *out, wick_error **error) {
  wick_status status = open_jpeg(error);
  if (status) return status;
  int width, height, sampling, space;
  const unsigned char *data = (const unsigned char *)bytes;
  tjhandle handle = jpeg.init();
  if (!handle) return media_error(error, WICK_OUT_OF_MEMORY, "out of memory");
  if (jpeg.header(handle, data, length, &width, &height, &sampling, &space)) {
    status = media_error(error, WICK_DATA, "%s", jpeg.error(handle));
  } else if (space == TJCS_CMYK || space == TJCS_YCCK) {
    status = media_error(error, WICK_UNSUPPORTED, "a JPEG of CMYK, inks for print: convert it to RGB first");
  } else {
    int channels = space == TJCS_GRAY ? 1 : 3;
    status = pixels_new(out, width, height, channels, error);
    if (!status && jpeg.decompress(handle, data, length, out->data, width, 0, height,
                                   channels == 1 ? TJPF_GRAY : TJPF_RGB, TJFLAG_STOPONWARNING)) {
      status = media_error(error, WICK_DATA, "%s", jpeg.error(handle));
      free(out->data);
    }
  }
  jpeg.destroy(handle);
  return status;
}

wick_status jpeg_write(const Pixels *pixels, char **out, size_t *out_length, wick_error **error) {
  enum { QUALITY = 90 };
  wick_status status = open_jpeg(error);
  if (status) return status;
  unsigned char *file = NULL;
  unsigned long length = 0;
  bool is_gray = pixels->channels == 1;
  tjhandle handle = jpeg.init_writing();
  *out = NULL;
  if (!handle) return media_error(error, WICK_OUT_OF_MEMORY, "out of memory");
  if (jpeg.compress(handle, pixels->data, (int)pixels->width, 0, (int)pixels->height, is_gray ? TJPF_GRAY : TJPF_RGB,
                    &file, &length, is_gray ? TJSAMP_GRAY : TJSAMP_420, QUALITY, 0))
    status = media_error(error, WICK_DATA, "%s", jpeg.error(handle));
  else if (!(*out = malloc(length + 1)))
    status = media_error(error, WICK_OUT_OF_MEMORY, "out of memory");
  else
    memcpy(*out, file, length), *out_length = length;
  jpeg.free(file);
  jpeg.destroy(handle);
  return status;
}
#else
wick_status jpeg_read(const char *bytes, size_t length, Pixels *out, wick_error **error) {
  (void)bytes, (void)length, (void)out;
  return media_error(error, WICK_UNSUPPORTED, "this wick was built without libjpeg-turbo");
}
wick_status jpeg_write(const Pixels *pixels, char **out, size_t *out_length, wick_error **error) {
  (void)out, (void)out_length;
  return jpeg_read(NULL, 0, (Pixels *)pixels, error);
}
#endif
