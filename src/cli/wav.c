/* WAV, sample by sample. */
#include "cli/wav.h"

#include <stdlib.h>
#include <string.h>

#include "cli/media.h"
#include "wick/tensor.h"

enum { PCM = 1, FLOATS = 3, A_LAW = 6, MU_LAW = 7, EXTENSIBLE = 0xfffe, HEADER_BYTES = 12, CHUNK_BYTES = 8 };
#define MAX_SAMPLES ((int64_t)1 << 30)
/* From here on a size of data means that it was not known: up to the end of the file. */
static const uint32_t UNKNOWN_SIZE = 0x7fffff00;

typedef struct Wav {
  int coding, channels, bytes; /* bytes: of a sample */
  int64_t rate, frames;
  const unsigned char *data;
} Wav;

static uint32_t number_at(const unsigned char *bytes, int count) { /* the lowest byte first */
  uint32_t number = 0;
  for (int i = 0; i < count; i++) number |= (uint32_t)bytes[i] << 8 * i;
  return number;
}

/* ---- reading ---- */

/* Logarithmic codes of eight bits: a sign, an exponent of three bits, a mantissa of four (G.711). */
static float mu_law(unsigned code) {
  code = ~code & 255;
  int size = (((int)(code & 15) * 2 + 33) << (code >> 4 & 7)) - 33;
  return (float)(code & 128 ? -size : size) / 8192;
}
static float a_law(unsigned code) {
  code ^= 0x55;
  int exponent = code >> 4 & 7, size = (int)(code & 15) * 2 + 1;
  if (exponent) size = (size + 32) << (exponent - 1);
  return (float)(code & 128 ? size : -size) / 4096;
}
static float sample_at(const Wav *wav, const unsigned char *bytes) {
  if (wav->coding == MU_LAW) return mu_law(*bytes);
  if (wav->coding == A_LAW) return a_law(*bytes);
  if (wav->coding == FLOATS && wav->bytes == 4) {
    uint32_t bits = number_at(bytes, 4);
    float sample;
    memcpy(&sample, &bits, sizeof sample);
    return sample;
  }
  if (wav->coding == FLOATS) {
    uint64_t bits = number_at(bytes, 4) | (uint64_t)number_at(bytes + 4, 4) << 32;
    double sample;
    memcpy(&sample, &bits, sizeof sample);
    return (float)sample;
  }
  if (wav->bytes == 1) return (float)(*bytes - 128) / 128;
  int32_t number = (int32_t)(number_at(bytes, wav->bytes) << (32 - 8 * wav->bytes));
  return (float)number / 0x1p31f;
}

static wick_status read_format(Wav *wav, const unsigned char *bytes, uint32_t size, bool *out_is_ours,
                               wick_error **error) {
  if (size < 16) return media_error(error, WICK_DATA, "a WAV whose format has %u bytes", size);
  wav->coding = (int)number_at(bytes, 2);
  wav->channels = (int)number_at(bytes + 2, 2);
  wav->rate = number_at(bytes + 4, 4);
  uint32_t block = number_at(bytes + 12, 2);
  if (wav->coding == EXTENSIBLE && size >= 40) wav->coding = (int)number_at(bytes + 24, 2);
  *out_is_ours = wav->coding == PCM || wav->coding == FLOATS || wav->coding == A_LAW || wav->coding == MU_LAW;
  if (!*out_is_ours) return WICK_OK;
  wav->bytes = wav->channels ? (int)block / wav->channels : 0;
  bool fits = wav->coding == PCM      ? wav->bytes >= 1 && wav->bytes <= 4
              : wav->coding == FLOATS ? wav->bytes == 4 || wav->bytes == 8
                                      : wav->bytes == 1;
  if (wav->channels < 1 || wav->channels > WAV_CHANNELS || !fits || (int)block != wav->bytes * wav->channels)
    return media_error(error, WICK_DATA, "a WAV of coding %d, %d channels, %u bytes a frame", wav->coding,
                       wav->channels, block);
  return WICK_OK;
}
static wick_status read_data(Wav *wav, const unsigned char *bytes, uint32_t size, size_t left, wick_error **error) {
  int64_t frame = (int64_t)wav->bytes * wav->channels;
  if (!frame) return media_error(error, WICK_DATA, "a WAV whose samples come before their format");
  int64_t whole = size / frame, there = (int64_t)left / frame;
  if (size >= UNKNOWN_SIZE) whole = there;
  if (whole > there)
    return media_error(error, WICK_DATA, "cut short: %lld of %lld frames", (long long)there, (long long)whole);
  if (whole > MAX_SAMPLES / wav->channels)
    return media_error(error, WICK_DATA, "sound of %lld frames, %d channels", (long long)whole, wav->channels);
  wav->frames = whole;
  wav->data = bytes;
  return WICK_OK;
}
static wick_status read_chunks(Wav *wav, const unsigned char *bytes, size_t length, bool *out_is_ours,
                               wick_error **error) {
  for (size_t at = HEADER_BYTES; length - at >= CHUNK_BYTES && !wav->data;) {
    uint32_t size = number_at(bytes + at + 4, 4);
    const unsigned char *name = bytes + at, *body = name + CHUNK_BYTES;
    size_t left = length - at - CHUNK_BYTES;
    wick_status status = WICK_OK;
    if (!memcmp(name, "data", 4))
      status = read_data(wav, body, size, left, error);
    else if (size > left)
      return media_error(error, WICK_DATA, "cut short");
    else if (!memcmp(name, "fmt ", 4))
      status = read_format(wav, body, size, out_is_ours, error);
    if (status || !*out_is_ours) return status;
    if (size + (size & 1) > left) break;
    at += CHUNK_BYTES + size + (size & 1);
  }
  return wav->data ? WICK_OK : media_error(error, WICK_DATA, "a WAV without samples");
}

