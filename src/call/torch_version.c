/* Versions of PyTorch by name, and which one a runtime's programs are of. */
#include "call/torch_version.h"

#include <stdlib.h>

bool torch_version_parse(Str text, TorchVersion *out) {
  ptrdiff_t dot = str_find_char(text, '.');
  Str first = dot < 0 ? text : str_slice(text, 0, (size_t)dot);
  int64_t major, minor = 0;
  if (!str_to_int64(first, 10, &major) || major < 1 || major >= TORCH_COUNT) return false;
  if (dot >= 0 && !str_to_int64(str_slice(text, (size_t)dot + 1, text.length), 10, &minor)) return false;
  if (minor < 0) return false;
  *out = (TorchVersion)major;
  return true;
}

static TorchVersion environment_version(void) {
  static _Atomic uint8_t asked; /* TORCH_DEFAULT: not yet */
  uint8_t answer = atomic_load_explicit(&asked, memory_order_relaxed);
  if (answer == TORCH_DEFAULT) {
    TorchVersion version = TORCH_1;
    const char *text = getenv("WICK_TORCH_VERSION");
    if (text && !torch_version_parse(str_from(text), &version)) version = TORCH_1;
    answer = (uint8_t)version;
    atomic_store_explicit(&asked, answer, memory_order_relaxed);
  }
  return (TorchVersion)answer;
}

TorchVersion torch_version_of(const Runtime *runtime) {
  uint8_t version = atomic_load_explicit(&runtime->torch_version, memory_order_relaxed);
  return version == TORCH_DEFAULT ? environment_version() : (TorchVersion)version;
}
