/* Pictures as tensors, and tensors as pictures. What a file is says its first bytes, not its name. */
#include "cli/image.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "cli/media.h"
#include "wick/archive.h"

wick_status pixels_new(Pixels *pixels, int64_t width, int64_t height, int64_t channels, wick_error **error) {
  if (width < 1 || height < 1 || width > MAX_SIDE || height > MAX_SIDE || width * height > MAX_PIXELS)
    return media_error(error, WICK_DATA, "a picture of %lld by %lld", (long long)width, (long long)height);
  *pixels = (Pixels){malloc((size_t)(width * height * channels)), width, height, channels};
  return pixels->data ? WICK_OK : media_error(error, WICK_OUT_OF_MEMORY, "out of memory");
}

static wick_status read_pixels(const char *bytes, size_t length, Pixels *out, wick_error **error) {
  if (length > 8 && !memcmp(bytes, "\x89PNG", 4)) return png_read(bytes, length, out, error);
  if (length > 3 && !memcmp(bytes, "\xFF\xD8\xFF", 3)) return jpeg_read(bytes, length, out, error);
  if (length > 3 && bytes[0] == 'P' && (bytes[1] == '5' || bytes[1] == '6')) return ppm_read(bytes, length, out, error);
  return media_error(error, WICK_DATA, "neither PNG nor JPEG nor a binary PPM or PGM");
}

wick_status image_read(const char *path, wick_value **out, wick_error **error) {
  char *bytes;
  size_t length;
  Pixels pixels;
  wick_status status = media_bytes(path, &bytes, &length, error);
  if (status) return status;
  status = read_pixels(bytes, length, &pixels, error);
  free(bytes);
  if (status) return status;
  assert(pixels.channels == 1 || pixels.channels == 3);
  const int64_t sizes[] = {pixels.channels, pixels.height, pixels.width};
  status = wick_tensor_new(WICK_UINT8, 3, sizes, out, error);
  unsigned char *data = status ? NULL : wick_tensor_mutable_data(*out);
  int64_t plane = pixels.width * pixels.height;
  for (int64_t i = 0; data && i < plane; i++)
    for (int64_t c = 0; c < pixels.channels; c++) data[c * plane + i] = pixels.data[i * pixels.channels + c];
  free(pixels.data);
  return status;
}

/* [height, width, channels] of bytes, by operators. */
static wick_status bytes_of(const wick_value *tensor, wick_value **out, wick_error **error) {
  static const char program[] =
      "def bytes_of(x: Tensor) -> Tensor:\n"
      "    while x.dim() > 3 and x.size(0) == 1:\n"
      "        x = x[0]\n"
      "    if x.dim() == 2:\n"
      "        x = x.unsqueeze(0)\n"
      "    if x.dim() != 3 or (x.size(0) != 1 and x.size(0) != 3):\n"
      "        raise ValueError('a picture has the sizes [1 or 3, height, width], not ' + str(x.size()))\n"
      "    if x.is_floating_point():\n"
      "        x = (x.float().nan_to_num() * 255).round()\n"
      "    return x.clamp(0, 255).to(torch.uint8).permute(1, 2, 0).contiguous()\n";
  wick_module *module;
  wick_status status = wick_compile(NULL, program, strlen(program), "wick", &module, error);
  if (!status) status = wick_run(module, "bytes_of", (const wick_value *const[]){tensor}, 1, NULL, 0, NULL, out, error);
  wick_module_release(module);
  return status ? media_own_error(error, status) : WICK_OK;
}

typedef wick_status WritePixels(const Pixels *pixels, char **out, size_t *out_length, wick_error **error);
static wick_status write_picture(const wick_value *tensor, const char *path, WritePixels *write, wick_error **error) {
  wick_value *bytes = NULL;
  wick_tensor_view view = {.size = sizeof view};
  wick_status status = bytes_of(tensor, &bytes, error);
  if (!status) status = wick_tensor_view_of(bytes, &view, error);
  if (!status && (view.sizes[0] < 1 || view.sizes[1] < 1 || view.sizes[0] > MAX_SIDE || view.sizes[1] > MAX_SIDE))
    status =
        media_error(error, WICK_DATA, "a picture of %lld by %lld", (long long)view.sizes[1], (long long)view.sizes[0]);
  if (!status) {
    Pixels pixels = {view.data, view.sizes[1], view.sizes[0], view.sizes[2]};
    char *file = NULL;
    size_t length = 0;
    status = write(&pixels, &file, &length, error);
    if (!status) status = wick_file_write(path, file, length, error);
    free(file);
  }
  wick_value_release(bytes);
  return status;
}
wick_status image_write_png(const wick_value *tensor, const char *path, wick_error **error) {
  return write_picture(tensor, path, png_write, error);
}
wick_status image_write_jpeg(const wick_value *tensor, const char *path, wick_error **error) {
  return write_picture(tensor, path, jpeg_write, error);
}
