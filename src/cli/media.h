/* Pictures, sound and tables: PNG, PPM, WAV and tables by our own code, others by libraries that are opened when the
 * first file of their kind is: without one of them the error names it. */
#pragma once

#include "cli/cli.h"

/* png, jpeg, ppm and pgm: uint8 of [channels, height, width], 1 or 3 channels (alpha is left out). */
wick_status image_read(const char *path, wick_value **out, wick_error **error);
/* A uint8 tensor, or a floating one from 0 to 1, of [height, width] or [1 or 3, height, width], or a batch of one. */
wick_status image_write_png(const wick_value *tensor, const char *path, wick_error **error);
wick_status image_write_jpeg(const wick_value *tensor, const char *path, wick_error **error);
/* wav, flac, ogg and what else libsndfile reads: float32 of [channels, frames] from -1 to 1. */
wick_status sound_read(const char *path, wick_value **out, int64_t *out_rate, wick_error **error);
/* Samples of [frames] or [channels, frames], or a batch of one. */
wick_status sound_write_wav(const wick_value *tensor, int64_t rate, const char *path, wick_error **error);
/* Numbers in lines, between commas, semicolons, tabs or spaces, perhaps after a line of names: float32 of [lines,
 * columns]. */
wick_status table_read(const char *path, wick_value **out, wick_error **error);
/* The same lines of a tensor of at most two dimensions, with commas; one dimension is a line. Numbers are written so
 * that reading them gives the same bits. */
wick_status table_write(const wick_value *tensor, const char *path, wick_error **error);
/* What a JSON text says, as numbers, strings, lists and dicts; null is None. */
wick_status json_read(const char *path, wick_value **out, wick_error **error);

/* ---- shared by them ---- */
typedef struct MediaSymbol {
  const char *name;
  void *to; /* a pointer to a function pointer */
} MediaSymbol;
/* Opens the first library of `names` (NULL ends them) that is there, and takes its symbols (a name of NULL ends them).
 * On failure the error names `package`, in which the library comes. */
wick_status media_open(const char *const *names, const char *package, const MediaSymbol *symbols, wick_error **error);
/* "message", with what follows from the path. */
wick_status media_error(wick_error **error, wick_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* The error of a program of wick's own, without the traceback, which tells nothing of the user's; gives the status. */
wick_status media_own_error(wick_error **error, wick_status status);
/* The file's bytes; freed with free(). */
wick_status media_bytes(const char *path, char **out, size_t *out_length, wick_error **error);

/* ---- preparing (prepare.c): programs of TorchScript ---- */
typedef struct ImageOptions {
  int64_t size, crop; /* the shorter side, then the middle; 0: as it is */
  bool imagenet;      /* normalized as networks of ImageNet are trained */
} ImageOptions;
/* float32 of [1, 3, height, width] from 0 to 1, or normalized. */
wick_status image_prepare(const wick_value *picture, const ImageOptions *options, wick_value **out, wick_error **error);
/* One channel, the mean of all, at the new rate: float32 of [1, frames]. */
wick_status sound_prepare(const wick_value *sound, int64_t rate, int64_t new_rate, wick_value **out,
                          wick_error **error);
