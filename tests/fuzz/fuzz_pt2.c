/* Fuzz target: programs of torch.export. An input is the length of the weights' description (two bytes, low first),
 * that JSON and the program's. What loads is called with a matrix and with a vector, within limits. */
#include "call_methods.h"
#include "fuzz_archive.h"

enum { WEIGHTS = 10, WEIGHT_BYTES = 256 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static const uint8_t zeros[WEIGHT_BYTES];
  Packed zip = {0};
  wick_module *module;
  wick_error *error;
  wick_load_options options = {.size = sizeof options, .max_bytes = 16 << 20};
  if (size < 2) return 0;
  size_t length = (size_t)data[0] | (size_t)data[1] << 8;
  if (length > size - 2) length = size - 2;
  fuzz_add_record(&zip, "m/archive_format", "pt2", 3);
  fuzz_add_record(&zip, "m/archive_version", "0", 1);
  fuzz_add_record(&zip, "m/byteorder", "little", 6);
  fuzz_add_record(&zip, "m/data/weights/model_weights_config.json", data + 2, length);
  fuzz_add_record(&zip, "m/data/constants/model_constants_config.json", "{\"config\": {}}", 14);
  fuzz_add_record(&zip, "m/models/model.json", data + 2 + length, size - 2 - length);
  for (int i = 0; i < WEIGHTS; i++) {
    char name[40];
    snprintf(name, sizeof name, "m/data/weights/weight_%d", i);
    fuzz_add_record(&zip, name, zeros, sizeof zeros);
  }
  pack_finish(&zip);
  if (wick_load_memory(NULL, zip.file.data, zip.file.length, &options, &module, &error)) {
    if (wick_error_status(error) == WICK_INTERNAL) abort();
    wick_error_free(error);
  } else {
    double longest;
    call_methods(module, &longest);
    wick_module_release(module);
  }
  free(zip.file.data);
  return 0;
}
