/* WAV files (Multimedia Programming Interface and Data Specifications 1.0, 1991) of PCM, floats, A-law and mu-law
 * (ITU-T G.711). */
#pragma once

#include "cli/cli.h"

enum { WAV_CHANNELS = 64 };
/* float32 of [channels, frames] from -1 to 1. *out_is_ours false, with nothing else done: it is no WAV, or its samples
 * are coded in another way. */
wick_status wav_read(const unsigned char *bytes, size_t length, bool *out_is_ours, wick_value **out, int64_t *out_rate,
                     wick_error **error);
/* A file of float32 from samples of all channels side by side; *out is malloc'd. */
wick_status wav_write(const float *samples, int64_t frames, int64_t channels, int64_t rate, char **out,
                      size_t *out_length, wick_error **error);