wick_status wav_read(const unsigned char *bytes, size_t length, bool *out_is_ours, wick_value **out, int64_t *out_rate,
                     wick_error **error) {
  Wav wav = {0};
  *out_is_ours = length >= HEADER_BYTES && !memcmp(bytes, "RIFF", 4) && !memcmp(bytes + 8, "WAVE", 4);
  if (!*out_is_ours) return WICK_OK;
  wick_status status = read_chunks(&wav, bytes, length, out_is_ours, error);
  if (status || !*out_is_ours) return status;
  const int64_t sizes[] = {wav.channels, wav.frames};
  status = wick_tensor_new(WICK_FLOAT32, 2, sizes, out, error);
  if (status) return status;
  float *to = wick_tensor_mutable_data(*out);
  for (int64_t i = 0; i < wav.frames; i++)
    for (int64_t c = 0; c < wav.channels; c++)
      to[c * wav.frames + i] = sample_at(&wav, wav.data + (i * wav.channels + c) * wav.bytes);
  *out_rate = wav.rate;
  return WICK_OK;
}

/* ---- writing ---- */

static unsigned char *put(unsigned char *to, uint32_t number, int count) {
  for (int i = 0; i < count; i++) *to++ = (unsigned char)(number >> 8 * i);
  return to;
}
static unsigned char *put_chunk(unsigned char *to, const char *name, uint32_t size) {
  memcpy(to, name, 4);
  return put(to + 4, size, 4);
}
wick_status wav_write(const float *samples, int64_t frames, int64_t channels, int64_t rate, char **out,
                      size_t *out_length, wick_error **error) {
  enum { FORMAT = 18, FACT = 4, BEFORE_DATA = HEADER_BYTES + 3 * CHUNK_BYTES + FORMAT + FACT };
  int64_t frame = 4 * channels;
  *out = NULL;
  if (frames > (UINT32_MAX - BEFORE_DATA) / frame || rate < 1 || rate * frame > UINT32_MAX)
    return media_error(error, WICK_DATA, "%lld frames of %lld channels at %lld Hz are more than a WAV holds",
                       (long long)frames, (long long)channels, (long long)rate);
  uint32_t size = (uint32_t)(frames * frame);
  unsigned char *file = malloc(BEFORE_DATA + (size_t)size);
  if (!file) return media_error(error, WICK_OUT_OF_MEMORY, "out of memory");
  unsigned char *at = put_chunk(file, "RIFF", BEFORE_DATA - CHUNK_BYTES + size);
  memcpy(at, "WAVE", 4);
  at = put_chunk(at + 4, "fmt ", FORMAT);
  at = put(put(at, FLOATS, 2), (uint32_t)channels, 2);
  at = put(put(at, (uint32_t)rate, 4), (uint32_t)(rate * frame), 4);
  at = put(put(put(at, (uint32_t)frame, 2), 32, 2), 0, 2);
  at = put(put_chunk(at, "fact", FACT), (uint32_t)frames, 4);
  at = put_chunk(at, "data", size);
  for (int64_t i = 0; i < frames * channels; i++) {
    uint32_t bits;
    memcpy(&bits, &samples[i], sizeof bits);
    at = put(at, bits, 4);
  }
  *out = (char *)file;
  *out_length = (size_t)(at - file);
  return WICK_OK;
}
