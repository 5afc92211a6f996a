/* PNG (ISO 15948) read and written: the numbers that are in the file, as torchvision, Pillow and OpenCV give them. What
 * a file says of gamma and color spaces is left alone, of 16 bits the upper 8 are taken, alpha is left out. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "cli/deflate.h"
#include "cli/image.h"
#include "cli/media.h"
#include "wick/archive.h"

enum { GRAY = 0, RGB = 2, PALETTE = 3, GRAY_ALPHA = 4, RGBA = 6, HEADER_BYTES = 13, MOST_COLORS = 256 };
static const unsigned char signature[8] = {0x89, 'P', 'N', 'G', '\r', '\n', 0x1a, '\n'};

static uint32_t number_at(const unsigned char *bytes) {
  return (uint32_t)bytes[0] << 24 | (uint32_t)bytes[1] << 16 | (uint32_t)bytes[2] << 8 | bytes[3];
}
static unsigned char *put_number(unsigned char *to, uint32_t number) {
  for (int shift = 24; shift >= 0; shift -= 8) *to++ = (unsigned char)(number >> shift);
  return to;
}

/* ---- reading ---- */

typedef struct Picture {
  int64_t width, height;
  int bits, color;
  bool is_interlaced, has_header, has_palette;
  unsigned char palette[3 * MOST_COLORS]; /* black, where the file has no color */
  unsigned char *data;                    /* what the IDAT chunks hold together */
  size_t length;
} Picture;

static int samples_of(int color) {
  return color == RGB ? 3 : color == GRAY_ALPHA ? 2 : color == RGBA ? 4 : 1;
}
/* Bytes of a line of so many pixels, without the one before it that names its filter. */
static size_t line_bytes(const Picture *p, int64_t width) {
  return (size_t)(width * samples_of(p->color) * p->bits + 7) / 8;
}

static wick_status read_header(Picture *p, const unsigned char *bytes, size_t length, wick_error **error) {
  static const unsigned char depths[7] = {1 | 2 | 4 | 8 | 16, 0, 8 | 16, 1 | 2 | 4 | 8, 8 | 16, 0, 8 | 16};
  if (p->has_header || length != HEADER_BYTES) return media_error(error, WICK_DATA, "a PNG whose header is damaged");
  p->width = number_at(bytes), p->height = number_at(bytes + 4);
  p->bits = bytes[8], p->color = bytes[9];
  p->is_interlaced = bytes[12] == 1;
  p->has_header = true;
  if (p->color > RGBA || p->bits > 16 || (p->bits & (p->bits - 1)) || !(depths[p->color] & p->bits) || bytes[10] ||
      bytes[11] || bytes[12] > 1)
    return media_error(error, WICK_DATA, "a PNG of color type %d, %d bits, compression %d, filter %d, interlace %d",
                       p->color, p->bits, bytes[10], bytes[11], bytes[12]);
  return WICK_OK;
}
static wick_status read_chunk(Picture *p, const unsigned char *name, const unsigned char *bytes, size_t length,
                              wick_error **error) {
  if (!memcmp(name, "IHDR", 4)) return read_header(p, bytes, length, error);
  if (!p->has_header) return media_error(error, WICK_DATA, "a PNG that does not begin with its header");
  if (!memcmp(name, "PLTE", 4)) {
    if (length % 3 || length > sizeof p->palette)
      return media_error(error, WICK_DATA, "a palette of %zu bytes", length);
    memcpy(p->palette, bytes, length);
    p->has_palette = true;
  } else if (!memcmp(name, "IDAT", 4)) {
    memmove(p->data + p->length, bytes, length);
    p->length += length;
  } else if (!(name[0] & 0x20))
    return media_error(error, WICK_DATA, "a PNG with a chunk %.4s, which is not known", (const char *)name);
  return WICK_OK;
}
static wick_status read_chunks(Picture *p, const unsigned char *bytes, size_t length, wick_error **error) {
  for (size_t at = sizeof signature;;) {
    if (length - at < 12 || number_at(bytes + at) > length - at - 12) return media_error(error, WICK_DATA, "cut short");
    size_t size = number_at(bytes + at);
    const unsigned char *name = bytes + at + 4;
    if (wick_checksum(name, size + 4) != number_at(name + 4 + size))
      return media_error(error, WICK_DATA, "a PNG with a damaged chunk at byte %zu", at);
    if (!memcmp(name, "IEND", 4)) return WICK_OK;
    wick_status status = read_chunk(p, name, name + 4, size, error);
    if (status) return status;
    at += size + 12;
  }
}

