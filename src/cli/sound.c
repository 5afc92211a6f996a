/* Sound by libsndfile. */
#include <stdlib.h>
#include <string.h>

#include "cli/media.h"
#include "wick/archive.h"

#ifdef WICK_HAVE_SNDFILE
#include <sndfile.h>

static struct {
  __typeof__(sf_open) *open;
  __typeof__(sf_open_virtual) *open_memory;
  __typeof__(sf_close) *close;
  __typeof__(sf_readf_float) *read;
  __typeof__(sf_writef_float) *write;
  __typeof__(sf_strerror) *error;
} sound;
enum { MAX_CHANNELS = 64 };
#define MAX_SAMPLES ((sf_count_t)1 << 30)

static wick_status open_sndfile(wick_error **error) {
  static const char *const names[] = {"libsndfile.so.1", NULL};
  const MediaSymbol symbols[] = {{"sf_open", &sound.open},
                                 {"sf_open_virtual", &sound.open_memory},
                                 {"sf_close", &sound.close},
                                 {"sf_readf_float", &sound.read},
                                 {"sf_writef_float", &sound.write},
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
  float *data = status ? NULL : wick_tensor_data(*out);
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
wick_status sound_read(const char *path, wick_value **out, int64_t *out_rate, wick_error **error) {
  SF_INFO info = {0};
  wick_status status = open_sndfile(error);
  if (status) return status;
  SNDFILE *file = sound.open(path, SFM_READ, &info);
  if (!file) return media_error(error, WICK_DATA, "%s", sound.error(NULL));
  if (info.channels < 1 || info.channels > MAX_CHANNELS || info.frames < 0 || info.frames > MAX_SAMPLES / info.channels)
    status = media_error(error, WICK_DATA, "sound of %lld frames, %d channels", (long long)info.frames, info.channels);
  else
    status = read_frames(file, &info, out, error);
  *out_rate = info.samplerate;
  sound.close(file);
  return status;
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

/* A file in memory, where libsndfile goes back to write the header again. */
typedef struct Memory {
  char *data;
  sf_count_t length, capacity, at;
} Memory;
static sf_count_t memory_length(void *user) {
  return ((Memory *)user)->length;
}
static sf_count_t memory_at(void *user) {
  return ((Memory *)user)->at;
}
static sf_count_t memory_seek(sf_count_t offset, int whence, void *user) {
  Memory *m = user;
  sf_count_t to = offset + (whence == SEEK_CUR ? m->at : whence == SEEK_END ? m->length : 0);
  if (to < 0 || to > m->length) return -1;
  return m->at = to;
}
static sf_count_t memory_read(void *to, sf_count_t count, void *user) {
  Memory *m = user;
  if (count > m->length - m->at) count = m->length - m->at;
  memcpy(to, m->data + m->at, (size_t)count);
  m->at += count;
  return count;
}
static sf_count_t memory_write(const void *from, sf_count_t count, void *user) {
  Memory *m = user;
  if (m->capacity - m->at < count) {
    sf_count_t capacity = 2 * (m->at + count);
    char *more = realloc(m->data, (size_t)capacity);
    if (!more) return 0;
    m->data = more;
    m->capacity = capacity;
  }
  memcpy(m->data + m->at, from, (size_t)count);
  m->at += count;
  if (m->at > m->length) m->length = m->at;
  return count;
}

static wick_status wav_of(const wick_tensor_view *frames, int64_t rate, Memory *to, wick_error **error) {
  SF_VIRTUAL_IO memory = {memory_length, memory_seek, memory_read, memory_write, memory_at};
  SF_INFO info = {
      .samplerate = (int)rate, .channels = (int)frames->sizes[1], .format = SF_FORMAT_WAV | SF_FORMAT_FLOAT};
  SNDFILE *file = sound.open_memory(&memory, SFM_WRITE, &info, to);
  bool is_whole = file && sound.write(file, frames->data, frames->sizes[0]) == frames->sizes[0];
  wick_status status = is_whole ? WICK_OK : media_error(error, WICK_DATA, "%s", sound.error(file));
  if (file && sound.close(file) && !status) status = media_error(error, WICK_OUT_OF_MEMORY, "out of memory");
  return status;
}
wick_status sound_write_wav(const wick_value *tensor, int64_t rate, const char *path, wick_error **error) {
  Memory wav = {0};
  wick_value *frames = NULL;
  wick_tensor_view view = {.size = sizeof view};
  wick_status status = open_sndfile(error);
  if (!status) status = frames_of(tensor, &frames, error);
  if (!status) status = wick_tensor_view_of(frames, &view, error);
  if (!status) status = wav_of(&view, rate, &wav, error);
  if (!status) status = wick_file_write(path, wav.data, (size_t)wav.length, error);
  free(wav.data);
  wick_value_release(frames);
  return status;
}
#else
wick_status sound_read(const char *path, wick_value **out, int64_t *out_rate, wick_error **error) {
  (void)path, (void)out, (void)out_rate;
  return media_error(error, WICK_UNSUPPORTED, "this wick was built without libsndfile");
}
wick_status sound_write_wav(const wick_value *tensor, int64_t rate, const char *path, wick_error **error) {
  (void)tensor;
  return sound_read(path, NULL, &rate, error);
}
#endif
