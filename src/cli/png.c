/* PNG by libpng: the numbers that are in the file, as torchvision, Pillow and OpenCV give them. What a file says of
 * gamma and color spaces is left alone, of 16 bits the upper 8 are taken. */
#include <stdlib.h>

#include "cli/image.h"
#include "cli/media.h"

#ifdef WICK_HAVE_PNG
#include <png.h>
#include <setjmp.h>
#include <string.h>

static struct {
  __typeof__(png_create_read_struct) *create;
  __typeof__(png_create_info_struct) *create_info;
  __typeof__(png_destroy_read_struct) *destroy;
  __typeof__(png_set_read_fn) *set_source;
  __typeof__(png_get_io_ptr) *source;
  __typeof__(png_get_error_ptr) *context;
  __typeof__(png_error) *fail;
  __typeof__(png_read_info) *read_info;
  __typeof__(png_get_IHDR) *header;
  __typeof__(png_set_expand) *expand;
  __typeof__(png_set_strip_16) *take_high_bytes;
  __typeof__(png_set_strip_alpha) *leave_out_alpha;
  __typeof__(png_set_interlace_handling) *count_passes;
  __typeof__(png_read_update_info) *update;
  __typeof__(png_get_rowbytes) *row_bytes;
  __typeof__(png_read_row) *read_row;
  __typeof__(png_image_write_to_stdio) *write;
} png;

static wick_status open_png(wick_error **error) {
  static const char *const names[] = {"libpng16.so.16", NULL};
  const MediaSymbol symbols[] = {{"png_create_read_struct", &png.create},
                                 {"png_create_info_struct", &png.create_info},
                                 {"png_destroy_read_struct", &png.destroy},
                                 {"png_set_read_fn", &png.set_source},
                                 {"png_get_io_ptr", &png.source},
                                 {"png_get_error_ptr", &png.context},
                                 {"png_error", &png.fail},
                                 {"png_read_info", &png.read_info},
                                 {"png_get_IHDR", &png.header},
                                 {"png_set_expand", &png.expand},
                                 {"png_set_strip_16", &png.take_high_bytes},
                                 {"png_set_strip_alpha", &png.leave_out_alpha},
                                 {"png_set_interlace_handling", &png.count_passes},
                                 {"png_read_update_info", &png.update},
                                 {"png_get_rowbytes", &png.row_bytes},
                                 {"png_read_row", &png.read_row},
                                 {"png_image_write_to_stdio", &png.write},
                                 {0}};
  return png.write ? WICK_OK : media_open(names, "libpng16-16", symbols, error);
}

/* ---- reading ---- */

/* What outlives a longjmp of libpng's errors. */
typedef struct Reader {
  png_structp file;
  png_infop info;
  const char *bytes;
  size_t left;
  jmp_buf failure;
  char message[200];
  Pixels *out;
  wick_status status; /* of what isn't libpng's: then *error is set */
  wick_error **error;
} Reader;

static void keep_error(png_structp file, png_const_charp message) __attribute__((noreturn));
static void keep_error(png_structp file, png_const_charp message) {
  Reader *r = png.context(file);
  snprintf(r->message, sizeof r->message, "%s", message);
  longjmp(r->failure, 1);
}
static void ignore_warning(png_structp file, png_const_charp message) {
  (void)file, (void)message;
}
static void give_bytes(png_structp file, png_bytep to, size_t count) {
  Reader *r = png.source(file);
  if (count > r->left) png.fail(file, "cut short");
  memcpy(to, r->bytes, count);
  r->bytes += count;
  r->left -= count;
}

/* Whatever is stored, gray of 8 bits or RGB of them comes of it. */
static void read_whole(Reader *r) {
  png_uint_32 width, height;
  int bits, color;
  png.read_info(r->file, r->info);
  png.header(r->file, r->info, &width, &height, &bits, &color, NULL, NULL, NULL);
  png.expand(r->file);
  png.take_high_bytes(r->file);
  png.leave_out_alpha(r->file);
  int passes = png.count_passes(r->file);
  png.update(r->file, r->info);
  r->status = pixels_new(r->out, width, height, color & PNG_COLOR_MASK_COLOR ? 3 : 1, r->error);
  if (r->status) return;
  size_t row = (size_t)(r->out->width * r->out->channels);
  if (png.row_bytes(r->file, r->info) != row) png.fail(r->file, "a form of pixels that is not known");
  for (int pass = 0; pass < passes; pass++)
    for (png_uint_32 y = 0; y < height; y++) png.read_row(r->file, r->out->data + y * row, NULL);
}
static wick_status read_or_fail(Reader *r) {
  if (setjmp(r->failure)) return media_error(r->error, WICK_DATA, "%s", r->message);
  r->file = png.create(PNG_LIBPNG_VER_STRING, r, keep_error, ignore_warning);
  if (r->file) r->info = png.create_info(r->file);
  if (!r->info) return media_error(r->error, WICK_OUT_OF_MEMORY, "out of memory");
  png.set_source(r->file, r, give_bytes);
  read_whole(r);
  return r->status;
}

wick_status png_read(const char *bytes, size_t length, Pixels *out, wick_error **error) {
  wick_status status = open_png(error);
  if (status) return status;
  Reader r = {.bytes = bytes, .left = length, .out = out, .error = error};
  *out = (Pixels){0};
  status = read_or_fail(&r);
  if (r.file) png.destroy(&r.file, &r.info, NULL);
  if (status) {
    free(out->data);
    *out = (Pixels){0};
  }
  return status;
}

/* ---- writing ---- */

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