static int predict(int left, int above, int corner) { /* Paeth's filter: the nearest to left + above - corner */
  int estimate = left + above - corner, by_left = abs(estimate - left), by_above = abs(estimate - above),
      by_corner = abs(estimate - corner);
  return by_left <= by_above && by_left <= by_corner ? left : by_above <= by_corner ? above : corner;
}
/* What a filter takes a line's byte for, from those before it and from the line above (`before`, NULL at the top). */
static int guess(int filter, const unsigned char *line, const unsigned char *before, size_t i, size_t step) {
  int left = i < step ? 0 : line[i - step], above = before ? before[i] : 0,
      corner = before && i >= step ? before[i - step] : 0;
  return filter == 0   ? 0
         : filter == 1 ? left
         : filter == 2 ? above
         : filter == 3 ? (left + above) / 2
                       : predict(left, above, corner);
}
/* A line's bytes out of their differences. */
static bool undo_filter(int filter, unsigned char *line, const unsigned char *before, size_t bytes, size_t step) {
  for (size_t i = 0; i < bytes && filter; i++)
    line[i] = (unsigned char)(line[i] + guess(filter, line, before, i, step));
  return filter <= 4;
}
static int sample_at(const Picture *p, const unsigned char *line, int64_t index) {
  if (p->bits >= 8) return line[index * (p->bits / 8)];
  int64_t bit = index * p->bits;
  return line[bit / 8] >> (8 - p->bits - bit % 8) & ((1 << p->bits) - 1);
}
/* A line's pixels, `step` apart from `to` on. */
static void put_line(const Picture *p, const unsigned char *line, int64_t width, unsigned char *to, int64_t step) {
  int samples = samples_of(p->color), spread = p->bits < 8 && p->color == GRAY ? 255 / ((1 << p->bits) - 1) : 1;
  for (int64_t x = 0; x < width; x++, to += step) {
    int first = sample_at(p, line, x * samples);
    if (p->color == PALETTE)
      memcpy(to, p->palette + 3 * first, 3);
    else if (samples < 3)
      to[0] = (unsigned char)(first * spread);
    else
      for (int c = 0; c < 3; c++) to[c] = (unsigned char)sample_at(p, line, x * samples + c);
  }
}
typedef struct Pass {
  int x, y, dx, dy;
} Pass;
static const Pass whole[1] = {{0, 0, 1, 1}};
static const Pass interlaced[7] = {{0, 0, 8, 8}, {4, 0, 8, 8}, {0, 4, 4, 8}, {2, 0, 4, 4},
                                   {0, 2, 2, 4}, {1, 0, 2, 2}, {0, 1, 1, 2}};
static int64_t part_of(int64_t all, int first, int step) {
  return all > first ? (all - first + step - 1) / step : 0;
}

static wick_status put_passes(const Picture *p, unsigned char *lines, Pixels *out, wick_error **error) {
  const Pass *passes = p->is_interlaced ? interlaced : whole;
  size_t step = (size_t)(samples_of(p->color) * p->bits + 7) / 8;
  for (int i = 0; i < (p->is_interlaced ? 7 : 1); i++) {
    Pass pass = passes[i];
    int64_t width = part_of(p->width, pass.x, pass.dx), height = part_of(p->height, pass.y, pass.dy);
    size_t bytes = line_bytes(p, width);
    unsigned char *before = NULL;
    for (int64_t y = 0; y < height && width; y++, lines += bytes + 1) {
      if (!undo_filter(lines[0], lines + 1, before, bytes, step))
        return media_error(error, WICK_DATA, "a PNG with a line of filter %d", lines[0]);
      before = lines + 1;
      int64_t at = (pass.y + y * pass.dy) * p->width + pass.x;
      put_line(p, before, width, out->data + at * out->channels, pass.dx * out->channels);
    }
  }
  return WICK_OK;
}
static size_t all_lines(const Picture *p) {
  size_t bytes = 0;
  const Pass *passes = p->is_interlaced ? interlaced : whole;
  for (int i = 0; i < (p->is_interlaced ? 7 : 1); i++) {
    int64_t width = part_of(p->width, passes[i].x, passes[i].dx),
            height = part_of(p->height, passes[i].y, passes[i].dy);
    if (width) bytes += (size_t)height * (line_bytes(p, width) + 1);
  }
  return bytes;
}
/* Two bytes of zlib's (RFC 1950), deflate's data, a checksum of what comes of it. */
static wick_status inflate_lines(const Picture *p, unsigned char *to, size_t bytes, wick_error **error) {
  size_t done = 0;
  if (p->length < 6) return media_error(error, WICK_DATA, "cut short");
  if ((p->data[0] & 15) != 8 || p->data[0] >> 4 > 7 || (p->data[0] << 8 | p->data[1]) % 31 || p->data[1] & 0x20)
    return media_error(error, WICK_DATA, "a PNG whose pixels are no zlib data");
  wick_status status = wick_inflate(p->data + 2, p->length - 6, to, bytes, &done, error);
  if (status) return status;
  if (done < bytes) return media_error(error, WICK_DATA, "cut short: %zu of %zu bytes of pixels", done, bytes);
  if (deflate_sum(to, bytes) != number_at(p->data + p->length - 4))
    return media_error(error, WICK_DATA, "a PNG whose pixels are damaged");
  return WICK_OK;
}
static wick_status read_picture(Picture *p, const unsigned char *bytes, size_t length, Pixels *out,
                                wick_error **error) {
  wick_status status = read_chunks(p, bytes, length, error);
  if (status) return status;
  if (!p->has_header || (p->color == PALETTE && !p->has_palette))
    return media_error(error, WICK_DATA, "a PNG without a %s", p->has_header ? "palette" : "header");
  status = pixels_new(out, p->width, p->height, p->color & 2 ? 3 : 1, error);
  if (status) return status;
  size_t size = all_lines(p);
  unsigned char *lines = malloc(size);
  if (!lines) return media_error(error, WICK_OUT_OF_MEMORY, "out of memory");
  status = inflate_lines(p, lines, size, error);
  if (!status) status = put_passes(p, lines, out, error);
  free(lines);
  return status;
}

