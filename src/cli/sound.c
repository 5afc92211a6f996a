/* Sound: WAV by our own code (wav.h), everything else by libsndfile. */
#include <stdlib.h>
#include <string.h>

#include "cli/media.h"
#include "cli/wav.h"
#include "wick/archive.h"

#ifdef WICK_HAVE_SNDFILE
#include <sndfile.h>

static struct {
  __typeof__(sf_open) *open;
  __typeof__(sf_close) *close;
  __typeof__(sf_readf_float) *read;
  __typeof__(sf_strerror) *error;
} sound;
#define MAX_SAMPLES ((sf_count_t)1 << 30)

static wick_status open_sndfile(wick_error **error) {
  static const char *const names[] = {"libsndfile.so.1", NULL};
  const MediaSymbol symbols[] = {{"sf_open", &sound.open},
                                 {"sf_close", &sound.close},
                                 {"sf_readf_float", &sound.read},
                                 {"sf_strerror", &sound.error},
                                 {0}};
  return sound.error ? WICK_OK : media_open(names, "libsndfile1", symbols, error);
}

/* Frames are samples of all channels side by side; the tensor has each channel in a row. */
static wick_status read_frames(SNDFILE *file, const SF_INFO *info, wick_value **out, wick_error **error) {
  enum { CHUNK = 4096 };
  int64_t channels = info->channels, frames = info->frames;
  const int64_t sizes[] = {channels, frames};
  float *chunk = malloc(sizeof *chunk * CHUNK * (size_t)channels);
  if (!chunk) return media_error(error, WICK_OUT_OF_MEMORY, "out of memory");
  wick_status status = wick_tensor_new(WICK_FLOAT32, 2, sizes, out, error);
  float *data = status ? NULL : wick_tensor_mutable_data(*out);
  for (int64_t done = 0; data && done < frames;) {
    sf_count_t got = sound.read(file, chunk, frames - done < CHUNK ? frames - done : CHUNK);
    if (got <= 0) {
      status = media_error(error, WICK_DATA, "cut short: %lld of %lld frames", (long long)done, (long long)frames);
      wick_value_release(*out);
      *out = NULL;
      break;
    }
    for (int64_t i = 0; i < got; i++)
      for (int64_t c = 0; c < channels; c++) data[c * frames + done + i] = chunk[i * channels + c];
    done += got;
  }
  free(chunk);
  return status;
}
static wick_status read_other(const char *path, wick_value **out, int64_t *out_rate, wick_error **error) {
  SF_INFO info = {0};
  wick_status status = open_sndfile(error);
  if (status) return status;
  SNDFILE *file = sound.open(path, SFM_READ, &info);
  if (!file) return media_error(error, WICK_DATA, "%s", sound.error(NULL));
  if (info.channels < 1 || info.channels > WAV_CHANNELS || info.frames < 0 || info.frames > MAX_SAMPLES / info.channels)
    status = media_error(error, WICK_DATA, "sound of %lld frames, %d channels", (long long)info.frames, info.channels);
  else
    status = read_frames(file, &info, out, error);
  *out_rate = info.samplerate;
  sound.close(file);
  return status;
}

#else
static wick_status read_other(const char *path, wick_value **out, int64_t *out_rate, wick_error **error) {
  (void)path, (void)out, (void)out_rate;
  return media_error(error, WICK_UNSUPPORTED,
                     "this wick was built without libsndfile, which reads sound that is not WAV "
                     "of PCM, floats, A-law or mu-law");
}
#endif

wick_status sound_read(const char *path, wick_value **out, int64_t *out_rate, wick_error **error) {
  char *bytes;
  size_t length;
  bool is_ours;
  wick_status status = media_bytes(path, &bytes, &length, error);
  if (status) return status;
  status = wav_read((const unsigned char *)bytes, length, &is_ours, out, out_rate, error);
  free(bytes);
  return is_ours ? status : read_other(path, out, out_rate, error);
}

/* [frames, channels], row-major, of float32. */
static wick_status frames_of(const wick_value *tensor, wick_value **out, wick_error **error) {
  static const char program[] =
      "def frames_of(x: Tensor) -> Tensor:\n"
      "    while x.dim() > 2 and x.size(0) == 1:\n"
      "        x = x[0]\n"
      "    if x.dim() == 1:\n"
      "        x = x.unsqueeze(0)\n"
      "    if x.dim() != 2 or x.size(0) < 1 or x.size(0) > 64:\n"
      "        raise ValueError('sound has the sizes [channels, frames], not ' + str(x.size()))\n"
      "    return x.to(torch.float).t().contiguous()\n";
  wick_module *module;
  wick_status status = wick_compile(NULL, program, strlen(program), "wick", &module, error);
  if (!status)
    status = wick_run(module, "frames_of", (const wick_value *const[]){tensor}, 1, NULL, 0, NULL, out, error);
  wick_module_release(module);
  return status;
}

wick_status sound_write_wav(const wick_value *tensor, int64_t rate, const char *path, wick_error **error) {
  wick_value *frames = NULL;
  wick_tensor_view view = {.size = sizeof view};
  char *wav = NULL;
  size_t length = 0;
  wick_status status = frames_of(tensor, &frames, error);
  if (!status) status = wick_tensor_view_of(frames, &view, error);
  if (!status) status = wav_write(view.data, view.sizes[0], view.sizes[1], rate, &wav, &length, error);
  if (!status) status = wick_file_write(path, wav, length, error);
  free(wav);
  wick_value_release(frames);
  return status;
}