wick_status png_read(const char *bytes, size_t length, Pixels *out, wick_error **error) {
  *out = (Pixels){0};
  if (length < sizeof signature || memcmp(bytes, signature, sizeof signature))
    return media_error(error, WICK_DATA, "not a PNG: the first bytes are others");
  Picture p = {.data = malloc(length)};
  if (!p.data) return media_error(error, WICK_OUT_OF_MEMORY, "out of memory");
  wick_status status = read_picture(&p, (const unsigned char *)bytes, length, out, error);
  free(p.data);
  if (status) {
    free(out->data);
    *out = (Pixels){0};
  }
  return status;
}

/* ---- writing ---- */

/* A line's differences by the filter whose sum is least, which is the usual guess at what becomes short. */
static void filter_line(const unsigned char *line, const unsigned char *before, size_t bytes, size_t step,
                        unsigned char *to) {
  int64_t least = INT64_MAX;
  int chosen = 0;
  for (int pass = 0; pass <= 5; pass++) {
    int filter = pass == 5 ? chosen : pass;
    int64_t sum = 0;
    to[0] = (unsigned char)filter;
    for (size_t i = 0; i < bytes; i++) {
      to[i + 1] = (unsigned char)(line[i] - guess(filter, line, before, i, step));
      sum += abs((signed char)to[i + 1]);
    }
    if (sum < least) least = sum, chosen = filter;
  }
}
static unsigned char *put_chunk(unsigned char *to, const char *name, const unsigned char *bytes, size_t length) {
  unsigned char *begin = put_number(to, (uint32_t)length);
  memcpy(begin, name, 4);
  if (length) memmove(begin + 4, bytes, length);
  return put_number(begin + 4 + length, wick_checksum(begin, length + 4));
}

wick_status png_write(const Pixels *pixels, char **out, size_t *out_length, wick_error **error) {
  assert(pixels->channels == 1 || pixels->channels == 3);
  size_t step = (size_t)pixels->channels, bytes = (size_t)pixels->width * step, height = (size_t)pixels->height;
  unsigned char *lines = NULL, *packed = NULL, header[HEADER_BYTES] = {0};
  size_t length = 0;
  *out = NULL;
  if (pixels->width < 1 || pixels->height < 1 || pixels->width > MAX_SIDE || pixels->height > MAX_SIDE ||
      pixels->width * pixels->height > MAX_PIXELS)
    return media_error(error, WICK_DATA, "a picture of %lld by %lld", (long long)pixels->width,
                       (long long)pixels->height);
  lines = malloc(height * (bytes + 1));
  for (size_t y = 0; lines && y < height; y++)
    filter_line(pixels->data + y * bytes, y ? pixels->data + (y - 1) * bytes : NULL, bytes, step,
                lines + y * (bytes + 1));
  bool fine = lines && deflate_pack(lines, height * (bytes + 1), &packed, &length);
  free(lines);
  unsigned char *file = fine && length < INT32_MAX ? malloc(length + 100) : NULL;
  if (file) {
    put_number(put_number(header, (uint32_t)pixels->width), (uint32_t)pixels->height);
    header[8] = 8;
    header[9] = pixels->channels == 1 ? GRAY : RGB;
    memcpy(file, signature, sizeof signature);
    unsigned char *at = put_chunk(file + sizeof signature, "IHDR", header, sizeof header);
    at = put_chunk(at, "IDAT", packed, length);
    at = put_chunk(at, "IEND", NULL, 0);
    *out = (char *)file;
    *out_length = (size_t)(at - file);
  }
  free(packed);
  return file ? WICK_OK : media_error(error, WICK_OUT_OF_MEMORY, "out of memory");
}
